"""Time of scoring, as whole processes: as many answers as gold annotations, from Parquet and from JSON Lines.

    python bench/scoring.py [--scale full] [--runs 3] [--neleval FOLDER] [--elevant FOLDER]

The data are synthetic: mentions every 20 characters, a tenth of the answers shifted, a fifth linked wrongly, some
overlapping; 100,000 annotations in 1,000 documents, a million at full scale. `--neleval` is a folder with neleval's
package (`pip download neleval --no-deps --no-binary :all:`, unpacked): its `evaluate` is timed on the same 100,000, by
one measure and by all ten of its tagging measures in one run, as a whole process and without what is done once:
'alone' is the second evaluation of a process whose first was of a thousand annotations, so that all is imported.
`--elevant` is a folder with ELEVANT's benchmarks and results: all systems under all profiles.

Prints one JSON object: median of the runs' wall clock seconds, CPU seconds of the fastest run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from remix import __version__
from remix.frames import Frames
from remix.frames_folder import finish, under_way, write_part
from remix.scoring.statistics.intervals import intervals
from remix.scoring.statistics.significance import between_systems

SCALES = {"tenth": 100_000, "full": 1_000_000}
PER_DOCUMENT = 100
SHIM = """
import collections, collections.abc, sys
for name in ("Sequence", "Mapping", "MutableMapping", "Iterable", "Callable", "Hashable", "Set"):
    setattr(collections, name, getattr(collections.abc, name))
sys.path.insert(0, sys.argv.pop(1))
from neleval.__main__ import main
"""
"""neleval takes from `collections` what Python 3.10 moved."""

OURS = "from remix.cli import cli\nmain = lambda arguments: cli.main(arguments, standalone_mode=False)\n"
ALONE = """
import contextlib, io, json, sys, time
for arguments in json.loads(sys.argv[-1]):
    begin, work = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        main(arguments)
    took = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - work}
