"""What is wrong in an address, and the page without it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from remix.errors import Error, QueryError, Timeout, UnknownName, UsageError, nearest
from remix.store.worker import Stopped
from remix.web.addresses import address
from remix.web.endpoint import status_of
from remix.web.forms import Form
from remix.web.page import Drawing, Explored, Note, Page, Shown, Table, View, WrongAddress, WrongValue

_TRIES = 6
"""Choices that are left out one after another, and parameters that are tried where an error names none."""


def do_without(
    work: Explored, view: View, parameters: Mapping[str, str], error: Error
) -> tuple[Page, Mapping[str, str], int]:
    """Return the page without the choices that are wrong, which it says, what is left of its address, and the status.

    That is 404 where the subject of the view is missing. Where there is no page without what is wrong, it has the
    error, the nearest subjects and the form of the view as it is at first.
    """
    left, wrong, dropped = dict(parameters), error, list[Error]()
    missing = _find_subject(view, parameters, error)
    while not missing and _is_choice(wrong) and left and len(dropped) < _TRIES:
        dropped.append(wrong)
        named = _leave_out_named(left, str(getattr(wrong, "name", "")), str(getattr(wrong, "of", "")))
        for fewer in [named] if named is not None else _leave_out_one(left):
            left = fewer
            try:
                page = view.show(work, left)
            except Error as again:
                wrong = again
                continue
            status = 404 if any(parameters.get(name) != left.get(name) for name in view.subject) else 200
            unknown = find_misnamed(work, view, left)
            told = [*unknown.values(), *dropped, *page.dropped, *list_unfit(page, left)]
            known = {name: value for name, value in left.items() if name not in unknown}
            return replace(page, dropped=told), known, status
        if named is None:
            break
    shown: list[Shown] = []
    # What the page is about that is there stays in the form.
    before = view.subject[: view.subject.index(missing)] if missing else ()
    about = {name: parameters[name] for name in before if parameters.get(name)}
    with contextlib.suppress(Error):
        shown = [block for block in view.show(work, about or view.example(work)).blocks if isinstance(block, Form)]
    title = "Not found" if status_of_error(error) == 404 else "Not possible"
    title = view.title if _names_none(view, parameters, error) else title
    near = dict[str, str]()
    if view.subject and isinstance(error, UnknownName) and (missing or not error.name):
        kept = parameters if missing else {}
        near = {one: address(view.name, **{**kept, missing or view.subject[0]: one}) for one in error.alike}
    begin = Note("", links={f"{view.title}, from the beginning": f"/{view.name}"} if view.menu else {})
    lead = [Note("There is:", links=near)] if near else []
    return Page(title, [Note(tell_error(view, parameters, error)), *lead, *shown, begin]), {}, status_of_error(error)


def tell_error(view: View, parameters: Mapping[str, str], error: Error) -> str:
    """Return what is wrong in an address of a view: where it names nothing that the page could be about, just that."""
    if not _names_none(view, parameters, error):
        return str(error)
    place = address(view.name, **{view.subject[0]: "NAME"})
    return f"this page is about one {getattr(error, 'kind', 'thing')}, and its address names none: `{place}` does"


def _names_none(view: View, parameters: Mapping[str, str], error: Error) -> bool:
    subject = next((parameters.get(name, "") for name in view.subject), None)
    return subject == "" and isinstance(error, UnknownName) and not error.name


def _find_subject(view: View, parameters: Mapping[str, str], error: Error) -> str:
    """Return the parameter of what a page is about that the error says is unknown, for which nothing else stands."""
    said = error.name if isinstance(error, UnknownName) else ""
    return next((name for name in view.subject if said and parameters.get(name) == said), "")


def _is_choice(error: Error) -> bool:
    """Return whether an error is of something that was chosen, without which there may be a page."""
    return isinstance(error, UsageError) and not isinstance(error, QueryError | Timeout | Stopped)


def _leave_out_named(parameters: Mapping[str, str], named: str, of: str = "") -> dict[str, str] | None:
    """Return parameters without the value that is named, of a list without this one; None where none has it.

    It is looked for in the parameter `of`, if that is known, else in all.
    """
    for name, said in parameters.items():
        if of not in ("", name):
            continue
        if named and named in (said, *(values := said.split(","))):
            rest = ",".join(value for value in values if value != named) if named != said else ""
            return {one: value for one, value in {**parameters, name: rest}.items() if value or one != name}
    return None


def _leave_out_one(parameters: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give parameters without what may be wrong where no error names it: without one, the last first, without any."""
    for gone in [*reversed(list(parameters))][:_TRIES]:
        yield {name: said for name, said in parameters.items() if name != gone}
    yield {}


