"""``import typing as t``: a short name is common elsewhere, and only some of its uses could rebind the module's."""

from __future__ import annotations

import pytest

from tests.support.texts import change, classes

HEAD = "import typing as t\nif t.TYPE_CHECKING:\n    import a\n"


def is_believed(head: str) -> bool:
    return classes(change(None, head))[3] == "typing-only"


@pytest.mark.parametrize(
    "rest",
    [
        "x = [t for t in y]\n",
        "x = {t: 1 for t in y if t}\n",
        "x = list(t for s in y for t in s)\n",
        "def f(t): return t\n",
        "def f(*t, k=1): return t\n",
        "def f(k, t: int = 1): t.x = t\n",
        "x = lambda t: t\n",
        "def f():\n    t = 1\n    t += 1\n    return lambda: t\n",
        "def f():\n    for t, s in y: print(t)\n",
        "def f():\n    with y as t: print(t)\n",
        "def f():\n    if (t := 1): return [t for s in y]\n",
        "class A:\n    t = 1\n    u = t\n",
        'x = "don\'t"\n',
        "x = 't'\n",
        'x = f"isn\'t {t.cast(int, y)}"\n',
        "def f(x: t.Any) -> t.Any: return t.cast(int, x)\n",
    ],
)
def test_local_variables_and_words_do_not_rebind_a_module(rest: str) -> None:
    assert is_believed(HEAD + rest)


@pytest.mark.parametrize(
    "rest",
    [
        "t = 1\n",
        "for t in y: pass\n",
        "with y as t: pass\n",
        "(t := 1)\n",
        "x = [(t := s) for s in y]\n",
        "def f():\n    global t\n    t = 1\n",
        "class A:\n    global t\n    t = 1\n",
        "def t(): pass\n",
        "class t: pass\n",
        "import t\n",
        "def f():\n    import u as t\n",
        "match y:\n    case t: pass\n",
        "try: pass\nexcept E as t: pass\n",
        "del t\n",
        "f(t)\n",
        "def f(s=t, t=1): pass\n",
        "class A:\n    t = 1\n    def f(self): return g(t)\n",
        "x = [t for t in t]\n",
        "globals()['t'] = 1\n",
        "setattr(m, 't', 1)\n",
        "exec('t = 1')\n",
        "def f(t):\n    if t.TYPE_CHECKING: pass\n",
    ],
)
def test_what_binds_the_modules_name_or_hands_it_on_makes_the_suite_owe(rest: str) -> None:
    assert not is_believed(HEAD + rest)


def test_a_word_with_an_apostrophe_is_no_name_even_where_text_may_become_names() -> None:
    assert is_believed(HEAD + 'globals()\nx = "it doesn\'t"\n')
    assert not is_believed(HEAD + "globals()\nx = \"a 't' b\"\n")


@pytest.mark.parametrize("text", ['"TYPE_CHECKING"', '"not TYPE_CHECKING"'])
def test_the_name_of_the_constant_itself_may_not_be_spelled_in_text(text: str) -> None:
    assert not is_believed(HEAD + f"x = {text}\n")
