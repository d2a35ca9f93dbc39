"""What a query sees that was computed before: measures by a knowledge base, and what came of runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from urllib.parse import unquote

from remix.kb import KnowledgeBase
from remix.measures import MEASURES, Measure
from remix.measures.declaration import local
from remix.measures.enrichment import measured_among_others, measured_otherwise
from remix.signature import Signature
from remix.store import DatasetEntry, Store
from remix.store.state import RUN
from remix.store.syntax import tokens

_OF_RUNS = re.compile(
    r"(?:(?<=[:/#])|\b)(?:Run|Answer|system|systemAgreement|difficulty|errorClass|(?:true|false)(?:Positive|Negative)Of|ignoredIn|answerTo)\b"
)
"""What a query names that asks for runs, their outcomes, or what is learnt of these."""

_LEARNT = re.compile(r"(?:(?<=[:/#])|\b)(?:systemAgreement|difficulty)\b")
_RUNS = re.compile(r"(?:(?:true|false)(?:Positive|Negative)Of|ignoredIn)>?\s+(\?\w+)")
_OF_GRAPH = re.compile(rf"\bGRAPH\s*<[^>]*#{RUN}([^>]*)>\s*\{{[^{{}}]*\}}", re.IGNORECASE)
"""What is asked of the graph of one run, with the name of the system."""
_NAMED = re.compile(r"(\?\w+)\s+(?:\w*:|<[^>]*#)system\b")


def reads_runs(text: str) -> bool:
    """Return whether a query asks for runs, their outcomes, or what is learnt of these.

    >>> reads_runs("SELECT ?a { ?a rmx:difficulty ?d }"), reads_runs("SELECT ?a { ?a a nif:Phrase }")
    (True, False)
    """
    return _OF_RUNS.search(_without_comments(text)) is not None


def reads_difficulty(text: str) -> bool:
    """Return whether a query asks for the difficulty of annotations."""
    return any(found.group() == "difficulty" for found in _LEARNT.finditer(_without_comments(text)))


def reads_measures(text: str) -> bool:
    """Return whether a query asks for measures of annotations, documents or datasets.

    >>> reads_measures("ASK { ?a rmx:pagerank ?rank }"), reads_measures("ASK { ?a a nif:Phrase } # pagerank")
    (True, False)
    """
    return not _terms_of(MEASURES).isdisjoint(re.findall("[A-Za-z]+", _without_comments(text)))


def _terms_of(measures: Iterable[Measure]) -> set[str]:
    """Return the local names of the terms of measures."""
    every = [*measures]
    terms = {column.term for measure in every for column in measure.columns}
    terms |= {one for each in every for summary in each.summaries for own in summary.terms.values() for one in own}
    return {local(one) for one in terms}


def reads_comparisons(text: str) -> bool:
    """Return whether a query asks for percentiles among all datasets that were measured together.

    >>> reads_comparisons("ASK { ?d rmx:densityPercentile ?p }"), reads_comparisons("ASK { ?a rmx:hitsPercentile ?p }")
    (True, False)
    """
    # Those of prominence are among the entities of the knowledge base.
    terms = _terms_of(measure for measure in MEASURES if measure.name != "prominence")
    asked = {*re.findall("[A-Za-z]+", _without_comments(text))}
    return any(term.endswith("Percentile") for term in terms & asked)


def _without_comments(text: str) -> str:
    return "".join(token for kind, token in tokens(text) if kind != "comment")


def runs_read(text: str, entries: Iterable[DatasetEntry], seen: Collection[str] = ()) -> list[str]:
    """Return the systems by whose runs beside datasets a query selects: those that it names, or all.

    Where it has `seen` some datasets alone, it has seen the runs on these, but the difficulty of annotations, which is
    learnt from the runs on all.
    It selects by those that it names where it says of each run that it asks about whose it is, or asks in its graph,
    and asks for nothing that is learnt from all.
    """
    if not reads_runs(text):
        return []
    if seen and not reads_difficulty(text):
        entries = [entry for entry in entries if entry.name in seen]
    text = _without_comments(text)
    in_graphs, text = {unquote(name) for name in _OF_GRAPH.findall(text)}, _OF_GRAPH.sub(" ", text)
    graphs = {name for entry in entries for name in entry.attached if name.startswith(RUN)}
    known = sorted(unquote(name.removeprefix(RUN)) for name in graphs)
    if not _OF_RUNS.search(text):
        return [name for name in known if name in in_graphs] or known
    asked = {*_RUNS.findall(text)}
    if _LEARNT.search(text) or not asked or not asked <= {*_NAMED.findall(text)}:
        return known
    named = [name for name in known if re.search(rf"(['\"]){re.escape(name)}\1", text)]
    return [name for name in known if name in named or name in in_graphs] if named else known


def find_otherwise(
    store: Store, kb: KnowledgeBase | None, text: str, entries: Sequence[DatasetEntry]
) -> dict[str, str]:
    """Return by which knowledge base a query sees measures of datasets, where that is another than the attached one."""
    if not reads_measures(text):
        return {}
    stale = {*measured_otherwise(store, kb)}
    known = {one.name: Signature.parse(str(one.enrichment)).fields for one in entries if one.name in stale}
    return {name: fields.get("kb", "none") for name, fields in known.items()}


def tell_otherwise(otherwise: Mapping[str, str], kb: KnowledgeBase | None) -> list[str]:
    """Return that a query sees measures by another knowledge base."""
    if not otherwise:
        return []
    which, by = ", ".join(sorted(otherwise)), ", ".join(sorted({*otherwise.values()}))
    now = "none is attached now" if kb is None else f"{kb.name} is attached now"
    said = f"the query sees the measures of {which} as they were computed by {by}"
    return [f"{said}; {now}: `remix enrich` makes them anew"]


def tell_unmeasured(text: str, entries: Iterable[DatasetEntry]) -> list[str]:
    """Return that a query sees no measures of some datasets, as of one that was loaded after `remix enrich`."""
    plain = [entry.name for entry in entries if entry.enrichment is None]
    if not plain or not reads_measures(text):
        return []
    return [f"the query sees no measures of {', '.join(plain)}: `remix enrich` computes them"]


def tell_compared(store: Store, text: str, entries: Iterable[DatasetEntry]) -> list[str]:
    """Return that a query sees percentiles of datasets among others than those that are loaded now."""
    others = measured_among_others(store) if reads_comparisons(text) else []
    if not (which := ", ".join(entry.name for entry in entries if entry.name in others)):
        return []
    return [f"the percentiles of {which} are among what was loaded before: `remix enrich` makes them anew"]


def tell_stale_measures(store: Store, kb: KnowledgeBase | None, text: str) -> list[str]:
    """Return that a query sees measures of loaded datasets by another knowledge base than the attached one, or
    percentiles among other datasets."""
    entries = store.datasets()
    return [*tell_compared(store, text, entries), *tell_otherwise(find_otherwise(store, kb, text, entries), kb)]


def tell_unusable(why: str) -> str:
    """Return what a query is not told where the attached knowledge base cannot be opened.

    >>> tell_unusable("kb/mine holds none")
    'measures and outcomes of runs are answered as they are stored, however old: kb/mine holds none'
    """
    return f"measures and outcomes of runs are answered as they are stored, however old: {why}"


def tell_runs(read: Sequence[str]) -> list[str]:
    """Return what is to be said of a remix that is selected by runs of these systems, nothing where there are none."""
    if not read:
        return []
    names = ", ".join(f"'{name}'" for name in read)
    of, their, them = ("run", "its scores on it are fitted to its own answers", "it")
    if len(read) > 1:
        of, their, them = ("runs", "their scores on it are fitted to their own answers", "them")
    said = f"it was selected by what came of the {of} {names}: {their}"
    return [f"{said}; --without {read[0]} selects without {them}"]
