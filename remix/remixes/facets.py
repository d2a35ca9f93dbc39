"""Facets: columns that a remix is cut by, as SPARQL that `remix build` runs, and counted on frames in a moment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import polars as pl

from remix.dense import distinct
from remix.errors import StoreError, UnknownName
from remix.expressions import fill
from remix.frames import Frames
from remix.measures import MEASURES
from remix.measures.declaration import Summary, local, write_out
from remix.measures.enrichment import frames_of, stated_measures
from remix.measures.labels import label_of
from remix.measures.measured import Measured
from remix.names import ITSRDF, PREFIXES
from remix.rdf.iris import iri_of_entity
from remix.rdf.terms import quote
from remix.remixes.closure import Editions
from remix.store import Store
from remix.store.queries import Query
from remix.store.selection import Selection, select
from remix.store.syntax import NEVER_THE_SAME, keywords
from remix.store.worker import GuardedIndex
from remix.vocabularies import COARSE_CLASSES, COARSE_TYPE

_PREFIX_NAMES = ("nif", "itsrdf", "hfts", "rmx", "xsd")
_TYPES = {name.capitalize(): iri for name, iri in COARSE_CLASSES.items()}
_EVERY = "?annotation nif:referenceContext ?document ."
EDITIONS = "one edition of each text"
"""The last row of what is left where texts of several datasets count once."""
_LEARNT = {
    "systemAgreement": "share of the registered runs that find the annotation with its entity",
    "difficulty": "how often systems are expected to fail on the annotation (`remix enrich --difficulty`)",
}


@dataclass(frozen=True)
class Facet:
    """A column of annotations or documents (`level`): its term, what it means, and its kind.

    The kind is `number`, `boolean`, `string`, `class`, `type` (one of the coarse classes, by its name) or `language`.
    """

    name: str
    term: str
    level: str
    meaning: str
    kind: str

    @property
    def words(self) -> str:
        """Return what people call it, on every page in the same way.

        >>> list_facets()["type"].words, list_facets()["document.formAcronymShare"].words
        ('type', 'acronyms, of the document')
        >>> list_facets()["document.nilExplicitCount"].words
        'NIL mentions, number, of the document'
        """
        name = COARSE_TYPE if self.kind == "type" else self.name.removeprefix("document.")
        of = ", of the document"
        if (words := label_of(name).words) == name:
            share = label_of(name.removesuffix("Count")).words.removesuffix(of)
            words = words if share == name.removesuffix("Count") else f"{share}, number"
        return words if "." not in self.name or words.endswith(of) else f"{words}{of}"

    @property
    def variable(self) -> str:
        """Return the variable of SPARQL that holds its value."""
        return "?" + self.name.replace(".", "_")

    def read(self, *, tested: bool) -> str:
        """Return the pattern as a query of its own, for what is joined; where values are `tested` it asks for any."""
        pattern = f"?{self.level} {self.term} {self.variable} ." if tested and self.term else self.pattern
        return f"{{ SELECT ?{self.level} {self.variable} WHERE {{ {pattern} }} }}"

    @property
    def pattern(self) -> str:
        """Return the graph pattern that binds the variable."""
        if self.kind == "language":
            tagged = '?document nif:isString ?text . FILTER (LANG(?text) != "")'
            return f"{tagged} BIND (LCASE(LANG(?text)) AS {self.variable})"
        among = f" FILTER ({self.variable} IN ({', '.join(map(self.spell, _TYPES))}))" if self.kind == "type" else ""
        return f"?{self.level} {self.term} {self.variable} .{among}"

    def spell(self, value: str) -> str:
        """Return a value of a list as SPARQL has it."""
        if self.kind == "type":
            return f"<{_TYPES[value]}>"
        return {"boolean": value, "class": f"<{iri_of_entity(value)}>"}.get(self.kind, quote(value))


@dataclass(frozen=True)
class Condition:
    """What a facet's value has to be: from `low` to `high`, or `among` some; or `missing`, which is none at all."""

    facet: Facet
    low: float | None = None
    high: float | None = None
    among: tuple[str, ...] = ()
    missing: bool = False

    @property
    def is_none(self) -> bool:
        """Return whether only what has no value meets it."""
        return self.missing and not self.among and self.facet.kind != "number"

    def __str__(self) -> str:
        """Return it for people."""
        bounds = [f"{sign} {end:.6g}" for sign, end in (("≥", self.low), ("≤", self.high)) if end is not None]
        said = ", ".join(bounds) or " or ".join(value.rpartition("/")[2] for value in self.among)
        said = said or ("" if self.is_none else "any value")
        return f"{self.facet.name}: {' or '.join(filter(None, (said, 'no value' if self.missing else '')))}"


