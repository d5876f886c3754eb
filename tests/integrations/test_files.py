"""The CI definitions that are written or shipped, against their services' schemas and a security linter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from linewitness import __version__
from linewitness.onboarding.ci_files import SERVICES
from tests.integrations.runner import SOURCE
from tests.support.repos import Repo, environment

ROOT = SOURCE.parent
SCHEMAS = {
    ".github/workflows/linewitness.yml": ("vendor.github-workflows",),
    ".github/workflows/linewitness-comment.yml": ("vendor.github-workflows",),
    ".gitlab-ci.yml": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}


def tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name(name)
    return subprocess.run([program, *arguments], check=False, capture_output=True, text=True)


def init(root: Path, *arguments: str) -> str:
    words = [sys.executable, "-m", "linewitness", "init", "--root", str(root), *arguments]
    variables = {**environment(), "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(words, check=True, env=variables, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(params=["github", "gitlab"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    Repo(tmp_path).commit("first", {"a.py": "x = 1\n"})
    init(tmp_path, "--ci", request.param)
    return tmp_path


def test_what_init_writes_is_valid_for_its_service(written: Path) -> None:
    made = [path for path in SCHEMAS if (written / path).exists()]
    assert made
    for path in made:
        done = tool("check-jsonschema", "--builtin-schema", *SCHEMAS[path], str(written / path))
        assert done.returncode == 0, done.stdout


def test_every_service_that_init_offers_is_checked() -> None:
    assert {file.path for files in SERVICES.values() for file in files(())} == SCHEMAS.keys()


def test_a_security_linter_finds_nothing_in_workflows_and_action(tmp_path: Path) -> None:
    Repo(tmp_path).commit("first", {"a.py": "x = 1\n"})
    init(tmp_path, "--ci", "github")
    places = (str(tmp_path / ".github"), str(ROOT / "action.yml"))
    done = tool("zizmor", "--offline", "--persona", "auditor", "--no-progress", *places)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No findings" in done.stdout + done.stderr


def test_the_linter_would_find_something() -> None:
    done = tool("zizmor", "--offline", "--no-progress", str(Path(__file__).parent / "unsafe.yml"))
    assert done.returncode != 0
    assert "template-injection" in done.stdout


def test_the_action_s_description_is_valid() -> None:
    done = tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml"))
    assert done.returncode == 0, done.stdout


def test_the_hooks_are_valid_and_name_commands_that_exist() -> None:
    manifest = ROOT / ".pre-commit-hooks.yaml"
    assert tool("pre-commit", "validate-manifest", str(manifest)).returncode == 0
    for hook in YAML(typ="safe").load(manifest.read_text(encoding="utf-8")):
        words = hook["entry"].split()
        assert words[0] == "linewitness"
        done = subprocess.run([sys.executable, "-m", *words, "--help"], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_hooks_have_nothing_against_a_repository_that_was_just_prepared(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit("first", {"a.py": "x = 1\n", "tests/test_a.py": "def test_a():\n    assert True\n"})
    init(tmp_path)
    repo.git("add", "--all")
    repo.git("commit", "-q", "-m", "Prepare for the merge gate")
    manifest = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    variables = {**environment(), "PYTHONPATH": str(SOURCE)}
    for hook in manifest:
        words = [sys.executable, "-m", *hook["entry"].split()]
        done = subprocess.run(words, cwd=tmp_path, env=variables, check=False, capture_output=True, text=True)
        assert done.returncode == 0, (hook["id"], done.stdout, done.stderr)


def test_the_jobs_have_least_rights_and_pins(tmp_path: Path) -> None:
    Repo(tmp_path).commit("first", {"a.py": "x = 1\n"})
    init(tmp_path, "--ci", "github")
    main, comment = (YAML(typ="safe").load((tmp_path / path).read_text(encoding="utf-8")) for path in list(SCHEMAS)[:2])
    assert main["permissions"] == comment["permissions"] == {}
    assert main["jobs"]["linewitness"]["permissions"] == {"contents": "read"}
    steps = [*main["jobs"]["linewitness"]["steps"], *comment["jobs"]["comment"]["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name) for name in used)
    assert not any("checkout" in step.get("uses", "") for step in comment["jobs"]["comment"]["steps"])
    scripts = "".join(step.get("run", "") for step in steps)
    assert "${{" not in scripts
    assert scripts.count(f"linewitness=={__version__}") == 2


@pytest.mark.parametrize(
    ("service", "path"), [("github", ".github/workflows/linewitness.yml"), ("gitlab", ".gitlab-ci.yml")]
)
def test_the_job_installs_the_grammars_of_the_languages_that_are_here(service: str, path: str, tmp_path: Path) -> None:
    files = {"a.py": "x = 1\n", "web/a.ts": "let x = 1;\n", "main.go": "package main\n", ".github/run.sh": "true\n"}
    Repo(tmp_path).commit("first", files)
    init(tmp_path, "--ci", service)
    assert f'"linewitness[go,typescript]=={__version__}"' in (tmp_path / path).read_text(encoding="utf-8")


def test_a_file_that_exists_is_left_alone_and_what_is_missing_is_said(tmp_path: Path) -> None:
    Repo(tmp_path).commit("first", {".gitlab-ci.yml": "stages: [test]\n"})
    said = init(tmp_path, "--ci", "gitlab")
    assert (tmp_path / ".gitlab-ci.yml").read_text(encoding="utf-8") == "stages: [test]\n"
    assert "/opt/linewitness/bin/linewitness ci gitlab" in said
