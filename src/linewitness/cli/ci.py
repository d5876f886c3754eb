"""``linewitness ci PLATFORM``: the gate as a step of a CI job, with every report where the service looks for it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linewitness.console import Console
from linewitness.errors import Exit

if TYPE_CHECKING:
    from linewitness.integrations import Errand
    from linewitness.obligation_map import ObligationMap

NAME: Final = "ci"
HELP: Final = "judge the patch of a CI job: github, gitlab"

_PLATFORMS: Final = ("github", "gitlab", "github-comment")
_FILES: Final = {
    "github": {"markdown": "summary.md", "sarif": "linewitness.sarif", "html": "linewitness.html"},
    "gitlab": {
        "gitlab": "gl-code-quality-report.json",
        "junit": "junit.xml",
        "cobertura": "cobertura.xml",
        "html": "linewitness.html",
    },
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the platform, then the options of ``check``."""
    from linewitness.cli import check

    parser.add_argument("platform", metavar="PLATFORM", choices=_PLATFORMS, help=", ".join(_PLATFORMS))
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, help="where the map and the reports go (default: linewitness-reports)"
    )
    check.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Judge as ``check`` does, and end with the same status. Whatever a report cannot do changes nothing about it."""
    if args.platform == "github-comment":
        return _comment(args)
    github = args.platform == "github"
    errand = _errand(args)
    args.base = args.base or errand.base
    args.head = errand.head if args.head == "HEAD" else args.head
    console: Console = args.console
    if not github:
        console.note(f"judging {errand.why}")
        return _check(args)
    from linewitness.integrations.github import silence

    stop, go_on = silence()
    console.result(stop)
    console.flush()
    try:
        console.note(f"judging {errand.why}")
        status = _check(args)
    finally:
        console.result(go_on)
        console.flush()
    _tell_runner(args)
    return status


def _errand(args: argparse.Namespace) -> Errand:
    """What the job is about, after a look at what it checked out."""
    from linewitness.integrations import github, gitlab
    from linewitness.patch.repository import Repository

    errand = github.errand(os.environ) if args.platform == "github" else gitlab.errand(os.environ)
    if args.platform == "github":
        with Repository(args.root) as repository:
            github.check_head(errand.head, repository.resolve("HEAD").commit or "")
    return errand


def _check(args: argparse.Namespace) -> int:
    from linewitness.cli import check

    folder = _folder(args)
    folder.mkdir(parents=True, exist_ok=True)
    args.map = args.map or str(folder / "map.json")
    wishes = [f"{name}:{folder / file}" for name, file in _FILES[args.platform].items()]
    args.report = ["text", *args.report, *wishes]
    # who reads the reports is on another machine, later
    args.map_stays = False
    return check.run(args)


def _folder(args: argparse.Namespace) -> Path:
    return args.folder or Path(os.environ.get("RUNNER_TEMP") or args.root) / "linewitness-reports"


def _tell_runner(args: argparse.Namespace) -> None:
    """Annotations, the summary and the step's outputs."""
    from linewitness.cli.stored import read_map
    from linewitness.integrations.github import append, outputs, room_in_summary
    from linewitness.reports import View, render

    artifact = read_map(args.map)
    for piece in render(artifact, "github", View(map_file="")):
        args.console.result(piece)
    folder = _folder(args)
    summary, told = os.environ.get("GITHUB_STEP_SUMMARY"), os.environ.get("GITHUB_OUTPUT")
    if summary:
        text = (folder / _FILES["github"]["markdown"]).read_bytes()
        fits = len(text) <= room_in_summary(summary)
        append(summary, text if fits else _short(artifact))
    if told:
        files = {name: folder / file for name, file in _FILES["github"].items()}
        append(told, outputs(artifact, {"map": Path(args.map), **files}))


def _short(artifact: ObligationMap) -> bytes:
    from linewitness.reports import words

    return f"### {words.verdict(artifact)}\n\nThe summary is full: see the report in the job's artifact.\n".encode()


def _comment(args: argparse.Namespace) -> int:
    """Write the comment about a map that another job made; 0 when it stands, whatever it says."""
    from linewitness.cli.stored import parse_map, read_bytes
    from linewitness.integrations import comment, github
    from linewitness.reports import View, render
    from linewitness.verification import unsound

    environ = os.environ
    where = comment.place(github.payload(environ), environ.get("GITHUB_REPOSITORY", ""))
    name = args.map or str(_folder(args) / "map.json")
    data = read_bytes(name)
    artifact = parse_map(data, name)
    for trouble in unsound(artifact, data):
        args.console.complain(f"{name}: {trouble}")
        return Exit.EVIDENCE
    forge = comment.Forge(environ.get("GITHUB_API_URL", "https://api.github.com"), environ.get("GITHUB_TOKEN", ""))
    number = forge.pull_request(where)
    if number is None:
        args.console.note(f"no open pull request has the head {where.head_sha[:12]} any more: nothing to comment on")
        return 0
    body = b"".join(render(artifact, "markdown", View(map_file=""))).decode()
    args.console.result(forge.keep(where.repository, number, body) + "\n")
    return 0
