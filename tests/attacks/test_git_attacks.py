"""Attacks through git: its attributes, names, history and modes, and the settings of a clone.

Each needs a history of its own, so each is a function that makes it. The gate is asked in the very clone that the
attacker has prepared.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.attacks.shop import (
    ALWAYS_PASSED,
    BASE,
    BROKEN,
    HONEST,
    SEEN,
    UNSEEN,
    apply,
    ask,
    errors,
    judge,
    open_lines,
)
from tests.support.repos import Content, Executable, Link, Repo

REFUND_LINES = [5, 6]
TRUSTED_TEST = "tests/trusted/test_shop.py"
EVERY_ATTRIBUTE = (
    "app/** -diff -text binary export-ignore export-subst ident eol=crlf filter=x working-tree-encoding=UTF-16\n"
)


def _attributes_of_the_branch(repo: Repo) -> None:
    repo.commit_raw("more", {".gitattributes": EVERY_ATTRIBUTE.encode()})


def _attributes_of_the_clone(repo: Repo) -> None:
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/attributes").write_text(EVERY_ATTRIBUTE)


OF_ATTRIBUTES: dict[str, Callable[[Repo], None]] = {
    "G1 G17 G18 attributes that the target branch has": _attributes_of_the_branch,
    "G1 attributes of the clone": _attributes_of_the_clone,
}


@pytest.mark.parametrize("way", OF_ATTRIBUTES)
def test_no_attribute_hides_a_line_or_changes_what_runs(tmp_path: Path, way: str) -> None:
    repo = Repo(tmp_path)
    repo.commit("base", {**BASE, "app/shop.py": "# $Id$ $Format:%H$\n" + HONEST})
    OF_ATTRIBUTES[way](repo)
    base = repo.git("rev-parse", "HEAD")
    repo.commit_raw("patch", {"app/shop.py": ("# $Id$ $Format:%H$\n" + UNSEEN).encode()})

    assert open_lines(ask(tmp_path, base)) == {"app/shop.py": [6, 7]}


def _clone_settings(repo: Repo, marker: Path) -> None:
    program = repo.root / ".git" / "trick"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    (repo.root / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "pre-commit", "reference-transaction"):
        (repo.root / ".git/hooks" / hook).symlink_to(program)
    for name in ("diff.external", "core.fsmonitor", "core.pager", "diff.x.textconv", "core.sshCommand", "gpg.program"):
        repo.git("config", name, str(program))
    for name, value in {"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.renames": "copies"}.items():
        repo.git("config", name, value)
    repo.git("config", "core.ignoreCase", "true")
    repo.git("config", "core.quotePath", "true")


def test_g2_g3_g23_nothing_that_the_clone_configures_hides_a_line_or_is_run(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    base = repo.commit("base", BASE)
    repo.commit("patch", {"app/shop.py": UNSEEN})
    marker = tmp_path / "was-run"
    _clone_settings(repo, marker)

    assert open_lines(ask(repo.root, base)) == {"app/shop.py": REFUND_LINES}
    assert not marker.exists()


ODD_NAMES = (
    'app/"quoted".py',
    "app/tab\there.py",
    "app/new\nline.py",
    "app/back\\slash.py",
    "app/" + unicodedata.normalize("NFC", "é") + ".py",
    "app/" + unicodedata.normalize("NFD", "ü") + ".py",
    "app/-U0.py",
    "app/ space .py",
    "app/a => b.py",
    "app/{x.py",
    "app/:(exclude)y.py",
    "app/\uff57ide.py",
    "build/made.py",
    "app/migrations/0001_new.py",
    "app/thing_pb2.py",
    "vendor/lib.py",
    "app/.hidden.py",
    "app/UPPER.PY",
)


def test_g4_s10_no_name_hides_a_file(tmp_path: Path) -> None:
    names: dict[str, Content | None] = dict.fromkeys(ODD_NAMES, UNSEEN)
    artifact = judge(tmp_path, names | {b"app/\xff.py".decode("utf-8", "surrogateescape"): UNSEEN})

    found = open_lines(artifact)
    assert artifact.exit in {1, 5}, errors(artifact)
    assert [name for name in ODD_NAMES if not found.get(name)] == []
    assert len(found) == len(ODD_NAMES) + 1


SEPARATED = {
    "G5 a line separator": "\u2028",
    "G5 a paragraph separator": "\u2029",
    "G5 a next line": "\u0085",
    "G5 a vertical tab": "\v",
    "G5 a file separator": "\x1c",
    "G6 a bare carriage return": "\r",
    "G6 two carriage returns": "\r\r",
}


def test_g5_g6_no_other_line_end_moves_a_line(tmp_path: Path) -> None:
    sources = {f"app/s{n}.py": f"# x {end}+++ b/docs/none.txt\n{UNSEEN}" for n, end in enumerate(SEPARATED.values())}
    artifact = judge(tmp_path, {**sources, "app/feed.py": "\f\n# x \f+++ b/docs/none.txt\n" + UNSEEN})

    expected: dict[str, list[int]] = {name: [0] for name in sources}
    assert open_lines(artifact) == {**expected, "app/feed.py": [3, 4, 7, 8]}
    assert errors(artifact).keys() == {"LW101", "LW104"}


def test_the_honest_twins_of_these_texts_open_the_gate(tmp_path: Path) -> None:
    texts: dict[str, Content | None] = {
        "app/shop.py": SEEN.replace("\n", "\r\n"),
        "docs/remboursé.md": "é\u2028",
        "app/größe.py": '# Größe\n"""Ein Satz."""\n',
    }
    artifact = judge(tmp_path, texts)
    assert (artifact.exit, errors(artifact)) == (0, {})


class History(NamedTuple):
    """A patch that needs more than files: ``make`` gets a repository whose HEAD is the base."""

    make: Callable[[Repo], object]
    status: int
    codes: str


def _linked(name: str, target: str) -> Callable[[Repo], object]:
    more = {"copy/test_shop.py": "def test_total():\n    pass\n", "copy/trusted/test_shop.py": "x = 1\n"}
    return lambda repo: apply(repo, {"app/shop.py": BROKEN, **more, name: Link(target)})


def _submodule(name: str) -> Callable[[Repo], object]:
    def make(repo: Repo) -> None:
        repo.git("rm", "-r", "-q", "--cached", "--ignore-unmatch", name)
        repo.remove(name)
        repo.submodule(name, repo.git("rev-parse", "HEAD"))
        repo.commit_index("patch")

    return make


def _evil_merge(repo: Repo) -> None:
    start = repo.git("rev-parse", "HEAD")
    repo.branch("side", start)
    repo.commit("side", {"notes.md": "a\n"})
    repo.git("checkout", "-q", "main")
    repo.branch("work", start)
    repo.commit("work", {"more.md": "b\n"})
    repo.git("merge", "-q", "--no-commit", "side")
    repo.commit("merge", {"app/shop.py": UNSEEN})


def _hidden_in_index(repo: Repo) -> None:
    repo.commit("patch", {"app/shop.py": BROKEN})
    repo.git("update-index", "--skip-worktree", "app/shop.py")
    repo.write({"app/shop.py": HONEST})


def _untracked_help(repo: Repo) -> None:
    repo.commit(
        "patch", {"app/shop.py": "from app import answers\n\n\ndef total(prices):\n    return answers.of(prices)\n"}
    )
    repo.write({".gitignore": "*\n", "app/answers.py": "of = sum\n"})


HISTORIES = {
    "G7 code that lay among examples is renamed into the product": History(
        lambda repo: apply(repo, {"examples/sample.py": None, "app/refund.py": UNSEEN}), 1, "LW101"
    ),
    "G7 code that lay among generated tests": History(
        lambda repo: apply(repo, {"tests/generated/sample.py": None, "app/refund.py": UNSEEN}), 1, "LW101"
    ),
    "G8 a trusted test is renamed away": History(
        lambda repo: apply(repo, {TRUSTED_TEST: None, "tests/old_shop.py": BASE[TRUSTED_TEST]}), 5, "LW301"
    ),
    "G8 a trusted test is removed": History(lambda repo: apply(repo, {TRUSTED_TEST: None}), 5, "LW301"),
    "a generated test is renamed into the trusted folder": History(
        lambda repo: apply(repo, {"tests/generated/sample.py": None, "tests/trusted/test_more.py": UNSEEN}), 5, "LW301"
    ),
    "G9 the trusted folder becomes a link": History(_linked("tests/trusted", "../copy"), 5, "LW301"),
    "G9 a folder above becomes a link": History(_linked("tests", "copy"), 5, "LW301"),
    "G9 a trusted test becomes a link": History(_linked(TRUSTED_TEST, "../../copy/test_shop.py"), 5, "LW301"),
    "G9 a source that is a link": History(
        lambda repo: apply(repo, {"app/more.py": Link("../examples/sample.py")}), 1, "LW104"
    ),
    "G10 a submodule in the trusted folder": History(_submodule("tests/trusted"), 5, "LW301"),
    "G10 a submodule in the product": History(_submodule("app/vendored"), 1, "LW104"),
    "G10 a list of submodules": History(lambda repo: apply(repo, {".gitmodules": '[submodule "x"]\n'}), 5, "LW301"),
    "G15 a change that only the merge has": History(_evil_merge, 1, "LW101"),
    "G16 a file that the index hides from the work tree": History(_hidden_in_index, 3, "LW501"),
    "G16 a module that nobody committed": History(_untracked_help, 3, "LW501"),
    "G19 a trusted folder in another case": History(
        lambda repo: apply(repo, {"tests/Trusted/test_shop.py": "x = 1\n"}), 5, "LW301"
    ),
    "G19 all of the path in another case": History(
        lambda repo: apply(repo, {"TESTS/TRUSTED/test_more.py": "x = 1\n"}), 5, "LW301"
    ),
    "G19 full-width letters": History(
        lambda repo: apply(repo, {"tests/\uff54rusted/test_a.py": "x = 1\n"}), 5, "LW301"
    ),
    "G20 a cyrillic letter": History(lambda repo: apply(repo, {"tests/tr\u0443sted/test_a.py": "x = 1\n"}), 5, "LW301"),
    "G21 a trusted test changes its mode": History(
        lambda repo: apply(repo, {TRUSTED_TEST: Executable(str(BASE[TRUSTED_TEST]))}), 5, "LW301"
    ),
}
LAIN_THERE: dict[str, Content] = {"examples/sample.py": UNSEEN, "tests/generated/sample.py": UNSEEN}


@pytest.mark.parametrize("trick", HISTORIES)
def test_the_history_closes_the_gate(tmp_path: Path, trick: str) -> None:
    wanted = HISTORIES[trick]
    repo = Repo(tmp_path)
    base = repo.commit("base", {**BASE, **LAIN_THERE})
    wanted.make(repo)

    artifact = ask(tmp_path, base)
    assert artifact.exit == wanted.status, errors(artifact)
    assert wanted.codes in errors(artifact), errors(artifact)


def test_g20_a_look_alike_of_the_generated_folder_is_no_place_without_obligations(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"tests/gener\u0430ted/more.py": UNSEEN, "Tests/Generated/more.py": UNSEEN})
    assert artifact.exit in {1, 5}
    assert artifact.scored is False or len(open_lines(artifact)) == 2


def _replaced(repo: Repo) -> None:
    repo.git("replace", repo.git("rev-parse", "HEAD:app/shop.py"), repo.git("rev-parse", "HEAD~:app/shop.py"))


def _grafted(repo: Repo) -> None:
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/grafts").write_text(repo.git("rev-parse", "HEAD") + "\n")


UNTRUSTWORTHY = {
    "G11 a blob is replaced": (_replaced, "main"),
    "G12 a graft": (_grafted, "main"),
    "G13 a tag has the target branch's name": (lambda repo: repo.tag("main"), "main"),
    "G13 a tag has the name of a remote's branch": (lambda repo: repo.tag("origin/main"), "origin/main"),
    "G22 a name that looks like an option": (lambda _: None, "--output=trick"),
    "an empty name": (lambda _: None, ""),
    "a range": (lambda _: None, "HEAD..HEAD"),
    "a tree": (lambda _: None, "HEAD^{tree}"),
}


@pytest.mark.parametrize("trick", UNTRUSTWORTHY)
def test_a_patch_that_cannot_be_told_for_certain_is_refused(tmp_path: Path, trick: str) -> None:
    make, name = UNTRUSTWORTHY[trick]
    repo = Repo(tmp_path)
    repo.commit("base", BASE)
    repo.branch("work")
    repo.commit("patch", {"app/shop.py": UNSEEN})
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    make(repo)

    artifact = ask(tmp_path, name)
    assert (artifact.exit, artifact.scored) == (4, False)
    assert not (tmp_path / "trick").exists()


def test_g12_a_shallow_clone_is_refused_and_the_whole_one_is_judged(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "origin")
    repo.commit("base", BASE)
    repo.branch("work")
    repo.commit("patch", {"app/shop.py": SEEN})
    shallow = repo.clone(tmp_path / "shallow", "--depth", "1", "--no-single-branch")
    whole = repo.clone(tmp_path / "whole")

    assert ask(shallow.root, "origin/main").exit == 4
    assert ask(whole.root, "origin/main").exit == 0


def test_g13_a_base_that_the_patch_has_moved_onto_itself_has_nothing_to_show(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "origin")
    base = repo.commit("base", BASE)
    clone = repo.clone(tmp_path / "clone")
    clone.commit("patch", {"app/shop.py": UNSEEN, "tests/trusted/conftest.py": ALWAYS_PASSED})
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")

    assert ask(clone.root, base).exit == 5, "the commit that the forge names is what counts"


def _swap(repo: Repo, place: str, content: bytes) -> None:
    """Put other bytes under the id of an object of the clone."""
    oid = repo.git("rev-parse", place)
    file = repo.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    kind = repo.git("cat-file", "-t", oid).encode()
    file.write_bytes(zlib.compress(kind + b" %d\0" % len(content) + content))


SWAPPED = {
    "G11 the folder of base": ("HEAD~:app", "HEAD:app"),
    "G11 the file of base": ("HEAD~:app/shop.py", "HEAD:app/shop.py"),
    "G11 the root of base": ("HEAD~^{tree}", "HEAD^{tree}"),
    "G11 the folder of head": ("HEAD:app", "HEAD~:app"),
    "G11 the commit of base": ("HEAD~", "HEAD"),
}


@pytest.mark.parametrize("trick", SWAPPED)
def test_g11_an_object_of_the_clone_that_is_not_what_its_id_says_is_refused(tmp_path: Path, trick: str) -> None:
    place, other = SWAPPED[trick]
    repo = Repo(tmp_path)
    base = repo.commit("base", BASE)
    repo.commit("patch", {"app/shop.py": UNSEEN})
    kind = repo.git("cat-file", "-t", place)
    _swap(repo, place, repo.run("cat-file", kind, other).stdout)

    artifact = ask(tmp_path, base)
    assert (artifact.exit, artifact.scored) == (4, False), errors(artifact)
