"""What every measure must keep: terms, citation, reading, empty datasets, determinism, levels."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.errors import UnknownName, UsageError
from remix.formats import read
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import MEASURES, Measure, Measured, compute
from remix.measures.coded import Basis
from remix.measures.corpus import Corpus
from remix.measures.declaration import Summary
from remix.measures.labels import label_of, list_labels
from remix.measures.measurement import MeasureChoice, measure_frames, measured_tables, terms
from remix.names import DBR, HFTS, PREFIXES, RMX
from remix.resources import folder
from tests.examples import FEW
from tests.pieces import cut_at_random

Make = Callable[..., Frames]
MakeKb = Callable[..., KnowledgeBase]
CHECKOUT = Path(__file__).resolve().parent.parent.parent
ONTOLOGIES = ["hfts.ttl", "remix.ttl"]
EVERY = pytest.mark.parametrize("measure", list(MEASURES), ids=lambda measure: measure.name)
MENTIONS = st.lists(
    st.tuples(
        st.sampled_from(["d/1", "d/2", "e/1", "e/2"]),
        st.sampled_from(["a", "A", "b", "c c", "zz"]),
        st.sampled_from([None, *(DBR + name for name in "ABCX")]),
    ),
    min_size=1,
    max_size=25,
)
FORMS = [
    ("a", "dbr:A", 3, "anchors"),
    ("a", "dbr:B", 1, "anchors"),
    ("c c", "dbr:C", "", "names"),
    ("b", "dbr:B", 2, "gold:d"),
]
TABLES: dict[str, list[tuple[str, ...]]] = {
    "links": [("dbr:A", "dbr:B", "1", "l"), ("dbr:B", "dbr:C", "1", "l")],
    "types": [("dbr:A", "dbo:Person", "t"), ("dbr:B", "dbo:City", "t"), ("dbr:C", "dbo:Book", "t")],
    "redirects": [("dbr:X", "dbr:A", "r")],
}


@pytest.fixture
def kb(make_kb: MakeKb) -> KnowledgeBase:
    return make_kb(FORMS, **TABLES)


@EVERY
def test_measure_when_declared_then_it_says_where_it_comes_from_and_how_to_read_it(measure: Measure) -> None:
    for said in ("unit", "formula", "citation", "high", "low", "empty"):
        text = getattr(measure, said)
        assert text, f"measure '{measure.name}' has to have `{said}`: docs/measures.md shows it"
    lower = "is written in lower case, with '-' between its words"
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", measure.name), f"the name of a measure {lower}, not '{measure.name}'"
    file = CHECKOUT / "remix" / "measures" / "definitions" / f"{measure.name.replace('-', '_')}.py"
    assert file.exists(), f"measure '{measure.name}' stands in a file of its name, {file.relative_to(CHECKOUT)}"


@EVERY
def test_measure_when_declared_then_each_value_has_a_readable_name_and_a_unit(measure: Measure) -> None:
    for one in (*measure.columns, *measure.summaries):
        label = label_of(one.name, of_statistics=isinstance(one, Summary))
        assert one.label and label.words == one.label, f"'{one.name}' has to have a `label`, as people read it"
        assert label.unit, f"'{one.name}' is a number: `measured_in` says in which unit"


def test_readable_names_of_measures_are_unique() -> None:
    """A column and the statistic of its name are called alike, all others differently."""
    names: dict[str, set[str]] = {}
    for name, label in list_labels().items():
        names.setdefault(label.words, set()).add(name)
    assert {words: alike for words, alike in names.items() if len(alike) > 1} == {}


@EVERY
def test_measure_when_it_has_levels_then_its_columns_and_terms_are_of_these(measure: Measure) -> None:
    averages = {average for summary in measure.summaries for average in summary.terms}
    found = {"annotation"} if measure.columns or measure.name == "types" else set()
    found |= {"document"} if averages & {"document", "count"} else set()
    found |= {"dataset"} if averages - {"document"} else set()
    assert found == set(measure.levels), (
        f"measure '{measure.name}' says levels {sorted(measure.levels)}, but its columns and the averages of its "
        f"summaries are of {sorted(found)}"
    )


@pytest.mark.at_hand(5)
@EVERY
def test_measure_when_alone_on_an_empty_dataset_then_there_is_no_row_and_no_error(
    measure: Measure, kb: KnowledgeBase, corpus: Make
) -> None:
    nothing = compute(Frames.empty(), kb, measures=[measure.name])
    told = f"measure '{measure.name}' says something of a dataset without documents"
    assert nothing.annotations.height == nothing.documents.height == nothing.datasets.height == 0, told
    assert nothing.triples("d") == b"", told
    unannotated = compute(corpus([], empty=["d/1"]), kb, measures=[measure.name])
    assert unannotated.annotations.height == 0
    assert unannotated.documents.height == 1
    # What remains is said of documents; nothing is said of annotations that are not there.
    of_documents = [summary.name for summary in measure.summaries if summary.over == "documents"]
    others = sorted(set(unannotated.datasets["measure"]) - set(of_documents))
    assert not others, f"measure '{measure.name}' says {others} of a dataset without annotations: leave these rows out"


@EVERY
def test_measure_when_nothing_is_linked_then_there_is_no_error(
    measure: Measure, kb: KnowledgeBase, corpus: Make
) -> None:
    measured = compute(corpus([("d/1", "a", None)]), kb, measures=[measure.name])
    assert measured.annotations.height == 1


def test_terms_when_registered_then_each_is_of_one_kind_and_defined_in_the_ontology() -> None:
    graph = ox.Store()
    for name in ONTOLOGIES:
        graph.bulk_load(path=str(folder("ontology") / name), format=ox.RdfFormat.TURTLE)
    defined = {quad.subject.value for quad in graph}
    for term in terms():
        prefix, _, name = term.term.partition(":")
        assert PREFIXES[prefix] + name in defined, (
            f"{term.term} stands in no ontology: write it there by `python scripts/measures.py`"
        )
    kinds: dict[str, set[str]] = {}
    for measure in MEASURES:
        for column in measure.columns:
            kinds.setdefault(column.term, set()).add(column.kind)
        for summary in measure.summaries:
            for average, of_average in summary.terms.items():
                for name in of_average:
                    kinds.setdefault(name, set()).add("integer" if average == "count" else "double")
    mixed = {term: sorted(kind) for term, kind in kinds.items() if len(kind) > 1}
    assert mixed == {}, f"terms of several kinds of values, {mixed}: give each kind a term of its own"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What the script defines that writes ontologies and documentation."""
    if not (file := CHECKOUT / "scripts" / "measures.py").is_file():
        pytest.skip("the documentation is in a checkout")
    return runpy.run_path(str(file))


