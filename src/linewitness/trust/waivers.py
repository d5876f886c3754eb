"""The waiver file: dated, owned, reasoned records, each of which discharges one line without a witness.

Reading is strict, because a record that can be read in two ways lets a line pass that nobody meant to let pass. Types
are never guessed: a hash that happens to be all digits must be quoted, a date is a date only in the form
``2026-12-16``. A file that is missing or empty has no waivers. The longest life of a record is measured from the day
of the judgement: a record knows only its last day, and one further off than its reason allows is refused, whenever it
was written.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from linewitness.hints import did_you_mean
from linewitness.model import Finding, Reason, RepoPath, Waiver
from linewitness.settings import Settings, WaiverDays
from linewitness.trust import codeowners, strict_yaml
from linewitness.trust.strict_yaml import Fields, Items, Node, Refused, Scalar
from linewitness.values import NamedTuple

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HASH: Final = re.compile(r"[0-9a-f]{16}|[0-9a-f]{12}")
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_COUNT: Final = re.compile(r"[1-9][0-9]{0,8}")
# What one YAML reader or another takes for null, a truth value, a number, a date or a time (the types of YAML 1.1).
_GUESSED: Final = re.compile(
    r"~|null|true|false|yes|no|on|off|y|n|[-+]?\.?(?:inf|nan)|0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+"
    r"|[-+.]?[0-9][0-9_,.:]*(?:e[-+]?[0-9]+)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t ][0-9:.z+ -]*)?",
    re.IGNORECASE,
)


class WaiverPolicy(NamedTuple):
    """What decides whether a well-formed record holds: the day (UTC), who may own one, and how long it may live.

    Without ``owners`` anybody may own a waiver; with them, only they and the code owners of the waived path may.
    """

    today: dt.date
    owners: tuple[str, ...] = ()
    days: WaiverDays = WaiverDays()
    code_owners: codeowners.CodeOwners | None = None

    def longest(self, reason: Reason) -> int:
        """The longest life, in days after ``today``, of a waiver with this reason."""
        limits: Mapping[Reason, int] = {
            Reason.CODEGEN: self.days.codegen,
            Reason.VENDOR: self.days.vendor,
            Reason.PURE_REFACTOR: self.days.pure_refactor,
            Reason.EXPERIMENT: self.days.experiment,
        }
        return limits[reason]

    def last_day(self, reason: Reason) -> dt.date:
        """The furthest date that a waiver with this reason may have today."""
        return self.today + dt.timedelta(days=self.longest(reason))


class Record(NamedTuple):
    """One well-formed record and what the policy holds against it; a record without findings is live."""

    waiver: Waiver
    findings: tuple[Finding, ...]


class WaiverFile(NamedTuple):
    """What a waiver file says: its well-formed records in file order, and all findings, by line."""

    records: tuple[Record, ...]
    findings: tuple[Finding, ...]

    @property
    def waivers(self) -> tuple[Waiver, ...]:
        """The live waivers: only these discharge anything."""
        return tuple(record.waiver for record in self.records if not record.findings)


def policy_of(settings: Settings, today: dt.date, read: Callable[[str], bytes | None]) -> WaiverPolicy:
    """The policy of a tree: its settings and its CODEOWNERS, which ``read`` finds (bytes at a path, or ``None``)."""
    owners = codeowners.find(read) if settings.owners else None
    return WaiverPolicy(today, settings.owners, settings.max_waiver_days, owners)


def load(data: bytes | None, path: str, policy: WaiverPolicy) -> WaiverFile:
    """Read the waiver file at ``path``; ``None`` stands for no file. Never raises: whatever is wrong is a finding.

    ``LW201`` for what is not a valid record, ``LW202`` expired, ``LW205`` too long a life, ``LW207`` unknown owner.
    Each closes the gate, whether or not a line needs the record.
    """
    waivers, findings = parse(data, path)
    records = tuple(Record(waiver, tuple(objections(waiver, path, policy))) for waiver in waivers)
    against = (finding for record in records for finding in record.findings)
    return WaiverFile(records, tuple(sorted((*findings, *against), key=_by_line)))


def parse(data: bytes | None, path: str) -> tuple[tuple[Waiver, ...], tuple[Finding, ...]]:
    """The well-formed records of a waiver file, in file order, and an ``LW201`` for everything else in it."""
    if not data:
        return (), ()
    try:
        nodes = _records(strict_yaml.parse(strict_yaml.decode(data)))
    except Refused as trouble:
        return (), (_invalid(path, trouble),)
    waivers: dict[tuple[str | int | None, ...], Waiver] = {}
    findings: list[Finding] = []
    for node in nodes:
        waiver, troubles = _waiver(node)
        if waiver and (twin := waivers.setdefault(identity(waiver), waiver)) is not waiver:
            troubles = [_at(node, f"the record on line {twin.at} waives the same line already")]
        findings += (_invalid(path, trouble) for trouble in troubles)
    return tuple(waivers.values()), tuple(sorted(findings, key=_by_line))


def iso_day(text: str) -> dt.date | None:
    """The day that ``YYYY-MM-DD`` names, or ``None``; the other forms of ISO 8601 (weeks, no hyphens) are not taken."""
    try:
        return dt.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def is_guessed(text: str) -> bool:
    """Whether some reader of YAML takes this text, unquoted, for something else than text."""
    return _GUESSED.fullmatch(text) is not None


def identity(waiver: Waiver) -> tuple[str | int | None, ...]:
    """What a waiver matches on. Two records with one identity are one record too many."""
    return waiver.path, waiver.line_hash, waiver.blob, waiver.scope, waiver.occurrence


# ---------------------------------------------------------------- form


def _records(root: Node | None) -> Iterable[Node]:
    """The nodes of the records. The root holds the key ``waivers`` and nothing else; its value may be left empty."""
    if root is None or _is_null(root):
        return ()
    if not isinstance(root, Fields):
        raise _at(root, "the file has to be a mapping with the key `waivers`")
    for key, _ in root.items:
        if key.text != "waivers":
            raise _at(key, f"unknown key `{key.text}`; only `waivers` is known here")
    _, value = root.items[0] if root.items else (None, None)
    if value is None or _is_null(value):
        return ()
    if not isinstance(value, Items):
        raise _at(value, "`waivers` has to be a list of records")
    return value.items


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and node.text in {"", "~", "null"}


def _waiver(node: Node) -> tuple[Waiver | None, list[Refused]]:
    """The waiver of one record, or everything that is wrong with it."""
    if not isinstance(node, Fields):
        return None, [_at(node, "a record has to be a mapping with path, line_hash, reason, owner and expires")]
    values: dict[str, str] = {}
    troubles: list[Refused] = []
    for key, value in node.items:
        try:
            values[key.text] = _value(key, value)
        except Refused as trouble:
            troubles.append(trouble)
    given = {key.text for key, _ in node.items}
    troubles += (_at(node, problem) for problem in _incomplete(given))
    if troubles:
        return None, troubles
    occurrence = values.get("occurrence")
    waiver = Waiver(
        path=RepoPath(values["path"]),
        line_hash=values.get("line_hash"),
        blob=values.get("blob"),
        scope=values.get("scope"),
        reason=Reason(values["reason"]),
        owner=values["owner"],
        expires=values["expires"],
        note=values.get("note", ""),
        at=node.place.line,
        occurrence=int(occurrence) if occurrence else None,
    )
    return waiver, []


def _incomplete(given: set[str]) -> Iterator[str]:
    missing = [f"`{key}`" for key in ("path", "reason", "owner", "expires") if key not in given]
    if missing:
        yield f"the record lacks {', '.join(missing)}"
    if ("line_hash" in given) == ("blob" in given):
        yield "the record needs either `line_hash` or, for an opaque file, `blob`" + (", not both" * ("blob" in given))
    if "blob" in given and given & {"scope", "occurrence"}:
        yield "`scope` and `occurrence` tell lines apart; a record with `blob` is about a whole file"


def _value(key: Scalar, value: Node) -> str:
    """The value of one key as text. Errors: :class:`Refused` with its place."""
    check = _CHECKS.get(key.text)
    if check is None:
        raise _at(key, f"unknown key `{key.text}`{did_you_mean(key.text, _CHECKS)}")
    if not isinstance(value, Scalar):
        raise _at(value, f"`{key.text}` has to be text")
    text = value.text
    if value.plain and not text:
        raise _at(key, f'`{key.text}` is empty; an empty text is written `""`')
    if value.plain and key.text not in _UNGUESSED and is_guessed(text):
        guess = "a number, a date or a word like null or yes"
        raise _at(value, f'`{key.text}` is {guess} to some readers of YAML; quote it: `{key.text}: "{text}"`')
    problem = check(text)
    if problem:
        raise _at(value, f"`{key.text}` {problem}")
    return text


def _check_path(text: str) -> str:
    if text.startswith("/") or "\0" in text or set(text.split("/")) & {"", ".", ".."}:
        return (
            f"is {text!r}, which is no path from the root of the repository, without `.`, `..` and a slash at its ends"
        )
    return ""


def _check_hash(text: str) -> str:
    if _HASH.fullmatch(text):
        return ""
    return f"is {text!r}; 16 lower-case hex digits of SHA-256 are wanted, or the 12 of SHA-1 that early records have"


def _check_blob(text: str) -> str:
    return "" if _OBJECT_ID.fullmatch(text) else f"is {text!r}; the full object id of the file is wanted, in lower case"


def _check_scope(text: str) -> str:
    if all(name.isprintable() and name and not name.isspace() for name in text.split(".")) or not text:
        return ""
    return f'is {text!r}; the dotted name of the enclosing definition is wanted, "" for the module level'


def _check_reason(text: str) -> str:
    codes = [reason.value for reason in Reason]
    return "" if text in codes else f"is {text!r}; {', '.join(codes)} are the only reasons{did_you_mean(text, codes)}"


def _check_owner(text: str) -> str:
    return "" if text and text == text.strip() and text.isprintable() else f"is {text!r}, which names nobody"


def _check_expires(text: str) -> str:
    if not _DATE.fullmatch(text):
        return f"is {text!r}; the last day is wanted as YYYY-MM-DD"
    return "" if iso_day(text) else f"is {text!r}, a day that no calendar has"


def _check_occurrence(text: str) -> str:
    return "" if _COUNT.fullmatch(text) else f"is {text!r}; a number from 1 is wanted"


def _check_note(text: str) -> str:
    return "" if all(char.isprintable() or char in "\n\t" for char in text) else "holds characters that cannot be seen"


_CHECKS: Final[Mapping[str, Callable[[str], str]]] = {
    "path": _check_path,
    "line_hash": _check_hash,
    "blob": _check_blob,
    "scope": _check_scope,
    "occurrence": _check_occurrence,
    "reason": _check_reason,
    "owner": _check_owner,
    "expires": _check_expires,
    "note": _check_note,
}
# Their checks admit one reading only, whatever a reader of YAML makes of the type.
_UNGUESSED: Final = frozenset({"expires", "occurrence", "reason"})


# ---------------------------------------------------------------- policy


def objections(waiver: Waiver, path: str, policy: WaiverPolicy) -> Iterator[Finding]:
    """What the policy holds against a well-formed record of the waiver file at ``path``; nothing when it is live."""
    expires = dt.date.fromisoformat(waiver.expires)
    what = f"the waiver for {waiver.path}"
    if expires < policy.today:
        text = f"{what} expired: its last day was {waiver.expires}, today is {policy.today} (UTC)"
        yield Finding("LW202", path, waiver.at, f"{text}; write the check, or have {waiver.owner} renew it")
    elif expires > (last := policy.last_day(waiver.reason)):
        text = (
            f"{what} lives until {waiver.expires}, and {waiver.reason.value} may live {policy.longest(waiver.reason)}"
        )
        yield Finding("LW205", path, waiver.at, f"{text} days: choose {last} or an earlier day")
    if policy.owners and waiver.owner not in policy.owners and not _owns(waiver, policy):
        text = (
            f"{what} is owned by {waiver.owner!r}, who is neither among the `owners` of the settings nor a code owner"
        )
        yield Finding("LW207", path, waiver.at, f"{text} of the path{did_you_mean(waiver.owner, policy.owners)}")


def _owns(waiver: Waiver, policy: WaiverPolicy) -> bool:
    return policy.code_owners is not None and policy.code_owners.is_owner(waiver.owner, waiver.path)


def _invalid(path: str, trouble: Refused) -> Finding:
    column = f"column {trouble.column}: " if trouble.column else ""
    return Finding("LW201", path, trouble.line, column + trouble.message)


def _by_line(finding: Finding) -> tuple[int, str]:
    return finding.line, finding.code


def _at(node: Node, message: str) -> Refused:
    return Refused(message, node.place.line, node.place.column)
