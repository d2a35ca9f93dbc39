"""The link graph of a knowledge base: from staged links of any number to numbered edges and the prominence of nodes.

Names become numbers by joins that an engine carries out on disk; what is in memory is one number an edge, and nothing
that grows with the graph where the engine is distributed. There PageRank and HITS are joins and sums over frames, many
times slower than the matrices of the module `scores`: a round is several steps in one query, whose result is a file,
as the plan of a query over all steps would not fit into memory. A run that is interrupted goes on after the last round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from remix.errors import Error
from remix.frames import write_parquet
from remix.kb import relations
from remix.kb.engines import Session, height
from remix.kb.prominence import FADED, SCORES, add_ranks
from remix.places import aside_of
from remix.progress import stage

if TYPE_CHECKING:
    from scipy import sparse

Frame = nw.LazyFrame[Any]
Step = Callable[[Frame], Frame]
CHUNK = 1 << 24
"""Edges that are read at one go."""


STEPS = 16
"""Steps in a round. Authorities are scaled only between rounds: within one they grow by the largest eigenvalue of the
graph with each step, which may be 1e19 before the numbers overflow."""
ITERATIONS = {"PageRank": 1000, "HITS": 10_000}
"""After so many scores have settled, or never will."""
DIGITS = 12
"""Significant digits of scores: those that are equal in truth must tie, in whatever order they were summed up."""


@dataclass(frozen=True)
class RankedGraph:
    """The two files that `rank_nodes` leaves.

    - `scores`: a row a node: entity, in_degree, out_degree, pagerank, hits (authority) and hub, and of these three
      each rank and number of equals (`_rank`, `_equal`); sorted by entity;
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
    distributed: bool = False,
) -> RankedGraph:
    """Return the files with the prominence of every node of a link graph and with its edges, both in `work`.

    `links` are Parquet files with the columns source and target; both are first replaced by what they stand for in
    `resolution` (iri, entity). A repeated edge counts once, an edge from a node to itself not at all, though its node
    is one. Each step leaves a file in `work`, which appears when it is complete and is not made again. What is
    `distributed` goes by joins. Raises `Error` where scores do not settle.
    """
    result, nodes = RankedGraph(work / "scores.parquet", work / "edges.parquet"), work / "nodes.parquet"
    if not links:
        links = [work / "no-links.parquet"]
        write_parquet(pl.DataFrame(schema={"source": pl.String, "target": pl.String}), links[0])
    if not result.edges.exists():
        number_graph(session, session.scan(links), resolution, work, nodes, result.edges)
    if result.scores.exists():
        return result
    if distributed and height(nodes):
        graph = _Graph(session, nodes, result.edges, work, tolerance)
        session.write(graph.with_ranks(graph.scores(damping)), result.scores, ["entity"])
        return result
    numbers = _rank_nothing()
    if count := height(nodes):
        # Most builds have no links, and take less time than what computes scores takes to import.
        from remix.kb.prominence.scores import compute_scores

        with stage("PageRank and HITS"):
            numbers = compute_scores(edge_matrix(result.edges, count), damping=damping, tolerance=tolerance)
    # The names come last: next to the matrix they would be the most that is ever in memory.
    entities = pl.read_parquet(nodes, columns=["entity"])
    with aside_of(result.scores) as aside:
        write_parquet(pl.concat([entities, numbers], how="horizontal"), aside)
        aside.replace(result.scores)
    return result


def _rank_nothing() -> pl.DataFrame:
    """Return the scores of no node."""
    kinds = {"in_degree": pl.Int64, "out_degree": pl.Int64, **dict.fromkeys(SCORES, pl.Float64)}
    return reduce(add_ranks, SCORES, pl.DataFrame(schema=kinds))


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
    size = height(edges)
    import numpy as np
    from scipy import sparse

    sources = np.empty(size, dtype=np.int32)
    ends = np.zeros(count + 1, dtype=np.int64)
    for first in range(0, size, CHUNK):
        part = pl.scan_parquet(edges).slice(first, CHUNK).collect()
        sources[first : first + part.height] = part["source"].to_numpy()
        ends[1:] += np.bincount(part["target"].to_numpy(), minlength=count)
    starts = np.cumsum(ends)
    if size <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # next to 64 bits, scipy copies the sources to 64 bits as well
    matrix: sparse.csc_array = sparse.csc_array((np.ones(size, np.int8), sources, starts), shape=(count, count))
    return matrix


def name_edges(scores: Path, edges: Path) -> pl.DataFrame:
    """Return source and target of each edge as entities: those of `scores` (or of the part entities) that are ranked.

    Entities without a PageRank are no nodes and have no number.
    """
    nodes = pl.scan_parquet(scores).filter(pl.col("pagerank").is_not_null())
    entities = nodes.select("entity").collect()["entity"]
    numbers = pl.read_parquet(edges)
    return pl.DataFrame({end: entities.gather(numbers[end]) for end in ("source", "target")})


