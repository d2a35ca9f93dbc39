"""Measures of a table of Spark: what `compute` gives, on a cluster.

The table passes twice through workers, in batches of documents (`_batches`): first for the form and the entity of
each annotation, then for the values. Between the two, the sizes of the sets of the whole table, and of the
dictionary's, are joins and counts on the engine (`_sizes`). Only sums and distributions come to this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import polars as pl

from remix.errors import UsageError, nearest
from remix.frames import SCHEMAS, Frames
from remix.frames_folder import FramesFolder
from remix.kb import normalise
from remix.kb.engines.spark import spark_session
from remix.kb.parts import match_sources
from remix.kb.relations import distinct, without
from remix.measures._averages import Sums, averages, means_of_units
from remix.measures._batches import (
    MENTIONS,
    NESTED,
    SUMS,
    in_arrow,
    mentions_of,
    numbers_of,
    results_of,
    sums_parts,
    totals_of,
)
from remix.measures.corpus import Corpus
from remix.measures.measured import Measured
from remix.measures.measurement import MeasureChoice, measured_of, sum_up_part
from remix.measures.whole import percentiles_of

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

Tables = Mapping[str, "DataFrame"]
Schema = Mapping[str, pl.DataType]


@dataclass(frozen=True)
class MeasuredTable:
    """The values of all measures on a table of Spark.

    `annotations`, `documents` and `classes` are tables of Spark with the columns of `Measured`; `summary` is a
    `Measured` with the values of the datasets, and without rows of those three.
    """

    annotations: DataFrame
    documents: DataFrame
    classes: DataFrame
    summary: Measured


def read_frames(spark: SparkSession, folder: FramesFolder) -> dict[str, DataFrame]:
    """Return the frames of a folder as tables of Spark, for `compute_table`; the dataset is called by its name."""
    from pyspark.sql import functions as F

    tables = {}
    for name in ("documents", *NESTED):
        if any((folder.path / name).glob("*.parquet")):
            rows = spark.read.parquet((folder.path / name).absolute().as_uri())
            if "dataset" in rows.columns:
                is_iri = rows["dataset"] == str(folder.manifest["iri"])
                rows = rows.withColumn("dataset", F.when(is_iri, folder.name).otherwise(rows["dataset"]))
            tables[name] = rows
    return tables


def compute_folder(folder: FramesFolder, chosen: MeasureChoice) -> Measured:
    """Return the measures of a dataset in a folder of frames, as `compute_parts` does, computed on Spark.

    Without Spark being submitted or configured, that is all cores of this machine. Raises `Error` without PySpark or
    Java.
    """
    with spark_session() as spark:
        return compute_table(read_frames(spark, folder), chosen).summary


def compute_table(tables: Tables, chosen: MeasureChoice) -> MeasuredTable:
    """Return the measures of tables of Spark: documents and annotations, and where there are, links, classes, regions.

    The columns are those of the frames (`remix.frames`), those that may be null may lack. The values are those of
    `compute`; sums are added in another order, which may change the last digit.
    All workers must see the folder of the knowledge base under the same path. Raises `UsageError` for a table that is
    none of these, or where documents or annotations are missing.
    """
    for name in tables:
        if name not in ("documents", *NESTED):
            raise UsageError(f"no table '{name}' is measured{nearest(name, ('documents', *NESTED))}")
    for name in ("documents", "annotations"):
        if name not in tables:
            raise UsageError(f"the table of {name} is missing")
    return _Run(tables, chosen).measure()


class _Run:
    def __init__(self, tables: Tables, chosen: MeasureChoice) -> None:
        self.chosen = chosen
        self.documents = _whole_documents(tables)
        self.spark = self.documents.sparkSession
        empty = Corpus(Frames.empty(), chosen.basis)
        values, documents, self.sums = sum_up_part(empty, chosen)
        self.measured = partial(measured_of, empty, chosen, values, documents)

    def measure(self) -> MeasuredTable:
        """Return the measures of every annotation and document, and of the dataset."""
        rows = _map(self.documents, partial(mentions_of, self.chosen), MENTIONS).persist()
        mentions = self._with_sizes(rows).persist()
        percentiles = self._percentiles(rows, mentions)
        batches = self.documents.join(_collect(mentions.drop("dataset"), "sets"), "document", "left")
        measured = self.measured()
        lists = {
            name: pl.List(pl.Struct({k: v for k, v in getattr(measured, name).schema.items() if k != "document"}))
            for name in ("annotations", "classes")
        }
        values = {k: v for k, v in measured.documents.schema.items() if k not in ("document", "dataset")}
        schema = {"document": pl.String(), "dataset": pl.String(), "values": pl.Struct(values), **lists}
        schema["sums"] = pl.List(pl.Struct(SUMS))
        results = _map(batches, partial(results_of, self.chosen, percentiles), schema).persist()
        datasets = self._averages(results)
        for done in (rows, mentions):
            done.unpersist()
        of_documents = results.filter("document IS NOT NULL")
        return MeasuredTable(
            of_documents.selectExpr("document", "inline(annotations)").select(*measured.annotations.columns),
            of_documents.select("document", "dataset", *(f"values.`{name}`" for name in values)),
            of_documents.selectExpr("inline(classes)").select(*measured.classes.columns),
            self.measured(datasets),
        )

    # Sets of the whole table -------------------------------------------------------------------------------------

    def _with_sizes(self, rows: DataFrame) -> DataFrame:
        """Return the mentions with the sizes of the sets of their form and entity, and whether they are first."""
        table: nw.LazyFrame[Any] = nw.from_native(rows)
        mentions = firsts(table.filter(nw.col("kind") == "mention").drop("kind", "mentions", "count", "density"))
        links = distinct(table.filter(nw.col("kind") == "link", ~nw.col("key").is_null()), ["scope", "key", "entity"])
        dictionary = self._dictionary()
        for side in ("key", "entity"):
            members = distinct(mentions.filter(~nw.col(side).is_null()), ["scope", side])
            w = dictionary_links(dictionary, members, side)
            mentions = mentions.join(sizes(members, w, links, side), on=["scope", side], how="left")
        sized: DataFrame = mentions.to_native()
        return _with_frequencies(sized, rows.filter("kind = 'link'"))

    def _dictionary(self) -> nw.LazyFrame[Any]:
        kb = self.chosen.kb
        if kb is None:
            nothing = pl.DataFrame(schema=dict.fromkeys(("key", "entity", "source"), pl.String()))
            arrow = nothing.to_arrow().cast(_arrow(nothing.schema))
            return cast(nw.LazyFrame[Any], nw.from_native(self.spark.createDataFrame(arrow)))
        rows = self.spark.read.parquet((kb.folder / "surface_forms.parquet").absolute().as_uri())
        if kb.case_sensitive:
            columns = dict.fromkeys(("key", "entity", "source"), pl.String())
            rows = _map(rows, _keeping_case, columns)
        sources = rows.select("source").distinct().toArrow()["source"].to_pylist() if kb.left_out else []
        return without(nw.from_native(rows), "source", match_sources(sources, kb.left_out))

    def _percentiles(self, rows: DataFrame, mentions: DataFrame) -> dict[str, pl.DataFrame]:
        """Return the percentile of each value of the columns that have percentiles."""
        documents, linked = rows.filter("kind = 'document'"), mentions.filter("entity IS NOT NULL")
        tables = {
            "mentions": documents,
            "density": documents,
            "union_entities": mentions.filter("key IS NOT NULL"),
            "union_forms": linked,
        }
        values = [
            table.selectExpr(f"'{column}' AS column", f"CAST({column} AS DOUBLE) AS value")
            for column, table in tables.items()
        ]
        counts = _polars(reduce(lambda one, two: one.union(two), values).groupBy("column", "value").count())
        return {
            column: percentiles_of(
                column,
                counts.filter(pl.col("column") == column).select(
                    pl.col("value").cast(pl.Float64 if column == "density" else pl.Int64).alias(column), "count"
                ),
            )
            for column in tables
        }

    # Averages ----------------------------------------------------------------------------------------------------

    def _averages(self, results: DataFrame) -> pl.DataFrame:
        """Return the averages of the datasets; the sums of each form and entity stay on the engine."""
        rows = results.filter("document IS NULL").selectExpr("inline(sums)")
        # Only sums of forms and entities have a unit, and are many.
        few = _polars(rows.filter("unit IS NULL"))
        added, means = {}, {}
        for number, (of, frame) in enumerate(sums_parts(self.sums)):
            names = numbers_of(frame)
            if of in self.sums.units:
                means[of] = self._means(rows.filter(rows["part"] == number), of, names)
            else:
                sums = [pl.col("numbers").list.get(place).sum().alias(name) for place, name in enumerate(names)]
                added[of] = few.filter(pl.col("part") == number).group_by("dataset").agg(sums)
        macro = added.pop("macro")
        return averages(self.chosen.summaries, Sums(added, {}, macro), means)

    def _means(self, part: DataFrame, unit: str, names: Sequence[str]) -> pl.DataFrame:
        units = _sum_up(part, names, "dataset", "unit")
        schema = {"dataset": pl.String(), "numbers": pl.List(pl.Float64())}
        nothing = pl.DataFrame(schema={"dataset": pl.String, **dict.fromkeys(names, pl.Float64)})
        totals = means_of_units(self.chosen.summaries, {unit: nothing})[unit].columns[1:]
        return _polars(_sum_up(_map(units, partial(totals_of, self.chosen, unit, names), schema), totals, "dataset"))


def _with_frequencies(mentions: DataFrame, links: DataFrame) -> DataFrame:
    """Return the mentions with the frequencies of their form and entity; see `Whole.form_frequencies` and its like."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    form, entity = ["scope", "key"], ["scope", "entity"]
    of_form = Window.partitionBy(*form)
    counted = links.groupBy("scope", "key", "entity").agg(F.sum("count").alias("count"))
    ranked = counted.filter("key IS NOT NULL").select(
        *form, "entity", "count", F.rank().over(of_form.orderBy(F.desc("count"))).cast("bigint").alias("meaning_rank")
    )
    shares = ranked.withColumn("share", F.col("count") / F.sum("count").over(of_form))
    entropies = shares.groupBy(*form).agg(F.abs(F.sum(F.col("share") * F.log2("share"))).alias("form_entropy"))
    uses = mentions.filter("key IS NOT NULL").groupBy(*form).agg(F.count("*").alias("form_frequency"))
    entities = counted.groupBy(*entity).agg(F.sum("count").alias("entity_frequency"))
    for known, on in ((ranked.drop("count"), [*form, "entity"]), (entropies, form), (uses, form), (entities, entity)):
        mentions = mentions.join(known, on, "left")
    return mentions


