"""Whether a patch gives a reason to listen to what code under test executes, or whose files it opens.

Listening costs, so the texts are asked first, for words. They decide whether anybody listens, not what is found: a word
too many costs time, and a text without any of them has no way that we know to do either.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from linewitness.model import FileText, RepoPath
from linewitness.patch.hunks import added_lines, line_diff
from linewitness.patch.identity import split_lines

_EXECUTING: Final = (
    # common words as parts of others, and as methods of patterns and models
    rb"(?<![.\w])(?:compile|eval|exec)\b|\b(?:builtins|runpy|marshal|pickle|mako|timeit)\b"
    rb"|FunctionType|CodeType|spec_from_|Source(?:less)?FileLoader|\bInteractive(?:Interpreter|Console|Shell)"
    rb"|__subclasses__|__globals__|__code__|\bimportlib(?:\.| import )(?:util|machinery|abc|_boot)"
)
# By which a file comes to run in another way than by an import: all begin with a compilation, or with making code.
_COMPILING: Final = (
    rb"(?<![.\w])(?:compile|exec|execfile)[ ]?\(|\b(?:CodeType|source_to_code)\b|\bco_\w+[ ]?=[^=]"
    rb"|\b(?:import|from)\b[^\n]*\b(?:runpy|marshal|cloudpickle|dill)\b|\b(?:runpy|marshal|cloudpickle|dill)\.\w"
)
_COMPILING_PARTS: Final = (
    b"compile", b"exec", b"runpy", b"marshal", b"cloudpickle", b"dill", b"CodeType", b"source_to_code", b"co_",
)  # fmt: skip
# How code comes by the name of a file that it does not say.
_FINDING: Final = (
    rb"\b(?:i?glob|rglob|listdir|scandir|iterdir)\b|(?:\bos\.|(?<![.\w])(?<!def ))f?walk\(|\b(?:linecache|fileinput)\b"
    rb"|\b(?:from inspect import .*|inspect\.)(?:get(?:source|file|outer|inner)|stack|trace|current)"
    rb"|\b(?:__file__|co_filename|get_data)\b|\b(?:extract|format)_stack\b|\bimportlib\.resources\b"
)
# Parts of words without which the patterns find nothing: looking for these is much faster.
_EXECUTING_PARTS: Final = (
    b"compile", b"eval", b"exec", b"builtins", b"runpy", b"marshal", b"pickle", b"mako", b"timeit", b"FunctionType",
    b"CodeType", b"spec_from_", b"FileLoader", b"Interactive", b"__subclasses__", b"__globals__", b"__code__",
    b"importlib",
)  # fmt: skip
_FINDING_PARTS: Final = (
    b"glob", b"dir", b"walk(", b"linecache", b"fileinput", b"inspect", b"__file__", b"co_filename", b"get_data",
    b"_stack", b"importlib",
)  # fmt: skip


def may_execute(product: Iterable[bytes]) -> bool:
    """Whether texts of the product have a word in them by which Python executes text or data."""
    return any(_has(text, _EXECUTING_PARTS) and re.search(_EXECUTING, text) for text in product)


def may_compile(texts: Iterable[bytes]) -> bool:
    """Whether texts have a word in them by which a file can be made to run without being imported."""
    return any(_has(text, _COMPILING_PARTS) and re.search(_COMPILING, text) for text in texts)


def may_look_up(changed: Iterable[FileText], checks: Collection[RepoPath]) -> bool:
    """Whether added lines of code look for files, or name a file or a folder of the checks."""
    names = {form for path in checks for form in _forms(path)}
    return any(
        _has(added, names) or (_has(added, _FINDING_PARTS) and re.search(_FINDING, added))
        for added in map(_added, changed)
    )


def _forms(path: RepoPath) -> Iterator[bytes]:
    """How code may write the name of a file, or of a folder around it."""
    *folders, name = path.split("/")
    tests = [at for at, folder in enumerate(folders) if folder.lower().startswith("test")]
    folders = folders[tests[0] :] if tests else folders
    named: tuple[str, ...] = () if name == "__init__.py" else (name,)
    if "." not in name:
        # a word like any other, unless it is the whole of a text or the end of a path
        named = (f'"{name}"', f"'{name}'", f"/{name}")
    for form in (*named, *(text for each in folders for text in (f"{each}/", f'"{each}"', f"'{each}'"))):
        yield form.encode("utf-8", "surrogateescape")


def _added(text: FileText) -> bytes:
    lines = split_lines(text.head or b"")
    return b"\n".join(lines[number - 1] for number in added_lines(text.hunks))


def _has(text: bytes, words: Iterable[bytes]) -> bool:
    return any(word in text for word in words)


def lines_at_issue(base: bytes | None, head: bytes) -> list[int]:
    """The lines of head, from 1, that were added or changed, and those beside which something was taken away."""
    after = split_lines(head)
    numbers: set[int] = set()
    for _, _, start, count in line_diff(split_lines(base or b""), after):
        numbers.update(range(start, start + count) if count else (start - 1, start))
    return sorted(number for number in numbers if 1 <= number <= len(after))
