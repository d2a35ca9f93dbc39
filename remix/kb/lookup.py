"""What people ask of a knowledge base: candidates of a name, an entity, what it is made of, and how much it covers."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames
from remix.iris import canonical, expand
from remix.kb.knowledge import KnowledgeBase
from remix.kb.prominence import SCORES
from remix.names import shorten

SHOWN = 20
"""How many candidates, and how many forms and other IRIs of an entity, are shown by default."""

NEAR = 300_000
"""At most so many names are compared with a misspelt one."""
_SHOWS = "says what the knowledge base holds"
_LAST = "\U0010ffff"
_PROBLEMS = {
    "circular_redirects": "circular redirects",
    "circular_sameas": "circular sameAs links",
    "unknown_link_targets": "unknown link targets",
}
"""What `kb.json` says of the knowledge base as a whole, and what that is called."""


def lookup(kb: KnowledgeBase, name: str, *, limit: int = SHOWN) -> pl.DataFrame:
    """Return a table on a surface form or an entity.

    For a form its first candidates: entity, rank, count, prior, pagerank, segment, types, `tied`, how many share the
    rank, and `of`, how many there are in all. For an entity, written in full or with a prefix, what is known of it:
    fact and value; of its forms and of the IRIs that stand for it the first by count and by name. Raises `UnknownName`
    with the nearest known one.
    """
    iri = str(canonical(expand(pl.Series([name])))[0])
    if pl.select(pl.lit(iri).str.contains(r"^[a-z]+://|^urn:")).item():
        return pl.DataFrame(
            [*_facts(kb, name, iri, limit)], schema={"fact": pl.String, "value": pl.String}, orient="row"
        )
    return list_candidates(kb, name, limit)


def list_candidates(kb: KnowledgeBase, form: str, limit: int = SHOWN) -> pl.DataFrame:
    """Return the first candidates of a surface form, as `lookup` does, also of one that looks like an IRI."""
    found = kb.candidates(pl.DataFrame({"form": [form]}))
    if found.is_empty():
        raise UnknownName("surface form", form, _near_forms(kb, form), "remix kb show", does=_SHOWS)
    shown = found.with_columns(tied=pl.len().over("rank").cast(pl.Int64)).sort("rank", "entity").head(limit)
    types = kb.rows("types", "entity", shown["entity"], ["entity", "class"])
    segments = kb.rows("entities", "entity", shown["entity"], ["entity", "pagerank_segment"])
    classes = types.group_by("entity").agg(pl.col("class").unique().sort())
    for more in (segments, classes):
        shown = shown.join(more, on="entity", how="left", maintain_order="left")
    return shown.select(
        pl.col("entity").map_elements(shorten, return_dtype=pl.String),
        *("rank", "count", "prior", "pagerank"),
        segment="pagerank_segment",
        types=pl.col("class").list.eval(pl.element().map_elements(shorten, return_dtype=pl.String)),
        tied="tied",
        of=pl.lit(found.height, pl.Int64),
    )


def _facts(kb: KnowledgeBase, name: str, iri: str, limit: int) -> Iterator[tuple[str, str]]:
    """Yield what is known of an entity: fact and value."""
    named = kb.names(pl.Series([iri])).row(0, named=True)
    entity, status = named["canonical"], named["status"]
    rows = kb.rows("entities", "entity", pl.Series([entity]))
    if rows.is_empty() and status == "unknown":
        raise UnknownName("entity", shorten(iri), _near_entities(kb, iri), "remix kb show", does=_SHOWS)
    yield "entity", shorten(entity)
    yield "status", status
    if entity != iri:
        yield f"{shorten(iri)} stands for", shorten(entity)
    if status == "disambiguation":
        pages = kb.rows("disambiguations", "page", pl.Series([iri]))
        yield from (("disambiguation page of", shorten(other)) for other in pages["entity"].unique().sort())
    yield from _scores(rows)
    classes = kb.rows("types", "entity", pl.Series([entity]), ["class"])
    yield from (("type", shorten(value)) for value in classes["class"].unique().sort())
    for site in ("dbpedia", "wikipedia", "wikidata"):
        if named[site]:
            yield site, named[site]
    aliases = kb.aliases(pl.Series([entity]))["iri"]
    yield from (("also", shorten(alias)) for alias in aliases.head(limit))
    if len(aliases) > limit:
        yield "also", f"… {len(aliases)} in all"
    yield from _forms(kb, entity, limit)


def _scores(rows: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield what the row of an entity says, if it has one; the places of a score stand on the line of the score."""
    row = rows.row(0, named=True) if rows.height else {}
    apart = {f"{score}_{place}" for score in SCORES for place in ("rank", "percentile", "segment")}
    for column, value in row.items():
        if column in ("entity", "forms") or value is None or column in apart:
            continue
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if column in SCORES:
            rank, percentile, segment = (row[f"{column}_{place}"] for place in ("rank", "percentile", "segment"))
            text = f"{text} (rank {rank}, percentile {percentile:.4g}, {segment})"
        yield column.replace("_", " "), text


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


