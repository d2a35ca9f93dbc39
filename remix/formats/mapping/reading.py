"""Records into frames: documents with their texts, mentions with their places, links and candidates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from remix.errors import BadInput, nearest
from remix.expressions import fill
from remix.files import stem
from remix.formats.format import Contents
from remix.formats.lines import tagged_spans
from remix.formats.mapping import MappingRules, MentionRules, names_in, shipped_mapping
from remix.formats.mapping.elements import LINE
from remix.formats.mapping.paths import EACH, FieldPath, Shape, keys_in
from remix.formats.mapping.records import read_records, tell_unread
from remix.formats.mapping.texts import count_characters, first_of, put_together
from remix.formats.mapping.values import candidates_in, identify, listed_values, parse_rows
from remix.formats.mentions import MentionTables, assemble
from remix.formats.offsets import cut_spans
from remix.formats.repairs import RepairTally, separate_names
from remix.formats.source import SourceFile

FIELDS = ("form", "link", "confidence", "class_", "cluster", "ignorable", "group", "option", "reading", "candidates")
"""What is said of a mention beside its place."""


def read_mapped(mapping: MappingRules, source: SourceFile, dataset: str) -> Contents:
    """Return what a file says by a mapping; raises `BadInput` with line and path."""
    tally = RepairTally()
    records, shape = read_records(mapping, source, tally)
    return _Reading(mapping, source, shape, tally, records).contents(dataset)


def read_table(name: str, rows: pl.DataFrame, dataset: str) -> Contents:
    """Return what a table says, a mention a row, with the columns of the format `csv` and cells of any type.

    Raises `BadInput` where document, begin or end has no column, and as `remix.formats.mapping.values.parse_rows`.

    >>> one = pl.DataFrame({"document": ["d"], "begin": [0], "end": [3], "entity": ["http://dbpedia.org/resource/Ada"]})
    >>> read_table("a table", one, "mine").frames.links["entity"].to_list()
    ['http://dbpedia.org/resource/Ada']
    """
    mapping = shipped_mapping("csv")
    columns = {column.strip().lower(): column for column in reversed(rows.columns)}
    rules, document = mapping.mention[0], mapping.document.name
    for first, *others in (document, *([path.said for path in paths] for paths in (rules.begin, rules.end))):
        if not columns.keys() & {first, *others}:
            wanted = "document, begin, end, entity"
            raise BadInput(name, f"has no column '{first}': a mention is a row with the columns {wanted}")
    names = {str(key): columns[str(key)] for key in mapping.shape if str(key) in columns}
    tally = RepairTally()
    tell_unread(mapping, rows.columns, names, tally)
    try:
        rows = rows.select(pl.col(column).cast(pl.String).alias(key) for key, column in names.items())
    except pl.exceptions.PolarsError as error:
        raise BadInput(name, f"has a column that is no text and no number ({error})") from None
    rows = rows.with_columns((pl.int_range(pl.len(), dtype=pl.Int64) + 2).alias("@line"))
    return _Reading(mapping, SourceFile(name), dict.fromkeys(names, {}), tally, rows).contents(dataset)


@dataclass(frozen=True)
class _Reading:
    """One file that is read: its records, and of what shape they are."""

    mapping: MappingRules
    source: SourceFile
    shape: Shape
    tally: RepairTally
    records: pl.DataFrame

    def contents(self, dataset: str) -> Contents:
        """Return what the records say, as a dataset of this name."""
        rows = self._documents
        parts = [self._mentions(rules) for rules in self.mapping.mention]
        self._refuse_absent(parts)
        mentions = pl.concat(parts, how="diagonal_relaxed")
        if by := self.mapping.mention[0].distinct:
            # What says nothing is like nothing.
            first = pl.struct("record", *by).is_first_distinct()
            mentions = mentions.filter(first | pl.any_horizontal(pl.col(by).is_null()))
        if len(parts) > 1:
            mentions = mentions.sort("record", maintain_order=True)
        return assemble(self._tables(rows, mentions.with_row_index("mention")), dataset, self.tally)

    @cached_property
    def _documents(self) -> pl.DataFrame:
        """Return the records with what they are as documents: `@record`, `@line`, `@name`, `@text`, `@language`, …"""
        rows = self.records
        for failed in self.mapping.records.failed:
            wrong = rows.filter(failed.column(self.shape).is_not_null())
            if wrong.height:
                line, said = wrong.select("@line", failed.column(self.shape).alias("said")).row(0)
                self.tally.add("failed", f"line {line}: {' '.join(str(said).split())[:100]}", wrong.height)
        for path, value in self.mapping.records.where.items():
            rows = rows.filter(self._condition(path, value))
        self._tell_unread(rows)
        rows = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("@record"))
        language = first_of(self.mapping.document.language, self.shape).alias("@language")
        rows = rows.with_columns(self._names(rows).alias("@name"), language)
        return put_together(self.mapping, self.source, rows, self.shape, self.tally)

    def _tell_unread(self, rows: pl.DataFrame) -> None:
        """Count what the mapping says that it does not read: the elements of lists of records."""
        for path in self.mapping.records.unread:
            if path.listed is None or not self._is_there(path):
                continue
            counted = rows.select("@line", count=path.listed.column(self.shape).list.len()).filter(pl.col("count") > 0)
            if counted.height:
                self.tally.add("unread", f"line {counted['@line'][0]}: {path.said}", int(counted["count"].sum()))

    def _refuse_absent(self, mentions: list[pl.DataFrame]) -> None:
        """Refuse a file that has nothing where the mapping finds names, texts or places; a link is told."""
        document = self.mapping.document
        whole = {"name": [FieldPath.parse(one) for name in document.name for one in names_in(name)]}
        whole |= {name: list(getattr(document, name)) for name in ("text", "tokens")}
        whole |= {f"part {path.said}": [path] for path in document.parts}
        self._refuse_missing(whole if self._documents.height else {})
        for rules, rows in zip(self.mapping.mention, mentions, strict=True):
            ends = rules.end or rules.last or rules.length
            wanted = {"begin": rules.begin, "end": ends, "spans": rules.spans, "form": rules.form}
            named = any(map(self._is_there, rules.form))
            wanted = (
                {} if named else {name: paths for name, paths in wanted.items() if name != "form" or not rules.begin}
            )
            self._refuse_missing({name: list(paths) for name, paths in wanted.items()} if rows.height else {})
            absent = [path for path in rules.link if not self._is_there(path)]
            if rules.link and len(absent) == len(rules.link) and rows.height and "link" not in self.mapping.optional:
                self.tally.add("no-link", self._absent("link", absent), rows.height)

    def _refuse_missing(self, wanted: dict[str, list[FieldPath]]) -> None:
        for name, paths in wanted.items():
            if paths and name not in self.mapping.optional and not any(map(self._is_there, paths)):
                raise BadInput(self.source.name, self._absent(name, paths))

    def _absent(self, name: str, paths: list[FieldPath]) -> str:
        key = next((key for key in paths[0].keys if key not in keys_in(self.shape)), paths[0].said)
        known = set(re.findall(r'"([^"\\]{1,60})"\s*:', self.source.head.decode("utf-8", "replace")))
        return f"no record has '{key}', where {self.mapping.file.name} finds the {name}{nearest(key, known)}"

    def _is_there(self, path: FieldPath) -> bool:
        part = self.shape
        for step in path.steps:
            key = EACH if isinstance(step, int) else step
            if key not in part:
                return False
            part = part[key]
        return True

    def _condition(self, path: str, value: str | bool) -> pl.Expr:
        found = FieldPath.parse(path).column(self.shape)
        if isinstance(value, bool):
            return found.is_not_null() if value else found.is_null()
        if value.startswith("!"):
            return ~found.is_in(value[1:].split("|")).fill_null(False)
        return (found == value).fill_null(False)

    def _names(self, rows: pl.DataFrame) -> pl.Series:
        """Return the names of the records: the first that is there and, unless records are joined, no other's."""
        rules = self.mapping.document
        said = rows.select(self._name(name).alias(str(n)) for n, name in enumerate(rules.name))
        number = pl.select(pl.int_range(1, rows.height + 1, dtype=pl.Int64).cast(pl.String)).to_series()
        last = pl.Series([stem(self.source.name)]) if rows.height == 1 and not self.source.is_stdin else number
        if rules.joined:
            return said.select(pl.coalesce(pl.all())).to_series() if said.width else last
        own = [pl.when(pl.col(name).is_unique()).then(name) for name in said.columns]
        names = said.select(pl.coalesce([*own, pl.lit(None, pl.String)])).to_series() if said.width else last
        if not names.null_count():
            return names
        first = said.select(pl.coalesce(pl.all(), last)).to_series()
        return separate_names(names.zip_with(names.is_not_null(), first), self.tally)

    def _name(self, said: str) -> pl.Expr:
        if "{" not in said:
            return FieldPath.parse(said).column(self.shape)
        made = {
            "stem": pl.lit(stem(self.source.name)),
            "number": (pl.col("@record") + 1).cast(pl.String),
            "place": pl.col("@record").cast(pl.String),
            "line": pl.col("@line").cast(pl.String),
        }
        # What stands in braces is each second piece.
        pieces = enumerate(re.split(r"\{([^{}]*)\}", said))
        return pl.concat_str(
            pl.lit(one) if n % 2 == 0 else made[one] if one in made else FieldPath.parse(one).column(self.shape)
            for n, one in pieces
        )

    def _mentions(self, rules: MentionRules) -> pl.DataFrame:
        """Return a row for each mention, all of it text: record, line, name, begin, end, and what is said of it."""
        places = {
            "begin": rules.begin,
            "end": rules.end or rules.last or rules.length,
            "spans": rules.spans,
            "tags": rules.tags,
        }
        fields = {**places, **{name: getattr(rules, name) for name in FIELDS}, "edition": self.mapping.link.edition}
        fields = {name: paths for name, paths in fields.items() if paths}
        lists: dict[str, FieldPath] = {}
        for paths in fields.values():
            lists.update({path.listed.said: path.listed for path in paths if path.listed is not None})
        once = {name: tuple(path for path in paths if path.listed is None) for name, paths in fields.items()}
        whole = {f"_{name}": first_of(paths, self.shape) for name, paths in once.items()}
        linked = [self._condition(*one) for one in self.mapping.link.where.items()]
        rows = self._documents.select(
            pl.col("@record", "@line", "@name", "@begin", "@end").name.replace("@", ""),
            *(column.alias(name) for name, column in whole.items()),
            *(path.column(self.shape).alias(f"[{said}") for said, path in lists.items()),
            _linked=pl.all_horizontal(linked) if linked else pl.lit(True),
        )  # fmt: skip
        if lists:
            rows = self._explode(rows, [f"[{said}" for said in lists])
        else:
            told = [f"_{name}" for name in ("begin", "end", "spans", "form", "link") if name in fields]
            said = pl.any_horizontal(pl.col(["begin", *told]).is_not_null())
            other = rows.filter(~said)
            if self.mapping.records.syntax == "table":
                self.tally.add_rows("no-mention", other, "line {line}: the row names no mention")
            rows = rows.filter(said)
        given = {name: self._find(name, paths) for name, paths in fields.items()}
        place = {name: pl.col(name).cast(pl.String) for name in ("begin", "end")}
        placed = pl.lit(bool(rules.begin or rules.spans))
        rows = rows.select("record", "line", "name", "_linked", **{**place, **given}, placed=placed)
        if isinstance(rows.schema.get("form"), pl.List):
            rows = rows.explode("form").drop_nulls("form")
        rows = _with_ends(rows, rules)
        if rules.spans:
            return _in_parts(rows)
        return _spans_of_tags(rows, self.tally) if rules.tags else rows

    def _find(self, name: str, paths: tuple[FieldPath, ...]) -> pl.Expr:
        found = [pl.col(f"_{name}")]
        for path in paths:
            if path.listed is not None:
                part = self.shape
                for step in path.listed.steps:
                    part = part.get(step if isinstance(step, str) else -1, {})
                said = f"[{path.listed.said}"
                found.append(path.column({said: part.get(-1, {})}, (said, *path.within)) if part else pl.lit(None))
        # The last of a list of forms is each of them, a list in a column.
        return (
            found[-1]
            if any(path.within.count(EACH) for path in paths if path.listed)
            else pl.coalesce(found).cast(pl.String)
        )

    def _explode(self, rows: pl.DataFrame, lists: list[str]) -> pl.DataFrame:
        """Return a row for each element of the lists, which are parallel; where they are not, what lacks is null."""
        there = [name for name in lists if isinstance(rows.schema[name], pl.List)]
        if not there:
            return rows.clear()
        longest = pl.max_horizontal(pl.col(name).list.len() for name in there)
        rows = rows.filter((longest > 0).fill_null(False))
        if len(there) > 1:
            uneven = rows.filter(pl.any_horizontal(pl.col(name).list.len().fill_null(0) != longest for name in there))
            told = uneven.filter(pl.any_horizontal(pl.col(name).list.len() != longest for name in there))
            named = " and ".join(name.removeprefix("[") for name in there)
            self.tally.add_rows(
                "parallel", told.with_columns(named=pl.lit(named)), "line {line}: {named} are not equally long"
            )
            if uneven.height:
                every = pl.int_ranges(0, longest)
                whole = [pl.col(name).fill_null(pl.lit([], rows.schema[name])) for name in there]
                rows = rows.with_columns(one.list.gather(every, null_on_oob=True) for one in whole)
        rows = rows.explode(there)
        # An element of XML has a line of its own.
        structs = [name for name in there if isinstance(kind := rows.schema[name], pl.Struct) and LINE in dict(kind)]
        own = [pl.col(name).struct.field(LINE) for name in structs]
        return rows.with_columns(line=pl.coalesce([one.cast(pl.Int64) for one in own])) if own else rows

    def _tables(self, documents: pl.DataFrame, mentions: pl.DataFrame) -> MentionTables:
        rules = self.mapping.mention[0]
        rows = _with_columns(mentions, ("record", "_linked", "edition", "part"))
        first = pl.when(pl.col("part").is_not_null()).then(pl.col("mention").min().over("part"))
        rows = rows.with_columns(part_of=first if "part" in mentions.columns else pl.lit(None, pl.Int64))
        ends = rules.end or rules.last or rules.length
        names = (rules.begin[0].said if rules.begin else "begin", ends[0].said if ends else "end")
        rows = parse_rows(self.source.name, rows, self.tally, names=names)
        rows = self._count(rows, documents, rules)
        file = self.source.name
        said = {name: next((path.said for path in getattr(rules, name)), name) for name in FIELDS}
        keys = (rules.candidate, rules.score)
        links = listed_values(file, rows.filter(pl.col("_linked").fill_null(True)), "entity", said["link"])
        candidates = candidates_in(file, rows, "candidates", keys, said["candidates"])
        classes = listed_values(file, rows, "class", said["class_"]).rename({"value": "class"})
        texts = documents.select(pl.col("@name", "@text", "@language").name.replace("@", ""))
        if self.mapping.document.joined:
            # A document whose text comes later has it.
            texts = pl.concat([texts.drop_nulls("text"), texts.filter(pl.col("text").is_null())])
        return MentionTables(
            documents=texts,
            mentions=rows.rename({"document": "name", "surface_form": "anchor"}).drop("class"),
            links=identify(self.mapping, links.rename({"value": "identifier"}), self.tally),
            candidates=identify(self.mapping, candidates, RepairTally()),
            classes=classes,
            keep_outside=rules.outside == "kept",
            apart=not rules.alternatives,
        )

    def _count(self, rows: pl.DataFrame, documents: pl.DataFrame, rules: MentionRules) -> pl.DataFrame:
        """Return the mentions with offsets in characters."""
        if rules.first:
            rows = rows.with_columns(pl.col("begin", "end") - rules.first)
        if rules.first_by_form:
            rows = self._recount(rows, documents, rules.first_by_form)
        if rules.offsets != "characters":
            names = ["@record", "@text", *(["@tokens"] if rules.offsets == "tokens" else [])]
            rows = count_characters(rows, documents.select(pl.col(names).name.replace("@", "")), rules.offsets)
        return rows.with_columns(place=fill("line {}", "line"))

    def _recount(self, rows: pl.DataFrame, documents: pl.DataFrame, first: int) -> pl.DataFrame:
        """Return the mentions with so much less as offsets, where that fits more forms of the file; it is told."""
        given = rows.join(documents.select(record="@record", text="@text"), on="record", maintain_order="left")
        less = given.with_columns(pl.col("begin", "end") - first)
        fits = [int((cut_spans(one, "record") == one["surface_form"]).sum()) for one in (less, given)]
        if fits[0] <= fits[1]:
            return rows
        said = "line {line}: '{surface_form}' {begin},{end}, as the file counts from "
        self.tally.add_rows("offset", given, f"{said}{first}")
        return less.drop("text")


