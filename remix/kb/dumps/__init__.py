"""Reading a dump: its lines while the next ones are decompressed, what they say, and what was wrong in it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import polars as pl

from remix.errors import BadInput, UsageError
from remix.files import open_bytes
from remix.iris import canonical, expand
from remix.kb.dumps.statements import Pattern, Statements, number_lines, parse_statements
from remix.kb.sources import Choices, Part
from remix.kb.staging import Staging
from remix.kb.titles import resource
from remix.progress import reading
from remix.rdf.ntriples import Block, blocks_of_lines
from remix.signature import content_hash

ENTITY = r"^(?:<?https?://[^ ]+|<[^ ]+>|Q[1-9][0-9]*|(?:dbr|wd):[^ ]+)$"
"""What is an entity by its looks; titles are not."""

_COMPRESSED = {".bz2": b"BZh", ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
_SHOWN = 10
_LONGEST = 160
_DATE = r"(?:19|20)\d\d[-.]?[01]\d(?:[-.]?[0-3]\d)?"


def check_file(place: str, kind: str) -> Path:
    """Return the path of a source that is one file; raises `UsageError` where there is none."""
    path = Path(place)
    if not path.is_file():
        what = "a folder; name the file in it" if path.is_dir() else "no such file"
        raise UsageError(f"{path} is {what} (a source of kind '{kind}' is one file)")
    return path


def file_part(
    path: Path, choices: Choices, read: Callable[[Path, Choices, Staging], None], *, name: str = "", licence: str = ""
) -> Part:
    """Return the part that a file is, known by the hash of the file as downloaded and of what changes its reading."""
    return Part(
        name=name or path.name,
        fingerprint=content_hash(path, json.dumps(list(choices.languages))),
        read=partial(read, path, choices),
        place=str(path),
        date=find_date(read_beginning(path), path),
        licence=licence,
        size=path.stat().st_size,
    )


def read_beginning(path: Path) -> str:
    """Return the first lines of a file, to find its date in; nothing where they cannot be read."""
    try:
        with open_bytes(path) as stream:
            return stream.read(1 << 14).decode("utf-8", "replace")
    except BadInput:
        return ""  # reading it will say what is wrong


def find_date(text: str, path: Path) -> str:
    """Return the date that the first lines of a file say with a pattern, or else its name or folder; or nothing.

    >>> find_date("# started 2022-12-01T09:00:00Z", Path("labels_en.ttl.bz2"))
    '2022-12-01'
    >>> find_date("", Path("labels/2022.12.01/labels_lang=en.ttl.bz2"))
    '2022-12-01'
    >>> find_date("", Path("2016-10/core/labels_en.ttl"))
    '2016-10'
    """
    found = re.search(r"# ?started (\d{4}-\d\d-\d\d)", text) or re.search(
        r'#dateModified> "(\d{4}-\d\d-\d\d)|/dateModified> "(\d{4}-\d\d-\d\d)', text
    )
    if found:
        return next(group for group in found.groups() if group)
    for name in reversed(path.parts):
        if inside := re.search(rf"(?<!\d){_DATE}(?!\d)", name):
            digits = re.sub(r"\D", "", inside[0])
            return "-".join(part for part in (digits[:4], digits[4:6], digits[6:8]) if part)
    return ""


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the lines of a file in blocks; the next ones are decompressed meanwhile.

    Raises `BadInput` for an empty file, one that is not compressed as its name says, and, after what came before it,
    where the file is cut short or damaged.
    """
    _check(path)
    stopped, taken = threading.Event(), 0
    blocks = blocks_of_lines(path, stopped=stopped)
    with reading(path, path.stat().st_size) as done, ThreadPoolExecutor(1) as ahead:
        try:
            following = ahead.submit(next, blocks, None)
            while block := following.result():
                following = ahead.submit(next, blocks, None)
                yield block
                done(block.taken - taken)
                taken = block.taken
        finally:
            stopped.set()  # whoever takes no more need not wait for the next block


