"""What became of every annotation of gold and of every answer: the counts of A2KB, one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib import parse

import polars as pl

from remix.expressions import fill
from remix.names import ITSRDF, NIF, RDF, RMX, XSD
from remix.rdf.terms import entity_term, iri_term, quote, text_term, typed_term
from remix.scoring.choice import Choice, case_of
from remix.scoring.errors import rows_under
from remix.scoring.inputs import Inputs
from remix.scoring.matching import Case, matching_named
from remix.scoring.profiles import PROFILES
from remix.signature import Signature, content_hash
from remix.store import DatasetEntry
from remix.store.state import RUN
from remix.systems.record import Record


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of runs against gold; documents and annotations of gold by their IRIs, systems by their names.

    - `case`: gold and runs as they were compared;
    - `gold`: system, dataset, annotation, group, `outcome` ('tp', 'fn') of each required annotation; a group of
      alternatives has one outcome;
    - `answers`: system, dataset, answer, document, begin, end, surface_form, confidence, `outcome` ('tp', 'fp',
      'ignored') and `annotation`, the one of gold that the answer was assigned to, right or wrong, null without any;
    - `links`: answer and entity, in canonical form and after the redirects of the knowledge base; NIL has none;
    - `errors`: system, dataset, answer, annotation and `class` (`neleval:wrong_link`) of each error, about an answer,
      an annotation of gold, or both;
    - `documents`: document and `one`, which of its copies counts where datasets that share it are counted together;
    - `groups`: annotation and group of what is required, copies in the group of the one that counts.
    """

    case: Case
    gold: pl.DataFrame
    answers: pl.DataFrame
    links: pl.DataFrame
    errors: pl.DataFrame
    documents: pl.DataFrame = field(default_factory=pl.DataFrame)
    groups: pl.DataFrame = field(default_factory=pl.DataFrame)


