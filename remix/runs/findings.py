"""What a run looks like beside the dataset that it answers: told before anything is scored, with what to do.

Nothing of it changes a run or asks a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from remix import progress
from remix.documents import align
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.question import Question
from remix.scoring import score_inputs
from remix.scoring.choice import case_of, choose
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.matching.offsets import wrong_offsets
from remix.scoring.tasks import takes_spans

FEW = 0.1
"""The share of answers, documents or links below which something looks wrong."""


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, what was found, and what to do where that looks wrong, else nothing."""

    what: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.found}{f' – {self.advice}' if self.advice else ''}"


def findings_of(
    name: str, gold: Frames, run: Frames, own: Frames, task: str, kb: KnowledgeBase | None = None
) -> list[Finding]:
    """Return what is found of a run as it was read and of its answers to a dataset (`own`), about ten lines."""
    with progress.enable(False):  # what scoring says of a run is said here in one line each
        return [*_documents(gold, run, own), *_spans(name, gold, own, task, kb), *_links(gold, own, kb)]


def _documents(gold: Frames, run: Frames, own: Frames) -> Iterator[Finding]:
    """Yield which documents are answered, by what they were found, and which have no answer."""
    every, answered, given = gold.documents.height, own.documents.height, run.documents.height
    plain = [side.documents.drop_nulls("text")["text"].str.strip_chars_end() for side in (gold, run)]
    texts = plain[1].is_in(plain[0].implode()).sum()
    told = run.documents["text"].drop_nulls().len()
    by = f"{texts} with gold's text" if told else "by name, as the run tells no texts"
    others = f"; {told - texts} texts are laid on gold's" if told > texts else ""
    missing, left = every - answered, given - len(align(gold, own, told=False))
    advice = "look whether these are the answers to this dataset" if answered < FEW * every else ""
    yield Finding("documents", f"{answered} of gold's {every} are answered, {by}{others}", advice)
    if missing or left > 0:
        found = f"{missing} of gold's are not in the run, and count as unanswered"
        found += f"; {left} of the run's are not in gold, and are left out" if left > 0 else ""
        yield Finding("missing documents", found, "" if missing < every / 2 else "give the rest of the answers")
    empty = answered - own.one_layer()["document"].n_unique()
    advice = "did the system fail on these, or find nothing?" if empty > answered / 2 else ""
    yield Finding("empty documents", f"{empty} of the {answered} have no answer", advice)


def _spans(name: str, gold: Frames, own: Frames, task: str, kb: KnowledgeBase | None) -> Iterator[Finding]:
    """Yield where the answers stand, by which offsets, whether forms agree, what is told twice, and a trial score."""
    place = ["document", "begin", "end"]
    answers, mentions = own.one_layer(), gold.one_layer().select(place).unique()
    placed = answers.drop_nulls(["begin", "end"])
    met, count = placed.join(mentions, on=place, how="semi").height, placed.height
    needed = 0.9 if takes_spans(task) else FEW
    few = count > 0 and met < needed * count
    advice = (
        f"a run made for {task} was given gold's spans: look whether it is one, or whose spans these are"
        if takes_spans(task)
        else "look whether offsets are of these texts, and in which unit they count"
    )
    yield Finding("spans", f"{met} of {count} answers have the span of a gold mention", advice if few else "")
    if count < answers.height:
        yield Finding("without offsets", f"{answers.height - count} answers are matched by their form and entity")
    inputs = Inputs(gold, {name: own}, Knowledge(kb=kb))
    choice = choose(Question(task=(task,), match=("strong",)))
    wrong = wrong_offsets(case_of(choice.profile.prepare(inputs), choice)).get(name)
    how = f"look as if they count {wrong.names()} ({wrong.extent()})" if wrong else "code points, as given"
    yield Finding("offsets", how, "--fix-offsets reads them so where they are scored" if wrong else "")
    texts = gold.documents.select("document", "text")
    cut = pl.col("text").str.slice(pl.col("begin").clip(0), (pl.col("end") - pl.col("begin")).clip(0))
    told = placed.drop_nulls("surface_form").join(texts, on="document").drop_nulls("text")
    same = told.filter(cut.str.to_lowercase() == pl.col("surface_form").str.to_lowercase()).height
    advice = "are these offsets of another text?" if same < len(told) * (1 - FEW) else ""
    yield Finding("forms", f"{same} of {len(told)} are what the text has there", advice)
    twice = own.links.join(placed.select("annotation", *place), on="annotation").select(*place, "entity")
    again = twice.height - twice.unique().height
    yield Finding("doubles", f"{again} answers repeat another's span and entity", "each counts once" if again else "")
    yield _try(inputs, task)


def _try(inputs: Inputs, task: str) -> Finding:
    """Return the score of a run by its own task, in full, so that a slip shows at once."""
    rows = score_inputs(inputs, choose(Question(task=(task,), match=("strong",))))
    row = rows.filter(pl.col("average") == "micro", pl.col("column") == "", pl.col("task") == task).row(0, named=True)
    said = [f"{short} {row[one] or 0:.3f}" for short, one in (("P", "precision"), ("R", "recall"), ("F1", "f1"))]
    advice = "nearly nothing is right: look at the lines above" if (row["f1"] or 0) < FEW / 2 else ""
    return Finding("trial score", f"{task}, strong, remix: {', '.join(said)}", advice)


def _links(gold: Frames, own: Frames, kb: KnowledgeBase | None) -> Iterator[Finding]:
    """Yield whose entities are linked, how many the knowledge base knows, and how many answers have no link."""
    sides = [_hosts(side) for side in (own, gold)]
    (mine, whose), (_, theirs) = sides
    apart = bool(whose and theirs) and not {*whose} & {*theirs}
    said = ", ".join(f"{host} ({count})" for host, count in whose.items()) or "none"
    advice = f"gold's are of {', '.join(theirs)}: attach a knowledge base that knows both" if apart and not kb else ""
    yield Finding("entities", f"{mine} links, of {said}", advice)
    entities = own.links["entity"].drop_nulls().unique()
    if kb is None:
        yield Finding("known", "no knowledge base is attached, which would tell what it knows")
    elif len(entities):
        known = kb.link_status(entities).filter(pl.col("status") != "unknown").height
        few = known < len(entities) / 2
        advice = "these are of another knowledge base or edition, or misspelt" if few else ""
        yield Finding("known", f"{known} of {len(entities)} different entities are known to {kb.name}", advice)
    nil = own.one_layer().filter(pl.col("is_nil")).height
    advice = "not one has a link: look whether the column of links was read" if nil and not own.links.height else ""
    yield Finding("without link", f"{nil} of {own.one_layer().height} answers are NIL", advice)


def _hosts(frames: Frames) -> tuple[int, dict[str, int]]:
    """Return how many links there are, and by whose entities they are, most first."""
    host = pl.col("entity").str.extract(r"^[a-z]+://([^/]+)/", 1).fill_null("no IRI")
    counted = frames.links.group_by(host=host).len().sort("len", "host", descending=[True, False])
    return frames.links.height, dict(counted.head(4).iter_rows())
