"""Parts found by scanning: one file each, nothing central to edit."""

from __future__ import annotations

import csv
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from remix.errors import Error, UnknownName
from remix.registry import Registry
from tests.commands import run_lines


@dataclass(frozen=True)
class Part:
    name: str


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "parts_of_this_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [n for n in sys.modules if n.startswith("parts_of_this_test")]:
        del sys.modules[name]


def write(folder: Path, module: str, *names: str) -> None:
    lines = ["from tests.test_registry import Part", *(f"part_{i} = Part('{n}')" for i, n in enumerate(names))]
    (folder / f"{module}.py").write_text("\n".join(lines))


def test_registry_when_a_file_is_added_knows_its_part(package: Path) -> None:
    write(package, "density", "density")
    write(package, "other", "prominence")
    write(package, "_hidden", "hidden")
    registry = Registry("measure", "parts_of_this_test", Part)
    assert registry.names() == ["density", "prominence"]
    assert registry["density"].name == "density"


def test_registry_when_a_file_is_called_alike_imports_no_other(package: Path) -> None:
    write(package, "counting", "count-all")
    (package / "broken.py").write_text("raise RuntimeError('imported')")
    registry = Registry("measure", "parts_of_this_test", Part)
    assert registry["count-all"].name == "count-all"
    assert "count-all" in registry
    with pytest.raises(RuntimeError, match="imported"):
        registry.names()


def test_registry_when_the_first_part_that_fits_is_asked_for_imports_no_module_behind_it(package: Path) -> None:
    write(package, "counting", "count-all")
    (package / "later.py").write_text("raise RuntimeError('imported')")
    registry = Registry("measure", "parts_of_this_test", Part)
    found = registry.first(lambda part: part.name == "count-all")
    assert found is not None and found.name == "count-all"
    with pytest.raises(RuntimeError, match="imported"):
        registry.first(lambda part: part.name == "other")


def test_registry_when_another_file_has_the_name_finds_it_there(package: Path) -> None:
    write(package, "ranked", "Sa2KB")
    write(package, "sa", "other")
    assert Registry("measure", "parts_of_this_test", Part)["Sa2KB"].name == "Sa2KB"


def test_registry_when_the_name_is_unknown_offers_the_nearest(package: Path) -> None:
    write(package, "density", "density")
    with pytest.raises(UnknownName, match="did you mean 'density'.*remix list measures"):
        Registry("measure", "parts_of_this_test", Part)["densty"]


def test_registry_when_two_parts_share_a_name_refuses(package: Path) -> None:
    write(package, "one", "density")
    (package / "two.py").write_text(
        "from tests.test_registry import Part\nclass Sub(Part): pass\npart = Sub('density')"
    )
    with pytest.raises(Error, match="two measures are named 'density'"):
        Registry("measure", "parts_of_this_test", Part).names()


def test_registry_when_another_distribution_has_the_name_refuses_it(package: Path) -> None:
    write(package, "density", "density")
    about = package.parent / "third-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[parts_of_this_test]\ndensity = third_party:part\n")
    (package.parent / "third_party.py").write_text("from tests.test_registry import Part\npart = Part('density')")
    with pytest.raises(Error, match="two measures are named 'density'"):
        Registry("measure", "parts_of_this_test", Part)["density"]


def test_registry_when_a_part_of_another_distribution_fits_as_well_takes_the_one_that_ships(package: Path) -> None:
    write(package, "zelda", "zelda")
    about = package.parent / "third-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[parts_of_this_test]\na = third_first:part\n")
    (package.parent / "third_first.py").write_text("from tests.test_registry import Part\npart = Part('a')")
    found = Registry("measure", "parts_of_this_test", Part).first(lambda part: True)
    assert found is not None and found.name == "zelda"


def test_registry_when_its_package_has_definitions_takes_entry_points_of_the_package_above(package: Path) -> None:
    (package / "definitions").mkdir()
    write(package / "definitions", "__init__")
    about = package.parent / "third-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[parts_of_this_test]\nother = parts_of_this_test.third:part_0\n")
    write(package, "third", "other")
    assert Registry("measure", "parts_of_this_test.definitions", Part).names() == ["other"]


