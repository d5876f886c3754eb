"""``linewitness relations list|draft|try|accept``."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from linewitness.console import Console, safe
from linewitness.errors import Exit, UsageError

if TYPE_CHECKING:
    from linewitness.drafting.drafting import Origin
    from linewitness.drafting.endpoint import Endpoint
    from linewitness.drafting.ghost import Guesses
    from linewitness.drafting.listing import Accepted
    from linewitness.drafting.reply import Note, Proposal
    from linewitness.drafting.slices import Material
    from linewitness.drafting.store import Draft, Trial
    from linewitness.obligation_map import ObligationMap
    from linewitness.patch.repository import Repository

    _Found = tuple[list[tuple[Origin, Proposal]], tuple[Note, ...]]

NAME: Final = "relations"
HELP: Final = "list relations; draft, try and accept new ones"

_MOST_LINES: Final = 80
_MOST_MUTANTS: Final = 5
_BY_HAND: Final = "Freeze a corpus of its inputs and draft again, ask a model, or write a check or a relation by hand"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the four actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _configure_list(actions.add_parser("list", help="show the relations of base and head, and the drafts"))
    _configure_draft(actions.add_parser("draft", help="draft relations for the unwitnessed lines of a map"))
    _configure_try(actions.add_parser("try", help="run drafts in the sandbox and say what they see"))
    _configure_accept(actions.add_parser("accept", help="copy a draft among the relations, for a commit and approval"))


def _configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", metavar="REF", help="target branch, as for check (default: the remote's)")
    parser.add_argument("--head", metavar="REF", default="HEAD", help="commit to look at (default: HEAD)")
    _add_shared(parser)
    _add_format(parser)


def _configure_draft(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("map", metavar="MAP", nargs="?", help="a stored map (default: the one of the last check)")
    parser.add_argument("--dry-run", action="store_true", help="print the request that would be sent, and send nothing")
    parser.add_argument("--offline", action="store_true", help="ask no model: templates and hypothesis's ghostwriter")
    parser.add_argument(
        "--max-lines", type=_positive, default=_MOST_LINES, metavar="N", help=f"most lines to draft for ({_MOST_LINES})"
    )
    _add_shared(parser)
    _add_sandbox(parser)


def _configure_try(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("drafts", metavar="DRAFT", nargs="*", help="ids of drafts (default: all)")
    parser.add_argument("--map", metavar="MAP", help="a stored map (default: the one of the last check)")
    parser.add_argument(
        "--mutants", type=_positive, default=_MOST_MUTANTS, metavar="N",
        help=f"most statements to drop for each draft ({_MOST_MUTANTS})",
    )  # fmt: skip
    _add_shared(parser)
    _add_sandbox(parser)
    _add_format(parser)


def _configure_accept(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("draft", metavar="DRAFT", help="id of a draft, or its beginning")
    parser.add_argument(
        "--as", dest="name", metavar="NAME", help="name of the file, without .py (default: of its test)"
    )
    _add_shared(parser)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", help="the drafts folder, outside of the checkout (default: in the git directory)"
    )
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="a folder of the repository")


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to show it (default: text)")


def _add_sandbox(parser: argparse.ArgumentParser) -> None:
    words = "auto (default) refuses to run drafts where there is none, on needs bubblewrap, off runs them as they are"
    parser.add_argument("--sandbox", choices=("auto", "on", "off"), default="auto", help=words)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) < 10**6:
        raise UsageError(f"a number from 1 on is wanted, not {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for. Errors: those of the library."""
    actions = {"list": _list, "draft": _draft, "try": _try, "accept": _accept}
    return actions[args.action](args)


# ---------------------------------------------------------------- list


