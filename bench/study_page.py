"""docs/study.md of studies that were run: where systems break, and what of the remixing paper's section 4 holds.

Each sentence is made by a rule from the numbers, and names in brackets the table of the study and the row it is of.
Claims of the paper are looked at in two ways, each with its count of systems (baselines are not asked):

- *parts*: of a column, its first or last part that ten documents hold, unless more than a tenth of the mentions lie
  beyond it: is it found less or more often than the other mentions, as the study's page of words tests it (rows of
  `weaknesses`, corrected over all tests of the study);
- *remixes*: does the F1 of a system on a remix differ from that on all datasets (rows of `differences`, corrected by
  Holm over the differences to all of its study).

Of each system the page has the weakness whose interval is farthest from 0, of three that the words of a study may have;
below it the columns within which it stands, and that within which least is left of it.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from real import DATA

from remix import __version__
from remix.files import write_whole
from remix.measures import MEASURES
from remix.studies import Studied
from remix.studies.claims import Findings, findings
from remix.studies.exhibit import Sentence
from remix.studies.exhibits.in_words import FINDINGS
from remix.studies.results import Results

PAGE = Path(__file__).resolve().parents[1] / "docs" / "study.md"
HEAD = """# Where systems break: a study of real data

<!-- Written by `python bench/real_studies.py --page`. -->

The datasets at hand with the answers that were published on them, and two systems that are part of remix beside them
(`coherence`, and `prior` as a baseline), cut by measures of the remixing paper and by its remixes. Systems that were
published on different datasets are in different studies. Each study is one file in `bench/studies/`, and
`python bench/real_studies.py --page` makes this page from nothing but the data.

How to read it:

- Sentences are made from numbers by rules, those of `remix/studies/exhibits/in_words.py` and of `bench/study_page.py`.
  Behind a sentence, in brackets, stand the table of the study's folder and the row (or rows) that it is of. In
  parentheses stands the interval of 95 % of a number, of its row alone.
- *More than chance* is a difference whose p is at most 0.05 after correction. Differences of parts, and of two
  systems, are corrected for all tests of these kinds in their study (`tests` below). Those of a remix to all mentions
  are a family of their own, over all remixes, datasets, systems and scores of a study (Holm; `tests of remixes`).
  Nothing is corrected over studies.
- What is *not claimed* has a larger p after correction. Where 0 is outside its interval, it may be there all the same.
- A part of a column is written with its boundaries; `unspecified` is what has no value: mentions of NIL, and those of
  entities of which the knowledge base says nothing (of `pagerankSegment` NIL is `without-value`). A weakness on such a
  part tells of what this knowledge base lacks as much as of the system.
- Of parts it is the recall that is compared, as an answer that is wrong belongs to no part; of remixes the F1, whose
  precision counts the answers in the scope of the remix, where that is known.
- A baseline (`prior`, and what was published as one) is ranked nowhere and in no claim.

What a study compares is what was published: the systems are of different years, and nothing here says how they would do
today.
"""
COLUMNS = ("ambiguitySurfaceForm", "ambiguityEntity", "pagerankSegment", "numAnnotations", "density", "overlap")
"""Columns of the studies that are measures of remix."""
TYPES = DATA / "elevant" / "whitelist_types.tsv"
"""What Wikidata calls the types of ELEVANT's gold."""
LEAST = 2
"""Of fewer systems than these no claim of the paper is looked at in a study."""
BEYOND = 0.1
"""Where more than this share of the mentions lies beyond a part, it is not the first or last."""


@dataclass(frozen=True)
class Claim:
    """What the remixing paper says of a part of a column (`end`: 'first', 'last', or its name) or of a remix."""

    said: str
    above: bool
    column: str = ""
    end: str = ""
    remix: str = ""


