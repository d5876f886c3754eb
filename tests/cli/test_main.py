"""From a command line to an exit status: every kind of failure has its text and its status, and none is 0."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.cli import commands
from linewitness.errors import EvidenceError, LinewitnessError, PatchError, ProtectedError, UsageError
from tests.cli.conftest import Install, Run, Seen

CLI = [sys.executable, "-m", "linewitness.cli"]
BUFFERED = os.environ | {"PYTHONUNBUFFERED": ""}


def raising(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(_: argparse.Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "status"), [(UsageError, 2), (EvidenceError, 3), (PatchError, 4), (ProtectedError, 5)]
)
def test_the_users_failures_end_with_the_status_of_their_family(
    run: Run, command: Install, error: type[LinewitnessError], status: int
) -> None:
    command(raising(error("that went wrong", path="a.py", line=3, code="LW503")))
    outcome = run("demo")

    assert outcome.status == status
    assert outcome.out == ""
    assert outcome.err.splitlines() == [
        "linewitness: error: a.py:3: that went wrong [LW503]",
        "linewitness: `linewitness explain LW503` tells what it means and what to do",
    ]


def test_an_interrupt_ends_with_130(run: Run, command: Install) -> None:
    command(raising(KeyboardInterrupt()))

    assert run("demo") == (130, "", "linewitness: interrupted\n")


@pytest.mark.parametrize("error", [ValueError("bad\x1b[2J"), SystemExit(0), RecursionError(), AssertionError()])
def test_a_bug_ends_with_70_and_a_report_and_no_traceback(run: Run, command: Install, error: BaseException) -> None:
    command(raising(error))
    outcome = run("demo")

    assert outcome.status == 70
    assert f"internal error: {type(error).__name__}" in outcome.err
    assert "This is a bug in linewitness, and no verdict." in outcome.err
    assert "Traceback" not in outcome.err
    assert "\x1b" not in outcome.err
    report = Path(re.search(r"attach (\S+)", outcome.err)[1])  # type: ignore[index]
    assert "Traceback" in report.read_text()
    assert "command: linewitness demo" in report.read_text()
    report.unlink()


def test_the_traceback_of_a_bug_is_shown_on_request(run: Run, command: Install) -> None:
    command(raising(ValueError("x")))
    outcome = run("demo", "-v")

    assert "linewitness: Traceback (most recent call last):" in outcome.err.splitlines()
    Path(re.search(r"attach (\S+)", outcome.err)[1]).unlink()  # type: ignore[index]


def test_when_no_report_can_be_stored_the_traceback_is_shown(
    run: Run, command: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    command(raising(ValueError("x")))
    outcome = run("demo")

    assert outcome.status == 70
    assert "Traceback" in outcome.err
    assert "attach" not in outcome.err


@pytest.mark.parametrize("result", [None, "open", object()])
def test_a_command_that_returns_no_status_is_a_bug_and_not_an_open_gate(
    run: Run, command: Install, result: object
) -> None:
    command(lambda _: result)
    outcome = run("demo")

    assert outcome.status == 70
    Path(re.search(r"attach (\S+)", outcome.err)[1]).unlink()  # type: ignore[index]


def test_no_command_is_a_usage_error_and_shows_the_help(run: Run) -> None:
    outcome = run()

    assert outcome.status == 2
    assert outcome.out == ""
    assert "commands" in outcome.err


def test_help_lists_every_command_and_status_and_imports_no_command(run: Run) -> None:
    script = (
        "import sys; from linewitness.cli.main import top_parser; text = top_parser().format_help(); "
        "print(text); print(sorted(n for n in sys.modules if n.startswith('linewitness.')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)

    for row in commands.COMMANDS:
        assert f"  {row.name:<12} {row.help}" in done.stdout
        assert row.module not in done.stderr
    for status in ("0", "1", "2", "3", "4", "5", "70", "130"):
        assert re.search(rf"(?m)^ +{status}  \w", done.stdout)
    assert run("--help").status == 0


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["chek"], "there is no command `chek`; did you mean `check`?"),
        (["--colour", "x"], "unknown option `--colour`; did you mean `--color`?"),
        (["explain", "--fromat", "json", "LW101"], "unknown option `--fromat`; did you mean `--format`?"),
        (["explain", "--form", "json", "LW101"], "unknown option `--form`; did you mean `--format`?"),
        (["explain", "--format", "jsn", "LW101"], "`jsn` is not one of text, json; did you mean `json`?"),
        (["schema", "setings"], "did you mean `settings`?"),
        (["report", "--format", "txt", "x"], "did you mean `text`?"),
        (["explain", "LW101", "extra"], "unexpected argument `extra`"),
        (["explain"], "the following arguments are required: CODE|PATH:LINE"),
        (["--color", "alwys", "explain", "LW101"], "did you mean `always`?"),
    ],
)
def test_mistyped_words_are_refused_with_the_nearest_one(run: Run, argv: list[str], words: str) -> None:
    outcome = run(*argv)

    assert outcome.status == 2
    assert outcome.out == ""
    assert words in outcome.err


def test_options_of_nested_commands_are_known_to_the_hints(run: Run, command: Install) -> None:
    def configure(parser: argparse.ArgumentParser) -> None:
        inner = parser.add_subparsers(dest="action", required=True)
        inner.add_parser("list").add_argument("--owner")

    command(Seen(), configure)

    assert "did you mean `--owner`?" in run("demo", "list", "--ownr=x").err
    assert "did you mean `list`?" in run("demo", "lst").err


def test_a_command_that_is_not_installed_breaks_no_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = commands.Command("demo", "linewitness.cli.no_such_module", "not there")
    monkeypatch.setattr(commands, "COMMANDS", (missing, *commands.COMMANDS[:-2], commands.COMMANDS[-1]))

    assert run("demo").status == 2
    assert "not part of this installation" in run("demo").err
    assert run("explain", "LW101").status == 0
    assert run("completions", "bash").status == 0


def test_a_command_whose_own_import_fails_is_a_bug_and_told_as_such(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken_command.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(commands, "COMMANDS", (commands.Command("demo", "broken_command", "x"),))
    outcome = run("demo")

    assert outcome.status == 70
    Path(re.search(r"attach (\S+)", outcome.err)[1]).unlink()  # type: ignore[index]


def test_common_options_stand_before_or_after_the_command(run: Run, command: Install) -> None:
    seen = Seen()
    command(seen)
    run("-v", "demo", "-v", "--color", "never")
    run("-q", "--color=always", "demo")
    run("demo")

    assert [(args.console.verbosity, args.color) for args in seen.calls] == [(2, "never"), (-1, "always"), (0, "auto")]


def test_a_command_may_name_its_arguments_as_it_likes(run: Run, command: Install) -> None:
    seen = Seen()

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("command", nargs="?")
        parser.add_argument("rest", nargs="*")

    command(seen, configure)
    run("demo", "--", "-x")

    assert [(args.command, args.rest) for args in seen.calls] == [("-x", [])]


def test_what_a_terminal_might_act_upon_is_neutral_in_messages(run: Run) -> None:
    outcome = run("explain", "a\x1b[2J\u202e")

    assert "\x1b" not in outcome.err
    assert r"a\x1b[2J\u202e" in outcome.err


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}])
def test_names_that_the_locale_cannot_write_are_shown_with_escapes(locale: dict[str, str]) -> None:
    environ = os.environ | {"PYTHONUTF8": "0"} | locale
    done = subprocess.run([*CLI, "explain", "größe\udcff"], env=environ, capture_output=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith(b"linewitness: error: `gr")
    assert b"Traceback" not in done.stderr


def test_a_job_that_is_cancelled_ends_as_an_interrupt_does() -> None:
    script = (
        "import os, signal, sys\n"
        "from linewitness.cli import demo\n"
        "from linewitness.cli.main import main_of_process\n"
        "demo.run = lambda args: os.kill(os.getpid(), signal.SIGTERM) or 0\n"
        "sys.argv = ['linewitness', 'demo']\n"
        "sys.exit(main_of_process())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (130, b"linewitness: interrupted\n")


def test_a_reader_that_goes_away_is_no_failure_to_shout_about_and_no_success() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*CLI, "completions", "bash"], stdout=write, stderr=subprocess.PIPE, env=BUFFERED, check=False
    )
    os.close(write)

    assert done.returncode == 130
    assert done.stderr == b""


def test_a_full_disk_behind_the_output_is_told_and_no_success() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*CLI, "explain", "LW101"], stdout=full, stderr=subprocess.PIPE, env=BUFFERED, check=False
        )

    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "linewitness: error: the result cannot be written to standard output: No space left on device"
    ]


def test_closed_streams_do_not_change_the_status() -> None:
    command = f"{sys.executable} -m linewitness.cli explain LW999 2>&- >&-"
    done = subprocess.run(["bash", "-c", command], check=False)

    assert done.returncode == 2