def test_ontology_when_written_anew_then_nothing_changes(script: dict[str, Any]) -> None:
    assert sorted(script["FILES"].values()) == ONTOLOGIES
    for prefix, name in script["FILES"].items():
        text = (folder("ontology") / name).read_text(encoding="utf-8")
        assert script["ontology"](prefix, text) == text, "run `python scripts/measures.py`"


def test_ontology_when_terms_are_used_in_the_code_then_they_are_defined() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (CHECKOUT / "remix").rglob("*.py"))
    queries = "".join(path.read_text(encoding="utf-8") for path in folder("queries").glob("*.rq"))
    used = set(re.findall(r"\{(?:names\.)?RMX\}([A-Za-z]+)", source)) | set(re.findall(r"rmx:([A-Za-z]+)", queries))
    text = (folder("ontology") / "remix.ttl").read_text(encoding="utf-8")
    assert {name for name in used if f"\nrmx:{name} a owl:" not in text} == set()
    used = set(re.findall(r"hfts:([A-Za-z]+)", queries))
    text = (folder("ontology") / "hfts.ttl").read_text(encoding="utf-8")
    assert {name for name in used if f"\nhfts:{name} a owl:" not in text} == set()


def test_ontology_when_read_then_every_term_has_label_and_comment_and_no_stray_prefix() -> None:
    for name in ONTOLOGIES:
        quads = list(ox.parse(path=str(folder("ontology") / name), format=ox.RdfFormat.TURTLE))
        subjects = {quad.subject for quad in quads}
        for wanted in ("label", "comment"):
            has = {q.subject for q in quads if q.predicate.value.endswith(f"rdf-schema#{wanted}")}
            assert subjects - has == set()
        domains = {q.object.value for q in quads if q.predicate.value.endswith("#domain")}
        own = {s.value for s in subjects if s.value.startswith((HFTS, RMX))}
        assert {d for d in domains if d.startswith((HFTS, RMX))} - own <= {f"{HFTS}Dataset"}


