"""``python -m line_oracle PLAN OUT -- PYTEST ARGUMENTS``, run by the tested interpreter in a copy of head.

``PLAN`` is a JSON object of paths (relative to the working directory) and their lines of interest. Writes ``OUT``: for
each path, for each of these lines, what was seen. Exit status: 0 when every test passed or was skipped, else pytest's.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import tempfile
from pathlib import Path

from .recording import PLAN_VARIABLE, Plan, Plugin, Tally, install, join_children
from .verdict import foreign_modules, verdicts


def main(arguments: list[str]) -> int:
    plan_file, out_file, dashes, *pytest_arguments = arguments
    if dashes != "--":
        raise SystemExit(__doc__)
    root = Path.cwd()
    focus = json.loads(Path(plan_file).read_text())
    with tempfile.TemporaryDirectory() as scratch:
        children = Path(scratch) / "children"
        children.mkdir()
        plan = Plan.make(root, focus, children)
        tally = Tally()
        arrange_for_children(plan, Path(scratch))
        install(plan, tally, vars(builtins))
        import pytest  # after install: a plugin may import the product

        plugin = Plugin(tally)
        status = int(pytest.main(pytest_arguments, plugins=[plugin]))
        tally.test_begins()
        join_children(tally, children, plugin.outcomes)
    stray = foreign_modules(plan, dict(sys.modules))
    if stray:
        raise SystemExit("imported from outside the copy of head: " + ", ".join(stray))
    passed = sum(plugin.outcomes.values())
    result = {
        "status": status,
        "tests": {"passed": passed, "other": len(plugin.outcomes) - passed},
        "never_loaded": sorted(os.path.relpath(t.path, root) for t in plan.targets if t.path not in tally.loaded),
        "files": verdicts(plan, tally),
    }
    Path(out_file).write_text(json.dumps(result, indent=1, sort_keys=True))
    return status


def arrange_for_children(plan: Plan, scratch: Path) -> None:
    """Interpreters that tests start find a ``sitecustomize`` that marks there too."""
    plan_file = scratch / "plan.json"
    plan_file.write_text(plan.dump())
    boot = scratch / "boot"
    boot.mkdir()
    (boot / "sitecustomize.py").write_text(BOOT)
    package_parent = Path(__file__).resolve().parent.parent
    inherited = [path for path in [os.environ.get("PYTHONPATH", "")] if path]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(boot), *inherited])
    os.environ[PLAN_VARIABLE] = str(plan_file)
    os.environ["LINE_ORACLE_HOME"] = str(package_parent)


BOOT = """
import builtins, os, sys
if os.environ.get("LINE_ORACLE_PLAN") and os.environ.get("PYTEST_CURRENT_TEST"):
    sys.path.append(os.environ["LINE_ORACLE_HOME"])
    from line_oracle.recording import Plan, install_in_child
    with open(os.environ["LINE_ORACLE_PLAN"]) as file:
        install_in_child(Plan.load(file.read()), vars(builtins))
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
