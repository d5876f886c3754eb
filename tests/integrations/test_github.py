"""The gate as a step of a GitHub job: what it judges for each event, and what the runner gets to see."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from linewitness.errors import UsageError
from linewitness.integrations import github
from linewitness.languages import tables
from tests.integrations.runner import OPEN, SOURCE, WITNESSED, Checkout, pull_request, run_step
from tests.support.repos import Repo, environment

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


DEFAULT = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}


@pytest.mark.parametrize(
    ("payload", "what"),
    [({"before": "0" * 40}, "pushed for the first time"), ({"before": "1" * 40, "forced": True}, "rewritten")],
)
def test_the_default_branch_is_never_compared_with_itself(tmp_path: Path, payload: dict[str, Any], what: str) -> None:
    step = run_step(pull_request(tmp_path, WITNESSED), "push", {**payload, **DEFAULT})
    assert step.status == 4
    assert what in step.log
    assert "--base" in step.log


def test_a_shallow_clone_is_refused_with_the_option_that_deepens_it(tmp_path: Path) -> None:
    whole = pull_request(tmp_path, WITNESSED)
    shallow = Repo(tmp_path / "shallow")
    shallow.git("fetch", "-q", "--depth=1", whole.folder.as_uri(), "HEAD:refs/remotes/pull/1/merge")
    shallow.git("checkout", "-q", "--detach", "refs/remotes/pull/1/merge")
    step = run_step(whole._replace(folder=shallow.root), "pull_request", PULL_REQUEST)
    assert step.status == 4
    assert "fetch-depth: 0" in step.log
    assert "fetch-depth" in step.summary


def test_a_run_again_says_the_same_and_nothing_twice(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, OPEN)
    first, second = (run_step(checkout, "pull_request", PULL_REQUEST) for _ in range(2))
    assert (first.status, first.outputs, first.summary) == (second.status, second.outputs, second.summary)


def test_no_suggested_command_names_a_file_of_the_runner(tmp_path: Path) -> None:
    step = run_step(pull_request(tmp_path, OPEN), "pull_request", PULL_REQUEST)
    told = step.log + step.summary + Path(step.outputs["html"]).read_text(encoding="utf-8")
    assert "next:     linewitness explain LW101" in step.log
    assert step.outputs["map"] not in told


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


def grammars(*words: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "integrations" / "github" / "grammars.py"
    return subprocess.run([sys.executable, script, *words], check=False, capture_output=True, text=True)


def test_the_action_pins_the_grammars_of_the_languages_it_is_asked_for() -> None:
    done = grammars("go, csharp\nshell python")
    pins = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [pin.partition("==")[0] for pin in pins] == ["tree-sitter-bash", "tree-sitter-c-sharp", "tree-sitter-go"]
    assert done.stdout.count("--hash=sha256:") >= len(pins)


def test_every_language_has_a_pin_and_every_pin_a_language() -> None:
    extras = sorted(found.extra for name in tables.MODULES if (found := tables.table(name)))
    everything = grammars("languages").stdout
    assert everything == grammars(*extras).stdout
    assert everything == (ROOT / "requirements" / "languages.txt").read_text(encoding="utf-8")
    assert not re.search(r"https?:|--index|--find-links|@ ", everything)


def test_no_language_needs_no_pin_and_an_unknown_one_is_refused() -> None:
    assert grammars("").stdout == ""
    unknown = grammars("go golang")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "golang" in unknown.stderr


def test_the_action_installs_pins_with_hashes_only_and_the_languages_of_its_input(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    calls = fake_programs(programs, "python")
    install = action()["runs"]["steps"][0]
    inputs = {"python": str(programs / "python"), "languages": "rust"}
    variables = {name: expand(value, inputs) for name, value in install["env"].items()}
    environ = {**environment(), "PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), **variables}
    done = subprocess.run(["bash", "-c", install["run"]], env=environ, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    installs = [call for call in calls() if " pip install " in call]
    assert all("--require-hashes -r " in call or call.endswith(f"--no-build-isolation {ROOT}") for call in installs)
    assert "tree-sitter-rust==" in (tmp_path / "linewitness-gate" / "grammars.txt").read_text(encoding="utf-8")
    assert len(installs) == 4


def fake_programs(folder: Path, *names: str) -> Callable[[], list[str]]:
    """Programs that only write down how they were called; ``python`` runs scripts, and copies itself for ``venv``."""
    folder.mkdir(parents=True)
    log = folder / "calls"
    log.write_text("")
    script = f"""#!/bin/sh
echo "$(basename "$0") $*" >>{log}
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/linewitness" ;;
  *.py*) exec {sys.executable} "$@" ;;
esac
"""
    for name in names:
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return lambda: log.read_text().splitlines()


@pytest.mark.parametrize(("when", "installs"), [("auto", True), ("on", True), ("off", False)])
def test_the_action_installs_the_sandbox_with_a_profile_unless_it_is_off(
    tmp_path: Path, when: str, *, installs: bool
) -> None:
    programs = tmp_path / "programs"
    calls = fake_programs(programs, "sudo", "apt-get", "apparmor_parser", "tee")
    step = action()["runs"]["steps"][1]
    variables = {name: expand(value, {"sandbox": when}) for name, value in step["env"].items()}
    for name in ("bash", "uname", "basename", "sh"):
        (programs / name).symlink_to(shutil.which(name) or name)
    environ = {"PATH": str(programs), **variables}
    done = subprocess.run(["bash", "-c", step["run"]], env=environ, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert any("install -y -qq bubblewrap" in call for call in calls()) is installs
    assert any(call.startswith("sudo apparmor_parser -r") for call in calls()) is installs


def test_no_script_of_the_action_holds_an_expression() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step["run"], "an input in a script is code; hand it over in the environment"


def test_the_action_s_scripts_are_executable_and_parse() -> None:
    for script in sorted((ROOT / "integrations" / "github").glob("*.sh")):
        assert os.access(script, os.X_OK)
        assert os.system(f"bash -n {script}") == 0
