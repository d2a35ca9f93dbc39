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

UNTYPED = {layer: f"{layer}-UNTYPED" for layer in LAYERS}
"""The layers of what a file tags without a type (`_`, `B-`), where it has types too: HIPE-scorer counts it where the
empty type is one of the labels that count."""

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
NOISES = f"{RMX}noises"
"""The noise of the tokens of a document, where it is not that of the mention of `MAIN` that they are in, none outside:
each with the offset from where it holds on, `0 0.25`, in a line; nothing behind the offset for none."""
DATE = f"{RMX}date"
PERIOD = f"{RMX}period"
"""The date of a document as its file has it, and the ten years around it: `1890-1900`, of which 1900 is the next."""
NO_DAY = "2022-01-01"
"""The date that HIPE-scorer gives to what stands below a line of a date that tells none."""
DATES = f"{RMX}dates"
"""The dates of a document that has several: each with the offset from where it holds on, `0 1894-05-01`, in a line."""
SEGMENTS = f"{RMX}segments"
"""How many tokens each segment of a document has that has several, `7 5`, without those that HIPE-scorer takes for
comments."""
EMPTIED = f"{RMX}emptied"
"""How many cells of a document are empty in its file, or of types and missing, for which HIPE-scorer refuses the file;
its edition of 2024 takes empty ones for labels."""
FILLED = f"{RMX}filled"
"""How many lines of a document lack cells of links, or have more cells than the header, for which HIPE-scorer refuses
the file; its edition of 2024 reads `_` and passes over what is more."""
CONTINUED = f"{RMX}continued"
"""What HIPE-scorer does not tell from what stands before it: a mention ('true') that begins with I- behind a token that
it takes for a comment, a document (the name of the other) whose line it passes over."""
INSIDE = f"{RMX}inside"
"""How the tag of the first token of a mention begins, `I`, where that is not B and its document has one of its type
before: were nothing between them, HIPE-scorer would take both for one."""
ODD_PREFIXES = f"{RMX}oddPrefixes"
"""Where the tags of a layer in a document begin with neither B nor I, nor are O: the layer, and the offset of each such
token with a space before it; of layers that have links there. In HIPE-scorer a tag I- begins another answer where its
link is another, these do not."""
LABELS = f"{RMX}labels"
"""The labels that the cells of a layer make count in HIPE-scorer, where these are not the types of its mentions: the
layer and its labels, with a space before each. Of a cell `B-LOC` both are LOC, of `LOC` that is the label, C the
type."""
LABELS_WITHOUT_HASHES = f"{RMX}labelsWithoutHashes"
"""The labels as `LABELS` has them, of each layer of a document of whose tokens some have a # behind their beginning: in
its edition of 2024 HIPE-scorer reads no cells of these tokens."""
HASHED = f"{RMX}hashed"
"""Of a document that a run is laid on, if any token has #: 'true' where others have it in the run than in gold, else
'false'."""
COMMENT = "#"
"""With what tokens begin that HIPE-scorer takes for comments, on both sides, in its edition of 2024 what they have
anywhere; datasets have them like any other."""
TERMS = (TOKENS, SEGMENTS, RANKED, NOISE, NOISES, DATE, DATES, PERIOD, CONTINUED, INSIDE, LABELS_WITHOUT_HASHES)
"""The values that the format of HIPE-scorer can hold."""
SAID = (*TERMS, EMPTIED, FILLED, LABELS, ODD_PREFIXES)
"""The values that its files tell: of cells that are empty, or odd, others are written."""


_TOKENS = {"document": pl.String, "token": pl.String, "begin": pl.Int64, "end": pl.Int64, "glued": pl.Boolean}


def label_of(tag: pl.Expr) -> pl.Expr:
    """Return the label that a tag in capitals makes count in HIPE-scorer, null for none.

    It is what stands behind the last hyphen of what stands before the first bar.

    >>> tags = pl.DataFrame({"tag": ["B-LOC", "LOC", "I-A-B", "B-LOC|B-PERS", "-", "_", "O"]})
    >>> tags.select(label_of(pl.col("tag")))["tag"].to_list()
    ['LOC', 'LOC', 'B', 'LOC', '', None, None]
    """
    label = tag.str.split("|").list.first().str.extract("([^-]*)$", 1)
    return pl.when(~label.is_in(["_", "O"])).then(label)


def is_comment(token: pl.Expr, *, anywhere: bool) -> pl.Expr:
    """Return whether HIPE-scorer takes a token for a comment, that has # `anywhere` or begins with it.

    >>> tokens = pl.DataFrame({"token": ["#a", "a#", "a"]})
    >>> [tokens.select(is_comment(pl.col("token"), anywhere=one))["token"].to_list() for one in (False, True)]
    [[True, False, False], [True, True, False]]
    """
    return token.str.contains(COMMENT, literal=True) if anywhere else token.str.starts_with(COMMENT)


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


def odd_prefixes_in(frames: Frames) -> pl.DataFrame:
    """Return document, layer and begin of the tokens whose tags begin as `ODD_PREFIXES` tells.

    >>> value = pl.DataFrame({"subject": ["d"], "term": [ODD_PREFIXES], "text": [f"{MAIN} 0 4"]})
    >>> odd_prefixes_in(Frames.of(documents=pl.DataFrame({"document": ["d"]}), values=value)).rows()
    [('d', 'NE-COARSE-LIT', 0), ('d', 'NE-COARSE-LIT', 4)]
    """
    words = pl.col("text").str.split(" ")
    told = frames.values.filter(pl.col("term") == ODD_PREFIXES).select(
        document="subject", layer=words.list.first(), begin=words.list.slice(1)
    )
    return told.explode("begin").with_columns(pl.col("begin").cast(pl.Int64)).drop_nulls()
