"""What counts by line prove about tokens, for exports of compilers and of instrumenters that know statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from linewitness.evidence.formats.facts import FileFacts, Grain
from linewitness.languages.markers import hidden_lines
from linewitness.model import Answer, Function, Precision, Token

_Found = tuple[Answer, Precision, str]
_UNLISTED: Final = "the export lists no code here"
_SKIPPED: Final = "the export knows lines; this statement ran, and may have skipped {0!r}"
_BRACKET: Final = "the bracket in front of {0!r} shares this line, and the export has one count for both"
_SHARED: Final = "a part of this line ran, and that may be what follows the choice whose arm ends with {0!r}"
_JUMPED: Final = "the code in front of {0!r} ran, and the export has no count for a name or a jump alone"
_OMITTED: Final = "the function ran, and the export has no count for the default value {0!r}"
_BARE: Final = re.compile(rb"[^\W\d]\w*(@\w+)?;?")
_LATE: Final = "late"
_ARMS: Final = frozenset({"arm", "operand"})
_DEFAULT: Final = "default"


class LineProofs:
    """The counts of one export for one file."""

    def __init__(self, head: bytes, facts: FileFacts) -> None:
        self._head, self._facts = head, facts
        self._counts = facts.counts
        self._hidden: frozenset[int] | None = None

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._head.split(b"\n")

    def of(self, token: Token) -> _Found:
        """The proof for a token by its own line, or by its statement's."""
        own = token.span.start.line
        if self._facts.grain is Grain.PHYSICAL:
            return self._physical(token, own)
        if self._facts.grain is Grain.STATEMENTS:
            starts_here = token.region is not None and token.part == _LATE and token.region.start.line == own
            line = own if starts_here and own in self._counts else token.header.start.line
            return self._statement(token, line)
        return self._compiled(token, own)

    def _physical(self, token: Token, own: int) -> _Found:
        """Every line has a count: zero is certain, and any other says that something on the line ran, or was hidden."""
        count = self._counts.get(own)
        if not count:
            return Answer.NOT_RUN, Precision.LINE, "this line did not run" if count == 0 else _UNLISTED
        if self._hidden is None:
            self._hidden = hidden_lines(self._head)
        if own in self._hidden:
            note = "a comment tells the coverage tool to ignore this line, and it then counts it as run"
            return Answer.NOT_PROVABLE, Precision.LINE, note
        if token.region is not None:
            return Answer.NOT_PROVABLE, Precision.LINE, _SKIPPED.format(token.text)
        return Answer.RUN, Precision.LINE, ""

    def _statement(self, token: Token, line: int) -> _Found:
        own = token.span.start.line
        if line != own and self._counts.get(own) == 0:
            return Answer.NOT_RUN, Precision.LINE, "nothing that begins on this line ran"
        count = self._counts.get(line)
        if count is None:
            listed = [each for each in _header_lines(token) if each in self._counts]
            count = self._counts[listed[0]] if listed else None
        if count is None:
            return self._unlisted(token)
        if not count:
            return Answer.NOT_RUN, Precision.STATEMENT, "the statement did not run"
        if token.region is None or line != token.header.start.line or self._all_arms_taken(token):
            return Answer.RUN, Precision.STATEMENT, ""
        return Answer.NOT_PROVABLE, Precision.STATEMENT, _SKIPPED.format(token.text)

    def _compiled(self, token: Token, own: int) -> _Found:
        """A line of a compiler's table: zero is certain; more may come from another part of the same statement."""
        count = self._counts.get(own)
        touched = self._facts.grain is Grain.TOUCHED
        if count == 0 and not (touched and token.text == "?"):
            return Answer.NOT_RUN, Precision.LINE, "this line did not run"
        if count:
            if touched and self._may_be_a_bracket(own, token):
                return Answer.NOT_PROVABLE, Precision.LINE, _BRACKET.format(token.text)
            if token.region is None and self._may_be_of_all_ways(own, token):
                return Answer.NOT_PROVABLE, Precision.LINE, _SHARED.format(token.text)
            if token.region is None or self._facts.complete.get(own) or self._all_arms_taken(token):
                return Answer.RUN, Precision.LINE, ""
            return Answer.NOT_PROVABLE, Precision.LINE, _SKIPPED.format(token.text)
        return self._elsewhere(token)

    def _may_be_of_all_ways(self, line: int, token: Token) -> bool:
        """Whether what ran on the last line of an arm may be what stands behind the whole choice.

        The compilers of Java, Kotlin and Scala put there what they do with the value: box it, store it. That has no
        branches.
        """
        if token.part not in _ARMS or self._facts.complete.get(line) is not False:
            return False
        return not any(arm.taken for arm in self._facts.branches if arm.line == line)

    def _may_be_a_bracket(self, line: int, token: Token) -> bool:
        """Whether the count of a line may be that of the block which ends in front of the token.

        The line has the larger count of the two, or their sum. Code of the token's statement behind the line that ran,
        or a count that is larger than any in the block, is the token's.
        """
        before = self._lines[line - 1][: token.span.start.col]
        if not before.lstrip().startswith(b"}"):
            return False
        is_new = token.statement.start.line == line
        behind = range(line + 1, (token.statement.end.line if is_new else line + 1) + 1)
        if any(self._counts.get(each) for each in behind):
            return False
        inside = [self._counts[each] for each in self._block_above(line) if each in self._counts]
        return not inside or self._counts[line] <= max(inside)

    def _block_above(self, line: int) -> Iterator[int]:
        """The lines of the block that ends on a line, which are indented further."""
        margin = _margin(self._lines[line - 1])
        for each in range(line - 1, 0, -1):
            text = self._lines[each - 1]
            if text.strip() and _margin(text) <= margin:
                return
            yield each

    def _elsewhere(self, token: Token) -> _Found:
        """A token whose line the table does not name: the first line of its statement that is named decides."""
        lines = [line for line in _header_lines(token) if line in self._counts]
        if not lines or token.span.start.line in self._facts.uncounted:
            return self._unlisted(token)
        if not self._counts[lines[0]]:
            return Answer.NOT_RUN, Precision.STATEMENT, "the statement did not run"
        if token.region is None or self._all_arms_taken(token):
            return Answer.RUN, Precision.STATEMENT, ""
        return Answer.NOT_PROVABLE, Precision.STATEMENT, _SKIPPED.format(token.text)

    def _unlisted(self, token: Token) -> _Found:
        line = token.header.start.line
        if line in self._facts.excluded or token.span.start.line in self._facts.excluded:
            note = "the coverage tool was told to exclude this line, which does not excuse it"
            return Answer.NOT_PROVABLE, Precision.STATEMENT, note
        if line in self._facts.uncounted or token.span.start.line in self._facts.uncounted:
            return Answer.NOT_PROVABLE, Precision.STATEMENT, "the export has no count for the whole code of this line"
        if token.region is None and any(self._counts.get(each) for each in _suite_lines(token)):
            # nobody has a counter for `for (;;) {`, and PHPUnit none for `catch`: nothing else leads into the block
            return Answer.RUN, Precision.STATEMENT, ""
        if self._all_arms_taken(token):
            # Istanbul's arm for a default value is all that stands on the line of a parameter
            return Answer.RUN, Precision.STATEMENT, ""
        is_default = self._is_default_of_function_that_ran(token)
        if is_default or self._is_bare_behind_code_that_ran(token):
            return Answer.NOT_PROVABLE, Precision.STATEMENT, (_OMITTED if is_default else _JUMPED).format(token.text)
        return Answer.NOT_RUN, Precision.STATEMENT, _UNLISTED

    def _is_default_of_function_that_ran(self, token: Token) -> bool:
        """Whether a token is the default value of a parameter, for which PHPUnit and Babel have no counter.

        The closest line below that has an entry is the first of the function's body.
        """
        line = token.span.start.line
        if token.part != _DEFAULT or self._facts.grain is not Grain.STATEMENTS:
            return False
        if any(arm.line == line for arm in self._facts.branches):
            return False
        below = (self._counts[each] for each in range(line + 1, len(self._lines) + 1) if each in self._counts)
        return next(below, 0) > 0

    def _is_bare_behind_code_that_ran(self, token: Token) -> bool:
        """Whether a line is a name, or a jump to one, for which scoverage and Kover may have no entry.

        What stands in front of it in its block is the closest line above with an entry that is indented as far.
        """
        line = token.span.start.line
        own = self._lines[line - 1]
        if not _BARE.fullmatch(own.strip()):
            return False
        for each in range(line - 1, 0, -1):
            text = self._lines[each - 1]
            if text.strip() and _margin(text) < _margin(own):
                return False
            if _margin(text) == _margin(own) and each in self._counts:
                return self._counts[each] > 0
        return False

    def _all_arms_taken(self, token: Token) -> bool:
        """Whether the export counts branches for the statement and has seen all of them taken."""
        lines = set(_header_lines(token))
        arms = [arm for arm in self._facts.branches if arm.line in lines]
        return token.part != _LATE and bool(arms) and all(arm.taken for arm in arms)

    def entry(self, function: Function) -> _Found:
        """Whether a function was entered, by the lines on which nothing but its body stands."""
        last = function.body.end.line
        own = [line for line in self._own_lines(function) if line in self._counts]
        if self._facts.grain is Grain.PHYSICAL:
            own = [line for line in own if self._counts[line] == 0]
        if own:
            ran = any(self._counts[line] for line in own)
            note = "" if ran else f"never entered: {function.text or function.name}"
            return Answer.RUN if ran else Answer.NOT_RUN, Precision.STATEMENT, note
        header = function.whole.start.line if function.whole else function.line
        own_lines = [line for line in range(header, last + 1) if line in self._counts]
        if own_lines and not any(self._counts[line] for line in own_lines):
            return Answer.NOT_RUN, Precision.STATEMENT, f"never entered: {function.text or function.name}"
        is_named = function.text == function.name
        if own_lines and is_named and self._facts.grain in (Grain.COMPILED, Grain.TOUCHED):
            return Answer.RUN, Precision.STATEMENT, ""
        if own_lines and not is_named and all(self._facts.complete.get(line) for line in own_lines):
            return Answer.RUN, Precision.STATEMENT, ""
        note = f"the export cannot tell whether this was entered: {function.text or function.name}"
        return Answer.NOT_PROVABLE, Precision.STATEMENT, note

    def _own_lines(self, function: Function) -> range:
        """The lines on which nothing but the body stands.

        Without brackets around it (Ruby), the body of a named function has its first and last line for itself too.
        """
        (first, col), (last, end) = function.body
        lines = self._lines[first - 1 : last]
        if not lines or function.text != function.name or lines[0][col : col + 1] == b"{":
            return range(first + 1, last)
        return range(first + bool(lines[0][:col].strip()), last + (not lines[-1][end:].strip()))


def _margin(text: bytes) -> int:
    return len(text.expandtabs()) - len(text.expandtabs().lstrip())


def _header_lines(token: Token) -> range:
    start, end = token.header
    return range(start.line, end.line + (end.col > 0))


def _suite_lines(token: Token) -> range:
    """The lines of a statement behind its header, on which nothing of the header stands."""
    return range(_header_lines(token).stop, token.statement.end.line + 1)
