"""How often 95 % intervals hold the truth, by five methods, on few documents and many.

    python bench/intervals.py [--draws 2000] [--resamples 400]

Prints the tables of docs/statistics.md. In each draw, documents are made whose sizes are log-normal, whose mentions go
together by an intra-class correlation, and of whose mentions and answers a share is right; the truth is that of
documents without end. The intervals of remix are those of `remix.scoring.statistics.intervals`; the others are beside
them.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from remix.scoring.statistics import AVERAGES
from remix.scoring.statistics.intervals import Array, DocumentTables, difference_of, jackknife

SCORES = {"P": ("micro", "precision"), "R": ("micro", "recall"), "F1": ("micro", "f1"), "macro F1": ("macro", "f1")}
MENTIONS = 20
"""Mentions of a document in the mean."""


@dataclass(frozen=True)
class World:
    """Documents to draw from: the score, the intra-class correlation, the log-standard deviation of sizes.

    In one of `dominated`, the first document has as many mentions as all others together, three times over.
    """

    score: float
    correlation: float = 0.0
    spread: float = 0.0
    dominated: bool = False

    def draw(self, random: np.random.Generator, documents: int, draws: int) -> tuple[Array, Array, Array]:
        """Return tp, fp and fn of documents by draws."""
        normal = random.standard_normal((documents, draws))
        sizes = np.maximum(1, np.rint(MENTIONS * np.exp(self.spread * normal - self.spread**2 / 2)))
        if self.dominated:
            sizes[0] = 3 * sizes[1:].sum(axis=0)
        sizes = sizes.astype(np.int64)
        chance = np.full(sizes.shape, self.score)
        if self.correlation:
            rest = (1 - self.correlation) / self.correlation
            chance = random.beta(self.score * rest, (1 - self.score) * rest, sizes.shape)
        tp = random.binomial(sizes, chance)
        return tp.astype(float), random.binomial(sizes, 1 - chance).astype(float), (sizes - tp).astype(float)


def tables_of_counts(tp: Array, fp: Array, fn: Array) -> DocumentTables:
    """Return the tables of documents by draws, each draw a label, as `tables_of` makes them of frames."""
    parts = [tp, fp, fp, tp, fn, np.ones_like(tp)]
    for right, whole in ((tp, tp + fp), (tp, tp + fn), (2 * tp, 2 * tp + fp + fn)):
        score = np.divide(right, whole, out=np.zeros_like(right), where=whole > 0)
        parts += [score, (whole > 0).astype(float)]
    return DocumentTables(np.concatenate(parts, axis=1), tp.shape[1], AVERAGES)


def truth(world: World, seed: int) -> dict[tuple[str, str], float]:
    """Return the scores of so many documents that their error is far below that of an interval."""
    if world.dominated:
        # A document of the size of three quarters is one draw: the truth is what its mentions have in the mean.
        world = World(world.score, world.correlation, world.spread)
    tables = tables_of_counts(*world.draw(np.random.default_rng(seed), 400_000, 1))
    return {key: float(tables.score(*key)[0]) for key in SCORES.values()}


def resampled(tables: DocumentTables, resamples: int, random: np.random.Generator) -> dict[tuple[str, str], Array]:
    """Return the scores of samples of documents with replacement: resamples by labels."""
    units = len(tables.columns)
    times = random.multinomial(units, np.full(units, 1 / units), size=resamples).astype(float)
    return tables.scores(times @ tables.columns)


def percentile(drawn: Array, score: Array, _change: Array) -> tuple[Array, Array]:
    low, high = np.nanquantile(drawn, (0.025, 0.975), axis=0)
    return low, high


def accelerated(drawn: Array, score: Array, change: Array) -> tuple[Array, Array]:
    """Return BCa intervals (Efron, Better Bootstrap Confidence Intervals, 1987)."""
    with np.errstate(all="ignore"):
        below = ((drawn < score).mean(axis=0) + (drawn <= score).mean(axis=0)) / 2
        shift = ndtri(np.clip(below, 1e-3, 1 - 1e-3))
        influence = change.mean(axis=0) - change
        bend = np.nan_to_num((influence**3).sum(axis=0) / (6 * (influence**2).sum(axis=0) ** 1.5))
        found = []
        for tail in (0.025, 0.975):
            moved = shift + ndtri(tail)
            level = ndtr(shift + moved / (1 - bend * moved))
            places = np.clip(np.rint(level * (len(drawn) - 1)), 0, len(drawn) - 1).astype(int)
            found.append(np.take_along_axis(np.sort(drawn, axis=0), places[None, :], axis=0)[0])
    return found[0], found[1]


def studentised(
    tables: DocumentTables, key: tuple[str, str], resamples: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return bootstrap-t intervals (Efron and Tibshirani 1993, chapter 12), by the linear standard error of a ratio."""
    labels, units = tables.labels, len(tables.columns)

    def part(place: int) -> Array:
        return tables.columns[:, place * labels : (place + 1) * labels]

    wholes = {"precision": part(0) + part(1), "recall": part(3) + part(4), "f1": part(0) + part(2) + part(3) + part(4)}
    rights = {"precision": part(0), "recall": part(3), "f1": part(0) + part(3)}
    place = ["precision", "recall", "f1"].index(key[1])
    macro = (part(6 + 2 * place), part(7 + 2 * place))
    right, whole = (rights[key[1]], wholes[key[1]]) if key[0] == "micro" else macro
    columns = np.concatenate([right, whole, right**2, right * whole, whole**2], axis=1)
    times = random.multinomial(units, np.full(units, 1 / units), size=resamples).astype(float)

    def estimate(sums: Array) -> tuple[Array, Array]:
        a, b, aa, ab, bb = (sums[:, i * labels : (i + 1) * labels] for i in range(5))
        score = a / b
        return score, np.sqrt(np.maximum(units / (units - 1) * (aa - 2 * score * ab + score**2 * bb), 0)) / b

    with np.errstate(all="ignore"):
        (score,), (spread,) = (one for one in estimate(columns.sum(axis=0)[None, :]))
        drawn, spreads = estimate(times @ columns)
        t = np.where(spreads > 0, (drawn - score) / spreads, np.nan)
        high, low = np.nanquantile(t, (0.025, 0.975), axis=0)
        return score - low * spread, score - high * spread


