"""The specification files, executed: every example goes through the real gate, on a real repository."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, Exports, check
from linewitness.model import Severity
from linewitness.obligation_map import ExemptRow, FindingRow, ObligationMap, Row
from linewitness.reports import View, render
from tests.specs.reading import Example, Line, examples
from tests.support.repos import Executable, Link, Repo

HERE = Path(__file__).parent
EXAMPLES = examples(HERE)
TODAY = "2026-09-16"
# Advice about the patch as a whole: it depends on what the examples of a file have in common.
_ABOUT_THE_PATCH = "LW602"


def _judge(group: tuple[int, ...]) -> ObligationMap:
    """Put the examples into one repository and let the gate judge it."""
    chosen = [EXAMPLES[n] for n in group]
    with TemporaryDirectory() as folder:
        repo = Repo(Path(folder) / "repo")
        for example in chosen:
            repo.write(example.base)
        repo.commit("base")
        repo.branch("patch")
        for example in chosen:
            repo.remove(*example.removed)
            repo.write(example.head)
        repo.commit("head")
        exports = {name: text for example in chosen for name, text in example.exports.items()}
        for name, text in exports.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        given = Exports(tuple(Path(folder) / name for name in exports))
        request = CheckRequest(repo.root, Question(chosen[0].asked), given, TODAY)
        return check(request, lambda _: None)


_judged = cache(_judge)


def _group(number: int) -> tuple[int, ...]:
    """The examples that share this one's repository: all of its file that speak of lines only."""
    example = EXAMPLES[number]
    if example.gate or example.exports:
        return (number,)
    return tuple(n for n, other in enumerate(EXAMPLES) if _shares(example, other))


def _shares(example: Example, other: Example) -> bool:
    return other.file == example.file and not other.gate and not other.exports


NUMBERS = [n for n, example in enumerate(EXAMPLES) if example.title]


@pytest.mark.parametrize("number", NUMBERS, ids=[EXAMPLES[n].slug for n in NUMBERS])
def test_the_gate_does_what_the_specification_says(number: int) -> None:
    example = EXAMPLES[number]

    artifact = _judged(_group(number))

    assert _told(artifact, example) == "\n".join(sorted(map(_shown, example.lines)))
    assert b"%" not in b"".join(piece for name in ("text", "agent") for piece in render(artifact, name, View()))
    if example.gate:
        errors = {finding.code for finding in artifact.findings if finding.severity is Severity.ERROR}
        messages = [finding.message for finding in artifact.findings]
        assert (artifact.verdict, artifact.exit, tuple(sorted(errors))) == example.gate, messages
    else:
        assert not _unplaced(artifact), "an example without a verdict must not depend on anything but its lines"


def _shown(line: Line) -> str:
    place = f"{line.path}:{line.line}" if line.line else line.path
    codes = "".join(f", {code}" for code in line.codes)
    fields = "".join(f" | {name} {value}" for name, value in line.fields)
    return f"{place} | {line.text} | {line.kind} | {line.result}{codes}{fields}"


def _told(artifact: ObligationMap, example: Example) -> str:
    """What the map says about the example's files, in the form of the example's own table."""
    findings = Counter[tuple[str, int, str]]()
    for found in artifact.findings:
        if found.code == _ABOUT_THE_PATCH:
            continue
        warning = " (warning)" if found.severity is Severity.WARNING else ""
        findings[found.path, found.line, found.code + warning] += 1
    wanted = {(line.path, line.line): line.fields for line in example.lines}
    told = []
    entries: tuple[Row | ExemptRow, ...] = (*artifact.rows, *artifact.exempt)
    for row in entries:
        if row.path in example.paths:
            codes = tuple(sorted(code for path, at, code in findings if (path, at) == (row.path, row.line)))
            names = [name for name, _ in wanted.get((row.path, row.line), ())]
            told.append(_shown(_line_of(row, example, codes, names)))
    return "\n".join(sorted(told))


def _line_of(row: Row | ExemptRow, example: Example, codes: tuple[str, ...], names: list[str]) -> Line:
    text = _text(example, row.path, row.line)
    if isinstance(row, ExemptRow):
        return Line(row.path, row.line, text, row.reason, "owes nothing", codes, tuple((name, "") for name in names))
    if row.line:
        assert row.content.strip() == text
    fields = tuple((name, _field(row, name)) for name in names)
    return Line(row.path, row.line, text, row.kind, row.status, codes, fields)


def _field(row: Row, name: str) -> str:
    value = getattr(row, name)
    if name == "waiver":
        return value.reason if value else ""
    if name == "statement":
        return "-".join(map(str, value))
    if name == "witnesses":
        return ", ".join(witness.rpartition("::")[2] for witness in value)
    return str(value or "")


def _text(example: Example, path: str, line: int) -> str:
    """What stands on a line of head, white space at both ends aside."""
    content = example.head.get(path)
    if isinstance(content, Executable):
        content = content.content
    if not line or content is None or isinstance(content, Link):
        return ""
    data = content if isinstance(content, bytes) else content.encode()
    return data.split(b"\n")[line - 1].decode("utf-8", "surrogateescape").strip()


def _unplaced(artifact: ObligationMap) -> list[FindingRow]:
    """Findings that are about no line of the patch; advice about the whole is none of an example's business."""
    changed = {row.path for row in artifact.rows} | {row.path for row in artifact.exempt}
    return [found for found in artifact.findings if found.path not in changed and found.code != _ABOUT_THE_PATCH]


def test_examples_of_one_file_do_not_share_paths() -> None:
    for file in {example.file for example in EXAMPLES}:
        together = [
            example for example in EXAMPLES if example.file == file and not example.gate and not example.exports
        ]
        counts = Counter(path for example in together for path in {*example.base, *example.paths})
        assert [path for path, count in counts.items() if count > 1] == []
