"""``linewitness waive PATH:LINE --reason R --owner O``: record a waiver for one line, hash and scope filled in."""

from __future__ import annotations

import argparse
import datetime as dt
import re
from typing import Final

from linewitness.cli.checkout import Checkout, add_root_option, open_checkout
from linewitness.console import Console, safe
from linewitness.errors import UsageError
from linewitness.model import (
    Blob,
    Exempt,
    FileChange,
    FileClasses,
    FileText,
    Hunk,
    Kind,
    Obligation,
    Reason,
    RepoPath,
    Waiver,
)

NAME = "waive"
HELP = "record a waiver for one line"

_PLACE: Final = re.compile(r"(?s)(.+):([0-9]{1,9})")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the place, the reason, the owner and the rest of the record."""
    parser.add_argument("place", metavar="PATH[:LINE]", help="the line; the path alone for a file judged as a whole")
    parser.add_argument("--reason", required=True, choices=[reason.value for reason in Reason], help="one of the four")
    parser.add_argument("--owner", required=True, help="who answers for the line")
    parser.add_argument("--expires", metavar="DATE", help="the last day (default: the furthest that the reason allows)")
    parser.add_argument("--note", default="", metavar="TEXT", help="why, for the next reader")
    parser.add_argument("--dry-run", action="store_true", help="print the file as it would be, and write nothing")
    parser.add_argument("--today", metavar="DATE", help="count from this day (default: today, UTC)")
    add_root_option(parser)


def run(args: argparse.Namespace) -> int:
    """Append the record. Errors: :class:`UsageError` for a line that owes nothing and for what no rule allows."""
    from linewitness import atomic
    from linewitness.gate import day_of_judgement
    from linewitness.trust.waiver_edit import append

    console: Console = args.console
    checkout = open_checkout(args.root)
    obligation, equals = _obligation(args.place, checkout)
    waiver = _waiver(args, obligation, equals, _last_day(args, checkout, day_of_judgement(args.today)))
    file = checkout.settings.waivers
    _refuse(waiver, obligation, checkout, day_of_judgement(args.today))
    data = append(checkout.editable(file), file, waiver)
    if args.dry_run:
        console.result(data)
        return 0
    (checkout.root / file).parent.mkdir(parents=True, exist_ok=True)
    atomic.write_bytes(checkout.root / file, data)
    console.result(safe(_told(waiver, obligation, file)) + "\n")
    console.note(f"{file} is protected: the waiver counts once its owners have landed it on the target branch")
    return 0


def _told(waiver: Waiver, obligation: Obligation, file: str) -> str:
    place = f"{waiver.path}:{obligation.line}" if obligation.line else waiver.path
    line = f" (`{obligation.content.strip()}`)" if obligation.line else ""
    return f"{file}: {place}{line} is waived as {waiver.reason} until {waiver.expires}, owner {waiver.owner}"


# ---------------------------------------------------------------- the record


def _waiver(args: argparse.Namespace, obligation: Obligation, equals: int, expires: dt.date) -> Waiver:
    """The record for one obligation, narrow enough to mean nothing else: ``equals`` lines of its scope are the same."""
    opaque = obligation.kind is Kind.OPAQUE
    return Waiver(
        path=obligation.path,
        line_hash=None if opaque else obligation.hash,
        blob=obligation.hash if opaque else None,
        scope=None if opaque else obligation.scope,
        reason=Reason(args.reason),
        owner=args.owner,
        expires=str(expires),
        note=args.note,
        at=0,
        occurrence=obligation.occurrence if equals > 1 and not opaque else None,
    )


def _last_day(args: argparse.Namespace, checkout: Checkout, today: dt.date) -> dt.date:
    from linewitness.trust.waivers import iso_day, policy_of

    if args.expires is None:
        return policy_of(checkout.settings, today, checkout.read).last_day(Reason(args.reason))
    day = iso_day(args.expires)
    if day is None:
        raise UsageError(f"--expires takes a date such as 2026-12-16, not {args.expires!r}")
    return day


def _refuse(waiver: Waiver, obligation: Obligation, checkout: Checkout, today: dt.date) -> None:
    """Refuse now what the gate would refuse later."""
    from linewitness.policy import decide
    from linewitness.trust.waivers import objections, policy_of

    file = checkout.settings.waivers
    code = decide(obligation.kind, hit=False, waiver=waiver.reason).code
    if code:
        message = f"this line is a branch, which {waiver.reason} does not excuse: only codegen and vendor do"
        raise UsageError(message, code=code, path=waiver.path, line=obligation.line)
    for finding in objections(waiver, file, policy_of(checkout.settings, today, checkout.read)):
        raise UsageError(finding.message, code=finding.code)


# ---------------------------------------------------------------- the line


def _obligation(place: str, checkout: Checkout) -> tuple[Obligation, int]:
    """What the named line would owe if its file were new, and how many lines of its scope are equal to it."""
    named = _PLACE.fullmatch(place)
    path = checkout.path(named[1] if named else place)
    line = int(named[2]) if named else 0
    entry = checkout.entry(path)
    if entry is None:
        raise UsageError("there is no such file in the checkout", path=path)
    classes = _classify(path, *entry, checkout)
    found = next((owed for owed in classes.obligations if owed.line == line or owed.kind is Kind.OPAQUE), None)
    if found is None:
        raise UsageError(_why_nothing(classes.exempt, line, entry[1]), path=path, line=line)
    if found.kind is Kind.OPAQUE and line:
        raise UsageError(f"{found.note} Name the path without a line", path=path)
    same = (owed for owed in classes.obligations if (owed.hash, owed.scope) == (found.hash, found.scope))
    return found, sum(1 for _ in same)


def _classify(path: RepoPath, blob: Blob, data: bytes, checkout: Checkout) -> FileClasses:
    from linewitness import languages
    from linewitness.obligations import Jurisdiction
    from linewitness.trust.protected import Protection

    jurisdiction = Jurisdiction(checkout.settings, Protection(checkout.settings).is_protected)
    if (reason := jurisdiction.exemption(path)) is not None:
        return FileClasses((), (Exempt(path, 0, reason),))
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    hunks = (Hunk(1, 0, 1, lines),) if data and blob.is_regular else ()
    text = FileText(FileChange(path, path, None, blob), None, data, hunks)
    return languages.classify(text, jurisdiction.options, jurisdiction.is_inert)


def _why_nothing(exempt: tuple[Exempt, ...], line: int, data: bytes) -> str:
    total = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    if not line and not any(one.line == 0 for one in exempt):
        return "name the line, as PATH:LINE"
    if line > total:
        return f"the file has {total} lines"
    reason = next((one.reason for one in exempt if one.line in {0, line}), "no code of its own")
    return f"there is nothing to waive: this owes no witness ({reason})"
