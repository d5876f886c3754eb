"""Every command that a report suggests is taken from the report, pasted into a shell, and works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from linewitness import reports
from linewitness.console import Screen
from linewitness.findings import CODES, Code
from linewitness.obligation_map import encode
from linewitness.reports import View
from linewitness.reports.words import shell_word
from tests.reports import samples
from tests.support.repos import Repo


def suggested(sample: str, form: str, map_file: str | None) -> list[str]:
    text = b"".join(reports.render(samples.ALL[sample](), form, View(Screen(width=80), map_file=map_file))).decode()
    return re.findall(r"(?m)(?:next: +|all of them: )(linewitness .+)$", text)


def paste(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run one line in bash as a user would, with ``linewitness`` on the path."""
    script = folder / "bin" / "linewitness"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m linewitness.cli "$@"\n')
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{script.parent}:{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, check=False)


@pytest.mark.parametrize("map_file", [None, "linewitness-map.json", "-odd 'name'.json"])
@pytest.mark.parametrize("sample", ["closed", "hostile", "many", "protected"])
def test_what_a_report_suggests_can_be_pasted(sample: str, map_file: str | None, tmp_path: Path) -> None:
    Repo(tmp_path)
    place = tmp_path / (map_file or ".git/linewitness/map.json")  # the usual place of a map
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"".join(encode(samples.ALL[sample]())))
    commands = {command for form in ("text", "agent") for command in suggested(sample, form, map_file)}

    # One of each verb and target is enough: the many differ by line number only.
    for command in sorted(commands)[:8]:
        done = paste(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr.decode())
        assert done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "plain.py:1",
        "with space",
        "it's",
        "$(touch x)`y`",
        "a\x1b[1m\n\udcff'\\",
        "名前\u202e",
        "-dash",
        "::error::x",
        "a##[error]b",
        "\ud800",
    ],
)
def test_a_shell_reads_a_quoted_word_back_as_it_was(text: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf %s {shell_word(text)}"], capture_output=True, check=True)

    if text == "\ud800":  # no name of any file system; it must only not fail
        assert done.stdout == rb"\ud800"
    else:
        assert done.stdout == os.fsencode(text)


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_the_texts_of_the_codes_name_only_commands_that_exist(code: Code) -> None:
    from linewitness.cli.commands import COMMANDS

    named = re.findall(r"`linewitness ([^\s`]+)[^`]*`", code.what + code.why + code.todo)

    assert set(named) <= {command.name for command in COMMANDS}
