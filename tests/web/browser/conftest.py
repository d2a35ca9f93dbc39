"""Chromium before a real server over the sample corpus, on which runs of the built-in systems are registered."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from remix.systems import SYSTEMS
from remix.web.addresses import address
from remix.web.page import VIEWS
from remix.workspace import Workspace
from tests.web.conftest import client, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FEWER = """() => document
  .querySelectorAll('tr:nth-child(n+8), article:nth-of-type(n+6), li:nth-child(n+12), option:nth-child(n+4)')
  .forEach(one => one.remove())"""
ORIGIN = "https://yasgui.example"
"""Whose pages may read answers."""
Visit = Callable[..., AbstractContextManager["Visited"]]


@dataclass
class Visited:
    """A page in the browser, what it complained of, and what it asked for."""

    page: Page
    wrong: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def strangers(self, host: str) -> list[str]:
        """What it asked of another host; data within the page is no request."""
        return [one for one in self.requests if urlsplit(one).scheme != "data" and urlsplit(one).netloc != host]

    def violations(self, *rules: str) -> list[str]:
        """What axe finds that a reader with a screen reader, a keyboard or weak eyes could not use, by all its rules.

        Of rows, sentences and choices that are alike it sees the first, for it takes milliseconds for each.
        """
        from axe_playwright_python.sync_playwright import Axe

        self.page.evaluate(FEWER)
        options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        found = Axe().run(self.page, options=options).response["violations"]
        return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.fixture(scope="session")
def work(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus with the answers of every built-in system."""
    made = sample_workspace()
    made.annotate(system=SYSTEMS.names())
    return made


@pytest.fixture(scope="session")
def site(work: Workspace) -> Iterator[str]:
    """The address of its server, without a path."""
    with serving(work.store.folder, "--allow-origin", ORIGIN) as address:
        yield address.removesuffix("/sparql")


@pytest.fixture(scope="session")
def places(work: Workspace, site: str) -> dict[str, str]:
    """The address of a page of each view with something to show, which is computed by now."""
    found = {view.name: address(view.name, **view.example(work)) for view in VIEWS}
    for place in found.values():
        for _ in range(300):
            if "refresh" not in client.get(site + place).headers:
                break
            time.sleep(0.1)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of the system, headless."""
    pytest.importorskip("axe_playwright_python", reason="needs the extra `browser`")
    driver = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("needs chromium: apt-get install chromium")
    with driver.sync_playwright() as started:
        made = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def visit(browser: Browser, site: str) -> Visit:
    """Opens a place of the server, or a file, in a window of its own: `with visit("/datasets") as visited`."""

    @contextmanager
    def opened(place: str | Path, *, width: int = 1400, **options: Any) -> Iterator[Visited]:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        # It ends what hangs. Beside other tests a page of some megabytes was there after more than twenty seconds, and
        # scores, whose processes leave the processors to others, after more than sixty.
        context.set_default_timeout(110_000)
        visited = Visited(page := context.new_page())
        page.on("console", lambda said: said.type in ("error", "warning") and visited.wrong.append(said.text))
        page.on("pageerror", lambda error: visited.wrong.append(str(error)))
        page.on("request", lambda request: visited.requests.append(request.url))
        page.goto(place.as_uri() if isinstance(place, Path) else site + place)
        yield visited
        context.close()

    return opened
