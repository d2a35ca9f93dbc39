"""The query that selects the annotations of a list, for a remix to keep, and where the builder has it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import polars as pl

from remix.errors import UsageError
from remix.kb import attached_kb
from remix.measures.columns import OF_ANNOTATIONS, OF_DOCUMENTS, Slicing
from remix.measures.enrichment import frames_of
from remix.measures.partitions import Subset
from remix.names import EL, ITSRDF, NIF, RMX, shorten
from remix.rdf.terms import quote
from remix.remixes.facets import Condition, compose, list_facets
from remix.remixes.partitions import where_of_part
from remix.reports.annotation_list import Wanted, find_part, list_wanted, parts_of
from remix.reports.statistics import explain_stored, measures_of
from remix.runs.outcomes import fragment_of
from remix.signature import Signature
from remix.store import Store
from remix.store.serialise import text_of
from remix.store.state import GIVEN
from remix.store.tree import NotUnderstood, parse
from remix.vocabularies import COARSE_CLASSES
from remix.vocabularies import COLUMNS as OF_CLASSES

EACH = "counts in each"
"""What the builder calls that a remix has each edition of a text."""
_STEPS = 2000
"""Sliders have a step for each whole number of a column that reaches over no more than these."""
_OUTCOMES = {
    "correct": (f"<{RMX}truePositiveOf> {{run}}", ""),
    "errors": (f"<{RMX}falseNegativeOf> {{run}}", ""),
    "wrong": (
        f"<{RMX}falseNegativeOf> {{run}}",
        '?class FILTER (STRSTARTS(?class, "neleval:") && ?class != "neleval:missing")',
    ),
    "missed": (f"<{RMX}falseNegativeOf> {{run}}", '"neleval:missing"'),
}
"""What is kept of a run about each annotation of an outcome, and the class of the error, of alternatives about one."""


@dataclass
class _Query:
    """What is asked: conditions, the fields of the builder that say them, and lines that no field can say."""

    conditions: list[Condition] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    said: bool = True

    def add(self, condition: Condition, **fields: str) -> None:
        """Add a condition, with the fields that say it; without any it is of SPARQL alone."""
        self.conditions.append(condition)
        self.said = self.said and bool(fields) and condition.facet.name not in self.fields.get("on", "").split(",")
        self.fields |= {name.replace("__", "."): said for name, said in fields.items()}
        self.fields["on"] = ",".join(filter(None, (self.fields.get("on", ""), condition.facet.name)))


def builder_parameters(
    store: Store,
    wanted: Wanted,
    *,
    system: str = "",
    outcome: str = "",
    error_class: str = "",
    right: Mapping[str, bool] = MappingProxyType({}),
    any_of: Sequence[str] = (),
    matching: str = "strong",
    together: Sequence[str] = (),
) -> dict[str, str]:
    """Return the parameters of the builder with which a remix is made of the annotations that are wanted.

    They are its conditions where it has them, else a query in SPARQL. `outcome` is that of a `system` on the dataset
    ('errors' is wrong or missed), and `error_class` one that it made, as `remix annotate` and `remix run add` keep it.
    `right` says of systems whether they are right, and `any_of` are several of which one at least has the outcome,
    'errors' or 'correct', and one at least made an error of the class. All that is by a `matching`. Where the list is
    of several datasets `together`, of which texts that they share count once, `wanted` names none.
    Raises `UsageError` for a part that no query can say, and where queries do not see what the list is by.
    """
    _refuse_unstored(store, wanted, together)
    asked = _Query()
    dataset = ",".join(together) or wanted.dataset
    if wanted.by == "dataset" and wanted.part:
        dataset = dataset or find_part(parts_of(store, wanted.by), wanted.part).name
    elif wanted.by and wanted.part:
        _add_part(store, asked, wanted)
    if wanted.column:
        _add_column(store, asked, wanted)
    _add_kind(store, asked, wanted)
    if wanted.document:
        [iri] = list_wanted(store, Wanted(wanted.dataset, wanted.document))["document"].unique().to_list()[:1]
        asked.lines.append(f"FILTER (STR(?document) = {quote(iri)})")
    stored = _StoredOutcomes(store, together or [wanted.dataset], matching)
    of_own = bool(wanted.type or wanted.column or (wanted.part and wanted.by not in ("", "dataset")))
    known, meant = outcome in _OUTCOMES, [system] if system else [*any_of]
    if of_own and (known or right or error_class):
        _refuse_alternatives(store, stored.datasets)
    stored.refuse_unstored(dict.fromkeys([*(meant if known or error_class else []), *right]))
    if system and known:
        asked.lines += stored.of_system(system, outcome)
    asked.lines += [stored.of_outcome(name, "correct" if is_right else "errors") for name, is_right in right.items()]
    asked.lines += [stored.of_any(any_of, outcome)] if any_of and known else []
    asked.lines += [stored.of_class(meant, f'"neleval:{error_class}"')] if error_class and meant else []
    if (graphs := "".join(asked.lines).count("GRAPH <")) > _GRAPHS:
        raise UsageError(
            f"a query would look for outcomes in {graphs} places, of each system and dataset, and more than {_GRAPHS} "
            "take longer than the builder waits: choose fewer datasets"
        )
    # A list over several datasets has each of their editions of a text, and so has the remix.
    where = {"dataset": dataset} if dataset else {"edition": EACH}
    if asked.said and not asked.lines:
        return {**where, **asked.fields}
    return {**where, "sparql": compose(asked.conditions, note="Made of a list of annotations.", also=asked.lines)}


def _refuse_alternatives(store: Store, datasets: Sequence[str]) -> None:
    """Raise `UsageError` where mentions have alternatives: what became of one is kept of another than has the value."""
    for name in datasets:
        rows = frames_of(store, name).annotations.filter(pl.col("ignorable").is_null())
        if (
            count := rows.filter(pl.len().over("document", "group", "begin", "end") > 1)
            .select("document", "group")
            .unique()
            .height
        ):
            raise UsageError(
                f"mentions of {name} have several right entities on one span ({count}), and what became of a mention "
                "is stored with one of these, which need not be the one that has the type or the part: choose one of "
                "both"
            )


def _refuse_unstored(store: Store, wanted: Wanted, datasets: Sequence[str] = ()) -> None:
    """Raise `UsageError` where what is wanted is measured otherwise than it is stored, so that no query selects it."""
    of_classes = wanted.type in ("", *_COARSE) and wanted.by.partition(":")[0] in ("", "dataset", *OF_CLASSES)
    if not (wanted.type or wanted.column or (wanted.part and wanted.by != "dataset")):
        return
    # Values that came with a file are those of lists as well, and so are classes of gold, where no other are known.
    named = [wanted.dataset] if wanted.dataset else datasets
    entries = [one for one in store.datasets() if one.enrichment != GIVEN and (not named or one.name in named)]
    if of_classes and not wanted.column and attached_kb(store) is None:
        entries = [one for one in entries if one.enrichment]
    if others := [one.name for one in entries if explain_stored(one, measures_of(store))]:
        which = others[0] if len(others) == 1 else f"{len(others)} datasets"
        raise UsageError(
            f"queries see what is stored, and the measures of {which} are not stored as this list has them, which "
            "`remix enrich` does"
        )


@dataclass(frozen=True)
class _StoredOutcomes:
    """What the store keeps of what systems made of datasets, as patterns of SPARQL; `matching` is that of the list."""

    store: Store
    datasets: Sequence[str]
    matching: str

    def refuse_unstored(self, systems: Iterable[str]) -> None:
        """Raise `UsageError` where no outcomes of systems are stored, or those by another matching.

        There are none of a system that is registered on a remix's origin alone. What stores all of them is one command.
        """
        each = [
            (system, entry, entry.attached.get(fragment_of(system)))
            for system in systems
            for entry in map(self.store.dataset, self.datasets)
        ]
        if lacking := [(system, entry.name) for system, entry, held in each if held is None]:
            raise UsageError(f"queries see what is stored, and no outcomes of {_name_pairs(lacking)} are stored")
        told = {
            (system, entry.name): Signature.parse(held.signature).fields.get("matching", self.matching)
            for system, entry, held in each
            if held is not None
        }
        if others := [pair for pair, matching in told.items() if matching != self.matching]:
            by = " and ".join(sorted({told[pair] for pair in others}))
            on, names = ([*dict.fromkeys(pair[part] for pair in others)] for part in (1, 0))
            options = [part for name in names for part in ("--system", name)]
            command = shlex.join(["remix", "evaluate", *on, *options, "--match", self.matching, "--store"])
            raise UsageError(
                f"queries see what is stored, and the outcomes of {_name_pairs(others)} are those by {by} matching: "
                f"`{command}` keeps those by {self.matching} in their place"
            )

    def name_runs(self, system: str) -> list[str]:
        """Return the IRIs of what a system made of the datasets, as SPARQL has them."""
        return [f"<{self.store.dataset(name).iri}#{fragment_of(system)}>" for name in self.datasets]

    def of_outcome(self, system: str, outcome: str) -> str:
        """Return the pattern of the annotations of which a system made this."""
        said = _OUTCOMES[outcome][0]
        each = [f"GRAPH {run} {{ ?annotation {said.format(run=run)} }}" for run in self.name_runs(system)]
        return each[0] if len(each) == 1 else " UNION ".join(f"{{ {one} }}" for one in each)

    def of_system(self, system: str, outcome: str) -> list[str]:
        """Return the patterns of the annotations of which a system made this."""
        kind = _OUTCOMES[outcome][1]
        return [self.of_outcome(system, outcome), *([self.of_class([system], kind)] if kind else [])]

    def of_any(self, systems: Sequence[str], outcome: str) -> str:
        """Return the pattern of the annotations of which one of the systems at least made this."""
        return f"FILTER ({' || '.join(f'EXISTS {{ {self.of_outcome(name, outcome)} }}' for name in systems)})"

    def of_class(self, systems: Sequence[str], kind: str) -> str:
        """Return the pattern of the mentions of which a run has the class of an error, about whichever alternative.

        It is a run of any of the systems.
        """
        others = f"?annotation <{RMX}group> ?group . ?other <{RMX}group> ?group ; <{NIF}referenceContext> ?document ."
        told = []
        for run in (run for system in systems for run in self.name_runs(system)):
            own, about = (f"GRAPH {run} {{ {one} <{RMX}errorClass> {kind} }}" for one in ("?annotation", "?other"))
            told += [f"EXISTS {{ {own} }}", f"EXISTS {{ {others} {about} }}"]
        # It is asked of each annotation that is left: alternatives first would pair all that have a group of one name.
        return f"FILTER ({' || '.join(told)})"


def _name_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return which systems and datasets these are: one by one, of more how many.

    >>> _name_pairs([("a", "news"), ("b", "news")]), _name_pairs([("a", "x"), ("a", "y"), ("a", "z")])
    ('a and b beside news', 'a beside x, y, z')
    """
    systems, datasets = ([*dict.fromkeys(pair[part] for pair in pairs)] for part in (0, 1))
    on = ", ".join(datasets) if len(datasets) <= _NAMED else f"{len(datasets)} datasets"
    return f"{' and '.join(systems)} beside {on}"


