"""Systems on datasets or slices: a matrix of scores with intervals and tests, figures, and what the profile changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from remix.checks.copies import find_editions
from remix.errors import UnknownName
from remix.expressions import spell_interval
from remix.measures import MEASURES
from remix.measures.columns import OWN
from remix.measures.enrichment import frames_of
from remix.measures.labels import label_of, words_of_column
from remix.measures.partitions import breakdown
from remix.names import UNSPECIFIED, WITHOUT_VALUE, shorten
from remix.paper import Typesetting
from remix.question import OPTIONS, several
from remix.reports.doubts import explain_intervals, explain_shortcomings, tell_unanswered, tell_uncompared
from remix.reports.labels import label_classes
from remix.reports.matrix import (
    ALPHA,
    UNCOMPARED,
    Family,
    family_of,
    mark_cells,
    mark_uncompared,
    order_systems,
    tell_two,
)
from remix.reports.readable import NEVER_BEST, PRECISIONS, explain_slices, fold_rows, vocabularies_told, with_f1_shown
from remix.reports.scores import Scored, figure_of_columns
from remix.runs.known import KnownRun, kinds_of, known_runs
from remix.scoring.matching import MATCHINGS
from remix.scoring.profiles import PROFILES
from remix.scoring.statistics import F1
from remix.scoring.tasks import TASKS
from remix.vocabularies import ALL, COARSE_TYPE
from remix.vocabularies import COLUMNS as OF_CLASSES
from remix.web import page

_SCHEMES = ("quantiles:4", "log-deciles")
"""How columns of numbers are cut into parts."""
_NAMING = ("document", "surface_form", "kb", "confidence")
"""Columns that name things rather than class them, or are in every table."""
_SCORES = ("precision", "recall", "f1", "macro F1")
_BY = (COARSE_TYPE, "pagerankSegment", "isRare", "ambiguitySurfaceForm:quantiles:4", "nameRelation", "is_nil")
"""Columns by which scores are sliced most often; any other can be chosen."""
_BEST = "the best system of the column"
_NO_TEST = (
    "No pair of systems is tested, which needs ten documents and two systems; "
    "a baseline is one where others are held against it."
)
_HAVE = {"any": "that any of the systems has answered", "all": "that all of the systems have answered"}
"""Which datasets are columns, of those that are chosen."""
_NAMES = ("datasets", "systems", "have", "by", "profile", "task", "match", "against", "spider")
_FIRST = ("datasets", "systems", "by")
"""Choices that are made most often; the others are folded."""
_Leading = Callable[[Mapping[str, Any]], str]
"""What makes an address of a row."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    loaded = [entry.name for entry in page.list_datasets(work)]
    runs = [one for one in known_runs(work.store) if one.run.dataset in loaded]
    named = _split(parameters.get("datasets", "") or parameters.get("dataset", ""))
    if not runs or (named and not any(one.run.dataset in named for one in runs)):
        for name in named:
            work.store.dataset(name)
        return _tell_empty(loaded, ",".join(named))
    asked, form, columns = _ask(work, runs, {**parameters, "datasets": ",".join(named)})
    chosen = _choose_datasets(asked, runs)
    if not chosen:
        said = f"No dataset is one {_HAVE['all']}: choose others, or datasets {_HAVE['any']}."
        return page.Page("Systems", [form, page.Note(said)])
    parts: list[str | list[str]] = [chosen] if asked["by"] else [*chosen]
    scored = _choose_systems(_score(work, parts, asked), _split(asked["systems"]))
    told = [page.Note(said) for said in scored.problems]
    if waiting := scored.done < scored.of:
        told.append(_tell_waiting(scored, page.address("systems", **asked)))
    blocks = [] if scored.rows.is_empty() else _tell_scores(work, asked, scored, columns, chosen, kinds_of(runs))
    cited = "To cite these scores: the address of this page, and the signature of each system. It tells version, "
    cited += "conventions, and by their content gold, run and knowledge base; the command below prints it whole."
    signed = f"{page.address('systems', **asked, open='scores')}#scores"
    cite = page.Note(cited, links={"scores with signatures": signed})
    note = page.Note("The same in a terminal:", _commands(asked, chosen, all_of=sorted(chosen) == _list_named(runs)))
    told += _tell_hidden(asked, runs, chosen)
    blocks += _tell_unanswered(work, asked, runs, chosen)
    shown = [form, *told, *blocks, _lead_to_slices(asked, columns), _tell_conventions(asked["profile"]), cite, note]
    return page.Page("Systems", shown, refresh=_seconds_until(scored) * waiting, missing=scored.ended)


