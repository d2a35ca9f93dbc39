"""Pages: what a view shows, as blocks that become HTML, and as tables that become data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from remix.registry import Registry

if TYPE_CHECKING:
    import polars as pl

    from remix.store import DatasetEntry, Store

__all__ = ["VIEWS", "Form", "Note", "Page", "Passage", "Passages", "Segment", "Table", "View", "Explored", "address"]


class Explored(Protocol):
    """What views ask of a workspace."""

    @property
    def store(self) -> Store:
        """Return the store of the workspace."""

    def datasets(self) -> list[DatasetEntry]:
        """Return the datasets that are loaded."""

    def stats(self, datasets: Sequence[str] = ()) -> Any:
        """Return the measures of datasets."""

    def evaluate(
        self, datasets: Sequence[str] = (), *, profile: str = "", task: Sequence[str] = (), by: Sequence[str] = ()
    ) -> Any:
        """Return the scores of runs."""


@dataclass(frozen=True)
class Table:
    """Rows under a heading; `links` maps columns to the function that makes an address of a row."""

    name: str
    frame: pl.DataFrame
    links: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    words: str = ""
    kind: str = "table"


@dataclass(frozen=True)
class Segment:
    """A stretch of text; `classes` are how it looks, `label` what is said of it, `href` where it leads."""

    text: str
    classes: str = ""
    label: str = ""
    href: str = ""


@dataclass(frozen=True)
class Passage:
    """A text in segments with a heading and what is said beside it."""

    heading: str
    segments: Sequence[Segment]
    notes: Sequence[str] = ()
    href: str = ""


@dataclass(frozen=True)
class Passages:
    """Texts, one after another."""

    passages: Sequence[Passage]
    kind: str = "passages"


@dataclass(frozen=True)
class Form:
    """Choices that make the address of the page: a name, its label, its values (none for free text), the chosen one."""

    fields: Sequence[tuple[str, str, Sequence[str], str]]
    kind: str = "form"


@dataclass(frozen=True)
class Note:
    """A sentence or two, and commands that do the same or lead on."""

    text: str
    commands: Sequence[str] = ()
    kind: str = "note"


Block = Table | Passages | Form | Note


@dataclass(frozen=True)
class Page:
    """What a view shows: a title and blocks."""

    title: str
    blocks: Sequence[Block]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables of the page by their names: what is exported."""
        return {block.name: block.frame for block in self.blocks if isinstance(block, Table)}


@dataclass(frozen=True)
class View:
    """A page of the explorer at `/NAME`: a pure function of the workspace and of the parameters in the address.

    `menu` is the place in the navigation, 0 for a view that others lead to.
    """

    name: str
    title: str
    show: Callable[[Explored, Mapping[str, str]], Page] = field(compare=False)
    menu: int = 0


VIEWS: Registry[View] = Registry("view", "remix.web.views", View)


def address(view: str, **parameters: object) -> str:
    """Return the address of a view with these parameters; those that are empty are left out.

    >>> address("document", dataset="a b", name="")
    '/document?dataset=a+b'
    """
    given = {name: str(value) for name, value in parameters.items() if value not in (None, "")}
    return f"/{view}?{urlencode(given)}" if given else f"/{view}"
