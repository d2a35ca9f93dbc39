"""From one format to another, and `remix convert`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import BadInput, UsageError
from remix.formats import FORMATS, read
from remix.formats.conversion import convert
from remix.frames_folder import FramesFolder
from tests.commands import run_process, run_verb

NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
<http://x/d1#char=0,11> a nif:Context ; nif:isString "Rome is old" .
<http://x/d1#char=0,4> a nif:Phrase ; nif:referenceContext <http://x/d1#char=0,11> ; nif:anchorOf "Rome" ;
  nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Rome> .
<http://x/d2#char=0,5> a nif:Context ; nif:isString "Silent" .
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.ttl"
    path.write_text(NIF)
    return path


def test_what_was_mended_and_what_is_lost_is_told_kind_by_kind(corpus: Path) -> None:
    done = convert(corpus, corpus.with_name("out.tsv"), to="neleval")
    assert done.table().select("what", "kind", "count").rows() == [
        ("repaired", "offset", 1), ("lost", "unannotated", 1),
        ("lost", "texts", 1),
    ]  # fmt: skip
    assert corpus.with_name("out.tsv").read_text() == (
        "http://x/d1#char=0,11\t0\t3\thttp://dbpedia.org/resource/Rome\t\t\n"
    )


def test_texts_come_back_from_another_file(corpus: Path) -> None:
    bare, whole = corpus.with_name("out.tsv"), corpus.with_name("whole.ttl")
    convert(corpus, bare, to="neleval")
    with pytest.raises(UsageError, match=r"nif needs the text of .*/d1.*--text FILE"):
        convert(bare, whole)
    assert not whole.exists()
    convert(bare, whole, texts=corpus)
    frames = read(whole).frames
    assert frames.documents["text"].to_list() == ["Rome is old"]
    assert frames.annotations["surface_form"].to_list() == ["Rome"]
    assert frames.links["entity"].to_list() == ["http://dbpedia.org/resource/Rome"]


def test_document_without_text_in_the_other_file_is_named(corpus: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.tsv"
    run.write_text("d1\t0\t3\tQ220\nelsewhere\t0\t1\tQ1\n")
    with pytest.raises(BadInput, match=r"corpus\.ttl: has no text for 1 of 2 documents, such as elsewhere"):
        convert(run, tmp_path / "out.ttl", texts=corpus)


def test_answer_beyond_the_text_is_left_out_and_told(corpus: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.tsv"
    # d1 is matched by its name; "Rome is old" has 11 characters.
    run.write_text("d1\t0\t3\tQ220\nd1\t8\t11\tQ1\n")
    done = convert(run, tmp_path / "out.ttl", texts=corpus)
    assert [(one.kind, one.count) for one in done.report.repairs] == [("range", 1)]
    assert read(tmp_path / "out.ttl").frames.annotations["surface_form"].to_list() == ["Rome"]


def test_format_is_that_of_the_suffix_where_there_is_but_one(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"out\.tsv may be of several formats: name one with --to \(.*neleval"):
        convert(corpus, tmp_path / "out.tsv")
    with pytest.raises(UsageError, match="what is converted"):
        convert(corpus, corpus)


@pytest.mark.at_hand(3)
@pytest.mark.parametrize("to", sorted(one.name for one in FORMATS if one.write is not None and one.name != "nif"))
def test_every_format_that_is_written_is_sniffed_as_itself_alone(corpus: Path, tmp_path: Path, to: str) -> None:
    known = FORMATS[to]
    out = tmp_path / (f"out{known.suffixes[0]}" if not known.collection else "out.zip")
    convert(corpus, out, to=to)
    assert read(out, unannotated=True).report.format == to, f"what {to} writes is not recognised as {to}"
    files = [out] if not known.collection else []
    for path in files:
        head = path.read_bytes()
        assert [one.name for one in FORMATS if one.sniff(head, path.name)] == [to]
    back = read(out, unannotated=True).frames
    assert back.annotations.height == 1
    assert back.links["entity"].to_list() == ["http://dbpedia.org/resource/Rome"]
    assert back.annotations.select(pl.col("end") - pl.col("begin")).item() == 4


@pytest.mark.long
def test_nif_goes_to_a_target_whose_name_tells_no_syntax_in_one_that_is_chosen(corpus: Path, tmp_path: Path) -> None:
    for to, suffix in (("ttl", ".ttl"), ("nif", ".ttl"), ("nt", ".nt")):
        done = run_verb("convert", str(corpus), "/dev/stdout", "--to", to, "--name", "x")
        assert done.returncode == 0
        target = tmp_path / f"{to}{suffix}"
        assert run_verb("convert", str(corpus), str(target), "--name", "x").returncode == 0
        assert run_verb("convert", str(corpus), str(tmp_path / f"plain-{to}"), "--to", to).returncode == 0
        assert (tmp_path / f"plain-{to}").read_bytes() == target.read_bytes()
    done = run_verb("convert", str(corpus), "/dev/null", "--to", "nif")
    assert (done.returncode, done.stdout, Path("/dev/null").is_char_device()) == (0, "", True)
    assert "repaired" in done.stderr
    refused = run_verb("convert", str(corpus), "/dev/null")
    assert refused.returncode == 2 and ", ttl, nt)" in refused.stderr


@pytest.mark.long
def test_command_prints_losses_and_leaves_nothing_where_it_fails(corpus: Path) -> None:
    done = run_process("convert", "corpus.ttl", "out.tsv", "--to", "neleval", folder=corpus.parent)
    assert (done.returncode, "unannotated" in done.stdout, "Traceback" in done.stderr) == (0, True, False)
    assert done.stderr.endswith("out.tsv is written as neleval: 2 documents, 1 annotations read as nif\n")
    failed = run_process("convert", "out.tsv", "new.ttl", folder=corpus.parent)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert "--text FILE" in failed.stderr
    assert sorted(path.name for path in corpus.parent.iterdir()) == ["corpus.ttl", "out.tsv"]


RICH = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix hfts: <https://raw.githubusercontent.com/santifa/hfts/master/ont/hfts.ttl#> .
<http://x/d1#char=0,11> a nif:Context , nif:RFC5147String ; nif:isString "Rome is old" ; <http://x/topic> "cities"@en .
<http://x/d1#char=0,4> a nif:Phrase , nif:RFC5147String ; nif:referenceContext <http://x/d1#char=0,11> ;
  nif:anchorOf "Rome" ; nif:beginIndex 0 ; nif:endIndex 4 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Rome> ;
  itsrdf:taSource "DBpedia_en_3.9" ; <http://x/by> [ <http://x/name> "Ada" ] .
<http://x/d1#char=8,11> a nif:Phrase ; nif:referenceContext <http://x/d1#char=0,11> ; nif:anchorOf "old" ;
  nif:beginIndex 8 ; nif:endIndex 11 ; itsrdf:taIdentRef <http://aksw.org/notInWiki/Old_thing> .
"""
OWN = "<http://x/own> a hfts:Dataset ; hfts:referenceDocuments <http://x/d1#char=0,11> ; <http://x/is> <http://x/cc> ."


