"""The failures that are the user's to mend, each with the exit status of its family.

Library code raises these; only ``linewitness.cli`` turns them into text and a status. Anything else that
escapes is a bug of ours.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Every exit status of every command. The numbers are part of the interface and never depend on a format."""

    OPEN = 0
    CLOSED = 1
    USAGE = 2
    EVIDENCE = 3
    PATCH = 4
    PROTECTED = 5
    INTERNAL = 70
    INTERRUPTED = 130


class LinewitnessError(Exception):
    """A failure with a message for people: what is wrong, where, and what to do about it."""

    exit = Exit.USAGE

    def __init__(self, message: str, *, code: str = "", path: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: " if self.path and self.line else f"{self.path}: " if self.path else ""
        return place + self.message


class UsageError(LinewitnessError):
    """Wrong options, wrong settings (exit 2)."""


class EvidenceError(LinewitnessError):
    """Evidence that is missing, failing, incomplete, stale or unreadable (exit 3)."""

    exit = Exit.EVIDENCE


class PatchError(LinewitnessError):
    """A patch that cannot be trusted (exit 4)."""

    exit = Exit.PATCH


class ProtectedError(LinewitnessError):
    """Protected content that cannot be judged (exit 5)."""

    exit = Exit.PROTECTED
