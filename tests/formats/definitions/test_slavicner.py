"""SlavicNER: tables of mentions in `ner`, their texts in `raw`."""

from __future__ import annotations

import zipfile
from pathlib import Path

from remix.formats import read

FILES = {
    "raw/news/uk/1.txt": "Київ є, Ryanair теж.",
    "ner/news/uk/1.tsv": "0\t4\tКиїв\tКиїв\tLOC\tGPE-Kiev\n8\t15\tRyanair\tRyanair\tORG\tORG-Ryanair\n",
    "raw/news/cs/2.txt": "Nic.",
    "ner/news/cs/2.tsv": "",
}


def test_tables_are_read_with_the_texts_of_the_folder_beside(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, content in FILES.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, encoding="utf-8")
            archive.writestr(name, content)
    for place, documents in (("ner/news", 2), ("all.zip", 2), ("ner/news/uk/1.tsv", 1)):
        found = read(tmp_path / place)
        assert (found.report.format, found.report.documents, found.report.repairs) == ("slavicner-tsv", documents, ())
        assert found.frames.annotations.select("begin", "end", "surface_form").rows() == [
            (0, 4, "Київ"),
            (8, 15, "Ryanair"),
        ]
        assert found.frames.links["entity_as_given"].to_list() == [
            "https://github.com/SlavicNLP/SlavicNER#GPE-Kiev",
            "https://github.com/SlavicNLP/SlavicNER#ORG-Ryanair",
        ]
        assert found.frames.documents["text"].null_count() == 0


def test_folder_of_tables_and_raw_texts_is_read_whatever_a_text_begins_with(tmp_path: Path) -> None:
    texts = {"raw/uk/1.txt": "#Київ є", "raw/uk/2.txt": "https://example.org/ Title: Київ"}
    tables = {f"ner/uk/{n}.tsv": f"{n}\t{n + 4}\tКиїв\tКиїв\tLOC\tGPE-Kiev\n" for n in (1, 28)}
    texts["raw/uk/28.txt"] = texts.pop("raw/uk/2.txt")
    for name, content in {**texts, **tables}.items():
        (tmp_path / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / name).write_text(content, encoding="utf-8")
    found = read(tmp_path / "all")
    assert (found.report.format, found.report.documents, found.report.repairs) == ("slavicner-tsv", 2, ())
    assert found.frames.annotations["surface_form"].to_list() == ["Київ", "Київ"]
