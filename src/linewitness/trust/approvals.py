"""Which changes of protected content people have approved, told by the signatures of commits.

An approval is a commit of ``base..head`` with a valid SSH signature of a key in *base's* list of approvers, which the
target branch has not withdrawn since. It vouches for the protected content of its own tree, whole, so the question is
only whether head's is equal to it: whatever was edited later, by whomever, breaks the equality, and a merge or an empty
commit on top does not. An approval on top of another takes its place.

A signature says nothing about the target branch as it is today. An approval of a branch that was cut earlier would
let a patch roll back what the owners have landed since, and merging an old branch just to have its signature in
``base..head`` is easy. So an approval is only good when the target branch's protected content is still what it was
where the approving commit left it.

Signatures are looked at only when something differs, newest commit first.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from linewitness.errors import UsageError
from linewitness.model import Finding
from linewitness.trust import protected, shadowing
from linewitness.trust.pair import Pair, Tree
from linewitness.values import NamedTuple

if TYPE_CHECKING:
    from linewitness.trust.signed import Approval


class Frozen(NamedTuple):
    """The answer to a comparison: findings (none when all is well), and the approval when one was needed."""

    findings: tuple[Finding, ...]
    approval: Approval | None = None


def freeze(pair: Pair, moment: dt.datetime, installed: shadowing.Installed = shadowing.nothing_known) -> Frozen:
    """Compare head's protected content with base's and, where they differ, with that of approved commits.

    ``moment`` (UTC) is when keys have to be valid. ``installed`` tells what the tests' interpreter has; it is asked
    only when the patch adds a module of its own at a root of imports. Findings: ``LW301``, ``LW303``, and an ``LW304``
    for each kind of signature in ``base..head`` that does not approve. Errors: :class:`PatchError`.
    """
    differences = _Differences(pair, installed)
    found = differences.against(None)
    if not found or pair.base.commit is None:
        return Frozen(found)
    # signatures take much reading that most patches never need
    from linewitness.trust.signed import Search

    approval, left = Search(pair, moment, differences.against).answer(found)
    return Frozen(left, approval)


class _Differences:
    """What of head differs from base or from an approved tree, in content that is not the author's to change."""

    def __init__(self, pair: Pair, installed: shadowing.Installed) -> None:
        self._pair = pair
        self._newcomers = shadowing.newcomers(pair)
        self._installed = installed

    def against(self, approved: Tree | None) -> tuple[Finding, ...]:
        pair = self._pair
        changed = protected.freeze(
            pair.base_tree,
            pair.head_tree,
            pair.loaded.settings,
            lambda blob: pair.repository.read(blob.oid),
            base_name=pair.base.commit or pair.base.tree,
            approved=approved,
        )
        vouched = approved or {}
        strangers = [new for new in self._newcomers if vouched.get(new.path) != pair.head_tree.get(new.path)]
        # What a patch has changed may decide which program answers, so nobody is asked before it is known to be sound.
        installed = shadowing.nothing_known if changed else self._installed
        return tuple(sorted((*changed, *shadowing.shadows(strangers, installed))))


def moment_of(given: str | None) -> dt.datetime:
    """When keys have to be valid: now, or noon of a day that was given by hand (UTC). Errors: :class:`UsageError`."""
    if given is None:
        return dt.datetime.now(dt.UTC)
    from linewitness.trust.waivers import iso_day

    day = iso_day(given)
    if day is None:
        raise UsageError(f"--today takes a date such as 2026-12-16, not {given!r}")
    return dt.datetime.combine(day, dt.time(12), dt.UTC)
