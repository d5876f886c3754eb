"""Commands for which protected paths are read-only, really run: as whoever runs the tests, and as an ordinary user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from linewitness.errors import UsageError
from linewitness.guard import jail, landlock, mounts
from tests.guard.conftest import FILES
from tests.support.repos import Repo, environment

NOBODY = 65534


def _works(means: str) -> bool:
    try:
        jail.means(means)
    except UsageError:
        return False
    return True


needs_bubblewrap = pytest.mark.skipif(
    not _works("bwrap"), reason="bubblewrap is missing (Debian: apt-get install bubblewrap)"
)
needs_landlock = pytest.mark.skipif(not _works("landlock"), reason="this kernel has no Landlock")


@pytest.fixture(params=["as we are", "as an ordinary user"])
def clone(request: pytest.FixtureRequest) -> Iterator[Repo]:
    """A repository that belongs to whoever runs the command, in a folder that everybody may enter."""
    ordinary = request.param == "as an ordinary user"
    if ordinary and os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    folder = Path(f"/tmp/linewitness-guard-{os.getpid()}-{time.monotonic_ns()}")
    repo = Repo(folder)
    repo.commit("base", {**FILES, "tests/trusted/sub/test_b.py": "b\n"})
    if ordinary:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    yield repo
    shutil.rmtree(folder)


def start(repo: Repo, script: str, *options: str) -> subprocess.Popen[str]:
    """Run a script by the command line; for an ordinary user, who may not read this interpreter, only its last step."""
    user = repo.root.stat().st_uid
    paths = os.pathsep.join(path for path in sys.path if path)
    more = {
        "PYTHONPATH": paths,
        "HOME": "/nonexistent",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    pipe = subprocess.PIPE
    if user == os.geteuid():
        command = [sys.executable, "-m", "linewitness", "guard", "exec", *options, "--", "sh", "-c", script]
        return subprocess.Popen(command, cwd=repo.root, env=environment() | more, text=True, stdout=pipe, stderr=pipe)
    words, descriptors = jail.bubblewrap(jail.means("bwrap").bwrap, mounts.plan(str(repo.root), ""), str(repo.root))
    try:
        return subprocess.Popen(
            [*words, "--", "sh", "-c", script],
            env=environment() | more,
            text=True,
            pass_fds=descriptors,
            user=user,
            group=user,
            extra_groups=[],
            stdout=pipe,
            stderr=pipe,
        )
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def execute(repo: Repo, script: str, *options: str) -> tuple[int, str, str]:
    with start(repo, script, *options) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


TRIES = [
    "echo x > tests/trusted/test_a.py",
    "echo x >> tests/trusted/test_a.py",
    "touch tests/trusted/new.py",
    "mkdir tests/trusted/new",
    "rm -f tests/trusted/test_a.py",
    "rm -rf tests",
    "mv tests elsewhere",
    "mv tests/trusted elsewhere",
    "mv tests/trusted/sub elsewhere",
    "ln tests/trusted/test_a.py src/other.py",
    "chmod 777 tests/trusted/test_a.py",
    "truncate -s 0 tests/trusted/test_a.py",
    "ln -sfn /tmp tests/trusted",
    "cp -r src tests/trusted/src",
    "echo x > linewitness.toml",
    "mv src/a.py linewitness.toml",
    "rm linewitness.toml",
    "echo x > .claude/settings.json",
    "rm -r .claude",
    "echo x > .git/hooks/pre-commit",
    "git config core.hooksPath /dev/null",
    "python3 -c \"import os; os.rename('src/a.py', 'tests/waivers.yaml')\"",
    "ln -s ../tests/trusted src/way && echo x > src/way/test_a.py",
    "mount -o remount,rw,bind tests/trusted",
    "umount tests/trusted",
    "unshare -Urm sh -c 'umount tests/trusted && echo x > tests/trusted/test_a.py'",
    "unshare -Urm sh -c 'mount -o remount,rw,bind tests/trusted && echo x > tests/trusted/test_a.py'",
    'unshare -Urm sh -c "mkdir -p /tmp/lw-$$ && mount --bind . /tmp/lw-$$ && echo x > /tmp/lw-$$/tests/trusted/x"',
    "echo x > /proc/1/root$PWD/tests/trusted/test_a.py",
    "for p in /proc/[0-9]*; do echo x > $p/root$PWD/tests/trusted/test_a.py && exit 0; done; exit 1",
    "for p in /proc/[0-9]*; do echo x > $p/cwd/tests/trusted/test_a.py && exit 0; done; exit 1",
]


@needs_bubblewrap
def test_no_way_of_writing_leads_to_protected_content(clone: Repo) -> None:
    script = "\n".join(
        f"( {each} ) >/dev/null 2>&1 && echo 'GONE THROUGH: {number}'" for number, each in enumerate(TRIES)
    )
    before = jail.snapshot(str(clone.root))

    status, out, err = execute(clone, f"{script}\nexit 7")

    assert out == "", [TRIES[int(line.rsplit(" ", 1)[1])] for line in out.splitlines()]
    assert status == 7, err
    assert jail.snapshot(str(clone.root)) == before
    assert (clone.root / "tests/trusted/test_a.py").read_text() == FILES["tests/trusted/test_a.py"]


@needs_bubblewrap
def test_ordinary_work_goes_on(clone: Repo) -> None:
    script = (
        "echo y > src/a.py && echo z > src/new.py && mkdir -p lib && mv src/new.py lib/ && rm lib/new.py && rmdir lib\n"
        "echo t > tests/generated/test_h.py && cat tests/trusted/test_a.py > /dev/null && echo notes > notes.md\n"
        "git add -A && git -c safe.directory='*' commit -qm work && git checkout -q -b b2 && git rev-list HEAD | wc -l"
    )

    status, out, err = execute(clone, f"set -e\n{script}")

    assert (status, out.strip()) == (0, "2"), err
    assert err == "" or "read-only by bubblewrap" in err


@needs_bubblewrap
@pytest.mark.parametrize("clone", ["as we are"], indirect=True)
def test_generated_tests_inside_of_an_adopted_suite_can_be_written(clone: Repo) -> None:
    clone.commit("adopt", {"linewitness.toml": 'trusted = ["tests/**", "!tests/generated/**"]\n'})

    status, _, err = execute(clone, "touch tests/generated/new.py && ! touch tests/new.py && exit 3")

    assert status == 3, err


@needs_bubblewrap
def test_nothing_outlives_the_command(clone: Repo) -> None:
    status, _, err = execute(clone, "(sleep 2; echo late > src/late.py) >/dev/null 2>&1 & exit 0")

    assert status == 0, err
    time.sleep(2.5)
    assert not (clone.root / "src/late.py").exists()


@needs_bubblewrap
@pytest.mark.parametrize("clone", ["as we are"], indirect=True)
def test_a_new_file_with_a_protected_name_is_told_afterwards(clone: Repo) -> None:
    status, _, err = execute(
        clone,
        "echo 'collect_ignore_glob = [\"*\"]' > conftest.py; mkdir -p tests/relations; echo > tests/relations/r.py",
    )

    assert status == 5
    assert "conftest.py (new)" in err
    assert "tests/relations/r.py (new)" in err


@needs_bubblewrap
@pytest.mark.parametrize(("script", "expected"), [("exit 0", 0), ("exit 41", 41), ("kill -TERM $$", 143)])
def test_the_status_is_that_of_the_command(clone: Repo, script: str, expected: int) -> None:
    assert execute(clone, script)[0] == expected


@needs_bubblewrap
def test_a_signal_ends_the_command(clone: Repo) -> None:
    with start(clone, "trap 'echo caught; exit 9' TERM; echo ready; while true; do sleep 0.1; done") as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)

    # bubblewrap ends on the signal, and with it the namespace of the command and everything that runs there.
    assert (abs(process.returncode) % 128, out) == (15, "")


@needs_bubblewrap
def test_the_command_cannot_type_into_the_terminal(clone: Repo) -> None:
    code = "import fcntl, os, pty, sys\nm, s = pty.openpty()\n"
    code += "try:\n fcntl.ioctl(s, 0x5412, b'x')\nexcept PermissionError: sys.exit(3)\nexcept OSError: sys.exit(4)\n"
    (clone.root / "src/type.py").write_text(code)

    assert execute(clone, "/usr/bin/env python3 -I src/type.py")[0] == 3


@needs_bubblewrap
def test_a_command_that_is_not_there_is_said(clone: Repo) -> None:
    status, _, err = execute(clone, "exec /no/such/program")

    assert status == 127
    assert "/no/such/program" in err


@needs_landlock
@pytest.mark.parametrize("clone", ["as we are"], indirect=True)
def test_landlock_keeps_protected_content_and_lets_the_rest_be_written(clone: Repo) -> None:
    tries = "\n".join(
        f"( {each} ) >/dev/null 2>&1 && echo 'GONE THROUGH {each}'"
        for each in (
            "echo x > tests/trusted/test_a.py",
            "touch tests/trusted/new.py",
            "rm -f tests/trusted/test_a.py",
            "mv tests elsewhere",
            "echo x > linewitness.toml",
            "rm linewitness.toml",
            "echo x > conftest.py",
        )
    )
    script = (
        f"{tries}\necho y > src/a.py && echo z > src/new.py && echo t > tests/generated/h.py && git add src && exit 6"
    )

    status, out, err = execute(clone, script, "--means", "landlock")

    assert (status, out) == (6, ""), err
    assert (clone.root / "src/new.py").read_text() == "z\n"
    assert "read-only by Landlock" in err


def test_without_any_means_the_command_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(landlock, "version", lambda: 0)

    with pytest.raises(UsageError, match=r"bubblewrap is not installed .*guard paths"):
        jail.means()
