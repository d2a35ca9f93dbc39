"""Gold as ELEVANT's labels: each mention once, with the labels that are nested in it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.formats.elevant import BESIDE, SAID
from remix.frames import FINE_GRAINED
from remix.names import RMX
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.inputs.evidence import CUT
from remix.scoring.matching import Case
from remix.scoring.matching.pairs import touching
from remix.scoring.matching.words import grow

PRONOUNS = (
    *("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"),
    *("you", "your", "yours", "yourself", "yourselves", "he", "him", "his", "himself"),
    *("she", "her", "hers", "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves"),
)
DETERMINERS = ["the", "that", "this", "these", "those", "my", "your", "his", "her", "its", "our", "their"]

_NAMED = r"^\P{L}*\p{Lu}"


def coreference_kind(text: pl.Expr) -> pl.Expr:
    """Return 'coref_pronominal', 'coref_nominal' or null: what a mention is by its text.

    `US` and `IT` are no pronouns, `I` is; a determiner makes a description where the next word is not capitalised.

    >>> texts = pl.DataFrame({"text": ["It", "US", "I", "the city", "The City", "Rome"]})
    >>> texts.select(kind=coreference_kind(pl.col("text")))["kind"].to_list()
    ['coref_pronominal', None, 'coref_pronominal', 'coref_nominal', None, None]
    """
    lower = text.str.to_lowercase()
    pronoun = lower.is_in(PRONOUNS) & ((text != text.str.to_uppercase()) | (lower == "i"))
    nominal = text.str.contains(rf"^(?i:{'|'.join(DETERMINERS)}) [^\p{{Lu}}]")
    return pl.when(pronoun).then(pl.lit("coref_pronominal")).when(nominal).then(pl.lit("coref_nominal"))


def is_lowercase(text: pl.Expr) -> pl.Expr:
    """Return whether the first letter of a text is no capital, or it has no letter.

    >>> pl.DataFrame({"text": ["iPod", "2 Unlimited", "1984"]}).select(is_lowercase(pl.col("text")))["text"].to_list()
    [True, False, True]
    """
    return ~text.str.contains(_NAMED)


@dataclass(frozen=True)
class Labels:
    """The labels of gold and how they are nested.

    - `rows`: label (the smallest g of it), doc, begin, end, `first` and `last` (the span grown to words), text,
      `known` (it has an entity), entity (number), name, optional, dated ('DATETIME', 'QUANTITY' or null), dropped,
      kind (mention type), parent (a label), `like_parent` (both grow to one span), `required_below` (an optional
      label that nests one which is not);
    - `numbers`: mention, label;
    - `nests`: label, child, as gold lists its children;
    - `below`: label, child, for every child, child of a child and so on.
    """

    rows: pl.DataFrame
    numbers: pl.DataFrame
    nests: pl.DataFrame
    below: pl.DataFrame


def labels_of(case: Case) -> Labels:
    """Return the labels of gold, computed once for a case.

    Where gold says only which annotations are alternatives (a group with options), the longest is the parent of the
    others. In a dataset of another format than the tool's own, labels are nested by their spans, those of one span in
    each other, so that none of these is a root.
    """
    return case.once(("elevant", "labels"), lambda own: _find_labels(own.placed))


def _find_labels(case: Case) -> Labels:
    gold, nests, parents = _number(case)
    rows = _describe(case, gold).filter(pl.col("mention") == pl.col("label")).drop("mention")
    rows = rows.join(parents, on="label", how="left", maintain_order="left")
    spans = rows.select(parent="label", around="first", to="last")
    rows = rows.join(spans, on="parent", how="left", maintain_order="left").with_columns(
        like_parent=(pl.col("first") == pl.col("around")) & (pl.col("last") == pl.col("to"))
    )
    below = _closure(nests)
    needed = below.join(rows.filter(~pl.col("optional")).select(child="label"), on="child", how="semi")
    rows = rows.with_columns(required_below=pl.col("label").is_in(needed["label"].unique().implode()))
    return Labels(rows.drop("around", "to"), gold.select("mention", "label"), nests, below)


def _number(case: Case) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return gold with `label`, label and child as gold lists its children, and label and parent, one of each label."""
    every = case.evidence.gold.values
    values = every.filter(pl.col("term").is_in([f"{RMX}{name}" for name in ("nests", "nestedIn")]))
    # Labels of one span that are not nested in each other are each a label, too.
    stated = pl.concat([values["subject"], values["text"], every.filter(term=BESIDE)["subject"]]).unique()
    # A label that is in several options stands in each, and only once in the nesting.
    alike = ["doc", "begin", "end", "link"]
    sets = case.mentions.documents.select("doc", set="dataset").unique("doc")
    gold = case.gold.with_columns(stated=pl.col("annotation").is_in(stated.implode()).any().over(alike))
    gold = gold.join(sets, on="doc", how="left", maintain_order="left")
    own = case.evidence.gold.values.filter(says_own_format())["subject"].unique()
    gold = gold.with_columns(by_span=~pl.col("annotation").is_in(own.implode()).any().over("set"))
    longest = (pl.col("begin") - pl.col("end"), pl.col("mention"))
    root = pl.col("mention").sort_by(*longest).first().over("group")
    # In other formats each annotation is a label, also one that says what another does.
    key = pl.when("stated").then("link").when("by_span").then("mention").otherwise("group")
    gold = gold.with_columns(like=key, root=root).with_columns(
        label=pl.col("mention").min().over("doc", "begin", "end", "stated", "like")
    )
    names = gold.select("annotation", "label").unique("annotation")
    nesting = values.join(names.rename({"annotation": "subject"}), on="subject")
    nesting = nesting.join(names.select(text="annotation", other="label"), on="text")
    roots = gold.select(root="mention", top="label")
    flat = gold.filter(~pl.col("stated")).join(roots, on="root").filter(pl.col("top") != pl.col("label"))
    children = nesting.filter(term=f"{RMX}nests").select("label", child="other")
    within = _nest_by_span(gold.filter("by_span"))
    found = [children, flat.select(label="top", child="label"), within.select(label="parent", child="label")]
    children = pl.concat(found).unique().sort("label", "child")
    parents = nesting.filter(term=f"{RMX}nestedIn").select("label", parent="other")
    parents = pl.concat([parents, flat.select("label", parent="top")]).sort("label", "parent")
    # Of several labels around one the last is its parent.
    last = within.group_by("label").agg(pl.col("parent").max()).join(parents, on="label", how="anti").sort("label")
    parents = pl.concat([parents.unique("label", maintain_order=True), last])
    return gold.drop("stated", "like", "root", "set", "by_span"), children, parents


