"""Builds one git repository per real project: tag ``base`` and tag ``head`` differ in product code only.

``python -m examples.real_projects.build [--only NAME] [--work DIR] [--python PATH]``
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pathspec

from .projects import Project, load_projects

WORK = Path("work-real-projects")
LEFT_OUT = shutil.ignore_patterns("*.egg-info", "PKG-INFO", ".git", "__pycache__", "*.pyc")
BLOB_MODE_TIME = "2024-01-01T00:00:00 +0000"


class Built(NamedTuple):
    """Where a project's repository and the interpreter of its tests are."""

    project: Project
    repository: Path
    python: Path


class BuildError(Exception):
    """A step that did not work, with the output of the command."""


Command = Sequence[str | Path]


def run(command: Command, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Standard output of a command. Errors: :class:`BuildError` with all its output."""
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


# ---------------------------------------------------------------- sources


def unpacked(name: str, version: str, work: Path) -> Path:
    """The root folder of a release's source distribution, downloaded once."""
    folder = work / "sdists" / f"{name}-{version}"
    if not folder.is_dir():
        download = work / "downloads" / f"{name}-{version}"
        download.mkdir(parents=True, exist_ok=True)
        pinned = f"{name}=={version}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:", "--no-deps"]
        run([*pip, "--dest", download, pinned])
        unpack(only(download), folder)
    return folder


def only(folder: Path) -> Path:
    entries = list(folder.iterdir())
    if len(entries) != 1:
        raise BuildError(f"{folder} should hold one entry, it holds {len(entries)}")
    return entries[0]


def unpack(archive: Path, folder: Path) -> None:
    """Extract and strip the one top folder; the target appears only when it is complete."""
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")
    only(scratch).rename(folder)
    scratch.rmdir()


# ---------------------------------------------------------------- the repository


def settings_text(project: Project, python: Path) -> str:
    """``linewitness.toml`` of both sides: the project's own tests are the trusted checks."""

    def toml_list(values: Sequence[str]) -> str:
        return "[" + ", ".join(f'"{value}"' for value in values) + "]"

    return "\n".join(
        [
            f"trusted = {toml_list(project.trusted)}",
            "",
            "[[suite]]",
            'name = "python"',
            'runner = "pytest"',
            f"paths = {toml_list(project.tests)}",
            f"plugins = {toml_list(project.plugins)}",
            f"args = {toml_list(deselections(project))}",
            f"env = {toml_list(tuple(project.env))}",
            f'python = "{python}"',
            "",
        ]
    )


def deselections(project: Project) -> list[str]:
    """Pytest's arguments that leave out the listed tests."""
    return [f"--deselect={item.test}" for item in project.deselect]


def lay_out(project: Project, side: Path, head: Path, target: Path, python: Path) -> None:
    """One side's tree: everything of head, but the product code of ``side``."""
    shutil.copytree(head, target, ignore=LEFT_OUT, dirs_exist_ok=True)
    for source in project.sources:
        shutil.rmtree(target / source)
        shutil.copytree(side / source, target / source, ignore=LEFT_OUT)
    keep_frozen(project, head, target)
    for dropped in project.drop:
        place = target / dropped.path
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    (target / "linewitness.toml").write_text(settings_text(project, python))


def keep_frozen(project: Project, head: Path, target: Path) -> None:
    """Below the sources, the frozen files are exactly head's."""
    frozen = pathspec.GitIgnoreSpec.from_lines(project.frozen)
    for source in project.sources:
        for path in _files(target, source):
            if frozen.match_file(path):
                (target / path).unlink()
        for path in _files(head, source):
            if frozen.match_file(path) and not path.endswith(".pyc"):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(head / path, target / path)


def _files(root: Path, folder: str) -> list[str]:
    return [path.relative_to(root).as_posix() for path in sorted((root / folder).rglob("*")) if path.is_file()]


def git(repository: Path, *arguments: str) -> str:
    """Git with settings of its own, whatever the user has configured."""
    who = {"NAME": "Real Projects", "EMAIL": "real@projects.invalid", "DATE": BLOB_MODE_TIME}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    return run(["git", "-c", "core.autocrlf=false", *arguments], cwd=repository, env=env)


