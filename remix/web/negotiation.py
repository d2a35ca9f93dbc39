"""Content negotiation: which of the formats of a result a client wants most."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["GRAPHS", "SOLUTIONS", "negotiate"]

SOLUTIONS = {
    "json": ("application/sparql-results+json", "application/json"),
    "xml": ("application/sparql-results+xml", "application/xml", "text/xml"),
    "csv": ("text/csv",),
    "tsv": ("text/tab-separated-values",),
}
"""Formats of solutions and booleans, the preferred first, each with its media type and other names for it."""

GRAPHS = {
    "ttl": ("text/turtle", "application/x-turtle"),
    "nt": ("application/n-triples", "text/plain"),
    "rdfxml": ("application/rdf+xml", "application/xml", "text/xml"),
    "jsonld": ("application/ld+json", "application/json"),
}
"""Formats of graphs, the preferred first."""


def negotiate(accept: str, formats: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the format that an Accept header wants most, None where it accepts none; without a header the first.

    >>> negotiate("text/csv;q=0.5, application/sparql-results+xml", SOLUTIONS)
    'xml'
    >>> negotiate("*/*;q=0.1, text/csv;q=0", SOLUTIONS), negotiate("image/png", SOLUTIONS)
    ('json', None)
    """
    ranges = _ranges(accept) or {"*/*": 1.0}
    best: tuple[float, str | None] = (0.0, None)
    for name, media in formats.items():
        weight = max(_weight(one, ranges) for one in media)
        if weight > best[0]:
            best = (weight, name)
    return best[1]


def _ranges(accept: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for item in accept.split(","):
        media, *parameters = (part.strip().lower() for part in item.split(";"))
        if not media:
            continue
        weight = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip() == "q":
                try:
                    weight = min(max(float(value), 0.0), 1.0)
                except ValueError:
                    weight = 0.0
        found[media] = weight
    return found


def _weight(media: str, ranges: Mapping[str, float]) -> float:
    """Return the weight of a media type: that of the most specific range that it is in."""
    for one in (media, f"{media.partition('/')[0]}/*", "*/*"):
        if one in ranges:
            return ranges[one]
    return 0.0
