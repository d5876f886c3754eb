"""Approvals: real keys, real commits, and every way in which a signature is not what it seems."""

from __future__ import annotations

import base64
import datetime as dt
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.case import Question, open_case
from linewitness.patch.commits import with_signature
from linewitness.patch.repository import Repository
from linewitness.trust import approvals
from linewitness.trust.approvals import Frozen
from linewitness.trust.signed import Approval
from tests.support.repos import Repo, environment
from tests.support.signing import ADDRESS, Key, run, signed
from tests.trust.conftest import Keys

NOW = dt.datetime(2026, 9, 16, 12, tzinfo=dt.UTC)
TEST = "tests/trusted/test_a.py"
OTHER = "tests/trusted/test_b.py"
LIST = ".linewitness/approvers"
REVOKED = ".linewitness/revoked"


@pytest.fixture
def ada(keys: Keys) -> Key:
    return keys("ada")


@pytest.fixture
def eve(keys: Keys) -> Key:
    return keys("eve")


def adopted(folder: Path, lines: str, **more: str) -> Repo:
    """A repository whose main has a trusted test and a list of approvers; the branch ``patch`` is checked out."""
    repo = Repo(folder / "repo")
    files = {"app.py": "x = 1\n", TEST: "one\n", LIST: lines, **more}
    repo.commit("base", {name: text for name, text in files.items() if text})
    repo.branch("patch")
    return repo


def changed(repo: Repo, text: str = "two\n", path: str = TEST) -> str:
    """The patch touches protected content."""
    return repo.commit("touch", {path: text})


def frozen(repo: Repo, base: str = "main", moment: dt.datetime = NOW, *, working_tree: bool = False) -> Frozen:
    with Repository(repo.root) as repository:
        return approvals.freeze(open_case(repository, Question(base, working_tree=working_tree)), moment)


def vouching(repo: Repo, *, working_tree: bool = False) -> Approval:
    """The approval that was found; there has to be one."""
    answer = frozen(repo, working_tree=working_tree)
    assert answer.approval, answer.findings
    return answer.approval


def codes(answer: Frozen) -> list[str]:
    return [finding.code for finding in answer.findings]


def why(answer: Frozen) -> str:
    """What is said of the signatures. Nothing is approved, and the change itself is a finding."""
    assert answer.approval is None
    assert "LW301" in codes(answer)
    return "\n".join(finding.message for finding in answer.findings if finding.code == "LW304")


# ---------------------------------------------------------------- what approves


@pytest.mark.parametrize("kind", ["ada", "ecdsa", "rsa"])
def test_a_listed_key_approves_and_is_named(tmp_path: Path, keys: Keys, kind: str) -> None:
    key = keys(kind)
    repo = adopted(tmp_path, key.line())
    changed(repo)
    commit = signed(repo, key)

    answer = frozen(repo)

    assert answer.findings == ()
    assert answer.approval == (commit, key.fingerprint, ADDRESS)


