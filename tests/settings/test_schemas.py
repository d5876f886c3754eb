"""The published schemas are what the types say, are valid, and agree with what the tool accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from linewitness import schemas
from linewitness.errors import UsageError
from linewitness.obligation_map import encode
from linewitness.settings import load
from tests.reports import golden, samples

FOLDER = Path(schemas.__file__).parent


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schemas.published(name)))


@pytest.mark.parametrize("name", schemas.FILES)
def test_the_committed_schema_is_the_generated_one_and_a_valid_schema(name: str) -> None:
    golden.compare(FOLDER / schemas.FILES[name], schemas.generate(name))

    jsonschema.Draft202012Validator.check_schema(json.loads(schemas.published(name)))


@pytest.mark.parametrize("sample", samples.ALL)
def test_every_map_satisfies_the_schema_of_maps(sample: str) -> None:
    value = json.loads(b"".join(encode(samples.ALL[sample]())))

    validator("map").validate(value)


@pytest.mark.parametrize(
    "spoil",
    [
        {"owed": "3"},
        {"verdict": "ajar"},
        {"rows": [{}]},
        {"base": None},
        {"findings": [{"code": "LW101"}]},
    ],
)
def test_what_is_no_map_does_not_satisfy_it(spoil: dict[str, Any]) -> None:
    value = json.loads(b"".join(encode(samples.opened()))) | spoil

    assert not validator("map").is_valid(value)


@pytest.mark.parametrize(
    ("settings", "good"),
    [
        ({}, True),
        ({"branches": "arms", "max-waiver-days": {"codegen": 1}}, True),
        ({"suite": [{"name": "web", "run": "x", "export": "y", "path-map": {"a": "b"}}]}, True),
        ({"branches": "both"}, False),
        ({"trustd": []}, False),
        ({"max-waiver-days": {"codegen": 181}}, False),
        ({"suite": [{"timeout": 0}]}, False),
        ({"import_hits": "owe"}, False),
    ],
)
def test_the_schema_of_settings_and_the_loader_agree_on_form(settings: dict[str, Any], good: bool) -> None:
    assert validator("settings").is_valid(settings) is good

    text = _toml(settings)
    if good:
        load(lambda path: text if path == "linewitness.toml" else None)
    else:
        with pytest.raises(UsageError):
            load(lambda path: text if path == "linewitness.toml" else None)


def _toml(value: dict[str, Any]) -> bytes:
    def inline(item: Any) -> str:
        if isinstance(item, dict):
            return "{" + ", ".join(f"{key} = {inline(inner)}" for key, inner in item.items()) + "}"
        return "[" + ", ".join(map(inline, item)) + "]" if isinstance(item, list) else json.dumps(item)

    return "".join(f"{key} = {inline(item)}\n" for key, item in value.items()).encode()


RECORD = {
    "path": "src/emit.py",
    "line_hash": "9f2c51d07ab3e1c4",
    "reason": "codegen",
    "owner": "platform-reviewers",
    "expires": "2026-12-16",
}
WAIVERS = [
    ({"waivers": [RECORD]}, True),
    ({"waivers": [RECORD | {"line_hash": "a1b2c3d4e5f6", "note": "x", "scope": "Emitter.header"}]}, True),
    ({"waivers": [{key: value for key, value in RECORD.items() if key != "line_hash"} | {"blob": "a" * 40}]}, True),
    ({"waivers": []}, True),
    ({}, True),
    ({"waivers": [RECORD | {"reason": "later"}]}, False),
    ({"waivers": [RECORD | {"blob": "a" * 40}]}, False),
    ({"waivers": [RECORD | {"expires": "tomorrow"}]}, False),
    ({"waivers": [RECORD | {"line_hash": "9F2C51D07AB3E1C4"}]}, False),
    ({"waivers": [RECORD | {"until": "x"}]}, False),
    ({"waivers": [{key: value for key, value in RECORD.items() if key != "owner"}]}, False),
    ({"waiver": [RECORD]}, False),
    ({"waivers": RECORD}, False),
]


@pytest.mark.parametrize(("waivers", "good"), WAIVERS)
def test_the_schema_of_waivers_and_the_reader_agree_on_form(waivers: dict[str, Any], good: bool) -> None:
    import datetime as dt

    from linewitness.trust.waivers import WaiverPolicy
    from linewitness.trust.waivers import load as read

    # JSON is YAML, so the same value can be given to both.
    told = read(json.dumps(waivers).encode(), "tests/waivers.yaml", WaiverPolicy(dt.date(2026, 12, 1)))

    assert validator("waivers").is_valid(waivers) is good
    assert (not told.findings) is good


def test_the_schemas_are_shipped_as_files_of_the_package() -> None:
    for name, file in schemas.FILES.items():
        assert schemas.published(name) == (FOLDER / file).read_bytes()
