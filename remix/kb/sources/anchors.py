"""Anchor texts with their counts: how often a surface form links to an entity, from which priors come.

What is read, one kind a file, plain or compressed:

- TSV of surface form, entity and count, in any order, with or without a header. Without one the entity is the column
  of IRIs, prefixed names or item numbers, the count that of whole numbers; of two columns of text the first is the
  surface form. A file of two columns has no counts.
- CrossWikis: `form<TAB>probability title flags`; the count is the sum of the links that the flags say (`W:3/7` is 3).
- The tables that REL's priors are made of: `form<TAB>total<TAB>id,count,title<TAB>id,count,title…`.

An entity is an IRI, a prefixed name, an item number of Wikidata, or else the title of an article in the Wikipedia of
the first language.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.kb.dumps import ENTITY, check_file, entity_iris, excerpts, field, file_part, read_fields, share
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import Staging

_NAMES = {
    "surface_form": "surface_form surfaceform surface form mention anchor anchor_text alias name text key",
    "entity": "entity entity_iri iri uri url title page wiki article target link qid",
    "count": "count counts freq frequency n number occurrences",
}
_COUNT = r"^[0-9]+$"
_CROSSWIKIS = r"^[0-9][0-9.eE+-]* [^ ]+(?: |$)"
_REL = r"^-?[0-9]+,[0-9]+,."
_SAMPLE = 1000

Reader = Callable[[pl.DataFrame], pl.DataFrame]
"""Lines of fields to line, surface_form, entity (null where a line has none) and count."""


def _parts(place: str, choices: Choices) -> list[Part]:
    return [file_part(check_file(place, "anchors"), choices, _read)]


def _read(path: Path, choices: Choices, staging: Staging) -> None:
    reader: Reader | None = None
    with staging:
        for lines in read_fields(path, staging):
            if reader is None and lines.height:
                reader, header = _reader(lines.head(_SAMPLE))
                lines = lines.slice(int(header))
            if reader is None or lines.is_empty():
                continue
            found = reader(lines)
            sound = pl.all_horizontal(pl.col(name).is_not_null() for name in ("surface_form", "entity"))
            sound &= (pl.col("surface_form") != "") & ~pl.col("miscounted") & (pl.col("entity") != "")
            sound = sound.fill_null(False)
            wrong = lines.join(found.filter(~sound).select("line"), on="line", how="semi")
            kind = "a line that has no surface form, entity and count"
            staging.problem(kind, wrong.height, excerpts(path, wrong), place=path)
            kept = found.filter(sound)
            iris = entity_iris(kept["entity"], choices.languages[0])
            staging.add("surface_forms", kept.select("surface_form", "count", entity=iris, source=pl.lit("anchor")))
    if not staging.rows:
        raise BadInput(path, "has no surface form with an entity: give TSV of surface form, entity and count")


def _reader(sample: pl.DataFrame) -> tuple[Reader, bool]:
    """Return what reads lines like these, and whether the first one is a header."""
    if share(sample, 2, _REL) > 0.5:
        return _rel, False
    if share(sample, 1, _CROSSWIKIS) > 0.5:
        return _crosswikis, False
    names = [name.strip().lower() for name in sample["fields"][0]]
    roles = {
        role: next((n for n, name in enumerate(names) if name in known.split()), -1) for role, known in _NAMES.items()
    }
    if sum(number >= 0 for number in roles.values()) >= 2 and roles["entity"] >= 0:
        if roles["surface_form"] < 0:
            roles["surface_form"] = next((n for n in range(len(names)) if n not in roles.values()), 0)
        return partial(_columns, roles), True
    # The first line is left out: it may be a header of other words.
    rest = sample.slice(1) if sample.height > 1 else sample
    roles = _roles(rest, max(2, int(rest.select(pl.col("fields").list.len().median()).item())))
    count = roles["count"]
    headed = count >= 0 and sample.height > 1 and not share(sample.head(1), count, _COUNT)
    return partial(_columns, roles), headed


def _roles(lines: pl.DataFrame, width: int) -> dict[str, int]:
    left = list(range(width))
    entity = max(left, key=lambda number: share(lines, number, ENTITY))
    if share(lines, entity, ENTITY) < 0.5:
        entity = -1
    counts = [number for number in left if number != entity and share(lines, number, _COUNT) > 0.9] if width > 2 else []
    count = counts[-1] if counts else -1
    texts = [number for number in left if number not in (entity, count)]
    return {"surface_form": texts[0], "entity": entity if entity >= 0 else texts[1], "count": count}


def _columns(roles: dict[str, int], lines: pl.DataFrame) -> pl.DataFrame:
    written = field(roles["count"]) if roles["count"] >= 0 else pl.lit(None, pl.String)
    count = written.cast(pl.Int64, strict=False)
    return lines.select(
        "line",
        surface_form=field(roles["surface_form"]),
        entity=field(roles["entity"]),
        count=count,
        miscounted=count.is_null() if roles["count"] >= 0 else pl.lit(False),
    )


def _crosswikis(lines: pl.DataFrame) -> pl.DataFrame:
    # The form may be empty (links without a text) and is then reported like any other line without one.
    said = field(1).str.extract(r"^[^ ]+ ([^ ]+)")
    links = field(1).str.extract_all(r" [Ww][x']?:[0-9]+/").list.eval(pl.element().str.extract("([0-9]+)"))
    count = links.list.eval(pl.element().cast(pl.Int64)).list.sum()
    known = links.list.len() > 0
    return lines.select(
        "line", surface_form=field(0), entity=said, count=pl.when(known).then(count), miscounted=pl.lit(False)
    )


def _rel(lines: pl.DataFrame) -> pl.DataFrame:
    pairs = lines.select("line", surface_form=field(0), pair=pl.col("fields").list.slice(2)).explode("pair")
    parts = pl.col("pair").str.strip_chars().str.extract_groups(r"^-?[0-9]+,([0-9]+),(.+)$")
    count = parts.struct.field("1").cast(pl.Int64, strict=False)
    return pairs.select("line", "surface_form", entity=parts.struct.field("2"), count=count, miscounted=pl.lit(False))


SOURCE = Source("anchors", "Surface form, entity and count as TSV, CrossWikis or REL's tables", _parts)
