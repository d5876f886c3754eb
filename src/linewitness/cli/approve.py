"""``linewitness approve``: show what changed in protected content, then sign a commit that vouches for it."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linewitness.console import Console, safe
from linewitness.errors import UsageError
from linewitness.model import Blob, Finding, RepoPath
from linewitness.patch.objects import is_submodule
from linewitness.trust.undo import show_command
from linewitness.values import NamedTuple

if TYPE_CHECKING:
    from linewitness.case import Case

NAME = "approve"
HELP = "sign a commit that vouches for changed protected content"

_MOST_LINES: Final = 200
_MOST_LINES_COMPARED: Final = 5000
_MOST_PATHS_IN_MESSAGE: Final = 50


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the base, the key and what is asked."""
    parser.add_argument("--base", metavar="REF", help="target branch or commit, as for `check` (default: the remote's)")
    parser.add_argument(
        "--key",
        metavar="FILE",
        help="SSH key to sign with; the .pub file of a key that an agent or a token holds"
        " (default: user.signingKey, when git's gpg.format is ssh)",
    )
    parser.add_argument("-m", "--message", metavar="TEXT", help="the commit's message (default: the list of changes)")
    parser.add_argument("-y", "--yes", action="store_true", help="sign without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what would be vouched for, and sign nothing")
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="a folder of the repository")


class _Key(NamedTuple):
    """The file to sign with, and whose key it is in base's list (empty: nobody's there); ``data`` is the public key."""

    file: Path
    data: bytes | None
    principal: str


def run(args: argparse.Namespace) -> int:
    """Show, ask, sign, move HEAD. Nothing has changed when it fails. Errors: :class:`UsageError` and PatchError."""
    from linewitness.case import Question, open_case
    from linewitness.patch.repository import Repository
    from linewitness.trust import approvals
    from linewitness.trust.installed import asking

    console: Console = args.console
    with Repository(args.root) as repository:
        case = open_case(repository, Question(args.base))
        frozen = approvals.freeze(case, approvals.moment_of(None), asking(case))
        if frozen.approval:
            who, commit = frozen.approval.principal, frozen.approval.commit
            console.note(f"there is nothing to do: {who} vouches for the protected content of HEAD in {commit}")
            return 0
        changes = tuple(finding for finding in frozen.findings if finding.code != "LW304")
        if not changes:
            raise UsageError(f"there is nothing to approve: HEAD has the protected content of base {case.base.commit}")
        _refuse_uncommitted(case)
        _show(case, changes, console)
        if not args.dry_run:
            _approve(case, changes, args)
    return 0


def _approve(case: Case, changes: Sequence[Finding], args: argparse.Namespace) -> None:
    from linewitness.patch.commits import advance, compose, person, with_signature
    from linewitness.trust.signatures import NAMESPACE, Refused, SshKeygen, parse_signature

    console: Console = args.console
    who = person(case.repository, os.environ)
    key = _key(args.key, who.signing_key, case)
    _warn(key, case, console)
    if not args.yes:
        _ask(console)
    keygen = SshKeygen(case.repository.root)
    payload = compose(case.head, who, args.message or _message(changes))
    armored = keygen.sign(payload, key.file, os.environ)
    try:
        signature = parse_signature(armored)
    except Refused as trouble:
        raise UsageError(f"ssh-keygen made no signature for `{NAMESPACE}`: it {trouble}") from None
    if key.data is not None and signature.key != key.data:
        raise UsageError(f"was used to sign, but the signature is of {signature.fingerprint}", path=str(key.file))
    signed = with_signature(payload, armored, case.repository.algorithm)
    commit = advance(case.repository, case.head, signed, "linewitness approve")
    console.result(f"{commit} vouches for {_count(changes)}, signed with {signature.fingerprint}\n")
    console.note("push it with the branch; a later change of protected content needs another approval")


def _refuse_uncommitted(case: Case) -> None:
    """What is signed is HEAD, so what a person sees in their files must be HEAD where it matters."""
    from linewitness.patch.worktree import working_tree
    from linewitness.trust import protected

    files = case.repository.ls_tree(working_tree(case.repository).tree)
    dirty = protected.freeze(case.head_tree, files, case.loaded.settings, case.read)
    if dirty:
        names = ", ".join(finding.path for finding in dirty)
        raise UsageError(
            f"the work tree has changes of protected content that HEAD has not: {names}. Commit them first"
        )


# ---------------------------------------------------------------- what is vouched for


