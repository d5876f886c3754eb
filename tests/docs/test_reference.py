"""What the reference pages say is what the program does."""

from __future__ import annotations

import argparse
import importlib.util
import re
from collections.abc import Iterator
from types import ModuleType

import msgspec
import pytest

from linewitness.cli import commands
from linewitness.cli.main import command_parser
from linewitness.cli.parser import Parser
from linewitness.errors import Exit
from linewitness.findings import CODES, EXIT_MEANING
from linewitness.reports import FORMATS
from linewitness.settings import Settings, Suite, WaiverDays
from tests.docs.snippets import ROOT
from tests.findings.cases import NOT_BUILT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests" / "specs").glob("*.md")]
_INLINE = re.compile(r"`(linewitness [^`\n]+)`")
_HOLDERS = {
    "PATH:LINE": "a.py:1",
    "PATH:0": "a.bin",
    "CODE": "LW101",
    "REASON": "vendor",
    "OWNER": "a",
    "FILE": "a",
    "FORMAT": "text",
}


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The module that fills in the pages; it lies beside them, outside of any package."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_option_of_every_command_is_in_the_reference(reference: ModuleType) -> None:
    sections = dict(
        zip(*[iter(re.split(r"^## (.+)$", reference.command_reference(), flags=re.MULTILINE)[1:])] * 2, strict=True)
    )

    assert list(sections) == [command.name for command in commands.COMMANDS]
    for command in commands.COMMANDS:
        parser = command_parser(command, commands.load(command))
        parts = re.split(r"^### (.+)$", sections[command.name], flags=re.MULTILINE)[1:]
        actions = dict(zip(parts[::2], parts[1::2], strict=True))
        assert list(actions) == [f"{command.name} {name}" for name in parser.subparsers()]
        for name, shown in _shown(parser):
            assert f"`{shown}" in sections[command.name], (command.name, name)
        for sub, inner in parser.subparsers().items():
            for name, shown in _shown(inner):
                assert f"`{shown}" in actions[f"{command.name} {sub}"], (command.name, sub, name)


def _shown(parser: Parser) -> Iterator[tuple[str, str]]:
    """The arguments that a reader of the reference has to find, and how they are written there."""
    for action in parser.actions():
        hidden = action.help is argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction)
        if not hidden and action.dest not in {"help", "quiet", "verbose", "color"}:
            names = action.option_strings or ([] if action.choices else [str(action.metavar or action.dest)])
            yield from ((action.dest, name.replace("|", "\\|")) for name in names)


def test_every_setting_is_in_the_reference_with_its_meaning(reference: ModuleType) -> None:
    text = reference.settings_reference()

    for kind in (Settings, Suite, WaiverDays):
        for field in msgspec.structs.fields(kind):
            rows = [line for line in text.splitlines() if line.startswith(f"| `{field.encode_name}` |")]
            assert rows, field.encode_name
            assert all(row.rsplit("|", 2)[1].strip() for row in rows), field.encode_name


def test_every_code_is_in_the_reference_with_its_paragraphs(reference: ModuleType) -> None:
    text = reference.code_reference()

    for code in CODES.values():
        assert f"({code.code})=\n## {code.code} {code.title}\n" in text
        assert all(paragraph in text for paragraph in (code.what, code.why, code.todo))


def test_every_format_is_in_the_reference(reference: ModuleType) -> None:
    assert all(f"| `{row.name}` |" in reference.format_reference() for row in FORMATS)


def test_pages_ask_only_for_what_is_generated(reference: ModuleType) -> None:
    for page in PAGES:
        source = [page.read_text(encoding="utf-8")]
        reference.fill(None, "", source)
        assert "<!-- generated" not in source[0]


def test_an_unknown_request_is_refused(reference: ModuleType) -> None:
    with pytest.raises(KeyError):
        reference.fill(None, "", ["<!-- generated: nonsense -->"])


def test_the_readme_lists_the_exit_statuses() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert {int(status): meaning for status, meaning in rows} == {
        int(status): text for status, text in EXIT_MEANING.items()
    }
    assert {int(status) for status, _ in rows} == set(map(int, Exit))


