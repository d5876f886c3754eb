"""The statements of a file that is mostly changed, read from its text: a short cut for big patches.

Python's layout tells where statements begin and what holds them, once strings, comments and brackets are out of the
way; what a line is by itself is then told by its first word and a few signs. That takes a fraction of what visiting
the nodes of a syntax tree takes. Whatever is not certain from the text (several statements on a line, pattern matching,
names of ``typing``, quotations inside of f-strings) sends the whole file to the full rule, which has the last word also
where a line would be exempt for what it says.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection
from typing import Final

from linewitness.languages.python.lines import (
    BRANCH_EXPRESSIONS,
    LOOK,
    Look,
    Reading,
    Shape,
    UncertainError,
    comment_exemption,
    has_branch_word,
    shape_of,
)
from linewitness.languages.python.outline import DEFINITIONS, STATEMENT, Outline, Statement
from linewitness.languages.python.scopes import Extent, Scopes
from linewitness.languages.python.tree import find, parse
from linewitness.languages.python.typing_only import mentions_typing
from linewitness.languages.source import Source, read
from linewitness.model import Exemption, Kind
from linewitness.values import NamedTuple

_TEXT: Final = re.compile(
    rb"""\"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+\"{3} | '{3}[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'{3}
    | "(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*+" | '(?!'')[^'\\\n]*+(?:\\.[^'\\\n]*+)*+' | \#[^\n]*+""",
    re.DOTALL | re.VERBOSE,
)
# What stands for text in the outline of a file: the inside of a string, a line end that ends no statement, the first
# byte of a string, that of one whose fields branch, and a backslash before a line end.
_INSIDE, _JOINED, _STRING, _BRANCHING, _BACKSLASH = b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"
_MARKS: Final = b"\0\x01\x02\x03\x04\x05\f\r"
_TABBED: Final = re.compile(rb"^ *\t", re.MULTILINE)
_LEFT_OVER: Final = re.compile(rb"[\"'\\]")
_HIDE: Final = bytes(0x02 if byte == 0x0A else 0x01 for byte in range(256))
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"()[]{}\n")
_IN_STRING: Final = frozenset(_INSIDE + _JOINED + _STRING + _BRANCHING)
_CLOSES: Final = {ord("("): ord(")"), ord("["): ord("]"), ord("{"): ord("}")}
_GROUP: Final = re.compile(rb"[(\[{][^()\[\]{}]*+[)\]}]")
_OTHER_KINDS: Final = re.compile(rb"(?<!\w)(?:assert|global|nonlocal)\b")
_HEAD: Final = re.compile(rb"( *+)(?:(async +)?([A-Za-z_]\w*+)|(.))?", re.DOTALL)
_NAME: Final = re.compile(rb"[\w.]++ *+(?:def|class) ++(\w++)|(?:def|class) ++(\w++)")
_PREFIXES: Final = frozenset((b"f", b"t", b"b", b"r", b"u", b"rb", b"br", b"fr", b"rf", b"tr", b"rt"))
_FORMATTED: Final = re.compile(rb"(?<![A-Za-z0-9_])(?:[fFtT][rR]?|[rR][fFtT])\Z")
# The inside of a formatted string: texts, and fields whose own strings have no braces, so that its end is certain.
_FIELDS: Final = re.compile(
    rb"""(?:[^{}\\]|\\.|\{\{|\}\}
    |\{[^{}'"#\\]*+(?:(?:'[^'{}#\\\n]*+'|"[^"{}#\\\n]*+"|\{[^{}'"#\\]*+\})[^{}'"#\\]*+)*+\})*+""",
    re.DOTALL | re.VERBOSE,
)
_DOCSTRING: Final = re.compile(rb"(?:[rRuU]?\x03[\x01\x02]*+[ \x02\x05]*+)++")
# An assignment or a call, or what is as much as one.
_PLAIN: Final = re.compile(rb"[A-Za-z_][\w.]*+ *+[-+*/%&|^=(\[][^:;\x80-\xff]*+")
_ANNOTATION: Final = re.compile(rb"[A-Za-z_]\w*+ *+:(?!=)")
_ALIAS: Final = re.compile(rb"type ++\w")
_BLANKS: Final = b" \t\f"

