"""Writes the terms of the measures as OWL, and their documentation, both from the registry.

    python scripts/measures.py

Writes ontology/hfts.ttl, ontology/remix.ttl and docs/measures.md anew; what stands above the marker in an ontology is
written by hand and is kept.
"""

from __future__ import annotations

import re
from pathlib import Path

from remix.files import write_whole
from remix.measures import MEASURES
from remix.measures.measurement import Term, terms
from remix.rdf.terms import quote

MARKER = "# Measures: written by `python scripts/measures.py`; edit the measure, not these lines.\n"
FILES = {"hfts": "hfts.ttl", "rmx": "remix.ttl"}
_DOMAINS = {"annotation": "nif:Phrase", "document": "nif:Context", "dataset": "hfts:Dataset"}


def ontology(prefix: str, head: str) -> str:
    """Return an ontology in Turtle: the hand-written head, then the terms of the measures with that prefix."""
    own = head.partition(MARKER)[0].rstrip("\n") + "\n\n" + MARKER
    return own + "".join(f"\n{_turtle(term)}" for term in terms() if term.term.startswith(f"{prefix}:"))


def _turtle(term: Term) -> str:
    lines = [
        f"{term.term} a owl:DatatypeProperty ;",
        f'  rdfs:label "{_words(term.term)}"@en ;',
        f"  rdfs:comment {quote(term.comment)}@en ;",
    ]
    if len(term.levels) == 1:
        lines.append(f"  rdfs:domain {_DOMAINS[term.levels[0]]} ;")
    lines.append(f"  rdfs:range xsd:{term.kind} ;")
    lines.append("  rmx:level " + ", ".join(f'"{level}"' for level in term.levels) + " ;")
    if term.averages:
        lines.append("  rmx:average " + ", ".join(f'"{average}"' for average in term.averages) + " ;")
    lines.append(f"  rmx:formula {quote(term.measure.formula)} ;")
    lines.append(f"  dcterms:source {quote(term.measure.citation)} .")
    return "\n".join(lines) + "\n"


def _words(term: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", term.partition(":")[2]).lower()


_INTRODUCTION = """\
# Measures

<!-- Written by `python scripts/measures.py` from the measures in remix/measures; edit those. -->

A measure describes annotations, documents or datasets; `remix enrich` stores its values as RDF, `remix stats` shows
them. D is a dataset, d a document, s a surface form, e an entity; W_E(s) are the entities that the dictionary of the
knowledge base gives for s, E^D(s) those that D links it to, W_S(e) and S^D(e) likewise the forms of e.

Surface forms are compared after NFC, `_` to space, white space collapsed, and casefolded (lower case, then the letters
that casefold differently, such as ß to ss); `--case-sensitive` keeps case. Entities are compared in canonical form,
after the redirects and sameAs links of the knowledge base. Ignorable annotations are not counted. Of several acceptable
links, values of the entity are those of the one with the highest PageRank. Dictionary rows whose source is
`gold:<dataset>` are left out when that dataset is measured, rows of other sources with `--without-source PATTERN`.

## Averages

| average | is | label in the paper's formulas | in the hfts library |
|---|---|---|---|
| micro | pooled over all annotations (density: over all words) | "macro" in (3), none in (5) to (8) | micro |
| macro | mean of the documents' values | "micro" | macro |
| distinct | mean over the distinct surface forms or entities of D | "macro" in (5) to (9) | none |
| count | sum | | |

The paper's text says macro where its formulas say "micro"; the library follows the text, and so do we. A value that is
absent is left out of numerator and denominator; the coverage of an average is the share of annotations, documents or
distinct units that it speaks for, and is marked below 50 %.

`remix stats --profile hfts` follows the library instead: no union with the dataset's own sets, 1 for unknown confusion,
dominance divided by all annotations, empty documents as 0 in macro averages.

Percentiles run from 0 to 100. Those of prominence are among all entities of the knowledge base that have a score; those
of other columns among all annotations, or documents, of the datasets that are measured together. A percentile is the
share of values that are smaller, and half of the equal ones; of ranks ties share the better.
"""


def documentation() -> str:
    """Return docs/measures.md."""
    parts = [_INTRODUCTION, "\n## The measures\n"]
    by_measure: dict[str, list[Term]] = {}
    for term in terms():
        by_measure.setdefault(term.measure.name, []).append(term)
    for measure in MEASURES:
        parts.append(
            f"\n### {measure.name}\n\n"
            f"{measure.formula}.\n\n"
            f"- level: {', '.join(measure.levels)}; unit: {measure.unit}\n"
            f"- high: {measure.high}\n- low: {measure.low}\n- absent: {measure.empty}\n"
            f"- needs of the knowledge base: {', '.join(measure.needs).replace('_', ' ') or 'nothing'}\n"
            f"- source: {measure.citation}\n\n"
        )
        rows = [
            f"| `{term.term}` | {', '.join(term.levels)} | {', '.join(term.averages)} | {term.kind} | {_cell(term)} |"
            for term in by_measure.get(measure.name, [])
        ]
        parts.append("\n".join(["| term | level | average | kind | meaning |", "|---|---|---|---|---|", *rows]) + "\n")
    return "".join(parts)


def _cell(term: Term) -> str:
    return term.comment.replace("|", "\\|")


def write(checkout: Path) -> None:
    """Write the ontologies and the documentation of a checkout anew."""
    for prefix, name in FILES.items():
        file = checkout / "ontology" / name
        text = ontology(prefix, file.read_text(encoding="utf-8"))
        with write_whole(file) as stream:
            stream.write(text.encode())
    with write_whole(checkout / "docs" / "measures.md") as stream:
        stream.write(documentation().encode())


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent)
