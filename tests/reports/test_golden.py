"""Every sample in every format looks as it was accepted, and nothing in it shows a percentage."""

from __future__ import annotations

import re

import pytest

from linewitness import reports
from linewitness.console import Screen
from linewitness.reports import View
from tests.reports import golden, samples

NARROW = View(Screen(width=46))
COLORED = View(Screen(color=True, width=80))
VERBOSE = View(Screen(width=80), verbose=True, map_file="out/map of head.json")
PLAIN = View(Screen(width=80))

LOOKS = {"": PLAIN, "-narrow": NARROW, "-color": COLORED, "-verbose": VERBOSE}


# The page holds a style sheet and a script, which are files of their own; what is accepted is the page around them.
ASSETS = re.compile(rb"(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|sha256-[A-Za-z0-9+/=]+")


def shown(form: str, data: bytes) -> bytes:
    return ASSETS.sub(rb"\1\2\3\4", data) if form == "html" else data


def told(sample: str, form: str, view: View = PLAIN) -> bytes:
    return b"".join(reports.render(samples.ALL[sample](), form, view))


@pytest.mark.parametrize("sample", samples.ALL)
@pytest.mark.parametrize("form", [row.name for row in reports.FORMATS])
def test_each_format_tells_each_sample_as_accepted(sample: str, form: str) -> None:
    golden.compare(golden.FOLDER / f"{sample}.{form}", shown(form, told(sample, form)))


@pytest.mark.parametrize("look", [look for look in LOOKS if look])
@pytest.mark.parametrize("sample", ["closed", "hostile", "nothing_owed"])
def test_the_screen_has_its_accepted_looks(sample: str, look: str) -> None:
    golden.compare(golden.FOLDER / f"{sample}{look}.text", told(sample, "text", LOOKS[look]))


@pytest.mark.parametrize("sample", samples.ALL)
@pytest.mark.parametrize("form", [row.name for row in reports.FORMATS])
def test_no_report_shows_a_percentage(sample: str, form: str) -> None:
    for view in LOOKS.values():
        text = shown(form, told(sample, form, view)).decode()

        # in addresses and in annotations a percent sign begins an escape: two capital hexadecimal digits
        assert not re.search(r"%(?![0-9A-F]{2})", text)
        assert not re.search(r"\bper ?cent", text, re.IGNORECASE)


def test_no_text_of_ours_speaks_of_a_percentage() -> None:
    from linewitness.findings import CODES, EXIT_MEANING

    for code in CODES.values():
        assert "%" not in code.what + code.why + code.todo
    assert not any("%" in meaning for meaning in EXIT_MEANING.values())
