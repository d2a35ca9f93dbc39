"""PageRank and HITS by joins and sums over frames, for link graphs that no machine holds in memory.

The scores are those of the module `scores`, whose matrices are many times faster where the edges fit into memory. A
round is several steps in one query, whose result is a file: the plan of a query over all steps would not fit into
memory, and a run that is interrupted goes on after the last round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any

import narwhals as nw
import polars as pl

from remix.errors import Error
from remix.kb.engines import Session, height
from remix.kb.prominence import SCORES, SEGMENTS
from remix.kb.prominence.graph import RankedGraph, number_graph
from remix.progress import stage

__all__ = ["rank_nodes"]

Frame = nw.LazyFrame[Any]
Step = Callable[[Frame], Frame]

STEPS = 16
"""Steps in a round. Authorities are scaled only between rounds: within one they grow by the largest eigenvalue of the
graph with each step, which may be 1e19 before the numbers overflow."""

ITERATIONS = {"PageRank": 1000, "HITS": 10_000}
"""After so many scores have settled, or never will."""

DIGITS = 12
"""Significant digits of scores: those that are equal in truth must tie, in whatever order they were summed up."""


def rank_nodes(
    session: Session, links: Sequence[Path], resolution: Path, work: Path, *, damping: float, tolerance: float
) -> RankedGraph:
    """Return the files with the prominence of every node and with the edges, as that of `graph` does.

    `links` is at least one file with at least one row. Raises `Error` where scores do not settle.
    """
    result = RankedGraph(work / "scores.parquet", work / "edges.parquet")
    nodes = work / "nodes.parquet"
    if not result.edges.exists():
        number_graph(session, session.scan(links), resolution, work, nodes, result.edges)
    if not result.scores.exists():
        graph = _Graph(session, nodes, result.edges, work, tolerance)
        scores = graph.with_places(graph.scores(damping))
        session.write(scores, result.scores, ["entity"])
    return result


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
        return self.session.scan([file])

    def pagerank(self, damping: float) -> Frame:
        """Return node and value, the PageRank.

        What nodes without outgoing edges pass on evenly makes all ranks larger by one factor: the ranks that are
        computed without it, divided by their sum, are the same. Source: Del Corso, Gullì, Romani, Fast PageRank
        computation via a sparse linear system, 2005.
        """
        out = _degrees(self.edges, "source").select(source="node", out="value")
        weight = nw.lit(damping, nw.Float64) / nw.col("out")
        weighted = self.edges.join(out, on="source").select("source", "target", weight=weight)
        edges = self.session.scan([self._file("weighted-edges", lambda: weighted)])
        every = self.nodes.select("node", value=nw.lit((1.0 - damping) / self.count, nw.Float64))

        def step(ranks: Frame) -> Frame:
            passed = edges.join(ranks, left_on="source", right_on="node")
            passed = passed.select(node="target", value=nw.col("value") * nw.col("weight"))
            return _sums(nw.concat([passed, every]))

        return self._summing_to_one(self._settle("PageRank", every, step, self._scan))

    def hits(self) -> tuple[Frame, Frame]:
        """Return node and value of the authorities and of the hubs; both are empty without edges."""

        def move(values: Frame, begin: str, end: str) -> Frame:
            return _sums(self.edges.join(values, left_on=begin, right_on="node").select("value", node=end))

        def step(authorities: Frame) -> Frame:
            return move(move(authorities, "target", "source"), "source", "target")

        every = self.nodes.select("node", value=nw.lit(1.0 / self.count, nw.Float64))
        settled = self._settle("HITS", every, step, self._summing_to_one)
        authorities = self._summing_to_one(settled)
        hubs = self._file("hubs", lambda: move(authorities, "target", "source"))
        return authorities, self._summing_to_one(hubs)

    def with_places(self, scores: Frame) -> Frame:
        """Return the scores with the rank, percentile and segment of each; see `add_places`."""
        for score in SCORES:
            downwards = scores.filter(~nw.col(score).is_null()).select((0.0 - nw.col(score)).alias("downwards"))
            places = self.work / f"places-{score}.parquet"
            if not places.exists():
                self.session.number(downwards, "downwards", places)
            count = height(places)
            first = (
                self.session.scan([places])
                .group_by("downwards")
                .agg(nw.col("number").min().alias("before"), nw.len().alias("equal"))
            )
            first = first.select((0.0 - nw.col("downwards")).alias(score), "before", "equal")
            better = (nw.col("before") / max(count, 1)).round(12)
            middle = (nw.col("before") + nw.col("equal") / 2) / max(count, 1)
            torso_or_tail = nw.when(better < SEGMENTS["torso"]).then(nw.lit("torso")).otherwise(nw.lit("tail"))
            segment = nw.when(better < SEGMENTS["head"]).then(nw.lit("head")).otherwise(torso_or_tail)
            columns = {
                f"{score}_rank": (nw.col("before") + 1).cast(nw.Int64),
                f"{score}_equal": nw.col("equal").cast(nw.Int64),
                f"{score}_percentile": (100.0 * (1.0 - middle)).round(10),
                f"{score}_segment": segment,
            }
            scores = scores.join(first.with_columns(**columns).drop("before", "equal"), on=score, how="left")
        return scores

    def _settle(self, name: str, start: Frame, step: Step, scaled: Callable[[Path], Frame]) -> Path:
        """Return the file (node, value) of the first round of steps that changes less than the tolerance.

        `scaled` gives the values of a file as they are compared and as the next round begins with them.
        """
        stem = name.lower()
        done = sorted(self.work.glob(f"{stem}-[0-9]*.parquet"))
        last = done[-1] if done else None
        values = scaled(last) if last else start
        first = int(last.stem.removeprefix(f"{stem}-")) + 1 if last else 0
        for number in range(first, ITERATIONS[name] // STEPS):
            file = self.work / f"{stem}-{number:04d}.parquet"
            with stage(f"{name}, {STEPS * (number + 1)} iterations"):
                self.session.write(_repeat(step, values), file)
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
