"""Runs as RDF beside their datasets: outcomes, error classes, agreement, and what queries for gold see of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix import progress
from remix.cli import cli
from remix.errors import BadInput, Error, UnknownName, UsageError
from remix.formats import read
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.names import RMX
from remix.resources import folder
from remix.runs.outcomes import Outcomes, fragment_of, outcomes, run_graph
from remix.runs.stored import AGREEMENT, keep_outcomes, verdicts
from remix.scoring.inputs import Inputs
from remix.store import DatasetEntry, Store
from remix.store.selection import select
from remix.web.page import VIEWS, Note
from remix.workspace import Workspace

RUNS = Path(__file__).parent / "small"
A, B = "urn:remix:dataset:gold#run-a", "urn:remix:dataset:gold#run-b"


def found(store: Store, text: str) -> set[tuple[str, ...]]:
    """The rows of a SELECT: of IRIs the last part, of literals the text."""
    frame = store.index().frame(text)
    return {tuple(re.sub(r'^<.*[#/]|>$|^"|"(\^\^<.*>)?$', "", term or "") for term in row) for row in frame.rows()}


def test_every_annotation_and_answer_has_its_outcome_in_each_run(run_store: Store) -> None:
    of = "rmx:truePositiveOf rmx:falseNegativeOf rmx:falsePositiveOf"
    gold = f"SELECT ?form ?p ?run {{ VALUES ?p {{ {of} }} ?a nif:referenceContext ?d ; nif:anchorOf ?form ; ?p ?run }}"
    assert found(run_store, gold) == {
        ("Ada", "truePositiveOf", "run-a"),
        ("Alan", "falseNegativeOf", "run-a"),
        ("Bob", "falseNegativeOf", "run-a"),
        ("New York City", "falseNegativeOf", "run-a"),
        ("Ada", "truePositiveOf", "run-b"),
        ("Alan", "truePositiveOf", "run-b"),
        ("Bob", "falseNegativeOf", "run-b"),
        ("New York City", "falseNegativeOf", "run-b"),
    }
    answers = f"SELECT ?form ?p ?run {{ VALUES ?p {{ {of} }} ?a a rmx:Answer ; nif:anchorOf ?form ; ?p ?run }}"
    assert found(run_store, answers) == {
        ("Ada", "truePositiveOf", "run-a"),
        ("Alan", "falsePositiveOf", "run-a"),
        ("Bob", "falsePositiveOf", "run-a"),
        ("New York", "falsePositiveOf", "run-a"),
        ("Ada", "truePositiveOf", "run-b"),
        ("Alan", "truePositiveOf", "run-b"),
    }


def test_answer_has_its_document_offsets_entity_and_what_it_was_an_answer_to(run_store: Store) -> None:
    text = """SELECT ?begin ?end ?entity ?form { ?a a rmx:Answer ; rmx:document ?d ; nif:beginIndex ?begin ;
      nif:endIndex ?end ; itsrdf:taIdentRef ?entity ; rmx:falsePositiveOf ?run . ?d nif:isString ?text .
      OPTIONAL { ?a rmx:answerTo/nif:anchorOf ?form } }"""
    # "Ada met Alan and Bob in New York City.": Alan from 8, Bob from 17, New York from 24, which is on no gold mention.
    assert found(run_store, text) == {
        ("8", "12", "Alan_Kay", "Alan"),
        ("17", "20", "Bob_Dylan", "Bob"),
        ("24", "32", "New_York_City", ""),
    }


def test_error_classes_stand_on_gold_and_answers_in_the_graph_of_their_run(run_store: Store) -> None:
    text = "SELECT ?g ?form ?class { GRAPH ?g { ?a rmx:errorClass ?class } ?a nif:anchorOf ?form }"
    assert found(run_store, text) == {
        ("run-a", "Alan", "neleval:wrong_link"),
        ("run-a", "Bob", "neleval:nil_as_link"),
        ("run-a", "New York", "neleval:extra"),
        ("run-a", "New York City", "neleval:missing"),
        ("run-b", "Bob", "neleval:missing"),
        ("run-b", "New York City", "neleval:missing"),
    }


def test_agreement_is_the_share_of_systems_that_are_right(run_store: Store) -> None:
    text = "SELECT ?form ?share { ?a rmx:systemAgreement ?share ; nif:anchorOf ?form }"
    assert found(run_store, text) == {("Ada", "1"), ("Alan", "0.5"), ("Bob", "0"), ("New York City", "0")}


def test_agreement_is_over_the_runs_stored_before_as_well(workspace: Workspace, run_store: Store) -> None:
    for name in "ab":
        workspace.store_runs(["gold"], run=[f"{name}={RUNS / name}.ttl"])
    together = run_store.dataset("gold").attached["agreement"]
    assert workspace.store.attachment("gold", "agreement") == run_store.attachment("gold", "agreement")
    assert workspace.store.dataset("gold").attached["agreement"].signature == together.signature


def test_queries_for_gold_see_nothing_of_a_run(workspace: Workspace) -> None:
    count = "SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase ; nif:referenceContext ?d }"
    verbatim = "CONSTRUCT { ?d ?p ?o . ?a ?q ?r } { ?d ?p ?o . ?a nif:referenceContext ?d ; ?q ?r }"
    frames = workspace.store.frames()
    before = found(workspace.store, count), list(select(workspace.store.index(), verbatim, frames).annotations)
    workspace.store_runs(["gold"], run=[f"a={RUNS / 'a.ttl'}"])
    assert (
        found(workspace.store, count),
        list(select(workspace.store.index(), verbatim, frames).annotations),
    ) == before


@pytest.mark.long
def test_storing_again_changes_nothing_and_other_answers_replace(workspace: Workspace) -> None:
    assert workspace.store_runs(["gold"], run=[f"s={RUNS / 'a.ttl'}"])["status"].to_list() == ["stored"]
    before = workspace.store.state
    assert workspace.store_runs(["gold"], run=[f"s={RUNS / 'a.ttl'}"])["status"].to_list() == ["unchanged"]
    assert workspace.store.state == before
    assert workspace.store_runs(["gold"], run=[f"s={RUNS / 'b.ttl'}"])["status"].to_list() == ["replaced"]
    assert found(workspace.store, "SELECT ?a { ?a rmx:falsePositiveOf ?run }") == set()
    assert workspace.store.state.generation != before.generation


def test_group_of_alternatives_is_found_as_one(workspace: Workspace, tmp_path: Path) -> None:
    text = (RUNS / "gold.ttl").read_text().replace("#char=8,12> a", "#char=8,12;1> a")
    kay = text[text.index("<http://corpus.org/1#char=8,12;1>") :].split("\n\n")[0]
    file = tmp_path / "groups.ttl"
    file.write_text(f"{text}\n{kay.replace(';1>', ';2>').replace('Alan_Turing', 'Alan_Kay')}\n")
    workspace.load([file])
    assert workspace.store.dataset("groups").annotations == 5
    [row] = workspace.store_runs(["groups"], run=[f"a={RUNS / 'a.ttl'}"]).to_dicts()
    # Ada, and Alan by one of two entities; Bob and New York City are missed, their answers are wrong.
    assert (row["tp"], row["fp"], row["fn"]) == (2, 2, 2)
    right = verdicts(workspace.store, "groups").filter("right")
    assert len(right) == 3


def test_each_alternative_of_a_mention_has_the_class_of_its_error_and_another_mention_on_its_span_has_not(
    workspace: Workspace, tmp_path: Path
) -> None:
    """On "Rome" gold has a mention, Rome or Paris, and another, Bob; "Ada" has two entities. Answers: Bob, Kay."""
    text, spans = "Rome or Ada", {"Rome": (0, 4), "Ada": (8, 11)}
    rows = [
        ("Rome", "Rome", "g"),
        ("Rome", "Paris", "g"),
        ("Rome", "Bob", "other"),
        ("Ada", "Ada", "h"),
        ("Ada", "Countess", "h"),
    ]

    def write(name: str, said: list[tuple[str, str, str]]) -> Path:
        documents = pl.DataFrame({"document": ["urn:text"], "text": [text]})
        made = [
            {
                "annotation": f"urn:text#{form};{nth}",
                "document": "urn:text",
                "begin": spans[form][0],
                "end": spans[form][1],
                "surface_form": form,
                "group": group,
                "entity": f"http://e.org/{entity}",
            }
            for nth, (form, entity, group) in enumerate(said)
        ]
        annotations = pl.DataFrame(made)
        links = annotations.select("annotation", "entity")
        write_frames(
            Frames.of(documents=documents, annotations=annotations.drop("entity"), links=links), tmp_path / f"{name}.nt"
        )
        return tmp_path / f"{name}.nt"

    workspace.load([write("alternatives", rows)])
    workspace.add_run("s", write("run", [("Rome", "Bob", "a"), ("Ada", "Kay", "b")]), on="alternatives")
    text = "SELECT ?entity ?class { ?a rmx:errorClass ?class ; itsrdf:taIdentRef ?entity ; nif:referenceContext ?d }"
    assert found(workspace.store, text) == {
        ("Rome", "neleval:missing"),
        ("Paris", "neleval:missing"),
        ("Ada", "neleval:wrong_link"),
        ("Countess", "neleval:wrong_link"),
    }


@pytest.mark.long
def test_outcomes_of_the_form_before_are_made_anew_before_a_query(workspace: Workspace) -> None:
    workspace.add_run("a", RUNS / "a.ttl", on="gold")
    now = workspace.store.dataset("gold").attached["run-a"].signature
    before = now.replace("|graph:3|", "|graph:2|")
    assert before != now
    workspace.store.attach({"gold": {"run-a": (workspace.store.attachment("gold", "run-a"), before)}})
    workspace.query("ASK { ?a rmx:errorClass ?class }")
    assert workspace.store.dataset("gold").attached["run-a"].signature == now


def test_matching_and_taxonomies_are_those_asked_for(workspace: Workspace) -> None:
    run = f"a={RUNS / 'a.ttl'}"
    [row] = workspace.store_runs(["gold"], run=[run], match="weak", errors=["elevant"]).to_dicts()
    assert (row["tp"], row["fp"], row["fn"]) == (2, 2, 2)
    classes = {name for (name,) in found(workspace.store, "SELECT ?class { ?a rmx:errorClass ?class }")}
    assert classes
    assert all(name.startswith("elevant:") for name in classes)
    assert "matching:weak" in workspace.store.dataset("gold").attached["run-a"].signature


def _in_uneven_chunks(frame: pl.DataFrame) -> pl.DataFrame:
    first, *rest = frame.columns
    return frame.select(first, *(pl.concat([frame[name][:1], frame[name][1:]], rechunk=False) for name in rest))


def test_graph_is_the_same_however_the_frames_lie_in_memory() -> None:
    # Joins leave columns of different chunks behind, which polars 2.1 does not format.
    documents = ["urn:d", "urn:d", "urn:e"]
    gold = pl.DataFrame(
        {"annotation": ["urn:g1", "urn:g2", "urn:g3"], "group": [1, 2, 3], "outcome": ["tp", "fn", "fn"]}
    )
    answers = pl.DataFrame({"answer": [0, 1, 2], "document": documents, "begin": [0, 5, 0], "end": [1, 7, 3]})
    answers = answers.with_columns(surface_form=pl.Series(["x", "yy", "zzz"]), confidence=pl.Series([0.5, None, 1.0]))
    answers = answers.with_columns(
        outcome=pl.Series(["tp", "fp", "fp"]), annotation=pl.Series(["urn:g1", "urn:g2", None])
    )
    links = pl.DataFrame({"answer": [0, 1, 2], "entity": ["urn:x", "urn:y", "urn:z"]})
    errors = pl.DataFrame(
        {"answer": [1, 2, None], "annotation": ["urn:g2", None, "urn:g3"], "class": ["t:w", "t:e", "t:m"]}
    )
    frames = [gold, answers, links, errors]
    entry = DatasetEntry("n", "urn:n", "hash", "f", "nif", 1, 1, 1, "folder")
    texts = Frames.of(documents=pl.DataFrame({"document": ["urn:d"], "dataset": ["n"], "text": ["x"]}))
    case = outcomes(Inputs(texts, {"s": texts}), "strong").case
    graph, signature = run_graph(Outcomes(case, *frames), entry, "s", {})
    assert graph.count(b"urn:n#run-s> .") == 6
    assert run_graph(Outcomes(case, *map(_in_uneven_chunks, frames)), entry, "s", {}) == (graph, signature)


def test_terms_of_a_run_are_in_the_ontology(run_store: Store) -> None:
    text = (folder("ontology") / "remix.ttl").read_text(encoding="utf-8")
    entry = run_store.dataset("gold")
    triples = b"".join(run_store.attachment("gold", name) for name in entry.attached).decode()
    used = set(re.findall(f"<{re.escape(RMX)}([A-Za-z]+)>", triples))
    assert {"Run", "Answer", "answerTo", "errorClass", "systemAgreement"} < used
    assert {name for name in used if f"\nrmx:{name} a owl:" not in text} == set()


def test_system_of_any_name_and_entity_of_any_spelling_make_triples(workspace: Workspace, tmp_path: Path) -> None:
    text = (RUNS / "a.ttl").read_text().replace("dbr:Alan_Kay", "<http://example.org/A%20%3E%22>")
    (tmp_path / "run.ttl").write_text(text)
    workspace.store_runs(["gold"], run=[f"my <system> 1={tmp_path / 'run.ttl'}"])
    assert found(workspace.store, "SELECT ?name { ?run a rmx:Run ; rmx:system ?name }") == {("my <system> 1",)}
    assert fragment_of("my <system> 1") in workspace.store.dataset("gold").attached
    assert verdicts(workspace.store, "gold")["system"].unique().to_list() == ["my <system> 1"]


def test_values_derived_from_runs_go_with_a_remix_and_runs_do_not(run_store: Store) -> None:
    built = Workspace(run_store.folder).build("wrong_and_right", wrong="a", right="b")
    predicates = built.triples["predicate"].unique().to_list()
    assert f"<{RMX}systemAgreement>" in predicates
    assert f"<{RMX}falseNegativeOf>" not in predicates


@pytest.mark.parametrize(
    ("names", "choices", "error", "message"),
    [
        (["nowhere.ttl"], {}, UsageError, "`remix load nowhere.ttl` first, or leave --store out"),
        ([], {}, UsageError, "name them, or leave --store out"),
        (["gold"], {"match": "stron"}, UnknownName, "did you mean 'strong'"),
        (["gold"], {"errors": ["nelval"]}, UnknownName, "did you mean 'neleval'"),
        (["gold"], {"runs": ["b={other}"]}, BadInput, "give the run of the same texts"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_changed(
    workspace: Workspace, tmp_path: Path, names: list[str], choices: dict, error: type[Error], message: str
) -> None:
    other = tmp_path / "other.ttl"
    other.write_text((RUNS / "b.ttl").read_text().replace("Ada met Alan", "Ada saw Alan").replace("org/1", "org/2"))
    runs = [run.format(other=other) for run in choices.pop("runs", [f"a={RUNS / 'a.ttl'}"])]
    before = workspace.store.state
    with pytest.raises(error, match=message):
        workspace.store_runs(names, run=runs, **choices)
    assert workspace.store.state == before


@pytest.mark.long
def test_one_run_is_dropped_and_the_others_agree_among_themselves(workspace: Workspace) -> None:
    for name in "ab":
        workspace.store_runs(["gold"], run=[f"{name}={RUNS / name}.ttl"])
    both = workspace.store.attachment("gold", AGREEMENT)
    line = ["drop", "gold", "--run", "b", "-w", str(workspace.folder)]
    done = CliRunner().invoke(cli, line, catch_exceptions=False)
    assert done.stderr.splitlines()[-1] == "the run of b on gold is dropped: outcomes, answers in A2KB"
    assert list(workspace.store.dataset("gold").attached) == [AGREEMENT, "run-a"]
    alone = workspace.store.attachment("gold", AGREEMENT)
    assert alone != both
    # What stands there is what storing the other run alone gives.
    workspace.store_runs(["gold"], run=[f"a={RUNS / 'a.ttl'}"])
    assert workspace.store.attachment("gold", AGREEMENT) == alone
    with pytest.raises(UnknownName, match="no run named 'b'; known: a; `remix run list`"):
        workspace.drop_run("b", on="gold")
    workspace.drop_run("a")
    assert not workspace.store.dataset("gold").attached


@pytest.mark.long
def test_dropping_a_run_takes_the_kept_answers_too(sample_workspace: Callable[[], Workspace]) -> None:
    workspace = sample_workspace()
    workspace.annotate(["sample-news"], ["prior", "random-candidate"])
    taken = [("sample-news", "outcomes"), ("sample-news", "answers in A2KB")]
    assert workspace.drop_run("prior") == taken
    assert workspace.runs()["run"].to_list() == ["random-candidate"]


@pytest.mark.long
def test_kept_answers_can_be_dropped_after_their_dataset(sample_workspace: Callable[[], Workspace]) -> None:
    workspace = sample_workspace()
    workspace.annotate(["sample-news"], ["prior"])
    workspace.drop(["sample-news"])
    with pytest.raises(UnknownName, match="no run named 'priors'; did you mean 'prior'"):
        workspace.drop_run("priors")
    with pytest.raises(UnknownName, match="no run on sample-posts named 'prior'"):
        workspace.drop_run("prior", on="sample-posts")
    assert workspace.drop_run("prior", on="sample-news") == [("sample-news", "answers in A2KB")]
    assert workspace.runs().is_empty()


@pytest.mark.long
def test_what_is_published_has_the_columns_of_runs_and_no_run(workspace: Workspace, tmp_path: Path) -> None:
    for name in "ab":
        workspace.store_runs(["gold"], run=[f"{name}={RUNS / name}.ttl"])
    workspace.publish("gold", to=tmp_path / "published")
    held = verdicts(workspace.store, "gold")
    found = read(tmp_path / "published" / "gold.ttl").frames.values.filter(term=f"{RMX}systemAgreement")
    # Each annotation that is judged has the share of the systems that are right on it.
    assert len(found) == held["annotation"].n_unique()
    assert found["number"].sum() == pytest.approx(held["right"].sum() / 2)
    text = (tmp_path / "published" / "gold.ttl").read_text()
    assert "rmx:Answer" not in text and "PositiveOf" not in text
    assert 'rmx:system "a" , "b"' in " ".join(text.split())


def test_evaluate_with_store_says_what_it_kept_and_prints_the_same_scores(workspace: Workspace) -> None:
    line = [
        "evaluate",
        "gold",
        "--run",
        f"a={RUNS / 'a.ttl'}",
        "-w",
        str(workspace.folder),
        "--task",
        "A2KB",
        "-o",
        "json",
    ]
    kept = CliRunner().invoke(cli, [*line, "--store"], catch_exceptions=False)
    assert kept.stderr.splitlines()[-1] == "a on gold: 1 TP, 3 FP, 3 FN, stored"
    assert json.loads(kept.stdout) == json.loads(CliRunner().invoke(cli, line, catch_exceptions=False).stdout)
    refused = CliRunner().invoke(cli, [*line, "--store", "--profile", "gerbil"])
    assert isinstance(refused.exception, UsageError)
    assert "--store keeps outcomes by the profile remix" in str(refused.exception)


def test_outcomes_on_datasets_that_share_a_text_are_of_the_answers_to_each(tmp_path: Path) -> None:
    """Gold of both editions of a text is Ada; the system answers Ada to the one and Eve to the other.

    Of one gold and answer are each a TP, of other the answer is a FP and gold a FN; with the answers to both either
    would have a FP beside a TP.
    """
    own = Workspace(tmp_path / ".remix")
    row = {"document": "d1", "text": "Ada met Bob", "begin": 0, "end": 3, "entity": "urn:e:Ada"}
    for name in ("one", "other"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
        own.load([tmp_path / f"{name}.jsonl"])
    (tmp_path / "wrong.jsonl").write_text(json.dumps(row | {"entity": "urn:e:Eve"}))
    own.add_run("s", tmp_path / "one.jsonl", on="one", perfect=True)
    own.add_run("s", tmp_path / "wrong.jsonl", on="other")
    # Stored one by one, then again in one change, as an annotation of several datasets stores them.
    for _ in range(2):
        held = {}
        for name in ("one", "other"):
            text = own.store.attachment(name, fragment_of("s")).decode()
            held[name] = tuple(text.count(f"{RMX}{one}Of>") for one in COUNTED)
        assert held == {"one": (2, 0, 0), "other": (0, 1, 1)}
        keep_outcomes(own.store, own.kb, own.runs_folder, ["s"], ["one", "other"])


def test_agreement_on_datasets_that_share_a_text_is_without_the_failures_on_the_other(tmp_path: Path) -> None:
    """The system is right on one, and failed on other: of one all agree, of other nobody was judged."""
    own = Workspace(tmp_path / ".remix")
    row = {"document": "d1", "text": "Ada met Bob", "begin": 0, "end": 3, "entity": "urn:e:Ada"}
    for name in ("one", "other"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
        own.load([tmp_path / f"{name}.jsonl"])
    (tmp_path / "late.jsonl").write_text(
        json.dumps({"document": "d1", "text": "Ada met Bob", "answers": [], "error": "late"})
    )
    own.add_run("s", tmp_path / "one.jsonl", on="one", perfect=True)
    own.add_run("s", tmp_path / "late.jsonl", on="other")
    keep_outcomes(own.store, own.kb, own.runs_folder, ["s"], ["one", "other"])
    held = {name: own.store.attachment(name, AGREEMENT).decode().count("systemAgreement") for name in ("one", "other")}
    assert held == {"one": 1, "other": 0}


COUNTED = ("truePositive", "falsePositive", "falseNegative")
WD = "http://www.wikidata.org/entity/"


@pytest.fixture
def bound(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A workspace with run `w`, which has Ada, Alan and New York City as items of Wikidata, and two knowledge bases.

    'apart' knows nothing of these items, 'joined' knows that two of them are gold's Ada and Alan.
    """
    items = {"Ada_Lovelace": "Q1", "Alan_Turing": "Q2", "New_York_City": "Q3"}
    text = (RUNS / "gold.ttl").read_text()
    for name, item in items.items():
        text = text.replace(f"dbr:{name}", f"<{WD}{item}>")
    (tmp_path / "w.ttl").write_text(text.replace("nil:Bob", f"<{WD}Q4>"))
    for name, rows in (("apart", []), ("joined", ["Ada_Lovelace", "Alan_Turing"])):
        (tables := tmp_path / name).mkdir()
        forms = [f"x\tdbr:{entity}\t\ttest" for entity in items]
        (tables / "surface_forms.tsv").write_text("\n".join(["surface_form\tentity_iri\tcount\tsource", *forms]) + "\n")
        same = [f"{WD}{items[entity]}\thttp://dbpedia.org/resource/{entity}\t1\ttest" for entity in rows]
        (tables / "sameas.tsv").write_text("\n".join(["wikidata_iri\tdbpedia_iri\tcount\tsource", *same]) + "\n")
        workspace.build_kb([("tables", str(tables))], name=name, engine="polars")
    workspace.attach_kb(_kb(workspace, "apart"))
    workspace.add_run("w", tmp_path / "w.ttl", on="gold")
    return workspace