def _explain_statistic(summary: Summary, average: str) -> str:
    """Return what a statistic of a document means by an average: the number of what it is a share of, or itself."""
    if average != "count":
        return summary.meaning
    return re.sub(r"^share of |^(?=.* per annotation$)", "number of ", summary.meaning).removesuffix(" per annotation")


@cache
def list_facets() -> dict[str, Facet]:
    """Return the facets by name: the columns of measures, what is learnt of runs, class, language, those of documents.

    >>> list_facets()["pagerank"].pattern
    '?annotation hfts:pagerank ?pagerank .'
    """
    kinds = {"integer": "number", "double": "number"}
    found = [
        Facet(one.name, one.term, "annotation", one.meaning, kinds.get(one.kind, one.kind))
        for measure in MEASURES
        for one in measure.columns
    ]
    found += [Facet(name, f"rmx:{name}", "annotation", meaning, "number") for name, meaning in _LEARNT.items()]
    found.append(Facet("class", "itsrdf:taClassRef", "annotation", "class of the annotation or its entity", "class"))
    found.append(Facet("type", "itsrdf:taClassRef", "annotation", "coarse type: person, organisation, place", "type"))
    found.append(Facet("language", "", "document", "language of the text", "language"))
    found += [
        Facet(
            f"document.{local(term)}",
            term,
            "document",
            f"of the document: {_explain_statistic(one, average)}",
            "number",
        )
        for measure in MEASURES
        for one in measure.summaries
        for average in ("document", "count")
        for term in one.terms.get(average, ())
    ]
    return {facet.name: facet for facet in found}


def compose(conditions: Sequence[Condition], *, note: str = "", also: Sequence[str] = (), joined: bool = False) -> str:
    """Return the query that selects the annotations which meet all conditions, as a `.rq` file has it.

    Bounds are parameters of the query; `also` are further lines of its pattern. Where patterns are `joined` each is
    read once as a whole, as a query within the query. Else Oxigraph looks the next pattern up for each of what is left,
    in each of the graphs that a query is asked of: with those of runs this took 20 s where it takes 0.2 s.

    >>> print(compose([Condition(list_facets()["isRare"], among=("true",))]).partition("WHERE ")[2])
    {
      ?annotation nif:referenceContext ?document .
      ?annotation rmx:isRare ?isRare .
      FILTER (?isRare IN (true))
    }
    <BLANKLINE>
    """
    told, values, body = [], [], [f"{{ SELECT ?document ?annotation WHERE {{ {_EVERY} }} }}" if joined else _EVERY]
    for one in conditions:
        facet, tests = one.facet, []
        for end, word, sign, bound in (("min", "smallest", ">=", one.low), ("max", "largest", "<=", one.high)):
            if bound is not None:
                name = f"{end}_{facet.variable[1:]}"
                told.append(f"#+   {name}: {_quote_yaml(f'{word} {facet.name}, {facet.meaning}')}")
                values.append(f"VALUES ?{name} {{ {_number(bound)} }}")
                tests.append(f"xsd:double({facet.variable}) {sign} ?{name}")
        if one.among:
            tests.append(f"{facet.variable} IN ({', '.join(facet.spell(value) for value in one.among)})")
        body += _condition(one, " && ".join(tests), joined=joined)
    body += also
    summary = f"Annotations with {'; '.join(map(str, conditions))}" if conditions else "Every annotation"
    summary += " of those that further patterns select" if also else ""
    head = [f"#+ summary: {_quote_yaml(summary)}"]
    head += [f"#+ description: {_quote_yaml(note)}"] if note else []
    head += ["#+ tags: [composed]", *(["#+ params:", *told] if told else [])]
    head += [f"PREFIX {name}: <{PREFIXES[name]}>" for name in _PREFIX_NAMES if f"{name}:" in " ".join(body)]
    lines = "".join(f"  {line}\n" for line in (*values, *body))
    return "\n".join(head) + f"\nSELECT ?document ?annotation WHERE {{\n{lines}}}\n"


def _condition(condition: Condition, test: str, *, joined: bool) -> list[str]:
    pattern, variable = condition.facet.pattern, condition.facet.variable
    if joined and not condition.missing:
        pattern = condition.facet.read(tested=bool(condition.among))
    if condition.is_none:
        return [f"FILTER NOT EXISTS {{ {pattern} }}"]
    if condition.missing:
        return [f"OPTIONAL {{ {pattern} }}", *([f"FILTER (!BOUND({variable}) || ({test}))"] if test else [])]
    return [pattern, *([f"FILTER ({test})"] if test else [])]


