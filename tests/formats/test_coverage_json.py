from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import source
from linewitness.evidence.formats.coverage_json import Hopped, Parsed, hop, open_json, read
from linewitness.evidence.formats.facts import BranchArm, FileFacts, Grain
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written
from tests.formats.sample import EXPORTS

Entry = dict[str, object]
REPORTS = [path for path in EXPORTS if path.suffix == ".json"]


def entry(executed: list[int], missing: list[int] | None = None, **more: object) -> Entry:
    return {"executed_lines": executed, "summary": {"covered_lines": 1}, "missing_lines": missing or [], **more}


def regions(*names: str) -> Entry:
    inner = {name: entry([1]) for name in (*names, "")}
    return {"functions": inner, "classes": {"": entry([1])}}


def report(files: dict[str, Entry], number: int | None = 3) -> str:
    meta: Entry = {} if number is None else {"format": number}
    return json.dumps({"meta": {**meta, "version": "7", "branch_coverage": True}, "files": files, "totals": {"n": 1}})


def opened(folder: Path, text: str | bytes) -> Hopped | Parsed:
    return open_json(ExportFile(written(folder, text)))


def everything(reader: Hopped | Parsed) -> dict[str, FileFacts]:
    return {name: reader.facts(name) for name in reader.names}


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parent.name)
def test_real_reports_are_hopped_over_with_the_answer_of_the_parser(path: Path) -> None:
    export = ExportFile(path)
    hopped = hop(export)
    assert hopped is not None
    assert len(hopped.names) >= 4
    assert everything(hopped) == everything(read(export))
    assert set(hopped.context_names()) <= set(read(export).context_names())


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("options", [{"indent": 4}, {"sort_keys": True}, {"separators": (",", ":")}], ids=str)
def test_reports_that_were_written_again_say_the_same(tmp_path: Path, path: Path, options: dict[str, object]) -> None:
    text = json.dumps(json.loads(path.read_text()), **options)  # type: ignore[arg-type]
    assert everything(opened(tmp_path, text)) == everything(read(ExportFile(path)))


def test_without_contexts_lines_stand_for_statements(tmp_path: Path) -> None:
    facts = opened(tmp_path, report({"a.py": entry([1, 4], [6], excluded_lines=[9])}, 2)).facts("a.py")
    assert facts == FileFacts(Grain.STATEMENTS, {6: 0, 1: 1, 4: 1}, frozenset({9}))


def test_with_contexts_lines_are_events_and_folded_lines_do_not_count(tmp_path: Path) -> None:
    contexts = {"1": [""], "5": ["t", "s"]}
    facts = opened(tmp_path, report({"a.py": entry([1, 4], [6], contexts=contexts)}, 2)).facts("a.py")
    assert facts.grain is Grain.EVENTS
    assert facts.counts == {6: 0, 1: 1, 5: 1}
    assert facts.contexts == {1: ("",), 5: ("s", "t")}


def test_contexts_that_were_not_recorded_do_not_hide_the_statements(tmp_path: Path) -> None:
    facts = opened(tmp_path, report({"a.py": entry([1], contexts={})}, 2)).facts("a.py")
    assert (facts.grain, facts.counts) == (Grain.STATEMENTS, {1: 1})


def test_arms_are_read_from_both_lists(tmp_path: Path) -> None:
    branches: dict[str, object] = {"executed_branches": [[4, 5]], "missing_branches": [[4, -1], [7, -7]]}
    assert opened(tmp_path, report({"a.py": {**entry([4]), **branches}}, 2)).facts("a.py").branches == (
        BranchArm(4, "line 5", True),
        BranchArm(4, "exit", False),
        BranchArm(7, "exit of the code that begins on this line", False),
    )


def test_a_class_region_named_like_a_file_is_no_file(tmp_path: Path) -> None:
    files = {"src/x.py": {**entry([1]), **regions("a.py", "f")}, "b.py": {**entry([2]), **regions()}}
    found = opened(tmp_path, report(files))
    assert isinstance(found, Hopped)
    assert set(found.names) == {"src/x.py", "b.py"}


@pytest.mark.parametrize("number", [None, 2, 3])
def test_a_file_that_stands_twice_is_merged_and_the_last_does_not_win(tmp_path: Path, number: int | None) -> None:
    more = regions() if number == 3 else {}
    text = report({"a.py": {**entry([1, 2], [3]), **more}, "b.py": {**entry([3], [1, 2]), **more}}, number)
    text = text.replace('"b.py"', '"a.py"')
    assert opened(tmp_path, text).facts("a.py").counts == {1: 1, 2: 1, 3: 1}
    assert read(ExportFile(written(tmp_path, text))).facts("a.py").counts == {1: 1, 2: 1, 3: 1}


