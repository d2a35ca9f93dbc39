"""What each rule finds and what it leaves alone, and what it mends."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.checks import RULES, SEVERITIES, Rule, Subject
from remix.checks.correction import correct
from remix.checks.findings import Checked, check
from remix.formats import NOTED, Repair, read
from remix.formats.losses import CLUSTER
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.names import DBO, DBR
from remix.workspace import Workspace
from tests.kb.conftest import TABLES
from tests.test_house import tree_of

BERLIN, BONN = "http://dbpedia.org/resource/Berlin", "http://dbpedia.org/resource/Bonn"
Q586 = "http://www.wikidata.org/entity/Q586"
BONNS = "é, Bonn, Bonn, Bonner, Bonn"


def frames(*documents: tuple[str, list[tuple[int, int, str | None]]]) -> Frames:
    """Return documents, each a text and its mentions: begin, end, link."""
    texts, mentions, links = [], [], []
    for number, (text, spans) in enumerate(documents):
        texts.append({"document": f"d{number}", "text": text})
        for place, (begin, end, link) in enumerate(spans):
            name = f"d{number}a{place}"
            mentions.append(
                {
                    "annotation": name,
                    "document": f"d{number}",
                    "begin": begin,
                    "end": end,
                    "surface_form": text[begin:end],
                    "is_nil": link is None,
                }
            )
            links += [{"annotation": name, "entity": link, "entity_as_given": link}] if link else []
    return Frames.of(documents=pl.DataFrame(texts), annotations=pl.DataFrame(mentions), links=pl.DataFrame(links))


def unlinked(text: str, *spans: tuple[int, int]) -> Frames:
    """Return one document with mentions that have no link."""
    return frames((text, [(begin, end, None) for begin, end in spans]))


def places(rule: str, dataset: Frames, kb: KnowledgeBase | None = None) -> list[str]:
    """Return the annotations, else documents and forms, that a rule finds."""
    find = RULES[rule].find
    assert find is not None
    found = find(Subject(dataset, kb))
    return [row["annotation"] or f"{row['document']} {row['surface_form'] or ''}".strip() for row in found.to_dicts()]


LONG = "one two three four five six seven eight nine ten eleven twelve"


@pytest.mark.parametrize(
    ("rule", "dataset", "expected"),
    [
        # 'Ber' ends and 'lin' begins within 'Berlin'; behind 'Bonn' is a dash, and '東' stands in no word.
        ("inside-word", unlinked("Berlin Bonn-Nord 東京", (0, 3), (3, 6), (7, 11), (17, 18)), ["d0a0", "d0a1"]),
        ("inside-word", unlinked("Zoë", (0, 2)), ["d0a0"]),
        ("outer-characters", unlinked("in Bonn, Acme Inc.", (3, 8), (2, 7), (9, 18)), ["d0a0", "d0a1"]),
        # 0-4 crosses 2-6; 2-6 and 6-8 touch; 0-4 and 1-3 are nested.
        ("crossing", unlinked("abcdefgh", (0, 4), (2, 6), (6, 8)), ["d0a0"]),
        ("adjacent", unlinked("abcdefgh", (0, 4), (2, 6), (6, 8)), ["d0a1"]),
        ("nested", unlinked("abcdefgh", (0, 4), (1, 3), (4, 8)), ["d0a0"]),
        ("repeated-annotation", frames(("Bonn", [(0, 4, BONN), (0, 4, BONN), (0, 4, BERLIN)])), ["d0a1"]),
        # The second 'Bonn' of the first text is free, 'Bonner' is another word, and the second text annotates no Bonn.
        ("unmarked-form", frames((BONNS, [(3, 7, BONN), (23, 27, BONN)]), ("Bonn", [])), ["d0 Bonn"]),
        ("disagreeing-links", frames(("Bonn Bonn", [(0, 4, BONN), (5, 9, BERLIN)]), ("Bonn", [(0, 4, None)])), ["d0"]),
        ("disagreeing-links", frames(("Bonn Bonn", [(0, 4, BONN), (5, 9, BONN)])), []),
        ("unseen-character", frames(("one\u00a0two", []), ("one two", [])), ["d0"]),
        ("html-escape", frames(("R&D", []), ("R&amp;D", []), ("it&#39;s", [])), ["d1", "d2"]),
        ("no-annotation", frames(("Bonn", [(0, 4, None)]), ("none", []), ("", [])), ["d1"]),
        ("equal-text", frames(("Bonn", [(0, 4, None)]), ("Bonn", []), ("Berlin", [])), ["d1"]),
        ("text-edge", frames(("Bonn", [(0, 4, None)]), (" a", []), ("a\n", [])), ["d1", "d2"]),
        ("not-composed", frames(("Zoë", [(0, 3, None)]), ("Zoe\u0308", [])), ["d1"]),
        ("unseen-character", frames(("Bo\u00adnn", [(0, 5, None)]), ("a\ufeff", []), ("a\tb\n", [])), ["d0", "d1"]),
        # Of twelve words each has ten sequences of three; the last word belongs to one: 9 of 11 are shared, 0.82.
        ("similar-text", frames((LONG, [(0, 3, None)]), (LONG[:-6] + "end", []), (LONG[30:], [])), ["d1"]),
        ("link-spelling", frames(("Bonn", [(0, 4, BONN)])), []),
        ("knowledge-bases", frames(("Bonn", [(0, 4, BONN), (0, 4, BERLIN), (0, 2, Q586)])), ["d0a2"]),
        ("several-links", frames(("Bonn", [(0, 4, BONN)])), []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_rule_finds_what_is_so_and_leaves_the_rest(rule: str, dataset: Frames, expected: list[str]) -> None:
    assert places(rule, dataset) == expected


def test_links_that_are_spelt_in_two_ways_or_several_are_told() -> None:
    one = frames(("Bonn Bonn", [(0, 4, BONN), (5, 9, BONN)]))
    links = one.links.with_columns(entity_as_given=pl.Series(["http://dbpedia.org/page/Bonn", BONN]))
    more = pl.DataFrame({"annotation": ["d0a0"], "entity": [BERLIN], "entity_as_given": [BERLIN]})
    both = Frames.of(documents=one.documents, annotations=one.annotations, links=pl.concat([links, more]))
    assert places("link-spelling", both) == ["d0a1"]
    assert places("several-links", both) == ["d0a0"]


def test_alternatives_and_links_through_resources_of_the_file_are_told() -> None:
    """'Bonn' has two annotations, which are one mention; 'Berlin' is linked to <http://x/B>, which is dbr:Berlin."""
    one = frames(("Bonn Berlin", [(0, 4, BONN), (0, 4, BERLIN), (5, 11, BERLIN)]))
    grouped = one.annotations.with_columns(group=pl.Series(["d0a0", "d0a0", "d0a2"]))
    given = one.links.with_columns(entity_as_given=pl.Series(["wd:Q586", BERLIN, "http://x/B"]))
    dataset = Frames.of(documents=one.documents, annotations=grouped, links=given)
    assert places("alternatives", dataset) == ["d0a0"]
    assert places("local-link", dataset) == ["d0a2"]


