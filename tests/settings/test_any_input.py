"""Whatever bytes stand in a settings file: settings, or one message; never another exception."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import UsageError
from linewitness.settings import Settings, load
from linewitness.toml_lines import key_lines, line_of

FRAGMENTS = st.sampled_from(
    [
        *(f"{name.replace('_', '-')} = " for name in Settings.__struct_fields__),
        *("[[suite]]\n", "[max-waiver-days]\n", "[suite]\n", "runner = ", "run = ", "timeout = ", "path-map = "),
        *(
            '"arms"\n',
            "['**']\n",
            "[\n",
            "]\n",
            "{a = 1}\n",
            "3\n",
            "1.5\n",
            "true\n",
            "inf\n",
            "2020-02-30\n",
            "'''\n",
        ),
        *('"""\n', "#\n", "\n", "\r\n", "\\", '"!"\n', "['[[']\n", "a.b.c = ", "\x00", "'\u202e'\n", "12:00:00\n"),
    ]
)


def outcome(data: bytes, name: str) -> Settings | None:
    try:
        return load(lambda path: data if path == name else None).settings
    except UsageError as error:
        refusal = error
    assert refusal.path == name
    assert 0 <= refusal.line <= data.count(b"\n") + 1
    return None


@given(st.binary(max_size=200) | st.lists(FRAGMENTS, max_size=12).map(lambda parts: "".join(parts).encode()))
def test_any_bytes_are_settings_or_one_message(data: bytes) -> None:
    settings = outcome(data, "linewitness.toml")
    outcome(b"[tool.linewitness]\n" + data, "pyproject.toml")

    if settings is not None:
        assert settings.sources


KEYS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
LEAVES: st.SearchStrategy[Any] = st.sampled_from(["x", 1, True, "a\nb", '"', "'", "]", "#", ""])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


def written(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key)} = {inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ", # ]\n".join(inline(inner) for inner in value) + "\n]"
    return written(value) if isinstance(value, str) else str(value).lower()


@given(st.lists(st.tuples(KEYS, VALUES), max_size=5))
def test_every_key_is_found_on_its_line_whatever_its_value_looks_like(pairs: list[tuple[str, Any]]) -> None:
    text, expected = "", []
    for key, value in pairs:
        text += "[[table]]\n"
        expected.append(text.count("\n") + 1)
        text += f"{written(key)} = {inline(value)}\n"
    assert len(tomllib.loads(text).get("table", ())) == len(pairs)

    lines = key_lines(text)

    assert [lines["table", index, key] for index, (key, _) in enumerate(pairs)] == expected


def test_lines_are_found_through_every_form_of_key() -> None:
    text = """\
a.'b c'."d\\u0065" = 1
[t . u]
k = '''
[no.header]
'''
[[s]]
n = [1, [2,
  "]"], 3]
[[s]]
m = {x = 1, y.z = 2}
[s.sub]
o = 1979-05-27 07:32:00 # [x]
[[s.q]]
r = '''one quote before the end'''' # [here]
"""
    lines = key_lines(text)
    tomllib.loads(text)

    found = {
        ("a", "b c", "de"): 1,
        ("t", "u", "k"): 3,
        ("s", 0, "n", 1, 1): 8,
        ("s", 0, "n", 2): 8,
        ("s", 1): 9,
        ("s", 1, "m", "y", "z"): 10,
        ("s", 1, "sub", "o"): 12,
        ("s", 1, "q", 0, "r"): 14,
    }
    assert {path: lines[path] for path in found} == found


def test_a_path_without_a_line_of_its_own_has_that_of_what_encloses_it() -> None:
    lines = key_lines("[[s]]\nn = [[[[[[[[1, 2]]]]]]]]\n")

    assert line_of(lines, ("s", 0, "n", 0, 0, 0, 0, 0, 0, 0, 1)) == 2
    assert line_of(lines, ("s", 0, "missing")) == 1
    assert line_of(lines, ("missing",)) == 0
