"""OKE-1 and OKE-2, the tasks of the Open Knowledge Extraction challenge: means of the scores of their parts.

OKE-1 is recognition, linking and typing of entities; OKE-2 the typing of entities and the recognition of the words
that name their classes ("a Norwegian *footballer*"). Parts and means are those of GERBIL (EvaluatorFactory.java).
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.names import OWL
from remix.scoring.matching import Case, Matching, with_detail
from remix.scoring.tasks import Task, refuse_counts
from remix.scoring.tasks.annotation import erec


def _class_spans(case: Case, matching: Matching) -> pl.DataFrame:
    """Return the counts of spans that link to an owl:Class, of several in one another the longest."""
    case = with_detail(case, "classes")
    of_classes = pl.col("classes").list.contains(f"{OWL}Class").fill_null(False)
    gold = _outermost(case.gold.filter(of_classes), ["doc"])
    answers = _outermost(case.answers.filter(of_classes), ["system", "doc"])
    return erec.count(replace(case, gold=gold.sort("g"), answers=answers.sort("a")), matching)


def _outermost(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the rows whose span is inside no other row's of the same keys.

    >>> rows = pl.DataFrame({"doc": [0, 0, 0], "begin": [0, 2, 5], "end": [5, 4, 7]})
    >>> _outermost(rows, ["doc"]).rows()
    [(0, 0, 5), (0, 5, 7)]
    """
    rows = rows.sort(*keys, "begin", "end", descending=[*(False for _ in keys), False, True])
    reach = pl.col("end").cum_max().shift(1).over(keys)
    again = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1).over(keys) for name in ("begin", "end"))
    return rows.filter((reach.is_null() | (pl.col("end") > reach)) | again.fill_null(False))


class_erec = Task(
    "ERec-classes", "text given; spans that name a class (owl:Class) compared, outermost ones", _class_spans
)
oke_1 = Task(
    "OKE-1", "text given; mean of recognition, linking and typing", refuse_counts, parts=("ERec", "D2KB", "ETyping")
)
oke_2 = Task(
    "OKE-2",
    "text given; mean of typing and of the spans that name classes",
    refuse_counts,
    parts=("ETyping", "ERec-classes"),
)
