"""Remixes that are even by construction: what is kept, what is left out, what is said of it, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.errors import EmptySelection, UnknownName, UsageError
from remix.formats import read
from remix.measures.enrichment import named_frames
from remix.remixes import Remix, build
from remix.remixes.balance import EVERYTHING, Balance
from remix.remixes.manifest import read_manifest
from remix.remixes.partitions import cut_store
from remix.store import Store
from remix.store.queries import Query
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.examples import FEW

# Of the small fixture: 5 persons, of whom Anna is an actor, too, Paris (a city, too) and Lisbon are places, NASA and
# Apple (a company, too) organisations; Mercury, python, Thriller and Rebecca have other classes, three have none.
CONFUSION = "ambiguitySurfaceForm:thresholds:3,75"
# Up to 3: Java, Mr Nobody, Rebecca, all of posts. Above 75: Anna, Michael, Alice, Jordan, all of news. Between: four of
# news, five of posts.


def balanced(store: Store, by: str, query: Query = EVERYTHING, **choices: object) -> Remix:
    return build(store, query, narrow=Balance.of(by, **choices).narrow(store))  # type: ignore[arg-type]


def kept(remix: Remix) -> set[str]:
    return set(remix.frames.annotations.filter(pl.col("ignorable").is_null())["surface_form"])


def numbers(remix: Remix) -> dict[str, tuple[int, int]]:
    """Available and chosen by part."""
    rows = remix.parts.select("part", "available", "chosen").iter_rows()
    return {part.rsplit("/", 1)[-1]: (available, chosen) for part, available, chosen in rows}


def test_as_many_of_each_type_are_kept_as_the_smallest_has(small_store: Store) -> None:
    remix = balanced(small_store, "class")
    assert numbers(remix) == {"Organisation": (2, 2), "Person": (5, 2), "Place": (2, 2), "none of these": (7, 0)}
    assert kept(remix) > {"Paris", "Lisbon", "NASA", "Apple"} and len(kept(remix)) == 6
    # The others of a document that is kept are ignorable, as in every remix.
    dropped = remix.frames.annotations.filter(ignorable="dropped")["surface_form"]
    assert len({*dropped} & {"Anna", "Michael", "David", "Alice", "Jordan"}) == 3
    assert remix.parts.filter("limits")["part"].str.extract(r"(\w+)$").to_list() == ["Organisation", "Place"]
    assert remix.counts.row(-1, named=True)["kept"] == 6


@pytest.mark.long
def test_each_column_is_even_by_itself_or_all_combinations_are(small_store: Store) -> None:
    # 2 of each part of confusion: 2 of posts, 2 of news, and one of each; with 3 of each datasets cannot be even.
    remix = balanced(small_store, f"{CONFUSION},dataset")
    assert [chosen for _, chosen in numbers(remix).values()] == [2, 2, 2, 3, 3]
    assert remix.counts["kept"].to_list() == [3, 3, 6]
    with pytest.raises(EmptySelection, match=r"'1: ≤ 3 × news', '3: > 75 × posts' of .*balance over marginals"):
        balanced(small_store, f"{CONFUSION},dataset", over="cells")
    # Without these parts one is left, of which news has four and posts five mentions.
    cells = balanced(small_store, f"{CONFUSION},dataset", over="cells", shares={"2: > 3, ≤ 75": 1})
    assert numbers(cells) == {"2: > 3, ≤ 75 × news": (4, 4), "2: > 3, ≤ 75 × posts": (5, 4), "none of these": (7, 0)}


def test_tolerance_lets_parts_have_some_more(small_store: Store) -> None:
    # 3, 4 and 4 of confusion (Java, Mr Nobody, Rebecca; four above 75), of them 6 of news and 5 of posts or 5 and 6.
    remix = balanced(small_store, f"{CONFUSION},dataset", tolerance=1)
    chosen = [chosen for _, chosen in numbers(remix).values()]
    assert chosen[:3] == [3, 4, 4] and sorted(chosen[3:]) == [5, 6]


def test_shares_say_how_many_times_as_many_a_part_has(small_store: Store) -> None:
    # 4 persons and 2 places; organisations, which are not named, are left out like the rest.
    remix = balanced(small_store, "class", shares={"Person": 2, "class:Place": "1"})
    assert numbers(remix) == {"Person": (5, 4), "Place": (2, 2), "none of these": (9, 0)}
    # Nothing of share 0: Anna is an actor. The others are as they would be.
    without = balanced(small_store, "class", shares={"Actor": 0, "http://dbpedia.org/ontology/Place": 0})
    assert numbers(without)["Actor"] == (1, 0) and numbers(without)["Person"] == (5, 2)
    assert "Anna" not in kept(without) and not {"Paris", "Lisbon"} & kept(without)


def test_mention_of_several_parts_counts_in_each(small_store: Store) -> None:
    # Anna is a person and an actor: one actor, so one person, who is Anna.
    remix = balanced(small_store, "class", shares={"Person": 1, "Actor": 1})
    assert kept(remix) == {"Anna"}
    assert numbers(remix) == {"Actor": (1, 1), "Person": (5, 1), "none of these": (11, 0)}
    assert "1 mentions are in several parts of a column, and each counts in all of them" in remix.notes


def test_what_has_no_value_is_left_out_also_where_the_value_says_so(small_store: Store) -> None:
    # Mr Nobody has no segment, four mentions have that of what the knowledge base does not rank.
    remix = balanced(small_store, "pagerankSegment")
    assert numbers(remix) == {"head": (4, 3), "tail": (3, 3), "torso": (4, 3), "none of these": (5, 0)}
    asked = balanced(small_store, "pagerankSegment", shares={"unspecified": 1, "tail": 1})
    assert numbers(asked)["unspecified"] == (4, 3)


@pytest.mark.long
def test_only_what_the_query_selects_is_cut_and_balanced(small_store: Store) -> None:
    news = Query.parse("SELECT ?document ?annotation { ?annotation nif:referenceContext ?document ; rmx:isRare true }")
    selected = build(small_store, news).counts.row(-1, named=True)["kept"]
    remix = balanced(small_store, "dataset", news)
    assert sum(available for available, _ in numbers(remix).values()) == selected
    assert kept(remix) <= kept(build(small_store, news))
    # Organisations are in no part that could be even: there are none among the persons and places of these documents.
    where = "?annotation nif:referenceContext ?document FILTER(CONTAINS(STR(?document), 'news/1'))"
    first = Query.parse(f"SELECT ?document ?annotation {{ {where} }}")
    assert numbers(balanced(small_store, "class", first)) == {"Person": (4, 1), "Place": (1, 1)}


@pytest.mark.long
def test_same_seed_is_the_same_remix_and_another_seed_another(small_store: Store, tmp_path: Path) -> None:
    files = [balanced(small_store, "class", seed=seed).write(tmp_path / str(n)) for n, seed in enumerate((4, 4, 5))]
    first, again, other = ([file.read_bytes() for file in one] for one in files)
    assert first == again and first[0] != other[0]
    gold = named_frames(small_store)
    names = dict(gold.annotations.select("annotation", "surface_form").iter_rows())
    narrowed = (
        Balance.of("class", seed=seed).narrow(small_store)(gold, gold.annotations["annotation"]) for seed in range(30)
    )
    persons = Counter(names[one] for found in narrowed for one in found.annotations)
    # Each person is drawn in about 2/5 of 30 draws, 12; none is favoured.
    assert all(4 <= persons[name] <= 20 for name in ("Anna", "Michael", "David", "Alice", "Jordan"))


def test_manifest_says_what_was_asked_and_what_was_left_out(small_store: Store, tmp_path: Path) -> None:
    remix = balanced(small_store, "class", shares={"Person": 2, "Place": 1}, tolerance=1, seed=9)
    file, place = remix.write(tmp_path)
    manifest = read_manifest(file)
    assert manifest is not None and manifest.balance == "class" and manifest.parameters == {}
    text = place.read_text(encoding="utf-8")
    said = {
        "balanceOver": "marginals",
        "balanceSeed": "9",
        "balanceShares": "Person=2, Place=1",
        "balanceTolerance": "1",
    }
    assert all(f'rmx:{term} "{value}"' in text for term, value in said.items())
    assert text.count("rmx:balancedPart") == 1 and '"http://dbpedia.org/ontology/Person"' in text
    assert "balance:class" in manifest.signature and "balanceSeed:9" in manifest.signature
    # What is emptied by drawing is emptied as by a query: answers there count where the origin is at hand.
    documents = named_frames(small_store).documents["document"].to_list()
    assert sorted([*(manifest.emptied or ()), *remix.frames.documents["document"]]) == sorted(documents)


@pytest.mark.parametrize(
    ("by", "choices", "error", "message"),
    [
        ("clas", {}, UnknownName, "no column of annotations or documents named 'clas'"),
        ("class,class", {}, UsageError, "a column is there twice"),
        ("class", {"over": "corners"}, UsageError, "no way of balancing named 'corners'"),
        ("class", {"shares": {"Persn": 1}}, UnknownName, "no part named 'Persn'"),
        ("class", {"shares": {"Person": "half"}}, UsageError, "is a whole number, 0 for none of it, not 'half'"),
        ("class", {"shares": {"Person": -1}}, UsageError, "not '-1'"),
        ("class", {"tolerance": -1}, UsageError, "0 or more"),
        ("class", {"seed": -1}, UsageError, "0 or more"),
        (
            "pagerankSegment,hitsSegment",
            {"shares": {"tail": 1}},
            UsageError,
            "'tail' may be any of 'pagerankSegment:tail'",
        ),
        ("ambiguitySurfaceForm:thresholds:1,2,5000", {}, EmptySelection, r"is in '.*: > 5000' of .*share 0, as in"),
        (f"{CONFUSION},dataset", {"shares": {"posts": 0}}, EmptySelection, "that has a value in each column"),
        ("class", {"shares": {"Person": 3, "Film": 2}}, EmptySelection, "no selection is exactly even"),
        (
            "class",
            {"shares": {"Person": 0, "Place": 0, "Organisation": 0}},
            EmptySelection,
            "nothing .* has a value of",
        ),
    ],
)
def test_balance_that_cannot_be_is_refused_with_what_to_do(
    small_store: Store, by: str, choices: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        balanced(small_store, by, **choices)


@pytest.fixture(scope="module")
def work(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus with its knowledge base and its measures."""
    return sample_workspace()


@settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(
        ["class", "type:dbo", "pagerankSegment", "ambiguitySurfaceForm:quantiles:3", "words:thresholds:110"]
    ),
    st.sampled_from(["dataset", "hitsSegment", "ambiguityEntity:thresholds:1"]),
    st.sampled_from(["marginals", "cells"]),
    st.integers(0, 3),
)
@pytest.mark.long
def test_parts_are_even_among_the_mentions_that_were_chosen(
    work: Workspace, one: str, other: str, over: str, tolerance: int
) -> None:
    asked = Balance.of([one, other], over=over, tolerance=tolerance)
    origin = named_frames(work.store)
    gold = origin.annotations.filter(pl.col("ignorable").is_null())
    try:
        narrowed = asked.narrow(work.store)(origin, gold["annotation"])
    except EmptySelection as error:
        # Nearly all that has another column's value has two names and more, so that its two parts cannot be as large.
        exact = "no selection is exactly even" in str(error) and other.startswith("ambiguityEntity")
        assert "balance over marginals" in str(error) if over == "cells" else exact
        return
    wanted = narrowed.parts.filter(pl.col("share") > 0)
    chosen = gold.filter(pl.col("annotation").is_in(narrowed.annotations.implode()))
    # Counted again, by the partition of all that is loaded: a group of alternatives counts once.
    groups = chosen.select("document", "group").unique().join(gold, on=["document", "group"])
    cuts = [cut_store(work.store, by).annotations.select("annotation", "part") for by in (one, other)]
    inside = [groups.join(cut, on="annotation").select("document", "group", "part").unique() for cut in cuts]
    if over == "cells":
        cells = inside[0].join(inside[1], on=["document", "group"])
        inside = [cells.with_columns(part=pl.concat_str("part", "part_right", separator=" × "))]
    for column, label in enumerate(wanted["column"].unique(maintain_order=True)):
        rows = wanted.filter(column=label).join(inside[column].group_by("part").len(), on="part")
        assert rows["len"].to_list() == rows["chosen"].to_list() and len(rows) == len(wanted.filter(column=label))
        assert max(rows["len"]) - min(rows["len"]) <= tolerance


