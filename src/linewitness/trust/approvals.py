"""The place where an approval by people will be recognised. Today nothing is: the gate approves no change by itself.

An approval is to be a commit in ``base..head`` that is signed with a key among *base's* approvers and whose tree holds
the protected content of head. Reading such a commit is one thing, believing its signature another, and only the second
makes it an approval, so as long as signatures are not verified there are none. The way in is the target branch: owners
land a change of protected content there, and it is base from then on.
"""

from __future__ import annotations

from typing import Protocol

from linewitness.model import Commit, ObjectId


class Approvals(Protocol):
    """Who vouches for protected content."""

    def approved_tree(self, base: Commit, head: Commit) -> ObjectId | None:
        """The tree of the last commit in ``base..head`` whose approval is valid, or ``None``.

        The protected content of head is then compared with that tree in place of base's.
        """
        ...


class NoApprovals:
    """No commit is an approval. What the gate uses while no signature is verified."""

    def approved_tree(self, base: Commit, head: Commit) -> ObjectId | None:  # noqa: ARG002 - the protocol's shape
        """Always ``None``: whatever changed stays a finding."""
        return None
