"""The codes: all of them are there, each says what, why and what to do, and statuses follow from them."""

from __future__ import annotations

import pytest

from linewitness.errors import EvidenceError, Exit, LinewitnessError, PatchError, ProtectedError, UsageError
from linewitness.findings import CODES, EXIT_MEANING, Code, exit_of, finding_of
from linewitness.model import Finding, Severity

WARNINGS = {"LW206", "LW601", "LW602", "LW603", "LW604"}
# The lists of the published rules, section 9.
PUBLISHED = {
    *("LW101", "LW102", "LW103", "LW104"),
    *("LW201", "LW202", "LW203", "LW204", "LW205", "LW206", "LW207"),
    *("LW301", "LW302", "LW303", "LW304"),
    *("LW401", "LW402", "LW403", "LW404"),
    *("LW501", "LW502", "LW503", "LW504", "LW505", "LW506", "LW507"),
    *("LW601", "LW602", "LW603"),
}


def finding(code: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code, "", 0, "", severity)


def test_every_published_code_is_explained() -> None:
    assert set(CODES) >= PUBLISHED


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_each_code_has_three_paragraphs_of_plain_prose(code: Code) -> None:
    assert CODES[code.code] is code
    assert not code.title.endswith(".")
    for paragraph in (code.what, code.why, code.todo):
        assert paragraph.endswith(".")
        assert "\n" not in paragraph
        assert 40 < len(paragraph) < 600


def test_no_two_codes_share_a_text() -> None:
    texts = [text for code in CODES.values() for text in (code.title, code.what, code.why, code.todo)]

    assert len(set(texts)) == len(texts)


def test_exactly_the_published_warnings_are_warnings() -> None:
    assert {code.code for code in CODES.values() if code.severity is Severity.WARNING} == WARNINGS


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        ([], Exit.OPEN),
        (["LW101"], Exit.CLOSED),
        (["LW202"], Exit.CLOSED),
        (["LW403"], Exit.CLOSED),
        (["LW404"], Exit.CLOSED),
        (["LW501"], Exit.EVIDENCE),
        (["LW301"], Exit.PROTECTED),
        (["LW401"], Exit.PROTECTED),
        (["LW402"], Exit.PROTECTED),
        (["LW101", "LW503", "LW202"], Exit.EVIDENCE),
        (["LW501", "LW304", "LW101"], Exit.PROTECTED),
        (["LW999"], Exit.CLOSED),
    ],
)
def test_the_highest_status_of_the_errors_wins(codes: list[str], status: Exit) -> None:
    assert exit_of(map(finding, codes)) is status
    assert exit_of(map(finding, reversed(codes))) is status


def test_warnings_alone_leave_the_gate_open() -> None:
    assert exit_of([finding(code, Severity.WARNING) for code in CODES]) is Exit.OPEN


@pytest.mark.parametrize("code", CODES)
def test_no_error_of_any_code_leaves_the_gate_open(code: str) -> None:
    assert exit_of([finding(code)]) not in {Exit.OPEN, Exit.INTERNAL, Exit.INTERRUPTED}


@pytest.mark.parametrize("kind", [UsageError, EvidenceError, PatchError, ProtectedError])
@pytest.mark.parametrize("code", ["", "LW101", "LW206", "LW503", "LW401", "LW999"])
def test_a_failure_keeps_its_status_when_it_becomes_a_finding(kind: type[LinewitnessError], code: str) -> None:
    error = kind("message", code=code, path="a.py", line=3)
    found = finding_of(error)

    assert exit_of([found]) is error.exit
    assert (found.path, found.line, found.message) == ("a.py", 3, "message")


def test_a_failure_with_a_code_of_its_own_family_keeps_the_code() -> None:
    assert finding_of(EvidenceError("x", code="LW503")).code == "LW503"


def test_every_exit_status_has_a_meaning() -> None:
    assert set(EXIT_MEANING) == set(Exit)
