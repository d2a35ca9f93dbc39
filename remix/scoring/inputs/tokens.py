"""Runs that answer by tokens, laid on gold's tokens: whatever they call documents and however they spell tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from remix import progress
from remix.errors import BadInput
from remix.expressions import fill
from remix.formats.layers import (
    ALONE,
    COMMENT,
    CONTINUED,
    EMPTIED,
    FILLED,
    HASHED,
    INSIDE,
    LABELS,
    LABELS_WITHOUT_HASHES,
    LAYERS,
    MAIN,
    ODD_PREFIXES,
    RANKED,
    SEGMENTS,
    UNTYPED,
    is_comment,
    odd_prefixes_in,
    tells_tokens,
    tokens_of,
)
from remix.frames import VALUES, Frames
from remix.schemas import fit
from remix.scoring.inputs.refusals import COMMENTED, find_hashed, find_unequal, refuse_documents, refuse_files

MOST_DIFFERENT = 20
"""So many different pairs of tokens a run without documents may spell otherwise than gold (HIPE-scorer)."""

MISSING = (
    "nan", "NaN", "-nan", "-NaN", "NA", "<NA>", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Tokens that pandas takes for missing, and which files lack that went through it."""


@dataclass(frozen=True, kw_only=True)
class Laying:
    """How HIPE-scorer brings runs to gold's tokens, as `laid_on_tokens` has it; remix itself does by the defaults."""

    in_order: bool = False
    counted: bool = False
    hashes: bool = False


def laid_on_tokens(
    gold: Frames, runs: Mapping[str, Frames], *, in_order: bool = False, counted: bool = False, hashes: bool = False
) -> dict[str, Frames]:
    """Return the runs with the documents and offsets of gold, where both sides tell their tokens.

    A document of the run is that of gold with its given name. Where no name is gold's, the documents are gold's in
    order, if they are as many and but few tokens are others, and the tokens of a run of one document are dealt out to
    gold's documents. Tokens that begin with `#`, which the scorer takes for comments, are laid where both sides have as
    many tokens with them; else they are none. Answers keep the text that their run has. Several files of gold take as
    many of the run, in order. Documents with another number of tokens stay as they are.

    With `in_order`, as HIPE-scorer has it, as many documents of which not all have gold's names are gold's in order,
    whatever their tokens are: those of a run with its own documents are only counted, without what begins with `#` in
    another place on one side than on the other. Of a run without documents the first segment is dealt out. With
    `counted` its tokens are only counted, too. With `hashes` tokens with `#` anywhere are none, on each side by its
    own text, as in the scorer's edition of 2024.

    Raises `BadInput` for a run without documents that has too few tokens, or too many others; with `in_order` also for
    a document with another number of tokens than gold's, or other segments, for several documents, but fewer than gold
    has, without any name of gold's, and unless `counted` for empty cells, unless `hashes` also for missing ones. What
    segments and cells a run has is told of it when it is laid, too, as it is registered so; one that was laid with
    `#` in other tokens than gold is refused with `hashes`.
    """
    laying = Laying(in_order=in_order, counted=counted, hashes=hashes)
    if in_order:
        refuse_files(gold, runs, counted=laying.counted, hashes=laying.hashes)
    if not any(tells_tokens(frames) for frames in runs.values()) or tokens_of(gold).is_empty():
        return dict(runs)
    return {name: _laid_by_file(gold, run, name, laying) for name, run in runs.items()}


def _laid_by_file(gold: Frames, run: Frames, name: str, laying: Laying) -> Frames:
    if tokens_of(run).is_empty():
        return run
    sides = [frames.documents["dataset"].unique(maintain_order=True).to_list() for frames in (gold, run)]
    if len(sides[0]) == 1 or len(sides[0]) != len(sides[1]):
        return _lay(gold, run, name, laying)
    parts = []
    for pair in zip(*sides, strict=True):
        own = [
            frames.keep(documents=frames.documents.filter(dataset=dataset)["document"])
            for frames, dataset in zip((gold, run), pair, strict=True)
        ]
        parts.append(_lay(own[0], own[1], name, laying))
    return Frames.concat(parts)


