"""What a workspace keeps to be scored: datasets and remixes as gold, their measures, and what they were cut out of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.files import manifest_beside
from remix.frames import Frames
from remix.measures.columns import columns_of_data, unknown_column
from remix.names import RMX
from remix.rdf.iris import dataset_iri
from remix.scoring.inputs import Background
from remix.signature import Signature

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.remixes.manifest import Manifest
    from remix.store import DatasetEntry, Store
    from remix.store.targets import Target

LEARNT = frozenset({"systemAgreement", "difficulty"})
"""The columns that are derived from stored runs."""


def kept_gold(
    store: Store, names: Iterable[str], formats: Iterable[str] = (), *, learnt: bool = True
) -> tuple[Frames, list[Target]]:
    """Return the frames of loaded datasets and of files, each a dataset of its name, and the targets themselves.

    The values that were derived from runs are among them, unless what was `learnt` is not asked for. Raises
    `UsageError` for two of one name, whose annotations nothing tells apart, and as `targets`.
    """
    from remix.store.targets import targets

    found = targets(store, names, formats)
    if twice := next((one.name for one in found if sum(other.name == one.name for other in found) > 1), None):
        raise UsageError(f"two datasets are called '{twice}', and its mentions would count twice: name it once")
    loaded = {entry.name: entry for entry in store.datasets()}
    parts = []
    for target in found:
        frames = target.frames.in_dataset(target.name)
        if learnt and target.loaded and (own := _learnt(store, loaded[target.name])):
            # What a file brings of the same was learnt from the runs of others.
            terms = pl.concat(own)["term"].unique()
            values = pl.concat([frames.values.filter(~pl.col("term").is_in(terms.implode())), *own])
            frames = replace(frames, values=values)
        parts.append(frames)
    return Frames.concat(parts), found


def _learnt(store: Store, entry: DatasetEntry) -> list[pl.DataFrame]:
    """Return the values on annotations that were derived from runs, as `Frames.values` has them."""
    from remix.rdf.ntriples import columns

    found = []
    for name in entry.learnt():
        rows = columns(store.attachment(entry.name, name)).filter(~pl.col("subject").str.ends_with(f"#{name}>"))
        subject, term = (pl.col(one).str.strip_chars("<>") for one in ("subject", "predicate"))
        number = pl.col("object").str.extract('^"(.*)"').cast(pl.Float64)
        found.append(rows.select(subject=subject, term=term, number=number, text=pl.lit(None, pl.String)))
    return found


def measured_columns(
    gold: Frames, kb: KnowledgeBase | None, by: Iterable[str], properties: pl.DataFrame | None = None
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return the measures of gold's annotations and of its documents that `by` asks for and the data do not have.

    Values that were derived from runs are among them, since they are no part of the data that a signature tells, and
    `properties` (document and columns) among those of documents.
    """
    from remix.measures import compute

    learnt = _learnt_columns(gold, by)
    wanted = {*by} - {*(properties.columns if properties is not None else ())}
    if not wanted or not (wanted := wanted - columns_of_data(gold)):
        return learnt, properties
    found = compute(gold, kb)
    annotations = found.annotations.select("annotation", *(one for one in found.annotations.columns if one in wanted))
    documents = found.documents.select("document", *(one for one in found.documents.columns if one in wanted))
    if unknown := sorted(wanted - {*annotations.columns, *documents.columns}):
        raise unknown_column(gold, unknown[0], [*found.annotations.columns, *found.documents.columns])
    if learnt is not None:
        annotations = annotations.join(learnt, on="annotation", how="left", maintain_order="left")
    if properties is not None:
        documents = documents.join(properties, on="document", how="left", maintain_order="left")
    return annotations, documents


def _learnt_columns(gold: Frames, by: Iterable[str]) -> pl.DataFrame | None:
    found: pl.DataFrame | None = None
    for name in sorted({*by} & LEARNT):
        values = gold.values.filter(term=f"{RMX}{name}").select(annotation="subject", **{name: "number"})
        if len(values):
            found = values if found is None else found.join(values, on="annotation", how="full", coalesce=True)
    return found


@dataclass(frozen=True)
class Origins:
    """Where gold comes from.

    - `backgrounds`: each document of gold has one;
    - `emptied`: frames of the documents that remixes emptied, as documents of the remix with all gold dropped;
    - `kept`: the remixes without these, of which only documents with a kept mention count;
    - `homes`: gold and home, the loaded dataset that a document of gold comes from, where it comes from any.
    """

    backgrounds: list[Background]
    emptied: list[Frames]
    kept: frozenset[str]
    homes: pl.DataFrame


