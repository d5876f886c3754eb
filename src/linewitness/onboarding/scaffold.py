"""``init``: the files that a repository needs before the gate can judge it, planned first and written afterwards.

Nothing that exists is ever overwritten or added to: whoever has a file of that name is told what to put into it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from linewitness import atomic, settings
from linewitness.errors import UsageError
from linewitness.guard.install import Planned as HookSettings
from linewitness.model import RepoPath
from linewitness.onboarding import ci_files, first_checks, survey
from linewitness.onboarding.first_checks import Candidate
from linewitness.onboarding.survey import ExistingTests
from linewitness.patch.repository import Repository
from linewitness.reports.words import plural
from linewitness.settings import Settings
from linewitness.trust.codeowners import PLACES
from linewitness.trust.undo import shell_quote

_SETTINGS: Final = "linewitness.toml"
_OWNERS: Final = "CODEOWNERS"
_SHOWN: Final = 3
_PYTEST_SECTION: Final = re.compile(
    r"^\[(?:tool[.:])?pytest(?:\.ini_options)?\]([^\n]*\n.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL
)
_OWNED: Final = ("/CODEOWNERS", "/linewitness.toml", "/tests/relations/", "/tests/waivers.yaml")


class State(StrEnum):
    """What becomes of a planned file."""

    CREATE = "create"
    COMPLETE = "complete"
    KEEP = "keep"


class Item(NamedTuple):
    """One file of the plan. ``purpose`` is a phrase; ``note`` says what is to be done by hand when the file exists."""

    path: RepoPath
    state: State
    content: bytes
    purpose: str
    note: str = ""


class Todo(NamedTuple):
    """Something that only a person can do; ``command`` does it, or its first step, where there is one."""

    text: str
    command: str = ""


class Plan(NamedTuple):
    """Everything that ``init`` would do in the work tree at ``root``, and what it leaves to people, in order."""

    root: Path
    target: str
    items: tuple[Item, ...]
    by_hand: tuple[Todo, ...]

    @property
    def new_files(self) -> tuple[RepoPath, ...]:
        """The paths that do not exist yet."""
        return tuple(item.path for item in self.items if item.state is State.CREATE)


def _agent_items(names: Sequence[str], root: Path) -> Iterator[Item]:
    """The hook settings of some agents, which are completed where they exist already."""
    from linewitness.guard import agents, install

    for name in dict.fromkeys(names):
        hook = install.settings_of(agents.find(name), root)
        path = RepoPath(hook.path.relative_to(root).as_posix())
        purpose = "asks the gate before the agent changes anything"
        yield Item(path, _state_of(hook), hook.content or b"", purpose, "\n".join(hook.notes))


def _state_of(hook: HookSettings) -> State:
    if hook.content is None:
        return State.KEEP
    return State.COMPLETE if hook.path.exists() else State.CREATE


def plan(repository: Repository, owner: str = "", ci: str = "none", agents: Sequence[str] = ()) -> Plan:
    """Look at a work tree and decide what it lacks.

    ``owner`` is the handle that CODEOWNERS names, or empty; ``ci`` is a key of :data:`ci_files.SERVICES`; ``agents``
    are those whose hook settings are wanted.

    Errors: :class:`UsageError` for a repository without a work tree, for an impossible owner, for settings that are
    there and cannot be read, and for an agent that is not known or whose settings cannot be completed without loss.
    """
    if repository.bare:
        raise UsageError("a bare repository has no files to prepare: run this in a clone", path=str(repository.root))
    if owner and not _is_owner(owner):
        raise UsageError(f"`{owner}` is no owner: give a handle such as @org/team, or an address")
    present = _Present.look(repository)
    items = [_settings_item(present), *_folders(present), _waivers(present)]
    if owner:
        items.append(_code_owners(present, owner))
    items += [present.item(file.path, file.content, file.purpose, file.note) for file in ci_files.SERVICES[ci]()]
    items += _agent_items(agents, repository.root)
    return Plan(repository.root, present.target, tuple(items), _by_hand(present, items, owner, ci))


def write(planned: Plan) -> None:
    """Write the files of a plan. Errors: :class:`UsageError` naming the path when the system refuses."""
    for item in planned.items:
        if item.state is not State.KEEP:
            place = planned.root / item.path
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"cannot be created: {error.strerror or error}", path=str(place.parent)) from error
            atomic.write_bytes(place, item.content)


class _Present(NamedTuple):
    """What the work tree has already."""

    root: Path
    target: str
    chosen: Settings
    origin: str
    existing: ExistingTests
    plugins: tuple[str, ...]
    ranked: tuple[Candidate, ...]

    @classmethod
    def look(cls, repository: Repository) -> _Present:
        root = repository.root
        loaded = settings.load(lambda path: read(root / path))
        paths = survey.files_here(repository)
        existing = survey.existing_tests(paths, loaded.settings)
        below = tuple(f"{folder}/" for folder in existing.folders)
        tests = {path: text(root, path) for path in paths if path.endswith(".py") and path.startswith(below)}
        plugins = survey.plugins_needed(pytest_settings_text(root), (*tests.values(),)) if existing.folders else ()
        modules = {path: shown for path, shown in tests.items() if survey.is_test_file(path)}
        modules |= {path: text(root, path) for path in existing.loose}
        ranked = first_checks.rank(modules, survey.product_names(paths))
        return cls(root, survey.target_branch(repository), loaded.settings, loaded.origin, existing, plugins, ranked)

    @property
    def adopts(self) -> bool:
        """Whether the suite that is there becomes the trusted one, so that no folder is needed for it."""
        return not self.origin and bool(self.existing.folders)

    def item(self, path: str, content: str, purpose: str, note: str = "") -> Item:
        state = State.KEEP if os.path.lexists(self.root / path) else State.CREATE
        return Item(RepoPath(path), state, content.encode(), purpose, note if state is State.KEEP else "")

    def folder(self, path: str, readme: str, purpose: str) -> Item:
        """A new folder gets a file that says what it is for, since git keeps no empty one."""
        if os.path.lexists(self.root / path):
            return Item(RepoPath(path), State.KEEP, b"", purpose)
        return self.item(f"{path}/README.md", readme, purpose)


def read(path: Path) -> bytes | None:
    """The bytes of an ordinary file of the work tree, or ``None``."""
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", path=str(path)) from error


def text(root: Path, path: str) -> str:
    """The text of a file, decoded somehow: it is only searched for well-known words."""
    return (read(root / path) or b"").decode("utf-8", "replace")


def pytest_settings_text(root: Path) -> str:
    """The section in which pytest finds its settings, as text; empty when there is none.

    Errors: :class:`linewitness.errors.EvidenceError` when pytest could not read the file either.
    """
    from linewitness.evidence.pytest_settings import read_pytest_settings

    file = read_pytest_settings(root, "9").file
    section = _PYTEST_SECTION.search(text(root, file)) if file else None
    return section[1] if section else ""


# ---------------------------------------------------------------- the files


def _settings_item(present: _Present) -> Item:
    if present.origin and present.origin != _SETTINGS:
        return Item(RepoPath(present.origin), State.KEEP, b"", "the settings of the gate, in [tool.linewitness]")
    return present.item(_SETTINGS, _settings_text(present), "the settings of the gate")


def _settings_text(present: _Present) -> str:
    lines = [
        "# The settings of the merge gate. They are read from the target branch, never from the patch that is judged.",
        "# `linewitness schema settings` lists all keys.",
        "",
        "# The branch that patches are merged into.",
        f"target-branch = {_toml(present.target or 'main')}",
        "",
    ]
    if present.adopts:
        lines += [
            "# The suite that is here becomes the trusted one: people own it, and no patch of an agent may edit it.",
            "# Agents write their tests into tests/generated/; those are never a witness.",
            f"trusted = [{', '.join(map(_toml, _adopted(present.existing)))}]",
        ]
    else:
        lines += [
            "# The checks that people own. No patch of an agent may edit them.",
            'trusted = ["tests/trusted/**"]',
        ]
    if present.plugins:
        lines += [
            "",
            "# The trusted run loads no pytest plugin but these.",
            "[[suite]]",
            'runner = "pytest"',
            f"plugins = [{', '.join(map(_toml, present.plugins))}]",
        ]
    return "\n".join(lines) + "\n"


def _adopted(existing: ExistingTests) -> list[str]:
    return [*(f"{_literally(folder)}/**" for folder in existing.folders), "!tests/generated/**"]


def _literally(path: str) -> str:
    return "".join(f"\\{char}" if char in "*?[\\!#" else char for char in path)


def _toml(text: str) -> str:
    """A TOML basic string: for printable text JSON's strings are the same."""
    return json.dumps(text, ensure_ascii=False)


