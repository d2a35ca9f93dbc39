"""Each formula on small input, computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.formats import read
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import Measured, compute
from remix.names import DBO

Make = Callable[..., Frames]
MakeKb = Callable[..., KnowledgeBase]


def of(measured: Measured, measure: str, average: str, dataset: str = "d") -> float | None:
    rows = measured.datasets.filter(dataset=dataset, measure=measure, average=average)
    return rows["value"].item() if rows.height else None


def covered(measured: Measured, measure: str, average: str, dataset: str = "d") -> float:
    return float(measured.datasets.filter(dataset=dataset, measure=measure, average=average)["coverage"].item())


def column(measured: Measured, name: str) -> list[object]:
    return measured.annotations[name].to_list()


def test_dominance_when_the_dataset_uses_two_of_ten_entities_of_anna_then_it_is_a_fifth(
    corpus: Make, make_kb: MakeKb
) -> None:
    # The worked example of the paper, section 2.6: W(Anna) has 10 entities, D uses 2 of them: 20 %.
    kb = make_kb([("Anna", f"dbr:Anna_{n}", "", "names") for n in range(10)])
    frames = corpus([("d/1", "Anna", f"{kb_iri('Anna_1')}"), ("d/2", "Anna", kb_iri("Anna_2"))])
    measured = compute(frames, kb, measures=["dominance-surface-form"])
    assert column(measured, "dominanceSurfaceForm") == [0.2, 0.2]
    assert of(measured, "dominanceSurfaceForm", "distinct") == pytest.approx(0.2)
    assert of(measured, "dominanceSurfaceForm", "micro") == pytest.approx(0.2)
    # Each document by itself uses 1 of 10.
    assert of(measured, "dominanceSurfaceForm", "macro") == pytest.approx(0.1)
    assert measured.documents["diversitySurfaceForms"].to_list() == pytest.approx([0.1, 0.1])


def kb_iri(name: str) -> str:
    return f"http://dbpedia.org/resource/{name}"


def test_dominance_when_the_dataset_uses_four_of_ten_forms_of_an_entity_then_it_is_two_fifths(
    corpus: Make, make_kb: MakeKb
) -> None:
    # The worked example, other side: Angelina Jolie has 10 forms in W, 4 in D: 40 %.
    kb = make_kb([(f"Jolie {n}", "dbr:Angelina_Jolie", "", "names") for n in range(10)])
    frames = corpus([("d/1", f"Jolie {n}", kb_iri("Angelina_Jolie")) for n in range(4)])
    measured = compute(frames, kb, measures=["dominance-entity"])
    assert column(measured, "dominanceEntity") == [0.4] * 4
    assert of(measured, "dominanceEntity", "micro") == pytest.approx(0.4)
    assert of(measured, "dominanceEntity", "macro") == pytest.approx(0.4)
    assert of(measured, "dominanceEntity", "distinct") == pytest.approx(0.4)


def test_dominance_when_the_dictionary_does_not_know_the_form_then_it_is_absent_and_coverage_says_so(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb([("a", "dbr:A", "", "names"), ("a", "dbr:B", "", "names")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("d/1", "x", kb_iri("X")), ("d/1", "y", kb_iri("Y"))])
    measured = compute(frames, kb, measures=["dominance-surface-form"])
    assert column(measured, "dominanceSurfaceForm") == [0.5, None, None]
    assert of(measured, "dominanceSurfaceForm", "micro") == pytest.approx(0.5)
    assert covered(measured, "dominanceSurfaceForm", "micro") == pytest.approx(1 / 3)
    assert covered(measured, "dominanceSurfaceForm", "distinct") == pytest.approx(1 / 3)


def test_dominance_when_the_dataset_has_a_form_as_nil_alone_then_it_is_0_where_the_dictionary_knows_the_form(
    corpus: Make, make_kb: MakeKb
) -> None:
    # W(a) = {A, B}, E^D(a) = {A}: 1/2, also on the NIL of a. W(n) = {A}, E^D(n) = ∅: 0. W(x) = ∅: absent.
    kb = make_kb([("a", "dbr:A", "", "names"), ("a", "dbr:B", "", "names"), ("n", "dbr:A", "", "names")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("d/2", "a", None), ("d/2", "n", None), ("d/2", "x", None)])
    measured = compute(frames, kb, measures=["dominance-entity", "dominance-surface-form"])
    assert column(measured, "dominanceSurfaceForm") == [0.5, 0.5, 0.0, None]
    assert column(measured, "coverageSurfaceForm") == [0.5, 0.5, 0.0, None]
    assert column(measured, "dominanceEntity") == [0.5, None, None, None]  # S^D(A) = {a} of {a, n}
    assert of(measured, "dominanceSurfaceForm", "micro") == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert of(measured, "dominanceSurfaceForm", "distinct") == pytest.approx((0.5 + 0) / 2)
    # Document 2 links a to nothing: E^d(a) = E^d(n) = ∅.
    assert measured.documents["diversitySurfaceForms"].to_list() == [0.5, 0.0]


def test_shares_when_they_are_of_entities_then_nil_is_in_neither_part_nor_whole_and_the_coverage_says_so(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb([("a", "dbr:A", "", "names")], types=[("dbr:A", "dbo:Person", "t")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("d/1", "x", kb_iri("X")), ("d/1", "n", None), ("d/1", "m", None)])
    measured = compute(frames, kb, measures=["link-health", "name-relation", "nil", "prominence-segment", "types"])
    # Two of four are linked, A to a person that the kb knows, X to nothing known.
    for measure in ("linkStatusCanonical", "linkStatusUnknown", "typePerson", "typeNone"):
        assert of(measured, measure, "micro") == pytest.approx(1 / 2)
        assert covered(measured, measure, "micro") == pytest.approx(2 / 4)
    assert of(measured, "pagerankSegmentUnspecified", "micro") == pytest.approx(1.0)
    # Of the name nothing is said of NIL, of NIL itself all is said.
    assert covered(measured, "nameRelationFull", "micro") == pytest.approx(2 / 4)
    assert (of(measured, "nilExplicit", "micro"), covered(measured, "nilExplicit", "micro")) == (0.5, 1.0)
    assert measured.documents["linkStatusUnknown"].to_list() == [0.5]


@pytest.mark.long
def test_dominance_of_rss_500_when_forms_of_nil_count_then_micro_is_lower(
    real_data: Path, real_kb: KnowledgeBase
) -> None:
    # 476 of the 1,000 mentions are NIL. Without the forms that are NIL alone it would be 0.43.
    frames = read(real_data / "nif" / "n3" / "RSS-500.ttl.gz", name="rss-500").frames
    measured = compute(frames, real_kb, measures=["dominance-surface-form"])
    assert of(measured, "dominanceSurfaceForm", "micro", "urn:remix:dataset:rss-500") == pytest.approx(0.305, abs=5e-4)


def test_dominance_when_the_dictionary_is_incomplete_then_it_exceeds_one_and_its_twins_do_not(
    corpus: Make, make_kb: MakeKb
) -> None:
    # W(a) = {A}, D(a) = {A, B, C}: raw 3/1, coverage |D ∩ W| / |W| = 1/1, bounded |D| / |W ∪ D| = 3/3.
    kb = make_kb([("a", "dbr:A", "", "names")])
    measured = compute(corpus([("d/1", "a", kb_iri(e)) for e in "ABC"]), kb, measures=["dominance-surface-form"])
    assert column(measured, "dominanceSurfaceForm") == [3.0] * 3
    assert column(measured, "coverageSurfaceForm") == [1.0] * 3
    assert column(measured, "boundedDominanceSurfaceForm") == [1.0] * 3


def test_dominance_twins_when_both_sides_have_their_own_then_they_are_what_is_shared(
    corpus: Make, make_kb: MakeKb
) -> None:
    # W(a) = {A, B, C, E}, D(a) = {A, X}: coverage 1/4, bounded |D| / |W ∪ D| = 2/5, raw 2/4.
    kb = make_kb([("a", f"dbr:{e}", "", "names") for e in "ABCE"])
    measured = compute(
        corpus([("d/1", "a", kb_iri("A")), ("d/1", "a", kb_iri("X"))]), kb, measures=["dominance-surface-form"]
    )
    assert measured.annotations.select(
        "dominanceSurfaceForm", "coverageSurfaceForm", "boundedDominanceSurfaceForm"
    ).row(0) == (0.5, 0.25, 0.4)


def test_confusion_of_forms_when_dictionary_and_dataset_differ_then_their_union_counts(
    corpus: Make, make_kb: MakeKb
) -> None:
    # W(a) = {A, B}, D(a) = {B, C}: 3. W(x) = ∅, D(x) = {X}: 1. Documents: 1 has a, a, x; 2 has x.
    kb = make_kb([("A", "dbr:A", "", "names"), ("a", "dbr:B", "", "names")])
    frames = corpus(
        [("d/1", "a", kb_iri("B")), ("d/1", "A", kb_iri("C")), ("d/1", "x", kb_iri("X")), ("d/2", "x", kb_iri("X"))]
    )
    measured = compute(frames, kb, measures=["confusion-surface-form"])
    assert column(measured, "ambiguitySurfaceForm") == [3, 3, 1, 1]
    assert column(measured, "dictionaryEntities") == [2, 2, 0, 0]
    assert measured.documents["ambiguitySurfaceForms"].to_list() == pytest.approx([7 / 3, 1.0])
    assert of(measured, "ambiguitySurfaceForm", "micro") == pytest.approx(8 / 4)
    assert of(measured, "ambiguitySurfaceForm", "macro") == pytest.approx((7 / 3 + 1) / 2)
    assert of(measured, "ambiguitySurfaceForm", "distinct") == pytest.approx((3 + 1) / 2)


def test_confusion_of_entities_when_dictionary_and_dataset_differ_then_their_union_counts(
    corpus: Make, make_kb: MakeKb
) -> None:
    # W(A) = {a, b, c}, D(A) = {a, z}: 4. NIL has no entity.
    kb = make_kb([(s, "dbr:A", "", "names") for s in "abc"])
    measured = compute(
        corpus([("d/1", "a", kb_iri("A")), ("d/1", "z", kb_iri("A")), ("d/1", "n", None)]),
        kb,
        measures=["confusion-entity"],
    )
    assert column(measured, "ambiguityEntity") == [4, 4, None]
    assert column(measured, "dictionaryForms") == [3, 3, None]
    assert of(measured, "ambiguityEntity", "micro") == pytest.approx(4.0)
    assert covered(measured, "ambiguityEntity", "micro") == pytest.approx(2 / 3)


def test_confusion_when_reference_is_the_union_then_other_datasets_count(corpus: Make, make_kb: MakeKb) -> None:
    kb = make_kb([("b", "dbr:B", "", "names")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("e/1", "a", kb_iri("X")), ("e/1", "a", kb_iri("Y"))])
    assert column(compute(frames, kb, measures=["confusion-surface-form"]), "ambiguitySurfaceForm") == [1, 2, 2]
    assert column(
        compute(frames, kb, reference="union", measures=["confusion-surface-form"]), "ambiguitySurfaceForm"
    ) == [3, 3, 3]


def test_dictionary_when_rows_are_derived_from_gold_then_none_counts_unless_asked_for(
    corpus: Make, make_kb: MakeKb
) -> None:
    # Whatever the datasets are called: A, B and the third from gold, C from names. D(a) = {A}: |W ∪ D| = 2.
    kb = make_kb(
        [("a", "dbr:A", 1, "gold:D"), ("a", "dbr:B", 1, "gold:other"), ("a", "dbr:C", 1, "names")],
        types=[("dbr:C", "dbo:Person", "gold:D")],
    )
    frames = corpus([(f"{d}/1", "a", kb_iri("A")) for d in "de"] + [("e/1", "a", kb_iri("C"))])
    measured = compute(frames, kb, measures=["candidate-recall", "confusion-surface-form", "link-health", "types"])
    assert column(measured, "dictionaryEntities") == [1, 1, 1]
    assert column(measured, "ambiguitySurfaceForm") == [2, 2, 2]
    assert column(measured, "isCandidate") == [False, False, True]
    # An entity that only gold knows is unknown, one that a name knows is not; its type is known from gold alone.
    assert column(measured, "linkStatus") == ["unknown", "unknown", "canonical"]
    assert of(measured, "typePerson", "count", "e") == 0
    asked = compute(
        frames, kb, with_gold=True, measures=["candidate-recall", "confusion-surface-form", "link-health", "types"]
    )
    assert column(asked, "dictionaryEntities") == [3, 3, 3]
    assert column(asked, "linkStatus") == ["canonical"] * 3
    assert of(asked, "typePerson", "count", "e") == 1
    assert str(asked.signature) != str(measured.signature)


def test_dictionary_when_a_pattern_of_sources_is_left_out_then_their_rows_do_not_count(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb([("a", "dbr:A", 1, "names"), ("a", "dbr:B", 1, "anchors"), ("b", "dbr:A", 1, "names")])
    frames = corpus([("d/1", "a", kb_iri("A"))])
    fewer = compute(
        frames,
        kb,
        without_sources=["nam*", "nothing has this"],
        measures=["confusion-entity", "confusion-surface-form"],
    )
    assert (column(fewer, "dictionaryEntities"), column(fewer, "dictionaryForms")) == ([1], [0])
    assert column(compute(frames, kb, measures=["confusion-entity", "confusion-surface-form"]), "dictionaryForms") == [
        2
    ]


def test_maximum_recall_when_forms_repeat_then_distinct_ones_count_and_pooled_counts_all(
    corpus: Make, make_kb: MakeKb
) -> None:
    # Document 1: known a (twice), unknown x: 1/2. Document 2: known a: 1. Document 3 is empty: no value.
    # Dataset as one document: {a, x}: 1/2. Pooled: 3 of 4.
    kb = make_kb([("a", "dbr:A", "", "names")])
    frames = corpus(
        [("d/1", "a", kb_iri("A")), ("d/1", "a", kb_iri("A")), ("d/1", "x", kb_iri("X")), ("d/2", "a", kb_iri("A"))],
        empty=["d/3"],
    )
    measured = compute(frames, kb, measures=["maximum-recall"])
    assert measured.documents["maxRecall"].to_list() == [0.5, 1.0, None]
    assert of(measured, "maxRecall", "micro") == pytest.approx(0.5)
    assert of(measured, "maxRecall", "macro") == pytest.approx(0.75)
    assert of(measured, "maxRecallPooled", "micro") == pytest.approx(0.75)
    assert column(measured, "inDictionary") == [True, True, False, True]


def test_candidate_recall_when_the_entity_is_no_candidate_then_it_is_lower_than_maximum_recall(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb([("a", "dbr:A", "", "names")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("d/1", "a", kb_iri("B")), ("d/1", "n", None)])
    measured = compute(frames, kb, measures=["candidate-recall", "maximum-recall"])
    assert column(measured, "isCandidate") == [True, False, None]
    assert of(measured, "candidateRecall", "micro") == pytest.approx(0.5)
    assert of(measured, "maxRecallPooled", "micro") == pytest.approx(2 / 3)


def test_maximum_recall_of_a_document_when_a_form_is_needed_in_another_one_then_its_own_mentions_decide(
    corpus: Make, make_kb: MakeKb
) -> None:
    # W knows k, not u. Document 1 has one mention that is k or u: u is not needed there, so (9) over {k}: 1/1.
    # Document 2 has u alone: 0/1. The dataset as one document needs u: (9) over {k, u}: 1/2.
    kb = make_kb([("k", "dbr:K", 1, "n")])
    rows = pl.DataFrame(
        {
            "annotation": ["1", "2", "3"],
            "document": ["d/1", "d/1", "d/2"],
            "dataset": ["d"] * 3,
            "surface_form": ["k", "u", "u"],
            "group": ["g", "g", "3"],
            "option": ["1", "2", "3"],
        }
    )
    measured = compute(corpus([], empty=["d/1", "d/2"], annotations=rows), kb, measures=["maximum-recall"])
    assert measured.documents["maxRecall"].to_list() == [1.0, 0.0]
    assert of(measured, "maxRecall", "macro") == pytest.approx((1 + 0) / 2)
    assert of(measured, "maxRecall", "micro") == pytest.approx(1 / 2)
    assert covered(measured, "maxRecall", "micro") == pytest.approx(1.0)


def test_density_when_documents_differ_in_length_then_micro_pools_words_and_macro_does_not(corpus: Make) -> None:
    texts = pl.DataFrame({"document": ["d/1", "d/2"], "dataset": ["d", "d"], "text": ["a b c d", "w " * 16]})
    frames = corpus([("d/1", "a", None), ("d/1", "b", None), ("d/2", "w", None)], documents=texts)
    measured = compute(frames, None, measures=["density"])
    assert measured.documents["density"].to_list() == [0.5, 1 / 16]
    assert of(measured, "density", "micro") == pytest.approx(3 / 20)
    assert of(measured, "density", "macro") == pytest.approx((1 / 2 + 1 / 16) / 2)


def test_density_when_a_region_is_annotated_then_its_words_count(corpus: Make) -> None:
    texts = pl.DataFrame({"document": ["d/1"], "dataset": ["d"], "text": ["one two three four"]})
    region = pl.DataFrame({"document": ["d/1"], "begin": [4], "end": [13]})  # 'two three'
    measured = compute(corpus([("d/1", "two", None)], documents=texts, regions=region), None, measures=["density"])
    assert measured.documents["density"].to_list() == [0.5]


def test_counts_when_annotations_are_ignorable_or_alternatives_then_ignorable_do_not_count_and_groups_once(
    corpus: Make,
) -> None:
    rows = pl.DataFrame(
        {
            "annotation": ["a", "b", "c", "o"],
            "document": ["d/1"] * 4,
            "dataset": ["d"] * 4,
            "surface_form": ["x", "x y", "z", "o"],
            "group": ["g", "g", "c", "o"],
            "option": ["1", "2", "c", "o"],
            "ignorable": [None, None, None, "optional"],
        }
    )
    measured = compute(
        corpus([], empty=["d/1", "d/2"], annotations=rows),
        None,
        measures=["density", "not-annotated", "number-of-annotations"],
    )
    assert measured.documents["numAnnotations"].to_list() == [2, 0]
    assert of(measured, "numAnnotations", "count") == 2
    assert of(measured, "numAnnotations", "macro") == pytest.approx(1.0)
    assert of(measured, "density", "micro") == pytest.approx(2 / 20)
    assert of(measured, "densityWithIgnorable", "micro") == pytest.approx(3 / 20)
    assert of(measured, "notAnnotated", "micro") == pytest.approx(0.5)
    assert measured.annotations["annotation"].to_list() == ["a", "b", "c"]


def test_averages_when_a_mention_has_alternatives_then_it_counts_once_and_reachable_is_the_best_option(
    corpus: Make, make_kb: MakeKb
) -> None:
    # One mention 'a' of A. Another with two options: 'b' of B, or 'c' of C with 'x' of X, so weights 1/2, 1/4, 1/4.
    # W(a) = {A}: 1, W(b) = {B, …}: 5, W(c) = {C}: 1, W(x) = ∅, so |W ∪ D| = 1, 5, 1, 1.
    kb = make_kb(
        [("a", "dbr:A", 1, "n"), ("c", "dbr:C", 1, "n"), ("b", "dbr:B", 1, "n")]
        + [("b", f"dbr:B{n}", 1, "n") for n in range(4)],
        types=[("dbr:A", "dbo:Person", "t"), ("dbr:B", "dbo:Person", "t")],
    )
    rows = pl.DataFrame(
        {
            "annotation": ["1", "2", "3", "4"],
            "document": ["d/1"] * 4,
            "dataset": ["d"] * 4,
            "surface_form": ["a", "b", "c", "x"],
            "group": ["1", "g", "g", "g"],
            "option": ["1", "b", "cx", "cx"],
        }
    )
    links = pl.DataFrame({"annotation": ["1", "2", "3", "4"], "entity": [kb_iri(name) for name in "ABCX"]})
    measured = compute(
        corpus([], empty=["d/1"], annotations=rows, links=links),
        kb,
        measures=[
            "candidate-recall",
            "confusion-surface-form",
            "dominance-surface-form",
            "maximum-recall",
            "number-of-annotations",
            "repetition",
            "types",
        ],
    )
    assert of(measured, "ambiguitySurfaceForm", "micro") == pytest.approx((1 + (5 / 2 + 1 / 4 + 1 / 4)) / 2)
    assert measured.documents["ambiguitySurfaceForms"].to_list() == pytest.approx([2.0])
    assert of(measured, "ambiguitySurfaceForm", "distinct") == pytest.approx((1 + 5 + 1 + 1) / 4)
    # Dominance 1, 1/5, 1 and none: of the second mention (1/5 · 1/2 + 1 · 1/4) / (3/4).
    assert of(measured, "dominanceSurfaceForm", "micro") == pytest.approx((1 + (0.1 + 0.25) / 0.75) / 2)
    assert covered(measured, "dominanceSurfaceForm", "micro") == pytest.approx(1.0)
    # 'b' can be found, so the second mention can; that x cannot keeps nobody from it.
    assert column(measured, "isCandidate") == [True, True, True, False]
    assert of(measured, "candidateRecall", "micro") == pytest.approx(1.0)
    assert of(measured, "maxRecall", "micro") == pytest.approx(1.0)
    assert of(measured, "maxRecallPooled", "micro") == pytest.approx(1.0)
    assert of(measured, "typePerson", "micro") == pytest.approx((1 + 1 / 2) / 2)
    assert of(measured, "numAnnotations", "count") == 2
    assert of(measured, "entitiesPerAnnotation", "count") == 4
    assert of(measured, "entitiesPerAnnotation", "micro") == pytest.approx(4 / 2)


def test_averages_when_an_alternative_is_nil_then_its_mention_counts_once_and_its_form_has_no_recall(
    corpus: Make, make_kb: MakeKb
) -> None:
    # One mention that is 'a' of A or 'n' of nothing: one linked mention with one entity, 1/1, and two forms, 2/1.
    kb = make_kb([("a", "dbr:A", 1, "n")])
    rows = pl.DataFrame(
        {
            "annotation": ["1", "2"],
            "document": ["d/1"] * 2,
            "dataset": ["d"] * 2,
            "surface_form": ["a", "n"],
            "is_nil": [False, True],
            "group": ["g", "g"],
            "option": ["1", "2"],
        }
    )
    links = pl.DataFrame({"annotation": ["1"], "entity": [kb_iri("A")]})
    frames = corpus([], empty=["d/1"], annotations=rows, links=links)
    measured = compute(frames, kb, measures=["candidate-recall", "repetition"])
    assert of(measured, "entitiesPerAnnotation", "micro") == pytest.approx(1 / 1)
    assert measured.documents["entitiesPerAnnotation"].to_list() == pytest.approx([1 / 1])
    assert of(measured, "formsPerAnnotation", "micro") == pytest.approx(2 / 1)
    # Of the forms a is linked, to its candidate; n is NIL and has no value: 1/1, of one form of two.
    assert of(measured, "candidateRecall", "distinct") == pytest.approx(1 / 1)
    assert covered(measured, "candidateRecall", "distinct") == pytest.approx(1 / 2)
    assert covered(measured, "candidateRecall", "micro") == pytest.approx(1.0)


def test_types_when_classes_are_of_many_vocabularies_then_coarse_ones_are_added_once(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb(
        [("a", "dbr:A", "", "n")],
        types=[("dbr:A", "wd:Q5", "t"), ("dbr:B", "dbo:Book", "t")],
    )
    given = pl.DataFrame(
        {
            "annotation": ["d/1#1", "d/1#2", "d/1#2"],
            "class": [f"{DBO}Book", f"{DBO}Place", "https://w3id.org/nel-remix/el#Mnt-Full"],
        }
    )
    frames = corpus(
        [("d/1", "a", kb_iri("A")), ("d/1", "b", kb_iri("B")), ("d/1", "c", kb_iri("C")), ("d/1", "d", kb_iri("D"))],
        classes=given,
    )
    measured = compute(frames, kb, measures=["types"])
    added = measured.classes.select("annotation", "class").rows()
    # Q5 maps to dbo:Person; dbo:Book and dbo:Place stand in the data already.
    assert added == [("d/1#0", f"{DBO}Person"), ("d/1#0", "http://www.wikidata.org/entity/Q5")]
    assert [of(measured, f"type{kind}", "micro") for kind in ("Person", "Organisation", "Place", "Other", "None")] == [
        0.25,
        0.0,
        0.25,
        0.25,
        0.25,
    ]
    assert of(measured, "typeUnspecified", "micro") == pytest.approx(0.5)
    assert of(measured, "typePerson", "count") == 1


def test_types_when_one_entity_repeats_then_distinct_counts_it_once(corpus: Make, make_kb: MakeKb) -> None:
    kb = make_kb([("a", "dbr:A", "", "n")], types=[("dbr:A", "dbo:Person", "t")])
    frames = corpus([("d/1", "a", kb_iri("A"))] * 3 + [("d/1", "b", kb_iri("B"))])
    measured = compute(frames, kb, measures=["types"])
    assert of(measured, "typePerson", "micro") == pytest.approx(3 / 4)
    assert of(measured, "typePerson", "distinct") == pytest.approx(1 / 2)


def test_prior_when_another_candidate_is_more_frequent_then_the_annotation_is_rare(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb([("a", "dbr:A", 6, "anchors"), ("a", "dbr:B", 2, "anchors"), ("u", "dbr:U", "", "names")])
    frames = corpus([("d/1", "a", kb_iri(e)) for e in "ABX"] + [("d/1", "u", kb_iri("U")), ("d/1", "z", kb_iri("A"))])
    measured = compute(frames, kb, measures=["prior"])
    assert column(measured, "prior") == [0.75, 0.25, 0.0, None, None]
    assert column(measured, "candidateRank") == [1, 2, None, 1, None]
    # X is no candidate of a, which candidate recall tells: it is neither rare nor not.
    assert column(measured, "isRare") == [False, True, None, False, None]
    assert of(measured, "isRare", "micro") == pytest.approx(1 / 3)
    assert covered(measured, "isRare", "micro") == pytest.approx(3 / 5)


def test_rare_when_the_largest_prior_is_shared_then_none_of_those_who_share_it_is_rare(
    corpus: Make, make_kb: MakeKb
) -> None:
    # A and B have 3 counts each, C 1. A has the higher PageRank, so B ranks second, but its prior is the largest, too.
    kb = make_kb(
        [("a", "dbr:A", 3, "n"), ("a", "dbr:B", 3, "n"), ("a", "dbr:C", 1, "n"), ("u", "dbr:A", "", "n")]
        + [("u", "dbr:B", "", "n")],
        links=[("dbr:C", "dbr:A", "1", "l"), ("dbr:B", "dbr:A", "1", "l")],
    )
    rows = [("d/1", "a", kb_iri(e)) for e in "ABC"] + [("d/1", "u", kb_iri(e)) for e in "AB"]
    measured = compute(corpus(rows), kb, measures=["prior"])
    assert column(measured, "candidateRank") == [1, 2, 3, 1, 2]
    # Of u there are no counts: PageRank stands in their place.
    assert column(measured, "isRare") == [False, False, True, False, True]


def test_nil_when_the_knowledge_base_is_complete_then_unknown_links_are_implicit(corpus: Make, make_kb: MakeKb) -> None:
    forms = [("a", "dbr:A", "", "n")]
    more = {"redirects": [("dbr:R", "dbr:A", "r")], "disambiguations": [("dbr:P", "dbr:A", "p")]}
    frames = corpus([("d/1", "a", kb_iri(e)) for e in "ARPX"] + [("d/1", "n", None)])
    open_world = compute(frames, make_kb(forms, **more), measures=["link-health", "nil"])
    assert column(open_world, "linkStatus") == ["canonical", "redirect", "disambiguation", "unknown", None]
    assert column(open_world, "nil") == [None, None, None, None, "explicit"]
    closed = compute(frames, make_kb(forms, complete=True, **more), measures=["link-health", "nil"])
    assert column(closed, "nil") == [None, None, None, "implicit", "explicit"]
    assert of(closed, "nilImplicit", "micro") == pytest.approx(1 / 5)
    assert of(closed, "linkStatusRedirect", "count") == 1


def test_prominence_when_the_entity_is_a_redirect_then_its_target_counts_and_unknown_is_unspecified(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb(
        [("a", "dbr:A", "", "n")],
        links=[("dbr:B", "dbr:A", "1", "l"), ("dbr:A", "dbr:B", "1", "l")],
        redirects=[("dbr:R", "dbr:A", "r")],
    )
    measured = compute(
        corpus([("d/1", "a", kb_iri("R")), ("d/1", "x", kb_iri("X")), ("d/1", "n", None)]),
        kb,
        measures=["prominence", "prominence-segment"],
    )
    assert column(measured, "pagerank") == [pytest.approx(0.5), None, None]
    assert column(measured, "pagerankPercentile") == [50.0, None, None]  # A and B are equal: half of 2 of 2
    assert column(measured, "pagerankSegment") == ["head", "unspecified", None]
    assert covered(measured, "pagerank", "micro") == pytest.approx(1 / 3)


def test_links_when_several_are_acceptable_then_any_counts_and_the_prominent_one_is_measured(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb(
        [("a", "dbr:B", 1, "n"), ("x", "dbr:Z", 1, "n"), ("y", "dbr:Z", 1, "n")],
        links=[("dbr:A", "dbr:Z", "1", "l"), ("dbr:B", "dbr:Z", "1", "l")],
    )
    both = pl.DataFrame({"annotation": ["d/1#0"] * 2, "entity": [kb_iri("B"), kb_iri("Z")]})
    measured = compute(
        corpus([("d/1", "a", kb_iri("B"))], links=both),
        kb,
        measures=["candidate-recall", "confusion-entity", "confusion-surface-form", "prior"],
    )
    assert column(measured, "isCandidate") == [True]  # through B
    assert column(measured, "ambiguityEntity") == [3]  # of Z: x, y, and a in the dataset
    assert column(measured, "ambiguitySurfaceForm") == [2]
    assert column(measured, "isRare") == [False]


def test_links_when_one_of_several_is_better_than_others_then_it_counts_in_any_order(
    corpus: Make, make_kb: MakeKb
) -> None:
    # Of a, A has 6 counts of 8 and B, which R redirects to, 2; X is nowhere.
    kb = make_kb(
        [("a", "dbr:A", 6, "n"), ("a", "dbr:B", 2, "n")],
        complete=True,
        redirects=[("dbr:R", "dbr:B", "r")],
        types=[("dbr:A", "dbo:Person", "t"), ("dbr:B", "dbo:Place", "t")],
    )
    several = ["BX", "XA", "AB", "XR", "X"]
    links = [(f"d/1#{n}", kb_iri(name)) for n, names in enumerate(several) for name in names]
    table = pl.DataFrame(links, schema={"annotation": pl.String, "entity": pl.String}, orient="row")
    measured = compute(
        corpus([("d/1", "a", kb_iri(names[0])) for names in several], links=table),
        kb,
        measures=["candidate-recall", "link-health", "nil", "prior", "types"],
    )
    assert column(measured, "prior") == [0.25, 0.75, 0.75, 0.25, 0.0]
    assert column(measured, "candidateRank") == [2, 1, 1, 2, None]
    assert column(measured, "isRare") == [True, False, False, True, None]
    assert column(measured, "isCandidate") == [True, True, True, True, False]
    assert column(measured, "linkStatus") == ["canonical", "canonical", "canonical", "redirect", "unknown"]
    assert column(measured, "nil") == [None, None, None, None, "implicit"]
    assert of(measured, "typePerson", "count") == 2  # XA and AB
    assert of(measured, "typePlace", "count") == 3  # BX, AB and XR


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 3), (4, 8)], ["none", "none"]),
        ([(0, 8), (0, 3)], ["maximal", "minimal"]),
        ([(0, 20), (0, 12), (0, 8)], ["maximal", "intermediate", "minimal"]),
        ([(0, 5), (3, 8)], ["crossing", "crossing"]),
        ([(0, 5), (5, 8)], ["none", "none"]),
        ([(0, 5), (0, 5)], ["none", "none"]),
        ([(0, 9), (2, 4), (3, 12)], ["maximal", "minimal", "crossing"]),
        ([(0, 5), (0, 5), (1, 2)], ["maximal", "maximal", "minimal"]),
    ],
)
def test_overlap_when_spans_nest_or_cross_then_they_are_named_so(
    corpus: Make, spans: list[tuple[int, int]], expected: list[str]
) -> None:
    rows = pl.DataFrame(
        {
            "annotation": [f"d/1#{n}" for n in range(len(spans))],
            "document": "d/1",
            "dataset": "d",
            "begin": [begin for begin, _ in spans],
            "end": [end for _, end in spans],
        }
    )
    other = rows.with_columns(annotation=pl.col("annotation").str.replace("1#", "2#"), document=pl.lit("d/2"))
    measured = compute(
        corpus([], empty=["d/1", "d/2"], annotations=pl.concat([other, rows])), None, measures=["overlap"]
    )
    assert column(measured, "overlap") == expected * 2


def test_percentiles_when_values_are_equal_then_half_of_the_equal_ones_count_as_smaller(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb([("a", "dbr:A", "", "n"), ("a", "dbr:B", "", "n")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("d/1", "x", kb_iri("X")), ("e/1", "y", kb_iri("Y"))])
    measured = compute(frames, kb, measures=["normalised", "number-of-annotations"])
    # Confusion 2, 1, 1: two are smaller than the first, which is half an equal: 2.5 / 3; of the others 0 + 2/2: 1 / 3.
    assert column(measured, "ambiguitySurfaceFormPercentile") == pytest.approx([250 / 3, 100 / 3, 100 / 3])
    # Documents have 2 and 1 annotations: 1.5 / 2 and 0.5 / 2.
    assert measured.documents["numAnnotationsPercentile"].to_list() == [75.0, 25.0]


def test_case_when_it_is_kept_then_other_spellings_are_other_forms(corpus: Make, make_kb: MakeKb) -> None:
    kb = make_kb([("US", "dbr:United_States", "", "n"), ("us", "dbr:Us_(film)", "", "n")])
    frames = corpus([("d/1", "US", kb_iri("United_States"))])
    assert column(compute(frames, kb, measures=["confusion-surface-form"]), "dictionaryEntities") == [2]
    assert column(
        compute(frames, kb, case_sensitive=True, measures=["confusion-surface-form"]), "dictionaryEntities"
    ) == [1]


def test_hfts_profile_when_values_are_missing_then_the_library_is_followed(corpus: Make, make_kb: MakeKb) -> None:
    # W(a) = {A, B}: 2. 'x y' has a space and never matches: 1. Document 2 is empty and counts as 0 in macro.
    kb = make_kb([("a", "dbr:A", "", "n"), ("a", "dbr:B", "", "n"), ("x y", "dbr:A", "", "n")])
    frames = corpus([("d/1", "a", kb_iri("A")), ("d/1", "x y", kb_iri("A"))], empty=["d/2"])
    measured = compute(frames, kb, profile="hfts")
    assert column(measured, "ambiguitySurfaceForm") == [2, 1]
    assert of(measured, "ambiguitySurfaceForm", "micro") == pytest.approx(1.5)
    assert of(measured, "ambiguitySurfaceForm", "macro") == pytest.approx(0.75)
    # Dominance of forms: 1/2 for a, nothing for the unmatched, over both: 1/4. Recall: 1/2 pooled, macro (1/2 + 0) / 2.
    assert of(measured, "dominanceSurfaceForm", "micro") == pytest.approx(0.25)
    assert of(measured, "maxRecall", "micro") == pytest.approx(0.5)
    assert of(measured, "maxRecall", "macro") == pytest.approx(0.25)


def test_hfts_profile_when_a_form_repeats_then_its_first_entity_alone_counts(corpus: Make, make_kb: MakeKb) -> None:
    # W(a) = 4 entities. The library begins a form's list with its first entity and adds only what is in it already:
    # A, B, A, C leaves [A, A], 2 of 4 for each of the four annotations; the entities B and C never count.
    kb = make_kb([("a", f"dbr:{name}", "", "n") for name in "ABCD"])
    frames = corpus(
        [("d/1", "a", kb_iri("A")), ("d/1", "a", kb_iri("B")), ("d/2", "a", kb_iri("A")), ("d/2", "a", kb_iri("C"))]
    )
    assert of(compute(frames, kb, profile="hfts"), "dominanceSurfaceForm", "micro") == pytest.approx(2 / 4)
    # By the formula of the paper D has 3 entities of the form: 3 of 4.
    assert of(
        compute(frames, kb, measures=["dominance-surface-form"]), "dominanceSurfaceForm", "micro"
    ) == pytest.approx(3 / 4)


def test_name_relation_when_forms_differ_from_the_label_then_they_are_named_so(corpus: Make, make_kb: MakeKb) -> None:
    kb = make_kb([("a", "dbr:MJ", "", "n")], labels=[("dbr:MJ", "Michael Jackson", "l")])
    forms = ["michael jackson", "Jackson", "Michael Joseph Jackson", "King of Pop"]
    rows = [("d/1", form, kb_iri("MJ")) for form in forms]
    rows += [("d/1", "Java", kb_iri("Java_(island)")), ("d/1", "it", "http://www.wikidata.org/entity/Q9")]
    measured = compute(corpus(rows), kb, measures=["name-relation"])
    assert column(measured, "nameRelation") == ["full", "short", "extended", "alias", "full", None]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("named", {"formLowercased", "formLowercaseInitial"}),
        ("the band", {"formLowercased", "formMultiword", "formLowercaseInitial"}),
        # What begins with a small letter is lower and not multiword in ELEVANT, whatever follows.
        ("the Band", {"formMultiword", "formLowercaseInitial"}),
        ("1930 census", {"formLowercased", "formMultiword", "formLowercaseInitial"}),
        ('"Hot" chart', {"formMultiword", "formMultiwordCapitalised"}),
        ("EMP", {"formAcronym"}),
        ("U.S.", {"formAcronym"}),
        ("Real", set()),
        ("1968", {"formNumeric"}),
        ("October 20, 1968", {"formNumeric", "formMultiword", "formMultiwordCapitalised"}),
        ("first", {"formNumeric", "formLowercased", "formLowercaseInitial"}),
        ("30 %", {"formNumeric", "formMultiword", "formMultiwordCapitalised"}),
        ("Area 51", {"formMultiword", "formMultiwordCapitalised"}),
    ],
)
def test_form_when_it_is_read_then_its_patterns_hold(corpus: Make, form: str, expected: set[str]) -> None:
    row = compute(corpus([("d/1", form, None)]), None, measures=["form"]).annotations.row(0, named=True)
    assert {name for name, value in row.items() if name.startswith("form") and value is True} == expected


@pytest.mark.parametrize(
    ("file", "published"),
    [
        ("news-fair-no-coref.benchmark.jsonl.gz", (24, 36)),
        ("wiki-fair-no-coref.benchmark.jsonl.gz", (18, 43)),
        ("msnbc-updated.benchmark.jsonl.gz", (1, 43)),
        ("kore50.benchmark.jsonl", (0, 8)),
    ],
)
def test_lower_and_multiword_of_elevants_table_3_come_out(
    real_data: Path, file: str, published: tuple[int, int]
) -> None:
    frames = read(real_data / "elevant" / "benchmarks" / file).frames.gold()
    # Table 3 has a mention once: the first of its readings, which is the outermost.
    first = frames.annotations.sort("option").unique("group", keep="first").select("annotation")
    rows = compute(frames, None, measures=["form"]).annotations.join(first, on="annotation")
    shares = rows.select(pl.col("formLowercaseInitial", "formMultiwordCapitalised").mean() * 100).row(0)
    assert tuple(round(share) for share in shares) == published


def test_metonym_when_the_top_candidate_is_a_place_and_the_entity_is_not_then_it_holds(
    corpus: Make, make_kb: MakeKb
) -> None:
    kb = make_kb(
        [("Rome", "dbr:Rome", 9, "n"), ("Rome", "dbr:Government", 1, "n"), ("Rome", "dbr:Person", 1, "n")],
        types=[("dbr:Rome", "dbo:City", "t"), ("dbr:Government", "dbo:Agency", "t"), ("dbr:Person", "dbo:Person", "t")],
    )
    measured = compute(
        corpus([("d/1", "Rome", kb_iri(e)) for e in ("Rome", "Government", "Person", "Untyped")]), kb, measures=["form"]
    )
    assert column(measured, "formMetonym") == [False, True, False, None]


def test_demonym_when_the_kb_has_the_form_as_one_then_it_holds_and_is_no_metonym(corpus: Make, make_kb: MakeKb) -> None:
    forms = [(form, "dbr:Russia", 9, "n") for form in ("Russian", "Moscow")]
    types = [("dbr:Russia", "dbo:Place", "t"), ("dbr:Russian_language", "dbo:Language", "t")]
    kb = make_kb(forms, types=types, demonyms=[("Russian", "dbr:Russia", "d"), ("russe", "dbr:Russia", "d")])
    frames = corpus([("d/1", form, kb_iri("Russian_language")) for form in ("russian", "Moscow", "Russians")])
    measured = compute(frames, kb, measures=["form"])
    assert column(measured, "formDemonym") == [True, False, False]
    assert column(measured, "formMetonym") == [False, True, False]
    assert column(compute(frames, kb, case_sensitive=True, measures=["form"]), "formDemonym") == [False, False, False]


def test_demonym_when_the_kb_has_none_then_it_is_absent_and_metonyms_are_not(corpus: Make, make_kb: MakeKb) -> None:
    types = [("dbr:Russia", "dbo:Place", "t"), ("dbr:Government", "dbo:Agency", "t")]
    measured = compute(
        corpus([("d/1", "Moscow", kb_iri("Government"))]),
        make_kb([("Moscow", "dbr:Russia", 9, "n")], types=types),
        measures=["form"],
    )
    assert column(measured, "formDemonym") == [None]
    assert column(measured, "formMetonym") == [True]


def test_repetition_when_entities_come_again_then_they_count_once(corpus: Make) -> None:
    # Dataset: A, A, B of 3 linked: 2/3. Document 1: A, A: 1/2; document 2: B: 1; forms a, b, n, b: 3/4.
    frames = corpus(
        [("d/1", "a", kb_iri("A")), ("d/1", "b", kb_iri("A")), ("d/1", "n", None), ("d/2", "b", kb_iri("B"))]
    )
    measured = compute(frames, None, measures=["repetition"])
    assert of(measured, "entitiesPerAnnotation", "micro") == pytest.approx(2 / 3)
    assert of(measured, "entitiesPerAnnotation", "macro") == pytest.approx(3 / 4)
    assert of(measured, "entitiesPerAnnotation", "count") == 2
    assert of(measured, "formsPerAnnotation", "micro") == pytest.approx(3 / 4)
    assert measured.documents["numEntities"].to_list() == [1, 1]


def test_text_when_lengths_differ_then_sum_and_mean_are_given(corpus: Make) -> None:
    texts = pl.DataFrame({"document": ["d/1", "d/2"], "dataset": ["d", "d"], "text": ["zwei Wörter", "a b\u00a0c d"]})
    measured = compute(corpus([], documents=texts), None, measures=["text"])
    assert measured.documents["numWords"].to_list() == [2, 4]
    assert of(measured, "numWords", "count") == 6
    assert of(measured, "numCharacters", "macro") == pytest.approx((11 + 7) / 2)


def test_answers_are_measured_by_the_sets_of_the_dataset_that_they_answer(corpus, make_kb) -> None:  # type: ignore[no-untyped-def]
    # W_E(Ada) = {e1, e2}; gold links Ada to e3, so |W ∪ E^D| = 3 for every answer with that form, whatever it links
    # to. No set holds the form Bob or the entity e9.
    kb = make_kb([("Ada", "e:1", 1, "x"), ("Ada", "e:2", 1, "x")])
    gold = corpus([("x/d", "Ada", "e:3")])
    answers = corpus([("x/d", "Ada", "e:3"), ("x/d", "Ada", "e:9"), ("x/d", "Bob", "e:9"), ("x/d", "Bob", None)])
    found = compute(answers, kb, within=gold, measures=["confusion-entity", "confusion-surface-form"]).annotations.sort(
        "annotation"
    )
    assert found["ambiguitySurfaceForm"].to_list() == [3, 3, 0, 0]
    assert found["ambiguityEntity"].to_list() == [1, 0, 0, None]


def test_frequency_counts_forms_and_entities_of_the_dataset_and_ranks_the_meanings_of_a_form(
    corpus: Make, make_kb: MakeKb
) -> None:
    # 'a' is A three times, B once and NIL once: 5 annotations; entropy of 3/4 and 1/4 is 0.811278 bits. 'b' is B: 0.
    links = [("d/1", "a", kb_iri("A")), ("d/1", "a", kb_iri("A")), ("d/2", "a", kb_iri("A")), ("d/2", "a", kb_iri("B"))]
    frames = corpus([*links, ("d/2", "a", None), ("d/2", "b", kb_iri("B"))])
    measured = compute(frames, None, measures=["frequency"])
    assert column(measured, "formFrequency") == [5, 5, 5, 5, 5, 1]
    assert column(measured, "entityFrequency") == [3, 3, 3, 2, None, 2]
    assert column(measured, "meaningRank") == [1, 1, 1, 2, None, 1]
    assert column(measured, "formEntropy") == pytest.approx([0.811278] * 5 + [0.0], abs=1e-6)
    assert of(measured, "entityFrequency", "distinct") == pytest.approx(2.5)  # A 3, B 2


def test_frequency_where_two_meanings_are_as_frequent_then_they_share_the_rank(corpus: Make, make_kb: MakeKb) -> None:
    measured = compute(corpus([("d/1", "a", kb_iri("A")), ("d/1", "a", kb_iri("B"))]), None)
    assert column(measured, "meaningRank") == [1, 1]
    assert column(measured, "formEntropy") == [1.0, 1.0]


def test_text_when_a_document_has_none_then_its_length_is_absent_and_not_0(corpus: Make) -> None:
    # Words of the one text that there is: 2, also on average. Dataset e has no text at all.
    names = ["d/1", "d/2", "e/1"]
    texts = pl.DataFrame({"document": names, "dataset": ["d", "d", "e"], "text": ["a b", None, None]})
    measured = compute(corpus([], documents=texts), None, measures=["number-of-annotations", "text"])
    assert measured.documents["numWords"].to_list() == [2, None, None]
    assert measured.documents["numAnnotations"].to_list() == [0, 0, 0]
    assert (of(measured, "numWords", "count"), of(measured, "numWords", "macro")) == (2, 2)
    assert of(measured, "numWords", "count", "e") is None
    assert of(measured, "numAnnotations", "count", "e") == 0


def test_form_side_when_an_annotation_has_no_text_then_it_is_absent_and_the_annotation_is_no_form_of_its_entity(
    corpus: Make, make_kb: MakeKb
) -> None:
    # One annotation 'a' of A, one of A that only says that A is in the text. W(a) = {A, B}, W(A) = {a, x}.
    kb = make_kb([("a", "dbr:A", 3, "n"), ("a", "dbr:B", 1, "n"), ("x", "dbr:A", "", "n")])
    made = corpus([("d/1", "a", kb_iri("A")), ("d/2", "", kb_iri("A"))])
    untold = made.annotations.with_columns(pl.when(pl.col("surface_form") != "").then("surface_form"))
    frames = Frames.of(documents=made.documents, annotations=untold, links=made.links)
    measured = compute(frames, kb)
    for name, value in (
        ("ambiguitySurfaceForm", 2),
        ("ambiguitySurfaceFormPercentile", 50.0),
        ("dictionaryEntities", 2),
        ("dominanceSurfaceForm", 1 / 2),
        ("formMetonym", False),
        ("inDictionary", True),
        ("isCandidate", True),
        ("prior", 3 / 4),
    ):
        assert column(measured, name) == [value, None], name
    assert column(measured, "ambiguityEntity") == [2, 2]  # {a, x} ∪ {a}
    assert column(measured, "dominanceEntity") == [1 / 2, 1 / 2]  # S^D(A) = {a}
    assert measured.documents["diversityEntities"].to_list() == [1 / 2, None]  # S^d(A) is not known
    assert of(measured, "ambiguitySurfaceForm", "micro") == pytest.approx(2 / 1)
    assert covered(measured, "ambiguitySurfaceForm", "micro") == pytest.approx(1 / 2)
    for average in ("micro", "macro"):
        assert of(measured, "maxRecall", average) == pytest.approx(1.0)
        assert of(measured, "candidateRecall", average) == pytest.approx(1.0)
    assert of(measured, "maxRecallPooled", "micro") == pytest.approx(1.0)
