"""Wrong links by their distance from gold's entity: graded credit and the classes of near misses."""

from __future__ import annotations

import polars as pl
import pytest

from remix.errors import UsageError
from remix.frames import Frames
from tests.scoring.conftest import evaluate, framed

# animal > mammal > cat, dog; animal > bird. Tom is a cat, Rex a dog, Felix a cat (and, less specifically, a mammal).
STEPS = [("c:cat", "c:mammal"), ("c:dog", "c:mammal"), ("c:mammal", "c:animal"), ("c:bird", "c:animal")]
HIERARCHY = pl.DataFrame(STEPS, schema=["class", "parent"], orient="row")
IS_A = [("e:Tom", "c:cat"), ("e:Rex", "c:dog"), ("e:Felix", "c:cat"), ("e:Felix", "c:mammal")]
TYPES = pl.DataFrame(IS_A, schema=["entity", "class"], orient="row")


def linked(*entities: str | None) -> Frames:
    return framed([{"begin": 10 * n, "end": 10 * n + 5, "entity": entity} for n, entity in enumerate(entities)])


def counts(gold: Frames, run: Frames, matching: str, **more: object) -> tuple[float, ...]:
    known = {"subclasses": HIERARCHY, "types": TYPES} | more
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=[matching], **known)
    whole = rows.filter(pl.col("column") == "", average="micro", dataset="all")
    return tuple(round(number, 4) for number in whole.select("tp", "fp", "fn").row(0))


@pytest.mark.parametrize(
    ("asked", "answered", "credit"),
    [
        ("c:cat", "c:cat", 1),
        ("c:cat", "c:mammal", 1 / 2),  # a step
        ("c:mammal", "c:cat", 1 / 2),
        ("c:cat", "c:dog", 1 / 3),  # by mammal
        ("c:cat", "c:bird", 1 / 4),  # two steps up to animal, and one down
        ("e:Tom", "c:cat", 1 / 2),  # its class
        ("e:Tom", "e:Felix", 1 / 3),  # one class
        ("e:Tom", "e:Rex", 1 / 5),  # cat, mammal, dog: Felix being a mammal, too, makes no short cut
        ("e:Felix", "e:Rex", 1 / 5),
        ("e:Tom", "e:Nobody", 0),
        ("e:Tom", None, 0),
    ],
)
def test_credit_falls_with_the_steps_between_the_entities(asked: str, answered: str | None, credit: float) -> None:
    expected = tuple(round(number, 4) for number in (credit, 1 - credit, 1 - credit))
    assert counts(linked(asked), linked(answered), "graded(0.2)") == expected


def test_less_credit_than_asked_for_is_none() -> None:
    gold, run = linked("c:cat", "c:cat"), linked("c:mammal", "c:dog")
    # 1/2 and 1/3: the default takes the first alone.
    assert counts(gold, run, "graded") == counts(gold, run, "graded(0.5)") == (0.5, 1.5, 1.5)
    assert counts(gold, run, "graded(0.33)") == (0.8333, 1.1667, 1.1667)
    assert counts(gold, run, "graded(1)") == counts(gold, run, "strong") == (0, 2, 2)


def test_of_several_answers_on_a_mention_the_nearest_has_the_credit() -> None:
    run = framed([{"begin": 0, "end": 5, "entity": "c:dog"}, {"begin": 0, "end": 5, "entity": "c:mammal"}])
    assert counts(linked("c:cat"), run, "graded(0.2)") == (0.5, 1.5, 0.5)
    # Where one is right the other is wrong as a whole.
    assert counts(linked("c:dog"), run, "graded(0.2)") == (1, 1, 0)


def test_answers_and_mentions_are_paired_for_the_most_credit() -> None:
    # A mammal is a step from both mentions of one place, a dog two steps by mammal: 1/2 + 1/3, not the mammal twice.
    place = {"begin": 0, "end": 5}
    gold = framed([{**place, "entity": "c:cat", "group": "1"}, {**place, "entity": "c:bat", "group": "2"}])
    run = framed([{**place, "entity": "c:mammal"}, {**place, "entity": "c:dog"}])
    steps = pl.concat([HIERARCHY, pl.DataFrame({"class": ["c:bat"], "parent": ["c:mammal"]})])
    assert counts(gold, run, "graded(0.2)", subclasses=steps) == (0.8333, 1.1667, 1.1667)
    # Pomeranians are a step below dogs and three from cats: 1/2 for the dog leaves the cat the mammal's 1/2, not 1/4.
    gold = framed([{**place, "entity": "c:cat", "group": "1"}, {**place, "entity": "c:dog", "group": "2"}])
    run = framed([{**place, "entity": "c:mammal"}, {**place, "entity": "c:pomeranian"}])
    steps = pl.concat([HIERARCHY, pl.DataFrame({"class": ["c:pomeranian"], "parent": ["c:dog"]})])
    assert counts(gold, run, "graded(0.2)", subclasses=steps) == (1, 1, 1)


