"""``linewitness explain CODE`` and ``linewitness explain PATH:LINE``."""

from __future__ import annotations

import argparse
import re
from typing import Any, Final

from linewitness.console import Console, Screen, wrap
from linewitness.errors import UsageError
from linewitness.findings import CODES, EXIT_MEANING, Code
from linewitness.hints import did_you_mean

NAME: Final = "explain"
HELP: Final = "explain a finding code, or the obligation at PATH:LINE"

_CODE: Final = re.compile(r"[A-Za-z]{2}[0-9]+")
_PLACE: Final = re.compile(r"(?s)(.+):([0-9]{1,9})")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("target", metavar="CODE|PATH:LINE", help="a finding code such as LW101, or a line of the patch")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to show it (default: text)")
    parser.add_argument(
        "--map",
        metavar="FILE",
        help="the map that holds the line (default: the one that the last check stored), - for standard input",
    )


def run(args: argparse.Namespace) -> int:
    """Print the explanation. Errors: :class:`UsageError` for what is neither a code nor a line of the map."""
    console: Console = args.console
    place = _PLACE.fullmatch(args.target)
    if place:
        console.result(_line(args, place[1], int(place[2]), console.screen))
        return 0
    code = _find(args.target)
    console.result(_json(_as_json(code)) if args.format == "json" else code_text(code, console.screen))
    return 0


def _find(target: str) -> Code:
    code = CODES.get(target.upper())
    if code:
        return code
    if _CODE.fullmatch(target):
        raise UsageError(f"there is no finding code {target}{did_you_mean(target, CODES)}")
    raise UsageError(f"`{target}` is neither a finding code such as LW101 nor a place such as src/app.py:12")


def code_text(code: Code, screen: Screen) -> str:
    """A code and its three paragraphs, wrapped for a screen."""
    lines = [screen.paint(f"{code.code} {code.title}", "bold"), f"{code.severity}; exit {_exit(code)}", ""]
    for label, paragraph in (("What", code.what), ("Why", code.why), ("What to do", code.todo)):
        lines += [screen.paint(label, "bold"), *(f"  {line}" for line in wrap(paragraph, screen.width - 2)), ""]
    return "\n".join(lines[:-1]) + "\n"


def _exit(code: Code) -> str:
    when = "" if code.severity == "error" else " if a policy makes it an error"
    return f"{code.exit.value} ({EXIT_MEANING[code.exit]}){when}"


def _as_json(code: Code) -> dict[str, Any]:
    return code._asdict() | {"exit": code.exit.value, "severity": str(code.severity)}


def _json(value: dict[str, Any]) -> bytes:
    import json

    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _line(args: argparse.Namespace, path: str, line: int, screen: Screen) -> str | bytes:
    from linewitness.cli.stored import chosen, read_map
    from linewitness.reports.obligation import as_json, explain_line

    artifact = read_map(chosen(args.map))
    path = path.removeprefix("./")
    return as_json(artifact, path, line) if args.format == "json" else explain_line(artifact, path, line, screen)
