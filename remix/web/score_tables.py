"""Scores of systems on datasets or slices as tables: a matrix with intervals and tests, the tests, and all of them.

The page of systems shows them, and reports do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from remix.checks.copies import find_editions
from remix.measures.enrichment import frames_of
from remix.names import shorten
from remix.paper import Typesetting
from remix.reports.doubts import explain_intervals, explain_shortcomings, tell_uncompared
from remix.reports.labels import label_flags, label_parts
from remix.reports.matrix import (
    Family,
    family_of,
    mark_cells,
    mark_uncompared,
)
from remix.reports.readable import (
    PRECISIONS,
    explain_documents,
    explain_slices,
    fold_rows,
    vocabularies_told,
    with_f1_shown,
)
from remix.reports.score_cache import Scored
from remix.reports.scores import figure_of_columns
from remix.reports.two_systems import tell_two_systems
from remix.reports.unknown_scope import explain_scope
from remix.scoring.rows import ALL_SLICES
from remix.scoring.statistics import F1
from remix.vocabularies import ALL
from remix.web import page
from remix.web.addresses import address
from remix.web.score_leads import Leading, lead_to_errors, list_scored_datasets, name_conditions, name_slices
from remix.web.score_matrix import ShownScores, tabulate_matrix, tell_untested, with_intervals_spelt

_SCORES = ("precision", "recall", "f1", "macro F1")


def show_scores(
    work: page.Explored,
    asked: Mapping[str, str],
    scored: Scored,
    columns: Mapping[str, str],
    datasets: Sequence[str],
    kinds: Mapping[str, str],
) -> list[page.Shown]:
    """Return the matrix, and folded its figures, the tests of pairs, and the scores in full."""
    rows, of_f1 = with_f1_shown(
        scored.rows.filter(pl.col("dataset") == "all", pl.col("column").is_in(["", asked["by"]]))
    )
    average = "micro" if "micro" in rows["average"] else rows["average"][0]
    rows = rows.with_columns(part="slice" if asked["by"] else "asked")
    if asked["by"]:
        rows = rows.with_columns(part=name_slices(pl.col("part"), whole=pl.col("column") == ""))
    shown, _ = fold_rows(rows)
    every_slice = shown.filter(part=ALL_SLICES)
    macro = shown.filter(average="macro").select("system", "part", pl.col("f1").alias("macro F1"))
    shown = shown.filter(pl.col("average") == average, pl.col("part") != ALL_SLICES)
    shown = shown.join(macro, on=["system", "part"], how="left", maintain_order="left")
    # The scores of all slices together, where the profile has them, else the mean over slices.
    pooled = every_slice.filter(average=average).join(macro, on=["system", "part"], how="left", maintain_order="left")
    means = every_slice.filter(average="macro") if pooled.is_empty() else pooled
    pairs = _name_parts(scored.pairs, asked["by"])
    whole = scored.done == scored.of
    single = rows.filter(pl.col("average") == average, pl.col("part") != ALL_SLICES)
    family = family_of(pairs, single, kinds, asked["against"], whole=whole)
    marked = mark_cells(pl.concat([shown, means], how="diagonal"), family, kinds, asked["against"])
    every = with_intervals_spelt(mark_uncompared(marked))
    cells = every.filter(pl.col("part") != ALL_SLICES)
    score = f"{average}-F1" + ("" if of_f1 == "all" else f" (precision {of_f1})")
    lead = partial(
        lead_to_errors, {**asked, "by": _name_vocabulary(asked["by"], rows)}, list_scored_datasets(scored.rows)
    )
    notes = explain_slices(rows)
    if "f1_low" in rows.columns and rows["f1_low"].count():
        notes = [*notes, *explain_intervals(rows, "document")]
    notes = [*notes, *explain_shortcomings(rows.with_columns(dataset="asked"))]
    notes = [*notes, *(explain_scope(work, datasets) if of_f1 == "on mention" else [])]
    left = rows["part"].n_unique() - every["part"].n_unique()
    parts = [*datasets] if not asked["by"] else every["part"].unique(maintain_order=True).to_list()
    labels = _call_parts(work, cells["part"].cast(pl.String), asked["by"])
    group = partial(_group_editions, work)
    said = tell_two_systems(cells, score, asked["by"], labels, group)
    counted = {**asked, "datasets": ",".join(datasets)}
    matrix = ShownScores(counted, every, score, parts, family, labels, lead, whole)
    return [
        *([page.Note(f"{said} {_CHANCE}")] if said else []),
        tabulate_matrix(matrix, columns, left, group),
        *[page.Note(said) for said in (*explain_documents(rows.with_columns(dataset="part")), *tell_uncompared(cells))],
        *_lead_to_vocabularies(asked, rows),
        *_draw(cells, score, counted, lead),
        _list_tests(family, lead, counted, every["system"], whole=whole),
        _list_scores(
            rows.with_columns(kind=pl.col("system").replace_strict(dict(kinds), default="system")), of_f1, counted
        ),
        *[page.Note(said) for said in (*notes, *_tell_shared(scored.rows, asked["by"]), *_tell_none(matrix))],
    ]


def _call_parts(work: page.Explored, parts: pl.Series, by: str) -> dict[str, str]:
    """Return what people call parts of a column, as `label_parts` does; of flags which column they are of."""
    return label_flags(by) | label_parts(work.kb, parts, by) if by else {}


def _tell_shared(rows: pl.DataFrame, by: str) -> list[str]:
    """Return that mentions of texts which several datasets share count once in slices, where there are some."""
    whole = rows.filter(pl.col("column") == "", ~pl.col("dataset").is_in(["mean"])).drop_nulls("mentions")
    counts = whole.group_by("dataset").agg(pl.col("mentions").max())
    every = counts.filter(dataset="all")["mentions"].sum()
    added = counts.filter(pl.col("dataset") != "all")["mentions"].sum()
    if not by or added <= every:
        return []
    return [f"Datasets share texts, whose mentions count once here: {every:,} in place of {added:,}."]


def _tell_none(shown: ShownScores) -> list[str]:
    """Return why a score of 0 may say nothing of a system, where there is one of which a mark does not say it yet."""
    told = shown.whole and not shown.asked["by"]
    if told or shown.cells.filter(pl.col("f1") == 0, kind="system").is_empty():
        return []
    return [
        "A score of 0 may come of entities of another knowledge base than gold's: its errors say of how many answers "
        "nothing tells whether they are the entity of gold."
    ]


def _draw(cells: pl.DataFrame, score: str, asked: Mapping[str, str], lead: Leading) -> list[page.Drawing]:
    """Return the figures of systems, without oracles, that are folded but for that of a single column."""
    by = name_conditions(asked)
    drawn = cells.filter(pl.col("kind") != "oracle")
    figures = {} if drawn.is_empty() else figure_of_columns(drawn, score, spider=asked["spider"], links=lead, by=by)
    return [page.Drawing(name, figure, folded=not asked["spider"]) for name, figure in figures.items()]


def _name_vocabulary(by: str, rows: pl.DataFrame) -> str:
    """Return the column with the vocabulary that its slices are of: one dataset alone may show another."""
    told = vocabularies_told(rows)
    return f"{by}:{told[by].shown}" if by in told else by


def _lead_to_vocabularies(asked: Mapping[str, str], rows: pl.DataFrame) -> list[page.Shown]:
    """Return the addresses of the same page by the classes of other vocabularies."""
    links = {
        f"{column}:{name}": address("systems", **{**asked, "by": f"{column}:{name}"})
        for column, one in vocabularies_told(rows).items()
        if asked["by"].partition(":")[0] == column
        for name in (*one.others, ALL)
    }
    return [page.Note("Classes of other vocabularies:", links=links)] if links else []


def _name_parts(pairs: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the pairs with the name of their column in the matrix."""
    if "part" not in pairs.columns:
        return pairs
    if not by:
        return pairs.with_columns(part="asked")
    whole = ~pl.col("part").str.starts_with(f"{by}=")
    return pairs.with_columns(part=name_slices(pl.col("part").str.strip_prefix(f"{by}="), whole=whole))


