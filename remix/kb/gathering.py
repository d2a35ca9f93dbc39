"""What an endpoint is asked in a vocabulary: all of the names and entities of datasets, and what they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from remix.endpoints.remote import Remote
from remix.endpoints.solutions import solutions
from remix.errors import StoreError
from remix.iris import canonical
from remix.kb.forms import normalise
from remix.kb.sources import Choices
from remix.kb.staging import ENTITIES, TABLES, Staging
from remix.kb.titles import RESOURCE, language_of, title
from remix.kb.vocabularies import VOCABULARIES, Question, Vocabulary
from remix.progress import moving
from remix.rdf.iris import is_legal
from remix.rdf.terms import text_term

__all__ = ["gather", "iri_terms", "literal_terms", "title_terms"]

_ROUNDS = 40
"""How far redirects and superclasses are followed; Wikidata's longest chains of classes are about half as long."""

_IN_ONE_LANGUAGE = {"labels": "entity", "sameas": "wikidata"}
"""Tables that take one row for each value of a column: sameas in the first language there is, labels in the first."""

_FLUSH = 500_000


def gather(remote: Remote, choices: Choices, staging: Staging) -> None:
    """Stage what an endpoint knows of the forms and entities that the choices ask for, in each vocabulary it uses.

    Raises `StoreError` where it uses none that is known.
    """
    if not remote.bound:
        raise StoreError(f"{remote.address} has no triples in its default graph")
    spoken = [vocabulary for vocabulary in VOCABULARIES if _speaks(remote, vocabulary)]
    if not spoken:
        known = ", ".join(VOCABULARIES.names())
        raise StoreError(f"{remote.address} uses none of the vocabularies that are known: {known}")
    entities = canonical(choices.entities).cast(pl.String).drop_nulls().unique().sort()
    forms = choices.forms.cast(pl.String).drop_nulls().unique().sort()
    legal = entities.to_frame("iri").select(is_legal(pl.col("iri"))).to_series()
    staging.problem("entities that are no IRI", int((~legal).sum()), entities.filter(~legal), place=remote.address)
    for vocabulary in spoken:
        start = {"forms": forms, "entities": entities.filter(legal)}
        _Gathering(remote, vocabulary, choices.languages, staging).run(start)


def _speaks(remote: Remote, vocabulary: Vocabulary) -> bool:
    patterns = " UNION ".join(f"{{ SELECT ?s WHERE {{ {pattern} }} LIMIT 1 }}" for pattern in vocabulary.speaks)
    return bool(remote.select(f"{vocabulary.prologue}\nSELECT ?s WHERE {{ {patterns} }}", ["s"]).rows.height)