def test_documentation_when_written_anew_then_nothing_changes(script: dict[str, Any]) -> None:
    page = CHECKOUT / "docs" / "measures.md"
    assert page.read_text(encoding="utf-8") == script["documentation"](), "run `python scripts/measures.py`"


def everything(measured: Measured) -> bytes:
    return b"".join(measured.triples(name) for name in ("d", "e"))


@pytest.mark.long
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MENTIONS, st.randoms(use_true_random=False))
def test_compute_when_rows_are_permuted_then_the_triples_are_the_same(
    kb: KnowledgeBase, corpus: Make, mentions: list[tuple[str, str, str | None]], random: object
) -> None:
    frames = corpus(mentions)
    seed = random.randint(0, 9999)  # type: ignore[attr-defined]
    shuffled = Frames(
        **{name: getattr(frames, name).sample(fraction=1.0, shuffle=True, seed=seed) for name in Frames.__annotations__}
    )
    assert everything(compute(frames, kb)) == everything(compute(shuffled, kb))


@pytest.mark.parametrize("seed", range(2))
def test_compute_when_frames_are_kept_in_other_pieces_then_the_triples_are_the_same(
    kb: KnowledgeBase, corpus: Make, seed: int
) -> None:
    forms, entities = ["a", "A", "b", "c c", "zz"], [None, *(DBR + name for name in "ABCX")]
    mentions = [(f"{'de'[n % 2]}/{n % 7}", forms[n * 3 % 5], entities[n * n % 5]) for n in range(90)]
    frames = corpus(mentions)
    pieces = Frames(**{name: cut_at_random(getattr(frames, name), seed) for name in Frames.__annotations__})
    assert everything(compute(frames, kb)) == everything(compute(pieces, kb))


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MENTIONS)
def test_compute_when_categories_exclude_each_other_then_their_shares_sum_up_to_one(
    kb: KnowledgeBase, corpus: Make, mentions: list[tuple[str, str, str | None]]
) -> None:
    measured = compute(corpus(mentions), kb)
    linked = measured.annotations.filter(pl.col("linkStatus").is_not_null()).group_by("dataset").len()
    counts = measured.datasets.filter(pl.col("average") == "count")
    for start in ("pagerankSegment", "hitsSegment", "linkStatus", "type(Person|Organisation|Place|Other|None)$"):
        sums = counts.filter(pl.col("measure").str.contains(f"^{start}")).group_by("dataset").agg(pl.col("value").sum())
        joined = linked.join(sums, on="dataset", how="left")
        assert joined["len"].to_list() == joined["value"].to_list()


@settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MENTIONS)
def test_compute_when_anything_is_measured_then_bounds_hold(
    kb: KnowledgeBase, corpus: Make, mentions: list[tuple[str, str, str | None]]
) -> None:
    rows = compute(corpus(mentions), kb).annotations
    linked = rows.filter(pl.col("ambiguityEntity").is_not_null())
    assert (linked["ambiguitySurfaceForm"] >= 1).all() and (linked["ambiguityEntity"] >= 1).all()
    assert (rows["ambiguitySurfaceForm"] >= rows["dictionaryEntities"]).all()
    for name in (
        "coverageSurfaceForm",
        "boundedDominanceSurfaceForm",
        "coverageEntity",
        "boundedDominanceEntity",
        "prior",
    ):
        assert rows[name].drop_nulls().is_between(0, 1).all()
    assert rows.filter(pl.col("isCandidate") & ~pl.col("inDictionary")).height == 0


