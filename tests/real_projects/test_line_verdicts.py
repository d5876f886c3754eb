"""What the oracle says about physical lines, on snippets whose unrun lines are marked by hand.

A line that ends in ``#-`` must not be seen after the tests, one that ends in ``#?`` was reached but not finished;
every other line with code must be seen.
"""

from __future__ import annotations

import pytest

from tests.real_projects.marked import Marked

CASES = {
    "arms of a conditional expression": (
        """
        def f(c):
            return (
                1
                if c
                else  #-
                2  #-
            )
        """,
        ["f(1)"],
    ),
    "a short circuit": (
        """
        def f(a, b, c):
            return (
                a
                and b
                or  #-
                c  #-
            )
        """,
        ["f(1, 1, 0)"],
    ),
    "a chained comparison": (
        """
        def f(a, b, c):
            return (
                a
                < b
                < c  #-
            )
        """,
        ["f(3, 2, 1)"],
    ),
    "a lambda that nobody calls": (
        """
        def f():
            return lambda x: (
                x  #-
                + 1  #-
            )
        """,
        ["f()"],
    ),
    "a comprehension whose condition rejects all": (
        """
        def f(xs):
            return [
                x * 2  #-
                for x in xs
                if x
                and x < 1  #-
            ]
        """,
        ["f([0])"],
    ),
    "a comprehension over nothing": (
        """
        def f(xs):
            return {
                x: 1  #-
                for x in xs
                if x  #-
            }
        """,
        ["f([])"],
    ),
    "match": (
        """
        def f(v):
            match v:
                case 1:
                    return "one"
                case [
                    x,
                    _,
                ] if (
                    x > 1
                ):
                    return x
                case {"k": k}:  #-
                    return k  #-
                case _:  #-
                    return None  #-
        """,
        ["f(1)", "f([2, 0])"],
    ),
    "a pattern that did not match": (
        """
        def f(v):
            match v:
                case [
                    1,  #?
                    2,  #?
                ]:  #?
                    return 1  #-
                case _:
                    return 0
        """,
        ["f(None)"],
    ),
    "try, with an exception": (
        """
        def f(g):
            try:
                g()
                x = 1  #-
            except (
                KeyError,
                ValueError,
            ) as e:
                x = e
            except OSError:  #-
                x = 2  #-
            else:  #-
                x = 3  #-
            finally:
                y = 4
            return y
        """,
        ["f(lambda: {}[1])"],
    ),
    "try, without one": (
        """
        def f():
            try:
                pass
            except:  #-
                raise  #-
            else:
                x = 3
            finally:
                y = x
        """,
        ["f()"],
    ),
    "if, elif, else": (
        """
        def f(x):
            if x == 1:
                pass  #-
            elif (
                x == 2
            ):
                pass
            elif x == 3:  #-
                pass  #-
            else:  #-
                pass  #-
        """,
        ["f(2)"],
    ),
    "loops and their else": (
        """
        def f(n):
            for i in range(n):
                if i:
                    break
            else:  #-
                n = 0  #-
            while n:
                n -= 1
                continue
            else:
                return
            return 1  #-
        """,
        ["f(3)"],
    ),
    "a generator that was created, not started": (
        """
        def f():
            def g():  #-
                yield 1  #-
            return g()
        """,
        ["f()"],
    ),
    "a generator that was started": (
        """
        def f():
            yield (
                1
            )
            yield 2  #-
        """,
        ["next(f())"],
    ),
    "definitions are seen when they are entered": (
        """
        def deco(f):  #-
            return f  #-
        @deco
        def used(
            a=deco,
        ):
            return a
        @deco  #-
        @deco  #-
        def unused(  #-
            a=(  #-
                1  #-
            ),  #-
        ):  #-
            return a  #-
        """,
        ["used()"],
    ),
    "one-line functions": (
        """
        def used(): return 1
        def unused(): return 2  #-
        """,
        ["used()"],
    ),
    "classes are seen when one of their functions is entered": (
        """
        class Used(
            object,
        ):
            x = 1
            def f(self): return 1
            def g(self): return 2  #-
        class Unused:  #-
            y = 1
            def f(self):  #-
                return 1  #-
        class Bare(Exception):
            z: int
        """,
        ["Used().f()"],
    ),
    "what follows an exception in the same statement": (
        """
        def f(g):
            return g(
                1 / 0,
                2,  #-
            )  #?
        """,
        ["f(int)"],
    ),
    "a chain of methods that breaks": (
        """
        def f(s):
            return (
                s
                .strip()
                .nothing()
                .upper()  #-
            )
        """,
        ["f('')"],
    ),
    "an unpacking that fails": (
        """
        def f(t):
            (
                a,
                b,
            ) = t
            return a  #-
        """,
        ["f((1,))"],
    ),
    "keywords and literals of a call": (
        """
        def f(g):
            return g(
                *(),
                1,
                "a"
                "b",
                key=
                (
                    2
                ),
                **{},
            )
        """,
        ["f(lambda *a, **k: 0)"],
    ),
    "format strings": (
        """
        def f(x):
            return (
                f"a{x}"
                f"b"
                "c"
            ) + (
                "d"
                if x
                else f"e{x}"  #-
            )
        """,
        ["f(1)"],
    ),
    "an assert that holds": (
        """
        def f(x):
            assert (
                x
            ), (  #-
                "message"  #-
            )
        """,
        ["f(1)"],
    ),
    "assignment expressions and del": (
        """
        def f(x):
            if (
                y :=
                x
            ):
                del (
                    x,
                    y,
                )
            else:  #-
                del x  #-
        """,
        ["f(1)"],
    ),
    "with": (
        """
        import contextlib
        def f(x):
            with (
                contextlib.suppress(ZeroDivisionError) as a,
                contextlib.nullcontext(1 / x)
                as b,  #-
            ):
                return b  #-
            return 0
        """,
        ["f(0)"],
    ),
    "async": (
        """
        import asyncio
        async def f(n):
            async def g():
                yield n
            async for i in (
                g()
            ):
                n = i
            return await (
                asyncio.sleep(0)
            )
        async def never():  #-
            await never()  #-
        """,
        ["asyncio.run(f(1))"],
    ),
    "dead code": (
        """
        def f():
            if 0:
                return 1  #-
            return 2
            return 3  #-
        """,
        ["f()"],
    ),
}


