"""The mentions of a layer on both sides as HIPE-scorer has them, and the labels of these that count."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix import progress
from remix.formats.layers import (
    ALONE,
    COMMENT,
    CONTINUED,
    INSIDE,
    LABELS,
    LABELS_WITHOUT_HASHES,
    LAYERS,
    MAIN,
    NO_LINK,
    RANKED,
    UNCLASSED,
    UNTYPED,
    label_of,
    odd_prefixes_in,
    tells_tokens,
)
from remix.formats.mentions import canonical_entities
from remix.frames import OTHER_LAYER, Frames
from remix.kb import KnowledgeBase
from remix.scoring.matching import Case
from remix.scoring.profiles.hipe.cells import ALONE_THERE, MENTION, PART, cut_anew, lay_cells
from remix.scoring.profiles.hipe.editions import Edition
from remix.scoring.profiles.hipe.scorer_tokens import Cut, drop_hashes, read_tokens

LINKS = {links: layer for layer, links in LAYERS.items() if links}
"""The layers of links, with that of the mentions that they are of."""
_UNTYPED = UNCLASSED.upper()
"""The type of mentions whose file says no more than that they are some."""
_TIME = pl.col("class").str.extract("([^/#]*)$", 1).str.contains("time")


@dataclass(frozen=True)
class Sides:
    """What both sides have of a layer, in the order of the text, before anything is cut out.

    `gold` has `label`, null for none, `answers` have `system`, and both annotation, doc, begin, end, text,
    surface_form, labels, their type (`kind`) and whether they begin within one (`inner`), as `_mentions` has it.
    `parts` are what is only a part of a mention of gold or of an answer, and linked otherwise. `cells` are those of the
    runs that tell of each token how its tag begins, as `lay_cells` has them, None where none does.
    """

    gold: pl.DataFrame
    answers: pl.DataFrame
    parts: pl.DataFrame
    cells: pl.DataFrame | None


def find_sides(case: Case, task: str, edition: Edition) -> Sides:
    """Return what gold and the runs have of a layer.

    Types count that gold has in the layer, and the tags of the edition in answers; links that are one. In a slice gold
    is what the slice keeps.
    """
    alone = edition.links_alone and task in LINKS
    typed = tells_tokens(case.evidence.gold)
    found = _read(case, task, edition, alone=alone, typed=typed)
    gold, answers, nil = found.gold, found.answers, found.times
    if typed and progress.is_shown():
        case.once((_tell_lacking,), lambda own: _tell_lacking(own, found.placed))
    if case.column:
        there = pl.col("doc").is_in(case.answers["doc"].implode())
        answers, nil = answers.filter(there), nil.filter(there)
    read = read_tokens(case)
    gold = gold.with_columns(system=pl.lit(0, pl.Int64))
    if alone:
        gold, answers = read.join_links(gold), read.join_links(answers, nil)
    else:
        # Of a run what is linked otherwise is an answer of its own.
        apart = (found.pieces, found.inside.filter(system=-1))
        of_tokens = pl.concat(one.select("doc", "begin", "end", "labels") for one in apart)
        gold, answers = read.lay(gold, of_tokens), read.lay(answers, also=["labels"] if task in LINKS else [])
    cells = _cells(case, task, typed=typed) if task in LINKS and not alone and typed else None
    # What is linked alike is told by all links, those that are none among them.
    gold, answers = (rows.with_columns(given="labels") for rows in (gold, answers))
    keys = ["system", "dataset", "doc", "begin", "end", "labels", "label"]
    parts = pl.concat([found.pieces.with_columns(system=pl.lit(-1, pl.Int64)).select(keys), found.inside.select(keys)])
    parts = read.move(parts).with_columns(given="labels")
    uncut = answers
    if edition.hashes and typed:
        gold, answers, parts = drop_hashes(gold, answers, parts, case)
    if cells is not None:
        answers = cut_anew(answers, cells, Cut(hashes=not edition.hashes).find_left(case), uncut)
    if task in LAYERS:
        gold, answers = _with_labels_known(case, gold, answers, found.placed, task, edition)
    else:
        if typed:
            _tell_hyphened(task, gold["label"], answers["label"])
        of_gold = pl.concat([one.select("dataset", "label") for one in (gold, parts.filter(system=-1))])
        own_links = pl.concat(
            [one.select("system", "dataset", "label") for one in (answers, parts.filter(pl.col("system") >= 0))]
        )
        of_runs = parts.filter(pl.col("system") >= 0)
        answers, of_runs = (_leave_known(one, of_gold, own_links, hyphens=not typed) for one in (answers, of_runs))
        cells = cells if cells is None else _leave_known(cells, of_gold, own_links, hyphens=not typed)
        of_gold = parts.filter(system=-1)
        if typed:
            link = pl.when(~_is_hyphened(pl.col("label")))
            gold, of_gold = (
                one.with_columns(label=link.then("label"), labels=link.then("labels")) for one in (gold, of_gold)
            )
        # Where a cut makes mentions begin with them parts are links as these are.
        parts = pl.concat([of_gold, of_runs])
    if case.column:
        gold = gold.filter(pl.col("annotation").is_in(case.kept["annotation"].implode()))
    gold, answers = _in_place(case, gold, answers)
    columns = ["doc", "begin", "end", "text", "surface_form", "kind", "inner"]
    columns = ["annotation", *columns, "labels", "given"]
    parts = parts.select("system", "doc", "begin", "end", "labels", "given")
    return Sides(gold.select(*columns, "label"), answers.select(*columns, "system"), parts, cells)


@dataclass(frozen=True)
class _Read:
    """What both sides have of a layer: `gold` and what is only a part of its mentions (`pieces`), `answers`, `times`.

    `times` are what runs call a time, `inside` the links that no type tells apart, of gold with the system -1, `placed`
    says of which dataset of gold a document of each side is.
    """

    gold: pl.DataFrame
    pieces: pl.DataFrame
    answers: pl.DataFrame
    times: pl.DataFrame
    inside: pl.DataFrame
    placed: pl.DataFrame


def _read(case: Case, task: str, edition: Edition, *, alone: bool, typed: bool) -> _Read:
    """Return what both sides have of a layer, in the documents of gold."""
    frames, kb = case.evidence.gold, case.evidence.inputs.knowledge.kb
    places = case.mentions.documents.unique("document", keep="first", maintain_order=True)
    both = _mentions(frames, task, kb, whole=not alone, alone=alone, typed=typed)
    gold, pieces = (rows.join(places, on="document", maintain_order="left") for rows in both)
    parts: list[pl.DataFrame] = []
    times: list[pl.DataFrame] = []
    # Links of tokens that begin no mention and no part of one make their first items count all the same.
    inside = [_inner_links(frames, task, kb).join(places, on="document").with_columns(system=pl.lit(-1, pl.Int64))]
    # Of a part whose tokens have several links these tell each of them.
    told = _find_overlapping(pieces, inside[0])
    pieces = pieces.join(told, on="annotation", how="anti", maintain_order="left")
    if not alone:
        # What carries on the mention before it says what links the rest has where a cut takes that away.
        pieces = pl.concat([pieces, gold.filter("continued").select(pieces.columns)])
    placed = [places.select("document", "dataset", "doc", system=pl.lit(-1, pl.Int64))]
    for number, (name, run) in enumerate(case.evidence.runs.items()):
        pairs = case.evidence.inputs.pair_documents(name).join(places, left_on="gold", right_on="document")
        placed.append(pairs.select("document", "dataset", "doc", system=pl.lit(number, pl.Int64)))
        own = [
            _mentions(run, task, kb, alone=alone, typed=typed)[0],
            _times(run) if edition.times_nil else gold.clear(),
        ]
        linked = _inner_links(run, task, kb).join(pairs, on="document").with_columns(system=pl.lit(number, pl.Int64))
        inside.append(linked.select(inside[0].columns))
        for to, rows in zip((parts, times), own, strict=True):
            given = rows.select(_COLUMNS).join(pairs, on="document", maintain_order="left")
            to.append(given.with_columns(system=pl.lit(number, pl.Int64)))
    return _Read(gold, pieces, pl.concat(parts), pl.concat(times), pl.concat(inside), pl.concat(placed))


def _cells(case: Case, task: str, *, typed: bool) -> pl.DataFrame | None:
    """Return the cells of the runs' documents that tell where tags begin oddly, as `lay_cells` has them."""
    kb, layer, read = case.evidence.inputs.knowledge.kb, LINKS[task], read_tokens(case)
    places = case.mentions.documents.unique("document", keep="first", maintain_order=True)
    parts, odd = [], []
    for number, (name, run) in enumerate(case.evidence.runs.items()):
        begun = odd_prefixes_in(run).filter(layer=layer)
        if begun.is_empty():
            continue
        pairs = case.evidence.inputs.pair_documents(name).join(places, left_on="gold", right_on="document")
        pairs = pairs.select("document", "dataset", "doc", system=pl.lit(number, pl.Int64))
        if case.column:
            pairs = pairs.join(case.answers.select("doc"), on="doc", how="semi", maintain_order="left")
        odd.append(begun.select("document", "begin", end="begin").join(pairs, on="document"))
        # All documents that the scorer takes for one have cells.
        own = read.homes.join(odd[-1], on="doc", how="semi").select("home").unique()
        pairs = pairs.join(read.homes.join(own, on="home", how="semi"), on="doc", how="semi")
        parts.append(_linked_rows(run, task, kb, typed=typed).join(pairs, on="document", maintain_order="left"))
    if not any(len(one) for one in odd):
        return None
    rows, oddly = (read.move(pl.concat(one)) for one in (parts, odd))
    tokens = read.tokens.filter(~pl.col("token").str.starts_with(COMMENT))
    return lay_cells(rows.drop_nulls("begin"), oddly, read.tokens, tokens)


