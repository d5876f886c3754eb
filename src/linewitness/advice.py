"""Warnings that close nothing: what a careful colleague would say about a patch that is being judged."""

from __future__ import annotations

from collections.abc import Sequence

from linewitness.globs import Globs
from linewitness.model import Exemption, FileClasses, Finding, Severity
from linewitness.settings import Settings


def for_patch(settings: Settings, files: Sequence[FileClasses], *, has_checks: bool) -> tuple[Finding, ...]:
    """LW601 for sensitive files, LW602 for formatting mixed with behaviour, LW603 while people own no check."""
    found = [*_sensitive(settings, files), *_mixed(files)]
    if not has_checks:
        message = "nobody owns a check here yet: move a few existing tests into the trusted folder (`linewitness init`)"
        found.append(Finding("LW603", "", 0, message, Severity.WARNING))
    return tuple(found)


def _sensitive(settings: Settings, files: Sequence[FileClasses]) -> list[Finding]:
    globs = Globs(settings.sensitive)
    paths = [entries.obligations[0].path for entries in files if entries.obligations]
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
    message = f"{len(reformatted)} reformatted lines travel with changes of behaviour: split the commit"
    return [Finding("LW602", place.path, place.line, message, Severity.WARNING)]
