"""Where systems break: parts of the mentions that a system finds less often than the others, tested, and within strata.

Tested are, for each system, the parts of each column of a study, and the crossings of two columns of which one is of
classes, as rare persons are: each against all other mentions; and again within the parts of each other column, as a
part may be found less often only because it has, say, more of the entities that are rare. A part of which the mentions
are those of another, or all but those, is tested once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import polars as pl

from remix.schemas import Schema, SchemaColumn
from remix.scoring.statistics.effects import Numbers, Verdicts
from remix.scoring.statistics.families import correct_together
from remix.scoring.statistics.intervals import LEAST_UNITS, Array
from remix.scoring.statistics.parts import Flags, compare_parts, correlate_contrasts
from remix.signature import content_hash
from remix.studies.results import Results

CROSSED = " × "
"""Between the columns, and the slices, of a crossing."""

DATASET = "dataset"
"""A column within whose parts every other part is held, where a study has several datasets."""

WEAKNESSES = Schema(
    "tests of parts",
    "a part of the mentions in the answers of a system, held against the others",
    (
        SchemaColumn("system", pl.String(), "the name of the run"),
        SchemaColumn("column", pl.String(), "what is cut, of a crossing both columns"),
        SchemaColumn("slice", pl.String(), "the part, of a crossing both parts"),
        SchemaColumn("within", pl.String(), "the column within whose parts it is held; empty for all mentions"),
        SchemaColumn("mentions", pl.Int64(), "how many mentions the part has"),
        SchemaColumn("documents", pl.Int64(), "how many documents hold them"),
        SchemaColumn("found", pl.Float64(), "the share of them that the system finds", null=True),
        SchemaColumn("others", pl.Float64(), "the share of the others that it finds", null=True),
        SchemaColumn("difference", pl.Float64(), "the one less the other", null=True),
        SchemaColumn("low", pl.Float64(), "the lower bound of its interval of 95 %", null=True),
        SchemaColumn("high", pl.Float64(), "the upper bound", null=True),
        SchemaColumn("p", pl.Float64(), "the p of the test, null where there are too few documents", null=True),
        SchemaColumn("p_corrected", pl.Float64(), "corrected over all rows together", null=True),
    ),
    ("system", "column", "slice", "within"),
)

FOLLOWING = 0.2
"""What a test within strata weighs in the correction, where one over all mentions weighs 1: it follows that one."""

_RATES = ("found", "others", "difference", "low", "high", "p")


@dataclass(frozen=True, eq=False)
class StudiedParts:
    """The parts that are tested: `flags` are of mentions by parts, `names` their column and slice.

    `strata` has for each column the number of the part, or parts, that each mention is in.
    """

    names: tuple[tuple[str, str], ...]
    flags: Flags
    strata: dict[str, Numbers]

    def holding(self, column: str, part: str) -> Flags:
        """Return whether each mention is in a part."""
        own: Flags = self.flags[:, self.names.index((column, part))]
        return own


def studied_parts(results: Results) -> StudiedParts:
    """Return the parts of the columns of a study and of crossings that ten documents hold, each set of mentions once.

    Of a part and all but that, the smaller stands for both.
    """
    mentions = results.mentions.sort("mention")
    places = mentions.select("mention").with_row_index("row")
    documents = mentions["document"].rank("dense").to_numpy()
    inside = results.members.join(places, on="mention")
    ordered = results.parts.filter(dataset="all").sort("part", "slice")
    singles: dict[str, list[tuple[str, Flags]]] = {}
    for column in [one for one in results.columns if one in set(ordered["column"])]:
        rows = inside.filter(column=column)
        for (part,) in ordered.filter(column=column).select("slice").iter_rows():
            flags = np.zeros(len(mentions), dtype=bool)
            flags[rows.filter(slice=part)["row"].to_numpy()] = True
            singles.setdefault(column, []).append((part, flags))
    named = [(column, part, flags) for column, parts in singles.items() for part, flags in parts]
    kept = list(_each_once([*named, *_cross(singles, _classes(results))], documents))
    strata = {column: _strata(inside.filter(column=column), len(mentions)) for column in singles}
    if DATASET not in strata and mentions[DATASET].n_unique() > 1:
        strata[DATASET] = mentions[DATASET].rank("dense").cast(pl.Int64).to_numpy()
    table = np.array([own for _, _, own in kept], dtype=bool).reshape(len(kept), len(mentions)).T
    return StudiedParts(tuple((column, part) for column, part, _ in kept), table, strata)


def _classes(results: Results) -> set[str]:
    """Return the columns whose parts have no boundaries."""
    bounds = results.parts.filter(dataset="all").group_by("column").agg(pl.col("low", "high").is_not_null().any())
    return set(bounds.filter(~pl.col("low") & ~pl.col("high"))["column"])


def _cross(singles: dict[str, list[tuple[str, Flags]]], classes: set[str]) -> Iterator[tuple[str, str, Flags]]:
    """Return the crossings of two columns of which one is of classes; the classes come first."""
    plain = [column for column in singles if CROSSED not in column]
    for one, other in combinations(plain, 2):
        first, second = (one, other) if one in classes else (other, one)
        if first not in classes or {f"{one}{CROSSED}{other}", f"{other}{CROSSED}{one}"} & set(singles):
            continue
        for (part, flags), (beside, others) in ((a, b) for a in singles[first] for b in singles[second]):
            yield f"{first}{CROSSED}{second}", f"{part}{CROSSED}{beside}", flags & others


def _each_once(parts: Iterable[tuple[str, str, Flags]], documents: Numbers) -> Iterator[tuple[str, str, Flags]]:
    """Return the parts that ten documents hold, as they do the others; of equal ones, and opposite ones, one."""
    known: dict[bytes, int] = {}
    kept: list[tuple[str, str, Flags]] = []
    for column, part, flags in parts:
        if min(len(np.unique(documents[side])) for side in (flags, ~flags)) < LEAST_UNITS:
            continue
        key = np.packbits(flags if flags[0] else ~flags).tobytes()
        place = known.setdefault(key, len(kept))
        if place == len(kept):
            kept.append((column, part, flags))
        elif flags.sum() < kept[place][2].sum():
            kept[place] = (column, part, flags)
    yield from kept


def _strata(inside: pl.DataFrame, mentions: int) -> Numbers:
    """Return a number for each mention, equal where they are in the same parts of a column."""
    sets = inside.sort("slice").group_by("row").agg(pl.col("slice").str.join("\n"))
    rows = pl.DataFrame({"row": pl.int_range(mentions, dtype=pl.UInt32, eager=True)})
    joined = rows.join(sets, on="row", how="left", maintain_order="left")["slice"].fill_null("")
    numbers: Numbers = joined.rank("dense").cast(pl.Int64).to_numpy()
    return numbers


def weaknesses(results: Results, parts: StudiedParts | None = None) -> pl.DataFrame:
    """Return a row (`WEAKNESSES`) for each system and part, over all mentions and within the parts of other columns.

    `difference` is of recall by the first rules of the study: what is found of the part less what is found of the
    others. Rows of all systems are one family, corrected together (`remix.scoring.statistics.families`). Baselines and
    oracles are not asked, unless a study has nothing else.
    """
    chosen = parts or studied_parts(results)
    mentions = results.mentions.sort("mention")
    documents = mentions["document"].rank("dense").cast(pl.Int64).to_numpy()
    entities = number_entities(mentions)
    systems = results.systems.filter(state="there")
    systems = systems.filter(kind="system") if "system" in set(systems["kind"]) else systems
    found, verdicts = [], []
    for system in systems.sort("place", "system")["system"]:
        own = results.outcomes.filter(system=system).select("mention", right=pl.col("outcome") == "correct")
        right = mentions.select("mention").join(own, on="mention", how="left", maintain_order="left")["right"]
        judged = right.is_not_null().to_numpy()
        if judged.any() and chosen.names:
            values = right.fill_null(False).cast(pl.Float64).to_numpy()
            outcomes = Verdicts(values, documents, entities).only(judged)
            test = partial(_test, outcomes, chosen, judged)
            tested = results.kept("weaknesses", _read(outcomes, chosen, judged), test)
            found.append(tested.select(pl.lit(system).alias("system"), pl.all()))
            verdicts.append(np.where(judged, values, values[judged].mean()))
    if not found:
        return WEAKNESSES.empty()
    return _correct(found, np.array(verdicts), chosen, results.seed).select(*WEAKNESSES.types)


def _correct(found: list[pl.DataFrame], verdicts: Array, parts: StudiedParts, seed: int) -> pl.DataFrame:
    """Return the rows of all systems with p corrected for all of them; `verdicts` are of systems by mentions."""
    rows = pl.concat([own.with_columns(nth=pl.lit(place)) for place, own in enumerate(found)])
    tested = rows.filter(pl.col("p").is_not_null())
    used, place = np.unique(tested["test"].to_numpy(), return_inverse=True)
    nth = tested["nth"].to_numpy()
    p = np.full((len(found), len(used)), np.nan)
    p[nth, place] = tested["p"].to_numpy()
    correlations = correlate_contrasts(parts.flags, [None, *parts.strata.values()])[np.ix_(used, used)]
    with np.errstate(all="ignore"):
        between = np.nan_to_num(np.corrcoef(verdicts).reshape(len(found), len(found)))
    np.fill_diagonal(between, 1.0)
    weights = np.where(used < len(parts.names), 1.0, FOLLOWING)
    corrected = correct_together(p, correlations, between=between, weights=weights, seed=seed)
    known = tested.select("nth", "test", p_corrected=pl.Series(corrected[nth, place], dtype=pl.Float64))
    return rows.join(known, on=["nth", "test"], how="left", maintain_order="left")


def number_entities(mentions: pl.DataFrame) -> Numbers:
    """Return the number of each mention's entity; of NIL, and of what has none, each is one of its own."""
    alone = pl.concat_str(pl.lit("\n"), pl.col("mention"))
    entities: Numbers = (
        mentions.select(pl.coalesce("entity", alone).rank("dense").cast(pl.Int64)).to_series().to_numpy()
    )
    return entities


