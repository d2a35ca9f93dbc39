"""NIL: the system gets the text; spans of mentions without an entity are compared (EUEF's NM)."""

from dataclasses import replace

from remix.scoring.tasks import narrowed
from remix.scoring.tasks.erec import erec

nil = replace(narrowed(erec, "nil"), name="NIL", summary="text given; spans of mentions without an entity compared")
