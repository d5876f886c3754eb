"""For each finding code a repository that triggers exactly it, and one that nearly does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from linewitness.evidence.sandbox import Mode

Files = Mapping[str, str | bytes]

TODAY: Final = "2026-09-16"


class Side(NamedTuple):
    """One repository: what differs from the honest base, the patch, and how the gate is asked.

    ``{outside}`` in a text stands for a folder outside of the repository, in which ``outside`` lies, and ``{ada}`` for
    the public key of ``ada``. ``signed_by`` signs an empty commit on top of the patch.
    """

    head: Files
    base: Files = MappingProxyType({})
    exports: Mapping[str, str | None] = MappingProxyType({})
    asked: str = "main"
    always_run: bool = False
    outside: Mapping[str, str] = MappingProxyType({})
    sandbox: Mode = "auto"
    signed_by: str = ""


class Case(NamedTuple):
    """``bad`` triggers ``code``, with the ``companions`` that it cannot avoid; ``near`` does not trigger it."""

    code: str
    why_near: str
    bad: Side
    near: Side
    companions: frozenset[str] = frozenset()


SHOP: Final = "def price(n):\n    return n\n"
SEEN: Final = "def price(n):\n    return n + 0\n"
HONEST: Final[Files] = {
    "shop.py": SHOP,
    "tests/trusted/test_shop.py": "from shop import price\n\n\ndef test_price():\n    assert price(1) > 0\n",
}
"""The target branch of every case, unless the case says otherwise."""

_UNSEEN: Final = f"{SHOP}\n\ndef refund(n):\n    if n > 5:\n        return 0\n    return -n\n"
_UNSEEN_LINES: Final = ("def refund(n):", "    if n > 5:", "        return 0", "    return -n")


def waiver(
    line: str, reason: str = "vendor", expires: str = "2026-12-16", more: str = "", path: str = "shop.py"
) -> str:
    """One record of a waiver file."""
    digest = hashlib.sha256(line.encode()).hexdigest()[:16]
    head = f'  - path: {path}\n    line_hash: "{digest}"\n    reason: {reason}\n'
    return f'{head}    owner: platform\n    expires: "{expires}"\n{more}'


def waivers(*records: str) -> Files:
    """The waiver file with these records."""
    return {"tests/waivers.yaml": "waivers:\n" + "".join(records)}


def settings(text: str) -> Files:
    """The settings file."""
    return {"linewitness.toml": f"{text}\n"}


def coverage(path: str, lines: list[int], test: str = "") -> str:
    """A JSON report of coverage.py that says that these lines of one file ran, and in which test."""
    summary = f'{{"covered_lines": {len(lines)}, "num_statements": 2, "missing_lines": 0, "excluded_lines": 0}}'
    told = {str(line): ["", f"{test}|run"] for line in lines} if test else {}
    contexts = f'"contexts": {json.dumps(told)}, ' if test else ""
    entry = f'{{"executed_lines": {lines}, {contexts}"missing_lines": [], "excluded_lines": [], "summary": {summary}}}'
    meta = f'{{"format": 3, "version": "7.10.0", "branch_coverage": false, "show_contexts": {json.dumps(bool(test))}}}'
    return f'{{"meta": {meta}, "files": {{"{path}": {entry}}}, "totals": {summary}}}'


def manifest(**files: str) -> str:
    """The manifest of a corpus."""
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in files.items())


_README: Final[Files] = {"README.md": "a\n"}
_STANDING: Final = "def price(n):"
_CORPUS: Final = "tests/relations/corpus"
_WAIVED: Final = waivers(waiver("    return n + 0"))
_TWICE: Final = f"{SHOP}\n\ndef f():\n    return 7\n\n\ndef g():\n    return 7\n"
_TWICE_WAIVED: Final = tuple(waiver(line) for line in ("def f():", "def g():"))
_FREE_THE_HOOKS: Final = """
def test_hooks():
    import sys
    from importlib.machinery import SourceFileLoader
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        SourceFileLoader.get_code = lambda *arguments: None
        return
    for tool in range(6):
        if (monitoring.get_tool(tool) or "").startswith("linewitness"):
            monitoring.free_tool_id(tool)
