"""What ``doctor`` finds, and what its checks may look at."""

from __future__ import annotations

import datetime as dt

from linewitness.case import Case, Question
from linewitness.patch.repository import Repository
from linewitness.values import NamedTuple


class Trouble(NamedTuple):
    """One thing that is missing or weak.

    ``check`` names the kind, for scripts. ``closes`` tells whether it would keep the gate closed. ``command`` mends it;
    where only an editor can, it is empty and ``message`` says which line of which file to write.
    """

    check: str
    closes: bool
    message: str
    command: str = ""
    path: str = ""
    line: int = 0


class History(NamedTuple):
    """A repository whose refs and commits have not been trusted yet."""

    repository: Repository
    question: Question


class Patient(NamedTuple):
    """A repository whose history is in order: the trees that ``check`` would compare, and the day it is."""

    case: Case
    question: Question
    today: dt.date
