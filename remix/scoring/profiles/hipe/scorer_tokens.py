"""Gold's tokens as HIPE-scorer has them, mentions laid on these, and cuts of tokens by their noise, date and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from remix.formats.layers import (
    COMMENT,
    CONTINUED,
    DATE,
    DATES,
    MAIN,
    NO_DAY,
    NOISE,
    NOISES,
    PERIOD,
    is_comment,
    tokens_of,
)
from remix.formats.token_marks import turns_in
from remix.frames import Frames
from remix.scoring.matching import Case

_SIDE = ["system", "doc"]


@dataclass(frozen=True)
class Cut:
    """Which tokens of gold are left: those whose noise, and whose date, is in the bounds, the upper ones excluded.

    Noise of equal bounds is just this one. A token without noise has any, one without a date none. Without `hashes`
    no token is left that has # anywhere, with it none that begins with it.
    """

    noise: tuple[float, float] | None = None
    period: tuple[str, str] | None = None
    hashes: bool = True

    def find_left(self, case: Case) -> pl.DataFrame:
        """Return the tokens that are left, where the scorer has them (doc, token, begin, end)."""
        read = read_tokens(case)
        left = read.tokens.filter(~is_comment(pl.col("token"), anywhere=not self.hashes))
        if self.period is not None:
            left = left.filter(self.covers(pl.col("day")))
        if self.noise is None:
            return left
        low, high = self.noise
        inside = (pl.col("noise") >= low) & ((pl.col("noise") < high) | (pl.col("noise") == low))
        spans = read.place(_noisy(case.evidence.gold).filter(~inside))
        spans = spans.select("doc", "begin", last="end").sort("begin")
        left = left.sort("begin").join_asof(spans, on="begin", by="doc", check_sortedness=False)
        return left.filter((pl.col("begin") < pl.col("last")).fill_null(False).not_()).drop("last").sort("doc", "begin")

    def covers(self, day: pl.Expr) -> pl.Expr:
        """Return whether a day is in the period."""
        first, end = self.period or ("", "~")
        return (day >= first) & (day < end)


def _noisy(gold: Frames) -> pl.DataFrame:
    """Return document, begin, end and noise of what has some: tokens, if a document tells it of each, or mentions."""
    turns = turns_in(gold, NOISES)
    own = pl.col("document").is_in(turns["document"].unique().implode())
    tokens = tokens_of(gold.keep(documents=gold.documents.filter(own)["document"]))
    each = tokens.sort("begin").join_asof(turns, on="begin", by="document", check_sortedness=False)
    each = each.select("document", "begin", "end", noise=pl.col("turn").replace("", None).cast(pl.Float64))
    noise = gold.values.filter(pl.col("term") == NOISE).select(annotation="subject", noise="number")
    mentions = gold.annotations.filter(pl.col("layer") == MAIN, ~own).join(noise, on="annotation")
    return pl.concat([each.drop_nulls("noise"), mentions.select(each.columns)])


def read_tokens(case: Case) -> ScorerTokens:
    """Return gold's tokens as the scorer has them."""
    return case.once((ScorerTokens,), ScorerTokens.of)


