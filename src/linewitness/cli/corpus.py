"""``linewitness corpus freeze|verify [DIR]``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from linewitness.cli.checkout import Checkout, add_root_option, finding_line, open_checkout
from linewitness.console import Console, safe
from linewitness.errors import UsageError

NAME = "corpus"
HELP = "freeze a corpus, or verify its manifest"

_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the two actions and the folders they act on."""
    parser.add_argument("action", choices=("freeze", "verify"), help="write MANIFEST.sha256, or compare with it")
    folders = "a corpus (default: every corpus below the relations)"
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="*", help=folders)
    parser.add_argument("--allow-none", action="store_true", help="verify: no corpus at all is no error, for hooks")
    add_root_option(parser)


def run(args: argparse.Namespace) -> int:
    """Freeze or verify; the status is 5 when a corpus is not what its manifest says."""
    checkout = open_checkout(args.root)
    freeze = args.action == "freeze"
    folders = list(_folders(args.folders, checkout, allow_none=args.allow_none and not freeze))
    console: Console = args.console
    return _freeze(folders, console) if freeze else _verify(folders, console)


def _folders(given: list[Path], checkout: Checkout, *, allow_none: bool) -> Iterator[tuple[Path, str]]:
    from linewitness.trust.corpus import folders_on_disk

    relations = checkout.settings.relations
    names = folders_on_disk(checkout.root, relations) if not given else ()
    if not given and not names and not allow_none:
        raise UsageError(
            f"there is no corpus below {', '.join(relations)}: name its folder, `linewitness corpus freeze DIR`"
        )
    yield from ((folder, str(folder)) for folder in given)
    yield from ((checkout.root / name, name) for name in names)


def _freeze(folders: list[tuple[Path, str]], console: Console) -> int:
    from linewitness.trust.corpus import freeze, verify_folder

    for folder, name in folders:
        frozen = freeze(folder)
        count = f"{frozen.files} file{'' if frozen.files == 1 else 's'}"
        console.result(safe(f"{name}: {count} frozen{'' if frozen.is_news else ', nothing changed'}") + "\n")
        for what, names in (("added", frozen.added), ("changed", frozen.changed), ("removed", frozen.removed)):
            for entry in names[:_SHOWN]:
                console.result(safe(f"  {what} {entry}") + "\n")
            if len(names) > _SHOWN:
                console.result(f"  {what} {len(names) - _SHOWN} more\n")
        for finding in verify_folder(folder, name):
            console.note(finding_line(finding).removesuffix("\n"))
    console.note("corpora and their manifests are protected: they count once their owners have landed them")
    return 0


def _verify(folders: list[tuple[Path, str]], console: Console) -> int:
    from linewitness.findings import exit_of
    from linewitness.trust.corpus import verify_folder

    findings = [finding for folder, name in folders for finding in verify_folder(folder, name)]
    for finding in findings:
        console.result(safe(finding_line(finding).removesuffix("\n")) + "\n")
    if not folders:
        console.result("no corpus\n")
    elif not findings:
        console.result(safe(f"{', '.join(name for _, name in folders)}: as the manifest says") + "\n")
    return exit_of(findings)
