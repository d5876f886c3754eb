"""Every command in README and documentation is run, and what the page says that it prints is compared."""

from __future__ import annotations

import argparse
import datetime as dt
import re
import shlex
from pathlib import Path

import pytest

from linewitness import reports
from linewitness.cli import commands as table
from linewitness.cli.main import command_parser
from linewitness.evidence import formats as exports
from linewitness.guard import agents
from linewitness.languages import tables
from tests.docs import scenarios
from tests.docs.snippets import ROOT, Command, agrees, blocks, environment, run, session

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
FIRST_HOUR = ("README.md", "The first hour")
PUBLISHED = ("README.md", "The published workflow")
CONTINUED = ("docs/start.md", "")
# Measurements take minutes and the network; their pages say so, and here their scripts only have to be there.
MEASURES = re.compile(r"python3? (?:-m )?((?:benchmarks|examples)[\w./]+)")
# Blocks that show what a file looks like. What a reader copies from a page is compared with the file by another test.
SAMPLES = frozenset({"python", "toml", "yaml", "json", "ini", "diff", "javascript", "java", "go", "rust", "c", "html"})
# Commands about this repository itself, which `.ci/run` runs, or which an installation runs.
ELSEWHERE = {
    "python3 tasks.py demo",
    "python3 tasks.py test",
    "~/.linewitness/bin/python -m pip install .",
    "bash .ci/run",
}
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
NUMBERS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]


# What the pages show was in force on a machine with bubblewrap; the tests have to pass on others, too.
WEAKER = re.compile(r",\s+(?:unsandboxed|restricted\s+by\s+Landlock\s+only)\s+because\s[^\n]*(?:\n {10}[^\n]*)*")


def sandboxed(printed: str) -> str:
    """What would have been printed where there is a sandbox."""
    return WEAKER.sub(", sandboxed", printed)


def compare(commands: list[Command], printed: list[str]) -> None:
    for command, output in zip(commands, map(sandboxed, printed), strict=True):
        assert agrees(command.output, output), f"$ {command.text}\n{output}\n--- the page says\n{command.output}"


def test_the_first_hour_goes_as_the_readme_says(tmp_path: Path) -> None:
    repo = scenarios.shop(tmp_path / "shop")
    commands = session(*FIRST_HOUR)

    compare(commands, run(commands, repo.root, environment(scenarios.programs(tmp_path / "programs"))))


def test_the_documentation_goes_on_where_the_readme_ends(tmp_path: Path) -> None:
    repo = scenarios.shop(tmp_path / "shop")
    before, commands = session(*FIRST_HOUR), session(*CONTINUED)

    printed = run([*before, *commands], repo.root, environment(scenarios.programs(tmp_path / "programs")))

    compare(commands, printed[len(before) :])


def test_the_published_workflow_goes_as_the_readme_says(tmp_path: Path) -> None:
    expires = (dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)).isoformat()
    repo = scenarios.published(tmp_path / "billing", expires)
    commands = [command._replace(text=command.text.replace("/tmp/", f"{tmp_path}/")) for command in session(*PUBLISHED)]

    compare(commands, run(commands, repo.root, environment(scenarios.programs(tmp_path / "programs"))))


@pytest.mark.parametrize("page", sorted(scenarios.PAGES))
def test_a_page_tells_the_truth(page: str, tmp_path: Path) -> None:
    folder = scenarios.PAGES[page](tmp_path)
    commands = session(page, "")

    compare(commands, run(commands, folder, environment(scenarios.programs(tmp_path / "programs"))))


@pytest.mark.parametrize(
    "said",
    [
        ", unsandboxed because bwrap is not installed",
        ", restricted by Landlock only because bwrap may not make namespaces (a long\n          reason)",
        ", restricted by Landlock only\n          because bubblewrap is not installed",
    ],
)
def test_pages_are_compared_as_if_there_were_a_sandbox(said: str) -> None:
    printed = "evidence: python: pytest, recorded, tests 1 passed{}\nexempt:   1 change\n"

    assert sandboxed(printed.format(said)) == printed.format(", sandboxed")


def test_no_console_block_is_left_out() -> None:
    known = {FIRST_HOUR, PUBLISHED}
    left = [
        f"{page}:{block.line}"
        for page in PAGES
        for block in blocks(ROOT / page)
        if block.language == "console"
        and (page, block.heading) not in known
        and page not in {CONTINUED[0], *scenarios.PAGES}
    ]

    assert left == []


