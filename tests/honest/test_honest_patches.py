"""Ordinary patches of honest people. The gate stays open, or closes for a reason that each case states.

A gate that cries wolf is removed. When one of these changes its outcome, either the gate is wrong or the reason here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Content, Executable, Link, Repo
from tests.support.signing import Key, signed

TODAY = "2026-09-16"
Files = Mapping[str, Content]
Patch = Mapping[str, Content | None]

MONEY = '''\
"""Amounts of money, in cents."""

import json
import os


def rounded(amount):
    """Round to whole tens."""
    return round(amount, -1)


def shown(amount):
    return "%d.%02d" % (amount // 100, amount % 100)


def unused(amount):
    if amount > 9:
        return os.sep
    return json.dumps(amount)
'''
SHOP = """\
from app.money import rounded


def total(prices):
    return rounded(sum(prices))


def label(prices):
    amount = total(prices)
    if amount > 100:
        return "much"
    return "little"
"""
TRUSTED = """\
from app.money import shown
from app.shop import label, total


def test_total():
    assert total([11, 12]) == 20


def test_label():
    assert label([99, 99]) == "much"
    assert label([1]) == "little"


def test_shown():
    assert shown(105) == "1.05"
"""
PYPROJECT = (
    '[project]\nname = "shop"\nversion = "1.0"\ndependencies = ["attrs>=22"]\n'
    '[tool.pytest.ini_options]\naddopts = "-q"\n'
)
BASE: Files = {
    "README.md": "# Shop\n",
    "pyproject.toml": PYPROJECT,
    "requirements.txt": "attrs==22.1\n",
    "uv.lock": "version = 1\n",
    "app/__init__.py": '__version__ = "1.0"\n',
    "app/money.py": MONEY,
    "app/shop.py": SHOP,
    "app/dead.py": "def nobody():\n    return 1\n",
    "tests/trusted/test_shop.py": TRUSTED,
    "tests/generated/test_more.py": "def test_more():\n    assert True\n",
}


class Case(NamedTuple):
    """A patch, the gate's status and its errors (``code path``), and why; ``base`` adds to the shop."""

    patch: Patch
    why: str
    status: int = 0
    errors: frozenset[str] = frozenset()
    base: Files = {}  # noqa: RUF012 - never changed


def opens(why: str, patch: Patch, base: Files | None = None) -> Case:
    return Case(patch, why, base=base or {})


def closes(status: int, errors: str, why: str, patch: Patch, base: Files | None = None) -> Case:
    return Case(patch, why, status, frozenset(errors.split("; ")), base or {})


def waived(path: str, lines: str, reason: str = "codegen") -> str:
    """A waiver file with a record for each line that is not blank."""
    records = "".join(
        f'  - path: {path}\n    line_hash: "{hashlib.sha256(line.encode()).hexdigest()[:16]}"\n    reason: {reason}\n'
        f'    owner: ada\n    expires: "2026-12-16"\n'
        for line in lines.splitlines()
        if line.strip()
    )
    return f"waivers:\n{records}"


GENERATED = "# made by protoc\ndef encode(value):\n    return bytes(value)\n"
NATIVE = b"\0asm\1\0\0\0"
NATIVE_ID = hashlib.sha1(b"blob %d\0" % len(NATIVE) + NATIVE, usedforsecurity=False).hexdigest()
VENDORED = (
    f'waivers:\n  - path: vendor/fast.wasm\n    blob: "{NATIVE_ID}"\n    reason: vendor\n    owner: ada\n'
    '    expires: "2026-12-16"\n'
)
FORMATTED = MONEY.replace(
    'return "%d.%02d" % (amount // 100, amount % 100)',
    'return (\n        "%d.%02d"\n        % (amount // 100, amount % 100)\n    )',
)

