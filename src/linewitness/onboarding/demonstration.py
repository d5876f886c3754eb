"""``demo``: a small repository, an agent's patch that looks perfect, and the real gate, act by act.

The repository lives in a folder of its own and is made with the same careful git as everything else, so neither the
user's settings nor hooks take part. Nothing is downloaded.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from linewitness import atomic
from linewitness.case import Question
from linewitness.errors import EvidenceError, Exit, UsageError
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.gate import CheckRequest, Progress, check
from linewitness.obligation_map import ObligationMap
from linewitness.onboarding import demo_files as files
from linewitness.patch.repository import Repository
from linewitness.settings import Suite
from linewitness.trust import corpus
from linewitness.values import NamedTuple

_SECONDS: Final = 300
_COVERAGE: Final = "coverage.json"


class Heading(NamedTuple):
    """The title of an act."""

    text: str


class Narration(NamedTuple):
    """What happens, told in one paragraph."""

    text: str


class Ran(NamedTuple):
    """A command that was run, as a person would type it, and what it printed."""

    command: str
    output: str


class Judged(NamedTuple):
    """One run of the gate: the command, its map, and the exit status that the demonstration is meant to show."""

    command: str
    artifact: ObligationMap
    expected: Exit

    @property
    def as_expected(self) -> bool:
        """Whether the gate said what the demonstration promises."""
        return self.artifact.exit == self.expected


Event = Heading | Narration | Ran | Judged


def perform(folder: Path, progress: Progress) -> Iterator[Event]:
    """Play the demonstration in ``folder``, which is empty, and yield what a person would see.

    Errors: :class:`EvidenceError` when no interpreter with pytest is at hand (the message says how to get it).
    """
    stage = _Stage(folder, _interpreter())
    with _new_repository(folder) as repository:
        play = _Play(repository, stage, progress)
        yield from play.an_honest_project()
        yield from play.a_patch_that_looks_perfect()
        yield from play.a_patch_that_edits_the_checks()
        yield from play.a_check_that_a_person_wrote()
        yield from play.a_mended_patch()


class _Stage(NamedTuple):
    folder: Path
    interpreter: Interpreter

    @property
    def measures(self) -> bool:
        """Whether pytest-cov is there, so that coverage can be shown as well."""
        return bool(self.interpreter.plugins)

    def all_tests(self) -> Ran:
        """Run every test as the agent would, generated ones included."""
        options = ["-q", "-p", "no:cacheprovider"]
        measured = ["-p", "pytest_cov", "--cov=shop", "--cov-branch", f"--cov-report=json:{_COVERAGE}"]
        command = [str(self.interpreter.path), "-m", "pytest", *options, *(measured if self.measures else [])]
        try:
            done = subprocess.run(
                command, check=False, cwd=self.folder, env=_environment(), capture_output=True, timeout=_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EvidenceError(f"the demonstration's tests cannot be run: {error}") from error
        said = done.stdout.decode("utf-8", "replace").strip().splitlines()
        if done.returncode:
            raise EvidenceError(f"the demonstration's own tests ended with {done.returncode}: {' / '.join(said[-3:])}")
        lines = [said[-1].partition(" in ")[0].strip("= ")]
        if self.measures:
            lines.append(_coverage(self.folder / _COVERAGE))
        return Ran("pytest --cov=shop --cov-branch" if self.measures else "pytest", "\n".join(lines))


class _Play:
    def __init__(self, repository: Repository, stage: _Stage, progress: Progress) -> None:
        self._repository = repository
        self._stage = stage
        self._progress = progress

    def an_honest_project(self) -> Iterator[Event]:
        yield Heading("An honest project")
        self._write(files.PROJECT)
        corpus.freeze(self._stage.folder / files.CORPUS)
        self._commit("A shop with a check and a relation that people own")
        yield Narration(
            "A shop adds up orders. People own one check in tests/trusted/ and one relation in tests/relations/, with "
            "its inputs frozen by a manifest. All of it is on the branch main."
        )

    def a_patch_that_looks_perfect(self) -> Iterator[Event]:
        yield Heading("An agent's patch: every test is green, no line is missed")
        self._git("checkout", "-q", "-b", "agent/discount")
        self._write(files.PATCH)
        self._commit("Orders of 100.00 and more are a tenth cheaper")
        yield Narration(
            "The task was: orders of 100.00 and more are a tenth cheaper. An agent wrote the code and, in the same "
            "turn, tests for it."
        )
        yield Ran("git diff main -- shop", self._git("diff", "--no-color", "--unified=1", "main", "--", "shop"))
        yield self._stage.all_tests()
        yield Narration(
            "Nothing in that asked whether the change is right. The gate asks who, besides the agent, saw the lines "
            "run:"
        )
        yield self._judge(Exit.CLOSED)

    def a_patch_that_edits_the_checks(self) -> Iterator[Event]:
        yield Heading("The agent moves its tests among the trusted ones")
        self._git("mv", "tests/generated/test_discount.py", "tests/trusted/test_discount.py")
        self._commit("Move the tests of the discount")
        yield Narration("A patch cannot bring its own witnesses. The gate closes before anything of the patch runs:")
        yield self._judge(Exit.PROTECTED)
        self._git("reset", "-q", "--hard", "HEAD~1")

    def a_check_that_a_person_wrote(self) -> Iterator[Event]:
        yield Heading("A person writes the check, on main")
        self._git("checkout", "-q", "main")
        self._write(files.PERSONS_CHECK)
        self._commit("An order of exactly 100.00 gets the discount")
        self._rebase()
        yield Narration("It lands on main, as a change of its own, and the agent's branch is rebased. Its one test:")
        yield Ran("tail -n 3 tests/trusted/test_discount.py", files.PERSONS_ASSERTION)
        yield self._judge(Exit.EVIDENCE)
        yield Narration(
            "The agent had written `>` where the task said `and more`, and its own test had agreed with it. A check "
            "from somebody else found that the first time it ran."
        )

    def a_mended_patch(self) -> Iterator[Event]:
        yield Heading("The agent mends its patch")
        self._write(files.MENDED)
        self._commit("The limit itself gets the discount")
        yield Ran("git diff HEAD~1 -- shop", self._git("diff", "--no-color", "--unified=1", "HEAD~1", "--", "shop"))
        yield self._judge(Exit.OPEN)

    # ------------------------------------------------------------ hands

    def _judge(self, expected: Exit) -> Judged:
        artifact = check(CheckRequest(self._stage.folder, Question(base="main")), self._progress)
        return Judged("linewitness check --base main", artifact, expected)

    def _write(self, wanted: Mapping[str, str]) -> None:
        for name, content in wanted.items():
            place = self._stage.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            atomic.write_bytes(place, content.encode())

    def _commit(self, message: str) -> None:
        self._git("add", "--all")
        self._git("commit", "-q", "--no-gpg-sign", "-m", message)

    def _rebase(self) -> None:
        self._git("checkout", "-q", "agent/discount")
        self._git("rebase", "-q", "main")

    def _git(self, *arguments: str) -> str:
        return self._repository.run(*arguments, env=files.PERSON).decode("utf-8", "replace").rstrip("\n")


def _new_repository(folder: Path) -> Repository:
    """An empty repository: three folders and a file, which is all that git asks for (gitrepository-layout(5))."""
    for name in ("objects", "refs/heads", "info"):
        (folder / ".git" / name).mkdir(parents=True, exist_ok=True)
    atomic.write_bytes(folder / ".git" / "HEAD", b"ref: refs/heads/main\n")
    atomic.write_bytes(folder / ".git" / "config", b"[core]\n\trepositoryformatversion = 0\n")
    repository = Repository(folder)
    if repository.root.resolve() != folder.resolve():
        repository.close()
        raise UsageError("git takes this folder for a part of another repository", path=str(folder))
    return repository


def _interpreter() -> Interpreter:
    """The interpreter that the gate itself will choose, with pytest-cov when it is there."""
    try:
        return find_interpreter(Suite(plugins=("pytest_cov",)), None)
    except EvidenceError:
        return find_interpreter(Suite(), None)


def _environment() -> dict[str, str]:
    kept = ("PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


class _Summary(msgspec.Struct):
    num_statements: int
    missing_lines: int
    num_branches: int = 0
    missing_branches: int = 0


class _Totals(msgspec.Struct):
    totals: _Summary


def _coverage(export: Path) -> str:
    """What coverage.py says of the whole run, in counts."""
    try:
        totals = msgspec.json.decode(export.read_bytes(), type=_Totals).totals
    except (OSError, msgspec.MsgspecError) as error:
        raise EvidenceError(f"the demonstration's coverage cannot be read: {error}") from error
    lines = f"{totals.missing_lines} of {totals.num_statements} statements missed"
    return f"coverage.py: {lines}, {totals.missing_branches} of {totals.num_branches} branches missed"
