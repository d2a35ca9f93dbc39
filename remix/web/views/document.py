"""One document with its annotations in the text, told apart by any column or by what a system made of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.formats.nif.writing import terms_of
from remix.kb.lookup import SHOWN, list_candidates
from remix.measures import Measured
from remix.measures.enrichment import frames_of, measures_of
from remix.measures.labels import call_measures, headings_of_measures, label_of, words_of_measures
from remix.names import shorten
from remix.rdf.ntriples import columns
from remix.rdf.turtle import turtle
from remix.reports.documents import (
    STANDS_FOR,
    class_annotations,
    describe_annotation,
    explain_columns,
    list_annotations,
)
from remix.reports.labels import label_entities
from remix.reports.sentences import (
    ERRORS,
    EXTRA,
    call_classes,
    name_document,
)
from remix.runs.judgements import OUTCOMES, Judgements, list_entities, rename_entities
from remix.web import forms, page
from remix.web.addresses import address, address_of_entity, name_mention, split_names
from remix.web.answers import judge, list_answers, may_have_failed
from remix.web.error_choice import CHOICES, choose_matching, name_systems, read_choice, with_matching
from remix.web.error_walk import WALK, ErrorStep, find_step, fit_walk, keep_walk, tell_lost
from remix.web.marked_text import Mark, lay_out

_OUTCOME = "outcome"
_UNFOLDED = 100
"""Annotations of a document whose table is shown at once, and whose text is as high as it is."""
_FAR = 1000
"""Characters before the first mention of a text from which on a link leads to it."""
_LISTED = 500
"""Documents of a dataset that are listed to choose one; of more the name is written."""
_KEPT = ("name", "system", "other", "colour", "annotation", *WALK, *CHOICES)
_OF_ERRORS = tuple(name for name in CHOICES if name != "match")
"""What is a part of the errors of a dataset, and means nothing of a document that is not at one of them."""
_LOOKS = {
    "correct": OUTCOMES["correct"],
    "wrong": "an answer is on the mention and has another entity",
    EXTRA: "an answer is where gold has no mention",
    **{name: OUTCOMES[name] for name in ("missed", "ignored")},
}
"""What the looks of mentions say of a system; an answer where gold has none is told apart from a wrong link."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Document", [page.NOTHING])
    dataset = work.store.dataset(parameters.get("dataset", "")).name
    documents = _documents(work, dataset)
    asked = with_matching({"dataset": dataset, **{key: parameters.get(key, "") for key in _KEPT}})
    asked, unled = _fit_walk(asked)
    asked, judged, systems, dropped = _complete(work, asked)
    document, missing = _find(work, documents, dataset, asked["name"])
    asked["name"] = document["called"]
    rows = work.store.cached(
        ("annotations", dataset), lambda: list_annotations(frames_of(work.store, dataset), measures_of(work.store))
    )
    own = rows.filter(document=document["document"])
    labels = label_entities(work.kb, own["entities"].str.split(" ").explode())
    own = _name_entities(own, labels)
    if asked["colour"] == _OUTCOME and systems:
        asked["system"] = asked["system"] or systems[0]
    if judged is not None and asked["error"] and asked["system"]:
        asked, unfit = fit_walk(work, judged, asked)
        dropped += unfit
    step = None if judged is None else find_step(work, judged, asked, document)
    walk, told = keep_walk(asked, step), [] if step is None else [step.note]
    if step is not None:
        asked |= {"error": str(step.number), "mention": ""}
    elif asked["error"]:
        if not asked["system"]:
            dropped.append(UsageError(f"error={asked['error']} is one of a system, and the address names none"))
        elif not asked["mention"]:
            dropped.append(UsageError(f"no error {asked['error']} of those that are chosen is in this document"))
        told = [tell_lost(asked)]
        asked |= dict.fromkeys((*WALK, *_OF_ERRORS), "")
    blocks: list[page.Shown] = [_form(work, rows, documents, systems, asked, walk), *told]
    legend, passages = _read(work, rows, own, document, judged, asked, step)
    boxed = own.height > _UNFOLDED
    blocks.append(page.Passages(passages, paired=len(passages) > 1, boxed=boxed, legend=legend))
    beside = _beside(work, own, judged, asked) if asked["annotation"] else ()
    turned = "document" if step is None else "error" if asked["show"] in ("", ERRORS) else "mention"
    keys = (
        f"The keys n and p lead to the next and the previous mention, the arrow keys to the next and previous {turned}."
    )
    hint = f"A mention in the text leads to its candidates, the answers of systems, and its RDF. {keys}"
    links = {"What is known of this mention": "#columns"} if beside else _lead_to_first(own)
    blocks.append(page.Note("" if beside else hint, links=links))
    place = address("document.ttl", dataset=dataset, name=asked["name"])
    leads = {"the document as NIF (.ttl)": place, "its dataset": address("dataset", name=dataset)}
    if judged is not None and len(failed := judged.failures.filter(document=document["document"])["system"]):
        blocks.append(page.Note(f"No answer is here of {', '.join(failed.sort())}, which failed on this document."))
    blocks += [_table(own, asked, labels), page.Note("There is as well:", links=leads)]
    return page.Page(
        f"{dataset}: {name_document(document['called'])}",
        blocks,
        beside,
        neighbours=_neighbours(documents, document, asked) if step is None else step.neighbours,
        turns=turned,
        dropped=[*unled, *dropped, *missing],
    )


