"""Pages of the explorer as tests look at them: their tables, and the pages that they lead to."""

from __future__ import annotations

from urllib.parse import parse_qsl

from remix.web.page import VIEWS, Page, Table
from remix.workspace import Workspace


def table_of(page: Page, name: str) -> Table:
    """Return the one table of a name of a page, those beside it not looked at."""
    [table] = [block for block in page.blocks if isinstance(block, Table) and block.name == name]
    return table


def follow(work: Workspace, place: str) -> Page:
    """Return the page that an address leads to."""
    view, _, query = place.partition("#")[0].partition("?")
    return VIEWS[view.removeprefix("/")].show(work, dict(parse_qsl(query)))
