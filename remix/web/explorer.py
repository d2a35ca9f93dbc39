"""The explorer: views as pages of HTML, and their tables as data at the same address."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

import anyio.to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from remix import tables
from remix._version import __version__
from remix.errors import Error, UnknownName, UsageError
from remix.files import write_whole
from remix.runs.registration import list_runs
from remix.web.page import VIEWS, Explored, Page, View, address

__all__ = ["render_file", "render_page", "routes", "write_report"]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_DATA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "text/plain; charset=utf-8",
}
_ROWS = 500
"""Rows of a table on a page; its data has all."""


def _template(name: str) -> str:
    return resources.files("remix.web").joinpath("templates", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    made = Environment(loader=PackageLoader("remix.web"), autoescape=True, undefined=StrictUndefined)
    made.filters["cell"] = lambda value, name: tables.cell(name, value)
    return made


def render_page(page: Page, view: View, query: str) -> str:
    """Return a page as HTML; `query` are the parameters of its address, for its exports."""
    menu = [("/" + one.name, one.title) for one in sorted(VIEWS, key=lambda one: one.menu) if one.menu]
    suffix = f"?{query}" if query else ""
    exports = [(f"/{view.name}.{form}{suffix}", form) for form in _DATA] if page.tables else []
    template = _environment().get_template("page.html")
    return template.render(page=page, menu=menu, here="/" + view.name, exports=exports, rows=_ROWS, address=address)


def write_report(work: Explored, datasets: Sequence[str], systems: Sequence[str], to: Path) -> Path:
    """Return the file that was written: the pages of datasets, scores and errors in one, which needs no server.

    Without systems all that are registered are shown. Nothing is loaded from elsewhere, and no script runs: a content
    security policy names the hash of the one style. Raises `UnknownName` for a dataset or a system that there is not.
    """
    names = list(datasets) or [entry.name for entry in work.datasets()]
    text = render_file(f"remix: {', '.join(names)}", _choose_pages(work, names, systems))
    with write_whole(to) as stream:
        stream.write(text.encode())
    return to


def render_file(title: str, pages: Sequence[Page]) -> str:
    """Return pages as one file of HTML with its style in it, and without addresses that need a server."""
    style = _template("style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _environment().get_template("report.html")
    return template.render(title=title, pages=pages, style=Markup(style), hash=digest, rows=_ROWS, version=__version__)


def _choose_pages(work: Explored, names: Sequence[str], systems: Sequence[str]) -> list[Page]:
    """Return the pages of a report."""
    pages = [VIEWS["dataset"].show(work, {"name": name}) for name in names]
    pages += [VIEWS["systems"].show(work, {"dataset": name}) for name in names]
    runs = [run for run in list_runs(work.store.folder / "runs") if run.task == "A2KB" and run.dataset in names]
    for system in systems:
        if system not in {run.system for run in runs}:
            raise UnknownName("run", system, sorted({run.system for run in runs}), "remix run list")
    for run in runs:
        if not systems or run.system in systems:
            asked = {"dataset": run.dataset, "system": run.system, "count": "200"}
            pages.append(VIEWS["errors"].show(work, asked))
    return pages


def routes(work: Explored) -> list[Route]:
    """Return a route for each view, for its tables as data, and for the stylesheet."""
    made = [Route("/style.css", _style, methods=["GET"])]
    for view in VIEWS:
        made.append(Route(f"/{view.name}", _answer(work, view), methods=["GET"]))
        made += [Route(f"/{view.name}.{form}", _answer(work, view, form), methods=["GET"]) for form in _DATA]
    return made


def _answer(work: Explored, view: View, form: str = "") -> Callable[..., object]:
    async def respond(http: HttpRequest) -> Response:
        return await anyio.to_thread.run_sync(_respond, work, view, form, http)

    return respond


def _respond(work: Explored, view: View, form: str, http: HttpRequest) -> Response:
    try:
        page = view.show(work, dict(http.query_params))
        if not form:
            return Response(render_page(page, view, http.url.query), media_type="text/html", headers=HEADERS)
        return _data(page, form, http.query_params.get("table", ""))
    except (UnknownName, UsageError) as error:
        status, line = 404, str(error)
    except Error as error:
        status, line = 400, str(error)
    if form:
        return PlainTextResponse(f"{line}\n", status, headers=HEADERS)
    from remix.web.page import Note

    wrong = Page("Not found" if status == 404 else "Not possible", [Note(line)])
    return Response(render_page(wrong, view, ""), status, media_type="text/html", headers=HEADERS)


def _data(page: Page, form: str, name: str) -> Response:
    if not page.tables:
        raise UsageError("this page has no table")
    chosen = name or next(iter(page.tables))
    if chosen not in page.tables:
        raise UnknownName("table", chosen, page.tables)
    content = io.BytesIO()
    tables.write(page.tables[chosen], {"tex": "latex"}.get(form, form), content)
    return Response(content.getvalue(), media_type=_DATA[form], headers=HEADERS)


async def _style(_: HttpRequest) -> Response:
    return Response(_template("style.css"), media_type="text/css", headers={**HEADERS, "Cache-Control": "max-age=300"})
