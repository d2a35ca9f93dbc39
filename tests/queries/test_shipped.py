"""The shipped queries: each is complete, described, and selects what it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from rdflib.plugins.sparql import prepareQuery

from remix.errors import BadInput
from remix.formats import read
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import compute
from remix.measures.enrichment import enrich
from remix.names import NIF, RMX, XSD
from remix.store import Store
from remix.store.queries import find, shipped_queries
from remix.store.selection import select
from remix.store.tree import without_memory
from tests.workspaces import index_of

ALL = 16

# What each query selects of the fixture `small_store`, by the values in tests/remixes/small/*.measures.ttl.
EXPECTED = {
    "annotations_between": "Anna Michael David Alice Paris Mercury NASA Jordan Python Java Mr_Nobody "
    "python Thriller Rebecca Apple",
    "basic": "Anna Michael David Alice Paris Mercury NASA Jordan",
    "canonical_links": "Anna Michael David Paris Mercury NASA Jordan Python python Thriller Rebecca Apple",
    "confusion_entity_at_least": "Anna Michael Paris Mercury NASA Jordan Python Apple Lisbon",
    "confusion_entity_at_most": "David Alice Java python Thriller Rebecca",
    "confusion_form_at_least": "Anna Michael David Alice Paris Mercury NASA Jordan Python python Thriller Apple",
    "confusion_form_at_most": "Java Mr_Nobody",
    "density_between": "Mercury NASA Jordan",
    # Not the first of at least three candidates: the second, or, as Alice, none at all.
    "difficult": "Anna Alice Mercury Rebecca",
    "difficult_paper": "Jordan",
    # Five documents by IRI: all but posts/3; news/3 has no annotation, which the pattern of the figure asks for.
    "documents_limited": "Anna Michael David Alice Paris Mercury NASA Jordan Python Java Mr_Nobody "
    "python Thriller Rebecca Apple",
    # The first of at most three candidates: David and Apple are the first of more.
    "easy": "Python Java",
    "easy_paper": "Mercury NASA",
    "film_and_tv": "Anna Rebecca",
    "high_skew": "Java",
    "hits_middle": "Anna Mercury Jordan Lisbon",
    "hits_tail": "python Thriller Rebecca",
    "hits_top": "David Paris NASA Apple",
    "homonyms": "Python python",
    "linked_to": "Paris",
    "low_skew": "Mercury NASA Jordan",
    "many_persons": "Anna Michael David Alice Paris",
    "maximum_recall_at_least": "Anna Michael David Alice Paris Mercury NASA Jordan",
    "medium_skew": "Michael David Alice Java",
    "music": "Thriller",
    "nil_only": "Mr_Nobody",
    "organisations": "NASA Apple",
    # Apple is among the top 10 % by PageRank.
    "organisations_hard": "NASA",
    "other": "Mercury python Thriller Rebecca",
    "pagerank_middle": "Anna Mercury Jordan Lisbon",
    "pagerank_tail": "python Thriller Rebecca",
    "pagerank_top": "David Paris NASA Apple",
    "persons": "Anna Michael David Alice Jordan",
    # David has the highest PageRank of all; Michael and Alice have none, which leaves them in.
    "persons_hard": "Anna Michael Alice Jordan",
    "places": "Paris Lisbon",
    "places_hard": "Lisbon",
    "rare": "Anna Michael Alice Mercury Jordan python Thriller Rebecca",
    "science": "Mercury python",
    "with_classes": "Anna Michael David Alice Paris Mercury NASA Jordan python Thriller Rebecca Apple Lisbon",
    # owl:Thing (Java) and a category of mentions (Mr Nobody) are no classes.
    "without_classes": "Python Java Mr_Nobody",
}


def _forms(text: str) -> set[str]:
    return {word.replace("_", " ") for word in text.split()}


def _selected(store: Store, text: str) -> set[str]:
    frames = store.frames()
    found = select(store.index(), text, frames)
    return set(frames.annotations.filter(pl.col("annotation").is_in(found.annotations.implode()))["surface_form"])


# Queries on runs need some, and those with SERVICE ask another endpoint: both have tests of their own.
ALONE = {name for name in shipped_queries() if "runs" not in find(name).tags and "SERVICE" not in find(name).text}


def test_queries_that_are_expected_here_are_shipped() -> None:
    assert set(EXPECTED) <= ALONE


@pytest.mark.at_hand(8)
@pytest.mark.parametrize("name", sorted(ALONE))
def test_query_on_the_fixture_selects_some_and_not_all_and_what_it_says(small_store: Store, name: str) -> None:
    found = _selected(small_store, find(name).text)
    assert 0 < len(found) < ALL
    assert name not in EXPECTED or found == _forms(EXPECTED[name])


@pytest.mark.parametrize("name", sorted(shipped_queries()))
def test_query_has_summary_description_tags_and_a_meaning_for_each_parameter(name: str) -> None:
    query = find(name)
    assert query.summary
    assert query.description.endswith(".")
    assert query.tags
    assert all(parameter.description for parameter in query.parameters.values())
    for values in query.sets.values():
        assert set(values) <= set(query.parameters)


@pytest.mark.at_hand(10)
@pytest.mark.parametrize("name", sorted(shipped_queries()))
def test_query_is_complete_sparql_with_every_set_of_parameters(name: str) -> None:
    query = find(name)
    with without_memory():
        prepareQuery(query.text)
    # A set differs in a line of values: the engine reads it in a hundredth of the time.
    for named in query.sets:
        ox.Store().query(query.bind({}, named))


@pytest.mark.parametrize("name", sorted(shipped_queries()))
def test_query_uses_every_parameter_beyond_its_values_line(name: str) -> None:
    query = find(name)
    for parameter in query.parameters:
        lines = [line for line in query.text.splitlines() if not line.startswith("#") and "VALUES" not in line]
        assert any(f"?{parameter}" in line for line in lines), parameter


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    ("name", "forms"),
    [
        # Bounds of Table 4: confusion of forms 5 to 1786 leaves out Alice, of entities 3 to 200 the rest.
        ("low_skew", "Mercury NASA Jordan"),
        # PageRank 9.85e-06 or more, entities with 19 to 200 names.
        ("easy_paper", "Mercury NASA Jordan"),
        # Forms with 64 or more entities.
        ("difficult_paper", "Jordan"),
        ("high_skew", "Java"),
        ("medium_skew", "Alice Java"),
        ("persons_hard", "Anna Michael David Alice Jordan"),
    ],
)
def test_query_with_the_set_table4_selects_by_absolute_values(small_store: Store, name: str, forms: str) -> None:
    assert _selected(small_store, find(name).bind({}, "table4")) == _forms(forms)


def test_parameter_that_is_set_changes_the_selection(small_store: Store) -> None:
    # Of the persons Anna's form stands for 900 entities and Alice's for 2000, the others for 100 or fewer.
    assert _selected(small_store, find("persons_hard").bind({"min_confusion": 101})) == {"Anna", "Alice"}


def test_medium_skew_with_six_extremes_is_high_skew(small_store: Store) -> None:
    assert _selected(small_store, find("medium_skew").bind({"min_extremes": 6})) == _forms(EXPECTED["high_skew"])


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        # Percentiles of confusion of the form: 75 or more, 25 or less; of the entity likewise.
        ("confusion_form_at_least", {"Anna", "Michael", "David", "Alice", "Jordan"}),
        ("confusion_form_at_most", {"Java", "Mr Nobody"}),
        # Those of Alice and Lisbon are in the upper half and the lower.
        ("places_hard", set()),
        # Documents from 25 to 75: news/2, posts/1 to posts/3 by annotations; news/2, posts/2 and posts/3 by density.
        ("annotations_between", {"Mercury", "NASA", "Python", "Java", "python", "Thriller", "Apple", "Lisbon"}),
        ("density_between", {"Mercury", "NASA", "python", "Thriller", "Apple", "Lisbon"}),
    ],
)
def test_query_with_absolute_bounds_says_so_and_has_a_set_of_percentiles(
    small_store: Store, name: str, forms: set[str]
) -> None:
    query = find(name)
    assert "absolute" in query.description
    found = _selected(small_store, query.bind({}, "percentiles"))
    assert forms <= found if forms else not found


def test_every_query_with_an_absolute_bound_has_percentiles() -> None:
    bounds = ("min_confusion", "max_confusion", "min_density", "min_form", "min_annotations")
    absolute = {name for name in shipped_queries() if set(bounds) & set(find(name).parameters)}
    assert len(absolute) > 10
    for name in absolute:
        assert "scale" in find(name).parameters, name
        assert "percentiles" in find(name).sets or find(name).parameters["scale"].default == '"percentile"', name


def _enriched(tmp_path: Path, mentions: list[tuple[str, str, str]]) -> Store:
    """A store with a document a mention (form, entity, further triples of the mention)."""
    prefixes = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
        @prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> . @prefix dbo: <http://dbpedia.org/ontology/> ."""
    text = "".join(
        f"""<http://x.org/{n}#c> a nif:Context ; nif:isString "{form} is here" .
        <http://x.org/{n}#m> a nif:Phrase ; nif:referenceContext <http://x.org/{n}#c> ; nif:anchorOf "{form}" ;
          nif:beginIndex 0 ; nif:endIndex {len(form)} ; itsrdf:taIdentRef {entities} {more} ."""
        for n, (form, entities, more) in enumerate(mentions)
    )
    (tmp_path / "made.ttl").write_text(prefixes + text)
    store = Store(tmp_path / ".remix")
    store.load(tmp_path / "made.ttl")
    return store


