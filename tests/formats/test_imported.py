"""Exports as evidence: shards, staleness, checksums, the files that are refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError, Exit
from linewitness.evidence.imported import ImportedEvidence, load_exports
from linewitness.model import Answer, FileChange, FileText, Kind, Obligation, Phase, RepoPath, Severity
from tests.formats.files import written
from tests.formats.sample import ROOT, ask_python, checkout, load, sight

HEAD = b'"""Doc."""\n\n# note\nx = """\n\n# inside\n"""\ny = 1\n'


def ask(found: ImportedEvidence, head: bytes) -> Answer:
    """What evidence says of the first line, whatever stands there."""
    name = RepoPath("a.py")
    owed = Obligation(name, 1, "", "", Kind.DEFINITION, "", 1, (1, 1))
    return found.sightings(FileText(FileChange(name, name, None, None), None, head, ()), (owed,))[0].answer


def lcov(*counts: tuple[int, int], path: str = "a.py", more: str = "") -> str:
    return f"SF:{path}\n{more}" + "".join(f"DA:{line},{count}\n" for line, count in counts) + "end_of_record\n"


def raw_json(contexts: dict[int, list[str]]) -> str:
    entry = {
        "executed_lines": list(contexts),
        "missing_lines": [],
        "contexts": {str(line): names for line, names in contexts.items()},
    }
    return json.dumps({"meta": {"branch_coverage": False}, "files": {"a.py": entry}, "totals": {}})


def evidence(folder: Path, *texts: str) -> ImportedEvidence:
    paths = [written(folder, text, f"export{number}") for number, text in enumerate(texts)]
    return load_exports(paths, checkout((RepoPath("a.py"),), (RepoPath("a.py"),)), ask_python)


def test_a_hit_in_any_shard_is_a_hit_in_either_order(tmp_path: Path) -> None:
    hit, miss = lcov((8, 1)), lcov((8, 0))
    for shards in ((hit, miss), (miss, hit)):
        (sighting,) = sight(evidence(tmp_path, *shards), "a.py", HEAD, 8)
        assert sighting.answer is Answer.RUN


def test_shards_of_different_formats_are_one_evidence(tmp_path: Path) -> None:
    shards = evidence(tmp_path, lcov((8, 0)), raw_json({8: ["", "t.test_a"]}))
    (sighting,) = sight(shards, "a.py", HEAD, 8)
    assert (sighting.answer, sighting.witnesses) == (Answer.RUN, ("t.test_a",))
    assert [source.kind for source in shards.sources] == ["lcov", "coverage-json"]


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    text = lcov((8, 1))
    (source,) = evidence(tmp_path, text).sources
    assert source.digest == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(("line", "count"), [(9, 1), (9, 0), (900, 0)])
def test_a_line_past_the_end_of_the_file_is_refused(tmp_path: Path, line: int, count: int) -> None:
    with pytest.raises(EvidenceError) as caught:
        sight(evidence(tmp_path, lcov((8, 1), (line, count))), "a.py", HEAD, 8)
    assert (caught.value.code, caught.value.exit, caught.value.path, caught.value.line) == (
        "LW504",
        Exit.EVIDENCE,
        "a.py",
        8,
    )
    assert f"line {line}" in str(caught.value)


def test_an_excluded_line_past_the_end_of_the_file_is_refused(tmp_path: Path) -> None:
    text = raw_json({8: ["t"]}).replace('"missing_lines": []', '"missing_lines": [], "excluded_lines": [99]')
    with pytest.raises(EvidenceError, match="line 99"):
        sight(evidence(tmp_path, text), "a.py", HEAD, 8)


def test_coverage_py_may_exclude_the_line_behind_a_last_one_of_three_dots(tmp_path: Path) -> None:
    last = HEAD.count(b"\n")
    text = raw_json({last: ["t"]}).replace(
        '"missing_lines": []', f'"missing_lines": [], "excluded_lines": [{last + 1}]'
    )
    assert sight(evidence(tmp_path, text), "a.py", HEAD, 8)


@pytest.mark.parametrize("line", [2, 3])
def test_a_blank_line_or_a_comment_that_ran_is_refused(tmp_path: Path, line: int) -> None:
    for text in (lcov((8, 1), (line, 1)), raw_json({8: ["t"], line: ["t"]})):
        with pytest.raises(EvidenceError, match="blank or a comment") as caught:
            sight(evidence(tmp_path, text), "a.py", HEAD, 8)
        assert (caught.value.code, caught.value.line) == ("LW504", line)


