"""What is published of a dataset: data that reads back, a description, checksums."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pyoxigraph as ox
import pytest
import rdflib
import yaml

from remix import catalog
from remix.errors import UnknownName, UsageError
from remix.formats import read
from remix.frames import Frames
from remix.names import DCAT, DCTERMS, HFTS, RMX, VOID
from remix.publication import publish
from remix.reports.inventory import describe_dataset
from remix.runs.register import list_runs, load_run
from remix.store import Store
from remix.workspace import Workspace, open_workspace

NEWS = "urn:remix:dataset:news"


@pytest.fixture(scope="module")
def folder(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("published")
    publish(small_store, "news", to, licence="http://creativecommons.org/licenses/by/4.0/")
    return to


def _objects(file: Path, subject: str, predicate: str) -> set[str]:
    store = ox.Store()
    store.load(file.read_bytes(), ox.RdfFormat.TURTLE)
    found = store.quads_for_pattern(ox.NamedNode(subject), ox.NamedNode(predicate), None)
    return {quad.object.value for quad in found}


def test_published_file_reads_back_to_the_same_frames(small_store: Store, folder: Path) -> None:
    want = small_store.frames(["news"])
    found = read(folder / "news.ttl", name="news").frames
    for name in ("documents", "annotations", "links", "regions"):
        columns = getattr(want, name).columns
        assert getattr(found, name).sort(columns).equals(getattr(want, name).sort(columns)), name


def test_published_file_carries_the_measures(folder: Path) -> None:
    anna = "http://example.org/news/1#char=0,4"
    assert _objects(folder / "news.ttl", anna, f"{HFTS}ambiguitySurfaceForm") == {"900"}
    # Recall is known of two documents of three.
    measured = read(folder / "news.ttl").frames.values.filter(pl.col("term").str.ends_with("maxRecall"))
    assert measured.height == 2


def test_description_gives_sizes_licence_and_checksum_of_the_file(folder: Path) -> None:
    data, described = folder / "news.ttl", folder / "news.dcat.ttl"
    triples = sum(1 for _ in ox.parse(data.read_bytes(), format=ox.RdfFormat.TURTLE))
    assert _objects(described, NEWS, f"{VOID}triples") == {str(triples)}
    assert _objects(described, NEWS, f"{RMX}annotations") == {"8"}
    assert _objects(described, NEWS, f"{DCTERMS}license") == {"http://creativecommons.org/licenses/by/4.0/"}
    assert _objects(described, f"{NEWS}#distribution", f"{DCAT}byteSize") == {str(data.stat().st_size)}
    checksum = _objects(described, f"{NEWS}#checksum", "http://spdx.org/rdf/terms#checksumValue")
    assert checksum == {hashlib.sha256(data.read_bytes()).hexdigest()}


def test_checksums_are_those_of_all_files(folder: Path) -> None:
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    named = {line.split("  ")[1]: line.split("  ")[0] for line in lines}
    files = [file for file in folder.iterdir() if file.name != "SHA256SUMS"]
    assert named == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    described = {"news.manifest.ttl", "news.dcat.ttl", "news.dataid.ttl", "news.croissant.json"}
    drawn = {f"news.{name}.svg" for name in ("names", "entities", "annotations", "words")}
    pages = {"README.md", "CITATION.cff", "index.html", "ontology.html"}
    assert set(named) == {"news.ttl", "news.parquet"} | pages | described | drawn


def test_manifest_names_the_content_and_the_measures(small_store: Store, folder: Path) -> None:
    manifest = folder / "news.manifest.ttl"
    assert _objects(manifest, NEWS, f"{RMX}contentHash") == {small_store.dataset("news").content}
    assert _objects(manifest, NEWS, f"{RMX}enrichment") == {"by hand"}


def test_publishing_twice_gives_the_same_bytes(small_store: Store, folder: Path, tmp_path: Path) -> None:
    publish(small_store, "news", tmp_path, licence="http://creativecommons.org/licenses/by/4.0/")
    for file in folder.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_publishing_an_unknown_dataset_names_the_nearest(small_store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'news'"):
        publish(small_store, "newss", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_publishing_with_a_licence_that_is_no_iri_is_refused(small_store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="IRI"):
        publish(small_store, "news", tmp_path, licence="CC BY 4.0")


URL = "https://example.org/data/"


@pytest.mark.parametrize("syntax", ["ttl", "nt", "jsonld"])
def test_every_syntax_compressed_or_not_reads_back_to_the_same_frames_and_by_rdflib(
    small_store: Store, tmp_path: Path, syntax: str
) -> None:
    publish(small_store, "news", tmp_path, syntax=syntax)
    want = small_store.frames(["news"]).annotations
    found = read(tmp_path / f"news.{syntax}", name="news").frames.annotations
    assert found.sort("annotation").equals(want.sort("annotation"))
    graph = rdflib.Graph().parse(tmp_path / f"news.{syntax}", format={"jsonld": "json-ld"}.get(syntax, syntax))
    packed = tmp_path / "packed"
    publish(small_store, "news", packed, syntax=syntax, gzip=True)
    assert gzip.decompress((packed / f"news.{syntax}.gz").read_bytes()) == (tmp_path / f"news.{syntax}").read_bytes()
    assert len(graph) == int(*_objects(tmp_path / "news.dcat.ttl", NEWS, f"{VOID}triples"))


def test_descriptions_say_where_the_files_will_be_and_who_made_them(small_store: Store, tmp_path: Path) -> None:
    publish(small_store, "news", tmp_path, url=URL, creator=["A. Person"], description="Old news.")
    described = tmp_path / "news.dcat.ttl"
    assert _objects(described, f"{NEWS}#distribution", f"{DCAT}downloadURL") == {f"{URL}news.ttl"}
    assert _objects(described, f"{NEWS}#distribution-parquet", f"{DCAT}downloadURL") == {f"{URL}news.parquet"}
    assert _objects(described, NEWS, f"{DCTERMS}description") == {"Old news."}
    # GERBIL's descriptions of corpora say which thing in the document is the dataset.
    topic = "http://xmlns.com/foaf/0.1/primaryTopic"
    assert _objects(tmp_path / "news.dataid.ttl", f"{URL}news.dataid.ttl", topic) == {f"{URL}news.dataid.ttl#dataset"}
    croissant = json.loads((tmp_path / "news.croissant.json").read_text())
    assert [one["contentUrl"] for one in croissant["distribution"]] == [f"{URL}news.ttl", f"{URL}news.parquet"]
    assert yaml.safe_load((tmp_path / "CITATION.cff").read_text())["authors"] == [{"name": "A. Person"}]
    with pytest.raises(UsageError, match="URL 'here' is no IRI"):
        publish(small_store, "news", tmp_path / "other", url="here")


def test_table_has_a_document_a_row_with_its_mentions(small_store: Store, folder: Path) -> None:
    rows = pl.read_parquet(folder / "news.parquet")
    frames = small_store.frames(["news"])
    assert rows["text"].to_list() == frames.documents["text"].to_list()
    assert rows["mentions"].list.len().sum() == frames.annotations.height
    for text, mentions in rows.select("text", "mentions").drop_nulls().iter_rows():
        assert all(text[one["begin"] : one["end"]] == one["surface_form"] for one in mentions)


def test_croissant_describes_every_column_of_the_table_and_every_field_of_a_mention(folder: Path) -> None:
    described = json.loads((folder / "news.croissant.json").read_text())
    fields = described["recordSet"][0]["field"]
    table = pl.read_parquet(folder / "news.parquet")
    assert [one["name"] for one in fields] == table.columns
    mention = table.explode("mentions").unnest("mentions").drop("document", "text", "language")
    kinds = {"sc:Text": pl.String(), "sc:Integer": pl.Int64(), "sc:Boolean": pl.Boolean()}
    told = {one["name"]: kinds[one["dataType"]] for one in fields[-1]["subField"]}
    lists = {one["name"] for one in fields[-1]["subField"] if one.get("repeated")}
    assert {name: pl.List(kind) if name in lists else kind for name, kind in told.items()} == mention.schema


@pytest.mark.long
def test_card_has_a_section_for_each_dataset_and_is_not_written_over_that_of_others(
    small_store: Store, tmp_path: Path
) -> None:
    names = [entry.name for entry in small_store.datasets()][:2]
    for name in names:
        publish(small_store, name, tmp_path)
    head = yaml.safe_load((tmp_path / "README.md").read_text().split("---")[1])
    assert [one["config_name"] for one in head["configs"]] == sorted(names)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "README.md").write_text("my own notes")
    with pytest.raises(UsageError, match=r"README\.md is there already, and remix has not written it"):
        publish(small_store, "news", mine)
    assert (mine / "README.md").read_text() == "my own notes"


@pytest.mark.long
def test_citation_has_all_datasets_of_the_folder_whichever_was_published_last(
    small_store: Store, tmp_path: Path
) -> None:
    for names in (("news", "posts"), ("posts", "news")):
        for name in names:
            publish(small_store, name, tmp_path / names[0], creator=[f"Makers of {name}"])
    said = (tmp_path / "news" / "CITATION.cff").read_text()
    assert said == (tmp_path / "posts" / "CITATION.cff").read_text()
    cited = yaml.safe_load(said)
    assert [one["identifiers"][0]["value"] for one in cited["references"]] == [
        small_store.dataset(name).iri for name in ("news", "posts")
    ]
    assert cited["authors"] == [{"name": "Makers of news"}, {"name": "Makers of posts"}]


class Links(HTMLParser):
    """What a page leads to, its ids, and every element and attribute that it has."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.places: list[str] = []
        self.ids: list[str] = []
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.places += [value or "" for name, value in attrs if name in ("href", "src", "action", "data")]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def broken(self, folder: Path) -> list[str]:
        """Links to what is neither a place in the page, nor a file beside it, nor a page of the web."""
        places = [one for one in self.places if not one.startswith(("https://", "http://", "data:,"))]
        here = {f"#{one}" for one in self.ids}
        return [one for one in places if one not in here and not (folder / unquote(one)).is_file()]


