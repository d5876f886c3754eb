"""What a report of an internal error holds, and where it is put."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

from linewitness._version import __version__


def describe(error: BaseException, argv: Sequence[str]) -> str:
    """The text that somebody who mends the bug needs: versions, the command line and the traceback."""
    trace = "".join(traceback.format_exception(error))
    return (
        f"linewitness {__version__}, Python {sys.version.split()[0]}, {platform.platform()}\n"
        f"command: linewitness {shlex.join(argv)}\n\n{trace}"
    )


def store(text: str) -> str:
    """Put the report into a fresh temporary file; its path, or nothing when no file could be written."""
    try:
        with tempfile.NamedTemporaryFile(prefix="linewitness-bug-", suffix=".txt", delete=False) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
            return file.name
    except OSError:
        return ""
