"""What systems made of each mention, row by row."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from remix import progress
from remix.errors import UnknownName, UsageError
from remix.names import shorten
from remix.reports.sentences import name_gold
from remix.runs.judgements import SEVERAL, list_entities, rename_entities
from remix.store import Store
from remix.web.page import VIEWS, Passages
from remix.workspace import Workspace, open_workspace
from tests.workspaces import load_texts


@pytest.fixture(scope="module")
def work(run_store: Store) -> Workspace:
    return open_workspace(run_store.folder)


@pytest.mark.long
@pytest.mark.parametrize("match", ["strong", "fuzzy(0.5)"])
def test_judgements_are_the_counts_of_the_evaluation(work: Workspace, match: str) -> None:
    """Correct are the true positives, wrong and missed mentions the false negatives, wrong answers false positives."""
    judged = work.judgements("gold", match=match)
    of_gold = judged.mentions.select("mention", of_gold="annotation")
    rows = judged.systems.join(of_gold, on="mention")
    scores = work.evaluate("gold", task="A2KB", match=match).rows.filter(average="micro", dataset="gold", column="")
    for system, tp, fp, fn in scores.select("system", "tp", "fp", "fn").iter_rows():
        own = rows.filter(system=system)
        required = own.drop_nulls("of_gold")["outcome"].to_list()
        assert required.count("correct") == tp
        assert required.count("wrong") + required.count("missed") == fn
        assert own["outcome"].to_list().count("wrong") == fp


TEXTS = {"a": ["One Ada."], "b": ["One Ada.", "Two Ada."], "c": ["Far Ada."]}


def answers_of(texts: dict[str, str]) -> pl.DataFrame:
    """Answers from 4 to 7 of the n-th texts with these entities, as a table."""
    rows = [{"document": f"urn:text:{nth}", "begin": 4, "end": 7, "entity": said} for nth, said in texts.items()]
    return pl.DataFrame(rows)


@pytest.fixture
def shared(tmp_path: Path) -> Workspace:
    """Three datasets of which two share a text: 'both' answers these two, 'second' the one, 'third' the third."""
    work = open_workspace(tmp_path / "own")
    load_texts(work.store, tmp_path, TEXTS, persons=["b"])
    work.add_run("both", answers_of({"0": "urn:e:Bob", "1": "urn:e:Ada"}), on=["a", "b"])
    work.add_run("second", answers_of({"0": "urn:e:Ada"}), on="b", perfect=True)
    work.add_run("third", answers_of({"0": "urn:e:Bob"}), on="c")
    return work


@pytest.mark.long
def test_datasets_are_judged_together_as_they_are_scored_together(shared: Workspace) -> None:
    """Of a and b the first text counts once, of which `both` is wrong; `second` is right there and misses the other.

    `second` is not on a, but on a copy of its text, and `third` on neither, so that nothing is said of it.
    """
    judged, of_all = shared.judgements(["a", "b"]), shared.judgements(["a", "b", "c"])
    assert judged.mentions.drop_nulls("annotation").height == 2 and judged.datasets == ["a", "b"]
    told = sorted(judged.systems.select("system", "outcome").rows())
    assert told == [("both", "correct"), ("both", "wrong"), ("second", "correct"), ("second", "missed")]
    assert sorted(of_all.systems.select("system", "outcome").rows()) == [*told, ("third", "wrong")]
    assert of_all.mentions["dataset"].to_list() == ["a", "b", "c"]
    for by in ("", "type:coarse", "is_nil"):
        rows = shared.evaluate(["a", "b"], task="A2KB", match="strong", by=by or ()).rows
        # What a is in and `second` is not on gives the mention a slice of which the scores of `second` know nothing.
        rows = rows.filter(average="micro", dataset="all", column=by, system="both")
        own = shared.judgements(["a", "b"], by=by)
        parts = own.mentions if by else own.mentions.with_columns(slice=pl.lit(""))
        parts = parts.with_columns(pl.col("slice").str.split(SEVERAL)).explode("slice")
        right = (pl.col("outcome") == "correct").sum()
        counts = (
            own.systems.filter(system="both").join(parts, on="mention").group_by("system", "slice").agg(right, pl.len())
        )
        scored = rows.select("system", "slice", "tp", every=pl.col("tp") + pl.col("fn"))
        assert sorted(counts.rows()) == sorted(scored.rows()), by


@pytest.mark.long
def test_runs_are_said_to_leave_unanswered_what_they_were_asked_alone(
    shared: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of b `second` answers one of two texts, and it is not on a and c; `both` is not on c, `third` on c alone."""
    with progress.enable():
        shared.judgements(["a", "b", "c"])
    said = [line for line in capsys.readouterr().err.splitlines() if "unanswered" in line]
    assert said == ["run 'second' answers 1 of the 2 documents of b; the rest count as unanswered"]


