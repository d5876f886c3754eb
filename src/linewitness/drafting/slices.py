"""What a draft may be made from: the unwitnessed lines of a patch with their definitions, and sketches of corpora.

A request to a model is built from a :class:`Slice` and from nothing else, so this module is the whole list of what can
leave the machine. Lines come from a stored map, which may be anybody's: only those count that the patch really owes,
and only in files that the settings of base call sources, never in trusted tests, relations, other protected content or
generated tests.
"""

from __future__ import annotations

import ast
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from linewitness import obligations
from linewitness.case import Case, Question, open_case
from linewitness.drafting.corpora import Sketch, contents, corpora, sketch
from linewitness.errors import UsageError
from linewitness.evidence.pytest_settings import read_pytest_settings
from linewitness.globs import Globs
from linewitness.languages import files
from linewitness.languages.python.outline import DEFINITIONS, Outline, Statement, outline
from linewitness.languages.python.tree import parse
from linewitness.languages.source import read
from linewitness.model import Kind, Obligation, RepoPath
from linewitness.obligation_map import ObligationMap, Row, Status
from linewitness.obligations import FileLedger
from linewitness.patch.diff import GitPatch
from linewitness.patch.identity import lines_of
from linewitness.patch.repository import Repository
from linewitness.values import NamedTuple

_LONGEST_DEFINITION: Final = 300
_PYTEST_FILES: Final = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)


class Line(NamedTuple):
    """One unwitnessed line. ``definition`` is the index of the definition around it, -1 for none that is sent."""

    path: RepoPath
    line: int
    text: str
    definition: int


class Definition(NamedTuple):
    """A function with all its lines, or a statement outside of functions. ``within`` is the header of its class."""

    path: RepoPath
    module: str
    name: str
    within: str
    first: int
    text: str


class Slice(NamedTuple):
    """Everything that is sent."""

    lines: tuple[Line, ...]
    definitions: tuple[Definition, ...]
    corpora: tuple[Sketch, ...]


class Module(NamedTuple):
    """A product module that unwitnessed rows name: the names under which it can be imported, and what it defines."""

    path: RepoPath
    names: tuple[str, ...]
    defines: frozenset[str]


class Material(NamedTuple):
    """What all of drafting knows of one map. ``rows`` are its unwitnessed Python rows that the patch really owes.

    ``left_out`` says in words what was not taken up.
    """

    case: Case
    ledgers: tuple[FileLedger, ...]
    rows: tuple[Obligation, ...]
    modules: tuple[Module, ...]
    sketches: tuple[Sketch, ...]
    left_out: tuple[str, ...]

    def module(self, path: RepoPath) -> Module | None:
        """The module at a path."""
        return next((module for module in self.modules if module.path == path), None)


def case_of(repository: Repository, artifact: ObligationMap) -> Case:
    """The pair of trees that a map is about. Errors: :class:`UsageError` when it is about none that is here."""
    if artifact.command != "check" or not artifact.scored:
        raise UsageError("the map tells of no judged lines of commits: run `linewitness check` first")
    merge = artifact.merge
    if isinstance(merge, type(artifact.head)):
        question = Question(head=merge.commit, onto=artifact.base.commit)
    elif artifact.head.commit:
        question = Question(artifact.base.commit, artifact.head.commit)
    else:
        raise UsageError("the map is about uncommitted changes: commit them and run `linewitness check` again")
    case = open_case(repository, question)
    same = (case.base.tree, case.head.tree, case.loaded.digest) == (
        artifact.base.tree, artifact.head.tree, artifact.settings_digest,
    )  # fmt: skip
    if not same:
        raise UsageError("the map is not about what its commits and settings are here: run `linewitness check` again")
    return case


def gather(repository: Repository, artifact: ObligationMap, most_lines: int) -> Material:
    """The unwitnessed rows of a map that can be drafted for. Errors: :class:`UsageError`, and those of git."""
    case = case_of(repository, artifact)
    source = GitPatch(repository, case.base, case.head, case.jurisdiction.owes)
    ledgers = tuple(ledger for ledger in obligations.collect_all(source, case.jurisdiction) if _is_ours(case, ledger))
    owed = {_key(row): row for ledger in ledgers for row in ledger.classes.obligations if row.kind is not Kind.OPAQUE}
    open_rows = [row for row in artifact.rows if row.status is Status.UNWITNESSED]
    found = [owed[_key(row)] for row in open_rows if _key(row) in owed]
    left_out = []
    if len(found) < len(open_rows):
        left_out.append(
            f"{len(open_rows) - len(found)} unwitnessed lines are no Python lines that this patch owes in a source file"
        )
    if len(found) > most_lines:
        left_out.append(f"{len(found) - most_lines} lines are left for another time (--max-lines {most_lines})")
    rows = tuple(found[:most_lines])
    paths = dict.fromkeys(row.path for row in rows)
    modules = tuple(_module(case, path) for path in paths)
    return Material(case, ledgers, rows, modules, _sketches(case), tuple(left_out))


