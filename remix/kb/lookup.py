"""What people ask of a knowledge base: the candidates of a name, what is known of an entity."""

from __future__ import annotations

from difflib import get_close_matches

import polars as pl

from remix.errors import UnknownName
from remix.iris import canonical
from remix.kb.knowledge import KnowledgeBase
from remix.kb.reading import expanded
from remix.names import shorten

__all__ = ["lookup"]


def lookup(kb: KnowledgeBase, name: str) -> pl.DataFrame:
    """Return a table on a surface form or an entity.

    For a form its candidates: entity, rank, count, prior, pagerank, segment, types. For an entity, written in full
    or with a prefix, what is known of it: fact and value. Raises `UnknownName` with the nearest known one.
    """
    iri = str(canonical(expanded(pl.Series([name])))[0])
    if pl.select(pl.lit(iri).str.contains(r"^[a-z]+://|^urn:")).item():
        return _entity(kb, name, iri)
    return _form(kb, name)


def _form(kb: KnowledgeBase, form: str) -> pl.DataFrame:
    found = kb.candidates(pl.DataFrame({"form": [form]}))
    if found.is_empty():
        raise UnknownName("surface form", form, _near(kb, "surface_forms", "surface_form", form))
    chosen = pl.col("entity").is_in(found["entity"].implode())
    types = kb.scan("types").filter(chosen).group_by("entity").agg(pl.col("class").unique().sort())
    segments = kb.scan("entities").filter(chosen).select("entity", segment=pl.col("pagerank_segment"))
    return (
        found.lazy()
        .join(segments, on="entity", how="left", maintain_order="left")
        .join(types, on="entity", how="left", maintain_order="left")
        .collect()
        .select(
            pl.col("entity").map_elements(shorten, return_dtype=pl.String),
            "rank",
            "count",
            "prior",
            "pagerank",
            "segment",
            types=pl.col("class").list.eval(pl.element().map_elements(shorten, return_dtype=pl.String)),
        )
    )


def _entity(kb: KnowledgeBase, name: str, iri: str) -> pl.DataFrame:
    entity = str(kb.resolve(pl.Series("entity", [iri]))[0])
    chosen = pl.col("entity") == entity
    known = kb.scan("entities").filter(chosen).collect()
    pages = kb.scan("disambiguations").filter(pl.col("page") == iri).collect()
    if known.is_empty() and pages.is_empty():
        raise UnknownName("entity", shorten(iri), _near(kb, "entities", "entity", iri))
    facts: list[tuple[str, str]] = [("entity", shorten(entity))]
    if entity != iri:
        facts.append((f"{shorten(iri)} stands for", shorten(entity)))
    facts += [("disambiguation page of", shorten(other)) for other in pages["entity"]]
    for column, value in (known.row(0, named=True) if known.height else {}).items():
        if column != "entity" and value is not None:
            facts.append((column.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value)))
    classes = kb.scan("types").filter(chosen).select(pl.col("class").unique().sort()).collect()["class"]
    facts += [("type", shorten(value)) for value in classes]
    others = kb.scan("resolution").filter(chosen).select(pl.col("iri").sort()).collect()["iri"]
    facts += [("also", shorten(other)) for other in others]
    forms = kb.scan("surface_forms").filter(chosen).group_by("surface_form").agg(pl.col("count").sum()).collect()
    for form, count in forms.sort(-pl.col("count").fill_null(0), "surface_form").rows():
        facts.append(("surface form", f"{form} ({count})" if count else str(form)))
    return pl.DataFrame(facts, schema={"fact": pl.String, "value": pl.String}, orient="row")


def _near(kb: KnowledgeBase, part: str, column: str, name: str) -> list[str]:
    """Return known names that are about as long and share most letters: comparing all of them takes too long."""
    letters = sorted(set(name.casefold()) - {" "})
    shared = pl.sum_horizontal(
        pl.col(column).str.to_lowercase().str.contains(letter, literal=True).cast(pl.Int32) for letter in letters
    )
    apart = (pl.col(column).str.len_chars().cast(pl.Int32) - len(name)).abs()
    rows = kb.scan(part).select(column).unique().filter(apart <= 3).sort(apart - 2 * shared, column).head(200)
    names: list[str] = rows.collect()[column].to_list()
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    return [shorten(entity) for entity in close] if part == "entities" else close
