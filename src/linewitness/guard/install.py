"""Hook settings of agents, and hooks of git, put where they belong without losing anything that is there.

A settings file is read, completed and written whole; one that cannot be read exactly (comments, a name twice) is left
alone, and its owner is told what to add.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from linewitness import atomic
from linewitness.errors import UsageError
from linewitness.guard import agents
from linewitness.guard.agents import Agent
from linewitness.hints import did_you_mean
from linewitness.patch.repository import Repository
from linewitness.values import NamedTuple

GIT_HOOKS: Final = {
    "pre-commit": "Refuses staged changes of protected content.",
    "pre-receive": "Refuses pushes that change protected content without an approval.",
}
_SECONDS: Final = 30


class Planned(NamedTuple):
    """One file that would be written; ``content`` is ``None`` when nothing is missing. ``notes`` are for people."""

    path: Path
    content: bytes | None
    executable: bool
    notes: tuple[str, ...]

    def told(self, *, dry_run: bool) -> Iterator[str]:
        """What happens, for people."""
        if self.content is None:
            yield f"left alone    {self.path}: the hook is there"
        else:
            yield f"{'would write' if dry_run else 'wrote':<12}  {self.path}"
            if dry_run:
                yield from (f"              | {line}".rstrip() for line in self.content.decode().splitlines())
        yield from (f"              {note}" for note in self.notes)


def command(agent: Agent) -> str:
    """The command of the hook. Where the program is missing the shell refuses: agents take that for consent."""
    return f"linewitness guard hook {agent.name} || exit 2"


def plan(target: str, folder: Path) -> Planned:
    """What installing for an agent, ``pre-commit`` or ``pre-receive`` would write. Errors: :class:`UsageError`."""
    if target in GIT_HOOKS:
        return _git_hook(target, folder)
    names = [*(agent.name for agent in agents.AGENTS), *GIT_HOOKS]
    try:
        agent = agents.find(target)
    except UsageError:
        raise UsageError(f"`{target}` is none of {', '.join(names)}{did_you_mean(target, names)}") from None
    with Repository(folder) as repository:
        if repository.bare:
            raise UsageError("a bare repository has no files: run this in a clone", path=str(repository.root))
        return settings_of(agent, repository.root)


def write(planned: Planned) -> None:
    """Write what is planned. Errors: :class:`UsageError` when the system refuses."""
    if planned.content is None:
        return
    try:
        planned.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be created: {error.strerror or error}", path=str(planned.path.parent)) from error
    atomic.write_bytes(planned.path, planned.content)
    if planned.executable:
        planned.path.chmod(0o755)


# ---------------------------------------------------------------- agents


def settings_of(agent: Agent, root: Path) -> Planned:
    """The settings file of an agent in the work tree at ``root``, completed. Errors: :class:`UsageError`."""
    path = root / agent.settings
    text = _text(path)
    data = _decoded(path, text, agent) if text.strip() else {}
    changed = _completed(agent, data, path)
    content = (json.dumps(data, indent=_indent(text), ensure_ascii=False) + "\n").encode() if changed else None
    return Planned(path, content, executable=False, notes=_NOTES[agent.name])


def _text(path: Path) -> str:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UsageError("is not a regular file, so it is not touched", path=str(path))
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", path=str(path)) from error


def _decoded(path: Path, text: str, agent: Agent) -> dict[str, Any]:
    by_hand = f"it is left alone; add the hook by hand: {json.dumps(_fresh(agent))}"
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not plain JSON ({error}), so {by_hand}", path=str(path)) from error
    if not isinstance(data, dict):
        raise UsageError(f"is not a JSON object, so {by_hand}", path=str(path))
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def _fresh(agent: Agent) -> dict[str, Any]:
    data: dict[str, Any] = {}
    _completed(agent, data, Path(agent.settings))
    return data


def _indent(text: str) -> int | str:
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    if found is None:
        return 2
    return "\t" if found[1].startswith("\t") else len(found[1])


def _completed(agent: Agent, data: dict[str, Any], path: Path) -> bool:
    """Add the hook where it is missing; whether anything was added."""
    changed = False
    for place, event, entry in _entries(agent, data):
        holder = data
        if place:
            holder = data.setdefault(place, {})
        if not isinstance(holder, dict) or not isinstance(holder.setdefault(event, []), list):
            raise UsageError(f"`{event}` is not a list of hooks, so the file is left alone", path=str(path))
        if not _is_there(holder[event], agent):
            holder[event].append(entry)
            changed = True
    if agent.name in {"cursor", "copilot"} and "version" not in data:
        # The number of the format comes first, as in the documentation.
        rest = dict(data)
        data.clear()
        data.update({"version": 1, **rest})
        changed = True
    return changed


def _is_there(entries: list[Any], agent: Agent) -> bool:
    wanted = {f"guard hook {name}" for name in (agent.name, *agent.aliases)}
    return any(each in text for text in _texts(entries) for each in wanted)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _entries(agent: Agent, data: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Where the hook goes: a key that holds the events (or none), the event, and the entry in its list."""
    run: dict[str, Any] = {"type": "command", "command": command(agent), "timeout": _SECONDS}
    match agent.name:
        case "claude":
            # Without this a hook that takes too long counts as one that had nothing to say (from version 2.1.295).
            return [("hooks", "PreToolUse", {"matcher": "*", "hooks": [run | {"onFailure": "block"}]})]
        case "codex":
            return [("hooks", "PreToolUse", {"hooks": [run]})]
        case "gemini":
            named = {"name": "linewitness", **run, "timeout": _SECONDS * 1000}
            return [("hooks", "BeforeTool", {"hooks": [named]})]
        case "cursor":
            entry = {"command": command(agent), "timeout": _SECONDS, "failClosed": True}
            events = ("preToolUse", "beforeShellExecution", "beforeMCPExecution")
            return [("hooks", event, dict(entry)) for event in events]
        case "copilot":
            return [("hooks", "preToolUse", {"type": "command", "bash": command(agent), "timeoutSec": _SECONDS})]
        case _:
            wrapped = "hooks" if "hooks" in data else ""
            spelt = data.get("hooks", data) if isinstance(data.get("hooks", data), dict) else {}
            event = "PreToolUse" if "PreToolUse" in spelt else "pre_tool_use"
            return [(wrapped, event, {"matcher": "*", "hooks": [run]})]


_NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": ("An administrator's managed settings with `allowManagedHooksOnly` would switch this off.",),
    "codex": ("Codex runs a project's hooks only after you trust the project, and review them with `/hooks`.",),
    "gemini": ("Gemini CLI asks once before it runs a project's hooks.",),
    "cursor": ("Cursor must be restarted to read new hooks.",),
    "copilot": ("The cloud agent needs `linewitness` in its environment: install it in copilot-setup-steps.yml.",),
    "openhands": ("The sandbox of OpenHands needs `linewitness`: install it in .openhands/setup.sh.",),
}


# ---------------------------------------------------------------- git


def _git_hook(name: str, folder: Path) -> Planned:
    with Repository(folder) as repository:
        if (name == "pre-receive") is not repository.bare:
            wanted = "in the bare repository that receives pushes" if name == "pre-receive" else "in a clone with files"
            raise UsageError(f"a {name} hook belongs {wanted}", path=str(repository.root))
        path = _hooks_folder(repository) / name
    line = f"linewitness guard {name}"
    text = _text(path)
    if line in text:
        return Planned(path, None, executable=True, notes=())
    if text:
        raise UsageError(
            f"there is a hook already, and it is left alone; add this line to it: {line} || exit $?", path=str(path)
        )
    content = f"#!/bin/sh\n# {GIT_HOOKS[name]} Written by `linewitness guard install {name}`.\nexec {line}\n"
    notes = ("`git commit --no-verify` skips it: it is a convenience, and no gate.",) if name == "pre-commit" else ()
    return Planned(path, content.encode(), executable=True, notes=notes)


def _hooks_folder(repository: Repository) -> Path:
    """Where git looks for hooks: the repository's own setting counts before the user's."""
    mine = os.environ.get("GIT_CONFIG_GLOBAL") or os.path.expanduser("~/.gitconfig")
    for scope, env in (("--local", {}), ("--global", {"GIT_CONFIG_GLOBAL": mine})):
        asked = repository.run("config", scope, "--type=path", "--get", "core.hooksPath", ok=(0, 1), env=env)
        if value := os.fsdecode(asked.removesuffix(b"\n")):
            return repository.root / value
    return repository.common_dir / "hooks"
