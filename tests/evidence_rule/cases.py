"""Constructs whose physical lines are hard to tell apart: each with the calls that are recorded one by one.

Every source defines ``f``; a call is the text of its arguments. Lines are judged by an independent oracle, so the cases
hold no expectations of their own.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """``since`` is the first Python version that reads the source."""

    name: str
    source: str
    calls: tuple[str, ...]
    since: tuple[int, int] = (3, 9)


CASES = (
    Case(
        "call_multi",
        """def f(g):
    return g(
        1,
        "a"
        "b",
        k=2,
    )
""",
        ("(lambda *a, **k: 0,)",),
    ),
    Case(
        "call_names",
        """def f(g, x, y):
    return g(
        x,
        y,
    )
""",
        ("(lambda *a: 0, 1, 2)",),
    ),
    Case(
        "call_raises",
        """def f(g, bad):
    r = g(
        bad(),
        1,
    )
    return r
""",
        ("(lambda *a: 0, lambda: 1/0)",),
    ),
    Case(
        "method_chain",
        """def f(s):
    return (
        s.strip()
        .upper()
        .lower()
    )
""",
        ("('a',)",),
    ),
    Case(
        "decorator",
        '''def deco(x):
    return lambda fn: fn
@deco(
    1
)
@deco(2)
def f(
    a,
    b=3,
    *,
    c=deco,
):
    """doc
    more"""
    return a
''',
        ("(1,)",),
    ),
    Case(
        "dict_literal",
        """def f(x):
    return {
        "a":
            x,
        "b": 2,
        **{},
    }
""",
        ("(1,)",),
    ),
    Case(
        "const_tuple",
        """def f():
    t = (
        1,
        2,
        "z",
    )
    return t
""",
        ("()",),
    ),
    Case(
        "const_list_dict",
        """def f():
    t = [
        1,
        2,
        3,
    ]
    d = {
        "a": 1,
        "b": 2,
    }
    return t, d
""",
        ("()",),
    ),
    Case(
        "with_multi",
        """def f(cm):
    with (
        cm() as a,
        cm() as b,
    ):
        x = a
    return b
""",
        ("(__import__('contextlib').nullcontext,)",),
        (3, 10),
    ),
    Case(
        "match",
        """def f(v):
    match v:
        case [
            1,
            y,
        ] if (
            y > 3
        ):
            r = 1
        case {"k": k}:
            r = k
        case (int()
              | str()):
            r = 3
        case _:
            r = 4
    return r
""",
        (
            "([1, 5],)",
            "([1, 2],)",
            "({'k': 1},)",
            "(7,)",
            "(None,)",
        ),
        (3, 10),
    ),
    Case(
        "comp_filter",
        """def f(xs):
    return [
        x * 2
        for x in xs
        if x > 0
        and x < 10
    ]
""",
        (
            "([],)",
            "([-1],)",
            "([1],)",
            "([100],)",
        ),
    ),
    Case(
        "genexp",
        """def f(xs):
    return sum(
        x
        for x in xs
        if x
    )
""",
        (
            "([],)",
            "([0],)",
            "([1],)",
        ),
    ),
    Case(
        "fstring",
        """def f(x, y):
    return (
        f"a{x}"
        f"b{y!r:>{x}}"
        "plain"
        f"c"
    )
""",
        ("(1, 2)",),
    ),
    Case(
        "fstring_triple",
        '''def f(x, y):
    return f"""
      {x}
      text
      {y}
    """
''',
        ("(1, 2)",),
    ),
    Case(
        "chained_cmp",
        """def f(a, b, c):
    return (
        a
        < b
        < c
    )
""",
        (
            "(1, 2, 3)",
            "(5, 2, 3)",
        ),
    ),
    Case(
        "paren_bool",
        """def f(a, b, c):
    if (
        a
        and b
        or c
    ):
        return 1
    return 2
""",
        (
            "(1, 1, 0)",
            "(0, 1, 1)",
            "(0, 0, 0)",
        ),
    ),
    Case(
        "bool_value",
        """def f(a, b, c):
    x = (
        a and
        b and
        c
    )
    return x
