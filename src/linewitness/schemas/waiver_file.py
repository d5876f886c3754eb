"""The shape of the waiver file, for its schema.

The file is read by :mod:`linewitness.trust.waivers`, which knows rules that a schema cannot state (dates that have
passed, lines that occur twice). A test holds the two together.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from linewitness.model import Reason

SCHEMA: Final = "urn:linewitness:schemas/waivers.json"

_Path = Annotated[str, Meta(min_length=1, description="The file, from the root of the repository.")]
_Owner = Annotated[str, Meta(min_length=1, description="Who answers for the line.")]
_Expires = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        description="The last day on which the waiver holds, in UTC; text in ISO form or a YAML date.",
    ),
]
_Occurrence = Annotated[
    int, Meta(ge=1, le=999_999_999, description="Which of several equal lines in the scope, from 1.")
]
_Note = Annotated[str, Meta(description="Why, for the next reader.")]


class LineWaiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A waiver of one line."""

    path: _Path
    line_hash: Annotated[
        str,
        Meta(
            pattern=r"^([0-9a-f]{16}|[0-9a-f]{12})$",
            description="The first 16 hex digits of the SHA-256 of the line without its end, or 12 of its SHA-1.",
        ),
    ]
    reason: Annotated[Reason, Meta(description="Why the line's oracle lies outside the test runner.")]
    owner: _Owner
    expires: _Expires
    scope: Annotated[
        str, Meta(description="Dotted name of the definition around the line, to tell equal lines apart.")
    ] = ""
    occurrence: _Occurrence | msgspec.UnsetType = msgspec.UNSET
    note: _Note = ""


class BlobWaiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A waiver of an opaque file as a whole."""

    path: _Path
    blob: Annotated[
        str, Meta(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$", description="The object id of the file at head.")
    ]
    reason: Annotated[Reason, Meta(description="Why the file's oracle lies outside the test runner.")]
    owner: _Owner
    expires: _Expires
    note: _Note = ""
