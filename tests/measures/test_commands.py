"""remix kb, enrich and stats on a workspace, as a user runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from remix.cli import enrich, kb, load, stats
from remix.errors import MissingKnowledge, UnknownName, UsageError
from remix.measures import MEASURES, Measure, column_named, measure_named
from remix.measures.enrichment import measure_store
from remix.names import DBR, HFTS
from remix.reports.inventory import listing
from remix.reports.plots import save
from remix.reports.statistics import choose_average, figure_of_measures, side_by_side
from remix.store import Store

NIF = """
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://example.org/d#char=0,21> a nif:Context ; nif:isString "Anna reads Anna often" .
<http://example.org/d#char=0,4> a nif:Phrase ; nif:referenceContext <http://example.org/d#char=0,21> ;
  nif:anchorOf "Anna" ; nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "4"^^xsd:nonNegativeInteger ;
  itsrdf:taIdentRef <http://dbpedia.org/resource/Anna_Freud> .
<http://example.org/d#char=11,15> a nif:Phrase ; nif:referenceContext <http://example.org/d#char=0,21> ;
  nif:anchorOf "Anna" ; nif:beginIndex "11"^^xsd:nonNegativeInteger ; nif:endIndex "15"^^xsd:nonNegativeInteger ;
  itsrdf:taIdentRef <http://dbpedia.org/resource/Anna_Karenina> .
"""
FORMS = "form\tentity\tcount\tsource\n" + "".join(f"Anna\tdbr:Anna_{n}\t\tnames\n" for n in range(3))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    (tmp_path / "reader.ttl").write_text(NIF, encoding="utf-8")
    Store(folder).load(tmp_path / "reader.ttl")
    return folder


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "surface_forms.tsv").write_text(FORMS, encoding="utf-8")
    return tmp_path / "tables"


def run(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def annas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the document of two Annas and a knowledge base of three others; not to be changed."""
    folder = tmp_path_factory.mktemp("annas")
    (folder / "reader.ttl").write_text(NIF, encoding="utf-8")
    (folder / "tables").mkdir()
    (folder / "tables" / "surface_forms.tsv").write_text(FORMS, encoding="utf-8")
    Store(folder / "w").load(folder / "reader.ttl")
    run(kb.command, "build", "--from", "tables", folder / "tables", "--name", "annas", "-w", folder / "w")
    return folder / "w"


@pytest.mark.long
def test_enrich_when_repeated_then_nothing_changes_and_a_new_kb_replaces(workspace: Path, tables: Path) -> None:
    first = run(enrich.command, "-w", workspace, "-o", "json")
    assert first.exit_code == 0, first.output
    assert "no knowledge base is attached" in first.stderr
    assert json.loads(first.stdout)[0]["status"] == "enriched"
    state = (workspace / "state.json").read_bytes()
    again = run(enrich.command, "-w", workspace, "-o", "json")
    assert json.loads(again.stdout)[0]["status"] == "unchanged"
    assert (workspace / "state.json").read_bytes() == state

    built = run(kb.command, "build", "--from", "tables", tables, "--name", "annas", "-w", workspace, "-o", "json")
    assert built.exit_code == 0, built.output
    third = run(enrich.command, "-w", workspace, "-o", "json")
    assert json.loads(third.stdout)[0]["status"] == "enriched"
    # W(Anna) has 3 entities, the document links it to 2 others: 5.
    asked = f"SELECT ?n WHERE {{ ?a <{HFTS}ambiguitySurfaceForm> ?n . ?a itsrdf:taIdentRef <{DBR}Anna_Freud> }}"
    assert Store(workspace).index().frame(asked)["n"].cast(pl.String).str.contains("5").to_list() == [True]


def test_kept_measures_that_are_not_what_was_written_are_computed_again(workspace: Path) -> None:
    def density() -> float:
        """Return two annotations over the four words of the one document."""
        return float(measure_store(Store(workspace), None).documents["density"].item())

    assert density() == 0.5
    [file] = (workspace / "cache" / "measures").glob("*/documents.parquet")
    pl.read_parquet(file).with_columns(density=pl.lit(0.25)).write_parquet(file)
    assert density() == 0.5
    assert pl.read_parquet(file)["density"].item() == 0.5


