"""``relations accept``: a draft copied into the checkout, where people commit it and approve the commit.

Copying gives it no authority: the relations are protected content, so the gate closes until somebody who may has
signed for it. Nothing that is there is overwritten, and when anything fails nothing is left behind.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from linewitness import atomic
from linewitness.drafting.placing import Placed, place
from linewitness.drafting.store import Draft
from linewitness.errors import UsageError
from linewitness.evidence.pytest_settings import read_pytest_settings
from linewitness.model import RepoPath
from linewitness.settings import Settings
from linewitness.trust.corpus import freeze, verify_folder
from linewitness.values import NamedTuple

_PYTEST: str = "9"


class Accepted(NamedTuple):
    """The paths that were written, in the order in which people would name them."""

    paths: tuple[RepoPath, ...]


def accept(root: Path, settings: Settings, draft: Draft, name: str) -> Accepted:
    """Put a draft among the relations of a checkout. Errors: :class:`UsageError`, and nothing has changed then."""
    placed = place(settings.relations, name, draft.about.corpus, read_pytest_settings(root, _PYTEST))
    for path in filter(None, (placed.relation, placed.inputs)):
        _refuse_present(root, path)
    _refuse_drifted(root, placed)
    manifest = root / placed.manifest if placed.manifest else None
    before = manifest.read_bytes() if manifest is not None and manifest.is_file() else None
    made: list[Path] = []
    try:
        if draft.inputs is not None and manifest is not None:
            made += _create(root / placed.inputs, draft.inputs)
            freeze(root / placed.corpus)
        made += _create(root / placed.relation, draft.python.encode())
    except BaseException:
        _undo(made, manifest, before)
        raise
    return Accepted(tuple(path for path in (placed.relation, placed.inputs, placed.manifest) if path))


def _refuse_present(root: Path, path: RepoPath) -> None:
    place = root / path
    if os.path.lexists(place):
        raise UsageError("is there already, and nothing is overwritten: choose another name with --as", path=path)
    for folder in place.relative_to(root).parents:
        if (root / folder).is_symlink():
            raise UsageError("is a link, and a relation is not put behind one", path=str(folder))


def _refuse_drifted(root: Path, placed: Placed) -> None:
    """Freezing a corpus that is not what its manifest says would bless what nobody looked at."""
    folder = root / placed.corpus
    if not placed.manifest or not folder.is_dir():
        return
    if not any(folder.iterdir()):
        return
    wrong = [finding for finding in verify_folder(folder, placed.corpus) if finding.severity == "error"]
    if wrong:
        raise UsageError(
            f"the corpus is not what its manifest says, so nothing is added to it: {wrong[0].path}: {wrong[0].message}",
            path=placed.corpus,
        )


def _create(target: Path, data: bytes) -> list[Path]:
    """Write a file that is not there yet, whole; also the folders that had to be made. Errors: :class:`UsageError`."""
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".linewitness-", dir=target.parent) as folder:
            fresh = Path(folder, "file")
            atomic.write_bytes(fresh, data)
            os.link(fresh, target)  # unlike a rename, it fails when somebody was faster
    except OSError as error:
        for each in made:
            with contextlib.suppress(OSError):
                each.rmdir()
        raise UsageError(f"cannot be written: {error.strerror}", path=str(target)) from error
    return [*reversed(made), target]


def _undo(made: Sequence[Path], manifest: Path | None, before: bytes | None) -> None:
    with contextlib.suppress(OSError):
        if manifest is not None and before is not None:
            atomic.write_bytes(manifest, before)
        elif manifest is not None:
            manifest.unlink(missing_ok=True)
    for each in reversed(made):
        with contextlib.suppress(OSError):
            if each.is_dir():
                each.rmdir()
            else:
                each.unlink()