def _tell_unanswered(
    work: page.Explored, asked: Mapping[str, str], runs: Sequence[KnownRun], chosen: Sequence[str]
) -> list[page.Shown]:
    """Return which of the systems that are asked for leave documents of the chosen datasets without an answer."""
    sizes = {entry.name: entry.documents for entry in page.list_datasets(work) if entry.name in chosen}
    systems = _split(asked["systems"])
    own = (one.run for one in runs if not systems or one.run.system in systems)
    return [page.Note(said) for said in tell_unanswered(own, sizes)]


def _lead_to_slices(asked: Mapping[str, str], columns: Mapping[str, str]) -> page.Note:
    """Return the addresses of the same page by the parts of the columns that are asked for most often."""
    links = {
        words_of_column(name): page.address("systems", **{**asked, "by": name})
        for name in _BY
        if name in columns and name != asked["by"]
    }
    links |= {"whole datasets": page.address("systems", **{**asked, "by": ""})} if asked["by"] else {}
    return page.Note("The scores by", links=links)


def _split(names: str) -> list[str]:
    return [name for name in dict.fromkeys(names.split(",")) if name]


def _list_named(runs: Sequence[KnownRun]) -> list[str]:
    return sorted({one.run.dataset for one in runs})


def _list_by_answers(asked: Mapping[str, str], runs: Sequence[KnownRun]) -> list[str]:
    """Return the datasets by name, as columns those first that most of the systems have answered."""
    systems = {*_split(asked["systems"])}
    counts = Counter(one.run.dataset for one in runs if not systems or one.run.system in systems)
    return sorted(_list_named(runs), key=lambda name: 0 if asked["by"] else -counts[name])


def _choose_datasets(asked: Mapping[str, str], runs: Sequence[KnownRun]) -> list[str]:
    """Return the datasets that are asked for, those alone that all systems answer where that is asked, too."""
    names = _split(asked["datasets"]) or _list_by_answers(asked, runs)
    systems = {*_split(asked["systems"])} or {name for name, kind in kinds_of(runs).items() if kind == "system"}
    answered = {(one.run.system, one.run.dataset) for one in runs}
    if asked["have"] == "all":
        return [name for name in names if all((system, name) in answered for system in systems)]
    chosen = {*_split(asked["systems"])} or {one.run.system for one in runs}
    return [name for name in names if any((system, name) in answered for system in chosen)]


def _tell_hidden(asked: Mapping[str, str], runs: Sequence[KnownRun], chosen: Sequence[str]) -> list[page.Note]:
    """Return how many datasets are no columns as no chosen system, or not all of them, answered them."""
    named = _split(asked["datasets"]) or _list_named(runs)
    if not (hidden := len({*named} - {*chosen})):
        return []
    which = "no chosen system has" if asked["have"] == "any" else "not every chosen system has"
    told = "is not shown" if hidden == 1 else "are not shown"
    said = f"{hidden} of {len(named)} datasets {told}: {which} answers on {'it' if hidden == 1 else 'them'}."
    # Where one of the chosen systems is enough, others are needed for more.
    several = asked["have"] == "all" and len(_split(asked["systems"])) > 1
    more = {**asked, "have": "any", "systems": asked["systems"] if several else ""}
    return [page.Note(said, links={"show all": page.address("systems", **more)})]


def _choose_systems(scored: Scored, systems: Sequence[str]) -> Scored:
    """Return the scores of these systems, by default of all."""
    if not systems:
        return scored
    rows, pairs = scored.rows, scored.pairs
    rows = rows.filter(pl.col("system").is_in(systems)) if "system" in rows.columns else rows
    if "other" in pairs.columns:
        pairs = pairs.filter(pl.col("system").is_in(systems), pl.col("other").is_in(systems))
    return replace(scored, rows=rows, pairs=pairs)


