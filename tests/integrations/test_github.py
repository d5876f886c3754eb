"""The gate as a step of a GitHub job: what it judges for each event, and what the runner gets to see."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from linewitness.errors import UsageError
from linewitness.integrations import github
from tests.integrations.runner import OPEN, SOURCE, WITNESSED, Checkout, pull_request, run_step

ROOT = SOURCE.parent
PULL_REQUEST = {"pull_request": {"base": {"ref": "main", "sha": "0" * 40}, "head": {"repo": {"fork": True}}}}


def test_a_pull_request_is_judged_as_it_would_be_merged(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, OPEN)
    step = run_step(checkout, "pull_request", PULL_REQUEST)
    assert step.status == 1
    assert step.outputs["verdict"] == "closed"
    stored = json.loads(Path(step.outputs["map"]).read_bytes())
    assert stored["base"]["commit"] == checkout.base
    assert stored["head"]["commit"] == checkout.sha
    assert [row["line"] for row in stored["rows"] if row["status"] == "unwitnessed"] == [5, 6]


def test_an_open_gate_ends_with_zero_and_says_so_in_the_summary(tmp_path: Path) -> None:
    step = run_step(pull_request(tmp_path, WITNESSED), "pull_request", PULL_REQUEST)
    assert step.status == 0, step.log
    assert step.outputs["verdict"] == "open"
    assert step.outputs["owed"] == step.outputs["trusted-hit"] == "1"
    assert "gate open" in step.summary.lower()


def test_the_summary_the_annotations_and_the_reports_name_the_open_lines(tmp_path: Path) -> None:
    step = run_step(pull_request(tmp_path, OPEN), "pull_request", PULL_REQUEST)
    assert "shop/prices.py" in step.summary
    assert re.search(r"^::error [^\n]*file=shop/prices\.py,line=5\b", step.log, re.MULTILINE)
    for name in ("map", "sarif", "markdown", "html"):
        assert Path(step.outputs[name]).stat().st_size > 0


def test_a_merge_group_is_compared_with_the_queue_before_it(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, OPEN)
    payload = {"merge_group": {"base_sha": checkout.base, "head_sha": checkout.sha}}
    step = run_step(checkout, "merge_group", payload)
    assert (step.status, step.outputs["unwitnessed"]) == (1, "2")


def test_a_push_is_compared_with_what_was_there_before(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, OPEN)
    step = run_step(checkout, "push", {"before": checkout.base, "after": checkout.sha, "forced": False})
    assert (step.status, step.outputs["unwitnessed"]) == (1, "2")


@pytest.mark.parametrize("payload", [{"before": "0" * 40}, {"before": "1" * 40, "forced": True}])
def test_a_push_without_an_earlier_state_is_compared_with_the_default_branch(
    tmp_path: Path, payload: dict[str, Any]
) -> None:
    step = run_step(pull_request(tmp_path, OPEN), "push", payload)
    assert (step.status, step.outputs["unwitnessed"]) == (1, "2")


def test_another_commit_than_the_event_s_is_not_judged(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, WITNESSED)
    step = run_step(checkout._replace(sha=checkout.head), "pull_request", PULL_REQUEST)
    assert step.status == 4
    assert "is checked out" in step.log
    assert not step.outputs


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run", "issue_comment"])
def test_events_that_hand_secrets_to_the_patch_are_refused(tmp_path: Path, event: str) -> None:
    step = run_step(pull_request(tmp_path, WITNESSED), event, PULL_REQUEST)
    assert step.status == 2
    assert "secrets" in step.log


@pytest.mark.parametrize("payload", [{}, {"pull_request": None}, {"pull_request": {"base": {"ref": 7}}}])
def test_a_payload_without_a_base_is_refused(tmp_path: Path, payload: dict[str, Any]) -> None:
    step = run_step(pull_request(tmp_path, WITNESSED), "pull_request", payload)
    assert step.status == 2
    assert "pull_request.base.ref" in step.log


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_a_payload_that_is_no_object_is_refused(tmp_path: Path, content: bytes) -> None:
    event = tmp_path / "event.json"
    event.write_bytes(content)
    environ = {"GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "1" * 40, "GITHUB_EVENT_PATH": str(event)}
    with pytest.raises(UsageError, match="payload"):
        github.errand(environ)


def test_outside_of_a_job_the_command_says_so() -> None:
    with pytest.raises(UsageError, match="no job of GitHub Actions"):
        github.errand({})


def test_no_source_line_reaches_the_runner_as_a_command(tmp_path: Path) -> None:
    line = "::set-output name=verdict::open"
    content = f'def total(items):\n    return sum(items)\n\n\ndef tax():\n    return """\n{line}\n"""\n'
    files = {"shop/prices.py": content}
    step = run_step(pull_request(tmp_path, files), "pull_request", PULL_REQUEST)
    lines = step.log.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    resumed = lines.index(f"::{token}::")
    assert re.fullmatch(r"[0-9a-f]{32}", token)
    assert any("set-output" in text for text in lines[:resumed])
    assert not any(text.lstrip().startswith("::set-output") for text in lines[resumed:])


def test_outputs_refuse_a_value_that_would_add_lines() -> None:
    from linewitness.assembly import Assembly

    artifact = Assembly("check", "sha256-16", None).finish(scored=False)
    with pytest.raises(UsageError, match="line break"):
        github.outputs(artifact, {"map": Path("/tmp/a\nverdict=open")})


def test_a_full_summary_is_not_made_too_big(tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    summary.write_bytes(b"x" * ((1 << 20) - 10))
    assert github.room_in_summary(str(summary)) == 10
    assert github.room_in_summary(str(tmp_path / "none")) == 1 << 20


# ---------------------------------------------------------------- the composite action


def action() -> Any:
    return YAML(typ="safe").load((ROOT / "action.yml").read_text(encoding="utf-8"))


def expand(text: str, inputs: dict[str, str]) -> str:
    values = {f"inputs.{name}": value for name, value in inputs.items()} | {"github.action_path": str(ROOT)}
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values[match[1]], text)


def run_action(checkout: Checkout, **given: str) -> Any:
    """The last step of the action, with the gate of this checkout where the first step would have put it."""
    described = action()
    inputs = {name: spec["default"] for name, spec in described["inputs"].items()} | given
    step = described["runs"]["steps"][-1]
    place = checkout.folder.parent / "runner-temp" / "linewitness-gate" / "bin"
    place.mkdir(parents=True)
    program = place / "linewitness"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m linewitness "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    variables = {name: expand(value, inputs) for name, value in step["env"].items()}
    return run_step(checkout, "pull_request", PULL_REQUEST, ("bash", "-e", "-c", step["run"]), **variables)


def test_the_action_s_step_judges_and_sets_its_outputs(tmp_path: Path) -> None:
    step = run_action(pull_request(tmp_path, OPEN))
    assert step.status == 1, step.log
    values = [spec["value"] for spec in action()["outputs"].values()]
    named = {re.fullmatch(r"\$\{\{ steps\.gate\.outputs\.([\w-]+) \}\}", value)[1] for value in values}  # type: ignore[index]
    assert named == set(step.outputs)


def test_the_action_s_inputs_become_options(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, OPEN)
    report = tmp_path / "own report.txt"
    step = run_action(checkout, base=checkout.head, reports=f"agent:{report}\n", sandbox="auto")
    assert step.status == 0, step.log
    assert report.read_text(encoding="utf-8")


def test_no_script_of_the_action_holds_an_expression() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step["run"], "an input in a script is code; hand it over in the environment"


def test_the_action_s_scripts_are_executable_and_parse() -> None:
    for script in sorted((ROOT / "integrations" / "github").glob("*.sh")):
        assert os.access(script, os.X_OK)
        assert os.system(f"bash -n {script}") == 0