@pytest.mark.long
def test_errors_on_several_datasets_name_that_of_each(shared: Workspace) -> None:
    found = shared.errors("both", on=["a", "b"])
    assert found.table.select("dataset", "surface_form", "both class").rows() == [("a", "Ada", "wrong_link")]
    assert "on a, b are errors" in found.lines[0] and "text:0 (a)" in found.text()
    with pytest.raises(UnknownName, match="no run on a, b named 'third'"):
        shared.errors("third", on=["a", "b"])


@pytest.mark.long
def test_slices_hold_the_mentions_of_which_the_evaluation_makes_their_scores(answered_sample: Workspace) -> None:
    """A mention of several alternatives is in the slices of each of them, not of the first alone."""
    asked = {"system": "prior", "by": "class"}
    rows = answered_sample.evaluate("sample-posts", task="A2KB", match="strong", **asked).rows
    rows = rows.filter(average="micro", dataset="all", column="class").select("slice", "mentions", "tp")
    judged = answered_sample.judgements("sample-posts", **asked)
    told = judged.mentions.drop_nulls("annotation").join(judged.systems, on="mention")
    told = told.with_columns(pl.col("slice").str.split(SEVERAL)).explode("slice").drop_nulls("slice")
    right = (pl.col("outcome") == "correct").sum()
    found = told.group_by("slice").agg(pl.len(), right)
    assert sorted(found.rows()) == sorted(rows.rows()) and len(rows) > 10


def test_shares_tell_how_many_systems_are_right(work: Workspace) -> None:
    """Ada is right twice, Alan once; Bob and New York City never. New York, which gold has not, has no share."""
    judged = work.judgements("gold")
    forms = judged.shares.join(judged.mentions, on="mention").select("surface_form", "right", "of").rows()
    assert forms == [("Ada", 2, 2), ("Alan", 1, 2), ("Bob", 0, 2), ("New York City", 0, 2)]


def test_shares_leave_baselines_and_oracles_out_where_there_is_a_system(
    work: Workspace, answered_sample: Workspace
) -> None:
    """Of a alone Ada and Alan are right or Ada; where both are beside, both count as they do where none is."""
    judged = work.judgements("gold")
    alone = [replace(judged, beside=frozenset({name})).shares for name in ("a", "b")]
    assert all(one["of"].unique().to_list() == [1] for one in alone)
    assert [sum(pair) for pair in zip(*(one["right"] for one in alone), strict=True)] == judged.shares[
        "right"
    ].to_list()
    assert replace(judged, beside=frozenset({"a", "b"})).shares.equals(judged.shares)
    beside = answered_sample.judgements("sample-posts").beside
    assert beside["prior"] == "baseline" and beside["oracle-candidates"] == "oracle"
    assert not judged.beside


def test_columns_that_are_not_of_mentions_are_refused(work: Workspace) -> None:
    with pytest.raises(UsageError, match="not by 'error:a'"):
        work.judgements("gold", by="error:a")
    with pytest.raises(UsageError, match="not by 'class,isRare'"):
        work.judgements("gold", by="class,isRare")


def test_alternatives_are_told_all_and_an_answer_that_is_one_of_them_is_correct(tmp_path: Path) -> None:
    def write(name: str, *entities: str) -> Path:
        """Write links of one mention."""
        mention = {"document": "d", "text": "Ada", "begin": 0, "end": 3}
        (tmp_path / name).write_text("".join(json.dumps({**mention, "entity": one}) + "\n" for one in entities))
        return tmp_path / name

    work = Workspace(tmp_path / ".remix")
    work.load([write("mine.jsonl", "http://e.org/Ada", "http://e.org/Countess")])
    work.add_run("second", write("run.jsonl", "http://e.org/Countess"), on="mine")
    found = work.judgements("mine")
    assert found.mentions["gold"].to_list() == ["http://e.org/Ada or http://e.org/Countess"]
    assert found.systems.select("outcome", "answer").rows() == [("correct", "http://e.org/Countess")]


