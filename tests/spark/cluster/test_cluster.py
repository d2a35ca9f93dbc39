"""A knowledge base and measures on a standalone cluster of two workers equal those of one process."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.frames import Frames
from remix.kb import KnowledgeBase, build, lookup
from remix.measures import compute
from remix.measures.enrichment import named_frames
from remix.store import Store
from tests.spark.cluster.client import CHOICES, LEVELS, MEASURED
from tests.spark.conftest import QUICK_JAVA, SMALL, needed

# It has a folder of its own, so that it may run beside the session that the others share; a cluster of processes takes
# minutes where others compute, too.
pytestmark = [pytest.mark.extra, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[3]
SHORT = {
    "PYTHONPATH": str(ROOT),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
    "JAVA_TOOL_OPTIONS": QUICK_JAVA,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a cluster on ports that are free: a master and two workers of a core each."""
    needed()
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        master = stack.enter_context(daemon("master.Master", folder / "master", "--port", "0"))
        url = said(master, r"Starting Spark master at (spark://\S+)")[0]
        for name in ("one", "two"):
            place = folder / name
            stack.enter_context(daemon("worker.Worker", place, "-c", "1", "-m", "1g", "-d", str(place), url))
        said(master, r"Registering worker", 2)
        yield url


@contextmanager
def daemon(name: str, folder: Path, *arguments: str) -> Iterator[Path]:
    """Run a daemon of Spark in a folder, and give its log."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None
    home = Path(found.origin).parent
    folder.mkdir()
    options = {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
    command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
            cwd=folder,
            env={**os.environ, **SHORT, **options},
            stdout=log,
            stderr=log,
        )
        try:
            yield folder / "log"
        finally:
            process.terminate()
            process.wait(30)


def said(log: Path, pattern: str, times: int = 1) -> list[str]:
    """Return what a log says once it has said it so often."""
    for _ in range(600):
        if len(found := re.findall(pattern, log.read_text())) >= times:
            return found
        time.sleep(0.1)
    pytest.fail(f"no '{pattern}' in:\n{log.read_text()}")


def generated(folder: Path) -> Path:
    """Write tables of 60 entities: chains and circles of redirects, names in several scripts, links at random."""
    draw = random.Random(5)
    entity = [f"dbr:Thing_{n}" for n in range(60)]
    names = ["Anna", "anna", "München", "北京", "a b", "Ångström", "x😀", "Straße"]
    tables = {
        "surface_forms": [
            (draw.choice(names), draw.choice(entity), draw.choice(["", 1, 2, 7]), draw.choice(["names", "gold:x"]))
            for _ in range(200)
        ],
        # So many that one direction outweighs all others, and HITS settles soon.
        "links": [(one, other, 1, "facts") for one in entity for other in entity if draw.random() < 0.8],
        "types": [(one, draw.choice(["dbo:Person", "dbo:Place"]), "facts") for one in entity[::2]],
        "labels": [(one, one[4:], "facts") for one in entity[::3]],
        # 0 → 1 → 2 → 3, 10 ⇄ 11, 20 → 21, named twice, and → 22, named once.
        "redirects": [(entity[a], entity[b], "r") for a, b in [(0, 1), (1, 2), (2, 3), (10, 11), (11, 10), (20, 21)]]
        + [(entity[20], entity[21], "s"), (entity[20], entity[22], "s")],
        "sameas": [("wd:Q7", entity[0], 2, "one"), ("wd:Q7", entity[9], 1, "two"), ("wd:Q8", entity[12], "", "one")],
        "disambiguations": [("dbr:Anna", entity[5], "pages"), ("dbr:Anna", entity[0], "pages")],
    }
    folder.mkdir()
    for name, rows in tables.items():
        width = len(rows[0])
        lines = ["\t".join("abcd"[:width]), *("\t".join(str(cell) for cell in row) for row in rows)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Made:
    """What was built of the same tables by one process and on a cluster, and what was measured and found out there."""

    default: KnowledgeBase
    spark: KnowledgeBase
    frames: Frames
    folder: Path
    found: dict[str, Any]


@pytest.fixture(scope="module")
def made(cluster: str, sample_kb: KnowledgeBase, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The sample's tables and generated ones as one knowledge base, and the measures of the sample."""
    folder = tmp_path_factory.mktemp("made")
    store = Store(folder / ".remix")
    for file in sorted((ROOT / "datasets" / "corpus").glob("*.ttl")):
        store.load(file)
    frames = named_frames(store)
    frames.write(folder)
    sources = [str(ROOT / "datasets" / "kb"), str(generated(folder / "generated"))]
    found = on_cluster(cluster, folder, str(sample_kb.folder), *sources)
    default = build([("tables", one) for one in sources], folder / "duckdb", **CHOICES)
    return Made(default, KnowledgeBase.open(folder / "spark" / default.folder.name), frames, folder, found)


