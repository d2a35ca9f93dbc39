"""The one CONSTRUCT that a query stands for: its selection, closed as a remix closes it, for any store to run.

A query says which documents and annotations are wanted. What a remix keeps beside them is the same for all queries, so
that a query is a template of a CONSTRUCT: the triples of the documents, those of the annotations with their
alternatives, and of each other annotation of these documents what makes it ignorable.
"""

from __future__ import annotations

import textwrap

from remix.errors import QueryError
from remix.names import HFTS, ITSRDF, NIF, PREFIXES, RMX
from remix.rdf.iris import legal_iri
from remix.store.rewrite import Plan, plan
from remix.store.selection import _check_projection, _order
from remix.store.serialise import text_of
from remix.store.syntax import tokens
from remix.store.tree import Node, parse, visible, walk

KEPT_OF_DROPPED = (
    *(NIF + name for name in ("beginIndex", "endIndex", "anchorOf")),
    ITSRDF + "taIdentRef",
    *(RMX + name for name in ("group", "option", "layer", "givenIri")),
)
"""What stays of an annotation that was not selected."""

_CONTEXT = f"<{NIF}referenceContext>"
_USED = {"nif": NIF, "hfts": HFTS, "rmx": RMX, "itsrdf": ITSRDF}


def construct_of(text: str, iri: str, *, name: str = "the query") -> str:
    """Return the CONSTRUCT that a query with its values stands for; `iri` is that of the remix.

    It gives the documents that the query selects and those of the annotations that it selects, with all their triples;
    the annotations, with their alternatives; the other annotations of the documents as ignorable ones;
    and what else is about the documents (`rmx:document`). A graph that a store has as its default graph is asked.

    Raises `QueryError` for what is no query of a remix, and for a CONSTRUCT of which the selection cannot be told from
    the template.
    """
    how = plan(text)
    if how.unbound:
        raise QueryError(f"{name}: {next(iter(how.unbound))} in the template is never bound by the pattern")
    selection, document, annotation = _read_selection(how, name)
    parts = ["# documents\n{ ?document ?document_term ?document_value }"]
    own = "?annotation nif:referenceContext ?document ; ?annotation_term ?annotation_value ."
    template = ["?annotation ?annotation_term ?annotation_value ."]
    if annotation is None:
        parts.append(f"# their annotations\n{{ {own} }}")
    else:
        kept = _block(_keep_alternatives(selection, annotation, "?annotation"), own)
        parts.append(f"# selected annotations and their alternatives\n{kept}")
        terms = " ".join(f"<{term}>" for term in KEPT_OF_DROPPED)
        dropped = "?dropped nif:referenceContext ?document ; ?dropped_term ?dropped_value ."
        left = f"MINUS {_block(_keep_alternatives(selection, annotation, '?dropped'))}"
        left = _block(f"VALUES ?dropped_term {{ {terms} }}", dropped, left)
        parts.append(f"# the others, which become ignorable\n{left}")
        template.append('?dropped a rmx:Ignorable ; rmx:document ?document ; rmx:ignorable "dropped" ;')
        template.append("         ?dropped_term ?dropped_value .")
    answers = "FILTER NOT EXISTS { ?beside a rmx:Answer }"
    beside = "?beside rmx:document ?document ; ?beside_term ?beside_value ."
    parts.append(f"# what was ignorable before, and regions\n{_block(beside, answers)}")
    head = [
        f"<{legal_iri(iri)}> a hfts:Dataset ; hfts:referenceDocuments ?document .",
        "?document ?document_term ?document_value .",
    ]
    head += [*template, "?beside ?beside_term ?beside_value ."]
    where = _block(_documents(selection, document, annotation), "\nUNION ".join(parts))
    return _with_prefixes(f"CONSTRUCT {_block(*head)}\nWHERE {where}\n")


