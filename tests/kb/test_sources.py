"""Which parts a knowledge base is built from: kinds, releases, what is declared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from remix.errors import UnknownName, UsageError
from remix.kb.sources import SOURCES, Choices, Origin, Part, check_releases, origins_of

Tables = Callable[..., Path]


def dumped(kind: str, name: str, date: str) -> Origin:
    return Origin(kind, Part(name, "0", lambda staging: None, place=f"dumps/{name}", date=date))


def test_tables_when_asked_then_there_is_a_part_for_each_file(tables: Tables) -> None:
    folder = tables(**{"types.tsv": None})
    parts = SOURCES["tables"].parts(str(folder), Choices())
    assert [part.name for part in parts] == [
        "surface_forms",
        "links",
        "labels",
        "redirects",
        "sameas",
        "disambiguations",
    ]
    assert parts[0].place == str(folder / "surface_forms.tsv")
    assert parts[0].size == (folder / "surface_forms.tsv").stat().st_size


def test_tables_when_a_table_is_there_twice_then_it_is_refused(tables: Tables) -> None:
    folder = tables()
    (folder / "links.tsv.gz").write_bytes(b"")
    with pytest.raises(UsageError, match="links.tsv and links.tsv.gz: keep one"):
        SOURCES["tables"].parts(str(folder), Choices())


def test_origins_when_date_and_licence_are_declared_then_parts_that_say_none_have_them(tables: Tables) -> None:
    origins = origins_of([("tables", str(tables()))], Choices(), date="2022-12-01", licence="CC0")
    assert {(origin.kind, origin.part.date, origin.part.licence) for origin in origins} == {
        ("tables", "2022-12-01", "CC0")
    }


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([], "none is given; kinds: .*tables"),
        ([("tables", "a"), ("tables", "a")], "the source tables a is given twice"),
        ([("tables", "."), ("tables", "./../" + Path.cwd().name)], "is given twice"),
        ([("tables", "nowhere")], "nowhere is no folder with the tables"),
    ],
)
def test_origins_when_sources_are_wrong_then_the_error_says_how(sources: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        origins_of(sources, Choices())


def test_origins_when_the_kind_is_unknown_then_the_nearest_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'tables'.*remix list sources"):
        origins_of([("tabels", "a")], Choices())


def test_releases_when_dates_are_a_month_apart_then_both_files_are_named() -> None:
    mixed = [dumped("dbpedia", "labels", "2022-12-01"), dumped("dbpedia", "redirects", "2022.11.01")]
    with pytest.raises(
        UsageError,
        match="dumps/redirects of dbpedia is of 2022.11.01, dumps/labels of 2022-12-01; .*--mixed-releases",
    ):
        check_releases(mixed)


@pytest.mark.parametrize(
    "origins",
    [
        [dumped("dbpedia", "labels", "2022-12-01"), dumped("wikidata", "truthy", "2021-01-01")],  # of different kinds
        [dumped("dbpedia", "labels", "2022-12-01"), dumped("dbpedia", "links", "2022-12-09")],  # extracted over days
        [dumped("dbpedia", "labels", "2022-12"), dumped("dbpedia", "links", "2022-12-01")],
        [dumped("dbpedia", "labels", "2022-12-01"), dumped("dbpedia", "links", "")],
    ],
)
def test_releases_when_parts_may_be_of_one_release_then_they_pass(origins: list[Origin]) -> None:
    check_releases(origins)
