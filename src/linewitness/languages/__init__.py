"""What is executable in a changed file: the table of line rules, and what is common to all languages.

Python has a rule of its own; all other languages are tables that one engine reads
(:mod:`linewitness.languages.grammar`). Add a language by writing its table in one module and naming it in
:mod:`linewitness.languages.tables`; :mod:`linewitness.languages.files` knows most suffixes already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from linewitness.errors import PatchError
from linewitness.languages import files, tables
from linewitness.languages.grammar.rehearsal import GrammarError
from linewitness.languages.readable import why_not_utf8_source, why_other_lines, why_unreadable
from linewitness.model import (
    Blob,
    Demand,
    Exempt,
    Exemption,
    FileChange,
    FileClasses,
    FileText,
    Hunk,
    Kind,
    LineOptions,
    LineRule,
    Obligation,
    RepoPath,
)
from linewitness.patch.hunks import added_lines

_EXECUTABLE_BITS = 0o111
_SYMLINK, _SUBMODULE = 0o120000, 0o160000
_TYPE_BITS = 0o170000
_ECMASCRIPT = ("javascript", "typescript")


def rule_named(language: str, path: RepoPath) -> LineRule | None:
    """The rule of a language for one file, ``None`` while there is none. A grammar is imported when a rule needs it."""
    if language == "python":
        from linewitness.languages.python import PythonRule

        return PythonRule()
    table = tables.table(language)
    if table is None:
        return None
    from linewitness.languages.grammar.rule import TableRule

    return TableRule(table, path)


def rule_of(text: FileText) -> LineRule | None:
    """The rule that judges the head side of a change, ``None`` when no rule can."""
    return rule_named(files.language(text.change.path, text.head or b""), text.change.path)


def demands(text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Demand, ...]:
    """What evidence has to show for the obligations of one file, in their order; none of them may be opaque.

    Errors: :class:`PatchError` when no rule can read the file, which :func:`classify` would have called opaque.
    """
    rule = rule_of(text)
    if rule is None or text.head is None:
        message = "no rule can say what evidence this file needs: its change is opaque and has to be waived by blob."
        raise PatchError(message, path=text.change.path)
    return rule.demands(text.head, obligations)


def hazards(text: FileText, lines: Collection[int]) -> dict[int, str]:
    """Those of the lines of a changed file that no run can vouch for, with the reason. So far only Python's are known.

    ``lines`` are lines that owe, in a file that :func:`classify` could read.
    """
    if files.language(text.change.path, text.head or b"") != "python":
        return {}
    from linewitness.languages.python.hazards import hazards as found

    return found(text.head or b"", lines)


def classify(text: FileText, options: LineOptions, inert: Callable[[RepoPath], bool]) -> FileClasses:
    """Every changed line of one file in exactly one class: obligations, and exempt lines with their reason.

    ``inert`` tells which paths the settings declare inert, beside those that always are. A file that was moved here
    from a path with another rule (or none) owes for all of its lines; callers that exempt paths (generated tests)
    have to present a file moved out of there as added. Errors: :class:`PatchError` when the hunks do not fit the
    text.
    """
    change = text.change
    whole = _whole_file(text, options, inert)
    if whole is not None:
        return whole
    rule, head = rule_of(text), text.head
    if rule is None or head is None:
        return _opaque(change, _no_rule(change.path))
    text = _as_added_if_moved_in(text, head, inert)
    _check_hunks(text, head)
    reason = why_unreadable(head, added_lines(text.hunks)) or _why_not(rule.name, text, head)
    try:
        return _opaque(change, reason) if reason else rule.classify(text, options)
    except GrammarError as error:
        return _opaque(change, str(error))


def _why_not(language: str, text: FileText, head: bytes) -> str:
    """Why a readable text is not what its name says, or not read as it looks; empty when it is."""
    if language == "python":
        return _why_not_python(text, head)
    mode = text.change.head.mode if text.change.head else 0
    interpreter = files.shebang_language(head)
    if mode & _EXECUTABLE_BITS and head.startswith(b"#!") and interpreter not in (language, files.related(language)):
        return f"it is executable and its first line hands it to another program than one for {language}"
    if language in _ECMASCRIPT:
        return why_other_lines(head)
    return why_not_utf8_source(head) if language == "ruby" else ""


def _why_not_python(text: FileText, head: bytes) -> str:
    mode = text.change.head.mode if text.change.head else 0
    if mode & _EXECUTABLE_BITS and files.has_foreign_shebang(head):
        return "it is executable and its first line hands it to another program than Python"
    return why_not_utf8_source(head)


def _whole_file(text: FileText, options: LineOptions, inert: Callable[[RepoPath], bool]) -> FileClasses | None:
    """The classes of a change that is judged as a whole; ``None`` when its lines have to be looked at."""
    change, head = text.change, text.change.head
    if head is None:
        return _exempt(change, Exemption.DELETED)
    if not head.is_regular:
        return _opaque(change, _special(head))
    raw = text.head or b""
    becomes_program = raw.startswith(b"#!") and bool(head.mode & _EXECUTABLE_BITS)
    if files.is_binary_code(change.path):
        return _opaque(
            change, "it is byte code, a native module or an archive of code, which nobody can review by line"
        )
    if (inert(change.path) or files.is_inert(change.path)) and not becomes_program:
        return _exempt(change, Exemption.INERT)
    if files.is_data(change.path) and not becomes_program and options.data == "inert":
        return _exempt(change, Exemption.INERT)
    return _unchanged_content(text, inert) or _without_rule(text)


def _without_rule(text: FileText) -> FileClasses | None:
    change, head = text.change, text.change.head
    if rule_of(text) is not None or head is None:
        return None
    if not text.head and not head.mode & _EXECUTABLE_BITS:
        return _exempt(change, Exemption.BLANK)
    return _opaque(change, _no_rule(change.path))


def _unchanged_content(text: FileText, inert: Callable[[RepoPath], bool]) -> FileClasses | None:
    """A file whose bytes did not change: only its mode, or its name, did."""
    change = text.change
    base, head = change.base, change.head
    if base is None or head is None or base.oid != head.oid or not base.is_regular:
        return None
    raw = text.head or b""
    rule = rule_of(text)
    foreign = rule is None or (raw.startswith(b"#!") and files.shebang_language(raw) != rule.name)
    if foreign and head.mode & _EXECUTABLE_BITS and not base.mode & _EXECUTABLE_BITS:
        return None
    if change.base_path == change.path:
        return _exempt(change, Exemption.MODE_ONLY)
    return None if _moved_in(text, inert) else _exempt(change, Exemption.RENAMED)


def _moved_in(text: FileText, inert: Callable[[RepoPath], bool]) -> bool:
    """Whether the file comes from a path where its lines were not judged by the same rule."""
    old, new = text.change.base_path, text.change.path
    if old == new:
        return False
    was_inert = inert(old) or files.is_inert(old) or files.is_data(old)
    return was_inert or _judge_of(old, text.base or b"") != _judge_of(new, text.head or b"")


def _judge_of(path: RepoPath, raw: bytes) -> str:
    return files.language(path, raw) or files.suffix(path) or path


def _as_added_if_moved_in(text: FileText, head: bytes, inert: Callable[[RepoPath], bool]) -> FileText:
    base = text.change.base
    if not _moved_in(text, inert) and (base is None or base.is_regular):
        return text
    lines = _lines_in(head)
    return text._replace(base=None, hunks=(Hunk(1, 0, 1, lines),) if lines else ())


def _check_hunks(text: FileText, head: bytes) -> None:
    """Hunks come from a diff that may be somebody else's: they have to lie inside of both sides, in order."""
    before, after = [_lines_in(side) for side in (text.base or b"", head)]
    least_old = least_new = 1
    for old, old_count, new, new_count in text.hunks:
        if new < least_new or new_count < 0 or new + new_count > after + 1:
            raise _misfit(text, new, new_count, after)
        if old < least_old or old_count < 0 or old + old_count > before + 1:
            raise _misfit(text, old, old_count, before)
        least_old, least_new = old + old_count, new + new_count


