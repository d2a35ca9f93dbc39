"""What fails on a cluster is said in one line, with what is to be done."""

from __future__ import annotations

import pytest

from remix.kb.engines.spark import failure_reason

JAVA = "An error occurred while calling o51.getResult.\n: org.x.SparkException: in awaitResult\n\tat a.b(C.java:1)\n"
LOST = "Caused by: org.x.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times\n"
PYTHON = 'An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File "a.py", line 1\n'
AGAIN = '\nWhile handling it:\n\nTraceback (most recent call last):\n  File "b.py", line 2\n\n    work()\n'


@pytest.mark.parametrize(
    ("said", "cause", "advice"),
    [
        (
            f'{JAVA}{LOST}Caused by: java.io.IOException: Cannot run program "/a/python": error=2, No such file\n'
            "Caused by: java.io.IOException: error=2, No such file",
            'Cannot run program "/a/python"',
            "PYSPARK_PYTHON must name an interpreter with remix that all nodes have",
        ),
        (
            f"{PYTHON}    import pyarrow as pa\nModuleNotFoundError: No module named 'pyarrow'",
            "ModuleNotFoundError: No module named 'pyarrow'",
            "PYSPARK_PYTHON must name an interpreter with remix that all nodes have",
        ),
        (
            f"{PYTHON}KeyError: 1\n{AGAIN}remix.errors.MissingKnowledge: /kb holds no knowledge base: build one",
            "remix.errors.MissingKnowledge: /kb holds no knowledge base: build one",
            "all nodes must see the workspace and the data under the same paths",
        ),
        (
            f"{JAVA}{LOST}Caused by: java.io.FileNotFoundException: File file:/shared/a does not exist",
            "java.io.FileNotFoundException: File file:/shared/a does not exist",
            "all nodes must see the workspace and the data under the same paths",
        ),
        (
            f"{JAVA}{LOST}Caused by: java.io.IOException: Mkdirs failed to create file:/shared/a",
            "java.io.IOException: Mkdirs failed to create file:/shared/a",
            "the workers must be able to write the workspace, and you what they have written there",
        ),
    ],
    ids=["no program", "no module", "raised while handling another", "no file", "no right to write"],
)
def test_the_cause_is_told_with_what_to_do(said: str, cause: str, advice: str) -> None:
    assert failure_reason(ValueError(said)) == f"{cause}; {advice} (docs/scale.md)"


def test_what_is_of_no_cluster_is_told_as_it_is() -> None:
    assert (
        failure_reason(ValueError("[DIVIDE_BY_ZERO] Division by zero.\nUse try_divide."))
        == "[DIVIDE_BY_ZERO] Division by zero."
    )
    assert failure_reason(ValueError("")) == "ValueError"
