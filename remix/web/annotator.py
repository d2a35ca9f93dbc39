"""Systems of ours as NIF web services: POST of a context, with phrases in D2KB, as GERBIL calls annotators."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import polars as pl
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from remix.connections import Failure
from remix.errors import Error, MissingKnowledge
from remix.frames import Frames
from remix.systems import SYSTEMS, annotate
from remix.systems.asked import LinkedSpan, TextAnswer, TextAsked
from remix.systems.nif import TURTLE, read_context, write_context
from remix.web.endpoint import log_defect

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

_LARGEST = 1 << 24
"""The bytes of a request."""


def annotators(systems: Iterable[str], kb: KnowledgeBase | None, concurrent: int = 4) -> list[Route]:
    """Return a route for each system, `/annotate/NAME`, of which so many requests are answered at a time.

    Raises `UnknownName` for a system that is none of remix's own, `MissingKnowledge` where one needs a knowledge base.
    """
    found = [SYSTEMS[name] for name in systems]
    for one in found:
        if one.needs_kb and kb is None:
            raise MissingKnowledge(
                f"the system '{one.name}' needs a knowledge base: `remix kb attach NAME` attaches one"
            )
    turns = asyncio.Semaphore(concurrent)
    return [Route(f"/annotate/{one.name}", _responding(one.name, kb, turns), methods=["POST"]) for one in found]


def _responding(
    name: str, kb: KnowledgeBase | None, turns: asyncio.Semaphore
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def respond(http: Request) -> Response:
        """Return the context with what the system finds in it; 400 for what is no context."""
        try:
            body = b""
            async for block in http.stream():
                body += block
                if len(body) > _LARGEST:
                    return PlainTextResponse(f"a request has at most {_LARGEST:,} bytes\n", 413)
            media = http.headers.get("content-type", TURTLE).partition(";")[0].strip().lower()
            async with turns:
                made = await anyio.to_thread.run_sync(_annotate, name, kb, body, media)
        except Failure as failure:
            return PlainTextResponse(f"the request {str(failure).replace('answered', 'says', 1)}\n", 400)
        except Error as error:
            return PlainTextResponse(f"{error}\n", 500)
        except ClientDisconnect:
            return PlainTextResponse("", 408)
        except Exception as error:
            log_defect(error)
            return PlainTextResponse("the text could not be annotated, which is a defect of remix\n", 500)
        return Response(made, media_type=f"{TURTLE};charset=UTF-8")

    return respond


def _annotate(name: str, kb: KnowledgeBase | None, body: bytes, media: str) -> bytes:
    """Return the answer to a request, in Turtle; raises `Failure` for what is no context."""
    text = read_context(body, media)
    frames = frames_of_text(text)
    found = annotate(name, frames, kb, task="A2KB" if text.spans is None else "D2KB")
    links = found.links.group_by("annotation").agg(entities=pl.col("entity"))
    rows = found.annotations.join(links, on="annotation", how="left").sort("begin", "end")
    spans = tuple(
        LinkedSpan(begin, end, tuple(entities or ()), confidence)
        for begin, end, entities, confidence in rows.select("begin", "end", "entities", "confidence").iter_rows()
    )
    return write_context(text, TextAnswer(spans), iri=text.document)


def frames_of_text(text: TextAsked) -> Frames:
    """Return a text as frames of one document, in D2KB with an annotation for each of its spans."""
    documents = pl.DataFrame({"document": [text.document], "dataset": ["asked"], "text": [text.text]})
    rows = [
        (f"{text.document};{begin},{end}", text.document, "asked", begin, end, text.text[begin:end])
        for begin, end in text.spans or ()
    ]
    names = ["annotation", "document", "dataset", "begin", "end", "surface_form"]
    return Frames.of(documents=documents, annotations=pl.DataFrame(rows, schema=names, orient="row"))
