"""The corpus and the knowledge base that ship with the project have what they promise."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import compute
from remix.resources import folder

CHECKOUT = Path(__file__).resolve().parent.parent
DATASETS = ("sample-news", "sample-biographies", "sample-posts")


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    """The script that makes the corpus, as a module."""
    spec = importlib.util.spec_from_file_location("corpus_script", CHECKOUT / "scripts" / "corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def frames() -> Frames:
    from remix import formats

    files = [folder("datasets") / "corpus" / f"{name}.ttl" for name in DATASETS]
    readings = [formats.read(file) for file in files]
    assert [reading.report.repairs for reading in readings] == [(), (), ()]
    return Frames.concat(reading.frames for reading in readings)


@pytest.fixture(scope="module")
def table() -> dict[str, pl.DataFrame]:
    tables = sorted((folder("datasets") / "kb").glob("*.tsv"))
    return {file.stem: pl.read_csv(file, separator="\t", quote_char=None) for file in tables}


@pytest.fixture(scope="module")
def linked(frames: Frames, table: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """A row per link: surface form, entity as `dbr:`, its types."""
    types = table["types"].group_by("entity_iri").agg(types="type_iri")
    short = pl.col("entity").str.replace("http://dbpedia.org/resource/", "dbr:", literal=True)
    links = frames.annotations.join(frames.links, on="annotation").select("surface_form", "document", entity=short)
    return links.join(types, left_on="entity", right_on="entity_iri", how="left")


def test_files_are_what_the_sources_make(corpus: ModuleType) -> None:
    assert corpus.main(["--check"]) == 0, "run: python scripts/corpus.py"


def test_corpus_has_the_size_it_promises(frames: Frames) -> None:
    assert frames.documents.height >= 60
    assert frames.annotations.height >= 600
    assert frames.documents["dataset"].n_unique() == 3


def test_kb_has_the_size_it_promises(table: dict[str, pl.DataFrame]) -> None:
    assert table["labels"]["entity_iri"].n_unique() >= 800
    assert table["surface_forms"]["surface_form"].n_unique() >= 2500
    assert table["links"].select("source_iri", "target_iri").unique().height >= 3000
    assert table["redirects"].height >= 100
    assert set(table["labels"]["entity_iri"]) == set(table["types"]["entity_iri"])


def test_kb_names_each_entity_and_page_once(table: dict[str, pl.DataFrame]) -> None:
    entities = set(table["labels"]["entity_iri"])
    assert len(entities) == table["labels"].height
    assert not entities & set(table["redirects"]["redirect_iri"])
    assert not entities & set(table["disambiguations"]["page_iri"])
    for name, column in [("links", "target_iri"), ("redirects", "target_iri"), ("disambiguations", "entity_iri")]:
        assert set(table[name][column]) <= entities


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("dbo:Person", 150),
        ("dbo:Organisation", 60),
        ("dbo:Place", 150),
        ("dbo:Work", 40),
        ("dbo:Event", 20),
        ("dbo:ChemicalSubstance", 8),
        ("dbo:Species", 3),
        ("dbo:Disease", 5),
    ],
)
def test_corpus_mentions_entities_of_many_kinds(kind: str, least: int, linked: pl.DataFrame) -> None:
    assert linked.filter(pl.col("types").list.contains(kind)).height >= least


def test_corpus_links_mostly_into_the_kb(linked: pl.DataFrame) -> None:
    assert linked["types"].is_not_null().mean() >= 0.85  # type: ignore[operator]


def named_alike(table: dict[str, pl.DataFrame], label: str, kind: str) -> set[str]:
    """The forms that two or more entities of the kind have, by their label's first or last word or the form itself."""
    word = {"first": r"^(\S+) ", "last": r" (\S+)$", "whole": r"^(.+)$"}[label]
    named = table["labels"].join(table["types"].filter(type_iri=kind), on="entity_iri")
    counted = (
        named.with_columns(form=pl.col("label").str.extract(word)).group_by("form").agg(pl.col("entity_iri").n_unique())
    )
    return set(counted.filter(pl.col("entity_iri") >= 2)["form"].drop_nulls())


