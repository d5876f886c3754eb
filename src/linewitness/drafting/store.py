"""The drafts folder: one folder for each draft, outside of the work tree, each written whole or not at all.

``draft.py`` is the relation, ``inputs.jsonl`` the slice of inputs when it brings one, and ``draft.json`` says where it
comes from. The id of a draft is the beginning of the digest of what it says, so the same draft is stored once. Nothing
here is read by the gate.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from linewitness import atomic
from linewitness.drafting.reply import Note, Proposal
from linewitness.errors import UsageError
from linewitness.patch.repository import Repository

_PYTHON, _INPUTS, _ABOUT, _TRIAL, _NOTES = "draft.py", "inputs.jsonl", "draft.json", "trial.json", "waiver-notes.json"
_ID: Final = re.compile(r"[0-9a-f]{12}")
_LARGEST: Final = 1 << 20
_T = TypeVar("_T", bound=Struct)


class DraftRow(Struct, frozen=True):
    """A line that was unwitnessed when the draft was made."""

    hash: str
    line: int
    path: str
    scope: str


class About(Struct, frozen=True, kw_only=True):
    """``draft.json``. ``digest`` is SHA-256 over the relation and its inputs, ``origin`` says who drafted."""

    about: str
    base: str
    corpus: str | None
    digest: str
    head: str
    map_digest: str
    model: str
    origin: str
    rows: tuple[DraftRow, ...]


class Trial(Struct, frozen=True, kw_only=True):
    """What ``relations try`` found. ``witnesses`` are the unwitnessed lines, ``path:line``, that it would witness.

    ``dropped`` counts the statements among them that were dropped one by one, as far as the draft came to an end
    without them, ``noticed`` those of them at which it failed, ``compared`` those at which it failed because a
    comparison did not hold, or because there was nothing left to compare. ``base`` and ``head`` are ``passes``,
    ``fails``, ``vacuous`` or ``no run``; ``why`` has the reason for what is no pass.
    """

    base: str
    base_tree: str
    compared: int
    digest: str
    dropped: int
    head: str
    head_tree: str
    noticed: int
    why: str
    witnesses: tuple[str, ...]


class Draft(Struct, frozen=True):
    """A stored draft. ``about.digest`` differs from ``digest`` when somebody edited it since."""

    name: str
    folder: Path
    python: str
    inputs: bytes | None
    about: About
    trial: Trial | UnsetType = UNSET

    @property
    def digest(self) -> str:
        """SHA-256 over the relation and its inputs as they lie there."""
        return digest_of(self.python, self.inputs)


def digest_of(python: str, inputs: bytes | None) -> str:
    """SHA-256, in hexadecimal, over the relation, a zero byte and the inputs."""
    data = python.encode("utf-8", "surrogatepass") + (b"" if inputs is None else b"\0" + inputs)
    return hashlib.sha256(data).hexdigest()


def drafts_folder(repository: Repository, out: str | None = None) -> Path:
    """Where drafts go: inside the git directory, or ``out``. Errors: UsageError for a place in the checkout."""
    own = Path(os.path.realpath(repository.git_dir))
    if out is None:
        return own / "linewitness" / "drafts"
    place = Path(os.path.realpath(out))
    root = Path(os.path.realpath(repository.root))
    if place.is_relative_to(root) and not place.is_relative_to(own):
        raise UsageError("drafts are kept outside of the checkout: name a folder elsewhere", path=out)
    return place


def store(folder: Path, proposal: Proposal, inputs: bytes | None, about: About) -> tuple[str, bool]:
    """Put a draft into its folder; its id, and whether it is a new one. Errors: :class:`UsageError`."""
    name = about.digest[:12]
    place = folder / name
    if place.is_dir():
        return name, False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".new-{os.urandom(8).hex()}"
        fresh.mkdir()
        try:
            (fresh / _PYTHON).write_bytes(proposal.python.encode())
            if inputs is not None:
                (fresh / _INPUTS).write_bytes(inputs)
            (fresh / _ABOUT).write_bytes(_json(about))
            fresh.rename(place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"the draft cannot be written: {error.strerror}", path=str(folder)) from error
    return name, True


def _json(value: Struct) -> bytes:
    plain = msgspec.to_builtins(value)
    return json.dumps(plain, indent=2, sort_keys=True).encode() + b"\n"


def remember(draft: Draft, trial: Trial) -> None:
    """Keep what a trial found beside the draft."""
    atomic.write_bytes(draft.folder / _TRIAL, _json(trial))


def keep_notes(folder: Path, notes: Sequence[Note]) -> Path:
    """Write the suggestions for waivers beside the drafts; they are text, and no waiver file."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / _NOTES
    atomic.write_bytes(place, json.dumps([note._asdict() for note in notes], indent=2).encode() + b"\n")
    return place


def names(folder: Path) -> tuple[str, ...]:
    """The ids of all drafts, sorted."""
    try:
        return tuple(sorted(entry.name for entry in os.scandir(folder) if _ID.fullmatch(entry.name)))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", path=str(folder)) from error


def load(folder: Path, named: str) -> Draft:
    """The draft whose id is, or begins with, ``named``. Errors: :class:`UsageError`."""
    known = [name for name in names(folder) if name.startswith(named)]
    if not named or len(known) != 1:
        trouble = (
            f"no draft is called {named!r}" if not known else f"{named!r} means several drafts: {', '.join(known)}"
        )
        raise UsageError(f"{trouble}; `linewitness relations list` shows them")
    place = folder / known[0]
    about = _decode(place / _ABOUT, About)
    try:
        python = _read(place / _PYTHON).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("is not UTF-8", path=str(place / _PYTHON)) from error
    inputs = _read(place / _INPUTS) if about.corpus is not None else None
    found = Draft(known[0], place, python, inputs, about)
    if not (place / _TRIAL).is_file():
        return found
    trial = _decode(place / _TRIAL, Trial)
    return msgspec.structs.replace(found, trial=trial) if trial.digest == found.digest else found


def _read(place: Path) -> bytes:
    try:
        if place.is_symlink() or place.stat().st_size > _LARGEST:
            raise UsageError("is a link, or larger than a draft is", path=str(place))
        return place.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", path=str(place)) from error


def _decode(place: Path, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(_read(place), type=kind)
    except msgspec.MsgspecError as error:
        raise UsageError(f"is not what this version writes: {error}", path=str(place)) from error
