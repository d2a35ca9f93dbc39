"""What is averaged over documents."""

from remix.scoring.conventions import Macro

macro_where_defined = Macro(
    aspect="macro",
    name="macro-where-defined",
    words="macro scores are means over the documents where the score is defined",
    documents="defined",
)
macro_of_all = Macro(
    aspect="macro",
    name="macro-of-all",
    words="macro scores, F1 too, are means over all documents, also those without annotations",
    documents="all",
)
macro_of_asked = Macro(
    aspect="macro",
    name="macro-of-asked",
    words="macro scores, F1 too, are means over the documents that have gold",
    documents="asked",
)
macro_harmonic = Macro(
    aspect="macro",
    name="macro-harmonic",
    words="macro P and R are means over all documents, macro-F1 is the harmonic mean of these two",
    documents="all",
    harmonic=True,
)