def narrow_conditions(
    store: Store, conditions: Sequence[Condition], wanted: Wanted, datasets: Sequence[str] = ()
) -> str:
    """Return the query of the annotations that meet the conditions and are wanted by their type, entity and form.

    They are of these `datasets`, by default of all. Raises `UsageError` where queries do not see the type.
    """
    _refuse_unstored(store, wanted, datasets)
    asked = _Query([*conditions])
    _add_kind(store, asked, wanted)
    return compose(asked.conditions, note="Made of a list of annotations.", also=asked.lines)


def narrow_query(store: Store, text: str, wanted: Wanted, datasets: Sequence[str] = ()) -> str:
    """Return a query of what another selects, as far as it is wanted by its type, entity and form.

    The annotations are of these `datasets`, by default of all.
    Raises `UsageError` for a query that is none which another can hold, and where queries do not see the type.
    """
    _refuse_unstored(store, wanted, datasets)
    try:
        tree = parse(text)
        names = {one.get("var") for one in tree.get("projection", ())}
        if tree.kind != "SelectQuery" or tree.get("datasetClause") or (names and not names & _SELECTED):
            raise NotUnderstood("it is no SELECT of annotations or documents")
        inner = text_of(tree).replace("\n", "\n  ")
    except NotUnderstood as reason:
        raise UsageError(f"the query cannot be narrowed down further ({reason})") from None
    asked = _Query()
    _add_kind(store, asked, wanted)
    return compose(asked.conditions, note="Made of a list of annotations.", also=[f"{{ {inner} }}", *asked.lines])