@pytest.mark.parametrize(
    ("rule", "spans", "told"),
    [
        ("alternatives", [(2, 16, BONN), (3, 7, BERLIN)], ["d0a1"]),
        ("knowledge-bases", [(3, 7, Q586), (2, 7, Q586), (8, 10, BERLIN)], ["d0a0", "d0a1"]),
    ],
)
def test_what_a_rule_tells_of_stays_the_same_where_outer_characters_and_repeats_are_mended(
    rule: str, spans: list[tuple[int, int, str | None]], told: list[str]
) -> None:
    """' Bonn am Rhein' begins before its alternative 'Bonn' by a blank alone, ' Bonn' is a second link of 'Bonn' by it.

    Without the blank both alternatives begin at 3, and 'Bonn' ends first. Q586 is a link of one place, as is Berlin,
    so that the first knowledge base by name is that of the most links: both links to Q586 are told, later the one.
    """
    one = frames(("in Bonn am Rhein", spans))
    group = pl.lit("d0a0") if rule == "alternatives" else pl.col("annotation")
    rows = one.annotations.with_columns(group=group, option="annotation")
    dataset = Frames.of(documents=one.documents, annotations=rows, links=one.links)
    assert places(rule, dataset) == told
    mended = correct(dataset)[0]
    left = mended.annotations["annotation"].to_list()
    assert places(rule, mended) == [name for name in told if name in left] != []


