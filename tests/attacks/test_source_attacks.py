"""Attacks in the text of the source: lines that look executed, or look like nothing that executes.

All of them are one patch, judged once: a trusted test imports every module of ``app.live`` during its call (the
strongest import there is), calls ``use`` in every module of ``app.used``, and leaves ``app.idle`` alone. Each case says
which lines have to stay open. The twins are honest modules in ``app.used``, which have to be discharged altogether.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.obligation_map import ObligationMap
from tests.attacks.shop import SEEN, apply, ask, errors, judge, open_lines
from tests.support.repos import Content, Repo

EVERY_MODULE = """\
import importlib
import pkgutil

import app.live
import app.used


def modules(package):
    for found in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def test_every_module_can_be_imported():
    assert list(modules(app.live))


def test_every_module_can_be_used():
    for module in modules(app.used):
        module.use()
"""

# New modules that the trusted test imports, and the lines of theirs that nothing has called.
IMPORTED: dict[str, tuple[str, list[int]]] = {
    "S1 an exclusion comment": ("def f(x):  # pragma: no cover\n    return -x  # pragma: no cover\n", [1, 2]),
    "S1 another tool's comment": ("def f(x):  # nocov\n    return -x  # type: ignore  # noqa\n", [1, 2]),
    "S2 the name is rebound": ("TYPE_CHECKING = 1\nif TYPE_CHECKING:\n    f = lambda: 2\n", [3]),
    "S2 the name is rebound after its import": (
        "from typing import TYPE_CHECKING\nTYPE_CHECKING = True\nif TYPE_CHECKING:\n    def f():\n        return 1\n",
        [4, 5],
    ),
    "S2 the name comes from elsewhere": (
        "from types import FunctionType as TYPE_CHECKING\nif TYPE_CHECKING:\n    def f():\n        return 1\n",
        [3, 4],
    ),
    "S2 the name is bound by a loop": (
        "for TYPE_CHECKING in [1]:\n    if TYPE_CHECKING:\n        f = lambda: 2\n",
        [3],
    ),
    "S2 what stands in the other arm": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    X = 1\nelse:\n    def f():\n        return 1\n",
        [5, 6],
    ),
    "S2 a negated condition": (
        "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    def f():\n        return 1\n",
        [3, 4],
    ),
    "S2 a body of dots": ("def f(): ...\n\n\nclass C:\n    def g(self):\n        ...\n", [1, 4, 5]),
    "S2 overload that overloads nothing": (
        "def overload(f):\n    return f\n\n\n@overload\ndef g(x):\n    return -x\n",
        [5, 6, 7],
    ),
    "S3 two statements on a line": ("x = 1; f = lambda: 2\n", [1]),
    "S3 a statement behind a colon": ("def f(x): y = x; return y\n", [1]),
    "S4 a function on one line": ("def f(x): return -x\n", [1]),
    "S4 a lambda": ("f = lambda x: -x\n", [1]),
    "S4 a lambda in a call": ("f = sorted([], key=lambda x: -x)\n", [1]),
    "S4 an arm on its own line": ("import os\nA = (\n    1\n    if os\n    else __import__('nothing')\n)\n", [5]),
    "S4 an operand on its own line": ("import os\nA = (\n    os\n    or __import__('nothing')\n)\n", [4]),
    "S5 a lambda on a continuation line": ("A = {\n    'f':\n        lambda x:\n            -x,\n}\n", [4]),
    "S5 a backslash": ("import os\nA = os or \\\n    __import__('nothing')\n", [3]),
    "S6 a comprehension of nothing": ("A = [\n    print(x)\n    for x in ()\n]\n", [2]),
    "S6 a generator that nobody asks": ("A = (\n    print(x)\n    for x in (1,)\n)\n", [2]),
    "S6 a condition that takes nothing": ("A = {\n    print(x)\n    for x in (1,)\n    if x > 1\n}\n", [2]),
    "S7 a default value": ("def f(\n    x,\n    rate=3,\n):\n    return x\n", [1, 2, 3, 5]),
    "S7 a decorator": ("from functools import cache\n\n\n@cache\ndef f(x):\n    return -x\n", [4, 5, 6]),
    "S7 a decorator that is a lambda": ("@lambda f: 1\ndef g(x):\n    return -x\n", [1, 2, 3]),
    "a coroutine that is never awaited": ("async def f(x):\n    return -x\n\n\nf(1).close()\n", [1, 2]),
    "a generator that is never begun": ("def f(x):\n    yield -x\n\n\nf(1)\n", [1, 2]),
    "a method": ("class C:\n    def f(self):\n        return 1\n\n\nc = C()\n", [1, 2, 3]),
    "a property": ("class C:\n    @property\n    def f(self):\n        return 1\n\n\nc = C()\n", [1, 2, 3, 4]),
    "a handler": ("try:\n    x = 1\nexcept ValueError:\n    x = 2\n", [3, 4]),
    "a case that does not match": ("match 1:\n    case 2:\n        x = 1\n    case _:\n        x = 2\n", [3]),
    "a loop that is never left by its end": ("for x in (1,):\n    break\nelse:\n    x = 2\n", [4]),
    "a message that is never made": ("x = 1\nassert x, (\n    print(x)\n)\n", [3]),
    "a function in a function": ("def f(x):\n    def g():\n        return -x\n    return g\n", [1, 2, 3, 4]),
    "a lambda in an f-string": ('x = f"{(lambda: 1)}"\n', [1]),
    "a lambda deep in an f-string": (
        'import os\nx = f"{os.sep:>{(lambda: 1) and 3}}" f"""\n{(lambda y: y)}"""\n',
        [2, 3],
    ),
    "a generator in an f-string": ('x = f"{(print(y) for y in (1,))}"\n', [1]),
    "S18 a constant condition": ("if False:\n    x = 1\n", [2]),
    "S18 a loop that never turns": ("while 0:\n    x = 1\n", [2]),
    "S18 a switch of the compiler": ("if not __debug__:\n    x = 1\n", [2]),
    "R18 a handler around everything": (
        "def f(x):\n    return x / 0\n\n\ndef g():\n    try:\n        f(1)\n    except Exception:\n        return 1\n",
        [1, 2, 5, 7, 8, 9],
    ),
}

LONE = "def f(a, b, c=0):\n    {}\n"


def lone(old: str, new: str) -> tuple[str, str, list[int]]:
    """One line of a function that nobody calls, before and after."""
    return LONE.format(old), LONE.format(new), [2]


# Modules that no test imports: before, after, and the lines that owe. Nothing of these is a mere reformatting.
CHANGED: dict[str, tuple[str, str, list[int]]] = {
    "parentheses that matter": lone("return a - (b - c)", "return a - b - c"),
    "a sign and a power": lone("return -a ** 2", "return (-a) ** 2"),
    "a negation and a comparison": lone("return not a == b", "return (not a) == b"),
    "a comma that makes a tuple": lone("return (a)", "return (a,)"),
    "a comma between two texts": lone('return ("a", "b")', 'return ("a" "b")'),
    "blanks inside of a text": lone('return "a  b"', 'return "a b"'),
    "a text that becomes bytes": lone('return "a"', 'return b"a"'),
    "a text that becomes a formatted one": lone('return "{a}"', 'return f"{a}"'),
    "a raw text": lone(r'return "\n"', r'return r"\n"'),
    "a number that becomes a truth": lone("return 1", "return True"),
    "a number that becomes a float": lone("return 1", "return 1.0"),
    "a zero that becomes negative": lone("return 0.0", "return -0.0"),
    "a set that becomes a list": lone("return {a}", "return [a]"),
    "an unpacking": lone("return [a]", "return [*a]"),
    "a comparison that is chained": lone("return (a < b) < c", "return a < b < c"),
    "a docstring that becomes a formatted text": lone('"""x"""', 'f"""{a()}"""'),
    "a comment that becomes code": (
        "def f(a):\n    # return 0\n    return a\n",
        "def f(a):\n    return 0\n    return a\n",
        [2],
    ),
    "S17 a statement leaves its block": (
        "def f(a):\n    if a:\n        a = 1\n        print(a)\n    return a\n",
        "def f(a):\n    if a:\n        a = 1\n    print(a)\n    return a\n",
        [4],
    ),
    "S17 an else changes its owner": (
        "def f(a, b):\n    if a:\n        if b:\n            return 1\n        else:\n            return 2\n",
        "def f(a, b):\n    if a:\n        if b:\n            return 1\n    else:\n        return 2\n",
        [6],
    ),
    "S16 a guard is deleted": (
        "def f(a):\n    if a > 1:\n        raise ValueError\n    return a\n",
        "def f(a):\n    return a\n",
        [2],
    ),
    "S16 the last statement is deleted": (
        "def f(a):\n    a.check()\n    a.close()\n",
        "def f(a):\n    a.check()\n",
        [1],
    ),
    "S16 a decorator is deleted": ("@guarded\ndef f(a):\n    return a\n", "def f(a):\n    return a\n", [1]),
    "S16 a handler is deleted": (
        "def f(a):\n    try:\n        a()\n    except ValueError:\n        raise\n    except KeyError:\n        pass\n",
        "def f(a):\n    try:\n        a()\n    except KeyError:\n        pass\n",
        [2],
    ),
    "S16 a keyword of a call is deleted": (
        "def f(a):\n    return a(\n        1,\n        safe=True,\n    )\n",
        "def f(a):\n    return a(\n        1,\n    )\n",
        [2],
    ),
    "imports that change places and bind one name": (
        "from app.one import f\nfrom app.two import f\n",
        "from app.two import f\nfrom app.one import f\n",
        [1, 2],
    ),
    "an import from another module under the same name": (
        "from json import dumps\n",
        "from pickle import dumps\n",
        [1],
    ),
    "an import that is new among others": ("import json\nimport re\n", "import json\nimport os\nimport re\n", [2]),
    "an import that leaves its guard": (
        "try:\n    import json\nexcept ImportError:\n    json = None\n",
        "import json\n",
        [1],
    ),
    "a future statement": ("import json\n", "from __future__ import annotations\nimport json\n", [1]),
    "a name that becomes global": ("def f(a):\n    x = a\n", "def f(a):\n    global x\n    x = a\n", [2]),
    "S13 a bidirectional control": lone('return "a"', 'return "\u202ea"'),
    "S13 an invisible letter": lone("return a", "return a  # \u200b"),
}
WHOLE = ("S13 a bidirectional control", "S13 an invisible letter")

USED: dict[str, str] = {
    "S1": "def f(x):  # pragma: no cover\n    return -x\n\n\ndef use():\n    assert f(1) == -1\n",
    "S2": "from typing import TYPE_CHECKING, overload\n\nif TYPE_CHECKING:\n    from decimal import Decimal\n\n\n"
    "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: 'Decimal') -> 'Decimal': ...\n"
    "def f(x):\n    return -x\n\n\ndef use():\n    assert f(1) == -1\n",
    "S3": "def f(x): y = x; return y\n\n\ndef use():\n    a = 1; assert f(a)\n",
    "S4": "g = lambda x: (\n    1\n    if x else\n    2\n)\n\n\ndef use():\n    assert (g(1), g(0)) == (1, 2)\n",
    "S5": "A = {\n    'f':\n        lambda x:\n            -x,\n}\n\n\ndef use():\n    assert A['f'](1) == -1\n",
    "S6": "def use():\n    assert [\n        x + 1\n        for x in (1, 2)\n        if x > 1\n    ] == [3]\n",
    "S7": "from functools import cache\n\n\n@cache\ndef f(\n    x=1,\n):\n    return -x\n\n\n"
    "def use():\n    assert f()\n",
    "asynchronous": "import asyncio\n\n\nasync def f(x):\n    await asyncio.sleep(0)\n    return -x\n\n\n"
    "def use():\n    assert asyncio.run(f(1)) == -1\n",
    "classes": "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass C:\n    x: int = 1\n\n"
    "    @property\n    def y(self) -> int:\n        return self.x\n\n\ndef use():\n    assert C(2).y == 2\n",
    "matching": "def f(x):\n    match x:\n        case 1:\n            return 'one'\n        case _:\n"
    "            return 'many'\n\n\ndef use():\n    assert f(1) + f(2) == 'onemany'\n",
    "handlers": "def f(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError:\n        return 0\n"
    "    finally:\n        print(x)\n\n\ndef use():\n    assert f(1) + f(0) == 1\n",
    "generators": "def f(x):\n    yield x\n    yield from (y for y in (1, 2))\n\n\n"
    "def use():\n    assert [*f(0)] == [0, 1, 2]\n",
    "contexts": "from contextlib import contextmanager, suppress\n\n\n@contextmanager\ndef f():\n    yield 1\n\n\n"
    "def use():\n    with f() as x, suppress(KeyError):\n        assert x\n        raise KeyError\n",
}


class Sources(NamedTuple):
    """The map of the one patch, and where each case lies."""

    artifact: ObligationMap
    open_lines: dict[str, list[int]]


def place(package: str, table: Iterable[str], name: str) -> str:
    return f"app/{package}/m{list(table).index(name):02}.py"


def live(name: str) -> str:
    return place("live", IMPORTED, name)


def idle(name: str) -> str:
    return place("idle", CHANGED, name)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    packages: dict[str, Content] = {f"app/{name}/__init__.py": "" for name in ("live", "used", "idle")}
    before: dict[str, Content] = {idle(name): old for name, (old, _, _) in CHANGED.items()}
    after: dict[str, Content] = {idle(name): new for name, (_, new, _) in CHANGED.items()}
    after |= {live(name): text for name, (text, _) in IMPORTED.items()}
    after |= {place("used", USED, name): text for name, text in USED.items()}
    home = tmp_path_factory.mktemp("sources")
    repo = Repo(home)
    base = repo.commit("base", {**packages, **before, "app/__init__.py": "", "tests/trusted/test_it.py": EVERY_MODULE})
    apply(repo, after)
    artifact = ask(home, base)
    return Sources(artifact, open_lines(artifact))


def test_the_run_itself_is_sound(judged: Sources) -> None:
    assert errors(judged.artifact).keys() == {"LW101", "LW104"}
    assert judged.artifact.trusted_hit > 100


@pytest.mark.parametrize("name", IMPORTED)
def test_what_was_imported_and_not_called_stays_open(judged: Sources, name: str) -> None:
    assert judged.open_lines.get(live(name), []) == IMPORTED[name][1]


@pytest.mark.parametrize("name", CHANGED)
def test_what_changes_the_meaning_owes(judged: Sources, name: str) -> None:
    assert judged.open_lines.get(idle(name), []) == ([0] if name in WHOLE else CHANGED[name][2])


@pytest.mark.parametrize("name", USED)
def test_an_honest_module_that_a_trusted_test_uses_is_discharged(judged: Sources, name: str) -> None:
    assert judged.open_lines.get(place("used", USED, name), []) == []


OPAQUE: dict[str, str | bytes] = {
    "S8 a template": "app/page.j2",
    "S8 a query": "app/query.sql",
    "S8 a pickle": "app/model.pkl",
    "S8 a page": "app/page.html",
    "S9 a notebook": "app/analysis.ipynb",
    "S9 cython": "app/fast.pyx",
    "S9 a program without a suffix": "bin/run",
    "S9 a Dockerfile": "Dockerfile",
    "S9 a picture with scripts": "docs/logo.svg",
    "S15 byte code": "app/shop.pyc",
    "S15 byte code in a cache": "app/__pycache__/shop.cpython-311.pyc",
    "S15 a native module": "app/fast.so",
    "S15 an archive": "lib/more.whl",
    "a text that is not UTF-8": "app/latin.py",
    "S12 an encoding that makes code of a comment": "app/escapes.py",
    "S12 an encoding on the second line": "app/second.py",
    "S12 an encoding after a byte order mark": "app/marked.py",
}
CONTENT: dict[str, bytes] = {
    "bin/run": b"#!/usr/bin/perl\nprint 1;\n",
    "app/latin.py": b"x = '\xe9'\n",
    "app/escapes.py": b"# coding: unicode_escape\n# \\nimport os\n",
    "app/second.py": b"#!/usr/bin/env python\n# -*- coding: utf-7 -*-\n",
    "app/marked.py": b"\xef\xbb\xbf# vim: set fileencoding=latin-1 :\n",
    "app/model.pkl": b"\x80\x04K\x01.",
}


@pytest.fixture(scope="module")
def unreadable(tmp_path_factory: pytest.TempPathFactory) -> ObligationMap:
    files: dict[str, Content | None] = {str(path): CONTENT.get(str(path), b"x = 1\n") for path in OPAQUE.values()}
    return judge(tmp_path_factory.mktemp("opaque"), files)


@pytest.mark.parametrize("name", OPAQUE)
def test_what_no_rule_can_read_is_one_open_obligation(unreadable: ObligationMap, name: str) -> None:
    assert open_lines(unreadable).get(str(OPAQUE[name])) == [0]
    assert unreadable.exit in {1, 5}


def test_s11_a_file_that_no_report_mentions_is_open(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN, "scripts/tool.py": "def f():\n    return 1\n\n\nf()\n"})
    assert open_lines(artifact) == {"scripts/tool.py": [1, 2, 5]}


FLAG = {"app/flags.toml": "refunds = false\n", "app/rules.yaml": "limit: 1\n"}
FLIPPED: dict[str, Content | None] = {"app/flags.toml": "refunds = true\n", "app/rules.yaml": "limit: 9\n"}


def test_s19_a_flag_in_a_data_file_owes_where_data_owes(tmp_path: Path) -> None:
    artifact = judge(tmp_path, FLIPPED, {**FLAG, "linewitness.toml": 'data = "owe"\n'})
    assert (artifact.exit, open_lines(artifact)) == (1, {"app/flags.toml": [0], "app/rules.yaml": [0]})


def test_s19_elsewhere_the_map_names_the_file_and_why_it_owes_nothing(tmp_path: Path) -> None:
    artifact = judge(tmp_path, FLIPPED, FLAG)
    assert (artifact.exit, {str(row.path) for row in artifact.exempt}) == (0, set(FLIPPED))


def test_s7_a_table_that_import_witnesses_says_so_and_can_be_made_to_owe(tmp_path: Path) -> None:
    table: dict[str, Content | None] = {"app/shop.py": SEEN + "\n\nRATES = {'refund': 3}\n"}
    lenient = judge(tmp_path / "lenient", table)
    strict = judge(tmp_path / "strict", table, {"linewitness.toml": 'import-hits = "owe"\n'})
    assert lenient.exit == 0
    assert [row.phase for row in lenient.rows if row.line == 6] == ["import"]
    assert (strict.exit, open_lines(strict)) == (1, {"app/shop.py": [6]})
