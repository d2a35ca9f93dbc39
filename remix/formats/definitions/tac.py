"""TAC KBP entity discovery and linking: the tables of 2015 and later, and the queries and links of 2014 and before.

- since 2015 one table: run, mention, its text, `document: begin - end`, identifier, type, kind of mention, confidence;
- before, `kbpentlink` XML with a `query` per mention, and a table of query, identifier, type, confidence: in one folder
  or archive, or beside the XML with its name and `.tab` (`…_queries.xml` and `…_KB_links.tab` as LDC calls them).

Ends are inclusive; texts are elsewhere. An identifier that begins with NIL names a cluster. Lines of one mention are
its candidates, of which the most confident answers. Written is the table of 2015, with the confidence 1.0 where there
is none. Source: neleval's documentation, "TAC data", and its readers (`neleval/tac.py`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.lines import numbered_lines, refuse_line
from remix.formats.losses import loss_of
from remix.formats.mentions import NUMBER, MentionTables, answer, reader, whole_number
from remix.formats.repairs import RepairTally, decode
from remix.formats.source import begin_of, hash_files
from remix.formats.writing import identifier_or_nil, lay_out
from remix.formats.xml import parse_tree, root_of
from remix.frames import Frames

RUN = "remix"
"""The name of the run in the first column of what is written."""

_PLACE = r"^(\S+): ?([0-9]{1,18}) ?[-–] ?([0-9]{1,18})$"
_LINE = re.compile(r"[^\t]*\t[^\t]*\t[^\t]*\t\S+: ?[0-9]+ ?[-–] ?[0-9]+\t[^\t]+\t")
_MENTION = ["file", "query", "name", "begin", "end"]
_NUMBER = f"^{NUMBER}$"


def _is_tac(head: bytes, name: str) -> bool:
    if root_of(head) == "kbpentlink":
        return True
    return _LINE.match(head.decode("utf-8", "replace").split("\n", 1)[0]) is not None


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    files = source.files
    queries = [(name, data) for name, data in files.items() if root_of(begin_of(data)) == "kbpentlink"]
    if queries:
        placed = pl.concat([_queries(data, source.place(name), tally) for name, data in queries])
        tables = {name: data for name, data in files.items() if name.endswith(".tab")} or _links_beside(source)
        links = pl.concat([_links(data, source.place(name), tally) for name, data in tables.items()])
        stray = links.join(placed, on="query", how="anti")
        if stray.height:
            raise BadInput(source.name, f"{stray['query'][0]} has a link, but no query", line=int(stray["row"][0]))
        links = placed.join(links.drop("row", "place", "file"), on="query", how="left", maintain_order="left")
        links = links.with_columns(pl.col("identifier").fill_null("NIL"))
        files = files | tables
    else:
        tables = source.files_that(_is_tac)
        if not tables:
            raise BadInput(source.name, "has no queries (<kbpentlink>) and no table of 2015 in it")
        links = pl.concat([_table(data, source.place(name), tally) for name, data in tables.items()])
    ranked = links.with_row_index("nth").sort("score", descending=True, nulls_last=True, maintain_order=True)
    best = ranked.unique(_MENTION, keep="first", maintain_order=True).sort("nth").with_row_index("mention")
    nominal = best.filter(pl.col("kind").fill_null("NAM") != "NAM")
    tally.add_rows("unread", nominal, "{place}: the kind of mention {kind}")
    mentions = best.select("mention", "place", "name", "begin", "anchor", end=pl.col("end") + 1)
    ranked = ranked.join(best.select("mention", *_MENTION), on=_MENTION, maintain_order="left")
    content = {name if source.is_collection else Path(name).name: data for name, data in files.items()}
    return replace(answer(mentions, ranked), content=hash_files(content))


def _cells(data: bytes, file: str, tally: RepairTally) -> pl.DataFrame:
    """Return the lines of a table that are not empty: file, row, place, cell (a list)."""
    lines = numbered_lines(decode(data, tally)).filter(pl.col("line").str.contains(r"\S"))
    place = fill("{}, line {}", pl.lit(Path(file).name), "row")
    return lines.select("row", cell=pl.col("line").str.split("\t"), place=place, file=pl.lit(file))


def _cell(place: int) -> pl.Expr:
    said = pl.col("cell").list.get(place, null_on_oob=True).str.strip_chars()
    return pl.when(said != "").then(said)


def _table(data: bytes, file: str, tally: RepairTally) -> pl.DataFrame:
    """Return the lines of a table of 2015: one per candidate of a mention."""
    rows = _cells(data, file, tally)
    begin, end = (_cell(3).str.extract(_PLACE, n).cast(pl.Int64, strict=False) for n in (2, 3))
    _refuse(rows, "document: begin - end is expected in column 4, not '{}'", _cell(3), begin.is_null())
    _refuse(rows, "column 5 has no identifier, nor NIL{}", pl.lit(""), _cell(4).is_null())
    return _with_score(rows, 7).with_columns(
        query=pl.coalesce(_cell(1), "place"),
        anchor=_cell(2),
        name=_cell(3).str.extract(_PLACE, 1),
        begin=begin,
        end=end,
        identifier=_cell(4),
        **{"class": _cell(5)},
        kind=_cell(6),
    )


def _refuse(rows: pl.DataFrame, reason: str, cell: pl.Expr, wrong: pl.Expr) -> None:
    refuse_line(rows, pl.when(wrong.fill_null(True)).then(fill(reason, cell.fill_null(""))))


def _with_score(rows: pl.DataFrame, place: int) -> pl.DataFrame:
    """Return the lines with the confidence in a column as `score`."""
    unsure = _cell(place).is_not_null() & ~_cell(place).str.contains(_NUMBER)
    _refuse(rows, "the confidence is a number, not '{}'", _cell(place), unsure)
    return rows.with_columns(score=_cell(place).cast(pl.Float64, strict=False))


def _queries(data: bytes, file: str, tally: RepairTally) -> pl.DataFrame:
    """Return the queries of an XML file: file, query, place, anchor, name, begin, end."""
    rows = []
    for query in parse_tree(data, file, tally).every("query"):
        fields = {key: said.strip() for key, said in query.fields().items()}
        begin, end, name = whole_number(fields.get("beg")), whole_number(fields.get("end")), fields.get("docid")
        if begin is None or end is None or name is None:
            raise BadInput(file, "a query has docid, beg and end, the last two numbers", line=query.line)
        place = f"{Path(file).name}, line {query.line}"
        rows.append((file, query.get("id", ""), place, fields.get("name"), name, begin, end))
    schema = {"file": pl.String, "query": pl.String, "place": pl.String, "anchor": pl.String, "name": pl.String}
    return pl.DataFrame(rows, schema={**schema, "begin": pl.Int64, "end": pl.Int64}, orient="row")


def _links(data: bytes, file: str, tally: RepairTally) -> pl.DataFrame:
    """Return the lines of a table of links: one per candidate of a query."""
    rows = _cells(data, file, tally).filter(_cell(0) != "query_id")
    expected = "a link has query, identifier, type and confidence, not one column ('{}')"
    _refuse(rows, expected, _cell(0), _cell(1).is_null())
    columns = {"query": _cell(0), "identifier": _cell(1), "class": _cell(2), "kind": pl.lit(None, pl.String)}
    return _with_score(rows, 3).with_columns(**columns).drop("cell")


def _links_beside(source: SourceFile) -> dict[str, bytes]:
    """Return the table of links that belongs to an XML file."""
    stem = Path(source.path).name.removesuffix(".xml")
    common = stem.removesuffix("_queries").removesuffix("_mentions")
    names = [f"{stem}.tab", *(f"{common}{end}" for end in (".tab", "_KB_links.tab", "_links.tab"))]
    found = None if source.is_collection else source.beside(*names)
    if found is None:
        raise BadInput(source.name, f"has queries, but their links are not there: put them beside it as {names[0]}")
    return {names[0]: found}


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    _, rows, losses = lay_out(frames)
    unsure = rows.filter(pl.col("confidence").is_null())["annotation"]
    losses += loss_of("no-confidence", unsure)
    cells = rows.with_row_index("number", offset=1).select(
        pl.lit(RUN).alias("run"),
        fill("{}_{}", pl.lit(RUN), pl.col("number").cast(pl.String).str.zfill(6)).alias("mention"),
        pl.col("surface_form").str.replace_all(r"\s", " "),
        fill("{}:{}-{}", "label", "begin", pl.col("end") - 1).alias("place"),
        identifier_or_nil().str.replace_all(r"\s", "_").alias("identifier"),
        pl.col("class").str.replace_all(r"\s", "_"),
        pl.lit("NAM").alias("kind"),
        pl.col("confidence").fill_null(1.0),
    )
    with write_whole(path) as stream:
        cells.write_csv(stream, include_header=False, separator="\t", quote_style="never", null_value="")
    return losses


tac = Format(
    name="tac",
    summary="TAC KBP entity linking (the table of 2015; queries and links of 2014; inclusive ends, no texts)",
    suffixes=(".tab", ".xml"),
    sniff=_is_tac,
    read=_read,
    write=_write,
    holds=frozenset({"dangling", "nil", "classes", "confidence", "clusters"}),
    collection=True,
)