_SELECTED = {"?document", "?annotation"}


def _add_kind(store: Store, asked: _Query, wanted: Wanted) -> None:
    """Add of which type an annotation is, to what it links, and by which form."""
    facets = list_facets()
    if wanted.type == "NIL":
        asked.lines.append(f"{_NIL} .")
    elif wanted.type in ("other", "untyped"):
        of_entity = " && ".join(f"!STRSTARTS(STR(?class), {quote(one)})" for one in (EL, RMX))
        typed, known = f"{{ {facets['class'].pattern} FILTER ({of_entity}) }}", f"{{ {facets['type'].pattern} }}"
        asked.lines += [f"FILTER NOT EXISTS {typed}"] if wanted.type == "untyped" else []
        asked.lines += [f"FILTER EXISTS {typed}", f"FILTER NOT EXISTS {known}"] if wanted.type == "other" else []
        asked.lines.append(f"FILTER NOT EXISTS {{ {_NIL} }}")
    elif wanted.type:
        asked.add(Condition(facets["type"], among=(wanted.type,)), in__type=wanted.type)
    if wanted.entity:
        # Lists compare entities in one form, triples have them as their files do.
        links, meant = frames_of(store, wanted.dataset or None).links, wanted.entity.split(" ")
        given = links.filter(pl.col("entity").is_in(meant))["entity_as_given"].drop_nulls()
        known = ", ".join(map(quote, sorted({*meant, *given})))
        asked.lines.append(f"?annotation <{ITSRDF}taIdentRef> ?entity FILTER (STR(?entity) IN ({known}))")
    if wanted.form:
        asked.lines.append(_where_of_form(wanted.form))
    if wanted.find:
        found = f"CONTAINS(LCASE(STR(?form)), {quote(wanted.find.lower())})"
        asked.lines.append(f"?annotation <{NIF}anchorOf> ?form FILTER ({found})")