def test_of_several_entities_of_a_mention_the_nearest_counts() -> None:
    gold = framed([{"begin": 0, "end": 5, "entities": ["c:bird", "c:mammal"]}])
    assert counts(gold, linked("c:cat"), "graded(0.2)") == (0.5, 0.5, 0.5)


DBO, SCHEMA = "http://dbpedia.org/ontology/", "http://schema.org/"
SPORT = [("Actor", "Artist"), ("Artist", "Person"), ("BadmintonPlayer", "Athlete"), ("Athlete", "Person")]


def apart(steps: list[tuple[str, str]], asked: list[str], answered: list[str]) -> float:
    """Return the steps between an entity of these classes and one of those, of 1 / (1 + steps)."""
    types = [("e:Gold", name) for name in asked] + [("e:Run", name) for name in answered]
    known = {
        "types": pl.DataFrame(types, schema=["entity", "class"], orient="row"),
        "subclasses": pl.DataFrame(steps, schema={"class": pl.String, "parent": pl.String}, orient="row"),
    }
    credit = counts(linked("e:Gold"), linked("e:Run"), "graded(0)", **known)[0]
    return round(1 / credit - 1, 1) if credit else float("inf")


def test_coarse_classes_are_no_short_cut_past_a_hierarchy() -> None:
    steps = [(DBO + below, DBO + above) for below, above in SPORT]
    # Actor, Artist, Person, Athlete, BadmintonPlayer: six steps from entity to entity.
    assert apart(steps, [f"{DBO}Actor"], [f"{DBO}BadmintonPlayer"]) == 6
    # Where nothing is known above the classes, Person is what they have in common.
    assert apart([], [f"{DBO}Actor"], [f"{DBO}BadmintonPlayer"]) == 4


@pytest.mark.long
def test_one_class_in_two_vocabularies_is_one_class() -> None:
    person, other = f"{DBO}Person", f"{SCHEMA}Person"
    assert apart([], [person, other], [person]) == apart([], [other], [person]) == apart([], [other], [other]) == 2
    # An actor is a person by either, one step further.
    assert apart([], [f"{DBO}Actor", other], [person]) == apart([], [f"{DBO}Actor", other], [other]) == 3
    # An airport is a place, and a city is another one.
    assert apart([], [f"{SCHEMA}Airport"], [f"{SCHEMA}City"]) == 4


def test_classes_above_each_other_are_both_kept() -> None:
    circle = [("c:A", "c:B"), ("c:B", "c:A")]
    assert apart(circle, ["c:A", "c:B"], ["c:A"]) == 2


def test_what_everything_is_is_nothing_in_common() -> None:
    steps = [(f"{SCHEMA}Book", f"{SCHEMA}Thing"), (f"{SCHEMA}Game", f"{SCHEMA}Thing")]
    assert apart(steps, [f"{SCHEMA}Book"], [f"{SCHEMA}Game"]) == float("inf")


def test_credit_without_a_hierarchy_is_refused() -> None:
    with pytest.raises(UsageError, match="no hierarchy is known: name --hierarchy FILE"):
        counts(linked("c:cat"), linked("c:dog"), "graded", subclasses=None, types=None)


def test_wrong_links_are_classed_by_where_they_lie() -> None:
    # Right; a grandparent; a child; a class of the entity; one of the same class; further away; NIL.
    gold = linked("c:cat", "c:cat", "c:mammal", "e:Tom", "e:Tom", "e:Tom", "e:Tom")
    run = linked("c:cat", "c:animal", "c:dog", "c:cat", "e:Felix", "e:Rex", None)
    known = {"subclasses": HIERARCHY, "types": TYPES}
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], errors=["hierarchy"], **known)
    found = rows.filter(column="error_class").select("slice", "errors", "total").rows()
    # NIL is no entity: six mentions have one on both sides.
    expected = {"near_miss": 4, "broader": 2, "narrower": 1, "sibling": 1, "far": 1}
    assert found == [(name, number, 6) for name, number in expected.items()]


@pytest.mark.parametrize(("home", "right"), [("x", 1 / 3), ("y", 0.0)])
def test_entities_are_near_by_what_their_own_gold_says_alone(home, right):
    # A and B share a class: two steps apart, right by 1 / (1 + 2). Elsewhere they have nothing in common.
    one = framed([{"begin": 0, "end": 3, "entity": "urn:A"}])
    other = framed([{"begin": 0, "end": 3, "entity": "urn:Z", "document": "e"}], ["e"], dataset="y")
    stated = pl.DataFrame({"home": [home] * 2, "entity": ["urn:A", "urn:B"], "class": ["urn:C"] * 2})
    run = {"s": framed([{"begin": 0, "end": 3, "entity": "urn:B"}])}
    gold = Frames.concat([one, other])
    rows = evaluate(gold, run, task=["A2KB"], match=["graded(0)"], stated=stated)
    assert rows.filter(dataset="x", average="micro", column="")["tp"].item() == pytest.approx(right)
