"""What identifiers of biomedical files say: PubTator and BioC write them alike.

`|`, or `+` without an IRI, separates the concepts of a composite mention ("breast and ovarian cancer"), which are
required together; `,` and `;` separate concepts of which any is right; `-1`, `-` and nothing say that there is none.
Identifiers of MeSH, with or without `MESH:`, become the IRIs of MeSH's own RDF; others stay as they are.
"""

from __future__ import annotations

import polars as pl

_MESH = "http://id.nlm.nih.gov/mesh/"


def split_concepts(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return mentions and links of rows that have `mention` and `join_concepts` (as the file writes them).

    A composite mention becomes several on one span, with `part_of` the first; the mentions are numbered anew.

    >>> two = pl.DataFrame({"mention": [1, 2], "identifiers": ["D001943|D010051", "672;675"]})
    >>> mentions, links = split_concepts(two)
    >>> mentions.select("mention", "part_of").rows()
    [(0, 0), (1, 0), (2, None)]
    >>> links.rows()[1:]
    [(1, 'http://id.nlm.nih.gov/mesh/D010051'), (2, '672'), (2, '675')]
    """
    said = pl.col("identifiers")
    said = pl.when(said.str.contains("://")).then(said).otherwise(said.str.replace_all("+", "|", literal=True))
    parts = rows.with_columns(concept=said.str.split("|")).with_row_index("row").explode("concept")
    parts = parts.with_row_index("number").with_columns(first=pl.col("number").min().over("row"))
    several = pl.len().over("row") > 1
    if "part_of" in rows.columns:
        # The parts of a mention in several places have all of its concepts.
        heads = parts.unique("mention", keep="first").select(head="first", part_of="mention")
        parts = parts.join(heads, on="part_of", how="left", maintain_order="left")
        own = pl.coalesce("head", pl.when(several).then("first"))
    else:
        own = pl.when(several).then("first")
    parts = parts.with_columns(part_of=own.cast(pl.Int64), mention=pl.col("number").cast(pl.Int64))
    links = parts.select("mention", identifier=pl.col("concept").str.split(";").list.eval(pl.element().str.split(",")))
    links = links.explode("identifier").explode("identifier")
    return parts.drop("row", "number", "first", "concept"), links.with_columns(_iri(pl.col("identifier")))


def _iri(identifier: pl.Expr) -> pl.Expr:
    said = identifier.str.strip_chars()
    number = said.str.extract(r"^(?:(?i:mesh):)?([A-Z]\d{5,9})$", 1)
    none = said.is_in(["", "-", "-1"])
    found = pl.when(none.fill_null(True)).then(None).otherwise(pl.coalesce(pl.lit(_MESH) + number, said))
    return found.alias("identifier")


def spell_concepts(identifiers: pl.Expr) -> pl.Expr:
    """Return a list of links as such a file writes them, `-` for none."""
    one = pl.element().str.strip_prefix(_MESH)
    encoded = one.str.replace_many([";", ",", "|"], ["%3B", "%2C", "%7C"])
    plain = pl.when(one.str.contains("://")).then(encoded).otherwise(one.str.replace_all(r"[|;,]", "_"))
    return identifiers.list.eval(plain.str.replace_all(r"\s", "_")).list.join(";").fill_null("-")


def join_concepts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `remix.formats.writing.lay_out`, those of one span and option as one, with `identifier`.

    `option_size` is how many different spans an option has.
    """
    keys = ["document", "begin", "end", "group", "option"]
    said = rows.with_columns(identifier=spell_concepts(pl.col("identifiers")))
    joined = (pl.col("identifier").str.join("|"), pl.exclude("identifier").first())
    one = said.group_by(keys, maintain_order=True).agg(*joined)
    return one.with_columns(option_size=pl.len().over("group", "option"))
