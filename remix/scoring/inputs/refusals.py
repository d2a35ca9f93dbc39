"""What HIPE-scorer refuses of gold and runs: cells that are none to it, documents and segments that are not gold's."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from remix import progress
from remix.documents import align
from remix.errors import BadInput
from remix.formats.layers import CONTINUED, EMPTIED, FILLED, HASHED, SEGMENTS, is_comment, tokens_of
from remix.frames import Frames

COMMENTED = is_comment(pl.col("token"), anywhere=False)
"""Whether a token is a comment to the scorer, in each of its editions."""


def refuse_files(gold: Frames, runs: Mapping[str, Frames], *, counted: bool, hashes: bool) -> None:
    """Raise `BadInput` where gold or a run has what the scorer refuses, whatever the tokens of the other are.

    With `hashes` the scorer is that of 2024, with `counted` that of 2020, as `laid_on_tokens` has them. Of a run that
    an earlier version registered it is said where what it would refuse cannot be known.
    """
    _refuse_cells(gold, runs, counted=counted, hashes=hashes)
    if hashes:
        for name, frames in _name_sides(gold, runs).items():
            _refuse_open(frames, name)
    for name, run in runs.items():
        _refuse_laid(gold, run, name, hashes=hashes)
        if hashes and progress.is_shown():
            _tell_unknown(gold, run, name)


def refuse_documents(
    gold: Frames,
    run: Frames,
    name: str,
    tokens: tuple[pl.DataFrame, pl.DataFrame],
    *,
    named: pl.DataFrame,
    every: pl.DataFrame,
    hashes: bool,
) -> None:
    """Raise `BadInput` where a document of a run has other numbers of tokens than gold's, or of them in its segments.

    `tokens` are those of gold and of the run that are read, `named` says which document is which (gold, document), of
    those that have tokens, `every` of all that have one name.
    """
    _refuse_unequal(gold, run, find_unequal(named, *tokens), name)
    _refuse_unequal(gold, run, _unread(every, *tokens), name)
    _refuse_segments(gold, run, named, name, hashes=hashes)


def find_unequal(named: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return gold and document of the pairs that have not as many tokens."""
    sizes = [side.group_by("document").agg(tokens=pl.len()) for side in (left, right)]
    pairs = named.join(sizes[0], left_on="gold", right_on="document").join(sizes[1], on="document", suffix="_run")
    return pairs.filter(pl.col("tokens") != pl.col("tokens_run"))


def find_hashed(gold: Frames) -> pl.Series:
    """Return the documents of gold of whose tokens any has #."""
    return tokens_of(gold).filter(is_comment(pl.col("token"), anywhere=True))["document"].unique()


def _refuse_cells(gold: Frames, runs: Mapping[str, Frames], *, counted: bool, hashes: bool) -> None:
    """Raise `BadInput` where a file has cells for which HIPE-scorer refuses it, or which it reads as labels."""
    for name, frames in _name_sides(gold, runs).items():
        emptied, filled = (
            int(frames.values.filter(pl.col("term") == one)["number"].sum()) for one in (EMPTIED, FILLED)
        )
        write = "write O for types and _ for links, as `remix convert FILE OUT.tsv --to hipe` does"
        if emptied and hashes:
            raise BadInput(
                name,
                f"{emptied} of its cells are empty, which HIPE-scorer of 2024 takes for labels, or are missing types, "
                f"for which it refuses a file; here they are read as O and _: {write}",
            )
        if emptied and not counted:
            raise BadInput(name, f"{emptied} of its cells are empty, for which HIPE-scorer refuses a file: {write}")
        if filled and not hashes:
            lack = f"{filled} of its lines lack cells of links or have more than the header"
            if not counted:
                raise BadInput(
                    name,
                    f"{lack}, for which HIPE-scorer refuses a file before its edition of 2024 (hipe-2024): {write}",
                )
            progress.note(f"{name}: {lack}, which are read as _ and passed over, as HIPE-scorer of 2024 does: {write}")