def test_homonyms_are_of_different_mentions_not_of_the_alternatives_of_one(tmp_path: Path) -> None:
    a, b = "<http://dbpedia.org/resource/A>", "<http://dbpedia.org/resource/B>"
    store = _enriched(tmp_path, [("Ada", f"{a}, {b}", ""), ("Ada", a, ""), ("Bob", a, ""), ("Bob", b, "")])
    assert _selected(store, find("homonyms").text) == {"Bob"}


def test_organisations_leave_out_what_is_a_place_as_well_unless_asked_for(tmp_path: Path) -> None:
    one = "<http://dbpedia.org/resource/A>"
    rows = [
        ("Berlin", one, "; itsrdf:taClassRef dbo:Organisation, dbo:Place"),
        ("NASA", one, "; itsrdf:taClassRef dbo:Organisation"),
    ]
    store = _enriched(tmp_path, rows)
    assert _selected(store, find("organisations").text) == {"NASA"}
    assert _selected(store, find("organisations").bind({"with_places": True})) == {"NASA", "Berlin"}


def test_domains_are_of_classes_of_their_own_only(tmp_path: Path) -> None:
    # A genre of any art and an academic discipline, such as art and privacy, are neither music nor science.
    wd = "<http://www.wikidata.org/entity/{}>"
    names = {"Tragedy": "Q483394", "Art": "Q11862829", "Jazz": "Q188451", "Gold": "Q11344"}
    rows = [(form, wd.format("Q1"), f"; itsrdf:taClassRef {wd.format(item)}") for form, item in names.items()]
    store = _enriched(tmp_path, rows)
    assert _selected(store, find("music").text) == {"Jazz"}
    assert _selected(store, find("science").text) == {"Gold"}


