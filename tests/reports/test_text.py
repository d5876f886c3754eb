"""What the screen promises beside its looks."""

from __future__ import annotations

import re

import pytest

from linewitness import reports
from linewitness.console import Screen, columns
from linewitness.errors import UsageError
from linewitness.model import Exemption, Kind, Reason, Severity
from linewitness.obligation_map import FindingRow, ObligationMap, Status, WaiverRow
from linewitness.reports import View
from linewitness.reports.layout import excerpt
from tests.reports import samples

WIDE = View(Screen(width=80))


def screen(artifact: ObligationMap, view: View = WIDE) -> list[str]:
    return b"".join(reports.render(artifact, "text", view)).decode(view.encoding).splitlines()


def test_the_first_line_is_the_verdict_and_the_last_two_are_the_sum_and_the_exit_status() -> None:
    lines = screen(samples.closed())

    assert lines[0] == "gate closed: 6 of 11 owed lines have no witness"
    assert lines[-2] == "11 owed = 4 trusted-hit + 1 waived + 6 unwitnessed"
    assert lines[-1].startswith("exit 1: gate closed")


def test_errors_that_decide_the_status_are_told_before_open_lines() -> None:
    lines = screen(samples.failing())

    assert lines.index("tests/trusted/test_a.py: LW501 trusted check failed") < lines.index(
        "src/a.py:3: LW101 unwitnessed line (statement)"
    )


def test_a_gate_that_closed_before_scoring_does_not_pretend_to_have_counted() -> None:
    text = "\n".join(screen(samples.protected()))

    assert "no line was judged" in text
    assert "0 owed" not in text


def test_items_that_are_cut_are_counted_truly_and_all_are_shown_on_request() -> None:
    artifact = samples.many(files=14, lines=9)
    lines = screen(artifact)
    heads = [line for line in lines if re.match(r"src/module_\d\d\.py:\d+: LW101", line)]
    everything = screen(artifact, View(Screen(width=80), verbose=True))

    cut = next(line for line in lines if line.startswith("… and"))
    assert len(heads) + int(cut.split()[2]) == 126
    assert sum(": LW101" in line for line in everything) == 126
    assert not any(line.startswith("…") for line in everything)


def test_an_item_of_several_lines_that_is_cut_counts_with_all_of_them() -> None:
    rows = [
        samples.row(f"m{module:02}.py", line, f"f{line}()", Status.UNWITNESSED)
        for module in range(12)
        for line in (1, 2, 3)
    ]
    lines = screen(samples.build(rows, [samples.unwitnessed(row) for row in rows]))

    assert "… and 6 more open lines in 2 files" in lines
    assert "  m10.py: 3" in lines


def test_neighbours_that_miss_different_things_are_two_items() -> None:
    rows = [
        samples.row("a.py", 1, "x = f()", Status.UNWITNESSED, note="it raised before"),
        samples.row("a.py", 2, "y = g()", Status.UNWITNESSED, note="removed by the compiler"),
    ]

    assert (
        sum(": LW101" in line for line in screen(samples.build(rows, [samples.unwitnessed(row) for row in rows]))) == 2
    )


def test_findings_that_are_cut_are_counted_truly() -> None:
    found = [samples.finding("LW301", f"tests/trusted/test_{n}.py", 0, "changed") for n in range(25)]
    lines = screen(samples.build([], found, scored=False))

    assert sum(": LW301" in line for line in lines) == 10
    assert "… and 15 more findings: 15 x LW301" in lines


def test_neighbouring_lines_that_miss_the_same_thing_are_one_item_and_others_are_not() -> None:
    open_rows = [samples.row("a.py", line, f"x{line}()", Status.UNWITNESSED) for line in (3, 4, 6)]
    other_scope = samples.row("a.py", 7, "y()", Status.UNWITNESSED, scope="other")
    rows = [*open_rows, other_scope]
    heads = [
        line for line in screen(samples.build(rows, [samples.unwitnessed(row) for row in rows])) if ": LW101" in line
    ]

    assert heads == [
        "a.py:3: LW101 unwitnessed line (2 statements to line 4 in `price_order`)",
        "a.py:6: LW101 unwitnessed line (statement in `price_order`)",
        "a.py:7: LW101 unwitnessed line (statement in `other`)",
    ]


def test_a_witnessed_line_between_two_open_ones_keeps_them_apart() -> None:
    rows = [
        samples.row("a.py", 3, "x()", Status.UNWITNESSED),
        samples.row("a.py", 4, "y()"),
        samples.row("a.py", 5, "z()", Status.UNWITNESSED),
    ]
    found = [samples.unwitnessed(rows[0]), samples.unwitnessed(rows[2])]

    assert sum(": LW101" in line for line in screen(samples.build(rows, found))) == 2


