"""A worked example: ten documents on which evaluators disagree, with gold and the answers of one system."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.frames import Frames
from remix.names import DBR

__all__ = ["DOCUMENTS", "Document", "example"]


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