@pytest.mark.parametrize(("source", "tests"), CASES.values(), ids=list(CASES))
def test_each_line_is_seen_or_not_as_marked_by_hand(source: str, tests: list[str]) -> None:
    marked = Marked(source)
    for test in tests:
        marked.test(test)
    lines = marked.source.decode().split("\n")
    expected = {number for number, line in enumerate(lines, 1) if line.endswith(("#-", "#?"))}
    unsure = {number for number, verdict in marked.verdicts().items() if verdict["unsure"]}
    assert marked.unseen() == expected
    assert unsure == {number for number, line in enumerate(lines, 1) if line.endswith("#?")}


def test_a_test_that_does_not_pass_counts_for_nothing() -> None:
    marked = Marked("def f(x):\n    return x\n")
    marked.test("f(1)", passed=False)
    assert marked.unseen() == {1, 2}
    marked.test("f(1)")
    assert marked.unseen() == set()
    assert marked.verdicts()[2]["test"] == "f(1)"


def test_what_runs_only_at_import_counts_for_module_level_code_alone() -> None:
    marked = Marked("def f(x):\n    return x\ny = f(1)\nz = (lambda: y)()\n")
    verdicts = marked.verdicts()
    assert marked.unseen() == {1, 2}
    assert [verdicts[line]["import_only"] for line in (1, 2, 3)] == [True, True, True]
    assert (verdicts[4]["partial"], verdicts[4]["entered"]) == (True, False)


def test_a_lambda_on_the_line_is_told_apart_from_the_line() -> None:
    marked = Marked("def f(c):\n    g = lambda: 1\n    h = (x for x in c)\n    return g() if c else 0\n")
    marked.test("f(())")
    entered = {line: verdict["entered"] for line, verdict in marked.verdicts().items()}
    assert entered == {1: True, 2: False, 3: False, 4: None}
    marked.test("list(f([1]) for _ in (1,))")
    assert marked.verdicts()[2]["entered"] is True


def test_a_line_of_a_header_wants_its_lambdas_entered_too() -> None:
    marked = Marked("def f(\n    a=lambda: 1,\n    b=None,\n):\n    return a()\n\n@(lambda g: g)\nclass C: x = 1\n")
    marked.test("f(int)")
    seen = {line: verdict["seen"] for line, verdict in marked.verdicts().items()}
    assert (seen[1], seen[2], seen[3]) == (True, False, True)
    marked.test("f()")
    assert marked.verdicts()[2]["seen"] is True


def test_a_generator_expression_over_nothing_was_entered_once_it_was_asked() -> None:
    marked = Marked("def f(xs):\n    return sum(x for x in xs)\n")
    marked.test("f([])")
    assert marked.verdicts()[2]["entered"] is True


def test_lines_without_code_are_told_apart() -> None:
    marked = Marked(
        '''
        """doc
        doc"""
        # comment

        def f():
            """doc"""
            global g
            x: int
            g = 1
        '''
    )
    kinds = {line: verdict["kind"] for line, verdict in marked.verdicts().items()}
    assert kinds == {2: "none", 3: "none", 6: "definition", 7: "none", 8: "definition", 9: "none", 10: "code"}


def test_what_nothing_can_enter_is_seen_by_its_import() -> None:
    marked = Marked(
        """
        import typing as t
        @t.overload
        def f(
            x: int,
        ) -> int: ...
        def f(x):
            return x
        class P(t.Protocol):
            def stub(self) -> int: ...
            def more(self):
                return 1
        class Q(t.Protocol):
            def stub(self) -> int: ...
        class R:
            def no_stub(self) -> int: ...
        """
    )
    kinds = {line: verdict["kind"] for line, verdict in marked.verdicts().items() if verdict["kind"] == "stub"}
    assert sorted(kinds) == [3, 4, 5, 6, 10, 14]
    assert marked.unseen() == {7, 8, 9, 11, 12, 15, 16}


def test_a_generator_expression_of_the_module_may_run_at_import() -> None:
    marked = Marked("x = sum(\n    y\n    for y in (1,)\n)\nz = (y for y in (\n    1,\n))\n")
    entered = {line: verdict["entered"] for line, verdict in marked.verdicts().items()}
    assert marked.unseen() == set()
    assert (entered[1], entered[5]) == (True, False)


def test_marks_can_be_limited_to_the_lines_of_interest() -> None:
    source = "def f(a):\n    b = a\n    return (a,\n            b)\n"
    everything, focused = Marked(source), Marked(source, focus=(3,))
    for marked in (everything, focused):
        marked.test("f(1)")
    assert focused.tally.passed.keys() < everything.tally.passed.keys()
    assert focused.verdicts()[3] == everything.verdicts()[3]
