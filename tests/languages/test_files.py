"""What is common to all languages: whole files that owe nothing, and changes that nobody can judge by line."""

from __future__ import annotations

import pytest

from linewitness.errors import PatchError
from linewitness.languages import classify, demands
from linewitness.model import Blob, Exemption, FileText, Hunk, Kind, LineOptions, ObjectId
from tests.support.texts import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK, change, classes


def never(_: str) -> bool:
    return False


def with_mode(text: FileText, mode: int, base_mode: int | None = None) -> FileText:
    head, base = text.change.head, text.change.base
    assert head is not None
    if base is not None and base_mode is not None:
        base = Blob(base_mode, base.oid)
    return text._replace(change=text.change._replace(head=Blob(mode, head.oid), base=base))


def opaque_note(text: FileText, options: LineOptions | None = None) -> str:
    found = classify(text, options or LineOptions(), never)
    assert [(owed.kind, owed.line) for owed in found.obligations] == [(Kind.OPAQUE, 0)]
    assert found.exempt == ()
    assert text.change.head is not None
    assert found.obligations[0].hash == text.change.head.oid
    assert "Only a waiver with the blob's id discharges it." in found.obligations[0].note
    return found.obligations[0].note


@pytest.mark.parametrize(
    ("path", "raw", "reason"),
    [
        ("a.py", b"x = 1\0\n", "binary"),
        ("a.py", b"x = '\xff'\n", "line 1 is not valid UTF-8"),
        ("a.py", b"x = 1\n# a\rimport os\n", "line 2 holds a carriage return"),
        ("a.py", b"x = 1\r\r\ny = 2\r\n", "line 1 holds a carriage return"),
        ("a.py", b"# coding: latin-1\nx = 1\n", "line 1 declares the encoding latin-1"),
        ("a.py", b"#!/x\n# vim: set fileencoding=unicode_escape :\n", "line 2 declares the encoding unicode_escape"),
        ("a.py", b"\xef\xbb\xbf# -*- coding: cp1252 -*-\n", "line 1 declares the encoding cp1252"),
        ("a.py", "# coding: ascii\nx = 'ü'\n".encode(), "line 1 declares the encoding ascii"),
        ("a.py", "x = 1  # \u202e\n".encode(), "U+202E"),
        ("a.py", "x\u200b = 1\n".encode(), "U+200B"),
        ("a.py", "y = 1\nx = '\ufeff'\n".encode(), "U+FEFF"),
        ("a.py", "# a\u2028x = 1\n".encode(), "U+2028"),
        ("a.py", b"# a\x0bx = 1\n", "U+000B"),
        ("a.py", "# a\x85x\n".encode(), "U+0085"),
        ("a.lua", b"x = 1\n", "no line rule for lua yet"),
        ("a.js", "x = 1 // \u2028y()\n".encode(), "U+2028"),
        ("a.ts", "x = '\u2029'\n".encode(), "U+2029"),
        ("a.rb", b"# encoding: windows-31j\nx = 1\n", "line 1 declares the encoding windows-31j"),
        ("a.pyx", b"x = 1\n", "no line rule for cython yet"),
        ("a.ipynb", b"{}\n", "no line rule for notebook yet"),
        ("a.svg", b"<svg/>\n", "no line rule for svg yet"),
        ("a.pth", b"import os\n", "no line rule for path file yet"),
        ("a.xyz", b"x\n", "nothing is known of .xyz files"),
        ("tool", b"#!/usr/bin/awk -f\n{}\n", "nothing tells what kind of file it is"),
        ("Makefile", b"all:\n", "nothing tells what kind of file it is"),
        ("a.pyc", b"", "byte code"),
        ("a.so", b"x", "native module"),
        ("pkg/__pycache__/a.md", b"x", "byte code"),
        ("a.whl", b"x", "archive of code"),
    ],
)
def test_a_change_that_no_rule_can_read_is_opaque(path: str, raw: bytes, reason: str) -> None:
    assert reason in opaque_note(change(None, raw, path))


@pytest.mark.parametrize(
    "raw",
    [
        b"# -*- coding: utf-8 -*-\nx = 1\n",
        b"# coding: ascii\nx = 1\n",
        b"x = 1\n# coding of x\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ny = 2\r",
        b"\x0cx = 1\n",
        b"\xef\xbb\xbfx = 1\n",
        "# naïve — ok\nx = 1\n".encode(),
    ],
)
def test_ordinary_text_is_read(raw: bytes) -> None:
    assert "opaque" not in classes(change(None, raw)).values()


def test_hidden_characters_on_lines_that_did_not_change_are_not_the_patch_s_doing() -> None:
    base = "x = '\u200b'\ny = 1\n"
    assert classes(change(base, base.replace("y = 1", "y = 2"))) == {2: "statement"}


@pytest.mark.parametrize(
    ("mode", "reason"), [(SYMLINK, "symbolic link"), (SUBMODULE, "submodule"), (0o140000, "mode 140000")]
)
def test_what_is_no_file_is_opaque(mode: int, reason: str) -> None:
    assert reason in opaque_note(with_mode(change(None, b"x.py", "a.md"), mode))


