"""``waive``, ``waivers`` and ``corpus`` from the command line: what they write, what they say, how they end."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.cli.main import Process, main
from linewitness.patch.identity import line_hash
from linewitness.trust.waivers import parse
from tests.support.repos import Content, Repo

TODAY = "2026-09-20"
SOURCE = """\
import os


def f(x):
    if x:
        return x
    return None


class C:
    def g(self, x):
        # why
        y = x
        y = x
        return None
"""


class Done(NamedTuple):
    status: int
    out: str
    err: str


def run(root: Path, *argv: str) -> Done:
    out, err = io.StringIO(), io.StringIO()
    status = main([*argv, "--root", str(root)], Process({}, out, err))
    return Done(status, out.getvalue(), err.getvalue())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files: dict[str, Content] = {"src/a.py": SOURCE, "src/b.bin": b"\0", "tests/trusted/test_a.py": "x = 1\n"}
    Repo(tmp_path).write(files)
    return tmp_path


def waive(root: Path, place: str, *more: str, reason: str = "codegen") -> Done:
    return run(root, "waive", place, "--reason", reason, "--owner", "ada", "--today", TODAY, *more)


def waivers_of(root: Path) -> list[dict[str, object]]:
    waivers, findings = parse((root / "tests/waivers.yaml").read_bytes(), "tests/waivers.yaml")
    assert findings == ()
    return [waiver._asdict() for waiver in waivers]


# ---------------------------------------------------------------- waive


def test_waive_fills_in_hash_scope_and_the_longest_life(root: Path) -> None:
    done = waive(root, "src/a.py:7", "--note", "why: not")

    assert (done.status, "src/a.py:7 (`return None`) is waived as codegen until 2027-03-19" in done.out) == (0, True)
    assert "protected" in done.err
    (record,) = waivers_of(root)
    assert record == {
        "path": "src/a.py",
        "line_hash": line_hash(b"    return None"),
        "blob": None,
        "scope": "f",
        "reason": "codegen",
        "owner": "ada",
        "expires": "2027-03-19",
        "note": "why: not",
        "at": record["at"],
        "occurrence": None,
    }


@pytest.mark.parametrize(
    ("reason", "last"), [("vendor", "2027-03-19"), ("pure-refactor", "2026-10-20"), ("experiment", "2026-10-04")]
)
def test_the_default_life_is_the_longest_of_the_reason(root: Path, reason: str, last: str) -> None:
    assert waive(root, "src/a.py:7", reason=reason).status == 0
    assert waivers_of(root)[0]["expires"] == last


def test_one_of_two_equal_lines_of_a_scope_is_told_apart_by_its_occurrence(root: Path) -> None:
    assert waive(root, "src/a.py:14").status == 0

    (record,) = waivers_of(root)
    assert (record["scope"], record["occurrence"]) == ("C.g", 2)


def test_a_line_of_the_module_level_has_the_empty_scope(root: Path) -> None:
    assert waive(root, "src/a.py:1").status == 0
    assert waivers_of(root)[0]["scope"] == ""


def test_a_file_judged_as_a_whole_is_waived_by_its_blob(root: Path) -> None:
    assert waive(root, "src/b.bin").status == 0
    assert waivers_of(root)[0]["blob"] == Repo(root, init=False).git("hash-object", "src/b.bin")


def test_a_place_may_be_named_from_where_one_stands(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "src")

    assert waive(root, "a.py:7").status == 0
    assert waive(root, str(root / "src/a.py") + ":1").status == 0
    assert [record["path"] for record in waivers_of(root)] == ["src/a.py", "src/a.py"]


@pytest.mark.parametrize(
    ("place", "reason", "more", "words"),
    [
        ("src/a.py:5", "experiment", (), "is a branch"),
        ("src/a.py:5", "pure-refactor", (), "LW203"),
        ("src/a.py:12", "codegen", (), "owes no witness (comment)"),
        ("src/a.py:2", "codegen", (), "owes no witness (blank)"),
        ("src/a.py:99", "codegen", (), "15 lines"),
        ("src/a.py:0", "codegen", (), "name the line"),
        ("src/a.py", "codegen", (), "name the line"),
        ("src/b.bin:1", "codegen", (), "without a line"),
        ("src/gone.py:1", "codegen", (), "no such file"),
        ("../a.py:1", "codegen", (), "outside"),
        ("tests/trusted/test_a.py:1", "codegen", (), "protected"),
        ("src/a.py:7", "codegen", ("--expires", "2027-03-20"), "LW205"),
        ("src/a.py:7", "experiment", ("--expires", "2026-10-05"), "LW205"),
        ("src/a.py:7", "codegen", ("--expires", "2026-09-19"), "LW202"),
        ("src/a.py:7", "codegen", ("--expires", "2026-W40-1"), "YYYY-MM-DD|such as 2026-12-16"),
        ("src/a.py:7", "fatigue", (), "not one of"),
    ],
)
def test_what_the_gate_would_refuse_is_not_written(
    root: Path, place: str, reason: str, more: tuple[str, ...], words: str
) -> None:
    done = waive(root, place, *more, reason=reason)

    assert done.status == 2
    assert any(word in done.err for word in words.split("|")), done.err
    assert not (root / "tests/waivers.yaml").exists()


def test_a_branch_may_be_waived_with_codegen_or_vendor(root: Path) -> None:
    assert waive(root, "src/a.py:5", reason="vendor").status == 0


def test_an_owner_that_the_settings_do_not_list_is_refused(root: Path) -> None:
    (root / "linewitness.toml").write_text('owners = ["bob"]\n', encoding="utf-8")

    assert "LW207" in waive(root, "src/a.py:7").err
    (root / "CODEOWNERS").write_text("src/ @ada\n", encoding="utf-8")
    assert waive(root, "src/a.py:7").status == 0


def test_a_second_waiver_for_a_line_is_refused_and_names_the_first(root: Path) -> None:
    waive(root, "src/a.py:7")
    done = waive(root, "src/a.py:7", reason="vendor")

    assert (done.status, "tests/waivers.yaml:3: this record" in done.err) == (2, True)
    assert len(waivers_of(root)) == 1


def test_a_dry_run_shows_the_file_and_writes_nothing(root: Path) -> None:
    done = waive(root, "src/a.py:7", "--dry-run")

    assert (done.status, len(parse(done.out.encode(), "x")[0])) == (0, 1)
    assert not (root / "tests/waivers.yaml").exists()


@pytest.mark.parametrize("content", ["waivers: 3\n", "\u202e", "[", "waivers: []\n...\n"])
def test_a_waiver_file_that_is_not_valid_is_left_alone(root: Path, content: str) -> None:
    place = root / "tests/waivers.yaml"
    place.write_text(content, encoding="utf-8")

    assert waive(root, "src/a.py:7").status == 2
    assert place.read_text(encoding="utf-8") == content


def test_a_waiver_file_that_is_a_link_is_left_alone(root: Path) -> None:
    os.symlink("elsewhere.yaml", root / "tests/waivers.yaml")

    assert "not a regular file" in waive(root, "src/a.py:7").err
    assert run(root, "waivers", "list").status == 2
    assert (root / "tests/waivers.yaml").is_symlink()


# ---------------------------------------------------------------- waivers


def test_list_shows_every_record_with_its_state(root: Path) -> None:
    waive(root, "src/a.py:7")
    waive(root, "src/a.py:15", "--expires", "2026-09-21")
    waive(root, "src/b.bin")
    done = run(root, "waivers", "list", "--today", "2026-09-22")

    assert done.status == 1
    rows = done.out.splitlines()
    assert [row.split("  ")[0] for row in rows] == ["live", "expired", "live"]
    assert "2026-09-21 (-1 d)" in rows[1]
    assert "in `C.g`" in rows[1]
    assert "LW202" in done.err
    assert run(root, "waivers", "list", "--today", "2026-09-21").status == 0


def test_list_as_json_says_the_same_and_ends_the_same(root: Path) -> None:
    waive(root, "src/a.py:7", "--expires", "2026-09-21")
    done = run(root, "waivers", "list", "--today", "2026-09-22", "--format", "json")

    listed = json.loads(done.out)
    assert done.status == 1
    assert (listed["file"], listed["today"]) == ("tests/waivers.yaml", "2026-09-22")
    assert [(one["path"], one["state"], one["lines_in_checkout"]) for one in listed["waivers"]] == [
        ("src/a.py", "expired", 1)
    ]
    assert [one["code"] for one in listed["findings"]] == ["LW202"]


def test_check_is_quiet_about_good_records_and_names_bad_ones_by_line(root: Path) -> None:
    assert run(root, "waivers", "check").out == "tests/waivers.yaml: 0 waivers, all of them hold on " + today() + "\n"
    waive(root, "src/a.py:7")
    good = run(root, "waivers", "check", "--today", TODAY)
    with (root / "tests/waivers.yaml").open("a", encoding="utf-8") as file:
        file.write("  - path: x\n")
    bad = run(root, "waivers", "check", "--today", TODAY)

    assert (good.status, good.out) == (0, f"tests/waivers.yaml: 1 waiver, all of them hold on {TODAY}\n")
    assert bad.status == 1
    assert all(line.startswith("tests/waivers.yaml:9: error: ") for line in bad.out.splitlines())


def today() -> str:
    import datetime as dt

    return str(dt.datetime.now(dt.UTC).date())


@pytest.mark.parametrize("day", ["2026-9-1", "yesterday", "2026-02-30", ""])
def test_a_day_that_is_none_is_a_usage_error(root: Path, day: str) -> None:
    assert run(root, "waivers", "check", "--today", day).status == 2


def test_another_waiver_file_may_be_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    (root / "other.yaml").write_text("waivers: []\n", encoding="utf-8")

    assert run(root, "waivers", "check", "--waivers", "other.yaml").out.startswith("other.yaml: 0 waivers")
    assert run(root, "waivers", "check", "--waivers", "gone.yaml").status == 2


def test_prune_removes_records_whose_line_is_gone_and_keeps_the_rest(root: Path) -> None:
    for place in ("src/a.py:7", "src/a.py:1", "src/b.bin"):
        waive(root, place)
    (root / "src/a.py").write_text(SOURCE.replace("import os", "import sys"), encoding="utf-8")
    (root / "src/b.bin").write_bytes(b"\1")
    before = (root / "tests/waivers.yaml").read_bytes()

    dry = run(root, "waivers", "prune", "--dry-run", "--today", TODAY)
    assert (dry.out.count("would be removed"), (root / "tests/waivers.yaml").read_bytes()) == (2, before)
    done = run(root, "waivers", "prune", "--today", TODAY)
    assert (done.status, done.out.count(": removed: ")) == (0, 2)
    assert [record["scope"] for record in waivers_of(root)] == ["f"]
    assert run(root, "waivers", "prune", "--today", TODAY).out == "tests/waivers.yaml: nothing to remove\n"


def test_prune_removes_expired_records_only_when_asked(root: Path) -> None:
    waive(root, "src/a.py:7", "--expires", "2026-09-21")

    run(root, "waivers", "prune", "--today", "2026-09-22")
    assert len(waivers_of(root)) == 1
    run(root, "waivers", "prune", "--expired", "--today", "2026-09-22")
    assert waivers_of(root) == []


def test_prune_leaves_a_file_alone_that_is_not_valid(root: Path) -> None:
    place = root / "tests/waivers.yaml"
    place.write_text("waivers:\n  - path: x\n", encoding="utf-8")

    assert run(root, "waivers", "prune").status == 2
    assert place.read_text(encoding="utf-8") == "waivers:\n  - path: x\n"


# ---------------------------------------------------------------- corpus


def test_freeze_then_verify_then_drift(root: Path) -> None:
    folder = root / "tests/relations/corpus"
    folder.mkdir(parents=True)
    (folder / "a.json").write_bytes(b"{}")

    assert run(root, "corpus", "verify").status == 5
    frozen = run(root, "corpus", "freeze")
    assert (frozen.status, frozen.out) == (0, "tests/relations/corpus: 1 file frozen\n  added a.json\n")
    assert run(root, "corpus", "verify") == (0, "tests/relations/corpus: as the manifest says\n", "")
    (folder / "a.json").write_bytes(b"[]")
    drift = run(root, "corpus", "verify")
    assert (drift.status, drift.out.startswith("tests/relations/corpus/a.json: error: corpus drift")) == (5, True)
    assert "nothing changed" not in run(root, "corpus", "freeze").out
    assert "nothing changed" in run(root, "corpus", "freeze").out


def test_a_corpus_may_be_named_and_lie_outside_of_a_repository(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/a").write_bytes(b"")

    assert run(tmp_path, "corpus", "freeze", str(tmp_path / "c")).status == 0
    assert run(tmp_path, "corpus", "verify", str(tmp_path / "c")).status == 0


def test_without_any_corpus_nothing_is_called_verified(root: Path) -> None:
    for action in ("verify", "freeze"):
        done = run(root, "corpus", action)
        assert (done.status, "there is no corpus" in done.err) == (2, True)
    assert run(root, "corpus", "verify", "--allow-none") == (0, "no corpus\n", "")
    assert run(root, "corpus", "freeze", "--allow-none").status == 2


def test_a_folder_that_is_missing_is_a_usage_error(root: Path) -> None:
    assert run(root, "corpus", "verify", str(root / "gone")).status == 2
    assert run(root, "waivers", "check", "--today", TODAY)._replace(out="") == (0, "", "")
    assert run(root / "gone", "waivers", "check").status == 2
