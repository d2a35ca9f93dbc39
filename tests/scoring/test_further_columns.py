"""Slices by what another run gets wrong, and by properties of documents."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import UnknownName, UsageError
from remix.formats import read
from remix.scoring.inputs.properties import properties_of
from tests.scoring.conftest import evaluate, framed

Counts = dict[str, tuple[int, int]]

# Of four mentions, Ada links the first right, the second wrong and the third to nothing; she misses the fourth.
GOLD = framed([{"begin": 10 * n, "end": 10 * n + 5, "entity": f"e:{n}"} for n in range(4)])
ADA = framed([{"begin": 10 * n, "end": 10 * n + 5, "entity": [f"e:{n}", "e:other", ""][n]} for n in range(3)])
BOB = framed([{"begin": 10 * n, "end": 10 * n + 5, "entity": f"e:{n}"} for n in (1, 3)])


def sliced(rows: pl.DataFrame, column: str, system: str = "bob") -> Counts:
    own = rows.filter(pl.col("column") == column, system=system, average="micro", dataset="all")
    return {row["slice"]: (row["tp"], row["fn"]) for row in own.to_dicts()}


def test_runs_are_broken_down_by_the_errors_of_another() -> None:
    rows = evaluate(GOLD, {"ada": ADA, "bob": BOB}, task=["A2KB"], match=["strong"], by=["error:ada"])
    expected = {"correct": (0, 1), "wrong_link": (1, 0), "link_as_nil": (0, 1), "missing": (1, 0)}
    assert sliced(rows, "error:ada") == expected
    # A run by its own errors is right where it is.
    assert sliced(rows, "error:ada", "ada") == {
        name: (int(name == "correct"), int(name != "correct")) for name in expected
    }


def test_errors_of_another_run_are_in_the_signature() -> None:
    def signature(other: object) -> str:
        rows = evaluate(GOLD, {"ada": other, "bob": BOB}, task=["A2KB"], match=["strong"], by=["error:ada"])  # type: ignore[dict-item]
        return str(rows.filter(system="bob")["signature"][0])

    assert signature(ADA) == signature(ADA) != signature(BOB)


def test_alternatives_of_a_mention_have_its_class() -> None:
    group = {"begin": 0, "end": 5, "group": "g"}
    gold = framed([{**group, "entity": "e:0", "option": "1"}, {**group, "entity": "e:1", "option": "2"}])
    rows = evaluate(gold, {"ada": ADA}, task=["A2KB"], match=["strong"], by=["error:ada"])
    assert sliced(rows, "error:ada", "ada") == {"correct": (1, 0)}


def test_mentions_that_a_taxonomy_does_not_class_are_correct_only_where_they_are() -> None:
    # Ada's second answer is wrong and in no hierarchy, her NIL and her miss are nothing the taxonomy speaks of.
    types = pl.DataFrame({"entity": ["e:0"], "class": ["c:Person"]})
    rows = evaluate(GOLD, {"ada": ADA}, task=["A2KB"], match=["strong"], by=["error:ada:hierarchy"], types=types)
    assert sliced(rows, "error:ada:hierarchy", "ada") == {"correct": (1, 0), "far": (0, 1), "other": (0, 2)}


def test_errors_are_those_of_the_answers_that_count() -> None:
    # Above 0.5 Ada has the first mention alone: the wrong link (0.4) and the NIL (0.3) are no answers, but misses.
    scores = pl.Series("confidence", [0.9, 0.4, 0.3])
    ada = replace(ADA, annotations=ADA.annotations.with_columns(scores))
    asked = {"task": ["A2KB"], "match": ["strong"], "by": ["error:ada"]}
    rows = evaluate(GOLD, {"ada": ada}, threshold="0.5", **asked)
    assert sliced(rows, "error:ada", "ada") == {"correct": (1, 0), "missing": (0, 3)}
    with pytest.raises(UsageError, match="--threshold oracle do not go together: write a number"):
        evaluate(GOLD, {"ada": ada}, threshold="oracle", **asked)


def test_errors_are_those_of_offsets_as_they_are_read() -> None:
    # All four begin two characters late: read as they are meant, three are right and the last has a wrong link.
    entities = ["e:0", "e:1", "e:2", "e:other"]
    late = framed([{"begin": 10 * n + 2, "end": 10 * n + 7, "entity": name} for n, name in enumerate(entities)])
    rows = evaluate(GOLD, {"ada": late}, task=["A2KB"], match=["strong"], by=["error:ada"], fix_offsets=True)
    assert sliced(rows, "error:ada", "ada") == {"correct": (3, 0), "wrong_link": (0, 1)}


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ("error:adda", UnknownName, "no run named 'adda'; did you mean 'ada'"),
        ("error:ada:nelleval", UnknownName, "no taxonomy of errors named 'nelleval'; did you mean 'neleval'"),
        ("error:ada:answers", UsageError, "'answers' classes no mentions of gold: write --by error:SYSTEM:neleval"),
        ("error:", UsageError, "'error:' names no system: write --by error:SYSTEM"),
    ],
)
def test_unknown_runs_and_taxonomies_are_refused(by: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(GOLD, {"ada": ADA}, task=["A2KB"], match=["strong"], by=[by])


NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
<http://x/d1> a nif:Context ; nif:isString "Rome is old" ; dcterms:subject <http://x/t/travel>, <http://x/t/history> ;
  <urn:x:topic> "places" ; <http://x/year> 1990 .
<http://x/d1#char=0,4> a nif:Phrase ; nif:referenceContext <http://x/d1> ; nif:anchorOf "Rome" ;
  nif:beginIndex 0 ; nif:endIndex 4 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Rome> .
<http://x/d2> a nif:Context ; nif:isString "Ada wrote" ; dcterms:subject <http://x/t/history> ; <http://x/year> 2001 .
<http://x/d2#char=0,3> a nif:Phrase ; nif:referenceContext <http://x/d2> ; nif:anchorOf "Ada" ;
  nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Ada> .
"""
# Rome is answered, Ada is not.
RUN = '{"document": "http://x/d1", "begin": 0, "end": 4, "entity": "http://dbpedia.org/resource/Rome"}\n'


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, run = tmp_path / "gold.ttl", tmp_path / "run.jsonl"
    gold.write_text(NIF)
    run.write_text(RUN)
    return gold, run


