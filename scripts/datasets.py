"""Writes the generated part of docs/datasets.md: what the datasets of the catalogue that are at hand are made of.

    python scripts/datasets.py FOLDER

FOLDER has files of the catalogue under whatever names, plain or compressed with gzip; they are known by their hashes.
What stands above the mark in the page is written by hand and stays. Nothing of a dataset's texts is quoted.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from tabulate import tabulate

import remix
from remix import catalog
from remix.catalog import Entry, folder_hash
from remix.checks import RULES
from remix.checks.findings import read_checked, share
from remix.files import write_whole

CHECKOUT = Path(__file__).resolve().parent.parent
MARK = "<!-- What follows is written by scripts/datasets.py. -->\n"
MEASURES = ("number-of-annotations", "density", "text", "nil", "overlap", "repetition", "form", "name-relation")
"""Measures that need no knowledge base: what they say does not depend on which one is attached."""


def at_hand(folder: Path) -> list[Entry]:
    """Return the entries whose files are below a folder, which are copied into the cache."""
    by_hash: dict[str, list[Entry]] = {}
    for one in catalog.entries().values():
        by_hash.setdefault(one.sha256, []).append(one)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        for bytes_ in (content, gzip.decompress(content)) if file.suffix == ".gz" else (content,):
            for one in by_hash.get(hashlib.sha256(bytes_).hexdigest(), ()):
                one.place.parent.mkdir(parents=True, exist_ok=True)
                one.place.write_bytes(bytes_)
    for one in catalog.entries().values():
        for place in folder.rglob(Path(one.member).name) if one.member else ():
            if place.is_dir() and not one.is_here() and folder_hash(place) == one.sha256:
                shutil.copytree(place, one.place)
        for needed in one.beside if one.is_here() else ():
            for place in folder.rglob("/".join(Path(needed).parts[-3:])):
                shutil.copytree(place, catalog.cache_folder() / one.sha256[:12] / needed, dirs_exist_ok=True)
    return [one for one in catalog.entries().values() if one.path is None and one.is_here()]


def measured(workspace: remix.Workspace, names: list[str]) -> dict[str, dict[str, float]]:
    """Return the measures of each dataset by `name average`."""
    rows = workspace.stats(names, measure=MEASURES, average="all").rows
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for dataset, measure, average, value in rows.select("dataset", "measure", "average", "value").iter_rows():
        found[dataset][f"{measure} {average}"] = value
    return found


def paragraph(known: Entry, of: Mapping[str, float], report: Mapping[str, Any]) -> str:
    """Return what a dataset is made of in plain words."""
    documents, mentions, linked = (report[name] for name in ("documents", "mentions", "mentions_linked"))
    words = of.get("numWords macro") or 0
    text = f"{documents:,} texts of {words:,.0f} words on average, {mentions:,} mentions, "
    text += f"{100 * of.get('density micro', 0):.1f} on a hundred words. "
    if linked == mentions:
        text += "Every mention has an entity"
    elif not linked:
        text += "No mention has an entity: the links are withheld"
    else:
        text += f"{linked:,} have an entity, {percent(1 - linked / mentions)} have none (NIL)"
    if linked:
        text += f"; {of['entitiesPerAnnotation count']:,.0f} different ones, so that "
        text += f"{percent(1 - of['entitiesPerAnnotation micro'])} of the links lead to one that was met before. "
        if (names := of.get("nameRelationFull micro")) is not None:
            text += f"{percent(names)} of the linked mentions are written as the name of their entity. "
    else:
        text += ". "
    nested = 1 - of.get("overlapNone micro", 1)
    text += f"{percent(nested)} of the mentions overlap with another. " if nested > 0 else ""
    return f"{text}{percent(of.get('formMultiword micro', 0))} have several words."


def percent(share: float) -> str:
    """Return a share in per cent; what is there at all is never 0 %."""
    return "less than 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def section(known: Entry, of: Mapping[str, float], report: Mapping[str, Any], problems: pl.DataFrame) -> str:
    """Return what there is to say of one dataset."""
    found = ", ".join(f"{rule} {count:,}" for rule, count in problems.select("rule", "count").iter_rows())
    facts = {
        "from": f"{', '.join(known.language)}; {', '.join(known.kb)}; {known.format}; licence: {known.licence}",
        "its catalogue entry says": "; ".join(known.issues) or "nothing wrong with it",
        "`remix check` finds": found or "nothing",
    }
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"### {known.name}\n\n{known.title}. {paragraph(known, of, report)}\n\n{listed}\n"


def overview(known: Mapping[str, Entry], of: Mapping[str, Mapping[str, float]], reports: Mapping[str, Any]) -> str:
    """Return the table of all datasets."""
    rows = []
    for name, one in known.items():
        report, found = reports[name], of[name]
        nil = report["mentions_nil"] / report["mentions"] if report["mentions"] else 0
        rows.append(
            [
                one.name,
                ", ".join(one.language),
                f"{report['documents']:,}",
                f"{found.get('numWords macro') or 0:,.0f}",
                f"{report['mentions']:,}",
                f"{100 * found.get('density micro', 0):.1f}",
                percent(nil),
                f"{found.get('entitiesPerAnnotation count', 0):,.0f}",
                percent(1 - found.get("overlapNone micro", 1)),
            ]
        )
    heads = ["dataset", "language", "texts", "words a text", "mentions", "on 100 words"]
    heads += ["NIL", "entities", "overlapping"]
    return tabulate(rows, heads, "github", disable_numparse=True, colalign=("left", "left", *["right"] * 7))


def in_general(of: Mapping[str, Mapping[str, float]], reports: Mapping[str, Any]) -> str:
    """Return what holds of many datasets, counted."""

    def values(term: str) -> pl.Series:
        return pl.Series([one[term] for one in of.values() if one.get(term) is not None], dtype=pl.Float64)

    words, density = values("numWords macro"), values("density micro")
    nil = pl.Series([one["mentions_nil"] / one["mentions"] for one in reports.values() if one["mentions"]])
    distinct, names, several = (
        values("entitiesPerAnnotation micro"),
        values("nameRelationFull micro"),
        values("formMultiword micro"),
    )
    flat = pl.Series([one.get("overlapNone micro", 1.0) for one in of.values()])
    mentions = sum(one["mentions"] for one in reports.values())
    lines = [
        f"They have {sum(one['documents'] for one in reports.values()):,} texts with {mentions:,} mentions.",
        f"*Texts are short*: in {(words < 40).sum()} of {len(words)} a text has fewer than 40 words on average "
        f"(questions, queries, posts, single sentences), in {(words > 300).sum()} more than 300.",
        f"*How much is annotated differs by a factor of {density.quantile(0.9) / density.quantile(0.1):.0f}*: from "
        f"{100 * density.quantile(0.1):.1f} mentions on a hundred words (a tenth have fewer) to "
        f"{100 * density.quantile(0.9):.1f} (a tenth have more). A score on one says little about another.",
        f"*NIL is rare or half of all*: {(nil == 0).sum()} have no mention without an entity, in {(nil > 0.3).sum()} "
        "it is more than 30 %.",
        f"*Entities return*: in the median {percent(1 - float(distinct.median()))} of the links lead to an entity that "
        "the dataset had before.",
        f"*Names are often titles*: in the median {percent(float(names.median()))} of the linked mentions are written "
        f"as the name of their entity (of {len(names)} whose links are titles), and "
        f"{percent(float(several.median()))} of the mentions have several words.",
        f"*Nesting is a matter of style*: {(flat == 1).sum()} have no overlapping mentions, in {(flat < 0.75).sum()} "
        "more than a quarter of the mentions overlap.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def problems_in_general(checked: pl.DataFrame) -> str:
    """Return the rules by how many datasets they find something in."""
    counted = checked.group_by("rule", "severity").agg(datasets=pl.len(), times=pl.col("count").sum())
    rows = [
        [rule, severity, datasets, f"{times:,}", RULES[rule].summary if rule in RULES else ""]
        for rule, severity, datasets, times in counted.sort("datasets", "rule", descending=[True, False]).iter_rows()
    ]
    return tabulate(rows, ["found", "severity", "datasets", "times", "that is"], "github", disable_numparse=True)


def shared_texts(workspace: remix.Workspace, names: Iterable[str], known: Mapping[str, Entry]) -> str:
    """Return the pairs of datasets that have texts in common."""
    pairs = share(read_checked(workspace.store, names)).filter(pl.col("relation") != "")
    rows = [
        [
            known[one["dataset"]].name,
            known[one["other"]].name,
            one["texts"],
            one["similar_texts"],
            percent(one["share"]),
        ]
        for one in pairs.sort("share", descending=True).to_dicts()
    ]
    heads = ["dataset", "and", "equal texts", "similar texts", "of the smaller"]
    return tabulate(rows, heads, "github", disable_numparse=True)


def page(folder: Path) -> str:
    """Return the generated part of the page."""
    found = at_hand(folder)
    with tempfile.TemporaryDirectory() as place:
        workspace = remix.open(Path(place) / "workspace")
        # What has no text is refused, and of masked words nothing can be said.
        whole = {
            one.name
            for one in workspace.load([one.name for one in found])
            if one.status != "refused" and "masked" not in [repair.kind for repair in one.report.repairs]
        }
        known = {one.loaded_name: one for one in found if one.loaded_name in whole}
        left = [one.name for one in found if one.loaded_name not in known]
        names = list(known)
        of = measured(workspace, names)
        reports = {name: workspace.store.report(name) for name in names}
        checked = workspace.check(names)
        shared = shared_texts(workspace, names, known)
    sections = [
        section(known[n], of[n], reports[n], checked.filter(pl.col("file") == n).select("severity", "rule", "count"))
        for n in names
    ]
    unread = f"\nNot among them, as they have no texts or masked ones: {', '.join(left)}.\n" if left else ""
    return f"""
## What the field's benchmarks are made of

Counted in {len(names)} datasets and splits, of {len(catalog.entries())} that the catalogue knows.

{in_general(of, reports)}
{unread}
{overview(known, of, reports)}

## What is wrong with them

`remix check` finds, in so many of the {len(names)}:

{problems_in_general(checked)}

## Which have texts in common

Who trains on one and tests on the other has seen what is asked; a mean over both counts the same texts twice.

{shared}

## One by one

{chr(10).join(sections)}"""


def main(arguments: list[str]) -> None:
    """Write the page of the checkout anew."""
    target = CHECKOUT / "docs" / "datasets.md"
    head = target.read_text(encoding="utf-8").partition(MARK)[0]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["REMIX_CACHE"] = cache
        text = page(Path(arguments[0]))
    with write_whole(target) as stream:
        stream.write(f"{head}{MARK}{text}".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
