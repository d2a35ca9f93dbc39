"""Entities in canonical form: what two spellings of one IRI become before they are compared.

A pure function that works offline; redirects and sameAs links of a knowledge base come after it.
Its rules, in order:

1. outer spaces go, inner ones become `_`; `https` becomes `http`; text is NFC;
2. `www.` and `m.` before a Wikipedia, DBpedia or Wikidata host go;
3. a Wikipedia article is the DBpedia resource of its language; the English edition is `dbpedia.org`;
4. `/page/`, `/data/` and `/wiki/` become `/resource/` in DBpedia, and `/entity/` in Wikidata;
5. percent-encoding is undone in DBpedia titles, then what no IRI may hold is encoded again;
6. the first letter of a DBpedia title is upper case;
7. what no IRI may hold is encoded in all others, too (`remix.rdf.iris`), so that a mended IRI is the one it came from.
"""

from __future__ import annotations

from urllib.parse import unquote

import polars as pl

from remix.names import PREFIXES
from remix.rdf.iris import ENCODED, is_absolute, legal

VERSION = "2"
"""Part of every signature; grows when a rule changes."""

NIL_PATTERN = (
    r"(?i)^(?:|[*]|-*nil-*|<nil>|b-nil|--nme--|null|none|<?unknown[0-9]*>?|https?://[^/]*(?:aksw\.org/notinwiki/?.*|scms\.eu/.*)"
    r"|.*/(?:notinlexico|notinwiki|nil)(?:[/#].*)?)$"
)
"""What links say when they mean 'no entity in the knowledge base', as met in public datasets."""

_TITLE = r"^http://(?:[a-z][a-z-]*\.)?dbpedia\.org/resource/"
CASELESS = (
    r"\x{5D0}-\x{5EA}\x{620}-\x{64A}\x{66E}-\x{6D3}\x{904}-\x{939}\x{93E}-\x{94D}\x{2010}-\x{2027}"
    r"\x{3041}-\x{3096}\x{30A1}-\x{30FA}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
)
"""Letters and dashes, for a class of a pattern, that have no case and are NFC wherever they stand."""

# Most IRIs of a dump are canonical, which one pattern tells much sooner than the rules do. It holds letters that are
# NFC wherever they stand; titles of other letters take the long way.
_FIRST = rf"!$'-+\--.0-9:;=?@A-ZÀ-ÖØ-Þ\x{{391}}-\x{{3A1}}\x{{3A3}}-\x{{3A9}}\x{{400}}-\x{{42F}}{CASELESS}"
_LAST = (
    rf"{_FIRST}&,/a-z~\x{{A1}}-\x{{2FF}}\x{{386}}\x{{388}}-\x{{38A}}\x{{38C}}\x{{38E}}-\x{{3A1}}\x{{3A3}}-\x{{482}}"
    r"\x{48A}-\x{52F}"
)
_KEPT = "%(?:22|25|3C|3E|5B|5C|5D|5E|60|7B|7C|7D)"
_CANONICAL = (
    rf"^http://(?:(?:(?:[a-df-z][a-z]|e[a-mo-z])\.)?dbpedia\.org/resource/(?:[{_FIRST}]|{_KEPT})"
    rf"(?:(?:[{_LAST}_]|{_KEPT})*(?:[{_LAST}]|{_KEPT}))?|www\.wikidata\.org/entity/[LPQ][0-9]+)$"
)
_ENCODED = r"(?:%[0-9A-Fa-f]{2})+"
_WRITTEN = {" ": "_", **ENCODED}


def canonical(iris: pl.Series) -> pl.Series:
    """Return the canonical form of each IRI of a column; null stays null.

    >>> canonical(pl.Series(["https://en.wikipedia.org/wiki/Caf%C3%A9_au lait", "http://www.wikidata.org/wiki/Q64"])).to_list()
    ['http://dbpedia.org/resource/Café_au_lait', 'http://www.wikidata.org/entity/Q64']
    """
    iris = iris.cast(pl.String)
    is_canonical = iris.str.contains(_CANONICAL).fill_null(True)
    if is_canonical.all():
        return iris
    others = iris.filter(~is_canonical)
    unique = others.unique()
    each = others if len(unique) == len(others) else unique
    forms = pl.DataFrame({"iri": each, "form": _titles(_hosts(_compose(each.str.strip_chars())))})
    moved = forms if each is others else others.to_frame("iri").join(forms, on="iri", how="left", maintain_order="left")
    return iris.clone().scatter((~is_canonical).arg_true(), moved["form"])


def canonical_iri(iri: str) -> str:
    """Return the canonical form of one IRI.

    >>> canonical_iri("http://dbpedia.org/page/berlin")
    'http://dbpedia.org/resource/Berlin'
    >>> canonical_iri("http://de.wikipedia.org/wiki/Köln")
    'http://de.dbpedia.org/resource/Köln'
    """
    return str(canonical(pl.Series([iri]))[0])


