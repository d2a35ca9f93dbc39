"""The remix builder: a shipped query, conditions on columns, or SPARQL, and what is left after each condition."""

from __future__ import annotations

import io
import math
import re
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from remix.errors import Error, UnknownName, UsageError
from remix.measures.labels import label_of
from remix.names import shorten
from remix.rdf.turtle import turtle
from remix.remixes import check_name, runs_read, tell_runs
from remix.remixes.facets import Condition, Facet, FacetedCorpus, compose, corpus_of
from remix.reports.figures import Axis, Figure, Panel, Series
from remix.reports.labels import label_classes
from remix.reports.selections import EACH
from remix.store.queries import Parameter, Query, Range, find, plain_term, shipped_queries
from remix.vocabularies import ALL, Vocabularies
from remix.web import page

_NONE = "no value"
_MOST = 60
"""Values of a list, the most frequent ones."""
_SCALES = ("percentiles", "values")
_ONE = "counts once"
_EXPLAINED = {
    "condition": "what was asked for, one after another",
    "documents": "texts with a mention that is left; of what is loaded, all texts",
    "mentions": "mentions that are left: alternatives of one count once",
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


@dataclass(frozen=True)
class _Choices:
    """What is to be built: a query with values of its parameters, or the conditions that it was made of."""

    query: Query
    values: Mapping[str, object]
    set_from: str | None
    conditions: Sequence[Condition] | None
    dataset: Sequence[str]
    edition: Sequence[str]

    @property
    def text(self) -> str:
        """Return the query as a file has it, its parameters bound."""
        return self.query.bind(self.values, self.set_from)

    @property
    def command(self) -> str:
        """Return the line that builds the same in a terminal."""
        shipped = self.query.source != "the query"
        words = ["remix", "build", "--query", self.query.name if shipped else f"{self.query.name}.rq"]
        if shipped:
            words += ["--set-from", self.set_from] if self.set_from else []
            words += [part for name, value in self.values.items() for part in ("--set", f"{name}={value}")]
        words += [part for name in self.dataset for part in ("--dataset", name)]
        return shlex.join([*words, *(part for name in self.edition for part in ("--edition", name))])


def _find_faults(query: Query, set_from: str | None, parameters: page.Parameters) -> dict[str, page.WrongAddress]:
    """Return what is wrong with values of a query's parameters, by the names of their fields."""
    chosen, found = _choose_values(query, set_from, parameters), dict[str, page.WrongAddress]()
    # Between which numbers a parameter lies may depend on another one.
    others = {one: value for one, value in chosen.items() if value in query.parameters[one].choices}
    for one, value in chosen.items():
        try:
            query.bind({**others, one: value}, set_from)
        except UsageError as error:
            if str(error) not in map(str, found.values()):  # what a set brings is said once
                found[_field_name(query.name, set_from, one)] = page.WrongAddress(str(error))
    return found


def _choose_values(query: Query, set_from: str | None, parameters: page.Parameters) -> dict[str, str]:
    """Return what the address says of the parameters of a query, by their names."""
    given = {one: parameters.get(_field_name(query.name, set_from, one), "") for one in query.parameters}
    return {one: value for one, value in given.items() if value}


def _list_faults(parameters: page.Parameters) -> list[page.WrongAddress]:
    """Return what is wrong with values of the shipped query that is chosen, where no query is edited."""
    shipped = parameters.get("query", "")
    if not shipped or parameters.get("sparql", "").strip():
        return []
    query = find(f"{shipped}.rq")
    return [*_find_faults(query, _read_set(query, parameters), parameters).values()]


def _read_set(query: Query, parameters: page.Parameters) -> str | None:
    """Return the set of parameters that is chosen, where the query has it."""
    return chosen if (chosen := parameters.get("set", "")) in query.sets else None


def _field_name(query: str, set_from: str | None, parameter: str) -> str:
    """Return the name of a parameter's field, which is another for each set, so that a set brings its own values."""
    return ".".join(filter(None, (query, set_from, parameter)))


def _list(parameters: page.Parameters, name: str) -> list[str]:
    return [one for one in dict.fromkeys(parameters.get(name, "").split(",")) if one]


def _read(corpus: FacetedCorpus, parameters: page.Parameters) -> _Choices:
    """Return what the address asks for; raises `UnknownName`, `UsageError`, `QueryError` for what is wrong in it."""
    dataset = corpus.check(_list(parameters, "dataset"))
    edition = ["all"] if parameters.get("edition") == EACH else []
    name = parameters.get("name") or "composed"
    if text := parameters.get("sparql", "").replace("\r\n", "\n").strip():
        return _Choices(Query.parse(f"{text}\n", name), {}, None, None, dataset, edition)
    if shipped := parameters.get("query", ""):
        if shipped not in shipped_queries():
            raise UnknownName("query", shipped, shipped_queries(), "remix list queries")
        query = find(f"{shipped}.rq")
        set_from = _read_set(query, parameters)
        given = query.values({}, set_from)
        values = {
            one: value
            for one in query.parameters
            if (value := parameters.get(_field_name(shipped, set_from, one), "")) and value != plain_term(given[one])
        }
        if wrong := _find_faults(query, set_from, parameters):
            raise next(iter(wrong.values()))
        return _Choices(query, values, set_from, None, dataset, edition)
    conditions = [_condition(corpus, facet, parameters) for facet in _choose_facets(corpus, parameters)]
    made = Query.parse(compose(conditions, note="Composed in the explorer of remix."), name)
    return _Choices(made, {}, None, conditions, dataset, edition)


def _choose_facets(corpus: FacetedCorpus, parameters: page.Parameters) -> list[Facet]:
    names = dict.fromkeys([*_list(parameters, "on"), *_list(parameters, "add")])
    if unknown := [name for name in names if name not in corpus.facets]:
        raise UnknownName("column with values", unknown[0], corpus.facets, "remix enrich")
    return [corpus.facets[name] for name in names]


def _condition(corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters) -> Condition:
    picked = _list(parameters, f"in.{facet.name}")
    missing = _NONE in picked
    if facet.kind == "number":
        low, high = (_read_bound(corpus, facet, end, parameters) for end in ("low", "high"))
        return Condition(facet, low, high, missing=missing)
    names = {shorten(value): value for value in _by_frequency(corpus, facet)}
    if unknown := [one for one in picked if one not in names and one != _NONE]:
        raise UnknownName(f"value of {facet.name}", unknown[0], names)
    return Condition(facet, among=tuple(names[one] for one in picked if one != _NONE), missing=missing)


def _ends(corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters) -> tuple[float, float, float]:
    """Return least and largest of a slider and its steps."""
    if not _by_values(parameters):
        return 0.0, 100.0, 1.0
    values = corpus.values(facet)["value"]
    low, high = float(values.min() or 0), float(values.max() or 0)  # type: ignore[arg-type]
    whole = bool((values == values.round()).all())
    return low, high, 1.0 if whole and high - low <= 2000 else (high - low) / 200 or 1.0


def _by_values(parameters: page.Parameters) -> bool:
    return parameters.get("scale") == _SCALES[1]


def _slider(end: str, facet: Facet, parameters: page.Parameters) -> str:
    """Return the name of a slider's field, which is another for each scale: 50 is a value or a percentile."""
    return f"{end}{'-value' if _by_values(parameters) else ''}.{facet.name}"


def _find_place(corpus: FacetedCorpus, facet: Facet, end: str, parameters: page.Parameters) -> str:
    """Return where a slider stands, as text; after its scale was changed that is where it stood on the other."""
    if text := parameters.get(_slider(end, facet, parameters), ""):
        return text
    other = {**parameters, "scale": _SCALES[0] if _by_values(parameters) else _SCALES[1]}
    if not parameters.get(_slider(end, facet, other)):
        return ""
    try:
        bound = _read_bound(corpus, facet, end, other)
    except page.WrongValue:  # on the other scale it stood nowhere
        return ""
    if bound is None or _by_values(parameters):
        return "" if bound is None else f"{bound:.17g}"
    values = corpus.values(facet)["value"]
    # The first of the values that are the bound where it is the lower one, else the last.
    place = int((values < bound).sum()) if end == "low" else int((values <= bound).sum()) - 1
    return f"{100 * place / max(1, len(values) - 1):.0f}"


def _read_bound(corpus: FacetedCorpus, facet: Facet, end: str, parameters: page.Parameters) -> float | None:
    """Return the value that a slider stands for; at its end there is none."""
    low, high, step = _ends(corpus, facet, parameters)
    name = _slider(end, facet, parameters)
    text = _find_place(corpus, facet, end, parameters)
    number = re.fullmatch(r"-?[0-9]{1,16}(\.[0-9]{1,20})?(e[-+]?[0-9]{1,3})?", text)
    if text and (number is None or math.isinf(float(text))):
        raise page.WrongValue(f"{name}={text} is no number", text)
    if text and not low <= float(text) <= high + step / 2:
        raise page.WrongValue(f"{name}={text} is not between {low:.10g} and {high:.10g}", text)
    place = float(text) if text else low if end == "low" else high
    if (end == "low" and place <= low) or (end == "high" and place > high - step / 2):
        return None
    if _by_values(parameters):
        return place
    return corpus.values(facet)["value"].quantile(max(0.0, min(place, 100.0)) / 100, "nearest")


def _by_frequency(corpus: FacetedCorpus, facet: Facet) -> list[str]:
    found = corpus.values(facet)["value"].value_counts(sort=True).sort("count", "value", descending=[True, False])
    return [one for one in found["value"] if "," not in one]


def _vocabularies(corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters) -> Vocabularies:
    """Return the vocabularies of a facet of classes, with the one whose classes are listed."""
    rows = corpus.values(facet).select("annotation", pl.col("value").alias("class"))
    return Vocabularies.of(rows, corpus.frames.annotations).show(parameters.get(f"of.{facet.name}", ""))


def _of_values(
    work: page.Explored, corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters
) -> list[page.Field]:
    """Return the fields that pick values, the most frequent; classes are of one vocabulary, beside those picked."""
    name, values, fields = f"in.{facet.name}", _by_frequency(corpus, facet), []
    if facet.kind == "class":
        shown = _vocabularies(corpus, facet, parameters)
        listed = shown.choose(pl.DataFrame({"class": values}, schema={"class": pl.String}))["class"][:_MOST]
        picked = {*_list(parameters, name)}
        values = [*listed, *(one for one in values if shorten(one) in picked and one not in listed)]
        names = [*shown.mentions, ALL] if shown.others or shown.shown == ALL else []
        told = f"mentions with a class of each: {shown}"
        fields = [page.choose(f"of.{facet.name}", "classes of", names, shown.shown, told)] if names else []
    values = values[: _MOST + len(_list(parameters, name))]
    labels = label_classes(work.kb, pl.Series(values, dtype=pl.String)) if facet.kind == "class" else {}
    words = {short: f"{label} – {short}" for iri, label in labels.items() if (short := shorten(iri))}
    called, told = label_of(facet.name).words, facet.meaning
    chosen, shortened = parameters.get(name, ""), [*map(shorten, values), _NONE]
    return [*fields, page.Field(name, called, chosen, shortened, "many", explained=told, words=words)]


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Builder", [page.NOTHING])
    corpus = corpus_of(work.store)
    notes: list[str] = []
    _check(parameters)
    edited = bool(parameters.get("sparql", "").strip())
    form = page.Form(_fields(work, corpus, parameters), button=_BACK if edited else "Show", live=not edited)
    if wrong := _list_faults(parameters):
        named = "a value" if len(wrong) == 1 else f"{len(wrong)} values"
        told = f"Nothing is counted: {named} above cannot be, for the reason beside it."
        return page.Page("Builder", [form, page.Note(told)], faults=wrong)
    try:
        asked = _read(corpus, parameters)
        if asked.conditions is not None:
            left, table = corpus.count(asked.conditions, dataset=asked.dataset, edition=asked.edition)
        else:
            choices = asked.values, asked.set_from, asked.dataset, asked.edition
            left, table, notes = corpus.count_query(asked.query, *choices)
    except Error as error:
        # What is chosen among others is left out; what is typed stays in its field.
        typed = bool(parameters.get("query") or parameters.get("sparql"))
        if isinstance(error, UnknownName) or (isinstance(error, UsageError) and not typed):
            raise
        again = [_editor(corpus, parameters, parameters["sparql"])] if parameters.get("sparql") else []
        return page.Page("Builder", [form, page.Note(f"Not possible: {error}"), *again], error=error)
    missing = page.tell_missing(work)
    notes = [*asked.query.tell_unfit(asked.values, asked.set_from), *notes]
    notes += tell_runs(runs_read(asked.text, work.store.datasets()))
    blocks: list[page.Shown] = [form, *missing, *(page.Note(note) for note in notes), _tell(left), *_waterfall(left)]
    links = {"dataset": lambda row: page.address("dataset", name=row["dataset"])}
    table = table.sort("kept", "dataset", descending=[True, False])
    table = table if (table["elsewhere"] != "").any() else table.drop("elsewhere")
    blocks.append(
        page.Table(
            "datasets",
            table,
            links,
            explained=_EXPLAINED,
            words="What each dataset gives to the remix.",
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


def _check(parameters: page.Parameters) -> None:
    """Raise `UnknownName` for a choice that there is not, of those that change nothing where they are not known."""
    shipped = parameters.get("query", "")
    if shipped and shipped not in shipped_queries():
        raise UnknownName("query", shipped, shipped_queries(), "remix list queries")
    sets = find(f"{shipped}.rq").sets if shipped else {}
    if name := parameters.get("name", ""):
        try:
            check_name(name)
        except UsageError as error:
            raise page.WrongValue(str(error), name) from None
    for name, what, known in (
        ("set", f"set of parameters{f' of {shipped}' if shipped else ''}", [*sets]),
        ("scale", "scale of sliders", _SCALES),
        ("edition", "choice of editions", (_ONE, EACH)),
    ):
        if (said := parameters.get(name)) and said not in known:
            raise UnknownName(what, said, known)


def _waterfall(left: pl.DataFrame) -> list[page.Shown]:
    """Return the waterfall as a table and as a figure."""
    words = "What is left after each condition; the last row is what `remix build` writes."
    called = {said: _call(said) for said in left["condition"]}
    share = left.with_columns(share_of_mentions=pl.col("mentions") / max(1, left["mentions"][0]))
    share = share if share["known"].count() else share.drop("known")
    told = {**_EXPLAINED, "share_of_mentions": "of the mentions in the first row"}
    series = [Series("mentions", [called[said] for said in left["condition"]], left["mentions"].to_list())]
    panel = Panel("", "bars", series, y=Axis("mentions", whole=True), lying=True)
    return [
        page.Table(
            "waterfall",
            share,
            words=words,
            explained=told,
            headings={"share_of_mentions": ("share of mentions", ""), "known": ("with a value before", "")},
            labels={said: words for said, words in called.items() if words != said},
        ),
        page.Drawing("mentions left", Figure("What is left after each condition", [panel])),
    ]


def _call(condition: str) -> str:
    """Return a condition by what people call its column.

    >>> _call("ambiguitySurfaceForm: ≥ 20")
    'readings a name: ≥ 20'
    """
    column, colon, said = condition.partition(":")
    return f"{label_of(column).words}{colon}{said}"


def _ways(asked: _Choices, parameters: page.Parameters, *, empty: bool) -> list[page.Shown]:
    """Return the command line that does the same, and the files, of an `empty` selection the query alone."""
    kept = {name: value for name, value in parameters.items() if name not in ("sort", "at", "table")}
    downloads = {words: page.address(f"builder.{suffix}", **kept) for words, suffix in _FILES.items()}
    downloads = {".rq": downloads[".rq"]} if empty else downloads
    words = "The same in a terminal, with the file .rq beside you where the query is none that ships:"
    return [page.Code("build", asked.command, downloads, words)]


def _editor(corpus: FacetedCorpus, parameters: page.Parameters, text: str) -> page.Form:
    """Return the query as text, with what else is asked of it: hidden as long as the choices above have that."""
    area = page.Field("sparql", "SPARQL", text, look="area", explained=_REPLACES)
    around = _around(corpus, parameters)
    if not parameters.get("sparql", "").strip():
        around = [page.Field(one.name, one.name, parameters.get(one.name, ""), look="hidden") for one in around]
    return page.Form([area, *around], button="Count the edited query")


def _around(corpus: FacetedCorpus, parameters: page.Parameters) -> list[page.Field]:
    """Return what can be chosen of any query: datasets, editions of their texts, and the name of the remix."""
    told = "Whether the remix has each edition of a text, or that of the first dataset alone."
    return [
        page.Field("dataset", "only these datasets", parameters.get("dataset", ""), corpus.datasets, "many"),
        page.choose("edition", "a text of several datasets", (_ONE, EACH), parameters.get("edition", _ONE), told),
        page.Field("name", "name of the remix", parameters.get("name", ""), explained="Names its files."),
    ]


_TABLE = "table"
"""The tag of a query that selects no documents or mentions, which is for the page SPARQL and `remix query`."""


def _fields(work: page.Explored, corpus: FacetedCorpus, parameters: page.Parameters) -> list[page.Field]:
    """Return what can be chosen: a shipped query with its parameters, or columns with their bounds; and datasets."""
    shipped = parameters.get("query", "")
    fields = [
        page.choose(
            "query",
            "shipped query",
            ["", *(name for name in shipped_queries() if _TABLE not in find(f"{name}.rq").tags)],
            shipped,
            "A query that remix ships with.",
            nothing="(none)",
        )
    ]
    if shipped in shipped_queries():
        fields += _of_query(find(f"{shipped}.rq"), parameters)
    else:
        fields += _of_columns(work, corpus, parameters)
    # Beside an edited query these are in its form, as that of the choices leaves it.
    return fields if parameters.get("sparql", "").strip() else [*fields, *_around(corpus, parameters)]


def _of_columns(work: page.Explored, corpus: FacetedCorpus, parameters: page.Parameters) -> list[page.Field]:
    chosen = _choose_facets(corpus, parameters)
    names = [one.name for one in chosen]
    others = [name for name in corpus.facets if name not in names]
    fields = [
        page.choose(
            "add",
            "add a condition on",
            ["", *others],
            "",
            "A column of annotations, or of their documents.",
            words=page.words_of_measures(others),
            nothing="(a column)",
        )
    ]
    if chosen:
        fields.append(
            page.Field("on", "conditions on", ",".join(names), names, "many", words=page.words_of_measures(names))
        )
    if any(one.kind == "number" for one in chosen):
        told = "Percentiles are of the values that are loaded; the query has the value itself."
        fields.append(page.choose("scale", "sliders show", _SCALES, parameters.get("scale", _SCALES[0]), told))
    for one in chosen:
        picked = parameters.get(f"in.{one.name}", "")
        if one.kind == "number":
            ends = _ends(corpus, one, parameters)
            for end, word, default in (("low", "from", ends[0]), ("high", "to", ends[1])):
                name = _slider(end, one, parameters)
                place = _find_place(corpus, one, end, parameters) or f"{default:.10g}"
                fields.append(
                    page.Field(name, f"{label_of(one.name).words}, {word}", place, (), "range", *ends, one.meaning)
                )
            fields.append(page.Field(f"in.{one.name}", f"{label_of(one.name).words}, also", picked, (_NONE,), "many"))
        else:
            fields += _of_values(work, corpus, one, parameters)
    return fields


def _of_query(query: Query, parameters: page.Parameters) -> list[page.Field]:
    set_from, fields = _read_set(query, parameters), []
    if query.sets:
        told = "Values of the parameters that have a name, as the query's file gives them."
        fields.append(
            page.choose("set", "set of parameters", ["", *query.sets], set_from or "", told, nothing="(defaults)")
        )
    given, wrong = query.values({}, set_from), _find_faults(query, set_from, parameters)
    ranges = query.ranges(_choose_values(query, set_from, parameters), set_from)
    for one in query.parameters.values():
        name = _field_name(query.name, set_from, one.name)
        fault = str(wrong.get(name, ""))
        fields.append(_parameter(one, given[one.name], name, parameters.get(name, ""), fault, ranges.get(one.name)))
    return fields


def _parameter(one: Parameter, given: str, name: str, value: str, fault: str, known_range: Range | None) -> page.Field:
    """Return the field of a parameter: a slider where it lies between two numbers, unless what was typed does not."""
    value = value or plain_term(given)
    kind = "a number" if re.fullmatch(r"[-+.\de]+", given) else "an IRI" if ":" in given else "a text"
    told = f"{one.description} ({kind}, by default {given})"
    if one.choices and not fault:
        return page.choose(name, one.name, one.choices, value, told)
    if known_range is not None and (high := known_range.high) is not None and not fault:
        low = known_range.low
        return page.Field(name, one.name, value, (), "range", low, high, (high - low) / 100, told)
    return page.Field(name, one.name, value, explained=told, fault=fault)


def _columns(corpus: FacetedCorpus, parameters: page.Parameters) -> page.Table:
    """Return what can be asked for: the columns with their meaning, each leading to a condition on it."""
    on = ",".join(one.name for one in _choose_facets(corpus, parameters))
    kept = {name: value for name, value in parameters.items() if name not in ("on", "add", "sort", "at")}
    facets = corpus.facets.values()
    frame = pl.DataFrame({"column": [one.name for one in facets], "meaning": [one.meaning for one in facets]})
    called, units = page.call_measures(frame["column"]), page.find_units(frame["column"])
    frame = frame.with_columns(called, units).select("column", "called", "unit", "meaning")
    links = {"called": lambda row: page.address("builder", on=",".join(filter(None, (on, row["column"]))), **kept)}
    small, headings = {"called": "column"}, {"called": ("column", "")}
    return page.Table("columns", frame, links, words="Each leads to a condition on it.", small=small, headings=headings)


def _meanings(asked: _Choices) -> page.Table:
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
    asked = _read(corpus_of(work.store), parameters)
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


def _list_parameters(work: page.Explored, parameters: page.Parameters) -> list[str]:
    """Return the names of the fields of conditions and of queries, those that are not shown now as well."""
    of_queries = {name.partition(".")[0] for name in parameters} & {*shipped_queries()}
    names = [
        _field_name(query.name, chosen, one)
        for query in (find(f"{name}.rq") for name in sorted(of_queries))
        for chosen in (None, *query.sets)
        for one in query.parameters
    ]
    if any("." in name for name in parameters) and page.list_datasets(work):
        ends = ("in", "of", "low", "high", "low-value", "high-value")
        names += [f"{end}.{name}" for name in corpus_of(work.store).facets for end in ends]
    return names


def _example(work: page.Explored) -> dict[str, str]:
    if not page.list_datasets(work):
        return {}
    facets = corpus_of(work.store).facets
    chosen = [name for name in ("ambiguitySurfaceForm", "pagerank", "class") if name in facets]
    bound = {"low.ambiguitySurfaceForm": "20"} if "ambiguitySurfaceForm" in facets else {}
    return {"on": ",".join(chosen[:2]), **bound} if chosen else {}


builder = page.View(
    "builder",
    "Builder",
    _show,
    menu=4,
    example=_example,
    downloads={suffix: partial(_offer, suffix) for suffix in _FILES.values()},
    runs_queries=True,
    parameters=("query", "set", "add", "on", "scale", "dataset", "edition", "name", "sparql"),
    further=_list_parameters,
)