def _add_part(store: Store, asked: _Query, wanted: Wanted) -> None:
    """Add that an annotation is in a part: as a condition where a facet has it, else as its query does."""
    slicing, facets = parts_of(store, wanted.by), list_facets()
    part, column = find_part(slicing, wanted.part), slicing.asked.column
    facet = facets.get("class" if column in OF_CLASSES else column)
    if facet is None and column in (*OF_ANNOTATIONS, *OF_DOCUMENTS):
        asked.lines.append(_where_of_own(column, part))
    elif facet is None or part.missing or (part.category is not None and facet.kind == "number"):
        asked.lines.append(where_of_part(slicing.asked, slicing.parts, part))
        if part.missing and not slicing.of_documents:
            _leave_out_alternatives(store, asked, wanted, slicing)
    elif part.category is not None:
        said = {} if "," in part.category else {f"in__{facet.name}": shorten(part.category)}
        asked.add(Condition(facet, among=(part.category,)), **said)
    else:
        _add_range(store, asked, facet.name, list_wanted(store, Wanted(by=wanted.by, part=part.name))[facet.name])


def _leave_out_alternatives(store: Store, asked: _Query, wanted: Wanted, slicing: Slicing) -> None:
    """Add that an annotation is none of those whose mention has a value by another alternative on the same span.

    No triple says which these are, as annotations on one span are alternatives unless they say otherwise: they are
    named. Raises `UsageError` where they are more than an address has room for.
    """
    every = list_wanted(store, Wanted(wanted.dataset))
    listed = list_wanted(store, Wanted(wanted.dataset, by=wanted.by, part=slicing.unspecified))["annotation"]
    valued = slicing.values.filter(pl.col("value") != slicing.unspecified)["annotation"]
    out = pl.concat([listed, valued]).implode()
    named = every.filter(~pl.col("annotation").is_in(out))["annotation"].sort()
    if named.str.len_bytes().sum() > _ROOM:
        raise UsageError(
            f"no query of a usual length leaves out {len(named)} alternatives of mentions that have a value"
        )
    if len(named):
        asked.lines.append(f"FILTER (STR(?annotation) NOT IN ({', '.join(map(quote, named))}))")


