"""Terms and values that a query asks for and nothing in the store has: mostly they are misspelt."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import pyoxigraph as ox

from remix.names import ITSRDF, PREFIXES, RDF, RMX, shorten
from remix.resources import folder
from remix.store.syntax import prefixes_of, significant

_TYPE = RDF + "type"
_CLASS = ITSRDF + "taClassRef"
_CLOSE = 0.75
OF_RUNS = frozenset(
    f"{RMX}{name}"
    for name in ("system", "truePositiveOf", "falsePositiveOf", "falseNegativeOf", "ignoredIn", "errorClass")
)
"""What is said of annotations, answers and runs in the graphs of runs."""
NO_RUN = (
    "no run is registered, and the query is about runs: `remix annotate --system prior` makes one, "
    "`remix run add NAME FILE` takes yours"
)
"""What is said of a query about runs where there are none."""

_PLACES = {"{": 0, "}": 0, ".": 0, ";": 1, "[": 1, ",": 2}
"""What comes after a token: a subject, a predicate or an object."""


@dataclass
class Known:
    """What a store holds, looked up as it is needed."""

    store: ox.Store

    def has(self, term: ox.NamedNode | ox.Literal) -> bool:
        """Return whether a triple has the term."""
        subject = None if isinstance(term, ox.Literal) else term
        places = [(None, None, term), *([(None, subject, None), (subject, None, None)] if subject else [])]
        return any(next(self.store.quads_for_pattern(*place, None), None) is not None for place in places)

    @cached_property
    def ontology(self) -> set[str]:
        """Return the terms that the ontologies of remix define."""
        files = sorted(folder("ontology").glob("*.ttl"))
        subjects = (quad.subject for file in files for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE))
        return {subject.value for subject in subjects if isinstance(subject, ox.NamedNode)}

    @cached_property
    def defined(self) -> list[str]:
        """Return what the ontologies of remix define and well-known vocabularies name, sorted."""
        lines = (folder("ontology") / "terms.tsv").read_text(encoding="utf-8").splitlines()[1:]
        names = (line.split("\t", 1)[0].partition(":") for line in lines)
        return sorted({*self.ontology, *(PREFIXES[prefix] + local for prefix, _, local in names if prefix in PREFIXES)})

    @cached_property
    def terms(self) -> list[str]:
        """Return the predicates and classes of the store, and the terms of the ontologies, sorted."""
        used = [*self._select("?s ?x ?o"), *self._select(f"?s <{_TYPE}>|<{_CLASS}> ?x FILTER (isIRI(?x))")]
        return sorted({*self.ontology, *used})

    def values(self, predicate: str) -> list[str]:
        """Return the texts that a predicate has as its values, sorted."""
        return sorted(self._select(f"?s <{predicate}> ?x FILTER (isLiteral(?x))", "LIMIT 1000"))

    def _select(self, pattern: str, limit: str = "") -> set[str]:
        """Return the values that `?x` has in a pattern."""
        found = self.store.query(f"SELECT DISTINCT ?x {{ {pattern} }} {limit}", use_default_graph_as_union=True)
        assert isinstance(found, ox.QuerySolutions)
        return {str(one[0].value) for one in found}


def missing(text: str, known: Known) -> list[str]:
    """Return a sentence for each predicate, class and value that a query asks for and nothing in the store has.

    Each names the nearest that is there. Of other IRIs those are told that are close to a class or predicate. Terms
    that an ontology of remix defines may come with `remix enrich`, and are not told; of a query that asks about runs
    where none is registered that is told alone.
    """
    if next(iter(known.store), None) is None:
        return []
    found: dict[str, None] = {}
    asked = [*_list_asked(text)]
    if any(predicate in OF_RUNS for predicate, _ in asked) and not known.has(ox.NamedNode(f"{RMX}system")):
        return [NO_RUN]
    for predicate, term in asked:
        if term is None:
            if not known.has(ox.NamedNode(predicate)) and predicate not in known.ontology:
                found[f"nothing in the workspace has {shorten(predicate)}{_nearest_term(predicate, known)}"] = None
        elif isinstance(term, ox.NamedNode):
            if not known.has(term) and (hint := _nearest_term(term.value, known)):
                found[f"nothing in the workspace has {shorten(term.value)}{hint}"] = None
        elif predicate and not known.has(term) and (values := known.values(predicate)):
            close = difflib.get_close_matches(term.value, values, 1, 0.6)
            hint = f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(values[:8])}"
            found[f"nothing in the workspace has '{term.value}' as {shorten(predicate)}{hint}"] = None
    return list(found)


def _nearest_term(iri: str, known: Known) -> str:
    """Return the nearest term as a hint: first one of the same name in another namespace.

    A term of a well-known vocabulary that is in use is looked up in a moment, where all that are in use take seconds.
    """
    local = re.split(r"[#/:]", iri)[-1]
    for kind in ("defined", "terms"):
        every: list[str] = getattr(known, kind)
        same = [one for one in every if re.split(r"[#/:]", one)[-1] == local and one != iri]
        short = {shorten(one): one for one in every if one != iri}
        close = [shorten(one) for one in same] or difflib.get_close_matches(shorten(iri), short, 1, _CLOSE)
        used = [name for name in close if kind == "terms" or known.has(ox.NamedNode(_write_out(name)))]
        if used:
            return f"; did you mean {used[0]}?"
    return ""


def _write_out(name: str) -> str:
    """Return the IRI of a short name."""
    prefix, _, local = name.partition(":")
    return PREFIXES[prefix] + local if prefix in PREFIXES else name


def _list_asked(text: str) -> Iterator[tuple[str, ox.NamedNode | ox.Literal | None]]:
    """Yield each predicate (with None), and each object or value of a `VALUES` line with the predicate it is for.

    What stands in brackets, as filters, expressions and alternatives of a path do, is left out, so are several values
    of one variable.
    """
    prefixes = PREFIXES | prefixes_of(text)
    pattern, given = _apart(significant(text), prefixes)
    used: dict[str, str] = {}
    place, predicate = 0, ""
    for at, (kind, token) in enumerate(pattern):
        named = kind in ("iri", "name", "variable", "group")
        if token in _PLACES or (kind == "word" and token != "a"):
            place = _PLACES.get(token, 0)
        elif place == 0 and named:
            place = 1 if kind != "group" else 0
        elif place == 1 and (named or token == "a"):
            predicate = _TYPE if token == "a" else _iri(kind, token, prefixes) or ""
            if predicate not in ("", _TYPE):
                yield predicate, None
            place = 1 if pattern[at + 1 : at + 2] in ([("other", "/")], [("other", "|")]) else 2
        elif place == 2 and kind == "variable":
            used.setdefault(token[1:], predicate)
        elif place == 2 and (term := _term(pattern, at, prefixes)) is not None:
            yield predicate, term
    for name, terms in given.items():
        if len(terms) == 1 and (name in used or isinstance(terms[0], ox.NamedNode)):
            yield used.get(name, ""), terms[0]


_Tokens = list[tuple[str, str]]


def _apart(stream: _Tokens, prefixes: dict[str, str]) -> tuple[_Tokens, dict[str, list[ox.NamedNode | ox.Literal]]]:
    """Return the tokens of the pattern, what is in brackets as one, without `VALUES`; and the values of each."""
    pattern: _Tokens = []
    given: dict[str, list[ox.NamedNode | ox.Literal]] = {}
    at = next((at for at, (_, token) in enumerate(stream) if token == "{"), len(stream))
    while at < len(stream):
        kind, token = stream[at]
        if kind == "word" and token.upper() == "VALUES" and stream[at + 2 : at + 3] == [("other", "{")]:
            name, at = stream[at + 1][1][1:], at + 3
            while at < len(stream) and stream[at][1] != "}":
                given.setdefault(name, []).extend(term for term in [_term(stream, at, prefixes)] if term is not None)
                at += 1
        elif token == "(":
            depth = 1
            while depth and at + 1 < len(stream):
                at += 1
                depth += {"(": 1, ")": -1}.get(stream[at][1], 0)
            pattern.append(("group", "()"))
        else:
            pattern.append((kind, token))
        at += 1
    return pattern, given


def _iri(kind: str, token: str, prefixes: dict[str, str]) -> str | None:
    if kind == "iri":
        return token[1:-1]
    prefix, _, local = token.partition(":")
    return prefixes[prefix] + re.sub(r"\\(.)", r"\1", local) if kind == "name" and prefix in prefixes else None


def _term(stream: list[tuple[str, str]], at: int, prefixes: dict[str, str]) -> ox.NamedNode | ox.Literal | None:
    """Return the IRI or plain text at a place; None for what is neither, also for a datatype."""
    kind, token = stream[at]
    if at and stream[at - 1][1] == "^":
        return None
    try:
        if kind == "string" and not (at + 1 < len(stream) and stream[at + 1][1][0] in "@^"):
            answer = ox.Store().query(f"SELECT ({token} AS ?x) {{}}")
            assert isinstance(answer, ox.QuerySolutions)
            term = next(iter(answer))[0]
            return term if isinstance(term, ox.Literal) else None
        iri = _iri(kind, token, prefixes)
        return ox.NamedNode(iri) if iri else None
    except (ValueError, SyntaxError):
        return None
