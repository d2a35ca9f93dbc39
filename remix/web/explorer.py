"""The explorer: views as pages of HTML, and their tables as data at the same address."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from urllib.parse import urlencode

import anyio
import anyio.to_thread
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from remix.errors import Error, nearest
from remix.reports.score_cache import AGAIN
from remix.store.worker import Bounds, Stopped, limit_queries
from remix.web.downloads import DATA, FIGURES, HEADERS, draw_figure, offer, write_table
from remix.web.endpoint import log_defect, refuse
from remix.web.forms import Form, choose
from remix.web.kept_tables import fit_kept, part_kept
from remix.web.page import VIEWS, Explored, Note, Page, View, list_datasets
from remix.web.rendering import arrange, read_assets, read_component, render_page
from remix.web.turns import STOPPED, RequestRefused
from remix.web.wrong_addresses import do_without, find_misnamed, list_unfit, status_of_error, tell_error

_TURNS = 4
"""Pages that are made at a time, so that many of them leave threads to queries; as many again that run a query."""


def routes(work: Explored, within: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext) -> list[Route]:
    """Return a route for each view, for its tables as data and its downloads, and for the style and the scripts.

    Each page is made `within` a block, for who wants to know when.
    """
    made = [
        Route("/style.css", _send(partial(read_assets, ".css"), "text/css")),
        Route("/script.js", _send(partial(read_assets, ".js"), "text/javascript")),
        Route("/codemirror.js", _send(read_component, "text/javascript")),
    ]
    quick, long = asyncio.Semaphore(_TURNS), asyncio.Semaphore(_TURNS)
    for view in VIEWS:
        turns = long if view.runs_queries else quick
        made.append(_PageRoute(f"/{view.name}", _answer(work, turns, within, view), methods=["GET"]))
        for form in dict.fromkeys((*DATA, *FIGURES, *view.downloads)):
            made.append(Route(f"/{view.name}.{form}", _answer(work, turns, within, view, form), methods=["GET"]))
    return [*made, _LastRoute("/{place:path}", partial(_tell_unknown, work), methods=["GET"])]


class _PageRoute(Route):
    """Tells a client that asks by another method as a page does, with what leads on."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, by what leads on where its method is another."""
        if scope["method"] in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        said = f"Pages are asked for by GET, and this was {scope['method']}: nothing is changed through them."
        known = ", ".join(sorted(self.methods or ()))
        await _tell_wrong("Not possible", said, 405, {"Allow": known})(scope, receive, send)


class _LastRoute(Route):
    """Takes what no other route takes, were it but by another method, of which that one says which it has."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return a match in part where the path is any, so that another route that has it comes first."""
        found, own = super().matches(scope)
        return (Match.PARTIAL if found is Match.FULL else Match.NONE), own


def _answer(
    work: Explored,
    turns: asyncio.Semaphore,
    within: Callable[[], AbstractContextManager[None]],
    view: View,
    form: str = "",
) -> Callable[..., object]:
    async def respond(http: HttpRequest) -> Response:
        async with http.app.state.page(http) as bounds:
            made = partial(_respond, work, view, form, http, bounds)
            try:
                async with http.app.state.wait(bounds.stop):  # which nobody does for a client that is gone
                    await turns.acquire()
            except RequestRefused as refusal:
                return _refuse(form, refusal.status, str(refusal))
            try:
                # What counts on frames cannot be interrupted: a server that stops leaves it alone.
                with within():
                    answer: Response = await anyio.to_thread.run_sync(made, abandon_on_cancel=True)
                return answer
            finally:
                turns.release()
        return _refuse(form, 503, STOPPED)

    return respond


