"""From a map to stored drafts: ask, take apart, refuse what is no relation, keep the rest outside of the checkout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from linewitness.drafting.reply import Inputs, Note, Proposal
from linewitness.drafting.shape import Allowed, refusals
from linewitness.drafting.slices import Material
from linewitness.drafting.store import About, Draft, DraftRow, digest_of, store
from linewitness.obligation_map import ObligationMap, digest, encode
from linewitness.values import NamedTuple

_INPUTS_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}\.jsonl")
_MOST_LINES: Final = 1000
_LARGEST_INPUTS: Final = 256 << 10


class Origin(NamedTuple):
    """Who drafted: ``model`` with its name, ``template`` or ``ghostwriter``."""

    kind: str
    model: str = ""


class Drafted(NamedTuple):
    """What became of an answer: ids of stored drafts and whether each is new, refusals, notes for people."""

    stored: tuple[tuple[str, bool], ...]
    refused: tuple[tuple[Proposal, tuple[str, ...]], ...]
    notes: tuple[Note, ...]


def keep(
    material: Material, artifact: ObligationMap, proposals: Iterable[tuple[Origin, Proposal]], folder: Path
) -> Drafted:
    """Store every proposal that has the shape of a relation. Errors: :class:`linewitness.errors.UsageError`."""
    stored: dict[str, bool] = {}
    refused = []
    map_digest = digest(encode(artifact))
    for origin, proposal in proposals:
        why = why_not(proposal, material)
        if why:
            refused.append((proposal, why))
            continue
        inputs = _bytes(proposal.inputs)
        about = About(
            about=proposal.about,
            base=material.case.base.commit or "",
            corpus=proposal.inputs.name if proposal.inputs is not None else None,
            digest=digest_of(proposal.python, inputs),
            head=material.case.head.commit or "",
            map_digest=map_digest,
            model=origin.model,
            origin=origin.kind,
            rows=tuple(DraftRow(row.hash, row.line, row.path, row.scope) for row in material.rows),
        )
        name, is_new = store(folder, proposal, inputs, about)
        stored.setdefault(name, is_new)
    return Drafted(tuple(stored.items()), tuple(refused), ())


def sound_notes(notes: Iterable[Note], material: Material) -> tuple[Note, ...]:
    """The notes that are about an unwitnessed line which was asked about."""
    asked = {(row.path, row.line) for row in material.rows}
    return tuple(note for note in notes if (note.path, note.line) in asked)


def _bytes(inputs: Inputs | None) -> bytes | None:
    return None if inputs is None else "".join(f"{line}\n" for line in inputs.lines).encode()


def why_not(proposal: Proposal, material: Material) -> tuple[str, ...]:
    """Why a proposal is no draft; nothing when it is one."""
    known = frozenset(each.name for each in material.sketches)
    inputs = proposal.inputs
    trouble = _inputs_trouble(inputs, known) if inputs is not None else ""
    if trouble:
        return (trouble,)
    corpora = known if inputs is None else known | {inputs.name}
    found = refusals(proposal.python, Allowed(_modules(material), corpora))
    return tuple(map(str, found))


def _modules(material: Material) -> Mapping[str, frozenset[str]]:
    return {name: module.defines for module in material.modules for name in module.names}


def _inputs_trouble(inputs: Inputs, known: frozenset[str]) -> str:
    if not _INPUTS_NAME.fullmatch(inputs.name):
        return f"its inputs have the name {inputs.name!r}, and a plain one that ends with .jsonl is wanted"
    if inputs.name in known:
        return f"its inputs have the name of a corpus that is there already, {inputs.name}"
    if len(inputs.lines) > _MOST_LINES or sum(map(len, inputs.lines)) > _LARGEST_INPUTS:
        return f"its inputs are more than {_MOST_LINES} lines or {_LARGEST_INPUTS >> 10} KiB"
    for number, line in enumerate(inputs.lines, 1):
        try:
            json.loads(line)
            line.encode("utf-8")
        except (ValueError, RecursionError):
            return f"line {number} of its inputs is not JSON"
        if "\n" in line or "\r" in line:
            return f"line {number} of its inputs is several lines"
    return ""


def proposal_of(draft: Draft) -> Proposal:
    """A stored draft as the proposal that it was, or was edited to."""
    inputs = None
    if draft.about.corpus is not None and draft.inputs is not None:
        lines = draft.inputs.decode("utf-8", "replace").split("\n")
        inputs = Inputs(draft.about.corpus, tuple(line for line in lines if line.strip()))
    return Proposal(draft.python, draft.about.about, inputs)


def test_name(draft: Draft) -> str:
    """The name of a draft's first test, which its file is called after."""
    found = re.search(r"^def (test_\w+)", draft.python, re.MULTILINE)
    return found[1] if found else f"test_draft_{draft.name}"
