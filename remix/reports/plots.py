"""Figures as files: SVG, and PDF and PNG by matplotlib, without a display; the same values give the same bytes.

Whatever the file, it has the sheets that `remix.reports.layout` lays out, so that print is what pages show.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from remix import progress
from remix.errors import Error, UnknownName, UsageError, nearest
from remix.files import write_whole
from remix.reports.figures import Figure
from remix.reports.layout import HIGHEST, lay_out
from remix.reports.marks import HATCHES, HOLLOW, INK, SIGNS, Box, Label, Mark, Sheet, Trace
from remix.reports.svg import contrast, write_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

SUFFIXES = (".png", ".svg", ".pdf")
POINTS = 8 / 12
"""Points of a unit on paper: letters have 8 points, those of notes and of names beside points 6.7."""
WIDTHS: Mapping[str, float | None] = {"screen": None, "column": 3.3 * 72 / POINTS, "page": 6.9 * 72 / POINTS}
"""How wide a figure is, in units: as its panels are, as a column of a paper (3.3 inches), as both (6.9 inches)."""
_HIGHEST = 9.0 * 72 / POINTS
"""A page of paper has room for nine inches."""
_ONE = Lock()
"""Settings of matplotlib and what is done with warnings are of the whole process: one thread draws at a time."""
_RESOLUTION = {"screen": 144, "column": 300, "page": 300}
"""Dots to an inch of a PNG; a unit on a screen is a point."""
_MARKERS = dict(zip(SIGNS, "os^DvPh*", strict=False))
_HATCHES = dict(
    zip(
        HATCHES[1:],
        ("///", "\\\\\\", "---", "xxx", "|||", "...", "+++", "ooo", "//////", "------", "||||||"),
        strict=True,
    )
)
_FONTS = ("Liberation Sans", "Arial", "Helvetica", "DejaVu Sans")
"""The last one comes with matplotlib."""
_OTHERS = ("Noto Sans CJK", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "Noto Sans", "Arial Unicode MS")
"""What the names of fonts begin with that have the letters of other scripts."""


def save(figure: Figure, to: Path, width: str = "screen") -> list[Path]:
    """Write a figure as SVG, PDF or PNG, by the suffix, and return the files.

    It is as wide as a `column` or the `page` of a paper, with letters of 8 points, or as its panels need on a `screen`.
    What is higher than a page goes on: on a further page of a PDF, else in the files `NAME-2`, `NAME-3`, ….
    Raises `UsageError` for another suffix or width, `Error` without room on the disk, and for PDF and PNG without the
    extra `plot`.
    """
    if to.suffix not in SUFFIXES:
        raise UsageError(f"no plot is written as '{to.suffix}'{nearest(to.suffix, SUFFIXES)}")
    contents = render(figure, to.suffix, width)
    files = [to, *(to.with_name(f"{to.stem}-{nth}{to.suffix}") for nth in range(2, len(contents) + 1))]
    for file, content in zip(files, contents, strict=True):
        with write_whole(file) as stream:
            stream.write(content)
    if len(files) > 1:
        others = " to ".join(dict.fromkeys((files[1].name, files[-1].name)))
        progress.note(f"{to} is the first of {len(files)} sheets: the next {len(files) - 1} are in {others}")
    return files


def can_draw() -> bool:
    """Return whether figures can be drawn as PDF and PNG: whether the extra `plot` is here."""
    return find_spec("matplotlib") is not None


def render(figure: Figure, suffix: str, width: str = "screen") -> list[bytes]:
    """Return the contents of the files that `save` writes: one of a PDF, one for each sheet of others."""
    if width not in WIDTHS:
        raise UnknownName("width of a figure", width, WIDTHS)
    scale = 1.0 if width == "screen" else POINTS
    highest = HIGHEST if width == "screen" else _HIGHEST
    sheets = lay_out(figure.without_links(), width=WIDTHS[width], height=highest)
    if suffix == ".svg":
        unit = None if width == "screen" else scale
        return [f"{write_sheet(sheet, paper=True, scale=unit)}\n".encode() for sheet in sheets]
    try:
        import matplotlib
    except ImportError:
        raise Error("plots as PDF and PNG need matplotlib: pip install 'nel-remix[plot]'; as SVG they do not") from None
    # Letters stay letters, of a font that papers take.
    settings: dict[str, Any] = {"pdf.fonttype": 42, "hatch.linewidth": 0.8 * scale, "text.parse_math": False}
    with _ONE, _silent_on_weights(), matplotlib.rc_context(settings), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        drawn = [_draw_sheet(sheet, scale) for sheet in sheets]
        contents = _as_pdf(drawn) if suffix == ".pdf" else [_as_png(one, _RESOLUTION[width]) for one in drawn]
    if any("missing from font" in str(one.message) for one in told):
        progress.note("no font here has all letters of the figure; those that it has not are boxes: an SVG keeps them")
    return contents


@contextlib.contextmanager
def _silent_on_weights() -> Iterator[None]:
    """Keep matplotlib from a line for each bold label and each font of another script that has no bold letters."""
    teller = logging.getLogger("matplotlib.font_manager")
    before = teller.level
    teller.setLevel(logging.ERROR)
    try:
        yield
    finally:
        teller.setLevel(before)


def _as_png(drawn: Drawn, resolution: int) -> bytes:
    stream = io.BytesIO()
    drawn.savefig(stream, format="png", dpi=resolution, metadata={"Software": None})
    return stream.getvalue()


def _as_pdf(drawn: list[Drawn]) -> list[bytes]:
    from matplotlib.backends.backend_pdf import PdfPages

    stream = io.BytesIO()
    with PdfPages(stream, metadata={"CreationDate": None, "Creator": None, "Producer": None}) as pages:
        for one in drawn:
            pages.savefig(one)
    return [stream.getvalue()]


@lru_cache(maxsize=1)
def _fonts() -> list[str]:
    """Return the fonts that are here, those of other scripts last: the first that has a letter sets it."""
    from matplotlib.font_manager import get_font_names

    known = sorted(get_font_names())
    return [*(name for name in _FONTS if name in known), *(name for name in known if name.startswith(_OTHERS))]


@lru_cache(maxsize=4096)
def _fonts_of(letters: frozenset[str]) -> list[str]:
    """Return those of `_fonts` that set these letters, and the first of all: matplotlib looks each of a text's up."""
    chosen, left = _fonts()[:1], letters
    for name in _fonts():
        if not left:
            break
        if own := left & _letters_of(name):
            chosen += [name] if name not in chosen else []
            left -= own
    return chosen


