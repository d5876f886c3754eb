"""Which settings file of pytest is used, and what is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence.pytest_settings import PytestSettings, import_roots, read_pytest_settings
from linewitness.model import RepoPath
from tests.recorder.runs import write


def test_without_a_file_pytests_defaults_hold(tmp_path: Path) -> None:
    settings = read_pytest_settings(tmp_path, "9.2.0")
    assert settings == PytestSettings(None)
    assert settings.collects(RepoPath("tests/trusted/test_a.py"))
    assert settings.collects(RepoPath("tests/trusted/a_test.py"))
    assert not settings.collects(RepoPath("tests/trusted/helpers.py"))
    assert not settings.collects(RepoPath("tests/trusted/test_data.json"))


@pytest.mark.parametrize(
    ("files", "version", "expected"),
    [
        ({"pytest.toml": "[pytest]\n", "pytest.ini": "[pytest]\n"}, "9.0", "pytest.toml"),
        ({"pytest.toml": "[pytest]\n", "pytest.ini": "[pytest]\n"}, "8.4", "pytest.ini"),
        ({"pytest.ini": "", "pyproject.toml": "[tool.pytest.ini_options]\n"}, "8.4", "pytest.ini"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", "tox.ini": "[pytest]\n"}, "8.4", "pyproject.toml"),
        ({"pyproject.toml": "[tool.pytest]\n", "tox.ini": "[pytest]\n"}, "8.4", "tox.ini"),
        ({"pyproject.toml": "[tool.pytest]\n", "tox.ini": "[pytest]\n"}, "9.0", "pyproject.toml"),
        ({"pyproject.toml": "[project]\n", "setup.cfg": "[tool:pytest]\n"}, "9.0", "setup.cfg"),
        ({"tox.ini": "[tox]\n", "setup.cfg": "[metadata]\n"}, "9.0", None),
    ],
)
def test_the_first_file_in_pytests_order_counts(
    tmp_path: Path, files: dict[str, str], version: str, expected: str | None
) -> None:
    write(tmp_path, files)
    assert read_pytest_settings(tmp_path, version).file == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n  sub/*.py\npythonpath = python\naddopts = -x {}\n"),
        (
            "pyproject.toml",
            (
                "[tool.pytest.ini_options]\npython_files = ['check_*.py', 'sub/*.py']\n"
                "pythonpath = ['python']\naddopts = '-x {}'\n"
            ),
        ),
    ],
)
@pytest.mark.parametrize("option", ["--import-mode=importlib", "--import-mode importlib"])
def test_what_the_run_needs_is_read(tmp_path: Path, name: str, text: str, option: str) -> None:
    write(tmp_path, {name: text.format(option), "python/a.py": "", "src/b.py": ""})
    settings = read_pytest_settings(tmp_path, "8.4")
    assert settings.import_mode == "importlib"
    assert settings.collects(RepoPath("tests/check_a.py"))
    assert settings.collects(RepoPath("tests/sub/any.py"))
    assert not settings.collects(RepoPath("tests/test_a.py"))
    assert import_roots(tmp_path, settings) == (tmp_path / "python", tmp_path / "src", tmp_path)


def test_a_path_that_leaves_the_tree_is_no_import_root(tmp_path: Path) -> None:
    write(tmp_path, {"export/pytest.ini": "[pytest]\npythonpath = ../outside\n", "outside/a.py": ""})
    root = tmp_path / "export"
    assert import_roots(root, read_pytest_settings(root, "8.4")) == (root,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.pytest\n"),
        ("pytest.ini", "no section\n"),
        ("pytest.ini", "[pytest]\naddopts = 'open\n"),
        ("pytest.ini", "\udcff"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(EvidenceError) as caught:
        read_pytest_settings(tmp_path, "9.0")
    assert caught.value.path == name


def test_folders_that_pytest_does_not_walk_into_hold_no_checks(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nnorecursedirs = data tests/typing\n")
    settings = read_pytest_settings(tmp_path, "9.0")
    assert settings.collects(RepoPath("tests/test_a.py"))
    assert not settings.collects(RepoPath("tests/typing/test_a.py"))
    assert not settings.collects(RepoPath("tests/data/deep/test_a.py"))
    assert settings.collects(RepoPath("tests/build/test_a.py"))


def test_without_a_setting_the_defaults_of_pytest_hold() -> None:
    settings = PytestSettings(None)
    assert settings.collects(RepoPath("tests/trusted/test_a.py"))
    assert not settings.collects(RepoPath("tests/build/test_a.py"))
    assert not settings.collects(RepoPath("tests/.cache/test_a.py"))
