"""NIF web services, as GERBIL calls them: POST of a context in Turtle, with phrases in D2KB; any RDF comes back."""

from __future__ import annotations

from dataclasses import dataclass

from remix.systems.asked import Adapter, Asking, TextAnswer, TextAsked
from remix.systems.exchange import Connection
from remix.systems.nif import TURTLE, read_answer, write_context

_HEADERS = {"Content-Type": f"{TURTLE};charset=UTF-8", "Accept": TURTLE, "Accept-Charset": "UTF-8"}


@dataclass(frozen=True)
class NifParameters:
    """What its user says of the version of the service, which no NIF says."""

    revision: str = ""


class _NifAsker:
    def __init__(self, asking: Asking) -> None:
        self._connection = Connection(asking.address, timeout=asking.timeout)

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return what the NIF says that the service answers; raises `remix.connections.Failure` where there is none."""
        received = self._connection.send(headers=_HEADERS, body=write_context(text))
        return read_answer(received.body, received.media, text)

    def close(self) -> None:
        """End the connection to the service."""
        self._connection.close()


nif = Adapter("nif", "a NIF web service, any that GERBIL can call", _NifAsker, NifParameters)
