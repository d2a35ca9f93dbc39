"""What knowledge bases call labels, redirects, links: one file a vocabulary, found by scanning.

A vocabulary is a list of questions that an endpoint is asked about the names and entities of datasets. Each says what
it is asked about, the pattern, the tables of a `Staging` that its solutions fill, and what they find that is asked
about in turn: the target of a redirect, the class of an entity, its parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from itertools import chain
from string import Template

import polars as pl

from remix.names import PREFIXES
from remix.registry import Registry

_KINDS = {"form": "forms", "class": "classes", "parent": "classes"}


@dataclass(frozen=True)
class EndpointQuery:
    """One pattern that is asked about many keys at a time.

    - `name`: the source of the rows that it gives;
    - `key`: the variable that stands for the keys in `pattern`, where `$languages` is the list of language tags; its
      name says what they are: `form`, `class`, `title` (entities by the title of their article), or else entities;
    - `fills`: for each table its columns, each the name of a variable or an expression over variables;
    - `finds`: a variable whose values are asked about in turn;
    - `of`: the regular expression of the keys that it is asked about;
    - `suffixes`: for each language what the labels that are looked for have behind the form;
    - `untagged`: whether forms are looked for without a language tag as well;
    - `chunk`: how many keys go into one query; `most`: rows of a single key above which it is left out and reported.
    """

    name: str
    key: str
    pattern: str
    fills: Mapping[str, Mapping[str, str | pl.Expr]]
    _: KW_ONLY
    finds: str = ""
    of: str = ""
    suffixes: Mapping[str, str] = field(default_factory=dict)
    untagged: bool = False
    chunk: int = 100
    most: int = 1_000_000

    @cached_property
    def variables(self) -> list[str]:
        """Return what is selected: what fills tables, what is found, and the language, where the pattern has one."""
        filled = [value for columns in self.fills.values() for value in columns.values()]
        named = [[one] if isinstance(one, str) else one.meta.root_names() for one in filled]
        others = ["language"] if "?language" in self.pattern else []
        return sorted({*chain(*named), *filter(None, [self.finds]), *others})

    def select(self, terms: Sequence[str], languages: Sequence[str]) -> str:
        """Return the query for some keys, written as SPARQL terms."""
        tags = ", ".join(f'"{language}"' for language in languages)
        pattern = Template(self.pattern).substitute(languages=tags)
        names = " ".join(f"?{name}" for name in self.variables)
        return f"SELECT DISTINCT {names} WHERE {{ VALUES ?{self.key} {{ {' '.join(terms)} }} {pattern} }}"


def kind_of(variable: str) -> str:
    """Return what a variable of a question holds: `forms`, `classes` or `entities`."""
    return _KINDS.get(variable, "entities")


def columns(*named: str, **others: str | pl.Expr) -> dict[str, str | pl.Expr]:
    """Return the columns of a table that a question fills: those named as their variable, and others.

    >>> columns("entity", surface_form="form")
    {'entity': 'entity', 'surface_form': 'form'}
    """
    return {**dict(zip(named, named, strict=True)), **others}


@dataclass(frozen=True)
class Vocabulary:
    """The questions that are asked of an endpoint for which one of the patterns of `speaks` has a solution.

    - `prefixes`: those that the patterns use;
    - `entity`: the regular expression of what is an entity, `no_entity` that of exceptions: categories, files;
    - `languages`: tags that are looked for beside those of the user;
    - `host` and `licence`: whose endpoint this is usually, and the licence of what that one answers.
    """

    name: str
    prefixes: Sequence[str]
    speaks: Sequence[str]
    entity: str
    questions: Sequence[EndpointQuery]
    no_entity: str = ""
    languages: Sequence[str] = ()
    host: str = ""
    licence: str = ""

    @property
    def prologue(self) -> str:
        """Return the declarations of its prefixes."""
        return "\n".join(f"PREFIX {prefix}: <{PREFIXES[prefix]}>" for prefix in self.prefixes)

    def is_entity(self, iri: pl.Expr) -> pl.Expr:
        """Return whether a canonical IRI is one of an entity."""
        exception = iri.str.contains(self.no_entity) if self.no_entity else pl.lit(False)
        return iri.str.contains(self.entity) & ~exception


VOCABULARIES: Registry[Vocabulary] = Registry("vocabulary", "remix.kb.vocabularies", Vocabulary, "vocabularies")
