"""ELEVANT's classes of errors, each with the mentions on which it could have been made (errors.py, evaluator.py)."""

from __future__ import annotations

import polars as pl

from remix.names import DBO, RMX
from remix.scoring.errors import Errors, Taxonomy, class_rows
from remix.scoring.matching import Case
from remix.scoring.matching.pairs import touching
from remix.scoring.profiles.elevant import MODES, outcomes
from remix.scoring.profiles.elevant.labels import entity_types, labels_of

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
LABELS = {
    "ner_fn": "undetected mention",
    "ner_fp": "false detection",
    "other_errors.hyperlink": "wrong hyperlink",
    "wrong_coreference.false_detection": "false coreference",
}


def classify(case: Case, matchings: tuple[str, ...]) -> Errors:
    """Return the errors in each mode, `IGNORED` and `REQUIRED`, whatever else is matched by.

    Popularity (metonymy, rare) is told by the dictionary of a knowledge base; without one these classes are empty.
    Words are runs of letters and digits.
    """
    modes = [name for name in MODES if name in matchings] or list(MODES)
    rows = _evidence(case).filter(pl.col("mode").is_in(modes) & ~pl.col("dropped"))
    rows = rows.with_columns(matching="mode", mention="label")
    several = (pl.col("candidates") > 1).any().over("system")
    rows = rows.with_columns(several=several, named=~pl.col("coreference"), **_reasons())
    parts = []
    for name, (error, avoided) in {**_detection(), **_disambiguation(), **_others()}.items():
        wrong = error & pl.col("counts")
        # What coreference could have gone wrong with is all of gold's, also where a label stands aside.
        could = avoided if name.startswith("wrong_coreference") else avoided & pl.col("counts")
        parts.append(class_rows(rows.filter(wrong | could), name, wrong))
    return Errors(pl.concat(parts), _words(case, modes), ("wrong_coreference.false_detection",))


def _first(**reasons: pl.Expr) -> pl.Expr:
    """Return the name of the first reason that holds, 'other' where none does."""
    return pl.coalesce(*(pl.when(holds).then(pl.lit(name)) for name, holds in reasons.items()), pl.lit("other"))


def _unknown() -> pl.Expr:
    """Return whether the entity of a label is not known, and it is no date or quantity either."""
    return pl.col("label").is_not_null() & ~pl.col("known") & pl.col("dated").is_null()


def _reasons() -> dict[str, pl.Expr]:
    """Return why a mention is missed, an answer false or a link wrong: reasons that exclude each other."""
    lowercase, right = pl.col("lowercase"), pl.col("tp")
    return {
        "why_missed": _first(
            lowercased=lowercase,
            partially_included=pl.col("part_found"),
            partial_overlap=pl.col("overlap_found"),
        ),
        "why_false": _first(lowercased=~pl.col("on_gold") & lowercase, groundtruth_unknown=~lowercase & _unknown()),
        "why_wrong": _first(
            demonym=pl.col("demonym"),
            metonymy=pl.col("metonymy") & (right | pl.col("answered_location")),
            partial_name=pl.col("partial_name"),
            rare=pl.col("rare") & (right | pl.col("answered_popular")),
        ),
    }


