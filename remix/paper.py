"""Tables as papers have them: LaTeX of booktabs, Markdown or HTML, the best in bold, intervals and marks.

A frame stays data; `Typesetting` says how its columns are shown:

>>> import polars as pl
>>> scores = pl.DataFrame({"system": ["a", "b_2"], "f1": [0.8123, 0.7], "low": [0.79, 0.65], "high": [0.84, 0.75],
...     "sure": ["*", ""]})
>>> how = Typesetting(columns={"system": "System", "f1": "F1"}, best={"f1": "highest"},
...     intervals={"f1": ("low", "high")}, marks={"f1": "sure"})
>>> print(typeset(scores, "md", how))
| System   |                         F1 |
|:---------|---------------------------:|
| a        | **0.812**\\* [0.790, 0.840] |
| b_2      |       0.700 [0.650, 0.750] |
>>> print(typeset(scores, "latex", Typesetting(columns=["system", "f1"], best={"f1": "highest"})))
% needs \\usepackage{booktabs}
\\providecommand{\\bestvalue}[2]{\\textbf{#1}\\rlap{\\textbf{#2}}\\phantom{#2}}
\\begin{tabular}{lr}
\\toprule
system & f1 \\\\
\\midrule
a & \\bestvalue{0}{.812} \\\\
b\\_2 & 0.700 \\\\
\\bottomrule
\\end{tabular}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from remix.cells import is_share, plain, spell_out
from remix.errors import UnknownName, UsageError, nearest
from remix.latex import OTHER, begin_with, escape_latex

if TYPE_CHECKING:
    import polars as pl

ENDS = ("highest", "lowest")
"""Which end of a column is the best of it."""
OUTPUTS = ("latex", "md", "html")
MISSING = "–"
"""What stands where there is no value."""


@dataclass(frozen=True)
class Typesetting:
    """How a table stands in a paper.

    `columns` are those that are shown, in their order; a mapping says what they are called. `best` and `worst` say for
    columns of numbers which end (`highest` or `lowest`) is set in bold, and in italics; it is looked for in each
    column or, `across`, in each row, among rows that are equal in the columns `within`. What is equal as it is shown is
    equally good. Rows that do not have the values of `ranked` in its columns are neither. `intervals` name the two
    columns of ends that stand behind a value, or the column of what does; `marks` the column of texts, such as `*`
    or `†`, that stand raised behind it, or what `signs` has for them. `digits` are decimals: of all columns or of each.
    `units` are those of columns, or the columns that have the unit of each row: a `share` is in per cent, a `number`
    whole.
    `caption` and `label` make a table that floats. `note` is a sentence below the rows.
    """

    columns: Sequence[str] | Mapping[str, str] = ()
    best: Mapping[str, str] = field(default_factory=dict)
    worst: Mapping[str, str] = field(default_factory=dict)
    across: bool = False
    within: Sequence[str] = ()
    ranked: Mapping[str, str] = field(default_factory=dict)
    intervals: Mapping[str, tuple[str, str] | str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    signs: Mapping[str, str] = field(default_factory=dict)
    digits: int | Mapping[str, int] | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""
    label: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse an end that columns do not have."""
        for end in (*self.best.values(), *self.worst.values()):
            if end not in ENDS:
                raise UnknownName("end of a column", end, ENDS)

    def headings(self, frame: pl.DataFrame) -> dict[str, str]:
        """Return what the columns that are shown are called: those chosen, else all that stand in no other's cell.

        Raises `UnknownName` for a column that the table does not have.
        """
        spreads = ((one,) if isinstance(one, str) else one for one in self.intervals.values())
        beside = {*self.marks.values(), *(name for names in spreads for name in names)}
        for name in (
            *(*self.columns, *self.best, *self.worst, *self.within, *self.ranked),
            *(*self.intervals, *beside, *self.marks),
        ):
            if name not in frame.columns:
                raise UnknownName("column of the table", name, frame.columns)
        if isinstance(self.columns, Mapping):
            return dict(self.columns)
        return {name: name for name in self.columns or (one for one in frame.columns if one not in beside)}


