"""Is one part of the mentions found more often than another, where documents and entities have effects of their own?

What is right of one mention says something about the others of its document, and of its entity wherever that is
repeated. So mentions cannot change places one by one, nor whole documents alone. Both are crossed random effects here,
as subjects and words are in psycholinguistics: Baayen, Davidson and Bates, Mixed-effects Modeling with Crossed Random
Effects for Subjects and Items, 2008; Clark, The Language-as-Fixed-Effect Fallacy, 1973. The effects are estimated of
all mentions, by pairs that share a document, an entity, or both; then the outcomes of all mentions are drawn again and
again from effects of that size, which know nothing of parts, and p is the share of draws in which the parts differ as
much as they do. `bench/slices.py` shows how often that is wrong, and how often it finds a difference:
docs/statistics.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from remix.scoring.statistics.intervals import Array

Numbers = npt.NDArray[np.int64]

_BLOCK = 8_000_000
"""How many outcomes are held at once."""

_LATENT = np.linspace(0.0, 0.9999, 200)
"""Correlations of normal variables that outcomes are cut from."""


@cache
def _quadrature() -> tuple[Array, Array]:
    """Return where, and how much, a function counts in its mean over a standard normal variable."""
    # The import of these polynomials takes longer than that of all of scoring but polars and numpy themselves.
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    return nodes, weights


@dataclass(frozen=True)
class Verdicts:
    """What became of mentions: `values` from 0 (wrong) to 1 (right), and the `documents` and `entities` they are of."""

    values: Array
    documents: Numbers
    entities: Numbers

    def only(self, chosen: npt.NDArray[np.bool_]) -> Verdicts:
        """Return the outcomes of these mentions."""
        return Verdicts(self.values[chosen], self.documents[chosen], self.entities[chosen])


def test_parts(outcomes: Verdicts, parts: Array, others: Array, *, samples: int, seed: int) -> Array:
    """Return p of each part: is what is in it right as often as what is in the other?

    `parts` and `others` are of mentions by tests, true where a mention is in the part. The null is that being in the
    part or in the other says nothing of a mention beside what its document and its entity say. p is two-sided, (as
    large differences + 1) / (samples + 1); the draws do not depend on how many parts are tested. A difference is
    between means in which mentions that tell the same, as they share an entity or a document, count less.
    """
    keys = [_number(outcomes.documents), _number(outcomes.entities)]
    blocks = _number(keys[0] * (keys[1].max(initial=0) + 1) + keys[1])
    weights, correlations = _estimate(outcomes.values, keys[0], keys[1], blocks)
    if np.ptp(outcomes.values) == 0:
        return np.ones(parts.shape[1])
    own, other = parts * weights[:, None], others * weights[:, None]
    contrasts = (own / own.sum(axis=0) - other / other.sum(axis=0)).T
    observed = np.abs(contrasts @ outcomes.values)
    levels, cuts = _levels(outcomes.values, weights)
    wrong = 1 - float(weights @ outcomes.values) / float(weights.sum())
    effects = _latent(correlations, wrong, [_pairs(key, blocks) for key in keys])
    random, as_large = np.random.default_rng(seed), np.zeros(len(observed), dtype=np.int64)
    size = max(1, _BLOCK // len(weights))
    contrasts = contrasts.astype(np.float32)
    for first in range(0, samples, size):
        drawn = _draw((*keys, blocks), effects, min(size, samples - first), random)
        values = levels[np.searchsorted(cuts, drawn)] if len(cuts) > 1 else (drawn > cuts[0]).astype(np.float32)
        # Sums in another order differ in the last digits: what is as large must count as such.
        as_large += (np.abs(contrasts @ values) >= observed[:, None] - 1e-6).sum(axis=1)
    return (as_large + 1) / (samples + 1)


def _number(keys: Numbers) -> Numbers:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _estimate(values: Array, documents: Numbers, entities: Numbers, blocks: Numbers) -> tuple[Array, list[float]]:
    """Return how much each mention counts, and the correlations of pairs that share document, entity, or both.

    Weights are about the inverse of how many mentions go with one: where entities are right or wrong as a whole, an
    entity counts once, however often it is repeated. Each depends on the other, and five rounds suffice.
    """
    alone, weights = np.arange(len(values)), np.ones(len(values))
    of_document, of_entity, of_block = (np.bincount(key)[key] for key in (documents, entities, blocks))
    correlations = [0.0, 0.0, 0.0]
    for _ in range(5):
        residuals = values - weights @ values / weights.sum()
        pairs = ((documents, blocks), (entities, blocks), (blocks, alone))
        correlations = [_correlation(*pair, residuals, one) for pair, one in zip(pairs, correlations, strict=True)]
        beside = ((of_document - of_block), (of_entity - of_block), (of_block - 1))
        weights = 1 / (1 + np.array(correlations) @ np.array(beside))
    return weights, correlations


def _correlation(clusters: Numbers, within: Numbers, residuals: Array, known: float) -> float:
    """Return how far two mentions of one cluster go together that are not together `within` it as well.

    It is 1 where clusters are right or wrong as a whole. `known` is about what comes out: the more mentions of a
    cluster tell the same, the less its many pairs count, of which a frequent entity would have nearly all.
    """
    sizes = np.bincount(clusters)
    each = 1 / (1 + (sizes - 1) * known) ** 2
    owner = clusters[np.unique(within, return_index=True)[1]]
    inner = np.bincount(owner, np.bincount(within, residuals) ** 2, minlength=len(sizes))
    together = each @ (np.bincount(clusters, residuals) ** 2 - inner)
    beside = sizes[clusters] - np.bincount(within)[within]
    alone = (each[clusters] * beside) @ residuals**2
    return float(min(max(together / alone, 0.0), 1.0)) if alone > 0 else 0.0


def _pairs(clusters: Numbers, within: Numbers) -> float:
    """Return how many pairs of one cluster are not together `within` it as well."""
    return float((np.bincount(clusters) ** 2).sum() - (np.bincount(within) ** 2).sum()) / 2


def _levels(values: Array, weights: Array) -> tuple[Array, Array]:
    """Return the different values, and where a normal variable is cut so that it has each as often as they have."""
    from scipy.special import ndtri

    levels, places = np.unique(values, return_inverse=True)
    shares = np.bincount(places, weights) / weights.sum()
    return levels.astype(np.float32), ndtri(np.cumsum(shares)[:-1]).astype(np.float32)


def _latent(correlations: list[float], wrong: float, pairs: list[float]) -> Array:
    """Return the variances of document, entity, both and neither of the normal variable that is cut into outcomes.

    What those of document and entity are beyond 1 together is taken from the one that fewer `pairs` tell of, as it may
    be off by more.
    """
    from scipy.special import ndtr, ndtri

    cut = ndtri(min(max(wrong, 1e-9), 1 - 1e-9))
    # How often two are wrong, whose normal variables are so correlated.
    nodes, weights = _quadrature()
    both = ndtr((cut - np.sqrt(_LATENT)[:, None] * nodes) / np.sqrt(1 - _LATENT)[:, None]) ** 2 @ weights
    of_outcomes = (both / weights.sum() - wrong**2) / (wrong * (1 - wrong))
    document, entity, block = (float(one) for one in np.interp(correlations, of_outcomes, _LATENT))
    if (beyond := document + entity - 1) > 0:
        share = pairs[1] / sum(pairs)
        document, entity = max(document - share * beyond, 0.0), max(entity - (1 - share) * beyond, 0.0)
    parts = np.array([document, entity, max(block - document - entity, 0.0)])
    parts = parts / max(1.0, parts.sum())
    return np.append(parts, max(0.0, 1 - parts.sum()))


def _draw(keys: tuple[Numbers, ...], variances: Array, samples: int, random: np.random.Generator) -> Array:
    """Return mentions by samples: normal variables with effects of these variances."""
    mentions = len(keys[0])

    def normal(rows: int, variance: float) -> Array:
        return random.standard_normal((rows, samples), dtype=np.float32) * np.float32(np.sqrt(variance))

    drawn = normal(mentions, float(variances[3]))
    for key, variance in zip(keys, variances, strict=False):
        if variance > 0:
            drawn += normal(int(key.max()) + 1, float(variance))[key]
    return drawn
