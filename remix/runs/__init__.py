"""Runs: the answers of systems, registered once in the workspace and taken by name from then on.

`registration` keeps answers as Parquet, by the name of the run, its dataset and the task that it was made for, and
gathers them for an evaluation; `stored` keeps outcomes and error classes as RDF beside the dataset, and `difficulty`
learns from them.
"""
