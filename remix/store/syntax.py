"""SPARQL's tokens, for what is decided before a query is parsed: keywords, namespaces, the kind of query."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remix.names import HFTS, HFTS_OLD

# A keyword is a word outside strings, comments, IRIs, variables, prefixed names and language tags.
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<string>\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*\"\"\" | '''(?:[^'\\]|\\.|'(?!''))*'''
                  | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
      | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
      | (?P<variable>[?$]\w+)
      | (?P<name>(?:[^\W\d](?:[\w.-]*[\w-])?)?:(?:[\w:%\\.-]|\\.)*)
      | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
      | (?P<word>[^\W\d]\w*)
      | (?P<space>\s+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_UPDATES = {"INSERT", "DELETE", "DROP", "CLEAR", "LOAD", "CREATE", "ADD", "MOVE", "COPY", "WITH"}
NEVER_THE_SAME = {"NOW", "RAND", "UUID", "STRUUID", "BNODE", "SERVICE"}
"""Keywords of what may make another answer of the same query on the same data."""
_FORMS = {"SELECT", "CONSTRUCT", "ASK", "DESCRIBE"}


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Return the tokens of a query with their kinds; together they are the text.

    >>> [kind for kind, _ in tokens('ASK {?s a "SERVICE"}') if kind not in ("space", "other")]
    ['word', 'variable', 'word', 'string']
    """
    for match in _TOKEN.finditer(text):
        yield str(match.lastgroup), match.group()


def significant(text: str) -> list[tuple[str, str]]:
    """Return the tokens of a query that are no space and no comment."""
    return [(kind, token) for kind, token in tokens(text) if kind not in ("space", "comment")]


def prefixes_of(text: str) -> dict[str, str]:
    """Return the prefixes that a query declares.

    >>> prefixes_of("PREFIX a: <urn:a> ASK {}")
    {'a': 'urn:a'}
    """
    stream = [token for _, token in significant(text)]
    return {
        name.removesuffix(":"): iri[1:-1]
        for word, name, iri in zip(stream, stream[1:], stream[2:], strict=False)
        if word.upper() == "PREFIX" and iri.startswith("<")
    }


def keywords(text: str) -> list[str]:
    """Return the words of a query that are no part of a string, comment, IRI, variable or name, in upper case.

    >>> keywords("# DROP\\nASK { SERVICE <http://drop> {} }")
    ['ASK', 'SERVICE']
    """
    return [token.upper() for kind, token in tokens(text) if kind == "word"]


def is_update(text: str) -> str | None:
    """Return the keyword that makes a text an update, None for a query.

    >>> is_update("prefix a: <urn:a> drop all"), is_update("select * {}")
    ('DROP', None)
    """
    first = next((word for word in keywords(text) if word in _UPDATES | _FORMS), None)
    return first if first in _UPDATES else None


def is_query(text: str) -> bool:
    """Return whether a text is a query at all, not a name or a path.

    >>> is_query("ask {}"), is_query("persons_hard")
    (True, False)
    """
    return bool(_FORMS & set(keywords(text))) and "{" in text or "DESCRIBE" in keywords(text)


def has_dataset_clause(text: str) -> bool:
    """Return whether a query names its own dataset with `FROM`."""
    return "FROM" in keywords(text)


def modern(text: str) -> str:
    """Return a query that speaks of the published hfts namespace where it spoke of the older one.

    >>> modern(f"ask {{ ?d <{HFTS_OLD}notAnnotatedProperty> ?n }}") == f"ask {{ ?d <{HFTS}notAnnotated> ?n }}"
    True
    """
    return re.sub(r"(?<=[:#])notAnnotatedProperty\b", "notAnnotated", text.replace(HFTS_OLD, HFTS))