def says_own_format() -> pl.Expr:
    """Return whether a value is one that files of ELEVANT's own format alone tell, which nest their labels themselves.

    >>> values = pl.DataFrame({"term": [f"{RMX}nestedIn", f"{RMX}entityName", f"{RMX}cluster"]})
    >>> values.select(says_own_format())["term"].to_list()
    [True, True, False]
    """
    return pl.col("term").is_in(SAID)


def _nest_by_span(gold: pl.DataFrame) -> pl.DataFrame:
    """Return label and `parent`, for each label that is within another, and for those of one span both ways.

    Labels of one group that are strictly within each other are alternatives already.
    """
    rows = gold.unique("label", keep="first", maintain_order=True)
    rows = rows.select("label", "doc", "begin", "end", "group").sort("doc", "begin")
    outer, inner = touching(rows, rows)
    others = rows[inner].select(pl.all().name.suffix("_in"))
    pairs = pl.concat([rows[outer], others], how="horizontal")
    around = (pl.col("begin") <= pl.col("begin_in")) & (pl.col("end_in") <= pl.col("end"))
    equal = (pl.col("begin") == pl.col("begin_in")) & (pl.col("end") == pl.col("end_in"))
    pairs = pairs.filter(
        around & (equal | (pl.col("group") != pl.col("group_in"))),
        pl.col("doc") == pl.col("doc_in"),
        pl.col("label") != pl.col("label_in"),
    )
    return pairs.select(label="label_in", parent="label")


def _describe(case: Case, gold: pl.DataFrame) -> pl.DataFrame:
    """Return gold with `label` and what its spans, entities, classes and values say."""
    frames = case.evidence.gold
    classes = frames.classes.filter(pl.col("class").is_in([f"{RMX}{name}" for name in (*DATED, "Coreference")]))
    classes = classes.with_columns(pl.col("class").str.strip_prefix(RMX))
    dated = classes.filter(pl.col("class").is_in(DATED)).unique("annotation").select("annotation", dated="class")
    stated = classes.filter(pl.col("class") == "Coreference")["annotation"].unique()
    required = frames.values.filter(pl.col("term") == f"{RMX}required")["subject"].unique()
    plain = frames.values.filter(pl.col("term") == f"{RMX}noCoreference")["subject"].unique()
    gold = _with_names(case, with_words(case, gold, case.mentions.gold_links)).with_columns(
        optional=(pl.col("ignorable") == "optional").fill_null(False) & ~pl.col("annotation").is_in(required.implode()),
        dropped=(pl.col("ignorable") == "dropped").fill_null(False),
        coreference=pl.col("annotation").is_in(stated.implode()),
    )
    gold = gold.join(dated, on="annotation", how="left", maintain_order="left")
    known = (pl.col("link") != NIL).any().over("label") & pl.col("dated").is_null()
    stated_kind = pl.when("coreference").then(pl.coalesce(coreference_kind(pl.col("text")), pl.lit("coref_nominal")))
    unknown = ~known & pl.col("dated").is_null()
    by_name = pl.when(pl.col("annotation").is_in(plain.implode())).then(_kind_by_name(case, unknown))
    kind = pl.coalesce(by_name, stated_kind, mention_kind(case, unknown=unknown))
    return gold.with_columns(known=known, kind=kind).select(
        *("mention", "label", "doc", "begin", "end", "first", "last", "text", "known", "entity", "name"),
        *("optional", "dated", "dropped", "kind"),
    )


