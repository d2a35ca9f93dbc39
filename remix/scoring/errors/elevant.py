"""ELEVANT's classes of errors, each with the mentions on which it could have been made (errors.py, evaluator.py)."""

from __future__ import annotations

import polars as pl

from remix.scoring.errors import Errors, Taxonomy
from remix.scoring.matching import Case
from remix.scoring.tools.elevant import MODES
from remix.scoring.tools.elevant.evidence import evidence
from remix.scoring.tools.elevant.labels import word_counts

CLASSES = {
    "ner_fn.all": "a mention is not recognised",
    "ner_fn.lowercased": "… and begins with no capital letter",
    "ner_fn.partially_included": "… and a false detection lies inside it",
    "ner_fn.partial_overlap": "… and a false detection overlaps it",
    "ner_fn.other": "… for another reason",
    "ner_fp.all": "an answer where gold has no mention (of the words)",
    "ner_fp.lowercased": "… that begins with no capital letter and overlaps no mention (of the words that do not)",
    "ner_fp.groundtruth_unknown": "… where gold has an unknown entity",
    "ner_fp.other": "… for another reason (of the words with a capital letter)",
    "ner_fp.wrong_span": "… that overlaps a mention of its entity",
    "wrong_disambiguation.all": "a mention is recognised and linked to a wrong entity",
    "wrong_disambiguation.demonym": "… and names a people after a place",
    "wrong_disambiguation.metonymy": "… which is a place, the most popular meaning of the mention, where gold has none",
    "wrong_disambiguation.partial_name": "… and is a part of the entity's name",
    "wrong_disambiguation.rare": "… which is the most popular meaning of the mention",
    "wrong_disambiguation.other": "… for another reason",
    "wrong_disambiguation.wrong_candidates": "… and the right entity is not among the candidates",
    "wrong_disambiguation.multiple_candidates": "… though the right one is among several candidates",
    "other_errors.hyperlink": "a mention that is a link in the source text is missed or wrong",
    "wrong_coreference.undetected": "a coreference is not recognised",
    "wrong_coreference.wrong_mention_referenced": "… is linked to what another mention than its reference is",
    "wrong_coreference.reference_wrongly_disambiguated": "… is linked to what its reference is wrongly linked to",
    "wrong_coreference.false_detection": "a coreference is answered where gold has none (no denominator)",
}


def classify(case: Case, matchings: tuple[str, ...]) -> Errors:
    """Return the errors in each mode, `IGNORED` and `REQUIRED`, whatever else is matched by.

    Popularity (metonymy, rare) is told by the dictionary of a knowledge base; without one these classes are empty.
    Words are runs of letters and digits.
    """
    modes = [name for name in MODES if name in matchings] or list(MODES)
    rows = evidence(case).filter(pl.col("mode").is_in(modes) & ~pl.col("dropped")).rename({"mode": "matching"})
    rows = _with_shares(rows)
    several = rows.group_by("system").agg(several=(pl.col("candidates") > 1).any())
    rows = rows.join(several, on="system", how="left", maintain_order="left")
    parts = []
    for name, (error, avoided) in {**_detection(), **_disambiguation(), **_others()}.items():
        wrong = error & pl.col("counts")
        # What coreference could have gone wrong with is all of gold's, also where a label stands aside.
        could = avoided if name.startswith("wrong_coreference") else avoided & pl.col("counts")
        found = rows.filter(wrong | could).select(
            "matching", "system", "doc", pl.lit(name).alias("class"), g="label", a="a", error=wrong.fill_null(False)
        )
        parts.append(found)
    return Errors(pl.concat(parts), _words(case, modes), ("wrong_coreference.false_detection",))


