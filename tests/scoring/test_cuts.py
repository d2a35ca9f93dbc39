"""Cuts: a slice and a remix by the same condition, each gold by its own cut, and the documents whose answers count."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.cli import cli
from remix.errors import UsageError
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.kb import KnowledgeBase, build
from remix.question import Question
from remix.remixes.closure import close
from remix.remixes.manifest import read_manifest
from remix.reports.readable import with_f1_shown
from remix.scoring.choice import choose
from remix.scoring.comparison import compared_inputs
from remix.workspace import Workspace, open_workspace
from tests.examples import FEW
from tests.scoring.conftest import evaluate, framed

TASKS = ["A2KB", "D2KB", "C2KB", "ERec"]
FIGURES = [
    *("mentions", "documents", "documents_counted", "tp", "fp", "fn", "ignored", "precision", "recall", "f1"),
    *("precision_in_scope", "precision_on_mention", "f1_in_scope", "f1_on_mention"),
    *("precision_documents", "recall_documents", "f1_documents"),
    *("precision_documents_deviation", "recall_documents_deviation", "f1_documents_deviation"),
]
KEYS = ["system", "task", "matching", "average"]

# Three documents of two datasets: the origins of a remix.
ORIGINS = {"x1": "x", "x2": "x", "y1": "y"}
mention = st.fixed_dictionaries(
    {
        "document": st.sampled_from(list(ORIGINS)),
        "begin": st.integers(0, 8),
        "length": st.integers(1, 5),
        "entity": st.sampled_from(["e:A", "e:B", "e:C", None]),
        "classes": st.sampled_from([[], ["k"], ["l"], ["k", "l"]]),
        "ignorable": st.sampled_from([None, None, None, "optional"]),
        "group": st.sampled_from([None, None, "1", "2"]),
        "option": st.sampled_from(["1", "2"]),
    }
)


def placed(rows: list[dict[str, object]], grouped: bool = True) -> Frames:
    """Frames of both origins; the alternatives of one mention are gold alike."""
    made = []
    for row in rows:
        group = f"{row['document']}-{row['ignorable']}-{row['group']}" if grouped and row["group"] else None
        option = row["option"] if group else None
        made.append(row | {"end": row["begin"] + row["length"], "group": group, "option": option})  # type: ignore[operator]
    frames = framed(made, list(ORIGINS))
    named = pl.col("document").replace(ORIGINS).alias("dataset")
    return replace(
        frames, documents=frames.documents.with_columns(named), annotations=frames.annotations.with_columns(named)
    )


def as_one(frames: Frames) -> Frames:
    named = pl.lit("remix").alias("dataset")
    return replace(
        frames, documents=frames.documents.with_columns(named), annotations=frames.annotations.with_columns(named)
    )


@pytest.mark.long
@settings(max_examples=FEW)
@given(st.lists(mention, max_size=9), st.lists(mention, max_size=7), st.sampled_from(["all", "kept"]), st.booleans())
def test_slice_and_remix_by_the_same_condition_have_the_same_figures_in_every_task(rows, answers, documents, typed):
    gold = placed(rows)
    run = {"s": placed([row | {"ignorable": None} for row in answers], grouped=False)}
    chosen = gold.classes.filter(pl.col("class") == "k")["annotation"]
    wanted = gold.annotations.filter(pl.col("ignorable").is_null(), pl.col("annotation").is_in(chosen.implode()))
    if wanted.is_empty():
        return
    types = pl.DataFrame({"entity": ["e:A", "e:B"], "class": ["k", "l"]}) if typed else None
    asked = {"task": TASKS, "documents": documents, "types": types}
    sliced = evaluate(gold, run, by=["class"], **asked).filter(pl.col("slice") == "k", dataset="all")
    kept = wanted["document"].unique() if documents == "kept" else gold.documents["document"]
    closed = close(gold, kept, wanted["annotation"])
    remixed = evaluate(as_one(closed.frames), run, scope="k" if typed else "", **asked).filter(column="")
    # A slice in which a task has nothing to count, as C2KB has in NIL, has no row.
    remixed = remixed.join(sliced, on=KEYS, how="semi")
    assert remixed.height == sliced.height and set(sliced["task"]) >= {"A2KB", "D2KB", "ERec"}
    same = [name for name in FIGURES if typed or "scope" not in name]
    assert sliced.sort(KEYS).select(*KEYS, *same).equals(remixed.sort(KEYS).select(*KEYS, *same))


_TWO_LINKS = {
    "document": "x2",
    "begin": 0,
    "length": 4,
    "group": "2",
    "option": "2",
    "ignorable": None,
    "classes": ["k"],
}


@settings(max_examples=FEW)
@given(st.lists(mention, max_size=9))
@example([_TWO_LINKS | {"entity": "e:B"}, _TWO_LINKS | {"entity": "e:C"}])  # one mention that needs both answers
def test_gold_as_answers_is_perfect_on_every_remix(rows):
    # Written twice, one annotation cannot satisfy two groups: each span and entity once.
    gold = placed(list({(row["document"], row["begin"], row["length"], row["entity"]): row for row in rows}.values()))
    chosen = gold.classes.filter(pl.col("class") == "k")["annotation"]
    remix = close(gold, gold.documents["document"], chosen).frames
    found = evaluate(remix, {"s": gold}, task=TASKS, scope="k", types=pl.DataFrame({"entity": ["e:A"], "class": "k"}))
    for score in ("precision", "recall", "f1", "precision_in_scope", "precision_on_mention", "f1_in_scope"):
        assert set(found[score].drop_nulls()) <= {1.0}


@pytest.mark.long
@given(st.lists(mention, max_size=9), st.lists(mention, max_size=7), st.sampled_from(["strong", "weak"]))
def test_precision_of_all_is_at_most_that_in_scope_and_that_at_most_that_on_mention(rows, answers, matching):
    run = {"s": placed([row | {"ignorable": None} for row in answers], grouped=False)}
    types = pl.DataFrame({"entity": ["e:A", "e:B"], "class": ["k", "l"]})
    found = evaluate(placed(rows), run, task=["A2KB", "ERec"], match=[matching], types=types, scope="k")
    found = found.filter(pl.col("average") == "micro").drop_nulls("precision")
    assert (found["precision"] <= found["precision_in_scope"]).all()
    assert (found["precision_in_scope"] <= found["precision_on_mention"]).all()


def test_group_that_straddles_a_cut_enters_a_slice_and_a_remix_with_all_its_options():
    # "Ada" as a person or "Ada Byron" as a name: the second is right as well, though it is no person.
    rows = [
        {"begin": 0, "end": 3, "entity": "e:Ada", "classes": ["person"], "group": "1", "option": "1"},
        {"begin": 0, "end": 9, "entity": "e:Byron", "group": "1", "option": "2"},
    ]
    gold, run = framed(rows), {"s": framed([{"begin": 0, "end": 9, "entity": "e:Byron"}])}
    sliced = evaluate(gold, run, task=["A2KB"], match=["strong"], by=["class"]).filter(slice="person")
    chosen = gold.classes["annotation"]
    closed = close(gold, gold.documents["document"], chosen)
    remixed = evaluate(closed.frames, run, task=["A2KB"], match=["strong"])
    for found in (sliced, remixed):
        assert found.filter(average="micro").select("mentions", "tp", "fp", "fn").rows() == [(1, 1, 0, 0)]


@pytest.mark.parametrize("documents", ["all", "kept"])
def test_repeated_annotation_that_straddles_a_cut_is_kept_in_a_slice_and_a_remix(documents: str) -> None:
    # "Ada" is written twice, as a person and without a class: one mention. Of two answers on it, by their links, one is
    # TP and the other FP, as no dropped mention is there that could take it; tp, fp, fn, ignored: 1, 1, 0, 0. In ERec
    # a span counts once on either side, so that both are one answer, a TP: 1, 0, 0, 0.
    ada = {"begin": 0, "end": 3, "entity": "e:Ada"}
    gold = framed([ada | {"classes": ["person"]}, ada])
    run = {"s": framed([ada, ada | {"entity": "e:Byron"}])}
    asked = {"task": TASKS, "match": ["strong"], "documents": documents}
    sliced = evaluate(gold, run, by=["class"], **asked).filter(slice="person")
    closed = close(gold, gold.documents["document"], gold.classes["annotation"])
    remixed = evaluate(closed.frames, run, **asked)
    for found in (sliced, remixed):
        micro = found.filter(average="micro").select("task", "mentions", "tp", "fp", "fn", "ignored")
        assert micro.rows() == [(task, 1, 1, 0 if task == "ERec" else 1, 0, 0) for task in TASKS]


FORMS = [("Ada", "e:1"), ("Ada", "e:2"), ("Ada", "e:3"), ("Rome", "e:4")]
TEXTS = {"1": "Ada saw Rome. Then Ada and Rome and Bob.", "2": "Rome again, and Ada left."}
GOLD = {"1": [(0, 3, "e:1"), (8, 12, "e:4")], "2": [(0, 4, "e:4")]}
# On 1: right, wrong on Rome, a confused form without gold. On 2, where no mention is confused: a confused form.
ANSWERS = {"1": [(0, 3, "e:1"), (8, 12, "e:9"), (19, 22, "e:9")], "2": [(0, 4, "e:4"), (16, 19, "e:2")]}
CONFUSED = """SELECT ?document ?annotation {
  ?annotation nif:referenceContext ?document ; hfts:ambiguitySurfaceForm ?n . FILTER (?n >= 3) }"""
FIRST = "?document nif:isString ?text . FILTER (STRSTARTS(?text, 'Ada'))"


def corpus(rows: dict[str, list[tuple[int, int, str]]]) -> Frames:
    """Two documents with mentions."""
    flat = [(document, *row) for document, own in rows.items() for row in own]
    names = [f"http://x/{document}#char={begin},{end}" for document, begin, end, _ in flat]
    iris = {document: f"http://x/{document}" for document in TEXTS}
    return Frames.of(
        documents=pl.DataFrame({"document": [*iris.values()], "dataset": "x", "text": [*TEXTS.values()]}),
        annotations=pl.DataFrame(
            {
                "annotation": names,
                "document": [iris[row[0]] for row in flat],
                "dataset": "x",
                "begin": [row[1] for row in flat],
                "end": [row[2] for row in flat],
                "surface_form": [TEXTS[row[0]][row[1] : row[2]] for row in flat],
            }
        ),
        links=pl.DataFrame({"annotation": names, "entity": [row[3] for row in flat]}),
    )


def tiny_kb(folder: Path) -> KnowledgeBase:
    tables = folder / "tables"
    tables.mkdir()
    forms = "".join(f"{form}\t{entity}\t1\tx\n" for form, entity in FORMS)
    (tables / "surface_forms.tsv").write_text(f"surface_form\tentity_iri\tcount\tsource\n{forms}", encoding="utf-8")
    types = "e:4\tdbo:Place\tx\n"
    (tables / "types.tsv").write_text(f"entity_iri\ttype_iri\tsource\n{types}", encoding="utf-8")
    return build([("tables", str(tables))], folder / "kb", name="tiny")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two documents, enriched; remixes: `confused`, and `first` by a condition on documents, too."""
    place = tmp_path_factory.mktemp("cuts")
    write_frames(corpus(GOLD), place / "news.ttl")
    write_frames(corpus(ANSWERS), place / "run.ttl")
    work = open_workspace(place / ".remix")
    work.load([place / "news.ttl"])
    work.store.attach_kb(tiny_kb(place).folder)
    work.enrich()
    work.build(CONFUSED, name="confused", to=place)
    work.build(CONFUSED.replace("FILTER", f"{FIRST} FILTER"), name="first", to=place)
    limited = f"SELECT ?annotation {{ {{ {CONFUSED} }} }}"
    work.build(limited, name="nested", to=place)
    return place