def _check(path: Path) -> None:
    with open_bytes(path), path.open("rb") as raw:
        begin = raw.read(64)
    if not begin:
        raise BadInput(path, "is empty: download it again")
    text = begin.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    magic = _COMPRESSED.get(path.suffix.lower())
    page = re.match(r"<(?:!doctype|html|\?xml|head)\b", text, re.IGNORECASE)
    if page:
        raise BadInput(path, f"is a web page and no dump (it begins with '{text[:30]}'): download it again")
    if magic and not begin.startswith(magic):
        raise BadInput(path, f"is not compressed as its name says (it begins with {begin[:12]!r}): download it again")


def read_statements(path: Path, pattern: Pattern, staging: Staging) -> Iterator[Statements]:
    """Yield what a line-based RDF file says, block by block, and note what is no triple in the staging.

    Raises `BadInput` as `blocks`, and for a file without a single triple.
    """
    rows = bad = 0
    example = ""
    for block in read_blocks(path):
        found = parse_statements(block, pattern)
        rows += found.rows.height + len(found.foreign)
        bad += found.bad.height
        for (reason,), some in found.bad.group_by("reason", maintain_order=True):
            examples = excerpts(path, some)
            example = example or examples[0]
            staging.problem(f"a line that is {reason}", some.height, examples, place=path)
        yield found
    if bad and not rows:
        raise BadInput(path, f"no triple that is wanted is in it ({example}): give N-Triples, or Turtle, one a line")


def excerpts(path: Path, lines: pl.DataFrame) -> list[str]:
    """Return the first lines (line, text) of what is wrong in a file, as they are told."""
    first = lines.head(_SHOWN).select("line", "text").rows()
    return [f"{path.name}:{line}: {text[:_LONGEST]}" for line, text in first]


def read_fields(path: Path, staging: Staging) -> Iterator[pl.DataFrame]:
    """Yield line and fields (a list) of the lines of a file, block by block; empty lines and comments are none.

    Lines that are not UTF-8 are noted in the staging.
    """
    for block in read_blocks(path):
        lines, bad = number_lines(block)
        staging.problem("a line that is not UTF-8", bad.height, excerpts(path, bad), place=path)
        lines = lines.filter(~pl.col("text").str.contains(r"^\s*(?:#[^\t]*)?$"))
        yield lines.with_columns(fields=pl.col("text").str.split("\t"))


def field(number: int) -> pl.Expr:
    """Return one field of each line, without outer spaces; null where the line has fewer."""
    return pl.col("fields").list.get(number, null_on_oob=True).str.strip_chars()


def share(lines: pl.DataFrame, number: int, pattern: str) -> float:
    """Return which share of the lines has a field of this pattern; of no lines 0."""
    matching = lines.select(field(number).str.contains(pattern).fill_null(False).mean()).item()
    return float(matching or 0.0)


def entity_iris(names: pl.Series, language: str) -> pl.Series:
    """Return the canonical IRIs of entities named by IRI, prefix, item number, or title of a Wikipedia in a language.

    >>> names = pl.Series(["Anna Karenina", "Q64", "dbr:Berlin", "<http://de.dbpedia.org/page/Bonn>"])
    >>> for iri in entity_iris(names, "en"):
    ...     print(iri)
    http://dbpedia.org/resource/Anna_Karenina
    http://www.wikidata.org/entity/Q64
    http://dbpedia.org/resource/Berlin
    http://de.dbpedia.org/resource/Bonn
    """
    bare = names.str.strip_chars().str.strip_prefix("<").str.strip_suffix(">")
    named = pl.DataFrame({"name": bare, "iri": expand(bare)})
    iri = (
        pl.when(pl.col("name") == "")
        .then(None)
        .when(pl.col("name").str.contains(r"^Q[1-9][0-9]*$"))
        .then(pl.lit("http://www.wikidata.org/entity/") + pl.col("name"))
        .when((pl.col("iri") != pl.col("name")) | pl.col("name").str.contains(r"^(?:https?://|urn:)"))
        .then("iri")
        .otherwise(resource(pl.col("name"), language))
    )
    return canonical(named.select(iri.alias(names.name)).to_series())
