"""The report in a browser, from the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.workspace import Workspace
from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra


@pytest.fixture(scope="module")
def report(work: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return work.report(
        ["sample-news", "sample-posts"], run="prior", to=tmp_path_factory.mktemp("report") / "report.html"
    )


@pytest.fixture(scope="module")
def published(work: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("published")
    work.publish("sample-news", to=to)
    return to


@pytest.mark.parametrize("name", ["index.html", "ontology.html"])
def test_published_pages_are_read_from_the_disk_by_everybody(visit: Visit, published: Path, name: str) -> None:
    with visit(published / name, width=400) as visited:
        assert [one for one in visited.requests if not one.startswith("data:")] == [(published / name).as_uri()]
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= 400
        if name == "index.html":  # its card, figures and files are seen whole on a telephone
            wide = "found => found.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML)"
            assert visited.page.locator("figure").count() > 2
            assert visited.page.locator("figure, .wide:has(table)").evaluate_all(wide) == []
        for scheme in ("light", "dark"):
            visited.page.emulate_media(color_scheme=scheme)
            assert visited.violations() == [], scheme
        assert visited.wrong == []


@pytest.mark.parametrize("scripts", [True, False])
def test_report_is_read_from_the_disk_and_asks_for_nothing(visit: Visit, report: Path, scripts: bool) -> None:
    with visit(report, java_script_enabled=scripts) as visited:
        assert visited.page.locator("main h1").count() > 1
        assert visited.strangers("") == [] and visited.requests[0] == report.as_uri()
        assert len([one for one in visited.requests if not one.startswith("data:")]) == 1
        assert visited.wrong == []


def test_report_is_usable_by_everybody(visit: Visit, report: Path) -> None:
    with visit(report, width=400) as visited:
        for scheme in ("light", "dark"):
            visited.page.emulate_media(color_scheme=scheme)
            assert visited.violations() == [], scheme
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_texts_of_a_report_are_chosen_and_led_through_without_a_server(visit: Visit, report: Path) -> None:
    with visit(report) as visited:
        page = visited.page
        choice = page.locator("main form select >> nth=0")
        value = choice.locator("option >> nth=1").get_attribute("value") or ""
        choice.select_option(value)
        section = page.locator("main > section:has(form) >> nth=0")
        texts = section.locator("article:visible")
        assert texts.count() > 0 and all(one.get_attribute("data-outcome") == value for one in texts.all())
        page.locator("h1 >> nth=0").click()
        page.keyboard.press("n")
        assert page.locator("article.here").count() == 1 and visited.wrong == []
