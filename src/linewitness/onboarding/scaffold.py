"""``init``: the files that a repository needs before the gate can judge it, planned first and written afterwards.

Nothing that exists is ever overwritten or added to: whoever has a file of that name is told what to put into it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from linewitness import atomic
from linewitness.errors import UsageError
from linewitness.guard.install import Planned as HookSettings
from linewitness.model import RepoPath
from linewitness.onboarding import by_hand, ci_files
from linewitness.onboarding.by_hand import Todo
from linewitness.onboarding.present import Item, Present, State
from linewitness.onboarding.survey import ExistingTests
from linewitness.patch.repository import Repository
from linewitness.settings import Settings
from linewitness.trust.codeowners import PLACES
from linewitness.values import NamedTuple

_SETTINGS: Final = "linewitness.toml"
_OWNERS: Final = "CODEOWNERS"
_OWNED: Final = ("/.linewitness/", "/CODEOWNERS", "/linewitness.toml", "/tests/relations/", "/tests/waivers.yaml")


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
    present = Present.look(repository)
    items = [_settings_item(present), *_folders(present), _waivers(present)]
    more = [
        present.item(file.path, file.content, file.purpose, file.note) for file in ci_files.SERVICES[ci](present.extras)
    ]
    more += _agent_items(agents, repository.root)
    if owner:
        items.append(_code_owners(present, owner, [*present.definitions, *(item.path for item in more)]))
    items += more
    return Plan(repository.root, present.target, tuple(items), by_hand.todos(present, items, owner, ci))


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


# ---------------------------------------------------------------- the files


def _settings_item(present: Present) -> Item:
    if present.origin and present.origin != _SETTINGS:
        return Item(RepoPath(present.origin), State.KEEP, b"", "the settings of the gate, in [tool.linewitness]")
    return present.item(_SETTINGS, _settings_text(present), "the settings of the gate")


def _settings_text(present: Present) -> str:
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
    if present.sensitive:
        lines += [
            "",
            "# Changes here deserve a security review. The gate says so (LW601), and judges them like all others.",
            f"sensitive = [{', '.join(map(_toml, present.sensitive))}]",
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


def _folders(present: Present) -> list[Item]:
    """The folders that the settings speak of, where they still have their usual names."""
    chosen = present.chosen
    wanted = [
        ("tests/trusted", _TRUSTED, "the checks that people own", () if present.adopts else chosen.trusted),
        ("tests/relations", _RELATIONS, "relations that reviewers accepted", chosen.relations),
        ("tests/generated", _GENERATED, "tests that agents write; never a witness", chosen.generated),
    ]
    return [present.folder(path, readme, purpose) for path, readme, purpose, globs in wanted if f"{path}/**" in globs]


def _waivers(present: Present) -> Item:
    return present.item(present.chosen.waivers, _WAIVERS, "the only way past the gate without a witness")


def _code_owners(present: Present, owner: str, steering: Sequence[str]) -> Item:
    place = next((name for name in PLACES if os.path.lexists(present.root / name)), _OWNERS)
    chosen = present.chosen if present.origin else None
    lines = owner_lines(chosen, present.existing, owner, steering)
    return present.item(place, "\n".join(lines) + "\n", "who has to agree to changes of protected content", _add(lines))


def _add(lines: Sequence[str]) -> str:
    return "add these lines to it:\n" + "\n".join(f"  {line}" for line in lines)


def owner_lines(
    chosen: Settings | None, existing: ExistingTests, owner: str, steering: Sequence[str] = ()
) -> list[str]:
    """The CODEOWNERS lines that give protected content to ``owner``.

    ``chosen`` are settings that are there already; ``steering`` are files of CI services and agents.
    """
    if chosen is None:
        trusted = [f"/{folder}/" for folder in existing.folders] or ["/tests/trusted/"]
    else:
        trusted = [f"/{glob.removesuffix('**')}" for glob in chosen.trusted if not glob.startswith("!")]
    tops = [f"/{path.partition('/')[0]}{'/' if '/' in path else ''}" for path in steering]
    paths = sorted({*trusted, *_OWNED, *tops})
    width = max(map(len, paths))
    lines = [f"{path.replace(' ', chr(92) + ' '):<{width}} {owner}" for path in paths]
    # The last pattern that matches decides: agents write here, so nobody has to agree.
    return [*lines, "/tests/generated/"]


def _is_owner(owner: str) -> bool:
    name = owner.removeprefix("@")
    return bool(name) and "@" in owner and not any(char.isspace() or not char.isprintable() for char in owner)


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
