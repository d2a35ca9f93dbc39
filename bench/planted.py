"""Are weaknesses that are planted in a simulated system found, and are flat systems let be?

    python bench/planted.py [--seeds 50] [--flat 0]

Gold is the corpus that ships, with its knowledge base. Outcomes of systems are drawn mention by mention:

- flat: three systems find each mention with probability 0.75;
- planted: a system finds 0.85 of the mentions, and 25 points less of the rare persons, which are those of the tail by
  PageRank, or those whose entity comes once in its dataset;
- confounded: a system finds 0.98, 0.85 and 0.25 of head, torso and tail, whatever they are; as persons are rarer, it
  finds fewer of them. Or it finds 0.15 of the entities that come once and of NIL, 0.9 of those that come up to three
  times and 0.98 of the others, and as what has no class comes less often, it finds fewer of that.

All of it is tested as the page of words tests a study (`remix/studies/claims.py`). Prints how often a flat study
claims anything, a planted weakness is claimed, and the confounded one is claimed over all and within the strata of what
is behind it. `--flat` are further seeds of one flat system, which tell the level.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from remix.formats import read
from remix.frames import Frames
from remix.kb import SHIPPED, open_kb
from remix.measures import compute
from remix.measures.classes import class_mapping
from remix.resources import folder
from remix.schemas import fit
from remix.scoring.statistics import UNSCOPED
from remix.scoring.statistics.intervals import Array
from remix.scoring.statistics.significance import between_systems
from remix.studies.claims import Findings, findings
from remix.studies.results import TABLES, Results, no_results

RULES = {"profile": "remix", "task": "A2KB", "matching": "strong"}
CUTS = {
    "class": None,
    "pagerankSegment": None,
    "entityFrequency": (1, 3),
    "ambiguitySurfaceForm": (1, 3),
    "nameRelation": None,
}
"""The columns of the study, and where numbers are cut."""


@dataclass(frozen=True)
class World:
    """How outcomes are drawn, and which weakness is to be found: a column and its part, and what is behind it."""

    systems: int = 1
    column: str = ""
    part: str = ""
    behind: str = ""


WORLDS = {
    "flat": World(3),
    "planted": World(1, "class × pagerankSegment", "Person × tail"),
    "confounded": World(1, "class", "Person", "pagerankSegment"),
    "planted by frequency": World(1, "class × entityFrequency", "Person × 1"),
    "confounded by frequency": World(1, "class", "unspecified", "entityFrequency"),
    "flat, one system": World(1),
}


def shipped_mentions(place: Path) -> pl.DataFrame:
    """Return the mentions of the shipped corpus with the columns of the study; the knowledge base is built in place."""
    files = sorted((folder("datasets") / "corpus").glob("*.ttl"))
    frames = Frames.concat(read(file).frames.in_dataset(file.stem) for file in files)
    measured = compute(frames, open_kb(place / "kb", SHIPPED))
    coarse = class_mapping()["coarse"].unique().implode()
    named = measured.classes.filter(pl.col("class").is_in(coarse))
    named = named.with_columns(pl.col("class").str.extract(r"([^/#:]+)$"))
    classes = named.group_by("annotation").agg(pl.col("class").sort().first())
    links = frames.links.group_by("annotation").agg(pl.col("entity").sort().first())
    rows = measured.annotations.sort("annotation")
    for table in (links, classes):
        rows = rows.join(table, on="annotation", how="left", maintain_order="left")
    return rows.with_row_index("mention").with_columns(pl.col("mention").cast(pl.Int64))


def study_of(mentions: pl.DataFrame, right: Mapping[str, np.ndarray], *, samples: int = 4000) -> Results:
    """Return the results of a study of systems, of which it is known whether each mention is right."""
    members, parts = [], []
    for column, bounds in CUTS.items():
        value = pl.col(column).cast(pl.String)
        edges: list[float] = [-np.inf, *(bounds or ()), np.inf]
        if bounds:
            number = sum(((pl.col(column) > bound).cast(pl.Int64) for bound in bounds), start=pl.lit(1))
            value = pl.when(pl.col(column).is_not_null()).then(number.cast(pl.String))
        own = mentions.select("mention", slice=value.fill_null("unspecified"), column=pl.lit(column))
        members.append(own.select("mention", "column", "slice"))
        for place, part in enumerate(own["slice"].unique().sort(), 1):
            low = float(edges[place - 1]) if bounds and place < len(edges) else None
            parts.append({"column": column, "level": "annotation", "part": place, "slice": part, "low": low})
    inside = pl.concat(members)
    whole = mentions.select("mention", column=pl.lit(""), slice=pl.lit(""))
    outcomes = pl.concat(
        mentions.select(
            "mention", system=pl.lit(name), outcome=pl.Series(np.where(own, "correct", "wrong")), confidence=None
        )
        for name, own in right.items()
    )
    placed = pl.concat([whole, inside]).join(mentions.select("mention", "document"), on="mention")
    counts = (
        placed.join(outcomes, on="mention")
        .group_by("system", "column", "slice", "document")
        .agg(tp=(pl.col("outcome") == "correct").sum(), fp=(pl.col("outcome") == "wrong").sum())
        .with_columns(pl.col("tp", "fp").cast(pl.Int64), fn=pl.col("fp").cast(pl.Int64), ignored=pl.lit(0))
        .with_columns(UNSCOPED)
        .sort("system", "column", "slice", "document")
    )
    table = no_results(
        mentions=mentions.with_columns(pl.lit(None, pl.String).alias("unused")).drop("unused"),
        systems=_rows("systems", [{"system": name, "kind": "system", "state": "there", "told": ""} for name in right]),
        parts=_rows("parts", [row | {"dataset": "all", "documents": 0, "mentions": 0} for row in parts]),
        members=inside,
        outcomes=fit(outcomes, TABLES["outcomes"].types),
        differences=_compare(counts, [*right], samples),
    )
    return replace(table, columns=tuple(CUTS))


def _rows(name: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    frame = pl.DataFrame([{"place": place, **row} for place, row in enumerate(rows)])
    return fit(frame, TABLES[name].types)


def _compare(counts: pl.DataFrame, systems: list[str], samples: int) -> pl.DataFrame:
    if len(systems) < 2:
        return TABLES["differences"].empty()
    found = []
    for (column, part), own in counts.group_by("column", "slice", maintain_order=True):
        documents = own.select("document").unique().sort("document").with_row_index("doc")
        documents = documents.with_columns(pl.col("doc").cast(pl.Int64), dataset=pl.lit("all"))
        if len(documents) < 10:
            continue
        rows = own.join(documents, on="document").drop("column", "slice", "document")
        pairs = between_systems(rows, documents, systems, samples=samples)
        named = {"family": "systems", "target": "all", "against": "all", "score": "f1", **RULES}
        found.append(
            pairs.with_columns(column=pl.lit(column), slice=pl.lit(part), **{k: pl.lit(v) for k, v in named.items()})
        )
    return fit(pl.concat(found), TABLES["differences"].types)


def chances(world: str, mentions: pl.DataFrame) -> Array:
    """Return with what probability a system of a world finds each mention."""
    segment, person = mentions["pagerankSegment"].fill_null(""), mentions["class"].fill_null("") == "Person"
    often = mentions["entityFrequency"]
    rare = {"planted": segment == "tail", "planted by frequency": (often == 1).fill_null(value=False)}
    if world in rare:
        return np.where((person & rare[world]).to_numpy(), 0.6, 0.85)
    if world == "confounded":
        return segment.replace_strict({"head": 0.98, "torso": 0.85, "tail": 0.25}, default=0.85).to_numpy()
    if world == "confounded by frequency":
        once, few = (often == 1).fill_null(value=True), (often <= 3).fill_null(value=True)
        return np.where(once.to_numpy(), 0.15, np.where(few.to_numpy(), 0.9, 0.98))
    return np.full(len(mentions), 0.75)


def simulate(world: str, mentions: pl.DataFrame, seed: int) -> Findings:
    """Return what is found in a study of a world."""
    random = np.random.default_rng([seed, [*WORLDS].index(world)])
    chance = chances(world, mentions)
    names = ("One", "Two", "Three")[: WORLDS[world].systems]
    return findings(study_of(mentions, {name: random.random(len(mentions)) < chance for name in names}))


def claims(world: str, found: Findings) -> dict[str, bool]:
    """Return what is claimed: anything, the weakness of the world, and the same within the parts of what is behind."""
    weak = found.weak.filter(pl.col("claimed"), pl.col("difference") < 0)
    of = WORLDS[world]
    own = weak.filter(column=of.column, slice=of.part)
    return {
        "anything": not found.claims.is_empty() or bool(found.pairs["claimed"].any()),
        "weakness": not own.filter(within="").is_empty(),
        "within": bool(of.behind) and not own.filter(within=of.behind).is_empty(),
    }


def main() -> None:
    """Print in how many seeds each is claimed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--flat", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        mentions = shipped_mentions(Path(place))
    print(f"{len(mentions)} mentions in {mentions['document'].n_unique()} documents\n")
    print("| world | seeds | tests | anything | weakness | the same within what is behind it | seconds |")
    print("|---|---|---|---|---|---|---|")
    for world in WORLDS:
        seeds = asked.flat if world == "flat, one system" else asked.seeds
        if not seeds:
            continue
        begun = time.perf_counter()
        runs = [simulate(world, mentions, seed) for seed in range(seeds)]
        told = pl.DataFrame([claims(world, found) for found in runs]).sum().row(0)
        tests = " + ".join(str(number) for number in runs[0].tests)
        row = [world, seeds, tests, *told, f"{time.perf_counter() - begun:.0f}"]
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
