"""Which of ELEVANT's kinds of JSON Lines a file is of, told from its content."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["ARTICLES", "SIMPLE", "kind_of"]

ARTICLES, SIMPLE = "articles", "simple"

_LINES = 20
_BEGINS_ARTICLE = re.compile(rb'\s*\{\s*"id"\s*:\s*\d+\s*,\s*"title"\s*:')
_HAS_SPANS = re.compile(rb'"(?:labels|entity_mentions)"\s*:\s*\[\s*\{[^{}\]]*"(?:id|span)"|"evaluation_span"\s*:')
_HAS_OFFSETS = re.compile(rb'"(?:labels|predictions)"\s*:\s*\[\s*\{[^{}\]]*"start_char"')


def kind_of(head: bytes) -> str:
    """Return 'articles' (benchmarks, linked articles), 'simple', or nothing for what is neither.

    The first lines that are whole decide, by the first mention there is; without one, articles have a number. Lines
    that are too long or broken are told by what they begin with.

    >>> kind_of(b'{"id": 0, "title": "t", "text": "x", "labels": []}'), kind_of(b'{"text": "x", "labels": []}')
    ('articles', 'simple')
    """
    whole = [line for line in head.splitlines()[:_LINES] if line.strip()]
    found = [kind for line in whole if (kind := _kind(line))]
    certain = [kind for kind in found if not kind.startswith("?")]
    return (certain or found or [""])[0].removeprefix("?")


def _kind(line: bytes) -> str:
    """Return the kind of a line, behind a question mark where it has no mention to tell."""
    try:
        article = json.loads(line)
    except (ValueError, RecursionError):
        if not line.lstrip().startswith(b"{"):
            return ""
        if _HAS_OFFSETS.search(line):
            return SIMPLE
        return ARTICLES if _HAS_SPANS.search(line) else f"?{ARTICLES}" if _BEGINS_ARTICLE.match(line) else ""
    return _kind_of_article(article) if isinstance(article, dict) else ""


def _kind_of_article(article: dict[str, Any]) -> str:
    if "text" in article and ("entity_mentions" in article or "evaluation_span" in article):
        return ARTICLES
    listed = article.get("predictions", article.get("labels"))
    first = listed[0] if isinstance(listed, list) and listed else None
    if isinstance(first, dict):
        return SIMPLE if "start_char" in first else ARTICLES if "span" in first and "text" in article else ""
    if listed is not None:
        return SIMPLE if "predictions" in article else f"?{ARTICLES if 'id' in article else SIMPLE}"
    return f"?{ARTICLES}" if {"id", "title", "text"} <= article.keys() else ""
