"""Whether code under test opens the files of checks on its own account, as somebody does who looks answers up.

Runs in the *tested* interpreter (3.9 and later, standard library only), where :mod:`reads` listens. A check may hand
such a file over: it holds the path, or a folder above it, in a variable or a constant while it waits for the product.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePath
from sys import _current_frames as frames_of_threads
from typing import Any

from .executions import IMPORT_SYSTEM

_MANY = 100  # elements of a list that are looked at
_LINES = "linecache.py"


class Lookups:
    """The files of the checks: tests, relations, corpora with their manifests, and what lies beside them."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._export = config["export"]
        corpora = list(config["corpora"])
        folders = {path.rpartition("/")[0] for path in config["test_files"]} - {""}
        beside = (path for path in config["protected"] if any(path.startswith(f"{folder}/") for folder in folders))
        listed = (path for path in config["protected"] if path.rpartition("/")[0] in _folders_of(corpora))
        self._files = frozenset((*config["test_files"], *config["relations"], *corpora, *beside, *listed))

    def is_about(self, path: str) -> bool:
        """Whether a path is one of these files."""
        return path in self._files

    def is_alone(self, name: str, frame: Any, side: Any) -> bool:
        """Whether code under test opens ``name`` by itself.

        A library that shows lines, as in a traceback, does not. ``side`` tells of a file name who wrote it:
        ``check``, ``product`` or nobody.
        """
        between: list[str] = []
        while frame is not None and not side(frame.f_code.co_filename):
            between.append(frame.f_code.co_filename)
            frame = frame.f_back
        is_product = not is_main_thread() if frame is None else side(frame.f_code.co_filename) == "product"
        if not is_product or (between and between[0].startswith(IMPORT_SYSTEM)):
            return False
        path = os.path.join(self._export, name)
        if any(self._hands(each, path) for each in _waiting(frame, side)):
            return False
        shows = any(os.path.basename(each) == _LINES for each in between)
        return not shows or os.path.basename(between[-1]) == _LINES

    def _hands(self, frame: Any, path: str) -> bool:
        """Whether what a check has at hand names ``path`` or a folder above it."""
        code = frame.f_code
        names = frozenset(code.co_names)
        if "__file__" in names:
            return True
        known = [frame.f_globals[name] for name in names if name in frame.f_globals]
        mine = getattr(frame.f_locals.get("self"), "__dict__", {})
        values = (*frame.f_locals.values(), *known, *mine.values(), *code.co_consts)
        return any(self._is_above(text, path) for text in _texts(values, depth=1))

    def _is_above(self, text: str, path: str) -> bool:
        if not text or "\n" in text or "\0" in text:
            return False
        place = os.path.normpath(os.path.join(os.getcwd(), text))
        if place == path or text == os.path.basename(path):
            return True
        return place.startswith(self._export) and path.startswith(place + os.sep)


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path.rpartition("/")[0] for path in paths)


def is_main_thread() -> bool:
    """Whether the thread that asks is the one in which tests run."""
    return threading.get_ident() == threading.main_thread().ident


def _waiting(frame: Any, side: Any) -> Iterator[Any]:
    """The frames of checks that wait for the product. Whoever merely imports it hands nothing over."""
    starts = [frame]
    if not is_main_thread():
        starts.append(frames_of_threads().get(threading.main_thread().ident or 0))
    for start in starts:
        at = start
        while at is not None:
            name = at.f_code.co_filename
            if name.startswith(IMPORT_SYSTEM):
                break
            if side(name) == "check":
                yield at
            at = at.f_back


def _texts(values: Iterable[Any], depth: int) -> Iterator[str]:
    """Whatever may name a file among values, and in containers; not in objects, which code under test may have made."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes):
            yield os.fsdecode(value)
        elif isinstance(value, PurePath):
            yield str(value)
        elif depth and type(value) in (list, tuple, set, frozenset, dict):
            inside = [*value, *value.values()] if type(value) is dict else value
            yield from _texts(islice(inside, _MANY), depth - 1)
