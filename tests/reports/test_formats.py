"""What each machine format promises: limits with true counts, merged ranges, marks that survive a rebase."""

from __future__ import annotations

import json

import msgspec
import pytest

from linewitness import reports
from linewitness.console import Screen
from linewitness.findings import CODES
from linewitness.model import Kind, Severity
from linewitness.obligation_map import FindingRow, ObligationMap, Status
from linewitness.reports import View, cobertura, markdown
from tests.reports import consumers, samples


def told(artifact: ObligationMap, form: str, view: View = View(Screen(width=80))) -> bytes:  # noqa: B008 - frozen
    return b"".join(reports.render(artifact, form, view))


def moved(artifact: ObligationMap, by: int) -> ObligationMap:
    """The same patch after a rebase: every line has another number."""
    rows = tuple(
        msgspec.structs.replace(row, line=row.line + by, statement=(row.statement[0] + by, row.statement[1] + by))
        if row.line
        else row
        for row in artifact.rows
    )
    findings = tuple(msgspec.structs.replace(row, line=row.line + by) if row.line else row for row in artifact.findings)
    return msgspec.structs.replace(artifact, rows=rows, findings=findings)


# ---------------------------------------------------------------- fingerprints


def marks(artifact: ObligationMap) -> list[str]:
    run = consumers.sarif(told(artifact, "sarif"))
    return [mark for result in run["results"] for mark in result["partialFingerprints"].values()]


@pytest.mark.parametrize("sample", ["closed", "many", "hostile"])
def test_a_rebase_keeps_every_fingerprint(sample: str) -> None:
    artifact = samples.ALL[sample]()
    entries = [entry["fingerprint"] for entry in consumers.gitlab(told(artifact, "gitlab"))]
    after = [entry["fingerprint"] for entry in consumers.gitlab(told(moved(artifact, 100), "gitlab"))]

    assert marks(artifact) == marks(moved(artifact, 100))
    assert entries == after


def test_equal_lines_have_fingerprints_of_their_own() -> None:
    rows = [
        samples.row("a.py", 1, "x()", Status.UNWITNESSED),
        samples.row("a.py", 5, "x()", Status.UNWITNESSED, occurrence=2),
        samples.row("a.py", 9, "x()", Status.UNWITNESSED, scope="other"),
        samples.row("b.py", 1, "x()", Status.UNWITNESSED),
    ]
    found = marks(samples.build(rows, [samples.unwitnessed(row) for row in rows]))

    assert len(set(found)) == 2 * len(rows)


def test_another_form_of_the_lines_hash_changes_no_fingerprint() -> None:
    artifact = samples.closed()
    other = tuple(
        row if row.kind is Kind.OPAQUE else msgspec.structs.replace(row, hash=row.hash[:12]) for row in artifact.rows
    )

    assert marks(artifact) == marks(msgspec.structs.replace(artifact, rows=other))


# ---------------------------------------------------------------- SARIF


