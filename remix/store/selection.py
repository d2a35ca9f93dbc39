"""What a query selects from the workspace: documents and annotations, for a remix to keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import QueryError, nearest
from remix.frames import Frames
from remix.names import shorten
from remix.store.index import Index
from remix.store.permission import permit
from remix.store.rewrite import Plan, plan, with_order, with_variables
from remix.store.serialise import element_text, text_of
from remix.store.tree import Node, NotUnderstood, parse, visible

_SELECTED = ("document", "annotation")
_PLAIN = {"datasetClause", "modifier", "orderby", "projection", "where"}
"""Parts of a query that change nothing about which documents and annotations it finds beside its pattern."""
_WATERFALL = {"condition": pl.String, "documents": pl.Int64, "annotations": pl.Int64}


@dataclass(frozen=True)
class Selection:
    """Documents and annotations that a query selects, in the order of the corpus.

    `waterfall` has `condition`, `documents`, `annotations`: what was left after each condition, empty unless asked
    for; `left` are the annotations behind each of its rows. `rewritten` is the query that was run, `notes` what the
    user should know.
    """

    documents: pl.Series
    annotations: pl.Series
    waterfall: pl.DataFrame
    rewritten: str
    notes: tuple[str, ...]
    left: tuple[pl.Series, ...] = ()


def select(
    index: Index,
    text: str,
    frames: Frames,
    *,
    name: str = "the query",
    explain: bool = False,
    fix_variables: bool = False,
    allow_services: Iterable[str] = (),
) -> Selection:
    """Return what a query selects among the documents and annotations of the frames.

    A SELECT binds `?document`, `?annotation` or both; a CONSTRUCT has them as subjects of its template. A kept
    annotation keeps its document; where nothing is said about annotations, those of the kept documents are kept.
    Ignorable annotations are never selected.

    Raises `QueryError` for another kind of query, a syntax error, and a template variable that the pattern never
    binds, unless `fix_variables` accepts the nearest one.
    """
    how = plan(permit(text, name=name, allow_services=allow_services, graphs=index.graphs()))
    notes = list(how.notes)
    if how.unbound:
        how = _fix(how, name, fix_variables)
        notes += [line for line in how.notes if line not in notes]
    annotated = False
    waterfall, left = pl.DataFrame(schema=_WATERFALL), tuple[pl.Series, ...]()
    last: pl.DataFrame | None = None
    if how.tree is not None and how.tree.kind == "SelectQuery":
        _check_projection(how.tree, name)
        run = _order(how, notes)
        if explain and (columns := _plain_columns(how.tree)) and any(one.whole for one in _steps(run, columns)):
            waterfall, left, last = _waterfall(index, run, frames, columns, name)
        found = index.frame(run, name) if last is None else last  # which has met all conditions
        found = found.select(one for one in _SELECTED if one in found.columns)
        annotated = "annotation" in found.columns
    elif how.selection is not None:
        run = how.selection
        found = index.frame(run, name)
    else:
        run, found = how.text, _subjects(index, how, name)
        annotated = not _one_subject(how)
        notes.append(f"the query is run as it stands ({how.reason})")
    kept = _keep(found, frames, annotated=annotated)
    if explain and last is None:
        waterfall, left, _ = _waterfall(index, run, frames, found.columns, name)
    return Selection(kept[0], kept[1], waterfall, run, tuple(notes), left)


def _plain_columns(tree: Node) -> list[str]:
    """Return the columns of a query that finds all that its pattern matches, none where it counts, groups or cuts."""
    projection, bound = tree.get("projection", ()), visible(tree.get("where").get("part", ()))
    if not {key for key, value in tree.parts if value} <= _PLAIN or not all(one.get("var") for one in projection):
        return []
    names = {one.get("var") for one in projection} or bound
    chosen = [one for one in _SELECTED if f"?{one}" in names]
    return chosen if {f"?{one}" for one in chosen} <= bound else []


def _fix(how: Plan, name: str, fix: bool) -> Plan:
    """Return the plan with misspelt template variables put right, if that is asked for and can be done."""
    if fix and all(how.unbound.values()):
        again = plan(with_variables(how.text, how.unbound))
        said = tuple(f"{old} in the template is read as {new}" for old, new in how.unbound.items())
        return replace(again, unbound={}, notes=said)
    old, new = next(iter(how.unbound.items()))
    hint = f"; did you mean {new}? --fix-variables accepts that" if new else ""
    raise QueryError(f"{name}: {old} in the template is never bound by the pattern{hint}")


def _check_projection(tree: Node, name: str) -> None:
    names = [one.get("var") or one.get("evar") for one in tree.get("projection", ())]
    names = names or sorted(visible(tree.get("where").get("part", ())))
    if not {"?document", "?annotation"} & set(names):
        hint = next((h for one in names if "did you mean" in (h := nearest(one, ["?document", "?annotation"]))), "")
        raise QueryError(f"{name} selects {', '.join(names)}: a remix needs ?document or ?annotation{hint}")


def _order(how: Plan, notes: list[str]) -> str:
    """Return a SELECT whose own LIMIT is ordered too, so that it takes the same rows each time."""
    assert how.tree is not None
    if not how.tree.get("limitoffset") or how.tree.get("orderby"):
        return how.text
    tree, said = with_order(Node("SubSelect", how.tree.parts))
    try:
        text = text_of(Node("SelectQuery", tree.parts))
    except NotUnderstood as reason:
        notes.append(
            f"the query has a LIMIT but no ORDER BY, and gets none ({reason}): it may take other rows next time"
        )
        return how.text
    notes += [line.replace("a sub-select", "the query") for line in said]
    return text


def _subjects(index: Index, how: Plan, name: str) -> pl.DataFrame:
    """Return the subjects of the triples that a query constructs, run as it stands."""
    if how.tree is not None and how.tree.kind != "ConstructQuery":
        raise QueryError(f"{name} is no SELECT and no CONSTRUCT: a remix needs one of them")
    lines = index.triples(how.text, name)
    found = pl.Series("subject", [line.split(b" ", 1)[0].decode() for line in lines], dtype=pl.String)
    return found.unique(maintain_order=True).to_frame()


def _one_subject(how: Plan) -> bool:
    """Return whether the template speaks of one kind of subject: of documents alone, if of documents."""
    return how.tree is None or len({triple[0] for triple in how.tree.get("template", ())}) <= 1


def _keep(found: pl.DataFrame, frames: Frames, *, annotated: bool = False) -> tuple[pl.Series, pl.Series]:
    """Return the documents and annotations among the values of the columns, closed under each other.

    A column is of documents or of annotations by its values; one without any counts as of annotations, so that a
    query whose annotations all fell out does not get them all back. `annotated` says that the query is about
    annotations whatever was found.
    """
    gold = _list_gold(frames)
    values = [found[column].drop_nulls().unique() for column in found.columns]
    every = pl.concat([pl.Series([], dtype=pl.String), *(series.alias("") for series in values)])
    every = every.str.strip_prefix("<").str.strip_suffix(">").implode()
    documents = frames.documents.filter(pl.col("document").is_in(every))["document"]
    annotations = gold.filter(pl.col("annotation").is_in(every))
    annotated = annotated or not annotations.is_empty() or any(series.is_empty() for series in values)
    if not annotated:
        annotations = gold.filter(pl.col("document").is_in(documents.implode()))
    closed = pl.concat([documents, annotations["document"]]).implode()
    return frames.documents.filter(pl.col("document").is_in(closed))["document"], annotations["annotation"]


def _list_gold(frames: Frames) -> pl.DataFrame:
    """Return annotation, document and group of what counts: that of a text which is not there does not."""
    gold = frames.annotations.filter(pl.col("ignorable").is_null()).select("annotation", "document", "group")
    return gold.join(frames.documents, on="document", how="semi", maintain_order="left")


def _waterfall(
    index: Index, run: str, frames: Frames, columns: Sequence[str], name: str
) -> tuple[pl.DataFrame, tuple[pl.Series, ...], pl.DataFrame | None]:
    """Return how many documents and annotations are left after the patterns and after each further condition.

    Beside it are the annotations behind each row, and what is left at the end, None where no step is known. As in the
    counts of a remix, a group of alternatives counts once.
    """
    gold = _list_gold(frames)
    rows = [("everything loaded", frames.documents.height, gold.select("document", "group").n_unique())]
    left, found = [gold["annotation"]], None
    for label, found in _narrow(index, run, columns, name):
        documents, annotations = _keep(found, frames, annotated="annotation" in found.columns)
        groups = gold.filter(pl.col("annotation").is_in(annotations.implode())).select("document", "group")
        rows.append((label, len(documents), groups.n_unique()))
        left.append(annotations)
    return pl.DataFrame(rows, schema=_WATERFALL, orient="row"), tuple(left), found


def _narrow(index: Index, run: str, columns: Sequence[str], name: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield what is left of the patterns alone, and after each further condition, with their labels.

    Where all conditions are filters, which hold for the whole group, one query asks for each whether it is met.
    """
    steps = _steps(run, columns)
    tests = _tests(run)
    if len(tests) != len(steps) - 1 or not tests:
        for one in steps:
            yield one.label, index.frame(one.text, name)
        return
    met = "".join(f" (IF({test}, 1, 0) AS ?met_{nth})" for nth, test in enumerate(tests))
    found = index.frame(steps[0].text.replace("\n", f"{met}\n", 1), name)
    for nth, one in enumerate(steps):
        yield one.label, found.select(pl.exclude("^met_[0-9]+$"))
        if nth < len(tests):
            found = found.filter(pl.col(f"met_{nth}").str.starts_with('"1"'))


