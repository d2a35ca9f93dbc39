"""A SPARQL endpoint, asked for what the measures need of the surface forms and entities of loaded datasets.

What is asked is the affair of `remix.kb.vocabularies`: candidates of each surface form; of these and of the entities
of the datasets the names, redirects, disambiguation pages, types with their superclasses, sameAs, links in and out,
and published PageRank. How it is asked: see `remix.endpoints`; `REMIX_ENDPOINT_RATE` (requests a second, 5),
`REMIX_ENDPOINT_TIMEOUT` (seconds, 60) and `REMIX_ENDPOINT_TRIES` (5) change it. Answers stay in the folder `endpoints`
of the cache until a build with `--refresh` asks for them afresh.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl

from remix.connections import check_address, without_secrets
from remix.endpoints import Manners, Remote, solutions
from remix.errors import Error, StoreError, UsageError
from remix.files import write_whole
from remix.iris import canonical
from remix.kb.forms import normalise
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import ENTITIES, TABLES, Staging
from remix.kb.titles import RESOURCE, language_of, title
from remix.kb.vocabularies import VOCABULARIES, EndpointQuery, Vocabulary, kind_of
from remix.progress import moving
from remix.rdf.iris import is_legal
from remix.rdf.terms import text_term
from remix.signature import content_hash

_ROUNDS = 40
"""How far redirects and superclasses are followed; Wikidata's longest chains of classes are about half as long."""
_IN_ONE_LANGUAGE = {"labels": "entity", "sameas": "wikidata"}
"""Tables that take one row for each value of a column: sameas in the first language there is, labels in the first."""
_FLUSH = 500_000
_REFRESHING = "refreshing"
"""A file beside the answers until all are there that a refreshing asks for."""


def _parts(place: str, choices: Choices) -> list[Part]:
    """Return the one part that an endpoint is.

    Its fingerprint is a hash of address, forms, entities, languages, questions, and of the moment when its first
    answer was kept: an endpoint's data change, and nothing tells when. So whoever goes on from kept answers, or
    builds from them again, gets the same version; without them it is another.
    """
    check_address(place)
    if not len(choices.forms) and not len(choices.entities):
        raise UsageError(f"{without_secrets(place)} is asked about datasets: name loaded ones with --for")
    manners = Manners.of_environment()
    cache = choices.cache / "endpoints" / content_hash(place)[:16] if choices.cache else None
    if cache and choices.refresh:
        _discard(cache)
    begun = _begin(cache)
    asked = [_distinct(choices.forms), _distinct(choices.entities), choices.languages]
    questions = [repr(vocabulary) for vocabulary in VOCABULARIES]

    def read(staging: Staging) -> None:
        _gather(Remote(place, manners, cache), choices, staging)
        if cache:
            (cache / _REFRESHING).unlink(missing_ok=True)

    return [
        Part(
            name=urlsplit(place).netloc.rpartition("@")[2],
            fingerprint=content_hash(repr([place, begun, [list(names) for names in asked], questions])),
            read=read,
            place=without_secrets(place),
            date=begun[:10],
            licence=_licence(place),
        )
    ]


def _discard(cache: Path) -> None:
    """Remove the answers of an endpoint, but those of a refreshing that was interrupted, which goes on."""
    if (cache / _REFRESHING).exists():
        return
    stale = cache.with_name(f"{cache.name}.stale")
    shutil.rmtree(stale, ignore_errors=True)
    if cache.exists():
        cache.rename(stale)
    with write_whole(cache / _REFRESHING):
        pass
    shutil.rmtree(stale, ignore_errors=True)


