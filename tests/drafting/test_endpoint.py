"""The endpoint over real HTTP, with a server that misbehaves in every way that a server can."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
from typing import Any

import pytest

from linewitness.drafting.endpoint import KEY, MODEL, URL, Endpoint, Limits, Secret, Waiting, ask, endpoint_of
from linewitness.errors import UsageError
from tests.drafting.server import Answer, Server, chat, dripping, raw, serving, silent, status

SECRET = "sk-marker-7f3a9c-SECRET"
NOW = dt.datetime(2026, 9, 16, 12, tzinfo=dt.UTC)
QUICK = Limits(seconds=5, largest=50_000, tries=3, longest_wait=60)


def at(server: Server, key: str = SECRET) -> Endpoint:
    found = endpoint_of({URL: server.url, MODEL: "small", KEY: key})
    assert found is not None
    return found


def asked(
    *answers: Answer, limits: Limits = QUICK, bodies: tuple[bytes, ...] = (b"{}",)
) -> tuple[str, list[float], int]:
    """The answer or the refusal, the waits, and how often the server was asked."""
    naps: list[float] = []
    with serving(*answers) as server:
        try:
            text = ask(at(server), bodies, limits, Waiting(naps.append, lambda: NOW))
        except UsageError as error:
            text = f"refused: {error}"
            shown = repr(error)
        else:
            shown = text
    assert SECRET not in text + shown
    return text, naps, len(server.requests)


def test_the_text_of_the_first_choice_is_the_answer() -> None:
    assert asked(chat("hello")) == ("hello", [], 1)


def test_parts_of_text_are_put_together() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "image"}]
    body = json.dumps({"choices": [{"message": {"content": parts}}]}).encode()

    assert asked(status(200, body))[0] == "ab"


def test_the_request_is_what_was_given_and_asks_for_no_compression() -> None:
    with serving(chat("x")) as server:
        ask(at(server), (b'{"a":1}',))
    head, _, body = server.requests[0].partition(b"\r\n\r\n")

    assert body == b'{"a":1}'
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert b"\r\nAccept-Encoding: identity\r\n" in head
    assert f"Authorization: Bearer {SECRET}".encode() in head


def test_no_header_is_sent_without_a_key() -> None:
    with serving(chat("x")) as server:
        ask(at(server, key=""), (b"{}",))

    assert b"authorization" not in server.requests[0].lower()


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again_after_growing_pauses(code: int) -> None:
    assert asked(status(code), status(code), chat("late")) == ("late", [1.0, 2.0], 3)


def test_a_server_that_stays_busy_is_given_up() -> None:
    text, naps, count = asked(status(500, b'{"error": {"message": "out of\\nmemory"}}'))

    assert text == "refused: the model's endpoint answers 500: out of memory"
    assert (len(naps), count) == (2, 3)


@pytest.mark.parametrize(
    ("value", "nap"),
    [
        ("7", 7.0),
        ("0", 1.0),
        ("Wed, 16 Sep 2026 12:00:30 GMT", 30.0),
        ("Wed, 16 Sep 2020 12:00:30 GMT", 1.0),
        ("-5", 1.0),
        ("soon", 1.0),
        ("", 1.0),
        ("1e9", 1.0),
        ("nan", 1.0),
        ("Wed, 99 Sep 2026 99:99:99 GMT", 1.0),
    ],
)
def test_retry_after_is_honoured_as_long_as_it_is_sane(value: str, nap: float) -> None:
    assert asked(status(429, b"{}", f"Retry-After: {value}"), chat("x")) == ("x", [nap], 2)


@pytest.mark.parametrize("value", ["61", "99999999999", "9" * 18, "Wed, 16 Sep 2099 12:00:30 GMT"])
def test_nobody_waits_for_an_absurd_time(value: str) -> None:
    text, naps, count = asked(status(429, b"{}", f"Retry-After: {value}"), chat("x"))

    assert re.fullmatch(r"refused: .* answers 429 and asks to come back in [0-9]+ seconds: try again then", text)
    assert (naps, count) == ([], 1)


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_is_told_without_what_the_server_says(code: int) -> None:
    text, naps, count = asked(status(code, json.dumps({"error": {"message": f"no such key {SECRET}"}}).encode()))

    assert text == f"refused: the model's endpoint answers {code}: it does not accept {KEY}"
    assert (naps, count) == ([], 1)


@pytest.mark.parametrize("said", [SECRET, f"key {SECRET[3:12]} is bad", SECRET[-7:]])
def test_a_server_that_repeats_the_key_is_not_quoted(said: str) -> None:
    text, _, _ = asked(status(400, json.dumps({"error": said}).encode()))

    assert text == "refused: the model's endpoint answers 400"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(code: int) -> None:
    with serving(chat("elsewhere")) as other:
        text, _, count = asked(status(code, b"", f"Location: {other.url}/chat/completions"))

    assert f"answers {code}, a redirect, which is not followed" in text
    assert (other.requests, count) == ([], 1)


@pytest.mark.parametrize(
    "answer",
    [
        status(200, b"not json"),
        status(200, b"\xff\xfe\x00"),
        status(200, b"[" * 40_000),
        status(200, b""),
    ],
    ids=["prose", "no UTF-8", "deep", "empty"],
)
def test_what_is_no_json_is_refused(answer: Answer) -> None:
    assert asked(answer)[0] == "refused: the model's endpoint answers with something that is not JSON"


@pytest.mark.parametrize(
    "value",
    [
        [], {}, None, 3, {"choices": {}}, {"choices": []}, {"choices": [3]}, {"choices": [{}]},
        {"choices": [{"message": []}]}, {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": {"a": 1}}}]}, {"choices": [{"message": {"content": " "}}]},
        {"choices": [{"message": {"content": [{"text": 3}]}}]},
    ],
)  # fmt: skip
def test_json_of_another_shape_is_refused(value: Any) -> None:
    assert "answers with no text" in asked(status(200, json.dumps(value).encode()))[0]


@pytest.mark.parametrize(
    "answer",
    [
        status(200, b"x" * 60_000),
        raw(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 60_000),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"ffff\r\n" + b"x" * 65535 + b"\r\n0\r\n\r\n"),
    ],
    ids=["with a length", "without", "in chunks"],
)
def test_a_huge_answer_is_not_read(answer: Answer) -> None:
    assert asked(answer)[0] == "refused: the model's endpoint answers with more than 50000 bytes"


def test_a_compressed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b"x" * 5_000_000)

    text, _, _ = asked(status(200, bomb, "Content-Encoding: gzip"))

    assert "in a compressed form, which was not asked for" in text


@pytest.mark.parametrize(
    "answer",
    [
        silent(),
        dripping(b""),
        dripping(b"HTTP/1.1 200 OK\r\nX-A: "),
        dripping(b"HTTP/1.1 200 OK\r\n\r\n"),
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n"),
    ],
    ids=["silence", "status line", "header", "body", "body with a length"],
)
def test_a_slow_answer_is_not_waited_for(answer: Answer) -> None:
    text, _, count = asked(answer, limits=QUICK._replace(seconds=0.3))

    assert text == "refused: the model's endpoint did not answer within 0.3 seconds"
    assert count == 1


@pytest.mark.parametrize(
    "answer",
    [
        raw(b""),
        raw(b"nonsense\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"),
        raw(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 300 + b"\r\n"),
    ],
    ids=["nothing", "no HTTP", "cut off", "cut off chunk", "too many headers"],
)
def test_an_answer_that_does_not_come_whole_is_asked_for_again(answer: Answer) -> None:
    assert asked(answer, chat("whole")) == ("whole", [1.0], 2)
    text, _, count = asked(answer)
    assert text.startswith("refused: the model's endpoint cannot be asked: ")
    assert count == 3


def test_nobody_there_is_told() -> None:
    with serving(chat("x")) as server:
        place = at(server)
    with pytest.raises(UsageError, match="cannot be asked"):
        ask(place, (b"{}",), QUICK, Waiting(lambda _: None))


@pytest.mark.parametrize("code", [400, 422])
def test_a_server_without_structured_answers_is_asked_plainly(code: int) -> None:
    with serving(status(code), chat("plain")) as server:
        text = ask(at(server), (b'{"response_format":1}', b"{}"), QUICK)

    assert text == "plain"
    assert [request.rpartition(b"\r\n")[2] for request in server.requests] == [b'{"response_format":1}', b"{}"]


def test_a_request_that_is_too_big_is_not_sent() -> None:
    text, _, count = asked(chat("x"), bodies=(b"x" * (3 << 20),))

    assert "draft for fewer lines (--max-lines)" in text
    assert count == 0


@pytest.mark.parametrize(
    ("url", "trouble"),
    [
        ("http://models.example/v1", "has to begin with https://"),
        ("http://localhost.example/v1", "has to begin with https://"),
        ("http://127.0.0.1.example/v1", "has to begin with https://"),
        ("http://10.0.0.1/v1", "has to begin with https://"),
        ("ftp://127.0.0.1/v1", "has to begin with https://"),
        ("file:///etc/passwd", "no address of a server"),
        ("models.example/v1", "no address of a server"),
        ("https://ada:pw@models.example/v1", "holds a user or password"),
        ("https://models.example/v1#x", "no address of a server"),
        ("https://models.example/v1 x", "no address of a server"),
        ("https://[::1", "is no address"),
        ("https://models.example:port/v1", "is no address"),
    ],
)
def test_the_key_goes_to_no_doubtful_address(url: str, trouble: str) -> None:
    with pytest.raises(UsageError, match=re.escape(trouble)) as caught:
        endpoint_of({URL: url, MODEL: "m", KEY: SECRET})
    assert SECRET not in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("https://models.example/v1", "https://models.example/v1/chat/completions"),
        ("https://models.example/v1/", "https://models.example/v1/chat/completions"),
        ("https://models.example/v1/chat/completions", "https://models.example/v1/chat/completions"),
        ("https://models.example/x?api-version=1", "https://models.example/x/chat/completions?api-version=1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/chat/completions"),
    ],
)
def test_an_address_may_be_the_root_or_the_place_itself(given: str, wanted: str) -> None:
    found = endpoint_of({URL: given, MODEL: "m"})

    assert found is not None
    assert found.url == wanted


def test_a_proxy_does_not_see_what_goes_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(status(200, b"proxy")) as proxy, serving(chat("direct")) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        text = ask(at(server), (b"{}",), QUICK)

    assert (text, proxy.requests) == ("direct", [])


def test_a_model_has_to_be_named_and_a_key_has_to_fit_into_a_header() -> None:
    assert endpoint_of({}) is None
    with pytest.raises(UsageError, match=MODEL):
        endpoint_of({URL: "https://models.example/v1"})
    with pytest.raises(UsageError, match="no header can carry") as caught:
        endpoint_of({URL: "https://models.example/v1", MODEL: "m", KEY: f"{SECRET}\nX: y"})
    assert SECRET not in str(caught.value)


def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(SECRET)

    assert f"{secret!r} {secret} {Endpoint('u', 'm', secret, False)}".count(SECRET) == 0
