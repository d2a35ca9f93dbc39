"""neleval's tab-separated annotations: document, begin, end, then identifier, score and type of each candidate.

Ends are inclusive, texts are elsewhere, the unit of offsets is whatever the file counts in. The candidate of the
highest score is the answer, the first of equals. A type needs a score: 1.0 is written where there is none. An
identifier that begins with NIL names a cluster: equal names, one entity that is in no knowledge base. A type may be a
JSON object: its `type` is the class, and all of it stays as the value `rmx:typeFields` of the mention.
Source: neleval's documentation, "File formats", and its reader (`neleval/annotation.py`).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix.expressions import fill
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.lines import read_lines, refuse_line
from remix.formats.losses import TYPE_FIELDS, loss_of
from remix.formats.mentions import NUMBER, TOLD, MentionTables, answer, reader
from remix.formats.repairs import RepairTally
from remix.formats.source import is_cut
from remix.formats.writing import identifier_or_nil, lay_out
from remix.frames import Frames
from remix.schemas import fit

_NUMBER = f"^{NUMBER}$"
_MOST = 1000
"""How many candidates a mention may have: each takes a pass over the lines that have so many."""


def _is_neleval(head: bytes, name: str) -> bool:
    lines = [line for line in head.decode("utf-8", "replace").splitlines()[:20] if line.strip()]
    lines = lines[:-1] if is_cut(head) and len(lines) > 1 else lines
    fitting = [_fits(line) for line in lines]
    # A line that is broken further down is for the reader to name.
    return bool(lines) and fitting[0] and 2 * sum(fitting) > len(lines)


def _fits(line: str) -> bool:
    cells = line.rstrip("\t").split("\t")
    if len(cells) not in (3, 4, 5) and len(cells) % 3:
        return False
    # A name may have blanks within: `1163testb SOCCER`.
    placed = cells[0].strip() and len(cells) >= 3 and all(re.fullmatch("[0-9]+", one) for one in cells[1:3])
    # Other tables have words where the score stands.
    return bool(placed) and all(not score or re.match(_NUMBER, score) for score in cells[4::3])


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    line = pl.col("line").str.strip_chars_end("\r\t")
    rows = read_lines(source, tally).with_columns(line, mention="row", cell=line.str.split("\t"))
    rows = rows.filter(pl.col("line") != "")
    _refuse_what_is_none(rows)
    cell = pl.col("cell").list
    begin, end = (cell.get(place).cast(pl.Int64, strict=False) for place in (1, 2))
    mentions = rows.select("mention", "place", name=cell.get(0), begin=begin, end=end + 1)
    ranked = _candidates(rows)
    fields = ranked.unique("mention", keep="first", maintain_order=True).filter(_IS_JSON)
    values = fit(fields.select("mention", term=pl.lit(TYPE_FIELDS), text="class"), TOLD)
    named = pl.when(_IS_JSON).then(pl.col("class").str.json_path_match("$.type")).otherwise("class")
    return replace(answer(mentions, ranked.with_columns(named.alias("class"))), values=values)


_IS_JSON = pl.col("class").str.starts_with("{")


def _cell(place: int) -> pl.Expr:
    said = pl.col("cell").list.get(place, null_on_oob=True)
    return pl.when(said != "").then(said)


def _candidates(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates, best first: mention, identifier, score, class."""
    found, place, left = [], 3, rows
    while place == 3 or len(left):
        score, of_class = _cell(place + 1).cast(pl.Float64, strict=False), _cell(place + 2)
        found.append(left.select("mention", identifier=_cell(place), score=score, **{"class": of_class}))
        place += 3
        left = left.filter(pl.col("cell").list.len() > place)
    every = pl.concat(found).drop_nulls("identifier")
    if len(found) == 1:
        return every
    # Sorting is stable: of equal scores the one that stands first is the better.
    return every.sort("mention", "score", descending=[False, True], nulls_last=True, maintain_order=True)


def _refuse_what_is_none(rows: pl.DataFrame) -> None:
    cells = pl.col("cell").list
    count = cells.len()
    number = [cells.get(place, null_on_oob=True).str.contains("^[0-9]{1,18}$").fill_null(False) for place in (1, 2)]
    score = _cell(4).str.contains(_NUMBER).fill_null(True)
    types = rows.select(one=cells.gather_every(3, 5)).explode("one").drop_nulls("one")["one"].unique()
    broken = [one for one in types if one.startswith("{") and not _is_object(one)]
    wrong = (
        pl.when(count > 3 + 3 * _MOST)
        .then(fill("{} columns; there are {} candidates at most", count, pl.lit(_MOST)))
        .when((count < 3) | ((count > 5) & (count % 3 != 0)))
        .then(fill("{} columns; document, begin, end, then identifier, score and type in threes", count))
        .when(~(number[0] & number[1]))
        .then(
            fill("begin and end are numbers, not '{}' and '{}'", *(cells.get(one, null_on_oob=True) for one in (1, 2)))
        )
        .when(~score)
        .then(fill("the score is a number, not '{}'", _cell(4)))
        .when(cells.gather_every(3, 5).list.set_intersection(broken).list.len() > 0)
        .then(pl.lit("a type that begins with a brace is a JSON object: write its keys and values in double quotes"))
    )
    refuse_line(rows, wrong)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    _, rows, losses = lay_out(frames, r"^\S(?:[^\x00\t\r\n]*\S)?$")
    told = frames.values.filter(pl.col("term") == TYPE_FIELDS).select(annotation="subject", fields="text")
    rows = rows.join(told.unique("annotation", keep="first"), on="annotation", how="left", maintain_order="left")
    # What a class was corrected to goes before what a file said of it.
    same = pl.col("fields").str.json_path_match("$.type").eq_missing(pl.col("class"))
    typed = pl.when(pl.col("fields").is_not_null() & same).then("fields")
    cells = rows.select(
        "label",
        "begin",
        pl.col("end") - 1,
        identifier=identifier_or_nil().str.replace_all(r"\s", "_"),
        score=pl.coalesce("confidence", pl.when(pl.col("class").is_not_null() | typed.is_not_null()).then(1.0)),
        type=pl.coalesce(typed, pl.col("class").str.replace_all(r"\s", "_")),
    )
    unsure = rows.filter(pl.col("confidence").is_null() & (pl.col("class").is_not_null() | typed.is_not_null()))
    losses += loss_of("no-confidence", unsure["annotation"])
    with write_whole(path) as stream:
        cells.write_csv(stream, include_header=False, separator="\t", quote_style="never", null_value="")
    return losses


neleval = Format(
    name="neleval",
    summary="neleval's annotations (tab-separated, inclusive ends, no texts)",
    suffixes=(".tsv", ".tab"),
    sniff=_is_neleval,
    read=_read,
    write=_write,
    holds=frozenset({"dangling", "nil", "classes", "confidence", "clusters", "type-fields"}),
    says=frozenset({TYPE_FIELDS}),
)
