"""What relations add to the tests that three projects from the package index have.

    python -m examples.relations.real [--only NAME] [--work DIR]

downloads the source distributions, lets the gate judge a patch that brings in the whole product, once with the
project's own tests as the trusted checks and once with the relations beside them, then breaks one line and asks both
who notices. The table that it prints is in the documentation. It takes a few minutes and the network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from examples.real_projects.build import run, unpacked
from examples.relations.real.projects import PROJECTS, RealProject

SOURCES = Path(__file__).parents[3] / "src"
RELATIONS = "tests/relations"
_COLUMNS = (
    "project",
    "kind",
    "lines owed",
    "open with its own tests",
    "of these witnessed by relations",
    "own tests notice the bug",
    "relations notice it",
)
_PERSON = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


class Outcome(NamedTuple):
    """What the gate and a bug said about one project."""

    project: RealProject
    owed: int
    open_before: int
    witnessed_by_relations: int
    own_tests_notice: bool
    relations_notice: bool

    @property
    def is_as_claimed(self) -> bool:
        """Whether relations witness more, and see a bug that the project's own tests do not."""
        return self.witnessed_by_relations > 0 and self.relations_notice and not self.own_tests_notice


def lay_out(project: RealProject, source: Path, place: Path, *, relations: bool) -> list[Path]:
    """The project's tree in ``place``; the product's files, relative to it."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place, ignore=shutil.ignore_patterns("*.egg-info", "PKG-INFO", "__pycache__", ".git*"))
    globs = ", ".join(f'"{glob}"' for glob in project.tests)
    (place / "linewitness.toml").write_text(f"trusted = [{globs}]\n", encoding="utf-8")
    if relations:
        shutil.copytree(project.relations, place / RELATIONS, ignore=shutil.ignore_patterns("__pycache__"))
    return sorted({path for glob in project.product for path in place.glob(glob)})


def git(place: Path, *arguments: str) -> None:
    run(["git", "-C", place, *_PERSON, *arguments])


def make_patch(product: Iterable[Path], place: Path) -> None:
    """Tag ``base``, in which the product's files are empty, and tag ``head``, in which they are whole."""
    whole = {path: path.read_bytes() for path in product}
    git(place, "init", "--quiet")
    for path in whole:
        path.write_text('"""Not written yet."""\n', encoding="utf-8")
    for tag, files in (("base", {}), ("head", whole)):
        for path, content in files.items():
            path.write_bytes(content)
        git(place, "add", "--all", "--force", ".")
        git(place, "commit", "--quiet", "--message", tag)
        git(place, "tag", tag)


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LINEWITNESS_"))}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | more


def judge(place: Path) -> Mapping[str, Any]:
    """The gate's map. Errors: SystemExit when it judged nothing."""
    target = place.with_suffix(".map.json")
    target.unlink(missing_ok=True)
    command = [sys.executable, "-m", "linewitness.cli", "check", "--base", "base", "--head", "head"]
    command += ["--map", str(target)]
    subprocess.run(command, cwd=place, env=environment(PYTHONPATH=str(SOURCES)), capture_output=True, check=False)
    artifact: Mapping[str, Any] = json.loads(target.read_bytes())
    serious = [f for f in artifact["findings"] if f["severity"] == "error" and not f["code"].startswith("LW10")]
    if serious or not artifact["scored"]:
        raise SystemExit(f"{place}: {serious}")
    return artifact


def open_lines(artifact: Mapping[str, Any]) -> set[tuple[str, int]]:
    return {(row["path"], row["line"]) for row in artifact["rows"] if row["status"] == "unwitnessed"}


def passes(place: Path, *tests: str) -> bool:
    """Whether plain pytest passes. Errors: SystemExit when it could not run the tests at all."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    path = os.pathsep.join(map(str, (place, SOURCES)))
    done = subprocess.run(
        command, cwd=place, env=environment(PYTHONPATH=path), capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(done.stdout + done.stderr)
    return done.returncode == 0


def own_tests(project: RealProject, place: Path) -> list[str]:
    folders = [glob.removesuffix("/**") for glob in project.tests]
    return [*folders, f"--ignore={place / RELATIONS}"]


def look_at(project: RealProject, work: Path) -> Outcome:
    source = unpacked(project.name, project.version, work)
    before, after = work / f"{project.name}-own", work / f"{project.name}-with-relations"
    maps = []
    for place, relations in ((before, False), (after, True)):
        make_patch(lay_out(project, source, place, relations=relations), place)
        maps.append(judge(place))
    closed = open_lines(maps[0]) - open_lines(maps[1])
    name, old, new = project.bug
    text = (after / name).read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{project.name}: the bug does not fit")
    (after / name).write_text(text.replace(old, new), encoding="utf-8")
    return Outcome(
        project,
        maps[0]["owed"],
        len(open_lines(maps[0])),
        len(closed),
        not passes(after, *own_tests(project, after)),
        not passes(after, RELATIONS),
    )


def table(outcomes: Iterable[Outcome]) -> str:
    """The table of the documentation."""
    rows = [
        f"| {' | '.join(_COLUMNS)} |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for one in outcomes:
        answers = ["yes" if noticed else "no" for noticed in (one.own_tests_notice, one.relations_notice)]
        cells = [f"{one.project.name} {one.project.version}", one.project.kind, f"{one.owed:,}", f"{one.open_before:,}"]
        rows.append(f"| {' | '.join([*cells, f'{one.witnessed_by_relations:,}', *answers])} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser("python -m examples.relations.real", description=__doc__)
    parser.add_argument("--only", choices=[project.name for project in PROJECTS])
    parser.add_argument("--work", type=Path, default=Path("work-real-projects"))
    options = parser.parse_args()
    chosen = [project for project in PROJECTS if options.only in {None, project.name}]
    outcomes = [look_at(project, options.work.resolve()) for project in chosen]
    print(table(outcomes))
    return 0 if all(one.is_as_claimed for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
