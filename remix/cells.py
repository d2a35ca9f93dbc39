"""What stands in a cell of a table for people, whichever way the table is written."""

from __future__ import annotations

import math
import re

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def spell_out(text: str) -> str:
    r"""Return a text with what steers a terminal, or turns the direction of writing, spelt out.

    Line feeds and tabs stay. What comes out of a file may stand in any table, note or error.

    >>> print(spell_out("\x1b[31mred\x07"))
    \x1b[31mred\x07
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def plain(value: object) -> object:
    """Return a value as people write it: nothing for what is none, lists with commas, numbers of four decimals.

    >>> plain(None), plain(True), plain([1, 2]), plain(0.00001234)
    ('', 'yes', '1, 2', '1.234e-05')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if value and abs(value) < 0.001 else round(value, 4)
    if isinstance(value, list):
        return spell_out(", ".join(str(item) for item in value))
    return spell_out(value) if isinstance(value, str) else value


def cell(name: str, value: object) -> object:
    """Return what stands for people in a cell of a column of this name.

    >>> cell("shareOfAll", 0.25), cell("count", 0.123456), cell("name", None)
    ('25.0 %', 0.1235, '')
    """
    return _percent(value) if is_share(name) else plain(value)


def is_share(name: str) -> bool:
    """Return whether a column is of shares by its name, which a dataset of shared texts may begin with as well.

    >>> [is_share(name) for name in ("share", "share of news", "shareOfAll", "shared-texts")]
    [True, True, True, False]
    """
    return name.startswith("share") and re.match("share($|[ _A-Z])", name) is not None


def _percent(value: object) -> object:
    return f"{100 * value:.1f} %" if isinstance(value, float) and math.isfinite(value) else plain(value)
