"""EUEF, easy-to-use evaluation framework for entity linking (Liu, Chen et al.), the files of 2015."""

from remix.scoring.conventions import compared, pairing, scores
from remix.scoring.profiles import Conventions, Profile

euef = Profile(
    name="euef",
    summary="spans of similar text match; embedded mentions are dropped; macro-F1 is harmonic",
    source="https://github.com/htlchh/EUEF, src/edu/zju/cadal",
    tasks=("A2KB", "ERec", "candidates", "NIL"),
    matchings=("fuzzy-over(0)",),
    rest="removed",
    headline=("A2KB", "fuzzy-over(0)"),
    conventions=Conventions(
        nil=compared.nil_left_out.with_source("matching/NILMatching.java: NIL is a task of its own, NM"),
        optional=compared.optional_unknown,
        regions=compared.regions_unknown,
        alternatives=compared.alternatives_separate,
        overlapping=compared.embedded_longest.with_source("main/Filter.java, coreference"),
        pairing=pairing.pair_longest.with_source("main/Filter.java, filterMany2One"),
        macro=scores.macro_harmonic.with_source("main/Evaluator.java, macroF1"),
        undefined=scores.undefined_one.with_source("main/Evaluator.java, precision, recall"),
    ),
    notes={
        "candidates": "CM: the mention matches, and its candidates and gold's have an entity in common "
        "(matching/CandidateMatching.java)",
        "spans": "overlap, and 1 - edit distance / longer length above t: 0 in the paper's figures, where any overlap "
        "matches, 0.85 in the released code (--match 'fuzzy-over(0.85)'); at 1 nothing matches, where the paper has 1 "
        "for equal spans (matching/MentionMatching.java)",
        "order": "sets have no order; here it is that of the offsets, and chains of embedded mentions are followed "
        "one step",
    },
)
