"""What is wrong with the answers of language models whatever gold says: invented, labels alone, none at all."""

from __future__ import annotations

import polars as pl

from remix.formats.definitions.answers import LABEL, PROBLEMS
from remix.scoring.errors import Errors, Taxonomy, class_rows
from remix.scoring.matching import Case

CLASSES = {
    "invented": "the entity is not in the knowledge base or the file of entities (of answers with an entity)",
    "label_only": "a label without identifier was answered (of all answers)",
    "not_in_text": "the mention does not stand in the text (of all answers, also those)",
    "refusal": "nothing was answered that could be read (of documents)",
    "cut_off": "the output ends before it should (of documents)",
}


def classify(case: Case, matchings: tuple[str, ...]) -> Errors:
    """Return the errors of each answer and document, the same under every matching.

    What is not in the text has numbers of its own below 0 as `answer`. Nothing is `invented` where neither a knowledge
    base nor names of entities say what there is.
    """
    rows = pl.concat([*_of_answers(case), *_of_documents(case)])
    return Errors(pl.DataFrame({"matching": matchings}).join(rows, how="cross"))


def _of_answers(case: Case) -> list[pl.DataFrame]:
    iris = case.mentions.iris
    links = case.mentions.answer_links.join(iris, on="entity")
    linked = case.answers.select("answer", "system", "doc").join(links.select("answer", "iri"), on="answer", how="left")
    labelled = pl.col("iri").str.starts_with(LABEL).fill_null(False)
    single = linked.group_by("answer", "system", "doc", maintain_order=True).agg(labelled=labelled.any())
    parts = [class_rows(single, "label_only", pl.col("labelled"))]
    known = _find_known(case, iris["iri"])
    if known is not None:
        entities = linked.filter(~labelled).drop_nulls("iri").with_columns(known=pl.col("iri").is_in(known.implode()))
        entities = entities.group_by("answer", "system", "doc", maintain_order=True).agg(pl.col("known").any())
        parts.append(class_rows(entities, "invented", ~pl.col("known")))
    return parts


def _find_known(case: Case, iris: pl.Series) -> pl.Series | None:
    """Return which of the entities there are, None where nothing says so."""
    kb = case.evidence.kb
    if kb is not None:
        return kb.link_status(iris).filter(pl.col("status") != "unknown")["iri"]
    return case.evidence.names["entity"] if case.evidence.names is not None else None


def _of_documents(case: Case) -> list[pl.DataFrame]:
    parts = []
    for number, (system, run) in enumerate(case.evidence.runs.items()):
        places = case.evidence.inputs.pair_documents(system).select(subject="document", document="gold")
        docs = case.mentions.documents.join(places, on="document", maintain_order="left")
        docs = docs.select("doc", "subject", system=pl.lit(number, pl.Int64))
        for kind, term in PROBLEMS.items():
            name = kind.replace("-", "_")
            told = run.values.filter(pl.col("term") == term).group_by("subject").agg(pl.col("number").sum())
            found = docs.join(told, on="subject", how="left", maintain_order="left")
            if name != "not_in_text":
                parts.append(class_rows(found, name, pl.col("number") > 0))
                continue
            lost = found.select(pl.all().repeat_by(pl.col("number").fill_null(0).cast(pl.Int64))).explode(found.columns)
            lost = lost.drop_nulls("doc").with_columns(answer=-1 - pl.int_range(pl.len()).cast(pl.Int64))
            stood = case.answers.filter(pl.col("system") == number).select("system", "doc", "answer")
            parts += [class_rows(lost, name, pl.lit(True)), class_rows(stood, name, pl.lit(False))]
    return parts


answers = Taxonomy(
    name="answers",
    summary="answers of language models: invented, label only, not in text, refusal, cut off",
    source="remix.formats.definitions.answers",
    classes=CLASSES,
    classify=classify,
)
