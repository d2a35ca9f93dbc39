"""Studies of all real datasets with the answers of all systems that were published on them, and what they say.

    python bench/real_studies.py [--only NAME,NAME] [--to FOLDER] [--page]

Data from REMIX_REAL_DATA. A study is a file in `bench/studies/`; each has a workspace of its own, as several have the
same texts. Registers the published answers and those of the systems that are part of remix, runs the studies into
FOLDER, and with `--page` writes what they say into docs/study.md.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import polars as pl
from real import DATA, corpora

from remix import progress
from remix.files import read_bytes
from remix.studies import Studied, read_study
from remix.workspace import Workspace

STUDIES = Path(__file__).resolve().parent / "studies"
OURS = {"prior": ("prior-nil", {}), "coherence": ("coherence", {})}
"""The systems that are part of remix, and their parameters, by the name of their runs."""


@dataclass(frozen=True)
class Source:
    """Where the datasets and answers of a study are.

    `gold` is a regular expression of files, whose group `dataset` names what is loaded; `runs` one whose groups
    `system` and `dataset` name a run and what it answers. `names` are datasets by what the files of runs call them,
    `systems` those that are to be called otherwise. With `records` a file of answers has a row for each text, which has
    one mention.
    """

    gold: str
    runs: str = "(?!)"
    task: str = "A2KB"
    names: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)
    gold_format: str | None = None
    run_format: str = ""
    records: bool = False


_HIPE_2022_SPANS = Source(
    r"hipe2022/gold/HIPE-2022-v2\.1-(?P<dataset>\w+-test-\w\w)\.tsv\.gz",
    r"hipe2022/runs/(?P<system>\w+_bundle5)_(?P<dataset>\w+_\w\w)(?P<number>_\d)\.tsv\.gz",
    task="D2KB",
)
SOURCES = {
    "emnlp2019": Source(
        r"emnlp2019/gold/2019_05_\d+_(?P<dataset>\w+)\.ttl\.gz",
        r"emnlp2019/systems/(?P<system>[^_]+)_(?P<dataset>\w+)\.ttl(\.gz)?",
        names={"ACE": "ACE04"},
    ),
    "elevant": Source(
        r"elevant/benchmarks/(?P<dataset>kore50|msnbc-updated|news-fair-no-coref)\.benchmark\.jsonl(\.gz)?",
        r"elevant/results/(?P<system>[\w-]+)/\w+\.(?P<dataset>[\w-]+)\.linked_articles\.jsonl(\.gz)?",
        systems={"baseline": "elevant-baseline"},
    ),
    "hipe2022": Source(
        r"hipe2022/gold/HIPE-2022-v2\.1-(?P<dataset>\w+-test-\w\w)\.tsv\.gz",
        r"hipe2022/runs/(?P<system>\w+_bundle[12])_(?P<dataset>\w+_\w\w)(?P<number>_\d)\.tsv\.gz",
    ),
    **dict.fromkeys(("hipe2022-spans", "hipe2022-ajmc"), _HIPE_2022_SPANS),
    "hipe2020": Source(
        r"hipe2020/gold/HIPE-data-v1\.3-test-(?P<dataset>\w\w)\.tsv\.gz",
        r"hipe2020/runs/(?P<system>[\w-]+_bundle[12])_(?P<dataset>\w\w)(?P<number>_\d)\.tsv\.gz",
    ),
    "hipe2020-spans": Source(
        r"hipe2020/gold/HIPE-data-v1\.3-test-(?P<dataset>\w\w)\.tsv\.gz",
        r"hipe2020/runs/(?P<system>[\w-]+_bundle5)_(?P<dataset>\w\w)(?P<number>_\d)\.tsv\.gz",
        task="D2KB",
    ),
    "chatel": Source(
        r"modern/chatel/(2023-04-13/(?P<dataset>KORE50|RSS-500)|2023-03-16/(?P<other>Reuters_128))\.json\.gz",
        r"modern/chatel/(?P<system>[\d-]+)/(?P<dataset>\w+(-500)?)\.json\.gz",
        task="D2KB",
        names={"RSS_500": "RSS-500"},
        systems={date: f"gpt35-{date}" for date in ("2023-03-16", "2023-04-13")},
        gold_format="chatel-processed",
        run_format="chatel-answers",
    ),
    "kgllm4ed": Source(
        r"kgllm4ed/gold/(?P<dataset>\w+)_chatel\.jsonl\.gz",
        r"kgllm4ed/runs/db/(?P<dataset>\w+?)_pipeline_(?P<system>gpt35)_db_chatel\.csv\.gz",
        task="D2KB",
        records=True,
    ),
    "nif": Source("(?!)", task="D2KB"),
}


def matching(pattern: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield the files of the data that fit a pattern, with its groups."""
    for file in sorted(DATA.rglob("*")):
        if fit := re.fullmatch(pattern, file.relative_to(DATA).as_posix()):
            yield file, fit.groupdict("")


