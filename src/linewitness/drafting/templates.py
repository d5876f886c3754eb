"""Relations from templates, for families that names and signatures give away. No model and no network.

A template knows nothing of what the code is for: it proposes, ``relations try`` says whether it holds and what it sees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from linewitness.drafting.inputs import Inputs, inputs_for
from linewitness.drafting.reply import Inputs as Slice
from linewitness.drafting.reply import Proposal
from linewitness.drafting.signatures import Function, Parameter, Undraftable, functions, scopes
from linewitness.drafting.slices import Material
from linewitness.values import NamedTuple

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
    "squeeze", "round", "clamp", "clip", "truncate", "shorten", "limit", "pad",
})  # fmt: skip
_LIST_WORDS: Final = frozenset({
    "items", "values", "numbers", "prices", "orders", "rows", "records", "lines", "elements", "entries", "xs", "names",
    "words", "amounts", "readings", "documents", "parts",
})  # fmt: skip
_RESULT: Final = "result_of"


class _Draft(NamedTuple):
    """One relation to be written: what it says, the library's names that it uses, and its assertion.

    ``above`` are the lines before it, ``imports`` the functions that it names. ``permuted`` is the path to the list
    whose order it changes.
    """

    title: str
    about: str
    uses: tuple[str, ...]
    assertion: str
    imports: tuple[Function, ...] = ()
    above: tuple[str, ...] = ()
    permuted: str | None = None


class Drafts(NamedTuple):
    """The proposals, and for each function with unwitnessed rows that has none, why."""

    proposals: tuple[Proposal, ...]
    without: tuple[Undraftable, ...]


def propose(material: Material, sample: Mapping[str, tuple[Any, ...]], pairs: Iterable[tuple[str, str]] = ()) -> Drafts:
    """A proposal for each family that a function with unwitnessed rows seems to belong to.

    ``sample`` are cases for functions, by ``module:name``; ``pairs`` are further round trips, by such names.
    """
    known, others = functions(material)
    open_scopes = scopes(material)
    mine = [each for each in known if (each.path, each.name) in open_scopes]
    without = [each for each in others if (each.path, each.name) in open_scopes]
    found = [*_round_trips(mine, known, tuple(pairs), material, sample)]
    paired = {function for draft, _ in found for function in draft.imports}
    for function in mine:
        inputs = inputs_for(function, material.sketches, sample)
        drafts = [(draft, each) for each in inputs for draft in _alone(function, each) if _applicable(draft, each)]
        found += drafts
        if not drafts and function not in paired:
            without.append(Undraftable(function.path, function.name, _why_nothing(function, inputs)))
    proposals = dict.fromkeys(_proposal(draft, inputs) for draft, inputs in found)
    return Drafts(tuple(proposals), tuple(without))


def _why_nothing(function: Function, inputs: list[Inputs]) -> str:
    if inputs:
        return "neither its name nor its signature says what has to hold"
    names = ", ".join(each.name for each in function.parameters if each.kind not in {"str", "int"})
    return f"no frozen corpus fits its arguments, and nothing is known that could be given for {names}"


def _alone(function: Function, inputs: Inputs) -> Iterator[_Draft]:
    yield from _idempotent(function)
    yield from _permuted(function, inputs)
    yield from _unchanged(function)


# ---------------------------------------------------------------- families


def _round_trips(
    mine: list[Function], known: tuple[Function, ...], pairs: tuple[tuple[str, str], ...], material: Material,
    sample: Mapping[str, tuple[Any, ...]],
) -> Iterator[tuple[_Draft, Inputs]]:  # fmt: skip
    for there in known:
        for back in known:
            named = (there.target, back.target) in pairs and there.is_plain and back.is_plain
            if there == back or not (named or _is_pair(there, back)) or not {there, back} & set(mine):
                continue
            for inputs in inputs_for(there, material.sketches, sample):
                yield _round_trip(there, back), inputs


def _is_pair(there: Function, back: Function) -> bool:
    """Whether names say so, and what they take beside the one thing that goes there and back is the same."""
    if there.path != back.path or there.yields or back.yields or there.parameters[1:] != back.parameters[1:]:
        return False
    one, other = _words(there.name), _words(back.name)
    return any(
        [back_word if word == there_word else word for word in one] == other and there_word in one
        for there_word, back_word in _PAIRS
    )


def _round_trip(there: Function, back: Function) -> _Draft:
    about = f"{back.name} undoes {there.name}"
    if there.is_plain and back.is_plain:
        assertion = f"round_trip({there.name}, {back.name}, {_case(there)})"
    else:
        one, other = (f"lambda given: {each.call(first='given')}" for each in (there, back))
        assertion = f"round_trip({one}, {other}, {there.value(there.parameters[0])})"
    title = f"{back.name}_gives_back_what_{there.name}_was_given"
    return _Draft(title, about, ("round_trip",), assertion, (there, back))


def _idempotent(function: Function) -> Iterator[_Draft]:
    if not _SETTLING & set(_words(function.name)) or function.parameters[0].by_name:
        return
    subject, case = function.name, _case(function)
    if not function.is_plain:
        subject, case = f"lambda given: {function.call(first='given')}", function.value(function.parameters[0])
    title = f"{function.name}_changes_nothing_the_second_time"
    about = f"{function.name} changes nothing the second time"
    yield _Draft(title, about, ("idempotent",), f"idempotent({subject}, {case})", (function,))


def _permuted(function: Function, inputs: Inputs) -> Iterator[_Draft]:
    """The order of a list means nothing: it is an argument, or stands under a key of every known case."""
    for parameter in function.parameters:
        path = parameter.name if len(function.parameters) > 1 else ""
        if _is_list(parameter):
            yield _order(function, path, "same")
            if function.returns.startswith("list[") or function.yields:
                yield _order(function, path, "permutation")
    if len(function.parameters) == 1:
        yield from (_order(function, key, "same") for key in inputs.list_keys)


def _is_list(parameter: Parameter) -> bool:
    return parameter.kind.startswith("list[") or (not parameter.kind and parameter.name in _LIST_WORDS)


def _order(function: Function, path: str, law: str) -> _Draft:
    what = f"the order of {path}" if path else "the order"
    about = f"{what} means nothing to {function.name}" + (" but order" if law == "permutation" else "")
    given = json.dumps(path) if path else ""
    subject, case, above = _asked(function)
    assertion = f"compare({subject}, {case}, permute({given}), {law}())"
    title = about.replace(" ", "_")
    return _Draft(title, about, ("compare", "permute", law), assertion, (function,), above, path)


def _asked(function: Function) -> tuple[str, str, tuple[str, ...]]:
    """What takes a case and gives the result: the function itself, or one that is written above the relation."""
    if function.is_plain:
        return function.name, _case(function), ()
    return _RESULT, "case", ("", f"def {_RESULT}(case):", f"    return {function.call()}", "")


def _unchanged(function: Function) -> Iterator[_Draft]:
    """A rewrite changes no result. Where results were meant to change it fails, which ``try`` tells."""
    if not function.at_base or function.on_instance or function.yields:
        return
    target = json.dumps(function.target)
    above: tuple[str, ...] = (f"now = isolated({target})", f"before = base({target})")
    assertion = f"agrees(now, before, {_case(function)})"
    if not function.is_plain:
        now, before = function.call("now"), function.call("before")
        above += ("", "", "def result_now(case):", f"    return {now}", "", "")
        above += ("def result_before(case):", f"    return {before}", "")
        assertion = "agrees(result_now, result_before, case)"
    title = f"{function.name}_gives_what_it_gave_before"
    about = f"{function.name} gives the results that base gives"
    yield _Draft(title, about, ("agrees", "base", "isolated"), assertion, (), above)


def _words(name: str) -> list[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name.rpartition(".")[2])
    return [word for word in spaced.lower().split("_") if word]


def _case(function: Function) -> str:
    return function.value(function.parameters[0])


# ---------------------------------------------------------------- writing


def _applicable(draft: _Draft, inputs: Inputs) -> int:
    """How many cases the draft can be asked to check: not those of a known slice that a permutation leaves alone."""
    if draft.permuted is None or not inputs.lines:
        return inputs.cases
    lists = (case[draft.permuted] if draft.permuted else case for case in inputs.sample)
    return sum(isinstance(each, list) and len({json.dumps(item) for item in each}) > 1 for each in lists)


def _least(draft: _Draft, inputs: Inputs) -> int:
    """From how many cases on the draft means something. What is settled already says nothing of what settles."""
    if "idempotent" in draft.uses:
        return max(1, min(3, inputs.cases // 4))
    return _applicable(draft, inputs) if inputs.lines else max(1, inputs.cases // 2)


def _proposal(draft: _Draft, inputs: Inputs) -> Proposal:
    imports = sorted({f"from {each.module} import {each.imported}" for each in draft.imports})
    lines = [f'"""Drafted from a template: {draft.about}."""', ""]
    lines += [f"from linewitness.relations import {', '.join(sorted({'relation', *draft.uses}))}", "", *imports]
    lines += [*([""] if imports else []), *draft.above, *([""] if draft.above else []), ""]
    lines += [
        f"@relation(corpus={json.dumps(inputs.corpus)}, at_least={_least(draft, inputs)})",
        f"def test_{draft.title.replace('.', '_')}(case):",
        f"    {draft.assertion}",
    ]
    text = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)) + "\n"
    return Proposal(text, draft.about, Slice(inputs.corpus, inputs.lines) if inputs.lines else None)
