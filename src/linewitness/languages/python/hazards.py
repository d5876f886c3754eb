"""Lines that no run can vouch for: they can make a check pass whatever the rest of the patch does.

Three sorts of code are known, all of them seen in patches of agents that were to make tests pass: comparisons that
ignore what they compare with, code that asks whether it is being tested, and code that looks at its callers or at the
text of programs, where the expected value stands. Such a line may be honest; a check that passed says nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from tree_sitter import Node

from linewitness.languages.python.tree import parse
from linewitness.languages.source import Source, read
from linewitness.patterns import late

_LIKE: Final = frozenset(
    {
        b"__eq__",
        b"__lt__",
        b"__le__",
        b"__gt__",
        b"__ge__",
        b"__contains__",
        b"__instancecheck__",
        b"__sub__",
        b"__rsub__",
    }
)
_UNLIKE: Final = frozenset({b"__ne__"})
_NOTHING: Final = frozenset({b"NotImplemented", b"False", b"None"})
_NOTHING_UNLIKE: Final = frozenset({b"NotImplemented", b"True"})

_HARNESS: Final = frozenset({b"pytest", b"_pytest", b"py.test", b"unittest"})
_ASKED: Final = late(rb"\b(?:modules|argv|environ)\b")
_FRAMES: Final = frozenset({b"f_back", b"f_locals", b"co_consts", b"_current_frames", b"get_referrers"})
_INSPECT: Final = frozenset({b"stack", b"getouterframes", b"getargvalues", b"getsource", b"getsourcelines"})
# Equal to everything, and made for tests.
_EQUAL: Final = b"ANY"
_MOCK: Final = frozenset({b"mock", b"unittest.mock"})
_WORDS: Final = late(
    rb"\b(?:PYTEST_\w*|%s)\b"
    % rb"|".join(sorted(map(re.escape, _HARNESS | _FRAMES | _INSPECT | {_EQUAL, b"__file__"})))
)
_METHODS: Final = late(rb"\b(?:%s)\b" % rb"|".join(sorted(_LIKE | _UNLIKE)))
#: One of these stands in every text that has any of the words; looking for them is far cheaper.
_PARTS: Final = (
    b"PYTEST_", b"pytest", b"py.test", b"unittest", b"f_back", b"f_locals", b"co_consts", b"_current_frames",
    b"get_referrers", b"inspect", b"__file__", b"mock",
)  # fmt: skip
_STATEMENT: Final = late(r".*_(?:statement|definition|clause)|module")
_READS: Final = late(rb"\bopen\s*\(|\.read_(?:text|bytes)\s*\(|\bgetlines?\s*\(")

IGNORES: Final = "it is part of a comparison that ignores what is compared, so checks that compare with it cannot fail"
TESTED: Final = "it asks whether it is being tested, so what it does in a check need not be what it does elsewhere"
CALLERS: Final = "it looks at its callers, and the values that a check expects stand there"
TEXTS: Final = "it reads the text of programs, and the values that a check expects stand there"


def hazards(head: bytes, lines: Collection[int]) -> dict[int, str]:
    """Those of the ``lines`` (1-based, of a readable head) that no run can vouch for, each with the reason."""
    compares = any(name in head for name in (*_LIKE, *_UNLIKE))
    mentions = any(part in head for part in _PARTS)
    if not (compares or mentions):
        return {}
    source, found = read(head), dict[int, str]()
    for first, last in _blind_comparisons(source) if compares else ():
        found.update((line, IGNORES) for line in lines if first <= line <= last)
    for word in _WORDS.finditer(source.data) if mentions else ():
        line = source.line_at(word.start())
        reason = _reason(source, _node(source, word), word[0]) if line in lines else ""
        if reason:
            found[line] = reason
    return found


def _node(source: Source, word: re.Match[bytes]) -> Node:
    root = parse(source.data).root_node
    return root.descendant_for_byte_range(word.start(), word.end()) or root


def _reason(source: Source, node: Node, word: bytes) -> str:
    """What is said against one word: ``node`` is what the syntax tree holds in its place."""
    if node.type == "identifier":
        return _reason_of_name(source, node, word)
    if node.type != "string_content" or source.text(node) != word:
        return ""
    if word.startswith(b"PYTEST_"):
        return "" if _statement(node).type == "expression_statement" and _is_bare(node) else TESTED
    return TESTED if word in _HARNESS and _asks(source, _statement(node)) else ""


def _reason_of_name(source: Source, node: Node, word: bytes) -> str:
    parent = node.parent or node
    if word in _FRAMES and parent.type == "attribute":
        return CALLERS
    if word == _EQUAL and _is_of(_MOCK, source, parent):
        return IGNORES
    if word in _INSPECT and _is_of({b"inspect"}, source, parent):
        return TEXTS if word.startswith(b"getsource") else CALLERS
    return TEXTS if word == b"__file__" and _READS.search(_header(source, _statement(node))) else ""


def _is_of(modules: Collection[bytes], source: Source, parent: Node) -> bool:
    """Whether a name is taken from one of these modules: as its attribute, or by an import."""
    if parent.type == "attribute":
        owner = parent.child_by_field_name("object")
        return owner is not None and source.text(owner) in modules
    statement = _statement(parent)
    module = statement.child_by_field_name("module_name")
    return module is not None and source.text(module) in modules


def _is_bare(node: Node) -> bool:
    """Whether a string is a statement of its own, as docstrings are."""
    string = node.parent
    return string is not None and string.parent is not None and string.parent.type == "expression_statement"


def _asks(source: Source, statement: Node) -> bool:
    return _ASKED.search(_header(source, statement)) is not None


def _header(source: Source, statement: Node) -> bytes:
    """The text of a statement up to its suite."""
    suites = [child.start_byte for child in statement.children if child.type in ("block", "match_block")]
    return source.data[statement.start_byte : min(suites, default=statement.end_byte)]


def _statement(node: Node) -> Node:
    while node.parent is not None and not _STATEMENT.fullmatch(node.type):
        node = node.parent
    return node


def _identifiers(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield node
        waiting += node.children


# ---------------------------------------------------------------- comparisons


def _blind_comparisons(source: Source) -> Iterator[tuple[int, int]]:
    """The lines, first and last, of methods that compare without looking at what they are given to compare with."""
    for word in _METHODS.finditer(source.data):
        node = _node(source, word)
        if node.type != "identifier" or node.parent is None:
            continue
        body = _method(node, node.parent)
        if body is not None and _is_blind(source, word[0], body):
            whole = _statement(node)
            yield whole.start_point.row + 1, whole.end_point.row + 1


def _method(name: Node, parent: Node) -> Node | None:
    """The function or lambda that a name is given to."""
    if parent.type == "function_definition" and parent.child_by_field_name("name") == name:
        return parent
    if parent.type == "assignment" and parent.child_by_field_name("left") == name:
        value = parent.child_by_field_name("right")
        return value if value is not None and value.type == "lambda" else None
    return None


def _is_blind(source: Source, name: bytes, function: Node) -> bool:
    parameters, body = function.child_by_field_name("parameters"), function.child_by_field_name("body")
    names = [] if parameters is None else [source.text(node) for node in _parameters(parameters)]
    if body is None or not names or source.text(body).strip() == b"...":
        return False
    looked_at = set(names[1:] or names)
    if any(source.text(node) in looked_at for node in _identifiers(body)):
        return False
    harmless = _NOTHING_UNLIKE if name in _UNLIKE else _NOTHING
    results = [body] if function.type == "lambda" else list(_returned(body))
    if name in _UNLIKE and not results:
        return not _raises(body)
    return any(source.text(result) not in harmless for result in results)


def _parameters(parameters: Node) -> Iterator[Node]:
    """The names of parameters, without their annotations and defaults."""
    for child in parameters.named_children:
        node = child
        while node.type != "identifier" and node.named_children:
            node = node.named_children[0]
        if node.type == "identifier":
            yield node


def _returned(body: Node) -> Iterator[Node]:
    """What the ``return`` statements of a body give back, those of functions inside of it aside."""
    waiting = list(body.children)
    while waiting:
        node = waiting.pop()
        if node.type == "return_statement" and node.named_children:
            yield node.named_children[0]
        if node.type not in ("function_definition", "class_definition", "lambda"):
            waiting += node.children


def _raises(body: Node) -> bool:
    return any(node.type == "raise_statement" for node in body.children)
