"""Forms of pages: what they ask for, and the choices that make the address of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from remix.errors import UnknownName
from remix.web.page import Shown


@dataclass(frozen=True)
class Field:
    """What a form asks for: the parameter's name, what it is called, and what is chosen now.

    `look` is `choice` (one of `values`), `many` (any of `values`, `chosen` has those apart by commas), `text`, `area`
    (several lines), or `range` (a number from `low` to `high` in steps). `words` are what values are called, where that
    is not what they are; `values` of a text are suggested. A long list of
    `many` is folded unless it is `unfolded`. A choice that is `rare` stands folded with others that are, unless one of
    them is not what it is by itself (`default`). `fault` says what is wrong with what is chosen.
    """

    name: str
    label: str
    chosen: str = ""
    values: Sequence[str] = ()
    look: str = "text"
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    explained: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    unfolded: bool = False
    fault: str = ""
    rare: bool = False
    default: str = ""


def choose(
    name: str,
    label: str,
    values: Iterable[str],
    chosen: str,
    explained: str = "",
    *,
    what: str = "",
    command: str = "",
    words: Mapping[str, str] | None = None,
    nothing: str = "(any)",
) -> Field:
    """Return the field of one choice among values, called by `words`, of which the empty one is shown as `nothing`.

    Where these are all that there are of a kind (`what`), raises `UnknownName` for another, which names the `command`
    that lists them.
    """
    known = tuple(values)
    if what and chosen not in known:
        raise UnknownName(what, chosen, filter(None, known), command)
    return Field(name, label, chosen, known, "choice", explained=explained, words={"": nothing, **(words or {})})


def choose_several(
    name: str,
    label: str,
    values: Iterable[str],
    chosen: Sequence[str],
    *,
    words: Mapping[str, str] | None = None,
    unfolded: bool = False,
) -> Field:
    """Return the field of any of the values: those that are chosen first, in their order, in which a form sends them.

    >>> choose_several("datasets", "datasets", ["a", "b", "c"], ["c", "a"]).values
    ['c', 'a', 'b']
    """
    every = list(values)
    first = [one for one in chosen if one in every]
    ordered = [*first, *(one for one in every if one not in first)]
    return Field(name, label, ",".join(chosen), ordered, "many", words=words or {}, unfolded=unfolded)


@dataclass(frozen=True)
class Form(Shown):
    """Choices that make the address of the page.

    With `live`, a browser that runs scripts shows what they lead to while they change.
    """

    fields: Sequence[Field]
    button: str = "Show"
    live: bool = False

    @property
    def unfolded(self) -> bool:
        """Return whether a choice among those that are rare is another than by itself."""
        return any(one.rare and one.chosen != one.default for one in self.fields)
