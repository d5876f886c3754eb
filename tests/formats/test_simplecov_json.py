"""The report of the gem simplecov-json: a list of files, each with its name inside."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written

FILE = {"filename": "/repo/lib/a.rb", "covered_percent": 50.0, "coverage": [None, 1, 0, "ignored"], "lines_of_code": 2}


@pytest.mark.parametrize("coverage", [FILE["coverage"], {"lines": FILE["coverage"]}])
def test_lines_are_those_of_each_file_in_the_list(tmp_path: Path, coverage: object) -> None:
    tree = {"timestamp": 1, "command_name": "RSpec", "files": [{**FILE, "coverage": coverage}], "metrics": {}}
    name, reader = formats.open_export(ExportFile(written(tmp_path, msgspec.json.encode(tree))))
    facts = reader.facts("/repo/lib/a.rb")
    assert (name, dict(facts.counts), set(facts.excluded)) == ("simplecov", {2: 1, 3: 0}, {4})


@pytest.mark.parametrize("missing", ["filename", "coverage"])
def test_a_file_that_lacks_what_it_needs_is_refused(tmp_path: Path, missing: str) -> None:
    file = {key: value for key, value in FILE.items() if key != missing}
    export = ExportFile(written(tmp_path, msgspec.json.encode({"command_name": "RSpec", "files": [file]})))
    with pytest.raises(EvidenceError, match="without filename or coverage"):
        formats.open_export(export, "simplecov")
