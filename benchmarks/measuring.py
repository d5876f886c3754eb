"""Shared by the benchmarks: a command's CPU time and peak memory, and ratios from interleaved runs.

The machines are shared and noisy, so wall time means little: user and system CPU of the whole process tree are
compared, runs of the rivals alternate, and the median of the ratios of neighbouring runs is reported.
"""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """What one run of a command took: CPU seconds of the process and its children, peak MiB of the largest of them."""

    cpu: float
    mib: float


class Rival(NamedTuple):
    """One command to be measured. ``statuses`` are the exit statuses with which it may end."""

    name: str
    command: Sequence[str]
    cwd: Path
    statuses: tuple[int, ...] = (0,)
    environment: Mapping[str, str] | None = None


def measure(rival: Rival) -> Cost:
    """Run a command once. Ends the benchmark when it fails: figures of broken runs are worthless."""
    process = subprocess.Popen(
        rival.command,
        cwd=rival.cwd,
        env=os.environ | dict(rival.environment or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in rival.statuses:
        raise SystemExit(f"{rival.name} ended with {process.returncode}:\n{said.decode(errors='replace')[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def interleave(rivals: Sequence[Rival], rounds: int, news: Callable[[str], None] = print) -> dict[str, list[Cost]]:
    """Measure all rivals ``rounds`` times, in turn, in alternating order."""
    costs: dict[str, list[Cost]] = {rival.name: [] for rival in rivals}
    for number in range(rounds):
        for rival in rivals if number % 2 == 0 else reversed(rivals):
            costs[rival.name].append(measure(rival))
        news(f"round {number + 1} of {rounds} done")
    return costs


def table(costs: Mapping[str, Sequence[Cost]], reference: str) -> str:
    """Medians, and the median of the ratios to ``reference`` run by run."""
    width = max(map(len, costs))
    lines = [f"{'':{width}}  {'CPU s':>8}  {'peak MiB':>8}  {'CPU ratio':>9}  {'memory ratio':>12}"]
    for name, runs in costs.items():
        ratios = [(run.cpu / other.cpu, run.mib / other.mib) for run, other in zip(runs, costs[reference], strict=True)]
        cpu, mib = (statistics.median(values) for values in zip(*ratios, strict=True))
        mid = Cost(*(statistics.median(values) for values in zip(*runs, strict=True)))
        lines.append(f"{name:{width}}  {mid.cpu:8.3f}  {mid.mib:8.1f}  {cpu:9.3f}  {mib:12.3f}")
    return "\n".join(lines)
