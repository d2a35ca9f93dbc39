"""Tables of small knowledge bases, and what is built of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from remix.kb import KnowledgeBase

TABLES = {
    "surface_forms.tsv": """surface_form\tentity_iri\tcount\tsource
Anna\tdbr:Anna_Karenina\t6\tanchors
Anna\tdbr:Anna_Freud\t2\tanchors
ANNA\tdbr:Anna_Freud\t1\tgold:small
Anna\thttps://en.wikipedia.org/wiki/Freud's_daughter\t\tnames
Freud\tdbr:Anna_Freud\t\tnames
Novel\thttp://www.wikidata.org/entity/Q1\t3\tcandidate:tool
""",
    "redirects.tsv": """redirect_iri\ttarget_iri\tsource
dbr:Freud's_daughter\tdbr:A_Freud\tone
dbr:A_Freud\tdbr:Anna_Freud\tone
dbr:X\tdbr:Y\tone
dbr:Y\tdbr:X\tone
""",
    "links.tsv": """source_iri\ttarget_iri\tcount\tsource
dbr:Anna_Karenina\tdbr:A_Freud\t1\tfacts
dbr:Anna_Freud\tdbr:Anna_Karenina\t4\tfacts
dbr:Tolstoy\tdbr:Anna_Karenina\t1\tfacts
""",
    "types.tsv": """entity_iri\ttype_iri\tsource
dbr:A_Freud\tdbo:Person\tfacts
dbr:Anna_Karenina\tdbo:Book\tfacts
""",
    "labels.tsv": "entity_iri\tlabel\tsource\ndbr:Anna_Freud\tAnna Freud\tfacts\n",
    "sameas.tsv": """wikidata_iri\tdbpedia_iri\tcount\tsource
wd:Q1\tdbr:Anna_Karenina\t2\tone
wd:Q1\tdbr:Tolstoy\t1\ttwo
""",
    "disambiguations.tsv": "page_iri\tentity_iri\tsource\ndbr:Anna\tdbr:Anna_Freud\tpages\n",
}


@pytest.fixture(scope="session")
def kb(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    """The knowledge base of these tables; not to be changed."""
    return kb_of(TABLES, engine="duckdb")


@pytest.fixture
def tables(tmp_path: Path) -> Callable[..., Path]:
    """Write the tables of a knowledge base; `tables(**{"links.tsv": None})` leaves one out."""

    def write(**changed: str | None) -> Path:
        folder = tmp_path / "tables"
        folder.mkdir(exist_ok=True)
        for name, text in {**TABLES, **changed}.items():
            if text is not None:
                (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write
