"""NIF web services, both ways: services of others that are asked, and our systems as they are served."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pyoxigraph as ox
import pytest
import requests

from remix.errors import MissingKnowledge, UnknownName
from remix.kb import KnowledgeBase
from remix.store import Store
from remix.systems import annotate
from remix.systems.asked import LinkedSpan, TextAnswer, TextAsked
from remix.systems.nif import read_answer, read_context, write_context
from remix.web.annotator import annotators, frames_of_text
from tests.processes import PythonProcess
from tests.systems.services import Asked, Refused, ask, serving, told

FACE = "\N{GRINNING FACE}"
TEXT = f'{FACE} Ada met "Bob"\nin Paris'
ADA, BOB, PARIS = (2, 5), (11, 14), (19, 24)
FOUND = TextAnswer(
    (LinkedSpan(*ADA, ("http://x/Ada",), 0.5), LinkedSpan(*BOB), LinkedSpan(*PARIS, ("http://x/P", "http://y/P")))
)
RDF = {
    "application/x-turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "text/plain": ox.RdfFormat.TURTLE,
}


def in_syntax(turtle: bytes, syntax: ox.RdfFormat) -> bytes:
    return ox.serialize(ox.parse(turtle, format=ox.RdfFormat.TURTLE), format=syntax) or b""


@pytest.mark.parametrize("media", RDF)
def test_service_is_asked_in_turtle_and_answers_in_any_syntax(media: str) -> None:
    def service_of(asked: Asked) -> Refused:
        given = read_context(asked.body)
        assert (given.text, given.spans) == (TEXT, (ADA, BOB, PARIS))
        assert "taIdentRef" not in asked.body.decode()
        assert asked.headers["Content-Type"] == "application/x-turtle;charset=UTF-8"
        said = write_context(given, FOUND, iri=given.document)
        return Refused(200, in_syntax(said, RDF[media]), {"Content-Type": media})

    with serving(service_of) as service:
        done = ask("nif", service.address, TextAsked("d", TEXT, (ADA, BOB, PARIS)), task="D2KB")
    assert done.failed == {}
    assert [(*one.entities, one.confidence) for one in done.answers["d"].spans] == [
        ("http://x/Ada", 0.5),
        (None,),
        ("http://x/P", "http://y/P", None),
    ]


def phrase(begin: int, end: int, anchor: str, more: str = "") -> str:
    return (
        f"[] a nif:Phrase ; nif:referenceContext <urn:a#char=0,24> ; nif:beginIndex {begin} ; nif:endIndex {end} ; "
        f'nif:anchorOf "{anchor}" ; itsrdf:taIdentRef <http://x/{anchor}> {more} .\n'
    )


HEAD = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
"""


def read(said: str) -> TextAnswer:
    return read_answer((HEAD + said).encode(), "text/turtle", TextAsked("d", TEXT))


def test_offsets_that_are_shifted_are_led_to_the_form_and_counted() -> None:
    # As a service counts that has UTF-16: the face is two, everything behind it one further.
    found = read(phrase(3, 6, "Ada") + phrase(12, 15, "Bob") + phrase(7, 9, "Eve"))
    assert (told(found, TEXT), dict(found.told)) == ([("Ada", "Ada"), ("Bob", "Bob")], {"moved": 2, "not-in-text": 1})


def test_answer_without_a_context_is_one_without_annotations() -> None:
    assert read("").spans == ()


def test_iri_with_a_space_in_it_is_mended_and_offsets_may_stand_in_the_iri_alone() -> None:
    said = (
        f"<urn:a#char={ADA[0]},{ADA[1]}> a nif:Phrase ; nif:referenceContext <urn:a#char=0,24> ; "
        "itsrdf:taIdentRef <http://x/Ada Lovelace> .\n<urn:b> a nif:Phrase ; itsrdf:taIdentRef <http://x/b> .\n"
    )
    found = read(said)
    assert ([one.entities for one in found.spans], found.told) == (
        [("http://x/Ada%20Lovelace",)],
        {"without-offsets": 1},
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"<!DOCTYPE html><html><title>Log in</title></html>", "answered a page of HTML: Log in"),
        (write_context(TextAsked("d", TEXT), FOUND)[:-60], "answered what is no RDF"),
        (write_context(TextAsked("d", "Of something else")), "answered about another text: 'Of something else'"),
        (b"", "answered nothing"),
    ],
)
def test_what_is_no_answer_in_nif_fails_the_document(said: bytes, reason: str) -> None:
    with serving(lambda _: Refused(200, said, {"Content-Type": "text/turtle"})) as service:
        assert ask("nif", service.address, TEXT).failed["0"].startswith(reason)