def _read_selection(how: Plan, name: str) -> tuple[Node, str | None, str | None]:
    """Return the SELECT of a query and its variables of documents and of annotations, None for what it has none of."""
    tree = how.tree
    if tree is not None and tree.kind == "SelectQuery":
        _check_projection(tree, name)
        tree = parse(_order(how, []))
        names = [one.get("var") or one.get("evar") for one in tree.get("projection", ())]
        known = set(names) or visible(tree.get("where").get("part", ()))
        document, annotation = (one if one in known else None for one in ("?document", "?annotation"))
        return tree, document, annotation
    if tree is None or how.selection is None:
        raise QueryError(
            f"{name}: what it selects cannot be told from what it makes ({how.reason}): write it as "
            "SELECT ?document ?annotation"
        )
    selection = parse(how.selection)
    subjects = {triple[0] for triple in tree.get("template", ())}
    triples = [one for node in walk(selection) if node.kind == "TriplesBlock" for one in node.get("triples")]
    pairs = [(first, last) for first, term, last in triples if term == _CONTEXT]
    annotation = next((first for first, _ in pairs if first in subjects), None)
    document = next((last for _, last in pairs if last in subjects), None)
    if annotation is None and document is None:
        document = next(iter(sorted(subjects)), None)
    return selection, document, annotation


def _documents(selection: Node, document: str | None, annotation: str | None) -> str:
    """Return the sub-select of the documents: those selected, and those of the selected annotations."""
    parts = [] if document is None else [_pick(selection, document, "?document")]
    if annotation is not None and not _is_tied(selection, document, annotation):
        of_annotations = _block(_pick(selection, annotation, "?selected"))
        inner = _block(of_annotations, "?selected nif:referenceContext ?document .")
        parts.append(f"SELECT DISTINCT ?document\nWHERE {inner}")
    if len(parts) == 1:
        return _block(parts[0])
    either = "\nUNION ".join(_block(part) for part in parts)
    return _block(f"SELECT DISTINCT ?document\nWHERE {_block(either)}")


def _is_tied(selection: Node, document: str | None, annotation: str) -> bool:
    """Return whether every solution has the document of its annotation."""
    parts = selection.get("where").get("part", ())
    triples = [one for part in parts if part.kind == "TriplesBlock" for one in part.get("triples")]
    return (annotation, _CONTEXT, document) in triples


def _keep_alternatives(selection: Node, annotation: str, as_: str) -> str:
    """Return the pattern of the annotations that are kept: those selected, and the alternatives of each.

    These have its group or, where neither has one, its span.
    """
    lines = [_block(_pick(selection, annotation, "?selected"))]
    for one, number in (("?selected", 1), (as_, 2)):
        lines.append(f"{one} nif:referenceContext ?context .")
        lines.append(f"OPTIONAL {{ {one} rmx:group ?group_{number} }}")
        lines.append(f"OPTIONAL {{ {one} nif:beginIndex ?begin_{number} ; nif:endIndex ?end_{number} }}")
    own = f"{as_} = ?selected || ?group_1 = ?group_2"
    alike = "!BOUND(?group_1) && !BOUND(?group_2) && ?begin_1 = ?begin_2 && ?end_1 = ?end_2"
    return "\n".join([*lines, f"FILTER ({own} || ({alike}))"])


def _pick(selection: Node, variable: str, as_: str) -> str:
    """Return the selection as a SELECT of one variable under a name."""
    shown = {"var": as_} if variable == as_ else {"evar": as_, "expr": variable}
    plain = {"limitoffset", "groupby", "having", "valuesClause", "orderby"}
    if not any(selection.get(part) for part in plain) and all(
        one.get("var") for one in selection.get("projection", ())
    ):
        return text_of(selection.but(modifier="DISTINCT", projection=(Node.of("vars", **shown),)), check=False)
    told = variable if variable == as_ else f"({variable} AS {as_})"
    return f"SELECT DISTINCT {told}\nWHERE {_block(_block(text_of(selection, check=False)))}"


def _block(*lines: str) -> str:
    inner = textwrap.indent("\n".join(lines), "  ")
    return f"{{\n{inner}\n}}"


def _with_prefixes(text: str) -> str:
    """Return a query with prefixes for the namespaces that it names, one for each."""
    spaces = {namespace: prefix for prefix, namespace in (*PREFIXES.items(), *_USED.items())}
    used = set()

    def shorten(kind: str, token: str) -> str:
        if kind == "name":
            used.add(token.partition(":")[0])
        if kind != "iri":
            return token
        head, mark, local = token[1:-1].rpartition("#") if "#" in token else token[1:-1].rpartition("/")
        prefix = spaces.get(head + mark)
        if prefix is None or not (local.isascii() and local.isidentifier()):
            return token
        used.add(prefix)
        return f"{prefix}:{local}"

    body = "".join(shorten(kind, token) for kind, token in tokens(text))
    named = {prefix: namespace for namespace, prefix in spaces.items()}
    return "".join(f"PREFIX {prefix}: <{named[prefix]}>\n" for prefix in sorted(used)) + body
