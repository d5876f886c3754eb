"""Maps for the browser: ten lines with one of each status, twenty thousand lines, and lines that would like to run."""

from __future__ import annotations

from linewitness.model import Exemption, Kind, Phase, Severity
from linewitness.obligation_map import ArmRow, ExemptRow, HunkRow, ObligationMap, PatchRow, Row, Status
from tests.reports import samples
from tests.reports.any_map import NASTY

BILLING = "src/billing.py"


def small() -> ObligationMap:
    """Ten changed lines in three files."""
    text = """\
 def price_order(order):
-    return order.total
+    total = sum(order.items)
+    # coupons come first
+    if order.coupon:
+        total -= order.coupon
+        total = max(total, 0)
+    return total
 """
    rows = [
        samples.row(BILLING, 11, "    total = sum(order.items)", witness_count=3),
        samples.row(
            BILLING,
            13,
            "    if order.coupon:",
            kind=Kind.BRANCH,
            arms=(ArmRow("total -= order.coupon", False), ArmRow("return total", True)),
        ),
        samples.row(BILLING, 14, "        total -= order.coupon", Status.UNWITNESSED),
        samples.row(BILLING, 15, "        total = max(total, 0)", Status.UNWITNESSED),
        samples.row(BILLING, 16, "    return total"),
        samples.row("src/emit.py", 3, "HEADER = 1", Status.WAIVED, scope=""),
        samples.row("src/emit.py", 4, "LIMIT = 2", scope="", phase=Phase.IMPORT),
        samples.row("src/größe.py", 7, "def size():", Status.UNWITNESSED, kind=Kind.DEFINITION, scope="size"),
    ]
    exempt = [
        ExemptRow(line=12, path=BILLING, reason=Exemption.COMMENT),
        ExemptRow(line=0, path="README.md", reason=Exemption.INERT),
    ]
    patch = (
        PatchRow(hunks=(HunkRow(1, 1, "-# Shop\n+# The shop"),), path="README.md"),
        PatchRow(hunks=(HunkRow(10, 10, text),), path=BILLING),
        PatchRow(hunks=(HunkRow(3, 3, "-HEADER = 0\n+HEADER = 1\n+LIMIT = 2"),), path="src/emit.py"),
    )
    found = [samples.unwitnessed(row) for row in rows if row.status is Status.UNWITNESSED]
    found.append(samples.finding("LW102", BILLING, 13, "not taken: `total -= order.coupon`", Severity.WARNING))
    found.append(samples.finding("LW206", "tests/waivers.yaml", 3, "matches no line", Severity.WARNING))
    return samples.build(rows, found, exempt, patch=patch)


def big(files: int = 20, lines: int = 1000) -> ObligationMap:
    """Twenty thousand new lines, every fiftieth of them open."""
    rows: list[Row] = []
    patch: list[PatchRow] = []
    for number in range(files):
        path = f"src/part_{number:02}/module.py"
        texts = [f"    value_{line} = compute(value_{line - 1}, '{'x' * (line % 40)}')" for line in range(1, lines + 1)]
        rows += [
            samples.row(path, line, text, Status.UNWITNESSED if line % 50 == 0 else Status.TRUSTED_HIT)
            for line, text in enumerate(texts, 1)
        ]
        patch.append(PatchRow(hunks=(HunkRow(1, 1, "\n".join(f"+{text}" for text in texts)),), path=path))
    found = [samples.unwitnessed(row) for row in rows if row.status is Status.UNWITNESSED]
    return samples.build(rows, found, patch=tuple(patch))


def hostile() -> ObligationMap:
    """Every text that could be taken for markup, as name, line, scope, note, witness and message."""
    rows = []
    patch = []
    for number, text in enumerate(sorted(NASTY)):
        path = f"{number:02}/{text}"
        status = (Status.UNWITNESSED, Status.TRUSTED_HIT, Status.WAIVED)[number % 3]
        witnesses = {"witnesses": (text,)} if status is Status.TRUSTED_HIT else {}
        rows.append(samples.row(path, 3, f"x = {text}", status, scope=text, note=text, **witnesses))
        shown = text.replace("\n", "").encode("utf-8", "backslashreplace").decode()
        patch.append(PatchRow(base_path=text, hunks=(HunkRow(3, 3, f"-{shown}\n+x = {shown}"),), path=path))
    found = [samples.unwitnessed(row, message=row.note) for row in rows if row.status is Status.UNWITNESSED]
    found += [samples.finding("LW501", text.lstrip("/"), 0, text) for text in NASTY]
    return samples.build(rows, found, patch=tuple(patch))
