"""What an IRI is called across DBpedia, Wikipedia and Wikidata, whether a link is sound, and classes above classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from remix.iris import canonical
from remix.kb.reading import expanded

if TYPE_CHECKING:
    from remix.kb.knowledge import KnowledgeBase

__all__ = ["STATUS", "link_status", "names", "standing_for", "superclasses"]

STATUS = ("canonical", "redirect", "disambiguation", "unknown")
"""What a link may be, from the healthiest to the worst."""

_TESTS = (
    ("disambiguation", "disambiguations", "page"),
    ("redirect", "redirects", "redirect"),
    ("canonical", "entities", "entity"),
    ("canonical", "sameas", "wikidata"),
)
"""Status, part and column that says so; the first that holds counts."""
_DBPEDIA = r"^http://(?:([a-z][a-z-]*)\.)?dbpedia\.org/resource/(.+)$"
_WIKIDATA = r"^http://www\.wikidata\.org/entity/Q([0-9]+)$"


def link_status(kb: KnowledgeBase, iris: pl.Series) -> pl.DataFrame:
    """Return iri and status of each distinct IRI, which is in canonical form.

    A link is a disambiguation page, a redirect, an entity of the knowledge base or a Wikidata item that is the same
    as one ('canonical'), or 'unknown', in this order. After Hachey, Nothman, Radford: Cheap and easy entity
    evaluation, ACL 2014.
    """
    asked = iris.drop_nulls().unique().sort().alias("iri").to_frame()
    found = [
        kb.rows(part, column, asked["iri"], [column]).select(iri=column, place=pl.lit(place, pl.Int8))
        for place, (_, part, column) in enumerate(_TESTS)
    ]
    first = pl.concat(found).group_by("iri").agg(pl.col("place").min())
    status = pl.col("place").replace_strict(dict(enumerate(test[0] for test in _TESTS)), return_dtype=pl.String)
    joined = asked.join(first, on="iri", how="left", maintain_order="left")
    return joined.select("iri", status=status.fill_null("unknown"))


def names(kb: KnowledgeBase, iris: pl.Series) -> pl.DataFrame:
    """Return iri, canonical, status, dbpedia, wikipedia and wikidata, a row for each IRI of the series, in its order.

    The IRIs may be written in any way: of a DBpedia or a Wikipedia of any language, of Wikidata, with http or https,
    percent-encoded, or with a well-known prefix. `canonical` is the entity that the IRI stands for after redirects and
    sameAs links; the three names are its own, null where it has none: the Wikipedia article is the one that the
    DBpedia resource is about, of several Wikidata items the one with the lowest number is taken. `status` is that of
    the IRI as given (see `link_status`). A null is answered with nulls.
    """
    asked = pl.DataFrame({"iri": iris.cast(pl.String)}).with_columns(form=canonical(expanded(iris.cast(pl.String))))
    asked = asked.with_columns(canonical=kb.resolve(asked["form"]))
    status = link_status(kb, asked["form"]).rename({"iri": "form"})
    items = (
        standing_for(kb, asked["canonical"])
        .with_columns(number=pl.col("iri").str.extract(_WIKIDATA).cast(pl.Int64))
        .drop_nulls("number")
        .sort("number")
        .group_by("entity", maintain_order=True)
        .agg(item=pl.col("iri").first())
    )
    entity, language, title = pl.col("canonical"), *(pl.col("canonical").str.extract(_DBPEDIA, n) for n in (1, 2))
    article = pl.format("https://{}.wikipedia.org/wiki/{}", language.fill_null("en"), title)
    return (
        asked.join(status, on="form", how="left", maintain_order="left")
        .join(items, left_on="canonical", right_on="entity", how="left", maintain_order="left")
        .select(
            "iri",
            "canonical",
            "status",
            dbpedia=pl.when(title.is_not_null()).then(entity),
            wikipedia=pl.when(title.is_not_null()).then(article),
            wikidata=pl.when(entity.str.contains(_WIKIDATA)).then(entity).otherwise("item"),
        )
    )


def standing_for(kb: KnowledgeBase, entities: pl.Series) -> pl.DataFrame:
    """Return iri and entity of every IRI that stands for one of the entities, sorted by both."""
    return kb.rows("resolution_by_entity", "entity", entities, ["iri", "entity"]).sort("entity", "iri")


def superclasses(subclasses: pl.LazyFrame, classes: pl.Series) -> pl.DataFrame:
    """Return class and superclass for every class above each of the classes, direct or indirect, sorted.

    `subclasses` has the columns class and parent. A class is never its own superclass, also where the hierarchy
    runs in a circle.

    >>> steps = pl.LazyFrame({"class": ["cat", "mammal", "animal"], "parent": ["mammal", "animal", "mammal"]})
    >>> superclasses(steps, pl.Series(["cat", "animal"])).rows()
    [('animal', 'mammal'), ('cat', 'animal'), ('cat', 'mammal')]
    """
    steps = subclasses.select(superclass="class", parent="parent").unique().collect()
    start = classes.drop_nulls().unique()
    reached = pl.DataFrame({"class": start, "superclass": start})
    frontier = reached
    while frontier.height:
        further = frontier.join(steps, on="superclass").select("class", superclass="parent").unique()
        frontier = further.join(reached, on=["class", "superclass"], how="anti")
        reached = pl.concat([reached, frontier])
    return reached.filter(pl.col("class") != pl.col("superclass")).sort("class", "superclass")
