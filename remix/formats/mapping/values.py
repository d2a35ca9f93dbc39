"""What stands in a field: one text or a list of texts, candidates with scores, links of any kind as identifiers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from remix.delimited import parse_table
from remix.dense import distinct
from remix.errors import BadInput
from remix.expressions import fill
from remix.files import read_bytes
from remix.formats.identifiers import is_shared, title_url
from remix.formats.mapping import MappingRules
from remix.formats.mentions import NUMBER
from remix.formats.repairs import RepairTally


def listed_values(file: str, rows: pl.DataFrame, column: str, said_as: str) -> pl.DataFrame:
    """Return mention, line, edition and value: a row for each element of a field that is a text or a list of texts.

    Rows have the first three and the column; `said_as` is what messages call it. Raises `BadInput` with the line.
    """
    said = rows.select("mention", "line", "edition", value=column).drop_nulls("value")
    listed = pl.col("value").str.starts_with("[")
    if not said.select(listed.any()).item():
        return said
    expected = f"{said_as} is a text or a list of texts"
    several, texts = _decode_json(file, said.filter(listed), pl.List(pl.String), expected)
    parts = [said.filter(~listed), texts, several.explode("value").drop_nulls("value")]
    return pl.concat(parts).sort("mention", maintain_order=True)


def _decode_json(file: str, said: pl.DataFrame, shape: pl.DataType, expected: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows whose value is JSON, decoded, and those whose value is a text that begins alike."""

    def decode(rows: pl.DataFrame) -> pl.DataFrame | None:
        try:
            return rows.with_columns(pl.col("value").str.json_decode(shape))
        except pl.exceptions.PolarsError:
            return None

    if (every := decode(said)) is not None:
        return every, said.clear()
    is_json = pl.Series([_is_json(value) for value in said["value"]], dtype=pl.Boolean)
    lists = said.filter(is_json)
    if (several := decode(lists)) is not None:
        return several, said.filter(~is_json)
    row = next(row for row in lists.iter_slices(1) if decode(row) is None).row(0, named=True)
    raise BadInput(file, f"{expected}, not {row['value'][:80]}", line=row["line"])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def candidates_in(file: str, rows: pl.DataFrame, column: str, keys: tuple[str, str], said_as: str) -> pl.DataFrame:
    """Return mention, line, edition, identifier and score of candidates: texts, or objects with the two keys."""
    said = rows.select("mention", "line", "edition", value=column).drop_nulls("value")
    if said.is_empty():
        return said.rename({"value": "identifier"})
    scored = pl.col("value").str.contains(r"^\[\s*\{")
    plain = listed_values(file, said.filter(~scored), "value", said_as)
    entity, score = keys
    shape = pl.List(pl.Struct({entity: pl.String, score: pl.Float64}))
    expected = f'{said_as} are [{{"{entity}": …, "{score}": …}}, …]'
    pairs, texts = _decode_json(file, said.filter(scored), shape, expected)
    pairs = pairs.explode("value").select(
        pl.exclude("value"),
        identifier=pl.col("value").struct.field(entity),
        score=pl.col("value").struct.field(score).cast(pl.Float64),
    )
    single = pl.concat([plain, texts]).rename({"value": "identifier"})
    return pl.concat([single, pairs], how="diagonal").drop_nulls("identifier")


