"""Where a draft goes: its place among the relations, its inputs beside the corpora, and the manifest of these."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from linewitness.drafting.corpora import Corpus
from linewitness.errors import UsageError
from linewitness.evidence.pytest_settings import PytestSettings
from linewitness.globs import Globs, fixed_part
from linewitness.model import RepoPath
from linewitness.trust.manifest import MANIFEST, render
from linewitness.values import NamedTuple

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,80}")


class Placed(NamedTuple):
    """The paths of an accepted draft. ``inputs`` and ``manifest`` are empty when it brings no inputs."""

    relation: RepoPath
    corpus: RepoPath
    inputs: RepoPath
    manifest: RepoPath


def place(globs: tuple[str, ...], name: str, corpus: str | None, settings: PytestSettings) -> Placed:
    """Where a relation called ``name`` goes under these settings. Errors: :class:`UsageError` when nowhere fits."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a relation: letters, digits and underscores, no digit first")
    folders = [fixed_part(glob).strip("/") for glob in globs if not glob.startswith("!")]
    relations = Globs(globs)
    for folder in folders:
        for file in (f"{name}.py", f"test_{name}.py"):
            path = RepoPath(f"{folder}/{file}" if folder else file)
            if relations.match(path) and settings.collects(path):
                home = f"{folder}/corpus" if folder else "corpus"
                inputs = f"{home}/{corpus}" if corpus is not None else ""
                if inputs and not (relations.match(inputs) and relations.match(f"{home}/{MANIFEST}")):
                    continue
                manifest = RepoPath(f"{home}/{MANIFEST}") if corpus is not None else RepoPath("")
                return Placed(path, RepoPath(home), RepoPath(inputs), manifest)
    raise UsageError(f"no place below {', '.join(globs)} takes a relation called {name!r}: see the setting `relations`")


def manifest_with(placed: Placed, inputs: bytes, corpora: tuple[Corpus, ...]) -> bytes:
    """The manifest of the corpus folder with the draft's inputs among its files."""
    folder = f"{placed.corpus}/"
    listed = {each.path[len(folder) :]: each.digest for each in corpora if each.folder == folder}
    return render({**listed, placed.inputs[len(folder) :]: hashlib.sha256(inputs).hexdigest()})


def sums(corpora: tuple[Corpus, ...], placed: Placed, inputs: bytes | None) -> Mapping[RepoPath, str]:
    """Every listed corpus file with its SHA-256, the draft's inputs among them."""
    known = {each.path: each.digest for each in corpora}
    return known if inputs is None else {**known, placed.inputs: hashlib.sha256(inputs).hexdigest()}
