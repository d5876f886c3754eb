from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import source
from linewitness.evidence.formats.cobertura import Hopped, Parsed, hop, open_cobertura
from linewitness.evidence.formats.cobertura_xml import parse
from linewitness.evidence.formats.facts import BranchArm
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written

HEAD = '<?xml version="1.0" ?>\n'


def document(*classes: str, sources: str = "<source>/r</source>", prolog: str = HEAD) -> str:
    body = "".join(classes)
    return (
        f"{prolog}<coverage version='7'>\n<sources>{sources}</sources>\n<packages><package name='p'><classes>\n"
        f"{body}</classes></package></packages>\n</coverage>\n"
    )


def klass(*lines: str, name: str = "a.py", methods: str = "<methods/>") -> str:
    return f'<class name="c" filename="{name}" line-rate="1">\n{methods}\n<lines>\n{"".join(lines)}</lines>\n</class>\n'


def line(number: object, hits: object, more: str = "") -> str:
    return f'\t<line number="{number}" hits="{hits}"{more}/>\n'


def opened(folder: Path, text: str | bytes) -> Hopped | Parsed:
    return open_cobertura(ExportFile(written(folder, text)))


def counts(folder: Path, text: str | bytes, name: str = "a.py") -> dict[int, int]:
    return dict(opened(folder, text).facts(name).counts)


def test_a_usual_file_is_hopped_over_and_not_parsed(tmp_path: Path) -> None:
    found = opened(tmp_path, document(klass(line(1, 1), line(2, 0)), klass(line(3, 9), name="b.py")))
    assert isinstance(found, Hopped)
    assert found.bases == ("/r",)
    assert {name: dict(found.facts(name).counts) for name in found.names} == {"a.py": {1: 1, 2: 0}, "b.py": {3: 9}}


def test_a_file_that_stands_once_per_class_is_merged_by_maximum(tmp_path: Path) -> None:
    text = document(klass(line(1, 1), line(2, 0)), klass(line(1, 0), line(2, 3)))
    assert counts(tmp_path, text) == {1: 1, 2: 3}


def test_lines_of_methods_are_not_read(tmp_path: Path) -> None:
    methods = f"<methods><method name='m'><lines>{line(1, 5)}</lines></method></methods>"
    assert counts(tmp_path, document(klass(line(1, 0), methods=methods))) == {1: 0}


def test_conditions_inside_a_line_send_only_that_class_to_the_parser(tmp_path: Path) -> None:
    nested = '<line number="4" hits="2" branch="true" condition-coverage="50% (1/2)"><conditions/></line>\n'
    found = opened(tmp_path, document(klass(nested, line(5, 0))))
    assert isinstance(found, Hopped)
    assert dict(found.facts("a.py").counts) == {4: 2, 5: 0}
    assert [arm.taken for arm in found.facts("a.py").branches] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        document("<!-- <class filename='x'> -->" + klass(line(1, 1))),
        document(klass(line(1, 1)).replace("<class ", "<class\n")),
        document(klass("<![CDATA[ ]]>", line(1, 1))),
        document(klass(line(1, 1)).replace('filename="a.py"', 'filename="a&#46;py"')),
        document(klass(line(1, 1)), prolog='<?xml version="1.0" encoding="iso-8859-1"?>\n'),
    ],
    ids=["comment", "newline in tag", "cdata", "entity in name", "other encoding"],
)
def test_a_file_of_another_shape_goes_through_the_parser_with_the_same_answer(tmp_path: Path, text: str) -> None:
    found = opened(tmp_path, text)
    assert isinstance(found, Parsed)
    assert dict(found.facts("a.py").counts) == {1: 1}


def test_utf16_is_read(tmp_path: Path) -> None:
    text = document(klass(line(1, 1), name="ü.py"), prolog='<?xml version="1.0" encoding="utf-16"?>\n').encode("utf-16")
    assert counts(tmp_path, text, "ü.py") == {1: 1}


def test_a_doctype_is_accepted_and_never_looked_up(tmp_path: Path) -> None:
    prolog = HEAD + '<!DOCTYPE coverage SYSTEM "http://cobertura.invalid/coverage-04.dtd">\n'
    assert counts(tmp_path, document(klass(line(1, 1)), prolog=prolog)) == {1: 1}


