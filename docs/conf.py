"""The documentation: Markdown, with the reference pages filled in from the program itself so that they cannot drift."""

# ruff: noqa: INP001 - Sphinx reads this folder, nobody imports it

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

import reference

from linewitness._version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "linewitness"
author = "The linewitness developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "linewitness"
html_static_path = ["_static"]
html_css_files = ["site.css"]
nitpicky = True
# The rules are shown with source that no compiler accepts, and with dialects that the highlighter does not know.
suppress_warnings = ["misc.highlighting_failure"]


def setup(app: Sphinx) -> None:
    """Put generated text into the pages that ask for it."""
    app.connect("source-read", reference.fill)
    # What is filled in does not depend on the page's own text, so every page that asks for it is read again.
    app.connect("env-get-outdated", lambda *_: [page for page in _FILLED if page in app.env.found_docs])


_FILLED = ("index", "commands", "settings", "codes")
