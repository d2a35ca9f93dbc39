"""Systems against each other on several datasets, remixes or slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as selectors
from numpy.typing import NDArray

from remix import iris, progress
from remix._version import __version__
from remix.errors import UnknownName, UsageError
from remix.question import Question
from remix.scoring.choice import (
    LENGTH,
    Choice,
    case_of,
    frames_hash,
    read_chosen,
    sign,
    signature_of_parts,
)
from remix.scoring.counting import counts_of
from remix.scoring.errors.columns import complete
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import CaseDocuments, LabelledCounts
from remix.scoring.inputs.files import read_frames
from remix.scoring.inputs.gold import kept_gold
from remix.scoring.inputs.shortcomings import with_formless, with_shortcomings
from remix.scoring.inputs.sources import Keeper
from remix.scoring.matching import Case
from remix.scoring.profiles import require_pairs
from remix.scoring.slicing import local_names, tell_shared
from remix.scoring.statistics import AVERAGES, Average, precision_of_f1, with_fp_of_f1
from remix.scoring.statistics.agreement import agreement
from remix.scoring.statistics.curves import CURVES, OF_PAIRS, pairings_of
from remix.scoring.statistics.intervals import LEAST_UNITS, tables_of
from remix.scoring.statistics.significance import between_systems, holm, tell_too_few
from remix.scoring.tasks import takes_spans
from remix.signature import Signature


@dataclass(frozen=True)
class ComparedPart:
    """What systems are compared on: their counts (system, doc, tp, fp, fn, …), and the documents of the part (doc).

    Parts of the same `members` are of the same mentions; nothing is known of those without. `systems` are those that
    answered the part, by default all that are compared.
    """

    counts: LabelledCounts
    documents: CaseDocuments
    members: str = ""
    systems: tuple[str, ...] = ()

    def list_answering(self, systems: Sequence[str]) -> list[str]:
        """Return those of the systems that answered the part."""
        return [name for name in systems if not self.systems or name in self.systems]


@dataclass(frozen=True)
class Comparison:
    """Systems on parts.

    - `scores`: system, part, score (null of a system that did not answer the part), documents; `run_task`, for which
      task its run was made, where runs are registered; `failed` and `revision_unknown`, of the gold that a part is of,
      where that is so of any run (`remix.scoring.inputs.shortcomings`);
    - `pairs`: part and the columns of `between_systems`, `p_holm` corrected for all of its rows;
    - `correlations`: part, systems, `kendall`, `spearman`, `pearson`: of the systems' scores on the part with those on
      all; null for fewer than three systems, or where all have the same score;
    - `f1_precision`: the precision that F1 takes in all parts, as `remix.scoring.statistics.precision_of_f1` has it;
    - `signature`: whatever can change a number.
    """

    scores: pl.DataFrame
    pairs: pl.DataFrame
    correlations: pl.DataFrame
    f1_precision: str = "all"
    signature: str = ""


def compare_systems(
    parts: Mapping[str, ComparedPart],
    systems: Sequence[str],
    *,
    unfiltered: str = "",
    average: str = "micro",
    score: str = "f1",
    samples: int = 10_000,
    seed: int = 0,
    averages: Mapping[str, Average] = AVERAGES,
) -> Comparison:
    """Return the scores of systems on each part, the tests of their differences, and how parts rank the systems.

    `unfiltered` names the part that the others are held against, by default the first; `averages` are those of a
    profile. Systems that did not answer a part have no score and no test there. A part of fewer than ten documents has
    no tests, nor has one of the same mentions as a part before it, and both are said. Raises `UnknownName` for a part
    that is none, `UsageError` where there is no part, or none that has enough documents for a test of several systems.
    """
    if not parts:
        raise UsageError("nothing to compare: neither gold nor any run has what this task counts")
    first = unfiltered or next(iter(parts))
    if first not in parts:
        raise UnknownName("dataset or slice", first, parts)
    scores = pl.concat([_scores(name, part, systems, averages, average, score) for name, part in parts.items()])
    tested = {name: part for name, part in parts.items() if len(part.documents) >= LEAST_UNITS}
    if not tested and len(systems) > 1:
        largest = max(len(part.documents) for part in parts.values())
        raise UsageError(
            f"no test over {largest} documents: at least {LEAST_UNITS} are needed for one that means something; "
            "--unit context tests over the lines or sentences of their texts"
        )
    if untested := [name for name in parts if name not in tested]:
        shown = zip(_name_parts(untested), untested, strict=True)
        told = ", ".join(f"{said} ({len(parts[name].documents)})" for said, name in shown)
        progress.note(f"not tested, held by fewer than {LEAST_UNITS} documents: {told}")
    tested = _once(tested)
    answered = {name: part.list_answering(systems) for name, part in tested.items()}
    tell_too_few(samples, 1, sum(comb(len(own), 2) for own in answered.values()), "--samples")
    drawn: dict[str, Any] = {"average": average, "score": score, "samples": samples, "seed": seed, "averages": averages}
    tests = [
        between_systems(part.counts, part.documents, answered[name], **drawn).select(
            pl.lit(name).alias("part"), pl.all()
        )
        for name, part in tested.items()
    ]
    pairs = pl.concat(tests).with_columns(p_holm=holm(pl.concat(tests)["p"])) if tests else pl.DataFrame()
    others = [name for name in parts if name != first]
    return Comparison(scores, pairs, _correlations(scores, first, others))


def _once(parts: Mapping[str, ComparedPart]) -> dict[str, ComparedPart]:
    """Return the parts, each set of mentions once."""
    first: dict[str, str] = {}
    shown = dict(zip(parts, _name_parts([*parts]), strict=True))
    same = [
        f"{shown[name]} is {shown[first[key]]}"
        for name, part in parts.items()
        if first.setdefault(key := part.members or name, name) != name
    ]
    if same:
        progress.note(f"parts that hold the same mentions are tested as one: {', '.join(same)}")
    return {name: parts[name] for name in first.values()}


def _name_parts(parts: Sequence[str]) -> list[str]:
    """Return the names of parts as tables show them."""
    return pl.DataFrame({"part": parts}, schema={"part": pl.String}).select(local_names("part"))["part"].to_list()


def slices_of(counts: LabelledCounts, case: Case, average: Average) -> dict[str, ComparedPart]:
    """Return the whole and each slice of one task's and matching's counts, but for InKB and its like, by their names.

    The whole is called as its dataset, 'all' where it is several. The documents of a slice are those in which any
    system has something to count or, where the mean of an average is over others as well, all that have counts.
    """
    datasets, documents = case.mentions.documents["dataset"].unique(), case.pool().mentions.documents
    whole = "all" if len(datasets) > 1 else datasets[0]
    something = pl.lit(average.documents != "defined") | (pl.sum_horizontal("tp", "fp", "fn") > 0)
    parts = {}
    sliced = counts.filter(pl.col("column") != "kb", pl.col("dataset") == "all").group_by(
        "column", "slice", maintain_order=True
    )
    for (column, value), rows in sliced:
        counted = rows.filter(something)["doc"].unique()
        inside = documents.filter(pl.col("doc").is_in(counted.implode()))
        members = rows["members"][0] if "members" in rows.columns else None
        parts[f"{column}={value}" if column else whole] = ComparedPart(
            rows, inside if column else documents, members or ""
        )
    return parts


def _scores(
    name: str, part: ComparedPart, systems: Sequence[str], averages: Mapping[str, Average], average: str, score: str
) -> pl.DataFrame:
    values = []
    # Also documents in which nothing counts, as all answers are ignored: what is undefined is a score in some profiles.
    ignored = part.counts.filter(pl.sum_horizontal("tp", "fp", "fn") == 0).select("doc")
    documents = pl.concat([part.documents.select("doc"), ignored]).unique(maintain_order=True)
    there = {*part.list_answering(systems)}
    for system in systems:
        table = tables_of(part.counts.filter(pl.col("system") == system), documents, 1, averages)
        values.append(float(table.score(average, score)[0]) if system in there else None)
    found = {"system": list(systems), "part": [name] * len(systems), "score": pl.Series(values, dtype=pl.Float64)}
    return pl.DataFrame(found).with_columns(pl.col("score").fill_nan(None), documents=pl.lit(len(part.documents)))


def _correlations(scores: pl.DataFrame, first: str, others: Sequence[str]) -> pl.DataFrame:
    whole = scores.filter(part=first).select("system", whole="score")
    rows: list[dict[str, object]] = []
    for name in others:
        both = scores.filter(part=name).join(whole, on="system", maintain_order="left").drop_nulls()
        rows.append({"part": name, "with": first, "systems": len(both), **correlate(both["score"], both["whole"])})
    return pl.DataFrame(rows, schema=_CORRELATED)


def correlate(first: pl.Series, second: pl.Series) -> dict[str, float | None]:
    """Return `kendall`, `spearman` and `pearson` of scores in pairs; null for fewer than three, or all of one score.

    >>> correlate(pl.Series([0.1, 0.2, 0.3]), pl.Series([0.2, 0.4, 0.9]))["spearman"]
    1.0
    """
    found: dict[str, float | None] = dict.fromkeys(("kendall", "spearman", "pearson"))
    if len(first) >= LEAST_CORRELATED and min(first.n_unique(), second.n_unique()) > 1:
        found["kendall"] = kendall(first.to_numpy(), second.to_numpy())
        both = pl.DataFrame({"first": first, "second": second}).rechunk()  # as in `remix.expressions.mean`
        for method in ("spearman", "pearson"):
            found[method] = both.select(pl.corr("first", "second", method=method)).item()
    return found


def kendall(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Kendall's τ-b of values in pairs, neither all equal. (scipy has it, too, but takes 0.7 s to import.)

    The pairs in the same order less those in the opposite one, as a share of those that are not tied:

    >>> kendall(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.3, 0.2, 0.9]))  # 5 pairs in order, 1 not: 4/6
    0.6666666666666666
    """
    one, other = (np.sign(values[:, None] - values) for values in (first, second))
    return float((one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum()))


