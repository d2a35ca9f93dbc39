"""BAT-Framework (Cornolti, Ferragina and Ciaramita 2013), version 1.3.6."""

from remix.scoring.profiles import Profile, composed

bat = composed(
    Profile(
        name="bat",
        summary="an answer may match several mentions; P = 1 without answers, R = 1 without gold; no NIL",
        source="https://github.com/marcocor/bat-framework, src/main/java/it/unipi/di/acube/batframework",
        tasks=("A2KB", "C2KB", "ERec"),
        matchings=("strong", "weak"),
        conventions={},
        rest="removed",
    ),
    (
        "nil-left-out",
        "optional-unknown",
        "regions-unknown",
        "alternatives-separate",
        "overlapping-longest",
        "pair-any",
        "undefined-one",
        "macro-of-all",
    ),
    sources={
        "nil": "data/Tag.java: a concept is an article of Wikipedia",
        "overlapping": "data/Annotation.java, deleteOverlappingAnnotations; metrics/WeakAnnotationMatch.java",
        "pairing": "metrics/Metrics.java, getSingleTp, getSingleFp, getSingleFn",
        "undefined": "metrics/Metrics.java, precision, recall, F1",
        "macro": "metrics/Metrics.java, macroF1",
    },
    notes={
        "order": "the first match is that of a hash set's order; here it is that of the offsets",
        "tasks": "A2KB is its A2W, C2KB its C2W, ERec its mention annotation (problems/*.java)",
    },
)
