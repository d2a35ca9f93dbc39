"""The measures, the columns that they give annotations and documents, and the terms that they are stored as."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from remix.reports.listings import Listing, Rows
from remix.reports.listings.parts import registry_at

if TYPE_CHECKING:
    from remix.store import Store


def _measures(_: Store, __: Path) -> Rows:
    from remix.measures import MEASURES

    for one in MEASURES:
        values = [*(column.name for column in one.columns), *(summary.name for summary in one.summaries)]
        yield {
            "name": one.name,
            "values": [*dict.fromkeys(values)],
            "levels": list(one.levels),
            "unit": one.unit,
            "formula": one.formula,
        }


def _columns(_: Store, __: Path) -> Rows:
    from remix.measures import MEASURES
    from remix.scoring.inputs.columns import OWN

    for name, meaning in OWN.items():
        yield {"name": name, "of": "gold", "kind": "", "meaning": meaning}
    for measure in MEASURES:
        for column in measure.columns:
            yield {"name": column.name, "of": measure.name, "kind": column.kind, "meaning": column.meaning}


def _terms(_: Store, __: Path) -> Rows:
    from remix.measures.measurement import terms

    for one in terms():
        yield {
            "term": one.term,
            "levels": sorted(one.levels),
            "averages": sorted(one.averages),
            "kind": one.kind,
            "measure": one.measure.name,
            "meaning": one.comment,
        }


measures = Listing(
    "measures",
    "what describes datasets, documents and annotations",
    _measures,
    kind="measure",
    parts=lambda: registry_at("remix.measures:MEASURES"),
    rank=0,
)
columns = Listing("columns", "what scores can be broken down by (--by), beside the classes and properties", _columns)
terms = Listing("terms", "the RDF terms of the measures, as queries name them", _terms)
