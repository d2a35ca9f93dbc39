"""Layers: what files of tokens annotate several times over, and the values that they keep of tokens and links.

An annotation of a layer names it (`layer`). All that is scored or measured is the layer `MAIN`; annotations of the
others are ignorable (`OTHER_LAYER`), so that nothing counts them twice. The layers and their columns of links are those
of the HIPE shared tasks (literal and metonymic readings, fine types, components, nested mentions).
"""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.names import RMX

MAIN = "NE-COARSE-LIT"
LAYERS = {
    MAIN: "NEL-LIT",
    "NE-COARSE-METO": "NEL-METO",
    "NE-FINE-LIT": "",
    "NE-FINE-METO": "",
    "NE-FINE-COMP": "",
    "NE-NESTED": "",
}
"""The layers of mentions, with the layer of links that stand elsewhere than their mentions, where they have any."""

ALONE = {links: f"{links}-ALONE" for links in LAYERS.values() if links}
"""The layers of links that the types of their tokens do not tell apart, though they are other ones, as where a file has
`_` for each type: HIPE-scorer has them in its edition of 2020, and later takes them for one."""

UNCLASSED = "ent"
"""The type of mentions that have none, in a format where each has one."""
TOKENS = f"{RMX}tokens"
"""The tokens of a document: each ends with a line feed, or with a tab where no space follows in the text."""
RANKED = f"{RMX}ranked"
"""The links of an annotation as its file spells them, where they are not one entity or NIL: `Q1|NIL`, `_` for none."""
NO_LINK = ("_", "", "-", "O")
"""What files write where a mention has no link, not even NIL."""
NOISE = f"{RMX}noise"
"""How far the mention is from its correct transcription: the edit distance by the length."""
DATE = f"{RMX}date"
PERIOD = f"{RMX}period"
"""The date of a document as its file has it, and the ten years around it: `1890-1900`, of which 1900 is the next."""
CONTINUED = f"{RMX}continued"
"""What HIPE-scorer does not tell from what stands before it: a mention ('true') that begins with I- behind a token that
it takes for a comment, a document (the name of the other) whose line it passes over."""
COMMENT = "#"
"""With what tokens begin that HIPE-scorer takes for comments, on both sides; datasets have them like any other."""
TERMS = (TOKENS, RANKED, NOISE, DATE, PERIOD, CONTINUED)


_TOKENS = {"document": pl.String, "token": pl.String, "begin": pl.Int64, "end": pl.Int64, "glued": pl.Boolean}


def tells_tokens(frames: Frames) -> bool:
    """Return whether frames tell the tokens of any document."""
    return not frames.values.is_empty() and bool(frames.values["term"].is_in([TOKENS]).any())


def tokens_of(frames: Frames) -> pl.DataFrame:
    """Return the tokens of the documents that tell them: document, token, begin, end, glued; in the frames' order.

    >>> value = pl.DataFrame({"subject": ["d"], "term": [TOKENS], "text": ["New\\nYork\\t.\\n"]})
    >>> tokens_of(Frames.of(documents=pl.DataFrame({"document": ["d"]}), values=value)).rows()
    [('d', 'New', 0, 3, False), ('d', 'York', 4, 8, True), ('d', '.', 8, 9, False)]
    """
    told = frames.values.filter(pl.col("term") == TOKENS).select(document="subject", piece="text")
    if told.is_empty():
        return pl.DataFrame(schema=_TOKENS)
    told = frames.documents.select("document").join(told, on="document", maintain_order="left")
    rows = told.with_columns(pl.col("piece").str.extract_all(r"[^\t\n]+[\t\n]?")).explode("piece").drop_nulls()
    piece = pl.col("piece").str
    rows = rows.with_columns(token=piece.strip_chars_end("\t\n"), glued=piece.ends_with("\t"))
    size = pl.col("token").str.len_chars().cast(pl.Int64)
    after = (size + (~pl.col("glued")).cast(pl.Int64)).cum_sum().shift(fill_value=0).over("document")
    return rows.select("document", "token", begin=after, end=after + size, glued="glued")