@pytest.fixture
def work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.chdir(folder)
    return open_workspace(folder / ".remix")


def scores(work: Workspace, *names: str, **asked: object) -> pl.DataFrame:
    asked = {"task": ["A2KB"], "match": ["strong"], **asked}
    return work.evaluate(names, run=["s=run.ttl"], **asked).rows


@pytest.mark.long
def test_manifest_names_the_documents_that_a_remix_emptied(work: Workspace) -> None:
    found = {name: read_manifest(Path(f"{name}.ttl")) for name in ("confused", "first", "nested")}
    assert found["confused"].emptied == ("urn:remix:dataset:news/2",)
    # A document that a condition on documents leaves out was not emptied.
    assert found["first"].emptied == ()
    assert found["nested"].emptied is None


@pytest.mark.long
def test_remix_counts_answers_in_emptied_documents_where_its_origins_are_loaded(work: Workspace) -> None:
    # TP: Ada. FP: the second Ada of 1 and that of 2, where nothing was kept. Ignored: both answers on Rome.
    row = scores(work, "confused.ttl").filter(average="micro").row(0, named=True)
    assert (row["tp"], row["fp"], row["ignored"], row["documents"], row["documents_counted"]) == (1, 2, 2, 2, "all")
    assert row["precision_in_scope"] == 1 / 3
    kept = scores(work, "confused.ttl", documents="kept").filter(average="micro").row(0, named=True)
    assert (kept["tp"], kept["fp"], kept["ignored"], kept["documents"], kept["documents_counted"]) == (
        1,
        1,
        1,
        1,
        "kept",
    )
    # By a condition on documents, the other document was never meant.
    first = scores(work, "first.ttl").filter(average="micro").row(0, named=True)
    assert (first["tp"], first["fp"], first["ignored"], first["documents_counted"]) == (1, 1, 1, "all")