def _list(args: argparse.Namespace) -> int:
    from linewitness.case import Question, open_case
    from linewitness.drafting import listing, store
    from linewitness.patch.repository import Repository

    console: Console = args.console
    with Repository(args.root) as repository:
        found = listing.accepted(open_case(repository, Question(args.base, args.head)))
        folder = store.drafts_folder(repository, args.out)
        drafts = [store.load(folder, name) for name in store.names(folder)]
    if args.format == "json":
        value = {
            "relations": [each._asdict() for each in found],
            "drafts": [_draft_json(draft) for draft in drafts],
        }
        console.result(json.dumps(value, indent=2, sort_keys=True).encode() + b"\n")
        return Exit.OPEN
    _table(console, map(_relation_row, found), "no relation, on base or on head")
    console.result("\n")
    _table(console, map(_draft_row, drafts), f"no draft in {folder}")
    return Exit.OPEN


def _relation_row(found: Accepted) -> tuple[str, ...]:
    corpus = found.corpus or "a plain test"
    cases = f"{found.cases} cases" if found.cases is not None else "? cases" if found.corpus else ""
    least = f"at least {found.at_least}" if found.at_least is not None else ""
    return found.state, corpus, cases, least, found.node


def _draft_row(draft: Draft) -> tuple[str, ...]:
    edited = "edited" if draft.digest != draft.about.digest else "draft"
    who = draft.about.model or draft.about.origin
    return draft.name, edited, who, _tried(draft), draft.about.about


def _tried(draft: Draft) -> str:
    from msgspec import UnsetType

    trial = draft.trial
    return "not tried" if isinstance(trial, UnsetType) else f"{trial.head} on head, {trial.base} on base"


def _draft_json(draft: Draft) -> dict[str, Any]:
    import msgspec

    about = msgspec.to_builtins(draft.about)
    trial = None if draft.trial is msgspec.UNSET else msgspec.to_builtins(draft.trial)
    return {"id": draft.name, "edited": draft.digest != draft.about.digest, "about": about, "trial": trial}