def test_home_page_leads_to_files_that_are_there_and_tells_their_checksums(folder: Path) -> None:
    page = Links(folder / "index.html")
    assert page.broken(folder) == [] and len(page.ids) == len({*page.ids})
    assert {unquote(one).removeprefix("./") for one in page.places if one.startswith("./")} == {
        file.name for file in folder.iterdir() if file.name != "index.html"
    }
    # SHA256SUMS has the checksum of the page, so that the page cannot have those of all files.
    own = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines() if "  news." in line]
    assert [name for sum_, name in own if f"SHA-256 {sum_}" not in page.texts] == [] and len(own) == 10
    assert Links(folder / "ontology.html").broken(folder) == []


def test_home_page_tells_the_numbers_that_the_file_has(folder: Path) -> None:
    said = " ".join(Links(folder / "index.html").texts)
    assert "3 documents with 8 mentions of 8 entities" in said
    assert "http://creativecommons.org/licenses/by/4.0/" in said and "remix load news.ttl" in said
    drawn = (folder / "news.names.svg").read_text()
    known = read(folder / "news.ttl").frames.values.filter(pl.col("term").str.ends_with("ambiguitySurfaceForm"))
    counts = [int(one) for one in re.findall(r"<title>[^<]* to [^<]*: (\d+)</title>", drawn)]
    assert sum(counts) == known.height > 0


