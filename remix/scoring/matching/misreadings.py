"""Runs that seem to mean something else: offsets in other units or beyond the texts, entities of other namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix import progress
from remix.dense import look_up, mark
from remix.documents import align
from remix.errors import Error
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.inputs.entities import KNOWN_WORLD, is_bare
from remix.scoring.matching import Case

FEW = 0.3
"""A run of which fewer answers have the span of a gold mention, or links a namespace of gold, is looked at."""

LEAST = 3
"""So many more answers another reading must make right; a run needs so many links to be looked at."""

_UNITS = {"UTF-16 code units": "utf16", "bytes of UTF-8": "bytes"}


def wrong_offsets(case: Case) -> dict[str, str]:
    """Return, by the name of each run whose offsets seem to mean something else, what they seem to be.

    That is 'shifted by N', 'inclusive ends', 'one-based, inclusive ends', 'UTF-16 code units' or 'bytes of UTF-8': what
    gives the most answers the span of a gold mention, at least twice as many as there are.
    """
    if len(case.answers) < LEAST:
        return {}
    # Pairs are of all answers, also of those in documents that do not count.
    equal = case.overlaps["a"].filter(case.overlaps["equal"]).unique().implode()
    shares = case.answers.group_by("system").agg(answers=pl.len(), equal=pl.col("a").is_in(equal).sum())
    few = shares.filter(pl.col("equal") < FEW * pl.col("answers")).sort("system")
    found = {}
    for system, answers, before in few.select("system", "answers", "equal").iter_rows():
        own = case.answers.filter(system=system).select("a", "doc", "begin", "end").drop_nulls()
        best = _best(own, case.gold, case.known.texts.drop_nulls("text"))
        if best is not None and best[1] >= max(2 * before, before + LEAST):
            name = case.mentions.systems[system]
            found[name] = best[0]
            progress.note(
                f"run '{name}': {before} of its {answers} answers have the span of a gold mention, {best[1]} would if "
                f"its offsets were read as {best[0]}: --fix-offsets reads them so"
            )
    return found


def _best(answers: pl.DataFrame, gold: pl.DataFrame, texts: pl.DataFrame) -> tuple[str, int] | None:
    """Return the reading of offsets that gives the most answers the span of gold, and how many."""
    spans = gold.select("doc", "begin", "end").unique()
    readings = ["inclusive ends", "one-based, inclusive ends", *_shifts(answers, spans)]
    if len(texts) and texts.select((pl.col("text").str.len_bytes() > pl.col("text").str.len_chars()).any()).item():
        readings += list(_UNITS)
    counted = [
        (name, _read_as(answers, name, texts).join(spans, on=["doc", "begin", "end"]).height) for name in readings
    ]
    return max(counted, key=lambda one: one[1], default=None)


def _shifts(answers: pl.DataFrame, spans: pl.DataFrame) -> list[str]:
    """Return the shift that most pairs of spans of one length have, where it is not zero."""
    length = (pl.col("end") - pl.col("begin")).alias("length")
    pairs = answers.select("doc", "begin", length).join(spans.select("doc", length, at="begin"), on=["doc", "length"])
    shifts = pairs.select(shift=pl.col("begin") - pl.col("at"))["shift"].value_counts(name="n")
    best = shifts.sort("n", pl.col("shift").abs(), "shift", descending=[True, False, False]).head(1)["shift"].to_list()
    return [f"shifted by {best[0]}"] if best and best[0] else []


def _read_as(rows: pl.DataFrame, reading: str, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with begin and end as gold's texts count them; `texts` has doc and text."""
    if reading.startswith("shifted by "):
        shift = int(reading.removeprefix("shifted by "))
        return rows.with_columns(pl.col("begin", "end") - shift)
    if reading not in _UNITS:
        first = pl.col("begin") - (1 if reading.startswith("one-based") else 0)
        return rows.with_columns(begin=first, end=pl.col("end") + (0 if reading.startswith("one-based") else 1))
    places = _places(texts, _UNITS[reading])
    for name in ("begin", "end"):
        known = places.select("doc", pl.col("unit").alias(name), place="place")
        rows = rows.join(known, on=["doc", name], how="left", maintain_order="left")
        # What is at no start of a character stays as it is.
        rows = rows.with_columns(pl.coalesce("place", name).alias(name)).drop("place")
    return rows