@pytest.mark.parametrize(
    ("answered", "wanted", "further"),
    [
        (
            {"Houston": "Q16555", "Texas": "Q2"},
            ("wrong", "Q2", "Texas", "neleval:wrong_link"),
            [("wrong", "Q16555", "Houston", "neleval:extra")],
        ),
        (
            {"Houston": "Q2", "Texas": "Q1439"},
            ("wrong", "Q2", "Houston", "neleval:wrong_link"),
            [("wrong", "Q1439", "Texas", "neleval:extra")],
        ),
        ({"Houston": "Q16555", "Texas": "Q1439"}, ("correct", "Q16555", "Houston", None), []),
        ({"Houston, Texas": "Q16555"}, ("correct", "Q16555", "Houston, Texas", None), []),
    ],
    ids=["the second is wrong", "the first is wrong", "both are right", "the whole"],
)
def test_alternative_of_two_mentions_is_told_with_the_answer_that_is_wrong(
    tmp_path: Path, answered: dict[str, str], wanted: tuple[str, ...], further: list[tuple[str, ...]]
) -> None:
    """The city as one mention, or the city and its state as two, of which each has to be right."""
    text = "Houston, Texas"
    labels = [
        {"id": 0, "span": [0, 14], "entity_id": "Q16555", "name": "Houston", "children": [1, 2]},
        {"id": 1, "span": [0, 7], "entity_id": "Q16555", "name": "Houston", "parent": 0},
        {"id": 2, "span": [9, 14], "entity_id": "Q1439", "name": "Texas", "parent": 0},
    ]
    mentions = [{"span": [text.index(form), text.index(form) + len(form)], "id": one} for form, one in answered.items()]
    for field, rows, name in (("labels", labels, "benchmark"), ("entity_mentions", mentions, "linked_articles")):
        article = {"id": 0, "title": "t", "text": text, field: rows}
        (tmp_path / f"mine.{name}.jsonl").write_text(json.dumps(article) + "\n")
    work = Workspace(tmp_path / ".remix")
    [entry] = work.load([tmp_path / "mine.benchmark.jsonl"])
    work.add_run("system", tmp_path / "mine.linked_articles.jsonl", on=entry.name)
    found = work.judgements(entry.name)
    assert [shorten(one) for one in list_entities(found.mentions["gold"])] == ["wd:Q1439", "wd:Q16555", "wd:Q16555"]
    assert rename_entities(found.mentions["gold"][0], shorten) == "wd:Q1439 and wd:Q16555 or wd:Q16555"
    said = found.systems.select("outcome", pl.col("answer").str.extract("(Q[0-9]+)$"), "answered", "classes")
    assert said.row(0) == wanted
    # A right answer to one part alone is a false positive as well, and has a row of its own.
    [counts] = (
        work.evaluate(entry.name, task="A2KB", match="strong")
        .rows.filter(average="micro", column="")
        .select("tp", "fp", "fn")
        .rows()
    )
    outcomes = said["outcome"].to_list()
    assert counts == (outcomes.count("correct"), outcomes.count("wrong"), outcomes[:1].count("wrong"))
    assert said.rows()[1:] == further
    if further:
        [part] = found.mentions.filter(pl.col("annotation").is_null()).to_dicts()
        assert name_gold(part) == "a part of wd:Q1439 and wd:Q16555 or wd:Q16555"
    for said in (*list_entities(found.mentions["gold"]), found.mentions["gold"][0]):
        asked = {"dataset": entry.name, "system": "system", "show": "all", "gold": said}
        assert VIEWS["errors"].show(work, asked).tables["errors"]["gold"].to_list() == [found.mentions["gold"][0]], said


def test_each_of_several_answers_on_one_span_is_told(tmp_path: Path) -> None:
    """Three answers on Ada, of whom gold has one link, and two on Bob, of whom it has none: four are wrong."""
    text = {"document": "d", "text": "Ada and Bob"}
    ada, bob = ({**text, "begin": begin, "end": begin + 3} for begin in (0, 8))
    linked = {
        name: [{**one, "entity": f"urn:e:{name}{nth}"} for nth in range(3)] for name, one in (("a", ada), ("b", bob))
    }
    for name, rows in {"mine": linked["a"][:1], "run": [*linked["a"], *linked["b"][:2]]}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "mine.jsonl"])
    work.add_run("system", tmp_path / "run.jsonl", on="mine")
    rows = work.evaluate("mine", task="A2KB", match="strong").rows.filter(average="micro", column="")
    assert rows.select("tp", "fp", "fn").rows() == [(1, 4, 0)]
    found = work.judgements("mine").systems
    assert sorted(found["outcome"]) == ["correct", *["wrong"] * 4]
    assert found.select("mention", "system").is_unique().all()  # each is a row of its own for people as well


