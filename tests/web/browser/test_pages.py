"""What holds of every page in a browser, whatever it shows: views are scanned, so that a new one is held to it."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from remix.web.page import VIEWS
from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra

REACHABLE = """() => [...document.querySelectorAll('*')]
  .flatMap(one => one.shadowRoot ? [...one.shadowRoot.querySelectorAll('*')] : [one])
  .filter(one => one.matches('a[href], button, input, select, textarea, summary, [tabindex="0"]'))
  .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.disabled
    && !(one.type === 'radio' && !one.checked))"""
"""Elements that one clicks or types into, in the order of the page; of radio buttons Tab stops at the checked one."""
UNREACHABLE = f"() => ({REACHABLE})().filter(one => one.tabIndex < 0).map(one => one.outerHTML.slice(0, 200))"
STOP = f"""() => {{
  const active = document.activeElement, one = active.shadowRoot?.activeElement || active;
  const style = getComputedStyle(one);
  const marked = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
  return [({REACHABLE})().indexOf(one), marked ? '' : one.outerHTML.slice(0, 200)];
}}"""
OPEN = "() => document.querySelectorAll('details').forEach(one => { one.open = true; })"
SHAPE = """() => [...document.querySelectorAll('main h1, main h2, main tr, main form, main svg, main article')]
  .filter(one => one.checkVisibility()).map(one => one.tagName)"""


@pytest.mark.parametrize("view", VIEWS.names())
def test_page_is_right_wide_and_narrow_in_light_and_dark_and_asks_no_other_host(
    visit: Visit, places: dict[str, str], site: str, view: str
) -> None:
    with visit(places[view]) as visited:
        for width in (1400, 400):
            visited.page.set_viewport_size({"width": width, "height": 900})
            assert visited.page.evaluate("document.documentElement.scrollWidth") <= width
            for scheme, rules in (("light", ()), ("dark", ("color-contrast",))):
                visited.page.emulate_media(color_scheme=scheme)
                assert visited.violations(*rules) == [], (width, scheme)
        assert visited.page.inner_text("main h1")
        assert visited.wrong == []
        assert visited.requests and visited.strangers(urlsplit(site).netloc) == []


@pytest.mark.parametrize("view", VIEWS.names())
def test_everything_of_a_page_is_reached_by_tab_and_seen_to_be(visit: Visit, places: dict[str, str], view: str) -> None:
    with visit(places[view]) as visited:
        assert visited.page.evaluate(UNREACHABLE) == []
        number = visited.page.evaluate(f"({REACHABLE})().length")
        for expected in range(min(number, 40)):
            visited.page.keyboard.press("Tab")
            assert visited.page.evaluate(STOP) == [expected, ""]


@pytest.mark.parametrize("view", VIEWS.names())
def test_page_shows_the_same_without_scripts(visit: Visit, places: dict[str, str], view: str) -> None:
    with visit(places[view]) as scripted:
        shape = scripted.page.evaluate(SHAPE)
    with visit(places[view], java_script_enabled=False) as plain:
        assert plain.page.evaluate(SHAPE) == shape != []
        plain.page.evaluate(OPEN)  # as a reader does, for which no script is needed
        assert plain.page.locator("form:not(:has(button:visible, [type=submit]:visible))").count() == 0
        assert plain.wrong == []