def _name_sides(gold: Frames, runs: Mapping[str, Frames]) -> dict[str, Frames]:
    """Return the frames of both sides by what messages call them."""
    return {"gold": gold, **{f"run '{name}'": run for name, run in runs.items()}}


def _refuse_open(frames: Frames, name: str) -> None:
    """Raise `BadInput` where a document ends in a segment of tokens with # alone, and another follows.

    Behind a line of a segment without tokens the scorer passes over that of the next document.
    """
    told = frames.values.filter(pl.col("term") == SEGMENTS)
    size = pl.col("text").str.split(" ").list.last().cast(pl.Int64)
    ends = told.filter(pl.col("text").str.contains(" ", literal=True)).select(document="subject", size=size)
    ends = ends.filter(~pl.col("document").is_in(frames.documents.unique("dataset", keep="last")["document"].implode()))
    if ends.is_empty():
        return
    read = tokens_of(frames).filter(~COMMENTED)
    after = pl.len().over("document") - pl.int_range(pl.len()).over("document")
    read = read.with_columns(after=after).join(ends, on="document", maintain_order="left")
    last = read.filter(pl.col("after") <= pl.col("size")).group_by("document", maintain_order=True)
    found = last.agg(open=is_comment(pl.col("token"), anywhere=True).all()).filter("open")
    if found.height:
        called = frames.documents.filter(document=found["document"][0]).select(pl.coalesce("given", "document")).item()
        raise BadInput(
            name,
            f"its document '{called}' ends in a segment of tokens with # alone, of which HIPE-scorer of 2024 reads "
            "none, so that it may not see where the next document begins: leave out the line `# segment` before them",
        )


def _refuse_laid(gold: Frames, run: Frames, name: str, *, hashes: bool) -> None:
    """Raise `BadInput` where a run that is laid on gold's documents already has segments of other numbers of tokens.

    With `hashes` also where its tokens with # were others than gold's, which it tells no more.
    """
    hashed = run.values.filter(pl.col("term") == HASHED, pl.col("text") == "true")
    if hashes and hashed.height:
        raise BadInput(
            f"run '{name}'",
            f"in {len(hashed)} documents other tokens have # than in gold, of which HIPE-scorer of 2024 reads none; as "
            f"the run is laid on gold's tokens it tells no more which: score its file itself, --run {name}=FILE",
        )
    told = run.values.filter(pl.col("term") == SEGMENTS)["subject"]
    laid = run.documents.filter(
        pl.col("document").is_in(told.implode()), ~pl.col("document").is_in(tokens_of(run)["document"].implode())
    )
    if laid.height:
        pairs = align(gold, run.keep(documents=laid["document"]), name, told=False)
        _refuse_segments(gold, run, pairs, name, hashes=hashes)


def _tell_unknown(gold: Frames, run: Frames, name: str) -> None:
    """Say of a run that an earlier version laid on gold's documents that nothing tells which of its tokens had #."""
    told = run.values.filter(pl.col("term") == HASHED)["subject"]
    own = tokens_of(run)["document"].unique()
    # Tables of tokens alone have layers.
    rows = run.annotations.drop_nulls("layer").select("document").unique()
    laid = gold.documents.filter(pl.col("document").is_in(find_hashed(gold).implode())).join(
        rows, on="document", how="semi"
    )
    unknown = laid.filter(~pl.col("document").is_in(told.implode()), ~pl.col("document").is_in(own.implode()))
    for dataset in unknown["dataset"].unique(maintain_order=True):
        count = len(unknown.filter(dataset=dataset))
        progress.note(
            f"run '{name}' was registered by an earlier version, which did not keep whether other tokens have # in it "
            f"than in gold, in {count} documents of {dataset} where some have: whether HIPE-scorer of 2024 refuses it "
            f"is unknown; `remix run add {name} FILE --on {dataset} --replace` registers it anew"
        )


