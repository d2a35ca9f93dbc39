"""WebAnno's and INCEpTION's TSV 3: `#Text=` a sentence, then a token a line with its offsets and what each layer says.

    #T_SP=webanno.custom.Referent|entity|identity
    #Text=Ada Lovelace slept
    1-1<tab>0-3<tab>Ada<tab>person[1]|name[2]<tab>Ada_Lovelace[1]

`#T_SP` names a layer and its features, each a column. Mentions are those of the first layer with a feature `identity`
(a title of the English Wikipedia, as in GUM) or `identifier` (an IRI); classes its `entity` or `value`. `[n]` tells
which mention a value is of, over several tokens or where several stand in one cell; `_` is nothing, `*` a mention
without a value. The text is that of the sentences with a line feed between them; a file is one document.
Source: WebAnno's user guide, "WebAnno TSV 3.2 file format".
"""

from __future__ import annotations

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.formats import Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.lines import begins, name_documents, read_lines, refuse_line
from remix.formats.mentions import MentionTables, reader
from remix.formats.repairs import RepairTally

LINKS, CLASSES = ("identity", "identifier"), ("entity", "value")
_STEM = r"([^/.]+)[^/]*$"
_SPAN = r"^([0-9]{1,15})-([0-9]{1,15})$"
_VALUE = r"(?:\\.|[^|\\])+"
_ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"} | {f"\\{one}": one for one in "[]|_*;>"}
_MOST = 1000
"""How many columns the layers may have together."""


_is_webanno = begins(rb"#FORMAT=WebAnno TSV 3")


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    lines = read_lines(source, tally, _is_webanno)
    lines = name_documents(lines, "file", pl.col("file").str.extract(_STEM, 1), tally)
    tokens = pl.concat([_tokens(part) for part in lines.partition_by("file", maintain_order=True)])
    said = lines.select("name", text=_unescape(pl.col("line").str.extract("^#Text=(.*)$", 1)))
    texts = said.group_by("name", maintain_order=True).agg(pl.col("text").drop_nulls().str.join("\n"))
    mentions = _mentions(tokens).with_columns(identifier=title_url(pl.col("link")))
    return MentionTables(texts, mentions, keep_outside=True, apart=True)


def _unescape(text: pl.Expr) -> pl.Expr:
    return text.str.replace_many(list(_ESCAPES), list(_ESCAPES.values()))


def _columns(lines: pl.DataFrame) -> tuple[int | None, int | None, int]:
    """Return the columns of the link and of the class, null for what no layer has, and the last of all columns."""
    told = lines.select("file", "row", layer=pl.col("line").str.extract(r"^#(T_(?:SP|CH|RL)=.*)$", 1)).drop_nulls()
    place, spans = 2, list[dict[str, int]]()
    for layer in told["layer"]:
        features = layer.split("|")[1:] or [""]
        if layer.startswith("T_SP="):
            spans.append({name: place + n for n, name in enumerate(features, 1)})
        place += len(features)
    chosen = [one for names in (LINKS, CLASSES) for one in spans if not one.keys().isdisjoint(names)]
    if not chosen or place > _MOST:
        wanted = ", ".join((*LINKS, *CLASSES))
        raise BadInput(
            lines["file"][0], f"no layer (#T_SP=) has one of {wanted}, or there are more than {_MOST} columns"
        )
    link, of_class = (next((chosen[0][one] for one in names if one in chosen[0]), None) for names in (LINKS, CLASSES))
    return link, of_class, place


def _tokens(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of a file with their sentence, begin and end, and what the columns of link and class say."""
    link, of_class, last = _columns(lines)
    rows = lines.filter(~pl.col("line").str.contains(r"^(?:#|\s*$)"))
    cells = rows.with_columns(cells=pl.col("line").str.split("\t"))
    cell = pl.col("cells").list
    span = [cell.get(1, null_on_oob=True).str.extract(_SPAN, n).cast(pl.Int64) for n in (1, 2)]
    expected = f"a token has number, begin-end, word and {last - 2} columns of layers, not '{{}}'"
    refuse_line(cells, pl.when(span[1].is_null() | (cell.len() <= last)).then(fill(expected, pl.col("line"))))
    said = [pl.lit("_") if one is None else cell.get(one) for one in (link, of_class)]
    return cells.select(
        "row",
        "place",
        "name",
        begin=span[0],
        end=span[1],
        token=cell.get(2),
        sentence=cell.get(0).str.extract(r"^([0-9]+)-"),
        link=said[0],
        **{"class": said[1]},
    )


def _mentions(tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions: the tokens in whose cells one number stands, or a token with a value without a number."""
    parts = []
    for column in ("link", "class"):
        every = tokens.with_columns(said=pl.col(column).str.extract_all(_VALUE)).explode("said").drop_nulls("said")
        value, number = (pl.col("said").str.extract(r"^(.*?)(?:\[([0-9]+)\])?$", n) for n in (1, 2))
        kept = every.filter((value != "_") | number.is_not_null()).with_columns(
            number=pl.coalesce(number, fill("token {}", "row")),
            link=pl.lit(None, pl.String),
            **{"class": pl.lit(None, pl.String)},
        )
        parts.append(kept.with_columns(_unescape(pl.when(~value.is_in(["_", "*"])).then(value)).alias(column)))
    rows = (
        pl.concat(parts)
        .group_by("name", "row", "number", maintain_order=True)
        .agg(pl.col("place", "begin", "end", "token", "sentence").first(), pl.col("link", "class").drop_nulls().first())
    )
    before = (pl.col(name).shift().over("name", "number") for name in ("end", "sentence"))
    end, sentence = before
    gap = pl.when(pl.col("sentence") != sentence).then(pl.lit("\n")).when(pl.col("begin") > end).then(pl.lit(" "))
    spelt = rows.sort("name", "row", maintain_order=True).with_columns(
        anchor=gap.otherwise(pl.lit("")) + pl.col("token")
    )
    return spelt.group_by("name", "number", maintain_order=True).agg(
        pl.col("place", "begin").first(),
        pl.col("end").last(),
        pl.col("link", "class").drop_nulls().first(),
        pl.col("anchor").str.join(""),
    )


webanno_tsv = Format(
    name="webanno-tsv",
    summary="TSV 3 of WebAnno and INCEpTION (a token a line with its offsets and layers)",
    suffixes=(".tsv",),
    sniff=_is_webanno,
    read=_read,
    collection=True,
)
