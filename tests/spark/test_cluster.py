"""A knowledge base and measures on a standalone cluster of two workers equal those of one process."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.frames import Frames
from remix.kb import build
from remix.measures import compute
from tests.spark.cluster_client import CHOICES
from tests.spark.conftest import QUICK_JAVA, SMALL, needed

# The session that the others share stands beside it; a cluster of processes takes minutes where others compute, too.
pytestmark = [pytest.mark.extra, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
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


FRAMES: dict[str, list[dict[str, Any]]] = {
    "documents": [{"document": f"urn:d/{n}", "dataset": "d", "text": "Anna met Bob"} for n in range(3)],
    "annotations": [
        {"annotation": f"urn:d/{n}#{begin}", "document": f"urn:d/{n}", "dataset": "d"}
        | {"begin": begin, "end": end, "surface_form": form, "is_nil": False}
        for n in range(3)
        for begin, end, form in [(0, 4, "Anna"), (9, 12, "Bob")]
    ],
    "links": [
        {"annotation": f"urn:d/{n}#{begin}", "entity": f"http://dbpedia.org/resource/{entity}"}
        for n, begin, entity in [(0, 0, "A"), (0, 9, "B"), (1, 0, "A"), (1, 9, "A"), (2, 0, "C"), (2, 9, "B")]
    ],
}
TABLES = {
    "surface_forms": "name\tentity\tcount\tsource\n"
    "Anna\tdbr:A\t3\tx\nAnna\tdbr:C\t1\tx\nBob\tdbr:B\t2\tx\nBob\tdbr:Robert\t1\tx\n",
    "links": "source\ttarget\tcount\torigin\ndbr:A\tdbr:B\t1\tx\ndbr:C\tdbr:B\t1\tx\n",
}


def test_what_is_built_and_measured_on_a_cluster_equals_that_of_one_process(cluster: str, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for name, text in TABLES.items():
        (tmp_path / "tables" / f"{name}.tsv").write_text(text)
    frames = Frames.of(**{name: pl.DataFrame(rows) for name, rows in FRAMES.items()})
    frames.write(tmp_path)
    found = on_cluster(cluster, tmp_path)
    kb = build([("tables", str(tmp_path / "tables"))], tmp_path / "duckdb", **CHOICES)

    assert found["master"] == cluster and len(set(found["workers"])) == 2
    for file in sorted(kb.folder.glob("*.parquet")):
        one, two = pl.read_parquet(file), pl.read_parquet(tmp_path / "spark" / kb.folder.name / file.name)
        by = [column for column in one.columns if not one.schema[column].is_float()]
        assert_frame_equal(two.sort(by), one.sort(by), rel_tol=0, abs_tol=1e-9)
    whole = compute(frames, kb)
    for level, by in {"annotations": ["annotation"], "datasets": ["dataset", "measure", "average"]}.items():
        rows, expected = pl.read_parquet(tmp_path / f"{level}-measured.parquet"), getattr(whole, level)
        assert_frame_equal(rows.sort(by), expected.sort(by), rel_tol=1e-12, abs_tol=1e-12)
    # Spark calls it a success when workers wrote seven rows to disks of their own.
    assert re.search(
        r"workers wrote 7 rows to .*, of which 0 are here; all nodes must see the workspace", found["lost"]
    )


def on_cluster(url: str, folder: Path) -> dict[str, Any]:
    """Return what the client found out, whose data are in the folder."""
    settings = {**SMALL, "spark.executor.memory": "512m", "spark.driver.memory": "512m"}
    options = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    submitted = {"PYSPARK_SUBMIT_ARGS": f"--master {url} {options} pyspark-shell", "PYSPARK_PYTHON": sys.executable}
    (folder / "here").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.cluster_client", str(folder)],
        cwd=folder / "here",
        env={**os.environ, **SHORT, **submitted},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found
