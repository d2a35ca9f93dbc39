"""The explorer: views as pages of HTML, and their tables as data at the same address."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import resources

import anyio.to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from remix import tables
from remix.errors import Error, UnknownName, UsageError
from remix.web.page import VIEWS, Explored, Page, View, address

__all__ = ["render_page", "routes"]

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
    text = resources.files("remix.web").joinpath("templates/style.css").read_text(encoding="utf-8")
    return Response(text, media_type="text/css", headers={**HEADERS, "Cache-Control": "max-age=300"})
