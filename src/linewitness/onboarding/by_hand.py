"""What ``init`` leaves to people: landing files, choosing checks, naming owners, and everything on the forge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

from linewitness.onboarding import survey
from linewitness.onboarding.present import Item, Present, State, read
from linewitness.reports.words import plural
from linewitness.trust.codeowners import PLACES
from linewitness.trust.undo import shell_quote
from linewitness.values import NamedTuple

_SHOWN: Final = 3


class Todo(NamedTuple):
    """Something that only a person can do; ``command`` does it, or its first step, where there is one."""

    text: str
    command: str = ""


def todos(present: Present, items: Sequence[Item], owner: str, ci: str) -> tuple[Todo, ...]:
    """What is left to people, in order. ``items`` are the planned files; ``owner`` and ``ci`` as for the plan."""
    target = present.target or "main"
    return (
        *_landing(present, [item.path for item in items if item.state is not State.KEEP], target),
        *_first_checks(present),
        *_naming_owners(present, owner),
        *_offers(present, items, ci),
        Todo(_FORGES[ci].format(target=target)),
        Todo("See what is still missing.", "linewitness doctor"),
    )


def _offers(present: Present, items: Sequence[Item], ci: str) -> Iterator[Todo]:
    """What this command could do besides, when it was not asked to."""
    running = any(survey.runs_the_gate(read(present.root / path) or b"") for path in present.definitions)
    if ci == "none" and not running:
        gitlab = any(path.startswith(".gitlab") for path in present.definitions)
        others = [path for path in present.definitions if not path.startswith((".github/", ".gitlab"))]
        service = f"linewitness init --ci {'gitlab' if gitlab else 'github'}"
        yield Todo("Have CI run the gate.", "" if others and not gitlab else service)
    planned = {item.path for item in items}
    for agent in survey.agents_here(present.root):
        hook = present.root / agent.settings
        if agent.settings not in planned and not survey.runs_the_gate(read(hook) or b""):
            yield Todo(
                f"Have {agent.title} ask the gate before it changes anything.", f"linewitness init --agent {agent.name}"
            )


_DECIDES: Final = " Without that the gate advises and does not decide."
_FORGES: Final = {
    "none": "Protect {target} on the forge: nobody pushes to it, a change needs a review by code owners, and the gate "
    f"is a status check that has to pass.{_DECIDES}",
    "github": "On GitHub, make a ruleset for {target} (Settings, Rules): require a pull request with a review from "
    "code owners, dismiss approvals when commits are pushed, and require the status check `linewitness`. A pull "
    f"request brings its own workflows, so code owners have to own .github/ too.{_DECIDES}",
    "gitlab": "On GitLab, protect {target} (Settings, Repository): nobody pushes, and code owners have to approve. "
    f"Under Merge requests tick `Pipelines must succeed`. Code owners have to own .gitlab-ci.yml too.{_DECIDES}",
}


def _landing(present: Present, created: Sequence[str], target: str) -> Iterator[Todo]:
    if created:
        there = "" if present.here in ("", target) else f"git switch {shell_quote(target)} && "
        files = " ".join(map(shell_quote, created))
        yield Todo(
            f"Land these files on {target} before anything else: settings and trusted checks are read from there, "
            "never from the patch.",
            f"{there}git add {files} && git commit -m 'Prepare for the merge gate'",
        )


def _first_checks(present: Present) -> Iterator[Todo]:
    good = [candidate for candidate in present.ranked if candidate.says_something]
    best = "; ".join(f"{candidate.path} ({candidate.why})" for candidate in good[:_SHOWN])
    if present.origin or present.trusted:
        return
    if present.adopts:
        count = plural(len(present.ranked), "test module")
        start = f"Start with {best}" if best else "None of them asserts anything about the product"
        yield Todo(f"Read what becomes trusted, {count}. {start}.")
        yield from _saying_nothing(present)
    elif good:
        files = " ".join(shell_quote(candidate.path) for candidate in good[:_SHOWN])
        yield Todo(
            f"Make the first trusted checks of tests that run the product and assert something: {best}. Run them again "
            "after the move.",
            f"git mv {files} tests/trusted/ && git commit -m 'The first trusted checks'",
        )
    else:
        yield Todo("Write the first check into tests/trusted/: one that runs the product and asserts what comes out.")


def _saying_nothing(present: Present) -> Iterator[Todo]:
    """Tests that would be witnesses of lines about which they say nothing."""
    empty = [candidate.path for candidate in present.ranked if candidate.tests and not candidate.assertions]
    if empty:
        more = f" and {len(empty) - _SHOWN} more" if len(empty) > _SHOWN else ""
        yield Todo(
            f"Mend tests that assert nothing, or take them out of `trusted`; they would witness whatever they run: "
            f"{', '.join(empty[:_SHOWN])}{more}."
        )


def _naming_owners(present: Present, owner: str) -> Iterator[Todo]:
    if not owner and not any(os.path.lexists(present.root / name) for name in PLACES):
        yield Todo("Name who owns the protected paths, for CODEOWNERS.", "linewitness init --owner @org/team")