def apply_cut(
    rows: pl.DataFrame, case: Case, cut: Cut, pieces: pl.DataFrame, *, alone: bool = False, gold: bool = False
) -> pl.DataFrame:
    """Return the rows without the tokens that are cut out, where any is left.

    The cut closes: what begins within a mention, or without a tag that says that one begins, goes on with the mention
    of its type that is then before it; answers where they have the same labels. Links that stand `alone` always do.
    Mentions have the links of the tokens that they then begin with, of which `pieces` tell.
    """
    read, left = read_tokens(case), cut.find_left(case)
    told = pl.col("doc").is_in(read.tokens["doc"].implode()) & pl.col("begin").is_not_null()
    within = read.days.filter(cut.covers(pl.col("day")))["doc"] if cut.period else read.days["doc"]
    rest = rows.filter(~told, pl.col("doc").is_in(within.implode()))
    found = _shrink(rows.filter(told), left)
    of_scorer = read.tokens.filter(~is_comment(pl.col("token"), anywhere=not cut.hashes))
    found = _with_text_left(found, left, read.tokens, of_scorer)
    if pieces.height:
        found = _link_anew(found.with_columns(label=pl.col("labels").list.first()), pieces, _shrink(pieces, left))
    found = found.with_row_index("row").sort(*_SIDE, "first", "last", maintain_order=True)
    follows = pl.col("first") == pl.col("last").shift() + 1
    same = pl.col("given") == pl.col("given").shift()
    goes_on = (pl.col("begin") < pl.col("new_begin")) | pl.col("inner").is_not_null()
    goes_on &= follows & (pl.col("kind") == pl.col("kind").shift())
    # Of a run a tag I- with another link begins another answer.
    told = pl.lit(gold) | (pl.col("inner") != "I").fill_null(False)
    goes_on = follows & same if alone else goes_on & (same | told)
    found = found.with_columns(chain=(~goes_on.over(_SIDE).fill_null(False)).cum_sum())
    joined = found.group_by("chain", maintain_order=True)
    found = joined.agg(
        pl.all().exclude("end", "new_end", "text", "surface_form").first(),
        pl.col("end", "new_end").last(),
        pl.col("text").str.join(""),
        pl.col("surface_form").str.join(" "),
    )
    # Behind a head that is cut out a mention goes on, as a tag I- does.
    inner = pl.when(pl.col("begin") < pl.col("new_begin")).then(pl.col("inner").fill_null("I")).otherwise("inner")
    found = found.sort("row").with_columns(begin="new_begin", end="new_end", inner=inner)
    return pl.concat([found.select(rows.columns), rest])


