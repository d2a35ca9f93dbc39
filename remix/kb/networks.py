"""Graphs of networkx: links, classes, redirects and the candidates of documents, and what is asked of them.

networkx holds Python objects: these graphs are for those of thousands or of a few million edges. What a whole
encyclopedia is asked (prominence, what redirects lead to, superclasses) goes by matrices and joins instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix.errors import MissingKnowledge
from remix.files import write_whole
from remix.kb.prominence import SCORES

if TYPE_CHECKING:
    import networkx

    from remix.kb.parts import Parts


def to_graph(edges: pl.DataFrame) -> networkx.DiGraph:
    """Return the graph whose edges are the rows of a frame: from the first column to the second.

    >>> graph = to_graph(pl.DataFrame({"source": ["a", "a"], "target": ["b", "c"]}))
    >>> sorted(graph.edges)
    [('a', 'b'), ('a', 'c')]
    """
    import networkx

    return networkx.DiGraph(edges.select(edges.columns[:2]).rows())


def link_graph(kb: Parts) -> networkx.DiGraph:
    """Return the link graph; nodes are the ranked entities with pagerank, hits and hub, edges fold redirects.

    Raises `MissingKnowledge` where the knowledge base was built without links.
    """
    if not kb.has("links"):
        raise MissingKnowledge(f"the knowledge base '{kb.name}' keeps no links: build it from sources with links")
    from remix.kb.prominence.graph import name_edges

    graph = to_graph(name_edges(kb.folder / "entities.parquet", kb.folder / "links.parquet"))
    ranked = kb.scan("entities").filter(pl.col("pagerank").is_not_null()).select("entity", *SCORES).collect()
    scores = ranked.rows_by_key("entity", named=True, unique=True)
    known = ({score: value for score, value in row.items() if value is not None} for row in scores.values())
    graph.add_nodes_from(zip(scores, known, strict=True))
    return graph


def links_between(kb: Parts, numbers: pl.Series) -> pl.DataFrame:
    """Return source and target of the links among entities of these numbers, their places in the part `entities`.

    None are there where the knowledge base was built without links. Only the links are read, and who is a node of them.
    """
    schema = {"source": pl.Int64(), "target": pl.Int64()}
    asked = numbers.drop_nulls().cast(pl.Int64).unique()
    if not kb.has("links") or asked.is_empty():
        return pl.DataFrame(schema=schema)
    # A link tells its ends by their places among the entities that have a PageRank (see `name_edges`).
    ranked = pl.scan_parquet(kb.folder / "entities.parquet").filter(pl.col("pagerank").is_not_null())
    nodes = (
        ranked.select(number=pl.col("number").cast(pl.Int64))
        .with_row_index("node")
        .with_columns(pl.col("node").cast(pl.Int64))
    )
    own = nodes.filter(pl.col("number").is_in(asked.implode())).collect()
    among = [pl.col(end).is_in(own["node"].cast(pl.Int32).implode()) for end in ("source", "target")]
    links = kb.scan("links").filter(*among).collect(engine="streaming").cast(pl.Int64)
    for end in ("source", "target"):
        links = links.rename({end: "node"}).join(own.rename({"number": end}), on="node").drop("node")
    return links.select(*schema).sort("source", "target")


def class_graph(kb: Parts) -> networkx.DiGraph:
    """Return the hierarchy of classes: an edge leads from a class to one directly above it.

    >>> import networkx
    >>> steps = pl.DataFrame({"class": ["cat", "mammal"], "parent": ["mammal", "animal"]})
    >>> sorted(networkx.descendants(to_graph(steps), "cat"))
    ['animal', 'mammal']
    """
    return to_graph(kb.scan("subclasses").select("class", "parent").unique().sort("class", "parent").collect())


def candidate_graph(mentions: pl.DataFrame, candidates: pl.DataFrame, links: networkx.DiGraph) -> networkx.DiGraph:
    """Return the candidates of the mentions of documents as a graph, as collective linking sees a document.

    A mention (annotation, form) leads to each of its candidates (form, entity, …; see `KnowledgeBase.candidates`) by an
    edge with `kind` 'candidate', its prior and rank; candidates lead to each other by an edge with `kind` 'link' where
    the link graph has one. A node has `kind` 'mention', with its form, or 'entity'.
    """
    graph = to_graph(pl.DataFrame(schema={"source": pl.String, "target": pl.String}))
    graph.add_nodes_from((mention, {"kind": "mention", "form": form}) for mention, form in mentions.rows())
    chosen = mentions.join(candidates, on="form").sort("annotation", "rank", "entity")
    graph.add_nodes_from((entity, {"kind": "entity"}) for entity in chosen["entity"].unique(maintain_order=True))
    for row in chosen.iter_rows(named=True):
        known = {name: row[name] for name in ("prior", "rank") if row[name] is not None}
        graph.add_edge(row["annotation"], row["entity"], kind="candidate", **known)
    graph.add_edges_from(links.subgraph(chosen["entity"]).edges, kind="link")
    return graph


def find_circles(steps: pl.DataFrame) -> list[list[str]]:
    """Return the circles that steps (from the first column to the second) lead in, each from its first node by name.

    >>> find_circles(pl.DataFrame({"redirect": ["c", "b", "a", "d"], "target": ["a", "c", "b", "a"]}))
    [['a', 'b', 'c']]
    """
    import networkx

    found = []
    for circle in networkx.simple_cycles(to_graph(steps)):
        first = circle.index(min(circle))
        found.append(circle[first:] + circle[:first])
    return sorted(found)


def superclasses(subclasses: pl.LazyFrame, classes: pl.Series) -> pl.DataFrame:
    """Return class and superclass for every class above each of the classes, direct or indirect, sorted.

    `subclasses` has the columns class and parent. A class is never its own superclass, also where the hierarchy
    runs in a circle. By joins, as Wikidata's hierarchy has millions of steps: `bench/hierarchy.py` compares networkx.

    >>> steps = pl.LazyFrame({"class": ["cat", "mammal", "animal"], "parent": ["mammal", "animal", "mammal"]})
    >>> superclasses(steps, pl.Series(["cat", "animal"])).rows()
    [('animal', 'mammal'), ('cat', 'animal'), ('cat', 'mammal')]
    """
    steps = subclasses.select(superclass="class", parent="parent").unique().collect()
    start = classes.drop_nulls().unique()
    reached = pl.DataFrame({"class": start, "superclass": start})
    frontier = reached
    while frontier.height:
        further = frontier.join(steps, on="superclass").select("class", superclass="parent").unique()
        frontier = further.join(reached, on=["class", "superclass"], how="anti")
        reached = pl.concat([reached, frontier])
    return reached.filter(pl.col("class") != pl.col("superclass")).sort("class", "superclass")


def write_graphml(graph: networkx.DiGraph, to: Path | str) -> None:
    """Write a graph as GraphML, which Gephi, Cytoscape and yEd read; raises `Error` where the place is not writable."""
    import networkx

    with write_whole(to) as stream:
        networkx.write_graphml_xml(graph, stream)