def test_the_table_of_commands_repeats_what_modules_say() -> None:
    for command in commands.COMMANDS:
        module = commands.load(command)
        assert (command.name, command.help) == (module.NAME, module.HELP)


def _inline_commands() -> list[tuple[str, str]]:
    texts = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
    texts |= {code.code: f"{code.what} {code.why} {code.todo}" for code in CODES.values()}
    return [(where, command) for where, text in sorted(texts.items()) for command in _INLINE.findall(text)]


def test_there_are_commands_in_running_text() -> None:
    assert len(_inline_commands()) > 20


@pytest.mark.parametrize(("where", "command"), _inline_commands())
def test_a_command_in_running_text_can_be_typed(where: str, command: str) -> None:  # noqa: ARG001 - it names the test
    """It has to be a command line that the parsers accept, with something in the place of words in capitals."""
    words = [_HOLDERS.get(word, word) for word in command.split()[1:]]
    name, *rest = [word for word in words if word not in {"-v", "-q"}]
    found = commands.find(name)
    parser = command_parser(found, commands.load(found))
    if not rest or (len(rest) == 1 and rest[0] in parser.subparsers()):
        return  # the command is only named
    parser.parse_all(rest, argparse.Namespace())


def test_a_variable_is_named_only_where_it_is_read(reference: ModuleType) -> None:
    """Options of sub-commands have no twin in the environment."""
    for section in re.split(r"^### ", reference.command_reference(), flags=re.MULTILINE)[1:]:
        assert "LINEWITNESS_" not in section.partition("\n## ")[0]


def test_the_map_page_names_every_key_of_a_map() -> None:
    from linewitness.obligation_map import ObligationMap, Row

    text = _text("docs/map.md")
    table = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)))
    (row,) = re.findall(r"^A row has .+?$\n\n", text, re.MULTILINE | re.DOTALL)

    assert sorted(table) == sorted(ObligationMap.__struct_fields__)
    assert set(Row.__struct_fields__) <= set(re.findall(r"`(\w+)`", row))


@pytest.mark.parametrize("page", sorted(path.name for path in ROOT.glob("*.md")))
def test_links_outside_of_the_site_lead_somewhere(page: str) -> None:
    """Sphinx follows those of the site."""
    targets = re.findall(r"\]\(([^)\s]+)\)", _text(page))

    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []


def test_the_design_names_every_module() -> None:
    """One sentence for each, so that a reader knows where to look."""
    named = re.findall(r"`([\w./]+)`", " ".join(re.findall(r"^\| .+", _text("DESIGN.md"), re.MULTILINE)))
    source = ROOT / "src" / "linewitness"
    entries = {path.name for path in source.iterdir() if not path.name.startswith("_") and path.name != "py.typed"}

    assert {name.rstrip("/").partition("/")[0] for name in named if "/" in name or name.endswith(".py")} == entries
    assert all((source / name).exists() for name in named if "/" in name or name.endswith(".py"))


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_everything_that_doctor_may_find_has_a_row() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "src" / "linewitness" / "onboarding").glob("*.py")]
    found = {name for text in sources for name in re.findall(r'Trouble\(\s*"([a-z-]+)"', text)}
    rows = re.findall(r"^\| (`.+?) \| ", _text("docs/doctor.md"), re.MULTILINE)

    assert {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} == found


def test_every_decision_says_what_else_there_was() -> None:
    for page in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(page.name[:4])}. "), page.name
        assert [word for word in ("Decided", "Alternatives", "Why", "Price") if f"**{word}.**" not in text] == []


def test_the_limits_name_the_codes_that_this_version_never_gives() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"never gives the codes? (.+?),\s+although", text, re.DOTALL)
    assert re.findall(r"LW\d+", sentence) == sorted(NOT_BUILT)


def test_the_map_of_the_source_names_modules_that_exist() -> None:
    text = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
    for name in re.findall(
        r"`([\w/*.]+(?:\.py|/))`", " ".join(re.findall(r"^\| [^|]+\| ([^|]+) \|", text, re.MULTILINE))
    ):
        assert list((ROOT / "src" / "linewitness").glob(name)), name
