"""Pages of datasets by their rows: all in one table, one by itself, several compared, what pairs share."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.measures.partitions import partition
from remix.paper import typeset
from remix.reports.contrasts import find_distance
from remix.reports.statistics import Quantity, draw_shares, values_of
from remix.store import Store
from remix.web.forms import Form
from remix.web.page import VIEWS, Code, Drawing, Note, Page, Table
from remix.web.rendering import render_page
from remix.workspace import Workspace, open_workspace
from tests.cli.test_datasets import SIZED
from tests.commands import run_verb
from tests.pages import follow
from tests.workspaces import copy_workspace

SMALL = Path(__file__).resolve().parents[1] / "remixes" / "small"


@pytest.fixture(scope="module")
def work(sample_store: Store) -> Workspace:
    return open_workspace(sample_store.folder)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The small datasets without measures, and a copy of the posts of which one text and one form differ."""
    folder = tmp_path_factory.mktemp("pair")
    text = (SMALL / "posts.ttl").read_text()
    (folder / "other.ttl").write_text(text.replace("Lisbon", "London"))
    workspace = Workspace(folder / ".remix")
    workspace.load([SMALL / "news.ttl", SMALL / "posts.ttl", folder / "other.ttl"])
    return workspace


def shown(work: Workspace, view: str, **parameters: str) -> Page:
    return VIEWS[view].show(work, parameters)


def table_of(page: Page, name: str) -> Table:
    return next(block for block in page.blocks if isinstance(block, Table) and block.name == name)


def test_all_datasets_stand_in_one_table_with_chosen_measures_and_what_they_cover(work: Workspace) -> None:
    table = table_of(shown(work, "datasets", measures="candidateRecall,density", average="macro"), "datasets")
    assert table.frame.columns[-4:] == [
        "candidateRecall",
        "share with candidateRecall",
        "density",
        "share with density",
    ]
    rows = work.stats(average="macro").rows.filter(measure="candidateRecall").sort("dataset")
    assert table.frame["candidateRecall"].to_list() == rows["value"].to_list()
    assert (
        table.frame["share with candidateRecall"].to_list() == rows["coverage"].to_list() and min(rows["coverage"]) < 1
    )
    assert table.small["density"] == "share with density" and "density" in table.heat
    assert table.explained["density"].startswith("Annotations per word.\nFormula: ")


def test_links_with_a_type_are_as_many_by_every_average_of_a_table(work: Workspace) -> None:
    """Of the news and the posts some links have no type: numbers of persons, and their shares, are of the others."""
    kinds, names = ["typePerson", "typeOrganisation", "typePlace", "typeOther"], ["sample-news", "sample-posts"]
    covered = {}
    for average in ("micro", "count"):
        rows = table_of(shown(work, "compare", datasets=",".join(names), average=average), "measures").frame
        rows = rows.filter(pl.col("which measure").is_in(kinds))
        for name in names:
            own = table_of(shown(work, "dataset", name=name, average=average), "measures").frame
            own = own.filter(pl.col("measure").is_in(kinds))
            found = {*own["share covered"], *rows[f"share of {name}"]}
            assert own["average"].unique().to_list() == [average] and len(found) == 1
            covered.setdefault(name, set()).update(found)
    assert all(len(found) == 1 and max(found) < 0.95 for found in covered.values())


def test_measures_to_choose_are_all_that_datasets_have_and_a_selection_is_shown_first(work: Workspace) -> None:
    page = shown(work, "datasets")
    [form] = [block for block in page.blocks if isinstance(block, Form)]
    [field] = [field for field in form.fields if field.look == "many"]
    assert {*field.values} == {*work.stats().datasets["measure"]}
    assert 4 < len(field.chosen.split(",")) < 12


