"""Writes docs/ontology.html, the vocabulary as a page; the server shows the same at /ontology.

python scripts/ontology.py
"""

from __future__ import annotations

from pathlib import Path

from remix.web.explorer import render_file
from remix.web.page import Note, Page, Table
from remix.web.views.ontology import list_terms

TARGET = Path(__file__).resolve().parent.parent / "docs" / "ontology.html"


def page() -> str:
    """Return the vocabulary as HTML."""
    said = "What remix says in RDF beyond NIF, ITS RDF and hfts, in the namespace https://w3id.org/nel-remix/ns#."
    return render_file(
        "The ontology of remix", [Page("The ontology of remix", [Note(said), Table("terms", list_terms())])], bare=True
    )


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
