"""Write docs/statistics.md: how intervals and tests are made, and how often they are wrong.

    python bench/statistics_page.py [--draws 2000] [--intervals FILE] [--slices FILE]

The tables are those of bench/intervals.py and bench/slices.py, which take a quarter of an hour each; a file has what
one of them printed before.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bench.intervals
import bench.slices

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"

TEXT = """# Intervals and tests

How `remix evaluate --intervals`, `remix compare` and the web page Systems say how far a number can be trusted, and how
often that is wrong. The tables are of simulations, whose truth is known: `python bench/statistics_page.py --draws
{draws}` writes this page (2 processors, 24 GiB, Python 3.11.7, 2026-11-23).

The unit is the document, or with `--unit context` a line or sentence: what a system does with one mention of a document
says something of the next. Fewer than ten tell nothing of others: no interval and no test is over them, and where a
slice has less, its row says so (`interval_doubt`, `untested`).

## Intervals

An interval of 95 % should hold the truth in 95 of 100 cases. That of remix leaves documents out one after the other (a
jackknife), looks how far the logit of the score moves, and goes as far to both sides as Student's t says for so many
documents; documents of unequal size count as fewer. It is never narrower than that of as many mentions that have
nothing to do with each other. Where all is right or all wrong nothing moves: then it is Wilson's interval for mentions
that go together by 0.1 in their document, so that it is no point. It is the same for all scores (precision, recall, F1,
micro and macro, in scope or not, of the whole and of slices), and costs one sum for each document.

Documents of the simulation have 20 mentions in the mean; scores are 0.2, 0.5, 0.8 and 0.9, intra-class correlations 0,
0.05 and 0.1, log-standard deviations of sizes 0 and 0.6, each with each, for micro P, R, F1 and macro F1. In the
hardest of these worlds (0.1 and 0.6) a jackknife without logits and t stands beside it, and three bootstraps over
documents of 200 samples (500 draws). *Least* is the worst of the four scores at four values, *mean* their mean:

{promised}

The intervals of remix in all of these worlds by the value of the score (least coverage, and mean width for F1):

{scores}

Harder worlds: scores near 0 or 1, mentions of a document that go together more, very uneven sizes, and one document
with three quarters of all mentions. Results from 0.95 on or up to 0.05, and those of which one document has more than
half, are flagged ('interval in doubt'), as there are too few mistakes, or documents, to tell by:

{hard}

The difference of two systems has the interval that both intervals and the correlation of the systems over documents
give (Zou and Donner), no correlation being taken for perfect: two systems that agree on all of these mentions may
differ on the next. The worse of correlations of 0 and 0.1, by how many mentions have the same outcome in both:

{differences}

`p` of two systems is that of paired approximate randomisation over documents.

## Tests of slices

A slice (`--by`) is tested where ten documents hold it, and ten the mentions that it is held against. Two nulls are
tested:

- *recall* (`p`): a mention of the slice is found as often as another, beside what its document and its entity say;
- *precision* (`p_precision`): an answer on a mention of the slice is right as often as one on another mention. Answers
  where gold has no mention belong to no slice, and are no part of this test, though they count in P. Where all mentions
  are answered, both nulls are one.

Both are corrected together by Holm for all slices of a column. `difference` is that of the micro-F1 that is shown, with
its interval over documents. Tasks, matchings and profiles that do not say which mention is right have no test, and say
so.

What a system makes of an entity it makes of it again, within a document and in others, so that ten mentions may tell as
little as one. Therefore documents and entities are crossed random effects, whose size all mentions tell: pairs that
share a document, an entity or both. The outcomes of all mentions are drawn anew from effects of that size, without
regard to slices, `--samples N` times; p is the share of draws in which the slice and the rest are as far apart, in
means where mentions that tell the same count less.

False positives at 5 %: a thousand mentions in fifty documents (log-standard deviation of sizes
0.6), 8 % errors, entities by Zipf's law, in bursts; slices of 1 to 100 mentions, those tested that ten documents hold,
which are mentions chosen one by one, all mentions of some entities, or runs of mentions of few documents. *Any* is the
share of draws with any p ≤ 0.05 after Holm's correction, the other columns are p before it by the number of mentions.
A cell is empty where fewer than a tenth of the draws have such slices:

{slices}

Power, the share of p ≤ 0.05 after correction for seven slices: so many mentions of persons of a rank above 3 with 80 %
errors, 5 % elsewhere; errors fall on each mention for itself, or on an entity in all of its mentions (100 draws):

{found}

## The page of words

The first exhibit of a study says only what holds after correction over all that the study tests: parts of mentions in
each system, also within the parts of each other column, and pairs of systems (`remix/studies/claims.py`; the rules of
the sentences stand in `remix/studies/exhibits/in_words.py`).

Tests of parts overlap: a part and its crossings, the same part within another column, systems that agree. Holm's
procedure takes them for as many as they are. Here it is reckoned how far tests go together, of the mentions that they
share, and systems, of what both find; normal variables that go together so are drawn 5,000 times, and the corrected p
is how often the smallest p of all tests not yet claimed is as small (Westfall and Young's step-down procedure, with
correlations as Hothorn, Bretz and Westfall have them). Tests within the parts of another column say what is behind a
weakness: they weigh 0.2, those over all mentions 1 (Westfall, Kropf and Finos), so that the first cost the others less.
The probability of any false claim is still at most 0.05. Pairs of systems are corrected by Holm, and both kinds for
being two (`remix/scoring/statistics/families.py`).

`python bench/planted.py --flat 150` draws outcomes on the shipped corpus, 1,178 mentions in 115 documents (2
processors, Python 3.11.7, 2026-11-23). By Holm's procedure over all tests and without the column of frequencies, what
is planted by PageRank was claimed with 43 of these 50 seeds, what is confounded with 41:

| world | tests | seeds | anything claimed | the weakness claimed | claimed within the parts of what is behind it |
|---|---|---|---|---|---|
| flat: three systems find each mention with 0.75 | 2376 + 60 | 50 | 0 |  |  |
| flat: one system finds each mention with 0.75 | 792 + 0 | 150 | 4 |  |  |
| planted: 25 points fewer of 84 rare persons, by PageRank | 792 + 0 | 50 | 46 | 46 |  |
| planted: 25 points fewer of 103 persons that come once | 792 + 0 | 50 | 48 | 48 |  |
| confounded: persons are found less often as they are rarer by PageRank | 792 + 0 | 50 | 50 | 50 | 0 |
| confounded: what has no class is found less often as it comes less often | 792 + 0 | 50 | 50 | 50 | 0 |
"""


def split(printed: str) -> list[str]:
    """Return the tables of a text."""
    parts = [part for part in printed.strip().split("\n\n") if part.startswith("| ")]
    return [part for part in parts if "|---|" in part]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--intervals", type=Path)
    parser.add_argument("--slices", type=Path)
    chosen = parser.parse_args()
    of_intervals = (
        chosen.intervals.read_text(encoding="utf-8")
        if chosen.intervals
        else bench.intervals.tables(draws=chosen.draws, resamples=200)
    )
    of_slices = (
        chosen.slices.read_text(encoding="utf-8")
        if chosen.slices
        else bench.slices.tables(draws=chosen.draws, samples=200)
    )
    promised, scores, hard, differences = split(of_intervals)
    slices, found = split(of_slices)
    named = {"promised": promised, "scores": scores, "hard": hard, "differences": differences}
    text = TEXT.format(draws=chosen.draws, slices=slices, found=found, **named)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
