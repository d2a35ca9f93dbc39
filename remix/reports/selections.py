"""The query that selects the annotations of a list, for a remix to keep, and where the builder has it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from remix.errors import UsageError
from remix.kb import attached_kb
from remix.measures.columns import OF_ANNOTATIONS, OF_DOCUMENTS, Slicing
from remix.measures.enrichment import frames_of, measures_of
from remix.measures.partitions import Subset
from remix.names import EL, ITSRDF, NIF, RMX, shorten
from remix.rdf.terms import quote
from remix.remixes.closure import Editions
from remix.remixes.facets import Condition, compose, list_facets
from remix.remixes.partitions import where_of_part
from remix.reports.annotation_list import Wanted, find_part, list_members, list_wanted, parts_of
from remix.reports.statistics import explain_stored
from remix.runs.known import known_runs
from remix.runs.stored import command_that_stores, is_of_this_form, read_outcomes, systems_of
from remix.scoring.errors import TAXONOMIES
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
_NO_ANSWER = "missing"
"""The class of neleval's taxonomy of a mention that no answer matches."""
_WRONG = tuple(name for name in TAXONOMIES["neleval"].classes if name not in (_NO_ANSWER, "extra"))
"""Those of a mention of which the answer is wrong."""
_OUTCOMES = {"correct": (), "errors": (), "wrong": _WRONG, "missed": (_NO_ANSWER,)}
"""The classes of errors that tell outcomes of mentions, where being right or not does not."""


@dataclass(frozen=True)
class WantedOutcomes:
    """What systems have to have made of mentions, by a matching; an empty field says nothing.

    - `systems`: of which one at least has the `outcome` ('correct', 'errors', 'wrong' or 'missed'), and one at least
      made an error of the `error_class`;
    - `right`: of systems whether they are right.
    """

    systems: tuple[str, ...] = ()
    outcome: str = ""
    error_class: str = ""
    right: Mapping[str, bool] = field(default_factory=dict)
    matching: str = "strong"

    @property
    def terms(self) -> list[_WantedTerm]:
        """Return what is asked of the graphs of runs."""
        own = tuple(dict.fromkeys(self.systems))
        found = []
        # What has the class of an error is one.
        if own and self.outcome in _OUTCOMES and not (self.outcome == "errors" and self.error_class):
            found.append(_WantedTerm(own, self.outcome == "correct", _OUTCOMES[self.outcome]))
        if own and self.error_class:
            found.append(_WantedTerm(own, classes=(self.error_class,)))
        found += [_WantedTerm((name,), right=True) for name, is_right in self.right.items() if is_right]
        wrong = tuple(name for name, is_right in self.right.items() if not is_right)
        return [*found, *([_WantedTerm(wrong, right=True, none=True)] if wrong else [])]


@dataclass(frozen=True)
class _WantedTerm:
    """That one of the systems is right on a mention, or is not, with an error of these classes; or that `none` is."""

    systems: tuple[str, ...]
    right: bool = False
    classes: tuple[str, ...] = ()
    none: bool = False

    @property
    def pattern(self) -> str:
        """Return it as a pattern of SPARQL, which reads the graphs of all its runs at once."""
        term = f"?annotation <{RMX}{'truePositiveOf' if self.right else 'falseNegativeOf'}> ?run"
        classes = [quote(f"neleval:{one}") for one in self.classes]
        if len(classes) == 1:
            term += f" ; <{RMX}errorClass> {classes[0]}"
        elif classes:  # as VALUES beside those of systems it takes a minute
            term += f" ; <{RMX}errorClass> ?class FILTER (?class IN ({', '.join(classes)}))"
        runs = f"VALUES ?system {{ {' '.join(map(quote, self.systems))} }} ?run <{RMX}system> ?system ."
        found = f"SELECT ?annotation WHERE {{ {runs} GRAPH ?run {{ {term} }} }}"
        return f"{'MINUS ' if self.none else ''}{{ {found} }}"

    def keep(self, annotations: pl.DataFrame, store: Store, datasets: Sequence[str]) -> pl.DataFrame:
        """Return those of annotations of which it is so, by the same graphs."""
        rows = pl.concat(_read_outcomes(store, name, system) for system in self.systems for name in datasets)
        found = rows.filter(right=self.right)
        if self.classes:
            known = [f"neleval:{one}" for one in self.classes]
            found = found.filter(pl.col("classes").list.set_intersection(known).list.len() > 0)
        return annotations.join(found, on="annotation", how="anti" if self.none else "semi", maintain_order="left")


def _read_outcomes(store: Store, dataset: str, system: str) -> pl.DataFrame:
    key = "stored outcomes", dataset, system
    return store.cached(key, lambda: read_outcomes(store, dataset, system), asked=True)


