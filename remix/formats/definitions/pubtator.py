"""PubTator: title, abstract and the mentions of both, a block of lines a document.

    10|t|Title
    10|a|Abstract
    10<tab>0<tab>5<tab>Title<tab>Disease<tab>D001943

Offsets are code points of title and abstract with one character between them, end exclusive. A second title of one
name begins another document (NCBI's training file has one name twice). A composite mention has
several concepts (`D001943|D010051`, see `remix.formats.biomedical`); a seventh column, for their names, is not read.
Lines of relations (`10<tab>CID<tab>…`) are no mentions. Variants: a mention in parts has their begins and ends in one
cell (`0,19<tab>6,25`), the parts of its text between ` ... ` or `|`; several types (`T116,T123` of MedMentions); the
dialect of FBK, `10<tab>T1<tab>Disease<tab>0<tab>5<tab>Title`, has identifiers of mentions and no links.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.expressions import fill
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.biomedical import join_concepts, split_concepts
from remix.formats.lines import begins, read_lines, refuse_line
from remix.formats.losses import loss_of
from remix.formats.mentions import MentionTables, number_parts, reader
from remix.formats.repairs import RepairTally, separate_names
from remix.formats.writing import gather, lay_out
from remix.frames import Frames

_NUMBERS = r"^[0-9]{1,18}(?:[,;|][0-9]{1,18})*$"
_PASSAGE = r"^([^|\t]+)\|([ta])\|(.*)$"


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    lines = _of_documents(read_lines(source, tally).filter(pl.col("line").str.contains(r"\S")))
    passage = pl.col("part").is_not_null()
    joined = pl.col("text").sort_by("part", descending=True, maintain_order=True).str.join("\n")
    texts = lines.filter(passage).group_by("said", "nth", maintain_order=True).agg(joined)
    texts = texts.with_columns(pl.col("text").str.strip_suffix("\n"), name=separate_names(texts["said"], tally))
    named = texts.select("said", "nth", "name")
    rows = _rows(lines.filter(~passage)).join(named, on=["said", "nth"], how="left", maintain_order="left")
    astray = rows.filter(pl.col("name").is_null())
    refuse_line(astray, fill("a mention in document {}, which has neither title (|t|) nor abstract (|a|)", "said"))
    mentions, links = split_concepts(_parts(rows))
    types = mentions.select("mention", **{"class": pl.col("class").str.split(",")}).explode("class").drop_nulls()
    return MentionTables(texts, mentions.drop("class"), links, classes=types, keep_outside=True, apart=True)


def _of_documents(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines with what they call their document (`said`), its number among those of that name (`nth`), and
    `part` (`t` or `a`) and `text` of title and abstract.
    """
    name, part, text = (pl.col("line").str.extract(_PASSAGE, group) for group in (1, 2, 3))
    lines = lines.with_columns(said=pl.coalesce(name, pl.col("line").str.extract(r"^([^\t]*)")), part=part, text=text)
    return lines.with_columns(nth=pl.col("part").eq_missing("t").cum_sum().over("said").clip(1))


def _rows(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions, a row a line, with begins and ends as they are written."""
    cells = lines.with_columns(cells=pl.col("line").str.split("\t"))
    count = pl.col("cells").list.len()
    cell = [pl.col("cells").list.get(place, null_on_oob=True) for place in range(6)]
    # A relation has words where a mention has numbers.
    relation = (count < 5) & (count > 2) & cell[1].str.contains("^[A-Za-z]").fill_null(False)
    cells = cells.filter(~relation)
    fbk = (count == 6) & cell[1].str.contains("^T[0-9]+$") & cell[3].str.contains(_NUMBERS)
    order = zip(cell[1:], (cell[3], cell[4], cell[5], cell[2], pl.lit("")), strict=True)
    begin, end, anchor, kind, identifiers = (pl.when(fbk).then(other).otherwise(one) for one, other in order)
    numbers = begin.str.contains(_NUMBERS) & end.str.contains(_NUMBERS)
    even = begin.str.count_matches("[0-9]+") == end.str.count_matches("[0-9]+")
    fine = ((count >= 5) & numbers & even).fill_null(False)
    expected = "a mention is document, begin, end, text, type, identifier, between tabs, not '{}'"
    refuse_line(cells, pl.when(~fine).then(fill(expected, pl.col("line").str.slice(0, 80))))
    return cells.select(
        "file",
        "row",
        "place",
        "said",
        "nth",
        begin=begin,
        end=end,
        anchor=anchor,
        identifiers=identifiers.fill_null(""),
        **{"class": pl.when(kind != "").then(kind)},
    )


def _parts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions with numbers as offsets, those in parts as a row for each of them."""
    listed = rows.with_columns(pl.col("begin", "end").str.extract_all("[0-9]+").cast(pl.List(pl.Int64)))
    several = pl.col("begin").list.len()
    said = pl.col("anchor").str.replace_all(" ... ", "|", literal=True).str.split("|")
    said = pl.when(several == 1).then(pl.concat_list("anchor")).when(said.list.len() == several).then(said)
    listed = listed.with_columns(anchor=said.otherwise(pl.lit(None, pl.String).repeat_by(several)))
    return number_parts(listed.explode("begin", "end", "anchor"), "row").drop("file", "row", "said", "nth")


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    texts, rows, losses = lay_out(frames, r"^[^|\s]+$")
    title = pl.col("text").str.extract(r"^([^\n]*)", 1)
    rest = pl.col("text").str.slice(title.str.len_chars() + 1)
    ends = pl.col("text").str.ends_with("\n")
    broken = texts.filter(rest.str.contains(r"[\r\n]") | title.str.contains("\r") | ends)["document"]
    rows = join_concepts(rows)
    spread = rows.filter(pl.col("option_size") > 1)["annotation"]
    form, kind = pl.col("surface_form").str.replace_all(r"[\r\n\t]", " "), pl.col("class").fill_null("")
    line = fill("{}\t{}\t{}\t{}\t{}\t{}\n", "label", "begin", "end", form, kind, "identifier")
    heads = texts.with_columns(title=title.str.replace_all("\r", " "), rest=rest.str.replace_all(r"[\r\n]", " "))
    whole = gather(heads, rows, body=line.str.join("")).select(
        fill("{}|t|{}\n{}|a|{}\n{}\n", "label", "title", "label", "rest", pl.col("body").fill_null(""))
    )
    with write_whole(path) as stream:
        stream.write("".join(whole.to_series()).encode())
    losses += loss_of("line-breaks", broken)
    return losses + loss_of("discontinuous", spread)


pubtator = Format(
    name="pubtator",
    summary="PubTator (title, abstract and mentions; biomedical)",
    suffixes=(".pubtator", ".txt"),
    sniff=begins(rb"[^|\t\r\n]+\|[ta]\|"),
    read=_read,
    write=_write,
    holds=frozenset({"texts", "nil", "links", "classes", "parts", "unannotated", "repeated-spans"}),
)
