"""One question to an OpenAI-compatible chat completions endpoint, local or hosted, over HTTP.

The endpoint is trusted with what is sent and with nothing else: its answer is bounded in time and size, redirects are
not followed, and nothing that it says is shown where it might repeat the key. Source of the protocol: OpenAI's API
reference, "Create chat completion"; of ``Retry-After``: RFC 9110, section 10.2.3.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import ipaddress
import json
import queue
import re
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any, Final

from linewitness.errors import UsageError
from linewitness.values import NamedTuple

URL, MODEL, KEY = "LINEWITNESS_MODEL_URL", "LINEWITNESS_MODEL", "LINEWITNESS_MODEL_KEY"

_PATH: Final = "/chat/completions"
_TOO_MUCH: Final = 413
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_LARGEST_REQUEST: Final = 2 << 20
_SHOWN: Final = 300
_PIECE: Final = 1 << 16
_HIDDEN: Final = 6
"""A text that holds so many characters of the key in a row is not shown."""


class Secret:
    """A key that no message, traceback or log shows."""

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "<secret>"

    def __bool__(self) -> bool:
        return bool(self._value)

    def header(self) -> str:
        """The value of the ``Authorization`` header."""
        return f"Bearer {self._value}"

    def is_in(self, text: str) -> bool:
        """Whether a text holds a recognisable piece of the key."""
        size = min(_HIDDEN, len(self._value))
        pieces = {self._value[at : at + size] for at in range(len(self._value) - size + 1)}
        return bool(self._value) and any(piece in text for piece in pieces)


class Endpoint(NamedTuple):
    """Where the model is. ``url`` is the whole address; ``is_loopback`` tells that it is this machine."""

    url: str
    model: str
    key: Secret
    is_loopback: bool

    @property
    def shown(self) -> str:
        """The address without its query, where some servers want a key to stand."""
        return self.url.partition("?")[0]


class Limits(NamedTuple):
    """Seconds for one whole answer, bytes of it, tries, and the longest wait that a server may ask for."""

    seconds: float = 300.0
    largest: int = 4 << 20
    tries: int = 4
    longest_wait: float = 60.0


class Waiting(NamedTuple):
    """The clock: how to wait, and what time it is, for the dates that servers name."""

    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)


def endpoint_of(environ: Mapping[str, str]) -> Endpoint | None:
    """The endpoint that the environment names; ``None`` when it names none. Errors: :class:`UsageError`."""
    address = environ.get(URL, "").strip()
    if not address:
        return None
    model = environ.get(MODEL, "").strip()
    if not model:
        raise UsageError(f"{URL} is set, and {MODEL} does not say which model to ask for")
    key = environ.get(KEY, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise UsageError(f"{KEY} holds a character that no header can carry")
    url, is_loopback = _address(address)
    return Endpoint(url, model, Secret(key), is_loopback)


def _address(address: str) -> tuple[str, bool]:
    try:
        parts = urllib.parse.urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"{URL} is no address") from None
    if not re.fullmatch(r"[\x21-\x7e]+", address) or not host or parts.fragment:
        raise UsageError(f"{URL} is no address of a server, such as https://models.example/v1")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{URL} holds a user or password: the key belongs in {KEY}")
    is_loopback = _is_loopback(host)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback):
        raise UsageError(f"{URL} has to begin with https://; plain http goes to this machine only, as http://127.0.0.1")
    path = parts.path.rstrip("/")
    if not path.endswith(_PATH):
        path += _PATH
    return urllib.parse.urlunsplit(parts._replace(path=path)), is_loopback


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def ask(
    endpoint: Endpoint,
    bodies: tuple[bytes, ...],
    limits: Limits = Limits(),  # noqa: B008 - a frozen value
    waiting: Waiting = Waiting(),  # noqa: B008 - a frozen value
) -> str:
    """The text of the answer. Later bodies are plainer, for a server that refuses the one before.

    Errors: :class:`UsageError` naming what went wrong, and never the key.
    """
    for body in bodies:
        if len(body) > _LARGEST_REQUEST:
            raise UsageError(f"the request has {len(body)} bytes: draft for fewer lines (--max-lines)")
        answer = _persist(endpoint, body, limits, waiting)
        if answer.status in {400, 422} and body is not bodies[-1]:
            continue
        if answer.status != 200:
            raise UsageError(_refused(endpoint, answer))
        return _text(answer)
    raise UsageError("there is nothing to ask")


class _Answer(NamedTuple):
    status: int
    reason: str
    headers: Mapping[str, str]
    data: bytes


def _persist(endpoint: Endpoint, body: bytes, limits: Limits, waiting: Waiting) -> _Answer:
    """The answer, asked for again while the server is busy or cannot be reached."""
    for attempt in range(limits.tries):
        last = attempt == limits.tries - 1
        try:
            answer = _in_time(endpoint, body, limits)
        except _LostError as error:
            if last:
                raise UsageError(f"the model's endpoint cannot be asked: {error}") from None
            pause = 2.0**attempt
        else:
            if last or answer.status not in _PASSING:
                return answer
            pause = _pause(answer, attempt, limits, waiting)
        waiting.sleep(pause)
    raise UsageError("the model's endpoint was not asked")


def _pause(answer: _Answer, attempt: int, limits: Limits, waiting: Waiting) -> float:
    """How long to wait: what the server asks for, as long as it is sane, and no less than we would."""
    own = 2.0**attempt
    asked = _retry_after(answer.headers.get("retry-after", ""), waiting.now())
    if asked is None:
        return own
    if asked > limits.longest_wait:
        raise UsageError(
            f"the model's endpoint answers {answer.status} and asks to come back in {min(asked, 1e9):.0f} seconds: try"
            " again then"
        )
    return max(own, asked)


def _retry_after(value: str, now: dt.datetime) -> float | None:
    """Seconds from now; ``None`` for what is neither a number of seconds nor a date."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,18}", value):
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
        return max(0.0, (when.astimezone(dt.UTC) - now).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


# ---------------------------------------------------------------- one try


class _LostError(Exception):
    """No answer came; another try may get one."""


def _in_time(endpoint: Endpoint, body: bytes, limits: Limits) -> _Answer:
    """One try within the limit.

    A socket's time limit begins anew with every byte, and names are looked up without any, so a server that drips would
    hold us for ever. The question is asked in a thread of its own, which is left to itself when time is up.
    """
    found: queue.SimpleQueue[_Answer | Exception] = queue.SimpleQueue()
    over = threading.Event()

    def work() -> None:
        try:
            found.put(_open(endpoint, body, limits, over))
        except (OSError, HTTPException, ValueError, UsageError, _LostError) as error:
            found.put(error)

    threading.Thread(target=work, daemon=True, name="linewitness-model").start()
    try:
        answer = found.get(timeout=limits.seconds)
    except queue.Empty:
        over.set()
        raise UsageError(f"the model's endpoint did not answer within {limits.seconds:g} seconds") from None
    if isinstance(answer, UsageError):
        raise answer
    if isinstance(getattr(answer, "reason", None), ssl.SSLCertVerificationError):
        raise UsageError(_unverified(answer.reason.verify_message)) from None  # type: ignore[union-attr]
    if isinstance(answer, Exception):
        raise _LostError(_harmless(endpoint, answer)) from None
    return answer


def _open(endpoint: Endpoint, body: bytes, limits: Limits, over: threading.Event) -> _Answer:
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"}
    headers["User-Agent"] = "linewitness"
    if endpoint.key:
        headers["Authorization"] = endpoint.key.header()
    request = urllib.request.Request(endpoint.url, body, headers, method="POST")  # noqa: S310 - see _address
    # Longer than the limit for the whole, so that it is always that one which is told.
    with _opener(endpoint).open(request, timeout=2 * limits.seconds) as response:
        return _receive(response, limits, over)


def _opener(endpoint: Endpoint) -> urllib.request.OpenerDirector:
    # A proxy would see what goes to this machine in the clear, the key included.
    direct = [urllib.request.ProxyHandler({})] if endpoint.is_loopback else []
    return urllib.request.build_opener(_Plain(), *direct)


class _Plain(urllib.request.HTTPErrorProcessor):
    """Hands every answer over as it is: no status is an exception, and no redirect carries the key elsewhere."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:  # noqa: ARG002 - urllib's signature
        """The answer itself."""
        return response

    https_response = http_response


def _receive(response: HTTPResponse, limits: Limits, over: threading.Event) -> _Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise UsageError("the model's endpoint answers in a compressed form, which was not asked for")
    pieces, size = [], 0
    while piece := response.read1(_PIECE):
        size += len(piece)
        if size > limits.largest:
            raise UsageError(f"the model's endpoint answers with more than {limits.largest} bytes")
        if over.is_set():
            break
        pieces.append(piece)
    declared = headers.get("content-length", "")
    if declared.isdigit() and size < int(declared[:18]):
        raise _LostError("its answer was cut off")
    return _Answer(response.status, response.reason, headers, b"".join(pieces))


# ---------------------------------------------------------------- what is told


def _harmless(endpoint: Endpoint, error: Exception) -> str:
    """What went wrong, without the key."""
    text = str(getattr(error, "reason", "") or error) or type(error).__name__
    return type(error).__name__ if endpoint.key.is_in(text) else text[:_SHOWN]


def _unverified(why: str) -> str:
    return (
        f"the certificate of the model's endpoint cannot be verified ({why}), so nothing was sent: SSL_CERT_FILE may"
        " name a PEM file with the authority that signed it"
    )


def _refused(endpoint: Endpoint, answer: _Answer) -> str:
    where = f"the model's endpoint answers {answer.status}"
    if 300 <= answer.status < 400:
        return f"{where}, a redirect, which is not followed: {URL} has to name the place itself"
    if answer.status in {401, 403}:
        return f"{where}: it does not accept {KEY}"
    if answer.status == 404:
        where += f" (is {URL} the address before {_PATH}, and does it have the model {endpoint.model!r}?)"
    if answer.status == _TOO_MUCH:
        where += " (draft for fewer lines: --max-lines)"
    said = _complaint(answer.data)
    return where if not said or endpoint.key.is_in(said) else f"{where}: {said}"


def _complaint(data: bytes) -> str:
    """The message of an error answer, if it has one."""
    try:
        found = json.loads(data)
        found = found.get("error", found)
        said = found if isinstance(found, str) else found.get("message", "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return " ".join(said.split())[:_SHOWN] if isinstance(said, str) else ""


def _text(answer: _Answer) -> str:
    """The text of the first choice. Errors: :class:`UsageError`."""
    try:
        found = json.loads(answer.data)
    except (ValueError, RecursionError):
        raise UsageError("the model's endpoint answers with something that is not JSON") from None
    choices = found.get("choices") if isinstance(found, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content.strip():
        raise UsageError("the model's endpoint answers with no text: there is no choices[0].message.content")
    return content
