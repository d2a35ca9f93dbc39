"""PySpark: the same steps on a cluster, or on the cores of one machine; an extra of the installation.

All nodes of a cluster must see the workspace under the same path.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from remix.errors import Error, UsageError
from remix.kb.engines import ROW_GROUP, Engine, Session, height
from remix.progress import stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONFIGURED = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR")
"""Where one of these is set, Spark was submitted or configured by its user, and remix sets nothing."""

LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
}
"""The settings of a session that remix starts on this machine, on all its cores."""

_SAME_PATHS = "all nodes must see the workspace and the data under the same paths"
_SAME_PYTHON = "PYSPARK_PYTHON must name an interpreter with remix that all nodes have"

_ADVICE = {
    r"Cannot run program|No module named|PYTHON_VERSION_MISMATCH": _SAME_PYTHON,
    r"FileNotFoundException|NoSuchFileException|PATH_NOT_FOUND|holds no knowledge base": _SAME_PATHS,
    r"Mkdirs failed|AccessDeniedException|Permission denied|Read-only file system": (
        "the workers must be able to write the workspace, and you what they have written there"
    ),
}
"""What to do, by what is said."""


class SparkTables(Session):
    """Reads and writes Parquet with a session of Spark; what is written is a folder of files in their order."""

    distributed = True

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def _read(self, files: Sequence[Path]) -> DataFrame:
        return self.spark.read.parquet(*(file.absolute().as_uri() for file in files))

    def write(self, frame: nw.LazyFrame[Any], path: Path, sort_by: Sequence[str] = ()) -> None:
        """Write a frame as a folder of Parquet files, as any session does; raises `Error`."""
        aside, what = path.with_name(f"{path.name}.unfinished"), path.stem.replace("_", " ")
        with _failing(f"{path} cannot be written", OSError), stage(what):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(frame.to_native(), aside, sort_by, what)
            for file in (*aside.glob(".*.crc"), *aside.glob("_*")):  # other readers take them for Parquet
                file.unlink()
            aside.rename(path)

    def _write(self, rows: DataFrame, to: Path, sort_by: Sequence[str], what: str) -> None:
        from pyspark.sql import Observation
        from pyspark.sql.functions import count, lit

        self.spark.sparkContext.setJobDescription(what)
        if sort_by:
            order = ((rows[one.removeprefix("-")], one.startswith("-")) for one in sort_by)
            rows = rows.orderBy(*(one.desc_nulls_last() if down else one.asc_nulls_first() for one, down in order))
        options = {"compression": "zstd", "parquet.block.row.count.limit": str(ROW_GROUP)}
        counted = Observation()
        rows = rows.observe(counted, count(lit(1)).alias("rows"))
        rows.write.mode("overwrite").options(**options).parquet(to.absolute().as_uri())
        _refuse_incomplete(to, counted.get["rows"])

    def number(self, frame: nw.LazyFrame[Any], column: str, path: Path) -> None:
        """Write the rows with `number`, their place from 0 in the order of a column; raises `Error`.

        A window over all rows would bring them to one machine: here each row knows its place in its file.
        """
        ordered = path.with_name(f"{path.stem}-ordered.parquet")
        self.write(frame, ordered, [column])
        files = sorted(ordered.glob("*.parquet"))
        heights = [height(file) for file in files]
        begins = [0, *accumulate(heights)]
        first = self.spark.createDataFrame(
            [(file.name, begin) for file, begin in zip(files, begins, strict=False)], "_file string, _first long"
        )
        placed = self._read([ordered]).selectExpr("*", "_metadata.file_name AS _file", "_metadata.row_index AS _row")
        numbered = placed.join(first.hint("broadcast"), "_file").selectExpr("_first + _row AS number", column)
        self.write(nw.from_native(numbered), path)
        shutil.rmtree(ordered)


def _refuse_incomplete(folder: Path, rows: int) -> None:
    """Raise `Error` where not all that was written is here: Spark takes the workers' own disks for shared storage."""
    files = list(folder.glob("*.parquet"))
    found = pl.scan_parquet(files).select(pl.len()).collect().item() if files else 0
    if found != rows:
        raise Error(f"workers wrote {rows} rows to {folder}, of which {found} are here; {_SAME_PATHS} (docs/scale.md)")


@contextmanager
def spark_session(memory: str = "") -> Iterator[SparkSession]:
    """Give the session of Spark that is active, else one that is started, and stopped behind the block.

    Where Spark was not submitted or configured (`CONFIGURED`), it runs on all cores of this machine, within `memory`
    where that is given, such as '3GB'. Raises `Error` without PySpark or Java, and where Spark fails within the block,
    `UsageError` for a wrong amount.
    """
    amount = re.fullmatch(r"(\d+)\s*([kmgt])i?b?", memory.strip().lower())
    if memory and not amount:
        raise UsageError(f"'{memory}' is no amount of memory: write it like 3GB")
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise Error("the engine spark needs PySpark: pip install 'nel-remix[spark]'") from None
    if active := SparkSession.getActiveSession():
        with _failing():
            yield active
        return
    builder = SparkSession.builder.appName("remix")
    if not any(name in os.environ for name in CONFIGURED):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        for name, value in LOCAL.items():
            builder = builder.config(name, value)
        if amount:
            builder = builder.config("spark.driver.memory", f"{amount[1]}{amount[2]}")
    try:
        spark = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise Error(f"Spark does not start; it needs Java 17 or newer: {failure_reason(error)}") from None
    except Py4JError as error:
        raise Error(f"Spark does not start as it is configured: {failure_reason(error)}") from None
    try:
        with _failing():
            yield spark
    finally:
        spark.stop()


@contextmanager
def _open(work: Path, memory: str) -> Iterator[SparkTables]:
    with spark_session(memory) as spark:
        yield SparkTables(spark)


@contextmanager
def _failing(what: str = "Spark failed", *others: type[Exception]) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, *others) as error:
        raise Error(f"{what}: {failure_reason(error)}") from error


def failure_reason(error: Exception) -> str:
    """Return what an error of Spark comes down to, and what to do where that is known.

    That is the error which a Python worker raised, or the program that did not start, or the innermost cause which
    Java names, or the first line.
    """
    text = str(error).strip()
    worker = re.findall(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)", text, flags=re.MULTILINE)
    program = re.search(r'Cannot run program ".+?"', text)
    causes = re.findall(r"^(?:Caused by)?: (.+)$", text, flags=re.MULTILINE)
    causes = worker or ([program[0]] if program else causes) or (text or type(error).__name__).splitlines()[:1]
    said = causes[-1].strip()
    advice = next((advice for pattern, advice in _ADVICE.items() if re.search(pattern, said)), "")
    return f"{said}; {advice} (docs/scale.md)" if advice else said


ENGINE = Engine("spark", "PySpark, on a cluster or the cores of one machine; needs nel-remix[spark]", _open)