@pytest.fixture(scope="module")
def served(sample_store: Store) -> Iterator[str]:
    """`remix serve --system prior` as a process, and the address that it tells."""
    command = ["-m", "remix", "serve", "-w", str(sample_store.folder), "--port", "0", "--system", "prior"]
    with PythonProcess(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("NIF web service at "))
        yield line.rpartition(" ")[2].strip()
        process.terminate()


GERBIL = {
    "Content-Type": "application/x-turtle;charset=UTF-8",
    "Accept": "application/x-turtle",
    "Accept-Charset": "UTF-8",
}
SAID = f"{FACE} He left Berlin for Paris."
BERLIN = (10, 16)


IRI = "http://www.aksw.org/gerbil/NifWebService/request_7"


def request_of_gerbil(*spans: tuple[int, int]) -> bytes:
    """A document as GERBIL writes it, line by line."""
    lines = [
        "@prefix rdf:   <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
        "@prefix xsd:   <http://www.w3.org/2001/XMLSchema#> .",
        "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .",
        "@prefix nif:   <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .",
        "@prefix rdfs:  <http://www.w3.org/2000/01/rdf-schema#> .",
        "",
        f"<{IRI}#char=0,{len(SAID)}>",
        "        a               nif:RFC5147String , nif:String , nif:Context ;",
        '        nif:beginIndex  "0"^^xsd:nonNegativeInteger ;',
        f'        nif:endIndex    "{len(SAID)}"^^xsd:nonNegativeInteger ;',
        f'        nif:isString    "{SAID}"^^xsd:string .',
    ]
    for begin, end in spans:
        lines += [
            "",
            f"<{IRI}#char={begin},{end}>",
            "        a                     nif:RFC5147String , nif:String , nif:Phrase ;",
            f'        nif:anchorOf          "{SAID[begin:end]}"^^xsd:string ;',
            f'        nif:beginIndex        "{begin}"^^xsd:nonNegativeInteger ;',
            f'        nif:endIndex          "{end}"^^xsd:nonNegativeInteger ;',
            f"        nif:referenceContext  <{IRI}#char=0,{len(SAID)}> .",
        ]
    return "\n".join(lines).encode()


def test_system_is_served_as_gerbil_calls_it(served: str, sample_kb: KnowledgeBase) -> None:
    for spans, task in ((None, "A2KB"), ((BERLIN,), "D2KB")):
        text = TextAsked("d", SAID, spans)
        answer = requests.post(served, timeout=60, data=request_of_gerbil(*spans or ()), headers=GERBIL)
        assert (answer.status_code, answer.headers["content-type"]) == (200, GERBIL["Content-Type"])
        assert f"<{IRI}#char=0,{len(SAID)}> a nif:Context" in answer.text
        found = read_answer(answer.content, "application/x-turtle", text)
        direct = annotate("prior", frames_of_text(text), sample_kb, task=task)
        rows = direct.annotations.join(direct.links, on="annotation").sort("begin").select("begin", "end", "entity")
        assert [(one.begin, one.end, *one.entities) for one in found.spans] == rows.rows()
        assert BERLIN in {(one.begin, one.end) for one in found.spans}


def test_what_is_no_context_is_refused(served: str) -> None:
    for body, said in [(b"Hello", "no RDF"), (b"", "nothing"), (b"<urn:a> <urn:b> <urn:c> .", "no contexts")]:
        answer = requests.post(served, timeout=60, data=body, headers=GERBIL)
        assert (answer.status_code, said in answer.text) == (400, True), answer.text
    assert requests.get(served, timeout=60).status_code == 405
    assert requests.post(f"{served}x", timeout=60).status_code == 404


def test_only_systems_that_can_answer_are_served() -> None:
    with pytest.raises(UnknownName, match="did you mean 'prior'"):
        annotators(["priro"], None)
    with pytest.raises(MissingKnowledge, match="kb attach"):
        annotators(["prior"], None)


@pytest.mark.long
def test_served_system_is_asked_by_the_adapter_for_services(served: str) -> None:
    done = ask("nif", served, SAID)
    assert BERLIN in {(one.begin, one.end) for one in done.answers["0"].spans}