@pytest.mark.parametrize("more", ["", OWN])
@pytest.mark.parametrize("suffix", [".ttl", ".nt"])
def test_nif_written_as_nif_has_every_triple_of_it(tmp_path: Path, suffix: str, more: str) -> None:
    source, target = tmp_path / "x.ttl", tmp_path / f"y{suffix}"
    source.write_text(RICH + more)
    assert convert(source, target).table().is_empty()
    first, second = (
        ox.Dataset(ox.parse(path=path, format=syntax))
        for path, syntax in (
            (source, ox.RdfFormat.TURTLE),
            (target, ox.RdfFormat.TURTLE if suffix == ".ttl" else ox.RdfFormat.N_TRIPLES),
        )
    )
    for one in (first, second):
        one.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    assert second == first


def test_what_nif_calls_an_entity_of_no_knowledge_base_is_told_where_it_is_lost(tmp_path: Path) -> None:
    # The other link is one of a knowledge base. NIL that has no IRI of its own says nothing that others do not.
    (tmp_path / "x.ttl").write_text(RICH)
    told = convert(tmp_path / "x.ttl", tmp_path / "y.jsonl", to="jsonl").table()
    assert told.rows() == [("lost", "nil-links", 1, "http://aksw.org/notInWiki/Old_thing")]
    (tmp_path / "x.ttl").write_text(RICH.replace("<http://aksw.org/notInWiki/Old_thing>", '"NIL"'))
    assert convert(tmp_path / "x.ttl", tmp_path / "y.jsonl", to="jsonl").table().is_empty()


def test_nif_written_as_nif_is_repaired_and_keeps_the_rest(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(RICH.replace("nif:endIndex 4", "nif:endIndex 3"))
    done = convert(tmp_path / "x.ttl", tmp_path / "y.ttl")
    assert done.table().select("what", "kind", "count").rows() == [("repaired", "offset", 1)]
    text = (tmp_path / "y.ttl").read_text()
    assert "DBpedia_en_3.9" in text
    assert "RFC5147String" in text
    assert read(tmp_path / "y.ttl").report.repairs == ()
    assert read(tmp_path / "y.ttl").frames.annotations["surface_form"].sort().to_list() == ["Rome", "old"]


def test_frames_are_written_as_a_folder_of_parquet_files(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"document": "d", "text": "Ada", "begin": 0, "end": 3, "entity": "Q7259"}\n')
    done = convert(tmp_path / "x.jsonl", tmp_path / "frames", to="frames")
    folder = FramesFolder.open(tmp_path / "frames")
    assert (folder.name, folder.parts, folder.manifest["mentions"], done.losses) == ("x", 1, 1, ())
    assert folder.part(0).links["entity_as_given"].to_list() == ["Q7259"]
    with pytest.raises(UsageError, match="holds frames already"):
        convert(tmp_path / "x.jsonl", tmp_path / "frames", to="frames")
