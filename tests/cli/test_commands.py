"""The commands that read what is stored: explain, report, verify, schema, completions."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import msgspec.structs
import pytest

from linewitness import schemas
from linewitness.cli import commands
from linewitness.findings import CODES
from linewitness.model import Exemption, Kind, Reason
from linewitness.obligation_map import CommitRef, ExemptRow, ObligationMap, Status, encode
from linewitness.settings import Settings, digest
from tests.cli.conftest import Run
from tests.reports import samples
from tests.support.repos import Repo


def store(path: Path, artifact: ObligationMap) -> str:
    path.write_bytes(b"".join(encode(artifact)))
    return str(path)


def installed() -> list[commands.Command]:
    folder = Path(commands.__file__).parent
    return [row for row in commands.COMMANDS if (folder / f"{row.module.rpartition('.')[2]}.py").exists()]


@pytest.mark.parametrize("row", installed(), ids=lambda row: row.name)
def test_the_table_says_of_each_command_what_its_module_says(row: commands.Command, run: Run) -> None:
    module = commands.load(row)

    assert (row.name, row.help) == (module.NAME, module.HELP)
    outcome = run(row.name, "--help")
    assert outcome.status == 0
    assert outcome.out.startswith(f"usage: linewitness {row.name} ")


# ---------------------------------------------------------------- explain


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained_as_text_and_as_json(run: Run, code: str) -> None:
    text = run("explain", code.lower())
    value = json.loads(run("explain", code, "--format", "json").out)

    assert text.status == 0
    assert text.out.startswith(f"{code} {CODES[code].title}\n")
    flat = " ".join(text.out.split())
    for part in ("what", "why", "todo"):
        assert value[part] in flat
    assert value["exit"] == CODES[code].exit.value


def test_an_unknown_code_is_refused_with_the_nearest(run: Run) -> None:
    outcome = run("explain", "LW110")

    assert outcome.status == 2
    assert "there is no finding code LW110; did you mean `LW1" in outcome.err


def test_a_line_is_explained_from_the_default_map_and_from_a_named_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Repo(tmp_path)
    monkeypatch.chdir(tmp_path)
    named = store(tmp_path / "other.json", samples.closed())
    first = run("explain", "src/billing.py:14", "--map", named)
    (tmp_path / ".git" / "linewitness").mkdir()
    store(tmp_path / ".git" / "linewitness" / "map.json", samples.closed())
    second = run("explain", "./src/billing.py:14")
    assert run("report").out == run("report", named).out.replace(f" --map={named}", "")
    assert run("verify", "--no-compare").status == 1

    assert first.status == second.status == 0
    assert first.out == second.out
    assert "unwitnessed: it keeps the gate closed" in first.out


def test_a_line_of_a_missing_map_names_the_command_that_writes_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Repo(tmp_path)
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "linewitness-map.json", samples.opened())  # a file of the patch, for all we know
    store(tmp_path / "map.json", samples.opened())
    outcome = run("explain", "src/billing.py:14")

    assert outcome.status == 2
    assert "map.json: cannot be read: No such file" in outcome.err
    assert "`linewitness check` stores a map" in outcome.err


@pytest.mark.parametrize("argv", [["explain", "a.py:1"], ["report"], ["verify"]])
def test_outside_of_a_repository_the_map_has_to_be_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run(*argv)

    assert outcome.status == 2
    assert "name the map" in outcome.err


@pytest.mark.parametrize("target", ["", ":", "x", "x:", ":3", "x:y", "x:-1", "LW", "x:9999999999"])
def test_what_is_neither_a_code_nor_a_line_is_refused(run: Run, target: str) -> None:
    assert run("explain", target).status == 2


# ---------------------------------------------------------------- report


def test_a_stored_map_is_told_again_in_every_format(run: Run, tmp_path: Path) -> None:
    stored = store(tmp_path / "map.json", samples.closed())
    text = run("report", stored)
    agent = run("report", stored, "--format=agent")
    same = run("report", stored, "--format", "json")

    assert text.status == agent.status == same.status == 0
    assert text.out.startswith("gate closed: 6 of 11")
    assert f"linewitness explain --map={stored} src/billing.py:14" in text.out
    assert agent.out.startswith("closed exit=1")
    assert same.out.encode() == Path(stored).read_bytes()


def test_a_report_to_a_file_is_plain_and_whole_and_nothing_is_printed(run: Run, tmp_path: Path) -> None:
    stored = store(tmp_path / "map.json", samples.hostile())
    target = tmp_path / "report.txt"
    outcome = run("--color=always", "report", stored, "-o", str(target))

    assert outcome == (0, "", "")
    assert target.read_text().startswith("gate closed")
    assert "\x1b" not in target.read_text()


def test_a_report_on_standard_output_has_colours_when_asked(run: Run, tmp_path: Path) -> None:
    stored = store(tmp_path / "map.json", samples.opened())

    assert "\x1b[1m" in run("report", stored, "--color=always").out
    assert "\x1b" not in run("report", stored).out


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"\xff", b'{"schema":', b"[" * 100_000, b'{"rows": "x"}', b'"\\ud800"']
)
@pytest.mark.parametrize("command", ["report", "verify"])
def test_what_is_no_map_is_refused_as_evidence_that_cannot_be_read(
    run: Run, tmp_path: Path, content: bytes, command: str
) -> None:
    (tmp_path / "map.json").write_bytes(content)
    outcome = run(command, str(tmp_path / "map.json"))

    assert outcome.status == 3
    assert outcome.out == ""
    assert re.search(r"map\.json: is (not a map that this version can read|no map): ", outcome.err)


def test_a_map_of_another_kind_is_refused(run: Run, tmp_path: Path) -> None:
    stored = store(tmp_path / "map.json", samples.build([], [], schema="urn:linewitness:schemas/map-v2.json"))
    outcome = run("report", stored)

    assert outcome.status == 3
    assert "this version reads urn:linewitness:schemas/map-v1.json" in outcome.err


@pytest.mark.parametrize(
    "command", [("report",), ("verify",), ("attest", "--unsigned"), ("explain", "a.py:1", "--map")]
)
def test_a_map_of_a_later_version_is_told_by_its_version_whatever_its_fields_are(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    later = {"schema": "urn:linewitness:schemas/map-v9.json", "tool": {"name": "linewitness", "version": "12.0"}}
    (tmp_path / "map.json").write_text(json.dumps(later))
    outcome = run(*command, str(tmp_path / "map.json"))

    assert (outcome.status, outcome.out) == (3, "")
    assert "'urn:linewitness:schemas/map-v9.json', written by version 12.0; this version reads" in outcome.err


def test_a_map_is_read_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.TextIOWrapper(io.BytesIO(b"".join(encode(samples.many()))))
    monkeypatch.setattr(sys, "stdin", data)
    outcome = run("report", "-")

    assert outcome.out.startswith("gate closed: 126 of 126")
    assert "linewitness -v report" not in outcome.out


# ---------------------------------------------------------------- verify

SPOILED: dict[str, dict[str, object]] = {
    "a count": {"trusted_hit": 5},
    "the sum": {"owed": 12},
    "the exit status": {"exit": 0},
    "the family": {"exit": 3},
    "the verdict": {"verdict": "open"},
    "a forged opening": {"exit": 0, "verdict": "open", "findings": ()},
    "missing rows": {"rows": ()},
    "the scoring": {"scored": False},
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_map_that_contradicts_itself_is_not_verified(run: Run, tmp_path: Path, what: str) -> None:
    artifact = msgspec.structs.replace(samples.closed(), **SPOILED[what])
    outcome = run("verify", "--no-compare", store(tmp_path / "map.json", artifact))

    assert outcome.status == 3
    assert outcome.out.startswith(str(tmp_path / "map.json"))
    assert "sound" not in outcome.out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": Status.WAIVED}, "waived without a waiver"),
        ({"waiver": samples.WAIVER}, "a waiver that waives nothing"),
        ({"phase": None}, "a hit that no evidence can have shown"),
        ({"witness_count": 0}, "more witnesses are named than counted"),
        ({"kind": Kind.OPAQUE}, "a hit that no evidence can have shown"),
        ({"status": Status.UNWITNESSED}, "open, and no finding says so"),
        (
            {
                "status": Status.WAIVED,
                "kind": Kind.BRANCH,
                "waiver": msgspec.structs.replace(samples.WAIVER, reason=Reason.EXPERIMENT),
            },
            "waived as experiment, which the rules do not allow for a branch",
        ),
    ],
)
def test_a_row_that_the_rules_cannot_have_given_is_named(
    run: Run, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    row = msgspec.structs.replace(samples.row("a.py", 3, "x = 1"), **change)
    outcome = run("verify", "--no-compare", store(tmp_path / "map.json", samples.build([row], [])))

    assert outcome.status == 3
    assert f"a.py:3: {words}" in outcome.out


def test_a_line_that_owes_and_does_not_owe_is_named(run: Run, tmp_path: Path) -> None:
    row = samples.row("a.py", 3, "x = 1")
    exempt = ExemptRow(line=3, path="a.py", reason=Exemption.COMMENT)
    outcome = run("verify", "--no-compare", store(tmp_path / "map.json", samples.build([row], [], [exempt])))

    assert outcome.status == 3
    assert "a.py:3: owes and does not owe" in outcome.out


def test_bytes_that_are_not_canonical_are_not_verified(run: Run, tmp_path: Path) -> None:
    stored = Path(store(tmp_path / "map.json", samples.opened()))
    stored.write_bytes(stored.read_bytes().replace(b",", b", ", 1))
    outcome = run("verify", "--no-compare", str(stored))

    assert outcome.status == 3
    assert "not the canonical form" in outcome.out


@pytest.mark.parametrize(("sample", "status"), [("opened", 0), ("nothing_owed", 0), ("closed", 1), ("failing", 3)])
def test_a_sound_map_ends_with_its_own_status(run: Run, tmp_path: Path, sample: str, status: int) -> None:
    outcome = run("verify", "--no-compare", store(tmp_path / "map.json", samples.ALL[sample]()))

    assert outcome.status == status
    assert "sound, compared with nothing" in outcome.out
    assert outcome.out.splitlines()[-1].startswith(f"exit {status}: ")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with settings at base, and a waiver file at head."""
    made = Repo(tmp_path / "repo")
    made.commit("base", {"linewitness.toml": 'waivers = "w.yaml"\n', "a.py": "x = 1\n"})
    made.commit("head", {"a.py": "x = 2\n", "w.yaml": "waivers: []\n"})
    return made


