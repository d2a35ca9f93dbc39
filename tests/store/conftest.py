"""Small corpora in NIF, and workspaces that hold them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.store import Store
from tests.processes import PythonProcess

CONTEXT = """
<http://corpus.org/{doc}#char=0,{end}> a nif:Context ; nif:isString "{text}" ;
  nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "{end}"^^xsd:nonNegativeInteger .
"""
PHRASE = """
<http://corpus.org/{doc}#char={begin},{stop}> a nif:Phrase ; nif:anchorOf "{form}" ;
  nif:referenceContext <http://corpus.org/{doc}#char=0,{end}> ; itsrdf:taIdentRef dbr:{entity} ;
  nif:beginIndex "{begin}"^^xsd:nonNegativeInteger ; nif:endIndex "{stop}"^^xsd:nonNegativeInteger .
"""
HEAD = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def nif(documents: dict[str, str], entities: dict[str, str]) -> str:
    """Texts as NIF, with every form that occurs in a text linked to its entity."""
    text = HEAD
    for doc, content in documents.items():
        text += CONTEXT.format(doc=doc, end=len(content), text=content)
        for form, entity in entities.items():
            if (begin := content.find(form)) >= 0:
                text += PHRASE.format(
                    doc=doc, end=len(content), begin=begin, stop=begin + len(form), form=form, entity=entity
                )
    return text


@pytest.fixture
def make_corpus(tmp_path: Path) -> Callable[..., Path]:
    """Writes a NIF file of a name: its texts, and the entities of the forms in them."""

    def make(name: str, documents: dict[str, str], **entities: str) -> Path:
        file = tmp_path / f"{name}.ttl"
        file.write_text(nif(documents, entities), encoding="utf-8")
        return file

    return make


@pytest.fixture
def rivers(make_corpus: Callable[..., Path]) -> Path:
    """Two documents, three annotations: Rhine and Basel in the first, Basel in the second."""
    texts = {"d1": "The Rhine flows through Basel.", "d2": "Basel has three bridges."}
    return make_corpus("rivers", texts, Rhine="Rhine", Basel="Basel")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The store of a workspace that does not exist yet."""
    return Store(tmp_path / "work")


@pytest.fixture
def python() -> Callable[..., subprocess.Popen[str]]:
    """Starts Python on a program with arguments."""

    def start(program: str, *arguments: object) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return PythonProcess(["-c", program, *map(str, arguments)], stdout=pipe, stderr=pipe, text=True)

    return start
