"""`remix evaluate` on files, as its users and the published checks call it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import Error, UnknownName

TEXT = "Ada met Bob in Rome."
KEYS = {
    "system", "dataset", "task", "matching", "profile", "column", "slice", "mentions", "tp", "fp", "fn", "ignored",
    "precision", "recall", "f1", "average", "signature",
}  # fmt: skip


def article(field: str, spans: list[tuple[int, int, str]]) -> str:
    name = "entity_id" if field == "labels" else "id"
    return json.dumps({"id": 0, "text": TEXT, field: [{"span": [b, e], name: q} for b, e, q in spans]})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, run = tmp_path / "gold.benchmark.jsonl", tmp_path / "run.linked_articles.jsonl"
    gold.write_text(article("labels", [(0, 3, "Q1"), (8, 11, "Q2"), (15, 19, "Q3")]))
    run.write_text(article("entity_mentions", [(0, 3, "Q1"), (8, 11, "Q9")]))
    return gold, run


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(cli, ["evaluate", *map(str, arguments)], catch_exceptions=True)
    if isinstance(result.exception, Error):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_has_one_row_per_combination_with_the_keys_of_the_contract(files):
    gold, run = files
    rows = json.loads(invoke("--gold", gold, "--run", f"a={run}", "--run", f"b={run}", "-o", "json"))
    assert all(set(row) >= KEYS for row in rows)
    labels = [tuple(row[key] for key in ("system", "dataset", "task", "matching", "slice", "average")) for row in rows]
    assert len(set(labels)) == len(labels) == 2 * 4 * 2 * 2
    found = next(row for row in rows if row["system"] == "a" and row["task"] == "A2KB" and row["average"] == "micro")
    assert (found["tp"], found["fp"], found["fn"], found["mentions"]) == (1, 1, 2, 3)


def test_table_shows_scores_and_the_signature_below(files):
    gold, run = files
    title, _, *lines = invoke("--gold", gold, "--run", f"a={run}", "--task", "A2KB", "--match", "strong").splitlines()
    assert title == "A2KB, strong matching"
    assert lines[0].split() == ["system", "mentions", "tp", "fp", "fn", "P", "R", "F1", "macro-F1"]
    assert lines[2].split() == ["a", "3", "1", "1", "2", "0.5", "0.333", "0.4", "0.4"]
    assert lines[-2].startswith("signature remix:")
    assert lines[-1].startswith("runs a=")


def test_entities_give_classes_to_slice_by(files, tmp_path):
    gold, run = files
    types = tmp_path / "entities.tsv"
    types.write_text("entity\tname\ttypes\nQ1\tAda\tQ215627\nQ2\tBob\tQ215627\nQ3\tRome\tQ515\nQ9\tBobby\tQ515\n")
    rows = json.loads(
        invoke(
            "--gold", gold, "--run", f"a={run}", "--entities", types, "--by", "class", "--task", "A2KB", "-o", "json"
        )
    )
    # Q215627 is DBpedia's Person, by the mapping of classes.
    person = [row for row in rows if row["slice"].endswith("/ontology/Person") and row["matching"] == "strong"]
    found = next(row for row in person if row["average"] == "micro")
    # Bob was answered with a city, which is wrong on a person's mention whatever it is.
    assert (found["tp"], found["fp"], found["precision"], found["precision_in_scope"]) == (1, 1, 0.5, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "{gold}", "--run", "run.ttl"], "no run named 'run.ttl'; `--run NAME=run.ttl` takes a file"),
        (["--gold", "{gold}", "--run", "{run}"], "is no NAME=FILE"),
        (["--gold", "{gold}"], "no run is named: --run NAME takes a registered one, --run NAME=FILE"),
        (["--gold", "{gold}", "--run", "a=missing.ttl"], "missing.ttl: no such file"),
        (["--gold", "{gold}", "--run", "a={run}", "--profile", "gerbl"], "no profile named 'gerbl'"),
        (["--gold", "{gold}", "--run", "a={run}", "--entities", "{gold}"], "has no column entity"),
    ],
)
def test_wrong_arguments_end_in_one_line(files, arguments, message):
    gold, run = files
    with pytest.raises(Error, match=message) as error:
        invoke(*(argument.format(gold=gold, run=run) for argument in arguments))
    assert "\n" not in str(error.value)


def test_rows_of_several_columns_say_which_one_they_cut_by(files):
    gold, run = files
    options = ["--task", "A2KB", "--match", "strong", "--by", "is_nil", "--by", "surface_form"]
    _, _, title, of_nil, other, of_forms, *_ = invoke("--gold", gold, "--run", f"a={run}", *options).split("\n\n")
    assert (title, other) == ("A2KB by is_nil, strong matching", "A2KB by surface_form, strong matching")
    bodies = [re.split(r"\n-[- ]*\n", table)[1] for table in (of_nil, of_forms)]
    values = [{row.split()[1] for row in body.splitlines()} for body in bodies]
    assert values == [{"false"}, {"Ada", "Bob", "Rome"}]


def test_tables_say_what_intervals_and_thresholds_are(tmp_path):
    gold, run = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    mentions = [{"document": f"d{n}", "begin": 0, "end": 3, "entity": "e:Ada"} for n in range(10)]
    texts = [{"document": f"d{n}", "text": TEXT} for n in range(10)]
    gold.write_text("\n".join(map(json.dumps, texts + mentions)))
    run.write_text("\n".join(json.dumps(row | {"confidence": 0.5}) for row in mentions))
    options = ["--gold", gold, "--run", f"a={run}", "--task", "A2KB", "--match", "strong", "--threshold", "0.3"]
    title, _, *lines = invoke(*options, "--intervals").splitlines()
    assert title == "A2KB, strong matching" and lines[0].split()[:3] == ["system", "threshold", "mentions"]
    assert "F1 from … to is its 95 % interval over documents: a jackknife on logits, with t" in lines
    assert "answers count above the confidence in threshold" in lines
    assert any(
        "best micro-F1 on this very gold" in line for line in invoke(*options[:-2], "--profile", "gerbil").splitlines()
    )


def test_a_threshold_on_answers_without_confidence_is_told(files):
    gold, run = files
    arguments = ["--gold", gold, "--run", f"a={run}", "--task", "A2KB", "--threshold", "0.3"]
    result = CliRunner().invoke(cli, ["evaluate", *map(str, arguments)])
    assert "run 'a' has no confidence: all of its answers count" in result.stderr.splitlines()


def test_classes_of_files_are_sliced_by_as_they_are_without_types_of_entities(tmp_path, files):
    # A class that maps to a coarse one gets no second row beside its own.
    _, run = files
    gold = tmp_path / "typed.benchmark.jsonl"
    label = {"span": [0, 3], "entity_id": "Q1", "type": "Q215627"}
    gold.write_text(json.dumps({"id": 0, "text": TEXT, "labels": [label]}))
    rows = json.loads(invoke("--gold", gold, "--run", f"a={run}", "--by", "class", "-o", "json"))
    assert {row["slice"] for row in rows if row["column"] == "class"} == {"http://www.wikidata.org/entity/Q215627"}


def test_folders_of_frames_score_as_the_files_they_were_made_from(tmp_path):
    context = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
    lines = [
        f"<http://x/d> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{context}Context> .",
        f'<http://x/d> <{context}isString> "{TEXT}" .',
    ]
    for begin, end, name in ((0, 3, "Ada"), (15, 19, "Rome")):
        lines += [
            f"<http://x/d{begin}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{context}Phrase> .",
            f"<http://x/d{begin}> <{context}referenceContext> <http://x/d> .",
            f'<http://x/d{begin}> <{context}anchorOf> "{name}" .',
            f'<http://x/d{begin}> <{context}beginIndex> "{begin}" .',
            f'<http://x/d{begin}> <{context}endIndex> "{end}" .',
            f"<http://x/d{begin}> <http://www.w3.org/2005/11/its/rdf#taIdentRef> <http://x/{name}> .",
        ]
    gold, run = tmp_path / "gold.nt", tmp_path / "run.nt"
    gold.write_text("\n".join(lines) + "\n")
    run.write_text("\n".join(lines[:8]) + "\n")
    for file in (gold, run):
        done = CliRunner().invoke(cli, ["load", "--to", "frames", str(tmp_path / file.stem), str(file)])
        assert done.exit_code == 0, done.output
    choices = ["--task", "A2KB", "--match", "strong", "-o", "json"]
    of_files = json.loads(invoke("--gold", gold, "--run", f"a={run}", *choices))
    of_folders = json.loads(invoke("--gold", tmp_path / "gold", "--run", f"a={tmp_path / 'run'}", *choices))
    found = [(row["tp"], row["fp"], row["fn"]) for row in of_folders]
    assert found[0] == (1, 0, 1)
    none = {"signature": "", "signature_short": ""}
    assert [row | none for row in of_folders] == [row | none for row in of_files]


def test_in_python_one_name_may_stand_for_a_list_and_a_wrong_one_is_told(sample_workspace):
    workspace = sample_workspace()
    workspace.annotate(["sample-news"], ["prior"])
    report = workspace.evaluate("sample-news", system="prior", task="A2KB", match="weak", by="kb")
    rows, datasets = report.rows, report.datasets
    assert (datasets, set(rows["task"]), set(rows["matching"])) == (["sample-news"], {"A2KB"}, {"weak"})
    with pytest.raises(TypeError, match="'matchings'"):
        workspace.evaluate("sample-news", matchings="weak")
    with pytest.raises(TypeError, match="'threshold'"):
        workspace.compare("sample-news", threshold="0.3")
    with pytest.raises(UnknownName, match="no curve named 'alhpa'; did you mean 'alpha'"):
        workspace.curve("sample-news", kind="alhpa", system="prior")


@pytest.mark.long
def test_what_matchings_and_classes_of_errors_are_stands_below_the_tables(files):
    gold, run = files
    lines = invoke("--gold", gold, "--run", f"a={run}", "--task", "A2KB", "--errors", "neleval").splitlines()
    assert "strong: begin and end are equal" in lines
    assert any(line.startswith("wrong_link: an entity was answered, and gold has another") for line in lines)
    # No NIL was answered, so nothing needs to be told of it.
    assert not any(line.startswith("link_as_nil:") for line in lines)
    several = invoke("--gold", gold, "--run", f"a={run}", "--profile", "remix,elevant").splitlines()
    assert "IGNORED: unknown entities are no gold and no answers" in several
