"""The findings of all rules in datasets, one row a rule or one row a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from remix import catalog
from remix.checks.copies import count_shared, find_similar
from remix.checks.declaration import FINDINGS, RULES, SEVERITIES, Rule, Subject
from remix.checks.shapes import find_violations
from remix.errors import BadInput, Error
from remix.expressions import fill
from remix.files import readable
from remix.formats import Repair, read, refusal_report
from remix.formats.nif.scoping import ScopedTriples, revise, unscope
from remix.formats.nif.writing import write_terms
from remix.frames import Frames
from remix.frames_folder import FramesFolder, is_frames_folder
from remix.kb import KnowledgeBase
from remix.locks import holding
from remix.rdf.ntriples import columns
from remix.store import DatasetEntry, Store

__all__ = ["Checked", "check", "read_checked", "share"]

SUMMARY = {"file": pl.String, "severity": pl.String, "rule": pl.String, "count": pl.Int64, "example": pl.String}
_UNKNOWN = Rule("", "error", "Something is not as the format asks.", "Loading mends it; its example says what.")


@dataclass(frozen=True)
class Checked:
    """A dataset as it was read for a check: what it is called, what it has, what its reader mended or refused.

    `export` writes the file with other frames and all else that it says (see `remix.formats.Contents`).
    """

    file: str
    frames: Frames
    repairs: tuple[Repair, ...]
    export: Callable[[Path, Frames], None] | None = None


@holding
def read_checked(store: Store, files: Iterable[str], *, format: str | None = None) -> list[Checked]:
    """Return files, catalogue entries or loaded datasets as they are checked, also those that are refused.

    Raises the error of a file that is named alone and is not there.
    """
    listed = list(files)
    return [one for file in listed for one in _read(store, file, format, alone=len(listed) == 1)]


def check(
    datasets: Sequence[Checked],
    *,
    kb: KnowledgeBase | None = None,
    rules: Sequence[str] = (),
    each: bool = False,
    shacl: bool = False,
) -> pl.DataFrame:
    """Return what rules, by default all, find: file, severity, rule, count and example of each that finds something.

    With `each` a row is one finding: file, severity, rule, document, annotation, begin, end, surface_form, what. What
    a reader mended is one row a kind there, too, as it keeps one example, and blocks of shifted offsets are a row each.
    Rows stand in the order of the files and of severity. `shacl` holds the datasets against the shapes of NIF, too (see
    `find_violations`). Raises `UnknownName` for a rule that does not exist.
    """
    chosen = [RULES[name] for name in rules] or list(RULES)
    found = [_rows(one, chosen, kb, shacl=shacl) for one in datasets]
    rows = pl.concat([part for parts in found for part in parts] or [_label(_no_findings(), "", _UNKNOWN, "")])
    if each:
        return rows.drop("times")
    counted = rows.group_by("file", "severity", "rule", maintain_order=True).agg(
        count=pl.col("times").sum(), example=pl.col("what").first()
    )
    return counted.select([pl.col(name).cast(kind) for name, kind in SUMMARY.items()])


def _rows(one: Checked, rules: Sequence[Rule], kb: KnowledgeBase | None, *, shacl: bool) -> Iterator[pl.DataFrame]:
    subject = Subject(one.frames, kb)
    known = {rule.name: rule for rule in rules}
    found: list[tuple[Rule, pl.DataFrame]] = []
    for repair in one.repairs:
        rule = known.get(repair.kind) or (None if repair.kind in RULES else _UNKNOWN)
        if rule is not None:
            told = pl.DataFrame(repair.examples(), schema={"what": pl.String, "times": pl.Int64}, orient="row")
            rows = pl.concat([_no_findings(), told], how="diagonal")
            found.append((rule if rule.name else Rule(repair.kind, rule.severity, rule.summary, rule.fix), rows))
    for rule in rules:
        if rule.find is not None and (kb is not None or not rule.needs_kb):
            found.append((rule, rule.find(subject).with_columns(times=pl.lit(1, pl.Int64))))
    if shacl:
        found.append((RULES["shacl"], find_violations(one.file, one.frames).with_columns(times=pl.lit(1, pl.Int64))))
    found.sort(key=lambda pair: (SEVERITIES.index(pair[0].severity), pair[0].name))
    for rule, rows in found:
        yield _label(rows, one.file, rule, rule.name)


def _no_findings() -> pl.DataFrame:
    return pl.DataFrame(schema={**FINDINGS, "times": pl.Int64()})


def _label(rows: pl.DataFrame, file: str, rule: Rule, name: str) -> pl.DataFrame:
    labels = [pl.lit(readable(file)).alias("file"), pl.lit(rule.severity).alias("severity"), pl.lit(name).alias("rule")]
    return rows.select(*labels, *FINDINGS, "times")


def _read(store: Store, file: str, format: str | None, *, alone: bool) -> list[Checked]:
    try:
        if file in store.state.datasets:
            report = store.report(file)
            said = report["repairs"]
            assert isinstance(said, list)
            other = tuple(odd for known in catalog.find(file) for odd in catalog.count_differences(known, report))
            frames = store.frames([file])
            export = _export_loaded(store, store.dataset(file), frames) if report["format"] == "nif" and alone else None
            return [Checked(file, frames, (*(Repair(**one) for one in said), *other), export)]
        if is_frames_folder(file):
            folder = FramesFolder.open(file)
            return [Checked(file, folder.read(range(folder.parts)), ())]
        found = [_read_file(file, path, known, format) for path, known in catalog.local(file)]
        # Of many files not all that they say is kept in memory.
        return found if alone else [replace(one, export=None) for one in found]
    except Error as error:
        # What is wrong with one of several files must not hide what there is in the others.
        if alone and not isinstance(error, BadInput):
            raise
        return [Checked(file, Frames.empty(), (Repair("refused", 1, refusal_report(file, error).error or ""),))]


def _export_loaded(store: Store, entry: DatasetEntry, frames: Frames) -> Callable[[Path, Frames], None]:
    """Return what writes a loaded dataset with other frames and all else that its file said, but for measures."""

    def export(path: Path, corrected: Frames) -> None:
        data = columns(store.triples(f"{entry.folder}/data.nt.zst"))
        whole = revise(ScopedTriples(data, data.clear()), frames, corrected)
        write_terms(unscope(whole, frames.documents, frames, entry.iri), path)

    return export


def _read_file(file: str, path: str, known: catalog.Entry | None, format: str | None) -> Checked:
    """Return a file, or what the catalogue knows, with what it counts otherwise."""
    if known is None:
        reading = read(path, format=format)
        return Checked(file, reading.frames, reading.report.repairs, reading.export)
    reading = read(path, name=known.loaded_name, format=format or known.format or None)
    other = catalog.count_differences(known, asdict(reading.report))
    return Checked(known.name, reading.frames, (*reading.report.repairs, *other), reading.export)


def share(datasets: Sequence[Checked]) -> pl.DataFrame:
    """Return what each pair of datasets has in common, a row a pair.

    The columns are dataset, other, `texts` (equal ones), `similar_texts` (nearly the same, see `find_similar`),
    `entities` and `forms` (distinct ones), `share` (of equal and similar texts in the smaller of both) and `relation`:
    `editions` of one dataset, if they share half of the texts or more, `leakage` below. Who trains on one and tests on
    the other has seen what is asked.
    """
    texts = [one.frames.documents.filter(pl.col("text") != "").unique("text", maintain_order=True) for one in datasets]
    keyed = pl.concat(
        [
            rows.select(fill("{} {}", pl.lit(n), "document").alias("document"), "text", side=pl.lit(n))
            for n, rows in enumerate(texts)
        ]
        or [pl.DataFrame(schema={"document": pl.String, "text": pl.String, "side": pl.Int32})]
    )
    sides = keyed.select("document", "side")
    pairs = find_similar(keyed.select("document", "text")).join(sides, on="document")
    pairs = pairs.join(sides.rename({"document": "other", "side": "other_side"}), on="other")
    equal_texts = _count_by_pair(texts, "text")
    entities = _count_by_pair([one.frames.links for one in datasets], "entity")
    forms = _count_by_pair([one.frames.annotations for one in datasets], "surface_form")
    rows = []
    for n, one in enumerate(datasets):
        for m, other in enumerate(datasets[:n]):
            equal = equal_texts[n, m]
            near = pairs.filter((pl.col("side") == n) & (pl.col("other_side") == m), pl.col("similarity") < 1)
            similar = near["document"].n_unique()
            smaller = min(texts[n].height, texts[m].height)
            part = (equal + similar) / smaller if smaller else 0.0
            relation = "editions" if part >= 0.5 else "leakage" if part else ""
            rows.append(
                {
                    "dataset": other.file,
                    "other": one.file,
                    "texts": equal,
                    "similar_texts": similar,
                    "entities": entities[n, m],
                    "forms": forms[n, m],
                    "share": min(part, 1.0),
                    "relation": relation,
                }
            )
    return pl.DataFrame(rows, schema=SHARED)


SHARED = {
    "dataset": pl.String,
    "other": pl.String,
    "texts": pl.Int64,
    "similar_texts": pl.Int64,
    "entities": pl.Int64,
    "forms": pl.Int64,
    "share": pl.Float64,
    "relation": pl.String,
}


def _count_by_pair(parts: Sequence[pl.DataFrame], column: str) -> dict[tuple[int, int], int]:
    """Return how many values of a column two parts have in common, by the numbers of both."""
    items = [rows.select(dataset=pl.lit(n), item=column) for n, rows in enumerate(parts)]
    found = count_shared(pl.concat(items)) if items else pl.DataFrame(schema=["dataset", "other", "count"])
    counts = {(n, m): count for n, m, count in found.select("dataset", "other", "count").iter_rows()}
    return {(n, m): counts.get((n, m), 0) for n in range(len(parts)) for m in range(len(parts))}
