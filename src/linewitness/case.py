"""One pair of trees under the settings of its base: what every later step of the gate needs to know."""

from __future__ import annotations

from linewitness import settings
from linewitness.errors import UsageError
from linewitness.model import Blob, Commit, RepoPath
from linewitness.obligations import Jurisdiction
from linewitness.patch.repository import Repository
from linewitness.settings import LoadedSettings
from linewitness.trust.protected import Protection
from linewitness.values import NamedTuple

Tree = dict[RepoPath, Blob]


class Question(NamedTuple):
    """Which trees to compare. ``base`` names the target branch or a commit; ``None`` is the remote's default branch.

    With ``onto`` the patch is what a merge of head would change there: base is its tip, and head the merged tree.
    """

    base: str | None = None
    head: str = "HEAD"
    working_tree: bool = False
    onto: str | None = None


class Case(NamedTuple):
    """A patch to be judged: two trees, the settings that base holds, and what follows from them for each path.

    ``tip`` is the last commit of the patch's own history; ``head`` has the same tree unless that was never committed
    (a work tree, or the result of a merge).
    """

    repository: Repository
    base: Commit
    head: Commit
    tip: Commit
    base_tree: Tree
    head_tree: Tree
    loaded: LoadedSettings
    protection: Protection
    jurisdiction: Jurisdiction
    question: Question = Question()

    def target(self) -> Commit:
        """The tip of the branch that the patch is for; base is where the patch left it, which may be long ago."""
        asked = self.question
        named = asked.base if asked.onto is None else asked.onto
        return self.repository.resolve(_target(self.repository) if named is None else named)

    def read(self, blob: Blob) -> bytes:
        """The bytes of a blob of either tree."""
        return self.repository.read(blob.oid)

    def read_head(self, path: str) -> bytes | None:
        """The bytes of a regular file of head, or ``None``."""
        return _read(self.repository, self.head_tree, path)


def open_case(repository: Repository, question: Question) -> Case:
    """Resolve names, read base's settings, list both trees.

    Errors: :class:`linewitness.errors.PatchError` for anything that makes the patch untrustworthy,
    :class:`linewitness.errors.UsageError` for settings that cannot be read.
    """
    repository.check_trustworthy()
    base, head, tip = _resolve(repository, question)
    base_tree = repository.ls_tree(base.tree)
    head_tree = repository.ls_tree(head.tree)
    loaded = settings.load(lambda path: _read(repository, base_tree, path))
    protection = Protection(loaded.settings, base_tree, head_tree)
    jurisdiction = Jurisdiction(loaded.settings, protection.is_protected, base_tree)
    return Case(repository, base, head, tip, base_tree, head_tree, loaded, protection, jurisdiction, question)


def _resolve(repository: Repository, question: Question) -> tuple[Commit, Commit, Commit]:
    """Base, head and tip: base is the merge base of head's commit and the target branch."""
    if question.onto is not None:
        return _resolve_merge(repository, question, repository.resolve(question.head))
    target, tip = repository.resolve_all(_target(repository) if question.base is None else question.base, question.head)
    base = repository.merge_base(target, tip)
    if not question.working_tree:
        return base, tip, tip
    if tip != repository.resolve("HEAD"):
        raise UsageError("--working-tree judges what is checked out: it cannot be combined with another --head")
    from linewitness.patch.worktree import working_tree

    return base, working_tree(repository), tip


def _resolve_merge(repository: Repository, question: Question, tip: Commit) -> tuple[Commit, Commit, Commit]:
    from linewitness.patch.merging import merged

    if question.base is not None or question.working_tree:
        raise UsageError(
            "--onto names the branch that is merged into: it cannot be combined with --base or --working-tree"
        )
    onto = repository.resolve(question.onto or "")
    return onto, merged(repository, onto, tip), tip


def _target(repository: Repository) -> str:
    """The branch that patches are for. Its name may be set on the remote's default branch, never by the patch."""
    default = repository.default_base()
    tip = repository.ls_tree(repository.resolve(default).tree)
    named = settings.load(lambda path: _read(repository, tip, path)).settings.target_branch
    return repository.default_base(named) if named else default


def _read(repository: Repository, tree: Tree, path: str) -> bytes | None:
    blob = tree.get(RepoPath(path))
    return repository.read(blob.oid) if blob is not None and blob.is_regular else None