def sources_of(kb: KnowledgeBase) -> pl.DataFrame:
    """Return a row for each part of a source: source, part, place, date, licence, bytes, rows, problems and hash.

    The place of a file is its folder, where the part is named like the file. `rows` and `problems` are what was read
    and what could not be; the hash is short, `kb.json` has it in full.
    """
    texts = ("source", "part", "place", "date", "licence")
    rows = [
        {
            **{name: str(part.get(name) or "") for name in texts},
            "place": str(part.get("place") or "").removesuffix(f"/{part.get('part')}"),
            "bytes": int(part.get("size") or 0),
            "rows": sum(part.get("rows", {}).values()),
            "problems": sum(problem["count"] for problem in part.get("problems", {}).values()),
            "hash": str(part.get("fingerprint") or "")[:12],
        }
        for part in kb.described.get("sources", [])
    ]
    numbers = dict.fromkeys(("bytes", "rows", "problems"), pl.Int64)
    return pl.DataFrame(rows, schema={**dict.fromkeys(texts, pl.String), **numbers, "hash": pl.String})


def problems_of(kb: KnowledgeBase) -> pl.DataFrame:
    """Return a row for each of the first ten cases of a kind of problem: where, problem, count in all, and the case."""
    read = [
        (part["part"], kind, problem["count"], problem["first"])
        for part in kb.described.get("sources", [])
        for kind, problem in part.get("problems", {}).items()
    ]
    described = kb.described
    circles = {
        f"circular_{part}": [
            " → ".join(map(shorten, [*circle, circle[0]])) for circle in described[f"circles_of_{part}"]
        ]
        for part in ("redirects", "sameas")
    }
    whole = [
        ("knowledge base", problem, found["count"], circles.get(name) or found["first"])
        for name, problem in _PROBLEMS.items()
        if (found := described.get(name)) and found["count"]
    ]
    schema = {"where": pl.String, "problem": pl.String, "count": pl.Int64, "case": pl.String}
    rows = [
        (where, problem, count, shorten(str(case)))
        for where, problem, count, cases in read + whole
        for case in cases or [""]
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def coverage(kb: KnowledgeBase, frames: Frames) -> pl.DataFrame:
    """Return a row for each dataset, sorted by name, with what the knowledge base has of it.

    `annotations`, `forms` and `entities` count what is in the dataset, the last two distinct (entities after redirects
    and sameAs links). The others are shares, null where there is nothing to share: `in_dictionary` of the forms;
    `known`, `typed` and `scored` (with a PageRank) of the entities; `reachable` of the distinct pairs of form and
    entity, whose entity is among the dictionary's candidates of the form; `recall` of the linked annotations, the
    same for an entity of each: no linker that chooses among these candidates finds more. Annotations to ignore are left
    out.
    """
    counted = frames.annotations.filter(pl.col("ignorable").is_null())
    mentions = counted.select("annotation", "dataset", key=kb.normalise(pl.col("surface_form")))
    links = frames.links.select("annotation", "entity").drop_nulls()
    links = links.with_columns(kb.resolve(links["entity"])).join(mentions, on="annotation")
    forms = mentions.select("dataset", "key").drop_nulls().unique()
    entities = links.select("dataset", "entity").unique()
    pairs = links.select("dataset", "key", "entity").drop_nulls().unique()
    found = kb.pairs(forms["key"]).select("key", "entity", reachable=pl.lit(True))
    known = kb.rows("entities", "entity", entities["entity"], ["entity", "pagerank"])
    typed = kb.rows("types", "entity", entities["entity"], ["entity"])

    def share(column: str, there: pl.Series) -> pl.Expr:
        return pl.col(column).is_in(there.implode()).mean()

    height = pl.len().cast(pl.Int64)
    sizes = (
        mentions.group_by("dataset").agg(annotations=height),
        forms.group_by("dataset").agg(forms=height, in_dictionary=share("key", found["key"])),
        entities.group_by("dataset").agg(
            entities=height,
            known=share("entity", known["entity"]),
            typed=share("entity", typed["entity"]),
            scored=share("entity", known.drop_nulls("pagerank")["entity"]),
        ),
        pairs.join(found, on=["key", "entity"], how="left")
        .group_by("dataset")
        .agg(pl.col("reachable").fill_null(False).mean()),
        links.join(found, on=["key", "entity"], how="left")
        .group_by("dataset", "annotation")
        .agg(pl.col("reachable").fill_null(False).any())
        .group_by("dataset")
        .agg(recall=pl.col("reachable").mean()),
    )
    rows = frames.documents.select("dataset").unique()
    for part in sizes:
        rows = rows.join(part, on="dataset", how="left")
    counts = ["annotations", "forms", "entities"]
    shares = ["in_dictionary", "known", "typed", "scored", "reachable", "recall"]
    return rows.select("dataset", pl.col(counts).fill_null(0), *shares).sort("dataset")