@pytest.mark.long
def test_kb_when_attached_then_show_and_lookup_answer(workspace: Path, tables: Path) -> None:
    missing = run(kb.command, "show", "-w", workspace)
    assert isinstance(missing.exception, MissingKnowledge)
    assert isinstance(run(kb.command, "lookup", "Anna", "-w", workspace).exception, MissingKnowledge)
    run(kb.command, "build", "--from", "tables", tables, "--name", "annas", "-w", workspace)
    run(kb.command, "attach", "-w", workspace)
    shown = run(kb.command, "show", "-w", workspace)
    assert "sample" in shown.stdout
    run(kb.command, "attach", "annas", "-w", workspace)
    looked = run(kb.command, "lookup", "anna", "-w", workspace, "-o", "json")
    assert [row["entity"] for row in json.loads(looked.stdout)] == ["dbr:Anna_0", "dbr:Anna_1", "dbr:Anna_2"]
    unknown = run(kb.command, "attach", "anas", "-w", workspace)
    assert isinstance(unknown.exception, UnknownName)
    assert "did you mean 'annas'" in str(unknown.exception)


@pytest.mark.long
def test_kb_build_when_the_kind_is_unknown_then_the_nearest_is_named(annas: Path) -> None:
    result = run(kb.command, "build", "--from", "tabels", annas.parent / "tables", "--name", "x", "-w", annas)
    assert isinstance(result.exception, UnknownName)
    assert "did you mean 'tables'" in str(result.exception)


@pytest.mark.long
def test_stats_when_levels_are_asked_for_then_rows_are_datasets_documents_annotations(annas: Path) -> None:
    rows = json.loads(run(stats.command, "-w", annas, "-o", "json", "--average", "all").stdout)
    assert {row["dataset"] for row in rows} == {"reader"}
    assert {row["average"] for row in rows} == {"micro", "macro", "distinct", "count"}
    chosen = ("-w", annas, "-o", "json", "--measure", "density", "--measure", "confusion-surface-form", "--level")
    documents = json.loads(run(stats.command, *chosen, "document").stdout)
    assert [row["density"] for row in documents] == [0.5]  # 2 annotations on 4 words
    annotations = json.loads(run(stats.command, *chosen, "annotation").stdout)
    assert [row["ambiguitySurfaceForm"] for row in annotations] == [5, 5]


def test_stats_when_a_name_is_unknown_then_the_nearest_is_named(annas: Path) -> None:
    result = run(stats.command, "raeder", "-w", annas)
    assert isinstance(result.exception, UnknownName)
    assert "did you mean 'reader'" in str(result.exception)


def test_side_by_side_when_coverage_is_low_then_it_is_printed_and_marked() -> None:
    rows = pl.DataFrame(
        {
            "dataset": ["b", "a", "a"],
            "measure": ["density", "density", "numAnnotations"],
            "average": ["micro", "micro", "count"],
            "value": [0.25, 2.0, 7.0],
            "coverage": [0.4, 0.7599, 1.0],
        }
    )
    assert side_by_side(rows).rows() == [
        ("density", "micro", "2.0 (covers 75 %)", "0.25 (covers 40 %!)"),
        ("numAnnotations", "count", "7", ""),
    ]
    with pytest.raises(UsageError, match="did you mean 'micro'"):
        choose_average(rows, "mikro")


def test_side_by_side_when_a_value_is_a_share_then_it_is_in_per_cent() -> None:
    values = {"isRare": 0.1394, "formAcronym": 0.0, "formMetonym": 0.0004, "dominanceSurfaceForm": 1.2, "prior": 0.8}
    rows = pl.DataFrame({"measure": [*values], "value": [*values.values()]})
    rows = rows.with_columns(dataset=pl.lit("a"), average=pl.lit("micro"), coverage=pl.lit(1.0))
    shown = dict(side_by_side(rows).select("measure", "a").rows())
    expected = {"isRare": "13.9 %", "formAcronym": "0.0 %", "formMetonym": "<0.1 %", "dominanceSurfaceForm": "120.0 %"}
    assert shown == {**expected, "prior": "0.8"}


