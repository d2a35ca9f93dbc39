"""The precision in scope where gold was cut by a query or is sliced by a measure: answers by their form and entity."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from remix import progress
from remix.errors import MissingKnowledge
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.names import HFTS_OLD
from remix.scoring.inputs import Background, restore_dropped
from remix.web.page import VIEWS, Note
from remix.workspace import Workspace, open_workspace
from tests.scoring.conftest import evaluate

# "Ada" stands for three entities, "Rome" for one; "Bob" is in no dictionary.
FORMS = [("Ada", "e:1"), ("Ada", "e:2"), ("Ada", "e:3"), ("Rome", "e:4")]
TYPES = [("e:1", "dbo:Person"), ("e:2", "dbo:Person"), ("e:3", "dbo:Place"), ("e:4", "dbo:Place")]
TEXT = "Ada saw Rome. Then Ada and Rome and Bob."
ADA, ROME, ADA_2, ROME_2, BOB = (0, 3), (8, 12), (19, 22), (27, 31), (36, 39)
GOLD = [(*ADA, "e:1"), (*ROME, "e:4")]
# Right, on a dropped mention, and three where gold has nothing.
RUN = [(*ADA, "e:1"), (*ROME, "e:9"), (*ADA_2, "e:9"), (*ROME_2, "e:4"), (*BOB, "e:2")]
CONFUSED = "SELECT ?annotation { ?annotation hfts:ambiguitySurfaceForm ?n FILTER (?n >= 3) }"
SAME = ["tp", "fp", "fn", "ignored", "precision", "recall", "f1", "precision_in_scope", "precision_on_mention"]
SAME += ["f1_in_scope", "f1_on_mention"]


@pytest.fixture(scope="module")
def kb(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    forms = "".join(f"{form}\t{entity}\t1\tx\n" for form, entity in FORMS)
    types = "".join(f"{entity}\t{name}\tx\n" for entity, name in TYPES)
    surface_forms = f"surface_form\tentity_iri\tcount\tsource\n{forms}"
    return kb_of({"surface_forms.tsv": surface_forms, "types.tsv": f"entity_iri\ttype_iri\tsource\n{types}"})


def framed(rows: list[tuple[int, int, str]]) -> Frames:
    names = [f"urn:d#{n}" for n in range(len(rows))]
    return Frames.of(
        documents=pl.DataFrame({"document": ["urn:d"], "dataset": ["x"], "text": [TEXT]}),
        annotations=pl.DataFrame(
            {
                "annotation": names,
                "document": "urn:d",
                "dataset": "x",
                "begin": [row[0] for row in rows],
                "end": [row[1] for row in rows],
                "surface_form": [TEXT[row[0] : row[1]] for row in rows],
                "is_nil": [not row[2] for row in rows],
            }
        ),
        links=pl.DataFrame({"annotation": names, "entity": [row[2] for row in rows]}).filter(pl.col("entity") != ""),
    )


def cut(gold: Frames, kept: str) -> Frames:
    """Gold with all mentions but those of one form dropped."""
    dropped = pl.when(pl.col("surface_form") != kept).then(pl.lit("dropped")).alias("ignorable")
    return replace(gold, annotations=gold.annotations.with_columns(dropped))


def scored(gold: Frames, kb: KnowledgeBase, query: str = "", **choices: object) -> pl.DataFrame:
    background = Background.of(gold, kb, {"x": query} if query else {})
    rows = evaluate(
        gold, {"s": framed(RUN)}, task=["A2KB"], match=["strong"], kb=kb, backgrounds=(background,), **choices
    )  # type: ignore[arg-type]
    return rows.filter(pl.col("average") == "micro")


def test_answers_that_the_query_of_a_remix_does_not_select_are_out_of_scope(kb: KnowledgeBase) -> None:
    # TP: Ada. Ignored: the answer on Rome. FP: Ada (confusion 3), Rome (1), Bob (0): the first alone is in scope.
    row = scored(cut(framed(GOLD), "Ada"), kb, CONFUSED).row(0, named=True)
    assert (row["tp"], row["fp"], row["fn"], row["ignored"]) == (1, 3, 0, 1)
    assert (row["precision"], row["precision_in_scope"], row["precision_on_mention"]) == (1 / 4, 1 / 2, 1)
    assert row["f1_precision"] == "in scope"
    # R = 1: 2 TP / (2 TP + FP) with the FPs of each precision.
    assert (row["f1"], row["f1_in_scope"], row["f1_on_mention"]) == (2 / 5, 2 / 3, 1)


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    "condition",
    [
        "?annotation ?measure ?n FILTER (?n >= 3 && ?measure = hfts:ambiguitySurfaceForm)",
        "?annotation !(rdf:type|hfts:density) ?n FILTER (datatype(?n) = xsd:integer && ?n = 3)",
        "?annotation hfts:ambiguitySurfaceForm|rmx:none ?n FILTER (?n >= 3)",
        f"?annotation <{HFTS_OLD}ambiguitySurfaceForm> ?n FILTER (?n >= 3)",
    ],
    ids=["variable", "all but some", "one of several", "older name"],
)
def test_measures_are_there_however_a_query_asks_for_them(kb: KnowledgeBase, condition: str) -> None:
    # The confusion of Ada is 3.
    asked = f"SELECT ?annotation {{ ?annotation a nif:Phrase . {condition} }}"
    row = scored(cut(framed(GOLD), "Ada"), kb, asked).row(0, named=True)
    assert row["precision_in_scope"] == 1 / 2


@pytest.mark.long
def test_slice_by_a_measure_and_remix_by_the_same_condition_have_the_same_figures(kb: KnowledgeBase) -> None:
    columns = pl.DataFrame({"annotation": ["urn:d#0", "urn:d#1"], "ambiguitySurfaceForm": [3, 1]})
    sliced = scored(framed(GOLD), kb, columns=columns, by=["ambiguitySurfaceForm"])
    three = sliced.filter(pl.col("slice") == "3").select(SAME)
    assert three.equals(scored(cut(framed(GOLD), "Ada"), kb, CONFUSED).select(SAME))
    assert three["precision_in_scope"].to_list() == [1 / 2]


def test_slice_by_class_and_remix_by_its_query_have_the_same_figures(kb: KnowledgeBase) -> None:
    # Persons: Ada is right; e:9 has no type and may be a person, e:4 is a place, e:2 a person: 1 of 1 + 2.
    persons = "SELECT ?annotation { ?annotation itsrdf:taClassRef dbo:Person }"
    person = "http://dbpedia.org/ontology/Person"
    classes = pl.DataFrame({"annotation": ["urn:d#0"], "class": [person], "of_entity": [True]})
    gold = replace(framed(GOLD), classes=classes)
    sliced = scored(gold, kb, types=kb.types, by=["class"]).filter(pl.col("slice") == person).select(SAME)
    remixed = scored(cut(gold, "Ada"), kb, persons, types=kb.types).select(SAME)
    assert sliced.equals(remixed)
    assert remixed["precision_in_scope"].to_list() == [1 / 3]


def test_conditions_of_a_query_hold_together_and_those_on_documents_hold_for_all_answers(kb: KnowledgeBase) -> None:
    # Person or of unknown type, and confusion of at least 3: only the second Ada (e:9) of the three; the document has
    # two mentions in the origin, though the remix has one.
    query = """SELECT ?document ?annotation { ?document hfts:numAnnotations 2 .
        ?annotation nif:referenceContext ?document ; itsrdf:taClassRef dbo:Person ; hfts:ambiguitySurfaceForm ?n .
        FILTER (?n >= 3) }"""
    row = scored(cut(framed(GOLD), "Ada"), kb, query, types=kb.types).row(0, named=True)
    assert row["precision_in_scope"] == 1 / 2


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT ?annotation { ?annotation nif:anchorOf 'Ada' ; rmx:overlap 'none' }", "how mentions overlap"),
        ("SELECT ?annotation { ?annotation a nif:Phrase } LIMIT 1", "counts or limits"),
        ("SELECT ?annotation { { SELECT ?annotation { ?annotation a nif:Phrase } } }", "may count or limit"),
        ("SELECT ?annotation { ?annotation a nif:Phrase SERVICE <http://a.org/> { ?a ?b ?c } }", "another endpoint"),
        ("SELECT ?annotation { ?annotation hfts:ambiguitySurfaceForm 7 }", "1 of its 1 kept mentions would fail"),
        ("SELECT ?annotation {", "not understood"),
    ],
)
def test_precision_in_scope_is_not_known_where_the_query_asks_more_than_an_answer_can_tell(
    kb: KnowledgeBase, capsys: pytest.CaptureFixture[str], query: str, reason: str
) -> None:
    with progress.enable():
        row = scored(cut(framed(GOLD), "Ada"), kb, query).row(0, named=True)
    assert row["precision_in_scope"] is None
    assert row["f1_precision"] == "on mention"
    assert reason in capsys.readouterr().err


def test_answers_are_in_the_scope_of_a_filter_by_their_own_entity(kb: KnowledgeBase) -> None:
    # The filter was asked about e:1, which it keeps, and e:4. Of the answers that are no mention of gold, e:4 is out of
    # scope, e:9 and e:2 are in none of gold, so that nobody knows: 1 TP of 1 + 2.
    query = """#+ filter: "kb.ttl: …"
        SELECT ?document ?annotation WHERE {
          VALUES (?link) {
    (<e:1>)
          }
          ?annotation itsrdf:taIdentRef ?link ; nif:referenceContext ?document .
        }"""
    row = scored(cut(framed(GOLD), "Ada"), kb, query).row(0, named=True)
    assert (row["precision"], row["precision_in_scope"], row["precision_on_mention"]) == (1 / 4, 1 / 3, 1)
    # As a query alone it would say that no other entity is meant.
    alone = scored(cut(framed(GOLD), "Ada"), kb, query.replace("#+ filter", "#+ title")).row(0, named=True)
    assert alone["precision_in_scope"] == 1


def test_answers_are_in_the_scope_of_a_remix_of_an_entity_by_what_they_are_linked_to(kb: KnowledgeBase) -> None:
    query = "SELECT ?annotation { ?annotation rmx:entity <e:1> }"
    row = scored(cut(framed(GOLD), "Ada"), kb, query).row(0, named=True)
    # Of the five answers one is right; of those where gold has nothing none is of e:1, all others are another's.
    assert row["precision_in_scope"] == 1.0 and row["precision"] < 1.0


def test_query_of_a_remix_that_takes_too_long_is_ended_and_told(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Less than a process takes to start.
    monkeypatch.setattr("remix.scoring.slicing.scope.TIMEOUT", 0.001)
    with progress.enable():
        row = scored(cut(framed(GOLD), "Ada"), kb, CONFUSED).row(0, named=True)
    assert row["precision_in_scope"] is None
    assert "P in scope is not known, as its query ran longer than 0.001 s" in capsys.readouterr().err


def test_slice_of_a_remix_whose_query_is_unknown_has_no_precision_in_scope(kb: KnowledgeBase) -> None:
    rows = scored(cut(framed(GOLD), "Ada"), kb, by=["surface_form"])
    assert set(rows.filter(pl.col("column") == "surface_form")["f1_precision"]) == {"on mention"}


@pytest.mark.long
def test_percentiles_of_answers_are_places_among_the_annotations_of_the_origin(kb: KnowledgeBase) -> None:
    # Among Ada (3) and Rome (1), a confusion of 3 has 1 smaller and itself: (1 + 1/2) / 2, 75 %; 1 has 25 %, 0 has 0 %.
    query = "SELECT ?annotation { ?annotation rmx:ambiguitySurfaceFormPercentile ?p FILTER (?p = 25) }"
    row = scored(cut(framed(GOLD), "Rome"), kb, query).row(0, named=True)
    # FP: on Rome itself and the second Rome are in scope, Ada and Bob are not; the first Ada was dropped.
    assert (row["tp"], row["fp"], row["precision_in_scope"]) == (0, 4, 0.0)
    assert row["f1_precision"] == "in scope"
    other = scored(cut(framed(GOLD), "Ada"), kb, query.replace("25", "75")).row(0, named=True)
    assert other["precision_in_scope"] == 1 / 2


def test_dropped_annotations_are_required_in_the_origin() -> None:
    assert restore_dropped(cut(framed(GOLD), "Ada")).annotations["ignorable"].to_list() == [None, None]


NEWS = f"""
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
<http://x/1#char=0,40> a nif:Context ; nif:isString "{TEXT}" .
<http://x/1#char=0,3> a nif:Phrase ; nif:referenceContext <http://x/1#char=0,40> ;
  nif:beginIndex 0 ; nif:endIndex 3 ; nif:anchorOf "Ada" ; itsrdf:taIdentRef <e:1> .
