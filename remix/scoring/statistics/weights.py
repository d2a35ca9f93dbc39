"""Fuzzy recall: each annotation of gold is required to a degree between 0 and 1.

R* = Σ µ of the gold annotations found / Σ µ of all of them; F*₁ is the harmonic mean of it and of the precision that
F1 takes, which stays crisp. Of a mention with alternatives the largest µ is required, and what is found counts with
the µ of the alternative that was matched; of several annotations that are required together their mean is taken. Where
a matching finds a mention in part, it counts with that share of its µ.
Source: Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking, EMNLP 2019, section 6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix import progress
from remix.delimited import parse_table
from remix.errors import BadInput, UsageError, nearest
from remix.expressions import sum_up
from remix.files import read_bytes
from remix.frames import Frames
from remix.measures.columns import column_values
from remix.names import EL, PREFIXES, RMX
from remix.scoring.inputs.case_tables import LabelledCounts
from remix.scoring.matching import Case, matching_named
from remix.scoring.statistics import ratio
from remix.signature import content_hash

FUZZY = ("fuzzy_recall", "fuzzy_f1")

STRICT_CATEGORIES = {
    "Mnt": ("Full", "Short", "Extended", "Alias"),
    "PoS": ("NounSingular", "NounPlural"),
    "Olp": ("None",),
    "Ref": ("Direct",),
}
"""The categories (`el:`) of each dimension on which more than 0.9 of those asked agree: proper forms, noun phrases, no
overlap, direct reference."""

CRITERIA = {"A2KB": "link", "D2KB": "link", "ERec": "span"}
"""What makes a pair of gold and answer right, in the tasks that have fuzzy recall."""


@dataclass(frozen=True)
class Weights:
    """The degrees of gold's annotations: `degrees` has annotation and weight; `name` says in a signature whose."""

    name: str
    degrees: pl.DataFrame


NO_DEGREES = pl.DataFrame(schema={"annotation": pl.String, "weight": pl.Float64})
"""The degrees where it is not annotations of gold that are weighed."""


def weights_of(
    gold: Frames, rule: str, columns: pl.DataFrame | None = None, document_columns: pl.DataFrame | None = None
) -> Weights:
    """Return the degree of every gold annotation by 'strict', 'relaxed:α', a file of rules, or a numeric column.

    `COLUMN/100` divides the column, as percentiles need it; an IRI that is divided stands in `<…>`.

    `strict` is `relaxed:0`: 1 for what `strict` names, α for the rest. A file (TSV or CSV) has `weight` and `class`
    or `annotation`: an annotation has the smallest weight of the rows that apply to it. An annotation without a value
    in the column, or that no row applies to, has 1, which is said.

    Raises `BadInput` for a weight outside [0, 1] with its row, `UsageError` for another rule, `UnknownName` for a
    column that is in none of the tables.
    """
    kind, _, given = rule.partition(":")
    if kind in ("strict", "relaxed"):
        alpha = 0.0 if rule == "strict" else _alpha(rule, given)
        degree = pl.when("strict").then(1.0).otherwise(alpha).alias("weight")
        return Weights(f"relaxed:{alpha:g}", strict_annotations(gold).select("annotation", degree))
    if _is_file(rule):
        known, name = _by_rules(gold, Path(rule)), "rules"
    else:
        known, name = _by_column(gold, rule, columns, document_columns), rule
    rows = gold.annotations.select("annotation").join(known, on="annotation", how="left", maintain_order="left")
    if missing := rows["weight"].null_count():
        progress.note(f"weights: {missing} of gold's {len(rows)} annotations have none in '{rule}' and weigh 1")
    rows = rows.with_columns(pl.col("weight").fill_null(1.0))
    return Weights(f"{name},{content_hash(rows.sort('annotation').write_csv())[:12]}", rows)


def column_weighed_by(rule: str) -> list[str]:
    """Return the column that a rule of `weights_of` names, or nothing where it names none.

    >>> column_weighed_by("prominenceSegment"), column_weighed_by("relaxed:0.5"), column_weighed_by("rules.tsv")
    (['prominenceSegment'], [], [])
    """
    by_rule = rule.partition(":")[0] in ("strict", "relaxed") or _is_file(rule)
    return [_split_rule(rule)[0]] if rule and not by_rule else []


def _split_rule(rule: str) -> tuple[str, float]:
    """Return the column of a rule and what it is divided by.

    >>> _split_rule("share"), _split_rule("dcterms:date/3000"), _split_rule("<http://x/year>/3000")
    (('share', 1.0), ('dcterms:date', 3000.0), ('<http://x/year>', 3000.0))
    >>> _split_rule("http://x/about/2020")
    ('http://x/about/2020', 1.0)
    """
    parts = re.fullmatch(r"([^/]+|<.+>)/(\d+(?:\.\d+)?)", rule)
    return (parts[1], float(parts[2])) if parts is not None and float(parts[2]) > 0 else (rule, 1.0)