def _read(outcomes: Verdicts, parts: StudiedParts, judged: Flags) -> dict[str, object]:
    """Return the hashes of all that the tests of a system are made of: its own outcomes, and the parts."""
    arrays = [outcomes.values, outcomes.documents, outcomes.entities, judged, parts.flags, *parts.strata.values()]
    hashes = [content_hash(str(one.dtype), str(one.shape), np.ascontiguousarray(one).tobytes()) for one in arrays]
    return {"names": parts.names, "strata": [*parts.strata], "arrays": hashes}


def _test(outcomes: Verdicts, parts: StudiedParts, judged: Flags) -> pl.DataFrame:
    """Return the rows of a system, whose name is not in them, each with the number of its `test`.

    Of its mentions those are judged.
    """
    flags = parts.flags[judged]
    held = [len(np.unique(outcomes.documents[own])) for own in flags.T]
    about = pl.DataFrame(
        {
            "column": [column for column, _ in parts.names],
            "slice": [part for _, part in parts.names],
            "mentions": flags.sum(axis=0).astype(np.int64),
            "documents": pl.Series(held, dtype=pl.Int64),
        }
    )
    tables = []
    for nth, (within, numbers) in enumerate(((("", None)), *parts.strata.items())):
        rates = compare_parts(outcomes, flags, None if numbers is None else numbers[judged])
        columns = (rates.rate, rates.other, rates.difference, rates.low, rates.high, rates.p)
        values = {name: pl.Series(column) for name, column in zip(_RATES, columns, strict=True)}
        rows = about.with_columns(pl.lit(within).alias("within"), **values).with_columns(
            test=pl.int_range(pl.len(), dtype=pl.Int64) + nth * len(parts.names)
        )
        tables.append(rows.filter(pl.col("column") != within))
    return pl.concat(tables).with_columns(pl.col(_RATES).fill_nan(None))
