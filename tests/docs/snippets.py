"""Reads the console blocks of a page, and runs them the way a reader would: one shell, one command after the other."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
_MARK = "@@ended@@"


class Command(NamedTuple):
    """One command of a block, continuation lines included, and what the page says that it prints."""

    text: str
    output: str


class Block(NamedTuple):
    """A fenced block: the heading above it, its language, its text and its line in the page."""

    heading: str
    language: str
    text: str
    line: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands after each ``$``, with the output that follows."""
        found: list[Command] = []
        continued = False
        for line in self.text.split("\n")[:-1]:
            if line.startswith("$ "):
                found.append(Command(line[2:], ""))
            elif continued:
                found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}")
            else:
                found[-1] = found[-1]._replace(output=f"{found[-1].output}{line}\n")
                continue
            continued = line.endswith("\\")
        return tuple(found)


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a Markdown page."""
    heading = ""
    found = []
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    for n, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[n + 1].content
        elif token.type == "fence" and token.map:
            found.append(Block(heading, token.info.strip(), token.content, token.map[0] + 1))
    return found


def session(page: str, heading: str) -> list[Command]:
    """The commands of all console blocks of a page below one heading; below any, when it is empty."""
    chosen = [block for block in blocks(ROOT / page) if block.language == "console" and heading in ("", block.heading)]
    assert chosen, f"{page} has no console block below {heading!r}"
    return [command for block in chosen for command in block.commands]


def run(commands: list[Command], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """What each command printed to standard output, in one shell, so that ``$?`` is the last command's status."""
    script = "\n".join(f"{command.text}\nstatus=$?; printf '%s\\n' {_MARK}; (exit $status)" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script], check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    outputs = done.stdout.split(f"{_MARK}\n")[:-1]
    assert len(outputs) == len(commands), done.stdout + done.stderr
    return outputs


def agrees(said: str, printed: str) -> bool:
    """Whether a page tells the truth: a line of ``…`` stands for any lines, and ``…`` in a line for any text."""
    lines = [re.escape(line.rstrip()).replace("…", "[^\\n]*") + "\\n" for line in said.splitlines()]
    pattern = "".join("(?:[^\\n]*\\n)*" if line == "[^\\n]*\\n" else line for line in lines)
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None


def environment(programs: Path) -> dict[str, str]:
    """A person at a terminal with ``linewitness``, ``pytest`` and ``python3`` on PATH, and nobody's settings."""
    from tests.support.repos import environment as plain

    found = plain()
    found["PATH"] = f"{programs}{os.pathsep}{found['PATH']}"
    found["GIT_CONFIG_GLOBAL"] = os.devnull
    found["PYTHONPATH"] = os.fspath(ROOT / "src")
    found["PYTHONDONTWRITEBYTECODE"] = "1"
    found["COLUMNS"] = "100"
    return found
