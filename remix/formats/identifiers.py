"""Names within a dataset: what its documents and annotations are called in the store.

A document is `<dataset IRI>/<last readable part of the IRI as given>`, made unique by an ordinal, an
annotation `<document IRI>#char=begin,end`, with `;n` from the second on one span.
"""

from __future__ import annotations

import polars as pl

from remix.expressions import fill
from remix.frames import OTHER_LAYER, Annotations, Frames
from remix.names import RMX
from remix.rdf.iris import is_legal

# DBpedia calls the text of Berlin `…/Berlin?dbpv=2016-10&nif=context`.
_OFFSETS = (
    r"(?:\?(?:dbpv=[^&#]*&)?nif=context"
    r"|[#,;/?&]char=[0-9]*,[0-9]*|#offset_[0-9]+_[0-9]+|#[0-9]+,[0-9]*|#char=[0-9]*,?)(?:;[0-9]+)?$"
)
_INDEXES = r"(?:char=|offset_|#)([0-9]+)(?:,|_)([0-9]+)(?:;[0-9]+)?$"

_SPELT_OFFSETS = r"^(.*(?:char=|offset_|#))[0-9]+(,|_)[0-9]+(;[0-9]+)?$"


def document_iris(given: pl.Series, dataset: str) -> pl.Series:
    """Return the scoped IRI of each document of a dataset, given the IRIs that its file has.

    >>> document_iris(pl.Series(["http://x/N3/46#char=0,80", "http://y/46", "http://z/"]), "urn:d").to_list()
    ['urn:d/46', 'urn:d/46-2', 'urn:d/z']
    """
    parts = document_names(given)
    if not parts.is_unique().all():
        # Ordinals follow the given IRIs, so that the same corpus in another order has the same names.
        ordered = pl.DataFrame({"given": given, "part": parts}).with_row_index("row").sort("given", "row")
        parts = ordered.select("row", name=_unique(ordered["part"])).sort("row")["name"]
    return (f"{dataset}/" + parts).alias("document")


def document_names(given: pl.Series) -> pl.Series:
    """Return the last readable part of each IRI, which several documents may share.

    >>> document_names(pl.Series(["http://x/N3/46#char=0,80", "http://x/Ab?dbpv=2016-10&nif=context"])).to_list()
    ['46', 'Ab']
    """
    last = strip_offsets(pl.col("given")).str.replace(r"^.*/", "")
    part = last.str.replace_all(r"[^\p{L}\p{N}._~-]+", "-").str.strip_chars("-").replace("", "document")
    return given.to_frame("given").select(part=part).to_series()


def strip_offsets(given: pl.Expr) -> pl.Expr:
    """Return each IRI of a document without the offsets at its end.

    >>> two = pl.DataFrame({"x": ["http://x/N3/46#char=0,80", "http://x/46/"]})
    >>> two.select(strip_offsets(pl.col("x")))["x"].to_list()
    ['http://x/N3/46', 'http://x/46']
    """
    return given.str.replace(_OFFSETS, "").str.strip_chars_end("/#")


def _unique(parts: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"part": parts}).with_columns(nth=pl.int_range(pl.len()).over("part") + 1)
    names = frame.select(pl.when(pl.col("nth") > 1).then(fill("{}-{}", "part", "nth")).otherwise("part")).to_series()
    # `a-2` may be the name of a document of its own.
    return names if names.is_unique().all() else _unique(names)


def annotation_iris(annotations: pl.DataFrame) -> pl.Series:
    """Return the scoped IRI of each annotation (`document`, `begin`, `end`, and `given` for the order).

    >>> two = pl.DataFrame({"document": ["urn:d/1"] * 2, "begin": [0, 0], "end": [5, 5], "given": ["b", "a"]})
    >>> annotation_iris(two).to_list()
    ['urn:d/1#char=0,5;2', 'urn:d/1#char=0,5']
    """
    begin, end = (pl.col(name).cast(pl.String).fill_null("") for name in ("begin", "end"))
    iris = annotations.select(annotation=pl.concat_str("document", pl.lit("#char="), begin, pl.lit(","), end))
    shared = is_shared(annotations.select("document", "begin", "end"))
    if not shared.any():
        return iris["annotation"]
    spans = annotations.select("document", "begin", "end", "given").with_row_index("row").with_columns(iris)
    ordered = spans.filter(shared).sort("given", "row")
    ordered = ordered.with_columns(nth=pl.int_range(pl.len()).over("document", "begin", "end") + 1)
    numbered = pl.concat_str("annotation", pl.lit(";"), pl.col("nth").cast(pl.String))
    again = ordered.filter(pl.col("nth") > 1).select("row", numbered=numbered)
    found = spans.select("row", "annotation").join(again, on="row", how="left", maintain_order="left")
    return found.select(pl.coalesce("numbered", "annotation").alias("annotation"))["annotation"]