def _holds(bounds: tuple[Array, Array], true: float) -> float:
    # A draw in which fewer than ten documents count has no interval.
    low, high = (bound[~np.isnan(bounds[0])] for bound in bounds)
    return float(((low <= true + 1e-12) & (true <= high + 1e-12)).mean())


def coverage(world: World, documents: int, *, draws: int, resamples: int, seed: int) -> dict[str, dict[str, float]]:
    """Return by score and method how often the interval holds the truth, and the mean width of ours."""
    random, known = np.random.default_rng(seed), truth(world, seed)
    tables = tables_of_counts(*world.draw(random, documents, draws))
    ours, found = jackknife(tables), {}
    drawn = resampled(tables, resamples, random) if resamples else {}
    for name, key in SCORES.items():
        own, true = ours[key], known[key]
        methods = {"remix": (own.low, own.high)}
        if resamples:
            methods["percentile"] = percentile(drawn[key], own.score, own.change)
            methods["BCa"] = accelerated(drawn[key], own.score, own.change)
            methods["bootstrap-t"] = studentised(tables, key, resamples, random)
        spread = np.sqrt((own.change**2).sum(axis=0) * (documents - 1) / documents)
        methods["jackknife"] = (own.score - 1.96 * spread, own.score + 1.96 * spread)
        found[name] = {
            method: float(((low <= true + 1e-12) & (true <= high + 1e-12)).mean())
            for method, (low, high) in methods.items()
        }
        found[name]["width"] = float(np.nanmean(own.high - own.low))
    return found


def of_differences(world: World, other: float, agree: float, documents: int, *, draws: int, seed: int) -> float:
    """Return how often the interval of the difference of two systems' F1 holds the truth.

    The other has the outcome of the first on a share of the mentions, `agree`, and on the others its own.
    """
    random = np.random.default_rng(seed)

    def draw(number: int, each: int) -> tuple[DocumentTables, DocumentTables]:
        tp, fp, fn = world.draw(random, number, each)
        own = (other - agree * world.score) / (1 - agree)

        def follow(hits: Array, misses: Array, chance: float) -> Array:
            kept = random.binomial(hits.astype(int), agree + (1 - agree) * chance)
            return (kept + random.binomial(misses.astype(int), (1 - agree) * chance)).astype(float)

        right = follow(tp, fn, own)
        wrong = follow(fp, tp + fn - fp, 1 - own)
        return tables_of_counts(tp, fp, fn), tables_of_counts(right, wrong, tp + fn - right)

    one, two = draw(400_000, 1)
    true = float(one.score("micro", "f1")[0] - two.score("micro", "f1")[0])
    first, second = (jackknife(table)["micro", "f1"] for table in draw(documents, draws))
    low, high = difference_of(first, second)
    return _holds((low, high), true)


