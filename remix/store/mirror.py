"""Datasets of another endpoint: copied into a store of their own for the time of a command, and asked where they are.

What counts and measures documents needs all of them, in frames; so the triples of documents and annotations are
fetched, and read as a file of NIF would be. Queries go to the endpoint, and its answers name things as the copy does.

A dataset is what has documents (`hfts:referenceDocuments`), named by the end of its IRI; texts that none has are one
dataset, named after the host. Besides documents and annotations are fetched blank nodes that these lead to, and what is
called as the documents are (on one host, below one `urn:`), such as local resources; not what a knowledge base says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl

from remix.errors import BadInput, StoreError, UnknownName, UsageError
from remix.expressions import fill
from remix.files import default_name
from remix.formats.nif import CLASS, CONTEXT, DOCUMENT, GIVEN, REFERENCES, TEXT, TYPE
from remix.names import NIF, RMX, XSD
from remix.progress import moving, note
from remix.rdf.terms import iri
from remix.store import BASE_IRI, Store
from remix.store.endpoint import Endpoint, has_blank_nodes
from remix.store.index import with_subjects
from remix.store.missing import OF_RUNS
from remix.store.serialise import text_of
from remix.store.state import CLASSES
from remix.store.syntax import keywords, modern
from remix.store.tree import Node, NotUnderstood, parse, walk

_TRIPLE = ["s", "p", "o"]
_DATASETS = f"""SELECT DISTINCT ?dataset ?document WHERE {{
  {{ ?dataset {REFERENCES} ?document }} UNION
  {{ ?document a <{NIF}Context> ; {TEXT} ?text FILTER NOT EXISTS {{ ?other {REFERENCES} ?document }} }}
}}"""
_ANNOTATIONS = f"""SELECT DISTINCT ?s WHERE {{
  VALUES ?d {{ %s }} ?s {CONTEXT}|{DOCUMENT} ?d FILTER NOT EXISTS {{ ?s a <{RMX}Answer> }}
}}"""
_BLANK = """SELECT ?s ?p ?b ?q ?o WHERE { VALUES ?s { %s } ?s ?p ?b FILTER (isBlank(?b)) ?b ?q ?o }"""
_SPELLINGS = f"""SELECT ?s ?o WHERE {{
  VALUES ?s {{ %s }} GRAPH ?g {{ ?s {CLASS} ?o }} FILTER (STRENDS(STR(?g), "#{CLASSES}"))
}}"""
"""What `remix serve` states of classes besides: other spellings of those that are there, which nothing counts."""
_KNOWLEDGE = r"^<https?://([a-z-]+\.)*(dbpedia|wikidata|wikipedia|yago-knowledge|freebase)\.(org|com)/"
_HOME = r"^<((?:https?://[^/#>]+)|(?:[^:>]+:[^:/#>]*))"
"""The host of an IRI, or the beginning of one that has none."""
_DOUBLE = rf'^"([^"]*)"\^\^<{XSD}double>$'
"""A number that stores spell otherwise than we do: 0.0000012 for 1.2e-6, 1 for 1.0."""
_LIMITS = {"LIMIT", "OFFSET"}
_MOST = 1000
"""Rows that a query is given as VALUES at most: Virtuoso takes some thousands."""


class Mirror(Endpoint):
    """An endpoint whose datasets are copied into a `store`, and whose answers call things as that store does."""

    def __init__(self, address: str, folder: Path, *, timeout: float | None = None) -> None:
        super().__init__(address, timeout=timeout)
        self.store = Store(folder / "store")
        self._folder = folder
        self._answers = 0
        self._names = pl.DataFrame(schema={"theirs": pl.String, "ours": pl.String})
        self._whole = True

    def copy(self, datasets: Sequence[str] = ()) -> None:
        """Copy the datasets of these names, by default all, into the store.

        Raises `UnknownName` for one that the endpoint does not have, `StoreError` where it has none or as `frame`,
        and `UsageError` for two that call their documents alike.
        """
        held = self._list()
        for name in (name for name in datasets if name not in held):
            raise UnknownName("dataset at the endpoint", name, held)
        chosen = [name for name in held if name in datasets or not datasets]
        self._whole = len(chosen) == len(held)
        given = []
        with self.store.loading() as loading:
            for name in chosen:
                triples = self._fetch(name, *held[name])
                file = self._folder / f"{name}.nt"
                lines = triples.select(fill("{} {} {} .\n", *_TRIPLE)).to_series()
                file.write_text(str(lines.str.join("").item()), encoding="utf-8")
                try:
                    loaded = loading.load(file, name=name, format="nif")
                except BadInput as error:
                    if name in datasets or len(chosen) == 1:
                        raise StoreError(f"{name} at {self.address} {error.reason}") from None
                    note(f"{name} at {self.address} is left out: it {error.reason}")
                    continue
                if repairs := loaded.report.repairs:
                    said = ", ".join(f"{one.kind} ({one.count})" for one in repairs)
                    note(f"{name} at {self.address} was mended: {said}")
                given.append(_name_given(loaded.entry.iri, triples))
        if not given:
            raise StoreError(f"{self.address} has no dataset that could be read")
        self._names = _pair(pl.concat(given), self.store)
        twice = self._names.filter(pl.col("theirs").is_duplicated())
        if len(twice):
            some = " and ".join(twice.filter(theirs=twice["theirs"][0])["dataset"].sort().str.strip_prefix(BASE_IRI))
            raise UsageError(f"{some} have documents of the same IRIs at {self.address}: name the one that is meant")

    def frame(self, text: str, name: str = "the query") -> pl.DataFrame:
        """Return all solutions of a SELECT, documents and annotations as the store calls them.

        Where datasets were left at the endpoint its LIMIT and OFFSET would count what the others have. So what is cut,
        the query or a sub-select of it, is asked for whole, and its rows that name a document or annotation of the
        store are counted here. What cannot be counted so is told in `notes`.
        """
        if self._whole or not _LIMITS & set(keywords(text)):
            rows = super().frame(text, name)
        else:
            rows = self._count_own(text, name)
        return rows.with_columns(pl.all().replace(self._names["theirs"], self._names["ours"]))

    def _count_own(self, text: str, name: str) -> pl.DataFrame:
        """Return the solutions of a SELECT each LIMIT of which counts what the store has."""
        try:
            tree = parse(modern(text))
            text_of(tree)  # of whose parts queries are made
            if moved := {node.kind for node in walk(tree)} & {"GraphGraphPattern", "ServiceGraphPattern"}:
                raise NotUnderstood(moved.pop().removesuffix("GraphPattern").upper())
        except NotUnderstood as reason:
            self._tell(name, reason)
            return super().frame(text, name)

        def take(query: Node) -> pl.DataFrame:
            """Return the rows that a SELECT takes of those that name something of the store."""
            cut = query.get("limitoffset") or Node.of("")
            asked = query.but(limitoffset=None, datasetClause=tree.get("datasetClause"))
            rows = Endpoint.frame(self, text_of(Node("SelectQuery", asked.parts), check=False), name)
            own = rows.filter(pl.any_horizontal(pl.all().is_in(self._names["theirs"].implode()))) if cut.parts else rows
            begin, limit = int(cut.get("offset") or 0), cut.get("limit")
            return own[begin:][: None if limit is None else int(limit)]

        def put_values(node: Node) -> Node:
            """Return the rows of a sub-select that is cut in its place, and any other node as it is."""
            if node.kind != "SubSelect" or not node.get("limitoffset"):
                return node
            rows = take(node).fill_null("UNDEF")
            if not 0 < rows.height <= _MOST or has_blank_nodes(rows):
                self._tell(name, "a sub-select of no documents or annotations, of too many, or of blank nodes")
                return node
            values = Node.of("InlineData", var=tuple(f"?{one}" for one in rows.columns), value=tuple(rows.rows()))
            return Node.of("GroupGraphPatternSub", part=(values,))

        return take(tree.map(put_values))

    def _tell(self, name: str, reason: object) -> None:
        line = f"{name} has a LIMIT that counts what all datasets at {self.address} have ({reason})"
        self.notes += [line] if line not in self.notes else []

    def _graph(self, text: str, name: str) -> list[bytes]:
        """Return the triples that the endpoint itself makes, their subjects as the store calls them."""
        if not self._whole and _LIMITS & set(keywords(text)):
            self._tell(name, "its triples are made there")
        rows = with_subjects(line.decode() for line in super()._graph(text, name))
        ours = rows.with_columns(ours=pl.col("subject").replace(self._names["theirs"], self._names["ours"]))
        lines = ours.select(pl.col("ours") + pl.col("line").str.strip_prefix(pl.col("subject")))
        return lines.to_series().cast(pl.Binary).to_list()

    def _list(self) -> dict[str, tuple[str | None, pl.Series]]:
        """Return the datasets by name: the term of each and those of its documents."""
        rows = Endpoint.frame(self, _DATASETS, "the question for its datasets").drop_nulls("document")
        if rows.is_empty():
            raise StoreError(f"{self.address} holds no documents of NIF in its default graph")
        host = urlsplit(self.address).hostname or "endpoint"
        found: dict[str, tuple[str | None, pl.Series]] = {}
        for (dataset,), own in rows.sort("dataset", "document").partition_by("dataset", as_dict=True).items():
            stem = host if dataset is None else re.split("[:/#]", dataset[1:-1].rstrip("/#"))[-1]
            plain = stem if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,80}", stem, re.ASCII) else default_name(f"{stem}.ttl")
            number = next(n for n in range(1, len(found) + 2) if (f"{plain}-{n}" if n > 1 else plain) not in found)
            found[f"{plain}-{number}" if number > 1 else plain] = (dataset, own["document"])
        return dict(sorted(found.items()))

    def _fetch(self, name: str, dataset: str | None, documents: pl.Series) -> pl.DataFrame:
        """Return the triples of a dataset, subject by subject: s, p, o."""
        known = documents
        with moving(f"{name} of {self.address}", len(documents), " documents") as done:
            parts = [rows["s"] for rows in self.solutions(_ANNOTATIONS, documents.to_list(), ["s"])]
            done(len(documents))
        new = pl.concat([documents, *parts, pl.Series([dataset] if dataset else [], dtype=pl.String)]).unique()
        if new.str.starts_with("_:").any():
            raise StoreError(f"{self.address} has annotations without IRI in {name}, which cannot be asked about")
        homes = documents.str.extract(_HOME).unique()
        found = [pl.DataFrame(schema=dict.fromkeys(_TRIPLE, pl.String))]
        with moving(f"triples of {name}", len(new), " subjects") as done:
            while len(new):
                rows = self._triples_of(new)
                found.append(rows)
                done(len(new))
                known = pl.concat([known, new]).unique()
                homes = pl.concat([homes, rows.filter(p=GIVEN)["o"].str.extract(_HOME)]).unique()
                led = rows.filter(~pl.col("p").is_in([TYPE, CLASS, GIVEN, REFERENCES]))["o"].unique()
                led = led.filter(led.str.extract(_HOME).is_in(homes.drop_nulls().implode()))
                new = led.filter(~led.str.contains(_KNOWLEDGE) & ~led.is_in(known.implode()))
        every = pl.concat(found).filter(~pl.col("p").is_in([f"<{one}>" for one in OF_RUNS])).unique()
        classed = every.filter(p=CLASS)["s"].unique().to_list()
        spelt = [every.select("s", "o").clear(), *self.solutions(_SPELLINGS, classed, ["s", "o"])]
        every = every.join(pl.concat(spelt).with_columns(p=pl.lit(CLASS)), on=_TRIPLE, how="anti")
        number = pl.col("o").str.extract(_DOUBLE, 1).cast(pl.Float64, strict=False).cast(pl.String)
        said = fill(f'"{{}}"^^<{XSD}double>', "number")
        every = every.with_columns(number=number).select("s", "p", o=pl.coalesce(said, "o")).unique()
        # What is called alike in a file is told apart by its place: a name with a number comes after one without.
        return every.sort(pl.col("s").str.len_chars(), *_TRIPLE)

    def _triples_of(self, subjects: pl.Series) -> pl.DataFrame:
        """Return the triples of subjects, and those of the blank nodes that they lead to, under names of their own."""
        rows = pl.concat(self.triples_of(subjects.to_list())).unique()
        blank = rows.filter(pl.col("o").str.starts_with("_:"))["s"].unique()
        parts = [rows.filter(~pl.col("o").str.starts_with("_:"))]
        for found in self.solutions(_BLANK, blank.to_list(), ["s", "p", "b", "q", "o"]):
            self._answers += 1  # each has names of its own for them
            node = pl.col("b").str.replace("_:", f"_:b{self._answers}-", literal=True)
            parts.append(found.select("s", "p", o=node))
            parts.append(found.select(s=node, p="q", o="o").filter(~pl.col("o").str.starts_with("_:")))
        return pl.concat(parts)


def _name_given(dataset: str, triples: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, theirs and given: the IRI that each subject had in the file that it once came from."""
    said = (
        triples.filter(p=GIVEN)
        .unique("s")
        .select("s", given=pl.coalesce(iri(pl.col("o")), pl.col("o").str.strip_chars('"')))
    )
    subjects = triples.select("s").unique().join(said, on="s", how="left")
    return subjects.select(dataset=pl.lit(dataset), theirs="s", given=pl.coalesce("given", iri(pl.col("s"))))


def _pair(theirs: pl.DataFrame, store: Store) -> pl.DataFrame:
    """Return dataset, theirs and ours, terms for the same documents and annotations at the endpoint and in its copy."""
    frames = store.frames()
    ours = pl.concat(
        [
            frames.documents.select("dataset", "given", ours=fill("<{}>", "document")),
            frames.annotations.select("dataset", "given", ours=fill("<{}>", "annotation")),
        ]
    )

    def number(rows: pl.DataFrame, name: str) -> pl.DataFrame:
        """Number what has one given IRI in the order of its names, as `remix.formats.identifiers` gives them."""
        ordered = rows.sort("dataset", "given", pl.col(name).str.len_chars(), name)
        return ordered.with_columns(nth=pl.int_range(pl.len()).over("dataset", "given"))

    return number(theirs, "theirs").join(number(ours, "ours"), on=["dataset", "given", "nth"])
