"""The explorer: views as pages of HTML, and their tables as data at the same address."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache, partial
from importlib import resources
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

import anyio
import anyio.to_thread
import polars as pl
import polars.selectors as selectors
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from remix import tables
from remix._version import __version__
from remix.cells import cell
from remix.errors import Error, QueryError, Timeout, UnknownName, UsageError, nearest
from remix.names import shorten
from remix.paper import typeset
from remix.reports.plots import can_draw, render
from remix.reports.score_cache import AGAIN
from remix.reports.sentences import name_document
from remix.reports.svg import draw
from remix.runs.judgements import list_entities, rename_entities
from remix.store.worker import Bounds, Stopped, limit_queries
from remix.web.endpoint import log_defect, refuse, status_of
from remix.web.page import (
    VIEWS,
    Download,
    Drawing,
    Explored,
    Form,
    Note,
    Page,
    Shown,
    Table,
    View,
    WrongAddress,
    WrongValue,
    address,
    choose,
    list_datasets,
)
from remix.web.turns import STOPPED, RequestRefused

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_DATA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "text/plain; charset=utf-8",
}
_FIGURES = {"svg": "image/svg+xml", "pdf": "application/pdf"}
_TURNS = 4
"""Pages that are made at a time, so that many of them leave threads to queries; as many again that run a query."""
_TRIES = 6
"""Choices that are left out one after another, and parameters that are tried where an error names none."""
_ROWS = 500
"""Rows of a table on a page; its data has all."""
_NAME, _PROSE = 40, 80
"""Characters up to which the texts of a column stay in one line, and beyond which they are prose."""
_IRI = r"https?://\S+$"
"""What is shown short."""
_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]"
_FROM_RIGHT = re.compile(_LETTER)
"""Letters of scripts that are read from right to left."""
_NAMES_FROM_RIGHT = re.compile(f"{_LETTER}+(?:[ '.-]{_LETTER}+)*")
"""Words of such letters, one after another."""
_FROM_LEFT = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]")
"""Letters of the most frequent scripts that are read from left to right."""
_FEW = 12
"""Rows up to which a table has no filter of its own."""


@lru_cache(maxsize=8)
def _assets(suffix: str) -> str:
    """Return the files of `assets` with this suffix as one, in the order of their names after that of all pages."""
    found = [one for one in resources.files("remix.web").joinpath("assets").iterdir() if one.name.endswith(suffix)]
    found.sort(key=lambda one: (one.name != f"page{suffix}", one.name))
    return "\n".join(one.read_text(encoding="utf-8") for one in found)


@lru_cache(maxsize=1)
def _component() -> str:
    """Return the editor that the page of SPARQL alone loads: `scripts/editor` makes it of CodeMirror."""
    return resources.files("remix.web").joinpath("assets", "codemirror", "codemirror.js").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # A server that runs keeps its templates where another version is installed in its place, as it keeps its modules.
    made = Environment(
        loader=PackageLoader("remix.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=False,
        auto_reload=False,
    )
    made.filters["cell"] = lambda value, name: cell(name, value)
    made.filters["told"] = _tell
    made.filters["linked"] = _link_names
    made.filters["prose"] = lambda text: Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
    menu = [(f"/{one.name}", one.title) for one in sorted(VIEWS, key=lambda one: one.menu) if one.menu]
    made.globals.update(menu=menu, heat=_heat, widths=_widths, draw=draw, typeset=typeset, digest=_digest, few=_FEW)
    return made


_OFFSETS = ("begin", "end")
"""Columns of numbers that are no amounts, whose thousands do not stand apart."""


def _tell(value: object, name: str, row: Mapping[str, object], table: Table) -> object:
    """Return what stands in a cell: texts in their own direction, labels of entities, shares in per cent."""
    if not isinstance(value, str):
        if table.zero and value == 0 and name in table.heat:
            return table.zero
        if name in table.scores and isinstance(value, float):
            return f"{value:.3f}"
        unit = row.get(of := table.units.get(name, ""), of)
        said = cell("share" if unit == "share" else name, value)
        if unit == "number" and isinstance(value, float):
            said = f"{value:,.0f}"
        if isinstance(value, int) and not isinstance(value, bool) and name not in _OFFSETS:
            said = f"{value:,}"
        if name in table.differences and isinstance(value, float):
            said = f"{100 * value:.1f} points" if unit == "share" else said
            return f"+{said}" if value > 0 else said
        return said
    if not value:
        return ""
    if name in table.documents:
        return Markup('<bdi title="{}">{}</bdi>').format(value, cell(name, name_document(value)))
    if value in table.labels or not (" or " in value or " and " in value):
        return _tell_text(name, value, table.labels)
    if not any(one in table.labels or re.match(_IRI, one) for one in list_entities(pl.Series([value]))):
        return _tell_text(name, value, table.labels)  # a name such as 'Tom and Jerry'
    return Markup(rename_entities(value, lambda one: str(_tell_text(name, one, table.labels))))


def _tell_text(name: str, text: str, labels: Mapping[str, str]) -> Markup:
    short = shorten(text) if re.match(_IRI, text) else text
    if label := labels.get(text) or labels.get(short):
        return Markup("{} <small>{}</small>").format(_isolate(cell(name, label)), _isolate(cell(name, short)))
    return _isolate(cell(name, short))


def _isolate(text: object) -> Markup:
    """Return a text for a page; one that has letters of right to left stands apart, in its own direction.

    Of a text that has more letters of left to right the names of right to left alone do: they turn no list round.

    >>> _isolate("a < b"), _isolate("\u05d0"), _isolate("\u05d0, Ada")
    (Markup('a &lt; b'), Markup('<bdi>\u05d0</bdi>'), Markup('<bdi>\u05d0</bdi>, Ada'))
    """
    said = escape(text)  # a page has thousands of cells: Markup's format takes five times as long
    if not (turned := len(_FROM_RIGHT.findall(said))):
        return said
    if len(_FROM_LEFT.findall(str(text))) > turned:
        return _isolate_names(str(text))
    return Markup(f"<bdi>{said}</bdi>")


def _isolate_names(text: str) -> Markup:
    """Return a sentence of ours for a page; names of right to left in it stand apart, and turn no others round.

    >>> _isolate_names("\u05d0 \u05d1: 5 < 6")
    Markup('<bdi>\u05d0 \u05d1</bdi>: 5 &lt; 6')
    """
    return Markup(_NAMES_FROM_RIGHT.sub(r"<bdi>\g<0></bdi>", str(escape(text))))


def _link_names(text: str, links: Mapping[str, str]) -> Markup:
    """Return a sentence as `_isolate_names` does, in which names lead to their addresses.

    >>> _link_names("gold: wd:Q64 or wd:Q6", {"wd:Q6": "/six", "wd:Q64": "/all"})
    Markup('gold: <a href="/all" rel="noreferrer">wd:Q64</a> or <a href="/six" rel="noreferrer">wd:Q6</a>')
    """
    if not links:
        return _isolate_names(text)
    longest = "|".join(re.escape(name) for name in sorted(links, key=lambda name: (-len(name), name)))
    said, at = Markup(), 0
    for found in re.finditer(rf"(?<!\w)(?:{longest})(?!\w)", text):
        link = Markup('<a href="{}" rel="noreferrer">{}</a>').format(links[found[0]], _isolate(found[0]))
        said, at = said + _isolate_names(text[at : found.start()]) + link, found.end()
    return said + _isolate_names(text[at:])


def _digest(text: str) -> str:
    """Return what a content security policy calls a script or style by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _widths(table: Table) -> dict[str, str]:
    """Return for each column the class of its cells: `number`, `name` of what stays in one line, `long` of prose."""
    texts = table.frame.select(pl.col(pl.String).str.len_chars().max())
    longest = {name: texts[name][0] or 0 for name in texts.columns}
    kinds = {name: "name" if length <= _NAME else "long" if length > _PROSE else "" for name, length in longest.items()}
    kinds |= {name: "long" for name in kinds if name == "sentence"}  # as wide on every page, however short they are
    return kinds | dict.fromkeys(table.frame.select(selectors.numeric()).columns, "number")


