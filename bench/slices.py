"""How often the test of slices rejects a true null, and how often it finds a difference that is there.

    python bench/slices.py [--draws 2000] [--samples 400] [--only NAME]

Prints the tables of docs/statistics.md (`scripts/statistics.py` writes that page). In each draw a system's outcomes on
a thousand mentions of fifty documents are made by a world, without regard to seven slices of 10 to 100 mentions, which
are tested together as `remix evaluate --intervals --by` tests them. Documents are of uneven sizes, few entities are
frequent.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import ndtri

from remix.scoring.statistics.effects import Verdicts, test_parts
from remix.scoring.statistics.intervals import LEAST_UNITS, Array
from remix.scoring.statistics.significance import holm

ERRORS = 0.08
SIZES = (1, 3, 10, 12, 15, 20, 30, 50, 100)
"""Mentions of the slices; of those that ten documents hold, which the first two never are."""


@dataclass(frozen=True)
class Design:
    """Mentions: the document and the entity of each."""

    documents: Array
    entities: Array

    @property
    def blocks(self) -> Array:
        return np.unique(self.documents * (self.entities.max() + 1) + self.entities, return_inverse=True)[1]


World = Callable[[Design, np.random.Generator], Array]
"""Whether a mention is an error, made without regard to slices."""


def design(random: np.random.Generator, *, documents: int = 50, mentions: int = 1000, bursts: float = 0.3) -> Design:
    """Return documents of sizes of a log-standard deviation of 0.6, and entities by Zipf's law, repeated in bursts."""
    sizes = np.exp(0.6 * random.standard_normal(documents))
    own = np.sort(random.choice(documents, mentions, p=sizes / sizes.sum()))
    weights = 1 / np.arange(1, mentions // 3 + 1) ** 0.8
    entities = random.choice(len(weights), mentions, p=weights / weights.sum())
    again = (random.random(mentions) < bursts) & (own == np.roll(own, 1))
    places = np.maximum.accumulate(np.where(again, 0, np.arange(mentions)))
    return Design(own, entities[places])


def _beta(random: np.random.Generator, number: int, correlation: float = 0.1) -> Array:
    rest = (1 - correlation) / correlation
    return random.beta(ERRORS * rest, (1 - ERRORS) * rest, number)


def alone(made: Design, random: np.random.Generator) -> Array:
    return random.random(len(made.documents)) < ERRORS


def by_document(made: Design, random: np.random.Generator) -> Array:
    return random.random(len(made.documents)) < _beta(random, made.documents.max() + 1)[made.documents]


def within(made: Design, random: np.random.Generator) -> Array:
    chances = _beta(random, made.documents.max() + 1)[made.documents]
    return random.random(made.blocks.max() + 1)[made.blocks] < chances


def across(made: Design, random: np.random.Generator) -> Array:
    return (random.random(made.entities.max() + 1) < ERRORS)[made.entities]


def half_across(made: Design, random: np.random.Generator) -> Array:
    whole = (random.random(made.entities.max() + 1) < 0.5)[made.entities]
    return np.where(whole, across(made, random), by_document(made, random))


def crossed(made: Design, random: np.random.Generator) -> Array:
    documents = random.standard_normal(made.documents.max() + 1)[made.documents]
    entities = random.standard_normal(made.entities.max() + 1)[made.entities]
    return np.sqrt(0.2) * documents + np.sqrt(0.8) * entities < ndtri(ERRORS)


WORLDS: Mapping[str, tuple[str, World]] = {
    "alone": ("mentions have nothing to do with each other", alone),
    "documents": ("documents differ (intra-class correlation 0.1)", by_document),
    "within": ("and an entity's repeats in a document go together", within),
    "across": ("an entity's repeats in all documents go together", across),
    "half": ("half of the entities so, the others by document", half_across),
    "crossed": ("entities and documents add up", crossed),
}


def of_mentions(made: Design, size: int, random: np.random.Generator) -> Array:
    """Return mentions chosen one by one."""
    chosen = np.zeros(len(made.documents), dtype=bool)
    chosen[random.choice(len(chosen), size, replace=False)] = True
    return chosen


def of_entities(made: Design, size: int, random: np.random.Generator) -> Array:
    """Return all mentions of entities that are chosen one by one, as a class or a rank has them."""
    chosen, left = np.zeros(len(made.documents), dtype=bool), size
    numbers = np.bincount(made.entities)
    for entity in random.permutation(len(numbers)):
        if 0 < numbers[entity] <= left:
            chosen |= made.entities == entity
            left -= numbers[entity]
    return chosen


def of_documents(made: Design, size: int, random: np.random.Generator) -> Array:
    """Return the first tenth of the slice's mentions from each of ten documents or more: what gathers in a few."""
    chosen = np.zeros(len(made.documents), dtype=bool)
    for document in random.permutation(made.documents.max() + 1):
        own = np.flatnonzero(made.documents == document)[: max(1, size // 10)]
        chosen[own[: max(0, size - chosen.sum())]] = True
    return chosen


SLICES: Mapping[str, Callable[[Design, int, np.random.Generator], Array]] = {
    "mentions": of_mentions,
    "entities": of_entities,
    "documents": of_documents,
}


def rejections(world: World, kind: str, *, draws: int, samples: int, seed: int) -> tuple[int, float, pl.DataFrame]:
    """Return the draws with a test, the share of them with any p ≤ 0.05 by Holm, and by size tests and their rate."""
    random, families, rows = np.random.default_rng(seed), [], []
    for draw in range(draws):
        made = design(random)
        right = 1.0 - world(made, random)
        parts = np.array([SLICES[kind](made, size, random) for size in SIZES]).T
        held = np.array([len(np.unique(made.documents[part])) for part in parts.T])
        parts = parts[:, held >= LEAST_UNITS]
        if parts.shape[1]:
            p = test_parts(Verdicts(right, made.documents, made.entities), parts, ~parts, samples=samples, seed=draw)
            families.append(float(holm(pl.Series(p)).min()) <= 0.05)  # type: ignore[arg-type]
            rows += [*zip(parts.sum(axis=0).tolist(), (p <= 0.05).tolist(), strict=True)]
    found = pl.DataFrame(rows, schema=["size", "rejected"], orient="row")
    return (
        len(families),
        float(np.mean(families)),
        found.group_by("size").agg(tests=pl.len(), rate=pl.col("rejected").mean()),
    )


def power(*, persons: int, together: bool, draws: int, samples: int, seed: int) -> float:
    """Return how often p ≤ 0.05 by Holm of the hard persons, of whom 80 % are errors, and 5 % of all others.

    They are so many mentions of rare entities (a rank above 3); six other slices are tested with them. `together`:
    an entity is right or wrong in all of its mentions.
    """
    random, found = np.random.default_rng(seed), []
    for draw in range(draws):
        made = design(random)
        hard = of_entities(made, persons, random)
        chance = np.where(hard, 0.8, 0.05)
        drawn = random.random(made.entities.max() + 1)[made.entities] if together else random.random(len(hard))
        others = [of_entities(made, size, random) for size in (20, 30, 40, 50, 75, 100)]
        parts = np.array([hard, *others]).T
        outcomes = Verdicts(1.0 - (drawn < chance), made.documents, made.entities)
        p = test_parts(outcomes, parts, ~parts, samples=samples, seed=draw)
        found.append(holm(pl.Series(p))[0] <= 0.05)
    return float(np.mean(found))


def tables(*, draws: int, samples: int, only: str = "") -> str:
    """Return both tables as Markdown."""
    bins = ((10, 12), (13, 19), (20, 29), (30, 49), (50, 100))
    heads = " | ".join(f"{low}–{high}" for low, high in bins)
    lines = [f"| world | slices of | draws | any (Holm) | {heads} |", "|---|---|---|---|" + "---|" * len(bins)]
    for number, (name, (words, world)) in enumerate(WORLDS.items()):
        for kind in SLICES if only in ("", name) else ():
            number_of_draws, family, sizes = rejections(world, kind, draws=draws, samples=samples, seed=number)
            rates = []
            for low, high in bins:
                own = sizes.filter(pl.col("size").is_between(low, high))
                rate = own.select((pl.col("rate") * pl.col("tests")).sum() / pl.col("tests").sum()).item()
                rates.append(f"{rate:.3f}" if own["tests"].sum() >= draws // 10 else "")
            lines.append(f"| {words} | {kind} | {number_of_draws} | {family:.3f} | {' | '.join(rates)} |")
            print(lines[-1], flush=True)
    lines += ["", "| hard persons | each mention for itself | an entity as a whole |", "|---|---|---|"]
    for persons in (10, 20, 50, 100) if not only else ():
        told = [
            power(persons=persons, together=together, draws=min(draws, 100), samples=samples, seed=persons)
            for together in (False, True)
        ]
        lines.append(f"| {persons} | {told[0]:.2f} | {told[1]:.2f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--only", default="", help="one world, without power")
    chosen = parser.parse_args()
    print("\n" + tables(draws=chosen.draws, samples=chosen.samples, only=chosen.only))


if __name__ == "__main__":
    main()
