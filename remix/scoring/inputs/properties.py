"""Columns to slice by that are asked of the data: properties of documents, and what a training set has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import UnknownName
from remix.expressions import fill
from remix.frames import Frames
from remix.measures.columns import SEEN, columns_of_data
from remix.names import HFTS, NIF, PREFIXES, RDF, RMX, shorten
from remix.rdf.terms import iri, literal
from remix.scoring.inputs.columns import is_of_errors
from remix.scoring.inputs.evidence import CUT

if TYPE_CHECKING:
    from remix.store import Store

_STRUCTURE = (f"{RDF}type", f"{NIF}isString", f"{NIF}beginIndex", f"{NIF}endIndex", f"{RMX}givenIri")
"""What is said of every text to make it one."""

_INTEGER = "-?(0|[1-9][0-9]{0,14})"
"""An integer of which a float has every digit."""


def full_iri(name: str) -> str:
    """Return the IRI of a property's name, nothing for a name that is neither an IRI nor has a known prefix.

    >>> full_iri("dcterms:subject"), full_iri("<urn:x:topic>"), full_iri("topic")
    ('http://purl.org/dc/terms/subject', 'urn:x:topic', '')
    """
    if name.startswith("<") and name.endswith(">"):
        return name[1:-1]
    prefix, colon, local = name.partition(":")
    return name if "://" in name else PREFIXES[prefix] + local if colon and prefix in PREFIXES else ""


def properties_of(
    gold: Frames, names: Sequence[str], places: Sequence[Path | str], store: Store | None = None
) -> pl.DataFrame | None:
    """Return document and a column for each name that is a property of gold's documents; None without any.

    A property is named by its IRI, with a well-known prefix (`dcterms:subject`), or by its local name alone where
    only one has it. A document with several values has a row for each; a property all of whose values are numbers has
    numbers, whole ones where all are. `places` are datasets of the store and files of NIF; other files say nothing of
    their texts.

    Raises `UnknownName` for an IRI or prefixed name that no document has, and for a local name that several have.
    """
    if not names:
        return None
    from remix.measures import MEASURES

    known = columns_of_data(gold) | {one.name for measure in MEASURES for one in measure.columns}
    asked = [name for name in dict.fromkeys(names) if name not in known and not is_of_errors(name)]
    if not asked:
        return None
    rows = pl.concat([_read_values(store, place, gold.documents) for place in places]).unique(maintain_order=True)
    local = pl.col("predicate").str.extract(r"([^/#:]+)$")
    found: pl.DataFrame | None = None
    for name in asked:
        full = full_iri(name)
        own = rows.filter(pl.col("predicate") == full if full else local == name)
        if own["predicate"].n_unique() == 1:
            column = own.select("document", _numbers(own["value"]).alias(name))
            found = column if found is None else found.join(column, on="document", how="full", coalesce=True)
        elif full or own.height:
            like = own if own.height else rows
            raise UnknownName("property of documents", name, map(shorten, like["predicate"].unique()))
    return found


def _numbers(values: pl.Series) -> pl.Series:
    """Return numbers where all texts are some that stay what they are: no codes such as 007, no long identifiers.

    >>> [_numbers(pl.Series(texts)).to_list() for texts in (["2019", "-1"], ["1", "2.5e1"], ["0042", "42"])]
    [[2019, -1], [1.0, 25.0], ['0042', '42']]
    """
    if values.str.contains(f"^{_INTEGER}$").all():
        return values.cast(pl.Int64)
    if values.str.contains(rf"^{_INTEGER}(\.[0-9]+)?([eE][-+]?[0-9]+)?$").all():
        numbers = values.cast(pl.Float64)
        return numbers if numbers.is_finite().all() else values
    return values


def _read_values(store: Store | None, place: Path | str, documents: pl.DataFrame) -> pl.DataFrame:
    """Return document, predicate and value: what a dataset of the store, or a file of NIF, says of gold's documents."""
    loaded = {} if store is None else {entry.name: entry.iri for entry in store.datasets()}
    if store is not None and str(place) in loaded:
        dataset = loaded[str(place)]
        query = f"""SELECT ?document ?predicate ?value WHERE {{
          GRAPH <{dataset}> {{ <{dataset}> <{HFTS}referenceDocuments> ?document . ?document ?predicate ?value }}
          FILTER(?predicate != <{NIF}isString>)
        }}"""
        rows = store.index().frame(query).with_columns(iri(pl.col("document")))
    else:
        rows = _of_file(place, documents)
    value = pl.coalesce(iri(pl.col("value")), literal(pl.col("value")))
    rows = rows.select("document", iri(pl.col("predicate")).alias("predicate"), value=value).drop_nulls()
    return rows.filter(~pl.col("predicate").is_in(_STRUCTURE))


