"""The tree that a merge would produce, made without a work tree, an index or a setting of anybody's.

git's own merge (``git merge-tree --write-tree``, git 2.38) decides, inside of an empty repository that borrows this
one's objects: no settings, no attributes and no merge drivers of the clone or of the patch take part. What cannot be
merged that way has to be merged by people first.
"""

from __future__ import annotations

import os

from linewitness.errors import PatchError
from linewitness.model import Commit, ObjectId
from linewitness.patch.objects import repo_path
from linewitness.patch.repository import Repository

_SETTINGS = """\
[merge]
	renames = true
	directoryRenames = conflict
	renameLimit = 7000
	renormalize = false
"""
_SHOWN = 10


def merged(repository: Repository, onto: Commit, head: Commit) -> Commit:
    """What ``onto`` would hold after a merge of ``head``.

    That is ``head`` itself when it only adds to ``onto``, else a tree that was never committed, whose objects live
    until ``repository`` is closed. Errors: :class:`PatchError` for unrelated histories, a shallow clone, a conflict
    (naming the files), and a git that cannot merge without a work tree.
    """
    base = repository.merge_base(onto, head)
    if base == onto:
        return head
    if base == head:
        return onto
    if onto.commit is None or head.commit is None:
        raise PatchError("only commits can be merged")
    command = ("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", onto.commit, head.commit)
    said = repository.run(*command, ok=(0, 1), env=_nowhere(repository))
    tree, _, rest = said.partition(b"\0")
    conflicts = [repo_path(name) for name in rest.split(b"\0") if name]
    if conflicts:
        more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
        names = ", ".join(conflicts[:_SHOWN]) + more
        raise PatchError(
            f"{head.commit[:12]} does not merge into {onto.commit[:12]}: conflicts in {names}. Rebase, or merge by hand"
        )
    return Commit(None, ObjectId(tree.decode("ascii", "replace")))


def _nowhere(repository: Repository) -> dict[str, str]:
    """Environment in which git finds the objects of the repository and nothing else of it."""
    home = repository.scratch() / "merge.git"
    for folder in ("objects", "refs", "empty"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    version, extension = (0, "") if repository.algorithm == "sha1" else (1, "[extensions]\n\tobjectformat = sha256\n")
    config = f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n{extension}{_SETTINGS}"
    (home / "config").write_text(config, encoding="ascii")
    return {
        "GIT_DIR": os.fspath(home),
        "GIT_WORK_TREE": os.fspath(home / "empty"),
        **repository.storing_in(repository.scratch() / "objects"),
    }
