"""Functions under test in an interpreter of their own, which sees the sources and data, and no test.

An object that is equal to everything, code that reads its caller's frames, and code that asks whether pytest is loaded
find nothing here: only JSON values and bytes cross, and they are checked on both sides.
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Union

from .tally import BASE_VARIABLE, Tally
from .trouble import RelationError, SubjectError
from .values import Raised, decode, encode

_LARGEST = 1 << 28
_SECONDS = 60.0
_GRACE = 10.0
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
_HIDDEN = ("PYTEST_", "COV_CORE_", "COVERAGE_PROCESS_")


# Read by Python 3.9, which has no other form of it at run time.
_Kind = Union[type[BaseException], str]  # noqa: UP007
Raises = Union[_Kind, tuple[_Kind, ...]]  # noqa: UP007


class _World(NamedTuple):
    """Where an interpreter lives: its folder, the roots that its imports begin with, whether it may be recorded.

    ``closed`` are files that it does not see.
    """

    folder: str
    roots: tuple[str, ...]
    owned: tuple[str, ...]
    recorded: bool
    closed: tuple[str, ...] = ()


class Subject:
    """A function by name, called in another interpreter: arguments and results are data."""

    def __init__(self, target: str, seconds: float, raises: tuple[str, ...], *, at_base: bool) -> None:
        module, colon, function = target.partition(":")
        if not colon or not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
            raise RelationError(f"{target!r} does not name a function: write 'package.module:function'")
        self.name = f"base {target}" if at_base else target
        self._target = target
        self._seconds = seconds
        self._raises = frozenset(raises)
        self._at_base = at_base

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subject) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result. Errors: :class:`SubjectError`; :class:`RelationError` when there is no base tree."""
        __tracebackhide__ = True
        try:
            request = encode([self._target, list(arguments), named])
        except TypeError as error:
            raise SubjectError(f"{self.name} cannot be called with this: {error}") from None
        tally = Tally.current
        if tally is None:
            process = _Process(self._world(Tally()), os.environ)
            try:
                return self._reading(process.ask(request, self._seconds, self.name))
            finally:
                process.close()
        return self._reading(self._process(tally).ask(request, self._seconds, self.name))

    def _process(self, tally: Tally) -> _Process:
        """One interpreter for each test and tree: what it hits belongs to the test that started it."""
        __tracebackhide__ = True
        world = self._world(tally)
        for known in tally.subjects:
            if known.world == world and known.is_alive:
                found: _Process = known
                return found
        process = _Process(world, os.environ if world.recorded else tally.world.environ or os.environ)
        tally.subjects.append(process)
        return process

    def _world(self, tally: Tally) -> _World:
        __tracebackhide__ = True
        around = tally.world
        if not self._at_base:
            roots = () if around.in_gate else tuple(_import_roots())
            return _World(around.root or os.getcwd(), roots, (), recorded=True, closed=around.closed)
        if around.base is None:
            raise RelationError(
                "the base tree is not here: the gate provides it; elsewhere check it out and name it, as in"
                f" `git worktree add ../base origin/main` and `{BASE_VARIABLE}=../base python -m pytest`"
            )
        return _World(around.base.root, around.base.roots, around.owned, recorded=False, closed=around.closed)

    def _reading(self, answer: Any) -> Any:
        __tracebackhide__ = True
        kind = answer[0] if isinstance(answer, list) and answer else ""
        if kind == "result" and len(answer) == 2:
            return answer[1]
        if kind == "raised" and len(answer) == 3:
            if self._raises.intersection(answer[1]):
                return Raised(answer[1][0], answer[2])
            raise SubjectError(f"{self.name} raised {answer[1][0]}: {answer[2]}")
        if kind == "missing":
            raise RelationError(f"{self.name} cannot be called: {answer[-1]}")
        if kind == "no data":
            raise SubjectError(f"{self.name} gave no data: {answer[-1]}")
        raise SubjectError(f"{self.name} gave an answer that is none")


def isolated(target: str, *, seconds: float = _SECONDS, raises: Raises = ()) -> Subject:
    """``target`` (``package.module:function``) of the tree under test, called in an interpreter of its own.

    The interpreter is started at the first call of a test and ends with the test; it never imports pytest or the
    relation, and the recorder works in it. ``raises`` declares exceptions (with their subclasses) that are an answer:
    the call then gives a :class:`Raised`. ``seconds`` limits each call.

    Errors when called: :class:`SubjectError` for any other exception, a crash, the time limit, or a result that is no
    data; :class:`RelationError` when there is no such function.
    """
    return Subject(target, seconds, _names(raises), at_base=False)