def expand(iris: pl.Series) -> pl.Series:
    """Return IRIs in full where they are written with a well-known prefix.

    >>> expand(pl.Series(["dbr:Berlin", "http://example.org/a", "mailto:a"])).to_list()
    ['http://dbpedia.org/resource/Berlin', 'http://example.org/a', 'mailto:a']
    """
    parts = pl.DataFrame({"iri": iris}).with_columns(prefix=pl.col("iri").str.extract(r"^([A-Za-z]+):(?:[^/]|/[^/]|$)"))
    namespace = pl.col("prefix").replace_strict(PREFIXES, default=None, return_dtype=pl.String)
    rest = pl.col("iri").str.replace(r"^[A-Za-z]+:", "")
    return parts.select(pl.coalesce(namespace + rest, "iri").alias(iris.name)).to_series()


def is_nil(iris: pl.Expr) -> pl.Expr:
    """Return whether a link says 'no entity in the knowledge base', by its spelling; null stays null.

    >>> pl.DataFrame({"x": ["http://aksw.org/notInWiki/Foo", "<NIL>", "http://dbpedia.org/resource/Nil"]}).select(is_nil(pl.col("x")))["x"].to_list()
    [True, True, False]
    """
    of_a_kb = iris.str.contains(r"^https?://(?:[a-z]+\.)?(?:dbpedia|wikidata)\.org/")
    return iris.str.contains(NIL_PATTERN) & ~of_a_kb


def _compose(iris: pl.Series) -> pl.Series:
    """Return the IRIs in NFC, which ASCII is already."""
    other = iris.str.contains(r"[^\x00-\x7F]").arg_true()
    return iris.clone().scatter(other, iris.gather(other).str.normalize("NFC")) if len(other) else iris


def _hosts(iris: pl.Series) -> pl.Series:
    iri = pl.col("iri").str
    hosts = iris.to_frame("iri").with_columns(
        iri.replace(r"^https?://(?:www\.|m\.)*", "http://")
        .str.replace(r"^http://([a-z-]+)\.m\.wikipedia\.org/", "http://${1}.wikipedia.org/")
        .str.replace(r"^http://en\.(wikipedia|dbpedia)\.org/", "http://$1.org/")
        .str.replace(
            r"^http://([a-z-]+\.)?(?:wikipedia|dbpedia)\.org/(?:wiki|page|data|resource)/",
            "http://${1}dbpedia.org/resource/",
        )
    )
    if hosts.select(iri.contains("://wikidata.", literal=True).any()).item():
        hosts = hosts.with_columns(
            iri.replace(r"^http://wikidata\.org/(?:wiki|entity|resource|page)/", "http://www.wikidata.org/entity/")
            .str.replace(r"^http://wikidata\.org/", "http://www.wikidata.org/")
            .str.replace(r"^http://wikidata\.dbpedia\.org/resource/(Q[0-9]+)$", "http://www.wikidata.org/entity/$1")
        )
    return hosts["iri"]


def _titles(iris: pl.Series) -> pl.Series:
    encoded = iris.to_frame("iri").filter(pl.col("iri").str.contains(_TITLE), pl.col("iri").str.contains("%"))["iri"]
    decoded = iris.replace(encoded, _decode(encoded)) if len(encoded) else iris
    frame = pl.DataFrame({"iri": decoded}).with_columns(start=pl.col("iri").str.extract(f"({_TITLE})"))
    title = (
        pl.col("iri")
        .str.strip_prefix(pl.col("start").fill_null(""))
        .str.replace_many(list(_WRITTEN), list(_WRITTEN.values()))
        .str.strip_chars("_")
    )
    upper = title.str.slice(0, 1).str.to_uppercase() + title.str.slice(1)
    titled = pl.when(pl.col("start").is_not_null()).then(pl.col("start") + upper).otherwise("iri")
    whole = pl.when(is_absolute(titled)).then(titled).otherwise(titled.str.replace_all(" ", "%20"))
    return frame.select(legal(whole)).to_series()


def _decode(iris: pl.Series) -> pl.Series:
    # polars has no percent-decoding; of encoded letters there are few, however many titles hold them.
    runs = iris.str.extract_all(_ENCODED).explode().unique().drop_nulls().sort().to_list()
    runs.sort(key=len, reverse=True)
    # `%25` is a percent sign of the title itself and stays encoded.
    letters = ["%25".join(unquote(part) for part in run.split("%25")) for run in runs]
    if not runs:
        return iris
    return iris.str.replace_many(runs, letters, leftmost=True).str.normalize("NFC")