def evaluated(*arguments: str) -> pl.DataFrame:
    result = CliRunner().invoke(
        cli, ["evaluate", *arguments, "--task", "A2KB", "--match", "strong", "-o", "json"], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return pl.DataFrame(json.loads(result.stdout), infer_schema_length=None)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("dcterms:subject", {"http://x/t/history": (1, 1), "http://x/t/travel": (1, 0)}),
        ("subject", {"http://x/t/history": (1, 1), "http://x/t/travel": (1, 0)}),
        ("<urn:x:topic>", {"places": (1, 0), "unspecified": (0, 1)}),
        ("topic", {"places": (1, 0), "unspecified": (0, 1)}),
        ("http://x/year:thresholds:2000", {"1: ≤ 2000": (1, 0), "2: > 2000": (0, 1)}),
    ],
)
def test_documents_are_sliced_by_any_property_of_theirs(files: tuple[Path, Path], by: str, expected: Counts) -> None:
    gold, run = files
    rows = evaluated("--gold", str(gold), "--run", f"bob={run}", "--by", by)
    column = rows.filter(pl.col("slice").is_in(list(expected)))["column"][0]
    assert sliced(rows, column) == expected


def test_properties_are_read_from_json_ld_in_utf_16(tmp_path: Path) -> None:
    file = tmp_path / "gold.json"
    said = ox.serialize(ox.parse(NIF, format=ox.RdfFormat.TURTLE), format=ox.RdfFormat.JSON_LD) or b""
    file.write_bytes(said.decode().encode("utf-16"))
    frames = read(file).frames
    found = properties_of(frames, ["http://x/year"], [file])
    assert found is not None and sorted(found["http://x/year"]) == [1990, 2001]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("2019", "2020"), ["2019", "2020"]),
        (("007", "7"), ["007", "7"]),  # codes
        (("12345678901234567", "12345678901234568"), ["12345678901234567", "12345678901234568"]),  # one float
        (("1", "2.5"), ["1.0", "2.5"]),
    ],
)
def test_values_of_properties_that_look_like_numbers_stay_what_they_are(
    files: tuple[Path, Path], values: tuple[str, str], expected: list[str]
) -> None:
    gold, run = files
    text = NIF
    for old, new in zip((" 1990 .", " 2001 ."), values, strict=True):
        text = text.replace(old, f' "{new}" .')
    gold.write_text(text)
    rows = evaluated("--gold", str(gold), "--run", f"bob={run}", "--by", "http://x/year")
    assert sliced(rows, "http://x/year") == {expected[0]: (1, 0), expected[1]: (0, 1)}


def test_annotations_are_weighed_by_a_property_of_their_document(files: tuple[Path, Path]) -> None:
    gold, run = files
    rows = evaluated("--gold", str(gold), "--run", f"bob={run}", "--weight", "<http://x/year>/4000")
    # Rome (1990) is found, Ada (2001) is not.
    found = rows.filter(column="", average="micro")["fuzzy_recall"].to_list()
    assert found == [pytest.approx(1990 / (1990 + 2001))]


def test_loaded_datasets_have_the_same_properties(files: tuple[Path, Path], tmp_path: Path) -> None:
    gold, run = files
    workspace = ["-w", str(tmp_path / "work")]
    assert CliRunner().invoke(cli, ["load", str(gold), "--name", "old", *workspace]).exit_code == 0
    rows = evaluated("old", "--run", f"bob={run}", "--by", "dcterms:subject", *workspace)
    assert sliced(rows, "dcterms:subject") == {"http://x/t/history": (1, 1), "http://x/t/travel": (1, 0)}


def test_comparisons_have_the_same_slices(files: tuple[Path, Path]) -> None:
    gold, run = files
    asked = ["compare", "--gold", str(gold), "--run", f"bob={run}", "--by", "error:bob"]
    result = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "error:bob=correct" in result.stdout
    assert "error:bob=missing" in result.stdout


def test_unknown_properties_are_refused_with_the_nearest(files: tuple[Path, Path]) -> None:
    frames = read(files[0]).frames
    with pytest.raises(
        UnknownName, match="no property of documents named 'dcterms:subjekt'; did you mean 'dcterms:subj"
    ):
        properties_of(frames, ["dcterms:subjekt"], [files[0]])
    # A bare name may be something else: others tell.
    assert properties_of(frames, ["subjekt"], [files[0]]) is None
