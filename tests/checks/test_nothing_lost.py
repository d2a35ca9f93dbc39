"""What `remix check --fix` writes has all that was there; `bench/corrections.py` corrects every real file."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.corrections import correct_file
from tests.examples import FEW

HEAD = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix rmx: <https://w3id.org/nel-remix/ns#> .
"""
LINKS = [
    "<http://dbpedia.org/resource/Bonn>",
    "<http://dbpedia.org/page/Bonn>",
    "<https://en.wikipedia.org/wiki/Bonn>",
    "<http://dbpedia.org/resource/Berlin>",
    "<http://aksw.org/notInWiki/Bonn>",
    "<http://x.org/local/Bonn>",
    "[ rmx:note 'a blank node' ]",
]
CLASSES = ["<http://x.org/Place>", "<http://x.org/Person>"]


def _draw_links(draw: random.Random) -> list[str]:
    """Return none, one or two links, of which one entity has no more than one."""
    bonn, other = draw.choice([*LINKS[:3], LINKS[5]]), draw.choice([*LINKS[3:5], LINKS[6]])
    return draw.choice([[], [bonn], [other], [bonn, other]])


def damaged_file(seed: int) -> str:
    """Return NIF whose mentions have outer characters, stand twice, are shifted, grouped, ignorable, spelt anyhow."""
    draw = random.Random(seed)
    written = [
        HEAD,
        "<http://x.org/local/Bonn> <http://www.w3.org/2002/07/owl#sameAs> <http://dbpedia.org/resource/Bonn> .",
    ]
    for number in range(2):
        words = draw.choices(["Bonn", "Berlin", "am Rhein", "(", ",", ".", "«", "é", "old"], k=12)
        text, home = " ".join(words), f"<http://x.org/{number}#char=0,{len(' '.join(words)) - draw.choice([0, 0, 1])}>"
        written.append(f'{home} a nif:Context ; nif:isString "{text}" ; nif:beginIndex 0 ; nif:endIndex {len(text)} .')
        for _ in range(draw.randint(1, 6)):
            begin = draw.randrange(len(text) - 4)
            end = min(begin + draw.choice([1, 4, 5, 6, 9]), len(text))
            off = draw.choice([0, 0, 0, 1])
            for again in range(draw.choice([1, 1, 1, 2])):
                places = begin + off, end + off
                name = f"<http://x.org/{number}#char={places[0]},{places[1]}{f';{draw.randint(1, 999)}' * again}>"
                if any(line.startswith(f"{name} ") for line in written):
                    continue
                said = [f'nif:anchorOf "{text[begin:end]}" ; nif:beginIndex {places[0]} ; nif:endIndex {places[1]}']
                said += [f"itsrdf:taIdentRef {link}" for link in _draw_links(draw)]
                said += [f"itsrdf:taClassRef {draw.choice(CLASSES)}"] if draw.random() < 0.2 else []
                said += [f'rmx:group "{draw.choice("gh")}"'] if draw.random() < 0.2 else []
                said += ['<http://x.org/note> "kept"'] if draw.random() < 0.5 else []
                if draw.random() < 0.2:
                    why = draw.choice(["optional", "layer"])
                    said += [f'a rmx:Ignorable ; rmx:document {home} ; rmx:ignorable "{why}" ; rmx:layer "L"']
                else:
                    said += [f"a nif:Phrase ; nif:referenceContext {home}"]
                written.append(f"{name} {' ; '.join(said)} .")
    return "\n".join(written)


@pytest.mark.long
@settings(max_examples=FEW)
@given(st.integers(0, 100_000), st.booleans())
@example(1, False)
@example(2, False)
@example(22317, False)  # The alternative that begins first does so by its white space alone.
def test_fixing_a_damaged_file_loses_nothing_and_finds_nothing_new(seed: int, two_knowledge_bases: bool) -> None:
    with TemporaryDirectory() as folder:
        file, berlin = Path(folder) / "damaged.ttl", "http://dbpedia.org/resource/Berlin"
        other = "http://www.wikidata.org/entity/Q64" if two_knowledge_bases else berlin
        file.write_text(damaged_file(seed).replace(berlin, other), encoding="utf-8")
        assert correct_file(file, Counter()) == []


@pytest.mark.long
def test_fixing_a_file_with_mentions_without_a_place_gives_them_none(tmp_path: Path) -> None:
    """Of two mentions of a form that stands once the second has no place; nor has what lies before its text."""
    row = "e\tq1\told Bonn\tBonn\t<dbpedia:Bonn>\t0\t/m/1\n"
    queries, toponyms = tmp_path / "queries.tsv", tmp_path / "before.xml"
    queries.write_text(f"difficulty\tqid\tquery\tmention\tentity\tset_id\tfreebase_id\n{row}{row}", encoding="utf-8")
    outside = "<extractedName>Bo</extractedName><start>-90</start><end>-88</end><geonamesID>1</geonamesID>"
    article = f"<article file='0'><text>Bo in Ulm</text><toponym>{outside}</toponym></article>"
    toponyms.write_text(f"<articles>{article}</articles>", encoding="utf-8")
    tally = Counter[str]()
    assert [correct_file(file, tally) for file in (queries, toponyms)] == [[], []]
    assert tally["files"] == 2


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "modern/queries/Y-ERD.tsv.gz",
        "modern/toponyms/GWN.xml.gz",
        "hipe2022/gold/HIPE-2022-v2.1-ajmc-test-en.tsv.gz",
        "nif/gerbil-test",
        "nif/dbpedia-spotlight/dbpedia-spotlight-nif.ttl.gz",
        "nif/kore50/kore50-nif.ttl",
        "elevant/benchmarks/spotlight.benchmark.jsonl",
        "modern/conel-2021/ConEL_PE.json.gz",
    ],
)
def test_fixing_a_real_file_loses_nothing_and_finds_nothing_new(name: str, real_data: Path) -> None:
    """The second layers of HIPE, OKE's shifted offsets, alternatives of ELEVANT, mentions without offsets."""
    place, tally = real_data / name, Counter[str]()
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
    assert [line for file in files for line in correct_file(file, tally)] == []
    assert tally["files"] >= 1