def _lines_in(side: bytes) -> int:
    return side.count(b"\n") + (not side.endswith(b"\n") and bool(side))


def _misfit(text: FileText, first: int, length: int, total: int) -> PatchError:
    message = f"the diff names line {first + length - 1}, but the file has {total}: diff and tree do not match."
    return PatchError(message, path=text.change.path, line=max(first, 0))


def _special(blob: Blob) -> str:
    kind = blob.mode & _TYPE_BITS
    if kind == _SYMLINK:
        return "it is a symbolic link"
    return "it is a submodule" if kind == _SUBMODULE else f"its mode {blob.mode:o} is not that of a file"


def _no_rule(path: str) -> str:
    language = files.language(path, b"")
    if language:
        return f"there is no line rule for {language} yet"
    suffix = files.suffix(path)
    return f"nothing is known of {suffix} files" if suffix else "nothing tells what kind of file it is"


def _exempt(change: FileChange, reason: Exemption) -> FileClasses:
    return FileClasses((), (Exempt(change.path, 0, reason),))


def _opaque(change: FileChange, reason: str) -> FileClasses:
    blob = change.head
    note = f"this change cannot be judged line by line: {reason}. Only a waiver with the blob's id discharges it."
    obligation = Obligation(change.path, 0, blob.oid if blob else "", "", Kind.OPAQUE, "", 1, (0, 0), note)
    return FileClasses((obligation,), ())
