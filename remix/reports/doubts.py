"""What is said below scores: what speaks against the runs, how intervals and tests were made, which are in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import polars as pl

from remix.reports.matrix import MANY, UNCOMPARED
from remix.scoring.inputs.shortcomings import FORMLESS
from remix.scoring.slicing import local_names
from remix.scoring.statistics.intervals import LEAST_UNITS

if TYPE_CHECKING:
    from remix.runs.register import Run

_NAMED = 6
"""Rows that a line names; of more it says how many they are."""


def tell_unanswered(runs: Iterable[Run], documents: Mapping[str, int]) -> list[str]:
    """Return which runs have answers to fewer documents than their dataset has; `documents` are those of datasets.

    Of systems with several runs on a dataset that with the most documents is told.
    """
    most: dict[tuple[str, str], int] = {}
    for run in runs:
        if run.dataset in documents:
            key = run.system, run.dataset
            most[key] = max(most.get(key, 0), run.documents)
    fewer = [
        f"{system} on {dataset} ({count:,} of {documents[dataset]:,})"
        for (system, dataset), count in sorted(most.items())
        if count < documents[dataset]
    ]
    if not fewer:
        return []
    return [f"Fewer documents are answered than there are, and mentions of the others count as missed: {_list(fewer)}"]


def explain_shortcomings(rows: pl.DataFrame) -> list[str]:
    """Return on which documents systems failed and how that counts, and whose revision or selection is in doubt.

    Rows are scores, judgements, or whatever else has a `system` with `failed`, `revision_unknown`, `fitted` or
    `formless`, as `remix.scoring.inputs.shortcomings` makes them; of several datasets (`dataset`) each is told.

    >>> explain_shortcomings(pl.DataFrame({"system": ["b", "a"], "failed": [0, 1]}))[0][:55]
    'failed: a on 1 document; without an answer, the mention'
    >>> explain_shortcomings(pl.DataFrame({"system": ["b", "a"]}))
    []
    """
    lines = []
    if "failed" in rows.columns and (told := _tell_failed(rows)):
        lines.append(
            f"failed: {', '.join(told)}; without an answer, the mentions of these documents count as missed, in tests "
            "and intervals as well (`remix annotate … --retry-failed` asks them again)"
        )
    if "revision_unknown" in rows.columns:
        names = rows.filter("revision_unknown")["system"].unique().sort()
        of = ", ".join(f"'{name}'" for name in names)
        if len(names):
            lines.append(
                f"of {of} nothing says on which revision of the texts {'it was' if len(names) == 1 else 'they were'} "
                "made, so that these figures may be of other ones: `remix run add NAME FILE --record revision=… "
                "--replace`"
            )
    lines += _tell_formless(rows)
    if "fitted" in rows.columns:
        own = rows.filter("fitted")["system"].unique().sort()
        if len(own):
            lines.append(
                f"gold was selected by what came of the run{'s' * (len(own) > 1)} of "
                + ", ".join(f"'{name}'" for name in own)
                + f": {'its score is' if len(own) == 1 else 'their scores are'} fitted to that and compare with no "
                f"other's (`remix build --without {own[0]}` selects without it)"
            )
    return lines


def _tell_formless(rows: pl.DataFrame) -> list[str]:
    """Return which runs, and whether gold, tell no text of their mentions where a matching compares it."""
    if not {*FORMLESS} <= {*rows.columns}:
        return []
    found = rows.filter(pl.any_horizontal(pl.col(*FORMLESS) > 0))
    if found.is_empty():
        return []
    by = _list(found["matching"]) if "matching" in rows.columns else "this matching"
    each = found.group_by("system").agg(pl.col("formless").max()).filter(pl.col("formless") > 0).sort("system")
    lines = []
    if named := [f"{count:,} of '{system}'" for system, count in each.iter_rows()]:
        lines.append(
            f"by {by} an answer is right with the very text of its mention alone, which answers without a surface form "
            f"do not tell, so that these count as wrong: {_list(named)}; give each a surface form, or its document "
            "the text, and take the file again (`remix run add NAME FILE --replace`)"
        )
    if count := found.select(pl.max("gold_formless")).item():
        lines.append(
            f"by {by} an answer is right with the very text of its mention alone, which {count:,} mentions of gold "
            "without a surface form do not tell, so that they count as missed: load gold with its texts"
        )
    return lines


def tell_uncompared(cells: pl.DataFrame) -> list[str]:
    """Return of which scores `mark_uncompared` marks answers cannot be compared to gold's entities, most first.

    >>> tell_uncompared(pl.DataFrame({"system": ["a"], "part": ["x"], "uncompared": [0.25]}))[0][-38:]
    'as their errors show: a on x (25.0 %).'
    """
    if "uncompared" not in cells.columns:
        return []
    rows = cells.filter(pl.col("uncompared") >= MANY)
    if rows.is_empty():
        return []
    rows = rows.sort("uncompared", "system", "part", descending=[True, False, False])
    named = [f"{system} on {part} ({100 * share:.1f} %)" for system, part, share in rows.select(*_SHARE).iter_rows()]
    return [
        f"{UNCOMPARED} Of {100 * MANY:.0f} % or more of the answers on linked mentions nothing tells whether they are "
        "gold's entity under another name: they are of another namespace, and the knowledge base neither joins the two "
        f"nor tells them apart. They count as wrong, as their errors show: {_list(named)}."
    ]


_SHARE = ("system", "part", "uncompared")


def _tell_failed(rows: pl.DataFrame) -> list[str]:
    """Return each system that failed, with the number of documents, and of which dataset where they are of several."""
    found = rows.filter(pl.col("failed") > 0)
    dataset = pl.col("dataset") if "dataset" in rows.columns else pl.lit("all")
    each = found.group_by("system", dataset=dataset).agg(pl.col("failed").max()).sort("system", "dataset")
    own = ~pl.col("dataset").is_in(["all", "mean"])
    each = each.filter(own | ~own.any().over("system")).unique(["system", "dataset"], maintain_order=True)
    several = each.filter(own)["dataset"].n_unique() > 1
    told = []
    for system, name, count in each.iter_rows():
        where = f" of {name}" if several and name not in ("all", "mean") else ""
        told.append(f"{system} on {count} document{'s' * (count > 1)}{where}")
    return list(dict.fromkeys(told))


def explain_intervals(rows: pl.DataFrame, unit: str) -> list[str]:
    """Return what the intervals of rows are, and of which rows they are missing or in doubt."""
    lines = [f"F1 from … to is its 95 % interval over {unit}s: a jackknife on logits, with t"]
    shown = rows.filter(average="micro") if "average" in rows.columns else rows
    if "interval_doubt" not in shown.columns:
        return lines
    shown = shown.with_columns(local_names("slice")).filter(pl.col("interval_doubt") != "")
    shown = shown.unique(["system", "dataset", "slice", "interval_doubt"])
    for (why,), own in shown.sort("system", "dataset", "slice").group_by("interval_doubt", maintain_order=True):
        words = "no interval" if own["f1_low"].null_count() == len(own) else "interval in doubt"
        named = [part or system for part, system in own.select("slice", "system").iter_rows()]
        lines.append(f"{words} ({str(why).replace('document', unit)}): {_list(named)}")
    return lines


def explain_tests(rows: pl.DataFrame, unit: str, against: str) -> list[str]:
    """Return what the tests of slices are, and which slices are not tested."""
    other = f"mentions of {against}" if against else "other mentions"
    lines = []
    if rows["p_holm"].count():
        lines = [
            f"difference is micro-F1 less that of {against or 'all'}",
            f"p (Holm): that mentions of a slice are found as often as {other}, {unit}s and entities having effects; "
            "corrected over the slices of a column (-o json has the p of precision, on mentions)",
        ]
    if "untested" not in rows.columns:
        return lines
    left = rows.with_columns(local_names("slice")).filter(pl.col("untested") != "").unique(["slice", "untested"])
    few = pl.col("untested").str.extract(r"^held by (\d+) ")
    left = left.with_columns(few=few, why=pl.when(few.is_null()).then("untested")).sort("why", "slice")
    for (why,), own in left.group_by("why", maintain_order=True):
        said = str(why).replace("document", unit) if why else f"held by fewer than {LEAST_UNITS} {unit}s"
        # One slice may be held by more in one dataset than in another: its fewest are told.
        own = own.sort("slice", pl.col("few").cast(pl.Int64)).unique("slice", keep="first", maintain_order=True)
        named = [name if few is None else f"{name} ({few})" for name, few in own.select("slice", "few").iter_rows()]
        lines.append(f"not tested, {said}: {_list(named)}")
    return lines


def _list(names: Iterable[str]) -> str:
    names = [*dict.fromkeys(names)]
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
