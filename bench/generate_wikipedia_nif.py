"""Write NIF of the shape in which DBpedia publishes Wikipedia, and tables of a knowledge base that fits it.

    python bench/generate_wikipedia_nif.py 1000000 wikipedia --seed 1

Writes `nif-context_en.ttl.bz2` (a text per article) and `nif-text-links_en.ttl.bz2` (one triple a line, the triples
of a subject together, articles in another order than in the first file) and `kb/*.tsv`. Names and links follow Zipf's
law; texts have letters of several scripts, astral letters, quotes and escapes. The same seed gives the same triples.
"""

from __future__ import annotations

import argparse
import bz2
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
IDENT = "http://www.w3.org/2005/11/its/rdf#taIdentRef"
INTEGER = "http://www.w3.org/2001/XMLSchema#nonNegativeInteger"
DBR = "http://dbpedia.org/resource/"
LINKS, WORDS = 25, 180
"""Links and words of an article; a tenth of DBpedia's articles is longer than ten of these."""
BATCH = 4000
SYLLABLES = [
    "ba",
    "ne",
    "ti",
    "lo",
    "ru",
    "ka",
    "me",
    "só",
    "qua",
    "ström",
    "der",
    "zé",
    "łu",
    "東",
    "京",
    "мо",
    "ска",
    "αθ",
    "𝔄",
    "𐍈",
    "'n",
]


def words(count: int, draw: np.random.Generator) -> pl.Series:
    """Return different words of two to four syllables, each with a number in letters that tells it from the others."""
    parts = [pl.Series(np.array(SYLLABLES)[draw.integers(0, len(SYLLABLES), count)]) for _ in range(3)]
    number = pl.Series(range(count)).cast(pl.String).str.replace_many(list("0123456789"), list("aeiouyzvxw"))
    return parts[0] + parts[1] + number + parts[2]


@cache
def vocabulary(size: int, seed: int) -> tuple[pl.Series, pl.Series]:
    """Return the plain words of texts, and the names of entities: capitalised, some in two words, some with quotes."""
    draw = np.random.default_rng(seed)
    plain, names = words(20_000, draw), words(size, draw)
    kind = pl.Series(draw.integers(0, 20, size))
    second = plain.gather(draw.integers(0, len(plain), size))
    frame = pl.DataFrame({"name": names, "second": second, "kind": kind}).with_columns(
        pl.col("name").str.slice(0, 1).str.to_uppercase() + pl.col("name").str.slice(1)
    )
    two = pl.col("name") + " " + pl.col("second")
    named = pl.when(pl.col("kind") < 6).then(two).when(pl.col("kind") == 6).then(pl.col("name") + ' "x"')
    return plain, frame.select(named.otherwise("name")).to_series()


