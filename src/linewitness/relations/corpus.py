"""The cases of a frozen corpus, verified before the first one is read, and read one after the other.

By suffix: ``.jsonl`` and ``.ndjson`` give one case a line, ``.csv`` and ``.tsv`` one dictionary a row, ``.json`` the
elements of a list or else one case, ``.txt`` its lines that are not blank, anything else its bytes as one case. In a
corpus that is a folder, each file gives its cases, and a ``.txt`` file is one case whole.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from .sums import MANIFEST, read_line
from .trouble import CorpusError
from .values import canonical

FOLDER = "corpus"
_CHUNK = 1 << 20
_WIDEST_FIELD = 1 << 27
_FREEZE = "the owners of the corpus run `linewitness corpus freeze` and land both"


class Case(NamedTuple):
    """One case: where it stands (``orders.jsonl:3``), its value, its canonical bytes."""

    name: str
    value: Any
    text: bytes


class Corpus(NamedTuple):
    """A corpus that was found: how it is called, the folder of its manifest, and the names in it with their digests.

    ``names`` are relative to ``folder``, sorted. ``digest`` is the SHA-256 of the one file, or over all lines of the
    manifest that are about this corpus.
    """

    name: str
    folder: str
    names: tuple[str, ...]
    sums: dict[str, str]
    is_folder: bool

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal."""
        if not self.is_folder:
            return self.sums[self.names[0]]
        lines = "".join(f"{self.sums[name]}  {name}\n" for name in self.names)
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def path(self) -> str:
        """Where it lies."""
        return os.path.join(self.folder, *self.name.split("/"))


def find(name: str, test_file: str) -> Corpus:
    """The corpus ``name`` in the nearest folder called ``corpus``, beside the test's file or above it.

    Errors: :class:`CorpusError` when there is none, or no manifest lists it.
    """
    name = name.strip("/")
    parts = name.split("/")
    if set(parts) & {"", ".", ".."}:
        raise CorpusError(f"{name!r} is no name inside a corpus folder")
    here = os.path.dirname(os.path.abspath(test_file))
    while not os.path.isdir(os.path.join(here, FOLDER)):
        above = os.path.dirname(here)
        if above == here:
            raise CorpusError(f"there is no folder called {FOLDER!r} beside {test_file} or above it")
        here = above
    top = os.path.join(here, FOLDER)
    for depth in range(len(parts), 0, -1):
        folder = os.path.join(top, *parts[: depth - 1])
        if os.path.lexists(os.path.join(folder, MANIFEST)):
            return _listed("/".join(parts[depth - 1 :]), folder)
    if os.path.lexists(os.path.join(top, *parts, MANIFEST)):
        return _listed("", os.path.join(top, *parts))
    raise CorpusError(f"no manifest pins {os.path.join(top, *parts)}: {_FREEZE}")


def _listed(name: str, folder: str) -> Corpus:
    sums = _manifest(os.path.join(folder, MANIFEST))
    is_folder = not name or name not in sums
    prefix = f"{name}/" if name else ""
    names = sorted(each for each in sums if each.startswith(prefix)) if is_folder else [name]
    if not names:
        raise CorpusError(f"{os.path.join(folder, MANIFEST)} lists nothing called {name!r}: {_FREEZE}")
    if is_folder:
        _refuse_unlisted(os.path.join(folder, *filter(None, name.split("/"))), prefix, sums)
    return Corpus(name, folder, tuple(names), {each: sums[each] for each in names}, is_folder)


