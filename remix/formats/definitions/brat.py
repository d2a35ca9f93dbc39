"""BRAT standoff: a folder or zip of `.txt` and `.ann` files, or one `.ann` with its `.txt` beside it.

Text-bound annotations (`T`) are mentions, their normalisations (`N`, `Reference T1 Wikidata:Q64`) links, several of
which may be right; a mention without one is NIL, as is one with `Wikidata:NULL` (NEREL). Where a mention has none, a
note that is an identifier is taken as its link, as neleval does. Fragments (`0 5;8 12`) are parts that are required
together; BRAT itself cuts a mention at a line feed, which is undone. Confidence is an attribute. Source: BRAT's
manual, "brat standoff format".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from os.path import commonprefix
from pathlib import Path, PurePosixPath

import polars as pl

from remix.errors import BadInput, UsageError
from remix.expressions import fill
from remix.formats import Format, Loss, SourceFile
from remix.formats.lines import refuse_line
from remix.formats.losses import loss_of
from remix.formats.mentions import MentionTables, number_parts, reader
from remix.formats.repairs import RepairTally, decode
from remix.formats.source import FILE_NAME, hash_files, write_collection
from remix.formats.writing import gather, lay_out
from remix.frames import Frames

UNTYPED = "Entity"
"""The type of a mention that has no class: BRAT needs one."""

_FIRST = re.compile(rb"T[0-9]\S*\t\S+ [0-9]+ [0-9]+(?:;[0-9]+ [0-9]+)*(?:\t|$)|(?:[RENAM][0-9]\S*|#\S*|\*)\t\S+ ")
_MENTION = re.compile(rb"(?m)^T[0-9]\S*\t\S+ [0-9]+ [0-9]+")
_SPAN = r"^T\S+\t\S+ [0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*(?:\t|$)"
_NIL = r"(?i)^(?:wikidata|wd|umls|mesh):(?:null|nil|none|cuiless)$"
_IDENTIFIER = r"^(?:https?://\S+|Q[0-9]+|[A-Za-z]+:[^\s/]\S*)$"


def _is_brat(head: bytes, name: str) -> bool:
    return _FIRST.match(head) is not None and _MENTION.search(head) is not None


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    files = source.members or _pair(source)
    _refuse_deep(source, files)
    names = sorted({str(PurePosixPath(name).with_suffix("")) for name in files if name.endswith((".ann", ".txt"))})
    texts = [decode(files[f"{one}.txt"], tally) if f"{one}.txt" in files else None for one in names]
    documents = pl.DataFrame({"name": names, "text": texts}, schema_overrides={"text": pl.String})
    lines = _lines(source, names, [decode(files.get(f"{one}.ann", b""), tally) for one in names])
    fragments = _fragments(_mentions(lines).join(documents, on="name", how="left", maintain_order="left"))
    notes = _of_kind(lines, "N", r"^Reference (\S+) (\S.*)$")
    notes = notes.with_columns(pl.col("said").str.replace(_NIL, "NIL"))
    comments = _of_kind(lines, "#", r"^AnnotatorNotes (\S+)\t(.*)$").filter(pl.col("said").str.contains(_IDENTIFIER))
    noted = comments.join(notes, on=["name", "id"], how="anti", maintain_order="left")
    links = pl.concat([notes, noted]).rename({"said": "identifier"})
    links = links.join(fragments, on=["name", "id"], maintain_order="left")
    sure = _of_kind(lines, "A", r"^Confidence (\S+) (\S+)$").unique(["name", "id"], keep="first")
    sure = sure.select("name", "id", confidence=pl.col("said").cast(pl.Float64, strict=False))
    _tell_unread(lines, comments, tally)
    fragments = fragments.join(sure, on=["name", "id"], how="left", maintain_order="left")
    return MentionTables(documents, fragments, links, content=hash_files(files), keep_outside=True, apart=True)


def _refuse_deep(source: SourceFile, names: Iterable[str]) -> None:
    """Refuse a folder whose annotations all lie in one folder far below: the other files are of something else."""
    places = [PurePosixPath(name).parent.parts for name in names if name.endswith(".ann")]
    shared = commonprefix(places) if places and Path(source.path).is_dir() else ()
    if len(shared) > 1:
        raise BadInput(source.name, f"has files of BRAT in {'/'.join(shared)} alone: name that folder")


def _pair(source: SourceFile) -> dict[str, bytes]:
    """Return the `.ann` file and the text beside it under one name."""
    name = "standard input" if source.is_stdin else Path(source.path).name.split(".ann")[0]
    content = source.read()
    text = source.beside(f"{name}.txt")
    return {f"{name}.ann": content} | ({} if text is None else {f"{name}.txt": text})


def _lines(source: SourceFile, names: list[str], contents: list[str]) -> pl.DataFrame:
    """Return the lines of all files: name, row, line, kind (its first letter), id and what follows the id."""
    frame = pl.DataFrame({"name": names, "line": [one.split("\n") for one in contents]})
    frame = frame.with_columns(row=pl.int_ranges(1, pl.col("line").list.len() + 1)).explode("line", "row")
    frame = frame.with_columns(pl.col("line").str.strip_chars_end("\r")).filter(pl.col("line").str.contains(r"\S"))
    parts = pl.col("line").str.splitn("\t", 2).struct
    lines = frame.with_columns(kind=pl.col("line").str.slice(0, 1), id=parts[0], rest=parts[1])
    file = fill("{}/{}.ann", pl.lit(source.name), "name") if source.is_collection else pl.lit(source.name)
    bound = pl.col("kind") == "T"
    broken = (bound & ~pl.col("line").str.contains(_SPAN)) | ~pl.col("kind").is_in(list("TREAMN#*"))
    wrong = pl.when(broken | pl.col("rest").is_null())
    refuse_line(
        lines.with_columns(file=file), wrong.then(fill("is no line of BRAT: '{}'", pl.col("line").str.slice(0, 60)))
    )
    return lines


def _mentions(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions with their text and the spans of their fragments as they are written."""
    head, anchor = (pl.col("rest").str.splitn("\t", 2).struct[place] for place in (0, 1))
    kind = head.str.extract(r"^(\S+) ", 1)
    return lines.filter(pl.col("kind") == "T").select(
        *("name", "row", "id"),
        place=fill("{}.ann, line {}", "name", "row"),
        **{"class": pl.when(kind != UNTYPED).then(kind)},
        spans=head.str.replace(r"^\S+ ", ""),
        anchor=anchor,
    )


