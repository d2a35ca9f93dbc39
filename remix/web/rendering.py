"""Pages as HTML: those of a server, of a file and of a folder of files, by the templates."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from importlib.util import cache_from_source
from pathlib import Path
from urllib.parse import parse_qsl

import polars as pl
import polars.selectors as selectors
from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2 import __version__ as jinja_version
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from remix._version import __version__
from remix.cells import cell
from remix.paper import typeset
from remix.reports.plots import can_draw
from remix.reports.svg import draw
from remix.web.addresses import address
from remix.web.cell_texts import link_names, tell_cell
from remix.web.downloads import DATA
from remix.web.kept_tables import keep_tables
from remix.web.page import VIEWS, Drawing, Page, Shown, Table, View

ROWS = 500
"""Rows of a table in a file, which leads to no others; its data has all."""
ROWS_OF_PAGE = 200
"""Rows of a table on a page of a server, which leads to those before and after."""
_NAME, _PROSE = 40, 80
"""Characters up to which the texts of a column stay in one line, and beyond which they are prose."""
_FEW = 12
"""Rows up to which a table has no filter of its own."""


@lru_cache(maxsize=8)
def read_assets(suffix: str) -> str:
    """Return the files of `assets` with this suffix as one, in the order of their names after that of all pages."""
    found = [one for one in resources.files("remix.web").joinpath("assets").iterdir() if one.name.endswith(suffix)]
    found.sort(key=lambda one: (one.name != f"page{suffix}", one.name))
    return "\n".join(one.read_text(encoding="utf-8") for one in found)


@lru_cache(maxsize=1)
def read_component() -> str:
    """Return the editor that the page of SPARQL alone loads: `scripts/editor` makes it of CodeMirror."""
    return resources.files("remix.web").joinpath("assets", "codemirror", "codemirror.js").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates of all pages, with what they call."""
    # A server that runs keeps its templates where another version is installed in its place, as it keeps its modules.
    made = Environment(
        loader=PackageLoader("remix.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=False,
        auto_reload=False,
        bytecode_cache=_keep_compiled(),
    )
    made.filters["cell"] = lambda value, name: cell(name, value)
    made.filters["told"] = tell_cell
    made.filters["linked"] = link_names
    made.filters["prose"] = lambda text: Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
    menu = [(f"/{one.name}", one.title) for one in sorted(VIEWS, key=lambda one: one.menu) if one.menu]
    made.globals.update(menu=menu, heat=_heat, widths=_widths, draw=draw, typeset=typeset, digest=_digest, few=_FEW)
    return made


class _CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates on disk: what cannot be read is compiled anew, what cannot be written is not kept."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, unless the file is damaged."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # of a damaged file pickle and marshal raise nearly anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the file, unless there is no room for it."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _keep_compiled() -> FileSystemBytecodeCache | None:
    """Return what keeps compiled templates, where Python keeps compiled modules; None where it keeps none.

    Compiling them takes as long as a page, and a server would do so while the first page is waited for.
    """
    folder = Path(cache_from_source(str(Path(__file__).parent / "templates" / "page.py"))).parent
    try:
        if not sys.dont_write_bytecode:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
        return None
    return _CompiledTemplates(str(folder), f"%s.jinja-{jinja_version}.remix-{__version__}")


def prepare() -> None:
    """Have the views and templates of all pages at hand, which the first page would wait for."""
    templates = environment()
    for name in templates.list_templates(extensions=["html"]):
        templates.get_template(name)


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
    exports = [(f"/{view.name}.{form}{suffix}", form) for form in DATA] if page.tables else []
    template = environment().get_template("page.html")
    parameters = dict(parse_qsl(query))
    around = {"here": "/" + view.name, "exports": exports, "rows": ROWS_OF_PAGE}
    shown = _Shown(view.name, parameters, keep_tables(page, parameters))
    return template.render(page=arrange(page, parameters), shown=shown, **around)


class _Shown:
    """What a page has around its tables and figures: the addresses of other rows, orders, columns and files.

    `kept` are the hidden fields by which its form keeps what the address chooses of tables.
    """

    def __init__(self, view: str, parameters: Mapping[str, str], kept: Mapping[str, str]) -> None:
        self.kept = kept
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

    def keep(self, href: str) -> str:
        """Return an address of the same view with the order and columns that are chosen of tables, where it has them.

        >>> kept = {"kept.sort": "errors:begin"}
        >>> _Shown("errors", {}, kept).keep("/errors?type=Place&sort=errors%3Abegin#sentences")
        '/errors?type=Place&kept.sort=errors%3Abegin#sentences'
        """
        place, number, name = href.partition("#")
        view, _, query = place.partition("?")
        if view != f"/{self._view}" or not self.kept:
            return href
        own = {one: said for one, said in parse_qsl(query) if one not in ("sort", "table", "columns")}
        return address(self._view, **own, **self.kept) + number + name

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
        start = min(start, max(0, table.frame.height - 1)) // ROWS_OF_PAGE * ROWS_OF_PAGE
        places = {"earlier": start - ROWS_OF_PAGE, "later": start + ROWS_OF_PAGE}
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
        files = {form: address(f"{self._view}.{form}", **as_data) for form in DATA}
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

    def keep(self, href: str) -> str:
        """Return an address as it is: nothing is chosen of the tables of a file."""
        return href

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
        chosen = block.chosen
        if text := parameters.get(f"rows.{block.name}", "").strip():
            frame = _filter(frame, text.lower())
            chosen = " ".join(filter(None, [chosen, f"Of these the rows with “{text}” alone."]))
        if block.name == table and column in frame.columns and not frame.schema[column].is_nested():
            groups = [block.groups] if block.groups and block.groups != column else []
            frame = _sort(frame, column, groups, down=down)
        return block if frame is block.frame else replace(block, frame=frame, chosen=chosen)

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
    template = environment().get_template("report.html")
    return template.render(
        title=title,
        chapters=numbered,
        further=[(name, text, re.findall(_SECTION, text)) for name, text in further],
        style=read_assets(".css"),
        script=read_assets(".js"),
        rows=ROWS,
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
