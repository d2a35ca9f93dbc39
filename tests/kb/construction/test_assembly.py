"""What the stages make of staged rows, held against a few lines of Python."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix.errors import Error, UnknownName, UsageError
from remix.kb.construction.assembly import Assembly, Rules
from remix.kb.engines import ENGINES
from remix.kb.parts import match_sources
from remix.kb.staging import Staging
from tests.examples import FEW

NAMES = st.sampled_from([f"e:{letter}" for letter in "ABCDEFGH"])
ITEMS = st.sampled_from(["w:1", "w:2", "w:3"])
ORIGINS = ["label", "anchor", "system:x"]
SOURCES = st.sampled_from(ORIGINS)
COUNTS = st.none() | st.integers(0, 5)
ROWS = st.fixed_dictionaries(
    {
        "redirects": st.lists(st.tuples(NAMES, NAMES, SOURCES), max_size=10),
        "sameas": st.lists(st.tuples(ITEMS | NAMES, ITEMS | NAMES, COUNTS, SOURCES), max_size=8),
        "surface_forms": st.lists(
            st.tuples(st.sampled_from(["Ann", "ANN", "bob"]), NAMES | st.just("w:1"), COUNTS, SOURCES),
            min_size=1,
            max_size=8,
        ),
        "labels": st.lists(st.tuples(NAMES, st.sampled_from(["x", "y"]), SOURCES), max_size=5),
        "links": st.lists(st.tuples(NAMES, NAMES | st.just("w:2"), SOURCES), max_size=8),
        "types": st.lists(st.tuples(NAMES, st.sampled_from(["c:1", "c:2"]), SOURCES), max_size=4),
        "disambiguations": st.lists(st.tuples(st.just("e:H"), NAMES, SOURCES), max_size=2),
    }
)
COLUMNS = {
    "redirects": ["redirect", "target", "source"],
    "sameas": ["wikidata", "entity", "count", "source"],
    "surface_forms": ["surface_form", "entity", "count", "source"],
    "labels": ["entity", "label", "source"],
    "links": ["source", "target", "origin"],
    "types": ["entity", "class", "source"],
    "disambiguations": ["page", "entity", "source"],
    "scores": ["entity", "pagerank", "hits", "hub", "source"],
}
Rows = dict[str, list[tuple[Any, ...]]]


def assembled(
    rows: Rows, folder: Path, engine: str = "duckdb", **rules: Any
) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    staging = Staging(folder / "staged")
    for table, listed in rows.items():
        kinds = {"count": pl.Int64}
        frame = pl.DataFrame(listed, schema=COLUMNS[table], schema_overrides=kinds, orient="row") if listed else None
        if frame is not None:
            staging.write(table, frame)
    staged = {table: sorted((folder / "staged" / table).glob("*.parquet")) for table in rows}
    for place in ("work", "kb"):
        (folder / place).mkdir(exist_ok=True)
    with ENGINES[engine].open(folder / "work", "1GB") as session:
        found = Assembly(session, staged, folder / "work", folder / "kb", Rules(**rules)).run()
    return {file.stem: pl.read_parquet(file) for file in (folder / "kb").glob("*.parquet")}, found


def most(named_: list[tuple[str, str, int]]) -> dict[str, str]:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one, other, count in named_:
        if one != other:
            votes[one][other] += count
    return {one: min(counts, key=lambda other: (-counts[other], other)) for one, counts in votes.items()}


def ends(steps: dict[str, str]) -> dict[str, str]:
    found = {}
    for redirect, target in steps.items():
        seen = {redirect}
        while target in steps and target not in seen:
            seen.add(target)
            target = steps[target]
        if target not in steps:
            found[redirect] = target
    return found


def total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def resolution(rows: Rows, last: dict[str, str]) -> dict[str, str]:
    """Return what each IRI stands for, step by step: a redirect for its end, any other for what it is the same as."""
    named = most([(item, entity, 1 if count is None else count) for item, entity, count, _ in rows["sameas"]])
    same = {item: last.get(entity, entity) for item, entity in named.items() if item not in last}
    stands = {}
    for iri in last.keys() | same.keys():
        path = [last.get(iri, iri)]
        while (further := same.get(path[-1], path[-1])) not in path:
            path.append(further)
        stands[iri] = min(path[path.index(further) :])  # the circle, or the end alone
    return {iri: entity for iri, entity in stands.items() if iri != entity}


def side_by_side(worlds: list[Rows]) -> Rows:
    """Return the rows of small worlds as one, their names apart: an engine takes as long for many as for one."""

    def apart(value: Any, number: int) -> Any:
        return value if value in ORIGINS or not isinstance(value, str) else f"{value}{number}"

    return {
        table: [
            tuple(apart(value, number) for value in row) for number, world in enumerate(worlds) for row in world[table]
        ]
        for table in worlds[0]
    }


@pytest.mark.long
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@settings(max_examples=FEW)
@given(worlds=st.lists(ROWS, min_size=1, max_size=40))
def test_assembly_when_rows_are_random_then_it_equals_python(engine: str, worlds: list[Rows]) -> None:
    rows = side_by_side(worlds)
    rows["surface_forms"].append(("Zed", "e:Z", None, "label"))  # one form is always left
    with tempfile.TemporaryDirectory() as folder:
        parts, found = assembled(rows, Path(folder), engine, uncounted=["system:*"])
    steps = most([(redirect, target, 1) for redirect, target, _ in rows["redirects"]])
    last = ends(steps)
    stands = resolution(rows, last)
    assert dict(parts["redirects"].rows()) == last
    circles = sorted(steps.keys() - last.keys())
    assert found["circular_redirects"] == {"count": len(circles), "first": circles[:10]}
    assert dict(parts["resolution"].rows()) == stands

    pages = {page for page, _, _ in rows["disambiguations"]}
    counts: dict[tuple[str, str, str, str], list[int | None]] = defaultdict(list)
    for form, entity, count, source in rows["surface_forms"]:
        if stands.get(entity, entity) not in pages:
            row = (form.lower(), form, stands.get(entity, entity), source)
            counts[row].append(None if source == "system:x" else count)
    expected = [(key, form, entity, total(each), source) for (key, form, entity, source), each in counts.items()]
    assert parts["surface_forms"].rows() == sorted(expected, key=lambda row: (row[0], row[2], row[1], row[4]))

    pairs: dict[tuple[str, str], list[int | None]] = defaultdict(list)
    for key, _, entity, count, _ in expected:
        pairs[key, entity].append(count)
    by_key, by_entity = (Counter(pair[place] for pair in pairs) for place in (0, 1))
    listed = parts["dictionary"]
    assert listed.drop("pagerank", "number").sort("key", "entity").rows() == [
        (key, entity, total(pairs[key, entity]), by_key[key], by_entity[entity]) for key, entity in sorted(pairs)
    ]
    # The candidates of a key stand by count, PageRank and name, the highest first, those without the last.
    places = [
        (key, count is None, -(count or 0), score is None, -(score or 0.0), entity)
        for key, entity, count, score in listed.select("key", "entity", "count", "pagerank").rows()
    ]
    assert places == sorted(places)
    assert parts["dictionary_by_entity"].rows() == listed.sort("entity", "key").rows()

    edges = {(stands.get(a, a), stands.get(b, b)) for a, b, _ in rows["links"]}
    nodes = {node for edge in edges for node in edge}
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for entity, label, _ in rows["labels"]:
        labels[stands.get(entity, entity)][label] += 1
    typed = {stands.get(entity, entity) for entity, _, _ in rows["types"]}
    known = {entity for _, entity in pairs} | nodes | labels.keys() | typed | set(last.values())
    known |= {stands.get(entity, entity) for _, entity, _ in rows["disambiguations"]}
    known |= set(parts["sameas"]["entity"])
    entities = parts["entities"]
    assert entities["entity"].to_list() == sorted(known - stands.keys())
    for entity, label, incoming, outgoing in entities.select("entity", "label", "in_degree", "out_degree").rows():
        names = labels.get(entity)
        assert label == (min(names, key=lambda name: (-names[name], name)) if names else None)
        degrees = [sum(edge[place] == entity != edge[1 - place] for edge in edges) for place in (1, 0)]
        assert [incoming, outgoing] == (degrees if entity in nodes else [None, None])
    assert entities["number"].to_list() == list(range(len(entities)))
    for part in ("dictionary", "types"):
        assert parts[part]["number"].to_list() == [
            sorted(known - stands.keys()).index(e) for e in parts[part]["entity"]
        ]
    forms = Counter(entity for _, entity in pairs)
    assert entities["forms"].to_list() == [forms[entity] for entity in entities["entity"]]
    ranks = dict(entities.select("entity", "pagerank").rows())
    assert parts["dictionary"]["pagerank"].to_list() == [ranks[entity] for entity in parts["dictionary"]["entity"]]

    if rows["labels"]:
        linked = {target for source, target in edges if source != target}
        unknown = sorted(linked - labels.keys() - typed - {entity for _, entity in pairs})
        assert found["unknown_link_targets"] == {"count": len(unknown), "first": unknown[:10]}


FORMS = [("Ann", "e:A", None, "label")]


@pytest.mark.long
def test_assembly_when_scores_are_published_then_they_are_ranked_and_links_count_for_nothing(tmp_path: Path) -> None:
    # B is a redirect to A: of the two published ranks the higher is that of A. The order is then A 0.5, C 0.2.
    scores = [("e:A", 0.1, None, None, "s"), ("e:B", 0.5, None, None, "s"), ("e:C", 0.2, 3.0, None, "s")]
    rows = {
        "surface_forms": FORMS,
        "redirects": [("e:B", "e:A", "r")],
        "scores": scores,
        "links": [("e:A", "e:C", "l")],
    }
    parts, found = assembled(rows, tmp_path, scores="published")
    ranked = parts["entities"].select("entity", "pagerank", "pagerank_rank", "hits", "hub", "in_degree")
    assert ranked.rows() == [("e:A", 0.5, 1, None, None, None), ("e:C", 0.2, 2, 3.0, None, None)]
    assert found["prominence"] == "published"
    # Two have a PageRank, C alone an authority, nobody is a hub: of so many the ranks are.
    assert found["scored"] == {"pagerank": 2, "hits": 1, "hub": 0}


@pytest.mark.long
def test_assembly_when_links_and_scores_are_there_then_prominence_is_computed(tmp_path: Path) -> None:
    scores = [("e:A", 0.1, None, None, "s")]
    parts, found = assembled({"surface_forms": FORMS, "scores": scores, "links": [("e:A", "e:C", "l")]}, tmp_path)
    # C is linked by A, which is linked by nobody: the ranks sum up to 1 and C's is the higher.
    ranks = parts["entities"]["pagerank"].to_list()
    assert sum(ranks) == pytest.approx(1.0) and ranks[1] > ranks[0]
    assert found["prominence"] == "computed"


def test_assembly_when_a_source_is_left_out_then_its_rows_are_gone_from_every_table(tmp_path: Path) -> None:
    rows: Rows = {
        "surface_forms": [*FORMS, ("Bob", "e:B", 1, "gold:x"), ("Cy", "e:C", 1, None)],
        "types": [("e:A", "c:1", "gold:x"), ("e:A", "c:2", None)],
        "links": [("e:A", "e:C", "gold:x"), ("e:C", "e:A", "facts")],
    }
    parts, _ = assembled(rows, tmp_path, without_sources=["gold:*"])
    assert parts["dictionary"]["key"].to_list() == ["ann", "cy"]
    assert parts["types"].drop("number").rows() == [("e:A", "c:2", None)]
    assert parts["links"].height == 1


@pytest.mark.long
def test_assembly_when_a_redirect_chain_is_long_then_its_end_is_found(tmp_path: Path) -> None:
    # 0 → 1 → … → 100, and a ring of 7 that 200 leads into.
    chain = [(f"e:{n}", f"e:{n + 1}", "r") for n in range(100)]
    ring = [(f"r:{n}", f"r:{(n + 1) % 7}", "r") for n in range(7)]
    parts, found = assembled({"surface_forms": FORMS, "redirects": [*chain, *ring, ("e:200", "r:0", "r")]}, tmp_path)
    assert set(parts["redirects"]["target"]) == {"e:100"} and parts["redirects"].height == 100
    assert found["circular_redirects"] == {"count": 8, "first": ["e:200", *(f"r:{n}" for n in range(7))]}


def test_assembly_when_sameas_links_and_redirects_chain_then_the_last_entity_is_found(tmp_path: Path) -> None:
    # w:1 is the same as e:A, a redirect to e:B, which is the same as w:2, a redirect to w:3, the same as e:C.
    rows: Rows = {
        "surface_forms": [*FORMS, ("Ann", "e:A", 2, "label"), ("Ann", "w:1", 3, "label")],
        "sameas": [(one, other, 1, "s") for one, other in (("w:1", "e:A"), ("e:B", "w:2"), ("w:3", "e:C"))],
        "redirects": [("e:A", "e:B", "r"), ("w:2", "w:3", "r")],
        "links": [("w:1", "e:D", "l"), ("e:B", "e:D", "l"), ("e:C", "e:D", "l")],
    }
    parts, found = assembled(rows, tmp_path, "polars")
    assert dict(parts["resolution"].rows()) == dict.fromkeys(["e:A", "e:B", "w:1", "w:2", "w:3"], "e:C")
    assert found["circular_sameas"] == {"count": 0, "first": []}
    # All that is said of the five is said of e:C: 2 + 3 counts of the form, and one link of three.
    assert ("ann", "Ann", "e:C", 5, "label") in parts["surface_forms"].rows()
    linked = parts["entities"].filter(pl.col("entity").is_in(["e:C", "e:D"]))
    assert linked.select("entity", "in_degree", "out_degree").rows() == [("e:C", 0, 1), ("e:D", 1, 0)]


def test_assembly_when_sameas_links_run_in_circles_then_the_first_by_name_stands_for_all(tmp_path: Path) -> None:
    # w:1 → e:B → w:2 → w:1, into which w:4 leads, and the redirect e:R; e:A and w:3 are the same as each other.
    # w:5 is the same as e:S, which redirects back to it: that is no circle, as a redirect is never an entity.
    # e:X and e:Y, a circle of redirects, are no redirects; w:6 stands for the one that it is the same as.
    pairs = ["w:1 e:B", "e:B w:2", "w:2 w:1", "w:4 w:2", "e:A w:3", "w:3 e:A", "w:5 e:S", "w:6 e:X"]
    rows: Rows = {
        "surface_forms": FORMS,
        "sameas": [(*pair.split(), 1, "s") for pair in pairs],
        "redirects": [("e:R", "w:4", "r"), ("e:S", "w:5", "r"), ("e:X", "e:Y", "r"), ("e:Y", "e:X", "r")],
    }
    parts, found = assembled(rows, tmp_path, "polars")
    circle = dict.fromkeys(["e:R", "w:1", "w:2", "w:4"], "e:B")
    assert dict(parts["resolution"].rows()) == {**circle, "e:S": "w:5", "w:3": "e:A", "w:6": "e:X"}
    assert found["circular_sameas"] == {"count": 6, "first": ["e:A", "e:B", "w:1", "w:2", "w:3", "w:4"]}
    assert found["circles_of_sameas"] == [["e:A", "w:3"], ["e:B", "w:2", "w:1"]]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 9, 40])
def test_assembly_when_a_circle_of_sameas_links_is_long_then_all_of_it_is_passed(length: int, tmp_path: Path) -> None:
    # A ring of so many items and a chain of as many that leads into its last; a ring of one is no link at all.
    ring = [(f"w:{n:02d}", f"w:{(n + 1) % length:02d}", 1, "s") for n in range(length)]
    chain = [
        (f"a:{n:02d}", f"a:{n + 1:02d}" if n + 1 < length else f"w:{length - 1:02d}", 1, "s") for n in range(length)
    ]
    parts, _ = assembled({"surface_forms": FORMS, "sameas": [*ring, *chain]}, tmp_path, "polars")
    stands = dict(parts["resolution"].rows())
    assert set(stands.values()) == {"w:00"} and len(stands) == 2 * length - 1


@pytest.mark.long
def test_assembly_when_it_is_run_again_then_no_file_is_made_again(tmp_path: Path) -> None:
    first, found = assembled({"surface_forms": FORMS, "links": [("e:A", "e:C", "l")]}, tmp_path)
    made = {file: file.stat().st_mtime_ns for file in (tmp_path / "kb").iterdir()}
    again, found_again = assembled({"surface_forms": FORMS, "links": [("e:A", "e:C", "l")]}, tmp_path)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "kb").iterdir()} == made
    assert found_again == found and again.keys() == first.keys()


def test_named_when_patterns_are_of_a_shell_then_matching_sources_come_back_sorted() -> None:
    assert match_sources(["gold:b", "label", "gold:a", None], ["gold:*", "x"]) == ["gold:a", "gold:b"]


def test_engine_when_memory_is_no_amount_then_the_error_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'much' is no amount of memory: write it like 3GB"):
        ENGINES["duckdb"].open(tmp_path, "much").__enter__()


def test_engine_when_unknown_then_the_nearest_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'duckdb'"):
        ENGINES["duckbd"]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_engine_when_the_place_cannot_be_written_then_the_error_names_it_and_nothing_is_left(
    tmp_path: Path, engine: str
) -> None:
    file = tmp_path / "one.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(file)
    (tmp_path / "full").write_text("a file where a folder is needed")
    with ENGINES[engine].open(tmp_path, "1GB") as session, pytest.raises(Error, match=r"full/two.parquet cannot be"):
        session.write(session.scan([file]), tmp_path / "full" / "two.parquet", ["a"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "one.parquet"]


def test_a_build_that_an_older_state_left_goes_on_without_the_columns_that_follow_from_ranks(tmp_path: Path) -> None:
    rows: Rows = {"surface_forms": [("Ann", "e:A", 1, "label")], "links": [("e:A", "e:B", "label")]}
    built, _ = assembled(rows, tmp_path, "polars")
    scores = tmp_path / "work" / "scores.parquet"
    pl.read_parquet(scores).with_columns(hub_percentile=50.0, hub_segment=pl.lit("head")).write_parquet(scores)
    (tmp_path / "kb" / "entities.parquet").unlink()
    again, _ = assembled(rows, tmp_path, "polars")
    assert again["entities"].equals(built["entities"])