def _keeping_case(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(key=normalise(pl.col("surface_form"), case_sensitive=True))


def _whole_documents(tables: Tables) -> DataFrame:
    """Return a row a document, with all that is said of it nested in columns named as the frames."""
    from pyspark.sql import functions as F

    documents, places = tables["documents"], tables["annotations"].select("annotation", "document")
    for name in NESTED:
        if name not in tables:
            kind = ",".join(f"{column}:{_SQL[kind]}" for column, kind in SCHEMAS[name].items() if column != "document")
            documents = documents.withColumn(name, F.lit(None).cast(f"array<struct<{kind}>>"))
            continue
        rows = tables[name]
        rows = rows if "document" in rows.columns else rows.join(places, "annotation")
        documents = documents.join(_collect(rows, name), "document", "left")
    return documents


_SQL: Mapping[pl.DataType, str] = {
    pl.String(): "string",
    pl.Int64(): "bigint",
    pl.Float64(): "double",
    pl.Boolean(): "boolean",
}


def _collect(rows: DataFrame, name: str) -> DataFrame:
    from pyspark.sql import functions as F

    columns = [column for column in rows.columns if column != "document"]
    return rows.groupBy("document").agg(F.collect_list(F.struct(*columns)).alias(name))


def _map(table: DataFrame, work: Callable[[pl.DataFrame], pl.DataFrame], schema: Schema) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    arrow = _arrow(schema)
    return table.mapInArrow(in_arrow(work, arrow), from_arrow_schema(arrow))


def _sum_up(part: DataFrame, names: Sequence[str], *keys: str) -> DataFrame:
    from pyspark.sql import functions as F

    sums = [F.sum(part["numbers"][place]).alias(name) for place, name in enumerate(names)]
    return part.groupBy(*keys).agg(*sums)


def _polars(table: DataFrame) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table.toArrow()))