def _seconds_until(scored: Scored) -> int:
    """Return after how many seconds there is more to show: scores come soon, intervals and tests behind them."""
    return 1 if scored.scored < scored.of else 2


def _tell_waiting(scored: Scored, again: str) -> page.Note:
    done = f"{scored.done} of {scored.of} are done" if scored.of > 1 else f"{scored.done} of 1 is done"
    points = f"Scores are there for {scored.scored} of {scored.of}; " if scored.scored < scored.of else ""
    seconds = "second" if _seconds_until(scored) == 1 else "2 seconds"
    said = f"{points}intervals and tests are being computed: {done}. This page asks again every {seconds}."
    return page.Note(said[0].upper() + said[1:], links={"ask again": again})


def compare_systems(
    work: page.Explored, datasets: Sequence[str], systems: Sequence[str] = (), by: str = ""
) -> list[page.Shown]:
    """Return matrix, figures, tests and scores of systems, by default all, on loaded datasets; what is not computed is.

    They are those of the profile that is remix's own, in its task and matching; with `by` of the slices of a column in
    all datasets together.
    """
    headline = PROFILES["remix"].headline
    asked = {"datasets": ",".join(datasets), "systems": ",".join(systems), "by": by, "profile": "remix"}
    asked |= {"task": headline[0], "match": headline[1], "against": "", "spider": "", "have": "any"}
    parts: list[str | list[str]] = [[*datasets]] if by else [*datasets]
    scored = _choose_systems(_score(work, parts, asked), systems)
    told: list[page.Shown] = [page.Note(said) for said in scored.problems]
    if scored.rows.is_empty():
        return told
    return [*told, *_tell_scores(work, asked, scored, {}, datasets, kinds_of(known_runs(work.store)))]


def _score(work: page.Explored, datasets: Sequence[str | list[str]], asked: Mapping[str, str]) -> Scored:
    """Return the scores that are asked for, as far as they are computed.

    Which documents a slice is tested over depends on the systems that are asked for, on whole datasets nothing does.
    """
    by, run = several(asked["by"] or ()), _split(asked["systems"]) if asked["by"] else ()
    told = {"profile": asked["profile"], "task": asked["task"], "match": asked["match"]}
    return work.scores(datasets, **told, by=by, run=run)


def _tell_empty(loaded: Sequence[str], dataset: str) -> page.Page:
    if not loaded:
        return page.Page("Systems", [page.NOTHING])
    on = dataset or "DATASET"
    said = f"No run is registered {f'on {dataset} ' if dataset else ''}yet: add a system's answers, or have one answer."
    return page.Page(
        "Systems", [page.Note(said, [f"remix run add NAME FILE --on {on}", f"remix annotate {on} --system NAME"])]
    )


