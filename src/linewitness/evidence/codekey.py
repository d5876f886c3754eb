"""Tells whether two code objects come from the same source text at the same place.

Runs in the tested interpreter (3.9 and later, standard library only) on both sides: once over head's bytes before
anything of the patch runs, once over the code objects that the run really starts. Code objects compare by value but
leave out their positions, and a file name proves nothing (``exec(compile(text, same_name))``), hence an own digest.
"""

from __future__ import annotations

import sys

# Not hashlib: a child process that never starts a changed file should not pay for OpenSSL's bindings.
from _blake2 import blake2b
from collections.abc import Iterator
from types import CodeType

CO_OPTIMIZED = 0x1


def walk(top: CodeType) -> Iterator[CodeType]:
    """Every code object of a compilation, outermost first, in the fixed order of their constants."""
    stack = [top]
    while stack:
        code = stack.pop()
        yield code
        stack.extend(c for c in reversed(code.co_consts) if isinstance(c, CodeType))


def digest_of_bytes(source: bytes) -> str:
    """64 hex digits over the bytes of a file."""
    return blake2b(source, digest_size=32).hexdigest()


def digest(code: CodeType) -> str:
    """64 hex digits over everything the compiler put into ``code``, its file name and nested code objects aside.

    ``co_code`` is the plain byte code even while the interpreter has specialised or instrumented the object.
    """
    named = (
        code.co_name,
        getattr(code, "co_qualname", ""),
        code.co_firstlineno,
        code.co_flags,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (code.co_varnames, code.co_cellvars, code.co_freevars, code.co_names),
        _shape(code.co_consts),
    )
    found = blake2b(digest_size=32)
    for part in (
        _text(named).encode("utf-8", "backslashreplace"),
        code.co_code,
        getattr(code, "co_linetable", b""),
        getattr(code, "co_exceptiontable", b""),
    ):
        found.update(b"%d:" % len(part))
        found.update(part)
    return str(found.hexdigest())


def _text(named: object) -> str:
    try:
        return repr(named)
    except ValueError:
        # A number has more decimal digits than Python prints unless it is told to.
        limit = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            return repr(named)
        finally:
            sys.set_int_max_str_digits(limit)


def runs_at_import(code: CodeType) -> bool:
    """Whether ``code`` runs once, where it is defined: a module, a class body, or the scope of type parameters."""
    return not code.co_flags & CO_OPTIMIZED or code.co_name.startswith("<generic parameters of ")


# Their texts tell them apart. What stands for any other constant is a list, which no constant is.
_PLAIN = frozenset((bool, bytes, float, int, str, type(None)))


def _shape(constant: object) -> object:
    if isinstance(constant, CodeType):
        return ["code", constant.co_name]
    if isinstance(constant, tuple):
        if _PLAIN.issuperset(map(type, constant)):
            return constant
        return tuple([each if type(each) in _PLAIN else _shape(each) for each in constant])
    if isinstance(constant, frozenset):
        # The order of a set's elements depends on the hash seed.
        return ["frozenset", sorted(repr(each if type(each) in _PLAIN else _shape(each)) for each in constant)]
    return [type(constant).__name__, repr(constant)]
