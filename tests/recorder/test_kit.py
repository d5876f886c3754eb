"""The kit is one file of byte code for an interpreter of our own version, and files for any other."""

from __future__ import annotations

import marshal
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from linewitness.evidence.bundle import BUNDLE
from linewitness.evidence.kit import PACKAGE, RELATIONS, _compiled, _header, write_kit
from linewitness.evidence.process import state_path

OURS = (sys.version_info.major, sys.version_info.minor, sys.version_info.micro)


def told(kit: Path, program: str) -> str:
    """What a program says that finds the kit on its path."""
    program = f"import sys; sys.path.insert(0, {str(kit)!r})\n{program}"
    command = [sys.executable, "-I", "-S", "-B", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("module", ["sites", "recorder", "relations", f"relations.{RELATIONS[1]}"])
def test_our_own_interpreter_reads_the_kit_from_one_file(tmp_path: Path, module: str) -> None:
    assert write_kit(tmp_path, OURS)
    file = f"{module.replace('.', '/')}{'/__init__' * (module == 'relations')}.py"
    assert not (tmp_path / PACKAGE / file).exists()
    said = told(
        tmp_path,
        f"from importlib import import_module\nmodule = import_module('{PACKAGE}.{module}')\n"
        "codes = [v.__code__.co_filename for v in vars(module).values() if hasattr(v, '__code__')"
        " and v.__module__ == module.__name__]\n"
        "print(type(module.__spec__.loader).__name__, module.__file__, *{*codes, module.__file__})",
    )
    place = str(tmp_path / PACKAGE / file)
    assert said.split() == ["Bundle", place, place]


def test_what_is_started_by_file_is_a_file(tmp_path: Path) -> None:
    write_kit(tmp_path, OURS)
    program = f"from {PACKAGE}.relations import subjects; print(open(subjects._WORKER).readline())"
    assert told(tmp_path, program).startswith('"""The program of a subject')


def test_files_and_bundle_hold_the_same_modules(tmp_path: Path) -> None:
    bundled, written = tmp_path / "bundled", tmp_path / "written"
    for folder, version in ((bundled, OURS), (written, (3, 9, 18))):
        folder.mkdir()
        write_kit(folder, version)
    modules = marshal.loads((bundled / PACKAGE / BUNDLE).read_bytes())
    files = {path.relative_to(written / PACKAGE).as_posix() for path in (written / PACKAGE).rglob("*.py")}
    assert {file for file, _ in modules.values()} == files - {"__init__.py"}
    assert told(written, f"from {PACKAGE} import sites; print(sites.__file__)") == str(written / PACKAGE / "sites.py")


def test_a_python_without_a_configuration_of_its_own_is_left_alone(tmp_path: Path) -> None:
    write_kit(tmp_path, OURS)
    said = "import sys; print('_linewitness' in sys.modules)"
    environment = {"LINEWITNESS_KIT": str(tmp_path), "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-B", "-c", said]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "False"
    Path(state_path(str(tmp_path))).write_bytes(b"damaged")
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert (run.stdout.strip(), run.stderr) == ("True", "")


def test_an_interpreter_of_another_version_compiles_the_kit_by_itself(tmp_path: Path) -> None:
    assert not write_kit(tmp_path, (3, 9, 18))
    assert not list(tmp_path.rglob("*.pyc"))


def test_byte_code_that_python_would_not_read_is_made_anew(tmp_path: Path) -> None:
    module = tmp_path / "some.py"
    module.write_text("X = 1\n", encoding="utf-8")
    kept = Path(cache_from_source(str(module)))
    fresh = _compiled(str(module))
    assert marshal.loads(fresh).co_consts[0] == 1
    for forged in (b"", b"nonsense", b"\0" * 16 + fresh, _header(str(module))[:-1] + b"\1" + fresh):
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(forged)
        assert marshal.loads(_compiled(str(module))) == marshal.loads(fresh)
    kept.write_bytes(_header(str(module)) + b"kept")
    assert _compiled(str(module)) == b"kept"