def test_datasets_that_are_not_enriched_say_what_to_do_next(pair: Workspace, work: Workspace) -> None:
    def commands(page: Page) -> list[str]:
        return [command for block in page.blocks if isinstance(block, Note) for command in block.commands]

    assert "remix enrich" in commands(shown(pair, "datasets")) and "remix kb attach" in commands(
        shown(pair, "datasets")
    )
    assert "remix enrich" in commands(shown(pair, "dataset", name="news"))
    assert "remix enrich" not in commands(shown(work, "datasets"))
    assert shown(pair, "dataset", name="news").tables["documents"]["mentions"].to_list() == [5, 3, 0]


def test_distribution_has_both_scales_and_the_boundaries_of_partitions(work: Workspace) -> None:
    page = shown(work, "dataset", name="sample-news", column="ambiguitySurfaceForm", scheme="quantiles:4")
    [figure] = [block.figure for block in page.blocks if isinstance(block, Drawing)]
    assert [panel.x.scale for panel in figure.panels] == ["linear", "log"]
    every = work.stats(level="annotation").table
    own = every.filter(dataset="sample-news")["ambiguitySurfaceForm"]
    edges = [part.high for part in partition(every["ambiguitySurfaceForm"], "quantiles:4") if part.high is not None]
    within = [edge for edge in edges if own.min() < edge <= own.max()]
    assert within and [*figure.panels[0].boundaries] == within
    assert sum(one or 0 for one in figure.panels[0].series[0].y) == own.count()
    # Alternatives of a mention count once, as in `remix partition`: of 509 annotations there are 503 mentions.
    gold = work.frames("sample-news").annotations.filter(pl.col("ignorable").is_null())
    mentions = gold.select("document", "group").n_unique()
    assert page.tables["parts"]["annotations"].sum() == mentions < len(own)
    of_documents = shown(work, "dataset", name="sample-news", column="words").tables["parts"]
    assert of_documents["documents"].sum() == work.store.dataset("sample-news").documents


@pytest.mark.parametrize("column", ["words", "ambiguitySurfaceForm"])
def test_documents_of_a_part_lead_to_as_many_documents(work: Workspace, column: str) -> None:
    """Of a column of documents, and of one of annotations, of which documents have one at least in the part."""
    page = shown(work, "dataset", name="sample-news", column=column, scheme="quantiles:4")
    parts = table_of(page, "parts")
    assert parts.frame["documents"].sum() > 0
    for row in parts.frame.filter(pl.col("documents") > 0).to_dicts():
        led = follow(work, parts.links["documents"](row))
        assert led.tables["documents"].height == row["documents"], row
        assert f"Those of the part {row['part']} of " in table_of(led, "documents").words
    with pytest.raises(UnknownName, match="no part named 'nope'|no slice named 'nope'"):
        shown(work, "dataset", name="sample-news", column=column, part="nope")


def test_columns_of_numbers_are_summarised(work: Workspace) -> None:
    page = shown(work, "dataset", name="sample-news")
    row = page.tables["distributions"].row(by_predicate=pl.col("column") == "ambiguitySurfaceForm", named=True)
    values = work.stats("sample-news", level="annotation").table["ambiguitySurfaceForm"]
    assert (row["least"], row["most"], row["mean"]) == (values.min(), values.max(), values.mean())
    assert {"words", "density", "pagerank"} <= {*page.tables["distributions"]["column"]}
    link = table_of(page, "distributions").links["called"]({"column": "words"})
    assert link == "/dataset?name=sample-news&column=words&scheme=log-deciles"


def test_dataset_tells_what_was_repaired_and_where_it_comes_from(tmp_path: Path) -> None:
    broken = (SMALL / "posts.ttl").read_text().replace("@prefix itsrdf:", "# ")
    (tmp_path / "posts.ttl").write_text(broken)
    workspace = Workspace(tmp_path / ".remix")
    workspace.load(tmp_path / "posts.ttl")
    tables = shown(workspace, "dataset", name="posts").tables
    row = tables["repaired"].row(by_predicate=pl.col("kind") == "missing-prefix", named=True)
    assert row["says"].startswith("A prefix is used and not declared. Loading supplies")
    told = dict(tables["origin"].iter_rows())
    assert told["source"].endswith("posts.ttl") and told["licence"] == "unknown"


