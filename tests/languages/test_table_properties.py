"""What holds for every text in every language that a table describes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from linewitness.languages import classify, demands, tables
from linewitness.languages.grammar.side import Side
from linewitness.languages.markers import hidden_lines, markers
from linewitness.model import FileText, Kind, LineOptions
from tests.support.texts import change, classes

SUFFIXES = {
    "bash": "sh", "c": "c", "c-sharp": "cs", "cpp": "cpp", "go": "go", "java": "java", "javascript": "js",
    "kotlin": "kt", "php": "php", "ruby": "rb", "rust": "rs", "scala": "scala", "swift": "swift", "typescript": "ts",
}  # fmt: skip
COMMENTS = {"bash": "#", "ruby": "#"}
WORDS = (
    "if (a) {", "}", "else {", "f(a, b);", "return 1;", "x = 1", "(", ")", "// c", "# c", "/* c", "*/", "'", '"', "`",
    "class A {", "fn f() {", "func f() {", "def f():", "end", "import a;",
    "#if X", "#endif", "<<T", "T", "=>", "case 1:",
    "{ y -> z }", "@A", "#[cfg(test)]", "é", "\t", "",
)  # fmt: skip
LANGUAGES = st.sampled_from(sorted(SUFFIXES))
TEXTS = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from(WORDS), max_size=14).map(lambda words: ("\n".join(words) + "\n").encode()),
)


def of(language: str, base: bytes | None, head: bytes) -> FileText:
    return change(base, head, f"a.{SUFFIXES[language]}")


def test_the_properties_are_asked_of_every_table() -> None:
    assert SUFFIXES.keys() == tables.MODULES.keys()


@settings(max_examples=300, deadline=None, derandomize=True)  # a grammar that crashes would take the worker along
@given(language=LANGUAGES, base=st.none() | TEXTS, head=TEXTS)
def test_any_bytes_are_in_exactly_one_class_each_line_and_can_be_asked_for(
    language: str, base: bytes | None, head: bytes
) -> None:
    text = of(language, base, head)
    found = classify(text, LineOptions(), lambda _: False)
    rows = [each.line for each in found.obligations] + [each.line for each in found.exempt]
    assert len(rows) == len(set(rows))
    if rows != [0]:
        changed = {line for hunk in text.hunks for line in range(hunk.head_start, hunk.head_start + hunk.head_count)}
        deletions = {each.line for each in found.obligations if each.kind is Kind.DELETION}
        assert changed <= set(rows)
        assert set(rows) - changed <= deletions
        assert len(demands(text, found.obligations)) == len(found.obligations)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(language=LANGUAGES, words=st.lists(st.sampled_from(WORDS), max_size=10), at=st.integers(0, 10))
def test_a_new_comment_line_in_a_readable_file_makes_nothing_owe(language: str, words: list[str], at: int) -> None:
    head = ("<?php\n" if language == "php" else "") + "\n".join(words) + "\n"
    plain = of(language, None, head.encode())
    assert plain.head is not None
    table = tables.table(language)
    assert table is not None
    side = Side(plain.head, plain.change.path, table)
    lines = head.split("\n")
    line = max(min(at, len(lines) - 1), 1)  # what stands before "<?php" is no comment
    if side.root.has_error or any(leaf.first <= line < leaf.last for leaf in side.outline.leaves):
        return
    if "<<T" in words:  # whatever follows may be the text of a here-document
        return
    lines.insert(line, COMMENTS.get(language, "//") + " new")
    text = of(language, plain.head, "\n".join(lines).encode())
    if Side(text.head or b"", plain.change.path, table).root.has_error:
        return
    assert set(classes(text).values()) <= {"comment", "reformatted", "blank"}


@given(head=st.binary(max_size=200))
def test_markers_and_hidden_lines_are_lines_of_the_file(head: bytes) -> None:
    count = head.count(b"\n") + 1
    assert all(1 <= line <= count for line in hidden_lines(head))
    assert all(1 <= marker.line <= count for marker in markers(head, range(1, count + 1)))