@pytest.mark.long
def test_easy_and_difficult_share_no_annotation_and_neither_is_empty_on_real_corpora(
    real_data: Path, real_kb: KnowledgeBase, tmp_path: Path
) -> None:
    files = ("kore50/kore50-nif.ttl", "dbpedia-spotlight/dbpedia-spotlight-nif.ttl.gz")
    sizes: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for name in (files, *((file,) for file in files)):
        store = Store(tmp_path / str(len(sizes)))
        for file in name:
            store.load(real_data / "nif" / file)
        store.attach_kb(real_kb.folder)
        enrich(store, real_kb)
        found = {}
        for query in ("easy", "difficult"):
            found[query] = set(select(store.index(), find(query).text, store.frames()).annotations)
        assert found["easy"] and found["difficult"] and not found["easy"] & found["difficult"]
        sizes[name] = found
    for query in ("easy", "difficult"):
        # What else is loaded changes nothing.
        assert sizes[files][query] == sizes[files[:1]][query] | sizes[files[1:]][query]


@pytest.mark.long
def test_easy_and_difficult_share_no_annotation_and_neither_is_empty_on_all_real_corpora_together(
    real_data: Path, real_kb: KnowledgeBase
) -> None:
    corpora = [*(real_data / "nif").rglob("*.ttl*"), *(real_data / "emnlp2019" / "gold").glob("*.ttl*")]
    parts = []
    for number, file in enumerate(sorted(corpora)):
        with suppress(BadInput):  # descriptions of datasets, and what is no NIF
            parts.append(read(file, name=f"corpus-{number}").frames)
    frames = Frames.concat(parts)
    assert len(parts) > 10 and len(frames.annotations) > 12_000
    # Of the workspace what the two queries read: the document and three measures of each annotation.
    rows = compute(frames, real_kb, measures=["prior", "candidate-recall", "confusion-surface-form"]).annotations
    node = pl.format("<{}>", "annotation")
    said = {"candidateRank": "integer", "isCandidate": "boolean", "dictionaryEntities": "integer"}
    lines = [rows.select(pl.format(f"{{}} <{NIF}referenceContext> <{{}}> .", node, "document"))]
    for name, kind in said.items():
        value = pl.format(f'{{}} <{RMX}{name}> "{{}}"^^<{XSD}{kind}> .', node, pl.col(name).cast(pl.String))
        lines.append(rows.drop_nulls(name).select(value))
    index = index_of({"urn:all": "\n".join(line for each in lines for line in each.to_series()).encode()})
    found = {name: set(index.frame(find(name).text)["annotation"]) for name in ("easy", "difficult")}
    assert found["easy"] and found["difficult"] and not found["easy"] & found["difficult"]


