"""Asks the tests' interpreter what is true of the host, where nothing of the project runs.

A check that is left out on Windows says so in its own text. Whether this *is* Windows the run cannot tell: there the
code under test may have written to ``sys.platform``. So the condition is evaluated once more, in a process of its own,
and only where it asks for nothing but what the host alone decides.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable
from typing import Final

import msgspec

from linewitness.evidence.interpreter import Interpreter

_TIMEOUT: Final = 120
# Names that the process is born with; what can be set from outside, such as variables and files, base is asked about.
_FACTS: Final = frozenset({
    "os.name", "sys.platform", "sys.version", "sys.version_info", "sys.hexversion", "sys.implementation", "sys.maxsize",
    "sys.maxunicode", "sys.byteorder", "sys.api_version", "platform.system", "platform.machine", "platform.release",
    "platform.version", "platform.architecture", "platform.python_implementation", "platform.python_version",
    "platform.python_version_tuple", "platform.processor", "platform.libc_ver", "platform.mac_ver",
})  # fmt: skip
_METHODS: Final = frozenset({"startswith", "endswith", "lower", "upper", "split"})
_FORMS: Final = (
    ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Subscript, ast.Slice,
    ast.Load, ast.boolop, ast.unaryop, ast.cmpop,
)  # fmt: skip
_PROGRAM: Final = """
import importlib.util, json, os, platform, sys
conditions, modules = json.loads(sys.argv[1])
def is_true(text):
    try:
        return bool(eval(text, {"os": os, "platform": platform, "sys": sys}))
    except Exception:
        return False
def is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
json.dump([[text for text in conditions if is_true(text)], [name for name in modules if is_there(name)]], sys.stdout)
"""


def condition_of(node: ast.expr) -> str:
    """The text of a condition that asks for facts of the host alone; empty for every other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # A mark may give its condition as a text, which pytest evaluates.
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
    return ast.unparse(node) if _is_about_the_host(node) else ""


def _is_about_the_host(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in _FACTS or (_is_about_the_host(node.value) and not node.attr.startswith("_"))
    if isinstance(node, ast.Call):
        is_known = isinstance(node.func, ast.Attribute) and not node.keywords
        is_fact = is_known and ast.unparse(node.func) in _FACTS
        is_method = is_known and node.func.attr in _METHODS  # type: ignore[attr-defined]
        return (is_fact or is_method) and all(map(_is_about_the_host, (node.func, *node.args)))
    return isinstance(node, _FORMS) and all(map(_is_about_the_host, ast.iter_child_nodes(node)))


def ask_host(
    python: Interpreter, conditions: Iterable[str], modules: Iterable[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Which of the conditions are true, and which modules can be found. None and all, when nobody answers."""
    asked = (sorted(set(conditions)), sorted(set(modules)))
    if not any(asked):
        return frozenset(), frozenset()
    command = [str(python.path), "-I", "-B", "-c", _PROGRAM, msgspec.json.encode(asked).decode()]
    try:
        run = subprocess.run(command, capture_output=True, timeout=_TIMEOUT, check=False, cwd=python.path.parent)
        true, there = msgspec.json.decode(run.stdout, type=tuple[frozenset[str], frozenset[str]])
    except (OSError, ValueError, subprocess.TimeoutExpired, msgspec.MsgspecError):
        return frozenset(), frozenset(asked[1])
    return true, there
