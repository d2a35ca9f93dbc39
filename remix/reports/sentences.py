"""The sentences behind a score: mentions and answers, chosen by what became of them, marked in their texts.

The page of errors, the report and `remix errors` show what is made here.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.names import shorten
from remix.reports.doubts import explain_shortcomings
from remix.runs.judgements import OUTCOMES, SEVERAL, Judgements, rename_entities, split_entities
from remix.runs.register import Run
from remix.scoring.errors import TAXONOMIES, label_of_class
from remix.scoring.matching.namespaces import tell_unjoined
from remix.scoring.slicing import slice_named
from remix.tables import WIDTH, Printed

ERRORS = "errors"
AGREEMENT = {
    "both right": ("correct", "correct"),
    "only the first right": ("correct", ""),
    "only the second right": ("", "correct"),
    "neither right": ("", ""),
}
"""What two systems may have made of a mention of gold, with the outcomes."""
ALL_MISS = "missed by all"
SHOWN = (ERRORS, *OUTCOMES, "all")
"""What can be asked for: errors are what is wrong or missed."""
NO_MENTION = "on no mention"
"""The slice of answers that are on no mention of gold, where a column of annotations has no value."""
EXTRA = "extra"
"""What is said of an answer where gold has no mention, which is wrong, but no wrong link."""
MARKS = {"correct": "✓", "wrong": "✗", "missed": "○", "ignored": "–", EXTRA: "+"}

BESIDE = 120
"""Characters shown on either side of a mention."""
FIRST = 20
"""Sentences that people are shown where they name no number."""


@dataclass(frozen=True)
class Chosen:
    """Which mentions and answers are wanted: an empty field says nothing.

    - `show`: what became of them for any of the systems, one of `SHOWN`;
    - `error_class`: a class of neleval's taxonomy that any of the systems made;
    - `type`, `slice`, `gold`, `answer`: of the mention, or what a system answered;
    - `agreement`: one of `AGREEMENT`, of two systems, or `ALL_MISS`, of all that are registered;
    - `dataset`: where several are looked at together, the one whose document is shown;
    - `of`: the system that `show`, `error_class` and `answer` are said of, where that is not any of them.
    """

    show: str = ERRORS
    error_class: str = ""
    type: str = ""
    slice: str = ""
    gold: str = ""
    answer: str = ""
    agreement: str = ""
    of: str = ""
    dataset: str = ""

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        for name, values in (("show", SHOWN), ("agreement", (*AGREEMENT, ALL_MISS))):
            if (said := getattr(self, name)) and said not in values:
                raise UnknownName(f"choice of '{name}'", said, values)
        classes = [*TAXONOMIES["neleval"].classes]
        if self.error_class and self.error_class not in classes:
            raise UnknownName("class of errors", self.error_class, classes)


def call_agreement(agreement: str, systems: Sequence[str]) -> str:
    """Return what people call an agreement of these systems.

    >>> call_agreement("only the second right", ["a", "b"]), call_agreement(ALL_MISS, ["a"])
    ('right in b alone', 'right in no system')
    """
    if agreement == ALL_MISS:
        return "right in no system"
    outcomes = AGREEMENT[agreement]
    right = [name for name, outcome in zip(systems, outcomes, strict=False) if outcome == "correct"]
    return f"right in {right[0]} alone" if len(right) == 1 and len(systems) > 1 else agreement


def rows_of_systems(judged: Judgements, systems: Sequence[str]) -> pl.DataFrame:
    """Return the mentions with `outcome`, `answer`, `answered`, `unjoined` and `class` of each system, named first."""
    rows = judged.mentions.join(judged.shares, on="mention", how="left", maintain_order="left")
    for name in systems:
        own = judged.systems.filter(system=name).select(
            "mention",
            pl.col("outcome").alias(f"{name} outcome"),
            pl.col("answer").alias(f"{name} answer"),
            pl.col("answered").alias(f"{name} answered"),
            pl.col("unjoined").alias(f"{name} unjoined"),
            pl.col("classes").str.replace_all("neleval:", "", literal=True).alias(f"{name} class"),
        )
        rows = rows.join(own, on="mention", how="left", maintain_order="left")
    return rows.filter(pl.any_horizontal(pl.col(f"{name} outcome").is_not_null() for name in systems))


def choose_rows(rows: pl.DataFrame, chosen: Chosen, systems: Sequence[str]) -> pl.DataFrame:
    """Return the rows of `rows_of_systems` that are wanted."""
    outcomes = [pl.col(f"{name} outcome").fill_null("") for name in systems]
    meant = [name for name in systems if chosen.of in ("", name)] or systems
    of_meant = [pl.col(f"{name} outcome").fill_null("") for name in meant]
    wanted = [one.is_in(["wrong", "missed"]) if chosen.show == ERRORS else one == chosen.show for one in of_meant]
    # Where all of one system are asked for, what another alone answered is none of them.
    conditions = [pl.any_horizontal(one != "" for one in of_meant)] if chosen.of else []
    conditions += [] if chosen.show == "all" else [pl.any_horizontal(wanted)]
    if said := chosen.error_class:
        conditions.append(
            pl.any_horizontal(pl.col(f"{name} class").str.split(" ").list.contains(said) for name in meant)
        )
    if chosen.slice == NO_MENTION and "slice" in rows.columns:
        conditions.append(pl.col("slice").is_null())
        chosen = replace(chosen, slice="")
    for column in ("type", "slice"):
        if (said := getattr(chosen, column)) and column in rows.columns:
            conditions.append(pl.col(column).str.split(SEVERAL).list.contains(said))
    if chosen.gold:
        conditions += _names(rows, ["gold"], chosen.gold)
    if chosen.dataset:
        conditions.append(pl.col("dataset") == chosen.dataset)
    if said := chosen.answer:
        conditions += _names(rows, [f"{name} answer" for name in meant], said)
    if chosen.agreement == ALL_MISS:
        # Mentions of a document that all systems failed on count as missed, as they do in scores.
        conditions += [pl.col("right").fill_null(0) == 0, pl.col("annotation").is_not_null()]
    elif chosen.agreement in AGREEMENT and len(outcomes) == 2:
        pairs = zip(outcomes, AGREEMENT[chosen.agreement], strict=True)
        conditions += [(one == "correct") == (right == "correct") for one, right in pairs]
        conditions.append(pl.col("annotation").is_not_null())
    return rows.filter(*(condition.fill_null(False) for condition in conditions))


def _names(rows: pl.DataFrame, columns: Sequence[str], said: str) -> list[pl.Expr]:
    """Return that any of these columns has what is said or, where none has just that, names it among others."""
    whole = pl.any_horizontal((pl.col(one) == said).fill_null(False) for one in columns)
    among = pl.any_horizontal(split_entities(pl.col(one)).list.contains(said).fill_null(False) for one in columns)
    return [whole if rows.select(whole.any()).item() else among]


def find_slice(rows: pl.DataFrame, said: str) -> str:
    """Return the slice of `rows_of_systems` that is meant by its name, its short name or the number of a part.

    Raises `UnknownName` for one that there is not, `UsageError` where the rows are by no column.
    """
    if not said or (said == NO_MENTION and "slice" in rows.columns):
        return said
    if "slice" not in rows.columns:
        raise UsageError(f"--slice {said} is a part of a column: --by COLUMN names that")
    known = rows["slice"].str.split(SEVERAL).explode().drop_nulls()
    # Parts of a range may be named by their number alone.
    return slice_named(next((one for one in known.unique() if one.startswith(f"{said}: ")), said), known)


def find_type(rows: pl.DataFrame, said: str) -> str:
    """Return the type, in letters of either case, where any of `rows_of_systems` has it; raises `UnknownName`."""
    types = {one.casefold(): one for one in rows["type"].str.split(SEVERAL).explode().drop_nulls().unique()}
    if said and said.casefold() not in types:
        raise UnknownName("type", said, types.values())
    return types[said.casefold()] if said else said


def with_texts(judged: Judgements, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the name and the text of their document."""
    return rows.join(judged.documents, on=["document", "dataset"], how="left", maintain_order="left")


