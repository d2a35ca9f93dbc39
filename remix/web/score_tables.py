"""Scores of systems on datasets or slices as tables: a matrix with intervals and tests, the tests, and all of them.

The page of systems shows them, and reports do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from remix.checks.copies import find_editions
from remix.expressions import spell_interval
from remix.measures.enrichment import frames_of
from remix.measures.labels import label_of
from remix.names import shorten
from remix.paper import Typesetting
from remix.reports.doubts import explain_intervals, explain_shortcomings, tell_uncompared
from remix.reports.labels import label_flags, label_parts
from remix.reports.matrix import (
    ALPHA,
    UNCOMPARED,
    Family,
    Order,
    family_of,
    mark_cells,
    mark_uncompared,
    order_systems,
)
from remix.reports.readable import (
    NEVER_BEST,
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
from remix.scoring.inputs.columns import is_of_errors
from remix.scoring.matching import matchings_among
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import ALL_SLICES
from remix.scoring.statistics import F1
from remix.vocabularies import ALL, COARSE_TYPE
from remix.web import page
from remix.web.addresses import SENTENCES, address, split_names
from remix.web.error_choice import STRONG

_SCORES = ("precision", "recall", "f1", "macro F1")
BEST = "the best system of the column"
"""What others are held against where nothing is named."""
_NO_TEST = (
    "No pair of systems is tested, which needs ten documents and two systems; "
    "a baseline is one where others are held against it."
)
_NAMED = 4
"""Datasets that a caption names; of more it says how many they are."""
_Leading = Callable[[Mapping[str, Any]], str]
"""What makes an address of a row."""


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
        rows = rows.with_columns(part=_name_slices(pl.col("part"), whole=pl.col("column") == ""))
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
    every = _with_intervals(mark_uncompared(marked))
    cells = every.filter(pl.col("part") != ALL_SLICES)
    score = f"{average}-F1" + ("" if of_f1 == "all" else f" (precision {of_f1})")
    lead = partial(_lead, {**asked, "by": _name_vocabulary(asked["by"], rows)}, _list_answered(scored.rows))
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
    matrix = _ShownScores(asked, every, score, parts, family, labels, lead, whole)
    return [
        *([page.Note(f"{said} {_CHANCE}")] if said else []),
        _matrix(matrix, columns, left, group),
        *[page.Note(said) for said in (*explain_documents(rows.with_columns(dataset="part")), *tell_uncompared(cells))],
        *_lead_to_vocabularies(asked, rows),
        *_draw(cells, score, asked, lead),
        _list_tests(family, lead, asked, whole=whole),
        _list_scores(
            rows.with_columns(kind=pl.col("system").replace_strict(dict(kinds), default="system")), of_f1, asked
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


def _tell_none(shown: _ShownScores) -> list[str]:
    """Return why a score of 0 may say nothing of a system, where there is one of which a mark does not say it yet."""
    told = shown.whole and not shown.asked["by"]
    if told or shown.cells.filter(pl.col("f1") == 0, kind="system").is_empty():
        return []
    return [
        "A score of 0 may come of entities of another knowledge base than gold's: its errors say of how many answers "
        "nothing tells whether they are the entity of gold."
    ]


def _draw(cells: pl.DataFrame, score: str, asked: Mapping[str, str], lead: _Leading) -> list[page.Drawing]:
    """Return the figures of systems, without oracles, that are folded but for that of a single column."""
    by = _name_conditions(asked)
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


def _list_answered(rows: pl.DataFrame) -> dict[str, str]:
    """Return the names of the datasets of which each system has scores, apart by commas, where they are several."""
    own = rows.filter(~pl.col("dataset").is_in(["all", "mean"])).select("system", "dataset").unique()
    return dict(own.group_by("system").agg(pl.col("dataset").sort().str.join(",")).iter_rows())


def _name_parts(pairs: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the pairs with the name of their column in the matrix."""
    if "part" not in pairs.columns:
        return pairs
    if not by:
        return pairs.with_columns(part="asked")
    whole = ~pl.col("part").str.starts_with(f"{by}=")
    return pairs.with_columns(part=_name_slices(pl.col("part").str.strip_prefix(f"{by}="), whole=whole))


_QUOTED = {"'all'": "all", "''": ""}
"""What slices are called that would be taken for the whole, or have no name."""


