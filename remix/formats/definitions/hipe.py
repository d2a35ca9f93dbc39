"""HIPE-scorer's TSV for historical text: a token a line, with layers of mentions and their links.

Columns are found by the header: TOKEN, the layers of `remix.formats.layers` with their links, MISC, which may be
missing. A document begins at `# document_id = …`, also with a prefix (`# hipe2022:document_id`), or at another comment
that begins with `# document` behind tokens; lines without token are passed over. The scorer takes every line that
begins with `#` for a comment: here one that has other cells, as many as the header, is a token like any other; mentions
that the scorer does not tell apart without it are marked, as are documents whose line it passes over (`CONTINUED`).
Texts are rebuilt with a space between tokens, none behind one with `NoSpaceAfter` in MISC.
All but `O` is inside a mention; it begins at `B-`, behind `O` and where the type changes, IOBES likewise; where tags
with links begin otherwise is kept (`ODD_PREFIXES`), as the scorer does not let these begin other links. Of ranked
links (`Q1|Q2`) the first is the link, and all are kept as a value; `NIL` and `_` are none. A mention whose links
differ from token to token has them as mentions of the layer `NEL-LIT`, too, and so has a link on a token that is `O`. A
mention without a class is written as `ent`. Links that no type tells apart, as where each is `_`, are mentions of the
layer `NEL-LIT-ALONE`. A header may name more columns than all lines have, and NEL-LIT may be missing; a line may lack
cells of links, which are `_`, and what it has beyond the header is passed over, as in the scorer's edition of 2024.
Source: HIPE 2022 shared task, participation guidelines; HIPE-scorer.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.errors import BadInput, nearest
from remix.expressions import fill
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.layers import (
    ALONE,
    COMMENT,
    CONTINUED,
    DATE,
    DATES,
    EMPTIED,
    FILLED,
    INSIDE,
    LABELS,
    LABELS_WITHOUT_HASHES,
    LAYERS,
    MAIN,
    NO_DAY,
    NO_LINK,
    NOISE,
    NOISES,
    ODD_PREFIXES,
    PERIOD,
    RANKED,
    SAID,
    SEGMENTS,
    TOKENS,
    UNCLASSED,
    UNTYPED,
    is_comment,
    label_of,
    tokens_of,
)
from remix.formats.lines import begins, cut_texts, join_tokens, lose_white_space, name_documents, numbered_lines
from remix.formats.losses import loss_of
from remix.formats.mentions import MentionTables, reader
from remix.formats.repairs import RepairTally, decode
from remix.formats.token_marks import (
    GLUED,
    NOISY,
    add_dates,
    add_noise,
    add_segments,
    dates_of,
    find_inside,
    noises_of,
    segments_of,
)
from remix.formats.writing import drop_overlaps, gather, lay_out
from remix.frames import OTHER_LAYER, Frames

COLUMNS = ("TOKEN", *LAYERS, "NEL-LIT", "NEL-METO", "MISC")
_MOST = 64
"""How many columns a header may have: there are ten."""

_FILLABLE = ("NEL-LIT", "NEL-METO", "MISC")
"""The columns that the scorer fills in its edition of 2024."""

_NO_VALUES = pl.DataFrame(schema={"name": pl.String, "term": pl.String, "text": pl.String})
_COMMENT = r"^#[^\t]*\t*$|^# (?:hipe2022:(?:document_id|date)|document|segment|date)"
_BEGINS = r"^# (?:hipe2022:document_id|document)"
_SEGMENT = "^# segment"
_NAMED = r"^#\s*(?:[\w-]+:)?document_id\s*=\s*(.*?)\s*$"
_LANGUAGE = r"^#\s*(?:[\w-]+:)?language\s*=\s*(\S+)"
_DATED = r"^# (?:hipe2022:)?date"
_DAY = r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
_GAP = pl.when(pl.col("glued").shift().over("name").fill_null(False)).then(pl.lit("")).otherwise(pl.lit(" "))


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    text = decode(source.read(), tally).replace("\r\n", "\n").replace("\r", "\n")
    rows = _rows(source, numbered_lines(text).filter(pl.col("line").str.contains(r"\S")), tally)
    rows = _with_documents(rows, tally)
    told = rows.filter(pl.col("token").is_not_null() | pl.col("named").is_not_null())
    texts, tokens = join_tokens(told, _GAP)
    texts = texts.join(dates_of(tokens), on="name", how="left", maintain_order="left")
    spelt = pl.col("token") + pl.when("glued").then(pl.lit("\t")).otherwise(pl.lit("\n"))
    last = {name: pl.col(name).last() for name in ("language", "date", "day")}
    more = told.group_by("name").agg(
        tokens=spelt.drop_nulls().str.join(""),
        continued=pl.col("continued").first(),
        emptied=pl.col("emptied").sum().cast(pl.Float64),
        filled=pl.col("filled").sum().cast(pl.Float64),
        **last,
    )
    more = more.join(segments_of(tokens), on="name", how="left")
    documents = texts.join(more, on="name", maintain_order="left")
    # Most files annotate few of the layers; the first is read all the same, as it gives the columns.
    used = [layer for layer in LAYERS if layer == MAIN or _is_used(tokens, layer)]
    parts = [_mentions(tokens, layer, tally) for layer in used]
    # The layer that is scored comes first, so that its mentions have the plain names.
    mentions = pl.concat(parts, how="diagonal").with_row_index("mention").cast({"mention": pl.Int64})
    tally.add_rows("other-layer", mentions.drop_nulls("ignorable"), "{place}: a mention of {layer}")
    first = pl.col("linked").str.split("|").list.first()
    mentions = mentions.with_columns(identifier=pl.when(~first.is_in(NO_LINK)).then(first))
    documents = documents.join(noises_of(tokens, mentions), on="name", how="left", maintain_order="left")
    parts = [_values(documents, mentions), _labels(tokens, mentions, used), _odd_prefixes(tokens, used)]
    values = pl.concat(parts, how="diagonal")
    return MentionTables(documents, mentions, values=values)


def _rows(source: SourceFile, lines: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the lines with their cells, of comments null, and `glued`, where no space follows the token."""
    comment = pl.col("line").str.contains(_COMMENT)
    header = lines.filter(~comment).head(1)
    if header.is_empty():
        raise BadInput(source.name, "has no header with the columns TOKEN, NE-COARSE-LIT and NEL-LIT")
    names = header["line"][0].split("\t")
    odd = [f"has the column {name} twice" for name in COLUMNS if names.count(name) > 1]
    odd += [f"has {len(names)} columns; {_MOST} are the most"] if len(names) > _MOST else []
    # Without links a file has types alone, unless a column that is not known may be that of the links.
    needed = ["TOKEN", "NE-COARSE-LIT", *([] if {*names} <= {*COLUMNS} else ["NEL-LIT"])]
    odd += [f"has no column {name}{nearest(name, names)}" for name in needed if name not in names]
    if odd:
        raise BadInput(source.name, f"the header {odd[0]}", line=int(header["row"][0]))
    # The header is repeated where files were put together.
    rows = lines.filter(pl.col("line") != header["line"][0]).with_columns(comment=comment)
    tally.add_rows("empty-token", rows.filter(pl.col("line").str.starts_with("\t")), "line {row} has no token")
    rows = rows.filter(~pl.col("line").str.starts_with("\t"))
    cells = rows.with_columns(cells=pl.when(~pl.col("comment")).then(pl.col("line").str.split("\t")))
    count = pl.col("cells").list.len()
    fitting = _fit(names, cells.filter(~pl.col("line").str.starts_with(COMMENT)).select(count).to_series(), tally)
    lost, names = names[len(fitting) :], fitting
    # To the scorer a line that begins with # is a comment, however many cells it has, and MISC may be missing.
    other = pl.col("line").str.starts_with(COMMENT) & (count != len(names)).fill_null(False)
    cells = cells.with_columns(pl.when(~other).then("cells").alias("cells"), comment=pl.col("comment") | other)
    typed = max(place for place, name in enumerate(names, 1) if name not in _FILLABLE)
    wrong = cells.filter(count < typed)
    if wrong.height:
        row, found = wrong.select("row", count).row(0)
        raise BadInput(source.name, f"has {found} columns, the header {len(names)}", line=row)
    least = len(names) - (names[-1] == "MISC")
    unequal = (count < least) | (count > len(names))
    told = cells.filter(unequal).select("row", cells=count)
    tally.add_rows("column", told, f"line {{row}} has {{cells}} cells, the header {len(names)}")
    values = {
        name: pl.col("cells").list.get(place, null_on_oob=True) for place, name in enumerate(names) if name in COLUMNS
    }
    lacked = {name: pl.coalesce(cell, pl.when(~pl.col("comment")).then(pl.lit("_"))) for name, cell in values.items()}
    values |= {name: cell for name, cell in lacked.items() if name in _FILLABLE}
    read = ~pl.col("line").str.starts_with(COMMENT)
    # What all lines lack each of them lacks.
    fillable = {*lost} <= {*_FILLABLE}
    lacks = {"filled": unequal | pl.lit(fillable and lost not in ([], ["MISC"])), "emptied": pl.lit(not fillable)}
    lacks = {name: (read & one.fill_null(False)).cast(pl.Int64) for name, one in lacks.items()}
    found = cells.with_columns(pl.col("line").str.strip_chars_end("\t"), **values, **lacks).rename({"TOKEN": "token"})
    found = _tell_empty(found, tally)
    misc = pl.col("MISC") if "MISC" in names else pl.lit(None, pl.String)
    glued = misc.str.split("|").list.contains(GLUED).fill_null(False)
    return found.with_columns(glued=glued, noise=misc.str.extract(NOISY, 1)).drop("cells")


