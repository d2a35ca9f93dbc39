"""What an address of the builder asks for: a shipped query, conditions on columns, or SPARQL, and of which datasets."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from remix.errors import UnknownName, UsageError
from remix.names import shorten
from remix.remixes import check_name
from remix.remixes.facets import Condition, Facet, FacetedCorpus, Narrowing, compose, corpus_of, list_facets
from remix.reports.selections import EACH
from remix.store.queries import Query, find, plain_term, shipped_queries
from remix.web import page
from remix.web.addresses import split_names

NO_VALUE = "no value"
SCALES = ("percentiles", "values")
COUNTS_ONCE = "counts once"
PARAMETERS = ("query", "set", "add", "on", "scale", "dataset", "edition", "name", "sparql")
"""The names that any address of a selection may have."""


@dataclass(frozen=True)
class RemixChoices:
    """What is to be built: a query with values of its parameters, or the conditions that it was made of."""

    query: Query
    values: Mapping[str, object]
    set_from: str | None
    conditions: Sequence[Condition] | None
    dataset: Sequence[str]
    edition: Sequence[str]
    name: str = ""

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
            words += ["--name", self.name] if self.name else []  # the file of another query is called so
        words += [part for name in self.dataset for part in ("--dataset", name)]
        return shlex.join([*words, *(part for name in self.edition for part in ("--edition", name))])

    def narrow(self, corpus: FacetedCorpus) -> Narrowing:
        """Return what is left after each of the conditions; raises as `FacetedCorpus.count_query` does."""
        if self.conditions is not None:
            return corpus.count(self.conditions, dataset=self.dataset, edition=self.edition)
        return corpus.count_query(self.query, self.values, self.set_from, self.dataset, self.edition)


def find_faults(query: Query, set_from: str | None, parameters: page.Parameters) -> dict[str, page.WrongAddress]:
    """Return what is wrong with values of a query's parameters, by the names of their fields."""
    chosen, found = choose_values(query, set_from, parameters), dict[str, page.WrongAddress]()
    # Between which numbers a parameter lies may depend on another one.
    others = {one: value for one, value in chosen.items() if value in query.parameters[one].choices}
    for one, value in chosen.items():
        try:
            query.bind({**others, one: value}, set_from)
        except UsageError as error:
            if str(error) not in map(str, found.values()):  # what a set brings is said once
                found[name_field(query.name, set_from, one)] = page.WrongAddress(str(error))
    return found


def choose_values(query: Query, set_from: str | None, parameters: page.Parameters) -> dict[str, str]:
    """Return what the address says of the parameters of a query, by their names."""
    given = {one: parameters.get(name_field(query.name, set_from, one), "") for one in query.parameters}
    return {one: value for one, value in given.items() if value}


def list_faults(parameters: page.Parameters) -> list[page.WrongAddress]:
    """Return what is wrong with values of the shipped query that is chosen, where no query is edited."""
    shipped = parameters.get("query", "")
    if not shipped or parameters.get("sparql", "").strip():
        return []
    query = find(f"{shipped}.rq")
    return [*find_faults(query, read_set(query, parameters), parameters).values()]


def read_set(query: Query, parameters: page.Parameters) -> str | None:
    """Return the set of parameters that is chosen, where the query has it."""
    return chosen if (chosen := parameters.get("set", "")) in query.sets else None


def name_field(query: str, set_from: str | None, parameter: str) -> str:
    """Return the name of a parameter's field, which is another for each set, so that a set brings its own values."""
    return ".".join(filter(None, (query, set_from, parameter)))


def read_choices(corpus: FacetedCorpus, parameters: page.Parameters) -> RemixChoices:
    """Return what the address asks for; raises `UnknownName`, `UsageError`, `QueryError` for what is wrong in it."""
    dataset = corpus.check(split_names(parameters.get("dataset", "")))
    edition = ["all"] if parameters.get("edition") == EACH else []
    name = parameters.get("name") or "composed"
    if text := parameters.get("sparql", "").replace("\r\n", "\n").strip():
        return RemixChoices(Query.parse(f"{text}\n", name), {}, None, None, dataset, edition)
    if shipped := parameters.get("query", ""):
        if shipped not in shipped_queries():
            raise UnknownName("query", shipped, shipped_queries(), "remix list queries")
        query = find(f"{shipped}.rq")
        set_from = read_set(query, parameters)
        given = query.values({}, set_from)
        values = {
            one: value
            for one in query.parameters
            if (value := parameters.get(name_field(shipped, set_from, one), "")) and value != plain_term(given[one])
        }
        if wrong := find_faults(query, set_from, parameters):
            raise next(iter(wrong.values()))
        return RemixChoices(query, values, set_from, None, dataset, edition, parameters.get("name", ""))
    conditions = [_condition(corpus, facet, parameters) for facet in choose_facets(corpus, parameters)]
    made = Query.parse(compose(conditions, note="Composed in the explorer of remix."), name)
    return RemixChoices(made, {}, None, conditions, dataset, edition)


def choose_facets(corpus: FacetedCorpus, parameters: page.Parameters) -> list[Facet]:
    """Return the columns that conditions are on; raises `UnknownName` for one without a value."""
    names = dict.fromkeys([*split_names(parameters.get("on", "")), *split_names(parameters.get("add", ""))])
    if unknown := [name for name in names if name not in corpus.facets]:
        raise UnknownName(
            "column with values", unknown[0], corpus.facets, "remix enrich", does="computes what is not stored"
        )
    return [corpus.facets[name] for name in names]


