"""Writes docs/conventions.md: what each evaluator counts and how, with one example that is scored by all.

.venv/bin/python scripts/conventions.py
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from tabulate import tabulate

from remix.files import write_whole
from remix.frames import Frames
from remix.names import DBR, shorten
from remix.scoring.conventions import Convention
from remix.scoring.differences import Counting, Step, difference_lines, differences, headlines, profile_names
from remix.scoring.inputs import Inputs
from remix.scoring.matching import MATCHINGS
from remix.scoring.profiles import CONVENTIONS, PROFILES, Conventions
from remix.scoring.tasks import FILTERS, TASKS, Task


@dataclass(frozen=True)
class Mention:
    """A mention by its text; an empty `entity` is NIL. `option` names one reading of several of the document."""

    text: str
    entity: str
    optional: bool = False
    option: str = ""


@dataclass(frozen=True)
class Document:
    """A text with its gold and the answers to it; `annotated` is how much of it was annotated at all."""

    shows: str
    text: str
    gold: tuple[Mention, ...]
    answers: tuple[Mention, ...]
    annotated: str = ""


_ONE = "http://example.org/id/1"
_OTHER = "http://example.org/id/2"

DOCUMENTS = (
    Document(
        "a mention that is found",
        "Hypatia taught in Alexandria.",
        (Mention("Alexandria", "Alexandria"),),
        (Mention("Alexandria", "Alexandria"),),
    ),
    Document(
        "a span that ends within a word",
        "Hypatia's father was Theon.",
        (Mention("Hypatia", "Hypatia"),),
        (Mention("Hypatia's", "Hypatia"),),
    ),
    Document(
        "a mention of nobody known, and an answer that says so of another",
        "Our neighbour Jo Miller plays with Kim.",
        (Mention("Jo Miller", ""),),
        (Mention("Jo Miller", ""), Mention("Kim", "")),
    ),
    Document("nothing on either side", "It rained all day.", (), ()),
    Document(
        "gold alone",
        "The ferry leaves Bergen at noon.",
        (Mention("Bergen", "Bergen"),),
        (),
    ),
    Document(
        "answers alone, one of them where nobody annotated",
        "Nothing happened in May. See also Paris.",
        (),
        (Mention("May", "May"), Mention("Paris", "Paris")),
        annotated="Nothing happened in May.",
    ),
    Document(
        "two answers on one mention",
        "She moved to New York City.",
        (Mention("New York City", "New_York_City"),),
        (Mention("New York", "New_York_City"), Mention("New York City", "New_York_City")),
    ),
    Document(
        "a mention that may be left out",
        "In 1969 Neil Armstrong walked there.",
        (Mention("1969", "1969", optional=True), Mention("Neil Armstrong", "Neil_Armstrong")),
        (Mention("1969", "1969"), Mention("Neil Armstrong", "Louis_Armstrong")),
    ),
    Document(
        "a mention that may be read as one or as two",
        "The office is in Oslo, Norway.",
        (
            Mention("Oslo, Norway", "Oslo", option="whole"),
            Mention("Oslo", "Oslo", option="parts"),
            Mention("Norway", "Norway", option="parts"),
        ),
        (Mention("Oslo", "Oslo"), Mention("Norway", "Norway")),
    ),
    Document(
        "different entities of a knowledge base that few know",
        "The report names Acme.",
        (Mention("Acme", _ONE),),
        (Mention("Acme", _OTHER),),
    ),
)


def example() -> tuple[Frames, Frames]:
    """Return gold and the answers to `DOCUMENTS`.

    >>> gold, answers = example()
    >>> len(gold.documents), len(gold.annotations), len(answers.annotations)
    (10, 11, 13)
    """
    return _framed("gold"), _framed("answers")


def _framed(side: str) -> Frames:
    rows, links, regions = [], [], []
    for number, document in enumerate(DOCUMENTS, 1):
        name = f"d{number:02}"
        for place, mention in enumerate(getattr(document, side)):
            begin = document.text.index(mention.text)
            row = {"annotation": f"{name}#{side}{place}", "document": name, "dataset": "example", "begin": begin}
            row |= {"end": begin + len(mention.text), "surface_form": mention.text, "is_nil": not mention.entity}
            row["ignorable"] = "optional" if mention.optional else None
            row["group"] = f"{name}#group" if mention.option else None
            row["option"] = f"{name}#{mention.option}" if mention.option else None
            rows.append(row)
            if mention.entity:
                entity = mention.entity if ":" in mention.entity else DBR + mention.entity
                links.append({"annotation": row["annotation"], "entity": entity, "entity_as_given": entity})
        if document.annotated:
            regions.append({"document": name, "begin": 0, "end": len(document.annotated)})
    names = [f"d{number:02}" for number in range(1, len(DOCUMENTS) + 1)]
    texts = [document.text for document in DOCUMENTS]
    return Frames.of(
        documents=pl.DataFrame({"document": names, "dataset": "example", "text": texts}),
        annotations=pl.DataFrame(rows, infer_schema_length=None),
        links=pl.DataFrame(links),
        regions=pl.DataFrame(regions),
    )


def documentation() -> str:
    """Return the page of conventions: aspects, profiles, the example and what makes the differences in it."""
    gold, answers = example()
    counting = Counting(Inputs(gold, {"system": answers}))
    names = profile_names("all")
    parts = [
        "# Conventions\n\n<!-- Written by `python scripts/conventions.py` from the profiles and conventions in "
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
    for default in Conventions():
        decides = inspect.cleandoc(type(default).__doc__ or "").rstrip(".")
        for rule in CONVENTIONS:
            if type(rule) is type(default):
                users = [name for name in names if _says(name, rule, default)]
                decided = f"{decides[0].lower()}{decides[1:]}"
                rows.append({"decides": decided, "convention": rule.words, "profiles": ", ".join(users)})
    own = [f"`{name}`" for name in names if PROFILES[name].own_rules]
    beside = f"{', '.join(own[:-1])} and {own[-1]} count by rules of their own, and stand only beside what they set; "
    beside += "what they do otherwise is said of each below."
    return f"## What conventions decide\n\n{_table(pl.DataFrame(rows))}\n{beside}\n"


def _says(name: str, rule: Convention, default: Convention) -> bool:
    """Return whether a profile counts by a rule: one that counts by rules of its own sets what is not the default."""
    return rule in PROFILES[name].conventions and (rule != default or PROFILES[name].own_rules is None)


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
    table = counting.inputs.gold.documents.select("document")
    for name in names:
        profile = PROFILES[name]
        step = Step("", "", profile, profile.headline)
        counts = counting.counts(step).join(counting.case(step).mentions.documents.select("doc", "document"), on="doc")
        told = pl.format("{} {} {}", *(pl.col(one).cast(pl.Int64) for one in ("tp", "fp", "fn")))
        counts = counts.select("document", told.alias(name))
        table = table.join(counts, on="document", how="left", maintain_order="left")
    number = pl.int_range(1, pl.len() + 1).alias("document")
    return table.with_columns(pl.col(names).fill_null("0 0 0")).select(number, *names)


def _profile(name: str) -> str:
    profile = PROFILES[name]
    rules = "".join(f"- **{key}**: {text}\n" for key, text in profile.rules().items())
    shown = f"tasks {', '.join(profile.tasks)}; matchings {', '.join(profile.matchings)}"
    said = f"{profile.summary[0].upper()}{profile.summary[1:]}. Source: {profile.source}. Rows: {shown}."
    return f"\n## {name}\n\n{said}\n\n{rules}"


def write(checkout: Path) -> None:
    """Write the page of a checkout anew."""
    with write_whole(checkout / "docs" / "conventions.md") as stream:
        stream.write(documentation().encode())


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent)
