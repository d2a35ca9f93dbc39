"""Pages: what a view shows, as blocks that become HTML, and as tables that become data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from remix.errors import Error, UsageError
from remix.paper import Typesetting
from remix.registry import Registry
from remix.reports.listings.content import sizes_on_texts
from remix.scoring.inputs.sources import Keeper

if TYPE_CHECKING:
    from remix.remixes import Remix
    from remix.reports.figures import Figure
    from remix.reports.score_cache import Scored
    from remix.store import DatasetEntry
    from remix.store.queries import Query

MICRO_OR_MACRO = "micro pools all annotations, macro averages documents"


class WrongAddress(Error):
    """An address with a name that its page does not know, or with a value that cannot be: no data are at it."""


class WrongValue(UsageError):
    """A value of a parameter that cannot be, among others that can: a page is shown without it alone.

    It is that of the parameter `of`, where several may have such a value.
    """

    def __init__(self, said: str, name: str, of: str = "") -> None:
        super().__init__(said)
        self.name = name
        self.of = of


class Explored(Keeper, Protocol):
    """What views need of a workspace beside what a `Keeper` has: what a server does in its own way."""

    def build(
        self,
        query: Query,
        *,
        name: str | None = None,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        dataset: Sequence[str] = (),
        edition: Sequence[str] = (),
    ) -> Remix:
        """Return the remix that a query selects."""

    def describe_remix(
        self,
        query: Query,
        *,
        name: str | None = None,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        dataset: Sequence[str] = (),
        edition: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Return the manifest of the remix that a query selects, as `build` gives it."""

    def scores(
        self,
        datasets: Sequence[str | Sequence[str]],
        *,
        profile: str,
        task: str,
        match: str,
        by: Sequence[str] = (),
        run: Sequence[str] = (),
    ) -> Scored:
        """Return the scores of runs, by default all, on each of datasets, or several together, as far as computed."""


def list_datasets(work: Explored) -> list[DatasetEntry]:
    """Return the datasets that are loaded, read once for each state of the workspace."""
    return work.store.cached("datasets", work.store.datasets)


def measure_datasets(work: Explored) -> dict[str, dict[str, int]]:
    """Return how large each dataset is on the texts that are there, read once for each state of the workspace."""
    entries = list_datasets(work)
    return work.store.cached("sizes", lambda: {one.name: sizes_on_texts(work.store, one) for one in entries})