class _Graph:
    """The numbered nodes and edges of a link graph, and what is computed of them, file by file."""

    def __init__(self, session: Session, nodes: Path, edges: Path, work: Path, tolerance: float) -> None:
        self.session, self.work, self.tolerance = session, work, tolerance
        self.nodes = session.scan([nodes]).select("entity", node=nw.col("number").cast(nw.Int32))
        self.edges = session.scan([edges]).select("source", "target")
        self.count = height(nodes)

    def scores(self, damping: float) -> Frame:
        """Return entity, in_degree, out_degree, pagerank, hits and hub of every node."""
        authorities, hubs = self.hits()
        columns = {
            "in_degree": _degrees(self.edges, "target"),
            "out_degree": _degrees(self.edges, "source"),
            "pagerank": self.pagerank(damping),
            "hits": authorities,
            "hub": hubs,
        }
        scores = self.nodes
        for column, values in columns.items():
            scores = scores.join(values.select("node", nw.col("value").alias(column)), on="node", how="left")
        degrees = (nw.col(column).fill_null(0).cast(nw.Int64) for column in ("in_degree", "out_degree"))
        rounded = (_round(nw.col(column).fill_null(0.0)).alias(column) for column in SCORES)
        every = scores.select("entity", *degrees, *rounded)
        # An authority or hub below the tolerance is no score; see `remix.kb.prominence.scores.compute_scores`.
        settled = (nw.when(nw.col(name) >= self.tolerance).then(nw.col(name)).alias(name) for name in ("hits", "hub"))
        file = self._file("prominence", lambda: every.with_columns(*settled))
        return self._scan(file)

    def pagerank(self, damping: float) -> Frame:
        """Return node and value, the PageRank.

        What nodes without outgoing edges pass on evenly makes all ranks larger by one factor: the ranks that are
        computed without it, divided by their sum, are the same. Source: Del Corso, Gullì, Romani, Fast PageRank
        computation via a sparse linear system, 2005.
        """
        out = _degrees(self.edges, "source").select(source="node", out="value")
        weight = nw.lit(damping, nw.Float64) / nw.col("out")
        weighted = self.edges.join(out, on="source").select("source", "target", weight=weight)
        edges = self._scan(self._file("weighted-edges", lambda: weighted))
        every = self.nodes.select("node", value=nw.lit((1.0 - damping) / self.count, nw.Float64))

        def step(ranks: Frame) -> Frame:
            passed = edges.join(ranks, left_on="source", right_on="node")
            passed = passed.select(node="target", value=nw.col("value") * nw.col("weight"))
            return _sums(nw.concat([passed, every]))

        settled = self._settle("PageRank", every, lambda ranks: _repeat(step, ranks), self._scan)
        return self._summing_to_one(settled)

    def hits(self) -> tuple[Frame, Frame]:
        """Return node and value of the authorities and of the hubs; both are empty without edges.

        What is iterated, and which components have scores, is as in `remix.kb.prominence.scores.hits`.
        """

        def move(values: Frame, begin: str, end: str) -> Frame:
            return _sums(self.edges.join(values, left_on=begin, right_on="node").select("value", node=end))

        def step(authorities: Frame) -> Frame:
            return move(move(authorities, "target", "source"), "source", "target")

        def steps(before: Frame) -> Frame:
            moved = _repeat(step, before.select("node", "value"))
            return moved.join(before.select("node", "component", before="value"), on="node")

        every = self.components().with_columns(value=nw.lit(1.0 / self.count, nw.Float64))
        settled = self._settle("HITS", every, steps, lambda file: self._scaled_in_components(file, "most"))
        shares = self._scaled_in_components(settled, "least").select("node", "value")
        authorities = self._summing_to_one(self._file("authorities", lambda: shares))
        hubs = self._file("hubs", lambda: move(authorities, "target", "source"))
        return authorities, self._summing_to_one(hubs)

    def components(self) -> Frame:
        """Return node and component of every node that is linked to: nodes that share hubs, directly or by others.

        A component is called by its first node. Each round hands the first known one from node to node, and then takes
        the one that this one has.
        """

        def hand(labels: Frame) -> Frame:
            for begin, end in [("target", "source"), ("source", "target")] * 2:
                known = self.edges.join(labels, left_on=begin, right_on="node")
                labels = known.group_by(end).agg(nw.col("component").min()).select("component", node=end)
            return labels

        def take(labels: Frame) -> Frame:
            onward = labels.select(component="node", _first="component")
            return labels.join(onward, on="component").select("node", component="_first")

        targets = self.edges.group_by("target").agg(nw.len().alias("_edges"))
        labels, total, before, number = targets.select(node="target", component="target"), -1, -2, 0
        while total != before:
            near = self._scan(self._file(f"near-{number}", partial(hand, labels)))
            file = self._file(f"components-{number}", partial(take, near))
            labels, before, number = self._scan(file), total, number + 1
            total = pl.scan_parquet(file).select(pl.col("component").cast(pl.Int64).sum()).collect().item()
        return labels

    def _scaled_in_components(self, file: Path, bound: str) -> Frame:
        """Return node, component and value of a round in the components that may have the largest singular value.

        `bound` is the column of what that is at `most` or at `least`: of the first every component that is kept has one
        share, of the second that which equal authorities give it.
        """
        value, before, total = nw.col("value"), nw.col("before"), nw.col("total")
        rows = self._scan(file).filter(before > FADED)
        sums = rows.group_by("component").agg(
            value.sum().alias("total"),
            (value / before).max().alias("most"),
            (value * before).sum().alias("both"),
            (before * before).sum().alias("before_squares"),
            (value * value).sum().alias("squares"),
        )
        sums = sums.with_columns(least=nw.col("both") / nw.col("before_squares"))
        bounds = self._file(f"bounds-{file.stem}", lambda: sums)
        # Both are bounds of what so many steps multiply by.
        largest = pl.scan_parquet(bounds).select(pl.col("least").max()).collect().item() or 0.0
        enough = largest * (1.0 - self.tolerance) ** STEPS
        several = pl.scan_parquet(bounds).filter(pl.max_horizontal(bound, "least") >= enough)
        count = several.select(pl.len()).collect().item()
        kept = self._scan(bounds).filter(nw.max_horizontal(bound, "least") >= enough)
        scale = 1.0 / (total * count) if bound == "most" else total / nw.col("squares")
        scales = kept.select("component", scale=scale)
        return self._scan(file).join(scales, on="component").select("node", "component", value=value * nw.col("scale"))

    def with_ranks(self, scores: Frame) -> Frame:
        """Return the scores with the rank of each and the number of its equals; see `add_ranks`."""
        for score in SCORES:
            downwards = scores.filter(~nw.col(score).is_null()).select((0.0 - nw.col(score)).alias("downwards"))
            places = self.work / f"places-{score}.parquet"
            if not places.exists():
                self.session.number(downwards, "downwards", places)
            rank, equal = nw.col("number").min() + 1, nw.len()
            first = self._scan(places).group_by("downwards").agg(rank.alias("rank"), equal.alias("equal"))
            columns = {f"{score}_{name}": nw.col(name).cast(nw.Int64) for name in ("rank", "equal")}
            first = first.select((0.0 - nw.col("downwards")).alias(score), **columns)
            scores = scores.join(first, on=score, how="left")
        return scores

    def _settle(self, name: str, start: Frame, steps: Step, scaled: Callable[[Path], Frame]) -> Path:
        """Return the file (node, value, …) of the first round of steps that changes less than the tolerance.

        `steps` makes a round, and `scaled` gives the values of a file as they are compared and as the next round begins
        with them.
        """
        stem = name.lower()
        done = sorted(self.work.glob(f"{stem}-[0-9]*.parquet"))
        last = done[-1] if done else None
        values = scaled(last) if last else start
        first = int(last.stem.removeprefix(f"{stem}-")) + 1 if last else 0
        for number in range(first, ITERATIONS[name] // STEPS):
            file = self.work / f"{stem}-{number:04d}.parquet"
            with stage(f"{name}, {STEPS * (number + 1)} iterations"):
                self.session.write(steps(values), file)
            moved = scaled(file)
            if self._change(values, moved) < self.tolerance:
                return file
            if last is not None:
                _remove(last)
            values, last = moved, file
        raise Error(
            f"{name} has not settled after {ITERATIONS[name]} iterations: allow a larger tolerance than"
            f" {self.tolerance:g}"
        )

    def _scan(self, file: Path) -> Frame:
        return self.session.scan([file])

    def _summing_to_one(self, file: Path) -> Frame:
        total = pl.scan_parquet(file).select(pl.col("value").sum()).collect().item()
        return self._scan(file).with_columns(value=nw.col("value") / (total or 1.0))

    def _change(self, values: Frame, moved: Frame) -> float:
        before = values.select("node", value=0.0 - nw.col("value"))
        changes = _sums(nw.concat([moved.select("node", "value"), before]))
        # Through a file, as what duckdb hands over in memory needs pyarrow, which only the extra for Spark brings.
        file = self.work / "change.parquet"
        _remove(file)
        self.session.write(changes.select(nw.col("value").abs().sum()), file)
        return float(pl.read_parquet(file)["value"].sum())

    def _file(self, name: str, rows: Callable[[], Frame]) -> Path:
        file = self.work / f"{name}.parquet"
        if not file.exists():
            self.session.write(rows(), file)
        return file


def _repeat(step: Step, values: Frame) -> Frame:
    for _ in range(STEPS):
        values = step(values)
    return values


def _remove(file: Path) -> None:
    if file.is_dir():
        rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


def _degrees(edges: Frame, end: str) -> Frame:
    return edges.group_by(end).agg(nw.len().alias("value")).select("value", node=end)


def _sums(rows: Frame) -> Frame:
    return rows.group_by("node").agg(nw.col("value").sum())


def _round(value: nw.Expr) -> nw.Expr:
    """Return a value, which is not negative, with so many significant digits."""
    digits = (DIGITS - 1) - value.log(10).floor()
    scale = nw.lit(10.0, nw.Float64) ** digits
    return nw.when(value > 0).then((value * scale).round(0) / scale).otherwise(nw.lit(0.0))