def _kb(workspace: Workspace, name: str) -> str:
    [folder] = (workspace.folder / "kb").glob(f"{name}-*")
    return folder.name


RIGHT = "SELECT ?form { ?a rmx:truePositiveOf ?run ; nif:anchorOf ?form . ?a a nif:Phrase }"


def scored_right(workspace: Workspace) -> int:
    rows = workspace.evaluate("gold", task=["A2KB"], match=["strong"]).rows
    return int(rows.filter(average="micro", column="", dataset="all", system="w")["tp"].item())


@pytest.mark.long
def test_outcomes_are_those_of_the_knowledge_base_that_is_attached(bound: Workspace) -> None:
    assert found(bound.store, RIGHT) == set() and scored_right(bound) == 0
    bound.attach_kb(_kb(bound, "joined"))
    # With the sameAs links Ada and Alan are right; New York City has none, Bob is NIL.
    assert found(bound.store, RIGHT) == {("Ada",), ("Alan",)} and scored_right(bound) == 2
    assert (
        bound.build("SELECT ?annotation { ?annotation rmx:falseNegativeOf ?run }").frames.gold().annotations.height == 2
    )
    bound.attach_kb(_kb(bound, "apart"))
    assert found(bound.store, RIGHT) == set()


@pytest.mark.long
def test_outcomes_that_were_kept_under_another_knowledge_base_are_made_anew_before_a_query(bound: Workspace) -> None:
    # As a version would leave them that did not look, or a command that was killed after the knowledge base.
    bound.store.attach_kb(bound.folder / "kb" / _kb(bound, "joined"))
    assert found(bound.store, RIGHT) == set()
    assert sorted(bound.query(RIGHT).table["form"]) == ["Ada", "Alan"]
    assert found(bound.store, RIGHT) == {("Ada",), ("Alan",)}


