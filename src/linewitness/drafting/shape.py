"""Whether a text is one Python file of relation shape: an allow-list over the syntax tree.

Everything that is not listed is refused, with its line and the reason. The file is never imported here. What passes
still runs in the sandbox only, and discharges nothing before people land it: this is the first fence, and not the only.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from linewitness.drafting.comparing import complaints
from linewitness.drafting.vocabulary import BUILTINS, DECORATOR, FORBIDDEN_ATTRIBUTES, LIBRARY, LIBRARY_NAMES, PURE
from linewitness.languages.readable import why_unreadable
from linewitness.values import NamedTuple

_LARGEST: Final = 64 << 10
_MOST_NODES: Final = 10_000
_CORPUS_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_STATEMENTS: Final = (
    ast.FunctionDef, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.If, ast.Assert, ast.Expr,
    ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom,
)  # fmt: skip
_FORBIDDEN_EXPRESSIONS: Final = (ast.Await, ast.Yield, ast.YieldFrom)
_AT_MODULE_LEVEL: Final = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
_PLAIN: Final = (
    ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.USub,
    ast.UnaryOp, ast.expr_context,
)  # fmt: skip
_QUIET_CALLS: Final = LIBRARY_NAMES - {DECORATOR, "not_applicable", "outcome"} | {
    "frozenset",
    "tuple",
    "dict",
    "list",
    "set",
    "range",
}


class Refusal(NamedTuple):
    """Why a text is no draft. ``line`` is 0 when it is about the whole."""

    line: int
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}" if self.line else self.why


class Allowed(NamedTuple):
    """What a draft may name: product modules with what they define, and corpora."""

    modules: Mapping[str, frozenset[str]]
    corpora: Collection[str]


class Bindings(NamedTuple):
    """What imported names stand for: ``(module, name)``; the name is empty for a module itself."""

    names: dict[str, tuple[str, str]]

    def of(self, node: ast.expr) -> tuple[str, str]:
        """Module and name behind an expression, empty when it is no imported name."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, ("", ""))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = self.names.get(node.value.id, ("", ""))
            return (module, node.attr) if module and not name else ("", "")
        return "", ""

    def library(self, node: ast.expr) -> str:
        """The library's name behind an expression, empty when it is another."""
        module, name = self.of(node)
        return name if module == LIBRARY else ""


def refusals(text: str, allowed: Allowed) -> tuple[Refusal, ...]:
    """Everything that keeps a text from being a draft, in the order of its lines; none when it is one."""
    trouble = _unreadable(text)
    if trouble:
        return (Refusal(0, trouble),)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return (Refusal(getattr(error, "lineno", 0) or 0, f"it is not Python: {type(error).__name__}"),)
    if sum(1 for _ in ast.walk(tree)) > _MOST_NODES:
        return (Refusal(0, f"it has more than {_MOST_NODES} nodes"),)
    found = _Bound(tree, allowed)
    wrong = [
        *found.wrong,
        *_statements(tree),
        *_at_import(tree),
        *_names(tree, found),
        *_functions(tree, found.bindings, allowed),
    ]
    if not wrong:
        products = frozenset(allowed.modules)
        wrong = [Refusal(*each) for each in complaints(tree, found.bindings.names, products)]
    return tuple(sorted(set(wrong)))