def _folders(present: _Present) -> list[Item]:
    """The folders that the settings speak of, where they still have their usual names."""
    chosen = present.chosen
    wanted = [
        ("tests/trusted", _TRUSTED, "the checks that people own", () if present.adopts else chosen.trusted),
        ("tests/relations", _RELATIONS, "relations that reviewers accepted", chosen.relations),
        ("tests/generated", _GENERATED, "tests that agents write; never a witness", chosen.generated),
    ]
    return [present.folder(path, readme, purpose) for path, readme, purpose, globs in wanted if f"{path}/**" in globs]


def _waivers(present: _Present) -> Item:
    return present.item(present.chosen.waivers, _WAIVERS, "the only way past the gate without a witness")


def _code_owners(present: _Present, owner: str) -> Item:
    place = next((name for name in PLACES if os.path.lexists(present.root / name)), _OWNERS)
    lines = owner_lines(present.chosen if present.origin else None, present.existing, owner)
    return present.item(place, "\n".join(lines) + "\n", "who has to agree to changes of protected content", _add(lines))


def _add(lines: Sequence[str]) -> str:
    return "add these lines to it:\n" + "\n".join(f"  {line}" for line in lines)


def owner_lines(chosen: Settings | None, existing: ExistingTests, owner: str) -> list[str]:
    """The CODEOWNERS lines that give protected content to ``owner``. ``chosen`` are settings that are there already."""
    if chosen is None:
        trusted = [f"/{folder}/" for folder in existing.folders] or ["/tests/trusted/"]
    else:
        trusted = [f"/{glob.removesuffix('**')}" for glob in chosen.trusted if not glob.startswith("!")]
    paths = sorted({*trusted, *_OWNED})
    width = max(map(len, paths))
    lines = [f"{path.replace(' ', chr(92) + ' '):<{width}} {owner}" for path in paths]
    # The last pattern that matches decides: agents write here, so nobody has to agree.
    return [*lines, "/tests/generated/"]


