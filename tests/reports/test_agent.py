"""The format for coding agents: small, one line per item, stable."""

from __future__ import annotations

from linewitness import reports
from linewitness.obligation_map import ObligationMap, Status
from linewitness.reports import View, agent
from tests.reports import samples


def told(artifact: ObligationMap) -> str:
    return b"".join(reports.render(artifact, "agent", View())).decode()


def test_the_first_line_has_the_verdict_the_status_and_the_counts() -> None:
    first = told(samples.closed()).splitlines()[0]

    assert first.startswith("closed exit=1 owed=11 trusted-hit=4 waived=1 unwitnessed=6: ")


def test_every_open_line_and_every_finding_has_one_line() -> None:
    lines = told(samples.closed()).splitlines()

    assert len(lines) == 1 + 6 + 2 + 1
    assert sum(": LW101 " in line for line in lines) == 5


def test_a_huge_map_stays_below_the_cap_and_the_rest_is_counted_truly() -> None:
    artifact = samples.many(files=400, lines=50)
    text = told(artifact)
    lines = text.splitlines()

    assert len(text.encode()) <= agent.LARGEST
    shown = sum(": LW101 " in line for line in lines)
    assert shown > 50
    assert lines[-1] == (f"more: {400 * 50 - shown} items left out; all of them: linewitness -v report")


def test_after_the_first_item_that_does_not_fit_none_is_shown() -> None:
    long = [samples.finding("LW301", f"f{n}", 0, "m" * 1000) for n in range(60)]
    short = [samples.finding("LW601", "short", 0, "s")]
    lines = told(samples.build([], [*long, *short])).splitlines()

    assert not any(line.startswith("short") for line in lines)
    assert lines[-1].startswith(f"more: {61 - (len(lines) - 2)} items left out")


def test_one_endless_line_cannot_fill_the_report() -> None:
    row = samples.row("p" * 5000 + ".py", 1, "名" * 5000, Status.UNWITNESSED, scope="s" * 5000)
    text = told(samples.build([row], [samples.unwitnessed(row, message="m" * 5000)]))

    assert max(len(line.encode()) for line in text.splitlines()) <= 400


def test_it_never_tells_how_to_do_without_a_witness() -> None:
    for sample in samples.ALL.values():
        assert "linewitness waive" not in told(sample())