def test_documents_are_found_by_name(pair: Workspace) -> None:
    names = shown(pair, "dataset", name="posts").tables["documents"]["name"].to_list()
    assert len(names) == 3
    found = shown(pair, "dataset", name="posts", find=names[1][-5:].upper()).tables["documents"]["name"].to_list()
    assert found == [name for name in names if names[1][-5:] in name] and len(found) < 3


def test_several_datasets_are_compared_with_differences_and_distributions_over_each_other(work: Workspace) -> None:
    page = shown(work, "compare", datasets="sample-news,sample-posts", column="words")
    row = page.tables["measures"].row(by_predicate=pl.col("which measure") == "density", named=True)
    assert row["sample-posts − sample-news"] == row["sample-posts"] - row["sample-news"] != 0
    [table] = [one for one in page.blocks if isinstance(one, Table) and one.name == "measures"]
    assert {*table.differences} == {"sample-posts − sample-news"}
    figure, *others = [block.figure for block in page.blocks if isinstance(block, Drawing)]
    # Behind the column that was chosen come those by which the datasets are told apart best.
    apart = [
        find_distance(
            [
                values_of(name, work.measures(), work.store.frames()).drop_nulls("value").filter(dataset=one)["value"]
                for one in ("sample-news", "sample-posts")
            ]
        )
        for name in page.figures
        if name != "distribution"
    ]
    assert len(others) == 3 and apart == sorted(apart, reverse=True) and apart[-1] > 0
    assert [one.name for one in figure.panels[0].series] == ["sample-news", "sample-posts"]
    words = work.store.frames(["sample-news"]).documents["words"].sort()
    # The share of documents that have no more words than the least long one is that of those that have as many.
    assert figure.panels[0].series[0].y[0] == words.eq(words[0]).sum() / len(words)
    assert [one.y[-1] for one in figure.panels[0].series] == [1.0, 1.0]
    with pytest.raises(UnknownName):
        shown(work, "compare", datasets="sample-news,nope")
    assert not shown(work, "compare", datasets="sample-news").tables


def test_differences_of_shares_are_points_and_have_their_sign() -> None:
    rows = pl.DataFrame({"unit": ["share", "share", "entities", "number"], "b − a": [0.4481, -0.014, 2.5, 1234.0]})
    table = Table("measures", rows, units={"b − a": "unit"}, differences=["b − a"])
    html = render_page(Page("Compare", [table]), VIEWS["compare"], "")
    assert re.findall(r">([+-][^<]*)</td>", html) == ["+44.8 points", "-1.4 points", "+2.5", "+1,234"]


@pytest.mark.long
def test_measure_without_the_average_that_is_asked_for_is_shown_by_micro_and_told(work: Workspace) -> None:
    """The number of NIL mentions stood for their share, and as one: 400.0 %."""
    share, count = (
        work.stats(average=one).rows.filter(measure="nilExplicit", dataset="sample-news", average=one)["value"].item()
        for one in ("micro", "count")
    )
    page = shown(work, "datasets", average="distinct", measures="nilExplicit,pagerank")
    table = table_of(page, "datasets")
    assert table.frame.filter(dataset="sample-news")["nilExplicit"].to_list() == [share] != [count]
    said = "These have no average 'distinct', and are shown by the micro average: nilExplicit."
    assert [block.text for block in page.blocks if isinstance(block, Note) and "no average" in block.text] == [said]
    assert "by the distinct average" in table.words
    both = table_of(shown(work, "compare", datasets="sample-news,sample-posts", average="distinct"), "measures")
    (row,) = both.frame.rows_by_key("which measure", named=True)["nilExplicit"]
    assert (row["sample-news"], row["in which unit"]) == (share, "share") and "nilExplicit" in both.words
    assert both.typesetting is not None and "by the distinct average" in both.typesetting.caption
    own = table_of(shown(work, "dataset", name="sample-news", average="distinct"), "measures").frame
    units = own.filter(measure="nilExplicit").select("average", "unit").rows()
    assert sorted(units) == [("count", "number"), ("macro", "share"), ("micro", "share")]


