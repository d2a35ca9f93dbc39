"""How time and memory grow with the size: each bench at 1, 10 and 100 % of the size of DBpedia English, and a plot.

    python bench/growth.py growth.jsonl [--scale full|tenth|hundredth] [--only parse,links] [--folder FOLDER]
    python bench/growth.py growth.jsonl --plot docs/growth.svg

The first appends a line of JSON for each measurement that the file does not have yet, at all scales up to the given
one; each bench is a process of its own. Without `--only` that is all of them. `--folder` is where what they generate
goes (full: 40 GB; each removes it). The second draws what the file has.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SHARES = {"hundredth": 0.01, "tenth": 0.1, "full": 1.0}
EDGES = {"hundredth": 2_000_000, "tenth": 20_000_000, "full": 200_000_000}


@dataclass(frozen=True)
class Bench:
    """A bench: its words for a scale, and the measurements (what, its row) among the objects that it prints."""

    words: Callable[[str], list[str]]
    rows: Callable[[list[Row]], Iterator[tuple[str, Row]]]


def scaled(file: str, *more: str) -> Callable[[str], list[str]]:
    return lambda scale: [file, "--scale", scale, *more]


def named(**series: str) -> Callable[[list[Row]], Iterator[tuple[str, Row]]]:
    """Return what takes the lines whose `what` begins with a value, under the name of the key."""

    def rows(printed: list[Row]) -> Iterator[tuple[str, Row]]:
        for row in printed:
            for name, beginning in series.items():
                if str(row.get("what", "")).startswith(beginning):
                    yield name.replace("_", " "), row

    return rows


def of_dictionary(printed: list[Row]) -> Iterator[tuple[str, Row]]:
    [found] = printed
    yield "dictionary measures", found["measures of the dictionary"]
    yield "all measures", found["all measures"]
    of_lookups = found["lookups"]
    yield "one lookup", {"seconds": of_lookups["form"]["median"] / 1000, "peak GB": of_lookups["peak GB"]}


def of_streaming(printed: list[Row]) -> Iterator[tuple[str, Row]]:
    [found] = printed
    for what, name in (("streaming", "streaming NIF"), ("all measures", "measures of the stream")):
        yield name, {**found[what], "peak GB": found[what]["peak MB"] / 1000}


def of_prominence(printed: list[Row]) -> Iterator[tuple[str, Row]]:
    yield from (("prominence", row) for row in printed if row.get("with") == "remix")


BENCHES = {
    "parse": Bench(scaled("parse_dumps.py"), named(parse="all")),
    "assemble": Bench(scaled("assemble_kb.py"), named(assemble="dictionary")),
    "links": Bench(scaled("links.py", "--suffix", ".ttl.zst"), named(read_links="read wiki", number_links="numbers")),
    "prominence": Bench(
        lambda scale: ["prominence.py", "--edges", str(EDGES[scale]), "--with", "remix"], of_prominence
    ),
    "dictionary": Bench(scaled("dictionary.py", "--runs", "1"), of_dictionary),
    "streaming": Bench(scaled("streaming.py"), of_streaming),
}


def measured(bench: Bench, scale: str, folder: Path) -> Iterator[Row]:
    """Run a bench and yield a row for each of its measurements."""
    file, *words = bench.words(scale)
    command = [sys.executable, str(Path(__file__).with_name(file)), *words]
    environment = {**os.environ, "TMPDIR": str(folder)}
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    for what, row in bench.rows([*objects(said)]):
        kept = {key: row[key] for key in ("seconds", "CPU seconds", "peak GB") if key in row}
        yield {"what": what, "share": SHARES[scale], **kept}


def objects(text: str) -> Iterator[Row]:
    """Yield the JSON objects that a text consists of."""
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        found, end = decoder.raw_decode(rest)
        yield found
        rest = rest[end:].lstrip()


def run(file: Path, names: list[str], scale: str, folder: Path) -> None:
    """Append what is not measured yet, from the smallest scale to the given one."""
    known = {(row["bench"], row["share"]) for row in rows_of(file)}
    for size in [*SHARES][: [*SHARES].index(scale) + 1]:
        for name in names:
            if (name, SHARES[size]) in known:
                continue
            lines = [json.dumps({"bench": name, **row}) for row in measured(BENCHES[name], size, folder)]
            with file.open("a", encoding="utf-8") as stream:
                stream.writelines(f"{line}\n" for line in lines)
            print("\n".join(lines), flush=True)


def rows_of(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def plot(file: Path, to: Path) -> None:
    """Draw seconds and peak memory by the share of the full size, beside growth that is linear."""
    from remix.reports.figures import Axis, Figure, Panel, Series
    from remix.reports.plots import save

    rows, panels = rows_of(file), []
    for column, least in (("seconds", 1.0), ("peak GB", 0.1)):
        series = [Series("linear growth", [0.01, 0.1, 1], [least, least * 10, least * 100])]
        for what in dict.fromkeys(row["what"] for row in rows):
            points = sorted((row["share"], row[column]) for row in rows if row["what"] == what and row.get(column))
            series.append(Series(what, [share for share, _ in points], [value for _, value in points]))
        panels.append(
            Panel("", "lines", series, Axis("share of the size of DBpedia English", "log"), Axis(column, "log"))
        )
    save(Figure("Growth", panels, columns=2), to)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the measurements, a line each")
    parser.add_argument("--scale", choices=SHARES, default="tenth")
    parser.add_argument("--only", default=",".join(BENCHES), help="of " + ", ".join(BENCHES))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--plot", type=Path, help="draw what was measured instead")
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := sorted(set(names) - set(BENCHES)):
        parser.error(f"no bench named {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    if options.plot:
        plot(options.file, options.plot)
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        run(options.file, names, options.scale, options.folder)


if __name__ == "__main__":
    main()
