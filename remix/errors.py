"""The errors that remix raises, as one tree.

    Error                  anything that remix itself has to say; exit code 1
    ├── UsageError         wrong option, value or combination; exit code 2
    │   ├── UnknownName    no dataset, query, measure, … of that name
    │   ├── Faults         all that is wrong in a file or a definition, a line each
    │   └── QueryError     a query that does not parse, or cannot be answered as it is put
    │       └── NotAllowed a query that would change data, or asks an endpoint that is not allowed
    ├── BadInput           a file that cannot be read as what it should be
    │   └── Unforeseen     a file that a reader stumbles over in a way that nobody foresaw: worth reporting
    ├── StoreError         the workspace cannot be read or written as asked
    ├── MissingKnowledge   a measure or system needs a knowledge base that is not attached
    ├── EmptySelection     a query that selects nothing
    └── Timeout            a query that ran longer than it may

Every message but that of `Faults` is one line: the thing, where, the nearest known alternative, what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known names closest to a name, or an empty string.

    >>> nearest("densty", ["density", "prominence"])
    "; did you mean 'density'?"
    >>> nearest("x", [])
    ''
    """
    import difflib

    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; known: {shown}"


def nearest_of(name: str, groups: Mapping[str, Iterable[str]]) -> str:
    """Return the known names closest to a name, nearest first, then the first of each group.

    >>> nearest_of("prominence", {"columns": ["class"], "measures": ["density", "prominenceSegment"]})
    '; nearest: prominenceSegment; columns: class; measures: density, prominenceSegment'
    """
    import difflib

    known = {group: sorted(set(names)) for group, names in groups.items()}
    every = sorted({one for names in known.values() for one in names})
    alike = difflib.get_close_matches(name, every, n=5, cutoff=0.6)
    inside = [one for one in every if name.lower() in one.lower() or one.lower() in name.lower()]
    near = list(dict.fromkeys([*alike, *inside]))[:5]
    hint = f"; nearest: {', '.join(near)}" if near else ""
    listed = {group: ", ".join(names[:12]) + (", …" if len(names) > 12 else "") for group, names in known.items()}
    return hint + "".join(f"; {group}: {names}" for group, names in listed.items() if names)


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of a library in Rust, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


class Error(Exception):
    """Anything that remix itself has to say to its user."""

    exit_code = 1


class UsageError(Error):
    """A wrong option, value or combination of them."""

    exit_code = 2


class UnknownName(UsageError):
    """No part of that kind has that name; known ones are listed as they are or by `groups`, `alike` are the nearest.

    >>> str(UnknownName("query", "persns", ["persons", "places"], "remix list queries"))
    "no query named 'persns'; did you mean 'persons'? `remix list queries` shows all"
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str] = (),
        command: str = "",
        *,
        does: str = "shows all",
        groups: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        known = tuple(known)
        hint = nearest(name, known) if groups is None else nearest_of(name, groups)
        more = f"{'' if hint.endswith('?') else ';'} `{command}` {does}" if command else ""
        super().__init__(f"no {kind} named '{name}'{hint}{more}")
        self.kind = kind
        self.name = name
        self._known = known

    @property
    def alike(self) -> list[str]:
        """Return the known names that are nearest, the nearest first, or the first of all where none is near."""
        import difflib

        known = sorted({*self._known})
        return difflib.get_close_matches(self.name, known, n=5, cutoff=0.4) or known[:12]


class Faults(UsageError):
    """All that is wrong in one thing, a line each under a line that names it: the only message of several lines.

    >>> print(Faults("study 'mine'", ["by: 'clas' is no column", "seed: it is 0 or more, not -1"]))
    study 'mine' has 2 faults:
    - by: 'clas' is no column
    - seed: it is 0 or more, not -1
    """

    def __init__(self, place: object, faults: Iterable[str]) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        number = f"{len(self.faults)} faults" if len(self.faults) > 1 else "a fault"
        super().__init__("\n".join([f"{place} has {number}:", *(f"- {fault}" for fault in self.faults)]))


class QueryError(UsageError):
    """A query that does not parse, or that cannot be answered as it is put."""


class NotAllowed(QueryError):
    """A query that would change data, or asks an endpoint that is not allowed."""


class BadInput(Error):
    """A file that cannot be read as what it should be; names file, line, column where known.

    >>> str(BadInput("a.ttl", "a dot is expected", line=7, column=3))
    'a.ttl:7:3: a dot is expected'
    """

    def __init__(self, file: object, reason: str, *, line: int | None = None, column: int | None = None) -> None:
        place = "".join(f":{n}" for n in (line, column) if n is not None)
        # What is quoted out of a file may have line ends.
        super().__init__(" ".join(f"{file}{place}: {reason}".splitlines()))
        self.file = str(file)
        self.reason = reason
        self.line = line
        self.column = column


class Unforeseen(BadInput):
    """A file that a reader stumbles over in a way that nobody foresaw: a defect of the reader, worth reporting.

    >>> str(Unforeseen("a.json", KeyError("text")))
    "a.json: cannot be read (KeyError: 'text'); nobody foresaw this: please report it with the file and --debug"
    """

    def __init__(self, file: object, cause: BaseException) -> None:
        said = " ".join(f"{type(cause).__name__}: {cause}".split())[:300]
        advice = "nobody foresaw this: please report it with the file and --debug"
        super().__init__(file, f"cannot be read ({said}); {advice}", line=getattr(cause, "lineno", None))


class StoreError(Error):
    """The workspace cannot be read or written as asked."""


class MissingKnowledge(Error):
    """A measure or a system needs a knowledge base, or a part of one, that is not attached."""


class EmptySelection(Error):
    """A query that selects nothing."""


class Timeout(Error):
    """A query that ran longer than it may."""


NO_BOOTSTRAP = (
    "--bootstrap N is --intervals now: intervals are made by leaving documents out, as a bootstrap's are too narrow on "
    "few documents; --samples N says by how many draws slices are tested"
)
"""What is said to those who ask for a bootstrap."""
