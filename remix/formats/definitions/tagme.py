"""Answers of TagMe and WAT: the JSON of their web services, one answer a file or one a line.

An answer is `{"annotations": [{"start": 0, "end": 5, "spot": …, "title": …, "rho": …}], "lang": "en"}`; `rho` is the
confidence, `title` an article of the Wikipedia of that language. The services repeat neither the text nor its name: a
line may have them as `text` and `document`, otherwise the document is called by its place in the file (a single answer
by the file), offsets are taken as they are, and gold gives the text. Offsets are code points, end exclusive.
Source: documentation of the TagMe API and of the WAT API (SoBigData).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.files import stem, written
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.json import json_text, json_value
from remix.formats.losses import loss_of
from remix.formats.mends import Mends
from remix.formats.mentions import MentionTables, assemble, flatten, label_documents
from remix.formats.tables import parse_rows
from remix.frames import Frames

_FIELDS = {"start": "begin", "end": "end", "spot": "surface_form", "title": "title", "rho": "confidence"}
_WIKIPEDIA = r"^http://(?:([a-z-]+)\.)?dbpedia\.org/resource/"


def _is_tagme(head: bytes, name: str) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"{") or b'"passages"' in start or re.search(rb'"annotations"\s*:\s*\[', start) is None:
        return False
    return re.search(rb'"(spot|rho|api|lang|timestamp)"\s*:|"annotations"\s*:\s*\[\s*\]', start) is not None


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    answers = _answers(source, json_text(source.read(), mends), mends)
    documents, rows = [], []
    for number, (line, answer) in enumerate(answers, 1):
        alone = stem(source.name) if len(answers) == 1 else str(number)
        name = str(answer.get("document", alone))
        if odd := next((key for key in ("text", "lang") if not isinstance(answer.get(key), str | None)), None):
            raise BadInput(source.name, f"'{odd}' is a text, not {json.dumps(answer[odd])[:60]}", line=line)
        documents.append((name, answer.get("text"), answer.get("lang")))
        for one in answer["annotations"]:
            if not isinstance(one, dict):
                raise BadInput(source.name, "an annotation is expected, as a JSON object", line=line)
            row = {ours: None if one.get(theirs) is None else str(one[theirs]) for theirs, ours in _FIELDS.items()}
            rows.append({**row, "line": line, "document": name, "language": answer.get("lang")})
    names = ["line", "document", "language", *_FIELDS.values()]
    table = pl.DataFrame(rows, schema={name: pl.Int64 if name == "line" else pl.String for name in names})
    listed = parse_rows(source.name, table.with_columns(entity="title"), mends)
    listed = listed.with_row_index("mention").with_columns(pl.col("mention").cast(pl.Int64))
    edition = pl.col("language").fill_null("en")
    link = pl.format("http://{}.wikipedia.org/wiki/{}", edition, pl.col("title").str.replace_all(" ", "_"))
    read = MentionTables(
        documents=pl.DataFrame(documents, schema=dict.fromkeys(["name", "text", "language"], pl.String), orient="row"),
        mentions=listed.rename({"document": "name", "surface_form": "anchor"}),
        links=listed.select("mention", identifier=link).drop_nulls(),
        mends=mends,
    )
    return assemble(read, dataset)


def _answers(source: SourceFile, text: str, mends: Mends) -> list[tuple[int, dict[str, Any]]]:
    """Return the answers with the lines they begin at: one for the whole file, or one a line."""
    try:
        found = [(1, json_value(source.name, text))]
    except BadInput as whole:
        found = []
        for number, line in enumerate(text.split("\n"), 1):
            try:
                found += [(number, json_value(source.name, line, line=number))] if line.strip() else []
            except BadInput as error:
                # A file that is one answer is broken where its own parser says.
                raise (error if found else whole) from None
    for number, answer in found:
        if isinstance(answer, dict) and answer.get("error") and "annotations" not in answer:
            mends.add("failed", f"line {number}: {' '.join(str(answer['error']).split())[:100]}")
            answer["annotations"] = []
        if not isinstance(answer, dict) or not isinstance(answer.get("annotations"), list):
            raise BadInput(source.name, 'an answer is a JSON object with "annotations", a list', line=number)
    return found


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, r"^[^\x00]+$")
    rows = flatten(frames).with_columns(entity=pl.col("identifiers").list.first())
    canonical = rows.select("annotation").join(frames.links, on="annotation", how="left", maintain_order="left")
    canonical = canonical.unique("annotation", keep="first", maintain_order=True).select(
        "annotation", canonical="entity"
    )
    rows = rows.join(canonical, on="annotation", maintain_order="left").join(
        frames.documents.select("document", "language"), on="document", maintain_order="left"
    )
    edition = pl.coalesce(pl.col("canonical").str.extract(_WIKIPEDIA, 1), pl.lit("en"))
    titled = pl.col("canonical").str.contains(_WIKIPEDIA) & (edition == pl.col("language").fill_null("en"))
    other = rows.filter(~titled.fill_null(False))["annotation"]
    losses += loss_of("entities", other)
    kept = rows.filter(titled).select(
        "document",
        answer=pl.struct(
            pl.col("begin").alias("start"),
            "end",
            pl.col("surface_form").alias("spot"),
            pl.col("canonical").str.replace(_WIKIPEDIA, "").str.replace_all("_", " ").alias("title"),
            pl.col("confidence").alias("rho"),
        ),
    )
    answers = kept.group_by("document", maintain_order=True).agg(annotations="answer")
    whole = names.sort("label")
    whole = whole.join(answers, on="document", how="left", maintain_order="left")
    with written(path) as stream:
        for row in whole.select("label", "text", "language", "annotations").iter_rows(named=True):
            answer = {
                "document": row["label"],
                "text": row["text"],
                "lang": row["language"],
                "annotations": row["annotations"] or [],
            }
            told = {key: value for key, value in answer.items() if value is not None}
            stream.write((json.dumps(told, ensure_ascii=False) + "\n").encode())
    return losses


tagme = Format(
    name="tagme",
    summary="answers of TagMe and WAT (JSON, one answer a file or a line)",
    suffixes=(".json", ".jsonl"),
    sniff=_is_tagme,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "languages", "confidence", "unannotated"}),
)
