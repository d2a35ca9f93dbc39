"""From one format to another: what was found and mended on the way in, what is lost on the way out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from remix.errors import BadInput, UsageError
from remix.files import default_name, write_whole
from remix.formats import FORMATS, MISSING, LoadedFile, LoadReport, Loss, Repair, read, write
from remix.formats.identifiers import document_names
from remix.formats.offsets import cut_spans
from remix.frames import Frames, words
from remix.frames_folder import finish, under_way, write_part
from remix.tables import Printed

FRAMES = "frames"
"""What the folder of Parquet files is called that frames are kept in."""
_BY_SUFFIX = {".ttl": "nif", ".nt": "nif"}
SYNTAXES = {"ttl": ".ttl", "nt": ".nt", "nif": ".ttl"}
"""The syntaxes of NIF for targets whose name tells none, such as `/dev/stdout`; Turtle unless another is asked for."""


@dataclass(frozen=True, repr=False)
class Conversion(Printed):
    """What a conversion did: the report of reading, the format that was written, what it cannot hold."""

    report: LoadReport
    format: str
    losses: tuple[Loss, ...]

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return what this is in one line, and the table that is shown of it."""
        return f"{self.report.documents} documents written as {self.format}; mended or lost:", self.table()

    def table(self) -> pl.DataFrame:
        """Return one row per thing that was mended, is missing or lost: what, kind, count, example."""
        rows = [
            ("missing" if one.kind in MISSING else "repaired", one.kind, one.count, one.example)
            for one in self.report.repairs
        ]
        rows += [("lost", one.kind, one.count, one.example) for one in self.losses]
        return pl.DataFrame(rows, schema=["what", "kind", "count", "example"], orient="row", strict=False)


def convert(
    source: Path | str,
    target: Path,
    *,
    to: str | None = None,
    format: str | None = None,
    name: str | None = None,
    texts: Path | None = None,
) -> Conversion:
    """Return what was mended and lost in writing the documents and annotations of a file in another format.

    `to` is by default what the target's suffix speaks for, `format` that of the source what it is sniffed as. NIF has
    two names more, by its syntax: 'ttl' and 'nt'; 'frames' is a folder of Parquet files. `texts` is a file of any
    format that has the texts which the source lacks.

    Raises `UsageError` where the format to be written is not clear, only read, or lacks texts, `BadInput` for a
    source that cannot be read, `Error` for a target that cannot be written; then nothing is written.
    """
    to = to or format_by_suffix(target)
    if (suffix := SYNTAXES.get(to)) and target.suffix != suffix and not (to == "nif" and target.suffix):
        with TemporaryDirectory(prefix="remix-") as place:
            aside = Path(place) / f"{default_name(target)}{suffix}"
            done = convert(source, aside, to="nif", format=format, name=name, texts=texts)
            with write_whole(target) as stream:
                stream.write(aside.read_bytes())
        return done
    to = "nif" if to in SYNTAXES else to
    if not target.name or target.resolve() == Path(source).resolve():
        raise UsageError(f"{target} is what is converted: name another file")
    reading = read(source, name=name, format=format, unannotated=True)
    frames, report = reading.frames, reading.report
    if texts is None and to == report.format and reading.export is not None:
        # Also what frames have no column for.
        reading.export(target, None)
        return Conversion(report, to, ())
    if texts is not None:
        frames, repairs = with_texts(frames, read(texts, unannotated=True).frames, texts)
        report = replace(report, repairs=(*report.repairs, *repairs))
    if to == FRAMES:
        _write_folder(frames, replace(reading, report=report), target)
        return Conversion(report, to, reading.unheld)
    return Conversion(report, to, (*reading.unheld, *write(frames, target, to)))


def _write_folder(frames: Frames, reading: LoadedFile, target: Path) -> None:
    """Write frames as a folder of Parquet files (see `remix.frames_folder`), which `stats` and others take."""
    inputs = [{"file": reading.report.file, "content": reading.content}]
    about = {"name": reading.name, "iri": reading.iri, "parts": 1, "inputs": inputs}
    with under_way(target, {"inputs": inputs}) as place:
        write_part(place, 0, frames)
        finish(place, target, about | reading.report.describe())


def format_by_suffix(target: Path) -> str:
    """Return the format that a file's suffix speaks for; raises `UsageError` where it is not clear."""
    fitting = formats_by_suffix(target)
    if len(fitting) != 1:
        fitting = fitting or [*(one.name for one in FORMATS if one.write is not None), *SYNTAXES][:-1]
        raise UsageError(f"{target} may be of several formats: name one with --to ({', '.join(fitting)})")
    return fitting[0]


def formats_by_suffix(target: Path) -> list[str]:
    """Return the formats, of those that are written, that a file's suffix speaks for.

    >>> formats_by_suffix(Path("a.ttl")), formats_by_suffix(Path("a.docx"))
    (['nif'], [])
    """
    if chosen := _BY_SUFFIX.get(target.suffix):
        return [chosen]
    writing = (one for one in FORMATS if one.write is not None)
    return [one.name for one in writing if any(target.name.endswith(suffix) for suffix in one.suffixes)]


def with_texts(frames: Frames, texts: Frames, file: Path | str = "") -> tuple[Frames, tuple[Repair, ...]]:
    """Return the frames with the texts of documents of the same IRI, or given IRI, or name; and what did not fit.

    Surface forms are cut out of the texts. Annotations that lie outside their text are left out and told.

    Raises `BadInput` where a document that has no text has none there either.
    """
    documents = frames.documents
    bare = documents.filter(pl.col("text").is_null())
    found = _find_texts(bare, texts.documents)
    missing = bare.filter(~pl.col("document").is_in(found["document"].implode()))["given"]
    if len(missing):
        known = ", ".join(texts.documents["given"].fill_null("?").head(3))
        raise BadInput(
            file, f"has no text for {len(missing)} of {len(bare)} documents, such as {missing[0]}; has {known}, …"
        )
    filled = documents.join(found, on="document", how="left", maintain_order="left").with_columns(
        text=pl.coalesce("text", "found"), language=pl.coalesce("language", "spoken")
    )
    filled = filled.with_columns(words=words(pl.col("text"))).select(documents.columns)
    rows = frames.annotations.join(filled.select("document", "text"), on="document", how="left", maintain_order="left")
    outside = rows.filter((pl.col("end") > pl.col("text").str.len_chars()).fill_null(False))
    rows = rows.with_columns(surface_form=cut_spans(rows, "document")).select(frames.annotations.columns)
    whole = replace(frames, documents=filled, annotations=rows)
    if outside.is_empty():
        return whole, ()
    row = outside.row(0, named=True)
    example = f"{row['document']}: {row['begin']},{row['end']} lies outside the text of {len(row['text'])} characters"
    inside = rows.filter(~pl.col("annotation").is_in(outside["annotation"].implode()))["annotation"]
    return whole.keep(annotations=inside), (Repair("range", outside.height, example),)


def _find_texts(bare: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the texts of the documents: document, found (the text), spoken (its language)."""
    known = texts.drop_nulls("text").with_columns(part=document_names(texts.drop_nulls("text")["document"]))
    wanted = bare.with_columns(part=document_names(bare["document"]), whole=pl.coalesce("given", "document"))
    parts = []
    for ours, theirs in (("whole", "given"), ("whole", "document"), ("part", "part")):
        once = known.filter(pl.col(theirs).is_unique())
        met = wanted.join(once.select(pl.col(theirs).alias(ours), found="text", spoken="language"), on=ours)
        parts.append(met.select("document", "found", "spoken"))
    return pl.concat(parts).unique("document", keep="first", maintain_order=True)
