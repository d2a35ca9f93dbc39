"""Work in threads: in order, not too much of it at once, and none after an error."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import polars as pl
import pytest

from remix.measures import _threads as threads
from remix.measures._threads import cached_property, in_order
from remix.measures.codes import Numbers

from .conftest import MakeKb

PROGRAM = """
import sys
from pathlib import Path
import polars as pl
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import compute

annotation, count = pl.int_range(12_000, eager=True), pl.col("annotation")
# Of three documents of four annotations, two have mentions with alternatives, two or three of one.
rows = annotation.alias("annotation").to_frame().with_columns(document=count // 4, dataset=count // 4000)
rows = rows.with_columns(group=count - count % 4 % (1 + pl.col("document") % 3))
frames = Frames.of(
    documents=rows.select("document", "dataset", text=pl.lit("w")).unique("document").cast(pl.String),
    annotations=rows.with_columns(surface_form=pl.lit("x"), option=count).cast(pl.String),
    links=rows.select("annotation", entity="e:" + (count * count % 199).cast(pl.String)).cast(pl.String),
)
print(compute(frames, KnowledgeBase.open(Path(sys.argv[1])), measures=["prominence"]).datasets.rows())
"""


@pytest.mark.long
def test_averages_are_the_same_to_the_last_digit_on_any_number_of_processors(make_kb: MakeKb) -> None:
    links = [(f"e:{n}", f"e:{n * n % m}", 1, "pages") for n in range(199) for m in (13, 101, 199)]
    command = [sys.executable, "-c", PROGRAM, str(make_kb([("x", "e:1", 1, "names")], links=links).folder)]
    settings = [{**os.environ, "POLARS_MAX_THREADS": threads} for threads in ("1", "2", "8")]
    rows = {subprocess.check_output(command, env=one, text=True) for one in settings}
    assert len(rows) == 1 and "pagerank" in rows.pop()


@pytest.fixture(params=[1, 3])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of threads, also where the machine has fewer cores."""
    monkeypatch.setattr(threads.pl, "thread_pool_size", lambda: request.param)
    return int(request.param)


def test_results_come_in_the_order_of_the_items_whichever_is_ready_first(at_once: int) -> None:
    second = threading.Event()

    def work(number: int) -> int:
        if number == 0 and at_once > 1:
            assert second.wait(10), "the items after the first are not worked on while it lasts"
        if number == 1:
            second.set()
        return number * number

    found: list[tuple[int, int]] = []
    in_order(work, range(6), lambda result: found.append((result, threading.get_ident())))
    assert found == [(number * number, threading.get_ident()) for number in range(6)]


def test_items_are_begun_only_when_results_were_taken(at_once: int) -> None:
    begun: list[int] = []
    ahead: list[int] = []
    in_order(begun.append, range(20), lambda _: ahead.append(len(begun) - len(ahead)))
    assert len(begun) == 20 and max(ahead) <= at_once + 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("place", ["work", "then"])
def test_after_an_error_no_further_item_is_begun(at_once: int, place: str, error: type[BaseException]) -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if place == "work" and number == 2:
            raise error("the third")
        return number

    def then(number: int) -> None:
        if place == "then" and number == 2:
            raise error("the third")

    before = threading.active_count()
    with pytest.raises(error, match="the third"):
        in_order(work, range(100), then)
    # The items that may be under way when the error comes to light: a thread each, and one that waits.
    assert len(begun) <= 3 + at_once + 1
    assert threading.active_count() == before


def test_properties_of_two_objects_are_computed_at_the_same_time() -> None:
    both = threading.Barrier(2)

    class Meeting:
        @cached_property
        def place(self) -> int:
            return both.wait(10)

    met = [Meeting(), Meeting()]
    others = [threading.Thread(target=lambda one=one: one.place) for one in met]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert sorted(one.place for one in met) == [0, 1] and met[0].place == met[0].place


def test_numbers_that_threads_ask_for_together_have_no_gaps() -> None:
    numbers = Numbers()
    asked = [pl.Series([f"{place % 700}-{shift}" for place in range(5000)]) for shift in (0, 1, 0, 2, 1, 3)]
    found: list[pl.Series] = []
    work = [threading.Thread(target=lambda one=one: found.append(numbers.of(one))) for one in asked]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert sorted(pl.concat(found).unique().to_list()) == list(range(4 * 700))
