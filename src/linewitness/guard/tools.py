"""What a call of an agent's tool is about to do: which tools only read, which edit files, which run a command.

Tools have much the same names and arguments everywhere, so one table serves all agents. A tool that is in no table (of
a server that the user connected, or of next month's version) is judged by all of its arguments that could be a path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from linewitness.guard.agents import Asked, DeniedError, ShapeError, text
from linewitness.guard.fence import TAKE, WRITE, Fence
from linewitness.guard.shell import Shell

_SHELLS: Final = frozenset(
    [
        "bash",
        "shell",
        "run_shell_command",
        "exec_command",
        "local_shell",
        "container.exec",
        "terminal",
        "execute_bash",
        "powershell",
        "monitor",
        "run_terminal_cmd",
        "run_terminal_command",
        "unified_exec",
        "write_stdin",
        "write_bash",
        "write_powershell",
        "shell_command",
        "execute_command",
    ]
)
_EDITORS: Final = frozenset(
    [
        "write",
        "edit",
        "multiedit",
        "notebookedit",
        "update",
        "write_file",
        "replace",
        "create",
        "str_replace",
        "str_replace_editor",
        "strreplace",
        "searchreplace",
        "file_editor",
        "delete",
        "delete_file",
        "edit_file",
        "create_file",
        "editnotebook",
        "edit_notebook",
        "tabwrite",
        "str_replace_based_edit_tool",
        "planning_file_editor",
        "insert",
        "move_file",
        "rename_file",
    ]
)
_PATCHES: Final = frozenset(["apply_patch", "applypatch"])
_PATH_KEYS: Final = (
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "target_file",
    "target_notebook",
    "filename",
    "file",
)
_SECOND_KEYS: Final = (
    "new_path",
    "newPath",
    "destination",
    "dest",
    "to",
    "new_file_path",
    "source",
    "from",
    "old_path",
)
_COMMAND_KEYS: Final = ("command", "cmd", "chars", "input", "script", "text")
_FOLDER_KEYS: Final = ("cwd", "workdir", "working_directory", "dir_path", "directory", "working_dir")
_LOOKS: Final = frozenset({"view", "read", "list", "undo_view"})
_VERBS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_READING: Final = frozenset(
    [
        "read",
        "get",
        "list",
        "search",
        "find",
        "view",
        "grep",
        "glob",
        "fetch",
        "show",
        "stat",
        "query",
        "describe",
        "ls",
        "cat",
        "head",
        "tail",
        "lookup",
        "resolve",
        "inspect",
        "info",
        "browse",
        "screenshot",
        "navigate",
        "open",
        "count",
        "status",
        "diff",
        "log",
    ]
)
_CHANGING: Final = frozenset(
    [
        "write",
        "create",
        "edit",
        "update",
        "delete",
        "remove",
        "move",
        "rename",
        "copy",
        "put",
        "set",
        "insert",
        "replace",
        "append",
        "patch",
        "apply",
        "save",
        "upload",
        "modify",
        "exec",
        "execute",
        "run",
        "command",
        "shell",
        "bash",
        "eval",
        "script",
        "commit",
        "push",
        "checkout",
        "reset",
        "restore",
        "import",
        "install",
        "add",
        "make",
        "touch",
        "refactor",
        "format",
        "fix",
        "sync",
        "download",
        "extract",
        "unzip",
        "link",
    ]
)
_PATHLIKE: Final = re.compile(
    r"path|file|dir|folder|dest|target|source|uri|location|output|name|\bto\b|\bfrom\b|root", re.IGNORECASE
)
_LONGEST_PATH: Final = 4096
_DEEPEST: Final = 8


def judge(asked: Asked, fence: Fence, environ: Mapping[str, str]) -> None:
    """Judge one call. Errors: :class:`DeniedError`; :class:`ShapeError` for arguments that are not as documented."""
    name = asked.tool.lower()
    shell = Shell(fence, environ, fence.start)
    if name in _SHELLS:
        _shell(asked, shell)
    elif name in _PATCHES:
        _patch(asked, shell)
    elif name in _EDITORS:
        _editor(asked, name, shell)
    else:
        _unknown(asked, shell)


def _first(given: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((key for key in keys if given.get(key) is not None), "")


def _shell(asked: Asked, shell: Shell) -> None:
    given = asked.arguments
    if folder := _first(given, _FOLDER_KEYS):
        shell.enter(os.path.join(fence_start(shell), text(given, folder)))
    key = _first(given, _COMMAND_KEYS)
    if not key:
        if given.keys() <= {
            "is_input",
            "timeout",
            "reset",
            "session_id",
            "shellId",
            "sessionId",
            "delay",
            "yield_time_ms",
        }:
            return  # a look at a command that runs already
        raise ShapeError("the command is missing")
    command = given[key]
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        shell.program([word for word in command if word])
    elif isinstance(command, str):
        shell.script(command)
    else:
        raise ShapeError(f"`{key}` is not a command")


def fence_start(shell: Shell) -> str:
    """The folder in which a call's relative paths start."""
    return shell.folders[0]


