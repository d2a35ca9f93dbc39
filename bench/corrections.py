"""Whether `remix check --fix` loses anything: every real file that has findings is corrected and held against itself.

    python bench/corrections.py [FILE...] [--only WORD]

The files are those of the folder that REMIX_REAL_DATA names. Each that is read is corrected into Turtle. Texts,
mentions, links and triples must be those of before, but for what the list of changes says; what is found afterwards
must have been found before, and what rules mend must be gone. Prints a line for each file where that is not so, and the
sums.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pyoxigraph as ox

from remix.checks.correction import correct
from remix.errors import Error
from remix.formats import LoadedFile, read
from remix.formats.identifiers import given_iris
from remix.workspace import Workspace

CHECKOUT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("REMIX_REAL_DATA", CHECKOUT.parent / "shared" / "data")).resolve()
PLACE = ["document", "layer", "ignorable", "begin", "end"]
GROUPS = ("group", "option")
REPLACED = ("beginIndex", "endIndex", "anchorOf", "taIdentRef", *GROUPS)


def main() -> None:
    """Correct all files, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", default="", help="only files with this word in their path")
    chosen = parser.parse_args()
    files = chosen.files or sorted(file for file in DATA.rglob("*") if file.is_file() and chosen.only in str(file))
    sums: Counter[str] = Counter()
    for file in files:
        began = time.perf_counter()
        told = correct_file(file, sums)
        for line in told or ():
            print(f"{file.relative_to(DATA) if file.is_relative_to(DATA) else file}: {line}", flush=True)
        sums["files with deviations"] += bool(told)
        if time.perf_counter() - began > 60:
            print(f"({file.name}: {time.perf_counter() - began:.0f} s)", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sums.items()))
    sys.exit(bool(sums["files with deviations"]))


def correct_file(file: Path, sums: Counter[str]) -> list[str]:
    """Return what is lost, or found anew, where a file is corrected; nothing of a file that is not read."""
    with tempfile.TemporaryDirectory() as place:
        work, fixed = Workspace(Path(place) / ".remix"), Path(place) / "fixed.ttl"
        try:
            before = read(file)
            found = work.check([file], each=True)
        except Error:
            return []
        if found.is_empty() or before.frames.documents["text"].has_nulls():
            return []
        changes = work.check([file], fix=fixed)
        after, left = read(fixed, unannotated=True), work.check([fixed], each=True)
        counts = {"files": 1, "findings": found.height, "changes": changes.height, "findings left": left.height}
        sums.update(counts)
        rules = changes.filter(pl.col("source") == "remix check", pl.col("change") != "fragment")
        told = [*lost_in_frames(before, after, rules), *found_anew(found, left, before, rules), *left_to_mend(after)]
        if before.export is not None:
            whole = Path(place) / "whole.ttl"
            before.export(whole, None)
            names = changes.filter(source="remix check", change="fragment")["what"].to_list()
            told += lost_triples(whole, fixed, before, rules, names)
        return told


def spans_of(found: LoadedFile) -> pl.DataFrame:
    """Return annotation, group, place, links and whether it is NIL; documents are called by their texts."""
    frames = found.frames
    texts = frames.documents.select("document", text="text")
    links = frames.links.group_by("annotation").agg(links=pl.col("entity").unique().sort().str.join(" "))
    rows = frames.annotations.join(texts, on="document", how="left", maintain_order="left")
    rows = rows.join(links, on="annotation", how="left", maintain_order="left").with_columns(document="text")
    return rows.select("annotation", "group", *PLACE, "links", "is_nil")