def _with_columns(mentions: pl.DataFrame, more: tuple[str, ...]) -> pl.DataFrame:
    """Return mentions with the columns that rows of a table have; those that no mention has are null."""
    names = {"name": "document", "form": "surface_form", "link": "entity", "class_": "class"}
    rows = mentions.rename({old: new for old, new in names.items() if old in mentions.columns})
    every = (*names.values(), "begin", "end", *(name for name in FIELDS if name not in names), *more)
    missing = [pl.lit(None, pl.String).alias(name) for name in every if name not in rows.columns]
    return rows.with_columns(pl.col("mention").cast(pl.Int64), *missing)


def _with_ends(rows: pl.DataFrame, rules: MentionRules) -> pl.DataFrame:
    """Return the mentions with ends behind the last character, where the file has the last one, a length or a form."""
    number = pl.col("end").cast(pl.Int64, strict=False)
    if rules.last and not rules.end:
        number = number + 1
    elif rules.length and not rules.end:
        number = pl.col("begin").cast(pl.Int64, strict=False) + number
    elif rules.begin and rules.form and not rules.end:
        number = pl.col("begin").cast(pl.Int64, strict=False) + pl.col("form").str.len_chars()
    else:
        return rows
    return rows.with_columns(end=pl.coalesce(number.cast(pl.String), "end"))