AS_IT_IS = Typesetting()


def typeset(frame: pl.DataFrame, output: str = "latex", how: Typesetting = AS_IT_IS) -> str:
    """Return a table as `latex` (booktabs), `md` or `html` (the element of a table), as the typesetting says.

    Numbers of a column have equally many decimals: three where something is set in bold or has an interval, else as
    many as its values need, four at most. Columns whose name begins with `share` are in per cent. A dash stands
    where there is no number. Raises `UnknownName` for a column that the table does not have,
    `UsageError` for another output.
    """
    if output not in OUTPUTS:
        raise UsageError(f"no output for papers '{output}'{nearest(output, OUTPUTS)}")
    headings = how.headings(frame)
    looks = [_looks(frame, how, column, [*headings]) for column in headings]
    dialect = {"latex": _latex, "md": _markdown, "html": _html}[output]
    cells = [dialect(frame, how, column, own) for column, own in zip(headings, looks, strict=True)]
    numeric = [frame.schema[column].is_numeric() for column in headings]
    rows = [list(row) for row in zip(*cells, strict=True)]
    if output == "html":
        names = [escape(spell_out(name)) for name in headings.values()]
        return _element(names, rows, numeric, escape(how.caption), escape(how.note))
    if output == "md":
        from tabulate import tabulate

        names = [escape_markdown(spell_out(name)) for name in headings.values()]
        align = ["right" if number else "left" for number in numeric]
        return tabulate(
            rows, headers=names, tablefmt="pipe", colalign=align if rows else None, disable_numparse=True
        ) + "".join(f"\n\n{escape_markdown(said)}" for said in (how.note, how.caption) if said)
    return "\n".join(_tabular([escape_latex(name) for name in headings.values()], rows, numeric, how))


def _tabular(
    names: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], how: Typesetting
) -> list[str]:
    """Return the lines of a table of booktabs, which floats where it has a caption or a label."""
    note = f"{{\\footnotesize {escape_latex(how.note)}}}" if how.note else ""
    said = "".join([*names, *(cell for row in rows for cell in row), escape_latex(how.caption), note])
    lines = begin_with(said)
    # The digits of bold and of italics are of another width: what follows the point takes the room of plain ones.
    for command, font in (("bestvalue", "textbf"), ("worstvalue", "textit")):
        if f"\\{command}{{" in said:
            lines.append(f"\\providecommand{{\\{command}}}[2]{{\\{font}{{#1}}\\rlap{{\\{font}{{#2}}}}\\phantom{{#2}}}}")
    if not (how.caption or how.label):
        *table, end = _rows_of_panel([*range(len(names))], names, rows, ["r" if one else "l" for one in numeric])
        # A row of the table itself, which stands in whatever box the table is put into.
        below = [f"\\multicolumn{{{len(names)}}}{{l}}{{{note}}} \\\\"] if note else []
        return [*lines, *table, *below, end]
    columns = _Columns.of(names, rows, numeric)
    told = [f"\\caption{{{escape_latex(how.caption)}}}"] if how.caption else []
    told += [f"\\label{{{re.sub(r'[^A-Za-z0-9:._-]+', '-', how.label)}}}"] if how.label else []
    if len(columns.panels) * (len(rows) + 4) > _LONG:
        lines[:1] = begin_with(said, long=True)[:1]
        return [*lines, *_pages(columns, names, rows, told), *([f"\\noindent{note}"] if note else [])]
    lines += ["\\begin{table}", "\\centering", *columns.size, *told, *(["\\smallskip"] if told else [])]
    for nth, own in enumerate(columns.panels):
        lines += ["", "\\medskip"] if nth else []
        lines += _rows_of_panel(own, names, rows, columns.kinds)
    return [*lines, *(["", "\\smallskip", note] if note else []), "\\end{table}"]


