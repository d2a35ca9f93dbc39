"""Entities: classes, names and labels of tables, data and a knowledge base, hierarchies; what counts as one entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import iris, progress
from remix.delimited import parse_table
from remix.errors import BadInput, MissingKnowledge
from remix.expressions import fill
from remix.files import read_bytes
from remix.formats.definitions.answers import LABEL
from remix.formats.layers import CONTINUED, LAYERS, MAIN, RANKED
from remix.frames import Frames
from remix.names import RDFS, RMX

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

WD = "http://www.wikidata.org/entity/"


def with_types(
    gold: Frames,
    types: pl.DataFrame,
    stated: pl.DataFrame | None = None,
    homes: pl.DataFrame | None = None,
    kb: KnowledgeBase | None = None,
) -> pl.DataFrame:
    """Return annotation, class, of_entity: those of the data, those of the linked entities, and their coarse ones.

    `stated` (home, entity, class) are the types that hold in the documents of a home, which `homes` (gold, home) tells.
    An entity has the types of what it stands for in `kb` as well, as it has where measures ask.
    """
    from remix.measures.classes import with_coarse

    given = gold.classes.select("annotation", "class", "of_entity")
    links = gold.links.select("annotation", "entity")
    if kb is not None:
        links = pl.concat([links, links.with_columns(kb.resolve(links["entity"]))]).unique()
    derived = [given.drop("of_entity"), links.join(types, on="entity").select("annotation", "class")]
    if stated is not None and homes is not None:
        places = gold.annotations.select("annotation", gold="document").join(homes, on="gold")
        at_home = gold.links.join(places, on="annotation").join(stated, on=["home", "entity"])
        derived.append(at_home.select("annotation", "class"))
    every = with_coarse(pl.concat(derived).drop_nulls("class")).with_columns(of_entity=pl.lit(True))
    classes = pl.concat([given, every])
    return classes.group_by("annotation", "class").agg(pl.col("of_entity").min()).sort("annotation", "class")


def with_types_of_each(
    every: Sequence[Frames],
    types: pl.DataFrame,
    stated: Sequence[pl.DataFrame | None],
    homes: Sequence[pl.DataFrame | None],
    kb: KnowledgeBase | None = None,
) -> list[pl.DataFrame]:
    """Return for each gold what `with_types` returns of it, looked up at once where no annotation is of two of them."""
    number = [pl.lit(nth, pl.Int64).alias("nth") for nth in range(len(every))]
    owners = pl.concat(gold.annotations.select("annotation", nth) for gold, nth in zip(every, number, strict=True))
    apart = len(every) == 1 or any(one is None for one in (*stated, *homes))
    if apart or not owners["annotation"].is_unique().all():
        return [with_types(*one, kb) for one in zip(every, [types] * len(every), stated, homes, strict=True)]
    # What one gold says of an entity is not asked about in another, though both be of one home.
    own_home = pl.concat_str("nth", pl.lit(" "), "home").alias("home")
    told, places = (
        pl.concat(one.with_columns(nth) for one, nth in zip(tables, number, strict=True) if one is not None)
        .with_columns(own_home)
        .drop("nth")
        for tables in (stated, homes)
    )
    classes = with_types(Frames.concat(every), types, told, places, kb)
    parts = classes.join(owners, on="annotation", maintain_order="left").partition_by(
        "nth", as_dict=True, maintain_order=True, include_key=False
    )
    return [parts.get((nth,), classes.clear()) for nth in range(len(every))]


def read_entities(file: Path | str) -> pl.DataFrame:
    """Return entity, name and class of a TSV with the columns entity, name, types (separated by `|`).

    A row per type; entities without types have one row whose class is null. Wikidata's Q numbers become IRIs, other
    entities their canonical form. Raises `BadInput` for a file without these columns.
    """
    rows = parse_table(file, read_bytes(file))
    if missing := {"entity", "types"} - set(rows.columns):
        raise BadInput(file, f"has no column {' and no column '.join(sorted(missing))}; it needs entity, name, types")
    if "name" not in rows.columns:
        rows = rows.with_columns(name=pl.lit(None, pl.String))
    rows = rows.select("entity", "name", pl.col("types").str.split("|").alias("class")).explode("class")
    numbered = [
        pl.when(pl.col(name).str.contains("^Q[0-9]+$")).then(pl.lit(WD) + pl.col(name)).otherwise(name).alias(name)
        for name in ("entity", "class")
    ]
    rows = rows.with_columns(numbered)
    bare = ~pl.col("class").str.contains(":", literal=True)
    rows = rows.with_columns(pl.when(bare).then(pl.lit(RMX) + pl.col("class")).otherwise("class").alias("class"))
    return rows.with_columns(entity=iris.canonical(rows["entity"]))


def read_subclasses(file: Path | str) -> pl.DataFrame:
    """Return class and parent: what an RDF file in any syntax says with rdfs:subClassOf.

    Raises `BadInput` for a file that cannot be read or says nothing of that kind.
    """
    from remix.formats.nif.parsing import parse
    from remix.formats.repairs import RepairTally
    from remix.formats.source import SourceFile
    from remix.rdf.terms import iri

    rows = parse(SourceFile(file), RepairTally()).filter(pl.col("predicate") == f"<{RDFS}subClassOf>")
    found = rows.select(iri(pl.col("subject")).alias("class"), iri(pl.col("object")).alias("parent")).drop_nulls()
    if found.is_empty():
        raise BadInput(file, "says of no class that it is rdfs:subClassOf another")
    return found.unique().sort("class", "parent")


def with_labels_linked(
    runs: Mapping[str, Frames], kb: KnowledgeBase | None, names: pl.DataFrame | None = None
) -> dict[str, Frames]:
    """Return the runs, labels linked to an entity where exactly one has that label, whatever its case.

    `names` (entity, name) says what entities are called, by default the knowledge base. Other labels stay entities of
    their own. How many were linked is told. Raises `MissingKnowledge` with neither.
    """
    from remix.kb.forms import normalise

    if names is not None:
        called = names.lazy().select("entity", label="name")
    elif kb is not None:
        called = kb.scan("entities").select("entity", "label")
    else:
        raise MissingKnowledge("labels need names of entities: give --entities, or `remix kb attach NAME`")
    label = normalise(pl.col("entity_as_given").str.strip_prefix(LABEL))
    key = pl.when(pl.col("entity").str.starts_with(LABEL)).then(label).alias("key")
    labelled = {name: run.links.with_columns(key) for name, run in runs.items()}
    asked = pl.concat([pl.Series("key", [], dtype=pl.String), *(links["key"] for links in labelled.values())])
    known = called.select("entity", key=normalise(pl.col("label"))).drop_nulls()
    alike = known.join(asked.drop_nulls().unique().to_frame().lazy(), on="key", how="semi").collect()
    entity = alike.group_by("key").agg(pl.len(), linked=pl.col("entity").first()).filter(pl.col("len") == 1)
    found = {}
    for name, links in labelled.items():
        links = links.join(entity.drop("len"), on="key", how="left", maintain_order="left")
        if count := links["key"].count():
            linked = links["linked"].count()
            progress.note(f"run '{name}': {linked} of its {count} labels without identifier are linked by the label")
        entities = links.with_columns(pl.coalesce("linked", "entity").alias("entity"))
        found[name] = replace(runs[name], links=entities.drop("key", "linked"))
    return found


_ITEM = r"Q[0-9]+"
_TIME = "#[^#]*time"


def read_mapping(file: Path | str) -> dict[str, str]:
    """Return the item that each other stands for, of a table with the main item in its first column.

    An item is the first Q and digits of a cell; cells without any are passed over. Raises `BadInput` for a file
    without items.
    """
    text = read_bytes(file).decode("utf-8", errors="replace").replace("\r", "\n")
    cells = (
        pl.Series("line", text.split("\n"))
        .to_frame()
        .with_row_index("row")
        .with_columns(pl.col("line").str.split("\t"))
    )
    items = cells.with_columns(main=pl.col("line").list.first().str.extract(f"({_ITEM})", 1)).explode("line")
    items = items.with_columns(item=pl.col("line").str.extract(f"({_ITEM})", 1))
    found = items.filter(pl.int_range(pl.len()).over("row") > 0).drop_nulls(["main", "item"])
    if found.is_empty():
        raise BadInput(
            str(file), "maps no item of Wikidata to another: a line has the main item, then those it stands for"
        )
    return dict(found.select("item", "main").iter_rows())


def relax_runs(runs: Mapping[str, Frames], file: Path | str) -> dict[str, Frames]:
    """Return the runs with each link that the table maps replaced by its main item, and no entity for times.

    A mention whose class has `time` in its name becomes NIL. Raises `BadInput` for a file that is no such table.
    """
    mapping = read_mapping(file)
    return {name: _map_items(_without_times(run), mapping) for name, run in runs.items()}


def relax_gold(gold: Frames, file: Path | str) -> Frames:
    """Return gold with each link that the table maps replaced by its main item; raises as `relax_runs`."""
    return _map_items(gold, read_mapping(file))


def _without_times(run: Frames) -> Frames:
    """Return a run whose mentions of times are NIL; links of parts of a time go with it, which is NIL as a whole."""
    times = run.annotations.join(run.classes.filter(pl.col("class").str.contains(_TIME)), on="annotation", how="semi")
    times = times.filter(pl.col("layer") == MAIN)
    of_times = run.annotations.join(times.select("document", first="begin", last="end"), on="document")
    within = of_times.filter((pl.col("begin") >= pl.col("first")) & (pl.col("end") <= pl.col("last")))
    parts = within.filter(pl.col("layer") == "NEL-LIT")["annotation"].implode()
    nil, own = times["annotation"].implode(), pl.col("annotation")
    found = replace(
        run,
        annotations=run.annotations.with_columns(pl.col("is_nil") | own.is_in(nil)),
        links=run.links.filter(~own.is_in(nil)),
        candidates=run.candidates.filter(~own.is_in(nil)),
        values=run.values.filter((pl.col("term") != RANKED) | ~pl.col("subject").is_in(nil)),
    )
    return found.keep(annotations=found.annotations.filter(~own.is_in(parts))["annotation"])


def _map_items(frames: Frames, mapping: Mapping[str, str]) -> Frames:
    """Return frames whose links lead to the main item of what they led to."""
    main = pl.col("item").replace(mapping)

    def map_links(links: pl.DataFrame) -> pl.DataFrame:
        item = pl.col("entity").str.extract(f"^http://www.wikidata.org/entity/({_ITEM})$", 1)
        links = links.with_columns(item=item)
        entity = pl.when(pl.col("item").is_not_null()).then(fill("http://www.wikidata.org/entity/{}", main))
        return links.with_columns(entity=pl.coalesce(entity, "entity")).drop("item")

    ranked = frames.values.filter(pl.col("term") == RANKED).with_row_index("row")
    items = ranked.select("row", item=pl.col("text").str.split("|")).explode("item").with_columns(main)
    spelt = items.group_by("row", maintain_order=True).agg(text=pl.col("item").str.join("|"))
    ranked = ranked.drop("text").join(spelt, on="row", maintain_order="left").select(frames.values.columns)
    mapped = replace(
        frames,
        links=map_links(frames.links).unique(["annotation", "entity"], maintain_order=True),
        candidates=map_links(frames.candidates),
        values=pl.concat([frames.values.filter(pl.col("term") != RANKED), ranked]),
    )
    return replace(mapped, values=pl.concat([mapped.values, _find_joined(mapped)], how="diagonal"))


def _find_joined(frames: Frames) -> pl.DataFrame:
    """Return values that mark the parts of a mention whose link is that of the part before, so that both are one.

    A file has a part of a mention for each of its links; two of them may be mapped to the same.
    """
    ranked = frames.values.filter(pl.col("term") == RANKED).select(annotation="subject", ranked="text")
    plain = frames.links.unique("annotation", keep="first").select("annotation", "entity")
    marked: list[pl.DataFrame] = []
    for layer, links in LAYERS.items():  # a layer without links has no parts
        parts = frames.annotations.filter(pl.col("layer") == links).select("annotation", "document", "begin", "end")
        whole = frames.annotations.filter(pl.col("layer").fill_null(MAIN) == layer).select(
            "document", "begin", mention="annotation", reach="end"
        )
        parts = parts.join(ranked, on="annotation", how="left").join(plain, on="annotation", how="left")
        placed = parts.sort("begin").join_asof(
            whole.sort("begin"), on="begin", by="document", strategy="backward", check_sortedness=False
        )
        inside = placed.filter(pl.col("end") <= pl.col("reach")).with_columns(
            said=pl.coalesce("ranked", "entity", pl.lit("NIL"))
        )
        again = (pl.col("said") == pl.col("said").shift()).over("mention")
        marked.append(inside.filter(again).select(subject="annotation", term=pl.lit(CONTINUED), text=pl.lit("true")))
    return pl.concat(marked)


KNOWN_WORLD = r"^http://((?:[a-z-]+\.)?dbpedia\.org/resource/|www\.wikidata\.org/entity/)"


def is_bare(entity: pl.Expr) -> pl.Expr:
    """Return whether an entity is no IRI but a name; the title `Batman: Year One` has no such beginning."""
    return ~entity.str.contains(r"^[A-Za-z][A-Za-z0-9+.-]*:[^%_]")


def with_titles_read(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
    """Return gold and runs with entities that are no IRIs (`Ada Lovelace`) read as titles of Wikipedia.

    A title is the resource of DBpedia that has it. That is so where any side names entities of DBpedia or Wikidata;
    where all names are bare they are compared as they are. How many were read is told.
    """
    sides = {"": gold, **runs}
    every = pl.concat([frames.links["entity"] for frames in sides.values()]).to_frame()
    if not every.select(is_bare(pl.col("entity")).any()).item():
        return gold, dict(runs)
    bare = {name: frames.links.select(is_bare(pl.col("entity"))).to_series() for name, frames in sides.items()}
    bare = {name: found for name, found in bare.items() if found.any()}
    if not any(frames.links["entity"].str.contains(KNOWN_WORLD).any() for frames in sides.values()):
        return gold, dict(runs)
    for name, found in bare.items():
        links = sides[name].links
        title = fill("http://dbpedia.org/resource/{}", pl.coalesce("entity_as_given", "entity").str.strip_chars())
        read = iris.canonical(links.select(title).to_series())
        links = links.with_columns(entity=pl.when(found).then(read).otherwise("entity"))
        sides[name] = replace(sides[name], links=links)
        first, side = links.filter(found).row(0, named=True), f"run '{name}'" if name else "gold"
        progress.note(
            f"{side}: {found.sum()} links are no IRIs and are read as titles, as '{first['entity_as_given']}' is "
            f"<{first['entity']}>"
        )
    return sides.pop(""), sides
