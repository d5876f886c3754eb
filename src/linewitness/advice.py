"""Warnings that close nothing: what a careful colleague would say about a patch that is being judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from linewitness.globs import Globs
from linewitness.languages import files as kinds
from linewitness.languages.markers import markers
from linewitness.model import Exemption, FileClasses, FileText, Finding, RepoPath, Severity
from linewitness.patch.hunks import added_lines
from linewitness.settings import Settings

_HELPERS: Final = frozenset({"conftest.py", "__init__.py"})
_NOTHING: Final = FileClasses((), ())


def for_patch(settings: Settings, files: Sequence[FileClasses], *, has_checks: bool) -> tuple[Finding, ...]:
    """LW601 for sensitive files, LW602 for formatting mixed with behaviour, LW603 while people own no check."""
    found = [*_sensitive(settings, files), *_mixed(files)]
    if not has_checks:
        message = "nobody owns a check here yet: move a few existing tests into the trusted folder (`linewitness init`)"
        found.append(Finding("LW603", "", 0, message, Severity.WARNING))
    return tuple(found)


def has_checks(owned: Iterable[RepoPath]) -> bool:
    """Whether there is a check or a relation among files that people own: their notes, data and helpers are none."""
    return any(
        not (kinds.is_inert(path) or kinds.is_data(path)) and path.rpartition("/")[2] not in _HELPERS for path in owned
    )


def _sensitive(settings: Settings, files: Sequence[FileClasses]) -> list[Finding]:
    """Whatever happens to such a file, its removal too: what owes nothing can be a hole all the same."""
    globs = Globs(settings.sensitive)
    paths = [(entries.obligations or entries.exempt)[0].path for entries in files if entries != _NOTHING]
    message = "the settings call this file security-sensitive: an open gate is not a security review"
    return [Finding("LW601", path, 0, message, Severity.WARNING) for path in paths if globs.match(path)]


def _mixed(files: Sequence[FileClasses]) -> list[Finding]:
    """A patch that reformats and changes behaviour is hard to review: the two belong into separate commits."""
    if not any(entries.obligations for entries in files):
        return []
    reformatted = [line for entries in files for line in entries.exempt if line.reason is Exemption.REFORMATTED]
    if not reformatted:
        return []
    place = reformatted[0]
    count = "1 reformatted line travels" if len(reformatted) == 1 else f"{len(reformatted)} reformatted lines travel"
    message = f"{count} with changes of behaviour: split the commit"
    return [Finding("LW602", place.path, place.line, message, Severity.WARNING)]


def for_file(text: FileText) -> tuple[Finding, ...]:
    """LW604 for the markers by which a changed file hides new lines from coverage tools."""
    if text.head is None:
        return ()
    added = added_lines(text.hunks)
    return tuple(
        Finding(
            "LW604",
            text.change.path,
            marker.line,
            f"`{marker.text}` has no effect here: the lines it hides owe like all others",
            Severity.WARNING,
        )
        for marker in markers(text.head, added)
    )
