"""``doctor``: every check as a small function in a table, in the order in which troubles have to be mended.

A check looks and tells; it changes nothing. The checks of one stage are made together. What a later stage looks at
cannot be had while an earlier one is in trouble, so the examination ends with the first stage that closes the gate.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from linewitness.case import Question, open_case
from linewitness.errors import LinewitnessError, PatchError, UsageError
from linewitness.onboarding import content_checks, history_checks, language_checks, machine_checks, place_checks
from linewitness.onboarding.trouble import History, Patient, Trouble
from linewitness.patch.repository import Repository
from linewitness.values import NamedTuple

HISTORY: Final[tuple[Callable[[History], Iterator[Trouble]], ...]] = (
    history_checks.no_commit,
    history_checks.replaced_objects,
    history_checks.grafts,
    history_checks.no_target_branch,
    history_checks.unrelated_histories,
    history_checks.shallow_clone,
)
"""Whether there are two trees to compare, and whether they can be believed."""

CONTENT: Final[tuple[Callable[[Patient], Iterator[Trouble]], ...]] = (
    content_checks.settings_not_landed,
    content_checks.no_trusted_check,
    content_checks.protected_content_changed,
    content_checks.generated_tests_among_trusted,
    content_checks.corpora_not_frozen,
    content_checks.waivers_that_do_not_hold,
    content_checks.waivers_that_end_soon,
    content_checks.nobody_owns_protected_paths,
    content_checks.no_approvers,
    content_checks.approvers_that_list_nobody,
    place_checks.no_ci_job,
    place_checks.agents_without_hook,
    language_checks.languages_without_suite,
)
"""What the two trees hold."""

TESTS: Final[tuple[Callable[[Patient], Iterator[Trouble]], ...]] = (
    language_checks.grammars_missing,
    machine_checks.interpreter,
    machine_checks.plugins_not_listed,
    machine_checks.no_sandbox,
)
"""Whether patches can be judged and the trusted checks run on this machine."""


class Report(NamedTuple):
    """The troubles, those that close the gate first, and what was examined (empty when that is not known)."""

    troubles: tuple[Trouble, ...]
    base: str = ""
    head: str = ""

    @property
    def closes(self) -> bool:
        """Whether anything would keep the gate closed, whatever the patch does."""
        return any(trouble.closes for trouble in self.troubles)


def examine(root: Path, question: Question, today: dt.date) -> Report:
    """Examine the repository around ``root``. ``question`` names what ``check`` would be asked to compare."""
    try:
        repository = Repository(root)
    except PatchError as error:
        return Report((history_checks.not_a_repository(root, error),))
    with repository:
        troubles = tuple(trouble for check in HISTORY for trouble in check(History(repository, question)))
        if any(trouble.closes for trouble in troubles):
            return Report(_ordered(troubles))
        try:
            patient = Patient(open_case(repository, question), question, today)
        except LinewitnessError as error:
            return Report(_ordered((*troubles, _refused(error))))
        troubles += tuple(_found(patient))
        return Report(_ordered(troubles), patient.case.base.commit or "", patient.case.head.commit or "")


def _found(patient: Patient) -> Iterator[Trouble]:
    """Troubles of content and tests. Whatever keeps a check from being made is a trouble itself, told once."""
    told: set[str] = set()
    for check in (*CONTENT, *TESTS):
        try:
            yield from check(patient)
        except LinewitnessError as error:
            if str(error) not in told:
                told.add(str(error))
                yield Trouble("cannot-be-checked", True, error.message, "", error.path, error.line)


def _refused(error: LinewitnessError) -> Trouble:
    """Why the trees could not be opened: settings that are not valid, or something that git said."""
    if isinstance(error, UsageError) and error.path:
        message = f"the settings are not valid, so every patch is refused: {error.message}"
        return Trouble("settings-invalid", True, message, "linewitness schema settings", error.path, error.line)
    return Trouble("patch-not-readable", True, error.message, "", error.path, error.line)


def _ordered(troubles: tuple[Trouble, ...]) -> tuple[Trouble, ...]:
    return tuple(sorted(troubles, key=lambda trouble: not trouble.closes))
