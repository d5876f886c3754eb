"""Checks of what surrounds the gate: the CI job that makes it decide, and the agents that could ask it beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from linewitness.errors import UsageError
from linewitness.guard import install
from linewitness.guard.agents import Agent
from linewitness.onboarding import survey
from linewitness.onboarding.content_checks import is_behind_settings
from linewitness.onboarding.target import Target
from linewitness.onboarding.trouble import Patient, Trouble
from linewitness.trust.undo import shell_quote

_GITLAB: Final = ".gitlab-ci.yml"


def no_ci_job(patient: Patient) -> Iterator[Trouble]:
    """A gate that nobody has to pass decides nothing."""
    case = patient.case
    if is_behind_settings(patient):
        return
    definitions = survey.ci_definitions(sorted(case.head_tree))
    if any(survey.runs_the_gate(case.read_head(path) or b"") for path in definitions):
        return
    target = Target.of(patient)
    message = f"no CI definition of {target.name} runs the gate, so it decides about no merge"
    if _GITLAB in case.head_tree:
        lines = f"{message}: add the lines that this prints to {_GITLAB}"
        yield Trouble("no-ci-job", False, lines, "linewitness init --ci gitlab", _GITLAB)
    elif definitions and not definitions[0].startswith(".github/"):
        yield Trouble("no-ci-job", False, f"{message}: have a job there run `linewitness check`", "", definitions[0])
    else:
        add = "linewitness init --ci github && git add .github/workflows && git commit -q -m 'Run the merge gate'"
        yield Trouble("no-ci-job", False, message, target.landing(patient, add))


def agents_without_hook(patient: Patient) -> Iterator[Trouble]:
    """An agent that works here could be told at the step that makes the mistake."""
    repository = patient.case.repository
    if repository.bare or is_behind_settings(patient):
        return
    for agent in survey.agents_here(repository.root):
        yield from _hook_of(agent, patient)


def _hook_of(agent: Agent, patient: Patient) -> Iterator[Trouble]:
    repository = patient.case.repository
    try:
        missing = install.settings_of(agent, repository.root).content is not None
    except UsageError as error:
        yield Trouble("agent-without-hook", False, f"{agent.title}: {error.message}", "", agent.settings)
        return
    if missing:
        message = f"{agent.title} is at work here and does not ask the gate before it changes protected content"
        mend = f"linewitness guard install {agent.name}"
        if not _is_ignored(patient, agent):
            land = f"{mend} && git add {shell_quote(agent.settings)}"
            mend = Target.of(patient).landing(patient, f"{land} && git commit -q -m 'Let agents ask the gate'")
        yield Trouble("agent-without-hook", False, message, mend, agent.settings)


def _is_ignored(patient: Patient, agent: Agent) -> bool:
    """Whether git would refuse to add the file, so that each clone has its own."""
    listed = patient.case.repository.run("check-ignore", "--", agent.settings, ok=(0, 1))
    return bool(listed.strip())