def _with_shares(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the reasons that exclude each other, the first that holds."""
    detection = (
        pl.when("lowercase")
        .then(pl.lit("lowercased"))
        .when("part_found")
        .then(pl.lit("partially_included"))
        .when("overlap_found")
        .then(pl.lit("partial_overlap"))
        .otherwise(pl.lit("other"))
    )
    unknown = pl.col("label").is_not_null() & ~pl.col("known") & pl.col("dated").is_null()
    false = (
        pl.when(~pl.col("on_gold") & pl.col("lowercase"))
        .then(pl.lit("lowercased"))
        .when(~pl.col("lowercase") & unknown)
        .then(pl.lit("groundtruth_unknown"))
        .otherwise(pl.lit("other"))
    )
    right = pl.col("tp")
    disambiguation = (
        pl.when("demonym")
        .then(pl.lit("demonym"))
        .when(pl.col("metonymy") & (right | pl.col("answered_location")))
        .then(pl.lit("metonymy"))
        .when("partial_name")
        .then(pl.lit("partial_name"))
        .when(pl.col("rare") & (right | pl.col("answered_popular")))
        .then(pl.lit("rare"))
        .otherwise(pl.lit("other"))
    )
    return rows.with_columns(
        why_missed=detection, why_false=false, why_wrong=disambiguation, unknown=unknown, named=~pl.col("coreference")
    )


def _detection() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Return the classes of recognition: when the error is made, and when it could have been and was not."""
    named, lowercase = pl.col("named"), pl.col("lowercase")
    missed, found = named & pl.col("missed"), named & pl.col("found")
    capital = named & ~lowercase & (pl.col("missed") | pl.col("found"))
    false = named & pl.col("false")
    none = pl.lit(False)

    def why(name: str) -> pl.Expr:
        return missed & (pl.col("why_missed") == name)

    several_words = pl.col("text").str.contains(" ", literal=True)
    return {
        "ner_fn.all": (missed, found),
        "ner_fn.lowercased": (why("lowercased"), found & lowercase),
        "ner_fn.partially_included": (why("partially_included"), capital & several_words),
        "ner_fn.partial_overlap": (why("partial_overlap"), capital),
        "ner_fn.other": (why("other"), capital),
        "ner_fp.all": (false, none),
        "ner_fp.lowercased": (false & (pl.col("why_false") == "lowercased"), none),
        "ner_fp.groundtruth_unknown": (
            false & (pl.col("why_false") == "groundtruth_unknown"),
            named & ~lowercase & pl.col("unknown") & ~pl.col("false"),
        ),
        "ner_fp.other": (false & (pl.col("why_false") == "other"), none),
        "ner_fp.wrong_span": (
            pl.col("false") & pl.col("wrong_span"),
            named & (pl.col("found") | pl.col("false")) & ~(pl.col("false") & pl.col("wrong_span")),
        ),
    }


def _disambiguation() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    named = pl.col("named")
    wrong, right = named & pl.col("fn") & pl.col("fp"), named & pl.col("tp")
    recognised, among = named & pl.col("found"), pl.col("among")
    classes = {"wrong_disambiguation.all": (wrong, right)}
    for name in ("demonym", "metonymy", "partial_name", "rare", "other"):
        like = pl.col("why_wrong") == name
        classes[f"wrong_disambiguation.{name}"] = (wrong & like, right & like)
    several = pl.col("several")
    of_several = among & (pl.col("candidates") > 1)
    return classes | {
        "wrong_disambiguation.wrong_candidates": (
            several & recognised & wrong & ~among,
            several & recognised & (right | among),
        ),
        "wrong_disambiguation.multiple_candidates": (wrong & of_several, right & of_several),
    }


def _others() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    linked, coreference = pl.col("hyperlink"), pl.col("coreference")
    undetected = coreference & pl.col("missed")
    wrong = coreference & pl.col("fn") & pl.col("fp")
    other = (pl.col("reference") == "other").fill_null(False)
    alike = (pl.col("reference") == "answered").fill_null(False)
    gold = coreference & (pl.col("tp") | pl.col("fn"))
    return {
        "other_errors.hyperlink": (linked & ~pl.col("tp") & (pl.col("fn") | pl.col("fp")), linked & pl.col("tp")),
        "wrong_coreference.undetected": (undetected, gold),
        "wrong_coreference.wrong_mention_referenced": (wrong & other, gold & ~undetected),
        "wrong_coreference.reference_wrongly_disambiguated": (wrong & alike, gold & ~undetected & ~(wrong & other)),
        "wrong_coreference.false_detection": (coreference & pl.col("false"), pl.lit(False)),
    }


def _words(case: Case, modes: list[str]) -> pl.DataFrame:
    """Return the numbers of words in what is annotated, of documents without a region in the whole text."""
    texts = case.known.texts.drop_nulls("text")
    regions = case.known.gold.regions.join(case.mentions.documents, on="document").select("doc", "begin", "end")
    parts = texts.join(regions, on="doc", how="left")
    end = pl.coalesce(pl.col("end") - pl.col("begin"), pl.col("text").str.len_chars())
    parts = parts.select("doc", text=pl.col("text").str.slice(pl.col("begin").fill_null(0), end))
    counted = parts.group_by("doc").agg(value.sum().alias(name) for name, value in word_counts(pl.col("text")).items())
    names = {"ner_fp.all": "words", "ner_fp.lowercased": "lowercase", "ner_fp.other": "capital"}
    every = pl.DataFrame({"matching": modes}).join(case.mentions.names.select("system"), how="cross")
    sums = [counted.select("doc", pl.lit(name).alias("class"), total=column) for name, column in names.items()]
    totals = every.join(pl.concat(sums), how="cross")
    return totals.select("matching", "system", "doc", "class", pl.col("total").cast(pl.Int64))


elevant = Taxonomy(
    name="elevant",
    summary="recognition, disambiguation, coreference and hyperlinks, each with what could have gone wrong",
    source="ELEVANT, src/elevant/evaluation: errors.py, evaluator.py",
    classes=CLASSES,
    classify=classify,
)
