"""From the bytes of a settings file to checked settings, or to one message with file, line and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

import msgspec
import msgspec.structs

from linewitness.errors import UsageError
from linewitness.hints import did_you_mean
from linewitness.settings import PYPROJECT, SETTINGS_FILE, Settings, Suite, WaiverDays
from linewitness.settings_rules import Complaint, complaints
from linewitness.toml_lines import KeyPath, key_lines, line_of
from linewitness.values import NamedTuple

_LARGEST: Final = 1 << 20
_LONGEST_SHOWN: Final = 80
_PLACE: Final = re.compile(r"(?s)(.*) - at `\$(\S*)`")
_STEP: Final = re.compile(r"\.([A-Za-z0-9_-]+)|\[(\d+)\]")
_TOML_NAMES: Final = {
    "`str`": "a string",
    "`str | null`": "a string",
    "`int`": "an integer",
    "`float`": "a float",
    "`bool`": "a boolean",
    "`date`": "a date",
    "`time`": "a time",
    "`datetime`": "a date and time",
    "`array`": "an array",
    "`object`": "a table",
}
_POSITION: Final = re.compile(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)")


def parse(own: bytes | None, project: bytes | None) -> Document | None:
    """Find the settings in the bytes of ``linewitness.toml`` and ``pyproject.toml``; ``None`` when neither holds any.

    Errors: :class:`UsageError` when both do, or when a file that is there cannot be read as TOML.
    """
    shared = None if project is None else _Toml.parse(PYPROJECT, project).table("tool", "linewitness")
    if own is None:
        return shared
    if shared is not None:
        raise UsageError(
            f"[tool.linewitness] and a {SETTINGS_FILE} are both there, and only one may be: "
            "move the settings into one of them",
            path=PYPROJECT,
            line=shared.line(()),
        )
    return _Toml.parse(SETTINGS_FILE, own).table()


class Document(NamedTuple):
    """A table of raw settings inside a TOML file. ``prefix`` is where in the file the table stands."""

    origin: str
    text: str
    prefix: KeyPath
    raw: dict[str, Any]

    def line(self, path: KeyPath) -> int:
        """The line of the setting at ``path``, which is relative to the table."""
        return line_of(key_lines(self.text), self.prefix + path)

    def convert(self) -> Settings:
        """Check the table. Errors: :class:`UsageError` for the first thing that is wrong."""
        self._refuse_unknown_keys()
        try:
            settings = msgspec.convert(self.raw, Settings)
        except msgspec.ValidationError as error:
            raise self._mistake(error) from error
        for complaint in complaints(settings, self.raw):
            raise self._error(complaint)
        return settings

    def _error(self, complaint: Complaint) -> UsageError:
        place = _shown(complaint.path)
        text = f"{place}: {complaint.text}" if place else complaint.text
        return UsageError(text, path=self.origin, line=self.line(complaint.path))

    def _mistake(self, error: msgspec.ValidationError) -> UsageError:
        """Turn "Expected `int`, got `str` - at `$.suite[0].timeout`" into the place that it names."""
        found = _PLACE.fullmatch(str(error))
        if found is None:
            return self._error(Complaint((), str(error)))
        path = tuple(name or int(index) for name, index in _STEP.findall(found[2]))
        choices = _choices(path)
        if choices and found[1].startswith("Invalid enum value"):
            allowed = ", ".join(f"`{choice}`" for choice in choices)
            wrong = str(self._value(path))
            return self._error(Complaint(path, f"must be one of {allowed}{did_you_mean(wrong, choices)}"))
        return self._error(Complaint(path, _plain(found[1])))

    def _value(self, path: KeyPath) -> object:
        found: Any = self.raw
        for step in path:
            found = found[step]
        return found

    def _refuse_unknown_keys(self) -> None:
        self._refuse_unknown_in((), self.raw, Settings)
        days = self.raw.get("max-waiver-days")
        if isinstance(days, dict):
            self._refuse_unknown_in(("max-waiver-days",), days, WaiverDays)
        suites = self.raw.get("suite")
        for index, suite in enumerate(suites if isinstance(suites, list) else ()):
            if isinstance(suite, dict):
                self._refuse_unknown_in(("suite", index), suite, Suite)

    def _refuse_unknown_in(self, path: KeyPath, table: Mapping[str, Any], kind: type[msgspec.Struct]) -> None:
        known = kind.__struct_encode_fields__
        for key in table:
            if key not in known:
                raise self._error(Complaint((*path, key), _unknown(key, path, known)))


class _Toml(NamedTuple):
    origin: str
    text: str
    data: dict[str, Any]

    @classmethod
    def parse(cls, origin: str, data: bytes) -> _Toml:
        if len(data) > _LARGEST:
            raise UsageError("is larger than 1 MiB, which no settings file needs", path=origin)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise UsageError("is not UTF-8", path=origin, line=line) from error
        if text.startswith("\ufeff"):
            raise UsageError(
                "starts with a byte order mark, which TOML does not allow: save it without", path=origin, line=1
            )
        try:
            return cls(origin, text, tomllib.loads(text))
        except RecursionError as error:
            raise UsageError("is nested too deeply", path=origin) from error
        except ValueError as error:
            # TOMLDecodeError, or a plain ValueError for numbers and dates that Python cannot hold.
            raise _syntax_error(origin, text, error) from error

    def table(self, *names: str) -> Document | None:
        """The table at ``names``, or ``None`` when there is none."""
        found: Any = self.data
        for name in names:
            if not isinstance(found, dict) or name not in found:
                return None
            found = found[name]
        if not isinstance(found, dict):
            lines = key_lines(self.text)
            raise UsageError(f"{'.'.join(names)} must be a table", path=self.origin, line=line_of(lines, names))
        return Document(self.origin, self.text, names, found)


def _syntax_error(origin: str, text: str, error: ValueError) -> UsageError:
    found = _POSITION.fullmatch(str(error))
    if found is None:
        return UsageError(f"is not valid TOML: {error}", path=origin)
    line = int(found[2]) if found[2] else text.rstrip("\n").count("\n") + 1
    return UsageError(f"is not valid TOML: {found[1]}", path=origin, line=line)


def _unknown(key: str, path: KeyPath, known: Collection[str]) -> str:
    if path and key in Settings.__struct_encode_fields__:
        return "is a setting of its own: move it to the top, before the first table header"
    return f"unknown key{did_you_mean(key, known)}"


def _choices(path: KeyPath) -> tuple[str, ...]:
    """What the setting at ``path`` may be, when that is a closed set of words."""
    kind = Suite if path[:1] == ("suite",) else Settings
    for known in msgspec.structs.fields(kind):
        if known.encode_name == path[-1]:
            return tuple(word for part in _parts(known.type) for word in get_args(part) if isinstance(word, str))
    return ()


def _parts(annotation: Any) -> Iterator[Any]:
    """The literals inside an annotation, whatever is wrapped around them."""
    if get_origin(annotation) is Literal:
        yield annotation
        return
    for part in get_args(annotation):
        yield from _parts(part)


def _plain(message: str) -> str:
    """The decoder's words in the user's: TOML has strings, integers and arrays."""
    for name, plain in _TOML_NAMES.items():
        message = message.replace(name, plain)
    return message[:1].lower() + message[1:]


def _shown(path: KeyPath) -> str:
    """``("suite", 0, "timeout")`` as ``suite[0].timeout``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    text = text.removeprefix(".")
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
