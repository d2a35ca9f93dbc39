"""What most pages need is made ready in moments in which nobody waits for a page."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from remix.errors import Error
from remix.measures.enrichment import frames_of, measures_of
from remix.remixes.facets import corpus_of
from remix.reports.annotation_list import Wanted, list_wanted
from remix.runs.known import known_runs
from remix.store.queries import find, shipped_queries
from remix.store.rewrite import plan
from remix.web.endpoint import log_defect
from remix.web.page import Explored, list_datasets

_PAUSE = 0.5
"""Seconds without a page after which somebody reads one, and asks for the next in some seconds."""
_SOON = 0.05
"""Seconds after which it is looked again whether a page is made."""
_LARGEST = 100_000
"""Annotations of a workspace up to which its frames are read before a page needs them: they take some 3 kB each."""

Step: TypeAlias = Callable[[], object]


class Preparation:
    """Steps that are taken one after another, each after a `pause` of so many seconds in which no page was asked for.

    None begins while it is `busy`: while something else uses the processors for which a page waits. The first is taken
    after the first page: a server whose pages nobody reads takes none, and a step of its time and memory. What goes
    wrong in a step is said by the page that needs it.

    >>> done = []
    >>> made = Preparation([lambda: done.append("a step")], pause=0.0)
    >>> with made.page():
    ...     done.append("a page")
    >>> made.wait()
    >>> done
    ['a page', 'a step']
    """

    def __init__(
        self, steps: Sequence[Step], *, pause: float = _PAUSE, busy: Callable[[], bool] = lambda: False
    ) -> None:
        self._steps = steps
        self._pause = pause
        self._busy = busy
        self._asked = 0
        self._since = time.monotonic()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def page(self) -> Iterator[None]:
        """Begin no step within the block, in which a page is made."""
        with self._lock:
            self._asked += 1
        try:
            yield
        finally:
            with self._lock:
                self._asked -= 1
                self._since = time.monotonic()
                if self._thread is None:
                    self._thread = threading.Thread(target=self._take, daemon=True)
                    self._thread.start()

    def take_in_pause(self, step: Step) -> None:
        """Take a step once no page was asked for in a pause, which needs the processors itself, also before any was."""
        self._wait()
        step()

    def wait(self) -> None:
        """Wait until all steps are taken, where a page was asked for."""
        if self._thread is not None:
            self._thread.join()

    def _take(self) -> None:
        for step in self._steps:
            self._wait()
            try:
                step()
            except Error:
                continue
            except Exception as error:
                log_defect(error)

    def _wait(self) -> None:
        """Wait until a step may be taken."""
        while (left := self._seconds_left()) > 0:
            time.sleep(left)

    def _is_page_made(self) -> bool:
        with self._lock:
            return self._asked > 0

    def _seconds_left(self) -> float:
        """Return after how many seconds to look again whether a step may be taken, 0 if now."""
        waited_for = self._busy()
        if waited_for or self._is_page_made():
            return max(_SOON, self._pause)
        with self._lock:
            return max(0.0, self._since + self._pause - time.monotonic())


def prepare_pages(work: Explored, *, busy: Callable[[], bool] = lambda: False) -> Preparation:
    """Return the preparation of the pages of a workspace: what they read of it, and the parser of queries.

    It waits while it is `busy`, as where scores are computed that a page of systems shows.

    What a workspace of more than 100,000 annotations holds is read by the page that needs it.
    """
    store = work.store
    reading: list[Step] = [
        lambda: frames_of(store),
        lambda: known_runs(store),
        lambda: measures_of(store),
        lambda: list_wanted(store, Wanted()),
        lambda: corpus_of(store),
    ]

    def read(step: Step) -> Step:
        def take() -> None:
            """Take a step in one state of the workspace, where that is not too large."""
            with store.hold_state():
                if sum(entry.annotations for entry in list_datasets(work)) <= _LARGEST:
                    step()

        return take

    return Preparation([*map(read, reading), _parse_queries], busy=busy)


def _parse_queries() -> None:
    """Read the queries that ship, which the page of SPARQL lists, and one of them by the parser of edited queries."""
    queries = [find(f"{name}.rq") for name in shipped_queries()]
    plan(queries[0].bind({}))
