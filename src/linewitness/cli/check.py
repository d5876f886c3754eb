"""``linewitness check``: the whole gate."""

from __future__ import annotations

import argparse
from pathlib import Path

from linewitness.cli.outcome import add_output_options, deliver

NAME = "check"
HELP = "judge a patch: the whole gate"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--base",
        metavar="REF",
        help="target branch or commit; base is its merge base with head (default: the remote's)",
    )
    parser.add_argument("--head", metavar="REF", default="HEAD", help="commit to judge (default: HEAD)")
    parser.add_argument(
        "--working-tree", action="store_true", help="judge uncommitted and untracked files, without touching anything"
    )
    parser.add_argument(
        "--onto", metavar="REF", help="judge what a merge of head into REF would change; a conflict is exit 4"
    )
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="a folder of the repository")
    parser.add_argument(
        "--cov", metavar="FILE", type=Path, action="append", default=[], help="import an export instead of running"
    )
    parser.add_argument("--cov-format", metavar="FORMAT", help="the format of the exports (default: by content)")
    parser.add_argument("--path-map", metavar="FROM=TO", action="append", default=[], help="rewrite paths of exports")
    parser.add_argument("--always-run", action="store_true", help="run the trusted checks even when nothing is owed")
    parser.add_argument(
        "--sandbox",
        choices=("auto", "on", "off"),
        default="auto",
        help="isolate the run: when the machine can (auto), or refuse to run without (on)",
    )
    parser.add_argument(
        "--witnesses", choices=("first", "all"), default="first", help="name one passing test per line, or all"
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Judge, write the map, render, and return the exit status that the map implies."""
    from linewitness.case import Question
    from linewitness.cli.stored import map_of
    from linewitness.gate import CheckRequest, Exports, check
    from linewitness.progress import Progress

    request = CheckRequest(
        root=args.root,
        question=Question(args.base, args.head, args.working_tree, args.onto),
        exports=Exports(tuple(args.cov), args.cov_format, path_maps(args.path_map)),
        today=args.today,
        always_run=args.always_run,
        line_hash=args.line_hash,
        witnesses=args.witnesses,
        sandbox=args.sandbox,
    )
    with Progress(args.console) as progress:
        places: list[str] = []
        artifact = check(request, progress, lambda repository: places.append(map_of(repository)))
    return deliver(artifact, args, "".join(places))


def path_maps(given: list[str]) -> tuple[tuple[str, str], ...]:
    """Split ``FROM=TO``. Errors: UsageError when there is no equals sign."""
    from linewitness.errors import UsageError

    pairs = [text.partition("=") for text in given]
    for old, sign, _ in pairs:
        if not old or not sign:
            raise UsageError("--path-map takes FROM=TO, the folder in the export and the folder in the repository")
    return tuple((old, new) for old, _, new in pairs)
