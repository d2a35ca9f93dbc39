"""Other stores: any SPARQL 1.1 endpoint in the place of the index."""

from __future__ import annotations

import io

import polars as pl
import pyoxigraph as ox

from remix.client import Failure, ask, check_address, first_line
from remix.errors import QueryError, StoreError, Timeout
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
        check_address(address)
        super().__init__(None)
        self.address = address
        self.timeout = timeout

    def query(self, text: str, name: str = "the query") -> Results:
        """Return the endpoint's solutions, or its answer to an ASK."""
        body, media = self._ask(text, name, ox.QueryResultsFormat.JSON.media_type)
        form = ox.QueryResultsFormat.from_media_type(media)
        if form is None:
            raise StoreError(f"{self.address} answered with {media}, which are no query results")
        return ox.parse_query_results(body, form)

    def triples(self, text: str, name: str = "the query") -> list[bytes]:
        """Return the triples that the endpoint constructs as distinct lines of N-Triples, in no order."""
        body, media = self._ask(text, name, ox.RdfFormat.TURTLE.media_type)
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

    def _ask(self, text: str, name: str, accept: str) -> tuple[bytes, str]:
        try:
            answer = ask(self.address, _with_prefixes(modern(text)), accept=accept, timeout=self.timeout)
        except Failure as failure:
            if failure.status == 400:
                raise QueryError(f"{name} is refused by {self.address}: {first_line(failure.body)}") from None
            kind = Timeout if failure.late else StoreError
            raise kind(f"{self.address} {failure}") from None
        return answer.body, answer.media


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