def about(repo: Repo, **changes: object) -> ObligationMap:
    """A sound map about the repository's last commit."""
    trees = {name: repo.git("rev-parse", f"{rev}^{{tree}}") for name, rev in (("base", "HEAD~"), ("head", "HEAD"))}
    values: dict[str, object] = {
        "base": CommitRef(repo.git("rev-parse", "HEAD~"), trees["base"]),
        "head": CommitRef(repo.git("rev-parse", "HEAD"), trees["head"]),
        "settings_digest": digest(Settings(waivers="w.yaml")),
        "waivers_digest": hashlib.sha256(b"waivers: []\n").hexdigest(),
    }
    return msgspec.structs.replace(samples.build([samples.row("a.py", 1, "x = 2")], []), **(values | changes))


def test_a_map_about_this_very_head_is_verified(run: Run, tmp_path: Path, repo: Repo) -> None:
    outcome = run("verify", "--root", str(repo.root), store(tmp_path / "map.json", about(repo)))

    assert outcome.status == 0, outcome.out + outcome.err
    assert "sound, about this head, these settings and these waivers" in outcome.out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings_digest": "0" * 64}, "other settings"),
        ({"waivers_digest": ""}, "other waivers: none there"),
        ({"head": CommitRef("", "0" * 40)}, "another tree of head"),
    ],
)
def test_a_map_about_something_else_is_not_verified(
    run: Run, tmp_path: Path, repo: Repo, change: dict[str, object], words: str
) -> None:
    outcome = run("verify", "--root", str(repo.root), store(tmp_path / "map.json", about(repo, **change)))

    assert outcome.status == 3
    assert words in outcome.out