OPEN: dict[str, Case] = {
    "a refactoring that the tests run": opens(
        "each changed line was run by a check that passed",
        {"app/shop.py": SHOP.replace("    if amount > 100:", "    limit = 100\n    if amount > limit:")},
    ),
    "a module gets another name": opens(
        "a move owes nothing, and the import of the new name was run",
        {
            "app/money.py": None,
            "app/cents.py": MONEY,
            "app/shop.py": SHOP.replace("app.money", "app.cents"),
            "app/compat.py": None,
        },
        {
            "tests/trusted/test_shop.py": TRUSTED.replace("from app.money import shown\n", "").split(
                "\n\ndef test_shown"
            )[0]
            + "\n",
            "app/compat.py": "",
        },
    ),
    "a function moves to another module": opens(
        "the function is run from its new place",
        {
            "app/shop.py": SHOP.split("\n\ndef label", maxsplit=1)[0] + "\n\nfrom app.labels import label\n",
            "app/labels.py": "def label(prices):\n    from app.shop import total\n\n    amount = total(prices)\n"
            '    if amount > 100:\n        return "much"\n    return "little"\n',
        },
    ),
    "a dependency is raised": opens(
        "lock files, requirements and dependencies steer no run of the gate",
        {
            "requirements.txt": "attrs==23.1\n",
            "uv.lock": "version = 1\n# more\n",
            "poetry.lock": "# new\n",
            "pyproject.toml": PYPROJECT.replace("attrs>=22", "attrs>=23"),
        },
    ),
    "a release": opens(
        "the version is a line that import runs, and the table of the project steers no test",
        {
            "app/__init__.py": '__version__ = "1.1"\n',
            "pyproject.toml": PYPROJECT.replace('"1.0"', '"1.1"'),
            "CHANGELOG.md": "# 1.1\n",
        },
    ),
    "documents": opens(
        "nothing executes them", {"docs/use.md": "Use it.\n", "docs/api.rst": "API\n===\n", "LICENSE": "MIT\n"}
    ),
    "a README with images": opens(
        "nothing executes them", {"README.md": "# The shop\n![x](x.png)\n", "x.png": b"\x89PNG\0", "y.gif": b"GIF89a\0"}
    ),
    "generated code with waivers": opens(
        "a waiver of the target branch discharges each line",
        {"app/wire_pb2.py": GENERATED},
        {"tests/waivers.yaml": waived("app/wire_pb2.py", GENERATED.split("\n", 1)[1])},
    ),
    "vendored code with a waiver of its blob": opens(
        "a waiver names this very blob", {"vendor/fast.wasm": NATIVE}, {"tests/waivers.yaml": VENDORED}
    ),
    "a formatter": opens(
        "the syntax trees are equal",
        {"app/money.py": FORMATTED.replace("    if amount > 9:", "\n    if (amount > 9):")},
    ),
    "quotes of another kind and a trailing comma": opens(
        "the syntax trees are equal",
        {
            "app/money.py": MONEY.replace('"%d.%02d"', "'%d.%02d'").replace(
                "round(amount, -1)", "round(\n        amount,\n        -1,\n    )"
            )
        },
    ),
    "types for functions that are run": opens(
        "the definitions were entered",
        {"app/shop.py": SHOP.replace("def total(prices):", "def total(prices: list[int]) -> int:")},
    ),
    "docstrings": opens(
        "a docstring is no code",
        {
            "app/money.py": MONEY.replace(
                "def unused(amount):\n", 'def unused(amount):\n    """Nobody\n    calls it.\n    """\n'
            )
        },
    ),
    "a docstring is corrected": opens("a docstring is no code", {"app/money.py": MONEY.replace("whole tens", "tens")}),
    "imports in another order": opens(
        "the same names are bound", {"app/money.py": MONEY.replace("import json\nimport os", "import os\nimport json")}
    ),
    "comments": opens(
        "a comment is no code",
        {"app/money.py": MONEY.replace("    if amount > 9:", "    # why nine?\n    if amount > 9:  # noqa: PLR2004")},
    ),
    "dead code goes with its module": opens("nothing of it is left that could owe", {"app/dead.py": None}),
    "data that the product reads": opens(
        "data owes nothing unless the settings say so",
        {"app/rates.json": '{"a": 1}\n', "app/rules.yaml": "a: 1\n", "app/t.csv": "a\n"},
    ),
    "settings of a linter": opens(
        "this table steers no test",
        {"pyproject.toml": f"{PYPROJECT}[tool.ruff]\nline-length = 99\n[tool.mypy]\nstrict = true\n"},
    ),
    "settings of other tools": opens(
        "nothing of these reaches the run",
        {
            ".editorconfig": "root = true\n",
            ".pre-commit-config.yaml": "repos: []\n",
            ".gitignore": "*.log\n",
            "ruff.toml": "line-length = 99\n",
            "mypy.ini": "[mypy]\n",
            ".readthedocs.yaml": "version: 2\n",
        },
    ),
    "line ends are made uniform": opens("a line's end is no part of it", {"app/money.py": MONEY.replace("\n", "\r\n")}),
    "the last line gets its end": opens(
        "a line's end is no part of it", {"app/more.py": "X = 1\n"}, {"app/more.py": "X = 1"}
    ),
    "translations": opens(
        "nothing executes a catalogue", {"app/locale/de/LC_MESSAGES/shop.po": 'msgid "a"\nmsgstr "b"\n'}
    ),
    "a test of the agent's own": opens(
        "it owes nothing, and witnesses nothing", {"tests/generated/test_new.py": "def test_new():\n    assert 1\n"}
    ),
    "helpers and a conftest of the agent's own tests": opens(
        "they owe nothing, and the trusted run does not load them",
        {"tests/generated/conftest.py": "import pytest\n", "tests/generated/helpers.py": "def f():\n    return 1\n"},
    ),
    "stubs and markers of types": opens(
        "nothing imports them", {"app/money.pyi": "def rounded(a: int) -> int: ...\n", "app/py.typed": ""}
    ),
    "an empty package": opens("it has no line", {"app/extra/__init__.py": "", "app/extra/notes.txt": "x\n"}),
    "a line of a log": opens(
        "it was run",
        {
            "app/shop.py": SHOP.replace(
                "    amount = total(prices)\n", "    amount = total(prices)\n    print(amount)\n"
            )
        },
    ),
    "an import that only types need": opens(
        "proved to be for types",
        {
            "app/shop.py": "from typing import TYPE_CHECKING\n\n"
            + SHOP.replace(
                "\n\n\ndef total", "\n\nif TYPE_CHECKING:\n    from decimal import Decimal\n\n\ndef total", 1
            )
        },
    ),
    "modern constructs that the tests run": opens(
        "each was entered and run",
        {
            "app/shop.py": "import asyncio\nfrom dataclasses import dataclass\n\nfrom app.money import rounded\n\n\n"
            "@dataclass(frozen=True)\nclass Order:\n    prices: list\n\n    @property\n    def sum(self):\n"
            "        return rounded(sum(price for price in self.prices))\n\n\n"
            "async def ask(order):\n    await asyncio.sleep(0)\n"
            "    return order.sum\n\n\ndef total(prices):\n    return asyncio.run(ask(Order(prices)))\n"
            + SHOP.split("rounded(sum(prices))\n")[1]
        },
    ),
    "nothing": opens("nothing changed", {}),
}

