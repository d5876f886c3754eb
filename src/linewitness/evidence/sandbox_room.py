"""The room in which the commands of one suite run: folders, environment and fence, made ready before the first."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from linewitness.errors import EvidenceError, UsageError
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.launch import Ended, Folders, World, launch, run_environment
from linewitness.evidence.limits import Limits
from linewitness.evidence.sandbox import Fence, Sandbox
from linewitness.evidence.sandbox_mounts import Borrowed, Place, Sealed, environment_of
from linewitness.model import Confinement, RepoPath
from linewitness.settings import Suite
from linewitness.values import NamedTuple

_SHIM: Final = Path(__file__).with_name("sandbox_shim.py")
_SHOWN_LINES: Final = 20
_Stamp = tuple[int, int, int, int]


class Terms(NamedTuple):
    """The isolation that a run gets: the sandbox, what it may read beside the system's files, what stays as it is.

    ``python`` is an interpreter that is visible inside; ``lent`` are further folders of ours that the run may read.
    """

    sandbox: Sandbox
    python: Path
    readable: tuple[Path, ...] = ()
    sealed: Sealed = Sealed()
    borrowed: tuple[Borrowed, ...] = ()
    lent: tuple[Path, ...] = ()


class Room(NamedTuple):
    """``folder`` holds the results, ``environment`` is all that the commands inherit. No fence: nothing isolates."""

    export: Path
    folder: Path
    environment: Mapping[str, str]
    suite: Suite
    fence: Fence | None
    wrapper: tuple[str, ...] = ()

    def run(self, command: Sequence[str], output: str, tick: Callable[[], None] | None = None) -> Ended:
        """Run one command; what it prints goes into the file ``output`` of the folder. Errors: as of ``launch``."""
        if self.fence is not None and self.fence.sandbox.user is not None:
            _hand_over(self.folder, self.fence.sandbox.user)
        world = World(
            cwd=self.export,
            environment=self.environment,
            output=self.folder / output,
            timeout=float(self.suite.timeout),
            wrapper=self.wrapper,
            fence=self.fence,
        )
        return launch(command, world, tick)

    def set_up(self) -> None:
        """Run the suite's set-up commands. Errors: EvidenceError (LW503) when one does not succeed."""
        for command in self.suite.setup:
            ended = self.run(["/bin/sh", "-c", command], "setup.txt")
            if ended.timed_out or ended.status:
                raise EvidenceError(
                    f"the suite's setup command {command!r} did not succeed ({ended}):\n{indented(ended.tail)}",
                    code="LW503",
                )

    @property
    def confinement(self) -> Confinement | None:
        """What the map says about the isolation."""
        return None if self.fence is None else self.fence.in_force()


def furnish(
    folders: tuple[Path, Path, Path], suite: Suite, programs: Path | None, terms: Terms | None, host: Mapping[str, str]
) -> Room:
    """Make a room out of existing folders: the export, one for results, one for temporary files.

    ``programs`` is the folder that comes first on PATH. Errors: EvidenceError for an environment that may not be
    passed, UsageError for a folder that cannot be borrowed.
    """
    export, folder, temporary = folders
    home = folder / "home"
    home.mkdir()
    inside = Path("/tmp") if terms is not None and terms.sandbox.isolates else temporary  # noqa: S108 - a private one
    environment = run_environment(programs, suite.env, Folders(home, inside), host)
    if terms is None:
        return Room(export, folder, environment, suite, None)
    _borrow(export, terms)
    place = Place(export, folder, temporary, (*terms.readable, *terms.lent), terms.sealed, terms.borrowed)
    fence = Fence(terms.sandbox, place, Limits.of(suite), suite.network, terms.python, _shim_in(folder))
    if terms.sandbox.user is not None:
        for top in (export, temporary, *terms.lent):
            _hand_over(top, terms.sandbox.user)
    return Room(export, folder, environment, suite, fence)


def _shim_in(folder: Path) -> Path:
    """A copy where the run can read it: the package itself may lie in a folder that the run does not see."""
    place = folder / _SHIM.name
    place.write_bytes(_SHIM.read_bytes())
    return place


def _hand_over(top: Path, user: int) -> None:
    """Give a folder and everything in it to the user that the run has.

    On the way there bubblewrap and the shim are a root that may not overrule permissions: they have to get through.
    """
    os.chown(top, user, user)
    top.chmod(0o711)
    for here, folders, files in os.walk(top):
        for name in (*folders, *files):
            os.chown(os.path.join(here, name), user, user, follow_symlinks=False)


def _borrow(export: Path, terms: Terms) -> None:
    for outside, inside in terms.borrowed:
        place = export / inside
        if place.exists() or place.is_symlink():
            raise UsageError(f"the suite borrows {inside}, which is a part of the tree: take it out of `borrow`")
        if not outside.is_dir():
            raise EvidenceError(f"the suite borrows {inside}, which the checkout does not have: install it there first")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not terms.sandbox.isolates:
            place.symlink_to(outside)


def visible(suite: Suite, home: str) -> tuple[Path, ...]:
    """The places that the suite's ``readable`` names."""
    return tuple(Path(home + place[1:] if place.startswith("~/") else place) for place in suite.readable)


def borrowed(suite: Suite, checkout: Path) -> tuple[Borrowed, ...]:
    """The folders that the suite borrows. Errors: UsageError for one that is a link out of the checkout."""
    found = []
    for name in suite.borrow:
        outside = Path(os.path.realpath(checkout / name))
        if not outside.is_relative_to(os.path.realpath(checkout)):
            raise UsageError(f"the suite borrows {name}, which leads out of the checkout")
        found.append(Borrowed(outside, RepoPath(name.rstrip("/"))))
    return tuple(found)


def own_interpreter() -> tuple[Path, tuple[Path, ...]]:
    """The interpreter that runs this program, for the shim of suites without Python, and what it needs to be seen."""
    program = Path(os.path.realpath(sys.executable))
    return program, (program.parent, Path(os.path.realpath(sys.base_prefix)))


def terms_of(
    sandbox: Sandbox, suite: Suite, checkout: Path, python: Interpreter | None, lent: tuple[Path, ...] = ()
) -> Terms:
    """The terms of one suite. The home folder and the checkout are seen only where an environment lies in them.

    ``python`` runs the tests; a suite without one gets ours, for the shim. Errors: those of :func:`borrowed`.
    """
    home, checkout = Path(os.path.expanduser("~")), Path(os.path.realpath(checkout))
    if python is None:
        program, needed = own_interpreter()
    else:
        program, needed = python.path, environment_of(python, (home, checkout))
    readable = (*needed, *visible(suite, str(home)))
    return Terms(sandbox, program, readable, borrowed=borrowed(suite, checkout), lent=lent)


def stamps(export: Path, paths: Iterable[RepoPath]) -> dict[RepoPath, _Stamp | None]:
    """What would tell of each file that it was written to, or replaced, since: no program can set a ``ctime``."""
    found: dict[RepoPath, _Stamp | None] = {}
    for path in paths:
        try:
            status = os.lstat(export / path)
        except OSError:
            found[path] = None
        else:
            found[path] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return found


def indented(text: str) -> str:
    """The last lines of an output, set off from a message."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-_SHOWN_LINES:])
