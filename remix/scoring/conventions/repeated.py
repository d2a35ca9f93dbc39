"""What becomes of annotations that repeat another of the same span and entity."""

from dataclasses import dataclass

from remix.scoring.conventions import Convention


@dataclass(frozen=True, kw_only=True)
class Repeated(Convention):
    """Annotations of the same span and entity."""

    collapse: bool
    """Whether they count once on either side."""


repeated_once = Repeated(
    name="repeated-once",
    words="annotations of the same span and entity count once on either side",
    collapse=True,
)
repeated_each = Repeated(
    name="repeated-each",
    words="every annotation counts, also one that repeats another of the same span and entity",
    collapse=False,
)