@pytest.mark.long
def test_remix_stays_one_through_load_and_publish(work: Workspace, tmp_path: Path) -> None:
    other = open_workspace(tmp_path / "other")
    for suffix in ("ttl", "manifest.ttl"):
        shutil.copy(f"confused.{suffix}", tmp_path / f"Quite_confused.{suffix}")
    other.load(["news.ttl", tmp_path / "Quite_confused.ttl"])
    by_name = ["dataset", "signature", "signature_short"]
    by_file = scores(other, "confused.ttl").drop(by_name, strict=False)
    assert scores(other, "quite-confused").drop(by_name, strict=False).equals(by_file)
    other.publish("quite-confused", to=tmp_path / "published", gzip=True)
    published = tmp_path / "published" / "quite-confused.ttl.gz"
    assert read_manifest(published) == read_manifest(Path("confused.ttl"))


@pytest.mark.long
def test_remix_without_its_origins_counts_answers_in_kept_documents_and_says_so(
    work: Workspace, tmp_path: Path
) -> None:
    other = open_workspace(tmp_path / "other")
    other.load(["news.ttl"], name="another-name")
    row = scores(other, "confused.ttl").filter(average="micro").row(0, named=True)
    assert (row["tp"], row["fp"], row["documents_counted"]) == (1, 1, "kept")
    with pytest.raises(UsageError, match="confused was cut out of news, .* load it .* --documents kept"):
        scores(other, "confused.ttl", documents="all")
    with pytest.raises(UsageError, match="manifest of nested does not tell which documents it emptied"):
        scores(work, "nested.ttl", documents="all")
    asked = ["confused.ttl", "--run", "s=run.ttl", "--task", "A2KB", "-w", str(tmp_path / "other")]
    printed = CliRunner().invoke(cli, ["evaluate", *asked], catch_exceptions=False).output
    assert "answers count in documents with a kept mention alone" in printed