_CHANCE = "Which of these differences are more than chance the stars say, and the tests of pairs below."


def _group_editions(work: page.Explored, datasets: Sequence[str]) -> list[list[str]]:
    """Return those of the datasets that share half or more of their texts, together."""
    texts = [work.store.cached(("texts of", name), partial(_list_texts, work, name)) for name in datasets]
    return find_editions(pl.concat(texts).filter(pl.col("text") != ""))


def _list_texts(work: page.Explored, dataset: str) -> pl.DataFrame:
    return frames_of(work.store, dataset).documents.select("dataset", "text").unique()


def _list_tests(
    family: Family, lead: Leading, asked: Mapping[str, str], systems: pl.Series, *, whole: bool
) -> page.Shown:
    """Return the tests of pairs of systems that are asked for, of those that have scores."""
    pairs = family.pairs
    if pairs.is_empty() and not whole:
        return page.Note("The tests of pairs of systems are being computed.")
    if pairs.is_empty():
        return page.Note(tell_untested(asked, systems))
    names = ["part", "system", "other", "score_system", "score_other", "difference", "low", "high", "p", "p_holm"]
    explained = {
        "difference": "the score of the system less that of the other",
        "low": "where the 95 % interval of the difference begins, from a jackknife over documents",
        "high": "where that interval ends",
        "p": "the share of 10,000 paired random exchanges of documents with so large a difference",
        "p_holm": f"p corrected for the family of {family.words}",
    }
    parts = {shorten(part): part for part in pairs["part"].unique()}
    pairs = pairs.with_columns(pl.col("part").replace({part: short for short, part in parts.items()}))
    headings = {"other": ("held against", ""), "score_system": ("score", ""), "score_other": ("score of that", "")}
    headings |= {"p_holm": ("p, corrected", ""), "low": ("from", ""), "high": ("to", "")}

    links = {"difference": lambda row: lead({**row, "part": parts[row["part"]]})}
    words = "Do two systems differ by more than chance? The difference is the first's score less the second's."
    leads = "A difference leads to the errors of both."
    words += f" The family is that of {family.words}."
    known = pairs.select(*names, "documents")
    how = Typesetting(
        columns={name: headings.get(name, (name, ""))[0] for name in known.columns if name not in ("low", "high")},
        intervals={"difference": ("low", "high")},
        digits={"score_system": 3, "score_other": 3, "difference": 3, "p": 4, "p_holm": 4},
    )
    return page.Table(
        "pairs",
        known,
        links,
        words,
        explained,
        leads=leads,
        headings=headings,
        folded=True,
        typesetting=how,
        chosen=f"{name_conditions(asked)}.",
    )


