"""Corrected datasets, and what was changed in them: by rules, or by what others corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix.checks import RULES, Subject
from remix.checks.changes import CHANGES, tell, tell_names, tell_repairs
from remix.checks.editions import lay_over
from remix.checks.findings import Checked, refuse_unread
from remix.errors import Error, UsageError
from remix.formats import FORMATS, Loss, Repair, read, write
from remix.formats.conversion import formats_by_suffix
from remix.formats.identifiers import agree_with_offsets, given_iris
from remix.formats.layers import RANKED
from remix.formats.nif.writing import rename_things
from remix.formats.offsets import cut_spans
from remix.frames import Frames, Links
from remix.kb import KnowledgeBase


def correct(
    frames: Frames, *, kb: KnowledgeBase | None = None, rules: Iterable[str] = ()
) -> tuple[Frames, pl.DataFrame]:
    """Return a dataset as the rules that mend, by default all of these, leave it, and their changes (`CHANGES`)."""
    changes = [pl.DataFrame(schema=CHANGES)]
    for rule in [RULES[name] for name in rules] or list(RULES):
        if rule.find is None or rule.mend is None or (rule.needs_kb and kb is None):
            continue
        subject = Subject(frames, kb)
        mended = rule.mend(subject, rule.find(subject))
        before, frames = frames, _apply(frames, mended)
        named = mended["annotation"].unique(maintain_order=True)
        changes.append(tell(before, frames, named, named, rule.name, "remix check"))
    return frames, pl.concat(changes)


def _apply(frames: Frames, mended: pl.DataFrame) -> Frames:
    """Return the frames with what a rule says of annotations (see `Rule`)."""
    annotations = frames.annotations
    if "entity" in mended.columns:
        return relink(frames, mended)
    gone = mended.filter(pl.col("begin").is_null())["annotation"]
    if len(gone):
        frames = frames.keep(annotations=annotations.filter(~pl.col("annotation").is_in(gone.implode()))["annotation"])
    moved = mended.drop_nulls("begin").unique("annotation", keep="first", maintain_order=True)
    if moved.is_empty():
        return frames
    rows = frames.annotations.update(moved, on="annotation", how="left")
    rows = rows.join(frames.documents.select("document", "text"), on="document", how="left", maintain_order="left")
    rows = rows.with_columns(surface_form=pl.coalesce(cut_spans(rows, "document"), "surface_form"))
    return replace(frames, annotations=rows.select(annotations.columns))


def relink(frames: Frames, links: Links) -> Frames:
    """Return the frames with these links of their annotations in the place of those that these have."""
    before = frames.links.with_row_index("row")
    row = before.group_by("annotation").agg(pl.col("row").min())
    others = before.join(links, on="annotation", how="anti", maintain_order="left")
    new = links.join(row, on="annotation", how="left", maintain_order="left").select(others.columns)
    every = pl.concat([others, new]).sort("row", maintain_order=True).drop("row")
    return replace(frames, links=every, values=_rank_anew(frames, every))


def _rank_anew(frames: Frames, links: Links) -> pl.DataFrame:
    """Return the values in which what files of tokens spell as links (`RANKED`) names the entities of now."""
    gone = frames.links.join(links, on=frames.links.columns, how="anti")
    came = links.join(frames.links, on=frames.links.columns, how="anti")
    if gone.is_empty() or not (frames.values["term"] == RANKED).any():
        return frames.values
    item = pl.col("entity").str.extract(r"([^/]+)$")
    # One link has become one other.
    pairs = gone.select("annotation", old=item).join(came.select("annotation", new=item), on="annotation")
    pairs = pairs.filter(pl.len().over("annotation") == 1)
    ranked = pl.col("term") == RANKED
    rows = frames.values.join(pairs, left_on="subject", right_on="annotation", how="left", maintain_order="left")
    spelt = pl.col("text").str.split("|").list.eval(pl.element())
    parts = rows.with_row_index("row").filter(ranked & pl.col("new").is_not_null())
    parts = parts.with_columns(part=spelt).explode("part")
    named = pl.when(pl.col("part") == pl.col("old")).then("new").otherwise("part")
    told = parts.with_columns(part=named).group_by("row").agg(told=pl.col("part").str.join("|"))
    rows = rows.with_row_index("row").join(told, on="row", how="left", maintain_order="left")
    return rows.with_columns(text=pl.coalesce("told", "text")).select(frames.values.columns)


def write_corrected(
    checked: Sequence[Checked],
    target: Path,
    *,
    kb: KnowledgeBase | None = None,
    rules: Iterable[str] = (),
    edition: Sequence[Checked] = (),
) -> pl.DataFrame:
    """Return what was changed in the dataset that was read, which the target takes as it should be (see `CHANGES`).

    With an edition it is corrected as that does (see `lay_over`), else by rules (see `correct`). NIF that is written as
    NIF keeps all that it says beside what changed; IRIs that say offsets say those of now. Raises `UsageError` for
    several datasets and a target whose format is not clear, `BadInput` for one that could not be read.
    """
    if len(checked) != 1:
        raise UsageError(f"{len(checked)} datasets are named, and one file takes the corrected one: name one of them")
    refuse_unread((*checked, *edition))
    [one] = checked
    chosen = _format_of(target, one)
    if edition:
        frames, changes = lay_over(one.frames, edition[0].frames, source=edition[0].file)
    else:
        frames, changes = correct(one.frames, kb=kb, rules=rules)
    losses: tuple[Loss, ...] = ()
    names = _find_misnamed(frames)
    if chosen == "nif" and one.export is not None:
        one.export(target, frames)
    else:
        losses = write(_call_anew(frames, names), target, chosen)
    told = [tell_repairs(one.repairs, "remix load", _find_remaining(one.repairs, target, chosen)), changes]
    told += [tell_names(names, "remix check")] if chosen == "nif" else []
    lost = [Repair(f"lost: {loss.kind}", loss.count, loss.example) for loss in losses]
    return pl.concat([*told, tell_repairs(lost, chosen)])


def _format_of(target: Path, dataset: Checked) -> str:
    """Return the format that a corrected dataset is written in: its own where the target's suffix is of several."""
    fitting = formats_by_suffix(target)
    if len(fitting) == 1 or dataset.format in fitting:
        return fitting[0] if len(fitting) == 1 else dataset.format
    # Folders have no suffix, and NIF is written in two of its syntaxes.
    files = [form for form in FORMATS if not form.collection and form.name != "nif"]
    suffixes = [".nt", ".ttl", *(suffix for form in files for suffix in form.suffixes)]
    clear = {suffix: formats_by_suffix(Path(f"x{suffix}")) for suffix in suffixes}
    told = ", ".join(f"{suffix} ({names[0]})" for suffix, names in sorted(clear.items()) if len(names) == 1)
    may = f"may be of several formats ({', '.join(fitting)})" if fitting else "is of no format that is written"
    raise UsageError(
        f"{target} {may}, and {dataset.file} is {dataset.format or 'none of them'}: --fix writes {told}; "
        "`remix convert` makes any other of it"
    )