_KINDS: Final = {
    b"if": "if_statement", b"elif": "elif_clause", b"else": "else_clause", b"while": "while_statement",
    b"for": "for_statement", b"try": "try_statement", b"except": "except_clause", b"finally": "finally_clause",
    b"with": "with_statement", b"def": "function_definition", b"class": "class_definition",
}  # fmt: skip
_SIMPLE: Final = {
    b"import": "import_statement", b"from": "import_from_statement", b"global": "global_statement",
    b"nonlocal": "nonlocal_statement", b"assert": "assert_statement",
}  # fmt: skip
_WORDS: Final = frozenset(word.encode() for word in (*keyword.kwlist, *keyword.softkwlist))
# What a clause may be a part of.
_CLAUSES: Final = {
    b"elif": frozenset({"if_statement"}),
    b"else": frozenset({"if_statement", "while_statement", "for_statement", "try_statement"}),
    b"except": frozenset({"try_statement"}),
    b"finally": frozenset({"try_statement"}),
}
_SOFT: Final = frozenset((b"match", b"case"))
_ALWAYS_BRANCH: Final = frozenset((b"if", b"elif", b"else", b"while", b"for", b"except", b"with"))
_OWN_SHAPE: Final = frozenset((b"else", b"try", b"finally"))


def sketch(source: Source, lines: Collection[int]) -> Reading | None:
    """The statements on the lines and all that hold others; ``None`` when that is not certain."""
    data = source.data
    if mentions_typing(source) or len(data.translate(None, _MARKS)) != len(data):
        return None
    if b"\t" in data and _TABBED.search(data):
        return None
    try:
        return _Reader(source, lines).read()
    except UncertainError:
        return None


class _Suite(NamedTuple):
    """An open statement that holds others, and its column: the statement of which it is a clause, the definition."""

    column: int
    statement: int
    main: int
    definition: int