@pytest.mark.long
def test_plot_when_drawn_twice_then_the_files_are_the_same(annas: Path, tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        assert run(stats.command, "-w", annas, "--measure", "density", "--plot", tmp_path / name).exit_code == 0
    content = (tmp_path / "one.png").read_bytes()
    assert content.startswith(b"\x89PNG") and content == (tmp_path / "two.png").read_bytes()


def test_plot_when_the_file_has_no_known_suffix_then_the_error_names_it(tmp_path: Path) -> None:
    rows = pl.DataFrame({"dataset": ["a"], "measure": ["m"], "average": ["micro"], "value": [1.0], "coverage": [1.0]})
    with pytest.raises(UsageError, match="no plot is written as '.nonsense'"):
        save(figure_of_measures(rows), tmp_path / "plot.nonsense")
    with pytest.raises(UsageError, match="nothing to plot"):
        figure_of_measures(rows.with_columns(value=0.0))


@pytest.mark.parametrize(
    "spelling",
    [
        "confusion-surface-form",
        "ambiguitySurfaceForm",
        "hfts:ambiguitySurfaceForm",
        f"{HFTS}ambiguitySurfaceForm",
        "ambiguitySurfaceForms",
        "hfts:microAmbiguitySurfaceForms",
        "rmx:distinctAmbiguitySurfaceForms",
    ],
)
def test_measure_is_found_by_its_name_its_columns_its_rows_and_their_terms(spelling: str) -> None:
    assert measure_named(spelling).name == "confusion-surface-form"
    assert column_named(spelling).name == "ambiguitySurfaceForm"


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_measure_of_the_registry_has_one_name_which_each_of_its_spellings_finds(measure: Measure) -> None:
    for column in measure.columns:
        assert [measure_named(name) for name in (column.name, column.term)] == [measure, measure]
        assert column_named(column.name) is column_named(column.term) is column
    for summary in measure.summaries:
        spellings = [summary.name, *(term for terms in summary.terms.values() for term in terms)]
        assert {measure_named(name).name for name in spellings} == {measure.name}
        # What is the mean of a column is printed as the column is.
        named = [column.name for column in measure.columns if summary.part.meta.eq(column.value)]
        assert summary.name in named or not named


def test_listings_print_the_names_that_rows_and_columns_have(tmp_path: Path) -> None:
    listed = listing("measures", Store(tmp_path / ".remix"), tmp_path)
    values = dict(zip(listed["name"], listed["values"].to_list(), strict=True))
    assert values["confusion-surface-form"] == ["ambiguitySurfaceForm", "dictionaryEntities"]
    assert values["nil"] == ["nil", "nilExplicit", "nilImplicit"]
    for measure in MEASURES:
        names = [*(column.name for column in measure.columns), *(summary.name for summary in measure.summaries)]
        assert values[measure.name] == [*dict.fromkeys(names)]


def test_measure_without_a_column_of_annotations_is_no_column() -> None:
    assert measure_named("hfts:microDensity").name == "density"
    with pytest.raises(UnknownName, match="column of annotations"):
        column_named("density")
    with pytest.raises(UnknownName, match="did you mean 'ambiguitySurfaceForm"):
        measure_named("hfts:ambiguitySurfceForm")


@pytest.mark.long
def test_stats_takes_a_row_as_the_name_of_a_measure_and_prints_no_nan(annas: Path) -> None:
    printed = run(stats.command, "-w", annas, "--measure", "numAnnotations", "--measure", "hfts:density")
    assert printed.exit_code == 0, printed.output
    assert "numAnnotations" in printed.stdout and "density" in printed.stdout
    for output in ("table", "json", "csv"):
        done = run(stats.command, "-w", annas, "--average", "all", "-o", output)
        assert all(average in done.stdout for average in ("micro", "macro", "distinct", "count")), output
        assert not re.search(r"\bnan\b", done.stdout, flags=re.IGNORECASE), output


def test_load_report_counts_blocks_mentions_and_alternatives(tmp_path: Path) -> None:
    # Two blocks of one span are alternatives of one mention; one of them is linked, so the mention is.
    more = """<http://example.org/d#char=0,4b> a nif:Phrase ; nif:referenceContext <http://example.org/d#char=0,21> ;
  nif:anchorOf "Anna" ; nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "4"^^xsd:nonNegativeInteger ;
  itsrdf:taIdentRef <http://aksw.org/notInWiki/Anna> .
"""
    (tmp_path / "more.ttl").write_text(NIF + more, encoding="utf-8")
    [row] = json.loads(run(load.command, tmp_path / "more.ttl", "--dry-run", "-o", "json").stdout)
    names = ("annotations", "linked", "nil", "mentions", "mentions_linked", "mentions_nil", "alternatives", "optional")
    assert [row[name] for name in names] == [3, 2, 1, 2, 2, 0, 1, 0]