LEAST_CORRELATED = 3
"""Systems of which a correlation is computed; of two it is always 1 or -1."""
_CORRELATED = {
    "part": pl.String(),
    "with": pl.String(),
    "systems": pl.Int64(),
    "kendall": pl.Float64(),
    "spearman": pl.Float64(),
    "pearson": pl.Float64(),
}


def curve(keeper: Keeper, choice: Choice, kind: str) -> pl.DataFrame:
    """Return a curve of `remix.scoring.statistics.curves` of the one task and matching that is chosen.

    Raises `UsageError` for a choice that curves do not take, `UnknownName` for another kind.
    """
    if kind not in CURVES:
        raise UnknownName("curve", kind, CURVES)
    choice.only(choice.bare(), "changes no curve: leave it out")
    read = read_chosen(keeper, choice)
    own = [
        choice.profile.prepare(one.with_runs_for(spans=takes_spans(choice.task[0])))
        for one in read.split_by_registration()
    ]
    return pl.concat(draw(case_of(inputs, choice).pool(), choice, kind) for inputs in own)


def draw(case: Case, choice: Choice, kind: str) -> pl.DataFrame:
    """Return a curve of one case; raises `UsageError` for a profile or a task that has none of that kind."""
    if kind in OF_PAIRS:
        require_pairs(choice.profile)
    return CURVES[kind](case, pairings_of(choice.task, choice.match), choice.profile.count)


