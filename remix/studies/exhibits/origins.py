"""How much of each remix comes from which dataset, and the other way round: Table 6 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from remix.paper import Typesetting
from remix.studies.exhibit import Exhibit, ShownTable
from remix.studies.exhibits._holes import THERE, order_datasets, order_targets, tell_missing
from remix.studies.results import Results, Targets


def show(results: Results) -> Iterator[ShownTable]:
    """Yield for datasets and remixes the mentions, their share of the remix, and their share of the dataset."""
    targets = order_targets(results, "all", "remix")
    datasets = order_datasets(results)
    if targets.is_empty() or not datasets:
        return
    cells = _count(results, targets, datasets)
    missing = tuple(tell_missing(targets))
    whole = f"The mentions of a dataset are those that it has in {results.unfiltered}."
    sizes = cells.group_by("target", maintain_order=True).agg(pl.sum("mentions"))
    said = ", ".join(f"{target} {mentions:,}" for target, mentions in sizes.iter_rows())
    yield _table(
        cells,
        "mentions",
        "origins",
        "How many mentions of a remix come from each dataset.",
        (f"Mentions altogether: {said}.", *missing),
    )
    yield _table(
        cells,
        "share of remix",
        "origins-share-of-remix",
        "Which share of a remix's mentions comes from each dataset.",
        ("The largest share of a remix stands in bold.", *missing),
        best=True,
    )
    if targets.filter(pl.col("target") != results.unfiltered).height:
        yield _table(
            cells.filter(pl.col("target") != results.unfiltered),
            "share of dataset",
            "origins-share-of-dataset",
            "Which share of a dataset's mentions is in each remix.",
            (whole, "The largest share of a remix's column stands in bold.", *missing),
            best=True,
        )


def _count(results: Results, targets: Targets, datasets: list[str]) -> pl.DataFrame:
    """Return target, dataset, mentions and both shares, a row for each pair; of what is not there they are null."""
    pairs = targets.select("target", "state").join(pl.DataFrame({"dataset": datasets}), how="cross")
    own = results.composition.select("target", "dataset", "mentions")
    of_dataset = own.filter(target=results.unfiltered).select("dataset", whole="mentions")
    cells = pairs.join(own, on=["target", "dataset"], how="left", maintain_order="left").join(
        of_dataset, on="dataset", how="left", maintain_order="left"
    )
    mentions = pl.when(pl.col("state") == THERE).then(pl.col("mentions").fill_null(0))
    total = mentions.sum().over("target")
    return cells.select(
        "target",
        "dataset",
        mentions,
        pl.when(total > 0).then(mentions / total).alias("share of remix"),
        pl.when(pl.col("whole") > 0).then(mentions / pl.col("whole")).alias("share of dataset"),
    )


def _table(
    cells: pl.DataFrame, value: str, name: str, title: str, notes: tuple[str, ...], *, best: bool = False
) -> ShownTable:
    """Return a row for each dataset and a column for each remix."""
    targets = cells["target"].unique(maintain_order=True).to_list()
    frame = cells.select(pl.col("dataset").unique(maintain_order=True))
    for target in targets:
        own = cells.filter(target=target).select("dataset", pl.col(value).alias(f"{value} {target}"))
        frame = frame.join(own, on="dataset", how="left", maintain_order="left")
    headings = {"dataset": "", **{f"{value} {target}": target for target in targets}}
    ends = dict.fromkeys([f"{value} {target}" for target in targets], "highest") if best else {}
    digits = dict.fromkeys([f"{value} {target}" for target in targets], 2) if best else None
    return ShownTable(name, title, frame, Typesetting(columns=headings, best=ends, digits=digits), notes)


ORIGINS = Exhibit(
    name="origins",
    title="Where remixes come from",
    place=80,
    show=show,
    source="Table 6 of the remixing paper",
)
