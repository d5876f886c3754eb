"""Maps to be told: small ones with one of everything, and odd ones that try to spoil a screen."""

from __future__ import annotations

from collections import Counter

import msgspec.structs

from linewitness.errors import Exit
from linewitness.findings import CODES, exit_of
from linewitness.model import Exemption, Finding, Kind, Phase, Precision, Reason, Severity
from linewitness.obligation_map import (
    SCHEMA,
    ApprovalRow,
    ArmRow,
    CommitRef,
    EvidenceRow,
    ExemptRow,
    FindingRow,
    HunkRow,
    ObligationMap,
    PatchRow,
    Row,
    Status,
    TestCounts,
    Tool,
    WaiverRow,
)

RUN = EvidenceRow(
    digest="d" * 64,
    kind="pytest",
    provenance="recorded",
    suite="python",
    tests=TestCounts(failed=0, passed=12, skipped=1, xfailed=0),
)
EXPORT = EvidenceRow(digest="e" * 64, kind="lcov", provenance="imported", suite="web", tests=None)
WAIVER = WaiverRow(expires="2026-12-16", note="written by the schema compiler", owner="platform", reason=Reason.CODEGEN)


def row(path: str, line: int, content: str, status: Status = Status.TRUSTED_HIT, **changes: object) -> Row:
    """One row; a hit by one check unless told otherwise."""
    hit = status is Status.TRUSTED_HIT
    values: dict[str, object] = {
        "arms": (),
        "content": content,
        "executable": True,
        "hash": f"{line:016x}",
        "kind": Kind.STATEMENT,
        "line": line,
        "note": "",
        "occurrence": 1,
        "path": path,
        "phase": Phase.CALL if hit else None,
        "precision": Precision.EXPRESSION if hit else None,
        "scope": "price_order",
        "statement": (line, line),
        "status": status,
        "waiver": WAIVER if status is Status.WAIVED else None,
        "witness_count": 1 if hit else 0,
        "witnesses": ("tests/trusted/test_billing.py::test_total",) if hit else (),
    }
    return Row(**(values | changes))  # type: ignore[arg-type]


def finding(code: str, path: str, line: int, message: str, severity: Severity | None = None) -> FindingRow:
    """One finding with the severity of its code."""
    return FindingRow(code=code, line=line, message=message, path=path, severity=severity or CODES[code].severity)


def unwitnessed(of: Row, code: str = "LW101", message: str = "") -> FindingRow:
    """The finding that an open row gives rise to."""
    text = message or f"no check or relation that passed ran this {of.kind}" + (f"; {of.note}" if of.note else "")
    return finding(code, of.path, of.line, text)


def build(
    rows: list[Row], findings: list[FindingRow], exempt: list[ExemptRow] | None = None, **changes: object
) -> ObligationMap:
    """A sound map of these rows."""
    counts = Counter(each.status for each in rows)
    status = exit_of(Finding(each.code, each.path, each.line, each.message, each.severity) for each in findings)
    values: dict[str, object] = {
        "base": CommitRef(commit="1a2b3c4d5e6f" + "0" * 28, tree="a" * 40),
        "command": "check",
        "evidence": (RUN,),
        "exempt": tuple(exempt or ()),
        "exit": int(status),
        "findings": tuple(findings),
        "head": CommitRef(commit="f6e5d4c3b2a1" + "0" * 28, tree="b" * 40),
        "line_hash": "sha256-16",
        "owed": len(rows),
        "rows": tuple(rows),
        "schema": SCHEMA,
        "scored": True,
        "settings_digest": "5" * 64,
        "tool": Tool(name="linewitness", version="0.1.0"),
        "trusted_hit": counts[Status.TRUSTED_HIT],
        "unwitnessed": counts[Status.UNWITNESSED],
        "verdict": "open" if status is Exit.OPEN else "closed",
        "waived": counts[Status.WAIVED],
        "waivers_digest": "6" * 64,
    }
    return ObligationMap(**(values | changes))  # type: ignore[arg-type]


def closed() -> ObligationMap:
    """Every kind of open item, beside lines that are discharged."""
    path = "src/billing.py"
    branch = row(path, 14, "    if order.total > limit:", Status.UNWITNESSED, kind=Kind.BRANCH)
    passage = [
        row(path, 20, "    fee = base_fee(order)", Status.UNWITNESSED),
        row(path, 22, "    order.add(fee)", Status.UNWITNESSED),
        row(path, 23, "    return order", Status.UNWITNESSED),
    ]
    part = row(
        path,
        31,
        "\trate = table[kind] if kind in table else default_rate(kind)",
        Status.UNWITNESSED,
        scope="Order.rate",
        note="`default_rate(kind)` did not run",
        arms=(ArmRow("then", True), ArmRow("default_rate(kind)", False), ArmRow("raised")),
    )
    opaque = row(
        "tools/run", 0, "", Status.UNWITNESSED, kind=Kind.OPAQUE, scope="", hash="c" * 40, note="a symbolic link"
    )
    waived = row("src/emit.py", 3, "HEADER = 1", Status.WAIVED, scope="")
    hits = [
        row(path, 12, "    total = sum(order.items)"),
        row(path, 13, "    limit = LIMIT", witness_count=3),
        row(path, 2, "LIMIT = 10", scope="", phase=Phase.IMPORT),
        row("web/cart.ts", 5, "const a = 1;", precision=Precision.STATEMENT, witnesses=(), witness_count=0),
    ]
    rows = sorted([branch, *passage, part, opaque, waived, *hits], key=lambda each: (each.path, each.line))
    findings = [
        *(unwitnessed(each) for each in (branch, *passage, part)),
        unwitnessed(
            opaque, "LW104", "no line rule can read this change, so only a waiver with its blob id discharges it"
        ),
        finding("LW202", "tests/waivers.yaml", 9, "the waiver of src/old.py expired on 2026-01-31"),
        finding("LW102", path, 13, "an arm of this line was not taken by any witness: else", Severity.WARNING),
    ]
    exempt = [
        ExemptRow(line=21, path=path, reason=Exemption.COMMENT),
        ExemptRow(line=1, path=path, reason=Exemption.DOCSTRING),
        ExemptRow(line=0, path="README.md", reason=Exemption.INERT),
    ]
    return build(rows, findings, exempt, evidence=(RUN, EXPORT), today="2026-02-01")


