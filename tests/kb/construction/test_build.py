"""Building a knowledge base from tables, and asking it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.errors import BadInput, MissingKnowledge, UnknownName, UsageError
from remix.kb import KnowledgeBase, build, lookup, open_kb
from remix.kb.lookup import problems_of
from remix.kb.parts import FORMAT
from remix.names import DBO, DBR
from remix.workspace import Workspace
from tests.kb.conftest import TABLES

Tables = Callable[..., Path]


@pytest.mark.long
def test_resolve_when_redirects_chain_then_the_last_target_comes_back(kb: KnowledgeBase) -> None:
    asked = pl.Series(["https://en.wikipedia.org/wiki/Freud's daughter", f"{DBR}A_Freud", f"{DBR}Unknown", None])
    assert kb.resolve(asked).to_list() == [f"{DBR}Anna_Freud", f"{DBR}Anna_Freud", f"{DBR}Unknown", None]


@pytest.mark.long
def test_resolve_when_redirects_are_circular_then_they_are_left_and_reported(kb: KnowledgeBase) -> None:
    assert kb.resolve(pl.Series([f"{DBR}X"])).to_list() == [f"{DBR}X"]
    assert kb.described["circular_redirects"] == {"count": 2, "first": [f"{DBR}X", f"{DBR}Y"]}


def test_resolve_when_sameas_disagrees_then_the_more_frequent_pair_counts(kb: KnowledgeBase) -> None:
    assert kb.resolve(pl.Series(["http://www.wikidata.org/wiki/Q1"])).to_list() == [f"{DBR}Anna_Karenina"]


def test_build_when_ends_are_redirects_then_graph_types_and_forms_are_about_their_targets(kb: KnowledgeBase) -> None:
    # Karenina → A_Freud is a link to Anna_Freud: the graph is Karenina ⇄ Freud, Tolstoy → Karenina; three nodes.
    scored = kb.entities.filter(pl.col("pagerank").is_not_null())["entity"].to_list()
    assert scored == [f"{DBR}Anna_Freud", f"{DBR}Anna_Karenina", f"{DBR}Tolstoy"]
    assert (f"{DBR}Anna_Freud", f"{DBO}Person", "facts", 0) in kb.types.rows()
    assert f"{DBR}A_Freud" not in kb.surface_forms["entity"].to_list() + kb.entities["entity"].to_list()


def test_build_when_done_then_each_entity_says_how_many_forms_it_has_and_which_sources_forms_have(
    kb: KnowledgeBase,
) -> None:
    # Freud is 'anna' (thrice, one key) and 'freud', Karenina 'anna' and 'novel'; Tolstoy is linked to and has no form.
    counted = {f"{DBR}Anna_Freud": 2, f"{DBR}Anna_Karenina": 2, f"{DBR}Tolstoy": 0}
    assert {entity: counted.get(entity, 0) for entity in kb.entities["entity"]} == dict(
        kb.entities.select("entity", "forms").rows()
    )
    assert sorted(kb.form_counts(kb.entities["entity"]).rows()) == sorted(counted.items())[:2]
    assert kb.form_sources == ["anchors", "candidate:tool", "gold:small", "names"]
    assert kb.without_sources(["gold:*", "names"]).form_sources == ["anchors", "candidate:tool"]


def test_candidates_when_counted_then_priors_are_shares_and_ranks_follow_the_counts(kb: KnowledgeBase) -> None:
    found_ = kb.candidates(pl.DataFrame({"form": ["anna", "ANNA", "nobody"]}))
    # 'Anna' and 'ANNA' are one key: Karenina 6, Freud 2 + 1 (the uncounted row adds nothing), 9 in all.
    rows = found_.filter(form="anna").select("entity", "count", "prior", "rank").rows()
    assert rows == [
        (f"{DBR}Anna_Karenina", 6, pytest.approx(6 / 9), 1),
        (f"{DBR}Anna_Freud", 3, pytest.approx(3 / 9), 2),
    ]
    assert found_["form"].unique().sort().to_list() == ["ANNA", "anna"]


def test_candidates_when_a_source_has_no_counts_of_use_then_there_is_no_prior(kb: KnowledgeBase) -> None:
    assert kb.candidates(pl.DataFrame({"form": ["novel"]})).select("count", "prior", "rank").rows() == [(None, None, 1)]


def test_without_sources_when_a_pattern_fits_then_its_rows_are_gone(kb: KnowledgeBase) -> None:
    fewer = kb.without_sources(["gold:*"])
    counts = fewer.candidates(pl.DataFrame({"form": ["Anna"]}))["count"].to_list()
    assert counts == [6, 2]
    assert fewer.signature != kb.signature


@pytest.mark.long
def test_build_when_sources_are_left_out_then_the_version_differs_and_rows_are_gone(
    tables: Tables, tmp_path: Path, kb: KnowledgeBase
) -> None:
    other = build([("tables", str(tables()))], tmp_path / "kb", name="small", without_sources=["gold:*"])
    assert other.version != kb.version
    assert "gold:small" not in other.surface_forms["source"].to_list()


def test_keeping_case_when_forms_differ_in_case_then_they_are_apart(kb: KnowledgeBase) -> None:
    counts = kb.keeping_case().candidates(pl.DataFrame({"form": ["ANNA"]}))["count"].to_list()
    assert counts == [1]


def test_build_when_repeated_then_the_folder_is_kept_and_compression_changes_nothing(
    tables: Tables, kb: KnowledgeBase
) -> None:
    folder = tables()
    plain = folder / "links.tsv"
    (folder / "links.tsv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    again = build([("tables", str(folder))], kb.folder.parent, name="small")
    assert again.folder == kb.folder
    assert [path.name for path in kb.folder.parent.iterdir()] == [kb.folder.name]


def test_build_when_another_engine_does_the_work_then_every_part_is_the_same(
    kb: KnowledgeBase, kb_of: Callable[..., KnowledgeBase]
) -> None:
    other = kb_of(TABLES, engine="polars")
    assert other.folder != kb.folder and other.version == kb.version
    for file in kb.folder.rglob("*.parquet"):
        assert pl.read_parquet(other.folder / file.relative_to(kb.folder)).equals(pl.read_parquet(file)), file.name


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("types.tsv", "entity_iri\ttype_iri\na\tb\n", "3 columns are expected"),
        ("types.tsv", "entity_iri\ttype_iri\tsource\na\tb\tc\td\n", "types.tsv:2: has 4 cells in a table of 3 columns"),
        ("links.tsv", "s\tt\tcount\tsource\ndbr:A\tdbr:B\tmany\tx\n", "links.tsv:2: 'many' is no count"),
        ("surface_forms.tsv", "f\te\tc\ts\n", "no surface forms are left"),
    ],
)
def test_build_when_a_table_is_damaged_then_the_error_names_file_and_line(
    tables: Tables, tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        build([("tables", str(tables(**{name: text})))], tmp_path / "kb", name="small")
    assert [path for path in (tmp_path / "kb").iterdir() if not path.name.startswith(".")] == []


def test_build_when_a_compressed_table_is_cut_short_then_it_is_refused(tables: Tables, tmp_path: Path) -> None:
    folder = tables(**{"types.tsv": None})
    (folder / "types.tsv.gz").write_bytes(gzip.compress(b"entity_iri\ttype_iri\tsource\n" * 50)[:-9])
    with pytest.raises(BadInput, match="cut short"):
        build([("tables", str(folder))], tmp_path / "kb", name="small")


def test_build_when_the_folder_is_none_then_the_error_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder with the tables"):
        build([("tables", str(tmp_path / "nowhere"))], tmp_path, name="small")


def test_open_when_there_is_no_knowledge_base_then_the_error_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(MissingKnowledge, match="remix kb build"):
        KnowledgeBase.open(tmp_path)


def test_open_when_it_is_of_another_format_then_it_is_to_be_built_again(tmp_path: Path) -> None:
    for described, told in ({}, "unknown"), ({"format": "4"}, "4"):
        file = tmp_path / "kb.json"
        file.write_text(json.dumps({"name": "old", "version": "1", "complete": False, **described}))
        with pytest.raises(MissingKnowledge, match=rf"\(format {told} in place of {FORMAT}\): build it again"):
            KnowledgeBase.open(tmp_path)


def test_build_when_there_is_one_of_the_former_format_then_another_is_built_beside_it(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, folder = [("tables", str(tables()))], tmp_path / "w"
    with monkeypatch.context() as before:
        for module in ("parts", "construction"):
            before.setattr(f"remix.kb.{module}.FORMAT", "8")
        old = Workspace(folder).build_kb(sources, name="k", engine="polars")
    workspace = Workspace(folder)
    # It stays attached, but nothing is measured by it, under whichever name it is asked for.
    for ask in (workspace.show_kb, lambda: workspace.attach_kb("k"), lambda: workspace.attach_kb(old.folder.name)):
        with pytest.raises(MissingKnowledge, match=r"another version of remix built.*`remix kb build`"):
            ask()
    made = workspace.build_kb(sources, name="k", engine="polars")
    assert made.folder != old.folder and made.version != old.version
    assert workspace.attach_kb("k").version == made.version
    assert workspace.show_kb(only="summary")["summary"]["value"][0] == "k"


def test_lookup_when_a_form_is_asked_for_then_candidates_come_with_prominence_and_types(kb: KnowledgeBase) -> None:
    shown = lookup(kb, "anna")
    assert shown["entity"].to_list() == ["dbr:Anna_Karenina", "dbr:Anna_Freud"]
    assert shown["types"].to_list() == [["dbo:Book"], ["dbo:Person"]]
    assert shown["segment"].to_list()[0] == "head"


def test_lookup_when_an_entity_is_asked_for_then_its_facts_come(kb: KnowledgeBase) -> None:
    facts = lookup(kb, "dbr:A_Freud").rows()
    assert ("dbr:A_Freud stands for", "dbr:Anna_Freud") in facts
    assert ("label", "Anna Freud") in facts
    assert ("type", "dbo:Person") in facts
    assert ("surface form", "Anna (2)") in facts
    assert ("also", "dbr:Freud's_daughter") in facts


@pytest.mark.parametrize(("name", "hint"), [("Anja", "Anna"), ("dbr:Anna_Freund", "dbr:Anna_Freud")])
def test_lookup_when_the_name_is_unknown_then_the_nearest_is_named(kb: KnowledgeBase, name: str, hint: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{hint}'"):
        lookup(kb, name)


def test_found_when_a_name_is_unknown_then_the_nearest_is_named(kb: KnowledgeBase) -> None:
    assert open_kb(kb.folder.parent, "small").folder == kb.folder
    assert open_kb(kb.folder.parent, kb.folder.name).folder == kb.folder
    with pytest.raises(UnknownName, match="did you mean 'small'"):
        open_kb(kb.folder.parent, "smal")


def test_shipped_knowledge_base_when_built_then_it_has_scores_and_types(tmp_path: Path) -> None:
    shipped = open_kb(tmp_path, "sample")
    assert shipped.entities["pagerank"].sum() == pytest.approx(1.0, abs=1e-6)
    assert shipped.types.height > 800
    assert shipped.described["circular_redirects"]["count"] == 0


@pytest.mark.long
def test_real_slice_when_built_then_it_has_the_pairs_of_its_tables(real_data: Path, tmp_path: Path) -> None:
    source = [("tables", str(real_data / "kb"))]
    made = build(source, tmp_path, name="slice", engine="polars", without_sources=["gold:*"])
    assert made.entities["pagerank"].count() > 5000
    assert not made.surface_forms["source"].str.starts_with("gold:").any()


@pytest.mark.long
def test_build_when_a_class_is_written_with_https_keeps_its_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "types.tsv").write_text(
        "entity_iri\ttype_iri\tsource\nhttps://en.wikipedia.org/wiki/Ada\tmnt:Person\tx\n"
        "dbr:Ada\thttps://schema.org/Person\tx\n"
    )
    (tmp_path / "surface_forms.tsv").write_text("surface_form\tentity_iri\tcount\tsource\nAda\tdbr:Ada\t\tx\n")
    kb = build([("tables", str(tmp_path))], tmp_path / "kb", name="classes")
    assert kb.types.sort("class").select("entity", "class").rows() == [
        ("http://dbpedia.org/resource/Ada", "https://schema.org/Person"),
        ("http://dbpedia.org/resource/Ada", "https://w3id.org/nel-remix/mnt#Person"),
    ]


def test_problems_when_redirects_are_circular_then_the_circle_is_shown(kb: KnowledgeBase) -> None:
    # X → Y → X in the tables; `d → a` into a circle is none of its nodes.
    problems = problems_of(kb).filter(pl.col("problem") == "circular redirects")
    assert problems.select("count", "case").rows() == [(2, "dbr:X → dbr:Y → dbr:X")]
