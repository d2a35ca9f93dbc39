"""Slices: gold cut by the values of a column, each scored as a remix with everything else dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from remix import progress
from remix.errors import UnknownName, UsageError
from remix.frames import Documents
from remix.measures.columns import Slicing
from remix.names import PREFIXES, shorten
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.inputs.evidence import Evidence
from remix.scoring.inputs.mentions import Mentions, mentions_of
from remix.scoring.matching import Case, Scope
from remix.scoring.matching.originals import originals_of
from remix.scoring.matching.pairs import overlaps
from remix.vocabularies import ALL, Vocabularies
from remix.vocabularies import COLUMNS as OF_CLASSES

UNITS = ("document", "context")
"""What samples draw and macro averages are over."""

_LINES = r"[^\n]*\n+|[^\n]+$"
_SENTENCES = r"(?s).+?(?:[.!?][\"'’”)\]]*\s+|$)"


def whole_case(
    inputs: Inputs,
    *,
    collapse: bool = True,
    unit: str = "document",
    scope: str = "",
    documents: str = "",
    scoped: bool = True,
) -> Case:
    """Return the whole of gold with all answers, of inputs as the profile prepared them.

    `collapse` counts annotations once that repeat another; `unit`, `scope` and `documents` are those of `Choice`.
    Without `scoped` the query of a remix is not asked which answers it would select.
    """
    gold, known = inputs.gold, inputs.knowledge
    asked: dict[str, Any] = {"unasked": inputs.list_unasked(), "registered": inputs.made_for.keys()}
    asked["homes"] = inputs.list_homes()
    mentions = mentions_of(gold, inputs.runs, known.kb, collapse=collapse, **asked)
    pairs = overlaps(mentions)
    mentions = mentions if unit == "document" else in_units(mentions, gold.documents, unit)
    evidence = Evidence(mentions, inputs)
    if scope:
        classes = pl.concat([gold.classes["class"], evidence.types["class"]])
        cut = scope_of_class(evidence, scope_named(scope, classes))
    elif scoped and (mentions.gold["ignorable"] == "dropped").any():
        from remix.scoring.slicing.scope import scope_of_queries

        cut = scope_of_queries(evidence)
    else:
        cut = Scope()
    whole = Case(mentions, mentions.gold, mentions.answers, pairs, evidence, scope=cut)
    if documents:
        return whole if documents == "all" else whole.in_kept_documents()
    docs = mentions.documents.filter(pl.col("dataset").is_in(list(known.kept)))["doc"]
    return whole.in_kept_documents(docs) if len(docs) else whole


def with_originals(whole: Case) -> Case:
    """Return the case with what its datasets share."""
    if whole.mentions.documents["dataset"].n_unique() < 2:
        return whole
    known = whole.evidence
    return replace(whole, originals=originals_of(whole.mentions, known.gold, known.backgrounds))


def tell_shared(whole: Case) -> None:
    """Say how the mentions are counted that datasets share, as remixes of one origin do."""
    if whole.mentions.documents["dataset"].n_unique() < 2:
        return
    pooled = (whole if whole.originals is not None else with_originals(whole)).pool()
    if len(pooled.mentions.documents) == len(whole.mentions.documents):
        return
    different, every = (case.kept["group"].n_unique() for case in (pooled, whole))
    if whole.originals is not None:
        progress.note(say_shared(different, every))
    elif different < every:
        progress.note(
            f"datasets share mentions: the profile scores each dataset for itself, so 'all' counts {every} mentions, "
            f"of which {different} {'is' if different == 1 else 'are'} different"
        )


def say_shared(different: int, every: int) -> str:
    """Return that 'all' counts once what datasets share: how many mentions are different, of all that datasets have.

    >>> say_shared(787, 852)
    "datasets share mentions: 'all' counts each once, and each answer (787 mentions in place of 852)"
    """
    if different == every:
        return "datasets share documents, and no mention in them: 'all' counts each answer there once"
    mentions = "mention" if different == 1 else "mentions"
    return (
        f"datasets share mentions: 'all' counts each once, and each answer ({different} {mentions} in place of {every})"
    )


def contexts(documents: Documents) -> pl.DataFrame:
    r"""Return document, context (from 0) and begin: the lines of each text or, where it has but one, its sentences.

    A document without text is one context.

    >>> texts = pl.DataFrame({"document": ["a", "b"], "text": ["One. Two!\nThree.", "One. Two! Three?"]})
    >>> contexts(texts)["begin"].to_list()
    [0, 10, 0, 5, 10]
    """
    text = pl.col("text").fill_null("")
    several = text.str.strip_chars().str.contains("\n", literal=True)
    parts = pl.when(several).then(text.str.extract_all(_LINES)).otherwise(text.str.extract_all(_SENTENCES))
    none = pl.when(parts.list.len() == 0).then(pl.lit([""])).otherwise(parts)
    rows = documents.select("document", part=none).explode("part")
    length = pl.col("part").str.len_chars().cast(pl.Int64)
    begin = (length.cum_sum() - length).over("document")
    return rows.with_columns(begin=begin).select(
        "document", pl.int_range(pl.len(), dtype=pl.Int64).over("document").alias("context"), "begin"
    )


def in_units(mentions: Mentions, texts: pl.DataFrame, unit: str) -> Mentions:
    """Return the mentions with the numbers of units in place of those of documents.

    `texts` has document and text. A mention is of the context that it begins in, and all alternatives of one are of
    the context of the first. Raises `UnknownName` for another unit.
    """
    if unit not in UNITS:
        raise UnknownName("unit", unit, UNITS)
    found = contexts(texts.unique("document", maintain_order=True))
    units = mentions.documents.join(found, on="document", how="left", maintain_order="left").sort("doc", "context")
    units = units.with_columns(unit=pl.int_range(pl.len(), dtype=pl.Int64), begin=pl.col("begin").fill_null(0))
    gold = _place(mentions.gold, units).with_columns(doc=pl.col("doc").min().over("group"))
    return replace(
        mentions,
        documents=units.select("document", "dataset", doc="unit").select(mentions.documents.columns),
        gold=gold,
        answers=_place(mentions.answers, units),
    )


def _place(rows: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the unit that they begin in as `doc`; what has none at 0 or behind it, in the first."""
    numbered = rows.with_row_index("row").with_columns(place=pl.col("begin").fill_null(0).clip(0))
    starts = units.select("doc", "unit", place="begin").sort("place")
    found = numbered.sort("place").join_asof(starts, on="place", by="doc", check_sortedness=False)
    return found.sort("row").with_columns(doc="unit").select(rows.columns)


