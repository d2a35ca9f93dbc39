"""Rules about links and classes."""

from __future__ import annotations

import polars as pl

from remix.checks import Subject, list_documents, list_mentions, rule
from remix.checks.repeats import bare_form, bare_spans
from remix.expressions import fill
from remix.frames import Links
from remix.iris import canonical
from remix.measures.classes import classes_for
from remix.vocabularies import COARSE_CLASSES

_HOST = r"^[a-z]+://([^/]+)"


@rule(
    "several-links",
    "note",
    "An annotation has more than one link.",
    "Nothing, where each is right: an answer needs one of them.",
)
def _find_several(subject: Subject) -> pl.DataFrame:
    links = subject.frames.links.group_by("annotation", maintain_order=True).agg(pl.col("entity").unique().sort())
    several = links.filter(pl.col("entity").list.len() > 1)
    rows = subject.frames.annotations.join(several, on="annotation", maintain_order="left")
    rows = rows.join(subject.names, on="document", how="left", maintain_order="left")
    return list_mentions(rows, fill("is linked to {}", pl.col("entity").list.join(" and to ")))


@rule(
    "alternatives",
    "note",
    "A stretch of text has several annotations, with different links.",
    "Nothing, where each is right: remix counts them as one mention, and an answer needs one of them.",
)
def _find_alternatives(subject: Subject) -> pl.DataFrame:
    gold = subject.mentions.filter(pl.col("ignorable").is_null())
    several = gold.with_columns(options=pl.col("option").n_unique().over("group")).filter(pl.col("options") > 1)
    # An alternative may have another place; a mention is told where it begins, whatever the order of its alternatives.
    # Outer characters do not count, as they are another rule's: without them it is told of the same alternative.
    bare = bare_spans(several).select(bare_begin="begin", bare_end="end")
    ordered = several.with_columns(bare).sort("document", "bare_begin", "bare_end", "begin", "end", "annotation")
    first = ordered.unique(["document", "group"], keep="first", maintain_order=True)
    return list_mentions(first, fill("has {} annotations, with a link each", "options"))


@rule(
    "local-link",
    "note",
    "A link goes to a resource of the dataset's own, which is said to be the same as an entity (owl:sameAs).",
    "Nothing in remix, which follows it; a tool that does not compares names that no system can give.",
)
def _find_local(subject: Subject) -> pl.DataFrame:
    links = subject.links.filter(pl.col("entity_as_given").str.contains("^https?://"))
    rows = links.filter(canonical(links["entity_as_given"]) != links["entity"])
    return list_mentions(rows, fill("{} is the same as {}", "entity_as_given", "entity"))


def _find_spelt(links: Links) -> pl.DataFrame:
    """Return the links that spell their entity themselves, where a link of the dataset spells it otherwise.

    A link through a resource of the dataset's own is no spelling: the entity is said of that resource.
    """
    own = links.filter(canonical(links["entity_as_given"]) == links["entity"])
    return own.filter(pl.col("entity_as_given").n_unique().over("entity") > 1)


def _respell(subject: Subject, findings: pl.DataFrame) -> pl.DataFrame:
    links = subject.frames.links
    spelt = _find_spelt(links).filter(pl.col("entity_as_given") != pl.col("entity"))
    every = links.join(spelt, on="annotation", how="semi", maintain_order="left")
    respelt = every.join(spelt.with_columns(other=True), on=links.columns, how="left", maintain_order="left")
    as_given = pl.when("other").then("entity").otherwise("entity_as_given")
    return respelt.select("annotation", "entity", entity_as_given=as_given)


@rule(
    "link-spelling",
    "note",
    "One entity's IRI is spelt in two ways, as with and without percent signs, or as page and as resource.",
    "Nothing in remix, which compares one canonical form; --fix writes that form.",
    mend=_respell,
)
def _find_spellings(subject: Subject) -> pl.DataFrame:
    given = _find_spelt(subject.links).with_columns(first=pl.col("entity_as_given").first().over("entity"))
    other = given.filter(pl.col("entity_as_given") != pl.col("first")).unique("entity_as_given", maintain_order=True)
    return list_mentions(other, fill("{} is {} elsewhere", "entity_as_given", "first"))


@rule(
    "knowledge-bases",
    "note",
    "Links go to more than one knowledge base.",
    "Attach a knowledge base that knows what is the same in both (`remix kb build`), else they never match.",
)
def _find_rare_hosts(subject: Subject) -> pl.DataFrame:
    """Return the links into all knowledge bases but the one that most links go to.

    A place that is linked to an entity again, with or without outer characters, counts once: repeats and these
    characters are other rules'.
    """
    links = subject.links.with_columns(host=pl.col("entity").str.extract(_HOST))
    apart = pl.when(pl.col("begin").is_null()).then("annotation").alias("apart")
    counted = bare_spans(links.drop_nulls("host")).with_columns(apart)
    counted = counted.unique(["document", "begin", "end", "apart", "entity"])
    hosts = counted.group_by("host").len().sort("len", "host", descending=[True, False])
    if hosts.height < 2:
        return list_mentions(links.clear(), pl.lit(""))
    rest = links.filter(pl.col("host") != hosts["host"][0])
    return list_mentions(rest, fill("is linked to {}, most are to {}", "host", pl.lit(hosts["host"][0])))