def _table(console: Console, rows: Iterable[tuple[str, ...]], empty: str) -> None:
    shown = [tuple(map(safe, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        console.result("  ".join(map(str.ljust, row, widths)).rstrip() + "\n")
    if not shown:
        console.result(safe(empty) + "\n")


# ---------------------------------------------------------------- draft


def _stored_map(name: str | None, root: Path) -> ObligationMap:
    from linewitness.cli.stored import chosen, read_map

    return read_map(chosen(name, root))


def _draft(args: argparse.Namespace) -> int:
    from linewitness.drafting import endpoint, slices, store
    from linewitness.patch.repository import Repository

    console: Console = args.console
    artifact = _stored_map(args.map, args.root)
    with Repository(args.root) as repository:
        folder = store.drafts_folder(repository, args.out)
        material = slices.gather(repository, artifact, args.max_lines)
        for words in material.left_out:
            console.note(words)
        if args.dry_run:
            return _dry_run(material, console)
        if not material.rows:
            raise UsageError("the map has no unwitnessed line that a relation could be drafted for")
        place = None if args.offline else endpoint.endpoint_of(os.environ)
        if place is None:
            found: _Found = (_offline(material, repository, args), ())
        else:
            found = _asked(material, place, console)
        return _kept(material, artifact, found, folder, console)


def _dry_run(material: Material, console: Console) -> int:
    """Print the body, byte for byte; where it would go is told on the error stream."""
    from linewitness.drafting import endpoint, request, slices

    place = endpoint.endpoint_of(os.environ)
    model = place.model if place else os.environ.get(endpoint.MODEL, "").strip() or "MODEL"
    console.note(
        f"nothing is sent; it would go to {place.shown}" if place else f"nothing is sent; {endpoint.URL} is not set"
    )
    console.result(request.body(slices.slice_of(material), model))
    return Exit.OPEN


def _asked(material: Material, place: Endpoint, console: Console) -> _Found:
    from linewitness.drafting import drafting, endpoint, reply, request, slices

    sent = slices.slice_of(material)
    console.note(f"asking {place.model} at {place.shown} about {len(sent.lines)} lines")
    bodies = tuple(request.body(sent, place.model, structured=structured) for structured in (True, False))
    answer = reply.parse(endpoint.ask(place, bodies))
    origin = drafting.Origin("model", place.model)
    return [(origin, each) for each in answer.proposals], drafting.sound_notes(answer.notes, material)


def _offline(material: Material, repository: Repository, args: argparse.Namespace) -> list[tuple[Origin, Proposal]]:
    from linewitness.drafting import drafting, templates

    console: Console = args.console
    guesses = _guesses(material, repository, args)
    found = templates.propose(material, guesses.cases, guesses.pairs)
    if guesses.trouble:
        console.note(guesses.trouble)
    for each in found.without:
        console.note(f"no draft for {each.path}: {each.name}: {each.why}")
    if not found.proposals:
        more = f"; {guesses.trouble}" if guesses.trouble else ""
        raise UsageError(f"no template fits a function with unwitnessed lines{more}. {_BY_HAND}")
    return [(drafting.Origin("template"), each) for each in found.proposals]


def _guesses(material: Material, repository: Repository, args: argparse.Namespace) -> Guesses:
    """What the ghostwriter says. Without a sandbox it is not asked: it imports the product."""
    from linewitness.drafting import ghost, trial
    from linewitness.errors import EvidenceError

    try:
        return ghost.guess(trial.bench(material, repository.root, args.sandbox, args.console.note))
    except EvidenceError as error:
        return ghost.Guesses({}, (), f"hypothesis's ghostwriter was not asked: {error}")


def _kept(
    material: Material,
    artifact: ObligationMap,
    found: _Found,
    folder: Path,
    console: Console,
) -> int:
    from linewitness.drafting import drafting, store

    kept = drafting.keep(material, artifact, found[0], folder)
    for name, is_new in kept.stored:
        console.result(
            safe(f"{name}  {'drafted' if is_new else 'was drafted before'}: {store.load(folder, name).about.about}")
            + "\n"
        )
    for proposal, why in kept.refused:
        console.result(safe(f"refused: {proposal.about or 'a proposal'}: {why[0]}") + "\n")
        for reason in why[1:]:
            console.result(safe(f"  also: {reason}") + "\n")
    _show_notes(found[1], folder, console)
    if not kept.stored and not found[1]:
        raise UsageError("nothing that came back is a draft")
    if kept.stored:
        console.note(f"drafts are in {folder}; they discharge nothing. `linewitness relations try` says what they see")
    return Exit.OPEN


def _show_notes(notes: Sequence[Note], folder: Path, console: Console) -> None:
    from linewitness.drafting import store

    for note in notes:
        console.result(safe(f"suggests a waiver: {note.path}:{note.line}: {note.reason}: {note.note}") + "\n")
    if notes:
        console.note(f"suggestions for waivers are in {store.keep_notes(folder, notes)}; none was recorded")


# ---------------------------------------------------------------- try


def _try(args: argparse.Namespace) -> int:
    from linewitness.drafting import slices, store, trial
    from linewitness.patch.repository import Repository

    console: Console = args.console
    artifact = _stored_map(args.map, args.root)
    with Repository(args.root) as repository:
        folder = store.drafts_folder(repository, args.out)
        drafts = [store.load(folder, name) for name in args.drafts or store.names(folder)]
        if not drafts:
            raise UsageError(f"there is no draft in {folder}: `linewitness relations draft` makes some")
        material = slices.gather(repository, artifact, 10**9)
        _refuse_shapeless(drafts, material)
        bench = trial.bench(material, repository.root, args.sandbox, console.note)
        found: list[tuple[Draft, Trial]] = []
        for draft in dict.fromkeys(draft.name for draft in drafts):
            one = next(each for each in drafts if each.name == draft)
            found.append((one, trial.attempt(bench, one, args.mutants)))
            store.remember(*found[-1])
    found.sort(key=lambda pair: trial.rank(pair[1]))
    if args.format == "json":
        console.result(json.dumps([_trial_json(*pair) for pair in found], indent=2, sort_keys=True).encode() + b"\n")
        return Exit.OPEN
    _show_trials(found, console)
    return Exit.OPEN


def _refuse_shapeless(drafts: Sequence[Draft], material: Material) -> None:
    """A draft that was edited is looked at again: only what has the shape of a relation is run."""
    from linewitness.drafting import drafting

    for draft in drafts:
        why = drafting.why_not(drafting.proposal_of(draft), material)
        if why:
            raise UsageError(f"is no draft for this map: {'; '.join(why)}", path=str(draft.folder / "draft.py"))


def _trial_json(draft: Draft, trial: Trial) -> dict[str, Any]:
    import msgspec

    return {"id": draft.name, "about": draft.about.about, **msgspec.to_builtins(trial)}


def _show_trials(found: Sequence[tuple[Draft, Trial]], console: Console) -> None:
    head = ("draft", "head", "base", "witnesses", "dropped statements noticed", "says")
    rows = [head, *(_trial_row(*pair) for pair in found)]
    _table(console, rows, "")
    for draft, trial in found:
        if trial.why:
            console.result(safe(f"{draft.name}: {' '.join(trial.why.split())}") + "\n")
        if trial.witnesses:
            console.result(safe(f"{draft.name} would witness {_places(trial.witnesses)}") + "\n")
    together = {place for _, trial in found for place in trial.witnesses}
    console.note(f"lines that would have a witness with all of them: {len(together)}")
    console.note(
        "drafts discharge nothing; `linewitness relations accept DRAFT` puts one among the relations, for review"
    )


def _places(places: Sequence[str]) -> str:
    """``a.py:3-5, 9`` for ``a.py:3``, ``a.py:4`` and so on: lines of a file in a row are told as one."""
    told: dict[str, list[list[int]]] = {}
    for place in places:
        path, _, line = place.rpartition(":")
        runs = told.setdefault(path, [])
        if runs and int(line) == runs[-1][1] + 1:
            runs[-1][1] += 1
        else:
            runs.append([int(line)] * 2)
    spans = {path: ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in runs) for path, runs in told.items()}
    return "; ".join(f"{path}:{lines}" for path, lines in spans.items())


def _trial_row(draft: Draft, trial: Trial) -> tuple[str, ...]:
    by_crash = trial.noticed - trial.compared
    noticed = f"{trial.noticed} of {trial.dropped}" + (f" ({by_crash} by a crash)" if by_crash else "")
    lines = f"{len(trial.witnesses)} line{'' if len(trial.witnesses) == 1 else 's'}"
    return draft.name, trial.head, trial.base, lines, noticed, draft.about.about


# ---------------------------------------------------------------- accept


def _accept(args: argparse.Namespace) -> int:
    from linewitness.cli.checkout import open_checkout
    from linewitness.drafting import accepting, drafting, store
    from linewitness.patch.repository import Repository

    console: Console = args.console
    checkout = open_checkout(args.root)
    with Repository(args.root) as repository:
        draft = store.load(store.drafts_folder(repository, args.out), args.draft)
    found = accepting.accept(checkout.root, checkout.settings, draft, args.name or drafting.test_name(draft))
    for path in found.paths:
        console.result(safe(f"wrote {path}") + "\n")
    names = " ".join(shlex.quote(path) for path in found.paths)
    console.result("read it, then commit it and sign for it:\n")
    console.result(safe(f"  git add -- {names}") + "\n")
    console.result(f"  git commit -m {shlex.quote('Accept a relation: ' + _title(draft))}\n")
    console.result("  linewitness approve\n")
    console.note("it discharges nothing before that")
    return Exit.OPEN


def _title(draft: Draft) -> str:
    return safe(" ".join(draft.about.about.split()))[:60] or draft.name