@pytest.mark.parametrize(
    "path", ["a.md", "a.rst", "b/a.TXT", "a.png", "poetry.lock", "package-lock.json", "LICENSE", "a.pyi"]
)
def test_inert_files_owe_nothing(path: str) -> None:
    assert classes(change(None, b"x\n", path)) == {0: "inert"}


def test_the_settings_may_name_more_inert_files() -> None:
    text = change(None, b"x\n", "docs/a.svg")
    found = classify(text, LineOptions(), lambda path: path.startswith("docs/"))
    assert [free.reason for free in found.exempt] == [Exemption.INERT]


@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.toml", "a.ini", "a.cfg", "a.csv"])
def test_data_owes_nothing_unless_the_settings_say_so(path: str) -> None:
    text = change(None, b"x\n", path)
    assert classes(text) == {0: "inert"}
    assert "nothing is known" in opaque_note(text, LineOptions(data="owe"))


def test_a_program_in_the_clothes_of_prose_is_opaque() -> None:
    text = change(None, b"#!/bin/sh\nls\n", "notes.txt")
    assert classes(text) == {0: "inert"}
    opaque_note(with_mode(text, EXECUTABLE))


def test_a_script_without_suffix_is_python_when_its_shebang_says_so() -> None:
    assert classes(change(None, b"#!/usr/bin/env python3\nx = 1\n", "bin/tool")) == {1: "comment", 2: "statement"}
    opaque_note(change(None, b"#!/usr/bin/env pythonista\nx = 1\n", "bin/tool"))


def test_python_by_name_that_another_program_runs_is_opaque() -> None:
    text = change(None, b"#!/bin/sh python\nx = 1\n", "bin/tool.py")
    assert classes(text) == {1: "comment", 2: "statement"}
    assert "another program than Python" in opaque_note(with_mode(text, EXECUTABLE))
    opaque_note(change(None, b"#!/usr/bin/awk python\nx = 1\n", "bin/tool"))


@pytest.mark.parametrize(
    "first", ["/usr/bin/python", "/usr/bin/env python3.12 -I", " /usr/bin/env -S python3 -u", "/opt/pypy3"]
)
def test_shebangs_of_python_are_known(first: str) -> None:
    text = with_mode(change(None, f"#!{first}\nx = 1\n".encode(), "bin/tool"), EXECUTABLE)
    assert classes(text) == {1: "comment", 2: "statement"}


def test_a_change_of_mode_alone_owes_nothing() -> None:
    text = with_mode(change(b"x = 1\n", b"x = 1\n"), EXECUTABLE, REGULAR)
    assert classes(text) == {0: "mode-only"}


def test_a_file_of_no_known_kind_that_becomes_executable_is_opaque() -> None:
    opaque_note(with_mode(change(b"x\n", b"x\n", "tool"), EXECUTABLE, REGULAR))
    assert classes(with_mode(change(b"x\n", b"x\n", "tool"), REGULAR, EXECUTABLE)) == {0: "mode-only"}


def test_a_deleted_file_leaves_no_line_to_owe() -> None:
    assert classes(change(b"x = 1\n", None)) == {0: "deleted"}


def test_an_empty_file_holds_nothing_to_run() -> None:
    assert classes(change(None, b"", "marker")) == {0: "blank"}
    assert classes(change(None, b"", "pkg/__init__.py")) == {}


def test_a_pure_rename_owes_nothing() -> None:
    assert classes(change(b"x = 1\n", b"x = 1\n", "new.py", was="old.py")) == {0: "renamed"}


@pytest.mark.parametrize("was", ["notes.txt", "data.json", "old.js", "docs/old.py"])
def test_a_file_moved_in_from_where_its_lines_were_not_judged_owes_for_all_of_them(was: str) -> None:
    text = change(b"x = 1\ny = 2\n", b"x = 1\ny = 2\n", "new.py", was=was)
    found = classify(text, LineOptions(), lambda path: path.startswith("docs/"))
    assert [owed.line for owed in found.obligations] == [1, 2]


def test_a_symbolic_link_that_becomes_a_file_owes_for_all_of_it() -> None:
    text = change(b"x = 1\n", b"x = 1\n")
    assert text.change.base is not None
    text = text._replace(change=text.change._replace(base=Blob(SYMLINK, ObjectId("1"))))
    assert classes(text) == {1: "statement"}


@pytest.mark.parametrize(
    "hunk", [Hunk(1, 0, 5, 1), Hunk(1, 0, 0, 1), Hunk(3, 1, 1, 1), Hunk(1, 0, 1, -1), Hunk(1, 0, 1, 3)]
)
def test_hunks_that_do_not_fit_the_text_are_refused(hunk: Hunk) -> None:
    text = change(b"x = 1\n", b"x = 1\ny = 2\n")._replace(hunks=(hunk,))
    with pytest.raises(PatchError, match="do not match"):
        classify(text, LineOptions(), never)


def test_hunks_out_of_order_are_refused() -> None:
    text = change(b"", b"x = 1\ny = 2\n")._replace(hunks=(Hunk(1, 0, 2, 1), Hunk(1, 0, 1, 1)))
    with pytest.raises(PatchError):
        classify(text, LineOptions(), never)


def test_no_demands_can_be_made_of_a_file_without_a_rule() -> None:
    with pytest.raises(PatchError, match="waived by blob"):
        demands(change(None, b"x\n", "a.lua"), ())