def make_repository(project: Project, work: Path, python: Path) -> Path:
    """A fresh repository with the commits ``base`` and ``head``; head is checked out."""
    head = unpacked(project.name, project.head, work)
    sides = {"base": unpacked(project.name, project.base, work), "head": head}
    repository = work / "repositories" / project.name
    shutil.rmtree(repository, ignore_errors=True)
    repository.mkdir(parents=True)
    git(repository, "init", "--quiet", "--initial-branch=main")
    for tag, side in sides.items():
        for entry in repository.iterdir():
            if entry.name != ".git":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        lay_out(project, side, head, repository, python)
        # git takes a file of the same size and time for the one it knows, and copies keep their times
        (repository / ".git" / "index").unlink(missing_ok=True)
        git(repository, "add", "--all", "--force")
        git(repository, "commit", "--quiet", "--message", f"{project.name} {tag}")
        git(repository, "tag", tag)
    return repository


# ---------------------------------------------------------------- the environment of the tests


def environment(project: Project, work: Path, python: Path) -> Path:
    """The interpreter of a virtual environment with head installed, its dependencies and those of its tests."""
    version = run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).strip()
    folder = work / "environments" / f"{project.name}-{version}"
    interpreter = folder / "bin" / "python"
    wanted = ["pytest", *project.requires, str(unpacked(project.name, project.head, work).resolve())]
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()
    done = folder / "installed"
    if not (done.is_file() and done.read_text() == digest):
        shutil.rmtree(folder, ignore_errors=True)
        run([python, "-m", "venv", folder])
        run([interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
        done.write_text(digest)
    return interpreter.absolute()


def build(project: Project, work: Path, python: Path) -> Built:
    """Everything that the gate and the oracle need for one project."""
    interpreter = environment(project, work, python)
    return Built(project, make_repository(project, work, interpreter), interpreter)


# ---------------------------------------------------------------- plain pytest, to know that the suite is sound


def pytest_arguments(project: Project) -> list[str]:
    """What plain pytest is told, the same for the trial run and for the oracle."""
    named = () if project.starts_pytest else project.plugins
    plugins = [part for plugin in named for part in ("-p", plugin)]
    return ["-q", "-p", "no:cacheprovider", *plugins, *deselections(project), *project.tests]


def pytest_environment(project: Project, root: Path) -> dict[str, str]:
    """The environment of plain pytest: the export first on the path; plugins are listed, or there are runs inside."""
    paths = os.pathsep.join(str((root / part).resolve()) for part in project.import_roots)
    own = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    if not project.starts_pytest:
        own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    inherited = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
    return inherited | own | project.env


def export(repository: Path, target: Path) -> None:
    """A copy of head's files, which are checked out, without the repository around them."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(repository, target, ignore=shutil.ignore_patterns(".git"))


def verify(built: Built, work: Path) -> str:
    """Pytest's last line on head. Errors: :class:`BuildError` when a test fails or none runs."""
    root = work / "exports" / built.project.name
    export(built.repository, root)
    command: Command = [built.python, "-P", "-m", "pytest", *pytest_arguments(built.project)]
    out = run(command, cwd=root, env=pytest_environment(built.project, root))
    return out.strip().splitlines()[-1]


def parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """The options that building and running share."""
    made = argparse.ArgumentParser(prog=program, description=description)
    made.add_argument("--only", action="append", metavar="NAME", help="this project (may be repeated); default: all")
    made.add_argument("--work", type=Path, default=WORK, help="work folder (default: %(default)s)")
    made.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter of the tests")
    return made


def chosen(only_these: Sequence[str] | None) -> list[Project]:
    projects = load_projects()
    unknown = set(only_these or ()) - {project.name for project in projects}
    if unknown:
        raise SystemExit("no such project: " + ", ".join(sorted(unknown)))
    return [project for project in projects if not only_these or project.name in only_these]


def main() -> int:
    options = parser("python -m examples.real_projects.build", __doc__).parse_args()
    work = options.work.resolve()
    status = 0
    for project in chosen(options.only):
        try:
            print(f"{project.name}: {verify(build(project, work, options.python), work)}", flush=True)
        except BuildError as error:
            print(f"{project.name}: FAILED\n{error}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
