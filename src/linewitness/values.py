"""Named tuples whose classes are made in a fraction of the time.

``typing.NamedTuple`` evaluates the text of a constructor for every class and compiles every annotation, which is most
of what importing a module of small values costs. Here all classes share their methods, and those with as many fields
the code of a constructor, with other names in it. For type checkers nothing is different. A class that uses it
stands in a module with ``from __future__ import annotations``.
"""

from __future__ import annotations

from collections import _tuplegetter as getter  # type: ignore[attr-defined]  # as in namedtuple itself
from functools import lru_cache
from types import CodeType, FunctionType

__all__ = ["NamedTuple"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self


class _Record(tuple):  # type: ignore[type-arg]
    """What every named tuple can do. The names are those that ``collections.namedtuple`` gave them."""

    __slots__ = ()
    _fields: tuple[str, ...]

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: Any) -> Self:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map('{}={!r}'.format, self._fields, self))})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Maker(type):
    """Makes a class of values of a class body. The result is an ordinary class."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if len(bases) > 1:
            raise TypeError("a named tuple has no other bases")
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body.pop(field) for field in fields if field in body}
        if fields[len(fields) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"in {name}, a field without a default follows one with a default")
        new = FunctionType(
            _constructor(len(fields)).replace(co_varnames=("_cls", *fields)),
            {"new": tuple.__new__, "__builtins__": {}, "__name__": body["__module__"]},
            "__new__",
            tuple(defaults.values()),
        )
        new.__qualname__ = f"{body['__qualname__']}.__new__"
        made = {"__slots__": (), "__new__": new, "__match_args__": fields}
        made |= {"_fields": fields, "_field_defaults": defaults}
        made |= {field: getter(at, f"Alias for field number {at}") for at, field in enumerate(fields)}
        return type(name, (_Record,), body | made)


@lru_cache(maxsize=64)
def _constructor(count: int) -> CodeType:
    """The code of a constructor with so many parameters."""
    names = "".join(f", _{at}" for at in range(count))
    text = f"lambda _cls{names}: new(_cls, ({names[2:]}{',' * bool(count)}))"
    code: CodeType = eval(text, {}).__code__  # noqa: S307 - the text is made of a number alone
    return code


if TYPE_CHECKING:
    from typing import NamedTuple
else:
    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