def _number(value: float) -> str:
    """Return a number as SPARQL has it; a fraction is a double, as the values are, a decimal holds fewer digits."""
    text = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return text if text.lstrip("-").isdigit() or "e" in text else f"{text}e0"


def _quote_yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True)
class Narrowing:
    """What is left of all that is loaded, condition by condition.

    `left` has condition, documents, mentions, entities and `known`: of how many of the mentions before it the column of
    a condition has a value. `annotations` are those that the mentions of each of its rows are of. `datasets` has
    dataset, documents, kept_documents, annotations, kept, and `elsewhere`: of how many texts the edition of which other
    dataset is kept. A group of alternatives is one mention. `notes` are what the user should know.
    """

    left: pl.DataFrame
    annotations: Sequence[pl.Series]
    datasets: pl.DataFrame
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class _NarrowingStep:
    """What is left (`gold`) after a condition, in how many documents."""

    condition: str
    gold: pl.DataFrame
    documents: int
    known: int | None = None

    @property
    def row(self) -> dict[str, object]:
        """Return its row of the waterfall."""
        return {
            "condition": self.condition,
            "documents": self.documents,
            "mentions": self.gold["mention"].n_unique(),
            "entities": self.gold["entities"].explode().drop_nulls().n_unique(),
            "known": self.known,
        }


