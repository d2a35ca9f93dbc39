"""What pages need is made ready while nobody waits for one, and what goes wrong then harms none."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from remix.errors import StoreError
from remix.store import Store
from remix.web.preparation import Preparation, prepare_pages
from remix.workspace import Workspace, open_workspace


def test_nothing_is_made_ready_before_a_page_was_asked_for() -> None:
    done: list[str] = []
    Preparation([lambda: done.append("step")], pause=0.0).wait()
    assert not done


def test_steps_are_taken_once_in_their_order_however_many_pages_are_asked_for() -> None:
    done: list[str] = []
    made = Preparation([lambda: done.append("first"), lambda: done.append("second")], pause=0.0)
    for _ in range(3):
        with made.page():
            pass
        made.wait()
    assert done == ["first", "second"]


def test_no_step_begins_while_a_page_is_made() -> None:
    """Between two steps a page is asked for, whose block ends when the test lets it."""
    made: list[Preparation] = []
    order: list[str] = []
    asked, let = threading.Event(), threading.Event()

    def page() -> None:
        with made[0].page():
            asked.set()
            let.wait(10)
            order.append("page")

    def first() -> None:
        threading.Thread(target=page).start()
        asked.wait(10)
        order.append("first")

    made.append(Preparation([first, lambda: order.append("second")], pause=0.0))
    with made[0].page():
        pass
    asked.wait(10)
    threading.Timer(0.3, let.set).start()
    made[0].wait()
    assert order == ["first", "page", "second"]


def test_what_is_taken_in_a_pause_waits_for_pages_that_are_made() -> None:
    order: list[str] = []
    made = Preparation([], pause=0.0)
    made.take_in_pause(lambda: order.append("at once"))
    with made.page():
        after = threading.Thread(target=made.take_in_pause, args=(lambda: order.append("after it"),))
        after.start()
        after.join(0.3)
        order.append("page")
    after.join(10)
    assert order == ["at once", "page", "after it"]


def test_what_is_taken_in_a_pause_waits_for_the_page_that_is_asked_for_first() -> None:
    """The page begins a moment after the server does, within the pause."""
    order: list[str] = []
    made = Preparation([], pause=0.2)
    after = threading.Thread(target=made.take_in_pause, args=(lambda: order.append("after it"),))
    after.start()
    with made.page():
        after.join(0.5)
        order.append("page")
    after.join(10)
    assert order == ["page", "after it"]


def test_no_step_begins_while_scores_are_computed_that_a_page_waits_for() -> None:
    """It is busy the first three times that it is asked."""
    order: list[str] = []

    def is_busy() -> bool:
        order.append("asked")
        return order.count("asked") <= 3

    made = Preparation([lambda: order.append("step")], pause=0.0, busy=is_busy)
    with made.page():
        pass
    made.wait()
    assert order == ["asked"] * 4 + ["step"]


def test_what_goes_wrong_in_a_step_keeps_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """An error of remix is told by the page that meets it; anything else is a defect, and stands in the log."""
    done: list[str] = []

    def fail(error: Exception) -> None:
        raise error

    steps = [lambda: fail(StoreError("gone")), lambda: fail(ValueError("odd")), lambda: done.append("last")]
    made = Preparation(steps, pause=0.0)
    with made.page():
        pass
    made.wait()
    assert done == ["last"]
    assert capsys.readouterr().err == "ValueError: odd\n"


def prepare(work: Workspace) -> set[object]:
    """What is kept of a workspace after it was made ready."""
    made = prepare_pages(work)
    with made.page():
        pass
    made.wait()
    return {key if isinstance(key, str) else key[0] for key in work.store.cached.sizes()}  # type: ignore[index]


def test_frames_measures_and_facets_are_there_before_the_page_that_needs_them(small_store: Store) -> None:
    kept = prepare(open_workspace(small_store.folder))
    assert kept == {"datasets", "frames", "known runs", "measures", "annotations that are required", "facets"}


def test_a_workspace_without_datasets_is_made_ready_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(open_workspace(tmp_path / "work")) <= {"datasets", "known runs"}
    assert not capsys.readouterr().err
