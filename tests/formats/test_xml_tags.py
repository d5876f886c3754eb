"""Tags are found by bytes where that is exact, and by the parser elsewhere, with the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import source
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.formats.xml_tags import Place, Tag, decode, tags
from tests.formats.files import written

WATCHED = frozenset({"file", "package"})


def tags_of(folder: Path, text: str | bytes) -> list[Tag]:
    return list(tags(ExportFile(written(folder, text)), "coverage", WATCHED))


def by_parser(folder: Path, text: str) -> list[Tag]:
    """The same document with a comment in it, which no search for bytes understands; offsets are put right."""
    comment = "<!-- -->"
    at = text.index(">", text.index("<coverage")) + 1
    shifted = tags_of(folder, text[:at] + comment + text[at:])
    return [tag._replace(start=tag.start - len(comment)) for tag in shifted]


_name = st.text(st.sampled_from("ab/ é'&lt;>"), max_size=6).map(
    lambda text: text.replace("&", "&amp;").replace("<", "")
)
_file = st.builds(
    lambda name, inner: f'<file name="{name}">{inner}</file>', _name, st.sampled_from(["", "<line a='1>2'/>", "x"])
)
_element = st.one_of(_file, st.builds('<file  path = "{}"\n />'.format, _name), st.just("<files><filed/></files>"))
_package = st.builds(lambda parts: f"<package name='p'>{''.join(parts)}</package>", st.lists(_element, max_size=3))


@given(st.lists(st.one_of(_package, _element), max_size=4))
def test_searching_for_bytes_finds_what_the_parser_finds(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = f'<?xml version="1.0"?>\n<!DOCTYPE coverage SYSTEM "http://example.org/x.dtd">\n<coverage>{"".join(parts)}</coverage>'
    byte_length = [tag._replace(start=len(text.encode()[: tag.start])) for tag in tags_of(folder, text)]
    assert byte_length == by_parser(folder, text)


@pytest.mark.parametrize("size", [64, 97, 1 << 14])
def test_tags_across_the_edges_of_windows_are_found_once(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "<coverage>"
        + "".join(f'<file name="{"n" * (number % 50)}{number}"></file>' for number in range(400))
        + "</coverage>"
    )
    monkeypatch.setattr(source, "WINDOW", size)
    found = tags_of(tmp_path, text)
    assert [tag.attributes["name"].lstrip("n") for tag in found if tag.attributes is not None] == [
        str(n) for n in range(400)
    ]


def test_a_comment_does_not_hide_or_make_files(tmp_path: Path) -> None:
    text = '<coverage><!-- <file name="no"> --><file name="yes"/><![CDATA[<file name="no">]]></coverage>'
    assert [tag.attributes for tag in tags_of(tmp_path, text) if tag.attributes] == [{"name": "yes"}]


def test_an_entity_is_refused_wherever_it_is_declared(tmp_path: Path) -> None:
    bomb = (
        '<!DOCTYPE coverage [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><coverage><file name="&b;"/></coverage>'
    )
    with pytest.raises(EvidenceError, match="entity declaration"):
        tags_of(tmp_path, bomb)
    outside = '<!DOCTYPE coverage SYSTEM "http://example.org/x.dtd"><coverage><file name="&who;"/></coverage>'
    with pytest.raises(EvidenceError, match="entity"):
        tags_of(tmp_path, outside)
    file = '<!DOCTYPE coverage [<!ENTITY a SYSTEM "file:///etc/passwd">]><coverage>&a;</coverage>'
    with pytest.raises(EvidenceError, match="entity declaration"):
        tags_of(tmp_path, file)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("<coverage><file></coverage>", "does not end"),
        ("<coverage><file name='a'></package></file></coverage>", "mismatched tag"),
        ("<coverage><file a='1' a='2'/></coverage>", "duplicate attribute"),
        ("<coverage><file a=1/></coverage>", "not well-formed"),
        ("<coverage></coverage><coverage></coverage>", "junk after document element"),
        ("<other><file/></other>", "outermost element is <other>"),
        ("<coverage>" + "<a>" * 100 + "</a>" * 100 + "</coverage>\n<!-- -->", "nested deeper"),
        ('<?xml version="1.0" encoding="utf-16"?><coverage/>', "encoding"),
        ('<?xml version="1.0" encoding="klingon"?><coverage/>', "encoding"),
    ],
)
def test_what_is_no_such_document_is_refused_with_the_reason(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(EvidenceError, match=complaint):
        tags_of(tmp_path, text)


def test_other_encodings_of_bytes_are_understood_in_names_and_in_fragments(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>'
    text += '<coverage><file name="caf\xe9"><line name="\xe8"/></file></coverage>'
    export = ExportFile(written(tmp_path, text.encode("latin-1")))
    start, end = tags(export, "coverage", WATCHED)
    assert start.attributes == {"name": "café"}
    seen: list[dict[str, str]] = []
    decode(export, Place("file", start.start, end.start), lambda _path, attributes: seen.append(attributes))
    assert seen == [{"name": "café"}, {"name": "è"}]


def test_a_fragment_that_is_no_xml_is_refused_with_its_place(tmp_path: Path) -> None:
    export = ExportFile(written(tmp_path, '<coverage><file name="a"><line</file></coverage>'))
    start, end = tags(export, "coverage", WATCHED)
    with pytest.raises(EvidenceError, match="at byte"):
        decode(export, Place("file", start.start, end.start), lambda _path, _attributes: None)