def is_shared(spans: pl.DataFrame) -> pl.Series:
    """Return which rows others equal; by their hashes, so a row that none equals may be among them."""
    return spans.hash_rows().is_duplicated()


_OTHER = pl.when(pl.col("ignorable") == OTHER_LAYER).then("layer").alias("layer")
READING = ["document", "begin", "end", pl.col("ignorable").is_null(), _OTHER]
"""What annotations have in common that are alternatives of each other where nothing else is said."""


def group_alternatives(annotations: Annotations) -> pl.DataFrame:
    """Return the annotations with `group` and `option`: those on one span are alternatives of each other.

    What the file says itself (a `group` or `option` that is not null) stands. Ignorable annotations are never
    alternatives of gold ones, nor those of one other layer of those of another.
    """
    span = READING
    alone = ~is_shared(annotations.select(span))
    annotations = annotations.with_columns(option=pl.coalesce("option", "annotation"))
    first = pl.col("annotation")
    if not alone.all():
        several = annotations.with_row_index("row").filter(~alone)
        shortest = pl.col("annotation").sort_by(pl.col("annotation").str.len_chars(), "annotation").first().over(span)
        firsts = several.select("row", first=shortest)
        rows = pl.select(row=pl.int_range(len(annotations), dtype=pl.UInt32))
        found = rows.join(firsts, on="row", how="left", maintain_order="left")["first"]
        first = pl.coalesce(pl.lit(found), first)
    return annotations.with_columns(group=pl.coalesce("group", first))


def beside_each_other(annotations: pl.DataFrame, some: pl.Series) -> pl.Series:
    """Return which annotations are, or stand where they would be alternatives of, some of them (a mask)."""
    return annotations.with_columns(_some=some).select(pl.col("_some").any().over(READING)).to_series()


def usual_groups(annotations: Annotations) -> pl.DataFrame:
    """Return the annotations with the `group` and `option` that reading gives where a file says none itself."""
    return group_alternatives(
        annotations.with_columns(pl.lit(None, pl.String).alias(name) for name in ("group", "option"))
    )


def separate_mentions(annotations: pl.DataFrame) -> pl.DataFrame:
    """Return annotations with groups and options of their own where others are on their span: none is an alternative.

    What the file says itself (a `group` or `option` that is not null) stands.

    >>> rows = pl.DataFrame({"annotation": ["a", "b", "c"], "document": "d", "begin": [0, 0, 4], "end": [3, 3, 9]})
    >>> rows = rows.with_columns(group=pl.lit(None, pl.String), option=pl.lit(None, pl.String))
    >>> separate_mentions(rows)["group"].to_list()
    ['a', 'b', None]
    """
    shared = pl.lit(is_shared(annotations.select("document", "begin", "end")))
    own = pl.when(shared).then("annotation")
    return annotations.with_columns(pl.coalesce(name, own).alias(name) for name in ("group", "option"))