class _Gathering:
    """Asks all questions of a vocabulary, and again about what they find, until nothing new is found."""

    def __init__(self, remote: Remote, vocabulary: Vocabulary, languages: Sequence[str], staging: Staging) -> None:
        self.remote = remote
        self.vocabulary = vocabulary
        self.languages = [*languages, *vocabulary.languages]
        self.first = [*languages[:1], *vocabulary.languages]
        self.staging = staging

    def run(self, start: Mapping[str, pl.Series]) -> None:
        """Stage what is known of the keys to start with, by kind, and of what is found from them."""
        known = {kind: pl.Series(kind, [], dtype=pl.String) for kind in ("forms", "entities", "classes")}
        new = {kind: start.get(kind, keys) for kind, keys in known.items()}
        for _ in range(_ROUNDS):
            found: dict[str, list[pl.Series]] = {kind: [] for kind in known}
            for question in self.vocabulary.questions:
                kind = "entities" if question.about == "titles" else question.about
                for more, keys in self._ask(question, new[kind]):
                    found[more].append(keys)
            known = {kind: pl.concat([known[kind], new[kind].alias(kind)]) for kind in known}
            new = {kind: self._new(kind, found[kind], known[kind]) for kind in known}
            if not any(len(keys) for keys in new.values()):
                return
        for kind, keys in new.items():
            self.staging.problem(f"{kind} more than {_ROUNDS} steps away", len(keys), keys, place=self.remote.address)

    def _new(self, kind: str, found: Sequence[pl.Series], known: pl.Series) -> pl.Series:
        keys = pl.concat([known.clear(), *(each.alias(kind) for each in found)])
        frame = keys.alias("key").to_frame().unique().filter(is_legal(pl.col("key")))
        return frame.join(known.alias("key").to_frame(), on="key", how="anti").sort("key")["key"]

    def _ask(self, question: Question, keys: pl.Series) -> Iterator[tuple[str, pl.Series]]:
        """Stage what a question gives about some keys; return the kinds and the keys that it finds."""
        terms = self._terms(question, keys)
        chunks = [terms[begin : begin + question.chunk] for begin in range(0, len(terms), question.chunk)]
        rows: list[pl.DataFrame] = []
        what = f"{self.vocabulary.name}: {question.name} of {question.about} by {question.key}"
        with moving(what, len(terms), " names") as done:
            for chunk in chunks:
                for answer in self._solutions(question, chunk):
                    rows.append(answer)
                    yield from ((kind, self._keys(answer[name], kind)) for name, kind in question.finds.items())
                if sum(answer.height for answer in rows) > _FLUSH:
                    self._stage(question, pl.concat(rows))
                    rows = []
                done(len(chunk))
        if rows:
            self._stage(question, pl.concat(rows))

    def _terms(self, question: Question, keys: pl.Series) -> list[str]:
        if question.about == "forms":
            return literal_terms(keys, self.languages, untagged=question.untagged, suffixes=question.suffixes)
        fitting = keys.filter(keys.str.contains(question.of)) if question.of else keys
        if question.about == "entities" and not question.of:
            fitting = fitting.to_frame("key").filter(self.vocabulary.is_entity(pl.col("key")))["key"]
        return title_terms(fitting) if question.about == "titles" else iri_terms(fitting)

    def _solutions(self, question: Question, chunk: list[str]) -> Iterator[pl.DataFrame]:
        def leave_out_key(key: str, count: int) -> None:
            kind = f"{question.name} of {question.key}: more than {question.most:,} rows, left out"
            self.staging.problem(kind, 1, [f"{key} has {count:,}"], place=self.remote.address)

        def select(terms: Sequence[str]) -> str:
            return question.select(terms, self.languages)

        return solutions(
            self.remote,
            self.vocabulary.prologue,
            select,
            chunk,
            question.variables,
            most=question.most,
            left_out=leave_out_key,
        )

    def _keys(self, values: pl.Series, kind: str) -> pl.Series:
        """Return the keys of a kind among values: entities canonical, and those of the vocabulary alone."""
        values = values.drop_nulls().unique()
        if kind != "entities":
            return values
        return canonical(values).to_frame("key").filter(self.vocabulary.is_entity(pl.col("key")))["key"]

    def _stage(self, question: Question, rows: pl.DataFrame) -> None:
        for table, columns in question.fills.items():
            chosen = rows
            if table in _IN_ONE_LANGUAGE and "language" in rows.columns:
                tags = list(dict.fromkeys(self.first if table == "labels" else self.languages))
                order = pl.col("language").replace_strict(tags, range(len(tags)), default=None)
                chosen = rows.with_columns(_order=order).drop_nulls("_order").sort("_order", *question.variables)
                chosen = chosen.unique(_IN_ONE_LANGUAGE[table], keep="first", maintain_order=True)
            made = chosen.select(
                (pl.col(value) if isinstance(value, str) else value).alias(name) for name, value in columns.items()
            )
            self._write(table, made, question.name)

    def _write(self, table: str, rows: pl.DataFrame, source: str) -> None:
        if table == "demonyms" and rows.schema["demonym"] == pl.List(pl.String):  # several in one text
            rows = rows.explode("demonym").with_columns(pl.col("demonym").str.strip_chars())
        iris = sorted({*ENTITIES[table]} & set(rows.columns))
        rows = rows.drop_nulls().with_columns(canonical(rows[name]) for name in iris)
        if iris and table != "sameas":
            rows = rows.filter(self.vocabulary.is_entity(pl.col(name)) for name in iris)
        if table == "scores":
            rows = self._scores(rows)
        named = "origin" if "origin" in TABLES[table] else "source"
        if named not in rows.columns:
            rows = rows.with_columns(pl.lit(source).alias(named))
        rows = rows.unique()
        self.staging.write(table, rows.sort(rows.columns))

    def _scores(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return one number for each entity, the largest where several are published; report what is none."""
        read = rows.with_columns(number=pl.col("pagerank").cast(pl.Float64, strict=False))
        wrong = read.filter(pl.col("number").is_null() | ~pl.col("number").is_finite())
        self.staging.problem("ranks that are no number", wrong.height, wrong["pagerank"], place=self.remote.address)
        return (
            read.join(wrong, on=["entity", "pagerank"], how="anti")
            .group_by("entity")
            .agg(pl.col("number").max().alias("pagerank"))
        )


def iri_terms(keys: pl.Series) -> list[str]:
    """Return IRIs as terms, in their order without repeats.

    The canonical form has a question mark in a title; DBpedia writes it encoded, so both are asked for.

    >>> iri_terms(pl.Series(["http://dbpedia.org/resource/Who?"]))
    ['<http://dbpedia.org/resource/Who?>', '<http://dbpedia.org/resource/Who%3F>']
    """
    encoded = pl.when(pl.col("key").str.contains(RESOURCE)).then(
        pl.col("key").str.replace_all("?", "%3F", literal=True)
    )
    spelled = pl.concat_list("key", pl.coalesce(encoded, "key"))
    rows = keys.alias("key").to_frame().select(spelled.explode(empty_as_null=False).alias("key"))
    return rows.select("<" + pl.col("key").unique(maintain_order=True) + ">").to_series().to_list()


def literal_terms(
    forms: pl.Series, languages: Sequence[str], *, untagged: bool = False, suffixes: Mapping[str, str] | None = None
) -> list[str]:
    """Return the literals that a surface form can be the text of, in every language, sorted without repeats.

    Names are compared casefolded, and an endpoint finds only what is written exactly so: each form is looked for as
    given, with its first letter upper case, all lower, all upper and in title case.

    >>> literal_terms(pl.Series(["new_york"]), ["en"])
    ['"NEW YORK"@en', '"New York"@en', '"New york"@en', '"new york"@en']
    """
    form = normalise(pl.col("form"), case_sensitive=True)
    first = form.str.slice(0, 1).str.to_uppercase() + form.str.slice(1)
    cases = [form, first, form.str.to_lowercase(), form.str.to_uppercase(), form.str.to_titlecase()]
    spelled = forms.alias("form").to_frame().select(pl.concat_list(cases).explode(empty_as_null=False).alias("form"))
    spelled = spelled.filter(pl.col("form") != "").unique().sort("form")
    endings = {tag: ["", *([suffixes[tag]] if suffixes and tag in suffixes else [])] for tag in languages}
    tagged = [text_term(pl.col("form") + ending) + f"@{tag}" for tag, each in endings.items() for ending in each]
    every = [*tagged, *([text_term(pl.col("form"))] if untagged else [])]
    return spelled.select(pl.concat_list(every).explode(empty_as_null=False)).to_series().to_list()


def title_terms(entities: pl.Series) -> list[str]:
    """Return the titles of the articles that DBpedia resources stand for, in their language.

    >>> title_terms(pl.Series(["http://dbpedia.org/resource/New_York", "http://de.dbpedia.org/resource/Köln"]))
    ['"New York"@en', '"Köln"@de']
    """
    term = text_term(title(pl.col("iri"))) + "@" + language_of(pl.col("iri"))
    return entities.alias("iri").to_frame().select(term).to_series().to_list()