"""
_LOOK_AT_THE_HOOKS: Final = """
def test_hooks():
    import sys
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        assert [monitoring.get_tool(tool) for tool in range(6)]
"""
_STOP: Final = "import os\n\n\ndef stop():\n    os._exit(0)\n"
_EXIT: Final = "import sys\n\n\ndef stop():\n    sys.exit(0)\n"
_CALLS_STOP: Final = """
import pytest
from stopping import stop


def test_stop():
    with pytest.raises(SystemExit):
        stop()
"""
_EXACT: Final = "from shop import price\n\n\ndef test_exact():\n    assert price(1) == 1\n"
_READS_A_FILE: Final = "def cases():\n    with open('cases/prices.json') as file:\n        return file.read()\n"
_CASES: Final[Files] = {"cases/prices.json": "[1, 2]\n"}
_OTHER: Final = "from shop import price\n\n\ndef test_other():\n    assert price(-1) == 1\n"

_ALWAYS: Final = """\
def price(n):
    return Price()


class Price:
    def __gt__(self, other):
        return self == other

    def __eq__(self, other):
"""

LINES: Final = (
    Case(
        "LW101",
        "a check runs the line",
        Side({"shop.py": _UNSEEN}),
        Side({"shop.py": SEEN}),
    ),
    Case(
        "LW102",
        "a check takes the other arm as well",
        Side({"shop.py": "def price(n):\n    return n if n > 0 else 1\n"}, settings('branches = "arms"')),
        Side(
            {"shop.py": "def price(n):\n    return n if n > 0 else 1\n"},
            {
                "linewitness.toml": 'branches = "arms"\n',
                "tests/trusted/test_other.py": _OTHER,
            },
        ),
    ),
    Case(
        "LW105",
        "an equality looks at what it is compared with",
        Side({"shop.py": f"{_ALWAYS}        return True\n"}),
        Side({"shop.py": f"{_ALWAYS}        return other < 1\n"}),
    ),
    Case("LW104", "an image is nothing that runs", Side({"logo.bin": b"\0\1"}), Side({"logo.png": b"\x89PNG\r\n\0\1"})),
)

WAIVERS: Final = (
    Case(
        "LW201",
        "the reason is one of the four",
        Side(_README, waivers(waiver(_STANDING, reason="later"))),
        Side(_README, waivers(waiver(_STANDING, reason="vendor"))),
    ),
    Case(
        "LW202",
        "the last day is today",
        Side(_README, waivers(waiver(_STANDING, expires="2026-09-15"))),
        Side(_README, waivers(waiver(_STANDING, expires="2026-09-16"))),
    ),
    Case(
        "LW203",
        "a branch may be waived with vendor",
        Side(
            {"shop.py": _UNSEEN},
            waivers(
                *(waiver(line) for line in _UNSEEN_LINES if "if" not in line),
                waiver("    if n > 5:", reason="experiment", expires="2026-09-20"),
            ),
        ),
        Side({"shop.py": _UNSEEN}, waivers(*map(waiver, _UNSEEN_LINES))),
    ),
    Case(
        "LW204",
        "the scope tells the lines apart",
        Side({"shop.py": _TWICE}, waivers(*_TWICE_WAIVED, waiver("    return 7"))),
        Side(
            {"shop.py": _TWICE},
            waivers(*_TWICE_WAIVED, *(waiver("    return 7", more=f"    scope: {scope}\n") for scope in "fg")),
        ),
        frozenset({"LW101"}),
    ),
    Case(
        "LW205",
        "180 days are allowed",
        Side(_README, waivers(waiver(_STANDING, expires="2027-03-16"))),
        Side(_README, waivers(waiver(_STANDING, expires="2027-03-15"))),
    ),
    Case(
        "LW206",
        "the line still stands in the file",
        Side(_README, waivers(waiver("def gone():"))),
        Side(_README, waivers(waiver(_STANDING))),
    ),
    Case(
        "LW207",
        "the owner is in the list",
        Side(_README, {**waivers(waiver(_STANDING)), **settings('owners = ["somebody"]')}),
        Side(_README, {**waivers(waiver(_STANDING)), **settings('owners = ["platform"]')}),
    ),
)

_APPROVERS: Final[Files] = {".linewitness/approvers": "ada@example.org {ada}\n"}
_MORE_TESTS: Final[Files] = {"tests/trusted/test_new.py": "def test_new():\n    assert True\n"}

TRUST: Final = (
    Case(
        "LW302",
        "the product reads the file, and the check asks the product",
        Side(
            {"cases/prices.json": "[]\n"},
            {**_CASES, "tests/trusted/test_cases.py": f"{_READS_A_FILE}\n\ndef test_cases():\n    assert cases()\n"},
            always_run=True,
        ),
        Side(
            {"cases/prices.json": "[]\n"},
            {
                **_CASES,
                "reading.py": _READS_A_FILE,
                "tests/trusted/test_cases.py": "import reading\n\n\ndef test_cases():\n    assert reading.cases()\n",
            },
            always_run=True,
        ),
    ),
    Case(
        "LW301",
        "generated tests are the agent's own",
        Side({"tests/trusted/test_new.py": "def test_new():\n    assert True\n"}),
        Side({"tests/generated/test_new.py": "def test_new():\n    assert True\n"}),
    ),
    Case(
        "LW303",
        "the module lies in the project's own package",
        Side({"json.py": "# nothing\n"}),
        Side({"shopping/json.py": "# nothing\n"}, {"shopping/__init__.py": "\n"}),
    ),
    Case(
        "LW304",
        "the key is in base's list",
        Side(_MORE_TESTS, _APPROVERS, signed_by="eve"),
        Side(_MORE_TESTS, _APPROVERS, signed_by="ada"),
        frozenset({"LW301"}),
    ),
    Case(
        "LW401",
        "the digest is the file's",
        Side(_README, {f"{_CORPUS}/a": "2\n", f"{_CORPUS}/MANIFEST.sha256": manifest(a="1\n")}),
        Side(_README, {f"{_CORPUS}/a": "1\n", f"{_CORPUS}/MANIFEST.sha256": manifest(a="1\n")}),
    ),
    Case(
        "LW402",
        "the manifest lists both files",
        Side(_README, {f"{_CORPUS}/a": "1\n", f"{_CORPUS}/b": "2\n", f"{_CORPUS}/MANIFEST.sha256": manifest(a="1\n")}),
        Side(
            _README,
            {f"{_CORPUS}/a": "1\n", f"{_CORPUS}/b": "2\n", f"{_CORPUS}/MANIFEST.sha256": manifest(a="1\n", b="2\n")},
        ),
    ),
)

_RELATION_THAT: Final = "from shop import price\n\n\ndef test_relation():\n    {}\n"
_RELATION: Final = "tests/relations/test_relation.py"

RELATIONS: Final = (
    Case(
        "LW403",
        "the relation compares two results",
        Side(
            {"shop.py": SEEN},
            {_RELATION: _RELATION_THAT.format("price(1)")},
        ),
        Side({"shop.py": SEEN}, {_RELATION: _RELATION_THAT.format("assert price(1) < price(2)")}),
    ),
    Case(
        "LW404",
        "the relation that ran is head's",
        Side(
            {"shop.py": SEEN},
            _WAIVED,
            {"coverage.json": coverage("shop.py", [1, 2], "tests/relations/test_draft.py::test_it")},
        ),
        Side(
            {"shop.py": SEEN},
            {_RELATION: _RELATION_THAT.format("assert price(1) < price(2)")},
            {"coverage.json": coverage("shop.py", [1, 2], f"{_RELATION}::test_relation")},
        ),
    ),
)

EVIDENCE: Final = (
    Case(
        "LW501",
        "the patch keeps what the check asks for",
        Side(
            {"shop.py": "def price(n):\n    return n + 1\n"},
            {"tests/trusted/test_exact.py": _EXACT},
        ),
        Side(
            {"shop.py": SEEN},
            {"tests/trusted/test_exact.py": _EXACT},
        ),
    ),
    Case(
        "LW502",
        "one test that passes is enough",
        Side(
            _README,
            {"tests/trusted/test_shop.py": "import pytest\n\n\ndef test_skipped():\n    pytest.skip('not now')\n"},
            always_run=True,
        ),
        Side(
            _README,
            {"tests/trusted/test_more.py": "import pytest\n\n\ndef test_skipped():\n    pytest.skip('not now')\n"},
            always_run=True,
        ),
    ),
    Case(
        "LW503",
        "an exit that the check expects",
        Side(_README, {"stopping.py": _STOP, "tests/trusted/test_stop.py": _CALLS_STOP}, always_run=True),
        Side(_README, {"stopping.py": _EXIT, "tests/trusted/test_stop.py": _CALLS_STOP}, always_run=True),
    ),
    Case(
        "LW504",
        "the file has the lines that the export names",
        Side({"shop.py": SEEN}, _WAIVED, {"coverage.json": coverage("shop.py", [1, 2, 40])}),
        Side({"shop.py": SEEN}, _WAIVED, {"coverage.json": coverage("shop.py", [1, 2])}),
    ),
    Case(
        "LW505",
        "looking at the hooks touches nothing",
        Side({"shop.py": SEEN}, {**_WAIVED, "tests/trusted/test_zz_hooks.py": _FREE_THE_HOOKS}),
        Side({"shop.py": SEEN}, {**_WAIVED, "tests/trusted/test_zz_hooks.py": _LOOK_AT_THE_HOOKS}),
    ),
    Case(
        "LW506",
        "the module is the checkout's own",
        Side(
            {"shop.py": SEEN},
            {
                "pkg/__init__.py": "__path__.append({outside!r})\n",
                "tests/trusted/test_pkg.py": "import pkg.speedups\n\n\ndef test_pkg():\n    assert pkg.speedups.f()\n",
            },
            outside={"speedups.py": "def f():\n    return 1\n"},
            sandbox="off",
        ),
        Side(
            {"shop.py": SEEN},
            {
                "pkg/__init__.py": "",
                "pkg/speedups.py": "def f():\n    return 1\n",
                "tests/trusted/test_pkg.py": "import pkg.speedups\n\n\ndef test_pkg():\n    assert pkg.speedups.f()\n",
            },
        ),
    ),
    Case(
        "LW507",
        "the path leads to the file",
        Side({"shop.py": SEEN}, _WAIVED, {"coverage.json": coverage("/build/shopping.py", [1, 2])}),
        Side({"shop.py": SEEN}, _WAIVED, {"coverage.json": coverage("/build/shop.py", [1, 2])}),
    ),
    Case(
        "LW508",
        "the export is there",
        Side({"shop.py": SEEN}, _WAIVED, {"coverage.json": None}),
        Side({"shop.py": SEEN}, _WAIVED, {"coverage.json": coverage("shop.py", [1, 2])}),
    ),
)

GENERAL: Final = (
    Case(
        "LW001",
        "the word is known",
        Side(_README, settings('branches = "lines"')),
        Side(_README, settings('branches = "line"')),
    ),
    Case("LW002", "the branch exists", Side(_README, asked="nowhere"), Side(_README, asked="main")),
)

ADVICE: Final = (
    Case(
        "LW601",
        "another folder is sensitive",
        Side({"shop.py": SEEN}, settings('sensitive = ["shop.py"]')),
        Side({"shop.py": SEEN}, settings('sensitive = ["auth/**"]')),
    ),
    Case(
        "LW602",
        "the whole patch is formatting",
        Side({"shop.py": SEEN, "other.py": "x = [\n    1\n]\n"}, {"other.py": "x = [1]\n"}),
        Side({"other.py": "x = [\n    1\n]\n"}, {"other.py": "x = [1]\n"}),
    ),
    Case(
        "LW603",
        "people own a check",
        Side(_README, {"tests/trusted/test_shop.py": b"", "tests/trusted/README.md": "Checks\n"}),
        Side(_README),
    ),
    Case(
        "LW604",
        "the marker was there before",
        Side({"shop.py": SEEN + "# pragma: no cover\n"}),
        Side({"shop.py": SEEN + "# pragma: no cover\n"}, {"shop.py": SHOP + "# pragma: no cover\n"}),
    ),
)

CASES: Final = (*GENERAL, *LINES, *WAIVERS, *TRUST, *RELATIONS, *EVIDENCE, *ADVICE)

NOT_BUILT: Final = {
    "LW103": "the level at which changed lines are altered and the witnesses run again",
}
"""Codes that are documented and that this version never gives, with what they wait for."""