def _with_status(subject: Subject, *status: str) -> pl.DataFrame:
    assert subject.kb is not None
    links = subject.links
    found = subject.kb.link_status(links["entity"]).filter(pl.col("status").is_in(list(status)))
    return links.join(found, left_on="entity", right_on="iri", maintain_order="left")


def _follow(subject: Subject, findings: pl.DataFrame) -> pl.DataFrame:
    assert subject.kb is not None
    links = subject.frames.links.join(findings.select("annotation").unique(), on="annotation", maintain_order="left")
    # An annotation with several links keeps those that redirect nowhere, as they are spelt.
    status = subject.kb.link_status(links["entity"].unique()).select(entity="iri", status="status")
    targets = links.with_columns(target=subject.kb.resolve(links["entity"]))
    targets = targets.join(status, on="entity", how="left", maintain_order="left")
    redirects = pl.col("status").eq_missing("redirect")
    changed = (pl.when(redirects).then("target").otherwise(name).alias(name) for name in ("entity", "entity_as_given"))
    return targets.with_columns(changed).unique(["annotation", "entity"], keep="first", maintain_order=True)


@rule(
    "redirect",
    "warning",
    "A link's target redirects to another entity.",
    "--fix links to the entity itself.",
    mend=_follow,
    needs_kb=True,
)
def _find_redirects(subject: Subject) -> pl.DataFrame:
    rows = _with_status(subject, "redirect")
    assert subject.kb is not None
    rows = rows.with_columns(target=subject.kb.resolve(rows["entity"]))
    return list_mentions(rows, fill("{} redirects to {}", "entity", "target"))


@rule(
    "disambiguation",
    "warning",
    "A link's target is a page that lists entities of one name.",
    "Link to the entity that is meant.",
    needs_kb=True,
)
def _find_disambiguations(subject: Subject) -> pl.DataFrame:
    return list_mentions(_with_status(subject, "disambiguation"), fill("{} is a disambiguation page", "entity"))


@rule(
    "unknown-entity",
    "error",
    "The knowledge base does not have a link's target.",
    "Look whether the target was renamed or removed, or whether it is of another knowledge base.",
    needs_kb=True,
)
def _find_unknown(subject: Subject) -> pl.DataFrame:
    return list_mentions(_with_status(subject, "unknown"), fill("{} is unknown", "entity"))


@rule(
    "class-disagrees",
    "warning",
    "The class of a mention is a person, an organisation or a place, and its entity is another of these.",
    "Look which of both is right; 'Berlin' for its government has a link to a place with good reason.",
    needs_kb=True,
)
def _find_other_classes(subject: Subject) -> pl.DataFrame:
    """Return mentions whose class is of one kind (person, organisation, place) and their entity of others only."""
    assert subject.kb is not None
    links = subject.links.with_columns(resolved=subject.kb.resolve(subject.links["entity"]))
    types = subject.kb.rows("types", "entity", links["resolved"].unique()).select("entity", "class")
    said = _kinds(subject.frames.classes.filter(~pl.col("of_entity")), "annotation", "class")
    known = _kinds(types, "entity", "class")
    both = links.join(said, on="annotation").join(known, left_on="resolved", right_on="entity", suffix="_known")
    agree = pl.col("kind").list.set_intersection("kind_known").list.len() > 0
    other = both.filter(~agree).sort("document", "begin", "end")
    classes = [pl.col(name).list.join(" or ") for name in ("kind", "kind_known")]
    return list_mentions(other, fill("has the class {}, and {} is {}", classes[0], "entity", classes[1]))


def _kinds(rows: pl.DataFrame, key: str, name: str) -> pl.DataFrame:
    """Return key and `kind`, the list of those of person, organisation and place that the classes of a key map to."""
    parts = [
        rows.filter(pl.col(name).is_in(classes_for(kind).implode())).select(key, kind=pl.lit(kind))
        for kind in COARSE_CLASSES
    ]
    return pl.concat(parts).group_by(key).agg(pl.col("kind").unique().sort())


@rule(
    "disagreeing-links",
    "warning",
    "One form has different links in one document, or is linked in one place and NIL in another.",
    "Look whether both are meant, as with 'Berlin' for the city and for its government.",
)
def _find_disagreeing(subject: Subject) -> pl.DataFrame:
    """Return forms with more than one entity in a document, and those that are linked here and NIL there.

    A mention means what its alternatives mean together, and only the layer that is scored is looked at.
    """
    rows = subject.mentions.join(subject.frames.one_layer().select("annotation"), on="annotation", how="semi")
    rows = rows.with_columns(bare_form()).join(subject.frames.links, on="annotation", how="left", maintain_order="left")
    mentions = rows.group_by("document", "name", "surface_form", "begin", "end", "group", maintain_order=True).agg(
        meant=pl.col("entity").drop_nulls().unique().sort().str.join(" or ")
    )
    named = mentions.with_columns(pl.col("meant").replace("", "NIL"))
    groups = named.group_by("document", "name", "surface_form", maintain_order=True).agg(
        pl.col("meant").unique(maintain_order=True), spans=pl.struct("begin", "end").n_unique()
    )
    several = groups.filter(pl.col("meant").list.len() > 1, pl.col("spans") > 1)
    return list_documents(several, fill("'{}' is {}", "surface_form", pl.col("meant").list.join(", elsewhere ")))
