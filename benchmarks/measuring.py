"""Shared by the benchmarks: what one run of a command costs, runs of rivals in turn, and the tables of both.

The machines are shared and noisy, so wall time means little: user and system CPU of the whole process tree are
compared, the rivals run one after the other in alternating order, and what is reported is the median of the ratios
within each round, with their quartiles. Instruction counts (valgrind's cachegrind) do not depend on the neighbours at
all, and so one run of each is enough; they cost some forty times the time.

Every command is started by the stopwatch, a small program of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

STOPWATCH = Path(__file__).with_name("stopwatch.py")
_TAIL_BYTES = 2000
# Every process of a tree writes a line of its own, after its number; the first to write anything is the one started.
_COUNTED = re.compile(r"==(\d+)== (?:.*\n)*?==\1== I\s+refs:\s+([\d,]+)")


class Cost(NamedTuple):
    """What one run took.

    ``cpu`` are user and system seconds of the process and of the children it waited for, ``wall`` seconds, ``mib`` the
    peak of the largest of these processes, ``instructions`` those of the process itself, 0 when they were not counted.
    """

    cpu: float
    wall: float
    mib: float
    instructions: int = 0


class Command(NamedTuple):
    """A command to be measured: the exit statuses with which it may end, and its whole environment (``None``: ours)."""

    words: Sequence[str]
    cwd: Path
    statuses: tuple[int, ...] = (0,)
    environment: Mapping[str, str] | None = None


class Rival(NamedTuple):
    """One thing to be measured, again and again."""

    name: str
    run: Callable[[], Cost]


class Answer(NamedTuple):
    """What a command cost, its exit status (negative: the signal) and the end of what it printed."""

    cost: Cost
    status: int
    said: str


class Started(NamedTuple):
    """How a watched command was started, and what it cost."""

    command: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    status: int
    cost: Cost


# ---------------------------------------------------------------- running


def watch(out: Path, *, instructions: bool = False) -> tuple[str, ...]:
    """The words to be put before a command, so that :func:`watched` can read from ``out`` what it cost.

    Errors: ``SystemExit`` when instructions are to be counted and valgrind is not there.
    """
    words = (sys.executable, "-I", "-S", str(STOPWATCH), str(out))
    if not instructions:
        return words
    counter = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    return (*words, _valgrind(), *counter, f"--log-file={_log(out)}")


def watched(out: Path) -> Started | None:
    """What a watched command cost; ``None`` when it did not end, or was to be counted and was not."""
    if not out.is_file():
        return None
    told = json.loads(out.read_text(encoding="utf-8"))
    counted = 0
    if _log(out).is_file():
        found = instructions_in(_log(out).read_text(errors="replace"))
        if found is None:
            return None
        counted = found
    cost = Cost(told["cpu"], told["wall"], told["mib"], counted)
    return Started(tuple(told["command"]), told["cwd"], told["environment"], told["status"], cost)


def _log(out: Path) -> Path:
    return out.with_suffix(".valgrind")


def execute(command: Command, *, instructions: bool = False) -> Answer:
    """Run a command once, whatever its status. Errors: ``SystemExit`` when it cannot be measured."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, tempfile.TemporaryFile() as output:
        out = Path(folder, "cost.json")
        subprocess.run(
            [*watch(out, instructions=instructions), *command.words],
            check=False,
            cwd=command.cwd,
            env=command.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
        said = output.read().decode(errors="replace")
        started = watched(out)
    if started is None or (instructions and not started.cost.instructions):
        raise SystemExit(f"nothing was measured of {' '.join(command.words[:4])}:\n{said}")
    return Answer(started.cost, started.status, said)


def instructions_in(log: str) -> int | None:
    """The count of the process that was started, in a log of cachegrind that its forked children share."""
    found = _COUNTED.match(log)
    return int(found[2].replace(",", "")) if found else None


def _valgrind() -> str:
    found = shutil.which("valgrind")
    if found is None:
        raise SystemExit("--instructions needs valgrind on PATH (Debian: apt-get install valgrind); or leave it out")
    return found


def measure(command: Command, *, instructions: bool = False) -> Cost:
    """Run a command once. Ends the benchmark when it fails: figures of broken runs are worthless."""
    answer = execute(command, instructions=instructions)
    if answer.status not in command.statuses:
        raise SystemExit(f"{' '.join(command.words)}\nended with {answer.status}:\n{answer.said}")
    return answer.cost


def warm_environment(folder: Path) -> dict[str, str]:
    """Our environment, in which interpreters keep byte code in ``folder``, as they do where a tool is installed."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return ours | {"PYTHONPYCACHEPREFIX": str(folder)}


def commands(rivals: Mapping[str, Command], *, instructions: bool = False) -> list[Rival]:
    """Rivals that are plain commands."""
    count = partial(measure, instructions=instructions)
    return [Rival(name, partial(count, command)) for name, command in rivals.items()]


def interleave(rivals: Sequence[Rival], rounds: int, news: Callable[[str], None] = print) -> dict[str, list[Cost]]:
    """Measure all rivals ``rounds`` times, one after the other, in alternating order."""
    costs: dict[str, list[Cost]] = {rival.name: [] for rival in rivals}
    for number in range(rounds):
        for rival in rivals if number % 2 == 0 else reversed(rivals):
            costs[rival.name].append(rival.run())
        news(f"round {number + 1} of {rounds} done")
    return costs


# ---------------------------------------------------------------- telling


class Spread(NamedTuple):
    """The median of some figures, and the quartiles around it."""

    low: float
    median: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles; of a single value, itself."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    return Spread(*statistics.quantiles(values, n=4, method="inclusive"))


def ratios(runs: Sequence[float], reference: Sequence[float]) -> Spread:
    """Spread of the ratios round by round. Errors: ``ValueError`` when the numbers of rounds differ."""
    return spread([one / other for one, other in zip(runs, reference, strict=True)])


def medians(runs: Iterable[Cost]) -> Cost:
    """The median of each figure on its own."""
    cpu, wall, mib, instructions = map(statistics.median, zip(*runs, strict=True))
    return Cost(cpu, wall, mib, round(instructions))


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: the first column to the left, the figures to the right."""
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    texts = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in (header, rule, *rows)]
    return "\n".join(f"| {' | '.join(text)} |" for text in texts)


