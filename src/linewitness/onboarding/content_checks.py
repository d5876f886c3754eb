"""Checks of what base and head hold: settings, trusted checks, protected content, corpora, waivers, owners."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from typing import Final

from linewitness.evidence.pytest_settings import read_pytest_settings
from linewitness.globs import Globs
from linewitness.model import RepoPath
from linewitness.onboarding import first_checks, survey
from linewitness.onboarding.first_checks import Candidate
from linewitness.onboarding.target import Target
from linewitness.onboarding.trouble import Patient, Trouble
from linewitness.settings import SETTINGS_FILE
from linewitness.trust import approvals, codeowners, corpus, signed
from linewitness.trust.undo import remove_command, restore_command, shell_quote
from linewitness.trust.waivers import WaiverFile, load, policy_of
from linewitness.trusted_run import candidates

_FIRST_CHECKS: Final = 3
_MOST_PATHS: Final = 5
_SOON: Final = dt.timedelta(days=14)
_REPAIRS: Final = {
    "LW201": "linewitness waivers check",
    "LW202": "linewitness waivers list",
    "LW205": "linewitness waivers list",
    "LW207": "linewitness waivers list",
}


def settings_not_landed(patient: Patient) -> Iterator[Trouble]:
    """Settings count once they are in base; before that the defaults hold, whatever the work tree says."""
    case, repository = patient.case, patient.case.repository
    if case.loaded.origin:
        return
    target = Target.of(patient)
    if is_behind_settings(patient):
        base = (case.base.commit or "")[:12]
        message = f"{target.name} has settings that this branch is too old to be judged by: base is {base}"
        mend = f"git rebase {shell_quote(target.name)}"
        yield Trouble("settings-not-landed", not _checks(patient), message, mend)
    elif case.read_head(SETTINGS_FILE) is not None:
        message = f"{SETTINGS_FILE} is part of this patch and not on {target.name}: land it there first, on its own"
        take = f"git checkout {case.head.commit} -- {SETTINGS_FILE} && git commit -q -m 'Settings of the merge gate'"
        yield Trouble("settings-not-landed", True, message, target.landing(patient, take), SETTINGS_FILE)
    elif not repository.bare and os.path.lexists(repository.root / SETTINGS_FILE):
        message = f"{SETTINGS_FILE} is not committed, so the defaults hold"
        mend = target.landing(patient, _commit(patient))
        yield Trouble("settings-not-landed", False, message, mend, SETTINGS_FILE)
    else:
        yield Trouble("no-settings", False, f"{target.name} has no settings, so the defaults hold", "linewitness init")


def is_behind_settings(patient: Patient) -> bool:
    """Whether the target branch got its settings after this branch left it."""
    case = patient.case
    tree = case.repository.ls_tree(case.repository.resolve(patient.question.base or Target.of(patient).name).tree)
    return not case.loaded.origin and RepoPath(SETTINGS_FILE) in tree


def _commit(patient: Patient) -> str:
    files = survey.files_here(patient.case.repository)
    new = [path for path in files if _is_scaffold(path) and path not in patient.case.head_tree]
    return f"git add {' '.join(map(shell_quote, new))} && git commit -q -m 'Prepare for the merge gate'"


def _is_scaffold(path: str) -> bool:
    names = ("tests/trusted/README.md", "tests/relations/README.md", "tests/generated/README.md", "tests/waivers.yaml")
    return path in {SETTINGS_FILE, *names, *codeowners.PLACES}


def no_trusted_check(patient: Patient) -> Iterator[Trouble]:
    """Without a check that people own there is nothing to judge a patch by."""
    case = patient.case
    if is_behind_settings(patient) or _checks(patient):
        return
    target = Target.of(patient)
    modules = [path for path in _owned(patient) if path.endswith(".py") and path.rpartition("/")[2] not in _NO_TESTS]
    if modules:
        folder, _, name = modules[0].rpartition("/")
        message = f"{target.name} holds trusted files, and pytest would take none of them for a test"
        move = f"git mv {shell_quote(modules[0])} {shell_quote(f'{folder}/test_{name}')}"
        mend = target.landing(patient, f"{move} && git commit -q -m 'Let pytest find the checks'")
        yield Trouble("no-trusted-check", True, f"{message}: {modules[0]} is one", mend, modules[0])
        return
    message = f"{target.name} holds no test that people own ({', '.join(case.loaded.settings.trusted)})"
    free = _free_tests(patient)
    if not free:
        yield Trouble("no-trusted-check", True, f"{message}, and no other test either: write the first one there")
    elif case.loaded.origin:
        ranked = _ranked(patient, free)
        mend = target.landing(patient, _move(ranked)) if ranked else ""
        best = f": start with tests that are there, such as {ranked[0].path}, which {ranked[0].why}" if ranked else ""
        yield Trouble("no-trusted-check", True, f"{message}{best}", mend)
    else:
        adopt = "`init` proposes settings that make the present suite the trusted one"
        yield Trouble("no-trusted-check", True, f"{message}; {adopt}", "linewitness init")


def _checks(patient: Patient) -> list[RepoPath]:
    """The trusted files of base that pytest would collect."""
    collects = read_pytest_settings(patient.case.repository.root, "9").collects
    return [path for path in _owned(patient) if collects(path)]


def _owned(patient: Patient) -> tuple[RepoPath, ...]:
    return candidates(patient.case._replace(head_tree=patient.case.base_tree))


_NO_TESTS: Final = frozenset({"conftest.py", "__init__.py"})


def _free_tests(patient: Patient) -> list[RepoPath]:
    """Tests of base that are neither trusted nor generated, sorted."""
    settings = patient.case.loaded.settings
    generated = Globs(settings.generated)
    return [path for path in sorted(patient.case.base_tree) if survey.is_test_file(path) and not generated.match(path)]


def _ranked(patient: Patient, tests: Sequence[RepoPath]) -> tuple[Candidate, ...]:
    case = patient.case
    blobs = {path: case.base_tree[path] for path in tests}
    texts = {path: case.read(blob).decode("utf-8", "replace") for path, blob in blobs.items() if blob.is_regular}
    return first_checks.rank(texts, survey.product_names(case.base_tree))


def _move(tests: Sequence[Candidate]) -> str:
    files = " ".join(shell_quote(candidate.path) for candidate in tests[:_FIRST_CHECKS])
    return f"mkdir -p tests/trusted && git mv {files} tests/trusted/ && git commit -q -m 'The first trusted checks'"


def protected_content_changed(patient: Patient) -> Iterator[Trouble]:
    """What ``check`` calls LW301, with the commands that take each change back."""
    case = patient.case
    frozen = approvals.freeze(case, approvals.moment_of(None))
    found = [finding for finding in frozen.findings if finding.code == "LW301"]
    if not found:
        return
    paths = [RepoPath(finding.path) for finding in found]
    shown = ", ".join(paths[:_MOST_PATHS]) + (
        f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
    )
    message = f"the patch changes protected content, so it is not judged at all: {shown}"
    yield Trouble("protected-content-changed", True, message, _take_back(patient, paths), paths[0])


def _take_back(patient: Patient, paths: Sequence[RepoPath]) -> str:
    base = patient.case.base.commit or "HEAD"
    undo = [restore_command(base, path) if path in patient.case.base_tree else remove_command(path) for path in paths]
    return " && ".join([*undo, "git commit -m 'Take protected content back'"])


def generated_tests_among_trusted(patient: Patient) -> Iterator[Trouble]:
    """Generated tests never count, and a reader of the settings should be able to see that."""
    case = patient.case
    settings = case.loaded.settings
    trusted, generated = Globs(settings.trusted), Globs(settings.generated)
    both = next((path for path in sorted(case.head_tree) if trusted.match(path) and generated.match(path)), None)
    if both:
        taken = ", ".join(f'"!{glob}"' for glob in settings.generated if not glob.startswith("!"))
        where = case.loaded.origin or SETTINGS_FILE
        message = f"{both} is under `trusted` and under `generated`; it is never a witness. Add {taken} to `trusted`"
        yield Trouble("generated-among-trusted", False, f"{message} in {where} to say so", "", where)


def corpora_not_frozen(patient: Patient) -> Iterator[Trouble]:
    """A corpus that no manifest pins can be swapped."""
    case = patient.case
    found = corpus.verify(case.base_tree, Globs(case.loaded.settings.relations), case.read)
    for finding in found:
        folder = shell_quote(finding.path.rpartition("/")[0])
        freeze = f"linewitness corpus freeze {folder} && git add {folder} && git commit -q -m 'Freeze the corpus'"
        target = Target.of(patient)
        message = f"on {target.name}: {finding.message}"
        mend = target.landing(patient, freeze)
        yield Trouble("corpus-not-frozen", True, message, mend, finding.path, finding.line)


def waivers_that_do_not_hold(patient: Patient) -> Iterator[Trouble]:
    """One bad record closes the gate for every patch."""
    for finding in _waiver_file(patient).findings:
        command = _REPAIRS.get(finding.code, "linewitness waivers check")
        yield Trouble(
            "waiver-does-not-hold", True, f"{finding.code} {finding.message}", command, finding.path, finding.line
        )


def waivers_that_end_soon(patient: Patient) -> Iterator[Trouble]:
    """Better told a fortnight before than on the morning after."""
    path = patient.case.loaded.settings.waivers
    for waiver in _waiver_file(patient).waivers:
        if dt.date.fromisoformat(waiver.expires) - patient.today <= _SOON:
            message = (
                f"the waiver for {waiver.path} ends on {waiver.expires}: ask {waiver.owner} for a check or a new term"
            )
            yield Trouble("waiver-ends-soon", False, message, "linewitness waivers list", path, waiver.at)


def _waiver_file(patient: Patient) -> WaiverFile:
    case = patient.case
    settings = case.loaded.settings
    policy = policy_of(settings, patient.today, case.read_head)
    return load(case.read_head(settings.waivers), settings.waivers, policy)


def no_approvers(patient: Patient) -> Iterator[Trouble]:
    """Without a list nobody can approve a change of protected content that travels with the code it is about."""
    case = patient.case
    path = case.loaded.settings.approvers
    if is_behind_settings(patient) or RepoPath(path) in case.base_tree:
        return
    target = Target.of(patient)
    message = (
        f"{target.name} lists nobody who may approve changes of protected content, so each has to be landed there on "
        f'its own. A line of {path} is: NAME namespaces="git" and a public SSH key; this makes a key for it'
    )
    yield Trouble("no-approvers", False, message, target.landing(patient, _first_approver(path)))


def _first_approver(path: str) -> str:
    folder, place = shell_quote(path.rpartition("/")[0] or "."), shell_quote(path)
    name = "$(git config user.email || whoami)"
    return (
        f"mkdir -p ~/.ssh {folder}"
        " && { test -e ~/.ssh/approvals.pub || ssh-keygen -q -t ed25519 -C approvals -f ~/.ssh/approvals; }"
        f' && echo "{name} namespaces=\\"git\\" $(cat ~/.ssh/approvals.pub)" > {place}'
        f" && git add {place} && git commit -q -m 'Who may approve changes of protected content'"
    )


def approvers_that_list_nobody(patient: Patient) -> Iterator[Trouble]:
    """A line that lists nobody is found out when its owner's approval does not count, which is late."""
    case = patient.case
    known = signed.approvers_of(case)
    target = Target.of(patient)
    for finding in known.findings if known else ():
        message = f"on {target.name}: {finding.message}"
        yield Trouble("approver-not-listed", False, message, "", finding.path, finding.line)
    if known and not known.listed and not known.findings:
        path = case.loaded.settings.approvers
        message = f"on {target.name}: the list of approvers is empty; a line is: NAME, type of key, key"
        yield Trouble("nobody-can-approve", False, message, "", path)


def nobody_owns_protected_paths(patient: Patient) -> Iterator[Trouble]:
    """The gate sees a changed check; only the forge can ask a person about it."""
    if codeowners.find(patient.case.read_head) is None:
        message = "there is no CODEOWNERS file, so the forge asks nobody before trusted checks and settings change"
        name = "linewitness init --owner @org/team && git add CODEOWNERS"
        land = f"{name} && git commit -q -m 'Name the owners of protected paths'"
        yield Trouble("no-code-owners", False, message, Target.of(patient).landing(patient, land))
