"""Write a clean synthetic NIF file of about so many triples, the same bytes each time.

python bench/generate_nif.py 2000000 two-million.ttl
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

PREFIXES = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

"""
MENTIONS = 10
PER_DOCUMENT = 6 + MENTIONS * 8
"""Triples of a document: 3 types, text, begin, end; and 2 types and 6 properties a mention."""


def documents(count: int, seed: int) -> Iterator[str]:
    """Yield one document with its annotations after another, as Turtle."""
    draw = random.Random(seed)
    vocabulary = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzäöü", k=draw.randint(2, 9))) for _ in range(5000)]
    for number in range(count):
        base = f"http://example.org/corpus/document-{number}"
        words = draw.choices(vocabulary, k=100)
        chosen = sorted(draw.sample(range(100), MENTIONS))
        text = " ".join(words)
        context = f"{base}#char=0,{len(text)}"
        yield (
            f"<{context}> a nif:Context , nif:String , nif:RFC5147String ;\n"
            f'    nif:isString "{text}"@en ;\n'
            f'    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "{len(text)}"^^xsd:nonNegativeInteger .\n'
        )
        for position in chosen:
            begin = sum(len(word) + 1 for word in words[:position])
            end = begin + len(words[position])
            entity = f"http://dbpedia.org/resource/{words[position].capitalize()}_{draw.randint(1, 20)}"
            yield (
                f"<{base}#char={begin},{end}> a nif:Phrase , nif:String ;\n"
                f'    nif:anchorOf "{words[position]}"@en ;\n'
                f'    nif:beginIndex "{begin}"^^xsd:nonNegativeInteger ;\n'
                f'    nif:endIndex "{end}"^^xsd:nonNegativeInteger ;\n'
                f"    nif:referenceContext <{context}> ;\n"
                f'    itsrdf:taSource "synthetic" ;\n'
                f"    itsrdf:taIdentRef <{entity}> .\n"
            )


def generate(triples: int, path: Path, seed: int = 1) -> int:
    """Write the file and return the number of its triples."""
    count = max(1, triples // PER_DOCUMENT)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(PREFIXES)
        stream.writelines(documents(count, seed))
    return count * PER_DOCUMENT


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("triples", type=int)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(generate(options.triples, options.file, options.seed), "triples")
