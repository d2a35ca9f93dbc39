"""SPARQL: an editor with examples, what a query answers as a table and a chart, and files of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import polars as pl

from remix.errors import Error, UnknownName, UsageError
from remix.kb import usable_kb
from remix.measures.enrichment import frames_of
from remix.rdf.ntriples import columns
from remix.remixes.computed import tell_stale_measures, tell_unmeasured, tell_unusable
from remix.reports.figures import Axis, Figure, Panel, Series
from remix.reports.holdings import list_earlier_outcomes
from remix.store.answers import GRAPH_FORMATS, Result, answer
from remix.store.queries import Query, find, shipped_queries
from remix.store.syntax import NEVER_THE_SAME, keywords
from remix.store.worker import BOUNDS
from remix.web import forms, page, vocabulary
from remix.web.addresses import address
from remix.web.protocol import read_timeout

_START = """SELECT ?dataset ?document (COUNT(?annotation) AS ?annotations) WHERE {
  ?dataset hfts:referenceDocuments ?document .
  ?annotation nif:referenceContext ?document .
}
GROUP BY ?dataset ?document
ORDER BY DESC(?annotations)
"""
_QUESTIONS = {
    "Which classes do mentions have?": """SELECT ?class (COUNT(DISTINCT ?annotation) AS ?mentions) {
  ?annotation nif:referenceContext ?document ; itsrdf:taClassRef ?class .
}
GROUP BY ?class ORDER BY DESC(?mentions) LIMIT 100
""",
    "Which forms stand for several entities?": """SELECT ?form (COUNT(DISTINCT ?entity) AS ?entities)
  (COUNT(*) AS ?mentions) {
  ?annotation nif:referenceContext ?document ; nif:anchorOf ?form ; itsrdf:taIdentRef ?entity .
}
GROUP BY ?form HAVING (COUNT(DISTINCT ?entity) > 1) ORDER BY DESC(?entities) DESC(?mentions) LIMIT 100
""",
    "Which entities are in several datasets?": """SELECT ?entity (COUNT(DISTINCT ?dataset) AS ?datasets)
  (COUNT(?annotation) AS ?mentions) {
  ?dataset hfts:referenceDocuments ?document .
  ?annotation nif:referenceContext ?document ; itsrdf:taIdentRef ?entity .
}
GROUP BY ?entity HAVING (COUNT(DISTINCT ?dataset) > 1) ORDER BY DESC(?datasets) DESC(?mentions) LIMIT 100
""",
    "Which mentions have no entity?": """SELECT ?document ?annotation ?form {
  ?annotation nif:referenceContext ?document ; nif:anchorOf ?form .
  FILTER NOT EXISTS { ?annotation itsrdf:taIdentRef ?entity }
}
ORDER BY ?form LIMIT 100
""",
    "Which documents are longest?": """SELECT ?document (STRLEN(?text) AS ?characters) {
  ?document nif:isString ?text .
}
ORDER BY DESC(?characters) LIMIT 100
""",
    "Which properties are in use?": """SELECT ?property (COUNT(*) AS ?triples) {
  ?subject ?property ?object .
}
GROUP BY ?property ORDER BY DESC(?triples)
""",
    "Which graphs are there?": """SELECT ?graph (COUNT(*) AS ?triples) {
  GRAPH ?graph { ?subject ?property ?object }
}
GROUP BY ?graph ORDER BY DESC(?triples)
""",
    "What is said of one mention, as a graph?": """CONSTRUCT { ?annotation ?property ?value } WHERE {
  { SELECT ?annotation { ?annotation nif:referenceContext ?document } LIMIT 1 }
  ?annotation ?property ?value .
}
""",
}
"""Questions about whatever is loaded, each with its query."""
_SECONDS = (1, 5, 10, 30, 60, 300)
_LARGEST = 32_000_000
"""Bytes of a result that a page can show; `/sparql` sends larger ones."""
_CHARTS = ("bars", "lines", "scatter")
_DRAWN = {"bars": 50, "lines": 2000, "scatter": 4000}
"""Rows that a chart shows at most."""
_MEDIA = {"ttl": "text/turtle", "nt": "application/n-triples", "jsonld": "application/ld+json"}


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    asked = parameters.get("query", "")
    text, told = _text(parameters)
    dropped = _list_unfit(asked, parameters)
    blocks: list[page.Shown] = [_editor(text, parameters), *([page.Note(told)] if told else [])]
    beside = [_questions(), _examples()]
    if not page.list_datasets(work):
        blocks.append(
            page.Note("Nothing is loaded yet, so no query finds anything.", ["remix load FILE", "remix fetch NAME"])
        )
    if not asked.strip():
        blocks.append(
            page.Note(
                "Run the query, change it, ask one of the questions or take one of the examples. Ctrl+Enter runs it."
            )
        )
        return page.Page("SPARQL", blocks, beside, data="examples", dropped=dropped)
    try:
        found = _answer(work, text, parameters)
        dropped += _list_lacking(found, parameters)
    except Error as error:
        return page.Page("SPARQL", [*blocks, page.Note(f"The query has no answer: {error}")], beside, error=error)
    return page.Page("SPARQL", [*blocks, *_result(work, found, text, parameters)], beside, dropped=dropped)


def _list_unfit(asked: str, parameters: page.Parameters) -> list[UsageError]:
    """Return what is said of a chart that there is not, of an example beside a query and of a chart without one."""
    found = list[UsageError]()
    if (example := parameters.get("example", "")) and asked.strip():
        found.append(UsageError(f"example={example} stands beside another query, which is the one that is asked"))
    if (kind := parameters.get("chart", "")) and kind not in _CHARTS:
        found.append(UnknownName("chart", kind, _CHARTS))
    drawn = [name for name in ("chart", "x", "y") if parameters.get(name)]
    if drawn and not asked.strip():
        found.append(UsageError(f"{drawn[0]}={parameters[drawn[0]]} draws the answer to a query, and none is asked"))
    return found


def _list_lacking(found: Result, parameters: page.Parameters) -> list[UsageError]:
    """Return what is said of columns that a chart is to be of and that an answer does not have, or not as numbers."""
    table, _ = _table(found)
    numbers = [name for name, kind in table.schema.items() if kind.is_numeric()]
    return [
        UnknownName(what, said, known)
        for name, what, known in (
            ("x", "column of the answer", table.columns),
            ("y", "column of numbers of the answer", numbers),
        )
        if (said := parameters.get(name, "")) and said not in known
    ]


def _text(parameters: page.Parameters) -> tuple[str, str]:
    """Return the query of the editor and what is said of it: what was asked, an example, or one to begin with."""
    if asked := parameters.get("query", "").replace("\r\n", "\n").strip():
        return f"{asked}\n", ""
    if name := parameters.get("example", ""):
        if name not in shipped_queries():
            raise UnknownName("query", name, shipped_queries(), "remix list queries")
        example = find(f"{name}.rq")
        return example.text, f"{example.summary}. {example.description}"
    return _START, ""


def _limit() -> float:
    bounds = BOUNDS.get()
    return bounds.timeout if bounds is not None else float(_SECONDS[-2])


def _editor(text: str, parameters: page.Parameters) -> forms.Form:
    limit = _limit()
    seconds = [str(one) for one in _SECONDS if one < limit] + [f"{limit:g}"]
    told = f"The query is ended after so many seconds; this server allows {limit:g}."
    chosen = parameters.get("timeout") or seconds[-1]
    return forms.Form(
        [
            forms.Field(
                "query", "query", text, (), "area", explained="SPARQL 1.1; well-known prefixes need no declaration."
            ),
            forms.choose("timeout", "seconds at most", [*dict.fromkeys([*seconds, chosen])], chosen, told),
        ],
        button="Run",
    )


def _answer(work: page.Explored, text: str, parameters: page.Parameters) -> Result:
    bounds = BOUNDS.get()
    services = bounds.allow_services if bounds is not None else ()
    given = parameters.get("timeout", "")
    seconds = min(read_timeout(given), _limit()) if given else _limit()

    def ask() -> Result:
        asked = Query.parse(text)
        return answer(work.store, asked, allow_services=services, timeout=seconds, largest=_LARGEST, iris=True)

    if NEVER_THE_SAME.intersection(keywords(text)):
        return ask()
    # No query is asked again for sorting, a chart or a file.
    return work.store.cached(("answer", text, tuple(services)), ask, asked=True)


def _table(found: Result) -> tuple[pl.DataFrame, Mapping[str, Collection[str]]]:
    """Return solutions, or the triples of a graph without the marks of N-Triples, and the IRIs of each column."""
    if found.kind != "graph":
        return found.table, found.iris
    rows = columns(b"\n".join(found.triples))
    literal = r'^"((?s:.*))"(?:@[\w-]+|\^\^<[^>]*>)?$'
    iris = rows.select(pl.all().str.extract("^<(.*)>$"))
    cells = (pl.coalesce(pl.col(name).str.extract(literal), iris[name], name).alias(name) for name in rows.columns)
    return rows.select(cells), {one.name: set(one.drop_nulls()) for one in iris}


def _result(work: page.Explored, found: Result, text: str, parameters: page.Parameters) -> list[page.Shown]:
    table, iris = _table(found)
    kb, broken = usable_kb(work.store)
    stale = tell_unmeasured(text, work.store.datasets())
    stale += [tell_unusable(broken)] if broken else tell_stale_measures(work.store, kb, text)
    blocks: list[page.Shown] = [page.Note(note) for note in (*found.notes, *stale)]
    blocks += [page.Note(*told) for told in list_earlier_outcomes(work.store, text).items()]
    if found.kind == "graph":
        kept = {"query": text, "timeout": parameters.get("timeout", "")}
        files = {f".{form}": address(f"query.{form}", **kept) for form in GRAPH_FORMATS}
        blocks.append(page.Note("The graph as a file:", links=files))
    if table.is_empty():
        blocks.append(
            page.Note("Nothing in the workspace matches: try with a condition less, or see what there is by ?s ?p ?o.")
        )
    words = "One row." if table.height == 1 else f"{table.height:,} rows."
    blocks.append(page.Table("result", table, _links(work, table, iris), words))
    numbers = [name for name, kind in table.schema.items() if kind.is_numeric()]
    if numbers and table.width > 1 and table.height:
        blocks += _chart(table, numbers, text, parameters)
    return blocks


def _links(
    work: page.Explored, table: pl.DataFrame, iris: Mapping[str, Collection[str]]
) -> Mapping[str, Callable[[Mapping[str, Any]], str]]:
    """Return for each column of texts where its IRIs lead: datasets and documents to their pages, others out."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String and iris.get(name)]
    if not texts or not page.list_datasets(work):
        return {}
    every = pl.Series("iri", [*{iri for name in texts for iri in iris[name]}])
    frames = frames_of(work.store)
    of_documents = frames.documents.select(iri="document", document="document", dataset="dataset")
    of_mentions = frames.annotations.select(iri="annotation", document="document", dataset="dataset")
    own = pl.concat([of_documents, of_mentions]).filter(pl.col("iri").is_in(every.implode()))
    documents = {iri: (dataset, document) for iri, document, dataset in own.iter_rows()}
    datasets = {entry.iri: entry.name for entry in page.list_datasets(work)}

    def outside(iri: str) -> str:
        return iri if re.match(r"https?://[^\s<>\"]+$", iri) else ""

    def place(iri: str) -> str:
        """Return the address of one IRI: only those of the rows that are shown are asked for."""
        if iri in datasets:
            return address("dataset", name=datasets[iri])
        dataset, document = documents.get(iri, ("", ""))
        return address("document", dataset=dataset, name=document) if document else outside(iri)

    def lead(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: place(iri) if (iri := row[name]) in iris[name] else ""

    return {name: lead(name) for name in texts}


def _chart(table: pl.DataFrame, numbers: list[str], text: str, parameters: page.Parameters) -> list[page.Shown]:
    """Return the form of a chart of two columns, and the chart that is chosen there."""
    kind, x, y = (parameters.get(name, "") for name in ("chart", "x", "y"))
    y = y if y in numbers else numbers[-1]
    x = x if x in table.columns else next(name for name in table.columns if name != y)
    kept = {"query": text, "timeout": parameters.get("timeout", "")}
    form = forms.Form(
        [
            forms.choose("chart", "chart", ["", *_CHARTS], kind),
            forms.choose("x", "along", table.columns, x),
            forms.choose("y", "values", numbers, y),
            *(forms.Field(name, name, value, look="hidden") for name, value in kept.items()),
        ],
        button="Draw",
    )
    if kind not in _CHARTS:
        return [form]
    rows = table.select(x=x, y=y).drop_nulls()
    shown = rows.head(_DRAWN[kind])
    across = shown["x"] if shown["x"].dtype.is_numeric() and kind != "bars" else _short(shown["x"].cast(pl.String))
    series = Series("", across.to_list(), shown["y"].to_list())
    words = f"The first {shown.height:,} of {rows.height:,} rows." if shown.height < rows.height else ""
    if not across.dtype.is_numeric() and across.n_unique() < len(across):
        words += f" Rows of the same {x} are drawn over each other: group them in the query, as by `GROUP BY ?{x}`."
    panel = Panel("", kind, [series], x=Axis(x), y=Axis(y), lying=kind == "bars" and shown.height > 8)
    return [form, page.Drawing("chart", Figure(f"{y} by {x}", [panel]), words.strip())]


def _short(names: pl.Series) -> pl.Series:
    """Return the last parts of IRIs, where these tell them apart."""
    last = names.str.replace(r"^(?:https?://|urn:)\S*[/#:]", "")
    return last if last.n_unique() == names.n_unique() else names


def _questions() -> page.Table:
    """Return the questions, each leading to its answer."""
    frame = pl.DataFrame({"question": list(_QUESTIONS)})
    ask = {"question": lambda row: address("query", query=_QUESTIONS[row["question"]])}
    return page.Table("questions", frame, ask, f"Asked of whatever is loaded. {_UNION}")


def _examples() -> page.Table:
    """Return the shipped queries, each leading to itself in the editor."""
    queries = [find(f"{name}.rq") for name in shipped_queries()]
    frame = pl.DataFrame({"example": [one.name for one in queries], "what it finds": [one.summary for one in queries]})
    lead = {"example": lambda row: address("query", example=row["example"])}
    small = {"example": "what it finds"}
    return page.Table("examples", frame, lead, f"Queries that ship, to run or to change. {_UNION}", small=small)


_UNION = (
    "Without `GRAPH` a pattern finds gold, its measures, and what runs answered: `?document nif:isString ?text` is of "
    "gold alone, `?answer a rmx:Answer` of runs alone."
)
"""What a query is asked of, which is more than gold."""


def _graph(form: str, work: page.Explored, parameters: page.Parameters) -> page.Download:
    found = _answer(work, _text(parameters)[0], parameters)
    if found.kind != "graph":
        raise UsageError("this query answers a table: .csv, .json, .md and .tex have its rows")
    return page.Download(found.graph(form), _MEDIA[form], f"result.{form}")


def _vocabulary(work: page.Explored, parameters: page.Parameters) -> page.Download:
    """Return what the editor completes, as JSON."""
    text = json.dumps(vocabulary.tell(work.store), ensure_ascii=False)
    return page.Download(text.encode(), "application/json", "vocabulary.json")


sparql = page.View(
    "query",
    "SPARQL",
    _show,
    menu=5,
    example=lambda work: {"query": _START} if page.list_datasets(work) else {},
    downloads={**{form: partial(_graph, form) for form in GRAPH_FORMATS}, "vocabulary.json": _vocabulary},
    runs_queries=True,
    parameters=("query", "example", "timeout", "chart", "x", "y"),
)
