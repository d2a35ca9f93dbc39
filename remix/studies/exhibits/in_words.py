"""The page of words: what the numbers of a study say in whole sentences, each with its cell.

The sentences are made by these rules, and by nothing else:

1. *The first system.* Of the systems (no baseline, no oracle) that of the highest micro-F1 on the unfiltered target is
   named, with its interval, and its difference to the next; where several have it, these are. 'More than chance' stands
   where the difference is claimed. Systems without a score there are named.
2. *Weaknesses.* For each system, of the parts that it finds less often than the other mentions and that are claimed, at
   most three are told: that first whose interval is farthest from 0, then those that share no more than half of their
   mentions with one that is told.
3. *What may be behind one.* A weakness that is told is held within the parts of every other column. The columns within
   which it is claimed as well are named; for each of the others stands what is left of it there, with its interval, and
   that the column may be what is behind it; where 0 is outside the interval, that it cannot be ruled out.
4. *Turns.* Where a system is ahead of another on one part of a column and behind on another part, by intervals without
   0, and one of the two differences is claimed, both are told, and which is more than chance; at most three.
5. *Family.* A difference is claimed where its p is at most 0.05 after correction over all tests of the study, which the
   last sentence numbers. An interval is that of its row alone: where it is without 0 and the difference is not claimed,
   that is said. Where nothing is claimed, that is said, and also where so few samples were drawn that the share of them
   tells no p that is small enough once it is corrected.
6. *What is missing.* Targets and systems that are not there are named, and the tasks and matchings of the study that a
   profile does not count, or that neither gold nor an answer of a target has anything of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from remix.names import shorten
from remix.paper import Typesetting
from remix.studies.claims import LEVEL, Findings, findings
from remix.studies.exhibit import Exhibit, Sentence, Shown, ShownTable
from remix.studies.exhibits._holes import list_names, tell_missing
from remix.studies.results import Results, tell_uncounted
from remix.studies.weaknesses import CROSSED

WEAKNESSES, PAIRS, SCORES = "weaknesses", "differences-of-systems", "scores-of-systems"
MOST = 3
"""Weaknesses of a system, and turns, that are told."""
_KEY = ("system", "column", "slice", "within")
_PAIR = ("system", "other", "column", "slice")

Row = Mapping[str, object]


def _show(results: Results) -> Iterator[Shown]:
    found = findings(results)
    scores = results.headline().filter(target=results.unfiltered, column="")
    scores = scores.join(results.systems.select("system", "kind"), on="system").sort(
        "f1", "system", descending=[True, False], nulls_last=True
    )
    yield from _tell_first(scores, found)
    yield from _tell_unscored(scores, results.unfiltered)
    told = _choose_weaknesses(found)
    yield from _tell_weaknesses(told, found)
    yield from _tell_turns(found)
    yield from _tell_family(found, len(told))
    yield from _tell_samples(found, results.samples)
    absent = [*tell_missing(results.systems, "system"), *tell_missing(results.targets)]
    for missing in [*absent, *tell_uncounted(results)]:
        yield Sentence(missing, "")
    columns = ["system", "kind", "f1", "f1_low", "f1_high"]
    how = Typesetting(best={"f1": "highest"}, intervals={"f1": ("f1_low", "f1_high")}, digits=3)
    yield ShownTable(SCORES, "Micro-F1 of the systems on the unfiltered target.", scores.select(columns), how)
    keys = told.select("system", "column", "slice")
    single = found.weak.filter(~pl.col("column").str.contains(CROSSED, literal=True), within="")
    rows = pl.concat([found.claims, single, found.weak.join(keys, on=keys.columns, how="semi")])
    yield ShownTable(
        WEAKNESSES,
        "How often a system finds the mentions of a part, and the others.",
        rows.unique(maintain_order=True).drop("p_corrected").sort(*_KEY),
        notes=(
            f"{found.tests[0]} tests were made. Shown are the parts of each column, the crossings of two that are "
            "found more or less often than the others by more than chance, and of parts that the words name those "
            "within the parts of other columns. p_family is corrected over all tests of the study.",
        ),
    )
    yield ShownTable(
        PAIRS,
        "Differences in micro-F1 of two systems on the unfiltered target and on each part.",
        found.pairs.select(*_PAIR, "difference", "low", "high", "p", "p_family", "claimed", "documents"),
        notes=(f"p_family is corrected over all tests of the study, of which these are {found.tests[1]}.",),
    )


def _cell(row: Row, keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((key, str(row[key])) for key in keys)


def _points(value: object) -> str:
    """Return a difference in points: of per cent, without its sign."""
    return f"{abs(100 * float(str(value))):.1f}"


def _interval(row: Row, *, turned: bool = False) -> str:
    low, high = (100 * float(str(row[name])) for name in ("low", "high"))
    low, high = (-high, -low) if turned else (low, high)
    return f"{low:.1f} to {high:.1f}"


def _part(row: Row) -> str:
    """Return a part in words.

    >>> _part({"column": "class × pagerank:quantiles:2", "slice": "Person × 1: to-3"})
    'class Person and pagerank to-3'
    >>> _part({"column": "class", "slice": "http://dbpedia.org/ontology/Band"})
    'class dbo:Band'
    """
    columns, slices = (str(row[name]).split(CROSSED) for name in ("column", "slice"))
    if len(columns) != len(slices):
        return f"{row['column']} {row['slice']}"
    named = (
        f"{column.partition(':')[0]} {shorten(part.partition(': ')[2] or part)}"
        for column, part in zip(columns, slices, strict=True)
    )
    return " and ".join(named)


def _tell_first(scores: pl.DataFrame, found: Findings) -> Iterator[Sentence]:
    ranked = scores.filter(pl.col("f1").is_not_null(), kind="system").to_dicts()
    if not ranked:
        return
    first, *others = ranked
    level = [one for one in others if one["f1"] == first["f1"]]
    cell = (("system", first["system"]),)
    said = f"{first['f1']:.3f}"
    if level:
        both = list_names([f"{one['system']}{_bounds(one)}" for one in (first, *level)], len(ranked))
        yield Sentence(f"Of the systems {both} have the same micro-F1, which is the highest: {said}.", SCORES, cell)
    elif others:
        text = f"Of the systems {first['system']} has the highest micro-F1, {said}{_bounds(first)}."
        yield Sentence(text, SCORES, cell)
        yield from _tell_next(first["system"], others[0]["system"], found)
    else:
        text = f"The only system that has a score is {first['system']}, with a micro-F1 of {said}{_bounds(first)}."
        yield Sentence(text, SCORES, cell)


def _bounds(row: Row) -> str:
    if row["f1_low"] is None:
        return " (no interval)"
    return f" ({float(str(row['f1_low'])):.3f} to {float(str(row['f1_high'])):.3f})"


def _tell_unscored(scores: pl.DataFrame, unfiltered: str) -> Iterator[Sentence]:
    """Yield which systems are in no comparison, as answers of theirs are missing on a part of the unfiltered target."""
    without = scores.filter(pl.col("f1").is_null(), kind="system")["system"].sort().to_list()
    if without:
        have, are = ("has", "is") if len(without) == 1 else ("have", "are")
        ranked = f"no score on {unfiltered}, as answers to a part of it are missing, and {are} not ranked"
        cell, *others = ((("system", name),) for name in without)
        yield Sentence(f"{list_names(without)} {have} {ranked}.", SCORES, cell, tuple(others))


def _tell_next(first: str, other: str, found: Findings) -> Iterator[Sentence]:
    whole = found.pairs.filter(column="")
    for row in whole.to_dicts():
        if {row["system"], row["other"]} == {first, other} and row["low"] is not None:
            turned = row["system"] != first
            points = f"{_points(row['difference'])} points ({_interval(row, turned=turned)})"
            yield Sentence(f"It is ahead of {other}, the next, by {points}: {_sure(row)}.", PAIRS, _cell(row, _PAIR))


def _sure(row: Row) -> str:
    """Return whether a difference is claimed, in words.

    >>> _sure({"claimed": False, "low": 0.01, "high": 0.05})
    'not claimed once it is corrected for all tests, though 0 is outside its interval'
    """
    if row["claimed"]:
        return "more than chance"
    if _without_zero(row):
        return "not claimed once it is corrected for all tests, though 0 is outside its interval"
    return "no more than chance could make"


def _without_zero(row: Row) -> bool:
    return float(str(row["low"])) * float(str(row["high"])) > 0


def _choose_weaknesses(found: Findings) -> pl.DataFrame:
    """Return the weaknesses that are told, of each system in its order."""
    kept = []
    weak = found.claims.filter(pl.col("difference") < 0).sort("high", "column", "slice")
    for _, own in weak.group_by("system", maintain_order=True):
        flags: list[object] = []
        for row in own.to_dicts():
            part = found.parts.holding(row["column"], row["slice"])
            beside = [found.parts.holding(*one) for one in flags]  # type: ignore[misc]
            if any((part & one).sum() > min(part.sum(), one.sum()) / 2 for one in beside):
                continue
            flags.append((row["column"], row["slice"]))
            kept.append(row)
            if len(flags) == MOST:
                break
    return pl.DataFrame(kept, schema=found.weak.schema)


def _tell_weaknesses(told: pl.DataFrame, found: Findings) -> Iterator[Sentence]:
    for row in told.sort("system", maintain_order=True).to_dicts():
        rates = f"{100 * row['found']:.1f} % of the {row['mentions']} mentions of {_part(row)}"
        points = f"{_points(row['difference'])} points fewer ({_interval(row, turned=True)})"
        text = (
            f"{row['system']} finds {rates} and {100 * row['others']:.1f} % of the others: {points}, more than chance."
        )
        yield Sentence(text, WEAKNESSES, _cell(row, _KEY))
        same = {key: row[key] for key in ("system", "column", "slice")}
        within = found.weak.filter(pl.col("within") != "", **same).to_dicts()
        holds = [one for one in within if one["claimed"] and one["difference"] < 0]
        if holds:
            least = max(holds, key=lambda one: one["difference"])
            where = list_names([one["within"].partition(":")[0] for one in holds])
            left = f"{_points(least['difference'])} points ({_interval(least, turned=True)})"
            yield Sentence(
                f"So it is among mentions of the same {where}, where it is at least {left}.",
                WEAKNESSES,
                _cell(least, _KEY),
            )
        for one in within:
            if one in holds:
                continue
            column = one["within"].partition(":")[0]
            if one["p"] is None:
                text = f"Whether {column} is behind it cannot be told: too few mentions of a part of it are of both."
            else:
                more = "fewer" if one["difference"] <= 0 else "more"
                turned = one["difference"] <= 0
                left = f"{_points(one['difference'])} points {more} ({_interval(one, turned=turned)})"
                behind = f"{column} {'cannot be ruled out' if _without_zero(one) else 'may be what is behind it'}"
                text = f"Among mentions of the same {column} it is {left}, {_sure(one)}: {behind}."
            yield Sentence(text, WEAKNESSES, _cell(one, _KEY))


def _tell_turns(found: Findings) -> Iterator[Sentence]:
    turns = []
    without_zero = pl.col("low") * pl.col("high") > 0
    parts = found.pairs.filter(pl.col("column") != "", without_zero)
    for _, own in parts.group_by("system", "other", "column", maintain_order=True):
        ahead = own.filter(pl.col("difference") > 0).sort("p", "slice").head(1).to_dicts()
        behind = own.filter(pl.col("difference") < 0).sort("p", "slice").head(1).to_dicts()
        if ahead and behind and (ahead[0]["claimed"] or behind[0]["claimed"]):
            turns.append((not (ahead[0]["claimed"] and behind[0]["claimed"]), ahead[0], behind[0]))
    for _, one, other in sorted(turns, key=lambda turn: (turn[0], turn[1]["p"] + turn[2]["p"]))[:MOST]:
        sure = (
            "both are" if one["claimed"] and other["claimed"] else f"the {'first' if one['claimed'] else 'second'} is"
        )
        yield Sentence(
            f"{one['system']} is ahead of {one['other']} by {_points(one['difference'])} points ({_interval(one)}) on "
            f"{_part(one)} and behind by {_points(other['difference'])} ({_interval(other, turned=True)}) on "
            f"{_part(other)}: {sure} more than chance.",
            PAIRS,
            _cell(one, _PAIR),
            (_cell(other, _PAIR),),
        )


def _tell_family(found: Findings, told: int) -> Iterator[Sentence]:
    of_parts, of_pairs = found.tests
    if not of_parts + of_pairs:
        yield Sentence("Nothing was tested: no part, and no pair of systems, is held by ten documents.", "")
        return
    if not told and of_parts:
        yield Sentence("No system finds a part less often than the other mentions by more than chance could make.", "")
    yield Sentence(
        f"All this stands on {of_parts} tests of parts and {of_pairs} of pairs of systems, whose p are corrected "
        "together.",
        "",
    )


def _tell_samples(found: Findings, samples: int) -> Iterator[Sentence]:
    """Yield that the least share of samples, one of them and what was observed, is no p that could be claimed."""
    pairs = found.tests[1]
    least = pairs * found.families / (samples + 1)
    if least > LEVEL:
        needed = round(pairs * found.families / LEVEL) - 1
        yield Sentence(
            f"{samples:,} samples are too few for {pairs} pairs: the least p that they can tell, 1 / {samples + 1:,}, "
            f"is {min(least, 1.0):.2f} once it is corrected. So a pair is claimed where its difference is so large "
            f"that Hoeffding's inequality says it; {needed:,} samples are the least that could tell smaller ones.",
            "",
        )


FINDINGS = Exhibit(name="findings", title="In words", place=0, show=_show)
