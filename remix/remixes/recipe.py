"""The recipe of a remix, read from its manifest alone: what it was built from, by which query and choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remix import catalog
from remix.errors import BadInput, UsageError
from remix.remixes.closure import ALL
from remix.remixes.manifest import Manifest, read_manifest
from remix.signature import Signature, content_hash
from remix.store import DatasetEntry
from remix.store.queries import Query

_SUFFIX = ".manifest.ttl"
_SAID = {
    "query": "its query",
    "kb": "the knowledge base",
    "version": "the version of remix",
    "inputs": "the content of datasets or their measures",
}
"""What fields of the signature are, of those that people know by another name."""


@dataclass(frozen=True)
class Recipe:
    """What a manifest says of how to build its remix: name, query, the contents of its datasets, and choices.

    `choices` are options of `Workspace.build`; `remix` is where the file of the remix stands beside the manifest, or
    what was `published` of it.
    """

    name: str
    query: Query
    contents: Mapping[str, str]
    enrichment: str
    signature: Signature
    remix: Path
    choices: Mapping[str, Any] = field(default_factory=dict)
    published: bool = False

    def datasets(self, loaded: Iterable[DatasetEntry]) -> tuple[str, ...]:
        """Return the datasets that the query sees, none where these are all; raises `UsageError` for missing ones."""
        known = {entry.name for entry in loaded}
        if lost := [name for name in self.contents if name not in known]:
            loads = [
                f"`remix load {name}`" if catalog.find(name) else f"`remix load FILE --name {name}`" for name in lost
            ]
            raise UsageError(f"{self.name} is of {', '.join(lost)}, not loaded: {', '.join(loads)}")
        return () if known == set(self.contents) else tuple(sorted(self.contents))

    def differences(self, now: Signature, loaded: Iterable[DatasetEntry]) -> Iterator[str]:
        """Yield what is other than it was where the remix was built, a line each; nothing where all is the same."""
        entries = {entry.name: entry for entry in loaded}
        for name, content in sorted(self.contents.items()):
            if entries[name].content != content:
                yield f"{name} has other content: it was {content[:12]}, and is {entries[name].content[:12]}"
        measures = {entries[name].enrichment or "" for name in self.contents}
        if measures != {self.enrichment}:
            yield (
                f"measures are others: they were '{self.enrichment or 'none'}', and are "
                f"'{', '.join(sorted(measures)) or 'none'}'"
            )
        for key in dict.fromkeys([*self.signature.fields, *now.fields]):
            old, new = self.signature.fields.get(key, "none"), now.fields.get(key, "none")
            if old != new and key != "inputs":
                yield f"{_SAID.get(key, key)} is other: it was {old}, and is {new}"

    def tell(self, now: Signature, loaded: Iterable[DatasetEntry], triples: bytes) -> Iterator[str]:
        """Yield what differs, and whether the file beside the manifest comes out again."""
        found = [*self.differences(now, loaded)]
        yield from found
        same = self.remix.is_file() and content_hash(self.remix) == content_hash(triples)
        if same:
            yield f"{self.remix.name} comes out again, byte for byte"
        elif self.remix.is_file() and self.published:
            yield f"{self.remix.name} is published, with more than the remix has, and is not compared"
        elif self.remix.is_file():
            yield f"{self.remix.name} comes out otherwise" + ("" if found else ": it was changed since it was written")
        elif not found:
            yield "all that it is built of is as it was"


def read_recipe(file: Path | str) -> Recipe:
    """Return the recipe in a manifest (`NAME.manifest.ttl`), or in that beside a remix.

    Raises `BadInput` for a file that is none, `UsageError` for a remix that this workspace cannot build.
    """
    path = Path(file)
    remix = path.with_name(path.name.removesuffix(_SUFFIX) + ".ttl") if path.name.endswith(_SUFFIX) else path
    said = read_manifest(remix)
    if said is None or not said.signature:
        raise BadInput(path, "is no manifest of a remix, and none is beside it: name NAME.manifest.ttl")
    signature = Signature.parse(said.signature)
    if address := signature.fields.get("endpoint"):
        raise UsageError(f"{path}: it was built at {address}: `remix build --endpoint {address}` builds there")
    name = signature.fields.get("remix", "remix")
    query = Query.parse(said.query, name)
    return Recipe(
        name, query, said.contents, said.enrichment, signature, remix, _choices(said, signature), said.published
    )


def _choices(said: Manifest, signature: Signature) -> dict[str, Any]:
    """Return the options of `Workspace.build` that a signature tells."""
    told = signature.fields
    limit, _, seed = told.get("limit", "none").partition(" by seed ")
    editions = told.get("editions", "")
    order = (ALL,) if editions == ALL else tuple(editions.split(" > ")) if editions != "first by name" else ()
    found: dict[str, Any] = {
        "drop": told.get("left-out") == "removed",
        "limit": None if limit == "none" else int(limit),
        "seed": int(seed) if seed else None,
        "edition": tuple(filter(None, order)),
        "without": tuple(filter(None, told.get("withheldRuns", "").split(", "))),
    }
    if said.balance:
        shares = (one.rpartition("=") for one in told.get("balanceShares", "").split(", ") if one)
        found |= {
            "balance": tuple(said.balance.split(", ")),
            "balance_over": told.get("balanceOver", "marginals"),
            "balance_share": {name: number for name, _, number in shares},
            "balance_tolerance": int(told.get("balanceTolerance") or 0),
            "seed": int(told.get("balanceSeed", "0")),
        }
    return found