def compared_inputs(
    keeper: Keeper,
    choice: Choice,
    *,
    unfiltered: str = "",
    score: str = "f1",
    average: str = "micro",
    samples: int = 10_000,
) -> Comparison:
    """Return how systems compare on each dataset or file of gold, or on all of it and each slice of the columns `by`.

    The choice names one task and one matching. The others are as in `compare_systems`. Raises `UsageError` for a choice
    that comparisons do not take and for an average that the profile does not have, `UnknownName` and `BadInput` as
    `read_inputs`.
    """
    taken = replace(
        choice.bare(),
        by=choice.by,
        min_support=choice.min_support,
        documents=choice.documents,
        unit=choice.unit,
        seed=choice.seed,
    )
    choice.only(taken, "is not for comparisons: leave it out")
    choice.refuse_two_golds()
    if len(choice.task) + len(choice.match) > 2:
        raise UsageError("systems are compared by one task under one matching: name one")
    averages = choice.profile.averages
    if average not in averages:
        raise UsageError(f"profile '{choice.profile.name}' has no {average} scores: --average {[*averages][0]}")
    read = (
        read_chosen(keeper, own).with_runs_for(spans=takes_spans(choice.task[0]))
        for own in ([choice] if choice.by else choice.of_each_gold() or [choice])
    )
    return compare_inputs(read, choice, unfiltered=unfiltered, score=score, average=average, samples=samples)


