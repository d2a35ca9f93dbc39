"""Makes the corpus and the knowledge base that ship with the project from the files people edit.

    python scripts/corpus.py            write datasets/corpus/*.ttl and datasets/kb/*.tsv
    python scripts/corpus.py --check    change nothing; exit 1 where they are out of date

Texts are in `datasets/corpus/source/*.txt`. A line `= id | language | title` begins a document; the lines after it
are its text (an empty line begins a paragraph). `[[surface form|Title]]` marks a mention of the entity that DBpedia
has under that title; mentions nest; `A or B` names two acceptable entities; `NIL:Name` says that there is none in
the knowledge base; ` #word` after the title notes a phenomenon (`demonym`, `metonym`), which tests count.

Facts are in `datasets/kb/facts/*.txt`, one entity a line: `Title | label | types | names | relation=Title; …`.
`redirects-*.txt` hold `Title > Title`, `disambiguations-*.txt` hold `Page > Title; Title`,
`demonyms.txt` `Title > demonym; demonym`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DATASETS = Path(__file__).resolve().parent.parent / "datasets"
BASE = "https://w3id.org/nel-remix/corpus/"
DBR = "http://dbpedia.org/resource/"
NIL = "http://aksw.org/notInWiki/"
ILLEGAL = {c: f"%{ord(c):02X}" for c in '<>"{}|\\^`%'}


@dataclass(frozen=True)
class Mention:
    """A marked span: code-point offsets, acceptable titles, noted phenomenon."""

    begin: int
    end: int
    titles: tuple[str, ...]
    phenomenon: str


@dataclass
class Document:
    """A text with its mentions, in the order of their begins, longer ones first."""

    name: str
    language: str
    title: str
    text: str = ""
    mentions: list[Mention] = field(default_factory=list)


def parse_markup(marked: str, where: str) -> tuple[str, list[Mention]]:
    """Return the plain text and the mentions of a marked text."""
    plain: list[str] = []
    begins: list[int] = []
    mentions: list[Mention] = []
    length = 0
    for token in re.split(r"(\[\[|\|[^\[\]|]*\]\])", marked):
        if token == "[[":
            begins.append(length)
        elif token.startswith("|") and token.endswith("]]"):
            if not begins:
                raise SystemExit(f"{where}: '{token}' closes nothing")
            titles, _, phenomenon = token[1:-2].partition(" #")
            mentions.append(Mention(begins.pop(), length, tuple(titles.strip().split(" or ")), phenomenon.strip()))
        else:
            plain.append(token)
            length += len(token)
    if begins or "]]" in (text := "".join(plain)):
        raise SystemExit(f"{where}: a mention is not closed as [[form|Title]]")
    return text, sorted(mentions, key=lambda m: (m.begin, -m.end, m.titles))


def documents(file: Path) -> Iterator[Document]:
    """Return the documents of one source file."""
    current: Document | None = None
    paragraphs: list[str] = []
    for line in [*file.read_text(encoding="utf-8").splitlines(), "= end | |"]:
        if line.startswith("= "):
            if current is not None:
                marked = "\n\n".join(" ".join(p.split("\n")) for p in "\n".join(paragraphs).strip().split("\n\n"))
                current.text, current.mentions = parse_markup(marked, f"{file.name}, {current.name}")
                yield current
            name, language, title = (part.strip() for part in line[2:].split("|"))
            current, paragraphs = Document(name, language, title), []
        elif not line.startswith("#"):
            paragraphs.append(line.strip())


def literal(text: str) -> str:
    """Return the text as a Turtle string."""
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    return f'"{escaped}"'


def iri(title: str) -> str:
    """Return the IRI, in angle brackets, of a title or of a `NIL:` name."""
    kind, _, rest = title.partition("NIL:")
    name = (title if kind or not rest else rest).strip().replace(" ", "_")
    return f"<{DBR if kind or not rest else NIL}{''.join(ILLEGAL.get(c, c) for c in name)}>"


def turtle(file: Path) -> str:
    """Return the documents of one source file as NIF in Turtle."""
    lines = [
        "@prefix dcterms: <http://purl.org/dc/terms/> .",
        "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .",
        "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
    ]
    number = "^^xsd:nonNegativeInteger"
    for document in documents(file):
        base = f"{BASE}{file.stem}/{document.name}"
        context = f"<{base}#char=0,{len(document.text)}>"
        lines += [
            f"\n{context} a nif:Context, nif:String, nif:RFC5147String ;",
            f"  dcterms:title {literal(document.title)}@{document.language} ;",
            f'  nif:beginIndex "0"{number} ; nif:endIndex "{len(document.text)}"{number} ;',
            f"  nif:isString {literal(document.text)}@{document.language} .",
        ]
        for mention in document.mentions:
            for n, title in enumerate(mention.titles):
                alternative = f";{n + 1}" if len(mention.titles) > 1 else ""
                lines += [
                    f"<{base}#char={mention.begin},{mention.end}{alternative}> a nif:Phrase, nif:String ;",
                    f"  nif:referenceContext {context} ;",
                    f'  nif:beginIndex "{mention.begin}"{number} ; nif:endIndex "{mention.end}"{number} ;',
                    f"  nif:anchorOf {literal(document.text[mention.begin : mention.end])} ;",
                    f"  itsrdf:taIdentRef {iri(title)} .",
                ]
    return "\n".join(lines) + "\n"


def fact_lines(pattern: str, separator: str, parts: int) -> Iterator[tuple[str, list[str]]]:
    """Return the fields of every fact line of the files of that pattern, with the file's stem."""
    for file in sorted((DATASETS / "kb" / "facts").glob(pattern)):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                fields = [part.strip() for part in line.split(separator)]
                if len(fields) != parts:
                    raise SystemExit(f"{file.name}:{number}: {len(fields)} fields, not {parts}")
                yield file.stem, fields