def _lead_to_first(own: pl.DataFrame) -> dict[str, str]:
    """Return the place of the first mention in the page, where much of the text comes before it."""
    first = own.drop_nulls(["begin", "end"]).sort("begin", pl.col("end"), descending=[False, True]).head(1)
    far = first.filter(pl.col("begin") > _FAR)
    return {"the first mention": f"#{name_mention(far['begin'][0], far['end'][0])}"} if far.height else {}


def _fit_walk(asked: dict[str, str]) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without what names one of errors or of their parts where it is at none, and what is said.

    Raises `UnknownName` for a choice among errors that there is not.
    """
    read_choice(asked)
    if not asked["error"]:
        unled = [name for name in ("mention", "among", *_OF_ERRORS) if asked[name]]
        told = "is of a walk through errors, and the address is at none of them: the page Errors leads to each"
        wrong = [UsageError(f"{name}={asked[name]} {told}") for name in unled]
        return {**asked, **dict.fromkeys(unled, "")}, wrong
    dropped = list[UsageError]()
    if asked["mention"] and not re.fullmatch(r"\d{1,9}-\d{1,9}", asked["mention"]):
        dropped.append(UsageError(f"mention={asked['mention']} is no place of a mention, such as 0-3"))
        asked = {**asked, "mention": ""}
    return asked, dropped


def _complete(
    work: page.Explored, asked: dict[str, str]
) -> tuple[dict[str, str], Judgements | None, list[str], list[UsageError]]:
    """Return what is asked, what systems made of the dataset, which these are, and what of them did not fit.

    A system that is not on the dataset is left out.
    """
    dataset, dropped = asked["dataset"], list[UsageError]()
    runs = list_answers(work, [dataset, *split_names(asked["among"])])
    systems = sorted({run.system for run in runs if run.dataset == dataset})
    for key in ("system", "other"):
        if asked[key] and asked[key] not in systems:
            dropped.append(UnknownName(f"run on {dataset}", asked[key], systems, "remix run list"))
            asked = {**asked, key: "", **dict.fromkeys(WALK, "")}
    if unknown := {*split_names(asked["among"])} - {run.dataset for run in runs}:
        known = sorted({run.dataset for run in runs})
        dropped.append(UnknownName("dataset with a run", min(unknown), known, "remix run list"))
        asked |= dict.fromkeys(WALK, "")
    if asked["other"] and not asked["system"]:
        asked = {**asked, "system": asked["other"], "other": ""}
    if asked["other"] and asked["other"] == asked["system"] and not asked["error"]:
        dropped.append(UsageError(f"{asked['other']} does not stand beside itself"))
        asked = {**asked, "other": ""}
    by = asked["by"] if asked["error"] else ""
    # The text alone shows nothing that systems made of it.
    shows = asked["system"] or asked["annotation"] or asked["error"] or asked["colour"] == _OUTCOME
    needed = shows or may_have_failed(work, dataset)
    judged = judge(work, dataset, by, match=asked["match"]) if systems and needed else None
    return asked, judged, systems, dropped


def _documents(work: page.Explored, dataset: str) -> pl.DataFrame:
    return (
        frames_of(work.store, dataset).documents.with_columns(called=pl.coalesce("given", "document")).with_row_index()
    )


def _find(
    work: page.Explored, documents: pl.DataFrame, dataset: str, name: str
) -> tuple[dict[str, Any], list[UsageError]]:
    """Return the document of a name, without one the first, which is also that for the name of another dataset's."""
    found = documents.filter((pl.col("called") == name) | (pl.col("document") == name)) if name else documents
    if len(found):
        return found.row(0, named=True), []
    wrong = UnknownName("document", name, documents["called"])
    every = frames_of(work.store).documents
    if every.filter((pl.col("given") == name) | (pl.col("document") == name)).is_empty() or documents.is_empty():
        raise wrong
    return documents.row(0, named=True), [wrong]


