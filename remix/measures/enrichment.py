"""Enrichment: the measures of a workspace's datasets as RDF beside the data, those of a folder of frames as Parquet.

DIR/measures/manifest.json                       signature, measures, and which need what is not there
DIR/measures/datasets.parquet                    the averages
DIR/measures/annotations/part-00000.parquet, documents/…, classes/…      a part for each part of the frames
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from remix.errors import Error, StoreError
from remix.expressions import fill
from remix.files import write_whole
from remix.frames import Frames, read_parquet, write_parquet
from remix.frames_folder import FramesFolder, part_name
from remix.kb import KnowledgeBase, attached_kb
from remix.measures._parts import compute_parts
from remix.measures.classes import other_spellings
from remix.measures.measured import Measured, columns_of
from remix.measures.measurement import MEASURES, Comparing, MeasureChoice, choice_of, measure_frames
from remix.names import ITSRDF, RMX
from remix.places import discard, folder_written, move_folder, verify
from remix.progress import stage
from remix.rdf.terms import entity_term, iri_term, text_term
from remix.signature import Signature, content_hash
from remix.store import DatasetEntry, Store, in_one_state
from remix.store.state import CLASSES

_LEVELS = ("annotations", "documents", "classes")


@in_one_state
def enrich(store: Store, kb: KnowledgeBase | None, **choices: Unpack[Comparing]) -> pl.DataFrame:
    """Return dataset, status, annotations, triples and signature after enriching every dataset of the store.

    `choices` are those of `remix.measures.compute`, but for the measures, which are all.
    All are measured together, since percentiles compare them: a new dataset changes those of the others. Where
    nothing has changed, nothing is written and the status is 'unchanged'. Raises `StoreError` for an empty store.
    """
    before = {entry.name: entry for entry in store.datasets()}
    if not before:
        raise StoreError("nothing is loaded: `remix load FILE` first")
    chosen = choice_of(kb, **choices)
    signature = _signature_of_store(before, chosen)
    if any(entry.enrichment != signature or CLASSES not in entry.attached for entry in before.values()):
        with stage("measures"):
            measured = measure_frames(named_frames(store), chosen)
        with stage("triples"):
            graphs = {
                name: measured.triples(name, entry.iri) + entity_lines(store.frames([name]), chosen.kb)
                for name, entry in before.items()
            }
        spelt = {name: _spellings(store.frames([name]), measured, entry) for name, entry in before.items()}
        made = {name: {"enrichment": (graphs[name], signature), CLASSES: (spelt[name], signature)} for name in before}
        store.attach(made)
        _keep(store, measured, signature)
    entries = store.datasets()
    return pl.DataFrame(
        {
            "dataset": [entry.name for entry in entries],
            "status": ["unchanged" if before[one.name].enrichment == signature else "enriched" for one in entries],
            "annotations": [entry.annotations for entry in entries],
            "triples": [entry.enrichment_triples for entry in entries],
            "signature": signature,
        }
    )


def measured_otherwise(store: Store, kb: KnowledgeBase | None) -> list[str]:
    """Return the datasets whose measures `enrich` computed by another knowledge base than this one."""
    own = "none" if kb is None else f"{kb.name}@{kb.version[:12]}"
    found = []
    for entry in store.datasets():
        if (entry.enrichment or "").startswith("remix:"):
            known = Signature.parse(str(entry.enrichment)).fields.get("kb", "none")
            if not known.startswith(own):
                found.append(entry.name)
    return found


def measured_among_others(store: Store) -> list[str]:
    """Return the datasets whose percentiles are among other datasets than those that are loaded now."""
    entries = store.datasets()
    made = {entry.name: entry.enrichment or "" for entry in entries}
    now = _hash_contents({entry.name: entry for entry in entries})
    known = {name: Signature.parse(one).fields for name, one in made.items() if one.startswith("remix:")}
    return [name for name, fields in known.items() if fields.get("datasets") != now]


def measure_store(store: Store, kb: KnowledgeBase | None) -> Measured:
    """Return the measures of all datasets of a store by the default choices, as `remix stats` has them.

    They are read where `enrich` computed the same and it is as it was written; else they are computed, and kept in the
    workspace's cache for the next time if that can be written. Raises `StoreError` for an empty store.
    """
    chosen = choice_of(kb)
    signature = _signature_of_store({entry.name: entry for entry in store.datasets()}, chosen)
    with suppress(StoreError):
        place = _place(store, signature)
        verify(place)
        found = {name: read_parquet(place / f"{name}.parquet") for name in (*_LEVELS, "datasets")}
        return Measured(**found, measures=chosen.measures, skipped=chosen.skipped, signature=chosen.signature)
    measured = measure_frames(named_frames(store), chosen)
    _keep(store, measured, signature)
    return measured


def measures_of(store: Store) -> Measured:
    """Return the measures of all loaded datasets, read or computed once for each state of the workspace.

    They are those of `remix stats` without options. Raises `StoreError` for a workspace without datasets.
    """
    return store.cached("measures", lambda: measure_store(store, attached_kb(store)))


def stated_measures(store: Store) -> Measured | None:
    """Return the measures that the graphs beside all datasets state, None where these have to be read for it.

    That is where one `enrich` made all graphs, by the choices of `measures_of`, and what it computed is kept.
    """
    entries = {entry.name: entry for entry in store.datasets()}
    signature = _signature_of_store(entries, choice_of(attached_kb(store)))
    made = {entry.enrichment for entry in entries.values()}
    return measures_of(store) if made == {signature} and _place(store, signature).is_dir() else None


def _spellings(frames: Frames, measured: Measured, entry: DatasetEntry) -> bytes:
    """Return the classes of annotations in their other spellings as N-Triples, sorted.

    Queries of others say `schema:Organization` or `dbo:Organization` where the data says `dbo:Organisation`. These are
    in a graph of their own, as they are no classes besides, which nothing counts.
    """
    added = measured.classes.filter(pl.col("dataset").is_in([entry.name, entry.iri]))
    gold = frames.annotations.filter(pl.col("ignorable").is_null()).select("annotation")
    given = frames.classes.filter(~pl.col("of_entity"))
    rows = pl.concat([one.select("annotation", "class") for one in (given, added)])
    said = other_spellings(rows).join(gold, on="annotation", how="semi", maintain_order="left")
    line = fill(f"{{}} <{ITSRDF}taClassRef> {{}} .\n", iri_term(pl.col("annotation")), iri_term(pl.col("class")))
    return "".join(said.select(line=line)["line"]).encode()


def _signature_of_store(entries: Mapping[str, DatasetEntry], chosen: MeasureChoice) -> str:
    return str(Signature({**chosen.signature.fields, "datasets": _hash_contents(entries)}))


def _hash_contents(entries: Mapping[str, DatasetEntry]) -> str:
    return content_hash(*(f"{name}:{entry.content}\n" for name, entry in sorted(entries.items())))[:12]


def signature_of_store(store: Store, kb: KnowledgeBase | None) -> Mapping[str, str]:
    """Return the fields of the signature that measures of all loaded datasets have now, by the choices of defaults."""
    entries = {entry.name: entry for entry in store.datasets()}
    return Signature.parse(_signature_of_store(entries, choice_of(kb))).fields


def _place(store: Store, signature: str) -> Path:
    """Return where measures are kept; it is another place where there are other columns."""
    columns = ",".join(column.name for column in columns_of(MEASURES))
    return store.own("cache") / "measures" / content_hash(signature, columns)[:12]


def _keep(store: Store, measured: Measured, signature: str) -> None:
    """Write measures into the workspace's cache in the place of those that were there, if it can be written."""
    place = _place(store, signature)
    with suppress(Error), folder_written(place) as folder:
        for name in (*_LEVELS, "datasets"):
            write_parquet(getattr(measured, name), folder / f"{name}.parquet")
    for other in place.parent.glob("[0-9a-f]*"):
        if other != place:
            discard(other)