def _condition(corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters) -> Condition:
    picked = split_names(parameters.get(f"in.{facet.name}", ""))
    missing = NO_VALUE in picked
    if facet.kind == "number":
        low, high = (_read_bound(corpus, facet, end, parameters) for end in ("low", "high"))
        return Condition(facet, low, high, missing=missing)
    names = {shorten(value): value for value in order_values(corpus, facet)}
    if unknown := [one for one in picked if one not in names and one != NO_VALUE]:
        raise UnknownName(f"value of {facet.name}", unknown[0], names)
    return Condition(facet, among=tuple(names[one] for one in picked if one != NO_VALUE), missing=missing)


def find_ends(corpus: FacetedCorpus, facet: Facet, parameters: page.Parameters) -> tuple[float, float, float]:
    """Return least and largest of a slider and its steps."""
    if not _by_values(parameters):
        return 0.0, 100.0, 1.0
    values = corpus.values(facet)["value"]
    low, high = float(values.min() or 0), float(values.max() or 0)  # type: ignore[arg-type]
    whole = bool((values == values.round()).all())
    return low, high, 1.0 if whole and high - low <= 2000 else (high - low) / 200 or 1.0


def _by_values(parameters: page.Parameters) -> bool:
    return parameters.get("scale") == SCALES[1]


def name_slider(end: str, facet: Facet, parameters: page.Parameters) -> str:
    """Return the name of a slider's field, which is another for each scale: 50 is a value or a percentile."""
    return f"{end}{'-value' if _by_values(parameters) else ''}.{facet.name}"


def find_place(corpus: FacetedCorpus, facet: Facet, end: str, parameters: page.Parameters) -> str:
    """Return where a slider stands, as text; after its scale was changed that is where it stood on the other."""
    if text := parameters.get(name_slider(end, facet, parameters), ""):
        return text
    other = {**parameters, "scale": SCALES[0] if _by_values(parameters) else SCALES[1]}
    if not parameters.get(name_slider(end, facet, other)):
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
    low, high, step = find_ends(corpus, facet, parameters)
    name = name_slider(end, facet, parameters)
    text = find_place(corpus, facet, end, parameters)
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


def order_values(corpus: FacetedCorpus, facet: Facet) -> list[str]:
    """Return the values of a column, the most frequent first, without those that a list of choices cannot have."""
    found = corpus.values(facet)["value"].value_counts(sort=True).sort("count", "value", descending=[True, False])
    return [one for one in found["value"] if "," not in one]


def check_choices(parameters: page.Parameters, datasets: Iterable[str] = ()) -> None:
    """Raise `UnknownName` for a choice that there is not, of those that change nothing where they are not known.

    `datasets` are those that are loaded, of which those that the remix is made of cannot name it.
    """
    shipped = parameters.get("query", "")
    if shipped and shipped not in shipped_queries():
        raise UnknownName("query", shipped, shipped_queries(), "remix list queries")
    sets = find(f"{shipped}.rq").sets if shipped else {}
    if name := parameters.get("name", ""):
        try:
            check_name(name, split_names(parameters.get("dataset", "")) or datasets)
        except UsageError as error:
            raise page.WrongValue(str(error), name) from None
    for name, what, known in (
        ("set", f"set of parameters{f' of {shipped}' if shipped else ''}", [*sets]),
        ("scale", "scale of sliders", SCALES),
        ("edition", "choice of editions", (COUNTS_ONCE, EACH)),
    ):
        if (said := parameters.get(name)) and said not in known:
            raise UnknownName(what, said, known)


def call_condition(condition: str) -> str:
    """Return a condition by what people call its column.

    >>> call_condition("ambiguitySurfaceForm: ≥ 20"), call_condition("everything loaded")
    ('readings a name: ≥ 20', 'everything loaded')
    """
    column, colon, said = condition.partition(":")
    facet = list_facets().get(column)
    return f"{facet.words}{colon}{said}" if facet is not None else condition


def list_parameters(work: page.Explored, parameters: page.Parameters) -> list[str]:
    """Return the names of the fields of conditions and of queries, those that are not shown now as well."""
    of_queries = {name.partition(".")[0] for name in parameters} & {*shipped_queries()}
    names = [
        name_field(query.name, chosen, one)
        for query in (find(f"{name}.rq") for name in sorted(of_queries))
        for chosen in (None, *query.sets)
        for one in query.parameters
    ]
    if any("." in name for name in parameters) and page.list_datasets(work):
        ends = ("in", "of", "low", "high", "low-value", "high-value")
        names += [f"{end}.{name}" for name in corpus_of(work.store).facets for end in ends]
    return names


def give_example(work: page.Explored) -> dict[str, str]:
    """Return choices with which there is something to show: names of several readings."""
    if not page.list_datasets(work):
        return {}
    facets = corpus_of(work.store).facets
    chosen = [name for name in ("ambiguitySurfaceForm", "pagerank", "class") if name in facets]
    bound = {"low.ambiguitySurfaceForm": "20"} if "ambiguitySurfaceForm" in facets else {}
    return {"on": ",".join(chosen[:2]), **bound} if chosen else {}