def test_numbers_of_the_average_that_counts_are_no_shares(work: Workspace) -> None:
    """On each page the persons are a number, and what has none is no row of a comparison of numbers."""
    asked = {"datasets": "sample-news,sample-posts", "average": "count"}
    compared = shown(work, "compare", **asked)
    table = table_of(compared, "measures")
    assert {*table.frame["in which unit"]} == {"number"} and "density" not in table.frame["which measure"]
    row = table.frame.row(by_predicate=pl.col("which measure") == "typePerson", named=True)
    own = table_of(shown(work, "dataset", name="sample-news", average="count"), "measures").frame
    [unit] = own.filter(measure="typePerson")["unit"]
    assert unit == "number" and own.filter(measure="typePerson")["value"].item() == row["sample-news"] > 1
    assert {*own.filter(measure="density")["unit"]} != {"number"}
    every = table_of(shown(work, "datasets", average="count", measures="typePerson,density"), "datasets")
    assert every.units["typePerson"] == "number" and every.headings["typePerson"][1].endswith("number")
    cells = re.findall(
        r"<td[^>]*>(?:<a[^>]*>)?([^<]*)", render_page(replace(compared, blocks=[table]), VIEWS["compare"], "")
    )
    numbers = [cell for cell in cells if re.match(r"[+-]?\d", cell)]
    assert len(numbers) > 20 and not any("%" in cell or "points" in cell for cell in numbers)
    for view, first in (("compare", asked), ("dataset", {"name": "sample-news", "average": "macro"})):
        notes = [one.text for one in shown(work, view, **first).blocks if isinstance(one, Note)]
        assert any("By the micro average, sample-news" in one for one in notes), notes


@pytest.mark.parametrize(
    ("view", "asked", "column"),
    [
        ("compare", {"datasets": "sample-news,sample-posts"}, "sample-posts"),
        ("dataset", {"name": "sample-news"}, "value"),
        ("datasets", {}, "typePerson"),
    ],
    ids=["compare", "dataset", "datasets"],
)
def test_shares_are_in_per_cent_in_a_paper_where_they_are_on_the_page(
    work: Workspace, view: str, asked: dict[str, str], column: str
) -> None:
    page = shown(work, view, **asked)
    table = table_of(page, "datasets" if view == "datasets" else "measures")
    of = table.units[column]
    units = table.frame[of] if of in table.frame.columns else pl.Series([of] * table.frame.height)
    how = table.set_for_paper(page.title)
    place = [*how.columns].index(column)
    [_, _, *lines] = [line for line in typeset(table.frame, "md", how).splitlines() if line.startswith("|")]
    cells = [re.sub(r" (\[|\d+\.\d %$).*", "", line.split("|")[place + 1].strip()) for line in lines]
    known = [
        (unit, cell) for unit, value, cell in zip(units, table.frame[column], cells, strict=True) if value is not None
    ]
    assert any(unit == "share" for unit, _ in known)
    assert all(("%" in cell) == (unit == "share") for unit, cell in known), known


def test_dataset_of_the_catalogue_is_cited_as_bibtex(work: Workspace, pair: Workspace) -> None:
    """What ships with remix is in its catalogue, a dataset of a test is not."""
    [cite] = [one for one in shown(work, "dataset", name="sample-news").blocks if isinstance(one, Code)]
    assert cite.name == "cite" and cite.text.startswith("@misc{")
    page = shown(pair, "dataset", name="news")
    assert not any(isinstance(one, Code) for one in page.blocks) and "BibTeX" not in page.tables["origin"]["what"]