def _fragments(mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the parts of the mentions, joined where nothing but a line feed is between them."""
    span = pl.col("spans").str.split(";")
    begin, end = (pl.col("span").str.extract(pattern, 1).cast(pl.Int64) for pattern in ("^([0-9]+) ", " ([0-9]+)$"))
    parts = mentions.with_columns(span=span).explode("span").with_columns(begin=begin, end=end)
    before = pl.col("end").shift().over("name", "row")
    between = pl.col("text").str.slice(before, (pl.col("begin") - before).clip(0))
    joined = (pl.col("begin") > before) & between.str.contains(r"^[ \t\r]*\n[ \t\r\n]*$")
    parts = parts.with_columns(piece=(~joined.fill_null(False)).cum_sum().over("name", "row"))
    whole = parts.group_by("name", "row", "piece", maintain_order=True).agg(
        pl.col("id", "place", "class", "anchor", "text", "begin").first(), pl.col("end").last()
    )
    numbered = number_parts(whole, "name", "row")
    said = pl.col("text").str.slice(pl.col("begin"), (pl.col("end") - pl.col("begin")).clip(0))
    # BRAT writes a line feed of the text as a space.
    alike = said.str.replace_all(r"\s+", " ") == pl.col("anchor").str.replace_all(r"\s+", " ")
    anchor = pl.when(alike.fill_null(False)).then(said).otherwise("anchor")
    return numbered.with_columns(anchor=pl.when(pl.col("part_of").is_null()).then(anchor))


def _of_kind(lines: pl.DataFrame, kind: str, pattern: str) -> pl.DataFrame:
    """Return name, id of the mention and what is said of it, of the lines of a kind that fit the pattern."""
    rows = lines.filter(pl.col("kind") == kind)
    first, second = (pl.col("rest").str.extract(pattern, place) for place in (1, 2))
    said = second.str.splitn("\t", 2).struct[0] if kind == "N" else second
    return rows.select("name", id=first, said=said.str.strip_chars()).drop_nulls()


def _tell_unread(lines: pl.DataFrame, comments: pl.DataFrame, tally: RepairTally) -> None:
    used = pl.col("kind").is_in(["T", "N"]) | pl.col("rest").str.starts_with("Confidence ")
    noted = (pl.lit("AnnotatorNotes ") + comments["id"] + "\t" + comments["said"]).pipe(pl.select).to_series()
    unread = lines.filter(~used & ~pl.col("rest").str.strip_chars().is_in(noted.implode()))
    tally.add_rows("unread", unread, "{name}.ann, line {row}: {line:.60}")


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    if path.suffix == ".ann":
        raise UsageError(f"{path}: BRAT is written as a folder, or as an archive that ends in .zip")
    names, rows, losses = lay_out(frames, FILE_NAME)
    # Parts with links of their own are mentions that are right only together, which BRAT cannot say.
    together = pl.len().over("option") > 1
    one_link = pl.col("identifiers").list.join(" ").fill_null("").n_unique().over("option") == 1
    alone = rows.filter(together & ~one_link)["annotation"]
    losses += loss_of("parts", alone)
    lines = _lines_of(rows.with_columns(of=pl.when(together & one_link).then("option").otherwise("annotation")))
    whole = gather(names, lines, body=pl.col("line").str.join("\n"))
    files: list[tuple[str, bytes]] = []
    for label, text, body in whole.select("label", "text", "body").iter_rows():
        files += [(f"{label}.ann", f"{body}\n".encode() if body else b""), (f"{label}.txt", text.encode())]
    write_collection(path, files)
    return losses


def _lines_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of the annotations: document, line."""
    spans = _split_at_line_feeds(rows)
    joined = spans.group_by("document", "of", maintain_order=True).agg(
        pl.col("identifiers", "class", "confidence").first(),
        span=fill("{} {}", "begin", "end").str.join(";"),
        form=pl.col("surface_form").str.replace_all(r"\s", " ").str.join(" "),
    )
    numbered = joined.with_columns(number=pl.int_range(pl.len()).over("document") + 1)
    kind = pl.col("class").str.replace_all(r"\s", "_").fill_null(UNTYPED)
    bound = numbered.select("document", "number", order=0, line=fill("T{}\t{} {}\t{}", "number", kind, "span", "form"))
    linked = numbered.explode("identifiers").drop_nulls("identifiers")
    linked = linked.with_columns(nth=pl.int_range(pl.len()).over("document") + 1)
    normalised = fill("N{}\tReference T{} {}\t", "nth", "number", _with_prefix(pl.col("identifiers")))
    sure = numbered.drop_nulls("confidence").with_columns(nth=pl.int_range(pl.len()).over("document") + 1)
    confident = fill("A{}\tConfidence T{} {}", "nth", "number", "confidence")
    parts = [
        bound,
        linked.select("document", "number", order=1, line=normalised),
        sure.select("document", "number", order=2, line=confident),
    ]
    return pl.concat(parts).sort("document", "number", "order", maintain_order=True)


def _split_at_line_feeds(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with mentions of several lines cut into their lines, as BRAT does."""
    inner = pl.col("surface_form").str.contains(r"^[^\n]*\S[^\n]*\n(?s:.*\n)?[^\n]*\S[^\n]*$")
    lines = pl.when(inner).then(pl.col("surface_form").str.split("\n")).otherwise(pl.concat_list("surface_form"))
    pieces = rows.with_columns(surface_form=lines).explode("surface_form")
    length = pl.col("surface_form").str.len_chars().cast(pl.Int64)
    begin = pl.col("begin") + (length + 1).cum_sum().over("annotation") - length - 1
    filled = pieces.with_columns(begin=begin, end=begin + length)
    one = pl.len().over("annotation") == 1
    return filled.filter(one | pl.col("surface_form").str.contains(r"\S"))


def _with_prefix(identifier: pl.Expr) -> pl.Expr:
    return (
        identifier.str.replace(r"^https?://www\.wikidata\.org/(?:entity|wiki)/(Q[0-9]+)$", "Wikidata:$1")
        .str.replace(r"^http://dbpedia\.org/resource/", "DBpedia:")
        .str.replace_all(r"\s", "_")
    )


brat = Format(
    name="brat",
    summary="BRAT standoff (.ann and .txt files in a folder or zip)",
    suffixes=(".ann",),
    sniff=_is_brat,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "unannotated", "nil", "links", "classes", "confidence", "parts", "repeated-spans"}),
    collection=True,
)