_NAMED = 6
"""Datasets that are named where something lacks beside each."""
_GRAPHS = 24
"""Graphs of outcomes that a query can look into in the time that the builder has."""
_ROOM = 5000
"""Bytes of IRIs that an address has room for."""


_COARSE = tuple(name.capitalize() for name in COARSE_CLASSES)
"""The types to which classes map."""
_NIL = f'?annotation <{RMX}nil> "explicit"'
"""The pattern of an annotation that gold links to nothing, as `enrich` stores it."""


def _where_of_own(column: str, part: Subset) -> str:
    """Return the pattern of a part of a column that every gold has; raises `UsageError` where no triple has it."""
    if column == "is_nil" and part.category is not None:
        return f"{_NIL} ." if part.category == "true" else f"FILTER NOT EXISTS {{ {_NIL} }}"
    if column == "surface_form" and part.category is not None:
        return _where_of_form(part.category)
    raise UsageError(f"no query can select by {column}: `remix partition --by {column}` makes a remix of each part")


def _where_of_form(form: str) -> str:
    return f"?annotation <{NIF}anchorOf> ?form FILTER (STR(?form) = {quote(form)})"


def _add_column(store: Store, asked: _Query, wanted: Wanted) -> None:
    """Add that an annotation has a value of a column, one of a bar where that is named."""
    facet = list_facets()[wanted.column]
    if not wanted.bar:
        asked.add(Condition(facet), **{f"in__{facet.name}": ""} if facet.kind == "number" else {})
        return
    rows = list_wanted(store, Wanted(wanted.dataset, column=wanted.column, bar=wanted.bar))
    _add_range(store, asked, facet.name, rows[facet.name])


def _add_range(store: Store, asked: _Query, name: str, values: pl.Series) -> None:
    """Add that a value is between the least and the largest of these, which leaves no edge to rounding."""
    numbers = values.cast(pl.Float64).drop_nulls().drop_nans()
    if numbers.is_empty():
        asked.lines.append("FILTER (false)")
        return
    low, high = float(str(numbers.min())), float(str(numbers.max()))
    condition = Condition(list_facets()[name], low, high)
    every = list_wanted(store, Wanted(column=name))[name].cast(pl.Float64).drop_nans()
    whole = bool((every == every.round()).all()) and float(str(every.max())) - float(str(every.min())) <= _STEPS
    fields: Mapping[str, str] = {
        "scale": "values",
        f"low-value__{name}": f"{low:.0f}",
        f"high-value__{name}": f"{high:.0f}",
    }
    asked.add(condition, **(fields if whole else {}))
