"""Source that does not parse: every line that is not certainly blank or a comment owes."""

from __future__ import annotations

from linewitness.languages.naming import obligations
from linewitness.languages.source import Source, read
from linewitness.model import Exempt, Exemption, FileClasses, FileText, Hunk, Kind, LineOptions
from linewitness.patch.hunks import added_lines
from linewitness.patterns import late

_BRANCH = late(rb"\s*(?:async\s+)?(?:if|elif|else|while|for|with|match|case|except|assert)\b|.*\b(?:if|and|or)\b")
_DEFINITION = late(rb"\s*(?:@|(?:async\s+)?(?:def|class)\b)")
_BLANKS = b" \t\f\r"


def classify(text: FileText, options: LineOptions) -> FileClasses:
    """The classes of a file that is not valid Python. Nothing can be proved: only blanks and comments are exempt."""
    source = read(text.head or b"")
    strings = _may_hold_long_strings(source)
    kinds: dict[int, Kind] = {}
    exempt: list[Exempt] = []
    for line in added_lines(text.hunks):
        reason = _exemption(source, line, strings)
        if reason is None:
            kinds[line] = _kind(source.line(line))
        else:
            exempt.append(Exempt(text.change.path, line, reason))
    if options.deletions == "owe" and text.base is not None:
        for hunk in text.hunks:
            replaced = any(line in kinds for line in range(hunk.head_start, hunk.head_start + hunk.head_count))
            line = 0 if replaced else _deletion_point(source, read(text.base), hunk)
            if line:
                kinds.setdefault(line, Kind.DELETION)
    ranges = {line: (line, line) for line in kinds}
    owing = tuple(found for found in exempt if found.line not in kinds)
    return FileClasses(obligations(text, kinds, ranges, lambda _: ""), owing)


def _may_hold_long_strings(source: Source) -> bool:
    return b'"""' in source.data or b"'''" in source.data


def _exemption(source: Source, line: int, strings: bool) -> Exemption | None:
    """Why the line owes nothing: it is blank, or certainly a comment and no part of a string."""
    bare = source.line(line).strip(_BLANKS)
    if not bare:
        return Exemption.BLANK
    if strings or (line > 1 and source.line(line - 1).endswith(b"\\")):
        return None
    return Exemption.COMMENT if bare.startswith(b"#") else None


def _kind(text: bytes) -> Kind:
    if _BRANCH.match(text):
        return Kind.BRANCH
    return Kind.DEFINITION if _DEFINITION.match(text) else Kind.STATEMENT


def _deletion_point(source: Source, base: Source, hunk: Hunk) -> int:
    """The first line that is not blank after a hunk that put no code in place of the removed, else the last one."""
    removed = (base.line(line).strip() for line in range(hunk.base_start, hunk.base_start + hunk.base_count))
    if not any(removed):
        return 0
    after = range(hunk.head_start, source.line_count + 1)
    before = range(min(hunk.head_start, source.line_count + 1) - 1, 0, -1)
    return next((line for line in (*after, *before) if source.line(line).strip()), 0)