DOCUMENTS = (10, 20, 50)
METHODS = ("remix", "jackknife", "percentile", "BCa", "bootstrap-t")


def tables(*, draws: int, resamples: int) -> str:
    """Return the tables as Markdown: all methods, the worlds that are promised, harder ones, and differences."""
    asked = [World(*one) for one in product((0.2, 0.5, 0.8, 0.9), (0.0, 0.05, 0.1), (0.0, 0.6))]
    places = [*product(DOCUMENTS, enumerate(asked))]
    found = {
        (documents, world): coverage(world, documents, draws=draws, resamples=0, seed=place)
        for documents, (place, world) in places
    }
    # Bootstraps take a hundred times as long: they are held beside in the hardest of these worlds.
    beside = {
        (documents, world): coverage(world, documents, draws=min(draws, 500), resamples=resamples, seed=place)
        for documents, (place, world) in places
        if (world.correlation, world.spread) == (0.1, 0.6)
    }
    lines = ["| documents | " + " | ".join(f"{name}, least | mean" for name in METHODS) + " |"]
    lines.append("|---|" + "---|---|" * len(METHODS))
    for documents in DOCUMENTS:
        cells = []
        for method in METHODS:
            every = [one[method] for key, scores in beside.items() if key[0] == documents for one in scores.values()]
            cells += [f"{min(every):.3f}", f"{np.mean(every):.3f}"]
        lines.append(f"| {documents} | {' | '.join(cells)} |")
    lines += ["", "| documents | score | " + " | ".join(f"{name}, least" for name in SCORES) + " | width of F1 |"]
    lines.append("|---|---|" + "---|" * (len(SCORES) + 1))
    for place in product(DOCUMENTS, (0.2, 0.5, 0.8, 0.9)):
        documents, score = place
        cells = []
        for name in SCORES:
            own = [one[name] for (number, world), one in found.items() if (number, world.score) == place]
            cells.append(f"{min(one['remix'] for one in own):.3f}")
        widths = [scores["F1"]["width"] for (number, world), scores in found.items() if (number, world.score) == place]
        cells.append(f"{np.mean(widths):.2f}")
        lines.append(f"| {documents} | {score} | {' | '.join(cells)} |")
    lines += ["", "| documents | score | correlation | sizes | " + " | ".join(SCORES) + " |"]
    lines.append("|---|---|---|---|" + "---|" * len(SCORES))
    hard = [World(score, 0.1, 0.6) for score in (0.02, 0.05, 0.95, 0.98, 0.99)]
    hard += [World(0.8, 0.3, 0.6), World(0.8, 0.1, 1.2), World(0.8, 0.0, 0.6, True), World(0.8, 0.1, 0.6, True)]
    for documents, world in product(DOCUMENTS, hard):
        own = coverage(world, documents, draws=draws, resamples=0, seed=documents)
        sizes = "3/4 in one" if world.dominated else f"{world.spread}"
        cells = " | ".join(f"{own[name]['remix']:.3f}" for name in SCORES)
        lines.append(f"| {documents} | {world.score} | {world.correlation} | {sizes} | {cells} |")
    lines += ["", "| F1 of both | the same on | " + " | ".join(f"{number} documents" for number in DOCUMENTS) + " |"]
    lines.append("|---|---|" + "---|" * len(DOCUMENTS))
    pairs = ((0.8, 0.8, 0.0), (0.8, 0.8, 0.7), (0.8, 0.8, 0.97), (0.8, 0.6, 0.0), (0.8, 0.6, 0.7), (0.5, 0.4, 0.7))
    for one, other, agree in (*pairs, (0.9, 0.87, 0.9)):
        worlds = [World(one, correlation, 0.6) for correlation in (0.0, 0.1)]
        rates = [
            min(of_differences(world, other, agree, number, draws=draws, seed=number) for world in worlds)
            for number in DOCUMENTS
        ]
        told = " | ".join(f"{rate:.3f}" for rate in rates)
        lines.append(f"| {one}, {other} | {agree:.0%} | {told} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=400, help="of the bootstraps beside; 0 for none")
    chosen = parser.parse_args()
    print(tables(draws=chosen.draws, resamples=chosen.resamples))


if __name__ == "__main__":
    main()