def slice_by(whole: Case, slicing: Slicing, outside: str = "dropped") -> Iterator[Case]:
    """Return a case for each value, in order: gold of that value kept, other gold dropped or removed.

    A column of documents leaves other documents out, as a remix does. An answer is in scope by its own class or value
    of the column; an entity of unknown class is in all of them. What has no value is a slice of its own, which answers
    without a value are in the scope of.
    """
    if slicing.of_documents:
        places = whole.mentions.documents.join(slicing.values, on="document").select("doc", "value")
        for value in places["value"].unique().sort():
            inside = pl.col("doc").is_in(places.filter(pl.col("value") == value)["doc"].implode())
            yield replace(whole.where(inside), column=slicing.asked.label, value=value)
        return
    column = slicing.asked.column
    numbered = (
        whole.gold.select("mention", "annotation").join(slicing.values, on="annotation").select("mention", "value")
    )
    values = None if column in OF_CLASSES or numbered.is_empty() else whole.evidence.values(column)
    named = None if values is None else slicing.name_values(values)
    for value in numbered["value"].unique().sort():
        chosen = numbered.filter(pl.col("value") == value)["mention"]
        if column in OF_CLASSES:
            none = value == slicing.unspecified
            scope = scope_without_class(whole.evidence, slicing) if none else scope_of_class(whole.evidence, value)
        elif named is not None:
            scope = Scope(named.group_by("answer").agg(in_scope=(pl.col("value") == value).fill_null(False).any()))
        else:
            scope = Scope(unknown=whole.mentions.documents["doc"])
        yield of_value(whole, slicing.asked.label, value, chosen, outside, scope)


def cross(whole: Case, slicings: Sequence[Slicing], outside: str = "dropped") -> Iterator[Case]:
    """Return a case for each combination of values that any kept mention has, each cut by one column after another."""
    first, *others = slicings
    for case in slice_by(whole, first, outside):
        if not others:
            yield case
        elif not case.kept.is_empty():
            for inner in cross(case, others, outside):
                if not inner.kept.is_empty():
                    column, value = f"{case.column} × {inner.column}", f"{case.value} × {inner.value}"
                    yield replace(inner, column=column, value=value)


def of_value(whole: Case, column: str, value: str, chosen: pl.Series, outside: str, scope: Scope) -> Case:
    """Return the case of the mentions of which an annotation is chosen, with all their options, and its scope.

    A profile that removes the rest removes it annotation by annotation.
    """
    inside = pl.col("mention").is_in(chosen.implode())
    if outside == "removed":
        gold = whole.gold.filter(inside)
    else:
        groups = whole.kept.filter(inside)["group"].unique()
        inside = pl.col("group").is_in(groups.implode())
        dropped = pl.when(inside | pl.col("ignorable").is_not_null()).then("ignorable").otherwise(pl.lit("dropped"))
        gold = whole.gold.with_columns(ignorable=dropped)
    return replace(whole, gold=gold, column=column, value=value, scope=scope.within(whole.scope))


