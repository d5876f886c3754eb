"""The folder of a suite's export: who may write into it, and what may not stand in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.test_command_suites import REWRITTEN, SETTINGS, SHOP, WRITES, judge
from tests.support.repos import Content, Link

BELOW = SETTINGS.replace("lcov.info", "build/coverage/lcov.info")
WRITES_BELOW = WRITES.replace("lcov.info", "build/coverage/lcov.info")


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_the_command_may_write_more_than_the_export_into_its_folders(tmp_path: Path, sandbox: str) -> None:
    script = "touch build/log build/coverage/lock\n" + WRITES_BELOW

    judged = judge(tmp_path, script, BELOW, sandbox=sandbox)

    assert (judged.artifact.exit, judged.artifact.trusted_hit, judged.told) == (0, 2, [])


def test_no_link_of_the_patch_decides_where_the_export_goes(tmp_path: Path) -> None:
    patch: dict[str, Content] = {"shop.py": SHOP + "\nprint(total([1]))\n", "build": Link("tests")}

    judged = judge(tmp_path, WRITES_BELOW, BELOW, patch=patch)

    assert (judged.artifact.exit, judged.artifact.trusted_hit) == (3, 0)
    assert ("LW502", "cannot be written: build is no folder in the tree") in judged.told


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    patch = {"shop.py": SHOP + "\nprint(total([1]))\n", "build/coverage": "a file\n"}

    judged = judge(tmp_path, WRITES_BELOW, BELOW, patch=patch)

    assert judged.artifact.exit == 3
    assert ("LW502", "cannot be written: build/coverage is no folder in the tree") in judged.told


def test_what_a_command_printed_is_shown_without_the_folder_of_the_run(tmp_path: Path) -> None:
    judged = judge(tmp_path, 'echo "$PWD/src/a.c: no such file"; exit 1\n')

    ((_, told),) = [found for found in judged.told if found[0] == "LW503"]
    assert told.endswith("\n    src/a.c: no such file")


# Elsewhere a file of counts would owe, as one that nobody can read.
CODE_OWES = 'sources = ["*.py"]\n' + BELOW
NEW = SHOP + "\nprint(total([1]))\n"


@pytest.mark.parametrize("name", ["build/coverage/old.profraw", "build/coverage/deep/er/jacoco.exec"])
def test_a_patch_brings_no_counts_into_the_folder_of_the_export(tmp_path: Path, name: str) -> None:
    judged = judge(tmp_path, WRITES_BELOW, CODE_OWES, patch={"shop.py": NEW, name: "counts"})

    assert (judged.artifact.exit, judged.artifact.trusted_hit) == (3, 0)
    (found,) = [found for found in judged.artifact.findings if found.code == "LW502"]
    assert found.path == name
    assert "is brought along by the patch" in found.message


def test_a_folder_of_the_product_may_hold_the_export(tmp_path: Path) -> None:
    base = {"build/coverage/tool.txt": "of base\n"}
    patch = {"shop.py": REWRITTEN, "build/coverage/more.txt": "of the patch\n", "build/coverage/tool.txt": "changed\n"}

    judged = judge(tmp_path, WRITES_BELOW, CODE_OWES, base, patch=patch)

    assert (judged.artifact.exit, judged.artifact.trusted_hit, judged.told) == (0, 2, [])


@pytest.mark.parametrize("name", ["build/other.exec", "build/coverage-of-mine/x", "old.profraw"])
def test_other_folders_are_not_looked_at(tmp_path: Path, name: str) -> None:
    judged = judge(tmp_path, WRITES_BELOW, CODE_OWES, patch={"shop.py": REWRITTEN, name: "counts"})

    assert (judged.artifact.exit, judged.artifact.trusted_hit) == (0, 2)