""",
        (
            "(1, 1, 1)",
            "(0, 1, 1)",
            "(1, 0, 1)",
        ),
    ),
    Case(
        "ifexp",
        """def f(a, b, c):
    x = (
        a
        if c
        else b
    )
    return x
""",
        (
            "(1, 2, 1)",
            "(1, 2, 0)",
        ),
    ),
    Case(
        "ifexp_const",
        """def f(c):
    x = (
        1
        if c
        else 2
    )
    return x
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "lambda_body",
        """def f(call):
    g = lambda x: (
        x +
        1
    )
    if call:
        return g(1)
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "lambda_oneline",
        """def f(call):
    g = lambda x: x + 1
    if call:
        return g(1)
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "ifelse",
        """def f(c):
    if c:
        x = 1
    elif (
        c is None
    ):
        x = 2
    else:
        x = 3
    return x
""",
        (
            "(1,)",
            "(None,)",
            "(0,)",
        ),
    ),
    Case(
        "try",
        """def f(c):
    try:
        c()
    except (
        KeyError,
        ValueError,
    ) as e:
        x = e
    except OSError:
        pass
    else:
        x = 1
    finally:
        y = 2
    return y
""",
        (
            "(int,)",
            "(lambda: {}[1],)",
            "(lambda: open('/nonexist'),)",
        ),
    ),
    Case(
        "loop_ctl",
        """def f(n):
    for i in range(n):
        if i == 1:
            continue
        if i == 3:
            break
        pass
    else:
        x = 1
    while True:
        break
    return
""",
        (
            "(0,)",
            "(2,)",
            "(5,)",
        ),
    ),
    Case(
        "assert_multi",
        """def f(a):
    assert (
        a
    ), (
        "msg"
        + str(a)
    )
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "dead_code",
        """def f(a):
    global G
    x: int
    if 0:
        G = 1
    if __debug__:
        a = 1
    "just a string"
    ...
    1 + 1
    return a
    a = 3
""",
        ("(1,)",),
    ),
    Case(
        "subscript",
        """def f(d, k):
    d[
        k
    ] = (
        k,
        d
    )
    return d[
        k
    ][
        0:
        1
    ]
""",
        ("({}, 1)",),
    ),
    Case(
        "unpack",
        """def f(t):
    (
        a,
        b,
    ) = t
    return a
""",
        ("((1, 2),)",),
    ),
    Case(
        "walrus",
        """def f(g):
    if (
        x :=
        g()
    ):
        return x
""",
        (
            "(lambda: 0,)",
            "(lambda: 1,)",
        ),
    ),
    Case(
        "binop",
        """def f(a, b):
    return (
        a
        + b
        * 2
    )
""",
        ("(1, 2)",),
    ),
    Case(
        "raise",
        """def f(a):
    raise ValueError(
        "x"
        "y",
        a,
    ) from (
        None
    )
""",
        ("(1,)",),
    ),
    Case(
        "import",
        """def f():
    from os import (
        path,
        sep,
    )
    return sep
""",
        ("()",),
    ),
    Case(
        "star_call",
        """def f(g, a, k):
    return g(
        *a,
        **k,
        z=1,
    )
""",
        ("(lambda *a, **k: 0, [1], {})",),
    ),
    Case(
        "gen_yield",
        """def f(n):
    def g():
        yield (
            n
        )
        yield 2
    it = g()
    if n:
        next(it)
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "async",
        """import asyncio
def f(n):
    async def g():
        async with (
            cm()
        ) as x:
            pass
        async for i in (
            ag()
        ):
            y = i
        return await (
            asyncio.sleep(0)
        )
    from asyncio import Lock as cm
    async def ag():
        yield 1
    if n:
        asyncio.run(g())
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "class_body",
        '''def f():
    class A(
        object,
    ):
        """doc"""
        x: int = 1
        y: (
            str
        )
        def m(
            self,
            a: int,
            b: str = "x",
        ) -> (
            int
        ):
            return 1
    return A
''',
        ("()",),
    ),
    Case(
        "slice_default",
        """def f(a, b):
    del (
        a,
        b,
    )
    return None
""",
        ("(1, 2)",),
    ),
    Case(
        "return_oneline_def",
        """def f(call):
    def g(): return 1
    class C: x = 1
    if call: return g()
    return 2
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "return_ifexp",
        """def f(c):
    return 1 if c else 2
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "return_ifexp_lines",
        """def f(c):
    return (
        1
        if c
        else 2
    )
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "return_ifexp_calls",
        """def f(c, a, b):
    return (
        a()
        if c
        else b()
    )
""",
        (
            "(1, int, str)",
            "(0, int, str)",
        ),
    ),
    Case(
        "return_const_lines",
        """def f(c):
    if c:
        return (
            'yes'
        )
    return (
        'no'
    )
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "nested_ifexp",
        """def f(a, b):
    return (
        1
        if a
        else 2
        if b
        else 3
    )
""",
        (
            "(1, 0)",
            "(0, 1)",
            "(0, 0)",
        ),
    ),
    Case(
        "ifexp_argument",
        """def f(g, c):
    return g(
        'a' if c else 'b',
        'c'
        if c
        else 'd',
    )
""",
        (
            "(print, 1)",
            "(print, 0)",
        ),
    ),
    Case(
        "bool_return",
        """def f(a, b):
    return (
        a
        or b
    )
""",
        (
            "(1, 2)",
            "(0, 2)",
        ),
    ),
    Case(
        "bool_const",
        """def f(a):
    return (
        a
        or 'default'
    )
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "bool_const_chain",
        """def f(a, b):
    x = (
        a
        and b
        and 'both'
    )
    return x
""",
        (
            "(1, 1)",
            "(1, 0)",
            "(0, 0)",
        ),
    ),
    Case(
        "bool_mixed",
        """def f(a, b, c, d):
    if (
        (a and b)
        or (
            c
            and d
        )
    ):
        return 1
""",
        (
            "(1, 1, 0, 0)",
            "(0, 0, 1, 1)",
            "(0, 0, 0, 0)",
        ),
    ),
    Case(
        "not_and",
        """def f(a, b):
    while (
        not a
        and b
    ):
        b = 0
    return b
""",
        (
            "(0, 1)",
            "(1, 1)",
        ),
    ),
    Case(
        "call_raises_late",
        """def f(g, h):
    return g(
        1,
        h(),
        key=2,
    )
""",
        (
            "(lambda *a, **k: 0, lambda: 1/0)",
            "(lambda *a, **k: 0, int)",
        ),
    ),
    Case(
        "keyword_names",
        """def f(g, x):
    return g(
        first=x,
        second=
            x,
        third=3,
    )
""",
        ("(lambda **k: 0, 1)",),
    ),
    Case(
        "dict_comp",
        """def f(xs):
    return {
        x:
            x * 2
        for x in xs
        if x
    }
""",
        (
            "([],)",
            "([0],)",
            "([1],)",
        ),
    ),
    Case(
        "set_comp",
        """def f(xs):
    return {
        x
        for y in xs
        for x in y
        if x
    }
""",
        (
            "([],)",
            "([[]],)",
            "([[0]],)",
            "([[1]],)",
        ),
    ),
    Case(
        "comp_const",
        """def f(xs):
    return [
        1
        for x in xs
    ]
""",
        (
            "([],)",
            "([1],)",
        ),
    ),
    Case(
        "comp_ifexp",
        """def f(xs):
    return [
        'a'
        if x
        else 'b'
        for x in xs
    ]
""",
        (
            "([],)",
            "([1],)",
            "([0],)",
        ),
    ),
    Case(
        "nested_comp",
        """def f(xs):
    return [
        [
            z
            for z in x
        ]
        for x in xs
    ]
""",
        (
            "([],)",
            "([[]],)",
            "([[1]],)",
        ),
    ),
    Case(
        "lambda_const",
        """def f(call):
    g = (
        lambda:
            'x'
    )
    return g() if call else g
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "lambda_default",
        """def f(call):
    g = lambda x=(
        call
    ): (
        x
    )
    return g() if call else g
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "lambda_args",
        """def f(call):
    return sorted(
        call,
        key=lambda x: (
            -x
        ),
    )
""",
        (
            "([],)",
            "([1],)",
        ),
    ),
    Case(
        "try_else_finally",
        """def f(c):
    try:
        c()
    except ZeroDivisionError:
        x = 1
    else:
        x = 2
    finally:
        z = [
            c,
            1,
        ]
    return x
""",
        (
            "(int,)",
            "(lambda: 1/0,)",
            "(lambda: {}[0],)",
        ),
    ),
    Case(
        "finally_return",
        """def f(c):
    try:
        return c()
    finally:
        (
            c
        )
""",
        (
            "(int,)",
            "(lambda: 1/0,)",
        ),
    ),
    Case(
        "nested_try",
        """def f(c):
    try:
        try:
            c()
        except KeyError:
            pass
    except (
        ZeroDivisionError
    ):
        raise
    return 1
""",
        (
            "(int,)",
            "(lambda: 1/0,)",
            "(lambda: {}[0],)",
        ),
    ),
    Case(
        "with_suppress",
        """import contextlib
def f(c):
    with contextlib.suppress(KeyError):
        c()
        x = 1
    return 2
""",
        (
            "(int,)",
            "(lambda: {}[0],)",
        ),
    ),
    Case(
        "with_multi_fail",
        """import contextlib
def f(a, b):
    with (
        contextlib.nullcontext(a) as x,
        contextlib.nullcontext(b()) as y,
    ):
        return x
""",
        (
            "(1, int)",
            "(1, lambda: 1/0)",
        ),
    ),
    Case(
        "for_else",
        """def f(xs):
    for x in (
        xs
    ):
        if x:
            break
    else:
        x = 3
    return x
""",
        (
            "([],)",
            "([1],)",
            "([0],)",
        ),
    ),
    Case(
        "for_unpack",
        """def f(xs):
    for (
        a,
        b,
    ) in xs:
        c = a
    return 1
""",
        (
            "([],)",
            "([(1, 2)],)",
        ),
    ),
    Case(
        "while_true",
        """def f(n):
    while True:
        n -= 1
        if n < 0:
            return n
        continue
""",
        (
            "(0,)",
            "(2,)",
        ),
    ),
    Case(
        "while_else",
        """def f(n):
    while n:
        n -= 1
        if n == 5:
            break
    else:
        return 'done'
    return 'broke'
""",
        (
            "(0,)",
            "(2,)",
            "(6,)",
        ),
    ),
    Case(
        "match_class",
        """class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y):
        self.x, self.y = x, y
def f(v):
    match v:
        case P(
            x=0,
            y=y,
        ):
            return y
        case P(x, 1):
            return x
        case [P(), *rest]:
            return rest
        case _ if v:
            return 'truthy'
    return None
""",
        (
            "(P(0, 2),)",
            "(P(3, 1),)",
            "([P(1, 2), 3],)",
            "(5,)",
            "(0,)",
        ),
        (3, 10),
    ),
    Case(
        "match_or_value",
        """import enum
class E(enum.Enum):
    A = 1
    B = 2
    C = 3
def f(v):
    match v:
        case E.A | E.B:
            return 1
        case (
            E.C
        ):
            return 2
        case 'x' | 'y' as s:
            return s
        case None:
            return 3
        case {'k': [1, z]}:
            return z
""",
        (
            "(E.A,)",
            "(E.B,)",
            "(E.C,)",
            "('y',)",
            "(None,)",
            "({'k': [1, 2]},)",
            "(7,)",
        ),
        (3, 10),
    ),
    Case(
        "match_guard_lines",
        """def f(v, g):
    match v:
        case int() if (
            v > 1
            and g
        ):
            return 1
        case int():
            return 2
    return 3
""",
        (
            "(5, 1)",
            "(5, 0)",
            "(0, 1)",
            "('', 1)",
        ),
        (3, 10),
    ),
    Case(
        "assert_lines",
        """def f(a, b):
    assert (
        a
        or b
    ), f'{a}'
    assert a, (
        'no'
    )
    return 1
""",
        (
            "(1, 0)",
            "(0, 1)",
            "(0, 0)",
        ),
    ),
    Case(
        "raise_from",
        """def f(a):
    if a:
        raise ValueError(
            'x',
        ) from None
    return 1
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "augmented",
        """def f(d, k):
    d[
        k
    ] += (
        1
    )
    return d
""",
        (
            "({1: 1}, 1)",
            "({}, 1)",
        ),
    ),
    Case(
        "starred",
        """def f(a, b):
    x = [
        *a,
        *b,
    ]
    (
        first,
        *rest
    ) = x
    return rest
""",
        (
            "([1], [2])",
            "([], [])",
        ),
    ),
    Case(
        "fstring_lines",
        """def f(a, b):
    return (
        f'{a}'
        f'{a!r:>{b}}'
        f'{"x" if b else a}'
    )
""",
        (
            "(1, 2)",
            "(1, 0)",
        ),
    ),
    Case(
        "fstring_parts",
        """def f(a):
    x = f'''
    {a}
    plain
    {a +
     1}
    '''
    return x
""",
        ("(1,)",),
    ),
    Case(
        "joined_text",
        """def f(a):
    x = (
        'one '
        'two '
        'three'
    )
    return a(
        'one '
        'two',
    )
""",
        (
            "(str,)",
            "(lambda _: 1/0,)",
        ),
    ),
    Case(
        "format_call",
        """def f(a):
    return (
        '{} {}'
        .format(
            a,
            a,
        )
    )
""",
        ("(1,)",),
    ),
    Case(
        "table",
        """def f(a):
    return {
        'one': [
            1,
            2,
        ],
        'two': (
            a,
            3,
        ),
        'three': {
            'x': -1,
        },
    }
""",
        ("(1,)",),
    ),
    Case(
        "const_fold",
        """def f():
    x = (
        60
        * 60
        * 24
    )
    return x
""",
        ("()",),
    ),
    Case(
        "unary",
        """def f(a):
    return (
        -
        a
    )
""",
        ("(1,)",),
    ),
    Case(
        "chained",
        """def f(a, b):
    return (
        0
        <= a
        <= b
        <= 10
    )
""",
        (
            "(1, 2)",
            "(-1, 2)",
            "(3, 2)",
        ),
    ),
    Case(
        "in_tuple",
        """def f(a):
    if a in (
        1,
        2,
    ):
        return 1
    return 0
""",
        (
            "(1,)",
            "(3,)",
        ),
    ),
    Case(
        "slices",
        """def f(a, i):
    return a[
        i:
        i + 1,
        ...,
    ]
""",
        ("({}, 1)",),
    ),
    Case(
        "walrus_comp",
        """def f(xs):
    return [
        y
        for x in xs
        if (y := x + 1)
    ]
""",
        (
            "([],)",
            "([-1],)",
            "([1],)",
        ),
    ),
    Case(
        "generator",
        """def f(n):
    def g():
        x = yield (
            1
        )
        yield from (
            x,
        )
    it = g()
    for _ in range(n):
        next(it)
""",
        (
            "(0,)",
            "(1,)",
            "(2,)",
        ),
    ),
    Case(
        "coroutine",
        """import asyncio
def f(n):
    async def g():
        x = [
            y
            async for y in h()
            if y
        ]
        return await (
            k(
                x
            )
        )
    async def h():
        if n:
            yield n
    async def k(x):
        return x
    return asyncio.run(g())
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "inner_class",
        """def f(n):
    class A(
        object,
        metaclass=type,
    ):
        x = (
            n
        )
        if n:
            y = 1
        else:
            y = 2
    return A
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "semicolons",
        """def f(a):
    x = a; y = 1 / a; z = 2
    return x
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "oneline_if",
        """def f(a):
    if a: return 1
    for x in a or (): pass
    while a: a = 0
    return 2
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "oneline_try",
        """def f(a):
    try: a()
    except KeyError: x = 1
    else: x = 2
    finally: y = 3
    return x
""",
        (
            "(int,)",
            "(lambda: {}[0],)",
        ),
    ),
    Case(
        "backslash",
        r"""def f(a, b):
    x = a \
        and b \
        or 3
    return x
""",
        (
            "(1, 1)",
            "(0, 1)",
        ),
    ),
    Case(
        "delete",
        """def f(a, k):
    del a[
        k
    ], k
    return a
""",
        (
            "({1: 2}, 1)",
            "({}, 1)",
        ),
    ),
    Case(
        "import_lines",
        """def f(c):
    if c:
        import os.path as p, sys
        from os import (
            path as q,
            sep,
        )
    return 1
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "early_exit",
        """def f(a):
    if not a:
        return
    b = [
        a,
    ]
    return b
""",
        (
            "(0,)",
            "(1,)",
        ),
    ),
    Case(
        "loop_break_first",
        """def f(xs):
    for x in xs:
        if x:
            continue
        y = x
        break
    return 1
""",
        (
            "([],)",
            "([1],)",
            "([0],)",
        ),
    ),
    Case(
        "except_group",
        """def f(c):
    try:
        c()
    except* KeyError as e:
        x = e
    except* (
        ValueError
    ):
        x = 2
    return 1
""",
        (
            "(int,)",
            "(lambda: {}[0],)",
        ),
        (3, 11),
    ),
    Case(
        "type_params",
        """def f(c):
    def g[T](
        a: T,
    ) -> T:
        return a
    class A[T]:
        x = 1
    type L[T] = list[T]
    return g(c) if c else A
""",
        (
            "(0,)",
            "(1,)",
        ),
        (3, 12),
    ),
    Case(
        "fstring_701",
        """def f(a):
    return f'{a['k']
        if a
        else 'none'}'
""",
        (
            "({'k': 1},)",
            "({},)",
        ),
        (3, 12),
    ),
    Case(
        "conditional_import",
        """try:
    import nothing_here
except ImportError:
    nothing_here = None
def f():
    return nothing_here
""",
        ("()",),
    ),
    Case(
        "property_chain",
        """def f(a):
    return (
        a
        .real
        .imag
        .bit_length()
    )
""",
        (
            "(1,)",
            "(None,)",
        ),
    ),
    Case(
        "default_dict",
        """def f(d, k):
    return d.get(
        k,
        {},
    ).get(
        'x',
        [],
    )
""",
        ("({}, 1)",),
    ),
    Case(
        "star_kwargs",
        """def f(g, k):
    return g(
        **k,
        **{
            'z': 1,
        },
    )
""",
        ("(lambda **k: 0, {})",),
    ),
    Case(
        "ternary_calls_args",
        """def f(a, g):
    return g(
        x=1 if a else 2,
        y=(
            a and
            g
        ),
    )
""",
        (
            "(0, lambda **k: 0)",
            "(1, lambda **k: 0)",
        ),
    ),
    Case(
        "unreachable",
        """def f(a):
    while True:
        return a
        a = 1
    a = 2
    return (
        a
    )
""",
        ("(1,)",),
    ),
    Case(
        "debug_if",
        """def f(a):
    if __debug__:
        a = 1
    else:
        a = 2
    if not __debug__:
        a = 3
    if 1:
        a = 4
    else:
        a = 5
    return a
""",
        ("(1,)",),
    ),
    Case(
        "annotated",
        """def f(a):
    x: int = (
        a
    )
    y: (
        'str'
    ) = a
    return x
""",
        ("(1,)",),
    ),
    Case(
        "empty_container",
        """def f(a):
    x = []
    y = {
    }
    z = (
    )
    return x
""",
        ("(1,)",),
    ),
    Case(
        "subscript_call",
        """def f(a):
    return a[
        'x'
    ](
        1,
    )[
        0
    ]
""",
        (
            "({'x': lambda n: [n]},)",
            "({},)",
        ),
    ),
    Case(
        "nested_def_default",
        """def f(a):
    def g(
        x=a,
        *,
        y=[
            a
        ],
    ):
        return x
    return g if a else g()
""",
        (
            "(1,)",
            "(0,)",
        ),
    ),
    Case(
        "elif_chain",
        """def f(c, k):
    if c is None:
        w = 1
    elif k is not None:
        w = 2
    elif (
        c
        and k
    ):
        w = 3
    else:
        w = 4
    return w
""",
        ("(None, 1)", "(1, 1)", "(1, None)", "(0, None)"),
    ),
    Case(
        "made_not_run",
        """def f(run, g):
    made = [g, lambda: 1, (x for x in [g])]
    named = {
        "a": lambda: g,
        "b": lambda: (
            g
        ),
        "c": list(x for x in [] if x),
    }
    if run:
        made[1](), list(made[2]), named["a"](), named["b"]()
    return g(key=lambda: 2, other=sum(x for x in [1]))
""",
        ("(0, lambda **k: 1)", "(1, lambda **k: k['key']())"),
    ),
)
