"""The published JSON Schemas (draft 2020-12): generated from the types, committed, and shipped with the package.

The committed files are what users and editors see; a test fails when one differs from what the types say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

FILES: Final[Mapping[str, str]] = {"map": "map-v1.json", "settings": "settings.json", "waivers": "waivers.json"}


def published(name: str) -> bytes:
    """The committed schema called ``name``, a key of :data:`FILES`."""
    # pkgutil asks the package's own loader; importlib.resources would import the half of the standard library first.
    from pkgutil import get_data

    data = get_data(__name__, FILES[name])
    if data is None:
        raise FileNotFoundError(FILES[name])
    return data


def generate(name: str) -> bytes:
    """What the schema called ``name`` has to be, from the types: indented, keys sorted, one line feed at the end."""
    import json

    return json.dumps(_GENERATORS[name](), indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _map() -> dict[str, Any]:
    import msgspec

    from linewitness.obligation_map import SCHEMA, ObligationMap

    return _titled(SCHEMA, "linewitness obligation map, version 1", msgspec.json.schema(ObligationMap))


def _settings() -> dict[str, Any]:
    from linewitness.settings import schema

    return schema()


def _waivers() -> dict[str, Any]:
    import msgspec

    from linewitness.schemas.waiver_file import SCHEMA, BlobWaiver, LineWaiver

    (line, blob), shapes = msgspec.json.schema_components((LineWaiver, BlobWaiver))
    records = {"description": "One record for each line.", "type": ["array", "null"], "items": {"anyOf": [line, blob]}}
    body = {"type": "object", "properties": {"waivers": records}, "additionalProperties": False}
    return _titled(SCHEMA, "linewitness waiver file", body | {"$defs": shapes})


def _titled(ident: str, title: str, generated: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ident, "title": title} | generated


_GENERATORS: Final = {"map": _map, "settings": _settings, "waivers": _waivers}