@cache
def _letters_of(name: str) -> frozenset[str]:
    """Return the letters that a font has."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(map(chr, get_font(findfont(name)).get_charmap()))


def _draw_sheet(sheet: Sheet, scale: float) -> Drawn:
    """Return a sheet as a figure of matplotlib, whose units are points of so many to one of the sheet."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Made
    from matplotlib.transforms import Affine2D

    drawn: Drawn = Made(figsize=(sheet.width * scale / 72, sheet.height * scale / 72))
    FigureCanvasAgg(drawn)
    units = Affine2D().scale(1, -1).translate(0, sheet.height).scale(scale / 72) + drawn.dpi_scale_trans
    for order, mark in enumerate(sheet.marks):
        for artist in _artists(mark, scale):
            artist.set(transform=units, zorder=order, clip_on=False)
            drawn.add_artist(artist)
    return drawn


def _artists(mark: Mark, scale: float) -> list[Any]:
    """Return what matplotlib draws of a mark."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, Rectangle
    from matplotlib.text import Text

    if isinstance(mark, Label):
        sides = {"start": "left", "middle": "center", "end": "right"}
        text = Text(
            mark.x,
            mark.y,
            mark.text,
            fontsize=mark.size * scale,
            family=_fonts_of(frozenset(mark.text.replace("\n", "")) - {" "}),
            ha=sides[mark.anchor],
            va="baseline",
            rotation=-mark.turn,
            rotation_mode="anchor",
            weight="bold" if mark.bold else "normal",
            style="italic" if mark.slanted else "normal",
            alpha=0.75 if mark.pale else None,
        )
        return [text]
    colour = "#000000" if mark.colour == INK else mark.colour
    if isinstance(mark, Trace) and mark.filled:
        return [Polygon(run, facecolor=colour, edgecolor="none", alpha=mark.opacity) for run in mark.runs if run]
    if isinstance(mark, Trace):
        dashes: Any = (0, [length / mark.width for length in mark.dashes]) if mark.dashes else "-"
        look = {"color": colour, "lw": mark.width * scale, "linestyle": dashes, "alpha": mark.opacity}
        runs = [[*run, run[0]] if mark.closed else run for run in mark.runs if run]
        return [Line2D(*zip(*run, strict=True), **look) for run in runs]
    if isinstance(mark, Box):
        place: dict[str, Any] = {"xy": (mark.x, mark.y), "width": mark.width, "height": mark.height}
        edge: dict[str, Any] = {
            "edgecolor": "black" if mark.outlined else "none",
            "linewidth": 0.5 * scale * mark.outlined,
        }
        parts = [Rectangle(**place, facecolor=(colour, mark.opacity), **edge)]
        if mark.hatch:
            hatched = Rectangle(**place, facecolor="none", edgecolor=contrast(colour), linewidth=0)
            hatched.set_hatch(_HATCHES[mark.hatch])
            parts.append(hatched)
        return parts
    hollow = mark.number >= HOLLOW
    sign = Line2D(
        [mark.x],
        [mark.y],
        marker=_MARKERS[SIGNS[mark.number]],
        markersize=8 * scale * mark.scale,
        markerfacecolor="white" if hollow else colour,
        markeredgecolor=colour if hollow else "black",
        markeredgewidth=(1.5 if hollow else 0.5) * scale,
        alpha=mark.opacity,
    )
    return [sign]