@pytest.mark.long
def test_outcomes_by_another_matching_are_made_anew_by_it(bound: Workspace, tmp_path: Path) -> None:
    bound.store_runs("gold", run="w", match="weak", errors=())
    bound.attach_kb(_kb(bound, "joined"))
    signature = bound.store.dataset("gold").attached["run-w"].signature
    assert "|matching:weak|" in signature and "neleval" not in signature
    assert found(bound.store, RIGHT) == {("Ada",), ("Alan",)}


def test_registered_run_has_its_outcomes_again_when_its_dataset_is_loaded_again(workspace: Workspace) -> None:
    workspace.add_run("a", RUNS / "a.ttl", on="gold")
    before = found(workspace.store, RIGHT)
    workspace.drop(["gold"])
    workspace.load([RUNS / "gold.ttl"])
    assert found(workspace.store, RIGHT) == before == {("Ada",)}


@pytest.mark.long
def test_outcomes_are_of_the_gold_that_is_loaded(workspace: Workspace, tmp_path: Path) -> None:
    workspace.add_run("a", RUNS / "a.ttl", on="gold")
    # Gold is corrected: of the run's answers Alan's is right now, too.
    (tmp_path / "gold.ttl").write_text((RUNS / "gold.ttl").read_text().replace("dbr:Alan_Turing", "dbr:Alan_Kay"))
    workspace.load([tmp_path / "gold.ttl"], replace=True)
    assert found(workspace.store, RIGHT) == {("Ada",), ("Alan",)}
    content = workspace.store.dataset("gold").content[:12]
    assert f"|gold:{content}|" in workspace.store.dataset("gold").attached["run-a"].signature