def _fit(names: list[str], counts: pl.Series, tally: RepairTally) -> list[str]:
    """Return the columns of the header that the lines have, where all have as many cells, and fewer than it."""
    width = counts.drop_nulls().unique().to_list()
    if len(counts) < 2 or len(width) != 1 or not 1 < width[0] < len(names):
        return names
    tally.add(
        "column",
        f"all {len(counts):,} lines have {width[0]} cells; the header names {', '.join(names[width[0] :])} besides",
    )
    return names[: width[0]]


def _tell_empty(rows: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the rows with `O` and `_` in the cells that are empty, which the scorer refuses, and tell them.

    `emptied` counts these; it reads none of a line that begins with `#`.
    """
    read = ~pl.col("line").str.starts_with(COMMENT)
    for layer, links in LAYERS.items():
        for name, value in ((layer, "O"), (links, "_")):
            if name in rows.columns:
                empty = (pl.col(name) == "").fill_null(False)
                tally.add_rows("tag", rows.filter(empty), f"line {{row}}: {name} is empty, read as {value}")
                filled = pl.when(empty).then(pl.lit(value)).otherwise(name).alias(name)
                rows = rows.with_columns(filled, emptied=pl.col("emptied") + (empty & read))
    return rows


def _with_documents(rows: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the rows with name, language and date of their document; `named` where a comment names it.

    `home` is the number of the scorer's document, `continued` the name of the document before that it has not left.
    """
    said = pl.when("comment").then("line")
    dated = pl.when(said.str.contains(_DATED)).then(said.str.extract(_DAY, 1).fill_null(pl.lit("")))
    rows = rows.with_columns(
        named=said.str.extract(_NAMED, 1),
        language=said.str.extract(_LANGUAGE, 1).forward_fill(),
        date=dated.forward_fill(),
        # A document ends where another is named, and at any such comment behind tokens.
        opens=said.str.contains(_BEGINS).fill_null(False),
        cuts=said.str.contains(f"{_BEGINS}|{_SEGMENT}").fill_null(False),
        read=(~pl.col("comment")).cum_sum(),
        scored=(~pl.col("comment") & ~pl.col("line").str.starts_with(COMMENT)).cum_sum(),
    ).with_columns(day=pl.col("date").replace("", NO_DAY), date=pl.col("date").replace("", None))
    named = pl.col("named").is_not_null()
    opening = rows.filter(pl.col("opens") | named).filter(
        named | (pl.col("read") != pl.col("read").shift(fill_value=0))
    )
    # The scorer ends one where tokens stand before the comment, and behind the last that ended a document or segment.
    ending = rows.filter("cuts").filter(pl.col("scored") != pl.col("scored").shift(fill_value=0))
    cutting = ending.filter("opens")
    rows = rows.with_columns(
        number=pl.col("row").is_in(opening["row"].implode()).cum_sum(),
        home=pl.col("row").is_in(cutting["row"].implode()).cum_sum(),
        segment=pl.col("row").is_in(ending["row"].implode()).cum_sum(),
    )
    # A file that names none is one document.
    alone = pl.when(pl.col("number").n_unique() == 1).then(pl.lit("document"))
    first = pl.col("named").drop_nulls().first().over("number")
    rows = name_documents(rows.with_columns(said=pl.coalesce(first, alone)), "number", pl.col("said"), tally)
    homes = rows.filter(~pl.col("comment")).group_by("name", maintain_order=True).agg(home=pl.col("home").first())
    same = pl.col("home") == pl.col("home").shift()
    before = homes.select("name", continued=pl.when(same).then(pl.col("name").shift()))
    return rows.join(before, on="name", how="left", maintain_order="left")


def _begin(rows: pl.DataFrame, within: str) -> pl.DataFrame:
    """Return the rows with `begins` and `parts`: where a mention or its next part begins, and at each token outside.

    A part begins where a tag I- has another link than the part so far; other tags carry that on. At `alone` another
    link begins, whether the tag tells it or not.
    """
    inside, kind = pl.col("inside"), pl.col("kind")
    same = pl.col(within) == pl.col(within).shift()
    before = (inside.shift() & (kind == kind.shift()) & same).fill_null(False)
    begins = ~inside | pl.col("tag").str.starts_with("B") | ~before
    linked = pl.col("linked").str.to_uppercase()
    other = linked != linked.shift()
    asks = pl.col("tag").str.starts_with("I")
    of_part = pl.when(asks | begins.fill_null(True)).then(linked).forward_fill().shift()
    parts = begins | (asks & (linked != of_part))
    return rows.with_columns(begins=begins, parts=parts.fill_null(False), alone=(begins | other).fill_null(False))


def _is_used(tokens: pl.DataFrame, layer: str) -> bool:
    """Return whether any token has a type in the layer, which stands behind the first two characters, or a link."""
    links = LAYERS[layer]
    typed = layer in tokens.columns and ((tokens[layer].str.len_chars() > 2) | tokens[layer].str.ends_with("-")).any()
    return typed or (layer in tokens.columns and links in tokens.columns and not tokens[links].is_in(NO_LINK).all())


def _mentions(tokens: pl.DataFrame, layer: str, tally: RepairTally) -> pl.DataFrame:
    """Return the mentions of a layer, and as ones of its layer of links those that are linked otherwise."""
    of_links = LAYERS[layer] if LAYERS[layer] in tokens.columns else ""
    iob = pl.col(layer).str.replace("^S-", "B-").str.replace("^E-", "I-")
    # The scorer reads all cells in capitals; links that are none of Wikidata stay as they are.
    linked = pl.col(of_links).str.replace_all(r"(^|\|)q([0-9]+)", "${1}Q$2") if of_links else pl.lit("_")
    said = ("row", "name", "home", "token", "begin", "end", "noise", layer)
    rows = tokens.select(*said, tag=iob.str.to_uppercase(), linked=linked)
    rows = rows.with_columns(inside=pl.col("tag") != "O", kind=pl.col("tag").str.slice(2))
    rows = _begin(rows, "name").with_columns(is_link=~pl.col("linked").is_in(NO_LINK))
    scored = _begin(rows.filter(~pl.col("token").str.starts_with(COMMENT)), "home")
    fresh = pl.struct("home", "kind").is_first_distinct().over("inside")
    begun = pl.col("tag").str.slice(0, 1)
    within = pl.when(pl.col("inside") & (begun != "B") & ~fresh).then(begun)
    # Empty where there is nothing to tell: null is a token that the scorer does not read.
    scored = scored.select("row", run_on=~pl.col("begins"), part_on=~pl.col("parts"), inner=within.fill_null(""))
    rows = rows.join(scored, on="row", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("begins", "parts", "alone").cum_sum()).rename({"begins": "run", "parts": "part"})
    # Without a type no tag tells where a part begins: for the scorer, at its first token that is no comment.
    comment = pl.col("token").str.starts_with(COMMENT)
    part = pl.col("part")
    read_before = pl.when(~comment).then(part).forward_fill().shift()
    first_read = ~comment & comment.shift() & (part == part.shift()) & (read_before != part).fill_null(True)
    rows = rows.with_columns(part=part + (first_read & (pl.col("kind") == "")).fill_null(False).cum_sum())
    typed = rows.filter(pl.col("inside") & (pl.col("kind") != ""))
    first = pl.col("run") != pl.col("run").shift()
    odd = typed.filter(first.fill_null(True) & pl.col("tag").str.starts_with("I-"))
    tally.add_rows("tag", odd, "line {row}: I- begins a mention")
    mentions = _join(typed, "run").with_columns(layer=pl.lit(layer), tag=pl.col(layer).str.slice(2), goes_on="run_on")
    several = part.first().over("run") != part.last().over("run")
    outside = rows.filter((pl.col("kind") == "") | ~pl.col("inside") | several)
    apart = _join(outside.filter(pl.col("is_link").first().over("part")), "part")
    apart = apart.with_columns(layer=pl.lit(of_links), tag=pl.lit(None, pl.String), goes_on="part_on")
    alone = pl.col("alone")
    unlike = rows.filter(alone.first().over("part") != alone.last().over("part"))
    otherwise = (
        _join(unlike, "alone")
        .filter("is_link")
        .with_columns(layer=pl.lit(ALONE.get(of_links, "")), tag=pl.lit(None, pl.String), goes_on=pl.lit(False))
    )
    untyped = _join(rows.filter(pl.col("inside") & (pl.col("kind") == "")), "run")
    none = {"tag": pl.lit(None, pl.String), "noise": pl.lit(None, pl.String)}
    untyped = untyped.with_columns(layer=pl.lit(UNTYPED[layer]), goes_on="run_on", **none)
    found = pl.concat([mentions, apart, otherwise, untyped])
    return found.select(
        *("row", "name", "begin", "end", "linked", "layer", "noise", "goes_on"),
        inner=pl.when(pl.col("layer").is_in([layer, UNTYPED[layer], of_links])).then(pl.col("inner").replace("", None)),
        place=fill("line {}", "row"),
        ignorable=pl.when(pl.col("layer") != MAIN).then(pl.lit(OTHER_LAYER)),
        **{"class": pl.col("tag").replace({UNCLASSED: None})},
    )


def _join(tokens: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return what the first token of each group says, up to the end of the last.

    What goes on, to the scorer, is told by the first that it does not take for a comment.
    """
    goes_on = ["run_on", "part_on", "inner"]
    return (
        tokens.group_by(key, maintain_order=True)
        .agg(pl.all().exclude("end", *goes_on).first(), pl.col("end").last(), pl.col(goes_on).drop_nulls().first())
        .select(tokens.columns)
    )


def _labels(tokens: pl.DataFrame, mentions: pl.DataFrame, layers: list[str]) -> pl.DataFrame:
    """Return as values the labels of each layer in a document where they are not the types of its mentions."""
    of_cells = _labels_of_cells(tokens, layers, anywhere=False)
    typed = mentions.filter(pl.col("layer").is_in(layers))
    kind = pl.col("class").fill_null(UNCLASSED).str.to_uppercase()
    of_types = typed.select("name", "layer", label=label_of(kind))
    sets = [
        rows.drop_nulls().unique().group_by("name", "layer").agg(pl.col("label").sort())
        for rows in (of_cells, of_types)
    ]
    both = sets[0].join(sets[1], on=["name", "layer"], how="full", coalesce=True, suffix="_typed").sort("name", "layer")
    other = both.filter(pl.col("label").ne_missing(pl.col("label_typed")))
    later = pl.col("token").str.contains(f"^[^{COMMENT}].*{COMMENT}")
    hashed = tokens.filter(later).select("name").unique(maintain_order=True)
    every = hashed.join(pl.DataFrame({"layer": [one for one in layers if one in tokens.columns]}), how="cross")
    of_2024 = _labels_of_cells(tokens.join(hashed, on="name", how="semi"), layers, anywhere=True)
    of_2024 = of_2024.unique().group_by("name", "layer").agg(pl.col("label").sort())
    of_2024 = every.join(of_2024, on=["name", "layer"], how="left", maintain_order="left")
    said = pl.col("label").list.eval(pl.lit(" ") + pl.element()).list.join("").fill_null("")
    parts = ((LABELS, other), (LABELS_WITHOUT_HASHES, of_2024))
    return pl.concat([rows.select("name", term=pl.lit(term), text=pl.col("layer") + said) for term, rows in parts])


def _labels_of_cells(tokens: pl.DataFrame, layers: list[str], *, anywhere: bool) -> pl.DataFrame:
    """Return name, layer and label of the cells of tokens that are no comments."""
    read = tokens.filter(~is_comment(pl.col("token"), anywhere=anywhere))
    cells = pl.concat(
        read.select("name", tag=layer, layer=pl.lit(layer)).unique() for layer in layers if layer in read.columns
    )
    label = label_of(pl.col("tag").str.replace("^[SE]-", "B-").str.to_uppercase())
    return cells.select("name", "layer", label=label).drop_nulls()


def _odd_prefixes(tokens: pl.DataFrame, layers: list[str]) -> pl.DataFrame:
    """Return as values where tags of layers with links begin with neither B nor I, as `ODD_PREFIXES` has it."""
    read = tokens.filter(~pl.col("token").str.starts_with(COMMENT))
    parts = [_NO_VALUES]
    for layer in layers:
        if layer not in read.columns or LAYERS[layer] not in read.columns:
            continue
        tag = pl.col(layer).str.replace("^S-", "B-").str.replace("^E-", "I-").str.to_uppercase()
        linked = (~pl.col(LAYERS[layer]).is_in(NO_LINK)).any().over("name")
        odd = read.filter(linked, tag != "O", ~tag.str.contains("^[BI]"))
        places = odd.group_by("name", maintain_order=True).agg(places=fill(" {}", "begin").str.join(""))
        text = pl.lit(layer) + pl.col("places")
        parts.append(places.select("name", term=pl.lit(ODD_PREFIXES), text=text))
    return pl.concat(parts)


def _values(documents: pl.DataFrame, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return what there is to keep of tokens and links, as the terms of `remix.formats.layers`."""
    year = pl.col("days").str.slice(0, 4).cast(pl.Int64) // 10 * 10
    days = pl.coalesce("days", pl.concat_list("day"))
    dated = documents.with_columns(days=days).explode("days").select("name", period=fill("{}-{}", year, year + 10))
    dated = dated.unique(maintain_order=True)
    texts = documents
    plain = ~pl.col("linked").str.contains("|", literal=True) & ~pl.col("linked").is_in(NO_LINK)
    names = [name for name, links in LAYERS.items() if not links]
    unlinked = pl.col("layer").is_in([*names, *(UNTYPED[name] for name in names)])
    noisy = mentions.drop_nulls("noise").select("mention", term=pl.lit(NOISE), number=pl.col("noise").cast(pl.Float64))
    parts = [
        rows.drop_nulls(said).select(key, term=pl.lit(term), text=said)
        for rows, key, said, term in (
            (texts.filter(pl.col("tokens") != ""), "name", "tokens", TOKENS),
            (texts, "name", "date", DATE),
            (texts, "name", "segments", SEGMENTS),
            (texts, "name", "dates", DATES),
            (texts, "name", "noises", NOISES),
            (dated, "name", "period", PERIOD),
            (texts, "name", "continued", CONTINUED),
            (mentions.filter(~plain & ~unlinked), "mention", "linked", RANKED),
            (mentions, "mention", "inner", INSIDE),
            (mentions.filter("goes_on").with_columns(continued=pl.lit("true")), "mention", "continued", CONTINUED),
        )
    ]
    refusable = [
        texts.filter(pl.col(said) > 0).select("name", term=pl.lit(term), number=said)
        for said, term in (("emptied", EMPTIED), ("filled", FILLED))
    ]
    return pl.concat([*parts, noisy, *refusable], how="diagonal")


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, r"^[^\s=](?:[^\r\n\t]*\S)?$")
    every = _with_layers(frames, rows)
    kept = {}
    for layer in (*LAYERS, *filter(None, LAYERS.values())):
        kept[layer], overlapping = drop_overlaps(every.filter(layer=layer))
        losses += overlapping
    tokens = _tokens(frames, pl.concat(kept.values()))
    blank = every.filter(~pl.col("surface_form").str.contains(r"\S"))["annotation"]
    losses += loss_of("blank", blank)
    for layer, links in LAYERS.items():
        apart = kept[links] if links else every.clear()
        alone = every.filter(layer=ALONE.get(links, ""))
        apart = pl.concat([_outside(apart, alone), alone])
        # A mention that is linked in parts has the links of its parts alone.
        parted = kept[layer].join_where(
            apart.select(of="document", first="begin", last="end"),
            pl.col("document") == pl.col("of"),
            pl.col("begin") <= pl.col("first"),
            pl.col("end") >= pl.col("last"),
        )
        cell = pl.when(pl.col("annotation").is_in(parted["annotation"].implode())).then(pl.lit("_")).otherwise("cell")
        tokens = _add_tags(tokens, kept[layer].with_columns(cell=cell), layer, links)
        tokens = _add_untyped(tokens, every.filter(layer=UNTYPED[layer]), layer)
        if links:
            tokens = _add_tags(tokens, apart, "", links)
    losses += lose_white_space(frames.documents, tokens.with_columns(token="TOKEN"), _GAP)
    tokens = add_noise(frames, tokens, kept[MAIN])
    several = frames.values.filter(pl.col("term") == DATES)["subject"].implode()
    dated = frames.values.filter(pl.col("term") == DATE, ~pl.col("subject").is_in(several))
    dated = dated.select(document="subject", date="text")
    heads = names.join(dated, on="document", how="left", maintain_order="left")
    told = [
        pl.when(pl.col(name).is_not_null()).then(fill(f"# {name} = {{}}\n", name)).otherwise(pl.lit(""))
        for name in ("language", "date")
    ]
    tokens = add_segments(frames, add_dates(frames, tokens))
    lines = pl.concat_str(COLUMNS, separator="\t")
    body = (pl.col("ends").fill_null("") + pl.col("dated").fill_null("") + lines).str.join("\n") + "\n"
    whole = gather(heads, tokens, body=body).select(
        fill("# document_id = {}\n{}{}{}\n", "label", *told, pl.col("body").fill_null(""))
    )
    with write_whole(path) as stream:
        stream.write(("\t".join(COLUMNS) + "\n" + "".join(whole.to_series())).encode())
    return losses


def _outside(rows: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that overlap none of the spans."""
    met = rows.join_where(
        spans.select(of="document", first="begin", last="end"),
        pl.col("document") == pl.col("of"),
        pl.col("begin") < pl.col("last"),
        pl.col("end") > pl.col("first"),
    )
    return rows.join(met, on="annotation", how="anti", maintain_order="left")


def _with_layers(frames: Frames, rows: pl.DataFrame) -> pl.DataFrame:
    """Return mentions with their layer, noise and `cell`: how their links are written."""
    rows = rows.join(frames.annotations.select("annotation", pl.col("layer").fill_null(MAIN)), on="annotation")
    terms = ((RANKED, "ranked"), (NOISE, "noise"), (CONTINUED, "goes_on"), (INSIDE, "inner"))
    for term, name in terms:
        value = "number" if term == NOISE else "text"
        told = frames.values.filter(pl.col("term") == term).select(annotation="subject", **{name: value})
        rows = rows.join(told, on="annotation", how="left", maintain_order="left")
    link = pl.col("identifiers").list.eval(
        pl.element().str.replace(r"^http://www\.wikidata\.org/entity/", "").str.replace_all(r"[\s|]", "_")
    )
    return rows.with_columns(cell=pl.coalesce("ranked", link.list.first(), pl.lit("NIL")))


def _tokens(frames: Frames, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of the texts with begin, end and `glued`: given ones, or words and signs; cut at mentions."""
    given = tokens_of(frames)
    spans = pl.concat([one.select("document", "begin", "end") for one in (rows, given)])
    told = pl.col("document").is_in(given["document"].unique().implode())
    said = pl.col("said")
    pieces = cut_texts(frames.documents, spans).with_row_index("piece")
    token = pl.when(told).then(said.str.extract_all(r"\s+|\S+")).otherwise(said.str.extract_all(r"\s+|\w+|[^\w\s]"))
    parts = pieces.select("document", "piece", "cut", token=token).explode("token")
    size = pl.col("token").str.len_chars().cast(pl.Int64)
    placed = parts.drop_nulls("token").with_columns(begin=pl.col("cut") + size.cum_sum().over("piece") - size)
    placed = placed.with_columns(end=pl.col("begin") + size)
    blank = pl.col("token").str.contains(r"^\s")
    after = ~blank.shift(-1).over("document").fill_null(True)
    return placed.with_columns(glued=after).filter(~blank).rename({"token": "TOKEN"}).drop("piece", "cut")


def _add_tags(tokens: pl.DataFrame, rows: pl.DataFrame, layer: str, links: str) -> pl.DataFrame:
    """Return the tokens with the tags of a layer, or without its name links alone."""
    kind = pl.col("class").fill_null(UNCLASSED).str.replace_all(r"\s", "_")
    said = ("document", "annotation", "begin", "end", "cell", "goes_on", "inner")
    found = find_inside(tokens, rows.select(*said, kind=kind))
    inside = pl.col("annotation").is_not_null()
    first = (pl.col("annotation") != pl.col("annotation").shift().over("document")).fill_null(True)
    goes_on = pl.col("goes_on").is_not_null() & ~pl.col("TOKEN").str.starts_with(COMMENT)
    alone = pl.col("kind").ne_missing(pl.col("kind").shift().over("document"))
    goes_on |= pl.col("inner").is_not_null() & alone
    inner = pl.when(first).then(pl.col("inner") + "-")
    begun = pl.when(first & ~goes_on).then(pl.lit("B-")).otherwise(pl.coalesce(inner, pl.lit("I-")))
    if layer:
        found = found.with_columns(pl.when(inside).then(begun + pl.col("kind")).otherwise(pl.lit("O")).alias(layer))
    if links:
        rest = pl.col(links) if links in tokens.columns else pl.lit("_")
        found = found.with_columns(pl.when(inside).then("cell").otherwise(rest).alias(links))
    return found.drop("annotation", "kind", "cell", "goes_on", "inner")


def _add_untyped(tokens: pl.DataFrame, rows: pl.DataFrame, layer: str) -> pl.DataFrame:
    """Return the tokens with tags that have no type where the layer has no mention: `B_` and `_`, which are no labels.

    What begins behind a token that the scorer takes for a comment, and goes on for it, begins with `_`.
    """
    found = find_inside(tokens, rows.select("document", "annotation", "begin", "end", "goes_on", "inner"))
    first = (pl.col("annotation") != pl.col("annotation").shift().over("document")).fill_null(True)
    begun = first & pl.col("goes_on").is_null()
    within = pl.when(pl.col("inner") != "_").then(pl.col("inner") + "_").otherwise(pl.lit("_"))
    free = pl.col("annotation").is_not_null() & (pl.col(layer) == "O")
    tag = pl.when(begun & pl.col("inner").is_null()).then(pl.lit("B_")).when(begun).then(within).otherwise(pl.lit("_"))
    cell = pl.when(free).then(tag).otherwise(layer)
    return found.with_columns(cell.alias(layer)).drop("annotation", "goes_on", "inner")


hipe = Format(
    name="hipe",
    summary="HIPE-scorer's TSV (a token a line, literal, metonymic, fine and nested; historical text)",
    suffixes=(".tsv",),
    sniff=begins(rb"(?:#[^\n]*\n)*TOKEN\tNE-COARSE-LIT\t"),
    read=_read,
    write=_write,
    holds=frozenset({"texts", "languages", "nil", "classes", "layers", "unannotated"}),
    says=frozenset(SAID),
)
