"""The gate inside of a CI service: what is to be judged there, and where the service looks for reports.

A service tells by environment variables and files which commits a job is about. They come from the service, not from
the patch, and they only choose what is compared, as ``--base`` and ``--head`` do; nothing here can open the gate.
"""

from __future__ import annotations

from linewitness.values import NamedTuple


class Errand(NamedTuple):
    """What a CI job is there to judge.

    ``base`` is a commit or a branch whose merge base with ``head`` is compared (``None``: the default branch of the
    remote), ``head`` a commit. ``why`` says in a few words where both come from.
    """

    base: str | None
    head: str
    why: str
