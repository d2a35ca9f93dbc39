"""What a form at the top of a page keeps of the tables below it: their order, and the columns that are shown."""

from __future__ import annotations

from collections.abc import Mapping

from remix.web.addresses import split_names
from remix.web.page import Page

_BEGIN = "kept."
"""How the names of parameters begin that hold where the page has such a table, and are no mistake where it has none."""


def part_kept(parameters: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the parameters of an address without those that a form kept of tables, and these by what they keep.

    >>> part_kept({"dataset": "news", "kept.sort": "measures:value"})
    ({'dataset': 'news'}, {'sort': 'measures:value'})
    """
    own = {name: said for name, said in parameters.items() if not name.startswith(_BEGIN)}
    kept = {name.removeprefix(_BEGIN): said for name, said in parameters.items() if name.startswith(_BEGIN)}
    return own, kept


def keep_tables(shown: Page, parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the hidden fields by which a form keeps the order and columns that an address chooses of a page's tables.

    Columns that are hidden are named as well: what the table has beside them on the next page is new, and is shown.
    """
    kept = {"sort": parameters.get("sort", "")}
    name, columns = parameters.get("table", ""), split_names(parameters.get("columns", ""))
    if columns and name in shown.tables:
        hidden = [one for one in shown.tables[name].columns if one not in columns]
        kept |= {"table": name, "columns": ",".join(columns), "hidden": ",".join(hidden)}
    return {f"{_BEGIN}{one}": said for one, said in kept.items() if said}


def fit_kept(shown: Page, kept: Mapping[str, str], parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with what was kept of tables, as far as the page has these tables and columns.

    What the parameters say themselves goes before.
    """
    found, tables = dict(parameters), shown.tables
    table, _, column = kept.get("sort", "").removeprefix("-").partition(":")
    if "sort" not in found and table in tables and column in tables[table].columns:
        found["sort"] = kept["sort"]
    name = kept.get("table", "")
    if not {"table", "columns"} & found.keys() and name in tables:
        block, chosen, hidden = shown.find_table(name), split_names(kept.get("columns", "")), kept.get("hidden", "")
        out = {*split_names(hidden), *block.unseen, *block.within}
        columns = [one for one in block.frame.columns if one in chosen or one not in out]
        if {*chosen} & {*columns}:
            found |= {"table": name, "columns": ",".join(columns)}
    return found
