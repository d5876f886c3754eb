"""The three projects, and one bug for each that their own tests do not notice."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class RealProject(NamedTuple):
    """A release, what in it is product and what are its tests, and a bug in a line that no test of its own runs.

    ``product`` and ``tests`` are globs from the root of the source distribution; ``bug`` is a file and what becomes of
    which text in it.
    """

    name: str
    version: str
    kind: str
    product: tuple[str, ...]
    tests: tuple[str, ...]
    bug: tuple[str, str, str]

    @property
    def relations(self) -> Path:
        """The folder with relations and corpus."""
        return HERE / self.name.replace("-", "_")


PROJECTS = (
    RealProject(
        "xmltodict",
        "1.0.4",
        "parser",
        ("xmltodict.py",),
        ("tests/**",),
        (
            "xmltodict.py",
            "if comment_text is None:\n                continue",
            "if comment_text is None:\n                break",
        ),
    ),
    RealProject(
        "u-msgpack-python",
        "2.8.0",
        "codec",
        ("umsgpack/*.py",),
        ("test_umsgpack.py",),
        ("umsgpack/__init__.py", "if len(self.data) > 8:", "if len(self.data) >= 8:"),
    ),
    RealProject(
        "tabulate",
        "0.10.0",
        "formatter",
        ("tabulate/*.py",),
        ("test/**",),
        ("tabulate/__init__.py", 'return ":" + ("-" * (w - 2)) + ":"', 'return ":" + ("-" * (w - 1)) + ":"'),
    ),
)
