"""Tables of a knowledge base with a header, without one, and with a first line that may be either."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from remix import progress
from remix.errors import BadInput
from remix.kb.sources import SOURCES, Choices
from remix.kb.staging import TABLES, Staging

FORMS = "Ada\tdbr:Ada_Lovelace\t3\tmine\nAda\tdbr:Ada_County\t\tmine\n"


def read_table(folder: Path, table: str, text: str) -> list[tuple[object, ...]]:
    """Return the rows that are staged of a table, without its key."""
    (folder / "tables").mkdir(exist_ok=True)
    (folder / "tables" / f"{table}.tsv").write_text(text, encoding="utf-8")
    [part] = SOURCES["tables"].parts(str(folder / "tables"), Choices())
    with progress.enable():
        part.read(Staging(folder / "staged"))
    names = [name for name in TABLES[table] if name != "key"]
    return pl.read_parquet(folder / "staged" / table / "*.parquet").select(names).rows()


ADA = ("Ada", "http://dbpedia.org/resource/Ada_Lovelace", 3, "mine")
COUNTY = ("Ada", "http://dbpedia.org/resource/Ada_County", None, "mine")


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("", "has no header: its first line is a row like the others"),
        ("surface_form\tentity_iri\tcount\tsource\n", ""),
        ("Mention\tURL\tn\twhere\n", ""),
        ("\ufeffsurface_form\tschema:url\tcount\tsource\n", ""),
        (
            "Type\tType_foundry\t\tmine\n",
            "surface_forms.tsv:1: 'Type Type_foundry mine' is taken for the header of the columns surface_form, ",
        ),
        (
            "a\tb\tc\td\n",
            "surface_forms.tsv:1: 'a b c d' is taken for the header of the columns surface_form, entity, ",
        ),
    ],
)
def test_no_line_of_a_table_is_lost_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, told: str
) -> None:
    assert read_table(tmp_path, "surface_forms", first + FORMS) == [ADA, COUNTY]
    said = " ".join(capsys.readouterr().err.split())
    assert (told in said) if told else not said


@pytest.mark.parametrize(
    ("table", "line", "row"),
    [
        # An entity without a scheme is one where a count stands beside it.
        ("surface_forms", "Ada\tAda_Lovelace\t3\t", ("Ada", "Ada_Lovelace", 3, None)),
        ("labels", "Q7259\tAda\ten", ("Q7259", "Ada", "en")),
        ("labels", "\ufeffQ7259\tname\ten", ("Q7259", "name", "en")),
        ("types", "<urn:a>\tdbo:Person\tx", ("<urn:a>", "http://dbpedia.org/ontology/Person", "x")),
    ],
)
def test_a_table_of_one_line_without_a_header_has_one_row(
    tmp_path: Path, table: str, line: str, row: tuple[object, ...]
) -> None:
    assert read_table(tmp_path, table, line) == [row]


@pytest.mark.parametrize("header", ["", "surface_form\tentity\tcount\tsource\n"])
def test_a_wrong_count_is_told_with_its_line_with_a_header_or_without(tmp_path: Path, header: str) -> None:
    # The wrong one is the second row.
    number = 2 if not header else 3
    with pytest.raises(BadInput, match=f"surface_forms.tsv:{number}: 'many' is no count"):
        read_table(tmp_path, "surface_forms", f"{header}Ada\tdbr:Ada\t3\tx\nAda\tdbr:Ada\tmany\tx\n")