@pytest.mark.long
def test_types_are_those_of_all_alternatives(tmp_path: Path) -> None:
    gold = (Path(__file__).parent / "small" / "gold.ttl").read_text()
    [ada] = [part for part in gold.split("\n\n") if '"Ada" ;' in part]
    place = ada.replace("char=0,3>", "again>").replace("dbr:Ada_Lovelace", "dbr:Ada").replace("Person", "Place")
    (tmp_path / "gold.ttl").write_text(f"{gold}\n{place}")
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "gold.ttl"])
    work.add_run("a", Path(__file__).parent / "small" / "a.ttl", on="gold")
    types = work.judgements("gold").mentions.filter(surface_form="Ada")["type"].to_list()
    assert types == [f"Person{SEVERAL}Place"]
    asked = {"dataset": "gold", "system": "a", "show": "all", "type": "Place"}
    page = VIEWS["errors"].show(work, asked)
    assert page.tables["errors"]["surface_form"].to_list() == ["Ada"]
    [texts] = [block for block in page.blocks if isinstance(block, Passages)]
    assert texts.passages[0].facets["type"] == "Person Place"  # what a report chooses texts by, as it does classes


def test_an_answer_that_nothing_joins_to_gold_is_told_beside_it_and_below(tmp_path: Path) -> None:
    """Gold names two entities of DBpedia; of the answers one is of DBpedia and wrong, one of Wikidata."""

    def write(name: str, *entities: str) -> Path:
        text = "Ada met Bob"
        spans = zip(((0, 3), (8, 11)), entities, strict=True)
        rows = [{"document": "d", "text": text, "begin": b, "end": e, "entity": one} for (b, e), one in spans]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return tmp_path / name

    work = open_workspace(tmp_path / "w")
    work.load(write("gold.jsonl", "http://dbpedia.org/resource/Ada", "http://dbpedia.org/resource/Bob"))
    work.add_run("mine", write("mine.jsonl", "http://dbpedia.org/resource/Eve", "http://www.wikidata.org/entity/Q5"))
    judged = work.judgements("gold")
    assert judged.systems["unjoined"].to_list() == [None, "www.wikidata.org/entity/"]
    said = work.errors("mine", on="gold")
    assert "wd:Q5 – wrong (wrong link; no sameAs link leads from it to gold's entities)" in said.text()
    [told] = [line for line in said.lines if "no sameAs link" in line]
    assert told.startswith("run 'mine': 1 of 2 answers on linked mentions are of www.wikidata.org/entity/, and no ")


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    ("same", "told"),
    [("", "dbpedia.org/resource/"), ("Q9", None), ("Q7", None)],
    ids=["no link", "a link to another", "a link to gold's"],
)
def test_whether_an_answer_can_be_compared_is_asked_of_its_own_mention(
    tmp_path: Path, same: str, told: str | None
) -> None:
    """Gold names Ada by DBpedia and Bob by Wikidata (Q7), the run both by DBpedia: only what Bob is may be unknown."""

    def write(name: str, *entities: str) -> Path:
        spans = zip(((0, 3), (8, 11)), entities, strict=True)
        rows = [{"document": "d", "text": "Ada met Bob", "begin": b, "end": e, "entity": one} for (b, e), one in spans]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return tmp_path / name

    work = open_workspace(tmp_path / "w")
    work.load(write("gold.jsonl", "http://dbpedia.org/resource/Ada", "http://www.wikidata.org/entity/Q7"))
    tables = {
        "surface_forms": "surface_form\tentity_iri\tcount\tsource\nBob\thttp://dbpedia.org/resource/Bob\t3\tx\n",
        "sameas": "wikidata_iri\tdbpedia_iri\tcount\tsource\n"
        f"http://www.wikidata.org/entity/{same}\thttp://dbpedia.org/resource/Bob\t1\tx\n",
    }
    for name, text in tables.items():
        if name != "sameas" or same:
            (tmp_path / f"{name}.tsv").write_text(text)
    work.build_kb([("tables", str(tmp_path))], name="own")
    work.attach_kb("own")
    work.add_run("mine", write("mine.jsonl", "http://dbpedia.org/resource/Eve", "http://dbpedia.org/resource/Bob"))
    judged = work.judgements("gold").systems
    assert judged["unjoined"].to_list() == [None, told]
    assert judged["outcome"].to_list() == ["wrong", "correct" if same == "Q7" else "wrong"]


