"""What becomes of annotations that repeat another of the same span and entity."""

from remix.scoring.conventions import Repeated

repeated_once = Repeated(
    aspect="repeated",
    name="repeated-once",
    words="annotations of the same span and entity count once on either side",
    collapse=True,
)
repeated_each = Repeated(
    aspect="repeated",
    name="repeated-each",
    words="every annotation counts, also one that repeats another of the same span and entity",
    collapse=False,
)
