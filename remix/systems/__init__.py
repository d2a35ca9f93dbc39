"""Systems: entity linkers that answer on documents. One file a system, found by scanning.

A system sees documents and, in D2KB, the spans of their annotations; it never sees their links, `oracle-candidates`
excepted, whose business that is. Its answers are frames over the same documents, like gold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from remix.errors import MissingKnowledge, UsageError
from remix.frames import Frames
from remix.registry import Registry

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["SYSTEMS", "TASKS", "System", "annotate"]

TASKS = ("A2KB", "D2KB")


@dataclass(frozen=True)
class System:
    """An entity linker: its name, what it does in one line, and its answer to documents.

    `answer` receives the documents (with their annotations: the spans to link, and the links for an oracle), the
    knowledge base, the task and the seed. It returns the answered annotations with a column `entity`: null is NIL.
    """

    name: str
    summary: str
    answer: Callable[[Frames, KnowledgeBase, str, int], Answers]
    needs_kb: bool = True


if TYPE_CHECKING:
    from remix.systems.spotting import Answers

SYSTEMS: Registry[System] = Registry("system", "remix.systems.definitions", System)


def annotate(name: str, frames: Frames, kb: KnowledgeBase | None, *, task: str = "A2KB", seed: int = 0) -> Frames:
    """Return a system's answers on the documents of the frames, as frames over the same documents.

    In D2KB the system receives the spans of all annotations, also of those that a remix dropped, since its context
    must not shrink. Raises `UnknownName` for an unknown system, `MissingKnowledge` where it needs a knowledge base
    and there is none, `UsageError` for another task.
    """
    from remix.systems.spotting import as_frames

    system = SYSTEMS[name]
    if task not in TASKS:
        raise UsageError(f"systems answer the tasks {' and '.join(TASKS)}, not '{task}'")
    if kb is None and system.needs_kb:
        raise MissingKnowledge(f"the system '{name}' needs a knowledge base: `remix kb attach NAME` attaches one")
    # A system that needs no knowledge base may be given none, and does not look at it.
    return as_frames(frames, system.answer(frames, cast("KnowledgeBase", kb), task, seed))