def _heat(table: Table) -> dict[str, list[str]]:
    """Return for each column of `heat` the class of each row's cell: `heat-0` to `heat-4`, by rank in the column.

    Equal values share the lowest rank, so that many zeros stay without colour.
    """
    of = table.heat if isinstance(table.heat, Mapping) else {name: name for name in table.heat}
    ranks = table.frame.select(
        pl.when(pl.col(by).is_null()).then(pl.lit("")).otherwise(
            pl.lit("heat-")
            + ((pl.col(by).rank("min") - 0.5) / pl.col(by).count() * 5).floor().cast(pl.Int8).cast(pl.String)
        ).alias(name)
        for name, by in of.items()
        if name in table.frame.columns and table.frame[by].dtype.is_numeric()
    )  # fmt: skip
    return ranks.to_dict(as_series=False)


def render_page(page: Page, view: View, query: str) -> str:
    """Return a page as HTML; `query` are the parameters of its address, for its exports and what is shown of tables."""
    suffix = f"?{query}" if query else ""
    exports = [(f"/{view.name}.{form}{suffix}", form) for form in _DATA] if page.tables else []
    template = _environment().get_template("page.html")
    parameters = dict(parse_qsl(query))
    around = {"here": "/" + view.name, "exports": exports, "rows": _ROWS}
    return template.render(page=arrange(page, parameters), shown=_Shown(view.name, parameters), **around)


