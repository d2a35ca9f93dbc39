"""Which types and which prominence the entities of datasets have: Table 3 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from remix.paper import Typesetting
from remix.studies.exhibit import Exhibit, ShownTable
from remix.studies.exhibits._holes import THERE, order_targets, tell_missing
from remix.studies.exhibits._measures import tell_low_coverage, values_of_targets
from remix.studies.results import Results

_SEGMENTS = {"Head": "10 %", "Torso": "10–55 %", "Tail": "55–100 %", "Unspecified": "none"}
SHARES = {
    "typePerson": "Persons",
    "typeOrganisation": "Organisations",
    "typePlace": "Places",
    "typeUnspecified": "Unspecified",
    **{f"pagerankSegment{name}": f"PageRank {label}" for name, label in _SEGMENTS.items()},
    **{f"hitsSegment{name}": f"HITS {label}" for name, label in _SEGMENTS.items()},
}
"""The measures of the table, and what they are called there."""


def show(results: Results) -> Iterator[ShownTable]:
    """Yield a row for each dataset: the shares of its annotations that have each type and each prominence."""
    targets = order_targets(results, "dataset", "all").sort(pl.col("kind") == "all", maintain_order=True)
    found = {name: values_of_targets(results, targets, name) for name in SHARES}
    known = {name: values for name, values in found.items() if values["value"].count()}
    if not known:
        return
    there = pl.when(pl.col("state") == THERE).then("mentions")
    frame = targets.select("target", "kind", mentions=there).with_columns(
        values["value"].alias(f"share {name}") for name, values in known.items()
    )
    ends = [f"share {name}" for name in known]
    how = Typesetting(
        columns={"target": "", "mentions": "mentions", **{f"share {name}": SHARES[name] for name in known}},
        best=dict.fromkeys(ends, "highest"),
        worst=dict.fromkeys(ends, "lowest"),
        within=("kind",),
    )
    yield ShownTable(
        "types-and-prominence",
        "Types and prominence of the entities of datasets, in per cent of annotations.",
        frame,
        how,
        (*_notes(found), *tell_missing(targets)),
    )


def _notes(found: dict[str, pl.DataFrame]) -> Iterator[str]:
    yield "The highest share of a column stands in bold, the lowest in italics."
    known = [name for name, values in found.items() if values["value"].count()]
    if any("Segment" in name for name in known):
        yield (
            "10 %, 10–55 % and 55–100 % are shares of the ranked entities of the knowledge base, the most prominent "
            "first; none are annotations whose entity has no rank."
        )
    if any(name.startswith("type") for name in known):
        yield "An entity can have several types; what has none of the three is unspecified."
    kinds = dict.fromkeys("types" if name.startswith("type") else SHARES[name].partition(" ")[0] for name in SHARES)
    said = {"types" if name.startswith("type") else SHARES[name].partition(" ")[0] for name in known}
    if missing := [kind for kind in kinds if kind not in said]:
        yield f"The knowledge base of the study does not have: {', '.join(missing)}."
    for name in known:
        yield from tell_low_coverage(found[name], SHARES[name])


TYPES_AND_PROMINENCE = Exhibit(
    name="types-and-prominence",
    title="Types and prominence",
    place=20,
    show=show,
    source="Table 3 of the remixing paper",
)