@pytest.mark.long
def test_balanced_remix_is_even_where_it_is_scored_and_has_no_precision_of_a_draw(
    work: Workspace, tmp_path: Path
) -> None:
    work.annotate(["sample-news", "sample-posts"], "prior")
    remix = work.build(balance="class,dataset", dataset=["sample-news", "sample-posts"], to=tmp_path, seed=1)
    file = tmp_path / "balanced.ttl"
    report = work.evaluate([str(file)], system=["prior"], by=["class"], task=["A2KB", "D2KB"])
    rows = report.rows.filter((pl.col("average") == "micro") & (pl.col("task") == "A2KB"))
    sizes = dict(rows.select("slice", "mentions").iter_rows())
    even = {part: chosen for part, (_, chosen) in numbers(remix).items()}
    for name in ("Person", "Place", "Organisation"):
        assert sizes[f"http://dbpedia.org/ontology/{name}"] == even[name] > 0
    # Of answers on no mention none was left out by the draw: what they do to precision is of the draw.
    assert rows.filter(pl.col("slice") == "")["precision_in_scope"].is_null().all()
    assert rows["f1_precision"].unique().to_list() == ["on mention"]
    groups = read(file).frames.gold().annotations.select("document", "group").n_unique()
    assert groups == remix.counts.row(-1, named=True)["kept"]


@pytest.mark.long
def test_build_from_the_command_line_prints_what_was_left_out(small_store: Store, tmp_path: Path) -> None:
    where = ("-w", str(small_store.folder))
    shares = ("--balance-share", "Person=2", "--balance-share", "Place=1")
    done = run_verb("build", "--balance", "class", *shares, "--seed", "1", *where, folder=tmp_path)
    assert done.returncode == 0 and (tmp_path / "balanced.ttl").is_file()
    assert "http://dbpedia.org/ontology/Person" in done.stdout and "6 of 16 mentions" in done.stderr
    rows = run_verb("build", "--balance", "class", "-o", "json", "--name", "b", *where, folder=tmp_path)
    assert json.loads(rows.stdout)[-1]["kept"] == 6
    for arguments, message in (
        (("--balance-tolerance", "1"), "nothing is balanced"),
        ((), "no query is named"),
        (("--balance", "class", "--balance-share", "Person"), "'Person' is no part=number"),
        (("--query", "persons", "--seed", "1"), "or the mentions of a balance"),
    ):
        refused = run_verb("build", *arguments, *where, folder=tmp_path)
        assert refused.returncode == 2 and message in refused.stderr, refused.stderr
