"""The findings of all rules in datasets, one row a rule or one row a finding, or as SARIF, which editors show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix import catalog, resources
from remix._version import __version__
from remix.checks import FINDINGS, RULES, SEVERITIES, Rule, Subject
from remix.checks.copies import count_shared, find_similar
from remix.errors import BadInput, Error, UnknownName
from remix.expressions import fill
from remix.files import read_bytes, readable
from remix.formats import Repair, read, refusal_report
from remix.formats.nif.parsing import uncompressed_suffix
from remix.formats.nif.scoping import ScopedTriples, revise, unscope
from remix.formats.nif.writing import triples_of, write_terms
from remix.frames import Frames
from remix.frames_folder import FramesFolder, is_frames_folder
from remix.kb import KnowledgeBase
from remix.rdf.ntriples import columns
from remix.schemas import fit
from remix.store import DatasetEntry, Store, in_one_state

SUMMARY = {"file": pl.String, "severity": pl.String, "rule": pl.String, "count": pl.Int64, "example": pl.String}
_TIMES: dict[str, pl.DataType] = {**FINDINGS, "times": pl.Int64()}
"""Findings, and how many each row stands for."""
_UNKNOWN = Rule("", "error", "Something is not as the format asks.", "Loading mends it; its example says what.")
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True)
class Checked:
    """A dataset as it was read for a check: what it is called, what it has, what its reader mended or refused.

    `export` writes the file with other frames and all else that it says (see `remix.formats.Contents`), `format` is
    what it is written in.
    """

    file: str
    frames: Frames
    repairs: tuple[Repair, ...]
    export: Callable[[Path, Frames | None], None] | None = None
    format: str = ""


@in_one_state
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

    With `each` a row is one finding: file, severity, rule, document, annotation, begin, end, surface_form, what; what a
    reader mended is among them, and of what it counts alone, or more than 10,000 times, a row says how many times.
    Rows stand in the order of the files and of severity. `shacl` holds the datasets against the shapes of NIF, too (see
    `find_violations`). Raises `UnknownName` for a rule that does not exist.
    """
    chosen = [RULES[name] for name in rules] or list(RULES)
    none = _label(pl.DataFrame(schema=_TIMES), "", _UNKNOWN)
    rows = pl.concat([none, *(part for dataset in datasets for part in _rows(dataset, chosen, kb, shacl=shacl))])
    if each:
        often = pl.when(pl.col("times") > 1).then(fill("{} ({} times)", "what", "times")).otherwise("what")
        return rows.with_columns(what=often).drop("times")
    counted = rows.group_by("file", "severity", "rule", maintain_order=True).agg(
        count=pl.col("times").sum(), example=pl.col("what").first()
    )
    return counted.select([pl.col(name).cast(kind) for name, kind in SUMMARY.items()])


def _rows(dataset: Checked, rules: Sequence[Rule], kb: KnowledgeBase | None, *, shacl: bool) -> Iterator[pl.DataFrame]:
    subject = Subject(dataset.frames, kb)
    known = {rule.name: rule for rule in rules}
    found: list[tuple[Rule, pl.DataFrame]] = []
    for repair in dataset.repairs:
        rule = known.get(repair.kind) if repair.kind in RULES else replace(_UNKNOWN, name=repair.kind)
        if rule is not None:
            found.append((rule, pl.DataFrame(repair.examples(), schema=["what", "times"], orient="row")))
    for rule in rules:
        if rule.find is not None and (kb is not None or not rule.needs_kb):
            found.append((rule, rule.find(subject).with_columns(times=1)))
    if shacl:
        found.append((RULES["shacl"], find_violations(dataset.file, dataset.frames).with_columns(times=1)))
    found.sort(key=lambda pair: (SEVERITIES.index(pair[0].severity), pair[0].name))
    for rule, rows in found:
        yield _label(rows, dataset.file, rule)


def _label(rows: pl.DataFrame, file: str, rule: Rule) -> pl.DataFrame:
    labels = {"file": readable(file), "severity": rule.severity, "rule": rule.name}
    return fit(rows, _TIMES).select(*(pl.lit(value).alias(name) for name, value in labels.items()), pl.all())


