"""Reference text, generated from the program: commands, finding codes, settings, exit statuses.

A page asks for it with a line such as ``<!-- generated: commands -->``.
"""

# ruff: noqa: INP001 - Sphinx reads this folder, nobody imports it

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from linewitness import settings
from linewitness.cli import commands
from linewitness.cli.main import command_parser
from linewitness.cli.parser import Parser, twin_of, variable
from linewitness.findings import CODES, EXIT_MEANING
from linewitness.reports import FORMATS

_COMMON: Final = frozenset({"help", "quiet", "verbose", "color"})
_SMALL: Final = ("github", "gitlab", "claude")
# argparse has no public way to ask for these.
_SubCommands = argparse._SubParsersAction  # noqa: SLF001
_PLACE: Final = re.compile(r"<!-- generated: ([a-z-]+) -->")


def fill(_app: object, _page: str, source: list[str]) -> None:
    """Replace every place in a page (Sphinx's ``source-read``). Errors: ``KeyError`` for what nobody generates."""
    source[0] = _PLACE.sub(lambda found: GENERATED[found[1]](), source[0])


def command_reference() -> str:
    """Every command with its usage, arguments and options."""
    return "\n".join(line for command in commands.COMMANDS for line in _command(command))


def _command(command: commands.Command) -> Iterator[str]:
    module = commands.load(command)
    parser = command_parser(command, module)
    yield from (f"## {command.name}", "", f"{_sentence(module.HELP)}.", "")
    yield from _table_of(parser, twins=True)
    about = _about_actions(parser)
    for name, action in parser.subparsers().items():
        yield from (f"### {command.name} {name}", "", f"{_sentence(about[name])}.", "")
        yield from _table_of(action, twins=False)


def _about_actions(parser: Parser) -> dict[str, str]:
    """What each sub-command says of itself."""
    groups = (action for action in parser.actions() if isinstance(action, _SubCommands))
    return {choice.dest: choice.help or "" for group in groups for choice in group._choices_actions}  # noqa: SLF001


def _table_of(parser: Parser, *, twins: bool) -> Iterator[str]:
    rows = list(_rows(parser, twins=twins))
    if rows:
        yield from ("| argument | |", "|---|---|", *rows, "")


def _rows(parser: Parser, *, twins: bool) -> Iterator[str]:
    for action in parser.actions():
        if action.help is argparse.SUPPRESS or action.dest in _COMMON or isinstance(action, _SubCommands):
            continue
        yield f"| {_cell(_names(action))} | {_cell(_help(action, twin_of(action) if twins else ''))} |"


def _names(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"`{value}`"
    shown = f" {value}" if action.nargs != 0 else ""
    return ", ".join(f"`{option}{shown}`" for option in action.option_strings)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _help(action: argparse.Action, twin: str) -> str:
    text = re.sub(r" ?\[env: \w+\]", "", action.help or "").replace("%%", "%")
    variable_text = f" Also as the variable `{variable(twin)}`." if twin else ""
    needed = " Required." if action.required and action.option_strings else ""
    return f"{_sentence(text)}.{needed}{variable_text}"


def _sentence(text: str) -> str:
    """With a capital, unless it starts with a name that is written small."""
    return text if text.startswith(_SMALL) else f"{text[:1].upper()}{text[1:]}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def code_reference() -> str:
    """Every finding code with its paragraphs, under an anchor that is the code."""
    return "\n".join(line for code in CODES for line in _code(code))


def _code(name: str) -> Iterator[str]:
    code = CODES[name]
    yield from (f"({name})=", f"## {name} {code.title}", "")
    when = "" if code.severity == "error" else " when a policy makes it an error"
    yield from (f"*{str(code.severity).capitalize()}; exit {int(code.exit)}{when}.*", "")
    for label, text in (("What", code.what), ("Why", code.why), ("What to do", code.todo)):
        yield from (f"**{label}.** {text}", "")


def settings_reference() -> str:
    """Every setting with its type, default and meaning, from the published schema."""
    schema = settings.schema()
    definitions: Mapping[str, Any] = schema["$defs"]
    top = definitions["Settings"]["properties"]
    parts = [_table(top)]
    parts += [
        "## Suites",
        "",
        "Each `[[suite]]` is one family of trusted checks.",
        "",
        _table(definitions["Suite"]["properties"]),
    ]
    parts += ["## Longest lives of waivers", "", "`max-waiver-days` is a table.", ""]
    parts.append(_table(definitions["WaiverDays"]["properties"]))
    return "\n".join(parts)


def _table(properties: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        f"| `{name}` | {_type(known)} | {_default(known)} | {_cell(_about(known))} |"
        for name, known in properties.items()
    ]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows, ""])


def _about(known: Mapping[str, Any]) -> str:
    return str(known.get("description", ""))


def _type(known: Mapping[str, Any]) -> str:
    words = [word for part in (known, *known.get("anyOf", ())) for word in part.get("enum", ()) if word is not None]
    if words:
        return " or ".join(f"`{word}`" for word in words)
    bounds = [f"{word} {known[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in known]
    kind = str(known.get("type", "table"))
    names = {"array": "list", "object": "table", "integer": "number", "string": "text"}
    return " ".join([names.get(kind, kind), *bounds])


def _default(known: Mapping[str, Any]) -> str:
    if "default" not in known:
        return ""
    value = known["default"]
    empty = value is None or value in ("", [], {})
    return "" if empty else f"`{_toml(value)}`"


def _toml(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    return str(value)


def exit_reference() -> str:
    """Every exit status with its meaning."""
    rows = [f"| {int(status)} | {meaning} |" for status, meaning in EXIT_MEANING.items()]
    return "\n".join(["| status | meaning |", "|---|---|", *rows, ""])


def format_reference() -> str:
    """Every format of reports."""
    return "\n".join(["| format | for |", "|---|---|", *(f"| `{row.name}` | {row.help} |" for row in FORMATS), ""])


GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "commands": command_reference,
    "codes": code_reference,
    "settings": settings_reference,
    "exit-statuses": exit_reference,
    "formats": format_reference,
}
"""What pages may ask for."""
