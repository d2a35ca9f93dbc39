"""Writes docs/explorer-*.png: pages of `remix serve` over the sample corpus, as a browser shows them.

python scripts/screenshots.py           needs the extra `browser` and chromium
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from remix.systems import SYSTEMS
from remix.web.addresses import address
from remix.workspace import open_workspace

DOCS = Path(__file__).resolve().parent.parent / "docs"
DOCUMENT = "https://w3id.org/nel-remix/corpus/sample-biographies/b01#char=0,676"
MENTION = "urn:remix:dataset:sample-biographies/b01#char=0,5"
PAGES = {
    "builder": (address("builder", on="ambiguitySurfaceForm,pagerank", **{"low.ambiguitySurfaceForm": 60}), "table"),
    "systems": (address("systems"), "td a"),
    "errors": (address("errors", dataset="sample-news", system="prior", other="oracle-candidates"), "article"),
    "document": (
        address("document", dataset="sample-biographies", name=DOCUMENT, colour="type", annotation=MENTION),
        "article mark",
    ),
}
"""The address of each page, and what is there when it is ready."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Give the address of a server over the sample corpus, on which the built-in systems have answered."""
    open_workspace(folder).annotate(system=SYSTEMS.names())
    command = [sys.executable, "-m", "remix", "serve", "-w", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield process.stderr.readline().split()[-1].removesuffix("/sparql")
        process.terminate()


def main() -> None:
    with tempfile.TemporaryDirectory() as name, served(Path(name) / "work") as site, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        for called, (place, ready) in PAGES.items():
            page.goto(site + place)
            page.wait_for_selector(f"main {ready}", timeout=120_000)
            # A page whose scores are being computed asks for itself again.
            page.wait_for_selector("main:not([data-refresh])", timeout=120_000)
            file = DOCS / f"explorer-{called}.png"
            page.screenshot(path=file)
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
