"""Which document of a run is which document of gold."""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from remix import progress
from remix.dense import stack
from remix.errors import BadInput
from remix.expressions import fill
from remix.formats.elevant import PLACED
from remix.formats.identifiers import strip_offsets
from remix.frames import Documents, Frames

AROUND = 15
"""Characters of a text that are shown on both sides of where it differs from another."""


def align(
    gold: Frames,
    run: Frames,
    name: str = "run",
    *,
    told: bool = True,
    elsewhere: Collection[str] = (),
    unasked: Collection[str] = (),
    apart: bool = False,
    homes: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> pl.DataFrame:
    """Return `gold` and `document` (of the run), one row for each pair of documents that are the same.

    Two documents are the same, in this order, if

    1. they have one name and one text, or one name that is an IRI; names are the IRI that the file gives, with or
       without the offsets at its end, and, of gold, the IRI that the document has in the store;
    2. they have one text (but for white space at its end): the n-th of gold is the n-th of the run, the last one is
       also the rest, as nothing tells these apart;
    3. a text is missing and they have one name that is no IRI, or one name is the last part of the other (`CEL01`), or
       both have it as their last part below a part that all documents of the file share.

    Where both have a text, it must be the same, since offsets mean nothing in another text. Within a dataset of gold no
    document is taken twice, but for repeated texts and files of a run that add up; a name that several documents have
    names none, which is said. A name that is no IRI means something in its file alone, so that a file of the run is
    never the answer to two datasets by it. Documents of gold that the run lacks count as unanswered, those of the run
    that gold lacks are left out, which is said unless `told` is false, but for those of gold that the run was not asked
    about (`unasked`) and those of the run that answer other gold (`elsewhere`). So is of how many documents the texts
    are gold's, as the run tells none.

    With `apart` a document of the run answers the dataset that it says it is of, where gold has that, and no other one,
    also where others share its text: so a registered run says on which dataset each of its answers was registered. A
    dataset of gold that the run names none of its documents by is answered by those of its `homes`, else by all.

    Raises `BadInput` where nothing is the same, with how many documents match by name and by text, and where names
    without texts are those of documents of several datasets.
    """
    found = align_each(
        gold,
        {name: run},
        told=told,
        elsewhere=elsewhere,
        unasked={name: unasked},
        apart={name} if apart else (),
        homes=homes,
    )
    return found[name]


def align_each(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    told: bool = True,
    elsewhere: Collection[str] = (),
    unasked: Mapping[str, Collection[str]] = MappingProxyType({}),
    apart: Collection[str] = (),
    homes: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, pl.DataFrame]:
    """Return by its name what `align` returns of each run; what they have in common is looked up once.

    `unasked` are the documents of gold that a run was not asked about, by its name, `apart` are the names of the runs
    that are aligned so. Raises as `align` for the first run that does.
    """
    copies = [name for name, run in runs.items() if _is_copy(gold.documents, run.documents)]
    found = dict.fromkeys(copies, _pair_with_itself(gold.documents)) if copies else {}
    rest = {name: run for name, run in runs.items() if name not in found}
    same = _same_documents(gold.documents, {name: run.documents for name, run in rest.items()})
    left = None if len(same) == len(rest) else _read_names(gold.documents)
    for name, run in rest.items():
        asked = _Aligned(name, told, elsewhere, unasked.get(name, ()), name in apart, homes)
        if name in same:
            found[name] = same[name]
            _report(asked, gold.documents, run.documents, same[name], named=len(same[name]), by_text=len(same[name]))
        elif left is not None:
            found[name] = _align_by_rules(gold, run, left, asked)
    return {name: found[name] for name in runs}


@dataclass(frozen=True)
class _Aligned:
    """How a run is aligned, as `align` has it."""

    name: str
    told: bool
    elsewhere: Collection[str]
    unasked: Collection[str]
    apart: bool
    homes: Mapping[str, Collection[str]]


def _pair_with_itself(documents: Documents) -> pl.DataFrame:
    """Return the pairs of documents each with itself."""
    return documents.select(pl.col("document").alias("gold"), "document").sort("gold", "document")


def _align_by_rules(gold: Frames, run: Frames, left: pl.DataFrame, asked: _Aligned) -> pl.DataFrame:
    """Return what `align` returns of a run by its rules one after another; `left` are the names of gold."""
    right = _read_names(run.documents)
    if right.is_empty():
        return pl.DataFrame(schema={"gold": pl.String, "document": pl.String})
    if asked.apart and right["dataset"].n_unique() > 1:
        own = _align_apart(gold, run, asked, left, right)
        if asked.told:
            whole = pl.col("document").is_in([*own["gold"], *asked.unasked]).all()
            unasked = pl.col("document").is_in([*asked.unasked])
            rest = left.clear() if left.select(whole).item() else left.filter(~unasked)
            other = _difference(_named_alike(rest, right))
            _report(asked, gold.documents, run.documents, own, named=len(own), by_text=len(own), other=other)
        return own
    named = _named_alike(left, right)
    count = named["document"].n_unique()
    other = _difference(named.filter(~pl.col("gold").is_in([*asked.unasked]))) if asked.told else ""
    named = named.filter("same")
    settled = _settle(named.filter("sure"), "run_dataset")
    settled = pl.concat([settled, *_by_text(left, right, settled)])
    claims = _claims(pl.concat([named.filter(~pl.col("sure")), _parts_alike(left, right)]), settled)
    _refuse_several(asked.name, claims, settled)
    claims = _at_home(claims, right, settled)
    plain = _settle(claims, pl.lit(0)).join(settled, on="gold", how="anti")
    plain = plain.join(settled, on=["document", "dataset"], how="anti")
    pairs = pl.concat([settled, plain]).select("gold", "document").unique().sort("gold", "document")
    if asked.told:
        _tell_names(asked.name, claims, pairs)
        by_text = right.join(left, on="text", how="semi").height
        _report(asked, gold.documents, run.documents, pairs, named=count, by_text=by_text, other=other)
    return pairs


def _align_apart(gold: Frames, run: Frames, asked: _Aligned, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of each dataset of gold with the run's documents that are of it, else of its homes, else all."""
    named = {*right["dataset"]}
    both = left.join(right, on=["document", "dataset"], suffix="_run")
    same = all((both[column] == both[f"{column}_run"]).fill_null(True).all() for column in ("given", "text"))
    if same and len(both) == len(right) and named >= {*left["dataset"]}:
        return _pair_with_itself(both)
    parts = []
    for dataset in left["dataset"].unique(maintain_order=True):
        own = pl.col("dataset").fill_null("") == dataset
        whose = {dataset} if dataset in named else {*asked.homes.get(dataset, named)}
        answers = run.documents.filter(pl.col("dataset").fill_null("").is_in([*whose]))
        sides = (replace(gold, documents=gold.documents.filter(own)), replace(run, documents=answers))
        parts.append(align(*sides, asked.name, told=False))
    return pl.concat(parts).unique().sort("gold", "document")


def texts_beyond(gold: Documents, run: Documents) -> Documents:
    """Return the documents of a run whose text is none of gold's, white space at its end left aside.

    >>> documents = pl.DataFrame({"text": ["Ada met Bob", "Ada  met Bob", "Ada met Bob ", None]})
    >>> texts_beyond(documents[:1], documents)["text"].to_list()
    ['Ada  met Bob']
    """
    if run["text"].equals(gold["text"]):
        return run.clear()  # gold's, which are many, need not be looked for
    ends, texts = pl.col("text").str.strip_chars_end(), run.drop_nulls("text")
    if texts.is_empty() or texts["text"].equals(gold["text"]):
        return texts.clear()
    return texts.filter(~ends.is_in(gold.drop_nulls("text").select(ends).to_series().implode()))


def has_text_beyond(gold: Documents, runs: Iterable[Documents]) -> bool:
    """Return whether `texts_beyond` has a document of any of the runs.

    >>> one, other = pl.DataFrame({"text": ["Ada"]}), pl.DataFrame({"text": ["Ada", "Bob"]})
    >>> has_text_beyond(one, [one, one]), has_text_beyond(one, [one, other])
    (False, True)
    """
    others = [run[["text"]] for run in runs if not run["text"].equals(gold["text"])]
    return bool(others) and not texts_beyond(gold, pl.concat(others)).is_empty()


def is_named_by_place(documents: Documents) -> bool:
    """Return whether the documents of a file have nothing but their place in it, as ELEVANT's simple predictions.

    >>> named = pl.DataFrame({"given": ["urn:elevant:article:0", "urn:elevant:article:1"], "text": [None, "Ada"]})
    >>> is_named_by_place(named[:1]), is_named_by_place(named)
    (True, False)
    """
    if documents["text"].null_count() < len(documents):
        return False
    return len(documents) > 0 and bool(documents["given"].str.contains(PLACED).fill_null(False).all())


_IRI = r"^(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:)"
_PART, _PART_OF_BOTH = 10, 11
"""The ranks of pairs by the last part of a name: of one, or of both."""
_FOUND = ["gold", "dataset", "document", "text"]


def _read_names(documents: Documents) -> pl.DataFrame:
    """Return document, dataset, given, own (its name in its file) and text."""
    text = pl.col("text").str.strip_chars_end()
    own = pl.coalesce("given", "document")
    return documents.select("document", pl.col("dataset").fill_null(""), "given", own=own, text=text)


def _is_copy(gold: Documents, run: Documents) -> bool:
    """Return whether the documents are those of gold one by one, as of registered runs: then nothing is to be said."""
    return (
        gold.height == run.height > 0
        and all(gold[name].equals(run[name]) for name in ("document", "given", "text"))
        and not gold["text"].has_nulls()
        and gold["document"].n_unique() == gold.height
        and gold["dataset"].n_unique() == run["dataset"].n_unique() == 1
    )


def _same_documents(gold: Documents, runs: Mapping[str, Documents]) -> dict[str, pl.DataFrame]:
    """Return the pairs of each run where gold has its documents with all that names them, each side of one dataset.

    Each is then the closest of the other by the first rule, and none is left for the other rules, which take a hundred
    steps to find nothing.
    """
    asked = {
        name: run
        for name, run in runs.items()
        if run["dataset"].n_unique() == 1 and run["document"].n_unique() == len(run)
    }
    if not asked or gold["dataset"].n_unique() > 1:
        return {}
    columns = ["document", "given", "text"]
    right = stack([run[columns] for run in asked.values()], "run")
    both = gold[columns].join(right, on="document", suffix="_run")
    other_name = pl.col("given") != pl.col("given_run")
    # White space is stripped from the few texts that differ, not from all.
    ends = [pl.col(text).str.strip_chars_end() for text in ("text", "text_run")]
    others = both.filter(other_name.fill_null(False) | (pl.col("text") != pl.col("text_run")).fill_null(False))
    others = others.filter(other_name.fill_null(False) | (ends[0] != ends[1]).fill_null(False))
    pairs = both.select("run", pl.col("document").alias("gold"), "document").sort("run", "gold")
    found = pairs.partition_by("run", as_dict=True, maintain_order=True, include_key=False)
    refused = {*others["run"]}
    return {
        name: found[number,]
        for number, (name, run) in enumerate(asked.items())
        if number not in refused and (number,) in found and len(found[number,]) >= len(run)
    }


def _named_alike(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of one name: gold, dataset, document, run_dataset, text of either, name, rank, sure, same.

    They have the `same` text as far as it is known, are `sure` by it or by an IRI, and the closest have the least rank.
    """
    stored = pl.concat([_names(left, "own"), _names(left, "document")]).unique()
    pairs = stored.join(_names(right, "own"), on="name", suffix="_run").with_columns(
        rank=pl.col("rank") + pl.col("rank_run"), sure=pl.col("name").str.contains(_IRI)
    )
    # An IRI in the store is of its file's name and of an ordinal: without the given name it says nothing.
    both = left.join(right, on="document", suffix="_run", coalesce=False)
    both = both.filter((pl.col("given") == pl.col("given_run")).fill_null(True))
    both = both.with_columns(name="own", rank=pl.lit(-1), sure=pl.lit(True))
    columns = ["gold", "dataset", "document", "run_dataset", "text", "text_run", "name", "rank", "sure"]
    pairs = pl.concat(
        one.rename({"document": "gold", "document_run": "document", "dataset_run": "run_dataset"}).select(
            *columns[:-2], pl.col("rank").cast(pl.Int64), "sure"
        )
        for one in (pairs, both)
    )
    equal = pl.col("text") == pl.col("text_run")
    return pairs.with_columns(sure=pl.col("sure") | equal.fill_null(False), same=equal.fill_null(True))


def _names(documents: Documents, column: str) -> pl.DataFrame:
    """Return document, dataset, text, name and rank: a column, and in the second rank that without offsets."""
    named = documents.select("document", "dataset", "text", name=column, rank=pl.lit(0))
    short = named.with_columns(strip_offsets(pl.col("name")), rank=pl.lit(1)).filter(pl.col("name") != "")
    return pl.concat([named, short]).unique(["document", "name"], keep="first", maintain_order=True)


def _parts_alike(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of which a text is missing, and one name is the last part of the other, as `_named_alike` has them.

    Two that are longer are compared by it only where nothing but it tells the documents of each file apart.
    """
    pairs = _parts(left).join(_parts(right), on="part", suffix="_run")
    pairs = pairs.filter(pl.col("text").is_null() | pl.col("text_run").is_null())
    bare = (pl.col("before") == "") | (pl.col("before_run") == "")
    pairs = pairs.filter(bare | (pl.col("alone") & pl.col("alone_run")))
    return pairs.select(
        *(pl.col("document").alias("gold"), "dataset", pl.col("document_run").alias("document")),
        *(pl.col("dataset_run").alias("run_dataset"), "text", "text_run", pl.col("own_run").alias("name")),
        rank=pl.when(bare).then(pl.lit(_PART, pl.Int64)).otherwise(_PART_OF_BOTH),
        sure=pl.lit(False),
        same=pl.lit(True),
    )


def _parts(documents: pl.DataFrame) -> pl.DataFrame:
    """Return the documents with the last part of their names, what is before it, and whether all have that alone."""
    short = strip_offsets(pl.col("own"))
    named = documents.with_columns(part=short.str.extract("([^/]*)$"), before=short.str.replace("[^/]*$", ""))
    return named.with_columns(alone=pl.col("before").n_unique().over("dataset") == 1).filter(pl.col("part") != "")


def _settle(pairs: pl.DataFrame, file: str | pl.Expr) -> pl.DataFrame:
    """Return those of the pairs (`_FOUND`) that are the closest on both sides, where that is one.

    A document of gold may have one in each `file` of the run, one of the run one in each dataset of gold.
    """
    rows = pairs.with_columns(file=pl.col(file) if isinstance(file, str) else file)
    sides = (["gold", "file"], ["document", "dataset"])
    rows = rows.filter(*(pl.col("rank") == pl.col("rank").min().over(side) for side in sides))
    rows = rows.unique(["gold", "document"], keep="first", maintain_order=True)
    return rows.filter(*(pl.len().over(side) == 1 for side in sides)).select(_FOUND)


def _by_text(left: pl.DataFrame, right: pl.DataFrame, settled: pl.DataFrame) -> list[pl.DataFrame]:
    """Return for each dataset of gold the pairs of equal text among the documents that have no pair in it."""
    parts = []
    nth = pl.int_range(pl.len()).over("text")
    rest = left.join(settled, left_on="document", right_on="gold", how="anti").drop_nulls("text").sort("document")
    texts = right.drop_nulls("text").sort("document")
    for (dataset,), own in rest.group_by("dataset", maintain_order=True):
        free = texts.join(settled.filter(dataset=dataset), on="document", how="anti")
        free = free.select("document", "text", nth=nth)
        last = free.group_by("text").agg(last=pl.col("nth").max())
        rows = own.select("dataset", "text", gold="document", nth=nth).join(last, on="text")
        rows = rows.with_columns(nth=pl.min_horizontal("nth", "last")).join(free, on=["text", "nth"])
        parts.append(rows.select(_FOUND))
    return parts


def _claims(pairs: pl.DataFrame, settled: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs by plain names, without those of documents that are found to be of another text."""
    texts = settled.select("document", found="text").unique()
    other = pairs.join(texts, on="document").filter(~(pl.col("text") == pl.col("found")).fill_null(False))
    return pairs.join(other, on=["gold", "document"], how="anti")


def _at_home(claims: pl.DataFrame, right: pl.DataFrame, settled: pl.DataFrame) -> pl.DataFrame:
    """Return the claims, those of a file of the run that is known to be of other datasets left out."""
    files = right.select("document", run_dataset="dataset").join(settled, on="document")
    known = files.select("run_dataset", "dataset").unique()
    at_home = claims.join(known, on=["run_dataset", "dataset"], how="semi")
    return pl.concat([at_home, claims.join(known, on="run_dataset", how="anti")])


def _refuse_several(name: str, claims: pl.DataFrame, settled: pl.DataFrame) -> None:
    """Raise `BadInput` where a document of the run has the plain name of documents of several datasets."""
    free = claims.join(settled, on="document", how="anti")
    one_text = (pl.col("text").n_unique() == 1) & (pl.col("text").null_count() == 0)
    told = free.group_by("document").agg(pl.col("dataset").unique().sort(), pl.col("name").min(), one=one_text)
    several = told.filter(pl.col("dataset").list.len() > 1, ~pl.col("one")).sort("document")
    if several.is_empty():
        return
    called, datasets = several["name"][0], several["dataset"][0].to_list()
    raise BadInput(
        f"run '{name}'",
        f"{len(several)} of its documents are called as documents of {' and of '.join(datasets)} are "
        f"(the first is '{called}'), and without texts nothing tells whose they are: name the one dataset that the run "
        f"answers, `remix run add {name} FILE --on {datasets[0]}`, or score it on that alone",
    )


def _firsts(gold: pl.DataFrame, run: pl.DataFrame) -> str:
    """Return what the first documents are called on both sides, and what would be right."""
    if is_named_by_place(run):
        return (
            "the run's articles have neither title nor text, so that each is the one of its place in gold, where they "
            "are as many as the documents of its one dataset and no answer lies outside of its text"
        )
    first = gold.sort("document").row(0, named=True)
    part = _parts(_read_names(gold)).sort("document")["part"][0]
    given = f" (<{first['given']}> in its file)" if first["given"] not in (None, first["document"]) else ""
    own = run.sort("document").select(pl.coalesce("given", "document")).item(0, 0)
    return (
        f"gold's first is <{first['document']}>{given}, the run's '{own}'; the run may call that of gold by one of its "
        f"IRIs, or '{part}', or have its text"
    )


def _difference(pairs: pl.DataFrame) -> str:
    """Return where the texts of the first pair differ that is not the `same`, empty where all are."""
    if pairs["same"].all():
        return ""
    iri, *texts = pairs.filter(~pl.col("same")).sort("gold").select("gold", "text", "text_run").row(0)
    letters = [[match.start() for match in re.finditer(r"\S", text)] for text in texts]
    alike = len(os.path.commonprefix(["".join(text.split()) for text in texts]))
    # Where letters differ, white space is no hindrance: what is shown is the first letter that is another.
    places = [own[alike] if alike < len(own) else len(text) for own, text in zip(letters, texts, strict=True)]
    if alike == len(letters[0]) == len(letters[1]):
        places = [len(os.path.commonprefix(texts))] * 2
    parts = [repr(text[max(0, at - AROUND) : at + AROUND]) for at, text in zip(places, texts, strict=True)]
    place, (one, other) = places[0], texts
    return (
        f"the texts of <{iri}> differ from character {place}: gold has {parts[0]} ({len(one)} characters in all), "
        f"the run {parts[1]} ({len(other)})"
    )


def _tell_names(name: str, claims: pl.DataFrame, pairs: pl.DataFrame) -> None:
    """Say which documents of a run have a name that several have, and whether longer names were compared in part."""
    free = claims.join(pairs, on="document", how="anti").join(pairs, on="gold", how="anti").sort("document")
    if count := free["document"].n_unique():
        progress.note(
            f"run '{name}': {count} of its documents have a name that several have, such as '{free['name'][0]}', and "
            "no text; they are left out: call each as gold does, or give its text"
        )
    parts = claims.filter(pl.col("rank") == _PART_OF_BOTH).join(pairs, on=["gold", "document"]).sort("gold")
    if count := len(parts):
        progress.note(
            f"run '{name}': {count} of its documents have no text and are taken for those of gold with the same last "
            f"part of their name, the first '{parts['name'][0]}' for <{parts['gold'][0]}>"
        )


def _report(
    asked: _Aligned,
    gold: pl.DataFrame,
    run: pl.DataFrame,
    pairs: pl.DataFrame,
    *,
    named: int,
    by_text: int,
    other: str = "",
) -> None:
    if not asked.told:
        return
    name = asked.name
    matched = pairs["gold"].n_unique()
    if not matched:
        raise BadInput(
            f"run '{name}'",
            f"none of gold's {len(gold)} documents is among its {len(run)}: {named} have the same name but another "
            f"text, {by_text} have the same text; {other or _firsts(gold, run)}; give the run of the same texts",
        )
    if not progress.is_shown():
        return
    due = gold.filter(~pl.col("document").is_in([*asked.unasked]))
    answered = pl.col("document").is_in(pairs["gold"].implode())
    if not due.filter(~answered).is_empty():
        more = f"; of one name, {other}" if other else ""
        counts = due.group_by("dataset").agg(answered=answered.sum(), every=pl.len()).sort("dataset")
        parts = counts.filter(pl.col("answered") < pl.col("every")).select(
            fill("{} of the {} documents of {}", "answered", "every", pl.col("dataset").fill_null("gold"))
        )
        told = ", ".join(parts.to_series())
        progress.note(f"run '{name}' answers {told}; the rest count as unanswered{more}")
    rest = run.join(pairs, on="document", how="anti").filter(~pl.col("document").is_in([*asked.elsewhere]))
    if len(rest):
        progress.note(f"run '{name}': {len(rest)} of its documents are not in gold and are left out")
    none = run.filter(pl.col("text").is_null()).select("document")
    texts = gold.drop_nulls("text").select(gold="document")
    taken = pairs.join(none, on="document", how="semi").join(texts, on="gold")["document"].n_unique()
    if taken and len(run) == 1:
        progress.note(f"run '{name}': its one document has no text; its answers are read in that of gold")
    elif taken:
        progress.note(
            f"run '{name}': {taken} of its {len(run)} documents have no text; their answers are read in the texts of "
            "gold"
        )
