"""Findings as SARIF 2.1.0, which editors and code hosts show."""

from __future__ import annotations

import json

import polars as pl

from remix._version import __version__
from remix.checks.declaration import RULES

__all__ = ["to_sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(findings: pl.DataFrame) -> str:
    """Return the findings (`check` with `each`) as a SARIF log with one run.

    A finding's place is its file and, as the text is no line of it, the annotation or document by its name.
    """
    told = findings["rule"].unique(maintain_order=True).to_list()
    rules = [
        {"id": rule.name, "shortDescription": {"text": rule.summary}, "help": {"text": rule.fix}}
        for rule in RULES
        if rule.name in told
    ]
    results = [_result(row) for row in findings.iter_rows(named=True)]
    driver = {"name": "remix", "version": __version__, "rules": rules}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, ensure_ascii=False, indent=1)


def _result(row: dict[str, object]) -> dict[str, object]:
    place: dict[str, object] = {"physicalLocation": {"artifactLocation": {"uri": row["file"]}}}
    if name := row["annotation"] or row["document"]:
        place["logicalLocations"] = [{"fullyQualifiedName": name}]
    message = {"text": row["what"] or row["rule"]}
    return {"ruleId": row["rule"], "level": row["severity"], "message": message, "locations": [place]}