@dataclass
class _Query:
    """What is asked: conditions, the fields of the builder that say them, and lines that no field can say.

    Where they are `joined`, each is read as a whole, and not looked up for what is left of those before it: beside the
    graphs of runs, which are many, that takes a hundredth of the time.
    """

    conditions: list[Condition] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    said: bool = True
    joined: bool = False

    def have(self, pattern: str) -> None:
        """Add that an annotation has what a pattern asks for."""
        self.lines.append(f"{{ SELECT ?annotation WHERE {{ {pattern} }} }}" if self.joined else pattern)

    def lack(self, pattern: str) -> None:
        """Add that an annotation has nothing of what a pattern asks for."""
        read = f"MINUS {{ SELECT ?annotation WHERE {{ {pattern} }} }}"
        self.lines.append(read if self.joined else f"FILTER NOT EXISTS {{ {pattern} }}")

    def add(self, condition: Condition, **fields: str) -> None:
        """Add a condition, with the fields that say it; without any it is of SPARQL alone."""
        self.conditions.append(condition)
        self.said = self.said and bool(fields) and condition.facet.name not in self.fields.get("on", "").split(",")
        self.fields |= {name.replace("__", "."): said for name, said in fields.items()}
        self.fields["on"] = ",".join(filter(None, (self.fields.get("on", ""), condition.facet.name)))

    def compose(self) -> str:
        """Return the query."""
        return compose(self.conditions, note="Made of a list of annotations.", also=self.lines, joined=self.joined)


def builder_parameters(
    store: Store,
    wanted: Wanted,
    outcomes: WantedOutcomes | None = None,
    together: Sequence[str] = (),
) -> dict[str, str]:
    """Return the parameters of the builder with which a remix is made of the annotations that are wanted.

    They are its conditions where it has them, else a query in SPARQL. `outcomes` are those that systems have on the
    dataset, as `remix annotate` and `remix run add` keep them. Where the list is of several datasets `together`, of
    which texts that they share count once, `wanted` names none.
    Raises `UsageError` for a part that no query can say, and where queries do not see what the list is by.
    """
    _refuse_unstored(store, wanted, together)
    terms = outcomes.terms if outcomes is not None else []
    asked = _Query(joined=bool(terms))
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
    if outcomes is not None:
        _refuse_without_outcomes(store, outcomes, together or [wanted.dataset])
    # What narrows most is written first.
    asked.lines[:0] = [one.pattern for one in terms]
    # A list over several datasets has each of their editions of a text, and so has the remix.
    where = {"dataset": dataset} if dataset else {"edition": EACH}
    if asked.said and not asked.lines:
        return {**where, **asked.fields}
    return {**where, "sparql": asked.compose()}