def _read(store: Store, file: str, format: str | None, *, alone: bool) -> list[Checked]:
    try:
        _refuse_unknown(store, file)
        if file in store.state.datasets:
            report = store.report(file)
            said = report["repairs"]
            assert isinstance(said, list)
            known = catalog.recognise(file, store.dataset(file).source)
            other = () if known is None else catalog.count_differences(known, report)
            frames = store.frames([file])
            export = _export_loaded(store, store.dataset(file), frames) if report["format"] == "nif" and alone else None
            return [Checked(file, frames, (*(Repair(**one) for one in said), *other), export, str(report["format"]))]
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


def _refuse_unknown(store: Store, file: str) -> None:
    """Raise `UnknownName` for what is no dataset, no name of the catalogue, and no file, as its name tells."""
    named = "/" not in file and "." not in file and file != "-"
    if named and file not in store.state.datasets and not Path(file).exists() and not catalog.find(file):
        raise UnknownName("dataset", file, [*store.state.datasets, *catalog.names()], "remix list datasets")


def refuse_unread(checked: Iterable[Checked]) -> None:
    """Raise `BadInput` for the first of what was read that was refused."""
    for one in checked:
        if refusal := next((repair for repair in one.repairs if repair.kind == "refused"), None):
            raise BadInput(one.file, refusal.example.removeprefix(f"{one.file}: "))


def _export_loaded(store: Store, entry: DatasetEntry, frames: Frames) -> Callable[[Path, Frames | None], None]:
    """Return what writes a loaded dataset with other frames and all else that its file said, but for measures."""

    def export(path: Path, corrected: Frames | None) -> None:
        data = columns(store.triples(f"{entry.folder}/data.nt.zst"))
        whole = ScopedTriples(data, data.clear())
        whole = revise(whole, frames, corrected) if corrected else whole
        given = corrected or frames
        write_terms(unscope(whole, given.documents, given, entry.iri, corrected=corrected is not None), path)

    return export


def _read_file(file: str, path: str, entry: catalog.Entry | None, format: str | None) -> Checked:
    """Return a file, or what the catalogue knows, with what it counts otherwise."""
    if entry is None:
        reading = read(path, format=format)
        return Checked(file, reading.frames, reading.report.repairs, reading.export, reading.report.format)
    reading = read(path, name=entry.loaded_name, format=format or entry.format or None)
    other = catalog.count_differences(entry, asdict(reading.report))
    return Checked(entry.name, reading.frames, (*reading.report.repairs, *other), reading.export, reading.report.format)


def find_violations(file: str, frames: Frames) -> pl.DataFrame:
    """Return where a dataset does not have the shapes that NIF has (SHACL, `ontology/shapes.ttl`), as findings.

    A file of RDF is taken as it stands, without what loading mends; of all else the NIF that remix makes of it. Needs
    the extra `shacl`; raises `Error` without it.
    """
    try:
        import rdflib
        from pyshacl import validate
    except ImportError:
        raise Error("shapes need pyshacl: pip install 'nel-remix[shacl]'") from None
    data, shapes = rdflib.Graph(), rdflib.Graph()
    data.parse(data=_triples(file, frames).decode(), format="nt")
    shapes.parse(resources.folder("ontology") / "shapes.ttl")
    _, report, _ = validate(data, shacl_graph=shapes)
    shacl = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    rows = [
        (str(report.value(one, shacl.focusNode)), str(report.value(one, shacl.resultMessage)))
        for one in report.subjects(rdflib.RDF.type, shacl.ValidationResult)
    ]
    found = pl.DataFrame(sorted(set(rows)), schema={"annotation": pl.String, "message": pl.String}, orient="row")
    return fit(found.with_columns(what=fill("{}: {}", "annotation", "message")), FINDINGS)


def _triples(file: str, frames: Frames) -> bytes:
    path = Path(file)
    form = ox.RdfFormat.from_extension(uncompressed_suffix(path.name).removeprefix(".")) if path.is_file() else None
    if form is None:
        return b"".join(triples_of(frames))
    quads = ox.parse(read_bytes(path), format=form, base_iri="urn:remix:relative:", lenient=True)
    try:
        return ox.serialize((quad.triple for quad in quads), format=ox.RdfFormat.N_TRIPLES) or b""
    except SyntaxError:
        return b"".join(triples_of(frames))  # what makes it no RDF is told by the other rules


