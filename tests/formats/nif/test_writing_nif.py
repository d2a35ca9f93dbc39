"""What is written reads back: to the same frames, and to the same triples by value."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from remix.errors import UsageError
from remix.files import read_bytes
from remix.formats import read
from remix.formats.nif.writing import terms_of, write_frames
from remix.frames import SCHEMAS, Frames
from remix.names import HFTS
from remix.rdf.iris import entity_iri, plain_entity

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
IRI = "urn:remix:dataset:x"


def assert_same(one: Frames, other: Frames, frames: tuple[str, ...] = tuple(SCHEMAS)) -> None:
    for name in frames:
        left, right = getattr(one, name), getattr(other, name)
        assert_frame_equal(left.sort(left.columns), right.sort(right.columns))


@st.composite
def corpora(draw: st.DrawFn) -> Frames:
    """Return frames of a dataset named x with texts of any characters, and spans anywhere in them."""
    letters = st.characters(codec="utf-8", exclude_characters="\ufffe\uffff")
    texts = draw(st.lists(st.text(letters, min_size=2, max_size=20), min_size=1, max_size=3))
    documents, annotations, links, classes, regions = [], [], [], [], []
    for n, text in enumerate(texts):
        document = f"{IRI}/d{n}"
        language = draw(st.sampled_from([None, "en", "zh-hant"]))
        documents.append((document, IRI, text, language, f"http://given/d{n}"))
        if draw(st.booleans()):
            regions.append((document, 0, len(text) - 1))
        begins = st.integers(0, len(text) - 1)
        spans = draw(st.sets(st.tuples(begins, begins).map(lambda pair: (min(pair), max(pair) + 1)), max_size=4))
        for begin, end in sorted(spans | ({(0, 1)} if n == 0 else set())):
            annotation = f"{document}#char={begin},{end}"
            ignorable = draw(st.sampled_from([None, None, "dropped", "optional"])) if n else None
            confidence = draw(st.none() | st.floats(0, 1))
            entity = draw(st.none() | st.sampled_from(["Rome", "Köln", "A,_b", "C#"]))
            is_nil = entity is None
            row = (annotation, document, IRI, begin, end, text[begin:end], is_nil, ignorable, confidence)
            annotations.append((*row, f"http://given/d{n}#{begin}-{end}"))
            if entity is not None:
                iri = f"http://dbpedia.org/resource/{entity}"
                links.append((annotation, iri, iri))
                classes.append((annotation, f"http://dbpedia.org/ontology/{entity[0]}", False))
    return Frames.of(
        documents=pl.DataFrame(documents, schema=["document", "dataset", "text", "language", "given"], orient="row"),
        annotations=pl.DataFrame(
            annotations,
            schema={
                name: SCHEMAS["annotations"][name]
                for name in ("annotation", "document", "dataset", "begin", "end", "surface_form", "is_nil",
                             "ignorable", "confidence", "given")
            },
            orient="row",
        ),
        links=pl.DataFrame(links, schema=SCHEMAS["links"], orient="row"),
        classes=pl.DataFrame(classes, schema=SCHEMAS["classes"], orient="row"),
        regions=pl.DataFrame(regions, schema=SCHEMAS["regions"], orient="row"),
    )  # fmt: skip


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(corpora(), st.sampled_from([".ttl", ".nt"]))
def test_write_frames_when_read_back_then_the_same_frames(frames: Frames, suffix: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        write_frames(frames, path, given=False)
        assert_same(read(path, name="x").frames, frames)


values = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=8).map(ox.Literal),
    st.text(st.characters(codec="utf-8"), max_size=8).map(lambda text: ox.Literal(text, language="de")),
    st.integers().map(ox.Literal),
    st.sampled_from(["http://own/a", "http://x/d#char=0,4", "urn:b"]).map(ox.NamedNode),
)
unknown = st.builds(
    ox.Triple,
    st.sampled_from(["http://own/s", "http://x/d#char=0,4", "http://x/d#char=0,2"]).map(ox.NamedNode),
    st.sampled_from(["http://own/p", "http://own/q"]).map(ox.NamedNode),
    values,
)
BASE = f"""<http://x/d#char=0,4> <{NIF}isString> "Rome" .
<http://x/d#char=0,2> <{NIF}referenceContext> <http://x/d#char=0,4> .
<http://x/d#char=0,2> <{NIF}anchorOf> "Ro" .
<http://x/d#char=0,2> <{NIF}beginIndex> "0" .
<http://x/d#char=0,2> <{NIF}endIndex> "2" .
"""


@pytest.mark.long
@given(st.lists(unknown, max_size=6))
def test_read_when_triples_are_unknown_then_they_survive_by_value_and_again(triples: list[ox.Triple]) -> None:
    names = {
        "<http://x/d#char=0,4>": "<urn:remix:dataset:x/d>",
        "<http://x/d#char=0,2>": "<urn:remix:dataset:x/d#char=0,2>",
    }
    with TemporaryDirectory() as folder:
        first, second, third = (Path(folder) / name for name in ("x.nt", "y.nt.zst", "z.nt.zst"))
        first.write_text(BASE + "".join(f"{triple} .\n" for triple in triples), encoding="utf-8", newline="\n")
        once = read(first, triples_to=second)
        again = read(second, name="x", triples_to=third)
        written = {quad.triple for quad in ox.parse(read_bytes(second), format=ox.RdfFormat.N_TRIPLES)}
        for triple in triples:
            terms = [names.get(str(term), str(term)) for term in (triple.subject, triple.predicate, triple.object)]
            [expected] = ox.parse(" ".join(terms).encode() + b" .", format=ox.RdfFormat.N_TRIPLES)
            assert expected.triple in written
        assert {quad.triple for quad in ox.parse(read_bytes(third), format=ox.RdfFormat.N_TRIPLES)} == written
        assert_same(again.frames, once.frames)
        # A triple that stands twice says nothing more, which is told, and stays.
        repeated = len(triples) - len(set(triples))
        told = [(one.kind, one.count) for one in again.report.repairs]
        assert told == ([("repeated-triple", repeated)] if repeated else [])


def small() -> Frames:
    return Frames.of(
        documents=pl.DataFrame({"document": [f"{IRI}/d"], "dataset": [IRI], "text": ["Rome"], "given": ["http://x/d"]}),
        annotations=pl.DataFrame(
            {
                "annotation": [f"{IRI}/d#char=0,4", f"{IRI}/d#char=0,2"],
                "document": [f"{IRI}/d"] * 2,
                "dataset": [IRI] * 2,
                "begin": [0, 0],
                "end": [4, 2],
                "surface_form": ["Rome", "Ro"],
                "given": ["http://x/d#1", "http://x/d#1"],
                "is_nil": [True, True],
                "group": ["g", "g"],
                "option": ["1", "2"],
            }
        ),
        values=pl.DataFrame({"subject": [f"{IRI}/d"], "term": [f"{HFTS}density"], "number": [0.5]}),
    )


def test_parts_of_an_option_stay_together_under_another_name(tmp_path: Path) -> None:
    # "left arm" and "right arm" of "left and right arm": each of two parts, the option having the IRI of the first.
    spans = {"left": (0, 4), "arm": (15, 18), "right": (9, 14)}
    iris = [f"{IRI}/d#char={begin},{end}" for begin, end in spans.values()]
    annotations = pl.DataFrame(
        {
            "annotation": iris,
            "document": f"{IRI}/d",
            "dataset": "x",
            "begin": [begin for begin, _ in spans.values()],
            "end": [end for _, end in spans.values()],
            "surface_form": list(spans),
            "group": [iris[0], iris[0], f"{IRI}/d#group=2"],
            "option": [iris[0], iris[0], f"{IRI}/d#option=2"],
        }
    )
    texts = pl.DataFrame({"document": [f"{IRI}/d"], "dataset": ["x"], "text": ["left and right arm"]})
    path = tmp_path / "x.ttl"
    write_frames(Frames.of(documents=texts, annotations=annotations), path)
    for name in ("x", "other"):
        found = read(path, name=name).frames.annotations.sort("begin")
        iri = f"urn:remix:dataset:{name}/d#"
        assert found["option"].to_list() == [f"{iri}char=0,4", f"{iri}option=2", f"{iri}char=0,4"]
        assert found["group"].to_list() == [f"{iri}char=0,4", f"{iri}group=2", f"{iri}char=0,4"]


def test_write_frames_when_groups_are_their_own_then_they_come_back(tmp_path: Path) -> None:
    write_frames(small(), tmp_path / "x.nt", given=False)
    assert_same(read(tmp_path / "x.nt").frames, small())


def test_write_frames_when_given_iris_are_wanted_then_only_unique_ones_are_used(tmp_path: Path) -> None:
    write_frames(small(), tmp_path / "x.ttl")
    subjects = {str(quad.subject) for quad in ox.parse(path=tmp_path / "x.ttl", format=ox.RdfFormat.TURTLE)}
    assert subjects == {"<http://x/d>", f"<{IRI}/d#char=0,4>", f"<{IRI}/d#char=0,2>"}


def test_write_frames_when_written_twice_then_the_same_bytes(tmp_path: Path) -> None:
    write_frames(small(), tmp_path / "a.ttl")
    write_frames(small().keep(), tmp_path / "b.ttl")
    assert (tmp_path / "a.ttl").read_bytes() == (tmp_path / "b.ttl").read_bytes()


def test_write_frames_when_the_suffix_is_unknown_then_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"NIF is written as \.ttl or \.nt"):
        write_frames(small(), tmp_path / "a.txt")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1).filter(lambda one: one.strip()))
def test_entity_that_is_no_iri_comes_back_as_it_was(entity: str) -> None:
    def spelt(expression: pl.Expr, value: str) -> str:
        return str(pl.DataFrame({"x": [value]}).select(expression).item())

    iri = spelt(entity_iri(pl.col("x")), entity)
    line, plain = f"<urn:s> <urn:p> <{iri}> .".encode(), iri.startswith("urn:remix:entity:")
    # IRIs of the wild are read leniently, those made here hold to the letter.
    quads = ox.parse(line, ox.RdfFormat.N_TRIPLES, lenient=not plain)
    assert [str(quad.object) for quad in quads] == [f"<{iri}>"]
    if plain:
        assert spelt(plain_entity(pl.col("x")), iri) == entity


def test_write_frames_when_an_entity_is_no_iri_then_it_is_one_in_rdf_alone(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"document": "d", "text": "Ada"}\n{"document": "d", "begin": 0, "end": 3, "entity": "E%05|a"}\n'
    )
    frames = read(tmp_path / "x.jsonl").frames
    assert frames.links["entity"].to_list() == ["E%05|a"]
    write_frames(frames, tmp_path / "x.ttl")
    assert "<urn:remix:entity:E%2505%7Ca>" in (tmp_path / "x.ttl").read_text()
    assert_same(read(tmp_path / "x.ttl").frames, frames, ("links",))


def test_annotations_of_a_document_that_keeps_no_given_iri_keep_none_either() -> None:
    # Two documents had one IRI in their files, so that neither gets it back; the annotation had one of its own.
    documents = pl.DataFrame({"document": ["urn:d/1", "urn:d/2"], "text": ["Rome", "Bonn"], "given": "http://x/d"})
    annotation = {"annotation": "urn:d/1#char=0,4", "document": "urn:d/1", "begin": 0, "end": 4}
    annotations = pl.DataFrame([{**annotation, "given": "http://x/d#char=0,4"}])
    told = terms_of(Frames.of(documents=documents, annotations=annotations), given=True)["subject"]
    assert set(told) == {"<urn:d/1>", "<urn:d/2>", "<urn:d/1#char=0,4>"}


def test_mentions_without_offsets_are_written_and_read_as_such_not_as_outside_their_text(tmp_path: Path) -> None:
    frames = Frames.of(
        documents=pl.DataFrame({"document": ["urn:d/1"], "text": ["where is Bonn?"]}),
        annotations=pl.DataFrame({"annotation": ["urn:d/1#a"], "document": ["urn:d/1"], "surface_form": ["Berlin"]}),
    )
    write_frames(frames, tmp_path / "x.ttl")
    assert [one.kind for one in read(tmp_path / "x.ttl").report.repairs] == ["unplaced"]