def _unread(named: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs as `_unequal` does of which the scorer reads no token on one side alone."""
    sizes = [side.group_by("document").agg(tokens=pl.len()) for side in (left, right)]
    pairs = named.join(sizes[0], left_on="gold", right_on="document", how="left")
    pairs = pairs.join(sizes[1], on="document", how="left", suffix="_run")
    pairs = pairs.with_columns(pl.col("tokens", "tokens_run").fill_null(0))
    return pairs.filter((pl.col("tokens") == 0) != (pl.col("tokens_run") == 0))


def _refuse_unequal(gold: Frames, run: Frames, unequal: pl.DataFrame, name: str) -> None:
    """Raise `BadInput` where documents have another number of tokens than gold's."""
    if unequal.is_empty():
        return
    row = unequal.row(0, named=True)
    called = [
        frames.documents.filter(document=document).select(pl.coalesce("given", "document")).item(0, 0)
        for frames, document in ((run, row["document"]), (gold, row["gold"]))
    ]
    raise BadInput(
        f"run '{name}'",
        f"its document '{called[0]}' has {row['tokens_run']:,} tokens, gold's '{called[1]}' {row['tokens']:,}: as "
        f"HIPE-scorer counts, a run has as many in each document ({len(unequal)} have others); give it gold's tokens, "
        "a line each",
    )


def _refuse_segments(gold: Frames, run: Frames, named: pl.DataFrame, name: str, *, hashes: bool) -> None:
    """Raise `BadInput` where a document has segments of other numbers of tokens than gold's.

    Documents that the scorer does not tell from those before them are not looked at.
    """
    sides = []
    for frames in (gold, run):
        told = frames.values.filter(pl.col("term") == SEGMENTS).select(document="subject", segments="text")
        if hashes:
            told = _without_hashes(told, _tokens_laid(frames, gold, named))
        going_on = frames.values.filter(pl.col("term") == CONTINUED).select(document="subject")
        documents = frames.documents.select("document", pl.coalesce("given", "document").alias("called"))
        told = told.filter(pl.col("segments").str.contains(" ", literal=True))
        parts = documents.join(told, on="document", how="left").join(going_on, on="document", how="anti")
        sides.append(parts.with_columns(pl.col("segments").fill_null("all")))
    pairs = named.join(sides[0].rename({"document": "gold"}), on="gold").join(sides[1], on="document", suffix="_run")
    other = pairs.filter(pl.col("segments") != pl.col("segments_run"))
    if other.height:
        row = other.row(0, named=True)
        raise BadInput(
            f"run '{name}'",
            f"the segments of its document '{row['called_run']}' have {row['segments_run']} tokens, those of gold's "
            f"'{row['called']}' {row['segments']}: HIPE-scorer refuses a run with other segments than gold "
            f"({len(other)} documents have others); give it gold's lines `# segment`, or leave out those of documents",
        )


def _without_hashes(segments: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return document and `segments` of the documents that have several of which tokens without # are left."""
    read = tokens.filter(~COMMENTED).with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64).over("document"))
    ends = segments.select("document", size=pl.col("segments").str.split(" ")).explode("size")
    ends = ends.with_columns(number=pl.col("size").cast(pl.Int64).cum_sum().over("document")).with_row_index("segment")
    found = read.sort("number").join_asof(
        ends.sort("number"), on="number", by="document", strategy="forward", allow_exact_matches=False,
        check_sortedness=False,
    )  # fmt: skip
    found = found.filter(~is_comment(pl.col("token"), anywhere=True)).drop_nulls("segment")
    sizes = found.group_by("document", "segment").agg(size=pl.len().cast(pl.String)).sort("segment")
    return sizes.group_by("document").agg(segments=pl.col("size").str.join(" "))


def _tokens_laid(frames: Frames, gold: Frames, named: pl.DataFrame) -> pl.DataFrame:
    """Return document and token of frames; of documents that are laid on gold's, and tell none, gold's."""
    own = tokens_of(frames).select("document", "token")
    laid = named.join(own, on="document", how="anti")
    golds = tokens_of(gold).select(gold="document", token="token").join(laid, on="gold", maintain_order="left")
    return pl.concat([own, golds.select("document", "token")])
