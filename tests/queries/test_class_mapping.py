"""The mapping of classes of many vocabularies to persons, organisations and places."""

from __future__ import annotations

import polars as pl
import pytest

from remix.names import DBO, EL, MNT
from remix.resources import folder

COARSE = {f"{DBO}Person", f"{DBO}Organisation", f"{DBO}Place"}


@pytest.fixture(scope="module")
def mapping() -> pl.DataFrame:
    return pl.read_csv(folder("ontology") / "class_mapping.tsv", separator="\t")


def test_mapping_brings_every_class_to_one_coarse_class(mapping: pl.DataFrame) -> None:
    assert mapping.columns == ["class", "coarse"]
    assert set(mapping["coarse"]) == COARSE
    assert mapping["class"].is_unique().all()


def test_mapping_never_maps_a_coarse_class_or_a_category_of_mentions(mapping: pl.DataFrame) -> None:
    assert not set(mapping["class"]) & COARSE
    assert not mapping["class"].str.starts_with(EL).any()


@pytest.mark.parametrize(
    ("iri", "coarse"),
    [
        ("http://www.wikidata.org/entity/Q5", "Person"),
        ("http://www.wikidata.org/entity/Q215627", "Person"),
        ("http://www.wikidata.org/entity/Q43229", "Organisation"),
        ("http://www.wikidata.org/entity/Q27096213", "Place"),
        (f"{MNT}Person", "Person"),
        ("http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#Organization", "Organisation"),
        ("http://xmlns.com/foaf/0.1/Person", "Person"),
        ("https://schema.org/City", "Place"),
        (f"{DBO}Scientist", "Person"),
        (f"{DBO}Band", "Organisation"),
        (f"{DBO}River", "Place"),
    ],
)
def test_mapping_knows_a_class_of_each_vocabulary(mapping: pl.DataFrame, iri: str, coarse: str) -> None:
    assert mapping.filter(pl.col("class") == iri)["coarse"].to_list() == [DBO + coarse]


def test_mapping_covers_the_coarse_types_that_real_data_uses(mapping: pl.DataFrame, real_data: object) -> None:
    types = pl.read_csv(
        f"{real_data}/elevant/whitelist_types.tsv", separator="\t", has_header=False, new_columns=["id", "name"]
    )
    wanted = types.filter(pl.col("name").is_in(["Person", "Organization", "Geographic Entity"]))["id"]
    assert {f"http://www.wikidata.org/entity/{one}" for one in wanted} <= set(mapping["class"])
