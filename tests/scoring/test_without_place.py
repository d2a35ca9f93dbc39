"""Answers without offsets, as in conversations: by form and entity within their document."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from bench.fuzz import SEEDS
from remix import progress
from remix.formats import FORMATS, read
from remix.scoring.errors import TAXONOMIES
from remix.scoring.matching import MATCHINGS
from remix.scoring.profiles import PROFILES
from tests.scoring.conftest import evaluate, framed


def told(*rows, **more):
    """Frames of mentions without place, each a form and an entity, in a document d."""
    frames = framed([{"entity": entity, **more} for _, entity in rows])
    forms = pl.Series("surface_form", [form for form, _ in rows], dtype=pl.String)
    return replace(frames, annotations=frames.annotations.with_columns(forms))


def micro(gold, run, **asked):
    rows = evaluate(gold, {"s": run}, task=["A2KB"], **{"match": ["strong"], **asked})
    return rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0)


GOLD = told(("Paris", "e:Paris"), ("the city", "e:Paris"), ("Ada", "e:Ada"), ("Bob", None))


@pytest.mark.parametrize("matching", MATCHINGS.names())
def test_gold_without_offsets_is_perfect_as_its_answers(matching):
    assert micro(GOLD, GOLD, match=[matching]) == (4, 0, 0)


def test_two_forms_of_one_entity_are_two_mentions_and_one_form_told_twice_is_one(capsys):
    run = told(("PARIS ", "e:Paris"), ("Paris", "e:Paris"), ("Ada", "e:Bob"), ("Eve", "e:Eve"))
    # Right is Paris once, wrong the link of Ada and Eve; the city, Ada and Bob are missed.
    with progress.enable():
        assert micro(GOLD, run) == (1, 2, 3)
    said = "4 mentions of gold and 4 answers have no offsets: they are matched by form and entity within their document"
    assert said in capsys.readouterr().err
    # GERBIL counts each as often as it is told, so that the second Paris is wrong as Eve is, and takes all entities
    # outside of well-known knowledge bases for one, so that Ada is right.
    assert micro(GOLD, run, profile="gerbil") == (2, 2, 2)


def test_answers_without_offsets_are_matched_to_gold_that_has_some():
    gold = framed([{"begin": 0, "end": 5, "entity": "e:Paris"}, {"begin": 10, "end": 13, "entity": "e:Ada"}])
    gold = gold.keep(documents=gold.documents["document"])
    gold = replace(gold, documents=gold.documents.with_columns(text=pl.lit("Paris met Ada")))
    assert micro(gold, told(("Ada", "e:Ada"), ("Paris", "e:Texas"))) == (1, 1, 1)


def test_answers_without_offsets_are_inside_of_what_is_annotated():
    regions = pl.DataFrame({"document": ["d"], "begin": [0], "end": [5]})
    gold = replace(GOLD, regions=GOLD.regions.clear().vstack(regions.select(GOLD.regions.columns)))
    assert micro(gold, told(("Eve", "e:Eve"))) == (0, 1, 4)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("format", FORMATS.names())
def test_gold_as_answers_is_perfect_in_every_format(tmp_path, format):
    tried = 0
    for name, content in SEEDS[format]:
        (path := tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        frames = read(path, format=format, unannotated=True).frames
        if frames.gold().annotations.is_empty():
            continue
        rows = evaluate(frames, {"s": frames}, task=["A2KB"], match=["strong"])
        [(tp, fp, fn)] = rows.filter(average="micro", column="", dataset="all").select("tp", "fp", "fn").rows()
        assert tp > 0
        assert (fp, fn) == (0, 0)
        tried += 1
    assert tried


@pytest.mark.parametrize("run", ["ConEL_PE-REL_turn.json", "ConEL_PE-WAT_history.json"])
def test_answers_of_conversations_are_perfect_as_their_own_gold(real_data, run):
    frames = read(real_data / "modern" / "conel-2021" / "runs" / run).frames
    assert frames.annotations["begin"].null_count() == len(frames.annotations)
    rows = evaluate(frames, {"s": frames}, task=["A2KB"], match=["strong"])
    counted = rows.filter(average="micro", column="", dataset="all").select("tp", "fp", "fn").row(0)
    # What a turn tells twice counts once.
    keys = ["document", "surface_form", "entity"]
    every = frames.annotations.join(frames.links, on="annotation", how="left").select(keys)
    assert counted == (every.with_columns(pl.col("surface_form").str.to_lowercase()).n_unique(), 0, 0)


def test_mention_of_several_annotations_that_is_told_twice_counts_once():
    # Both groups ask for the same two spans with the same links.
    rows = [
        {"begin": at, "end": at + 3, "entity": "e:A", "group": name, "option": name} for name in "xy" for at in (0, 8)
    ]
    gold, alone = framed(rows), framed([row | {"group": None, "option": None} for row in rows])
    assert micro(gold, gold) == micro(gold, alone) == (1, 0, 0)


WIKIDATA = "http://www.wikidata.org/entity/"
LINKED = told(("Paris", f"{WIKIDATA}Q90"), ("the city", f"{WIKIDATA}Q90"), ("Ada", f"{WIKIDATA}Q7259"))


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("profile", PROFILES.names())
def test_gold_without_offsets_is_perfect_as_its_answers_in_every_profile(profile):
    rows = evaluate(LINKED, {"s": LINKED}, profile=profile).filter(average="micro", column="")
    # Measures of neleval that are about NIL alone have nothing to count.
    rows = rows.filter(~pl.col("matching").str.contains("nil"))
    assert rows["f1"].to_list() == [1.0] * len(rows)
    name, matching = _headline(profile)
    assert rows.filter(task=name, matching=matching).select("tp", "fp", "fn").row(0) == (3, 0, 0)


def _headline(profile):
    return ("A2KB", "strong_all_match") if profile == "neleval" else PROFILES[profile].headline


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("profile", ["elevant", "hipe", "emnlp2019", "neleval"])
def test_answers_without_offsets_stand_on_the_mention_that_they_are_assigned_in_profiles_of_tools(profile):
    rows = [
        {"begin": 0, "end": 5, "entity": f"{WIKIDATA}Q90"},
        {"begin": 10, "end": 13, "entity": f"{WIKIDATA}Q7259"},
        {"begin": 21, "end": 26, "entity": f"{WIKIDATA}Q167646"},
    ]
    gold = framed(rows)
    gold = replace(gold, documents=gold.documents.with_columns(text=pl.lit("Paris met Ada beside Paris.")))
    forms = pl.Series("surface_form", ["Paris", "Ada", "Paris"])
    gold = replace(gold, annotations=gold.annotations.with_columns(forms))
    name, matching = _headline(profile)
    # Right are the second Paris and Ada, though the first Paris is of the same form.
    for one, other in ((gold, told(*_FOUND)), (told(*_FOUND), gold)):
        found = evaluate(one, {"s": other}, profile=profile)
        found = found.filter(average="micro", column="", task=name)
        assert found.filter(matching=matching)["tp"].to_list() == [2]


_FOUND = (("Paris", f"{WIKIDATA}Q167646"), ("Ada", f"{WIKIDATA}Q7259"))


@pytest.mark.parametrize("taxonomy", TAXONOMIES.names())
def test_errors_of_answers_without_offsets_are_told_by_every_taxonomy(taxonomy):
    classes = pl.DataFrame({"entity": [f"{WIKIDATA}Q90"], "class": ["e:Place"]})
    rows = evaluate(LINKED, {"s": LINKED}, task=["A2KB"], errors=(taxonomy,), types=classes)
    assert rows.filter(column="error_class")["errors"].sum() == 0


def test_nil_mentions_without_offsets_are_in_clusters_by_their_form():
    nil = told(("Bob", None), ("Eve", None))
    rows = evaluate(nil, {"s": nil}, task=["NIL-clusters"], match=["strong"]).filter(average="micro", column="")
    assert rows.select("tp", "fp", "fn").row(0) == (2.0, 0.0, 0.0)


def test_c2kb_has_precision_on_mentions_where_answers_have_no_offsets():
    run = told(("Paris", "e:Texas"), ("Paris", "e:Paris"), ("Eve", "e:Eve"))
    rows = evaluate(told(("Paris", "e:Paris")), {"s": run}, task=["A2KB", "C2KB"], match=["strong"])
    rows = rows.filter(average="micro", column="").select("task", "tp", "fp", "precision_on_mention")
    # Texas is answered on gold's Paris, Eve is on no mention: P on mention is 1 of 2.
    assert rows.rows() == [("A2KB", 1, 2, 0.5), ("C2KB", 1, 2, 0.5)]
