"""Whether protected test modules hold what their own files put into them.

Code under test is imported by test modules, and can reach into their namespaces from there: a ``__test__`` or a
``pytestmark`` among the names makes pytest leave a module's tests out, and so does a test function that is gone.
What a module's own text says stands; only what cannot come from it is told.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .places import Places

# What pytest asks a module for, beside its tests; in a conftest file also every name of a hook.
_STEERING = re.compile(
    r"__test__|pytestmark|pytest_\w+|collect_ignore(?:_glob)?|(?:setup|teardown)_(?:module|function)"
)
# What is defined at the top of a text, after a line break: a search for a fixed letter is many times faster.
_DEFINED = re.compile(rb"\n(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
# What is defined without a decorator: a decorator may well be the product's, and give anything.
_PLAIN = re.compile(rb"(?:\A|\n[ \t\r]*\n|\n#[^\n]*\n)(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)")
# A module that makes names of its own while it runs cannot be read off its text.
# Loaded by the recorder's plugin, before anything of the project.
_PYTEST = sys.modules.get("pytest")
_FROM_PYTEST = re.compile(rb"^from pytest import[ \t]+(\([^)]*\)|[^\n(]*)$", re.MULTILINE)
_MARKS = ("pytestmark", "__test__")
_MAKES_NAMES = re.compile(rb"\bglobals\(|\bvars\(\)|\bimport[ \t]*\*|\bexec\(|modules\[__name__\]")


def meddled(places: Places, origin: Callable[[Any], str], unread: Collection[str]) -> Iterator[tuple[str, str]]:
    """The path of each protected module with something in it that its text does not say, and what that is.

    ``origin`` gives the unprotected file that a value was written in, or an empty text. ``unread`` has the paths of
    those that could not be collected, which is told elsewhere: with ``--import-mode=importlib`` the half of a module
    that was executed stays among the modules.
    """
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        path = places.inside(name) if isinstance(module, ModuleType) and isinstance(name, str) else ""
        if path.endswith(".py") and places.is_protected(path):
            try:
                with open(str(name), "rb") as stream:
                    text = stream.read()
            except OSError:
                yield path, "the file was taken away"
                continue
            defined = [(kind, name.decode()) for kind, name in _DEFINED.findall(b"\n" + text)]
            tests = [name for kind, name in defined if kind == b"def" and name.startswith("test")]
            tests = [] if path in unread else tests
            for what in (
                *_strange(module, text, tests),
                *_fakes(module, text),
                *_replaced(module, text, defined, origin),
            ):
                yield path, what


def _replaced(
    module: ModuleType, text: bytes, defined: list[tuple[bytes, str]], origin: Callable[[Any], str]
) -> Iterator[str]:
    """Names that the module defines without a decorator, and that stand for something of an unprotected file."""
    space, file = vars(module), module.__file__
    plain: list[str] | None = None
    for _, name in defined:
        value = space.get(name)
        is_own = type(value) is FunctionType and value.__code__.co_filename == file
        if (is_own and "__wrapped__" not in value.__dict__) or not origin(value):
            continue
        if plain is None:
            plain = list(map(bytes.decode, _PLAIN.findall(text)))
        if name in plain and not _is_made_anew(name.encode(), text):
            yield f"`{name}` was replaced"


def _fakes(module: ModuleType, text: bytes) -> Iterator[str]:
    """Parts of pytest that the module asked for and was given something else."""
    space = vars(module)
    own = space.get("pytest")
    if b"pytest" not in text:
        return
    if own is not None and own is not _PYTEST and re.search(rb"^import pytest\b", text, re.MULTILINE):
        yield "what it imported as `pytest` was put in pytest's place"
    for names in _FROM_PYTEST.findall(text) if b"from pytest import" in text else ():
        for name in map(bytes.decode, re.findall(rb"(?<![\w.])\w+(?!\w*[ \t]+as\b)", names)):
            given, real = space.get(name), getattr(_PYTEST, name, None)
            if given is real or given is None or real is None:
                continue
            again = rb"\b%s[ \t]*(?::[^=\n]*)?=[^=]|(?:def|class)[ \t]+%s\b" % (name.encode(), name.encode())
            if not re.search(again, text):
                yield f"what it imported as `pytest.{name}` was put in its place"


def _is_made_anew(name: bytes, text: bytes) -> bool:
    """Whether the module itself gives the name to something else, too."""
    anew = rb"\b%s[ \t]*(?::[^=\n]*)?=[^=]|\bimport[ \t]*(?:\([^)]*|[^\n]*)\b%s\b" % (name, name)
    return _MAKES_NAMES.search(text) is not None or re.search(anew, text) is not None


def types_are_run() -> bool:
    """Whether somebody made ``typing.TYPE_CHECKING`` true, so that lines that are for types alone are executed."""
    return bool(getattr(sys.modules.get("typing"), "TYPE_CHECKING", False))


def _strange(module: ModuleType, text: bytes, tests: list[str]) -> Iterator[str]:
    space = vars(module)
    # A submodule becomes a name of its package.
    added = [n for n, value in list(space.items()) if _STEERING.fullmatch(n) and not isinstance(value, ModuleType)]
    gone = [name for name in tests if space.get(name) is None]
    if (added or gone) and not _MAKES_NAMES.search(text):
        code = compile(text, str(module.__file__), "exec", dont_inherit=True)
        own = set(code.co_names).union(*(inner.co_names for inner in code.co_consts if isinstance(inner, CodeType)))
        yield from (f"`{name}` was put into its module" for name in added if name not in own)
        yield from (f"`{name}` was taken out of its module" for name in gone if _is_made_once(name, code, text))
    lines: list[bytes] = []
    for value in list(space.values()):
        if isinstance(value, (FunctionType, type)) and value.__module__ == module.__name__:
            found = [name for name in _MARKS if name in value.__dict__]
            if found:
                lines = lines or text.split(b"\n")
                if not _is_plainly_decorated(value, lines):
                    yield from _strange_marks(value, text, found)


def _is_made_once(name: str, code: CodeType, text: bytes) -> bool:
    """Whether the module itself makes a name and does not mention it again, so that it cannot have removed it."""
    return name in code.co_names and len(re.findall(rb"\b%s\b" % name.encode(), text)) == 1


def _strange_marks(value: Any, text: bytes, found: list[str]) -> Iterator[str]:
    """Marks on a function or class that has no decorator, and a class that shall not be a test any more."""
    node = _definition(value, text)
    if node is None or node.decorator_list:
        return
    said = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    attributes = re.findall(rb"\b%s\.(\w+)" % value.__name__.encode(), text)
    for name in found:
        if name not in said and name.encode() not in attributes:
            yield f"`{name}` was put on `{value.__name__}`"


def _is_plainly_decorated(value: Any, lines: list[bytes]) -> bool:
    """Whether the lines of a function begin with a decorator: seen without parsing the file, which takes long."""
    code = getattr(value, "__code__", None)
    if not isinstance(code, CodeType) or code.co_name != value.__name__:
        return False
    return len(lines) > code.co_firstlineno and lines[code.co_firstlineno - 1].startswith(b"@")


@lru_cache(maxsize=1)
def _parsed(text: bytes) -> ast.Module:
    return ast.parse(text)


def _definition(value: Any, text: bytes) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    """The one definition of that name at the top of the module; ``None`` when there are none or several."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [node for node in _parsed(text).body if isinstance(node, kinds) and node.name == value.__name__]
    return found[0] if len(found) == 1 else None
