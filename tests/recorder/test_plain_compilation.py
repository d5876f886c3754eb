"""A changed file that runs with probes in it still warns, and fails, as it would without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter
from tests.recorder.runs import TESTS, trusted_run

INI = "[pytest]\nfilterwarnings = error\npythonpath = src\n"
PRODUCT = "def one():\n    return {}\n"
TEST = "def test_it():\n    from shop import one\n    assert one() is not None\n"


@pytest.mark.parametrize(("value", "passed"), [("1", 1), ("'a' is 'b'", 0)])
def test_a_warning_of_the_compiler_is_an_error_where_the_project_says_so(
    tmp_path: Path, python: Interpreter, value: str, passed: int
) -> None:
    files = {"pytest.ini": INI, "src/shop.py": PRODUCT.format(value), TESTS: TEST}
    ran = trusted_run(tmp_path, python, files)
    assert ran.record.source.tests is not None
    assert ran.record.source.tests.passed == passed
    assert ran.saw("return") == ({"test_it"} if passed else set())


def test_what_a_loader_of_the_project_makes_of_a_file_is_asked_for(tmp_path: Path, python: Interpreter) -> None:
    test = (
        "from importlib.machinery import SourceFileLoader\nfrom importlib.util import module_from_spec,"
        " spec_from_file_location\n\nasked = []\n\n\nclass Own(SourceFileLoader):\n"
        "    def source_to_code(self, data, path):\n        asked.append(path)\n"
        "        return super().source_to_code(data, path)\n\n\ndef test_it():\n"
        "    spec = spec_from_file_location('shop', 'src/shop.py', loader=Own('shop', 'src/shop.py'))\n"
        "    module = module_from_spec(spec)\n    spec.loader.exec_module(module)\n"
        "    assert asked and module.one() == 1\n"
    )
    ran = trusted_run(tmp_path, python, {"src/shop.py": PRODUCT.format(1), TESTS: test})
    assert ran.saw("return") == {"test_it"}
