"""What only git's lists of files can tell about a path. Slow beside the rest: asked for few paths."""

from __future__ import annotations

from pathlib import Path

from linewitness.errors import PatchError
from linewitness.model import Blob, ObjectId, RepoPath
from linewitness.patch.repository import Repository

_ANY = Blob(0o100644, ObjectId(""))


def listed(top: str) -> tuple[RepoPath, ...]:
    """The paths in the index of the work tree at ``top``. Errors: :class:`PatchError`."""
    with Repository(Path(top)) as repository:
        names = repository.run("ls-files", "-z", "--full-name", "--", ":/").split(b"\0")[:-1]
    return tuple(RepoPath(name.decode("utf-8", "surrogateescape")) for name in names)


def untracked(top: str) -> tuple[RepoPath, ...]:
    """The paths in the work tree at ``top`` that git neither tracks nor ignores. Errors: :class:`PatchError`."""
    if not Path(top, ".git").exists():
        return ()
    with Repository(Path(top)) as repository:
        asked = ("ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":/")
        names = repository.run(*asked).split(b"\0")[:-1]
    return tuple(RepoPath(name.decode("utf-8", "surrogateescape")) for name in names)


def reason(top: str, path: str) -> str | None:
    """What kind of protected content ``path`` is, judged with the target branch's tree and the index, or ``None``.

    Errors: :class:`PatchError`, :class:`linewitness.errors.UsageError` for settings that cannot be read.
    """
    from linewitness import settings
    from linewitness.trust.protected import Protection

    with Repository(Path(top)) as repository:
        try:
            base = repository.ls_tree(repository.resolve(repository.default_base()).tree)
        except PatchError:
            base = {}  # no branch to compare with yet: what is here decides
        here = dict.fromkeys(listed(top), _ANY)

        def read(name: str) -> bytes | None:
            blob = base.get(RepoPath(name))
            if blob and blob.is_regular:
                return repository.read(blob.oid)
            place = Path(top, name)
            return place.read_bytes() if not base and place.is_file() else None

        chosen = settings.load(read).settings
    protection = Protection(chosen, base or here, here)
    imitated = None if path in base or path in here else protection.imitated(path)
    return protection.reason(path) or (imitated and f"a name that imitates the protected {imitated}")


def changed(top: str, folder: str) -> tuple[RepoPath, ...]:
    """The paths at or below ``folder`` whose content in the work tree is not that of the current commit."""
    with Repository(Path(top)) as repository:
        asked = ("--name-only", "-z", "--no-ext-diff", "--no-renames", "HEAD", "--", folder or ".")
        names = repository.run("diff", *asked, env={"GIT_LITERAL_PATHSPECS": "1"}).split(b"\0")[:-1]
    return tuple(RepoPath(name.decode("utf-8", "surrogateescape")) for name in names)


def is_target(top: str, name: str) -> bool:
    """Whether a revision is the tip of the target branch, or its merge base with the current commit."""
    with Repository(Path(top)) as repository:
        try:
            named, tip = repository.resolve(name), repository.resolve(repository.default_base())
            return named == tip or named == repository.merge_base(tip, repository.resolve("HEAD"))
        except PatchError:
            return False