@pytest.mark.long
@pytest.mark.parametrize("documents", ["", "kept"])
def test_slice_and_remix_have_the_same_figures_by_command_line_and_python(work: Workspace, documents: str) -> None:
    tasks = ["A2KB", "C2KB"]
    asked = {"task": tasks, "match": ["strong", "weak"], "documents": documents}
    column = "ambiguitySurfaceForm:thresholds:2"
    sliced = scores(work, "news", by=[column], **asked).filter(pl.col("slice") == "2: > 2").sort(KEYS)
    remixed = scores(work, "confused.ttl", **asked).filter(column="").sort(KEYS)
    assert sliced.select(*KEYS, *FIGURES).equals(remixed.select(*KEYS, *FIGURES))
    options = [part for task in tasks for part in ("--task", task)]
    options += ["--documents", documents] if documents else []
    for names, rows in ((["news", "--by", column], sliced), (["confused.ttl"], remixed)):
        command = ["evaluate", *names, "--run", "s=run.ttl", *options, "-w", ".remix", "-o", "json"]
        printed = json.loads(CliRunner().invoke(cli, command, catch_exceptions=False).stdout)
        wanted = {tuple(row[key] for key in KEYS): row for row in rows.iter_rows(named=True)}
        own = [row for row in printed if row["slice"] in ("2: > 2", "") and row["column"] == rows["column"][0]]
        assert len(own) == len(wanted)
        for row in own:
            assert {name: row[name] for name in FIGURES} == {
                name: wanted[tuple(row[key] for key in KEYS)][name] for name in FIGURES
            }


