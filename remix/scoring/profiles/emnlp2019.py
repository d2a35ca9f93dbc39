"""Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking (EMNLP 2019)."""

from remix.scoring.conventions import compared
from remix.scoring.profiles import Conventions, Profile

emnlp2019 = Profile(
    name="emnlp2019",
    summary="answers on gold mentions only; a category is scored with all other gold removed",
    source="Rosales-Méndez et al., EMNLP 2019, and their published scripts",
    tasks=("D2KB",),
    matchings=("strong",),
    rest="removed",
    headline=("D2KB", "strong"),
    conventions=Conventions(
        alternatives=compared.answers_merged.with_source("Table4_5_6-Appendix.py, beSureOnlyOneAnnotation")
    ),
    notes={
        "answers": "only those whose span is a gold mention's (Table4_5_6-Appendix.py, KeepOnlyAnnotationsOf)",
        "slices": "gold is restricted to the category, the rest is removed (Table4_5_6-Appendix.py, KeepOnlyTag)",
        "printed": "the paper prints 0 where a score has no denominator",
    },
)