CLAIMS = (
    Claim("Mentions of names that may mean many entities are found less often", False, "ambiguitySurfaceForm", "last"),
    Claim("Mentions of names that mean one entity are found more often", True, "ambiguitySurfaceForm", "first"),
    Claim("Mentions of entities that have few names are found less often", False, "ambiguityEntity", "first"),
    Claim("Mentions of entities that have many names are found more often", True, "ambiguityEntity", "last"),
    Claim("Mentions of the most prominent entities are found more often", True, "pagerankSegment", "head"),
    Claim("Mentions of the least prominent entities are found less often", False, "pagerankSegment", "tail"),
    Claim("Mentions in documents with the most mentions are found less often", False, "numAnnotations", "last"),
    Claim("Mentions in the densest documents are found less often", False, "density", "last"),
    Claim("Mentions in the sparsest documents are found more often", True, "density", "first"),
    Claim("Persons are easier than all mentions", True, remix="persons"),
    Claim("Organisations are easier than all mentions", True, remix="organisations"),
    Claim("Places are easier than all mentions", True, remix="places"),
    Claim("What is neither person nor organisation nor place is harder than all mentions", False, remix="other"),
    Claim("Mentions of entities with a class are easier than all mentions", True, remix="with_classes"),
    Claim("Mentions of entities without a class are harder than all mentions", False, remix="without_classes"),
    Claim("The set without outliers (low skew) is easier than all mentions", True, remix="low_skew"),
    Claim("The set of outliers (high skew) is harder than all mentions", False, remix="high_skew"),
    Claim("The easy set of the paper is easier than all mentions", True, remix="easy_paper"),
    Claim("The difficult set of the paper is harder than all mentions", False, remix="difficult_paper"),
    Claim("Mentions whose first candidate is right (`easy`) are easier than all", True, remix="easy"),
    Claim("Mentions whose first candidate is wrong (`difficult`) are harder than all", False, remix="difficult"),
)


def write_page(found: Mapping[str, Studied], page: Path = PAGE) -> None:
    """Write the page of studies by their names."""
    told = {name: (one.results, findings(one.results), one.study.title) for name, one in found.items()}
    with write_whole(page) as stream:
        stream.write(text_of(told).encode())


def text_of(found: Mapping[str, tuple[Results, Findings, str]]) -> str:
    """Return the page of the results of studies, what is tested of them, and their titles."""
    parts = [HEAD, _made(), "## What was studied", _overview(found)]
    parts += ["## What holds of the remixing paper's section 4", *_claims(found)]
    parts += ["## What cannot be asked here", *_unasked(found)]
    for name, (results, tested, title) in found.items():
        parts += [f"## {title}", "\n".join(_study(name, results, tested))]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _made() -> str:
    names = ("polars", "pyoxigraph", "numpy", "scipy")
    with_versions = ", ".join(f"{name} {version(name)}" for name in names)
    made = f"Made on {date.today()} with remix {__version__}, Python {platform.python_version()}"
    return f"{made},\n{with_versions}, on two processors and 24 GiB of memory.\n"


def _overview(found: Mapping[str, tuple[Results, Findings, str]]) -> str:
    heads = ("study", "datasets", "documents", "mentions", "systems", "baselines", "task", "tests", "tests of remixes")
    lines = ["| " + " | ".join(heads) + " |", "|---|--:|--:|--:|--:|--:|---|--:|--:|"]
    for name, (results, tested, _) in found.items():
        whole = results.targets.filter(target=results.unfiltered).row(0, named=True)
        datasets = results.targets.filter(kind="dataset").height
        systems = [results.systems.filter(pl.col("kind") == kind).height for kind in ("system", "baseline")]
        remixes = results.differences.filter(family="unfiltered")["p"].count()
        sizes = (datasets, whole["documents"], whole["mentions"], *systems)
        cells = (name, *sizes, results.task, sum(tested.tests), remixes)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += [
        "",
        "Of the systems one, `coherence`, is part of remix; the others were published. HIPE calls a submission by",
    ]
    lines += ["its team, the bundle of tasks that it is for, and its number. What is cut by:", ""]
    lines += ["| column | is |", "|---|---|"]
    told = {one.name: one.meaning for measure in MEASURES for one in (*measure.summaries, *measure.columns)}
    lines += [f"| `{name}` | {told[name]} |" for name in COLUMNS]
    return "\n".join(lines) + "\n"


def _study(name: str, results: Results, tested: Findings) -> Iterator[str]:
    """Yield what a study says in words: a line a sentence, what belongs to the one before indented below it."""
    said = [one for one in FINDINGS.show(results) if isinstance(one, Sentence) and not _is_hole(one)]
    told: set[str] = set()
    shown = True
    behind: list[Sentence] = []
    for one in [*said, Sentence("", "")]:
        if one.text.startswith("Among mentions"):
            behind += [one] * shown
            continue
        if behind:
            least = min(behind, key=lambda line: float(line.text.partition(" it is ")[2].split()[0]))
            yield f"  - {_readable(least.text)}{_cells(name, least)}"
            behind = []
        if _is_weakness(one):
            shown = (system := dict(one.cell)["system"]) not in told
            told.add(system)
        follows = one.text.startswith(("It is ahead", "So it is", "Whether"))
        if one.text and not one.text.startswith("Whether") and (shown or not follows and not _is_weakness(one)):
            yield f"{'  ' * follows}- {_readable(one.text)}{_cells(name, one)}"


