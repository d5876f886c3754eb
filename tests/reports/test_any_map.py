"""Whatever stands in a map, each format is a document that its consumer accepts, and no text is taken for more."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings

from linewitness import reports
from linewitness.console import Screen, safe
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap, Status, decode, encode
from linewitness.reports import View
from tests.reports import any_map, consumers, samples

VIEW = View(Screen(width=80))
FOR_PEOPLE = ("text", "agent", "markdown", "github")

# The elements that the page and the Markdown report are made of; another one came out of the map.
PAGE = {
    "html",
    "head",
    "meta",
    "link",
    "title",
    "style",
    "body",
    "a",
    "header",
    "div",
    "span",
    "h1",
    "p",
    "button",
    "b",
    "i",
    "small",
    "svg",
    "rect",
    "main",
    "section",
    "h2",
    "ul",
    "li",
    "br",
    "code",
    "details",
    "summary",
    "dl",
    "dt",
    "dd",
    "label",
    "kbd",
    "input",
    "noscript",
    "nav",
    "ol",
    "table",
    "tr",
    "td",
    "em",
    "mark",
    "dialog",
    "form",
    "script",
}
MARKDOWN = {
    "h3",
    "h4",
    "p",
    "br",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "code",
    "details",
    "summary",
    "ul",
    "li",
    "span",
}


def told(artifact: ObligationMap, form: str, view: View = VIEW) -> bytes:
    return b"".join(reports.render(artifact, form, view))


@given(any_map.maps())
def test_every_format_is_utf_8_and_says_the_same_twice(artifact: ObligationMap) -> None:
    for row in reports.FORMATS:
        data = told(artifact, row.name)

        assert data == told(artifact, row.name)
        assert data.decode().encode() == data


@given(any_map.maps())
def test_every_format_can_be_made_from_the_stored_map_alone(artifact: ObligationMap) -> None:
    stored = decode(b"".join(encode(artifact)))

    for row in reports.FORMATS:
        assert told(stored, row.name) == told(artifact, row.name)


@given(any_map.maps())
def test_nothing_that_a_terminal_or_a_reader_could_not_see_is_in_a_format_for_people(artifact: ObligationMap) -> None:
    for form in FOR_PEOPLE:
        for line in told(artifact, form).decode().split("\n"):
            assert safe(line) == line


@given(any_map.maps())
def test_no_line_of_a_log_is_a_command_to_a_ci_server(artifact: ObligationMap) -> None:
    for form in ("text", "agent"):
        for view in (VIEW, View(Screen(width=40), verbose=True)):
            for line in told(artifact, form, view).decode().split("\n"):
                assert not line.lstrip().startswith("::")
                assert not re.search(r"##\w*\[", line)


@given(any_map.maps())
def test_sarif_is_accepted_by_the_official_schema_and_holds_every_problem(artifact: ObligationMap) -> None:
    run = consumers.sarif(told(artifact, "sarif"))

    placed = [row for row in artifact.findings if row.path]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert len(run["results"]) >= artifact.unwitnessed
    assert len(run["results"]) + len(notes) - 1 >= len({(row.path, row.line, row.code) for row in placed})
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert ":" not in uri
        assert not uri.startswith("/")


@given(any_map.maps())
def test_gitlab_entries_have_unique_fingerprints(artifact: ObligationMap) -> None:
    marks = [entry["fingerprint"] for entry in consumers.gitlab(told(artifact, "gitlab"))]

    assert len(marks) == len(set(marks))
    assert len(marks) >= artifact.unwitnessed


@given(any_map.maps())
def test_reviewdog_gets_one_object_per_line(artifact: ObligationMap) -> None:
    found = consumers.rdjsonl(told(artifact, "rdjsonl"))

    errors = [row for row in artifact.findings if row.severity is Severity.ERROR]
    assert any(diagnostic["severity"] == "ERROR" for diagnostic in found) == bool(errors)


@given(any_map.maps())
def test_junit_fails_exactly_when_the_gate_is_closed(artifact: ObligationMap) -> None:
    root = consumers.junit(told(artifact, "junit"))

    failures, errors = int(root.get("failures")), int(root.get("errors"))
    assert bool(failures + errors) == (artifact.exit != 0)
    assert failures == len(root.findall(".//failure"))
    assert errors == len(root.findall(".//error"))
    assert int(root.get("tests")) == len(root.findall(".//testcase"))


@given(any_map.maps())
def test_cobertura_draws_a_line_as_run_only_when_everything_on_it_ran(artifact: ObligationMap) -> None:
    root = consumers.cobertura(told(artifact, "cobertura"))

    drawn = {
        (each.get("filename"), int(line.get("number")), line.get("hits"))
        for each in root.iter("class")
        for line in each.iter("line")
    }
    for row in artifact.rows:
        if row.status is Status.UNWITNESSED and row.line:
            assert (safe(row.path), row.line, "0") in drawn
    assert int(root.get("lines-valid")) == len(drawn)


@given(any_map.maps())
def test_annotations_are_commands_and_nothing_else(artifact: ObligationMap) -> None:
    found = list(consumers.github(told(artifact, "github")))

    assert [level for level, _, _ in found][-1] == "notice"
    assert sum(level == "error" for level, _, _ in found) <= 10
    for _, properties, _ in found:
        assert set(properties) <= {"file", "line", "endLine", "title"}


@given(any_map.maps())
@settings(max_examples=100)
def test_nothing_in_a_map_becomes_markup_of_the_page(artifact: ObligationMap) -> None:
    page = consumers.Page(told(artifact, "html"))

    assert {tag for tag, _ in page.elements} <= PAGE
    assert not page.comments
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
        assert not any((attributes.get("id") or "").count(char) for char in " <>\"'")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    data = page.text_of("script")[0]
    assert json.loads(data)["texts"] is not None


@given(any_map.maps())
@settings(max_examples=100)
def test_nothing_in_a_map_becomes_markup_of_the_markdown_report(artifact: ObligationMap) -> None:
    data = told(artifact, "markdown")
    page = consumers.markdown(data)

    assert data.startswith(b"<!-- linewitness -->\n")
    assert page.comments == [" linewitness "]
    assert {tag for tag, _ in page.elements} <= MARKDOWN
    assert not any(set(attributes) - {"style"} for _, attributes in page.elements)
    rows = [text for text in data.decode().split("\n") if text.startswith("|")]
    assert {row.count("|") for row in rows} <= {4, 5}


@pytest.mark.parametrize("text", any_map.NASTY)
def test_a_line_of_code_reads_in_markdown_and_in_the_page_as_it_was(text: str) -> None:
    row = samples.row("a.py", 3, f"x{text}y", Status.UNWITNESSED)
    artifact = samples.build([row], [samples.unwitnessed(row)])
    wanted = safe(row.content)

    assert wanted in "".join(text for _, text in consumers.markdown(told(artifact, "markdown")).texts)
    assert wanted.replace("\\t", "\t") in "".join(text for _, text in consumers.Page(told(artifact, "html")).texts)
