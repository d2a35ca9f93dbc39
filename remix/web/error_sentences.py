"""The errors of systems in their sentences, with facets and as a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from remix.kb import KnowledgeBase
from remix.measures.labels import headings_of_measures, label_of
from remix.names import shorten
from remix.reports.labels import label_classes, label_entities, label_parts
from remix.reports.sentences import (
    AGREEMENT,
    ALL_MISS,
    ERRORS,
    SHOWN,
    call_agreement,
    call_classes,
    choose_rows,
    columns_of_errors,
    cut_sentence,
    look_of,
    name_document,
    name_gold,
    rows_of_systems,
    tell_answers,
    tell_shortcomings,
    with_texts,
)
from remix.runs.judgements import OUTCOMES, SEVERAL, Judgements, list_entities, read_entities
from remix.scoring.errors import label_of_class
from remix.web import page
from remix.web.addresses import address_of_entity, name_text
from remix.web.error_choice import PAGE, lead_to_sentences, name_systems, place_of, read_choice, tell_choice
from remix.web.error_tables import tabulate_confused
from remix.web.facets import limit_values, tell_values, turn_values

_MOST = 500
"""Sentences that an address can ask for on a page."""


def browse(judged: Judgements, asked: Mapping[str, str], kb: KnowledgeBase | None = None) -> list[page.Shown]:
    """Return the sentences that are asked for, as texts with facets and as a table, and the pairs that are confused.

    `asked` are the parameters of the page, of which `dataset` and `system` must be there; `kb` has labels of entities.
    """
    shown = name_systems(asked)
    rows = rows_of_systems(judged, shown)
    chosen = with_texts(judged, choose_rows(rows, read_choice(asked), shown))
    start, count = _read_place(asked)
    rows_shown = chosen.slice(start, count)
    # Those of all that the page shows are looked up at once.
    labels = label_entities(
        kb, list_entities(*(rows[column] for column in ("gold", *(f"{name} answer" for name in shown))))
    )
    together = len(judged.datasets) > 1
    passages = [
        _passage(row, asked, shown, f"{nth} of {chosen.height:,}", labels, together=together)
        for nth, row in enumerate(rows_shown.iter_rows(named=True), start + 1)
    ]
    told = f"{chosen.height:,} of {rows.height:,} mentions and answers are of this kind; {len(passages)} are shown."
    told += _explain_agreement(asked) + _explain_counts(rows, asked, shown)
    steps = {
        {"prev": "previous sentences", "next": "next sentences"}[way]: place
        for way, place in turn_sentences(judged, asked).items()
    }
    keys = "The keys n and p lead to the next and the previous text, the arrow keys to the next and previous texts."
    return [
        page.Note(told, links=steps),
        page.Passages(passages, [*_list_facets(rows, asked, shown, kb)]),
        page.Note(keys, links=steps),
        *[page.Note(said) for said in (*judged.notes, *tell_shortcomings(judged, shown))],
        _tabulate(chosen, asked, kb, judged.datasets, labels),
        tabulate_confused(judged, asked, labels),
    ]


def _explain_agreement(asked: Mapping[str, str]) -> str:
    """Return why an agreement chooses nothing, where that is so."""
    agreement = asked.get("agreement", "")
    if agreement == "both right" and asked.get("show", ERRORS) == ERRORS:
        return " No error is right in both: choose to show what is correct, or all."
    return ""


def _explain_counts(rows: pl.DataFrame, asked: Mapping[str, str], shown: Sequence[str]) -> str:
    """Return what the numbers of the filters count, where they do not add up to what is shown."""
    said = []
    if len(shown) > 1 and not asked.get("of"):
        said.append(
            f"What became of a mention, and the class of an error, is said of {' or '.join(shown)}: where one is wrong "
            "and the other right or without an answer, the mention counts in both numbers."
        )
    if len(shown) > 1:
        said.append("An agreement is of mentions of gold: an answer where gold has none counts in no number of it.")
    if rows["type"].str.contains(SEVERAL, literal=True).any():
        said.append("A mention of several types counts in each.")
    return f" {' '.join(said)}" if said else ""


def _tabulate(
    chosen: pl.DataFrame,
    asked: Mapping[str, str],
    kb: KnowledgeBase | None,
    datasets: Sequence[str],
    of_entities: Mapping[str, str],
) -> page.Table:
    """Return the sentences that are chosen as a table; `of_entities` are the labels of entities."""
    shown = name_systems(asked)
    explained = {f"{one} outcome": "; ".join(f"{name}: {said}" for name, said in OUTCOMES.items()) for one in shown}
    explained |= {"right": "how many systems are right here, baselines and oracles aside", "of": "of how many"}
    frame = columns_of_errors(chosen, shown, datasets)
    made = pl.concat([frame[f"{one} class"].drop_nulls() for one in shown]).unique()
    labels = {one: call_classes(one) for one in made.to_list() if one}
    labels |= label_classes(kb, frame["slice"].str.split(SEVERAL).explode()) if "slice" in frame.columns else {}
    links = {name: partial(_lead_to_entity, name) for name in ("gold", *(f"{one} answer" for one in shown))}
    return page.Table(
        "errors",
        frame,
        links,
        explained=explained,
        headings=headings_of_measures(["surface_form"]),
        labels={**labels, **of_entities},
        documents=("document",),
        chosen=tell_choice(asked),
        in_paper=("surface_form", "gold", *(f"{one} {said}" for one in shown for said in ("answer", "class"))),
    )


def _lead_to_entity(column: str, row: Mapping[str, Any]) -> str:
    return address_of_entity(row[column])


def _list_facets(
    rows: pl.DataFrame, asked: Mapping[str, str], shown: Sequence[str], kb: KnowledgeBase | None
) -> Iterator[page.FacetCounts]:
    """Give what the sentences can be narrowed down by, each value with the number that it would leave."""
    chosen = read_choice(asked)
    plain = {name: value for name, value in asked.items() if name not in ("from", "at", "sort")}

    def tell(name: str, counts: Mapping[str, int], own: str = "", unset: str = "") -> page.FacetCounts:
        """Return the values of a facet with their numbers and the address that each leads to, in place of its own."""
        own = own or plain.get(name, "")
        labels = _call_values(name, [*counts], kb, asked.get("by", ""))
        if name == "agreement":
            labels = {one: called for one in counts if (called := call_agreement(one, shown)) != one}
        told = [
            page.FacetValue(
                labels.get(value, shorten(value)),
                number,
                lead_to_sentences(**{**plain, name: unset if value == own else value}),
                value == own,
                shorten(value) if value in labels else "",
            )
            for value, number in counts.items()
            if number or value == own
        ]
        called = label_of(asked["by"]).words if name == "slice" and "by" in asked else name
        called = "dataset of the text" if name == "within" else called
        called = f"part of {called}" if name == "slice" and called in _FACETS else called  # as of the coarse types
        limit, turned = limit_values(asked, name), lead_to_sentences(**turn_values(plain, name))
        return tell_values(called, told[:limit] + [one for one in told[limit:] if one.chosen], len(told), turned)

    meant = [name for name in shown if chosen.of in ("", name)] or shown
    if "," in asked["dataset"]:
        left = choose_rows(rows, replace(chosen, dataset=""), shown)
        yield tell("within", _count_values(left.select("mention", value=pl.concat_list("dataset"))))
    if len(shown) > 1:
        of_each = {name: choose_rows(rows, replace(chosen, of=name), shown).height for name in shown}
        yield tell("of", of_each)
    of_shown = {value: choose_rows(rows, replace(chosen, show=value), shown).height for value in SHOWN}
    yield tell("show", of_shown, chosen.show)
    left = choose_rows(rows, replace(chosen, error_class=""), shown)
    classes = pl.concat([left.select("mention", value=pl.col(f"{name} class").str.split(" ")) for name in meant])
    yield tell("class", _count_values(classes))
    for name in ("type", *(["slice"] if "slice" in rows.columns else [])):
        left = choose_rows(rows, replace(chosen, **{name: ""}), shown)
        yield tell(name, _count_values(left.select("mention", value=pl.col(name).str.split(SEVERAL))))
    of_both = {
        value: choose_rows(rows, replace(chosen, agreement=value), shown).height
        for value in (*(AGREEMENT if len(shown) > 1 else ()), ALL_MISS)
    }
    yield tell("agreement", of_both)
    for name in ("gold", "answer"):
        if said := asked.get(name):
            yield tell(name, {said: choose_rows(rows, chosen, shown).height})


_FACETS = ("of", "show", "class", "type", "agreement", "gold", "answer")
"""What the facets are called beside that of parts."""


def _call_values(facet: str, values: Sequence[str], kb: KnowledgeBase | None, by: str) -> dict[str, str]:
    """Return what people call values of a facet, those that are called by their names left out.

    Those of slices are parts of the column `by`.
    """
    if facet == "class":
        called = {value: label_of_class(value) for value in values}
        return {value: label for value, label in called.items() if label != value}
    named = pl.Series(values, dtype=pl.String)
    if facet == "slice":
        return label_parts(kb, named, by)
    return label_entities(kb, named) if facet in ("gold", "answer") else {}


def _count_values(rows: pl.DataFrame) -> dict[str, int]:
    """Return how many mentions have each of the values of lists, the most frequent first."""
    every = rows.explode("value").drop_nulls("value").filter(pl.col("value") != "").unique(["mention", "value"])
    counts = every.group_by("value").agg(number=pl.len()).sort("number", "value", descending=[True, False])
    return dict(counts.iter_rows())


def turn_sentences(judged: Judgements, asked: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of the sentences before and after those that are shown."""
    shown, (start, count) = name_systems(asked), _read_place(asked)
    number = choose_rows(rows_of_systems(judged, shown), read_choice(asked), shown).height
    places = {"prev": max(0, start - count) if start else -1, "next": start + count}
    return {way: lead_to_sentences(**{**asked, "from": place}) for way, place in places.items() if 0 <= place < number}