class Shown:
    """What pages consist of; each is shown by the template `templates/blocks/KIND.html`."""

    @property
    def kind(self) -> str:
        """Return the name of the template: that of the class."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Table(Shown):
    """Rows under a heading, with `words` on them, and what their links lead to (`leads`), which reports do not say.

    `links` maps columns to the function that makes an address of a row (none where it is empty), `explained` says of
    columns what they are, `heat` names the columns whose cells are coloured by their place among the values of the
    column, or of another that it maps them to. Headers sort the rows. `small` maps columns to those whose cells stand
    in theirs, in small letters, rather than in a column of their own, and `marks` to those whose texts stand behind
    these; as data all are columns. `headings` are what
    columns are called, with what stands small below it, if that is not their name. The rows stay apart by the values of
    the column `groups`, however they are sorted. A `folded` table is shown where the address asks for it (`open`).
    `typesetting` says how a paper has it, and `in_paper` which columns where none are chosen, by default all. Columns
    that are `unseen` are shown where they are asked for; data have them.
    `title` is the heading, by default the name. `below` is said under the rows. `units` of columns, or the column that
    has the unit of each row: a `share` is shown in per cent. `labels` are those of entities, by what stands in cells;
    IRIs are shown short, and names of documents in columns of `documents` by their last part. Data have all as it is.
    `zero` is what stands for 0 in cells of `heat`. Of columns of `scores` people see three decimals, as elsewhere,
    of `differences` the sign, and of those of shares points. A paper says that it is `about` this, not the page, and
    by which choices the rows are those that were `chosen`.
    """

    name: str
    frame: pl.DataFrame
    links: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    words: str = ""
    explained: Mapping[str, str] = field(default_factory=dict)
    heat: Sequence[str] | Mapping[str, str] = ()
    small: Mapping[str, str] = field(default_factory=dict)
    leads: str = ""
    headings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    groups: str = ""
    folded: bool = False
    typesetting: Typesetting | None = None
    in_paper: Sequence[str] = ()
    unseen: Sequence[str] = ()
    title: str = ""
    below: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    documents: Sequence[str] = ()
    zero: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    scores: Sequence[str] = ()
    differences: Sequence[str] = ()
    about: str = ""
    chosen: str = ""

    @property
    def within(self) -> set[str]:
        """Return the columns that stand in the cells of others."""
        return {*self.small.values(), *self.marks.values()}

    def set_for_paper(self, page: str, columns: Sequence[str] = ()) -> Typesetting:
        """Return how a paper has the table: by its `typesetting`, else as the page that is called so shows it.

        `columns` are those chosen; others stand small in their cells as on the page, whose words are the caption.
        """
        every = [one for one in self.frame.columns if one not in self.within and one not in self.unseen]
        shown = columns or self.in_paper or every
        small = {one: beside for one, beside in self.small.items() if one in shown and beside not in shown}
        units = {one: of for one, of in self.units.items() if one not in self.differences}
        how = self.typesetting or Typesetting(intervals=small, units=units)
        if columns or not how.columns:
            names = {one: self.headings.get(one, (one, ""))[0] for one in dict.fromkeys(shown)}
            how = replace(how, columns=names if self.typesetting is None else [*names])
        return replace(how, caption=self.caption(page), label=how.label or f"tab:{self.name}")

    def caption(self, page: str) -> str:
        """Return what a paper says of the table: what it is, in the words of the page that is called so, of what."""
        called, page = self.title or self.name, self.about or page
        title = page if called.lower() == page.lower() else f"{page}: {called}"
        own = self.typesetting.caption if self.typesetting is not None else ""
        return " ".join(filter(None, [*([own] if own else [f"{title}.", self.words.replace("`", "")]), self.chosen]))


class Tiles(Table):
    """A table of few numbers, each shown in large letters over `what` it counts and `which` they are."""


@dataclass(frozen=True)
class Steps(Shown):
    """What is done one after another, under a heading: each in words, with pages that it leads to and commands."""

    name: str
    title: str
    steps: Sequence[Note]


@dataclass(frozen=True)
class Segment:
    """A stretch of text: how it looks, what is said of it, where it leads; one with mentions nested in it has parts.

    `name` is that of its place in the page, to which an address leads.
    """

    text: str
    classes: str = ""
    label: str = ""
    href: str = ""
    parts: Sequence[Segment] = ()
    name: str = ""


@dataclass(frozen=True)
class Passage:
    """A text in segments with a heading and what is said beside it; `facets` are what a report can be filtered by.

    `links` are the addresses of what the notes name, by these names. `name` is that of its place in the page.
    """

    heading: str
    segments: Sequence[Segment]
    notes: Sequence[str] = ()
    href: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True)
class FacetValue:
    """A value of a facet: how many there are, the address with it chosen, or with it no longer chosen.

    `identifier` is what the value is called as data, where people call it otherwise.
    """

    words: str
    number: int
    href: str
    chosen: bool = False
    identifier: str = ""


@dataclass(frozen=True)
class FacetCounts:
    """What a list can be narrowed down by: its name, and its values with how many each would leave.

    Values that are not listed are so many (`left`); `turned` is the address that lists them or, where the facet is
    `unfolded`, the first alone again.
    """

    name: str
    values: Sequence[FacetValue]
    left: int = 0
    turned: str = ""
    unfolded: bool = False


@dataclass(frozen=True)
class Facets(Shown):
    """What the list below can be narrowed down by."""

    facets: Sequence[FacetCounts]


@dataclass(frozen=True)
class Legend(Shown):
    """What the looks of segments mean: an example of each with its label beside it."""

    text: str
    segments: Sequence[Segment]


@dataclass(frozen=True)
class Passages(Shown):
    """Texts, one after another, with facets beside them; the keys n and p lead from one text to the next.

    Those that are `paired` stand side by side, where there is room. Long ones are `boxed`: they scroll by themselves,
    so that what stands behind them is near. The `legend` of their marks stays in view above them.
    """

    passages: Sequence[Passage]
    facets: Sequence[FacetCounts] = ()
    paired: bool = False
    boxed: bool = False
    legend: Legend | None = None


@dataclass(frozen=True)
class Drawing(Shown):
    """A figure under a heading (`title`, by default its name), drawn as SVG; in a report its points lead nowhere.

    `words` are on it, and `leads` says what its points lead to, which reports do not say. A `folded` figure is shown
    where the address asks for it (`open`), and in a report.
    """

    name: str
    figure: Figure
    words: str = ""
    folded: bool = False
    title: str = ""
    leads: str = ""


@dataclass(frozen=True)
class Typeset(Shown):
    """A table as a paper has it, under a heading, with `words` on it and `notes` below it."""

    name: str
    frame: pl.DataFrame
    how: Typesetting
    words: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Code(Shown):
    """Text of another language, as it is, with addresses to download it."""

    name: str
    text: str
    downloads: Mapping[str, str] = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class Note(Shown):
    """A sentence or two, commands that do the same or lead on, and links by what they are called."""

    text: str
    commands: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)


NOTHING = Note("Nothing is loaded yet.", ["remix load FILE", "remix fetch NAME"], {"What to do first": "/start"})
"""What a page says of a workspace without datasets."""


def tell_missing(work: Explored) -> list[Note]:
    """Return what pages of measures lack in this workspace, each with the commands that get it."""
    entries, notes = list_datasets(work), []
    if work.kb is None:
        said = "No knowledge base is attached: readings of names, prominence and types are not known."
        notes.append(Note(said, ["remix fetch kb NAME", "remix kb build", "remix kb attach FOLDER"]))
    if plain := [entry.name for entry in entries if not entry.enrichment]:
        which = plain[0] if len(plain) == 1 else f"{len(plain)} of {len(entries)} datasets"
        said = f"The measures of {which} are not stored: queries and conditions do not see them."
        notes.append(Note(said, ["remix enrich"]))
    return notes


@dataclass(frozen=True)
class Page:
    """What a view shows: a title, blocks, and blocks that stand beside them.

    A page that is not ready yet is asked for again after `refresh` seconds. `error` is what went wrong with what was
    asked, which a block says; data have it in their place. So it is with what is `missing` of a page, which could be
    made another time: a part of a table is no data. `neighbours` are the addresses of the pages before (`prev`)
    and after it (`next`), to which the arrow keys lead as well, and `turns` is what these are. `dropped` says which
    choices of the address do not fit, without which the page is shown; data are refused for them. So they are for
    `faults`, values that are wrong, which the form of the page says beside the fields: it shows nothing that would be
    counted by them. `data` names the table that the address has as data, by default the first.
    """

    title: str
    blocks: Sequence[Shown]
    beside: Sequence[Shown] = ()
    refresh: int = 0
    error: Error | None = None
    missing: Sequence[str] = ()
    neighbours: Mapping[str, str] = field(default_factory=dict)
    turns: str = "page"
    dropped: Sequence[Error] = ()
    faults: Sequence[WrongAddress] = ()
    data: str = ""

    @property
    def figures(self) -> dict[str, Figure]:
        """Return the figures of the page by their names, which files have."""
        return {block.name: block.figure for block in (*self.blocks, *self.beside) if isinstance(block, Drawing)}

    def find_table(self, name: str) -> Table:
        """Return the table of that name, which is on the page."""
        return next(one for one in (*self.blocks, *self.beside) if isinstance(one, Table) and one.name == name)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables of the page by their names: what is exported."""
        return {block.name: block.frame for block in (*self.blocks, *self.beside) if isinstance(block, Table)}


