"""Formats by mapping: what a TOML file can say of where documents, mentions and links stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import remix
from remix.errors import BadInput
from remix.formats import FORMATS, LoadedFile, read
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.definition import mapped_formats
from tests.commands import run_verb

MAPPED = [one for one in FORMATS if one.mapping is not None]
DOCUMENT = '[document]\nname = "id"\ntext = "text"\n'
MENTION = '[mention]\nbegin = "m[].b"\nend = "m[].e"\nlink = "m[].q"\n'


def mapped(folder: Path, mapping: str, *records: object, content: str = "", name: str = "x.jsonl") -> LoadedFile:
    """Return what is read of records, one a line, by a mapping, whose summary need not be told."""
    (folder / "own.toml").write_text(f'summary = "x"\n{mapping}', encoding="utf-8")
    (folder / name).write_text(content or "".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return read(folder / name, format=str(folder / "own.toml"))


def refusal(folder: Path, mapping: str, *records: object) -> str:
    with pytest.raises(BadInput) as refused:
        mapped(folder, mapping, *records)
    return str(refused.value).removeprefix(f"{folder}/")


def spans(found: LoadedFile) -> list[tuple[object, ...]]:
    rows = found.frames.annotations.join(found.frames.links, on="annotation", how="left")
    return rows.sort("document", "begin", "end").select("begin", "end", "surface_form", "entity_as_given").rows()


@pytest.mark.at_hand(7)
@pytest.mark.parametrize("format", [one.name for one in MAPPED])
def test_the_example_of_every_mapping_is_read_without_repair(tmp_path: Path, format: str) -> None:
    mapping = FORMATS[format].mapping
    assert mapping is not None
    path = tmp_path / f"x{mapping.suffixes[0]}"
    path.write_text(mapping.example.lstrip("\n"), encoding="utf-8")
    found = read(path, format=None if mapping.sniffed else format)
    assert found.report.format == format
    sniffed = [one.name for one in FORMATS if one.sniff(path.read_bytes(), path.name)]
    assert sniffed == [format] or not mapping.sniffed, (
        f"the example of {format} is taken for {sniffed}: say in `told_by` and `lacks` what it alone has"
    )
    assert found.report.mentions_linked > 0, f"the example of {format} has to have a linked mention"
    mended = {one.kind: one.example for one in found.report.repairs if one.kind != "unplaced"}
    assert not mended, f"the example of {format} has to be read without repair"


def test_the_mapping_of_the_documentation_reads_its_example(tmp_path: Path) -> None:
    words = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
    line, mapping = (words.split(f"```{kind}\n", 1)[1].split("```", 1)[0] for kind in ("json", "toml"))
    found = mapped(tmp_path, mapping.replace('summary = "my annotations"\n', ""), content=line)
    assert found.frames.links["entity"].to_list() == ["http://dbpedia.org/resource/Ada_Lovelace"]
    assert (found.report.mentions, found.report.mentions_nil, found.report.repairs) == (2, 1, ())


@pytest.mark.parametrize(
    ("keys", "mention", "text"),
    [
        ('end = "m[].e"', {"b": 4, "e": 7}, "Zoë Bob"),
        ('length = "m[].e"', {"b": 4, "e": 3}, "Zoë Bob"),
        ('last = "m[].e"', {"b": 4, "e": 6}, "Zoë Bob"),
        ('end = "m[].e"\nfirst = 1', {"b": 5, "e": 8}, "Zoë Bob"),
        # ë is two bytes, so that Bob begins at the fifth.
        ('end = "m[].e"\noffsets = "bytes"', {"b": 5, "e": 8}, "Zoë Bob"),
        # A letter beyond the BMP is two units of UTF-16.
        ('end = "m[].e"\noffsets = "utf-16"', {"b": 5, "e": 8}, "Zo\U0001f600 Bob"),
    ],
)
def test_offsets_count_what_the_mapping_says(tmp_path: Path, keys: str, mention: dict[str, int], text: str) -> None:
    mapping = DOCUMENT + f'[mention]\nbegin = "m[].b"\nlink = "m[].q"\n{keys}\n'
    found = mapped(tmp_path, mapping, {"id": "d", "text": text, "m": [{**mention, "q": "Q1"}]})
    assert spans(found) == [(4, 7, "Bob", "Q1")]
    assert found.report.repairs == ()


def test_tokens_are_counted_and_their_text_is_kept(tmp_path: Path) -> None:
    mapping = '[document]\ntext = "text"\ntokens = "tokens[]"\n' + MENTION + 'offsets = "tokens"\n'
    tokens = ["Ada", "(", "Byron", ")", "slept", "."]
    spaced = {"text": "Ada (Byron)  slept.", "tokens": tokens, "m": [{"b": 2, "e": 4, "q": "Q1"}]}
    other = {"text": "Bob slept.", "tokens": tokens, "m": [{"b": 2, "e": 3, "q": "Q1"}, {"b": 9, "e": 10, "q": "Q2"}]}
    found = mapped(tmp_path, mapping, spaced, other)
    # Ada is 0 to 3, ( is 4, Byron 5 to 10, ) 10 to 11; joined by blanks Byron is 6 to 11.
    assert spans(found) == [(5, 11, "Byron)", "Q1"), (None, None, None, "Q2"), (6, 11, "Byron", "Q1")]
    assert found.frames.documents["text"].to_list() == ["Ada (Byron)  slept.", "Ada ( Byron ) slept ."]
    assert {one.kind: one.example for one in found.report.repairs} == {
        "text": "line 2: the text has other letters than its tokens, which are taken for it",
        "range": "line 2: lies outside the text (22,22)",
        "unplaced": "line 2: the offsets are not in the text, and left out",
    }


@pytest.mark.parametrize(
    ("gap", "left", "right", "text"),
    [
        ("words", "Then", "came", "Then Ada came"),
        ("words", "Then (", ", who", "Then (Ada, who"),
        ("words", "", "", "Ada"),
        ("blank", "Then", ", who", "Then Ada , who"),
        ("none", "then-", "s", "then-Adas"),
    ],
)
def test_text_is_joined_from_parts(tmp_path: Path, gap: str, left: str, right: str, text: str) -> None:
    mapping = f'[document]\nparts = ["l", "m", "r"]\ngap = "{gap}"\n[mention]\nform = "m"\nlink = "q"\n'
    found = mapped(tmp_path, mapping, {"l": left, "m": "Ada", "r": right, "q": "Q1"})
    assert found.frames.documents["text"].to_list() == [text]
    assert spans(found) == [(text.index("Ada"), text.index("Ada") + 3, "Ada", "Q1")]


def test_texts_are_found_in_files_beside_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("Ada slept.")
    (tmp_path / "b.txt").write_text("Bob")
    mapping = '[document]\nname = "id"\nfiles = ["{name}.txt"]\n' + MENTION
    records = [{"id": name, "m": [{"b": 0, "e": 3, "q": "Q1"}]} for name in ("a", "../b")]
    (tmp_path / "own.toml").write_text(f'summary = "x"\n{mapping}')
    (tmp_path / "data" / "x.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    found = read(tmp_path / "data" / "x.jsonl", format=str(tmp_path / "own.toml"))
    assert found.frames.documents["text"].to_list() == ["Ada slept.", None]


def test_forms_without_offsets_are_found_in_their_order(tmp_path: Path) -> None:
    mapping = DOCUMENT + '[mention]\nform = "m[].f"\nlink = "m[].q"\n'
    forms = [{"f": "Ada", "q": "Q1"}, {"f": "Bob", "q": "Q2"}, {"f": "Ada", "q": "Q3"}, {"f": "Eve", "q": "Q4"}]
    found = mapped(tmp_path, mapping, {"id": "d", "text": "Ada and Ada met Bob.", "m": forms})
    assert spans(found) == [(None, None, "Eve", "Q4"), (0, 3, "Ada", "Q1"), (8, 11, "Ada", "Q3"), (16, 19, "Bob", "Q2")]
    assert [(one.kind, one.example) for one in found.report.repairs] == [
        ("not-in-text", "line 1: 'Eve'"),
        ("unplaced", "line 1: the offsets of 'Eve' are not told"),
    ]


def test_form_that_stands_in_more_places_than_it_is_named_is_told(tmp_path: Path) -> None:
    mapping = DOCUMENT + '[mention]\nform = "m[].f"\nlink = "m[].q"\n'
    found = mapped(tmp_path, mapping, {"id": "d", "text": "Ada and Ada met Bob.", "m": [{"f": "Ada", "q": "Q1"}]})
    assert spans(found) == [(0, 3, "Ada", "Q1")]
    assert [one.example for one in found.report.repairs] == ["line 1: 'Ada' stands 2 times in the text"]


def test_form_that_is_named_more_often_than_it_stands_is_not_told_to_be_missing(tmp_path: Path) -> None:
    mapping = DOCUMENT + '[mention]\nform = "m[].f"\nlink = "m[].q"\n'
    forms = [{"f": "Ada", "q": "Q1"}, {"f": "Ada", "q": "Q2"}]
    found = mapped(tmp_path, mapping, {"id": "d", "text": "Ada met Bob.", "m": forms})
    assert spans(found) == [(None, None, "Ada", "Q2"), (0, 3, "Ada", "Q1")]
    assert [one.example for one in found.report.repairs][0] == "line 1: 'Ada' is named 2 times and stands there 1"


def test_forms_that_are_looked_for_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remix.formats.alignment.MOST_LETTERS", 20)
    mapping = DOCUMENT + '[mention]\nform = "m[].f"\nlink = "m[].q"\n'
    forms = [{"f": form, "q": "Q1"} for form in ("Ada", "met", "Bob")]
    # A text of eleven letters: 11, 22, and then no more.
    found = mapped(tmp_path, mapping, {"id": "d", "text": "Ada met Bob", "m": forms})
    assert {one.kind: one.example for one in found.report.repairs}["not-looked-for"] == (
        "line 1: too many mentions are looked for in 11 letters"
    )


def test_tag_that_is_none_is_told(tmp_path: Path) -> None:
    example = shipped_mapping("mhercl-tsv").example.lstrip("\n").replace("met\tO", "met\tQ5")
    (tmp_path / "x.tsv").write_text(example)
    assert [one.example for one in read(tmp_path / "x.tsv").report.repairs] == ["line 1: 'Q5' is no tag: read as O"]


@pytest.mark.parametrize("tag", ["i-person", "I.person"])
def test_tag_in_lower_case_or_with_a_full_stop_goes_on(tmp_path: Path, tag: str) -> None:
    example = shipped_mapping("mhercl-tsv").example.lstrip("\n").replace("I-person", tag)
    (tmp_path / "x.tsv").write_text(example)
    found = read(tmp_path / "x.tsv")
    assert (found.frames.annotations["surface_form"].to_list(), found.report.repairs) == (["Ada Lovelace", "Bob"], ())


def test_records_may_have_to_lack_what_a_condition_names(tmp_path: Path) -> None:
    records = [
        {"id": one, "text": "Ada", "m": [{"b": 0, "e": 3, "q": "Q1"}], "said": one} for one in ("yes", "no", "skip")
    ]
    condition = '[records]\nwhere = { said = "!no|skip" }\n'
    found = mapped(tmp_path, condition + DOCUMENT + MENTION, *records)
    assert found.frames.documents["given"].to_list() == ["yes"]


def test_records_of_one_name_make_one_document_where_they_are_joined(tmp_path: Path) -> None:
    records = [{"id": "d", "text": "Ada met Bob", "m": [{"b": at, "e": at + 3, "q": "Q1"}]} for at in (0, 8)]
    found = mapped(tmp_path, DOCUMENT.replace("name", "joined = true\nname") + MENTION, *records)
    assert (found.report.documents, found.report.mentions, found.report.repairs) == (1, 2, ())
    apart = mapped(tmp_path, DOCUMENT + MENTION, *records)
    assert apart.frames.documents["given"].to_list() == ["d", "d;2"]
    assert [(one.kind, one.count) for one in apart.report.repairs] == [("shared-name", 2)]


def test_mentions_on_one_span_are_alternatives_only_where_the_mapping_says_so(tmp_path: Path) -> None:
    record = {"id": "d", "text": "Ada", "m": [{"b": 0, "e": 3, "q": one} for one in ("Q1", "Q2")]}
    assert mapped(tmp_path, DOCUMENT + MENTION, record).report.mentions == 2
    assert mapped(tmp_path, DOCUMENT + MENTION + "alternatives = true\n", record).report.mentions == 1


LINKS = {
    'kind = "title"': ("Ada Lovelace", "http://dbpedia.org/resource/Ada_Lovelace"),
    'kind = "title"\nedition = "lang"': ("Köln", "http://de.dbpedia.org/resource/Köln"),
    'kind = "qid"': ("Q7259", "http://www.wikidata.org/entity/Q7259"),
    'prefix = "https://sws.geonames.org/"': ("2643743", "http://sws.geonames.org/2643743"),
    'map = "pages.tsv"\nkind = "title"': ("974", "http://dbpedia.org/resource/Ada_Lovelace"),
    'prefixes = { CHEBI = "http://purl.obolibrary.org/obo/CHEBI_" }': (
        "CHEBI:15377",
        "http://purl.obolibrary.org/obo/CHEBI_15377",
    ),
    "": ("wd:Q7259", "http://www.wikidata.org/entity/Q7259"),
}


@pytest.mark.parametrize("rules", LINKS)
def test_link_becomes_the_iri_of_its_kind(tmp_path: Path, rules: str) -> None:
    said, entity = LINKS[rules]
    (tmp_path / "pages.tsv").write_text("974\tAda Lovelace\n")
    record = {"id": "d", "text": "Ada", "lang": "de", "m": [{"b": 0, "e": 3, "q": said}]}
    found = mapped(tmp_path, f"{DOCUMENT}{MENTION}[link]\n{rules}\n", record)
    assert found.frames.links["entity"].to_list() == [entity]


def test_several_links_are_alternatives_and_what_is_written_for_nil_is_nil(tmp_path: Path) -> None:
    rules = '[link]\nkind = "qid"\nseparator = "|"\nnil = ["none here", "NIL_*"]\n'
    said = ["Q1|Q2", "none here", "NIL_other", None, "New"]
    record = {"id": "d", "text": "Ada met Bob", "m": [{"b": n, "e": n + 1, "q": q} for n, q in enumerate(said)]}
    found = mapped(tmp_path, DOCUMENT + MENTION + rules, record)
    assert (found.report.mentions_linked, found.report.mentions_nil, found.frames.links.height) == (1, 4, 2)
    assert [one.example for one in found.report.repairs] == ["line 1: 'New' is no QID: read as NIL"]


def test_page_that_is_not_in_the_map_is_told(tmp_path: Path) -> None:
    (tmp_path / "pages.tsv").write_text("974\tAda Lovelace\n")
    record = {"id": "d", "text": "Ada met", "m": [{"b": 0, "e": 3, "q": 974}, {"b": 4, "e": 7, "q": 975}]}
    found = mapped(tmp_path, DOCUMENT + MENTION + '[link]\nmap = "pages.tsv"\nkind = "title"\n', record)
    assert [one.example for one in found.report.repairs] == ["line 1: '975' is not in pages.tsv: read as NIL"]


def test_list_that_is_missing_on_a_line_leaves_its_mentions_without_links(tmp_path: Path) -> None:
    spans = '"text": "Ada met Bob.", "index": [[0, 3], [8, 11]]'
    (tmp_path / "x.jsonl").write_text(
        f'{{"id": "a", {spans}, "wikipedia_titles": null, "wikipedia_ids": [1, 2]}}\n'
        f'{{"id": "b", {spans}, "wikipedia_titles": ["Ada", "Bob"], "wikipedia_ids": [1, 2]}}\n'
    )
    report = read(tmp_path / "x.jsonl", format="zelda-jsonl").report
    assert (report.mentions, report.linked) == (4, 2)


def test_lists_that_are_not_equally_long_are_told_and_what_lacks_is_nil(tmp_path: Path) -> None:
    mapping = DOCUMENT + '[mention]\nbegin = "at[][0]"\nend = "at[][1]"\nlink = "q[]"\n'
    records = [
        {"id": "a", "text": "Ada met Bob", "at": [[0, 3], [8, 11]], "q": ["Q1", "Q2"]},
        {"id": "b", "text": "Ada met Bob", "at": [[0, 3], [8, 11]], "q": ["Q1"]},
        {"id": "c", "text": "Nobody", "at": [], "q": []},
    ]
    found = mapped(tmp_path, mapping, *records)
    assert (found.report.documents, found.report.mentions, found.report.mentions_nil) == (3, 4, 1)
    assert [one.example for one in found.report.repairs] == ["line 2: at and q are not equally long"]


def test_field_that_only_some_records_have_parts_of_and_names_like_those_of_columns_are_read(tmp_path: Path) -> None:
    mapping = '[document]\nname = "record"\ntext = "line"\n[mention]\nform = "name"\nlink = "begin"\n'
    found = mapped(tmp_path, mapping, {"record": "r", "line": "Ada", "name": "Ada", "begin": "Q1", "end": [7]})
    assert spans(found) == [(0, 3, "Ada", "Q1")]
    assert found.frames.documents["given"].to_list() == ["r"]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"id": "d", "text": "Ada", "m": 5}, "x.jsonl:2: m is a list, not 5"),
        ({"id": "d", "text": "Ada", "m": [7]}, "x.jsonl:2: m[0] is expected, as a JSON object, not 7"),
        (["d"], 'x.jsonl:2: a record is expected, as a JSON object, not ["d"]'),
        (
            {"id": "d", "text": "Ada", "m": [{"b": "a", "e": 3}]},
            "x.jsonl:2: m[].b and m[].e are whole numbers, not 'a' and '3'",
        ),
        (
            {"id": "d", "text": "Ada", "m": [{"b": 0, "e": 3, "q": [{"x": 1}]}]},
            'x.jsonl:2: m[].q is a text or a list of texts, not [{"x": 1}]',
        ),
    ],
)
def test_type_that_does_not_fit_is_refused_with_file_line_and_path(tmp_path: Path, record: object, said: str) -> None:
    fine = {"id": "c", "text": "Ada", "m": [{"b": 0, "e": 3, "q": "Q1"}]}
    assert refusal(tmp_path, DOCUMENT + MENTION, fine, record) == said


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (
            '[document]\ntext = "txt"\n' + MENTION,
            "no record has 'txt', where own.toml finds the text; did you mean 'text'?",
        ),
        (DOCUMENT + MENTION.replace("m[].b", "m[].beg"), "no record has 'beg', where own.toml finds the begin; "),
        (DOCUMENT + '[mention]\nform = "form"\nlink = "q"\n', "has 1 documents but no annotation"),
    ],
)
def test_mapping_that_names_what_is_not_there_is_refused_with_the_nearest(
    tmp_path: Path, mapping: str, said: str
) -> None:
    assert refusal(tmp_path, mapping, {"id": "c", "text": "Ada", "m": [{"b": 0, "e": 3, "q": "Q1"}]}).startswith(
        f"x.jsonl: {said}"
    )


def test_link_that_is_nowhere_is_told(tmp_path: Path) -> None:
    mapping = DOCUMENT + MENTION.replace("m[].q", "m[].qids")
    found = mapped(tmp_path, mapping, {"id": "c", "text": "Ada", "m": [{"b": 0, "e": 3, "qid": "Q1"}]})
    assert {one.kind: one.example for one in found.report.repairs}["no-link"] == (
        "no record has 'qids', where own.toml finds the link; did you mean 'qid'?"
    )


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ("a = ", "is no mapping: "),
        ('[mention]\nbegn = "b"\n', "has the key 'mention.begn', which no mapping has; did you mean 'begin'?"),
        ('[mentions]\nbegin = "b"\n', "has the key 'mentions', which no mapping has; did you mean 'mention'?"),
        ("[mention]\nform = 5\n", "mention.form: is a text or a list of texts, not 5"),
        ('[mention]\nform = "a..b"\n', "mention.form: 'a..b' is no path: write keys"),
        ('[mention]\nform = "f"\nfirst = "1"\n', "mention.first: is a whole number, not '1'"),
        ('[mention]\nform = "f"\noffsets = "byte"\n', "mention.offsets: is not 'byte'; did you mean 'bytes'?"),
        ('[mention]\nform = "a.b"\nlink = "a[0]"\n', "'a[0]' is not of the kind that "),
        ('[mention]\nform = "a"\nlink = "a.b"\n', "'a.b' is not of the kind that 'a' says"),
        ('[mention]\nbegin = "b"\n', "mention has a begin, and neither end, last, length nor form"),
        ("[mention]\n", "mention has neither begin nor spans, form or link"),
        ('[records]\nwhere = "a"\n[mention]\nform = "f"\n', "records.where: is a table of names"),
    ],
)
def test_mapping_that_is_none_is_refused_with_its_key(tmp_path: Path, mapping: str, said: str) -> None:
    assert refusal(tmp_path, mapping, {"f": "Ada"}).startswith(f"own.toml: {said}")


def test_mapping_without_summary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[mention]\nform = "f"\n')
    (tmp_path / "x.jsonl").write_text("{}")
    with pytest.raises(BadInput, match="own.toml: lacks the key 'summary'"):
        read(tmp_path / "x.jsonl", format=str(tmp_path / "own.toml"))


def test_value_is_one_json_of_objects_by_names_and_knows_its_outer_record(tmp_path: Path) -> None:
    mapping = (
        '[records]\nsyntax = "json"\npath = "turns"\n[document]\nname = "{outer.id}/{key}"\ntext = "t"\n' + MENTION
    )
    turns = {"a": {"t": "Ada", "m": [{"b": 0, "e": 3, "q": "Q1"}]}, "b": {"t": "Bob", "m": []}}
    found = mapped(tmp_path, mapping, content=json.dumps([{"id": "x", "turns": turns}], indent=1), name="x.json")
    assert found.frames.documents["given"].to_list() == ["x/a", "x/b"]


def test_error_in_one_json_names_the_line_of_its_record(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('summary = "x"\n[records]\nsyntax = "json"\n' + DOCUMENT + MENTION)
    (tmp_path / "x.json").write_text('[\n {"id": "a", "text": "Ada", "m": []},\n {"id": "b", "text": "Ada", "m": 7}\n]')
    with pytest.raises(BadInput, match=r"x\.json:3: m is a list, not 7"):
        read(tmp_path / "x.json", format=str(tmp_path / "own.toml"))


def test_row_of_a_table_that_names_no_mention_is_told(tmp_path: Path) -> None:
    mapping = (
        '[records]\nsyntax = "table"\n[document]\nname = "id"\njoined = true\n[mention]\nspans = "at"\nlink = "q"\n'
    )
    content = "id,at,q\nd,0-3,Q1\nd,,\n"
    found = mapped(tmp_path, mapping, content=content, name="x.csv")
    assert [(one.kind, one.example) for one in found.report.repairs] == [
        ("no-mention", "line 3: the row names no mention")
    ]


def test_mention_in_parts_counts_once_and_has_the_spans_of_its_parts(tmp_path: Path) -> None:
    mapping = '[records]\nsyntax = "table"\n[document]\nname = "id"\njoined = true\nfiles = "{name}.txt"\n'
    mapping += '[mention]\nspans = "at"\nform = "form"\nlink = "q"\n'
    (tmp_path / "d.txt").write_text("eyes are dry")
    content = 'id,form,at,q\nd,dry eyes,"9-12,0-4",Q1\nd,dry,9-12,Q1\n'
    found = mapped(tmp_path, mapping, content=content, name="x.csv")
    assert (found.report.mentions, found.report.repairs) == (2, ())
    assert spans(found) == [(0, 4, "eyes", "Q1"), (9, 12, "dry", "Q1"), (9, 12, "dry", "Q1")]


def test_query_of_yerd_has_its_link_without_brackets(tmp_path: Path) -> None:
    mapping = FORMATS["yerd-tsv"].mapping
    assert mapping is not None
    (tmp_path / "x.tsv").write_text(mapping.example.lstrip("\n") + "e\tq2\tforearm braces\n")
    found = read(tmp_path / "x.tsv")
    assert found.frames.links["entity"].to_list() == ["http://dbpedia.org/resource/Ada_Lovelace"]
    assert found.frames.documents["text"].to_list() == ["ada lovelace birthplace", "forearm braces"]


def test_mentions_of_several_readings_of_a_query_stand_at_one_place(tmp_path: Path) -> None:
    example = shipped_mapping("yerd-tsv").example.lstrip("\n")
    other = example.split("\n")[1].replace("\t0\t", "\t1\t").replace("Ada_Lovelace", "Ada_(ship)")
    (tmp_path / "x.tsv").write_text(f"{example}{other}\n")
    found = read(tmp_path / "x.tsv")
    assert found.frames.annotations.select("begin", "end").rows() == [(0, 12), (0, 12)]
    assert (found.report.mentions, found.report.repairs) == (2, ())


def test_personal_mentions_of_conel_are_told_to_be_not_read(tmp_path: Path) -> None:
    [dialogue] = json.loads(shipped_mapping("conel-json").example)
    personal = [{"personal_entity_mention": "my town", "explicit_entity_mention": "Rome", "entity": "Rome"}]
    dialogue["turns"][0]["personal_entity_annotations"] = personal * 2
    dialogue["turns"][0]["personal_entity_annotations_without_eems"] = [{"personal_entity_mention": "my mum"}]
    (tmp_path / "x.json").write_text(json.dumps([dialogue]))
    found = read(tmp_path / "x.json")
    assert (found.report.mentions, [(one.kind, one.count) for one in found.report.repairs]) == (1, [("unread", 3)])


def test_span_of_lcquad_is_one_text_with_a_comma(tmp_path: Path) -> None:
    mapping = FORMATS["lcquad-json"].mapping
    assert mapping is not None
    (tmp_path / "x.json").write_text(mapping.example.lstrip("\n"))
    assert spans(read(tmp_path / "x.json")) == [(10, 22, "Ada Lovelace", "http://dbpedia.org/resource/Ada_Lovelace")]


def test_show_tells_the_mapping_of_a_format(tmp_path: Path) -> None:
    told = remix.open(tmp_path / "ws").show("zelda-jsonl")
    assert 'begin = "index[][0]"' in told
    assert told.startswith("zelda-jsonl\nsummary: ZELDA benchmark")


def test_verbs_read_by_a_mapping_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f'summary = "x"\n{DOCUMENT}{MENTION}[link]\nkind = "qid"\n')
    record = {"id": "d", "text": "Ada met Bob", "m": [{"b": 0, "e": 3, "q": "Q1"}, {"b": 8, "e": 11, "q": "Q2"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(record))
    (tmp_path / "run.jsonl").write_text('{"document": "d", "begin": 0, "end": 3, "entity": "Q1"}\n')
    own, place = str(tmp_path / "own.toml"), ["-w", str(tmp_path / "ws"), "-o", "json"]
    done = run_verb("load", str(tmp_path / "gold.jsonl"), "--map", own, "--dry-run", *place)
    assert json.loads(done.stdout)[0]["mentions_linked"] == 2
    files = ["--gold", str(tmp_path / "gold.jsonl"), "--run", f"s={tmp_path / 'run.jsonl'}", "--task", "A2KB"]
    done = run_verb("evaluate", *files, "--map", f"{own}={tmp_path / 'gold.jsonl'}", "--match", "strong", *place)
    rows = [row for row in json.loads(done.stdout) if row["average"] == "micro" and row["dataset"] == "all"]
    assert [(row["tp"], row["fn"]) for row in rows] == [(1, 1)]


def test_title_without_an_item_is_nil_in_tweekigold(tmp_path: Path) -> None:
    # Of four links two have an item; a title alone, and one with nothing behind the bar, are in no knowledge base.
    links = ["Ada Lovelace|Q7259", "Bob (name)", "Bob|", "Ada|Q1"]
    record = {"id": 1, "sentence": "Ada Bob Bob Ada", "index": [[0, 3], [4, 7], [8, 11], [12, 15]], "link": links}
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(record) + "\n")
    found = read(path)
    assert (found.report.format, found.report.mentions_linked, found.report.mentions_nil) == ("tweeki-jsonl", 2, 2)
    assert found.frames.annotations["is_nil"].to_list() == [False, True, True, False]


@pytest.mark.parametrize(("format", "count"), [("falcon-entities-csv", 2), ("falcon-entities-answers", 1)])
def test_gold_and_answers_of_falcon_on_entities_stand_in_columns_of_their_own(
    tmp_path: Path, format: str, count: int
) -> None:
    mapping = FORMATS[format].mapping
    assert mapping is not None
    path = tmp_path / "x.csv"
    path.write_text(mapping.example.lstrip("\n"))
    assert read(path).report.format == "falcon-entities-csv"
    found = read(path, format=format)
    assert found.frames.links["entity_as_given"].to_list() == ["Q7259", "Q84"][:count]


def test_encoded_title_of_chatel_is_the_entity_that_its_answer_names(tmp_path: Path) -> None:
    # Titles of Wikipedia hold no percent-encoding, so that gold 'AT%26T' is what the answer calls 'AT&T'.
    mention = {"starts": [0], "ends": [3], "entity_mentions": ["AT&"], "entity_names": ["AT%26T"]}
    record = {"d": {"sentence": "AT& T .", "entities": {**mention, "predict_entity_names": ["AT&T"]}}}
    (tmp_path / "x.json").write_text(json.dumps(record))
    gold, answers = (read(tmp_path / "x.json", format=name).frames for name in ("chatel-json", "chatel-answers"))
    assert gold.links["entity"].to_list() == answers.links["entity"].to_list() == ["http://dbpedia.org/resource/AT&T"]


def test_column_of_a_table_that_nobody_reads_is_told_with_what_it_may_be(tmp_path: Path) -> None:
    # No column holds entities; 'confidenc' is nearly one that is absent, 'title' may be the entity.
    path = tmp_path / "x.csv"
    path.write_text("document,begin,end,title,confidenc\nd,0,3,Ada,0.5\n")
    told = [
        (one.kind, one.count, one.example, one.further) for one in read(path).report.repairs if one.kind == "column"
    ]
    assert told[0][:3] == ("column", 2, "column 'title' is not read: is it 'entity'?")
    path.write_text("document,begin,end,entity,note\nd,0,3,Q1,x\n")
    assert [one.example for one in read(path, strict=True).report.repairs] == ["column 'note' is not read"]


def test_elements_of_xml_are_records_and_lists_at_any_depth(tmp_path: Path) -> None:
    rules = """