@pytest.mark.parametrize(
    ("label", "kind", "least"),
    [("first", "dbo:Person", 20), ("last", "dbo:Person", 30), ("whole", "dbo:City", 12)],
    ids=["first names", "surnames", "cities of the same name"],
)
def test_corpus_mentions_by_names_that_several_share(
    label: str, kind: str, least: int, linked: pl.DataFrame, table: dict[str, pl.DataFrame]
) -> None:
    shared = named_alike(table, label, kind)
    assert linked.filter(pl.col("surface_form").is_in(shared)).height >= least


def test_corpus_has_the_phenomena_it_promises(corpus: ModuleType, frames: Frames) -> None:
    documents = [
        d for f in sorted((folder("datasets") / "corpus" / "source").glob("*.txt")) for d in corpus.documents(f)
    ]
    mentions = [mention for document in documents for mention in document.mentions]
    phenomena = Counter(mention.phenomenon for mention in mentions)
    nested = sum(
        inner is not outer and outer.begin <= inner.begin and inner.end <= outer.end and outer.titles != inner.titles
        for document in documents
        for inner in document.mentions
        for outer in document.mentions
    )
    assert phenomena["demonym"] >= 15
    assert phenomena["metonym"] >= 15
    assert nested >= 20
    assert sum(len(mention.titles) > 1 for mention in mentions) >= 3
    assert frames.annotations["is_nil"].sum() >= 20
    assert any(not document.mentions for document in documents)
    assert Counter(frames.documents["language"])["en"] >= 50
    assert frames.documents["language"].n_unique() >= 4


def test_demonyms_of_the_kb_are_those_that_the_corpus_marks(
    corpus: ModuleType, frames: Frames, sample_kb: KnowledgeBase
) -> None:
    marked = {
        (document.name, mention.begin, mention.end)
        for file in sorted((folder("datasets") / "corpus" / "source").glob("*.txt"))
        for document in corpus.documents(file)
        for mention in document.mentions
        if mention.phenomenon == "demonym"
    }
    places = frames.annotations.select("annotation", "document", "begin", "end")
    values = compute(frames, sample_kb, measures=["form"]).annotations.drop("document").join(places, on="annotation")
    name = pl.col("document").str.extract(r"([^/#]+)(?:#|$)")
    columns = values.filter("formDemonym").with_columns(name).join(frames.links, on="annotation", how="left")
    found = set(columns.select("document", "begin", "end").rows())
    assert marked <= found
    # Languages are called as the people are.
    keys = ["document", "begin", "end"]
    unmarked = columns.join(pl.DataFrame(sorted(marked), schema=keys, orient="row"), on=keys, how="anti")
    assert unmarked["entity"].str.ends_with("_language").all()
    assert not values.filter(pl.col("formDemonym") & pl.col("formMetonym")).height


def test_no_sentence_is_written_twice(frames: Frames) -> None:
    sentences = [
        s.strip() for text in frames.documents["text"] for s in re.split(r"(?<=[.!?])\s+", text) if len(s) > 20
    ]
    assert len(sentences) >= 300
    assert len(set(sentences)) == len(sentences)
    openings = Counter(" ".join(s.split()[:4]) for s in sentences)
    assert openings.most_common(1)[0][1] <= 5, "texts are written, not filled in"


def test_forms_have_one_to_many_candidates(frames: Frames, table: dict[str, pl.DataFrame]) -> None:
    entities = (
        table["surface_forms"]
        .group_by(form=pl.col("surface_form").str.to_lowercase())
        .agg(candidates=pl.col("entity_iri").n_unique())
    )
    counted = frames.annotations.select(form=pl.col("surface_form").str.to_lowercase()).join(
        entities, on="form", how="left"
    )
    many = counted["candidates"].fill_null(0)
    shares = {least: (many >= least).mean() for least in (1, 2, 3, 5)}
    assert shares[1] >= 0.80, shares  # type: ignore[operator]
    assert shares[2] >= 0.30, shares  # type: ignore[operator]
    assert shares[3] >= 0.12, shares  # type: ignore[operator]
    assert shares[5] >= 0.03, shares  # type: ignore[operator]
    assert (many == 1).mean() >= 0.2, shares  # type: ignore[operator]
