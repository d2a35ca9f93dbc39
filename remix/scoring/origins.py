"""The origins of gold: what a remix was cut out of, as its manifest and the workspace know it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix.frames import Frames
from remix.measures._enriching import named_frames
from remix.remixes.manifest import Recorded, recorded
from remix.scoring.background import Background, whole
from remix.signature import Signature
from remix.store import Store
from remix.store.targets import Target

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["background_of"]


def background_of(
    store: Store, names: Sequence[str], targets: Sequence[Target], kb: KnowledgeBase | None
) -> Background:
    """Return where the gold of these targets comes from; `names` are what the user called them.

    A remix file's manifest tells the query. Its origin is the datasets that the manifest names where the workspace
    holds them with the same content; else the file itself, as far as it goes.
    """
    loaded = {entry.name: entry.content for entry in store.datasets()}
    manifests = {
        target.name: found
        for name, target in zip(names, targets, strict=True)
        if name not in loaded and (found := recorded(Path(name)))
    }
    held = {name for name, found in manifests.items() if found.contents.items() <= loaded.items()}
    wanted = {name for name in names if name in loaded}.union(*(manifests[name].contents for name in held))
    origin = named_frames(store, sorted(wanted)) if wanted else Frames.empty()
    parts, places = [origin], []
    for target in targets:
        gold = _named(target)
        place = _places(gold, origin, manifests[target.name].kept) if target.name in held else _own(gold)
        if len(place) < gold.documents.height:
            held.discard(target.name)
            place = _own(gold)
        if target.name not in wanted and target.name not in held:
            parts.append(whole(gold))
        places.append(place)
    queries = {name: found.query for name, found in manifests.items()}
    return _as_enriched(Background(Frames.concat(parts), pl.concat(places), kb, queries), manifests.values())


def _named(target: Target) -> Frames:
    named = pl.lit(target.name).alias("dataset")
    frames = target.frames
    documents, annotations = frames.documents.with_columns(named), frames.annotations.with_columns(named)
    return replace(frames, documents=documents, annotations=annotations)


def _own(gold: Frames) -> pl.DataFrame:
    return gold.documents.select("document", gold="document")


def _places(gold: Frames, origin: Frames, kept: Iterable[str]) -> pl.DataFrame:
    """Return which document of the origin each of a remix is: by its IRI in the store, else by the one given."""
    known = origin.documents.filter(pl.col("dataset").is_in(list(kept))).sort("dataset", "document")
    rows = gold.documents.select("given", gold="document")
    scoped = rows.join(known.select("document", given="document"), on="given", coalesce=False).select(
        "gold", "document"
    )
    rest = rows.join(scoped, on="gold", how="anti")
    given = rest.join(known.select("given", "document"), on="given", maintain_order="left_right")
    found = pl.concat([scoped.select("document", "gold"), given.select("document", "gold")])
    return found.unique("gold", keep="first", maintain_order=True)


def _as_enriched(background: Background, manifests: Iterable[Recorded]) -> Background:
    """Return the background with the choices by which the origins were measured."""
    signature = next((found.enrichment for found in manifests if found.enrichment), "")
    fields = Signature.parse(signature).fields if signature.startswith("remix:") else {}
    known = re.search(r"@[0-9a-f]{12}(?:-(.*?))?(\+gold)?(?:\+case)?$", fields.get("kb", ""))
    kb = background.kb
    if kb is not None and known:
        kb = kb.without_sources(re.split(r"-(?=\w+:)", known[1])) if known[1] else kb
        kb = kb.keeping_gold() if known[2] else kb
    reference = "union" if fields.get("reference") == "union" else "dataset"
    return replace(background, kb=kb, reference=reference, case_sensitive=fields.get("case") == "kept")
