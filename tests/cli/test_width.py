"""Tables for people fit into 120 columns, whatever datasets, files and runs are called."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from remix.cli import cli
from remix.tables import WIDTH
from tests.commands import run_verb

SMALL = Path(__file__).parents[1] / "runs" / "small"
NAME = "a-corpus-of-newspapers-with-a-long-name"
LONG, OTHER = f"{NAME}-2019-part-one", f"{NAME}-2020-part-two"
RUN, SECOND = "a-language-model-of-70-billion-parameters-v3", "a-retriever-with-a-cross-encoder-behind-it-v12"
STUDY = f"""
datasets = ["{LONG}", "{OTHER}"]
tasks = ["A2KB"]
matchings = ["strong"]
by = ["class"]
[runs."{RUN}"]
[runs."{SECOND}"]
"""
SCORED = ("evaluate", LONG, OTHER, "--task", "A2KB", "--match", "strong")

VERBS = [
    ("load", "{folder}/answers.ttl", "{folder}/broken.ttl", "--dry-run"),
    ("check", LONG, "{folder}/broken.ttl"),
    ("list",),
    ("list", "columns"),
    ("list", "measures"),
    ("list", "profiles"),
    ("info",),
    ("rebuild",),
    ("stats", "--average", "all"),
    ("stats", "--level", "annotation"),
    ("enrich",),
    ("query", "SELECT * { GRAPH ?dataset { ?annotation nif:referenceContext ?document ; nif:anchorOf ?form } }"),
    ("build", "--query", "SELECT ?annotation { ?annotation a nif:Phrase }", "--to", "{folder}/built"),
    ("partition", "--by", "candidateRank", "--scheme", "classes"),
    ("run", "list"),
    ("run", "show", RUN),
    ("run", "add", RUN, "{folder}/answers.ttl", "--on", LONG),
    SCORED,
    (*SCORED, "--unit", "context", "--intervals", "--samples", "100", "--by", "class"),
    ("evaluate", LONG, OTHER, "--profile", "all"),
    (*SCORED, "--errors", "neleval"),
    (*SCORED, "--weight", "numWords/100"),
    ("evaluate", "{folder}/remix.ttl", "--by", "class"),
    ("errors", RUN, "--on", LONG, "--beside", SECOND, "--show", "all", "-o", "table"),
    ("compare", LONG, OTHER, "--unit", "context", "--samples", "100"),
    ("compare", LONG, OTHER, "--agreement"),
    ("filters", "sample", "--service", "kb=loaded"),
    ("study", "{folder}/study.toml", "--dry-run"),
    ("publish", LONG, "--to", "{folder}/published"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder far below: two datasets of one text, loaded, two runs on both, and a remix."""
    place = tmp_path_factory.mktemp("a-folder-of-somebody-who-likes-long-names") / "of" / "several-parts"
    place.mkdir(parents=True)
    text = (SMALL / "gold.ttl").read_text().replace("New York City.", "New York City." + "\\nAda and Alan met." * 12)
    for name in (LONG, OTHER):
        (place / f"{name}.ttl").write_text(text)
    (place / "broken.ttl").write_text(
        text.replace('"Ada"', f'"{"Ada" * 40}"').replace("corpus.org", "corpus.org/" + "x" * 90)
    )
    (place / "answers.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Kay"))
    (place / "study.toml").write_text(STUDY)
    for line in (
        ("load", f"{place}/{LONG}.ttl", f"{place}/{OTHER}.ttl"),
        ("run", "add", RUN, f"{place}/answers.ttl"),
        ("run", "add", SECOND, f"{place}/answers.ttl"),
        ("build", "--query", "SELECT ?annotation { ?annotation a nif:Phrase }", "--name", "remix", "--to", str(place)),
    ):
        assert run_verb(*line, "-w", str(place / "w")).returncode == 0
    return place


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("line", VERBS, ids=" ".join)
def test_tables_of_every_verb_fit_into_120_columns(folder: Path, line: tuple[str, ...]) -> None:
    done = run_verb(*(word.replace("{folder}", str(folder)) for word in line), "-w", str(folder / "w"))
    assert done.returncode == 0 or line[0] == "check", done.stderr
    # Paragraphs are tables where they have a rule below their header.
    tables = [part for part in done.stdout.split("\n\n") if any(set(row) == {"-", " "} for row in part.splitlines())]
    assert tables or line[0] == "publish", done.stdout
    assert [row for table in tables for row in table.splitlines() if len(row) > WIDTH] == []


def test_every_verb_that_prints_tables_is_among_them() -> None:
    def printing(command: click.Command, name: str) -> set[str]:
        if isinstance(command, click.Group):
            names = command.list_commands(click.Context(command))
            own = {one: command.get_command(click.Context(command), one) for one in names}
            return {found for one, each in own.items() if each for found in printing(each, f"{name} {one}".strip())}
        return {name} if any("--output" in one.opts for one in command.params) else set()

    seen = {" ".join(line[:2]) if line[0] == "run" else line[0] for line in VERBS}
    # These need a knowledge base, a server or published answers; their tables are printed in the same way.
    apart = {name for name in printing(cli, "") if name.split()[0] in {"kb", "annotate", "fetch", "reproduce"}}
    assert printing(cli, "") - apart <= seen
