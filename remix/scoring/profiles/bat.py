"""BAT-Framework (Cornolti, Ferragina and Ciaramita 2013), version 1.3.6."""

from remix.scoring.conventions import compared, pairing, scores
from remix.scoring.profiles import Conventions, Profile

bat = Profile(
    name="bat",
    summary="an answer may match several mentions; P = 1 without answers, R = 1 without gold; no NIL",
    source="https://github.com/marcocor/bat-framework, src/main/java/it/unipi/di/acube/batframework",
    tasks=("A2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    rest="removed",
    conventions=Conventions(
        nil=compared.nil_left_out.with_source("data/Tag.java: a concept is an article of Wikipedia"),
        optional=compared.optional_unknown,
        regions=compared.regions_unknown,
        alternatives=compared.alternatives_separate,
        overlapping=compared.overlapping_longest.with_source(
            "data/Annotation.java, deleteOverlappingAnnotations; metrics/WeakAnnotationMatch.java"
        ),
        pairing=pairing.pair_any.with_source("metrics/Metrics.java, getSingleTp, getSingleFp, getSingleFn"),
        macro=scores.macro_of_all.with_source("metrics/Metrics.java, macroF1"),
        undefined=scores.undefined_one.with_source("metrics/Metrics.java, precision, recall, F1"),
    ),
    notes={
        "order": "the first match is that of a hash set's order; here it is that of the offsets",
        "tasks": "A2KB is its A2W, C2KB its C2W, ERec its mention annotation (problems/*.java)",
    },
)