def identify(mapping: MappingRules, said: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the rows (`mention`, `line`, `identifier`, `edition`) with identifiers as the rest of remix reads them.

    Their `code` is the same number for the same identifier. What says that there is no entity goes. So does what is no
    identifier of its kind, which is told.
    """
    rules = mapping.link
    if said.is_empty():
        return said
    one = pl.col("identifier").str.strip_chars()
    if rules.needs:
        said = said.filter(one.str.contains(rules.needs))
    if rules.separator:
        said = said.with_columns(one.str.split(rules.separator)).explode("identifier")
    if rules.map:
        said = _map(mapping, said, tally)
    none = one.is_in(["", *(nil for nil in rules.nil if not nil.endswith("*"))])
    for nil in rules.nil:
        none = none | one.str.starts_with(nil[:-1]) if nil.endswith("*") else none
    said = said.filter(~none.fill_null(True))
    if rules.kind == "qid":
        sound = one.str.contains(r"^(?:.*[/:])?Q[0-9]+$")
        tally.add_rows("link", said.filter(~sound), "line {line}: '{identifier}' is no QID: read as NIL")
        said = said.filter(sound)
    if rules.edition:
        return said.with_columns(identifier=_spell(mapping, one))
    # One entity is linked many times.
    every, code = distinct(said["identifier"])
    spelt = every.to_frame().select(_spell(mapping, one)).to_series()
    return said.with_columns(identifier=spelt.gather(code), code=code)


def _spell(mapping: MappingRules, one: pl.Expr) -> pl.Expr:
    rules = mapping.link
    if rules.kind == "title" and rules.edition:
        edition = pl.col("edition").fill_null("en")
        return fill("http://{}.wikipedia.org/wiki/{}", edition, one.str.replace_all(r"\s", "_"))
    if rules.kind == "title":
        return title_url(one)
    if rules.prefixes:
        curie = one.str.extract(r"^([\w.-]+):", 1).replace_strict(rules.prefixes, default=None, return_dtype=pl.String)
        return pl.coalesce(curie + one.str.replace(r"^[\w.-]+:", ""), pl.lit(rules.prefix) + one)
    return fill(rules.prefix, one) if "{}" in rules.prefix else pl.lit(rules.prefix) + one


def _map(mapping: MappingRules, said: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the links by a table of two columns beside the mapping: what the file says, and what that is."""
    file = Path(mapping.file).parent / mapping.link.map
    known = parse_table(file, read_bytes(file), header=False, quoted=True).to_dict()
    columns = list(known.values())
    if len(columns) < 2:
        raise BadInput(file, "is no table of two columns: what a file says as link, a tab, what that is")
    table = pl.DataFrame({"identifier": columns[0], "known": columns[1]}).unique("identifier", keep="first")
    found = said.join(table, on="identifier", how="left", maintain_order="left")
    unknown = found.filter(pl.col("known").is_null()).with_columns(file=pl.lit(file.name))
    tally.add_rows("link", unknown, "line {line}: '{identifier}' is not in {file}: read as NIL")
    return found.drop_nulls("known").with_columns(identifier="known").drop("known")


_NUMBER = rf"^\s*{NUMBER}\s*$"


def parse_rows(
    source: str, rows: pl.DataFrame, tally: RepairTally, names: tuple[str, str] = ("begin", "end")
) -> pl.DataFrame:
    """Return the mentions of rows of text (`line` and fields of that name), with numbers as numbers.

    `names` is what begin and end are called in messages. Both may be null where the surface form or the entity is
    told, or where `placed` is false.

    A confidence that is no finite number is left out and counted, and so is an answer that is there twice, which is
    kept: gold may have alternatives on one span. Raises `BadInput` with the line where begin or end is no whole number
    or the document has no name.
    """
    nameless = pl.col("document").fill_null("").str.strip_chars() == ""
    if (wrong := rows.filter(nameless)).height:
        raise BadInput(source, "a mention without its document", line=int(wrong["line"][0]))
    rows = _with_numbers(source, rows, names)
    sure = pl.col("confidence").str.contains(_NUMBER).fill_null(False)
    said = pl.col("confidence").is_not_null() & (pl.col("confidence").str.strip_chars() != "")
    tally.add_rows("confidence", rows.filter(said & ~sure), "line {line}: '{confidence}' is no number, left out")
    # One label may stand in several readings of a mention, and be required in one of them alone.
    told: list[str] = [name for name in ("ignorable", "group", "option", "part") if name in rows.columns]
    told += ["surface_form"] if rows["begin"].null_count() else []
    same = ["document", "begin", "end", "entity", *told]
    twice = rows.filter(is_shared(rows.select(same))).filter(~pl.struct(same).is_first_distinct())
    form = fill("'{}'", pl.col("surface_form").fill_null(""))
    twice = twice.with_columns(
        span=pl.when(pl.col("begin").is_null()).then(form).otherwise(fill("{},{}", "begin", "end"))
    )
    tally.add_rows("duplicate", twice, "line {line}: {document} {span} has the same entity again")
    confidence = pl.when(sure).then(pl.col("confidence").str.strip_chars()).cast(pl.Float64)
    return rows.with_columns(confidence)


def _with_numbers(source: str, rows: pl.DataFrame, names: tuple[str, str]) -> pl.DataFrame:
    """Return the rows with begin and end as numbers, also where they are written like `5.0` or with spaces."""
    said = pl.col("surface_form").is_not_null() | pl.col("entity").is_not_null()
    needed = ~said & (pl.col("placed") if "placed" in rows.columns else True)
    placed = pl.col("begin").is_not_null() | pl.col("end").is_not_null() | needed
    plain = rows.with_columns(pl.col("begin", "end").cast(pl.Int64, strict=False))
    if not plain["begin"].null_count() and not plain["end"].null_count():
        return plain
    whole = [
        pl.col(name).str.contains(r"^\s*[+-]?[0-9]{1,18}(?:\.0*)?\s*$").fill_null(False) for name in ("begin", "end")
    ]
    if (wrong := rows.filter(placed & ~(whole[0] & whole[1]))).height:
        row = wrong.row(0, named=True)
        reason = f"{' and '.join(names)} are whole numbers, not '{row['begin']}' and '{row['end']}'"
        raise BadInput(source, reason, line=int(row["line"]))
    digits = pl.col("begin", "end").str.strip_chars().str.extract("^([+-]?[0-9]+)")
    return rows.with_columns(digits.cast(pl.Int64))
