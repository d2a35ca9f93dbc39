"""The builder's page by its rows, and the files that it offers."""

from __future__ import annotations

import io
import random
import re
import zipfile
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import EmptySelection
from remix.store import Store
from remix.store.queries import shipped_queries
from remix.web.forms import Form
from remix.web.page import VIEWS, Code, Note, Page
from remix.workspace import Workspace, open_workspace
from tests.commands import run_verb
from tests.web.pages import Get, pages_of

RARE = {"on": "isRare", "in.isRare": "true"}


@pytest.fixture(scope="module")
def work(small_store: Store) -> Workspace:
    return open_workspace(small_store.folder)


def shown(work: Workspace, **parameters: str) -> Page:
    return VIEWS["builder"].show(work, parameters)


def fields(page: Page) -> dict[str, str]:
    return {one.name: one.chosen for block in page.blocks if isinstance(block, Form) for one in block.fields}


def test_conditions_are_counted_and_stand_beside_as_sparql_and_command(work: Workspace) -> None:
    page = shown(work, dataset="news", **RARE)
    assert page.tables["waterfall"]["condition"].to_list() == [
        "everything loaded",
        "in the chosen datasets",
        "annotations of texts",
        "isRare: true",
    ]
    [editor, build] = page.beside
    assert isinstance(editor, Form) and "FILTER (?isRare IN (true))" in editor.fields[0].chosen
    assert isinstance(build, Code) and build.text == "remix build --query composed.rq --dataset news"
    assert build.downloads["NIF"] == "/builder.ttl?dataset=news&on=isRare&in.isRare=true"


def test_waterfall_says_of_how_many_mentions_a_column_has_a_value(work: Workspace) -> None:
    """Of one condition those of all mentions, of the next those of what the first left; a query has none to tell."""
    asked = {"on": "pagerank,isRare", "low.pagerank": "50", "in.isRare": "true"}
    table = shown(work, **asked).tables["waterfall"]
    asked_of_store = "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?a nif:referenceContext ?d ; hfts:pagerank ?p }"
    ranked = work.query(asked_of_store).table["n"][0]  # no mention has alternatives
    known = table.filter(pl.col("known").is_not_null())
    assert known["known"].to_list()[0] == ranked < table["mentions"][0]
    assert known["known"].to_list()[1] <= known["mentions"].to_list()[0]
    assert "known" not in shown(work, query="persons_hard").tables["waterfall"].columns


def test_sliders_are_percentiles_or_values_and_have_no_bound_at_their_ends(work: Workspace) -> None:
    """Of 16 numbers, 2000 the largest, the 50th percentile is the middle; at 0 and 100 all with a value stay."""
    ends = {"on": "ambiguitySurfaceForm", "low.ambiguitySurfaceForm": "0", "high.ambiguitySurfaceForm": "100"}
    assert "ambiguitySurfaceForm: any value" in shown(work, **ends).tables["waterfall"]["condition"]
    middle = shown(work, on="ambiguitySurfaceForm", **{"low.ambiguitySurfaceForm": "50"})
    left = middle.tables["waterfall"]["mentions"]
    assert left[0] == 16 and 8 <= left[-1] < 12
    values = {"scale": "values", "low-value.ambiguitySurfaceForm": "80", "low.ambiguitySurfaceForm": "99"}
    page = shown(work, on="ambiguitySurfaceForm", **values)
    assert "ambiguitySurfaceForm: ≥ 80" in page.tables["waterfall"]["condition"]
    assert fields(page)["high-value.ambiguitySurfaceForm"] == "2000"


def test_shipped_query_has_its_parameters_sets_and_their_meaning(work: Workspace) -> None:
    page = shown(work, query="persons_hard", **{"persons_hard.min_confusion": "80"})
    assert fields(page)["persons_hard.min_confusion"] == "80" and fields(page)["set"] == ""
    assert page.tables["parameters"].filter(parameter="min_confusion").row(0)[1:3] == ("80", "3")
    assert "--query persons_hard --set min_confusion=80" in page.beside[1].text  # type: ignore[attr-defined]
    made = work.build("persons_hard", min_confusion=80).counts.row(-1, named=True)
    assert page.tables["waterfall"].row(-1)[1:3] == (made["kept_documents"], made["kept"])
    of_set = shown(work, query="persons_hard", set="table4", **{"persons_hard.min_confusion": "80"})
    assert fields(of_set)["persons_hard.table4.min_confusion"] == "64"
    assert "--set-from table4" in of_set.beside[1].text  # type: ignore[attr-defined]


