"""GitHub Actions: the event that started a job, and the files and lines by which a step talks to the runner.

Sources: GitHub's documentation, "Events that trigger workflows", "Webhook events and payloads", "Workflow commands".
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from linewitness.errors import PatchError, UsageError
from linewitness.integrations import Errand
from linewitness.obligation_map import ObligationMap

_NO_COMMIT: Final = "0" * 40
_LARGEST_EVENT: Final = 64 << 20
_LARGEST_SUMMARY: Final = 1 << 20
"""Bytes that a step may write; the runner drops the whole summary of one that writes more."""


def errand(environ: Mapping[str, str]) -> Errand:
    """What the job is about, from ``GITHUB_EVENT_NAME`` and the event's payload.

    Errors: :class:`UsageError` outside of a job, for an event that would run a stranger's patch with a token that may
    write, and for a payload that cannot be read.
    """
    name, commit = environ.get("GITHUB_EVENT_NAME", ""), environ.get("GITHUB_SHA", "")
    if not name or not commit:
        raise UsageError("this is no job of GitHub Actions: GITHUB_EVENT_NAME and GITHUB_SHA are not set")
    if name in _PRIVILEGED:
        raise UsageError(
            f"the event {name} hands the job a token that may write and secrets, and the gate runs code of the patch: "
            "use the event pull_request, which has neither for forks"
        )
    decide = _BY_EVENT.get(name, _by_default)
    return decide(payload(environ), environ)


def payload(environ: Mapping[str, str]) -> dict[str, Any]:
    """The event that started the job. Errors: :class:`UsageError` when ``GITHUB_EVENT_PATH`` holds none."""
    path = environ.get("GITHUB_EVENT_PATH", "")
    try:
        with open(path, "rb") as file:
            event = json.loads(file.read(_LARGEST_EVENT))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the event's payload cannot be read: {error}", path=path or "GITHUB_EVENT_PATH") from error
    if not isinstance(event, dict):
        raise UsageError("the event's payload is no JSON object", path=path)
    return event


def _field(event: Mapping[str, Any], *names: str) -> str:
    value: Any = event
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, str) or not value:
        raise UsageError(f"the event's payload has no {'.'.join(names)}")
    return value


def _by_pull_request(event: Mapping[str, Any], environ: Mapping[str, str]) -> Errand:
    """The merge of the pull request into its target branch, which is what the runner checks out."""
    branch = _field(event, "pull_request", "base", "ref")
    return Errand(f"refs/remotes/origin/{branch}", environ["GITHUB_SHA"], f"the pull request into {branch}")


def _by_merge_group(event: Mapping[str, Any], _: Mapping[str, str]) -> Errand:
    base, head = _field(event, "merge_group", "base_sha"), _field(event, "merge_group", "head_sha")
    return Errand(base, head, "the group in the merge queue")


def _by_push(event: Mapping[str, Any], environ: Mapping[str, str]) -> Errand:
    """What a push added. A new branch, and one that was rewritten, have no earlier state to compare with.

    Errors: :class:`PatchError` when that is the default branch, as it would be compared with itself.
    """
    before = _field(event, "before")
    if before == _NO_COMMIT or event.get("forced") is True:
        repository = event.get("repository")
        default = repository.get("default_branch") if isinstance(repository, dict) else None
        if isinstance(default, str) and event.get("ref") == f"refs/heads/{default}":
            done = "rewritten" if event.get("forced") is True else "pushed for the first time"
            raise PatchError(
                f"{default}, the default branch, was {done}, so there is no earlier state to compare it with: "
                "name one with --base (the action's input `base`)"
            )
        return _by_default(event, environ)
    return Errand(before, environ["GITHUB_SHA"], "what was pushed")


def _by_default(_: Mapping[str, Any], environ: Mapping[str, str]) -> Errand:
    return Errand(None, environ["GITHUB_SHA"], "the branch against the default branch")


_PRIVILEGED: Final = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
_BY_EVENT: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str]], Errand]]] = {
    "pull_request": _by_pull_request,
    "merge_group": _by_merge_group,
    "push": _by_push,
}


def check_head(head: str, checked_out: str) -> None:
    """Refuse to judge a commit that the job did not check out. Errors: :class:`PatchError`."""
    if head != checked_out:
        raise PatchError(
            f"the event is about commit {head[:12]}, and {checked_out[:12]} is checked out: let the checkout step "
            "take its default ref, with `fetch-depth: 0`"
        )


# ---------------------------------------------------------------- talking to the runner


def silence() -> tuple[str, str]:
    """Two lines between which the runner takes no commands from what is printed: source lines are the patch's words."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n", f"::{token}::\n"


def outputs(artifact: ObligationMap, files: Mapping[str, Path]) -> bytes:
    """The step's outputs, as lines for ``GITHUB_OUTPUT``: the verdict, the counts, and where the reports are.

    Errors: :class:`UsageError` for a folder whose name has a line break.
    """
    values = {
        "verdict": artifact.verdict,
        "exit": str(artifact.exit),
        "owed": str(artifact.owed),
        "trusted-hit": str(artifact.trusted_hit),
        "waived": str(artifact.waived),
        "unwitnessed": str(artifact.unwitnessed),
        **{name: str(path) for name, path in files.items()},
    }
    for name, value in values.items():
        if "\n" in value or "\r" in value:
            raise UsageError(f"{name} is in a folder whose name has a line break: choose another with --folder")
    return "".join(f"{name}={value}\n" for name, value in values.items()).encode("utf-8", "surrogateescape")


def append(path: str, data: bytes) -> None:
    """Add to one of the runner's files. Errors: :class:`UsageError` naming it."""
    try:
        with open(path, "ab") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror or error}", path=path) from error


def room_in_summary(path: str) -> int:
    """How many bytes the step may still add to its summary."""
    return max(0, _LARGEST_SUMMARY - (os.path.getsize(path) if os.path.exists(path) else 0))
