"""HIPE-scorer, of the shared tasks on historical text (Ehrmann et al., CLEF 2020 and 2022): types and ranked links."""

from collections.abc import Mapping

import polars as pl

from remix.scoring.conventions import compared, pairing, scores
from remix.scoring.profiles import Conventions, OwnRules, Profile
from remix.scoring.statistics import averages
from remix.scoring.tools.hipe import MATCHINGS, TASKS, by_noise, by_period, by_type, count


def _macro() -> Mapping[str, pl.Expr]:
    exact = scores.undefined_null.scores()
    both = exact["precision"].is_not_null() & exact["recall"].is_not_null()
    return {**exact, "f1": pl.when(both).then(exact["f1"])}


_RANKS = {"": "", "1": ", the first link of the answer", **{n: f", any of the first {n} links" for n in "35"}}
_REGIMES = {"fuzzy": "overlapping spans and the same label", "strict": "the same span, text and label"}

hipe = Profile(
    name="hipe",
    summary="each layer by itself; answers in turn take the first mention that they overlap; NIL is an answer",
    source="https://github.com/hipe-eval/HIPE-scorer at 6605770, hipe_evaluation",
    tasks=TASKS,
    matchings=MATCHINGS,
    sparse=True,
    conventions=Conventions(
        nil=compared.nil_where_said,
        optional=compared.optional_unknown,
        regions=compared.regions_unknown,
        alternatives=compared.alternatives_separate,
        pairing=pairing.pair_first_unused,
        undefined=scores.undefined_zero,
    ),
    notes={
        "layers": "each column is scored by itself: types in NE-…, entities in NEL-…, with the spans of NE-COARSE-… "
        "of the same file (utils.py, collect_named_entities, collect_link_objects)",
        "pairing": "an answer is exact on a mention of its span, text and label; any other takes the first mention of "
        "its span with another label, or that it overlaps and none before it took (ner_eval.py, compute_metrics)",
        "confusion": "an answer with a wrong label is one FP and one FN, both of the label of gold (ner_eval.py)",
        "nil": "NIL is an entity like any other; a mention without any link is not asked for and no answer",
        "ranks": "@n: any of the first n links of an answer may be right, of gold only the first counts",
        "parts": "an answer whose tokens are linked differently is a mention for each link (utils.py)",
        "labels": "types count that gold has in the column, in answers those of HIPE 2022 too (clef_evaluation.py)",
        "optional": "ignorable annotations and regions are not known (not of the scorer, which has none)",
        "macro": "means over documents: P where anything is answered, R where anything is gold, F1 where both are",
        "undefined": "a micro score without denominator is 0 (ner_eval.py, compute_precision_recall_wrapper)",
        "noise": "--by noise cuts the tokens out of both sides whose noise in gold is not in the bounds (utils.py)",
    },
    own=OwnRules(
        prepare=lambda gold, runs: (gold, dict(runs)),
        count=count,
        averages={"micro": averages(scores.zero_of_all)["micro"], "macro": averages(_macro)["macro"]},
        nearest=("A2KB", "weak"),
    ),
    rest="removed",
    slices={"type": by_type, "noise": by_noise, "period": by_period},
    meanings={name: _REGIMES[name.partition("@")[0]] + _RANKS[name.partition("@")[2]] for name in MATCHINGS},
    headline=("NEL-LIT", "fuzzy@1"),
)
