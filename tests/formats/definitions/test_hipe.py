"""HIPE-scorer's TSV: a token a line, literal and metonymic readings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from remix.errors import BadInput
from remix.formats import LoadedFile, read, write
from remix.formats.definitions.hipe import hipe
from remix.formats.layers import CONTINUED, DATE, DATES, FILLED, INSIDE, LABELS, NOISE, NOISES, PERIOD, RANKED
from remix.formats.losses import reduce_frames
from remix.frames import Frames
from tests.examples import FEW
from tests.formats.corpora import assert_same, corpora, rewritten

HEADER = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNEL-LIT\tNEL-METO\tMISC\n"
LINES = (
    HEADER
    + "# hipe2022:document_id = d-1\n# hipe2022:language = fr\n"
    + "A\tO\tO\tO\t_\t_\t_\n"
    + "Berne\tB-loc\tB-org\tB-loc.adm.town\tQ70|Q71\tQ72\tNoSpaceAfter\n"
    + ",\tO\tO\tO\t_\t_\tEndOfLine\n"
    + "Jean\tB-pers\tO\tO\tNIL\t_\t_\n"
    + "Roy\tI-pers\tO\tO\tNIL\t_\t_\n"
)


def read_lines(folder: Path, text: str) -> LoadedFile:
    path = folder / "x.tsv"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_text_is_rebuilt_and_layers_are_kept_beside_the_one_that_is_scored(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, LINES)
    frames = reading.frames
    assert (reading.report.format, reading.report.annotations, reading.report.mentions_linked) == ("hipe", 2, 1)
    assert frames.documents.select("text", "language", "given").rows() == [("A Berne, Jean Roy", "fr", "d-1")]
    classes = frames.classes.select("annotation", pl.col("class").str.extract("#(.*)"))
    rows = frames.annotations.join(classes, on="annotation", maintain_order="left")
    assert rows.select("layer", "surface_form", "class", "ignorable").rows() == [
        ("NE-COARSE-LIT", "Berne", "loc", None),
        ("NE-COARSE-LIT", "Jean Roy", "pers", None),
        ("NE-COARSE-METO", "Berne", "org", "layer"),
        ("NE-FINE-LIT", "Berne", "loc.adm.town", "layer"),
    ]


def test_first_of_ranked_links_is_the_link_and_all_are_kept(tmp_path: Path) -> None:
    frames = read_lines(tmp_path, LINES).frames
    assert sorted(frames.links["entity"].str.extract("(Q.*)")) == ["Q70", "Q72"]
    assert frames.values.filter(pl.col("term") == RANKED)["text"].to_list() == ["Q70|Q71"]


def test_links_that_differ_from_their_mention_are_mentions_of_their_own_layer(tmp_path: Path) -> None:
    # Roy has another link than Jean, and a link stands on A, which is no mention.
    parts = LINES.replace("I-pers\tO\tO\tNIL", "I-pers\tO\tO\tQ9").replace("A\tO\tO\tO\t_", "A\tO\tO\tO\tQ1")
    frames = read_lines(tmp_path, parts).frames
    rows = frames.annotations.filter(layer="NEL-LIT").select("surface_form", "is_nil", "ignorable").rows()
    assert rows == [("A", False, "layer"), ("Jean", True, "layer"), ("Roy", False, "layer")]
    assert_same(rewritten(frames, "hipe", "x.tsv"), frames)


def test_tags_are_those_of_the_scorer(tmp_path: Path) -> None:
    # Two mentions, as the second begins with B; one of IOBES; I of another type begins one; a type in capitals is the
    # same. A token that begins with # is a comment to the scorer, so that the mention on g goes on at i for it: both
    # are kept, as the file tags them, and the second is marked.
    tags = ["B-loc", "B-loc", "O", "S-org", "I-pers", "E-PERS", "I-loc", "O", "I-loc"]
    tokens = ["a", "b", "c", "d", "e", "f", "g", "#h", "i"]
    lines = "".join(f"{token}\t{tag}\tO\tO\t_\t_\t_\n" for token, tag in zip(tokens, tags, strict=True))
    frames = read_lines(tmp_path, HEADER + lines).frames
    assert frames.documents["text"].to_list() == ["a b c d e f g #h i"]
    assert frames.annotations["surface_form"].to_list() == ["a", "b", "d", "e f", "g", "i"]
    marked = frames.values.filter(term=CONTINUED).join(frames.annotations, left_on="subject", right_on="annotation")
    assert marked.select("surface_form", "text").rows() == [("i", "true")]


def test_lines_without_token_are_passed_over_and_documents_end_where_a_comment_says_so(tmp_path: Path) -> None:
    # As runs have it: a comment and lines of empty cells, carriage returns, documents without a name.
    comments = "# document_id\t\t\t\t\n\t\t\t\t\t\t\n\t\t\t\tQ1\t\t\n# segment_iiif_link\t\t\n"
    one = "Roy\tB-pers\tO\tO\tNIL\t_\t_\n"
    reading = read_lines(tmp_path, (HEADER + comments + one + comments + one).replace("\n", "\r\n"))
    assert reading.frames.documents["text"].to_list() == ["Roy", "Roy"]
    assert [(told.kind, told.count) for told in reading.report.repairs] == [("empty-token", 2)]


def test_line_that_begins_with_a_hash_is_a_comment_however_many_cells_it_has(tmp_path: Path) -> None:
    # A note with tabs, one with fewer cells and one with more; '#b' has the cells of a token and stays one. The last
    # cell, MISC, may be missing.
    body = "# a\tnote\n#x\tB-loc\tO\tO\tQ1\t_\t_\t_\n#b\tB-loc\tO\tO\tq1\t_\t_\nRoy\tB-pers\tO\tO\tnil\t_\n"
    frames = read_lines(tmp_path, HEADER + body).frames
    assert frames.documents["text"].to_list() == ["#b Roy"]
    assert frames.annotations.select("surface_form", "is_nil").rows() == [("#b", False), ("Roy", True)]
    assert frames.links["entity"].to_list() == ["http://www.wikidata.org/entity/Q1"]


def test_document_line_right_behind_a_segment_line_does_not_cut_for_the_scorer(tmp_path: Path) -> None:
    # e was not read since the segment ended, and f was: d2 is of the document of d1, d3 is not.
    one = "Roy\tI-pers\tO\tO\tNIL\t_\t_\n"
    body = f"# document_id = d1\n{one}# segment\n# document_id = d2\n{one}# document_id = d3\n{one}"
    frames = read_lines(tmp_path, HEADER + body).frames
    assert frames.documents["given"].to_list() == ["d1", "d2", "d3"]
    told = frames.values.filter(term=CONTINUED).select("subject", "text").rows()
    assert told == [("urn:remix:dataset:x/d2", "d1"), ("urn:remix:dataset:x/d2#char=0,3", "true")]


def test_date_line_without_a_day_is_of_2022_to_the_scorer(tmp_path: Path) -> None:
    dated = LINES.replace("language = fr\n", "language = fr\n# date = 1894-05-01\n")
    more = "# document_id = d-2\n# date = unknown\nRoy\tO\tO\tO\t_\t_\t_\n"
    frames = read_lines(tmp_path, dated + more).frames
    kept = frames.values.filter(pl.col("term").is_in([DATE, PERIOD])).select(pl.col("subject").str.slice(-3), "text")
    assert sorted(kept.rows()) == [("d-1", "1890-1900"), ("d-1", "1894-05-01"), ("d-2", "2020-2030")]


def test_dates_within_a_document_are_kept_with_their_places_and_come_back(tmp_path: Path) -> None:
    one = "Roy\tB-pers\tO\tO\tNIL\t_\t_\n"
    body = f"# document_id = d\n# date = 1894-05-01\n{one}# date = 1900-01-01\n{one}{one}# date = unknown\n{one}"
    frames = read_lines(tmp_path, HEADER + body).frames
    told = frames.values.filter(pl.col("term").is_in([DATES, PERIOD])).select("text")["text"].to_list()
    assert told[0] == "0 1894-05-01\n4 1900-01-01\n12 2022-01-01"
    assert sorted(told[1:]) == ["1890-1900", "1900-1910", "2020-2030"]
    again = rewritten(frames, "hipe", "x.tsv").values.filter(term=DATES)
    assert again["text"].to_list() == told[:1]


def test_noise_of_tokens_comes_back_where_it_is_not_that_of_their_mention(tmp_path: Path) -> None:
    # d1 follows from its mentions: t0 t1 has 0.5 alike, t2 is outside and has none. In d2 the second token of a mention
    # has another, that of d3 stands outside of one.
    cells = {"d1": ["B-loc LED0.5", "I-loc LED0.50", "O _"], "d2": ["B-loc LED0.5", "I-loc LED0.25"], "d3": ["O LED1"]}
    body = ""
    for name, rows in cells.items():
        body += f"# document_id = {name}\n"
        for number, (tag, misc) in enumerate(row.split() for row in rows):
            body += f"t{number}\t{tag}\tO\tO\t_\t_\t{misc}\n"
    frames = read_lines(tmp_path, HEADER + body).frames
    kept = frames.values.filter(term=NOISES)
    assert kept.select(pl.col("subject").str.slice(-2), "text").rows() == [("d2", "0 0.5\n3 0.25"), ("d3", "0 1")]
    assert frames.values.filter(term=NOISE)["number"].to_list() == [0.5, 0.5]
    again = rewritten(frames, "hipe", "x.tsv").values
    assert again.filter(term=NOISES).rows() == kept.rows()
    assert again.filter(term=NOISE)["number"].to_list() == [0.5, 0.5]


def test_tags_without_a_type_and_odd_prefixes_come_back(tmp_path: Path) -> None:
    # `-` has the empty label, `LOC` another one than its type: both are kept. X- carries LOC on, I- begins one.
    tags = ["B-LOC", "X-LOC", "O", "I-LOC", "-", "B_", "O", "LOC"]
    body = "".join(f"t{n}\t{tag}\tO\tO\t_\t_\t_\n" for n, tag in enumerate(tags))
    frames = read_lines(tmp_path, HEADER + body).frames
    rows = frames.annotations.select("layer", "surface_form").rows()
    assert rows[:3] == [("NE-COARSE-LIT", "t0 t1"), ("NE-COARSE-LIT", "t3"), ("NE-COARSE-LIT", "t7")]
    assert rows[3:] == [("NE-COARSE-LIT-UNTYPED", "t4"), ("NE-COARSE-LIT-UNTYPED", "t5")]
    assert frames.values.filter(term=LABELS)["text"].to_list() == ["NE-COARSE-LIT  B_ LOC"]
    again = rewritten(frames, "hipe", "x.tsv")
    spans = ["layer", "begin", "end"]
    assert again.annotations.select(spans).rows() == frames.annotations.select(spans).rows()
    assert again.values.filter(term=INSIDE)["text"].to_list() == ["I"]


def test_empty_cell_is_told_and_read_as_nothing(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, HEADER + "Roy\t\tO\tO\t\t_\t\nBonn\tB-loc\tO\tO\tQ1\t_\t_\n")
    assert reading.frames.annotations["surface_form"].to_list() == ["Bonn"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("tag", 2)]


def test_mention_that_goes_on_behind_a_hash_is_written_as_it_was(tmp_path: Path) -> None:
    tags = [("a", "B-loc", "Q1"), ("#b", "O", "_"), ("c", "I-loc", "Q2"), ("#d", "B-loc", "Q1"), ("e", "I-loc", "Q2")]
    body = "".join(f"{token}\t{tag}\tO\tO\t{link}\t_\t_\n" for token, tag, link in tags)
    frames = read_lines(tmp_path, HEADER + body).frames
    assert frames.values.filter(term=CONTINUED).height == 3  # c, d e, which begins with e there, and the link of e
    assert_same(rewritten(frames, "hipe", "x.tsv"), frames)


def test_noise_dates_and_tokens_are_kept(tmp_path: Path) -> None:
    dated = LINES.replace("language = fr\n", "language = fr\n# hipe2022:date = 1894-05-01\n")
    frames = read_lines(tmp_path, dated.replace("NoSpaceAfter", "NoSpaceAfter|LED0.25")).frames
    kept = {row["term"].split("#")[1]: row["text"] or row["number"] for row in frames.values.iter_rows(named=True)}
    assert kept == {
        "tokens": "A\nBerne\t,\nJean\nRoy\n",
        "date": "1894-05-01",
        "period": "1890-1900",
        "ranked": "Q70|Q71",
        "noise": 0.25,
    }
    assert_same(rewritten(frames, "hipe", "x.tsv"), frames)


def test_what_is_written_reads_the_same(tmp_path: Path) -> None:
    frames = read_lines(tmp_path, LINES).frames
    assert write(frames, tmp_path / "y.tsv", "hipe") == ()
    assert_same(read(tmp_path / "y.tsv", name="x").frames, frames)


def test_layers_come_back_from_nif_and_are_no_mentions_there(tmp_path: Path) -> None:
    frames = read_lines(tmp_path, LINES).frames
    write(frames, tmp_path / "y.ttl", "nif")
    back = read(tmp_path / "y.ttl", name="x")
    assert (back.report.annotations, back.report.mentions) == (2, 2)
    assert back.frames.annotations["layer"].sort().to_list() == frames.annotations["layer"].sort().to_list()
    assert (tmp_path / "y.ttl").read_text().count("rmx:Ignorable") == 2


def test_spaces_and_overlaps_that_are_lost_are_named(tmp_path: Path) -> None:
    text = {"document": ["d"], "text": ["New  York"]}
    spans = {"annotation": ["a", "b"], "document": ["d"] * 2, "begin": [0, 5], "end": [9, 9]}
    spans["surface_form"] = ["New  York", "York"]
    frames = Frames.of(documents=pl.DataFrame(text), annotations=pl.DataFrame(spans))
    losses = write(frames, tmp_path / "y.tsv", "hipe")
    assert [(loss.kind, loss.count) for loss in losses] == [("overlaps", 1), ("white-space", 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "A\tO\n", r"x\.tsv:2: has 2 columns, the header 7"),
        (HEADER + "A\tO\nB\tO\tO\n", r"x\.tsv:2: has 2 columns, the header 7"),
        (HEADER.replace("NEL-LIT", "NEL-LITERAL"), r"x\.tsv:1: the header has no column NEL-LIT; did you mean 'NEL-L"),
    ],
)
def test_broken_file_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_lines(tmp_path, text)


def test_columns_that_the_header_alone_has_and_links_may_be_missing(tmp_path: Path) -> None:
    # Published runs of 2020: types alone under a header of all columns, and under one of types.
    for header in (HEADER, "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\n"):
        reading = read_lines(tmp_path, header + "A\tB-loc\tO\nB\tO\tO\n")
        assert reading.frames.annotations["surface_form"].to_list() == ["A"]
        told = [(one.kind, one.count) for one in reading.report.repairs if one.kind == "column"]
        assert told == ([("column", 1)] if header == HEADER else [])


def test_links_that_no_type_tells_apart_are_a_layer_and_come_back(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "TOKEN\tNE-COARSE-LIT\tNEL-LIT\nA\t_\tQ1\nB\t_\tQ1\nC\t_\tQ2\nD\t_\t_\n")
    rows = reading.frames.annotations.filter(layer="NEL-LIT-ALONE")
    assert rows["surface_form"].to_list() == ["A B", "C"]
    write(reading.frames, tmp_path / "y.tsv", "hipe")
    rows = [line.split("\t") for line in (tmp_path / "y.tsv").read_text().splitlines() if "\t" in line]
    cells = [row[rows[0].index("NEL-LIT")] for row in rows[1:]]
    assert cells == ["Q1", "Q1", "Q2", "_"]


def test_lines_that_lack_cells_of_links_or_have_more_are_told(tmp_path: Path) -> None:
    body = "Bonn\tB-loc\tO\tO\nRoy\tB-pers\tO\tO\tQ1\t_\t_\tmore\nA\tO\tO\tO\t_\t_\nB\tO\tO\tO\t_\t_\t_\n"
    reading = read_lines(tmp_path, HEADER + body)
    assert reading.frames.annotations["surface_form"].to_list() == ["Bonn", "Roy"]
    told = [(one.kind, one.count, one.example) for one in reading.report.repairs]
    assert told == [("column", 2, "line 2 has 4 cells, the header 7")]
    assert reading.frames.values.filter(term=FILLED)["number"].to_list() == [2.0]


def test_mention_that_begins_with_i_is_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, HEADER + "Roy\tI-pers\tO\tO\tQ1\t_\t_\nParis\tI-loc\tO\tO\tQ2\t_\t_\n")
    assert reading.frames.annotations["surface_form"].sort().to_list() == ["Paris", "Roy"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("tag", 2)]


@pytest.mark.long
@settings(max_examples=FEW)
@given(corpora())
def test_round_trip_is_exact_the_second_time(frames: Frames) -> None:
    once = rewritten(reduce_frames(frames, hipe.holds)[0], "hipe", "x.tsv")
    assert_same(rewritten(once, "hipe", "x.tsv"), once)


@settings(max_examples=FEW)
@given(corpora(letters="ab.é🜁"))
def test_words_come_back_where_they_were(frames: Frames) -> None:
    # Without white space only mentions that overlap are lost, and of one span all but the first.
    once = rewritten(reduce_frames(frames, hipe.holds)[0], "hipe", "x.tsv")
    spans = ["document", "begin", "end"]
    assert once.documents["text"].to_list() == frames.documents["text"].to_list()
    assert once.annotations.join(frames.annotations, on=spans, how="anti").is_empty()
