"""What is mended in the text of RDF that does not parse: dots, prefixes and IRIs; XML that would grow is refused."""

from __future__ import annotations

import json
import re
from html import unescape
from xml.sax.saxutils import quoteattr

from remix.errors import BadInput
from remix.formats.repairs import RepairTally
from remix.formats.source import SourceFile
from remix.names import PREFIXES
from remix.rdf.iris import legal_reference

_GROWTH, _FREE = 8, 1 << 20
"""How many times its length an XML file with all its entities may have, and how many characters whatever its length."""
_USED = re.compile(r"&([\w.:-]+);")
_DECLARED = re.compile(r"""&([\w.:-]+);|<!ENTITY\s+([\w.:-]+)\s+("[^"]*"|'[^']*')""")


def refuse_entities_that_grow(text: str, source: SourceFile) -> None:
    """Raise `BadInput` for XML whose entities stand for much more than is there; the parser writes them out."""
    limit = _GROWTH * len(text) + _FREE
    sizes: dict[str, int] = {}
    grown = 0
    for match in _DECLARED.finditer(text):
        if match[2] is not None:
            # An entity is made of those that were declared before it.
            sizes[match[2]] = size = len(match[3]) + sum(sizes.get(name, 0) for name in _USED.findall(match[3]))
            grown += size
        else:
            grown += sizes.get(match[1], 0)
        if grown > limit:
            line = text.count("\n", 0, match.start()) + 1
            reason = f"has entities (<!ENTITY …>) that grow to more than {_GROWTH} times the file"
            raise BadInput(source.name, reason, line=line)


def declare_prefix(text: str, prefix: str) -> str | None:
    """Return Turtle with a well-known prefix declared before its first line, null for an unknown prefix.

    Lines keep their numbers.
    """
    if prefix not in PREFIXES:
        return None
    return f"@prefix {prefix}: <{PREFIXES[prefix]}> . {text}"


_UNDOTTED = re.compile(
    r"^([ \t]*@(?:prefix[ \t]+\S*:|base)[ \t]*<[^<>\n]*>)([ \t]*(?:#[^\r\n]*)?)(?=\r?$)", re.MULTILINE
)


def add_dots(text: str, tally: RepairTally) -> str:
    """Return Turtle with a dot at the end of each `@prefix` line that lacks it.

    >>> tally = RepairTally()
    >>> add_dots("@prefix a: <http://a/>\\n@prefix b: <http://b/> .", tally), tally.counts["missing-dot"]
    ('@prefix a: <http://a/> .\\n@prefix b: <http://b/> .', 1)
    """

    def add_dot(match: re.Match[str]) -> str:
        # The dot may stand alone on the next line.
        if text[match.end() : match.end() + 200].lstrip().startswith("."):
            return match[0]
        if not (known := tally.examples.get("missing-dot", "")):
            known = f"line {text.count(chr(10), 0, match.start()) + 1}: {match[1].strip()}"
        tally.add("missing-dot", known)
        return f"{match[1]} .{match[2]}"

    return _UNDOTTED.sub(add_dot, text)


