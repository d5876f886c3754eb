"""The comment under a pull request, kept up to date by a job that sees data only.

A pull request from a fork runs with a token that cannot comment. A second workflow, started when the first is over,
has one that can, and takes nothing from the first but its map: the text is rendered anew from that, and which pull
request it belongs to is asked of GitHub, never read from what the first job left behind. Nothing of the patch is
checked out or run. Source: GitHub's REST documentation, "Issue comments" and "Pull requests".
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from typing import Any, Final

from linewitness.errors import UsageError
from linewitness.reports.markdown import MARKER
from linewitness.values import NamedTuple

_MOST_CHARACTERS: Final = 65_536
_PER_PAGE: Final = 100
_MOST_PAGES: Final = 50
_LARGEST_ANSWER: Final = 32 << 20
_SECONDS: Final = 30
_TRIES: Final = 4


class Place(NamedTuple):
    """Which commit of which branch a finished workflow was about, as the event says."""

    repository: str
    head_owner: str
    head_branch: str
    head_sha: str


def place(payload: Mapping[str, Any], repository: str) -> Place:
    """Read the payload of a ``workflow_run`` event. Errors: :class:`UsageError`."""
    run = payload.get("workflow_run")
    try:
        owner = run["head_repository"]["owner"]["login"]  # type: ignore[index]
        found = Place(repository, owner, run["head_branch"], run["head_sha"])  # type: ignore[index]
    except (KeyError, TypeError):
        raise UsageError(
            "this event is no workflow_run: its payload does not say what the finished run was about"
        ) from None
    if not all(isinstance(value, str) and value for value in found):
        raise UsageError("the payload of the workflow_run event does not name a commit and a branch")
    return found


class Forge:
    """GitHub's REST interface, as far as one comment needs it. ``wait`` is given the seconds between two tries."""

    def __init__(self, api: str, token: str, wait: Callable[[float], None] = time.sleep) -> None:
        if not api.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
            raise UsageError(f"GITHUB_API_URL is {api!r}, which is no https address: the token is not sent there")
        if not token:
            raise UsageError("GITHUB_TOKEN is not set: pass it to the step as `env: GITHUB_TOKEN: ${{ github.token }}`")
        self._api, self._token, self._wait = api.rstrip("/"), token, wait
        self._opener = urllib.request.build_opener(_NoRedirects())

    def pull_request(self, where: Place) -> int | None:
        """The open pull request whose head is this very commit, ``None`` when there is none (any more)."""
        head = urllib.parse.quote(f"{where.head_owner}:{where.head_branch}", safe="")
        for pull in self._pages(f"/repos/{where.repository}/pulls?state=open&head={head}"):
            if _at(pull, "head", "sha") == where.head_sha and isinstance(pull.get("number"), int):
                return int(pull["number"])
        return None

    def keep(self, repository: str, number: int, body: str) -> str:
        """Write the gate's one comment, or write it anew; its address."""
        if len(body) > _MOST_CHARACTERS:
            raise UsageError(f"the comment has {len(body)} characters, and GitHub takes {_MOST_CHARACTERS}")
        for comment in self._pages(f"/repos/{repository}/issues/{number}/comments"):
            own = _at(comment, "user", "type") == "Bot" and MARKER in str(comment.get("body"))
            if own and isinstance(comment.get("id"), int):
                path = f"/repos/{repository}/issues/comments/{comment['id']}"
                return str(_at(self._ask("PATCH", path, {"body": body}), "html_url"))
        answer = self._ask("POST", f"/repos/{repository}/issues/{number}/comments", {"body": body})
        return str(_at(answer, "html_url"))

    def _pages(self, path: str) -> Iterator[Mapping[str, Any]]:
        sign = "&" if "?" in path else "?"
        for page in range(1, _MOST_PAGES + 1):
            items = self._ask("GET", f"{path}{sign}per_page={_PER_PAGE}&page={page}")
            if not isinstance(items, list):
                raise UsageError(f"GitHub's answer to {path} is no list")
            yield from (item for item in items if isinstance(item, dict))
            if len(items) < _PER_PAGE:
                return

    def _ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "linewitness",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._api + path, data, headers, method=method)  # noqa: S310 - see __init__
        for attempt in range(_TRIES):
            last = attempt == _TRIES - 1
            try:
                with self._opener.open(request, timeout=_SECONDS) as answer:
                    return json.loads(answer.read(_LARGEST_ANSWER))
            except urllib.error.HTTPError as error:
                if last or error.code not in {429, 500, 502, 503, 504}:
                    raise UsageError(f"GitHub refused {method} {path}: {error.code} {error.reason}") from error
            except (OSError, HTTPException, ValueError) as error:
                if last:
                    raise UsageError(f"GitHub could not be asked {method} {path}: {error}") from error
            self._wait(float(2**attempt))
        raise AssertionError("the last try returns or raises")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another address."""

    def redirect_request(self, *_: object) -> None:
        """Follow none; the answer 3xx is then an error."""


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
