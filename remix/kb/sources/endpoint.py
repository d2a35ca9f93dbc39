"""A SPARQL endpoint, asked for what the measures need of the surface forms and entities of loaded datasets.

What is asked is the affair of `remix.kb.vocabularies`: candidates of each surface form; of these and of the entities
of the datasets the names, redirects, disambiguation pages, types with their superclasses, sameAs, links in and out,
and published PageRank. How it is asked: see `remix.endpoints`; `REMIX_ENDPOINT_RATE` (requests a second, 5),
`REMIX_ENDPOINT_TIMEOUT` (seconds, 60) and `REMIX_ENDPOINT_TRIES` (5) change it. Answers stay in the folder `endpoints`
of the cache until a build with `--refresh` asks for them afresh.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl

from remix.client import check_address, without_secrets
from remix.endpoints.remote import Manners, Remote
from remix.errors import Error, UsageError
from remix.files import write_whole
from remix.kb.gathering import gather
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import Staging
from remix.kb.vocabularies import VOCABULARIES
from remix.signature import content_hash

__all__ = ["SOURCE"]

_REFRESHING = "refreshing"
"""A file beside the answers until all are there that a refreshing asks for."""


def _parts(place: str, choices: Choices) -> list[Part]:
    """Return the one part that an endpoint is.

    Its fingerprint is a hash of address, forms, entities, languages, questions, and of the moment when its first
    answer was kept: an endpoint's data change, and nothing tells when. So whoever goes on from kept answers, or
    builds from them again, gets the same version; without them it is another.
    """
    check_address(place)
    if not len(choices.forms) and not len(choices.entities):
        raise UsageError(f"{without_secrets(place)} is asked about datasets: name loaded ones with --for")
    manners = Manners.of_environment()
    cache = choices.cache / "endpoints" / content_hash(place)[:16] if choices.cache else None
    if cache and choices.refresh:
        _discard(cache)
    begun = _begin(cache)
    asked = [_distinct(choices.forms), _distinct(choices.entities), choices.languages]
    questions = [repr(vocabulary) for vocabulary in VOCABULARIES]

    def read(staging: Staging) -> None:
        gather(Remote(place, manners, cache), choices, staging)
        if cache:
            (cache / _REFRESHING).unlink(missing_ok=True)

    return [
        Part(
            name=urlsplit(place).netloc.rpartition("@")[2],
            fingerprint=content_hash(repr([place, begun, [list(names) for names in asked], questions])),
            read=read,
            place=without_secrets(place),
            date=begun[:10],
            licence=_licence(place),
        )
    ]


def _discard(cache: Path) -> None:
    """Remove the answers of an endpoint, but those of a refreshing that was interrupted, which goes on."""
    if (cache / _REFRESHING).exists():
        return
    stale = cache.with_name(f"{cache.name}.stale")
    shutil.rmtree(stale, ignore_errors=True)
    if cache.exists():
        cache.rename(stale)
    with write_whole(cache / _REFRESHING):
        pass
    shutil.rmtree(stale, ignore_errors=True)


def _begin(cache: Path | None) -> str:
    """Return the moment when an endpoint was first asked, by a file beside its answers."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if cache is None:
        return now
    file = cache / "begun"
    if not file.exists():
        with write_whole(file) as stream:
            stream.write(now.encode())
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"{file} cannot be read: {error.strerror or error}") from None


def _licence(place: str) -> str:
    host = urlsplit(place).hostname or ""
    known = [v.licence for v in VOCABULARIES if v.host and (host == v.host or host.endswith(f".{v.host}"))]
    return known[0] if known else ""


def _distinct(names: pl.Series) -> pl.Series:
    return names.cast(pl.String).drop_nulls().unique().sort()


SOURCE = Source("endpoint", "A SPARQL endpoint, asked for what loaded datasets need (--for)", _parts)
