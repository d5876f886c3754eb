"""Functions of the product as their source declares them: what they take, how they are called. Nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from linewitness.drafting.slices import Material, Module, module_body
from linewitness.model import RepoPath
from linewitness.values import NamedTuple

_NO_FUNCTION: Final = frozenset({
    "abstractmethod", "asynccontextmanager", "cached_property", "contextmanager", "deleter", "fixture", "overload",
    "property", "setter",
})  # fmt: skip
_MAKE_INIT: Final = frozenset({"attrs", "dataclass", "define", "frozen", "mutable", "s"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Parameter(NamedTuple):
    """One parameter that a case has to give. ``kind`` is its annotation in the words of :func:`kind`, or empty."""

    name: str
    kind: str
    by_name: bool = False


class Function(NamedTuple):
    """A function of a module, or of a class in it: ``name`` is then ``Class.method``.

    ``parameters`` are those without a default, or the first one when all have one. ``at_base`` tells that base has it
    too, with the same parameters; ``on_instance`` that it is called on a fresh ``Class()``; ``yields`` that its result
    has to be put into a list.
    """

    path: RepoPath
    module: str
    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    at_base: bool = False
    on_instance: bool = False
    yields: bool = False

    @property
    def takes(self) -> str:
        """The kind of the one parameter, empty when it is not said or there are several."""
        return self.parameters[0].kind if len(self.parameters) == 1 else ""

    @property
    def imported(self) -> str:
        """The name that is imported from the module."""
        return self.name.partition(".")[0]

    @property
    def target(self) -> str:
        """``module:function``."""
        return f"{self.module}:{self.name}"

    @property
    def is_plain(self) -> bool:
        """Whether the function itself takes the case."""
        return len(self.parameters) == 1 and not (self.parameters[0].by_name or self.on_instance or self.yields)

    def call(self, function: str = "", first: str = "") -> str:
        """The expression that calls it with what a case has; ``first`` stands for the first argument."""
        given = [f"{each.name}={self.value(each)}" if each.by_name else self.value(each) for each in self.parameters]
        if first:
            given[0] = f"{self.parameters[0].name}={first}" if self.parameters[0].by_name else first
        holder, dot, method = self.name.rpartition(".")
        name = function or (f"{holder}(){dot}{method}" if self.on_instance else self.name)
        called = f"{name}({', '.join(given)})"
        return f"list({called})" if self.yields else called

    def value(self, parameter: Parameter) -> str:
        """The expression for one argument, out of a case."""
        found = "case" if len(self.parameters) == 1 else f'case["{parameter.name}"]'
        return f"bytes.fromhex({found})" if parameter.kind == "bytes" else found


class Undraftable(NamedTuple):
    """A function that nothing can be drafted for without knowing more, and why."""

    path: RepoPath
    name: str
    why: str


def functions(material: Material) -> tuple[tuple[Function, ...], tuple[Undraftable, ...]]:
    """The functions of all modules with unwitnessed rows, in the order of the files, and those that are none."""
    found: list[Function] = []
    others: list[Undraftable] = []
    for module in material.modules:
        base_blob = material.case.base_tree.get(module.path)
        base = material.case.read(base_blob) if base_blob is not None and base_blob.is_regular else b""
        before = {name: _names(node, owner) for name, node, owner in _definitions(module_body(base))}
        for name, node, owner in _definitions(module_body(material.case.read_head(module.path) or b"")):
            why = "" if module.names else "no name leads to its module when the tests run"
            why = why or _why_not(node, owner)
            if why:
                others.append(Undraftable(module.path, name, why))
            else:
                same = before.get(name) == _names(node, owner)
                found.append(_function(module, name, node, owner)._replace(at_base=same))
    return tuple(found), tuple(others)


def _definitions(body: Sequence[ast.stmt]) -> Iterator[tuple[str, _Definition, ast.ClassDef | None]]:
    for node in body:
        if isinstance(node, _Definition):
            yield node.name, node, None
        elif isinstance(node, ast.ClassDef):
            inside = (each for each in node.body if isinstance(each, _Definition))
            yield from ((f"{node.name}.{each.name}", each, node) for each in inside)


def _why_not(node: _Definition, owner: ast.ClassDef | None) -> str:
    wrong = sorted(_decorators(node) & _NO_FUNCTION)
    if wrong:
        return f"@{wrong[0]} makes something else of it than a function"
    if isinstance(node, ast.AsyncFunctionDef) and _yields(node):
        return "it is an async generator"
    if owner is not None and node.name.startswith("_"):
        return "a draft may not name what begins with an underscore; draft for its callers"
    if owner is not None and not _decorators(node) & {"staticmethod", "classmethod"}:
        why = _why_no_instance(owner)
        if why:
            return f"it needs an instance of {owner.name}, and {why}"
    return "" if _parameters(node, owner) else "it takes no argument that a case could give"


def _why_no_instance(owner: ast.ClassDef) -> str:
    """Why ``Class()`` may not work, as far as the class says."""
    if owner.bases or owner.keywords:
        return "the class has bases, so its source does not say how to make one"
    if _decorators(owner) & _MAKE_INIT:
        required = [each for each in owner.body if isinstance(each, ast.AnnAssign) and each.value is None]
        return "making one takes arguments" if required else ""
    init = next((each for each in owner.body if isinstance(each, _Definition) and each.name == "__init__"), None)
    return "making one takes arguments" if init is not None and _required(init.args)[1:] else ""


def _decorators(node: _Definition | ast.ClassDef) -> set[str]:
    called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in called}


def _yields(node: _Definition) -> bool:
    """Whether the function itself is a generator, not one inside it."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(each, ast.Lambda | _Definition | ast.ClassDef):
            waiting += ast.iter_child_nodes(each)
    return False