_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+'''"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'(?:[^'\\\n]|\\.)*+'"
    r"|<([^<>\n]*)>"
    r"|\#[^\n]*",
    re.DOTALL,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def mend_iris(text: str, tally: RepairTally) -> str:
    """Return Turtle or N-Triples with every IRI legal; strings and comments stay as they are."""
    mended: dict[str, str] = {}
    first: list[str] = []

    def legal(match: re.Match[str]) -> str:
        """Return a token as it is or, where it is an illegal IRI, mended and told."""
        iri = match[1]
        if iri is None:
            return match[0]
        if iri not in mended:
            mended[iri] = mend_iri(iri)
        if mended[iri] == iri:
            return match[0]
        if not first:
            first.append(f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]}")
        tally.add("invalid-iri", first[0])
        return f"<{mended[iri]}>"

    return _TOKEN.sub(legal, text)


_JSON_ID = re.compile(r'("@id"\s*:\s*)("(?:[^"\\]|\\.)*")')
_XML_TAG = re.compile(r"""<[A-Za-z_](?:[^<>"']|"[^"<]*"|'[^'<]*')*>""")
_XML_IRI = re.compile(r"""(\brdf:(?:about|resource)\s*=\s*)("[^"]*"|'[^']*')""")


def mend_json_iris(text: str, tally: RepairTally) -> str:
    """Return JSON-LD with every `@id` legal; the parser leaves out, without a word, what says an illegal one.

    >>> mend_json_iris('{"@id": "http://x/a b"}', tally := RepairTally()), tally.examples
    ('{"@id": "http://x/a%20b"}', {'invalid-iri': 'line 1: "http://x/a b"'})
    """

    def legal(match: re.Match[str]) -> str:
        try:
            iri = json.loads(match[2], strict=False)
        except ValueError:
            return match[0]
        mended = legal_reference(iri)
        if mended == iri:
            return match[0]
        _tell_iri(text, match, tally)
        return match[1] + json.dumps(mended, ensure_ascii=False)

    return _JSON_ID.sub(legal, text)


def mend_xml_iris(text: str, tally: RepairTally) -> str:
    """Return RDF/XML in which all that `rdf:about` and `rdf:resource` say is legal.

    >>> mend_xml_iris("<a rdf:about='http://x/a b>c'/>", RepairTally())
    '<a rdf:about="http://x/a%20b%3Ec"/>'
    """
    first = 0

    def legal(match: re.Match[str]) -> str:
        iri = unescape(match[2][1:-1])
        mended = legal_reference(iri)
        # What the file declares itself (`&dbr;Rome`) cannot be written again.
        if mended == iri or _USED.search(iri):
            return match[0]
        _tell_iri(text, match, tally, first)
        return match[1] + quoteattr(mended)

    def legal_in(tag: re.Match[str]) -> str:
        nonlocal first
        first = tag.start()
        return _XML_IRI.sub(legal, tag[0])

    return _XML_TAG.sub(legal_in, text)


def _tell_iri(text: str, match: re.Match[str], tally: RepairTally, first: int = 0) -> None:
    """Count an IRI that was mended; the first is told with its line in the text, in which the match is `first` on."""
    known = tally.examples.get("invalid-iri")
    line = "" if known else f"line {text.count(chr(10), 0, first + match.start()) + 1}: {match[2]}"
    tally.add("invalid-iri", known or line)


def find_relative_ids(text: str) -> tuple[int, str]:
    """Return how many `@id` of JSON-LD have no scheme, and the first with its line; none where the text has a base.

    >>> find_relative_ids('[{"@id": "d1"}, {"@id": "_:b0"}, {"@id": "@type"}]')
    (1, 'line 1: "d1"')
    """
    found = [] if '"@base"' in text else [one for one in _JSON_ID.finditer(text) if re.match('"[^:@]*"$', one[2])]
    return len(found), f"line {text.count(chr(10), 0, found[0].start()) + 1}: {found[0][2]}" if found else ""


def find_relative_iris(text: str) -> tuple[int, str]:
    """Return how many IRIs of a text have no scheme, and the first with its line.

    >>> find_relative_iris('<a> <http://b> "<c>" .')
    (1, 'line 1: <a>')
    """
    found = (match for match in _TOKEN.finditer(text) if match[1] is not None and not _SCHEME.match(match[1]))
    first = next(found, None)
    if first is None:
        return 0, ""
    line = text.count("\n", 0, first.start()) + 1
    return 1 + sum(1 for _ in found), f"line {line}: {first[0]}"


def mend_iri(iri: str) -> str:
    """Return an IRI of Turtle, with its escapes, that parses; one that does so already stays as it is spelt.

    >>> mend_iri(" http://x/a b#c#d "), mend_iri("http://x/Jos\\\\u00e9")
    ('http://x/a%20b#c%23d', 'http://x/Jos\\\\u00e9')
    """
    plain = _ESCAPE.sub(lambda match: chr(min(int(match[1] or match[2], 16), 0x10FFFF)), iri)
    legal = legal_reference(plain)
    return iri if legal == plain else legal
