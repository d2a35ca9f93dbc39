"""One session of Spark for all tests, with settings for tables of a few rows."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    # Planning anew and compiling take longer than rows of this number.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Each job is described by its plan, and those of many steps are long.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "1000",
}
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Compiling well takes longer than running for so short a time."""


def needed() -> None:
    """Skip where PySpark or Java is missing."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is not installed: pip install 'nel-remix[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java: apt-get install openjdk-17-jre-headless")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores; the engine takes it, as it is active."""
    needed()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_TOOL_OPTIONS"] = QUICK_JAVA
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in SMALL.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
