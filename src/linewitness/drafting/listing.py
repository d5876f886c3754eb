"""``relations list``: the relations of base and head, with what they declare and their state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from linewitness.case import Case
from linewitness.drafting.corpora import Corpus, contents, corpora
from linewitness.drafting.slices import module_body
from linewitness.globs import Globs
from linewitness.model import RepoPath
from linewitness.trust import approvals
from linewitness.trust.installed import asking
from linewitness.values import NamedTuple


class Accepted(NamedTuple):
    """One test of a relation's file. ``corpus`` is empty for a plain test, ``cases`` and ``at_least`` are then unknown.

    ``state`` is ``accepted`` (base has the file like this), ``approved`` (a signed commit vouches for it), ``not
    accepted`` (the patch brings or changes it, and nobody vouches) or ``removed``.
    """

    node: str
    corpus: str
    cases: int | None
    at_least: int | None
    state: str


def accepted(case: Case) -> tuple[Accepted, ...]:
    """The relations of both trees, by node id. Errors: those of approvals."""
    settings = case.loaded.settings
    relations, generated = Globs(settings.relations), Globs(settings.generated)
    paths = {path for path in (*case.base_tree, *case.head_tree) if path.endswith(".py") and relations.match(path)}
    vouched = approvals.freeze(case, approvals.moment_of(None), asking(case)).approval is not None
    known = corpora(case.head_tree, relations, case.read)
    found: list[Accepted] = []
    for path in sorted(path for path in paths if not generated.match(path)):
        state = _state(case, path, vouched=vouched)
        tree = case.base_tree if state == "removed" else case.head_tree
        blob = tree[path]
        source = case.read(blob) if blob.is_regular else b""
        found += _tests(case, path, source, known, state)
    return tuple(found)


def _state(case: Case, path: RepoPath, *, vouched: bool) -> str:
    if path not in case.head_tree:
        return "removed"
    if case.base_tree.get(path) == case.head_tree[path]:
        return "accepted"
    return "approved" if vouched else "not accepted"


def _tests(case: Case, path: RepoPath, source: bytes, known: tuple[Corpus, ...], state: str) -> Iterator[Accepted]:
    for node in module_body(source):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
            continue
        corpus, least = next(filter(None, map(_declared, node.decorator_list)), ("", None))
        cases = _count(case, path, corpus, known) if corpus else None
        yield Accepted(f"{path}::{node.name}", corpus, cases, least, state)


def _declared(node: ast.expr) -> tuple[str, int | None] | None:
    """What ``@relation`` declares, as far as it is written out."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", getattr(node.func, "id", "")) != "relation":
        return None
    values = {keyword.arg: getattr(keyword.value, "value", None) for keyword in node.keywords}
    if node.args:
        values["corpus"] = getattr(node.args[0], "value", None)
    corpus, least = values.get("corpus"), values.get("at_least")
    return (corpus if isinstance(corpus, str) else "?"), (least if isinstance(least, int) else None)


def _count(case: Case, path: RepoPath, name: str, known: tuple[Corpus, ...]) -> int | None:
    """Distinct cases of a corpus, which may be a folder; unknown when there is none or it cannot be read."""
    mine = [each for each in known if each.name == name or each.name.startswith(f"{name.rstrip('/')}/")]
    near = [each for each in mine if _is_beside(path, each)] or mine
    found = [contents(each, case.head_tree, case.read) for each in near]
    return sum(len(each.cases) for each in found) if found and not any(each.why_not for each in found) else None


def _is_beside(path: str, corpus: Corpus) -> bool:
    return corpus.path.startswith(f"{path.rpartition('/')[0]}/corpus/")
