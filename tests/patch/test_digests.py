"""Digests are those of hashlib, whichever implementation makes them."""

from __future__ import annotations

import hashlib

import pytest

from linewitness import digests

SIZES = (0, 1, 64, digests._SHORT, digests._SHORT + 1, digests._MUCH + 1)


@pytest.mark.parametrize("spent", [0, digests._MUCH])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_digest_is_that_of_the_parts_together(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, size: int, spent: int
) -> None:
    monkeypatch.setattr(digests, "_hashed", spent)
    data = bytes(range(256)) * (size // 256 + 1)
    parts = (b"blob 3\0", data[: size // 3], data[size // 3 : size])
    assert digests.hexdigest(algorithm, *parts) == hashlib.new(algorithm, b"blob 3\0" + data[:size]).hexdigest()


def test_each_of_many_texts_has_its_own() -> None:
    texts = [b"", b"a", b"b" * 100]
    assert digests.sha256_of_each(texts) == [hashlib.sha256(text).hexdigest() for text in texts]
    assert digests.sha256(b"a", b"b") == hashlib.sha256(b"ab").hexdigest()


def test_another_algorithm_is_refused() -> None:
    with pytest.raises(KeyError):
        digests.hexdigest("md5", b"")
