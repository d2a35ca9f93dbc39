"""ELEVANT's JSON Lines, an article a line: benchmarks (`labels`), linked articles (`entity_mentions`) and simple ones.

Offsets are code points, end exclusive. Labels may be nested alternatives: a label is satisfied by itself or by its
children together. Optional and descriptive labels, dates and quantities are neither required nor wrong. Answers are
annotated exhaustively in the evaluation span alone. Titles that are IRIs (as in the KORE50 edition) name the document.

What groups and options cannot say is kept as values: `rmx:nests` (each child that a label lists, which may not be
below it in the tree), `rmx:nestedIn` (its parent), `rmx:required` (it is not optional itself, though what it is nested
in is), `rmx:hyperlink` (a link of the source text stands on the span), `rmx:unmapped` (the identifier is <NO_MAPPING>,
not <NIL>: the entity is known, but not to Wikidata), `rmx:entityName` (what the label calls its entity, where that is
not the text itself), `rmx:noCoreference` (the label says that it is none, whatever its text is), `rmx:beside` (another
label has its span) and `rmx:unanswered` (the identifier of an answer is null, not even <NIL>).

Simple ones have `labels` (gold), or `predictions` (answers) without text, each of the article of its place in the
benchmark, which is named `urn:elevant:article:N` from 0:

    {"text": "Ada met Bob", "title": "…", "labels": [{"start_char": 0, "end_char": 3, "entity_reference": "Q7259"}]}

Source: ELEVANT, simple_jsonl_benchmark_reader.py and simple_jsonl_prediction_reader.py.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import polars as pl

from remix import iris
from remix.errors import BadInput
from remix.expressions import fill
from remix.formats import Contents, Format, SourceFile
from remix.formats.elevant import ARTICLES, SAID, SIMPLE, kind_of, write_articles, write_simple
from remix.formats.identifiers import annotation_iris, document_iris
from remix.formats.json import json_lines, json_text, tell_misspelt
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.definition import format_of
from remix.formats.offsets import cut_spans
from remix.formats.repairs import RepairTally
from remix.frames import CANDIDATES, VALUES, Frames
from remix.names import RMX
from remix.schemas import fit

WD = "http://www.wikidata.org/entity/"
UNMAPPED = "<NO_MAPPING>"
"""The identifier of an entity of another knowledge base that Wikidata does not have."""
UNLINKED = ("DATETIME", "QUANTITY")
"""What ELEVANT has instead of an entity for dates and quantities."""
_DEEPEST, _MOST_WAYS = 50, 10_000
"""How deep labels may be nested, and in how many ways one may be satisfied: ways multiply."""

_LABEL = pl.Struct(
    {
        **dict.fromkeys(("id", "parent"), pl.Int64()),
        **dict.fromkeys(("span", "children"), pl.List(pl.Int64())),
        **dict.fromkeys(("entity_id", "type", "name"), pl.String()),
        **dict.fromkeys(("optional", "desc", "coref"), pl.Boolean()),
    }
)
_MENTION = pl.Struct({"id": pl.String(), "span": pl.List(pl.Int64()), "candidates": pl.List(pl.String())})
_SCHEMA = {
    "id": pl.Int64(),
    "title": pl.String(),
    "text": pl.String(),
    "evaluation_span": pl.List(pl.Int64()),
    "hyperlinks": pl.String(),
    "labels": pl.List(_LABEL),
    "entity_mentions": pl.List(_MENTION),
}

FIELDS = (*_SCHEMA, "linked_entities", *_LABEL.to_schema(), *_MENTION.to_schema())
"""What the fields of an article, a label and a mention are called."""


_ROWS: dict[str, pl.DataType] = {
    **{name: pl.String() for name in ("document", "entity", "ignorable", "type", "group", "option", "name")},
    **{name: pl.Int64() for name in ("line", "begin", "end", "label", "parent")},
    **{name: pl.Boolean() for name in ("coref", "required", "unmapped", "unanswered")},
    "children": pl.List(pl.Int64()),
    "candidates": pl.List(pl.String()),
}
"""What is read of a label or a mention."""


def _read(source: SourceFile, dataset: str) -> Contents:
    tally = RepairTally()
    text = json_text(source.read(), tally)
    tell_misspelt(text, FIELDS, tally)
    articles = _articles(source, text.encode())
    titled = pl.col("title").str.contains("^https?://") & pl.col("title").is_unique()
    named = fill("urn:elevant:article:{}", pl.coalesce("id", pl.col("line").cast(pl.Int64) - 1))
    articles = articles.with_columns(given=pl.when(titled).then("title").otherwise(named), dataset=pl.lit(dataset))
    articles = articles.with_columns(document=document_iris(articles["given"], dataset))
    # Linked articles repeat the labels of the benchmark: answers are what they are for.
    answered = articles["entity_mentions"].null_count() < len(articles) or "linked_articles" in source.name
    rows = _labels(source, articles) if not answered else fit(_list_objects(articles, "entity_mentions", "id"), _ROWS)
    rows = rows.join(articles.select("document", "text"), on="document", maintain_order="left")
    _refuse_outside(source, rows)
    rows = rows.with_columns(surface_form=cut_spans(rows, "document"))
    rows = rows.with_columns(given=pl.concat_str("document", pl.lit("#"), pl.int_range(pl.len()).cast(pl.String)))
    rows = rows.with_columns(annotation=annotation_iris(rows), dataset=pl.lit(dataset), given=pl.lit(None, pl.String))
    links = rows.filter(pl.col("entity").is_not_null()).select("annotation", "entity", entity_as_given="entity")
    candidates = rows.select("annotation", entity="candidates").explode("entity").drop_nulls()
    candidates = candidates.with_columns(entity=iris.canonical(_iri(candidates["entity"]))).drop_nulls()
    values = pl.concat([_nesting(rows), _hyperlinks(rows, articles), *_tell(rows)], how="diagonal")
    frames = Frames.of(
        documents=articles.select("document", "dataset", "text", "given"),
        annotations=rows.with_columns(is_nil=pl.col("entity").is_null()),
        links=links.with_columns(entity=iris.canonical(links["entity"])),
        classes=_classes(rows),
        regions=_regions(articles),
        candidates=candidates,
        values=fit(values.with_columns(subject="annotation", term=pl.lit(RMX) + pl.col("term")), VALUES.types),
    )
    empty = articles.filter(pl.col("text") == "")["document"]
    tally.add("empty-document", "".join(empty[:1]), len(empty), empty.to_list())
    return Contents(frames=frames, repairs=tally.repairs())


def _articles(source: SourceFile, content: bytes) -> pl.DataFrame:
    articles = json_lines(source.name, content, _SCHEMA, "an article")
    if articles["text"].null_count():
        line = int(articles["text"].is_null().arg_max() or 0) + 1
        raise BadInput(source.name, "an article without text", line=line)
    return articles.with_row_index("line", offset=1)


def _list_objects(articles: pl.DataFrame, column: str, identifier: str) -> pl.DataFrame:
    """Return the objects of a list of the articles as rows with document, line, begin, end, entity and unmapped."""
    rows = articles.select("document", "line", one=column).explode("one").drop_nulls("one").unnest("one")
    begin, end = (pl.col("span").list.get(place, null_on_oob=True) for place in (0, 1))
    unmapped = (pl.col(identifier) == UNMAPPED).fill_null(False)
    unanswered = pl.lit(column == "entity_mentions") & pl.col(identifier).is_null()
    return rows.with_columns(
        begin=begin, end=end, entity=_iri(rows[identifier]), unmapped=unmapped, unanswered=unanswered
    )


def _labels(source: SourceFile, articles: pl.DataFrame) -> pl.DataFrame:
    """Return the labels, those that are nested once for each option that they are in."""
    rows = _list_objects(articles, "labels", "entity_id")
    free = pl.col("optional") | pl.col("desc") | pl.col("type").is_in(UNLINKED) | pl.col("entity_id").is_in(UNLINKED)
    free = free.fill_null(False)
    # Some benchmarks leave out the number 0.
    label, ignorable = pl.col("id").fill_null(0), pl.when(free).then(pl.lit("optional"))
    rows = rows.with_columns(label=label, ignorable=ignorable, required=~free)
    plain = rows.filter(pl.col("parent").is_null() & (pl.col("children").list.len().fill_null(0) == 0))
    nested = rows.join(plain.select("document", "label"), on=["document", "label"], how="anti")
    return pl.concat(fit(part, _ROWS) for part in (plain, _alternatives(source, nested)))


def _alternatives(source: SourceFile, rows: pl.DataFrame) -> pl.DataFrame:
    """Return nested labels as groups with options; a label that is in several options stands in each.

    Labels that are nested in each other are in nothing that is not: none of them is required, or wrong to answer.
    """
    taken: list[tuple[int, str | None, str | None, str | None]] = []
    for (document,), article in rows.with_row_index("row").group_by("document", maintain_order=True):
        labels = {row["label"]: row for row in article.iter_rows(named=True)}
        children = defaultdict(list)
        for label, row in labels.items():
            if row["parent"] in labels:
                children[row["parent"]].append(label)
        # Nothing under an optional label is required.
        for label, row in labels.items():
            if any(labels[one]["ignorable"] for one in _upwards(source, label, labels)):
                taken.append((row["row"], None, None, "optional"))
        for root, row in labels.items():
            if row["parent"] not in labels and row["ignorable"] is None:
                group = f"{document}#label={root}"
                for number, option in enumerate(_options(source, root, labels, children)):
                    taken += [(labels[label]["row"], group, f"{group};{number}", None) for label in option]
        in_circle = (label for label in labels if labels[_upwards(source, label, labels)[-1]]["parent"] in labels)
        taken += [
            (labels[label]["row"], None, None, "dropped") for label in in_circle if not labels[label]["ignorable"]
        ]
    schema = {"row": pl.UInt32, "group": pl.String, "option": pl.String, "ignorable": pl.String}
    numbers = pl.DataFrame(taken, schema=schema, orient="row")
    rows = rows.with_row_index("row").drop("ignorable")
    return numbers.join(rows, on="row", maintain_order="left")


def _upwards(source: SourceFile, label: int, labels: dict[int, dict[str, Any]]) -> list[int]:
    """Return the label and those that it is nested in; raises `BadInput` where these are too many."""
    found: list[int] = []
    one = label
    while one in labels and one not in found and len(found) <= _DEEPEST + 1:
        found.append(one)
        one = labels[one]["parent"]
    if len(found) > _DEEPEST + 1:
        reason = f"label {label} is nested deeper than {_DEEPEST} labels"
        raise BadInput(source.name, reason, line=labels[label]["line"])
    return found


def _options(
    source: SourceFile, label: int, labels: dict[int, dict[str, Any]], children: dict[int, list[int]]
) -> list[tuple[int, ...]]:
    """Return the ways to satisfy a label: itself, or each required child in one of its ways.

    Raises `BadInput` where these are so many that their product has no end.
    """
    required = [child for child in children[label] if labels[child]["ignorable"] is None]
    ways = [_options(source, child, labels, children) for child in required]
    if ways and prod(map(len, ways)) >= _MOST_WAYS:
        reason = f"label {label} can be satisfied in more than {_MOST_WAYS:,} ways by the labels in it"
        raise BadInput(source.name, reason, line=labels[label]["line"])
    others = [tuple(part for option in way for part in option) for way in product(*ways)] if ways else []
    return [(label,), *others]


def _iri(identifiers: pl.Series) -> pl.Series:
    """Return the IRI of Wikidata's Q numbers, IRIs as they are, null for the rest: NIL, dates, quantities."""
    one = pl.col("x")
    number = one.str.contains("^Q[0-9]+$")
    other = pl.when(one.str.contains("^https?://") & ~iris.is_nil(one)).then(one)
    found = pl.when(number).then(pl.lit(WD) + one).otherwise(other)
    return pl.DataFrame({"x": identifiers.cast(pl.String)}).select(found).to_series()