def outcomes(inputs: Inputs, matching: str, taxonomies: Sequence[str] = (), *, together: bool = False) -> Outcomes:
    """Return what became of gold and answers by the profile remix under a matching, with error classes of taxonomies.

    Of several datasets what they share stands in each, once where they are counted `together`. A taxonomy with
    matchings of its own (ELEVANT's modes) gives its first. Raises `UnknownName` for a matching or taxonomy that does
    not exist.
    """
    rules = PROFILES["remix"]
    each = case_of(rules.prepare(inputs), Choice(profile=rules))
    case = each.pool() if together else each
    mentions, judged = case.mentions, case.judge("link", matching_named(matching))
    required = mentions.for_each_system(case.kept.select("doc", "mention", "group", "annotation"))
    found = judged.groups.select("system", "group").unique().with_columns(outcome=pl.lit("tp"))
    gold = required.join(found, on=["system", "group"], how="left").with_columns(pl.col("outcome").fill_null("fn"))
    annotations = case.gold.select("mention", "annotation")
    assigned = judged.pairs.select("answer", "mention").join(annotations, on="mention").select("answer", "annotation")
    answers = judged.answers.select("answer", "outcome").join(case.answers.select(_ANSWER), on="answer")
    told = case.evidence.with_detail("confidence", *case.evidence.with_detail("surface_form", case.gold, case.answers))[
        1
    ]
    answers = answers.join(told.select("answer", "surface_form", "confidence"), on="answer", how="left")
    answers = answers.join(assigned, on="answer", how="left")
    errors = [
        rows_under(case, name, matching)
        .filter("error")
        .select("system", "doc", "mention", "answer", pl.lit(f"{name}:").add(pl.col("class")).alias("class"))
        for name in taxonomies
    ]
    wrong = pl.concat([_NO_ERRORS, *errors]).join(annotations, on="mention", how="left")

    def name_rows(rows: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        labelled = rows.join(mentions.documents, on="doc").join(mentions.names, on="system")
        return labelled.drop("system").rename({"name": "system"}).select("system", "dataset", *columns).sort(pl.all())

    return Outcomes(
        case,
        name_rows(gold, ["annotation", "group", "outcome"]),
        name_rows(answers, [*_PLACE, "surface_form", "confidence", "outcome", "annotation"]),
        mentions.answer_links.join(mentions.iris, on="entity").select("answer", entity="iri").sort("answer", "entity"),
        name_rows(wrong.unique(), ["answer", "annotation", "class"]),
        *_list_copies(each, together=together),
    )


def _list_copies(case: Case, *, together: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return `documents` and `groups` of `Outcomes`."""
    documents, kept = case.mentions.documents.select("doc", "document"), case.kept
    if not together or case.originals is None:
        return documents.select("document", one="document"), kept.select("annotation", "group")
    ones = documents.select(one="doc", name="document")
    pairs = documents.join(case.originals.documents, on="doc").join(ones, on="one")
    groups = kept.select("annotation", "mention").join(case.originals.gold, on="mention")
    return pairs.select("document", one="name"), groups.select("annotation", group="one_group")


_PLACE = ["answer", "document", "begin", "end"]
_ANSWER = ["answer", "system", "doc", "begin", "end"]
_NO_ERRORS = pl.DataFrame(schema=dict.fromkeys(("system", "doc", "mention", "answer"), pl.Int64) | {"class": pl.String})

_OUTCOMES = {"tp": "truePositiveOf", "fp": "falsePositiveOf", "fn": "falseNegativeOf", "ignored": "ignoredIn"}


def fragment_of(system: str) -> str:
    """Return the fragment of the IRI of a system's graph beside a dataset.

    >>> fragment_of("my system")
    'run-my%20system'
    """
    return RUN + parse.quote(system, safe="")


def run_graph(
    own: Outcomes, entry: DatasetEntry, system: str, chosen: Mapping[str, str], record: Record | None = None
) -> tuple[bytes, str]:
    """Return the N-Triples of a system's run on a dataset, and its signature, which says what was `chosen`.

    `own` are the outcomes of that system on that dataset, `record` says how the run was made. The lines on the run come
    first, the others are sorted.
    """
    run = f"<{entry.iri}#{fragment_of(system)}>"
    named = _name_answers(own.answers, fragment_of(system))
    data = _answer_lines(named, own.links)
    parts = [*data, _outcome_lines(named, "iri", run), _outcome_lines(own.gold, "annotation", run)]
    parts.append(_lines(named, "iri", f"{RMX}answerTo", iri_term(pl.col("annotation"))))
    wrong = own.errors.join(named.select("answer", "iri"), on="answer", how="left")
    # As the outcome, the class is of the mention: each alternative has it, whichever the answer was held against.
    groups = own.gold.select("annotation", "group").unique()
    mentions = wrong.join(groups, on="annotation").select("class", "group").join(groups, on="group")
    told = ((mentions, "annotation"), (wrong, "iri"))
    parts += [_lines(rows, subject, f"{RMX}errorClass", text_term(pl.col("class"))) for rows, subject in told]
    answers = content_hash(_join(data))[:12]
    fields = {**chosen, "system": system, "gold": entry.content[:12], "answers": answers}
    signature = str(Signature({name: value for name, value in fields.items() if value}))
    head = (
        f"{run} <{RDF}type> <{RMX}Run> .\n{run} <{RMX}dataset> <{entry.iri}> .\n"
        f"{run} <{RMX}system> {quote(system)} .\n{run} <{RMX}signature> {quote(signature)} .\n"
    )
    return (head + _record_lines(run, record) + _join(parts)).encode(), signature


def _record_lines(run: str, record: Record | None) -> str:
    """Return what the record of a run says, as far as it is known; parameters as JSON."""
    if record is None:
        return ""
    texts = {
        "task": record.task,
        "revision": record.revision,
        "textsHash": record.texts,
        "systemName": record.system,
        "systemVersion": record.version,
        "hardware": record.hardware,
        "date": record.date,
        "parameters": json.dumps(dict(record.parameters), sort_keys=True) if record.parameters else "",
    }
    numbers = {
        "seconds": record.seconds,
        "inputTokens": float(record.input_tokens),
        "outputTokens": float(record.output_tokens),
        "cost": record.cost or 0.0,
    }
    lines = [f"{run} <{RMX}{name}> {quote(value)} .\n" for name, value in texts.items() if value]
    lines += [f'{run} <{RMX}{name}> "{value}"^^<{XSD}double> .\n' for name, value in numbers.items() if value]
    lines += [f"{run} <{RMX}failedOn> <{name}> .\n" for name in record.failed]
    return "".join(lines)


def _name_answers(answers: pl.DataFrame, fragment: str) -> pl.DataFrame:
    """Return the answers with their IRI; of several on one span all but the first have an ordinal."""
    nth = pl.int_range(1, pl.len() + 1).over("document", "begin", "end")
    ordinal = pl.when(nth > 1).then(fill(";{}", nth)).otherwise(pl.lit(""))
    return answers.with_columns(iri=fill(f"{{}}#{fragment};char={{}},{{}}{{}}", "document", "begin", "end", ordinal))


def _answer_lines(named: pl.DataFrame, links: pl.DataFrame) -> list[pl.Series]:
    linked = links.join(named.select("answer", "iri"), on="answer")
    sure = pl.when(pl.col("confidence").is_finite()).then("confidence")
    number = f"{XSD}nonNegativeInteger"
    said = {
        f"{RDF}type": pl.lit(f"<{RMX}Answer>"),
        f"{RMX}document": iri_term(pl.col("document")),
        f"{NIF}beginIndex": typed_term(pl.col("begin"), number),
        f"{NIF}endIndex": typed_term(pl.col("end"), number),
        f"{NIF}anchorOf": text_term(pl.col("surface_form")),
        f"{ITSRDF}taConfidence": typed_term(sure, f"{XSD}double"),
    }
    lines = [_lines(named, "iri", term, value) for term, value in said.items()]
    return [*lines, _lines(linked, "iri", f"{ITSRDF}taIdentRef", entity_term(pl.col("entity")))]


def _outcome_lines(rows: pl.DataFrame, subject: str, run: str) -> pl.Series:
    terms = pl.col("outcome").replace_strict(_OUTCOMES, return_dtype=pl.String)
    return rows.select(line=fill(f"<{{}}> <{RMX}{{}}> {run} .\n", subject, terms)).to_series()


def _lines(rows: pl.DataFrame, subject: str, term: str, value: pl.Expr) -> pl.Series:
    """Return the lines that say a value of a subject, null where there is none of the two."""
    return rows.select(line=fill(f"<{{}}> <{term}> {{}} .\n", subject, value)).to_series()


def _join(parts: Sequence[pl.Series]) -> str:
    return str(pl.concat(parts).unique().sort().str.join("").item())


def column_graph(subject: str, values: pl.DataFrame, term: str, about: Mapping[str, Sequence[str] | float]) -> bytes:
    """Return N-Triples that give each `annotation` its `value` (a double), below what is said `about` the graph.

    `subject` is the IRI of the graph; terms are local names of remix's vocabulary.
    """
    head = [
        f"<{subject}> <{RMX}{name}> {one} .\n"
        for name, told in about.items()
        for one in ([f'"{told}"^^<{XSD}double>'] if isinstance(told, float) else map(quote, told))
    ]
    lines = _lines(values, "annotation", f"{RMX}{term}", typed_term(pl.col("value"), f"{XSD}double"))
    return ("".join(head) + _join([lines])).encode()
