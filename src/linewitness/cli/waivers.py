"""``linewitness waivers list|check|prune``."""

from __future__ import annotations

import argparse
import datetime as dt
import json
from pathlib import Path
from typing import Any, Final

from linewitness.cli.checkout import Checkout, add_root_option, finding_line, open_checkout
from linewitness.console import Console, safe
from linewitness.errors import UsageError
from linewitness.trust.matching import Presence
from linewitness.trust.waivers import Record, WaiverFile, load, policy_of
from linewitness.values import NamedTuple

NAME = "waivers"
HELP = "list, check or prune waivers"

_STATES: Final = {"LW202": "expired", "LW205": "too long", "LW207": "no owner"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the three actions and what bears on them."""
    actions = (
        "show all records with their state, or only what is wrong, or remove those whose line is not in this checkout"
    )
    parser.add_argument("action", choices=("list", "check", "prune"), help=actions)
    parser.add_argument("--waivers", metavar="FILE", type=Path, help="the waiver file (default: as the settings say)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how list shows records")
    parser.add_argument("--expired", action="store_true", help="prune expired records too")
    parser.add_argument("--dry-run", action="store_true", help="say what prune would remove, and remove nothing")
    parser.add_argument("--today", metavar="DATE", help="judge as of this day (default: today, UTC)")
    add_root_option(parser)


class _Desk(NamedTuple):
    """The waiver file with everything that is needed to judge it."""

    checkout: Checkout
    place: Path
    name: str
    data: bytes | None
    today: dt.date
    file: WaiverFile
    presence: Presence


def run(args: argparse.Namespace) -> int:
    """Show or prune. The status is 1 when a record is invalid, expired, too long-lived or nobody's."""
    desk = _open(args)
    if args.action == "prune":
        return _prune(desk, args)
    if args.action == "check":
        return _check(desk, args.console)
    return _list(desk, args)


def _open(args: argparse.Namespace) -> _Desk:
    from linewitness.gate import day_of_judgement

    today = day_of_judgement(args.today)
    checkout = open_checkout(args.root)
    place = args.waivers.absolute() if args.waivers else checkout.root / checkout.settings.waivers
    name = str(args.waivers) if args.waivers else checkout.settings.waivers
    data = checkout.editable(str(place))
    if args.waivers and data is None:
        raise UsageError("there is no such file", path=name)
    file = load(data, name, policy_of(checkout.settings, today, checkout.read))
    head = checkout.head(tuple(record.waiver for record in file.records))
    return _Desk(checkout, place, name, data, today, file, Presence(head))


# ---------------------------------------------------------------- list and check


def _list(desk: _Desk, args: argparse.Namespace) -> int:
    from linewitness.findings import exit_of

    console: Console = args.console
    if args.format == "json":
        console.result(json.dumps(_as_json(desk), indent=2, sort_keys=True).encode() + b"\n")
        return exit_of(desk.file.findings)
    rows = [_row(desk, record) for record in desk.file.records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        console.result(safe("  ".join(map(str.ljust, row, widths)).rstrip()) + "\n")
    if not rows:
        console.result(safe(f"{desk.name}: no waiver") + "\n")
    for finding in desk.file.findings:
        console.complain(finding_line(finding).rstrip("\n"))
    return exit_of(desk.file.findings)


def _check(desk: _Desk, console: Console) -> int:
    from linewitness.findings import exit_of

    for finding in desk.file.findings:
        console.result(safe(finding_line(finding).rstrip("\n")) + "\n")
    if not desk.file.findings:
        count = len(desk.file.records)
        console.result(
            safe(f"{desk.name}: {count} waiver{'' if count == 1 else 's'}, all of them hold on {desk.today}") + "\n"
        )
    return exit_of(desk.file.findings)


def _row(desk: _Desk, record: Record) -> tuple[str, ...]:
    waiver = record.waiver
    days = (dt.date.fromisoformat(waiver.expires) - desk.today).days
    scope = f"in `{waiver.scope}`" if waiver.scope else ""
    state = _state(record)
    gone = "" if desk.presence.count(waiver) else "not in this checkout"
    identity = waiver.line_hash or f"blob {waiver.blob}"
    return state, f"{waiver.expires} ({days:+d} d)", waiver.reason, waiver.owner, waiver.path, identity, scope, gone


def _state(record: Record) -> str:
    return ", ".join(_STATES[finding.code] for finding in record.findings) or "live"


def _as_json(desk: _Desk) -> dict[str, Any]:
    waivers = [
        {key: value for key, value in record.waiver._asdict().items() if value is not None and key != "at"}
        | {"line": record.waiver.at, "state": _state(record), "lines_in_checkout": desk.presence.count(record.waiver)}
        for record in desk.file.records
    ]
    findings = [finding._asdict() for finding in desk.file.findings]
    return {"file": desk.name, "today": str(desk.today), "waivers": waivers, "findings": findings}


# ---------------------------------------------------------------- prune


def _prune(desk: _Desk, args: argparse.Namespace) -> int:
    from linewitness import atomic
    from linewitness.trust.waiver_edit import prune

    console: Console = args.console
    gone = [record for record in desk.file.records if _is_over(desk, record, expired=args.expired)]
    pruned = prune(desk.data or b"", desk.name, {record.waiver.at for record in gone})
    verb = "would be removed" if args.dry_run else "removed"
    for record in gone:
        console.result(safe(f"{desk.name}:{record.waiver.at}: {verb}: {' '.join(_row(desk, record))}".rstrip()) + "\n")
    if not gone:
        console.result(safe(f"{desk.name}: nothing to remove") + "\n")
    elif not args.dry_run:
        atomic.write_bytes(desk.place, pruned)
        console.note("the waiver file is protected: the change counts once its owners have landed it")
    return 0


def _is_over(desk: _Desk, record: Record, *, expired: bool) -> bool:
    is_expired = any(finding.code == "LW202" for finding in record.findings)
    return not desk.presence.count(record.waiver) or (expired and is_expired)
