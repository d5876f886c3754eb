"""Patches that break the product and have a conftest file leave out the check which would fail.

The conftest file is the owners' and unchanged; what it makes of the product is the patch's to choose. The honest twins
are files that are left out for reasons of the host, for good, or at base too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.obligation_map import ObligationMap
from tests.attacks.shop import BROKEN, HONEST, SEEN, errors, judge
from tests.support.repos import Content

CONFTEST = "tests/trusted/conftest.py"
CHECK = "tests/trusted/test_shop.py"
ON, OFF = f"ON = True\n{HONEST}", f"ON = False\n{BROKEN}"
ASKS = "from app import shop\n\n"
LISTS = f"{ASKS}collect_ignore = [] if shop.ON else ['test_shop.py']\n"
IMPORTS = "collect_ignore = ['test_shop.py']\n\ntry:\n    import app.fast\nexcept ImportError:\n    pass\nelse:\n"
HOOK = f"{ASKS}\ndef pytest_ignore_collect(collection_path):\n    return True if not shop.ON and 'shop' in collection_path.name else None\n"  # noqa: E501
TAKES = f"{ASKS}\ndef pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if shop.ON or 'total' not in item.nodeid]\n"  # noqa: E501
TELLS = f"""{ASKS}
def pytest_collection_modifyitems(config, items):
    gone = [item for item in items if not shop.ON and 'total' in item.nodeid]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in gone]
"""
WRAPS = """import pytest
from app import shop


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    yield
    items[:] = [item for item in items if shop.ON or 'total' not in item.nodeid]
"""
FINDS = "import importlib.util\n\ncollect_ignore = []\nif importlib.util.find_spec('app.fast') is None:\n    collect_ignore.append('test_shop.py')\n"  # noqa: E501
LOOKS = "import os\n\ncollect_ignore = []\nif not os.path.exists(os.path.join(os.path.dirname(__file__), '../../app/fast.py')):\n    collect_ignore += ['test_shop.py']\n"  # noqa: E501
READS = "import json\n\nwith open('app/off.json') as stream:\n    collect_ignore = json.load(stream)\n"
HOST = "import os\n\ncollect_ignore = ['test_shop.py'] if os.environ.get('SHOP_OFF') else []\n"
# The product changes what the conftest file has said already.
REACHES = f"import sys\n\nsys.modules['conftest'].collect_ignore.append('test_shop.py')\n{BROKEN}"
ENVIRONMENT = f"import os\n\nos.environ['SHOP_OFF'] = '1'\n{BROKEN}"
Files = Mapping[str, Content]
FAST: Files = {"app/fast.py": "FAST = True\n"}

# The conftest file, what base has beside it, and the patch; ``None`` removes a file.
LEFT_OUT: dict[str, tuple[str, Files, Mapping[str, Content | None]]] = {
    "a list that asks the product": (LISTS, {"app/shop.py": ON}, {"app/shop.py": OFF}),
    "a hook that asks the product": (HOOK, {"app/shop.py": ON}, {"app/shop.py": OFF}),
    "an optional import": (FINDS, FAST, {"app/fast.py": None, "app/shop.py": BROKEN}),
    "a list that shrinks when an import works": (
        f"{IMPORTS}    collect_ignore.clear()\n",
        FAST,
        {"app/fast.py": "import nothing_of_the_kind\n", "app/shop.py": BROKEN},
    ),
    "a file that is looked for": (LOOKS, FAST, {"app/fast.py": None, "app/shop.py": BROKEN}),
    "a file that is read": (
        READS,
        {"app/off.json": "[]"},
        {"app/off.json": '["test_shop.py"]', "app/shop.py": BROKEN},
    ),
    "a variable of the environment": (
        f"import app.shop\n{HOST}",
        {},
        {"app/shop.py": ENVIRONMENT},
    ),
    "a list that the product reaches": (
        "collect_ignore = ['test_other.py']\n\nimport app.shop\n",
        {},
        {"app/shop.py": REACHES},
    ),
    "tests that are taken out of the list": (TAKES, {"app/shop.py": ON}, {"app/shop.py": OFF}),
    "tests that are taken out, and told": (TELLS, {"app/shop.py": ON}, {"app/shop.py": OFF}),
    "tests that are taken out last of all": (WRAPS, {"app/shop.py": ON}, {"app/shop.py": OFF}),
    "a folder that looks like an environment": (
        "import app.shop\n",
        {},
        {"app/shop.py": f"import pathlib\n\npathlib.Path('tests/pyvenv.cfg').write_text('home = /usr')\n{BROKEN}"},
    ),
}


def judged(tmp_path: Path, conftest: str, base: Files, patch: Mapping[str, Content | None]) -> ObligationMap:
    files: dict[str, Content] = {"app/more.py": "MORE = 2\n", CONFTEST: conftest, **base}
    files["tests/smoke/test_more.py"] = "def test_more():\n    from app import more, shop\n\n    assert shop and more\n"
    files["linewitness.toml"] = 'trusted = ["tests/trusted/**", "tests/smoke/**"]\n'
    return judge(tmp_path, patch, files)


@pytest.mark.parametrize("trick", LEFT_OUT)
def test_a_check_that_passes_with_the_code_of_base_may_not_be_left_out(tmp_path: Path, trick: str) -> None:
    artifact = judged(tmp_path, *LEFT_OUT[trick])
    assert artifact.exit == 3
    told = [found.message for found in artifact.findings if found.code == "LW501" and found.path == CHECK]
    assert any("with base's code it passes" in message for message in told), errors(artifact)


AWAY = "['test_shop.py']"
HONEST_TWINS: dict[str, tuple[str, Files, Mapping[str, Content | None]]] = {
    "a list": (f"collect_ignore = {AWAY}\n", {}, {"app/shop.py": SEEN}),
    "the version of Python": (
        f"import sys\n\nif sys.version_info < (9, 9):\n    collect_ignore = {AWAY}\n",
        {},
        {"app/shop.py": SEEN},
    ),
    "the environment": (
        f"import os\n\ncollect_ignore = [] if os.environ.get('SHOP_SERVER') else {AWAY}\n",
        {},
        {"app/shop.py": SEEN},
    ),
    "a library that is not there": (
        f"try:\n    import no_such_library\nexcept ImportError:\n    collect_ignore = {AWAY}\n",
        {},
        {"app/shop.py": SEEN},
    ),
    "a constant of the product that was so before": (
        LISTS,
        {"app/shop.py": f"ON = False\n{HONEST}"},
        {"app/shop.py": f"ON = False\n{SEEN}"},
    ),
    "a part of the product that was never there": (FINDS, {}, {"app/shop.py": SEEN}),
    "a check that starts to apply": (
        LISTS,
        {"app/shop.py": f"ON = False\n{BROKEN}"},
        {"app/shop.py": f"ON = True\n{SEEN}"},
    ),
    "tests that are taken out at base too": (
        TAKES,
        {"app/shop.py": f"ON = False\n{HONEST}"},
        {"app/shop.py": f"ON = False\n{SEEN}"},
    ),
    "tests that an option takes out": (
        "",
        {"linewitness.toml": '[[suite]]\nrunner = "pytest"\nargs = ["-k", "smoke"]\n'},
        {"app/shop.py": SEEN},
    ),
}


@pytest.mark.parametrize("name", HONEST_TWINS)
def test_the_honest_twins_open_the_gate(tmp_path: Path, name: str) -> None:
    conftest, base, patch = HONEST_TWINS[name]
    artifact = judge(tmp_path, patch, {CONFTEST: conftest, **base})
    assert (artifact.exit, errors(artifact)) == (0, {})