def _patch(asked: Asked, shell: Shell) -> None:
    from linewitness.guard import mentions

    key = _first(asked.arguments, ("command", "input", "patch", "patch_text", "diff"))
    value = asked.arguments.get(key) if key else None
    body = "\n".join(map(str, value)) if isinstance(value, list) else value
    if not isinstance(body, str) or not mentions.in_patch(body):
        raise ShapeError("a patch that names no file")
    shell.patch(body)


def _editor(asked: Asked, name: str, shell: Shell) -> None:
    given = asked.arguments
    if given.get("command") in _LOOKS:
        return
    key = _first(given, _PATH_KEYS)
    if not key:
        raise ShapeError("the path of the file is missing")
    path = text(given, key)
    shell.do(TAKE if "delete" in name or "move" in name or "rename" in name else WRITE, path)
    if second := _first(given, _SECOND_KEYS):
        shell.do(WRITE, text(given, second))
    _tables(given, path, shell)


def _tables(given: Mapping[str, Any], path: str, shell: Shell) -> None:
    """A settings file that is shared with the trusted run: only some tables of it are protected."""
    for place in shell.fence.places:
        relative = place.relative(os.path.realpath(os.path.join(fence_start(shell), path)))
        if relative and any(rules.shares(relative) for rules in place.rules):
            from linewitness.guard.shared import reason

            if why := reason(place.top, relative, given):
                raise DeniedError(why)


# ---------------------------------------------------------------- tools that nobody knows


def _unknown(asked: Asked, shell: Shell) -> None:
    last = re.split(r"__|[./:]", asked.tool)[-1]
    verbs = {verb.lower() for verb in _VERBS.findall(last)}
    if verbs & _READING and not verbs & _CHANGING:
        return
    for key, value in _texts(asked.arguments, ""):
        if key in {"command", "cmd", "script", "code"}:
            _command(value, shell)
        elif key in {"patch", "diff"}:
            shell.patch(value)
        elif _may_be_path(key, value):
            shell.do(TAKE if verbs & {"delete", "remove", "move", "rename"} else WRITE, _plain(value))


def _command(value: str, shell: Shell) -> None:
    shell.script(value)
    shell.source_code(value, "command")


def _may_be_path(key: str, value: str) -> bool:
    short = 0 < len(value) <= _LONGEST_PATH and "\n" not in value
    return short and (_PATHLIKE.search(key) is not None or not any(char.isspace() for char in value))


def _plain(value: str) -> str:
    return value.removeprefix("file://")


def _texts(value: object, key: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in some arguments and the name it stands under. Errors: :class:`ShapeError` when nested too deeply."""
    if depth > _DEEPEST:
        raise ShapeError("the arguments are nested too deeply")
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts(each, str(name), depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key, depth + 1)
