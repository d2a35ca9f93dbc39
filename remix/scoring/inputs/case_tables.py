"""The tables that scoring hands from stage to stage: documents, mentions and answers of a case, and counts of these.

All that is joined on is a number from 0: documents (`doc`), annotations of gold (`mention`), answers, systems and
entities.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import polars as pl

from remix.schemas import Schema, SchemaColumn

NIL = -1
"""The `link` of a mention without an entity."""

_DOC = SchemaColumn(
    "doc", pl.Int64(), "the number of the document or, where macro averages are over contexts, of a context"
)
_PLACE = (
    SchemaColumn("begin", pl.Int64(), "where it begins; null where it has no place and is told by its form", null=True),
    SchemaColumn("end", pl.Int64(), "where it ends, exclusive", null=True),
    SchemaColumn(
        "link",
        pl.Int64(),
        "the number of the entity, -1 for NIL, or a number beyond all entities for a set of several",
    ),
    SchemaColumn("form", pl.Int64(), "the number of its surface form; null where all have a place", null=True),
)

CASE_DOCUMENTS = Schema(
    "documents of a case",
    "a document of gold, or a context of one",
    (
        _DOC,
        SchemaColumn("document", pl.String(), "its IRI"),
        SchemaColumn("dataset", pl.String(), "the dataset of gold that it is in", null=True),
    ),
    ("doc",),
)

MENTIONS = Schema(
    "mentions of a case",
    "an annotation of gold, as one slice of it sees it",
    (
        SchemaColumn("mention", pl.Int64(), "the number of the annotation"),
        _DOC,
        *_PLACE,
        SchemaColumn("group", pl.Int64(), "what counts once: the smallest number of its annotations"),
        SchemaColumn("option", pl.Int64(), "what satisfies a group as a whole: the smallest number of its annotations"),
        SchemaColumn("ignorable", pl.String(), "why it is not required, null where it is", null=True),
        SchemaColumn("annotation", pl.String(), "its IRI in the frames of gold"),
    ),
    ("mention",),
)

ANSWERS = Schema(
    "answers of a case",
    "an annotation of a run",
    (
        SchemaColumn("answer", pl.Int64(), "its number, among those of all systems"),
        SchemaColumn("system", pl.Int64(), "the number of the system"),
        _DOC,
        *_PLACE,
        SchemaColumn("inside", pl.Boolean(), "whether it is in a region that is annotated exhaustively"),
        SchemaColumn("annotation", pl.String(), "its IRI in the frames of the run"),
    ),
    ("answer",),
)

_COUNTED = (
    SchemaColumn("tp", pl.Float64(), "answers that are right"),
    SchemaColumn("fp", pl.Float64(), "answers that are wrong"),
    SchemaColumn("fn", pl.Float64(), "mentions that were not found"),
    SchemaColumn("ignored", pl.Float64(), "answers that count neither way"),
    SchemaColumn("fp_in_scope", pl.Float64(), "of the wrong ones those that gold's selection could mean", null=True),
    SchemaColumn("fp_on_mention", pl.Float64(), "of the wrong ones those on a required mention", null=True),
    SchemaColumn(
        "tp_of_gold", pl.Float64(), "mentions found, where these are not as many as tp", null=True, optional=True
    ),
    SchemaColumn("asked", pl.Float64(), "mentions, where not each is a whole TP or FN", null=True, optional=True),
    SchemaColumn(
        "has_gold", pl.Boolean(), "whether a mean over what has gold takes the document", null=True, optional=True
    ),
    SchemaColumn("threshold", pl.Float64(), "above which answers counted", null=True, optional=True),
)

COUNTS = Schema(
    "counts",
    "what a system and gold have in a document by one task and matching",
    (SchemaColumn("system", pl.Int64(), "the number of the system"), _DOC, *_COUNTED),
    ("system", "doc"),
)

LABELLED_COUNTS = Schema(
    "labelled counts",
    "counts of all tasks, matchings and slices, each with what it is of",
    (
        SchemaColumn("system", pl.String(), "the name of the system"),
        SchemaColumn("dataset", pl.String(), "the dataset of gold, or 'all' of them together", null=True),
        SchemaColumn("task", pl.String(), "the task"),
        SchemaColumn("matching", pl.String(), "the matching"),
        SchemaColumn("column", pl.String(), "what gold is sliced by, empty for the whole"),
        SchemaColumn("slice", pl.String(), "the value of the slice"),
        SchemaColumn("cut", pl.Boolean(), "whether gold was cut, so that answers may be out of its scope"),
        _DOC,
        *_COUNTED,
    ),
    ("system", "dataset", "task", "matching", "column", "slice", "doc"),
)

CaseDocuments: TypeAlias = Annotated[pl.DataFrame, CASE_DOCUMENTS]
GoldMentions: TypeAlias = Annotated[pl.DataFrame, MENTIONS]
SystemAnswers: TypeAlias = Annotated[pl.DataFrame, ANSWERS]
Counts: TypeAlias = Annotated[pl.DataFrame, COUNTS]
LabelledCounts: TypeAlias = Annotated[pl.DataFrame, LABELLED_COUNTS]
