"""Random programs that tell, by themselves, which of their lines ran.

Every call ``t(n, value)`` stands on a line of its own, writes ``n`` into a log and gives ``value`` (or raises it), so
the log is an oracle that shares nothing with a recorder: call ``n`` ran if, and only if, ``n`` is in the log.
"""

from __future__ import annotations

from random import Random

from linewitness.model import Pos

HEAD = """\
import asyncio
from contextlib import contextmanager

LOG = []


def t(number, value=True):
    LOG.append(number)
    if isinstance(value, type) and issubclass(value, BaseException):
        raise value(number)
    return value


@contextmanager
def guard(value, swallow):
    try:
        yield value
    except KeyError:
        if not swallow:
            raise
"""


_VALUES = ("True", "True", "True", "False", "1", "0", "[]", "[1]", "'x'")


class Writer:
    """Writes one function after the other; ``marks`` maps the number of each mark to its place."""

    def __init__(self, seed: int, *, match: bool) -> None:
        self._random = Random(seed)
        self._match = match
        self._lines = HEAD.splitlines()
        self._names = 0
        self.marks: dict[int, Pos] = {}

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def function(self, name: str) -> None:
        """One function without parameters."""
        self._lines += ["", "", f"def {name}():"]
        self._suite(1, depth=2)

    # ------------------------------------------------------------ pieces

    def _line(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _mark(self, indent: int, prefix: str = "", suffix: str = "") -> None:
        number = len(self.marks) + 1
        value = "KeyError" if self._random.random() < 0.01 else self._random.choice(_VALUES)
        self._line(indent, f"{prefix}t({number}, {value}){suffix}")
        self.marks[number] = Pos(len(self._lines), 4 * indent + len(prefix))

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _expression(self, indent: int, depth: int, prefix: str = "", suffix: str = "") -> None:
        """An expression that starts on a line of its own."""
        kinds = ["mark"] if depth <= 0 else ["mark", "bool", "if", "call", "list", "compare", "comp", "lambda", "chain"]
        kind = self._random.choice(kinds)
        if kind == "mark":
            self._mark(indent, prefix, suffix)
            return
        self._line(indent, prefix + "(")
        getattr(self, f"_{kind}_expression")(indent + 1, depth - 1)
        self._line(indent, ")" + suffix)

    def _bool_expression(self, indent: int, depth: int) -> None:
        word = self._random.choice(["and", "or"])
        self._expression(indent, depth)
        for _ in range(self._random.randint(1, 2)):
            self._expression(indent, depth, prefix=f"{word} ")

    def _if_expression(self, indent: int, depth: int) -> None:
        self._expression(indent, depth)
        self._expression(indent, depth, prefix="if ")
        self._expression(indent, depth, prefix="else ")

    def _call_expression(self, indent: int, depth: int) -> None:
        self._line(indent, "dict(")
        for word in ("a=", "b=", "c=0 if len(LOG) % 2 else "):
            self._expression(indent + 1, depth, prefix=word, suffix=",")
        self._line(indent, ")")

    def _list_expression(self, indent: int, depth: int) -> None:
        self._line(indent, "[")
        for word in ("", "", "not "):
            self._expression(indent + 1, depth, prefix=word, suffix=",")
        self._line(indent, "]")

    def _compare_expression(self, indent: int, depth: int) -> None:
        self._expression(indent, depth, prefix="1 == ")
        self._expression(indent, depth, prefix="== ")

    def _comp_expression(self, indent: int, depth: int) -> None:
        opening, closing = self._random.choice([("[", "]"), ("{", "}"), ("list(", ")"), ("sorted((", "), key=str)")])
        name = self._name()
        self._line(indent, opening)
        self._expression(indent + 1, depth, prefix="str(", suffix=")")
        self._line(indent + 1, f"for {name} in [0, 1, 2]")
        self._expression(indent + 1, depth, prefix=f"if {name} and ")
        self._line(indent, closing)

    def _lambda_expression(self, indent: int, depth: int) -> None:
        self._line(indent, "(lambda:")
        self._expression(indent + 1, depth)
        self._line(indent, self._random.choice([")()", ")"]))

    def _chain_expression(self, indent: int, depth: int) -> None:
        self._expression(indent, depth, prefix="str(", suffix=")")
        self._line(indent, ".upper()")
        self._line(indent, ".replace(")
        self._expression(indent + 1, depth, prefix="str(", suffix="),")
        self._line(indent + 1, "'y',")
        self._line(indent, ")")

    # ------------------------------------------------------------ statements

    def _suite(self, indent: int, depth: int) -> None:
        kinds = ["plain", "assign", "return", "assert"]
        if depth > 0:
            kinds += ["if", "for", "while", "try", "with", "nested", "plain", "generator", "async", "walrus", "klass"]
            kinds += ["match"] if self._match else []
        for _ in range(self._random.randint(1, 3)):
            getattr(self, f"_{self._random.choice(kinds)}_statement")(indent, depth - 1)

    def _plain_statement(self, indent: int, depth: int) -> None:
        self._expression(indent, depth + 1)

    def _assign_statement(self, indent: int, depth: int) -> None:
        self._expression(indent, depth + 1, prefix=f"{self._name()} = ")

    def _return_statement(self, indent: int, depth: int) -> None:
        self._line(indent, "if len(LOG) % 3 == 0:")
        self._expression(indent + 1, depth, prefix="return ")

    def _assert_statement(self, indent: int, depth: int) -> None:
        self._line(indent, "assert (")
        self._expression(indent + 1, depth)
        self._line(indent, "), (")
        self._expression(indent + 1, depth)
        self._line(indent, ")")

    def _if_statement(self, indent: int, depth: int) -> None:
        self._expression(indent, depth, prefix="if ", suffix=":")
        self._suite(indent + 1, depth)
        self._expression(indent, depth, prefix="elif ", suffix=":")
        self._suite(indent + 1, depth)
        self._line(indent, "else:")
        self._suite(indent + 1, depth)

    def _for_statement(self, indent: int, depth: int) -> None:
        self._line(indent, f"for {self._name()} in (")
        self._expression(indent + 1, 0, prefix="[0, 1] if ", suffix=" else []")
        self._line(indent, "):")
        self._suite(indent + 1, depth)
        self._line(indent, "else:")
        self._suite(indent + 1, depth)

    def _while_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"{name} = 0")
        self._line(indent, f"while {name} < 2 and (")
        self._expression(indent + 1, depth)
        self._line(indent, "):")
        self._line(indent + 1, f"{name} += 1")
        self._suite(indent + 1, depth)

    def _try_statement(self, indent: int, depth: int) -> None:
        self._line(indent, "try:")
        self._suite(indent + 1, depth)
        self._line(indent, "except (")
        self._expression(indent + 1, 0, prefix="ValueError if ", suffix=" else OSError,")
        self._line(indent, "):")
        self._suite(indent + 1, depth)
        self._line(indent, "except KeyError as error:")
        self._suite(indent + 1, depth)
        if self._random.random() < 0.5:
            self._line(indent, "else:")
            self._suite(indent + 1, depth)
        if self._random.random() < 0.5:
            self._line(indent, "finally:")
            self._suite(indent + 1, depth)

    def _with_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"with guard(1, {self._random.choice(['True', 'False'])}) as {name}, guard(")
        self._expression(indent + 1, depth, suffix=",")
        self._line(indent + 1, "True,")
        self._line(indent, "):")
        self._suite(indent + 1, depth)

    def _nested_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"def {name}(")
        self._expression(indent + 1, 0, prefix="first=", suffix=",")
        self._line(indent, "):")
        self._line(indent + 1, '"""Documented."""')
        self._suite(indent + 1, depth)
        if self._random.random() < 0.7:
            self._line(indent, f"{name}()")

    def _klass_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"class {name}:")
        self._line(indent + 1, '"""Documented."""')
        self._expression(indent + 1, depth, prefix="attribute = ")
        self._line(indent + 1, "def __init__(self, __mangled=1):")
        self._suite(indent + 2, 0)
        self._line(indent, f"{name}()")

    def _generator_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"def {name}():")
        self._expression(indent + 1, depth, prefix="got = yield ")
        self._expression(indent + 1, depth, prefix="yield got, ")
        self._line(indent, f"next({name}())")

    def _async_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"async def {name}():")
        self._line(indent + 1, "async def values():")
        self._expression(indent + 2, 0, prefix="yield ")
        self._line(indent + 1, "return [")
        self._expression(indent + 2, depth)
        self._line(indent + 2, "async for item in values()")
        self._expression(indent + 2, depth, prefix="if item and ")
        self._line(indent + 1, "]")
        self._line(indent, f"asyncio.run({name}())")

    def _walrus_statement(self, indent: int, depth: int) -> None:
        name = self._name()
        self._line(indent, f"if any(({name} := item) for item in [")
        self._expression(indent + 1, depth, suffix=",")
        self._line(indent, "]):")
        self._suite(indent + 1, depth)

    def _match_statement(self, indent: int, depth: int) -> None:
        self._line(indent, "match (")
        self._expression(indent + 1, depth)
        self._line(indent, "):")
        for pattern in ("True", "[1]", "[] | 0 | 'x'"):
            self._line(indent + 1, f"case {pattern} if (")
            self._expression(indent + 2, depth)
            self._line(indent + 1, "):")
            self._suite(indent + 2, depth)
        self._line(indent + 1, "case _:")
        self._suite(indent + 2, depth)


def write_programs(count: int, seed: int, *, match: bool) -> tuple[str, dict[int, Pos]]:
    """A module with ``count`` functions ``f0``, ``f1``, ... and the place of each mark."""
    writer = Writer(seed, match=match)
    for number in range(count):
        writer.function(f"f{number}")
    return writer.text, writer.marks