def _is_weakness(sentence: Sentence) -> bool:
    return sentence.table == "weaknesses" and " finds " in sentence.text


def _is_hole(sentence: Sentence) -> bool:
    return sentence.text.startswith("There is nothing of")


def _readable(text: str) -> str:
    """Return a sentence with what Wikidata calls a type behind its number."""
    names = dict(line.split("\t") for line in TYPES.read_text(encoding="utf-8").splitlines())
    return re.sub(r"wd:(Q\d+)", lambda fit: f"{fit[0]} ({names[fit[1]]})" if fit[1] in names else fit[0], text)


def _cells(study: str, one: Sentence) -> str:
    return "".join(_cell(study, one.table, cell) for cell in (one.cell, *one.beside))


def _cell(study: str, table: str, cell: Iterable[tuple[str, str]]) -> str:
    named = ", ".join(f"{column}={value}" for column, value in cell if value)
    return f" [{study}: {table}{': ' if named else ''}{named}]" if table else ""


def _claims(found: Mapping[str, tuple[Results, Findings, str]]) -> Iterator[str]:
    """Yield what holds of each claim in each study: an overview, and a line for each."""
    looked = {
        claim: {
            name: seen for name, (results, tested, _) in found.items() if (seen := _look(name, results, tested, claim))
        }
        for claim in CLAIMS
    }
    said = {claim: seen for claim, seen in looked.items() if seen}
    names = [name for name in found if any(name in seen for seen in said.values())]
    yield (
        "The paper says these of the average of its systems, and draws no intervals; here each system is asked\n"
        "for itself. It asked D2KB of all but density; in a study of A2KB mentions that are not found count too.\n"
        "*3/7* is so of three systems of seven by more than chance, *3/7, 1 turned* the other way round of one more,\n"
        "*–* of none either way. An empty cell is a study that cannot say: it has fewer than two systems, or ten\n"
        "documents do not hold the part, or the remix selects nothing."
    )
    lines = ["| claim | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for claim, seen in said.items():
        lines.append(f"| {claim.said} | " + " | ".join(seen[name][0] if name in seen else "" for name in names) + " |")
    yield "\n".join(lines)
    if silent := [claim.said for claim, seen in looked.items() if not seen]:
        yield "No study here can say: " + "; ".join(f"{one[0].lower()}{one[1:]}" for one in silent) + "."
    yield (
        "Of each, the widest difference that is found, in points of recall (parts) or of F1 (remixes). `easy` and\n"
        "`difficult` are made of the dictionary that `coherence` and `prior` read, so of these they say nothing new.\n"
        "Of prominence a study speaks by the few mentions that have any (see below); the paper finds that systems\n"
        "struggle with its very last part, which is not asked here. It also sees precision rise with density, and of\n"
        "parts no precision is compared here."
    )
    for claim, seen in said.items():
        yield "\n".join([f"{claim.said}:\n", *(line for _, line in seen.values())])


def _look(name: str, results: Results, tested: Findings, claim: Claim) -> tuple[str, str] | None:
    """Return what is found of a claim in a study, in short and as a line, None where it cannot say."""
    rows, table, keys = _of_part(tested, results, claim) if claim.column else _of_remix(results, claim)
    systems = results.systems.filter(kind="system")["system"].implode()
    rows = rows.filter(pl.col("difference", "low").is_not_null(), pl.col("system").is_in(systems))
    if rows.height < LEAST:
        return None
    as_said = pl.col("difference") > 0 if claim.above else pl.col("difference") < 0
    holds, turned = (rows.filter("claimed", way).height for way in (as_said, ~as_said))
    widest = rows.sort(pl.col("difference").abs(), "system", descending=[True, False]).row(0, named=True)
    low, high = (100 * widest[end] for end in ("low", "high"))
    points = f"{100 * widest['difference']:+.1f} points ({low:.1f} to {high:.1f})"
    way = "" if (widest["difference"] > 0) == claim.above or not widest["difference"] else ", the other way round"
    said = (
        f"- {name}: so of {holds} of {rows.height} systems, the other way round of {turned}; the widest difference is "
        f"that of {widest['system']}, {points}{way}: {_sure(widest)}."
    )
    short = f"{holds}/{rows.height}" + (f", {turned} turned" if turned else "")
    cell = [(key, str(widest[key])) for key in keys]
    return short if holds + turned else "–", said + _cell(name, table, cell)


def _sure(row: Mapping[str, Any]) -> str:
    """Return whether a difference is claimed, as the page of words says it."""
    if row["claimed"]:
        return "more than chance"
    return "not claimed, though 0 is outside its interval" if row["low"] * row["high"] > 0 else "not claimed"


def _of_part(tested: Findings, results: Results, claim: Claim) -> tuple[pl.DataFrame, str, tuple[str, ...]]:
    """Return the rows of the tests of the part that a claim is of, over all mentions."""
    keys = ("system", "column", "slice")
    whole = tested.weak.filter(pl.col("column").str.split(":").list.first() == claim.column, within="")
    whole = whole.filter(~pl.col("column").str.contains(" × ", literal=True))
    parts = results.parts.filter(dataset="all").select("column", "slice", "part").unique()
    numbered = whole.join(parts, on=["column", "slice"])
    if claim.end in ("first", "last") and numbered.height:
        number = numbered.filter(pl.col("part") > 0)["part"]
        known: Any = (number.min() if claim.end == "first" else number.max()) if len(number) else -1
        beyond = pl.col("part") < known if claim.end == "first" else pl.col("part") > known
        every = results.parts.filter(pl.col("part") > 0, column=numbered["column"].first(), dataset="all")
        outside = every.filter(beyond)["mentions"].sum() > BEYOND * every["mentions"].sum()
        return numbered.filter(pl.lit(not outside), part=known), "weaknesses", keys
    return numbered.filter(slice=claim.end), "weaknesses", keys


def _of_remix(results: Results, claim: Claim) -> tuple[pl.DataFrame, str, tuple[str, ...]]:
    """Return the rows of the tests of systems on a remix against all datasets."""
    rules = {"profile": results.profile, "task": results.task, "matching": results.matching}
    shown = {"family": "unfiltered", "target": claim.remix, "score": "f1", "column": ""}
    rows = results.differences.filter(**rules, **shown)
    rows = rows.with_columns(claimed=(pl.col("p_holm") <= 0.05).fill_null(value=False))
    return rows, "results/differences", ("system", "target", "score")


def _unasked(found: Mapping[str, tuple[Results, Findings, str]]) -> Iterator[str]:
    yield (
        "The knowledge base is a slice that was put together from public files, without the rows that come from\n"
        "gold: a dictionary, some redirects and types, and very few links. It has names that systems proposed as\n"
        "candidates, so that how many entities a name may mean depends on whom these asked."
    )
    yield "\n".join(_lacking(found))


def _lacking(found: Mapping[str, tuple[Results, Findings, str]]) -> Iterator[str]:
    for name, (results, _, _) in found.items():
        absent = results.targets.filter(state="failed")["target"].to_list()
        if absent:
            yield f"- {name}: nothing is selected by the remixes {', '.join(absent)}. [{name}: results/targets]"
    for column in ("pagerankSegment",):
        for name, (results, _, _) in found.items():
            whole = results.parts.filter(dataset="all", column=column)
            total = results.targets.filter(target=results.unfiltered)["mentions"].sum()
            unknown = whole.filter(pl.col("slice").is_in(["unspecified", "without-value"]))["mentions"].sum()
            if whole.height and total:
                yield (
                    f"- {name}: {100 * unknown / total:.1f} % of the {total} mentions have no prominence. "
                    f"[{name}: results/parts: column={column}, dataset=all]"
                )
    yield (
        "- HITS and PageRank of the whole DBpedia, on which the paper's boundaries stand, are not here: its remixes\n"
        "  by fixed boundaries (low, medium and high skew, easy and difficult) are of other entities than there. HITS\n"
        "  is not asked at all, as it stands on the same few links as PageRank.\n"
        "- The answers of the systems of the paper are not public, so that no number of its Table 5 can come out.\n"
        "- Each text of kgllm4ed has one mention, and many are parts of one article: as they count as documents of\n"
        "  their own, its intervals are too narrow.\n"
        "- The texts of two of the ten datasets of kgllm4ed are not public, and they are left out.\n"
        "- Examples of a few documents among the NIF files, and second serialisations of a dataset, are left out."
    )
