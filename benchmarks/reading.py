"""Reading big exports alone, format by format: ``python benchmarks/reading.py [FORMAT ...] [--files N]``.

Each report names 2,000 lines in each of 1,000 files. It is opened, its paths are matched, and the facts of every file
are decoded and fitted to the file's text, in a process of its own: what ``map`` does with a report before any rule of a
language is asked. A second row has as large a report of which ten files are wanted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import big_reports
from big_reports import REPORTS
from measuring import Command, commands, comparison, counted, interleave, warm_environment

FEW = 10


def read(export: Path, root: Path, wanted: int) -> int:
    """Decode the facts of the first ``wanted`` files; how many of them there were."""
    from linewitness.evidence import formats
    from linewitness.evidence.formats.paths import Checkout, match
    from linewitness.evidence.formats.placing import placed
    from linewitness.evidence.formats.source import ExportFile
    from linewitness.model import RepoPath

    known = sorted(RepoPath(path.relative_to(root).as_posix()) for path in root.rglob("*.*") if path.is_file())
    _name, reader = formats.open_export(ExportFile(export))
    owing = [path for path in known if not path.endswith("go.mod")][:wanted]
    found = match(reader.names, reader.bases, Checkout(root, known, owing), (), export.name).found
    for path, names in found.items():
        for name in names:
            placed(reader.facts(name), (root / path).read_bytes())
    return len(found)


def build(folder: Path, name: str, files: int) -> None:
    """The files of a report below ``root``, and the report beside it."""
    report = REPORTS[name]
    names = [f"pkg/d{number // 50:02d}/m{number:04d}.{report.language.suffix}" for number in range(files)]
    text = "\n".join(report.language.lines()) + "\n"
    for each in names:
        place = folder / "root" / each
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (folder / "root" / "go.mod").write_text("module example.org/big\n")
    big_reports.write(folder / report.file, name, names)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"of {', '.join(REPORTS)} (default: all)")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind instead of time")
    parser.add_argument("--read", nargs=3, metavar=("REPORT", "ROOT", "FILES"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        export, root, wanted = given.read
        sys.exit(read(Path(export), Path(root), int(wanted)) != int(wanted))
    for name in given.formats or REPORTS:
        if name not in REPORTS:
            parser.error(f"there is no format {name!r}")
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            measured(name, Path(folder), given)


def measured(name: str, folder: Path, given: argparse.Namespace) -> None:
    """Build, measure and print the rows of one format."""
    build(folder, name, given.files)
    export, environment = folder / REPORTS[name].file, warm_environment(folder / "pycache")
    rows = {f"{name}, every file": given.files, f"{name}, {FEW} files": min(FEW, given.files)}
    start = [sys.executable, str(Path(__file__).resolve()), "--read", str(export), str(folder / "root")]
    found = {row: Command([*start, str(wanted)], folder, (0,), environment) for row, wanted in rows.items()}
    compared = commands(found, instructions=given.instructions)
    costs = interleave(compared, given.rounds, news=partial(print, file=sys.stderr, flush=True))
    size = export.stat().st_size / 2**20
    print(f"\n### {name}: {given.files} files, {size:.0f} MiB\n")
    print((counted if given.instructions else comparison)(costs, f"{name}, every file"), flush=True)


if __name__ == "__main__":
    main()
