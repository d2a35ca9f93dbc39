"""neleval, the evaluator of TAC's entity discovery and linking (Hachey, Nothman and Radford 2014), of July 2018.

Its measures are triples of aggregate, filter and key: `sets:is_linked:span+kbid`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from remix.dense import first_rows
from remix.documents import align
from remix.errors import UsageError
from remix.expressions import fill, sum_up
from remix.frames import Frames
from remix.names import RMX
from remix.scoring.conventions import aspects
from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.matching import Case, with_detail
from remix.scoring.profiles import PLAIN_GOLD, Profile
from remix.scoring.profiles.neleval.measures import FIELDS, FILTERS, GROUPS, NAMED, OVERLAPS, Triple, triple_named
from remix.scoring.statistics import KEYS, UNSCOPED, count_pairs
from remix.scoring.statistics.clusters import cluster_counts
from remix.scoring.statistics.weights import weights_of_types
from remix.signature import content_hash


def _count_measure(case: Case, task: str, matching: str, weights: pl.DataFrame | None = None) -> Counts:
    """Return the counts of a case by a measure, per system and document, with `tp_of_gold`."""
    triple = _triple_of(case, task, matching)
    return _count(*_sides_of(case, triple), triple, weights)


def _triple_of(case: Case, task: str, matching: str) -> Triple:
    texts = pl.concat([side["type_fields"] for side in _plain_sides(case)]).drop_nulls().unique()
    return triple_named(matching, task, sorted({key for text in texts for key in _keys_of(text)} - FIELDS.keys()))


def _refuse(task: str, matching: str) -> None:
    """Raise `UnknownName` for no task or measure; which fields a triple may name, the types of annotations tell too."""
    triple_named(matching, task, re.split("[:+]", matching))


def _keys_of(text: str) -> list[str]:
    """Return the keys of a JSON object, none of what is no such.

    >>> _keys_of('{"type": "PER", "reftype": "NOM"}'), _keys_of("PER")
    (['type', 'reftype'], [])
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [*said] if isinstance(said, dict) else []