def _lines(own: Sequence[int], rows: Sequence[Sequence[str]], kinds: Sequence[str]) -> list[str]:
    """Return the lines of rows with the columns of a panel; what a column breaks is ragged."""
    breaks = any(kinds[column].startswith("p") for column in own)
    end = "\\tabularnewline" if breaks else "\\\\"
    cells = [[_break(row[n]) if kinds[n].startswith("p") else row[n] for n in own] for row in rows]
    return [f"{' & '.join(row)} {end}" for row in cells]


def _break(cell: str) -> str:
    r"""Return a cell whose texts LaTeX breaks behind colons, slashes and underscores, too, and where a name goes on.

    >>> _break("surfaceForm:log-deciles"), _break(r"data/a\_b")
    ('\\raggedright surface\\-Form:\\allowbreak{}log-deciles', '\\raggedright data/\\allowbreak{}a\\_\\allowbreak{}b')
    """
    return "\\raggedright " + re.sub(r"(?<=[a-z])(?=[A-Z])", r"\\-", re.sub(r"(:|/|\\_)", r"\1\\allowbreak{}", cell))


def _rows_of_panel(
    own: Sequence[int], names: Sequence[str], rows: Sequence[Sequence[str]], kinds: Sequence[str]
) -> list[str]:
    head, *body = _lines(own, [names, *rows], kinds)
    begin = f"\\begin{{tabular}}{{{''.join(kinds[column] for column in own)}}}"
    return [begin, "\\toprule", head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}"]


def _pages(columns: _Columns, names: Sequence[str], rows: Sequence[Sequence[str]], told: Sequence[str]) -> list[str]:
    """Return the lines of a table that goes on over pages, its header on each; all its panels have one number."""
    lines = ["\\begingroup", *columns.size]
    for nth, own in enumerate(columns.panels):
        head, *body = _lines(own, [names, *rows], columns.kinds)
        lines += ["\\addtocounter{table}{-1}"] if nth else []
        lines += [f"\\begin{{longtable}}{{{''.join(columns.kinds[column] for column in own)}}}"]
        top = ["\\toprule", head, "\\midrule"]
        lines += [*told, "\\\\", *top, "\\endfirsthead"] if told and not nth else []
        lines += [*top, "\\endhead", "\\bottomrule", "\\endfoot", *body, "\\end{longtable}"]
    return [*lines, "\\endgroup"]


_PAGE = 335.0
"""The width of a page of the class article in points, less a little: widths of letters are about those that it has."""
_LONG = 42
"""Lines that stand below each other on a page, beside a caption."""
_SMALL, _FONT = 0.86, ("\\footnotesize", "\\setlength{\\tabcolsep}{4pt}")
"""The width of letters where columns do not all fit beside each other, and how they are asked for."""
_LIMITS = (math.inf, 150.0, 110.0, 80.0, 60.0, 45.0)
"""How broad a column of texts may be, in points, before its texts are broken."""
_WIDTHS: Mapping[str, float] = {
    letter: width
    for width, letters in {
        3.0: " !',.:;[]`fijl",
        3.6: "-I",
        4.0: "()rst",
        4.5: "?cez",
        5.0: "$*/0123456789J^ago~",
        5.6: "Sbdhknpquvxy",
        6.2: "Z",
        6.6: "FL",
        7.2: "BCEPTw",
        7.8: "ADHNRUVXY<>",
        8.4: "&+=@GKOQ#%m",
        9.2: "M",
        10.4: "W",
    }.items()
    for letter in letters
}