# One part of each kind, as another distribution adds it: a module or file, and a line in `entry_points.txt`.
ADDED = {
    "formats": """
        from dataclasses import replace
        from remix.formats.definitions.jsonl import jsonl
        part = replace(jsonl, name="added-format", summary="lines", sniff=lambda head, name: name.endswith(".added"))
        """,
    "measures": """
        import polars as pl
        from remix.measures.declaration import Measure, Summary, terms_of
        part = Measure(name="added-measure", levels=("dataset",), unit="mentions", formula="|M|", citation="none",
            high="many", low="few", empty="0", summaries=(Summary(name="addedMeasure", meaning="mentions per document",
            terms=terms_of("addedMeasure", "macro"), part=pl.col("mentions"), over="documents"),))
        """,
    "scoring.tasks": """
        from dataclasses import replace
        from remix.scoring.tasks.annotation import erec
        part = replace(erec, name="Added", summary="spans")
        """,
    "scoring.matching": """
        import polars as pl
        from remix.scoring.matching import Matching
        part = Matching("added-matching", "spans share a letter", pl.col("shared") > 0)
        """,
    "scoring.errors": """
        from dataclasses import replace
        from remix.scoring.errors.answers import answers
        part = replace(answers, name="added-errors")
        """,
    "scoring.conventions": """
        from dataclasses import replace
        from remix.scoring.conventions.aspects import undefined_one
        part = replace(undefined_one, name="added-convention", words="one is said where nothing is counted")
        """,
    "scoring.profiles": """
        from remix.scoring.profiles import CONVENTIONS, Conventions, Profile
        part = Profile(name="added-profile", summary="of a rule that was added", source="none", tasks=("Added",),
            matchings=("added-matching",), conventions=Conventions(undefined=CONVENTIONS["added-convention"]))
        """,
    "systems": """
        import polars as pl
        from remix.systems import System
        def answer(frames, kb, task, seed):
            return frames.annotations.select("document", "begin", "end", entity=pl.lit(None, pl.String)).head(1)
        part = System("added-system", "the first span is NIL", answer, needs_kb=False)
        """,
    "kb.sources": """
        import polars as pl
        from remix.kb.sources import Part, Source
        def read(staging):
            row = {"surface_form": ["Ada"], "entity": ["urn:Ada"], "source": ["x"]}
            staging.write("surface_forms", pl.DataFrame(row))
        part = Source("added-source", "one name", lambda place, choices: [Part(name=place, fingerprint="1", read=read)])
        """,
    "kb.engines": """
        from dataclasses import replace
        from remix.kb.engines.duckdb import ENGINE
        part = replace(ENGINE, name="added-engine")
        """,
    "checks": """
        import polars as pl
        from remix.checks import Rule
        from remix.checks import list_mentions
        part = Rule("added-rule", "note", "A mention is there.", "Nothing.",
            find=lambda subject: list_mentions(subject.mentions, pl.lit("is there")))
        """,
    "web.views": """
        from remix.web.page import Note, Page, View
        part = View("added-view", "Added", lambda work, parameters: Page("Added", [Note("what a test adds")]), menu=9)
        """,
    "reports.listings": """
        from remix.reports.listings import Listing
        part = Listing("added-things", "what a test adds", lambda store, runs: [{"name": "one"}, {"name": "two"}])
        """,
}
VERB = """
import click
AFTER = "publish"
@click.command()
def command() -> None:
    'Say that this verb was added.'
    print("the verb is run")
"""
MAPPING = """
summary = "added"
told_by = ["added", "whom"]
[document]
text = "added"
[mention]
form = "whom"
link = "as"
"""
TEXT = {"document": "d1", "text": "Ada met Alan."}
SPANS = [
    {"document": "d1", "begin": 0, "end": 3, "entity": None},
    {"document": "d1", "begin": 8, "end": 12, "entity": None},
]