def _name_slices(slices: pl.Expr, *, whole: pl.Expr) -> pl.Expr:
    """Return what slices are called in the matrix, in which the whole is 'all'."""
    quoted = slices.cast(pl.String).replace({value: name for name, value in _QUOTED.items()})
    return pl.when(whole).then(pl.lit("all")).otherwise(quoted)


def _with_intervals(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with `interval`, as it is shown, with a question mark where it is in doubt."""
    if not {"f1_low", "f1_high"} <= {*cells.columns}:
        return cells.with_columns(interval=pl.lit(None, pl.String))
    spelt = spell_interval("f1_low", "f1_high")
    if "interval_doubt" in cells.columns:
        doubted = pl.col("interval_doubt").fill_null("") != ""
        spelt = pl.when(doubted).then(spelt + f" {_DOUBTED}").otherwise(spelt)
    return cells.with_columns(interval=spelt)


@dataclass(frozen=True)
class _ShownScores:
    """What a matrix shows: marked cells of the `parts` that are its columns, which `score` they are, and their tests.

    `labels` are those of parts that have one, `lead` makes the address of a cell, `whole` says that nothing is missing.
    """

    asked: Mapping[str, str]
    cells: pl.DataFrame
    score: str
    parts: Sequence[str]
    family: Family
    labels: Mapping[str, str]
    lead: _Leading
    whole: bool

    def column_of(self, part: str) -> _ScoreColumn:
        """Return the column of a dataset or slice."""
        own = self.cells.filter(part=part)
        mentions, documents = own.select(pl.col("mentions", "documents").max()).row(0)
        short, label = shorten(str(part)), self.labels.get(part, "")
        # What counts in part has numbers of mentions that are none of whole ones.
        number = "" if mentions is None else f"{mentions:.10g}"
        name = short + (f" ({number})" if number else "")
        size = f"{number} mention{'s' * (mentions != 1)}" if number else ""
        on = f"{size} in " if size else ""
        of = f"; {label_of(self.asked['by']).words} is {part}" if self.asked["by"] else ""
        means = "" if part != ALL_SLICES else "all slices together: "
        means = "the mean over all slices of " if means and own["average"][0] == "macro" else means
        of = "" if means else of
        return _ScoreColumn(
            part=str(part),
            name=name,
            cells=own.select(
                "system",
                pl.col("f1").alias(name),
                pl.col("interval").fill_null("").alias(f"{name} 95 %"),
                pl.col("mark").fill_null("").alias(f"{name} mark"),
            ),
            heading=(label or short, ", ".join(filter(None, (short if label else "", size)))),
            called=name.replace(short, label, 1) if label else name,
            explained=f"{means}{self.score} on {on}{documents or 0} document{'s' * (documents != 1)}{of}",
        )


@dataclass(frozen=True)
class _ScoreColumn:
    """A column of a matrix: its cells by system, its heading, and what a paper calls it."""

    part: str
    name: str
    cells: pl.DataFrame
    heading: tuple[str, str]
    called: str
    explained: str


def _matrix(
    shown: _ShownScores,
    columns: Mapping[str, str],
    left: int,
    group: Callable[[Sequence[str]], Sequence[Sequence[str]]],
) -> page.Table:
    """Return a row for each system and a column for each dataset or slice, with the interval in small letters.

    `columns` say what scores can be sliced by, `left` is the number of slices that are no columns, and `group` groups
    datasets that hold the same texts.
    """
    cells = shown.cells
    order = order_systems(cells, ["all"]) if shown.asked["by"] else order_systems(cells, shown.parts, group)
    table, every = order.rows.select("system", "kind"), [shown.column_of(part) for part in shown.parts]
    explained = {"kind": "baselines and oracles, which know gold, have rows of their own and are never the best"}
    means = [f"mean of {len(order.shared)}"] if len(order.shared) > 1 else []
    for mean in means:
        table = table.with_columns(order.rows["mean"].alias(mean))
        explained[mean] = f"the mean over columns that all systems have: {', '.join(order.shared)}"
    for one in every:
        table = table.join(one.cells, on="system", how="left", maintain_order="left")
    names = [one.name for one in every]
    small, marks = ({name: f"{name} {also}" for name in names} for also in ("95 %", "mark"))
    words, below = _explain_matrix(shown)
    beyond = not cells.filter(pl.col("kind") != "system").is_empty()
    first = _BELOW_LINE if (cells["kind"] == "system").any() else NEVER_BEST
    called = {one.name: one.called for one in every} if shown.labels else {}
    how = Typesetting(
        columns={name: called.get(name, name) for name in ("system", "kind", *means, *names)} if called else {},
        best=dict.fromkeys(names, "highest"),
        ranked={"kind": "system"},
        intervals=dict(small),
        marks=dict(marks),
        # The one is bold, the other in the caption.
        signs={f"{one}{also}": also.strip() for one in ("best", "reference") for also in ("", f" {UNCOMPARED}")},
        note=NEVER_BEST if beyond else "",
        caption=_caption(shown.asked, words, shown.family),
        digits=dict.fromkeys(means, 3),
    )
    return page.Table(
        "systems",
        table,
        {one.name: _leading(shown.lead, one.part, one.name) for one in every},
        f"{first} {words}" if beyond else words,
        explained | {one.name: one.explained for one in every},
        names,
        small,
        _explain_leads(shown.asked),
        headings={one.name: one.heading for one in every},
        groups="kind",
        typesetting=how,
        below=" ".join(filter(None, (below, *_tell_order(shown, order, columns, left)))),
        marks=marks,
        scores=[*means, *names],
    )


def _tell_order(shown: _ShownScores, order: Order, columns: Mapping[str, str], left: int) -> Iterator[str]:
    """Give what stands below a matrix: what its slices are by, the order of its rows, and which slices it leaves."""
    by = shown.asked["by"]
    if said := columns.get(by, ""):
        yield f"{label_of(by).words}: {said}."
    yield order.words
    yield "The number of mentions is in the header."
    if left:
        yield f"{left} smaller slices are among the scores below alone."


def _explain_leads(asked: Mapping[str, str]) -> str:
    """Return where a score leads to."""
    usual = (asked["profile"], asked["task"], asked["match"]) == ("remix", "A2KB", _name_matching(asked))
    told = "" if usual else f", those of A2KB by {_name_matching(asked)} matching and the profile remix"
    on = ", on the mentions of its slice: answers on no mention are a part of their own there" if asked["by"] else ""
    if on and not _has_errors_by(asked):
        on = f", on all mentions: Errors has no parts by {label_of(asked['by']).words} as they are cut here"
    return f"A score leads to its errors{told}{on}."


def _has_errors_by(asked: Mapping[str, str]) -> bool:
    """Return whether the slices of scores are parts that errors are counted by: of one column, in no profile's way."""
    by = asked["by"].partition(":")[0] if asked["by"] != COARSE_TYPE else asked["by"]
    own = " × " in asked["by"] or by == "kb" or is_of_errors(asked["by"])
    return not own and not {asked["by"], by} & {*PROFILES[asked["profile"]].slices}


def _name_matching(asked: Mapping[str, str]) -> str:
    """Return the matching of the errors that a score leads to: its own, where it is none of a profile alone."""
    if asked["match"] in PROFILES[asked["profile"]].meanings:
        return STRONG
    return matchings_among([asked["match"]])[0]


def _name_conditions(asked: Mapping[str, str]) -> str:
    """Return by which task, matching and conventions scores are, and of slices by what and on which datasets."""
    of = f"{asked['task']} by {asked['match']} matching, conventions of {asked['profile']}"
    if not asked["by"]:
        return of
    datasets = split_names(asked["datasets"])
    on = ", ".join(datasets) if 0 < len(datasets) <= _NAMED else f"{len(datasets) or 'all'} datasets together"
    return f"{of}, by {label_of(asked['by']).words} on {on}"


def _caption(asked: Mapping[str, str], words: str, family: Family) -> str:
    """Return what a paper says of the matrix: whose conventions, of which task and matching, and of the tests."""
    of = _name_conditions(asked)
    tested = f" p is corrected by Holm for the family of {family.words}." if family.tests else ""
    return f"Systems, {of}. {words}{tested}".replace("`", "")


def _explain_matrix(shown: _ShownScores) -> tuple[str, str]:
    """Return what stands in a cell, and which tests the stars are of."""
    asked, cells, score, family, whole = shown.asked, shown.cells, shown.score, shown.family, shown.whole
    some = cells["interval"].count()
    waiting = "without intervals as yet"
    spread = "with its 95 % interval over documents" if some else _NO_INTERVAL if whole else waiting
    marked = f" {_MARKED}" if cells["mark"].str.ends_with(UNCOMPARED).any() else ""
    marked += f" {_IN_DOUBT}" if cells["interval"].fill_null("").str.ends_with(_DOUBTED).any() else ""
    if not family.tests and not whole:
        return f"{score} {spread}.{marked}", ""
    if not family.tests:
        return f"{score} {spread}.{marked}", _NO_TEST
    held = asked["against"] or BEST
    words = f"p is corrected by Holm for the family of {family.words}"
    words += "." if whole else "; until the last is computed, by Bonferroni for no fewer than there will be."
    words += f" {_FAMILY}"
    said = f"{score} {spread}; * differs from {held} with p < {ALPHA}."
    if whole and not cells["mark"].str.starts_with("*").any():
        said = (
            f"{score} {spread}. No difference from {held} is more than chance may make: p is {ALPHA} or more in each."
        )
    return f"{said}{marked}", words


_CHANCE = "Which of these differences are more than chance the stars say, and the tests of pairs below."
_BELOW_LINE = "Baselines and oracles stand below the line and are never the best."
_FAMILY = (
    "The choices of datasets, systems, slices, conventions, task, matching and of what others are held against make "
    "the family; a filter of rows, a choice of columns of this table and an order of rows change no star."
)


def _group_editions(work: page.Explored, datasets: Sequence[str]) -> list[list[str]]:
    """Return those of the datasets that share half or more of their texts, together."""
    texts = [work.store.cached(("texts of", name), partial(_list_texts, work, name)) for name in datasets]
    return find_editions(pl.concat(texts).filter(pl.col("text") != ""))


def _list_texts(work: page.Explored, dataset: str) -> pl.DataFrame:
    return frames_of(work.store, dataset).documents.select("dataset", "text").unique()


_DOUBTED = "?"
"""Stands behind an interval that is in doubt."""
_MARKED = f"{UNCOMPARED} many of the answers cannot be compared to gold's entities."
_IN_DOUBT = f"{_DOUBTED} the interval is in doubt, as is said below."
_NO_INTERVAL = "without intervals, which need ten documents or more"


def _leading(lead: _Leading, part: str, name: str) -> _Leading:
    return lambda row: "" if row[name] is None else lead({"system": row["system"], "part": part})


def _lead(asked: Mapping[str, str], answered: Mapping[str, str], row: Mapping[str, Any]) -> str:
    """Return the address of the errors behind a score; of several datasets those on all that the system answered.

    They are those of its system, beside which another may stand; those behind a difference are of both.
    """
    dataset = (answered.get(row["system"]) or asked["datasets"]) if asked["by"] else row["part"]
    whole = row["part"] in ("all", ALL_SLICES) or not _has_errors_by(asked)
    part = _QUOTED.get(row["part"], row["part"])
    if asked["by"] and not part:
        return ""  # no address names a slice without a name
    sliced = {"by": asked["by"], "slice": part} if asked["by"] and not whole else {}
    others = [name for name in split_names(asked["systems"]) if name != row["system"]]
    other = row.get("other") or asked["against"] or (others[0] if len(others) == 1 else "")
    other = other if other != row["system"] else ""
    of = row["system"] if other and not row.get("other") else ""
    match = "" if (own := _name_matching(asked)) == STRONG else own
    place = address("errors", dataset=dataset, system=row["system"], other=other, of=of, match=match, **sliced)
    return f"{place}#{SENTENCES}" if sliced else place


def _list_tests(family: Family, lead: _Leading, asked: Mapping[str, str], *, whole: bool) -> page.Shown:
    """Return the tests of pairs of systems that are asked for."""
    pairs = family.pairs
    if pairs.is_empty() and not whole:
        return page.Note("The tests of pairs of systems are being computed.")
    if pairs.is_empty():
        return page.Note(_NO_TEST)
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
        chosen=f"{_name_conditions(asked)}.",
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
        chosen=f"{_name_conditions(asked)}.",
    )
