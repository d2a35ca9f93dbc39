"""Time and memory of PageRank and HITS beside igraph, networkit, scikit-network and networkx, each in its own process.

    pip install igraph networkit scikit-network matplotlib
    python bench/prominence.py [--scale full] [--edges 1000000,10000000] [--with remix,networkx] [--plot growth.png]

Every one gets the same edges as arrays, builds its graph, and iterates until what it takes for convergence; the seconds
count building, too. The scores are compared with ours, of which each iteration is timed as well. `--scale full` takes
1, 10, 50 and 200 million edges and for the last runs 50 iterations of both; by default a tenth of that.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Scores = tuple[Vector, Vector | None]
"""PageRank, and authorities where there are."""
TOLERANCE = 1e-9
"""Sum of the changes of all nodes; those that take another kind of bound get what comes to the same."""
FULL = (1_000_000, 10_000_000, 50_000_000, 200_000_000)
PEERS_UNTIL = {
    "scipy": FULL[-1],
    "networkx": 1_000_000,
    "igraph": 50_000_000,
    "networkit": 50_000_000,
    "scikit-network": 50_000_000,
}


def generate(edges: int, file: Path, seed: int = 1, *, dangling: bool = True) -> int:
    """Write edges of a power law (target, source), sorted, each once, and return the number of nodes: 6 in 100.

    Without `dangling` nodes, every node links to the next one, too.
    """
    draw, nodes = np.random.default_rng(seed), max(10, edges * 6 // 100)
    keys = np.empty(edges, dtype=np.int64)
    for first in range(0, edges, 1 << 24):
        part = keys[first : first + (1 << 24)]
        target = (nodes * draw.random(len(part)) ** 3.33).astype(np.int64) * 7_368_787 % nodes
        # One node in ten links nowhere, as pages that are redirects or lists of files.
        source = (nodes * 0.9 * draw.random(len(part)) ** 1.5).astype(np.int64) * 7_368_787 % nodes
        part[:] = target * nodes + source
    if not dangling:
        number = np.arange(nodes)
        keys = np.concatenate([keys, (number + 1) % nodes * nodes + number])
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    keys = keys[keys // nodes != keys % nodes]
    places = {"target": (keys // nodes).astype(np.int32), "source": (keys % nodes).astype(np.int32)}
    pl.DataFrame(places).write_parquet(file)
    return nodes


def ours(file: Path, nodes: int) -> Scores:
    from remix.kb.prominence.graph import edge_matrix
    from remix.kb.prominence.scores import LinkProducts, hits, pagerank

    products = LinkProducts(edge_matrix(file, nodes))
    return pagerank(products, tolerance=TOLERANCE), hits(products, tolerance=TOLERANCE)[0]


def with_scipy(file: Path, nodes: int) -> Scores:
    """Our iterations with the public products of a matrix: what the bands of `LinkProducts` are worth."""
    from remix.kb.prominence.graph import edge_matrix
    from remix.kb.prominence.scores import LinkProducts, hits, pagerank

    class Products(LinkProducts):
        def __init__(self) -> None:
            self.matrix = edge_matrix(file, nodes).astype(np.float64)  # of another type it would be copied each time
            self.nodes, self.edges = nodes, self.matrix.nnz

        def incoming(self, values: Vector) -> Vector:
            return self.matrix.T @ values

        def outgoing(self, values: Vector) -> Vector:
            return self.matrix @ values

    products = Products()
    return pagerank(products, tolerance=TOLERANCE), hits(products, tolerance=TOLERANCE)[0]


def ends(file: Path) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    frame = pl.read_parquet(file)
    return frame["source"].to_numpy(), frame["target"].to_numpy()


def with_networkx(file: Path, nodes: int) -> Scores:
    import networkx

    source, target = ends(file)
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    ranks = networkx.pagerank(graph, tol=TOLERANCE / nodes, max_iter=1000)
    _, authorities = networkx.hits(graph, max_iter=1000, tol=TOLERANCE)
    return np.array([ranks[n] for n in range(nodes)]), np.array([authorities[n] for n in range(nodes)])


def with_igraph(file: Path, nodes: int) -> Scores:
    import igraph

    graph = igraph.Graph(n=nodes, edges=np.column_stack(ends(file)), directed=True)
    authorities = np.array(graph.authority_score(scale=False))
    return np.array(graph.pagerank()), authorities / authorities.sum()


def with_networkit(file: Path, nodes: int) -> Scores:
    import networkit

    source, target = ends(file)
    weights = (np.ones(len(source)), (source.astype(np.uint64), target.astype(np.uint64)))
    graph = networkit.GraphFromCoo(weights, n=nodes, weighted=False, directed=True)
    ranking = networkit.centrality.PageRank(
        graph, damp=0.85, tol=TOLERANCE, distributeSinks=networkit.centrality.SinkHandling.DistributeSinks
    )
    ranking.norm = networkit.centrality.Norm.L1_NORM
    ranks = np.array(ranking.run().scores())
    return ranks / ranks.sum(), None


def with_scikit_network(file: Path, nodes: int) -> Scores:
    from scipy import sparse
    from sknetwork.ranking import HITS, PageRank

    source, target = ends(file)
    adjacency = sparse.csr_matrix((np.ones(len(source)), (source, target)), shape=(nodes, nodes))
    ranks = PageRank(damping_factor=0.85, solver="piteration", n_iter=1000, tol=TOLERANCE).fit_predict(adjacency)
    hits = HITS().fit(adjacency)
    authorities = np.abs(hits.scores_col_)
    return ranks, authorities / authorities.sum()


SYSTEMS: dict[str, Callable[[Path, int], Scores]] = {
    "remix": ours,
    "scipy": with_scipy,
    "networkx": with_networkx,
    "igraph": with_igraph,
    "networkit": with_networkit,
    "scikit-network": with_scikit_network,
}


def fifty(file: Path, nodes: int) -> dict[str, float]:
    """Return the seconds to build what we iterate with and for 50 iterations of PageRank and of HITS."""
    from remix.errors import Error
    from remix.kb.prominence.graph import edge_matrix
    from remix.kb.prominence.scores import LinkProducts, pagerank

    took, begin = {}, time.perf_counter()
    products = LinkProducts(edge_matrix(file, nodes))
    took["build"], begin = time.perf_counter() - begin, time.perf_counter()
    with contextlib.suppress(Error):  # no change is below that
        pagerank(products, tolerance=-1.0, iterations=50)
    took["50 x PageRank"], begin = time.perf_counter() - begin, time.perf_counter()
    authorities = np.full(nodes, 1.0 / nodes)
    for _ in range(50):
        moved = products.incoming(products.outgoing(authorities))
        moved /= moved.sum()
        np.abs(moved - authorities).sum()  # by which an iteration is told to be the last
        authorities = moved
    took["50 x HITS"] = time.perf_counter() - begin
    return took


def work(system: str, file: Path, nodes: int, to: Path) -> None:
    """Do one thing in this process and print what it took."""
    small = to.with_name("small.parquet")
    try:
        SYSTEMS.get(system, ours)(small, generate(1000, small))  # imports are not what is measured
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
        return
    begin, busy = time.perf_counter(), time.process_time()
    if system == "fifty":
        found: dict[str, Any] = fifty(file, nodes)
    else:
        ranks, authorities = SYSTEMS[system](file, nodes)
        found = {"seconds": time.perf_counter() - begin}
        columns = {"pagerank": ranks} | ({} if authorities is None else {"hits": authorities})
        pl.DataFrame(columns).write_parquet(to)
    found["CPU seconds"] = time.process_time() - busy
    found["peak GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(found))


def measured(system: str, file: Path, nodes: int, to: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--work", system, "--file", str(file), "--nodes", str(nodes), "--to", str(to)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:] or done.returncode}
    return {
        name: round(value, 3) if isinstance(value, float) else value for name, value in json.loads(done.stdout).items()
    }


def agreement(mine: Path, other: Path) -> dict[str, float]:
    """Return the largest difference of each score from ours."""
    one, two = pl.read_parquet(mine), pl.read_parquet(other)
    return {f"{name} differs by": float((one[name] - two[name]).abs().max()) for name in two.columns}


def explain(folder: Path) -> None:
    """Print how far PageRank of scikit-network is from ours with and without nodes that link nowhere."""
    for dangling in (True, False):
        file = folder / "explained.parquet"
        nodes = generate(100_000, file, dangling=dangling)
        for system in ("remix", "scikit-network"):
            if "seconds" not in measured(system, file, nodes, folder / f"{system}.parquet"):
                return
        differs = agreement(folder / "remix.parquet", folder / "scikit-network.parquet")["pagerank differs by"]
        print(
            f"scikit-network, {'some nodes link nowhere' if dangling else 'every node links'}: {differs:.1e}",
            flush=True,
        )


def compare(edges: int, names: list[str], folder: Path) -> dict[str, Any]:
    """Return what each took for a graph, and print it at once."""
    file = folder / f"{edges}.parquet"
    nodes = generate(edges, file)
    found: dict[str, Any] = {"nodes": nodes, "edges": pl.scan_parquet(file).select(pl.len()).collect().item()}
    size = dict(found)
    for system in names:
        if system != "remix" and edges > PEERS_UNTIL.get(system, edges):
            continue
        to = folder / f"{system}.parquet"
        found[system] = measured(system, file, nodes, to)
        if system != "remix" and "seconds" in found[system] and "seconds" in found.get("remix", {}):
            found[system] |= agreement(folder / "remix.parquet", to)
            found[system]["times ours"] = round(found[system]["seconds"] / found["remix"]["seconds"], 1)
        print(json.dumps({"with": system, **size, **found[system]}), flush=True)
    found["fifty"] = measured("fifty", file, nodes, folder / "none")
    print(json.dumps({"with": "50 + 50 iterations", **size, **found["fifty"]}), flush=True)
    file.unlink()
    return found


def plot(found: dict[int, dict[str, Any]], names: list[str], to: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 5))
    for system in names:
        points = [(edges, one[system]["seconds"]) for edges, one in found.items() if "seconds" in one.get(system, {})]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=system)
    axes.set(xscale="log", yscale="log", xlabel="edges", ylabel="seconds to build and to converge")
    axes.set_title("PageRank and HITS (networkit: PageRank alone)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(to, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=("tenth", "full"), default="tenth")
    parser.add_argument("--edges", help="numbers of edges instead of those of the scale")
    parser.add_argument("--with", dest="systems", default=",".join(SYSTEMS))
    parser.add_argument("--plot", type=Path, help="a PNG of the growth")
    for option, kind in (("--work", str), ("--file", Path), ("--nodes", int), ("--to", Path)):
        parser.add_argument(option, type=kind, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.work, chosen.file, chosen.nodes, chosen.to)
        return
    share = 1 if chosen.scale == "full" else 10
    sizes = [int(size) for size in chosen.edges.split(",")] if chosen.edges else [size // share for size in FULL]
    names = chosen.systems.split(",")
    with tempfile.TemporaryDirectory() as folder:
        found = {edges: compare(edges, names, Path(folder)) for edges in sizes}
        if "scikit-network" in names:
            explain(Path(folder))
    if chosen.plot:
        plot(found, names, chosen.plot)


if __name__ == "__main__":
    main()
