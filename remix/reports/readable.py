"""Scores as people read them: a row per system and slice, few columns, the signature below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from remix.names import UNSPECIFIED, WITHOUT_VALUE
from remix.paper import Typesetting
from remix.reports.doubts import explain_intervals, explain_shortcomings, explain_tests
from remix.scoring.errors import TAXONOMIES
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import ALL_SLICES
from remix.scoring.slicing import local_names, say_shared
from remix.scoring.statistics import F1, SCORES
from remix.scoring.tasks import takes_spans
from remix.signature import Signature
from remix.vocabularies import Vocabularies

_COUNTS = ("tp", "fp", "fn", "ignored", "macro_f1")
"""Columns that precisions of several kinds take the place of."""

_ALPHA = 0.05

MOST = 15
"""Slices of a column that people are shown."""


def readable(rows: pl.DataFrame, datasets: Sequence[str], by: Sequence[str] = (), *, full: bool = True) -> pl.DataFrame:
    """Return micro scores with macro-F1 beside them; what is the same in all rows or undefined in all is left out.

    Where a profile has the mean over slices it is the last row. Rows with several precisions have them in place of
    counts and macro-F1, or, if `full`, beside these.

    All rows show one F1, which the heading names where it is not that of all answers: see `precision_of_f1`.
    `datasets` names gold: where it is one dataset, its name stands for 'all'. InKB, EE and GSInKB are shown where
    they are asked for, `by` the column `kb`; they are among `rows` always.
    """
    rows = rows.filter(pl.col("column") != "error_class")
    rows, of_f1 = with_f1_shown(rows)
    rows = rows if "kb" in by else rows.filter(pl.col("column") != "kb")
    keys = ["system", "dataset", "task", "matching", "column", "slice"]
    # The mean over slices stands alone, or beside the scores of what they are together.
    together = (pl.col("column") != "") & (pl.col("slice") == ALL_SLICES)
    pooled = rows.filter(together, pl.col("average") == "micro")["column"].unique().implode()
    means = together & (pl.col("average") == "macro") & ~pl.col("column").is_in(pooled)
    macro = rows.filter(pl.col("average") == "macro", ~means).select(*keys, macro_f1="f1")
    table = pl.concat([rows.filter(pl.col("average") == "micro"), rows.filter(means)])
    table = table.join(macro, on=keys, how="left", maintain_order="left")
    # C2KB compares no spans, so its rows are the same under every matching.
    table = table.filter((pl.col("task") != "C2KB") | (pl.col("matching") == pl.col("matching").first()))
    table = table.with_columns(matching=pl.when(pl.col("task") != "C2KB").then("matching").otherwise(pl.lit("")))
    if len(datasets) == 1:
        table = table.with_columns(dataset=pl.lit(datasets[0]))
    shown = [name for name in ("dataset", "task", "matching") if table[name].n_unique() > 1]
    if len(datasets) > 1 and "dataset" not in shown and not set(table["dataset"]) & {"all", "mean"}:
        shown = ["dataset", *shown]  # this system is on one of several
    if "run_task" in table.columns:
        table = with_made_for(table)
        shown += ["made_for"] if table["made_for"].count() else []
        table = table.with_columns(pl.col("made_for").fill_null(""))
    if cuts := set(table["column"]) - {""}:
        table = table.with_columns(local_names("slice"))
        table = table.with_columns(slice=pl.when(pl.col("column") == "").then(pl.lit("all")).otherwise("slice"))
        shown += ["slice"] if len(cuts) == 1 else ["column", "slice"]
    columns = ["system", *shown, "threshold", "failed", "mentions", "tp", "fp", "fn", "ignored", "precision"]
    columns += ["precision_in_scope", "precision_on_mention", "recall", "f1", "f1_deviation", "f1_low", "f1_high"]
    columns += ["difference", "p_holm", "fuzzy_recall", "fuzzy_f1", "macro_f1"]
    optional = {"threshold", "failed", "ignored", *columns[columns.index("precision") + 1 :]} - {"recall", "f1"}
    kept = [name for name in columns if name not in optional or (name in table.columns and _says(table[name]))]
    renamed = {"precision": "P", "precision_in_scope": "P in scope", "precision_on_mention": "P on mention"}
    f1 = "F1" if of_f1 == "all" else f"F1 {of_f1}"
    renamed |= {"recall": "R", "f1": f1, "f1_low": f"{f1} from", "f1_high": "to", "macro_f1": f"macro-{f1}"}
    renamed |= {"made_for": MADE_FOR}
    renamed |= {"f1_deviation": "±", "p_holm": "p (Holm)", "fuzzy_recall": "R*", "fuzzy_f1": "F1*"}
    left_out = SCORES[3:] if of_f1 == "all" else () if full else _COUNTS
    kept = [name for name in kept if name not in left_out]
    scores = [name for name in kept if table.schema[name].is_float()]
    return table.select(kept).with_columns(pl.col(scores).round(3)).rename(renamed, strict=False)


MADE_FOR = "run made for"
"""What the column is called that says which task answers are to, where that is not the task of a row."""


def with_made_for(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with `made_for`, the task of their run, null where it is that of the row, as it is of most.

    >>> rows = pl.DataFrame({"task": ["A2KB", "D2KB"], "run_task": ["D2KB", "D2KB"]})
    >>> with_made_for(rows)["made_for"].to_list()
    ['D2KB', None]
    """
    of_spans = [task for task in rows["task"].unique() if takes_spans(task)]
    needed = pl.when(pl.col("task").is_in(of_spans)).then(pl.lit("D2KB")).otherwise(pl.lit("A2KB"))
    return rows.with_columns(made_for=pl.when(pl.col("run_task") != needed).then("run_task"))