CLOSED: dict[str, Case] = {
    "a helper without a trusted test": closes(
        1,
        "LW101 app/shop.py",
        "nobody whom the agent cannot edit has run it",
        {"app/shop.py": SHOP + "\n\ndef tax(prices):\n    return total(prices) // 5\n"},
    ),
    "a helper with a trusted test that nobody approved": closes(
        5,
        "LW301 tests/trusted/test_tax.py",
        "trusted tests are landed or approved by people",
        {
            "app/shop.py": SHOP + "\n\ndef tax(prices):\n    return total(prices) // 5\n",
            "tests/trusted/test_tax.py": "from app.shop import tax\n\n\ndef test_tax():\n    assert tax([50]) == 10\n",
        },
    ),
    "types for a function that nobody runs": closes(
        1,
        "LW101 app/money.py",
        "a signature is a part of a definition, and annotations are evaluated; waive it or test the function",
        {"app/money.py": MONEY.replace("def unused(amount):", "def unused(amount: int) -> str:")},
    ),
    "an error that no test provokes": closes(
        1,
        "LW101 app/shop.py",
        "the branch was never taken",
        {
            "app/shop.py": SHOP.replace(
                "    return rounded", "    if not prices:\n        raise ValueError\n    return rounded"
            )
        },
    ),
    "a template": closes(
        1, "LW104 app/page.j2", "a template is a program that no rule reads", {"app/page.j2": "{{ total }}\n"}
    ),
    "a script in Python that no test runs": closes(
        1,
        "LW101 bin/report",
        "it is Python by its first line, and nobody ran it",
        {"bin/report": Executable("#!/usr/bin/env python3\nprint(1)\n")},
    ),
    "a container's recipe": closes(
        1, "LW104 Dockerfile", "it is executed, and no rule reads it", {"Dockerfile": "FROM x\nRUN y\n"}
    ),
    "a link": closes(
        1,
        "LW104 docs/latest.md",
        "a link may lead anywhere, later too",
        {"docs/latest.md": Link("use.md"), "docs/use.md": "x\n"},
    ),
    "a catalogue that is compiled": closes(
        1, "LW104 app/shop.mo", "it is binary", {"app/shop.mo": b"\xde\x12\x04\x95\0"}
    ),
    "a conftest of an unrelated folder": closes(
        1,
        "LW101 benchmarks/conftest.py",
        "it is code like any other there, and nobody ran it; it is not protected",
        {"benchmarks/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef many():\n    return 10**6\n"},
    ),
    "a CI job": closes(
        5,
        "LW301 .github/workflows/docs.yml",
        "CI definitions are the owners'",
        {".github/workflows/docs.yml": "on: push\n"},
    ),
    "a marker of pytest": closes(
        5,
        "LW301 pyproject.toml",
        "this table steers the trusted run",
        {"pyproject.toml": f"{PYPROJECT}markers = ['slow']\n"},
    ),
    "attributes of git": closes(
        5, "LW301 .gitattributes", "they decide what git shows", {".gitattributes": "*.sh eol=lf\n"}
    ),
    "a corrected trusted test": closes(
        5,
        "LW301 tests/trusted/test_shop.py",
        "trusted tests are the owners'",
        {"tests/trusted/test_shop.py": TRUSTED + "\n"},
    ),
}


