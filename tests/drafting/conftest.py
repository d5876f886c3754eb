"""Repositories with a patch that leaves lines unwitnessed, and the command line in the test's process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from linewitness.drafting.endpoint import KEY, MODEL, URL
from tests.cli.conftest import Outcome, run  # noqa: F401 - a fixture
from tests.support.repos import Content, Repo

__all__ = ["Outcome"]

CODEC = """\
def encode(data: bytes) -> str:
    return data.hex()


def decode(text: str) -> bytes:
    return bytes.fromhex(text)
"""
REWRITTEN = """\
def encode(data: bytes) -> str:
    text = ""
    for byte in data:
        text += "%02x" % byte
    return text


def decode(text: str) -> bytes:
    found = []
    for at in range(0, len(text), 2):
        found.append(int(text[at : at + 2], 16))
    return bytes(found)
"""
TRUSTED = 'import codec\n\n\ndef test_nothing_is_nothing():\n    assert codec.encode(b"") == ""\n'


def codec(folder: Path, base: Mapping[str, Content] | None = None, head: Mapping[str, Content] | None = None) -> Repo:
    """A codec that a patch rewrites; its one check leaves most of that unwitnessed. The patch is checked out."""
    repo = Repo(folder / "codec")
    repo.commit("base", {"codec.py": CODEC, "tests/trusted/test_codec.py": TRUSTED, **(base or {})})
    repo.branch("patch")
    repo.commit("head", {"codec.py": REWRITTEN, **(head or {})})
    return repo


@pytest.fixture(autouse=True)
def _no_model_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a model that the machine names."""
    for name in (URL, MODEL, KEY):
        monkeypatch.delenv(name, raising=False)


def answer(python: str, corpus: str = "", lines: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """One relation as a model gives it."""
    return {
        "name": "a",
        "about": "what it says",
        "python": python,
        "corpus_name": corpus,
        "corpus_lines": [*lines],
        **more,
    }
