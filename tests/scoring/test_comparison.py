"""Systems on several parts, units smaller than documents, and agreement of two annotations."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import UnknownName, UsageError
from remix.formats.nif.writing import write_frames
from remix.kb import build
from remix.scoring.comparison import ComparedPart, compare_systems
from remix.scoring.statistics.agreement import agreement
from remix.signature import Signature
from remix.workspace import Workspace
from tests.scoring.conftest import evaluate, framed

UNITS = 12


def part(**found):
    """Counts of one mention in each of twelve documents, of which each system has found so many, and nothing else."""
    rows = [
        {"system": system, "doc": doc, "tp": int(doc < right), "fp": 0, "fn": int(doc >= right)}
        for system, right in found.items()
        for doc in range(UNITS)
    ]
    empty = pl.lit(None, pl.Int64)
    return ComparedPart(
        pl.DataFrame(rows).with_columns(fp_in_scope=empty, fp_on_mention=empty), pl.DataFrame({"doc": range(UNITS)})
    )


def test_parts_are_correlated_with_the_first_and_all_tests_corrected_together():
    parts = {"all": part(a=12, b=6, c=3), "same": part(a=9, b=3, c=2), "turned": part(a=1, b=5, c=9)}
    found = compare_systems(parts, ["a", "b", "c"], score="recall", samples=2000)
    assert found.scores.filter(part="all")["score"].to_list() == [1.0, 0.5, 0.25]
    assert found.correlations.select("part", "kendall", "spearman").rows() == [
        ("same", 1.0, 1.0),
        ("turned", -1.0, -1.0),
    ]
    # Recall is (12, 6, 3) / 12, (9, 3, 2) / 12 and (1, 5, 9) / 12; less their means these are as (5, -1, -4),
    # (13, -5, -8) and (-4, 0, 4): 102 / sqrt(42 * 258) and -36 / sqrt(42 * 32).
    assert found.correlations["pearson"].to_list() == pytest.approx([0.9799, -0.9820], abs=1e-4)
    # Nine tests: the smallest p is multiplied by nine, unless that is more than 1.
    smallest = found.pairs.sort("p").row(0, named=True)
    assert len(found.pairs) == 9
    assert smallest["p_holm"] == pytest.approx(min(1.0, 9 * smallest["p"]))


def test_systems_are_tested_on_what_they_answered_and_on_nothing_else():
    parts = {
        "first": replace(part(a=6, b=3), systems=("a", "b")),
        "second": replace(part(a=12, b=6, c=3), systems=("a", "b", "c")),
        "third": replace(part(c=12), systems=("c",)),
    }
    found = compare_systems(parts, ["a", "b", "c"], score="recall", samples=100)
    pairs = found.pairs.select("part", "system", "other").rows()
    assert pairs == [("first", "a", "b"), *(("second", *pair) for pair in (("a", "b"), ("a", "c"), ("b", "c")))]
    scores = found.scores.pivot("part", index="system", values="score").rows()
    assert scores == [("a", 0.5, 1.0, None), ("b", 0.25, 0.5, None), ("c", None, 0.25, 1.0)]
    # The first and the second part share two systems, of which nothing is correlated, the first and the third none.
    assert found.correlations["systems"].to_list() == [2, 0]


@pytest.mark.long
def test_runs_on_the_second_gold_alone_are_compared_there(tmp_path: Path):
    """Two datasets of twelve documents; `late` answers the second alone, and its answers are in the signature."""
    work, gold_of = (
        Workspace(tmp_path / "ws"),
        {"first": {"one": 6, "other": 3}, "second": {"one": 6, "other": 3, "late": 9}},
    )

    def answers(name, right):
        documents = [f"urn:{name}:{n}" for n in range(UNITS)]
        rows = [
            {"document": document, "begin": 0, "end": 3, "entity": f"http://e/{'Ada' if n < right else 'Eve'}"}
            for n, document in enumerate(documents)
        ]
        frames = framed(rows, documents=documents)
        text = pl.concat_str(pl.lit(f"Ada of {name} "), pl.int_range(pl.len()).cast(pl.String))
        return replace(frames, documents=frames.documents.with_columns(text=text))

    for name, systems in gold_of.items():
        write_frames(answers(name, UNITS), tmp_path / f"{name}.ttl")
        work.load(tmp_path / f"{name}.ttl")
        for system, right in systems.items():
            work.add_run(system, answers(name, right), on=name, task="D2KB")
    found = work.compare(["first", "second"], task="D2KB", match="strong", samples=100)
    assert found.pairs.group_by("part").len().sort("part").rows() == [("first", 1), ("second", 3)]
    score = {(system, where): value for system, where, value, *_ in found.scores.rows()}
    assert (score["late", "first"], score["late", "second"]) == (None, 0.75)
    assert len(Signature.parse(found.signature).fields["run"].split(",")) == 5


def test_systems_that_all_have_the_same_score_have_no_correlation():
    found = compare_systems({"all": part(a=1, b=2, c=3), "flat": part(a=2, b=2, c=2)}, ["a", "b", "c"], samples=100)
    assert found.correlations.select("kendall", "spearman").row(0) == (None, None)


def test_too_few_documents_and_unknown_parts_are_refused():
    whole = part(a=1, b=2)
    small = replace(whole, documents=whole.documents.head(9))
    with pytest.raises(UsageError, match="no test over 9 documents.*--unit context"):
        compare_systems({"all": small}, ["a", "b"])
    with pytest.raises(UnknownName, match="did you mean 'news'"):
        compare_systems({"news": whole}, ["a", "b"], unfiltered="newss")


def test_one_system_on_documents_too_few_for_a_test_has_its_score():
    whole = part(a=3)
    found = compare_systems({"all": replace(whole, documents=whole.documents.head(9))}, ["a"], score="recall")
    # Of the mentions of nine documents those of three are found.
    assert found.scores.select("part", "score").rows() == [("all", pytest.approx(3 / 9))]
    assert found.pairs.is_empty()


TEXT = "Ada met Bob. Ada left."


def annotated(*spans, classes=()):
    rows = [{"begin": begin, "end": end, "entity": entity, "classes": classes} for begin, end, entity in spans]
    frames = framed(rows)
    return replace(frames, documents=frames.documents.with_columns(text=pl.lit(TEXT)))


def test_contexts_are_counted_as_documents_and_change_no_sum():
    gold = annotated((0, 3, "e:Ada"), (8, 11, "e:Bob"), (13, 16, "e:Ada"))
    run = annotated((0, 3, "e:Ada"), (13, 16, "e:Eve"))
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], unit="context")
    micro, macro = (rows.filter(average=name, column="").row(0, named=True) for name in ("micro", "macro"))
    assert (micro["documents"], micro["tp"], micro["fp"], micro["fn"]) == (2, 1, 1, 2)
    # First sentence: P 1, R 1/2, F1 2/3; second: 0.
    assert macro["f1"] == pytest.approx(1 / 3)


def test_mention_with_an_offset_below_0_is_in_the_first_context():
    gold = annotated((0, 3, "e:Ada"), (-1, 3, "e:Eve"))
    rows = evaluate(gold, {"s": annotated((0, 3, "e:Ada"))}, task=["A2KB"], match=["strong"], unit="context")
    assert rows.filter(average="micro", column="").select("tp", "fp").row(0) == (1, 0)


def test_slices_are_tested_with_the_intervals_and_unknown_ones_are_refused():
    gold = [{"document": f"d{n}", "begin": 5 * k, "end": 5 * k + 3, "entity": "e:A", "classes": [f"c:{k}"]}
            for n in range(UNITS) for k in range(2)]  # fmt: skip
    names = [f"d{n}" for n in range(UNITS)]
    run = framed(gold[::2], documents=names)
    options = {"task": ["D2KB"], "match": ["strong"], "by": ["class"], "intervals": True}
    rows = evaluate(framed(gold, documents=names), {"s": run}, **options).filter(average="micro", column="class")
    # One class is always found, the other never: F1 1 and 0 beside 2/3.
    assert dict(rows.select("slice", pl.col("difference").round(6)).iter_rows()) == {"c:0": 0.333333, "c:1": -0.666667}
    assert rows["p_holm"].max() < 0.05
    with pytest.raises(UnknownName, match="no slice named 'c:3'; did you mean 'c:"):
        evaluate(framed(gold, documents=names), {"s": run}, **options, against="c:3")
    with pytest.raises(UsageError, match="--against c:1 tests slices: it goes with --by and --intervals"):
        evaluate(framed(gold, documents=names), {"s": run}, **options | {"intervals": False}, against="c:1")


def test_agreement_by_hand():
    first = annotated((0, 3, "e:Ada"), (8, 11, "e:Bob"), (13, 16, "e:Ada"), classes=["c:Person"])
    second = annotated((0, 3, "e:Ada"), (8, 11, "e:Rob"))
    table = {row["compared"]: row for row in agreement(first, second).to_dicts()}
    assert [table["spans, strong"][name] for name in ("first", "second", "agreed", "f1")] == [3, 2, 2, 0.8]
    # Labels of the two spans: (Ada, Ada), (Bob, Rob). Seen 1/2; by chance 1/2 * 1/2 = 1/4: (1/2 - 1/4) / (3/4) = 1/3.
    assert table["links, strong"]["agreed"] == 1
    assert table["links, strong"]["kappa"] == pytest.approx(1 / 3)
    # Words: Ada met Bob Ada left; in mentions 1 0 1 1 0 and 1 0 1 0 0: seen 4/5, chance 3/5 * 2/5 + 2/5 * 3/5 = 12/25.
    assert table["tokens in mentions"]["kappa"] == pytest.approx((4 / 5 - 12 / 25) / (13 / 25))
    # The second has no classes: on the three and two mentions nothing is agreed.
    assert [table["class"][name] for name in ("class", "first", "second", "agreed", "f1")] == ["c:Person", 3, 0, 0, 0.0]


def test_kappa_of_a_class_that_no_agreed_span_has_is_undefined():
    # Seven agreed spans, none with a class. In floating numbers 7² · (1 / 7²) is less than 1, and κ was 1.
    spans = [(k, k + 1, "e:A") for k in range(8)]
    first = annotated(*spans)
    last = first.annotations["annotation"][-1]
    classes = pl.DataFrame({"annotation": [last, last], "class": ["c:Noun", "c:Verb"]})
    rows = agreement(replace(first, classes=classes), annotated(*spans[:7])).filter(compared="class")
    assert rows.select("first", "second", "f1", "kappa").rows() == [(1, 0, 0.0, None)] * 2


def test_an_annotation_agrees_with_itself_also_where_it_has_alternatives():
    gold = annotated((0, 3, "e:Ada"), (0, 3, "e:Ada_Lovelace"), (8, 11, None), classes=["c:Person"])
    table = agreement(gold, gold)
    assert table["f1"].to_list() == [1.0] * len(table)
    assert set(table["kappa"].drop_nulls()) == {1.0}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    gold = annotated((0, 3, "http://e.org/Ada"), (8, 11, "http://e.org/Bob"), (13, 16, "http://e.org/Ada"))
    run = annotated((0, 3, "http://e.org/Ada"), (8, 11, "http://e.org/Rob"))
    names = {"gold": gold, "run": run}
    for name, frames in names.items():
        many = [_copy(frames, number) for number in range(UNITS)]
        write_frames(type(frames).concat(many), tmp_path / f"{name}.ttl")
    return {name: tmp_path / f"{name}.ttl" for name in names}


def _copy(frames, number):
    own = {name: pl.format(f"urn:{number}:{{}}", name) for name in ("document", "annotation", "group", "option")}
    return replace(
        frames,
        documents=frames.documents.with_columns(document=own["document"]),
        annotations=frames.annotations.with_columns(**own),
        links=frames.links.with_columns(annotation=own["annotation"]),
    )


def test_command_has_many_slices_below_each_other(files: dict[str, Path]):
    arguments = ["compare", "--gold", str(files["gold"]), "--run", f"bad={files['run']}", "--by", "document"]
    done = CliRunner().invoke(cli, [*arguments, "--task", "A2KB", "--match", "strong", "--samples", "100"])
    assert done.exit_code == 0, done.output
    scores, *others = done.stdout.strip().split("\n\n")
    assert scores.splitlines()[0].split() == ["part", "bad"]
    assert [line.split()[-1] for line in scores.splitlines()[2:]] == ["0.4"] * (1 + UNITS)
    # One system has no other to be tested against or ranked with.
    assert len(others) == 1 and others[0].splitlines()[1].startswith("signature")
    assert others[0].startswith("bad is one system alone")


@pytest.mark.long
def test_command_says_what_its_columns_are_and_leaves_small_slices_out(files: dict[str, Path]):
    arguments = ["compare", "--gold", str(files["gold"]), "--samples", "100", "--by", "document"]
    runs = ["--run", f"good={files['gold']}", "--run", f"bad={files['run']}"]
    done = CliRunner().invoke(cli, [*arguments, *runs, "--min-support", "1"])
    assert "low to high is its 95 % interval (jackknife over documents)" in done.stdout
    assert "effect is the mean difference of documents over its standard deviation" in done.stdout
    none = CliRunner().invoke(cli, [*arguments, *runs, "--min-support", "99"])
    assert "no slice by 'document' has 99 mentions" in str(none.exception)


def test_command_takes_a_hierarchy_for_near_misses(files: dict[str, Path], tmp_path: Path):
    hierarchy = tmp_path / "hierarchy.nt"
    hierarchy.write_text(
        "<http://e.org/Rob> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e.org/Bob> .\n", encoding="utf-8"
    )
    arguments = ["compare", "--gold", str(files["gold"]), "--run", f"bad={files['run']}", "--match", "graded"]
    done = CliRunner().invoke(cli, [*arguments, "--hierarchy", str(hierarchy), "-o", "json"])
    assert done.exit_code == 0, done.output
    # Of three mentions one is right, one a step away, which is 1/2, one missed: F1 2 * 1.5 / (3 + 0.5 + 1.5).
    assert [row["score"] for row in json.loads(done.stdout) if row["kind"] == "score"] == [pytest.approx(0.6)]


@pytest.mark.parametrize("more", [[], ["--by", "class"]])
def test_command_takes_gold_from_one_place(files: dict[str, Path], more: list[str]):
    done = CliRunner().invoke(cli, ["compare", "news", "--gold", str(files["gold"]), "--run", "a=b.ttl", *more])
    assert re.search("news and --gold .* are both gold: .* without --gold; .* --agreement", str(done.exception))


@pytest.mark.long
def test_command_compares_systems_and_annotations(files: dict[str, Path]):
    arguments = ["compare", "--gold", str(files["gold"]), "-o", "json", "--samples", "500"]
    runs = ["--run", f"good={files['gold']}", "--run", f"bad={files['run']}"]
    done = CliRunner().invoke(cli, [*arguments, *runs])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    (pair,) = (row for row in rows if row["kind"] == "pair")
    # F1 of the second in each document is 2 * 1 / (2 + 1 + 2) = 2/5.
    assert (pair["system"], pair["other"], pair["documents"]) == ("good", "bad", UNITS)
    assert pair["difference"] == pytest.approx(0.6)
    assert pair["p_holm"] < 0.05
    assert "samples:500" in pair["signature"]
    assert done.stdout == CliRunner().invoke(cli, [*arguments, *runs]).stdout
    both = CliRunner().invoke(cli, ["compare", "--gold", str(files["gold"]), "--gold", str(files["run"])])
    assert both.exit_code == 0, both.output
    assert "tokens by entity" in both.stdout
    assert "signature remix:" in both.stdout


@pytest.fixture
def renamed(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A workspace whose knowledge base has e:Augusta as a redirect to e:Ada, and two files that use one name each."""
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "surface_forms.tsv").write_text("surface_form\tentity_iri\tcount\tsource\nAda\thttp://e.org/Ada\t1\tx\n")
    (tables / "redirects.tsv").write_text("redirect\ttarget\tsource\nhttp://e.org/Augusta\thttp://e.org/Ada\tx\n")
    workspace = Workspace(tmp_path / "work")
    workspace.attach_kb(str(build([("tables", str(tables))], tmp_path / "kb", name="tiny").folder))
    files = []
    for name in ("Ada", "Augusta"):
        line = {"text": TEXT, "document": "d", "begin": 0, "end": 3, "entity": f"http://e.org/{name}"}
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text(json.dumps(line))
    return tmp_path / "work", *files


