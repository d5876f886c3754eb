"""A merge gate for patches: every changed executable line needs a witness that its author cannot edit.

The public interface; everything else may change without notice. Names are imported when they are first used, so that
``import linewitness`` costs next to nothing.

* :func:`check` judges a patch of a repository (:class:`CheckRequest`, :class:`Question`, :class:`Exports`);
* :func:`score` scores a diff against coverage exports (:class:`MapRequest`);
* :class:`ObligationMap` is the result, :func:`encode` and :func:`decode` its canonical JSON;
* :class:`Exit` holds the exit statuses and :data:`CODES` the finding codes.
"""

from linewitness._version import __version__

# As type checkers know it, without the price of importing typing: `--version` goes through here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from linewitness.case import Question
    from linewitness.errors import Exit, LinewitnessError
    from linewitness.findings import CODES
    from linewitness.gate import CheckRequest, Exports, check
    from linewitness.mapper import MapRequest, score
    from linewitness.obligation_map import ObligationMap, decode, encode

_HOMES = {
    "CODES": "findings",
    "CheckRequest": "gate",
    "Exit": "errors",
    "Exports": "gate",
    "LinewitnessError": "errors",
    "MapRequest": "mapper",
    "ObligationMap": "obligation_map",
    "Question": "case",
    "check": "gate",
    "decode": "obligation_map",
    "encode": "obligation_map",
    "score": "mapper",
}

__all__ = [
    "CODES",
    "CheckRequest",
    "Exit",
    "Exports",
    "LinewitnessError",
    "MapRequest",
    "ObligationMap",
    "Question",
    "__version__",
    "check",
    "decode",
    "encode",
    "score",
]


def __getattr__(name: str) -> object:
    """Import a public name from the module that holds it."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'linewitness' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"linewitness.{home}"), name)
