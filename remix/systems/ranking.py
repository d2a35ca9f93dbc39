"""Personalised PageRank over the candidates of documents, all documents at once: each is a graph of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROUNDS = 100
_SETTLED = 1e-9


def rank_candidates(nodes: pl.DataFrame, edges: pl.DataFrame, *, damping: float = 0.85) -> pl.Series:
    """Return the rank of each node: how often a walker is there who follows edges and starts again by the weights.

    `nodes` (document, weight) are numbered by their rows. Weights are not negative; those of a document count as shares
    of their sum, and so its ranks sum up to 1. `edges` (source, target: numbers of nodes of one document) are followed
    both ways. From where no edge leads on, the walker starts again.

    >>> nodes = pl.DataFrame({"document": ["d"] * 3, "weight": [1.0, 1.0, 1.0]})
    >>> edges = pl.DataFrame({"source": [0], "target": [1]})
    >>> [round(rank, 3) for rank in rank_candidates(nodes, edges)]
    [0.465, 0.465, 0.07]
    """
    import numpy as np
    from scipy import sparse

    count = len(nodes)
    if not count:
        return pl.Series("rank", [], dtype=pl.Float64)
    rows, columns = (edges[end].to_numpy().astype(np.int64) for end in ("source", "target"))
    both = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    matrix = sparse.csr_matrix((np.ones(2 * len(rows)), both), shape=(count, count))
    matrix.data[:] = 1.0  # edges in both directions are one
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    leads_on = degree > 0
    steps = (sparse.diags(np.divide(1.0, degree, out=np.zeros(count), where=leads_on)) @ matrix).T.tocsr()
    document = nodes["document"].rank("dense").to_numpy().astype(np.int64) - 1
    start = _share(nodes["weight"].to_numpy().astype(float), document)
    rank = start
    for _ in range(_ROUNDS):
        stuck = np.bincount(document, weights=rank * ~leads_on)[document]
        further = damping * (steps @ rank + stuck * start) + (1 - damping) * start
        moved, rank = np.abs(further - rank).max(), further
        if moved < _SETTLED:
            break
    return pl.Series("rank", rank)


def _share(weights: NDArray[np.float64], document: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return weights as shares of their document; where all are 0, they are equal."""
    import numpy as np

    total, size = np.bincount(document, weights=weights), np.bincount(document)
    return np.where(total[document] > 0, weights / np.maximum(total[document], 1e-300), 1.0 / size[document])