class _Shown:
    """What a page has around its tables and figures: the addresses of other rows, orders, columns and files."""

    def __init__(self, view: str, parameters: Mapping[str, str]) -> None:
        self._view = view
        self._parameters = dict(parameters)

    def sorting(self, table: Table, column: str) -> dict[str, str]:
        """Return the state of a column and the address that sorts by it, or turns its order round.

        Texts go from A to Z first, numbers from the largest.
        """
        wanted = f"{table.name}:{column}"
        state = {wanted: "ascending", f"-{wanted}": "descending"}.get(self._parameters.get("sort", ""), "")
        first = f"-{wanted}" if table.frame.schema[column].is_numeric() else wanted
        other = wanted if first != wanted else f"-{wanted}"
        already = state == ("descending" if first != wanted else "ascending")
        return {"state": state, "href": self._turn(sort=other if already else first)}

    def _turn(self, **changed: str) -> str:
        return address(self._view, **{**self._parameters, **changed})

    def columns(self, table: Table) -> list[str]:
        """Return the columns that are shown of a table: those that the address names, by default all but the unseen."""
        every = [name for name in table.frame.columns if name not in table.within]
        asked = self._parameters.get("columns", "").split(",") if self._parameters.get("table") == table.name else []
        return [name for name in every if name in asked] or [name for name in every if name not in table.unseen]

    def paging(self, table: Table) -> dict[str, object]:
        """Return the first row that is shown of a table, and the addresses of the rows before and after."""
        name, _, said = self._parameters.get("at", "").rpartition(":")
        start = int(said) if name == table.name and re.fullmatch("[0-9]{1,9}", said) else 0
        start = min(start, max(0, table.frame.height - 1)) // _ROWS * _ROWS
        places = {"earlier": start - _ROWS, "later": start + _ROWS}
        turned = {
            way: self._turn(at=f"{table.name}:{row}") for way, row in places.items() if 0 <= row < table.frame.height
        }
        return {"start": start, "turned": turned}

    def opening(self, block: Table | Drawing) -> str:
        """Return the address that shows a folded block, nothing where it is shown."""
        opened = self._parameters.get("open", "").split(",")
        if not block.folded or block.name in opened:
            return ""
        return self._turn(open=",".join(filter(None, [*opened, block.name]))) + f"#{block.name.replace(' ', '-')}"

    def tools(self, table: Table) -> dict[str, object]:
        """Return what the forms of a table need: the parameters that stay beside theirs, and the table as data."""
        own = f"rows.{table.name}"
        kept = {name: value for name, value in self._parameters.items() if name not in ("table", "columns", "at")}
        chosen = {name: self._parameters[name] for name in ("table", "columns") if name in self._parameters}
        columns = chosen.get("columns", "") if chosen.get("table") == table.name else ""
        # Beside what people call things stand the identifiers, which data keep.
        whole = [part for name in filter(None, columns.split(",")) for part in self._with_identifier(table, name)]
        as_data = {**kept, "table": table.name, "columns": ",".join(whole)}
        files = {form: address(f"{self._view}.{form}", **as_data) for form in _DATA}
        of_filter = {name: value for name, value in (kept | chosen).items() if name != own}
        text = self._parameters.get(own, "")
        return {"name": own, "text": text, "of_filter": of_filter, "of_columns": kept, "exports": files}

    def _with_identifier(self, table: Table, name: str) -> list[str]:
        return [table.small[name], name] if name == "called" and name in table.small else [name]

    def files(self, name: str, drawn: str) -> dict[str, str]:
        """Return the addresses of the files of a figure by what they are called: of SVG one for each of its sheets."""
        sheets = drawn.count("<svg ")
        made = {f"SVG {nth + 1}" if sheets > 1 else "SVG": ("svg", {"sheet": str(nth + 1)}) for nth in range(sheets)}
        if can_draw():
            made |= {"PDF": ("pdf", {}), "PDF as wide as a column": ("pdf", {"width": "column"})}
        plain = {key: value for key, value in self._parameters.items() if key not in ("figure", "width", "sheet")}
        return {
            words: address(f"{self._view}.{form}", **{**plain, "figure": name, **more})
            for words, (form, more) in made.items()
        }