def test_a_map_is_stale_after_the_next_commit_and_fits_its_own_again(run: Run, tmp_path: Path, repo: Repo) -> None:
    stored = store(tmp_path / "map.json", about(repo))
    repo.commit("later", {"a.py": "x = 3\n"})

    assert run("verify", "--root", str(repo.root), stored).status == 3
    assert run("verify", "--root", str(repo.root), "--head", "HEAD~", stored).status == 0


@pytest.mark.parametrize("tree", ["", "HEAD", "--help", "f" * 40])
def test_a_map_whose_base_cannot_be_had_is_not_comparable(run: Run, tmp_path: Path, repo: Repo, tree: str) -> None:
    artifact = about(repo, base=CommitRef("", tree))
    outcome = run("verify", "--root", str(repo.root), store(tmp_path / "map.json", artifact))

    assert outcome.status == 4
    assert outcome.out == ""


# ---------------------------------------------------------------- schema and completions


@pytest.mark.parametrize("name", schemas.FILES)
def test_the_schemas_are_printed_as_they_were_published(run: Run, name: str) -> None:
    outcome = run("schema", name)

    assert outcome.status == 0
    assert outcome.out.encode() == schemas.published(name)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_name_every_installed_command(run: Run, shell: str) -> None:
    outcome = run("completions", shell)

    assert outcome.status == 0
    for row in installed():
        assert row.name in outcome.out


def test_the_scripts_are_valid_in_every_shell_that_is_here(run: Run, tmp_path: Path) -> None:
    checked = []
    for shell in ("bash", "zsh", "fish"):
        script = tmp_path / shell
        script.write_text(run("completions", shell).out)
        if program := which(shell):
            done = subprocess.run([program, "-n", str(script)], capture_output=True, check=False)
            assert (done.returncode, done.stderr) == (0, b""), shell
            checked.append(shell)

    assert "bash" in checked


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["sch"], ["schema"]),
        (["schema", "m"], ["map"]),
        (["explain", "--form"], ["--format"]),
        (["explain", "--format", ""], ["text", "json"]),
        (["-v", "report", "--format", "a"], ["agent"]),
        (["completions", "z"], ["zsh"]),
    ],
)
def test_bash_completes_commands_options_and_choices(run: Run, words: list[str], expected: list[str]) -> None:
    script = run("completions", "bash").out
    line = " ".join(f"'{word}'" for word in ["linewitness", *words])
    ask = f'{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words)}\n_linewitness\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, env=dict(os.environ))

    assert done.stdout.split() == expected


def test_texts_with_quotes_survive_in_every_shell() -> None:
    from linewitness.cli.completions import SHELLS, Entry, Option

    table = (Entry("x", "it's $(touch pwned) [a:b]", (Option(("--y",), True, ("a'b",), "don't `z`"),), ("w'v",)),)
    script = SHELLS["bash"](table)

    assert subprocess.run(["bash", "-n"], input=script.encode(), check=False).returncode == 0
    assert r"it\'s" in SHELLS["fish"](table)
    assert """'"'"'""" in SHELLS["zsh"](table)