def _begin(cache: Path | None) -> str:
    """Return the moment when an endpoint was first asked, by a file beside its answers."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if cache is None:
        return now
    file = cache / "begun"
    if not file.exists():
        with write_whole(file) as stream:
            stream.write(now.encode())
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"{file} cannot be read: {error.strerror or error}") from None


def _licence(place: str) -> str:
    host = urlsplit(place).hostname or ""
    known = [v.licence for v in VOCABULARIES if v.host and (host == v.host or host.endswith(f".{v.host}"))]
    return known[0] if known else ""


def _distinct(names: pl.Series) -> pl.Series:
    return names.cast(pl.String).drop_nulls().unique().sort()


def _gather(remote: Remote, choices: Choices, staging: Staging) -> None:
    """Stage what an endpoint knows of the forms and entities that the choices ask for, in each vocabulary it uses.

    Raises `StoreError` where it uses none that is known.
    """
    if not remote.bound:
        raise StoreError(f"{remote.address} has no triples in its default graph")
    spoken = [vocabulary for vocabulary in VOCABULARIES if _speaks(remote, vocabulary)]
    if not spoken:
        known = ", ".join(VOCABULARIES.names())
        raise StoreError(f"{remote.address} uses none of the vocabularies that are known: {known}")
    entities = _distinct(canonical(choices.entities))
    legal = entities.to_frame("iri").select(is_legal(pl.col("iri"))).to_series()
    staging.problem("entities that are no IRI", int((~legal).sum()), entities.filter(~legal), place=remote.address)
    for vocabulary in spoken:
        start = {"forms": _distinct(choices.forms), "entities": entities.filter(legal)}
        _Gathering(remote, vocabulary, choices.languages, staging).run(start)


def _speaks(remote: Remote, vocabulary: Vocabulary) -> bool:
    patterns = " UNION ".join(f"{{ SELECT ?s WHERE {{ {pattern} }} LIMIT 1 }}" for pattern in vocabulary.speaks)
    return bool(remote.select(f"{vocabulary.prologue}\nSELECT ?s WHERE {{ {patterns} }}", ["s"]).rows.height)


def _new_keys(answers: Sequence[pl.Series], asked: pl.Series) -> pl.Series:
    """Return the keys in answers that were not asked about yet, those that a query can name, sorted."""
    keys = pl.concat([asked.clear().alias("key"), *(answer.alias("key") for answer in answers)])
    frame = keys.to_frame().unique().filter(is_legal(pl.col("key")))
    return frame.join(asked.alias("key").to_frame(), on="key", how="anti").sort("key")["key"]


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
        asked = {kind: pl.Series(kind, [], dtype=pl.String) for kind in ("forms", "entities", "classes")}
        new = {kind: start.get(kind, keys) for kind, keys in asked.items()}
        for _ in range(_ROUNDS):
            answers: dict[str, list[pl.Series]] = {kind: [] for kind in asked}
            for question in self.vocabulary.questions:
                answers[kind_of(question.finds)] += self._ask(question, new[kind_of(question.key)])
            asked = {kind: pl.concat([asked[kind], new[kind].alias(kind)]) for kind in asked}
            new = {kind: _new_keys(answers[kind], asked[kind]) for kind in asked}
            if not any(len(keys) for keys in new.values()):
                return
        for kind, keys in new.items():
            self.staging.problem(f"{kind} more than {_ROUNDS} steps away", len(keys), keys, place=self.remote.address)

    def _ask(self, question: EndpointQuery, keys: pl.Series) -> Iterator[pl.Series]:
        """Stage what a question gives about some keys; return the keys that it finds."""

        def leave_out_key(key: str, count: int) -> None:
            kind = f"{question.name} of {question.key}: more than {question.most:,} rows, left out"
            self.staging.problem(kind, 1, [f"{key} has {count:,}"], place=self.remote.address)

        terms, select = self._terms(question, keys), partial(question.select, languages=self.languages)
        rows: list[pl.DataFrame] = []
        with moving(f"{self.vocabulary.name}: {question.name} by {question.key}", len(terms), " names") as done:
            for begin in range(0, len(terms), question.chunk):
                chunk = terms[begin : begin + question.chunk]
                asking = self.remote, self.vocabulary.prologue, select, chunk, question.variables
                for answer in solutions(*asking, most=question.most, left_out=leave_out_key):
                    rows.append(answer)
                    if question.finds:
                        yield self._keys(answer[question.finds], kind_of(question.finds))
                if sum(answer.height for answer in rows) > _FLUSH:
                    self._stage(question, pl.concat(rows))
                    rows = []
                done(len(chunk))
        if rows:
            self._stage(question, pl.concat(rows))

    def _terms(self, question: EndpointQuery, keys: pl.Series) -> list[str]:
        if question.key == "form":
            return literal_terms(keys, self.languages, untagged=question.untagged, suffixes=question.suffixes)
        fitting = (
            keys.filter(keys.str.contains(question.of)) if question.of else self._keys(keys, kind_of(question.key))
        )
        return title_terms(fitting) if question.key == "title" else iri_terms(fitting)

    def _keys(self, values: pl.Series, kind: str) -> pl.Series:
        """Return the keys of a kind among values: entities canonical, and those of the vocabulary alone."""
        values = values.drop_nulls().unique(maintain_order=True)
        if kind != "entities":
            return values
        return canonical(values).to_frame("key").filter(self.vocabulary.is_entity(pl.col("key")))["key"]

    def _stage(self, question: EndpointQuery, rows: pl.DataFrame) -> None:
        for table, columns in question.fills.items():
            chosen = rows
            if table in _IN_ONE_LANGUAGE and "language" in rows.columns:
                tags = list(dict.fromkeys(self.first if table == "labels" else self.languages))
                order = pl.col("language").replace_strict(tags, range(len(tags)), default=None)
                chosen = rows.with_columns(_order=order).drop_nulls("_order").sort("_order", *question.variables)
                chosen = chosen.unique(_IN_ONE_LANGUAGE[table], keep="first", maintain_order=True)
            self._write(table, chosen.select(**columns), question.name)

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
        self.staging.write(table, rows.unique().sort(rows.columns))

    def _scores(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return one number for each entity, the largest where several are published; report what is none."""
        read = rows.with_columns(number=pl.col("pagerank").cast(pl.Float64, strict=False))
        sound = pl.col("number").is_finite().fill_null(False)
        wrong = read.filter(~sound)["pagerank"]
        self.staging.problem("ranks that are no number", len(wrong), wrong, place=self.remote.address)
        return read.filter(sound).group_by("entity").agg(pagerank=pl.col("number").max())


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


SOURCE = Source("endpoint", "A SPARQL endpoint, asked for what loaded datasets need (--for)", _parts)
