"""The target branch as people call it, and commands that bring something there.

What the gate reads from base has to be landed on the target branch: committed on the branch that is judged, it would
be a change of protected content and close the gate.
"""

from __future__ import annotations

from linewitness.errors import LinewitnessError
from linewitness.onboarding import survey
from linewitness.onboarding.trouble import Patient
from linewitness.trust.undo import shell_quote
from linewitness.values import NamedTuple

_HEADS = "refs/heads/"
_REMOTES = "refs/remotes/"


class Target(NamedTuple):
    """``name`` is what to show, ``branch`` the local branch (empty: it is none), ``remote`` where it is pushed to."""

    name: str
    branch: str
    remote: str

    @classmethod
    def of(cls, patient: Patient) -> Target:
        """The target of the examination: the branch that ``--base`` names, else the one that ``check`` would take."""
        ref = _ref(patient)
        if ref.startswith(_HEADS):
            branch = ref.removeprefix(_HEADS)
            return cls(branch, branch, "")
        if ref.startswith(_REMOTES):
            remote, _, branch = ref.removeprefix(_REMOTES).partition("/")
            return cls(f"{remote}/{branch}", branch, remote)
        shown = patient.question.base or (patient.case.base.commit or "")[:12]
        return cls(shown, "", "")

    def landing(self, patient: Patient, commands: str) -> str:
        """``commands``, which end with a commit, on the target branch; then back. Empty when there is no branch."""
        if not self.branch:
            return ""
        branch, remote = shell_quote(self.branch), shell_quote(self.remote)
        here = survey.current_branch(patient.case.repository)
        steps = [commands]
        if self.remote:
            steps = [f"git pull -q --ff-only {remote} {branch}", commands, f"git push -q {remote} {branch}"]
        if here != self.branch:
            steps = [f"git switch -q {branch}", *steps, "git switch -q -", f"git rebase -q {branch}"]
        return " && ".join(steps)


def _ref(patient: Patient) -> str:
    """The full name of the target branch, or nothing when it is not a branch."""
    repository, named = patient.case.repository, patient.case.loaded.settings.target_branch
    given = patient.question.base
    if given is None:
        try:
            given = repository.default_base(named)
        except LinewitnessError:
            return ""
    full = repository.run("rev-parse", "--symbolic-full-name", "--end-of-options", given, ok=(0, 128))
    # Without an option of its own git repeats what ends the options.
    return full.decode("utf-8", "surrogateescape").strip().removeprefix("--end-of-options").strip()
