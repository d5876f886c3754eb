"""The words that formats share: counts that add up, reasons in plain language, commands that can be pasted."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, assert_never

from msgspec import UnsetType

from linewitness.console import inert
from linewitness.errors import Exit
from linewitness.findings import CODES, EXIT_MEANING
from linewitness.model import Exemption, Kind, Phase, Reason, Severity
from linewitness.obligation_map import ApprovalRow, EvidenceRow, ExemptRow, FindingRow, ObligationMap, Row, Status
from linewitness.policy import ANY_REASON, OUTSIDE_THE_RUNNER

LINE_CODES: Final = frozenset({"LW101", "LW102", "LW103", "LW104", "LW105", "LW203"})
"""Codes of errors that are about one obligation, and are told with its row."""

_SHOWN_DIGITS: Final = 12
_SHOWN_FILES: Final = 5

EXEMPT_BECAUSE: Final[Mapping[Exemption, str]] = {
    Exemption.BLANK: "blank",
    Exemption.COMMENT: "comment",
    Exemption.DOCSTRING: "docstring",
    Exemption.TYPE_COMMENT: "type comment",
    Exemption.IMPORT_RESHUFFLE: "import that binds the same names as before",
    Exemption.REFORMATTED: "reformatted, same syntax tree as before",
    Exemption.TYPING_ONLY: "for type checkers only",
    Exemption.DECLARATION: "declaration without code",
    Exemption.PUNCTUATION: "punctuation of a construct without code",
    Exemption.KEYWORD: "keyword without code of its own",
    Exemption.INERT: "file that nothing executes",
    Exemption.GENERATED: "generated test, which owes and witnesses nothing",
    Exemption.PROTECTED: "protected content, judged by its owners",
    Exemption.NOT_A_SOURCE: "outside the sources that the settings name",
    Exemption.RENAMED: "moved without a change",
    Exemption.MODE_ONLY: "only the file's mode changed",
    Exemption.DELETED: "deleted, nothing of it is left to run",
}


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 line``, ``2 lines``."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def verdict(artifact: ObligationMap) -> str:
    """Verdict and reason, in one line."""
    state = f"gate {artifact.verdict}: "
    if artifact.exit == Exit.OPEN:
        if artifact.owed:
            return state + (
                f"all {artifact.owed} owed lines are discharged"
                if artifact.owed > 1
                else "the one owed line is discharged"
            )
        return state + "nothing is owed"
    if artifact.exit == Exit.CLOSED and artifact.unwitnessed:
        return state + f"{artifact.unwitnessed} of {plural(artifact.owed, 'owed line')} {_has(artifact.unwitnessed)}"
    return state + _main_trouble(artifact)


def _has(count: int) -> str:
    return "has no witness" if count == 1 else "have no witness"


def _main_trouble(artifact: ObligationMap) -> str:
    """The most frequent code among the errors of the family that decided the exit status."""
    codes = Counter(
        row.code for row in artifact.findings if row.severity is Severity.ERROR and _exit(row) == artifact.exit
    )
    if not codes:
        return _meaning(artifact.exit)
    (code, count), *others = codes.most_common()
    times = f" ({count} times)" if count > 1 else ""
    more = f", and {plural(len(others), 'more kind')} of trouble" if others else ""
    return f"{title(code)}{times}{more}"


def _exit(row: FindingRow) -> int:
    return CODES[row.code].exit if row.code in CODES else Exit.CLOSED


def _meaning(status: int) -> str:
    known = {int(exit_): text for exit_, text in EXIT_MEANING.items()}
    return known.get(status, "unknown exit status")


def exit_line(artifact: ObligationMap) -> str:
    """The exit status and its meaning."""
    return f"exit {artifact.exit}: {_meaning(artifact.exit)}"


def sum_line(artifact: ObligationMap) -> str:
    """The summary that adds up."""
    if not artifact.scored:
        return "no line was judged: the gate closed before that"
    return (
        f"{artifact.owed} owed = {artifact.trusted_hit} trusted-hit + {artifact.waived} waived "
        f"+ {artifact.unwitnessed} unwitnessed"
    )


def approved(approval: ApprovalRow) -> str:
    """Whose signature vouches for head's protected content."""
    return f"by {approval.principal} in commit {short(approval.commit)}, signed with {approval.fingerprint}"


def short(oid: str) -> str:
    """An object id as people write it."""
    return oid[:_SHOWN_DIGITS]


def compared(artifact: ObligationMap) -> str:
    """Which trees the patch lies between."""
    sides = []
    for name, side in (("base", artifact.base), ("head", artifact.head)):
        if side.commit:
            sides.append(f"{name} {short(side.commit)}")
        elif side.tree:
            sides.append(f"{name} tree {short(side.tree)}, never committed")
        else:
            sides.append(f"{name} unknown to git")
    return " .. ".join(sides)


def evidence_line(row: EvidenceRow) -> str:
    """One source of evidence: suite, kind, how its tests ended or why that is not known, and what isolated the run."""
    if row.provenance == "run":
        ended = "its command succeeded"
    elif row.tests is None and row.provenance == "recorded":
        ended = "no test was run to its end"
    elif row.tests is None:
        ended = "cannot tell passed from failed tests"
    else:
        counts = [("passed", row.tests.passed), ("failed", row.tests.failed), ("skipped", row.tests.skipped)]
        counts += [("xfailed", row.tests.xfailed)] if row.tests.xfailed else []
        ended = "tests " + ", ".join(f"{count} {name}" for name, count in counts)
    return f"{row.suite}: {row.kind}, {row.provenance}, {ended}{left_out(row)}{isolation(row)}"


