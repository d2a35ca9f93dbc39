"""Other stores: any SPARQL 1.1 endpoint in the place of the index."""

from __future__ import annotations

import io
import urllib.error
from typing import Any

import polars as pl
import pyoxigraph as ox

from remix.errors import QueryError, StoreError, Timeout, UsageError
from remix.names import PREFIXES
from remix.store.columns import with_subjects
from remix.store.index import Index, Results
from remix.store.syntax import modern, tokens
from remix.store.tree import NotUnderstood

__all__ = ["Endpoint"]

_CHUNK = 200


class Endpoint(Index):
    """A SPARQL endpoint that is asked like an index; what its default graph is, is its own affair.

    Raises `UsageError` for an address that is not http or https.
    """

    def __init__(self, address: str, *, timeout: float = 60) -> None:
        if not address.startswith(("http://", "https://")):
            raise UsageError(f"'{address}' is no address of an endpoint: it begins with http:// or https://")
        super().__init__(None)
        self.address = address
        self.timeout = timeout

    def query(self, text: str, name: str = "the query") -> Results:
        """Return the endpoint's solutions, or its answer to an ASK."""
        body, media = self._asked(text, name)
        form = ox.QueryResultsFormat.from_media_type(media)
        if form is None:
            raise StoreError(f"{self.address} answered with {media}, which are no query results")
        return ox.parse_query_results(body, form)

    def triples(self, text: str, name: str = "the query") -> list[bytes]:
        """Return the triples that the endpoint constructs as distinct lines of N-Triples, in no order."""
        body, media = self._asked(text, name)
        form = ox.RdfFormat.from_media_type(media)
        if form is None:
            raise StoreError(f"{self.address} answered with {media}, which is no graph")
        try:
            quads = ox.parse(io.BytesIO(body), form, base_iri=self.address, lenient=True)
            return list({f"{quad.triple} .".encode() for quad in quads})
        except (SyntaxError, ValueError) as error:
            raise StoreError(f"{self.address} answered with a graph that does not parse: {error}") from None

    def about(self, subjects: pl.Series) -> pl.DataFrame:
        """Return the triples of these subjects; raises `NotUnderstood` for blank nodes, which nobody can ask for."""
        if subjects.str.starts_with("_:").any():
            raise NotUnderstood("blank nodes of another store")
        iris = subjects.filter(subjects.str.starts_with("<")).to_list()
        found: set[bytes] = set()
        for begin in range(0, len(iris), _CHUNK):
            some = " ".join(iris[begin : begin + _CHUNK])
            found.update(self.triples(f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ VALUES ?s {{ {some} }} ?s ?p ?o }}"))
        return with_subjects(line.decode() for line in found)

    def graphs(self) -> list[str]:
        """Return nothing: which graphs an endpoint has is its own affair."""
        return []

    def _asked(self, text: str, name: str) -> tuple[bytes, str]:
        from SPARQLWrapper import JSON, POST, TURTLE, SPARQLExceptions, SPARQLWrapper

        wrapper = SPARQLWrapper(self.address)
        wrapper.setTimeout(max(1, round(self.timeout)))
        wrapper.setMethod(POST)
        wrapper.setQuery(_with_prefixes(modern(text)))
        wrapper.setReturnFormat(JSON if wrapper.queryType in ("SELECT", "ASK") else TURTLE)
        try:
            response: Any = wrapper.query().response
            with response:
                return response.read(), response.headers.get_content_type()
        except SPARQLExceptions.QueryBadFormed as error:
            raise QueryError(f"{name} is refused by {self.address}: {_said(error)}") from None
        except SPARQLExceptions.SPARQLWrapperException as error:
            raise StoreError(f"{self.address} failed: {_said(error)}") from None
        except TimeoutError:
            raise Timeout(f"{self.address} did not answer within {self.timeout:g} s") from None
        except urllib.error.HTTPError as error:
            raise StoreError(f"{self.address} answered {error.code} {error.reason}") from None
        except (urllib.error.URLError, OSError, ValueError) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise Timeout(f"{self.address} did not answer within {self.timeout:g} s") from None
            raise StoreError(f"{self.address} cannot be reached: {getattr(error, 'reason', error)}") from None


def _said(error: Exception) -> str:
    """Return in one line what an endpoint said; SPARQLWrapper puts it, as the bytes' repr, behind its own words.

    >>> _said(Exception("QueryBadFormed: A bad request \\n\\nResponse:\\nb'line 1: no\\\\n'"))
    'line 1: no'
    """
    own, _, response = str(error).partition("Response:\n")
    text = response.removeprefix("b").strip("'\"").replace("\\n", " ") or own
    return " ".join(text.split())[:300]


def _with_prefixes(text: str) -> str:
    """Return a query with the well-known prefixes declared that it uses and does not declare itself.

    >>> _with_prefixes("ASK { ?s a nif:Phrase }").splitlines()[0]
    'PREFIX nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#>'
    """
    names = [token for kind, token in tokens(text) if kind == "name"]
    used = {name.partition(":")[0] for name in names if not name.endswith(":")}
    declared = {name.removesuffix(":") for name in names if name.endswith(":")}
    lines = [f"PREFIX {prefix}: <{PREFIXES[prefix]}>" for prefix in sorted((used - declared) & set(PREFIXES))]
    return "\n".join([*lines, text])