def _manifest(path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    with _open(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = raw.rstrip(b"\n")
            line = line[:-1] if line.endswith(b"\r") else line
            if not line or line.startswith(b"#"):
                continue
            entry = read_line(line)
            if entry.trouble or entry.name in found:
                raise CorpusError(f"{path}:{number}: {entry.trouble or f'{entry.name!r} is listed twice'}")
            found[entry.name] = entry.digest
    return found


def _refuse_unlisted(folder: str, prefix: str, sums: dict[str, str]) -> None:
    for place, folders, files in os.walk(folder):
        for name in [*files, *(each for each in folders if os.path.islink(os.path.join(place, each)))]:
            inside = prefix + os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")
            if inside not in sums and inside != MANIFEST:
                raise CorpusError(f"{os.path.join(place, name)} is not in the manifest: remove it, or {_FREEZE}")


def _open(path: str) -> BinaryIO:
    """Errors: :class:`CorpusError` for what is missing, a link, or no regular file."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        why = "it is a link" if os.path.islink(path) else error.strerror
        raise CorpusError(f"{path} cannot be read as part of a corpus: {why}") from error
    stream = os.fdopen(number, "rb")
    if not stat.S_ISREG(os.fstat(number).st_mode):
        stream.close()
        raise CorpusError(f"{path} is not a regular file, and a corpus holds no others")
    return stream


def read(corpus: Corpus) -> Iterator[Case]:
    """Every case, in the order of the names and of the lines.

    Each file is compared with the manifest before its first case is given, and read through the same descriptor.
    Errors: :class:`CorpusError`.
    """
    for name in corpus.names:
        with _open(os.path.join(corpus.folder, *name.split("/"))) as stream:
            _verify(stream, name, corpus)
            try:
                yield from _cases(stream, name, whole_text=corpus.is_folder)
            except (UnicodeDecodeError, csv.Error, RecursionError) as error:
                raise CorpusError(f"{os.path.join(corpus.folder, name)} cannot be read as cases: {error}") from error


def _verify(stream: BinaryIO, name: str, corpus: Corpus) -> None:
    state = hashlib.sha256()
    while True:
        chunk = stream.read(_CHUNK)
        if not chunk:
            break
        state.update(chunk)
    if state.hexdigest() != corpus.sums[name]:
        raise CorpusError(
            f"{os.path.join(corpus.folder, name)} drifted: its SHA-256 is {state.hexdigest()[:12]}…, the manifest says"
            f" {corpus.sums[name][:12]}…. Restore it, or {_FREEZE}"
        )
    stream.seek(0)


def _cases(stream: BinaryIO, name: str, *, whole_text: bool) -> Iterator[Case]:
    suffix = os.path.splitext(name)[1].lower()
    if suffix in {".jsonl", ".ndjson"}:
        lines = ((number, line) for number, line in enumerate(stream, 1) if line.strip())
        return (_case(f"{name}:{number}", _json(line, f"{name}:{number}")) for number, line in lines)
    if suffix in {".csv", ".tsv"}:
        return _rows(stream, name, "\t" if suffix == ".tsv" else ",")
    if suffix == ".json":
        value = _json(stream.read(), name)
        items = [(f"{name}[{index}]", item) for index, item in enumerate(value)] if isinstance(value, list) else None
        return (_case(*item) for item in ([(name, value)] if items is None else items))
    if suffix == ".txt" and not whole_text:
        lines = ((number, line) for number, line in enumerate(stream, 1) if line.strip())
        return (_case(f"{name}:{number}", line.decode("utf-8").rstrip("\r\n")) for number, line in lines)
    content = stream.read()
    return iter([_case(name, content.decode("utf-8") if suffix == ".txt" else content)])


def _case(name: str, value: Any) -> Case:
    return Case(name, value, canonical(value))


def _json(data: bytes, where: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise CorpusError(f"{where} is not JSON: {error}") from error


def _rows(stream: BinaryIO, name: str, delimiter: str) -> Iterator[Case]:
    before = csv.field_size_limit(_WIDEST_FIELD)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        reader = csv.DictReader(text, delimiter=delimiter, strict=True)
        for row in reader:
            if None in row or None in row.values():
                raise CorpusError(f"{name}:{reader.line_num} has another number of fields than the header")
            yield _case(f"{name}:{reader.line_num}", dict(row))
    finally:
        text.detach()
        csv.field_size_limit(before)
