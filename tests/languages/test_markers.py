"""The comments and attributes that tell coverage tools to look away."""

from __future__ import annotations

import pytest

from linewitness import advice
from linewitness.languages.markers import hidden_lines, markers
from tests.support.texts import change

MARKERS = [
    "x = 1  # pragma: no cover",
    "if a:  # pragma:no branch",
    "/* istanbul ignore next */",
    "// istanbul ignore else",
    "/* c8 ignore next 3 */",
    "/* v8 ignore start */",
    "/* node:coverage disable */",
    "f(); // LCOV_EXCL_LINE",
    "// LCOV_EXCL_BR_START",
    "// GCOVR_EXCL_STOP",
    "#[coverage(off)]",
    "#[cfg_attr(coverage_nightly, coverage(off))]",
    "#[cfg(not(tarpaulin_include))]",
    "# :nocov:",
    "// @codeCoverageIgnoreStart",
    "#[CodeCoverageIgnore]",
    "#[\\PHPUnit\\Framework\\Attributes\\CodeCoverageIgnore]",
    "[ExcludeFromCodeCoverage]",
    '[System.Diagnostics.CodeAnalysis.ExcludeFromCodeCoverage(Justification = "x")]',
    "@Generated",
    "@lombok.Generated",
    "@ExcludeFromCodeCoverageGenerated",
    "// $COVERAGE-OFF$",
    "f # kcov-ignore-line",
]  # fmt: skip


@pytest.mark.parametrize("line", MARKERS)
def test_a_marker_that_a_patch_adds_is_named_with_its_line(line: str) -> None:
    found = list(markers(f"a\n{line}\nb\n".encode(), [1, 2, 3]))
    assert [marker.line for marker in found] == [2]
    assert found[0].text in line


@pytest.mark.parametrize(
    "line", ["// ignore this", "@GeneratedValue", "// coverage is off", "# pragma: once", "// nocov"]
)
def test_other_comments_are_no_markers(line: str) -> None:
    assert not list(markers(line.encode(), [1]))


def test_only_markers_on_added_lines_are_advised_about() -> None:
    base = "/* istanbul ignore next */\nf();\n"
    assert advice.for_file(change(base, base + "g();\n", "a.js")) == ()
    (finding,) = advice.for_file(change("f();\n", base, "a.js"))
    assert (finding.code, finding.path, finding.line) == ("LW604", "a.js", 1)


@pytest.mark.parametrize(
    ("head", "hidden"),
    [
        ("a\n/* c8 ignore next 2 */\nb\nc\nd\n", {2, 3, 4}),
        ("a\n/* c8 ignore next */\nif (b) {\n  c\n}\nd\n", {2, 3, 4, 5}),
        ("a\n/* v8 ignore start */\nb\n/* v8 ignore stop */\nc\n", {2, 3, 4}),
        ("a\n/* c8 ignore start */\nb\n", {2, 3, 4}),
        ("/* c8 ignore file */\nb", {1, 2}),
        ("a\n", set()),
    ],
)
def test_the_lines_that_a_comment_hides_are_taken_at_their_widest(head: str, hidden: set[int]) -> None:
    assert hidden_lines(head.encode()) == hidden