def _lay(gold: Frames, run: Frames, name: str, laying: Laying) -> Frames:
    tokens = _pair(gold, run, name, laying)
    laid = tokens["document"].unique().implode()
    spans = _spans(run.annotations.filter(pl.col("document").is_in(laid)), tokens)
    # What crosses the end of a document of gold is a mention in each.
    nth = pl.int_range(pl.len()).over("annotation")
    part = pl.when(nth > 0).then(fill("{}&part={}", "annotation", nth + 1)).otherwise("annotation")
    spans = spans.with_columns(part=part, nth=nth)
    begun = run.annotations.select("annotation", begun="begin")
    headless = (pl.col("nth") == 0) & (pl.col("at") > pl.col("begun"))
    behind = spans.join(begun, on="annotation", maintain_order="left").filter(headless)
    rows = run.annotations.drop("begin", "end", "surface_form", "document").join(
        spans.drop("at", "nth"), on="annotation"
    )
    own = [pl.when(pl.col(one) != pl.col("annotation")).then(one).otherwise("part").alias(one) for one in _OWN]
    rows = rows.with_columns(*own).with_columns(annotation="part", document="gold")
    others = run.annotations.filter(~pl.col("document").is_in(laid))
    annotations = pl.concat([rows.select(others.columns), others])
    named = pl.concat([spans.select("annotation", "part"), others.select("annotation", part="annotation")])
    renamed = {
        one: getattr(run, one).join(named, on="annotation").with_columns(annotation="part").drop("part")
        for one in ("links", "classes", "candidates")
    }
    values = run.values.join(named, left_on="subject", right_on="annotation")
    values = values.with_columns(subject="part").drop("part")
    renamed["links"], values = _link_at_first(
        run, pl.concat([spans.filter(pl.col("nth") > 0), behind.select(spans.columns)]), renamed["links"], values
    )
    # Behind a head that is gone a mention goes on, as a tag I- does; of heads that are comments its file tells that.
    inside = values.filter(pl.col("term") == INSIDE)["subject"]
    within = behind.filter(pl.lit(laying.hashes), ~pl.col("part").is_in(inside.implode())).select(
        subject="part", term=pl.lit(INSIDE), text=pl.lit("I")
    )
    values = pl.concat([values, fit(within, VALUES.types).select(values.columns)])
    rest = run.documents.filter(~pl.col("document").is_in(laid))
    of_rest = run.values.filter(pl.col("subject").is_in(rest["document"].implode()))
    documents = gold.documents.filter(pl.col("document").is_in(tokens["gold"].unique().implode()))
    # What the cells of a document say of a layer is said of each of gold's that it is laid on.
    pairs = tokens.drop_nulls("gold").select("document", "gold").unique(maintain_order=True)
    labels = run.values.filter(pl.col("term").is_in([LABELS, LABELS_WITHOUT_HASHES])).join(
        pairs, left_on="subject", right_on="document"
    )
    labels = labels.with_columns(subject="gold").select(values.columns)
    told = [labels, _refusable(gold, run, pairs), _mark_hashed(gold, tokens), _move_places(run, tokens)]
    values = pl.concat([values, *(one.select(values.columns) for one in told)])
    return replace(
        run,
        documents=pl.concat([documents, rest]),
        annotations=annotations,
        regions=run.regions.filter(~pl.col("document").is_in(laid)),
        values=pl.concat([values, of_rest]),
        **renamed,
    )


_OWN = ("group", "option")