def _read_place(asked: Mapping[str, str]) -> tuple[int, int]:
    """Return with which of the sentences the page begins, and how many it shows."""
    start, count = (_number(asked.get(key, ""), default) for key, default in (("from", 0), ("count", PAGE)))
    return start, min(max(count, 1), _MOST)


def _number(said: str, default: int) -> int:
    return min(int(said), 10_000_000) if re.fullmatch("[0-9]{1,9}", said) else default


def _passage(
    row: Mapping[str, Any],
    asked: Mapping[str, str],
    shown: Sequence[str],
    place: str,
    labels: Mapping[str, str],
    *,
    together: bool,
) -> page.Passage:
    before, mention, after = cut_sentence(row)
    looks = [look for name in shown if (look := look_of(row, name))]
    outcome = next((look for look in looks if look != "correct"), looks[0])  # an error of either is marked
    gold = name_gold(row)
    segments = [
        page.Segment(before),
        page.Segment(mention, f"{outcome}{' nil' if gold == 'NIL' else ''}", f"{outcome}; gold: {gold}"),
        page.Segment(after),
    ]
    types = str(row["type"] or "").replace(SEVERAL, " ")
    made = map(label_of_class, str(row[f"{shown[0]} class"] or "").split())
    facets = {"outcome": outcome, "class": _join_words(made), "type": types}
    if "slice" in row:
        facets["slice"] = _join_words(str(row["slice"] or "").split(SEVERAL))
    what = "error " if asked.get("show", ERRORS) == ERRORS else ""
    heading = f"{what}{place}: {name_document(row['name'])}"
    heading += f" ({row['dataset']})" if together else ""
    nth = place.partition(" ")[0]
    href = place_of(row, asked, nth)
    said = (str(row[name] or "") for name in ("gold", *(f"{name} answer" for name in shown)))
    named = [one for each in said for one in read_entities(each)]
    links = {shorten(one): where for one in named if (where := address_of_entity(one))}
    told = [*tell_answers(row, shown, labels)]
    return page.Passage(heading, segments, told, href, facets, links, name_text(nth))


def _join_words(values: Iterable[str]) -> str:
    """Return values apart by spaces: those within them become others, which do not part them."""
    return " ".join(one.replace(" ", "\N{NO-BREAK SPACE}") for one in values)