def offsets_in(given: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return begin and end as an annotation's IRI says them, null where it does not.

    >>> pl.DataFrame({"x": ["http://x#char=2,5;1", "http://x#offset_7_9"]}).select(
    ...     begin=offsets_in(pl.col("x"))[0], end=offsets_in(pl.col("x"))[1]).rows()
    [(2, 5), (7, 9)]
    """
    begin, end = (given.str.extract(_INDEXES, n).cast(pl.Int64, strict=False) for n in (1, 2))
    return begin, end


def given_iris(frames: Frames) -> pl.DataFrame:
    """Return scoped, given and exported IRI of every document and annotation: the given one unless two share it.

    A document whose IRI is kept scoped keeps those of its annotations scoped, too, so that both go together.
    """
    documents = frames.documents.select(scoped="document", document="document", given="given")
    annotations = frames.annotations.select(scoped="annotation", document="document", given="given")
    every = pl.concat([documents, annotations])
    taken = every.filter(pl.col("scoped").ne_missing(pl.col("given")))["scoped"]
    usable = is_legal(pl.col("given")).fill_null(False)
    things = (
        every.with_columns(own=usable & (pl.len().over("given") == 1))
        .with_columns(own=pl.col("own") & ~pl.col("given").is_in(taken.implode()))
        .with_columns(own_document=pl.when(pl.col("scoped") == pl.col("document")).then("own"))
        .with_columns(own=pl.col("own") & pl.col("own_document").max().over("document").fill_null(True))
    )
    return things.select("scoped", "given", exported=pl.when("own").then("given").otherwise("scoped"))


def agree_with_offsets(iris: pl.DataFrame, frames: Frames) -> pl.DataFrame:
    """Return IRIs (of `given_iris`) with the offsets that they end in as the text has them, where they have others.

    A text has its length, a mention its begin and end; what would be called as another is gets a number behind it.

    >>> row = {"annotation": ["urn:d#char=0,5"], "document": ["urn:d"], "begin": [0], "end": [4]}
    >>> frames = Frames.of(documents=pl.DataFrame({"document": ["urn:d"]}), annotations=pl.DataFrame(row))
    >>> agree_with_offsets(given_iris(frames), frames)["exported"].to_list()
    ['urn:d', 'urn:d#char=0,4']
    """
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    texts = frames.documents.select(scoped="document", begin=pl.lit(0, pl.Int64), end=length)
    spans = pl.concat([texts, frames.annotations.select("begin", "end", scoped="annotation").select(texts.columns)])
    rows = iris.join(spans, on="scoped", how="left", maintain_order="left")
    begin, end = offsets_in(pl.col("exported"))
    # A text that is part of another may be called by its place there.
    part = pl.col("scoped").is_in(texts["scoped"].implode()) & (begin != 0)
    wrong = (((begin != pl.col("begin")) | (end != pl.col("end"))) & ~part).fill_null(False)
    pieces = [pl.col("exported").str.extract(_SPELT_OFFSETS, n) for n in (1, 2, 3)]
    told = pl.concat_str(pieces[0], pl.col("begin").cast(pl.String), pieces[1], pl.col("end").cast(pl.String))
    rows = rows.with_columns(wrong=wrong).with_columns(
        exported=pl.when("wrong").then(told + pieces[2].fill_null("")).otherwise("exported"),
        plain=told,
        ordinal=pl.lit(1),
    )
    while (shared := rows["exported"].is_duplicated() & rows["wrong"]).any():
        first = pl.col("exported").is_first_distinct() & ~pl.col("exported").is_in(
            rows.filter(~pl.col("wrong"))["exported"].implode()
        )
        again = pl.lit(shared) & ~first
        rows = rows.with_columns(ordinal=pl.col("ordinal") + again.cast(pl.Int32))
        numbered = fill("{};{}", "plain", "ordinal")
        rows = rows.with_columns(exported=pl.when(again).then(numbered).otherwise("exported"))
    return rows.select(iris.columns)


def rename_terms(triples: pl.DataFrame, iris: pl.DataFrame) -> pl.DataFrame:
    """Return the triples with exported IRIs; the record of the given IRI goes where that came back."""
    terms = iris.filter(pl.col("scoped") != pl.col("exported")).select(
        term=fill("<{}>", "scoped"), other=fill("<{}>", "exported")
    )
    back = (pl.col("predicate") == f"<{RMX}givenIri>") & pl.col("subject").is_in(terms["term"].implode())
    kept = triples.filter(~back)
    for name in ("subject", "object"):
        kept = (
            kept.join(terms, left_on=name, right_on="term", how="left", maintain_order="left")
            .with_columns(pl.coalesce("other", name).alias(name))
            .drop("other")
        )
    return kept


_ENGLISH = "http://en.wikipedia.org/wiki/"


def article(entity: pl.Expr) -> pl.Expr:
    """Return the URL of the article of a DBpedia resource, what is none as it is.

    >>> one = pl.DataFrame({"x": ["http://dbpedia.org/resource/Rome", "http://de.dbpedia.org/resource/Rom", "Q220"]})
    >>> one.select(article(pl.col("x")))["x"].to_list()
    ['http://en.wikipedia.org/wiki/Rome', 'http://de.wikipedia.org/wiki/Rom', 'Q220']
    """
    return entity.str.replace("^http://dbpedia.org/resource/", _ENGLISH).str.replace(
        r"^http://([a-z-]+)\.dbpedia\.org/resource/", "http://${1}.wikipedia.org/wiki/"
    )


def title(entity: pl.Expr) -> pl.Expr:
    """Return the title of an English article or DBpedia resource, with spaces; what is none as its article.

    A title that could be taken for another kind of identifier stays a URL.
    """
    url = article(entity)
    short = url.str.strip_prefix(_ENGLISH)
    plain = short.str.contains(r"^[^:%]+$") & ~short.str.contains("^Q[0-9]+$")
    return pl.when(url.str.starts_with(_ENGLISH) & plain).then(short.str.replace_all("_", " ")).otherwise(url)


def title_url(name: pl.Expr) -> pl.Expr:
    """Return the URL of a title, of what is no title what it is.

    >>> three = pl.DataFrame({"x": ["New York", "Q60", "http://dbpedia.org/resource/New_York"]})
    >>> three.select(title_url(pl.col("x")))["x"].to_list()
    ['http://en.wikipedia.org/wiki/New_York', 'Q60', 'http://dbpedia.org/resource/New_York']
    """
    other = name.str.contains(r"^(?:Q[0-9]+$|https?://|urn:|(?i:wikidata|wd|dbpedia|dbr):)")
    return pl.when(other).then(name).otherwise(pl.lit(_ENGLISH) + name.str.replace_all(r"\s", "_"))
