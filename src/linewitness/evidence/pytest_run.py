"""The trusted run: pytest over the trusted checks and relations only, in the export of head, with the recorder inside.

What the run takes from the project is protected content: its tests, conftest files and pytest settings. Everything
else is ours: the command line, the environment, where imports come from, what counts as the end. Nothing is read from
the output of the run, only from the records, and only when every process of it is gone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from linewitness.digests import sha256
from linewitness.errors import EvidenceError
from linewitness.evidence.hits import FileSites, Hit, RunRecord
from linewitness.evidence.influence import Used, changed_while_running, read_used
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.kit import PACKAGE, write_kit
from linewitness.evidence.launch import Ended
from linewitness.evidence.listing import LineRanges, Listing, list_sites, with_unlisted
from linewitness.evidence.pytest_settings import PytestSettings, import_roots, owned_names, read_pytest_settings
from linewitness.evidence.records import Journals, read_journals
from linewitness.evidence.relation_request import RelationRequest
from linewitness.evidence.sandbox_room import Room, Terms, furnish, stamps
from linewitness.evidence.seal import leave_key
from linewitness.evidence.tally import count_hits, foreign_idents, loaded_files
from linewitness.evidence.vacuity import relation_runs
from linewitness.evidence.verdicts import Verdict, examine, left_out, unchosen
from linewitness.model import EvidenceSource, Finding, RepoPath, Severity
from linewitness.settings import Suite
from linewitness.values import NamedTuple

Progress = Callable[[int, int], None]


class RunRequest(NamedTuple):
    """Everything that one trusted run needs.

    ``export`` is a fresh tree with head's files and nothing else; ``paths`` are the files under trusted and relation
    paths (those that pytest takes for tests are collected); ``changed`` are the 1-based inclusive line ranges to
    observe in each file that owes, none where it is expected not to be loaded; ``results`` is an existing folder
    outside the export. ``owned`` are the project's top-level names at base (see :func:`owned_names`; ``None``: those of
    the export), ``protected`` the paths from which a skip may be raised, beside the collected files and conftest files.
    ``progress`` is told (tests done, tests collected). ``all_witnesses`` records every test that ran a line, not only
    one. ``wrapper`` is put before each command of the run, to measure it. ``host`` is the environment that the allow-
    list picks from (``None``: this process's). ``terms`` say how the run is isolated (``None``: not at all, and without
    limits). ``notes_reads`` has the run note which files are opened (see
    :func:`linewitness.evidence.influence.could_matter`), and ``loose`` are the changed files that owe nothing, with
    their changed lines: it is noted when one is executed. ``watches_starts`` has all code seen when it starts, and not
    only what is imported from the export, where that costs more. ``only`` are node ids without parameters: of the tests
    in ``paths`` these and what is below them are run (none: all are).
    """

    export: Path
    python: Interpreter
    suite: Suite
    paths: tuple[RepoPath, ...]
    changed: Mapping[RepoPath, LineRanges]
    results: Path
    owned: frozenset[str] | None = None
    protected: frozenset[RepoPath] = frozenset()
    progress: Progress | None = None
    all_witnesses: bool = False
    wrapper: tuple[str, ...] = ()
    host: Mapping[str, str] | None = None
    terms: Terms | None = None
    relations: RelationRequest = RelationRequest()
    notes_reads: bool = True
    watches_starts: bool = True
    loose: Mapping[RepoPath, Sequence[int]] = MappingProxyType({})
    only: tuple[str, ...] = ()


class _Prepared(NamedTuple):
    """The folders of one run, and what was found out before it."""

    room: Room
    kit: Path
    records: Path
    reads: Path
    settings: PytestSettings
    tests: tuple[RepoPath, ...]
    listing: Listing


def run_pytest(request: RunRequest) -> RunRecord:
    """Run the trusted checks and tell who executed which site of the changed lines.

    Failing, missing or incomplete runs are findings of the record (LW501 to LW503, LW505, LW506), and an incomplete run
    has no hits. Errors: EvidenceError when the run cannot be started at all (settings, ``setup``, interpreter).
    """
    request = request._replace(
        export=Path(os.path.realpath(request.export)), results=Path(os.path.realpath(request.results))
    )
    settings = read_pytest_settings(request.export, request.python.pytest)
    tests = tuple(sorted(path for path in set(request.paths) if settings.collects(path)))
    if not tests:
        message = (
            "no trusted check was found: no file under the trusted or relation paths is a test module for pytest"
            f" (its `python_files`: {' '.join(settings.python_files)})."
        )
        return _nothing(request, Finding("LW502", "", 0, message))
    with tempfile.TemporaryDirectory(prefix="lw-", ignore_cleanup_errors=True) as temporary:
        prepared = _prepare(request, settings, tests, Path(os.path.realpath(temporary)))
        watched = {*tests, *request.protected, *request.changed}
        before = stamps(request.export, watched)
        prepared.room.set_up()
        key = leave_key(str(prepared.records))
        ended = _run(request, prepared)
        changed = changed_while_running(before, stamps(request.export, watched))
    try:
        journals = read_journals(prepared.records, key)
        verdict = examine(journals, ended, request.relations.files)
        used = _used(request, prepared, journals) if verdict.complete else Used()
    except EvidenceError as error:
        return _nothing(request, Finding(error.code or "LW503", error.path, error.line, error.message))
    if changed:
        verdict = verdict._replace(complete=False, findings=(*verdict.findings, *changed))
    verdict = verdict._replace(findings=(*verdict.findings, *_left_behind(ended)))
    return _record(request, prepared, journals, verdict)._replace(used=used)


def _used(request: RunRequest, prepared: _Prepared, journals: Journals) -> Used:
    loaded = loaded_files(journals)
    return read_used(prepared.reads, loaded) if _notes_reads(request) else Used(loaded)


def _notes_reads(request: RunRequest) -> bool:
    return request.notes_reads or request.suite.audit == "always"


# ---------------------------------------------------------------- before


def _prepare(request: RunRequest, settings: PytestSettings, tests: tuple[RepoPath, ...], temporary: Path) -> _Prepared:
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=request.results))
    kit, records, reads = folder / "kit", folder / "records", folder / "reads"
    for place in (kit, records, reads):
        place.mkdir()
    is_compiled = write_kit(kit, request.python.version)
    readable = {path: ranges for path, ranges in request.changed.items() if _is_text(path)}
    wanted = {path: ranges for path, ranges in readable.items() if ranges}
    listing = list_sites(request.python, kit, request.export, wanted, prepare=not is_compiled)
    listing = with_unlisted(listing, readable.keys() - wanted.keys())
    odd = {path: "has a name that is not UTF-8" for path in request.changed if path not in readable}
    listing = listing._replace(unreadable={**listing.unreadable, **odd})
    host = os.environ if request.host is None else request.host
    folders = (request.export, folder, temporary)
    # The tests' own interpreter is what `python` and console scripts mean in the tests.
    room = furnish(folders, request.suite, request.python.path.parent, request.terms, host)
    return _Prepared(room._replace(wrapper=request.wrapper), kit, records, reads, settings, tests, listing)


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------- the run


def _run(request: RunRequest, prepared: _Prepared) -> Ended:
    config = prepared.kit / "config.json"
    config.write_bytes(msgspec.json.encode(_config(request, prepared)))
    safe = ["-P"] if request.python.has_safe_path else []
    command = [str(request.python.path), *safe, "-B", "--check-hash-based-pycs", "always"]
    command += [str(prepared.kit / "bootstrap.py"), str(config)]
    tick = _Ticker(prepared.records, request.progress) if request.progress is not None else None
    ended = prepared.room.run(command, "output.txt", tick)
    if tick is not None:
        tick()
    return ended


def _config(request: RunRequest, prepared: _Prepared) -> dict[str, Any]:
    roots = import_roots(request.export, prepared.settings)
    owned = _names_of(request.export, prepared.settings) if request.owned is None else request.owned
    return {
        "export": str(request.export),
        "records": str(prepared.records),
        "mode": prepared.listing.mode,
        "plan": prepared.listing.plan,
        "keep_all": request.all_witnesses,
        "audit": request.suite.audit == "always",
        "is_plugin": _is_plugin(request.export),
        "starts": "all" if request.watches_starts or request.suite.audit == "always" else "loaded",
        "args": _arguments(request, prepared),
        "roots": [str(root) for root in roots],
        "owned": sorted(owned),
        "natural": sorted(_test_names(request.export, prepared.tests)),
        "test_folders": sorted({str((request.export / test).parent) for test in prepared.tests}),
        "test_files": list(prepared.tests),
        "protected": sorted(filter(_is_text, request.protected)),
        "only": list(request.only),
        "loose": {path: list(numbers) for path, numbers in request.loose.items() if _is_text(path)},
        **request.relations.config(),
    }


def _is_plugin(export: Path) -> bool:
    """Whether the project says of itself that it is a plugin of pytest."""
    texts = (export / name for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    return any(b"pytest11" in text.read_bytes() for text in texts if text.is_file() and not text.is_symlink())


def _arguments(request: RunRequest, prepared: _Prepared) -> list[str]:
    """The command line of pytest.

    Of the project's ``addopts`` only the import mode and the ignored paths are kept: options there can deselect tests
    or load plugins, and a suite that needs some says so in its ``args``.
    """
    settings = prepared.settings
    if settings.file is None:
        ini = prepared.room.folder / "pytest.ini"
        ini.write_text("[pytest]\n", encoding="utf-8")
    else:
        ini = request.export / settings.file
    arguments = ["-p", f"{PACKAGE}.plugin", "-p", f"{PACKAGE}.left_out"]
    arguments += ["-p", f"{PACKAGE}.reads"] if _notes_reads(request) else []
    arguments += [*(["-p", f"{PACKAGE}.chosen"] if request.only else []), *request.relations.plugins(PACKAGE)]
    arguments += ["-p", "no:cacheprovider"]
    for plugin in request.python.plugins:
        arguments += ["-p", plugin]
    arguments += ["-c", str(ini), f"--rootdir={request.export}", f"--confcutdir={request.export}", "-o", "addopts="]
    if settings.import_mode:
        arguments.append(f"--import-mode={settings.import_mode}")
    arguments += ["--color=no", "-q", "--tb=short", *settings.ignored, *request.suite.args]
    return [*arguments, *prepared.tests]


def _names_of(export: Path, settings: PytestSettings) -> frozenset[str]:
    paths = (
        RepoPath(Path(folder, name).relative_to(export).as_posix())
        for folder, _, names in os.walk(export)
        for name in names
    )
    return owned_names(paths, settings.pythonpath)


def _test_names(export: Path, tests: tuple[RepoPath, ...]) -> set[str]:
    """Top-level names under which pytest imports the collected files: their packages, or the modules themselves."""
    names = {"conftest"}
    for test in tests:
        place = export / test
        while (place.parent / "__init__.py").is_file() and place.parent != export:
            place = place.parent
        names.add(place.stem if place.suffix == ".py" else place.name)
    return names


class _Ticker:
    """Reads on in the growing records and tells how many tests are done."""

    def __init__(self, records: Path, progress: Progress) -> None:
        self._records = records
        self._progress = progress
        self._read: dict[Path, int] = {}
        self._done = 0
        self._total = 0

    def __call__(self) -> None:
        before = (self._done, self._total)
        for path in self._records.glob("*.jsonl"):
            if path.name.startswith("child-"):
                continue
            with path.open("rb") as stream:
                stream.seek(self._read.get(path, 0))
                news = stream.read()
            whole = news[: news.rfind(b"\n") + 1]
            self._read[path] = self._read.get(path, 0) + len(whole)
            self._note(whole)
        if (self._done, self._total) != before:
            self._progress(self._done, self._total)

    def _note(self, rows: bytes) -> None:
        for row in rows.splitlines():
            if row.startswith(b'["test",'):
                self._done += 1
            elif row.startswith(b'["collected",'):
                try:
                    self._total = max(self._total, len(msgspec.json.decode(row)[1]))
                except (msgspec.MsgspecError, IndexError, TypeError):
                    continue  # The reader of the whole record complains.


# ---------------------------------------------------------------- after


def _record(request: RunRequest, prepared: _Prepared, journals: Journals, verdict: Verdict) -> RunRecord:
    listing = prepared.listing
    hits = count_hits(journals, verdict.tests, listing.bodies) if verdict.complete else {}
    outcomes = [(test.row.nodeid, test.outcome.value) for test in verdict.tests]
    source = EvidenceSource(
        suite=request.suite.name,
        kind="pytest",
        provenance="recorded",
        digest=_digest(listing.sites, hits, outcomes),
        tests=verdict.counts,
        confinement=prepared.room.confinement,
        relations=relation_runs(verdict.tests, journals),
        left_out=left_out(journals),
    )
    unreadable = tuple(
        Finding("LW503", path, 0, f"{path} {reason}; its lines cannot be witnessed.", Severity.WARNING)
        for path, reason in sorted(listing.unreadable.items())
    )
    record = RunRecord(source, listing.sites, hits, verdict.findings + unreadable, loaded_files(journals))
    if not verdict.complete:
        return record
    asked = frozenset(test.row.nodeid for test in verdict.tests)
    silent, away = tuple(verdict.silent), unchosen(journals)
    foreign = foreign_idents(journals)
    return record._replace(asked=asked, passed=verdict.passed, silent=silent, unchosen=away, foreign=foreign)


def _left_behind(ended: Ended) -> tuple[Finding, ...]:
    if not ended.outlived:
        return ()
    names = ", ".join(ended.outlived)
    message = f"programs that the trusted run left behind were ended, and nothing they did afterwards counts: {names}."
    return (Finding("LW503", "", 0, message, Severity.WARNING),)


def _nothing(request: RunRequest, finding: Finding) -> RunRecord:
    source = EvidenceSource(request.suite.name, "pytest", "recorded", _digest({}, {}, []))
    return RunRecord(source, {}, {}, (finding,))


def _digest(
    sites: Mapping[RepoPath, FileSites], hits: Mapping[RepoPath, Mapping[int, Hit]], outcomes: list[tuple[str, str]]
) -> str:
    """SHA-256, 64 hex digits, over what the run said, in an order of its own: equal runs have equal digests."""
    said = {
        "sites": {path: [sites[path].sites, sites[path].entries] for path in sorted(sites)},
        "hits": {path: [[ident, *hits[path][ident]] for ident in sorted(hits[path])] for path in sorted(hits)},
        "outcomes": sorted(outcomes),
    }
    return sha256(msgspec.json.encode(said, order="sorted"))