def columns_of_errors(rows: pl.DataFrame, systems: Sequence[str], datasets: Sequence[str] = ()) -> pl.DataFrame:
    """Return the rows of `with_texts` as data: place, form, type, gold, slice, and what each system made of it.

    Where they are of several `datasets` that of each row stands first.
    """
    first = ["dataset"] if len(datasets) > 1 else []
    columns = ["begin", "end", "surface_form", "type", "gold", *({"slice"} & {*rows.columns})]
    columns += [f"{one} {column}" for one in systems for column in ("outcome", "answer", "class")]
    return rows.select(*first, pl.col("name").alias("document"), *columns, "right", "of")


def cut_sentence(row: Mapping[str, object], beside: int = BESIDE) -> tuple[str, str, str]:
    """Return what stands before a mention, the mention, and what stands after it, of a row of `with_texts`.

    >>> row = {"text": "Ada met Alan Turing in London", "begin": 8, "end": 19}
    >>> cut_sentence(row, beside=6)
    ('… met ', 'Alan Turing', ' in …')
    """
    text, begin, end = str(row["text"] or ""), int(str(row["begin"])), int(str(row["end"]))
    first, last = max(0, begin - beside), min(len(text), end + beside)
    before, after = text[first:begin], text[end:last]
    # Between words, where there is a space to cut at.
    before = before.partition(" ")[2] or before if first and text[first - 1] != " " else before
    after = after.rpartition(" ")[0] or after if last < len(text) and text[last] != " " else after
    return ("… " if first else "") + before, text[begin:end], after + (" …" if last < len(text) else "")