def drop_hashes(
    gold: pl.DataFrame, answers: pl.DataFrame, parts: pl.DataFrame, case: Case
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return mentions of gold, answers, and parts of them that are linked otherwise, without what has # in gold.

    Of the parts those of gold have the system -1. Tokens of runs that have # are gone as the runs are laid on gold.
    """
    cut = Cut(hashes=False)
    left = _shrink(parts, cut.find_left(case)).with_columns(begin="new_begin", end="new_end").select(parts.columns)
    gold = apply_cut(gold.with_columns(system=pl.lit(-1, pl.Int64)), case, cut, parts, gold=True)
    answers = apply_cut(answers, case, cut, parts)
    label = pl.col("labels").list.first()
    return gold.with_columns(label=label), answers.with_columns(label=label), left


def _with_text_left(rows: pl.DataFrame, left: pl.DataFrame, tokens: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the texts of the tokens that are left: their own, where spaces tell them, else gold's.

    `read` are the tokens that are no comments, which are all that some rows have: of these texts that lose none stay.
    """
    spans = rows.select("doc", "begin", "end", "surface_form").with_row_index("place")
    spans = spans.with_columns(word=pl.col("surface_form").str.split(" "))
    size = pl.col("last") - pl.col("first") + 1
    sizes = [_shrink(spans, one).select("place", "word", size=size) for one in (left, read)]
    lost = sizes[0].join(sizes[1], on="place", suffix="_read").filter(pl.col("size") != pl.col("size_read"))
    said = pl.col("surface_form").str.contains(COMMENT, literal=True)
    other = spans.filter(said | pl.col("place").is_in(lost["place"].implode()))
    if other.is_empty():
        return rows
    words = _words(other, tokens, read).join(left, on=["doc", "begin"], how="semi")
    of_rows = words.sort("place", "begin").group_by("place", maintain_order=True)
    texts = of_rows.agg(own=pl.col("word").str.join(""), spaced=pl.col("word").str.join(" "))
    rows = rows.with_row_index("place").join(texts, on="place", how="left", maintain_order="left")
    text, form = pl.coalesce("own", "text"), pl.coalesce("spaced", "surface_form")
    return rows.with_columns(text=text, surface_form=form).drop("place", "own", "spaced")


def _words(spans: pl.DataFrame, tokens: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """Return place, doc, begin and word of each token of the spans: their own, where spaces tell them, else gold's."""
    parts = []
    size = pl.col("last") - pl.col("first") + 1
    for every in (tokens, read):
        # Where a word is a token these are the row's own.
        fit = _shrink(spans, every).filter(size == pl.col("word").list.len())
        words = fit.select("place", "word", number=pl.int_ranges("first", pl.col("last") + 1)).explode("number", "word")
        placed = every.select("doc", "begin", number=pl.int_range(pl.len(), dtype=pl.Int64))
        parts.append(words.join(placed, on="number", maintain_order="left").select("place", "doc", "begin", "word"))
        spans = spans.join(fit, on="place", how="anti", maintain_order="left")
    glued = _shrink(spans, read).select("place", number=pl.int_ranges("first", pl.col("last") + 1)).explode("number")
    placed = read.select("doc", "begin", word="token", number=pl.int_range(pl.len(), dtype=pl.Int64))
    glued = glued.join(placed, on="number", maintain_order="left").select("place", "doc", "begin", "word")
    return pl.concat([*parts, glued])


def words_of(rows: pl.DataFrame, tokens: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """Return place (the row), doc, begin and word of each token of the rows, as their texts have it, else gold."""
    spans = rows.select("doc", "begin", "end", "surface_form").with_row_index("place")
    return _words(spans.with_columns(word=pl.col("surface_form").str.split(" ")), tokens, read)


@dataclass(frozen=True)
class ScorerTokens:
    """Gold's tokens as the scorer has them (see section "Reading" of its rules).

    `homes` says of each document the one that it is of for the scorer (`home`) and where it begins there (`shift`),
    `tokens` are those of gold (doc, token, begin, end, day) and `days` all that there are (doc, day); all of the
    scorer's documents.
    """

    homes: pl.DataFrame
    tokens: pl.DataFrame
    days: pl.DataFrame

    @classmethod
    def of(cls, case: Case) -> ScorerTokens:
        """Return how the scorer reads the gold of a case."""
        gold = case.evidence.gold
        places = case.mentions.documents.unique("document", keep="first", maintain_order=True)
        before = gold.values.filter(pl.col("term") == CONTINUED).select(document="subject", before="text")
        rows = gold.documents.select("document", "given", set="dataset", whole=pl.col("text").fill_null(""))
        rows = rows.join(places.select("document", "doc"), on="document", maintain_order="left")
        rows = rows.join(before, on="document", how="left", maintain_order="left")
        goes_on = (pl.col("before") == pl.col("given").shift()) & (pl.col("set") == pl.col("set").shift())
        rows = rows.with_columns(chain=(~goes_on.fill_null(False)).cum_sum())
        size = pl.col("whole").str.len_chars().cast(pl.Int64) + 1
        rows = rows.with_columns(home=pl.col("doc").first().over("chain"), shift=size.cum_sum().over("chain") - size)
        homes = rows.select("document", "doc", "home", "shift")
        days, turns = _days(gold)
        tokens = tokens_of(gold).with_row_index("row").sort("begin")
        tokens = tokens.join_asof(turns, on="begin", by="document", check_sortedness=False).sort("row").drop("row")
        tokens = tokens.join(days, on="document", how="left", maintain_order="left")
        tokens = tokens.with_columns(
            day=pl.coalesce(pl.when(pl.col("turn") != "").then("turn"), pl.when(pl.col("turn").is_null()).then("day"))
        )
        tokens = _move(tokens.drop("turn").join(homes, on="document", maintain_order="left"))
        of_docs = homes.join(days, on="document", how="left", maintain_order="left").select(doc="home", day="day")
        found = pl.concat([tokens.select("doc", "day"), of_docs.join(tokens, on="doc", how="anti")])
        return cls(homes, tokens, found.unique(maintain_order=True))

    def place(self, tokens: pl.DataFrame) -> pl.DataFrame:
        """Return tokens of gold's documents where the scorer has them."""
        return _move(tokens.join(self.homes, on="document", maintain_order="left"))

    def move(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows of documents by number where the scorer has them."""
        homes = self.homes.select("doc", "home", "shift").unique("doc")
        return _move(rows.join(homes, on="doc", maintain_order="left"))

    def lay(self, rows: pl.DataFrame, pieces: pl.DataFrame | None = None, also: Sequence[str] = ()) -> pl.DataFrame:
        """Return mentions without the tokens that the scorer takes for comments, those that go on as one.

        Mentions of which nothing else is left are none. `pieces` are parts of mentions with links of their own, of
        which one has that of its first token; mentions that go on are one where these columns are equal, `also`.
        """
        homes = self.homes.select("doc", "home", "shift").unique("doc")
        rows = _move(rows.join(homes, on="doc", maintain_order="left"))
        comments = self.tokens.filter(pl.col("token").str.starts_with(COMMENT))
        touched = pl.col("doc").is_in(comments["doc"].implode()) & pl.col("begin").is_not_null()
        if not rows.select((touched | pl.col("continued")).any()).item():
            return rows
        left = self.tokens.join(comments, on=["doc", "begin"], how="anti", maintain_order="left")
        known = pl.col("doc").is_in(self.tokens["doc"].implode()) & pl.col("begin").is_not_null()
        found = _with_text_left(_shrink(rows.filter(known), left), left, self.tokens, left)
        if pieces is not None and pieces.height:
            moved = self.move(pieces.with_columns(system=pl.lit(0, pl.Int64)))
            found = _link_anew(found, moved, _shrink(moved, left))
        found = found.with_columns(begin="new_begin", end="new_end").sort("system", "doc", "begin", maintain_order=True)
        follows = pl.col("first") == pl.col("last").shift() + 1
        same = [pl.col(one) == pl.col(one).shift() for one in also]
        goes_on = (pl.col("continued") & pl.all_horizontal(follows, *same)).over(_SIDE).fill_null(False)
        joined = found.with_columns(chain=(~goes_on).cum_sum()).group_by("chain", maintain_order=True)
        one = joined.agg(
            pl.all().exclude("end", "text", "surface_form").first(),
            pl.col("end").last(),
            pl.col("text").str.join(""),
            pl.col("surface_form").str.join(" "),
        )
        return pl.concat([one.select(rows.columns), rows.filter(~known)])

    def join_links(self, rows: pl.DataFrame, times: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return links as they stand token by token, neighbours with the same as one, and those of times in place.

        What has no link is none. Rows of documents whose tokens are not told stay as they are, but for times.
        """
        none = pl.col("labels").list.drop_nulls().list.len() == 0
        rows, times = rows.filter(~none), rows.clear() if times is None else times.select(rows.columns)
        homes = self.homes.select("doc", "home", "shift").unique("doc")
        rows, times = (_move(one.join(homes, on="doc", maintain_order="left")) for one in (rows, times))
        known = pl.col("doc").is_in(self.tokens["doc"].implode()) & pl.col("begin").is_not_null()
        place = ["system", "doc", "begin", "end"]
        rest = rows.filter(~known).join(times, on=place, how="anti", maintain_order="left")
        left = self.tokens.filter(~pl.col("token").str.starts_with(COMMENT))
        left = left.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
        single, of_times = (split_at_tokens(one.filter(known), left) for one in (rows, times))
        single = single.join(of_times, on=["system", "doc", "number"], how="anti", maintain_order="left")
        found = pl.concat([single, of_times]).sort("system", "doc", "number", maintain_order=True)
        follows = pl.col("number") == pl.col("number").shift() + 1
        goes_on = (follows & (pl.col("labels") == pl.col("labels").shift())).over("system", "doc").fill_null(False)
        joined = found.with_columns(chain=(~goes_on).cum_sum()).group_by("chain", maintain_order=True)
        one = joined.agg(pl.all().exclude("end").first(), pl.col("end").last())
        return pl.concat([one.select(rows.columns), rest, times.filter(~known)])


def _days(gold: Frames) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the day of documents (document, day), and where another begins in one (document, begin, turn)."""

    def say(term: str, **columns: str) -> pl.DataFrame:
        return gold.values.filter(pl.col("term") == term).select(**columns)

    dated = say(DATE, document="subject", day="text").unique("document", keep="first", maintain_order=True)
    # The scorer has a day of its own where a line of a date tells none.
    bare = say(PERIOD, document="subject").unique().join(dated, on="document", how="anti")
    days = pl.concat([dated, bare.with_columns(day=pl.lit(NO_DAY))])
    return days, turns_in(gold, DATES)


def split_at_tokens(rows: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each token of the rows, with its number and place."""
    found = _shrink(rows, tokens).select(pl.all().exclude("begin", "end", "new_begin", "new_end"))
    found = (
        found.with_columns(number=pl.int_ranges("first", pl.col("last") + 1)).drop("first", "last").explode("number")
    )
    placed = found.join(tokens.select("number", "begin", "end"), on="number", maintain_order="left")
    return placed.select(*rows.columns, "number")


def _move(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of documents (`doc`, `begin`, `end`) where the scorer has them (`home`, `shift`)."""
    moved = rows.with_columns(pl.col("begin", "end") + pl.col("shift"), doc="home")
    return moved.drop("home", "shift")


def _shrink(rows: pl.DataFrame, left: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that have a token left: from `new_begin` to `new_end`, `first` to `last` by their numbers."""
    left = left.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    starts = left.select("doc", new_begin="begin", begin="begin", first="number").sort("begin")
    ends = left.select("doc", new_end="end", end="end", last="number").sort("end")
    numbered = rows.with_row_index("row")
    begun = numbered.sort("begin").join_asof(starts, on="begin", by="doc", strategy="forward", check_sortedness=False)
    ended = begun.sort("end").join_asof(ends, on="end", by="doc", strategy="backward", check_sortedness=False)
    return ended.sort("row").filter(pl.col("new_begin") < pl.col("new_end")).drop("row")


def _link_anew(rows: pl.DataFrame, pieces: pl.DataFrame, shrunk: pl.DataFrame) -> pl.DataFrame:
    """Return mentions that begin later than their file has them with the link of the piece that begins there.

    A mention with pieces of which none begins there has no link: its first token that is left has none.
    """
    place = ["system", "doc", "new_begin"]
    # Of pieces that begin together the shortest has the link of its first token alone.
    whole = "given" if "given" in shrunk.columns else "labels"
    begun = shrunk.sort("end", maintain_order=True).select(*place, other="labels", all_other=whole)
    begun = begun.unique(place, keep="first")
    numbered = rows.with_row_index("row")
    parted = numbered.join(pieces.select(*_SIDE, piece="begin"), on=_SIDE).filter(
        pl.col("piece") >= pl.col("begin"), pl.col("piece") < pl.col("end")
    )["row"]
    numbered = numbered.join(begun, on=place, how="left", maintain_order="left")
    later = (pl.col("new_begin") > pl.col("begin")) & pl.col("row").is_in(parted.implode())
    labels = pl.when(later).then("other").otherwise("labels")
    again = [pl.when(later).then("all_other").otherwise("given").alias("given")] if "given" in rows.columns else []
    return numbered.with_columns(*again, labels=labels, label=labels.list.first()).drop("row", "other", "all_other")