class ShownInFile:
    """What a file has around its tables and figures: nothing that needs a server, but the `files` of figures, if any.

    These are the addresses of the files of a figure by what they are called, by the name of the figure.
    """

    def __init__(self, files: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._files = files or {}

    def sorting(self, table: Table, column: str) -> dict[str, str]:
        """Return that nothing sorts."""
        return {"state": "", "href": ""}

    def columns(self, table: Table) -> list[str]:
        """Return all columns that are not within others, nor in data alone."""
        return [name for name in table.frame.columns if name not in {*table.within, *table.unseen}]

    def paging(self, table: Table) -> dict[str, object]:
        """Return that the first rows are shown, and no others."""
        return {"start": 0, "turned": {}}

    def opening(self, block: Table | Drawing) -> str:
        """Return that nothing is folded."""
        return ""

    def tools(self, table: Table) -> dict[str, object]:
        """Return that a table has no forms."""
        return {}

    def files(self, name: str, drawn: str) -> Mapping[str, str]:
        """Return the addresses of the files of a figure."""
        return self._files.get(name, {})


def arrange(page: Page, parameters: Mapping[str, str]) -> Page:
    """Return the page with the rows of tables that contain what `rows.TABLE` says, in the order of `sort`.

    `sort` is `TABLE:COLUMN`, after a hyphen downwards; rows stay apart by what groups them.
    """
    table, _, column = parameters.get("sort", "").removeprefix("-").partition(":")
    down = parameters.get("sort", "").startswith("-")

    def turn(block: Shown) -> Shown:
        """Return the block, of a table with the rows that the address asks for, in the order that it asks for."""
        if not isinstance(block, Table):
            return block
        frame = block.frame
        if text := parameters.get(f"rows.{block.name}", "").strip().lower():
            frame = _filter(frame, text)
        if block.name == table and column in frame.columns and not frame.schema[column].is_nested():
            groups = [block.groups] if block.groups and block.groups != column else []
            frame = _sort(frame, column, groups, down=down)
        return block if frame is block.frame else replace(block, frame=frame)

    return replace(page, blocks=[turn(one) for one in page.blocks], beside=[turn(one) for one in page.beside])


def _filter(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    """Return the rows of which a value contains a text, in letters of either case."""
    plain = [name for name, kind in frame.schema.items() if not kind.is_nested()]
    said = (
        pl.col(name).cast(pl.String, strict=False).str.to_lowercase().str.contains(text, literal=True) for name in plain
    )
    return frame.filter(pl.any_horizontal(one.fill_null(False) for one in said)) if plain else frame


def _sort(frame: pl.DataFrame, column: str, groups: Sequence[str], *, down: bool) -> pl.DataFrame:
    """Return the rows in the order of a column, within groups in the order in which these come."""
    numbered = frame.with_row_index("place of row")
    first = [pl.col("place of row").min().over(name) for name in groups]
    options = {"nulls_last": True, "maintain_order": True}
    return numbered.sort([*first, column], descending=[*(False for _ in groups), down], **options).drop("place of row")


def render_file(
    title: str, pages: Sequence[Page] | Mapping[str, Sequence[Page]], further: Sequence[tuple[str, str]] = ()
) -> str:
    """Return pages as one file of HTML with its style and script in it, and without addresses that need a server.

    Pages may stand in chapters, by their names. `further` are titles of other files that were made so, and what
    `sections_of` reads of them; they come last, a chapter each.
    """
    chapters = pages if isinstance(pages, Mapping) else {"": pages}
    numbers = itertools.count(1)
    numbered = {name: {f"page-{next(numbers)}": page for page in own} for name, own in chapters.items() if own}
    template = _environment().get_template("report.html")
    return template.render(
        title=title,
        chapters=numbered,
        further=[(name, text, re.findall(_SECTION, text)) for name, text in further],
        style=_assets(".css"),
        script=_assets(".js"),
        rows=_ROWS,
        version=__version__,
        shown=ShownInFile(),
    )


_SECTION = r'<section id="([^"]+)"><h1[^>]*>(.*?)</h1>'


def sections_of(text: str, name: str) -> str:
    """Return the sections of a file that `render_file` made, to stand in another: its ids begin with `name`.

    >>> sections_of(render_file("One", [Page("A", [])]), "other").strip()[:34]
    '<section id="other-page-1"><h1 dir'
    """
    main = text.partition('<main class="report">')[2].partition("</main>")[0]
    named = re.sub(r'((?: id| aria-labelledby)=")([^"]*)', lambda found: found[1] + _rename(found[2], name), main)
    return named.replace('="url(#', f'="url(#{name}-')


def _rename(ids: str, name: str) -> str:
    return " ".join(f"{name}-{one}" for one in ids.split())


def prepare() -> None:
    """Have the views and templates of all pages at hand, which the first page would wait for."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


def routes(work: Explored, within: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext) -> list[Route]:
    """Return a route for each view, for its tables as data and its downloads, and for the style and the scripts.

    Each page is made `within` a block, for who wants to know when.
    """
    made = [
        Route("/style.css", _send(partial(_assets, ".css"), "text/css")),
        Route("/script.js", _send(partial(_assets, ".js"), "text/javascript")),
        Route("/codemirror.js", _send(_component, "text/javascript")),
    ]
    quick, long = asyncio.Semaphore(_TURNS), asyncio.Semaphore(_TURNS)
    for view in VIEWS:
        turns = long if view.runs_queries else quick
        made.append(_PageRoute(f"/{view.name}", _answer(work, turns, within, view), methods=["GET"]))
        for form in dict.fromkeys((*_DATA, *_FIGURES, *view.downloads)):
            made.append(Route(f"/{view.name}.{form}", _answer(work, turns, within, view, form), methods=["GET"]))
    return [*made, _LastRoute("/{place:path}", partial(_tell_unknown, work), methods=["GET"])]


class _PageRoute(Route):
    """Tells a client that asks by another method as a page does, with what leads on."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        said = f"Pages are asked for by GET, and this was {scope['method']}: nothing is changed through them."
        known = ", ".join(sorted(self.methods or ()))
        await _tell_wrong("Not possible", said, 405, {"Allow": known})(scope, receive, send)


class _LastRoute(Route):
    """Takes what no other route takes, were it but by another method, of which that one says which it has."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
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
    parameters = _join(http.query_params.multi_items())
    try:
        if bounds.stop.is_set():
            raise Stopped(STOPPED)
        with limit_queries(bounds), work.store.hold_state():  # which is read once for all of a page
            if form in view.downloads:
                for misnamed in _find_misnamed(work, view, parameters).values():
                    raise misnamed
                return _offer(view.downloads[form](work, parameters))
            page = view.show(work, parameters)
        unknown = _find_misnamed(work, view, parameters)
        page = replace(page, dropped=[*unknown.values(), *page.dropped, *_list_unfit(page, parameters)])
        if form and (refused := next(filter(None, (page.error, *page.faults, *page.dropped)), None)) is not None:
            raise refused
        if form and page.refresh:
            seconds = "a second" if page.refresh == 1 else f"{page.refresh} seconds"
            return _put_off(f"this is still being computed: ask again in {seconds}", page.refresh)
        if form and page.missing:
            said = "this is not whole, and will be tried again: leave out what is missing, or ask again in ten minutes"
            return _put_off("\n".join([said, *page.missing]), int(AGAIN))
        if form in _FIGURES:
            return _draw(page, form, parameters)
        if form:
            return _data(arrange(page, parameters), form, parameters, view.name)
        status = 200 if page.error is None else _status(page.error)
        headers = {**HEADERS, "Refresh": str(page.refresh)} if page.refresh else HEADERS
        known = {name: value for name, value in parameters.items() if name not in unknown}
        return Response(render_page(page, view, urlencode(known)), status, headers, "text/html")
    except Error as error:
        status, line = _status(error), str(error)
        if not form:
            with limit_queries(bounds):
                found, left, status = _do_without(work, view, parameters, error)
            return Response(render_page(found, view, urlencode(left)), status, HEADERS, "text/html")
    except Exception as error:
        log_defect(error)
        status, line = 500, "this page could not be made, which is a defect of remix"
    if form:
        return PlainTextResponse(f"{line}\n", status, headers=HEADERS)
    return _tell_wrong("Not possible", line, status)


def _do_without(
    work: Explored, view: View, parameters: Mapping[str, str], error: Error
) -> tuple[Page, Mapping[str, str], int]:
    """Return the page without the choices that are wrong, which it says, what is left of its address, and the status.

    That is 404 where the subject of the view is missing. Where there is no page without what is wrong, it has the
    error, the nearest subjects and the form of the view as it is at first.
    """
    left, wrong, dropped = dict(parameters), error, list[Error]()
    missing = _find_subject(view, parameters, error)
    while not missing and _is_choice(wrong) and left and len(dropped) < _TRIES:
        dropped.append(wrong)
        named = _leave_out_named(left, str(getattr(wrong, "name", "")))
        for fewer in [named] if named is not None else _leave_out_one(left):
            left = fewer
            try:
                page = view.show(work, left)
            except Error as again:
                wrong = again
                continue
            status = 404 if any(parameters.get(name) != left.get(name) for name in view.subject) else 200
            unknown = _find_misnamed(work, view, left)
            told = [*unknown.values(), *dropped, *page.dropped, *_list_unfit(page, left)]
            known = {name: value for name, value in left.items() if name not in unknown}
            return replace(page, dropped=told), known, status
        if named is None:
            break
    shown: list[Shown] = []
    # What the page is about that is there stays in the form.
    before = view.subject[: view.subject.index(missing)] if missing else ()
    about = {name: parameters[name] for name in before if parameters.get(name)}
    with contextlib.suppress(Error):
        shown = [block for block in view.show(work, about or view.example(work)).blocks if isinstance(block, Form)]
    title = "Not found" if _status(error) == 404 else "Not possible"
    near = dict[str, str]()
    if view.subject and isinstance(error, UnknownName) and (missing or not error.name):
        kept = parameters if missing else {}
        near = {one: address(view.name, **{**kept, missing or view.subject[0]: one}) for one in error.alike}
    begin = Note("", links={f"{view.title}, from the beginning": f"/{view.name}"} if view.menu else {})
    lead = [Note("There is:", links=near)] if near else []
    return Page(title, [Note(str(error)), *lead, *shown, begin]), {}, _status(error)


def _find_subject(view: View, parameters: Mapping[str, str], error: Error) -> str:
    """Return the parameter of what a page is about that the error says is unknown, for which nothing else stands."""
    said = error.name if isinstance(error, UnknownName) else ""
    return next((name for name in view.subject if said and parameters.get(name) == said), "")


def _is_choice(error: Error) -> bool:
    """Return whether an error is of something that was chosen, without which there may be a page."""
    return isinstance(error, UsageError) and not isinstance(error, QueryError | Timeout | Stopped)


def _leave_out_named(parameters: Mapping[str, str], named: str) -> dict[str, str] | None:
    """Return parameters without the value that is named, of a list without this one; None where none has it."""
    for name, said in parameters.items():
        if named and named in (values := said.split(",")):
            rest = ",".join(value for value in values if value != named)
            return {one: value for one, value in {**parameters, name: rest}.items() if value or one != name}
    return None


def _leave_out_one(parameters: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give parameters without what may be wrong where no error names it: without one, the last first, without any."""
    for gone in [*reversed(list(parameters))][:_TRIES]:
        yield {name: said for name, said in parameters.items() if name != gone}
    yield {}


_OF_TABLES = ("sort", "at", "open", "table", "columns", "figure", "width", "sheet")
"""What an address of any view may say of its tables and figures, beside `rows.TABLE`."""
_OF_OTHERS = r"utm_|(fbclid|gclid|msclkid)$"
"""How names begin that others put behind an address that they lead to, which mean nothing here."""


def _find_misnamed(work: Explored, view: View, parameters: Mapping[str, str]) -> dict[str, WrongAddress]:
    """Return what is said of names in an address that the view does not know, such as a misspelt filter, by name."""
    if view.parameters is None:
        return {}
    every = [*view.parameters, *_OF_TABLES, *view.further(work, parameters)]
    return {
        name: WrongAddress(f"{view.title} has no parameter '{name}'{_find_nearest(name, every, view.parameters)}")
        for name, value in parameters.items()
        if value and name not in every and not name.startswith("rows.") and not re.match(_OF_OTHERS, name)
    }


def _find_nearest(name: str, every: Sequence[str], first: Sequence[str]) -> str:
    """Return a hint at the nearest of all names; where none is near, at those that come `first`."""
    near = nearest(name, every)
    return near if near.endswith("?") else nearest(name, first)


def _list_unfit(page: Page, parameters: Mapping[str, str]) -> Iterator[UsageError]:
    """Give what is wrong in that which an address says of tables: their order, columns, rows and what is opened."""
    if page.error is not None or page.refresh or page.faults:  # then there are fewer tables than there will be
        return
    tables = page.tables
    names = {block.name for block in (*page.blocks, *page.beside) if isinstance(block, Table | Drawing)}
    for key, chosen in (("sort", parameters.get("sort", "").removeprefix("-")), ("at", parameters.get("at", ""))):
        name, _, said = chosen.partition(":")
        if chosen and name not in tables:
            yield UnknownName("table of this page", name, tables)
        elif key == "sort" and chosen and said not in tables[name].columns:
            yield UnknownName(f"column of {name}", said, tables[name].columns)
        elif chosen and key == "at" and not (re.fullmatch("[0-9]{1,9}", said) and int(said) <= tables[name].height):
            yield UsageError(f"no row {said} in {name}, which has {tables[name].height}")
    for said in filter(None, parameters.get("open", "").split(",")):
        if said not in names:
            yield UnknownName("table or figure of this page", said, names)
    chosen = parameters.get("table", "")
    if chosen and chosen not in tables:
        yield UnknownName("table", chosen, tables)
    known = {name for table in ([tables[chosen]] if chosen in tables else tables.values()) for name in table.columns}
    for said in filter(None, parameters.get("columns", "").split(",") if tables else ()):
        if said not in known:
            yield UnknownName(f"column of the table{f' {chosen}' if chosen else ''}", said, known)
    for said in (name.removeprefix("rows.") for name in parameters if name.startswith("rows.")):
        if said not in tables:
            yield UnknownName("table of this page", said, tables)


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


def _status(error: Error) -> int:
    if isinstance(error, QueryError | Timeout | Stopped):
        return status_of(error)
    return 404 if isinstance(error, UnknownName | UsageError) and not isinstance(error, WrongValue) else 400


def _join(items: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name; what a form's several boxes say is one value, apart by commas."""
    joined: dict[str, str] = {}
    for name, value in items:
        joined[name] = f"{joined[name]},{value}" if joined.get(name) and value else joined.get(name, "") or value
    return joined


def _offer(download: Download) -> Response:
    """Return a file to save; of its name only what is safe in a header is kept."""
    file = re.sub(r"[^A-Za-z0-9._-]+", "-", download.file).strip("-.") or "remix"
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{file}"'}
    return Response(download.content, media_type=download.media_type, headers=headers)


def _draw(page: Page, form: str, parameters: Mapping[str, str]) -> Response:
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
    return Response(sheets[int(nth) - 1], media_type=_FIGURES[form], headers=HEADERS)


def _data(page: Page, form: str, parameters: Mapping[str, str], place: str) -> Response:
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
        frame = _name_for_paper(table)
    elif columns and how is not None and form == "md":
        called = how.columns if isinstance(how.columns, Mapping) else {}
        how = replace(how, columns={name: called.get(name, name) for name in columns})
    elif columns:
        frame, how = frame.select(*dict.fromkeys(columns)), None
    content = io.BytesIO()
    tables.write(frame, {"tex": "latex"}.get(form, form), content, typesetting=how)
    # Whoever reads a paper's source finds where its table comes from.
    told = f"% {address(place, **parameters)}\n% remix {__version__}\n" if form == "tex" else ""
    return Response(told.encode() + content.getvalue(), media_type=_DATA[form], headers=HEADERS)


def _name_for_paper(table: Table) -> pl.DataFrame:
    """Return the rows of a table with entities and documents called as the page calls them."""
    texts = [name for name, kind in table.frame.schema.items() if kind == pl.String]
    called = {name: name_document if name in table.documents else _shorten_iris for name in texts}
    return table.frame.with_columns(
        pl.col(name).map_elements(call, return_dtype=pl.String) for name, call in called.items()
    )


def _shorten_iris(text: str) -> str:
    """Return a text in which IRIs, apart by 'or' and 'and', are short.

    >>> _shorten_iris("http://dbpedia.org/resource/Ada or NIL"), _shorten_iris("see http://e.org")
    ('dbr:Ada or NIL', 'see http://e.org')
    """
    return rename_entities(text, lambda one: shorten(one) if re.match(_IRI, one) else one)


def _send(text: Callable[[], str], media_type: str) -> Callable[..., object]:
    async def respond(_: HttpRequest) -> Response:
        return Response(text(), media_type=media_type, headers={**HEADERS, "Cache-Control": "max-age=300"})

    return respond