def _ask(
    work: page.Explored, runs: Sequence[KnownRun], parameters: page.Parameters
) -> tuple[dict[str, str], page.Form, dict[str, str]]:
    """Return what is asked, with the task and matching of the profile, its form, and the columns to slice by."""
    asked = {name: parameters.get(name, "") for name in _NAMES}
    profile = PROFILES[asked["profile"] or "remix"]
    task, match = profile.headline
    asked |= {"profile": profile.name, "task": asked["task"] or task, "match": asked["match"] or match}
    tasks, matchings = [*profile.tasks, task, *TASKS.names()], [*profile.matchings, match, *MATCHINGS.names()]
    datasets, systems = _list_named(runs), sorted(kinds := kinds_of(runs))
    by, columns = asked["by"], _list_columns(work)
    for one in breakdown(by) if by else ():
        if one.vocabulary and one.column in OF_CLASSES and by not in columns:
            columns[by] = f"{OWN[one.column]}, of the vocabulary {one.vocabulary}"
    asked["datasets"] = asked["datasets"] or (datasets[0] if by and len(datasets) == 1 else "")
    asked["have"] = asked["have"] or ("all" if asked["systems"] else "any")
    for kind, known in (("datasets", datasets), ("systems", systems)):
        for name in _split(asked[kind]):
            if name not in known:
                raise UnknownName(f"{kind.removesuffix('s')} with a run", name, known, "remix run list")
    held = [name for name in _split(asked["systems"]) or systems if kinds[name] != "oracle"]
    told = columns.get(by, "a column of annotations or documents")
    of_task = getattr(TASKS[asked["task"]], "summary", "") if asked["task"] in TASKS else ""
    of_match = profile.meaning(asked["match"])
    spiders, over = ["", "scores"], "the columns, or the scores of all"
    answered = "datasets that are columns"
    fields = [
        page.Field("datasets", "datasets", asked["datasets"], datasets, "many"),
        page.Field("systems", "systems", asked["systems"], systems, "many"),
        page.choose("have", "answered by", [*_HAVE], asked["have"], _explain_have(), what=answered),
        page.choose(
            "by",
            "slices by",
            ["", *columns],
            by,
            told,
            what="column to slice by",
            command="remix list columns",
            words=page.words_of_measures(columns),
            nothing="(none)",
        ),
        page.choose("profile", "conventions of", PROFILES.names(), profile.name, profile.summary),
        page.choose(
            "task", "task", dict.fromkeys(tasks), asked["task"], of_task, what="task", command="remix list tasks"
        ),
        page.choose(
            "match",
            "matching",
            dict.fromkeys(matchings),
            asked["match"],
            of_match,
            what="matching",
            command="remix list matchings",
        ),
        page.choose(
            "against",
            "held against",
            ["", *held],
            asked["against"],
            f"by default {_BEST}",
            what="system that others are held against",
            command="remix run list",
            nothing="(the best)",
        ),
        page.choose(
            "spider", "spider plot over", spiders, asked["spider"], over, what="spider plot", nothing="columns"
        ),
    ]
    usual = {"have": "all" if asked["systems"] else "any", "profile": "remix", "task": task, "match": match}
    fields = [
        field if field.name in _FIRST else replace(field, rare=True, default=usual.get(field.name, ""))
        for field in fields
    ]
    return asked, page.Form(fields), columns


def _explain_have() -> str:
    return "columns are datasets " + ", or those ".join(f"{said} ({name})" for name, said in _HAVE.items())


def _list_columns(work: page.Explored) -> dict[str, str]:
    """Return what scores can be sliced by, with what it says: columns, and parts of columns of numbers."""
    found = {COARSE_TYPE: "whether the entity is a person, an organisation or a place, by classes of any vocabulary"}
    found |= {name: said for name, said in OWN.items() if name not in _NAMING}
    known = work.kb is not None
    for column in (one for measure in MEASURES if known or not measure.needs for one in measure.columns):
        if column.kind in ("integer", "double"):
            found |= {f"{column.name}:{scheme}": f"{column.meaning}, in {scheme}" for scheme in _SCHEMES}
        else:
            found[column.name] = column.meaning
    return found


