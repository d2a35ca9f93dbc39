"""The figures of a published dataset, of the values that its file has: types, prominence, names, distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from remix.expressions import fill
from remix.formats.identifiers import given_iris
from remix.measures import MEASURES
from remix.measures.declaration import write_out
from remix.measures.measured import columns_of, summaries_of, terms_of_datasets
from remix.publication.description import Publication
from remix.reports.figures import Axis, Figure, Panel, Series, are_whole, count_values
from remix.reports.layout import lay_out
from remix.reports.plots import render

_TYPES = {
    "persons": "typePerson",
    "organisations": "typeOrganisation",
    "places": "typePlace",
    "other types": "typeOther",
    "no type": "typeNone",
}
_SEGMENTS = {
    "head: the first 10 %": "pagerankSegmentHead",
    "torso: 10 to 55 %": "pagerankSegmentTorso",
    "tail: 55 to 100 %": "pagerankSegmentTail",
    "not in it": "pagerankSegmentUnspecified",
}
_AMBIGUITY = {
    "names": ("ambiguitySurfaceForm", "entities that the name may mean"),
    "entities": ("ambiguityEntity", "names that the entity may have"),
}
_BINS = 20


def averages_of(about: Publication) -> pl.DataFrame:
    """Return dataset, measure, average, value, coverage and term of what the file says of the dataset as a whole.

    The rows are as `remix.measures.Measured.datasets` has them; a file does not say of how many a value is.
    """
    terms = terms_of_datasets(summaries_of(MEASURES))
    known = terms.with_columns(iri=pl.Series([write_out(term) for term in terms["term"]], dtype=pl.String))
    own = about.triples.filter(pl.col("subject") == f"<{about.entry.iri}>").select(
        iri=pl.col("predicate").str.strip_chars("<>"),
        value=pl.col("object").str.extract(r'^"([-+.0-9eE]+)"').cast(pl.Float64, strict=False),
    )
    rows = known.join(own.drop_nulls(), on="iri", maintain_order="left")
    return rows.select(
        pl.lit(about.entry.name).alias("dataset"), "measure", "average", "value", pl.lit(1.0).alias("coverage"), "term"
    ).unique(["measure", "average"], keep="first", maintain_order=True)


@dataclass(frozen=True)
class PublishedFigure:
    """A figure of a published dataset: its name, what is said of it, and what is drawn."""

    name: str
    words: str
    figure: Figure

    def sheets(self, dataset: str) -> dict[str, str]:
        """Return the names of its files by what they are called: of several sheets each has one."""
        count = len(lay_out(self.figure))
        names = [f"{dataset}.{self.name}{f'-{nth + 1}' if nth else ''}.svg" for nth in range(count)]
        return {f"SVG {nth + 1}" if count > 1 else "SVG": name for nth, name in enumerate(names)}

    def files(self, dataset: str) -> dict[str, bytes]:
        """Return the content of its files by their names."""
        return dict(zip(self.sheets(dataset).values(), render(self.figure, ".svg"), strict=True))


def draw_published(about: Publication) -> list[PublishedFigure]:
    """Return the figures of a dataset, each with what is said of it; none of what its file does not know."""
    shares = dict(averages_of(about).filter(average="micro").select("measure", "value").iter_rows())
    drawn = []
    if figure := _draw_shares(shares, _TYPES, "share of linked annotations", "Types of entities"):
        drawn.append(PublishedFigure("types", "An entity may be of several types.", figure))
    if figure := _draw_shares(shares, _SEGMENTS, "share of annotations", "Prominence of entities"):
        words = "Where the entity stands among all of the knowledge base, by PageRank."
        drawn.append(PublishedFigure("prominence", words, figure))
    for name, (column, said) in _AMBIGUITY.items():
        if len(values := _values_of(about, column)):
            drawn.append(_draw_values(name, said, values, scale="log" if (values > 0).any() else "linear"))
    if about.frames.documents.height > 1:
        for name, (said, values) in _sizes(about).items():
            drawn.append(_draw_values(name, said, values, of="documents"))
    return drawn


def _draw_shares(shares: Mapping[str, float], parts: Mapping[str, str], label: str, title: str) -> Figure | None:
    """Return bars of the shares that are known, none where none is above 0."""
    known = {name: shares[measure] for name, measure in parts.items() if measure in shares}
    if not any(known.values()):
        return None
    bars = Series("", [*known], [*known.values()])
    panel = Panel("", "bars", [bars], y=Axis(label, limits=(0, 1)), lying=True)
    return Figure(title, [panel], f"{title}: {', '.join(f'{name} {share:.1%}' for name, share in known.items())}.")


def _draw_values(
    name: str, said: str, values: pl.Series, *, of: str = "annotations", scale: str = "linear"
) -> PublishedFigure:
    """Return the histogram of values, which `said` says what they are."""
    counted = count_values("", values, scale=scale, bins=_BINS)
    panel = Panel("", "histogram", [counted], Axis(said, scale, whole=are_whole(values)), Axis(of, whole=True))
    words = f"{of[:1].upper()}{of[1:]} by their number of {said}"
    figure = Figure(f"{said[:1].upper()}{said[1:]}", [panel], f"{words}.")
    return PublishedFigure(name, f"{words}{', on a logarithmic scale' if scale == 'log' else ''}.", figure)


def _values_of(about: Publication, column: str) -> pl.Series:
    """Return the values of a column of annotations as the file has them."""
    term = next(write_out(one.term) for one in columns_of(MEASURES) if one.name == column)
    gold = about.frames.annotations.filter(pl.col("ignorable").is_null()).select(scoped="annotation")
    named = gold.join(given_iris(about.frames), on="scoped").select(subject=fill("<{}>", "exported"))
    own = about.triples.filter(pl.col("predicate") == f"<{term}>").join(named, on="subject", how="semi")
    return own["object"].str.extract(r'^"([-+.0-9eE]+)"').cast(pl.Float64, strict=False).drop_nulls().sort()


def _sizes(about: Publication) -> dict[str, tuple[str, pl.Series]]:
    """Return the annotations and words of each document, by the name of their figure, with what they are."""
    frames = about.frames
    gold = frames.annotations.filter(pl.col("ignorable").is_null()).group_by("document").agg(number=pl.len())
    counts = frames.documents.join(gold, on="document", how="left", maintain_order="left")["number"].fill_null(0)
    sizes = {"annotations": ("annotations", counts), "words": ("words", frames.documents["words"].drop_nulls())}
    return {name: pair for name, pair in sizes.items() if len(pair[1])}
