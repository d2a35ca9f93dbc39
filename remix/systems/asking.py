"""Texts asked of a system: several at a time, again after a failure, each answer kept as soon as it is there.

A document that fails is a failed document: it has no answer, not an empty one; it is not kept, and the others are asked
all the same. Only where no document can be the reason (nobody listens, a token is refused) are the rest not asked.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from remix import progress
from remix.connections import Failure
from remix.systems.asked import (
    Adapter,
    Asker,
    Asking,
    TextAnswer,
    TextAsked,
    check_asking,
    describe_asking,
    hash_description,
)
from remix.systems.kept import AnswerLog

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that another try may end."""
_OF_SERVICE = frozenset({301, 302, 307, 308, 401, 403, 404, 405, 429})
"""Statuses that say nothing of a document."""


@dataclass(frozen=True)
class Patience:
    """How a system is asked again.

    - `parallel`: how many texts are asked at a time, as the adapter has it where it is None;
    - `tries` of a text; before the second there is a pause of `wait` seconds, twice as long before each further one;
    - `longest`: where a service asks for a longer pause (`Retry-After`), the document fails at once;
    - `most`: after so many documents in a row that fail for a reason of the service, the rest is not asked;
    - `pause`: what waits, by default until the seconds are over or the asking is interrupted.
    """

    parallel: int | None = None
    tries: int = 4
    wait: float = 0.5
    longest: float = 120.0
    most: int = 10
    pause: Callable[[float], object] | None = None


USUAL = Patience()


@dataclass
class Answered:
    """What became of the texts: answers and failures by document, how many answers were `kept`, and the seconds."""

    answers: dict[str, TextAnswer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    kept: int = 0
    seconds: float = 0.0


def ask_all(
    adapter: Adapter,
    asking: Asking,
    texts: Iterable[TextAsked],
    *,
    log: AnswerLog,
    patience: Patience = USUAL,
    what: str = "",
) -> Answered:
    """Return what a system answers to texts: what the log has kept, the rest asked now and kept.

    Where the process is interrupted, all that was answered until then is kept. A text without letters, or in D2KB
    without spans, has nothing to ask about. Raises `UsageError` where no address is named.
    """
    check_asking(adapter, asking)
    described, begin = describe_asking(adapter, asking), time.perf_counter()
    done, left = Answered(), deque[tuple[str, TextAsked]]()
    for text in texts:
        key = hash_description(described, text)
        if not text.text.strip() or text.spans == ():
            done.answers[text.document] = TextAnswer()
        elif (known := log.find(key)) is not None:
            done.answers[text.document] = known
            done.kept += 1
        else:
            left.append((key, text))
    total, parallel = len(left), min(patience.parallel or adapter.parallel, len(left))
    try:
        with progress.moving(what or adapter.name, total, " documents") as moved:
            for key, text, found in _Crew(adapter, asking, patience, parallel).carry_out(left):
                if isinstance(found, TextAnswer):
                    answer = keep_within(text, found)
                    log.keep(key, answer)
                    done.answers[text.document] = answer
                else:
                    done.failed[text.document] = found
                moved(1)
    except KeyboardInterrupt:
        progress.note(
            f"{what or adapter.name}: interrupted; {len(done.answers)} answers are kept, and the same command goes on"
        )
        raise
    done.seconds = time.perf_counter() - begin
    return done


def keep_within(text: TextAsked, answer: TextAnswer) -> TextAnswer:
    """Return an answer without spans that the text does not have or, in D2KB, that were not asked about; both counted.

    >>> from remix.systems.asked import LinkedSpan
    >>> keep_within(TextAsked("d", "Ada"), TextAnswer((LinkedSpan(0, 3), LinkedSpan(2, 9)))).told
    {'outside-text': 1}
    """
    inside = [one for one in answer.spans if 0 <= one.begin < one.end <= len(text.text)]
    asked = inside if text.spans is None else [one for one in inside if (one.begin, one.end) in {*text.spans}]
    told = {"outside-text": len(answer.spans) - len(inside), "not-asked": len(inside) - len(asked)}
    return replace(answer, spans=tuple(asked), told=_add(answer.told, told)) if any(told.values()) else answer


def _add(told: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {
        name: told.get(name, 0) + more.get(name, 0) for name in {**told, **more} if told.get(name) or more.get(name)
    }


_Found = tuple[str, TextAsked, TextAnswer | str]
"""The key of a text, the text, and its answer or why there is none."""


class _Crew:
    """Threads that ask, each by a connection of its own; nobody waits for them where the asking is interrupted."""

    def __init__(self, adapter: Adapter, asking: Asking, patience: Patience, parallel: int) -> None:
        self.adapter, self.asking, self.patience, self.parallel = adapter, asking, patience, parallel
        self._over = threading.Event()
        self._askers: list[Asker] = []
        self._pause = patience.pause or self._over.wait
        self._resume_at = 0.0
        self._in_a_row = 0
        self._reason = ""

    def carry_out(self, left: deque[tuple[str, TextAsked]]) -> Iterator[_Found]:
        """Yield key, text, and its answer or why there is none, as they come."""
        done: SimpleQueue[_Found | BaseException] = SimpleQueue()
        total = len(left)
        for _ in range(self.parallel):
            # What is noted in a thread is noted where this is.
            within = copy_context()
            threading.Thread(target=within.run, args=(self._work, left, done), daemon=True).start()
        try:
            for _ in range(total):
                found = done.get()
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            self._over.set()
            for asker in self._askers:  # also those that still wait for an answer
                asker.close()

    def _work(self, left: deque[tuple[str, TextAsked]], done: SimpleQueue[_Found | BaseException]) -> None:
        asker: Asker | None = None
        try:
            while not self._over.is_set():
                try:
                    key, text = left.popleft()
                except IndexError:
                    return
                try:
                    if asker is None:
                        asker = self.adapter.open(self.asking)
                        self._askers.append(asker)
                    done.put((key, text, self._ask(asker, text)))
                    self._in_a_row = 0
                except Failure as failure:
                    self._note(failure)
                    done.put((key, text, self._tell(failure)))
        except BaseException as error:  # noqa: B036 whatever it is, it is raised where the answers are taken
            done.put(error)

    def _ask(self, asker: Asker, text: TextAsked) -> TextAnswer:
        for number in range(1, self.patience.tries + 1):
            if self._in_a_row >= self.patience.most:
                raise Failure(f"was not asked: the {self._in_a_row} documents before it failed alike ({self._reason})")
            if (early := self._resume_at - time.monotonic()) > 0:
                self._pause(early)
            try:
                return asker.ask(text)
            except Failure as failure:
                last = number == self.patience.tries or failure.after > self.patience.longest
                if self._over.is_set() or last or not _is_passing(failure):
                    raise
                # A service that asks for a pause is not asked by the others either.
                pause = max(failure.after, self.patience.wait * 2 ** (number - 1))
                if failure.after:
                    self._resume_at = max(self._resume_at, time.monotonic() + pause)
                self._pause(pause)
        raise AssertionError  # the last try has returned or raised

    def _note(self, failure: Failure) -> None:
        if failure.lost or failure.unreached or failure.status in _OF_SERVICE:
            self._in_a_row += 1
            self._reason = str(failure)

    def _tell(self, failure: Failure) -> str:
        longer = failure.after > self.patience.longest
        return f"{failure}{f' (asks for a pause of {failure.after:.0f} s)' if longer else ''}"


def _is_passing(failure: Failure) -> bool:
    """Return whether another try may end otherwise."""
    return failure.status in _PASSING or failure.late or failure.broken or (failure.unreached and not failure.lost)
