"""The folder of a suite's export: who may write into it, and what may not stand in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.test_command_suites import SETTINGS, SHOP, WRITES, judge
from tests.support.repos import Link

BELOW = SETTINGS.replace("lcov.info", "build/coverage/lcov.info")
WRITES_BELOW = WRITES.replace("lcov.info", "build/coverage/lcov.info")


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_the_command_may_write_more_than_the_export_into_its_folders(tmp_path: Path, sandbox: str) -> None:
    script = "touch build/log build/coverage/lock\n" + WRITES_BELOW

    judged = judge(tmp_path, script, BELOW, sandbox=sandbox)

    assert (judged.artifact.exit, judged.artifact.trusted_hit, judged.told) == (0, 2, [])


def test_a_link_of_the_patch_does_not_lead_the_export_out_of_the_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    patch = {"shop.py": SHOP + "\nprint(total([1]))\n", "build": Link(str(outside))}

    judged = judge(tmp_path / "repo", WRITES_BELOW, BELOW, sandbox="off", patch=patch)

    assert (judged.artifact.exit, judged.artifact.trusted_hit) == (3, 0)
    assert ("LW502", "cannot be written: build is no folder in the tree") in judged.told
    assert list(outside.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    patch = {"shop.py": SHOP + "\nprint(total([1]))\n", "build/coverage": "a file\n"}

    judged = judge(tmp_path, WRITES_BELOW, BELOW, patch=patch)

    assert judged.artifact.exit == 3
    assert ("LW502", "cannot be written: build/coverage is no folder in the tree") in judged.told


def test_what_a_command_printed_is_shown_without_the_folder_of_the_run(tmp_path: Path) -> None:
    judged = judge(tmp_path, 'echo "$PWD/src/a.c: no such file"; exit 1\n')

    ((_, told),) = [found for found in judged.told if found[0] == "LW503"]
    assert told.endswith("\n    src/a.c: no such file")
