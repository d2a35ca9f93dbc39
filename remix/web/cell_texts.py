"""What stands in cells of pages: amounts with their units, labels of entities, texts in their own direction."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl
from markupsafe import Markup, escape

from remix.cells import cell
from remix.names import shorten
from remix.reports.sentences import name_document
from remix.runs.judgements import read_entities, rename_entities
from remix.web.page import Table

_IRI = r"https?://\S+$"
"""What is shown short."""
_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]"
_FROM_RIGHT = re.compile(_LETTER)
"""Letters of scripts that are read from right to left."""
_NAMES_FROM_RIGHT = re.compile(f"{_LETTER}+(?:[ '.-]{_LETTER}+)*")
"""Words of such letters, one after another."""
_FROM_LEFT = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]")
"""Letters of the most frequent scripts that are read from left to right."""
_OFFSETS = ("begin", "end")
"""Columns of numbers that are no amounts, whose thousands do not stand apart."""


def tell_cell(value: object, name: str, row: Mapping[str, object], table: Table) -> object:
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
    if not any(one in table.labels or re.match(_IRI, one) for one in read_entities(value)):
        return _tell_text(name, value, table.labels)  # a name such as 'Tom and Jerry'
    return Markup(rename_entities(value, lambda one: str(_tell_text(name, one, table.labels))))


def _tell_text(name: str, text: str, labels: Mapping[str, str]) -> Markup:
    short = shorten(text) if text.startswith("http") and re.match(_IRI, text) else text
    if label := labels.get(text) or labels.get(short):
        return Markup("{} <small>{}</small>").format(isolate(cell(name, label)), isolate(cell(name, short)))
    return isolate(cell(name, short))


def isolate(text: object) -> Markup:
    """Return a text for a page; one that has letters of right to left stands apart, in its own direction.

    Of a text that has more letters of left to right the names of right to left alone do: they turn no list round.

    >>> isolate("a < b"), isolate("\u05d0"), isolate("\u05d0, Ada")
    (Markup('a &lt; b'), Markup('<bdi>\u05d0</bdi>'), Markup('<bdi>\u05d0</bdi>, Ada'))
    """
    said = escape(text)  # a page has thousands of cells: Markup's format takes five times as long
    if said.isascii():
        return said
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


def link_names(text: str, links: Mapping[str, str]) -> Markup:
    """Return a sentence as `_isolate_names` does, in which names lead to their addresses.

    >>> link_names("gold: wd:Q64 or wd:Q6", {"wd:Q6": "/six", "wd:Q64": "/all"})
    Markup('gold: <a href="/all" rel="noreferrer">wd:Q64</a> or <a href="/six" rel="noreferrer">wd:Q6</a>')
    """
    if not links:
        return _isolate_names(text)
    longest = "|".join(re.escape(name) for name in sorted(links, key=lambda name: (-len(name), name)))
    said, at = Markup(), 0
    for found in re.finditer(rf"(?<!\w)(?:{longest})(?!\w)", text):
        link = Markup('<a href="{}" rel="noreferrer">{}</a>').format(links[found[0]], isolate(found[0]))
        said, at = said + _isolate_names(text[at : found.start()]) + link, found.end()
    return said + _isolate_names(text[at:])


def name_for_paper(table: Table) -> pl.DataFrame:
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