<http://x/1#char=8,12> a nif:Phrase ; nif:referenceContext <http://x/1#char=0,40> ;
  nif:beginIndex 8 ; nif:endIndex 12 ; nif:anchorOf "Rome" ; itsrdf:taIdentRef <e:4> .
<http://x/2#char=0,9> a nif:Context ; nif:isString "Bob left." .
<http://x/2#char=0,3> a nif:Phrase ; nif:referenceContext <http://x/2#char=0,9> ;
  nif:beginIndex 0 ; nif:endIndex 3 ; nif:anchorOf "Bob" ; itsrdf:taIdentRef <e:2> .
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, kb: KnowledgeBase) -> Workspace:
    """A workspace with two documents, enriched, and a remix of its confused mentions beside it; not to be changed."""
    folder = tmp_path_factory.mktemp("scope")
    (folder / "news.ttl").write_text(NEWS, encoding="utf-8")
    write_frames(framed(RUN), folder / "run.ttl")
    made = open_workspace(folder / ".remix")
    made.load([folder / "news.ttl"])
    made.store.attach_kb(kb.folder)
    made.enrich()
    made.build(CONFUSED, name="confused", to=folder)
    return made


@pytest.fixture
def work(made: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """That workspace, with its folder as the current one."""
    monkeypatch.chdir(made.folder.parent)
    return made


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("hfts:ambiguitySurfaceForm ?n FILTER (?n >= 3)", "ambiguitySurfaceForm"),
        # What no answer has without a knowledge base would be the same of all of them.
        ("nif:anchorOf 'Ada' FILTER NOT EXISTS { ?annotation hfts:pagerank ?n }", "pagerank"),
    ],
)
def test_precision_in_scope_is_not_known_without_the_knowledge_base_that_the_query_needs(
    kb: KnowledgeBase, capsys: pytest.CaptureFixture[str], condition: str, named: str
) -> None:
    query = f"SELECT ?annotation {{ ?annotation {condition} }}"
    background = replace(Background.of(cut(framed(GOLD), "Ada"), None, {"x": query}), knowledge="small@123456")
    with progress.enable():
        rows = evaluate(
            cut(framed(GOLD), "Ada"), {"s": framed(RUN)}, task=["A2KB"], match=["strong"], backgrounds=(background,)
        )
    assert set(rows["f1_precision"]) == {"on mention"}
    told = f"x: P in scope is not known, as its query reads {named}, which answers have by a knowledge base of "
    told += "small@123456, by which it was measured, and none is attached: `remix kb attach FOLDER`; see P on mention"
    assert told in capsys.readouterr().err