def _plain_sides(case: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    return case.once(("triples", "sides"), lambda own: _sides(own.placed))


def _sides_of(case: Case, triple: Triple) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold, once for each system, and the answers, with the fields that a triple names."""
    gold, answers = _plain_sides(case)
    asked = {*triple.key, triple.filter} - FIELDS.keys() - FILTERS.keys()
    said = [
        pl.col("type_fields").str.json_path_match(f"$[{json.dumps(name)}]").alias(_further(name))
        for name in sorted(asked)
    ]
    return gold.with_columns(said), answers.with_columns(said)


def _columns_of(fields: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(column for field in fields for column in FIELDS.get(field, (_further(field),)))]


def _further(field: str) -> str:
    """Return the column of a field of types, which may be called as any other column is."""
    return f"field {field}"


def _filter_of(triple: Triple) -> pl.Expr:
    """Return whether the filter of a triple leaves an annotation; a field of its type does where it is true."""
    if triple.filter in FILTERS:
        return FILTERS[triple.filter]
    return ~pl.col(_further(triple.filter)).is_in(["", "0", "0.0", "false", "null", "[]", "{}"]).fill_null(True)


def _count(gold: pl.DataFrame, answers: pl.DataFrame, triple: Triple, weights: pl.DataFrame | None = None) -> Counts:
    columns = _columns_of(triple.key)
    if weights is not None:
        return _count_by_weights(gold.filter(_filter_of(triple)), answers.filter(_filter_of(triple)), triple, weights)
    if triple.aggregate in OVERLAPS:
        return _overlapping(gold, answers, triple)
    gold, answers = gold.filter(_filter_of(triple)), answers.filter(_filter_of(triple))
    if triple.aggregate == "sets":
        return _sets(gold, answers, columns)
    # Of gold alone g is known.
    both = pl.concat([gold, answers], how="diagonal").with_columns(item=pl.struct(columns).rank("dense"))
    clustered = both.select("mention", "system", "doc", "item", cluster="eid")
    of_gold = pl.col("mention").is_not_null()
    return _fill(cluster_counts(clustered.filter(of_gold), clustered.filter(~of_gold), triple.aggregate))


def _sides(case: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold, once for each system, and the answers, with the fields of keys.

    Of several links of a mention of gold it is the one that the system answers there.
    """
    for detail in ("cluster", "type", "confidence", "type_fields"):
        case = with_detail(case, detail)
    links = (case.mentions.gold_links, case.mentions.answer_links)
    first, given = (own.group_by(own.columns[0]).agg(kbid=pl.col("entity").min()) for own in links)
    gold = case.mentions.for_each_system(case.kept.join(first, on="mention", how="left", maintain_order="left"))
    several = case.gold.filter(pl.col("link") >= len(case.mentions.entities)).select("mention")
    if len(several):
        pairs = case.overlaps.filter(pl.col("equal") & pl.col("link")).join(several, on="mention", how="semi")
        answered = case.answers.select("answer", "system").join(case.mentions.answer_links, on="answer")
        chosen = pairs.join(answered, on="answer").join(case.mentions.gold_links, on=["mention", "entity"], how="semi")
        chosen = chosen.group_by("system", "mention").agg(chosen=pl.col("entity").min())
        gold = gold.join(chosen, on=["system", "mention"], how="left", maintain_order="left")
        gold = gold.with_columns(kbid=pl.coalesce("chosen", "kbid"))
    answers = case.answers.join(given, on="answer", how="left", maintain_order="left")
    return _with_fields(gold).select("mention", *_COLUMNS), _with_fields(answers).select("answer", *_COLUMNS)


_COLUMNS = (
    "system",
    "doc",
    "begin",
    "end",
    "kbid",
    "eid",
    "type",
    "is_nil",
    "is_linked",
    "is_first",
    "confidence",
    "type_fields",
)


def _with_fields(rows: pl.DataFrame) -> pl.DataFrame:
    nil = pl.col("link") == NIL
    named = pl.when(nil).then("cluster").otherwise(fill("entity {}", "kbid"))
    rows = rows.with_columns(eid=named.fill_null(""), is_nil=nil, is_linked=~nil).with_row_index("row")
    # Of annotations that begin together the longest is the first.
    ordered = rows.sort("system", "doc", "begin", -pl.col("end"), "row")
    first = ordered.filter(pl.struct("system", "doc", "eid").is_first_distinct())["row"]
    return rows.with_columns(is_first=pl.col("row").is_in(first.implode())).drop("row")


def _count_by_weights(gold: pl.DataFrame, answers: pl.DataFrame, triple: Triple, weights: pl.DataFrame) -> Counts:
    """Return the counts in which a pair of one key weighs as its two types do, and an annotation as its type with it.

    Raises `UsageError` for another aggregate than `sets`, and where several annotations of a side have one key.
    """
    if triple.aggregate != "sets":
        raise UsageError(
            f"type weights count keys of sets, not '{triple}': name such measures, as "
            "--match strong_typed_mention_match"
        )
    key = ["system", *_columns_of(field for field in triple.key if field != "type")]
    if any(side.select(key).is_duplicated().any() for side in (gold, answers)):
        raise UsageError(
            f"type weights need annotations of different keys, and '{triple}' has several of one: add span to its key"
        )
    pairs = gold.join(answers, on=key, how="inner", nulls_equal=True, suffix="_of_run", coalesce=False)
    found = pairs.select("system", *("doc", "doc_of_run"), gold="type", answered="type_of_run")
    alike = pl.col("gold").eq_missing(pl.col("answered")).cast(pl.Float64)
    weight = pl.coalesce("weight", alike) if "type" in triple.key else pl.lit(1.0)
    own = [side.select("system", "doc", gold="type", answered="type") for side in (gold, answers)]
    found, asked, given = (
        rows.join(weights, on=["gold", "answered"], how="left", maintain_order="left").with_columns(weight=weight)
        for rows in (found, *own)
    )
    total = pl.col("weight").sum()
    sums = {
        "tp": sum_up(found.drop("doc").rename({"doc_of_run": "doc"}), KEYS, tp=total),
        "tp_of_gold": sum_up(found, KEYS, tp_of_gold=total),
        "given": sum_up(given, KEYS, given=total),
        "asked": sum_up(asked, KEYS, asked=total),
    }
    every = pl.concat(side.select(KEYS) for side in (gold, answers)).unique().sort(KEYS)
    for rows in sums.values():
        every = every.join(rows, on=KEYS, how="left", maintain_order="left")
    every = every.with_columns(pl.col(*sums).fill_null(0.0))
    return _fill(every.with_columns(fp=pl.col("given") - pl.col("tp"), fn=pl.col("asked") - pl.col("tp_of_gold")))


def _weigh(profile: Profile, rule: str) -> tuple[Profile, str]:
    """Return the profile that counts by a file of type weights (`--type-weights`), and its name in a signature."""
    if not Path(rule).is_file():
        raise UsageError(
            f"the profile neleval weighs types, by a file of gold's class, the answer's and a weight, not '{rule}'"
        )
    weights = weights_of_types(Path(rule))

    def count(case: Case, task: str, matching: str) -> Counts:
        """Return the counts by the weights."""
        return _count_measure(case, task, matching, weights)

    pairing = replace(profile.conventions.pairing, count=count)
    by_type = partial(_by_type, weights=weights)
    weighed = replace(
        profile, conventions=replace(profile.conventions, pairing=pairing), slices={**profile.slices, "type": by_type}
    )
    return weighed, f"types,{content_hash(weights.write_csv())[:12]}"


def _fill(counts: pl.DataFrame) -> Counts:
    return counts.select("system", "doc", "tp", "fp", "fn", "tp_of_gold", *UNSCOPED, ignored=pl.lit(0, pl.Int64))


def _sets(gold: pl.DataFrame, answers: pl.DataFrame, columns: list[str]) -> Counts:
    """Return the counts of keys, each once a side: that of its first row there."""
    both = pl.concat([rows.select("system", *columns) for rows in (gold, answers)], rechunk=True)
    key = first_rows(both).to_numpy()
    sides = []
    for own in (key[: len(gold)], key[len(gold) :]):
        places = np.full(len(both), -1, np.int64)
        places[own[::-1]] = np.arange(len(own))[::-1]
        sides.append(places)
    asked, given = sides
    found, missed = (gold[KEYS][asked[(asked >= 0) & one]] for one in (given >= 0, given < 0))
    extra = answers[KEYS][given[(given >= 0) & (asked < 0)]]
    return count_pairs(found, extra.with_columns(free=pl.lit(False)), missed)


def _overlapping(gold: pl.DataFrame, answers: pl.DataFrame, triple: Triple) -> Counts:
    """Return the counts of shared characters; all annotations are counted, whatever the filter: as neleval does."""
    fields = _columns_of(field for field in triple.key if field != "span")
    alike = pl.struct(*dict.fromkeys(["system", "doc", *fields])).alias("alike")
    asked, answered = (
        rows.filter(_filter_of(triple)).select(key, "system", "begin", "end", alike)
        for rows, key in ((gold, "mention"), (answers, "answer"))
    )
    pairs = _neighbours(asked, answered)
    of_gold, of_answer = triple.aggregate[-6:-3], triple.aggregate[-3:]
    turned = pairs.rename({"begin": "begin_gold", "end": "end_gold", "begin_gold": "begin", "end_gold": "end"})
    left = _shares(gold, _cover(turned, "mention", of_gold), "mention").rename({"found": "tp_of_gold", "missed": "fn"})
    right = _shares(answers, _cover(pairs, "answer", of_answer), "answer").rename({"found": "tp", "missed": "fp"})
    both = right.join(left, on=["system", "doc"], how="full", coalesce=True)
    return _fill(both.with_columns(pl.col("tp", "fp", "tp_of_gold", "fn").fill_null(0.0)))


def _neighbours(gold: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that neleval finds to overlap, of those with equal `alike`: system, mention, answer and both
    spans.

    It walks both sides from the last to the first and holds each mention against the next of the other side only
    (`Measure.get_overlapping`). So of mentions within each other on one side some pairs are never seen; where
    neither side has such, these are all that overlap.
    """
    sides = [answers.with_columns(mention=pl.lit(None, pl.Int64)), gold.with_columns(answer=pl.lit(None, pl.Int64))]
    walk = pl.concat([side.select("mention", "answer", "system", "begin", "end", "alike") for side in sides]).sort(
        "alike", "begin", pl.col("end").neg(), pl.col("mention").is_not_null(), maintain_order=True
    )
    met = walk.select("system", pl.col("mention", "answer").forward_fill().over("alike")).drop_nulls()
    spans = answers.select("system", "answer", "begin", "end"), gold.select("system", "mention", "begin", "end")
    pairs = met.join(spans[0], on=["system", "answer"]).join(spans[1], on=["system", "mention"], suffix="_gold")
    return pairs.filter((pl.col("begin") < pl.col("end_gold")) & (pl.col("begin_gold") < pl.col("end")))


def _cover(pairs: pl.DataFrame, key: str, mode: str) -> pl.DataFrame:
    """Return system, key and `share`: what part of a mention its best partner ('max') or all of them cover."""
    first, last = pl.max_horizontal("begin", "begin_gold"), pl.min_horizontal("end", "end_gold")
    parts = pairs.with_columns(first=first, last=last, length=pl.col("end") - pl.col("begin"))
    group = ["system", key]
    if mode == "max":
        return parts.group_by(group).agg(share=((pl.col("last") - pl.col("first")) / pl.col("length")).max())
    parts = parts.sort(*group, "first", "last")
    before = pl.col("last").cum_max().shift(1).over(group).fill_null(0)
    fresh = (pl.col("last") - pl.max_horizontal("first", before)).clip(0)
    return parts.with_columns(fresh=fresh).group_by(group).agg(share=pl.col("fresh").sum() / pl.col("length").first())


def _shares(rows: pl.DataFrame, covered: pl.DataFrame, key: str) -> pl.DataFrame:
    rows = rows.join(covered, on=["system", key], how="left", maintain_order="left")
    share = pl.col("share").fill_null(0.0)
    return sum_up(rows, ["system", "doc"], found=share.sum(), missed=(1 - share).sum())


def _with_answered(gold: Frames, runs: Mapping[str, Frames]) -> Frames:
    """Return gold with the documents that only runs know, where no file says which documents there are.

    Formats with texts name every document of gold. Without texts one that has no annotation is in no file.
    """
    datasets = gold.documents["dataset"].unique()
    if gold.documents["text"].count() or len(datasets) != 1:
        return gold
    for name, run in runs.items():
        known = align(gold, run, name, told=False)
        unknown = pl.col("text").is_null() & ~pl.col("document").is_in(known["document"].implode())
        added = run.documents.filter(unknown).with_columns(dataset=pl.lit(datasets[0]))
        if len(added):
            gold = replace(gold, documents=pl.concat([gold.documents, added.select(gold.documents.columns)]))
    return gold


def _by_type(case: Case, task: str, matching: str, weights: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the counts with `slice`: gold of each type against the answers of that type (`--group-by type`)."""
    triple = _triple_of(case, task, matching)
    sides = _sides_of(case, triple)
    types = sides[0]["type"].drop_nulls().unique().sort()
    parts = []
    for name in types:
        gold, answers = (rows.filter(type=name) for rows in sides)
        has_gold = pl.col("doc").is_in(gold["doc"].unique().implode())
        counts = _count(gold, answers, triple, weights)
        parts.append(counts.with_columns(slice=pl.lit(name.removeprefix(RMX)), has_gold=has_gold))
    return pl.concat(parts) if parts else _count(*sides, triple).clear().with_columns(slice=pl.lit(""))


pair_keys = aspects.Pairing(
    name="pair-keys",
    words="annotations are the same where the fields of the measure's key are; each key counts once a side, "
    "clusters are the mentions of one entity identifier",
    source="annotation.py, Measure; coref_metrics.py",
    count=_count_measure,
)

neleval = Profile(
    name="neleval",
    summary="measures are an aggregate, a filter and a key: sets of keys, character overlap, clusters",
    source="https://github.com/wikilinks/neleval, neleval",
    tasks=("A2KB",),
    matchings=tuple(NAMED),
    meanings={name: str(triple) for name, triple in NAMED.items()},
    groups=GROUPS,
    refuse=_refuse,
    conventions=replace(
        PLAIN_GOLD,
        documents=aspects.Documents(
            name="documents-of-both",
            words="without texts, answers in documents that gold has no annotation of are wrong",
            source="evaluate.py, Evaluate.iter_pairs",
            gold_beside_runs=_with_answered,
        ),
        nil=aspects.nil_is_nil.with_source("annotation.py: the kbid of every NIL is None"),
        repeated=aspects.repeated_each.with_source("annotation.py: sets are of keys, overlaps of annotations"),
        pairing=pair_keys,
        macro=aspects.Macro(
            name="macro-of-asked",
            words="macro scores, F1 too, are means over the documents that have gold",
            source="evaluate.py, <macro> by docid",
            documents="asked",
        ),
        undefined=aspects.undefined_zero.with_source("evaluate.py, StrictMetricWarning"),
    ),
    outside_slice="removed",
    weigh=_weigh,
    slices={"type": _by_type},
    mean_over=("type",),
    sum_over=("type",),
    notes={
        **{name: str(triple) for name, triple in NAMED.items()},
        "tasks": "a measure names all that it compares, so that its task is A2KB, whatever that is; by strong, A2KB is "
        "strong_all_match, ERec strong_mention_match and C2KB entity_match",
        "links": "of several links of a gold mention the one that the system answers on that span (prepare.py, "
        "select-alternatives, as documented; the released code never finds the span)",
        "overlap": "overlap-MODEMODE counts shared characters, by its best partner (max) or all of them (sum), gold's "
        "mode first; of mentions within each other some pairs are never seen (annotation.py, "
        "Measure.get_overlapping); the filter leaves the denominators alone (Measure.contingency)",
        "groups": f"--match takes names of several measures, too: {', '.join(GROUPS)} (configs.py, MEASURE_SETS)",
        "fields": "score is the confidence of the answer; is_first is true of the first annotation of an eid in a "
        "document, before any filter (document.py, _set_fields); where a type is a JSON object, its keys are fields "
        "and filters (annotation.py, Candidate)",
        "type weights": "--weight FILE (class of gold, class of the answer, weight): a pair whose other fields are "
        "equal counts with the weight of its types, or as they are equal, and an annotation with that of its type and "
        "itself (configs.py, TypeWeighting; annotation.py, Measure.count_matches)",
        "all types": "--by type has rows 'all slices' besides, of the types that gold has: <macro>, the means of their "
        "P, R and F1, and <micro>, those of their summed counts, without answers of other types (evaluate.py)",
        "unlinked": "a mention without identifier is NIL here; neleval has it neither linked nor NIL",
        "shared spans": "a span of two entities stays in both clusters in B-cubed, MUC and pairwise, looked up in "
        "the one that begins last (coref_metrics.py, sets_to_mapping); CEAF and pairwise_negative have it there alone",
        "clusters": "NIL without a cluster is one cluster (annotation.py, eid); a cluster counts in its first "
        "document, so that only micro scores of clusters are neleval's",
    },
)
