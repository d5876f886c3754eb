"""``linewitness schema``: the JSON Schemas of what the tool reads and writes."""

from __future__ import annotations

import argparse
from typing import Final

from linewitness import schemas

NAME: Final = "schema"
HELP: Final = "print a JSON Schema"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("name", choices=tuple(schemas.FILES), help="which schema")


def run(args: argparse.Namespace) -> int:
    """Print the schema that this version was published with."""
    args.console.result(schemas.published(args.name))
    return 0