def test_knowledge_base_that_a_remix_was_measured_by_is_named_where_another_is_attached(
    work: Workspace, capsys: pytest.CaptureFixture[str], kb_of: Callable[..., KnowledgeBase], tmp_path: Path
) -> None:
    """By the other Ada stands for one entity, so that the mention itself would not be selected."""
    other = kb_of({"surface_forms.tsv": "surface_form\tentity_iri\tcount\tsource\nAda\te:1\t1\tx\n"})
    alone = open_workspace(tmp_path / "alone")
    alone.store.attach_kb(other.folder)
    assert work.kb is not None
    with progress.enable():
        alone.evaluate(["confused.ttl"], run=["s=run.ttl"], task="A2KB", match="strong")
    told = f"it was measured by the knowledge base {work.kb.signature}: `remix kb attach` that one; see P on mention"
    assert told in capsys.readouterr().err


@pytest.mark.long
def test_page_of_systems_says_why_precision_in_scope_is_not_known(work: Workspace, tmp_path: Path) -> None:
    alone = open_workspace(tmp_path / "alone")
    alone.load(["confused.ttl"])
    alone.add_run("s", "run.ttl", on="confused")
    shutil.copy("confused.ttl", tmp_path / "bare.ttl")
    alone.load([tmp_path / "bare.ttl"])
    alone.add_run("s", "run.ttl", on="bare")

    def list_notes() -> str:
        blocks = VIEWS["systems"].show(alone, {"datasets": "confused,bare"}).blocks
        return "\n".join(block.text for block in blocks if isinstance(block, Note))

    told = list_notes()
    assert "confused: P in scope is not known, as its query reads ambiguitySurfaceForm" in told
    assert "none is attached: `remix kb attach FOLDER`." in told
    assert "bare: P in scope is not known, as the query that it was cut by is in no manifest beside it" in told
    assert work.kb is not None
    alone.store.attach_kb(work.kb.folder)
    assert "confused: P in scope" not in list_notes() and "bare: P in scope" in list_notes()


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("loaded", [True, False])
def test_manifest_beside_a_remix_tells_what_is_in_scope_with_and_without_its_origin(
    work: Workspace, loaded: bool, tmp_path: Path
) -> None:
    other = open_workspace(tmp_path / "other")
    other.load(["news.ttl"], name="another-name")
    assert work.kb is not None
    other.store.attach_kb(work.kb.folder)
    chosen = work if loaded else other
    rows = chosen.evaluate(["confused.ttl"], run=["s=run.ttl"], task=["A2KB"], match=["strong"]).rows
    row = rows.filter(pl.col("average") == "micro").row(0, named=True)
    assert (row["precision"], row["precision_in_scope"], row["precision_on_mention"]) == (1 / 4, 1 / 2, 1)