@pytest.mark.parametrize("reference", ["dataset", "union"])
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MENTIONS)
def test_summary_when_it_is_of_the_unit_then_all_rows_of_a_unit_say_the_same(
    kb: KnowledgeBase, corpus: Make, reference: str, mentions: list[tuple[str, str, str | None]]
) -> None:
    rows = measured_tables(Corpus(corpus(mentions), Basis(kb, reference)), tuple(MEASURES))[0]
    of_unit = [summary for measure in MEASURES for summary in measure.summaries if summary.of_unit]
    assert {summary.unit for summary in of_unit} == {"key", "entity"}
    for summary in of_unit:
        said = rows.select("dataset", summary.unit, part=summary.part, whole=summary.whole).drop_nulls(summary.unit)
        assert said.unique().height == said.unique(["dataset", str(summary.unit)]).height, summary.name


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MENTIONS)
def test_averages_when_a_dataset_has_one_document_then_micro_and_macro_are_equal(
    kb: KnowledgeBase, corpus: Make, mentions: list[tuple[str, str, str | None]]
) -> None:
    measured = compute(corpus([("d/1", form, entity) for _, form, entity in mentions]), kb)
    wide = measured.datasets.filter(pl.col("average").is_in(["micro", "macro"])).pivot(
        on="average", index="measure", values="value"
    )
    both = wide.drop_nulls(["micro", "macro"]).filter(~pl.col("measure").str.starts_with("maxRecallPooled"))
    assert both["micro"].to_list() == pytest.approx(both["macro"].to_list())


def test_triples_when_parsed_then_they_are_the_values_and_none_stands_in_the_data(
    kb: KnowledgeBase, corpus: Make
) -> None:
    rows = [("d/1", "a", f"{DBR}A"), ("d/1", "zz", f"{DBR}X"), ("d/1", "b", None)]
    frames = corpus(rows, classes=pl.DataFrame({"annotation": ["d/1#0"], "class": [f"{PREFIXES['dbo']}Person"]}))
    measured = compute(frames, kb)
    text = measured.triples("d").replace(b"<d/", b"<urn:d/")
    quads = [
        (q.subject.value, q.predicate.value, q.object.value) for q in ox.parse(text, format=ox.RdfFormat.N_TRIPLES)
    ]
    assert ("urn:d/1#0", f"{HFTS}ambiguitySurfaceForm", "2") in quads
    assert ("urn:d/1#2", f"{RMX}nil", "explicit") in quads
    assert ("urn:d/1", f"{HFTS}numAnnotations", "3") in quads
    assert ("urn:remix:dataset:d", f"{HFTS}numAnnotations", "3") in quads
    assert ("urn:remix:dataset:d", f"{HFTS}diversitySurfaceForms", "0.75") not in quads
    classes = [q for q in quads if q[1].endswith("taClassRef")]
    # The data says already that annotation 0 is a person; X is a redirect to A, which is one.
    assert classes == [("urn:d/1#1", f"{PREFIXES['itsrdf']}taClassRef", f"{PREFIXES['dbo']}Person")]
    assert len(quads) == len(set(quads))


def test_compute_when_datasets_share_the_iri_of_a_document_then_each_has_its_own_value(corpus: Make) -> None:
    # Without an entity: one of two mentions in d, one of one in e.
    one, two = corpus([("d/1", "a", None), ("d/1", "b", f"{DBR}A")]), corpus([("d/1", "a", None)])
    other = two.annotations.with_columns(dataset=pl.lit("e"), annotation=pl.lit("e#0"))
    both = Frames.of(
        documents=pl.concat([one.documents, two.documents.with_columns(dataset=pl.lit("e"))]),
        annotations=pl.concat([one.annotations, other]),
        links=one.links,
    )
    documents = compute(both, None, measures=["nil"]).documents
    assert documents.select("dataset", "nilExplicit").sort("dataset").rows() == [("d", 0.5), ("e", 1.0)]