def items(text: str) -> list[str]:
    """Return the items of a list in a fact line."""
    return [item.strip() for item in text.split(";") if item.strip()]


def tables() -> dict[str, str]:
    """Return the tables of the knowledge base, by file name."""
    headers = {
        "labels": "entity_iri\tlabel\tsource",
        "surface_forms": "surface_form\tentity_iri\tcount\tsource",
        "types": "entity_iri\ttype_iri\tsource",
        "links": "source_iri\ttarget_iri\tcount\tsource",
        "redirects": "redirect_iri\ttarget_iri\tsource",
        "disambiguations": "page_iri\tentity_iri\tsource",
        "demonyms": "demonym\tentity_iri\tsource",
    }
    rows: dict[str, set[str]] = {name: set() for name in headers}
    facts = [(stem, f) for stem, f in fact_lines("[!rd]*.txt", " | ", 5)]
    known = {f[0] for _, f in facts}
    for stem, (title, label, types, names, relations) in facts:
        entity, source = f"dbr:{title}", f"facts:{stem}"
        rows["labels"].add(f"{entity}\t{label}\t{source}")
        rows["surface_forms"] |= {f"{name}\t{entity}\t\t{source}" for name in {label, *items(names)}}
        rows["types"] |= {f"{entity}\tdbo:{kind}\t{source}" for kind in types.split()}
        for relation in items(relations):
            name, _, target = relation.partition("=")
            if target in known:
                rows["links"].add(f"{entity}\tdbr:{target}\t1\tfacts:{name}")
    for stem, (title, target) in fact_lines("redirects-*.txt", " > ", 2):
        if title not in known and target in known:
            rows["redirects"].add(f"dbr:{title}\tdbr:{target}\tfacts:{stem}")
            rows["surface_forms"].add(f"{title.replace('_', ' ')}\tdbr:{target}\t\tfacts:redirect")
    for stem, (page, targets) in fact_lines("disambiguations-*.txt", " > ", 2):
        form = re.sub(r"_\(disambiguation\)$", "", page).replace("_", " ")
        for target in items(targets):
            if target in known:
                if page not in known:
                    rows["disambiguations"].add(f"dbr:{page}\tdbr:{target}\tfacts:{stem}")
                rows["surface_forms"].add(f"{form}\tdbr:{target}\t\tfacts:disambiguation")
    for stem, (title, names) in fact_lines("demonyms.txt", " > ", 2):
        rows["demonyms"] |= {f"{name}\tdbr:{title}\tfacts:{stem}" for name in items(names)}
    return {f"{name}.tsv": "\n".join([headers[name], *sorted(rows[name])]) + "\n" for name in headers}


def main(arguments: list[str]) -> int:
    """Write, or with `--check` compare, every generated file."""
    made = {DATASETS / "kb" / name: text for name, text in tables().items()}
    for file in sorted((DATASETS / "corpus" / "source").glob("*.txt")):
        made[DATASETS / "corpus" / f"{file.stem}.ttl"] = turtle(file)
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{'out of date' if '--check' in arguments else 'written'}: {path.relative_to(DATASETS.parent)}")
        if "--check" not in arguments:
            path.write_text(made[path], encoding="utf-8")
    return int("--check" in arguments and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