def named(groups: Mapping[str, str], source: Source) -> str:
    """Return the name of the dataset that a file is of."""
    said = groups["dataset"] or groups.get("other", "")
    return source.names.get(said, said).replace("-test-", "_").replace("_", "-").lower()


def fill(workspace: Workspace, name: str) -> None:
    """Load the datasets of a study, attach the slice of a knowledge base, and register all answers."""
    source = SOURCES[name]
    if name == "nif":
        workspace.load([file for file in corpora() if not re.search("gerbil-test|short|RSS-500.nt|emnlp2019", file)])
    for file, groups in matching(source.gold):
        workspace.load(file, name=named(groups, source), format=source.gold_format)
    workspace.build_kb([("tables", str(DATA / "kb"))], name="slice", without_source=["gold:*"])
    for file, groups in matching(source.runs):
        dataset = named(groups, source)
        system = f"{groups['system']}{groups.get('number', '')}".replace("_", "-")
        system = source.systems.get(system, system)
        if dataset in workspace.store.state.datasets:
            answers = place_records(workspace, dataset, file) if source.records else file
            workspace.add_run(system, answers, on=dataset, task=source.task, format=source.run_format or ())
    workspace.enrich()
    for run, (system, parameters) in OURS.items():
        workspace.annotate(system=system, task=source.task, name=run, parameter=parameters)


def place_records(workspace: Workspace, dataset: str, file: Path) -> pl.DataFrame:
    """Return the answers of a table (id, response) with the span of the one mention of each text; some have none."""
    gold = workspace.store.frames([dataset]).annotations.select("document", "begin", "end")
    numbered = gold.with_columns(id=pl.col("document").str.extract(r"(\d+)$").cast(pl.Int64))
    said = pl.read_csv(read_bytes(file)).filter(~pl.col("response").is_in(["notInKB", "notInC"]))
    entity = "http://dbpedia.org/resource/" + pl.col("response").str.replace_all(" ", "_")
    return said.join(numbered, on="id").select("document", "begin", "end", entity=entity)


def study(name: str, place: Path) -> Studied:
    """Return what came out of a study, which is written into a folder beside its workspace."""
    begin = time.perf_counter()
    workspace = Workspace(place / name / ".remix")
    with progress.enable(False):
        if not [*workspace.store.datasets()]:
            fill(workspace, name)
        filled = time.perf_counter()
        found = workspace.study(read_study(STUDIES / f"{name}.toml"), to=place / name / "out")
    done = time.perf_counter()
    print(f"{name}: {filled - begin:.1f} s to fill, {done - filled:.1f} s to study, {found.computed} steps", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(SOURCES))
    parser.add_argument("--to", type=Path)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        place = asked.to or Path(made)
        found = {name: study(name, place) for name in asked.only.split(",")}
        if asked.page:
            from study_page import write_page

            write_page(found)


if __name__ == "__main__":
    main()