def test_bound_that_cannot_be_is_left_out_alone(get: Get) -> None:
    column = "ambiguitySurfaceForm"
    place = f"/builder?on={column}&scale=values&high-value.{column}=5&low-value.{column}="
    answer, without = get(f"{place}abc"), get(place)
    assert "low-value.ambiguitySurfaceForm=abc is no number" in answer.text and answer.status_code == 200

    def left(text: str) -> list[str]:
        return re.findall("Left are [^<]*", text)

    assert left(answer.text) == left(without.text) != left(get("/builder").text)


def test_slider_stays_where_it_stands_when_its_scale_is_changed(work: Workspace) -> None:
    """What is left is the same by percentiles, by values, and by percentiles again."""
    column = "ambiguitySurfaceForm"
    asked = {"on": column, "scale": "percentiles", f"low.{column}": "75", f"high.{column}": "90"}

    def bounds(page: Page) -> dict[str, str]:
        form = next(block for block in page.blocks if isinstance(block, Form))
        return {field.name: str(field.chosen) for field in form.fields if field.look == "range"}

    first = shown(work, **asked)
    turned = shown(work, **{**asked, "scale": "values"})
    values = bounds(turned)
    assert [*values] == [f"low-value.{column}", f"high-value.{column}"]
    again = shown(work, **{"on": column, **values, "scale": "percentiles"})
    left = [page.tables["waterfall"].row(-1) for page in (first, turned, again)]
    assert left[0] == left[1] and left[0][1:] == left[2][1:]
    assert 0 < left[0][2] < shown(work).tables["waterfall"].row(0)[2]


def test_bounds_that_are_crossed_are_told(work: Workspace) -> None:
    column = "ambiguitySurfaceForm"
    asked = {"on": column, "scale": "values", f"low-value.{column}": "20", f"high-value.{column}": "3"}

    def told() -> list[str]:
        return [one.text for one in shown(work, **asked).blocks if isinstance(one, Note) and "above" in one.text]

    assert told() == ["readings a name: 'from' (20) is above 'to' (3), so that no value lies between them."]
    asked[f"high-value.{column}"] = "20"
    assert told() == []


def test_edited_query_is_named_without_being_lost(work: Workspace) -> None:
    """Its own form has the name and the datasets; the form of the choices, which leaves it, says so."""
    text = "SELECT ?annotation { ?annotation rmx:isRare true }"
    page = shown(work, sparql=text)
    [choices] = [block for block in page.blocks if isinstance(block, Form)]
    assert choices.button == "Back to these choices" and not choices.live
    assert not {"name", "dataset", "edition"} & {field.name for field in choices.fields}
    editor = page.beside[0]
    assert isinstance(editor, Form)
    fields = {field.name: field for field in editor.fields}
    assert [*fields] == ["sparql", "dataset", "edition", "name"] and "hidden" not in {
        one.look for one in fields.values()
    }
    named = shown(work, sparql=str(fields["sparql"].chosen), name="rare")
    assert named.tables["waterfall"].equals(page.tables["waterfall"])
    assert "name=rare" in str(next(one for one in named.beside if isinstance(one, Code)).downloads)


def test_name_that_no_remix_can_have_is_said_and_left_out(get: Get) -> None:
    answer = get("/builder?on=isRare&in.isRare=true&name=my+persons!/..")
    assert answer.status_code == 200 and "cannot name a remix" in answer.text
    assert 'href="/builder.zip?on=isRare&amp;in.isRare=true"' in answer.text


def test_selection_without_a_mention_is_no_remix(work: Workspace) -> None:
    page = shown(work, sparql="SELECT ?annotation { ?annotation rmx:isRare true FILTER (false) }")
    [told] = [one.text for one in page.blocks if isinstance(one, Note) and one.text.startswith("Nothing is left of")]
    [code] = [one for one in page.beside if isinstance(one, Code)]
    assert "no remix" in told and [*code.downloads] == [".rq"]


@pytest.mark.long
def test_default_of_another_scale_is_told_until_it_is_set(work: Workspace, tmp_path: Path) -> None:
    """The fewest readings of a name are 3; as a percentile 3 leaves hardly a name out."""
    said = "min_confusion is 3, as it is where scale is absolute, and scale is percentile: set min_confusion, too"
    asked = {"query": "persons_hard", "persons_hard.scale": "percentile"}
    told = [one.text for one in shown(work, **asked).blocks if isinstance(one, Note)]
    assert said in told and said in work.build("persons_hard", scale="percentile", to=tmp_path).notes
    for more in ({"persons_hard.min_confusion": "50"}, {"persons_hard.scale": "absolute"}):
        assert said not in [one.text for one in shown(work, **{**asked, **more}).blocks if isinstance(one, Note)]
    assert said not in work.build("persons_hard", set_from="percentiles", name="set", to=tmp_path).notes