def _is_file(rule: str) -> bool:
    return Path(rule).suffix in (".tsv", ".csv") or Path(rule).is_file()


def _alpha(rule: str, given: str) -> float:
    try:
        alpha = float(given)
    except ValueError:
        raise UsageError(f"'{rule}' is no weight: write relaxed:0.5, with a number between 0 and 1") from None
    if not 0 <= alpha <= 1:
        raise UsageError(f"a weight is between 0 and 1, not {given}")
    return alpha


def strict_annotations(gold: Frames) -> pl.DataFrame:
    """Return annotation and `strict`: whether its categories are, in each dimension, among those of
    `STRICT_CATEGORIES`.

    Raises `UsageError` where no annotation has such categories.
    """
    own = gold.classes.filter(pl.col("class").str.starts_with(EL))
    if own.is_empty():
        raise UsageError("gold has no fine-grained categories (el:): weigh it by a column or by a file of rules")
    inside = [
        pl.col("class").is_in([f"{EL}{dimension}-{name}" for name in names]).any().alias(dimension)
        for dimension, names in STRICT_CATEGORIES.items()
    ]
    found = (
        own.group_by("annotation").agg(inside).select("annotation", strict=pl.all_horizontal(list(STRICT_CATEGORIES)))
    )
    rows = gold.annotations.select("annotation").join(found, on="annotation", how="left", maintain_order="left")
    return rows.with_columns(pl.col("strict").fill_null(False))


def _by_rules(gold: Frames, file: Path) -> pl.DataFrame:
    separator = "," if file.suffix == ".csv" else "\t"
    rules = parse_table(file, read_bytes(file), separator=separator, quoted=True)
    key = next((name for name in ("class", "annotation") if name in rules.columns), None)
    if key is None or "weight" not in rules.columns:
        raise BadInput(file, f"needs the columns weight and class or annotation; it has {', '.join(rules.columns)}")
    rules = rules.select(key, pl.col("weight").cast(pl.Float64, strict=False), given="weight")
    within = pl.col("weight").is_between(0, 1).fill_null(False)
    for row in rules.with_row_index("line", offset=2).filter(~within).head(1).iter_rows(named=True):
        raise BadInput(file, f"the weight '{row['given']}' of {row[key]} is not between 0 and 1", line=row["line"])
    rules = rules.with_columns(_write_out(key))
    known = gold.classes["class"] if key == "class" else gold.annotations["annotation"]
    for (name,) in rules.filter(~pl.col(key).is_in(known.unique().implode())).select(key).head(1).iter_rows():
        raise BadInput(file, f"gold has no {key} '{name}'{nearest(name, known.drop_nulls().unique())}")
    held = gold.classes.select("annotation", "class") if key == "class" else gold.annotations.select("annotation")
    return held.join(rules, on=key).group_by("annotation").agg(pl.col("weight").min())


def weights_of_types(file: Path) -> pl.DataFrame:
    """Return gold, answered (classes) and weight, how right a class is where gold has another, of a table of these.

    It has no header. A class without a prefix is one of ours; of several weights of a pair the largest counts. Raises
    `BadInput` for a row that is not two classes and a weight from 0 on.
    """
    rows = parse_table(file, read_bytes(file), header=False)
    if rows.width != 3:
        raise BadInput(file, "needs three columns without header: the class of gold, that of the answer, and a weight")
    rows.columns = ["gold", "answered", "given"]
    rows = rows.with_columns(weight=pl.col("given").cast(pl.Float64, strict=False))
    fits = (pl.col("weight") >= 0) & pl.col("weight").is_finite() & pl.all_horizontal(pl.col("gold", "answered") != "")
    for row in rows.with_row_index("line", offset=1).filter(~fits.fill_null(False)).head(1).iter_rows(named=True):
        reason = f"needs two classes and a weight from 0 on, not '{row['gold']}', '{row['answered']}', '{row['given']}'"
        raise BadInput(file, reason, line=row["line"])
    rows = rows.with_columns(_write_out("gold"), _write_out("answered"))
    ours = [
        pl.when(pl.col(name).str.contains(":")).then(name).otherwise(pl.lit(RMX) + pl.col(name)).alias(name)
        for name in ("gold", "answered")
    ]
    return rows.with_columns(ours).group_by("gold", "answered").agg(pl.col("weight").max()).sort("gold", "answered")


def _write_out(key: str) -> pl.Expr:
    """Return the IRIs of names with a well-known prefix; other names as they are."""
    local = pl.col(key).str.extract(r"^[^:]*:(.*)$")
    prefix = pl.col(key).str.extract(r"^([^:]*):").replace_strict(PREFIXES, default=None, return_dtype=pl.String)
    return pl.coalesce(prefix + local, pl.col(key)).alias(key)


