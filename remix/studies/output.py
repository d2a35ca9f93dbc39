"""What a study writes: tables and figures in the formats of papers, a report, its results as data, and its manifest."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from remix import progress
from remix.errors import Error, UsageError
from remix.paper import typeset
from remix.places import folder_written, refuse_file_name
from remix.reports import plots
from remix.reports.figures import Figure
from remix.signature import content_hash
from remix.studies.exhibit import EXHIBITS, Exhibit, Sentence, Shown, ShownFigure, ShownTable
from remix.studies.manifest import MANIFEST, StudyManifest
from remix.studies.results import Results
from remix.studies.shelf import StepShelf, key_of

REPORT = "report.html"
DATA = ("targets", "systems", "composition", "measures", "parts", "scores", "differences")
"""The tables of results that are written as they are, so that numbers can be held against each other."""


@dataclass(frozen=True)
class ExhibitParts:
    """An exhibit with what it shows of a study."""

    exhibit: Exhibit
    shown: tuple[Shown, ...]


def exhibits_named(names: Sequence[str]) -> list[Exhibit]:
    """Return the exhibits of these names, by default all, in their order; raises `UnknownName`."""
    chosen = [EXHIBITS[name] for name in names] if names else [*EXHIBITS]
    return sorted(chosen, key=lambda one: (one.place, one.name))


def show(results: Results, names: Sequence[str] = ()) -> list[ExhibitParts]:
    """Return what the exhibits of these names show, without those that have nothing to show."""
    parts = [ExhibitParts(one, tuple(one.show(results))) for one in exhibits_named(names)]
    return [part for part in parts if part.shown]


def check_folder(to: Path, study: str) -> StudyManifest | None:
    """Return the manifest of a folder that a study of this name was written into, None where there is no folder yet.

    Raises `UsageError` for a folder of something else, of another study, and for one that holds what is not of it.
    """
    refuse_file_name(to)
    if not to.exists() or (to.is_dir() and not any(to.iterdir())):
        return None
    if not (to / MANIFEST).is_file():
        raise UsageError(f"{to} holds other things than a study: --to names a folder that is new, or a study's own")
    held = StudyManifest.read(to / MANIFEST)
    if held.definition.get("name") != study:
        raise UsageError(
            f"{to} holds the study '{held.definition.get('name')}', not '{study}': --to names another folder"
        )
    known = {*held.files, MANIFEST}
    others = sorted(file.relative_to(to).as_posix() for file in to.rglob("*") if file.is_file())
    if foreign := [name for name in others if name not in known]:
        raise UsageError(f"{to / foreign[0]} is not of the study, and would be lost: move it, or name another folder")
    return held


def is_written(to: Path, held: StudyManifest | None, now: StudyManifest) -> bool:
    """Return whether a folder holds what would be written: of the same signature, and as it was written."""
    if held is None or held.signature != now.signature:
        return False
    with suppress(OSError):
        return all(content_hash(to / name) == known for name, known in held.files.items())
    return False


Draw: TypeAlias = Callable[[Figure], bytes]
"""Returns a figure as PDF."""


def draw_kept(shelf: StepShelf) -> Draw:
    """Return what draws a figure that is not on the shelf yet: by all that it says, and by the code that draws."""

    def draw(figure: Figure) -> bytes:
        if not plots.can_draw():
            return _draw(figure)
        said = json.dumps(asdict(figure), sort_keys=True, default=_plain)
        key = key_of("figure", {"figure": content_hash(said), "code": _drawing_hash()})
        if not shelf.has("figure", key):
            with shelf.writing("figure", key, figure.title) as place:
                (place / "figure.pdf").write_bytes(_draw(figure))
        return shelf.find("figure", key, "figure.pdf").read_bytes()

    return draw


def _plain(value: Any) -> list[Any]:
    """Return an array, a column or another sequence as a list."""
    return [*value.tolist()] if hasattr(value, "tolist") else [*value]


@cache
def _drawing_hash() -> str:
    """Return the hash of the code that draws, and of the fonts that are here."""
    from matplotlib.font_manager import get_font_names

    libraries = [f"{name} {version(name)}\n" for name in ("matplotlib", "fonttools", "numpy")]
    return content_hash(*sorted(Path(plots.__file__).parent.glob("*.py")), *libraries, *sorted(get_font_names()))


def _draw(figure: Figure) -> bytes:
    (content,) = plots.render(figure, ".pdf", "page")
    return content


def write(
    to: Path,
    results: Results,
    parts: Sequence[ExhibitParts],
    manifest: StudyManifest,
    title: str,
    draw: Draw = _draw,
) -> StudyManifest:
    """Return the manifest of what was written: the folder as a whole, or nothing. Raises `Error` where it cannot be."""
    with folder_written(to, sealed=False) as aside:
        for name, content in files_of(results, parts, title, draw):
            place = aside / name
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
        files = {
            file.relative_to(aside).as_posix(): content_hash(file)
            for file in sorted(aside.rglob("*"))
            if file.is_file()
        }
        whole = replace(manifest, files=files)
        (aside / MANIFEST).write_text(whole.as_json(), encoding="utf-8")
    return whole


def files_of(
    results: Results, parts: Sequence[ExhibitParts], title: str, draw: Draw = _draw
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file; what cannot be drawn as PDF without an extra is told and left out."""
    drawn = True
    for part in parts:
        for one in part.shown:
            if isinstance(one, ShownTable):
                yield from _table_files(one)
            elif isinstance(one, ShownFigure):
                for nth, content in enumerate(plots.render(one.figure, ".svg", "page")):
                    yield f"figures/{one.name}{f'-{nth + 1}' if nth else ''}.svg", content
                if drawn and (whole := _as_pdf(one, draw)) is not None:
                    yield f"figures/{one.name}.pdf", whole
                else:
                    drawn = False
    words = [one for part in parts for one in part.shown if isinstance(one, Sentence)]
    if words:
        yield "words.md", "".join(f"{one.text}\n\n" for one in words).encode()
    for name in DATA:
        stream = io.BytesIO()
        getattr(results, name).write_parquet(stream)
        yield f"results/{name}.parquet", stream.getvalue()
    yield REPORT, report_of(parts, title).encode()


