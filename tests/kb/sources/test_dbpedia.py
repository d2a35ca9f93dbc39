"""Files of a DBpedia release, as small as can be."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

from remix.errors import BadInput, UsageError
from remix.kb.sources import Choices
from remix.kb.sources.dbpedia import SOURCE, recognise

from .conftest import Read, rows

Compress = Callable[[bytes], bytes]
DBR, DBO = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
LABELS = f"""# started 2022-12-01T10:00:00Z
<{DBR}Zoë_Zeta> {LABEL} "Zo\\u00EB Zeta"@en .
<{DBR}%22Quoted%22> {LABEL} "\\"Quoted\\""@en .
<{DBR}Smile_\\U0001F600> {LABEL} "Smile 😀"@en .
<{DBR}Zoë_Zeta> {LABEL} "Soe Seta"@de .
# completed 2022-12-01T10:00:01Z
"""


def line(subject: str, predicate: str, value: str) -> str:
    return f"<{DBR}{subject}> <{predicate}> <{value}> .\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("labels_en.ttl.bz2", "en"),
        ("labels_lang=en.ttl.bz2", "en"),
        ("labels_en_uris_de.nt.bz2", "de"),
        ("redirects_lang=de_transitive.ttl.bz2", "de"),
        ("transitive_redirects_en.tql.bz2", "en"),
        ("transitive-redirects_lang=en.ttl.gz", "en"),
        ("disambiguations_unredirected_en.nq", "en"),
        ("infobox-properties_lang=en.ttl.bz2", "en"),
        ("mappingbased_literals_en.ttl.bz2", "en"),
        ("mappingbased-literals_lang=en.ttl.bz2", "en"),
        ("instance_types_transitive_en.ttl.bz2", "en"),
        ("instance-types_lang=en_specific.ttl.bz2", "en"),
        ("instance-types_inference=transitive_lang=en.ttl.zst", "en"),
        ("page_links_en.nt", "en"),
        ("page-links_lang=en.ttl", "en"),
        ("wikilinks_lang=en.ttl.bz2", "en"),
        ("interlanguage_links_chapters_en.ttl.bz2", "en"),
        ("sameas-all-wikis.ttl.bz2", ""),
        ("wikidata-sameas_lang=en.ttl", "en"),
    ],
)
def test_names_of_all_eras_are_recognised(name: str, language: str) -> None:
    kind, found = recognise(name)
    assert kind is not None
    assert found == language


@pytest.mark.parametrize("name", ["long_abstracts_en.ttl.bz2", "labels_en.txt", "README", "category_labels_en.nt"])
def test_other_names_are_not(name: str) -> None:
    assert recognise(name)[0] is None


def two_streams(data: bytes) -> bytes:
    return bz2.compress(data[:100]) + bz2.compress(data[100:])


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("", bytes),
        (".bz2", bz2.compress),
        (".bz2", two_streams),
        (".gz", gzip.compress),
        (".zst", zstandard.compress),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_labels_are_read_from_any_compression(
    release: Path, read: Read, suffix: str, compress: Compress, end: str
) -> None:
    file = release / f"labels_lang=en.ttl{suffix}"
    file.write_bytes(compress(LABELS.replace("\n", end).encode()))
    staging = read(SOURCE, release)
    expected = [
        (f"{DBR}%22Quoted%22", '"Quoted"', "label"),
        (f"{DBR}Smile_😀", "Smile 😀", "label"),
        (f"{DBR}Zoë_Zeta", "Zoë Zeta", "label"),
    ]
    assert rows(staging, "labels", "entity", "label", "source") == expected
    assert rows(staging, "surface_forms", "entity", "surface_form", "source") == expected
    assert not staging.problems


def test_languages_that_are_asked_for_give_forms_and_the_first_one_labels(release: Path, read: Read) -> None:
    (release / "labels.nt").write_text(LABELS)
    staging = read(SOURCE, release, languages=("de", "en"))
    assert rows(staging, "labels", "label") == [("Soe Seta",)]
    assert len(rows(staging, "surface_forms", "surface_form")) == 4


def test_redirect_gives_its_title_as_a_form_of_its_target(release: Path, read: Read) -> None:
    (release / "redirects_en.nt").write_text(line("Zoe_Z._(poet)", DBO + "wikiPageRedirects", DBR + "Zoë_Zeta"))
    staging = read(SOURCE, release)
    assert rows(staging, "redirects", "redirect", "target") == [(f"{DBR}Zoe_Z._(poet)", f"{DBR}Zoë_Zeta")]
    assert rows(staging, "surface_forms", "key", "surface_form", "entity", "source") == [
        ("zoe z. (poet)", "Zoe Z. (poet)", f"{DBR}Zoë_Zeta", "redirect-label")
    ]


def test_disambiguation_page_gives_its_name_as_a_form_of_each_candidate(release: Path, read: Read) -> None:
    text = line("Zeta_(disambiguation)", DBO + "wikiPageDisambiguates", DBR + "Zeta_(letter)")
    text += line("Zeta_(disambiguation)", DBO + "wikiPageDisambiguates", DBR + "Zoë_Zeta")
    (release / "disambiguations_en.nt").write_text(text)
    staging = read(SOURCE, release)
    assert rows(staging, "disambiguations", "page", "entity") == [
        (f"{DBR}Zeta_(disambiguation)", f"{DBR}Zeta_(letter)"),
        (f"{DBR}Zeta_(disambiguation)", f"{DBR}Zoë_Zeta"),
    ]
    assert rows(staging, "surface_forms", "surface_form", "entity", "source") == [
        ("Zeta", f"{DBR}Zeta_(letter)", "disambiguation"),
        ("Zeta", f"{DBR}Zoë_Zeta", "disambiguation"),
    ]


def test_only_names_are_taken_of_infoboxes(release: Path, read: Read) -> None:
    text = f'<{DBR}Z> <http://xmlns.com/foaf/0.1/name> "Zed"@en .\n'
    text += f'<{DBR}Z> <http://dbpedia.org/property/name> "Zett"@de .\n'
    text += f'<{DBR}Z> <http://dbpedia.org/property/name> "26"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    text += f'<{DBR}Z> <http://dbpedia.org/property/height> "Zz"@en .\n'
    (release / "infobox-properties_lang=en.ttl").write_text(text)
    assert rows(read(SOURCE, release), "surface_forms", "surface_form", "source") == [("Zed", "name")]


def test_types_and_links(release: Path, read: Read) -> None:
    rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    (release / "instance-types_lang=en_transitive.ttl").write_text(line("Z", rdf_type, DBO + "Person"))
    (release / "page_links_en.tql").write_text(
        line("Z", DBO + "wikiPageWikiLink", DBR + "Y").replace(" .\n", " <http://en.wikipedia.org/wiki/Z?oldid=1> .\n")
    )
    staging = read(SOURCE, release)
    assert rows(staging, "types", "entity", "class", "source") == [(f"{DBR}Z", f"{DBO}Person", "instance-types")]
    assert rows(staging, "links", "source", "target", "origin") == [(f"{DBR}Z", f"{DBR}Y", "page-links")]


def test_sameas_links_lead_to_the_entity_of_the_first_language(release: Path, read: Read) -> None:
    same = "http://www.w3.org/2002/07/owl#sameAs"
    text = line("Z", same, "http://wikidata.dbpedia.org/resource/Q1")
    text += line("Z", same, "http://de.dbpedia.org/resource/Zet")
    text += line("Z", same, "http://fr.dbpedia.org/resource/Zed")  # not asked for
    text += line("Z", same, "http://rdf.freebase.com/ns/m.01")
    text += "<http://www.wikidata.org/entity/Q2> <" + same + f"> <{DBR}Y> .\n"
    (release / "interlanguage-links_lang=en.ttl").write_text(text)
    staging = read(SOURCE, release, languages=("en", "de"))
    assert rows(staging, "sameas", "wikidata", "entity") == [
        ("http://de.dbpedia.org/resource/Zet", f"{DBR}Z"),
        ("http://www.wikidata.org/entity/Q1", f"{DBR}Z"),
        ("http://www.wikidata.org/entity/Q2", f"{DBR}Y"),
    ]


def test_parts_say_where_they_are_from(tmp_path: Path) -> None:
    folder = tmp_path / "labels" / "2021.06.01"
    folder.mkdir(parents=True)
    (folder / "labels_lang=en.ttl").write_text(LABELS)
    (folder / "redirects_lang=en.ttl").write_text("")
    (folder / "labels_lang=de.ttl").write_text(LABELS)
    labels, redirects = SOURCE.parts(str(tmp_path), Choices())
    assert (labels.name, labels.date) == ("labels/2021.06.01/labels_lang=en.ttl", "2022-12-01")
    assert redirects.date == "2021-06-01"
    assert labels.licence == "CC BY-SA 3.0, GFDL"
    assert labels.fingerprint != SOURCE.parts(str(tmp_path), Choices(languages=("en", "fr")))[0].fingerprint


def test_same_file_in_two_syntaxes_is_read_once(release: Path) -> None:
    (release / "labels_en.nt").write_text(LABELS)
    (release / "labels_en.ttl").write_text(LABELS)
    assert [part.name for part in SOURCE.parts(str(release), Choices())] == ["labels_en.nt"]


def test_folder_of_other_languages_is_refused_with_those_it_has(release: Path) -> None:
    (release / "labels_de.nt").write_text(LABELS)
    with pytest.raises(UsageError, match=r"no file in en, only in de \(1\): choose with --lang"):
        SOURCE.parts(str(release), Choices())


def test_folder_without_a_release_is_refused_with_what_it_has(release: Path) -> None:
    (release / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match=r"no file that is named as in a DBpedia release.*; it has notes\.txt"):
        SOURCE.parts(str(release), Choices())


def test_texts_of_other_languages_only_are_refused_with_those_seen(release: Path, read: Read) -> None:
    (release / "labels.nt").write_text(LABELS)
    with pytest.raises(BadInput, match=r"labels\.nt: has no text in fr, only in en \(3\), de \(1\)"):
        read(SOURCE, release, languages=("fr",))


def test_lines_that_are_no_triple_are_counted_and_the_others_read(release: Path, read: Read) -> None:
    (release / "labels_en.nt").write_bytes(LABELS.encode() + b"nonsense\n" * 12 + b'<x> <y> "\xff" .\n')
    staging = read(SOURCE, release)
    assert staging.rows["labels"] == 3
    problem = staging.problems["a line that is no triple"]
    assert problem.count == 12
    assert len(problem.first) == 10
    assert problem.first[0] == "labels_en.nt:7: nonsense"
    assert staging.problems["a line that is not UTF-8"].count == 1


def test_strict_stops_at_the_first_line_that_is_no_triple(release: Path, read: Read) -> None:
    (release / "labels_en.nt").write_text(LABELS + "nonsense\n")
    with pytest.raises(BadInput, match=r"labels_en\.nt: a line that is no triple: labels_en\.nt:7: nonsense"):
        read(SOURCE, release, strict=True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "is a web page and no dump"),
        (b"plain text\n", "is not compressed as its name says"),
        (bz2.compress(b"@prefix x: <y> .\nx:a x:b x:c .\n"), "no triple that is wanted"),
    ],
)
def test_file_that_is_no_dump_is_refused(release: Path, read: Read, content: bytes, reason: str) -> None:
    (release / "labels_en.ttl.bz2").write_bytes(content)
    with pytest.raises(BadInput, match=f"labels_en.ttl.bz2: .*{reason}"):
        read(SOURCE, release)


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    ("suffix", "compress"), [(".bz2", bz2.compress), (".gz", gzip.compress), (".zst", zstandard.compress)]
)
def test_what_was_read_of_a_file_that_is_cut_short_is_kept(
    release: Path, read: Read, tmp_path, suffix, compress
) -> None:  # type: ignore[no-untyped-def]
    text = "".join(f'<{DBR}E{n * 7919 % 100_003}> {LABEL} "E {n * n}"@en .\n' for n in range(60_000))
    whole = compress(text.encode())
    (release / f"labels_en.nt{suffix}").write_bytes(whole[: len(whole) * 3 // 4])
    with pytest.raises(BadInput, match=r"labels_en\.nt\.\w+:\d+: .*after [\d,]+ bytes of it; [\d,]+ bytes came out"):
        read(SOURCE, release)
    kept = pl.concat(pl.read_parquet(file) for file in (tmp_path / "staged" / "labels").iterdir())
    # Three quarters of the bytes hold about that share of the lines; bzip2 gives whole blocks of 900 kB only.
    assert 15_000 < kept.height < 50_000
    assert kept["label"][:3].to_list() == ["E 0", "E 1", "E 4"]


def test_demonyms_are_taken_apart_and_are_no_names(release: Path, read: Read) -> None:
    text = f'<{DBR}Zeta> <{DBO}demonym> "Zetan, Zetian; Zet"@en .\n'
    text += f'<{DBR}Zeta> <http://xmlns.com/foaf/0.1/name> "City of Zeta"@en .\n'
    (release / "mappingbased-literals_lang=en.ttl").write_text(text)
    staging = read(SOURCE, release)
    assert rows(staging, "demonyms", "key", "demonym", "entity") == [
        ("zet", "Zet", f"{DBR}Zeta"),
        ("zetan", "Zetan", f"{DBR}Zeta"),
        ("zetian", "Zetian", f"{DBR}Zeta"),
    ]
    assert rows(staging, "surface_forms", "surface_form") == [("City of Zeta",)]
