"""One typed settings value, read from the base tree.

The settings are ``linewitness.toml``, or the table ``[tool.linewitness]`` of ``pyproject.toml``; both at once are
refused, because one of them would be ignored in silence. So is everything that cannot mean what its author hoped:
unknown keys, wrong types, globs that match nothing. The values are frozen and complete, defaults included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, field

from linewitness.digests import sha256
from linewitness.values import NamedTuple

Read = Callable[[str], bytes | None]

SETTINGS_FILE: Final = "linewitness.toml"
PYPROJECT: Final = "pyproject.toml"
SCHEMA_ID: Final = "urn:linewitness:schemas/settings.json"


def _about(text: str) -> Meta:
    return Meta(description=text)


class WaiverDays(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """Longest life of a waiver for each reason, in days. A setting may shorten these, never lengthen them."""

    codegen: Annotated[int, Meta(ge=1, le=180), _about("Days, for lines that a generator wrote.")] = 180
    vendor: Annotated[int, Meta(ge=1, le=180), _about("Days, for code of somebody else.")] = 180
    pure_refactor: Annotated[int, Meta(ge=1, le=30), _about("Days, for changes that are meant to alter nothing.")] = 30
    experiment: Annotated[int, Meta(ge=1, le=14), _about("Days, for trials.")] = 14


class Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """How one family of trusted checks is run. Without any, one pytest suite over the trusted paths is assumed."""

    name: Annotated[str, _about("How reports call the suite; unique.")] = "python"
    runner: Annotated[
        Literal["pytest"] | None, _about("The built-in recorder. Exactly one of runner and run is given.")
    ] = None
    paths: Annotated[tuple[str, ...], _about("What to collect; by default what trusted and relations match.")] = ()
    plugins: Annotated[tuple[str, ...], _about("pytest plugins that the trusted tests need, as module names.")] = ()
    args: Annotated[tuple[str, ...], _about("Further arguments for pytest.")] = ()
    env: Annotated[tuple[str, ...], _about("Names of environment variables that the run may see.")] = ()
    setup: Annotated[tuple[str, ...], _about("Commands that build the environment in the exported tree.")] = ()
    python: Annotated[str, _about("Interpreter of the tests; by default the project's own environment.")] = ""
    timeout: Annotated[
        int, Meta(ge=1, le=604_800), _about("Seconds after which the run is ended and counts as incomplete.")
    ] = 1800
    network: Annotated[
        Literal["none", "loopback", "all"],
        _about("What the run can reach: nothing, a loopback that is its own, or whatever the machine can."),
    ] = "loopback"
    processes: Annotated[int, Meta(ge=16, le=1 << 20), _about("Most processes and threads at a time.")] = 1024
    memory: Annotated[int, Meta(ge=64, le=1 << 24), _about("Most private memory of one process, in MiB.")] = 8192
    file_size: Annotated[int, Meta(ge=1, le=1 << 24), _about("Largest file that may be written, in MiB.")] = 1024
    open_files: Annotated[int, Meta(ge=256, le=1 << 20), _about("Most open files of one process.")] = 4096
    audit: Annotated[
        Literal["auto", "always"],
        _about("Watch audited events of Python, and all code that starts, where it is needed or always; it is slow."),
    ] = "auto"
    readable: Annotated[
        tuple[str, ...], _about("Places outside of the tree that the run may read: absolute, or from ~/.")
    ] = ()
    borrow: Annotated[
        tuple[str, ...], _about("Folders of the checkout that git does not track and the run sees, as node_modules.")
    ] = ()
    run: Annotated[str, _about("A command that runs trusted tests and writes an export.")] = ""
    export: Annotated[str, _about("The file that run writes, relative to the root.")] = ""
    format: Annotated[str, _about("Format of the export.")] = "auto"
    sources: Annotated[tuple[str, ...], _about("Globs of the files that this suite's evidence may speak about.")] = ()
    path_map: Annotated[dict[str, str], _about("Prefixes of paths in the export, and what they are in the tree.")] = (
        field(default_factory=dict)
    )


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """Everything that a repository may choose. Defaults are the strictest useful choice."""

    target_branch: Annotated[
        str, _about("The branch that patches are merged into; by default the remote's default branch.")
    ] = ""
    sources: Annotated[tuple[str, ...], _about("Globs of the files whose changed lines owe a witness.")] = ("**",)
    generated: Annotated[tuple[str, ...], _about("Globs of tests that agents write; they owe and witness nothing.")] = (
        "tests/generated/**",
    )
    trusted: Annotated[tuple[str, ...], _about("Globs of the checks that people own.")] = ("tests/trusted/**",)
    relations: Annotated[tuple[str, ...], _about("Globs of the accepted metamorphic relations.")] = (
        "tests/relations/**",
    )
    waivers: Annotated[str, _about("The waiver file.")] = "tests/waivers.yaml"
    protected: Annotated[tuple[str, ...], _about("Globs added to the built-in list of protected content.")] = ()
    inert: Annotated[tuple[str, ...], _about("Globs added to the built-in list of files that owe nothing.")] = ()
    sensitive: Annotated[tuple[str, ...], _about("Globs of security-sensitive files, for a warning.")] = ()
    owners: Annotated[tuple[str, ...], _about("Who may own a waiver; anybody when empty.")] = ()
    approvers: Annotated[str, _about("The file of SSH allowed signers whose approval counts.")] = (
        ".linewitness/approvers"
    )
    branches: Annotated[
        Literal["line", "arms"], _about("Whether a changed branch owes its line only or each of its arms.")
    ] = "line"
    reformatted: Annotated[
        Literal["prove", "owe"], _about("Whether lines of a definition whose syntax tree did not change owe nothing.")
    ] = "prove"
    deletions: Annotated[Literal["owe", "ignore"], _about("Whether the place of deleted executable lines owes.")] = (
        "owe"
    )
    import_hits: Annotated[
        Literal["count", "owe"], _about("Whether a line that only runs at import is witnessed by an import.")
    ] = "count"
    hazards: Annotated[
        Literal["owe", "ignore"],
        _about("Whether a changed line that can make checks pass by itself owes more than a run."),
    ] = "owe"
    data: Annotated[Literal["inert", "owe"], _about("Whether changed data files owe, as opaque files.")] = "inert"
    inline_tests: Annotated[
        Literal["owe", "generated"],
        _about("Whether test code inside of source files (Rust's cfg(test)) owes, or counts as generated tests."),
    ] = "owe"
    imported_evidence: Annotated[
        Literal["accept", "refuse"], _about("Whether check accepts evidence that was collected elsewhere.")
    ] = "accept"
    draft_examples: Annotated[
        int, Meta(ge=0, le=100), _about("Most cases of each corpus that `relations draft` may show to a model.")
    ] = 3
    max_waiver_days: Annotated[WaiverDays, _about("Longest life of a waiver for each reason.")] = WaiverDays()
    suite: Annotated[tuple[Suite, ...], _about("The suites of trusted checks; one pytest suite when empty.")] = ()


class LoadedSettings(NamedTuple):
    """Settings and where they came from.

    ``digest`` is the SHA-256, in hexadecimal, of the canonical JSON of the effective settings, so that defaults written
    out and defaults left out are the same. ``origin`` is the file that held them, or empty for the defaults.
    """

    settings: Settings
    digest: str
    origin: str


def load(read: Read) -> LoadedSettings:
    """Read the settings of a tree. ``read`` gives the bytes of a file at a path from the root, or ``None``.

    Errors: :class:`linewitness.errors.UsageError` with file, line and key for anything that is not valid settings.
    """
    own, project = read(SETTINGS_FILE), read(PYPROJECT)
    if own is None and project is None:
        return _loaded(Settings(), "")
    # The parser costs as much as the rest of the start-up; a tree without settings does not need it.
    from linewitness.settings_file import parse

    document = parse(own, project)
    if document is None:
        return _loaded(Settings(), "")
    return _loaded(document.convert(), document.origin)


def _loaded(settings: Settings, origin: str) -> LoadedSettings:
    return LoadedSettings(settings, digest(settings), origin)


def digest(settings: Settings) -> str:
    """SHA-256 of the settings' canonical JSON: every field present, keys sorted, no white space."""
    return sha256(msgspec.json.encode(settings, order="sorted"))


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of ``linewitness.toml``."""
    generated = msgspec.json.schema(Settings)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "linewitness settings",
    }
    return head | generated