def entity_lines(frames: Frames, kb: KnowledgeBase | None) -> bytes:
    """Return what the links of annotations stand for as N-Triples, sorted: `rmx:entity` and `rmx:entityLabel`.

    That is the entity in canonical form, redirects and sameAs links of the knowledge base followed, and its label
    there. Both are said of the annotation: several datasets would say them of an entity, and a union would count them
    as often.
    """
    entities = frames.links["entity"].drop_nulls().unique().sort()
    known = pl.DataFrame({"entity": entities, "meant": entities if kb is None else kb.resolve(entities)})
    labels = pl.DataFrame(schema={"meant": pl.String, "label": pl.String})
    if kb is not None:
        found = kb.rows("entities", "entity", known["meant"], ["entity", "label"])
        labels = found.select(meant="entity", label="label").drop_nulls().unique("meant", keep="first")
    rows = frames.links.join(known, on="entity").join(labels, on="meant", how="left")
    objects = {"entity": entity_term(pl.col("meant")), "entityLabel": text_term(pl.col("label"))}
    lines = [
        rows.select(
            line=pl.concat_str(iri_term(pl.col("annotation")), pl.lit(f" <{RMX}{name}> "), said, pl.lit(" .\n"))
        )
        for name, said in objects.items()
    ]
    return "".join(pl.concat(lines)["line"].drop_nulls().unique().sort()).encode()