PARIS = "http://dbpedia.org/resource/Paris"


@pytest.mark.parametrize("known", [True, False], ids=["kb", "no kb"])
def test_entity_of_each_link_joins_redirects_items_and_local_resources(
    kb_of: Callable[..., KnowledgeBase], tmp_path: Path, known: bool
) -> None:
    local = "<http://x/Local>"
    light, item = "http://dbpedia.org/resource/City_of_Light", "http://www.wikidata.org/entity/Q90"
    rows = {
        "Paris": f"<{PARIS}>",
        "paris": "<https://en.dbpedia.org/page/Paris>",  # its canonical form is the same
        "redirect": f"<{light}>",
        "item": f"<{item}>",
        "local": local,
        "Rome": "<http://dbpedia.org/resource/Rome>",
    }
    same = f"{local} <http://www.w3.org/2002/07/owl#sameAs> <{PARIS}> .\n"
    same = f". {local} <http://www.w3.org/2002/07/owl#sameAs> <{PARIS}>"
    store = _enriched(tmp_path, [(form, link, same if link == local else "") for form, link in rows.items()])
    kb = kb_of(
        {
            "surface_forms.tsv": f"surface_form\tentity_iri\tcount\tsource\nParis\t{PARIS}\t1\tx\n",
            "redirects.tsv": f"redirect_iri\ttarget_iri\tsource\n{light}\t{PARIS}\tx\n",
            "sameas.tsv": f"wikidata_iri\tdbpedia_iri\tcount\tsource\n{item}\t{PARIS}\t1\tx\n",
            "labels.tsv": f'entity_iri\tlabel\tsource\n{PARIS}\tThe "City"\tx\n',
        }
    )
    enrich(store, kb if known else None)
    found = _selected(store, find("linked_to").text)
    assert found == {"Paris", "paris", "local"} | ({"redirect", "item"} if known else set())
    labels = store.index().frame("SELECT ?form ?label { ?a nif:anchorOf ?form ; rmx:entityLabel ?label }")
    assert dict(labels.iter_rows()) == ({f'"{form}"': r'"The \"City\""' for form in found} if known else {})
    page = (Path(__file__).parents[2] / "docs" / "queries.md").read_text(encoding="utf-8")
    [shown] = [query for query in re.findall(r"```sparql\n(.*?)```", page, re.DOTALL) if "?links" in query]
    first = store.index().frame(shown).row(0)
    # Paris is written in five ways where redirects and items are known, else in three.
    label = r'"The \"City\""' if known else None
    written = [f'"{5 if known else 3}"^^<{XSD}integer>'] * 2
    assert first == (f"<{PARIS}>", label, *written)
