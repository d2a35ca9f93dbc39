"""The first page: what the workspace holds, what to do with it, what changed last, and what is out of date."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.kb import usable_kb
from remix.reports.holdings import Holdings, list_changes, list_outdated, propose_commands, read_holdings
from remix.runs.known import kinds_of, known_runs
from remix.web import page
from remix.web.addresses import address

_CHANGES = 8
"""Changes that are shown, the latest."""
_ALL = "all"
"""What an address says for all changes."""
_NAMES = 3
"""Names that a tile lists."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    held = read_holdings(work.store)
    rows, places = _count(work, held)
    tiles = page.Tiles("here", rows, {"number": lambda row: places[row["what"]]}, title="What is here")
    kb, broken = usable_kb(work.store)
    outdated = list_outdated(work.store, kb, held) if held.datasets and not broken else {}
    if broken:
        outdated[f"{broken[0].upper()}{broken[1:]}."] = ["remix kb attach", "remix kb build"]
    stale = [page.Steps("stale", "What is out of date", _note(outdated))] if outdated else []
    proposed = page.Steps("next", "What to do next", _note(propose_commands(held)))
    changes, dropped = list_changes(work.store, held), list[UsageError]()
    if (said := parameters.get("changes")) and said != _ALL:
        dropped.append(UnknownName("choice of 'changes'", said, [_ALL]))
    blocks: list[page.Shown] = [tiles, _list_tasks(held)]
    if changes.height:
        every = parameters.get("changes") == _ALL or changes.height <= _CHANGES
        shown = changes if every else changes.head(_CHANGES)
        blocks.append(page.Table("changes", shown, title="What changed last"))
        if not every:
            links = {"all of them": f"{address('start', changes=_ALL)}#changes"}
            blocks.append(page.Note(f"These are the last {_CHANGES} of {changes.height} changes.", links=links))
    return page.Page("What is here", blocks, [*stale, proposed], dropped=dropped)


def _note(said: dict[str, list[str]]) -> list[page.Note]:
    return [page.Note(words, commands) for words, commands in said.items()]


def _count(work: page.Explored, held: Holdings) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return what there is of each kind, how many and what is said of them, and the addresses that they lead to."""
    sizes = page.measure_datasets(work).values()
    total = {name: sum(one[name] for one in sizes) for name in ("documents", "mentions", "annotations")}
    more = (
        f"{total['annotations']:,} annotations with alternatives" if total["annotations"] != total["mentions"] else ""
    )
    kinds = kinds_of(known_runs(work.store))
    systems = [name for name in held.systems if kinds.get(name, "system") == "system"]
    others = [name for name in held.systems if name not in systems]
    beside = f"{'; ' * bool(systems)}beside them {_name(others)}, which are baselines or oracles" if others else ""
    rows = [
        ("datasets", len(held.datasets), _name([one.name for one in held.datasets]), address("datasets")),
        (
            "documents",
            total["documents"],
            "texts of all datasets",
            address("datasets", sort="-datasets:documents"),
        ),
        ("mentions", total["mentions"], more, address("annotations")),
        ("systems", len(systems), _name(systems) + beside, address("systems")),
        ("runs", len(held.runs), "a system's answers to a dataset", address("datasets", sort="-datasets:runs")),
        (
            "remix" if len(held.remixes) == 1 else "remixes",
            len(held.remixes),
            _name(held.remixes) or "loaded as datasets; the builder makes them",
            address("datasets") if held.remixes else address("builder"),
        ),
        (
            "knowledge base",
            int(bool(held.kb)),
            held.kb.rpartition("-")[0] or held.kb,
            "/datasets#knowledge-base" if held.datasets else "/datasets",
        ),
    ]
    frame = pl.DataFrame(
        [row[:3] for row in rows], schema={"what": pl.String, "number": pl.Int64, "which": pl.String}, orient="row"
    )
    return frame, {row[0]: row[3] for row in rows}


def _name(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def _list_tasks(held: Holdings) -> page.Steps:
    """Return what the pages are for, in the order of the work, each with what it needs and is not there yet."""
    names = [one.name for one in held.datasets]
    own = {f"Dataset {names[0]}": address("dataset", name=names[0])} if names else {}
    two = {"Compare": address("compare", datasets=",".join(names[:2])), "Overlap": "/overlap"}
    no_run = "" if held.runs else " No system has answered yet."
    no_dataset = "" if names else " Nothing is loaded yet."
    return page.Steps(
        "tasks",
        "What the pages answer",
        [
            page.Note(
                f"What is a dataset made of, and how do two differ?{no_dataset}",
                links={"Datasets": "/datasets", **own, **(two if len(names) > 1 else {})},
            ),
            page.Note(f"Where does a system break, compared to another?{no_run}", links={"Systems": "/systems"}),
            page.Note(f"In which sentences?{no_run}", links={"Errors": "/errors"}),
            page.Note(
                f"Which mentions make a benchmark of its own?{no_dataset}",
                links={
                    "Annotations": "/annotations",
                    "Builder": "/builder",
                    "SPARQL": "/query",
                    "What the terms mean": "/ontology",
                },
            ),
            page.Note(
                "How does it come into a paper? Every page ends with its table as LaTeX (.tex); 'Columns and data' "
                "above a table has chosen columns of it; SVG and PDF are below each figure.",
                links={"Scores": "/systems", "Measures": "/datasets"},
            ),
        ],
    )


start = page.View("start", "Start", _show, menu=1, parameters=("changes",))