@pytest.mark.long
def test_difficulty_goes_with_the_outcomes_that_it_was_learnt_from(workspace: Workspace) -> None:
    workspace.add_run("a", RUNS / "a.ttl", on="gold")
    iri = workspace.store.dataset("gold").iri
    workspace.store.attach({"gold": {"difficulty": (f'<{iri}> <{RMX}difficulty> "0.5" .\n'.encode(), "learnt")}})
    workspace.add_run("b", RUNS / "b.ttl", on="gold")
    assert "difficulty" not in workspace.store.dataset("gold").attached
    workspace.store.attach({"gold": {"difficulty": (f'<{iri}> <{RMX}difficulty> "0.5" .\n'.encode(), "learnt")}})
    workspace.add_run("b", RUNS / "b.ttl", on="gold")  # the same again
    assert "difficulty" in workspace.store.dataset("gold").attached
    workspace.drop_run("b")
    assert "difficulty" not in workspace.store.dataset("gold").attached


@pytest.mark.long
def test_remix_by_outcomes_is_signed_with_them_and_another_is_not(workspace: Workspace) -> None:
    by_outcome = "SELECT ?annotation { ?annotation rmx:truePositiveOf ?run }"
    by_form = 'SELECT ?annotation { ?annotation nif:anchorOf "Ada" }'
    signatures = []
    for name in "ab":
        workspace.add_run(name, RUNS / f"{name}.ttl", on="gold")
        signatures.append([str(workspace.build(text, name="r").signature) for text in (by_outcome, by_form)])
    assert signatures[0][0] != signatures[1][0] and signatures[0][1] == signatures[1][1]


