"""What README says is what the commands do."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
from pathlib import Path

import pytest

from remix.store import Store
from tests.commands import run_verb
from tests.workspaces import copy_workspace

CHECKOUT = Path(__file__).resolve().parent.parent
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def printed(command: str, folder: Path) -> str:
    done = run_verb(*shlex.split(command)[1:], folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def said(example: str, folder: Path) -> str:
    """What an example in Python prints where it runs in a folder."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(example, "example", "exec"), {"__name__": "__main__"})
    return output.getvalue()


@pytest.mark.long
def test_readme_shows_what_its_commands_print(tmp_path: Path, sample_store: Store) -> None:
    copy_workspace(sample_store.folder, tmp_path / ".remix")  # as the first command makes it in an empty folder
    script = runpy.run_path(str(CHECKOUT / "scripts" / "readme.py"))
    assert script["filled"](README, tmp_path, printed) == README, "run: python scripts/readme.py"


@pytest.mark.long
def test_tutorial_runs_from_its_first_line_to_its_last_and_shows_what_comes_out(tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    script = runpy.run_path(str(CHECKOUT / "scripts" / "readme.py"))

    def done(command: str, folder: Path) -> str:
        return printed(command, folder) if command.startswith("remix ") else str(script["output"](command, folder))

    assert script["followed"](page, tmp_path, done) == page, "run: python scripts/readme.py"
    for named in re.findall(r"paper/(?:tables|figures)/[\w-]+(?:\.\w+)?", page):
        assert [*tmp_path.glob(f"{named}*")], named
    shown = "".join(re.findall(r"```console\n(.*?)\n```", page, flags=re.DOTALL))
    paragraph = " ".join(re.findall(r"^> (.*)$", page, flags=re.MULTILINE))
    numbers = set(re.findall(r"\d+\.\d+|\d{3,}", paragraph)) - {"0.05"}
    assert len(numbers) > 12 and {one for one in numbers if one not in shown} == set()


@pytest.mark.long
def test_readme_python_example_runs(tmp_path: Path, sample_store: Store) -> None:
    [example] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    copy_workspace(sample_store.folder, tmp_path / "work")  # as remix.open makes it in an empty folder
    first, *scores = said(example, tmp_path).splitlines()
    assert re.fullmatch(r"\d+ mentions of persons", first)
    values = {name: float(score) for name, score in (line.split(": ") for line in scores)}
    assert set(values) == {"prior", "random-candidate"}
    assert values["random-candidate"] < values["prior"] < 1


@pytest.mark.long
def test_page_on_python_shows_what_its_example_prints(tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "python.md").read_text(encoding="utf-8")
    [(example, output)] = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", page, flags=re.DOTALL)
    assert said(example, tmp_path) == output


def test_examples_of_figures_and_tables_for_papers_run_and_print_what_their_page_says(tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "figures.md").read_text(encoding="utf-8")
    drawing, table = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert said(drawing, tmp_path) == "" and (tmp_path / "density.svg").read_text().startswith("<svg ")
    assert said(table, tmp_path) == page.rpartition("prints\n\n```\n")[2].partition("```")[0]


def test_readme_names_every_verb_and_no_other() -> None:
    verbs = {path.stem for path in (CHECKOUT / "remix" / "cli").glob("[!_]*.py")}
    rows = [line for line in README.splitlines() if line.startswith("| `remix ")]
    named = {verb for row in rows for verb in re.match(r"\| `remix ([a-z|\\]+)", row)[1].replace("\\", "").split("|")}  # type: ignore[index]
    lacking, others = sorted(verbs - named), sorted(named - verbs)
    assert named == verbs, f"the table under 'The verbs' in README.md lacks {lacking} and has {others}, which are none"


def test_readme_first_screen_shows_the_two_commands() -> None:
    [block] = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    assert [line.split("#")[0].strip() for line in block.splitlines()] == ["sh scripts/demo", "sh scripts/test"]
    assert README.index("sh scripts/demo") < 1200


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (CHECKOUT / "docs").glob("*.md"))]
)
def test_links_in_a_page_lead_somewhere(page: str) -> None:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    local = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    missing = [target for target in local if target and not (CHECKOUT / page).parent.joinpath(target).exists()]
    assert missing == []