DATED = ("DATETIME", "QUANTITY")


def _with_names(case: Case, gold: pl.DataFrame) -> pl.DataFrame:
    """Return gold with the names that its labels give their entities, which go before those of a table.

    A dataset that gives any says so only where the name is not the text itself. 'Unknown' is no name but for want of
    another.
    """
    told = case.evidence.gold.values.filter(pl.col("term") == f"{RMX}entityName")
    if told.is_empty():
        return gold
    own = told.unique("subject", keep="first", maintain_order=True).select(annotation="subject", own="text")
    gold = gold.join(own, on="annotation", how="left", maintain_order="left")
    sets = case.mentions.documents.select("doc", set="dataset")
    gold = gold.join(sets.unique("doc"), on="doc", how="left", maintain_order="left")
    named = pl.col("own").is_not_null().any().over("set")
    told_name = pl.when(pl.col("own") != "Unknown").then("own")
    same = pl.when(named & pl.col("own").is_null() & (pl.col("link") != NIL)).then("text")
    name = pl.coalesce(told_name, same, "name", "own")
    return gold.with_columns(name=name).drop("own", "set")


def with_words(case: Case, rows: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """Return mentions with `first` and `last` (the span grown to words), `text`, `entity` (their first) and `name`.

    `links` are theirs (mention or answer, entity); the name is null where nobody says what the entity is called.
    """
    texts, names, key = case.evidence.texts, case.evidence.names, links.columns[0]
    first = links.group_by(key).agg(pl.col("entity").min()).join(case.mentions.iris, on="entity", how="left")
    if names is None:
        first = first.with_columns(name=pl.lit(None, pl.String))
    else:
        first = first.join(names.select("name", iri="entity"), on="iri", how="left")
    rows = rows.join(grow(rows, texts), on=["doc", "begin", "end"], how="left", maintain_order="left")
    rows = rows.join(texts, on="doc", how="left", maintain_order="left").with_columns(CUT.fill_null(""))
    return rows.join(first.select(key, "entity", "name"), on=key, how="left", maintain_order="left")


def mention_kind(case: Case, *, unknown: pl.Expr) -> pl.Expr:
    """Return the mention type of rows as `with_words` returns them: coreference by the text, else by the name.

    That is 'entity_unknown', 'entity_named' (the first letter of the name is a capital) or 'entity_non_named'. An
    entity whose name nobody says is called Unknown, and so counts as named.
    """
    return pl.coalesce(coreference_kind(pl.col("text")), _kind_by_name(case, unknown))


def _kind_by_name(case: Case, unknown: pl.Expr) -> pl.Expr:
    name = pl.col("name") if case.evidence.names is not None else pl.coalesce("name", "text")
    capital = name.fill_null("Unknown").str.contains(_NAMED)
    named = pl.when(capital).then(pl.lit("entity_named")).otherwise(pl.lit("entity_non_named"))
    return pl.when(unknown).then(pl.lit("entity_unknown")).otherwise(named)


def _closure(nests: pl.DataFrame) -> pl.DataFrame:
    """Return label and child for every way down, cycles included."""
    below, size = nests, -1
    while len(below) != size:
        size = len(below)
        further = below.join(nests.select(child="label", next="child"), on="child").select("label", child="next")
        below = pl.concat([below, further]).unique()
    return below


def entity_types(case: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return label and class of gold's entities, answer and class of the answers'; no row without a class."""
    numbers = labels_of(case).numbers.join(case.gold.select("mention", "annotation"), on="mention")
    stated = (
        case.evidence.gold.classes.filter(~FINE_GRAINED)
        .join(numbers, on="annotation")
        .select("label", "class")
        .unique()
    )
    return stated, case.evidence.answered_classes.filter(~FINE_GRAINED).select("answer", "class").unique()