def test_commands_outside_of_console_blocks_are_run_elsewhere() -> None:
    lines = {line for _, line in _lines_of_text_blocks()}

    measured = {line for line in lines if MEASURES.match(line)}
    ours = {line for line in lines - measured if re.search(r"tasks\.py|\.ci/|pip install", line)}
    assert ours == ELSEWHERE
    scripts = {MEASURES.match(line)[1].replace(".", "/").removesuffix("/py") for line in measured}  # type: ignore[index]
    assert all((ROOT / f"{script}.py").is_file() or (ROOT / script / "__main__.py").is_file() for script in scripts)
    shown = {block.language for page in PAGES for block in blocks(ROOT / page)}
    # Files of the examples, which have tests of their own.
    examples = {language for language in shown if language.startswith("{literalinclude} ../examples/")}
    assert all((ROOT / "docs" / language.partition(" ")[2]).is_file() for language in examples)
    assert shown - examples <= {
        *("console", "text", *SAMPLES, "{include} ../README.md", "{include} ../CHANGELOG.md", "{toctree}"),
        *(f"{{include}} ../../tests/specs/{name}.md" for name in _specifications()),
    }


def _lines_of_text_blocks() -> list[tuple[str, str]]:
    found = [(page, block) for page in PAGES for block in blocks(ROOT / page) if block.language == "text"]
    return [(page, line) for page, block in found for line in block.text.replace("\\\n", " ").splitlines()]


def _ours_in_text_blocks() -> list[tuple[str, str]]:
    lines = [(page, re.split(r" (?:\||>>?) ", line)[0]) for page, line in _lines_of_text_blocks()]
    return [(page, line) for page, line in lines if line.startswith("linewitness ")]


def test_there_are_commands_that_need_what_a_test_cannot_have() -> None:
    assert len(_ours_in_text_blocks()) > 3


@pytest.mark.parametrize(("page", "command"), _ours_in_text_blocks())
def test_a_command_that_is_not_run_can_be_typed(page: str, command: str) -> None:  # noqa: ARG001 - it names the test
    """It needs a key, a model, another program's export: at least the parsers have to take it."""
    name, *rest = shlex.split(command)[1:]
    found = table.find(name)
    command_parser(found, table.load(found)).parse_all(rest, argparse.Namespace())


def _specifications() -> list[str]:
    return [path.stem for path in (ROOT / "tests" / "specs").glob("*.md")]


def test_continuous_integration_runs_the_two_commands() -> None:
    ran = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert {command for command in ELSEWHERE if "tasks.py" in command} <= set(ran.splitlines())


def test_the_readme_counts_what_there_is() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert f"[{NUMBERS[len(tables.MODULES)]} other languages]" in text
    assert f"[{NUMBERS[len(exports.FORMATS)]} coverage formats]" in text
    assert f"[{NUMBERS[len(reports.FORMATS)]} report formats]" in text
    assert f"[hooks for {NUMBERS[len(agents.AGENTS)]} agents]" in text
    families = list((ROOT / "examples" / "relations").glob("*/tests/relations"))
    assert f"relations for {NUMBERS[len(families)]} families" in text


def test_the_readme_repeats_what_the_validation_found() -> None:
    table = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8").partition("## The tests run on")[2]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| .+", table, re.MULTILINE)]
    projects = [row[0] for row in rows[1 : [row[0] for row in rows].index("all")] if not row[0].startswith("---")]
    total = dict(zip(rows[0], next(row for row in rows if row[0] == "all"), strict=True))

    assert {total["false witness"], total["false alarm"], total["false exemption"]} == {"0"}
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"releases of {len(projects)} real projects, {total['owed']} owed lines were compared" in text
    assert f"no false alarm but {NUMBERS[int(total['explained'])]} lines that" in text


def test_every_specification_has_a_page() -> None:
    included = [
        block.language.rpartition("/")[2].removesuffix(".md")
        for page in PAGES
        for block in blocks(ROOT / page)
        if block.language.startswith("{include} ../../tests/specs/")
    ]

    assert sorted(included) == sorted(_specifications())


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nb\nc\n", False),
        ("a\n…\n", "a\nb\nc\n", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a … c\n", "a b c\n", True),
        ("a … c\n", "a\nb c\n", False),
        ("", "", True),
        ("", "a\n", False),
    ],
)
def test_the_comparison_can_tell_a_difference(said: str, printed: str, same: bool) -> None:
    assert agrees(said, printed) is same