def compare_inputs(
    inputs: Iterable[Inputs],
    choice: Choice,
    *,
    unfiltered: str = "",
    score: str = "f1",
    average: str = "micro",
    samples: int = 10_000,
) -> Comparison:
    """Return how systems compare on each of these inputs, or on each slice of the columns `by` of one."""
    averages = choice.profile.averages
    parts: dict[str, ComparedPart] = {}
    counted, signatures, told = [], [], []
    for own in inputs:
        whole = case_of(choice.profile.prepare(known := complete(own, choice)), choice)
        tell_shared(whole)
        counted.append(counts_of(whole, choice))
        signatures.append(sign(known, choice))
        answering = tuple(signatures[-1]["system"])
        own_parts = {
            name: replace(part, systems=answering)
            for name, part in slices_of(counted[-1], whole, averages[average]).items()
        }
        if twice := sorted(own_parts.keys() & parts.keys()):
            raise UsageError(f"two datasets are called '{twice[0]}', which tests cannot tell apart: name it once")
        both = {"part": pl.String, "system": pl.String}
        rows = pl.DataFrame([*product(own_parts, own.runs)], schema=both, orient="row")
        if own.made_for:
            rows = rows.with_columns(
                run_task=pl.col("system").replace_strict(own.made_for, default=None, return_dtype=pl.String)
            )
        rules = choice.profile.own_rules
        of_texts = rules.of_texts & {*choice.match} if rules is not None else ()
        told.append(with_formless(with_shortcomings(rows, own), own, of_texts))
        parts |= own_parts
    of_f1 = precision_of_f1(pl.concat(counted, how="diagonal_relaxed"))
    parts = {name: replace(part, counts=with_fp_of_f1(part.counts, of_f1)) for name, part in parts.items()}
    asked: dict[str, Any] = {"unfiltered": unfiltered, "score": score, "average": average, "samples": samples}
    asked |= {"seed": choice.seed}
    systems = [*dict.fromkeys(name for signed in signatures for name in signed["system"])]
    found = compare_systems(parts, systems, averages=averages, **asked)
    shortcomings = pl.concat(told, how="diagonal").with_columns(selectors.numeric().fill_null(0))
    shortcomings = shortcomings.with_columns(selectors.boolean().fill_null(False))
    scores = found.scores.join(shortcomings, on=["part", "system"], how="left", maintain_order="left")
    return replace(found, scores=scores, f1_precision=of_f1, signature=signature_of_parts(signatures, asked))


def agreement_of(keeper: Keeper, question: Question[str]) -> pl.DataFrame:
    """Return how far two annotations of the same texts agree, two datasets by name or two files."""
    if len(question.datasets) + len(question.gold) != 2:
        raise UsageError("agreement is of two annotations: remix compare --gold A --gold B")
    first, second = (
        *(kept_gold(keeper.store, [name], question.format)[0] for name in question.datasets),
        *(read_frames([file], formats=question.format) for file in question.gold),
    )
    kb = keeper.kb
    fields = {"remix": __version__, "entities": iris.VERSION} | ({"kb": kb.version[:LENGTH]} if kb is not None else {})
    hashes = {name: frames_hash(frames)[:LENGTH] for name, frames in (("first", first), ("second", second))}
    return agreement(first, second, kb).with_columns(signature=pl.lit(str(Signature({**fields, **hashes}))))
