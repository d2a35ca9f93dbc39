"""What people ask of a knowledge base: the candidates of a name, what is known of an entity."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import polars as pl

from remix.errors import UnknownName
from remix.iris import canonical, expand
from remix.kb.knowledge import KnowledgeBase
from remix.names import shorten

__all__ = ["SHOWN", "lookup"]

SHOWN = 20
"""How many candidates, and how many forms and other IRIs of an entity, are shown by default."""

NEAR = 300_000
"""At most so many names are compared with a misspelt one."""
_SHOWS = "says what the knowledge base holds"
_LAST = "\U0010ffff"
_SCORES = ("pagerank", "hits", "hub")


def lookup(kb: KnowledgeBase, name: str, *, limit: int = SHOWN) -> pl.DataFrame:
    """Return a table on a surface form or an entity.

    For a form its first candidates: entity, rank, count, prior, pagerank, segment, types, and `of`, how many there
    are in all. For an entity, written in full or with a prefix, what is known of it: fact and value; of its forms
    and of the IRIs that stand for it the first by count and by name. Raises `UnknownName` with the nearest known one.
    """
    iri = str(canonical(expand(pl.Series([name])))[0])
    if pl.select(pl.lit(iri).str.contains(r"^[a-z]+://|^urn:")).item():
        return pl.DataFrame(
            [*_facts(kb, name, iri, limit)], schema={"fact": pl.String, "value": pl.String}, orient="row"
        )
    return _form(kb, name, limit)


def _form(kb: KnowledgeBase, form: str, limit: int) -> pl.DataFrame:
    found = kb.candidates(pl.DataFrame({"form": [form]}))
    if found.is_empty():
        raise UnknownName("surface form", form, _near_forms(kb, form), "remix kb show", does=_SHOWS)
    shown = found.sort("rank", "entity").head(limit)
    types = kb.rows("types", "entity", shown["entity"], ["entity", "class"])
    segments = kb.rows("entities", "entity", shown["entity"], ["entity", "pagerank_segment"])
    return (
        shown.join(segments, on="entity", how="left", maintain_order="left")
        .join(
            types.group_by("entity").agg(pl.col("class").unique().sort()),
            on="entity",
            how="left",
            maintain_order="left",
        )
        .select(
            pl.col("entity").map_elements(shorten, return_dtype=pl.String),
            "rank",
            "count",
            "prior",
            "pagerank",
            segment="pagerank_segment",
            types=pl.col("class").list.eval(pl.element().map_elements(shorten, return_dtype=pl.String)),
            of=pl.lit(found.height, pl.Int64),
        )
    )


def _facts(kb: KnowledgeBase, name: str, iri: str, limit: int) -> Iterator[tuple[str, str]]:
    """Yield what is known of an entity: fact and value."""
    named = kb.names(pl.Series([iri])).row(0, named=True)
    entity, status = named["canonical"], named["status"]
    known = kb.rows("entities", "entity", pl.Series([entity]))
    if known.is_empty() and status == "unknown":
        raise UnknownName("entity", shorten(iri), _near_entities(kb, iri), "remix kb show", does=_SHOWS)
    yield "entity", shorten(entity)
    yield "status", status
    if entity != iri:
        yield f"{shorten(iri)} stands for", shorten(entity)
    if status == "disambiguation":
        pages = kb.rows("disambiguations", "page", pl.Series([iri]))
        yield from (("disambiguation page of", shorten(other)) for other in pages["entity"].unique().sort())
    yield from _scores(known)
    classes = kb.rows("types", "entity", pl.Series([entity]), ["class"])
    yield from (("type", shorten(value)) for value in classes["class"].unique().sort())
    for site in ("dbpedia", "wikipedia", "wikidata"):
        if named[site]:
            yield site, named[site]
    yield from _others(kb, entity, limit)
    yield from _forms(kb, entity, limit)


def _scores(known: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the columns of an entity's row; the places of a score stand on the line of the score."""
    row = known.row(0, named=True) if known.height else {}
    apart = {f"{score}_{place}" for score in _SCORES for place in ("rank", "percentile", "segment")}
    for column, value in row.items():
        if column in ("entity", "forms") or value is None or column in apart:
            continue
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if column in _SCORES:
            rank, percentile, segment = (row[f"{column}_{place}"] for place in ("rank", "percentile", "segment"))
            text = f"{text} (rank {rank}, percentile {percentile:.4g}, {segment})"
        yield column.replace("_", " "), text


def _others(kb: KnowledgeBase, entity: str, limit: int) -> Iterator[tuple[str, str]]:
    others = kb.aliases(pl.Series([entity]))["iri"]
    yield from (("also", shorten(other)) for other in others.head(limit))
    if len(others) > limit:
        yield "also", f"… {len(others)} in all"


def _forms(kb: KnowledgeBase, entity: str, limit: int) -> Iterator[tuple[str, str]]:
    pairs = kb.pairs_of(pl.Series([entity])).sort(pl.col("count").fill_null(0), "key", descending=[True, False])
    keys = pairs["key"].head(limit)
    # The dictionary is sorted by key: the spellings of the keys are found without reading all of it.
    rows = kb.rows("surface_forms", "key", keys).filter(pl.col("entity") == entity)
    spelt = (
        rows.group_by("surface_form").agg(pl.col("count").sum()).sort("count", "surface_form", descending=[True, False])
    )
    for form, count in spelt.rows():
        yield "surface form", f"{form} ({count})" if count else str(form)
    if pairs.height > limit:
        yield "surface form", f"… {pairs.height} in all"


def _near_forms(kb: KnowledgeBase, form: str) -> list[str]:
    key = pl.DataFrame({"form": [form]}).select(kb.normalise(pl.col("form"))).item()
    part = "surface_forms" if kb.case_sensitive else "dictionary"
    close = _near(kb.scan(part).select(name="key"), "", key)
    spelt = kb.rows("surface_forms", "key", pl.Series(close, dtype=pl.String), ["surface_form"])
    names: list[str] = spelt["surface_form"].unique().sort().to_list()
    return names


def _near_entities(kb: KnowledgeBase, iri: str) -> list[str]:
    start, slash, title = iri.rpartition("/")
    return [shorten(entity) for entity in _near(kb.scan("entities").select(name="entity"), start + slash, title)]


def _near(rows: pl.LazyFrame, start: str, name: str) -> list[str]:
    """Return known names like this one: they begin alike, are about as long and share most letters.

    Looked for are those that share the first four letters, then three, two and one, until some are near: a range of
    a sorted column is found quickly, a comparison with all names is not.
    """
    for shared in (4, 3, 2, 1):
        if shared > len(name):
            continue
        first = start + name[:shared]
        apart = (pl.col("name").str.len_chars().cast(pl.Int32) - len(start) - len(name)).abs()
        alike = rows.filter(pl.col("name").is_between(pl.lit(first), pl.lit(first + _LAST)) & (apart <= 3))
        letters = sorted(set(name) - {" "})
        common = pl.sum_horizontal(
            pl.col("name").str.contains(letter, literal=True).cast(pl.Int32) for letter in letters
        )
        found = alike.head(NEAR).unique().sort(apart - 2 * common, "name").head(100).collect()["name"].to_list()
        close = get_close_matches(start + name, found, n=3, cutoff=0.6)
        if close:
            return close
    return []
