"""The search for an approval among the signed commits of a patch: imported when protected content differs.

What an approval is, and what it vouches for, is told in :mod:`linewitness.trust.approvals`.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

from linewitness.errors import UsageError
from linewitness.model import Commit, Finding, ObjectId, RepoPath
from linewitness.patch.commits import SignedCommit, signed_commits
from linewitness.trust import approvers, protected, signatures
from linewitness.trust.approvers import Approver, Approvers
from linewitness.trust.builtin import revocations_beside
from linewitness.trust.pair import Pair, Tree
from linewitness.trust.signatures import Refused, Signature, SshKeygen, Trust
from linewitness.values import NamedTuple

_MOST_COMMITS: Final = 2000
_MOST_VERIFIED: Final = 200
_MOST_PATHS: Final = 3
_SHOWN_DIGITS: Final = 12
# Stands for a link or a submodule: neither a list of approvers nor one of revocations, so both readers refuse it.
_NO_FILE: Final = b"not a file\n"

Against = Callable[[Tree], tuple[Finding, ...]]


class Approval(NamedTuple):
    """Who vouches for head's protected content: the commit, the key that signed it, and whose key base says it is."""

    commit: ObjectId
    fingerprint: str
    principal: str


class Search:
    """The search for a commit whose signature makes head's protected content an approved one.

    ``against`` tells in which protected content head differs from an approved tree.
    """

    def __init__(self, pair: Pair, moment: dt.datetime, against: Against) -> None:
        self._pair = pair
        self._moment = moment
        self._against = against
        self._refusals: Counter[str] = Counter()
        self._first: dict[str, ObjectId | None] = {}

    def answer(self, found: tuple[Finding, ...]) -> tuple[Approval | None, tuple[Finding, ...]]:
        """The first approval, or what stays ``found`` and why no signature approves it. Errors: ``PatchError``."""
        known = approvers_of(self._pair)
        if known is None:
            return None, found
        authority = _Authority(self._pair, known, self._moment)
        commits = self._pair.repository.commits(_id(self._pair.base), _id(self._pair.tip))
        verified: list[Commit] = []
        for offered in signed_commits(self._pair.repository, commits[:_MOST_COMMITS]):
            try:
                approver = authority.signer(offered)
            except Refused as trouble:
                self._refuse(offered.commit, str(trouble))
                continue
            problem = self._superseded(offered.commit, verified) or self._objection(offered.commit)
            if not problem:
                return Approval(_id(offered.commit), approver.fingerprint, approver.principal), ()
            self._refuse(offered.commit, f"is approved by {approver.principal}, but {problem}")
            verified.append(offered.commit)
            if len(verified) == _MOST_VERIFIED:
                break
        return None, tuple(sorted((*found, *known.findings, *self._told(len(commits)))))

    def _superseded(self, commit: Commit, later: list[Commit]) -> str:
        """Whether people approved something else on top of it: who has seen better must not be taken at an old word."""
        for each in later:
            if commit in self._pair.repository.merge_bases(commit, each):
                return (
                    f"commit {_id(each)[:_SHOWN_DIGITS]} is approved on top of it, and head is not as that one has it"
                )
        return ""

    def _objection(self, commit: Commit) -> str:
        """Why a validly signed commit does not vouch for head, as a clause; empty when it does."""
        repository = self._pair.repository
        left = self._against(repository.ls_tree(commit.tree))
        if left:
            paths = [finding.path for finding in left]
            more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
            return f"head has other protected content than that commit: {', '.join(paths[:_MOST_PATHS])}{more}"
        if self._is_stale(commit):
            return (
                "the target branch's own protected content has changed since it left there: merge it and approve anew"
            )
        return ""

    def _is_stale(self, commit: Commit) -> bool:
        """Whether base's protected content is another one than where the history of ``commit`` left base's."""
        pair = self._pair
        forks = pair.repository.merge_bases(commit, pair.base)
        for fork in forks:
            if fork.tree == pair.base.tree:
                continue
            tree = pair.repository.ls_tree(fork.tree)
            settings = pair.loaded.settings
            if protected.freeze(tree, pair.base_tree, settings, lambda blob: pair.repository.read(blob.oid)):
                return True
        return not forks

    def _refuse(self, commit: Commit, why: str) -> None:
        self._refusals[why] += 1
        self._first.setdefault(why, commit.commit)

    def _told(self, total: int) -> Iterator[Finding]:
        todo = "Have an approver look at the protected changes of the present head and run `linewitness approve`."
        for why, count in self._refusals.items():
            more = f" (and {count - 1} more commits likewise)" if count > 1 else ""
            yield Finding("LW304", "", 0, f"commit {(self._first[why] or '')[:_SHOWN_DIGITS]} {why}{more}. {todo}")
        if total > _MOST_COMMITS:
            text = f"only the newest {_MOST_COMMITS} of {total} commits were searched for an approval. {todo}"
            yield Finding("LW304", "", 0, text)


class _Authority:
    """Whose signature counts: keys that base lists, and that the target branch has not withdrawn since."""

    def __init__(self, pair: Pair, known: Approvers, moment: dt.datetime) -> None:
        self._pair = pair
        self._moment = moment
        self._path = pair.loaded.settings.approvers
        self._lists = [("base", known)]
        target = pair.target()
        if target.tree != pair.base.tree:
            # A branch from before a key was withdrawn is easily made, and still has the old list as its base.
            now = approvers_of(pair, pair.repository.ls_tree(target.tree)) or approvers.parse(b"", self._path)
            self._lists.append(("the target branch as it is now", now))

    def signer(self, offered: SignedCommit) -> Approver:
        """The line of base's list whose key signed the commit. Errors: :class:`Refused` with the reason."""
        if len(offered.signatures) != 1:
            raise Refused(f"carries {len(offered.signatures)} signatures, and which one counts is ambiguous")
        signature = signatures.parse_signature(offered.signatures[0])
        first, *_ = [self._line(where, known, signature, offered.payload) for where, known in self._lists]
        return first

    def _line(self, where: str, known: Approvers, signature: Signature, payload: bytes) -> Approver:
        lines = known.with_key(signature.key)
        trouble = Refused(f"was signed with {signature.fingerprint}, which {self._path} of {where} does not list")
        for approver in lines:
            trust = Trust(approver.options, approver.key, known.revoked, self._moment)
            try:
                self._keygen.verify(signature, payload, trust)
            except Refused as found:
                trouble = found
            else:
                return approver
        raise trouble

    @cached_property
    def _keygen(self) -> SshKeygen:
        try:
            return SshKeygen(self._pair.repository.root)
        except UsageError as error:
            raise Refused(f"carries a signature that cannot be checked: {error.message}") from None


def approvers_of(pair: Pair, tree: Tree | None = None) -> Approvers | None:
    """Base's list of approvers, or that of another tree; ``None`` when it has none. A link is no list."""
    path = pair.loaded.settings.approvers
    held = pair.base_tree if tree is None else tree
    listed, revoked = (_content(pair, held, name) for name in (path, revocations_beside(path)))
    return None if listed is None else approvers.parse(listed, path, revoked)


def _content(pair: Pair, tree: Tree, path: str) -> bytes | None:
    blob = tree.get(RepoPath(path))
    if blob is None:
        return None
    return pair.repository.read(blob.oid) if blob.is_regular else _NO_FILE


def _id(commit: Commit) -> ObjectId:
    return commit.commit or ObjectId("")
