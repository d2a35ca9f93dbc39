"""Texts and answers in the protocol of NIF web services, as GERBIL speaks it: a context in RDF, phrases, their links.

A request is one document in Turtle: the context with its text and, in D2KB, a phrase for each span to link, without a
link. An answer is RDF in any syntax. Both sides of the protocol are written and read here: what asks services
(`remix.systems.adapters.nif`) and what serves systems of ours (`remix.web.annotator`). Offsets are code points.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pyoxigraph as ox

from remix.connections import Failure
from remix.formats.nif.mending import mend_iris
from remix.formats.nif.parsing import syntax_of
from remix.formats.repairs import RepairTally
from remix.names import ITSRDF, NIF, RDF, XSD
from remix.systems.asked import LinkedSpan, TextAnswer, TextAsked
from remix.systems.placing import Placing, read_number

TURTLE = "application/x-turtle"
"""The media type by which GERBIL names Turtle."""
_MEDIA = {
    "application/x-turtle": ox.RdfFormat.TURTLE,
    "text/turtle": ox.RdfFormat.TURTLE,
    "text/rdf+n3": ox.RdfFormat.N3,
    "text/n3": ox.RdfFormat.N3,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/trig": ox.RdfFormat.TRIG,
    "application/n-quads": ox.RdfFormat.N_QUADS,
}
_PLACE = re.compile(r"[#/;,?&](?:char=|offset_)?([0-9]+)[,_]([0-9]+)$")
_BASE = "http://www.aksw.org/gerbil/NifWebService/"

Said = Mapping[str, list[ox.NamedNode | ox.BlankNode | ox.Literal]]
"""What is said of a subject: the objects by the predicate's IRI."""


def write_context(text: TextAsked, answer: TextAnswer | None = None, *, iri: str = f"{_BASE}request_1") -> bytes:
    """Return a text as NIF in Turtle: its context, the phrases of its spans or, with an answer, those of the answer.

    `iri` is that of the document, or of its context with the offsets at its end.

    >>> said = write_context(TextAsked("d", "Ada met Bob", ((0, 3),))).decode()
    >>> "nif:anchorOf" in said, "#char=0,3>" in said, "taIdentRef" in said
    (True, True, False)
    """
    size = len(text.text)
    context = iri if _PLACE.search(iri) else f"{iri}#char=0,{size}"
    iri = _PLACE.sub("", iri)
    lines = [
        f"@prefix nif: <{NIF}> .\n@prefix itsrdf: <{ITSRDF}> .\n@prefix xsd: <{XSD}> .\n",
        f"<{context}> a nif:Context , nif:String , nif:RFC5147String ;\n  nif:beginIndex {_count(0)} ;\n"
        f"  nif:endIndex {_count(size)} ;\n  nif:isString {ox.Literal(text.text)} .\n",
    ]
    asked = [LinkedSpan(*span) for span in text.spans or ()] if answer is None else answer.spans
    for number, one in enumerate(asked):
        # Several answers on one span are told apart.
        again = f";{number}" if sum((one.begin, one.end) == (other.begin, other.end) for other in asked) > 1 else ""
        said = [
            f"<{iri}#char={one.begin},{one.end}{again}> a nif:Phrase , nif:String , nif:RFC5147String",
            f"nif:referenceContext <{context}>",
            f"nif:beginIndex {_count(one.begin)}",
            f"nif:endIndex {_count(one.end)}",
            f"nif:anchorOf {ox.Literal(text.text[one.begin : one.end])}",
            *(f"itsrdf:taIdentRef {ox.NamedNode(entity)}" for entity in one.entities),
        ]
        if one.confidence is not None:
            said.append(f'itsrdf:taConfidence "{one.confidence!r}"^^xsd:double')
        lines.append(" ;\n  ".join(said) + " .\n")
    return "".join(lines).encode()


def _count(number: int) -> str:
    return f'"{number}"^^xsd:nonNegativeInteger'


def read_context(body: bytes, media: str = TURTLE) -> TextAsked:
    """Return the text, and the spans of its phrases if there are any, that a request asks about; raises `Failure`.

    >>> read_context(write_context(TextAsked("d", "Ada met Bob", ((0, 3),)), iri="urn:a"))
    TextAsked(document='urn:a#char=0,11', text='Ada met Bob', spans=((0, 3),))
    """
    subjects = _parse(body, media)
    texts = {name: _text(said) for name, said in subjects.items() if _text(said) is not None}
    if len(texts) != 1:
        raise Failure(f"has {len(texts) or 'no'} contexts with a text (nif:isString): one is expected")
    [(name, text)] = texts.items()
    spans = [_indexes(one, said) for one, said in subjects.items() if f"{NIF}referenceContext" in said]
    found = sorted({span for span in spans if span is not None})
    return TextAsked(name, str(text), tuple(found) or None)