@pytest.mark.long
def test_percentiles_of_answers_are_among_all_that_was_measured_with_the_origin(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    # Of twelve annotations two have the value 1, Rome and Bob, and ten 3, all named Ada: (2 + 10 / 2) / 12, 58.3 %.
    # Among the three of news alone, of which the remix is cut, Ada would have (2 + 1 / 2) / 3, 83.3 %.
    many = "\n".join(
        f"<http://y/1#char={4 * n},{4 * n + 3}> a nif:Phrase ; nif:referenceContext <http://y/1#char=0,36> ; "
        f'nif:beginIndex {4 * n} ; nif:endIndex {4 * n + 3} ; nif:anchorOf "Ada" ; itsrdf:taIdentRef <e:1> .'
        for n in range(9)
    )
    prefixes = NEWS.partition("<http://x/1")[0]
    text = f'{prefixes}<http://y/1#char=0,36> a nif:Context ; nif:isString "{"Ada " * 9}" .\n{many}\n'
    for name, written in (("news", NEWS), ("many", text)):
        (tmp_path / f"{name}.ttl").write_text(written, encoding="utf-8")
    write_frames(framed(RUN), tmp_path / "run.ttl")
    work = open_workspace(tmp_path / ".remix")
    work.load([tmp_path / "news.ttl", tmp_path / "many.ttl"])
    work.store.attach_kb(kb.folder)
    work.enrich()
    query = "SELECT ?annotation { ?annotation rmx:ambiguitySurfaceFormPercentile ?p FILTER (?p > 50 && ?p < 60) }"
    work.build(query, dataset="news", name="middle", to=tmp_path)
    rows = work.evaluate([tmp_path / "middle.ttl"], run=[f"s={tmp_path / 'run.ttl'}"], task="A2KB", match="strong").rows
    row = rows.filter(pl.col("average") == "micro").row(0, named=True)
    # Both answers named Ada are in scope, of which the first is right.
    assert (row["tp"], row["precision_in_scope"]) == (1, 1 / 2)


def test_remix_without_its_manifest_has_the_precision_on_mention(work: Workspace, tmp_path: Path) -> None:
    alone = shutil.copy("confused.ttl", tmp_path)
    rows = work.evaluate([alone], run=["s=run.ttl"], task=["A2KB"], match=["strong"]).rows
    assert set(rows["f1_precision"]) == {"on mention"}


def test_linkable_mentions_are_those_whose_form_leads_to_their_entity(kb: KnowledgeBase) -> None:
    # Linkable: Ada → e:1 and Rome → e:4 in gold; Ada → e:1 and the second Rome → e:4 among the answers. Not: e:9, Bob.
    rows = evaluate(framed(GOLD), {"s": framed(RUN)}, task=["A2KB(filter=linkable)"], match=["strong"], kb=kb)
    row = rows.filter(pl.col("average") == "micro", pl.col("column") == "").row(0, named=True)
    assert (row["task"], row["tp"], row["fp"], row["fn"]) == ("A2KB(filter=linkable)", 1, 1, 1)


def test_gold_that_cannot_be_linked_is_no_fn_among_linkable_mentions(kb: KnowledgeBase) -> None:
    gold = framed([(*ADA, "e:4"), (*BOB, "e:2"), (*ROME, "e:4")])  # Ada is no name of e:4
    rows = evaluate(gold, {"s": framed([(*ROME, "e:4")])}, task=["A2KB(filter=linkable)"], match=["weak"], kb=kb)
    assert rows.filter(pl.col("average") == "micro")["recall"][0] == 1.0


def test_linkable_needs_a_dictionary() -> None:
    with pytest.raises(MissingKnowledge, match="'linkable' asks the dictionary"):
        evaluate(framed(GOLD), {"s": framed(RUN)}, task=["A2KB(filter=linkable)"])
