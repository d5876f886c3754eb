"""A marked module must do exactly what the plain one does."""

from __future__ import annotations

import inspect
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.real_projects.marked import Marked, plain

BEHAVIOUR = {
    "docstrings stay where they are looked for": '''
        """of the module"""
        from __future__ import annotations
        def f():
            """of the function"""
        class C:
            """of the class"""
            x: undefined_name
        result = (__doc__, f.__doc__, f(), C.__doc__, C.__annotations__)
        ''',
    "future imports stay first without a docstring": """
        from __future__ import annotations
        from __future__ import division
        def f(a: undefined_name): return a
        result = f(1), f.__annotations__
        """,
    "truth is asked for once": """
        asked = []
        class Truth:
            def __init__(self, name, value): self.name, self.value = name, value
            def __bool__(self):
                asked.append(self.name)
                return self.value
            def __lt__(self, other):
                asked.append("compared")
                return self
        no, yes = Truth("no", False), Truth("yes", True)
        if no and yes: pass
        while no or no: pass
        if not no: pass
        if no < yes < yes: pass
        x = 1 if (yes and no) else 2
        [i for i in (1,) if yes or no]
        assert yes, no
        result = asked, x
        """,
    "order of evaluation": """
        log = []
        def t(x):
            log.append(x)
            return x
        d = {}
        d[t("key")] = t("value")
        (lambda *a, **k: None)(t(1), *[t(2)], k=t(3), **{"z": t(4)})
        {t(5): t(6), **{t(7): t(8)}}
        x = t(9) if t(0) else t(10)
        y = t(1) < t(2) < t(1) < t(99)
        d[t("key")] += t("added")
        result = log, d, x, y
        """,
    "private names are mangled": """
        class C:
            __x = 1
            def get(self): return self.__x, self.__m(2)
            def __m(self, __y): return __y
        result = C().get(), sorted(n for n in vars(C) if "C__" in n)
        """,
    "super without arguments and __class__": """
        class A:
            def f(self): return "A"
        class B(A):
            def f(self): return super().f() + "B" + __class__.__name__
        result = B().f()
        """,
    "generators send, return, close and delegate": """
        log = []
        def inner():
            try:
                got = yield 1
                log.append(got)
                yield 2
            finally:
                log.append("closed")
            return "returned"
        def outer():
            x = yield from inner()
            log.append(x)
            yield 3
        g = outer()
        first = next(g), g.send("sent")
        rest = list(g)
        h = inner(); next(h); h.close()
        result = first, rest, log
        """,
    "a generator expression does not close its source": """
        def source():
            try:
                yield 1
                yield 2
            finally:
                log.append("closed")
        log = []
        s = source()
        g = (x for x in s)
        next(g)
        g.close()
        result = log[:], next(s)
        """,
    "a generator expression refuses what cannot be iterated, at once": """
        try:
            g = (x for x in 3)
            result = "created"
        except TypeError as error:
            result = str(error)
        """,
    "async functions, comprehensions, loops and contexts": """
        import asyncio, contextlib
        @contextlib.asynccontextmanager
        async def manager():
            yield "m"
        async def numbers():
            for i in range(3):
                yield i
        async def f():
            out = [i async for i in numbers() if i]
            async for i in numbers():
                out.append(i)
            else:
                out.append("else")
            async with manager() as m:
                out.append(m)
            agen = (i async for i in numbers())
            out.append(await anext(agen))
            return out, await asyncio.sleep(0, "slept")
        result = asyncio.run(f())
        """,
    "match with every kind of pattern": """
        class P:
            __match_args__ = ("x",)
            def __init__(self, x): self.x = x
        def f(v):
            match v:
                case 1 | 2: return "or"
                case "s": return "value"
                case None: return "singleton"
                case [1, *rest] if rest: return rest
                case [a, (b, c)]: return a, b, c
                case {"k": k, **more}: return k, more
                case P(x=int(n)): return "P", n
                case str() as s: return s
                case _: return "else"
        result = [f(v) for v in (1, 2, "s", None, [1, 2], [1], [5, (6, 7)], {"k": 1, "l": 2}, P(3), P("x"), "t", 9.5)]
        """,
    "try in all its parts": """
        log = []
        def f(error):
            try:
                if error: raise error
            except (KeyError, ValueError) as e:
                log.append(type(e).__name__)
            except OSError:
                log.append("os")
                raise
            else:
                log.append("else")
            finally:
                log.append("finally")
            return "end"
        def g():
            for i in range(3):
                try:
                    continue
                finally:
                    if i == 1: break
            return i
        out = [f(None), f(KeyError())]
        try:
            f(OSError())
        except OSError:
            out.append("through")
        result = out, log, g()
        """,
    "exception groups": """
        def f():
            try:
                raise ExceptionGroup("g", [KeyError(1), ValueError(2)])
            except* KeyError as k:
                out.append(len(k.exceptions))
            except* ValueError:
                out.append("v")
        out = []
        f()
        result = out
        """,
    "assignment to everything": """
        class O: pass
        o = O()
        o.a, o.b = 1, [0, 0, 0]
        o.b[0], *o.rest = 1, 2, 3
        o.b[1:] = [7, 8, 9]
        o.a += 1
        o.b[0] -= 5
        (x, [y, *z]) = 1, [2, 3, 4]
        w: int = 5
        o.c: int = 6
        a = b = [1]
        del o.a, o.b[0], x
        for o.i, o.j in [(1, 2)]: pass
        result = vars(o), y, z, w, a is b
        """,
    "scopes of comprehensions and assignment expressions": """
        x = "outer"
        def f():
            if (n := 3) and [last := i for i in range(n)]:
                return n, last, [x for x in "ab"], {k: v for k, v in zip("ab", "cd")}, {i for i in (1, 1)}
        class C:
            y = [1, 2]
            z = [v for v in y]
        result = f(), x, C.z
        """,
    "global and nonlocal": """
        g = 1
        def f():
            global g
            g = 2
            h = 1
            def inner():
                nonlocal h
                h += 1
                return h
            return inner()
        result = f(), g
        """,
    "f-strings": """
        x, width = 3, 6
        result = f"{x}", f"{x!r:>{width}}|", f"{x=}", f"a{'b'}c" "d" f"{x + 1:0{width}d}", rf"\\{x}", f"{{}}", f""
        """,
    "decorators, defaults and closures": """
        calls = []
        def deco(arg):
            calls.append(arg)
            return lambda fn: fn
        @deco("outer")
        @deco("inner")
        def f(a, b=[], /, c=2, *args, d=4, **kw):
            return a, b, c, args, d, kw
        class M(type):
            def __new__(m, name, bases, ns, flag=None):
                c = super().__new__(m, name, bases, ns)
                c.flag = flag
                return c
        class K(metaclass=M, flag="x"):
            f"not a docstring"
            z = 1
        result = f(1), f(1, 2, 3, 4, d=5, e=6), calls, K.flag, [n for n in vars(K) if not n.startswith("__")], K.__doc__
        """,
    "enumerations and data classes": """
        import dataclasses, enum, typing
        class E(enum.Enum):
            A = 1
            B = enum.auto()
        @dataclasses.dataclass
        class D:
            x: int
            y: list = dataclasses.field(default_factory=list)
            z: typing.ClassVar[int] = 3
        class T(typing.NamedTuple):
            a: int
            b: str = "b"
        result = list(E), D(1), [f.name for f in dataclasses.fields(D)], T(1)
        """,
    "frames are where they were": """
        import sys
        def who(): return sys._getframe(1).f_code.co_name, sys._getframe(1).f_lineno
        def caller():
            x = [1,
                 who()]
            return x, sorted(locals())
        result = caller(), [who() for _ in range(1)]
        """,
    "tracebacks name the same lines": """
        import traceback
        def f(a):
            return [
                1,
                a
                .b,
            ]
        try:
            f(1)
        except AttributeError as e:
            found = traceback.extract_tb(e.__traceback__)
            result = [(s.lineno, s.name, s.end_lineno, s.colno, s.end_colno) for s in found]
        """,
    "with several managers and targets": """
        import contextlib
        with contextlib.nullcontext((1, 2)) as (a, b), contextlib.suppress(KeyError), (
            contextlib.nullcontext(3)
        ) as c:
            raise KeyError
        result = a, b, c
        """,
    "slices, stars and subscripts": """
        class S:
            def __getitem__(self, key): return key
        s = S()
        t = (1, 2)
        result = s[1:2], s[1:2, ::3], s[*t], s[...], [*t, 3], {**{"a": 1}}, (*t,), s[:]
        """,
    "recursion is as deep as before": """
        def f(n): return 0 if n == 0 else 1 + f(n - 1)
        result = f(700)
        """,
}

