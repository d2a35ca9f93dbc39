"""Runs whose entities are of other namespaces than gold's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.dense import look_up, mark
from remix.errors import Error
from remix.kb.titles import RESOURCE
from remix.scoring.inputs import Knowledge
from remix.scoring.inputs.entities import KNOWN_WORLD, is_bare
from remix.scoring.matching import Case

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

FEW = 0.3
"""A run of which fewer links are of a namespace of gold is looked at."""

LEAST = 3
"""A run needs so many links to be looked at, unless all of them are of other namespaces."""


def _namespace_of(iri: str) -> pl.Expr:
    """Return the namespace of a column of IRIs: what stands before the last part of each."""
    namespace = pl.coalesce(pl.col(iri).str.extract(one) for one in (KNOWN_WORLD, r"^(?:http://)?(.*[/#:])[^/#:]*$"))
    return pl.when(is_bare(pl.col(iri))).then(pl.lit("no namespace")).otherwise(namespace).alias("namespace")


def _name_namespaces(case: Case) -> tuple[pl.DataFrame, pl.Series]:
    """Return entity, iri, namespace and `same`, whether gold names entities of it; and the namespaces of gold.

    Those of gold are the ones that it has in the data and after the redirects and sameAs links of the knowledge base.
    """
    named = case.mentions.iris.with_columns(_namespace_of("iri"))
    found = named["namespace"].filter(pl.Series(mark(case.mentions.gold_links["entity"], len(named))))
    given = case.evidence.gold.links.select(iri="entity").unique().drop_nulls()
    ours = pl.concat([found, given.select(_namespace_of("iri")).to_series()]).unique()
    return named.with_columns(same=pl.col("namespace").is_in(ours.implode())), ours


def unjoined_answers(case: Case) -> pl.DataFrame:
    """Return answer and namespace: answers on linked mentions that no name joins to gold's entities or tells from them.

    At all mentions that such an answer overlaps gold names entities of other namespaces than the answer does, each as
    the data have it. The redirects and sameAs links of the knowledge base do not lead from one to the other, and do not
    tell them apart either (see `_telling_names`). It counts as wrong, though it may be the entity of gold under another
    name.
    """
    pairs = _pairs_of_other_namespaces(case)
    if pairs.height and (kb := case.evidence.inputs.knowledge.kb) is not None:
        pairs = pairs.with_columns(kb.resolve(pairs[side]) for side in ("answered", "asked"))
        known = pairs.select("answered", "asked").unique()
        names = _telling_names(kb, pl.concat([known["answered"], known["asked"]]).unique())
        of_both = known.join(names, left_on="answered", right_on="entity").join(
            names, left_on=["asked", "namespace"], right_on=["entity", "namespace"], how="semi"
        )
        decided = pl.concat([known.filter(pl.col("answered") == pl.col("asked")), of_both.select(known.columns)])
        answers = pairs.join(decided, on=["answered", "asked"], how="semi").select("answer")
        pairs = pairs.join(answers, on="answer", how="anti")
    return pairs.group_by("answer").agg(pl.col("namespace").min()).sort("answer")


def _pairs_of_other_namespaces(case: Case) -> pl.DataFrame:
    """Return answer, answered, namespace and asked: answers whose namespaces no mention that they overlap has.

    `answered` and `asked` are the entities of answer and mention as the data have them, `namespace` that of the answer.
    """
    evidence, mentions = case.evidence, case.mentions
    columns = {"answer": pl.Int64, "answered": pl.String, "namespace": pl.String, "asked": pl.String}
    given = pl.concat([one.links["entity"] for one in (evidence.gold, *evidence.runs.values())]).unique().drop_nulls()
    named = pl.DataFrame({"iri": given}).with_columns(_namespace_of("iri"))
    if named["namespace"].n_unique() < 2:
        return pl.DataFrame(schema=columns)
    gold_links = evidence.gold.links.select("annotation", iri="entity")
    run_links = evidence.of_runs("links").select("system", "annotation", iri="entity")
    asked = mentions.gold.select("mention", "annotation").join(gold_links, on="annotation").join(named, on="iri")
    answered = mentions.answers.select("answer", "system", "annotation").join(run_links, on=["system", "annotation"])
    answered = answered.join(named, on="iri").select("answer", "namespace", answered="iri")
    asked = asked.select("mention", wanted="namespace", asked="iri")
    pairs = case.overlaps.select("answer", "mention").unique().join(asked, on="mention").join(answered, on="answer")
    return pairs.filter((pl.col("namespace") != pl.col("wanted")).all().over("answer")).select(*columns)


def _telling_names(kb: KnowledgeBase, entities: pl.Series) -> pl.DataFrame:
    """Return entity and namespace: in which namespaces an entity has a name that tells it from others with one there.

    An entity has one name in a namespace, as an item of Wikidata is. Of DBpedia, whose names are titles, it has a
    further one for each title that redirects or redirected to it. So a title tells an entity from another alone where
    the knowledge base has redirects to it: else the other may be the same article by a title that it had elsewhere.
    """
    itself = pl.DataFrame({"entity": entities, "iri": entities})
    every = pl.concat([itself, kb.aliases(entities).select("entity", "iri")]).unique()
    names = every.with_columns(_namespace_of("iri"), is_title=pl.col("iri").str.contains(RESOURCE))
    names = names.group_by("entity", "namespace").agg(pl.len(), pl.col("is_title").any())
    return names.filter(~pl.col("is_title") | (pl.col("len") > 1)).select("entity", "namespace")


def tell_namespaces(case: Case) -> None:
    """Say of each run whose entities are of other namespaces than gold's: which, and what would join the two.

    What would is the sameAs links of a knowledge base of the shelf, counted on the answers that have the span of a
    linked mention of gold. Where that is so of few of a run's answers, these are told.
    """
    mentions = case.mentions
    if mentions.answer_links.is_empty():
        return
    named, ours = _name_namespaces(case)
    if ours.is_empty():
        return
    same = named["same"]
    links = mentions.answer_links.select("answer", same=same.gather(mentions.answer_links["entity"]))
    links = look_up(links, "answer", mentions.answers, ["system"])
    shares = links.group_by("system").agg(linked=pl.len(), same=pl.col("same").sum()).sort("system")
    apart = shares.filter(
        (pl.col("same") < FEW * pl.col("linked")) & ((pl.col("linked") >= LEAST) | (pl.col("same") == 0))
    )
    told = _tell_runs_apart(case, named, apart["system"])
    _tell_unjoined(case, told)


def _tell_runs_apart(case: Case, named: pl.DataFrame, systems: pl.Series) -> list[int]:
    """Say of systems, of whose links few are of a namespace of gold, where few of them are right; return these."""
    told, mentions = [], case.mentions
    gold = mentions.gold_links.join(named, on="entity")
    answers = (
        mentions.answers.select("answer", "system").join(mentions.answer_links, on="answer").join(named, on="entity")
    )
    for system in systems:
        own = answers.filter(pl.col("system") == system)
        pairs = case.overlaps.filter("equal").select("answer", "mention", "link")
        pairs = pairs.join(own.select("answer", answered="iri"), on="answer").join(
            gold.select("mention", asked="iri"), on="mention"
        )
        on_span, right = pairs["answer"].n_unique(), pairs.filter("link")["answer"].n_unique()
        if right >= max(1, FEW * on_span):
            continue
        told.append(system)
        name = mentions.systems[system]
        progress.note(
            f"run '{name}' and gold name entities in different worlds: its {len(own)} links are of {_count(own)}, "
            f"gold's {len(gold)} of {_count(gold)}; {right} of the {on_span} answers that have the span of a linked "
            f"mention of gold have its entity{_joining(pairs, right, case.evidence.inputs.knowledge)}"
        )
    return told


def _tell_unjoined(case: Case, apart: Sequence[int]) -> None:
    """Say of each other system how many answers on linked mentions cannot be compared to gold's entities."""
    on_span = _answers_on_linked(case)
    unjoined = on_span.filter(~pl.col("system").is_in(apart)).join(unjoined_answers(case), on="answer")
    of_all = on_span.group_by("system").len("all")
    counts = unjoined.group_by("system", "namespace").len().join(of_all, on="system").sort("system", "namespace")
    for system, namespace, count, every in counts.iter_rows():
        progress.note(tell_unjoined(case.mentions.systems[system], count, every, namespace))