def lost_in_frames(before: LoadedFile, after: LoadedFile, rules: pl.DataFrame) -> list[str]:
    """Return what texts, mentions and links are otherwise than they were and than rules changed them."""
    told = []
    lost, came = differences(*(one.frames.documents["text"].to_list() for one in (before, after)))
    if lost or came:
        told.append(f"texts: {sum(lost.values())} lost, {sum(came.values())} new")
    removed = rules.filter(pl.col("new_begin").is_null())
    if set(removed["change"]) - {"repeated-annotation"}:
        told.append(f"annotations removed by {set(removed['change'])}")
    was, now = spans_of(before), spans_of(after)
    changed = rules.drop_nulls("new_begin").unique("annotation", keep="last", maintain_order=True)
    changed = changed.select("annotation", "new_begin", "new_end")
    was = was.join(changed, on="annotation", how="left", maintain_order="left").with_columns(
        begin=pl.coalesce("new_begin", "begin"), end=pl.coalesce("new_end", "end")
    )
    # A repeat says what another says, so that as many of both stay, and all else.
    gone = pl.col("annotation").is_in(removed["annotation"].implode())
    repeats, was = was.filter(gone), was.filter(~gone)
    alone = repeats.join(was, on=[*PLACE, "links"], how="anti", nulls_equal=True)
    if alone.height:
        told.append(f"{alone.height} repeats of nothing, such as {alone['annotation'][0]}")
    if was["group"].n_unique() != now["group"].n_unique():
        told.append(f"mentions: {was['group'].n_unique()} stay, {now['group'].n_unique()} are there")
    relinked = rules.filter(change="redirect").height
    lost, came = differences(*(one.select(*PLACE, "links", "is_nil").rows() for one in (was, now)))
    if sum(lost.values()) > relinked or sum(came.values()) > relinked:
        first = next(iter({**lost, **came}))
        told.append(f"annotations: {sum(lost.values())} lost, {sum(came.values())} new, such as {str(first[1:])[:200]}")
    return told


def differences(before: list[Any], after: list[Any]) -> tuple[Counter[Any], Counter[Any]]:
    """Return what is there no more, and what is new, with how often."""
    return Counter(before) - Counter(after), Counter(after) - Counter(before)


def found_anew(found: pl.DataFrame, left: pl.DataFrame, before: LoadedFile, rules: pl.DataFrame) -> list[str]:
    """Return the findings that were not there before, place by place, and those that rules were to mend."""
    home = before.frames.annotations.select("annotation", "document")
    moved = rules.filter((pl.col("begin") != pl.col("new_begin")) | (pl.col("end") != pl.col("new_end")))
    moved = moved.drop("document").join(home, on="annotation")
    moved = moved.select("document", "begin", "end", "new_begin", "new_end").unique(["document", "begin", "end"])
    was = found.join(moved, on=["document", "begin", "end"], how="left", maintain_order="left")
    was = was.with_columns(begin=pl.coalesce("new_begin", "begin"), end=pl.coalesce("new_end", "end"))
    # Which of two texts that are alike is told depends on their order, which files of RDF do not have.
    pair = pl.col("rule").is_in(["equal-text", "similar-text"])
    part = pl.when(~pair).then(pl.col("document").str.extract(r"([^/]+)$"))
    _, new = differences(*(one.select("rule", part, "begin", "end").rows() for one in (was, left)))
    told = [f"found anew: {str(key)[:200]} ({count})" for key, count in list(new.items())[:3]]
    told += [f"{len(new)} findings are new"] if len(new) > 3 else []
    return told


def left_to_mend(after: LoadedFile) -> list[str]:
    """Return what the rules would mend in what they have mended."""
    again = correct(after.frames)[1].group_by("change").len()
    return [f"{change}: {count} are left" for change, count in again.rows()]


def lost_triples(whole: Path, fixed: Path, before: LoadedFile, rules: pl.DataFrame, names: Iterable[str]) -> list[str]:
    """Return the triples that were lost, or came, and say nothing of what rules changed."""
    called = dict(name.removesuffix(", as its offsets are").split(" is called ") for name in names)
    iris = dict(given_iris(before.frames).select("scoped", "exported").rows())
    subjects = {iris[one] for one in rules["annotation"]}
    subjects |= {called[one] for one in subjects if one in called}
    removed = {iris[one] for one in rules.filter(pl.col("new_begin").is_null())["annotation"]}
    was = {tuple(called.get(term, term) for term in triple) for triple in triples_of(whole)}
    now = triples_of(fixed)
    told = []
    for what, triples in (("lost", was - now), ("new", now - was)):
        odd = {one for one in triples if one[0] not in removed}
        # Where an annotation comes to stand beside others, these say which mention is theirs.
        odd = {one for one in odd if one[1].rsplit("#")[-1] not in (REPLACED if one[0] in subjects else GROUPS)}
        if odd:
            told.append(f"{len(odd)} triples are {what}, such as {str(min(odd))[:300]}")
    return told


def triples_of(path: Path) -> set[tuple[str, ...]]:
    """Return the triples of a file, blank nodes all called alike."""
    parsed = ox.parse(path.read_bytes(), format=ox.RdfFormat.TURTLE, lenient=True)
    return {tuple(_spell(term) for term in (one.subject, one.predicate, one.object)) for one in parsed}


def _spell(term: object) -> str:
    return term.value if isinstance(term, ox.NamedNode) else "_" if isinstance(term, ox.BlankNode) else str(term)


if __name__ == "__main__":
    main()