@pytest.mark.parametrize("sample", ["closed", "many", "nothing_owed", "protected"])
@pytest.mark.parametrize("width", [40, 60, 100])
def test_prose_and_source_stay_inside_a_narrow_screen(sample: str, width: int) -> None:
    free = re.compile(r"next: |^\S*\.\w+(:\d+)?: |LW\d{3}|tests/trusted/")  # paths and commands are never cut
    for line in screen(samples.ALL[sample](), View(Screen(width=width))):
        assert columns(line) <= width or free.search(line), line


def test_the_caret_points_at_the_part_that_the_note_quotes_in_cells_of_the_screen() -> None:
    wide = samples.row("a.py", 1, "\t名 = 'あ' if b else fallback", Status.UNWITNESSED, note="`fallback` did not run")
    shown = excerpt(wide, 80)

    start, end = shown.caret
    cells = [char for char in shown.text for _ in range(columns(char))]
    assert "".join(cells[start:end]) == "fallback"


def test_the_caret_takes_the_whole_line_when_the_quoted_part_occurs_twice() -> None:
    twice = samples.row("a.py", 1, "    x = f(x)", Status.UNWITNESSED, note="`x` did not run")

    assert excerpt(twice, 80).caret == (4, 12)


def test_a_line_longer_than_the_screen_is_clipped_with_a_mark_and_the_caret_stays_inside() -> None:
    long = samples.row("a.py", 1, "x = '" + "y" * 500 + "'", Status.UNWITNESSED)
    shown = excerpt(long, 60)

    assert columns(shown.text) == 60
    assert shown.text.endswith("…")
    assert shown.caret == (0, 60)


@pytest.mark.parametrize("form", ["text", "agent"])
def test_nothing_that_a_patch_wrote_reaches_the_terminal_as_a_control(form: str) -> None:
    text = b"".join(reports.render(samples.hostile(), form, View(Screen(width=80)))).decode()

    assert not set(text) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160), 0x202E)}
    assert r"\x1b]0;owned\x07" in text


def test_text_for_a_poor_encoding_has_escapes_and_no_failure() -> None:
    text = b"".join(reports.render(samples.hostile(), "text", View(Screen(width=80), encoding="ascii")))

    assert rb"\u8a08\u7b97" in text


def test_colour_is_only_added_and_never_carries_meaning_alone() -> None:
    plain = screen(samples.closed())
    colored = screen(samples.closed(), View(Screen(color=True, width=80)))

    assert [re.sub(r"\x1b\[\d+m", "", line) for line in colored] == plain
    assert any("\x1b[" in line for line in colored)


def test_waived_lines_are_listed_with_owner_and_day_when_everything_is_asked_for() -> None:
    text = "\n".join(screen(samples.opened(), View(Screen(width=80), verbose=True)))

    assert "src/b.py:9: waived, codegen, by platform until 2026-12-16" in text


def test_a_map_that_is_stored_nowhere_suggests_no_command_that_reads_it() -> None:
    text = "\n".join(screen(samples.many(), View(Screen(width=80), map_file="")))

    assert "linewitness report" not in text
    assert "next:     linewitness explain LW101" in text


def test_an_unknown_code_of_another_version_is_told_and_stays_closed() -> None:
    artifact = samples.build([], [FindingRow("LW999", 0, "from the future", "", Severity.ERROR)])

    assert artifact.exit == 1
    assert any("LW999 unknown finding" in line for line in screen(artifact))


def test_an_unknown_format_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"there is no report format `agnet`.*did you mean `agent`\?"):
        list(reports.render(samples.opened(), "agnet", View()))


def test_the_reasons_that_explain_offers_are_those_of_the_decision_table() -> None:
    from linewitness.reports.words import allowed_reasons

    assert allowed_reasons(Kind.BRANCH) == [Reason.CODEGEN, Reason.VENDOR]
    for kind in set(Kind) - {Kind.BRANCH}:
        assert allowed_reasons(kind) == list(Reason)


def test_a_waiver_note_cannot_break_out_of_its_line() -> None:
    waiver = WaiverRow(expires="2026-12-16", note="a\n\x1b[2Jgate open", owner="o\rx", reason=Reason.VENDOR)
    rows = [samples.row("a.py", 1, "x", Status.WAIVED, waiver=waiver)]
    lines = screen(samples.build(rows, []), View(Screen(width=80), verbose=True))

    assert r"a.py:1: waived, vendor, by o\rx until 2026-12-16: a\n\x1b[2Jgate open" in lines


def test_every_reason_for_owing_nothing_has_words_of_its_own() -> None:
    from linewitness.reports.words import EXEMPT_BECAUSE

    assert set(EXEMPT_BECAUSE) == set(Exemption)
    assert len(set(EXEMPT_BECAUSE.values())) == len(Exemption)


def test_a_command_in_a_finding_is_never_broken() -> None:
    command = "`git checkout 1a2b3c4d5e6f -- ':/tests/trusted/a test of it.py'`"
    message = f"a trusted test was changed. Take it back ({command}), or not"
    found = [samples.finding("LW301", "tests/trusted/a", 0, message)]

    lines = screen(samples.build([], found, scored=False), View(Screen(width=40)))

    assert f"  ({command})," in lines