@dataclass(frozen=True, eq=False)
class FacetedCorpus:
    """All that is loaded, with the values of each facet: `annotation` or `document`, and `value`.

    `gold` are the annotations that are counted, with the number of their `mention` and of their `entities`. What the
    graphs of measures state is `measured`, or stands in `read`, with subject, term and object.
    """

    store: Store
    frames: Frames
    gold: pl.DataFrame
    measured: Measured | None
    read: pl.DataFrame

    @cached_property
    def datasets(self) -> list[str]:
        """Return the names of the datasets."""
        return self.frames.documents["dataset"].unique().sort().to_list()

    @cached_property
    def facets(self) -> dict[str, Facet]:
        """Return the facets that have any value."""
        read = self.read["term"].unique().cast(pl.String).str.strip_chars("<>")
        measured = self.measured.stated if self.measured is not None else ()
        terms = {*read, *measured, *self.frames.values["term"].unique(), f"{ITSRDF}taClassRef"}
        every = list_facets().items()
        return {name: facet for name, facet in every if not facet.term or write_out(facet.term) in terms}

    def values(self, facet: Facet) -> pl.DataFrame:
        """Return the values of a facet: `annotation` or `document`, and `value`, one row for each."""
        # Of this corpus: who still has it when the state is another must not leave its values to the next.
        return self.store.cached((self, facet.name), lambda: self._values(facet))

    def _values(self, facet: Facet) -> pl.DataFrame:
        documents = self.frames.documents
        if facet.kind == "language":
            tag = pl.col("language").str.to_lowercase().str.replace_all("_", "-")
            return documents.filter(pl.col("text").is_not_null(), tag != "").select("document", value=tag)
        term, key = write_out(facet.term), facet.level
        given = self.frames.values.filter(term=term)
        parts = [given.select("subject", value=pl.coalesce(pl.col("number").cast(pl.String), "text"))]
        if facet.kind in ("class", "type"):
            parts.append(self.frames.classes.select(subject="annotation", value="class"))
        text = pl.col("object").cast(pl.String).str.strip_suffix(" .")
        literal = text.str.extract('^"(.*)"')
        said = self.read.filter(pl.col("term") == f"<{term}>")
        subject = pl.col("subject").cast(pl.String).str.strip_chars("<>")
        parts.append(said.select(subject, value=pl.coalesce(literal, text.str.strip_chars("<>"))))
        if self.measured is not None and term in self.measured.stated:
            parts.append(self.measured.state(term))
        value = pl.Float64 if facet.kind == "number" else pl.String
        found = pl.concat(one.cast({"value": value}, strict=False) for one in parts).rename({"subject": key})
        known = (self.gold if key == "annotation" else documents).select(key)
        if facet.kind == "type":
            named = pl.col("value").replace_strict({iri: name for name, iri in _TYPES.items()}, default=None)
            found = found.with_columns(value=named)
        return found.drop_nulls().join(known, on=key, how="semi").unique(maintain_order=True)

    def count(
        self, conditions: Sequence[Condition], *, dataset: Sequence[str] = (), edition: Sequence[str] = ()
    ) -> Narrowing:
        """Return what is left after each condition, and of each dataset after all of them, as `remix build` has it.

        Raises `UnknownName` for a dataset or edition.
        """
        steps = self._begin(dataset)
        gold = in_datasets = steps[-1].gold
        steps.append(_NarrowingStep("annotations of texts", gold, gold["document"].n_unique()))
        for one in conditions:
            valued = pl.col(one.facet.level).is_in(self.values(one.facet)[one.facet.level].unique().implode())
            known = gold.filter(valued)["mention"].n_unique()
            gold = gold.filter(self._meets(one))
            steps.append(_NarrowingStep(str(one), gold, gold["document"].n_unique(), known))
        return self._finish(steps, in_datasets, gold["document"].unique(), dataset, edition)

    def count_query(
        self,
        query: Query,
        values: Mapping[str, object],
        set_from: str | None = None,
        dataset: Sequence[str] = (),
        edition: Sequence[str] = (),
    ) -> Narrowing:
        """Return what `count` does for any query that `remix build` takes, asked of the store.

        Raises as `remix.remixes.build` does for the query.
        """
        text = query.bind(values, set_from)
        if NEVER_THE_SAME.intersection(keywords(text)):
            found, notes = self._select(query.source, text, dataset)
        else:
            key = "selection", query.source, text, tuple(dataset)
            found, notes = self.store.cached(key, lambda: self._select(query.source, text, dataset), asked=True)
        steps = self._begin(dataset)
        in_datasets = steps[-1].gold
        # The first row of a query is what it is asked of, which stands there already.
        steps += [
            _NarrowingStep(said, in_datasets.filter(pl.col("annotation").is_in(annotations.implode())), documents)
            for (said, documents), annotations in zip(
                found.waterfall.select("condition", "documents").iter_rows(), found.left, strict=True
            )
        ][1:]
        gold = in_datasets.filter(pl.col("annotation").is_in(found.annotations.implode()))
        steps.append(_NarrowingStep("what the query selects", gold, len(found.documents)))
        return replace(self._finish(steps, in_datasets, found.documents, dataset, edition), notes=notes)

    def _select(self, source: str, text: str, dataset: Sequence[str]) -> tuple[Selection, list[str]]:
        """Return what a query selects, with what is left after each condition, and notes."""
        frames, names = self.frames, self.check(dataset)
        if dataset:
            frames = frames.keep(documents=frames.documents.filter(pl.col("dataset").is_in(names))["document"])
        graphs = [iri for one in names for iri in self.store.dataset(one).graphs()] if dataset else None
        opened = self.store.index()  # which keeps its generation there until the answers are
        with GuardedIndex(opened.path, graphs=graphs) as index:
            found = select(index, text, frames, name=source, explain=True)
        return found, [*found.notes, *index.notes]

    def check(self, dataset: Sequence[str]) -> list[str]:
        """Return the names of datasets; raises `UnknownName` for one that is not loaded."""
        if unknown := [one for one in dataset if one not in self.datasets]:
            raise UnknownName("dataset", unknown[0], self.datasets, "remix list datasets")
        return [*dataset]

    def _begin(self, dataset: Sequence[str]) -> list[_NarrowingStep]:
        """Return what there is, and what there is of the chosen datasets."""
        steps = [_NarrowingStep("everything loaded", self.gold, self.frames.documents.height)]
        if dataset:
            chosen = pl.col("dataset").is_in(self.check(dataset))
            texts = self.frames.documents.filter(chosen).height
            steps.append(_NarrowingStep("in the chosen datasets", self.gold.filter(chosen), texts))
        return steps

    def keep_editions(
        self, annotations: pl.Series, *, dataset: Sequence[str] = (), edition: Sequence[str] = ()
    ) -> pl.Series:
        """Return those of annotations that a remix of just these has: of a text of several datasets one edition's."""
        selected = self.gold.filter(pl.col("annotation").is_in(annotations.implode()))
        editions = Editions.of(self.datasets, dataset, edition)
        if len(dataset or self.datasets) > 1 and not editions.every:
            out = editions.others(self.frames, selected["document"].unique())["document"].implode()
            selected = selected.filter(~pl.col("document").is_in(out))
        return selected["annotation"]

    def _finish(
        self,
        steps: list[_NarrowingStep],
        in_datasets: pl.DataFrame,
        documents: pl.Series,
        dataset: Sequence[str],
        edition: Sequence[str],
    ) -> Narrowing:
        """Return what is left of those `in_datasets` after these steps, and of it one edition of each text."""
        gold = steps[-1].gold
        editions = Editions.of(self.datasets, dataset, edition)
        others = pl.DataFrame(schema=dict.fromkeys(("document", "dataset", "kept"), pl.String))
        if len(dataset or self.datasets) > 1 and not editions.every:
            others = editions.others(self.frames, documents)
            out = others["document"].implode()
            documents = documents.filter(~documents.is_in(out))
            gold = gold.filter(~pl.col("document").is_in(out))
            steps.append(_NarrowingStep(EDITIONS, gold, len(documents)))
        numbers = ("documents", "mentions", "entities", "known")
        schema = {"condition": pl.String, **dict.fromkeys(numbers, pl.Int64)}
        names = dataset or self.datasets
        texts = self.frames.documents.filter(pl.col("dataset").is_in(names)).select("document", "dataset")
        kept = texts.filter(pl.col("document").is_in(documents.implode()))
        table = texts.group_by("dataset").agg(documents=pl.len())
        for name, one in (("kept_documents", kept), ("annotations", in_datasets), ("kept", gold)):
            counted = pl.len() if name == "kept_documents" else pl.col("mention").n_unique()
            table = table.join(one.group_by("dataset").agg(counted.alias(name)), on="dataset", how="left")
        table = table.with_columns(pl.exclude("dataset").fill_null(0).cast(pl.Int64))
        told = others.group_by("dataset", "kept").len().sort("dataset", "kept")
        told = told.select("dataset", said=fill("{} in {}", "len", "kept"))
        told = told.group_by("dataset").agg(elsewhere=pl.col("said").str.join(", "))
        table = table.join(told, on="dataset", how="left").with_columns(pl.col("elsewhere").fill_null(""))
        table = table.sort("dataset")
        left = pl.DataFrame([one.row for one in steps], schema=schema)
        return Narrowing(left, [one.gold["annotation"] for one in steps], table)

    def _meets(self, condition: Condition) -> pl.Expr:
        rows, key = self.values(condition.facet), condition.facet.level
        value = pl.col("value")
        tests = [value >= condition.low] if condition.low is not None else []
        tests += [value <= condition.high] if condition.high is not None else []
        tests += [value.is_in(condition.among)] if condition.among else []
        found = rows.clear() if condition.is_none else rows.filter(*tests)
        inside = pl.col(key).is_in(found[key].unique().implode())
        return inside | ~pl.col(key).is_in(rows[key].unique().implode()) if condition.missing else inside


