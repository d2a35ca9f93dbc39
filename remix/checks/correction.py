"""Corrected datasets, and what was changed in them: by rules, or by what others corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix.checks import RULES, Subject
from remix.checks.findings import Checked
from remix.errors import BadInput, UsageError
from remix.expressions import fill
from remix.formats import Loss, Repair, write
from remix.formats.conversion import format_by_suffix
from remix.formats.offsets import cut_spans
from remix.frames import Frames, fit
from remix.iris import canonical
from remix.kb import KnowledgeBase

CHANGES: dict[str, pl.DataType] = {
    "change": pl.String(),
    "source": pl.String(),
    "document": pl.String(),
    "annotation": pl.String(),
    "begin": pl.Int64(),
    "end": pl.Int64(),
    "surface_form": pl.String(),
    "links": pl.String(),
    "new_begin": pl.Int64(),
    "new_end": pl.Int64(),
    "new_surface_form": pl.String(),
    "new_links": pl.String(),
    "what": pl.String(),
}
"""A row per annotation that changed: what it was, and what it is now; nothing new where it went, nothing old where it
came. `change` is the rule, or `linked`, `moved`, `added`, `removed`; `source` is who says so. Of what the reader of the
file mended there is a row a kind, with how often and the first example in `what`."""

_REVISION = "http://www.w3.org/ns/prov#wasRevisionOf"
_WAS = ("begin", "end", "surface_form", "links")


def correct(
    frames: Frames, *, kb: KnowledgeBase | None = None, rules: Iterable[str] = ()
) -> tuple[Frames, pl.DataFrame]:
    """Return a dataset as the rules that mend, by default all of these, leave it, and their changes (`CHANGES`)."""
    changes = [pl.DataFrame(schema=CHANGES)]
    for rule in [RULES[name] for name in rules] or list(RULES):
        if rule.find is None or rule.mend is None or (rule.needs_kb and kb is None):
            continue
        subject = Subject(frames, kb)
        mended = rule.mend(subject, rule.find(subject)).unique("annotation", keep="first", maintain_order=True)
        before, frames = frames, _apply(frames, mended)
        changes.append(_tell(before, frames, mended["annotation"], mended["annotation"], rule.name, "remix check"))
    return frames, pl.concat(changes)


def _apply(frames: Frames, mended: pl.DataFrame) -> Frames:
    """Return the frames with what a rule says of annotations (see `Rule`)."""
    annotations, links = frames.annotations, frames.links
    if "entity" in mended.columns:
        others = links.join(mended, on="annotation", how="anti", maintain_order="left")
        new = mended.explode("entity").select("annotation", "entity", entity_as_given="entity")
        return replace(frames, links=pl.concat([others, new]))
    gone = mended.filter(pl.col("begin").is_null())["annotation"]
    if len(gone):
        frames = frames.keep(annotations=annotations.filter(~pl.col("annotation").is_in(gone.implode()))["annotation"])
    moved = mended.drop_nulls("begin")
    if moved.is_empty():
        return frames
    rows = frames.annotations.update(moved, on="annotation", how="left")
    rows = rows.join(frames.documents.select("document", "text"), on="document", how="left", maintain_order="left")
    rows = rows.with_columns(surface_form=pl.coalesce(cut_spans(rows, "document"), "surface_form"))
    return replace(frames, annotations=rows.select(annotations.columns))


def _tell(
    old: Frames, new: Frames, was: pl.Series | None, now: pl.Series | None, change: str, source: str
) -> pl.DataFrame:
    """Return the rows of `CHANGES` for annotations as they were and as they are now, null where there is none."""
    pairs = pl.DataFrame({"was": was, "now": now}, schema={"was": pl.String, "now": pl.String})
    pairs = pairs.with_columns(change=pl.lit(change), source=pl.lit(source))
    left, right = _describe(old), _describe(new).rename({name: f"new_{name}" for name in _WAS})
    rows = pairs.join(left, left_on="was", right_on="annotation", how="left", maintain_order="left")
    rows = rows.join(right, left_on="now", right_on="annotation", how="left", maintain_order="left", suffix="_now")
    rows = rows.with_columns(document=pl.coalesce("document", "document_now"), annotation=pl.coalesce("was", "now"))
    return fit(rows, CHANGES)


def _tell_repairs(repairs: Iterable[Repair], source: str) -> pl.DataFrame:
    """Return what the reader of a file mended as rows of `CHANGES`."""
    rows = [
        {"change": one.kind, "source": source, "what": f"{count} times; {example}"}
        for one in repairs
        for example, count in one.examples()
    ]
    return pl.DataFrame(rows, schema=CHANGES)


def _describe(frames: Frames) -> pl.DataFrame:
    """Return annotation, document (its name) and what changes may say of it; links one after another."""
    links = frames.links.group_by("annotation").agg(links=pl.col("entity_as_given").sort().str.join(" "))
    names = frames.documents.select("document", name=pl.coalesce("given", "document"))
    rows = frames.annotations.join(links, on="annotation", how="left").join(names, on="document", how="left")
    return rows.select("annotation", pl.coalesce("name", "document").alias("document"), *_WAS)


def lay_over(frames: Frames, corrected: Frames, *, source: str) -> tuple[Frames, pl.DataFrame]:
    """Return a dataset as another edition of it corrects it, and what that changed (see `CHANGES`).

    Documents are paired by their text; those that are left by their name, or by their place if both editions have as
    many, where both texts have as many words and these are the same, or the edition masks them all by one: then spans
    are told by words. Documents that the edition does not have stay as they are. What the edition leaves alone keeps
    its annotation; what it changes says whose revision it is (prov:wasRevisionOf). What of the edition finds no
    document or no place is told as `left`. Raises `UsageError` where no document of the edition is one of the dataset.

    >>> text = pl.DataFrame({"document": ["d"], "text": ["Ada met Bo"]})
    >>> def link(entity):
    ...     row = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [3]})
    ...     links = pl.DataFrame({"annotation": ["a"], "entity": [entity], "entity_as_given": [entity]})
    ...     return Frames.of(documents=text, annotations=row, links=links)
    >>> lay_over(link("x:Ada"), link("x:Ada_Lovelace"), source="me")[1]["change"].to_list()
    ['linked']
    """
    pairs = _pair(frames.documents, corrected.documents)
    if pairs.is_empty():
        raise UsageError(f"no document of {source} has the text, or the name and as many words, of one of the dataset")
    new = _move(frames.documents, corrected, pairs)
    old = frames.annotations.join(pairs, on="document", how="semi", maintain_order="left")
    same, linked, moved = _match(frames, old, new)
    kept = frames.annotations.join(old, on="annotation", how="anti", maintain_order="left")["annotation"]
    left = frames.keep(annotations=pl.concat([kept, same["was"]]))
    fresh = new.keep(
        annotations=new.annotations.join(same, left_on="annotation", right_on="now", how="anti")["annotation"]
    )
    revised = pl.concat([linked, moved])
    values = revised.select(subject="now", term=pl.lit(_REVISION), number=pl.lit(None, pl.Float64), text="was")
    result = Frames.concat(
        [left, replace(fresh, documents=fresh.documents.clear(), regions=fresh.regions.clear(), values=values)]
    )
    known = pl.concat([same, revised])
    gone = old.join(known, left_on="annotation", right_on="was", how="anti", maintain_order="left")["annotation"]
    came = new.annotations.join(known, left_on="annotation", right_on="now", how="anti", maintain_order="left")
    changes = [
        _tell(frames, new, linked["was"], linked["now"], "linked", source),
        _tell(frames, new, moved["was"], moved["now"], "moved", source),
        _tell(frames, new, gone, None, "removed", source),
        _tell(frames, new, None, came["annotation"], "added", source),
        _tell_left(corrected, pairs, new, source),
    ]
    return result, pl.concat(changes).sort("document", pl.coalesce("begin", "new_begin"), maintain_order=True)


def _tell_left(corrected: Frames, pairs: pl.DataFrame, new: Frames, source: str) -> pl.DataFrame:
    """Return what of an edition was not laid over: its documents without a partner, its annotations without a place."""
    documents = corrected.documents.join(pairs, left_on="document", right_on="other", how="anti", maintain_order="left")
    within = corrected.annotations.join(pairs, left_on="document", right_on="other", how="semi").height
    cut = within - new.annotations.height
    told = [f"{documents.height} documents of the edition are not in the dataset"] if documents.height else []
    told += [f"{cut} annotations of the edition begin or end within a word"] if cut else []
    rows = [{"change": "left", "source": source, "what": what} for what in told]
    return pl.DataFrame(rows, schema=CHANGES)


def _pair(documents: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return document, other, by_words: which documents are the same in both editions, one with one."""
    words = pl.col("text").str.count_matches(r"\S+")
    here = documents.select("document", "text", name=pl.coalesce("given", "document"), words=words)
    there = others.select("text", other="document", name=pl.coalesce("given", "document"), words=words)
    last = pl.col("name").str.extract(r"([^/#]+)/?$")
    here, there = (rows.with_columns(part=last).with_row_index("place") for rows in (here, there))
    as_many = documents.height == others.height
    found: list[pl.DataFrame] = []
    keys = (["text"], ["name", "words"], ["part", "words"], *([["place", "words"]] if as_many else []))
    for key in keys:
        met = here.join(there, on=key, suffix="_there")
        if key != ["text"]:
            said, other = (pl.col(name).str.extract_all(r"\S+") for name in ("text", "text_there"))
            met = met.filter((said == other) | (other.list.n_unique() == 1))
        both = _one_to_one(met.select("document", "other", by_words=pl.lit(key != ["text"])), "document", "other")
        found.append(both)
        here = here.join(both, on="document", how="anti", maintain_order="left")
        there = there.join(both, on="other", how="anti", maintain_order="left")
    return pl.concat(found)


