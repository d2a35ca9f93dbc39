"""GUM's two formats: CoNLL-U with mentions in brackets, and WebAnno's TSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.errors import BadInput
from remix.formats import LoadedFile, read
from tests.formats.definitions.test_token_columns import spans

BLANK = "\t_\t_\t_\t_\t_\t_\t_\t"
CONLLU = f"""# newdoc id = d
# global.Entity = GRP-etype-minspan-identity
# text = Ada's son, Bob
1-2\tAda's{BLANK}_
1\tAda{BLANK}Discourse=x|Entity=(1-person-1-Bob_%28son%29(2-person-1-Ada-L)|MSeg=A
2\t's{BLANK}_
2.1\tnone{BLANK}_
3\tson{BLANK}Entity=1)|SpaceAfter=No
4\t,{BLANK}_
5\tBob{BLANK}Entity=(1-person-1-Bob_%28son%29)

# text = He, he
1\tHe{BLANK}Entity=(3-person-1(3-person-1)
2\the{BLANK}Entity=3)
"""
WEBANNO = r"""#FORMAT=WebAnno TSV 3.2
#T_SP=custom.Layer|note
#T_SP=custom.Referent|entity|identity
#T_RL=custom.Coref|type|BT_custom.Referent


#Text=Ada's son\_x
1-1	0-3	Ada	_	person[1]|name[2]	Bob_%28son%29[1]|Ada-L[2]	_	_
1-2	3-5	's	note	person[1]	Bob_%28son%29[1]	_	_
1-3	6-11	son_x	_	person[1]	Bob_%28son%29[1]	_	1-1[1_0]

#Text=He
2-1	12-14	He	_	*	_	_	_
"""


def read_text(folder: Path, name: str, text: str) -> LoadedFile:
    (folder / name).write_text(text, encoding="utf-8")
    return read(folder / name)


def test_brackets_nest_and_close_what_was_opened_last(tmp_path: Path) -> None:
    found = read_text(tmp_path, "x.conllu", CONLLU)
    assert found.frames.documents.select("given", "text").rows() == [("d", "Ada's son, Bob\nHe he")]
    assert sorted(spans(found), key=str) == [
        (0, 3, "Ada", "Ada-L"),
        (0, 9, "Ada's son", "Bob_(son)"),
        (11, 14, "Bob", "Bob_(son)"),
        (15, 17, "He", None),
        (15, 20, "He he", None),
    ]
    # The second sentence is not what its tokens make: `He he`.
    assert [(one.kind, one.example) for one in found.report.repairs] == [
        ("text", "line 12: the tokens make another text than 'He, he'")
    ]


def test_bracket_without_its_other_end_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    lines = (f"1\tA{BLANK}Entity=1)(2-x", f"2\tB{BLANK}Entity=(1-x-y-z-u-v-w-Rome", f"3\tC{BLANK}Entity=1)")
    found = read_text(tmp_path, "x.conllu", "# sent_id = 1\n" + "\n".join(lines))
    assert spans(found) == [(2, 5, "B C", "Rome")]
    assert [(one.kind, one.count, one.example) for one in found.report.repairs] == [
        ("bracket", 2, "line 2: 1) has no other end")
    ]


def test_mentions_of_webanno_are_told_by_their_numbers(tmp_path: Path) -> None:
    found = read_text(tmp_path, "GUM_x.tsv", WEBANNO)
    assert found.frames.documents.select("given", "text").rows() == [("GUM_x", "Ada's son_x\nHe")]
    assert sorted(spans(found), key=str) == [
        (0, 11, "Ada's son_x", "Bob_(son)"), (0, 3, "Ada", "Ada-L"), (12, 14, "He", None)
    ]  # fmt: skip
    assert sorted(found.frames.classes["class"].str.extract("([a-z]+)$")) == ["name", "person"]
    assert found.report.repairs == ()


def test_offsets_of_webanno_in_utf16_are_found_by_the_words(tmp_path: Path) -> None:
    head = "#FORMAT=WebAnno TSV 3.2\n#T_SP=l|identifier\n#Text=😀 Ada L\n"
    lines = head + "1-1\t3-6\tAda\thttp://x/A[1]\n1-2\t7-8\tL\thttp://x/A[1]\n"
    found = read_text(tmp_path, "x.tsv", lines)
    assert spans(found) == [(2, 7, "Ada L", "http://x/A")]
    assert [one.kind for one in found.report.repairs] == ["offset"]


def test_file_of_webanno_without_a_layer_of_mentions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.tsv: no layer .* has one of identity, identifier, entity, value"):
        read_text(tmp_path, "x.tsv", "#FORMAT=WebAnno TSV 3.2\n#T_SP=pos|tag\n#Text=Ada\n1-1\t0-3\tAda\tN\n")


def test_files_of_a_folder_are_documents_of_one_dataset(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name, text in (("x.conllu", CONLLU), ("y.conllu", CONLLU), ("README.md", "none")):
        (tmp_path / "a" / name).write_text(text, encoding="utf-8")
    found = read(tmp_path / "a")
    assert found.frames.documents["given"].to_list() == ["d", "d;2"]
    assert found.report.mentions == 10
    assert {one.kind: one.example for one in found.report.repairs}["text"].startswith("x.conllu, line 12: ")


def test_brackets_without_identity_are_nil(tmp_path: Path) -> None:
    lines = f"# global.Entity = GRP-etype\n# newdoc id = d\n1\tAda{BLANK}Entity=(1-person)\n"
    assert spans(read_text(tmp_path, "x.conllu", lines)) == [(0, 3, "Ada", None)]