def readable_tables(
    rows: pl.DataFrame, datasets: Sequence[str], by: Sequence[str] = (), *, full: bool = True
) -> dict[str, pl.DataFrame]:
    """Return a table for each task and matching, of the whole of gold and of the slices by each column, by its title.

    The arguments are those of `readable`.
    """
    rows = rows.filter(pl.col("column") != "error_class")
    sliced = ~pl.col("column").is_in(["", "kb"])
    parts = [rows.filter(~sliced).with_columns(part=pl.lit("")), rows.filter(sliced).with_columns(part="column")]
    tables = {}
    for part in parts:
        for (column, task, matching), own in part.group_by("part", "task", "matching", maintain_order=True):
            if task == "C2KB" and matching != part["matching"][0]:
                continue  # it compares no spans: its rows are the same under every matching
            title = f"{task} by {column}" if column else f"{task}"
            tables[title if task == "C2KB" else f"{title}, {matching} matching"] = readable(
                own, datasets, by, full=full
            )
    return tables


_INTERVAL = " from"
NEVER_BEST = "Baselines and oracles are never the best."
"""What is said below a table of scores that has some."""


def typeset_scores(table: pl.DataFrame, kinds: Mapping[str, str]) -> tuple[pl.DataFrame, Typesetting]:
    """Return a table of scores and how a paper shows it: the best in bold, intervals and significance in the cell.

    The best is looked for among systems on the same dataset, task, matching and slice; where systems are the columns,
    in each row. A baseline or an oracle, as `kinds` says of the names of systems, is never the best. A score whose p
    (Holm) is below 0.05 has an asterisk.

    >>> told, how = typeset_scores(pl.DataFrame({"system": ["a", "b"], "slice": "all", "P": [0.5, 0.6],
    ...     "F1": [0.7, 0.8], "F1 from": [0.6, 0.7], "to": [0.8, 0.9], "p (Holm)": [None, 0.01]}), {})
    >>> sorted(how.best), how.within, how.intervals, how.marks, told[how.marks["F1"]].to_list()
    (['F1', 'P'], ['slice'], {'F1': ('F1 from', 'to')}, {'F1': 'significance'}, ['', '*'])
    """
    told = {"threshold", "±", "difference", "p (Holm)", "to", "effect", "p", "p_holm", "low", "high"}
    numbers = [name for name, kind in table.schema.items() if kind.is_float() and name not in told]
    across = "system" not in table.columns and len(numbers) > 1
    if "other" in table.columns or "kendall" in table.columns:  # tests, correlations: none of them is the best
        pair = {"difference": ("low", "high")} if {"difference", "low", "high"} <= {*table.columns} else {}
        return table, Typesetting(intervals=pair)
    start = next((name for name in numbers if name.endswith(_INTERVAL)), "")
    of = start.removesuffix(_INTERVAL)
    spread = {of: (start, "to")} if of in table.columns and "to" in table.columns else {}
    beyond = {name for name, kind in kinds.items() if kind != "system"}
    rivals = [name for name in numbers if name != start and not (across and name in beyond)]
    best = dict.fromkeys(rivals, "highest")
    within = [name for name in ("dataset", "task", "matching", "column", "slice") if name in table.columns]
    marks = {}
    main = of or next((name for name in numbers if name.startswith("F1")), "")
    if "p (Holm)" in table.columns and main:
        surely = (pl.col("p (Holm)") < _ALPHA).fill_null(False)
        table = table.with_columns(significance=pl.when(surely).then(pl.lit("*")).otherwise(pl.lit("")))
        marks = {main: "significance"}
    ranked = {}
    if not across and "system" in table.columns and set(table["system"]) & beyond:
        ranked = {"kind": "system"}
        kind = pl.when(pl.col("system").is_in([*beyond])).then(pl.lit("other")).otherwise(pl.lit("system"))
        table = table.with_columns(kind=kind)
    how = Typesetting(
        best=best,
        across=across,
        within=[] if across else within,
        ranked=ranked,
        intervals=spread,
        marks=marks,
        digits=3,
        note=NEVER_BEST if ranked or (across and beyond & {*table.columns}) else "",
    )
    shown = [name for name in how.headings(table) if name != "kind"]
    return table, replace(how, columns=shown) if ranked else how


