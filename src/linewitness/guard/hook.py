"""``linewitness guard hook AGENT``: the answer to an agent that asks before it uses a tool.

Whatever goes wrong is a refusal: agents take a hook that crashed for one that had nothing to say. So nothing is
imported before the guard below stands, and what passes it is either an answer or the exit status that every agent takes
for one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import IO, Any

# As type checkers know it, without the price of importing what it guards.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from linewitness.guard.agents import Agent, Asked

_LARGEST = 16 << 20
_REFUSED = 2
_REMEDY = "Protected content is changed by its owners, on the target branch. Work around it, or ask a person."


def main_of_process(names: list[str]) -> int:
    """Answer the agent that started this process; the exit status. Never raises."""
    try:
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
        status = run(names, sys.stdin.buffer, os.environ, sys.stdout, sys.stderr)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - a hook that fails must refuse, whatever the reason
        try:
            sys.stderr.write(
                f"linewitness: the guard itself failed, so this is refused: {type(error).__name__}: {error}\n"
            )
        finally:
            os._exit(_REFUSED)  # the interpreter's own end could change the status
    return status


def run(names: list[str], payload: IO[bytes], environ: Mapping[str, str], out: IO[str], err: IO[str]) -> int:
    """Answer one question; the exit status. ``names`` are the words after ``guard hook``: one agent."""
    from linewitness.errors import LinewitnessError
    from linewitness.guard.agents import find

    if len(names) != 1 or names[0].startswith("-"):
        err.write("linewitness: `guard hook` takes the name of one agent; everything is refused until it has one\n")
        return _REFUSED
    try:
        agent = find(names[0])
    except LinewitnessError as error:
        err.write(f"linewitness: {error}; everything is refused until that is mended\n")
        return _REFUSED
    found: dict[str, Any] = {}
    reason = _reason(agent, payload, environ, found)
    if reason is None:
        out.write(agent.allowed)
        return 0
    return _refuse(agent, reason, found, out, err)


def _refuse(agent: Agent, reason: str, payload: Mapping[str, Any], out: IO[str], err: IO[str]) -> int:
    import json

    err.write(f"linewitness: {reason}\n")
    err.flush()
    out.write(json.dumps(agent.refusal(f"linewitness: {reason}", payload)) + "\n")
    out.flush()
    return agent.status


def _reason(agent: Agent, payload: IO[bytes], environ: Mapping[str, str], found: dict[str, Any]) -> str | None:
    """Why the tool may not be used; ``None`` when it may. ``found`` becomes the payload, for the answer."""
    from linewitness.errors import LinewitnessError
    from linewitness.guard.agents import DeniedError, ShapeError

    try:
        found.update(_decoded(payload))
        _judge(agent, agent.read(found, agent), environ)
    except DeniedError as denied:
        return f"{denied.message}. {_REMEDY}"
    except ShapeError as error:
        return f"the question of {agent.title} is not understood and so refused: {error}"
    except LinewitnessError as error:
        return f"what is protected cannot be told, so this is refused: {error}"
    except RecursionError:
        return "the question is nested more deeply than can be followed, so this is refused"
    except Exception as error:  # noqa: BLE001 - an open fence is worse than a refusal that names the bug
        return f"the guard itself failed, so this is refused: {type(error).__name__}: {error}"
    return None


def _decoded(stream: IO[bytes]) -> dict[str, Any]:
    import json

    from linewitness.guard.agents import ShapeError

    data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ShapeError("it is larger than 16 MiB")
    try:
        payload = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except ValueError as error:
        raise ShapeError(f"it is not JSON in UTF-8: {error}") from None
    if not isinstance(payload, dict):
        raise ShapeError("it is not a JSON object")
    return payload


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    from linewitness.guard.agents import ShapeError

    found = dict(pairs)
    if len(found) != len(pairs):
        raise ShapeError("a name occurs twice in an object, and programs differ in which one counts")
    return found


def _judge(agent: Agent, asked: Asked, environ: Mapping[str, str]) -> None:
    from linewitness.guard.reading import only_reads

    if only_reads(asked.tool):
        return
    from linewitness.guard import tools
    from linewitness.guard.agents import ShapeError
    from linewitness.guard.fence import Fence

    project = environ.get(agent.project, "") if agent.project else ""
    folders = list(asked.folders) + [folder for folder in (project, os.getcwd()) if folder]
    if not os.path.isabs(folders[0]) or not os.path.isdir(folders[0]):
        raise ShapeError(f"{folders[0]} is not a folder that is here")
    tools.judge(asked, Fence([folder for folder in folders if os.path.isabs(folder)], environ.get("HOME", "")), environ)
