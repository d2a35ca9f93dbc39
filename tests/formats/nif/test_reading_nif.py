"""NIF becomes documents, annotations and links, whatever its state; small files written here."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
import zstandard

from remix.errors import BadInput
from remix.files import read_bytes
from remix.formats import LoadedFile, measures_path, read
from remix.formats.conversion import convert
from remix.names import HFTS, HFTS_OLD, PREFIXES, RMX

HEAD = "".join(f"@prefix {name}: <{PREFIXES[name]}> .\n" for name in ("nif", "itsrdf", "xsd", "owl", "rmx"))
TEXT = "Ada met Bob in Rome."
#       0123456789...        Ada 0,3  Bob 8,11  Rome 15,19


def context(iri: str = "http://x/d1#char=0,20", text: str = TEXT, more: str = "") -> str:
    return f'<{iri}> a nif:Context ; nif:isString """{text}""" {more}.\n'


def mention(
    begin: int | str,
    end: int | str,
    anchor: str,
    link: str = "",
    doc: str = "http://x/d1#char=0,20",
    iri: str = "",
    more: str = "",
) -> str:
    iri = iri or f"{doc.split('#')[0]}#char={begin},{end}"
    linked = f"; itsrdf:taIdentRef {link} " if link else ""
    return (
        f'<{iri}> a nif:Phrase ; nif:referenceContext <{doc}> ; nif:anchorOf """{anchor}""" ;\n'
        f'  nif:beginIndex "{begin}"^^xsd:int ; nif:endIndex "{end}"^^xsd:int {linked}{more}.\n'
    )


ADA = mention(0, 3, "Ada", "<http://dbpedia.org/resource/Ada_Lovelace>")
ROME = mention(15, 19, "Rome", "<http://dbpedia.org/resource/Rome>")

Read = Callable[..., LoadedFile]


@pytest.fixture
def reading(tmp_path: Path) -> Read:
    def made(text: str | bytes, file: str = "news.ttl", **options: object) -> LoadedFile:
        path = tmp_path / file
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, **options)  # type: ignore[arg-type]

    return made


def kinds(found: LoadedFile) -> dict[str, int]:
    return {repair.kind: repair.count for repair in found.report.repairs}


def test_read_when_clean_then_frames_have_scoped_iris(reading: Read) -> None:
    found = reading(HEAD + context() + ADA + ROME)
    assert found.name == "news"
    assert found.frames.documents.select("document", "text", "words", "given").rows() == [
        ("urn:remix:dataset:news/d1", TEXT, 5, "http://x/d1#char=0,20")
    ]
    columns = ["annotation", "begin", "end", "surface_form", "is_nil", "given"]
    assert found.frames.annotations.select(columns).rows() == [
        ("urn:remix:dataset:news/d1#char=0,3", 0, 3, "Ada", False, "http://x/d1#char=0,3"),
        ("urn:remix:dataset:news/d1#char=15,19", 15, 19, "Rome", False, "http://x/d1#char=15,19"),
    ]
    assert found.frames.links["entity"].to_list() == [
        "http://dbpedia.org/resource/Ada_Lovelace",
        "http://dbpedia.org/resource/Rome",
    ]
    assert found.report.repairs == ()


SYNTAXES = {
    "ttl": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}


@pytest.mark.parametrize("suffix", SYNTAXES)
def test_read_when_another_syntax_then_the_same_content(reading: Read, suffix: str) -> None:
    plain = reading(HEAD + context() + ADA + ROME)
    quads = list(ox.parse((HEAD + context() + ADA + ROME).encode(), format=ox.RdfFormat.TURTLE))
    data = ox.serialize([quad.triple for quad in quads], format=SYNTAXES[suffix])
    assert data is not None
    for file in (f"other.{suffix}", f"again.{suffix}"):
        other = reading(data, file, name="news")
        assert other.content == plain.content
        assert other.frames.annotations.sort("begin").equals(plain.frames.annotations)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress])
def test_read_when_compressed_under_any_name_then_the_same(reading: Read, pack: Callable[[bytes], bytes]) -> None:
    text = HEAD + context() + ADA
    assert reading(pack(text.encode()), "news").content == reading(text).content


def test_read_when_prefixes_are_missing_then_supplied_and_counted(reading: Read) -> None:
    found = reading(context() + ADA)
    assert found.report.annotations == 1
    assert kinds(found) == {"missing-prefix": 3}  # nif, xsd, itsrdf


def test_read_when_the_prefix_is_declared_otherwise_then_it_is_kept(reading: Read) -> None:
    own = HEAD + "@prefix el: <http://own/> .\n"
    found = reading(own + context() + mention(0, 3, "Ada", more="; itsrdf:taClassRef el:X "))
    assert found.frames.classes["class"].to_list() == ["http://own/X"]


def test_read_when_a_link_is_empty_or_a_star_then_nil_and_no_triple(reading: Read, tmp_path: Path) -> None:
    text = HEAD + context() + mention(0, 3, "Ada", "<>") + mention(8, 11, "Bob", "<*>") + ROME
    found = reading(text, triples_to=tmp_path / "out.nt.zst")
    assert (found.report.linked, found.report.nil) == (1, 2)
    assert kinds(found)["invalid-iri"] == 2
    assert read_bytes(tmp_path / "out.nt.zst").count(b"taIdentRef") == 1


@pytest.mark.parametrize("base", ["http://x/corpus", "http://x/", "http://x/corpus.ttl#a"])
def test_read_when_a_link_is_empty_and_a_base_is_declared_then_it_links_to_nothing_either(
    reading: Read, tmp_path: Path, base: str
) -> None:
    text = f"@base <{base}> .\n" + HEAD + context() + mention(0, 3, "Ada", "<>") + mention(8, 11, "Bob", "<*>") + ROME
    found = reading(text, triples_to=tmp_path / "out.nt.zst")
    assert (found.report.linked, found.report.nil) == (1, 2)
    assert kinds(found) == {"invalid-iri": 2}
    assert read_bytes(tmp_path / "out.nt.zst").count(b"taIdentRef") == 1


def test_read_when_offsets_are_decimals_then_they_are_numbers(reading: Read) -> None:
    found = reading(HEAD + context() + ROME.replace('"15"^^xsd:int', '"15.0"^^xsd:double').replace("#char=15,19", "#r"))
    assert found.frames.annotations.select("begin", "end").rows() == [(15, 19)]
    assert found.report.repairs == ()


def test_read_when_named_graphs_stand_in_turtle_then_they_are_read(reading: Read) -> None:
    found = reading(HEAD + "<http://x/g> {\n" + context() + ADA + "}\n")
    assert found.report.annotations == 1


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "UTF-16", "UTF-8"])
def test_read_when_xml_is_not_utf8_then_it_is_read_by_its_declaration(reading: Read, encoding: str) -> None:
    text = HEAD + context(text="Zoë saw Rome") + mention(8, 12, "Rome")
    quads = ox.parse(text.encode(), format=ox.RdfFormat.TURTLE)
    xml = ox.serialize([quad.triple for quad in quads], format=ox.RdfFormat.RDF_XML)
    assert xml is not None
    # What says that it is UTF-8 and is not, is Windows-1252.
    data = xml.decode().replace("UTF-8", encoding).encode("cp1252" if encoding == "UTF-8" else encoding)
    found = reading(data, "news.rdf")
    assert found.frames.documents["text"].item() == "Zoë saw Rome"
    assert kinds(found) == {"encoding": 1}


def test_read_when_json_is_utf16_then_it_is_read(reading: Read) -> None:
    quads = ox.parse((HEAD + context(text="Zoë") + mention(0, 3, "Zoë")).encode(), format=ox.RdfFormat.TURTLE)
    json = ox.serialize([quad.triple for quad in quads], format=ox.RdfFormat.JSON_LD)
    assert json is not None
    found = reading(json.decode().encode("utf-16"), "news.jsonld")
    assert found.frames.annotations["surface_form"].to_list() == ["Zoë"]
    assert kinds(found) == {"encoding": 1}


@pytest.mark.parametrize("said", ["Rome Town", "Rome"])
def test_read_when_an_iri_of_xml_is_relative_beside_others_that_are_mended_then_all_is_read(
    reading: Read, said: str
) -> None:
    # The parser tells the first defect alone: the blank in a link before, or the one of the relative link itself.
    text = HEAD + context() + mention(0, 3, "Ada", "<http://dbpedia.org/resource/Ada_L>") + ROME
    triples = [quad.triple for quad in ox.parse(text.encode(), format=ox.RdfFormat.TURTLE)]
    data = ox.serialize(triples, format=ox.RdfFormat.RDF_XML)
    assert data is not None
    odd = data.decode().replace("resource/Ada_L", "resource/Ada L").replace("http://dbpedia.org/resource/Rome", said)
    found = reading(odd, "news.rdf")
    assert kinds(found) == {"invalid-iri": 1 + said.count(" "), "relative-iri": 1}
    assert "http://dbpedia.org/resource/Ada_L" in found.frames.links["entity"].to_list()
    assert found.report.annotations == 2


@pytest.mark.parametrize("suffix", ["jsonld", "rdf"])
@pytest.mark.parametrize(
    ("said", "entity", "told"),
    [
        (" http://dbpedia.org/resource/New York", "New_York", {"invalid-iri": 1}),
        ("http://dbpedia.org/resource/M\ufffdller", "M%EF%BF%BDller", {"invalid-iri": 1}),
        ("*", None, {"relative-iri": 1, "invalid-iri": 1}),
        ("", None, {"relative-iri": 1, "invalid-iri": 1}),
    ],
)
def test_read_when_a_link_in_json_or_xml_is_no_iri_then_it_is_mended_and_told(
    reading: Read, suffix: str, said: str, entity: str | None, told: dict[str, int]
) -> None:
    triples = [quad.triple for quad in ox.parse((HEAD + context() + ROME).encode(), format=ox.RdfFormat.TURTLE)]
    data = ox.serialize(triples, format=SYNTAXES[suffix])
    assert data is not None
    found = reading(data.decode().replace("http://dbpedia.org/resource/Rome", said), f"news.{suffix}")
    assert found.frames.links["entity"].to_list() == ([f"http://dbpedia.org/resource/{entity}"] if entity else [])
    assert (found.report.annotations, kinds(found)) == (1, told)


def test_read_when_windows_1252_then_the_text_is_right(reading: Read) -> None:
    text = HEAD + context(text="Zoë saw “Rome”") + mention(9, 13, "Rome")
    found = reading(text.encode("cp1252"))
    assert found.frames.documents["text"].item() == "Zoë saw “Rome”"
    assert kinds(found) == {"encoding": 1}


def test_read_when_white_space_and_marks_stand_in_the_text_then_they_stay(reading: Read) -> None:
    text = "\ufeff Ada\u00a0met\r\n Bob \ufeff"
    found = reading(
        (HEAD + context(text=text) + mention(2, 5, "Ada") + mention(12, 15, "Bob"))
        .replace("\n", "\r\n")
        .replace("\r\r", "\r")
    )
    assert found.frames.documents["text"].item() == text
    assert found.report.repairs == ()


SHARED = "http://x/all#char=0,3"


def test_read_when_one_iri_names_annotations_of_two_texts_then_both_stay_with_their_links(reading: Read) -> None:
    blocks = (
        context()
        + mention(0, 3, "Ada", "<http://dbpedia.org/resource/Ada_Lovelace>", iri=SHARED)
        + context("http://x/d2", "Bob slept.")
        + mention(0, 3, "Bob", "<http://dbpedia.org/resource/Bob_Dylan>", "http://x/d2", SHARED)
    )
    found = reading(HEAD + blocks)
    joined = found.frames.annotations.join(found.frames.links, on="annotation").sort("document")
    assert joined.select("document", "surface_form", "entity").rows() == [
        ("urn:remix:dataset:news/d1", "Ada", "http://dbpedia.org/resource/Ada_Lovelace"),
        ("urn:remix:dataset:news/d2", "Bob", "http://dbpedia.org/resource/Bob_Dylan"),
    ]
    assert kinds(found) == {"shared-iri": 1}


def test_read_when_blocks_of_one_iri_stand_side_by_side_then_both_stay(reading: Read) -> None:
    second = mention(0, 3, "Bob", "<http://dbpedia.org/resource/Bob_Dylan>", "http://x/d2", SHARED)
    blocks = context() + context("http://x/d2", "Bob slept.") + mention(0, 3, "Ada", iri=SHARED) + second
    found = reading(HEAD + blocks)
    assert found.frames.annotations.sort("document")["surface_form"].to_list() == ["Ada", "Bob"]
    assert found.frames.annotations.sort("document")["is_nil"].to_list() == [True, False]


def test_read_when_triples_of_one_subject_are_scattered_then_one_annotation(reading: Read) -> None:
    data = ox.serialize(
        [quad.triple for quad in ox.parse((HEAD + context() + ADA + ROME).encode(), format=ox.RdfFormat.TURTLE)],
        format=ox.RdfFormat.N_TRIPLES,
    )
    assert data is not None
    lines = sorted(data.splitlines(), key=lambda line: line[::-1])
    found = reading(b"\n".join([*lines, *lines[:3]]) + b"\n", "news.nt")
    assert found.report.annotations == 2
    assert found.content == reading(HEAD + context() + ADA + ROME, "plain.ttl").content
    assert [(one.kind, one.count) for one in found.report.repairs] == [("repeated-triple", 3)]


def test_read_when_begin_is_given_with_two_datatypes_then_it_is_one_value(reading: Read) -> None:
    again = '<http://x/d1#char=0,3> nif:beginIndex "0"^^xsd:long .\n'
    found = reading(HEAD + context() + ADA + again)
    assert (found.report.annotations, found.report.repairs) == (1, ())


def test_read_when_sentences_are_parts_of_a_text_then_documents_are_the_sentences(reading: Read) -> None:
    whole = context("http://x/whole", "Ada met Bob in Rome. Bob slept.")
    first = context(more="; nif:broaderContext <http://x/whole> ")
    other = context("http://x/d2", "Bob slept.", "; nif:broaderContext <http://x/whole> ")
    found = reading(HEAD + whole + first + other + ADA)
    assert sorted(found.frames.documents["given"]) == ["http://x/d1#char=0,20", "http://x/d2"]


def test_read_when_phrases_are_typed_as_contexts_then_they_are_annotations(reading: Read) -> None:
    found = reading((HEAD + context() + ADA).replace("a nif:Phrase", "a nif:Context, nif:Phrase"))
    assert (found.report.documents, found.report.annotations) == (1, 1)


def test_read_when_the_link_is_a_local_resource_then_it_is_followed_or_nil(reading: Read) -> None:
    same = "<http://x/res/Ada> owl:sameAs <http://dbpedia.org/page/Ada_Lovelace> .\n"
    found = reading(
        HEAD + context() + mention(0, 3, "Ada", "<http://x/res/Ada>") + mention(8, 11, "Bob", "<http://x/Bob>") + same
    )
    assert found.frames.links.select("entity", "entity_as_given").rows() == [
        ("http://dbpedia.org/resource/Ada_Lovelace", "http://x/res/Ada")
    ]
    assert found.frames.annotations["is_nil"].to_list() == [False, True]


def test_read_when_texts_and_entities_share_a_host_then_links_stay(reading: Read) -> None:
    found = reading(HEAD + context() + mention(0, 3, "Ada", "<http://x/kb/Ada>"))
    assert found.frames.links["entity"].to_list() == ["http://x/kb/Ada"]


def test_read_when_subjects_are_blank_nodes_then_names_are_the_same_each_time(reading: Read) -> None:
    text = HEAD + '[] nif:isString "Ada" ; nif:own [ nif:p 1 ] .\n' + context() + ADA
    first, second = (reading(text) for _ in range(2))
    assert first.frames.documents.equals(second.frames.documents)
    assert first.content == second.content


@pytest.mark.parametrize(
    "link",
    ["", "<http://aksw.org/notInWiki/Ada>", "<https://en.wikipedia.org/wiki/NotInLexico>", "[ nif:x nif:y ]",
     "[ nif:x nif:y ], <https://en.wikipedia.org/wiki/NotInLexico>", "<http://scms.eu/Ada>", '"<NIL>"'],
)  # fmt: skip
def test_read_when_nil_is_spelt_so_then_it_is_nil(reading: Read, link: str) -> None:
    found = reading(HEAD + context() + mention(0, 3, "Ada", link))
    assert (found.report.linked, found.report.nil) == (0, 1)
    assert found.frames.links.is_empty()


def test_read_when_annotations_share_a_span_then_they_are_options_of_one_group(reading: Read) -> None:
    second = mention(0, 3, "Ada", "<http://dbpedia.org/resource/Ada>", iri="http://x/d1#char=0,3;2")
    found = reading(HEAD + context() + ADA + second + ROME)
    assert found.frames.annotations.select("annotation", "group", "option").rows() == [
        (
            f"urn:remix:dataset:news/d1#char={span}",
            f"urn:remix:dataset:news/d1#char={group}",
            f"urn:remix:dataset:news/d1#char={span}",
        )
        for span, group in (("0,3", "0,3"), ("0,3;2", "0,3"), ("15,19", "15,19"))
    ]


def test_read_when_offsets_are_missing_then_the_iri_says_them(reading: Read, tmp_path: Path) -> None:
    bare = '<http://x/d1#offset_15_19> nif:referenceContext <http://x/d1#char=0,20> ; nif:anchorOf "Rome" .\n'
    found = reading(HEAD + context() + bare, triples_to=tmp_path / "out.nt.zst")
    assert found.frames.annotations.select("begin", "end").rows() == [(15, 19)]
    assert b"#char=15,19> <" in read_bytes(tmp_path / "out.nt.zst")
    assert b'beginIndex> "15"^^' in read_bytes(tmp_path / "out.nt.zst")


def test_read_when_offsets_are_repaired_then_the_triples_have_the_right_ones(reading: Read, tmp_path: Path) -> None:
    found = reading(HEAD + context() + mention(16, 20, "Rome"), triples_to=tmp_path / "out.nt.zst")
    assert kinds(found) == {"offset": 1}
    written = read_bytes(tmp_path / "out.nt.zst").decode()
    assert 'beginIndex> "15"^^<http://www.w3.org/2001/XMLSchema#int>' in written
    assert 'endIndex> "19"^^<http://www.w3.org/2001/XMLSchema#int>' in written
    assert '"16"' not in written


def test_read_when_the_context_ends_elsewhere_then_its_end_is_mended(reading: Read, tmp_path: Path) -> None:
    ends = '; nif:beginIndex "0"^^xsd:int ; nif:endIndex "21"^^xsd:int '
    found = reading(HEAD + context(more=ends) + ADA, triples_to=tmp_path / "out.nt.zst")
    assert kinds(found) == {"context-end": 1}
    assert b'endIndex> "20"^^' in read_bytes(tmp_path / "out.nt.zst")


def test_read_when_one_of_two_anchors_fits_then_nothing_is_wrong(reading: Read) -> None:
    found = reading(HEAD + context() + ROME.replace('"""Rome"""', '"Rome, Italy", "Rome"'))
    assert found.report.repairs == ()
    assert found.frames.annotations["surface_form"].to_list() == ["Rome"]


def test_read_when_a_context_has_no_text_then_its_annotation_is_kept_and_counted(reading: Read) -> None:
    found = reading(HEAD + context() + ADA + mention(0, 3, "Eve", doc="http://x/lost"))
    assert (found.report.documents, found.report.annotations) == (1, 2)
    assert kinds(found) == {"dangling": 1}
    assert found.frames.annotations.filter(pl.col("document").str.ends_with("lost"))["surface_form"].to_list() == [
        "Eve"
    ]


def test_read_when_one_iri_has_two_texts_then_each_keeps_its_annotations(reading: Read) -> None:
    twice = context(text="Eve slept.")
    found = reading(HEAD + context() + ADA + twice + mention(0, 3, "Eve"))
    assert kinds(found)["duplicate-document"] == 1
    joined = found.frames.annotations.join(found.frames.documents.select("document", "text"), on="document")
    assert sorted(joined.select("surface_form", "text").rows()) == [("Ada", TEXT), ("Eve", "Eve slept.")]


def test_read_when_a_text_is_empty_then_it_is_a_document_and_reported(reading: Read) -> None:
    found = reading(HEAD + context() + ADA + context("http://x/empty", ""), strict=True)
    assert (found.report.documents, kinds(found)) == (2, {"empty-document": 1})


def test_read_when_two_documents_end_alike_then_their_names_differ(reading: Read) -> None:
    found = reading(
        HEAD + context("http://x/1", "a") + context("http://y/1", "b") + mention(0, 1, "a", doc="http://x/1")
    )
    assert sorted(found.frames.documents["document"]) == ["urn:remix:dataset:news/1", "urn:remix:dataset:news/1-2"]


def test_read_when_confidence_class_language_and_source_are_given_then_they_are_columns(reading: Read) -> None:
    more = '; itsrdf:taConfidence "0.25"^^xsd:double ; itsrdf:taClassRef nif:A, nif:B '
    text = (
        HEAD
        + '<http://x/1> nif:isString "Ada"@EN ; nif:sourceUrl <http://s/> .\n'
        + mention(0, 3, "Ada", doc="http://x/1", more=more)
    )
    frames = reading(text).frames
    assert frames.annotations["confidence"].to_list() == [0.25]
    assert frames.classes.height == 2
    assert frames.documents.select("language", "source").rows() == [("en", "http://s/")]


@pytest.mark.parametrize("confidence", ['"high"', '"NaN"^^xsd:double', '"-INF"^^xsd:double', "<http://x/sure>", '""'])
def test_read_when_a_confidence_is_no_number_then_it_is_left_out_and_told(reading: Read, confidence: str) -> None:
    sure, unsure = "; itsrdf:taConfidence 1", f"; itsrdf:taConfidence {confidence}"
    found = reading(HEAD + context() + mention(0, 3, "Ada", more=sure) + mention(8, 11, "Bob", more=unsure))
    assert found.frames.annotations["confidence"].to_list() == [1.0, None]
    (repair,) = found.report.repairs
    assert (repair.kind, repair.count) == ("confidence", 1)
    assert repair.example.startswith("http://x/d1#char=8,11: ")
    assert repair.example.endswith(" is no number, left out")


def test_read_when_measures_are_met_then_they_go_apart_under_the_current_namespace(
    reading: Read, tmp_path: Path
) -> None:
    old = f"<http://x/d1#char=0,20> <{HFTS_OLD}notAnnotatedProperty> 0 ; <{HFTS}density> 0.4 .\n"
    old += f"<http://x/ds> a <{HFTS}Dataset> ; <{HFTS}referenceDocuments> <http://x/d1#char=0,20> ; "
    old += f"<{HFTS}microDensity> 0.4 .\n"
    target = tmp_path / "out.nt.zst"
    frames = reading(HEAD + context() + ADA + old, triples_to=target).frames
    assert sorted(frames.values.select("subject", "term", "number").rows()) == [
        ("urn:remix:dataset:news", f"{HFTS}microDensity", 0.4),
        ("urn:remix:dataset:news/d1", f"{HFTS}density", 0.4),
        ("urn:remix:dataset:news/d1", f"{HFTS}notAnnotated", 0.0),
    ]
    assert b"ensity" not in read_bytes(target)
    assert read_bytes(target).count(b"referenceDocuments") == 1
    assert read_bytes(measures_path(target)).count(b"\n") == 3


def test_read_when_annotations_are_ignorable_then_they_are_rows_but_not_counted(reading: Read) -> None:
    aside = (
        '<http://x/d1#char=8,11> a rmx:Ignorable ; rmx:document <http://x/d1#char=0,20> ; rmx:ignorable "dropped" ;\n'
        '  nif:beginIndex 8 ; nif:endIndex 11 ; nif:anchorOf "Bob" .\n'
        "<http://x/r> a rmx:Region ; rmx:document <http://x/d1#char=0,20> ; nif:beginIndex 0 ; nif:endIndex 12 .\n"
    )
    found = reading(HEAD + context() + ADA + aside)
    assert found.report.annotations == 1
    assert sorted(found.frames.annotations.select("surface_form", "ignorable").rows()) == [
        ("Ada", None),
        ("Bob", "dropped"),
    ]
    assert found.frames.regions.rows() == [("urn:remix:dataset:news/d1", 0, 12)]


def test_read_when_triples_are_written_then_unknown_ones_stay_and_the_given_iris_are_noted(
    reading: Read, tmp_path: Path
) -> None:
    odd = '<http://x/d1#char=0,3> <http://own/p> "a\\n\\"b\\" \\u0001 \U0001f600"@de , '
    odd += "[ <http://own/q> <http://x/d1#char=0,20> ] .\n"
    target = tmp_path / "out.nt.zst"
    reading(HEAD + context() + ADA + odd, triples_to=target)
    triples = {str(quad) for quad in ox.parse(read_bytes(target), format=ox.RdfFormat.N_TRIPLES)}
    document, annotation = "<urn:remix:dataset:news/d1>", "<urn:remix:dataset:news/d1#char=0,3>"
    assert f'{annotation} <http://own/p> "a\\n\\"b\\" \\u0001 \U0001f600"@de' in triples
    assert f"_:news-b1 <http://own/q> {document}" in triples
    assert f"{annotation} <http://own/p> _:news-b1" in triples
    assert f"{annotation} <{RMX}givenIri> <http://x/d1#char=0,3>" in triples
    assert f"<urn:remix:dataset:news> <{HFTS}referenceDocuments> {document}" in triples


def test_read_when_strict_then_what_needs_repair_is_refused(reading: Read) -> None:
    with pytest.raises(BadInput, match=r"news\.ttl: would need repair: offset \(1\); first: .*16,20 is 15,19"):
        reading(HEAD + context() + mention(16, 20, "Rome"), strict=True)


def test_read_when_a_file_without_annotations_is_allowed_then_it_has_its_documents(reading: Read) -> None:
    with pytest.raises(BadInput, match="has 1 documents but no annotation"):
        reading(HEAD + context())
    assert reading(HEAD + context(), unannotated=True).report.documents == 1


def test_names_that_are_no_iris_are_texts_in_what_is_loaded_and_come_back(tmp_path: Path) -> None:
    """A document of another format is called 'Top: Rome'; the store takes IRIs alone, and what it has is read again."""
    for name in ("once", "again"):
        source = tmp_path / "once.ttl" if name == "again" else tmp_path / "x.jsonl"
        if name == "once":
            source.write_text('{"document": "Top: Rome", "text": "Rome", "begin": 0, "end": 4, "entity": "Q220"}\n')
        convert(source, tmp_path / f"{name}.ttl")
    found = read(tmp_path / "again.ttl", triples_to=tmp_path / "data.nt.zst")
    assert found.report.repairs == ()
    assert found.frames.documents["given"].to_list() == ["Top: Rome"]
    lines = read_bytes(tmp_path / "data.nt.zst").decode()
    assert '"Top: Rome"' in lines and "<Top: Rome>" not in lines
