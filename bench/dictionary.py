"""Time and memory of the measures and of lookups against a dictionary of the size of DBpedia.

    python bench/dictionary.py [--scale full|tenth|hundredth] [--kb FOLDER] [--runs 3] [--plot FILE]

Generates a knowledge base (full: 20 million dictionary rows, 12 million entities, 10 million redirects) and a corpus
(full: 1 million annotations whose names follow Zipf's law), then prints one JSON object: the seconds (median) and the
peak memory, each in a process of its own, of the measures that ask the dictionary, of all measures and of single
lookups. `--kb` keeps what is generated for another run. `--plot` does so for all scales up to the given one, each in
a folder below `--kb`, and draws how seconds and memory grow.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames
from remix.kb import KnowledgeBase, lookup
from remix.kb.parts import FORMAT
from remix.kb.prominence import SCORES, add_ranks
from remix.measures import compute
from remix.names import DBO, DBR

SCALES = {"full": 1.0, "tenth": 0.1, "hundredth": 0.01}
ROWS, ENTITIES, REDIRECTS, ANNOTATIONS = 20_000_000, 12_000_000, 10_000_000, 1_000_000
WORDS = 40_000
ROW_GROUP = 20_000
OF_DICTIONARY = [
    "confusion-surface-form",
    "confusion-entity",
    "dominance-surface-form",
    "dominance-entity",
    "maximum-recall",
    "candidate-recall",
    "prior",
    "prominence",
]
CLASSES = ("Person", "Place", "Organisation", *(f"Class{number}" for number in range(300)))


def words() -> pl.Series:
    """Return made-up words of two to four syllables, some with letters beyond ASCII; all differ."""
    consonants, vowels = list("bcdfghjklmnprstvwz") + ["ñ", "š"], [*"aeiou", "é", "ö", "ai"]
    syllables = np.array([a + b for a in consonants for b in vowels])
    count = len(syllables)
    numbers = np.arange(WORDS)
    made = [syllables[numbers % count], syllables[numbers // count % count], syllables[numbers * 7 // 11 % count]]
    return pl.Series("word", np.char.add(np.char.add(made[0], made[1]), made[2]))


def names(numbers: np.ndarray[Any, Any], known: pl.Series) -> pl.Series:
    """Return the two words that make up the name of each number below WORDS²."""
    scattered = numbers.astype(np.uint64) * np.uint64(1_000_003) % np.uint64(WORDS * WORDS - 1)
    first, second = known.gather(scattered // WORDS), known.gather(scattered % WORDS)
    return (first + " " + second).alias("key")


def zipf(generator: np.random.Generator, size: int, below: int) -> np.ndarray[Any, Any]:
    """Return numbers from 0, whose chance falls with their size as in Zipf's law, exponent 1."""
    drawn: np.ndarray[Any, Any] = np.exp(generator.random(size) * np.log(below)).astype(np.int64) - 1
    return drawn


def iris(keys: pl.Series) -> pl.Series:
    return DBR + keys.str.to_titlecase().str.replace_all(" ", "_")


