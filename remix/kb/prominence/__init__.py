"""Prominence of entities: PageRank and HITS over the link graph, in memory or by joins, and places by score."""
