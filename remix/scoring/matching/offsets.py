"""Runs whose offsets seem to mean something else than gold's: other units, other ends, or places in another text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from remix import progress
from remix.dense import look_up
from remix.formats.layers import tokens_of
from remix.formats.offsets import characters_of_units, cut_spans, units_of_characters
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.texts import tell_forms
from remix.scoring.matching import Case

FEW = 0.3
"""A run of which fewer answers have the span of a gold mention, or their form at their place, is looked at as one."""

LEAST = 3
"""So many more answers another reading must make right, of a run or of a document that is read otherwise than it."""

GIVEN = "as they are"
_UNITS = {"": "", "utf-16": "UTF-16 code units", "utf-8": "bytes of UTF-8"}
_HOW = {"reading": pl.String, "unit": pl.String, "first": pl.Int64, "last": pl.Int64}
"""A reading: its name, what offsets count, and what is taken off begin and end before that is asked."""
_PLAIN = [(GIVEN, "", 0, 0), ("inclusive ends", "", 0, -1), ("one-based, inclusive ends", "", 1, 0)]


@dataclass(frozen=True)
class Readings:
    """As what the offsets of a run are read.

    `rows` has doc, document (gold's), answers (how many there are) and the reading (`_HOW`) of each document that the
    run answers.
    """

    rows: pl.DataFrame

    @property
    def _counts(self) -> list[tuple[str, int, int]]:
        counts = self.rows.group_by("reading").agg(documents=pl.len(), answers=pl.col("answers").sum())
        order = [pl.col("reading") == GIVEN, -pl.col("answers").cast(pl.Int64), "reading"]
        return counts.sort(order).select("reading", "documents", "answers").rows()

    def __str__(self) -> str:
        """Return the reading, or each with the number of its documents."""
        counts = self._counts
        several = len(counts) > 1
        return "+".join(
            f"{reading} ({documents} documents)" if several else reading for reading, documents, _ in counts
        )

    def names(self) -> str:
        """Return what offsets are read as, where it is not as they are."""
        return " and ".join(reading for reading, _, _ in self._counts if reading != GIVEN)

    def extent(self) -> str:
        """Return how many answers and documents are read in each way."""
        return "; ".join(
            f"{answers} {'answer' if answers == 1 else 'answers'} in {documents} "
            f"{'document' if documents == 1 else 'documents'} {reading if reading == GIVEN else f'as {reading}'}"
            for reading, documents, answers in self._counts
        )


def wrong_offsets(case: Case, *, fixed: bool = False) -> dict[str, Readings]:
    """Return, by the name of each run whose offsets seem to mean something else, what they seem to be.

    That is 'shifted by N', 'inclusive ends', 'one-based, inclusive ends', 'UTF-16 code units', 'bytes of UTF-8', or
    such units that are shifted. An answer is right by a reading where that gives it the span of a gold mention, or puts
    the form that is told with it where gold's text has it. The run is read by what makes the most answers right, at
    least `LEAST` more and twice as many as there are; a document is read as the run, unless another reading, a shift of
    its own among them, makes as many more of its answers right and half of them at least. It is said, with that
    evidence; and of `fixed` offsets that they are read so.
    """
    if len(case.answers) < LEAST:
        return {}
    texts, found = case.evidence.texts.drop_nulls("text").unique("doc"), dict[str, Readings]()
    spans = case.gold.select("doc", "begin", "end").drop_nulls().unique()
    every = _with_forms(case)
    for number, name in enumerate(case.mentions.systems):
        own = every.filter(system=number)
        before = _judge(own.with_columns(_how(_PLAIN[0])), spans, texts)
        chosen = _choose(own, before, spans, texts)
        if chosen.is_empty() or (chosen["reading"] == GIVEN).all():
            _tell_forms(case, name, before, texts)
            continue
        after = _judge(own.join(chosen, on="doc", maintain_order="left"), spans, texts)
        documents = case.mentions.documents.unique("doc").select("doc", "document")
        rows = chosen.join(documents, on="doc").join(own.group_by("doc").agg(answers=pl.len()), on="doc")
        readings = found[name] = Readings(rows.sort("doc"))
        (hit, would), (stand, standing) = ([one[of].sum() for one in (before, after)] for of in ("spanned", "stands"))
        told = own["said"].count()
        seen = f"; {stand} of the {told} forms that it tells stand at their places, {standing} would"
        progress.note(
            f"run '{name}': {hit} of its {len(own)} answers have the span of a gold mention, {would} would if its "
            f"offsets were read as {readings.names()}{seen if told else ''}: "
            f"{'they are read so' if fixed else '--fix-offsets reads them so'} ({readings.extent()})"
        )
        if fixed:
            _tell_forms(case, name, after, texts)
    return found


def _with_forms(case: Case) -> pl.DataFrame:
    """Return system, doc, begin, end and `said`, the form that is told: of answers with a place, `answer` being in
    order.

    Files of tokens tell other spellings of them, which says nothing of offsets.
    """
    rows = case.answers.select("answer", "system", "doc", "begin", "end", "annotation")
    rows = rows.filter(pl.col("begin").is_not_null(), pl.col("end").is_not_null())
    if not tokens_of(case.evidence.gold).is_empty():
        return rows.drop("annotation").with_columns(said=pl.lit(None, pl.String))
    told = case.evidence.of_runs("annotations").select("system", "annotation", said="surface_form").drop_nulls()
    told = told.unique(["system", "annotation"])
    return rows.join(told, on=["system", "annotation"], how="left", maintain_order="left").drop("annotation")


def _how(reading: tuple[str, str, int, int]) -> list[pl.Expr]:
    return [pl.lit(value, kind).alias(name) for value, (name, kind) in zip(reading, _HOW.items(), strict=True)]


def _judge(rows: pl.DataFrame, spans: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return answers, each with its reading, with whether they have a span of gold by it (`spanned`), whether their
    form stands there (`stands`), and whether either makes them `right`."""
    read = _read_as(rows, texts)
    hits = spans.with_columns(spanned=pl.lit(True))
    read = read.join(hits, on=["doc", "begin", "end"], how="left", maintain_order="left")
    told = read.join(texts, on="doc", how="left", maintain_order="left") if read["said"].count() else None
    read = read.with_columns(has=pl.lit(None, pl.String) if told is None else cut_spans(told, "doc"))
    stands = (pl.col("said").str.to_lowercase() == pl.col("has").str.to_lowercase()).fill_null(False)
    read = read.with_columns(pl.col("spanned").fill_null(False), stands=stands).drop("has")
    return read.with_columns(right=pl.col("spanned") | pl.col("stands"))


def _choose(answers: pl.DataFrame, before: pl.DataFrame, spans: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return doc and the reading (`_HOW`) of each document of a run, nothing where no other reading is in question."""
    sizes = before.group_by("doc").agg(answers=pl.len(), right=pl.col("right").sum())
    doubtful = len(answers) >= LEAST and before["right"].sum() < FEW * len(answers)
    looked = sizes.filter(pl.lit(doubtful) | ((pl.col("answers") >= LEAST) & (2 * pl.col("right") < pl.col("answers"))))
    if looked.is_empty():
        return pl.DataFrame(schema={"doc": pl.Int64, **_HOW})
    rows = answers.join(looked, on="doc", how="semi", maintain_order="left")
    of_run, of_documents = _candidates(rows, spans, texts)
    asked = pl.concat([looked.select("doc").join(of_run, how="cross"), of_documents])
    asked = asked.unique(["doc", "reading"], keep="first", maintain_order=True).with_row_index("order")
    judged = _judge(rows.join(asked, on="doc", maintain_order="left"), spans, texts)
    right = judged.group_by("doc", "order").agg(right=pl.col("right").sum().cast(pl.Int64))
    counted = asked.join(right, on=["doc", "order"], how="left").with_columns(pl.col("right").fill_null(0))
    whole = (
        counted.group_by("reading")
        .agg(pl.col("right").sum(), pl.col("order").min())
        .sort("right", "order", descending=[True, False])
    )
    reading, most = next(((one, n) for one, n, _ in whole.iter_rows() if one in of_run["reading"]), (GIVEN, 0))
    if not doubtful or most < _enough(int(before["right"].sum())):
        reading = GIVEN
    plain = counted.join(of_run.filter(reading=reading), on="reading", how="semi")
    best = counted.sort("right", "order", descending=[True, False]).unique("doc", keep="first", maintain_order=True)
    best = best.join(plain.select("doc", run="right"), on="doc").join(looked.select("doc", "answers"), on="doc")
    enough = pl.max_horizontal(2 * pl.col("run"), pl.col("run") + LEAST)
    own_reading = best.filter(pl.col("right") >= enough, 2 * pl.col("right") >= pl.col("answers"))
    columns = ["doc", *_HOW]
    rest = sizes.select("doc").join(own_reading, on="doc", how="anti").join(of_run.filter(reading=reading), how="cross")
    return pl.concat([own_reading.select(columns), rest.select(columns)])


def _enough(before: int) -> int:
    return max(2 * before, before + LEAST)


def _candidates(rows: pl.DataFrame, spans: pl.DataFrame, texts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what offsets of a run may be read as (`_HOW`), and what those of one document (`doc`) may be besides."""
    longer = pl.col("text").str.len_bytes() > pl.col("text").str.len_chars()
    units = list(_UNITS) if texts.join(rows, on="doc", how="semi").select(longer.any()).item() else [""]
    of_run, of_documents = [*_PLAIN], []
    known = spans.join(texts, on="doc", how="left", maintain_order="left")
    shifted = list[tuple[str, str, int, int]]()
    for unit in units:
        own = units_of_characters(known, "doc", "begin", "end", unit=unit) if unit else known
        shifts = _shifts(rows, own)
        if unit:
            of_run.append((_UNITS[unit], unit, 0, 0))
        whole = shifts.group_by("shift").agg(pl.col("pairs").sum())
        shifted += [(_name_shift(unit, one), unit, one, one) for one in _most(whole)["shift"]]
        alone = _most(shifts.filter(pl.col("pairs") >= LEAST), "doc")
        of_documents += [
            (doc, _name_shift(unit, one), unit, one, one) for doc, one in alone.select("doc", "shift").rows()
        ]
    # Of two that make as many right, the plainer one is taken.
    of_run = [*of_run[:3], *shifted[:1], *of_run[3:], *shifted[1:]]
    return (
        pl.DataFrame(of_run, schema=_HOW, orient="row"),
        pl.DataFrame(of_documents, schema={"doc": pl.Int64, **_HOW}, orient="row"),
    )


def _name_shift(unit: str, shift: int) -> str:
    return ", ".join([*([_UNITS[unit]] if unit else []), f"shifted by {shift}"])


def _shifts(answers: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Return doc, shift and `pairs`, how many pairs of spans of one length have it."""
    length = (pl.col("end") - pl.col("begin")).alias("length")
    pairs = answers.select("doc", "begin", length).join(spans.select("doc", length, at="begin"), on=["doc", "length"])
    return pairs.group_by("doc", shift=pl.col("begin") - pl.col("at")).agg(pairs=pl.len())


def _most(shifts: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return the shift that most pairs have, in each of `by`, where it is not zero."""
    ordered = shifts.sort("pairs", pl.col("shift").abs(), "shift", descending=[True, False, False])
    first = ordered.unique(by, keep="first", maintain_order=True) if by else ordered.head(1)
    return first.filter(pl.col("shift") != 0)


def _read_as(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows, each with its reading (`_HOW`), with begin and end as gold's texts count them."""
    moved = rows.with_row_index("row").with_columns(pl.col("begin") - pl.col("first"), pl.col("end") - pl.col("last"))
    parts = [moved.filter(unit="")]
    for unit in (one for one in _UNITS if one):
        own = moved.filter(unit=unit).join(texts.select("doc", "text"), on="doc", how="left", maintain_order="left")
        parts.append(characters_of_units(own, "doc", "begin", "end", unit=unit).drop("text"))
    return pl.concat(parts).sort("row").drop("row")


def _tell_forms(case: Case, name: str, judged: pl.DataFrame, texts: pl.DataFrame) -> None:
    """Say of a run that forms that it tells are not what gold's texts have at their places.

    Of a run with texts of its own that is told as it is read, so that it is said where most are others.
    """
    told = judged.filter(pl.col("said").is_not_null())
    textless = case.evidence.runs[name].documents["text"].has_nulls()
    if textless or (len(told) >= LEAST and 2 * told["stands"].sum() < len(told)):
        tell_forms(name, told.join(texts, on="doc", maintain_order="left"))


def read_offsets(inputs: Inputs, found: Mapping[str, Readings]) -> Inputs:
    """Return the inputs, the runs that are named with their offsets read as `wrong_offsets` found them."""
    gold, runs = inputs.gold, dict(inputs.runs)
    for name, readings in found.items():
        run = runs[name]
        texts = gold.documents.select(gold="document", text="text").unique("gold")
        how = readings.rows.select(gold="document", **{one: pl.col(one) for one in _HOW})
        pairs = inputs.pair_documents(name).join(how, on="gold").join(texts, on="gold").unique("document")
        named = pairs.select("text", doc="document").drop_nulls("text")
        rows = run.annotations.rename({"document": "doc"})
        rows = rows.join(pairs.select(*_HOW, doc="document"), on="doc", how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("unit").fill_null(""), pl.col("first", "last").fill_null(0))
        read = _read_as(rows, named).rename({"doc": "document"})
        runs[name] = replace(run, annotations=read.select(run.annotations.columns))
    return replace(inputs, runs=runs)


def tell_beyond(case: Case) -> None:
    """Say of each run how many of its answers lie beyond the texts, and where the first does."""
    lengths = case.evidence.texts.select("doc", length=pl.col("text").str.len_chars())
    rows = look_up(case.answers, "doc", lengths, ["length"])
    known = pl.col("length").is_not_null()
    wrong = (pl.col("end") > pl.col("length")) | (pl.col("begin") < 0) | (pl.col("end") < pl.col("begin"))
    beyond = rows.filter(known & wrong).join(case.mentions.documents, on="doc", maintain_order="left")
    for (system,), own in beyond.group_by("system", maintain_order=True):
        row = own.row(0, named=True)
        place = f"{row['begin']} to {row['end']} of {row['length']} characters in <{row['document']}>"
        name = case.mentions.systems[int(str(system))]
        progress.note(
            f"run '{name}': {len(own)} answers beyond the text of their document are wrong; the first is {place}"
        )
