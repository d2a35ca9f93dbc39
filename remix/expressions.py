"""Texts put together of columns, and sums and means that depend neither on processors nor on how columns are kept."""

from __future__ import annotations

import polars as pl


def fill(template: str, *parts: str | pl.Expr | pl.Series) -> pl.Expr:
    """Return the template with each `{}` replaced by a column, expression or series, null where one of them is null.

    `polars.format` panics where a column has an empty chunk, as it may after a filter (polars issue 25187, in 2.1.0).

    >>> pl.DataFrame({"name": ["a"], "count": [2]}).select(fill("{}: {} times", "name", "count")).item()
    'a: 2 times'
    """
    first, *others = template.split("{}")
    pieces: list[pl.Expr | pl.Series] = [pl.lit(first)] if first else []
    for part, text in zip(parts, others, strict=True):
        pieces.append(pl.col(part) if isinstance(part, str) else part)
        if text:
            pieces.append(pl.lit(text))
    return pl.concat_str(pieces)


def spell_interval(low: str, high: str) -> pl.Expr:
    """Return an interval of the values of two columns as text, with three decimals; null where one of them is null.

    >>> pl.DataFrame({"low": [0.27], "high": [0.3915]}).select(spell_interval("low", "high")).item()
    '0.270 to 0.392'
    """
    ends = (pl.col(name).round(3).cast(pl.Decimal(18, 3)).cast(pl.String) for name in (low, high))
    return pl.concat_str(*ends, separator=" to ")


def sum_up(rows: pl.DataFrame, keys: str | list[str], *sums: pl.Expr, **named: pl.Expr) -> pl.DataFrame:
    """Return a row for each value of the keys, in the order of the first of each, with sums or means over its rows.

    They are added up in the order of the rows: the same to the last digit on any number of processors, and in however
    many pieces polars keeps the columns.

    >>> sum_up(pl.DataFrame({"name": ["b", "a", "b"], "share": [0.5, 1.0, 0.25]}), "name", pl.col("share").sum()).rows()
    [('b', 0.75), ('a', 1.0)]
    """
    # polars lets each thread sum up a share of the rows, unless something is asked for which a group must be whole.
    whole = pl.len().n_unique().alias(":whole")
    return rows.rechunk().group_by(keys, maintain_order=True).agg(*sums, whole, **named).drop(":whole")


def mean(values: pl.Series) -> float | None:
    """Return the mean of a column of numbers, the same to the last digit in however many pieces polars keeps it.

    polars adds up each piece by itself, and then these sums. The mean of nothing is None.

    >>> mean(pl.Series([0.5, None, 1.0])), mean(pl.Series([], dtype=pl.Float64))
    (0.75, None)
    """
    found = values.cast(pl.Float64).rechunk().mean()
    return None if found is None else float(found)  # type: ignore[arg-type]  # of numbers it is one