def _list_scores(rows: pl.DataFrame, of_f1: str, asked: Mapping[str, str]) -> page.Table:
    """Return the scores in full, with the precision that F1 takes where that is not of all answers (`of_f1`).

    As data each has the name that `remix evaluate` has for it.
    """
    shown = F1[of_f1]
    own = shown.replace("f1", "precision", 1)
    rows = rows.with_columns(pl.col("f1").alias(shown))
    names = [
        "system",
        "kind",
        "part",
        "task",
        "matching",
        "average",
        "documents",
        "failed",
        "mentions",
        "tp",
        "fp",
        "fn",
    ]
    names += ["ignored"]
    names += [*dict.fromkeys(("precision", own)), "recall", shown, "f1_low", "f1_high", "signature_short"]
    explained = {
        "failed": "documents that the system failed on, whose mentions count as missed",
        "tp": "answers that are right",
        "fp": "answers that are wrong",
        "fn": "mentions without a right answer",
        "ignored": "answers that are neither right nor wrong, such as those to dropped annotations",
        "average": "micro pools all mentions, macro is the mean over documents",
        "f1_low": f"where the 95 % interval of {'F1' if of_f1 == 'all' else f'F1 {of_f1}'} begins",
        "f1_high": "where it ends",
        "precision": "tp of all answers, tp + fp",
        own: f"tp of the answers that F1 counts: of those {PRECISIONS[of_f1]}, by their own name and entity; a place "
        "that is answered counts in no slice of persons, but where it stands on one of their mentions",
        "signature_short": "the first digits of the hash of the signature, which `remix evaluate` prints",
    }
    known = rows.select(name for name in names if name in rows.columns)
    best = dict.fromkeys((name for name in (*_SCORES, shown) if name in known.columns), "highest")
    spread = {shown: ("f1_low", "f1_high")} if {"f1_low", "f1_high"} <= {*known.columns} else {}
    alike = [name for name in ("part", "task", "matching", "average") if name in known.columns]
    how = Typesetting(best=best, within=alike, ranked={"kind": "system"}, intervals=spread)
    headings = {"signature_short": ("signature", "")}
    if of_f1 != "all":
        headings |= {own: (f"precision {of_f1}", ""), shown: (f"F1 {of_f1}", "")}
    return page.Table(
        "scores",
        known,
        explained=explained,
        headings=headings,
        folded=True,
        typesetting=how,
        chosen=f"{name_conditions(asked)}.",
    )
