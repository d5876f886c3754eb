"""A command line that is run inside the test's process."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import NamedTuple, Protocol

import pytest

from linewitness.cli.main import Process, main
from linewitness.cli.parser import Parser


class Outcome(NamedTuple):
    """What a command line left behind."""

    status: int
    out: str
    err: str


class Run(Protocol):
    """Runs one command line."""

    def __call__(self, *argv: str, environ: Mapping[str, str] | None = None) -> Outcome: ...


class Stream(io.TextIOWrapper):
    """A text stream over bytes, as a process has."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def text(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: str, environ: Mapping[str, str] | None = None) -> Outcome:
        out, err = Stream(), Stream()
        status = main(argv, Process(environ or {}, out, err))
        shown = capsys.readouterr()  # argparse prints help by itself
        return Outcome(status, out.text() + shown.out, err.text() + shown.err)

    return call


class Seen:
    """A command that does nothing but remember its arguments."""

    def __init__(self) -> None:
        self.calls: list[argparse.Namespace] = []

    def __call__(self, args: argparse.Namespace) -> int:
        self.calls.append(args)
        return 0


class Install(Protocol):
    """Installs a command."""

    def __call__(
        self, run: Callable[[argparse.Namespace], object], configure: Callable[[Parser], object] = ...
    ) -> None: ...


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a command of the test's own into the table, in place of ``demo``."""

    def install(run: Callable[[argparse.Namespace], object], configure: Callable[[Parser], object] = id) -> None:
        module = ModuleType("linewitness.cli.demo")
        vars(module).update(NAME="demo", HELP="a command of a test", run=run, configure=configure)
        monkeypatch.setitem(sys.modules, "linewitness.cli.demo", module)

    return install
