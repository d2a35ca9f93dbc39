"""Partitions: a column's values cut into parts, by steps of a scale, by shares, by thresholds or by class.

`remix partition`, `--by` of an evaluation and studies say by one grammar what is cut and how, and cut it here:
`COLUMN` or `COLUMN:SCHEME`, as `parse_partition` reads it, with the schemes of `SCHEMES`. A part holds the values above
its lower boundary up to its upper one (lower exclusive, upper inclusive); the first has no lower boundary and, but for
log-deciles, the last no upper one. What has no value is part 0, 'unspecified'.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UsageError, nearest
from remix.names import HFTS, PREFIXES, RMX, UNSPECIFIED, WITHOUT_VALUE
from remix.vocabularies import COLUMNS as OF_CLASSES

SCHEMES = {
    "log-deciles": "ten equal steps of a logarithmic scale between the smallest positive and the largest value",
    "deciles": "ten parts of equal size, as quantiles:10",
    "quantiles": "quantiles:4: four parts of equal size, as far as equal values allow",
    "thresholds": "thresholds:3,5: up to 3, above 3 up to 5, above 5",
    "head-torso-tail": "the highest 10 % of the values that are cut, the next 45 %, the rest; head-torso-tail:kb: of "
    "all entities of the knowledge base, where these are ranked",
    "classes": "a part for each value",
}
"""The schemes by which a column is cut, and what each makes."""

SEGMENTS = ("head", "torso", "tail")
"""The parts of head-torso-tail, the highest values first."""

OF_KB = "head-torso-tail:kb"

ERROR = "error"
"""Begins the name of a column that holds what is wrong in another run: `error:SYSTEM`."""

MAXIMUM = 2000
"""A column with more values than this names things, it does not class them."""

FEW = 10
"""Numbers in no more different values than these are values of their own where no scheme is named."""

_SCHEMED = re.compile(
    r"(.+?):((?:log-)?deciles|quantiles[:= ]\d+|thresholds[:= ][-+.\de, ]+|head-torso-tail(?::\w+)?|classes)",
    re.IGNORECASE,
)

_BOUND = r"\d[\d.]*(?:\s*-\s*\d[\d.]*)+"
_BOUNDS = re.compile(rf"{_BOUND}(?:\s*,\s*{_BOUND})*")

_CROSSED = re.compile(r"\s*×\s*|\s*,(?!\s*[-+.]?\d)\s*")


@dataclass(frozen=True)
class Breakdown:
    """A column to cut by, and the scheme that it is cut by, or none, as it is then cut by what its values are.

    A column of classes may name the `vocabulary` whose classes are meant.
    """

    column: str
    scheme: str = ""
    vocabulary: str = ""

    @property
    def label(self) -> str:
        """Return what rows call it."""
        return ":".join(filter(None, (self.column, self.vocabulary, self.scheme)))


def parse_partition(text: str) -> Breakdown:
    """Return the column, scheme and vocabulary that a text names: `COLUMN`, `COLUMN:SCHEME`, `class:VOCABULARY`.

    `rmx:` and `hfts:` may stand before the name of a column of measures, and a measure stands for its first column;
    other prefixes name properties, `error:` runs. Raises `UsageError` for an empty name,
    several columns, and a scheme that is none.

    >>> parse_partition("ambiguitySurfaceForm:thresholds:3,5")
    Breakdown(column='ambiguitySurfaceForm', scheme='thresholds:3,5', vocabulary='')
    >>> parse_partition("confusion-surface-form:deciles").label, parse_partition("class:schema").vocabulary
    ('ambiguitySurfaceForm:deciles', 'schema')
    >>> parse_partition("pagerank:head-torso-tail:kb").label
    'pagerankSegment:head-torso-tail:kb'
    """
    if len(parts := _CROSSED.split(text.strip())) > 1 and all(parts):
        raise UsageError(f"'{text}' names several columns: a partition is by one; `remix evaluate --by` crosses them")
    cut = _SCHEMED.fullmatch(text.strip())
    column, scheme = (cut[1], cut[2]) if cut is not None else (text.strip(), "")
    if not column:
        raise UsageError(f"'{text}' names no column: write class, or words:quantiles:4 for a column that is cut")
    prefix, colon, local = column.partition(":")
    vocabulary = ""
    if prefix in OF_CLASSES and colon and not is_bounds(local):
        column, vocabulary = prefix, local.removesuffix(":")
    elif colon and PREFIXES.get(prefix) in (RMX, HFTS):
        column = local
    elif "-" in column and not colon:
        column = _of_measure(column)
    elif colon and prefix not in (*PREFIXES, ERROR) and not re.search("[/>]", local) and not scheme:
        column, scheme = prefix, local
    scheme = _normalise(scheme)
    if scheme == OF_KB:
        column = _segment_column(column)
    return Breakdown(column, scheme, vocabulary)


def is_bounds(scheme: str) -> bool:
    """Return whether a scheme is bounds by which a profile cuts a column in its own way, `1890-1920,1920-1950`."""
    return _BOUNDS.fullmatch(scheme.strip()) is not None


def with_scheme(column: str, scheme: str) -> str:
    """Return column and scheme as one text; raises `UsageError` where the column has another scheme already.

    >>> with_scheme("words", "quantiles 4"), with_scheme("words:deciles", "")
    ('words:quantiles:4', 'words:deciles')
    """
    if not scheme:
        return column
    asked, own = parse_partition(column), _normalise(scheme)
    if asked.scheme and asked.scheme != own:
        raise UsageError(f"'{column}' names its scheme already: leave out --scheme {scheme}")
    return replace(asked, scheme="").label + f":{own}"


def breakdown(text: str) -> tuple[Breakdown, ...]:
    """Return the columns that are crossed: `a,b` or `a × b`, each as `parse_partition` has it.

    Raises `UsageError` for an empty name.

    >>> [one.label for one in breakdown("class,rmx:prominenceSegment")]
    ['class', 'prominenceSegment']
    >>> [one.label for one in breakdown("words:thresholds:30,50 × form:deciles")]
    ['words:thresholds:30,50', 'form:deciles']
    """
    parts = _CROSSED.split(text.strip())
    if "" in parts:
        raise UsageError(f"'{text}' names no column: write class, or class,dataset for both crossed")
    return tuple(map(parse_partition, parts))


def label_of(text: str) -> str:
    """Return what rows call the column, or the columns crossed, of a text."""
    return " × ".join(one.label for one in breakdown(text))


def columns_of(by: Iterable[str]) -> list[str]:
    """Return the names of all columns that are sliced by."""
    return [one.column for text in by for one in breakdown(text)]


def _of_measure(name: str) -> str:
    """Return the first column of a measure that has one, else the name."""
    from remix.measures import MEASURES

    known = name in MEASURES and MEASURES[name].columns
    return MEASURES[name].columns[0].name if known else name


def _segment_column(column: str) -> str:
    """Return the column of the segments of a score by which the knowledge base ranks all its entities."""
    from remix.measures import MEASURES

    known = {one.name for one in MEASURES["prominence-segment"].columns}
    segment = column if column in known else f"{column}Segment"
    if segment not in known:
        scores = ", ".join(sorted(name.removesuffix("Segment") for name in known))
        raise UsageError(
            f"the knowledge base ranks its entities by {scores}, not by '{column}': {column}:head-torso-tail is of the "
            "values that are cut"
        )
    return segment


@dataclass(frozen=True, slots=True)
class Subset:
    """One part: the values above `low` up to `high` (None is no boundary), or a class, or what has no value.

    `number` is 0 for what has no value; the others follow from 1 in the order of their values, head before tail. `name`
    is what rows call it, with the number in front where it is an interval, so that rows sort in that order; `file_name`
    is its name as part of that of a file.

    >>> [part.name for part in partition(pl.Series([1, 2, 3, 9]), "thresholds:2,5")]
    ['0: unspecified', '1: ≤ 2', '2: > 2, ≤ 5', '3: > 5']
    """

    number: int
    name: str
    file_name: str
    low: float | None = None
    high: float | None = None
    category: str | None = None

    @property
    def missing(self) -> bool:
        """Return whether it is the part of what has no value."""
        return self.number == 0


Partition = tuple[Subset, ...]


def partition(values: pl.Series, scheme: str = "") -> Partition:
    """Return the parts into which a scheme cuts values, the first of which is that of null and NaN: 'unspecified'.

    - `log-deciles`: ten equal steps on a logarithmic scale between the smallest positive and the largest value, not
      rounded; what is not positive is in the first (the remixing paper, Table 4);
    - `quantiles:N`: N parts of equal size, as far as equal values allow; `deciles` are ten;
    - `thresholds:3,5,16`;
    - `head-torso-tail`: the values than which less than 10 % are higher, less than 55 %, the rest, of those that are
      cut (section 2.4); `head-torso-tail:kb` the same shares of the knowledge base, whose names the values are then;
    - `classes`: a part for each value.

    Without a scheme numbers in more than ten different values are cut into quantiles:4, others into classes.

    >>> [round(part.high, 2) for part in partition(pl.Series([1, 4105]), "log-deciles")[1:4]]
    [2.3, 5.28, 12.13]

    Raises `UsageError` for another scheme, and for values that it cannot cut.
    """
    name, numbers = _parse(scheme or _choose_scheme(values))
    if name == "classes":
        return _classes(values)
    if name == OF_KB:
        kb = [Subset(n, f"{n}: {one} of the knowledge base", one, category=one) for n, one in enumerate(SEGMENTS, 1)]
        return (_missing("0: "), *kb)
    if not values.dtype.is_numeric():
        raise UsageError(f"'{values.name}' holds no numbers: the scheme 'classes' makes a part of each value")
    ordered = values.cast(pl.Float64).fill_nan(None).drop_nulls().sort()
    if name == "thresholds":
        return _intervals([None, *numbers, None])
    if ordered.is_empty():
        raise UsageError(f"'{values.name}' has no value at all: there is nothing to cut")
    if name == "log-deciles":
        return _intervals([None, *_logarithmic(ordered)])
    if name == "head-torso-tail":
        return _segments(ordered)
    return _intervals([None, *_quantiles(ordered, int(numbers[0])), None])


def _choose_scheme(values: pl.Series) -> str:
    """Return the scheme of values for which none is named."""
    known = values.drop_nulls()
    return "quantiles:4" if known.dtype.is_numeric() and known.n_unique() > FEW else "classes"


def _normalise(scheme: str) -> str:
    """Return a scheme as rows and manifests spell it; raises `UsageError` for one that there is not."""
    if not scheme:
        return ""
    if is_bounds(scheme):
        return re.sub(r"\s", "", scheme)
    name, numbers = _parse(scheme)
    if name == "quantiles" and re.fullmatch(r"\s*deciles\s*", scheme, re.IGNORECASE):
        return "deciles"
    return f"{name}:{','.join(_plain(number) for number in numbers)}" if numbers else name


def _parse(scheme: str) -> tuple[str, list[float]]:
    """Return the name of a scheme and its numbers; raises `UsageError`."""
    name, _, given = re.sub(r"[:=\s]+", " ", scheme.strip()).partition(" ")
    name, of_segments = name.lower(), name.lower() == "head-torso-tail"
    if of_segments and given.lower() in ("kb", "dataset"):
        return (OF_KB if given.lower() == "kb" else name), []
    if is_bounds(scheme):
        raise UsageError(
            f"'{scheme}' are bounds, by which the profiles of HIPE, such as hipe, cut noise and period; other columns "
            "are cut by a scheme, such as thresholds:3,5"
        )
    if re.fullmatch(r"[\d.,\s-]+", scheme):
        raise UsageError(
            f"'{scheme}' is no scheme: columns are cut by one, such as thresholds:3,5; the profiles of HIPE, such as "
            "hipe, cut noise and period by bounds FROM-TO, several with commas, such as 1890-1920"
        )
    if name not in SCHEMES:
        raise UsageError(f"no scheme '{name}'{nearest(name, SCHEMES)}")
    if of_segments and given:
        raise UsageError(f"head-torso-tail is of the 'dataset' or of the 'kb', not of '{given}'")
    try:
        numbers = [float(number) for number in re.split(r"[,\s]+", given) if number]
    except ValueError:
        raise UsageError(f"'{given}' are no numbers: {name} takes some with commas, such as 3,5,16") from None
    rising = bool(numbers) and numbers == sorted(set(numbers)) and all(map(math.isfinite, numbers))
    if name == "thresholds" and not rising:
        raise UsageError("thresholds are numbers that rise, such as 3,5,16")
    if name == "quantiles" and (len(numbers) != 1 or numbers[0] < 2 or numbers[0] != int(numbers[0])):
        raise UsageError("quantiles need one whole number, 2 or more")
    if name not in {"thresholds", "quantiles"} and numbers:
        raise UsageError(f"{name} takes no number")
    return ("quantiles", [10.0]) if name == "deciles" else (name, numbers)


def _missing(before: str = "", taken: Sequence[str] = ()) -> Subset:
    """Return the part of what has no value; some columns have a class of its usual name among those `taken`."""
    name = WITHOUT_VALUE if UNSPECIFIED in taken else UNSPECIFIED
    return Subset(0, f"{before}{name}", name)


def _classes(values: pl.Series) -> Partition:
    """Return a part for each category, in order, head before torso and tail.

    Two that are the same in the name of a file are told apart there.
    """
    every = values.drop_nulls()
    every = (every.drop_nans() if every.dtype.is_float() else every).unique().sort()
    if len(every) > MAXIMUM:
        raise UsageError(
            f"column '{values.name}' has {len(every)} values, more than {MAXIMUM}: it cannot be sliced by; numbers are "
            f"cut by a scheme, such as {values.name}:quantiles:4"
        )
    # The segments of a ranking have an order of their own, before that of names.
    named_once = every.to_frame("v").select(name_category("v").unique(maintain_order=True))["v"]
    categories = sorted(named_once, key=lambda one: SEGMENTS.index(one) if one in SEGMENTS else len(SEGMENTS))
    files = pl.Series([_name_file(one) for one in categories], dtype=pl.String)
    counted_up = files.to_frame("file").select(nth=pl.int_range(pl.len()).over("file") + 1)["nth"]
    named = enumerate(zip(categories, files, counted_up, strict=True), 1)
    parts = [Subset(n, one, file if nth == 1 else f"{file}-{nth}", category=one) for n, (one, file, nth) in named]
    return (_missing("", categories), *parts)


def _logarithmic(values: pl.Series) -> list[float]:
    positive = values.filter(values > 0)
    if positive.is_empty() or not math.isfinite(values[-1]):
        raise UsageError(f"'{values.name}' has no positive values, or infinite ones: there is no logarithmic scale")
    low, high = float(positive[0]), float(positive[-1])
    if low == high:
        return [high]
    edges = [low * (high / low) ** (step / 10) for step in range(1, 10)] + [high]
    # Powers are inexact in their last digits: from 1 to 1024 a boundary is 8, and not 7.999999999999999.
    up_to = positive.search_sorted(pl.Series([edge * (1 + 1e-12) for edge in edges]), "right")
    values_below = positive.gather(up_to - 1)
    return [
        float(value) if value >= edge * (1 - 1e-12) else edge for edge, value in zip(edges, values_below, strict=True)
    ]


def _quantiles(values: pl.Series, count: int) -> list[float]:
    """Return the inner boundaries of sorted values: up to which k of `count` shares lie; equal ones are one."""
    count = min(count, len(values))  # more shares than values have the boundaries of as many
    places = [-(-len(values) * k // count) - 1 for k in range(1, count)]
    edges = sorted({float(values[place]) for place in places})
    return [edge for edge in edges if edge < values[-1]]


def _segments(values: pl.Series) -> Partition:
    counts = values.value_counts(name="count").sort(values.name, descending=True)
    better = counts["count"].cast(pl.Int64).cum_sum() - counts["count"]
    # In whole numbers: of 70 values 7 are not 10 % where polars divides, as it multiplies by the reciprocal.
    edges = [counts.filter(100 * better >= percent * len(values))[values.name] for percent in (55, 10)]
    low, high = (float(edge[0]) if len(edge) else None for edge in edges)
    found: list[tuple[str, float | None, float | None]] = [("head", high, None)]
    if high is not None:
        found.append(("torso", low, high))
    if low is not None:
        found.append(("tail", None, low))
    kept = [(name, low, high) for name, low, high in found if low is None or low != high]
    parts = [_segment(number, *one) for number, one in enumerate(kept, 1)]
    return (_missing("0: "), *parts)


def _segment(number: int, name: str, low: float | None, high: float | None) -> Subset:
    interval = f" ({_interval(low, high)})" if low is not None or high is not None else ""
    return Subset(number, f"{number}: {name} of the dataset{interval}", name, low, high)


def _intervals(bounds: Sequence[float | None]) -> Partition:
    """Return the parts between boundaries that rise."""
    between = list(zip(bounds, bounds[1:], strict=False))
    width = len(str(len(between)))
    parts = [
        Subset(n, f"{n:0{width}}: {_interval(low, high) or 'all'}", _between(low, high), low, high)
        for n, (low, high) in enumerate(between, 1)
    ]
    return (_missing(f"{0:0{width}}: "), *_tell_apart(parts))


def _tell_apart(parts: Sequence[Subset]) -> list[Subset]:
    """Return the parts with names of files that differ, where rounding makes two of them the same."""
    files = [part.file_name for part in parts]
    return [
        replace(part, file_name=f"{part.file_name}-part-{part.number}") if files.count(part.file_name) > 1 else part
        for part in parts
    ]


def _interval(low: float | None, high: float | None) -> str:
    """Return the values above `low` up to `high` in words.

    >>> _interval(None, 3), _interval(3, 4.56789), _interval(20190101, None)
    ('≤ 3', '> 3, ≤ 4.568', '> 20190101')
    """
    bounds = ((">", low), ("≤", high))
    return ", ".join(f"{sign} {_plain(bound, '.4g')}" for sign, bound in bounds if bound is not None)


def _plain(number: float, form: str = "") -> str:
    return f"{number:{'.0f' if float(number).is_integer() and abs(number) < 1e15 else form}}"


def _between(low: float | None, high: float | None) -> str:
    """Return the name of an interval, fit for a file's name."""
    if low is None:
        return f"to-{_short(high)}" if high is not None else "all"
    return f"above-{_short(low)}" if high is None else f"{_short(low)}-{_short(high)}"


