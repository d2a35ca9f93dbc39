"""HIPE-scorer's TSV for historical text: a token a line, with literal and metonymic mentions and their links.

Columns are found by the header: TOKEN, NE-COARSE-LIT, NE-COARSE-METO, NEL-LIT, NEL-METO, MISC; others (fine types,
components, nested mentions, which have no links) are not read, which is told. Documents begin at `# document_id = …`,
also with a prefix (`# hipe2022:document_id`). Texts are rebuilt with a space between tokens, none behind one with
`NoSpaceAfter` in MISC. `Q1|Q2` are several acceptable links, `NIL` and `_` are none. The metonymic reading of a span is
an alternative of its literal one, as where both are scored together; its class is `metonymic.<class>`. A mention
without a class is written as `ent`.
Source: HIPE 2022 shared task, participation guidelines; HIPE-scorer.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from remix.errors import BadInput, nearest
from remix.files import written
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.losses import loss_of
from remix.formats.mends import Mends
from remix.formats.mentions import MentionTables, assemble, drop_overlaps, flatten, label_documents
from remix.formats.tables import cut_texts, lose_white_space
from remix.formats.tokens import join_tokens, read_lines, tagged_spans
from remix.frames import Frames

COLUMNS = (
    "TOKEN", "NE-COARSE-LIT", "NE-COARSE-METO", "NE-FINE-LIT", "NE-FINE-METO", "NE-FINE-COMP", "NE-NESTED", "NEL-LIT",
    "NEL-METO", "MISC",
)  # fmt: skip
READ = ("TOKEN", "NE-COARSE-LIT", "NE-COARSE-METO", "NEL-LIT", "NEL-METO", "MISC")
EMPTY = ("_", "", "-", "O")
"""What a cell says where there is nothing."""

READINGS = {"LIT": "", "METO": "metonymic."}
"""What the class of a reading begins with."""

UNCLASSED = "ent"
_MOST = 64
"""How many columns a header may have: there are ten."""

_NAMED = r"^#\s*(?:[\w-]+:)?document_id\s*=\s*(.*?)\s*$"
_LANGUAGE = r"^#\s*(?:[\w-]+:)?language\s*=\s*(\S+)"
_GLUED = "NoSpaceAfter"


def _is_hipe(head: bytes, name: str) -> bool:
    return re.match(rb"(?:#[^\n]*\n)*TOKEN\tNE-COARSE-LIT\t", head.removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    lines = read_lines(source, mends).filter(pl.col("line").str.contains(r"\S"))
    rows = _rows(source, lines, mends)
    told = rows.filter(pl.col("token").is_not_null() | pl.col("named").is_not_null())
    glued = pl.col("glued").shift().over("name").fill_null(False)
    texts, tokens = join_tokens(told, pl.when(glued).then(pl.lit("")).otherwise(pl.lit(" ")))
    spoken = told.group_by("name", maintain_order=True).agg(language=pl.col("language").last())
    texts = texts.join(spoken, on="name", maintain_order="left")
    parts = [_mentions(tokens, reading, mends) for reading in READINGS if f"NE-COARSE-{reading}" in tokens.columns]
    mentions = pl.concat(parts).sort("row", maintain_order=True).drop("mention").with_row_index("mention")
    mentions = mentions.with_columns(pl.col("mention").cast(pl.Int64))
    links = mentions.select("mention", identifier=pl.col("linked").str.split("|")).explode("identifier")
    read = MentionTables(
        documents=texts,
        mentions=mentions,
        links=links.filter(~pl.col("identifier").is_in(EMPTY)),
        mends=mends,
    )
    return assemble(read, dataset)


def _rows(source: SourceFile, lines: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return the lines with document, language, cells, and whether the next token is `glued`; comments have none."""
    comment = pl.col("line").str.starts_with("#") & ~pl.col("line").str.contains("\t")
    header = lines.filter(~comment).head(1)
    if header.is_empty():
        raise BadInput(source.name, "has no header with the columns TOKEN, NE-COARSE-LIT and NEL-LIT")
    names = header["line"][0].split("\t")
    twice = next((name for name in COLUMNS if names.count(name) > 1), None)
    if twice is not None or len(names) > _MOST:
        wrong_header = f"has the column {twice} twice" if twice else f"has {len(names)} columns; {_MOST} are the most"
        raise BadInput(source.name, f"the header {wrong_header}", line=int(header["row"][0]))
    for name in ("TOKEN", "NE-COARSE-LIT", "NEL-LIT"):
        if name not in names:
            raise BadInput(
                source.name, f"the header has no column {name}{nearest(name, names)}", line=int(header["row"][0])
            )
    # The header is repeated where files were put together.
    rows = lines.filter(pl.col("line") != header["line"][0]).with_columns(comment=comment)
    cells = rows.with_columns(cells=pl.when(~pl.col("comment")).then(pl.col("line").str.split("\t")))
    wrong = cells.filter(pl.col("cells").list.len() != len(names))
    if wrong.height:
        found = wrong.row(0, named=True)
        reason = f"has {len(found['cells'])} columns, the header {len(names)}"
        raise BadInput(source.name, reason, line=int(found["row"]))
    _tell_unread(cells, names, mends)
    values = [pl.col("cells").list.get(place).alias(name) for place, name in enumerate(names) if name in COLUMNS]
    named = pl.when("comment").then(pl.col("line").str.extract(_NAMED, 1))
    told = pl.when("comment").then(pl.col("line").str.extract(_LANGUAGE, 1))
    rows = cells.with_columns(
        *values, named=named, name=named.forward_fill().fill_null("document"), language=told.forward_fill()
    )
    glued = pl.col("MISC").str.split("|").list.contains(_GLUED).fill_null(False) if "MISC" in names else pl.lit(False)
    return rows.with_columns(token="TOKEN", glued=glued)