SINCE_3_12 = {
    "type parameters and aliases": """
        type Pair[T] = tuple[T, T]
        def first[T: (int, str)](p: Pair[T]) -> T: return p[0]
        class Box[T]:
            def get(self): return T
        result = first((1, 2)), str(Pair.__value__), first.__type_params__[0].__constraints__, str(Box().get())
        """,
}
if sys.version_info >= (3, 12):
    BEHAVIOUR |= SINCE_3_12


@pytest.mark.parametrize("source", BEHAVIOUR.values(), ids=list(BEHAVIOUR))
def test_a_marked_module_computes_what_the_plain_one_computes(source: str) -> None:
    assert repr(Marked(source).namespace["result"]) == repr(plain(source)["result"])


def test_code_objects_keep_the_lines_that_inspection_reads() -> None:
    source = """
        def deco(f): return f
        @deco
        def f(
            a,
            b=1,
        ):
            # a comment
            return a
        """
    lines = [made["f"].__code__.co_firstlineno for made in (plain(source), Marked(source).namespace)]
    assert lines == [3, 3]
    assert str(inspect.signature(Marked(source).namespace["f"])) == "(a, b=1)"


# ---------------------------------------------------------------- random expressions


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression whose leaves ``t(LEAF)`` stand each on a line of its own."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return "\nt(LEAF)\n"
    forms = (
        "({0} and {1})",
        "({0} or {1})",
        "({0} if {1} else {2})",
        "(not {0})",
        "(lambda: {0})() + bool({1})",
        "sum([bool({0}) for _ in range(2) if {1}])",
        "sum(bool({0}) for _ in range(bool({1})))",
        "(bool({0}) < bool({1}) < bool({2}))",
        "(lambda x, y: y)({0}, {1})",
        "any([{0}, {1}])",
        "any(z for z in [{0}, {1}] if z)",
        'len(f"""{{{0}}}{{{1}}}""")',
    )
    form: str = draw(st.sampled_from(forms if sys.version_info >= (3, 12) else forms[:-1]))
    parts: list[str] = [draw(expressions(depth - 1)) for _ in range(3)]
    return form.format(*parts)


@given(st.data())
def test_lines_of_random_expressions_are_seen_exactly_when_their_leaves_ran(data: st.DataObject) -> None:
    text = data.draw(expressions())
    leaves = text.count("LEAF")
    for number in range(leaves):
        text = text.replace("LEAF", str(number), 1)
    source = f"def f(t):\n    return (\n{text}\n)\n"
    values = data.draw(st.lists(st.booleans(), min_size=leaves, max_size=leaves))
    ran: set[int] = set()

    def leaf(number: int) -> bool:
        ran.add(number)
        return values[number]

    expected = plain(source)["f"](leaf)
    ran_plainly = set(ran)
    ran.clear()
    marked = Marked(source)
    marked.namespace["leaf"] = leaf
    assert marked.test("f(leaf)") == expected
    assert ran == ran_plainly
    verdicts = marked.verdicts()
    lines = {n: source[: source.index(f"\nt({n})\n")].count("\n") + 2 for n in range(leaves)}
    assert {n for n in range(leaves) if verdicts[lines[n]]["seen"]} == ran