def _by_column(
    gold: Frames, rule: str, columns: pl.DataFrame | None, document_columns: pl.DataFrame | None
) -> pl.DataFrame:
    tables = [table.columns for table in (columns, document_columns) if table is not None]
    column, divisor = (rule, 1.0) if any(rule in names for names in tables) else _split_rule(rule)
    found = column_values(gold, column, columns, document_columns)
    if not found["value"].dtype.is_numeric():
        raise UsageError(f"column '{column}' holds no numbers, so annotations cannot be weighed by it")
    if "document" in found.columns:
        found = gold.annotations.select("annotation", "document").join(found, on="document")
    values = found.select("annotation", weight=pl.col("value").cast(pl.Float64) / divisor).drop_nulls()
    for annotation, weight in values.filter(~pl.col("weight").is_between(0, 1)).head(1).iter_rows():
        fits = divisor == 1 and values["weight"].is_between(0, 100).all()
        hint = f"; percentiles run from 0 to 100: write --weight {column}/100" if fits else ""
        raise BadInput(f"column '{column}'", f"the weight {weight:g} of <{annotation}> is not between 0 and 1{hint}")
    return values.group_by("annotation").agg(pl.col("weight").min())


def weigh(case: Case, task: str, matching: str, degrees: pl.DataFrame) -> pl.DataFrame:
    """Return system, doc, `weight_found` and `weight_all`, for each document with gold; empty for tasks without.

    `degrees` has mention and weight. Raises `UsageError` for a matching whose recall is no mean over the mentions of
    gold: R* with all degrees 1 would not be R.
    """
    criterion = CRITERIA.get(task.partition("(")[0])
    if criterion is None:
        return pl.DataFrame(schema=_WEIGHED)
    chosen = matching_named(matching)
    if chosen.shares is None:
        raise UsageError(
            f"the recall of matching '{matching}' is no mean over mentions that could be weighed: use --match strong, "
            "weak, partial or graded"
        )
    case = case.of_spans if criterion == "span" else case
    judged = case.judge(criterion, chosen)
    kept = case.kept.select("mention", "doc", "group", "option").join(degrees, on="mention", maintain_order="left")
    options = sum_up(kept, ["doc", "group", "option"], pl.col("weight").mean())
    every = options.group_by("doc", "group").agg(pl.col("weight").max())
    every = every.group_by("doc").agg(weight_all=_sum("group"))
    found = chosen.shares(case, judged).join(options, on=["doc", "group", "option"])
    found = found.with_columns(weight=pl.col("weight") * pl.col("share"))
    found = found.group_by("system", "doc").agg(weight_found=_sum("group"))
    rows = case.mentions.for_each_system(every).join(found, on=["system", "doc"], how="left")
    return rows.with_columns(pl.col("weight_found").fill_null(0.0)).select(*_WEIGHED)


_WEIGHED = {"system": pl.Int64(), "doc": pl.Int64(), "weight_found": pl.Float64(), "weight_all": pl.Float64()}


def _sum(order: str) -> pl.Expr:
    # Sums of floats depend on their order: the same scores come out to the last digit.
    return pl.col("weight").sort_by(order).sum()


def fuzzy_scores(counts: LabelledCounts, keys: list[str]) -> pl.DataFrame:
    """Return keys, `average`, `fuzzy_recall` (R*) and `fuzzy_f1` (F*₁) of sorted counts per document.

    Where Σ µ is 0 both are undefined, except F*₁ of what has no gold at all: that is F1.

    >>> row = pl.DataFrame({"system": ["s"], "tp": [1], "fp": [1], "fn": [1], "weight_found": [0.5]})
    >>> row = row.with_columns(weight_all=1.5)
    >>> fuzzy_scores(row, ["system"]).filter(average="micro").select(pl.col(FUZZY).round(3)).rows()  # P = 1/2, R* = 1/3
    [(0.333, 0.4)]
    """
    numbers = ["tp", "fp", "fn", "chosen", "weight_found", "weight_all"]
    rows = counts.with_columns(chosen="fp_of_f1" if "fp_of_f1" in counts.columns else "fp")
    rows = rows.filter(pl.col("weight_all").is_not_null() | (pl.col("tp") + pl.col("fn") == 0))
    rows = rows.with_columns(pl.col("weight_found", "weight_all").fill_null(0.0))
    micro = sum_up(rows, keys, pl.col(numbers).sum()).with_columns(_scores())
    macro = sum_up(rows.with_columns(_scores()), keys, pl.col(FUZZY).mean())
    parts = {"micro": micro, "macro": macro}
    return pl.concat([part.select(*keys, *FUZZY, average=pl.lit(name)) for name, part in parts.items()])


def _scores() -> list[pl.Expr]:
    tp, chosen, fn = pl.col("tp"), pl.col("chosen"), pl.col("fn")
    precision, recall = ratio(tp, tp + chosen), ratio(pl.col("weight_found"), pl.col("weight_all"))
    harmonic = ratio(2 * precision * recall, precision + recall).fill_null(0.0)
    f1 = pl.when(tp + fn == 0).then(ratio(2 * tp, 2 * tp + chosen + fn)).when(recall.is_not_null()).then(harmonic)
    return [recall.alias("fuzzy_recall"), f1.alias("fuzzy_f1")]