def test_query_that_selects_no_mentions_is_not_offered(work: Workspace) -> None:
    [form] = [block for block in shown(work).blocks if isinstance(block, Form)]
    offered = {*next(one.values for one in form.fields if one.name == "query")}
    assert {*shipped_queries()} - offered == {"confused_pairs"}


def test_edited_query_is_counted_and_replaces_the_choices(work: Workspace) -> None:
    text = "SELECT ?annotation { ?annotation rmx:isRare true }"
    page = shown(work, sparql=text, **RARE)
    assert page.tables["waterfall"].row(-1)[1:4] == (3, 8, 8)
    assert page.beside[0].fields[0].chosen == f"{text}\n"  # type: ignore[attr-defined]


@pytest.mark.long
def test_query_of_the_page_builds_the_same_in_a_terminal(get: Get, work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "rare.rq").write_bytes(get("/builder.rq?on=isRare&in.isRare=true&name=rare").content)
    done = run_verb("build", "--query", str(tmp_path / "rare.rq"), "--to", str(tmp_path), "-w", str(work.folder))
    assert done.returncode == 0, done.stderr
    packed = zipfile.ZipFile(io.BytesIO(get("/builder.zip?on=isRare&in.isRare=true&name=rare").content))
    assert packed.namelist() == ["rare.ttl", "rare.manifest.ttl", "rare.rq"]
    for name in packed.namelist():
        assert packed.read(name) == (tmp_path / name).read_bytes()
    triples = ox.parse(get("/builder.manifest.ttl?on=isRare&in.isRare=true").content, format=ox.RdfFormat.TURTLE)
    assert "urn:remix:dataset:composed" in {one.subject.value for one in triples}


@pytest.mark.long
def test_numbers_of_any_conditions_are_those_that_build_keeps(sample_store: Store) -> None:
    """Thirty pairs of conditions by chance, each file built as `remix build` does."""
    own, chance = open_workspace(sample_store.folder), random.Random(20261124)
    datasets = [entry.name for entry in own.store.datasets()]
    flags = ["isRare", "formMultiword", "formLowercased", "inDictionary", "isCandidate"]
    numbers = ["ambiguitySurfaceForm", "ambiguityEntity", "candidateRank", "coverageEntity", "dictionaryForms"]
    kept = set[int]()
    for _ in range(30):
        flag, number = chance.choice(flags), chance.choice(numbers)
        low = chance.randint(0, 60)
        asked = {"on": f"{flag},{number}", f"in.{flag}": chance.choice(["true", "false"])}
        asked |= {f"low.{number}": str(low), f"high.{number}": str(chance.randint(low, 100))}
        asked |= {"dataset": chance.choice(["", *datasets])}
        page = shown(own, **asked)
        query = VIEWS["builder"].downloads["rq"](own, asked).content.decode()
        left = int(page.tables["waterfall"]["mentions"][-1])
        if not left:
            with pytest.raises(EmptySelection, match="selects nothing"):
                own.build(query, dataset=[asked["dataset"]] if asked["dataset"] else [])
            continue
        built = own.build(query, dataset=[asked["dataset"]] if asked["dataset"] else [])
        rows = built.frames.annotations.filter(pl.col("ignorable").is_null())
        assert rows.select(pl.struct("document", "group").n_unique()).item() == left, asked
        assert built.frames.documents.height == page.tables["waterfall"]["documents"][-1], asked
        kept.add(left)
    assert len(kept) > 10


@pytest.mark.parametrize(
    ("place", "status", "word"),
    [
        ("/builder?on=isRar", 200, "did you mean &#39;isRare&#39;"),
        ("/builder?on=isRare&in.isRare=perhaps", 200, "no value of isRare named"),
        ("/builder?on=pagerank&low.pagerank=x%22%3E%3Cscript%3E", 200, "is no number"),
        ("/builder?scale=values&on=pagerank&low-value.pagerank=1e999", 200, "is no number"),
        ("/builder?on=ambiguitySurfaceForm&low.ambiguitySurfaceForm=500", 200, "is not between 0 and 100"),
        ("/builder?query=../../etc/passwd", 200, "no query named"),
        ("/builder?sparql=/etc/passwd", 400, "Not possible"),
        ("/builder?sparql=SELECT+%7B", 400, "<textarea"),
        ("/builder?sparql=DROP+ALL", 403, "would change data"),
        ("/builder?query=confused_pairs", 400, ">Not possible: confused_pairs.rq selects ?entity"),
        ("/builder.ttl?sparql=SELECT+%3Fannotation+%7B+%3Fannotation+rmx%3AisRare+7+%7D", 400, "selects nothing"),
        ("/builder.rq?on=nope", 404, "no column"),
        ("/builder.zip?name=a/b", 400, "cannot name a remix"),
        ("/builder.rq?name=..", 400, "cannot name a remix"),
    ],
)
def test_what_cannot_be_built_is_said_in_the_page(get: Get, place: str, status: int, word: str) -> None:
    answer = get(place)
    assert answer.status_code == status and word in answer.text
    assert answer.text.count("<script") <= 1


