"""A remix of a list of errors has the mentions of the list, or the page says what it has, or why there is none."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.names import DBO, DBR
from remix.remixes.facets import corpus_of
from remix.web.choices import read_choices
from remix.web.page import VIEWS, Note, Page
from remix.workspace import Workspace
from tests.web.test_errors import asked_by

_KINDS = {"Ada": ["Person"], "Rome": ["Place"], "Paris": ["Place", "Person"], "Acme": ["Organisation"], "Thing": []}
"""What mentions link to, with the classes that gold says of it."""
_WORDS = ("Ada", "saw", "Bob", "near", "Rome", "when", "Acme", "sold", "Paris", "again")
_PLACES = (
    ("type:coarse", "Person"),
    ("type:coarse", "Place"),
    ("type:coarse", "unspecified"),
    ("is_nil", "true"),
    ("is_nil", "false"),
    ("formMultiword", "false"),
    ("surface_form", "Rome"),
)


def _annotate(documents: dict[str, str], chance: random.Random, *, answers: bool) -> Frames:
    """Return random mentions of texts: alternatives on one span, two mentions on one, NIL; some answers are cut."""
    rows, links, classes = [], [], []
    for name, text in documents.items():
        for word in re.finditer(r"\w+", text):
            if chance.random() < 0.35:
                continue
            begin, end = word.span()
            end = begin + 1 + (end - begin) // 2 if answers and chance.random() < 0.15 else end
            several = chance.random() < (0.15 if answers else 0.5)
            apart = answers or chance.random() < 0.3
            for nth, entity in enumerate(chance.sample([*_KINDS], 2 if several else 1)):
                iri, nil = f"{name}#char={begin},{end};{nth}", chance.random() < 0.12
                row = {"annotation": iri, "document": name, "begin": begin, "end": end, "is_nil": nil}
                group = iri if apart or not several else f"{name}#{begin}"
                rows.append(row | {"surface_form": text[begin:end], "group": group, "option": iri})
                links += [] if nil else [{"annotation": iri, "entity": DBR + entity}]
                classes += (
                    [] if nil or answers else [{"annotation": iri, "class": DBO + kind} for kind in _KINDS[entity]]
                )
    texts = pl.DataFrame({"document": [*documents], "text": [*documents.values()]})
    typed = pl.DataFrame(classes, schema={"annotation": pl.String, "class": pl.String})
    return Frames.of(documents=texts, annotations=pl.DataFrame(rows), links=pl.DataFrame(links), classes=typed)


def _make(folder: Path, chance: random.Random) -> Workspace:
    """Load three datasets, two of which share texts, one of them under another name, and register two systems."""
    texts = {f"urn:text:{nth}": " ".join(chance.choices(_WORDS, k=6)) for nth in range(7)}

    def some(*numbers: int) -> dict[str, str]:
        return {f"urn:text:{nth}": texts[f"urn:text:{nth}"] for nth in numbers}

    datasets = {"first": some(0, 1, 2, 3), "second": some(1, 2, 4) | {"urn:text:other": texts["urn:text:0"]}}
    datasets["third"] = some(5, 6)
    work = Workspace(folder / ".remix")
    for name, documents in datasets.items():
        write_frames(_annotate(documents, chance, answers=False), folder / f"{name}.nt")
    work.load([folder / f"{name}.nt" for name in datasets])
    work.enrich()
    for system in "ab":
        for name, documents in datasets.items():
            write_frames(_annotate(documents, chance, answers=True), file := folder / f"{system}-{name}.nt")
            work.add_run(system, file, on=name)
    return work


def _choose(chance: random.Random) -> dict[str, str]:
    """Return what an address of the page may ask for."""

    def perhaps(**values: Sequence[str]) -> dict[str, str]:
        return {name: chance.choice(known) for name, known in values.items() if chance.random() < 0.4}

    asked = {"dataset": chance.choice(["first", "second", "third", "first,second,third", "second,third"])}
    asked["system"], other = chance.choice([("a", "b"), ("b", "a")])
    asked |= perhaps(other=[other], show=["errors", "correct", "wrong", "missed", "all"])
    asked |= perhaps(type=["Person", "Place", "NIL", "untyped", "other"])
    asked |= {"class": one} if (one := chance.choice(["", "wrong_link", "nil_as_link", "missing"])) else {}
    asked |= perhaps(agreement=["only the first right", "neither right", "missed by all"])
    asked |= dict(zip(("by", "slice"), chance.choice(_PLACES), strict=True)) if chance.random() < 0.5 else {}
    asked |= perhaps(of=["a", "b"]) if "other" in asked else {}
    return asked | (perhaps(within=asked["dataset"].split(",")) if "," in asked["dataset"] else {})


def _list_remix(work: Workspace, asked: dict[str, str]) -> Counter[tuple[object, ...]]:
    """Return the mentions that the builder counts, by their document, place and entities."""
    found = read_choices(corpus := corpus_of(work.store), asked).narrow(corpus)
    frames = work.store.frames()
    required = frames.annotations.filter(pl.col("ignorable").is_null()).drop("given")
    selected = required.filter(pl.col("annotation").is_in(found.annotations[-1].implode()))
    rows = required.join(selected, on=["document", "group"], how="semi").join(frames.links, on="annotation", how="left")
    rows = rows.join(frames.documents.select("document", "given"), on="document")
    entity = pl.col("entity").fill_null("NIL").unique().sort().str.join(" or ")
    mentions = rows.group_by("document", "group").agg(pl.col("given", "begin", "end").first(), entity)
    assert found.left["mentions"][-1] == mentions.height
    return Counter(mentions.select("given", "begin", "end", "entity").rows())


def _list_page(page: Page) -> Counter[tuple[object, ...]]:
    rows = page.tables["errors"].drop_nulls("gold")
    return Counter(rows.select("document", "begin", "end", "gold").rows())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_remix_of_any_choice_has_the_mentions_of_the_page_or_the_page_says_what_it_has(
    tmp_path: Path, seed: int
) -> None:
    """Of 30 random choices most are a remix; what shared texts say otherwise is told with its number."""
    chance = random.Random(seed)
    work, equal = _make(tmp_path, chance), 0
    for asked in [_choose(chance) for _ in range(30)]:
        page = VIEWS["errors"].show(work, asked)
        if page.dropped:
            continue
        notes = [block for block in page.blocks if isinstance(block, Note)]
        linked = [block for block in notes if "Make this a remix" in block.links]
        if not linked:
            assert any(one.text.startswith("No remix has just") for one in notes), asked
            continue
        made = _list_remix(work, asked_by(linked[0].links["Make this a remix"]))
        if said := re.search(r"the remix has ([\d,]+): (.*)\):", linked[0].text):
            assert int(said[1]) == made.total(), asked
            # One dataset differs by what it says twice alone.
            assert "," in asked["dataset"] or "twice" in said[2], asked
        else:
            assert made == _list_page(page), asked
            equal += 1
    assert equal > 6