def origins_of(
    store: Store,
    names: Sequence[str],
    targets: Sequence[Target],
    kb: KnowledgeBase | None,
    *,
    documents: str = "",
    percentiles: bool = False,
) -> Origins:
    """Return where the gold of these targets comes from; `names` are what the user called them.

    A remix's manifest tells the query, and which documents were emptied. Its origin is the datasets that the manifest
    names where the workspace holds them with the same content, with all else that is loaded where its query reads what
    is among all of that; else the remix itself, as far as it goes. Other loaded datasets are their own origin, for
    `percentiles` all of them, since they were measured together. `documents` is that of `Choice`; raises `UsageError`
    for 'all' where a remix lacks its origins.
    """
    # Gold in files alone is scored without the libraries that this brings.
    from remix.measures.enrichment import named_frames

    entries = {entry.name: entry for entry in store.datasets()}
    loaded = {name: entry.content for name, entry in entries.items()}
    files = [
        store.folder / entries[target.name].folder / "data.ttl" if target.loaded else Path(name)
        for name, target in zip(names, targets, strict=True)
    ]
    manifests = [_read_manifest(file) for file in files]
    backgrounds, emptied, kept, homes = [], [], set(), []
    pairs = list(zip(targets, manifests, strict=True))
    if own := [target for target, found in pairs if found is None and target.loaded]:
        by_name = {target.name: target.frames for target in own}
        frames = (
            named_frames(store)
            if percentiles
            else Frames.concat(by_name[one].in_dataset(one) for one in sorted(by_name))
        )
        places = pl.concat(target.frames.documents.select("document", gold="document") for target in own)
        backgrounds.append(Background(frames, places.unique(), kb))
        homes.append(backgrounds[-1].homes)
    for target, found in pairs:
        if found is None:
            if not target.loaded:
                backgrounds.append(Background.of(target.frames.in_dataset(target.name), kb))
            continue
        gold = target.frames.in_dataset(target.name)
        held = found.contents.items() <= loaded.items()
        background, more = (_find_loaded(store, gold, found, kb) if held else None), None
        whole = background is not None
        if background is None:
            background = Background.of(gold, kb, {target.name: found.query})
            _tell_changed(target.name, found, loaded)
        elif found.emptied is not None and documents != "kept":
            more, places = _empty(background.frames, target.name, found.emptied)
            background = replace(background, places=pl.concat([background.places, places]))
            emptied.append(more)
        if more is None:
            kept.add(target.name)
            if documents == "all":
                raise UsageError(_lacking(target.name, found, loaded))
        drawn = {target.name: found.balance} if found.balance else {}
        selected_by = {target.name: found.runs} if found.runs else {}
        backgrounds.append(replace(_as_enriched(background, found), drawn=drawn, selected_by=selected_by))
        # A file is no loaded dataset, also where one is called as it is.
        homes += [backgrounds[-1].homes] if whole or target.loaded else []
    none = pl.DataFrame(schema={"gold": pl.String, "home": pl.String})
    return Origins(backgrounds, emptied, frozenset(kept), pl.concat([none, *homes]))


def _read_manifest(file: Path) -> Manifest | None:
    """Return what the manifest beside a file says, if there is one: only then what reads it is imported."""
    if not manifest_beside(file).is_file():
        return None
    from remix.remixes.manifest import read_manifest

    return read_manifest(file)


def _tell_changed(name: str, found: Manifest, loaded: Mapping[str, str]) -> None:
    """Say that a remix was cut out of datasets that are others now, where they are loaded."""
    if changed := sorted(one for one, content in found.contents.items() if loaded.get(one, content) != content):
        progress.note(
            f"{name} was cut out of {', '.join(changed)} before that was loaded with other content: it is scored as it "
            "was cut then, in documents with a kept mention; `remix build` cuts it anew"
        )


def _lacking(name: str, found: Manifest, loaded: Mapping[str, str]) -> str:
    missing = sorted(one for one, content in found.contents.items() if loaded.get(one) != content)
    if missing:
        return (
            f"{name} was cut out of {', '.join(missing)}, which the workspace does not hold as it was: load it to "
            "count answers in all documents, or those with a kept mention by `remix evaluate --documents kept`"
        )
    return (
        f"the manifest of {name} does not tell which documents it emptied: build it again, or count answers in those "
        "with a kept mention by `remix evaluate --documents kept`"
    )


def _find_loaded(store: Store, gold: Frames, found: Manifest, kb: KnowledgeBase | None) -> Background | None:
    """Return the background of a remix whose origins are loaded, None where a document is not found there.

    What its query reads may be among all that is loaded, and not the origins alone: percentiles, and the union of D.
    """
    from remix.measures.enrichment import named_frames
    from remix.remixes.computed import reads_comparisons

    together = _fields_of(found).get("reference") == "union" or reads_comparisons(found.query)
    origin = named_frames(store, None if together else sorted(found.contents))
    places = _places(gold, origin, found.kept)
    queries = {gold.documents["dataset"][0]: found.query}
    return Background(origin, places, kb, queries) if len(places) == gold.documents.height else None