def _distribution(folder: Path) -> None:
    """Write a distribution that adds one of each: the files, and the entry points that name them."""
    package, about = folder / "added_by_test", folder / "added-1.0.dist-info"
    for place in (package, package / "queries", package / "datasets", package / "mappings", about):
        place.mkdir()
        (place / "__init__.py").write_text("")
    lines = []
    for group, text in ADDED.items():
        module = group.replace(".", "_")
        (package / f"{module}.py").write_text(textwrap.dedent(text))
        lines.append(f"[remix.{group}]\n{module} = added_by_test.{module}:part\n")
    (package / "added_verb.py").write_text(VERB)
    lines.append("[remix.cli]\nadded-verb = added_by_test.added_verb\n")
    (package / "queries" / "added_query.rq").write_text(
        "#+ summary: Documents\n#+ description: All of them.\nSELECT ?document { ?document a nif:Context }"
    )
    (package / "datasets" / "gold.jsonl").write_text("\n".join(map(json.dumps, [TEXT, *SPANS])))
    (package / "datasets" / "added-dataset.toml").write_text(
        'title = "Added"\nlicence = "none"\ncitation = "none"\npath = "gold.jsonl"\n'
    )
    (package / "mappings" / "added-mapping.toml").write_text(MAPPING)
    (package / "datasets" / "mapped.jsonl").write_text('{"added": "Ada slept.", "whom": "Ada", "as": "Q7259"}')
    lines += [f"[remix.{name}]\nadded = added_by_test.{name}\n" for name in ("queries", "datasets")]
    lines.append("[remix.datasets.formats]\nadded = added_by_test.mappings\n")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What a line of the command line prints where a distribution adds one of each; all lines run in one process."""
    folder = tmp_path_factory.mktemp("added")
    _distribution(folder)
    printed = dict(zip(LINES, run_lines([line.split() for line in LINES], folder, paths=[folder]), strict=True))

    def told(line: str) -> str:
        done = printed[line]
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return told


EVALUATED = "evaluate added-dataset --system added-system -o csv"
SCORED = {
    f"{EVALUATED} --task Added --match added-matching": ("Added", "added-matching", "remix"),
    f"{EVALUATED} --profile added-profile": ("Added", "added-matching", "added-profile"),
}
KINDS = {
    "formats": "added-format",
    "measures": "added-measure",
    "tasks": "Added",
    "matchings": "added-matching",
    "taxonomies": "added-errors",
    "conventions": "added-convention",
    "profiles": "added-profile",
    "systems": "added-system",
    "sources": "added-source",
    "engines": "added-engine",
    "rules": "added-rule",
    "views": "added-view",
    "queries": "added_query",
    "datasets": "added-dataset",
}
USED = {
    "load added-dataset": "added-dataset",
    "load added_by_test/datasets/gold.jsonl --name other --format added-format": "added-format",
    "load added_by_test/datasets/mapped.jsonl --dry-run -o csv": "added-mapping,1,1,1",
    "show added-mapping": "told_by",
    "stats added-dataset -o csv": "addedMeasure,macro,2.0",
    "annotate added-dataset --system added-system -o csv": "added-system",
    f"{EVALUATED} --errors added-errors": "label_only",
    "check added-dataset -o csv": "note,added-rule,2",
    "query added_query -o csv": "urn:remix:dataset:added-dataset",
    "build --query added_query --to remixes": "added_query.ttl",
    "added-verb": "the verb is run",
    "kb build --from added-source here --name added --engine added-engine -o csv": "surface forms,1",
    "list added-things": "two",
    "--help": "publish",
}
LINES = [*USED, *SCORED, *(f"list {kind}" for kind in KINDS), *(f"show {name}" for name in KINDS.values())]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), KINDS.items())
def test_part_that_another_distribution_adds_is_listed_and_shown(
    added: Callable[[str], str], kind: str, name: str
) -> None:
    assert name in added(f"list {kind}")
    assert name in added(f"show {name}").splitlines()[0]


@pytest.mark.parametrize(("line", "said"), USED.items())
def test_part_that_another_distribution_adds_is_used_like_any_other(
    added: Callable[[str], str], line: str, said: str
) -> None:
    assert said in added(line)


@pytest.mark.parametrize(("line", "said"), SCORED.items())
def test_task_matching_convention_and_profile_that_are_added_score(
    added: Callable[[str], str], line: str, said: tuple[str, str, str]
) -> None:
    rows = csv.DictReader(added(line).splitlines())
    names = ("task", "matching", "profile", "tp", "fp", "fn")
    found = {tuple(row[name] for name in names) for row in rows if row["average"] == "micro" and not row["column"]}
    # Gold has two mentions, of which the system answers the first.
    assert found == {(*said, "1", "0", "1")}


def test_verb_that_another_distribution_adds_stands_where_it_says(added: Callable[[str], str]) -> None:
    printed = added("--help")
    assert printed.index("  publish ") < printed.index("  added-verb ") < printed.index("  convert ")
