"""What runs are as RDF: answers, outcomes and error classes in a graph, and columns derived from several runs.

The graph `<dataset IRI>#run-<system>` describes the run under its own IRI. Answers are `rmx:Answer`s with
`rmx:document`, never `nif:referenceContext`, so that queries for gold do not count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

import polars as pl

from remix.names import ITSRDF, NIF, RDF, RMX, XSD
from remix.rdf.iris import entity_iri
from remix.rdf.terms import escaped
from remix.runs.outcomes import Outcomes
from remix.signature import Signature, content_hash
from remix.store import DatasetEntry
from remix.store.state import RUN

__all__ = ["column_graph", "fragment_of", "run_graph"]

_OUTCOMES = {"tp": "truePositiveOf", "fp": "falsePositiveOf", "fn": "falseNegativeOf", "ignored": "ignoredIn"}


def fragment_of(system: str) -> str:
    """Return the fragment of the IRI of a system's graph beside a dataset.

    >>> fragment_of("my system")
    'run-my%20system'
    """
    return RUN + quote(system, safe="")


def run_graph(own: Outcomes, entry: DatasetEntry, system: str, chosen: Mapping[str, str]) -> tuple[bytes, str]:
    """Return the N-Triples of a system's run on a dataset, and its signature, which says what was `chosen`.

    `own` are the outcomes of that system on that dataset. The lines on the run come first, the others are sorted.
    """
    run = f"<{entry.iri}#{fragment_of(system)}>"
    named = _named(own.answers, fragment_of(system))
    data = _answer_lines(named, own.links)
    parts = [data, _outcome_lines(named, "answer", run), _outcome_lines(own.gold, "annotation", run)]
    parts.append(_lines(named.drop_nulls("annotation"), _line("answer", "answerTo", _iri("annotation"))))
    wrong = own.errors.join(named.select("a", "answer"), on="a", how="left")
    parts += [_text_lines(wrong, subject, "errorClass", "class") for subject in ("annotation", "answer")]
    answers = content_hash(str(_joined([data])))[:12]
    fields = {**chosen, "system": system, "gold": entry.content[:12], "answers": answers}
    signature = str(Signature({name: value for name, value in fields.items() if value}))
    head = (
        f"{run} <{RDF}type> <{RMX}Run> .\n"
        f"{run} <{RMX}dataset> <{entry.iri}> .\n"
        + _told(run, "system", [system])
        + _told(run, "signature", [signature])
    )
    return (head + _joined(parts)).encode(), signature


def _named(answers: pl.DataFrame, fragment: str) -> pl.DataFrame:
    """Return the answers with their IRI; of several on one span all but the first have an ordinal."""
    nth = pl.int_range(1, pl.len() + 1).over("document", "begin", "end")
    ordinal = pl.when(nth > 1).then(pl.format(";{}", nth)).otherwise(pl.lit(""))
    return answers.rechunk().with_columns(
        answer=pl.format(f"{{}}#{fragment};char={{}},{{}}{{}}", "document", "begin", "end", ordinal)
    )


def _answer_lines(named: pl.DataFrame, links: pl.DataFrame) -> pl.Series:
    linked = links.join(named.select("a", "answer"), on="a")
    number = f'"{{}}"^^<{XSD}nonNegativeInteger>'
    sure = named.filter(pl.col("confidence").is_finite().fill_null(False))
    return pl.concat(
        [
            _lines(named, pl.format(f"<{{}}> <{RDF}type> <{RMX}Answer> .\n", "answer")),
            _lines(named, _line("answer", "document", _iri("document"))),
            _lines(named, _line("answer", "beginIndex", pl.format(number, "begin"), NIF)),
            _lines(named, _line("answer", "endIndex", pl.format(number, "end"), NIF)),
            _text_lines(named, "answer", "anchorOf", "surface_form", NIF),
            _lines(sure, _line("answer", "taConfidence", _double("confidence"), ITSRDF)),
            _lines(linked, _line("answer", "taIdentRef", pl.format("<{}>", entity_iri(pl.col("entity"))), ITSRDF)),
        ]
    )


def _outcome_lines(rows: pl.DataFrame, subject: str, run: str) -> pl.Series:
    terms = pl.col("outcome").replace_strict(_OUTCOMES, return_dtype=pl.String)
    return _lines(rows, pl.format(f"<{{}}> <{RMX}{{}}> {run} .\n", subject, terms))


def _text_lines(rows: pl.DataFrame, subject: str, term: str, text: str, namespace: str = RMX) -> pl.Series:
    told = rows.drop_nulls([subject, text])
    return _lines(told, _line(subject, term, pl.format('"{}"', escaped(pl.col(text))), namespace))


def _lines(rows: pl.DataFrame, line: pl.Expr) -> pl.Series:
    # polars 2.1 panics where it formats columns of different chunks, as joins leave them.
    return rows.rechunk().select(line).to_series()


def _line(subject: str, term: str, value: pl.Expr, namespace: str = RMX) -> pl.Expr:
    return pl.format(f"<{{}}> <{namespace}{term}> {{}} .\n", subject, value)


def _iri(column: str) -> pl.Expr:
    return pl.format("<{}>", column)


def _double(column: str) -> pl.Expr:
    return pl.format(f'"{{}}"^^<{XSD}double>', pl.col(column).cast(pl.String))


def _joined(parts: Sequence[pl.Series]) -> str:
    return str(pl.concat([part.alias("line") for part in parts]).unique().sort().str.join("").item())


def _told(subject: str, term: str, values: Sequence[str]) -> str:
    lines = pl.DataFrame({"value": values}).select(
        pl.format(f'{subject} <{RMX}{term}> "{{}}" .\n', escaped(pl.col("value")))
    )
    return "".join(lines.to_series())


def column_graph(subject: str, values: pl.DataFrame, term: str, about: Mapping[str, Sequence[str] | float]) -> bytes:
    """Return N-Triples that give each `annotation` its `value` (a double), below what is said `about` the graph.

    `subject` is the IRI of the graph; terms are local names of remix's vocabulary.
    """
    head = [
        f'<{subject}> <{RMX}{name}> "{told}"^^<{XSD}double> .\n'
        if isinstance(told, float)
        else _told(f"<{subject}>", name, told)
        for name, told in about.items()
    ]
    lines = _lines(values, _line("annotation", term, _double("value")))
    return ("".join(head) + _joined([lines])).encode()
