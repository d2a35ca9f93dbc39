"""What knowledge bases call labels, redirects, links: one file a vocabulary, found by scanning.

A vocabulary is a list of questions that an endpoint is asked about the names and entities of datasets. Each says what
it is asked about, the pattern, the tables of a `Staging` that its solutions fill, and what they find that is asked
about in turn: the target of a redirect, the class of an entity, its parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Template

import polars as pl

from remix.names import PREFIXES
from remix.registry import Registry

__all__ = ["VOCABULARIES", "Question", "Vocabulary"]


@dataclass(frozen=True)
class Question:
    """One pattern that is asked about many keys at a time.

    - `name`: the source of the rows that it gives;
    - `about`: the kind of its keys: `forms`, `entities`, `titles` (entities by the title of their article) or
      `classes`; `of` is the regular expression of those that it is asked about;
    - `key`: the variable that stands for them in `pattern`, where `$languages` is the list of language tags;
    - `variables`: what is selected;
    - `fills`: for each table its columns, each the name of a variable or an expression over variables;
    - `finds`: for each variable the kind of key that it holds;
    - `suffixes`: for each language what the labels that are looked for have behind the form;
    - `untagged`: whether forms are looked for without a language tag as well;
    - `chunk`: how many keys go into one query; `most`: rows of a single key above which it is left out and reported.
    """

    name: str
    about: str
    key: str
    pattern: str
    variables: Sequence[str]
    fills: Mapping[str, Mapping[str, str | pl.Expr]]
    finds: Mapping[str, str] = field(default_factory=dict)
    of: str = ""
    suffixes: Mapping[str, str] = field(default_factory=dict)
    untagged: bool = False
    chunk: int = 100
    most: int = 1_000_000

    def select(self, terms: Sequence[str], languages: Sequence[str]) -> str:
        """Return the query for some keys, written as SPARQL terms."""
        tags = ", ".join(f'"{language}"' for language in languages)
        pattern = Template(self.pattern).substitute(languages=tags)
        names = " ".join(f"?{name}" for name in self.variables)
        return f"SELECT DISTINCT {names} WHERE {{ VALUES ?{self.key} {{ {' '.join(terms)} }} {pattern} }}"


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
    questions: Sequence[Question]
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
