"""The recipes under ``examples/recipes``: a project, an agent's patch, a witness, and the settings of each exporter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from tests.support.repos import Repo, environment

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples" / "recipes"
Lines = Mapping[str, tuple[int, ...]]


class Marker(NamedTuple):
    """An exclusion marker that the patch adds to a file: ``text`` becomes ``marked``, and these lines stay open."""

    path: str
    text: str
    marked: str
    open: Lines


class Recipe(NamedTuple):
    """One project with one exporter.

    ``shared`` are files of other recipes that the project has too; ``needs`` are shell commands that succeed where the
    tools are there; ``open`` are the lines of the patch that no trusted test runs; ``owed`` is how many lines owe;
    ``generated`` runs the patch's own tests, without the gate.
    """

    project: str
    settings: str
    kind: str
    needs: tuple[str, ...]
    owed: int
    open: Lines
    generated: str
    marker: Marker | None = None
    leftovers: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How tests call it."""
        return f"{self.project}-{self.settings}"

    @property
    def settings_file(self) -> Path:
        """The settings that a user copies."""
        return EXAMPLES / self.project / "settings" / f"{self.settings}.toml"


class Verdict(NamedTuple):
    """The outcome of one check: its exit status, the map, and what a person sees."""

    status: int
    map: Any
    shown: str

    @property
    def open(self) -> dict[str, tuple[int, ...]]:
        """The lines without a witness, by file."""
        found: dict[str, list[int]] = {}
        for row in self.map["rows"]:
            if row["status"] == "unwitnessed":
                found.setdefault(row["path"], []).append(row["line"])
        return {path: tuple(sorted(lines)) for path, lines in found.items()}

    @property
    def codes(self) -> list[str]:
        """The codes of all findings."""
        return sorted({finding["code"] for finding in self.map["findings"]})


class Project:
    """A git repository made from a recipe: ``main`` is checked out, and then the agent's branch ``patch``."""

    def __init__(self, home: Path, recipe: Recipe, packages: Path | None = None) -> None:
        self.repo = Repo(home / "checkout")
        self._home = home
        self._recipe = recipe
        if packages is not None:
            shutil.copytree(packages, self.repo.root / "node_modules", symlinks=True, copy_function=_link)
        given = {path.name: path.read_bytes() for path in (EXAMPLES / each for each in recipe.shared)}
        given["linewitness.toml"] = recipe.settings_file.read_bytes()
        self.commit("base", {**files_of(recipe.project, "base"), **given})
        self.repo.branch("patch")
        self.commit("patch", files_of(recipe.project, "patch"))

    def commit(self, message: str, files: Mapping[str, bytes], *, force: bool = False) -> None:
        """Commit some files; what is ignored is left out, as git does by itself, unless forced."""
        self.repo.write(files)
        self.repo.git("add", "-A", *(("-f", "--", *files) if force else ()))
        self.repo.commit_index(message)

    def land(self, message: str, files: Mapping[str, bytes], *, force: bool = False) -> None:
        """Commit to ``main``, as people do, and bring the patch up to date."""
        self.repo.git("checkout", "-q", "main")
        self.commit(message, files, force=force)
        self.repo.git("checkout", "-q", "patch")
        self.repo.git("rebase", "-q", "main")

    def disturb(self, path: str, line: int) -> None:
        """Change a number, a sign or a name on a line, so that whatever runs the line comes to another result."""
        place = self.repo.path(path)
        texts = place.read_text(encoding="utf-8").splitlines(keepends=True)
        for before, after in (("900", "901"), ("/ 20", "/ 30"), ("cents + ", "cents - "), ("heavy", "light")):
            if before in texts[line - 1]:
                texts[line - 1] = texts[line - 1].replace(before, after)
                place.write_text("".join(texts), encoding="utf-8")
                # Some build tools compare whole seconds, and would take the file for the one they have compiled.
                later = place.stat().st_mtime + 60
                os.utime(place, (later, later))
                return
        raise AssertionError(f"{path}:{line} has nothing to change: {texts[line - 1]}")

    def shell(self, command: str) -> None:
        """Run a command in the checkout. A failure is an ``AssertionError`` that shows what it said."""
        done = self._start(["/bin/sh", "-c", command])
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def check(self) -> Verdict:
        """Judge the patch as a user would."""
        where = self._home / "map.json"
        where.unlink(missing_ok=True)
        start = "from linewitness.cli.__main__ import run; raise SystemExit(run())"
        done = self._start([sys.executable, "-c", start, "check", "--base", "main", "--map", str(where)])
        assert where.is_file(), done.stderr
        return Verdict(done.returncode, msgspec.json.decode(where.read_bytes()), done.stdout + done.stderr)

    def _start(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        given = environment() | {"PATH": PATH, "HOME": str(self._home), "PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(
            command, check=False, cwd=self.repo.root, env=given, capture_output=True, text=True, timeout=900
        )


def _link(source: str, target: str) -> None:
    """A hard link where the file system has them, for speed."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def files_of(project: str, part: str) -> dict[str, bytes]:
    """The files of one part of a recipe: ``base``, ``patch`` or ``witness``."""
    top = EXAMPLES / project / part
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def _fails(command: str) -> bool:
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        check=False,
        env={"PATH": PATH, "HOME": os.devnull},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    return done.returncode != 0


def missing(recipe: Recipe) -> list[str]:
    """Which of the tools that a recipe needs are not on this machine."""
    wanted = ("bwrap --version", *recipe.needs)
    return [command for command in wanted if _fails(command)]


# What a sandboxed run sees of PATH: tools in a home folder are not there.
_HOME_FOLDERS: Final = ("/root/", "/home/", str(Path.home()) + "/")
PATH: Final = os.pathsep.join(
    folder
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
    if not f"{folder}/".startswith(_HOME_FOLDERS)
)
