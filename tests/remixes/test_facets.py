"""Conditions on columns: counted on frames they leave what `remix build` of their SPARQL has."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import UnknownName
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.remixes import build
from remix.remixes.facets import Condition, compose, corpus_of, list_facets
from remix.store import Store
from remix.store.queries import Query
from tests.workspaces import load_texts

FACETS = list_facets()
PERSON = "http://dbpedia.org/ontology/Person"
CONDITIONS = {
    "nothing asked": [],
    "two bounds": [Condition(FACETS["ambiguitySurfaceForm"], low=2, high=80)],
    "a bound that is a fraction": [Condition(FACETS["pagerank"], low=1e-6)],
    "any value": [Condition(FACETS["pagerank"])],
    "a bound, or no value": [Condition(FACETS["pagerank"], low=1e-4, missing=True)],
    "a list": [Condition(FACETS["pagerankSegment"], among=("head", "torso"))],
    "a list, or no value": [Condition(FACETS["nil"], among=("explicit",), missing=True)],
    "no value": [Condition(FACETS["nil"], missing=True)],
    "true": [Condition(FACETS["isRare"], among=("true",))],
    "several classes of one annotation": [Condition(FACETS["class"], among=(PERSON,))],
    "a type": [Condition(FACETS["type"], among=("Person", "Place"))],
    "a type, or none": [Condition(FACETS["type"], among=("Person",), missing=True)],
    "no type": [Condition(FACETS["type"], missing=True)],
    "of documents": [Condition(FACETS["document.numAnnotations"], low=4, high=9)],
    "language": [Condition(FACETS["language"], among=("en",), missing=True)],
    "one after another": [
        Condition(FACETS["class"], among=(PERSON,)),
        Condition(FACETS["ambiguitySurfaceForm"], high=100, missing=True),
    ],
}


@pytest.mark.parametrize("conditions", CONDITIONS.values(), ids=CONDITIONS)
def test_count_on_frames_is_that_of_the_query_that_stands_for_it(
    small_store: Store, conditions: list[Condition]
) -> None:
    corpus = corpus_of(small_store)
    found, asked = corpus.count(conditions), corpus.count_query(Query.parse(compose(conditions)), {})
    assert found.left.row(-1) == asked.left.row(-1) and found.left["mentions"].is_sorted(descending=True)
    assert found.datasets.equals(asked.datasets)
    for one in (found, asked):  # behind each row are the annotations that it counts
        mentions = [corpus.gold.filter(pl.col("annotation").is_in(rows.implode())) for rows in one.annotations]
        assert [rows["mention"].n_unique() for rows in mentions] == one.left["mentions"].to_list()
    assert {*found.annotations[-1]} == {*asked.annotations[-1]}


@pytest.mark.parametrize("dataset", [(), ("posts",)])
def test_last_row_of_the_waterfall_is_what_build_keeps(small_store: Store, dataset: tuple[str, ...]) -> None:
    """Persons of the two datasets: Anna, Michael, David, Alice and more of news; those of posts alone without these."""
    conditions = CONDITIONS["one after another"] if not dataset else CONDITIONS["true"]
    found = corpus_of(small_store).count(conditions, dataset=dataset)
    made = build(small_store, Query.parse(compose(conditions), "composed"), dataset=dataset)
    kept = made.counts.row(-1, named=True)
    assert found.left.row(-1)[1:3] == (kept["kept_documents"], kept["kept"]) and kept["kept"] > 0
    counted = found.datasets.drop("elsewhere")
    assert counted.equals(made.counts.head(-1).select(counted.columns))


def test_waterfall_counts_documents_mentions_and_entities(small_store: Store) -> None:
    """16 mentions in 5 of 6 documents; one is NIL, so 15 entities; rare are 8 of 3 documents, of 8 entities."""
    rows = corpus_of(small_store).count([Condition(FACETS["isRare"], among=("true",))]).left.rows()
    assert rows == [
        ("everything loaded", 6, 16, 15, None),
        ("annotations of texts", 5, 16, 15, None),
        ("isRare: true", 3, 8, 8, 15),
        ("one edition of each text", 3, 8, 8, None),
    ]


@pytest.mark.long
def test_texts_of_which_another_dataset_has_the_edition_are_told(tmp_path: Path) -> None:
    """Of the two texts of b the first is in a as well, which comes first by name; where b is chosen first, in b."""
    store = Store(tmp_path / "store")
    load_texts(store, tmp_path, {"a": ["One Ada."], "b": ["One Ada.", "Two Ada."]})
    for chosen, told in (([], ["", "1 in a"]), (["b", "a"], ["1 in b", ""])):
        found = corpus_of(store).count([], dataset=chosen)
        assert found.datasets["elsewhere"].to_list() == told and found.left["mentions"][-1] == 2


def test_composed_query_declares_its_bounds_as_parameters() -> None:
    query = Query.parse(compose([Condition(FACETS["pagerank"], low=1.5e-6, high=3)], note="Composed."))
    assert {name: one.default for name, one in query.parameters.items()} == {
        "min_pagerank": "1.5e-06",
        "max_pagerank": "3",
    }
    assert "PageRank of the entity" in query.parameters["min_pagerank"].description
    assert query.summary == "Annotations with pagerank: ≥ 1.5e-06, ≤ 3" and query.description == "Composed."


def test_values_and_datasets_that_there_are_not_are_refused(small_store: Store) -> None:
    with pytest.raises(UnknownName, match="no dataset named 'new'; did you mean 'news'"):
        corpus_of(small_store).count([], dataset=["new"])


def test_values_of_a_corpus_are_not_taken_for_those_of_the_next(small_store: Store, tmp_path: Path) -> None:
    """A page that began before the text came has the corpus without it, and asks for its values afterwards."""
    store = Store(Path(shutil.copytree(small_store.folder, tmp_path / "store")))
    before = corpus_of(store)
    text = pl.DataFrame({"document": ["urn:late"], "text": ["Spät"], "language": ["de"]})
    mention = pl.DataFrame({"annotation": ["urn:a"], "document": ["urn:late"], "begin": [0], "end": [4]})
    write_frames(Frames.of(documents=text, annotations=mention), file := tmp_path / "late.nt")
    store.load(file)
    assert "de" not in before.values(FACETS["language"])["value"].to_list()
    assert "de" in corpus_of(store).values(FACETS["language"])["value"].to_list()


def test_measures_take_less_memory_than_their_text(small_store: Store) -> None:
    """Each triple has three codes of 4 bytes; what they stand for is kept once, and so are repeated values."""
    entries = small_store.datasets()
    text = sum(len(small_store.triples(file)) for entry in entries for file in entry.value_files())
    read = corpus_of(small_store).read
    spelt = sum(one.cast(pl.String).unique().str.len_bytes().sum() for one in read)
    assert read.estimated_size() == 12 * read.height < text
    assert spelt < text / 2


@pytest.mark.long
def test_values_of_kept_measures_are_those_that_the_graphs_state(sample_store: Store, tmp_path: Path) -> None:
    """Where what `enrich` computed is not kept any more, and where other texts came since, the graphs are read."""
    kept = corpus_of(sample_store)
    assert kept.measured is not None and not kept.read.height
    store = Store(Path(shutil.copytree(sample_store.folder, tmp_path / "store")))
    shutil.rmtree(store.own("cache") / "measures")
    read = corpus_of(store)
    assert read.measured is None and {*read.facets} == {*kept.facets} > {"pagerank", "type", "document.density"}
    for facet in kept.facets.values():
        assert_frame_equal(kept.values(facet), read.values(facet), check_row_order=False)
    load_texts(store, tmp_path, {"later": ["One Ada."]})
    later = corpus_of(store)
    assert later.measured is None
    assert_frame_equal(kept.values(FACETS["pagerank"]), later.values(FACETS["pagerank"]), check_row_order=False)