def test_each_rule_of_sarif_has_the_paragraphs_of_its_code() -> None:
    run = consumers.sarif(told(samples.closed(), "sarif"))
    rules = run["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == list(CODES)
    for rule in rules:
        code = CODES[rule["id"]]
        assert code.what in rule["help"]["text"]
        assert code.todo in rule["help"]["markdown"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_code_that_only_another_version_knows_is_a_rule_too() -> None:
    artifact = samples.build([], [FindingRow("LW999", 3, "from the future", "a.py", Severity.ERROR)])
    run = consumers.sarif(told(artifact, "sarif"))

    assert run["results"][0]["ruleId"] == "LW999"


def test_sarif_paths_are_percent_encoded_and_relative_to_the_root() -> None:
    run = consumers.sarif(told(samples.hostile(), "sarif"))
    locations = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]

    assert {location["uriBaseId"] for location in locations} == {"SRCROOT"}
    assert "src/%1B%5D0%3Bowned%07%E2%80%AE%FF%09tab.py" in {location["uri"] for location in locations}


def test_sarif_has_no_more_results_than_github_shows_and_counts_the_rest() -> None:
    artifact = samples.many(files=60, lines=100)
    run = consumers.sarif(told(artifact, "sarif"))
    everything = consumers.sarif(told(artifact, "sarif", View(verbose=True)))

    notes = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert len(run["results"]) == 5000
    assert "1000 results left out of 6000" in notes
    assert len(everything["results"]) == 6000


def test_a_finding_about_no_file_is_a_notification_as_consumers_refuse_a_result_without_a_place() -> None:
    artifact = samples.build([], [samples.finding("LW002", "", 0, "no merge base")], scored=False)
    run = consumers.sarif(told(artifact, "sarif"))

    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    assert {"LW002"} == {
        note["associatedRule"]["id"]
        for note in run["invocations"][0]["toolExecutionNotifications"]
        if note["level"] == "error"
    }


# ---------------------------------------------------------------- GitHub


def test_annotations_merge_passages_and_show_ten_with_the_true_count_last() -> None:
    artifact = samples.many(files=14, lines=9)
    found = list(consumers.github(told(artifact, "github")))

    assert sum(level == "error" for level, _, _ in found) == 10
    level, properties, message = found[-1]
    assert level == "notice"
    assert properties["title"] == "gate closed: 126 of 126 owed lines have no witness"
    assert "116 more items without an annotation" in message
    merged = [properties for _, properties, _ in consumers.github(told(samples.closed(), "github"))]
    assert {"file": "src/billing.py", "line": "20", "endLine": "23", "title": "LW101 unwitnessed line"} in merged


def test_the_longest_passages_and_the_gravest_findings_are_annotated_first() -> None:
    rows = [samples.row(f"m{number:02}.py", 1, "x()", Status.UNWITNESSED) for number in range(20)]
    rows += [samples.row("z.py", line, f"x{line}()", Status.UNWITNESSED) for line in range(1, 9)]
    found = [samples.unwitnessed(row) for row in rows] + [samples.finding("LW301", "zz.py", 0, "changed")]
    told_of = consumers.github(told(samples.build(rows, found), "github"))
    files = [properties.get("file") for _, properties, _ in told_of]

    assert files[:2] == ["zz.py", "m00.py"]
    assert "z.py" in files


def test_no_text_of_a_patch_can_end_a_command_or_add_a_property() -> None:
    name = "a,line=1::b%0A%2C\n::set-env name=x::y.py"
    row = samples.row(name, 7, "x", Status.UNWITNESSED)
    artifact = samples.build([row], [samples.unwitnessed(row, message="50%0A::error::x\r\n::notice::open")])
    (_, properties, message), _ = consumers.github(told(artifact, "github"))

    assert properties["file"] == name.replace("\n", "\\n")
    assert properties["line"] == "7"
    assert message == r"50%0A::error::x\r\n::notice::open"


# ---------------------------------------------------------------- Markdown


def test_a_comment_stays_within_the_limit_and_counts_what_it_leaves_out() -> None:
    artifact = samples.many(files=100, lines=50)
    data = told(artifact, "markdown")
    everything = told(artifact, "markdown", View(verbose=True))

    shown = data.count(b"LW101 unwitnessed line")
    assert len(data) < 65_536
    assert f"… and {5000 - shown} more open lines in" in data.decode()
    assert len(everything) < 1024 * 1024
    assert everything.count(b"LW101 unwitnessed line") > shown


def test_findings_that_fill_the_comment_are_counted_and_its_end_is_still_there() -> None:
    found = [samples.finding("LW301", f"tests/trusted/test_{number}.py", 0, "changed " * 50) for number in range(2000)]
    data = told(samples.build([], found, scored=False), "markdown").decode()

    shown = data.count("LW301 protected content changed |")
    assert len(data.encode()) < 65_536
    assert f"… and {2000 - shown} more findings" in data
    assert data.endswith("</details>\n")


def test_the_marker_is_first_and_the_verdict_next() -> None:
    first, second, *_ = told(samples.opened(), "markdown").decode().split("\n")

    assert first == markdown.MARKER
    assert second.startswith("### ✅ Gate open")


def test_nothing_in_markdown_mentions_a_person_or_an_issue() -> None:
    row = samples.row("a.py", 1, "x", Status.UNWITNESSED)
    artifact = samples.build([row], [samples.unwitnessed(row, message="ask @octocat about #12, see https://x.example")])
    data = told(artifact, "markdown").decode()

    assert "@octocat" not in data
    assert "#12" not in data
    assert "https://" not in data
    assert "ask @octocat about #12, see https://x.example" in "".join(
        text for _, text in consumers.markdown(data.encode()).texts
    )


# ---------------------------------------------------------------- the others


def test_junit_names_cases_by_file_and_definition_and_never_by_line() -> None:
    def names(artifact: ObligationMap) -> list[tuple[str, str]]:
        cases = consumers.junit(told(artifact, "junit")).iter("testcase")
        return [(case.get("classname"), case.get("name")) for case in cases]

    assert ("src/billing.py", "price_order") in names(samples.closed())
    assert names(samples.closed()) == names(moved(samples.closed(), 100))
    assert names(samples.nothing_owed()) == [("linewitness", "verdict")]


def test_a_definition_that_only_waivers_discharge_is_a_skipped_case_with_the_reason() -> None:
    root = consumers.junit(told(samples.closed(), "junit"))
    (skipped,) = root.iter("skipped")

    assert skipped.getparent().get("classname") == "src/emit.py"
    assert "codegen, by platform until 2026-12-16" in skipped.get("message")


def test_cobertura_leaves_waived_lines_without_a_colour_and_knows_no_rate_but_all_or_nothing() -> None:
    root = consumers.cobertura(told(samples.closed(), "cobertura"))
    rates = {element.get("line-rate") for element in root.iter("coverage", "package", "class")}

    assert "src/emit.py" not in {each.get("filename") for each in root.iter("class")}
    assert rates == {"0", "1"}
    assert consumers.cobertura(told(samples.opened(), "cobertura")).get("line-rate") == "1"


def test_cobertura_ends_below_the_size_that_gitlab_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cobertura, "LARGEST", 3000)
    data = told(samples.many(files=14, lines=9), "cobertura")

    shown = len(list(consumers.cobertura(data).iter("class")))
    assert len(data) < 3000
    assert f"<!-- {14 - shown} files left out" in data.decode()