def _neighbours(documents: pl.DataFrame, document: Mapping[str, Any], asked: page.Parameters) -> dict[str, str]:
    places = {"prev": document["index"] - 1, "next": document["index"] + 1}
    return {
        way: address(
            "document",
            **{**asked, "name": documents["called"][place], "annotation": "", **dict.fromkeys(WALK, "")},
        )
        for way, place in places.items()
        if 0 <= place < documents.height
    }


def _form(
    work: page.Explored,
    rows: pl.DataFrame,
    documents: pl.DataFrame,
    systems: Sequence[str],
    asked: page.Parameters,
    walk: Sequence[forms.Field],
) -> forms.Form:
    """Return the form, which keeps the walk through errors that the document is a step of."""
    groups = [name for name in rows.columns if name.startswith("category ")]
    known = [name for name in explain_columns(measures_of(work.store)) if STANDS_FOR.get(name, name) in rows.columns]
    colours = dict.fromkeys(["", *known[:3], *groups, *([_OUTCOME] if systems else []), *known])
    colours.pop("surface_form", None)
    names = documents["called"].to_list()
    said = "By default by what the system made of each mention, without a system by type."
    fields = [
        forms.choose("dataset", "dataset", [entry.name for entry in page.list_datasets(work)], asked["dataset"]),
        forms.Field(
            "name",
            "document",
            asked["name"],
            names,
            "choice" if len(names) <= _LISTED else "text",
            words={name: f"{nth}. {name_document(name)}" for nth, name in enumerate(names[:_LISTED], 1)},
        ),
        forms.Field(
            "colour",
            "colour by",
            asked["colour"],
            [*colours],
            "choice",
            explained=said,
            words={"": "(by itself)", **words_of_measures(colours)},
        ),
        forms.choose("system", "answers of", ["", *systems], asked["system"], nothing="(none)"),
    ]
    if systems:
        fields.append(forms.choose("other", "beside them those of", ["", *systems], asked["other"], nothing="(none)"))
        fields.append(choose_matching(asked))
    return forms.Form([*fields, *walk])


def _read(
    work: page.Explored,
    rows: pl.DataFrame,
    own: pl.DataFrame,
    document: Mapping[str, Any],
    judged: Judgements | None,
    asked: page.Parameters,
    step: ErrorStep | None,
) -> tuple[page.Legend, list[page.Passage]]:
    """Return the text with its marks, of two systems twice, and what the looks of the marks mean."""
    text, at = document["text"] or "", None if step is None else (step.row["begin"], step.row["end"])
    colour = asked["colour"] or (_OUTCOME if asked["system"] else "type")
    shown = (name_systems(asked) if colour == _OUTCOME else []) or [""]
    legend, passages, taken = page.Legend("", []), list[page.Passage](), set[str]()
    for nth, system in enumerate(shown):
        one = {**asked, "colour": colour}
        marks, legend = _marks(work, rows, own, document["document"], judged, one, system, at)
        if nth:  # a place of the page is named once; what the first text has not marked is looked for here
            marks = [_rename(mark, nth) if mark.name in taken else mark for mark in marks]
        taken |= {mark.name for mark in marks}
        segments, notes = lay_out(text, marks)
        passages.append(page.Passage(system if len(shown) > 1 else "", segments, notes))
    return legend, passages