@dataclass(frozen=True)
class _Columns:
    """How the columns of a table stand on a page: the `kinds` of tabular, the `panels` of those that stand beside each
    other, texts in front standing in each, and what asks for the `size` of letters."""

    kinds: tuple[str, ...]
    panels: tuple[tuple[int, ...], ...]
    size: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> _Columns:
        """Return how they stand: in letters of the text where all fit, else in smaller ones, texts being broken."""
        every = [[row[column] for row in [names, *rows]] for column in range(len(names))]
        plain = tuple("r" if number else "l" for number in numeric)
        natural = [max(map(_width, cells)) for cells in every]
        if sum(natural) + 12 * len(names) <= _PAGE:
            return cls(plain, (tuple(range(len(names))),))
        natural = [max(_width(cell, _SMALL) for cell in cells) for cells in every]
        pieces = [max(_width(piece, _SMALL) for cell in cells for piece in _pieces(cell)) for cells in every]
        # Where all are texts the first says which row it is.
        front = next((nth for nth, number in enumerate(numeric) if number), int(len(names) > 1))
        tried = [
            [
                width if number else min(width, max(limit, piece))
                for width, piece, number in zip(natural, pieces, numeric, strict=True)
            ]
            for limit in _LIMITS
        ]
        beside = [one for one in tried if sum(one) + 8 * len(one) <= _PAGE]
        apart = [
            one
            for one in tried
            if (before := sum(one[:front]) + 8 * front) <= 0.6 * _PAGE
            and before + max(one[front:], default=0) + 8 <= _PAGE
        ]
        # As few breaks as let all columns stand beside each other, if any do, else in as few panels as can be.
        widths = beside[0] if beside else min(apart or tried[-1:], key=lambda one: len(_stack(one, front)))
        panels = _stack(widths, front)
        kinds = [
            kind if width >= whole else f"p{{{width:.0f}pt}}"
            for kind, width, whole in zip(plain, widths, natural, strict=True)
        ]
        return cls(tuple(kinds), tuple(tuple(own) for own in panels), _FONT)


def _stack(widths: Sequence[float], front: int) -> list[list[int]]:
    """Return the columns of these widths as panels that are no broader than a page, those in front standing in each.

    >>> _stack([100, 100, 100, 100], front=1)
    [[0, 1, 2], [0, 3]]
    """
    panels = [[*range(front)]]
    for column in range(front, len(widths)):
        if len(panels[-1]) > front and sum(widths[one] + 8 for one in [*panels[-1], column]) > _PAGE:
            panels.append([*range(front)])
        panels[-1].append(column)
    return panels


def _pieces(cell: str) -> list[str]:
    r"""Return what LaTeX does not break of a cell (see `_break`).

    >>> _pieces("surfaceForm:log-deciles of b"), _pieces(r"data/a\_b")
    (['surface', 'Form:', 'log-', 'deciles', 'of', 'b'], ['data/', 'a\\_', 'b'])
    """
    return re.sub(r"([:/-]|\\_)|(?<=[a-z])(?=[A-Z])", r"\1 ", cell).split() or [""]


def _width(cell: str, letters: float = 1.0) -> float:
    r"""Return how many points wide a cell of LaTeX is about, in letters of ten points or so much of these.

    What is small has one size, whatever stands around it.

    >>> _width("0.5"), _width(r"50 \%"), _width(r"0 {\scriptsize [0]}"), _width(r"0\rlap{\textsuperscript{*}}")
    (13.0, 21.4, 16.8, 5.0)
    """
    cell = re.sub(OTHER, r"\1", cell)
    said, _, small = re.sub(r"\\rlap\{\\textsuperscript\{[^{}]*\}\}", "", cell).partition("{\\scriptsize ")
    bold = sum(
        _WIDTHS.get(letter, 8.0) for one in re.findall(r"\\(?:best|worst)value\{([^{}]*)\}", said) for letter in one
    )
    named = r"\$\\[A-Za-z]+\$|\\(?:text|ldots)[a-z]*\{\}"
    parts = (re.sub(named, "w", part) for part in (said, small))
    plain = [re.sub(r"\\[A-Za-z]+|\\(?=[&%$#_{}])|(?<!\\)[{}$]", "", part) for part in parts]
    widths = [sum(_WIDTHS.get(letter, 8.0) for letter in part) for part in plain]
    return round(letters * (widths[0] + 0.15 * bold) + 0.8 * widths[1], 1)


