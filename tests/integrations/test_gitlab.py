"""The gate as a job of GitLab CI: what it judges in each kind of pipeline, and the reports it leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from linewitness.errors import UsageError
from linewitness.integrations import Errand, gitlab
from tests.integrations.runner import OPEN, SOURCE, pull_request
from tests.support.repos import environment

HEAD, BASE, TIP = "1" * 40, "2" * 40, "3" * 40
JOB = {"GITLAB_CI": "true", "CI_COMMIT_SHA": HEAD}
REQUEST = {**JOB, "CI_MERGE_REQUEST_IID": "4", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}


def test_a_merge_request_is_compared_with_its_base() -> None:
    found = gitlab.errand({**REQUEST, "CI_MERGE_REQUEST_DIFF_BASE_SHA": BASE})
    assert found == Errand(BASE, HEAD, "the merge request into main")


def test_a_merged_result_is_compared_with_the_tip_that_was_merged() -> None:
    found = gitlab.errand(
        {**REQUEST, "CI_MERGE_REQUEST_DIFF_BASE_SHA": BASE, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": TIP}
    )
    assert found.base == TIP


def test_a_merge_request_without_a_base_is_refused() -> None:
    with pytest.raises(UsageError, match="CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        gitlab.errand(REQUEST)


def test_a_push_is_compared_with_what_was_there_before() -> None:
    assert gitlab.errand({**JOB, "CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": BASE}).base == BASE


@pytest.mark.parametrize("more", [{"CI_COMMIT_BEFORE_SHA": "0" * 40}, {}, {"CI_PIPELINE_SOURCE": "schedule"}])
def test_other_pipelines_are_compared_with_the_default_branch(more: dict[str, str]) -> None:
    assert gitlab.errand({**JOB, "CI_PIPELINE_SOURCE": "push", **more}).base is None


@pytest.mark.parametrize("environ", [{}, {"CI_COMMIT_SHA": HEAD}, {"GITLAB_CI": "true"}])
def test_outside_of_a_job_the_command_says_so(environ: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="no job of GitLab CI"):
        gitlab.errand(environ)


def test_the_job_leaves_every_report_that_its_definition_names(tmp_path: Path) -> None:
    checkout = pull_request(tmp_path, OPEN)
    variables = {
        **environment(),
        "PYTHONPATH": str(SOURCE),
        **REQUEST,
        "CI_COMMIT_SHA": checkout.sha,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": checkout.base,
    }
    words = [sys.executable, "-m", "linewitness", "ci", "gitlab"]
    done = subprocess.run(words, cwd=checkout.folder, env=variables, check=False, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    folder = checkout.folder / "linewitness-reports"
    names = {path.name for path in folder.iterdir()}
    assert names == {"gl-code-quality-report.json", "junit.xml", "cobertura.xml", "linewitness.html", "map.json"}
    issues = json.loads((folder / "gl-code-quality-report.json").read_bytes())
    assert {issue["location"]["path"] for issue in issues} == {"shop/prices.py"}
