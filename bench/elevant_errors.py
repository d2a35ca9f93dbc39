"""How far ELEVANT's error classes and types come out against its published evaluation results.

python bench/elevant_errors.py [--kb FOLDER]      data from REMIX_REAL_DATA

Prints a Markdown table: for each class the published errors and totals of all systems and benchmarks in both modes,
those found here, and how many of the single figures are equal. With the folder of a knowledge base, popularity is told
by its counts.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from remix.kb import KnowledgeBase
from remix.scoring import evaluate
from remix.scoring.inputs import Knowledge
from remix.scoring.inputs.entities import read_entities
from remix.scoring.inputs.files import read_frames

CHECKOUT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("REMIX_REAL_DATA", CHECKOUT.parent / "shared" / "data")).resolve() / "elevant"
COUNTS = {"true_positives": "tp", "false_positives": "fp", "false_negatives": "fn"}


def published() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return benchmark, system and results of every file of results that has its benchmark and answers."""
    for file in sorted((DATA / "results").rglob("*.eval_results.json")):
        system, benchmark = file.name.removesuffix(".eval_results.json").split(".", 1)
        yield benchmark, system, json.loads(file.read_text(encoding="utf-8"))


def found(benchmark: str, systems: list[str], kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return the rows of scores and errors of the systems on one benchmark."""
    types = read_entities(DATA / "entities.tsv.gz")
    names = types.select("entity", "name").drop_nulls().unique("entity")
    gold = read_frames(sorted((DATA / "benchmarks").glob(f"{benchmark}.benchmark.jsonl*")))
    runs = {
        system: read_frames(sorted((DATA / "results").rglob(f"{system}.{benchmark}.linked_articles.jsonl*")))
        for system in systems
    }
    known = Knowledge(types=types, names=names, kb=kb)
    return evaluate(gold, runs, profile="elevant", by="type", errors="elevant", known=known)


def single(results: dict[str, Any]) -> Iterator[tuple[str, str, str, int]]:
    """Return mode, class, key and figure of everything that is compared."""
    for mode, parts in results.items():
        for family, classes in parts["error_categories"].items():
            for name, counts in classes.items() if family != "ner" else ():
                if isinstance(counts, dict):
                    yield from ((mode, f"{family}.{name}", key, counts[key]) for key in ("errors", "total"))
                elif counts is not None:
                    yield mode, f"{family}.{name}", "errors", counts
        for name, counts in parts["entity_types"].items():
            yield from ((mode, name, short, counts[key]) for key, short in COUNTS.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kb", type=Path)
    folder = parser.parse_args().kb
    kb = KnowledgeBase.open(folder) if folder else None
    results: dict[str, dict[str, Any]] = defaultdict(dict)
    for benchmark, system, figures in published():
        results[benchmark][system] = figures
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * 6)
    for benchmark, wanted in results.items():
        rows = found(benchmark, list(wanted), kb).to_dicts()
        got = {(r["system"], r["matching"], r["slice"].rsplit("/", 1)[-1].rsplit("#", 1)[-1]): r for r in rows
               if r["column"] == "error_class" or (r["column"] == "type" and r["task"] == "A2KB")}  # fmt: skip
        for system, figures in wanted.items():
            for mode, name, key, want in single(figures):
                have = (got.get((system, mode, name)) or {}).get(key) or 0
                line = sums[name if "." in name else f"type, {key}"]
                place = 1 if key == "total" else 0
                line[place] += want
                line[place + 2] += have
                line[4] += want == have
                line[5] += 1
    print("| class | errors published | found | total published | found | equal figures |\n|---|---|---|---|---|---|")
    for name, (errors, total, our_errors, our_total, equal, number) in sums.items():
        print(f"| {name} | {errors} | {our_errors} | {total or ''} | {our_total or ''} | {equal} of {number} |")


if __name__ == "__main__":
    main()