def test_compute_when_there_is_no_knowledge_base_then_measures_that_need_one_are_named(corpus: Make) -> None:
    measured = compute(corpus([("d/1", "a", f"{DBR}A")]), None)
    assert "confusion-surface-form" in measured.skipped and "density" not in measured.skipped
    assert "numAnnotations" in measured.documents.columns
    assert "ambiguitySurfaceForm" not in measured.annotations.columns


def test_compute_when_reference_or_measure_is_unknown_then_the_nearest_is_named(corpus: Make) -> None:
    with pytest.raises(UsageError, match="did you mean 'union'"):
        compute(corpus([]), None, reference="unoin")
    with pytest.raises(UnknownName, match="did you mean 'density'"):
        compute(corpus([]), None, measures=["densty"])


def test_measure_when_it_takes_a_column_that_is_none_then_the_nearest_is_named(corpus: Make) -> None:
    density = replace(MEASURES["density"].summaries[0], part=pl.col("mention"))
    chosen = MeasureChoice(Basis(), (replace(MEASURES["density"], summaries=(density,)),))
    message = r"no column of the documents \(for measure 'density'\) named 'mention'; did you mean 'mentions'\?"
    with pytest.raises(UnknownName, match=message):
        measure_frames(corpus([("d/1", "a", None)]), chosen)


def test_signature_when_a_choice_differs_then_it_differs(kb: KnowledgeBase, corpus: Make) -> None:
    frames, few = corpus([("d/1", "a", None)]), ["prior", "nil"]
    signatures = {
        str(compute(frames, kb, measures=few).signature),
        str(compute(frames, None, measures=few).signature),
        str(compute(frames, kb, measures=few, reference="union").signature),
        str(compute(frames, kb, measures=few, case_sensitive=True).signature),
        str(compute(frames, kb, measures=few, without_sources=["anch*"]).signature),
        str(compute(frames, kb, measures=few, with_gold=True).signature),
        str(compute(frames, kb, measures=["density"]).signature),
        str(compute(frames, kb, profile="hfts").signature),
    }
    assert len(signatures) == 8


def test_density_when_kore50_is_read_then_sentence_mus03_has_three_annotations_on_seventeen_words(
    real_data: Path,
) -> None:
    # Figure 7 of the remixing paper: 3/17 = 0.17647058823529413.
    frames = read(real_data / "nif" / "kore50" / "kore50-nif.ttl").frames
    documents = compute(frames, None).documents
    mus03 = documents.filter(pl.col("document").str.contains("MUS03"))
    assert mus03["density"].to_list() == [3 / 17]


@pytest.mark.long
def test_overlap_when_the_emnlp_gold_is_read_then_it_agrees_with_its_labels(real_data: Path) -> None:
    # 8 of 4,830 differ, each one a wrong label: nothing of the document overlaps 7 of them, the other lies in nothing.
    differing = []
    for file in sorted((real_data / "emnlp2019" / "gold").iterdir()):
        frames = read(file).frames
        label = pl.col("class").str.extract("Olp-(.*)$").str.to_lowercase()
        labels = frames.classes.with_columns(label=label).drop_nulls("label")
        computed = compute(frames, None, measures=["overlap"]).annotations
        both = computed.join(labels, on="annotation").filter(pl.col("label") != pl.col("overlap"))
        differing += both.select("label", "overlap").rows()
    assert sorted(differing) == [("intermediate", "maximal"), *[("minimal", "none")] * 7]


@pytest.mark.long
def test_dictionary_when_kore50_is_measured_then_rows_from_gold_do_not_count(
    real_data: Path, real_kb: KnowledgeBase
) -> None:
    frames = read(real_data / "nif" / "kore50" / "kore50-nif.ttl", name="any-name").frames
    sizes = [
        compute(frames, real_kb, measures=["confusion-surface-form"], **choices).annotations["dictionaryEntities"].sum()
        for choices in ({}, {"without_sources": ["gold:*"]}, {"with_gold": True})
    ]
    assert sizes[0] == sizes[1] < sizes[2]