WRONG = "query=persons_hard&persons_hard.min_confusion=abc&persons_hard.max_prominence=101"


def test_shipped_queries_are_chosen_by_what_they_select(work: Workspace) -> None:
    [form] = [block for block in shown(work).blocks if isinstance(block, Form)]
    [field] = [one for one in form.fields if one.name == "query"]
    assert {*field.values} - {""} == {name for name, said in field.words.items() if name and " – " in said}
    assert field.words["persons_hard"].startswith("persons_hard – ") and "confused_pairs" not in field.values


def test_wrong_values_of_a_query_stand_in_the_form_with_the_reason_and_nothing_is_counted(get: Get) -> None:
    """A prominence lies between 0 and 100, a confusion is any number that is not negative."""
    answer = get(f"/builder?{WRONG}")
    assert answer.status_code == 200
    for name, value in (("min_confusion", "abc"), ("max_prominence", "101")):
        [field] = re.findall(f'<input name="persons_hard.{name}"[^>]*>', answer.text)
        assert f'value="{value}"' in field and 'aria-invalid="true"' in field
        [place] = re.findall('aria-describedby="([^"]*)"', field)
        [said] = re.findall(f'<strong class="fault" id="{place}"[^>]*>([^<]*)<', answer.text)
        assert name in said and value in said
    assert "Nothing is counted: 2 values above cannot be" in answer.text
    assert "<table" not in answer.text and "Left are" not in answer.text and "remix build" not in answer.text
    right = get("/builder?query=persons_hard&persons_hard.min_confusion=80").text
    assert "aria-invalid" not in right and "Left are" in right


@pytest.mark.long
def test_ends_of_a_parameter_are_those_of_the_scale_that_is_chosen(get: Get) -> None:
    def field(address: str) -> str:
        return " ".join(re.findall('<input[^>]* name="persons_hard.min_confusion"[^>]*>', get(address).text))

    absolute = field("/builder?query=persons_hard&persons_hard.min_confusion=640")
    assert 'type="number"' not in absolute and "aria-invalid" not in absolute
    percentile = "/builder?query=persons_hard&persons_hard.scale=percentile&persons_hard.min_confusion"
    assert 'max="100' in field(f"{percentile}=64") and "aria-invalid" in field(f"{percentile}=640")
    assert "where scale is percentile, not at 640" in get(f"{percentile}=640").text


@pytest.mark.parametrize("form", ["csv", "json", "rq", "ttl", "manifest.ttl", "zip", "svg"])
def test_wrong_values_of_a_query_are_refused_as_data(get: Get, form: str) -> None:
    answer = get(f"/builder.{form}?{WRONG}")
    assert answer.status_code == 400
    assert answer.text == "parameter 'min_confusion' takes a number such as 3, not 'abc'\n"


def test_fields_of_other_queries_and_conditions_are_no_mistakes_and_misspelt_ones_are(get: Get) -> None:
    """A form that is asked for again when another query is chosen still sends the fields of the last."""
    kept = "persons_hard.min_confusion=80&in.isRare=true&low-value.ambiguitySurfaceForm=3"
    assert "Left out" not in get(f"/builder?query=places_hard&{kept}").text
    said = get("/builder?query=persons_hard&persons_hard.min_confusin=80").text
    assert "did you mean &#39;persons_hard.min_confusion&#39;" in said and "Left are" in said
    refused = get("/builder.ttl?query=persons_hard&persons_hard.min_confusin=80")
    assert refused.status_code == 400 and "did you mean 'persons_hard.min_confusion'" in refused.text


def test_page_of_the_builder_writes_nothing(get: Get, work: Workspace) -> None:
    before = {file: file.stat().st_mtime_ns for file in work.folder.rglob("*")}
    assert get("/builder.ttl?on=isRare&in.isRare=true").status_code == 200
    assert {file: file.stat().st_mtime_ns for file in work.folder.rglob("*")} == before


def test_empty_builder_says_what_to_do_next(tmp_path: Path) -> None:
    with pages_of(open_workspace(tmp_path / "none")) as get:
        assert "remix load FILE" in get("/builder").text
