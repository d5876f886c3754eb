"""The help names the formats that there are."""

from __future__ import annotations

import argparse
import re

from linewitness.cli.outcome import add_output_options
from linewitness.reports import FORMATS


def test_the_help_of_report_names_every_format() -> None:
    parser = argparse.ArgumentParser()
    add_output_options(parser)
    shown = next(action.help or "" for action in parser._actions if "--report" in action.option_strings)

    assert {row.name for row in FORMATS} <= set(re.findall(r"\w+", shown))
