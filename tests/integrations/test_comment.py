"""The comment under a pull request: a job that has a token and data, against a server that speaks GitHub's REST."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from linewitness.assembly import Assembly
from linewitness.errors import UsageError
from linewitness.integrations.comment import Forge, Place, place
from linewitness.obligation_map import encode
from linewitness.reports.markdown import MARKER
from tests.integrations.runner import SOURCE
from tests.support.repos import environment

SHA = "ab" * 20
RUN = {"workflow_run": {"head_sha": SHA, "head_branch": "topic", "head_repository": {"owner": {"login": "agent"}}}}
WHERE = Place("org/shop", "agent", "topic", SHA)


class GitHub(ThreadingHTTPServer):
    """One repository with pull requests and comments; ``failures`` are statuses to answer with first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pulls: list[dict[str, Any]] = [{"number": 7, "head": {"sha": SHA}}]
        self.comments: list[dict[str, Any]] = []
        self.failures: list[int] = []
        self.asked: list[tuple[str, str, str]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: GitHub

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", self.server.address + "/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _handle(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        body: dict[str, Any] = json.loads(self.rfile.read(size)) if size else {}
        self.server.asked.append((self.command, self.path, self.headers["Authorization"]))
        if self.server.failures:
            self._answer(self.server.failures.pop(0), {"message": "no"})
        elif self.path.startswith("/repos/org/shop/pulls?state=open&head=agent%3Atopic&"):
            self._answer(200, self.server.pulls)
        elif self.command == "GET" and "/issues/7/comments" in self.path:
            page = int(self.path.rpartition("page=")[2])
            self._answer(200, self.server.comments[(page - 1) * 100 : page * 100])
        elif self.command == "POST" and self.path == "/repos/org/shop/issues/7/comments":
            self.server.comments.append({"id": 99, "body": body["body"], "user": {"type": "Bot"}})
            self._answer(201, {"html_url": "https://forge.example/7#99"})
        elif self.command == "PATCH":
            number = int(self.path.rpartition("/")[2])
            comment = next(entry for entry in self.server.comments if entry["id"] == number)
            comment["body"] = body["body"]
            self._answer(200, {"html_url": f"https://forge.example/7#{number}"})
        else:
            self._answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = _handle  # noqa: N815 - the names that http.server looks for


@pytest.fixture
def forge() -> Iterator[GitHub]:
    with GitHub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def client(server: GitHub) -> Forge:
    return Forge(server.address, "token", wait=lambda _: None)


def test_the_first_comment_is_made_and_the_next_replaces_it(forge: GitHub) -> None:
    assert client(forge).keep("org/shop", 7, f"{MARKER}\none") == "https://forge.example/7#99"
    client(forge).keep("org/shop", 7, f"{MARKER}\ntwo")
    assert [entry["body"] for entry in forge.comments] == [f"{MARKER}\ntwo"]


def test_a_comment_beyond_the_first_page_is_found(forge: GitHub) -> None:
    forge.comments = [{"id": at, "body": "hello", "user": {"type": "User"}} for at in range(230)]
    forge.comments[220] = {"id": 220, "body": f"{MARKER}\nold", "user": {"type": "Bot"}}
    client(forge).keep("org/shop", 7, f"{MARKER}\nnew")
    assert forge.comments[220]["body"] == f"{MARKER}\nnew"
    assert len(forge.comments) == 230


def test_a_person_s_comment_with_the_marker_is_left_alone(forge: GitHub) -> None:
    forge.comments = [{"id": 1, "body": f"{MARKER}\nmine", "user": {"type": "User"}}]
    client(forge).keep("org/shop", 7, f"{MARKER}\nnew")
    assert forge.comments[0]["body"] == f"{MARKER}\nmine"
    assert len(forge.comments) == 2


def test_only_the_pull_request_with_that_very_head_is_commented_on(forge: GitHub) -> None:
    assert client(forge).pull_request(WHERE) == 7
    forge.pulls = [{"number": 7, "head": {"sha": "cd" * 20}}]
    assert client(forge).pull_request(WHERE) is None


def test_a_server_that_is_busy_is_asked_again(forge: GitHub) -> None:
    forge.failures = [502, 429, 503]
    assert client(forge).pull_request(WHERE) == 7


def test_a_server_that_stays_busy_is_an_error(forge: GitHub) -> None:
    forge.failures = [503] * 4
    with pytest.raises(UsageError, match="503"):
        client(forge).pull_request(WHERE)
    assert len(forge.asked) == 4


@pytest.mark.parametrize("status", [302, 401, 403, 404, 422])
def test_a_refusal_is_an_error_at_once_and_no_redirect_gets_the_token(forge: GitHub, status: int) -> None:
    forge.failures = [status]
    with pytest.raises(UsageError, match=str(status)):
        client(forge).pull_request(WHERE)
    assert len(forge.asked) == 1


@pytest.mark.parametrize("address", ["http://api.example.org", "ftp://127.0.0.1:1", "", "file:///etc/passwd"])
def test_the_token_goes_to_https_addresses_only(address: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        Forge(address, "token")


def test_without_a_token_the_message_says_how_to_pass_it() -> None:
    with pytest.raises(UsageError, match=r"GITHUB_TOKEN: \$\{\{ github.token \}\}"):
        Forge("https://api.github.com", "")


@pytest.mark.parametrize(
    "payload", [{}, {"workflow_run": None}, {"workflow_run": {"head_sha": SHA}}, {"workflow_run": 3}]
)
def test_an_event_that_names_no_commit_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="workflow_run"):
        place(payload, "org/shop")


def comment(tmp_path: Path, server: GitHub, data: bytes) -> subprocess.CompletedProcess[str]:
    """The second job, over the map that the first left behind."""
    event, stored = tmp_path / "event.json", tmp_path / "map.json"
    event.write_text(json.dumps(RUN), encoding="utf-8")
    stored.write_bytes(data)
    variables = {
        **environment(),
        "PYTHONPATH": str(SOURCE),
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "org/shop",
        "GITHUB_API_URL": server.address,
        "GITHUB_TOKEN": "secret-token",
    }
    words = [sys.executable, "-m", "linewitness", "ci", "github-comment", "--map", str(stored)]
    return subprocess.run(words, cwd=tmp_path, env=variables, check=False, capture_output=True, text=True)


def test_the_job_renders_the_map_anew(tmp_path: Path, forge: GitHub) -> None:
    artifact = Assembly("check", "sha256-16", None).finish(scored=True)
    done = comment(tmp_path, forge, b"".join(encode(artifact)))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "https://forge.example/7#99\n"
    assert forge.comments[0]["body"].startswith(MARKER)
    assert "gate open" in forge.comments[0]["body"].lower()
    assert {token for _, _, token in forge.asked} == {"Bearer secret-token"}
    assert "secret-token" not in done.stdout + done.stderr


@pytest.mark.parametrize("data", [b"", b"{}", b"# gate open", b'{"verdict":"open"}'])
def test_what_is_no_map_is_never_posted(tmp_path: Path, forge: GitHub, data: bytes) -> None:
    done = comment(tmp_path, forge, data)
    assert done.returncode == 3
    assert not forge.asked


def test_a_map_that_contradicts_itself_is_never_posted(tmp_path: Path, forge: GitHub) -> None:
    artifact = Assembly("check", "sha256-16", None).finish(scored=True)
    forged = b"".join(encode(artifact)).replace(b'"owed":0', b'"owed":5')
    done = comment(tmp_path, forge, forged)
    assert done.returncode == 3
    assert "5 lines are said to be owed" in done.stderr
    assert not forge.asked