def _linked_rows(run: Frames, task: str, kb: KnowledgeBase | None, *, typed: bool) -> pl.DataFrame:
    """Return what says the types and links of the tokens of a run, with `told`, by what it does."""
    layer = LINKS[task]
    kept = pl.col("ignorable").is_null() if layer == MAIN else pl.col("ignorable") == OTHER_LAYER
    untyped = run.annotations.filter(layer=UNTYPED[layer])
    mentions = pl.concat([run.annotations.filter((pl.col("layer").fill_null(MAIN) == layer) & kept), untyped])
    apart, alone = (run.annotations.filter(layer=name) for name in (task, ALONE[task]))
    every = ((mentions, MENTION), (apart, PART), (alone, ALONE_THERE))
    rows = pl.concat(one.with_columns(told=pl.lit(told, pl.Int64)) for one, told in every)
    kinds = _types(run, mentions, untyped, typed=typed)
    inner = run.values.filter(pl.col("term") == INSIDE).select(annotation="subject", inner="text")
    rows = rows.select("annotation", "document", "begin", "end", "surface_form", "told")
    for known in (kinds, inner, _links(run, rows, kb)):
        rows = rows.join(known, on="annotation", how="left", maintain_order="left")
    return rows


def _tell_lacking(case: Case, placed: pl.DataFrame) -> None:
    """Say of each run which documents it lacks of the datasets of gold that it answers, where gold tells its tokens."""
    gold = case.evidence.gold.documents.select("document", called=pl.coalesce("given", "document"))
    every = placed.filter(system=-1).join(gold, on="document", maintain_order="left")
    for number, (name, run) in enumerate(case.evidence.runs.items()):
        own = placed.filter(system=number)
        asked = every.join(own, on="dataset", how="semi", maintain_order="left")
        lacking = asked.join(own, on="doc", how="anti", maintain_order="left")["called"]
        if len(lacking):
            # Tables of HIPE alone have layers, and a line for each token to say that nothing is answered there.
            empty = "O and _ in each line" if run.annotations["layer"].count() else "their texts and no annotation"
            progress.note(
                f"run '{name}' lacks {len(lacking)} of gold's {len(asked)} documents, the first is '{lacking[0]}': "
                f"HIPE-scorer refuses such a run, here they count as unanswered; give it these, too, with {empty} "
                "where it answers nothing"
            )