def _show(case: Case, changes: Sequence[Finding], console: Console) -> None:
    """The protected diff. Characters that a terminal would act upon, or not show, are escapes."""
    room = _MOST_LINES
    title = f"protected content of HEAD {case.head.commit}, compared with base {case.base.commit}:"
    console.result(f"{title}\n")
    for change in changes:
        trouble = change.message.partition(". ")[0]
        console.result(f"\n{safe(change.path)}: {change.code} {safe(trouble)}\n")
        lines = _diff(case, RepoPath(change.path))
        for line in lines[:room]:
            console.result(f"  {safe(line)}\n")
        if len(lines) > room:
            command = show_command(case.base.commit or "", change.path)
            console.result(f"  … and {len(lines) - room} more lines: {safe(command)}\n")
        room = max(room - len(lines), 0)
    console.result("\n")


def _diff(case: Case, path: RepoPath) -> list[str]:
    """The changed lines of one path with three around them, and a line for what cannot be shown as lines."""
    before, after = case.base_tree.get(path), case.head_tree.get(path)
    notes = []
    if before and after and before.mode != after.mode:
        notes.append(f"mode {before.mode:o} became {after.mode:o}")
    texts: list[list[str]] = []
    for side, name in ((before, "base"), (after, "HEAD")):
        text, note = _text(case, side)
        texts.append(text)
        notes += [f"{name}: {note}"] if note else []
    return [*notes, *_compared(*texts)]


def _text(case: Case, side: Blob | None) -> tuple[list[str], str]:
    """The lines of one side, or what stands in their place."""
    if side is None:
        return [], ""
    if is_submodule(side):
        return [], f"a submodule at {side.oid}"
    data = case.read(side)
    if not side.is_regular:
        return [], f"a symbolic link to {data.decode('utf-8', 'backslashreplace')}"
    if b"\0" in data[:8000]:
        return [], f"binary, {len(data)} bytes, blob {side.oid}"
    *lines, last = data.decode("utf-8", "backslashreplace").split("\n")
    return [*lines, *([f"{last}  (no line feed at the end)"] if last else [])], ""


def _compared(before: list[str], after: list[str]) -> list[str]:
    # The comparison takes time that grows with the product of both sides.
    if max(len(before), len(after)) > _MOST_LINES_COMPARED:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    _names, _of_files, *lines = [*difflib.unified_diff(before, after, n=3, lineterm="")] or ["", ""]
    return lines


def _message(changes: Sequence[Finding]) -> str:
    shown = [f"- {safe(change.path)}" for change in changes[:_MOST_PATHS_IN_MESSAGE]]
    if len(changes) > len(shown):
        shown.append(f"- and {len(changes) - len(shown)} more")
    return "Approve protected content\n\n" + "\n".join(shown)


def _count(changes: Sequence[Finding]) -> str:
    return "1 change of protected content" if len(changes) == 1 else f"{len(changes)} changes of protected content"


# ---------------------------------------------------------------- who vouches


def _key(named: str | None, configured: str, case: Case) -> _Key:
    """The key to sign with: the one named, else the one of the person's own git settings."""
    from linewitness.trust.signatures import public_key
    from linewitness.trust.signed import approvers_of

    if not (named or configured):
        raise UsageError("name the key to sign with: --key ~/.ssh/id_ed25519 (or the .pub file of a key in an agent)")
    file = Path(os.path.abspath(Path(named or configured).expanduser()))
    try:
        data = public_key(file.read_bytes())
        beside = file.with_name(f"{file.name}.pub")
        if data is None and beside.is_file():
            data = public_key(beside.read_bytes())
    except OSError as error:
        raise UsageError(
            f"the key cannot be read: {error.strerror}; name its file with --key", path=str(file)
        ) from None
    known = approvers_of(case)
    listed = known.with_key(data) if known and data else ()
    return _Key(file, data, listed[0].principal if listed else "")


def _warn(key: _Key, case: Case, console: Console) -> None:
    from linewitness.trust.signatures import fingerprint

    if key.principal:
        console.note(f"base lists the key as {key.principal}")
        return
    which = fingerprint(key.data) if key.data else str(key.file)
    file = case.loaded.settings.approvers
    console.complain(f"warning: {file} of base does not list {which}: the gate will not take this for an approval")


def _ask(console: Console) -> None:
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on: look at what --dry-run shows, then pass --yes")
    console.flush()
    console.err.write("Sign this as an approval? [y/N] ")
    console.err.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise UsageError("nothing was signed")
