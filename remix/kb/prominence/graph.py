"""The link graph of a knowledge base: from staged links of any number to numbered edges and the prominence of nodes.

Names become numbers by joins that an engine carries out on disk; what is in memory is one number an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from scipy import sparse

from remix.frames import write_parquet
from remix.kb import relations
from remix.kb.engines import Session
from remix.kb.prominence.scores import compute_scores
from remix.places import aside_of
from remix.progress import stage

__all__ = ["RankedGraph", "edge_matrix", "name_edges", "number_graph", "rank_nodes"]

Frame = nw.LazyFrame[Any]
CHUNK = 1 << 24
"""Edges that are read at one go."""


@dataclass(frozen=True)
class RankedGraph:
    """The two files that `rank_nodes` leaves.

    - `scores`: a row a node: entity, in_degree, out_degree, pagerank, hits (authority) and hub, and of these three
      each rank, percentile and segment; sorted by entity;
    - `edges`: a row an edge: target and source (Int32), the numbers of rows of `scores` from 0; sorted.
    """

    scores: Path
    edges: Path


def rank_nodes(
    session: Session,
    links: Sequence[Path],
    resolution: Path | None,
    work: Path,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-12,
) -> RankedGraph:
    """Return the files with the prominence of every node of a link graph and with its edges, both in `work`.

    `links` are Parquet files with the columns source and target; both are first replaced by what they stand for in
    `resolution` (iri, entity). A repeated edge counts once, an edge from a node to itself not at all, though its node
    is one. Each step leaves a file in `work`, which appears when it is complete and is not made again.
    """
    result = RankedGraph(work / "scores.parquet", work / "edges.parquet")
    if not links:
        nothing = pl.DataFrame(schema={"source": pl.String, "target": pl.String})
        write_parquet(nothing, work / "no-links.parquet")
        links = [work / "no-links.parquet"]
    if result.scores.exists() and result.edges.exists():
        return result
    nodes = work / "nodes.parquet"
    if not result.edges.exists():
        number_graph(session, session.scan(links), resolution, work, nodes, result.edges)
    if not result.scores.exists():
        count: int = pl.scan_parquet(nodes).select(pl.len()).collect().item()
        with stage("PageRank and HITS"):
            numbers = compute_scores(edge_matrix(result.edges, count), damping=damping, tolerance=tolerance)
        # The names come last: next to the matrix they would be the most that is ever in memory.
        entities = pl.read_parquet(nodes, columns=["entity"])
        with aside_of(result.scores) as aside:
            write_parquet(pl.concat([entities, numbers], how="horizontal"), aside)
            aside.replace(result.scores)
    return result


def number_graph(session: Session, links: Frame, resolution: Path | None, work: Path, nodes: Path, edges: Path) -> None:
    """Write the nodes (entity, number) and the edges (target, source) by their numbers, sorted; see `rank_nodes`.

    Numbers go from 0 in the order of the entities.
    """
    iris = work / "iris.parquet"
    if not iris.exists():
        ends = nw.concat([links.select(nw.col(end).alias("iri")) for end in ("source", "target")])
        named = relations.distinct(ends.filter(~nw.col("iri").is_null()), ["iri"])
        named = named.with_columns(entity=nw.col("iri"))
        if resolution is not None:
            named = relations.resolve(named, "entity", session.scan([resolution]))
        with stage("names of the link graph"):
            session.write(named, iris)
    if not nodes.exists():
        entities = relations.distinct(session.scan([iris]), ["entity"])
        with stage("nodes of the link graph"):
            session.number(entities, "entity", nodes)
    numbers = session.scan([iris]).join(session.scan([nodes]), on="entity")
    numbers = numbers.select("iri", nw.col("number").cast(nw.Int32))
    pairs = links.select("source", "target")
    for end in ("source", "target"):
        moves = numbers.select(nw.col("iri").alias(end), nw.col("number").alias(f"_{end}"))
        pairs = pairs.join(moves, on=end)
    by_number = pairs.filter(nw.col("_source") != nw.col("_target")).select(
        nw.col("_target").alias("target"), nw.col("_source").alias("source")
    )
    with stage("edges of the link graph"):
        session.write(relations.distinct(by_number, ["target", "source"]), edges, ["target", "source"])


def edge_matrix(edges: Path, count: int) -> sparse.csc_array:
    """Return the matrix whose row is an edge's source and whose column is its target, of edges sorted by target.

    The columns are compressed, so it is the matrix of incoming links at the same time (its transpose).
    """
    size: int = pl.scan_parquet(edges).select(pl.len()).collect().item()
    sources = np.empty(size, dtype=np.int32)
    ends = np.zeros(count + 1, dtype=np.int64)
    for first, part in _pieces(edges, size):
        sources[first : first + part.height] = part["source"].to_numpy()
        ends[1:] += np.bincount(part["target"].to_numpy(), minlength=count)
    starts = np.cumsum(ends)
    if size <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # next to 64 bits, scipy copies the sources to 64 bits as well
    matrix: sparse.csc_array = sparse.csc_array((np.ones(size, np.int8), sources, starts), shape=(count, count))
    return matrix


def _pieces(edges: Path, size: int) -> Iterator[tuple[int, pl.DataFrame]]:
    for first in range(0, size, CHUNK):
        yield first, pl.scan_parquet(edges).slice(first, CHUNK).collect()


def name_edges(scores: Path, edges: Path) -> pl.DataFrame:
    """Return source and target of each edge as entities: those of `scores` (or of the part entities) that are ranked.

    Entities without a PageRank are no nodes and have no number.
    """
    nodes = pl.scan_parquet(scores).filter(pl.col("pagerank").is_not_null())
    entities = nodes.select("entity").collect()["entity"]
    numbers = pl.read_parquet(edges)
    return pl.DataFrame({end: entities.gather(numbers[end]) for end in ("source", "target")})
