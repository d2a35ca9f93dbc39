"""A dump of Wikidata in N-Triples: `latest-truthy.nt.bz2`, `latest-all.nt.bz2`, or what was cut out of them.

Labels and aliases of items become surface forms (`label`, `alias`), sitelinks the name of the item in Wikipedia
(surface forms of source `sitelink`, and sameas), `wdt:P1549` demonyms, `wdt:P31` types, `wdt:P279` subclasses, every
`wdt:` statement whose value is an item a link, `owl:sameAs` between items a redirect. Properties, lexemes and
qualifiers are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.iris import canonical
from remix.kb.dumps import check_file, file_part, read_statements
from remix.kb.dumps.statements import Pattern
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import Staging
from remix.kb.titles import ITEM, language_of, title
from remix.names import OWL, PREFIXES, RDFS

LICENCE = "CC0 1.0"
_SCHEMA, _WDT = PREFIXES["schema"], PREFIXES["wdt"]
_ABOUT, _SAME = _SCHEMA + "about", OWL + "sameAs"
_DEMONYM = _WDT + "P1549"
_ALIAS = PREFIXES["skos"] + "altLabel"
_LABELS = (RDFS + "label", PREFIXES["skos"] + "prefLabel", _SCHEMA + "name")


def _parts(place: str, choices: Choices) -> list[Part]:
    return [file_part(check_file(place, "wikidata"), choices, _read, licence=LICENCE)]


def _read(path: Path, choices: Choices, staging: Staging) -> None:
    pattern = Pattern([*_LABELS, _ALIAS, _DEMONYM, _ABOUT, _SAME], choices.languages, [_WDT])
    sitelinks = _Sitelinks(choices.languages)
    seen: set[str] = set()
    with staging:
        for found in read_statements(path, pattern, staging):
            triples = found.rows.filter(pl.col("object") != "")
            _texts(triples, choices.languages, staging)
            _statements(triples, staging)
            sitelinks.add(triples, staging)
            seen.update(found.foreign.unique())
        sitelinks.end(staging)
    if not staging.rows:
        languages = f"; its texts are in {', '.join(sorted(seen)[:20])}: choose with --lang" if seen else ""
        raise BadInput(path, f"has nothing on items of Wikidata{languages}")


def _texts(triples: pl.DataFrame, languages: Sequence[str], staging: Staging) -> None:
    # The dump says a label three times, for three vocabularies.
    texts = (
        triples.filter(pl.col("tag").is_in(list(languages)) & pl.col("subject").str.contains(ITEM))
        .select(
            "tag",
            entity="subject",
            surface_form="object",
            source=pl.col("predicate").replace_strict({_ALIAS: "alias", _DEMONYM: "P1549"}, default="label"),
        )
        .unique(maintain_order=True)
    )
    first = texts.filter((pl.col("source") == "label") & (pl.col("tag") == languages[0]))
    staging.add("labels", first.select("entity", label="surface_form", source="source"))
    named = texts.filter(pl.col("source") != "P1549")
    staging.add("surface_forms", named.select("entity", "surface_form", "source"))
    demonyms = texts.filter(pl.col("source") == "P1549")
    staging.add("demonyms", demonyms.select("entity", "source", demonym="surface_form"))


def _statements(triples: pl.DataFrame, staging: Staging) -> None:
    between = triples.filter(pl.col("subject").str.contains(ITEM) & pl.col("object").str.contains(ITEM))
    links = between.filter(pl.col("predicate").str.starts_with(_WDT))
    staging.add("links", links.select(source="subject", target="object", origin=pl.lit("statement")))
    types = links.filter(pl.col("predicate") == _WDT + "P31")
    staging.add("types", types.select(entity="subject", **{"class": "object"}, source=pl.lit("P31")))
    classes = links.filter(pl.col("predicate") == _WDT + "P279")
    staging.add("subclasses", classes.select(**{"class": "subject"}, parent="object", source=pl.lit("P279")))
    moved = between.filter(pl.col("predicate") == _SAME)
    staging.add("redirects", moved.select(redirect="subject", target="object", source=pl.lit("sameAs")))


class _Sitelinks:
    """Articles on items: the one of the first language is the item's name, those of the others are its other names.

    The sitelinks of an item follow each other in a dump; those of the last item of a block wait for the next one.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = list(languages)
        self._held = pl.DataFrame(schema={"item": pl.String, "entity": pl.String, "rank": pl.Int64})

    def add(self, triples: pl.DataFrame, staging: Staging) -> None:
        """Add the names of the items that a block of triples says articles are about to the rows."""
        about = triples.filter(
            (pl.col("predicate") == _ABOUT)
            & pl.col("object").str.contains(ITEM)
            & pl.col("subject").str.contains(rf"^https?://(?:{'|'.join(self._languages)})\.wikipedia\.org/wiki/.")
        )
        if about.is_empty():
            return
        article = pl.DataFrame({"item": about["object"], "entity": canonical(about["subject"])})
        named = article.with_columns(language_of(pl.col("entity")).alias("language")).drop_nulls()
        ranks = {language: rank for rank, language in enumerate(self._languages)}
        ranked = named.select("item", "entity", rank=pl.col("language").replace_strict(ranks, return_dtype=pl.Int64))
        form = title(pl.col("entity"))
        staging.add("surface_forms", ranked.select("entity", surface_form=form, source=pl.lit("sitelink")))
        waiting = pl.concat([self._held, ranked])
        last = pl.col("item") == waiting["item"][-1]
        self._held = waiting.filter(last)
        self._write(waiting.filter(~last), staging)

    def end(self, staging: Staging) -> None:
        """Write the sitelinks that wait."""
        self._write(self._held, staging)

    def _write(self, ranked: pl.DataFrame, staging: Staging) -> None:
        best = ranked.sort("rank", maintain_order=True).unique("item", keep="first", maintain_order=True)
        source = pl.lit("sitelink")
        staging.add("sameas", best.select(wikidata="item", entity="entity", source=source))
        others = ranked.join(best.select("item", best="entity"), on="item", maintain_order="left")
        others = others.filter(pl.col("entity") != pl.col("best"))
        staging.add("sameas", others.select(wikidata="entity", entity="best", source=source))


SOURCE = Source("wikidata", "A dump of Wikidata in N-Triples", _parts)