@pytest.mark.long
def test_answers_count_in_all_documents_of_slice_and_remix_where_nothing_is_said(work: Workspace) -> None:
    for names, asked in ((["news"], {"by": ["ambiguitySurfaceForm:thresholds:2"]}), (["confused.ttl"], {})):
        rows = [scores(work, *names, **asked, **every).select(*KEYS, *FIGURES) for every in ({"documents": "all"}, {})]
        assert rows[0].equals(rows[1])


@pytest.mark.long
def test_row_of_a_remix_does_not_depend_on_its_neighbours(work: Workspace) -> None:
    # The others: the origin, whose documents are the same; a remix whose query cannot be asked of answers.
    own, of_one = [*KEYS, *FIGURES], pl.col("column") == ""
    alone = scores(work, "confused.ttl", task=TASKS).filter(of_one).sort(KEYS).select(own)
    nested = scores(work, "confused.ttl", "nested.ttl", task=TASKS)
    for found in (nested, scores(work, "confused.ttl", "first.ttl", "news", task=TASKS)):
        assert found.filter(of_one, dataset="confused").sort(KEYS).select(own).equals(alone)
    both = nested.filter(of_one, task="A2KB", average="micro")
    assert set(both["f1_precision"]) == {"on mention"}
    unknown = both.filter(pl.col("dataset") != "confused")["precision_in_scope"]
    assert unknown.null_count() == 3
    # Both keep Ada in document 1, and drop Rome, so that together they are one of them, not the sum (2, 3, 0, 3). In
    # `nested` answers count in document 1 alone, in `confused` in 2 as well: FP is the Ada of 2, ignored is its Rome.
    found = {row["dataset"]: tuple(row[name] for name in ("tp", "fp", "fn", "ignored")) for row in both.to_dicts()}
    assert (found["confused"], found["nested"]) == ((1, 2, 0, 2), (1, 1, 0, 1))
    assert found["all"] == (1, 2, 0, 2)


@pytest.mark.long
@pytest.mark.parametrize("others", [[], ["news"], ["nested.ttl"]], ids=["alone", "beside its origin", "beside another"])
def test_evaluate_compare_and_plots_show_the_same_f1(work: Workspace, others: list[str]) -> None:
    from remix.reports.scores import _bars

    names = ["confused.ttl", *others]
    rows = scores(work, *names)
    shown, of_f1 = with_f1_shown(rows)
    micro = shown.filter(pl.col("column") == "", pl.col("average") == "micro", ~pl.col("dataset").is_in(["mean"]))
    wanted = dict(micro.select("dataset", "f1").iter_rows())
    wanted = wanted if len(names) == 1 else {name: value for name, value in wanted.items() if name != "all"}
    question = Question(datasets=tuple(names), run=("s=run.ttl",), task=("A2KB",), match=("strong",))
    found = compared_inputs(work, choose(question))
    assert found.f1_precision == of_f1
    compared = dict(found.scores.select("part", "score").iter_rows())
    assert list(compared.values()) == pytest.approx([wanted.get(name, wanted.get("all")) for name in compared])
    assert sorted(_bars(shown, ())["f1"]) == pytest.approx(sorted(wanted.values()))
