"""HIPE-scorer, of the shared tasks on historical text (Ehrmann et al., CLEF 2020 and 2022): types and ranked links.

A layer's mentions have labels, types or links, of which some count (`layers`), and stand on gold's tokens, some of
which may be cut out (`scorer_tokens`); which of gold and answers meet (`meetings`) is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import product
from typing import TypeVar

import polars as pl

from remix import progress
from remix.errors import UnknownName, UsageError
from remix.formats.layers import LAYERS, NO_LINK, NOISE, NOISES, PERIOD, RANKED
from remix.frames import Frames
from remix.scoring.conventions import aspects
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.matching import Case, Counter
from remix.scoring.profiles import PLAIN_GOLD, OwnRules, Profile
from remix.scoring.profiles.hipe.cells import cut_anew
from remix.scoring.profiles.hipe.editions import HIPE_2020, HIPE_2022, HIPE_2024, Edition
from remix.scoring.profiles.hipe.layers import LINKS, find_sides
from remix.scoring.profiles.hipe.meetings import meetings
from remix.scoring.profiles.hipe.scorer_tokens import Cut, apply_cut, read_tokens
from remix.scoring.statistics import UNSCOPED, averages

TASKS = (*LAYERS, *LINKS)
REGIMES = {
    "fuzzy": "overlapping spans and the same label",
    "strict": "the same span, text and label",
    "exact": "the same span, whatever its label is",
    "partial": "the same span whatever its label is, half where spans overlap",
}
"""What makes an answer right; the last two are those of detailed reports alone."""
_FORM = re.compile(rf"({'|'.join(REGIMES)})(?:@([1-9]\d?))?")


def _with_ranks(*regimes: str) -> tuple[str, ...]:
    return (*regimes, *(f"{regime}@{n}" for n in (1, 3, 5) for regime in regimes))


MATCHINGS = _with_ranks("fuzzy", "strict")
EVERY_MATCHING = (*MATCHINGS, *_with_ranks("exact", "partial"))
"""Those that are shown, and those of detailed reports, which are where they are asked for."""

USUAL_NOISES = {"0.0-0.0": (0.0, 0.0), "0.001-0.1": (0.001, 0.1), "0.1-0.3": (0.1, 0.3), "0.3-1.1": (0.3, 1.1)}
"""The usual bounds of noise, the upper one excluded where they differ."""
_ITEMS = "http://www.wikidata.org/entity/"
EMPTY = "-"
"""What the empty label is called, which no other label can be: that of a cell `-`."""
Bound = TypeVar("Bound", str, float)
_WHOLE = Cut()
_SLICED = ["system", "doc", "slice"]


def _read_matching(task: str, matching: str) -> tuple[str, int]:
    """Return the regime of a matching and how many links of an answer count; raises `UnknownName` for other names."""
    if task not in TASKS:
        raise UnknownName("task of this profile", task, TASKS)
    form = _FORM.fullmatch(matching)
    if form is None:
        raise UnknownName("matching of this profile", matching, EVERY_MATCHING)
    return form[1], int(form[2] or 1)


def _refuse(task: str, matching: str) -> None:
    _read_matching(task, matching)


def _counts_nothing(task: str, matching: str) -> bool:
    """Return whether a matching has no ranks for a layer of links, or has some for one of types."""
    return ("@" in matching) != (task in LINKS)


@dataclass(frozen=True)
class Scorer:
    """How one edition of the scorer counts."""

    edition: Edition

    def count(self, case: Case, task: str, matching: str) -> Counts:
        """Return the counts of a layer by a regime per system and document; none of links without `@n`, or types with.

        Raises `UnknownName` for another task or matching.
        """
        return _count(self._events(case, task, matching), ["system", "doc"])

    def by_type(self, case: Case, task: str, matching: str) -> pl.DataFrame:
        """Return the counts with `slice`: each event of the label of gold, or of the answer that meets nothing.

        The layers of links have none.
        """
        events = self._events(case, task, matching).filter(pl.lit(task in LAYERS))
        return _count(events.with_columns(pl.col("slice").replace("", EMPTY)), _SLICED)

    def by_link(self, case: Case, task: str, matching: str) -> pl.DataFrame:
        """Return the counts with `slice`: each event of the link of gold, or of the answer that meets nothing.

        Where the first link of such an answer does not count the event is of each link that does. The layers of types
        have none.
        """
        events = self._events(case, task, matching).filter(pl.lit(task in LINKS)).explode("every")
        item = pl.coalesce("slice", "every").str.strip_prefix(_ITEMS.upper()).replace("", EMPTY)
        return _count(events.with_columns(slice=item), _SLICED)

    def by_cut(self, columns: Sequence[str], bounds: Sequence[str]) -> Counter:
        """Return what counts with `slice`: without the tokens of gold that are not in bounds of noise, dates or both.

        Bounds are those of `USUAL_NOISES` and each ten years that gold has, or others (`1890-1920,1920-1950`).
        Raises `UsageError` for what are none.
        """
        given = dict(zip(columns, bounds, strict=True))
        noises = _parse_noises(given["noise"]) if given.get("noise") else USUAL_NOISES
        periods = _parse_periods(given["period"]) if given.get("period") else None

        def count(case: Case, task: str, matching: str) -> pl.DataFrame:
            parts = []
            found: Mapping[str, tuple[str, str] | None]
            found = {"": None} if "period" not in given else periods or _decades(case)
            if "noise" in given:
                _ask_values(case, [NOISE, NOISES], "noise")
            if "period" in given:
                _ask_values(case, [PERIOD], "period")
                _tell_undated(case)
                _tell_empty(case, found)
            named = {"": None} if "noise" not in given else noises
            for (noise, low_high), (period, from_to) in product(named.items(), found.items()):
                events = self._events(case, task, matching, Cut(low_high, from_to))
                names = {"noise": noise, "period": period}
                parts.append(events.with_columns(slice=pl.lit(" × ".join(names[one] for one in columns))))
            return _count(pl.concat(parts), _SLICED)

        return count

    def _events(self, case: Case, task: str, matching: str, cut: Cut = _WHOLE) -> pl.DataFrame:
        """Return what happens to each mention and answer: system, doc, mention, answer, `credit`, `slice` and `every`.

        The slice is the label of gold, or else of the answer; `every` are all links of an answer whose first is none.
        The tokens of gold that are cut out are so before.
        """
        regime, ranks = _read_matching(task, matching)
        if _counts_nothing(task, matching):
            return _NONE
        whole = _documents_within(case, cut.period) if cut.period else None
        if whole is not None:
            # Where each document has one date nothing within one is cut.
            cut = replace(cut, period=None)
        key = (self.edition.name, task, ranks, cut)
        met = case.once(key, lambda own: self._meet(own, task, ranks, cut))
        met = met if whole is None else met.filter(pl.col("doc").is_in(whole.implode()))
        credit = _HALF if regime == "partial" else pl.col(regime).cast(pl.Int64)
        return met.select("system", "doc", "mention", "answer", credit=credit, slice="slice", every="every")

    def _meet(self, case: Case, task: str, ranks: int, cut: Cut) -> pl.DataFrame:
        """Return which answers meet which mentions by all regimes, as `meetings` does, with slice and every.

        Of answers the first links count, as many as there are ranks.
        """
        edition = self.edition
        cut = replace(cut, hashes=not edition.hashes)
        found = case.once((edition.name, task), lambda own: find_sides(own, task, edition))
        gold, answers = found.gold, found.answers
        if cut.noise or cut.period:
            alone = edition.links_alone and task in LINKS
            gold = gold.with_columns(system=pl.lit(-1, pl.Int64))
            gold = apply_cut(gold, case, cut, found.parts, alone=alone, gold=True)
            uncut, answers = answers, apply_cut(answers, case, cut, found.parts, alone=alone)
            if found.cells is not None:
                answers = cut_anew(answers, found.cells, cut.find_left(case), uncut)
            gold = gold.with_columns(label=pl.col("labels").list.first())
        gold = gold.drop_nulls("label")
        if not edition.texts:
            gold, answers = (rows.with_columns(text=pl.lit("")) for rows in (gold, answers))
        answers = answers.with_columns(pl.col("labels").list.head(ranks))
        # An answer stays as long as any of its links is one.
        answers = answers.filter(pl.col("labels").list.drop_nulls().list.len() > 0)
        met = meetings(gold, answers, len(case.mentions.systems))
        number = pl.int_range(pl.len(), dtype=pl.Int64)
        told = answers.select(answer=number, said=pl.col("labels").list.first(), every="labels")
        met = met.join(gold.select("label", mention=number), on="mention", how="left", maintain_order="left")
        met = met.join(told, on="answer", how="left", maintain_order="left")
        every = pl.when(pl.col("label").is_null() & pl.col("said").is_null()).then(pl.col("every").list.drop_nulls())
        return met.with_columns(slice=pl.coalesce("label", "said"), every=every.list.unique())


def _ask_values(case: Case, terms: Sequence[str], column: str) -> None:
    """Raise `UsageError` where gold has no value of these terms."""
    if not case.evidence.gold.values["term"].is_in(terms).any():
        raise UsageError(f"no annotation of gold has a value in column '{column}'")


def _decades(case: Case) -> dict[str, tuple[str, str]]:
    """Return the bounds of each ten years that a token of gold is of."""
    years = read_tokens(case).days["day"].drop_nulls().str.slice(0, 4).cast(pl.Int64, strict=False).drop_nulls()
    return {f"{year}-{year + 10}": (f"{year:04}", f"{year + 10:04}") for year in (years // 10 * 10).unique().sort()}


def _tell_undated(case: Case) -> None:
    days = read_tokens(case).days.group_by("doc").agg(pl.col("day").null_count() > 0)
    if left := int(days["day"].sum()):
        progress.note(f"{left} of {len(days)} documents tell no date, and are in no period")


def _tell_empty(case: Case, periods: Mapping[str, tuple[str, str] | None]) -> None:
    """Say of each period that holds no token of gold that it does not, and what dates gold has."""
    days = read_tokens(case).days["day"].drop_nulls().unique().sort()
    for name, period in periods.items():
        if (
            period is not None
            and len(days)
            and not days.to_frame().select(Cut(period=period).covers(pl.col("day")).any()).item()
        ):
            progress.note(f"period {name} holds no token of gold, whose dates are {days[0]} to {days[-1]}")


def _documents_within(case: Case, period: tuple[str, str]) -> pl.Series | None:
    """Return the documents of a period; null where one has several dates of which it holds some alone."""
    days = read_tokens(case).days.with_columns(there=Cut(period=period).covers(pl.col("day")).fill_null(False))
    if days.select("doc", "there").unique()["doc"].is_duplicated().any():
        return None
    return days.filter("there")["doc"].unique()


_DAY = r"\d{4}(?:-\d\d-\d\d)?"
_PERIOD = re.compile(rf"\s*({_DAY})-({_DAY})\s*")
_NUMBER = r"\d+(?:\.\d+)?"
_NOISE = re.compile(rf"\s*({_NUMBER})-({_NUMBER})\s*")


def _parse_periods(text: str) -> dict[str, tuple[str, str]]:
    """Return the periods of a text, the end of each excluded; a year is its first day.

    >>> _parse_periods("1890-1920,1914-08-01-1918-11-11")
    {'1890-1920': ('1890', '1920'), '1914-08-01-1918-11-11': ('1914-08-01', '1918-11-11')}
    """
    return _parse_bounds(text, _PERIOD, str, "1890-1920,1920-1950, or with days 1914-08-01-1918-11-11")


def _parse_noises(text: str) -> dict[str, tuple[float, float]]:
    """Return the bounds of noise of a text.

    >>> _parse_noises("0-0,0.1-0.3")
    {'0-0': (0.0, 0.0), '0.1-0.3': (0.1, 0.3)}
    """
    return _parse_bounds(text, _NOISE, float, "0.0-0.0,0.1-0.3")


def _parse_bounds(
    text: str, form: re.Pattern[str], read: Callable[[str], Bound], example: str
) -> dict[str, tuple[Bound, Bound]]:
    found = {}
    for part in text.split(","):
        said = form.fullmatch(part)
        if said is None:
            raise UsageError(f"'{part}' are no bounds: write FROM-TO, several with commas, such as {example}")
        low, high = _read_bound(said[1], read, part), _read_bound(said[2], read, part)
        if low > high or (low == high and read is str):
            raise UsageError(f"'{part}' holds nothing: its end is not after its beginning")
        found[part.strip()] = low, high
    return found


def _read_bound(text: str, read: Callable[[str], Bound], part: str) -> Bound:
    """Return what a bound says; raises `UsageError` for a day that no month has."""
    if read is str:
        try:
            date.fromisoformat(text if "-" in text else f"{text}-01-01")
        except ValueError:
            raise UsageError(f"'{part}' are no bounds: there is no day {text}; write YYYY or YYYY-MM-DD") from None
    return read(text)


_NONE = pl.DataFrame(
    schema={
        **dict.fromkeys(("system", "doc", "mention", "answer", "credit"), pl.Int64),
        "slice": pl.String,
        "every": pl.List(pl.String),
    }
)
"""No events: those of links without ranks, and of types with some."""
_MET = pl.col("mention").is_not_null() & pl.col("answer").is_not_null()
_HALF = pl.when(pl.col("exact")).then(1.0).otherwise(pl.when(_MET).then(0.5).otherwise(0.0))


def _count(events: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    wrong = 1 - pl.col("credit")
    counts = events.group_by(keys, maintain_order=True).agg(
        tp=pl.col("credit").sum(),
        fp=wrong.filter(pl.col("answer").is_not_null()).sum(),
        fn=wrong.filter(pl.col("mention").is_not_null()).sum(),
        ignored=pl.lit(0, pl.Int64),
    )
    return counts.with_columns(UNSCOPED)


def _say(frames: Frames) -> Frames:
    """Return the frames without the annotations whose file says that they have no link, which is not NIL."""
    none = frames.values.filter(pl.col("term") == RANKED, pl.col("text").is_in(NO_LINK))["subject"]
    if none.is_empty():
        return frames
    kept = ~pl.col("annotation").is_in(none.implode())
    return replace(frames, annotations=frames.annotations.filter(kept))


def _macro() -> Mapping[str, pl.Expr]:
    exact = aspects.undefined_null.scores()
    both = exact["precision"].is_not_null() & exact["recall"].is_not_null()
    return {**exact, "f1": pl.when(both).then(exact["f1"])}


_RANKS = {"": "", "1": ", the first link of the answer", **{n: f", any of the first {n} links" for n in "35"}}
_CONVENTIONS = replace(
    PLAIN_GOLD,
    nil=aspects.Nil(
        name="nil-where-said",
        words="NIL is right where gold has NIL; mentions whose file gives neither a link nor NIL are left out",
        gold=_say,
        run=_say,
    ),
    pairing=aspects.pair_first_unused,
    undefined=aspects.undefined_zero,
)
_NOTES = {
    "pairing": "an answer is exact on a mention of its span, text and label; any other takes the first mention of "
    "its span with another label, or that it overlaps and none before it took (ner_eval.py, compute_metrics)",
    "confusion": "an answer with a wrong label is one FP and one FN, both of the label of gold (ner_eval.py)",
    "nil": "NIL is an entity like any other; a mention without any link is not asked for and no answer, "
    "and a link with a hyphen is none (clef_evaluation.py)",
    "ranks": "@n: any of the first n links of an answer may be right, of gold only the first counts",
    "optional": "ignorable annotations and regions are not known (not of the scorer, which has none)",
    "macro": "means over documents: P where anything is answered, R where anything is gold, F1 where both are; "
    "-o json has their standard deviations over these documents (clef_evaluation.py, F1_std, P_std, R_std)",
    "partial": "exact and partial are regimes of detailed reports, whose TP leave out the half that P and R give an "
    "overlap in partial",
    "undefined": "a micro score without denominator is 0 (ner_eval.py, compute_precision_recall_wrapper)",
    "noise, period": "--by noise and --by period cut the tokens out of both sides whose noise, or date, in gold is not "
    "in the bounds, so that what stood apart stands together (utils.py): the usual bounds of noise and each ten years, "
    "or those of noise:0.1-0.3 and period:1890-1920,1920-1950; noise,period crosses both",
    "refused": "a run with other numbers of tokens than gold in a document or a segment is refused, and one with fewer "
    "documents of which none has a name of gold's; one that lacks some of gold's, which the scorer refuses too, is "
    "scored here, and that is said (clef_evaluation.py)",
    "all labels": "--by type and --by link have a row 'all slices' besides, of detailed reports: the means of P, R and "
    "F1 over the labels; the F1 of mean P and R follows from these two",
}


def _own(edition: Edition) -> OwnRules:
    return OwnRules(
        prepare=lambda gold, runs: (gold, dict(runs)),
        count=Scorer(edition).count,
        averages={"micro": averages(aspects.zero_of_all)["micro"], "macro": averages(_macro)["macro"]},
        nearest=("A2KB", "weak"),
        in_order=True,
        counted=not edition.texts,
        hashes=edition.hashes,
        relaxes_gold=edition.relaxes_gold,
        of_frames=True,
        of_texts=frozenset(name for name in EVERY_MATCHING if not name.startswith("fuzzy") and edition.texts),
    )


def _slices_by_bounds(edition: Edition) -> Mapping[str, Callable[[Sequence[str]], Counter]]:
    by_cut = Scorer(edition).by_cut
    return {" × ".join(names): partial(by_cut, names) for names in (["noise"], ["period"], ["noise", "period"])}


def _slices(edition: Edition) -> Mapping[str, Counter]:
    scorer = Scorer(edition)
    usual = {name: count([""] * len(name.split(" × "))) for name, count in _slices_by_bounds(edition).items()}
    return {"type": scorer.by_type, "link": scorer.by_link, **usual}


def _meanings(alike: str) -> Mapping[str, str]:
    words = {**REGIMES, "strict": alike}
    return {name: words[name.partition("@")[0]] + _RANKS[name.partition("@")[2]] for name in EVERY_MATCHING}


hipe = Profile(
    name="hipe",
    summary="each layer by itself; answers in turn take the first mention that they overlap; NIL is an answer",
    source="https://github.com/hipe-eval/HIPE-scorer at 6605770, hipe_evaluation",
    tasks=TASKS,
    matchings=MATCHINGS,
    meanings=_meanings(REGIMES["strict"]),
    refuse=_refuse,
    counts_nothing=_counts_nothing,
    headline=("NEL-LIT", "fuzzy@1"),
    conventions=_CONVENTIONS,
    own_rules=_own(HIPE_2022),
    outside_slice="removed",
    slices=_slices(HIPE_2022),
    bounded=_slices_by_bounds(HIPE_2022),
    mean_over=("type", "link"),
    sparse=True,
    notes={
        "layers": "each column is scored by itself: types in NE-…, entities in NEL-…, with the spans of NE-COARSE-… "
        "of the same file (utils.py, collect_named_entities, collect_link_objects)",
        **_NOTES,
        "empty cells": "a file with empty cells is refused (clef_evaluation.py)",
        "parts": "an answer whose tokens are linked differently is a mention for each link (utils.py)",
        "labels": "types count that gold has in the column, in answers those of HIPE 2022 too (clef_evaluation.py); "
        "of a document of which a remix drops mentions, those of the mentions that stay",
    },
)

hipe_2020 = Profile(
    name="hipe-2020",
    summary="as hipe, by the rules of 2020: links cut by their own column, texts not compared, times are NIL",
    source="https://github.com/hipe-eval/HIPE-scorer at 019f456, ner_evaluation, and normalize_linking.py",
    tasks=TASKS,
    matchings=MATCHINGS,
    meanings=_meanings("the same span and label"),
    refuse=_refuse,
    counts_nothing=_counts_nothing,
    headline=("NEL-LIT", "fuzzy@1"),
    conventions=_CONVENTIONS,
    own_rules=_own(HIPE_2020),
    outside_slice="removed",
    slices=_slices(HIPE_2020),
    bounded=_slices_by_bounds(HIPE_2020),
    mean_over=("type", "link"),
    sparse=True,
    notes={
        **_NOTES,
        "layers": "each column is scored by itself: types in NE-…, entities in NEL-… (utils.py)",
        "pairing": "an answer is exact on a mention of its span and label, whatever its text is; any other takes the "
        "first mention of its span with another label, or that it overlaps and none before it took (ner_eval.py)",
        "parts": "neighbouring tokens with the same links are one mention of NEL-…, whatever their types are, in gold "
        "and answers (utils.py, collect_link_objects)",
        "times": "what an answer calls a time is NIL in NEL-LIT and NEL-METO, whatever it is linked to "
        "(normalize_linking.py)",
        "relax": "--relax maps the links of gold as well",
        "tokens": "the tokens of a run without documents are dealt out to gold's documents by their number alone",
        "labels": "types count that gold has in the column, in answers those of HIPE 2020 too (tagset.txt)",
    },
)

hipe_2024 = replace(
    hipe,
    name="hipe-2024",
    summary="as hipe, by the rules of 2024: a token with # anywhere is none, lines may lack cells of links",
    source="https://github.com/hipe-eval/HIPE-scorer at c2a5684, hipe_evaluation",
    own_rules=_own(HIPE_2024),
    slices=_slices(HIPE_2024),
    bounded=_slices_by_bounds(HIPE_2024),
    notes={
        **{name: note for name, note in hipe.notes.items() if name != "empty cells"},
        "hashes": "a token with # anywhere is none, in gold and run each by its own text, and what stood around it "
        "stands together; a run that loses other numbers of tokens than gold is refused",
        "cells": "a line that lacks cells of links or MISC has _ there, and cells beyond the header are none; the "
        "scorer takes an empty cell for a label of its own, which is not told once a file is read, so that a file with "
        "some is refused here",
    },
)