def _unreadable(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > _LARGEST:
        return f"it has more than {_LARGEST >> 10} KiB"
    trouble = why_unreadable(data, range(1, data.count(b"\n") + 2))
    return trouble or ("" if text.strip() else "it is empty")


# ---------------------------------------------------------------- what is bound


class _Bound:
    """The names that a file binds, and what is wrong with its imports."""

    def __init__(self, tree: ast.Module, allowed: Allowed) -> None:
        self.bindings = Bindings({})
        self.wrong: list[Refusal] = []
        self._allowed = allowed
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                if node not in tree.body:
                    self.wrong.append(Refusal(node.lineno, "imports stand at the top"))
                for alias in node.names:
                    self._bind(node, alias)
        self.local = _local_names(tree)
        for name in sorted(self.local & self.bindings.names.keys()):
            self.wrong.append(Refusal(0, f"{name!r} is imported and bound again"))

    def _bind(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        if isinstance(node, ast.Import):
            module, name, bound = alias.name, "", alias.asname or alias.name
            if "." in bound:
                self.wrong.append(Refusal(node.lineno, f"`import {alias.name}` needs an `as`"))
                return
        else:
            module, name, bound = node.module or "", alias.name, alias.asname or alias.name
        why = "a relative import" if isinstance(node, ast.ImportFrom) and node.level else self.why_not(module, name)
        if why:
            self.wrong.append(Refusal(node.lineno, why))
        self.bindings.names[bound] = (module, name)

    def why_not(self, module: str, name: str) -> str:
        """Why a module, or a name of it, may not be used; empty when it may."""
        if module == LIBRARY:
            names: Collection[str] = LIBRARY_NAMES
        elif module in PURE:
            names = PURE[module]
        elif module in self._allowed.modules:
            names = self._allowed.modules[module]
        else:
            return (
                f"it imports {module!r}: allowed are {LIBRARY}, a few pure modules, and the product modules with"
                " unwitnessed lines"
            )
        return f"{module!r} has no name {name!r} that a relation may use" if name and name not in names else ""


def _local_names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names


# ---------------------------------------------------------------- statements and names


def _statements(tree: ast.Module) -> Iterator[Refusal]:
    for node in tree.body:
        if not isinstance(node, _AT_MODULE_LEVEL):
            yield Refusal(node.lineno, f"a {_kind(node)} at the top of the file")
        elif isinstance(node, ast.Expr) and not _is_docstring(node, tree):
            yield Refusal(node.lineno, "the file does something when it is imported")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from _quiet(node)
    for each in ast.walk(tree):
        if (isinstance(each, ast.stmt) and not isinstance(each, _STATEMENTS)) or isinstance(
            each, _FORBIDDEN_EXPRESSIONS
        ):
            yield Refusal(each.lineno, f"a relation has no {_kind(each)}")


def _kind(node: ast.AST) -> str:
    return f"`{type(node).__name__.lower()}`"


def _is_docstring(node: ast.Expr, tree: ast.Module) -> bool:
    return node is tree.body[0] and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _quiet(node: ast.Assign | ast.AnnAssign) -> Iterator[Refusal]:
    """A name at the top may stand for data, a subject, a transformation or a law, and computes nothing else."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not all(isinstance(target, ast.Name) for target in targets):
        yield Refusal(node.lineno, "at the top of the file only plain names are given values")
    for each in _outside_of_lambdas(node.value) if node.value else ():
        if isinstance(each, ast.Call) and not (isinstance(each.func, ast.Name) and each.func.id in _QUIET_CALLS):
            yield Refusal(each.lineno, "the file calls something when it is imported")
        elif isinstance(each, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield Refusal(each.lineno, "the file computes something when it is imported")


def _at_import(tree: ast.Module) -> Iterator[Refusal]:
    """Defaults and annotations are worked out when the file is imported, wherever they stand."""
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.arguments):
            parts += [*node.defaults, *node.kw_defaults]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        for part in filter(None, parts):
            if not all(isinstance(each, _PLAIN) for each in ast.walk(part)):
                yield Refusal(part.lineno, "a default or an annotation computes something")


def _outside_of_lambdas(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda):
            yield from _outside_of_lambdas(child)


def _names(tree: ast.Module, found: _Bound) -> Iterator[Refusal]:
    known = found.local | found.bindings.names.keys() | BUILTINS
    for name in sorted(found.local):
        if name.startswith(("__", "pytest", "collect_ignore")) or name in BUILTINS:
            yield Refusal(0, f"the name {name!r} may not be given a meaning")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in known:
            yield Refusal(node.lineno, f"{node.id!r} is no name that a relation may use")
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, found)


def _attribute(node: ast.Attribute, found: _Bound) -> Iterator[Refusal]:
    if node.attr.startswith("_") or node.attr in FORBIDDEN_ATTRIBUTES or isinstance(node.ctx, ast.Store | ast.Del):
        yield Refusal(node.lineno, f"the attribute {node.attr!r}")
    module, name = found.bindings.of(node)
    why = found.why_not(module, name) if module else ""
    if why:
        yield Refusal(node.lineno, why)


# ---------------------------------------------------------------- tests


def _functions(tree: ast.Module, bindings: Bindings, allowed: Allowed) -> Iterator[Refusal]:
    tests = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        if node not in tree.body:
            yield Refusal(node.lineno, "functions stand at the top of the file")
        if node.name.lower().startswith("test"):
            tests += 1
            yield from _test(node, bindings, allowed)
        elif node.decorator_list:
            yield Refusal(node.lineno, "only tests are decorated, with @relation")
    if not tests:
        yield Refusal(0, "it holds no test: a function whose name begins with test_")
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        yield from _subject(call, bindings, allowed)


def _test(node: ast.FunctionDef, bindings: Bindings, allowed: Allowed) -> Iterator[Refusal]:
    given = node.args
    others = (given.vararg, given.kwarg, *given.kwonlyargs, *given.defaults)
    if len(given.posonlyargs) + len(given.args) != 1 or any(others):
        yield Refusal(node.lineno, "a test takes one parameter, the case: no fixtures")
    decorator = node.decorator_list[0] if len(node.decorator_list) == 1 else None
    if not isinstance(decorator, ast.Call) or bindings.library(decorator.func) != DECORATOR:
        yield Refusal(node.lineno, "a test is decorated with @relation(corpus=..., at_least=...) and nothing else")
        return
    values = {keyword.arg: keyword.value for keyword in decorator.keywords}
    if decorator.args:
        values["corpus"] = decorator.args[0]
    corpus, least = (getattr(values.get(name), "value", None) for name in ("corpus", "at_least"))
    if not isinstance(corpus, str) or not _CORPUS_NAME.fullmatch(corpus) or corpus not in allowed.corpora:
        yield Refusal(node.lineno, f"@relation names no corpus that there is: {corpus!r}")
    if type(least) is not int or least < 1 or set(values) != {"corpus", "at_least"}:
        yield Refusal(node.lineno, "@relation says with at_least=... from how many cases on it means something")


def _subject(call: ast.Call, bindings: Bindings, allowed: Allowed) -> Iterator[Refusal]:
    """``isolated`` and ``base`` name a function of a product module, in so many words."""
    if bindings.library(call.func) not in {"base", "isolated"}:
        return
    target = getattr(call.args[0], "value", None) if call.args else None
    module, _, dotted = target.partition(":") if isinstance(target, str) else ("", "", "")
    first, *rest = dotted.split(".")
    if first not in allowed.modules.get(module, ()) or any(part.startswith("_") for part in rest):
        yield Refusal(call.lineno, f"{target!r} names no function of a product module with unwitnessed lines")
