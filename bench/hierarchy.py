"""CPU seconds for the superclasses of 2,000 classes in hierarchies of growing size, by joins and with networkx.

    python bench/hierarchy.py [--classes 1000,100000,1000000]

DBpedia has about 1,000 classes, Wikidata about 4 million that `wdt:P279` says something of. A class has one parent or
two, nearer to the root the fewer there are.
"""

from __future__ import annotations

import argparse
import json
import time

import networkx
import numpy as np
import polars as pl

from remix.kb.networks import superclasses, to_graph

ASKED = 2_000


def generate(classes: int, seed: int = 1) -> tuple[pl.DataFrame, pl.Series]:
    """Return the steps (class, parent) of a hierarchy, and the classes whose superclasses are asked for."""
    random = np.random.default_rng(seed)
    child = np.concatenate([np.arange(1, classes), random.integers(1, classes, classes // 5)])
    parent = (child * random.random(len(child)) ** 2).astype(np.int64)
    steps = pl.DataFrame({"class": child, "parent": parent})
    asked = pl.DataFrame({"class": random.integers(0, classes, ASKED)})
    return named(steps), named(asked)["class"]


def named(numbers: pl.DataFrame) -> pl.DataFrame:
    return numbers.select(pl.format("http://www.wikidata.org/entity/Q{}", name).alias(name) for name in numbers.columns)


def with_networkx(steps: pl.LazyFrame, classes: pl.Series) -> pl.DataFrame:
    graph = to_graph(steps.select("class", "parent").collect())
    pairs = [(one, above) for one in classes.unique() if one in graph for above in networkx.descendants(graph, one)]
    return pl.DataFrame(pairs, schema=["class", "superclass"], orient="row").sort("class", "superclass")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", default="1000,100000,1000000")
    for classes in map(int, parser.parse_args().classes.split(",")):
        steps, asked = generate(classes)
        found = {}
        for name, work in (("joins", superclasses), ("networkx", with_networkx)):
            begin = time.process_time()
            rows = work(steps.lazy(), asked)
            found[name] = round(time.process_time() - begin, 2)
            found["rows"] = rows.height
        print(json.dumps({"classes": classes, **found}), flush=True)


if __name__ == "__main__":
    main()