@in_one_state
def named_frames(store: Store, names: Iterable[str] | None = None) -> Frames:
    """Return the frames of these datasets, by default of all, with the datasets called by their names.

    Raises `UnknownName` for a dataset that is not loaded, `StoreError` where none is.
    """
    entries, names = store.datasets(), None if names is None else [*names]
    if not entries and not names:
        raise StoreError("nothing is loaded: `remix load FILE` first")
    frames = store.frames(names)
    name = pl.col("dataset").replace({entry.iri: entry.name for entry in entries})
    return replace(
        frames, documents=frames.documents.with_columns(name), annotations=frames.annotations.with_columns(name)
    )


def frames_of(store: Store, dataset: str | None = None) -> Frames:
    """Return the frames of one dataset or of all, called by their names, read once for each state of the workspace.

    Raises `UnknownName` for a dataset that is not loaded, `StoreError` where none is.
    """
    names = None if dataset is None else [dataset]
    return store.cached(("frames", dataset), lambda: named_frames(store, names))


def enrich_folder(folder: FramesFolder, kb: KnowledgeBase | None, **choices: Unpack[Comparing]) -> pl.DataFrame:
    """Return dataset, status, annotations, parts and signature after the measures were written beside the frames.

    Where nothing has changed, nothing is written and the status is 'unchanged'. `choices` are as in `enrich`.
    """
    chosen = choice_of(kb, **choices)
    inputs = json.dumps(folder.manifest.get("inputs", []), sort_keys=True)
    signature = str(Signature({**chosen.signature.fields, "inputs": content_hash(inputs)[:12]}))
    target = folder.path / "measures"
    status = "unchanged"
    if _read_signature(target) != signature:
        status = "enriched"
        try:
            _write(folder, chosen, target, signature)
        except OSError as error:
            raise Error(f"{target} cannot be written: {error.strerror or error}") from error
    row = (folder.name, status, int(folder.manifest.get("annotations", 0)), folder.parts, signature)
    return pl.DataFrame([row], schema=["dataset", "status", "annotations", "parts", "signature"], orient="row")


def _read_signature(target: Path) -> str:
    """Return the signature of the measures that are there, empty where there are none, or they are damaged."""
    try:
        return str(json.loads((target / "manifest.json").read_text(encoding="utf-8"))["signature"])
    except (OSError, ValueError, KeyError):
        return ""


def _write(folder: FramesFolder, chosen: MeasureChoice, target: Path, signature: str) -> None:
    place = folder.path / ".measures.partial"
    shutil.rmtree(place, ignore_errors=True)
    for level in _LEVELS:
        (place / level).mkdir(parents=True)

    def take(measured: Measured, numbers: range) -> None:
        """Write the measures of a batch of parts, a file a part and level."""
        homes = _homes(folder, numbers)
        for level in _LEVELS:
            rows: pl.DataFrame = getattr(measured, level)
            if level == "classes":
                rows = rows.join(measured.annotations.select("annotation", "document"), on="annotation")
            parts = rows.join(homes, on="document", maintain_order="left")
            for (number,), part in parts.partition_by(":part", as_dict=True, include_key=False).items():
                write_parquet(part.select(getattr(measured, level).columns), place / level / part_name(int(number)))

    measured = compute_parts(folder, chosen, take=take)
    write_parquet(measured.datasets, place / "datasets.parquet")
    about = {"signature": signature, "measures": [m.name for m in measured.measures], "skipped": measured.skipped}
    with write_whole(place / "manifest.json") as stream:
        stream.write(json.dumps(about, indent=1).encode())
    move_folder(place, target)


def _homes(folder: FramesFolder, numbers: Iterable[int]) -> pl.DataFrame:
    """Return document and the part that it is in, also of documents whose text is not there."""
    found = []
    for number in numbers:
        part = folder.part(number)
        every = pl.concat([part.documents["document"], part.annotations["document"]]).unique()
        found.append(pl.DataFrame({"document": every, ":part": [number] * len(every)}))
    return pl.concat(found)


def measures_of_part(folder: FramesFolder, number: int, column: str, *, of_documents: bool = False) -> pl.DataFrame:
    """Return annotation and the value of a column, its own or its document's, of one part.

    Raises `StoreError` where it is not enriched.
    """
    places = [folder.path / "measures" / level / part_name(number) for level in ("annotations", "documents")]
    file = places[0]
    if not (folder.path / "measures" / "manifest.json").exists():
        raise StoreError(f"{folder.path} has no measures yet: `remix enrich {folder.path}` computes them")
    if not file.exists():
        return pl.DataFrame(schema={"annotation": pl.String, column: pl.Float64})
    if not of_documents:
        return read_parquet(file).select("annotation", column)
    values = read_parquet(places[1]).select("document", column)
    rows = read_parquet(file).select("annotation", "document")
    return rows.join(values, on="document", how="left", maintain_order="left").select("annotation", column)