def test_overlap_begins_with_the_pairs_that_share_most_and_data_are_the_matrix(pair: Workspace) -> None:
    page = shown(pair, "overlap", of="forms")
    pairs, forms = page.tables["pairs"], page.tables["forms"]
    assert [*page.tables] == ["pairs", "forms"] and page.data == "forms"
    shares = {(row["shared with"], other): row[other] for row in forms.to_dicts() for other in forms["shared with"]}
    wanted = {both: share for both, share in shares.items() if both[0] < both[1] and share}
    assert {(one, other): share for one, other, _, share in pairs.rows()} == wanted
    assert pairs["share"].to_list() == sorted(wanted.values(), reverse=True)
    none = shown(pair, "overlap", of="texts", show="count")
    if not all(value for value in shares.values()):
        assert "–" in render_page(page, VIEWS["overlap"], "")
    assert ">0<" not in render_page(none, VIEWS["overlap"], "")


def test_compare_without_a_choice_leads_to_datasets_that_differ(pair: Workspace) -> None:
    proposed = next(one for one in shown(pair, "compare").blocks if isinstance(one, Note) and one.links)
    assert proposed.text == "For example, the two with" and 1 <= len(proposed.links) <= 3
    for place in proposed.links.values():
        names = place.partition("datasets=")[2].split("%2C")
        assert len(names) == 2 and shown(pair, "compare", datasets=",".join(names)).tables


def test_matrix_of_overlap_counts_shared_forms_and_a_cell_leads_to_them(pair: Workspace) -> None:
    """Other has all forms of posts but one; both have python twice, which is two forms as they are written."""
    table = table_of(shown(pair, "overlap", of="forms", show="count"), "forms")
    forms = {name: {*pair.store.frames([name]).annotations["surface_form"]} for name in ("news", "posts", "other")}
    for name in forms:
        row = table.frame.row(by_predicate=pl.col("shared with") == name, named=True)
        for other in forms:
            assert row[other] == (None if other == name else len(forms[name] & forms[other]))
    share = (
        table_of(shown(pair, "overlap", of="forms"), "forms")
        .frame.filter(pl.col("shared with") == "posts")["other"]
        .item()
    )
    assert share == len(forms["posts"] & forms["other"]) / min(len(forms["posts"]), len(forms["other"]))
    link = table.links["other"](table.frame.filter(pl.col("shared with") == "posts").row(0, named=True))
    assert link == "/overlap?of=forms&dataset=posts&other=other"
    listed = shown(pair, "overlap", of="forms", dataset="posts", other="other").tables["forms"]
    assert {*listed["shared item"]} == forms["posts"] & forms["other"] and listed.columns == [
        "shared item",
        "posts",
        "other",
    ]


