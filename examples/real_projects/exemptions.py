"""Checks, with the standard library's parser alone, that a changed line was exempt for a true reason.

An exemption is the most dangerous answer of all: nobody looks at the line again. So each one is proved a second time,
by the plainest means there are.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CLOSERS = {")", "]", "}", ",", ":", ";"}
BARE_CLAUSES = {"else", "finally", "try", ":"}
LAYOUT = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
    tokenize.COMMENT,
}

Binding = tuple[str, ...]


class Side:
    """One side of a changed file."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.tree = ast.parse(source)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant):
                node.kind = None  # the `u` before a string, which means nothing: formatters remove it

    @cached_property
    def tokens(self) -> dict[int, list[str]]:
        """The texts of the tokens on each line, layout and comments left out."""
        out: dict[int, list[str]] = {}
        for token in tokenize.tokenize(io.BytesIO(self.source).readline):
            if token.type not in LAYOUT:
                for line in range(token.start[0], token.end[0] + 1):
                    out.setdefault(line, []).append(token.string)
        return out

    @cached_property
    def definitions(self) -> dict[str, list[ast.AST]]:
        """All definitions by dotted name; the module has the empty name."""
        out: dict[str, list[ast.AST]] = {"": [self.tree]}
        for name, node in named(self.tree, ""):
            out.setdefault(name, []).append(node)
        return out

    def around(self, line: int) -> Iterator[tuple[str, ast.AST]]:
        """The definitions that hold a line, the module among them."""
        for name, node, lines in self._places:
            if lines is None or line in lines:
                yield name, node

    @cached_property
    def _places(self) -> list[tuple[str, ast.AST, range | None]]:
        return [
            (name, node, None if isinstance(node, ast.Module) else lines_of(node))
            for name, nodes in self.definitions.items()
            for node in nodes
        ]

    def statements(self, line: int) -> list[ast.stmt]:
        """The statements that hold a line, the outermost first."""
        return [node for node, lines in self._statements if line in lines]

    @cached_property
    def _statements(self) -> list[tuple[ast.stmt, range]]:
        found = [(node, lines_of(node)) for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]
        return sorted(found, key=lambda each: (each[1].start, -each[1].stop))

    @cached_property
    def imports_all(self) -> bool:
        """Whether names come from a module that nobody can tell from the text: ``from x import *``."""
        froms = (node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom))
        return any(alias.name == "*" for node in froms for alias in node.names)

    @cached_property
    def imports(self) -> dict[str, Counter[Binding]]:
        """How often each scope imports each binding."""
        out: dict[str, Counter[Binding]] = {}
        for name, nodes in self.definitions.items():
            for node in nodes:
                out.setdefault(name, Counter()).update(b for part in own_parts(node) for b in bindings(part))
        return out


def named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, DEFINITIONS):
            name = f"{prefix}.{child.name}"
            yield name, child
        yield from named(child, name)


def own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Everything inside a definition that is not inside another one."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, DEFINITIONS):
            yield child
            yield from own_parts(child)


def bindings(node: ast.AST) -> list[Binding]:
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return [(module, alias.name, alias.asname or alias.name) for alias in node.names]
    if isinstance(node, ast.Import):
        return [(alias.name, alias.asname or "") for alias in node.names]
    return []


def lines_of(node: ast.AST) -> range:
    """The lines of a node, decorators included."""
    place = vars(node)
    first = min([place["lineno"], *(decorator.lineno for decorator in place.get("decorator_list", ()))])
    return range(first, (place["end_lineno"] or first) + 1)


# ---------------------------------------------------------------- one proof per reason


def has_no_token(head: Side, line: int) -> bool:
    return line not in head.tokens


def is_docstring(head: Side, line: int) -> bool:
    """The line belongs to the first statement of a definition or module, and that is a docstring."""
    statement = head.statements(line)[-1]
    owners = [node for _, node in head.around(line) if isinstance(node, (*DEFINITIONS, ast.Module))]
    return any(ast.get_docstring(node, clean=False) is not None and node.body[0] is statement for node in owners)


def is_punctuation(head: Side, line: int) -> bool:
    return set(head.tokens.get(line, ())) <= CLOSERS


def is_keyword(head: Side, line: int) -> bool:
    return set(head.tokens.get(line, ())) <= BARE_CLAUSES


def is_declaration(head: Side, line: int) -> bool:
    """A bare annotation inside a function, ``global`` or ``nonlocal``."""
    statement = head.statements(line)[-1]
    bare = isinstance(statement, ast.AnnAssign) and statement.value is None
    return bare or isinstance(statement, (ast.Global, ast.Nonlocal))


def is_reformatted(base: Side, head: Side, line: int) -> bool:
    """Some definition around the line has a twin of the same name and the same syntax tree."""
    twins = ((node, twin) for name, node in head.around(line) for twin in base.definitions.get(name, ()))
    return any(ast.dump(node) == ast.dump(twin) for node, twin in twins)


def is_import_reshuffle(base: Side, head: Side, line: int) -> bool:
    """Everything that the line's import binds was imported by the same scope before, as often as now."""
    statement = head.statements(line)[-1]
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False
    scope = max((name for name, _ in head.around(line)), key=len)
    before, now = base.imports.get(scope, Counter()), head.imports[scope]
    here = [b for alias, b in zip(statement.names, bindings(statement), strict=True) if line in lines_of(alias)]
    return all(now[binding] <= before[binding] for binding in here) and (bool(here) or is_reshuffled(statement, before))


def is_reshuffled(statement: ast.Import | ast.ImportFrom, before: Counter[Binding]) -> bool:
    """For a line of the statement without a name: the module was imported from before."""
    return any(binding[0] == had[0] for binding in bindings(statement) for had in before)


def is_typing_only(head: Side, line: int) -> bool:
    around = head.statements(line)
    last = around[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant) and last.value.value is ...:
        return True
    return any(guards_typing(outer, inner) for outer, inner in pairwise(around))


def guards_typing(outer: ast.stmt, inner: ast.stmt) -> bool:
    """Whether ``outer`` keeps ``inner`` from ever running: ``if TYPE_CHECKING:`` or the body of an overload."""
    if isinstance(outer, ast.If):
        return last_name(outer.test) == "TYPE_CHECKING" and inner in outer.body
    return isinstance(outer, DEFINITIONS) and any(last_name(each) == "overload" for each in outer.decorator_list)


def last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


BY_HEAD: dict[str, Callable[[Side, int], bool]] = {
    "blank": has_no_token,
    "comment": has_no_token,
    "type-comment": has_no_token,
    "docstring": is_docstring,
    "punctuation": is_punctuation,
    "keyword": is_keyword,
    "declaration": is_declaration,
    "typing-only": is_typing_only,
}
BY_BOTH: dict[str, Callable[[Side, Side, int], bool]] = {
    "reformatted": is_reformatted,
    "import-reshuffle": is_import_reshuffle,
}


def is_proved(reason: str, base: Side | None, head: Side, line: int) -> bool:
    """Whether the reason holds for a changed line. A reason that is not known here is not proved."""
    if reason in BY_HEAD:
        return BY_HEAD[reason](head, line)
    return base is not None and reason in BY_BOTH and BY_BOTH[reason](base, head, line)
