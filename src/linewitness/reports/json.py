"""The map itself, in its canonical form."""

from __future__ import annotations

from collections.abc import Iterable

from linewitness.obligation_map import ObligationMap, encode
from linewitness.reports import View


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:  # noqa: ARG001 - the canonical form has one look
    """The canonical bytes; see :func:`linewitness.obligation_map.encode`."""
    return encode(artifact)