def grouped(*mentions: tuple[int, int, str | None, str, str], text: str = "Bonn am Rhein", **columns: object) -> Frames:
    """Return a document with mentions (begin, end, link, group, option), `columns` of which are given as lists."""
    one = frames((text, [mention[:3] for mention in mentions]))
    told = {"group": [row[3] for row in mentions], "option": [row[4] for row in mentions], **columns}
    rows = one.annotations.with_columns(pl.Series(name, values) for name, values in told.items())
    return Frames.of(**{**vars(one), "annotations": rows})


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        # The literal and the metonymic reading of one stretch, and one that counts neither way, are no repeats.
        (
            grouped(
                *[(0, 4, BONN, f"g{n}", f"o{n}") for n in range(4)],
                layer=["LIT", "METO", "LIT", "LIT"],
                ignorable=[None, "layer", "optional", None],
            ),
            ["d0a3"],
        ),
        # 'Bonn' is an alternative of two mentions, which also may be 'Bonn am Rhein' or 'am Rhein': both need it.
        (
            grouped(
                (0, 4, BONN, "g", "o1"), (0, 13, BONN, "g", "o2"), (0, 4, BONN, "h", "o3"), (5, 13, BONN, "h", "o4")
            ),
            [],
        ),
        # Two parts of one option, and one of them as another option: 'Bonn' is needed in both.
        (grouped((0, 4, BONN, "g", "o1"), (8, 13, BERLIN, "g", "o1"), (0, 4, BONN, "g", "o2")), []),
        # The same two alternatives once more: the whole second mention is a repeat, in whatever order it says them.
        (
            grouped((0, 4, BONN, "g", "1"), (0, 4, None, "g", "2"), (0, 4, None, "h", "3"), (0, 4, BONN, "h", "4")),
            ["d0a2", "d0a3"],
        ),
        (grouped((0, 4, BONN, "g", "o"), (0, 4, BONN, "g", "o")), ["d0a1"]),
    ],
    ids=["layers", "alternatives", "parts", "mentions", "option"],
)
def test_repeats_say_the_same_of_the_same_mention(dataset: Frames, expected: list[str]) -> None:
    assert places("repeated-annotation", dataset) == expected


def test_nil_mentions_of_two_clusters_and_links_that_differ_by_one_are_no_repeats() -> None:
    dataset = grouped((0, 4, None, "g", "g"), (0, 4, None, "h", "h"))
    clusters = pl.DataFrame({"subject": ["d0a0", "d0a1"], "term": [CLUSTER] * 2, "text": ["NIL1", "NIL2"]})
    assert places("repeated-annotation", Frames.of(**{**vars(dataset), "values": clusters})) == []
    dataset = grouped((0, 4, BONN, "g", "g"), (0, 4, BONN, "h", "h"))
    more = pl.DataFrame({"annotation": ["d0a1"], "entity": [BERLIN], "entity_as_given": [BERLIN]})
    assert (
        places("repeated-annotation", Frames.of(**{**vars(dataset), "links": pl.concat([dataset.links, more])})) == []
    )


def test_repeat_that_has_a_class_of_its_own_is_told_and_stays() -> None:
    dataset = grouped(*[(0, 4, BONN, f"g{n}", f"g{n}") for n in range(3)])
    classes = pl.DataFrame(
        {"annotation": ["d0a0", "d0a1", "d0a2"], "class": ["el:Common", "el:Metaphoric", "el:Common"]}
    )
    dataset = Frames.of(**{**vars(dataset), "classes": classes})
    assert places("repeated-annotation", dataset) == ["d0a1", "d0a2"]
    assert correct(dataset)[0].annotations["annotation"].to_list() == ["d0a0", "d0a1"]


def test_layers_and_alternatives_are_neither_nested_nor_crossing_and_links_disagree_by_mention() -> None:
    """Both mentions may be Bonn or Berlin; the metonymic reading of the second, another entity, is another layer."""
    spans = [(0, 4), (0, 4), (5, 9), (5, 9), (5, 9), (0, 9), (2, 7)]
    links = [BONN, BERLIN, BERLIN, BONN, Q586, None, None]
    groups = ["g", "g", "h", "h", "i", "g", "k"]
    dataset = grouped(
        *[(*span, link, group, str(n)) for n, (span, link, group) in enumerate(zip(spans, links, groups, strict=True))],
        text="Bonn Bonn",
        layer=[None] * 4 + ["METO", None, "METO"],
        ignorable=[None] * 4 + ["layer", None, "layer"],
    )
    assert places("disagreeing-links", dataset) == []
    # 0-9 is an alternative of the first 'Bonn', and has the second in it.
    assert (places("nested", dataset), places("crossing", dataset)) == (["d0a5"], ["d0a6"])