def _refusable(gold: Frames, run: Frames, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the values of gold's documents that tell for what HIPE-scorer refuses a run that is laid on them.

    Empty and missing cells are told of the first that a document is laid on, segments where that is one alone: of a
    document that is dealt out the scorer compares none. One of a single segment has its number of tokens where gold's
    has several.
    """
    once = pairs.unique("document", keep="first", maintain_order=True)
    empty = run.values.filter(pl.col("term").is_in([EMPTIED, FILLED])).join(
        once, left_on="subject", right_on="document"
    )
    going_on = run.values.filter(pl.col("term") == CONTINUED)["subject"]
    alone = pairs.filter(pl.len().over("document") == 1, ~pl.col("document").is_in(going_on.implode()))
    own, golds = (frames.values.filter(pl.col("term") == SEGMENTS) for frames in (run, gold))
    sizes = _read(run).filter(~COMMENTED).group_by("document").agg(size=pl.len().cast(pl.String))
    parts = alone.join(own.select(document="subject", text="text"), on="document", how="left", maintain_order="left")
    parts = parts.join(sizes, on="document", how="left", maintain_order="left")
    several = pl.col("gold").is_in(golds["subject"].implode()) | pl.col("text").is_not_null()
    parts = parts.filter(several).select(subject="gold", term=pl.lit(SEGMENTS), text=pl.coalesce("text", "size"))
    return pl.concat([empty.with_columns(subject="gold").select(list(VALUES.types)), fit(parts, VALUES.types)])


def _move_places(run: Frames, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return where tags begin oddly as values of gold's documents, with the offsets of their tokens."""
    moved = odd_prefixes_in(run).join(tokens.drop_nulls("gold"), on=["document", "begin"]).sort("to_begin")
    moved = moved.group_by("gold", "layer", maintain_order=True).agg(places=fill(" {}", "to_begin").str.join(""))
    text = pl.col("layer") + pl.col("places")
    return fit(moved.select(subject="gold", term=pl.lit(ODD_PREFIXES), text=text), VALUES.types)


def _mark_hashed(gold: Frames, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the values that tell of gold's documents whether others of their tokens have # than of those of the run.

    That is told where any has it: of what an earlier version registered it is not.
    """
    of_run, of_gold = (is_comment(pl.col(one), anywhere=True).fill_null(False) for one in ("token", "meant"))
    told = pl.col("gold").is_in(find_hashed(gold).implode())
    laid = tokens.drop_nulls("gold").group_by("gold", maintain_order=True)
    found = laid.agg(other=(of_run != of_gold).any(), some=of_run.any()).filter(told | pl.col("some"))
    text = pl.when("other").then(pl.lit("true")).otherwise(pl.lit("false"))
    return fit(found.select(subject="gold", term=pl.lit(HASHED), text=text), VALUES.types)


def _link_at_first(
    run: Frames, parts: pl.DataFrame, links: pl.DataFrame, values: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return links and values with those of later parts of mentions as the first tokens of these have them.

    A mention that is linked in several ways has annotations of layers for these: one that a document of gold cuts is
    another mention behind the cut, which has the link of its own first token, or none.
    """
    rows = run.annotations.select("annotation", "document", "begin", "end", pl.col("layer").fill_null(MAIN))
    linked = {name: linked for layer, linked in LAYERS.items() if linked for name in (layer, UNTYPED[layer])}
    of_links = pl.col("layer").replace_strict(linked, default=pl.col("layer"))
    cut = parts.select("annotation", "part", "at").join(rows, on="annotation").with_columns(linked=of_links)
    apart = rows.filter(pl.col("layer").is_in([*ALONE, *ALONE.values()])).rename({"annotation": "other"})
    beside = cut.join(apart, on="document", suffix="_other").filter(
        pl.col("layer_other").eq(pl.col("linked")) | pl.col("layer_other").eq(pl.col("linked").replace(ALONE)),
        pl.col("other") != pl.col("annotation"),
        (pl.col("begin") < pl.col("end_other")) & (pl.col("begin_other") < pl.col("end")),
    )
    if beside.is_empty():
        return links, values
    there = (pl.col("begin_other") <= pl.col("at")) & (pl.col("at") < pl.col("end_other"))
    finest = pl.col("layer_other").is_in([*ALONE.values()])
    found = beside.sort("part", ~there, ~finest, maintain_order=True).unique("part", keep="first", maintain_order=True)
    found = found.select("part", other=pl.when(there).then("other"))
    of_other = run.links.rename({"annotation": "other"}).join(found, on="other")
    told = run.values.filter(pl.col("term") == RANKED).rename({"subject": "other"}).join(found, on="other")
    none = found.filter(pl.col("other").is_null()).select(subject="part", term=pl.lit(RANKED), text=pl.lit("_"))
    changed = pl.col("annotation").is_in(found["part"].implode())
    ranked = (pl.col("term") == RANKED) & pl.col("subject").is_in(found["part"].implode())
    return (
        pl.concat([links.filter(~changed), of_other.with_columns(annotation="part").select(links.columns)]),
        pl.concat(
            [
                values.filter(~ranked),
                told.with_columns(subject="part").select(values.columns),
                fit(none, VALUES.types),
            ]
        ),
    )


def _pair(gold: Frames, run: Frames, name: str, laying: Laying) -> pl.DataFrame:
    """Return the tokens of the run that are laid, in order: document, begin, end, said, gold, to_begin, to_end.

    They have both texts, too, `token` and `meant`.
    """
    in_order = laying.in_order
    left, right = every = [_read(frames) for frames in (gold, run)]
    if laying.hashes:
        left, right = (side.filter(~is_comment(pl.col("token"), anywhere=True)) for side in every)
    named = _by_name(gold, run, left, right)
    ours, theirs = (side["document"].unique(maintain_order=True) for side in (left, right))
    as_many = len(ours) == len(theirs)
    ours_are_one = gold.documents["dataset"].n_unique() == 1
    by_order = as_many and (len(named) < len(theirs) if in_order else named.is_empty())
    if (
        len(theirs) == 1
        and not (in_order and as_many)
        and (named.is_empty() or len(ours) > 1 and len(right) >= len(left))
    ):
        first = run.values.filter(pl.col("term") == SEGMENTS)["text"].str.extract(r"^(\d+)").cast(pl.Int64).to_list()
        return _deal(left, every[1], name, first if in_order else [], laying)
    if in_order and named.is_empty() and not as_many and ours_are_one and len(theirs) < len(ours):
        raise BadInput(
            f"run '{name}'",
            f"has {len(theirs)} documents, of which none has a name of gold's, gold has {len(ours)}: HIPE-scorer "
            "refuses a run with other documents than gold; give each a line `# document_id = …` with gold's name",
        )
    if by_order:
        named = pl.DataFrame({"gold": ours, "document": theirs})
    number = pl.int_range(pl.len()).over("document")
    both = right.join(named, on="document", maintain_order="left")
    # Where one side has other comments than the other, only the other tokens are laid.
    unequal = _unlike(named, left, both) if in_order else find_unequal(named, left, both)
    gone = [pl.col("document").is_in(unequal[one].implode()) & COMMENTED for one in ("gold", "document")]
    left, both = left.filter(~gone[0]), both.filter(~gone[1])
    still = find_unequal(named, left, both)["document"].implode()
    both = both.filter(~(pl.col("document").is_in(still) & pl.col("token").is_in(MISSING)))
    if in_order:
        every_named = _by_name(gold, run, *every)
        refuse_documents(gold, run, name, (left, both), named=named, every=every_named, hashes=laying.hashes)
    both = both.with_columns(number=number, most=pl.len().over("document"))
    left = left.with_columns(number=number, most=pl.len().over("document"))
    to = left.select("number", "most", gold="document", to_begin="begin", to_end="end", meant="token")
    both = _say(both.join(to, on=["gold", "number", "most"], maintain_order="left"))
    # Order says which document is which where the tokens agree with it.
    others = by_order and not in_order and len(_different(both)) > MOST_DIFFERENT
    return both.clear() if others else both


def _unlike(named: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return gold and document of the pairs that have not as many tokens, or comments in other places."""
    places = [
        side.group_by("document", maintain_order=True).agg(tokens=pl.len(), comments=COMMENTED.arg_true())
        for side in (left, right)
    ]
    pairs = named.join(places[0], left_on="gold", right_on="document").join(places[1], on="document", suffix="_run")
    same = (pl.col("tokens") == pl.col("tokens_run")) & (pl.col("comments") == pl.col("comments_run"))
    return pairs.filter(~same)


def _read(frames: Frames) -> pl.DataFrame:
    tokens = tokens_of(frames)
    return tokens.with_columns(gap=pl.when("glued").then(pl.lit("")).otherwise(pl.lit(" ")))


def _is_comment() -> pl.Expr:
    """Return whether a token is a comment to the scorer on both sides."""
    return COMMENTED & pl.col("meant").str.starts_with(COMMENT).fill_null(False)


def _say(tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens with `said`, what answers say there: what the scorer takes for comments as gold spells it."""
    return tokens.with_columns(said=pl.when(_is_comment()).then("meant").otherwise("token") + pl.col("gap"))


def _by_name(gold: Frames, run: Frames, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return gold and document of the pairs that have one given name."""
    sides = [
        frames.documents.join(tokens, on="document", how="semi")
        .select("document", "given")
        .unique("given", keep="none")
        for frames, tokens in ((gold, left), (run, right))
    ]
    return sides[1].join(sides[0].rename({"document": "gold"}), on="given").select("gold", "document")


def _different(tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the different pairs of a token of the run and another of gold, in order."""
    other = tokens.filter(pl.col("token") != pl.col("meant"), ~_is_comment())
    return other.select("token", "meant").unique(maintain_order=True)


def _deal(left: pl.DataFrame, right: pl.DataFrame, name: str, first: list[int], laying: Laying) -> pl.DataFrame:
    """Return the tokens of a run of one document, dealt out to gold's documents by their number.

    They are those of its first segment, where it has several, of as many tokens as `first` has.
    """
    if first:
        read = right.select((~COMMENTED).cum_sum() <= first[0]).to_series()
        right = right.filter(read)
    if laying.hashes:
        right = right.filter(~is_comment(pl.col("token"), anywhere=True))
    unlike = (
        laying.in_order
        and left.select(COMMENTED.arg_true()).to_series().to_list()
        != right.select(COMMENTED.arg_true()).to_series().to_list()
    )
    if len(right) != len(left) or unlike:
        left, right = left.filter(~COMMENTED), right.filter(~COMMENTED)
    if len(right) != len(left):
        right = right.filter(~pl.col("token").is_in(MISSING))
    if len(right) < len(left):
        raise BadInput(
            f"run '{name}'",
            f"has no documents of gold's and {len(right):,} tokens, gold has {len(left):,}: give each document a line "
            "`# document_id = …` with the name that gold has for it",
        )
    to = left.select(gold="document", to_begin="begin", to_end="end", meant="token")
    both = pl.concat([right.head(len(left)), to], how="horizontal")
    both = _say(both)
    other = _different(both)
    if len(other) > MOST_DIFFERENT and not laying.counted:
        pair = other.row(0)
        raise BadInput(
            f"run '{name}'",
            f"has no documents of gold's and other tokens: {len(other)} different ones where gold has others, such as "
            f"'{pair[0]}' for '{pair[1]}'; give each document a line `# document_id = …` with the name that gold has",
        )
    progress.note(f"run '{name}' has no documents of gold's: its {len(both):,} tokens are read as gold's in order")
    return both


def _spans(annotations: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return annotation, gold (its document), begin, end and surface_form, a row a document that has tokens of it.

    `at` is where the first of these stands in the run.
    """
    places = tokens.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64))
    rows = annotations.select("annotation", "document", "begin", "end").with_row_index("row")
    first, last = places.select("document", "begin", first="place"), places.select("document", "end", last="place")
    rows = rows.sort("begin").join_asof(
        first.sort("begin"), on="begin", by="document", strategy="forward", check_sortedness=False
    )
    rows = rows.sort("end").join_asof(
        last.sort("end"), on="end", by="document", strategy="backward", check_sortedness=False
    )
    found = (
        rows.sort("row")
        .filter(pl.col("first") <= pl.col("last"))
        .select("annotation", place=pl.int_ranges("first", pl.col("last") + 1))
        .explode("place")
    )
    said = places.select("place", "gold", "to_begin", "to_end", "said", at="begin")
    return (
        found.join(said, on="place", maintain_order="left")
        .drop_nulls("gold")
        .group_by("annotation", "gold", maintain_order=True)
        .agg(
            begin=pl.col("to_begin").min(),
            end=pl.col("to_end").max(),
            surface_form=pl.col("said").str.join("").str.strip_suffix(" "),
            at=pl.col("at").first(),
        )
    )
