"""GitLab CI: the pipeline that a job belongs to. Source: GitLab's documentation, "Predefined CI/CD variables"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from linewitness.errors import UsageError
from linewitness.integrations import Errand

_NO_COMMIT: Final = "0" * 40


def errand(environ: Mapping[str, str]) -> Errand:
    """What the job is about, from its predefined variables. Errors: :class:`UsageError` outside of a job."""
    head = environ.get("CI_COMMIT_SHA", "")
    if environ.get("GITLAB_CI") != "true" or not head:
        raise UsageError("this is no job of GitLab CI: GITLAB_CI and CI_COMMIT_SHA are not set")
    if environ.get("CI_MERGE_REQUEST_IID"):
        return _merge_request(environ, head)
    before = environ.get("CI_COMMIT_BEFORE_SHA", _NO_COMMIT)
    if before == _NO_COMMIT or environ.get("CI_PIPELINE_SOURCE") != "push":
        return Errand(None, head, "the branch against the default branch")
    return Errand(before, head, "what was pushed")


def _merge_request(environ: Mapping[str, str], head: str) -> Errand:
    """Pipelines for merged results and merge trains run on a merge with the target branch, others on the branch."""
    branch = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    merged = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "")
    base = merged or environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "")
    if not base:
        raise UsageError("the merge request's base is unknown: CI_MERGE_REQUEST_DIFF_BASE_SHA is not set")
    return Errand(base, head, f"the merge request into {branch}")