[records]
syntax = "xml"
path = "doc"
[document]
name = "@id"
text = "body.p"
[mention]
begin = "m[].@from"
end = "m[].@to"
link = "m[].q"
[link]
prefix = "http://example.org/{}/x"
"""
    content = """<all>
<doc id="a"><body><p>Ada met Bo</p></body><all><m from="0" to="3"><q>1</q>
<m from="8" to="10"/></m></all></doc>
<doc id="b"><body><p>Nobody</p></body></doc></all>"""
    found = mapped(tmp_path, rules, content=content, name="x.xml")
    assert found.frames.documents.select("given", "text").rows() == [("a", "Ada met Bo"), ("b", "Nobody")]
    assert spans(found) == [(0, 3, "Ada", "http://example.org/1/x"), (8, 10, "Bo", None)]
    # The second mention stands in a line of its own.
    with pytest.raises(BadInput, match=r"x\.xml:3: m\[\]\.@from and m\[\]\.@to are whole numbers, not '8' and 'z'"):
        mapped(tmp_path, rules, content=content.replace('"10"', '"z"'), name="x.xml")
    with pytest.raises(BadInput, match="no record has 'p', where own.toml finds the text"):
        mapped(tmp_path, rules, content=content.replace("<p>", "<s>").replace("</p>", "</s>"), name="x.xml")


def test_text_and_attributes_of_one_element_are_read(tmp_path: Path) -> None:
    rules = '[records]\nsyntax = "xml"\n[document]\ntext = "t"\n'
    rules += '[mention]\nbegin = "m[].@b"\nform = "m[].@form"\nlink = "m[].text()"\n[link]\nkind = "qid"\n'
    # Without a path the root is the record.
    content = '<d><t>Ada met Bo</t><m b="0" form="Ada">Q1</m><m b="8" form="Bo">Q2</m></d>'
    found = mapped(tmp_path, rules, content=content, name="x.xml")
    assert spans(found) == [(0, 3, "Ada", "Q1"), (8, 10, "Bo", "Q2")]


@pytest.mark.parametrize("name", [one.name for one in mapped_formats()])
def test_file_that_has_no_field_of_a_format_is_refused(tmp_path: Path, name: str) -> None:
    """Of formats whose texts are of parts, each record of any other file was an empty text with an empty mention."""
    (path := tmp_path / "other").write_text('{"zzz": 1, "words": ["mention", "text"]}\n', encoding="utf-8")
    with pytest.raises(BadInput):
        read(path, format=name)