def _arrow(schema: Schema) -> pyarrow.Schema:
    """Return the types as Spark has them: one length of strings and lists, one of numbers."""
    import pyarrow

    simple = {pl.String(): pyarrow.string(), pl.Float64(): pyarrow.float64(), pl.Boolean(): pyarrow.bool_()}

    def of(kind: pl.DataType) -> pyarrow.DataType:
        if isinstance(kind, pl.List):
            return pyarrow.list_(of(kind.inner))  # type: ignore[arg-type]
        if isinstance(kind, pl.Struct):
            return pyarrow.struct([(field.name, of(field.dtype)) for field in kind.fields])  # type: ignore[arg-type]
        return pyarrow.int64() if kind.is_integer() else simple[kind]

    return pyarrow.schema([(name, of(kind)) for name, kind in schema.items()])


Frame = nw.LazyFrame[Any]
LINK = ["scope", "key", "entity"]
OTHER = {"key": "entities", "entity": "forms"}


def dictionary_links(rows: Frame, members: Frame, side: str) -> Frame:
    """Return the links of the dictionary (key, entity) of the members (scope, and `side`: key or entity)."""
    return distinct(rows.select("key", "entity").join(members.select("scope", side), on=side), LINK)


def sizes(members: Frame, w: Frame, d: Frame, side: str) -> Frame:
    """Return scope and `side` of the members, and how many of the other side each has in W, in D, in both, in either.

    The columns are w_entities, d_entities, common_entities and union_entities where `side` is key, else w_forms, ….
    `w` and `d` have no link twice.
    """
    what = OTHER[side]
    both = d.join(w, on=LINK, how="semi")
    for name, links in (("w", w), ("d", d), ("common", both)):
        counts = links.group_by("scope", side).agg(nw.len().alias(f"{name}_{what}"))
        members = members.join(counts, on=["scope", side], how="left")
    names = [f"{name}_{what}" for name in ("w", "d", "common")]
    filled = members.with_columns(nw.col(name).fill_null(0).cast(nw.Int64) for name in names)
    union = nw.col(f"w_{what}") + nw.col(f"d_{what}") - nw.col(f"common_{what}")
    return filled.with_columns(union.alias(f"union_{what}"))


def firsts(mentions: Frame) -> Frame:
    """Return the mentions with `first_key` and `first_entity`: whether none before, by name, in its dataset has it."""
    return mentions.with_columns(
        (nw.col("annotation") == nw.col("annotation").min().over("dataset", side)).alias(f"first_{side}")
        for side in OTHER
    )