def _decimals(frame: pl.DataFrame, how: Typesetting, column: str) -> int:
    """Return how many decimals the numbers of a column have."""
    if not frame.schema[column].is_float():
        return 0
    given = how.digits.get(column) if isinstance(how.digits, Mapping) else how.digits
    if given is not None:
        return given
    if is_share(column):
        return 1
    if column in {*how.best, *how.worst, *how.intervals, *how.marks}:
        return 3
    values = zip(frame[column].to_list(), _units(frame, how, column), strict=True)
    known = [
        value
        for value, unit in values
        if value is not None and math.isfinite(value) and unit not in ("share", "number")
    ]
    return max((len(f"{value:.4f}".rstrip("0").partition(".")[2]) for value in known), default=0)


def _units(frame: pl.DataFrame, how: Typesetting, column: str) -> list[str]:
    """Return the unit of each row of a column, empty where none is said."""
    of = how.units.get(column, "")
    return [str(one or "") for one in frame[of].to_list()] if of in frame.columns else [of] * frame.height


def _number(value: object, column: str, decimals: int, unit: str = "") -> str:
    """Return a number as it stands in a cell, nothing for what is none.

    >>> _number(0.81234, "f1", 3), _number(0.5, "shareOfAll", 1), _number(0.00001, "p", 3), _number(None, "f1", 3)
    ('0.812', '50.0 %', '<0.001', '')
    >>> _number(0.5, "sample", 3, "share"), _number(2904.0, "sample", 3, "number"), _number(0.0002, "s", 3, "entities")
    ('50.0 %', '2904', '0.0002')
    """
    if value is None or not isinstance(value, int | float) or not math.isfinite(value):
        return ""
    mixed = unit not in ("", "share", "number")
    whole = mixed and float(value).is_integer()  # amounts beside values of other units
    decimals = 1 if unit == "share" else 0 if unit == "number" or whole else decimals
    of_all = (is_share(column) or unit == "share") and isinstance(value, float)
    scaled, unit = (100 * value, " %") if of_all else (value, "")
    text = f"{scaled:.{decimals}f}"
    if scaled and not float(text) and mixed:  # a value far smaller than those of other units
        text = f"{scaled:.2g}"
    elif scaled and not float(text):  # what is not 0 must not look like it
        text = f"{'>-' if scaled < 0 else '<'}{10.0**-decimals:.{decimals}f}" if decimals else f"{scaled:.2g}"
    return text + unit


def _looks(frame: pl.DataFrame, how: Typesetting, column: str, shown: Sequence[str]) -> list[str]:
    """Return for each row whether the value of a column is the `best`, the `worst`, or nothing of the kind."""
    found = [""] * frame.height
    for look, ends in (("worst", how.worst), ("best", how.best)):
        if column not in ends:
            continue
        others = [name for name in shown if name in ends] if how.across else [column]
        values = {name: _round(frame, how, name) for name in others}
        keys = frame.select(how.within).rows() if how.within else [()] * frame.height
        free = [row == (*how.ranked.values(),) for row in frame.select([*how.ranked]).rows()] if how.ranked else ()
        pick = max if ends[column] == "highest" else min
        groups: dict[tuple[object, ...], list[float]] = {}
        for nth, key in enumerate(keys):
            own = groups.setdefault((nth,) if how.across else key, [])
            if not free or free[nth]:
                own += [value for name in others if (value := values[name][nth]) is not None]
        for nth, key in enumerate(keys):
            own, value = groups[(nth,) if how.across else key], values[column][nth]
            # Of one value alone, and of values that are all the same, none is the best.
            if value is not None and len({*own}) > 1 and value == pick(own) and (not free or free[nth]):
                found[nth] = look
    return found


def _round(frame: pl.DataFrame, how: Typesetting, column: str) -> list[float | None]:
    decimals = _decimals(frame, how, column) + 2 * is_share(column)
    values = frame[column].to_list()
    return [None if value is None or not math.isfinite(value) else round(value, decimals) for value in values]


