"""A million annotations of JSON Lines, read by a mapping into frames and written as Parquet.

    python bench/mapping.py [--annotations 1000000]

100,000 documents of ten mentions in ZELDA's layout, of which each entity is linked about four times, are made, then
`remix convert … --to frames` is timed in a process of its own: wall clock and CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MENTIONS = 10


def lines(annotations: int, seed: int) -> list[str]:
    """Return documents a line, whose letters are not all ASCII."""
    draw = random.Random(seed)
    found = []
    for number in range(annotations // MENTIONS):
        forms = [f"Name {number} {n}" for n in range(MENTIONS)]
        begins, text = [], ""
        for form in forms:
            begins.append(len(text))
            text += f"{form} met Börn. "
        titles = [f"Title {draw.randrange(annotations // 4 + 1)} (x)" for _ in forms]
        spans = [[begin, begin + len(form)] for begin, form in zip(begins, forms, strict=True)]
        row = {"id": f"d{number}", "text": text, "index": spans, "wikipedia_titles": titles, "wikipedia_ids": begins}
        found.append(json.dumps(row, ensure_ascii=False) + "\n")
    return found


def main() -> None:
    """Print how long it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--annotations", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.jsonl"
        path.write_text("".join(lines(chosen.annotations, chosen.seed)), encoding="utf-8")
        before, begin = os.times(), time.perf_counter()
        call = [sys.executable, "-m", "remix", "convert", str(path), str(Path(folder) / "frames"), "--to", "frames"]
        subprocess.run([*call, "--format", "zelda-jsonl"], check=True)
        wall, after = time.perf_counter() - begin, os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        size = path.stat().st_size / 1e6
        print(f"{chosen.annotations:,} annotations ({size:.0f} MB): {wall:.2f} s wall, {cpu:.2f} CPU seconds")


if __name__ == "__main__":
    main()
