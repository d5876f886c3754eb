"""Suites with a command of their own: what the command has to do, and what becomes of its export."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap, encode
from tests.support.repos import Content, Link, Repo

SHOP = "def total(prices):\n    return sum(prices)\n"
REWRITTEN = "def total(prices):\n    found = sum(prices)\n    return found\n"
WRITES = "printf 'SF:shop.py\\nDA:1,1\\nDA:2,1\\nDA:3,1\\nend_of_record\\n' > lcov.info\n"
SETTINGS = '[[suite]]\nname = "own"\nrun = "sh tests/trusted/run.sh"\nexport = "lcov.info"\n'


class Judged(NamedTuple):
    """A map, and what was told on the way."""

    artifact: ObligationMap
    notes: str

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(f.code, f.message) for f in self.artifact.findings if f.severity is Severity.ERROR]

    @property
    def codes(self) -> list[str]:
        return sorted({code for code, _ in self.told})


def judge(
    home: Path,
    script: str = WRITES,
    settings: str = SETTINGS,
    base: Mapping[str, Content] | None = None,
    *,
    sandbox: str = "auto",
    always: bool = False,
    patch: Mapping[str, Content] | None = None,
) -> Judged:
    repo = Repo(home)
    files = {"shop.py": SHOP, "linewitness.toml": settings, "tests/trusted/run.sh": script, **(base or {})}
    first = repo.commit("base", files)
    repo.commit("head", {"shop.py": REWRITTEN} if patch is None else patch)
    notes: list[str] = []
    request = CheckRequest(home, Question(first), always_run=always, sandbox=sandbox)  # type: ignore[arg-type]
    return Judged(check(request, notes.append), "\n".join(notes))


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_command_that_succeeds_and_writes_an_export_is_evidence(tmp_path: Path, sandbox: str) -> None:
    judged = judge(tmp_path, sandbox=sandbox)
    artifact = judged.artifact

    assert (artifact.exit, artifact.trusted_hit, judged.told) == (0, 2, [])
    assert [(row.suite, row.kind, row.provenance, row.tests) for row in artifact.evidence] == [
        ("own", "lcov", "run", None)
    ]


def test_two_runs_give_the_same_map(tmp_path: Path) -> None:
    script = WRITES.replace("SF:shop.py", "SF:'\"$PWD\"'/shop.py")
    maps = [b"".join(encode(judge(tmp_path / name, script).artifact)) for name in "ab"]

    assert maps[0] == maps[1]
    assert b'"trusted_hit":2' in maps[0]


def test_what_the_export_does_not_say_stays_open(tmp_path: Path) -> None:
    judged = judge(tmp_path, WRITES.replace("DA:2,1", "DA:2,0"))

    assert (judged.artifact.exit, judged.codes, judged.artifact.unwitnessed) == (1, ["LW101"], 1)


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("exit 3\n", "LW503", "did not succeed (exit status 3)"),
        (WRITES + "echo 2 tests failed >&2; exit 1\n", "LW503", "2 tests failed"),
        (WRITES + "kill -9 $$\n", "LW503", "killed by SIGKILL"),
        ("true\n", "LW502", "did not write it"),
        ("> lcov.info\n", "LW502", "is empty"),
        ("mkdir lcov.info\n", "LW502", "no ordinary file"),
        ("mkfifo lcov.info\n", "LW502", "no ordinary file"),
        ("ln -s /etc/passwd lcov.info\n", "LW502", ""),
        ("mkdir x; cd x; " + WRITES + "ln -s x/lcov.info ../lcov.info\n", "LW502", ""),
        ("echo nonsense > lcov.info\n", "LW508", "no coverage export of a known format"),
        (WRITES.replace("DA:3,1", "DA:300,1"), "LW504", "300"),
        (WRITES + "echo '# x' >> shop.py\n", "LW505", "was changed in the export"),
    ],
)
def test_what_is_no_evidence_closes_the_gate(tmp_path: Path, script: str, code: str, message: str) -> None:
    judged = judge(tmp_path, script)

    assert judged.artifact.exit == 3
    assert code in judged.codes, judged.told
    assert any(message in text for _, text in judged.told), judged.told
    assert judged.artifact.trusted_hit == 0
    assert str(Path("/tmp")) + "/linewitness" not in str(judged.told)


def test_a_command_that_hangs_is_stopped(tmp_path: Path) -> None:
    judged = judge(tmp_path, WRITES + "sleep 600\n", SETTINGS + "timeout = 1\n")

    assert (judged.artifact.exit, judged.codes) == (3, ["LW101", "LW503"])
    assert "stopped after 1 s" in str(judged.told)


def test_an_export_that_is_there_before_is_nobodys(tmp_path: Path) -> None:
    committed = "SF:shop.py\nDA:1,1\nDA:2,1\nDA:3,1\nend_of_record\n"
    tracked = judge(tmp_path / "tracked", "true\n", base={"lcov.info": committed})
    built = judge(tmp_path / "built", "true\n", SETTINGS + 'setup = ["echo SF:x > lcov.info"]\n')

    for judged in (tracked, built):
        assert "LW502" in judged.codes
        assert "before the suite's command has run" in str(judged.told)


READING: dict[str, tuple[str, str, list[tuple[str, Severity]]]] = {
    "a file that a trusted script names": (
        "cat cases/a.json", "cases/a.json", [("LW302", Severity.ERROR)],
    ),
    "a file that a tool finds among tests": (
        "find . -type f -exec cat {} +", "tests/data/a.json", [("LW302", Severity.WARNING)],
    ),
    "a file that nobody opens": ("true", "tests/data/a.json", []),
    "a file that a tool finds elsewhere": ("cat cas*/*", "cases/a.json", []),
    "a document that a script names": ("cat README.md", "README.md", []),
}  # fmt: skip


@pytest.mark.parametrize("sandbox", ["auto", "off"])
@pytest.mark.parametrize("case", READING)
def test_a_changed_file_that_a_command_opens_is_told(tmp_path: Path, case: str, sandbox: str) -> None:
    reads, path, expected = READING[case]
    base: dict[str, Content] = {path: "1\n", "tests/trusted/read.sh": f"{reads} > /dev/null\n"}
    script = "sh tests/trusted/read.sh && " + WRITES
    judged = judge(tmp_path, script, base=base, sandbox=sandbox, patch={"shop.py": REWRITTEN, path: "2\n"})

    assert [(f.code, f.severity) for f in judged.artifact.findings if f.path == path] == expected


def test_set_up_runs_first_and_has_to_succeed(tmp_path: Path) -> None:
    good = judge(tmp_path / "good", "test -f built && " + WRITES, SETTINGS + 'setup = ["touch built"]\n')
    bad = judge(tmp_path / "bad", WRITES, SETTINGS + 'setup = ["echo no compiler; exit 1"]\n')

    assert good.artifact.exit == 0
    assert (bad.artifact.exit, "no compiler" in str(bad.told)) == (3, True)


def test_the_environment_is_an_allow_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("LEVEL", "3")
    script = 'test -z "$TOKEN" && test "$LEVEL" = 3 && test -z "$OLDPWD" && ' + WRITES

    assert judge(tmp_path, script, SETTINGS + 'env = ["LEVEL"]\n').artifact.exit == 0


def test_a_suite_whose_sources_did_not_change_is_skipped_and_says_so(tmp_path: Path) -> None:
    other = SETTINGS + 'sources = ["shop.py"]\n' + SETTINGS.replace("own", "web").replace("run.sh", "web.sh")
    settings = other + 'sources = ["web/**"]\n'
    base: Mapping[str, Content] = {"tests/trusted/web.sh": "exit 1\n"}
    judged = judge(tmp_path / "skipped", settings=settings, base=base)
    forced = judge(tmp_path / "forced", settings=settings, base=base, always=True)

    assert (judged.artifact.exit, [row.suite for row in judged.artifact.evidence]) == (0, ["own"])
    assert "the suite `web` is skipped" in judged.notes
    assert (forced.artifact.exit, "the suite `web` did not succeed" in str(forced.told)) == (3, True)


def test_a_suite_speaks_about_its_own_sources_only(tmp_path: Path) -> None:
    """The export of one suite names a file of another: that is no witness."""
    lying = SETTINGS + 'sources = ["other.py"]\n'
    patch = {"shop.py": REWRITTEN, "other.py": "x = 1\n"}
    judged = judge(tmp_path, WRITES, lying, patch=patch)

    rows = [row for row in judged.artifact.rows if row.path == "shop.py"]
    assert {row.status.value for row in rows} == {"unwitnessed"}
    assert all("among the sources of no suite" in row.note for row in rows)


def test_when_every_suite_is_skipped_nothing_was_seen(tmp_path: Path) -> None:
    judged = judge(tmp_path, "exit 1\n", SETTINGS + 'sources = ["web/**"]\n')

    assert (judged.artifact.exit, judged.codes, judged.artifact.evidence) == (1, ["LW101"], ())


def test_the_recorder_and_a_command_stand_side_by_side(tmp_path: Path) -> None:
    both = (
        '[[suite]]\nname = "python"\nrunner = "pytest"\nsources = ["shop.py"]\n' + SETTINGS + 'sources = ["other.py"]\n'
    )
    base: Mapping[str, Content] = {
        "tests/trusted/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
        "other.py": "x = 0\n",
    }
    export = WRITES.replace("shop.py", "other.py").replace("DA:2,1\\nDA:3,1\\n", "")
    judged = judge(tmp_path, export, both, base, patch={"shop.py": REWRITTEN, "other.py": "x = 1\n"})

    assert judged.artifact.exit == 0, judged.told
    assert [(row.suite, row.provenance) for row in judged.artifact.evidence] == [("python", "recorded"), ("own", "run")]


def test_what_one_suite_leaves_behind_is_not_there_for_the_next(tmp_path: Path) -> None:
    second = SETTINGS.replace("own", "second").replace("run.sh", "second.sh")
    base: Mapping[str, Content] = {"tests/trusted/second.sh": "test ! -e trace && " + WRITES}
    judged = judge(tmp_path, "touch trace; " + WRITES, SETTINGS + second, base)

    assert (judged.artifact.exit, judged.told) == (0, [])


def test_a_path_map_reads_the_exports_paths(tmp_path: Path) -> None:
    judged = judge(
        tmp_path, WRITES.replace("shop.py", "/build/out/shop.py"), SETTINGS + 'path-map = {"/build/out" = ""}\n'
    )

    assert judged.artifact.exit == 0, judged.told


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_folder_of_the_checkout_can_be_borrowed(tmp_path: Path, sandbox: str) -> None:
    repo = tmp_path / "repo"
    (repo / "node_modules").mkdir(parents=True)
    (repo / "node_modules" / "library").write_text("1")
    (repo / ".git").mkdir()
    base: Mapping[str, Content] = {".gitignore": "node_modules/\n"}
    (repo / ".git").rmdir()
    judged = _judge_borrowing(repo, base, sandbox)

    assert judged.artifact.exit == 0, judged.told
    row = judged.artifact.evidence[0].sandbox
    assert getattr(row, "borrowed", ()) == ("node_modules",)


def _judge_borrowing(home: Path, base: Mapping[str, Content], sandbox: str) -> Judged:
    repo = Repo(home)
    repo.write({"shop.py": SHOP, "linewitness.toml": SETTINGS + 'borrow = ["node_modules"]\n', **base})
    repo.write({"tests/trusted/run.sh": "test -f node_modules/library && " + WRITES})
    repo.git("add", "-A")
    first = repo.commit_index("base")
    repo.write({"shop.py": REWRITTEN})
    repo.git("add", "-A")
    repo.commit_index("head")
    return Judged(check(CheckRequest(home, Question(first), sandbox=sandbox), lambda _: None), "")  # type: ignore[arg-type]


def test_what_is_borrowed_has_to_be_there_and_may_not_be_tracked(tmp_path: Path) -> None:
    settings = SETTINGS + 'borrow = ["node_modules"]\n'
    absent = judge(tmp_path / "absent", settings=settings)
    tracked = judge(tmp_path / "tracked", settings=settings, base={"node_modules/x": "1"})
    away = judge(tmp_path / "away", settings=settings, base={"node_modules": Link("..")})

    assert (absent.artifact.exit, "does not have" in str(absent.told)) == (3, True)
    assert (tracked.artifact.exit, "part of the tree" in str(tracked.told)) == (2, True)
    assert away.artifact.exit in {2, 4}


def test_shards_that_the_command_puts_together_are_one_export(tmp_path: Path) -> None:
    halves = [f"SF:shop.py\nDA:1,1\nDA:2,{first}\nDA:3,{1 - first}\nend_of_record\n" for first in (0, 1)]
    base: Mapping[str, Content] = {f"tests/trusted/shard{number}": half for number, half in enumerate(halves)}
    judged = judge(tmp_path, "cat tests/trusted/shard* > lcov.info\n", base=base)

    assert (judged.artifact.exit, judged.artifact.trusted_hit, judged.told) == (0, 2, [])


def test_two_languages_are_judged_in_one_gate_each_by_its_suite(tmp_path: Path) -> None:
    web = SETTINGS.replace("own", "web").replace("run.sh", "web.sh").replace("lcov.info", "web.info")
    settings = SETTINGS + 'sources = ["*.py"]\n' + web + 'sources = ["web/**"]\n'
    records = "SF:web/a.js\nDA:1,1\nDA:2,{0}\nend_of_record\n"
    patch = {"shop.py": REWRITTEN, "web/a.js": "one();\ntwo();\n"}
    for hits, status in ((1, 0), (0, 1)):
        script = f"printf '{records.format(hits)}' > web.info\n".replace("\n", "\\n")[:-2] + "\n"
        judged = judge(tmp_path / str(hits), settings=settings, base={"tests/trusted/web.sh": script}, patch=patch)

        assert judged.artifact.exit == status, judged.told
        assert [row.suite for row in judged.artifact.evidence] == ["own", "web"]
        open_rows = [(row.path, row.line) for row in judged.artifact.rows if row.status.value == "unwitnessed"]
        assert open_rows == ([] if hits else [("web/a.js", 2)])


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_flood_of_output_leaves_its_end_in_the_message(tmp_path: Path, stream: str) -> None:
    judged = judge(tmp_path, f"yes | head -c 60000000 >&{stream}; echo 2 tests failed >&{stream}; exit 1\n")

    ((_, told),) = [found for found in judged.told if found[0] == "LW503"]
    assert told.endswith("2 tests failed")
    assert len(told) < 20_000


def test_an_export_that_goes_out_of_the_tree_is_none(tmp_path: Path) -> None:
    judged = judge(tmp_path, WRITES.replace("> lcov.info", "> ../lcov.info || true") + "true\n")

    assert (judged.artifact.exit, "LW502" in judged.codes) == (3, True)
    assert ("LW502", "the suite's command did not write it: No such file or directory") in judged.told