def _tell_unread(cells: pl.DataFrame, names: list[str], mends: Mends) -> None:
    """Count what columns have that are not read; of a tag of several tokens its begin alone."""
    for place, name in enumerate(names):
        if name in READ:
            continue
        said = cells.select("row", value=pl.col("cells").list.get(place))
        said = said.filter(~pl.col("value").is_in(EMPTY) & ~pl.col("value").str.starts_with("I-"))
        if said.height:
            mends.add("unread", f"line {said['row'][0]}: {said['value'][0]} in the column {name}", said.height)


def _mentions(tokens: pl.DataFrame, reading: str, mends: Mends) -> pl.DataFrame:
    """Return the mentions of a reading: a token tagged B- and those tagged I- behind it."""
    tag = pl.col(f"NE-COARSE-{reading}")
    linked = f"NEL-{reading}" if f"NEL-{reading}" in tokens.columns else None
    if linked and (loose := tokens.filter(~tag.str.contains("^[BIES]-") & ~pl.col(linked).is_in(EMPTY))).height:
        mends.add("unread", f"line {loose['row'][0]}: {loose[linked][0]} links no mention ({linked})", loose.height)
    kind = pl.lit(READINGS[reading]) + tag.str.slice(2).first().replace({UNCLASSED: None})
    link = pl.col(linked).first() if linked else pl.lit("_").first()
    return tagged_spans(tokens, tag, {"linked": link, "class": kind}, mends)


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, r"^[^\s=](?:[^\r\n\t]*\S)?$")
    every = flatten(frames).with_columns(metonymic=pl.col("class").str.starts_with("metonymic.").fill_null(False))
    kept = {}
    for reading, rows in (("LIT", every.filter(~pl.col("metonymic"))), ("METO", every.filter("metonymic"))):
        kept[reading], overlapping = drop_overlaps(rows.drop("metonymic"))
        losses += overlapping
    tokens = _tokens(frames.documents, pl.concat(kept.values()))
    blank = every.filter(~pl.col("surface_form").str.contains(r"\S"))["annotation"]
    losses += loss_of("blank", blank)
    for reading, rows in kept.items():
        tokens = _add_tags(tokens, rows, reading)
    losses += _changed_texts(frames.documents, tokens)
    unread = [pl.lit("_").alias(name) for name in COLUMNS if name.startswith(("NE-FINE", "NE-NESTED"))]
    misc = pl.when(pl.col("glued")).then(pl.lit(_GLUED)).otherwise(pl.lit("_")).alias("MISC")
    cells = tokens.with_columns(*unread, misc).select("document", line=pl.concat_str(COLUMNS, separator="\t"))
    bodies = cells.group_by("document", maintain_order=True).agg(body=pl.col("line").str.join("\n") + "\n")
    heads = names.sort("label")
    told = (
        pl.when(pl.col("language").is_not_null()).then(pl.format("# language = {}\n", "language")).otherwise(pl.lit(""))
    )
    whole = heads.join(bodies, on="document", how="left", maintain_order="left").select(
        pl.format("# document_id = {}\n{}{}\n", "label", told, pl.col("body").fill_null(""))
    )
    with written(path) as stream:
        stream.write(("\t".join(COLUMNS) + "\n" + "".join(whole.to_series())).encode())
    return losses


