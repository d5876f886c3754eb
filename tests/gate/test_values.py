"""Named tuples of our own making behave like those of ``typing``."""

from __future__ import annotations

import copy
import pickle
import typing

import msgspec
import pytest

from linewitness import values


class Theirs(typing.NamedTuple):
    """A value."""

    path: str
    line: int
    notes: tuple[str, ...] = ()
    good: bool = True

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"


class Ours(values.NamedTuple):
    """A value."""

    path: str
    line: int
    notes: tuple[str, ...] = ()
    good: bool = True

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"


class Empty(values.NamedTuple):
    pass


class Single(values.NamedTuple):
    only: int = 7


def test_a_value_is_a_tuple_with_names_in_every_way_that_is_used() -> None:
    for kind in (Theirs, Ours):
        made = kind("a.py", line=3)
        assert tuple(made) == ("a.py", 3, (), True)
        assert (made.path, made.where, made[1]) == ("a.py", "a.py:3", 3)
        assert tuple(made._replace(line=4, good=False)) == ("a.py", 4, (), False)
        assert made._asdict() == {"path": "a.py", "line": 3, "notes": (), "good": True}
        assert repr(made) == f"{kind.__name__}(path='a.py', line=3, notes=(), good=True)"
        assert kind._make(["b", 1, (), False]) == ("b", 1, (), False)
        assert (pickle.loads(pickle.dumps(made)), copy.copy(made)) == (made, made)
        assert msgspec.json.decode(b'["c", 5]', type=kind) == kind("c", 5)
        assert isinstance(made, tuple)
        assert not hasattr(made, "__dict__")


def test_the_classes_tell_the_same_of_themselves() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    assert Ours.__new__.__qualname__ == "Ours.__new__"


def test_few_fields_and_none_are_fields_too() -> None:
    assert (Single(), Single(8), Empty()) == ((7,), (8,), ())


@pytest.mark.parametrize("kind", [Theirs, Ours])
def test_a_value_that_lacks_a_field_or_has_one_too_many_is_refused(kind: typing.Any) -> None:
    with pytest.raises(TypeError, match=r"__new__\(\) missing 1 required positional argument: 'line'"):
        kind("a.py")
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        kind("a.py", 1, size=2)
    with pytest.raises(TypeError, match="Expected 4 arguments, got 2"):
        kind._make(["a.py", 1])
    with pytest.raises((ValueError, TypeError), match="unexpected field names: \\['size'\\]"):
        kind("a.py", 1)._replace(size=2)


def test_a_field_without_a_default_behind_one_with_a_default_is_refused() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class Wrong(values.NamedTuple):
            first: int = 0
            second: int  # type: ignore[misc]