def _places(texts: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Return doc, unit and place: at which unit the character at a place begins, and one behind the last."""
    parts = texts.select("doc", part=(pl.col("text") + "\0").str.split("")).explode("part")
    size = pl.col("part").str.len_bytes().cast(pl.Int64)
    width = size if unit == "bytes" else pl.when(size == 4).then(2).otherwise(1)
    rows = parts.filter(pl.col("part") != "").with_columns(width=width)
    return rows.select(
        "doc",
        unit=(pl.col("width").cum_sum() - pl.col("width")).over("doc"),
        place=pl.int_range(pl.len(), dtype=pl.Int64).over("doc"),
    )


def read_offsets(inputs: Inputs, readings: Mapping[str, str]) -> Inputs:
    """Return the inputs, the runs that are named with their offsets read as `wrong_offsets` found them."""
    gold, runs, found = inputs.gold, inputs.runs, dict(inputs.runs)
    for name, reading in readings.items():
        pairs, rows = align(gold, runs[name], name, told=False), runs[name].annotations
        texts = pairs.join(gold.documents.select(gold="document", text="text"), on="gold").unique("document")
        named = texts.select(doc="document", text="text").drop_nulls("text")
        read = _read_as(rows.rename({"document": "doc"}), reading, named).rename({"doc": "document"})
        found[name] = replace(runs[name], annotations=read.select(rows.columns))
    return replace(inputs, runs=found)


def tell_beyond(case: Case) -> None:
    """Say of each run how many of its answers lie beyond the texts, and where the first does."""
    lengths = case.known.texts.select("doc", length=pl.col("text").str.len_chars())
    rows = look_up(case.answers, "doc", lengths, ["length"])
    known = pl.col("length").is_not_null()
    wrong = (pl.col("end") > pl.col("length")) | (pl.col("begin") < 0) | (pl.col("end") < pl.col("begin"))
    beyond = rows.filter(known & wrong).join(case.mentions.documents, on="doc", maintain_order="left")
    for (system,), own in beyond.group_by("system", maintain_order=True):
        row = own.row(0, named=True)
        place = f"{row['begin']} to {row['end']} of {row['length']} characters in <{row['document']}>"
        name = case.mentions.systems[int(str(system))]
        progress.note(
            f"run '{name}': {len(own)} answers beyond the text of their document are wrong; the first is {place}"
        )


def tell_namespaces(case: Case) -> None:
    """Say of each run whose entities are of other namespaces than gold's: which, and what would join the two.

    What would is the sameAs links of a knowledge base of the shelf, counted on the answers that have the span of a
    linked mention of gold.
    """
    mentions = case.mentions
    if len(mentions.answer_links) < LEAST:
        return
    # What stands before the last part of an IRI.
    namespace = pl.coalesce(pl.col("iri").str.extract(one) for one in (KNOWN_WORLD, r"^(?:http://)?(.*[/#:])[^/#:]*$"))
    namespace = pl.when(is_bare(pl.col("iri"))).then(pl.lit("no namespace")).otherwise(namespace)
    named = mentions.iris.with_columns(namespace=namespace)
    ours = named["namespace"].filter(pl.Series(mark(mentions.gold_links["entity"], len(named)))).unique()
    same = named["namespace"].is_in(ours.implode())
    links = mentions.answer_links.select("a", same=same.gather(mentions.answer_links["entity"]))
    links = look_up(links, "a", mentions.answers, ["system"])
    shares = links.group_by("system").agg(linked=pl.len(), same=pl.col("same").sum()).sort("system")
    apart = shares.filter((pl.col("linked") >= LEAST) & (pl.col("same") < FEW * pl.col("linked")))
    if ours.is_empty() or apart.is_empty():
        return
    gold = mentions.gold_links.join(named, on="entity")
    answers = mentions.answers.select("a", "system").join(mentions.answer_links, on="a").join(named, on="entity")
    for system in apart["system"]:
        own = answers.filter(pl.col("system") == system)
        pairs = case.overlaps.filter("equal").select("a", "g", "link")
        pairs = pairs.join(own.select("a", answer="iri"), on="a").join(gold.select("g", gold="iri"), on="g")
        on_span, right = pairs["a"].n_unique(), pairs.filter("link")["a"].n_unique()
        if right >= max(1, FEW * on_span):
            continue
        name = mentions.systems[system]
        progress.note(
            f"run '{name}' and gold name entities in different worlds: its {len(own)} links are of {_count(own)}, "
            f"gold's {len(gold)} of {_count(gold)}; {right} of the {on_span} answers that have the span of a linked "
            f"mention of gold have its entity{_joining(pairs, right, case.known.inputs.knowledge)}"
        )


def _count(links: pl.DataFrame) -> str:
    """Return the namespaces with their numbers, the most frequent first."""
    rows = links.group_by("namespace").len().sort(["len", "namespace"], descending=[True, False])
    shown = [f"{namespace} ({count})" for namespace, count in rows.head(3).iter_rows()]
    return ", ".join([*shown, *(["…"] if len(rows) > len(shown) else [])])


def _joining(pairs: pl.DataFrame, right: int, known: Knowledge) -> str:
    """Return how many answers a knowledge base would make right, and the command that attaches the best.

    The one that is attached does not.
    """
    from remix.kb import KnowledgeBase

    kb = known.kb
    found = [(0, "")]
    for folder in known.shelf:
        try:
            other = KnowledgeBase.open(folder)
        except Error:  # one that an older version built, or that is gone
            continue
        if kb is None or other.version != kb.version:
            joined = pairs.filter(other.resolve(pairs["answer"]) == other.resolve(pairs["gold"]))
            found.append((joined["a"].n_unique(), folder.name))
    count, best = max(found)
    if count >= max(2 * right, right + 1):
        return f"; {count} would by the sameAs links of a knowledge base that is there: `remix kb attach {best}`"
    attached = f"; the sameAs links of '{kb.name}', which is attached, do not join them" if kb is not None else ""
    return (
        f"{attached}; a knowledge base with sameAs links between the two does: `remix kb build --name joined --from "
        "tables DIR`, with a sameas.tsv in DIR"
    )
