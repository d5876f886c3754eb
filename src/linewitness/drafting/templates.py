"""Relations from templates, for families that names and signatures give away. No model and no network.

A template knows nothing of what the code is for: it proposes, ``relations try`` says whether it holds and what it sees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from linewitness.drafting.reply import Inputs as Slice
from linewitness.drafting.reply import Proposal
from linewitness.drafting.signatures import Function, Inputs, functions, inputs_for
from linewitness.drafting.slices import Material

_PAIRS: Final = (
    ("encode", "decode"), ("dumps", "loads"), ("serialize", "deserialize"), ("serialise", "deserialise"),
    ("pack", "unpack"), ("compress", "decompress"), ("escape", "unescape"), ("quote", "unquote"), ("format", "parse"),
    ("render", "parse"), ("encrypt", "decrypt"), ("to", "from"), ("write", "read"), ("freeze", "thaw"),
    ("flatten", "unflatten"), ("split", "join"), ("marshal", "unmarshal"), ("wrap", "unwrap"), ("dump", "load"),
)  # fmt: skip
_SETTLING: Final = frozenset({
    "sort", "sorted", "normalise", "normalize", "normalised", "normalized", "canonical", "canonicalise",
    "canonicalize", "clean", "cleanup", "strip", "dedupe", "dedup", "deduplicate", "unique", "trim", "slug", "slugify",
    "simplify", "format", "collapse", "squash", "sanitize", "sanitise", "minify", "lower", "upper", "fold", "tidy",
    "squeeze", "round", "clamp", "clip",
})  # fmt: skip
_LIST_WORDS: Final = frozenset({
    "items", "values", "numbers", "prices", "orders", "rows", "records", "lines", "elements", "entries", "xs", "names",
    "words", "amounts", "readings", "documents", "parts",
})  # fmt: skip


class _Draft(NamedTuple):
    """One relation to be written: what it says, the library's names that it uses, and its assertion."""

    title: str
    about: str
    uses: tuple[str, ...]
    assertion: str
    subjects: tuple[str, ...] = ()


def propose(
    material: Material, sample: Mapping[str, tuple[Any, ...]], pairs: Iterable[tuple[str, str]] = ()
) -> tuple[Proposal, ...]:
    """A proposal for each family that a function with unwitnessed rows seems to belong to.

    ``sample`` are cases for functions, by ``module:name``; ``pairs`` are further round trips, by such names.
    """
    known = functions(material)
    scopes = {(row.path, row.scope.partition(".")[0]) for row in material.rows}
    wanted = [each for each in known if (each.path, each.name) in scopes]
    found = [*_round_trips(wanted, known, tuple(pairs), material, sample)]
    for function in wanted:
        for inputs in inputs_for(function, material.sketches, sample):
            for draft in (*_idempotent(function), *_permuted(function, inputs), *_unchanged(function)):
                least = _applicable(draft, inputs)
                if least:
                    found.append(_proposal(draft, [function], inputs, least))
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------- families


def _round_trips(
    wanted: list[Function], known: tuple[Function, ...], pairs: tuple[tuple[str, str], ...], material: Material,
    sample: Mapping[str, tuple[Any, ...]],
) -> Iterator[Proposal]:  # fmt: skip
    for there in known:
        for back in known:
            named = (f"{there.module}:{there.name}", f"{back.module}:{back.name}") in pairs
            if there == back or not (named or _is_pair(there, back)) or not {there, back} & set(wanted):
                continue
            title = f"{back.name}_gives_back_what_{there.name}_was_given"
            about = f"{back.name} undoes {there.name}"
            assertion = f"round_trip({there.name}, {back.name}, {_case(there)})"
            for inputs in inputs_for(there, material.sketches, sample):
                yield _proposal(_Draft(title, about, ("round_trip",), assertion), [there, back], inputs, inputs.cases)


def _is_pair(there: Function, back: Function) -> bool:
    if there.path != back.path or len(there.parameters) != 1 or len(back.parameters) != 1:
        return False
    one, other = _words(there.name), _words(back.name)
    return any(
        [back_word if word == there_word else word for word in one] == other and there_word in one
        for there_word, back_word in _PAIRS
    )


def _idempotent(function: Function) -> Iterator[_Draft]:
    if len(function.parameters) == 1 and _SETTLING & set(_words(function.name)):
        about = f"{function.name} changes nothing the second time"
        assertion = f"idempotent({function.name}, {_case(function)})"
        yield _Draft(f"{function.name}_changes_nothing_the_second_time", about, ("idempotent",), assertion)


def _permuted(function: Function, inputs: Inputs) -> Iterator[_Draft]:
    """The order of a list means nothing: the list is the argument, or stands under a key of every known case."""
    if len(function.parameters) != 1:
        return
    name, _ = function.parameters[0]
    if function.takes.startswith("list[") or (not function.takes and name in _LIST_WORDS):
        yield _order(function, "", "same")
        if function.returns.startswith("list["):
            yield _order(function, "", "permutation")
    for key in inputs.list_keys:
        yield _order(function, key, "same")


def _order(function: Function, key: str, law: str) -> _Draft:
    what = f"the_order_of_{key}" if key else "the_order"
    title = f"{what}_means_nothing_to_{function.name}" + ("_but_order" if law == "permutation" else "")
    path = json.dumps(key) if key else ""
    assertion = f"compare({function.name}, {_case(function)}, permute({path}), {law}())"
    return _Draft(title, title.replace("_", " "), ("compare", "permute", law), assertion)


def _unchanged(function: Function) -> Iterator[_Draft]:
    """A rewrite changes no result. Where results were meant to change it fails, which ``try`` tells."""
    if function.at_base and len(function.parameters) == 1:
        target = json.dumps(f"{function.module}:{function.name}")
        subjects = (f"now = isolated({target})", f"before = base({target})")
        assertion = f"agrees(now, before, {_case(function)})"
        title = f"{function.name}_gives_what_it_gave_before"
        yield _Draft(
            title,
            f"{function.name} gives the results that base gives",
            ("agrees", "base", "isolated"),
            assertion,
            subjects,
        )


def _words(name: str) -> list[str]:
    return [word for word in re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_") if word]


def _case(function: Function) -> str:
    return "bytes.fromhex(case)" if function.takes == "bytes" else "case"


# ---------------------------------------------------------------- writing


def _applicable(draft: _Draft, inputs: Inputs) -> int:
    """How many cases the draft can be asked to check: not those of a known slice that a permutation leaves alone."""
    if "permute" not in draft.uses or not inputs.lines:
        return inputs.cases
    lists = (case for case in inputs.sample if isinstance(case, list))
    return sum(len({json.dumps(item) for item in case}) > 1 for case in lists)


def _proposal(draft: _Draft, subjects: list[Function], inputs: Inputs, least: int) -> Proposal:
    least = least if inputs.lines else min(least, max(1, inputs.cases // 2))
    imports = sorted({f"from {each.module} import {each.name}" for each in subjects}) if not draft.subjects else []
    lines = [f'"""Drafted from a template: {draft.about}."""', ""]
    lines += [f"from linewitness.relations import {', '.join(sorted({'relation', *draft.uses}))}", "", *imports]
    lines += [*([""] if imports else []), *draft.subjects, *([""] if draft.subjects else []), ""]
    lines += [
        f"@relation(corpus={json.dumps(inputs.corpus)}, at_least={least})",
        f"def test_{draft.title}(case):",
        f"    {draft.assertion}",
    ]
    text = "\n".join(lines) + "\n"
    return Proposal(text, draft.about, Slice(inputs.corpus, inputs.lines) if inputs.lines else None)
