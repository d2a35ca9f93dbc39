"""Copies of a workspace that fixtures made once, and indexes without one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.names import PREFIXES
from remix.store import Store
from remix.store.index import Index
from remix.workspace import Workspace

RESOURCE, ITEM = "http://dbpedia.org/resource/Ada_Lovelace", "http://www.wikidata.org/entity/Q7259"
"""The one entity of `build_labelled`, and the item of Wikidata that stands for it."""


def index_of(graphs: Mapping[str, bytes]) -> Index:
    """Return an index of graphs that are on no disk: IRI to N-Triples."""
    store = ox.Store()
    for iri, triples in graphs.items():
        store.load(triples, ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(iri))
    return Index(None, store)


def copy_workspace(folder: Path, to: Path) -> Workspace:
    """Return a copy of a workspace that a test may change.

    The tables of an index are most of its bytes and never written again, so the copy has links to them.
    """
    shutil.copytree(folder, to, copy_function=_link_table)
    return Workspace(to)


def build_labelled(folder: Path) -> Workspace:
    """Return a workspace in a folder whose knowledge base has one entity, `RESOURCE`, with its label."""
    tables = {
        "surface_forms": f"surface_form\tentity_iri\tcount\tsource\nAda\t{RESOURCE}\t3\tx\n",
        "sameas": f"wikidata_iri\tdbpedia_iri\tcount\tsource\n{ITEM}\t{RESOURCE}\t1\tx\n",
        "labels": f"entity_iri\tlabel\tsource\n{RESOURCE}\tAda Lovelace\tx\n",
    }
    for name, text in tables.items():
        (folder / f"{name}.tsv").write_text(text)
    work = Workspace(folder / ".remix")
    work.build_kb([("tables", str(folder))], name="own")
    return work


def load_texts(store: Store, folder: Path, texts: Mapping[str, Sequence[str]], persons: Collection[str] = ()) -> None:
    """Load datasets by name, each of texts with a mention from 4 to 7 that links to `urn:e:Ada`.

    The n-th text has the same name in each file, so that it is a copy where it is the same. In the datasets `persons`
    Ada is called a person; files that are the same are one dataset.
    """
    for name, own in texts.items():
        documents = pl.DataFrame({"document": [f"urn:text:{nth}" for nth in range(len(own))], "text": own})
        mentions = documents.select(annotation=pl.col("document") + "#4", document="document", begin=4, end=7)
        links = mentions.select("annotation", entity=pl.lit("urn:e:Ada"))
        kinds = mentions.select("annotation", **{"class": pl.lit(f"{PREFIXES['dbo']}Person")}).filter(name in persons)
        frames = Frames.of(documents=documents, annotations=mentions, links=links, classes=kinds)
        write_frames(frames, file := folder / f"{name}.nt")
        store.load(file)


def _link_table(source: str, target: str) -> str:
    if source.endswith(".sst"):
        os.link(source, target)
        return target
    return shutil.copy2(source, target)
