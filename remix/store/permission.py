"""What a query from outside may do: read this store's graphs, and ask the endpoints that are allowed.

Oxigraph has no switch for `SERVICE` and accepts spellings of it that look like none (`trueSERVICE<…>`, a comment that
a carriage return ends). So a text that holds the word anywhere, even in a comment, is read by the parser, checked as
a tree, and what is run afterwards is the text of the checked tree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import pyoxigraph as ox

from remix.errors import NotAllowed, QueryError, nearest
from remix.names import PREFIXES
from remix.store.problems import syntax_error
from remix.store.serialise import text_of
from remix.store.syntax import is_update, modern, significant
from remix.store.tree import Node, NotUnderstood, parse, walk


def permit(
    text: str, *, name: str = "the query", allow_services: Iterable[str] = (), graphs: Collection[str] | None = None
) -> str:
    """Return the text to run for a query, after its check; without SERVICE it is the query itself.

    `SERVICE ?endpoint` is run with the one IRI that a `VALUES ?endpoint` line gives. `graphs`, where given, are those
    that `FROM` may name.

    Raises `NotAllowed` for an update and for a SERVICE that is not allowed, `QueryError` for a syntax error and a FROM
    that names no graph.

    >>> permit("SELECT * { SERVICE <http://a.org/sparql> { ?s ?p ?o } }")
    Traceback (most recent call last):
    remix.errors.NotAllowed: the query asks SERVICE <http://a.org/sparql>, ...
    """
    if update := is_update(text):
        raise NotAllowed(f"{name}: {update} would change data, and queries only read")
    text = modern(text.replace("\r\n", "\n").replace("\r", "\n"))
    if "service" in _unescape(text).lower():
        text = _with_services(text, name, frozenset(allow_services))
    else:
        _check_syntax(text, name)
    if graphs is not None:
        _check_graphs(text, name, graphs)
    return text


def _unescape(text: str) -> str:
    return re.sub(
        r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})",
        lambda match: chr(min(int(match[1] or match[2], 16), 0x10FFFF)),
        text,
    )


def _check_syntax(text: str, name: str) -> None:
    """Raise `QueryError` with file, line and column where Oxigraph's parser refuses a query without SERVICE."""
    try:
        ox.Store().query(text, prefixes=PREFIXES)
    except SyntaxError as error:
        raise QueryError(syntax_error(text, str(error), name)) from None


def _with_services(text: str, name: str, allowed: frozenset[str]) -> str:
    try:
        tree = parse(text)
        checked = tree.map(lambda node: _service(node, _endpoints(tree), allowed, name))
        return text_of(checked)
    except NotUnderstood as error:
        raise QueryError(
            f"{name} speaks of SERVICE and cannot be checked ({error}): write it more simply, without the word"
        ) from None


def _service(node: Node, endpoints: dict[str, set[str]], allowed: frozenset[str], name: str) -> Node:
    if node.kind != "ServiceGraphPattern":
        return node
    term = node.get("term")
    if term.startswith("?"):
        values = endpoints.get(term, set())
        if len(values) != 1 or not next(iter(values)).startswith("<"):
            raise QueryError(f"{name} asks SERVICE {term}, which needs one line VALUES {term} {{ <endpoint> }}")
        term = next(iter(values))
    if term[1:-1] not in allowed:
        raise NotAllowed(f"{name} asks SERVICE {term}, which is not allowed: --allow-service {term[1:-1]} allows it")
    return node.but(term=term)


def _endpoints(tree: Node) -> dict[str, set[str]]:
    """Return the values that lines `VALUES ?name { … }` give to each variable, anywhere in the query."""
    found: dict[str, set[str]] = {}
    for node in walk(tree):
        if node.kind in ("InlineData", "ValuesClause"):
            for at, variable in enumerate(node.get("var", ())):
                rows = node.get("value", ())
                found.setdefault(variable, set()).update(row[at] if isinstance(row, tuple) else row for row in rows)
    return found


def _check_graphs(text: str, name: str, graphs: Collection[str]) -> None:
    stream = [token for _, token in significant(text)]
    for at, token in enumerate(stream):
        if token.upper() != "FROM" or at + 2 >= len(stream):
            continue
        source = stream[at + 2] if stream[at + 1].upper() == "NAMED" else stream[at + 1]
        if source.startswith("<") and source[1:-1] not in graphs:
            hint = nearest(source[1:-1], graphs)
            raise QueryError(f"{name} reads FROM {source}, which is no graph of the workspace{hint}")
