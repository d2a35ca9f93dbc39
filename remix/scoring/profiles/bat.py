"""BAT-Framework (Cornolti, Ferragina and Ciaramita 2013), version 1.3.6."""

from remix.scoring.conventions.alternatives import alternatives_separate
from remix.scoring.conventions.macro import macro_of_all
from remix.scoring.conventions.nil import nil_left_out
from remix.scoring.conventions.optional import optional_unknown
from remix.scoring.conventions.overlapping import overlapping_longest
from remix.scoring.conventions.pairing import pair_any
from remix.scoring.conventions.regions import regions_unknown
from remix.scoring.conventions.undefined import undefined_one
from remix.scoring.profiles import Conventions, Profile

bat = Profile(
    name="bat",
    summary="an answer may match several mentions; P = 1 without answers, R = 1 without gold; no NIL",
    source="https://github.com/marcocor/bat-framework, src/main/java/it/unipi/di/acube/batframework",
    tasks=("A2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    rest="removed",
    conventions=Conventions(
        nil=nil_left_out.with_source("data/Tag.java: a concept is an article of Wikipedia"),
        optional=optional_unknown,
        regions=regions_unknown,
        alternatives=alternatives_separate,
        overlapping=overlapping_longest.with_source(
            "data/Annotation.java, deleteOverlappingAnnotations; metrics/WeakAnnotationMatch.java"
        ),
        pairing=pair_any.with_source("metrics/Metrics.java, getSingleTp, getSingleFp, getSingleFn"),
        macro=macro_of_all.with_source("metrics/Metrics.java, macroF1"),
        undefined=undefined_one.with_source("metrics/Metrics.java, precision, recall, F1"),
    ),
    notes={
        "order": "the first match is that of a hash set's order; here it is that of the offsets",
        "tasks": "A2KB is its A2W, C2KB its C2W, ERec its mention annotation (problems/*.java)",
    },
)
