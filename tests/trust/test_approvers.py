"""The list of approvers: what a line may say, and that any other line lists nobody and is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.trust.approvers import Approvers, parse
from linewitness.trust.builtin import revocations_beside

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFB87IRzIP+lgulm5Pix72Otxe1/Q1pFZItyV5hWN19K"
SHORT_RSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQC7" + "A" * 84
OTHER = "ecdsa-sha2-nistp256 " + KEY.split()[1]


def listed(text: str) -> Approvers:
    return parse(text.encode(), "approvers")


@pytest.mark.parametrize(
    ("line", "principal", "options"),
    [
        (f"ada@example.org {KEY}", "ada@example.org", ""),
        (f'ada@example.org {KEY} a comment with "quotes', "ada@example.org", ""),
        (f"  ada,bob\t{KEY}\r", "ada,bob", ""),
        (f'"Ada L" {KEY}', "Ada L", ""),
        (f'ada namespaces="git" {KEY}', "ada", 'namespaces="git"'),
        (f'ada Valid-After="20260101",VALID-BEFORE="20270101120000Z" {KEY}', "ada", None),
        (f'ada namespaces="git, file" {KEY}', "ada", 'namespaces="git, file"'),
    ],
)
def test_a_line_lists_a_key_under_its_options(line: str, principal: str, options: str | None) -> None:
    approvers = listed(f"\n# people\n{line}\n")

    (found,) = approvers.listed
    assert approvers.findings == ()
    assert (found.principal, found.line) == (principal, 3)
    assert options is None or found.options == options
    assert found.fingerprint == "SHA256:S2E8QAGUF70sk6c6LMBsh3xYTUiUnetebAW4PM5++xM"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (KEY, "needs a name"),
        ("ada", "needs a name"),
        ("ada ssh-ed25519", "needs a name"),
        (f"!ada {KEY}", "names nobody"),
        (f"ada,,bob {KEY}", "names nobody"),
        (f'"ada {KEY}', "quotation mark"),
        (f'ada namespaces="git {KEY}', "quotation mark"),
        (f"ada cert-authority {KEY}", "authority for certificates"),
        (f'ada CERT-AUTHORITY,namespaces="git" {KEY}', "authority for certificates"),
        (f"ada namespaces=git {KEY}", "option `namespaces=git`"),
        (f'ada valid-before="soon" {KEY}', 'option `valid-before="soon"`'),
        (f"ada touch-required {KEY}", "option `touch-required`"),
        (f'ada namespaces="git",namespaces="file" {KEY}', "twice"),
        (f'ada ,namespaces="git" {KEY}', "cannot be told apart"),
        (f"ada ssh-dss {KEY.split()[1]}", "type `ssh-dss`"),
        (f"ada ssh-ed25519-cert-v01@openssh.com {KEY.split()[1]}", "is not accepted"),
        (f"ada {OTHER}", "calls a key `ecdsa-sha2-nistp256` that is `ssh-ed25519`"),
        ("ada ssh-ed25519 AAAA", "cut short"),
        ("ada ssh-ed25519 !!!!", "not base64"),
        (f"ada {SHORT_RSA}", "bits"),
        (f"ada\u200b {KEY}", "cannot be seen"),
    ],
)
def test_a_line_that_means_something_else_lists_nobody_and_is_named(line: str, said: str) -> None:
    approvers = listed(f"bob {KEY}\n{line}\n")

    assert [approver.principal for approver in approvers.listed] == ["bob"]
    (finding,) = approvers.findings
    assert (finding.code, finding.path, finding.line) == ("LW304", "approvers", 2)
    assert said in finding.message


def test_lines_that_are_not_utf8_and_files_without_end_list_nobody() -> None:
    assert [finding.line for finding in parse(b"\xff\n" + KEY.encode(), "approvers").findings] == [1, 2]
    huge = parse(f"ada {KEY}\n".encode() * 20000, "approvers")
    assert (huge.listed, len(huge.findings)) == ((), 1)


@pytest.mark.parametrize(("path", "beside"), [(".linewitness/approvers", ".linewitness/revoked"), ("keys", "revoked")])
def test_revocations_lie_beside_the_list(path: str, beside: str) -> None:
    assert revocations_beside(path) == beside


@given(st.binary(max_size=200))
def test_any_bytes_list_somebody_or_are_a_finding(data: bytes) -> None:
    approvers = parse(data, "approvers")
    lines = [line for line in data.split(b"\n") if line.removesuffix(b"\r").strip()]

    assert len(approvers.listed) + len(approvers.findings) <= len(lines)


@given(st.text(alphabet='ada ="\t,!#-', max_size=30))
def test_whatever_stands_before_a_key_never_lists_another_key(words: str) -> None:
    keys = {approver.fingerprint for approver in listed(f"{words} {KEY}").listed}

    assert keys <= {"SHA256:S2E8QAGUF70sk6c6LMBsh3xYTUiUnetebAW4PM5++xM"}