def _respond(work: Explored, view: View, form: str, http: HttpRequest, bounds: Bounds) -> Response:
    parameters, kept = part_kept(_join(http.query_params.multi_items()))
    try:
        if bounds.stop.is_set():
            raise Stopped(STOPPED)
        with limit_queries(bounds), work.store.hold_state():  # which is read once for all of a page
            if form in view.downloads:
                for misnamed in find_misnamed(work, view, parameters).values():
                    raise misnamed
                return offer(view.downloads[form](work, parameters))
            page = view.show(work, parameters)
        unknown = find_misnamed(work, view, parameters)
        page = replace(page, dropped=[*unknown.values(), *page.dropped, *list_unfit(page, parameters)])
        parameters = fit_kept(page, kept, parameters)
        if form and (refused := next(filter(None, (page.error, *page.faults, *page.dropped)), None)) is not None:
            raise refused
        if form and page.refresh:
            seconds = "a second" if page.refresh == 1 else f"{page.refresh} seconds"
            return _put_off(f"this is still being computed: ask again in {seconds}", page.refresh)
        if form and page.missing:
            said = "this is not whole, and will be tried again: leave out what is missing, or ask again in ten minutes"
            return _put_off("\n".join([said, *page.missing]), int(AGAIN))
        if form in FIGURES:
            return draw_figure(page, form, parameters)
        if form:
            return write_table(arrange(page, parameters), form, parameters, view.name)
        status = 200 if page.error is None else status_of_error(page.error)
        headers = {**HEADERS, "Refresh": str(page.refresh)} if page.refresh else HEADERS
        known = {name: value for name, value in parameters.items() if name not in unknown}
        return Response(render_page(page, view, urlencode(known)), status, headers, "text/html")
    except Error as error:
        status, line = status_of_error(error), tell_error(view, parameters, error)
        if not form:
            with limit_queries(bounds):
                found, left, status = do_without(work, view, parameters, error)
            left = fit_kept(found, kept, left)
            return Response(render_page(found, view, urlencode(left)), status, HEADERS, "text/html")
    except Exception as error:
        log_defect(error)
        status, line = 500, "this page could not be made, which is a defect of remix"
    if form:
        return PlainTextResponse(f"{line}\n", status, headers=HEADERS)
    return _tell_wrong("Not possible", line, status)


def _tell_unknown(work: Explored, http: HttpRequest) -> Response:
    """Return the page for an address at which nothing is, with a form that leads to one of the datasets."""
    name = http.url.path.strip("/").partition("/")[0].partition(".")[0]
    said = f"Not Found: no page is at this address{nearest(name, VIEWS.names())}"
    names = list[str]()
    with contextlib.suppress(Error):
        names = [entry.name for entry in list_datasets(work)]
    forms = [Form([choose("name", "dataset", names, names[0])])] if names else []
    return _tell_wrong("Not found", said, 404, forms=forms)


def _tell_wrong(
    title: str, said: str, status: int, headers: Mapping[str, str] = MappingProxyType({}), forms: Sequence[Form] = ()
) -> Response:
    """Return a page that says what is wrong, with what leads on; forms lead to the page of a dataset."""
    places = {view.title: f"/{view.name}" for view in VIEWS if view.menu}
    page = Page(title, [Note(said, links=places), *forms])
    return Response(render_page(page, VIEWS["dataset"], ""), status, {**HEADERS, **headers}, "text/html")


def _refuse(form: str, status: int, said: str) -> Response:
    """Return why there is no answer now: data as a line, a page as one."""
    plain = refuse(status, said)
    if form:
        return plain
    headers = {name: plain.headers[name] for name in ("Retry-After",) if name in plain.headers}
    return _tell_wrong("Not possible now", said, status, headers)


def _put_off(said: str, seconds: int) -> Response:
    return PlainTextResponse(f"{said}\n", 503, headers={**HEADERS, "Retry-After": str(seconds)})


def _join(items: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name; what a form's several boxes say is one value, apart by commas."""
    joined: dict[str, str] = {}
    for name, value in items:
        joined[name] = f"{joined[name]},{value}" if joined.get(name) and value else joined.get(name, "") or value
    return joined


def _send(text: Callable[[], str], media_type: str) -> Callable[..., object]:
    async def respond(_: HttpRequest) -> Response:
        return Response(text(), media_type=media_type, headers={**HEADERS, "Cache-Control": "max-age=300"})

    return respond