TWO_ITEMS, GOLD_ALONE = {"Q7": "Bob", "Q9": "Rob"}, {"Q7": "Bob"}
"""Which resource of DBpedia an item is: gold's Bob and the answer's Rob, or Bob alone."""


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    ("gold", "answer", "items", "redirects", "told"),
    [
        ("wd:Q7", "dbr:Rob", GOLD_ALONE, {}, "dbpedia.org/resource/"),
        ("wd:Q7", "dbr:Rob", GOLD_ALONE, {"Robby": "Rob"}, "dbpedia.org/resource/"),
        ("wd:Q7", "dbr:Rob", GOLD_ALONE, {"Bobby": "Bob"}, "dbpedia.org/resource/"),
        ("wd:Q7", "dbr:Rob", GOLD_ALONE, {"Bobby": "Bob", "Robby": "Rob"}, None),
        ("wd:Q7", "dbr:Rob", GOLD_ALONE, {"Rob": "Bob"}, None),
        ("wd:Q7", "dbr:Rob", TWO_ITEMS, {}, None),
        ("wd:Q7", "wd:Q9", GOLD_ALONE, {}, None),
        ("dbr:Bob", "wd:Q9", GOLD_ALONE, {}, None),
        ("dbr:Bob", "wd:Q9", {}, {}, "www.wikidata.org/entity/"),
        ("dbr:Bob", "wd:Q9", {"Q9": "Rob"}, {}, "www.wikidata.org/entity/"),
        ("dbr:Bob", "wd:Q9", {"Q9": "Rob"}, {"Bobby": "Bob", "Robby": "Rob"}, None),
        ("dbr:Bob", "dbr:Rob", GOLD_ALONE, {}, None),
    ],
)
def test_a_title_may_be_the_article_of_another_title_and_an_item_is_no_other_item(
    tmp_path: Path, gold: str, answer: str, items: dict[str, str], redirects: dict[str, str], told: str | None
) -> None:
    """Rob may be an old title of Bob's article, unless both have redirects or items of their own."""
    spaces = {"dbr": "http://dbpedia.org/resource/", "wd": "http://www.wikidata.org/entity/"}

    def iri(short: str) -> str:
        space, name = short.split(":")
        return spaces[space] + name

    def write(name: str, entity: str) -> Path:
        row = {"document": "d", "text": "Bob", "begin": 0, "end": 3, "entity": iri(entity)}
        (tmp_path / name).write_text(json.dumps(row) + "\n")
        return tmp_path / name

    forms = [f"{name}\t{iri(f'dbr:{name}')}\t1\tx" for name in ("Bob", "Rob")]
    same = [f"{iri(f'wd:{item}')}\t{iri(f'dbr:{name}')}\t1\tx" for item, name in items.items()]
    moved = [f"{iri(f'dbr:{old}')}\t{iri(f'dbr:{name}')}\tx" for old, name in redirects.items()]
    tables = {
        "surface_forms": ["surface_form\tentity_iri\tcount\tsource", *forms],
        "sameas": ["wikidata_iri\tdbpedia_iri\tcount\tsource", *same],
        "redirects": ["redirect_iri\ttarget_iri\tsource", *moved],
    }
    (tmp_path / "tables").mkdir()
    for name, lines in tables.items():
        if len(lines) > 1:
            (tmp_path / "tables" / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    work = open_workspace(tmp_path / "w")
    work.load(write("gold.jsonl", gold))
    work.build_kb([("tables", str(tmp_path / "tables"))], name="own")
    work.attach_kb("own")
    work.add_run("mine", write("mine.jsonl", answer))
    judged = work.judgements("gold").systems
    assert judged["unjoined"].to_list() == [told]
    assert judged["outcome"].to_list() == ["correct" if redirects == {"Rob": "Bob"} else "wrong"]