def _find_misnamed(frames: Frames) -> pl.DataFrame:
    """Return what an IRI of NIF says the offsets of which it has not: annotation (its IRI in frames), was, now."""
    was = given_iris(frames)
    now = agree_with_offsets(was, frames)["exported"]
    named = was.select("given", annotation="scoped", was="exported").with_columns(now=now)
    return named.filter(pl.col("was") != pl.col("now"))


def _call_anew(frames: Frames, names: pl.DataFrame) -> Frames:
    """Return the frames with other names for what says wrong offsets in its own (see `_find_misnamed`)."""
    given = names.filter(pl.col("was") == pl.col("given")).select(scoped="annotation", other="now")
    own = names.filter(pl.col("was") == pl.col("annotation"), pl.col("was").ne_missing(pl.col("given")))

    def call(rows: pl.DataFrame, name: str) -> pl.DataFrame:
        found = rows.join(given, left_on=name, right_on="scoped", how="left", maintain_order="left")
        return found.with_columns(given=pl.coalesce("other", "given")).select(rows.columns)

    called = replace(
        frames, documents=call(frames.documents, "document"), annotations=call(frames.annotations, "annotation")
    )
    return rename_things(called, lambda iri: iri.replace(own["was"], own["now"]), "group", "option")


def _find_remaining(repairs: Sequence[Repair], target: Path, format: str) -> tuple[Repair, ...]:
    """Return what would be mended in the file that was written; what a catalogue counts otherwise stays as it is."""
    counted = tuple(one for one in repairs if one.kind == "count")
    try:
        return (*counted, *read(target, format=format, unannotated=True).report.repairs)
    except Error:
        return counted