def judge(root: Path, base: str, head: str = "HEAD") -> ObligationMap:
    return check(CheckRequest(root, Question(base, head), today=TODAY), lambda _: None)


def errors(artifact: ObligationMap) -> set[str]:
    return {f"{found.code} {found.path}" for found in artifact.findings if found.severity is Severity.ERROR}


def apply(repo: Repo, patch: Patch) -> str:
    repo.remove(*(name for name, content in patch.items() if content is None))
    return repo.commit("patch", {name: content for name, content in patch.items() if content is not None})


@pytest.mark.parametrize("name", [*OPEN, *CLOSED])
def test_an_ordinary_patch_is_judged_as_people_expect(tmp_path: Path, name: str) -> None:
    case = (OPEN | CLOSED)[name]
    repo = Repo(tmp_path)
    base = repo.commit("base", {**BASE, **case.base})
    apply(repo, case.patch)

    artifact = judge(tmp_path, base)
    assert (artifact.exit, errors(artifact)) == (case.status, set(case.errors)), case.why


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return Key.make(tmp_path_factory.mktemp("keys"))


APPROVED: dict[str, Patch] = {
    "a new helper with its trusted test": {
        "app/shop.py": SHOP + "\n\ndef tax(prices):\n    return total(prices) // 5\n",
        "tests/trusted/test_tax.py": "from app.shop import tax\n\n\ndef test_tax():\n    assert tax([50]) == 10\n",
    },
    "a test that is stricter": {
        "tests/trusted/test_shop.py": TRUSTED.replace('"little"\n', '"little"\n    assert label([]) == "little"\n', 1)
    },
    "a CI job and its marker": {
        ".github/workflows/docs.yml": "on: push\n",
        "pyproject.toml": f"{PYPROJECT}markers = ['slow']\n",
    },
    "waivers together with what they waive": {
        "app/wire_pb2.py": GENERATED,
        "tests/waivers.yaml": waived("app/wire_pb2.py", GENERATED.split("\n", 1)[1]),
    },
}


@pytest.mark.parametrize("name", APPROVED)
def test_what_a_person_signs_for_opens_the_gate(tmp_path: Path, ada: Key, name: str) -> None:
    repo = Repo(tmp_path)
    base = repo.commit("base", {**BASE, ".linewitness/approvers": ada.line()})
    apply(repo, APPROVED[name])
    assert judge(tmp_path, base).exit == 5
    signed(repo, ada)

    artifact = judge(tmp_path, base)
    assert (artifact.exit, errors(artifact)) == (0, set())


def test_a_revert_is_a_patch_like_any_other(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit("base", BASE)
    base = apply(repo, {"app/shop.py": SHOP.replace("> 100", ">= 100")})
    repo.git("revert", "--no-edit", "HEAD")
    artifact = judge(tmp_path, base)
    assert (artifact.exit, artifact.trusted_hit) == (0, 1)


def test_a_revert_of_the_branch_s_own_commit_leaves_nothing(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit("base", BASE)
    apply(repo, {"app/shop.py": SHOP + "\n\ndef tax(prices):\n    return 1\n", "tests/trusted/test_x.py": "x = 1\n"})
    repo.git("revert", "--no-edit", "HEAD")
    assert (judge(tmp_path, base).exit, judge(tmp_path, base).owed) == (0, 0)


def test_what_is_merged_from_the_target_branch_is_not_the_patch_s(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit("base", BASE)
    repo.branch("work")
    apply(repo, {"app/shop.py": SHOP.replace("> 100", ">= 100")})
    repo.git("checkout", "-q", "main")
    repo.commit(
        "others",
        {
            "app/money.py": MONEY + "\n\ndef more():\n    return 1\n",
            "tests/trusted/test_m.py": "def test():\n    pass\n",
        },
    )
    repo.git("checkout", "-q", "work")
    repo.git("merge", "-q", "--no-edit", "main")

    artifact = judge(tmp_path, "main")
    assert (artifact.exit, [row.path for row in artifact.rows]) == (0, ["app/shop.py"])


def test_a_squash_of_many_commits_is_judged_as_their_sum(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit("base", BASE)
    apply(repo, {"app/shop.py": SHOP + "\n\ndef tax(prices):\n    return 1\n"})
    apply(repo, {"app/shop.py": SHOP.replace("> 100", ">= 100")})
    artifact = judge(tmp_path, base)
    assert (artifact.exit, artifact.owed) == (0, 1)
