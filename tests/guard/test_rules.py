"""The fast rules of the hook say what the gate's own say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.guard.rules import Chosen, Rules, parse
from linewitness.settings import Settings
from linewitness.trust.protected import Protection, protected_paths
from tests.cli.conftest import Run, run
from tests.guard.conftest import claude
from tests.support.repos import Repo

__all__ = ["run"]

NAMES = st.sampled_from(
    [
        *(
            "tests",
            "Tests",
            "trusted",
            "relations",
            "generated",
            "src",
            "a.py",
            "conftest.py",
            "__init__.py",
            "__init__.so",
        ),
        *("pytest.ini", ".github", "docs", ".venv", "linewitness.toml", "sitecustomize.py", "x.pth", ".claude"),
        *("waivers.yaml", "MANIFEST.sha256", "Jenkinsfile.x", ".linewitness", "approvers", "revoked", "CODEOWNERS"),
        *("pyproject.toml", "setup.cfg"),
    ]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
GLOBS = st.sampled_from(
    ["tests/trusted/**", "tests/**", "!tests/generated/**", "checks/**", "*.md", "docs/a.py", "a/b/c/**"]
)


@given(PATHS, st.lists(GLOBS, max_size=3), st.lists(GLOBS, max_size=2))
def test_the_rules_are_those_of_the_gate(path: str, trusted: list[str], added: list[str]) -> None:
    chosen = Chosen(trusted=tuple(trusted), protected=tuple(added))
    rules, gate = Rules(chosen), Protection(Settings(trusted=chosen.trusted, protected=chosen.protected))

    assert rules.shares(path) == gate.shares(path)
    if not rules.only_trees_tell(path):
        assert rules.reason(path) == gate.reason(path)


@given(st.lists(GLOBS, max_size=3))
def test_the_globs_are_those_of_the_gate(trusted: list[str]) -> None:
    chosen = Chosen(trusted=tuple(trusted))

    assert Rules(chosen).globs() == protected_paths(Settings(trusted=chosen.trusted))


def test_the_defaults_are_those_of_the_settings() -> None:
    defaults, settings = Chosen(), Settings()

    for field in Chosen._fields:
        assert field == "steered" or getattr(defaults, field) == getattr(settings, field)


@pytest.mark.parametrize(
    ("own", "project", "expected"),
    [
        (None, None, Chosen()),
        (b'trusted = ["checks/**"]', None, Chosen(trusted=("checks/**",))),
        (None, b'[tool.linewitness]\nwaivers = "w.yaml"', Chosen(waivers="w.yaml")),
        (b"", b"[project]\n", Chosen()),
        (b'[[suite]]\nplugins = ["pytest_asyncio"]', None, Chosen()),
        (b'[[suite]]\nrun = "npx vitest"', None, Chosen(steered=True)),
    ],
)
def test_settings_are_read_from_both_places(own: bytes | None, project: bytes | None, expected: Chosen) -> None:
    assert parse(own, project) == expected


def test_files_that_suites_name_are_protected(tmp_path: Path) -> None:
    from linewitness.guard.fence import WRITE, Effect, Fence

    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"linewitness.toml": '[[suite]]\nrun = "sh tools/run.sh"\nexport = "x"\n', "tools/run.sh": ""})
    fence = Fence([str(repo.root)])

    assert fence.reason(Effect(WRITE, "tools/run.sh"), str(repo.root))
    assert not fence.reason(Effect(WRITE, "tools/other.sh"), str(repo.root))


def test_paths_prints_the_globs(run: Run, repo: Repo) -> None:
    import json

    plain = run("guard", "paths", "--root", str(repo.root))
    told = json.loads(run("guard", "paths", "--format", "json", "--root", str(repo.root)).out)

    assert plain.status == 0
    assert plain.out.splitlines() == told["globs"]
    assert {"tests/trusted/**", "/linewitness.toml", ".claude"} <= set(told["globs"])
    assert "pyproject.toml" in told["partly"]


HEAVY = {"msgspec", "pathspec", "ruamel", "tree_sitter", "subprocess", "pathlib", "argparse", "dataclasses", "inspect"}


@pytest.mark.parametrize("path", ["src/a.py", "tests/trusted/test_a.py"])
def test_the_hook_loads_nothing_that_takes_long(path: str, repo: Repo) -> None:
    import json

    script = (
        "import sys; before = set(sys.modules); sys.argv = ['linewitness', 'guard', 'hook', 'claude']\n"
        "from linewitness.cli.__main__ import run\n"
        "status = run(); print(*sorted({n.split('.')[0] for n in set(sys.modules) - before})); sys.exit(status)"
    )
    payload = json.dumps(claude("Write", {"file_path": path, "content": "x"}, repo.root))
    done = subprocess.run([sys.executable, "-c", script], input=payload, capture_output=True, text=True, check=False)

    assert done.returncode == (0 if path == "src/a.py" else 2)
    assert not set(done.stdout.splitlines()[-1].split()) & HEAVY


@pytest.mark.parametrize("words", [[], ["nobody"], ["claude", "codex"], ["--x"]])
def test_a_hook_that_was_installed_wrongly_refuses(words: list[str]) -> None:
    command = [sys.executable, "-m", "linewitness", "guard", "hook", *words]
    done = subprocess.run(command, input=b"{}", capture_output=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith(b"linewitness: ")
