"""Published scores of entities: PageRank and HITS as RDF or as TSV.

RDF is line-based, or small Turtle: `vrank:hasRank` with `vrank:rankValue` of a blank node (a bracketed one, too, as
the published PageRank of DBpedia has it), `vrank:pagerank`, `dbo:wikiPageRank`, `hfts:pagerank`, `hfts:hits`. TSV is
entity, pagerank, hits, hub in this order, or as a header says. A row has what one triple or line says of an entity;
what is not said is null.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.files import read_bytes
from remix.iris import canonical
from remix.kb.dumps import (
    check_file,
    entity_iris,
    excerpts,
    field,
    file_part,
    read_beginning,
    read_fields,
    read_statements,
)
from remix.kb.dumps.statements import Pattern
from remix.kb.prominence import SCORES
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import Staging
from remix.names import DBO, HFTS, HFTS_OLD

_VRANK = "http://purl.org/voc/vrank#"
_HAS_RANK, _VALUE = _VRANK + "hasRank", _VRANK + "rankValue"
_PREDICATES = {
    _VRANK + "pagerank": "pagerank",
    DBO + "wikiPageRank": "pagerank",
    **{base + term: term for base in (HFTS, HFTS_OLD) for term in ("pagerank", "hits")},
}
_WANTED = [_HAS_RANK, _VALUE, *_PREDICATES]
_LARGEST = 1 << 28
_RDF_NAMES = (".nt", ".ttl", ".nq", ".tql", ".n3")


def _parts(place: str, choices: Choices) -> list[Part]:
    return [file_part(check_file(place, "scores"), choices, _read)]


def _is_rdf(path: Path, text: str) -> bool:
    named = any(suffix.lower() in _RDF_NAMES for suffix in path.suffixes)
    return named or any(term in text for term in ("vrank#", "wikiPageRank>", "hfts.ttl#", "nif-ext.ttl#"))


def _read(path: Path, choices: Choices, staging: Staging) -> None:
    text = read_beginning(path)
    with staging:
        if not _is_rdf(path, text):
            _read_fields(path, choices, staging)
        elif _is_line_based(text):
            _take_triples((found.rows for found in read_statements(path, Pattern(_WANTED), staging)), staging, path)
        else:
            _take_triples(iter([_parse_turtle(path)]), staging, path)
    if not staging.rows:
        raise BadInput(path, "has no score of an entity: give TSV of entity and pagerank, or RDF of vrank or hfts")


def _is_line_based(text: str) -> bool:
    # The last line may be cut off where the beginning of the file ends.
    lines = text.splitlines()[:-1] or text.splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    return all(line.startswith(("<", "_:")) and line.rstrip().endswith(".") and "[" not in line for line in lines)


def _take_triples(blocks: Iterator[pl.DataFrame], staging: Staging, path: Path) -> None:
    """Stage the scores of blocks of subject, predicate and object; a node and its value may stand in different ones."""
    nodes = pl.DataFrame(schema={"node": pl.String, "entity": pl.String})
    values = pl.DataFrame(schema={"node": pl.String, "number": pl.Float64})
    for rows in blocks:
        triples = rows.with_columns(number=_number(pl.col("object")))
        named_directly = ~pl.col("subject").str.starts_with("_:")
        direct = triples.filter(pl.col("predicate").is_in(list(_PREDICATES)) & named_directly)
        _take(direct.select("predicate", "number", entity="subject"), staging, path)
        named = triples.filter(pl.col("predicate") == _HAS_RANK)
        nodes = pl.concat([nodes, named.select(node="object", entity="subject")])
        valued = triples.filter(pl.col("predicate") == _VALUE)
        values = pl.concat([values, valued.select("number", node="subject").select("node", "number")])
        # What has both is done; the others wait for a later block.
        both = nodes.join(values, on="node", maintain_order="left")
        _take(both.select("entity", "number", predicate=pl.lit(_VRANK + "pagerank")), staging, path)
        nodes = nodes.join(both, on="node", how="anti", maintain_order="left")
        values = values.join(both, on="node", how="anti", maintain_order="left")
    if nodes.height:
        staging.problem("a rank without a value", nodes.height, nodes["entity"].head(10), place=path)


def _number(text: pl.Expr) -> pl.Expr:
    # NaN would come first in every ranking; neither it nor infinity nor a negative number is a score.
    number = text.str.strip_chars().cast(pl.Float64, strict=False)
    return pl.when(number.is_finite() & (number >= 0)).then(number)


def _take(triples: pl.DataFrame, staging: Staging, path: Path) -> None:
    unfit = triples.filter(pl.col("number").is_null())["entity"]
    staging.problem("a score that is no number from 0", len(unfit), unfit.head(10), place=path)
    known = triples.drop_nulls("number").with_columns(pl.col("predicate").replace_strict(_PREDICATES, default=None))
    entity = canonical(known["entity"])
    scores = [pl.when(pl.col("predicate") == score).then("number").alias(score) for score in SCORES]
    staging.add("scores", known.select(entity, *scores, source=pl.lit("published")))


def _parse_turtle(path: Path) -> pl.DataFrame:
    """Return subject, predicate and object of Turtle that is not one triple a line, read as a whole."""
    import pyoxigraph as ox

    content = read_bytes(path)
    if len(content) > _LARGEST:
        raise BadInput(path, "is Turtle of more than 256 MB that is not one triple a line: convert it to N-Triples")

    def write_term(term: object) -> str:
        return str(term) if isinstance(term, ox.BlankNode) else str(getattr(term, "value", term))

    try:
        found = [
            (write_term(quad.subject), quad.predicate.value, write_term(quad.object))
            for quad in ox.parse(content, format=ox.RdfFormat.TURTLE)
            if quad.predicate.value in _WANTED
        ]
    except SyntaxError as error:
        raise BadInput(path, f"is neither Turtle nor one triple a line ({error})") from None
    return pl.DataFrame(found, schema=dict.fromkeys(("subject", "predicate", "object"), pl.String), orient="row")


def _read_fields(path: Path, choices: Choices, staging: Staging) -> None:
    order: dict[str, int] = {}
    for lines in read_fields(path, staging):
        if not order and lines.height:
            order, headed = _order(lines)
            lines = lines.slice(int(headed))
        number = {
            score: _number(field(order[score])) if score in order else pl.lit(None, pl.Float64) for score in SCORES
        }
        read = lines.select("line", "text", entity=field(order.get("entity", 0)), **number)
        sound = (pl.col("entity") != "") & pl.any_horizontal(pl.col(score).is_not_null() for score in SCORES)
        wrong = read.filter(~sound.fill_null(False))
        staging.problem("a line that has no entity and score", wrong.height, excerpts(path, wrong), place=path)
        kept = read.filter(sound.fill_null(False))
        iris = entity_iris(kept["entity"], choices.languages[0])
        staging.add("scores", kept.select(*SCORES, entity=iris, source=pl.lit("published")))


def _order(lines: pl.DataFrame) -> tuple[dict[str, int], bool]:
    """Return where entity and scores stand, and whether the first line is a header."""
    names = ("entity", *SCORES)
    first = [name.strip().lower() for name in lines["fields"][0]]
    known = {name: first.index(name) for name in SCORES if name in first}
    if known:
        rest = [number for number in range(len(first)) if number not in known.values()]
        return {"entity": rest[0] if rest else 0, **known}, True
    headed = lines.head(1).select(field(1).cast(pl.Float64, strict=False).is_null()).item() and lines.height > 1
    return {name: number for number, name in enumerate(names) if number < len(first)}, bool(headed)


SOURCE = Source("scores", "Published PageRank and HITS as RDF or TSV", _parts)