print(json.dumps(took))
"""


def synthetic(annotations: int, documents: int) -> tuple[Frames, Frames]:
    random = np.random.default_rng(0)
    number = np.arange(annotations)
    names = [f"urn:d/{n}" for n in range(documents)]
    texts = pl.DataFrame({"document": names, "dataset": ["x"] * documents})
    begin = (number // documents) * 20
    entity = random.integers(0, annotations // 10 + 1, annotations)
    shift = np.where(random.random(annotations) < 0.1, random.integers(-12, 12, annotations), 0)
    wrong = random.random(annotations) < 0.2
    length = random.integers(4, 14, annotations)

    def framed(start: np.ndarray, entities: np.ndarray) -> Frames:
        rows = pl.DataFrame({"n": number, "begin": start, "end": start + length, "e": entities})
        rows = rows.with_columns(
            annotation=pl.format("urn:a/{}", "n"),
            document=pl.format("urn:d/{}", pl.col("n") % documents),
            entity=pl.format("http://dbpedia.org/resource/E{}", "e"),
            dataset=pl.lit("x"),
        )
        return Frames.of(documents=texts, annotations=rows.drop("entity", "n", "e"), links=rows)

    return framed(begin, entity), framed(np.maximum(begin + shift, 0), np.where(wrong, entity + 1, entity))


def written(folder: Path, annotations: int) -> None:
    """Write gold and run as folders of frames, as JSON Lines and as neleval's TSV."""
    for name, frames in zip(("gold", "run"), synthetic(annotations, annotations // PER_DOCUMENT), strict=True):
        to = folder / name
        with under_way(to, {}, replace=True) as place:
            write_part(place, 0, frames)
            finish(place, to, {"name": name, "iri": f"urn:remix:dataset:{name}", "parts": 1})
        rows = frames.annotations.join(frames.links, on="annotation").sort("document", "begin", "end")
        rows.select("document", "begin", "end", "entity").write_ndjson(folder / f"{name}.jsonl")
        with (folder / f"{name}.tsv").open("wb") as stream:
            tsv = rows.select("document", "begin", pl.col("end") - 1, "entity", score=pl.lit(1.0), type=pl.lit("X"))
            tsv.write_csv(stream, separator="\t", include_header=False)


def timed(command: list[str], runs: int) -> dict[str, float]:
    wall, work = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        work.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
    return {"seconds": round(statistics.median(wall), 2), "cpu_seconds": round(min(work), 2)}


def alone(program: list[str], small: list[str], large: list[str], runs: int) -> dict[str, float]:
    """Return the time of an evaluation in a process that has made a small one before."""
    found = []
    for _ in range(runs):
        done = subprocess.run([*program, json.dumps([small, large])], capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    wall, work = ([one[name] for one in found] for name in ("seconds", "cpu_seconds"))
    return {"seconds": round(statistics.median(wall), 3), "cpu_seconds": round(min(work), 3)}


def against_neleval(folder: Path, package: Path, runs: int) -> dict[str, dict[str, float]]:
    """Return the times of neleval and of remix on the same annotations, by one measure and by ten in one run."""
    (folder / "few").mkdir()
    written(folder / "few", 10 * PER_DOCUMENT)
    written(folder, SCALES["tenth"])
    of_neleval, of_remix = [sys.executable, "-c", SHIM + ALONE, str(package)], [sys.executable, "-c", OURS + ALONE]
    found = {}
    for what, measures in (("one measure", ["strong_link_match"]), ("ten measures", TAGGING)):
        named = [part for measure in measures for part in ("-m", measure)]

        def theirs(place: Path, named: list[str] = named) -> list[str]:
            return ["evaluate", *named, "-g", str(place / "gold.tsv"), str(place / "run.tsv")]

        def ours(place: Path, suffix: str, measures: list[str] = measures) -> list[str]:
            chosen = [part for measure in measures for part in ("--match", measure)]
            return evaluation(
                [place / f"gold{suffix}"],
                {"s": [place / f"run{suffix}"]},
                "--profile",
                "neleval",
                *chosen,
                "-o",
                "json",
            )

        whole = [*of_neleval[:2], SHIM + "main(sys.argv[1:])", str(package), *theirs(folder)]
        found[f"neleval, {what}"] = timed(whole, runs)
        found[f"neleval, {what}, alone"] = alone(of_neleval, theirs(folder / "few"), theirs(folder), runs)
        for kind, suffix in (("Parquet", ""), ("the same TSV", ".tsv")):
            found[f"remix, {what} from {kind}"] = timed(ours(folder, suffix), runs)
            small, large = (ours(place, suffix)[3:] for place in (folder / "few", folder))
            found[f"remix, {what} from {kind}, alone"] = alone(of_remix, small, large, runs)
    return found


def evaluation(gold: list[Path], runs: dict[str, list[Path]], *more: str) -> list[str]:
    files = [part for file in gold for part in ("--gold", str(file))]
    files += [part for name, paths in runs.items() for file in paths for part in ("--run", f"{name}={file}")]
    return [sys.executable, "-m", "remix", "--quiet", "evaluate", *files, *more]


def elevant(folder: Path) -> list[str]:
    gold = [next((folder / "benchmarks").glob(f"{name}.benchmark.jsonl*")) for name in BENCHMARKS]
    runs: dict[str, list[Path]] = {}
    for system in sorted(path for path in (folder / "results").iterdir() if path.is_dir()):
        for name in BENCHMARKS:
            runs.setdefault(system.name, []).extend(sorted(system.glob(f"*.{name}.linked_articles.jsonl*"))[:1])
    return evaluation(gold, {name: files for name, files in runs.items() if files}, "--profile", "all")


TAGGING = [
    f"strong_{name}_match"
    for name in (
        *("mention", "typed_mention", "linked_mention", "link", "nil", "all"),
        *("typed_link", "typed_nil", "typed_all"),
    )
] + ["entity_match"]
"""neleval's measures that compare annotations (`-m all-tagging`)."""
BENCHMARKS = ("kore50", "msnbc-updated", "news-fair-no-coref")


def sampled(documents: int) -> dict[str, Callable[[], object]]:
    random = np.random.default_rng(0)
    empty = pl.lit(None, pl.Int64)
    counts = pl.concat(
        pl.DataFrame({name: random.integers(0, 20, documents) for name in ("tp", "fp", "fn")})
        .with_row_index("doc")
        .with_columns(
            pl.col("doc").cast(pl.Int64), system=pl.lit(system), dataset=pl.lit("all"), fp_in_scope=empty,
            fp_on_mention=empty,
        )
        for system in ("a", "b")
    )  # fmt: skip
    one = counts.filter(pl.col("system") == "a")
    units = one.select("doc", "dataset")
    return {
        "intervals of one system": lambda: intervals(one, ["dataset"], units),
        "randomisation and intervals of two": lambda: between_systems(counts, units, ["a", "b"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=SCALES, default="tenth")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--neleval", type=Path)
    parser.add_argument("--elevant", type=Path)
    chosen = parser.parse_args()
    found: dict[str, object] = {
        "annotations": SCALES[chosen.scale],
        "remix": __version__,
        "python": platform.python_version(),
        "polars": pl.__version__,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }
    choices = ("--task", "A2KB", "--match", "strong", "--match", "weak", "-o", "json")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        written(folder, SCALES[chosen.scale])
        for kind, suffix in (("Parquet", ""), ("JSON Lines", ".jsonl")):
            command = evaluation([folder / f"gold{suffix}"], {"s": [folder / f"run{suffix}"]}, *choices)
            found[f"A2KB strong and weak, micro and macro, from {kind}"] = timed(command, chosen.runs)
        if chosen.neleval:
            found |= against_neleval(folder, chosen.neleval, chosen.runs)
    if chosen.elevant:
        found["ELEVANT's systems, three benchmarks, all profiles"] = timed(elevant(chosen.elevant), chosen.runs)
    for name, work in sampled(1000).items():
        begin = time.perf_counter()
        work()
        found[f"{name}, 10,000 samples of 1,000 documents"] = round(time.perf_counter() - begin, 2)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
