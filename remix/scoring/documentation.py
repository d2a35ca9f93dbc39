"""docs/conventions.md: what each evaluator counts and how, with one example scored by all. Written by `python -m`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tabulate import tabulate

from remix.files import written
from remix.names import shorten
from remix.scoring.conventions import ASPECTS, CONVENTIONS
from remix.scoring.differences import Counting, Step, difference_lines, differences, headlines, profile_names
from remix.scoring.example import DOCUMENTS, Document, example
from remix.scoring.knowledge import Inputs
from remix.scoring.matchings import MATCHINGS
from remix.scoring.profiles import PROFILES
from remix.scoring.tasks import FILTERS, TASKS, Task

__all__ = ["documentation"]

DECIDES = {
    "documents": "which documents are compared",
    "nil": "mentions without an entity",
    "optional": "gold that is neither required nor wrong",
    "regions": "where in a text answers count",
    "alternatives": "several readings of one mention",
    "repeated": "annotations of the same span and entity",
    "overlapping": "mentions of one side that overlap each other",
    "threshold": "which answers are confident enough",
    "pairing": "which answer is held against which mention",
    "undefined": "scores without denominator",
    "macro": "means over documents",
}


def documentation() -> str:
    """Return the page of conventions: aspects, profiles, the example and what makes the differences in it."""
    gold, answers = example()
    counting = Counting(Inputs(gold, {"system": answers}))
    names = profile_names("all")
    parts = [
        "# Conventions\n\n<!-- Written by `python -m remix.scoring.documentation` from the profiles and conventions in "
        "remix/scoring; edit those. -->\n\n"
        "Evaluators of entity linking count differently, so that the score of a system depends on who counts. A "
        "*profile* holds all conventions of one of them; `remix evaluate --profile NAME` follows it, "
        "`--profile all` shows all of them side by side with a line for each convention that makes a difference.\n",
        _aspects(names),
        _names(),
        _worked(counting, names),
        *(_profile(name) for name in names),
    ]
    return "\n".join(parts)


def _table(frame: pl.DataFrame) -> str:
    return (
        tabulate(frame.rows(), headers=frame.columns, tablefmt="github", missingval="–", disable_numparse=True) + "\n"
    )


def _aspects(names: list[str]) -> str:
    rows = []
    for aspect in ASPECTS:
        for rule in CONVENTIONS:
            if rule.aspect == aspect:
                users = [name for name in names if rule in PROFILES[name].rules]
                rows.append({"decides": DECIDES[aspect], "convention": rule.words, "profiles": ", ".join(users)})
    return f"## What conventions decide\n\n{_table(pl.DataFrame(rows))}"


def _names() -> str:
    """Return the tasks and matchings as they are written."""
    tasks = [
        {"task": one.name, "compares": one.summary, "settings": ", ".join([*one.takes, *_filterable(one)])}
        for one in TASKS
    ]
    matchings = [{"matching": one.name, "spans match where": one.summary} for one in MATCHINGS]
    return (
        "\n## Tasks and matchings\n\nAs they are written in the profile `remix`; the profiles of tools know some of "
        f"them. Settings stand in brackets: `ERec(filter=nil)`, `A2KB(match=weak, filter={list(FILTERS)[-1]})`, "
        "`Sa2KB(measure=p@5)`, `Sa2KB(threshold=0.5)`. A filter leaves, on both sides, "
        f"{', '.join(FILTERS)} mentions. A score is a task and its average, `A2KB(match=weak) micro-F1`.\n\n"
        f"{_table(pl.DataFrame(tasks))}\n{_table(pl.DataFrame(matchings))}"
    )


def _filterable(task: Task) -> list[str]:
    return ["match"] if task.parts else ["match", "filter"]


def _worked(counting: Counting, names: list[str]) -> str:
    """Return the example: each document with its counts by profile, the scores, the differences."""
    texts = "".join(_document(number, document) for number, document in enumerate(DOCUMENTS, 1))
    table = headlines(counting, names).drop("system")
    rounded = [pl.col(name).round(3) for name in ("precision", "recall", "f1", "macro_f1")]
    changes = differences(counting, names)
    return (
        "\n## One example, scored by all\n\nTen documents and the answers of one system. An empty pair of brackets "
        f"is NIL; what may be left out has a question mark.\n\n{texts}\nTP, FP and FN of each document:\n\n"
        f"{_table(_by_document(counting, names))}\nIn all, by the task and matching that the tool is known for:\n\n"
        f"{_table(table.with_columns(rounded))}\nFrom the default profile to each other, one convention after "
        f"another; the changes add up:\n\n{_table(difference_lines(changes, names[0]))}"
    )


def _document(number: int, document: Document) -> str:
    sides = []
    for name, mentions in (("gold", document.gold), ("answers", document.answers)):
        told = [
            f"{one.text} → ({shorten(one.entity) if one.entity else ''}){'?' if one.optional else ''}"
            + (f" [{one.option}]" if one.option else "")
            for one in mentions
        ]
        sides.append(f"{name}: {'; '.join(told) or 'none'}")
    annotated = f" Only “{document.annotated}” is annotated." if document.annotated else ""
    return f"{number}. *{document.shows}*: “{document.text}”{annotated} {'. '.join(sides)}.\n"


def _by_document(counting: Counting, names: list[str]) -> pl.DataFrame:
    table = pl.DataFrame({"doc": range(len(DOCUMENTS))}, schema={"doc": pl.Int64})
    for name in names:
        profile = PROFILES[name]
        counts = counting.counts(Step("", "", profile, profile.headline, own=profile.nearest is not None))
        told = pl.format("{} {} {}", *(pl.col(one).cast(pl.Int64) for one in ("tp", "fp", "fn")))
        table = table.join(counts.select("doc", told.alias(name)), on="doc", how="left", maintain_order="left")
    return table.with_columns(pl.col(names).fill_null("0 0 0")).select((pl.col("doc") + 1).alias("document"), *names)


def _profile(name: str) -> str:
    profile = PROFILES[name]
    rules = "".join(f"- **{key}**: {text}\n" for key, text in profile.conventions.items())
    shown = f"tasks {', '.join(profile.tasks)}; matchings {', '.join(profile.matchings)}"
    said = f"{profile.summary[0].upper()}{profile.summary[1:]}. Source: {profile.source}. Rows: {shown}."
    return f"\n## {name}\n\n{said}\n\n{rules}"


def write(checkout: Path) -> None:
    """Write the page of a checkout anew."""
    with written(checkout / "docs" / "conventions.md") as stream:
        stream.write(documentation().encode())


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent.parent)