def corpus_of(store: Store) -> FacetedCorpus:
    """Return what is loaded with its facets, which is kept until the state is another.

    Raises `StoreError` where nothing is loaded.
    """
    return store.cached("facets", lambda: _read(store))


def _read(store: Store) -> FacetedCorpus:
    with store.hold_state():
        frames = frames_of(store)
        entries = store.datasets()
        measured = stated_measures(store)
    files = [file for entry in entries for file in entry.value_files(enrichment=measured is None)]
    # Without a text an annotation counts nowhere.
    gold = frames.annotations.filter(pl.col("ignorable").is_null()).join(
        frames.documents, on="document", how="semi", maintain_order="left"
    )
    codes = frames.links.select("annotation", entities=distinct(frames.links["entity"])[1])
    entities = codes.group_by("annotation").agg("entities")
    gold = gold.select("annotation", "document", "dataset", mention=pl.struct("document", "group").rank("dense")).join(
        entities, on="annotation", how="left", maintain_order="left"
    )
    return FacetedCorpus(store, frames, gold, measured, _read_terms(store, files))


def _read_terms(store: Store, files: Iterable[str]) -> pl.DataFrame:
    """Return subject, term and object of what the graphs of measures say by the terms of facets.

    Each is spelt once, however many triples have it, which takes a tenth of the memory: they are few. The spellings
    are of this frame alone and go with it.
    """
    wanted = {f"<{write_out(facet.term)}>" for facet in list_facets().values() if facet.term}
    words = pl.col("line").str.splitn(" ", 3).struct.rename_fields(["subject", "term", "object"])
    try:
        lines = pl.scan_lines([store.folder / file for file in files], name="line").select(words).unnest("line")
        spelt = (pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in ("subject", "term", "object"))
        found = lines.filter(pl.col("term").is_in(wanted)).with_columns(spelt)
        return found.collect() if files else _NOTHING
    except pl.exceptions.PolarsError as error:
        advice = f"`remix rebuild -w {store.folder}` takes out what is damaged and says what to compute again"
        raise StoreError(f"the measures of {store.folder} cannot be read ({error}): {advice}") from None


_NOTHING = pl.DataFrame(schema=dict.fromkeys(("subject", "term", "object"), pl.Categorical))