def _detection() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Return the classes of recognition: when the error is made, and when it could have been and was not."""
    named, lowercase = pl.col("named"), pl.col("lowercase")
    missed, found, false = (named & pl.col(name) for name in ("missed", "found", "false"))
    capital = ~lowercase & (missed | found)
    could_miss = {
        "lowercased": found & lowercase,
        "partially_included": capital & pl.col("text").str.contains(" ", literal=True),
        "partial_overlap": capital,
        "other": capital,
    }
    # Of the others the denominators are words.
    could_answer = {"groundtruth_unknown": named & ~lowercase & _unknown() & ~pl.col("false")}
    none, wrong_span = pl.lit(False), pl.col("false") & pl.col("wrong_span")
    return {
        "ner_fn.all": (missed, found),
        **{f"ner_fn.{why}": (missed & (pl.col("why_missed") == why), could) for why, could in could_miss.items()},
        "ner_fp.all": (false, none),
        **{
            f"ner_fp.{why}": (false & (pl.col("why_false") == why), could_answer.get(why, none))
            for why in ("lowercased", "groundtruth_unknown", "other")
        },
        "ner_fp.wrong_span": (wrong_span, (found | false) & ~wrong_span),
    }


def _disambiguation() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    wrong, right = (pl.col("named") & one for one in (pl.col("fn") & pl.col("fp"), pl.col("tp")))
    reasons = ("demonym", "metonymy", "partial_name", "rare", "other")
    like = {f"wrong_disambiguation.{why}": pl.col("why_wrong") == why for why in reasons}
    among, could = pl.col("among"), pl.col("several") & pl.col("named") & pl.col("found")
    of_several = among & (pl.col("candidates") > 1)
    return {
        "wrong_disambiguation.all": (wrong, right),
        **{name: (wrong & one, right & one) for name, one in like.items()},
        "wrong_disambiguation.wrong_candidates": (could & wrong & ~among, could & (right | among)),
        "wrong_disambiguation.multiple_candidates": (wrong & of_several, right & of_several),
    }


def _others() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    linked, coreference = pl.col("hyperlink"), pl.col("coreference")
    # A label that stands aside for those nested in it is no error, and could have been one.
    undetected = coreference & pl.col("missed") & pl.col("counts")
    gold = coreference & (pl.col("tp") | pl.col("fn"))
    wrong = coreference & pl.col("fn") & pl.col("fp")
    other, alike = (wrong & (pl.col("reference") == one).fill_null(False) for one in ("other", "answered"))
    return {
        "other_errors.hyperlink": (linked & ~pl.col("tp") & (pl.col("fn") | pl.col("fp")), linked & pl.col("tp")),
        "wrong_coreference.undetected": (undetected, gold),
        "wrong_coreference.wrong_mention_referenced": (other, gold & ~undetected),
        "wrong_coreference.reference_wrongly_disambiguated": (alike, gold & ~undetected & ~other),
        "wrong_coreference.false_detection": (coreference & pl.col("false"), pl.lit(False)),
    }


def _words(case: Case, modes: list[str]) -> pl.DataFrame:
    """Return the numbers of words in what is annotated, of documents without a region in the whole text.

    ELEVANT takes the tokens of a spaCy model; these are runs of letters and digits, so the numbers are near, not equal.
    """
    texts = case.evidence.texts.drop_nulls("text")
    regions = case.evidence.gold.regions.join(case.mentions.documents, on="document").select("doc", "begin", "end")
    parts = texts.join(regions, on="doc", how="left")
    end = pl.coalesce(pl.col("end") - pl.col("begin"), pl.col("text").str.len_chars())
    text = pl.col("text").str.slice(pl.col("begin").fill_null(0), end)
    words = text.str.count_matches(r"[\p{L}\p{N}]+")
    capital = text.str.count_matches(r"(?:^|[^\p{L}\p{N}])\p{N}*\p{Lu}[\p{L}\p{N}]*")
    numbers = {"ner_fp.all": words, "ner_fp.lowercased": words - capital, "ner_fp.other": capital}
    counted = parts.group_by("doc").agg(number.sum().cast(pl.Int64).alias(name) for name, number in numbers.items())
    every = pl.DataFrame({"matching": modes}).join(case.mentions.names.select("system"), how="cross")
    totals = every.join(counted.unpivot(index="doc", variable_name="class", value_name="total"), how="cross")
    return totals.select("matching", "system", "doc", "class", "total")


def _evidence(case: Case) -> pl.DataFrame:
    """Return the outcomes that errors are told of, false detections and labels that are nested in nothing.

    Columns besides those of `outcomes`: `row` (its number), `relevant` (gold that the mode asks for), `part_found`,
    `overlap_found` (a false detection lies inside, overlaps), `on_gold`, `wrong_span` (of a false detection),
    `candidates` (their number), `among` (gold is one), `demonym`, `metonymy`, `answered_location`, `partial_name`,
    `rare`, `answered_popular`, `hyperlink`, `reference` ('answered' alike, 'other' or null: the mention before that
    names the entity).
    """
    labels = labels_of(case).rows.select("label", "name", gold_entity="entity")
    rows = outcomes(case).filter("root").drop("name", "entity", strict=False)
    rows = rows.join(labels, on="label", how="left", maintain_order="left")
    answered = case.mentions.answer_links.group_by("answer").agg(answer_entity=pl.col("entity").min())
    rows = rows.join(answered, on="answer", how="left", maintain_order="left")
    # A date is like no entity, NIL is like NIL, and what has no counterpart in Wikidata like its own kind.
    of_gold, of_answer = (pl.when(unmapped).then(-2).otherwise(-1) for unmapped in _are_marked(case, "unmapped"))
    gold_key = pl.when("same").then("answer_entity").otherwise("gold_entity").fill_null(of_gold)
    rows = rows.with_columns(
        gold_key=pl.when(pl.col("dated").is_null() & pl.col("label").is_not_null()).then(gold_key),
        answer_key=pl.when(pl.col("answer").is_not_null()).then(pl.col("answer_entity").fill_null(of_answer)),
        relevant=pl.when(pl.col("mode") == "IGNORED")
        .then(pl.col("known") & ~pl.col("optional"))
        .otherwise(pl.col("label").is_not_null()),
        place=pl.struct("mode", "system", "doc").rank("dense").cast(pl.Int64),
    )
    rows = rows.sort("place", "begin", "end", "answer", "label").with_row_index("row")
    rows = _names(case, _candidates(case, _references(_neighbours(rows))))
    of_gold, of_answer = _are_marked(case, "hyperlink")
    return rows.with_columns(hyperlink=of_gold | (pl.col("label").is_null() & of_answer))


def _are_marked(case: Case, name: str) -> tuple[pl.Expr, pl.Expr]:
    """Return whether the label of gold, and whether the answer, has a value of that name."""
    term = pl.col("term") == f"{RMX}{name}"
    gold = case.evidence.gold.values.filter(term).select(annotation="subject")
    labels = labels_of(case).numbers.join(case.gold.select("mention", "annotation"), on="mention")
    labelled = labels.join(gold, on="annotation", how="semi")["label"].unique()
    given = case.evidence.of_runs("values").filter(term).select("system", annotation="subject")
    answered = case.answers.join(given, on=["system", "annotation"], how="semi")["answer"]
    of_gold, of_answer = pl.col("label").is_in(labelled.implode()), pl.col("answer").is_in(answered.implode())
    return of_gold.fill_null(False), of_answer.fill_null(False)


def _neighbours(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with what lies beside them: false detections beside missed mentions, gold beside false ones."""
    false = rows.filter("false")
    pairs = _beside(rows.filter("missed"), false)
    inside = (pl.col("begin") <= pl.col("begin_right")) & (pl.col("end") >= pl.col("end_right"))
    equal = (pl.col("begin") == pl.col("begin_right")) & (pl.col("end") == pl.col("end_right"))
    found = pairs.group_by("row").agg(part_found=(inside & ~equal).any(), overlap_found=pl.lit(True))
    gold = _beside(rows.filter("relevant"), false)
    alike = (pl.col("gold_key") == pl.col("answer_key_right")).fill_null(False)
    dated = (pl.col("dated") == pl.col("answer_dated_right")).fill_null(False)
    seen = gold.group_by(row="row_right").agg(on_gold=pl.lit(True), wrong_span=(~equal & (alike | dated)).any())
    for part in (found, seen):
        rows = rows.join(part, on="row", how="left", maintain_order="left")
    names = ["part_found", "overlap_found", "on_gold", "wrong_span"]
    return rows.with_columns(pl.col(names).fill_null(False))


