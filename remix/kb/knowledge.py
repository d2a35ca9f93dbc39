"""The knowledge base as it is asked: names, links and types of entities, read from Parquet when first needed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import MissingKnowledge, StoreError
from remix.iris import canonical
from remix.kb.build import matching
from remix.kb.forms import normalise

__all__ = ["KnowledgeBase"]


class KnowledgeBase:
    """A dictionary of surface forms with prominence, types, redirects and sameAs of its entities.

    The frames are read from the folder when they are first needed; `scan` filters a part without reading it all.
    """

    def __init__(self, folder: Path, described: dict[str, Any]) -> None:
        self.folder = folder
        self.described = described
        self.name: str = described["name"]
        self.version: str = described["version"]
        self.complete: bool = described["complete"]
        self.left_out: tuple[str, ...] = ()
        self.case_sensitive = False

    @classmethod
    def open(cls, folder: Path) -> KnowledgeBase:
        """Return the knowledge base of a folder; raises `MissingKnowledge` where there is none."""
        try:
            described = json.loads((folder / "kb.json").read_text(encoding="utf-8"))
            return cls(folder, described)
        except (OSError, ValueError, KeyError, TypeError):
            raise MissingKnowledge(
                f"{folder} holds no knowledge base: build one with `remix kb build --from tables DIR`"
            ) from None

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.signature!r})"

    @property
    def signature(self) -> str:
        """Return name and version, and what was left out of it when it was opened."""
        more = "".join(f"-{pattern}" for pattern in self.left_out)
        case = "+case" if self.case_sensitive else ""
        return f"{self.name}@{self.version[:12]}{more}{case}"

    def summary(self) -> pl.DataFrame:
        """Return what and value: name, version, choices and numbers of rows."""
        rows: dict[str, str] = {"name": self.name, "version": self.version[:12], "folder": str(self.folder)}
        rows["complete"] = "yes" if self.complete else "no"
        rows["without sources"] = ", ".join(self.described["without_sources"]) or "none left out"
        rows["circular redirects"] = str(self.described["circular_redirects"]["count"])
        rows |= {part.replace("_", " "): str(count) for part, count in self.described["rows"].items()}
        return pl.DataFrame({"what": list(rows), "value": list(rows.values())})

    def scan(self, part: str) -> pl.LazyFrame:
        """Return a part as a lazy frame, so that filters on sorted columns read only what they need."""
        file = self.folder / f"{part}.parquet"
        if not file.exists():
            raise StoreError(f"{file} is gone: build the knowledge base '{self.name}' again")
        rows = self._scanned(file)
        if part == "surface_forms" and self.case_sensitive:
            rows = rows.with_columns(key=normalise(pl.col("surface_form"), case_sensitive=True))
        if self.left_out and part in {"surface_forms", "types"}:
            known = pl.scan_parquet(file).select("source").unique().collect()["source"]
            rows = rows.filter(~matching(pl.col("source"), self.left_out, known))
        return rows

    def _scanned(self, file: Path) -> pl.LazyFrame:
        rows = pl.scan_parquet(file)
        try:
            rows.collect_schema()
        except (OSError, pl.exceptions.PolarsError):
            raise StoreError(f"{file} is damaged: build the knowledge base '{self.name}' again") from None
        return rows

    @cached_property
    def surface_forms(self) -> pl.DataFrame:
        """Return key (the normalised form), surface_form, entity, count and source; sorted by key and entity."""
        return self.scan("surface_forms").collect()

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return entity, label, pagerank, hits and hub, each with its _rank, _percentile and _segment."""
        return self.scan("entities").collect()

    @cached_property
    def types(self) -> pl.DataFrame:
        """Return entity, class and source."""
        return self.scan("types").collect()

    @cached_property
    def redirects(self) -> pl.DataFrame:
        """Return redirect and target, the last one of a chain."""
        return self.scan("redirects").collect()

    @cached_property
    def sameas(self) -> pl.DataFrame:
        """Return wikidata and entity."""
        return self.scan("sameas").collect()

    @cached_property
    def disambiguations(self) -> pl.DataFrame:
        """Return page and entity: which entities a disambiguation page lists."""
        return self.scan("disambiguations").collect()

    @cached_property
    def resolution(self) -> pl.DataFrame:
        """Return iri and entity for every IRI that stands for another entity."""
        return self.scan("resolution").collect()

    def resolve(self, entities: pl.Series) -> pl.Series:
        """Return what each entity stands for: in canonical form, redirects and sameAs links followed."""
        forms = canonical(entities).alias("iri").to_frame()
        found = forms.join(self.resolution, on="iri", how="left", maintain_order="left")
        return found.select(pl.coalesce("entity", "iri").alias(entities.name)).to_series()

    def normalise(self, form: pl.Expr) -> pl.Expr:
        """Return the form as the keys of this knowledge base are written."""
        return normalise(form, case_sensitive=self.case_sensitive)

    def candidates(self, forms: pl.DataFrame) -> pl.DataFrame:
        """Return the candidates of each distinct form: form, entity, count, pagerank, prior and rank.

        `forms` has a column form. Sorted by form, then by rank: more counts first, then higher PageRank; equals
        share the better rank and follow by name. The prior is the share of the form's counts, null where the
        dictionary has no counts for the form.
        """
        asked = forms.select("form").drop_nulls().unique().with_columns(key=self.normalise(pl.col("form")))
        keys = asked["key"].unique()
        rows = self.scan("surface_forms").filter(pl.col("key").is_in(keys.implode())).collect()
        count = pl.when(pl.col("count").count() > 0).then(pl.col("count").sum())
        total = pl.col("count").sum().over("key")
        place = pl.struct(-pl.col("count").fill_null(0), -pl.col("pagerank").fill_null(0.0))
        ranked = (
            rows.group_by("key", "entity")
            .agg(count)
            .join(self.entities.select("entity", "pagerank"), on="entity", how="left")
            .with_columns(
                prior=pl.when(total > 0).then(pl.col("count").fill_null(0) / total),
                rank=place.rank("min").over("key").cast(pl.Int64),
            )
        )
        return (
            asked.join(ranked, on="key")
            .select("form", "entity", "count", "pagerank", "prior", "rank")
            .sort("form", "rank", "entity")
        )

    def without_sources(self, patterns: Iterable[str]) -> KnowledgeBase:
        """Return it without the dictionary and type rows whose source matches a pattern such as 'gold:*'."""
        fewer = KnowledgeBase(self.folder, self.described)
        fewer.left_out = tuple(sorted({*self.left_out, *patterns}))
        fewer.case_sensitive = self.case_sensitive
        return fewer

    def keeping_case(self) -> KnowledgeBase:
        """Return it with forms compared as they are written, not casefolded."""
        other = self.without_sources(())
        other.case_sensitive = True
        return other
