"""Mentions as plain formats have them, into frames.

A format that is no RDF has a function that makes `MentionTables` of a source, and `reader` of it. The rest is done by
`assemble`: offsets against the text, names, NIL, canonical entities, alternatives on one span. The way back is in
`writing.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import polars as pl

from remix import iris
from remix.dense import distinct
from remix.errors import BadInput
from remix.expressions import fill
from remix.formats.alignment import is_unplaced, place_named, place_of
from remix.formats.format import Contents
from remix.formats.identifiers import annotation_iris, document_iris, group_alternatives, separate_mentions
from remix.formats.losses import CLUSTER
from remix.formats.offsets import check_offsets
from remix.formats.repairs import RepairTally
from remix.formats.source import SourceFile
from remix.frames import Frames
from remix.names import RMX
from remix.rdf.iris import is_absolute, is_legal, legal
from remix.rdf.terms import language_tag
from remix.schemas import fit

TEXTS: dict[str, pl.DataType] = {"name": pl.String(), "text": pl.String()}
DOCUMENTS: dict[str, pl.DataType] = {**TEXTS, "language": pl.String()}
MENTIONS: dict[str, pl.DataType] = {
    "mention": pl.Int64(),
    "place": pl.String(),
    "name": pl.String(),
    "begin": pl.Int64(),
    "end": pl.Int64(),
    "anchor": pl.String(),
    "confidence": pl.Float64(),
    "class": pl.String(),
    "identifier": pl.String(),
    "cluster": pl.String(),
    "part_of": pl.Int64(),
    "ignorable": pl.String(),
    "layer": pl.String(),
    "group": pl.String(),
    "option": pl.String(),
    "reading": pl.String(),
}
"""`mention` is its number in the file, by default that of its row from 0, and `place` what names its line in messages,
by default `line <mention>`; `name` is its document's. `anchor` is what the file says the text is, `cluster` the name of
its entity where that is in no knowledge base, `part_of` the first mention of those that are required together; `group`
and `option` are names within the document, `reading` is that of a text of several, in which forms are looked for."""
LINKS: dict[str, pl.DataType] = {"mention": pl.Int64(), "identifier": pl.String()}
CLASSES: dict[str, pl.DataType] = {"mention": pl.Int64(), "class": pl.String()}
CANDIDATES: dict[str, pl.DataType] = {**LINKS, "score": pl.Float64()}
TOLD: dict[str, pl.DataType] = {
    "mention": pl.Int64(),
    "name": pl.String(),
    "term": pl.String(),
    "number": pl.Float64(),
    "text": pl.String(),
}
"""Values of a mention, or of the document of that name, or of the dataset where neither is told."""

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A finite number as files write it."""

_PREFIXES = {
    "wikidata": "http://www.wikidata.org/entity/",
    "wd": "http://www.wikidata.org/entity/",
    "dbpedia": "http://dbpedia.org/resource/",
    "dbr": "http://dbpedia.org/resource/",
    "wikipedia": "http://dbpedia.org/resource/",
}
_FREEBASE = "http://rdf.freebase.com/ns/"


@dataclass(frozen=True)
class MentionTables:
    """What a plain format has: tables of the columns above (missing ones are null).

    A link (`identifier`) and a class may stand with their mention, or several in `links` (all of them then) and in
    `classes`. Links may have `code`, the same number for the same identifier. `content` is the hash of
    what was read, by default that of the source. With `keep_outside` a mention that lies outside its text is kept
    without its offsets. With `apart` mentions on one span are mentions of their own, without it alternatives.
    """

    documents: pl.DataFrame
    mentions: pl.DataFrame
    links: pl.DataFrame | None = None
    candidates: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CANDIDATES))
    classes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CLASSES))
    values: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TOLD))
    content: str = ""
    keep_outside: bool = False
    apart: bool = False


def reader(tables: Callable[[SourceFile, RepairTally], MentionTables]) -> Callable[[SourceFile, str], Contents]:
    """Return the `read` of a format of which a function makes plain tables, and counts what it mends."""

    def read(source: SourceFile, dataset: str) -> Contents:
        tally = RepairTally()
        return assemble(tables(source, tally), dataset, tally)

    return read


