"""Scores of documents that are drawn again: how sure the order of systems is.

Documents are drawn with replacement, as many as there are, the same for all systems and parts, so that differences are
paired. Sources: Efron, Bootstrap Methods: Another Look at the Jackknife, 1979; of systems compared, Koehn, Statistical
Significance Tests for Machine Translation Evaluation, EMNLP 2004.
"""

from __future__ import annotations

import numpy as np

from remix.scoring.statistics.intervals import Array, DocumentTables

_BLOCK = 4_000_000
"""How many scores, and how many draws of documents, are held at once."""


def draw_again(tables: DocumentTables, *, samples: int, seed: int, score: str = "f1") -> Array:
    """Return a micro score of documents that are drawn again: an array of samples by labels, NaN where undefined."""
    number = len(tables.columns)
    random = np.random.default_rng(seed)
    block = max(1, _BLOCK // max(number, tables.columns.shape[1], 1))
    found = [np.zeros((0, tables.labels))]
    for first in range(0, samples, block):
        often = random.multinomial(number, np.full(number, 1 / number), min(block, samples - first))
        found.append(tables.scores(often.astype(np.float64) @ tables.columns, "micro")["micro", score])
    drawn: Array = np.concatenate(found)
    return drawn
