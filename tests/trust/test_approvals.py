"""As long as no signature is verified, nothing is approved."""

from __future__ import annotations

from linewitness.model import Commit, ObjectId
from linewitness.trust.approvals import Approvals, NoApprovals


def test_no_commit_is_an_approval() -> None:
    approvals: Approvals = NoApprovals()
    one = Commit(ObjectId("a" * 40), ObjectId("b" * 40))

    assert approvals.approved_tree(one, one._replace(commit=ObjectId("c" * 40))) is None
