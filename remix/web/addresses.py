"""Addresses of pages: of views with their parameters, of places in a page, and of what pages lead to elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote_plus

from remix.names import PREFIXES
from remix.reports.annotation_list import fields_of_measure

SENTENCES = "sentences"
"""The name of the place where the texts of a page that has facets beside them begin."""


def name_mention(begin: object, end: object, nth: int = 0) -> str:
    """Return the name of the place of a mention in the page of its document, in the text as it stands there again.

    >>> name_mention(0, 3), name_mention(0, 3, nth=1)
    ('mention-0-3', 'mention-0-3-2')
    """
    return f"mention-{begin}-{end}{f'-{nth + 1}' if nth else ''}"


def name_text(nth: object) -> str:
    """Return the name of the place of a text in the page of a list, by its number."""
    return f"text-{nth}"


def split_names(names: str) -> list[str]:
    """Return the names that a parameter has, separated by commas, each once.

    >>> split_names("b,a,,b")
    ['b', 'a']
    """
    return [name for name in dict.fromkeys(names.split(",")) if name]


def address(view: str, /, **parameters: object) -> str:
    """Return the address of a view with these parameters; those that are empty are left out.

    >>> address("document", dataset="a b", name="")
    '/document?dataset=a+b'
    """
    given = "&".join(
        f"{_quote(name)}={_quote(str(value))}" for name, value in parameters.items() if value not in (None, "")
    )
    return f"/{view}?{given}" if given else f"/{view}"


def address_of_entity(entity: object) -> str:
    """Return where an entity is described, by its IRI or short name, an item of Wikidata also by its identifier.

    >>> address_of_entity("Q64"), address_of_entity("dbr:Berlin"), address_of_entity("NIL")
    ('http://www.wikidata.org/entity/Q64', 'http://dbpedia.org/resource/Berlin', '')
    """
    said = str(entity or "")
    if re.fullmatch("Q[1-9][0-9]*", said):
        return f"{PREFIXES['wd']}{said}"
    prefix, _, name = said.partition(":")
    said = PREFIXES[prefix] + name if prefix in PREFIXES else said
    return said if re.fullmatch(r"https?://[^\s<>\"]+", said) else ""


def address_of_measure(dataset: str, measure: str) -> str:
    """Return the address of the annotations that a measure of a dataset is of, of its documents for one of texts.

    >>> address_of_measure("news", "formAcronym"), address_of_measure("news", "density")
    ('/annotations?dataset=news&by=formAcronym&part=true', '/dataset?name=news#documents')
    >>> address_of_measure("news", "notAnnotated")
    '/dataset?name=news&mentions=without#documents'
    """
    told = fields_of_measure(measure)
    if not told and measure.startswith("type"):
        return ""  # another type than persons, organisations and places, or none that is known: no list has these
    if told is None:
        kind = "without" if measure == "notAnnotated" else ""
        return f"{address('dataset', name=dataset, mentions=kind)}#documents"
    return address("annotations", dataset=dataset, **told)


_quote = lru_cache(maxsize=5000)(quote_plus)
"""What addresses are made of: the same few names and values, thousands of times on a page."""
