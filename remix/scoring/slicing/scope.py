"""Answers in the scope of a remix: those that the query it was cut by selects."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from remix import progress
from remix.errors import Error
from remix.formats.nif.writing import terms_of
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import MEASURES, Measure, Measured
from remix.measures.declaration import write_out
from remix.measures.enrichment import entity_lines
from remix.names import EL, HFTS, HFTS_OLD, ITSRDF, NIF, OWL, RDF, RDFS, RMX, XSD
from remix.rdf.iris import dataset_iri
from remix.rdf.ntriples import serialise
from remix.remixes.filters import keep_gold_links, links_kept_by, names_of
from remix.scoring.inputs.evidence import NOT_OF_ANSWERS, Evidence, MeasuredAnswers
from remix.scoring.matching import Scope
from remix.store.index import Index
from remix.store.selection import select
from remix.store.syntax import modern
from remix.store.tree import Node, NotUnderstood, Value, parse, walk
from remix.store.worker import GuardedIndex


def scope_of_queries(evidence: Evidence) -> Scope:
    """Return the answers that the query which their dataset was cut by selects.

    An answer in a dataset that nothing was dropped from is in scope. Where it was cut by a filter, those are out of
    scope whose entity the filter does not keep. An entity of unknown type, or NIL, may be of any: it is in scope where
    some class would put it there. Unknown, with a note, are the documents of a dataset whose
    query is not known, or cannot be evaluated on an answer's own form and entity, and of one whose mentions were drawn:
    all answers that are on none would be held against some of the mentions.
    """
    scope = Scope()
    for part in evidence.measured:
        documents, queries = part.mentions.documents, part.background.queries
        for name in part.mentions.gold.filter(ignorable="dropped").join(documents, on="doc")["dataset"].unique().sort():
            docs = documents.filter(dataset=name)["doc"]
            try:
                even, knowledge = part.background.drawn.get(name, ""), part.background.knowledge
                if said := find_obstacle(queries.get(name, ""), part.background.kb, drawn=even, knowledge=knowledge):
                    raise Error(said)
                kept = links_kept_by(queries[name])
                if kept is not None:
                    scope = scope.within(_scope_of_filter(part, kept, docs))
                    continue
                chosen = select_answers(part, queries[name], docs)
            except Error as error:
                progress.note(f"{name}: P in scope is not known, as {' '.join(str(error).split())}; see P on mention")
                scope = scope.within(Scope(unknown=docs))
                continue
            own = part.numbered.filter(pl.col("side") == "answer", pl.col("doc").is_in(docs.implode()))
            scope = scope.within(Scope(own.select(answer="id", in_scope=pl.col("iri").is_in(chosen.implode()))))
    return scope


def find_obstacle(query: str, kb: KnowledgeBase | None, *, drawn: str = "", knowledge: str = "") -> str:
    """Return why answers are not asked by the query of a remix, as far as it need not be tried; empty without a reason.

    The mentions were `drawn` to be even in columns, if any, and measured by a knowledge base (`knowledge`).
    """
    if drawn:
        return f"its mentions were drawn, to be even in {drawn}, and answers were not"
    if not query:
        return "the query that it was cut by is in no manifest beside it, `NAME.manifest.ttl` of `remix build`"
    if links_kept_by(query) is not None:
        return ""
    try:
        _classes(query)
        tree = parse(modern(query))
    except Error as error:
        return str(error)
    asked = _asked_measures(tree).values() if kb is None and _named_predicates(tree) is not None else ()
    needing = [measure for measure in asked if measure.needs]
    names = [one.name for measure in needing for one in measure.columns]
    names += [one.name for measure in needing for one in measure.summaries]
    if names:
        own = f" of {knowledge}, by which it was measured" if knowledge else ""
        return (
            f"its query reads {' and '.join(dict.fromkeys(names))}, which answers have by a knowledge base{own}, and "
            "none is attached: `remix kb attach FOLDER`"
        )
    return ""


def _scope_of_filter(part: MeasuredAnswers, kept: pl.Series, docs: pl.Series) -> Scope:
    """Return the answers one of whose entities a filter keeps, or was not asked about, as gold has it nowhere; and NIL.

    An entity that was not asked about may be one that the filter would keep, as an entity of unknown type may be.
    """
    names = names_of(keep_gold_links(part.background.frames), part.background.kb)
    named = names.filter(pl.col("link").is_in(kept.implode()))["name"]
    out = names.filter(~pl.col("name").is_in(named.implode()))["name"].unique()
    mentions = part.mentions
    links = mentions.answer_links.join(mentions.iris, on="entity")
    is_out = links.group_by("answer").agg(out=pl.col("iri").is_in(out.implode()).all())
    own = mentions.answers.filter(pl.col("doc").is_in(docs.implode())).select("answer")
    own = own.join(is_out, on="answer", how="left")
    return Scope(own.select("answer", in_scope=~pl.col("out").fill_null(False)))


TIMEOUT = 600.0
"""Seconds that the query of a remix may take over the answers."""

ANY_CLASS = "urn:remix:class:any"
MANY_CLASSES = 4
"""Of a query that names more classes, an untyped answer is tried with none, with another and with all of them."""

_NO_CLASSES = (RDF, RDFS, OWL, XSD, NIF, ITSRDF, HFTS, HFTS_OLD, RMX, EL)


def select_answers(answers: MeasuredAnswers, query: str, docs: pl.Series) -> pl.Series:
    """Return the answers that a query selects; raises `Error` where they are not to be had in this way."""
    classes = _classes(query)
    tree = parse(modern(query))
    asked = _asked_measures(tree)
    frames, measured = _with_readings(answers, classes, asked)
    named = tuple(asked[one.name] for one in measured.measures if one.name in asked)
    graphs = _graphs(frames, replace(measured, measures=named), _named_predicates(tree))
    if any(term.startswith(f"<{RMX}entity") for term in _terms(tree)):
        graphs["urn:remix:entities"] = entity_lines(frames, answers.background.kb)
    with TemporaryDirectory(prefix="remix-") as place:
        try:
            made = Index.on_disk(Path(place), graphs)
        except SyntaxError as error:
            raise Error(f"its documents or the answers have IRIs that are none: {error}") from None
        # The query is a user's: it has a worker's limits of time and memory.
        with GuardedIndex(made, timeout=TIMEOUT) as index:
            found = select(index, query, frames, name="its query").annotations
    chosen = found.str.extract(r"^([^#]*)").unique()
    rows = answers.numbered.filter(pl.col("side") == "gold", pl.col("doc").is_in(docs.implode()))
    groups = answers.mentions.gold.select("group", id="mention")
    kept = rows.join(groups, on="id").group_by("group").agg(pl.col("iri").is_in(chosen.implode()).any())
    if failing := int((~kept["iri"]).sum()):
        kb, knowledge = answers.background.kb, answers.background.knowledge
        other = kb is not None and knowledge and knowledge.partition("-")[0] not in kb.signature
        raise Error(
            f"{failing} of its {len(kept)} kept mentions would fail its query by their form and entity alone"
            + (f"; it was measured by the knowledge base {knowledge}: `remix kb attach` that one" if other else "")
        )
    return chosen


def _classes(query: str) -> list[str]:
    """Return the classes that a query names; raises `Error` for one that asks more than an answer can tell."""
    try:
        tree = parse(query)
    except NotUnderstood as error:
        raise Error(f"its query is not understood: {error}") from None
    kinds = {node.kind for node in walk(tree)}
    if "ServiceGraphPattern" in kinds:
        raise Error("its query asks another endpoint")
    if "SubSelect" in kinds:
        raise Error("its query has another query within it, which may count or limit what it selects")
    if tree.get("limitoffset") or tree.get("groupby") or tree.get("having"):
        raise Error("its query counts or limits what it selects")
    terms = list(_terms(tree))
    if any(f"<{RMX}{name}>" in terms for name in NOT_OF_ANSWERS):
        raise Error("its query speaks of how mentions overlap")
    triples = [triple for node in walk(tree) for triple in node.get("triples", ())]
    if len({triple[0] for triple in triples if triple[1] == f"<{NIF}referenceContext>"}) > 1:
        raise Error("its query speaks of several annotations")
    return sorted({term[1:-1] for term in terms if term.startswith("<") and not term[1:].startswith(_NO_CLASSES)})


def _terms(value: Value) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = [part for _, part in value.parts] if isinstance(value, Node) else value
    return [term for part in parts for term in _terms(part)]


def _with_readings(answers: MeasuredAnswers, classes: list[str], asked: Collection[str]) -> tuple[Frames, Measured]:
    """Return the answers with further ones for each that has no class: of another class, of those of the query."""
    frames, measured = answers.frames, answers.measure(asked)
    typed = pl.concat([frames.classes["annotation"], measured.classes["annotation"]]).unique()
    bare = frames.annotations.filter(~pl.col("annotation").is_in(typed.implode()))["annotation"]
    sets = [[ANY_CLASS], [*classes, ANY_CLASS], *([[one] for one in classes] if len(classes) <= MANY_CLASSES else [])]
    readings = pl.DataFrame(
        {"reading": [f"#{n}" for n in range(len(sets))], "class": sets}, schema_overrides={"class": pl.List(pl.String)}
    )
    names = bare.to_frame().join(readings, how="cross").with_columns(new=pl.col("annotation") + pl.col("reading"))
    named = names.select("annotation", "new")

    def more(frame: pl.DataFrame) -> pl.DataFrame:
        copies = frame.join(named, on="annotation").with_columns(annotation="new").drop("new")
        return pl.concat([frame, copies.select(frame.columns)])

    annotations = more(frames.annotations).with_columns(group="annotation", option="annotation")
    added = names.select("class", annotation="new").explode("class").select("annotation", "class")
    every = pl.concat([frames.classes, added.with_columns(of_entity=pl.lit(False))])
    frames = replace(frames, annotations=annotations, links=more(frames.links), classes=every)
    return frames, replace(measured, annotations=more(measured.annotations))


def _named_predicates(tree: Node) -> frozenset[str] | None:
    """Return the predicates of a query as terms, None for one that asks for predicates without naming them."""
    predicates = [triple[1] for node in walk(tree) for triple in node.get("triples", ())]
    if not all(isinstance(one, str) and one.startswith("<") for one in predicates):
        return None
    return frozenset(predicates)


def _asked_measures(tree: Node) -> dict[str, Measure]:
    """Return the measures that a query names, or all where it asks for predicates without naming them.

    The others would be most of what is computed and loaded for it.
    """
    if _named_predicates(tree) is None:
        return {measure.name: measure for measure in MEASURES}
    named = set(_terms(tree))

    def is_named(term: str) -> bool:
        return f"<{write_out(term)}>" in named

    measures = (
        replace(
            measure,
            columns=tuple(column for column in measure.columns if is_named(column.term)),
            summaries=tuple(
                summary
                for summary in measure.summaries
                if any(is_named(term) for terms in summary.terms.values() for term in terms)
            ),
        )
        for measure in MEASURES
    )
    return {measure.name: measure for measure in measures if measure.columns or measure.summaries}


def _graphs(frames: Frames, measured: Measured, predicates: Collection[str] | None) -> dict[str, bytes]:
    """Return the origin's documents and their measures, and the answers as their annotations: one graph a dataset.

    Of the documents and annotations that is what has these `predicates`, which a query can see; all without any.
    """
    graphs = {}
    seen = pl.lit(True) if predicates is None else pl.col("predicate").is_in([*predicates])
    for name in frames.documents["dataset"].unique().sort():
        iri = name if ":" in name else dataset_iri(name)
        of_dataset = frames.keep(documents=frames.documents.filter(dataset=name)["document"])
        named = replace(of_dataset, documents=of_dataset.documents.with_columns(dataset=pl.lit(iri)))
        graphs[iri] = b"".join([*serialise(terms_of(named).filter(seen)), measured.triples(name, iri)])
    return graphs