def read_answer(body: bytes, media: str, text: TextAsked) -> TextAnswer:
    """Return what an answer in RDF says of the text that was asked about.

    Raises `Failure` for what is no RDF, for half a document, and for the NIF of another text. RDF without any context
    says that there is nothing, as GERBIL has it. Offsets that do not lead to the form of their phrase are moved to it;
    a link to an IRI that says 'no entity' is NIL.
    """
    subjects = _parse(body, media)
    texts = [said for said in map(_text, subjects.values()) if said is not None]
    if texts and not any(said.rstrip() == text.text.rstrip() for said in texts):
        raise Failure(f"answered about another text: '{texts[0][:60]}'")
    placing, spans, unplaced = Placing(text.text), list[LinkedSpan](), 0
    phrases = [(_indexes(name, said), said) for name, said in subjects.items() if _is_phrase(said)]
    for span, said in sorted(phrases, key=lambda one: one[0] or (0, 0)):
        if span is None:  # GERBIL leaves these out
            unplaced += 1
            continue
        anchors = said.get(f"{NIF}anchorOf", [])
        placed = placing.place(*span, anchors[0].value if anchors else None)
        if placed is not None:
            entities = [one.value for one in said.get(f"{ITSRDF}taIdentRef", []) if isinstance(one, ox.NamedNode)]
            confidence = next((one.value for one in said.get(f"{ITSRDF}taConfidence", [])), None)
            spans.append(LinkedSpan(*placed, tuple(dict.fromkeys(entities)), read_number(confidence)))
    told = dict(placing.told) | ({"without-offsets": unplaced} if unplaced else {})
    return TextAnswer(tuple(spans), told)


def _is_phrase(said: Said) -> bool:
    """Return whether a subject is an annotation: of a span, and of the text rather than a sentence or word of it."""
    kinds = {one.value for one in said.get(f"{RDF}type", [])}
    if f"{ITSRDF}taIdentRef" in said:
        return True
    parts = kinds & {f"{NIF}{part}" for part in ("Sentence", "Word", "Paragraph", "Title", "Section")}
    return f"{NIF}referenceContext" in said and f"{NIF}isString" not in said and not parts


def _text(said: Said) -> str | None:
    return next((one.value for one in said.get(f"{NIF}isString", [])), None)


def _indexes(name: str, said: Said) -> tuple[int, int] | None:
    """Return begin and end of a phrase by its properties, else by its IRI; None where neither says them."""
    found = [next((one.value for one in said.get(f"{NIF}{end}Index", [])), "") for end in ("begin", "end")]
    if all(one.strip().isdecimal() for one in found):
        return int(found[0]), int(found[1])
    place = _PLACE.search(name)
    return (int(place[1]), int(place[2])) if place else None


def _parse(body: bytes, media: str) -> dict[str, Said]:
    """Return what RDF says of each subject; raises `Failure` for what is none."""
    if not body.strip():
        raise Failure("answered nothing")
    # Many services say text/plain, or what they were asked with: what the content says plainly counts.
    syntax = syntax_of(body[:4096], "") or _MEDIA.get(media, ox.RdfFormat.TURTLE)
    try:
        return _by_subject(ox.parse(body, format=syntax, base_iri=_BASE))
    except (SyntaxError, ValueError) as error:
        if re.match(rb"\s*<(!doctype|html)\b", body[:200], re.IGNORECASE):
            from remix.connections import first_line

            raise Failure(f"answered a page of HTML: {first_line(body)}") from None
        reason = str(error)
    try:  # IRIs with spaces in them are common
        mended = mend_iris(body.decode("utf-8", "replace"), RepairTally())
        return _by_subject(ox.parse(mended.encode(), format=syntax, base_iri=_BASE))
    except (SyntaxError, ValueError):
        raise Failure(f"answered what is no RDF: {' '.join(reason.split())[:160]}") from None


def _by_subject(quads: Iterable[ox.Quad]) -> dict[str, Said]:
    found: dict[str, dict[str, list[ox.NamedNode | ox.BlankNode | ox.Literal]]] = defaultdict(lambda: defaultdict(list))
    for quad in quads:
        if isinstance(quad.subject, ox.NamedNode | ox.BlankNode) and not isinstance(quad.object, ox.Triple):
            found[quad.subject.value][quad.predicate.value].append(quad.object)
    return {name: dict(said) for name, said in found.items()}
