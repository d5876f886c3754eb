"""This process, or a copy of it, lists what the tests' interpreter would, and fails as it would, without harm."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import listing
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.evidence.kit import write_kit
from linewitness.evidence.listing import Listing, list_sites
from linewitness.evidence.sites import list_quietly
from linewitness.model import RepoPath
from linewitness.settings import Suite

GOOD = {
    "plain.py": "def f(x):\n    if x and x > 1:\n        return [y for y in (x, 2)]\n    return lambda: x or 1\n",
    "types.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os\n\n\nclass C:\n    a: int = 1\n",
    "empty.py": "",
    "warned.py": "x = 1 is 1\n",
}
FILES = GOOD | {
    "long.py": f"x = {'y + ' * 2000}1\n",
    "broken.py": "def f(:\n",
    "odd.py": "# coding: nonsense\nx = 1\n",
    "deep.py": "x = " + "-" * 3000 + "1\n",
}


@pytest.fixture(scope="module")
def ours() -> Interpreter:
    return find_interpreter(Suite(python=sys.executable), None)


def listed(folder: Path, python: Interpreter, files: dict[str, str]) -> Listing:
    root, kit = folder / "root", folder / "kit"
    for place in (root, kit):
        place.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    if not list(kit.iterdir()):
        write_kit(kit, python.version)
    wanted = {RepoPath(name): ((1, max(1, text.count("\n"))),) for name, text in files.items()}
    return list_sites(python, kit, root, wanted, prepare=False)


def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that are started from now on."""
    names: list[str] = []
    start = subprocess.Popen

    def noted(command: list[str], **options: object) -> object:
        names.append(command[0])
        return start(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", noted)
    return names


def test_a_copy_of_this_process_lists_what_the_interpreter_lists(
    tmp_path: Path, ours: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = started(monkeypatch)
    assert ours.compiles_alike
    copied = listed(tmp_path, ours, FILES)
    assert not names
    asked = listed(tmp_path, ours._replace(compiles_alike=False), FILES)
    assert names == [str(ours.path)]
    assert (copied.mode, copied.sites, copied.bodies) == (asked.mode, asked.sites, asked.bodies)
    assert copied.unreadable == asked.unreadable
    assert {"broken.py", "odd.py"} <= set(copied.unreadable)


@pytest.mark.filterwarnings("error")
def test_this_process_lists_few_files_as_the_interpreter_does(
    tmp_path: Path, ours: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = listed(tmp_path, ours._replace(compiles_alike=False), GOOD)
    monkeypatch.setattr(listing, "can_fork", lambda: False)
    names = started(monkeypatch)
    made = listed(tmp_path, ours, GOOD)
    assert (made.mode, made.sites, made.bodies) == (asked.mode, asked.sites, asked.bodies)
    assert (names, made.unreadable, asked.unreadable) == ([], {}, {})


def test_what_is_nested_too_deeply_for_this_process_is_listed_by_a_copy(
    tmp_path: Path, ours: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = {"long.py": FILES["long.py"]}
    found = listed(tmp_path, ours, long)
    assert (found.unreadable, [site.span.start.line for site in found.sites[RepoPath("long.py")].sites]) == ({}, [1])
    monkeypatch.setattr(listing, "list_files", list_quietly)
    assert "RecursionError" in listed(tmp_path, ours, long).unreadable[RepoPath("long.py")]


def test_a_process_with_threads_makes_no_copy_of_itself(
    tmp_path: Path, ours: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, done = started(monkeypatch), threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        listed(tmp_path, ours, FILES)
    finally:
        done.set()
        thread.join()
    assert names == [str(ours.path)]


def test_a_listing_changes_nothing_in_this_process(tmp_path: Path, ours: Interpreter) -> None:
    before = sys.getrecursionlimit()
    listed(tmp_path, ours, FILES)
    assert sys.getrecursionlimit() == before


def test_a_copy_that_crashes_is_told_as_an_interpreter_that_cannot_list(
    tmp_path: Path, ours: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "list_files", lambda _: sys.exit(3))
    with pytest.raises(EvidenceError, match="could not list the code of the changed files: it did not get to its end"):
        listed(tmp_path, ours, {"broken.py": FILES["broken.py"]})
