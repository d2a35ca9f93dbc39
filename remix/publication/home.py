"""The home page of a folder with published datasets: what each is, its card, figures and files, without a server."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from remix import catalog
from remix.formats import sizes_of
from remix.measures import MEASURES
from remix.measures.labels import label_of
from remix.places import SUMS
from remix.publication.card import mark_sections, read_sections
from remix.publication.description import Publication
from remix.publication.figures import PublishedFigure, averages_of
from remix.reports.statistics import choose_average, side_by_side
from remix.signature import content_hash
from remix.web.folder import render_folder, render_section
from remix.web.page import Code, Drawing, Note, Page, Shown, Table

HOME, ONTOLOGY = "index.html", "ontology.html"
_SAID = {
    ".parquet": "a document a row, with its mentions",
    ".manifest.ttl": "what it was made from (PROV-O)",
    ".dcat.ttl": "description for catalogues (DCAT, VoID)",
    ".dataid.ttl": "description as GERBIL reads it (DataID)",
    ".croissant.json": "description for machine learning (Croissant, schema.org)",
    ".svg": "figure",
}
_SHARED = {
    "README.md": "the card, as Hugging Face reads it",
    "CITATION.cff": "how to cite what is here, as GitHub and Zotero read it",
    SUMS: "checksums of all files",
    ONTOLOGY: "what the terms of the measures mean",
}
_TYPES = {"persons": "typePerson", "organisations": "typeOrganisation", "places": "typePlace"}


def write_home(about: Publication, file: Path, drawn: Sequence[PublishedFigure]) -> bytes:
    """Return `index.html` of a folder, with a section for this dataset and those that the file has for others.

    `drawn` are the figures, whose files are among those that are published.
    """
    name = about.entry.name
    figures = [Drawing(one.name, one.figure, one.words) for one in drawn]
    blocks: list[Shown] = [*_tell(about), _list_facts(about), *figures, _list_files(about), *_tell_use(about)]
    page = Page(about.title, [*blocks, *_list_measures(about)])
    saved = {one.name: {said: _address(part) for said, part in one.sheets(name).items()} for one in drawn}
    sections = mark_sections(read_sections(file) | {name: f"{render_section(page, name, saved).strip()}\n"})
    title = about.title if len(sections) == 1 else f"{', '.join(sections)}: datasets for entity linking"
    contents = {one: one for one in sections} if len(sections) > 1 else {}
    shared = render_section(Page("This folder", _list_shared()), ":folder")
    return render_folder(title, [*sections.values(), shared], {**contents, ":folder": "This folder"}).encode()


def _address(file: str) -> str:
    """Return the address of a file beside the page."""
    return f"./{quote(file)}"


def _tell(about: Publication) -> list[Shown]:
    """Return what the dataset is, in sentences that are made of its numbers."""
    sizes, known = sizes_of(about.frames), averages_of(about)
    micro = dict(known.filter(average="micro").select("measure", "value").iter_rows())
    said = f"{sizes['documents']:,} documents with {sizes['mentions']:,} mentions"
    entities = about.frames.links["entity"].n_unique()
    said += f" of {entities:,} entities" if entities else ""
    languages = about.languages
    said += f", in {len(languages)} languages ({', '.join(languages)})." if len(languages) > 1 else "."
    if reading := micro.get("ambiguitySurfaceForm"):
        said += f" A name may mean {reading:,.1f} entities in the mean."
    types = {what: micro[one] for what, one in _TYPES.items() if micro.get(one)}
    if types:
        order = sorted(types, key=lambda one: (-types[one], one))
        said += f" Of the linked annotations {_join([f'{_percent(types[one])} are {one}' for one in order])}."
    if "pagerankSegmentHead" in micro:
        head, tail = (_percent(micro.get(f"pagerankSegment{part}", 0)) for part in ("Head", "Tail"))
        said += f" {head} of annotations mean an entity of the most prominent tenth of the knowledge base, {tail} one"
        said += " of its tail"
        unknown = micro.get("pagerankSegmentUnspecified", 0)
        said += f", {_percent(unknown)} none whose prominence is known." if round(100 * unknown) else "."
    own = [Note(about.said)] if about.said else []
    return [*own, Note(said)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _join(parts: Sequence[str]) -> str:
    """Return parts as people list them.

    >>> _join(["a"]), _join(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _list_facts(about: Publication) -> Table:
    """Return the card: licence, origin, citation and counts, with what each leads to."""
    sizes = sizes_of(about.frames)
    words = int(about.frames.documents["words"].fill_null(0).sum())
    counts = {"documents": sizes["documents"], "words": words, "mentions": sizes["mentions"]}
    counts |= {"annotations": sizes["annotations"], "of which linked": sizes["linked"], "of which NIL": sizes["nil"]}
    counts |= {"entities": about.frames.links["entity"].n_unique(), "triples": about.triples.height}
    rows = [("licence", one) for one in about.licences] + [
        ("licence of what it is made of", one) for one in about.rights
    ]
    rows += [("made by", one) for one in about.creators] + [("source", one) for one in about.sources]
    rows += [("cite as", about.citation)] if about.citation else []
    rows += [("languages", ", ".join(about.languages))] if about.languages else []
    rows += [(what, f"{count:,}") for what, count in counts.items()]
    rows += [("identifier", about.entry.iri), ("content hash", about.entry.content)]
    if about.entry.enrichment:
        rows.append(("measured by", about.entry.enrichment))
    table = pl.DataFrame(rows, schema={"what": pl.String, "value": pl.String}, orient="row")
    return Table("card", table, {"value": _lead})


def _lead(row: Mapping[str, Any]) -> str:
    """Return the address that a value of the card is, empty where it is none that a browser may follow."""
    value = str(row["value"])
    return value if value.startswith(("http://", "https://")) and not any(map(str.isspace, value)) else ""


def _list_files(about: Publication) -> Table:
    """Return the files of the dataset with their sizes and checksums."""
    ends = sorted(_SAID, key=len, reverse=True)
    said = [_SAID[next(end for end in ends if name.endswith(end))] for name in about.files if name != about.data]
    table = pl.DataFrame(
        {
            "file": [*about.files],
            "size": [_spell_size(len(content)) for content in about.files.values()],
            "what it is": ["NIF with the measures of mentions, documents and the dataset", *said],
            "checksum": [f"SHA-256 {content_hash(content)}" for content in about.files.values()],
        }
    )
    small = {"file": "size", "what it is": "checksum"}
    return Table("downloads", table, {"file": lambda row: _address(row["file"])}, small=small)


def _spell_size(count: int) -> str:
    """Return a number of bytes as people write it.

    >>> _spell_size(12), _spell_size(34567), _spell_size(8_900_000)
    ('12 B', '34.6 kB', '8.9 MB')
    """
    return f"{count} B" if count < 1000 else f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def _tell_use(about: Publication) -> list[Shown]:
    """Return how the dataset is loaded, and how it is cited."""
    name, data = about.entry.name, shlex.quote(about.data)
    lines = ["# in this folder"] if about.url is None else [f"curl -O {shlex.quote(str(about.place(about.data)))}"]
    lines += [f"remix load {data}", f"remix stats {name}", f"sha256sum -c {SUMS}"]
    lines += ["", "# in Python", "import polars", f'documents = polars.read_parquet("{name}.parquet")']
    used: list[Shown] = [Code("load it", "\n".join(lines))]
    cited = "\n".join(dict.fromkeys(catalog.bibtex(one) for one in about.origins if one.citation))
    if cited:
        used.append(Code("cite it", cited))
    elif about.creators:
        used.append(Code("cite it", f"{', '.join(about.creators)}: {about.title}. {about.url or about.entry.iri}"))
    return used


def _list_measures(about: Publication) -> list[Shown]:
    """Return all measures of the dataset that its file has, by their readable names, those of data in small letters."""
    rows = choose_average(averages_of(about), "micro")
    if rows.is_empty():
        return []
    terms = rows.select("measure", "average", term=pl.col("term").str.replace(r"^.*:", ""))
    told = [
        (summary.name, label_of(summary.name, of_statistics=True).words, summary.meaning.partition(";")[0])
        for one in MEASURES
        for summary in one.summaries
    ]
    means = pl.DataFrame(told, schema=["measure", "called", "says"], orient="row").unique("measure", keep="first")
    table = side_by_side(rows).join(means, on="measure", how="left", maintain_order="left")
    table = table.join(terms, on=["measure", "average"], how="left", maintain_order="left")
    mean = pl.when(pl.col("average") == "macro").then(pl.lit(", mean of documents")).otherwise(pl.lit(""))
    shown = table.select(
        measure=pl.coalesce("called", "measure") + mean, value=about.entry.name, name="term", says="says"
    )
    words = "Pooled over all annotations, where nothing else is said."
    formulas = Note("The formula of each is in", links={"the ontology": _address(ONTOLOGY)})
    return [Table("measures", shown, words=words, small={"measure": "name"}), formulas]


def _list_shared() -> list[Shown]:
    """Return the files that all datasets of the folder share."""
    table = pl.DataFrame({"file": [*_SHARED], "what it is": [*_SHARED.values()]})
    return [
        Note("The files of all datasets here. They can be put on any host as they stand."),
        Table("shared files", table, {"file": lambda row: _address(row["file"])}),
    ]
