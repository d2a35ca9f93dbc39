"""Figures as SVG, for pages, reports and cards: text alone, without a style or a script of its own.

Colours are presentation attributes and classes (`series-0`, `axes`, …), which a page's stylesheet may set; ink is
`currentColor`. The same figure gives the same text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import singledispatch
from html import escape

from remix.reports.figures import Figure
from remix.reports.layout import HIGHEST, SIZE, lay_out
from remix.reports.marks import HOLLOW, INK, Box, Label, Mark, Place, Sheet, Sign, Trace

_SIGNS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.5-3.5h7v7h-7z",
    "M0-4.5L4.5 3.5h-9z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.5L4.5-3.5h-9z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-4-2L0-4.5L4-2V2L0 4.5L-4 2z",
    "M-4.5 0L-1.5-1.5L0-4.5L1.5-1.5L4.5 0L1.5 1.5L0 4.5L-1.5 1.5z",
)
_LINES = {
    "rising": "M-1 7L7-1M-1 1L1-1M5 7L7 5",
    "falling": "M-1-1L7 7M-1 5L1 7M5-1L7 1",
    "lying": "M0 3H6",
    "standing": "M3 0V6",
    "crossed": "M0 0L6 6M6 0L0 6",
    "dotted": "M2 3H4",
    "grid": "M0 3H6M3 0V6",
    "rings": "M1.2 3a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0",
    "many rising": "M-1 7L7-1M-1 4L4-1M2 7L7 2M-1 1L1-1M5 7L7 5",
    "many lying": "M0 1H6M0 3H6M0 5H6",
    "many standing": "M1 0V6M3 0V6M5 0V6",
}


def draw(
    figure: Figure,
    *,
    name: str = "figure",
    links: bool = True,
    paper: bool = False,
    width: float | None = None,
    height: float = HIGHEST,
) -> str:
    """Return a figure as the text of an `<svg>` element, or of several, where it is higher than a screen can show.

    `name` begins the ids in it, and is another for each figure of a page. Without `links` points lead nowhere. `paper`
    puts it on white with black ink, for a file that is shown by itself. `width` and `height` are those of
    `remix.reports.layout.lay_out`.

    >>> from remix.reports.figures import Panel, Series
    >>> text = draw(Figure("Sizes", [Panel("", "bars", [Series("", ["a", "b"], [1, 2])])]))
    >>> text[:66], text.count("<rect")
    ('<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="0 ', 2)
    """
    sheets = lay_out(figure if links else figure.without_links(), width=width, height=height)
    return "\n".join(
        write_sheet(sheet, name=f"{name}-{nth + 1}" if nth else name, paper=paper) for nth, sheet in enumerate(sheets)
    )


def write_sheet(sheet: Sheet, *, name: str = "figure", paper: bool = False, scale: float | None = None) -> str:
    """Return a sheet as the text of an `<svg>` element; with a `scale` it is so many points to a unit in size."""
    name = re.sub(r"[^\w.-]+", "-", name)
    described = _tag("title", _plain(sheet.title), id=f"{name}-title")
    described += _tag("desc", _plain(sheet.description), id=f"{name}-text") if sheet.description else ""
    hatches = {(mark.hatch, mark.colour) for mark in sheet.marks if isinstance(mark, Box) and mark.hatch}
    patterns = "".join(_pattern(name, *one) for one in sorted(hatches))
    white = _tag("rect", width=sheet.width, height=sheet.height, fill="#fff") if paper else ""
    groups = itertools.groupby(sheet.marks, key=lambda mark: mark.role)
    parts = [_tag("g", "".join(_write(mark, name) for mark in own), class_=role or None) for role, own in groups]
    linked = any(isinstance(mark, Box | Sign) and mark.link for mark in sheet.marks)
    unit = "" if scale is None else "pt"
    return _tag(
        "svg",
        described + (_tag("defs", patterns) if patterns else "") + white + "".join(parts),
        class_="figure",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_n(sheet.width)} {_n(sheet.height)}",
        width=f"{_n(sheet.width * (scale or 1))}{unit}",
        height=f"{_n(sheet.height * (scale or 1))}{unit}",
        # The children of an image are not told to those who hear a page, and its links must be.
        role="group" if linked else "img",
        aria_labelledby=f"{name}-title" + (f" {name}-text" if sheet.description else ""),
        font_family="Helvetica, Arial, DejaVu Sans, sans-serif" if paper else "system-ui, sans-serif",
        font_size=SIZE,
        fill="currentColor",
        color="#000" if paper else None,
    )


@singledispatch
def _write(mark: Mark, name: str) -> str:
    raise TypeError(f"{mark} is no mark")


@_write.register
def _(mark: Label, name: str) -> str:
    return _tag(
        "text",
        _plain(mark.text),
        x=_n(mark.x),
        y=_n(mark.y),
        text_anchor=None if mark.anchor == "start" else mark.anchor,
        font_size=None if mark.size == SIZE else mark.size,
        font_weight="bold" if mark.bold else None,
        font_style="italic" if mark.slanted else None,
        fill_opacity=0.75 if mark.pale else None,
        transform=f"rotate({_n(mark.turn)} {_n(mark.x)} {_n(mark.y)})" if mark.turn else None,
    )


@_write.register
def _(mark: Trace, name: str) -> str:
    path = "".join(_polyline(run) + "Z" * mark.closed for run in mark.runs if run)
    if not path:
        return ""
    if mark.filled:
        return _tag("path", d=path, fill=_ink(mark.colour), fill_opacity=_part(mark.opacity), stroke="none")
    return _tag(
        "path",
        d=path,
        fill="none",
        stroke=_ink(mark.colour),
        stroke_opacity=_part(mark.opacity),
        stroke_width=None if mark.width == 1 else _n(mark.width),
        stroke_dasharray=" ".join(map(_n, mark.dashes)) or None,
    )


@_write.register
def _(mark: Box, name: str) -> str:
    said = _tag("title", _plain(mark.words)) if mark.words else ""
    edge = {"stroke": "currentColor", "stroke_width": 0.5} if mark.outlined else {}
    box = {"x": _n(mark.x), "y": _n(mark.y), "width": _n(mark.width), "height": _n(mark.height)}
    text = _tag("rect", said, fill=_ink(mark.colour), fill_opacity=_part(mark.opacity), **edge, **box)
    text += _tag("rect", said, fill=f"url(#{_hatch(name, mark.hatch, mark.colour)})", **box) if mark.hatch else ""
    return _link(text, mark)


@_write.register
def _(mark: Sign, name: str) -> str:
    said = _tag("title", _plain(mark.words)) if mark.words else ""
    size = f" scale({_n(mark.scale)})" if mark.scale != 1 else ""
    hollow = mark.number >= HOLLOW
    shape = _tag(
        "path",
        said,
        d=_SIGNS[mark.number % HOLLOW],
        transform=f"translate({_n(mark.x)} {_n(mark.y)}){size}",
        fill="#fff" if hollow else mark.colour,
        fill_opacity=_part(mark.opacity),
        stroke=mark.colour if hollow else "currentColor",
        stroke_width=1.5 if hollow else 0.5,
    )
    return _link(shape, mark)


def _hatch(name: str, hatch: str, colour: str) -> str:
    return f"{name}-{hatch.replace(' ', '-')}-{colour.strip('#')}"


def _pattern(name: str, hatch: str, colour: str) -> str:
    lines = _tag("path", d=_LINES[hatch], stroke=contrast(colour), stroke_width=1.2, fill="none")
    return _tag("pattern", lines, id=_hatch(name, hatch, colour), width=6, height=6, patternUnits="userSpaceOnUse")


def contrast(colour: str) -> str:
    """Return black or white, whichever is seen on a colour.

    >>> contrast("#f0e442"), contrast("#332288")
    ('#000', '#fff')
    """
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#000" if 0.3 * red + 0.59 * green + 0.11 * blue > 110 else "#fff"


def _ink(colour: str) -> str:
    return "currentColor" if colour == INK else colour


def _part(opacity: float) -> float | None:
    return None if opacity == 1 else opacity


def _polyline(places: Sequence[Place]) -> str:
    """Return a path through places, each of which that looks the same as the one before it is named once."""
    (x, y), *rest = [place for place, _ in itertools.groupby((_n(x), _n(y)) for x, y in places)]
    return f"M{x} {y}" + "".join(f"L{x} {y}" for x, y in rest)


def _link(text: str, mark: Box | Sign) -> str:
    return _tag("a", text, href=mark.link, aria_label=mark.words) if mark.link else text


def _plain(text: str) -> str:
    """Return a text with what HTML and XML take for markup escaped, and without characters that XML cannot have."""
    return escape(re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text))


def _n(number: float) -> str:
    """Return a number with one decimal at most, so that the same is written on every machine.

    >>> _n(3.04), _n(-0.01), _n(12.25)
    ('3', '0', '12.2')
    """
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _tag(tag: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; of attributes `_` stands for `-`, and those that are None are left out."""
    told = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    said = "".join(f' {key}="{_value(value)}"' for key, value in told.items())
    return f"<{tag}{said}>{content}</{tag}>" if content else f"<{tag}{said}/>"


def _value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").removesuffix(".") if isinstance(value, float) else _plain(str(value))
