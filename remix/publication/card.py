"""The card of a folder with published datasets: README with the measures and a plot, and how to cite it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from remix import tables
from remix._version import __version__
from remix.names import HFTS, RMX
from remix.publication.description import Publication
from remix.reports.figures import Axis, Figure, Panel, Series
from remix.reports.svg import draw

_MESSAGE = "Please cite this dataset as below."
_SECTION = r"(?s)<!-- remix: ([^ ]+) -->\n(.*?)<!-- end of \1 -->\n"


def _measures(about: Publication) -> pl.DataFrame:
    """Return measure and value of the dataset's own measures, by their terms: sizes, and micro averages of the rest."""
    own = about.triples.filter(
        pl.col("subject") == f"<{about.entry.iri}>", pl.col("predicate").str.contains(f"^<(?:{HFTS}|{RMX})")
    )
    rows = own.select(
        measure=pl.col("predicate").str.extract(r"[#/]([^#/>]+)>$"),
        value=pl.col("object").str.extract(r'^"([-+.0-9eE]+)"').cast(pl.Float64, strict=False),
    )
    rows = rows.drop_nulls().unique("measure", keep="first", maintain_order=True).sort("measure")
    other = r"^(?:macro|distinct)[A-Z]|(?:Count|Pooled|Unspecified)$"
    return rows.filter(~pl.col("measure").str.contains(other))


def draw_measures(about: Publication) -> bytes:
    """Return a plot of the measures that are shares as SVG, nothing where there are none."""
    shares = _measures(about).filter(pl.col("value").is_between(0, 1), pl.col("value") > 0)
    if shares.is_empty():
        return b""
    bars = Series("", shares["measure"].to_list(), shares["value"].to_list())
    panel = Panel("", "bars", [bars], y=Axis("share of its annotations", limits=(0, 1)), lying=True)
    return draw(Figure(f"The measures of {about.entry.name} that are shares", [panel]), paper=True).encode()


def write_card(about: Publication, file: Path, *, plot: bool) -> bytes:
    """Return the README of a folder, with a section for this dataset and those that the file has for others.

    Its head is what Hugging Face reads: one configuration a dataset, of its table.
    """
    sections = read_sections(file) | {about.entry.name: _section(about, plot=plot)}
    configs = [
        {"config_name": name, "data_files": [{"split": "test", "path": f"{name}.parquet"}]} for name in sorted(sections)
    ]
    head: dict[str, object] = {
        "configs": configs,
        "tags": ["entity-linking"],
        "task_categories": ["token-classification"],
    }
    if about.languages:
        head["language"] = about.languages
    if about.licences:
        head |= {"license": "other", "license_link": about.licences[0]}
    text = f"---\n{yaml.safe_dump(head, sort_keys=True)}---\n\n"
    return (text + "".join(mark_sections(sections).values())).encode()


def read_sections(file: Path) -> dict[str, str]:
    """Return the sections of datasets that a card of ours has, by their names; none of a file that is not there."""
    there = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return dict(re.findall(_SECTION, there))


def mark_sections(sections: Mapping[str, str]) -> dict[str, str]:
    """Return sections in the order of their names, each between the marks by which `read_sections` finds it."""
    return {
        name: f"<!-- remix: {name} -->\n{section}<!-- end of {name} -->\n" for name, section in sorted(sections.items())
    }


def _section(about: Publication, *, plot: bool) -> str:
    name, rows = about.entry.name, _measures(about)
    lines = [f"# {about.title}", "", about.description, ""]
    lines += [f"- `{about.data}`: NIF with the measures of each mention, document and of the dataset"]
    lines += [f"- `{name}.parquet`: a document a row, with its mentions"]
    lines += [f"- `{name}.manifest.ttl`: what it was made from, in PROV-O"]
    lines += [f"- `{name}.dcat.ttl`, `{name}.dataid.ttl`, `{name}.croissant.json`: descriptions for machines"]
    lines += ["- `index.html`: all of this as a page, with figures; `ontology.html`: what the terms mean", ""]
    lines += [line for one in about.licences for line in (f"Licence: <{one}>", "")]
    if about.rights:
        lines += ["Licences of what it was made of:", "", *(f"- {one}" for one in about.rights), ""]
    if about.creators:
        lines += [f"By {', '.join(about.creators)}", ""]
    if about.sources:
        lines += ["Source:", "", *(f"- <{one}>" if "://" in one else f"- {one}" for one in about.sources), ""]
    if about.citation:
        lines += ["Cite as:", "", f"> {about.citation}", ""]
    if rows.height:
        lines += ["## Measures", "", tables.render(rows, "md"), ""]
    if plot:
        lines += [f"![The measures of {name} that are shares]({name}.svg)", ""]
    lines += [f"Made with remix {__version__}.", ""]
    return "\n".join(lines)


def write_citation(about: Publication, file: Path) -> bytes:
    """Return `CITATION.cff` of a folder, in the Citation File Format 1.2.0: this dataset, and those that the file has.

    Several are its references, in the order of their IRIs, whichever was published last.
    """
    names = about.creators or (f"The authors of {about.title}",)
    said: dict[str, Any] = {
        "type": "dataset",
        "title": about.title,
        "authors": [{"name": name} for name in names],
        "abstract": about.description,
        "identifiers": [{"type": "other", "value": about.entry.iri}],
    }
    addresses = [one for one in about.sources if "://" in one]
    said |= {"url": about.url} if about.url is not None else {}
    said |= {"license-url": about.licences[0]} if about.licences else {}
    said |= {"repository-artifact": addresses[0]} if len(addresses) == 1 else {}
    said |= {"notes": about.citation} if about.citation else {}
    cited = _read_citation(file) | {about.entry.iri: said}
    every = [cited[iri] for iri in sorted(cited)]
    head: dict[str, Any] = {"cff-version": "1.2.0"}
    if len(every) == 1:
        message = said.pop("notes", _MESSAGE)
        head |= {"message": message, **said}
    else:
        authors = {author["name"]: author for one in every for author in one["authors"]}
        head["message"] = "Please cite the datasets that you use as their references say."
        head["title"] = "; ".join(one["title"] for one in every)
        head |= {"authors": [authors[name] for name in sorted(authors)], "references": every}
    return yaml.safe_dump(head, sort_keys=False, allow_unicode=True).encode()


def _read_citation(file: Path) -> dict[str, dict[str, Any]]:
    """Return the datasets that a `CITATION.cff` of ours has, by their IRIs; of what is none, nothing."""
    try:
        there = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    if not isinstance(there, dict):
        return {}
    alone = {key: value for key, value in there.items() if key not in ("cff-version", "message")}
    alone |= {"notes": there["message"]} if there.get("message", _MESSAGE) != _MESSAGE else {}
    listed = there.get("references") or [alone]
    return {one["identifiers"][0]["value"]: one for one in listed if _is_ours(one)} if isinstance(listed, list) else {}


def _is_ours(reference: object) -> bool:
    """Return whether it is the citation of a dataset as `write_citation` writes it."""
    match reference:
        case {"title": str(), "authors": [*authors], "identifiers": [{"type": "other", "value": str()}]}:
            return all(isinstance(author, dict) and isinstance(author.get("name"), str) for author in authors)
    return False
