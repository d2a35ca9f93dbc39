"""The classes of errors of `neleval analyze`: wrong links on mentions that match, missing and extra ones."""

from __future__ import annotations

import polars as pl

from remix.scoring.errors import Errors, Taxonomy, class_rows, under_matchings
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.matching import Case, matching_named

CLASSES = {
    "wrong_link": "an entity was answered, and gold has another (of mentions where both have one)",
    "link_as_nil": "NIL was answered, and gold has an entity (of matched mentions with an entity in gold)",
    "nil_as_link": "an entity was answered, and gold has NIL (of matched mentions that are NIL in gold)",
    "missing": "no answer matches the mention (of all mentions)",
    "extra": "the answer matches no mention, or a part of one that is not right as a whole (of all answers that count)",
}
LABELS = {
    "wrong_link": "wrong link",
    "link_as_nil": "NIL in place of a link",
    "nil_as_link": "link in place of NIL",
    "missing": "missing mention",
    "extra": "extra answer",
}


def classify(case: Case, matchings: tuple[str, ...]) -> Errors:
    """Return the errors under each matching of the registry, under `strong` if there is none among them.

    A group of alternatives counts once: by the one that an answer was assigned to, else by its first. An alternative of
    several mentions, of which any has a wrong answer, counts by that one.
    """
    return Errors(under_matchings(matchings, lambda name: _classify_under(case, name)))


def judged_pairs(case: Case, matching: str) -> pl.DataFrame:
    """Return system, doc, group, mention, answer, link, answered and correct: a row for each group with an answer.

    That of an alternative of several mentions is the first of those that are wrong, if any is.
    """
    kept = case.kept.select("mention", "doc", "group", "link")
    pairs = case.judge("link", matching_named(matching)).pairs.join(kept, on="mention")
    pairs = pairs.join(case.answers.select("answer", answered="link"), on="answer")
    return pairs.sort("system", "group", "correct", "mention").unique(
        ["system", "group"], keep="first", maintain_order=True
    )


def _classify_under(case: Case, matching: str) -> pl.DataFrame:
    judged = case.judge("link", matching_named(matching))
    kept = case.kept.select("mention", "doc", "group", "link")
    pairs = judged_pairs(case, matching)
    linked, answered = pl.col("link") != NIL, pl.col("answered") != NIL
    first = kept.sort("mention").unique("group", keep="first", maintain_order=True)
    alone = case.mentions.for_each_system(first).join(pairs, on=["system", "group"], how="anti")
    # An alternative of several mentions has an answer on each, which are right together or not at all.
    free = judged.answers.filter(pl.col("outcome") != "ignored").join(pairs.select("answer"), on="answer", how="anti")
    no, yes = pl.lit(False), pl.lit(True)
    parts = [
        class_rows(pairs.filter(linked & answered), "wrong_link", ~pl.col("correct")),
        class_rows(pairs.filter(linked), "link_as_nil", ~answered),
        class_rows(pairs.filter(~linked), "nil_as_link", answered),
        *(class_rows(rows, "missing", error) for rows, error in ((pairs, no), (alone, yes))),
        *(class_rows(rows, "extra", error) for rows, error in ((pairs, no), (free, pl.col("outcome") == "fp"))),
    ]
    return pl.concat(parts)


neleval = Taxonomy(
    name="neleval",
    summary="five classes: wrong link, link as NIL, NIL as link, missing, extra",
    source="neleval, analyze.py; Hachey, Nothman and Radford, Cheap and easy entity evaluation (ACL 2014)",
    classes=CLASSES,
    labels=LABELS,
    classify=classify,
)
