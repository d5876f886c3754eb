"""The demonstration shows what it promises, offline and without a trace."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError, Exit
from linewitness.onboarding.demonstration import Event, Heading, Judged, Ran, perform
from tests.onboarding.conftest import Shell


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    return list(perform(tmp_path_factory.mktemp("demo"), lambda _: None))


def test_the_gate_closes_for_the_right_reasons_and_opens_at_last(events: list[Event]) -> None:
    judged = [event.artifact for event in events if isinstance(event, Judged)]

    assert [artifact.exit for artifact in judged] == [Exit.CLOSED, Exit.PROTECTED, Exit.EVIDENCE, Exit.OPEN]
    first, last = judged[0], judged[-1]
    assert [(row.content.strip()) for row in first.rows if row.status == "unwitnessed"] == ["amount -= amount // 10"]
    assert (last.owed, last.trusted_hit) == (5, 5)


def test_every_verdict_is_the_promised_one(events: list[Event]) -> None:
    assert all(event.as_expected for event in events if isinstance(event, Judged))


def test_another_verdict_would_be_noticed(events: list[Event]) -> None:
    judged = next(event for event in events if isinstance(event, Judged))

    assert not judged._replace(expected=Exit.OPEN).as_expected


def test_the_agents_tests_are_green_and_miss_nothing(events: list[Event]) -> None:
    (run,) = [event for event in events if isinstance(event, Ran) and event.command.startswith("pytest")]

    assert run.output == "4 passed\ncoverage.py: 0 of 6 statements missed, 0 of 2 branches missed"


def test_there_are_five_acts(events: list[Event]) -> None:
    assert len([event for event in events if isinstance(event, Heading)]) == 5


def test_the_command_prints_the_screens_and_leaves_nothing(shell: Shell, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    done = shell(tmp_path, f"TMPDIR={temporary} linewitness demo")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.findall(r"^  exit (\d)", done.stdout, re.MULTILINE) == ["1", "5", "3", "0"]
    assert "  gate open: all 5 owed lines are discharged" in done.stdout
    assert "%" not in done.stdout
    assert list(temporary.iterdir()) == []


def test_a_kept_folder_can_be_explored(shell: Shell, tmp_path: Path) -> None:
    done = shell(tmp_path, f"TMPDIR={tmp_path} linewitness demo --keep")
    folder = Path(done.stdout.rstrip("\n").rpartition(" ")[2])

    assert folder.parent == tmp_path
    explained = shell(folder, "linewitness explain shop/billing.py:10")
    assert explained.returncode == 0, explained.stderr
    assert "test_an_order_of_exactly_100_gets_the_discount" in explained.stdout


def test_without_pytest_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "environment"))

    with pytest.raises(EvidenceError, match=r"Install it there: .*python -m pip install pytest"):
        next(perform(tmp_path, lambda _: None))
