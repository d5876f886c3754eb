"""``linewitness completions SHELL``: a script for the shell, made from the commands themselves."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from linewitness.cli import commands
from linewitness.errors import UsageError
from linewitness.values import NamedTuple

NAME: Final = "completions"
HELP: Final = "print completions for a shell"


class Option(NamedTuple):
    """One option: its spellings, whether a value follows, the values when they are a closed set, and its help."""

    names: tuple[str, ...]
    takes_value: bool
    choices: tuple[str, ...]
    help: str


class Entry(NamedTuple):
    """One command: its options, and the words that may follow it (sub-commands, or choices of its first argument)."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="for which shell")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    args.console.result(SHELLS[args.shell](tuple(entries())))
    return 0


def entries() -> Iterator[Entry]:
    """Every command of this installation."""
    from linewitness.cli.main import command_parser

    for command in commands.COMMANDS:
        try:
            module = commands.load(command)
        except UsageError:
            continue  # a command that cannot be run needs no completion
        parser = command_parser(command, module)
        options, words = [], list(parser.subparsers())
        inner = [action for sub in parser.subparsers().values() for action in sub.actions()]
        for action in (*parser.actions(), *inner):
            choices = tuple(str(choice) for choice in action.choices or ())
            if action.option_strings:
                options.append(Option(tuple(action.option_strings), action.nargs != 0, choices, _help(action)))
            elif not words:
                words += choices
        yield Entry(command.name, command.help, tuple(dict.fromkeys(options)), tuple(words))


def _help(action: argparse.Action) -> str:
    return "" if action.help in {None, argparse.SUPPRESS} else str(action.help).partition(" [env:")[0]


# ---------------------------------------------------------------- the shells


def bash(table: tuple[Entry, ...]) -> str:
    """A completion function for bash; file names complete wherever nothing else does."""
    names = " ".join(entry.name for entry in table)
    options = "".join(
        f"    {entry.name}) words={_quote(' '.join((*_names(entry), *entry.words)))} ;;\n" for entry in table
    )
    values = "".join(
        f"    {_quote(f'{entry.name} {name}')}) words={_quote(' '.join(option.choices))} ;;\n"
        for entry in table
        for option in entry.options
        if option.takes_value
        for name in option.names
    )
    return f"""\
# bash completion for linewitness; load it with: source <(linewitness completions bash)
_linewitness() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command="" word words
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) command="$word"; break ;; esac
  done
  if [ -z "$command" ]; then
    words={_quote(f"{names} --help --version")}
  else
    case "$command" in
{options}    *) return ;;
    esac
    case "$command $previous" in
{values}    esac
  fi
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
}}
complete -o default -o bashdefault -F _linewitness linewitness
"""


def zsh(table: tuple[Entry, ...]) -> str:
    """A completion function for zsh, to be put as ``_linewitness`` on the ``fpath`` or to be sourced."""
    described = "\n".join(f"    {_quote(f'{entry.name}:{_colons(entry.help)}')}" for entry in table)
    cases = "".join(f"    {entry.name})\n      _arguments {_zsh_arguments(entry)} ;;\n" for entry in table)
    return f"""\
#compdef linewitness
# zsh completion for linewitness; load it with: source <(linewitness completions zsh)
_linewitness() {{
  local -a commands
  commands=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT -= 1 ))
  case "$command" in
{cases}    *) _files ;;
  esac
}}
compdef _linewitness linewitness
"""


def _zsh_arguments(entry: Entry) -> str:
    specs = []
    for option in entry.options:
        values = f"({' '.join(option.choices)})" if option.choices else "_files"
        text = option.help.replace("[", "(").replace("]", ")")
        specs += [
            f"{name}[{_colons(text)}]" + (f":value:{values}" if option.takes_value else "") for name in option.names
        ]
    words = f"({' '.join(entry.words)})" if entry.words else "_files"
    return " ".join(_quote(spec) for spec in (*specs, f"*:argument:{words}"))


def fish(table: tuple[Entry, ...]) -> str:
    """Completions for fish."""
    lines = ["# fish completion for linewitness; load it with: linewitness completions fish | source"]
    for entry in table:
        lines.append(f"complete -c linewitness -n __fish_use_subcommand -a {entry.name} -d {_fish(entry.help)}")
        seen = f"complete -c linewitness -n '__fish_seen_subcommand_from {entry.name}'"
        lines += [f"{seen} {_fish_option(option)}" for option in entry.options]
        if entry.words:
            lines.append(f"{seen} -f -a {_fish(' '.join(entry.words))}")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = f" -x -a {_fish(' '.join(option.choices))}" if option.choices else " -r" if option.takes_value else ""
    return f"{names}{value} -d {_fish(option.help)}"


def _names(entry: Entry) -> Iterator[str]:
    for option in entry.options:
        yield from option.names


def _colons(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _quote(text: str) -> str:
    """A word for POSIX shells, always in single quotes."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _fish(text: str) -> str:
    """A word for fish, where a backslash escapes inside single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: Final[Mapping[str, Callable[[tuple[Entry, ...]], str]]] = {"bash": bash, "zsh": zsh, "fish": fish}
