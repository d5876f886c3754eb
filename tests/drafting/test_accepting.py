"""``relations accept``, and what then discharges: an approved commit does; a draft and an unapproved commit do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.drafting.conftest import answer, codec
from tests.drafting.test_drafting import GOOD, LINES, checked, drafted, said
from tests.support.repos import Repo
from tests.support.signing import Key

FILE = "tests/relations/test_what_was_encoded_comes_back.py"
INPUTS = "tests/relations/corpus/pieces.jsonl"
MANIFEST = "tests/relations/corpus/MANIFEST.sha256"
# The whole codec has a witness with this relation and the one check.
WRITTEN = f"wrote {FILE}\nwrote {INPUTS}\nwrote {MANIFEST}\n"


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return Key.make(tmp_path / "keys")


def ready(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, **base: str) -> tuple[Repo, str]:
    """A repository with one good draft, and its id."""
    repo = codec(folder, base)
    drafts = checked(repo, run)
    assert drafted(repo, run, monkeypatch, said(answer(GOOD, "pieces.jsonl", LINES))).status == 0
    (draft,) = drafts.iterdir()
    return repo, draft.name


def stored(folder: Path, **base: str) -> tuple[Repo, str]:
    """The same, without having asked anybody."""
    repo = codec(folder, base)
    by_hand(repo.root / ".git/linewitness/drafts" / ("a" * 12))
    return repo, "a" * 12


def by_hand(place: Path) -> None:
    """A draft as the store writes it."""
    place.mkdir(parents=True)
    about = {
        "about": "what it says", "base": "", "corpus": "pieces.jsonl", "digest": "0" * 64, "head": "",
        "map_digest": "", "model": "", "origin": "model", "rows": [],
    }  # fmt: skip
    (place / "draft.json").write_text(json.dumps(about))
    (place / "draft.py").write_text(GOOD)
    (place / "inputs.jsonl").write_text("\n".join(LINES) + "\n")


def accept(repo: Repo, run: Run, draft: str, *options: str) -> str:
    outcome = run("relations", "accept", "--root", str(repo.root), draft, *options)
    assert outcome.status == 0, outcome.err
    return outcome.out


def state(repo: Repo, run: Run) -> str:
    outcome = run("relations", "list", "--root", str(repo.root), "--base", "main", "--format=json")
    (found,) = json.loads(outcome.out)["relations"]
    assert (found["corpus"], found["cases"], found["at_least"]) == ("pieces.jsonl", 3, 3)
    assert found["node"] == f"{FILE}::test_what_was_encoded_comes_back"
    return str(found["state"])


def test_an_accepted_relation_discharges_once_it_is_committed_and_approved(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, key: Key
) -> None:
    repo, draft = ready(tmp_path, run, monkeypatch, **{".linewitness/approvers": key.line()})
    check = ("check", "--root", str(repo.root), "--base", "main")
    # As a draft it discharges nothing, tried or not.
    assert run("relations", "try", "--root", str(repo.root)).status == 0
    assert run(*check).status == 1

    out = accept(repo, run, draft)

    assert out == WRITTEN + (
        "read it, then commit it and sign for it:\n"
        f"  git add -- {FILE} {INPUTS} {MANIFEST}\n"
        "  git commit -m 'Accept a relation: what it says'\n"
        "  linewitness approve\n"
    )
    # In the work tree it is not committed, and committed it is not approved.
    assert run(*check).status == 1
    assert run(*check, "--working-tree").status == 5
    repo.git("add", "--", FILE, INPUTS, MANIFEST)
    repo.commit_index("Accept a relation: what it says")
    assert state(repo, run) == "not accepted"
    refused = run(*check)
    assert refused.status == 5
    assert "LW301" in refused.out

    approved = run("approve", "--root", str(repo.root), "--base", "main", "--key", str(key.file), "--yes")

    assert approved.status == 0, approved.err
    assert state(repo, run) == "approved"
    opened = run(*check)
    assert opened.status == 0, opened.out
    artifact = json.loads((repo.root / ".git/linewitness/map.json").read_text())
    assert {row["witnesses"][0] for row in artifact["rows"] if row["line"] in {9, 10, 11, 12}} == {
        f"{FILE}::test_what_was_encoded_comes_back"
    }
    assert artifact["relations"][0]["cases"] == {"at_least": 3, "checked": 3, "skipped": 0, "tried": 3}


def test_a_stranger_cannot_accept(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, key: Key) -> None:
    eve = Key.make(tmp_path / "others", "eve")
    repo, draft = ready(tmp_path, run, monkeypatch, **{".linewitness/approvers": key.line()})
    accept(repo, run, draft)
    repo.commit("accepted")

    run("approve", "--root", str(repo.root), "--base", "main", "--key", str(eve.file), "--yes")

    assert state(repo, run) == "not accepted"
    assert run("check", "--root", str(repo.root), "--base", "main").status == 5


def test_what_landed_on_the_target_branch_is_accepted(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, draft = ready(tmp_path, run, monkeypatch)
    accept(repo, run, draft)
    repo.git("stash", "-q", "-u")
    repo.git("checkout", "-q", "main")
    repo.git("stash", "pop", "-q")
    repo.commit("land the relation")
    repo.git("checkout", "-q", "patch")
    repo.git("rebase", "-q", "main")

    assert state(repo, run) == "accepted"
    assert run("check", "--root", str(repo.root), "--base", "main").status == 0


def test_the_name_may_be_chosen(tmp_path: Path, run: Run) -> None:
    repo, draft = stored(tmp_path)

    out = accept(repo, run, draft[:6], "--as", "codec")

    assert out.startswith("wrote tests/relations/test_codec.py\n")
    assert (repo.root / "tests/relations/test_codec.py").read_text() == GOOD


@pytest.mark.parametrize("name", ["../evil", "a/b", "a b", "", "1a", "x.py", "a\n"])
def test_a_name_cannot_lead_elsewhere(name: str, tmp_path: Path, run: Run) -> None:
    repo, draft = stored(tmp_path)

    outcome = run("relations", "accept", "--root", str(repo.root), draft, f"--as={name}")

    if name:
        assert outcome.status == 2
        assert repo.git("status", "--porcelain") == ""
    else:
        assert outcome.status == 0


def test_nothing_is_overwritten_and_nothing_half_done(tmp_path: Path, run: Run) -> None:
    repo, draft = stored(tmp_path)
    for name, content in ((FILE, "mine\n"), (INPUTS, "1\n")):
        repo.write({name: content})
        outcome = run("relations", "accept", "--root", str(repo.root), draft)
        assert outcome.status == 2
        assert "is there already, and nothing is overwritten" in outcome.err
        assert (repo.root / name).read_text() == content
        assert repo.git("status", "--porcelain", "-uall") == f"?? {name}"
        (repo.root / name).unlink()


def test_a_corpus_that_drifted_is_not_blessed_by_the_way(tmp_path: Path, run: Run) -> None:
    base = {"tests/relations/corpus/a.txt": "a\n", MANIFEST: "0" * 64 + "  a.txt\n"}
    repo, draft = stored(tmp_path, **base)

    outcome = run("relations", "accept", "--root", str(repo.root), draft)

    assert outcome.status == 2
    assert "the corpus is not what its manifest says" in outcome.err
    assert repo.git("status", "--porcelain", "-uall") == ""


def test_the_manifest_keeps_what_it_listed(tmp_path: Path, run: Run) -> None:
    import hashlib

    old = f"# ours\n{hashlib.sha256(b'a' + bytes([10])).hexdigest()}  a.txt\n"
    repo, draft = stored(tmp_path, **{"tests/relations/corpus/a.txt": "a\n", MANIFEST: old})

    accept(repo, run, draft)

    text = (repo.root / MANIFEST).read_text()
    assert text.startswith(old)
    assert text.endswith("  pieces.jsonl\n")
    assert run("corpus", "verify", "--root", str(repo.root)).status == 0


def test_links_on_the_way_are_refused(tmp_path: Path, run: Run) -> None:
    repo, draft = stored(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (repo.root / "tests/relations").symlink_to(tmp_path / "elsewhere")

    outcome = run("relations", "accept", "--root", str(repo.root), draft)

    assert outcome.status == 2
    assert "is a link" in outcome.err
    assert [*(tmp_path / "elsewhere").iterdir()] == []


@pytest.mark.parametrize("broken", ["draft.json", "draft.py", "inputs.jsonl"])
def test_a_damaged_draft_is_told_and_not_accepted(broken: str, tmp_path: Path, run: Run) -> None:
    repo = codec(tmp_path)
    place = repo.root / ".git/linewitness/drafts" / ("a" * 12)
    by_hand(place)
    (place / broken).unlink()
    (place / broken).symlink_to("/etc/hostname")

    outcome = run("relations", "accept", "--root", str(repo.root), "a")

    assert outcome.status == 2
    assert "is a link" in outcome.err
    assert repo.git("status", "--porcelain") == ""