def to_sarif(findings: pl.DataFrame) -> str:
    """Return the findings (`check` with `each`) as a SARIF log with one run.

    A finding's place is its file and, as the text is no line of it, the annotation or document by its name.
    """
    told = findings["rule"].unique(maintain_order=True).to_list()
    rules = [
        {"id": rule.name, "shortDescription": {"text": rule.summary}, "help": {"text": rule.fix}}
        for rule in RULES
        if rule.name in told
    ]
    results = [_result(row) for row in findings.iter_rows(named=True)]
    driver = {"name": "remix", "version": __version__, "rules": rules}
    log = {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, ensure_ascii=False, indent=1)


def _result(row: dict[str, object]) -> dict[str, object]:
    place: dict[str, object] = {"physicalLocation": {"artifactLocation": {"uri": row["file"]}}}
    if name := row["annotation"] or row["document"]:
        place["logicalLocations"] = [{"fullyQualifiedName": name}]
    message = {"text": row["what"] or row["rule"]}
    return {"ruleId": row["rule"], "level": row["severity"], "message": message, "locations": [place]}


def share(datasets: Sequence[Checked]) -> pl.DataFrame:
    """Return what each pair of datasets has in common, a row a pair.

    The columns are dataset, other, `texts` (equal ones), `similar_texts` (nearly the same, see `find_similar`),
    `entities` and `forms` (distinct ones), `share` (of equal and similar texts in the smaller of both) and `relation`:
    `editions` of one dataset, if they share half of the texts or more, `leakage` below. Who trains on one and tests on
    the other has seen what is asked. Raises `BadInput` for one that could not be read.
    """
    refuse_unread(datasets)
    texts = [one.frames.documents.filter(pl.col("text") != "").unique("text", maintain_order=True) for one in datasets]
    names = [
        rows.select(fill("{} {}", pl.lit(n), "document").alias("document"), "text") for n, rows in enumerate(texts)
    ]
    similar = find_similar(pl.concat([pl.DataFrame(schema={"document": pl.String, "text": pl.String}), *names]))
    sides = (
        pl.col(name).str.extract("^([0-9]+) ", 1).cast(pl.Int64).alias(f"{name}_of") for name in ("document", "other")
    )
    pairs = similar.filter(pl.col("similarity") < 1).select("document", *sides)
    equal_texts = _count_by_pair(texts, "text")
    entities = _count_by_pair([one.frames.links for one in datasets], "entity")
    forms = _count_by_pair([one.frames.annotations for one in datasets], "surface_form")
    rows = []
    for n, one in enumerate(datasets):
        for m, other in enumerate(datasets[:n]):
            equal, near = equal_texts[n, m], pairs.filter(document_of=n, other_of=m)["document"].n_unique()
            smaller = min(texts[n].height, texts[m].height)
            part = (equal + near) / smaller if smaller else 0.0
            relation = "editions" if part >= 0.5 else "leakage" if part else ""
            shared = (equal, near, entities[n, m], forms[n, m])
            rows.append((other.file, one.file, *shared, min(part, 1.0), relation))
    return pl.DataFrame(rows, schema=SHARED, orient="row")


_COUNTS = dict.fromkeys(("texts", "similar_texts", "entities", "forms"), pl.Int64)
SHARED = {"dataset": pl.String, "other": pl.String, **_COUNTS, "share": pl.Float64, "relation": pl.String}


def _count_by_pair(parts: Sequence[pl.DataFrame], column: str) -> dict[tuple[int, int], int]:
    """Return how many values of a column two parts have in common, by the numbers of both."""
    items = [rows.select(dataset=pl.lit(n), item=column) for n, rows in enumerate(parts)]
    found = count_shared(pl.concat(items)) if items else pl.DataFrame(schema=["dataset", "other", "count"])
    counts = {(n, m): count for n, m, count in found.select("dataset", "other", "count").iter_rows()}
    return {(n, m): counts.get((n, m), 0) for n in range(len(parts)) for m in range(len(parts))}
