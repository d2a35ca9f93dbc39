"""Runs laid on gold's texts: by the place of articles, by tokens, by characters where white space is another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import polars as pl

from remix import progress
from remix.documents import is_named_by_place, texts_beyond
from remix.formats.elevant import PLACED
from remix.formats.identifiers import strip_offsets
from remix.formats.layers import TOKENS
from remix.formats.spacing import letters_of, move_to_spacing
from remix.frames import Frames
from remix.scoring.inputs.tokens import laid_on_tokens


def laid_on_gold(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    in_order: bool = False,
    counted: bool = False,
    hashes: bool = False,
    emptied: Collection[str] = (),
) -> dict[str, Frames]:
    """Return the runs with the documents, texts and offsets of gold, as far as these are told otherwise.

    That is by the place of articles, as `laid_by_place` has it, by tokens, as `laid_on_tokens` has it, and by the
    characters of texts, as `laid_on_texts` has it. `emptied` are the documents of gold that are in no file of it.
    """
    runs = laid_by_place(gold, runs, emptied)
    if not gold.values.is_empty():  # where tokens are told
        runs = laid_on_tokens(gold, runs, in_order=in_order, counted=counted, hashes=hashes)
    return laid_on_texts(gold, runs)


def laid_by_place(gold: Frames, runs: Mapping[str, Frames], emptied: Collection[str] = ()) -> dict[str, Frames]:
    """Return the runs with gold's documents where nothing but their place in a file names those of a run.

    So ELEVANT reads predictions: those of the n-th line are of the n-th article, of NIF in the order of its IRIs. Runs
    stay as they are, and `align` says what they lack, where gold has the names that they have in this order, other
    documents or datasets than one, or a text that is shorter than an answer in it says.
    """
    return {name: _place(gold, run, name, emptied) for name, run in runs.items()}


def _place(gold: Frames, run: Frames, name: str, emptied: Collection[str]) -> Frames:
    if not is_named_by_place(run.documents):
        return run
    documents = gold.documents.filter(~pl.col("document").is_in([*emptied]))
    called = pl.coalesce("given", "document")
    if documents.select((strip_offsets(called) != called.str.strip_chars_end("/#")).any()).item():
        documents = documents.sort(called)
    if len(documents) != len(run.documents) or documents["dataset"].n_unique() > 1:
        return run
    placed = run.documents.sort(pl.col("given").str.extract(PLACED, 1).cast(pl.Int64))
    if placed["given"].to_list() == documents.select(called).to_series().to_list():  # named as they are placed
        return run
    there = documents.select("text", gold="document").with_columns(placed["document"])
    rows = run.annotations.join(there, on="document", maintain_order="left")
    if rows.select((pl.col("end") > pl.col("text").str.len_chars()).any()).item():
        return run
    progress.note(
        f"run '{name}': its {len(there)} articles have neither title nor text, and are read as gold's {len(there)} "
        f"documents by their place, the first as <{there['gold'][0]}>"
    )
    names = dict(there.select("document", "gold").iter_rows())
    tables = {"documents": "document", "annotations": "document", "regions": "document", "values": "subject"}
    moved = {table: getattr(run, table).with_columns(pl.col(column).replace(names)) for table, column in tables.items()}
    moved["documents"] = moved["documents"].with_columns(given=pl.lit(None, pl.String))
    return replace(run, **moved)


def laid_on_texts(gold: Frames, runs: Mapping[str, Frames]) -> dict[str, Frames]:
    """Return the runs with gold's texts where these differ in white space alone.

    A document of a run that has the characters of one of gold's but for white space, as other tokenisations do, has its
    text then, and the offsets in it of the same characters; which is said. Where several texts of gold have these
    characters, it is that of the document's name, else none. Documents with any other character stay as they are, and
    `align` says where they differ.
    """
    return {name: _lay(gold, run, name) for name, run in runs.items()}


def tell_forms(name: str, forms: pl.DataFrame) -> None:
    """Say how many of the forms that a run tells are not what stands in gold's texts, and which is the first.

    `forms` has text, begin, end and `said`; forms are the same whatever their case.
    """
    has = pl.col("text").str.slice(pl.col("begin").clip(0), (pl.col("end") - pl.col("begin")).clip(0))
    rows = forms.drop_nulls(["text", "begin", "end", "said"]).with_columns(has=has)
    wrong = rows.filter(pl.col("has").str.to_lowercase() != pl.col("said").str.to_lowercase())
    if wrong.is_empty():
        return
    row, most = wrong.row(0, named=True), 2 * len(wrong) > len(rows)
    progress.note(
        f"run '{name}': {len(wrong)} of the {len(rows)} forms that it tells do not stand at their "
        f"places in gold's texts, the first is '{row['said']}' at {row['begin']} to {row['end']}, where the text "
        f"has '{row['has']}'{': are these offsets of another text?' if most else ''}"
    )


def _lay(gold: Frames, run: Frames, name: str) -> Frames:
    pairs = _pair(gold.documents, run.documents, name)
    if pairs.is_empty():
        return run
    progress.note(
        f"run '{name}': {len(pairs)} of its documents have gold's text with other white space, as other tokens have "
        "it; their offsets are read as those of the same characters"
    )
    there = pl.col("document").is_in(pairs["document"].implode())
    documents = run.documents.join(pairs.select("document", "other"), on="document", how="left", maintain_order="left")
    documents = documents.with_columns(text=pl.coalesce("other", "text")).drop("other")
    tokens = (pl.col("term") == TOKENS) & pl.col("subject").is_in(pairs["document"].implode())
    rows = _move(run.annotations.filter(there), pairs)
    # A form that is the text's is it there, too.
    cut = pl.col("other").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    same = letters_of(pl.col("surface_form")) == letters_of(cut)
    rows = rows.with_columns(surface_form=pl.when(same).then(cut).otherwise("surface_form"))
    regions = _move(run.regions.filter(there), pairs)
    return replace(
        run,
        documents=documents,
        annotations=pl.concat([rows.select(run.annotations.columns), run.annotations.filter(~there)]),
        regions=pl.concat([regions.select(run.regions.columns), run.regions.filter(~there)]),
        values=run.values.filter(~tokens),
    )


def _move(rows: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    return move_to_spacing(rows.join(pairs, on="document", maintain_order="left"), "document")


def _pair(gold: pl.DataFrame, run: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return document, text and `other`, the text of gold, of the documents that differ from it in white space."""
    told, rest = gold.drop_nulls("text"), texts_beyond(gold, run)
    if rest.is_empty() or told.is_empty():
        return pl.DataFrame(schema={"document": pl.String, "text": pl.String, "other": pl.String})
    called, letters = pl.coalesce("given", "document"), letters_of(pl.col("text"))
    known = told.select(letters=letters, other="text", called=called).unique()
    rest = rest.select("document", "text", called=called, letters=letters).filter(pl.col("letters") != "")
    pairs = rest.unique("document", keep="first", maintain_order=True).join(known, on="letters", suffix="_of_gold")
    several = pl.col("other").n_unique().over("document") > 1
    named = pl.col("called") == pl.col("called_of_gold")
    one = (pl.col("other").filter(named).n_unique() == 1).over("document")
    if count := pairs.filter(several & ~one)["document"].n_unique():
        progress.note(
            f"run '{name}': {count} of its documents have the characters of several texts of gold, which differ in "
            "white space, and the name of none of them; they are left out: call each as gold does"
        )
    kept = pairs.filter(~several | (one & named))
    return kept.unique("document", keep="first").select("document", "text", "other").sort("document")