@pytest.mark.long
def test_agreement_has_the_identities_of_the_knowledge_base(renamed):
    folder, one, other = renamed
    for agreed, kept in ((1, Workspace(folder)), (0, Workspace(folder / "none"))):
        rows = kept.agreement(gold=[one, other]).rows.filter(compared="links, strong")
        assert rows.select("first", "second", "agreed").row(0) == (1, 1, agreed)
        assert ("kb" in dict(Signature.parse(rows["signature"][0]).fields)) == bool(agreed)


@pytest.mark.long
def test_gold_files_are_scored_with_the_identities_of_the_knowledge_base(renamed):
    folder, one, other = renamed
    for found, kept in ((1.0, Workspace(folder)), (0.0, Workspace(folder / "none"))):
        rows = kept.evaluate(gold=[one], run=[f"s={other}"], task=["A2KB"], match=["strong"]).rows
        assert rows.filter(average="micro")["f1"].to_list() == [found]


@pytest.mark.parametrize("by", [(), ("class",)])
def test_comparing_nothing_says_what_to_name(tmp_path, by):
    (tmp_path / "gold.tsv").touch()
    with pytest.raises(UsageError, match="no run is named: --run NAME takes a registered one"):
        Workspace(tmp_path / "w").compare(gold=[tmp_path / "gold.tsv"], by=by)


def test_task_that_counts_nothing_is_refused_rather_than_compared():
    with pytest.raises(UsageError, match="nothing to compare"):
        compare_systems({}, ["one", "other"])
