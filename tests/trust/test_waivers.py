"""The waiver file: every rule with a record that breaks it and one that only just does not."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linewitness.model import Reason
from linewitness.settings import Settings, WaiverDays
from linewitness.trust import strict_yaml
from linewitness.trust.codeowners import CodeOwners
from linewitness.trust.waivers import WaiverFile, WaiverPolicy, load, parse, policy_of

TODAY = dt.date(2026, 9, 20)
POLICY = WaiverPolicy(TODAY)
FILE = "tests/waivers.yaml"

PUBLISHED = """\
# tests/waivers.yaml
waivers:
  - path: src/codegen/emit.py
    line_hash: "a1b2c3d4e5f6"
    reason: codegen
    owner: platform-reviewers
    expires: "2026-10-16"
    note: "Line is emitted by the schema compiler; oracle is the .proto file."
"""

FIELDS = {
    "path": "src/a.py",
    "line_hash": '"9f2c51d07ab3e1c4"',
    "reason": "codegen",
    "owner": "ada",
    "expires": '"2026-10-01"',
}


def record(**changes: str | None) -> str:
    """A waiver file with one good record; a value of ``None`` leaves the key out."""
    fields = FIELDS | changes
    lines = [f"{key}: {value}" for key, value in fields.items() if value is not None]
    return "waivers:\n  - " + "\n    ".join(lines) + "\n"


def read(text: str | bytes, policy: WaiverPolicy = POLICY) -> WaiverFile:
    return load(text.encode() if isinstance(text, str) else text, FILE, policy)


def codes(text: str | bytes, policy: WaiverPolicy = POLICY) -> list[str]:
    file = read(text, policy)
    assert all(finding.path == FILE and finding.severity == "error" for finding in file.findings)
    return [finding.code for finding in file.findings]


def test_the_published_example_is_a_live_waiver() -> None:
    (waiver,) = read(PUBLISHED).waivers

    assert waiver == (
        "src/codegen/emit.py",
        "a1b2c3d4e5f6",
        None,
        None,
        Reason.CODEGEN,
        "platform-reviewers",
        "2026-10-16",
        "Line is emitted by the schema compiler; oracle is the .proto file.",
        3,
        None,
    )
    assert codes(PUBLISHED) == []


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "waivers:\n", "waivers: []\n", "waivers: ~\n", "---\n", "waivers: null\n", "\ufeff"]
)
def test_a_file_without_records_is_valid(text: str) -> None:
    assert read(text) == WaiverFile((), ())
    assert load(None, FILE, POLICY) == WaiverFile((), ())


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"line_hash": '"a1b2c3d4e5f6"'},
        {"line_hash": "a1b2c3d4e5f6"},
        {"line_hash": '"123456789012"'},
        {"line_hash": None, "blob": '"' + "a" * 40 + '"'},
        {"line_hash": None, "blob": '"' + "a" * 64 + '"'},
        {"scope": "Emitter.header"},
        {"scope": '""'},
        {"scope": "f.<locals>.g", "occurrence": "2"},
        {"occurrence": '"2"'},
        {"expires": "2026-10-01"},
        {"expires": "2026-09-20"},
        {"reason": '"vendor"'},
        {"owner": '"@org/team"'},
        {"note": "|\n      two\n      lines"},
        {"note": '"2026"'},
        {"path": '"src/caf\\udce9.py"'},
        {"path": "'src/it''s [x].py'"},
    ],
)
def test_what_the_rules_allow_is_live(changes: dict[str, str | None]) -> None:
    assert codes(record(**changes)) == []
    assert len(read(record(**changes)).waivers) == 1


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"path": None}, "lacks `path`"),
        ({"owner": None, "reason": None}, "lacks `reason`, `owner`"),
        ({"expires": None}, "lacks `expires`"),
        ({"line_hash": None}, "either `line_hash`"),
        ({"blob": '"' + "a" * 40 + '"'}, "not both"),
        ({"line_hash": None, "blob": '"' + "a" * 40 + '"', "scope": "f"}, "whole file"),
        ({"line_hash": None, "blob": '"' + "a" * 40 + '"', "occurrence": "1"}, "whole file"),
        ({"line_hash": None, "blob": '"' + "a" * 39 + '"'}, "full object id"),
        ({"line_hash": None, "blob": '"' + "A" * 40 + '"'}, "lower case"),
        ({"line_hash": "123456789012"}, 'quote it: `line_hash: "123456789012"`'),
        ({"line_hash": "1234e5678901"}, "quote it"),
        ({"line_hash": '"A1B2C3D4E5F6"'}, "lower-case"),
        ({"line_hash": '"a1b2c3d4e5f"'}, "16 lower-case hex digits"),
        ({"line_hash": '"a1b2c3d4e5f67"'}, "16 lower-case hex digits"),
        ({"line_hash": '"' + "a" * 64 + '"'}, "16 lower-case hex digits"),
        ({"line_hash": "[a1b2c3d4e5f6]"}, "has to be text"),
        ({"reason": "will-add-tests-later"}, "only reasons"),
        ({"reason": "pure_refactor"}, "did you mean `pure-refactor`"),
        ({"reason": "Codegen"}, "only reasons"),
        ({"reason": ""}, "is empty"),
        ({"expires": '"2026-1-1"'}, "YYYY-MM-DD"),
        ({"expires": '"2026-02-30"'}, "no calendar has"),
        ({"expires": "2026-02-30"}, "no calendar has"),
        ({"expires": "20261001"}, "YYYY-MM-DD"),
        ({"expires": "2026-10-01T00:00:00"}, "YYYY-MM-DD"),
        ({"expires": "never"}, "YYYY-MM-DD"),
        ({"expires": "true"}, "YYYY-MM-DD"),
        ({"expires": "'\u0662\u0660\u0662\u0666-10-01'"}, "YYYY-MM-DD"),
        ({"owner": "yes"}, "quote it"),
        ({"owner": "1_000"}, "quote it"),
        ({"owner": "12:30:45"}, "quote it"),
        ({"owner": "~"}, "quote it"),
        ({"owner": '""'}, "names nobody"),
        ({"owner": '" ada"'}, "names nobody"),
        ({"owner": '"a\\u202eda"'}, "names nobody"),
        ({"note": '"a\\x1b[2J"'}, "cannot be seen"),
        ({"path": "/src/a.py"}, "no path from the root"),
        ({"path": "src/../a.py"}, "no path from the root"),
        ({"path": "./src/a.py"}, "no path from the root"),
        ({"path": "src//a.py"}, "no path from the root"),
        ({"path": "src/"}, "no path from the root"),
        ({"path": '"src/\\0"'}, "no path from the root"),
        ({"path": "{a: b}"}, "has to be text"),
        ({"scope": '"f..g"'}, "dotted name"),
        ({"scope": ""}, "is empty"),
        ({"occurrence": "0"}, "a number from 1"),
        ({"occurrence": "-1"}, "a number from 1"),
        ({"occurrence": "1.0"}, "a number from 1"),
        ({"line": "3"}, "unknown key `line`"),
        ({"expire": "2026-10-01"}, "did you mean `expires`"),
        ({"<<": "x"}, "unknown key `<<`"),
    ],
)
def test_a_record_that_breaks_a_rule_of_form_is_invalid_and_not_live(changes: dict[str, str | None], word: str) -> None:
    file = read(record(**changes))

    assert {finding.code for finding in file.findings} == {"LW201"}
    assert any(word in finding.message for finding in file.findings), file.findings
    assert all(finding.line > 1 for finding in file.findings)
    assert file.waivers == ()


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("waivers: x\n", "has to be a list", 1),
        ("- path: x\n", "a mapping with the key `waivers`", 1),
        ("just text\n", "a mapping with the key `waivers`", 1),
        ("waivers: []\nmore: 1\n", "unknown key `more`", 2),
        ("waiver: []\n", "unknown key `waiver`", 1),
        ("waivers:\n  - text\n", "a record has to be a mapping", 2),
        ("waivers: []\nwaivers: []\n", "given already, on line 1", 2),
        (record() + "    owner: bob\n", "given already, on line 5", 7),
        (record(owner="&o ada"), "anchors", 5),
        (record(owner="*o"), "aliases", 5),
        (record(owner="!!str ada"), "tags", 5),
        (record(owner="! ada"), "tags", 5),
        ("%YAML 1.1\n---\nwaivers: []\n", "directives", 2),
        ("waivers: []\n---\nwaivers: []\n", "a second document", 2),
        ("waivers: " + "[" * 50 + "]" * 50, "nested", 1),
        ("? [a]\n: b\n", "a key has to be text", 1),
        ("waivers:\n\t- x\n", "not valid YAML", 2),
        ("waivers: [\n", "not valid YAML", 2),
        ('waivers: "\\U00110000"\n', "not valid YAML", 0),
        ("waivers: []\n# \x1b[2J\n", "U+001B", 2),
        ("waivers: []\n\n# \u202e\n", "U+202E", 3),
        ("waivers: []\n# a\rb\n", "U+000D", 2),
        ("waivers: []\n# a\u2028b\n", "U+2028", 2),
    ],
)
def test_a_file_that_breaks_a_rule_of_form_is_invalid(text: str, word: str, line: int) -> None:
    (finding,) = read(text).findings

    assert (finding.code, finding.line) == ("LW201", line)
    assert word in finding.message
    assert read(text).waivers == ()


@pytest.mark.parametrize("data", [b"\xff", b"waivers: []\n# \xe9\n", "waivers: []\n".encode("utf-16")])
def test_a_file_that_is_not_utf8_is_invalid(data: bytes) -> None:
    (finding,) = read(data).findings

    assert (finding.code, finding.message) == (
        "LW201",
        f"column {finding.message.split()[1][:-1]}: the file is not UTF-8",
    )


def test_a_file_over_one_mebibyte_is_invalid_and_one_of_that_size_is_not() -> None:
    assert codes(b"#" * strict_yaml.LIMIT) == []
    assert codes(b"#" * (strict_yaml.LIMIT + 1)) == ["LW201"]


def test_a_message_names_line_and_column() -> None:
    (finding,) = read(record(reason="tired")).findings

    assert finding.line == 4
    assert finding.message.startswith("column 13: `reason` is 'tired'")


def test_every_trouble_of_every_record_is_reported_and_good_records_stay_live() -> None:
    text = record() + record(path="src/b.py", reason="x", expires="y").removeprefix("waivers:\n")
    text += record(path="src/c.py").removeprefix("waivers:\n")
    file = read(text)

    assert [(finding.code, finding.line) for finding in file.findings] == [("LW201", 9), ("LW201", 11)]
    assert [waiver.path for waiver in file.waivers] == ["src/a.py", "src/c.py"]


def test_two_records_for_one_line_are_one_too_many() -> None:
    again = record(reason="vendor").removeprefix("waivers:\n")
    other = record(scope="f").removeprefix("waivers:\n")

    assert codes(record() + again) == ["LW201"]
    assert codes(record() + other) == []


# ---------------------------------------------------------------- policy


@pytest.mark.parametrize(
    ("expires", "expected"), [("2026-09-19", ["LW202"]), ("2026-09-20", []), ("0001-01-01", ["LW202"])]
)
def test_a_waiver_holds_on_its_last_day_and_not_on_the_next(expires: str, expected: list[str]) -> None:
    assert codes(record(expires=f'"{expires}"')) == expected
    assert len(read(record(expires=f'"{expires}"')).waivers) == (not expected)


@pytest.mark.parametrize(
    ("reason", "days"), [("codegen", 180), ("vendor", 180), ("pure-refactor", 30), ("experiment", 14)]
)
def test_each_reason_has_its_longest_life(reason: str, days: int) -> None:
    last = TODAY + dt.timedelta(days=days)

    assert codes(record(reason=reason, expires=str(last))) == []
    assert codes(record(reason=reason, expires=str(last + dt.timedelta(days=1)))) == ["LW205"]
    assert codes(record(reason=reason, expires="9999-12-31")) == ["LW205"]


def test_settings_shorten_a_life() -> None:
    policy = WaiverPolicy(TODAY, days=WaiverDays(codegen=3))

    assert codes(record(expires="2026-09-23"), policy) == []
    assert codes(record(expires="2026-09-24"), policy) == ["LW205"]
    assert codes(record(reason="vendor", expires="2026-09-24"), policy) == []


def test_an_owner_has_to_be_listed_once_there_is_a_list() -> None:
    listed = WaiverPolicy(TODAY, owners=("ada", "bob"))

    assert codes(record(owner="ada"), listed) == []
    assert codes(record(owner="mallory"), listed) == ["LW207"]
    assert codes(record(owner="Ada"), listed) == ["LW207"]
    assert codes(record(owner="mallory"), POLICY) == []


def test_a_code_owner_of_the_path_may_own_its_waivers() -> None:
    files = {".github/CODEOWNERS": b"* @boss\n/src/ @org/platform dev@example.org\n", "CODEOWNERS": b"* @mallory\n"}
    policy = policy_of(Settings(owners=("ada",)), TODAY, files.get)

    assert codes(record(owner='"@org/platform"'), policy) == []
    assert codes(record(owner="org/Platform"), policy) == []
    assert codes(record(owner="dev@example.org"), policy) == []
    assert codes(record(owner='"@boss"'), policy) == ["LW207"]
    assert codes(record(owner='"@boss"', path="lib/a.py"), policy) == []
    assert codes(record(owner='"@mallory"'), policy) == ["LW207"]
    assert codes(record(owner="ada"), policy_of(Settings(owners=("ada",)), TODAY, lambda _: None)) == []


def test_a_record_can_break_several_rules_of_policy() -> None:
    assert codes(record(owner="mallory", expires="2020-01-01"), WaiverPolicy(TODAY, owners=("ada",))) == [
        "LW202",
        "LW207",
    ]


# ---------------------------------------------------------------- CODEOWNERS


OWNERS = CodeOwners(
    b"""# comment
