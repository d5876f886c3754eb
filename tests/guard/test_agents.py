"""Each agent asks in its own words and is answered in its own words, as its documentation gives them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from linewitness.guard.agents import AGENTS
from tests.guard.conftest import Answer, claude, send
from tests.support.repos import Repo

Payload = dict[str, Any]
PATCH: Final = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch"


def codex(tool: str, given: object, folder: Path) -> Payload:
    more = {"turn_id": "t", "model": "m"}
    return {**claude(tool, {}, folder), **more, "tool_input": given}


def gemini(tool: str, given: object, folder: Path) -> Payload:
    common = {"session_id": "s", "transcript_path": "t", "cwd": str(folder), "timestamp": "2026-01-01T00:00:00Z"}
    return {**common, "hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": given}


def cursor(tool: str, given: object, folder: Path) -> Payload:
    common = {"conversation_id": "c", "generation_id": "g", "model": "m", "cursor_version": "2.4.1"}
    more = {"workspace_roots": [str(folder)], "user_email": None, "transcript_path": None, "tool_use_id": "t"}
    return {
        **common,
        **more,
        "hook_event_name": "preToolUse",
        "tool_name": tool,
        "tool_input": given,
        "cwd": str(folder),
    }


def cursor_shell(command: str, folder: Path) -> Payload:
    payload = cursor("", {}, folder)
    del payload["tool_name"], payload["tool_input"]
    return {**payload, "hook_event_name": "beforeShellExecution", "command": command, "cwd": str(folder)}


def copilot(tool: str, given: object, folder: Path) -> Payload:
    return {"sessionId": "s", "timestamp": 1767225600000, "cwd": str(folder), "toolName": tool, "toolArgs": given}


def copilot_text(tool: str, given: object, folder: Path) -> Payload:
    return copilot(tool, json.dumps(given), folder)


def copilot_compatible(tool: str, given: object, folder: Path) -> Payload:
    common = {"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-01-01T00:00:00Z"}
    return {**common, "cwd": str(folder), "tool_name": tool, "tool_input": given}


def openhands(tool: str, given: object, folder: Path) -> Payload:
    common = {"event_type": "PreToolUse", "session_id": "s", "working_dir": str(folder), "metadata": {}}
    return {**common, "tool_name": tool, "tool_input": given}


Make = Callable[[str, Any, Path], Payload]
BAD, GOOD = "tests/trusted/test_a.py", "src/a.py"
# Agent, form of its payload, tool, and its arguments for a path.
EDITS: Final[list[tuple[str, Make, str, Callable[[str], Any]]]] = [
    ("claude", claude, "Write", lambda path: {"file_path": path, "content": "x"}),
    ("claude", claude, "Edit", lambda path: {"file_path": path, "old_string": "a", "new_string": "b"}),
    (
        "claude",
        claude,
        "MultiEdit",
        lambda path: {"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]},
    ),
    ("claude", claude, "NotebookEdit", lambda path: {"notebook_path": path, "new_source": "x"}),
    ("claude", claude, "Bash", lambda path: {"command": f"echo x > {path}", "description": "d", "timeout": 1000}),
    ("claude", claude, "mcp__files__write_file", lambda path: {"path": path, "content": "x"}),
    ("claude", claude, "mcp__files__move_file", lambda path: {"source": path, "destination": "/tmp/x"}),
    ("claude", claude, "mcp__serena__replace_symbol_body", lambda path: {"relative_path": path, "body": "x"}),
    ("claude", claude, "SomethingNew", lambda path: {"where": {"deep": [path]}}),
    ("codex", codex, "Bash", lambda path: {"command": f"echo x > {path}"}),
    ("codex", codex, "shell", lambda path: {"command": ["bash", "-lc", f"echo x > {path}"]}),
    ("codex", codex, "exec_command", lambda path: {"cmd": f"echo x > {path}", "workdir": "."}),
    ("codex", codex, "apply_patch", lambda path: {"command": PATCH.format(path)}),
    ("codex", codex, "apply_patch", lambda path: {"input": PATCH.format(path).replace("Update", "Delete")}),
    ("codex", codex, "Bash", lambda path: {"command": f"apply_patch <<'EOF'\n{PATCH.format(path)}\nEOF"}),
    ("gemini", gemini, "write_file", lambda path: {"file_path": path, "content": "x"}),
    ("gemini", gemini, "replace", lambda path: {"file_path": path, "old_string": "a", "new_string": "b"}),
    ("gemini", gemini, "run_shell_command", lambda path: {"command": f"echo x > {path}", "description": "d"}),
    ("cursor", cursor, "Write", lambda path: {"file_path": path, "content": "x"}),
    ("cursor", cursor, "StrReplace", lambda path: {"path": path, "old_string": "a", "new_string": "b"}),
    ("cursor", cursor, "Delete", lambda path: {"path": path}),
    ("cursor", cursor, "Shell", lambda path: {"command": f"echo x > {path}", "working_directory": "."}),
    ("copilot", copilot, "create", lambda path: {"path": path, "file_text": "x"}),
    ("copilot", copilot, "edit", lambda path: {"path": path, "old_str": "a", "new_str": "b"}),
    ("copilot", copilot, "bash", lambda path: {"command": f"echo x > {path}", "description": "d", "sessionId": "m"}),
    ("copilot", copilot_text, "bash", lambda path: {"command": f"echo x > {path}"}),
    ("copilot", copilot, "apply_patch", PATCH.format),
    ("copilot", copilot_compatible, "Write", lambda path: {"path": path, "file_text": "x"}),
    ("openhands", openhands, "terminal", lambda path: {"command": f"echo x > {path}", "is_input": False}),
    ("openhands", openhands, "file_editor", lambda path: {"command": "create", "path": path, "file_text": "x"}),
    ("openhands", openhands, "file_editor", lambda path: {"command": "str_replace", "path": path, "old_str": "a"}),
]
READS: Final[list[tuple[str, Make, str, Any]]] = [
    ("claude", claude, "Read", {"file_path": BAD}),
    ("claude", claude, "Grep", {"pattern": "x", "path": "tests/trusted"}),
    ("claude", claude, "TodoWrite", {"todos": []}),
    ("claude", claude, "Task", {"prompt": f"look at {BAD}", "description": "d", "subagent_type": "x"}),
    ("claude", claude, "mcp__files__read_file", {"path": BAD}),
    ("codex", codex, "update_plan", {"plan": []}),
    ("gemini", gemini, "read_many_files", {"include": [BAD]}),
    ("gemini", gemini, "glob", {"pattern": "tests/trusted/**"}),
    ("cursor", cursor, "Read", {"path": BAD}),
    ("cursor", cursor, "Grep", {"pattern": "x", "path": "tests"}),
    ("copilot", copilot, "view", {"path": BAD}),
    ("openhands", openhands, "file_editor", {"command": "view", "path": BAD}),
    ("openhands", openhands, "think", {"thought": f"rm {BAD}"}),
    ("openhands", openhands, "terminal", {"command": "", "is_input": True}),
]


def reason(agent: str, answer: Answer) -> str:
    """The reason as the agent reads it out of the answer; an assertion fails where there is none."""
    told = json.loads(answer.out)
    if agent == "cursor":
        assert told["permission"] == "deny"
        assert answer.status == 0
        return str(told["agent_message"])
    if agent == "copilot":
        assert told["permissionDecision"] == "deny"
        assert answer.status == 0
        return str(told["permissionDecisionReason"])
    assert answer.status == 2
    if agent in {"gemini", "openhands"}:
        assert told["decision"] == "deny"
        return str(told["reason"])
    specific = told["hookSpecificOutput"]
    assert (specific["hookEventName"], specific["permissionDecision"]) == ("PreToolUse", "deny")
    return str(specific["permissionDecisionReason"])


@pytest.mark.parametrize(("agent", "make", "tool", "given"), EDITS)
@pytest.mark.parametrize("absolute", [True, False])
def test_an_edit_of_a_trusted_test_is_refused_with_its_reason(
    agent: str, make: Make, tool: str, given: Callable[[str], Any], absolute: bool, repo: Repo
) -> None:
    path = str(repo.root / BAD) if absolute else BAD
    answer = send(agent, make(tool, given(path), repo.root))

    told = reason(agent, answer)
    assert f"{BAD} is a trusted test" in told
    assert answer.err.strip() == told


@pytest.mark.parametrize(("agent", "make", "tool", "given"), EDITS)
def test_an_edit_of_the_product_is_allowed_in_silence(
    agent: str, make: Make, tool: str, given: Callable[[str], Any], repo: Repo
) -> None:
    answer = send(agent, make(tool, given(GOOD), repo.root))

    assert answer.allowed, answer.err


@pytest.mark.parametrize(("agent", "make", "tool", "given"), READS)
def test_reading_is_allowed_in_silence(agent: str, make: Make, tool: str, given: object, repo: Repo) -> None:
    assert send(agent, make(tool, given, repo.root)).allowed


def test_the_older_events_of_cursor_are_answered(repo: Repo) -> None:
    assert "a trusted test" in reason("cursor", send("cursor", cursor_shell(f"rm {BAD}", repo.root)))
    assert send("cursor", cursor_shell("pytest", repo.root)).allowed
    server = cursor("write_file", json.dumps({"path": BAD}), repo.root) | {"hook_event_name": "beforeMCPExecution"}
    assert "a trusted test" in reason("cursor", send("cursor", server))
    reading = cursor("", {}, repo.root) | {"hook_event_name": "beforeReadFile", "file_path": BAD, "content": "x"}
    assert send("cursor", reading).allowed


def broken(folder: Path) -> dict[str, object]:
    good = claude("Write", {"file_path": GOOD, "content": "x"}, folder)
    return {
        "nothing": b"",
        "no JSON": b"{",
        "no object": [1],
        "null": None,
        "not UTF-8": b'{"tool_name": "\xff"}',
        "a name twice": b'{"tool_name": "Read", "tool_name": "Write"}',
        "too large": b" " * ((16 << 20) + 1),
        "no tool": {key: value for key, value in good.items() if key != "tool_name"},
        "no arguments": {key: value for key, value in good.items() if key != "tool_input"},
        "no folder": {key: value for key, value in good.items() if key != "cwd"},
        "a tool that is a number": good | {"tool_name": 1},
        "arguments that are a list": good | {"tool_input": [GOOD]},
        "a path that is a list": good | {"tool_input": {"file_path": [GOOD]}},
        "a path with a NUL": good | {"tool_input": {"file_path": "src/a\0.py"}},
        "no path": good | {"tool_input": {"content": "x"}},
        "a command that is a number": good | {"tool_name": "Bash", "tool_input": {"command": 1}},
        "no command": good | {"tool_name": "Bash", "tool_input": {"description": "x"}},
        "another event": good | {"hook_event_name": "PostToolUse"},
        "a relative folder": good | {"cwd": "src"},
        "a folder that is not here": good | {"cwd": "/no/such/folder"},
        "a patch without files": good | {"tool_name": "apply_patch", "tool_input": {"command": "x"}},
        "deep arguments": b'{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"X","tool_input":'
        + b'{"a":' * 500
        + b"1"
        + b"}" * 501,
        "very deep JSON": b"[" * 100_000,
    }


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize("name", list(broken(Path("/"))))
def test_a_question_that_is_not_understood_is_refused(agent: str, name: str, repo: Repo) -> None:
    answer = send(agent, broken(repo.root)[name])

    assert answer.status == 2
    assert "refused" in reason(agent, answer)
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("agent", [agent.name for agent in AGENTS])
@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b'{"tool_name": "Write"}', b'{"toolName": "create"}'])
def test_every_agent_hears_a_refusal_for_an_empty_question(agent: str, payload: bytes) -> None:
    assert "refused" in reason(agent, send(agent, payload))


@pytest.mark.parametrize("version", ["", "next", 3, None])
def test_an_unknown_version_of_cursor_is_refused(version: object, repo: Repo) -> None:
    payload = cursor("Write", {"file_path": GOOD}, repo.root) | {"cursor_version": version}

    assert "`cursor_version`" in reason("cursor", send("cursor", payload))


def test_an_agent_that_is_not_known_is_refused_with_the_nearest_name() -> None:
    answer = send("cluade", {})

    assert answer.status == 2
    assert "did you mean `claude`" in answer.err.lower() or "claude" in answer.err


def test_settings_that_cannot_be_read_refuse_every_change(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"linewitness.toml": "trusted = 3\n", GOOD: ""})

    answer = send("claude", claude("Write", {"file_path": GOOD, "content": ""}, repo.root))

    assert "linewitness.toml: trusted: has the wrong type" in reason("claude", answer)


def test_the_target_branch_decides_and_the_work_tree_can_only_add(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"linewitness.toml": 'trusted = ["checks/**"]\n', "checks/test_a.py": "", "more/a.py": ""})
    repo.branch("agent")
    repo.commit("weaker", {"linewitness.toml": 'trusted = ["none/**"]\nprotected = ["more/**"]\n'})

    def allowed(path: str) -> bool:
        return send("claude", claude("Write", {"file_path": path, "content": ""}, repo.root)).allowed

    assert not allowed("checks/test_a.py")
    assert not allowed("more/a.py")
    assert allowed("tests/trusted/test_a.py"), "neither of the two protects the default folder"


def test_a_named_target_branch_is_read(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"linewitness.toml": 'target-branch = "release"\n', "checks/test_a.py": "", GOOD: ""})
    repo.branch("release")
    repo.commit("settings", {"linewitness.toml": 'target-branch = "release"\ntrusted = ["checks/**"]\n'})
    repo.git("checkout", "-q", "main")

    def allowed(path: str) -> bool:
        return send("claude", claude("Write", {"file_path": path, "content": ""}, repo.root)).allowed

    assert not allowed("checks/test_a.py")
    assert allowed(GOOD)


def test_only_the_tables_that_steer_tests_are_protected_in_shared_files(repo: Repo) -> None:
    def allowed(old: str, new: str) -> bool:
        given = {"file_path": "pyproject.toml", "old_string": old, "new_string": new}
        return send("claude", claude("Edit", given, repo.root)).allowed

    assert allowed('name = "shop"', 'name = "store"')
    assert not allowed('addopts = "-q"', 'addopts = "--deselect tests/trusted"')
    whole = {"file_path": "pyproject.toml", "content": '[project]\nname = "shop"\n'}
    assert not send("claude", claude("Write", whole, repo.root)).allowed


def test_outside_of_a_repository_the_folder_itself_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "tests/trusted").mkdir(parents=True)

    def allowed(path: str) -> bool:
        return send("claude", claude("Write", {"file_path": path, "content": ""}, tmp_path)).allowed

    assert not allowed("tests/trusted/x.py")
    assert allowed("src/x.py")


def test_a_repository_inside_of_protected_content_is_no_way_out(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"tests/trusted/test_a.py": ""})
    inner = Repo(repo.root / "tests/trusted/inner")

    assert not send("claude", claude("Write", {"file_path": "x.py", "content": ""}, inner.root)).allowed