def _refuse_outside(source: SourceFile, rows: pl.DataFrame) -> None:
    begin, end = pl.col("begin"), pl.col("end")
    wrong = begin.is_null() | end.is_null() | (begin < 0) | (end <= begin) | (end > pl.col("text").str.len_chars())
    outside = rows.filter(wrong)
    if not outside.is_empty():
        row = outside.row(0, named=True)
        raise BadInput(
            source.name,
            f"the span [{row['begin']}, {row['end']}] is not in the text of {len(row['text'])} characters",
            line=row["line"],
        )


def _classes(rows: pl.DataFrame) -> pl.DataFrame:
    types = rows.select("annotation", name=pl.col("type").str.split("|")).explode("name").drop_nulls("name")
    known = _iri(types["name"])
    classes = types.select("annotation", pl.coalesce(known, pl.lit(RMX) + pl.col("name")).alias("class"))
    coreference = rows.filter("coref").select("annotation", pl.lit(f"{RMX}Coreference").alias("class"))
    return pl.concat([classes, coreference])


def _tell(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the values that say what labels call their entities, which are no coreference and which share a span.

    And which are known, but not to Wikidata, and which answers have no identifier.
    """
    called = rows.filter(pl.col("name") != pl.col("surface_form"))
    return [
        called.select("annotation", term=pl.lit("entityName"), text="name"),
        *(
            rows.filter(flag).select("annotation", term=pl.lit(name), number=1.0)
            for name, flag in (
                ("noCoreference", ~pl.col("coref")),
                ("beside", pl.col("label").n_unique().over("document", "begin", "end") > 1),
                ("unmapped", pl.col("unmapped")),
                ("unanswered", pl.col("unanswered")),
            )
        ),
    ]


def _nesting(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the values that say how labels are nested; a label that is in several options is its first annotation."""
    labels = rows.drop_nulls("label").unique(["document", "label"], keep="first", maintain_order=True)
    names = labels.select("document", other="label", text="annotation")
    inside = labels.select("document", "annotation", term=pl.lit("nestedIn"), other="parent")
    around = labels.select("document", "annotation", term=pl.lit("nests"), other="children").explode("other")
    edges = pl.concat([inside, around]).join(names, on=["document", "other"], maintain_order="left")
    required = labels.filter(pl.col("required") & pl.col("ignorable").is_not_null())
    flags = required.select("annotation", term=pl.lit("required"), number=1.0)
    return pl.concat([edges.select("annotation", "term", "text"), flags], how="diagonal")


def _hyperlinks(rows: pl.DataFrame, articles: pl.DataFrame) -> pl.DataFrame:
    """Return the value that marks annotations whose span is that of a link in the source text."""
    found = articles.select("document", span=pl.col("hyperlinks").str.extract_all(r"\[\[[0-9]+, ?[0-9]+\], ?\""))
    ends = found.explode("span").drop_nulls("span").with_columns(ends=pl.col("span").str.extract_all("[0-9]+"))
    begin, end = (pl.col("ends").list.get(place).cast(pl.Int64, strict=False) for place in (0, 1))
    spans = ends.select("document", begin=begin, end=end)
    marked = rows.join(spans, on=["document", "begin", "end"], how="semi", maintain_order="left")
    return marked.select("annotation", term=pl.lit("hyperlink"), number=1.0)


def _regions(articles: pl.DataFrame) -> pl.DataFrame:
    begin, end = (pl.col("evaluation_span").list.get(place, null_on_oob=True) for place in (0, 1))
    regions = articles.select("document", "text", begin=begin, end=end).drop_nulls(["begin", "end"])
    part = (pl.col("begin") > 0) | (pl.col("end") < pl.col("text").str.len_chars())
    return regions.filter(part).select("document", "begin", "end")


_CLASSES = ("classes", "entity-classes", "further-classes")

elevant = Format(
    name="elevant",
    summary="ELEVANT benchmarks and linked articles (JSON Lines)",
    suffixes=(".benchmark.jsonl", ".linked_articles.jsonl"),
    sniff=lambda head, name: kind_of(head) == ARTICLES,
    read=_read,
    write=write_articles,
    holds=frozenset({"texts", "nil", "ignorable", *_CLASSES, "candidates", "regions", "unannotated"}),
    says=frozenset(SAID),
)


def _with_answers(contents: Contents) -> Contents:
    """Return what was read, an answer that has candidates being the first of them where it is none."""
    frames = contents.frames
    having = frames.links.join(frames.candidates, on="annotation", how="semi", maintain_order="left")
    chosen = having.select("annotation", "entity").join(frames.candidates, on=["annotation", "entity"], how="anti")
    if chosen.is_empty():
        return contents
    candidates = pl.concat([fit(chosen, CANDIDATES.types), frames.candidates])
    return replace(contents, frames=replace(frames, candidates=candidates))


def _choosing(own: Format) -> Format:
    """Return a format by which an answer is one of its candidates."""
    return replace(own, read=lambda source, dataset: _with_answers(own.read(source, dataset)))


elevant_simple = _choosing(
    format_of(
        shipped_mapping("elevant-simple"),
        sniff=lambda head, name: kind_of(head) == SIMPLE,
        write=write_simple,
        holds=frozenset({"texts", "nil", "candidates", "unannotated"}),
    )
)
