"""EUEF, easy-to-use evaluation framework for entity linking (Liu, Chen et al.), the files of 2015."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from remix.dense import Numbers
from remix.scoring.conventions import aspects
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.matching import Case, Counter, matching_named, with_detail
from remix.scoring.matching.pairs import overlaps
from remix.scoring.profiles import PLAIN_GOLD, Profile
from remix.scoring.statistics import UNSCOPED
from remix.scoring.tasks import Elements


def _keep_apart(case: Case, task: str, matching: str, count: Counter) -> Case:
    """Return the case of what is linked or NIL alone, but for tasks that compare mentions, which may be either."""
    return case if task in (*_OF_MENTIONS, *_RECOGNISED) else aspects.keep_linked(case, task, matching, count)


def _longest_of_matching(case: Case, task: str, matching: str, count: Counter) -> Case:
    if task == "C2KB" or task in _RECOGNISED:
        return case
    case = with_detail(case.of_spans if task == "ERec" else case, "surface_form")
    gold = _longest(case, "mention", case.gold.with_columns(system=pl.lit(0, pl.Int64)), matching)
    answers = _longest(case, "answer", case.answers, matching)
    return replace(
        case,
        gold=case.gold.filter(pl.col("mention").is_in(gold.implode())),
        answers=case.answers.filter(pl.col("answer").is_in(answers.implode())),
    )


def _longest(case: Case, key: str, rows: pl.DataFrame, matching: str) -> pl.Series:
    """Return the numbers of the mentions that stay of a side, in which each stands for the longest of those around."""
    how = matching_named(matching)
    # One side held against itself: systems are kept apart as documents of their own.
    apart = rows.with_columns(doc=pl.col("doc") * len(case.mentions.systems) + pl.col("system"))
    apart = apart.sort("doc", "begin", "end", key)
    side = replace(
        case.mentions, gold=apart.rename({key: "mention"}, strict=False), answers=apart.rename({key: "answer"})
    )
    links = case.mentions.gold_links if key == "mention" else case.mentions.answer_links
    side = replace(side, gold_links=links.rename({key: "mention"}), answer_links=links.rename({key: "answer"}))
    mirror = replace(case, mentions=side, gold=side.gold, answers=side.answers, overlaps=overlaps(side))
    pairs = how.pairs(mirror).filter(how.spans)
    places = apart.select(own=key, place=pl.int_range(pl.len(), dtype=pl.Int64))
    for name in ("mention", "answer"):
        pairs = pairs.join(places.rename({"own": name, "place": f"{name}_place"}), on=name)
    one, other = (pairs[f"{name}_place"].to_numpy() for name in ("mention", "answer"))
    length = apart.select((pl.col("end") - pl.col("begin")).fill_null(0)).to_series().to_numpy()
    return apart[key].gather(find_longest(length, one, other))


def find_longest(length: Numbers, one: Numbers, other: Numbers) -> Numbers:
    """Return the places of the mentions that stay of those in a row, by their lengths and which of them match.

    Each in turn goes past all others in their order and gives way to the next one that matches what it has become and
    is no shorter. So two of one length stand for each other, and both stay.

    >>> of_one_length = np.array([4, 4]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> find_longest(*of_one_length), find_longest(np.array([4, 5]), *of_one_length[1:])
    (array([0, 1]), array([1]))
    """
    size = len(length)
    matching = np.unique(one * size + other)
    best, passed, walking = np.arange(size), np.full(size, -1), np.arange(size)
    while len(walking):
        at = np.searchsorted(matching, best[walking] * size + passed[walking] + 1)
        ahead = at < len(matching)
        walking, at = walking[ahead], matching[at[ahead]]
        ahead = at // size == best[walking]
        walking, met = walking[ahead], at[ahead] % size
        passed[walking] = met
        yields = (met != walking) & (length[met] >= length[best[walking]])
        best[walking[yields]] = met[yields]
    return np.unique(best)


def _pair(compared: Elements) -> tuple[pl.DataFrame, Elements]:
    first = compared.edges.sort("answer", "group").unique("answer", keep="first", maintain_order=True)
    first = first.join(compared.answers.select("answer", "length"), on="answer")
    kept = first.sort("length", "answer", descending=[True, False]).unique(["system", "group"], keep="first")
    dropped = first.join(kept, on="answer", how="anti")
    edges, answers = (rows.join(dropped, on="answer", how="anti") for rows in (compared.edges, compared.answers))
    return edges.unique(["system", "group"]), replace(compared, edges=edges, answers=answers)


_OF_MENTIONS = ("ERec", "candidates")
"""Tasks that compare all mentions, linked or not: MSNBC has 658 and 97 in the paper, of which 745 are not embedded."""

_RECOGNISED = {"accuracy": "A2KB", "candidates(measure=recognised)": "candidates"}
"""Tasks that are shares of the recognised mentions, and the task whose TPs are the right ones of these."""

_TASKS = ("A2KB", "ERec", "candidates", "candidates(measure=recognised)", "accuracy", "NIL")
_KNOWN = (*aspects.OF_PEERS, *_TASKS)


def _count(case: Case, task: str, matching: str) -> Counts:
    """Return the counts of a task, of shares of the recognised mentions those right as TP, others as FP and as FN.

    Accuracy is the TPs of AM over those of MM (Chen et al., section 4.4.3 and Table 4: M_s / M_g), the recall R_m of
    candidates the TPs of CM over those of MM (section 5.2 and Table 3: 372 of 534 recognised mentions are 0.697). Where
    two answers stand on two mentions MM may pair fewer than AM: none of them is wrong then.
    """
    count = partial(aspects.count_by_pairs, pair=_pair, known=_KNOWN)
    if task not in _RECOGNISED:
        return count(case, task, matching)
    aspects.refuse_beside(task, matching, known=_KNOWN)
    keys, counted = ["system", "doc"], []
    for part in ("ERec", _RECOGNISED[task]):
        own = _longest_of_matching(_keep_apart(case, part, matching, count), part, matching, count)
        counted.append(count(own.of_spans if part == "ERec" else own, part, matching).select(*keys, "tp"))
    rows = counted[0].join(counted[1], on=keys, how="left", maintain_order="left", suffix="_right").fill_null(0)
    wrong = (pl.col("tp") - pl.col("tp_right")).clip(0)
    return rows.select(*keys, *UNSCOPED, tp="tp_right", fp=wrong, fn=wrong, ignored=pl.lit(0, pl.Int64))


euef = Profile(
    name="euef",
    summary="spans of similar text match; embedded mentions are dropped; macro-F1 is harmonic",
    source="https://github.com/htlchh/EUEF, src/edu/zju/cadal",
    tasks=_TASKS,
    matchings=("fuzzy-over(0)",),
    refuse=partial(aspects.refuse_beside, known=_KNOWN),
    headline=("A2KB", "fuzzy-over(0)"),
    conventions=replace(
        PLAIN_GOLD,
        nil=aspects.Nil(
            name="nil-apart",
            words="what is linked and what is NIL are compared apart; where mentions or candidates are, both together",
            source="dataset/MSNBC.java, fill; matching/NILMatching.java",
            choose=_keep_apart,
        ),
        overlapping=aspects.Overlapping(
            name="embedded-longest",
            words="of mentions of one side that match each other the longest stays, of two of one length both",
            source="main/Filter.java, coreference",
            choose=_longest_of_matching,
        ),
        pairing=aspects.Pairing(
            name="pair-longest",
            words="of several answers that match a gold mention the longest stays and the others are taken out",
            source="main/Filter.java, filterMany2One",
            count=_count,
        ),
        macro=aspects.Macro(
            name="macro-harmonic",
            words="macro P and R are means over all documents, macro-F1 is the harmonic mean of these two",
            source="main/Evaluator.java, macroF1",
            documents="all",
            harmonic=True,
        ),
        undefined=aspects.undefined_one.with_source("main/Evaluator.java, precision, recall"),
    ),
    outside_slice="removed",
    notes={
        "candidates": "CM: the mention matches, and its candidates and gold's have an entity in common, or are NIL "
        "both (matching/CandidateMatching.java)",
        "implicit NIL": "the tool asks the web whether Wikipedia has gold's entity when it is run, and has gold as NIL "
        "where not (webservice/MediaWikiAPI.java, getIdByTitle); here NIL is what gold says, and the rule "
        "unknown-entity of `remix check` lists entities that the attached knowledge base lacks",
        "empty documents": "the readers of the tool's datasets leave out documents without any mention "
        "(dataset/MSNBC.java, filter); here they count, as in other profiles, so that answers in them are wrong",
        "mentions": "ERec is MM, of linked and NIL mentions: TP and FN of MSNBC in the paper's Table 2 are 745, its "
        "mentions but the embedded ones, of which Table 1 has 97 NIL",
        "recognised": "accuracy is TP of AM / TP of MM (paper, Table 4); candidates(measure=recognised), its R_m, is "
        "TP of CM / TP of MM (Table 3)",
        "best threshold": "of A2KB and NIL the tool tries thresholds from 0 to 1 in steps of 1/128 on "
        "the very gold, and tells the best by macro-F1 (main/Executor.java, getBestResult); here every answer counts, "
        "and --threshold oracle takes the best by micro-F1, which the paper's Figure 2 shows",
        "spans": "overlap, and 1 - edit distance / longer length above t: 0 in the paper's figures, where any overlap "
        "matches, 0.85 in the released code (--match 'fuzzy-over(0.85)'); at 1 nothing matches, where the paper has 1 "
        "for equal spans (matching/MentionMatching.java)",
        "order": "sets have no order; here it is that of the offsets, in which each mention of a side goes past the "
        "others and gives way to the next one that matches what it has become and is no shorter (main/Filter.java, "
        "coreference)",
    },
)