def zipf(draw: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Return so many places of a Zipf law (exponent 1) over `size` places."""
    return np.minimum((np.exp(draw.random(count) * np.log(size + 1)) - 1).astype(np.int64), size - 1)


def batch(numbers: tuple[int, int], size: int, seed: int) -> tuple[bytes, bytes]:
    """Return the compressed lines of the contexts and of the links of some articles."""
    plain, names = vocabulary(size, seed)
    first, last = numbers
    count = last - first
    draw = np.random.default_rng([seed, first])
    tokens = plain.gather(zipf(draw, len(plain), count * WORDS))
    # The text of a link is a name of its entity, one of ten times that of another one.
    entity = zipf(draw, size, count * LINKS)
    other = draw.random(count * LINKS) < 0.1
    form = np.where(other, entity // 2, entity)
    where = np.sort(np.argsort(draw.random((count, WORDS)), axis=1)[:, :LINKS], axis=1)
    rows = (np.arange(count)[:, None] * WORDS + where).ravel()
    texts = tokens.scatter(rows, names.gather(form))
    table = pl.DataFrame({"article": np.repeat(np.arange(first, last), WORDS), "token": texts})
    length = pl.col("token").str.len_chars().cast(pl.Int64)
    table = table.with_columns(end=(length + 1).cum_sum().over("article") - 1).with_columns(
        begin=pl.col("end") - length
    )
    articles = table.group_by("article", maintain_order=True).agg(text=pl.col("token").str.join(" "))
    page = pl.format(f"{DBR}Article_{{}}_{{}}?dbpv=2016-10&nif=", _title(names, "article"), "article")
    links = table.select("article", "token", "begin", "end")[rows].with_columns(entity=pl.Series(entity))
    links = links.with_columns(target=pl.format(f"{DBR}{{}}", _title(names, "entity")))
    return _compressed(context_lines(articles.with_columns(page=page))), _compressed(
        link_lines(links.with_columns(page=page).reverse())
    )


def _title(names: pl.Series, column: str) -> pl.Expr:
    titles = names.str.replace_all(" ", "_").str.replace_all('"', "%22")
    return pl.lit(titles).gather(pl.col(column) % len(names))


def _number(column: str) -> pl.Expr:
    return pl.format(f'"{{}}"^^<{INTEGER}>', column)


def _text(column: str) -> pl.Expr:
    return pl.format('"{}"', pl.col(column).str.replace_all('"', '\\"', literal=True))


def _lines(frame: pl.DataFrame, subject: str, triples: list[tuple[str, pl.Expr]]) -> pl.Series:
    lines = [pl.format(f"<{{}}> <{predicate}> {{}} .\n", subject, value) for predicate, value in triples]
    return frame.select(pl.concat_str(lines)).to_series()


def context_lines(articles: pl.DataFrame) -> pl.Series:
    """Return the triples of each article's text."""
    rows = articles.with_columns(iri=pl.col("page") + "context", begin=pl.lit(0), end=pl.col("text").str.len_chars())
    source = pl.format("<http://en.wikipedia.org/wiki/Article_{}>", "article")
    triples = [
        (f"{RDF}type", pl.lit(f"<{NIF}Context>")),
        (f"{NIF}beginIndex", _number("begin")),
        (f"{NIF}endIndex", _number("end")),
        (f"{NIF}sourceUrl", source),
        (f"{NIF}isString", _text("text")),
        (f"{NIF}predLang", pl.lit("<http://lexvo.org/id/iso639-3/eng>")),
    ]
    return _lines(rows, "iri", triples)


def link_lines(links: pl.DataFrame) -> pl.Series:
    """Return the triples of each link."""
    kind = pl.when(pl.col("token").str.contains(" ")).then(pl.lit("Phrase")).otherwise(pl.lit("Word"))
    span = pl.format("{}{}&char={},{}", "page", "kind", "begin", "end")
    rows = links.with_columns(kind=kind).with_columns(
        iri=span.str.replace("=Phrase&", "=phrase&").str.replace("=Word&", "=word&")
    )
    triples = [
        (f"{RDF}type", pl.format(f"<{NIF}{{}}>", "kind")),
        (f"{NIF}referenceContext", pl.format("<{}context>", "page")),
        (f"{NIF}beginIndex", _number("begin")),
        (f"{NIF}endIndex", _number("end")),
        (f"{NIF}superString", pl.format("<{}paragraph&char=0,100>", "page")),
        (IDENT, pl.format("<{}>", "target")),
        (f"{NIF}anchorOf", _text("token")),
    ]
    return _lines(rows, "iri", triples)


def _compressed(lines: pl.Series) -> bytes:
    # Streams one after another are one file, as parallel compressors write them.
    return bz2.compress(lines.str.join("").item().encode(), 1)


def batches(articles: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last number of each batch."""
    for first in range(0, articles, BATCH):
        yield first, min(first + BATCH, articles)


def generate(annotations: int, folder: Path, *, seed: int = 1, processes: int = 1) -> tuple[Path, Path]:
    """Write the files and return the two of the corpus: contexts and links."""
    folder.mkdir(parents=True, exist_ok=True)
    contexts, links = folder / "nif-context_en.ttl.bz2", folder / "nif-text-links_en.ttl.bz2"
    articles, size = max(1, annotations // LINKS), max(100, annotations // 10)
    waiting = list(batches(articles))
    with contexts.open("wb") as one, links.open("wb") as two, ProcessPoolExecutor(processes) as pool:
        for of_contexts, of_links in pool.map(batch, waiting, [size] * len(waiting), [seed] * len(waiting)):
            one.write(of_contexts)
            two.write(of_links)
    knowledge(folder / "kb", size, seed)
    return contexts, links


def knowledge(folder: Path, size: int, seed: int) -> None:
    """Write the tables of a knowledge base: four names an entity, eight links, a type for two of three."""
    folder.mkdir(exist_ok=True)
    _, names = vocabulary(size, seed)
    draw = np.random.default_rng([seed, 7])
    entities = pl.format(f"{DBR}{{}}", _title(names, "number"))
    numbers = pl.DataFrame({"number": np.tile(np.arange(size), 4)})
    shift = np.repeat([0, 1, 3, 11], size)
    forms = numbers.with_columns(form=names.gather((np.tile(np.arange(size), 4) + shift) % size))
    forms = forms.select(
        pl.col("form").str.replace_all('"', "'"), entity=entities, count=1 + pl.Series(shift[::-1].copy())
    )
    forms.with_columns(source=pl.lit("names")).write_csv(
        folder / "surface_forms.tsv", separator="\t", quote_style="never"
    )
    ends = pl.DataFrame({"number": zipf(draw, size, size * 8)}).select(target=entities)
    starts = pl.DataFrame({"number": np.tile(np.arange(size), 8)}).select(source_iri=entities)
    rows = starts.with_columns(ends["target"], count=pl.lit(1), source=pl.lit("pages"))
    rows.write_csv(folder / "links.tsv", separator="\t", quote_style="never")
    kinds = pl.Series(["Person", "Organisation", "Place", "Work", "Species"])
    typed = pl.DataFrame({"number": np.flatnonzero(np.arange(size) % 3)})
    types = typed.select(
        entity=entities, type=pl.lit("http://dbpedia.org/ontology/") + kinds.gather(typed["number"].to_numpy() % 5)
    )
    types.with_columns(source=pl.lit("types")).write_csv(folder / "types.tsv", separator="\t", quote_style="never")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotations", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print(*generate(options.annotations, options.folder, seed=options.seed, processes=options.processes))
