"""Options may come from the environment, and nothing from there can open the gate or change its policy."""

from __future__ import annotations

import argparse
import re

import pytest

from linewitness.cli import commands
from linewitness.cli.main import command_parser, top_parser
from linewitness.cli.parser import TWINS, Parser, twin_of, variable
from linewitness.errors import UsageError
from tests.cli.conftest import Install, Run, Seen

# Each of these decides what is judged by whose rules, or how far the code under test can reach.
NEVER = {
    *("--today", "--settings", "--waivers", "--cov", "--cov-format", "--diff", "--head", "--root", "--path-map"),
    *("--sandbox", "--in-place", "--working-tree", "--always-run", "--no-compare", "--line-hash", "--witnesses"),
    *("--reason", "--owner", "--expires"),
}


def parsers() -> list[Parser]:
    found = [top_parser()]
    for row in commands.COMMANDS:
        try:
            parser = command_parser(row, commands.load(row))
        except UsageError:
            continue
        found += [parser, *parser.subparsers().values()]
    return found


def test_the_list_of_twins_is_closed_and_none_of_them_can_bend_the_verdict() -> None:
    assert set(TWINS) == {"--base", "--color", "--map", "--out", "--output", "--report"}
    assert not TWINS & NEVER


def test_only_options_of_the_list_have_a_twin_in_any_command_and_help_names_it() -> None:
    for parser in parsers():
        text = " ".join(parser.format_help().split())
        named = set(re.findall(r"LINEWITNESS_\w+", text))

        assert named <= {variable(option) for option in TWINS}
        for action in parser.actions():
            if twin_of(action) and parser.prog.count(" ") <= 1:
                assert f"[env: {variable(twin_of(action))}]" in text


def judged(run: Run, command: Install, *argv: str, environ: dict[str, str]) -> argparse.Namespace:
    seen = Seen()

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--base")
        parser.add_argument("--today")
        parser.add_argument("--waivers")
        parser.add_argument("--cov", action="append")
        parser.add_argument("--settings")
        parser.add_argument("--report", action="append")
        parser.add_argument("-o", "--out")

    command(seen, configure)
    outcome = run("demo", *argv, environ=environ)
    assert outcome.status == 0, outcome.err
    (args,) = seen.calls
    args.err = outcome.err
    return args


def test_a_variable_stands_in_for_an_option_that_is_not_given(run: Run, command: Install) -> None:
    args = judged(run, command, environ={"LINEWITNESS_BASE": "origin/main", "LINEWITNESS_REPORT": "text:out.txt"})

    assert args.base == "origin/main"
    assert args.report == ["text:out.txt"]


def test_what_chooses_the_patch_is_announced(run: Run, command: Install) -> None:
    args = judged(run, command, environ={"LINEWITNESS_BASE": "origin/main", "LINEWITNESS_OUT": "x"})

    assert args.err == "linewitness: --base origin/main comes from LINEWITNESS_BASE\n"


@pytest.mark.parametrize("given", [["--base", "mine"], ["--base=mine"]])
def test_the_command_line_wins_over_the_environment(run: Run, command: Install, given: list[str]) -> None:
    args = judged(run, command, *given, environ={"LINEWITNESS_BASE": "theirs"})

    assert args.base == "mine"
    assert args.err == ""


@pytest.mark.parametrize("given", [["--report", "json"], ["--report=json"]])
def test_a_repeated_option_on_the_command_line_replaces_the_variable(
    run: Run, command: Install, given: list[str]
) -> None:
    assert judged(run, command, *given, environ={"LINEWITNESS_REPORT": "text"}).report == ["json"]


@pytest.mark.parametrize("given", [["-o", "mine"], ["-omine"], ["--out", "mine"]])
def test_the_short_form_counts_as_given(run: Run, command: Install, given: list[str]) -> None:
    assert judged(run, command, *given, environ={"LINEWITNESS_OUT": "theirs"}).out == "mine"


def test_variables_for_what_decides_the_verdict_have_no_effect(run: Run, command: Install) -> None:
    environ = {variable(option): "2020-01-01" for option in NEVER}
    args = judged(run, command, environ=environ)

    assert (args.today, args.waivers, args.cov, args.settings) == (None, None, None, None)


def test_an_empty_variable_is_as_good_as_none(run: Run, command: Install) -> None:
    assert judged(run, command, environ={"LINEWITNESS_BASE": ""}).base is None


def test_a_colour_before_the_command_wins_over_the_variable(run: Run, command: Install) -> None:
    assert judged(run, command, environ={"LINEWITNESS_COLOR": "always"}).color == "always"

    seen = Seen()
    command(seen)
    run("--color", "never", "demo", environ={"LINEWITNESS_COLOR": "always"})
    run("demo", "--color", "never", environ={"LINEWITNESS_COLOR": "always"})
    assert [args.color for args in seen.calls] == ["never", "never"]


def test_a_bad_value_is_blamed_on_the_variable_that_brought_it(run: Run) -> None:
    outcome = run("explain", "LW101", environ={"LINEWITNESS_COLOR": "alwys"})

    assert outcome.status == 2
    assert "--color comes from the variable LINEWITNESS_COLOR" in outcome.err


def test_words_after_a_double_dash_are_no_options(run: Run, command: Install) -> None:
    seen = Seen()

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--base")
        parser.add_argument("words", nargs="*")

    command(seen, configure)
    run("demo", "--", "--base", "x", environ={"LINEWITNESS_BASE": "theirs"})

    (args,) = seen.calls
    assert (args.base, args.words) == ("theirs", ["--base", "x"])
