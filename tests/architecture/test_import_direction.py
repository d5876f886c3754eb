"""The shape of the package: who may import whom, and where the outside world is fenced."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import linewitness
from linewitness.evidence.kit import RELATIONS

HOME = Path(linewitness.__file__).parent
MODULES = sorted(path for path in HOME.rglob("*.py"))

# Lower rooms know nothing of higher ones. Modules of one layer may import each other.
LAYERS = [
    {"_version", "digests", "errors", "hints", "patterns", "values"},
    {"model"},
    {"findings", "obligation_map", "settings", "settings_file", "settings_rules", "toml_lines"},
    {"policy", "globs", "atomic", "console", "progress", "parallel", "later", "seccomp"},
    {"patch", "languages", "evidence", "trust", "relations", "schemas"},
    {"obligations", "assembly", "map_relations", "case", "waiving", "advice", "attestation", "verification", "reports"},
    {"trusted_run", "silence", "gate", "mapper"},
    {"guard"},
    {"onboarding", "integrations", "drafting"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# These run inside the tested interpreter and are copied there: they import each other and the standard library only.
KIT = {
    "bootstrap",
    "child",
    "chosen",
    "codekey",
    "described",
    "executions",
    "helpers",
    "imports",
    "left_out",
    "lent",
    "lookups",
    "plugin",
    "probes",
    "process",
    "reads",
    "recorder",
    "sandbox_shim",
    "sites",
    "tools",
}


def room(path: Path) -> str:
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The names right under ``linewitness`` that a module imports anywhere, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("linewitness.")}


def name_of(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_from_its_own_layer_and_below(path: Path) -> None:
    if path == HOME / "__init__.py":
        return
    assert room(path) in RANK, f"{room(path)} has no place in the layers"
    above = {name for name in imported(path) if RANK[name] > RANK[room(path)]}
    assert not above


@pytest.mark.parametrize("name", ["model.py", "policy.py"])
def test_model_and_policy_do_no_io(name: str) -> None:
    tree = ast.parse((HOME / name).read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    allowed = {"__future__", "collections.abc", "enum", "itertools", "typing"}
    assert {module for module in modules if not module.startswith("linewitness.")} <= allowed
    assert not any(isinstance(node, ast.Name) and node.id == "open" for node in ast.walk(tree))


def test_only_a_few_modules_start_processes() -> None:
    starters = {name_of(path) for path in MODULES if "import subprocess" in path.read_text(encoding="utf-8")}
    assert starters <= {
        "patch/repository.py",
        "guard/jail.py",
        "evidence/host.py",
        "evidence/interpreter.py",
        "evidence/launch.py",
        "evidence/listing.py",
        "evidence/sandbox.py",
        "onboarding/demonstration.py",
        "onboarding/machine_checks.py",
        "relations/subjects.py",
        "trust/installed.py",
        "trust/signatures.py",
    }


@pytest.mark.parametrize("name", sorted(KIT))
def test_what_runs_in_the_tested_interpreter_imports_nothing_of_the_package(name: str) -> None:
    assert not imported(HOME / "evidence" / f"{name}.py")


@pytest.mark.parametrize("name", RELATIONS)
def test_the_relations_library_needs_nothing_but_itself_and_the_standard_library(name: str) -> None:
    tree = ast.parse((HOME / "relations" / f"{name}.py").read_text(encoding="utf-8"))
    found = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    found |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {module.partition(".")[0] for module in found} <= sys.stdlib_module_names


def test_the_kit_has_every_module_of_the_relations_library() -> None:
    """All that a copied module imports is copied too; the plugin is for installations, where there is no kit."""
    tree = [ast.parse((HOME / "relations" / f"{name}.py").read_text(encoding="utf-8")) for name in RELATIONS]
    nodes = [node for each in tree for node in ast.walk(each) if isinstance(node, ast.ImportFrom) and node.level]
    assert {node.module for node in nodes} <= set(RELATIONS)
