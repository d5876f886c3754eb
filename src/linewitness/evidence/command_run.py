"""A suite with a command of its own: any program that runs trusted tests and writes a coverage export.

The command runs in the export of head, isolated as the recorder's runs are. Nothing but its exit status says that the
tests passed, and nothing but its export which lines ran; which tests run is the business of the command, which comes
from base's settings.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from linewitness.errors import EvidenceError
from linewitness.evidence.acceptance import Acceptance
from linewitness.evidence.formats.paths import Checkout
from linewitness.evidence.imported import ImportedEvidence, load_exports
from linewitness.evidence.influence import changed_while_running
from linewitness.evidence.sandbox_room import Room, Terms, furnish, indented, stamps
from linewitness.model import Confinement, Demand, EvidenceSource, FileText, Finding, Obligation, RepoPath, Sighting
from linewitness.settings import Suite
from linewitness.values import NamedTuple

Demands = Callable[[FileText, tuple[Obligation, ...]], tuple[Demand, ...]]

_LARGEST: Final = 1 << 30
_WINDOW: Final = 1 << 20


class CommandRequest(NamedTuple):
    """Everything that one run of a command needs.

    ``export`` is a fresh tree with head's files and nothing else, ``results`` an existing folder outside of it;
    ``known`` are all files of head, ``wanted`` those about which the export is going to be asked, ``protected`` those
    that must not change meanwhile. ``host`` is the environment that the allow-list picks from. ``acceptance`` tells
    which tests may witness, for exports that name them.
    """

    export: Path
    results: Path
    suite: Suite
    known: Collection[RepoPath]
    wanted: Collection[RepoPath]
    protected: Collection[RepoPath]
    terms: Terms | None
    host: Mapping[str, str]
    acceptance: Acceptance | None = None


class CommandEvidence:
    """The export of a command, as an answer to the question who saw what. Implements the model's ``Evidence``."""

    def __init__(self, inner: ImportedEvidence, source: EvidenceSource, place: Path, shown: str) -> None:
        self._inner = inner
        self.more: tuple[Finding, ...] = ()
        self._source = source
        self._place = str(place)
        self._shown = shown

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        """The run."""
        return (self._source,)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is odd about the export, and what was found out about the run beside it (``more``)."""
        named = (found._replace(message=self._named(found.message)) for found in self._inner.findings)
        return (*named, *self.more)

    def sightings(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Sighting, ...]:
        """One answer per obligation of one file. Errors: EvidenceError when the export disagrees with the file."""
        try:
            return self._inner.sightings(text, obligations)
        except EvidenceError as error:
            raise _renamed(error, self._named(error.message)) from error

    def _named(self, message: str) -> str:
        """Messages go into the map, where no folder of this machine belongs."""
        return message.replace(self._place, self._shown)


def run_command(request: CommandRequest, demands: Demands) -> CommandEvidence:
    """Run a suite's command and read the export that it writes.

    Errors: EvidenceError for a command that fails or is stopped (LW503), for an export that is missing, empty, stale or
    no file of the tree (LW502), and whatever reading it finds.
    """
    suite = request.suite
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=request.results))
    written = request.export / suite.export
    with tempfile.TemporaryDirectory(prefix="lw-", ignore_cleanup_errors=True) as temporary:
        folders = (request.export, folder, Path(os.path.realpath(temporary)))
        _make_way(request.export, suite)
        room = furnish(folders, suite, None, request.terms, request.host)
        before = stamps(request.export, {*request.protected, *request.wanted})
        room.set_up()
        _refuse_present(written, suite)
        _run(room, suite)
        changed = changed_while_running(before, stamps(request.export, before))
    if changed:
        raise EvidenceError(changed[0].message, code=changed[0].code, path=changed[0].path)
    kept = _keep(written, request)
    return _read(kept, request, demands, room.confinement)


def _make_way(export: Path, suite: Suite) -> None:
    """Make the folders of the suite's export, while the tree is still ours: it is handed to the run's user as a whole.

    Errors: EvidenceError (LW502) where the tree has something else in their place, which might lead out of it.
    """
    place = export
    for name in Path(suite.export).parts[:-1]:
        place /= name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            what = place.relative_to(export).as_posix()
            raise EvidenceError(f"cannot be written: {what} is no folder in the tree", code="LW502", path=suite.export)
        place.mkdir(exist_ok=True)


def _refuse_present(written: Path, suite: Suite) -> None:
    if os.path.lexists(written):
        message = (
            "is there before the suite's command has run, so nobody could tell who wrote it: take it out of the tree"
        )
        raise EvidenceError(message, code="LW502", path=suite.export)


def _run(room: Room, suite: Suite) -> None:
    ended = room.run(["/bin/sh", "-c", suite.run], "output.txt")
    if ended.timed_out or ended.status:
        raise EvidenceError(
            f"the command of the suite `{suite.name}` did not succeed ({ended}), so it is no evidence:\n"
            f"{indented(ended.tail.replace(f'{room.export}{os.sep}', ''))}",
            code="LW503",
        )


def _keep(written: Path, request: CommandRequest) -> Path:
    """Move the export out of the tree, which is about to go, into a folder that lives as long as the evidence."""
    shown = request.suite.export
    real = os.path.realpath(written)
    inside = os.path.realpath(request.export) + os.sep
    try:
        handle = os.open(written, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise EvidenceError(
            f"the suite's command did not write it: {error.strerror}", code="LW502", path=shown
        ) from error
    status = os.fstat(handle)
    if not real.startswith(inside) or not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise EvidenceError("is no ordinary file of the tree", code="LW502", path=shown)
    with open(handle, "rb") as source:
        if not 0 < status.st_size <= _LARGEST:
            what = "is empty" if not status.st_size else f"has {status.st_size} bytes; more than {_LARGEST} are refused"
            raise EvidenceError(f"{what}: the suite's command has to write a coverage export", code="LW502", path=shown)
        folder = Path(tempfile.mkdtemp(prefix="linewitness-export-"))
        with (folder / Path(shown).name).open("xb") as target:
            shutil.copyfileobj(source, target, _WINDOW)
    return folder / Path(shown).name


def _read(kept: Path, request: CommandRequest, demands: Demands, confinement: Confinement | None) -> CommandEvidence:
    suite = request.suite
    try:
        inner = load_exports(
            [kept],
            Checkout(Path(os.path.realpath(request.export)), request.known, request.wanted),
            demands,
            path_maps=tuple(suite.path_map.items()),
            format_name=suite.format,
            acceptance=request.acceptance,
        )
    except EvidenceError as error:
        shutil.rmtree(kept.parent, ignore_errors=True)
        raise _renamed(error, error.message.replace(str(kept), suite.export), suite.export) from error
    source = EvidenceSource(
        suite=suite.name,
        kind=inner.sources[0].kind,
        provenance="run",
        digest=_digest(kept, request.export),
        confinement=confinement,
    )
    evidence = CommandEvidence(inner, source, kept, suite.export)
    weakref.finalize(evidence, shutil.rmtree, kept.parent, ignore_errors=True)
    return evidence


def _digest(kept: Path, export: Path) -> str:
    """SHA-256, in hexadecimal, of the export; the folder of the run, another one each time, is left out."""
    folder = os.fsencode(os.path.realpath(export))
    total = hashlib.sha256()
    with kept.open("rb") as stream:
        # by lines, so that no window ends within the folder's name; a file of one line is read whole
        for line in stream:
            total.update(line.replace(folder, b""))
    return total.hexdigest()


def _renamed(error: EvidenceError, message: str, path: str = "") -> EvidenceError:
    return EvidenceError(message, code=error.code, path=path or error.path, line=error.line)