class _Reader:
    """One pass over the logical lines of a file."""

    def __init__(self, source: Source, lines: Collection[int]) -> None:
        self._source, self._wanted = source, frozenset(lines)
        self._text = _outlined(source.data)
        self._statements: list[Statement] = []
        self._looks: dict[int, Look] = {}
        self._suites = [_Suite(-1, -1, -1, -1)]
        # the columns of the statements in the open suites, unknown (-1) before the first, none after a colon and code
        self._columns: list[int | None] = [0]
        self._extents: list[list[int]] = []
        self._names: list[str] = []
        self._ends: dict[int, int] = {}
        # whether the next statement opens the innermost suite, and where decorators wait for their definition
        self._opens = True
        self._decorated: tuple[int, int] | None = None
        self._last = 0

    def read(self) -> Reading:
        text = self._text
        open_ = list[int]()
        first, begin, at, line = 1, 0, 0, 1
        for chunk, signs in zip(text.split(b"\n"), _unbalanced(text), strict=True):
            more = chunk.count(_JOINED) if _JOINED in chunk else 0
            if signs:
                _follow(signs, open_)
            at += len(chunk) + 1
            line += more + 1
            if not open_:
                self._logical_line(text[begin : at - 1] if first + more + 1 != line else chunk, begin, first, line - 1)
                first, begin = line, at
        if open_ or self._decorated:
            raise UncertainError
        self._leave(0)
        looks = {number: self._looks[number] for number in sorted(self._wanted)}
        extents = [Extent(first, last, name) for (first, last), name in zip(self._extents, self._names, strict=True)]
        return Reading(Outline(self._source, tuple(self._statements)), looks, Scopes(extents), is_whole=True)

    # ------------------------------------------------------------ structure

    def _logical_line(self, text: bytes, begin: int, first: int, last: int) -> None:
        head = _HEAD.match(text)
        blanks, is_async, word, sign = head.groups() if head else (b"", None, None, None)
        if word is None and sign is None:
            for line in self._asked(first, last):
                self._looks[line] = self._silent(line)
            return
        column = len(blanks)
        start = begin + column
        # nothing but the text after a backslash may end on a line of its own
        if last > first and not text[text.rfind(b"\n") + 1 :].strip(b" \x02\x05"):
            raise UncertainError
        if sign == b"@":
            self._decorated = self._decorated or (start, first)
            return
        if word in _SOFT and text.rstrip().endswith(b":"):
            raise UncertainError
        if is_async and word not in (b"def", b"for", b"with"):
            raise UncertainError
        if word in _KINDS:
            self._compound(word, text, begin, column, first, last)
        elif self._decorated:
            raise UncertainError
        else:
            self._simple(word, sign, text[column:], start, column, (first, last))

    def _leave(self, column: int) -> _Suite:
        """Leave the suites that a statement in this column is not in; the last one left."""
        suites = self._suites
        left = suites[-1]
        if left.column >= column and self._opens:
            raise UncertainError
        while suites[-1].column >= column:
            left = suites.pop()
            self._columns.pop()
            at = self._ends.get(left.statement)
            if at is not None:
                self._extents[at][1] = self._last
        return left

    def _enter(self, column: int) -> _Suite:
        """The suite in which a statement in this column is, and with it the column of all others in there."""
        if self._suites[-1].column >= column:
            self._leave(column)
        if self._columns[-1] != column:
            if self._columns[-1] != -1:
                raise UncertainError
            self._columns[-1] = column
        return self._suites[-1]

    def _compound(self, word: bytes, text: bytes, begin: int, column: int, first: int, last: int) -> None:
        start, index = begin + column, len(self._statements)
        if word in _CLAUSES:
            left = self._leave(column)
            if left.column != column or self._statements[left.main].kind not in _CLAUSES[word]:
                raise UncertainError
            definition, parent = self._suites[-1].definition, left.main
            main = parent
        else:
            _, parent, _, definition = self._enter(column)
            main = index
        kind = _KINDS[word]
        if word == b"except" and text[column:].startswith(b"except*"):
            kind = "except_group_clause"
        top = first
        if self._decorated is not None:
            if kind not in DEFINITIONS:
                raise UncertainError
            (start, top), self._decorated = self._decorated, None
        if kind in DEFINITIONS:
            definition = self._define(text, index, top, last)
        end = begin + len(text)
        self._statements.append(STATEMENT((None, kind, start, end, end, top, last, last, parent, False)))
        self._last = last
        is_inline = not text.rstrip().endswith(b":")
        self._suites.append(_Suite(column, index, main, definition))
        self._columns.append(None if is_inline else -1)
        self._opens = not is_inline
        asked = self._asked(top, last)
        if asked:
            self._look_at_header(word, text, index, asked, is_inline)

    def _define(self, text: bytes, index: int, first: int, last: int) -> int:
        named = _NAME.match(text.lstrip())
        if named is None:
            raise UncertainError
        self._ends[index] = len(self._extents)
        self._extents.append([first, last])
        self._names.append((named[1] or named[2]).decode())
        return index

    def _simple(
        self, word: bytes | None, sign: bytes | None, text: bytes, start: int, column: int, lines: tuple[int, int]
    ) -> None:
        first, last = lines
        suite = self._enter(column)
        opens, self._opens = self._opens, False
        self._last = last
        if first == last:
            if first not in self._wanted:
                return
            if word not in _WORDS and _PLAIN.fullmatch(text) and not _may_branch(text):
                self._looks[first] = LOOK((None, Kind.STATEMENT, len(self._statements), Shape.CODE))
                simple = (None, "expression_statement", start, start, start, first, last, last, suite.statement, False)
                self._statements.append(STATEMENT(simple))
                return
            asked = [first]
        else:
            asked = self._asked(first, last)
            if not asked:
                return
        index = len(self._statements)
        kind = _SIMPLE.get(word, "expression_statement") if word else "expression_statement"
        if b";" in text or not text.isascii():
            raise UncertainError
        exempt = self._exemption(word, sign, text, suite, opens)
        docstring = exempt is Exemption.DOCSTRING
        self._statements.append(
            STATEMENT((None, kind, start, start, start, first, last, last, suite.statement, docstring))
        )
        kind = Kind.STATEMENT if exempt else self._kind(word, text, suite)
        branches: Collection[int] | None = None
        if kind is Kind.BRANCH and word != b"assert" and (first != last or _BRANCHING in text):
            branches, kind = self._branch_lines(start, text, first, b""), self._kind_beside(word, text, suite)
        for line in asked:
            own = Kind.BRANCH if branches is not None and line in branches else kind
            if line == first:
                self._looks[line] = LOOK((exempt, own, index, Shape.CODE))
            else:
                self._looks[line] = self._continued(line, index, exempt, own)

    def _look_at_header(self, word: bytes, text: bytes, index: int, asked: list[int], is_inline: bool) -> None:
        """Lines of the header of a statement that holds others, and of what stands behind its colon."""
        statement = self._statements[index]
        first, last = statement.header_lines
        if not text.isascii() or (is_inline and (first != last or word in (b"try", b"finally"))):
            raise UncertainError
        branches: Collection[int] = ()
        kind = Kind.BRANCH if word in _ALWAYS_BRANCH else Kind.STATEMENT
        if statement.kind in DEFINITIONS:
            kind = Kind.DEFINITION
            if is_inline and _OTHER_KINDS.search(text):
                raise UncertainError
            header = self._text[statement.start : statement.end]
            if _may_branch(header):
                ending = b"" if is_inline else b" pass"
                branches = self._branch_lines(statement.start, header, first, ending)
        for line in asked:
            own = Kind.BRANCH if line in branches else kind
            if line == first:
                shape = shape_of(self._source.line(line)) if word in _OWN_SHAPE and not is_inline else Shape.CODE
                self._looks[line] = LOOK((None, own, index, shape))
            else:
                self._looks[line] = self._continued(line, index, None, own)

    def _branch_lines(self, start: int, text: bytes, first: int, ending: bytes) -> frozenset[int]:
        """The lines on which a part of the statement branches."""
        source = read(self._source.data[start : start + len(text)] + ending)
        root = parse(source.data).root_node
        if root.has_error:
            raise UncertainError
        return frozenset(
            first - 1 + line
            for node in find(BRANCH_EXPRESSIONS, root)
            for line in range(source.line_at(node.start_byte), source.line_at(node.end_byte - 1) + 1)
        )

    # ------------------------------------------------------------ what lines are

    def _asked(self, first: int, last: int) -> list[int]:
        wanted = self._wanted
        return [line for line in range(first, last + 1) if line in wanted]

    def _silent(self, line: int) -> Look:
        """A line outside of every statement."""
        bare = self._source.line(line).strip(_BLANKS)
        if bare and not bare.startswith(b"#"):
            raise UncertainError
        return Look(comment_exemption(bare) if bare else Exemption.BLANK, Kind.STATEMENT, -1)

    def _continued(self, line: int, index: int, exempt: Exemption | None, kind: Kind) -> Look:
        """A further line of a statement."""
        begin = self._source.starts[line - 1]
        text = self._source.line(line)
        bare = text.strip(_BLANKS)
        content = self._text[begin + len(text) - len(text.lstrip(_BLANKS)) if bare else begin] in _IN_STRING
        if not content and not bare:
            return Look(Exemption.BLANK, Kind.STATEMENT, index)
        if not content and bare.startswith(b"#"):
            return Look(comment_exemption(bare), Kind.STATEMENT, index)
        if not exempt and (not bare or bare.startswith(b"#")):
            # equal lines outside of strings have scopes that only the tree tells
            raise UncertainError
        return Look(exempt, kind, index, Shape.CODE if content or exempt else shape_of(text))

    def _exemption(
        self, word: bytes | None, sign: bytes | None, text: bytes, suite: _Suite, opens: bool
    ) -> Exemption | None:
        if sign is not None:
            in_definition = opens and (suite.statement < 0 or suite.statement == suite.definition)
            if sign == b"(" and in_definition:
                raise UncertainError
            if sign == b".":
                if text.rstrip() != b"...":
                    raise UncertainError
                return Exemption.TYPING_ONLY
            return Exemption.DOCSTRING if in_definition and _DOCSTRING.fullmatch(text) else None
        if word is None or _ALIAS.match(text):
            raise UncertainError
        following = text[len(word) : len(word) + 1]
        if following in (_STRING, _BRANCHING) and word.lower() in _PREFIXES:
            in_definition = opens and (suite.statement < 0 or suite.statement == suite.definition)
            return Exemption.DOCSTRING if in_definition and _DOCSTRING.fullmatch(text) else None
        if self._is_bare_annotation(text) and self._holder(suite) == "function_definition":
            return Exemption.DECLARATION
        return None

    @staticmethod
    def _is_bare_annotation(text: bytes) -> bool:
        if b":" not in text:
            return False
        named = _ANNOTATION.match(text)
        if named is None or text.startswith((b"lambda", b"yield", b"await", b"return", b"not")):
            return False
        rest, size = text[named.end() :], -1
        while size != len(rest):
            size = len(rest)
            rest = _GROUP.sub(b"", rest)
        return b"=" not in rest

    def _holder(self, suite: _Suite) -> str:
        return self._statements[suite.definition].kind if suite.definition >= 0 else ""

    def _kind(self, word: bytes | None, text: bytes, suite: _Suite) -> Kind:
        if word == b"assert" or _may_branch(text):
            return Kind.BRANCH
        return self._kind_beside(word, text, suite)

    def _kind_beside(self, word: bytes | None, text: bytes, suite: _Suite) -> Kind:
        """The kind of the lines of a statement on which nothing branches."""
        if word in (b"global", b"nonlocal") and suite.definition >= 0:
            return Kind.DEFINITION
        if self._is_bare_annotation(text) and self._holder(suite) == "class_definition":
            return Kind.DEFINITION
        return Kind.STATEMENT


