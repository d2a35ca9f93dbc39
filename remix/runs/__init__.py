"""Runs: the answers of systems, registered once in the workspace and taken by name from then on.

`register` keeps answers as Parquet, by the name of the run, its dataset and the task that it was made for;
`registration` brings answers into it, and `gathering` takes those out that an evaluation is of. `stored` keeps outcomes
and error classes as RDF beside the dataset, and `difficulty` learns from them.
"""
