"""Cheap looks at the words of imports agree with the plain ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linewitness.languages.python.imports import has_name, names_in

WORDS = st.text("aA_0", min_size=1, max_size=3).map(str.encode)
TEXTS = st.text("aA_0 .\n", max_size=30).map(str.encode)


@given(TEXTS, WORDS)
def test_a_name_is_found_where_it_is_a_whole_word(text: bytes, name: bytes) -> None:
    assert has_name(name, text) is (name in names_in(text))


def test_a_part_of_a_word_is_no_name() -> None:
    assert has_name(b"os", b"import posix, os")
    assert not has_name(b"os", b"import posix, os_, _os, os2")