def _short(number: float | None) -> str:
    return f"{number:.4g}".replace("+", "")


def _name_file(category: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", category).strip("-.") or "empty"


def name_category(column: str) -> pl.Expr:
    """Return the categories of the values of a column: their texts, 0.0 and -0.0 being one number."""
    return pl.col(column).cast(pl.String).replace("-0.0", "0.0")


def in_part(column: str, part: Subset) -> pl.Expr:
    """Return whether a value belongs to a part.

    >>> part = partition(pl.Series([2, 6]), "thresholds:2,5")[2]
    >>> pl.DataFrame({"v": [2, 3, 5, 6, None]}).select(in_part("v", part))["v"].to_list()
    [False, True, True, False, False]
    """
    value = pl.col(column)
    if part.category is not None:
        return (name_category(column) == part.category).fill_null(False)
    if part.missing:
        return value.is_null()
    above = pl.lit(True) if part.low is None else value > part.low
    below = pl.lit(True) if part.high is None else value <= part.high
    return (value.is_not_null() & above & below).fill_null(False).alias(column)


def count_parts(values: pl.Series, parts: Sequence[Subset]) -> pl.DataFrame:
    """Return a row per part: part, above, to (its boundaries), annotations and share of all.

    >>> count_parts(pl.Series("v", [1, 3, 9]), partition(pl.Series("v", [1, 3, 9]), "thresholds 3")).rows()[1:]
    [('1: ≤ 3', None, 3.0, 2, 0.6666666666666666), ('2: > 3', 3.0, None, 1, 0.3333333333333333)]
    """
    frame = (values.fill_nan(None) if values.dtype.is_float() else values).to_frame("value")
    numbers = [int(frame.select(in_part("value", part).sum()).item()) for part in parts]
    return tabulate_parts(parts, numbers, len(values))


def tabulate_parts(parts: Sequence[Subset], numbers: Sequence[int], whole: int) -> pl.DataFrame:
    """Return the rows of `count_parts` for parts that hold these numbers of annotations of so many."""
    return pl.DataFrame(
        {
            "part": [part.name for part in parts],
            "above": pl.Series([part.low for part in parts], dtype=pl.Float64),
            "to": pl.Series([part.high for part in parts], dtype=pl.Float64),
            "annotations": pl.Series(numbers, dtype=pl.Int64),
            "share": [number / max(1, whole) for number in numbers],
        }
    )