def _tell_scores(
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
    rows = rows.with_columns(part=pl.when(pl.col("part") == "").then(pl.lit("all")).otherwise("part"))
    shown, _ = fold_rows(rows)
    macro = shown.filter(average="macro").select("system", "part", pl.col("f1").alias("macro F1"))
    shown = shown.filter(average=average).join(macro, on=["system", "part"], how="left", maintain_order="left")
    pairs = _name_parts(scored.pairs, asked["by"])
    whole = scored.done == scored.of
    family = family_of(pairs, rows.filter(average=average), kinds, asked["against"], whole=whole)
    cells = _with_intervals(mark_uncompared(mark_cells(shown, family, kinds, asked["against"])))
    score = f"{average}-F1" + ("" if of_f1 == "all" else f" (precision {of_f1})")
    lead = partial(_lead, {**asked, "by": _name_vocabulary(asked["by"], rows)}, _find_largest(scored.rows, asked["by"]))
    notes = explain_slices(rows)
    if "f1_low" in rows.columns and rows["f1_low"].count():
        notes = [*notes, *explain_intervals(rows, "document")]
    notes = [*notes, *explain_shortcomings(rows.with_columns(dataset="asked"))]
    uncompared = [page.Note(said) for said in tell_uncompared(cells)]
    left = rows["part"].n_unique() - cells["part"].n_unique()
    parts = [*datasets] if not asked["by"] else cells["part"].unique(maintain_order=True).to_list()
    labels = label_classes(work.kb, cells["part"].cast(pl.String)) if asked["by"] else {}
    said = tell_two(cells.filter(~pl.col("part").is_in(_APART)) if asked["by"] else cells, score, labels)
    said += " What has no value in the column is left aside." if said and asked["by"] else ""
    return [
        *([page.Note(f"{said} {_CHANCE}")] if said else []),
        _matrix(
            asked, cells, score, left, columns, lead, parts, family, labels, partial(_tell_editions, work), whole=whole
        ),
        *uncompared,
        *_lead_to_vocabularies(asked, rows),
        *_draw(cells, score, asked, lead),
        _list_tests(family, lead, whole=whole),
        _list_scores(rows.with_columns(kind=pl.col("system").replace_strict(dict(kinds), default="system")), of_f1),
        *[page.Note(said) for said in (*notes, *_tell_shared(scored.rows, asked["by"]), *_tell_none(cells))],
    ]


def _tell_shared(rows: pl.DataFrame, by: str) -> list[str]:
    """Return that mentions of texts which several datasets share count once in slices, where there are some."""
    whole = rows.filter(pl.col("column") == "", ~pl.col("dataset").is_in(["mean"])).drop_nulls("mentions")
    counts = whole.group_by("dataset").agg(pl.col("mentions").max())
    every = counts.filter(dataset="all")["mentions"].sum()
    added = counts.filter(pl.col("dataset") != "all")["mentions"].sum()
    if not by or added <= every:
        return []
    return [f"Datasets share texts, whose mentions count once here: {every:,} in place of {added:,}."]


def _tell_none(cells: pl.DataFrame) -> list[str]:
    """Return why a score of 0 may say nothing of a system, where there is one."""
    if cells.filter(pl.col("f1") == 0, kind="system").is_empty():
        return []
    return [
        "A score of 0 may come of entities of another knowledge base than gold's: its errors say of how many answers "
        "nothing tells whether they are the entity of gold."
    ]


def _draw(cells: pl.DataFrame, score: str, asked: Mapping[str, str], lead: _Leading) -> list[page.Drawing]:
    """Return the figures of systems, without oracles, that are folded but for that of a single column."""
    drawn = cells.filter(pl.col("kind") != "oracle")
    figures = {} if drawn.is_empty() else figure_of_columns(drawn, score, spider=asked["spider"], links=lead)
    return [page.Drawing(name, figure, folded=not asked["spider"]) for name, figure in figures.items()]


def _name_vocabulary(by: str, rows: pl.DataFrame) -> str:
    """Return the column with the vocabulary that its slices are of: one dataset alone may show another."""
    told = vocabularies_told(rows)
    return f"{by}:{told[by].shown}" if by in told else by


def _lead_to_vocabularies(asked: Mapping[str, str], rows: pl.DataFrame) -> list[page.Shown]:
    """Return the addresses of the same page by the classes of other vocabularies."""
    links = {
        f"{column}:{name}": page.address("systems", **{**asked, "by": f"{column}:{name}"})
        for column, one in vocabularies_told(rows).items()
        if asked["by"].partition(":")[0] == column
        for name in (*one.others, ALL)
    }
    return [page.Note("Classes of other vocabularies:", links=links)] if links else []


def _find_largest(rows: pl.DataFrame, by: str) -> dict[tuple[str, str], str]:
    """Return by system and part of the matrix the dataset that has most of the mentions."""
    own = rows.filter(pl.col("dataset") != "all", pl.col("column").is_in(["", by]))
    own = own.sort("mentions", "dataset", descending=[True, False], nulls_last=True)
    own = own.unique(["system", "slice"], keep="first", maintain_order=True)
    return {
        (system, part or "all"): name for system, part, name in own.select("system", "slice", "dataset").iter_rows()
    }


def _name_parts(pairs: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the pairs with the name of their column in the matrix."""
    if "part" not in pairs.columns:
        return pairs
    if not by:
        return pairs.with_columns(part="asked")
    whole = ~pl.col("part").str.starts_with(f"{by}=")
    return pairs.with_columns(
        part=pl.when(whole).then(pl.lit("all")).otherwise(pl.col("part").str.strip_prefix(f"{by}="))
    )


def _with_intervals(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with `interval`, as it is shown."""
    known = {"f1_low", "f1_high"} <= {*cells.columns}
    return cells.with_columns(interval=spell_interval("f1_low", "f1_high") if known else pl.lit(None, pl.String))


def _matrix(
    asked: Mapping[str, str],
    cells: pl.DataFrame,
    score: str,
    left: int,
    columns: Mapping[str, str],
    lead: _Leading,
    parts: Sequence[str],
    family: Family,
    labels: Mapping[str, str],
    tell_editions: Callable[[Sequence[str]], str],
    *,
    whole: bool,
) -> page.Table:
    """Return a row for each system and a column for each dataset or slice, with the interval in small letters."""
    order = order_systems(cells, ["all"] if asked["by"] else parts)
    table, links, explained, small, headings = order.rows.select("system", "kind"), {}, {}, {}, {}
    marks: dict[str, str] = {}
    called: dict[str, str] = {}
    explained["kind"] = "baselines and oracles, which know gold, have rows of their own and are never the best"
    if len(order.shared) > 1:
        mean = f"mean of {len(order.shared)}"
        table = table.with_columns(order.rows["mean"].alias(mean))
        explained[mean] = f"the mean over the columns that all systems have: {', '.join(order.shared)}"
    for part in parts:
        own = cells.filter(part=part)
        mentions, documents = own.select(pl.col("mentions", "documents").max()).row(0)
        name = shorten(str(part)) + (f" ({mentions})" if mentions is not None else "")
        small[name], marks[name] = f"{name} 95 %", f"{name} mark"
        beside = {small[name]: pl.col("interval").fill_null(""), marks[name]: pl.col("mark").fill_null("")}
        own = own.select("system", pl.col("f1").alias(name), **beside)
        table = table.join(own, on="system", how="left", maintain_order="left")
        links[name] = _leading(lead, str(part), name)
        short, size = shorten(str(part)), "" if mentions is None else f"{mentions} mention{'s' * (mentions != 1)}"
        headings[name] = (labels.get(part, short), ", ".join(filter(None, (short if part in labels else "", size))))
        if part in labels:
            called[name] = name.replace(short, labels[part], 1)
        on = f"{mentions} mentions in " if mentions is not None else ""
        explained[name] = f"{score} on {on}{documents or 0} documents" + (
            f"; {label_of(asked['by']).words} is {part}" if asked["by"] else ""
        )
    words, below = _explain_matrix(asked, cells, score, family, whole=whole)
    words += f" {_MARKED}" if cells["mark"].str.ends_with(UNCOMPARED).any() else ""
    beyond = not cells.filter(pl.col("kind") != "system").is_empty()
    words = f"{_BELOW_LINE if (cells['kind'] == 'system').any() else NEVER_BEST} {words}" if beyond else words
    if said := columns.get(asked["by"], ""):
        below += f" {label_of(asked['by']).words}: {said}."
    below += f" {order.words}"
    below += f" {tell_editions(order.shared)}".rstrip() if len(order.shared) > 1 and not asked["by"] else ""
    below += " The number of mentions is in the header."
    leads = "A score leads to its errors"
    leads += "" if (asked["profile"], asked["task"]) == ("remix", "A2KB") else ", those of A2KB by the profile remix"
    several_datasets = asked["by"] and len(_split(asked["datasets"])) != 1
    leads += ", in the dataset that has most of the mentions." if several_datasets else "."
    below += f" {left} smaller slices are among the scores below alone." if left else ""
    ranked = {"kind": "system"}
    best = dict.fromkeys([*small], "highest")
    within = {*small.values(), *marks.values()}
    how = Typesetting(
        columns={name: called.get(name, name) for name in table.columns if name not in within} if called else {},
        best=best,
        ranked=ranked,
        intervals=dict(small),
        marks=dict(marks),
        # The one is bold, the other in the caption.
        signs={f"{one}{also}": also.strip() for one in ("best", "reference") for also in ("", f" {UNCOMPARED}")},
        note=NEVER_BEST if beyond else "",
        caption=_caption(asked, words.removeprefix(f"{_BELOW_LINE} ").removeprefix(f"{NEVER_BEST} "), family),
        digits=dict.fromkeys([name for name in table.columns if name.startswith("mean of ")], 3),
    )
    return page.Table(
        "systems",
        table,
        links,
        words,
        explained,
        [*small],
        small,
        leads,
        headings=headings,
        groups="kind",
        typesetting=how,
        below=below.strip(),
        marks=marks,
        scores=[name for name in table.columns if name in small or name.startswith("mean of ")],
    )


def _caption(asked: Mapping[str, str], words: str, family: Family) -> str:
    """Return what a paper says of the matrix: whose conventions, of which task and matching, and of the tests."""
    of = f"{asked['task']} by {asked['match']} matching, conventions of {asked['profile']}"
    tested = f" p is corrected by Holm for the family of {family.words}." if family.tests else ""
    return f"Systems, {of}. {words}{tested}".replace("`", "")


def _explain_matrix(
    asked: Mapping[str, str], cells: pl.DataFrame, score: str, family: Family, *, whole: bool
) -> tuple[str, str]:
    """Return what stands in a cell, and which tests the stars are of."""
    some = cells["interval"].count()
    waiting = "without intervals, which are being computed"
    spread = "with its 95 % interval over documents" if some else _NO_INTERVAL if whole else waiting
    if not family.tests and not whole:
        return f"{score} {spread}; the tests of pairs are being computed as well.", ""
    if not family.tests:
        return f"{score} {spread}.", _NO_TEST
    held = asked["against"] or _BEST
    words = f"p is corrected by Holm for the family of {family.words}"
    words += "." if whole else "; until the last is computed, by Bonferroni for no fewer than there will be."
    words += f" {_FAMILY}"
    said = f"{score} {spread}; * differs from {held} with p < {ALPHA}."
    if whole and not cells["mark"].str.starts_with("*").any():
        said = (
            f"{score} {spread}. No difference from {held} is more than chance may make: p is {ALPHA} or more in each."
        )
    return said, words


_CHANCE = "Which of these differences are more than chance the stars say, and the tests of pairs below."
_APART = ("all", UNSPECIFIED, WITHOUT_VALUE)
"""Columns of slices that are not held against others in words."""
_BELOW_LINE = "Baselines and oracles stand below the line and are never the best."
_FAMILY = (
    "The choices of datasets, systems, slices, conventions, task, matching and of what others are held against make "
    "the family; a filter of rows, a choice of columns of this table and an order of rows change no star."
)


def _tell_editions(work: page.Explored, datasets: Sequence[str]) -> str:
    """Return which of the datasets that a mean is over hold the same texts."""
    texts = [work.store.cached(("texts of", name), partial(_list_texts, work, name)) for name in datasets]
    said = []
    for first, *others in find_editions(pl.concat(texts).filter(pl.col("text") != "")):
        rest = others[0] if len(others) == 1 else f"{others[0]} and {len(others) - 1} more"
        rest = f" and {rest}" if len(others) == 1 else f", {rest}"
        said.append(f"{first}{rest} hold the same texts: the mean counts each of them.")
    return " ".join(said)


def _list_texts(work: page.Explored, dataset: str) -> pl.DataFrame:
    return frames_of(work.store, dataset).documents.select("dataset", "text").unique()


_MARKED = f"{UNCOMPARED} many of the answers cannot be compared to gold's entities."
_NO_INTERVAL = "without intervals, which need ten documents or more"


def _leading(lead: _Leading, part: str, name: str) -> _Leading:
    return lambda row: "" if row[name] is None else lead({"system": row["system"], "part": part})


def _lead(asked: Mapping[str, str], largest: Mapping[tuple[str, str], str], row: Mapping[str, Any]) -> str:
    """Return the address of the errors behind a score; of several datasets on the one with most of the mentions.

    They are those of its system, beside which another may stand; those behind a difference are of both.
    """
    chosen = asked["datasets"] if asked["by"] and "," not in asked["datasets"] else ""
    dataset = chosen or (largest.get((row["system"], row["part"]), "") if asked["by"] else row["part"])
    sliced = {"by": asked["by"], "slice": row["part"]} if asked["by"] and row["part"] != "all" else {}
    others = [name for name in _split(asked["systems"]) if name != row["system"]]
    other = row.get("other") or asked["against"] or (others[0] if len(others) == 1 else "")
    other = other if other != row["system"] else ""
    of = row["system"] if other and not row.get("other") else ""
    place = page.address("errors", dataset=dataset, system=row["system"], other=other, of=of, **sliced)
    return f"{place}#{page.SENTENCES}" if sliced else place


def _list_tests(family: Family, lead: _Leading, *, whole: bool) -> page.Shown:
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
        "pairs", known, links, words, explained, leads=leads, headings=headings, folded=True, typesetting=how
    )


def _list_scores(rows: pl.DataFrame, of_f1: str) -> page.Table:
    """Return the scores in full, with the precision that F1 takes where that is not of all answers (`of_f1`)."""
    own = F1[of_f1].replace("f1", "precision", 1)
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
    names += [*dict.fromkeys(("precision", own)), "recall", "f1", "f1_low", "f1_high", "signature_short"]
    explained = {
        "failed": "documents that the system failed on, whose mentions count as missed",
        "tp": "answers that are right",
        "fp": "answers that are wrong",
        "fn": "mentions without a right answer",
        "ignored": "answers that are neither right nor wrong, such as those to dropped annotations",
        "average": "micro pools all mentions, macro is the mean over documents",
        "f1_low": "where the 95 % interval of F1 begins",
        "f1_high": "where it ends",
        "precision": "tp of all answers, tp + fp",
        own: f"tp of the answers that F1 counts: of those {PRECISIONS[of_f1]}",
        "signature_short": "the first digits of the hash of the signature, which `remix evaluate` prints",
    }
    known = rows.select(name for name in names if name in rows.columns)
    best = dict.fromkeys((name for name in _SCORES if name in known.columns), "highest")
    spread = {"f1": ("f1_low", "f1_high")} if {"f1_low", "f1_high"} <= {*known.columns} else {}
    alike = [name for name in ("part", "task", "matching", "average") if name in known.columns]
    how = Typesetting(best=best, within=alike, ranked={"kind": "system"}, intervals=spread)
    headings = {"signature_short": ("signature", "")}
    if of_f1 != "all":
        headings |= {own: (f"precision {of_f1}", ""), "f1": (f"F1 {of_f1}", "")}
    return page.Table(
        "scores",
        known,
        explained=explained,
        headings=headings,
        folded=True,
        typesetting=how,
    )


def _tell_conventions(profile: str) -> page.Shown:
    """Return the rules in which a profile differs from that of remix, with the place where its tool has them."""
    if profile == "remix":
        said = "These are the conventions of remix; another profile shows here in what it differs."
        return page.Note(said, ["remix show remix", "remix evaluate --profile all"])
    own, ours = PROFILES[profile].rules(), PROFILES["remix"].rules()
    rows = [
        (name, ours.get(name, ""), own.get(name, ""))
        for name in dict.fromkeys([*own, *ours])
        if own.get(name) != ours.get(name)
    ]
    table = pl.DataFrame(rows, schema=dict.fromkeys(["convention", "remix", profile], pl.String), orient="row")
    words = f"{PROFILES[profile].summary}. In numbers: `remix evaluate --profile remix,{profile}`."
    return page.Table("conventions", table, words=words, folded=True)


def _commands(asked: Mapping[str, str], datasets: Sequence[str], *, all_of: bool) -> list[str]:
    options = [f"--{name} {asked[name]}" for name in OPTIONS if name != "against" and asked.get(name)]
    named = [] if all_of and len(datasets) > 8 else [*datasets]
    told = " ".join([*named, *(f"--run {name}" for name in _split(asked["systems"])), *options])
    return [f"remix evaluate {told} --intervals", f"remix compare {told}"]


systems = page.View("systems", "Systems", _show, menu=2, parameters=("dataset", *_NAMES))
