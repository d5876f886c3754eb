"""Texts that grammars cannot take, and lines that nobody wrote by hand."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

import pytest
from tree_sitter import Language, Parser, Tree

from linewitness.languages import classify, demands, tables
from linewitness.languages.grammar import rehearsal, wheels
from linewitness.languages.grammar.outline import CROWDED
from linewitness.languages.grammar.rehearsal import rehearse
from linewitness.model import Kind, LineOptions
from tests.support.texts import change, classes

pytestmark = [
    pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="nothing is read in a child process here"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
EMOJI = "\U0001f600"


@pytest.fixture(autouse=True)
def _reads_in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a worker of a parallel run, which has threads."""
    monkeypatch.setattr(rehearsal, "can_fork", lambda: True)
    monkeypatch.setattr(rehearsal, "_SECONDS", 1)
    monkeypatch.setattr(rehearsal, "_MEMORY", 1 << 27)
    wheels._parse.cache_clear()


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def stall() -> None:
    while time.process_time() >= 0:
        pass


def devour() -> None:
    held = []
    while True:
        held.append(bytearray(1 << 26))


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (lambda: None, ""),
        (crash, "crashed on this text (SIGSEGV)"),
        (os.abort, "crashed on this text (SIGABRT)"),
        (stall, "took more than 1 seconds for this text, and was stopped"),
        (devour, "could not read this text: it ran out of memory, or failed"),
    ],
)
def test_a_rehearsal_says_how_a_reading_ends(
    read: Callable[[], object], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert rehearse(read, 0) == reason
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_file_whose_grammar_crashes_is_one_opaque_obligation(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = "package a\n", "package b\n"

    class Fragile:
        def __init__(self, grammar: Language) -> None:
            self._parser = Parser(grammar)

        def parse(self, data: bytes) -> Tree:
            if b"package b" in data:
                crash()
            return self._parser.parse(data)

    monkeypatch.setattr(wheels, "Parser", Fragile)
    text = change(bad, good, "a.go") if side == "base" else change(good, bad, "a.go")
    (found,) = classify(text, LineOptions(), lambda _: False).obligations
    assert (found.kind, found.line) == (Kind.OPAQUE, 0)
    assert "the grammar tree-sitter-go 0.25" in found.note
    assert "crashed on this text (SIGSEGV)" in found.note


@pytest.mark.parametrize("range_", ["{", "{1", "{1..", "{1..2"])
def test_no_character_behind_a_brace_makes_the_shell_grammar_crash(range_: str) -> None:
    table = tables.table("bash")
    assert table is not None
    texts = [f"echo {range_}{chr(code)}}}\n".encode() for code in range(0x80, 0x110000, 499) if code >> 11 != 0x1B]
    grammar = wheels.language(table, "")
    assert rehearse(lambda: [Parser(grammar).parse(wheels.shown(table, text)) for text in texts], 0) == ""


def test_characters_that_the_shell_grammar_cannot_take_are_judged_and_compared_all_the_same() -> None:
    assert classes(change(None, f"# c\necho {{{EMOJI},b}}\n", "a.sh")) == {1: "comment", 2: "statement"}
    assert classes(change("f() {\n  echo {é\n}\n", "f() {\n  echo {ü\n}\n", "a.sh")) == {2: "statement"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cpp", "Guard \xe9n;\n"),
        ("a.kt", '@A("\xe9") const val x = 1\nval y = 2\n'),
        ("a.sc", "val x = a \xe9 b\nval y = 2\n"),
        ("a.c", "#pragma \xe9\nint y = 2;\n"),
    ],
)
def test_a_file_that_was_in_another_encoding_is_compared_with_what_it_was(path: str, text: str) -> None:
    assert classes(change(text.encode("latin-1"), text, path)) == {1: "statement"}


CALL = "f(a?b:c,{d:1});"
CROWD = CALL * (2 * CROWDED)


def test_a_line_of_very_many_tokens_is_one_obligation_that_lists_only_the_first_and_answers_for_the_rest() -> None:
    text = change(None, f"// c\n{CROWD}\n", "a.js")
    (found,) = classify(text, LineOptions(), lambda _: False).obligations
    (demand,) = demands(text, (found,))
    *listed, rest = demand.tokens
    assert (found.line, found.kind) == (2, Kind.BRANCH)
    assert 100 < len(listed) <= CROWDED
    assert rest.span.end.col == len(CROWD)
    # a part of one byte, of which no count of an export can speak: the rest stays unproved
    assert rest.region is not None
    assert rest.region.end.col == rest.region.start.col + 1
    assert listed[-1].span.end <= rest.span.start


def test_nothing_on_a_line_of_very_many_tokens_is_exempt_for_what_it_declares() -> None:
    assert classes(change(None, "interface A { a: 1 } " * CROWDED + "\n", "a.ts")) == {1: "statement"}


def test_an_import_owes_when_a_line_of_very_many_tokens_uses_its_name() -> None:
    base = f"{CROWD}evil(1)\n"
    assert classes(change(base, "import { evil } from './x';\n" + base, "a.js")) == {1: "statement"}


def test_a_change_deep_inside_a_line_of_very_many_tokens_is_no_layout() -> None:
    base = f"function g() {{\n{CROWD}\n}}\n"
    head = base.replace(CALL * 2 + "\n", CALL + "f(b?b:c,{d:1});\n")
    assert head != base
    assert classes(change(base, head, "a.js")) == {2: "branch"}


@pytest.mark.parametrize("language", sorted(tables.MODULES))
@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("[", "]"), ("{", "}"), ("!", ""), ("a + ", "b")])
def test_deep_nests_are_judged_without_recursion(language: str, opening: str, closing: str) -> None:
    suffix = {"c-sharp": "cs", "javascript": "js", "kotlin": "kt", "ruby": "rb", "rust": "rs", "typescript": "ts"}
    depth = 2 * sys.getrecursionlimit()
    start = "<?php\n" if language == "php" else ""
    path = f"a.{suffix.get(language, language)}"
    text = change(None, start + opening * depth + "a" + closing * depth + "\n", path)
    assert classify(text, LineOptions(), lambda _: False).obligations