def scope_named(given: str, classes: pl.Series) -> str:
    """Return the class of a name: its IRI, its short form (`dbo:Person`) or its local name, where it is the only one.

    Raises `UnknownName` with the nearest class; without any class to choose from the name itself is returned.
    """
    known = classes.drop_nulls().unique().sort()
    prefix, _, local = given.partition(":")
    for name in (given, PREFIXES.get(prefix, "") + local):
        if known.is_empty() or name in known:
            return given if known.is_empty() else name
    named = known.to_frame("class").with_columns(local=pl.col("class").str.extract(r"([^/#:]+)$"))
    same = named.filter(pl.col("local") == given)["class"]
    if len(same) == 1:
        return str(same[0])
    if len(same):
        raise UsageError(f"'{given}' is the name of several classes: write one of {', '.join(same)}")
    raise UnknownName("class", given, named["local"].drop_nulls(), "remix evaluate --by class")


def local_names(column: str) -> pl.Expr:
    """Return slices with the last part of each IRI in its place; IRIs that share their last part stay whole.

    >>> rows = pl.DataFrame({"slice": ["http://dbpedia.org/ontology/Person × n/a", "http://e.org/a#b", "http://e.org/b"]})
    >>> rows.select(local_names("slice"))["slice"].to_list()
    ['Person × n/a', 'http://e.org/a#b', 'http://e.org/b']
    """
    local = pl.col(column).str.replace_all(r"\b(?:https?://|urn:)\S*[/#]([^/#\s]+)", "$1")
    return pl.when(pl.col(column).n_unique().over(local) == 1).then(local).otherwise(column).alias(column)


def slice_named(given: str, slices: pl.Series) -> str:
    """Return the slice of a name; nothing for the whole, which is '' or 'all'.

    It may be named as it is, as tables show it (`Person`), by its prefix (`dbo:Person`), or in letters of either case.
    Raises `UnknownName`.
    """
    known = slices.unique().sort().to_frame("slice").filter(pl.col("slice") != "")
    if not given or given in known["slice"]:
        return given
    shown = known.with_columns(shown=local_names("slice"))
    for name in shown.filter(pl.col("shown") == given)["slice"]:
        return str(name)
    if given == "all":
        return ""
    for name, local in shown.iter_rows():
        if given == shorten(name) or given.casefold() == local.casefold():
            return str(name)
    raise UnknownName("slice", given, shown["shown"])


def scope_of_class(evidence: Evidence, value: str) -> Scope:
    """Return the answers whose entity has the class, or no type; unknown where no type is the class anywhere."""
    if not evidence.types["class"].is_in([value]).any():
        return Scope(unknown=evidence.mentions.documents["doc"])
    has = (pl.col("class") == pl.lit(value)).any()
    return _in_scope(evidence, evidence.answered_classes.group_by("answer", "entity").agg(has=has))


def scope_without_class(evidence: Evidence, slicing: Slicing) -> Scope:
    """Return the answers whose entity has no class of the vocabulary that is shown; unknown where no entity has one."""
    shown = slicing.vocabularies or Vocabularies(ALL, {})
    if shown.choose(evidence.types).is_empty():
        return Scope(unknown=evidence.mentions.documents["doc"])
    typed = shown.choose(evidence.answered_classes).select("answer", "entity", has=pl.lit(False)).unique()
    return _in_scope(evidence, typed)


def _in_scope(evidence: Evidence, typed: pl.DataFrame) -> Scope:
    """Return the answers one of whose entities `has` what is asked for, or is not among those that are typed."""
    scope = evidence.mentions.answer_links.join(typed, on=["answer", "entity"], how="left")
    return Scope(scope.group_by("answer").agg(in_scope=pl.col("has").fill_null(True).any()))


def kb_cases(whole: Case, *, always: bool = False) -> Sequence[Case]:
    """Return InKB (NIL taken from both sides), EE (NIL alone on both sides), GSInKB (NIL gold dropped, all answers).

    Nothing where neither gold nor a run has NIL, unless they are asked for `always`.
    """
    nil = pl.col("link") == NIL
    kept = whole.kept
    if not (always or kept.select(nil.any()).item() or whole.answers.select(nil.any()).item()):
        return []

    linked = kept.filter(~nil)["mention"]
    scope = Scope(whole.answers.select("answer", in_scope=~nil))
    of_linked = of_value(whole, "kb", "GSInKB", linked, "dropped", scope)
    sides = {"InKB": whole.where(~nil), "EE": whole.where(nil), "GSInKB": of_linked}
    return [replace(case, column="kb", value=value, part_of=whole) for value, case in sides.items()]