def tell_answers(
    row: Mapping[str, object], systems: Sequence[str], labels: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Give what gold has at a mention, then what each system made of it; entities with their `labels`, by IRI."""
    yield f"gold: {_name_entities(row['gold'], labels) if row['annotation'] else name_gold(row)}"
    for name in systems:
        said = row[f"{name} outcome"]
        if said is None:
            yield f"{name}: nothing here"
            continue
        answer = _name_entities(row[f"{name} answer"], labels) or "no answer"
        answered = row[f"{name} answered"]
        span = f" on “{answered}”" if answered and answered != row["surface_form"] else ""
        unseen = "; no sameAs link leads from it to gold's entities" if row[f"{name} unjoined"] else ""
        kind = f" ({call_classes(row[f'{name} class'])}{unseen})" if row[f"{name} class"] else ""
        yield f"{MARKS[look_of(row, name)]} {name}: {answer}{span} – {said}{kind}"


def call_classes(names: object) -> str:
    """Return what people call classes of errors, whose names stand behind each other.

    >>> call_classes("wrong_link extra")
    'wrong link, extra answer'
    """
    return ", ".join(map(label_of_class, str(names or "").split()))


def look_of(row: Mapping[str, object], system: str) -> str:
    """Return what became of a row for a system, of which an answer where gold has no mention is `EXTRA`."""
    said = str(row[f"{system} outcome"] or "")
    return EXTRA if said == "wrong" and row["annotation"] is None else said


def name_gold(row: Mapping[str, object]) -> str:
    """Return gold's entities of a row by their short names."""
    if row["annotation"]:
        return _name_entities(row["gold"])
    return f"a part of {_name_entities(row['part_of'])}" if row["part_of"] else "none here"


def _name_entities(said: object, labels: Mapping[str, str] | None = None) -> str:
    known = labels or {}

    def call(one: str) -> str:
        return f"{known[one]} ({shorten(one)})" if one in known else shorten(one)

    return rename_entities(str(said or ""), call)


def tell_given(runs: Sequence[Run], datasets: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Return a sentence on each system that was given the mentions of datasets, and found none itself there."""
    of_texts = {(run.system, run.dataset) for run in runs if run.task == "A2KB"}
    given = {(run.system, run.dataset) for run in runs} - of_texts
    told = []
    for name in systems:
        if on := [dataset for dataset in datasets if (name, dataset) in given]:
            where = f" of {', '.join(on)}" if len(datasets) > 1 else ""
            told.append(f"{name} was given the mentions{where} (D2KB) and found none itself.")
    return told


def tell_shortcomings(judged: Judgements, systems: Sequence[str]) -> list[str]:
    """Return what speaks against the runs of these systems: failures, no revision, entities of other worlds."""
    told = explain_shortcomings(judged.runs.filter(pl.col("system").is_in(systems)))
    linked = judged.mentions.filter(pl.col("gold") != "NIL").select("mention")
    own = judged.systems.filter(pl.col("system").is_in(systems), pl.col("answer") != "NIL")
    counts = own.join(linked, on="mention").group_by("system", "unjoined").len()
    counts = counts.with_columns(every=pl.col("len").sum().over("system")).drop_nulls("unjoined")
    rows = counts.select("system", "len", "every", "unjoined").sort("system", "unjoined")
    return [*told, *(tell_unjoined(*row) for row in rows.iter_rows())]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorsReport(Printed):
    """What one or two systems made of mentions: all that were chosen, of which people are shown some.

    `table` has a row for each, as the table on the page of errors, and its `sentence`, the mention in brackets.
    """

    systems: Sequence[str]
    datasets: Sequence[str]
    found: pl.DataFrame
    of: int
    chosen: Chosen
    limit: int | None = None
    notes: Sequence[str] = ()

    @property
    def table(self) -> pl.DataFrame:
        """Return a row for each mention and answer that was chosen."""
        rows = self.found if self.limit is None else self.found.head(self.limit)
        sentences = pl.Series("sentence", [_mark(row) for row in rows.iter_rows(named=True)], dtype=pl.String)
        return columns_of_errors(rows, self.systems, self.datasets).with_columns(sentences)

    def readable(self) -> pl.DataFrame:
        """Return the table for people: a sentence a row, gold and the answers beside it."""
        rows = self._list_shown()
        named = [name_document(row["name"]) for row in rows]
        columns = {"dataset": [str(row["dataset"]) for row in rows]} if len(self.datasets) > 1 else {}
        columns["document"] = named
        columns["sentence"] = [_mark(row, BESIDE // 2) for row in rows]
        columns["gold"] = [name_gold(row) for row in rows]
        for name in self.systems:
            columns[name] = [_name_entities(row[f"{name} answer"]) or "no answer" for row in rows]
            columns[f"{name}: outcome"] = [
                " ".join(str(row[f"{name} {what}"] or "") for what in ("outcome", "class")).strip() for row in rows
            ]
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def text(self, width: int = WIDTH) -> str:
        """Return the sentences one below the other, gold and the answers under each."""
        lines = []
        for number, row in enumerate(self._list_shown(), 1):
            where = f" ({row['dataset']})" if len(self.datasets) > 1 else ""
            said = [
                f"{number}. {name_document(row['name'])}{where}",
                *textwrap.wrap(_mark(row), width - 3),
                *tell_answers(row, self.systems),
            ]
            lines += [said[0], *(f"   {line}" for line in said[1:]), ""]
        return "".join(f"{line}\n" for line in lines)

    @property
    def lines(self) -> list[str]:
        """Return how many there are, of which classes and slices, and how more are shown."""
        shown, plain = len(self._list_shown()), Chosen(self.chosen.show) == self.chosen
        what = {ERRORS: "errors", "all": "here"}.get(self.chosen.show, self.chosen.show)
        lines = [f"{len(self.found):,} of {self.of:,} mentions and answers on {', '.join(self.datasets)} are "]
        lines[0] += what if plain else f"{what} of the kind that was asked for"
        if shown < len(self.found):
            lines[0] += f"; {shown} shown, --limit {len(self.found)} shows all"
        for name in self.systems:
            if told := _count(self.found[f"{name} class"].str.split(" ")):
                lines.append(f"classes of {name} (--class): {told}")
        if "slice" in self.found.columns and not self.chosen.slice:
            lines.append(f"slices (--slice): {_count(self.found['slice'].str.split(SEVERAL))}")
        return [*lines, *self.notes]

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return how many there are, and the table for people."""
        return self.lines[0], self.readable()

    def _list_shown(self) -> list[dict[str, object]]:
        return self.found.head(FIRST if self.limit is None else self.limit).to_dicts()


def name_document(named: object) -> str:
    """Return the last part of a document's name as people read it, without the length of its text.

    >>> name_document("http://example.org/news/7#char=0,120"), name_document("http://example.org/caf%C3%A9")
    ('7', 'café')
    """
    name = re.sub(r"#char=\d*,\d*$", "", str(named))
    last = name.rstrip("/").rpartition("/")[2] or name
    read = unquote(last)
    return read if read.isprintable() and "\N{REPLACEMENT CHARACTER}" not in read else last


def _mark(row: Mapping[str, object], beside: int = BESIDE) -> str:
    """Return the sentence of a row in one line, its mention in brackets."""
    before, mention, after = cut_sentence(row, beside)
    return " ".join(f"{before}[{mention}]{after}".split())


def _count(lists: pl.Series, most: int = 15) -> str:
    """Return the values of lists with their numbers, the most frequent first."""
    counted = lists.explode().drop_nulls().value_counts(name="number").filter(pl.first() != "")
    counted = counted.sort(["number", counted.columns[0]], descending=[True, False])
    told = [f"{shorten(str(value))} ({number})" for value, number in counted.head(most).iter_rows()]
    return "; ".join([*told, *(["…"] if len(counted) > most else [])])


def errors_report(
    judged: Judgements,
    datasets: Sequence[str],
    systems: Sequence[str],
    chosen: Chosen,
    *,
    limit: int | None = None,
    runs: Sequence[Run] = (),
) -> ErrorsReport:
    """Return what one or two systems made of the mentions of datasets, of those that are chosen.

    Raises `UnknownName` for a class of errors or a slice that there is not, `UsageError` for a choice that is of two
    systems where there is one.
    """
    if chosen.agreement in AGREEMENT and len(systems) < 2:
        raise UsageError(f"'{chosen.agreement}' is said of two systems: --beside NAME names the second")
    rows = rows_of_systems(judged, systems)
    chosen = replace(chosen, slice=find_slice(rows, chosen.slice), type=find_type(rows, chosen.type))
    found = with_texts(judged, choose_rows(rows, chosen, systems))
    notes = [*judged.notes, *tell_given(runs, datasets, systems), *tell_shortcomings(judged, systems)]
    return ErrorsReport(systems, datasets, found, len(rows), chosen, limit, notes)