def opened() -> ObligationMap:
    """Everything discharged."""
    rows = [row("src/a.py", line, f"x{line} = {line}") for line in (3, 4)] + [
        row("src/b.py", 9, "y = 1", Status.WAIVED)
    ]
    return build(rows, [])


def approved() -> ObligationMap:
    """Somebody vouches for changed protected content."""
    fingerprint = "SHA256:S2E8QAGUF70sk6c6LMBsh3xYTUiUnetebAW4PM5++xM"
    approval = ApprovalRow("c0ffee00" * 5, fingerprint, "ada@example.org")
    return msgspec.structs.replace(opened(), approval=approval)


def nothing_owed() -> ObligationMap:
    """A patch that provably owes nothing."""
    lines = [ExemptRow(line=n, path="src/a.py", reason=Exemption.COMMENT) for n in (3, 4, 5, 9)]
    whole = [ExemptRow(line=0, path="docs/guide.md", reason=Exemption.INERT)]
    return build([], [], whole + lines, evidence=())


def protected() -> ObligationMap:
    """A gate that closed before scoring."""
    found = [
        finding("LW301", "tests/trusted/test_billing.py", 0, "changed without approval: take it out of this patch"),
        finding("LW401", "tests/relations/corpus/orders.jsonl", 0, "is not the file that MANIFEST.sha256 lists"),
    ]
    return build([], found, evidence=(), scored=False, settings_digest="5" * 64)


def failing() -> ObligationMap:
    """A trusted check failed."""
    line = row("src/a.py", 3, "x = 1", Status.UNWITNESSED, scope="")
    failed = finding("LW501", "tests/trusted/test_a.py", 0, "test_a failed: assert 1 == 2")
    return build([line], [failed, unwitnessed(line)])


def many(files: int = 14, lines: int = 9) -> ObligationMap:
    """More open lines than a screen should show, none next to another."""
    rows = [
        row(f"src/module_{number:02}.py", 10 * line, f"value_{line} = compute({line})", Status.UNWITNESSED, scope="")
        for number in range(files)
        for line in range(1, lines + 1)
    ]
    return build(rows, [unwitnessed(each) for each in rows])


HOSTILE = "src/\x1b]0;owned\x07\u202e\udcff\ttab.py"


def hostile() -> ObligationMap:
    """Names, sources and messages that try to act on a terminal."""
    lines = [
        row(HOSTILE, 1, "x = '\x1b[2J\u202e\x9b31m\r'", Status.UNWITNESSED, scope="f\x1b[1m"),
        row(
            "src/名前 と空白.py", 7, "\t値 = 計算('全角', x)", Status.UNWITNESSED, scope="関数", note="`x` did not run"
        ),
        row("-v.py", 2, "y = 2", Status.UNWITNESSED, scope=""),
    ]
    rows = sorted(lines, key=lambda each: (each.path, each.line))
    return build(rows, [unwitnessed(each) for each in rows])


def patched() -> ObligationMap:
    """A map that carries the text of its patch: hunks with context, removed lines, a moved file, a deletion point."""
    path = "src/billing.py"
    text = " def fee(order):\n-    return 0\n+    if order.small:\n+        return 5\n+\n+    return 0\n     # end\n "
    rows = [
        row(path, 12, "    if order.small:", kind=Kind.BRANCH, arms=(ArmRow("return 5", False), ArmRow("else", True))),
        row(path, 13, "        return 5", Status.UNWITNESSED, scope="fee"),
        row(path, 15, "    return 0", Status.UNWITNESSED, scope="fee"),
        row(path, 40, "close(order)", Status.UNWITNESSED, kind=Kind.DELETION, scope="", note="lines were deleted here"),
        row("src/new name.py", 7, "x = '<b>&amp;</b>'", scope="", phase=Phase.IMPORT),
    ]
    deleted = HunkRow(40, 39, " open(order)\n-check(order)\n close(order)")
    patch = (
        PatchRow(hunks=(HunkRow(11, 11, text), deleted), path=path),
        PatchRow(
            base_path="src/old name.py",
            cut=3,
            hunks=(HunkRow(7, 7, "-x = 1\n+x = '<b>&amp;</b>'"),),
            path=rows[-1].path,
        ),
    )
    exempt = [ExemptRow(line=14, path=path, reason=Exemption.BLANK)]
    open_rows = [each for each in rows if each.status is Status.UNWITNESSED]
    return build(rows, [unwitnessed(each) for each in open_rows], exempt, patch=patch)


ALL = {
    "closed": closed,
    "opened": opened,
    "approved": approved,
    "nothing_owed": nothing_owed,
    "protected": protected,
    "failing": failing,
    "many": many,
    "hostile": hostile,
    "patched": patched,
}