def _of_file(place: Path | str, documents: pl.DataFrame) -> pl.DataFrame:
    from remix.formats import FORMATS, SourceFile
    from remix.formats.nif.parsing import parse
    from remix.formats.repairs import RepairTally
    from remix.formats.source import begin_of

    source = SourceFile(place)
    nothing = pl.DataFrame(schema=dict.fromkeys(("document", "predicate", "value"), pl.String))
    if source.is_stdin or source.is_collection or not FORMATS["nif"].sniff(begin_of(source.head), Path(place).name):
        return nothing
    triples = parse(source, RepairTally()).with_columns(pl.col("predicate").cast(pl.String))
    given = documents.select("document", subject=fill("<{}>", "given"))
    rows = triples.join(given, on="subject", maintain_order="left")
    return rows.select("document", "predicate", value="object")


def compare_to_training(training: Frames, gold: Frames) -> pl.DataFrame:
    """Return annotation, `seenForm`, `seenEntity` and `seenPair` of gold's annotations.

    A form is seen where the training set has an annotation of it, whatever its case and white space; an entity where
    one links to it, under any form; a pair where one form is linked to it. Of several acceptable links one is enough.
    Entity and pair are null for NIL. Ignorable annotations of the training set count, since a system saw them.
    """
    known, asked = _pairs(training), _pairs(gold)
    pairs = known.select("form", "entity", seenPair=pl.lit(True)).drop_nulls().unique()
    found = asked.join(pairs, on=["form", "entity"], how="left", maintain_order="left").with_columns(
        seenForm=pl.col("form").is_in(known["form"].drop_nulls().unique().implode()),
        seenEntity=pl.col("entity").is_in(known["entity"].drop_nulls().unique().implode()),
        seenPair=pl.when(pl.col("entity").is_not_null()).then(pl.col("seenPair").fill_null(False)),
    )
    # One link that says so is enough; null is what none says anything of.
    seen = [pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).any()).alias(name) for name in SEEN]
    return found.group_by("annotation", maintain_order=True).agg(seen)


def with_seen(columns: pl.DataFrame | None, training: Frames, gold: Frames) -> pl.DataFrame:
    """Return the columns of annotations to slice by, if there are any, with those of `compare_to_training` added."""
    found = compare_to_training(training, gold)
    if not found["seenForm"].any() and not found["seenEntity"].any():
        progress.note("no form and no entity of gold is in the training set: does it link to another knowledge base?")
    if columns is None:
        return found
    # Either may lack annotations that the other has: what was learnt of some, what a run gets wrong.
    return columns.join(found, on="annotation", how="full", coalesce=True, maintain_order="left_right")


def _pairs(frames: Frames) -> pl.DataFrame:
    """Return annotation, form and entity; forms that a format has not are cut out of the texts."""
    from remix.kb.forms import normalise

    texts = frames.documents.select("document", "text")
    rows = frames.annotations.join(texts, on="document", how="left", maintain_order="left")
    rows = rows.select("annotation", form=normalise(pl.coalesce("surface_form", CUT)))
    return rows.join(frames.links.select("annotation", "entity"), on="annotation", how="left", maintain_order="left")
