"""EUEF, easy-to-use evaluation framework for entity linking (Liu, Chen et al.), the files of 2015."""

from remix.scoring.profiles import Profile, composed

euef = composed(
    Profile(
        name="euef",
        summary="spans of similar text match; embedded mentions are dropped; macro-F1 is harmonic",
        source="https://github.com/htlchh/EUEF, src/edu/zju/cadal",
        tasks=("A2KB", "ERec", "candidates", "NIL"),
        matchings=("fuzzy-over(0)",),
        conventions={},
        rest="removed",
        headline=("A2KB", "fuzzy-over(0)"),
    ),
    (
        "nil-left-out",
        "optional-unknown",
        "regions-unknown",
        "alternatives-separate",
        "embedded-longest",
        "pair-longest",
        "undefined-one",
        "macro-harmonic",
    ),
    sources={
        "nil": "matching/NILMatching.java: NIL is a task of its own, NM",
        "overlapping": "main/Filter.java, coreference",
        "pairing": "main/Filter.java, filterMany2One",
        "undefined": "main/Evaluator.java, precision, recall",
        "macro": "main/Evaluator.java, macroF1",
    },
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
