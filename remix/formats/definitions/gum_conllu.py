"""GUM's CoNLL-U: a token a line, mentions in brackets in `Entity=` of the last column.

`# global.Entity = GRP-etype-…-identity` names what a bracket says between dashes. The last, which may be missing (NIL)
and may have dashes itself, is a title of the English Wikipedia, brackets and commas percent-encoded. `(1-person-…-Ada)`
is a mention of one token, `(1-person-…` opens one and `1)` closes that of this number opened last; several stand in one
value. Texts are rebuilt of the tokens (`SpaceAfter=No`), with a line feed between sentences; where `# text` says
otherwise, that is told. Multiword tokens (`1-2`) say what stands behind their words, empty nodes (`1.1`) nothing.
Source: CoNLL-U; the README of GUM (Zeldes 2017), "Entity annotations"; Lin and Zeldes 2021.
"""

from __future__ import annotations

import re

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.formats import Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.lines import SENTENCES, join_tokens, name_documents, read_lines, refuse_line, split_cells
from remix.formats.mentions import MentionTables, reader
from remix.formats.offsets import cut_spans
from remix.formats.repairs import RepairTally

FIELDS = "GRP-etype-infstat-salience-centering-minspan-link-identity"
"""What a bracket says where the file does not tell."""

_BRACKET = r"\([^()]*\)?|[^()]+\)"
_READ = ("etype", "identity")
_MOST = 64
_COLUMNS = ("id", "token", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def _is_conllu(head: bytes, name: str) -> bool:
    named = re.search(rb"(?m)^#[ \t]*(?:global\.Entity|newdoc id|sent_id)[ \t]*=", head)
    return head.startswith(b"#") and named is not None


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    lines = read_lines(source, tally, _is_conllu)
    fields = _fields(lines)
    rows = _rows(lines, tally)
    wrong = pl.when(pl.col("count") != len(_COLUMNS)).then(fill("a token has 10 columns, not {}", "count"))
    refuse_line(rows.drop_nulls("token"), wrong)
    words = rows.filter(pl.col("token").is_null() | pl.col("id").str.contains("^[0-9]+$"))
    texts, tokens = join_tokens(
        words, pl.when(pl.col("tight").shift().over("sentence")).then(pl.lit("")).otherwise(SENTENCES)
    )
    _tell_other_texts(rows, texts, tokens, tally)
    return MentionTables(texts, _mentions(tokens, fields, tally), apart=True)


def _fields(lines: pl.DataFrame) -> list[str]:
    """Return the names of what a bracket says, the number of its entity first."""
    told = lines.select(
        "file", "row", said=pl.col("line").str.extract(r"^#\s*global\.Entity\s*=\s*(\S+)", 1)
    ).drop_nulls()
    fields: list[str] = (told["said"][0] if told.height else FIELDS).split("-")
    if len(fields) > _MOST or len(set(fields)) < len(fields):
        reason = f"global.Entity names at most {_MOST} fields of a mention, each once, as in {FIELDS}"
        raise BadInput(told["file"][0], reason, line=int(told["row"][0]))
    return fields


def _rows(lines: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the lines with document, sentence and cells, and whether nothing stands behind a token (`tight`).

    Comments have no token; `said` is what one says the text of its sentence is.
    """
    line = pl.col("line")
    comment, blank = line.str.starts_with("#"), ~line.str.contains(r"\S")
    new = line.str.contains(r"^#\s*newdoc(?:\s|$)")
    first = (pl.col("file") != pl.col("file").shift()).fill_null(True)
    number = (new | (first & ~new.any().over("file"))).cum_sum().clip(1)
    rows = lines.with_columns(sentence=(blank | new | first).cum_sum(), number=number, comment=comment).filter(~blank)
    rows = split_cells(rows, _COLUMNS).with_columns(
        token=pl.when(~comment).then("token"),
        said=line.str.extract(r"^#\s*text\s*=\s*(.*)$", 1),
    )
    rows = name_documents(rows, "number", line.str.extract(r"^#\s*newdoc id\s*=\s*(.*\S)", 1), tally)
    # A token of several words says what stands behind the last of them; between them is nothing.
    tight = pl.col("misc").str.contains(r"(?:^|\|)SpaceAfter=No(?:\||$)").fill_null(False)
    last = pl.col("id").str.extract(r"^[0-9]+-([0-9]{1,9})$", 1).cast(pl.Int64)
    until, behind = (one.forward_fill().over("sentence") for one in (last, pl.when(last.is_not_null()).then(tight)))
    nth = pl.col("id").str.extract("^([0-9]{1,9})$", 1).cast(pl.Int64)
    return rows.with_columns(tight=pl.when(nth < until).then(True).when(nth == until).then(behind).otherwise(tight))


def _tell_other_texts(rows: pl.DataFrame, texts: pl.DataFrame, tokens: pl.DataFrame, tally: RepairTally) -> None:
    """Count the sentences whose tokens do not make the text that they are said to have."""
    spans = tokens.group_by("sentence").agg(pl.col("name", "begin").first(), pl.col("end").last())
    told = rows.select("place", "sentence", "said").drop_nulls("said").join(spans, on="sentence", maintain_order="left")
    told = told.join(texts, on="name", maintain_order="left")
    other = told.filter(cut_spans(told, "name") != told["said"].str.strip_chars())
    tally.add_rows("text", other, "{place}: the tokens make another text than '{said:.60}'")


def _mentions(tokens: pl.DataFrame, fields: list[str], tally: RepairTally) -> pl.DataFrame:
    """Return the mentions: from what opens a bracket to what closes it."""
    entity = pl.col("misc").str.extract(r"(?:^|\|)Entity=([^|]*)", 1)
    said = tokens.select("place", "name", "begin", "end", bracket=entity.str.extract_all(_BRACKET))
    bracket = pl.col("bracket")
    parts = bracket.str.strip_prefix("(").str.strip_suffix(")").str.splitn("-", len(fields)).struct
    told = {name: parts[f"field_{fields.index(name)}"] if name in fields else pl.lit(None, pl.String) for name in _READ}
    events = (
        said.explode("bracket")
        .drop_nulls("bracket")
        .with_row_index("mention")
        .with_columns(
            number=parts["field_0"], opens=bracket.str.starts_with("("), closes=bracket.str.ends_with(")"), **told
        )
    )
    single = pl.col("opens") & pl.col("closes")
    # What opens at one depth is closed by the next at that depth.
    step = pl.when("opens").then(1).otherwise(-1)
    pairs = events.filter(~single).with_columns(depth=step.cum_sum().over("name", "number") + pl.col("closes"))
    same = ["name", "number", "depth"]
    pairs = pairs.with_columns(
        end=pl.when("closes").then("end").shift(-1).over(same), before=pl.col("opens").shift().over(same)
    )
    alone = pairs.filter(pl.when("opens").then(pl.col("end").is_null()).otherwise(~pl.col("before").fill_null(False)))
    tally.add_rows("bracket", alone, "{place}: {bracket:.60} has no other end")
    whole = pl.concat([events.filter(single), pairs.filter("opens").drop_nulls("end")], how="diagonal").sort("mention")
    linked = title_url(pl.col("identity"))
    return whole.select("mention", "place", "name", "begin", "end", pl.col("etype").alias("class"), identifier=linked)


gum_conllu = Format(
    name="gum-conllu",
    summary="CoNLL-U with mentions in brackets (Entity= of GUM)",
    suffixes=(".conllu",),
    sniff=_is_conllu,
    read=_read,
    collection=True,
)
