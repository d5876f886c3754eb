"""Compare the line rules with what instrumenters and compilers call code, on real files.

Each oracle writes one JSON object a line: ``{"f": path, "lines": [numbers], "within": [numbers]}``. ``lines`` hold
code for certain: a statement begins there (Istanbul), or the line table of a class file names them (``javac -g``).
``within`` are all lines that can belong to code: those of a statement from its first to its last, those of a block.
A line that owes is code by the oracle when it is within, and its statement holds a line that is code for certain. An
oracle that knows blocks, and not where statements begin in them, says ``"blocks": true``: then being within is enough.
Every line of a file is judged as if the patch had added the file.

The header of a new function or class, annotations above it, and brackets and words such as ``else``, owe nothing when
the code of their suite owes anyway. Tools that count such lines are counted apart: they disagree with the convention,
not with the rule.

    python examples/line_accuracy/compare.py < oracle.jsonl

prints how often both agree, and the disagreements by kind: first what the rule says, then what the line is about.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from linewitness.languages import classify
from linewitness.languages.files import language
from linewitness.languages.grammar.looks import Shape, look
from linewitness.languages.grammar.side import Side
from linewitness.languages.tables import table
from linewitness.model import Blob, FileChange, FileText, Hunk, LineOptions, ObjectId, RepoPath

_SHOWN = 3
_HEADERS = (Shape.HEADER, Shape.CLASS)


class Verdict(NamedTuple):
    """One line: what the rule says, what the oracle says, and what the line is about."""

    path: str
    line: int
    rule: str
    is_code: bool
    may_be_code: bool
    about: str
    text: str
    is_settled: bool

    @property
    def outcome(self) -> str:
        """Whether rule and oracle agree: ``agree``, ``settled`` by the code around the line, or ``differ``."""
        if self.rule in ("statement", "branch", "definition", "opaque"):
            return "agree" if self.may_be_code or self.is_code else "differ"
        return "agree" if not self.is_code else "settled" if self.is_settled else "differ"


def judge(path: str, code: Iterable[int], within: Iterable[int], *, blocks: bool = False) -> Iterator[Verdict]:
    """The verdicts on all lines of a file. ``code`` and ``within`` are the lines of the oracle."""
    raw = Path(path).read_bytes()
    count = raw.count(b"\n") + (not raw.endswith(b"\n"))
    change = FileChange(RepoPath(path), RepoPath(path), None, Blob(0o100644, ObjectId("0" * 40)))
    found = classify(FileText(change, None, raw, (Hunk(1, 0, 1, count),)), LineOptions(), lambda _: False)
    rules = {each.line: str(each.kind) for each in found.obligations} | {
        each.line: str(each.reason) for each in found.exempt
    }
    statements = {each.line: each.statement for each in found.obligations}
    known = table(language(path, raw))
    if known is None or 0 in rules:
        return
    side, lines = Side(raw, path, known), raw.split(b"\n")
    certain, possible = frozenset(code), frozenset(within)
    for line in range(1, count + 1):
        seen = look(side, line)
        about = side.outline.units[seen.unit].kind if seen.unit >= 0 else ""
        if line in side.outline.broken:
            about = "beside a parse error"
        text = lines[line - 1].decode("utf-8", "replace").strip()
        heads = seen.shape in _HEADERS or text.startswith("@")
        settled = rules[line] in ("punctuation", "keyword") or (rules[line] == "declaration" and heads)
        first, last = statements.get(line, (line, line))
        may_be = line in possible and (blocks or not certain.isdisjoint(range(first, last + 1)))
        yield Verdict(path, line, rules[line], line in certain, may_be, about, text, settled)


def main() -> None:
    """Read the oracle's lines and print the table."""
    outcomes, files = Counter[str](), 0
    kinds: Counter[tuple[str, str]] = Counter()
    shown: dict[tuple[str, str], list[Verdict]] = {}
    for record in map(json.loads, sys.stdin):
        files += 1
        for verdict in judge(record["f"], record["lines"], record["within"], blocks=record.get("blocks", False)):
            outcomes[verdict.outcome] += 1
            if verdict.outcome == "differ":
                key = (verdict.rule, verdict.about)
                kinds[key] += 1
                shown.setdefault(key, []).append(verdict)
    print(f"{files} files, {outcomes['agree']} lines agree, {outcomes['differ']} do not,", end=" ")
    print(f"{outcomes['settled']} are answered for by the code of their suite")
    for key, number in kinds.most_common():
        print(f"{number:6}  {key[0]:14} {key[1]}")
        for verdict in shown[key][:_SHOWN]:
            print(f"          {verdict.path}:{verdict.line}: {verdict.text[:90]}")


if __name__ == "__main__":
    main()