def assemble(read: MentionTables, dataset: str, tally: RepairTally | None = None) -> Contents:
    """Return the frames of the mentions, with IRIs scoped to the dataset.

    Offsets are held against texts and anchors and repaired as in NIF; a mention that lies outside its text is left
    out and reported. A mention without a link, or with one that spells NIL, is NIL.
    """
    tally = tally or RepairTally()
    mentions = fit(read.mentions, MENTIONS).with_columns(pl.coalesce("mention", pl.int_range(pl.len())))
    documents = fit(read.documents, DOCUMENTS).unique("name", keep="first", maintain_order=True)
    documents = documents.with_columns(
        _languages(documents["language"], tally),
        document=document_iris(documents["name"], dataset),
        dataset=pl.lit(dataset),
        given="name",
    )
    tally.add_rows("empty-document", documents.filter(pl.col("text") == ""), "{name}")
    texts = documents.select("name", "document", "text")
    rows = mentions.join(texts, on="name", how="left", maintain_order="left")
    rows = _with_own_group(place_named(rows, tally))
    with ThreadPoolExecutor(1) as other:
        resolving = other.submit(_resolve, mentions if read.links is None else read.links)
        rows = _locate(rows, tally, keep_outside=read.keep_outside)
    rows = rows.with_columns(annotation=annotation_iris(rows.with_columns(given="mention")), dataset=pl.lit(dataset))
    named = rows.select("mention", "annotation")
    links = resolving.result().join(named, on="mention", maintain_order="left")
    if not links["mention"].is_unique().all():
        links = links.unique(["annotation", "entity"], keep="first", maintain_order=True)
    _tell_illegal(pl.concat([links["identifier"], read.classes["class"], rows["class"]]), tally)
    rows = _with_groups(rows).sort("mention")
    rows = separate_mentions(rows) if read.apart else rows
    rows = rows.with_columns(is_nil=~pl.col("mention").is_in(links["mention"].unique().implode()))
    several = fit(read.classes, CLASSES).join(named, on="mention")
    classes = pl.concat(one.select("annotation", "class") for one in (rows, several)).drop_nulls("class")
    frames = Frames.of(
        documents=documents,
        annotations=group_alternatives(rows),
        links=links,
        classes=classes.with_columns(_class_iri()).unique(maintain_order=True) if classes.height else classes,
        candidates=_candidates(read.candidates, named),
        values=_values(rows, read.values, documents, dataset),
    )
    return Contents(frames, tally.repairs(), 0, read.content)


