"""What a small patch may cost is mostly what is started and imported for it, and that can be counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.repos import Repo

MOST_QUESTIONS = 9
UNNEEDED = {
    "configparser",
    "dataclasses",
    "linewitness.patch.commits",
    "linewitness.patch.merging",
    "linewitness.patch.worktree",
    "linewitness.trust.corpus",
    "linewitness.trust.signatures",
    "linewitness.trust.signed",
    "linewitness.trust.strict_yaml",
    "linewitness.trust.tables",
    "linewitness.trust.waivers",
    "multiprocessing",
    "pathspec",
    "pickle",
    "ruamel.yaml",
    "secrets",
    "tomllib",
}
WATCHED = """
import json, os, sys
started = []
sys.addaudithook(lambda event, args: started.append(args[0]) if event == "subprocess.Popen" else None)
from linewitness.cli.main import main_of_process
sys.argv = ["linewitness", "check", "--base", sys.argv[1], "--report", "agent", "--sandbox", "off"]
status = main_of_process()
names = [os.path.basename(os.fsdecode(each)) for each in started]
sys.stderr.write("\\n" + json.dumps([status, names, sorted(sys.modules)]))
"""


def test_a_small_check_starts_few_programs_and_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    trusted = "import shop\n\n\ndef test_it():\n    assert shop.one() == 1\n"
    base = repo.commit("base", {"shop.py": "def one():\n    return 2\n", "tests/trusted/test_shop.py": trusted})
    repo.commit("patch", {"shop.py": "def one():\n    return 1\n"})
    command = [sys.executable, "-c", WATCHED, base]
    # what changes the search path would have the interpreter asked, in isolation, what it is
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, env=bare)

    status, started, modules = json.loads(done.stderr.rpartition("\n")[2])
    assert status == 0, done.stdout
    assert started.count("git") <= MOST_QUESTIONS, started
    assert [name for name in started if name != "git"] == [Path(sys.executable).name], (
        "the run is the one other program"
    )
    assert UNNEEDED.isdisjoint(modules), UNNEEDED.intersection(modules)
