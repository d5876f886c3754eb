"""Rooms to run small programs in, isolated as the trusted run is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.launch import Ended
from linewitness.evidence.sandbox import Sandbox, find_sandbox
from linewitness.evidence.sandbox_mounts import Borrowed, environment_of, seal
from linewitness.evidence.sandbox_room import Room, Terms, furnish
from linewitness.model import RepoPath
from linewitness.settings import Suite

NOBODY = 65534
HAS_BUBBLEWRAP = shutil.which("bwrap") is not None
IS_ROOT = os.geteuid() == 0


class Answer(NamedTuple):
    """What a program printed, and how it ended."""

    text: str
    ended: Ended


def everybodys_python() -> Path:
    """An interpreter that any user may run; the running one may lie in somebody's home."""
    running = Path(os.path.realpath(sys.executable))
    # an environment may hold a copy of the program, whose library still lies in a home
    homes = {running: Path(sys.base_prefix) / "lib"}
    for place in (running, Path("/usr/bin/python3"), Path("/usr/local/bin/python3")):
        needed = (*place.resolve().parents, *homes.get(place, place).resolve().parents)
        if place.is_file() and all(folder.stat().st_mode & 0o001 for folder in needed):
            return place
    raise AssertionError("there is no interpreter that every user may run")


def sandboxes() -> list[str]:
    """The kinds that can be tried here: what root gets is tried by root only."""
    return ["root", "mapped", "user", "landlock"] if IS_ROOT else ["user", "landlock"]


def sandbox_called(kind: str, folder: Path) -> Sandbox:
    """``root`` becomes nobody; ``mapped`` is a root who cannot; ``user`` is started by an ordinary user."""
    if kind == "landlock":
        return Sandbox("landlock", "this is a test")
    program = shutil.which("bwrap") or ""
    if kind == "user" and IS_ROOT:
        script = folder / "bwrap-as-nobody"
        script.write_text(f'#!/bin/sh\nexec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {program} "$@"\n')
        script.chmod(0o755)
        program = str(script)
    if kind == "root":
        return find_sandbox("on")
    return Sandbox("bubblewrap", program=program, maps_user=True, poses=kind == "mapped")


class Lab:
    """A tree of files with a room around it. ``secret`` lies beside the tree, where the run may not look."""

    def __init__(self, folder: Path, kind: str, suite: Suite, **terms: object) -> None:
        self.kind = kind
        # as in the gate: everything in folders that only their owner may enter
        self.folder = Path(os.path.realpath(folder))
        export, results, temporary = (self.folder / name for name in ("export", "results", "temporary"))
        for place in (export, results, temporary, export / "tests"):
            place.mkdir(parents=True)
        (export / "shop.py").write_text("x = 1\n")
        (export / "tests" / "test_it.py").write_text("x = 1\n")
        self.secret = self.folder / "secret"
        self.secret.write_text("hidden")
        python = everybodys_python() if kind == "user" else Path(sys.executable)
        environment = environment_of(_described(python), (Path.home(),))
        tree = [RepoPath("shop.py"), RepoPath("tests/test_it.py")]
        borrowed: object = terms.pop("borrowed", ())
        whole = Terms(
            sandbox_called(kind, self.folder),
            python,
            readable=environment,
            sealed=seal(tree[1:], tree),
            borrowed=tuple(Borrowed(*pair) for pair in borrowed),  # type: ignore[attr-defined]
        )
        self.python = python
        self.export = export
        self.room = furnish((export, results, temporary), suite, None, whole, os.environ)
        if kind == "user" and IS_ROOT:
            self._give_away()

    def _give_away(self) -> None:
        """The tree belongs to whom the command is started for."""
        for place in (self.folder, *self.folder.rglob("*")):
            os.chown(place, NOBODY, NOBODY)

    def run(self, program: str) -> Answer:
        """Run a Python program inside."""
        (self.room.folder / "said.txt").unlink(missing_ok=True)
        ended = self.room.run([str(self.python), "-I", "-c", textwrap.dedent(program)], "said.txt")
        return Answer((self.room.folder / "said.txt").read_text(), ended)


def _described(python: Path) -> Interpreter:
    asked = "import sys; print(sys.prefix, sys.base_prefix, *filter(None, sys.path), sep='\\n')"
    said = subprocess.run([str(python), "-I", "-c", asked], check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    return Interpreter(python, (3, 11, 0), "9.0", (), "test", tuple(said[:2]), tuple(filter(None, said[2:])))


def room_without_fence(folder: Path, suite: Suite) -> Room:
    """No isolation and no limits at all, as other tests run theirs."""
    for name in ("export", "results", "temporary"):
        (folder / name).mkdir(parents=True)
    return furnish((folder / "export", folder / "results", folder / "temporary"), suite, None, None, os.environ)