@dataclass(frozen=True)
class Download:
    """A file that a view makes: its content, media type, and name on the user's disk."""

    content: bytes
    media_type: str
    file: str


Parameters = Mapping[str, str]


@dataclass(frozen=True)
class View:
    """A page of the explorer at `/NAME`: a pure function of the workspace and of the parameters in the address.

    `menu` is the place in the navigation, 0 for a view that others lead to. `subject` names the parameters of what the
    page is about, without which there is none. `example` gives parameters with which the page has something to show.
    `downloads` are the files that are made at `/NAME.SUFFIX`, by suffix. `runs_queries` says that what an address asks
    is a query of any length: such pages wait for each other, and no other page for them. `parameters` are the names
    that an address may have beside those of tables and figures, `further` gives those that depend on the workspace or
    the address: any other name is a mistake, which is said, but for views that name none.
    """

    name: str
    title: str
    show: Callable[[Explored, Parameters], Page] = field(compare=False)
    menu: int = 0
    subject: Sequence[str] = ()
    example: Callable[[Explored], Parameters] = field(default=lambda _: {}, compare=False)
    downloads: Mapping[str, Callable[[Explored, Parameters], Download]] = field(default_factory=dict, compare=False)
    runs_queries: bool = False
    parameters: Sequence[str] | None = None
    further: Callable[[Explored, Parameters], Iterable[str]] = field(default=lambda *_: (), compare=False)


VIEWS: Registry[View] = Registry("view", "remix.web.views", View)
