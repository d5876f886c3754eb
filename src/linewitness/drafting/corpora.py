"""The frozen corpora of a tree, as far as drafting may know them: name, schema, number of cases, a few examples."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from linewitness.drafting.schema import infer
from linewitness.globs import Globs
from linewitness.model import Blob, RepoPath
from linewitness.trust.manifest import MANIFEST, parse
from linewitness.values import NamedTuple

_LARGEST: Final = 8 << 20
_LARGEST_EXAMPLE: Final = 2000
_LOOKED_AT: Final = 2000

Tree = Mapping[RepoPath, Blob]
Read = Callable[[Blob], bytes]


class Corpus(NamedTuple):
    """One file that a manifest lists. ``name`` is what ``@relation`` calls it; ``folder`` holds the manifest."""

    name: str
    path: RepoPath
    folder: str
    digest: str


class Contents(NamedTuple):
    """The distinct cases of a corpus, in their order; ``why_not`` says why they are not known."""

    cases: tuple[Any, ...] = ()
    why_not: str = ""


def corpora(tree: Tree, relations: Globs, read: Read) -> tuple[Corpus, ...]:
    """Every file of every manifest below the relations, sorted by path."""
    found = []
    for path in sorted(path for path in tree if relations.match(path) and path.rpartition("/")[2] == MANIFEST):
        if not tree[path].is_regular:
            continue
        folder = path[: -len(MANIFEST)]
        for entry in parse(read(tree[path]), path).entries:
            where = RepoPath(folder + entry.name)
            if where in tree and tree[where].is_regular:
                found.append(Corpus(_called(folder, entry.name), where, folder, entry.digest))
    return tuple(found)


def _called(folder: str, name: str) -> str:
    """The name from the nearest folder called ``corpus`` on."""
    return f"{folder}{name}".rpartition("/corpus/")[2] or name


def contents(corpus: Corpus, tree: Tree, read: Read) -> Contents:
    """The cases, read as the relations library reads them. Bytes are one case."""
    data = read(tree[corpus.path])
    if len(data) > _LARGEST:
        return Contents(why_not=f"it has more than {_LARGEST >> 20} MiB")
    try:
        return Contents(tuple(_distinct(_cases(corpus.name, data))))
    except (ValueError, csv.Error, RecursionError) as error:
        return Contents(why_not=f"it cannot be read as cases: {type(error).__name__}")


def _distinct(values: Iterator[Any]) -> Iterator[Any]:
    seen = set()
    for value in values:
        key = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True)
        if key not in seen:
            seen.add(key)
            yield value


def _cases(name: str, data: bytes) -> Iterator[Any]:
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in {".jsonl", ".ndjson"}:
        yield from (json.loads(line) for line in data.split(b"\n") if line.strip())
    elif suffix == ".json":
        value = json.loads(data)
        yield from value if isinstance(value, list) else [value]
    elif suffix in {".csv", ".tsv"}:
        text = data.decode("utf-8-sig")
        yield from csv.DictReader(text.splitlines(keepends=True), delimiter="\t" if suffix == ".tsv" else ",")
    elif suffix == ".txt":
        yield from (line for line in data.decode("utf-8").splitlines() if line.strip())
    else:
        yield data


class Sketch(NamedTuple):
    """What may be told about a corpus. ``examples`` are JSON values."""

    name: str
    cases: int
    schema: dict[str, Any]
    examples: tuple[Any, ...]


def sketch(corpus: Corpus, found: Contents, most_examples: int) -> Sketch:
    """Schema and at most so many examples: the shortest cases, which tell as much and less of anybody's data."""
    cases = found.cases
    if any(isinstance(case, bytes) for case in cases):
        return Sketch(corpus.name, len(cases), {"type": "bytes"}, ())
    texts = sorted((json.dumps(case), index) for index, case in enumerate(cases))
    short = sorted(texts, key=lambda item: len(item[0]))[:most_examples]
    examples = tuple(cases[index] for text, index in short if len(text) <= _LARGEST_EXAMPLE)
    return Sketch(corpus.name, len(cases), infer(cases[:_LOOKED_AT]), examples)