def _empty(origin: Frames, name: str, documents: Sequence[str]) -> tuple[Frames, pl.DataFrame]:
    """Return documents of the origin as those of a remix, with their gold dropped, and their places."""
    frames = origin.keep(documents=pl.Series(documents, dtype=pl.String))
    own = f"{dataset_iri(name)}/emptied/"
    named = {"dataset": pl.lit(name), "document": pl.lit(own) + pl.col("document")}
    ids = {column: pl.lit(own) + pl.col(column) for column in ("annotation", "group", "option")}
    ignorable = pl.coalesce("ignorable", pl.lit("dropped"))
    places = frames.documents.select("document", gold=named["document"]).select("gold", "document")
    return Frames.of(
        documents=frames.documents.with_columns(**named),
        annotations=frames.annotations.with_columns(**ids, ignorable=ignorable, **named),
        links=frames.links.with_columns(annotation=ids["annotation"]),
        regions=frames.regions.with_columns(document=named["document"]),
    ), places


def _places(gold: Frames, origin: Frames, kept: Iterable[str]) -> pl.DataFrame:
    """Return which document of the origin each of a remix is: by its IRI in the store, else by the one given.

    Of several that were given one IRI those of the same text are meant, the first the first.
    """
    known = origin.documents.filter(pl.col("dataset").is_in(list(kept))).sort("dataset", "document")
    rows = gold.documents.select("given", "text", gold="document")
    scoped = rows.join(known.select("document", given="document"), on="given", coalesce=False)
    nth = pl.int_range(pl.len()).over("given", "text").alias("nth")
    mine = rows.join(scoped, on="gold", how="anti").drop_nulls("given").with_columns(nth)
    theirs = known.select("given", "text", "document").with_columns(nth)
    parts = [scoped.select("gold", "document")]
    for keys in (["given", "text", "nth"], ["given", "text"], ["given"]):
        pairs = mine.join(theirs, on=keys, nulls_equal=True, maintain_order="left_right")
        parts.append(pairs.select("gold", "document"))
    return pl.concat(parts).unique("gold", keep="first", maintain_order=True)


def _fields_of(found: Manifest) -> Mapping[str, str]:
    """Return how the origins of a remix were measured, as their signature tells."""
    return Signature.parse(found.enrichment).fields if found.enrichment.startswith("remix:") else {}


def knowledge_of(found: Manifest) -> str:
    """Return the knowledge base that the origins of a remix were measured by, as signatures name it; empty for none."""
    named = _fields_of(found).get("kb", "none")
    return "" if named == "none" else named


def _as_enriched(background: Background, found: Manifest) -> Background:
    """Return the background with the choices by which the origins were measured."""
    fields = _fields_of(found)
    known = re.search(r"@[0-9a-f]{12}(?:-(.*?))?(\+gold)?(?:\+case)?$", fields.get("kb", ""))
    kb = background.kb
    if kb is not None and known:
        kb = kb.without_sources(re.split(r"-(?=\w+:)", known[1])) if known[1] else kb
        kb = kb.keeping_gold() if known[2] else kb
    reference = "union" if fields.get("reference") == "union" else "dataset"
    case = fields.get("case") == "kept"
    return replace(background, kb=kb, reference=reference, case_sensitive=case, knowledge=knowledge_of(found))


def is_gold(gold: Frames, answers: Frames) -> bool:
    """Return whether the answers, under the documents of gold, are gold's mentions there with their links, no more."""
    own = gold.keep(documents=answers.documents["document"])
    size = own.annotations.height
    if not size or size != answers.annotations.height:
        return False
    return _list_mentions(own).equals(_list_mentions(answers))


def tell_like_gold(name: str, equal: int, every: int) -> None:
    """Say of a run whose answers to gold are gold's mentions, and which has others, that it may be gold itself."""
    progress.note(
        f"run '{name}': {every - equal} of its {every} answers are to documents that gold has not, and those to gold's "
        f"documents ({equal}) are gold's mentions with their links: check that they are a system's, and not gold itself"
    )


def _list_mentions(frames: Frames) -> pl.DataFrame:
    """Return the mentions of all layers with their links, in order."""
    links = frames.links.group_by("annotation").agg(pl.col("entity").sort())
    rows = frames.annotations.join(links, on="annotation", how="left")
    rows = rows.select("document", "begin", "end", pl.col("entity").list.join(" "), "is_nil", "confidence")
    return rows.sort(pl.all())
