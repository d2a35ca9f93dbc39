"""Hold the profiles of HIPE-scorer's editions against a plain re-telling of its rules, on random broken files.

python bench/hipe_rules.py [--files 200] [--seed 0] [--edition hipe|hipe-2020|hipe-2024]

Each file has one to three documents of random tags, links and tokens on both sides. Compared are TP, FP, FN, P, R and
F1 of each column, regime, rank, mean and label, of bounds of noise and dates, plain and relaxed; the first that differs
is told with its files, and ends in 1.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import pstdev

from remix.scoring.inputs.entities import relax_gold, relax_runs
from remix.scoring.inputs.files import read_frames
from remix.scoring.profiles.hipe import EMPTY, EVERY_MATCHING
from remix.scoring.profiles.hipe.editions import HIPE_2020, HIPE_2022, HIPE_2024, Edition
from remix.scoring.rows import ALL_SLICES
from remix.scoring.statistics import SPREAD

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.scoring.conftest import evaluate

HEADER = ("TOKEN", "NE-COARSE-LIT", "NE-COARSE-METO", "NE-FINE-LIT", "NEL-LIT", "NEL-METO", "MISC")
TYPES_OF = {"NEL-LIT": "NE-COARSE-LIT", "NEL-METO": "NE-COARSE-METO"}
TAGS = "O O O O B-LOC I-LOC B-PERS I-PERS I-PERS S-LOC E-PERS B-time I-time B-X I-X I-A-B B-LOC|B-PERS _"
ODD_TAGS = (
    "LOC BLOC X-LOC X-PERS s-LOC e-PERS b-LOC i-PERS o B-_ B-O I-_ O|B-LOC _|B-LOC O-LOC I B P - I- B- B-|LOC B--LOC "
    "X|Y-LOC Q"
)
LINKS = "_ _ _ - NIL NIL Q1 Q1 Q2 Q1|Q2 Q2|Q1|Q3 q1 NIL|Q1 _|Q1 Q9|Q1 Q1|_ _|Q4|Q5|Q1 Q1-A A-B|Q1"
NOISE = {"0.0-0.0": (0.0, 0.0), "0.001-0.1": (0.001, 0.1), "0.1-0.3": (0.1, 0.3), "0.3-1.1": (0.3, 1.1)}
NOISES = ("0.0", "0.05", "0.1", "0.2", "0.3", "1.0", "2.0")
DAYS = ("1890-05-01", "1899-12-31", "1900-01-01", "1915-06-15")
PERIODS = {"1890-1900": ("1890", "1900"), "1895-1900-01-01": ("1895", "1900-01-01"), "1800-2000": ("1800", "2000")}
"""Bounds of slices, the usual ones of noise, and what tokens have."""
MAPPING = {"Q2": "Q1", "Q3": "Q4"}
"""What stands for another item in relaxed results."""
Cells = dict[str, str]
Documents = list[list[Cells]]
Key = tuple[str, str, str, str, str]
"""Column of cells, matching, mean, column and slice."""
Figures = tuple[float | None, ...]


@dataclass(frozen=True)
class Mention:
    """A mention as the scorer has it: first and last token, text and labels, of which the first is its own."""

    first: int
    last: int
    text: str
    labels: tuple[str, ...]


EDITIONS = {one.name: one for one in (HIPE_2022, HIPE_2020, HIPE_2024)}


def read(lines: list[str], *, hashes: bool = False) -> Documents:
    """Return the documents of a file: tokens with upper-case cells, without comments and lines that have no token.

    With `hashes` a token with # anywhere is none, and cells that a line lacks are `_`.
    """
    documents: Documents = [[]]
    day = ""
    for line in lines[1:]:
        cells = line.split("\t")
        if cells[0].startswith("#"):
            if line.startswith(("# date", "# hipe2022:date")):
                said = re.search("[0-9]{4}-[0-9]{2}-[0-9]{2}", line)
                day = said[0] if said else "2022-01-01"
            if line.startswith(("# document", "# hipe2022:document_id")) and documents[-1]:
                documents.append([])
            continue
        if not cells[0] or (hashes and "#" in cells[0]):
            continue
        row = dict(zip(HEADER, cells, strict=False))
        row["time"] = "time" if "time" in row["NE-COARSE-LIT"] else ""  # before cells are in upper case
        for name in HEADER[1:]:
            cell = row.get(name, "_") if hashes or name == "MISC" else row[name]
            if name.startswith("NE-"):
                cell = re.sub("^S-", "B-", re.sub("^E-", "I-", cell))
            row[name] = cell.upper()
        row["day"] = day
        noisy = re.search("LED([0-9.]+)", row["MISC"])
        row["noise"] = noisy[1] if noisy else ""
        documents[-1].append(row)
    return [one for one in documents if one]


def deal(gold: Documents, run: Documents) -> Documents:
    """Return the documents of a run, of one document dealt out to those of gold."""
    if len(gold) == len(run):
        return run
    [tokens] = run
    dealt = []
    for document in gold:
        dealt.append(tokens[: len(document)])
        tokens = tokens[len(document) :]
    return dealt


def label_of(cell: str) -> str | None:
    """Return the label that a cell makes count."""
    label = cell.split("|")[0].split("-")[-1]
    return None if label in ("_", "O") else label


def cut(document: list[Cells], column: str) -> list[tuple[int, int, str]]:
    """Return first and last token and type of the mentions of a column of types."""
    found: list[tuple[int, int, str]] = []
    inside = False
    for place, row in enumerate(document):
        cell = row[column]
        if cell == "O":
            inside = False
            continue
        kind = cell[2:]
        if not inside or found[-1][2] != kind or cell[0] == "B":
            found.append((place, place, kind))
        else:
            found[-1] = (found[-1][0], place, kind)
        inside = True
    return found


def text_of(document: list[Cells], first: int, last: int) -> str:
    """Return the tokens of a mention without space."""
    return "".join(row["TOKEN"] for row in document[first : last + 1])


def linked(document: list[Cells], column: str, *, run: bool, edition: Edition) -> list[tuple[int, int, str]]:
    """Return first and last token and the whole cell of the mentions of a column of links."""
    cells = [row[column] for row in document]
    if edition.links_alone:
        found: list[tuple[int, int, str]] = []
        for place, cell in enumerate(cells):
            if cell in ("_", "-"):
                continue
            if found and found[-1][1] == place - 1 and found[-1][2] == cell:
                found[-1] = (found[-1][0], place, cell)
            else:
                found.append((place, place, cell))
        return found
    types = TYPES_OF[column]
    found = []
    for first, last, _ in cut(document, types):
        begin, link = first, cells[first]
        for place in range(first + 1, last + 1):
            if run and cells[place] != link and document[place][types][0] == "I":
                found.append((begin, place - 1, link))
                begin, link = place, cells[place]
        found.append((begin, last, link))
    for place, row in enumerate(document):
        if row[types] == "O" and cells[place] not in ("_", "-"):
            found.append((place, place, cells[place]))
    return sorted(found)


def mentions(
    side: Documents, column: str, known: set[str], *, run: bool, ranks: int, edition: Edition
) -> list[list[Mention]]:
    """Return the mentions of each document whose labels count."""
    whole: list[list[Mention]] = []
    for document in side:
        if column in TYPES_OF:
            parts = [
                (first, last, tuple(cell.split("|")[: ranks if run else 1]))
                for first, last, cell in linked(document, column, run=run, edition=edition)
            ]
        else:
            parts = [(first, last, (kind,)) for first, last, kind in cut(document, column)]
        whole.append(
            [
                Mention(first, last, text_of(document, first, last) if edition.texts else "", labels)
                for first, last, labels in parts
                if known.intersection(labels)
            ]
        )
    return whole


Event = tuple[tuple[str, ...], str, str, str, str]
"""The label of gold, or those of the answer, and the outcome by each regime, as in `REGIMES`."""
REGIMES = ("strict", "fuzzy", "partial", "exact")


def match(gold: list[Mention], run: list[Mention], known: set[str]) -> list[Event]:
    """Return the events of a document."""
    events: list[Event] = []
    taken: set[int] = set()
    for answer in run:
        for number, one in enumerate(gold):
            if (one.first, one.last, one.text) == (answer.first, answer.last, answer.text) and one.labels[
                0
            ] in answer.labels:
                taken.add(number)
                events.append((one.labels[:1], *["correct"] * 4))
                break
        else:
            for number, one in enumerate(gold):
                same = (one.first, one.last) == (answer.first, answer.last)
                if same and one.labels[0] != answer.labels[0]:
                    taken.add(number)
                    events.append((one.labels[:1], "incorrect", "incorrect", "correct", "correct"))
                    break
                if number not in taken and one.first <= answer.last and answer.first <= one.last:
                    taken.add(number)
                    right = "correct" if one.labels[0] in answer.labels else "incorrect"
                    events.append((one.labels[:1], "incorrect", right, "partial", "incorrect"))
                    break
            else:
                # Where the first does not count it is of each that does.
                first = answer.labels[:1]
                told = first if first[0] in known else tuple({one for one in answer.labels if one in known})
                events.append((told, *["spurious"] * 4))
    events += [(one.labels[:1], *["missed"] * 4) for number, one in enumerate(gold) if number not in taken]
    return events


Bounds = tuple[tuple[float, float] | None, tuple[str, str] | None]


def cut_both(gold: Documents, run: Documents, bounds: Bounds) -> tuple[Documents, Documents]:
    """Return both sides without the tokens whose noise or day in gold is not in the bounds."""
    noise, period = bounds
    left: tuple[Documents, Documents] = ([], [])
    for pair in zip(gold, run, strict=True):
        kept = []
        for row in pair[0]:
            led = float(row["noise"]) if row["noise"] else None
            clean = noise is None or led is None or noise[0] <= led < noise[1] or noise[0] == led == noise[1]
            kept.append(clean and (period is None or period[0] <= row["day"] < period[1]))
        for to, document in zip(left, pair, strict=True):
            to.append([row for row, there in zip(document, kept, strict=True) if there])
    return left


def slices_of(gold: Documents) -> dict[tuple[str, str], Bounds]:
    """Return the bounds of what is sliced by, by column and slice; ('', '') is all."""
    tokens = [row for document in gold for row in document]
    found: dict[tuple[str, str], Bounds] = {("", ""): (None, None)}
    noises = NOISE if any(row["noise"] for row in tokens) else {}
    periods = PERIODS if any(row["day"] for row in tokens) else {}
    by_period = "period:" + ",".join(PERIODS)
    found |= {("noise", name): (bounds, None) for name, bounds in noises.items()}
    found |= {(by_period, name): (None, bounds) for name, bounds in periods.items()}
    for (noise, low_high), (period, from_to) in product(noises.items(), periods.items()):
        found[f"noise × {by_period}", f"{noise} × {period}"] = (low_high, from_to)
    return found


def score(gold: Documents, run: Documents, edition: Edition) -> dict[Key, Figures]:
    """Return the figures by column, matching, mean, and column and slice."""
    figures: dict[Key, Figures] = {}
    for (sliced, name), bounds in slices_of(gold).items():
        figures |= score_slice(gold, run, edition, bounds, sliced, name)
    return figures


def score_slice(
    gold: Documents, run: Documents, edition: Edition, bounds: Bounds, sliced: str, value: str
) -> dict[Key, Figures]:
    """Return the figures of what bounds leave, of all of it also by label."""
    figures: dict[Key, Figures] = {}
    for column in HEADER[1:-1]:
        answered = run
        if edition.times_nil and column in TYPES_OF:
            answered = [[{**row, column: "NIL"} if row["time"] else row for row in document] for document in run]
        own, others = (
            {label_of(row[column]) for document in side for row in document} - {None} for side in (gold, answered)
        )
        known = {str(one) for one in own | (others if column in TYPES_OF else others & set(edition.tags))}
        left = cut_both(gold, answered, bounds)
        for ranks in (1, 3, 5) if column in TYPES_OF else (1,):
            golds = mentions(left[0], column, known, run=False, ranks=ranks, edition=edition)
            runs = mentions(left[1], column, known, run=True, ranks=ranks, edition=edition)
            events = [match(one, other, known) for one, other in zip(golds, runs, strict=True)]
            labels = {label for one in events for told, *_ in one for label in told} if not sliced else set()
            by = "link" if column in TYPES_OF else "type"
            tail = f"@{ranks}" if column in TYPES_OF else ""
            for place, regime in enumerate(REGIMES, 1):
                for label in (None, *labels) if any(events) else ():
                    counts = [
                        Counter(str(event[place]) for event in one if label is None or label in event[0])
                        for one in events
                    ]
                    name = (sliced, value) if label is None else (by, label or EMPTY)
                    key = column, regime + tail
                    figures[(*key, "micro", *name)], figures[(*key, "macro", *name)] = means(counts)
                if labels:
                    whole = [figures[(*key, "micro", by, label or EMPTY)] for label in labels]
                    mean = [sum(row[n] or 0.0 for row in whole) / len(whole) for n in (3, 4, 5)]
                    figures[(*key, "macro", by, ALL_SLICES)] = (*mean, None, None, None)
    return figures


MET = ("correct", "incorrect", "partial")


def means(documents: list[Counter[str]]) -> tuple[Figures, Figures]:
    """Return TP, FP, FN, P, R and F1 of all documents, and of those that have it mean and deviation of P, R and F1."""
    summed = sum(documents, Counter())
    tp, actual, possible = sizes(summed)
    rows = [ratios(counts) for counts in documents]
    defined = (
        [p for p, _, _ in rows if p is not None],
        [r for _, r, _ in rows if r is not None],
        [f for p, r, f in rows if p is not None and r is not None],
    )
    macro = tuple(sum(values) / len(values) if values else None for values in defined)
    macro += tuple(pstdev(values) if values else None for values in defined)
    return (tp, actual - tp, possible - tp, *(one or 0.0 for one in ratios(summed))), macro


def sizes(counts: Counter[str]) -> tuple[float, int, int]:
    """Return what is correct, of what is so in part half, what was answered and what could be."""
    correct, both = counts["correct"] + counts["partial"] / 2, sum(counts[one] for one in MET)
    return correct, both + counts["spurious"], both + counts["missed"]


def ratios(counts: Counter[str]) -> tuple[float | None, float | None, float]:
    """Return P, R and F1, null where undefined."""
    correct, actual, possible = sizes(counts)
    p = correct / actual if actual else None
    r = correct / possible if possible else None
    f = 2 * p * r / (p + r) if p and r else 0.0
    return p, r, f


def draw(seed: random.Random, edition: Edition | None = None) -> tuple[list[str], list[str]]:
    """Return the lines of gold and run, with such as the edition reads otherwise than others, where one is given."""
    odd, dated, noisy = (seed.random() < 0.5 for _ in range(3))
    sides: tuple[list[str], list[str]] = (["\t".join(HEADER)], ["\t".join(HEADER)])
    for number in range(seed.randint(1, 3)):
        for side in sides:
            side.append(f"# document_id = d{number}")
        for _ in range(seed.randint(2, 14)):
            if seed.random() < 0.05:
                for side in sides:
                    side.append("# segment")
            if dated and seed.random() < 0.15:
                sides[0].append(f"# date = {seed.choice(DAYS)}")
            token = seed.choice("abcdefg")
            alike = seed.random() < 0.5
            cells = [cells_of(seed, odd=odd), cells_of(seed, odd=odd)]
            if alike:
                cells[1] = cells[0]
            spelt = token + "x" if seed.random() < 0.05 else token
            sides[0].append("\t".join([token, *cells[0]]))
            sides[1].append("\t".join([spelt, *cells[1]]))
    if noisy:
        add_noise(seed, sides[0])
    if edition is not None:
        for side in sides:
            add_hashes(seed, side, edition=edition, odd=odd)
        # A run of one document is dealt out to several alone.
        if seed.random() < 0.2 and len(read(sides[0], hashes=edition.hashes)) > 1:
            sides[1][1:] = [line for line in sides[1][1:] if "\t" in line]
    return sides


def add_hashes(seed: random.Random, lines: list[str], *, edition: Edition, odd: bool) -> None:
    """Add tokens that the edition does not read, and with `hashes` let lines lack cells of links or have more."""
    often = seed.choice((0.0, 0.1, 0.3))
    for place in range(len(lines), 1, -1):
        if seed.random() < often:
            token = seed.choice(("#", "#x", "x#", "x#y")) if edition.hashes else seed.choice(("#", "#x"))
            lines.insert(place, "\t".join([token, *cells_of(seed, odd=odd)]))
    for place, line in enumerate(lines):
        if place and "\t" in line and edition.hashes and seed.random() < 0.05:
            cells = line.split("\t")
            lines[place] = "\t".join(cells[: seed.randint(4, 6)] if seed.random() < 0.5 else [*cells, "x"])


def add_noise(seed: random.Random, lines: list[str]) -> None:
    """Give each mention of the first column its noise, where it has some, or each token one of its own."""
    places = [place for place, line in enumerate(lines) if place and "\t" in line]
    if seed.random() < 0.5:
        for place in places:
            if seed.random() < 0.5:
                lines[place] = lines[place].rpartition("\t")[0] + f"\tLED{seed.choice(NOISES)}"
        return
    first = 0
    for document in read(lines):
        for begin, end, kind in cut(document, "NE-COARSE-LIT"):
            noise = seed.choice((*NOISES, "")) if kind else ""
            for place in places[first + begin : first + end + 1] if noise else ():
                lines[place] = lines[place].rpartition("\t")[0] + f"\tLED{noise}"
        first += len(document)


def cells_of(seed: random.Random, *, odd: bool) -> list[str]:
    """Return the cells of a token but the token, with odd tags or without."""
    tags = TAGS.split() + (ODD_TAGS.split() if odd else [])
    return [*(seed.choice(tags) for _ in range(3)), *(seed.choice(LINKS.split()) for _ in range(2)), "_"]


def is_same(one: Figures | None, other: Figures | None) -> bool:
    """Return whether two rows have the same figures; a row that is missing is one of nothing."""
    if one is None or other is None:
        return not any(one or other or ())
    return all((a is None) == (b is None) and abs((a or 0) - (b or 0)) < 1e-9 for a, b in zip(one, other, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--edition", choices=[*EDITIONS], default="hipe")
    given = parser.parse_args()
    compared = 0
    for number in range(given.seed, given.seed + given.files):
        edition = EDITIONS[given.edition]
        sides = draw(random.Random(number), edition)
        for relaxed in (False, True):
            figures, odd = compare(*sides, edition=edition, relaxed=relaxed)
            if odd:
                told = f"seed {number}, {'relaxed' if relaxed else 'plain'}: {odd[0]}"
                print(told, *("\n".join(lines) for lines in sides), sep="\n\n")
                return 1
            compared += figures
    print(f"{given.edition}: {given.files} files, {compared:,} figures, none differs")
    return 0


def relax(lines: list[str], *, times: bool) -> list[str]:
    """Return the lines of a file with each item that stands for another replaced by it, and NIL for links of times."""
    found = []
    for line in lines:
        cells = line.split("\t")
        for column in (4, 5) if len(cells) > 1 else ():
            if column >= len(cells):
                continue
            cells[column] = "|".join(MAPPING.get(item, item) for item in cells[column].split("|"))
        if times and len(cells) > 4 and "time" in cells[1]:
            cells[4] = "NIL"
        found.append("\t".join(cells))
    return found


def compare(gold: list[str], run: list[str], *, edition: Edition, relaxed: bool = False) -> tuple[int, list[str]]:
    """Return how many figures were compared, and those that differ, in words."""
    if relaxed:
        sides = relax(gold, times=False) if edition.relaxes_gold else gold, relax(run, times=not edition.times_nil)
    else:
        sides = gold, run
    read_gold, read_run = (read(side, hashes=edition.hashes) for side in sides)
    expected = score(read_gold, deal(read_gold, read_run), edition)
    frames = []
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("gold", gold), ("run", run)):
            path = Path(folder) / f"{name}.tsv"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            frames.append(read_frames([path], unannotated=True))
        asked, runs = frames[0], {"run": frames[1]}
        if relaxed:
            table = Path(folder) / "mapping.tsv"
            table.write_text("".join(f"{main}\t{other}\n" for other, main in MAPPING.items()), encoding="utf-8")
            runs = relax_runs(runs, table)
            asked = relax_gold(asked, table) if edition.relaxes_gold else asked
        by = ["type", "link", *sorted({column for column, _ in slices_of(read_gold)} - {""})]
        rows = evaluate(asked, runs, profile=edition.name, match=EVERY_MATCHING, by=by)
    found: dict[Key, Figures] = {}
    for row in rows.iter_rows(named=True):
        scores = ["precision", "recall", "f1"]
        names = ["tp", "fp", "fn", *scores] if row["average"] == "micro" else scores + [one + SPREAD for one in scores]
        key = row["task"], row["matching"], row["average"], row["column"], row["slice"]
        found[key] = tuple(row[name] for name in names)
    both = {key: (expected.get(key), found.get(key)) for key in sorted(expected.keys() | found.keys())}
    odd = [f"{key}: expected {one}, found {other}" for key, (one, other) in both.items() if not is_same(one, other)]
    return sum(len(one or other or ()) for one, other in both.values()), odd


if __name__ == "__main__":
    sys.exit(main())
