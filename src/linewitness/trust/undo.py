"""Commands for people to paste: names from a patch, quoted so that a shell and git take them literally."""

from __future__ import annotations

import shlex

_GIT_MAGIC = frozenset("*?[\\:")


def shell_quote(text: str) -> str:
    """``text`` as one word of a POSIX shell; names with controls or bytes that are not UTF-8 in the ``$'...'`` form.

    The result is printable ASCII wherever the name is not plainly printable, so that a name can neither move the
    cursor of a terminal nor end the line of a log.
    """
    if text.isprintable() and not any("\ud800" <= char <= "\udfff" for char in text):
        return shlex.quote(text)
    return "$'" + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogateescape")) + "'"


def restore_command(base: str, path: str) -> str:
    """The command that brings back ``path`` as it is in ``base``, in any folder of the work tree."""
    return f"git checkout {shell_quote(base)} -- {_from_root(path)}"


def remove_command(path: str) -> str:
    """The command that takes away ``path``, which base does not have."""
    return f"git rm -r -- {_from_root(path)}"


def show_command(base: str, path: str) -> str:
    """The command that shows what became of ``path`` since ``base``."""
    return f"git diff {shell_quote(base)} -- {_from_root(path)}"


def approve_command(base: str) -> str:
    """The command with which an approver vouches for everything protected that differs from ``base``."""
    return f"linewitness approve --base {shell_quote(base)}"


def _from_root(path: str) -> str:
    """``path`` as a pathspec that means the same in every folder: git takes plain ones from where a person stands."""
    # Right after ``:/`` git takes most signs for further magic.
    plain = not _GIT_MAGIC & set(path) and (path[:1].isalnum() or path[:1] in "._")
    return shell_quote(f":/{path}" if plain else f":(top,literal){path}")


def _escaped(byte: int) -> str:
    char = chr(byte)
    if char in "\\'":
        return "\\" + char
    # Octal escapes have a fixed length, so that the character after one cannot become part of it.
    return char if " " <= char <= "~" else f"\\{byte:03o}"
