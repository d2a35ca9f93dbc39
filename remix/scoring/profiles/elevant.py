"""ELEVANT (Bast, Hertel and Prange, EMNLP 2022): spans grown to words, nested labels, NIL ignored or required."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from remix.frames import Frames
from remix.scoring.conventions import compared, scores
from remix.scoring.profiles import Conventions, OwnRules, Profile
from remix.scoring.statistics import averages
from remix.scoring.tools.elevant import MODES, by_mention_type, by_type, count


def _last_on_a_span(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
    return gold, {name: _last(run) for name, run in runs.items()}


def _last(run: Frames) -> Frames:
    span = ["document", "begin", "end"]
    return replace(run, annotations=run.annotations.unique(span, keep="last", maintain_order=True))


MEANINGS = {"IGNORED": "unknown entities are no gold and no answers", "REQUIRED": "all unknown ones are equal"}
"""How entities count that the knowledge base does not have."""

elevant = Profile(
    name="elevant",
    summary="spans are equal after growing to words; one TP or FN a root label; unknown entities ignored or required",
    source="ELEVANT, src/elevant/evaluation: case_generator.py, case.py, mention_type.py, evaluator.py",
    tasks=("A2KB", "ERec"),
    matchings=MODES,
    conventions=Conventions(nil=compared.nil_left_out, undefined=scores.undefined_zero),
    notes={
        "matching": "spans are equal as they are or after growing over letters, digits and '\"_ (case_generator.py)",
        "answers": "on one span the last one; false only inside the annotated region (article.py, case_generator.py)",
        "alternatives": "nested labels give one TP or FN, of the root or of what is found below it (case_generator.py)",
        "nil": "; ".join(f"{mode}: {meaning}" for mode, meaning in MEANINGS.items()) + " (case.py)",
        "optional": "optional, date and quantity labels are never missed, but wrong links on them count (case.py)",
        "dropped": "what is answered on a dropped mention counts neither way (not of ELEVANT, which has none)",
        "coreference": "pronouns and descriptions are counted in A2KB, not in ERec (evaluator.py)",
        "names": "an entity is named if its name begins with a capital letter, or is not known (mention_type.py)",
        "averages": "micro alone; a score without denominator is 0 (evaluator.py)",
    },
    own=OwnRules(
        prepare=_last_on_a_span,
        count=count,
        averages={"micro": averages(scores.zero_of_all)["micro"]},
        nearest=("A2KB", "expanded"),
    ),
    slices={"mention_type": by_mention_type, "type": by_type},
    meanings=MEANINGS,
    headline=("A2KB", "IGNORED"),
)