def left_out(row: EvidenceRow) -> str:
    """The trusted files that were not collected, by whoever left them out; empty when all were."""
    by: dict[str, list[str]] = {}
    for each in () if isinstance(row.left_out, UnsetType) else row.left_out:
        by.setdefault(f" by {each.by}" if each.by else "", []).append(each.path)
    return "".join(
        f", {plural(len(paths), 'trusted file')} left out{who}: {', '.join(paths[:_SHOWN_FILES])}"
        + (f" and {len(paths) - _SHOWN_FILES} more" if len(paths) > _SHOWN_FILES else "")
        for who, paths in sorted(by.items())
    )


def isolation(row: EvidenceRow) -> str:
    """What kept a run of ours from the rest of the machine; empty for evidence that somebody else collected."""
    if isinstance(row.sandbox, UnsetType):
        return ""
    borrowed = f", borrowing {', '.join(row.sandbox.borrowed)}" if row.sandbox.borrowed else ""
    if row.sandbox.kind == "bubblewrap":
        network = "" if row.sandbox.network == "loopback" else f" (network: {row.sandbox.network})"
        return f", sandboxed{network}{borrowed}"
    how = "restricted by Landlock only" if row.sandbox.kind == "landlock" else "unsandboxed"
    return f", {how} because {row.sandbox.reason}{borrowed}"


def exempt_counts(rows: Iterable[ExemptRow]) -> list[tuple[str, int]]:
    """How many changed lines owe nothing for each reason, most frequent first; whole files are counted as files."""
    counts: Counter[tuple[bool, Exemption]] = Counter((row.line == 0, row.reason) for row in rows)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(f"{EXEMPT_BECAUSE[reason]}{' (whole file)' if whole else ''}", n) for (whole, reason), n in ordered]


def ranges(lines: Sequence[int]) -> str:
    """Ascending line numbers as ``3-5, 9``."""
    runs = groupby(enumerate(lines), key=lambda item: item[1] - item[0])
    parts = ([line for _, line in run] for _, run in runs)
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def allowed_reasons(kind: Kind) -> list[Reason]:
    """The reasons for which an obligation of this kind may be waived."""
    match kind:
        case Kind.BRANCH:
            allowed = OUTSIDE_THE_RUNNER
        case Kind.STATEMENT | Kind.DEFINITION | Kind.DELETION | Kind.OPAQUE:
            allowed = ANY_REASON
        case _:
            assert_never(kind)
    return [reason for reason in Reason if reason in allowed]


def witnessed_how(row: Row) -> str:
    """What the phase of a hit means for the reader."""
    match row.phase:
        case Phase.CALL:
            return "during a test's call"
        case Phase.IMPORT:
            return "only while its module was imported, which is weaker evidence"
        case Phase.UNKNOWN | None:
            return "at a time that the evidence cannot tell"
        case _:
            assert_never(row.phase)


def waiver_line(row: Row) -> str:
    """Why a waived row is waived, by whom and until when; empty for one that is not. Not yet safe for a screen."""
    if row.waiver is None:
        return ""
    waiver = row.waiver
    note = f": {waiver.note}" if waiver.note else ""
    return f"waived, {waiver.reason}, by {waiver.owner} until {waiver.expires}{note}"


def line_findings(artifact: ObligationMap) -> dict[tuple[str, int], FindingRow]:
    """The error that belongs to each open row, by path and line."""
    return {
        (row.path, row.line): row
        for row in artifact.findings
        if row.severity is Severity.ERROR and row.code in LINE_CODES
    }


def title(code: str) -> str:
    """The phrase for a code, also for one that only another version knows."""
    return CODES[code].title if code in CODES else "unknown finding"


def other_findings(artifact: ObligationMap) -> tuple[list[FindingRow], list[FindingRow]]:
    """Errors and warnings that are not told with an open row, each in the map's order."""
    open_places = {(row.path, row.line) for row in artifact.rows if row.status is Status.UNWITNESSED}
    rest = [
        row
        for row in artifact.findings
        if row.severity is not Severity.ERROR or row.code not in LINE_CODES or (row.path, row.line) not in open_places
    ]
    errors = [row for row in rest if row.severity is Severity.ERROR]
    return errors, [row for row in rest if row.severity is Severity.WARNING]


def place(path: str, line: int) -> str:
    """``path:line``, or the path alone for a finding about a whole file. Not yet safe for a screen."""
    return f"{path}:{line}" if line else path


def next_command(row: Row, finding: FindingRow | None, map_file: str | None) -> str:
    """What to run next about an open row: the line itself when the map is stored, else the meaning of its code."""
    if map_file != "":
        return explain_command(row.path, row.line, map_file)
    return f"linewitness explain {finding.code}" if finding else ""


def explain_command(path: str, line: int, map_file: str | None) -> str:
    """The command that explains one line of a stored map."""
    return "linewitness explain" + (f" --map={shell_word(map_file)}" if map_file else "") + _argument(f"{path}:{line}")


def show_all_command(map_file: str | None) -> str:
    """The command that renders a stored map as text with nothing left out; empty when it is stored nowhere."""
    if map_file == "":
        return ""
    return "linewitness -v report" + (_argument(map_file) if map_file else "")


def _argument(text: str) -> str:
    # A name that begins with a dash would be taken for an option.
    return f" {'-- ' if text.startswith('-') else ''}{shell_word(text)}"


def shell_word(text: str) -> str:
    """``text`` as one word for a shell; what a screen cannot show, or a CI server obeys, in the ``$'...'`` form."""
    if text.isprintable() and inert(text) == text:
        return shlex.quote(text)
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "backslashreplace")
    return "$'" + re.sub(r"[^ -~]|['\\#]", lambda found: f"\\x{ord(found[0]):02x}", raw.decode("latin-1")) + "'"