@pytest.mark.long
def test_measures_of_another_knowledge_base_are_told_and_no_partition_is_made_by_them(
    bound: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bound.enrich()
    before = bound.store.dataset("gold").enrichment
    with progress.enable():
        bound.attach_kb(_kb(bound, "joined"))
    assert "queries see the measures of gold by another knowledge base: `remix enrich`" in capsys.readouterr().err
    # So does each remix that is selected by measures, and its signature says by which these are.
    query = (
        "SELECT ?annotation { ?annotation nif:anchorOf ?form . FILTER NOT EXISTS { ?annotation rmx:candidateRank 99 } }"
    )
    made = bound.build(query, name="r")
    assert any("measures of gold as they were computed by apart@" in note for note in made.notes), made.notes
    assert made.signature.fields["measures"].startswith("apart@") and made.signature.fields["kb"].startswith("joined@")
    # Queries and their pages say it as well, of measures alone.
    by_form = "SELECT ?annotation { ?annotation nif:anchorOf ?form }"
    for asked, told in ((query, True), (by_form, False)):
        notes = bound.query(asked).notes
        assert any("measures of gold as they were computed by apart@" in note for note in notes) == told
        for view, name in (("query", "query"), ("builder", "sparql")):
            blocks = VIEWS[view].show(bound, {name: asked}).blocks
            said = [one.text for one in blocks if isinstance(one, Note)]
            assert any("measures of gold as they were computed by apart@" in one for one in said) == told, (view, said)
    with progress.enable():
        bound.publish("gold", to=tmp_path / "published")
    said = " ".join(capsys.readouterr().err.split())
    assert "the measures of gold that are published were computed by another knowledge base" in said
    other = bound.build(by_form, name="r")
    assert "measures" not in other.signature.fields and not any("computed by" in note for note in other.notes)
    bound.partition(by="candidateRank", scheme="classes")
    again = bound.build(query, name="r")
    assert "measures" not in again.signature.fields and not any("computed by" in note for note in again.notes)
    after = bound.store.dataset("gold").enrichment
    assert before is not None and after is not None and "kb:apart@" in before and "kb:joined@" in after


@pytest.mark.long
def test_what_was_learnt_from_the_runs_of_others_gives_way_to_what_is_learnt_here(
    sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    """A published dataset brings both; its agreement stood beside that of the workspace's own runs: two values each."""
    work = sample_workspace()
    text = (RUNS / "gold.ttl").read_text(encoding="utf-8")
    places = ("0,3", "8,12", "17,20", "24,37")
    given = [f'<http://corpus.org/1#char={place}> rmx:systemAgreement "0.25"^^xsd:double .' for place in places]
    given += [f'<http://corpus.org/1#char={place}> rmx:difficulty "0.75"^^xsd:double .' for place in places]
    prefix = f"@prefix rmx: <{RMX}> .\n"
    (tmp_path / "gold.ttl").write_text(prefix + text + "\n".join(given), encoding="utf-8")
    work.load(tmp_path / "gold.ttl")

    def values(term: str) -> list[float]:
        asked = f'SELECT ?a ?value {{ ?a rmx:{term} ?value FILTER(CONTAINS(STR(?a), "dataset:gold")) }}'
        rows = work.query(asked).table
        return sorted(rows["value"].cast(pl.Float64).to_list())

    assert values("systemAgreement") == [0.25] * 4
    work.add_run("b", RUNS / "gold.ttl", on="gold", perfect=True)
    assert (values("systemAgreement"), values("difficulty")) == ([1.0] * 4, [0.75] * 4)
    rows = work.evaluate("gold", run="b", by="systemAgreement").rows
    sliced = rows.filter(pl.col("column") == "systemAgreement", average="micro", task="A2KB", matching="strong")
    assert sliced.select("slice", "mentions").rows() == [("1.0", 4)]
    # What was given is no worse for that: without a run of one's own it is what there is.
    work.drop_run("b")
    assert (values("systemAgreement"), values("difficulty")) == ([0.25] * 4, [0.75] * 4)
