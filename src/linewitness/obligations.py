"""What a patch owes: every changed line put into its class, file by file.

The settings decide which paths are judged at all; the language rules decide about lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from linewitness import languages
from linewitness.globs import Globs
from linewitness.languages import files
from linewitness.model import (
    Exempt,
    Exemption,
    FileChange,
    FileClasses,
    FileText,
    LineOptions,
    Obligation,
    PatchSource,
    RepoPath,
)
from linewitness.parallel import cores, spread
from linewitness.patch.hunks import whole
from linewitness.patch.identity import lines_of
from linewitness.patterns import late
from linewitness.settings import Settings
from linewitness.values import NamedTuple

_PACKAGE = late(r"[^/]+/__init__\.py")
_ROOTS = frozenset({"src", "lib"})
_WORTH_SPREADING = 5_000
"""Changed lines from which on starting another process is cheaper than sorting them into classes alone."""


class Jurisdiction:
    """Which paths owe, under one set of settings.

    ``is_protected`` tells content that people own: when lines are judged it has been approved, so it owes nothing.
    """

    def __init__(
        self, settings: Settings, is_protected: Callable[[RepoPath], bool], base_paths: Iterable[RepoPath] = ()
    ) -> None:
        self._sources = Globs(settings.sources)
        self._generated = Globs(settings.generated)
        self._inert = Globs(settings.inert)
        self._is_protected = is_protected
        self._exemptions: dict[RepoPath, Exemption | None] = {}
        self._packages = {path.partition("/")[0] for path in base_paths if _PACKAGE.fullmatch(path)}
        self.options = LineOptions(settings.reformatted, settings.deletions, settings.data, settings.inline_tests)

    def exemption(self, path: RepoPath) -> Exemption | None:
        """Why a whole path owes nothing, or ``None`` when its lines have to be looked at."""
        # every step asks about every path, and an answer takes dozens of patterns
        if path not in self._exemptions:
            self._exemptions[path] = self._exemption(path)
        return self._exemptions[path]

    def _exemption(self, path: RepoPath) -> Exemption | None:
        if self._is_protected(path):
            return Exemption.PROTECTED
        if self._generated.match(path):
            return Exemption.GENERATED
        if not self._sources.match(path):
            return Exemption.NOT_A_SOURCE
        return None

    def is_inert(self, path: RepoPath) -> bool:
        """Whether the settings add this path to the built-in list of files that nothing executes."""
        return self._inert.match(path)

    def owes(self, path: RepoPath) -> bool:
        """Whether the lines of a file at this path are obligations: the only place from which a rename inherits."""
        if self.exemption(path) is not None or self.is_inert(path) or files.is_inert(path):
            return False
        return self.options.data == "owe" or not files.is_data(path)

    def moved_in(self, change: FileChange) -> bool:
        """Whether a file was renamed into the product from a place beside it, as from ``docs/`` into a package.

        Nobody imported it there, so no witness ever had to see it run as what it is now: it owes like a new file.
        """
        return not self._in_product(change.base_path) and self._in_product(change.path)

    def _in_product(self, path: RepoPath) -> bool:
        """Whether a path lies where base's own modules do: in the root, ``src``, ``lib`` or one of base's packages."""
        top, inside, _ = path.partition("/")
        return not inside or top in _ROOTS or top in self._packages


class FileLedger(NamedTuple):
    """One changed file with the classes of its changed lines. The texts are there to be asked about, then dropped."""

    text: FileText
    classes: FileClasses


def collect(source: PatchSource, jurisdiction: Jurisdiction) -> Iterator[FileLedger]:
    """Yield every changed file of the patch, in path order, with each changed line in exactly one class."""
    for change in source.patch.changes:
        text = _text(source, change, jurisdiction)
        yield FileLedger(text, _classes(text, jurisdiction))


def collect_all(source: PatchSource, jurisdiction: Jurisdiction) -> tuple[FileLedger, ...]:
    """The same, all at once: a big patch is dealt out to all cores."""
    texts = [_text(source, change, jurisdiction) for change in source.patch.changes]
    lines = sum(hunk.head_count for text in texts for hunk in text.hunks)
    workers = cores() if lines >= _WORTH_SPREADING else 1
    if workers == 1:
        return tuple(FileLedger(text, _classes(text, jurisdiction)) for text in texts)
    columns = spread(lambda text: _columns(_classes(text, jurisdiction)), texts, workers)
    return tuple(map(FileLedger, texts, map(_of_columns, columns)))


_Columns = tuple[list[tuple[object, ...]], list[tuple[object, ...]]]
_OBLIGATION: Callable[[tuple[object, ...]], Obligation] = partial(tuple.__new__, Obligation)
_EXEMPT: Callable[[tuple[object, ...]], Exempt] = partial(tuple.__new__, Exempt)


def _columns(classes: FileClasses) -> _Columns:
    """Classes as another process can send them: columns of plain values, a tenth of the work that rows are."""
    return list(zip(*classes.obligations, strict=True)), list(zip(*classes.exempt, strict=True))


def _of_columns(columns: _Columns) -> FileClasses:
    owed, exempt = columns
    return FileClasses(tuple(map(_OBLIGATION, zip(*owed, strict=True))), tuple(map(_EXEMPT, zip(*exempt, strict=True))))


def _text(source: PatchSource, change: FileChange, jurisdiction: Jurisdiction) -> FileText:
    """The text of a change, empty where nobody will look at it."""
    if jurisdiction.exemption(change.path) is not None:
        return FileText(change, None, None, ())
    text = source.text(change)
    moved = change.base_path != change.path and jurisdiction.moved_in(change)
    return _as_added(text) if moved else text


def _classes(text: FileText, jurisdiction: Jurisdiction) -> FileClasses:
    reason = jurisdiction.exemption(text.change.path)
    if reason is not None:
        return FileClasses((), (Exempt(text.change.path, 0, reason),))
    return languages.classify(text, jurisdiction.options, jurisdiction.is_inert)


def _as_added(text: FileText) -> FileText:
    """A renamed file as if base had never held it."""
    change = text.change
    added = FileChange(change.path, change.path, None, change.head)
    return FileText(added, None, text.head, whole(0, len(lines_of(text.head or b""))))