def _rename(mark: Mark, nth: int) -> Mark:
    """Return a mark with the name of its place in the text as it stands there again, to which it leads itself."""
    name = name_mention(mark.begin, mark.end, nth)
    return replace(mark, name=name, href=f"{mark.href.partition('#')[0]}#{name}" if mark.href else "")


def _marks(
    work: page.Explored,
    rows: pl.DataFrame,
    own: pl.DataFrame,
    document: str,
    judged: Judgements | None,
    asked: page.Parameters,
    system: str,
    at: tuple[int, int] | None,
) -> tuple[list[Mark], page.Legend]:
    """Return the stretches of a document's text that are annotated, and what their looks mean; `at` one is chosen.

    `own` are the annotations of the document among the `rows` of the dataset.
    """
    if system and judged is not None:
        found = _outcomes(own, judged, system, document)
        looks, said = {row["annotation"]: row["outcome"] for row in found}, {row["annotation"]: row for row in found}
        every_system = " and ".join(name_systems(asked))
        legend = page.Legend(
            f"What {every_system} made of each mention:", [page.Segment(n, n, _LOOKS[n]) for n in _LOOKS]
        )
        alone = [row for row in found if row["annotation"] is None]
    else:
        column = "type" if asked["colour"] == _OUTCOME else asked["colour"]
        classed = class_annotations(rows, column, measures_of(work.store), document)
        classes = {name: f"look look-{nth}" for nth, name in enumerate(classed.names)}
        looks, said, alone = {one: classes[name] for one, name in classed.values.items()}, {}, []
        legend = page.Legend(
            f"{label_of(column).words}: {classed.meaning}", [page.Segment(*pair) for pair in classes.items()]
        )
    marks = []
    spans: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for row in own.drop_nulls(["begin", "end"]).iter_rows(named=True):
        spans.setdefault((row["begin"], row["end"]), []).append(row)
    for (begin, end), every in spans.items():
        known = [row for row in every if row["annotation"] in looks] or every
        first = next((row for row in every if row["annotation"] == asked["annotation"]), known[0])
        look = looks.get(first["annotation"], "unjudged") + (" nil" if first["is_nil"] else "")
        look += "" if any(row["ignorable"] is None for row in every) else " ignorable"
        chosen = first["annotation"] == asked["annotation"] or (begin, end) == at
        label = "; ".join(dict.fromkeys(_label(row, said.get(row["annotation"])) for row in every))
        href = address("document", **{**asked, "annotation": first["annotation"]})
        name = name_mention(begin, end)
        marks.append(Mark(begin, -end, look + " chosen" * chosen, label, f"{href}#{name}", name))
    for begin, end, outcome, answer in dict.fromkeys(
        (row["begin"], row["end"], row["outcome"], row["answer"]) for row in alone
    ):
        look = EXTRA if outcome == "wrong" else outcome
        name = "" if (begin, end) in spans else name_mention(begin, end)
        label = f"{look}: {shorten(answer or 'NIL')}, where gold has no mention"
        marks.append(Mark(begin, -end, look + " chosen" * ((begin, end) == at), label, "", name))
    return marks, legend


def _outcomes(own: pl.DataFrame, judged: Judgements, system: str, document: str) -> list[dict[str, Any]]:
    """Return annotation (null where gold has none), begin, end, outcome and answer of a system in a document.

    Alternatives have one outcome, that of their group.
    """
    columns = ["annotation", "begin", "end", "outcome", "answer"]
    found = judged.mentions.join(judged.systems.filter(system=system), on="mention")
    groups = found.select("annotation", "outcome", "answer").join(own.select("annotation", "group"), on="annotation")
    of_gold = own.select("annotation", "begin", "end", "group").join(
        groups.select("group", "outcome", "answer").unique("group"), on="group", maintain_order="left"
    )
    alone = found.filter(pl.col("annotation").is_null(), document=document)
    ignored = own.filter(pl.col("ignorable").is_not_null()).with_columns(outcome=pl.lit("ignored"), answer=None)
    parts = (rows.select(columns).cast({"answer": pl.String}) for rows in (of_gold, alone, ignored))
    return pl.concat(parts, how="vertical_relaxed").to_dicts()