def test_forms_are_compared_without_the_characters_that_fixing_takes_off() -> None:
    """'Bonn,' is 'Bonn' with a comma: the second stands for Berlin, the third has no annotation, before and after."""
    dataset = frames(("Bonn, Bonn Bonn", [(0, 5, BONN), (6, 10, BERLIN)]))
    fixed, _ = correct(dataset)
    for one in (dataset, fixed):
        assert (places("disagreeing-links", one), places("unmarked-form", one)) == (["d0"], ["d0 Bonn"])


def test_fixing_writes_links_in_one_spelling_and_leaves_those_through_resources_of_the_file() -> None:
    one = frames(("Bonn Bonn Bonn", [(0, 4, BONN), (5, 9, BONN), (10, 14, BONN)]))
    given = pl.Series(["http://dbpedia.org/page/Bonn", BONN, "http://x.org/B"])
    fixed, changes = correct(Frames.of(**{**vars(one), "links": one.links.with_columns(entity_as_given=given)}))
    assert fixed.links["entity_as_given"].to_list() == [BONN, BONN, "http://x.org/B"]
    assert changes.select("change", "annotation", "new_links").rows() == [("link-spelling", "d0a0", BONN)]
    assert places("link-spelling", fixed) == []


@pytest.fixture(scope="module")
def kb(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    return kb_of(TABLES)


def test_links_are_held_against_the_knowledge_base(kb: KnowledgeBase) -> None:
    """Of five links one redirects, one is a page of names, one unknown, one a person where the mention is a place."""
    names = ["A_Freud", "Anna", "Nobody", "Anna_Freud", "Anna_Freud"]
    one = frames(("Anna " * 5, [(5 * n, 5 * n + 4, f"{DBR}{name}") for n, name in enumerate(names)]))
    classes = pl.DataFrame({"annotation": ["d0a3", "d0a4"], "class": [f"{DBO}Place", f"{DBO}Person"]})
    linked = Frames.of(documents=one.documents, annotations=one.annotations, links=one.links, classes=classes)
    assert places("redirect", linked, kb) == ["d0a0"]
    assert places("disambiguation", linked, kb) == ["d0a1"]
    assert places("unknown-entity", linked, kb) == ["d0a2"]
    assert places("class-disagrees", linked, kb) == ["d0a3"]
    mended, changes = correct(linked, kb=kb, rules=["redirect"])
    assert mended.links.filter(annotation="d0a0")["entity"].to_list() == [f"{DBR}Anna_Freud"]
    assert changes.select("change", "links", "new_links").rows() == [("redirect", f"{DBR}A_Freud", f"{DBR}Anna_Freud")]
    assert (
        "redirect" not in check([Checked("x", linked, ())])["rule"].to_list()
    )  # without one nothing is known of links


def test_mending_trims_and_removes_and_says_what_it_changed() -> None:
    dataset = frames(("in Bonn, Bonn", [(2, 8, BONN), (9, 13, BONN), (9, 13, BONN)]))
    mended, changes = correct(dataset)
    assert mended.annotations.select("begin", "end", "surface_form").rows() == [(3, 7, "Bonn"), (9, 13, "Bonn")]
    assert changes.select("change", "begin", "end", "new_begin", "new_end").rows() == [
        ("outer-characters", 2, 8, 3, 7),
        ("repeated-annotation", 9, 13, None, None),
    ]
    assert correct(mended)[1].is_empty()


def test_only_the_rules_that_are_named_look() -> None:
    one = Checked("x", frames(("Berlin ", [(0, 3, None)])), (Repair("offset", 2, "0,4 is 0,3"), Repair("new-kind", 1)))
    assert check([one], rules=["inside-word"])["rule"].to_list() == ["new-kind", "inside-word"]
    every = check([one])
    shown = every.filter(pl.col("rule").is_in(["new-kind", "offset", "inside-word", "text-edge"]))
    assert shown.select("severity", "rule", "count").rows() == [
        ("error", "new-kind", 1),
        ("error", "offset", 2),
        ("warning", "inside-word", 1),
        ("note", "text-edge", 1),
    ]
    each = check([one], each=True)
    assert each.filter(pl.col("rule") == "inside-word").select("document", "begin", "end").rows() == [("d0", 0, 3)]


@pytest.mark.parametrize("rule", list(RULES), ids=lambda rule: rule.name)
def test_rule_says_what_it_is_and_finds_nothing_in_nothing(rule: Rule) -> None:
    assert rule.severity in SEVERITIES, f"rule '{rule.name}': the severity is one of {', '.join(SEVERITIES)}"
    for said in ("summary", "fix"):
        assert getattr(rule, said).endswith("."), (
            f"rule '{rule.name}': `{said}` is a sentence and ends with a full stop"
        )
    if (find := rule.find) is not None and not rule.needs_kb:
        assert find(Subject(Frames.empty())).is_empty(), (
            f"rule '{rule.name}' finds something in a dataset without texts"
        )


def test_whatever_readers_tell_is_a_rule() -> None:
    told = set(NOTED)
    for file in (Path(__file__).parents[2] / "remix" / "formats").rglob("*.py"):
        for node in ast.walk(tree_of(file)):
            name = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", ""))
            if isinstance(node, ast.Call) and node.args and name in ("add", "Repair"):
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    told.add(first.value)
    assert {"offset", "anchor", "range"} | told <= set(RULES.names())


@pytest.mark.parametrize("syntax", ["jsonl", "ttl"])
def test_each_block_of_annotations_that_are_shifted_alike_is_told_and_mended(syntax: str, tmp_path: Path) -> None:
    """Of 'Ann Bob Cai Dan Eva' the last three are 2 too far on; 'é Ann Bob Cai' counts bytes; two are no block."""
    shifted = {"Ann": 0, "Bob": 4, "Cai": 10, "Dan": 14, "Eva": 18}
    texts = {
        "d1": ("Ann Bob Cai Dan Eva.", shifted),
        "d2": ("é Ann Bob Cai", {"Ann": 3, "Bob": 7, "Cai": 11}),
        "d3": ("Ann Bob Cai Dan", {"Ann": 0, "Bob": 6, "Cai": 10, "Dan": 12}),
    }
    path = tmp_path / f"shifted.{syntax}"
    path.write_text("".join(line for name, text in texts.items() for line in WRITTEN[syntax](name, *text)))
    found = read(path)
    checked = Checked("x", found.frames, found.report.repairs)
    blocks = check([checked], rules=["shifted-block"], each=True)
    assert [what.rpartition("/")[2] for what in blocks["what"]] == [
        "d1 8,19: 3 annotations in a row are shifted by +2",
        "d2 2,13: 3 annotations in a row are counted in UTF-8 bytes",
    ]
    assert check([checked]).filter(rule="shifted-block").select("severity", "count").row(0) == ("error", 2)
    first = found.frames.documents.filter(pl.col("text").str.ends_with("Eva."))["document"].item()
    mended = found.frames.annotations.filter(document=first).sort("begin")
    assert mended["begin"].to_list() == [0, 4, 8, 12, 16]


def _lines(name: str, text: str, places: dict[str, int]) -> list[str]:
    rows: list[dict[str, object]] = [{"document": name, "text": text}]
    rows += [{"document": name, "begin": n, "end": n + 3, "mention": form} for form, n in places.items()]
    return [json.dumps(row) + "\n" for row in rows]


def _blocks(name: str, text: str, places: dict[str, int]) -> list[str]:
    nif = "<http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
    said = [f'<http://x/{name}> {nif}isString> "{text}" .\n']
    for form, n in places.items():
        said.append(
            f"<http://x/{name}#char={n},{n + 3}> {nif}referenceContext> <http://x/{name}> ; "
            f'{nif}anchorOf> "{form}" ; {nif}beginIndex> {n} ; {nif}endIndex> {n + 3} .\n'
        )
    return said


WRITTEN = {"jsonl": _lines, "ttl": _blocks}


def test_rule_of_equal_texts_says_which_of_them_a_remix_counts_once(tmp_path: Path) -> None:
    """A text that one dataset has twice, and another once, is in a remix of both as often as in the first."""
    for name, number in (("first", 2), ("second", 1)):
        rows = [
            {"document": f"d{nth}", "text": "in Bonn", "begin": 3, "end": 7, "entity": BONN} for nth in range(number)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "first.jsonl", tmp_path / "second.jsonl"])
    made = work.build("SELECT ?annotation { ?annotation nif:anchorOf ?form }", name="all-of-it")
    assert made.frames.documents["text"].to_list() == ["in Bonn", "in Bonn"]
    assert "counts a text once where several datasets have it, not where one has it again" in RULES["equal-text"].fix