def _outlined(data: bytes) -> bytes:
    """The text, byte for byte, with the insides of strings and all comments taken out."""
    text = _TEXT.sub(_without_text, data).replace(b"\\\n", _BACKSLASH + _JOINED)
    if _LEFT_OVER.search(text):
        raise UncertainError
    return text


def _without_text(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if text[0] == ord("#"):
        return b" " * len(text)
    first = _STRING
    if b"{" in text and _FORMATTED.search(match.string, max(match.start() - 3, 0), match.start()):
        size = 3 if len(text) > 5 and text[0] == text[1] == text[2] else 1
        if not _FIELDS.fullmatch(text[size:-size]):
            raise UncertainError
        if _may_branch(text):
            first = _BRANCHING
    return first + text[1:].translate(_HIDE)


def _unbalanced(text: bytes) -> list[bytes]:
    """For each line its brackets, less those that are closed on it."""
    signs, size = text.translate(None, _NO_BRACKETS), -1
    while size != len(signs):
        size = len(signs)
        signs = signs.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    return signs.split(b"\n")


def _follow(signs: bytes, open_: list[int]) -> None:
    """Open and close brackets. Errors: ``UncertainError`` when they do not match."""
    for sign in signs:
        if sign in _CLOSES:
            open_.append(_CLOSES[sign])
        elif not open_ or open_.pop() != sign:
            raise UncertainError


def _may_branch(text: bytes) -> bool:
    """Whether a word of it makes an expression branch, or one inside of a formatted string may."""
    if b"if" in text or b"or" in text or b"and" in text:
        return _BRANCHING in text or has_branch_word(text, 0, len(text))
    return _BRANCHING in text