def _label(row: Mapping[str, Any], judged: Mapping[str, Any] | None) -> str:
    gold = row["called"] or "NIL"
    ignored = f", ignorable ({row['ignorable']})" if row["ignorable"] else ""
    answer = "" if judged is None else f"; {judged['outcome']}, answer: {_shorten(judged['answer']) or 'none'}"
    return f"{row['surface_form']}: {gold}, {row['type']}{ignored}{answer}"


def _shorten(entities: str | None) -> str:
    return rename_entities(entities or "", shorten)


def _name_entities(own: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return the annotations with `entity`, short names of what they link to, and `called`: labels before these."""
    several = pl.col("entities").str.split(" ")
    short = several.list.eval(pl.element().map_elements(shorten, return_dtype=pl.String)).list.join(" or ")
    named = {iri: f"{label} ({shorten(iri)})" for iri, label in labels.items()}
    called = several.list.eval(
        pl.element().replace_strict(named, default=pl.element().map_elements(shorten, return_dtype=pl.String))
    ).list.join(" or ")
    return own.with_columns(entity=short, called=called)


def _tell_ignorable(own: pl.DataFrame) -> str:
    """Return how many of the rows count as mentions, and why the others do not, where there are others."""
    others = own.drop_nulls("ignorable")
    if others.is_empty():
        return ""
    mentions = own.filter(pl.col("ignorable").is_null()).select(pl.struct("group").n_unique()).item()
    reasons = others.group_by("ignorable").len().sort("len", "ignorable", descending=[True, False])
    told = ", ".join(f"{number} {_REASONS.get(name, name)}" for name, number in reasons.iter_rows())
    count = "1 mention counts" if mentions == 1 else f"{mentions} mentions count"
    left = "1 annotation is" if others.height == 1 else f"{others.height} annotations are"
    return f"{count}, and {left} ignorable, which no number counts: {told}. A dotted edge tells these in the text."


_REASONS = {"layer": "of another layer of the file"}
"""Why an annotation is ignorable, in words, by what the data call it."""


def _table(own: pl.DataFrame, asked: page.Parameters, labels: Mapping[str, str]) -> page.Table:
    shown = ["begin", "end", "surface_form", "entity", "type", "is_nil", "ignorable", "confidence"]
    shown = [name for name in shown if name not in ("ignorable", "confidence") or own[name].count()]
    extra = [name for name in (asked["colour"],) if name in own.columns and name not in shown]
    links = {"surface_form": lambda row: address("document", **{**asked, "annotation": row["annotation"]})}
    return page.Table(
        "annotations",
        own.select(*shown, *extra, "entities", "annotation"),
        links,
        _tell_ignorable(own),
        leads="A surface form leads to all of it.",
        folded=own.height > _UNFOLDED,
        headings=headings_of_measures(["surface_form", "is_nil", *extra]),
        labels={shorten(iri): label for iri, label in labels.items()},
        unseen=("entities", "annotation"),
    )


def _beside(
    work: page.Explored, own: pl.DataFrame, judged: Judgements | None, asked: page.Parameters
) -> list[page.Shown]:
    """Return what is known of one annotation: its columns, candidates, answers of systems, and RDF."""
    chosen = own.filter(annotation=asked["annotation"])
    if chosen.is_empty():
        raise UnknownName("annotation", asked["annotation"], own["annotation"])
    row = chosen.row(0, named=True)
    blocks: list[page.Shown] = [
        page.Note(f"“{row['surface_form']}”, {row['begin']} to {row['end']}: {row['called'] or 'NIL'}")
    ]
    if judged is not None:
        mention = judged.mentions.filter(annotation=row["annotation"]).select("mention")
        answers = judged.systems.join(mention, on="mention").drop("mention")
        words = "What each registered run answered here."
        made = {one: call_classes(one) for one in answers["classes"].drop_nulls().unique()}
        labels = made | label_entities(work.kb, list_entities(answers["answer"]))
        small = {"outcome": "classes", "answer": "answered"}
        links = {"answer": lambda row: address_of_entity(row["answer"])}
        blocks.append(page.Table("answers", answers, links, words, small=small, labels=labels))
    blocks += [
        _candidates(work, row),
        _describe(row, measures_of(work.store)),
    ]
    index = work.store.cached("index", work.store.index)
    lines = index.about(pl.Series([f"<{row['annotation']}>"]))["line"]
    text = turtle(columns("".join(f"{line}\n" for line in lines.unique()).encode())).decode()
    return [*blocks, page.Code("RDF", text, words="All that the store says of it, in data, measures and runs.")]


def _describe(row: Mapping[str, Any], measured: Measured) -> page.Table:
    said = describe_annotation(row, measured)
    said = said.select("column", call_measures(said["column"]), "value", "says")
    small, headings = {"called": "column", "value": "says"}, {"called": ("column", "")}
    return page.Table("columns", said, words="All that is known of it.", small=small, headings=headings)


def _candidates(work: page.Explored, row: Mapping[str, Any]) -> page.Shown:
    """Return the first candidates of the annotation's form in the knowledge base, as measures see it."""
    if (kb := work.kb) is None:
        return page.Note("Without a knowledge base there are no candidates.", ["remix kb attach", "remix kb build"])
    try:
        found = list_candidates(kb.without_gold(), row["surface_form"] or "", SHOWN)
    except UnknownName:
        return page.Note(f"The knowledge base has no candidate for “{row['surface_form']}”.")
    number, place = found["of"][0], row.get("candidateRank")
    words = f"The first {found.height} of {number}" if number > found.height else f"All {number}"
    words += f", by how often the form means them; gold's entity has the rank {place or '(none of them)'}"
    if place is not None and (tied := found.filter(rank=place)["tied"].to_list()[:1]) and tied[0] > 1:
        words += f", as {tied[0] - 1} others have, which no count and no PageRank tells from it"
    said = [name for name in found.columns if found[name].null_count() < found.height and name not in ("of", "tied")]
    links = {"entity": lambda row: address_of_entity(row["entity"])}
    iris = {one: address_of_entity(one) for one in found["entity"]}
    known = label_entities(work.kb, pl.Series([iri for iri in iris.values() if iri], dtype=pl.String))
    labels = {one: known[iri] for one, iri in iris.items() if iri in known}
    named = shlex.quote(row["surface_form"] or "")
    more = f"All are shown by `remix kb lookup {named} --limit {number}`." if number > found.height else ""
    return page.Table("candidates", found.select(said), links, f"{words}.", labels=labels, below=more)


def _write(work: page.Explored, parameters: page.Parameters) -> page.Download:
    """Return the document as NIF, with the IRIs that its file gave."""
    dataset = work.store.dataset(parameters.get("dataset", "")).name
    document, _ = _find(work, _documents(work, dataset), dataset, parameters.get("name", ""))
    kept = frames_of(work.store, dataset).keep(documents=pl.Series([document["document"]]))
    name = str(document["called"]).rstrip("/").rpartition("/")[2] or "document"
    return page.Download(turtle(terms_of(kept, given=True)), "text/turtle", f"{dataset}-{name}.ttl")


def _example(work: page.Explored) -> dict[str, str]:
    for entry in page.list_datasets(work)[:1]:
        frames = frames_of(work.store, entry.name)
        first = frames.documents.row(0, named=True)
        own = frames.annotations.filter(document=first["document"])["annotation"].head(1).to_list()
        return {"dataset": entry.name, "name": first["given"] or first["document"], "annotation": "".join(own)}
    return {}


document = page.View(
    "document",
    "Document",
    _show,
    subject=("dataset", "name"),
    example=_example,
    downloads={"ttl": _write},
    parameters=("dataset", *_KEPT),
)