def _with_labels_known(
    case: Case, gold: pl.DataFrame, answers: pl.DataFrame, placed: pl.DataFrame, task: str, edition: Edition
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold and answers of types that are labels of gold's dataset, in answers also of tags that the run has.

    Labels are those of cells: where a file tells none, they follow from the types, of `A-B` only `B`. `placed` says of
    which dataset of gold a document of each side is, as runs may call documents otherwise. Where a remix dropped
    mentions of a document the labels of its cells count that are types of those that stay.
    """
    part = pl.when(pl.col("label") != "").then(label_of(pl.col("label")))
    frames = {-1: case.evidence.gold, **dict(enumerate(case.evidence.runs.values()))}
    of_cells = pl.concat(_labels_told(rows, number, task, edition) for number, rows in frames.items())
    on = ["dataset", "label"]
    if of_cells.is_empty():
        known = gold.select("dataset", label=part).drop_nulls().unique()
        own = answers.select("system", "dataset", "label").unique()
    else:
        of_types = pl.concat(
            [
                gold.select("document", "dataset", label=part, system=pl.lit(-1, pl.Int64)),
                answers.select("document", "dataset", label=part, system="system"),
            ]
        ).join(of_cells, on=["document", "system"], how="anti")
        dropped = case.evidence.gold.annotations.filter(pl.col("layer").fill_null(MAIN) == task, ignorable="dropped")
        cut = (pl.col("system") == -1) & pl.col("document").is_in(dropped["document"].unique().implode())
        of_cells = of_cells.explode("label")
        stays = gold.select("document", label=part)
        of_cells = pl.concat(
            [of_cells.filter(~cut), of_cells.filter(cut).join(stays, on=["document", "label"], how="semi")]
        )
        own_cells = of_cells.join(placed, on=["document", "system"]).select("system", *on)
        every = pl.concat([of_types.select("system", *on), own_cells]).drop_nulls().unique()
        known, own = every.filter(system=-1).select(on), every.filter(pl.col("system") >= 0)
    gold, told = (rows.join(known, on=on, how="semi", maintain_order="left") for rows in (gold, answers))
    others = answers.filter(pl.col("label").is_in(edition.tags)).join(known, on=on, how="anti", maintain_order="left")
    return gold, pl.concat([told, others.join(own, on=["system", *on], how="semi", maintain_order="left")])


def _labels_told(frames: Frames, system: int, task: str, edition: Edition) -> pl.DataFrame:
    """Return the labels of the cells of a layer where a file tells these, of a document: document, label, system."""
    of_layer = pl.col("text").str.starts_with(f"{task} ") | (pl.col("text") == task)
    # Of a document that tells those of 2024 these are all that this edition reads.
    terms = [LABELS_WITHOUT_HASHES, LABELS] if edition.hashes else [LABELS]
    told = frames.values.filter(pl.col("term").is_in(terms), of_layer)
    told = told.sort(pl.col("term") != terms[0], maintain_order=True).unique(
        "subject", keep="first", maintain_order=True
    )
    label = pl.col("text").str.split(" ").list.slice(1)
    return told.select(document="subject", label=label, system=pl.lit(system, pl.Int64))


def _in_place(case: Case, gold: pl.DataFrame, answers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold and answers with a place for what has none, without what repeats another of these."""
    if not (gold["begin"].null_count() or answers["begin"].null_count()):
        return gold, answers
    found = case.placed
    of_gold = found.gold.select("doc", "annotation", first="begin", last="end")
    of_answers = found.answers.select("system", "doc", "annotation", first="begin", last="end")
    sides = (
        gold.join(of_gold, on=["doc", "annotation"], how="left", maintain_order="left"),
        answers.join(of_answers, on=["system", "doc", "annotation"], how="left", maintain_order="left"),
    )
    # Where gold has no place, answers move to that of its form, so that theirs is not asked for.
    own = [pl.coalesce(place, name).alias(name) for place, name in (("first", "begin"), ("last", "end"))]
    first, second = (rows.with_columns(own).drop("first", "last").drop_nulls("begin") for rows in sides)
    return first, second


def _mentions(
    frames: Frames,
    task: str,
    kb: KnowledgeBase | None,
    *,
    whole: bool = False,
    alone: bool = False,
    typed: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the mentions of a layer, and of a layer of links those that are only a part where mentions are `whole`.

    Links that no type tells apart are one, unless they stand `alone`. Where gold's files have a type for each mention
    (`typed`) one without is of the type that these have for it.

    They have annotation, document, begin, end, text, labels, best first, the first label, their type (`kind`), and
    whether the scorer does not tell them from the mention before (`continued`), and as what they begin where it would
    not, were nothing between them (`inner`). Null is none.
    """
    layer = LINKS.get(task, task)
    own = pl.col("layer").fill_null(MAIN) == layer
    kept = pl.col("ignorable").is_null() if layer == MAIN else pl.col("ignorable") == OTHER_LAYER
    untyped = frames.annotations.filter(layer=UNTYPED[layer])
    every = rows = typed_rows = pl.concat([frames.annotations.filter(own & kept), untyped])
    kinds = _types(frames, rows, untyped, typed=typed)
    labels = kinds.with_columns(labels=pl.concat_list("kind")).drop("kind")
    if task in LINKS:
        apart = frames.annotations.filter(layer=task)
        # A whole mention has the link that it begins with, else it is a part for each of its links.
        every = pl.concat([rows, apart])
        gone = _find_overlapping(apart, rows) if whole else _find_overlapping(rows, apart)
        rows = every.join(gone, on="annotation", how="anti", maintain_order="left")
        if alone:
            single = frames.annotations.filter(layer=ALONE[task])
            rows = every = pl.concat([rows.join(_find_overlapping(rows, single), on="annotation", how="anti"), single])
        labels = _links(frames, every, kb)
    text = pl.col("surface_form").str.replace_all(r"\s", "")
    goes_on = frames.values.filter(pl.col("term") == CONTINUED)["subject"].implode()
    begun = frames.values.filter(pl.col("term") == INSIDE).select(annotation="subject", inner="text")
    spans = (
        typed_rows.join(kinds, on="annotation").select("document", first="begin", last="end", kind="kind").sort("first")
    )

    def tell(some: pl.DataFrame) -> pl.DataFrame:
        """Return annotations with what is known of them."""
        some = some.select("annotation", "document", "begin", "end", "surface_form", text=text)
        some = some.join(labels, on="annotation", maintain_order="left").with_row_index("row")
        some = some.sort("begin").join_asof(
            spans, left_on="begin", right_on="first", by="document", check_sortedness=False
        )
        within = pl.when(pl.col("begin") < pl.col("last")).then("kind")
        some = some.join(begun, on="annotation", how="left").sort("row").drop("row", "first")
        continued = pl.col("annotation").is_in(goes_on)
        some = some.with_columns(label=pl.col("labels").list.first(), kind=within, continued=continued)
        return some.select(_COLUMNS)

    return tell(rows), tell(every.join(rows, on="annotation", how="anti", maintain_order="left"))


def _types(frames: Frames, rows: pl.DataFrame, untyped: pl.DataFrame, *, typed: bool) -> pl.DataFrame:
    """Return annotation and `kind`, its type, of the mentions that have one; that of the untyped is empty."""
    classes = frames.classes.filter(~pl.col("of_entity")).unique("annotation", keep="first", maintain_order=True)
    name = pl.col("class").str.extract("([^/#]*)$", 1).str.replace_all("%7C", "|", literal=True).str.to_uppercase()
    kinds = classes.join(rows, on="annotation", how="semi").select("annotation", kind=name)
    bare = (
        rows.join(kinds, on="annotation", how="anti").select("annotation", kind=pl.lit(_UNTYPED))
        if typed
        else kinds.clear()
    )
    none = pl.col("annotation").is_in(untyped["annotation"].implode())
    empty = untyped.select("annotation", kind=pl.lit(""))
    return pl.concat([pl.concat([kinds, bare]).filter(~none), empty])


def _find_overlapping(rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return those of the mentions that overlap any of the others."""
    spans = others.select("document", first="begin", last="end")
    both = rows.join(spans, on="document")
    return both.filter((pl.col("begin") < pl.col("last")) & (pl.col("first") < pl.col("end"))).select("annotation")


def _is_hyphened(label: pl.Expr) -> pl.Expr:
    """Return whether a label has a hyphen: the scorer knows it by what stands behind the last, so it is none."""
    return label.str.contains("-", literal=True).fill_null(False)


def _tell_hyphened(task: str, *labels: pl.Series) -> None:
    if count := sum(int(one.to_frame("label").select(_is_hyphened(pl.col("label")).sum()).item()) for one in labels):
        progress.note(f"{task}: HIPE-scorer reads no link that has a hyphen: {count} of gold and answers are none")


def _inner_links(frames: Frames, task: str, kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return the links that no type tells apart from those around them: document, begin, end, labels and the first."""
    rows = frames.annotations.filter(pl.col("layer") == ALONE[task] if task in LINKS else pl.lit(False))
    first = pl.col("labels").list.first()
    told = rows.select("annotation", "document", "begin", "end").join(_links(frames, rows, kb), on="annotation")
    return told.drop("annotation").with_columns(label=first)


def _leave_known(answers: pl.DataFrame, gold: pl.DataFrame, own: pl.DataFrame, *, hyphens: bool) -> pl.DataFrame:
    """Return answers whose links are null where they begin with none and no cell of either side has these first.

    Cells begin with the labels of `gold` and, of each run, with its `own`. Of `_|Q1` Q1 is a link only where a cell of
    the column, of gold or of the same run, begins with it. Without `hyphens` a link with one is none.
    """
    none = pl.col("label").is_null() | (pl.lit(False) if hyphens else _is_hyphened(pl.col("label")))
    late = answers.with_row_index("row").filter(none, pl.col("labels").list.drop_nulls().list.len() > 0)
    if late.is_empty():
        return answers
    known = pl.concat([own, own.select("system").unique().join(gold, how="cross")]).drop_nulls().unique()
    known = known if hyphens else known.filter(~_is_hyphened(pl.col("label")))
    items = late.select("row", "system", "dataset", label="labels").explode("label")
    items = items.join(known.with_columns(known=True), on=own.columns, how="left", maintain_order="left")
    said = items.group_by("row", maintain_order=True).agg(said=pl.when("known").then("label"))
    found = answers.with_row_index("row").join(said, on="row", how="left", maintain_order="left")
    return found.with_columns(labels=pl.coalesce("said", "labels")).drop("row", "said")


_COLUMNS = (
    "annotation",
    "document",
    "begin",
    "end",
    "text",
    "surface_form",
    "labels",
    "label",
    "kind",
    "continued",
    "inner",
)


def _times(run: Frames) -> pl.DataFrame:
    """Return what a run calls a time as mentions that are NIL, as `_mentions` has them."""
    times = run.annotations.filter(pl.col("layer").fill_null(MAIN) == MAIN, pl.col("ignorable").is_null())
    times = times.join(run.classes.filter(~pl.col("of_entity"), _TIME), on="annotation", how="semi")
    nil = {"labels": pl.concat_list(pl.lit("NIL")), "label": pl.lit("NIL"), "kind": pl.lit("")}
    nil |= {"continued": pl.lit(False), "inner": pl.lit(None, pl.String)}
    return times.with_columns(text=pl.lit(""), surface_form=pl.lit(""), **nil).select(_COLUMNS)


def _links(frames: Frames, rows: pl.DataFrame, kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return annotation and labels: the entities in the order of the file, NIL among them."""
    spelt = frames.values.filter(pl.col("term") == RANKED).select(
        annotation="subject", label=pl.col("text").str.split("|")
    )
    items = spelt.join(rows, on="annotation", how="semi").explode("label")
    items = items.with_columns(label=canonical_entities(items["label"]), none=pl.col("label").is_in(NO_LINK))
    rest = rows.select("annotation").join(spelt, on="annotation", how="anti", maintain_order="left")
    links = frames.links.unique("annotation", keep="first", maintain_order=True).select("annotation", label="entity")
    plain = rest.join(links, on="annotation", how="left", maintain_order="left")
    plain = plain.with_columns(pl.col("label").fill_null("NIL"), none=pl.lit(False))
    every = pl.concat([items, plain])
    if kb is not None:
        every = every.with_columns(kb.resolve(every["label"]).alias("label"))
    every = every.with_columns(pl.col("label").str.to_uppercase())  # as the scorer reads all cells but tokens
    return every.group_by("annotation", maintain_order=True).agg(labels=pl.when(~pl.col("none")).then("label"))
