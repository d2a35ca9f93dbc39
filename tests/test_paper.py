"""Tables as papers have them: what is in bold, what stands in a cell, and that LaTeX can set it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix import tables
from remix.errors import UnknownName
from remix.latex import escape_latex
from remix.paper import Typesetting, typeset

SCORES = pl.DataFrame(
    {
        "system": ["a", "b", "c"],
        "set": ["x", "x", "y"],
        "p": [0.9, 0.8, 0.1],
        "r": [0.1996, 0.2004, None],
        "low": [0.1, 0.15, None],
        "high": [0.3, 0.25, None],
        "mark": ["*", "", "†"],
        "count": [1200, 7, None],
    }
)


def rows_of(latex: str) -> list[list[str]]:
    """The cells of a table of LaTeX, its headings first."""
    ends = (r" \\", r" \tabularnewline")
    lines = [line.rpartition(" ")[0] for line in latex.splitlines() if line.endswith(ends)]
    return [re.split(r"(?<!\\) & ", line) for line in lines]


def check_latex(text: str) -> None:
    """Fail unless braces are closed, and each row has as many cells as there are columns."""
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    depth = 0
    for token in re.findall(r"\\.|[{}]", bare, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
    assert depth == 0
    (columns,) = re.findall(r"\\begin\{tabular\}\{((?:[lr]|p\{\d+pt\})+)\}", bare)
    assert [{len(re.sub(r"p\{\d+pt\}", "p", columns))}] == [{len(row) for row in rows_of(text)}]
    assert not re.search(r"(?<!\\)[#%]", re.sub(r"\{#[12]\}", "", bare))
    assert bare.count(r"\begin{") == bare.count(r"\end{")


def test_best_of_a_column_is_bold_and_equal_values_are_equally_good() -> None:
    # 0.1996 and 0.2004 are both 0.200 as they are shown, so that neither is better; of p it is 0.9.
    how = Typesetting(columns=["system", "p", "r"], best={"p": "highest", "r": "highest"}, worst={"p": "lowest"})
    assert typeset(SCORES, "md", how).splitlines()[2:] == [
        "| a        | **0.900** | 0.200 |",
        "| b        |     0.800 | 0.200 |",
        "| c        |   *0.100* |     – |",
    ]


def test_best_is_looked_for_within_groups_and_across_rows() -> None:
    how = Typesetting(columns=["system", "p"], best={"p": "highest"}, within=["set"])
    # In y one system stands alone, which is no best.
    assert [row[1] for row in rows_of(typeset(SCORES, "latex", how))] == ["p", r"\bestvalue{0}{.900}", "0.800", "0.100"]
    how = Typesetting(columns=["p", "r"], best={"p": "highest", "r": "highest"}, across=True)
    assert [row[0] for row in rows_of(typeset(SCORES, "latex", how))][1:3] == [
        r"\bestvalue{0}{.900}",
        r"\bestvalue{0}{.800}",
    ]
    lowest = Typesetting(columns=["p"], best={"p": "lowest"})
    assert rows_of(typeset(SCORES, "latex", lowest))[3] == [r"\bestvalue{0}{.100}"]


def test_intervals_and_marks_stand_in_the_cell_and_decimal_points_below_each_other() -> None:
    how = Typesetting(
        columns={"system": "System", "r": "R", "count": "mentions"},
        best={"r": "highest"},
        intervals={"r": ("low", "high")},
        marks={"r": "mark"},
        digits={"r": 4},
    )
    star, room = r"\textsuperscript{*}", r"\phantom{\textsuperscript{$\dagger$}}"
    assert rows_of(typeset(SCORES, "latex", how)) == [
        ["System", "R", "mentions"],
        ["a", rf"0.1996\rlap{{{star}}}{room} {{\scriptsize [0.1000, 0.3000]}}", "1200"],
        ["b", rf"\bestvalue{{0}}{{.2004}}{room} {{\scriptsize [0.1500, 0.2500]}}", "7"],
        ["c", rf"--\rlap{{\textsuperscript{{$\dagger$}}}}{room}", "--"],
    ]
    assert r"| **0.2004** [0.1500, 0.2500] |" in typeset(SCORES, "md", how)
    assert r"0.1996\* [" in typeset(SCORES, "md", how)


def test_table_without_a_typesetting_has_equally_many_decimals_in_a_column() -> None:
    frame = pl.DataFrame({"value": [0.5, 12.25, 0.12344], "small": [1e-7, 0.5, 0.0], "shareOfAll": [0.5, 1.0, 0.123]})
    assert rows_of(tables.render(frame, "latex"))[1:] == [
        ["0.5000", "$<$0.1", r"50.0 \%"],
        ["12.2500", "0.5", r"100.0 \%"],
        ["0.1234", "0.0", r"12.3 \%"],
    ]


def test_caption_and_label_make_a_table_that_floats() -> None:
    text = typeset(SCORES, "latex", Typesetting(columns=["p"], caption="50 % & more", label="tab:a b"))
    check_latex(text)
    assert r"\caption{50 \% \& more}" in text and r"\label{tab:a-b}" in text and r"\end{table}" in text


def test_column_that_is_not_there_names_those_that_are() -> None:
    for how in (Typesetting(columns=["F1"]), Typesetting(best={"F1": "highest"}), Typesetting(marks={"p": "F1"})):
        with pytest.raises(UnknownName, match="no column of the table named 'F1'"):
            typeset(SCORES, "latex", how)
    with pytest.raises(UnknownName, match="'highest'"):
        Typesetting(best={"p": "high"})


CELLS = st.one_of(st.none(), st.text(max_size=12), st.sampled_from([r"\input{x}", "50 % {", "a & b \\\\", "$x^2_i$~#"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, st.one_of(st.none(), st.floats())), max_size=5), st.text(min_size=1, max_size=8))
def test_whatever_stands_in_a_table_latex_can_read_it(rows: list[tuple[str | None, float | None]], name: str) -> None:
    frame = pl.DataFrame(rows, schema={name: pl.String, "value" + name: pl.Float64}, orient="row")
    check_latex(typeset(frame))
    check_latex(typeset(frame, "latex", Typesetting(best={"value" + name: "highest"}, caption=name)))
    markdown = typeset(frame, "md").splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in markdown} == {3}


def set_by_latex(folder: Path, body: str, *programs: str, packages: str = "") -> str:
    """Set a text, as references and the columns of long tables want it, and return what LaTeX said then."""
    program = next(filter(None, map(shutil.which, programs or ("tectonic", "pdflatex"))), None)
    if program is None:
        pytest.skip(f"needs {' or '.join(programs or ('tectonic', 'pdflatex'))}")
    packages = f"\\usepackage{{booktabs,longtable}}{packages}"
    document = f"\\documentclass{{article}}\n{packages}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "table.tex").write_text(document, encoding="utf-8")
    more = (
        ["--print", "--keep-logs"] if program.endswith("tectonic") else ["-interaction=nonstopmode", "-halt-on-error"]
    )
    for _ in range(3):
        done = subprocess.run([program, *more, "table.tex"], cwd=folder, check=True, capture_output=True, timeout=100)
    assert (folder / "table.pdf").stat().st_size > 1000
    return done.stdout.decode(errors="replace")


SCRIPTS = {
    "中国 北京": r"\otherscript{中国}{??} \otherscript{北京}{??}",
    "بغداد": r"\otherscript{بغداد}{?????}",
    "ירושלים": r"\otherscript{ירושלים}{???????}",
    "Việt Nam": r"Vi\otherscript{ệ}{e}t Nam",
    "Käse, Gdańsk & 50 %": r"Käse, Gdańsk \& 50 \%",
    "Ka\u0308se": r"Käse",  # the mark stands behind its letter, which LaTeX does not set
    "«męka»": r"«męka»",
    "Σ p ∈ P ∖ Q ∪ R": r"$\Sigma$ p $\in$ P $\setminus$ Q $\cup$ R",
    "a\u200bb": "a\\otherscript{\u200b}{}b",
}
"""Texts of many scripts, and what LaTeX is given of them."""


def test_letters_that_latex_lacks_have_others_in_their_place_which_is_said() -> None:
    assert {text: escape_latex(text) for text in SCRIPTS} == SCRIPTS
    found = typeset(pl.DataFrame({"name": [*SCRIPTS]}), "latex").splitlines()
    assert found[1:4] == [
        r"% has letters that need \usepackage[T1]{fontenc}",
        "% has letters that the fonts of LaTeX lack: pdflatex sets plain letters or ? in their place; lualatex and",
        "% xelatex set them with a font that has them (fontspec; babel for what is read from right to left)",
    ]
    assert typeset(pl.DataFrame({"name": ["Käse"]}), "latex").count("%") == 1


@pytest.mark.extra
@pytest.mark.parametrize("program", ["pdflatex", "lualatex"])
@pytest.mark.parametrize("caption", ["", "Names of 中国"])
def test_whichever_script_a_name_has_latex_sets_the_table(tmp_path: Path, program: str, caption: str) -> None:
    rows = pl.DataFrame({"name": [*SCRIPTS, *set("".join(SCRIPTS))], "中": 1.5})
    coding = "\\usepackage[T1]{fontenc}" if program == "pdflatex" else ""
    set_by_latex(tmp_path, typeset(rows, "latex", Typesetting(caption=caption)), program, packages=coding)


@pytest.mark.extra
def test_table_can_be_set_by_latex(tmp_path: Path) -> None:
    how = Typesetting(best={"r": "highest"}, intervals={"r": ("low", "high")}, marks={"r": "mark"}, caption="A_1 ≥ α")
    signs = escape_latex(r"\ ~ ^ & % $ # _ { } < > | † ≤ α … –")
    set_by_latex(tmp_path, f"{typeset(SCORES, 'latex', how)}\n{signs}")


def wide_table(rows: int) -> tuple[pl.DataFrame, Typesetting]:
    """A table whose texts alone are wider than a page, with twelve columns of scores and their intervals."""
    parts = {"column": "ambiguitySurfaceForm:log-deciles", "slice": "organisations × 03: > 3.084, ≤ 5.416"}
    more = {"within": "density-of-the-document:quantiles", "target": "dbpedia-spotlight-oke-2015-task-1-example-set"}
    texts = {name: [text] * rows for name, text in {**parts, **more}.items()}
    systems = [f"System {number}" for number in range(12)]
    values = {name: [number / 24] * rows for number, name in enumerate(systems)}
    ends = {f"{end} of {name}": [0.123] * rows for name in systems for end in ("low", "high")}
    how = Typesetting(
        columns=[*texts, *systems],
        best=dict.fromkeys(systems, "highest"),
        across=True,
        intervals={name: (f"low of {name}", f"high of {name}") for name in systems},
        caption="Scores.",
        label="tab:scores",
    )
    return pl.DataFrame({**texts, **values, **ends}), how


@pytest.mark.extra
@pytest.mark.parametrize("rows", [2, 60])
def test_a_wide_or_long_table_stays_on_the_page(tmp_path: Path, rows: int) -> None:
    said = set_by_latex(
        tmp_path, f"{typeset(*wide_table(rows)[:1], 'latex', wide_table(rows)[1])}\nSee~\\ref{{tab:scores}}."
    )
    assert "Overfull" not in said and "too large" not in said and "undefined" not in said
    assert "multiply" not in said


def test_a_table_that_is_longer_than_a_page_goes_on_with_its_header() -> None:
    frame, how = wide_table(60)
    text = typeset(frame, "latex", how)
    panels = text.split("\\begin{longtable}")[1:]
    assert text.startswith("% longer than a page: needs \\usepackage{booktabs,longtable}") and "{table}[" not in text
    assert len(panels) > 1 and text.count("\\caption{") == text.count("\\label{") == 1
    assert text.count("\\addtocounter{table}{-1}") == len(panels) - 1  # all of them are one table
    # Each panel has all rows, and what is in front of them in each; each system is in one.
    assert all(panel.count("organisations") == 60 and panel.count("\\endhead") == 1 for panel in panels)
    assert [panel.count("\\endfirsthead") for panel in panels] == [1, *[0] * (len(panels) - 1)]
    assert all(sum(f"System {number} " in panel for panel in panels) == 1 for number in range(12))


def test_a_table_that_is_wider_than_a_page_stands_in_panels_of_its_columns() -> None:
    """Of ten systems with intervals about five fit; names of rows stand before each, the best is that of the row."""
    systems = [f"System {number}" for number in range(10)]
    values = {name: [0.1 * number, 0.5] for number, name in enumerate(systems)}
    ends = {f"{end} of {name}": [0.0, 1.0] for name in systems for end in ("low", "high")}
    frame = pl.DataFrame({"target": ["all", "persons"], **values, **ends})
    how = Typesetting(
        columns=["target", *systems],
        best=dict.fromkeys(systems, "highest"),
        across=True,
        intervals={name: (f"low of {name}", f"high of {name}") for name in systems},
        caption="Scores.",
    )
    text = typeset(frame, "latex", how)
    panels = [part.partition("\\end{tabular}")[0] for part in text.split("\\begin{tabular}")[1:]]
    assert len(panels) > 1
    assert all(panel.count("\nall &") == 1 for panel in panels)
    assert all(sum(f"{name} " in panel for panel in panels) == 1 for name in systems)
    assert ["bestvalue" in panel for panel in panels] == [False] * (len(panels) - 1) + [True]
    assert text.count("\\begin{table}") == text.count("\\caption{") == 1
    # What fits stands in one, and so does what does not float, whose columns are chosen.
    few = typeset(frame, "latex", Typesetting(columns=["target", *systems[:3]], caption="Scores."))
    assert few.count("tabular}{") == 1
    assert typeset(frame, "latex", Typesetting(columns=["target", *systems])).count("\\begin{tabular}") == 1


def test_columns_are_broken_as_little_as_lets_all_of_them_stand_beside_each_other() -> None:
    """A text of 190 points and three columns are wider than a page; with the text in two lines they are not."""
    names = [f"the dataset of news {number}" for number in range(2)]
    frame = pl.DataFrame({"measure": ["mentions that hold others and are within others"], **dict.fromkeys(names, 0.5)})
    text = typeset(frame, "latex", Typesetting(caption="Measures."))
    assert text.count("\\begin{tabular}{p{") == text.count("\\begin{tabular}") == 1
    assert all(name in text for name in names)


def test_texts_that_are_wider_than_a_page_stand_in_few_panels_each_with_the_first() -> None:
    """Of eight texts of about 230 points each would fill a page unbroken; broken ones of 45 points stand in two."""
    told = {f"answer {nth}": ["a name of several words " * 3] for nth in range(8)}
    text = typeset(pl.DataFrame({"form": ["Ada"], **told}), "latex", Typesetting(caption="Errors."))
    heads = [part.partition("\\midrule")[0] for part in text.split("\\toprule")[1:]]
    assert len(heads) == 2 and all("form &" in head for head in heads)
    assert [sum(name in head for head in heads) for name in told] == [1] * 8


def test_values_of_several_units_stand_each_in_its_own() -> None:
    """Shares in per cent, numbers whole, others as the column has them; of those that are no value nothing."""
    units = ["share", "number", "entities", "entities", "share"]
    frame = pl.DataFrame({"measure": [*"abcde"], "news": [0.25, 144.0, 6.83333, 26.0, None], "unit": units})
    how = Typesetting(columns=["measure", "news"], digits={"news": 3}, units={"news": "unit"})
    assert [row[1] for row in rows_of(typeset(frame, "latex", how))[1:]] == [r"25.0 \%", "144", "6.833", "26", "--"]
    same = Typesetting(columns=["news"], units={"news": "share"})
    assert rows_of(typeset(frame.head(1), "latex", same))[1:] == [[r"25.0 \%"]]


def test_shares_are_told_by_their_name_and_no_dataset_of_shared_texts_is() -> None:
    frame = pl.DataFrame({"share of news": [0.25], "shared-texts": [0.25]})
    assert rows_of(typeset(frame, "latex"))[1:] == [[r"25.0 \%", "0.25"]]
