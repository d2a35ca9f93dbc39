"""NIF with a triple a line into a folder of frames: the same as loading it whole, in parts."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from remix.errors import BadInput, StoreError, UsageError
from remix.formats import read
from remix.formats.nif import streaming
from remix.formats.nif.streaming import stream
from remix.frames import SCHEMAS, Frames
from remix.frames_folder import FramesFolder

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
IDENT = "http://www.w3.org/2005/11/its/rdf#taIdentRef"
DBR = "http://dbpedia.org/resource/"


def text(page: str, content: str) -> str:
    iri = f"<{DBR}{page}?dbpv=2016-10&nif=context>"
    return f'{iri} <{RDF}type> <{NIF}Context> .\n{iri} <{NIF}isString> "{content}" .\n'


def link(page: str, begin: int, end: int, anchor: str, entity: str) -> str:
    iri = f"<{DBR}{page}?dbpv=2016-10&nif=word&char={begin},{end}>"
    return (
        f"{iri} <{RDF}type> <{NIF}Word> .\n"
        f"{iri} <{NIF}referenceContext> <{DBR}{page}?dbpv=2016-10&nif=context> .\n"
        f'{iri} <{NIF}beginIndex> "{begin}" .\n{iri} <{NIF}endIndex> "{end}" .\n'
        f"{iri} <{NIF}superString> <{DBR}{page}?nif=paragraph> .\n"
        f'{iri} <{IDENT}> <{DBR}{entity}> .\n{iri} <{NIF}anchorOf> "{anchor}" .\n'
    )


PAGES = [f"Page_{n}" for n in range(12)]
# Two texts whose IRIs end alike, and one whose name is what the second of them gets.
SAME_NAME = [("a/Odd", "Odd one"), ("b/Odd", "Odd two"), ("Odd-2", "Odd three")]
CONTEXTS = "".join(text(page, f"\\U0001F600 {page} knows Köln") for page in PAGES) + "".join(
    text(page, content) for page, content in SAME_NAME
)
# The emoji is one character: 'Page_3' begins at 2.
LINKS = "".join(link(page, 2, 2 + len(page), page, f"Thing_{n % 5}") for n, page in reversed(list(enumerate(PAGES))))
LINKS += "".join(link(page, 0, 3, "Odd", "Odd") for page, _ in SAME_NAME)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "contexts.ttl.bz2").write_bytes(bz2.compress(CONTEXTS.encode()))
    (tmp_path / "links.ttl.gz").write_bytes(gzip.compress(LINKS.encode()))
    return [tmp_path / "links.ttl.gz", tmp_path / "contexts.ttl.bz2"]


def whole(folder: FramesFolder) -> Frames:
    return Frames.concat(folder.part(number) for number in range(folder.parts))


def same(one: Frames, two: Frames) -> None:
    for name in SCHEMAS:
        rows, others = getattr(one, name), getattr(two, name)
        assert rows.sort(rows.columns).equals(others.sort(others.columns)), name


@pytest.mark.parametrize("share", [400, 1 << 20])
def test_parts_together_are_what_reading_the_file_whole_gives(files: list[Path], tmp_path: Path, share: int) -> None:
    (tmp_path / "both.nt").write_text(CONTEXTS + LINKS, encoding="utf-8")
    done = stream(files, tmp_path / "frames", name="both", share=share)
    assert (done.folder.parts > 3) == (share == 400)
    same(whole(done.folder), read(tmp_path / "both.nt", name="both").frames)
    assert (done.report.documents, done.report.annotations, done.report.repairs) == (15, 15, ())
    assert {row["surface_form"] for row in whole(done.folder).annotations.iter_rows(named=True)} == {*PAGES, "Odd"}


@pytest.mark.long
def test_documents_of_real_nif_stream_as_they_load(real_data: Path, tmp_path: Path) -> None:
    from remix.formats.nif.parsing import parse
    from remix.formats.repairs import RepairTally
    from remix.formats.source import SourceFile

    source = next((real_data / "nif" / "n3").glob("RSS*.ttl*"), None)
    if source is None:
        pytest.skip("RSS-500 is not among the real data")
    rows = parse(SourceFile(source), RepairTally()).select(
        pl.format("{} {} {} .", "subject", pl.col("predicate").cast(pl.String), "object")
    )
    (tmp_path / "rss.nt").write_text("\n".join(rows.to_series().to_list()) + "\n", encoding="utf-8")
    done = stream([tmp_path / "rss.nt"], tmp_path / "frames", name="rss", share=200_000)
    assert done.folder.parts > 1
    streamed, loaded = whole(done.folder), read(tmp_path / "rss.nt", name="rss").frames
    for name in ("documents", "annotations", "links"):
        columns = [column for column in getattr(loaded, name).columns if column not in {"source"}]
        one, two = getattr(streamed, name).select(columns), getattr(loaded, name).select(columns)
        assert one.sort(columns).equals(two.sort(columns)), name


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (text("Page_1", "another text"), "duplicate-document"),
        (link("Nowhere", 0, 3, "foo", "Foo"), "dangling"),
        (link("Page_1", 900, 905, "Köln", "Köln"), "range"),
        (link("Page_1", 16, 20, "Köln", "Köln"), "offset"),
        ("this is no triple\n", "no-triple"),
        (f"<a:x> <{IDENT}> <a:y> .\n", "no-context"),
    ],
)
def test_what_is_wrong_is_repaired_or_left_out_and_told(tmp_path: Path, wrong: str, kind: str) -> None:
    (tmp_path / "x.nt").write_text(CONTEXTS + LINKS + wrong, encoding="utf-8")
    done = stream([tmp_path / "x.nt"], tmp_path / "frames", share=3000)
    assert done.folder.parts > 1
    told = {repair.kind: repair for repair in done.report.repairs}
    # A second text under one IRI is also an IRI that two things share, as when the file is loaded whole.
    assert set(told) - {"shared-iri"} == {kind}
    assert told[kind].count == 1 and told[kind].example
    with pytest.raises(BadInput, match=f"would need repair: .*{kind}"):
        stream([tmp_path / "x.nt"], tmp_path / "strict", strict=True)
    assert not (tmp_path / "strict").exists()


def test_file_that_is_cut_short_leaves_no_frames(files: list[Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.ttl.bz2"
    cut.write_bytes(bz2.compress(CONTEXTS.encode())[:-20])
    with pytest.raises(BadInput, match=r"cut\.ttl\.bz2"):
        stream([files[0], cut], tmp_path / "frames")
    assert not (tmp_path / "frames").exists()


def test_turtle_with_prefixes_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text("@prefix a: <http://a/> .\na:b a a:C ; a:d a:e .\n")
    with pytest.raises(BadInput, match=r"x\.ttl:1: is not one whole triple a line: `remix load`"):
        stream([tmp_path / "x.ttl"], tmp_path / "frames")


def test_folder_that_is_there_is_replaced_only_when_told(files: list[Path], tmp_path: Path) -> None:
    first = stream(files, tmp_path / "frames")
    with pytest.raises(UsageError, match="holds frames already"):
        stream(files, tmp_path / "frames")
    assert stream(files, tmp_path / "frames", replace=True, share=900).folder.parts > first.folder.parts
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="holds no frames"):
        stream(files, tmp_path / "other", replace=True)


@pytest.mark.long
def test_interrupted_load_goes_on_where_it_was(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, written = streaming.write_part, []

    def stop_at_three(folder: Path, number: int, frames: Frames) -> None:
        if number == 3:
            raise KeyboardInterrupt
        original(folder, number, frames)

    monkeypatch.setattr(streaming, "write_part", stop_at_three)
    with pytest.raises(KeyboardInterrupt):
        stream(files, tmp_path / "frames", share=1000)
    assert not (tmp_path / "frames").exists()

    def note(folder: Path, number: int, frames: Frames) -> None:
        written.append(number)
        original(folder, number, frames)

    monkeypatch.setattr(streaming, "write_part", note)
    monkeypatch.setattr(streaming, "blocks_of_lines", lambda path: pytest.fail("the lines were read again"))
    resumed = stream(files, tmp_path / "frames", share=1000).folder
    assert written[0] == 3
    monkeypatch.undo()
    again = stream(files, tmp_path / "again", name="frames", share=1000).folder
    assert resumed.manifest == again.manifest
    same(whole(resumed), whole(again))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_file_that_changed_meanwhile_is_read_again(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_parts", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        stream(files, tmp_path / "frames")
    monkeypatch.undo()
    files[0].write_bytes(gzip.compress(link("Page_1", 2, 8, "Page_1", "Other").encode()))
    assert stream(files, tmp_path / "frames").report.annotations == 1


def test_frames_that_are_damaged_or_newer_are_refused(files: list[Path], tmp_path: Path) -> None:
    folder = stream(files, tmp_path / "frames").folder
    manifest = folder.path / "manifest.json"
    manifest.write_text(json.dumps({**folder.manifest, "format": 99}))
    with pytest.raises(StoreError, match="newer remix"):
        FramesFolder.open(folder.path)
    manifest.write_text("{")
    with pytest.raises(StoreError, match="holds no frames"):
        FramesFolder.open(folder.path)