def test_what_users_say_stays_text_on_the_home_page(small_store: Store, tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=alert(2)> `<b>` <!-- end of news -->'
    publish(
        small_store, "news", tmp_path, licence="javascript:alert(3)", creator=[evil], description=evil, url="urn:x:y"
    )
    publish(small_store, "posts", tmp_path, description="مرحبا 中文")
    page = Links(tmp_path / "index.html")
    assert not page.elements & {"script", "img", "b", "iframe", "object", "form"}
    assert not [name for name in page.attributes if name.startswith("on") or name == "style"]
    assert page.broken(tmp_path) == [] and "مرحبا 中文" in page.texts
    assert any("<script>alert(1)</script>" in text for text in page.texts)
    assert "script-src" not in (policy := (tmp_path / "index.html").read_text().partition("<title>")[0])
    assert "default-src 'none'" in policy.replace("&#39;", "'")


@pytest.mark.long
def test_home_page_has_all_datasets_of_the_folder_whichever_was_published_last(
    small_store: Store, tmp_path: Path
) -> None:
    for names in (("news", "posts"), ("posts", "news"), ("news", "posts", "news")):
        for name in names:
            publish(small_store, name, tmp_path / "-".join(names), description=f"These are {name}.")
    said = {(folder / "index.html").read_text() for folder in tmp_path.iterdir()}
    assert len(said) == 1 and all(f"These are {name}." in next(iter(said)) for name in ("news", "posts"))
    page = Links(tmp_path / "news-posts" / "index.html")
    assert page.broken(tmp_path / "news-posts") == [] and len(page.ids) == len({*page.ids})


@pytest.mark.long
@pytest.mark.parametrize("name", ["sample-news", "sample-posts"])
def test_home_page_says_how_many_entities_have_no_prominence_that_is_known(
    sample_store: Store, tmp_path: Path, name: str
) -> None:
    """Else a dataset whose entities the knowledge base lacks seems to have few that are prominent."""
    publish(sample_store, name, tmp_path)
    page = (tmp_path / "index.html").read_text()
    data, subject = tmp_path / f"{name}.ttl", f"urn:remix:dataset:{name}"
    shares = [
        float(*_objects(data, subject, f"{RMX}microPagerankSegment{part}")) for part in ("Head", "Tail", "Unspecified")
    ]
    head, tail, unknown = (f"{100 * share:.0f} %" for share in shares)
    told = f"{head} of annotations mean an entity of the most prominent tenth of the knowledge base, {tail} one of its"
    assert f"{told} tail, {unknown} none whose prominence is known.</p>" in page


def test_home_page_of_somebody_else_stays_unless_it_is_forced(small_store: Store, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>mine</p>")
    with pytest.raises(UsageError, match=r"index\.html is there already, and remix has not written it"):
        publish(small_store, "news", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["index.html"]
    publish(small_store, "news", tmp_path, force=True)
    assert "mine" not in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    "foreign",
    [
        "title: A paper\nauthors: [{family-names: Author}]\nidentifiers: [{type: doi, value: 10.1000/1}]\n",
        "references: [1, {title: A paper, identifiers: []}, {identifiers: [{type: other, value: urn:x}]}]\n",
    ],
)
def test_forced_citation_takes_the_place_of_one_that_remix_has_not_written(
    small_store: Store, tmp_path: Path, foreign: str
) -> None:
    (tmp_path / "CITATION.cff").write_text(foreign)
    publish(small_store, "news", tmp_path, force=True)
    said = yaml.safe_load((tmp_path / "CITATION.cff").read_text())
    assert said["title"] == "news" and "references" not in said and "A paper" not in str(said)


@pytest.mark.long
def test_answers_of_a_run_are_published_in_the_texts_of_their_dataset(run_store: Store, tmp_path: Path) -> None:
    work = open_workspace(run_store.folder)
    run = next(one for one in list_runs(run_store.folder / "runs") if one.task == "A2KB")
    work.publish(run.dataset, run=run.system, to=tmp_path)
    found = read(tmp_path / f"{run.dataset}-{run.system}.ttl").frames
    _, answers = load_run(run_store.folder / "runs", run.system, run.dataset)
    assert found.documents.height == run_store.dataset(run.dataset).documents
    spans = ["begin", "end", "surface_form"]
    assert found.annotations.select(spans).sort(spans).equals(answers.annotations.select(spans).sort(spans))
    with pytest.raises(UnknownName, match="nobody"):
        work.publish(run.dataset, run="nobody", to=tmp_path)


@pytest.mark.extra
def test_published_folder_is_loaded_by_the_tools_of_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    croissant = pytest.importorskip("mlcroissant", reason="needs the extra `published`")
    datasets = pytest.importorskip("datasets", reason="needs the extra `published`")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    described = croissant.Dataset(jsonld=str(folder / "news.croissant.json"))
    assert not described.metadata.ctx.issues.errors
    told = {}
    for row in described.records("documents"):
        mentions = [one["documents/mentions/begin"] for one in row["documents/mentions"]]
        told[row["documents/text"].decode()] = [begin for begin in mentions if begin is not None]
    table = pl.read_parquet(folder / "news.parquet").select(
        "text", begin=pl.col("mentions").list.eval(pl.element().struct.field("begin"))
    )
    assert told == {text: begins or [] for text, begins in table.iter_rows()}
    loaded = datasets.load_dataset(str(folder), "news", cache_dir=str(folder.parent / "cache"))
    assert loaded["test"].num_rows == pl.read_parquet(folder / "news.parquet").height


@pytest.mark.extra
def test_published_nif_has_its_shapes_and_what_has_not_is_told(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyshacl", reason="needs the extra `shacl`")
    from remix.checks.findings import find_violations

    empty = Frames.empty()
    assert find_violations(str(folder / "news.ttl"), empty).is_empty()
    wrong = (folder / "news.ttl").read_text().replace('nif:anchorOf "Anna"', 'nif:anchorOf "Otto"', 1)
    (tmp_path / "wrong.ttl").write_text(wrong)
    [found] = find_violations(str(tmp_path / "wrong.ttl"), empty)["what"]
    assert found.endswith("The form of a mention is what its text says there.")


def test_every_description_keeps_licence_citation_creator_and_source_of_a_catalogue_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gold is where a split of the catalogue is once it is fetched."""
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "cache"))
    known = next(
        one
        for one in catalog.entries().values()
        if "/" in one.name and catalog.licence_iri(one.licence) and one.url and catalog.authors(one)
    )
    work = Workspace(tmp_path / ".remix")
    known.place.parent.mkdir(parents=True)
    shutil.copy(GOLD, known.place)
    work.load([known.place], name=known.loaded_name, format="nif")
    work.publish(known.loaded_name, to=tmp_path / "out")
    files = {
        file.name.removeprefix(known.loaded_name): file.read_text()
        for file in (tmp_path / "out").iterdir()
        if file.suffix != ".parquet"
    }
    wanted = (catalog.licence_iri(known.licence), known.citation, catalog.authors(known)[0], known.url)
    for name in (".dcat.ttl", ".dataid.ttl", ".manifest.ttl", ".croissant.json", "README.md"):
        assert [one for one in wanted if str(one) not in files[name]] == [], name
    cited = yaml.safe_load(files["CITATION.cff"])
    assert [cited["license-url"], cited["message"], cited["authors"][0]["name"], cited["repository-artifact"]] == [
        *wanted
    ]


GOLD = Path(__file__).parent / "runs" / "small" / "gold.ttl"


@pytest.mark.long
def test_dataset_that_has_only_the_name_of_a_catalogue_entry_does_not_take_over_its_rights(tmp_path: Path) -> None:
    """Nor does a remix of it, nor are the counts of the entry expected of it."""
    known = catalog.entries()["kore50"]
    work = Workspace(tmp_path / ".remix")
    work.load([GOLD], name="kore50")
    assert "count" not in work.check(["kore50"])["rule"].to_list()
    assert describe_dataset(work.store.dataset("kore50"), work.store)["licence"] == "unknown"
    work.build("SELECT ?document ?annotation { ?annotation nif:referenceContext ?document }", to=tmp_path, name="mixed")
    work.load([tmp_path / "mixed.ttl"])
    for name in ("kore50", "mixed"):
        work.publish(name, to=tmp_path / name)
        for file in (tmp_path / name).iterdir():
            said = file.read_bytes().decode(errors="replace")
            assert known.citation not in said and known.url not in said, file


def test_dataset_is_recognised_by_its_content_and_by_where_it_was_fetched_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "cache"))
    shipped, fetched = catalog.entries()["sample-posts"], catalog.entries()["kore50"]
    copy = tmp_path / "copy.ttl"
    shutil.copy(shipped.place, copy)
    assert catalog.recognise("sample-posts", str(copy)) == shipped
    assert catalog.recognise("other", str(shipped.place.resolve())) == shipped
    assert catalog.recognise("sample-posts", str(GOLD)) is None
    assert catalog.recognise("mine", str(fetched.place.resolve())) == fetched
    assert catalog.recognise("kore50", str(GOLD)) is None


@pytest.mark.long
def test_remix_names_licence_and_citation_of_all_its_origins(
    sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    work = sample_workspace()
    work.build("SELECT ?document ?annotation { ?annotation nif:referenceContext ?document }", to=tmp_path, name="mixed")
    work.load([tmp_path / "mixed.ttl"])
    work.publish("mixed", to=tmp_path / "out")
    for name in ("mixed.dcat.ttl", "mixed.manifest.ttl", "README.md", "mixed.dataid.ttl"):
        said = (tmp_path / "out" / name).read_text()
        for one in catalog.entries().values():
            if one.name in ("sample-news", "sample-posts", "sample-biographies"):
                assert one.title in said and one.citation in said, (name, one.name)
        assert "https://spdx.org/licenses/Apache-2.0.html" in said
    alone = tmp_path / "alone"
    work.publish("sample-news", to=alone)
    assert "https://spdx.org/licenses/Apache-2.0.html" in (alone / "sample-news.dcat.ttl").read_text()
