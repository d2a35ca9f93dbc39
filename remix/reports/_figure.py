"""Figures: made without a display, saved with the same bytes for the same values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from remix.errors import Error, UsageError, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "HIGHEST", "LETTER", "WIDEST", "add_legend", "new_figure", "save"]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#666666")
"""The palette of Okabe and Ito, which people who see colours differently can tell apart."""
LETTER = 0.08
"""Width of a letter of labels, in inches."""


WIDEST, HIGHEST = 12.0, 24.0
"""Size of a figure in inches at the most: 1,800 by 3,600 pixels, which a page and a screen can show."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of that size in inches, or of the largest; raises `Error` without the extra `plot`."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise Error("plots need matplotlib: pip install 'nel-remix[plot]'") from None
    figure = Figure(figsize=(min(width, WIDEST), min(height, HIGHEST)), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def add_legend(figure: Figure, axis: Axes) -> None:
    """Add what the axis labels below the figure, in as many columns as it is wide for."""
    handles, labels = axis.get_legend_handles_labels()
    columns = max(1, int(figure.get_figwidth() / (0.6 + LETTER * max(map(len, labels), default=0))))
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=columns)


def save(figure: Figure, to: Path) -> None:
    """Write the figure as PNG, SVG or PDF, by the suffix; raises `UsageError` for another, `Error` without room."""
    from matplotlib import rc_context

    # No date, no version and no random name in the file: the same values give the same bytes.
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    if to.suffix not in metadata:
        raise UsageError(f"no plot is written as '{to.suffix}'{nearest(to.suffix, metadata)}")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "remix"}):
            figure.savefig(to, dpi=150, metadata=metadata[to.suffix])
    except OSError as error:
        raise Error(f"{to} cannot be written: {error.strerror or error}") from error