def test_gitlab_severities_follow_the_exit_status() -> None:
    found = [
        samples.finding("LW301", "a", 0, "x"),
        samples.finding("LW501", "b", 0, "x"),
        samples.finding("LW202", "c", 3, "x"),
        samples.finding("LW102", "d", 3, "x", Severity.WARNING),
    ]
    entries = json.loads(told(samples.build([], found), "gitlab"))

    assert [entry["severity"] for entry in entries] == ["blocker", "critical", "major", "minor"]


@pytest.mark.parametrize("states", [(Status.TRUSTED_HIT, Status.UNWITNESSED), (Status.UNWITNESSED, Status.TRUSTED_HIT)])
def test_of_two_obligations_on_one_line_the_open_one_decides_its_colour(states: tuple[Status, Status]) -> None:
    kinds = (Kind.STATEMENT, Kind.DELETION)
    rows = [samples.row("a.py", 3, "x()", state, kind=kind) for state, kind in zip(states, kinds, strict=True)]
    found = [samples.unwitnessed(row) for row in rows if row.status is Status.UNWITNESSED]
    root = consumers.cobertura(told(samples.build(rows, found), "cobertura"))

    assert [line.get("hits") for line in root.iter("line")] == ["0"]


@pytest.mark.parametrize("sample", samples.ALL)
def test_the_verdict_is_a_case_that_fails_exactly_when_the_gate_is_closed(sample: str) -> None:
    artifact = samples.ALL[sample]()
    (verdict,) = (
        case for case in consumers.junit(told(artifact, "junit")).iter("testcase") if case.get("name") == "verdict"
    )

    assert (verdict.find("failure") is not None) == (artifact.verdict == "closed")
