"""The page in a real browser, as people use it: by mouse, by keyboard, in the dark, on paper, on a telephone."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.browser import Browser

AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PAGES = ["small", "big", "hostile"]


@pytest.fixture
def any_page(request: pytest.FixtureRequest) -> Path:
    path = request.getfixturevalue(request.param)
    assert isinstance(path, Path)
    return path


def press(window: Browser, keys: str) -> None:
    window.driver.switch_to.active_element.send_keys(keys)
    window.settle()


def shown(window: Browser, selector: str) -> list[str]:
    """The texts of what is displayed; parts that the browser has not laid out yet count as displayed."""
    script = """
        return [...document.querySelectorAll(arguments[0])]
          .filter(e => e.getClientRects().length || e.checkVisibility({contentVisibilityAuto: false}))
          .map(e => e.innerText);
    """
    return [str(text) for text in window.run(script, selector)]


def focused(window: Browser) -> str:
    return str(window.run("const row = document.activeElement.closest('tr'); return row ? decodeURI(row.id) : '';"))


# ---------------------------------------------------------------- what every page promises


@pytest.mark.parametrize("any_page", PAGES, indirect=True)
def test_no_script_fails_and_the_policy_has_nothing_to_refuse(window: Browser, any_page: Path) -> None:
    window.open(any_page)
    for keys in ("j", "j", Keys.ENTER, "k", "1", "0", "?", Keys.ESCAPE):
        press(window, keys)

    assert window.complaints() == []


@pytest.mark.parametrize("any_page", PAGES, indirect=True)
def test_nothing_but_the_page_is_asked_for(window: Browser, any_page: Path) -> None:
    window.open(any_page)
    press(window, "j")

    asked = [address for address in window.requests() if not address.startswith(("data:", "about:"))]
    assert asked == [any_page.resolve().as_uri()]


def test_a_script_that_got_into_the_page_would_not_run(window: Browser, small: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt.html"
    inside = b"<main><script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">"
    spoilt.write_bytes(small.read_bytes().replace(b"<main>", inside))
    window.open(spoilt)
    window.settle()

    assert window.driver.title.startswith("gate closed")
    assert any("Content Security Policy" in text for text in window.complaints())


def test_hostile_texts_are_shown_as_they_are(window: Browser, hostile: Path) -> None:
    window.open(hostile)

    assert window.driver.title.startswith("gate closed")
    assert window.run("return document.querySelectorAll('main script, main img, main iframe, [onfocus]').length") == 0
    names = shown(window, "section.f h2")
    assert any("<script>alert(1)</script>" in name for name in names)
    for _ in range(6):
        press(window, "j")
        press(window, Keys.ENTER)
    assert "<script>alert(1)</script>" in window.run("return document.body.innerText")
    assert window.complaints() == []


# ---------------------------------------------------------------- reading


def test_the_verdict_and_the_numbers_stand_on_top(window: Browser, small: Path) -> None:
    window.open(small)

    assert shown(window, "h1") == ["Gate closed"]
    assert "3 of 8 owed lines have no witness" in shown(window, "header")[0]
    assert [text.split()[:2] for text in shown(window, ".tile")] == [
        ["3", "open"],
        ["4", "ran"],
        ["1", "waived"],
        ["2", "exempt"],
    ]


def test_what_is_open_is_named_before_the_patch_and_linked(window: Browser, small: Path) -> None:
    window.open(small)
    links = window.run("return [...document.querySelectorAll('.lines a')].map(link => decodeURI(link.hash))")

    assert links == ["#src/billing.py:14", "#src/größe.py:7"]
    window.run("document.querySelector('.lines a').click()")
    window.settle()
    assert focused(window) == "src/billing.py:14"


@pytest.mark.parametrize("any_page", PAGES, indirect=True)
def test_every_link_leads_somewhere_in_the_page(window: Browser, any_page: Path) -> None:
    window.open(any_page)
    script = (
        "const links = [...document.querySelectorAll('a[href]')].map(link => link.hash.slice(1));"
        "return [links.length, links.filter(id => !document.getElementById(id))]"
    )
    count, dead = window.run(script)

    assert count
    assert dead == []


def test_the_patch_has_its_context_and_its_removed_lines(window: Browser, small: Path) -> None:
    window.open(small)
    rows = window.run(
        "const rows = [...document.querySelectorAll('[id=\"src/billing.py\"] .h tr')];"
        "return rows.map(row => [...row.cells].map(cell => cell.innerText))"
    )

    assert rows[0] == ["", "10", "10", "", "def price_order(order):"]
    assert rows[1] == ["", "11", "", "\N{MINUS SIGN}", "    return order.total"]
    assert rows[2] == ["ran", "", "11", "+", "    total = sum(order.items)"]


def test_each_status_has_a_word_and_a_shape_of_its_own(window: Browser, small: Path) -> None:
    window.open(small)
    found = window.run(
        "return [...document.querySelectorAll('.h tr > td:first-child > button')]"
        ".map(b => [b.textContent, getComputedStyle(b, '::before').content])"
    )

    words = {word for word, _ in found}
    assert words == {"open", "ran", "import", "waived", "exempt"}
    assert len({shape for _, shape in found}) == len(words)


def test_a_click_shows_who_ran_a_line_which_waiver_it_has_or_what_is_missing(window: Browser, small: Path) -> None:
    window.open(small)
    for line in ("src/billing.py:11", "src/emit.py:3", "src/billing.py:14"):
        window.run("document.getElementById(arguments[0]).querySelector('button').click()", line)
    texts = shown(window, "tr.d")

    assert "tests/trusted/test_billing.py::test_total" in texts[0]
    assert "2 more" in texts[0]
    assert "linewitness explain src/billing.py:14" in texts[1]
    assert "waived, codegen, by platform until 2026-12-16" in texts[2]
    window.run("document.getElementById('src/emit.py:3').querySelector('button').click()")
    assert len(shown(window, "tr.d")) == 2


# ---------------------------------------------------------------- without a mouse


def test_j_and_k_go_from_one_open_passage_to_the_next_and_back(window: Browser, small: Path) -> None:
    window.open(small)
    places = []
    for key in ("j", "j", "j", "k", "k"):
        press(window, key)
        places.append(focused(window))

    first, second = "src/billing.py:14", "src/größe.py:7"
    assert places == [first, second, first, second, first]


def test_enter_shows_what_is_known_of_the_line_and_hides_it_again(window: Browser, small: Path) -> None:
    window.open(small)
    press(window, "j")
    press(window, Keys.ENTER)

    assert len(shown(window, "tr.d")) == 1
    assert window.run("return document.activeElement.getAttribute('aria-expanded')") == "true"
    press(window, Keys.ENTER)
    assert shown(window, "tr.d") == []


def test_everything_that_can_be_done_is_reached_with_the_tab_key(window: Browser, small: Path) -> None:
    window.open(small)
    reached = set()
    for _ in range(80):
        press(window, Keys.TAB)
        reached.add(
            window.run("const e = document.activeElement; return e.dataset.do || e.dataset.state || e.id || e.tagName")
        )

    assert {"next", "previous", "help", "o", "t", "w", "e", "$search", "SUMMARY", "A", "BUTTON"} <= reached


def test_the_help_opens_and_closes_by_key(window: Browser, small: Path) -> None:
    window.open(small)
    press(window, "?")
    assert "How to read this page" in shown(window, "dialog")[0]
    press(window, Keys.ESCAPE)

    assert shown(window, "dialog") == []


def test_a_slash_finds_in_names_and_lines_and_escape_ends_it(window: Browser, small: Path) -> None:
    window.open(small)
    press(window, "/")
    window.driver.switch_to.active_element.send_keys("COUPON")
    window.driver.execute_async_script("setTimeout(arguments[0], 300)")

    lines = shown(window, ".h tr > td:nth-child(5)")
    assert lines
    assert all("coupon" in line for line in lines)
    assert "3 found" in shown(window, "[role=status]")[0]
    press(window, Keys.ESCAPE)
    assert len(shown(window, ".h tr > td:nth-child(5)")) > len(lines)


# ---------------------------------------------------------------- filters


@pytest.mark.parametrize(
    ("key", "states"), [("1", {"open"}), ("2", {"ran", "import"}), ("3", {"waived"}), ("4", {"exempt"})]
)
def test_a_filter_leaves_the_lines_of_one_status(window: Browser, small: Path, key: str, states: set[str]) -> None:
    window.open(small)
    everything = len(shown(window, ".h tr"))
    press(window, key)

    words = {text for text in shown(window, ".h tr > td:first-child") if text}
    pressed = window.run("return [...document.querySelectorAll('[aria-pressed=true]')].map(b => b.dataset.state)")
    assert words <= states
    assert pressed == [{"1": "o", "2": "t", "3": "w", "4": "e"}[key]]
    press(window, "0")
    assert len(shown(window, ".h tr")) == everything


def test_files_without_a_line_of_the_status_are_hidden(window: Browser, small: Path) -> None:
    window.open(small)
    press(window, "3")

    assert [text.split()[0] for text in shown(window, "section.f h2")] == ["src/emit.py"]


# ---------------------------------------------------------------- links


@pytest.mark.parametrize("fragment", ["src/billing.py:14", "src/gr%C3%B6%C3%9Fe.py:7", "src/größe.py:7"])
def test_a_link_to_a_line_shows_it_and_what_is_known_of_it(window: Browser, small: Path, fragment: str) -> None:
    window.open(small, fragment)
    window.settle()

    top = window.run("return document.querySelector('tr.here').getBoundingClientRect().top")
    assert 0 < top < 900
    assert len(shown(window, "tr.d")) == 1


@pytest.mark.parametrize("width", [320, 420, 1280])
def test_a_line_that_was_linked_to_is_not_hidden_by_the_toolbar(window: Browser, small: Path, width: int) -> None:
    window.resize(width, 700)
    window.open(small, "src/billing.py:14")
    window.settle()
    # as the browser itself does when it goes to a fragment, sometimes after the page's script did
    window.run("document.documentElement.classList.add('jump'); document.querySelector('tr.here').scrollIntoView()")

    row, bar = (
        window.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)
        for selector in ("tr.here", ".toolbar")
    )
    assert bar["bottom"] <= row["top"] < row["bottom"] < 700


def test_a_link_into_a_folded_file_unfolds_it(window: Browser, small: Path) -> None:
    window.open(small)
    window.run("document.querySelectorAll('section.f > details').forEach(d => d.open = false)")
    window.run("location.hash = 'src/billing.py:14'")
    window.settle()

    assert focused(window) == "src/billing.py:14"


def test_a_line_number_is_a_link_to_itself(window: Browser, small: Path) -> None:
    window.open(small)
    links = window.run(
        "return [...document.querySelectorAll('.h td:nth-child(3) a')].map(a => [a.hash.slice(1), a.closest('tr').id])"
    )

    assert links
    assert all(target == row for target, row in links)


def test_moving_keeps_the_address_up_to_date(window: Browser, small: Path) -> None:
    window.open(small)
    press(window, "j")

    assert window.driver.current_url.endswith("#src/billing.py:14")


# ---------------------------------------------------------------- looks


def luminance(color: str) -> float:
    red, green, blue = (int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_it_is_dark_for_those_who_prefer_that(window: Browser, small: Path) -> None:
    script = "return getComputedStyle(document.body).backgroundColor"
    window.open(small)
    light = window.run(script)
    window.media(scheme="dark")

    assert luminance(light) > 200
    assert luminance(window.run(script)) < 60


def test_on_paper_there_is_no_toolbar_and_nothing_is_folded(window: Browser, small: Path) -> None:
    window.open(small)
    window.run("document.querySelectorAll('section.f > details').forEach(d => d.open = false)")
    window.media(kind="print")
    printed = base64.b64decode(window.command("Page.printToPDF", {"printBackground": True})["data"])

    assert shown(window, ".toolbar") == []
    assert printed.startswith(b"%PDF")
    assert "total = sum(order.items)" in "\n".join(shown(window, ".h tr"))


@pytest.mark.parametrize("width", [320, 420, 768])
def test_a_narrow_screen_does_not_scroll_sideways(window: Browser, small: Path, width: int) -> None:
    window.resize(width, 800)
    window.open(small, "src/billing.py:14")
    window.settle()

    assert window.run("return document.documentElement.scrollWidth") <= width
    assert window.run("return document.querySelector('tr.o td:nth-child(5)').getBoundingClientRect().width") > width / 3
    assert window.run("return document.querySelector('.m td:nth-child(2)').getBoundingClientRect().width") > width / 2


def axe(window: Browser) -> list[dict[str, Any]]:
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.fail("the rules of axe-core are missing: pip install --no-deps axe-playwright-python")
    window.driver.execute_script(Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    script = "axe.run(document, {runOnly: arguments[0], resultTypes: ['violations']}).then(arguments[1])"
    result = window.driver.execute_async_script(script, AXE_RULES)
    return [dict(violation) for violation in result["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("any_page", ["small", "hostile"], indirect=True)
def test_roles_labels_and_contrast_are_as_the_guidelines_ask(window: Browser, any_page: Path, scheme: str) -> None:
    window.media(scheme=scheme)
    window.open(any_page)
    window.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    window.run("document.querySelectorAll('.h tr > td:first-child > button').forEach(b => b.click())")
    window.settle()

    violations = axe(window)
    assert not violations, json.dumps(
        [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in violations], indent=1
    )


# ---------------------------------------------------------------- big


def test_twenty_thousand_lines_are_laid_out_only_where_they_are_seen(window: Browser, big: Path) -> None:
    window.open(big)
    window.settle()
    rows = window.run("return document.querySelectorAll('.h tr[class]').length")
    laid_out = window.run(
        "return [...document.querySelectorAll('.h table')]"
        ".filter(t => t.checkVisibility({contentVisibilityAuto: true})).length"
    )

    assert rows >= 20_000
    assert laid_out < 20


def test_a_line_in_the_midst_of_twenty_thousand_is_found_by_its_link_and_by_j(window: Browser, big: Path) -> None:
    window.open(big, "src/part_13/module.py:777")
    window.settle()
    top = window.run("return document.querySelector('tr.here').getBoundingClientRect().top")
    assert 0 < top < 900
    press(window, "j")

    assert focused(window) == "src/part_13/module.py:800"
    assert 0 < window.run("return document.activeElement.getBoundingClientRect().top") < 900


def test_filters_and_search_work_on_twenty_thousand_lines(window: Browser, big: Path) -> None:
    window.open(big)
    press(window, "1")
    assert len(shown(window, ".h tr.o")) == 400
    press(window, "0")
    press(window, "/")
    window.driver.switch_to.active_element.send_keys("value_777 =")
    window.driver.execute_async_script("setTimeout(arguments[0], 800)")

    assert shown(window, "[role=status]") == ["20 found"]
