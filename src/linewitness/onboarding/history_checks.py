"""Checks of a repository's history: whether there is a pair of trees to compare, and whether it can be believed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from linewitness.errors import LinewitnessError, PatchError
from linewitness.onboarding import survey
from linewitness.onboarding.trouble import History, Trouble
from linewitness.patch.repository import Repository
from linewitness.trust.undo import shell_quote

_FIRST_COMMIT = "git add --all && git commit -m 'First commit'"


def not_a_repository(root: Path, error: PatchError) -> Trouble:
    """There is nothing to look at."""
    command = f"git init -b main {shell_quote(str(root))}" if "not inside of a git repository" in error.message else ""
    return Trouble("not-a-repository", True, error.message, command)


def no_commit(history: History) -> Iterator[Trouble]:
    """A repository without a commit has no tree."""
    born = history.repository.run("rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1))
    if not born:
        yield Trouble("no-commit", True, "nothing has been committed here, so there is no patch", _FIRST_COMMIT)


def replaced_objects(history: History) -> Iterator[Trouble]:
    """Replace refs show people another history than the gate sees."""
    listed = history.repository.run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/replace/").decode().split()
    if listed:
        message = f"{len(listed)} replace refs put other objects in the place of this history's own"
        yield Trouble("replaced-objects", True, message, f"git replace -d {' '.join(listed)}")


def grafts(history: History) -> Iterator[Trouble]:
    """A grafts file does the same with parents."""
    file = history.repository.common_dir / "info" / "grafts"
    if file.is_file() and file.stat().st_size:
        message = "a grafts file gives commits other parents than they have"
        yield Trouble("grafts", True, message, f"rm {shell_quote(str(file))}", str(file))


def no_target_branch(history: History) -> Iterator[Trouble]:
    """Without a branch that patches are for there is no base."""
    problem = _target_problem(history)
    if problem:
        yield Trouble("no-target-branch", True, problem, _target_command(history.repository))


def _target_problem(history: History) -> str:
    repository = history.repository
    if not repository.run("rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1)):
        return ""
    try:
        repository.resolve(history.question.base or repository.default_base())
    except PatchError as error:
        return error.message
    return ""


def _target_command(repository: Repository) -> str:
    remotes = repository.run("remote").decode("utf-8", "surrogateescape").split("\n")[:-1]
    if remotes:
        remote = shell_quote("origin" if "origin" in remotes else remotes[0])
        return f"git fetch {remote} && git remote set-head {remote} --auto"
    branch = survey.current_branch(repository)
    return f"linewitness doctor --base {shell_quote(branch)}" if branch else "linewitness doctor --base HEAD"


def unrelated_histories(history: History) -> Iterator[Trouble]:
    """Base is the merge base, so there has to be one."""
    repository = history.repository
    try:
        name = history.question.base or repository.default_base()
        target, head = repository.resolve(name), repository.resolve(history.question.head)
    except LinewitnessError:
        return
    try:
        repository.merge_base(target, head)
    except PatchError as error:
        mend = _DEEPEN if repository.shallow else f"git rebase --onto {shell_quote(name)} --root"
        yield Trouble("no-merge-base", True, error.message, mend)


_DEEPEN = "git fetch --unshallow"


def shallow_clone(history: History) -> Iterator[Trouble]:
    """A shallow clone works as long as the merge base is inside; the next patch may not be so lucky."""
    if history.repository.shallow:
        message = "this clone is shallow: a patch whose merge base was cut off cannot be judged (in CI: fetch-depth: 0)"
        yield Trouble("shallow-clone", False, message, _DEEPEN)