def _in_parts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mentions by their `spans`, such as `9-12,3-5` or `9,12`: a row for each part, whose text is its own."""
    pair = pl.col("spans").str.replace(r"^\s*(-?[0-9]+)\s*,\s*([0-9]+)\s*$", "${1}-${2}")
    pairs = pair.str.extract_all(r"-?[0-9]+\s*[-:]\s*[0-9]+")
    numbered = rows.with_row_index("_of").with_columns(pairs.alias("_pair"))
    several = pl.col("_pair").list.len() > 1
    form = pl.when(~several).then("form") if "form" in rows.columns else pl.lit(None, pl.String)
    numbered = numbered.with_columns(form=form, _several=several)
    each = numbered.explode("_pair").with_columns(
        begin=pl.coalesce(pl.col("_pair").str.extract(r"^(-?[0-9]+)"), "spans"),
        end=pl.coalesce(pl.col("_pair").str.extract(r"([0-9]+)$"), "spans"),
    )
    return each.with_columns(part=pl.when("_several").then("_of")).drop("_pair", "_of", "_several")


def _spans_of_tags(rows: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return a mention for each run of tokens (a row each) whose tags go on; begin and end are numbers of tokens."""
    # Files also write `i-person` and `I.person`.
    tag = pl.col("tags").str.replace(r"^[Bb](?:[.-]|$)", "B-").str.replace(r"^[Ii](?:[.-]|$)", "I-")
    odd = rows.filter(~pl.col("tags").str.contains(r"^(?:[OBIbi_-]|[BIbi][-.].*)$"))
    tally.add_rows("tag", odd, "line {line}: '{tags}' is no tag: read as O")
    token = pl.int_range(pl.len()).over("record")
    rows = rows.with_columns(tags=tag, row="line", place=fill("line {}", "line"), begin=token, end=token + 1)
    said = [name for name in (*FIELDS, "edition") if name in rows.columns]
    columns = {name: pl.col(name).first() for name in ("record", "line", "_linked", "placed", *said)}
    columns["class_"] = pl.col("tags").str.slice(2).first()
    found = tagged_spans(rows, pl.col("tags"), columns, tally, within="record")
    return found.with_columns(pl.col("begin", "end").cast(pl.String)).drop("mention", "row", "place")