def _texts(frame: pl.DataFrame, how: Typesetting, column: str) -> list[tuple[str, str, str]]:
    """Return for each row the value, its interval and its mark, as texts that are not escaped yet."""
    decimals = _decimals(frame, how, column)
    number = frame.schema[column].is_numeric()
    values = frame[column].to_list()
    units = _units(frame, how, column)
    said = [
        _number(value, column, decimals, unit) or MISSING if number else str(plain(value))
        for value, unit in zip(values, units, strict=True)
    ]
    of, spread = how.intervals.get(column, ()), [""] * len(said)
    if isinstance(of, str):
        few = _decimals(frame, how, of)
        small = frame.schema[of].is_numeric()
        spread = [_number(one, of, few) if small else str(plain(one)) for one in frame[of].to_list()]
    elif of:
        ends = [[_number(end, column, decimals) for end in frame[name].to_list()] for name in of]
        spread = [f"[{low}, {high}]" if low and high else "" for low, high in zip(*ends, strict=True)]
    marks = [str(plain(one)) for one in frame[how.marks[column]].to_list()] if column in how.marks else [""] * len(said)
    marks = [how.signs.get(one, one) for one in marks]
    return list(zip(said, spread, marks, strict=True))


def _markdown(frame: pl.DataFrame, how: Typesetting, column: str, looks: Sequence[str]) -> list[str]:
    cells = []
    for (said, spread, mark), look in zip(_texts(frame, how, column), looks, strict=True):
        sign = {"best": "**", "worst": "*"}.get(look, "")
        text = escape_markdown(said)
        text = f"{sign}{text}{sign}" + escape_markdown(mark).replace("*", "\\*")
        cells.append(f"{text} {escape_markdown(spread)}" if spread else text)
    return cells


def _html(frame: pl.DataFrame, how: Typesetting, column: str, looks: Sequence[str]) -> list[str]:
    cells = []
    for (said, spread, mark), look in zip(_texts(frame, how, column), looks, strict=True):
        element = {"best": "strong", "worst": "em"}.get(look, "")
        text = f"<{element}>{escape(said)}</{element}>" if element else escape(said)
        text += f"<sup>{escape(mark)}</sup>" if mark else ""
        cells.append(f"{text} <small>{escape(spread)}</small>" if spread else text)
    return cells


def _element(
    names: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], caption: str, note: str = ""
) -> str:
    """Return the element of a table whose cells are HTML; numbers have the class `number`."""
    looks = [' class="number"' if number else "" for number in numeric]
    # A header without a name heads nothing that could be told to those who hear a page.
    heads = [f'<th scope="col"{look}>{name}</th>' for name, look in zip(names, looks, strict=True)]
    head = "".join(text if name else "<td></td>" for name, text in zip(names, heads, strict=True))
    body = [
        "<tr>" + "".join(f"<td{look}>{cell}</td>" for cell, look in zip(row, looks, strict=True)) + "</tr>"
        for row in rows
    ]
    told = f"<caption>{caption}</caption>" if caption else ""
    below = f'<tfoot><tr><td colspan="{len(names)}">{note}</td></tr></tfoot>' if note else ""
    return "\n".join([f"<table>{told}<thead><tr>{head}</tr></thead>", "<tbody>", *body, f"</tbody>{below}</table>"])


def _latex(frame: pl.DataFrame, how: Typesetting, column: str, looks: Sequence[str]) -> list[str]:
    texts = _texts(frame, how, column)
    marks = [_raise(mark) for _, _, mark in texts]
    room = max(marks, key=len, default="")
    widest = f"\\phantom{{{room}}}" if room else ""
    cells = []
    for (said, spread, _), mark, look in zip(texts, marks, looks, strict=True):
        text = escape_latex(said)
        if look:
            whole, point, rest = text.partition(".")
            text = f"\\{look}value{{{whole}}}{{{point}{rest}}}"
        text += (f"\\rlap{{{mark}}}" if mark else "") + widest
        cells.append(f"{text} {{\\scriptsize {escape_latex(spread)}}}" if spread else text)
    return cells


def _raise(mark: str) -> str:
    return f"\\textsuperscript{{{escape_latex(mark)}}}" if mark else ""


def escape_markdown(text: str) -> str:
    """Return a text that stays in its cell, and is no HTML: Markdown passes that on."""
    return text.replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")
