"""The CI definitions that ``init --ci`` writes: one job, the least permissions, everything pinned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from linewitness._version import __version__
from linewitness.values import NamedTuple


class CiFile(NamedTuple):
    """A file of a CI service: where it goes, what it says, and the lines for somebody who has the file already."""

    path: str
    content: str
    purpose: str
    note: str


_JOB: Final = "the job that runs the gate"

# Actions by commit: a tag can be moved.
_CHECKOUT: Final = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"
_SETUP_PYTHON: Final = "actions/setup-python@0b93645e9fea7318ecaed2b359559ac225c90a2b # v5.3.0"
_UPLOAD: Final = "actions/upload-artifact@65c4c4a1ddee5b72f698fdd19549f0f0fb45cf08 # v4.6.0"
_DOWNLOAD: Final = "actions/download-artifact@fa0a91b85d4f404e444e00e005971372dc801d16 # v4.1.8"

_GATE: Final = f"linewitness=={__version__}"
_GITHUB: Final = f"""\
# The merge gate. Make the job `linewitness` a required status check of the target branch, and have people who own
# tests and settings own this file too (CODEOWNERS): whoever edits it edits the gate.
name: linewitness
on:
  pull_request:
  merge_group:
permissions: {{}}
concurrency:
  group: linewitness-${{{{ github.workflow }}}}-${{{{ github.ref }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}
jobs:
  linewitness:
    name: linewitness
    runs-on: ubuntu-24.04
    timeout-minutes: 60
    permissions:
      contents: read
    steps:
      - uses: {_CHECKOUT}
        with:
          fetch-depth: 0 # the gate compares with the target branch
          persist-credentials: false # the trusted tests run code of the patch
      - uses: {_SETUP_PYTHON}
        with:
          python-version: "3.12"
      - name: Install the gate and the sandbox
        run: |
          sudo apt-get update -qq && sudo apt-get install -y -qq bubblewrap
          # Ubuntu lets no program without a profile make user namespaces
          printf '%s\\n' 'abi <abi/4.0>,' 'profile bwrap /usr/bin/bwrap flags=(unconfined) {{' '  userns,' '}}' |
            sudo tee /etc/apparmor.d/bwrap >/dev/null
          sudo apparmor_parser -r /etc/apparmor.d/bwrap
          python -m venv "$RUNNER_TEMP/linewitness"
          "$RUNNER_TEMP/linewitness/bin/python" -m pip install --quiet "{_GATE}"
      - name: Install what the trusted tests need
        run: |
          python -m venv .venv
          .venv/bin/python -m pip install --quiet pytest # and your project's requirements, from a file with hashes
      - name: Judge the patch
        run: '"$RUNNER_TEMP/linewitness/bin/linewitness" ci github'
      - name: Keep the map and the reports
        if: ${{{{ !cancelled() }}}}
        uses: {_UPLOAD}
        with:
          name: linewitness
          path: ${{{{ runner.temp }}}}/linewitness-reports
          if-no-files-found: warn
"""

_GITHUB_COMMENT: Final = f"""\
# Posts the gate's comment under pull requests, from forks too. It has a token that may comment and therefore runs
# nothing of the patch: it takes one JSON map, renders it anew and asks GitHub where it belongs.
name: linewitness comment
on:
  workflow_run: # zizmor: ignore[dangerous-triggers] -- nothing is checked out, and the artifact is read as data only
    workflows: [linewitness]
    types: [completed]
permissions: {{}}
concurrency:
  group: linewitness-comment-${{{{ github.event.workflow_run.head_sha }}}}
  cancel-in-progress: true
jobs:
  comment:
    name: linewitness comment
    if: ${{{{ github.event.workflow_run.event == 'pull_request' }}}}
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      actions: read # to fetch the other run's artifact
      pull-requests: write # to comment
    steps:
      - uses: {_SETUP_PYTHON}
        with:
          python-version: "3.12"
      - name: Install the gate
        run: |
          python -m venv "$RUNNER_TEMP/linewitness"
          "$RUNNER_TEMP/linewitness/bin/python" -m pip install --quiet "linewitness=={__version__}"
      - uses: {_DOWNLOAD}
        with:
          name: linewitness
          path: ${{{{ runner.temp }}}}/linewitness-reports
          run-id: ${{{{ github.event.workflow_run.id }}}}
          github-token: ${{{{ github.token }}}}
      - name: Comment
        run: '"$RUNNER_TEMP/linewitness/bin/linewitness" ci github-comment'
        env:
          GITHUB_TOKEN: ${{{{ github.token }}}}
"""

_GITLAB: Final = f"""\
# The merge gate. Make pipelines required for merging ("Pipelines must succeed"), and have people who own tests and
# settings own this file too (CODEOWNERS): whoever edits it edits the gate.
linewitness:
  image: python:3.12-slim
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: "0" # the gate compares with the target branch
    PIP_DISABLE_PIP_VERSION_CHECK: "1"
  before_script:
    - apt-get update -qq && apt-get install -y -qq git bubblewrap
    - python -m venv /opt/linewitness && /opt/linewitness/bin/pip install --quiet "{_GATE}"
    - python -m venv .venv && .venv/bin/pip install --quiet pytest # and your project's requirements
  script:
    - /opt/linewitness/bin/linewitness ci gitlab
  artifacts:
    when: always
    expire_in: 30 days
    paths: [linewitness-reports]
    expose_as: linewitness
    reports:
      codequality: linewitness-reports/gl-code-quality-report.json
      junit: linewitness-reports/junit.xml
      coverage_report:
        coverage_format: cobertura
        path: linewitness-reports/cobertura.xml
"""


def _with_grammars(definition: str, extras: Sequence[str]) -> str:
    """A definition whose job can read these languages besides Python."""
    return definition.replace(_GATE, _GATE.replace("==", f"[{','.join(extras)}]==")) if extras else definition


def _github(extras: Sequence[str]) -> tuple[CiFile, ...]:
    name = ".github/workflows/linewitness.yml"
    comment = ".github/workflows/linewitness-comment.yml"
    return (
        CiFile(name, _with_grammars(_GITHUB, extras), _JOB, "its job has to run `linewitness ci github`"),
        CiFile(
            comment,
            _GITHUB_COMMENT,
            "the job that comments on pull requests",
            "its job has to run `linewitness ci github-comment`",
        ),
    )


def _gitlab(extras: Sequence[str]) -> tuple[CiFile, ...]:
    name = ".gitlab-ci.yml"
    job = _with_grammars(_GITLAB, extras)
    lines = "add a job that runs `linewitness ci gitlab`:\n" + "".join(f"  {line}\n" for line in job.splitlines())
    return (CiFile(name, job, _JOB, lines.rstrip("\n")),)


def _none(_: Sequence[str]) -> tuple[CiFile, ...]:
    return ()


SERVICES: Final[Mapping[str, Callable[[Sequence[str]], tuple[CiFile, ...]]]] = {
    "github": _github,
    "gitlab": _gitlab,
    "none": _none,
}
"""The files of each service, for a gate with the extras of some languages."""