def _is_owner(owner: str) -> bool:
    name = owner.removeprefix("@")
    return bool(name) and "@" in owner and not any(char.isspace() or not char.isprintable() for char in owner)


# ---------------------------------------------------------------- what people do


def _by_hand(present: _Present, items: Sequence[Item], owner: str, ci: str) -> tuple[Todo, ...]:
    target = present.target or "main"
    return (
        *_landing([item.path for item in items if item.state is not State.KEEP], target),
        *_first_checks(present),
        *_naming_owners(present, owner),
        Todo(
            f"Protect {target} on the forge: require a review by code owners, and the gate as a status check. "
            "Without that the gate advises and does not decide."
        ),
        Todo("See what is still missing.", "linewitness doctor"),
    )


def _landing(created: Sequence[str], target: str) -> Iterator[Todo]:
    if created:
        files = " ".join(map(shell_quote, created))
        yield Todo(
            f"Land these files on {target} before anything else: settings and trusted checks are read from there, "
            "never from the patch.",
            f"git add {files} && git commit -m 'Prepare for the merge gate'",
        )


def _first_checks(present: _Present) -> Iterator[Todo]:
    good = [candidate for candidate in present.ranked if candidate.says_something]
    best = "; ".join(f"{candidate.path} ({candidate.why})" for candidate in good[:_SHOWN])
    if present.origin:
        return
    if present.adopts:
        count = plural(len(present.ranked), "test module")
        yield Todo(f"Read what becomes trusted: {count}, and best first {best or 'none that asserts anything'}.")
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


def _saying_nothing(present: _Present) -> Iterator[Todo]:
    """Tests that would be witnesses of lines about which they say nothing."""
    empty = [candidate.path for candidate in present.ranked if candidate.tests and not candidate.assertions]
    if empty:
        more = f" and {len(empty) - _SHOWN} more" if len(empty) > _SHOWN else ""
        yield Todo(
            f"Mend tests that assert nothing, or take them out of `trusted`; they would witness whatever they run: "
            f"{', '.join(empty[:_SHOWN])}{more}."
        )


def _naming_owners(present: _Present, owner: str) -> Iterator[Todo]:
    if not owner and not any(os.path.lexists(present.root / name) for name in PLACES):
        yield Todo("Name who owns the protected paths, for CODEOWNERS.", "linewitness init --owner @org/team")


_TRUSTED: Final = """\
# Trusted checks

Tests in this folder are witnesses: a changed line that one of them runs, and passes, is discharged. People own them.
A patch that touches this folder without approval is not judged at all.
"""

_RELATIONS: Final = """\
# Relations

Metamorphic relations: tests that compare the product with itself on related inputs, over a frozen corpus. They are
witnesses, like trusted checks, and people own them.

Put the inputs into `corpus/` beside this file and run `linewitness corpus freeze`: it writes the manifest that pins
them.
"""

_GENERATED: Final = """\
# Generated tests

Agents may write any tests here. They owe nothing and they are never a witness: what discharges a changed line is a
check in the trusted tests, a relation, or a waiver.
"""

_WAIVERS: Final = """\
# Dated, owned, reasoned exceptions, one for each line.
# `linewitness waive PATH:LINE --reason REASON --owner OWNER` adds one.
waivers: []
"""