def _table_files(one: ShownTable) -> Iterator[tuple[str, bytes]]:
    notes = "".join(f"\n{note}\n" for note in one.notes)
    yield (
        f"tables/{one.name}.md",
        f"{typeset(one.frame, 'md', replace(one.how, caption=''))}\n\n{one.title}\n{notes}".encode(),
    )
    how = replace(one.how, caption=one.how.caption or one.title, label=one.how.label or f"tab:{one.name}")
    yield f"tables/{one.name}.tex", f"{typeset(one.frame, 'latex', how)}\n".encode()
    yield f"tables/{one.name}.csv", _flat(one.frame).write_csv().encode()
    stream = io.BytesIO()
    one.frame.write_parquet(stream)
    yield f"tables/{one.name}.parquet", stream.getvalue()


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with lists as texts, as CSV has none."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join("; ") for name in nested)


def _as_pdf(one: ShownFigure, draw: Draw) -> bytes | None:
    try:
        return draw(one.figure)
    except Error as error:
        progress.note(f"figures are written as SVG alone: {error}")
        return None


def report_of(parts: Sequence[ExhibitParts], title: str) -> str:
    """Return the report: all that is shown, in one file of HTML that needs no server."""
    from remix.web.page import Drawing, Note, Page, Typeset
    from remix.web.page import Shown as Block
    from remix.web.rendering import render_file

    def block(one: Shown) -> Block:
        if isinstance(one, ShownTable):
            return Typeset(one.title, one.frame, replace(one.how, caption=""), notes=one.notes)
        if isinstance(one, ShownFigure):
            return Drawing(one.title, one.figure, " ".join(one.notes))
        return Note(one.text)

    pages = [Page(part.exhibit.title, [block(one) for one in part.shown]) for part in parts]
    return render_file(title, pages)


def sections_of_study(folder: Path, name: str) -> tuple[str, str]:
    """Return the title of a study that a folder holds, and the sections of its report, whose ids begin with `name`.

    Raises `UsageError` for a folder of something else, and for a report that is not as the study has written it.
    """
    from remix.web.rendering import sections_of

    place = folder.parent if folder.name == MANIFEST else folder
    if not (place / MANIFEST).is_file():
        raise UsageError(
            f"{place} is no folder of a study, which has a {MANIFEST}: `remix study STUDY.toml --to {place}` writes one"
        )
    held, file = StudyManifest.read(place / MANIFEST), place / REPORT
    known = held.files.get(REPORT)
    if known is None or not file.is_file() or content_hash(file) != known:
        raise UsageError(
            f"{file} is not as the study has written it: `remix study STUDY.toml --to {place}` writes it again"
        )
    text = file.read_text(encoding="utf-8")
    return str(held.definition.get("title") or f"Study: {held.definition.get('name')}"), sections_of(text, name)


def named_results(to: Path, names: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Return the tables of results that a folder holds, by name, of the files that its manifest names."""
    return {
        name: pl.read_parquet(to / f"results/{name}.parquet") for name in DATA if f"results/{name}.parquet" in names
    }
