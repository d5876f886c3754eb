"""S8: behaviour in a file that owes nothing, executed by a line that may be old; and what only looks like it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.attacks.shop import SEEN, Patch, errors, judge
from tests.support.repos import Content, Link

HERE = "from pathlib import Path\n\nHERE = Path(__file__).parent\n"
REFUND = "def refund(prices):\n    return sum(prices) * 2\n"
REFUNDED = "def refund(prices):\n    return sum(prices) * 3\n"
CHECK = "from app.rules import refund\n\n\ndef test_refund():\n    assert refund([1]) > 0\n"
RULE = '{"note": "of the shop", "rule": "sum(prices) * %d"}\n'
SCRIPT = "import io\n\n\ndef refund(prices):\n    return sum(prices) * %d\n"


def of_text(*lines: str, top: str = "") -> str:
    """A module that has code executed while it is imported; ``TEXT`` is the text of the file."""
    return f"{top}{HERE}TEXT = HERE.joinpath('rules.txt').read_text()\n" + "".join(f"{line}\n" for line in lines)


# How the old code of the product executes `app/rules.txt`.
EXECUTED: Mapping[str, str] = {
    "exec of the text": of_text("exec(TEXT)"),
    "exec of bytes": of_text("exec(TEXT.encode())"),
    "exec without its name": of_text("getattr(builtins, 'ex' + 'ec')(TEXT, globals())", top="import builtins\n"),
    "compile and exec": of_text("exec(compile(TEXT, 'rules', 'exec'))"),
    "compile under the name of a module": of_text("exec(compile(TEXT, str(HERE / 'shop.py'), 'exec'))"),
    "a function of the code": of_text(
        "types.FunctionType(compile(TEXT, 'rules', 'exec'), globals())()", top="import types\n"
    ),
    "the code of another function": of_text(
        "def load():",
        "    pass",
        "load.__code__ = compile(TEXT, 'rules', 'exec')",
        "load()",
    ),
    "a syntax tree": of_text("exec(compile(ast.parse(TEXT), 'x', 'exec'))", top="import ast\n"),
    "the text inside of more": of_text("exec('import math\\n' + TEXT + '\\nagain = refund\\n')"),
    "the text indented": of_text(
        "exec('if True:\\n' + textwrap.indent(TEXT, '    '))",
        top="import textwrap\n",
    ),
    "runpy": f"import runpy\n{HERE}refund = runpy.run_path(str(HERE / 'rules.txt'))['refund']\n",
    "a loader for an odd suffix": "from importlib.machinery import SourceFileLoader\n"
    f"from importlib.util import module_from_spec, spec_from_loader\n{HERE}"
    "LOADER = SourceFileLoader('rules', str(HERE / 'rules.txt'))\n"
    "MODULE = module_from_spec(spec_from_loader('rules', LOADER))\n"
    "LOADER.exec_module(MODULE)\nrefund = MODULE.refund\n",
    "a link to the file": of_text("exec(TEXT)").replace("rules.txt", "linked"),
    "read without pathlib": f"import os\n{HERE}FILE = os.open(HERE / 'rules.txt', os.O_RDONLY)\n"
    "exec(os.read(FILE, 4096))\n",
    "as a resource of the package": "from importlib.resources import files\n\n"
    "exec(files('app').joinpath('rules.txt').read_text())\n",
}


def judge_rules(
    home: Path, product: str, base: Mapping[str, Content], patch: Patch, check: str = CHECK
) -> ObligationMap:
    more: dict[str, Content] = {"app/rules.py": product, "tests/trusted/test_rules.py": check, **base}
    return judge(home, {"app/shop.py": SEEN, **patch}, more)


def closed(artifact: ObligationMap) -> list[tuple[str, str]]:
    return [(found.code, found.path) for found in artifact.findings if found.severity is Severity.ERROR]


@pytest.mark.parametrize("how", EXECUTED)
def test_s8_text_that_the_product_executes_closes_the_gate_although_the_line_that_does_is_old(
    tmp_path: Path, how: str
) -> None:
    base: dict[str, Content] = {"app/rules.txt": REFUND, "app/linked": Link("rules.txt")}
    artifact = judge_rules(tmp_path, EXECUTED[how], base, {"app/rules.txt": REFUNDED})
    assert (artifact.exit, closed(artifact)) == (5, [("LW302", "app/rules.txt")])
    # a module that was registered is known from the modules
    assert re.search("executed text of it|was loaded", errors(artifact)["LW302"])


PIECES: Mapping[str, tuple[str, str, str, str]] = {
    "a string of JSON": (
        "app/rules.json",
        "import json\n" + HERE + "RULE = json.loads((HERE / 'rules.json').read_text())['rule']\n\n\n"
        "def refund(prices):\n    return eval(RULE)\n",
        RULE % 2,
        RULE % 3,
    ),
    "a string of JSON with several lines": (
        "data/code.json",
        "import json\n" + HERE + "exec(json.loads((HERE.parent / 'data/code.json').read_text())['code'])\n",
        '{"code": "def refund(prices):\\n    return sum(prices) * 2\\n"}\n',
        '{"code": "def refund(prices):\\n    return sum(prices) * 3\\n"}\n',
    ),
    "a line of a text": (
        "notes.md",
        HERE + "LINES = (HERE.parent / 'notes.md').read_text().splitlines()\n\n\n"
        "def refund(prices):\n    return eval(LINES[1])\n",
        "# Rules\nsum(prices) * 2\n",
        "# Rules\nsum(prices) * 3\n",
    ),
    "a line put into a function": (
        "README.txt",
        HERE + "LINE = (HERE.parent / 'README.txt').read_text().splitlines()[0]\n"
        "refund = eval('lambda prices: (' + LINE + ')')\n",
        "sum(prices) * 2\nThat is the rule.\n",
        "sum(prices) * 3\nThat is the rule.\n",
    ),
    "a block of a document": (
        "docs/guide.md",
        HERE + "exec((HERE.parent / 'docs/guide.md').read_text().split('```')[1])\n",
        f"# Guide\n\n```\n{REFUND}```\n\nAs before.\n",
        f"# Guide\n\n```\n{REFUNDED}```\n\nAs before.\n",
    ),
    "a short value": (
        "app/rules.ini",
        "import configparser\n" + HERE + "PARSER = configparser.ConfigParser()\nPARSER.read(HERE / 'rules.ini')\n\n\n"
        "def refund(prices):\n    p = sum(prices)\n    return eval(PARSER['rules']['refund'])\n",
        "[rules]\nrefund = p*2\n",
        "[rules]\nrefund = p*3\n",
    ),
    "a pickle by another name": (
        "app/rules.txt",
        "import pickle\n" + HERE + "F = pickle.loads((HERE / 'rules.txt').read_bytes())\n\n\n"
        "def refund(prices):\n    return F(prices)\n",
        "cbuiltins\nsum\n.",
        "cbuiltins\nmax\n.",
    ),
}


@pytest.mark.parametrize("case", PIECES)
def test_s8_a_piece_of_a_file_that_the_product_executes_closes_the_gate(tmp_path: Path, case: str) -> None:
    path, product, before, after = PIECES[case]
    artifact = judge_rules(tmp_path, product, {path: before}, {path: after})
    assert (artifact.exit, closed(artifact)) == (5, [("LW302", path)])


def test_s8_a_file_that_the_patch_adds_and_a_conftest_has_loaded_early_closes_the_gate(tmp_path: Path) -> None:
    base: dict[str, Content] = {"conftest.py": "import app.rules\n"}
    product = f"{HERE}FILE = HERE / 'rules.txt'\nexec(FILE.read_text() if FILE.exists() else 'refund = sum')\n"
    artifact = judge_rules(tmp_path, product, base, {"app/rules.txt": REFUNDED})
    assert closed(artifact) == [("LW302", "app/rules.txt")]


def test_s8_owners_may_answer_for_such_a_file_and_data_may_owe(tmp_path: Path) -> None:
    path, product, before, after = PIECES["a string of JSON"]
    owned: dict[str, Content] = {path: before, "linewitness.toml": f'protected = ["{path}"]\n'}
    owes: dict[str, Content] = {path: before, "linewitness.toml": 'data = "owe"\n'}
    assert closed(judge_rules(tmp_path / "owned", product, owned, {path: after})) == [("LW301", path)]
    assert judge_rules(tmp_path / "owes", product, owes, {path: after}).exit == 1


# Products that read the changed file and have something compiled, and execute nothing of it that is new.
TWINS: Mapping[str, tuple[str, str, str]] = {
    "generated code of the standard library": (
        "from collections import namedtuple\nfrom dataclasses import dataclass\n"
        + of_text("PRICE = namedtuple('Price', 'amount currency')", "", "")
        + "@dataclass(order=True)\nclass Item:\n    name: str\n    amount: int = 1\n\n\n"
        "def refund(prices):\n    return Item('x').amount + len(TEXT) * 0\n",
        "def __init__(self, name, amount):\nold\n",
        "def __init__(self, name, amount):\nname, amount\nPrice(amount, currency)\n",
    ),
    "a formatter": (
        "import ast\n"
        + of_text("TREE = compile(TEXT, 'rules.txt', 'exec')", "", "")
        + "def refund(prices):\n    return len(ast.unparse(ast.parse(TEXT))) + eval('len(prices)')\n",
        REFUND,
        REFUNDED,
    ),
    "literals": (
        "import ast\n"
        + of_text("VALUES = ast.literal_eval(TEXT)", "", "")
        + "def refund(prices):\n    return VALUES['refund'] + eval('len(prices)')\n",
        "{'refund': 2, 'rate': -1}\n",
        "{'refund': 3, 'rate': -1}\n",
    ),
    "an old rule in a file whose other lines changed": (
        of_text("exec(TEXT.splitlines()[0])"),
        "refund = lambda prices: sum(prices) * 2\nnotes: none\n",
        "refund = lambda prices: sum(prices) * 2\nnotes: 1 + 1 is two (see below)\n",
    ),
    "annotations that are evaluated": (
        "from __future__ import annotations\nfrom typing import get_type_hints\n"
        + of_text("", "")
        + "def rate(of: dict[str, int]) -> int:\n    return len(of)\n\n\n"
        "def refund(prices):\n    return len(get_type_hints(rate)) + len(TEXT) * 0\n",
        "rate(of)\n",
        "rate(of: dict[str, int])\ndict[str, int]\n",
    ),
    "a template that becomes code": (
        of_text("", "") + "def refund(prices):\n    space = {}\n"
        "    exec('def page(name): return ' + repr(TEXT) + ' + name', space)\n    return len(space['page']('x'))\n",
        "Dear name, your page\n",
        "Dear name, (that is: your page of today)\n",
    ),
    "a text that is never executed": (
        of_text("", "") + "def refund(prices):\n    return eval('len(prices)') + len(TEXT) * 0\n",
        "Use eval('len(prices)').\n",
        "Use eval('len(prices)') twice.\n",
    ),
}


@pytest.mark.parametrize("case", TWINS)
def test_a_product_that_reads_a_changed_text_and_does_not_execute_what_is_new_in_it_is_let_be(
    tmp_path: Path, case: str
) -> None:
    product, before, after = TWINS[case]
    artifact = judge_rules(tmp_path, product, {"app/rules.txt": before}, {"app/rules.txt": after})
    assert (artifact.exit, artifact.findings) == (0, ())


RUNNER = """\
def refund(source):
    space = {'prices': [1]}
    exec(source, space)
    return space['out']
"""


def test_a_tool_for_code_may_be_given_code_by_its_checks(tmp_path: Path) -> None:
    check = "from app.rules import refund\n\n\ndef test_refund():\n    assert refund('out = sum(prices) * 3') == 3\n"
    patch: Patch = {"README.md": "Try it:\n\n    out = sum(prices) * 3\n"}
    artifact = judge_rules(tmp_path, RUNNER, {"README.md": "Try it.\n"}, patch, check)
    assert (artifact.exit, artifact.findings) == (0, ())


def test_examples_of_a_document_that_a_check_runs_are_the_checks_own_business(tmp_path: Path) -> None:
    check = (
        "import doctest\n\nimport app.rules\n\n\ndef test_readme():\n"
        "    assert app.rules.refund([1]) and doctest.testfile('../../README.md').failed == 0\n"
    )
    text = ">>> from app.shop import total\n>>> total([1, %d]) > 1\nTrue\n"
    product = "import builtins\n\n\ndef refund(prices):\n    return sum(prices)\n"
    artifact = judge_rules(tmp_path, product, {"README.md": text % 2}, {"README.md": text % 3}, check)
    assert artifact.exit == 0
    assert [(found.path, found.severity) for found in artifact.findings] == [("README.md", Severity.WARNING)]
