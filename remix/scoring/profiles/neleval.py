"""neleval, the evaluator of TAC's entity discovery and linking (Hachey, Nothman and Radford 2014), of July 2018."""

from dataclasses import replace

import polars as pl

from remix.names import RMX
from remix.scoring.conventions import compared, pairing, scores
from remix.scoring.matching import Case, with_detail
from remix.scoring.profiles import Conventions, Profile
from remix.scoring.tools.neleval import NAMED, counts_by_triple, triple_named


def _by_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: gold of each type against the answers of that type (`--group-by type`)."""
    case, triple = with_detail(case, "type"), triple_named(matching, task)
    types = case.kept["type"].drop_nulls().unique().sort()
    parts = []
    for name in types:
        gold, answers = (rows.filter(type=name) for rows in (case.kept, case.answers))
        counts = counts_by_triple(replace(case, gold=gold, answers=answers), triple)
        parts.append(
            counts.with_columns(
                slice=pl.lit(name.removeprefix(RMX)), has_gold=pl.col("doc").is_in(gold["doc"].implode())
            )
        )
    return pl.concat(parts) if parts else counts_by_triple(case, triple).clear().with_columns(slice=pl.lit(""))


neleval = Profile(
    name="neleval",
    summary="measures are an aggregate, a filter and a key: sets of keys, character overlap, clusters",
    source="https://github.com/wikilinks/neleval, neleval",
    tasks=("A2KB",),
    matchings=tuple(NAMED),
    meanings={name: str(triple) for name, triple in NAMED.items()},
    rest="removed",
    slices={"type": _by_type},
    conventions=Conventions(
        documents=compared.documents_of_both.with_source("evaluate.py, Evaluate.iter_pairs"),
        nil=compared.nil_is_nil.with_source("annotation.py: the kbid of every NIL is None"),
        optional=compared.optional_unknown,
        regions=compared.regions_unknown,
        alternatives=compared.alternatives_separate,
        pairing=pairing.pair_keys.with_source("annotation.py, Measure; coref_metrics.py"),
        macro=scores.macro_of_asked.with_source("evaluate.py, <macro> by docid"),
        undefined=scores.undefined_zero.with_source("evaluate.py, StrictMetricWarning"),
    ),
    notes={
        **{name: str(triple) for name, triple in NAMED.items()},
        "links": "of several links of a gold mention the one that the system answers on that span (prepare.py, "
        "select-alternatives, as documented; the released code never finds the span)",
        "overlap": "overlap-MODEMODE counts shared characters, by its best partner (max) or all of them (sum), gold's "
        "mode first; of mentions within each other some pairs are never seen (annotation.py, "
        "Measure.get_overlapping); the filter leaves the denominators alone (Measure.contingency)",
        "unlinked": "a mention without identifier is NIL here; neleval has it neither linked nor NIL",
        "clusters": "NIL without a cluster is one cluster (annotation.py, eid); a cluster counts in its first "
        "document, so that only micro scores of clusters are neleval's",
    },
)