*       @default
*.js    @js  # inline comment
/build/ @build
docs/*  docs@example.org
apps/   @apps
/apps/free
bad     not-an-owner
[Section] @section
[Section]
!apps/x @never
with\\ space @space
"""
)


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("a.py", {"@default"}),
        ("x/a.js", {"@js"}),
        ("build/deep/a", {"@build"}),
        ("x/build/a", {"@default"}),
        ("docs/a.md", {"docs@example.org"}),
        ("docs/deep/a.md", {"@default"}),
        ("x/apps/a", {"@apps"}),
        ("apps/free/a", set()),
        ("bad", {"@default"}),
        ("apps/x", {"@apps"}),
        ("with space", {"@space"}),
        ("Section", {"@default"}),
    ],
)
def test_the_last_codeowners_pattern_that_matches_decides(path: str, owners: set[str]) -> None:
    assert OWNERS.owners(path) == owners


@given(st.binary(max_size=80), st.text(max_size=8))
@example(b"* @a", "x")
def test_any_bytes_as_codeowners_can_be_asked(data: bytes, path: str) -> None:
    assert all("@" in owner for owner in CodeOwners(data).owners(path))


def test_a_codeowners_file_that_is_too_large_owns_nothing() -> None:
    assert CodeOwners(b"* @a\n" + b"#" * (3 << 20)).owners("a") == frozenset()


# ---------------------------------------------------------------- any bytes


@given(st.binary(max_size=120))
def test_any_bytes_as_a_waiver_file_give_findings_or_nothing_to_waive(data: bytes) -> None:
    file = read(data)

    assert file.findings or not file.waivers
    assert {finding.code for finding in file.findings} <= {"LW201"}


YAMLISH = st.lists(
    st.sampled_from(
        [
            "waivers",
            ":",
            " ",
            "\n",
            "  ",
            "- ",
            "path",
            "[",
            "]",
            "{",
            "}",
            "&a",
            "*a",
            "!t",
            "|",
            ">",
            '"',
            "'",
            "#",
            "? ",
            "---\n",
            "...\n",
            "%Y",
            ",",
            "\\",
            "\\U0011",
            "x",
            "1",
            "<<",
            "\t",
            "\r\n",
            "\u00e9",
            "2026-10-01",
            "@",
            "`",
            "=",
            "~",
        ]
    ),
    max_size=25,
).map("".join)


@given(YAMLISH)
@example('"\\U0011')
@example("waivers:\n- |")
@example("%Y")
def test_anything_that_looks_like_yaml_is_read_or_refused(text: str) -> None:
    waivers, findings = parse(text.encode(), FILE)

    assert waivers == ()
    assert all(finding.code == "LW201" and finding.message for finding in findings)


VALUES = st.sampled_from(
    [
        None,
        "x",
        '"x"',
        "2026-09-30",
        '"2026-09-30"',
        "codegen",
        "experiment",
        '"a1b2c3d4e5f6"',
        "~",
        "[]",
        "1",
        "ada",
        "''",
    ]
)


@given(st.fixed_dictionaries(dict.fromkeys((*FIELDS, "blob", "scope", "note"), VALUES)))
def test_a_record_is_live_or_has_a_finding_and_never_both(changes: dict[str, str | None]) -> None:
    file = read(record(**changes))

    assert bool(file.waivers) is not bool(file.findings)


@given(
    st.lists(
        st.sampled_from(
            [record(), record(reason="x"), record(path="src/b.py"), record(path="c", expires="2020-01-01")]
        ),
        max_size=5,
    ),
    st.data(),
)
def test_taking_a_record_away_never_adds_a_live_waiver_or_takes_one_from_another_line(
    texts: list[str], data: st.DataObject
) -> None:
    bodies = [text.removeprefix("waivers:\n") for text in texts]
    before = {waiver.path for waiver in read("waivers:\n" + "".join(bodies)).waivers}
    if bodies:
        gone = bodies.pop(data.draw(st.integers(0, len(bodies) - 1)))
        after = {waiver.path for waiver in read("waivers:\n" + "".join(bodies)).waivers}
        lost = {waiver.path for waiver in parse(("waivers:\n" + gone).encode(), FILE)[0]}
        assert before - lost <= after <= before
