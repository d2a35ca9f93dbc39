"""From bytes to documents and annotations, and back: one file a format, found by scanning.

`read` picks the format by content and suffix, and reports what it found and what it repaired; `write` reports what
a format cannot hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import BadInput, Error, Unforeseen, UsageError, is_panic
from remix.files import default_name, readable
from remix.formats.format import Contents, Format, Repair
from remix.formats.losses import CLUSTER, Loss, reduce_frames
from remix.formats.source import SourceFile, begin_of, hash_files
from remix.frames import Frames
from remix.rdf.iris import dataset_iri
from remix.registry import Registry

__all__ = ["FORMATS", "Contents", "Format", "LoadReport", "Loss", "Repair", "SourceFile", "read", "said_terms", "write"]


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What was found in a file; `error` is null, or the one line why it was refused.

    `annotations` are the blocks that say where a mention is and what it is linked to, `linked` or `nil`. A mention
    counts once, however many `alternatives` it has, the blocks beyond its first, and is linked if any of them is.
    `optional` mentions are marked in the file as such: an answer on them counts neither way, and no other number counts
    them. `dangling` are the annotations of documents that have no text. Every verb says the same of a dataset in these
    words.
    """

    file: str
    format: str
    documents: int = 0
    annotations: int = 0
    linked: int = 0
    nil: int = 0
    mentions: int = 0
    mentions_linked: int = 0
    mentions_nil: int = 0
    alternatives: int = 0
    optional: int = 0
    dangling: int = 0
    triples: int = 0
    repairs: tuple[Repair, ...] = ()
    error: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return the numbers and repairs, as the manifest of a folder of frames has them."""
        return {name: value for name, value in asdict(self).items() if name not in {"file", "format", "error"}}


@dataclass(frozen=True)
class LoadedFile:
    """A file that was read: the dataset's name and IRI, its frames, the report, the content's hash.

    The hash is the same for one corpus in two syntaxes, compressed or not. `export`, where the format has one and no
    triples were written, writes all that the file says in the same format; `unheld` is what it says and frames do not.
    """

    name: str
    iri: str
    frames: Frames
    report: LoadReport
    content: str
    export: Callable[[Path, Frames | None], None] | None = None
    unheld: tuple[Loss, ...] = ()


def _mapped_formats() -> Iterator[Format]:
    """Return the formats of mappings, imported where a file is read: what scores loaded datasets reads none."""
    from remix.formats.mapping.definition import mapped_formats

    return mapped_formats()


FORMATS: Registry[Format] = Registry("format", "remix.formats.definitions", Format, further=_mapped_formats)


@cache
def said_terms() -> frozenset[str]:
    """Return the terms of values that files of any format tell and that no measure is (see `Format.says`).

    >>> CLUSTER in said_terms()
    True
    """
    return frozenset({CLUSTER}).union(*(one.says for one in FORMATS))


NOTED = frozenset(
    {
        "column",
        "empty-document",
        "fragment",
        "masked",
        "other-layer",
        "repeated-triple",
        "several-places",
        "unplaced",
        "unread",
    }
)
"""Kinds that are told but are no defect: `strict` lets them pass."""

MISSING = frozenset({"no-annotation", "no-link"})
"""Kinds that say what a file has none of, told where that is accepted: of runs, and of what is converted."""


def read(
    path: Path | str,
    *,
    name: str | None = None,
    base_iri: str = "urn:remix:dataset:",
    format: str | None = None,
    strict: bool = False,
    triples_to: Path | None = None,
    unannotated: bool = False,
    answers: bool = False,
) -> LoadedFile:
    """Return the documents and annotations of a file, with IRIs scoped to the dataset of that name.

    The name is by default the file's. `triples_to` takes the dataset's triples as N-Triples compressed
    with zstandard, measures apart (see `measures_path`). `strict` refuses what would be repaired;
    `unannotated` accepts texts without annotations, as a system without answers leaves them; of a file that holds gold
    and answers, `answers` reads these, unless the format is named.

    Raises `BadInput` with file, line and reason for what cannot be read, `UnknownName` for a format
    that does not exist.
    """
    source = SourceFile(path)
    name = name or ("dataset" if source.is_stdin else default_name(path))
    iri = dataset_iri(name, base_iri)
    with _naming_file(source):
        chosen = format_named(format) if format else _sniff(source)
        if answers and not format:
            chosen = answers_in(chosen)
        found = chosen.read(source, iri)
        found.frames.check(source.name)
        if found.frames.annotations.is_empty() and not unannotated:
            raise BadInput(source.name, _without_annotations(found.frames))
        if strict:
            refuse_defects(source.name, found.repairs)
        triples = found.triples if triples_to is None else _write_triples(source, found, triples_to)
        repairs = (*found.repairs, *(_missing(found.frames) if unannotated else ()))
        sizes = sizes_of(found.frames)
        report = LoadReport(readable(source.path), chosen.name, **sizes, triples=triples, repairs=repairs)  # type: ignore[arg-type]
        export = found.export if triples_to is None else None
        return LoadedFile(name, iri, found.frames, report, found.content or _content(source), export, found.unheld)


@contextmanager
def _naming_file(source: SourceFile) -> Iterator[None]:
    """Turn whatever another library raises within the block into an error of remix that names the file."""
    try:
        yield
    except Error:
        raise
    except RecursionError as error:
        raise BadInput(source.name, "is nested too deeply to be read") from error
    except MemoryError as error:
        raise BadInput(source.name, "needs more memory than there is: split it") from error
    except OSError as error:
        raise BadInput(source.name, f"cannot be read ({error.strerror or error})") from error
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise Unforeseen(source.name, error) from error
        raise


def write(frames: Frames, path: Path, format: str) -> tuple[Loss, ...]:
    """Write frames as a file of that format, and return what it cannot hold.

    Raises `UnknownName` for a format that does not exist, `UsageError` for one that is only read, and for frames
    without texts where the format has them, `Error` where the file cannot be written.
    """
    chosen = FORMATS[format]
    if chosen.write is None:
        written = ", ".join(one.name for one in FORMATS if one.write is not None)
        raise UsageError(f"the format '{format}' is only read; written are: {written}")
    missing = frames.documents.filter(pl.col("text").is_null())["document"]
    if "texts" in chosen.holds and len(missing):
        raise UsageError(f"{format} needs the text of {missing[0]}: name a file that has the texts (--text FILE)")
    left, losses = reduce_frames(frames, chosen.holds)
    return (*losses, *chosen.write(left, path))


def refusal_report(path: Path | str, error: Error) -> LoadReport:
    """Return the report of a file that was refused with this error."""
    return LoadReport(file=readable(path), format="", error=readable(" ".join(str(error).split())))


def measures_path(triples_to: Path) -> Path:
    """Return where the measures met in a file are written, beside its triples.

    >>> measures_path(Path("a/data.nt.zst")).name
    'data.measures.nt.zst'
    """
    return triples_to.with_name(triples_to.name.removesuffix(".zst").removesuffix(".nt") + ".measures.nt.zst")


def format_named(format: str) -> Format:
    """Return the format of that name, or of the mapping in the file of that name."""
    if not format.endswith(".toml"):
        return FORMATS[format]
    from remix.formats.mapping.definition import format_at

    return format_at(Path(format))


def answers_in(format: Format) -> Format:
    """Return the format of the answers that files of a format of gold hold, itself where they hold none.

    >>> answers_in(FORMATS["chatel-json"]).name, answers_in(FORMATS["zelda-jsonl"]).name
    ('chatel-answers', 'zelda-jsonl')
    """
    return FORMATS.first(lambda one: one.mapping is not None and one.mapping.answers_of == format.name) or format


def _sniff(source: SourceFile) -> Format:
    if source.is_collection:
        return _sniff_collection(source)
    head = begin_of(source.head)
    name = Path(str(source.path)).name
    # No two formats take the same file.
    found = FORMATS.first(lambda one: one.sniff(head, name))
    if found is None:
        from remix.formats.mapping.definition import resemblance

        shown = "`remix list formats` shows those that are known, docs/formats.md how to write a mapping for another"
        like = resemblance(FORMATS, head)
        raise BadInput(source.name, f"is in no known format{like}; {shown}")
    return found


def _sniff_collection(source: SourceFile) -> Format:
    known = [one for one in FORMATS if one.collection]
    for name, content in source.members.items():
        for one in known:
            if one.sniff(begin_of(content), Path(name).name):
                _refuse_others(source, one, Path(name))
                return one
    formats = ", ".join(one.name for one in known)
    folder = Path(source.path).is_dir()
    asked = "is a folder; name the files in it" if folder else "is an archive; unpack it and name the files of it"
    raise BadInput(source.name, f"{asked}: none is of a format that has several ({formats})")


def _refuse_others(source: SourceFile, chosen: Format, first: Path) -> None:
    """Raise `BadInput` where the files of a format stand below one part of a folder, and others in the rest of it."""
    if len(first.parts) == 1:
        return
    rest = ((name, content) for name, content in source.members.items() if Path(name).parts[0] != first.parts[0])
    for name, content in rest:
        head = begin_of(content)
        other = next((one for one in FORMATS if one is not chosen and one.sniff(head, Path(name).name)), None)
        if other is not None:
            raise BadInput(
                source.name,
                f"holds {chosen.name} in {first.parts[0]} and {other.name} in {name}: name the folders and files that "
                "are to be loaded, one by one",
            )


def refuse_defects(file: str, repairs: Iterable[Repair]) -> None:
    """Raise `BadInput` where something had to be repaired; what is told and is no defect passes."""
    defects = [repair for repair in repairs if repair.kind not in NOTED]
    if defects:
        kinds = ", ".join(f"{repair.kind} ({repair.count})" for repair in defects)
        raise BadInput(file, f"would need repair: {kinds}; first: {defects[0].example}")


def _without_annotations(frames: Frames) -> str:
    if frames.documents.is_empty():
        return "has neither a document nor an annotation: a header or brackets alone"
    return f"has {frames.documents.height} documents but no annotation"


def _missing(frames: Frames) -> Iterator[Repair]:
    """Yield what the frames have none of."""
    if frames.annotations.is_empty():
        yield Repair("no-annotation", 1, f"the file {_without_annotations(frames)}")
    elif frames.links.is_empty():
        count = frames.annotations.height
        yield Repair("no-link", count, f"not one of the file's {count} annotations has a link, so that all are NIL")


def _write_triples(source: SourceFile, found: Contents, path: Path) -> int:
    missing = found.frames.documents.filter(pl.col("text").is_null())["given"]
    if len(missing):
        reason = f"has no text for {missing[0]}" + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
        raise BadInput(source.name, f"{reason}: `remix convert --text` puts texts and annotations together")
    if found.write is not None:
        return found.write(path, measures_path(path))
    from remix.formats.nif.writing import write_triples

    return write_triples(found.frames, path, measures_path(path), says=said_terms())


SIZES = ("documents", "annotations", "mentions", "alternatives", "optional", "dangling")
"""The numbers of a report that say how large a dataset is, in every verb by these names."""


def sizes_of(frames: Frames) -> dict[str, int]:
    """Return the counts of a report, by their names (see `LoadReport`).

    >>> rows = pl.DataFrame({"annotation": ["a", "b", "c"], "group": ["g", "g", "h"], "is_nil": [True, False, True]})
    >>> [sizes_of(Frames.of(annotations=rows))[name] for name in ("annotations", "mentions", "alternatives")]
    [3, 2, 1]
    """
    gold, nil, group = pl.col("ignorable").is_null(), pl.col("is_nil"), pl.col("group")
    texts = frames.documents.drop_nulls("text")["document"]
    counts: dict[str, int] = frames.annotations.select(
        annotations=gold.sum(),
        nil=(gold & nil).sum(),
        mentions=group.filter(gold).n_unique(),
        mentions_linked=group.filter(gold & ~nil).n_unique(),
        optional=group.filter(pl.col("ignorable") == "optional").n_unique(),
        dangling=(gold & ~pl.col("document").is_in(texts.implode())).sum(),
    ).row(0, named=True)
    return counts | {
        "documents": frames.documents.height,
        "linked": counts["annotations"] - counts["nil"],
        "mentions_nil": counts["mentions"] - counts["mentions_linked"],
        "alternatives": counts["annotations"] - counts["mentions"],
    }


def _content(source: SourceFile) -> str:
    if source.is_collection:
        return hash_files(source.members)
    digest = hashlib.sha256()
    with source.open() as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