@pytest.mark.parametrize(
    "prolog",
    [
        HEAD + '<!DOCTYPE coverage [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n',
        HEAD + '<!DOCTYPE coverage [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n',
        HEAD + '<!DOCTYPE coverage [<!ENTITY % a SYSTEM "file:///etc/passwd">]>\n',
    ],
    ids=["bomb", "external", "parameter"],
)
def test_an_entity_declaration_is_refused(tmp_path: Path, prolog: str) -> None:
    with pytest.raises(EvidenceError, match="entity declaration"):
        opened(tmp_path, document(klass(line(1, 1)), prolog=prolog))


def test_an_undefined_entity_behind_a_doctype_is_refused_and_not_dropped(tmp_path: Path) -> None:
    prolog = HEAD + '<!DOCTYPE coverage SYSTEM "coverage-04.dtd">\n'
    text = document(klass(line(1, 1), name="a&x;.py"), prolog=prolog)
    with pytest.raises(EvidenceError, match="entity"):
        opened(tmp_path, text)


def test_elements_nested_by_the_thousand_are_refused(tmp_path: Path) -> None:
    text = document("<x>" * 5000 + klass(line(1, 1)) + "</x>" * 5000)
    with pytest.raises(EvidenceError, match="nested"):
        opened(tmp_path, text)


@pytest.mark.parametrize(
    ("number", "hits"),
    [
        ("99999999", "1"),
        ("-1", "1"),
        ("", "1"),
        ("1", ""),
        ("1", "many"),
        ("1", "nan"),
        ("1e9", "1"),
        ("1", "0],[2,1"),
        ("99999999999", "1"),
    ],
)
def test_a_number_that_is_none_is_an_error(tmp_path: Path, number: str, hits: str) -> None:
    with pytest.raises(EvidenceError, match="is no line"):
        counts(tmp_path, document(klass(line(2, 1), line(number, hits))))


@pytest.mark.parametrize(
    ("hits", "read"), [("-1", 0), ("-", 0), ("1.0", 1), ("4294967297", 4294967297), ("9" * 40, 2**63 - 1)]
)
def test_odd_counts_are_read_for_what_they_say(tmp_path: Path, hits: str, read: int) -> None:
    assert counts(tmp_path, document(klass(line(3, hits)))) == {3: read}


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    text = document(klass(line(1, 1)), klass(line(1, 1), name="b.py")).encode()
    for end in range(1, len(text) - 2, 7):
        with pytest.raises(EvidenceError):
            opened(tmp_path, text[:end])


def test_another_outermost_element_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="outermost element"):
        opened(tmp_path, HEAD + "<report><coverage/></report>")


def test_arms_are_named_as_far_as_the_writer_names_them(tmp_path: Path) -> None:
    branch = ' branch="true" condition-coverage="25% (1/4)" missing-branches="exit,29"'
    assert opened(tmp_path, document(klass(line(4, 1, branch)))).facts("a.py").branches == (
        BranchArm(4, "exit", False),
        BranchArm(4, "line 29", False),
        BranchArm(4, "another arm", True),
        BranchArm(4, "an arm that the export does not name", False),
    )


_branches = st.sampled_from(
    [
        "",
        ' branch="true" condition-coverage="50% (1/2)" missing-branches="3"',
        ' branch="true" condition-coverage="100% (2/2)"',
    ]
)
_lines = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3), _branches), max_size=6)
_classes = st.lists(st.tuples(st.sampled_from(["a.py", "b/c.py", "ü.py"]), _lines), min_size=1, max_size=4)


@given(_classes, st.sampled_from(["\n", "", "\r\n\t\t"]), st.integers(7, 4096))
def test_hopping_gives_what_parsing_gives(
    tmp_path_factory: pytest.TempPathFactory,
    classes: list[tuple[str, list[tuple[int, int, str]]]],
    gap: str,
    window: int,
) -> None:
    text = document(*(klass(*(line(*each).replace("\n", gap) for each in lines), name=name) for name, lines in classes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "WINDOW", window)
        export = ExportFile(written(tmp_path_factory.getbasetemp(), text))
        hopped, parsed = hop(export), Parsed(parse(export))
        assert hopped is not None
        assert hopped.bases == parsed.bases
        assert list(hopped.names) == list(parsed.names)
        for name in parsed.names:
            assert hopped.facts(name) == parsed.facts(name)