@pytest.mark.long
@pytest.mark.parametrize("of", ["forms", "entities"])
def test_numbers_of_a_pair_lead_to_as_many_annotations(work: Workspace, of: str) -> None:
    names = ("sample-news", "sample-posts")
    table = table_of(shown(work, "overlap", of=of, dataset=names[0], other=names[1]), of)
    rows = table.frame.sort("shared item").gather_every(max(1, table.frame.height // 5))
    assert rows.height >= 5
    for row in rows.to_dicts():
        for name in names:
            found = follow(work, table.links[name](row))
            assert found.tables["annotations"].height == row[name] > 0 and found.dropped == []
            assert {*found.tables["annotations"]["dataset"]} == {name}


def test_shares_of_overlap_are_shown_in_per_cent_and_stay_numbers_in_data(pair: Workspace) -> None:
    page = shown(pair, "overlap", of="forms")
    value = page.tables["forms"].filter(pl.col("shared with") == "posts")["other"].item()
    assert f">{100 * value:.1f} %<" in render_page(page, VIEWS["overlap"], "of=forms")
    assert " %<" not in render_page(shown(pair, "overlap", of="forms", show="count"), VIEWS["overlap"], "")


@pytest.mark.long
def test_annotations_of_texts_that_are_not_there_count_on_no_page(tmp_path: Path) -> None:
    """Of two mentions one has no text: it is in no score, and so in no number of mentions."""
    (tmp_path / "sized.ttl").write_text(SIZED)
    work = open_workspace(tmp_path / ".remix")
    work.load([tmp_path / "sized.ttl"])
    [row] = shown(work, "datasets").tables["datasets"].to_dicts()
    tiles = dict(shown(work, "start").tables["here"].select("what", "number").iter_rows())
    listed = shown(work, "annotations", dataset="sized").tables["annotations"]
    assert row["mentions"] == tiles["mentions"] == 1 and row["annotations"] == len(listed) == 2
    assert any(
        isinstance(one, Note)
        and one.text.startswith("1 document with 1 mention. 1 more is of documents that have no text.")
        for one in shown(work, "dataset", name="sized").blocks
    )


def test_numbers_of_the_table_of_datasets_lead_to_what_they_count(work: Workspace) -> None:
    """A measure of mentions leads to annotations, one of texts to documents."""
    table = table_of(shown(work, "datasets", measures="nilExplicit,density"), "datasets")
    row = table.frame.row(by_predicate=pl.col("dataset") == "sample-news", named=True)
    places = {name: lead(row) for name, lead in table.links.items()}
    assert follow(work, places["documents"]).tables["documents"].height == row["documents"]
    listed = follow(work, places["mentions"]).tables["annotations"]
    assert listed.height == row["annotations"] and places["annotations"] == places["mentions"]
    nil = follow(work, places["nilExplicit"]).tables["annotations"]
    assert {*nil["entity"]} == {"NIL"} and places["density"] == "/dataset?name=sample-news#documents"
    assert {name for name, kind in table.frame.schema.items() if kind.is_numeric()} - {*places} == {
        "share with nilExplicit",
        "share with density",
    }


def test_share_of_documents_without_mentions_leads_to_just_these(tmp_path: Path) -> None:
    # Of three texts the first has a mention, the second none, the third one that is optional and no mention.
    for nth, more in enumerate(({}, None, {"ignorable": "optional"})):
        told = {"document": f"d{nth}", "text": f"Ada {nth}"}
        place = {"begin": 0, "end": 3, "entity": "urn:e:Ada"}
        rows = json.dumps(told if more is None else told | place | more)
        with (tmp_path / "three.jsonl").open("a") as file:
            file.write(f"{rows}\n")
    workspace = Workspace(tmp_path / ".remix")
    workspace.load([tmp_path / "three.jsonl"])
    table = table_of(shown(workspace, "dataset", name="three"), "measures")
    row = table.frame.row(by_predicate=pl.col("measure") == "notAnnotated", named=True)
    listed = follow(workspace, table.links["value"](row)).tables["documents"]
    assert row["value"] == pytest.approx(2 / 3) and listed["name"].str.slice(-2).to_list() == ["d1", "d2"]
    assert shown(workspace, "dataset", name="three", mentions="with").tables["documents"].height == 1
    with pytest.raises(UnknownName, match="no kind of documents named 'withot'; did you mean 'without'?"):
        shown(workspace, "dataset", name="three", mentions="withot")


@pytest.mark.long
def test_datasets_may_be_called_as_columns_are(tmp_path: Path) -> None:
    workspace, names = Workspace(tmp_path / ".remix"), ("item", "other", "dataset", "measure", "says", "with")
    for name in names:
        text = (SMALL / "posts.ttl").read_text().replace("Lisbon", name)
        (tmp_path / f"{name}.ttl").write_text(text)
    workspace.load([tmp_path / f"{name}.ttl" for name in names])
    assert {*names} < {*shown(workspace, "overlap").tables["texts"].columns}
    for name in names[1:]:
        assert shown(workspace, "overlap", dataset="item", other=name).tables["texts"].height == 2
    assert {*names} < {*shown(workspace, "compare", datasets=",".join(names)).tables["measures"].columns}


@pytest.mark.parametrize(
    "view", ["datasets", "dataset", "compare", "systems", "errors", "annotations", "builder", "document", "overlap"]
)
def test_pages_of_an_empty_workspace_say_what_to_do_next(tmp_path: Path, view: str) -> None:
    [note] = [block for block in shown(open_workspace(tmp_path / ".remix"), view).blocks if isinstance(block, Note)]
    assert note.commands == ["remix load FILE", "remix fetch NAME"]


def test_shared_texts_lead_to_both_documents_and_entities_are_what_the_knowledge_base_takes_them_for(
    pair: Workspace, work: Workspace
) -> None:
    page = shown(pair, "overlap", of="texts", dataset="posts", other="other")
    table = table_of(page, "texts")
    assert table.frame.height == 2
    row = table.frame.row(0, named=True)
    assert table.links["other"](row).startswith("/document?dataset=other&name=")
    frame = shown(work, "overlap", of="entities", dataset="sample-news", other="sample-posts").tables["entities"]
    links = [{*work.kb.resolve(work.store.frames([name]).links["entity"])} for name in ("sample-news", "sample-posts")]
    assert {*frame["shared item"]} == links[0] & links[1] and frame.height


@pytest.mark.long
def test_measures_are_read_from_the_cache_that_enrich_keeps_and_follow_the_state(
    sample_workspace: Callable[[], Workspace],
) -> None:
    own = sample_workspace()
    kept = [*(own.folder / "cache" / "measures").iterdir()]
    assert len(kept) == 1
    first = own.measures()
    assert first.datasets.sort(pl.all()).equals(own.stats().datasets.sort(pl.all())) and own.measures() is first
    own.drop("sample-news")
    assert "sample-news" not in {*own.measures().datasets["dataset"]} | {*own.measures().annotations["dataset"]}
    own.load(SMALL / "posts.ttl")
    assert "posts" in {*own.measures().datasets["dataset"]}
    assert [*(own.folder / "cache" / "measures").iterdir()] != kept


@pytest.mark.long
def test_pages_show_what_stats_says_and_tell_what_else_enrich_stored(
    sample_workspace: Callable[[], Workspace],
) -> None:
    own = sample_workspace()
    own.enrich(reference="union", case_sensitive=True)
    assert own.measures().datasets.sort(pl.all()).equals(own.stats().datasets.sort(pl.all()))
    for view in ("datasets", "dataset"):
        blocks = shown(own, view, name="sample-news").blocks
        [said] = [
            one.text for one in blocks if isinstance(one, Note) and "`remix enrich` stored by other choices" in one.text
        ]
        assert said.endswith("+case, reference union, case kept.")


@pytest.mark.long
def test_numbers_of_any_choice_are_those_of_stats(work: Workspace) -> None:
    """Thirty cells by chance, of the tables of all datasets, of one, and of two beside each other."""
    done = run_verb("stats", "-o", "json", "-w", str(work.store.folder))
    assert done.returncode == 0, done.stderr
    told = {(row["dataset"], row["measure"], row["average"]): row["value"] for row in json.loads(done.stdout)}
    chance = random.Random(20261124)
    names, seen = [entry.name for entry in work.store.datasets()], set[str]()
    known = sorted(key for key, value in told.items() if value is not None and key[2] in ("micro", "macro"))
    for dataset, measure, average in chance.sample(known, 30):
        value = told[dataset, measure, average]
        view = chance.choice(["datasets", "dataset", "compare"])
        other = chance.choice([name for name in names if name != dataset])
        if view == "datasets":
            rows = shown(work, view, average=average, measures=measure).tables["datasets"]
            found = rows.filter(dataset=dataset)[measure]
        elif view == "dataset":
            rows = shown(work, view, average=average, name=dataset).tables["measures"]
            found = rows.filter(measure=measure)["value"]
        else:
            rows = shown(work, view, average=average, datasets=f"{dataset},{other}").tables["measures"]
            found = rows.filter(pl.col("which measure") == measure)[dataset]
        assert found.to_list() == [value], (view, dataset, measure, average)
        seen |= {view, average}
    assert len(seen) == 5


@pytest.mark.long
def test_pages_are_shown_where_a_knowledge_base_was_attached_after_enriching(work: Workspace, tmp_path: Path) -> None:
    own = Workspace(tmp_path / "work")
    own.load([SMALL / "news.ttl", SMALL / "posts.ttl"])
    own.enrich()
    assert work.kb is not None
    own.store.attach_kb(work.kb.folder)
    assert "ambiguitySurfaceForm" in {*table_of(shown(own, "dataset", name="news"), "distributions").frame["column"]}
    assert "kb none" in "".join(one.text for one in shown(own, "datasets").blocks if isinstance(one, Note))


def test_what_is_asked_of_pages_of_datasets_and_not_heeded_is_said(pair: Workspace) -> None:
    one = pair.datasets()[0].name
    for view, asked, said in (
        ("datasets", {"measures": "density,nope"}, "no measure that a dataset has named 'nope'"),
        ("overlap", {"dataset": one}, "Choose two datasets"),
    ):
        page = shown(pair, view, **asked)
        told = [*map(str, page.dropped), *(block.text for block in page.blocks if isinstance(block, Note))]
        assert any(said in text for text in told)
    for view, asked in (("overlap", {"of": "words"}), ("overlap", {"show": "all"}), ("dataset", {"scheme": "halves"})):
        with pytest.raises(UsageError, match=[*asked.values()][0]):
            shown(pair, view, **{"name": one, **asked})


def test_measures_that_older_addresses_chose_by_columns_are_shown(work: Workspace) -> None:
    chosen = {"columns": "density,typeOther"}
    assert table_of(shown(work, "datasets", **chosen), "datasets").heat[2:] == ("density", "typeOther")
    beside = shown(work, "datasets", table="datasets", measures="density", columns="dataset,typeOther")
    assert table_of(beside, "datasets").heat[2:] == ("density", "typeOther")


def test_values_without_a_place_on_a_logarithmic_scale_are_counted_each() -> None:
    """Of five values three are 0: the line on the logarithmic scale begins with 4 of 5, at 1."""
    figure = draw_shares(Quantity("words", "documents", ""), {"a": pl.Series([0, 0, 0, 1, 9])})
    linear, log = figure.panels
    assert linear.series[0].y == pytest.approx([0.6, 0.8, 1]) and linear.notes == []
    assert log.series[0].y == pytest.approx([0.8, 1])
    assert log.notes == ["3 values of 0 or less: not on a logarithmic axis"]


@pytest.mark.long
def test_loaded_remix_is_found_where_its_scores_are(answered_sample: Workspace, tmp_path: Path) -> None:
    """It had no runs on the page of datasets, and no form led to the scores that it has by those on its origin."""
    work = copy_workspace(answered_sample.folder, tmp_path / ".remix")
    work.load(work.build("persons", dataset="sample-news", name="own").write(tmp_path)[0])
    (row,) = shown(work, "datasets").tables["datasets"].filter(dataset="own").to_dicts()
    assert row["runs"] == len(work.runs().filter(dataset="sample-news")) > 1
    for view, field in (("systems", "datasets"), ("errors", "dataset")):
        form = next(block for block in shown(work, view).blocks if isinstance(block, Form))
        [choice] = [one for one in form.fields if one.name == field]
        assert "own" in choice.values
    said = "The answers to own are those to what it was cut from."
    for asked, is_told in ({"datasets": "own"}, True), ({}, False):
        notes = [block.text for block in shown(work, "systems", **asked).blocks if isinstance(block, Note)]
        assert (said in notes) is is_told