def list_selected(
    store: Store, wanted: Wanted, outcomes: WantedOutcomes, datasets: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what the query of `builder_parameters` selects of these datasets, and what of it the remix has.

    Either are rows of `list_members`; the remix has one edition of each text.
    """
    rows = list_members(store, wanted).filter(pl.col("dataset").is_in([*datasets]))
    for one in outcomes.terms:
        rows = one.keep(rows, store, datasets)
    if len(datasets) < 2:
        return rows, rows
    editions = Editions.of([*datasets], datasets, ())
    out = editions.others(frames_of(store), rows["document"].unique())["document"]
    return rows, rows.filter(~pl.col("document").is_in(out.implode()))


def _refuse_without_outcomes(store: Store, outcomes: WantedOutcomes, datasets: Sequence[str]) -> None:
    """Raise `UsageError` where outcomes are not stored beside each dataset as they are wanted.

    So it is with a system that is registered on a remix's origin alone, and with another matching.
    """
    terms = outcomes.terms
    systems, of_classes = (
        dict.fromkeys(name for one in terms for name in one.systems),
        any(one.classes for one in terms),
    )
    held = {
        (system, entry.name): systems_of(entry).get(system)
        for system in systems
        for entry in map(store.dataset, datasets)
    }
    if lacking := [pair for pair, signature in held.items() if signature is None]:
        names, where = _name_each(lacking)
        how = _say_what_stores_first(store, lacking, outcomes)
        raise UsageError(f"queries see what is stored, and no outcomes of {names} are stored beside {where}: {how}")
    stored = {pair: Signature.parse(signature).fields for pair, signature in held.items() if signature is not None}
    by = {pair: fields.get("matching", outcomes.matching) for pair, fields in stored.items()}
    if others := [pair for pair, matching in by.items() if matching != outcomes.matching]:
        names = " and ".join(sorted({by[pair] for pair in others}))
        raise UsageError(
            f"queries see what is stored, and the outcomes of {_name_pairs(others)} are those by {names} matching: "
            f"{_say_what_stores(others, outcomes)} keeps those by {outcomes.matching} in their place"
        )
    without = [pair for pair, fields in stored.items() if "neleval" not in fields.get("errors", "").split(",")]
    if of_classes and without:
        raise UsageError(
            f"queries see what is stored, and the outcomes of {_name_pairs(without)} are without the classes of "
            f"neleval: {_say_what_stores(without, outcomes)} keeps those with them"
        )
    earlier = [pair for pair, fields in stored.items() if not is_of_this_form(fields)]
    if earlier:
        raise UsageError(
            f"queries see what is stored, and the outcomes of {_name_pairs(earlier)} are those of an earlier version, "
            "which may be other ones: "
            f"{_say_what_stores(earlier, outcomes)} keeps those of this version, and the next `remix query` or "
            "`remix build` makes all of them anew"
        )


def _name_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return which systems and datasets these are: one by one, of more how many.

    >>> _name_pairs([("a", "news"), ("b", "news")]), _name_pairs([("a", "x"), ("a", "y"), ("a", "z")])
    ('a and b beside news', 'a beside x, y, z')
    """
    return " beside ".join(_name_each(pairs))


def _name_each(pairs: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return which systems these are, and which datasets."""
    systems, datasets = ([*dict.fromkeys(pair[part] for pair in pairs)] for part in (0, 1))
    on = ", ".join(datasets) if len(datasets) <= _NAMED else f"{len(datasets)} datasets"
    return " and ".join(systems), on


def _say_what_stores_first(store: Store, pairs: Sequence[tuple[str, str]], outcomes: WantedOutcomes) -> str:
    """Return the commands that store outcomes where there are none.

    They are made of the answers to a dataset. A remix that has none of its own is scored by those to its origin, which
    nothing stores beside it.
    """
    known = {(one.run.system, one.run.dataset) for one in known_runs(store)}
    answered = [pair for pair in pairs if pair in known]
    told = [f"{_say_what_stores(answered, outcomes)} does so"] if answered else []
    for system, dataset in pairs:
        if (system, dataset) not in known:
            command = shlex.join(["remix", "run", "add", system, "FILE", "--on", dataset])
            told.append(f"`{command}` registers answers to {dataset} itself, and stores theirs")
    return ", and ".join(told)


def _say_what_stores(pairs: Sequence[tuple[str, str]], outcomes: WantedOutcomes) -> str:
    """Return the one command that stores the outcomes of these systems beside these datasets as they are wanted."""
    names, on = ([*dict.fromkeys(pair[part] for pair in pairs)] for part in (0, 1))
    return f"`{command_that_stores(on, names, outcomes.matching)}`"


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


def narrow_conditions(
    store: Store, conditions: Sequence[Condition], wanted: Wanted, datasets: Sequence[str] = ()
) -> str:
    """Return the query of the annotations that meet the conditions and are wanted by their type, entity and form.

    They are of these `datasets`, by default of all. Raises `UsageError` where queries do not see the type.
    """
    _refuse_unstored(store, wanted, datasets)
    asked = _Query([*conditions])
    _add_kind(store, asked, wanted)
    return asked.compose()


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
    asked.lines.insert(0, f"{{ {inner} }}")
    return asked.compose()


_SELECTED = {"?document", "?annotation"}


def _add_kind(store: Store, asked: _Query, wanted: Wanted) -> None:
    """Add of which type an annotation is, to what it links, and by which form."""
    facets = list_facets()
    if wanted.type == "NIL":
        asked.have(f"{_NIL} .")
    elif wanted.type in ("other", "untyped"):
        of_entity = " && ".join(f"!STRSTARTS(STR(?class), {quote(one)})" for one in (EL, RMX))
        typed = f"{facets['class'].pattern} FILTER ({of_entity})"
        if wanted.type == "untyped":
            asked.lack(typed)
        else:
            asked.have(typed) if asked.joined else asked.lines.append(f"FILTER EXISTS {{ {typed} }}")
            asked.lack(facets["type"].pattern)
        asked.lack(_NIL)
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
    column = slicing.asked.column
    facet = facets.get("class" if column in OF_CLASSES else column)
    of_gold = facet is None and column in (*OF_ANNOTATIONS, *OF_DOCUMENTS)
    if of_gold and column not in _SAID_BY_TRIPLES:
        command = shlex.join(["remix", "partition", "--by", wanted.by, "--to", "DIRECTORY"])
        raise UsageError(f"no query can select by {column}: `{command}` makes a remix of each part of what is loaded")
    part = find_part(slicing, wanted.part)
    if of_gold:
        _add_own(asked, column, part)
    elif facet is None or part.missing or (part.category is not None and facet.kind == "number"):
        asked.lines.append(where_of_part(slicing.asked, slicing.parts, part, joined=asked.joined))
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
_ROOM = 5000
"""Bytes of IRIs that an address has room for."""


_COARSE = tuple(name.capitalize() for name in COARSE_CLASSES)
"""The types to which classes map."""
_NIL = f'?annotation <{RMX}nil> "explicit"'
"""The pattern of an annotation that gold links to nothing, as `enrich` stores it."""


_SAID_BY_TRIPLES = ("is_nil", "surface_form")
"""The columns of every gold that a triple says."""


def _add_own(asked: _Query, column: str, part: Subset) -> None:
    """Add that an annotation is in a part of one of `_SAID_BY_TRIPLES`; raises `UsageError` where no triple has it."""
    if part.category is None:
        raise UsageError(f"no query can select what has no {column}")
    if column == "is_nil":
        asked.have(f"{_NIL} .") if part.category == "true" else asked.lack(_NIL)
    else:
        asked.lines.append(_where_of_form(part.category))


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
