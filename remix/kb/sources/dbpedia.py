"""A release of DBpedia as it is downloaded: a folder of line-based RDF files, recognised by their names.

| files | rows | source of the surface forms |
|---|---|---|
| `labels…` | labels, surface forms | `label` |
| `redirects…`, `transitive-redirects…` | redirects, surface forms of the target | `redirect-label` |
| `disambiguations…` | disambiguations, surface forms of each candidate | `disambiguation` |
| `infobox-properties…`, `mappingbased-literals…`, `persondata…` | surface forms (`foaf:name`, `dbp:name`) | `name` |
| the same | demonyms (`dbo:demonym`) | |
| `instance-types…` | types | |
| `wikilinks…`, `page-links…` | links | |
| `interlanguage-links…`, `sameas…`, `…wikidata…` | sameas | |

The name of a redirect or of a disambiguation page is the title in its IRI, so that each file is read by itself:
`_` is a space, parentheses stay (`Mercury (planet)`), only what says 'disambiguation' in Wikipedia's editions goes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from remix.errors import BadInput, UsageError
from remix.iris import canonical
from remix.kb.dumps import file_part, read_statements
from remix.kb.dumps.statements import Pattern
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import Staging
from remix.kb.titles import ITEM, language_of, title, without_mark
from remix.names import DBO, OWL, RDF, RDFS
from remix.progress import note

LICENCE = "CC BY-SA 3.0, GFDL"
_DEMONYM = DBO + "demonym"
_FOAF_NAME = "http://xmlns.com/foaf/0.1/name"
_SUFFIXES = re.compile(r"(?:\.(?:nt|ttl|tql|nq))(?:\.(?:bz2|gz|zst))?$", re.IGNORECASE)
_VARIANTS = r"(?:-(?:unredirected|cleaned|transitive|specific|chapters|en-uris|wkd-uris|wkd))*"


@dataclass(frozen=True)
class _Kind:
    """One kind of file: what its name is like, its predicates, `{}` in the place of a language, and what is taken."""

    name: str
    predicates: tuple[str, ...]
    add: Callable[[pl.DataFrame, Choices, Staging], None]


def _labels(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    texts = rows.filter(pl.col("tag").is_not_null() & (pl.col("object") != ""))
    named = texts.select(entity=canonical(texts["subject"]), text="object", tag="tag")
    first = named.filter(pl.col("tag").is_in([choices.languages[0], ""]))
    to.add("labels", first.select("entity", label="text", source=pl.lit("label")))
    to.add("surface_forms", named.select("entity", surface_form="text", source=pl.lit("label")))


def _names(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    kinds = ["", *choices.languages]
    texts = rows.filter(pl.col("tag").is_in(kinds) & (pl.col("object") != ""))
    said = texts.select("object", entity=canonical(texts["subject"]), is_demonym=pl.col("predicate") == _DEMONYM)
    named = said.filter(~pl.col("is_demonym")).select("entity", surface_form="object", source=pl.lit("name"))
    to.add("surface_forms", named)
    # Infoboxes often list several: "Viennese, Wiener".
    listed = said.filter("is_demonym").with_columns(
        demonym=pl.col("object").str.replace_all("[;/]", ",").str.split(",")
    )
    demonyms = listed.explode("demonym").with_columns(pl.col("demonym").str.strip_chars())
    to.add("demonyms", demonyms.select("entity", "demonym", source=pl.lit("demonym")))


def _pairs(rows: pl.DataFrame, subject: str, target: str) -> pl.DataFrame:
    iris = rows.filter(pl.col("tag").is_null())
    return pl.DataFrame({subject: canonical(iris["subject"]), target: canonical(iris["object"])})


def _redirects(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    pairs = _pairs(rows, "redirect", "target")
    to.add("redirects", pairs.with_columns(source=pl.lit("redirect")))
    named = pairs.select(entity="target", surface_form=title(pl.col("redirect")), source=pl.lit("redirect-label"))
    to.add("surface_forms", named)


def _disambiguations(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    pairs = _pairs(rows, "page", "entity")
    to.add("disambiguations", pairs.with_columns(source=pl.lit("disambiguation")))
    form = without_mark(title(pl.col("page")))
    to.add("surface_forms", pairs.select("entity", surface_form=form, source=pl.lit("disambiguation")))


def _types(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    iris = rows.filter(pl.col("tag").is_null())
    found = iris.select(canonical(iris["subject"]).alias("entity"), pl.col("object").alias("class"))
    to.add("types", found.with_columns(source=pl.lit("instance-types")))


def _links(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    to.add("links", _pairs(rows, "source", "target").with_columns(origin=pl.lit("page-links")))


def _sameas(rows: pl.DataFrame, choices: Choices, to: Staging) -> None:
    """Take the Wikidata items of entities of the first language, and their names in the other languages asked for."""
    pairs = _pairs(rows, "one", "other")
    both = pl.concat([pairs, pairs.select(one="other", other="one")])
    language = choices.languages[0]
    wikidata = pl.col("other").str.contains(ITEM)
    asked = language_of(pl.col("other")).is_in(list(choices.languages[1:])).fill_null(False)
    kept = both.filter((language_of(pl.col("one")) == language) & (wikidata | asked))
    to.add("sameas", kept.select(wikidata="other", entity="one", source=pl.lit("sameas")))


_PROPERTY = "http://dbpedia.org/property/"
_KINDS = (
    _Kind(r"labels(?:-nmw)?", (RDFS + "label",), _labels),
    _Kind(r"(?:transitive-)?redirects", (DBO + "wikiPageRedirects", _PROPERTY + "redirect"), _redirects),
    _Kind(r"disambiguations", (DBO + "wikiPageDisambiguates", _PROPERTY + "disambiguates"), _disambiguations),
    _Kind(
        r"infobox-properties|(?:specific-)?mappingbased-(?:literals|properties)|persondata|raw-infobox-properties",
        (_FOAF_NAME, _DEMONYM, _PROPERTY + "name", "http://{}.dbpedia.org/property/name"),
        _names,
    ),
    _Kind(r"instance-types", (RDF + "type",), _types),
    _Kind(
        r"page-?links|wikilinks",
        (DBO + "wikiPageWikiLink", _PROPERTY + "wikilink", _PROPERTY + "wikiPageUsesWikiLink"),
        _links,
    ),
    _Kind(
        r"interlanguage-links(?:-same-as)?|same-?as(?:-all-wikis)?|wikidata(?:-same-?as|-links)?|same-?as-wikidata",
        (OWL + "sameAs",),
        _sameas,
    ),
)


def recognise(name: str) -> tuple[_Kind | None, str]:
    """Return the kind of a file by its name, and the language that the name says, or nothing.

    >>> [recognise(name)[1] for name in ("labels_lang=de.ttl.bz2", "page_links_en.nt", "sameas-wikidata.ttl")]
    ['de', 'en', '']
    """
    stem, found = _SUFFIXES.subn("", name)
    if not found:
        return None, ""
    stem = stem.lower()
    language = re.search(r"lang=([a-z-]+)", stem) or re.search(r"[_-]([a-z]{2,3})(?:_unredirected)?$", stem)
    if language:
        stem = (stem[: language.start()] + stem[language.end() :]).strip("_-.")
    plain = re.sub(r"[_.-]+", "-", re.sub(r"(?:^|_)[a-z]+=", "-", stem)).strip("-")
    plain = re.sub(r"-(?:[a-z]{2,3})-uris$", "-en-uris", plain)
    for kind in _KINDS:
        if re.fullmatch(f"(?:{kind.name}){_VARIANTS}", plain):
            return kind, language[1] if language else ""
    return None, ""


def _parts(place: str, choices: Choices) -> list[Part]:
    """Return the files of a release that are known by their names, of the languages asked for; tell the others."""
    root = Path(place)
    if not root.exists():
        raise UsageError(f"{root} is no folder with the files of a DBpedia release: no such file or folder")
    below = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
    files = [root] if root.is_file() else sorted(below)
    chosen: dict[tuple[Path, str], Part] = {}
    unknown: list[str] = []
    languages: Counter[str] = Counter()
    for path in files:
        kind, language = recognise(path.name)
        key = (path.parent, _SUFFIXES.sub("", path.name))
        if kind is None or key in chosen:
            unknown.append(path.name)
        elif language and language not in choices.languages:
            languages[language] += 1
        else:
            name = path.name if root.is_file() else str(path.relative_to(root))
            chosen[key] = file_part(path, choices, partial(_read, kind), name=name, licence=LICENCE)
    _tell_unread(root, unknown, languages, choices, any_read=bool(chosen))
    return list(chosen.values())


def _tell_unread(root: Path, unknown: list[str], languages: Counter[str], choices: Choices, *, any_read: bool) -> None:
    asked = ", ".join(choices.languages)
    seen = ", ".join(f"{language} ({count})" for language, count in sorted(languages.items()))
    if not any_read and languages:
        raise UsageError(f"{root} has no file in {asked}, only in {seen}: choose with --lang")
    if not any_read:
        raise UsageError(
            f"{root} has no file that is named as in a DBpedia release, such as labels_lang=en.ttl.bz2 or"
            f" redirects_en.nt.bz2{_show_names('; it has', unknown)}"
        )
    if unknown:
        note(f"{root.name}: {len(unknown)} files are not read{_show_names(':', unknown)}")
    if languages:
        note(f"{root.name}: files in other languages than {asked} are not read: {seen}")


def _show_names(before: str, names: Iterable[str]) -> str:
    names = list(names)
    more = ", …" if len(names) > 10 else ""
    return f"{before} {', '.join(names[:10])}{more}" if names else ""


def _read(kind: _Kind, path: Path, choices: Choices, staging: Staging) -> None:
    _, language = recognise(path.name)
    pattern = Pattern([one.format(language or choices.languages[0]) for one in kind.predicates], choices.languages)
    taken = 0
    foreign: Counter[str] = Counter()
    with staging:
        for found in read_statements(path, pattern, staging):
            kind.add(found.rows, choices, staging)
            taken += found.rows.height
            foreign.update(dict(found.foreign.value_counts().iter_rows()))
    if foreign and not taken:
        seen = ", ".join(f"{language} ({count:,})" for language, count in foreign.most_common(10))
        raise BadInput(path, f"has no text in {', '.join(choices.languages)}, only in {seen}: choose with --lang")


SOURCE = Source("dbpedia", "The files of a DBpedia release, as downloaded", _parts)
