from __future__ import annotations

import hashlib

import pytest

from linewitness.patch.identity import decode_line, line_hash, sha1_12, split_lines


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_a_line_has_the_same_identity_with_any_terminator(end: bytes) -> None:
    assert line_hash(b"x = 1" + end) == hashlib.sha256(b"x = 1").hexdigest()[:16]
    assert sha1_12(b"x = 1" + end) == hashlib.sha1(b"x = 1").hexdigest()[:12]


def test_only_one_carriage_return_belongs_to_the_terminator() -> None:
    assert line_hash(b"x\r\r\n") == line_hash(b"x\r\r") != line_hash(b"x\r\n")


def test_space_around_a_line_is_part_of_it() -> None:
    assert len({line_hash(line) for line in (b"x", b" x", b"x ", b"x\t")}) == 4


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"\r", [b""]),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"a\r\nb\r", [b"a", b"b"]),
        (b"a\r\r\n", [b"a\r"]),
        (b"a\rb\n", [b"a\rb"]),
        (b"a\n\r", [b"a", b""]),
        ("a\u2028b\x0c\x0b\x1c\x85c\n".encode(), ["a\u2028b\x0c\x0b\x1c\x85c".encode()]),
    ],
)
def test_only_a_line_feed_ends_a_line(text: bytes, lines: list[bytes]) -> None:
    assert split_lines(text) == lines


def test_bytes_that_are_not_utf_8_survive_decoding() -> None:
    assert decode_line(b"\xff\n").encode("utf-8", "surrogateescape") == b"\xff"