def test_a_key_between_files_and_totals_does_not_disturb(tmp_path: Path) -> None:
    text = report({"a.py": entry([1])}, 2).replace(', "totals"', ', "more": {"x": 1}, "totals"')
    assert opened(tmp_path, text).facts("a.py").counts == {1: 1}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "Expecting property name"),
        ('{"meta": {"format": 4}, "files": {}, "totals": {}}', "format 4"),
        ('{"meta": {"format": "3"}, "files": {}}', "no format number"),
        ('{"meta": {}, "files": []}', "files are missing"),
        ('{"meta": {}}', "files are missing"),
        ("[" * 100_000, "no writer"),
        ('{"meta": {"branch_coverage": NaN}, "files": {}}', "NaN"),
        ('{"meta": {"a": ' + "9" * 10_000 + '}, "files": {}}', "no writer"),
        (b'{"meta": {"a": "\xff"}, "files": {}}', "UTF-8"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str | bytes, what: str) -> None:
    with pytest.raises(EvidenceError, match=what):
        opened(tmp_path, text)


@pytest.mark.parametrize(
    "bad",
    [
        entry([1.5]),  # type: ignore[list-item]
        entry([-1]),
        entry([10**9]),
        entry(["1"]),  # type: ignore[list-item]
        entry([1], contexts={"x": [""]}),
        entry([1], contexts={"-3": [""]}),
        entry([1], contexts={"3": [1]}),
        entry([1], contexts=[1]),
        entry([1], executed_branches=[[1]]),
        {"missing_lines": []},
        {"executed_lines": None, "missing_lines": []},
        [],
    ],
    ids=str,
)
def test_an_entry_that_is_none_is_an_error_that_names_the_file(tmp_path: Path, bad: Entry) -> None:
    found = opened(tmp_path, report({"src/a.py": bad}, 2))
    with pytest.raises(EvidenceError, match=r"src/a\.py|is no line number"):
        found.facts("src/a.py")


def test_a_report_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    text = report({"a.py": {**entry([1]), **regions("f")}, "b.py": {**entry([1]), **regions()}})
    for end in range(1, len(text), 11):
        with pytest.raises(EvidenceError):
            opened(tmp_path, text[:end])


def test_a_report_of_many_windows_is_hopped_over_with_the_answer_of_the_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "WINDOW", 9000)
    files = {f"src/m{number}.py": {**entry([number]), **regions(*"abcdefgh")} for number in range(1, 200)}
    export = ExportFile(written(tmp_path, report(files)))
    hopped = hop(export)
    assert hopped is not None
    assert everything(hopped) == everything(read(export))


def test_a_file_whose_regions_are_incomplete_does_not_hide_the_next(tmp_path: Path) -> None:
    short = {**entry([1]), "functions": {"": entry([1])}, "classes": {}}
    for files in ({"a.py": short, "b.py": short}, {"a.py": short, "b.py": {**entry([1]), **regions("f")}}):
        assert set(opened(tmp_path, report(files)).names) == {"a.py", "b.py"}


_names = st.sampled_from(["a.py", "src/b.py", "ü.py", 'q".py', "c\\d.py", "", "functions", "executed_lines", "}}}, x"])
_lines = st.lists(st.integers(0, 20), max_size=4)
_contexts = st.none() | st.dictionaries(st.integers(1, 9).map(str), st.lists(_names, max_size=2), max_size=3)
_entries = st.builds(
    lambda executed, missing, contexts: entry(
        executed, missing, **({} if contexts is None else {"contexts": contexts})
    ),
    _lines,
    _lines,
    _contexts,
)


@given(
    st.dictionaries(_names, st.tuples(_entries, st.lists(_names, max_size=3)), max_size=4),
    st.sampled_from([None, 2, 3]),
    st.sampled_from([None, 1]),
    st.integers(8200, 20000),
)
def test_hopping_gives_what_parsing_gives(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[str, tuple[Entry, list[str]]],
    number: int | None,
    indent: int | None,
    window: int,
) -> None:
    entries = {name: {**one, **(regions(*inner) if number == 3 else {})} for name, (one, inner) in files.items()}
    text = json.dumps(json.loads(report(entries, number)), indent=indent, ensure_ascii=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "WINDOW", window)
        export = ExportFile(written(tmp_path_factory.getbasetemp(), text, "report"))
        assert everything(open_json(export)) == everything(read(export))
