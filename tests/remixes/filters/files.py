"""Filters files for tests, and what reads them as the extension's own code does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pyoxigraph as ox

HEAD = "org.aksw.gerbil.util.filter."
PREFIXES = ("foaf:<http://xmlns.com/foaf/0.1/>", "rdf:<http://www.w3.org/1999/02/22-rdf-syntax-ns#>")
OF_CLASS = "select distinct ?v where { values ?v {##} . ?v rdf:type %s . }"
PERSONS, PLACES = OF_CLASS % "foaf:Person", OF_CLASS % "<http://dbpedia.org/ontology/Place>"


def write(place: Path, filters: Mapping[str, Mapping[str, str]], **settings: object) -> Path:
    """Write a file of filters, each by the number that its keys have (`1`, `file.1`), and settings such as `chunk`."""
    lines = [f"{HEAD}{name}={value}" for name, value in settings.items()]
    lines += [f"{HEAD}prefix.{number}={prefix}" for number, prefix in enumerate(PREFIXES, start=1)]
    lines += [f"{HEAD}{number}.{key}={value}" for number, own in filters.items() for key, value in own.items()]
    place.write_text("\n".join(["# filters", *lines, ""]), encoding="utf-8")
    return place


def query(name: str, service: object, text: str = PERSONS, **more: object) -> dict[str, str]:
    """Return the keys of a filter."""
    return {"name": name, "service": str(service), "filter": text, **{key: str(one) for key, one in more.items()}}


def turtle(persons: Iterable[str] = (), places: Iterable[str] = ()) -> str:
    """Return Turtle that says of entities that they are persons or places."""
    said = [(one, "http://xmlns.com/foaf/0.1/Person") for one in persons]
    said += [(one, "http://dbpedia.org/ontology/Place") for one in places]
    return "".join(f"<{entity}> a <{kind}> .\n" for entity, kind in said)


def ask_jena(store: ox.Store, prefixes: Sequence[str], text: str) -> Callable[[list[str]], list[str]]:
    """Return what asks a store about a list of entities, with the query put together as the extension does.

    It parts the query at its first run of signs '#' and puts the entities between the two parts.
    """
    before, after = re.split("#+", text)

    def ask(entities: list[str]) -> list[str]:
        listed = "".join(f"<{one}> " for one in entities)
        solutions = store.query("".join(f"PREFIX {one} " for one in prefixes) + before + listed + after)
        assert isinstance(solutions, ox.QuerySolutions)
        return [row["v"].value for row in solutions]  # type: ignore[union-attr]

    return ask


def select_as_gerbil(
    entities: list[str],
    whitelist: Sequence[str],
    chunk: int,
    ask: Callable[[list[str]], list[str]],
    *,
    loses_last: bool,
    hides_failures: bool,
) -> set[str]:
    """Return what the extension keeps of a list of entities, in which one may come several times.

    It has two defects, which can be switched off: of each full chunk the last entity is lost, where there are several
    chunks; and what fails has answered nothing.
    """
    listed = [one for one in entities if not whitelist or any(part in one for part in whitelist)]
    chunks = [listed]
    if 0 < chunk < len(listed):
        full, rest = divmod(len(listed), chunk)
        chunks = [listed[at * chunk : at * chunk + chunk - loses_last] for at in range(full)]
        chunks += [listed[-rest:]] if rest else []
    resolved: list[str] = []
    for some in chunks:
        try:
            resolved += ask(some)
        except (SyntaxError, OSError):
            if not hides_failures:
                raise
    return {one for one in entities if one in resolved}
