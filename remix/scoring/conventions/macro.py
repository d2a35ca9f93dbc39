"""What is averaged over documents."""

from dataclasses import dataclass

from remix.scoring.conventions import Convention
from remix.scoring.statistics import Over


@dataclass(frozen=True, kw_only=True)
class Macro(Convention):
    """Means over documents."""

    documents: Over
    """Which: those where the score is defined, those with gold, or all."""
    harmonic: bool = False
    """Whether macro-F1 is the harmonic mean of macro precision and recall, else it is the mean of the documents' F1."""


macro_where_defined = Macro(
    name="macro-where-defined",
    words="macro scores are means over the documents where the score is defined",
    documents="defined",
)
macro_of_all = Macro(
    name="macro-of-all",
    words="macro scores, F1 too, are means over all documents, also those without annotations",
    documents="all",
)
macro_of_asked = Macro(
    name="macro-of-asked",
    words="macro scores, F1 too, are means over the documents that have gold",
    documents="asked",
)
macro_harmonic = Macro(
    name="macro-harmonic",
    words="macro P and R are means over all documents, macro-F1 is the harmonic mean of these two",
    documents="all",
    harmonic=True,
)