def pairs(scale: float, known: pl.Series) -> pl.DataFrame:
    """Return key, entity number and count: every entity by its label, many by one word, some by other names."""
    generator = np.random.default_rng(1)
    entities, rows = int(ENTITIES * scale), int(ROWS * scale)
    short, other = (rows - entities) // 2, rows - entities - (rows - entities) // 2
    numbers = np.concatenate(
        [np.arange(entities), generator.integers(0, entities, short), zipf(generator, other, entities)]
    )
    keys = [
        names(np.arange(entities), known),
        known.gather(zipf(generator, short, WORDS)).alias("key"),
        names(generator.integers(entities, WORDS * WORDS // 2, other), known),
    ]
    counts = pl.Series("count", 1 + zipf(generator, len(numbers), 100_000))
    made = pl.DataFrame({"key": pl.concat(keys), "number": numbers, "count": counts})
    made = made.unique(["key", "number"], maintain_order=True)
    return made.with_columns(pl.when(pl.int_range(pl.len()) % 5 > 0).then("count"))


def generate(folder: Path, scale: float) -> None:
    """Write the parts of a knowledge base as `remix kb build` does."""
    known = words()
    labels = names(np.arange(int(ENTITIES * scale)), known)
    entity = iris(labels)

    def write(part: str, frame: pl.DataFrame) -> None:
        frame.write_parquet(folder / f"{part}.parquet", row_group_size=ROW_GROUP)

    rows = pairs(scale, known)
    # Entities are numbered in the order of their names.
    order = pl.Series(entity.arg_sort()).arg_sort().cast(pl.Int32)
    rows = rows.with_columns(
        entity=entity.gather(rows["number"]),
        pagerank=1 / (2 + pl.col("number")),
        number=order.gather(rows["number"]),
    )
    rows = rows.sort("key", pl.col("count").fill_null(0), "pagerank", "number", descending=[False, True, True, False])
    sized = rows.with_columns(
        entities=pl.len().over("key").cast(pl.Int64), forms=pl.len().over("entity").cast(pl.Int64)
    )
    write("dictionary", sized)
    write("dictionary_by_entity", sized.sort("entity", "key"))
    form, source = pl.col("key").str.to_titlecase(), pl.lit("label")
    write("surface_forms", rows.select("key", "entity", "count", surface_form=form, source=source))
    del rows, sized
    scores = pl.DataFrame({"entity": entity, "label": labels.str.to_titlecase()}).with_columns(
        in_degree=1_000_000 // (1 + pl.int_range(pl.len())), out_degree=pl.int_range(pl.len()) % 100
    )
    for shift, score in enumerate(SCORES, start=1):
        score_of = (1 / (shift + pl.int_range(pl.len()))).alias(score)
        scores = add_ranks(scores.with_columns(score_of), score)
        scores = scores.cast({f"{score}_rank": pl.Int32})
    counts = pl.scan_parquet(folder / "dictionary.parquet").select("entity", "forms").unique().collect()
    scores = scores.join(counts, on="entity", how="left").with_columns(
        pl.col("forms").fill_null(0), number=order, of_gold=False
    )
    write("entities", scores.sort("entity"))
    del scores, counts
    others(write, entity, order, scale)
    sizes = {file.stem: pl.scan_parquet(file).select(pl.len()).collect().item() for file in folder.glob("*.parquet")}
    described = {
        "format": FORMAT,
        "name": "bench",
        "version": f"{scale:g}-generated",
        "complete": False,
        "without_sources": [],
        "form_sources": ["label"],
        "type_sources": ["label"],
        "scored": dict.fromkeys(SCORES, len(entity)),
    }
    described |= {"circular_redirects": {"count": 0, "first": []}, "rows": sizes}
    (folder / "kb.json").write_text(json.dumps(described), encoding="utf-8")


def others(write: Callable[[str, pl.DataFrame], None], entity: pl.Series, order: pl.Series, scale: float) -> None:
    """Write types, redirects, sameAs, disambiguation pages and what stands for what."""
    places = pl.int_range(pl.len())
    one = pl.DataFrame({"entity": entity})
    classes = pl.Series([DBO + name for name in CLASSES])
    kinds = classes.gather(np.arange(len(entity)) * 7919 % len(classes)).alias("class")
    write("types", one.with_columns(kinds, source=pl.lit("types"), number=order).sort("entity", "class"))
    targets = entity.gather(np.arange(int(REDIRECTS * scale)) * 104_729 % len(entity))
    moved = pl.DataFrame({"target": targets}).with_columns(redirect=pl.format("{}_({})", "target", places))
    write("redirects", moved.select("redirect", "target").sort("redirect"))
    items = pl.format("http://www.wikidata.org/entity/Q{}", places + 1)
    same = one.head(len(entity) // 2).select(wikidata=items, entity="entity")
    write("sameas", same.sort("wikidata"))
    stands = [moved.select(iri="redirect", entity="target"), same.select(iri="wikidata", entity="entity")]
    write("resolution", pl.concat(stands).sort("iri"))
    write("resolution_by_entity", pl.concat(stands).sort("entity", "iri"))
    pages = one.head(len(entity) // 12).select(page=pl.col("entity") + "_(disambiguation)", entity="entity")
    write("disambiguations", pages.sort("page", "entity"))
    write("subclasses", pl.DataFrame({"class": classes[3:], "parent": classes[:-3], "source": "types"}))


def corpus(folder: Path, scale: float) -> Frames:
    """Return documents of fifty annotations each: names by Zipf's law, 2 % unknown ones, 5 % NIL, 5 % redirects."""
    generator = np.random.default_rng(2)
    size = int(ANNOTATIONS * scale)
    dictionary = pl.scan_parquet(folder / "dictionary.parquet").select("key", "entity")
    height = dictionary.select(pl.len()).collect().item()
    # The ranks of Zipf's law are scattered over the dictionary: neighbours in the alphabet are not equally frequent.
    chosen = zipf(generator, size, height) * 15_485_863 % height
    distinct = pl.DataFrame({"index": np.unique(chosen).astype(np.uint32)})
    found = dictionary.with_row_index().join(distinct.lazy(), on="index").collect()
    rows = pl.DataFrame({"index": chosen.astype(np.uint32)}).join(found, on="index", how="left", maintain_order="left")
    number = pl.int_range(pl.len())
    document = pl.format("urn:bench:d{}", number // 50)
    dataset = pl.format("set{}", number // 50 % 4)
    form = pl.when(number % 50 == 1).then("unknown " + pl.col("key")).otherwise(pl.col("key").str.to_titlecase())
    # Of the generated redirects the one with number n leads to entity n · 104729 modulo their number.
    redirect = pl.scan_parquet(folder / "redirects.parquet").select("redirect", entity="target")
    redirect = redirect.join(found.lazy().select("entity"), on="entity", how="semi").unique("entity", keep="first")
    rows = rows.join(redirect.collect(), on="entity", how="left", maintain_order="left").with_columns(
        annotation=pl.format("{}#{}", document, number), document=document, dataset=dataset, surface_form=form
    )
    rows = rows.with_columns(is_nil=number % 20 == 3, begin=number % 50 * 20, end=number % 50 * 20 + 10)
    link = pl.when(number % 20 == 4).then(pl.coalesce("redirect", "entity")).otherwise(pl.col("entity"))
    texts = rows.group_by("document", "dataset", maintain_order=True).agg(
        text=pl.col("surface_form").str.join(" is of ")
    )
    links = rows.with_columns(entity=link).filter(~pl.col("is_nil")).select("annotation", "entity")
    return Frames.of(documents=texts, annotations=rows.drop("key", "entity", "redirect", "index"), links=links)


def measures(folder: Path, scale: float, frames: Path, names: list[str] | None) -> dict[str, object]:
    """Return the seconds, of the clock and of all cores, of the measures of these names, by default of all."""
    parts = {name: pl.read_parquet(frames / f"{name}.parquet") for name in ("documents", "annotations", "links")}
    corpus = Frames.of(**parts)
    begin, cores = time.perf_counter(), time.process_time()
    measured = compute(corpus, KnowledgeBase.open(folder), measures=names)
    return {
        "annotations": measured.annotations.height,
        "seconds": round(time.perf_counter() - begin, 2),
        "CPU seconds": round(time.process_time() - cores, 2),
        "values": measured.datasets.height,
    }


def lookups(folder: Path, scale: float, frames: Path) -> dict[str, object]:
    """Return the milliseconds of the first lookup and the median and slowest of a hundred, of forms and of entities."""
    kb = KnowledgeBase.open(folder)
    rows = pl.scan_parquet(folder / "dictionary.parquet").select("key", "entity", "entities")
    frequent = rows.sort("entities", descending=True).head(1).collect()["key"].item()
    sample = rows.gather_every(max(1, int(ROWS * scale) // 101)).head(100).collect()

    def taken(name: str) -> float:
        begin = time.perf_counter()
        with contextlib.suppress(UnknownName):
            lookup(kb, name)
        return round(1000 * (time.perf_counter() - begin), 1)

    found: dict[str, object] = {}
    kinds = {
        "form": sample["key"],
        "entity": sample["entity"],
        "misspelt": sample["key"].str.replace(r"(....)", "${1}x"),
    }
    for kind, asked in kinds.items():
        times = [taken(name) for name in asked.to_list()]
        found[kind] = {"first": times[0], "median": statistics.median(times[1:]), "slowest": max(times[1:])}
    return {**found, "most ambiguous form": taken(frequent)}


def apart(work: Callable[..., dict[str, object]], *arguments: object) -> dict[str, object]:
    """Return what the work returns in a process of its own, with the peak of that process in GB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_watched, (work, arguments))


def _watched(work: Callable[..., dict[str, object]], arguments: tuple[object, ...]) -> dict[str, object]:
    found = work(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {**found, "peak GB": round(peak, 2)}


def make(folder: Path, scale: float, frames: Path) -> dict[str, object]:
    """Generate knowledge base and corpus; return nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    generate(folder, scale)
    made = corpus(folder, scale)
    frames.mkdir()
    for name in ("documents", "annotations", "links"):
        getattr(made, name).write_parquet(frames / f"{name}.parquet")
    return {}


def run(folder: Path, scale: float, runs: int) -> dict[str, dict[str, object]]:
    """Return what was measured at a scale, in a folder that may hold what was generated before."""
    frames = folder / "corpus"
    if not frames.exists():
        # A process begins with the peak of the one that started it: this one must stay small.
        apart(make, folder, scale, frames)
    found = {}
    for what, names in (("measures of the dictionary", OF_DICTIONARY), ("all measures", None)):
        done = [apart(measures, folder, scale, frames, names) for _ in range(runs)]
        found[what] = sorted(done, key=lambda one: float(str(one["seconds"])))[runs // 2]
    return {**found, "lookups": apart(lookups, folder, scale, frames)}


def plot(found: dict[float, dict[str, dict[str, object]]], to: Path) -> None:
    """Draw how seconds and memory grow with the scale; a line of slope 1 is linear."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4))
    for axes, value in zip(panels, ("CPU seconds", "peak GB"), strict=True):
        for what in ("measures of the dictionary", "all measures"):
            axes.plot([*found], [one[what][value] for one in found.values()], marker="o", label=what)
        axes.set(xscale="log", yscale="log", xlabel="share of the full size", ylabel=value)
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(to, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=SCALES, default="tenth")
    parser.add_argument("--kb", type=Path, help="A folder that keeps what is generated.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plot", type=Path, help="A file for the growth over all scales up to the given one.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.kb or Path(place)
        if options.plot is None:
            print(json.dumps(run(folder, SCALES[options.scale], options.runs), indent=1))
            return
        names = [*reversed(SCALES)]
        chosen = names[: names.index(options.scale) + 1]
        found = {SCALES[name]: run(folder / name, SCALES[name], options.runs) for name in chosen}
        print(json.dumps(found, indent=1))
        plot(found, options.plot)


if __name__ == "__main__":
    main()