def test_nothing_is_asked_of_signatures_when_nothing_protected_differs(tmp_path: Path, ada: Key, eve: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.commit("code", {"app.py": "x = 2\n"})
    signed(repo, eve)

    assert frozen(repo) == Frozen(())


def test_the_signed_commit_may_carry_the_change_itself(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.write({TEST: "two\n"})
    repo.git("add", "-A")
    commit = signed(repo, ada)

    assert vouching(repo).commit == commit


def test_an_approval_survives_what_does_not_touch_protected_content(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    commit = signed(repo, ada)
    repo.commit("code", {"app.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"doc.md": "a\n"})
    repo.git("checkout", "-q", "patch")
    repo.git("merge", "-q", "--no-edit", "main")

    assert vouching(repo).commit == commit


def test_what_lies_in_the_work_tree_is_approved_by_commits_too(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    commit = signed(repo, ada)
    repo.write({"app.py": "x = 2\n"})

    assert vouching(repo, working_tree=True).commit == commit
    repo.write({TEST: "three\n"})
    assert "LW301" in codes(frozen(repo, working_tree=True))


def test_additions_removals_modes_and_tables_are_all_vouched_for(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line(), **{OTHER: "b\n", "pyproject.toml": "[tool.pytest.ini_options]\n"})
    repo.remove(OTHER)
    repo.commit("many", {"tests/trusted/new.py": "", "pyproject.toml": "[tool.pytest.ini_options]\nx = 1\n"})
    repo.git("update-index", "--chmod=+x", TEST)
    signed(repo, ada)
    repo.git("reset", "-q", "--hard")

    assert codes(frozen(repo)) == []
    repo.commit("a table that steers nothing", {"pyproject.toml": "[tool.pytest.ini_options]\nx = 1\n[project]\n"})
    assert codes(frozen(repo)) == []


def approved_twice(folder: Path, key: Key) -> tuple[Repo, str]:
    """Somebody approves a state, and a better one on top of it; the second approval's id."""
    repo = adopted(folder, key.line())
    changed(repo, "first\n")
    signed(repo, key)
    changed(repo, "second\n")
    return repo, signed(repo, key)


def test_an_approval_on_top_of_another_takes_its_place(tmp_path: Path, ada: Key) -> None:
    repo, second = approved_twice(tmp_path, ada)
    changed(repo, "between\n")
    changed(repo, "second\n")
    assert vouching(repo).commit == second

    changed(repo, "first\n")
    assert f"commit {second[:12]} is approved on top of it" in why(frozen(repo))


def test_approvals_beside_each_other_each_vouch_for_their_own_state(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo, "second\n")
    signed(repo, ada)
    repo.branch("side", "main")
    changed(repo, "first\n")
    first = signed(repo, ada)
    repo.git("merge", "-q", "-s", "ours", "--no-gpg-sign", "-m", "merge", "patch")

    assert vouching(repo).commit == first


def test_going_back_to_base_needs_nobody(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    changed(repo, "one\n")

    assert frozen(repo) == Frozen(())


def test_the_newest_approval_of_equal_content_is_named(tmp_path: Path, keys: Keys, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line() + keys("bob").line("bob@example.org"))
    changed(repo)
    signed(repo, ada)
    signed(repo, keys("bob"))

    assert vouching(repo).principal == "bob@example.org"


def test_a_repository_of_sha256_objects_has_its_own_header(tmp_path: Path, ada: Key) -> None:
    repo = Repo(tmp_path / "repo", init=False)
    repo.root.mkdir()
    repo.git("init", "-q", "--template=", "-b", "main", "--object-format=sha256")
    repo.commit("base", {TEST: "one\n", LIST: ada.line()})
    repo.branch("patch")
    changed(repo)
    commit = signed(repo, ada)

    assert vouching(repo).commit == commit


# ---------------------------------------------------------------- what breaks an approval


def test_a_later_edit_by_anyone_is_not_vouched_for(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    changed(repo, "three\n")

    assert f"is approved by {ADDRESS}, but head has other protected content than that commit: {TEST}" in why(
        frozen(repo)
    )


@pytest.mark.parametrize("how", ["added", "removed"])
def test_a_path_that_came_or_went_after_the_approval_counts(tmp_path: Path, ada: Key, how: str) -> None:
    repo = adopted(tmp_path, ada.line(), **{OTHER: "b\n"})
    changed(repo)
    signed(repo, ada)
    if how == "added":
        repo.commit("more", {"tests/conftest.py": "x\n"})
    else:
        repo.remove(OTHER)
        repo.commit("less")

    assert "head has other protected content" in why(frozen(repo))


def test_a_squashed_approval_is_gone(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    repo.git("reset", "-q", "--soft", "main")
    repo.commit_index("squashed")

    assert why(frozen(repo)) == ""


def test_a_rebased_approval_is_gone_and_an_amended_one_too(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"doc.md": "a\n"})
    repo.git("rebase", "-q", "--empty=keep", "main", "patch")

    assert why(frozen(repo)) == ""


def test_a_cherry_picked_signature_does_not_come_along(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.write({TEST: "two\n"})
    repo.git("add", "-A")
    commit = signed(repo, ada)
    repo.git("checkout", "-q", "-B", "patch", "main")
    repo.commit("before", {"doc.md": "a\n"})
    repo.git("cherry-pick", commit)

    assert why(frozen(repo)) == ""


def test_what_the_target_landed_since_is_not_rolled_back_by_an_older_approval(tmp_path: Path, ada: Key) -> None:
    """After a squash merge the old branch, signature and all, lies around for anybody to merge."""
    repo = adopted(tmp_path, ada.line())
    changed(repo, "lenient\n")
    signed(repo, ada)
    repo.branch("old")
    repo.git("checkout", "-q", "main")
    repo.commit("stricter", {TEST: "strict\n"})
    repo.git("checkout", "-q", "-B", "patch", "main")
    repo.git("merge", "-q", "--no-edit", "-s", "ours", "old")
    changed(repo, "lenient\n")

    assert "the target branch's own protected content has changed since it left there" in why(frozen(repo))


def test_a_signed_commit_of_an_unrelated_history_vouches_for_nothing(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.git("checkout", "-q", "--orphan", "island")
    repo.write({TEST: "two\n"})
    repo.git("add", "-A")
    signed(repo, ada)
    repo.git("checkout", "-q", "patch")
    repo.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "-s", "ours", "island")
    changed(repo)

    assert "changed since it left" in why(frozen(repo))


@pytest.mark.parametrize("landed", ["doc.md", OTHER])
def test_the_result_of_a_merge_is_approved_while_the_target_keeps_its_protected_content(
    tmp_path: Path, ada: Key, landed: str
) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    commit = signed(repo, ada)
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {landed: "c\n"})
    repo.git("checkout", "-q", "patch")

    with Repository(repo.root) as repository:
        answer = approvals.freeze(open_case(repository, Question(onto="main")), NOW)

    if landed == OTHER:
        assert f"head has other protected content than that commit: {OTHER}" in why(answer)
    else:
        assert (answer.findings, answer.approval) == ((), (commit, ada.fingerprint, ADDRESS))


def test_both_sides_of_a_merge_do_not_add_up(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line(), **{OTHER: "b\n"})
    changed(repo)
    signed(repo, ada)
    repo.branch("side", "main")
    changed(repo, "c\n", OTHER)
    signed(repo, ada)
    repo.git("checkout", "-q", "patch")
    repo.git("merge", "-q", "--no-edit", "side")

    assert why(frozen(repo)).count("head has other protected content") == 2


def test_a_merge_that_is_signed_vouches_for_what_it_made(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line(), **{OTHER: "b\n"})
    changed(repo)
    repo.branch("side", "main")
    changed(repo, "c\n", OTHER)
    repo.git("checkout", "-q", "patch")
    repo.git("merge", "-q", "--no-commit", "side")
    commit = signed(repo, ada)

    assert vouching(repo).commit == commit


def test_an_approved_tree_does_not_decide_what_is_protected(tmp_path: Path, ada: Key) -> None:
    """Code beside a package file would make it product code, if the approved tree were asked."""
    settings = 'trusted = ["**/tests/**"]\nrelations = []\n'
    files = {"linewitness.toml": settings, "pkg/__init__.py": "1\n", "pkg/tests/test_p.py": "1\n", TEST: ""}
    repo = adopted(tmp_path, ada.line(), **files)
    repo.commit("bait", {"pkg/core.py": "x = 1\n", "pkg/tests/test_p.py": "2\n"})
    signed(repo, ada)
    repo.commit("later", {"pkg/__init__.py": "evil\n"})

    assert "head has other protected content than that commit: pkg/__init__.py" in why(frozen(repo))


# ---------------------------------------------------------------- whose signature counts


def test_an_unlisted_key_under_the_owners_address_does_not_count(tmp_path: Path, ada: Key, eve: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, eve, "approve", f"--author=Ada <{ADDRESS}>")

    assert f"was signed with {eve.fingerprint}, which {LIST} of base does not list" in why(frozen(repo))


def test_a_list_that_the_patch_brings_lists_nobody(tmp_path: Path, ada: Key, eve: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.commit("touch", {TEST: "two\n", LIST: ada.line() + eve.line()})
    signed(repo, eve)

    assert "does not list" in why(frozen(repo))


def test_without_a_list_on_base_nobody_can_approve(tmp_path: Path, eve: Key) -> None:
    repo = adopted(tmp_path, "")
    repo.commit("touch", {TEST: "two\n", LIST: eve.line()})
    signed(repo, eve)

    answer = frozen(repo)

    assert codes(answer) == ["LW301", "LW301"]
    assert all("have the owners land it on the target branch first" in finding.message for finding in answer.findings)


def test_a_listed_person_may_hand_the_list_on(tmp_path: Path, ada: Key, eve: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.commit("new colleague", {LIST: ada.line() + eve.line("eve@example.org")})
    signed(repo, ada)

    assert codes(frozen(repo)) == []


@pytest.mark.parametrize("form", ["keys", "krl"])
def test_a_revoked_key_does_not_count(tmp_path: Path, keys: Keys, ada: Key, form: str) -> None:
    krl = tmp_path / "krl"
    run("-q", "-k", "-f", str(krl), f"{ada.file}.pub")
    repo = adopted(tmp_path, ada.line() + keys("bob").line("bob"))
    repo.git("checkout", "-q", "main")
    repo.write({REVOKED: ada.public + "\n" if form == "keys" else krl.read_bytes()})
    repo.commit("revoke")
    repo.git("checkout", "-q", "-B", "patch")
    changed(repo)
    signed(repo, ada)

    assert "was signed with a listed key that was revoked" in why(frozen(repo))
    signed(repo, keys("bob"))
    assert codes(frozen(repo)) == []


@pytest.mark.parametrize("how", ["revoked", "unlisted", "no list"])
def test_a_branch_from_before_a_key_was_withdrawn_does_not_bring_it_back(tmp_path: Path, ada: Key, how: str) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    assert codes(frozen(repo)) == []

    repo.git("checkout", "-q", "main")
    repo.remove(*([LIST] if how == "no list" else []))
    repo.commit("withdraw", {"revoked": {REVOKED: ada.public + "\n"}, "unlisted": {LIST: "# nobody\n"}}.get(how, {}))
    repo.git("checkout", "-q", "patch")

    said = "was revoked" if how == "revoked" else f"which {LIST} of the target branch as it is now does not list"
    assert said in why(frozen(repo))


@pytest.mark.parametrize("content", ["not a list of keys\n", "SHA256:abc\n", "\0", "\n\0ssh-ed25519 AAAA\n"])
def test_a_damaged_list_of_revocations_closes(tmp_path: Path, ada: Key, content: str) -> None:
    repo = adopted(tmp_path, ada.line(), **{REVOKED: content})
    changed(repo)
    signed(repo, ada)

    assert "or the list of revocations is damaged" in why(frozen(repo))


def test_an_empty_list_of_revocations_revokes_nobody(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    repo.git("checkout", "-q", "main")
    repo.commit("nobody yet", {REVOKED: b""})
    repo.git("checkout", "-q", "-B", "patch")
    changed(repo)
    signed(repo, ada)

    assert codes(frozen(repo)) == []


def test_the_patch_cannot_take_a_revocation_back(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line(), **{REVOKED: ada.public + "\n"})
    repo.remove(REVOKED)
    repo.commit("unrevoke")
    signed(repo, ada)

    answer = frozen(repo)
    assert REVOKED in [finding.path for finding in answer.findings]
    assert "was revoked" in why(answer)


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        ('namespaces="git"', True),
        ('namespaces="file"', False),
        ('valid-before="20260917"', True),
        ('valid-before="20260916123000Z"', True),
        ('valid-after="20260916113000Z"', True),
        ('valid-before="20260916"', False),
        ('valid-after="20260917"', False),
        ('valid-after="20200101",valid-before="20300101",namespaces="file,git"', True),
    ],
)
def test_options_of_a_line_limit_its_key_by_the_gates_clock(
    tmp_path: Path, ada: Key, options: str, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The date in a commit is its author's to choose, so it is not asked; nor is the time zone of the machine."""
    monkeypatch.setenv("TZ", "Etc/GMT+12")
    repo = adopted(tmp_path, ada.line(options=options))
    changed(repo)
    signed(repo, ada)

    answer = frozen(repo)

    if holds:
        assert codes(answer) == []
    else:
        assert "carries a signature of a listed key that does not hold: key" in why(answer)


def test_a_key_on_two_lines_counts_when_one_of_them_holds(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line(options='valid-before="20200101"') + ada.line("again"))
    changed(repo)
    signed(repo, ada)

    assert vouching(repo).principal == "again"


@pytest.mark.parametrize("principal", ["*", "*@example.org", "ada@example.org,!eve@example.org", '"Ada Lovelace"'])
def test_names_before_a_key_are_for_people(tmp_path: Path, ada: Key, principal: str) -> None:
    repo = adopted(tmp_path, ada.line(principal))
    changed(repo)
    signed(repo, ada)

    assert vouching(repo).principal == principal.strip('"')


def test_an_authority_for_certificates_lists_nobody_and_the_line_is_named(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, "# approvers\n" + ada.line(options="cert-authority"))
    changed(repo)
    signed(repo, ada)

    answer = frozen(repo)

    assert (LIST, 2) in [(finding.path, finding.line) for finding in answer.findings]
    assert "lists an authority for certificates" in why(answer)


def test_a_certificate_of_a_listed_key_is_another_key(tmp_path: Path, ada: Key, eve: Key) -> None:
    run("-q", "-s", str(ada.file), "-I", "eve", "-n", "eve", str(eve.file) + ".pub")
    certificate = eve.file.with_name(f"{eve.file.name}-cert.pub")
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, Key(certificate))
    certificate.unlink()

    assert "does not list" in why(frozen(repo))


# ---------------------------------------------------------------- what a signature covers


def rewritten(repo: Repo, change: Callable[[bytes], bytes]) -> str:
    """HEAD with other bytes."""
    data = change(repo.run("cat-file", "commit", "HEAD").stdout)
    oid = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=data)
    repo.git("update-ref", "HEAD", oid)
    return oid


def test_a_signature_moved_to_another_commit_does_not_hold(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    signed(repo, ada)
    signature = repo.run("cat-file", "commit", "HEAD").stdout.partition(b"gpgsig ")[2].partition(b"\n\n")[0]
    changed(repo)
    rewritten(repo, lambda data: with_signature(data, signature.replace(b"\n ", b"\n"), "sha1"))

    assert "does not hold" in why(frozen(repo))


def test_a_word_changed_under_a_signature_breaks_it(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    rewritten(repo, lambda data: data.replace(b"approve\n", b"approve!\n"))

    assert "does not hold" in why(frozen(repo))


@pytest.mark.parametrize("second", [b"gpgsig", b"gpgsig-sha256"])
def test_two_signatures_on_one_commit_are_ambiguous(tmp_path: Path, ada: Key, second: bytes) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    header = repo.run("cat-file", "commit", "HEAD").stdout.partition(b"gpgsig ")[2].partition(b"\n\n")[0]
    rewritten(repo, lambda data: data.replace(b"\n\n", b"\n" + second + b" " + header + b"\n\n", 1))

    assert "carries 2 signatures" in why(frozen(repo))


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b"-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----", "an OpenPGP signature"),
        (b"-----BEGIN SIGNED MESSAGE-----\n MIAG\n -----END SIGNED MESSAGE-----", "an X.509 signature"),
        (b"-----BEGIN SSH SIGNATURE-----\n !!!!\n -----END SSH SIGNATURE-----", "no SSH signature"),
        (b"-----BEGIN SSH SIGNATURE-----\n U1NI\n -----END SSH SIGNATURE-----", "cut short"),
        (b"hello", "no SSH signature"),
        (b"", "no SSH signature"),
    ],
)
def test_other_kinds_of_signatures_do_not_count(tmp_path: Path, ada: Key, header: bytes, said: str) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    rewritten(repo, lambda data: data.replace(b"\n\n", b"\ngpgsig " + header + b"\n\n", 1))

    assert said in why(frozen(repo))


@pytest.mark.parametrize("namespace", ["file", "git"])
def test_a_signature_for_something_else_does_not_count(tmp_path: Path, ada: Key, namespace: str) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    content = tmp_path / "content"
    content.write_bytes(repo.run("cat-file", "commit", "HEAD").stdout if namespace == "file" else b"something else")
    run("-q", "-Y", "sign", "-n", namespace, "-f", str(ada.file), str(content))
    signature = content.with_name("content.sig").read_bytes()
    rewritten(repo, lambda data: with_signature(data, signature, "sha1"))

    said = "for the namespace 'file', not `git`" if namespace == "file" else "does not hold"
    assert said in why(frozen(repo))


def test_a_key_that_the_signature_only_claims_does_not_count(tmp_path: Path, ada: Key, eve: Key) -> None:
    """The listed key is written into a signature that another key made."""
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, eve)
    mine, theirs = (base64.b64decode(key.public.split()[1]) for key in (ada, eve))

    def claim(data: bytes) -> bytes:
        head, start, rest = data.partition(b"gpgsig -----BEGIN SSH SIGNATURE-----\n ")
        body, end, tail = rest.partition(b"\n -----END")
        forged = base64.b64encode(base64.b64decode(body.replace(b"\n ", b"")).replace(theirs, mine))
        return head + start + forged + end + tail

    rewritten(repo, claim)

    assert "does not hold" in why(frozen(repo))


def test_a_signed_tag_is_no_approval(tmp_path: Path, ada: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    repo.git("-c", "gpg.format=ssh", "-c", f"user.signingKey={ada.file}", "tag", "-s", "-m", "approve", "approved")

    assert why(frozen(repo)) == ""
    with Repository(repo.root) as repository:
        case = open_case(repository, Question("main", "approved"))
        assert why(approvals.freeze(case, NOW)) == ""


# ---------------------------------------------------------------- nobody else is asked


YES = """#!/bin/sh
case "$2" in
find-principals) echo approver ;;
*) echo 'Good "git" signature for approver with ED25519 key SHA256:x' ;;
esac
"""


def test_neither_the_clone_nor_the_user_can_name_signers_or_programs(
    tmp_path: Path, ada: Key, eve: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, eve)
    program = tmp_path / "yes"
    program.write_text(YES)
    program.chmod(0o755)
    signers = tmp_path / "signers"
    signers.write_text(eve.line())
    settings = f'[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = {program}\n\tallowedSignersFile = {signers}\n'
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(settings)
    with (repo.root / ".git" / "config").open("a") as config:
        config.write(settings)
    for name, value in {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "gpg.ssh.allowedSignersFile",
        "GIT_CONFIG_VALUE_0": str(signers),
        "GIT_SSH": str(program),
        "TZ": "Etc/GMT+12",
    }.items():
        monkeypatch.setenv(name, value)

    believed = subprocess.run(
        ["git", "-c", "gpg.ssh.program=ssh-keygen", "verify-commit", "HEAD"],
        check=False,
        cwd=repo.root,
        env=os.environ | {"LC_ALL": "C"},
        capture_output=True,
    )
    assert believed.returncode == 0, "the bait does not work on git itself"
    assert "does not list" in why(frozen(repo))


def test_an_ssh_keygen_of_the_repository_is_not_run(tmp_path: Path, ada: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    mark = tmp_path / "ran"
    program = repo.root / "bin" / "ssh-keygen"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}bin{os.pathsep}{environment()['PATH']}")

    assert codes(frozen(repo)) == []
    assert not mark.exists()


def test_without_ssh_keygen_nothing_is_approved(tmp_path: Path, ada: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    signed(repo, ada)
    git = tmp_path / "only-git"
    git.mkdir()
    found = next(
        Path(folder, "git") for folder in environment()["PATH"].split(os.pathsep) if Path(folder, "git").is_file()
    )
    (git / "git").symlink_to(found)
    monkeypatch.setenv("PATH", str(git))

    assert "ssh-keygen was not found on PATH" in why(frozen(repo))


def test_reasons_are_told_once_and_counted(tmp_path: Path, ada: Key, eve: Key) -> None:
    repo = adopted(tmp_path, ada.line())
    changed(repo)
    for _ in range(3):
        signed(repo, eve)

    told = why(frozen(repo))

    assert told.count("does not list") == 1
    assert "(and 2 more commits likewise)" in told
