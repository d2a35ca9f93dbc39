"""Answers that are files: tables as data and for papers, figures, and what else a view offers."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace

from starlette.responses import Response

from remix import tables
from remix._version import __version__
from remix.errors import UnknownName, UsageError
from remix.paper import escape_markdown
from remix.reports.plots import render
from remix.web.addresses import address
from remix.web.cell_texts import name_for_paper
from remix.web.page import Download, Page

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
DATA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "text/plain; charset=utf-8",
}
FIGURES = {"svg": "image/svg+xml", "pdf": "application/pdf"}


def offer(download: Download) -> Response:
    """Return a file to save; of its name only what is safe in a header is kept."""
    file = re.sub(r"[^A-Za-z0-9._-]+", "-", download.file).strip("-.") or "remix"
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{file}"'}
    return Response(download.content, media_type=download.media_type, headers=headers)


def draw_figure(page: Page, form: str, parameters: Mapping[str, str]) -> Response:
    """Return a `figure` of a page as a file: of SVG one of its sheets, as wide as a screen, a column or a page."""
    if not page.figures:
        raise UsageError("this page has no figure")
    name = parameters.get("figure", "") or next(iter(page.figures))
    if name not in page.figures:
        raise UnknownName("figure", name, page.figures)
    sheets = render(page.figures[name], f".{form}", parameters.get("width", "") or "screen")
    nth = parameters.get("sheet", "") or "1"
    if nth not in (known := [str(number + 1) for number in range(len(sheets))]):
        raise UnknownName("sheet of the figure", nth, known)
    return Response(sheets[int(nth) - 1], media_type=FIGURES[form], headers=HEADERS)


def write_table(page: Page, form: str, parameters: Mapping[str, str], place: str) -> Response:
    """Return a `table` of the page at a `place` in a format of data, with the `columns` that are asked for."""
    if not page.tables:
        raise UsageError("this page has no table")
    chosen = parameters.get("table", "") or page.data or next(iter(page.tables))
    if chosen not in page.tables:
        raise UnknownName("table", chosen, page.tables)
    table = page.find_table(chosen)
    frame, how = table.frame, table.typesetting
    columns = [name for name in parameters.get("columns", "").split(",") if name]
    if unknown := next((name for name in columns if name not in frame.columns), None):
        raise UnknownName("column of the table", unknown, frame.columns)
    if form == "tex":
        how = table.set_for_paper(page.title, columns)
        frame = name_for_paper(table)
    elif columns and how is not None and form == "md":
        called = how.columns if isinstance(how.columns, Mapping) else {}
        how = replace(how, columns={name: called.get(name, name) for name in columns})
    elif columns:
        frame, how = frame.select(*dict.fromkeys(columns)), None
    if form == "md" and how is not None:
        how = replace(how, caption=table.caption(page.title))
    content = io.BytesIO()
    tables.write(frame, {"tex": "latex"}.get(form, form), content, typesetting=how)
    if form == "md" and how is None:
        content.write(f"\n{escape_markdown(table.caption(page.title))}\n".encode())
    # Whoever reads a paper's source finds where its table comes from.
    told = f"% {address(place, **parameters)}\n% remix {__version__}\n" if form == "tex" else ""
    return Response(told.encode() + content.getvalue(), media_type=DATA[form], headers=HEADERS)