def _move(documents: pl.DataFrame, corrected: Frames, pairs: pl.DataFrame) -> Frames:
    """Return the edition's annotations in the documents that they are paired with, under IRIs of their own."""
    rows = corrected.annotations.join(
        pairs, left_on="document", right_on="other", suffix="_here", maintain_order="left"
    ).with_row_index("_row")
    words = pairs.filter("by_words").join(_words(corrected.documents), left_on="other", right_on="document")
    words = words.join(_words(documents), on=["document", "word"], suffix="_here")
    for name in ("begin", "end"):
        there = words.select(pl.col("other").alias("document"), name, pl.col(f"{name}_here").alias(f"to_{name}"))
        rows = rows.join(there, on=["document", name], how="left", maintain_order="left")
    rows = rows.filter(~pl.col("by_words") | (pl.col("to_begin").is_not_null() & pl.col("to_end").is_not_null()))
    moved = [pl.coalesce(f"to_{name}", name).alias(name) for name in ("begin", "end")]
    rows = rows.with_columns(*moved, document="document_here")
    named = rows.join(documents.select("document", "text", "dataset"), on="document", suffix="_", maintain_order="left")
    named = named.with_columns(
        surface_form=cut_spans(named, "document"), dataset="dataset_", given=pl.lit(None, pl.String)
    )
    named = named.with_columns(
        now=fill("{}#char={},{};revised-{}", pl.col("document").str.replace("#.*$", ""), "begin", "end", "_row")
    )
    # Those that stand for themselves do so under their new name.
    sets = [pl.when(pl.col(name) != pl.col("annotation")).then(name).alias(name) for name in ("group", "option")]
    renamed = named.select("annotation", "now")

    def rename(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.join(renamed, on="annotation", maintain_order="left").with_columns(annotation="now")

    return Frames.of(
        documents=documents,
        annotations=named.with_columns(sets).with_columns(annotation="now"),
        links=rename(corrected.links),
        classes=rename(corrected.classes),
    )


def _words(documents: pl.DataFrame) -> pl.DataFrame:
    """Return document, the number of a word, its begin and end, for each run of characters without white space."""
    pieces = documents.drop_nulls("text").select(
        "document", piece=pl.col("text").str.replace_all(r"\s", " ").str.split(" ")
    )
    rows = pieces.explode("piece").with_columns(length=pl.col("piece").str.len_chars().cast(pl.Int64))
    rows = rows.with_columns(end=(pl.col("length") + 1).cum_sum().over("document") - 1).filter(pl.col("length") > 0)
    return rows.select(
        "document", "end", begin=pl.col("end") - pl.col("length"), word=pl.int_range(pl.len()).over("document")
    )


def _match(frames: Frames, old: pl.DataFrame, new: Frames) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return pairs (was, now) of annotations that are the same, that have other links, and that have other places."""
    left = _with_links(old, frames.links).rename({"annotation": "was"})
    right = _with_links(new.annotations, new.links).rename({"annotation": "now"})
    found: list[pl.DataFrame] = []
    for key in (["document", "begin", "end", "links"], ["document", "begin", "end"]):
        found.append(_one_to_one(left.join(right, on=key).select("was", "now")))
        left = left.join(found[-1], on="was", how="anti", maintain_order="left")
        right = right.join(found[-1], on="now", how="anti", maintain_order="left")
    touching = left.join(right, on="document", suffix="_now").filter(
        (pl.col("begin") < pl.col("end_now")) & (pl.col("begin_now") < pl.col("end"))
    )
    same, linked = found
    return same, linked, _one_to_one(touching.sort("document", "begin", "begin_now").select("was", "now"))


def _one_to_one(pairs: pl.DataFrame, was: str = "was", now: str = "now") -> pl.DataFrame:
    return pairs.unique(was, keep="first", maintain_order=True).unique(now, keep="first", maintain_order=True)


def _with_links(annotations: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    compared = links.with_columns(entity=canonical(links["entity"]))
    joined = compared.group_by("annotation").agg(links=pl.col("entity").unique().sort().str.join(" "))
    rows = annotations.join(joined, on="annotation", how="left", maintain_order="left")
    return rows.select("annotation", "document", "begin", "end", pl.col("links").fill_null(""))


def write_corrected(
    read: Sequence[Checked],
    target: Path,
    *,
    kb: KnowledgeBase | None = None,
    rules: Iterable[str] = (),
    edition: Sequence[Checked] = (),
) -> pl.DataFrame:
    """Return what was changed in the dataset that was read, which the target takes as it should be (see `CHANGES`).

    With an edition it is corrected as that does (see `lay_over`), else by rules (see `correct`). NIF that is written as
    NIF keeps all that it says beside what changed. Raises `UsageError` for several datasets and a target whose format
    is not clear, `BadInput` for one that could not be read.
    """
    if len(read) != 1:
        raise UsageError(f"{len(read)} datasets are named, and one file takes the corrected one: name one of them")
    for one in (*read, *edition):
        if refusal := next((repair for repair in one.repairs if repair.kind == "refused"), None):
            raise BadInput(one.file, refusal.example)
    [one] = read
    if edition:
        frames, changes = lay_over(one.frames, edition[0].frames, source=edition[0].file)
    else:
        frames, changes = correct(one.frames, kb=kb, rules=rules)
    chosen = format_by_suffix(target)
    if chosen == "nif" and one.export is not None:
        one.export(target, frames)
        losses: tuple[Loss, ...] = ()
    else:
        losses = write(frames, target, chosen)
    lost = [Repair(f"lost: {loss.kind}", loss.count, loss.example) for loss in losses]
    return pl.concat([_tell_repairs(one.repairs, "remix load"), changes, _tell_repairs(lost, chosen)])