def comparison(costs: Mapping[str, Sequence[Cost]], reference: str) -> str:
    """CPU and memory of every rival, and how they stand to the reference, round by round."""
    rows = []
    for name, runs in costs.items():
        other = costs[reference]
        cpu = ratios([run.cpu for run in runs], [run.cpu for run in other])
        mib = ratios([run.mib for run in runs], [run.mib for run in other])
        middle = medians(runs)
        quartiles = f"{cpu.low:.3f} to {cpu.high:.3f}"
        figures = (f"{middle.cpu:.3f}", f"{cpu.median:.3f}", quartiles, f"{middle.mib:.0f}", f"{mib.median:.2f}")
        rows.append([name, *figures])
    return markdown(["", "CPU s", "CPU ratio", "quartiles", "peak MiB", "memory ratio"], rows)


def counted(costs: Mapping[str, Sequence[Cost]], reference: str) -> str:
    """Instruction counts of every rival, and their ratio to the reference."""
    totals = {name: medians(runs).instructions for name, runs in costs.items()}
    rows = [[name, f"{count / 1e6:,.0f}", f"{count / totals[reference]:.4f}"] for name, count in totals.items()]
    return markdown(["", "million instructions", "ratio"], rows)


def beside(whole: Sequence[Cost], part: Sequence[Cost]) -> tuple[Spread, Spread]:
    """What a command costs beside a part of it that was measured alone: CPU and wall seconds, round by round."""
    pairs = list(zip(whole, part, strict=True))
    return spread([one.cpu - other.cpu for one, other in pairs]), spread(
        [one.wall - other.wall for one, other in pairs]
    )