def _tests(run: str) -> list[str]:
    """Return what the filters of a query ask, none where it has conditions of other kinds, or asks for patterns."""
    with suppress(NotUnderstood):
        parts = parse(run).get("where").get("part", ())
        texts = [element_text(part).strip() for part in parts if _is_condition(part)]
        plain = all(text.startswith("FILTER (") and "EXISTS" not in text.upper() for text in texts)
        return [text.removeprefix("FILTER ") for text in texts] if plain else []
    return []


@dataclass(frozen=True)
class _WaterfallStep:
    """A query with some of its conditions: the label of the last, its text, and whether it has all."""

    label: str
    text: str
    whole: bool


def _steps(run: str, columns: Sequence[str]) -> list[_WaterfallStep]:
    """Return the query with its patterns alone, then with one condition more each time."""
    try:
        tree = parse(run)
    except NotUnderstood:
        return []
    where = tree.get("where")
    if tree.kind != "SelectQuery" or where.kind != "GroupGraphPatternSub":
        return []
    parts: tuple[Node, ...] = where.get("part", ())
    base = [at for at, part in enumerate(parts) if not _is_condition(part)]
    rest = [at for at, part in enumerate(parts) if _is_condition(part)]
    wanted = {f"?{one}" for one in columns} & visible(parts)
    if not wanted:  # what is selected has its name from the projection alone
        return []
    steps: list[_WaterfallStep] = []
    label = "graph patterns"
    for taken in [base, *([*base, *rest[: n + 1]] for n in range(len(rest)))]:
        if len(taken) > len(base):
            one = _label(parts[taken[-1]])
            label = one if steps else f"{label}, {one}"
        group = tuple(parts[at] for at in sorted(taken))
        if not wanted <= visible(group):
            continue
        names = tuple(Node.of("vars", var=one) for one in sorted(wanted, reverse=True))
        asked = {"datasetClause": tree.get("datasetClause"), "projection": names, "where": where.but(part=group)}
        with suppress(NotUnderstood):
            text = text_of(Node.of("SelectQuery", modifier="DISTINCT", **asked), check=False)
            steps.append(_WaterfallStep(label, text, len(taken) == len(parts)))
    return steps


def _is_condition(part: Node) -> bool:
    """Return whether an element of a group narrows what its patterns find, as a sub-select of nothing else does not."""
    if part.kind != "GroupOrUnionGraphPattern":
        return part.kind in ("Filter", "MinusGraphPattern")
    groups = part.get("graph")
    if len(groups) > 1 or groups[0].kind != "SubSelect":
        return False
    narrow = any(groups[0].get(one) for one in ("modifier", "groupby", "having", "limitoffset"))
    return narrow or any(_is_condition(one) for one in groups[0].get("where").get("part", ()))


def _label(part: Node) -> str:
    """Return a condition in one line, with prefixes for well-known namespaces."""
    text = " ".join(element_text(part).split())
    text = re.sub(r"<([^<>\s]+)>", lambda match: shorten(match[1]) if shorten(match[1]) != match[1] else match[0], text)
    text = re.sub(r"^FILTER \(\((.*)\)\)$", r"FILTER (\1)", text)
    return text if len(text) <= 100 else f"{text[:97]}…"