def _candidates(said: pl.DataFrame, named: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates with the annotations that they are of, those that say NIL left out."""
    if said.is_empty():
        return said
    rows = fit(said, CANDIDATES).join(named, on="mention", maintain_order="left")
    rows = rows.with_columns(entity=canonical_entities(rows["identifier"]))
    return rows.filter(~_is_nothing(pl.col("identifier")))


def _values(mentions: pl.DataFrame, told: pl.DataFrame, documents: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """Return the names of clusters and the values that the file tells, with the IRIs of what they are told of.

    Those of mentions that were left out go with them.
    """
    clusters = mentions.filter("is_nil").select("mention", term=pl.lit(CLUSTER), text="cluster").drop_nulls("text")
    rows = pl.concat(fit(one, TOLD) for one in (clusters, told))
    if rows.is_empty():
        return rows
    rows = rows.join(mentions.select("mention", "annotation"), on="mention", how="left", maintain_order="left")
    rows = rows.join(documents.select("name", "document"), on="name", how="left", maintain_order="left")
    whole = pl.when(pl.col("mention").is_null()).then(pl.coalesce("document", pl.lit(dataset)))
    return rows.with_columns(subject=pl.coalesce("annotation", whole)).drop_nulls("subject")


def _languages(languages: pl.Series, tally: RepairTally) -> pl.Series:
    """Return the tags of the languages (BCP 47); what is none is counted and left out."""
    if languages.null_count() == len(languages):
        return languages
    told = languages.to_frame("said").with_columns(language=language_tag(pl.col("said")))
    none = told.filter((pl.col("language") != pl.col("said")) | (pl.col("language").is_null() & (pl.col("said") != "")))
    tally.add_rows("language", none, "'{said}' is no tag of a language")
    return told["language"]


def _tell_illegal(iris: pl.Series, tally: RepairTally) -> None:
    """Count the IRIs that are mended where they are compared and written."""
    told = iris.drop_nulls().to_frame("iri").select(pl.col("iri").str.strip_chars())
    wrong = told.filter(~is_legal(pl.col("iri")), is_absolute(pl.col("iri")))
    tally.add_rows("invalid-iri", wrong, "<{iri}>")


def _with_groups(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the groups and options that the file tells as IRIs."""
    if rows.select(pl.all_horizontal(pl.col("part_of", "group", "option").is_null().all())).item():
        return rows
    own = rows.select(first="annotation", part_of="mention")
    return rows.join(own, on="part_of", how="left").with_columns(
        group=pl.coalesce("first", fill("{}#group={}", "document", "group")),
        option=pl.coalesce("first", fill("{}#option={}", "document", "option")),
    )


def _locate(rows: pl.DataFrame, tally: RepairTally, *, keep_outside: bool) -> pl.DataFrame:
    """Return the mentions with right offsets and surface forms, those without a place behind them.

    What was wrong is counted; what lies outside its text goes, or loses its place.
    """
    none = pl.lit(None, pl.Int64)
    unplaced = rows.filter(is_unplaced()).with_columns(surface_form="anchor")
    rows = check_offsets(rows.filter(~is_unplaced()).with_columns(iri_begin=none, iri_end=none)).sort("mention")
    unread = pl.col("text").is_null() & ((pl.col("begin") < 0) | (pl.col("end") < pl.col("begin"))).fill_null(True)
    outside = (pl.col("text").is_not_null() & (pl.col("kind") == "range").fill_null(False)) | unread
    rows = rows.with_columns(
        kind=pl.when(outside).then(pl.lit("range")).when(pl.col("text").is_not_null()).then("kind")
    )
    tally.add_offsets(rows, "name", _example)
    outside = pl.col("kind").eq_missing("range")
    if keep_outside:
        lost = rows.filter(outside).with_columns(begin=none, end=none, surface_form="anchor")
        unplaced = pl.concat([unplaced, _with_own_group(lost)], how="diagonal_relaxed")
        # So they are found where they are written, without offsets.
        told = [f"{place_of(row)}: the offsets are not in the text, and left out" for row in lost.iter_rows(named=True)]
        tally.add("unplaced", "".join(told[:1]), lost.height, told)
    rows = rows.filter(~outside)
    rows = rows.with_columns(surface_form=pl.coalesce("said", "anchor")).drop("said")
    return pl.concat([rows, unplaced], how="diagonal") if unplaced.height else rows


def _with_own_group(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with mentions without a place as no alternatives of each other."""
    own = pl.when(is_unplaced()).then(fill("unplaced-{}", "mention"))
    return rows.with_columns(pl.coalesce(name, own).alias(name) for name in ("group", "option"))


def _example(row: dict[str, object]) -> str:
    place = place_of(row)
    anchor = f"'{row['anchor']}' " if row["anchor"] is not None else ""
    given = f"{row['given_begin']},{row['given_end']}"
    if row["kind"] == "offset":
        return f"{place}: {anchor}{given} is {row['begin']},{row['end']} ({row['reason']})"
    return f"{place}: {anchor}{row['reason'] or 'ends before it begins'} ({given})"


def _resolve(links: pl.DataFrame) -> pl.DataFrame:
    """Return mention, identifier, entity, entity_as_given of the links that are to something."""
    rows = fit(links, LINKS)
    # One entity is linked many times.
    rows = rows.with_columns(code=links["code"] if "code" in links.columns else distinct(rows["identifier"])[1])
    known = rows.filter(pl.col("code").is_first_distinct()).filter(~_is_nothing(pl.col("identifier")))
    known = known.select("code", entity=canonical_entities(known["identifier"]))
    return rows.join(known, on="code", maintain_order="left").with_columns(entity_as_given="identifier").drop("code")


def _is_nothing(identifier: pl.Expr) -> pl.Expr:
    return iris.is_nil(identifier.str.strip_chars()).fill_null(True)


def canonical_entities(identifiers: pl.Series) -> pl.Series:
    """Return the canonical entity of each identifier, which need not be an IRI.

    >>> canonical_entities(pl.Series(["<wd:Q64>", "https://en.wikipedia.org/wiki/Berlin", "E0123"])).to_list()
    ['http://www.wikidata.org/entity/Q64', 'http://dbpedia.org/resource/Berlin', 'E0123']
    """
    if identifiers.dtype == pl.String and identifiers.str.contains("^https?://").all():
        return iris.canonical(identifiers)
    one = pl.col("x").str.strip_chars().str.replace("^<([^<>]+:[^<>]+)>$", "$1")
    prefix = one.str.extract(r"^([A-Za-z]+):[^/]", 1).str.to_lowercase().replace_strict(_PREFIXES, default=None)
    spelt = (
        pl.when(one.str.contains("^Q[0-9]+$"))
        .then(pl.lit(_PREFIXES["wd"]) + one)
        .when(prefix.is_not_null())
        .then(prefix + one.str.replace(r"^[A-Za-z]+:", ""))
        .when(one.str.contains(r"^[mg]\.[0-9a-z_]+$"))
        .then(pl.lit(_FREEBASE) + one)
        .otherwise(one)
    )
    found = pl.DataFrame({"x": identifiers.cast(pl.String)}).select(spelt).to_series()
    return iris.canonical(found).alias(identifiers.name)


def _class_iri() -> pl.Expr:
    name = pl.col("class")
    spelt = pl.when(name.str.contains(r"^[A-Za-z][A-Za-z0-9+.-]*:\S")).then(name).otherwise(pl.lit(RMX) + name)
    return legal(spelt).alias("class")


def whole_number(said: object) -> int | None:
    """Return a whole number or its digits as a number, null for what is none or beyond any text.

    >>> whole_number(3), whole_number(" -12 "), whole_number(True), whole_number("1_0"), whole_number("٣")
    (3, -12, None, None, None)
    """
    if isinstance(said, str):
        said = int(said) if re.fullmatch(r"\s*[+-]?[0-9]{1,15}\s*", said) else None
    if isinstance(said, bool) or not isinstance(said, int):
        return None
    return said if abs(said) < 1 << 53 else None


def numbers_in(fields: Mapping[str, str], names: tuple[str, str], file: object, line: int) -> tuple[int, int]:
    """Return the numbers in two fields, as begin and end or length; raises `BadInput` where one is none."""
    first, second = (whole_number(fields.get(name)) for name in names)
    if first is None or second is None:
        given = " and ".join(f"'{fields.get(name, '')}'" for name in names)
        raise BadInput(file, f"{' and '.join(names)} are numbers, not {given}", line=line)
    return first, second


def number_parts(rows: pl.DataFrame, *of: str) -> pl.DataFrame:
    """Return the rows as mentions with numbers; those that are equal in these columns are parts, required together."""
    numbered = rows.drop("mention", strict=False).with_row_index("mention").cast({"mention": pl.Int64})
    first = pl.col("mention").first().over(of)
    return numbered.with_columns(part_of=pl.when(pl.len().over(of) > 1).then(first))


def answer(mentions: pl.DataFrame, ranked: pl.DataFrame) -> MentionTables:
    """Return mentions whose answer is the first of their candidates; a name that begins with NIL is one of a cluster.

    `ranked` has mention, identifier, score and class of the candidates, of each mention the best first.
    """
    linked, named = ~pl.col("identifier").str.starts_with("NIL"), pl.col("identifier").str.extract("^(NIL.+)$", 1)
    first = ranked.unique("mention", keep="first", maintain_order=True)
    best = first.select(
        *("mention", "class"),
        confidence="score",
        identifier=pl.when(linked).then("identifier"),
        cluster=named,
    )
    return MentionTables(
        documents=mentions.select("name"),
        mentions=mentions.join(best, on="mention", how="left", maintain_order="left"),
        candidates=ranked.filter(linked).filter(pl.len().over("mention") > 1),
    )