def base(target: str, *, seconds: float = _SECONDS, raises: Raises = ()) -> Subject:
    """``target`` (``package.module:function``) of the *base* tree, called in an interpreter of its own.

    As :func:`isolated`, but what runs is the version before the patch, and it witnesses nothing. The gate provides the
    base tree; elsewhere ``LINEWITNESS_BASE`` names a folder with it.
    """
    return Subject(target, seconds, _names(raises), at_base=True)


def _names(raises: Raises) -> tuple[str, ...]:
    kinds = raises if isinstance(raises, tuple) else (raises,)
    if not all(isinstance(kind, (type, str)) for kind in kinds):
        raise RelationError(f"raises takes classes of exceptions, as in raises=(ValueError,), and not {raises!r:.80}")
    return tuple(kind if isinstance(kind, str) else kind.__name__ for kind in kinds)


def _import_roots() -> list[str]:
    """Outside of the gate: from where this process imports, without the places that lead to the interpreter's own."""
    kept = []
    for entry in sys.path:
        place = os.path.abspath(entry or ".")
        if os.path.isdir(place) and not place.startswith((sys.prefix + os.sep, sys.base_prefix + os.sep)):
            kept.append(place)
    return kept


class _Process:
    """One interpreter, and the two pipes to it."""

    def __init__(self, world: _World, environ: Mapping[str, str]) -> None:
        self.world = world
        their_in, self._outward = os.pipe()
        self._inward, their_out = os.pipe()
        command = [sys.executable, *_flags(), _WORKER, str(their_in), str(their_out)]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=world.folder,
                env=_environment(world, environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(their_in, their_out),
            )
        except OSError as error:
            os.close(self._outward)
            os.close(self._inward)
            raise SubjectError(f"an interpreter for the subject cannot be started: {error}") from error
        finally:
            os.close(their_in)
            os.close(their_out)
        self._is_open = True
        self._send(encode([list(world.roots), list(world.owned), list(world.closed)]))

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._is_open and self._process.poll() is None

    def ask(self, request: bytes, seconds: float, name: str) -> Any:
        """Send a request and wait for its answer. Errors: :class:`SubjectError`."""
        deadline = time.monotonic() + seconds
        self._send(request)
        try:
            (length,) = struct.unpack(">Q", self._take(8, deadline))
            if length > _LARGEST:
                raise SubjectError(f"{name} gave {length} bytes, and at most {_LARGEST} are read")
            return decode(self._take(length, deadline))
        except TimeoutError:
            raise self._ended(f"{name} took longer than {seconds:g} s") from None
        except EOFError:
            status = self._wait()
            what = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            raise self._ended(f"the interpreter of {name} {what} during the call") from None
        except ValueError as error:
            raise self._ended(f"{name} gave an answer that is no data: {error}") from None

    def _ended(self, message: str) -> SubjectError:
        self.close(at_once=True)
        return SubjectError(message)

    def _send(self, data: bytes) -> None:
        rest = memoryview(struct.pack(">Q", len(data)) + data)
        try:
            while rest:
                rest = rest[os.write(self._outward, rest) :]
        except BrokenPipeError:
            return  # Reading tells how it ended.

    def _take(self, count: int, deadline: float) -> bytes:
        pieces = []
        while count:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._inward], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(self._inward, min(count, 1 << 20))
            if not piece:
                raise EOFError
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _wait(self) -> int:
        try:
            return self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def close(self, *, at_once: bool = False) -> None:
        """End the interpreter: in order, so that its record is written, or at once."""
        if not self._is_open:
            return
        self._is_open = False
        if at_once:
            self._process.kill()
        os.close(self._outward)
        os.close(self._inward)
        self._wait()


def _flags() -> list[str]:
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    return [*safe, "-B", "--check-hash-based-pycs", "always"]


def _environment(world: _World, environ: Mapping[str, str]) -> dict[str, str]:
    """These, without what tells of a test; base's code is not recorded, so it inherits no recorder."""
    found = {name: value for name, value in environ.items() if not name.startswith(_HIDDEN)}
    if not world.recorded:
        kit = found.get("LINEWITNESS_KIT", "")
        found = {name: value for name, value in found.items() if not name.startswith("LINEWITNESS_")}
        places = [place for place in found.get("PYTHONPATH", "").split(os.pathsep) if place]
        found["PYTHONPATH"] = os.pathsep.join(place for place in places if not kit or not place.startswith(kit))
    return found
