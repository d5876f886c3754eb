"""The agents: how each tells a hook what it is about to do, and how it wants to be answered.

Sources, by agent: code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks, geminicli.com/docs/hooks/reference,
cursor.com/docs/agent/hooks, docs.github.com "GitHub Copilot hooks reference", docs.openhands.dev "Hooks".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from linewitness.errors import LinewitnessError, UsageError
from linewitness.hints import did_you_mean
from linewitness.values import NamedTuple


class DeniedError(LinewitnessError):
    """Something that may not be done; the message says what and why."""


class ShapeError(Exception):
    """A payload that is not what the agent's documentation describes; the message says where."""


class Asked(NamedTuple):
    """What an agent is about to do, in one form for all agents. ``folders`` are where it may be working."""

    tool: str
    arguments: Mapping[str, Any]
    folders: tuple[str, ...]


class Agent(NamedTuple):
    """One agent. ``settings`` is the file in a repository that holds its hooks; ``project`` the variable of its root.

    ``status`` is the exit status of a refusal. Agents that read the answer only after a success get 0.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    settings: str
    project: str
    events: tuple[str, ...]
    status: int
    read: Callable[[Mapping[str, Any], Agent], Asked]
    refusal: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
    allowed: str = ""


# ---------------------------------------------------------------- reading


def text(payload: Mapping[str, Any], key: str, *, needed: bool = True) -> str:
    """A text of the payload. Errors: :class:`ShapeError` when it is missing or no text."""
    value = payload.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or (needed and not value) or "\0" in value:
        raise ShapeError(f"`{key}` is not the text it should be")
    return value


def arguments(value: object, key: str) -> Mapping[str, Any]:
    """Arguments of a tool, which some agents give as the text of a JSON object."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value}
    if not isinstance(value, dict):
        raise ShapeError(f"`{key}` is not an object")
    return value


def _event(payload: Mapping[str, Any], agent: Agent, *keys: str) -> str:
    for key in keys:
        if key in payload:
            event = text(payload, key)
            if event not in agent.events:
                raise ShapeError(f"the event `{event}` is not one that comes before a tool")
            return event
    return ""


def _common(payload: Mapping[str, Any], agent: Agent) -> Asked:
    """Claude Code, Codex CLI and Gemini CLI differ in names of events and tools only."""
    _event(payload, agent, "hook_event_name")
    if "tool_input" not in payload:
        raise ShapeError("`tool_input` is missing")
    given = arguments(payload["tool_input"], "tool_input")
    return Asked(text(payload, "tool_name"), given, (text(payload, "cwd"),))


def _cursor(payload: Mapping[str, Any], agent: Agent) -> Asked:
    event = _event(payload, agent, "hook_event_name")
    version = payload.get("cursor_version", "1")
    if not isinstance(version, str) or not version[:1].isdigit():
        raise ShapeError("`cursor_version` is not a version")
    roots = payload.get("workspace_roots", [])
    if not isinstance(roots, list) or not all(isinstance(root, str) and root for root in roots):
        raise ShapeError("`workspace_roots` is not a list of folders")
    here = text(payload, "cwd", needed=not roots)
    folders = tuple(dict.fromkeys(folder for folder in (here, *roots) if folder))
    if event == "beforeShellExecution":
        return Asked("Shell", {"command": text(payload, "command")}, folders)
    if event in {"beforeReadFile", "beforeTabFileRead"}:
        return Asked("Read", {}, folders)
    if not event and "tool_name" not in payload:
        raise ShapeError("neither `hook_event_name` nor `tool_name` is there")
    return Asked(text(payload, "tool_name"), arguments(payload.get("tool_input"), "tool_input"), folders)


def _copilot(payload: Mapping[str, Any], agent: Agent) -> Asked:
    _event(payload, agent, "hook_event_name", "hookEventName")
    camel = "toolName" in payload
    tool, key = ("toolName", "toolArgs") if camel else ("tool_name", "tool_input")
    if key not in payload:
        raise ShapeError(f"`{key}` is missing")
    return Asked(text(payload, tool), arguments(payload[key], key), (text(payload, "cwd"),))


def _openhands(payload: Mapping[str, Any], agent: Agent) -> Asked:
    if not _event(payload, agent, "event_type", "hook_event_name"):
        raise ShapeError("`event_type` is missing")
    key = "working_dir" if "working_dir" in payload else "cwd"
    return Asked(text(payload, "tool_name"), arguments(payload.get("tool_input"), "tool_input"), (text(payload, key),))


# ---------------------------------------------------------------- answering


def _specific(reason: str, _payload: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": answer}


def _decision(reason: str, _payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"decision": "deny", "reason": reason}


def _permission(reason: str, _payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


def _flat(reason: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer of Copilot; hooks in Claude's spelling are answered in Claude's form as well."""
    answer = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return answer if "tool_name" not in payload else {**answer, **_specific(reason, payload)}


_PRE: Final = ("PreToolUse",)
AGENTS: Final = (
    Agent(
        *("claude", "Claude Code", ("claude-code",), ".claude/settings.json", "CLAUDE_PROJECT_DIR"),
        *(_PRE, 2, _common, _specific),
    ),
    Agent("codex", "Codex CLI", ("codex-cli",), ".codex/hooks.json", "", _PRE, 2, _common, _specific),
    Agent(
        *("gemini", "Gemini CLI", ("gemini-cli",), ".gemini/settings.json", "GEMINI_PROJECT_DIR"),
        *(("BeforeTool",), 2, _common, _decision),
    ),
    Agent(
        *("cursor", "Cursor", ("cursor-agent",), ".cursor/hooks.json", "CURSOR_PROJECT_DIR"),
        ("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeTabFileRead"),
        *(0, _cursor, _permission),
        # With failClosed, Cursor takes an empty answer for a broken hook; an empty object decides nothing.
        "{}",
    ),
    Agent(
        *("copilot", "GitHub Copilot", ("github-copilot", "copilot-cli"), ".github/hooks/linewitness.json", ""),
        *(("PreToolUse", "preToolUse"), 0, _copilot, _flat),
    ),
    Agent(
        *("openhands", "OpenHands", (), ".openhands/hooks.json", "OPENHANDS_PROJECT_DIR"),
        *(("PreToolUse", "pre_tool_use"), 2, _openhands, _decision),
    ),
)


def find(name: str) -> Agent:
    """The agent called ``name``. Errors: :class:`UsageError` with the nearest name."""
    for agent in AGENTS:
        if name in (agent.name, *agent.aliases):
            return agent
    names = [agent.name for agent in AGENTS]
    raise UsageError(f"`{name}` is no agent that is known: {', '.join(names)}{did_you_mean(name, names)}")
