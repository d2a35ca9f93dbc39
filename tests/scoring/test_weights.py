"""Fuzzy recall: the three properties of its paper, rules and columns of weights, curves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from remix import progress
from remix.cli import cli
from remix.errors import BadInput, UnknownName, UsageError
from remix.formats.nif.writing import write_frames
from remix.names import EL
from remix.scoring import PROFILES
from remix.scoring.choice import Choice, case_of
from remix.scoring.comparison import draw
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.files import read_frames
from remix.scoring.statistics.weights import weights_of
from tests.scoring.conftest import evaluate, framed

STRICT = [f"{EL}{name}" for name in ("Mnt-Full", "PoS-NounSingular", "Olp-None", "Ref-Direct")]
COMMON = [f"{EL}{name}" for name in ("Mnt-CommonForm", "PoS-NounSingular", "Olp-None", "Ref-Direct")]


def mention(place, entity, classes=(), **more):
    return {"begin": 10 * place, "end": 10 * place + 3, "entity": entity, "classes": classes, **more}


def scored(gold, run, weight, **options):
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], weight=weight, **options)
    return rows.filter(pl.col("column") == "", pl.col("average") == "micro").row(0, named=True)


# Two strict mentions and two relaxed ones; the first of each is found, and one answer is wrong.
GOLD = framed(
    [mention(0, "e:A", STRICT), mention(1, "e:B", STRICT), mention(2, "e:C", COMMON), mention(3, "e:D", COMMON)]
)
RUN = framed([mention(0, "e:A"), mention(2, "e:C"), mention(5, "e:X")])


def test_recall_is_weighed_and_precision_is_not():
    # P = 2/3; R* = (1 + 0.5) / (2 + 2 * 0.5) = 1/2; F1* = 2 * 2/3 * 1/2 / (2/3 + 1/2) = 4/7. α = 0: R* = 1/2 too.
    row = scored(GOLD, RUN, "relaxed:0.5")
    assert (row["precision"], row["fuzzy_recall"]) == (2 / 3, 0.5)
    assert row["fuzzy_f1"] == pytest.approx(4 / 7)
    # Without the relaxed mention found, α = 0 does not see it missed: 1/2; α = 0.5: 1 / 3; α = 1: 1/4.
    run = framed([mention(0, "e:A")])
    assert [scored(GOLD, run, rule)["fuzzy_recall"] for rule in ("strict", "relaxed:0.5", "relaxed:1")] == [
        1 / 2,
        pytest.approx(1 / 3),
        1 / 4,
    ]


answers = st.lists(st.sampled_from(["e:A", "e:B", "e:X", None]), min_size=4, max_size=4)


@pytest.mark.long
@given(answers, st.sets(st.integers(0, 3)), st.floats(0, 1))
def test_the_three_properties_of_the_paper(found, relaxed, alpha):
    gold = framed([mention(n, "e:A", COMMON if n in relaxed else STRICT) for n in range(4)])
    run = framed([mention(n, entity) for n, entity in enumerate(found) if entity])
    fuzzy, crisp = scored(gold, run, f"relaxed:{alpha}"), scored(gold, run, "relaxed:1")
    # 1: both are between 0 and 1; undefined where all weights are 0.
    assert (fuzzy["fuzzy_recall"] is None) == (len(relaxed) == 4 and alpha == 0)
    assert all(value is None or 0 <= value <= 1 for value in (fuzzy["fuzzy_recall"], fuzzy["fuzzy_f1"]))
    # 2: with all weights 1 they are R and F1.
    assert crisp["fuzzy_recall"] == crisp["recall"]
    assert crisp["fuzzy_f1"] == pytest.approx(crisp["f1"])
    # 3: of two runs that differ in the mention they miss, the one that misses the lighter has the higher R*.
    if 0 in relaxed and 1 not in relaxed and alpha < 1:
        heavy, light = (scored(gold, framed([mention(n, "e:A")]), f"relaxed:{alpha}") for n in (1, 0))
        assert heavy["fuzzy_recall"] > light["fuzzy_recall"]


def test_the_alternative_that_is_matched_counts_against_the_heaviest():
    # One mention, weight 1 as e:A and 0.25 as e:B: the answer e:B has 0.25 / max(1, 0.25).
    gold = framed(
        [mention(0, "e:A", STRICT, group="m", option="o1"), mention(0, "e:B", COMMON, group="m", option="o2")]
    )
    row = scored(gold, framed([mention(0, "e:B")]), "relaxed:0.25")
    assert (row["tp"], row["fn"], row["fuzzy_recall"]) == (1, 0, 0.25)


def test_rules_of_a_file_give_the_smallest_weight_that_applies(tmp_path: Path):
    file = tmp_path / "rules.tsv"
    file.write_text("class\tweight\nel:Mnt-CommonForm\t0.2\nel:Olp-None\t0.9\n")
    assert weights_of(GOLD, str(file)).degrees["weight"].to_list() == [0.9, 0.9, 0.2, 0.2]
    other = tmp_path / "other.tsv"
    other.write_text(file.read_text())
    assert weights_of(GOLD, str(file)).name == weights_of(GOLD, str(other)).name  # the signature knows no paths


@pytest.mark.parametrize("weight", ["1.5", "-0.1", "much", ""])
def test_a_weight_that_is_none_is_refused_with_its_row(tmp_path: Path, weight):
    file = tmp_path / "rules.csv"
    file.write_text(f"class,weight\nel:Olp-None,1\nel:Mnt-CommonForm,{weight}\n")
    with pytest.raises(BadInput, match=r"rules\.csv:3: the weight .* of el:Mnt-CommonForm is not between 0 and 1"):
        weights_of(GOLD, str(file))


def test_a_class_that_gold_has_not_is_refused_with_the_nearest(tmp_path: Path):
    file = tmp_path / "rules.csv"
    file.write_text("class,weight\nel:Mnt-CommonFrom,1\n")
    with pytest.raises(BadInput, match="did you mean '.*Mnt-CommonForm'"):
        weights_of(GOLD, str(file))


def test_a_column_weighs_and_what_has_no_value_is_told(capsys):
    columns = pl.DataFrame({"annotation": ["d#0", "d#1", "d#2"], "share": [1.0, 0.5, 0.5]})
    # e:A (1) and e:C (0.5) of 1 + 0.5 + 0.5 + 1 (no value).
    with progress.enable():
        assert scored(GOLD, RUN, "share", columns=columns)["fuzzy_recall"] == 0.5
    assert "1 of gold's 4 annotations have none in 'share' and weigh 1" in capsys.readouterr().err
    with pytest.raises(BadInput, match="the weight 7 of <d#1> is not between 0 and 1"):
        scored(GOLD, RUN, "share", columns=columns.with_columns(share=pl.Series([0, 7, 1])))
    with pytest.raises(UnknownName, match="nearest: share; columns: "):
        scored(GOLD, RUN, "sharee", columns=columns)


@pytest.mark.parametrize(("rule", "message"), [("relaxed", "relaxed:0.5"), ("relaxed:2", "between 0 and 1")])
def test_other_rules_are_refused(rule, message):
    with pytest.raises(UsageError, match=message):
        scored(GOLD, RUN, rule)


def weighed_in_part(gold, run, matching, rule, **more):
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=[matching], weight=rule, **more)
    return rows.filter(pl.col("column") == "", average="micro", dataset="all").row(0, named=True)


def test_a_mention_found_in_part_counts_with_that_share_of_its_weight():
    # Three characters each. The strict mention is answered by one of them, the common one as a whole, a third not.
    gold = framed([mention(0, "e:A", STRICT), mention(1, "e:B", COMMON), mention(2, "e:C", COMMON)])
    run = framed([mention(0, "e:A") | {"end": 1}, mention(1, "e:B")])
    row = weighed_in_part(gold, run, "partial", "relaxed:0.5")
    # R = (1/3 + 1) / 3; R* = (1 * 1/3 + 0.5 * 1) / (1 + 0.5 + 0.5); P = 2/2; F1* = 2 R* / (1 + R*).
    assert (row["precision"], row["recall"], row["fuzzy_recall"]) == pytest.approx((1, 4 / 9, 5 / 12))
    assert row["fuzzy_f1"] == pytest.approx(10 / 17)


def test_a_near_miss_counts_with_its_credit_of_the_weight_of_the_alternative_it_is_near():
    steps = pl.DataFrame([("c:cat", "c:mammal"), ("c:mammal", "c:animal")], ["class", "parent"], orient="row")
    types = pl.DataFrame([("e:Tom", "c:cat")], ["entity", "class"], orient="row")
    one_of = [("c:animal", STRICT, "o1"), ("c:cat", COMMON, "o2")]
    alternatives = [mention(0, entity, own, group="m", option=option) for entity, own, option in one_of]
    gold = framed([*alternatives, mention(1, "e:B", STRICT)])
    run = framed([mention(0, "e:Tom"), mention(1, "e:B")])
    row = weighed_in_part(gold, run, "graded", "relaxed:0.4", subclasses=steps, types=types)
    # Tom is a step from cat, which weighs 0.4, and three from animal, which weighs 1: R = (1/2 + 1) / 2 and
    # R* = (1/2 * 0.4 + 1) / (1 + 1).
    assert (row["recall"], row["fuzzy_recall"]) == pytest.approx((0.75, 0.6))


@given(st.lists(st.tuples(answers.map(lambda drawn: drawn[0]), st.integers(1, 5)), min_size=4, max_size=4))
@pytest.mark.at_hand(1)
@pytest.mark.parametrize("matching", ["partial", "graded(0.2)"])
def test_with_all_weights_1_what_is_found_in_part_gives_recall_and_f1(matching, found):
    steps = pl.DataFrame([("e:A", "e:X"), ("e:B", "e:X")], ["class", "parent"], orient="row")
    types = pl.DataFrame(schema={"entity": pl.String, "class": pl.String})
    gold = framed([mention(n, "e:A", STRICT) for n in range(4)])
    run = framed([mention(n, one) | {"end": 10 * n + long} for n, (one, long) in enumerate(found) if one])
    row = weighed_in_part(gold, run, matching, "relaxed:1", subclasses=steps, types=types)
    assert (row["fuzzy_recall"], row["fuzzy_f1"]) == pytest.approx((row["recall"], row["f1"]))


def test_a_matching_whose_recall_is_no_mean_over_mentions_has_no_weights():
    # One of two is found, and the wrong link is half an FN: R = 1 / (1 + 1/2), where each mention has 0 or 1.
    gold = framed([mention(0, "e:A", STRICT), mention(1, "e:B", STRICT)])
    run = framed([mention(0, "e:A"), mention(1, "e:X")])
    with pytest.raises(UsageError, match="recall of matching 'single-penalty' is no mean over mentions"):
        weighed_in_part(gold, run, "single-penalty", "relaxed:1")


def test_profiles_that_pair_in_other_ways_have_no_weights():
    with pytest.raises(UsageError, match="profile 'gerbil' pairs no answer"):
        evaluate(GOLD, {"s": RUN}, profile="gerbil", weight="strict")


def curve(kind, gold, run):
    profile = PROFILES["emnlp2019"]
    choice = Choice(profile=profile, task=profile.tasks, match=profile.matchings)
    return draw(case_of(Inputs(gold, {"s": run}), choice), choice, kind)


def test_progression_goes_from_the_best_combination_to_all_of_gold():
    run = framed([mention(0, "e:A"), mention(1, "e:B"), mention(2, "e:X")])
    # Strict: both right, F1 1. Common: one wrong, one missed, F1 0; together P 2/3, R 2/4, F1 4/7.
    rows = curve("progression", GOLD, run)
    assert rows.select("rank", "mentions", "mentions_so_far", "precision", "recall").rows() == [
        (1, 2, 2, 1.0, 1.0),
        (2, 2, 4, 2 / 3, 0.5),
    ]
    assert rows["combination"][0] == "Mnt-Full Olp-None PoS-NounSingular Ref-Direct"


@pytest.mark.long
def test_curves_of_the_fine_grained_evaluation(real_data: Path):
    # Rosales-Méndez et al., EMNLP 2019: at α = 1 the curves end in Table 3's overall F1; section 6: systems that link
    # common entities, as TagME does, are outdone under strict weights and outdo the others under relaxed ones.
    folder = real_data / "emnlp2019"
    gold = read_frames([next((folder / "gold").glob("*KORE50*")), next((folder / "gold").glob("*VoxEL*"))])
    runs = {
        stem: read_frames([next((folder / "systems").glob(f"{stem}_{part}.ttl*")) for part in ("KORE50", "VoxEL")])
        for stem in ("TAGME", "DBpediaSpotlight")
    }
    profile = PROFILES["emnlp2019"]
    inputs = profile.prepare(Inputs(gold, runs))
    choice = Choice(profile=profile, task=profile.tasks, match=profile.matchings)
    case = case_of(inputs, choice)
    rows = draw(case, choice, "alpha")
    first, last = (
        dict(rows.filter(pl.col("alpha") == alpha).select("system", "fuzzy_f1").iter_rows()) for alpha in (0, 1)
    )
    assert first["DBpediaSpotlight"] > first["TAGME"]
    assert last["DBpediaSpotlight"] < last["TAGME"]
    ends = draw(case, choice, "progression").group_by("system", maintain_order=True).last()
    assert {row["system"]: round(row["f1"], 9) for row in ends.to_dicts()} == {
        name: round(value, 9) for name, value in last.items()
    }


@pytest.mark.long
def test_command_draws_curves_and_names_unknown_ones(tmp_path: Path):
    gold = tmp_path / "gold.ttl"
    write_frames(replace(GOLD, documents=GOLD.documents.with_columns(text=pl.lit("x" * 60))), gold)
    arguments = ["evaluate", "--gold", str(gold), "--run", f"a={gold}", "--weight", "strict"]
    done = CliRunner().invoke(cli, [*arguments, "--plot", f"alpha={tmp_path / 'alpha.svg'}"])
    assert done.exit_code == 0, done.output
    assert {"R*", "F1*"} <= set(done.stdout.split())
    assert "weight:relaxed%3A0" in done.stdout
    assert (tmp_path / "alpha.svg").stat().st_size > 1000
    refused = CliRunner().invoke(cli, [*arguments, "--plot", "alhpa=x.svg"])
    assert isinstance(refused.exception, UnknownName)
    assert "did you mean 'alpha'" in str(refused.exception)


def test_percentiles_are_weights_when_divided_by_100():
    columns = pl.DataFrame({"annotation": GOLD.annotations["annotation"], "rank": [100.0, 50.0, 20.0, 0.0]})
    with pytest.raises(BadInput, match="the weight 100 .* is not between 0 and 1; .* write --weight rank/100"):
        scored(GOLD, RUN, "rank", columns=columns)
    # Found are the first and the third: (1 + 0.2) / (1 + 0.5 + 0.2 + 0).
    assert scored(GOLD, RUN, "rank/100", columns=columns)["fuzzy_recall"] == pytest.approx(1.2 / 1.7)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("dcterms:date/2000", (0.5 + 1) / (0.5 + 1 + 1)),
        ("<http://x/year>/2000", (0.5 + 1) / (0.5 + 1 + 1)),
        ("rank/2000", (1 + 0.1) / (1 + 0.1 + 0.1)),  # the name of a column as it is
    ],
)
def test_properties_are_weights_when_divided(rule, expected):
    # Found are the mentions of the first two of three texts.
    texts = ["d", "e", "f"]
    gold, run = (framed([{**mention(0, "e:A"), "document": d} for d in texts[:n]], texts) for n in (3, 2))
    years = [1000, 2000, 2000]
    columns = {"document": texts, "dcterms:date": years, "<http://x/year>": years, "rank/2000": [1.0, 0.1, 0.1]}
    row = scored(gold, run, rule, document_columns=pl.DataFrame(columns))
    assert row["fuzzy_recall"] == pytest.approx(expected)