def test_every_part_has_the_same_rows_in_an_order_that_serves_as_well(made: Made) -> None:
    both = made.default, made.spark
    default, spark = ({path.name for path in kb.folder.glob("*")} for kb in both)
    assert spark == default and "dictionary.parquet" in spark and "links.parquet" in spark
    for part in sorted(default - {"kb.json", "SHA256SUMS"}):
        one, two = (pl.read_parquet(kb.folder / part) for kb in both)
        by = [column for column in one.columns if not one.schema[column].is_float()]
        assert_frame_equal(two.sort(by), one.sort(by), rel_tol=0, abs_tol=1e-9)
        # What is looked up is skipped to: the rows of all files, in the order of the files' names, are sorted.
        assert two[one.columns[0]].equals(one[one.columns[0]])


def test_it_describes_itself_as_the_same(made: Made) -> None:
    both = made.default, made.spark
    one, two = (json.loads((kb.folder / "kb.json").read_text()) for kb in both)
    assert two == one
    # Thing_10 and Thing_11 are redirects to each other.
    circular = [f"http://dbpedia.org/resource/Thing_{n}" for n in (10, 11)]
    assert set(circular) <= set(two["circular_redirects"]["first"])


def test_it_answers_the_same(made: Made) -> None:
    both = made.default, made.spark
    one, two = (lookup(kb, "Anna") for kb in both)
    assert_frame_equal(two, one, rel_tol=0, abs_tol=1e-9)
    # Scores of an entity are shown with all their digits.
    one, two = (lookup(kb, "dbr:Thing_3").filter(~pl.col("value").str.contains(r"^\d+\.\d|e-")) for kb in both)
    assert two.height > 10 and two.equals(one)


@pytest.mark.parametrize("name", MEASURED)
def test_every_measure_of_the_sample_equals_that_in_memory(made: Made, sample_kb: KnowledgeBase, name: str) -> None:
    whole = compute(made.frames, sample_kb, **MEASURED[name])
    for level in LEVELS:
        rows, expected = pl.read_parquet(made.folder / name / f"{level}.parquet"), getattr(whole, level)
        by = [column for column in ("annotation", "document", "class") if column in rows.columns]
        assert_frame_equal(rows.sort(by), expected.sort(by), rel_tol=1e-12, abs_tol=0)
    rows = pl.read_parquet(made.folder / name / "datasets.parquet")
    assert_frame_equal(rows, whole.datasets, rel_tol=1e-12, abs_tol=0)
    assert made.found[name] == {"signature": str(whole.signature), "skipped": [*whole.skipped]}


def test_both_workers_work_and_what_they_write_elsewhere_is_no_success(cluster: str, made: Made) -> None:
    assert made.found["master"] == cluster and len(set(made.found["workers"])) == 2
    # Spark calls it a success when workers wrote seven rows to disks of their own.
    said = r"workers wrote 7 rows to .*, of which 0 are here; all nodes must see the workspace"
    assert re.search(said, made.found["lost"])


def on_cluster(url: str, folder: Path, *arguments: str) -> dict[str, Any]:
    """Return what the client found out, whose data are in the folder."""
    settings = {**SMALL, "spark.executor.memory": "512m", "spark.driver.memory": "512m"}
    options = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    submitted = {"PYSPARK_SUBMIT_ARGS": f"--master {url} {options} pyspark-shell", "PYSPARK_PYTHON": sys.executable}
    (folder / "here").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.cluster.client", str(folder), *arguments],
        cwd=folder / "here",
        env={**os.environ, **SHORT, **submitted},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found