def _tokens(documents: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of the texts with begin, end and `glued`: words and signs, cut at mentions."""
    pieces = cut_texts(documents, rows)
    parts = (
        pieces.with_row_index("piece")
        .select("document", "piece", "cut", token=pl.col("said").str.extract_all(r"\s+|\w+|[^\w\s]"))
        .explode("token")
    )
    size = pl.col("token").str.len_chars().cast(pl.Int64)
    placed = parts.drop_nulls("token").with_columns(begin=pl.col("cut") + size.cum_sum().over("piece") - size)
    placed = placed.with_columns(end=pl.col("begin") + size)
    blank = pl.col("token").str.contains(r"^\s")
    after = ~blank.shift(-1).over("document").fill_null(True)
    return placed.with_columns(glued=after).filter(~blank).rename({"token": "TOKEN"}).drop("piece", "cut")


def _add_tags(tokens: pl.DataFrame, rows: pl.DataFrame, reading: str) -> pl.DataFrame:
    """Return the tokens with the tags and links of a reading."""
    kind = pl.col("class").fill_null(UNCLASSED).str.strip_prefix("metonymic.").str.replace_all(r"\s", "_")
    link = pl.col("identifiers").list.eval(
        pl.element().str.replace(r"^http://www\.wikidata\.org/entity/", "").str.replace_all(r"[\s|]", "_")
    )
    spans = rows.select(
        "document", "annotation", kind=kind, link=link.list.join("|").fill_null("NIL"), first="begin", stop="end"
    )
    spans = spans.sort("document", "first")
    tokens = tokens.sort("document", "begin")
    found = tokens.join_asof(
        spans, left_on="begin", right_on="first", by="document", strategy="backward", check_sortedness=False
    )
    inside = (pl.col("end") <= pl.col("stop")).fill_null(False)
    first = pl.col("annotation") != pl.col("annotation").shift().over("document")
    begun = pl.when(first.fill_null(True)).then(pl.lit("B-")).otherwise(pl.lit("I-"))
    tag = pl.when(inside).then(begun + pl.col("kind")).otherwise(pl.lit("O"))
    linked = pl.when(inside).then("link").otherwise(pl.lit("_"))
    tagged = found.with_columns(tag.alias(f"NE-COARSE-{reading}"), linked.alias(f"NEL-{reading}"))
    return tagged.drop("annotation", "kind", "link", "first", "stop")


def _changed_texts(documents: pl.DataFrame, tokens: pl.DataFrame) -> tuple[Loss, ...]:
    """Return the loss of white space: texts that are rebuilt with other gaps."""
    gap = pl.when("glued").then(pl.lit("")).otherwise(pl.lit(" "))
    rebuilt = tokens.group_by("document", maintain_order=True).agg(rebuilt=(pl.col("TOKEN") + gap).str.join(""))
    return lose_white_space(documents, rebuilt.with_columns(pl.col("rebuilt").str.strip_suffix(" ")))


hipe = Format(
    name="hipe",
    summary="HIPE-scorer's TSV (a token a line, literal and metonymic; historical text)",
    suffixes=(".tsv",),
    sniff=_is_hipe,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "languages", "nil", "links", "classes", "unannotated"}),
)
