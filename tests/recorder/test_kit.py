"""The kit brings byte code along for an interpreter of our own version, and for no other."""

from __future__ import annotations

import marshal
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

from linewitness.evidence.kit import PACKAGE, RELATIONS, _compiled, _header, write_kit

OURS = (sys.version_info.major, sys.version_info.minor, sys.version_info.micro)


def imported(kit: Path, module: str) -> str:
    """What the interpreter tells about importing a module of the kit."""
    program = f"import sys; sys.path.insert(0, {str(kit)!r}); import {module}"
    command = [sys.executable, "-I", "-S", "-B", "-v", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def test_our_own_interpreter_reads_the_kit_as_byte_code(tmp_path: Path) -> None:
    assert write_kit(tmp_path, OURS)
    for module in ("sites", "recorder", f"relations.{RELATIONS[1]}"):
        place = tmp_path / PACKAGE / module.replace(".", "/")
        assert f"{place.name}.{sys.implementation.cache_tag}.pyc matches {place}.py" in imported(
            tmp_path, f"{PACKAGE}.{module}"
        )


def test_code_of_the_kit_names_the_files_of_the_kit(tmp_path: Path) -> None:
    write_kit(tmp_path, OURS)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from {PACKAGE} import sites"
    program += "; print(sites.main.__code__.co_filename)"
    command = [sys.executable, "-I", "-S", "-B", "-c", program]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert Path(shown) == tmp_path / PACKAGE / "sites.py"


def test_a_file_of_the_kit_that_was_changed_is_compiled_anew(tmp_path: Path) -> None:
    write_kit(tmp_path, OURS)
    changed = tmp_path / PACKAGE / "sites.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\nNEW = 1\n", encoding="utf-8")
    assert f"code object from {changed}" in imported(tmp_path, f"{PACKAGE}.sites")


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