def _function(module: Module, name: str, node: _Definition, owner: ast.ClassDef | None) -> Function:
    on_instance = owner is not None and not _decorators(node) & {"staticmethod", "classmethod"}
    returns = kind(ast.unparse(node.returns)) if node.returns else ""
    parameters = tuple(_parameters(node, owner))
    return Function(
        module.path, module.names[0], name, parameters, returns, on_instance=on_instance, yields=_yields(node)
    )


def _parameters(node: _Definition, owner: ast.ClassDef | None) -> list[Parameter]:
    bound = owner is not None and "staticmethod" not in _decorators(node)
    required = _required(node.args)[bound:]
    if not required:
        positional = [*node.args.posonlyargs, *node.args.args][bound:]
        required = [(each, False) for each in positional[:1]] or [(each, True) for each in node.args.kwonlyargs[:1]]
    return [
        Parameter(each.arg, kind(ast.unparse(each.annotation)) if each.annotation else "", by_name)
        for each, by_name in required
    ]


def _names(node: _Definition, owner: ast.ClassDef | None) -> list[tuple[str, bool]]:
    """How a case is handed over: what base takes in the same way can be compared, whatever it said of types."""
    return [(each.name, each.by_name) for each in _parameters(node, owner)]


def _required(given: ast.arguments) -> list[tuple[ast.arg, bool]]:
    """Parameters without a default, and whether each is given by name only."""
    positional = [*given.posonlyargs, *given.args]
    named = [each for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
    return [
        *((each, False) for each in positional[: len(positional) - len(given.defaults)]),
        *((each, True) for each in named),
    ]


def kind(annotation: str) -> str:
    """An annotation in a few words: ``Sequence[int]`` is ``list[int]``, ``int | None`` is ``int``; others stay."""
    text = annotation.replace(" ", "").replace("typing.", "").strip("\"'").replace("[Any]", "[int]")
    if text.startswith("Optional["):
        text = text[len("Optional[") : -1]
    text = next((each for each in _members(text) if each != "None"), text)
    head, bracket, rest = text.partition("[")
    if head.lower() in {"list", "sequence", "iterable", "collection", "iterator", "tuple", "set", "frozenset"}:
        inner = rest.removesuffix("]").removesuffix(",...") if bracket else "int"
        return f"list[{inner}]"
    if head.lower() in {"dict", "mapping", "mutablemapping", "typeddict"}:
        return "dict"
    return text


def _members(text: str) -> list[str]:
    """The members of a union, by the bars outside of brackets."""
    found, depth = [""], 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found


def scopes(material: Material) -> set[tuple[str, str]]:
    """Path and name of everything that unwitnessed rows lie in."""
    found: set[tuple[str, str]] = set()
    for row in material.rows:
        parts = row.scope.split(".")
        found |= {(row.path, ".".join(parts[:depth])) for depth in range(1, len(parts) + 1)}
    return found