_OF_TABLES = ("sort", "at", "open", "table", "columns", "figure", "width", "sheet")
"""What an address of any view may say of its tables and figures, beside `rows.TABLE`."""
_OF_OTHERS = r"utm_|(fbclid|gclid|msclkid)$"
"""How names begin that others put behind an address that they lead to, which mean nothing here."""


def find_misnamed(work: Explored, view: View, parameters: Mapping[str, str]) -> dict[str, WrongAddress]:
    """Return what is said of names in an address that the view does not know, such as a misspelt filter, by name."""
    if view.parameters is None:
        return {}
    every = [*view.parameters, *_OF_TABLES, *view.further(work, parameters)]
    return {
        name: WrongAddress(f"{view.title} has no parameter '{name}'{_find_nearest(name, every, view.parameters)}")
        for name, value in parameters.items()
        if value and name not in every and not name.startswith("rows.") and not re.match(_OF_OTHERS, name)
    }


def _find_nearest(name: str, every: Sequence[str], first: Sequence[str]) -> str:
    """Return a hint at the nearest of all names; where none is near, at those that come `first`."""
    near = nearest(name, every)
    return near if near.endswith("?") else nearest(name, first)


def list_unfit(page: Page, parameters: Mapping[str, str]) -> Iterator[UsageError]:
    """Give what is wrong in that which an address says of tables: their order, columns, rows and what is opened."""
    if page.error is not None or page.refresh or page.faults:  # then there are fewer tables than there will be
        return
    tables = page.tables
    names = {block.name for block in (*page.blocks, *page.beside) if isinstance(block, Table | Drawing)}
    for key, chosen in (("sort", parameters.get("sort", "").removeprefix("-")), ("at", parameters.get("at", ""))):
        name, _, said = chosen.partition(":")
        if chosen and name not in tables:
            yield UnknownName("table of this page", name, tables)
        elif key == "sort" and chosen and said not in tables[name].columns:
            yield UnknownName(f"column of {name}", said, tables[name].columns)
        elif chosen and key == "at" and not (re.fullmatch("[0-9]{1,9}", said) and int(said) <= tables[name].height):
            yield UsageError(f"no row {said} in {name}, which has {tables[name].height}")
    for said in filter(None, parameters.get("open", "").split(",")):
        if said not in names:
            yield UnknownName("table or figure of this page", said, names)
    chosen = parameters.get("table", "")
    if chosen and chosen not in tables:
        yield UnknownName("table", chosen, tables)
    known = {name for table in ([tables[chosen]] if chosen in tables else tables.values()) for name in table.columns}
    for said in filter(None, parameters.get("columns", "").split(",") if tables else ()):
        if said not in known:
            yield UnknownName(f"column of the table{f' {chosen}' if chosen else ''}", said, known)
    for said in (name.removeprefix("rows.") for name in parameters if name.startswith("rows.")):
        if said not in tables:
            yield UnknownName("table of this page", said, tables)


def status_of_error(error: Error) -> int:
    """Return the status of a page that an error is told on."""
    if isinstance(error, QueryError | Timeout | Stopped):
        return status_of(error)
    return 404 if isinstance(error, UnknownName | UsageError) and not isinstance(error, WrongValue) else 400
