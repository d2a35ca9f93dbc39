"""Two mentions that a file tells on one span are two, whatever the format says of alternatives elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remix.formats import read

DWIE = {
    "id": "a",
    "mentions": [{"begin": 0, "end": 3, "text": "Ada", "concept": concept} for concept in (0, 1)],
    "concepts": [{"concept": concept, "link": link, "tags": []} for concept, link in enumerate(("Ada", "Bob"))],
}
GUM = """# newdoc id = a
# global.Entity = GRP-etype-identity
1	Ada	_	_	_	_	_	_	_	Entity=(1-person-Ada)(2-organization-Bob)

"""
WEBANNO = """#FORMAT=WebAnno TSV 3.2
#T_SP=layer|entity|identity

#Text=Ada
1-1	0-3	Ada	person[1]|organization[2]	Ada[1]|Bob[2]
"""
BRAT = """T1	Person 0 3	Ada
T2	Organization 0 3	Ada
N1	Reference T1 Wikidata:Q1	Ada
N2	Reference T2 Wikidata:Q2	Ada
"""
BIOC = {
    "documents": [
        {
            "id": "a",
            "passages": [
                {
                    "offset": 0,
                    "text": "Ada",
                    "annotations": [
                        {"infons": {"MESH": link}, "text": "Ada", "locations": [{"offset": 0, "length": 3}]}
                        for link in ("D000001", "D000002")
                    ],
                }
            ],
        }
    ]
}
FILES = {
    "a.ann": BRAT,
    "a.txt": "1|t|Ada\n1|a|Bob\n1\t0\t3\tAda\tPerson\tD000001\n1\t0\t3\tAda\tOrganization\tD000002\n",
    "bioc.json": json.dumps(BIOC),
    "a.json": json.dumps(DWIE),
    "a.conllu": GUM,
    "a.webanno.tsv": WEBANNO,
    "a.tsv": "0\t3\tAda\tAda\tPER\tPER-Ada\n0\t3\tAda\tAda\tORG\tORG-Bob\n",
}


FAR = {
    "a.ann": BRAT.replace("Organization 0 3", "Organization 90 93"),
    "a.txt": FILES["a.txt"].replace("0\t3\tAda\tOrg", "90\t93\tAda\tOrg"),
    "bioc.json": '"offset": 90'.join(json.dumps(BIOC).rsplit('"offset": 0', 1)),
}


@pytest.mark.parametrize("file", FAR)
def test_mention_outside_its_text_is_kept_without_a_place(tmp_path: Path, file: str) -> None:
    (tmp_path / "a.txt").write_text("Ada")
    (tmp_path / file).write_text(FAR[file])
    found = read(tmp_path / file)
    assert found.frames.annotations["begin"].to_list() == [0, None]
    assert (found.report.mentions, found.report.mentions_linked) == (2, 2)
    assert [one.kind for one in found.report.repairs] == ["range", "unplaced"]


@pytest.mark.parametrize("file", FILES)
def test_mentions_on_one_span_are_two(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text(FILES[file])
    report = read(tmp_path / file).report
    assert (report.annotations, report.mentions, report.mentions_linked, report.alternatives) == (2, 2, 2, 0)
