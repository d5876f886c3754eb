"""The nearest match for a mistyped name."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 80


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """``; did you mean `x`?`` for the choice that is most like ``word``, or nothing when none is near."""
    from difflib import get_close_matches

    folded = {choice.lower().replace("_", "-"): choice for choice in choices}
    near = get_close_matches(word[:_LONGEST].lower().replace("_", "-"), folded, n=1, cutoff=0.6)
    return f"; did you mean `{folded[near[0]]}`?" if near else ""
