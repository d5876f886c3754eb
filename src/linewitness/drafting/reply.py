"""What a model answered, as data: proposals of relations, each a Python file with perhaps a slice of inputs, and notes.

Models wrap what they were asked for: in prose, in code fences, in their thoughts. Everything that can be told apart is;
nothing here decides whether a proposal is any good (see :mod:`linewitness.drafting.shape`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from linewitness.errors import UsageError
from linewitness.model import Reason
from linewitness.values import NamedTuple

_FENCE: Final = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE
)
_THOUGHTS: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_CORPUS_NAMED: Final = re.compile(r"corpus\s*=\s*[\"']([A-Za-z0-9_.-]+)[\"']")
_PYTHON: Final = frozenset({"python", "py", "python3"})
_LINES: Final = frozenset({"jsonl", "ndjson", "json", "jsonlines"})
_MOST: Final = 40
_LONGEST_NOTE: Final = 500


class Inputs(NamedTuple):
    """A slice of inputs that came with a proposal: the corpus's name, and its lines as they came."""

    name: str
    lines: tuple[str, ...]


class Proposal(NamedTuple):
    """One relation as it came."""

    python: str
    about: str = ""
    inputs: Inputs | None = None


class Note(NamedTuple):
    """A suggestion for a waiver: text for people, which is never written into the waiver file."""

    path: str
    line: int
    reason: str
    note: str


class Reply(NamedTuple):
    """Everything that was found in an answer."""

    proposals: tuple[Proposal, ...]
    notes: tuple[Note, ...]


def parse(text: str) -> Reply:
    """Take an answer apart. Errors: :class:`UsageError` when it holds neither a relation nor a note."""
    text = _THOUGHTS.sub("", text)
    reply = _object(text) or _fenced(text) or _bare(text)
    if reply is None:
        raise UsageError("the model's answer holds no relation and no waiver note")
    return Reply(reply.proposals[:_MOST], reply.notes[:_MOST])


def _object(text: str) -> Reply | None:
    """The object that was asked for, alone, in a fence, or with prose around it."""
    tries = [text.strip(), *(match[3] for match in _FENCE.finditer(text) if match[2].lower() in {"json", ""})]
    start, end = text.find("{"), text.rfind("}")
    tries.append(text[start : end + 1])
    for each in tries:
        try:
            found = json.loads(each)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and ("relations" in found or "waiver_notes" in found):
            return Reply(tuple(_proposals(found.get("relations"))), tuple(_notes(found.get("waiver_notes"))))
    return None


def _dictionaries(found: Any) -> Iterator[dict[str, Any]]:
    yield from (item for item in (found if isinstance(found, list) else ()) if isinstance(item, dict))


def _proposals(found: Any) -> Iterator[Proposal]:
    for item in _dictionaries(found):
        python, about = item.get("python"), item.get("about")
        if isinstance(python, str) and python.strip():
            yield Proposal(_unfenced(python), about if isinstance(about, str) else "", _inputs(item))


def _unfenced(text: str) -> str:
    inner = _FENCE.fullmatch(text.strip() + "\n") or _FENCE.fullmatch(text.strip())
    return inner[3] if inner else text


def _inputs(item: dict[str, Any]) -> Inputs | None:
    name, lines = item.get("corpus_name"), item.get("corpus_lines")
    if not isinstance(name, str) or not name or not isinstance(lines, list) or not lines:
        return None
    return Inputs(name, tuple(line if isinstance(line, str) else json.dumps(line) for line in lines))


def _notes(found: Any) -> Iterator[Note]:
    for item in _dictionaries(found):
        path, line, reason, note = (item.get(name) for name in ("path", "line", "reason", "note"))
        known = isinstance(reason, str) and reason in {each.value for each in Reason}
        if isinstance(path, str) and type(line) is int and known and isinstance(note, str):
            yield Note(path, line, str(reason), note[:_LONGEST_NOTE])


def _fenced(text: str) -> Reply | None:
    """Each fence with Python is one file; lines of JSON after it are its inputs."""
    proposals: list[Proposal] = []
    for match in _FENCE.finditer(text):
        language, content = match[2].lower(), match[3]
        if language in _PYTHON or (not language and "@relation" in content):
            proposals.append(Proposal(content))
        elif language in _LINES and proposals and proposals[-1].inputs is None:
            named = _CORPUS_NAMED.search(proposals[-1].python)
            lines = tuple(line for line in content.splitlines() if line.strip())
            if named and lines:
                proposals[-1] = proposals[-1]._replace(inputs=Inputs(named[1], lines))
    return Reply(tuple(proposals), ()) if proposals else None


def _bare(text: str) -> Reply | None:
    """A file without anything around it."""
    return Reply((Proposal(text),), ()) if "@relation" in text and "import" in text else None