def _key(row: Row | Obligation) -> tuple[str, int, str]:
    return row.path, row.line, row.content


def _is_ours(case: Case, ledger: FileLedger) -> bool:
    """Whether a file may be looked into at all: a Python source that owes, and that nobody set aside."""
    path, settings = ledger.text.change.path, case.loaded.settings
    aside = Globs((*settings.trusted,)).match(path) or Globs(settings.relations).match(path)
    if aside or Globs(settings.generated).match(path) or case.protection.is_protected(path):
        return False
    return case.jurisdiction.owes(path) and files.language(path, ledger.text.head or b"") == "python"


def _sketches(case: Case) -> tuple[Sketch, ...]:
    settings = case.loaded.settings
    found = corpora(case.head_tree, Globs(settings.relations), case.read)
    return tuple(
        sketch(corpus, contents(corpus, case.head_tree, case.read), settings.draft_examples) for corpus in found
    )


# ---------------------------------------------------------------- modules


def _module(case: Case, path: RepoPath) -> Module:
    return Module(path, import_names(case, path), _defined(case.read_head(path) or b""))


def import_names(case: Case, path: RepoPath) -> tuple[str, ...]:
    """The dotted names under which a run of the tests can import a file, the likeliest first."""
    names = []
    # A root that is a package itself is one only when nothing else is.
    for root in sorted(_roots(case), key=lambda root: bool(root) and f"{root}__init__.py" in case.head_tree):
        if path.startswith(root):
            dotted = path[len(root) :].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if all(part.isidentifier() for part in dotted.split(".")):
                names.append(dotted)
    return tuple(dict.fromkeys(names))


def _roots(case: Case) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="linewitness-") as folder:
        for name in _PYTEST_FILES:
            data = case.read_head(name)
            if data is not None:
                Path(folder, name).write_bytes(data)
        settings = read_pytest_settings(Path(folder), "9")
    places = (*settings.pythonpath, "src", "lib", "")
    return [f"{place.strip('/').removeprefix('./')}/".removeprefix("./").lstrip("/") for place in places]


def _defined(source: bytes) -> frozenset[str]:
    """The names that a module defines at its top level; none of what it imports."""
    names: set[str] = set()
    for node in module_body(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return frozenset(name for name in names if not name.startswith("__"))


def module_body(source: bytes) -> Sequence[ast.stmt]:
    """The top-level statements of a module; none when this interpreter cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


# ---------------------------------------------------------------- the slice


def slice_of(material: Material) -> Slice:
    """What may be sent about the rows."""
    lines: list[Line] = []
    definitions: list[Definition] = []
    for module in material.modules:
        rows = [row for row in material.rows if row.path == module.path]
        data = material.case.read_head(module.path) or b""
        indices: dict[tuple[int, str], int] = {}
        for row, definition in zip(rows, _definitions(module, data, rows), strict=True):
            index = -1
            if definition is not None:
                key = (definition.first, definition.text)
                index = indices.setdefault(key, len(definitions))
                if index == len(definitions):
                    definitions.append(definition)
            lines.append(Line(row.path, row.line, row.content, index))
    return Slice(tuple(lines), tuple(definitions), material.sketches)


def _definitions(module: Module, data: bytes, rows: Sequence[Obligation]) -> Iterator[Definition | None]:
    source = read(data)
    wanted = {row.line for row in rows} | {row.statement[0] for row in rows}
    found = outline(source, parse(source.data).root_node, sorted(wanted))
    owners = found.owners(wanted)
    for row in rows:
        around = owners.get(row.line) or owners.get(row.statement[0])
        yield _definition(module, found, around[-1], data) if around else None


def _definition(module: Module, found: Outline, index: int, data: bytes) -> Definition | None:
    """The outermost function around a statement, without the class around it; else the statement itself."""
    above = [index, *found.ancestors(index)]
    kinds = [found.statements[each].kind for each in above]
    chosen = max((at for at, kind in enumerate(kinds) if kind == "function_definition"), default=0)
    statement = found.statements[above[chosen]]
    classes = [found.statements[each] for each in above[chosen + 1 :] if found.statements[each].kind in DEFINITIONS]
    last = statement.header_last if statement.kind == "class_definition" else statement.last
    if last - statement.first >= _LONGEST_DEFINITION:
        return None
    headers = "\n".join(_text(data, each.first, each.header_last) for each in reversed(classes))
    return Definition(
        module.path,
        module.names[0] if module.names else "",
        ".".join(filter(None, map(_name, [*reversed(classes), statement]))),
        headers,
        statement.first,
        _text(data, statement.first, last),
    )


def _text(data: bytes, first: int, last: int) -> str:
    return b"\n".join(lines_of(data)[first - 1 : last]).decode("utf-8", "replace")


def _name(statement: Statement) -> str:
    node = statement.node
    if node.type == "decorated_definition":
        node = node.child_by_field_name("definition") or node
    named = node.child_by_field_name("name") if statement.kind in DEFINITIONS else None
    return named.text.decode("utf-8", "replace") if named is not None and named.text else ""