def _answers_on_linked(case: Case) -> pl.DataFrame:
    """Return answer, system and doc of the answers with an entity that have the span of a linked mention of gold."""
    linked = case.mentions.gold_links.select("mention").unique()
    on_span = case.overlaps.filter("equal").select("answer", "mention").join(linked, on="mention")
    on_span = on_span.select("answer").unique().join(case.mentions.answer_links.select("answer").unique(), on="answer")
    return on_span.join(case.mentions.answers.select("answer", "system", "doc"), on="answer")


def with_uncompared(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows of scores with `uncompared`, where that is so of any answer of the whole.

    It is the share of a system's answers on linked mentions of a dataset that cannot be compared to gold's entities, as
    `unjoined_answers` has them. Slices have none.
    """
    found = unjoined_answers(case)
    if found.is_empty():
        return rows
    every = _answers_on_linked(case).with_columns(own=pl.col("answer").is_in(found["answer"].implode()))
    every = every.join(case.mentions.documents.select("doc", "dataset"), on="doc")
    every = pl.concat([every, every.with_columns(dataset=pl.lit("all"))])
    names = dict(enumerate(case.mentions.systems))
    system = pl.col("system").replace_strict(names, return_dtype=pl.String)
    shares = every.group_by("system", "dataset").agg(uncompared=pl.col("own").mean()).with_columns(system)
    if not (shares["uncompared"] > 0).any():
        return rows
    rows = rows.join(shares, on=["system", "dataset"], how="left", maintain_order="left")
    return rows.with_columns(uncompared=pl.when(pl.col("column") == "").then("uncompared"))


def tell_unjoined(system: str, count: int, every: int, namespace: str) -> str:
    """Return a sentence on answers of a system that cannot be compared to gold's entities.

    >>> tell_unjoined("mine", 2, 30, "www.wikidata.org/entity/")[:79]
    "run 'mine': 2 of 30 answers on linked mentions are of www.wikidata.org/entity/,"
    """
    return (
        f"run '{system}': {count} of {every} answers on linked mentions are of {namespace}, and no sameAs link of a "
        "knowledge base leads from them to the entities that gold names; they count as wrong, the same entity or not "
        "(`remix kb build` makes a knowledge base of further links)"
    )


def _count(links: pl.DataFrame) -> str:
    """Return the namespaces with their numbers, the most frequent first."""
    rows = links.group_by("namespace").len().sort(["len", "namespace"], descending=[True, False])
    shown = [f"{namespace} ({count})" for namespace, count in rows.head(3).iter_rows()]
    return ", ".join([*shown, *(["…"] if len(rows) > len(shown) else [])])


def _joining(pairs: pl.DataFrame, right: int, known: Knowledge) -> str:
    """Return how many answers a knowledge base would make right, and the command that attaches the best.

    The one that is attached does not.
    """
    from remix.kb import KnowledgeBase

    kb = known.kb
    found = [(0, "")]
    for folder in known.shelf:
        try:
            other = KnowledgeBase.open(folder)
        except Error:  # one that an older version built, or that is gone
            continue
        if kb is None or other.version != kb.version:
            joined = pairs.filter(other.resolve(pairs["answered"]) == other.resolve(pairs["asked"]))
            found.append((joined["answer"].n_unique(), folder.name))
    count, best = max(found)
    if count >= max(2 * right, right + 1):
        return f"; {count} would by the sameAs links of a knowledge base that is there: `remix kb attach {best}`"
    attached = f"; the sameAs links of '{kb.name}', which is attached, do not join them" if kb is not None else ""
    return (
        f"{attached}; a knowledge base with sameAs links between the two does: `remix kb build --name joined --from "
        "tables DIR`, with a sameas.tsv in DIR"
    )
