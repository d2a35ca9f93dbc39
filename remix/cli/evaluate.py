"""`remix evaluate`: score the answers of systems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from remix import tables
from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import Workspace, open_workspace


@click.command()
@click.argument("targets", nargs=-1, metavar="DATASET|FILE...")
@click.option("--gold", multiple=True, type=click.Path(path_type=Path), help="File of gold; the workspace is not used.")
@click.option(
    "--run", "runs", multiple=True, metavar="NAME=FILE", help="Answers of a system; files of one NAME add up."
)
@click.option("--system", "systems", multiple=True, help="System whose kept runs are scored (default: all).")
@click.option(
    "--profile",
    default="remix",
    show_default=True,
    help="Whose conventions are followed; several (a,b or all) are shown side by side with what makes the difference.",
)
@click.option("--task", "tasks", multiple=True, help="A2KB, D2KB, C2KB, ERec, … (default: the profile's).")
@click.option("--match", "matchings", multiple=True, help="strong, weak, … (default: the profile's).")
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN[:SCHEME]",
    help="Break down by class, type, kb, a property or a measure; a,b crosses two; schemes: deciles, quantiles:4, "
    "thresholds:3,5, head-torso-tail.",
)
@click.option(
    "--min-support", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out slices of fewer mentions."
)
@click.option(
    "--scope", default="", metavar="CLASS", help="Class that gold was cut down to (P in scope), if not by its query."
)
@click.option(
    "--spans", type=click.Choice(["all", "kept"]), default="all", show_default=True, help="Spans given in D2KB."
)
@click.option(
    "--bootstrap", type=click.IntRange(min=0), default=0, metavar="N", help="Intervals from N samples of documents."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of the samples."
)
@click.option("--unit", type=click.Choice(["document", "context"]), default="document", help="What samples draw.")
@click.option(
    "--against", default="", metavar="SLICE", help="Slice that others are held against (--by, --bootstrap); else all."
)
@click.option("--errors", multiple=True, metavar="TAXONOMY", help="Count the classes of errors of elevant, neleval, …")
@click.option("--entities", type=click.Path(path_type=Path), help="Types of entities (TSV: entity, name, types).")
@click.option(
    "--hierarchy", type=click.Path(path_type=Path), help="RDF file with rdfs:subClassOf, for ETyping and RT2KB."
)
@click.option(
    "--seen",
    default="",
    metavar="DATASET|FILE",
    help="Training set: adds the columns seenForm, seenEntity and seenPair to break down by.",
)
@click.option(
    "--link-labels", is_flag=True, help="Link labels that a model answered to the one entity that is called so."
)
@click.option(
    "--weight",
    default="",
    metavar="RULE",
    help="Fuzzy recall R* and F1*: strict, relaxed:0.5, a file (weight and class or annotation), or a numeric column.",
)
@click.option("--fix-offsets", is_flag=True, help="Read offsets that count in other units as what they seem to be.")
@click.option(
    "--threshold",
    default="none",
    show_default=True,
    metavar="RULE",
    help="Confidence above which answers count: none, 0.3, tuned:DATASET (the best there) or oracle (the best here).",
)
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="[KIND=]FILE",
    help="Also draw micro-F1, or a curve: alpha (F1* by the weight of what is not strict), progression (best "
    "combination of classes first), threshold (precision, recall and F1 by confidence), calibration (share right by "
    "confidence, share wrong by coverage).",
)
@click.option("--store", is_flag=True, help="Also keep outcomes and error classes as RDF, where queries find them.")
@click.option(
    "--signature-to",
    "record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all that --reproduce needs.",
)
@click.option(
    "--reproduce",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Run the evaluation of a --signature-to file again, and check that the same comes out.",
)
@workspace_option
@output_option
def command(
    targets: tuple[str, ...],
    gold: tuple[Path, ...],
    runs: tuple[str, ...],
    systems: tuple[str, ...],
    plots: tuple[str, ...],
    store: bool,
    record: Path | None,
    reproduce: Path | None,
    workspace: Path | None,
    output: str,
    to: Path | None,
    **choices: Any,
) -> None:
    """Score answers against gold: datasets or remixes with the runs kept by `remix annotate`, or files with --run.

    Each row has its counts (tp, fp, fn, ignored), P, R and F1; remixes and slices have three precisions: of all
    answers, of those that the selection could mean (in scope), of those on kept mentions. `-o json` has every row
    and column, micro and macro. `--store` keeps each run beside its dataset as RDF (A2KB, the first matching).

    \b
    Example:
      remix evaluate sample-news --system prior --task A2KB --by class
    """
    from remix.scoring.readable import readable, readable_errors, signature_lines

    recorded: dict[str, Any] = {}
    if reproduce is not None:
        recorded = _recorded(reproduce)
        choices = dict(recorded["arguments"])
        targets, gold, runs, systems = (choices.pop(name) for name in ("targets", "gold", "runs", "systems"))
    if record is not None and ("," in choices["profile"] or choices["profile"] == "all"):
        raise click.UsageError("--signature-to goes with one profile")
    if choices["profile"] == "all" or "," in choices["profile"]:
        _side_by_side(
            open_workspace(workspace), targets, gold, runs, systems, output, to, plot=plots, store=store, **choices
        )
        return
    by = choices["by"]
    # InKB, EE and GSInKB come with every evaluation; `--by kb` only asks to see them in the table.
    choices["by"] = tuple(column for column in by if column != "kb")
    opened = open_workspace(workspace)
    if store:
        _store(opened, targets, runs, systems, **choices)
    rows, datasets = opened.evaluate(targets, gold=gold, runs=runs, systems=systems, **choices)
    if recorded:
        from remix.scoring.reproduction import check

        check(recorded, rows)
        click.echo(f"reproduced: the rows are the same as recorded in {reproduce}, byte for byte", err=True)
    if record is not None:
        from remix.scoring.reproduction import write_record

        write_record(record, rows, {"targets": targets, "gold": gold, "runs": runs, "systems": systems, **choices})
    for setting in plots:
        kind, file = _plot(setting)
        if kind == "f1":
            from remix.reports.scores import plot

            plot(rows, file, datasets)
            continue
        from remix.reports.curves import plot_curve

        shared = {name: choices[name] for name in ("profile", "tasks", "matchings", "entities")}
        found = opened.curve(targets, kind=kind, gold=gold, runs=runs, systems=systems, **shared)
        plot_curve(kind, found, file)
    if output in ("json", "jsonl", "csv", "parquet") or (to is not None and tables.suffix_format(to) != "table"):
        print_table(rows, output, to)
        return
    print_table(readable(rows, datasets, by), output, to)
    if choices["errors"]:
        click.echo("", err=to is not None)
        print_table(readable_errors(rows), output, None)
    if output == "table":
        click.echo("\n" + "\n".join(signature_lines(rows, by)), err=to is not None)


def _store(
    keeper: Workspace,
    targets: tuple[str, ...],
    runs: tuple[str, ...],
    systems: tuple[str, ...],
    /,
    *,
    profile: str,
    matchings: tuple[str, ...],
    errors: tuple[str, ...],
    **_: Any,
) -> None:
    """Keep the outcomes of A2KB under the first matching as RDF, and say what was kept."""
    if profile != "remix":
        raise click.UsageError(f"--store keeps outcomes by the profile remix: leave --profile {profile} out")
    known = {"matching": matchings[0] if matchings else "strong", "errors": errors or ("neleval",)}
    for row in keeper.store_runs(targets, runs=runs, systems=systems, **known).iter_rows(named=True):
        click.echo("{system} on {dataset}: {tp} TP, {fp} FP, {fn} FN, {status}".format(**row), err=True)


def _recorded(file: Path) -> dict[str, Any]:
    """Return the record of a file; raises `UsageError` where the command line says anything that the record does."""
    from remix.scoring.reproduction import read_record

    context = click.get_current_context()
    free = {"reproduce", "record", "plots", "workspace", "output", "to"}
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in free and context.params.get(name):
            raise click.UsageError(f"--reproduce takes what {file} says: leave {parameter.opts[0]} out")
    return read_record(file)


def _plot(setting: str) -> tuple[str, Path]:
    """Return what is drawn and into which file; without a kind it is micro-F1."""
    from remix.errors import UnknownName
    from remix.reports.curves import DRAWN

    kind, equals, file = setting.partition("=")
    if not equals or not kind.isalnum():
        return "f1", Path(setting)
    if kind != "f1" and kind not in DRAWN:
        raise UnknownName("plot", kind, ["f1", *DRAWN])
    return kind, Path(file)


def _side_by_side(
    keeper: Workspace,
    targets: tuple[str, ...],
    gold: tuple[Path, ...],
    runs: tuple[str, ...],
    systems: tuple[str, ...],
    output: str,
    to: Path | None,
    *,
    profile: str,
    entities: Path | None,
    **choices: Any,
) -> None:
    """Print the scores of several profiles and a line for each convention that makes a difference."""
    import polars as pl

    from remix.scoring.differences import difference_lines, profile_names
    from remix.scoring.evaluating import side_by_side
    from remix.scoring.inputs import Sources
    from remix.scoring.readable import signature_lines

    ignored = {"spans": "all", "threshold": "none", "unit": "document"}
    for name, value in choices.items():
        if value and ignored.get(name) != value:
            option = {"tasks": "task", "matchings": "match"}.get(name, name)
            raise click.UsageError(
                f"--{option} goes with one profile; --profile {profile} compares the tools' own rows"
            )
    as_data = output in ("json", "jsonl", "csv", "parquet") or (to is not None and tables.suffix_format(to) != "table")
    sources = Sources(targets, gold, runs, systems, entities)
    rows, table, changes = side_by_side(keeper, sources, profile, every=as_data)
    if as_data:
        print_table(rows, output, to)
        return
    scores = [name for name in table.columns if table.schema[name].is_float()]
    renamed = {"precision": "P", "recall": "R", "f1": "F1", "macro_f1": "macro-F1"}
    print_table(table.with_columns(pl.col(scores).round(3)).rename(renamed), output, to)
    names = profile_names(profile)
    told = difference_lines(changes, names[0])
    click.echo("", err=to is not None)
    if told.is_empty():
        click.echo("no convention makes a difference here", err=to is not None)
    else:
        print_table(told, output)
    if output == "table":
        for name in names:
            click.echo(f"\n{name}: " + "\n".join(signature_lines(rows.filter(profile=name))), err=to is not None)
