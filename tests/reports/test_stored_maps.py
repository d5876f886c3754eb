"""The map is the only input of a report: maps that older versions stored are told in every format."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from linewitness import reports
from linewitness.cli.main import Process, main
from linewitness.obligation_map import SCHEMA, decode, encode
from linewitness.reports import View
from tests.reports import consumers
from tests.support.repos import Repo

STORED = sorted((Path(__file__).parent.parent / "fixtures" / "maps").glob("*.json"))
NAMES = [row.name for row in reports.FORMATS]


def test_there_are_maps_of_the_first_version_and_they_are_of_this_schema() -> None:
    names = {path.name.split("-")[0] for path in STORED}

    assert "0.1.0" in names
    assert {json.loads(path.read_bytes())["schema"] for path in STORED} == {SCHEMA}


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_an_old_map_is_read_and_written_again_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()

    assert b"".join(encode(decode(data))) == data


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_an_old_map_is_told_in_every_format(path: Path, name: str) -> None:
    artifact = decode(path.read_bytes())
    data = b"".join(reports.render(artifact, name, View()))

    match name:
        case "sarif":
            assert consumers.sarif(data)["invocations"][0]["exitCode"] == artifact.exit
        case "gitlab":
            assert len(consumers.gitlab(data)) >= artifact.unwitnessed
        case "junit":
            assert consumers.junit(data).tag == "testsuites"
        case "cobertura":
            assert consumers.cobertura(data).tag == "coverage"
        case "rdjsonl":
            assert bool(consumers.rdjsonl(data)) == bool(artifact.findings)
        case "json":
            assert data == path.read_bytes()
        case _:
            assert artifact.verdict in data.decode().lower()


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_renders_each_of_them_from_the_file_alone(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    status = main(
        ["report", str(STORED[0]), "--format", name, "-o", str(target)], Process({}, io.StringIO(), io.StringIO())
    )

    expected = b"".join(reports.render(decode(STORED[0].read_bytes()), name, View(map_file=str(STORED[0]))))
    assert status == 0
    assert target.read_bytes() == expected


def test_one_run_writes_several_reports(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"app.py": "x = 1\n", "README.md": "a\n"})
    repo.git("tag", "base")
    repo.commit("head", {"app.py": "x = 1\ny = 2\n", "README.md": "b\n"})
    (tmp_path / "lcov.info").write_text("SF:app.py\nDA:1,1\nDA:2,0\nend_of_record\n")
    files = {name: tmp_path / f"report{row.suffix}-{name}" for row in reports.FORMATS for name in [row.name]}
    wishes = [word for name, file in files.items() for word in ("--report", f"{name}:{file}")]
    out = io.StringIO()
    command = ["check", "--root", str(repo.root), "--base", "base", "--cov", str(tmp_path / "lcov.info"), *wishes]
    status = main([*command, "--report", "agent"], Process({}, out, io.StringIO()))

    assert status == 1
    assert out.getvalue().startswith("closed exit=1 ")
    assert all(file.stat().st_size for file in files.values())
    page = files["html"].read_text(encoding="utf-8")
    assert "<td>+<td>y = 2" in page
    assert "<td>\N{MINUS SIGN}<td>a" in page
