"""Writes docs/ontology.html, the vocabulary as a page; the server shows the same at /ontology.

python scripts/ontology.py
"""

from __future__ import annotations

from pathlib import Path

from remix.web.folder import render_ontology

TARGET = Path(__file__).resolve().parent.parent / "docs" / "ontology.html"

if __name__ == "__main__":
    TARGET.write_text(render_ontology(), encoding="utf-8")
