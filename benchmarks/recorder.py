"""What recording costs a test run: ``python benchmarks/recorder.py [--python PATH]... [--project NAME]...``.

On releases of real projects (``examples/real_projects``), the trusted run of the patch between two releases, the same
pytest run bare, and the same under pytest-cov (with and without contexts) and slipcover. All rivals have the same
interpreter, tree, flags and arguments. The control is the bare run once more: how far its ratio is from 1 is how far
the other ratios can be trusted. The recorder is also measured with nothing to watch, which is the price of its being
there, and with every line of the product to watch, which is what the others do.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Run as a script, only this folder is on the path.
sys.path[1:1] = [str(ROOT), str(ROOT / "src")]

from examples.real_projects.build import WORK, BuildError, Built, build, chosen, run  # noqa: E402
from examples.real_projects.projects import Project  # noqa: E402
from measuring import Command, Rival, comparison, counted, interleave, measure  # noqa: E402

from linewitness.evidence.pytest_run import RunRequest  # noqa: E402
from linewitness.model import RepoPath  # noqa: E402
from trusted import Plain, plain, record, request_of  # noqa: E402

PROJECTS = ("markdown-it-py", "jinja2", "click", "marshmallow")
RIVALS = Path(__file__).with_name("rivals.txt")
BARE = "pytest, bare"
EVERY_LINE = ((1, 1_000_000),)


def installed(project: Project, work: Path, python: Path) -> Built:
    """The project's repository and environment, with the rivals' tools in it."""
    built = build(project, work, python)
    quiet = ["--quiet", "--disable-pip-version-check"]
    run([built.python, "-m", "pip", "install", *quiet, "-r", RIVALS])
    return built


def whole(request: RunRequest, sources: tuple[str, ...]) -> RunRequest:
    """The same run, as if every line of the product had changed."""
    files = (path for source in sources for path in (request.export / source).rglob("*.py"))
    return request._replace(changed={RepoPath(p.relative_to(request.export).as_posix()): EVERY_LINE for p in files})


def contenders(request: RunRequest, sources: tuple[str, ...], given: argparse.Namespace) -> list[Rival]:
    """All that are compared, or the bare run and those whose names hold one of the wanted words."""
    every = rivals(request, sources, instructions=given.instructions)
    wanted = given.rival or [""]
    return [rival for rival in every if rival.name == BARE or any(word in rival.name for word in wanted)]


def rivals(request: RunRequest, sources: tuple[str, ...], *, instructions: bool) -> list[Rival]:
    bare = plain(request)
    count = partial(measure, instructions=instructions)
    others = {BARE: bare.pytest(), "pytest, bare, again": bare.pytest()}
    others |= dict(peers(bare, request, sources))
    recorded = {
        "linewitness, no line": request._replace(changed={}),
        "linewitness, the patch": request,
        "linewitness, every line": whole(request, sources),
    }
    return [
        *(Rival(name, partial(record, what, instructions=instructions)) for name, what in recorded.items()),
        *(Rival(name, partial(count, command)) for name, command in others.items()),
    ]


def peers(bare: Plain, request: RunRequest, sources: tuple[str, ...]) -> Iterator[tuple[str, Command]]:
    """The other recorders over the same sources: lines only, and no report beyond their data."""
    folder = request.results / "peers"
    folder.mkdir()
    (folder / "coveragerc").write_text("[run]\nbranch = false\n")
    cov = ["-p", "pytest_cov", f"--cov-config={folder / 'coveragerc'}", "--cov-report="]
    cov += [f"--cov={request.export / source}" for source in sources]
    data = {"COVERAGE_FILE": str(folder / "data")}
    yield "pytest-cov", bare.pytest(*cov, **data)
    if request.python.version >= (3, 12):
        yield "pytest-cov, sysmon core", bare.pytest(*cov, COVERAGE_CORE="sysmon", **data)
    yield "pytest-cov, contexts", bare.pytest(*cov, "--cov-context=test", **data)
    slip = ["--source", ",".join(sources), "--json", "--out", str(folder / "slipcover.json")]
    yield "slipcover", bare.pytest(through=("-m", "slipcover", *slip, "-m", "pytest"))


def judge(project: Project, python: Path, given: argparse.Namespace) -> None:
    built = installed(project, given.work.resolve(), python)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        request = request_of(built.repository, Path(folder), os.environ | project.env)
        compared = contenders(request, project.sources, given)
        if not given.instructions:
            interleave(compared, 1, news=lambda _: None)  # warm: files in the page cache
        costs = interleave(compared, given.pairs, news=partial(print, file=sys.stderr, flush=True))
    version = ".".join(map(str, request.python.version))
    lines = sum(last - first + 1 for ranges in request.changed.values() for first, last in ranges)
    print(f"\n### {project.name} {project.base} to {project.head}, Python {version}: {lines} lines watched\n")
    print((counted if given.instructions else comparison)(costs, BARE), flush=True)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", type=Path, action="append", metavar="PATH", help="interpreter of the tests; repeat")
    parser.add_argument("--project", action="append", metavar="NAME", help=f"repeat (default: {', '.join(PROJECTS)})")
    parser.add_argument("--rival", action="append", metavar="WORD", help="only those whose names hold it; repeat")
    parser.add_argument("--pairs", type=int, metavar="N", help="rounds (default: 5, and 1 with --instructions)")
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind instead of time")
    parser.add_argument("--work", type=Path, default=WORK, help="work folder (default: %(default)s)")
    return parser


def main() -> int:
    given = arguments().parse_args()
    given.pairs = given.pairs or (1 if given.instructions else 5)
    try:
        for python in given.python or [Path(sys.executable)]:
            for project in chosen(given.project or PROJECTS):
                judge(project, python, given)
    except BuildError as error:
        raise SystemExit(str(error)) from error
    return 0


if __name__ == "__main__":
    sys.exit(main())
