"""Exports that are wrong and look right: of another version, machine or folder, of generated files, cut, or recoded.

Each is right about the file that is meant, or closed with a message. ``LINES`` of the file ran, save the last one.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness import obligations
from linewitness.errors import EvidenceError, Exit
from linewitness.evidence.formats.paths import Checkout
from linewitness.evidence.imported import load_exports
from linewitness.languages import demands
from linewitness.model import Finding, RepoPath
from linewitness.obligations import Jurisdiction
from linewitness.settings import load
from tests.formats.files import written
from tests.formats.writers import WRITERS, Counts
from tests.support.texts import change

HEAD = "one();\n\n// text\ntwo();\nthree();\nfour();\n"
LINES = {1: 3, 4: 1, 5: 1, 6: 0}
RIGHT = {1: "run", 4: "run", 5: "run", 6: "not-run"}
CLOSED = dict.fromkeys(RIGHT, "not-run")
KNOWN = (RepoPath("src/a.js"), RepoPath("src/b.js"), RepoPath("README.md"))

every_format = pytest.mark.parametrize("name", WRITERS)


def judged(folder: Path, *exports: str | bytes) -> tuple[dict[int, str], tuple[Finding, ...]]:
    """What exports say of the lines of ``src/a.js``, and what is found about their paths."""
    jurisdiction = Jurisdiction(load(lambda _: None).settings, lambda _: False)
    text = change(None, HEAD, "src/a.js")
    owed = obligations._classes(text, jurisdiction).obligations
    files = [written(folder, each, f"export{number}") for number, each in enumerate(exports)]
    checkout = Checkout(Path("/checkout/head"), KNOWN, KNOWN[:1])
    evidence = load_exports(files, checkout, demands)
    sightings = evidence.sightings(text, owed)
    return {each.line: str(sighting.answer) for each, sighting in zip(owed, sightings, strict=True)}, evidence.findings


def refused(folder: Path, export: str | bytes) -> EvidenceError:
    with pytest.raises(EvidenceError) as refusal:
        judged(folder, export)
    assert refusal.value.exit is Exit.EVIDENCE
    assert "export0" in str(refusal.value) + str(refusal.value.path)
    assert "\n" not in str(refusal.value)
    return refusal.value


# ------------------------------------------------------------ paths


@every_format
@pytest.mark.parametrize(
    "path",
    [
        "/builds/group/shop/src/a.js",
        "C:\\agent\\_work\\1\\s\\src\\a.js",
        "d:/a/shop/shop/src/a.js",
        "file:///builds/shop/src/a.js",
        "webpack:///./src/a.js",
        "webpack://shop/./src/a.js",
        "./src/a.js",
        "src\\a.js",
        "a.js",
    ],
)
def test_a_path_of_another_machine_or_folder_is_the_file_that_it_ends_with(
    tmp_path: Path, name: str, path: str
) -> None:
    assert judged(tmp_path, WRITERS[name]({path: LINES})) == (RIGHT, ())


@every_format
@pytest.mark.parametrize(
    "path",
    [
        "dist/a.js",
        "/builds/shop/dist/src/a.js",
        "/builds/shop/dist/a.min.js",
        "/builds/shop/node_modules/x/src/a.js",
        "../src/a.js",
        "https://cdn.example.org/a.js?v=3",
        "src/a.ts",
        "/etc/passwd",
    ],
)
def test_what_was_generated_or_lies_elsewhere_is_no_evidence_for_a_source(tmp_path: Path, name: str, path: str) -> None:
    answers, findings = judged(tmp_path, WRITERS[name]({path: LINES}))
    assert answers == CLOSED
    assert [each.code for each in findings] == ["LW507"]
    assert path in findings[0].message.replace("\\\\", "\\")


@every_format
def test_a_file_that_stands_there_several_times_ran_where_any_of_them_did(tmp_path: Path, name: str) -> None:
    halves = [{"src/a.js": {1: 3, 4: 0, 5: 1, 6: 0}}, {"./src/a.js": {1: 0, 4: 1, 5: 0, 6: 0}}]
    both: Counts = {**halves[0], **halves[1]}
    assert judged(tmp_path, WRITERS[name](both))[0] == RIGHT
    assert judged(tmp_path, *(WRITERS[name](half) for half in halves))[0] == RIGHT


# ------------------------------------------------------------ another version of the file


@every_format
@pytest.mark.parametrize("line", [7, 400])
@pytest.mark.parametrize("hits", [0, 1])
def test_a_line_past_the_end_is_of_another_version(tmp_path: Path, name: str, line: int, hits: int) -> None:
    error = refused(tmp_path, WRITERS[name]({"src/a.js": {**LINES, line: hits}}))
    assert (error.code, error.path) == ("LW504", "src/a.js")


@every_format
@pytest.mark.parametrize(("line", "what"), [(2, "blank"), (3, "a comment")])
def test_a_line_without_code_that_ran_is_of_another_version(tmp_path: Path, name: str, line: int, what: str) -> None:
    error = refused(tmp_path, WRITERS[name]({"src/a.js": {1: 1, line: 1, 6: 1}}))
    assert (error.code, error.path, error.line) == ("LW504", "src/a.js", line)
    assert what in str(error)


@every_format
def test_nothing_ran_is_no_contradiction_and_closes(tmp_path: Path, name: str) -> None:
    answers, findings = judged(tmp_path, WRITERS[name]({"src/a.js": dict.fromkeys(LINES, 0)}))
    assert (answers, findings) == (CLOSED, ())


# ------------------------------------------------------------ the file itself


@every_format
def test_an_export_without_files_is_refused(tmp_path: Path, name: str) -> None:
    refused(tmp_path, WRITERS[name]({}))


@every_format
@pytest.mark.parametrize("share", [0.02, 0.2, 0.4, 0.9, 0.99])
def test_an_export_that_is_cut_off_is_refused(tmp_path: Path, name: str, share: float) -> None:
    text = WRITERS[name]({"src/a.js": LINES, "src/b.js": LINES}).rstrip()
    refused(tmp_path, text[: int(len(text) * share)])


@every_format
def test_two_reports_in_one_file_are_both_read_or_refused(tmp_path: Path, name: str) -> None:
    halves = [{"src/a.js": {1: 3, 4: 0, 5: 1, 6: 0}}, {"src/a.js": {1: 0, 4: 1, 5: 0, 6: 0}}]
    text = "".join(WRITERS[name](half) for half in halves)
    if name == "lcov":
        assert judged(tmp_path, text)[0] == RIGHT
    else:
        refused(tmp_path, text)


SAME: dict[str, Callable[[str], bytes]] = {
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "lines of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "packed": lambda text: gzip.compress(text.encode()),
    "packed with a byte order mark": lambda text: gzip.compress(b"\xef\xbb\xbf" + text.encode()),
}
OTHER: dict[str, Callable[[str], bytes]] = {
    "UTF-16 with a mark": lambda text: text.encode("utf-16"),
    "UTF-16, little end first": lambda text: text.encode("utf-16-le"),
    "UTF-16, big end first": lambda text: text.encode("utf-16-be"),
    "packed twice": lambda text: gzip.compress(gzip.compress(text.encode())),
    "packed and cut off": lambda text: gzip.compress(text.encode())[:-9],
    "zeros behind it": lambda text: text.encode() + b"\0" * 64,
}


@every_format
@pytest.mark.parametrize("how", SAME)
def test_what_changes_bytes_and_no_text_changes_nothing(tmp_path: Path, name: str, how: str) -> None:
    assert judged(tmp_path, SAME[how](WRITERS[name]({"src/a.js": LINES}))) == (RIGHT, ())


@every_format
@pytest.mark.parametrize("how", OTHER)
def test_what_is_no_text_in_utf8_is_refused(tmp_path: Path, name: str, how: str) -> None:
    refused(tmp_path, OTHER[how](WRITERS[name]({"src/a.js": LINES})))


XML = ("cobertura", "clover", "sonarqube")


@pytest.mark.parametrize("name", XML)
def test_a_doctype_is_accepted_and_an_entity_of_its_own_is_refused(tmp_path: Path, name: str) -> None:
    text = WRITERS[name]({"src/a.js": LINES})
    declared = text.replace("<coverage", '<!DOCTYPE coverage SYSTEM "http://example.org/c.dtd">\n<coverage', 1)
    assert judged(tmp_path, declared) == (RIGHT, ())
    for entity in ('<!ENTITY a "src/a.js">', '<!ENTITY a SYSTEM "file:///etc/passwd">', '<!ENTITY % a "x">'):
        refused(tmp_path, text.replace("<coverage", f"<!DOCTYPE coverage [{entity}]>\n<coverage", 1))


@pytest.mark.parametrize("name", XML)
def test_a_path_with_entities_is_the_path_that_they_spell(tmp_path: Path, name: str) -> None:
    text = WRITERS[name]({"src/a.js": LINES}).replace("src/a.js", "src/&#97;.js")
    assert judged(tmp_path, text) == (RIGHT, ())


def test_branches_without_lines_are_no_evidence(tmp_path: Path) -> None:
    assert judged(tmp_path, "SF:src/a.js\nBRDA:1,0,0,1\nBRDA:1,0,1,1\nend_of_record\n")[0][4] == "not-run"
