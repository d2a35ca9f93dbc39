"""Write synthetic dumps of the sizes and formats of DBpedia's, of Wikidata's and of anchor statistics.

    python bench/generate_dumps.py dumps --rows 20000000 --only labels,redirects,disambiguations
    python bench/generate_dumps.py dumps --links 200000000 --nodes 12000000 --only links --suffix .ttl.zst

`--rows` is the number of rows of labels, redirects and disambiguations together; the other files have the proportions
of DBpedia. Names follow Zipf's law, links a power law; redirects have chains and a few cycles; names are of several
scripts, with astral characters, quotes and backslashes, part of them escaped. The same seed gives the same lines.
Batches are made and compressed by processes, as streams one after another, which are one file.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
import zstandard
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
BATCH = 200_000
WORDS = 6000
"""Names are pairs of words: 36 million different ones."""
DBR, DBO, OWL = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/", "http://www.w3.org/2002/07/owl#"
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"
ITEM, PROPERTY = "http://www.wikidata.org/entity/Q", "http://www.wikidata.org/prop/direct/P"
SKOS, SCHEMA, FOAF = "http://www.w3.org/2004/02/skos/core#", "http://schema.org/", "http://xmlns.com/foaf/0.1/"
SYLLABLES = [
    "ba",
    "ne",
    "ti",
    "lo",
    "ru",
    "ka",
    "me",
    "der",
    "ston",
    "ville",
    "ham",
    "ber",
    "lin",
    "son",
    "ton",
    "mar",
    "go",
    "pra",
    "fel",
    "quo",
    "wi",
]
FOREIGN = [
    *["só", "ström", "zé", "łu", "ñandú", "größ", "ça", "šť"],
    "東京",
    "Мос",
    "ква",
    "αθ",
    "القا",
    "दिल्",
    "𝔄",
    "𐍈",
    "🜚",
]
MARKS = ["'n", ", Jr.", '"Q"', "\\", "&", "!"]
CLASSES = 400
LANGUAGES = ("en", "de", "fr", "ja")


@dataclass(frozen=True)
class Sizes:
    """How many there are of each thing; names are numbered: entities, then redirects."""

    entities: int
    redirects: int
    pages: int
    disambiguations: int
    links: int
    items: int
    anchors: int
    seed: int


def uniform(numbers: Numbers, salt: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each number and salt, always the same (splitmix64)."""
    mixed = numbers.astype(np.uint64) + np.uint64((salt * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed >> np.uint64(11)) / 2.0**53


def skewed(draws: NDArray[np.float64], size: int, skew: float = 0.7) -> Numbers:
    """Return places below `size`, the place r drawn with a probability that falls with r to the power of `skew`."""
    return np.minimum((size * draws ** (1 / (1 - skew))).astype(np.int64), size - 1)


def zipf(draws: NDArray[np.float64], size: int) -> Numbers:
    """Return places below `size` of a Zipf law (exponent 1)."""
    return np.minimum(np.exp(draws * np.log(size + 1)).astype(np.int64) - 1, size - 1)


@cache
def vocabulary(seed: int) -> pl.DataFrame:
    """Return the words as they are spelt in IRIs, in literals (some escaped), in literals all escaped, and in text."""
    draw = np.random.default_rng(seed)
    kind = draw.random(WORDS)
    last = np.where(kind < 0.12, draw.choice(FOREIGN, WORDS), np.where(kind < 0.13, draw.choice(MARKS, WORDS), ""))
    number = pl.Series(range(WORDS)).cast(pl.String).str.replace_many(list("0123456789"), list("aeiouylnrs"))
    start = pl.Series(draw.choice(SYLLABLES, WORDS)).str.to_titlecase()
    plain = start + number + pl.Series(last)
    literal = plain.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
    escaped = [
        "".join(c if c < "\x7f" else f"\\u{ord(c):04X}" if ord(c) < 2**16 else f"\\U{ord(c):08X}" for c in word)
        for word in literal
    ]
    iri = plain.str.replace_all("\\", "%5C", literal=True).str.replace_many([" ", '"'], ["_", "%22"])
    mixed = pl.Series(escaped).zip_with(pl.Series(kind < 0.03), literal)
    return pl.DataFrame({"iri": iri, "literal": mixed, "escaped": escaped, "text": plain})


def names(numbers: Numbers, spelling: str, seed: int) -> pl.Series:
    """Return the name with each number."""
    words = vocabulary(seed)[spelling]
    first, second = words.gather(numbers % WORDS), words.gather(numbers // WORDS)
    between = pl.lit("_" if spelling == "iri" else " ")
    return pl.select(pl.concat_str(pl.lit(first), between, pl.lit(second))).to_series()


def forms(entities: Numbers, sizes: Sizes) -> Numbers:
    """Return the number of the name that each entity shares with others."""
    return zipf(uniform(entities, sizes.seed + 1), sizes.entities)


def titles(numbers: Numbers, spelling: str, sizes: Sizes) -> pl.Series:
    """Return the title of each page: every third entity has a shared name, with its own in parentheses."""
    own = names(numbers, spelling, sizes.seed)
    third = np.flatnonzero((numbers % 3 == 0) & (numbers < sizes.entities))
    shared = names(forms(numbers[third], sizes), spelling, sizes.seed)
    space = "_(" if spelling == "iri" else " ("
    told = pl.select(pl.concat_str(pl.lit(shared), pl.lit(space), pl.lit(own.gather(third)), pl.lit(")"))).to_series()
    return own.scatter(third, told) if len(third) else own


def pages(numbers: Numbers, spelling: str, sizes: Sizes) -> pl.Series:
    """Return the titles of disambiguation pages: that of the page n is about the name n."""
    tail = "_(disambiguation)" if spelling == "iri" else " (disambiguation)"
    return names(numbers, spelling, sizes.seed) + tail


def lines(*pieces: pl.Series | str) -> pl.Series:
    """Return the lines that the pieces make up, strings being the same in each."""
    return pl.select(pl.concat_str(pl.lit(piece) for piece in (*pieces, "\n"))).to_series()


def interleaved(*series: pl.Series) -> pl.Series:
    """Return the first of each, then the second of each."""
    order = np.arange(len(series) * len(series[0])).reshape(len(series), -1).T.ravel()
    return pl.concat([one.alias("line") for one in series]).gather(order)


def labels(numbers: Numbers, sizes: Sizes) -> pl.Series:
    named, paged = (numbers[numbers < first_page(sizes)], numbers[numbers >= first_page(sizes)] - first_page(sizes))
    iri = pl.concat([titles(named, "iri", sizes).alias("t"), pages(paged, "iri", sizes).alias("t")])
    text = pl.concat([titles(named, "literal", sizes).alias("t"), pages(paged, "literal", sizes).alias("t")])
    return lines(f"<{DBR}", iri, f'> <{RDFS}label> "', text, '"@en .')


def first_page(sizes: Sizes) -> int:
    return sizes.entities + sizes.redirects


def redirects(numbers: Numbers, sizes: Sizes) -> pl.Series:
    """One in twenty leads to the redirect before it; of a hundred thousand, two lead to each other."""
    entity = skewed(uniform(numbers, sizes.seed + 2), sizes.entities, 0.4)
    chained = (uniform(numbers, sizes.seed + 3) < 0.05) & (numbers > 0)
    target = np.where(chained, sizes.entities + numbers - 1, entity)
    place = numbers % 100_000
    target = np.where(place == 500, sizes.entities + np.minimum(numbers + 1, sizes.redirects - 1), target)
    target = np.where(place == 501, sizes.entities + numbers - 1, target)
    source = titles(sizes.entities + numbers, "iri", sizes)
    return lines(f"<{DBR}", source, f"> <{DBO}wikiPageRedirects> <{DBR}", titles(target, "iri", sizes), "> .")


def disambiguations(numbers: Numbers, sizes: Sizes) -> pl.Series:
    """The candidates of a page stand together; the numbers of pages to a candidate fall by Zipf's law."""
    page = (sizes.pages * (numbers / sizes.disambiguations) ** 1.5).astype(np.int64)
    entity = skewed(uniform(numbers, sizes.seed + 4), sizes.entities, 0.3)
    subject, candidate = pages(page, "iri", sizes), titles(entity, "iri", sizes)
    return lines(f"<{DBR}", subject, f"> <{DBO}wikiPageDisambiguates> <{DBR}", candidate, "> .")


def link_ends(numbers: Numbers, sizes: Sizes) -> tuple[Numbers, Numbers]:
    """Return sources, ascending, and targets, of which one in twenty-five is a redirect."""
    source = (sizes.entities * (numbers / sizes.links) ** 1.5).astype(np.int64)
    target = skewed(uniform(numbers, sizes.seed + 5), sizes.entities)
    other = uniform(numbers, sizes.seed + 6)
    redirect = sizes.entities + (other * 25 * sizes.redirects).astype(np.int64)
    # Multiplied by an odd prime, the popular ones are anywhere in the alphabet and among the sources.
    scattered = target * 7_368_787 % sizes.entities
    return source, np.where((other < 0.04) & (sizes.redirects > 0), redirect, scattered)


def links(numbers: Numbers, sizes: Sizes) -> pl.Series:
    source, target = link_ends(numbers, sizes)
    subject, page = titles(source, "iri", sizes), titles(target, "iri", sizes)
    return lines(f"<{DBR}", subject, f"> <{DBO}wikiPageWikiLink> <{DBR}", page, "> .")


def types(numbers: Numbers, sizes: Sizes) -> pl.Series:
    kind = pl.Series(zipf(uniform(numbers, sizes.seed + 7), CLASSES)).cast(pl.String)
    return lines(f"<{DBR}", titles(numbers, "iri", sizes), f"> <{RDF}type> <{DBO}Class", kind, "> .")


def transitive_types(numbers: Numbers, sizes: Sizes) -> pl.Series:
    """The class n is below n // 4, that below n // 16."""
    kind = zipf(uniform(numbers, sizes.seed + 7), CLASSES)
    subject = titles(numbers, "iri", sizes)
    above = [pl.Series(kind // 4**step).cast(pl.String) for step in (1, 2)]
    rows = [lines(f"<{DBR}", subject, f"> <{RDF}type> <{DBO}Class", one, "> .") for one in above]
    return interleaved(*rows, lines(f"<{DBR}", subject, f"> <{RDF}type> <{OWL}Thing> ."))


def infobox_names(numbers: Numbers, sizes: Sizes) -> pl.Series:
    text = names(forms(numbers, sizes), "literal", sizes.seed)
    return lines(f"<{DBR}", titles(numbers, "iri", sizes), f'> <{FOAF}name> "', text, '"@en .')


def interlanguage(numbers: Numbers, sizes: Sizes) -> pl.Series:
    subject, item = titles(numbers, "iri", sizes), pl.Series(numbers + 1).cast(pl.String)
    start = f"> <{OWL}sameAs> <"
    return interleaved(
        lines(f"<{DBR}", subject, f"{start}{ITEM}", item, "> ."),
        lines(f"<{DBR}", subject, f"{start}http://de.dbpedia.org/resource/", subject, "> ."),
    )


def wikidata(numbers: Numbers, sizes: Sizes) -> pl.Series:
    """Return the lines of items: labels, an alias, a sitelink, types, a class or a redirect, three statements."""
    item = pl.Series(numbers + 1).cast(pl.String)
    about = names(forms(numbers, sizes), "escaped", sizes.seed)
    iri, title = titles(numbers, "iri", sizes), titles(numbers, "escaped", sizes)
    rows = [lines(f"<{ITEM}", item, f'> <{RDFS}label> "', title, f'"@{language} .') for language in LANGUAGES]
    rows += [
        lines(f"<{ITEM}", item, f'> <{name}> "', title, '"@en .') for name in (f"{SKOS}prefLabel", f"{SCHEMA}name")
    ]
    rows.append(lines(f"<{ITEM}", item, f'> <{SKOS}altLabel> "', about, '"@en .'))
    wiki = "<https://en.wikipedia.org/wiki/"
    rows.append(lines(wiki, iri, f"> <{SCHEMA}about> <{ITEM}", item, "> ."))
    rows.append(lines(wiki, iri, f"> <{SCHEMA}isPartOf> <https://en.wikipedia.org/> ."))
    others = [skewed(uniform(numbers, sizes.seed + salt), sizes.items) + 1 for salt in (8, 9, 10)]
    kinds = zipf(uniform(numbers, sizes.seed + 7), CLASSES) + 1
    statements = zip(("31", "17", "131", "361"), (kinds, *others), strict=True)
    for number, value in statements:
        rows.append(lines(f"<{ITEM}", item, f"> <{PROPERTY}{number}> <{ITEM}", pl.Series(value).cast(pl.String), "> ."))
    parent = pl.Series((numbers + 1) // 4 + 1).cast(pl.String)
    below = lines(f"<{ITEM}", item, f"> <{PROPERTY}279> <{ITEM}", parent, "> .")
    moved = lines(f"<{ITEM}", pl.Series(numbers + sizes.items).cast(pl.String), f"> <{OWL}sameAs> <{ITEM}", item, "> .")
    rows.append(below.zip_with(pl.Series(numbers < CLASSES), moved))
    return interleaved(*rows)


def anchors(numbers: Numbers, sizes: Sizes) -> pl.Series:
    """Return surface form, entity and count; the counts follow Zipf's law."""
    entity = numbers % sizes.entities
    text = names(forms(entity, sizes) + numbers // sizes.entities, "text", sizes.seed)
    count = pl.Series((1 / (uniform(numbers, sizes.seed + 11) + 1e-6)).astype(np.int64)).cast(pl.String)
    return lines(text, f"\t{DBR}", titles(entity, "iri", sizes), "\t", count)


@dataclass(frozen=True)
class Dump:
    """A file: its name, of how many things it tells (not all of them have one line), and the lines of some."""

    file: str
    count: Callable[[Sizes], int]
    lines: Callable[[Numbers, Sizes], pl.Series]


DUMPS = {
    "labels": Dump("labels_lang=en", lambda s: first_page(s) + s.pages, labels),
    "redirects": Dump("redirects_lang=en", lambda s: s.redirects, redirects),
    "disambiguations": Dump("disambiguations_lang=en", lambda s: s.disambiguations, disambiguations),
    "links": Dump("wikilinks_lang=en", lambda s: s.links, links),
    "types": Dump("instance-types_lang=en_specific", lambda s: s.entities, types),
    "transitive-types": Dump("instance-types_lang=en_transitive", lambda s: s.entities, transitive_types),
    "names": Dump("mappingbased-literals_lang=en", lambda s: s.entities * 6 // 10, infobox_names),
    "interlanguage": Dump("interlanguage-links_lang=en", lambda s: s.entities, interlanguage),
    "wikidata": Dump("latest-truthy", lambda s: s.items, wikidata),
    "anchors": Dump("anchors", lambda s: s.anchors, anchors),
}
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.compress,
    ".gz": lambda data: gzip.compress(data, 6, mtime=0),
    ".zst": lambda data: zstandard.compress(data, 3),
}


def batch(name: str, first: int, last: int, sizes: Sizes, suffix: str) -> tuple[bytes, int, int]:
    """Return the compressed lines of some things, their number, and that of the bytes before compression."""
    rows = DUMPS[name].lines(np.arange(first, last), sizes)
    data = rows.str.join("").item().encode()
    return COMPRESSED.get(suffix, bytes)(data), len(rows), len(data)


def made(pool: ProcessPoolExecutor, name: str, sizes: Sizes, suffix: str) -> Iterator[tuple[bytes, int, int]]:
    """Yield the batches in order; only a few are made ahead of what is taken."""
    count = DUMPS[name].count(sizes)
    starts = iter(range(0, count, BATCH))

    def submitted(first: int) -> Future[tuple[bytes, int, int]]:
        return pool.submit(batch, name, first, min(first + BATCH, count), sizes, suffix)

    waiting = deque(submitted(first) for first in islice(starts, 6))
    while waiting:
        yield waiting.popleft().result()
        waiting.extend(submitted(first) for first in islice(starts, 1))


def generate(folder: Path, names: list[str], sizes: Sizes, suffix: str, processes: int) -> dict[str, Path]:
    """Write the dumps with these names and return their files; says of each how many rows it has."""
    os.environ["POLARS_MAX_THREADS"] = "1"  # read by polars when a process of the pool begins
    folder.mkdir(parents=True, exist_ok=True)
    compression = next((end for end in COMPRESSED if suffix.endswith(end)), "")
    compress = COMPRESSED.get(compression, bytes)
    files = {}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for name in names:
            begin, rows, size = time.perf_counter(), 0, 0
            ending = {"anchors": ".tsv" + compression, "wikidata": ".nt" + compression}.get(name, suffix)
            files[name] = folder / f"{DUMPS[name].file}{ending}"
            with files[name].open("wb") as stream:
                if name not in ("anchors", "wikidata"):
                    stream.write(compress(b"# started 2022-12-01T00:00:00Z\n"))
                for data, count, length in made(pool, name, sizes, compression):
                    rows, size = rows + count, size + length
                    stream.write(data)
                if name not in ("anchors", "wikidata"):
                    stream.write(compress(b"# completed 2022-12-02T00:00:00Z\n"))
            took = time.perf_counter() - begin
            print(f"{files[name]}: {rows:,} rows, {size / 1e6:,.0f} MB, {took:.1f} s", flush=True)
    return files


def sizes_of(rows: int, links: int, nodes: int, seed: int = 1) -> Sizes:
    """Return the sizes where labels, redirects and disambiguations have so many rows together.

    A quarter are redirects, a tenth candidates of disambiguation pages, a fiftieth those pages, which have labels, as
    redirects have; the rest are entities.
    """
    redirects, pages, disambiguations = rows // 4, rows // 50, rows // 10
    entities = nodes or max(1, rows - 2 * redirects - pages - disambiguations)
    items, anchors = max(1, rows // 14), rows
    if entities + redirects + pages > WORDS**2:
        raise SystemExit(f"there are names for {WORDS**2:,} entities and redirects only")
    return Sizes(entities, redirects, pages, disambiguations, links, items, anchors, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000, help="of labels, redirects, disambiguations together")
    parser.add_argument("--links", type=int, help="default: ten times the rows")
    parser.add_argument("--nodes", type=int, default=0, help="entities; default: what --rows leaves")
    parser.add_argument("--only", default=",".join(DUMPS), help="of " + ", ".join(DUMPS))
    parser.add_argument("--suffix", default=".ttl.bz2", help=".ttl or .nt, with .bz2, .gz, .zst or nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    wanted = chosen.only.split(",")
    if unknown := sorted(set(wanted) - set(DUMPS)):
        parser.error(f"no dump named {', '.join(unknown)}; there are {', '.join(DUMPS)}")
    links_wanted = chosen.rows * 10 if chosen.links is None else chosen.links
    sizes = sizes_of(chosen.rows, links_wanted, chosen.nodes, chosen.seed)
    generate(chosen.folder, wanted, sizes, chosen.suffix, chosen.processes)


if __name__ == "__main__":
    main()
