"""Costs, ratios and tables: what the figures of the benchmarks are made of."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest
from measuring import (
    Command,
    Cost,
    Rival,
    Spread,
    beside,
    comparison,
    counted,
    execute,
    instructions_in,
    interleave,
    markdown,
    measure,
    medians,
    ratios,
    spread,
)


def python(code: str, *, statuses: tuple[int, ...] = (0,)) -> Command:
    return Command([sys.executable, "-c", code], Path.cwd(), statuses)


def cost(cpu: float, mib: float = 10.0) -> Cost:
    return Cost(cpu, cpu * 2, mib)


# ---------------------------------------------------------------- running


def test_a_command_is_measured_with_its_children() -> None:
    burn = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}], check=True)"

    taken = measure(python(child))

    assert taken.cpu >= 0.2
    assert taken.wall >= 0.2
    assert taken.mib > 1
    assert taken.instructions == 0


def test_the_answer_has_the_status_and_the_end_of_what_was_printed() -> None:
    answer = execute(python("import sys; print('x' * 9000 + ' the end'); sys.exit(3)"))

    assert answer.status == 3
    assert answer.said.endswith("the end\n")
    assert len(answer.said) == 2000


def test_a_command_has_the_environment_that_it_was_given_and_no_other(tmp_path: Path) -> None:
    show = "import os; print(sorted(name for name in os.environ if name.startswith('BENCH')))"
    command = Command([sys.executable, "-c", show], tmp_path, environment={"BENCH_ONE": "1"})

    assert execute(command).said == "['BENCH_ONE']\n"


def test_a_failing_command_ends_the_benchmark() -> None:
    with pytest.raises(SystemExit, match=r"(?s)ended with 3:.*no such luck"):
        measure(python("import sys; print('no such luck'); sys.exit(3)"))


def test_a_command_that_is_not_there_ends_the_benchmark_with_its_name() -> None:
    with pytest.raises(SystemExit, match="no-such-program: No such file or directory"):
        measure(Command(["no-such-program"], Path.cwd()))


def test_a_status_that_is_expected_is_no_failure() -> None:
    assert measure(python("raise SystemExit(1)", statuses=(1,))).wall > 0
    with pytest.raises(SystemExit, match="ended with 0"):
        measure(python("pass", statuses=(1,)))


def test_without_valgrind_counting_instructions_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)

    with pytest.raises(SystemExit, match="needs valgrind on PATH"):
        measure(python("pass"), instructions=True)


def test_instructions_are_those_that_valgrind_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Stands in for a program that not every machine has: it runs the command and writes the kind of log that it writes.
    fake = tmp_path / "valgrind"
    fake.write_text(
        '#!/bin/sh\nwhile :; do case "$1" in --log-file=*) log=${1#*=};; --*) ;; *) break;; esac; shift; done\n'
        'printf "==$$== Cachegrind\\n==$$== I   refs:      4,321\\n" > "$log"\nexec "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    answer = execute(python("print('counted')"), instructions=True)

    assert answer.cost.instructions == 4321
    assert answer.said == "counted\n"
    fake.write_text("#!/bin/sh\necho broken\n")
    with pytest.raises(SystemExit, match="broken"):
        execute(python("pass"), instructions=True)


def test_the_count_is_that_of_the_process_that_was_started_and_not_of_its_forks() -> None:
    log = (
        "==12== Cachegrind, a high-precision tracing profiler\n==12== Command: python\n"
        "==34== \n==34== I   refs:      111\n==12== \n==12== I   refs:      1,234,567\n==56== I refs: 99\n"
    )

    assert instructions_in(log) == 1234567


@pytest.mark.parametrize("log", ["", "valgrind: cannot run\n", "==12== Cachegrind\n==34== I   refs:      111\n"])
def test_a_log_without_the_count_of_that_process_has_none(log: str) -> None:
    assert instructions_in(log) is None


def test_rivals_run_in_alternating_order() -> None:
    order: list[str] = []

    def run(name: str) -> Cost:
        order.append(name)
        return cost(len(order))

    news: list[str] = []
    costs = interleave([Rival(name, partial(run, name)) for name in "ab"], 3, news.append)

    assert order == ["a", "b", "b", "a", "a", "b"]
    assert [run.cpu for run in costs["a"]] == [1, 4, 5]
    assert [run.cpu for run in costs["b"]] == [2, 3, 6]
    assert len(news) == 3


# ---------------------------------------------------------------- figures


def test_the_spread_of_one_value_is_that_value() -> None:
    assert spread([2.5]) == Spread(2.5, 2.5, 2.5)


def test_the_spread_has_the_quartiles_of_the_values() -> None:
    assert spread([5, 1, 4, 2, 3]) == Spread(2, 3, 4)


def test_ratios_are_taken_round_by_round() -> None:
    # The machine was twice as slow in the second round, for both: no ratio moves.
    assert ratios([2.0, 4.0, 2.0], [1.0, 2.0, 1.0]) == Spread(2, 2, 2)


def test_rounds_that_do_not_pair_up_have_no_ratio() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratios([1.0, 2.0], [1.0])


def test_each_figure_has_a_median_of_its_own() -> None:
    runs = [Cost(1, 9, 5, 10), Cost(2, 8, 4, 30), Cost(3, 7, 6, 20)]

    assert medians(runs) == Cost(2, 8, 5, 20)


def test_what_is_left_beside_a_part_is_taken_round_by_round() -> None:
    cpu, wall = beside([cost(3), cost(5), cost(4)], [cost(1), cost(2), cost(2)])

    assert cpu == Spread(2, 2, 2.5)
    assert wall == Spread(4, 4, 5)


# ---------------------------------------------------------------- tables


def test_a_table_has_its_names_to_the_left_and_its_figures_to_the_right() -> None:
    assert markdown(["", "ms"], [["start", "5"], ["x", "1,000"]]) == (
        "|       |    ms |\n| ----- | ----: |\n| start |     5 |\n| x     | 1,000 |"
    )


def test_the_comparison_shows_ratios_to_the_reference() -> None:
    table = comparison({"bare": [cost(1.0), cost(2.0)], "ours": [cost(1.1, 20), cost(2.6, 20)]}, "bare")

    assert [cell.strip() for cell in table.splitlines()[-1].split("|")[1:-1]] == [
        "ours", "1.850", "1.200", "1.150 to 1.250", "20", "2.00",
    ]  # fmt: skip
    assert "1.000 to 1.000" in table.splitlines()[-2]


def test_the_table_of_instructions_shows_millions_and_ratios() -> None:
    table = counted({"bare": [Cost(0, 0, 0, 2_000_000_000)], "ours": [Cost(0, 0, 0, 2_050_000_000)]}, "bare")

    assert [cell.strip() for cell in table.splitlines()[-1].split("|")[1:-1]] == ["ours", "2,050", "1.0250"]