def _beside(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of rows of one place that share a character, the right one's columns with `_right`."""
    columns = ["row", "begin", "end", "gold_key", "answer_key", "dated", "answer_dated"]
    one, other = touching(left.with_columns(doc="place"), right.with_columns(doc="place"))
    pairs = pl.concat(
        [left[one].select(columns), right[other].select(pl.col(columns).name.suffix("_right"))], how="horizontal"
    )
    return pairs.filter((pl.col("begin") < pl.col("end_right")) & (pl.col("begin_right") < pl.col("end")))


def _references(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with `reference`: how the nearest earlier mention that names gold's entity was answered."""
    named = rows.filter((pl.col("kind") == "entity_named") & pl.col("label").is_not_null())
    named = named.select("place", "gold_key", named="row", meant="answer_key").drop_nulls("gold_key").sort("named")
    asked = rows.filter(pl.col("coreference") & pl.col("gold_key").is_not_null()).sort("row")
    pairs = asked.join_asof(
        named,
        left_on="row",
        right_on="named",
        by=["place", "gold_key"],
        allow_exact_matches=False,
        check_sortedness=False,
    )
    alike = (pl.col("meant") == pl.col("answer_key")) & (pl.col("meant") >= 0)
    told = pl.when(alike.fill_null(False)).then(pl.lit("answered")).otherwise(pl.lit("other"))
    pairs = pairs.select("row", reference=pl.when(pl.col("named").is_not_null()).then(told))
    return rows.join(pairs, on="row", how="left", maintain_order="left")


def _candidates(case: Case, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the number of the answer's candidates, and whether gold's entity is among them."""
    given = case.evidence.of_runs("candidates").select("system", "annotation", "entity").unique()
    numbers = case.answers.select("answer", "system", "annotation")
    candidates = given.join(numbers, on=["system", "annotation"]).select("answer", "entity")
    sizes = candidates.group_by("answer").agg(candidates=pl.len().cast(pl.Int64))
    linked = (
        labels_of(case).numbers.join(case.mentions.gold_links, on="mention").select("label", number="entity").unique()
    )
    linked = linked.with_columns(entity=case.mentions.entities.gather(linked["number"]))
    among = rows.select("label", "answer").drop_nulls().unique().join(linked, on="label")
    among = among.join(candidates, on=["answer", "entity"], how="semi").select("label", "answer").unique()
    rows = rows.join(sizes, on="answer", how="left", maintain_order="left")
    rows = rows.join(among.with_columns(among=pl.lit(True)), on=["label", "answer"], how="left", maintain_order="left")
    return rows.with_columns(pl.col("candidates").fill_null(0), pl.col("among").fill_null(False))


def _names(case: Case, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with what names and types say: demonyms, parts of names, popular places."""
    of_gold, of_answers = entity_types(case)
    for kind, classes in _CLASSES.items():
        having = of_gold.filter(pl.col("class").is_in(classes))["label"].unique()
        rows = rows.with_columns(pl.col("label").is_in(having.implode()).fill_null(False).alias(f"gold_{kind}"))
    places = of_answers.filter(pl.col("class").is_in(_CLASSES["location"]))["answer"].unique()
    text, name = pl.col("text"), pl.col("name")
    shorter = (text.str.len_chars() < name.str.len_chars()) & name.str.contains(" ", literal=True)
    rows = rows.with_columns(
        answered_location=pl.col("answer").is_in(places.implode()).fill_null(False),
        demonym=text.is_in(DEMONYMS) & pl.any_horizontal("gold_location", "gold_ethnicity", "gold_languoid"),
        partial_name=(pl.col("known") & shorter & name.str.contains(text, literal=True)).fill_null(False),
    )
    return _popular(case, rows)


def _popular(case: Case, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with `metonymy`, `rare` and `answered_popular`, false without a knowledge base.

    ELEVANT takes the entity that most hyperlinks with this text lead to; so does the first rank of the dictionary,
    which goes by PageRank where it has no counts.
    """
    kb = case.evidence.kb
    asked = rows.filter(pl.col("label").is_not_null() & pl.col("answer").is_not_null())
    if kb is None or asked.is_empty():
        no = pl.lit(False)
        return rows.with_columns(metonymy=no, rare=no, answered_popular=no)
    first = kb.candidates(asked.select(form="text")).filter(pl.col("rank") == 1)
    first = first.select(text="form", iri="entity").unique()
    meanings = asked.select("doc", "text").unique().join(first, on="text")
    classes = case.evidence.classes_of(meanings).filter(pl.col("class").is_in(_CLASSES["location"]))
    places = classes.select("doc", "text", is_place=pl.lit(True)).unique()
    sets = first.join(case.mentions.iris, on="iri", how="left").group_by("text").agg(popular="entity")
    rows = rows.join(sets, on="text", how="left", maintain_order="left")
    rows = rows.join(places, on=["doc", "text"], how="left", maintain_order="left")
    has = pl.col("popular").is_not_null()
    other = pl.any_horizontal("gold_location", "gold_person", "gold_ethnicity")
    return rows.with_columns(
        metonymy=pl.col("known") & ~other & pl.col("is_place").fill_null(False),
        rare=has & ~pl.col("popular").list.contains(pl.col("gold_entity")).fill_null(False),
        answered_popular=has & pl.col("popular").list.contains(pl.col("answer_entity")).fill_null(False),
    ).drop("popular", "is_place")


_WD = "http://www.wikidata.org/entity/"
_CLASSES = {
    "location": [f"{_WD}Q27096213", f"{DBO}Place"],
    "person": [f"{_WD}Q215627", f"{_WD}Q95074", f"{DBO}Person", f"{DBO}FictionalCharacter"],
    "ethnicity": [f"{_WD}Q41710", f"{_WD}Q33829", f"{DBO}EthnicGroup"],
    "languoid": [f"{_WD}Q17376908", f"{DBO}Language"],
}

_SINGULAR = """
Afghan African Albanian Algerian American Andorran Angolan Arab Argentine Argentinian Armenian Asian Australian Austrian
Azerbaijani Bahraini Bangladeshi Basque Belarusian Belgian Bengali Bolivian Bosnian Brazilian Briton British Bulgarian
Burmese Cambodian Cameroonian Canadian Catalan Chadian Chechen Chilean Chinese Colombian Congolese Croat Croatian Cuban
Cypriot Czech Dane Danish Dutch Ecuadorian Egyptian English Eritrean Estonian Ethiopian European Fijian Filipino Finn
Finnish French Gambian Georgian German Ghanaian Greek Guatemalan Guinean Haitian Honduran Hungarian Icelandic Indian
Indonesian Iranian Iraqi Irish Israeli Italian Ivorian Jamaican Japanese Jordanian Kazakh Kenyan Korean Kosovar Kurd
Kurdish Kuwaiti Lao Latvian Lebanese Liberian Libyan Lithuanian Macedonian Malaysian Malian Maltese Mexican Moldovan
Mongolian Moroccan Mozambican Namibian Nepalese Nicaraguan Nigerian Norwegian Omani Pakistani Palestinian Panamanian
Paraguayan Parisian Persian Peruvian Polish Portuguese Qatari Romanian Russian Rwandan Salvadoran Saudi Scot Scottish
Senegalese Serb Serbian Singaporean Slovak Slovene Slovenian Somali Spaniard Spanish Sudanese Swede Swedish Swiss Syrian
Taiwanese Tajik Tanzanian Texan Thai Tibetan Tunisian Turk Turkish Turkmen Ugandan Ukrainian Uruguayan Uzbek Venezuelan
Vietnamese Welsh Yemeni Yugoslav Zambian Zimbabwean
"""

DEMONYMS = tuple(sorted({*_SINGULAR.split(), *(f"{one}s" for one in _SINGULAR.split())}))
"""Singular and plural; ELEVANT forms the plural of its list, from Wikidata, likewise (entity_database_reader.py)."""


elevant = Taxonomy(
    name="elevant",
    summary="recognition, disambiguation, coreference and hyperlinks, each with what could have gone wrong",
    source="ELEVANT, src/elevant/evaluation: errors.py, evaluator.py",
    classes=CLASSES,
    labels=LABELS,
    classify=classify,
)