def fold_rows(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows that people are shown, and a line on each column of which slices are left out.

    Slices are of all gold together where that is several datasets, the largest first; of many only the `MOST` largest.
    Parts of a range, which have numbers, keep their order and are all shown, and so is the mean over slices.
    """
    whole = ["", "kb", "error_class"]
    sliced = rows.filter(~pl.col("column").is_in(whole))
    if sliced.is_empty():
        return rows, []
    pooled = sliced.filter(pl.col("dataset") == "all")
    lines = []
    if len(pooled) and len(pooled) < len(sliced):
        lines.append("slices are those of all datasets together; -o json has those of each as well")
    sliced = pooled if len(pooled) else sliced
    mean = pl.col("slice") == ALL_SLICES
    found = [rows.filter(pl.col("column").is_in(whole)), sliced.filter(mean)]
    for (column,), own in sliced.filter(~mean).group_by("column", maintain_order=True):
        sizes = own.group_by("slice").agg(pl.col("mentions").max()).sort("mentions", "slice", descending=[True, False])
        if own["slice"].str.contains(r"^\d+: ").all():
            found.append(own)
            continue
        # What has no value is shown however little it is: no table hides it.
        unspecified = pl.col("slice").str.contains(_UNSPECIFIED)
        sizes = pl.concat([sizes.filter(unspecified), sizes.filter(~unspecified)]) if len(sizes) > MOST else sizes
        left = sizes[MOST:]
        if len(left):
            most, *_, least = [*left["mentions"], left["mentions"][-1]]
            lines.append(
                f"{len(left)} smaller slices by {column} ({least} to {most} mentions) are left out here: "
                "-o json has every slice"
            )
        found.append(sizes[:MOST].select("slice").join(own, on="slice", maintain_order="left").select(rows.columns))
    return pl.concat(found), lines


_UNSPECIFIED = rf"^(?:\d+: )?(?:{UNSPECIFIED}|{WITHOUT_VALUE})$"
"""The slice of what has no value in a column, as `remix.measures.columns.values_by` names it."""

_PAIRED = ["system", "dataset", "task", "matching"]


def explain_slices(rows: pl.DataFrame) -> list[str]:
    """Return how much of gold has a value in each column that rows are sliced by, and why sums differ from the whole.

    Of slices by classes it begins with the vocabulary that they are of.

    >>> keys = {"system": "s", "dataset": "all", "task": "A2KB", "matching": "strong", "average": "micro"}
    >>> counts = pl.DataFrame({"column": ["", "rank", "rank"], "slice": ["", "head", "unspecified"],
    ...     "mentions": [880, 111, 769], "tp": [500, 100, 400], "fp": [20, 20, 19]})
    >>> for line in explain_slices(counts.with_columns(pl.lit(value).alias(key) for key, value in keys.items())):
    ...     print(line)
    rank: 111 of 880 mentions have a value, the others are the slice 'unspecified'
    sums of slices are not the counts of all: an answer on no mention is wrong in every slice
    """
    # What is null in all rows of a page is no column there.
    absent = [pl.lit(None, pl.Int64).alias(name) for name in ("mentions", "tp", "fp") if name not in rows.columns]
    micro = rows.with_columns(absent).filter(pl.col("dataset") == "all", pl.col("average") == "micro")
    sliced, lines = micro.filter(~pl.col("column").is_in(["", "kb", "error_class"])), explain_vocabularies(rows)
    sliced = sliced.filter(pl.col("slice") != ALL_SLICES)
    whole = micro.filter(pl.col("column") == "").select(*_PAIRED, pl.col("mentions", "tp", "fp").name.suffix("_of_all"))
    both = sliced.join(whole, on=_PAIRED).filter(pl.col("task") != "C2KB")
    both = both.drop_nulls("mentions")
    none = both.filter(pl.col("slice").str.contains(_UNSPECIFIED))
    for (column,), own in none.group_by("column", maintain_order=True):
        sizes = dict(own.unique("slice", keep="first").select("slice", "mentions").iter_rows())
        # A column that has a value 'unspecified' of its own calls what has no value by another name.
        name = next((one for one in sizes if one.endswith(WITHOUT_VALUE)), next(iter(sizes)))
        every, named = own["mentions_of_all"][0], sum(sizes.values()) - sizes[name]
        of_name = f", {named} of them the value '{UNSPECIFIED}'" if named else ""
        valued = f"{every - sizes[name]} of {every} mentions have a value"
        lines.append(f"{column}: {valued}{of_name}, the others are the slice '{name}'")
    sums = sliced.group_by(*_PAIRED, "column", maintain_order=True).agg(pl.col("mentions", "tp", "fp").sum())
    sums = sums.join(whole, on=_PAIRED).with_columns(
        (pl.col(name) - pl.col(f"{name}_of_all")).alias(name) for name in ("mentions", "tp", "fp")
    )
    of_pairs, alike = pl.col("task") != "C2KB", pl.col("mentions") == 0
    reasons = {
        "a mention with several values is in the slice of each": of_pairs & (pl.col("mentions") > 0),
        "an answer on no mention is wrong in every slice": of_pairs & alike & (pl.col("fp") > 0),
        "where overlap is enough, an answer may be right in one slice for another mention than in all": of_pairs
        & alike
        & (pl.col("matching") != "strong")
        & (pl.col("tp") != 0),
        "in C2KB an entity counts in every slice that one of its mentions is in": ~of_pairs & (pl.col("mentions") > 0),
    }
    told = [said for said, where in reasons.items() if len(sums.filter(where))]
    return lines + ([f"sums of slices are not the counts of all: {'; '.join(told)}"] if told else [])


def explain_vocabularies(rows: pl.DataFrame) -> list[str]:
    """Return which vocabulary the slices by classes are of, and which others there are.

    >>> explain_vocabularies(pl.DataFrame({"vocabularies": ["class: dbo (39), wd (20)", None]}))[0]
    'class: classes of dbo (39 mentions) are shown; there are also wd (20): --by class:wd, or class:all for all'
    """
    return [one.note(column) for column, one in vocabularies_told(rows).items()]


def vocabularies_told(rows: pl.DataFrame) -> dict[str, Vocabularies]:
    """Return the vocabularies of each column of classes that rows are sliced by, where it has several."""
    if "vocabularies" not in rows.columns:
        return {}
    told = rows["vocabularies"].drop_nulls().str.split("; ").explode().unique().sort()
    return {column: Vocabularies.parse(text) for column, _, text in (one.partition(": ") for one in told)}


def with_f1_shown(rows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return rows of scores with the F1 that all of them show as `f1`, and the precision that it takes.

    Rows that know one precision alone (`f1_precision` says so) show their only F1, and a score without denominator
    is null, whatever the F1 of all answers is. Of some remixes the answers in scope are known, and of others not: those
    on mentions are known of all, so that they can be compared.

    >>> columns = {"f1": [0.5, 0.5, 0.5], "f1_in_scope": [0.6, None, None], "f1_on_mention": [0.7, 0.8, None]}
    >>> rows = pl.DataFrame({**columns, "f1_precision": ["in scope", "on mention", "all"]})
    >>> with_f1_shown(rows)[0]["f1"].to_list(), with_f1_shown(rows)[1], with_f1_shown(rows[:1])[0]["f1"].to_list()
    ([0.7, 0.8, 0.5], 'on mention', [0.6])
    """
    taken = {*rows["f1_precision"]} if "f1_precision" in rows.columns else set()
    of_f1 = next((one for one in ("on mention", "in scope") if one in taken), "all")
    if of_f1 == "all":
        return rows, of_f1
    own = pl.col("f1_precision") != "all"
    names = [(F1[of_f1], "f1"), (f"{F1[of_f1]}_deviation", "f1_deviation")]
    shown = [pl.when(own).then(name).otherwise(other).alias(other) for name, other in names if name in rows.columns]
    return rows.with_columns(shown), of_f1


PRECISIONS = {
    "all": "that count",
    "in scope": "that the selection could mean",
    "on mention": "on kept mentions",
}
"""The answers that each precision is of."""
_PRECISIONS = {
    "P": "is of all answers",
    "P in scope": f"of those {PRECISIONS['in scope']}",
    "P on mention": f"of those {PRECISIONS['on mention']}",
}


def explain_precisions(tables: Iterable[pl.DataFrame]) -> list[str]:
    """Return what precisions of several kinds are, where tables have them."""
    known = {name for table in tables for name in table.columns}
    told = [f"{name} {said}" for name, said in _PRECISIONS.items() if name in known]
    return [", ".join(told)] if len(told) > 1 else []


def readable_errors(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the error classes with their number, what they could have been made on, and the rate, in percent."""
    table = rows.filter((pl.col("column") == "error_class") & (pl.col("dataset") == "all"))
    shown = ["matching"] if table["matching"].n_unique() > 1 else []
    rate = (100 * pl.col("rate")).round(1)
    return table.select("system", *shown, pl.col("slice").alias("error class"), "errors", "total", rate.alias("%"))


def _says(column: pl.Series) -> bool:
    return column.null_count() < len(column) if column.dtype.is_float() else bool(column.sum())


def signature_lines(rows: pl.DataFrame, by: Sequence[str] = ()) -> list[str]:
    """Return the signature that all systems share, then the content of each one's run.

    Before them stands what rows that are shown do not say themselves: what intervals and differences are, how
    thresholds were chosen.
    """
    rows = rows if "kb" in by else rows.filter(pl.col("column") != "kb")
    signed = rows.select("system", "signature").drop_nulls().unique(maintain_order=True).rows()
    parsed = {system: dict(Signature.parse(line).fields) for system, line in signed}
    runs = " ".join(f"{system}={_run(fields)}" for system, fields in parsed.items())
    lines = [f"signature {Signature(next(iter(parsed.values())))}", f"runs {runs}"]
    return [*_explain(rows, next(iter(parsed.values()))), *lines]


def legend(rows: pl.DataFrame, taxonomies: Iterable[str] = (), *, always: bool = False) -> list[str]:
    """Return what names in tables mean: of matchings, where there are several or `always`, and of classes of errors."""
    counted = rows.filter(pl.col("column") != "error_class", pl.col("task") != "C2KB")
    pairs = counted.select("profile", "matching").drop_nulls().unique(maintain_order=True).rows()
    told = {name: PROFILES[profile].meaning(name) for profile, name in pairs}
    lines = [f"{name}: {said}" for name, said in told.items() if said] if always or len(told) > 1 else []
    made = set(rows.filter(pl.col("errors") > 0)["slice"]) if "errors" in rows.columns else set()
    meanings = {name: meaning for one in taxonomies for name, meaning in TAXONOMIES[one].classes.items()}
    return lines + [f"{name}: {meaning}" for name, meaning in meanings.items() if name in made]


def explain_documents(rows: pl.DataFrame) -> list[str]:
    """Return in which documents answers count, where that makes a difference to what is shown."""
    if not {"documents_counted", "f1_precision"} <= set(rows.columns):
        return []
    told = rows.select("system", "dataset", counted="documents_counted").drop_nulls("counted")
    taken = {*told["counted"]}
    if not taken or (taken == {"all"} and not (rows["f1_precision"] != "all").any()):
        return []
    every, some = "in every document", "in documents with a kept mention"
    if len(taken) == 1 and taken != {"mixed"}:
        return [f"answers count {every if taken == {'all'} else f'{some} alone'}"]
    kept = told.filter(counted="kept")
    systems, datasets = sorted({*kept["system"]}), sorted({*kept["dataset"]} - {"all"})
    who = f"those of {', '.join(systems)} " if 0 < len(systems) < told["system"].n_unique() else ""
    on = f"on {', '.join(datasets) or 'some'} " if datasets or taken == {"mixed"} else ""
    return [f"answers count {every}, {who}{on}{some} alone"]


def _explain_shared(rows: pl.DataFrame) -> list[str]:
    """Return how many mentions 'all' counts, where datasets share some or share documents, which it counts once."""
    if not {"mentions", "documents"} <= set(rows.columns):
        return []
    whole = rows.filter(pl.col("column") == "", pl.col("average") == "micro", pl.col("dataset") != "mean")
    whole = whole.drop_nulls(["mentions", "documents"])
    sizes = {name: pl.col(name).filter(pl.col("dataset") == "all").first() for name in ("mentions", "documents")}
    sums = {f"{name}_of_each": pl.col(name).filter(pl.col("dataset") != "all").sum() for name in sizes}
    found = whole.group_by("system", "task", "matching", "profile", maintain_order=True).agg(**sizes, **sums)
    found = found.filter(pl.col("documents") < pl.col("documents_of_each"))
    found = found.select("mentions", "mentions_of_each").cast(pl.Int64)
    return [say_shared(*found.row(0))] if len(found) else []


def _explain(rows: pl.DataFrame, fields: dict[str, str]) -> list[str]:
    said = {name for name in ("f1_low", "threshold") if name in rows.columns and _says(rows[name])}
    lines = [*_explain_shared(rows), *explain_documents(rows)]
    unit = fields.get("unit", "document")
    lines += explain_shortcomings(rows)
    if "f1_low" in said:
        lines += explain_intervals(rows, unit)
    if "p_holm" in rows.columns:
        lines += explain_tests(rows, unit, fields.get("against", ""))
    if "threshold" in said:
        rule = {"oracle": " (oracle: the best micro-F1 on this very gold)", "tuned": " (the best where it was tuned)"}
        lines.append(f"answers count above the confidence in threshold{rule.get(rows['threshold_by'][0], '')}")
    elif "threshold_by" in rows.columns and "oracle" in rows["threshold_by"]:
        lines.append(
            "where a run has confidence, answers count above that of the best micro-F1 on this very gold (oracle)"
        )
    return lines


def _run(fields: dict[str, str]) -> str:
    """Return what a signature says of the run alone, taken out of its fields: its content, and how it was made."""
    made = [f"{name.removeprefix('run_')} {fields.pop(name)}" for name in [*fields] if name.startswith("run_")]
    return fields.pop("run") + (f" ({', '.join(made)})" if made else "")
