"""What lies in the folder into which a suite's command writes its export, before it has run.

Several coverage tools add to what an earlier run counted: JaCoCo to its ``.exec`` file, gcc's runtime to ``.gcda``
files, ``llvm-profdata`` to whatever it is told to merge. A patch that brings such a file along would have the counts of
its own tests taken for those of trusted ones. It may be ignored by git, and committed all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from linewitness.errors import EvidenceError
from linewitness.model import Blob, RepoPath


def refuse_brought_along(export: str, base: Mapping[RepoPath, Blob], head: Mapping[RepoPath, Blob]) -> None:
    """Refuse a patch that puts files where the export goes, when that is a folder that base does not have.

    A folder with files of base is one of the product's, whatever the export is doing there; so is the root. ``base``
    and ``head`` are the two trees. Errors: EvidenceError (LW502) with the first such file.
    """
    folder = export.rpartition("/")[0]
    if not folder or next(_below(folder, base), None) is not None:
        return
    brought = min(_below(folder, head), default=None)
    if brought is not None:
        message = (
            f"is brought along by the patch, in the folder into which a suite writes its export ({export}): counts in"
            " it could be added to those of the run. Take it out of the patch"
        )
        raise EvidenceError(message, code="LW502", path=brought)


def _below(folder: str, tree: Iterable[RepoPath]) -> Iterator[RepoPath]:
    return (path for path in tree if path.startswith(f"{folder}/"))
