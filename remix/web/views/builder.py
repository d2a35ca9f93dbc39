"""The remix builder: a shipped query, conditions on columns, or SPARQL, and what is left after each condition."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import partial

import polars as pl

from remix.errors import Error, UnknownName, UsageError
from remix.measures.labels import find_units
from remix.names import shorten
from remix.rdf.turtle import turtle
from remix.remixes.computed import runs_read, tell_runs, tell_stale_measures
from remix.remixes.facets import Facet, FacetedCorpus, Narrowing, corpus_of
from remix.reports.figures import Axis, Figure, Panel, Series
from remix.reports.holdings import list_earlier_outcomes
from remix.reports.labels import label_classes
from remix.reports.selections import EACH
from remix.store.queries import Parameter, Query, Range, find, plain_term, shipped_queries
from remix.vocabularies import ALL, Vocabularies
from remix.web import forms, page
from remix.web.addresses import address, split_names
from remix.web.choices import (
    COUNTS_ONCE,
    NO_VALUE,
    PARAMETERS,
    SCALES,
    RemixChoices,
    call_condition,
    check_choices,
    choose_facets,
    choose_values,
    find_ends,
    find_faults,
    find_place,
    give_example,
    list_faults,
    list_parameters,
    name_field,
    name_slider,
    order_values,
    read_choices,
    read_set,
)

_MOST = 60
"""Values of a list, the most frequent ones."""
_EXPLAINED = {
    "condition": "what was asked for, one after another",
    "documents": "texts with a mention that is left; of what is loaded, all texts",
    "mentions": "mentions that are left: alternatives of one count once",
    "after": "the number of the row, by which the list of its mentions is asked for",
    "entities": "different entities that these link to",
    "annotations": "mentions of the dataset: alternatives of one count once",
    "kept_documents": "texts of the dataset in the remix",
    "kept": "mentions of the dataset in the remix",
    "known": "of how many of the mentions in the row before the column of the condition has a value",
    "elsewhere": "texts that are there in another dataset as well, whose edition is kept in their place: the choice of "
    "datasets, in its order, or 'a text of several datasets' decides",
}
_FILES = {".rq": "rq", "NIF": "ttl", "manifest": "manifest.ttl", "all three (.zip)": "zip"}
_BACK = "Back to these choices"
_REPLACES = f"An edited query replaces the choices; '{_BACK}' leads back to them, and leaves the query."


def _vocabularies(corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters) -> Vocabularies:
    """Return the vocabularies of a facet of classes, with the one whose classes are listed."""
    rows = corpus.values(facet).select("annotation", pl.col("value").alias("class"))
    return Vocabularies.of(rows, corpus.frames.annotations).show(parameters.get(f"of.{facet.name}", ""))


def _of_values(
    work: page.Explored, corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters
) -> list[forms.Field]:
    """Return the fields that pick values, the most frequent; classes are of one vocabulary, beside those picked."""
    name, values, fields = f"in.{facet.name}", order_values(corpus, facet), []
    number = len(values)
    if facet.kind == "class":
        shown = _vocabularies(corpus, facet, parameters)
        of_one = shown.choose(pl.DataFrame({"class": values}, schema={"class": pl.String}))["class"]
        number, listed = len(of_one), of_one[:_MOST]
        picked = {*split_names(parameters.get(name, ""))}
        values = [*listed, *(one for one in values if shorten(one) in picked and one not in listed)]
        names = [*shown.mentions, ALL] if shown.others or shown.shown == ALL else []
        told = f"mentions with a class of each: {shown}"
        fields = [forms.choose(f"of.{facet.name}", "classes of", names, shown.shown, told)] if names else []
    values = values[: _MOST + len(split_names(parameters.get(name, "")))]
    labels = label_classes(work.kb, pl.Series(values, dtype=pl.String)) if facet.kind == "class" else {}
    words = {short: f"{label} – {short}" for iri, label in labels.items() if (short := shorten(iri))}
    called, told = facet.words, facet.meaning
    if number > _MOST:
        called += f" (the {_MOST} most frequent of {number:,})"
        told += " Another is a part of the column in the list of annotations, which makes a remix of it."
    chosen, shortened = parameters.get(name, ""), [*map(shorten, values), NO_VALUE]
    return [*fields, forms.Field(name, called, chosen, shortened, "many", explained=told, words=words)]


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Builder", [page.NOTHING])
    corpus = corpus_of(work.store)
    check_choices(parameters, corpus.datasets)
    edited = bool(parameters.get("sparql", "").strip())
    form = forms.Form(_fields(work, corpus, parameters), button=_BACK if edited else "Show", live=not edited)
    if wrong := list_faults(parameters):
        named = "a value" if len(wrong) == 1 else f"{len(wrong)} values"
        told = f"Nothing is counted: {named} above cannot be, for the reason beside it."
        return page.Page("Builder", [form, page.Note(told)], faults=wrong)
    try:
        asked = read_choices(corpus, parameters)
        found = asked.narrow(corpus)
    except Error as error:
        # What is chosen among others is left out; what is typed stays in its field.
        typed = bool(parameters.get("query") or parameters.get("sparql"))
        if isinstance(error, UnknownName) or (isinstance(error, UsageError) and not typed):
            raise
        again = [_editor(corpus, parameters, parameters["sparql"])] if parameters.get("sparql") else []
        return page.Page("Builder", [form, page.Note(f"Not possible: {error}"), *again], error=error)
    missing = page.tell_missing(work)
    left, table = found.left, found.datasets
    notes = [*asked.query.tell_unfit(asked.values, asked.set_from), *found.notes]
    notes += tell_runs(runs_read(asked.text, work.store.datasets(), asked.dataset))
    notes += tell_stale_measures(work.store, work.kb, asked.text)
    notes += [*_tell_crossed(asked), *_tell_repeated(corpus, asked, found)]
    if (name := parameters.get("name", "")) in corpus.datasets:  # it is none of those that the remix is made of
        notes.append(f"A dataset here is named {name} as well, and the remix would have its IRI: name it otherwise.")
    blocks: list[page.Shown] = [
        form,
        *missing,
        *(page.Note(note) for note in notes),
        *(page.Note(*told) for told in list_earlier_outcomes(work.store, asked.text, asked.dataset).items()),
        _tell(left),
        *_waterfall(left, parameters),
    ]
    listed, last = _lead_to_mentions(parameters), left.height - 1
    links = {
        "dataset": lambda row: address("dataset", name=row["dataset"]),
        "annotations": lambda row: address("annotations", dataset=row["dataset"]) if row["annotations"] else "",
        "kept": lambda row: listed(after=last, within=row["dataset"]) if row["kept"] else "",
    }
    table = table.sort("kept", "dataset", descending=[True, False])
    table = table if (table["elsewhere"] != "").any() else table.drop("elsewhere")
    blocks.append(
        page.Table(
            "datasets",
            table,
            links,
            explained=_EXPLAINED,
            words="What each dataset gives to the remix.",
            leads="A number of mentions leads to their list.",
            headings={
                "annotations": ("mentions", ""),
                "kept": ("kept mentions", ""),
                "kept_documents": ("kept documents", ""),
                "elsewhere": ("texts kept of another dataset", ""),
            },
        )
    )
    blocks.append(_columns(corpus, parameters) if asked.conditions is not None else _meanings(asked))
    ways = _ways(asked, parameters, empty=not left["mentions"][-1])
    return page.Page("Builder", blocks, beside=[_editor(corpus, parameters, asked.text), *ways])


def _tell_crossed(asked: RemixChoices) -> list[str]:
    """Return of which columns the lower bound is above the upper one."""
    bounds = [(one.facet.words, one.low, one.high) for one in asked.conditions or ()]
    return [
        f"{words}: 'from' ({low:.10g}) is above 'to' ({high:.10g}), so that no value lies between them."
        for words, low, high in bounds
        if low is not None and high is not None and low > high
    ]


def _tell_repeated(corpus: FacetedCorpus, asked: RemixChoices, found: Narrowing) -> list[str]:
    """Return how many annotations a remix of all editions has of texts of which it has another edition as well."""
    if not asked.edition:
        return []
    once = corpus.keep_editions(found.annotations[-1], dataset=asked.dataset)
    if not (more := len(found.annotations[-1]) - len(once)):
        return []
    said = f"{more:,} of these annotations are of texts that another dataset here has as well: each edition counts, so "
    return [f"{said}that an evaluation counts such a text several times. '{COUNTS_ONCE}' above keeps one of each."]


def _tell(left: pl.DataFrame) -> page.Note:
    """Return what is left, in a sentence."""
    first, last = left.row(0, named=True), left.row(-1, named=True)
    if not last["mentions"]:
        none = f"Nothing is left of {first['mentions']:,} mentions, so that there is no remix: "
        return page.Note(f"{none}take out or widen the condition after which the counts fall to zero.")
    said = " of ".join(f"{row['mentions']:,}" for row in (last, first))
    documents = " of ".join(f"{row['documents']:,}" for row in (last, first))
    told = f"Left are {said} mentions in {documents} documents: as files they are a remix, a benchmark. "
    told += (
        "Other annotations of these documents stay in the files as ignorable, which an evaluation counts neither way."
    )
    return page.Note(told)


def _lead_to_mentions(parameters: page.Parameters) -> Callable[..., str]:
    """Return what makes the address of the mentions behind a number of the page."""
    kept = {name: value for name, value in parameters.items() if name in PARAMETERS or "." in name}
    return lambda **chosen: address("selection", **kept, **chosen)


def _waterfall(left: pl.DataFrame, parameters: page.Parameters) -> list[page.Shown]:
    """Return the waterfall as a table, each of whose numbers of mentions leads to these, and as a figure."""
    words = "What is left after each condition; the last row is what `remix build` writes."
    listed = _lead_to_mentions(parameters)
    called = {said: call_condition(said) for said in left["condition"]}
    share = left.with_columns(share_of_mentions=pl.col("mentions") / max(1, left["mentions"][0]))
    share = (share if share["known"].count() else share.drop("known")).with_columns(after=pl.int_range(pl.len()))
    told = {**_EXPLAINED, "share_of_mentions": "of the mentions in the first row"}
    series = [Series("mentions", [called[said] for said in left["condition"]], left["mentions"].to_list())]
    panel = Panel("", "bars", series, y=Axis("mentions", whole=True), lying=True)
    return [
        page.Table(
            "waterfall",
            share,
            {"mentions": lambda row: listed(after=row["after"]) if row["mentions"] else ""},
            words=words,
            leads="A number of mentions leads to their list.",
            unseen=("after",),
            explained=told,
            headings={"share_of_mentions": ("share of mentions", ""), "known": ("with a value before", "")},
            labels={said: words for said, words in called.items() if words != said},
        ),
        page.Drawing("mentions left", Figure("What is left after each condition", [panel])),
    ]


def _ways(asked: RemixChoices, parameters: page.Parameters, *, empty: bool) -> list[page.Shown]:
    """Return the command line that does the same, and the files, of an `empty` selection the query alone."""
    kept = {name: value for name, value in parameters.items() if name not in ("sort", "at", "table")}
    downloads = {words: address(f"builder.{suffix}", **kept) for words, suffix in _FILES.items()}
    downloads = {".rq": downloads[".rq"]} if empty else downloads
    words = "The same in a terminal, with the file .rq beside you where the query is none that ships:"
    return [page.Code("build", asked.command, downloads, words)]


def _editor(corpus: FacetedCorpus, parameters: page.Parameters, text: str) -> forms.Form:
    """Return the query as text, with what else is asked of it: hidden as long as the choices above have that."""
    area = forms.Field("sparql", "SPARQL", text, look="area", explained=_REPLACES)
    around = _around(corpus, parameters)
    if not parameters.get("sparql", "").strip():
        around = [forms.Field(one.name, one.name, parameters.get(one.name, ""), look="hidden") for one in around]
    return forms.Form([area, *around], button="Count the edited query")


def _around(corpus: FacetedCorpus, parameters: page.Parameters) -> list[forms.Field]:
    """Return what can be chosen of any query: datasets, editions of their texts, and the name of the remix."""
    told = "Whether the remix has each edition of a text, or that of the first dataset alone."
    edition = parameters.get("edition", COUNTS_ONCE)
    return [
        forms.choose_several(
            "dataset", "only these datasets", corpus.datasets, split_names(parameters.get("dataset", ""))
        ),
        forms.choose("edition", "a text of several datasets", (COUNTS_ONCE, EACH), edition, told),
        forms.Field("name", "name of the remix", parameters.get("name", ""), explained="Names its files."),
    ]


_TABLE = "table"
"""The tag of a query that selects no documents or mentions, which is for the page SPARQL and `remix query`."""


def _summarise_queries() -> dict[str, str]:
    """Return what each of the queries that ship with remix selects, in a few words, of those that make a remix."""
    every = {name: find(f"{name}.rq") for name in shipped_queries()}
    return {name: one.summary for name, one in every.items() if _TABLE not in one.tags}


def _fields(work: page.Explored, corpus: FacetedCorpus, parameters: page.Parameters) -> list[forms.Field]:
    """Return what can be chosen: a shipped query with its parameters, or columns with their bounds; and datasets."""
    shipped, summaries = parameters.get("query", ""), _summarise_queries()
    fields = [
        forms.choose(
            "query",
            "shipped query",
            ["", *summaries],
            shipped,
            "A query that remix ships with.",
            nothing="(none)",
            words={name: f"{name} – {said}" for name, said in summaries.items()},
        )
    ]
    if shipped in shipped_queries():
        fields += _of_query(find(f"{shipped}.rq"), parameters)
    else:
        fields += _of_columns(work, corpus, parameters)
    # Beside an edited query these are in its form, as that of the choices leaves it.
    return fields if parameters.get("sparql", "").strip() else [*fields, *_around(corpus, parameters)]


def _of_columns(work: page.Explored, corpus: FacetedCorpus, parameters: page.Parameters) -> list[forms.Field]:
    chosen = choose_facets(corpus, parameters)
    names = [one.name for one in chosen]
    others = [name for name in corpus.facets if name not in names]
    fields = [
        forms.choose(
            "add",
            "add a condition on",
            ["", *others],
            "",
            "A column of annotations, or of their documents.",
            words=_call_columns(corpus, others),
            nothing="(a column)",
        )
    ]
    if chosen:
        fields.append(
            forms.Field("on", "conditions on", ",".join(names), names, "many", words=_call_columns(corpus, names))
        )
    if any(one.kind == "number" for one in chosen):
        told = "Percentiles are of the values that are loaded; the query has the value itself."
        fields.append(forms.choose("scale", "sliders show", SCALES, parameters.get("scale", SCALES[0]), told))
    for one in chosen:
        picked = parameters.get(f"in.{one.name}", "")
        if one.kind == "number":
            ends = find_ends(corpus, one, parameters)
            for end, word, default in (("low", "from", ends[0]), ("high", "to", ends[1])):
                name = name_slider(end, one, parameters)
                place = find_place(corpus, one, end, parameters) or f"{default:.10g}"
                fields.append(forms.Field(name, f"{one.words}, {word}", place, (), "range", *ends, one.meaning))
            fields.append(forms.Field(f"in.{one.name}", f"{one.words}, also", picked, (NO_VALUE,), "many"))
        else:
            fields += _of_values(work, corpus, one, parameters)
    return fields


def _of_query(query: Query, parameters: page.Parameters) -> list[forms.Field]:
    set_from, fields = read_set(query, parameters), []
    if query.sets:
        told = "Values of the parameters that have a name, as the query's file gives them."
        fields.append(
            forms.choose("set", "set of parameters", ["", *query.sets], set_from or "", told, nothing="(defaults)")
        )
    given, wrong = query.values({}, set_from), find_faults(query, set_from, parameters)
    ranges = query.ranges(choose_values(query, set_from, parameters), set_from)
    for one in query.parameters.values():
        name = name_field(query.name, set_from, one.name)
        fault = str(wrong.get(name, ""))
        fields.append(_parameter(one, given[one.name], name, parameters.get(name, ""), fault, ranges.get(one.name)))
    return fields


def _parameter(one: Parameter, given: str, name: str, value: str, fault: str, known_range: Range | None) -> forms.Field:
    """Return the field of a parameter: a slider where it lies between two numbers, unless what was typed does not."""
    value = value or plain_term(given)
    kind = "a number" if re.fullmatch(r"[-+.\de]+", given) else "an IRI" if ":" in given else "a text"
    told = f"{one.description} ({kind}, by default {given})"
    if one.choices and not fault:
        return forms.choose(name, one.name, one.choices, value, told)
    if known_range is not None and (high := known_range.high) is not None and not fault:
        low = known_range.low
        return forms.Field(name, one.name, value, (), "range", low, high, (high - low) / 100, told)
    return forms.Field(name, one.name, value, explained=told, fault=fault)


def _call_columns(corpus: FacetedCorpus, names: Iterable[str]) -> dict[str, str]:
    """Return what columns are called in a list of choices, their names behind it, as measures are."""
    words = {name: corpus.facets[name].words for name in names}
    return {name: called if called == name else f"{called} – {name}" for name, called in words.items()}


def _columns(corpus: FacetedCorpus, parameters: page.Parameters) -> page.Table:
    """Return what can be asked for: the columns with their meaning, each leading to a condition on it."""
    on = ",".join(one.name for one in choose_facets(corpus, parameters))
    kept = {name: value for name, value in parameters.items() if name not in ("on", "add", "sort", "at")}
    facets = corpus.facets.values()
    frame = pl.DataFrame({"column": [one.name for one in facets], "meaning": [one.meaning for one in facets]})
    called = pl.Series("called", [one.words for one in facets])
    frame = frame.with_columns(called, find_units(frame["column"])).select("column", "called", "unit", "meaning")
    links = {"called": lambda row: address("builder", on=",".join(filter(None, (on, row["column"]))), **kept)}
    small, headings = {"called": "column"}, {"called": ("column", "")}
    return page.Table("columns", frame, links, words="Each leads to a condition on it.", small=small, headings=headings)


def _meanings(asked: RemixChoices) -> page.Table:
    """Return the parameters of a query with their values and what they mean."""
    values = asked.query.values(asked.values, asked.set_from)
    rows = [(one.name, values[one.name], one.default, one.description) for one in asked.query.parameters.values()]
    frame = pl.DataFrame(
        rows, schema=dict.fromkeys(("parameter", "value", "default", "meaning"), pl.String), orient="row"
    )
    said = filter(None, (f"{asked.query.summary}." if asked.query.summary else "", asked.query.description))
    return page.Table("parameters", frame, words=" ".join(said))


def _offer(suffix: str, work: page.Explored, parameters: page.Parameters) -> page.Download:
    """Return a file of what the parameters choose: the query, the remix as NIF, its manifest, or all in an archive."""
    check_choices(parameters)
    asked = read_choices(corpus_of(work.store), parameters)
    text = asked.text.encode()
    if suffix == "rq":
        return page.Download(text, "application/sparql-query", f"{asked.query.name}.rq")
    name = parameters.get("name") or asked.query.name
    where = {"dataset": asked.dataset, "edition": asked.edition}
    if suffix == "manifest.ttl":
        told = work.describe_remix(asked.query, name=name, values=asked.values, set_from=asked.set_from, **where)
        return page.Download(turtle(told), "text/turtle", f"{name}.{suffix}")
    made = work.build(asked.query, name=name, values=asked.values, set_from=asked.set_from, **where)
    graphs = {"ttl": made.triples, "manifest.ttl": made.manifest}
    if suffix != "zip":
        return page.Download(turtle(graphs[suffix]), "text/turtle", f"{made.name}.{suffix}")
    files = {end: turtle(graph) for end, graph in graphs.items()} | {"rq": text}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for end, one in files.items():
            packed.writestr(zipfile.ZipInfo(f"{made.name}.{end}"), one, zipfile.ZIP_DEFLATED)
    return page.Download(content.getvalue(), "application/zip", f"{made.name}.zip")


builder = page.View(
    "builder",
    "Builder",
    _show,
    menu=4,
    example=give_example,
    downloads={suffix: partial(_offer, suffix) for suffix in _FILES.values()},
    runs_queries=True,
    parameters=PARAMETERS,
    further=list_parameters,
)