@pytest.mark.parametrize("line", [1, 5, 6])
def test_lines_of_docstrings_and_inside_strings_may_run(tmp_path: Path, line: int) -> None:
    (sighting,) = sight(evidence(tmp_path, lcov((8, 1), (line, 1))), "a.py", HEAD, 8)
    assert sighting.answer is Answer.RUN


def test_a_blank_line_that_did_not_run_is_no_contradiction(tmp_path: Path) -> None:
    (sighting,) = sight(evidence(tmp_path, lcov((8, 1), (2, 0))), "a.py", HEAD, 8)
    assert sighting.answer is Answer.RUN


def test_a_module_without_code_may_have_run_on_its_first_line(tmp_path: Path) -> None:
    ran = evidence(tmp_path, lcov((1, 1)))
    assert ask(ran, b"\n") is Answer.RUN
    assert ask(ran, b"# licence\n# more\n") is Answer.RUN
    with pytest.raises(EvidenceError, match="blank or a comment"):
        ask(ran, b"# licence\nx = 1\n")


def test_checksums_that_agree_are_accepted_and_others_are_refused(tmp_path: Path) -> None:
    good, bad = hashlib.md5(b"y = 1").hexdigest(), hashlib.md5(b"y = 2").hexdigest()
    accepted = evidence(tmp_path, f"SF:a.py\nDA:8,1,{good}\nend_of_record\n")
    assert sight(accepted, "a.py", HEAD, 8)[0].answer is Answer.RUN
    assert sight(accepted, "a.py", HEAD.replace(b"\n", b"\r\n"), 8)[0].answer is Answer.RUN
    refused = evidence(tmp_path, f"SF:a.py\nDA:8,1,{bad}\nend_of_record\n")
    with pytest.raises(EvidenceError, match="checksum") as caught:
        sight(refused, "a.py", HEAD, 8)
    assert (caught.value.code, caught.value.line) == ("LW504", 8)


def test_a_version_of_another_file_is_refused(tmp_path: Path) -> None:
    good = f"VER:{hashlib.md5(HEAD).hexdigest()}\n"
    assert sight(evidence(tmp_path, lcov((8, 1), more=good)), "a.py", HEAD, 8)[0].answer is Answer.RUN
    with pytest.raises(EvidenceError, match="another version"):
        sight(evidence(tmp_path, lcov((8, 1), more="VER:" + "0" * 32 + "\n")), "a.py", HEAD, 8)


def test_a_stale_shard_is_refused_although_another_has_the_hit(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="export1"):
        sight(evidence(tmp_path, lcov((8, 1)), lcov((99, 1))), "a.py", HEAD, 8)


def test_static_contexts_do_not_pass_for_tests(tmp_path: Path) -> None:
    source = b"def f():\n    return 1\n"
    (sighting,) = sight(evidence(tmp_path, raw_json({1: ["nightly"], 2: ["nightly"]})), "a.py", source, 2)
    assert (sighting.phase, sighting.witnesses) == (Phase.UNKNOWN, ())


def test_no_export_at_all_is_refused() -> None:
    with pytest.raises(EvidenceError, match="--cov"):
        load_exports([], checkout(), ask_python)


@pytest.mark.parametrize("name", ["missing.xml", "."])
def test_an_export_that_is_no_file_is_refused_with_exit_3(tmp_path: Path, name: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        load(tmp_path / name)
    assert caught.value.exit is Exit.EVIDENCE


def test_a_shard_without_a_file_is_no_warning_when_another_shard_has_it(tmp_path: Path) -> None:
    wanted = checkout((RepoPath("a.py"), RepoPath("b.py")), (RepoPath("a.py"), RepoPath("b.py")))
    one = written(tmp_path, lcov((1, 1), path="a.py") + lcov((1, 1), path="/venv/x/b.py"), "one")
    two = written(tmp_path, lcov((1, 1), path="b.py"), "two")
    assert [finding.severity for finding in load_exports([one], wanted, ask_python).findings] == [Severity.WARNING]
    assert load_exports([one, two], wanted, ask_python).findings == ()


def test_a_path_map_brings_an_export_from_elsewhere_home() -> None:
    export = ROOT / "exports/py312/coverage.sqlite"
    assert load(export, path_maps=(("/repo", "."),)).findings == ()
    (finding,) = load(export, path_maps=(("/repo", "elsewhere"),)).findings
    assert (finding.code, finding.severity) == ("LW507", Severity.ERROR)


def test_a_file_that_owes_nothing_is_not_asked_about(tmp_path: Path) -> None:
    assert sight(evidence(tmp_path, lcov((99, 1))), "a.py", b"# comment\n") == ()
