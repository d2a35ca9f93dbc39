"""Rules that the readers of files follow: what they mend while they read, and tell."""

from __future__ import annotations

from remix.checks import Rule

_TOLD: dict[str, dict[str, tuple[str, str]]] = {
    "error": {
        "missing-prefix": (
            "A prefix is used and not declared.",
            "Loading supplies the well-known one; declare it in the file, or other tools refuse it.",
        ),
        "missing-dot": (
            "A line with a prefix has no full stop at its end.",
            "Loading puts it there; correct the file, or other tools refuse it.",
        ),
        "invalid-iri": (
            "An IRI is empty or has characters that none may have, such as blanks.",
            "Loading takes outer blanks off and encodes the rest; an empty link becomes NIL.",
        ),
        "relative-iri": (
            "An IRI has no scheme, and the file no base.",
            "Loading makes it one of the dataset; write it in full.",
        ),
        "shared-iri": (
            "One IRI names several annotations, which become one where RDF is merged.",
            "Loading tells them apart by their order in the file; give each an IRI with its sentence and offsets.",
        ),
        "encoding": ("Bytes are no UTF-8.", "Loading reads these lines as Windows-1252; write the file as UTF-8."),
        "surrogate": (
            "An escape is half a character of UTF-16.",
            "Loading puts halves together and replaces lone ones by U+FFFD.",
        ),
        "offset": (
            "Offsets do not give the form that the annotation says, but others do: bytes, UTF-16 units, an "
            "inclusive end, a few characters off.",
            "Loading takes those that give the form; --fix writes them.",
        ),
        "shifted-block": (
            "Three or more annotations in a row of a text are off by as many characters, or count the same other unit.",
            "Loading mends each; look in the program that wrote the file what it put before the first, or what "
            "it counts.",
        ),
        "anchor": (
            "The form that an annotation says is not what its text has there, nor near it.",
            "Loading keeps the offsets and takes the form from the text; look which of them is wrong.",
        ),
        "range": (
            "Offsets lie outside the text.",
            "Loading keeps such annotations without offsets (in NIF with them), and leaves out those of answers; "
            "correct them by hand.",
        ),
        "dangling": (
            "An annotation belongs to a text that is not there.",
            "Loading leaves it out; add the text, or correct nif:referenceContext.",
        ),
        "no-context": ("Something is neither a text nor in one.", "Loading leaves it out; say nif:referenceContext."),
        "context-end": ("A text's end index is not its length.", "Loading takes the length."),
        "duplicate": ("A line says again what another said.", "Loading takes it once."),
        "duplicate-document": (
            "Two documents have one name.",
            "Loading gives the second a name of its own; answers by name cannot be told apart.",
        ),
        "tag": (
            "A tag goes on with a mention that was not begun, or is none.",
            "Loading begins a mention there, and reads what is no tag as none; correct the tag.",
        ),
        "confidence": ("A confidence is no number.", "Loading leaves the confidence out."),
        "language": (
            "A language's tag is none.",
            "Loading leaves the language out; write a tag of BCP 47, as 'en' or 'pt-BR'.",
        ),
        "misspelt": (
            "A key is nearly one that the format has, and is not read.",
            "Correct the key; what stands under it is lost.",
        ),
        "failed": (
            "An answer says that the system failed on this document.",
            "Run the system on it again; its mentions count as missed.",
        ),
        "no-location": ("An annotation does not say where it is.", "Loading leaves it out; give its offsets."),
        "no-triple": ("A line is no triple.", "Loading leaves it out; correct the line."),
        "shacl": (
            "Something does not have the shape that NIF has (`ontology/shapes.ttl`), looked for with --shacl.",
            "Say what is missing, once; `remix convert` writes NIF that has these shapes.",
        ),
        "refused": ("A file cannot be read.", "Its example says where and why."),
        "bracket": (
            "A bracket opens or closes a mention and has no other end.",
            "Loading leaves the mention out; close it, or open it.",
        ),
        "text": (
            "The tokens of a sentence make another text than the one that stands beside them.",
            "Loading takes the text that the tokens make, as mentions are counted in tokens.",
        ),
        "not-in-text": (
            "A form that is told without offsets does not stand in its text, or less often than it is told.",
            "Loading gives it no place; look whether it is spelt as in the text, and told once for each place.",
        ),
        "link": (
            "A link is not of the kind that the format has, as an item of Wikidata without its number.",
            "Loading takes the mention without it; correct the link.",
        ),
        "shared-name": (
            "Several documents have one name.",
            "Loading tells them apart by their order; answers by name cannot be told apart.",
        ),
        "parallel": (
            "Lists whose items belong together are not equally long.",
            "Loading takes the items that all of them have; complete the shorter ones.",
        ),
        "empty-token": (
            "A line of tokens has tags and no token.",
            "Loading passes it over; correct the line, as tokens are counted.",
        ),
        "not-looked-for": (
            "More forms without offsets are told of a text than are looked for in it.",
            "Loading leaves the rest without a place; give offsets, or split the text.",
        ),
    },
    "warning": {
        "no-link": ("Not one annotation has a link.", "Look whether links stand in a column or key that is not read."),
        "column": (
            "A column of a table is not read.",
            "Nothing, where it says nothing of the mentions; else call it as the column that it is (docs/formats.md).",
        ),
        "count": (
            "A dataset has more or less than the catalogue knows of it.",
            "Compare its file with the catalogue's; where both are the same, a reader changed: please report it.",
        ),
        "aligned-fuzzy": (
            "An answer without offsets is not in the text as it is spelt, but nearly.",
            "Look whether loading found the place that was meant; let the system copy forms as they stand.",
        ),
    },
    "note": {
        "repeated-triple": ("A triple stands in the file more than once.", "Nothing; RDF has it once."),
        "fragment": (
            "The offsets in an annotation's IRI are not its begin and end.",
            "Loading takes those that give its form; --fix writes them into the IRI.",
        ),
        "empty-document": (
            "A text is empty.",
            "Loading keeps it, and nothing can be annotated in it; look whether its text was lost.",
        ),
        "unread": (
            "Something in the file is not read, as remix has no place for it.",
            "Nothing, where it is not needed.",
        ),
        "other-layer": (
            "A mention is of another layer than the one that is scored, such as a fine class or a metonymic reading.",
            "Nothing; loading keeps it as rmx:Ignorable with its rmx:layer, so that no count of mentions has it.",
        ),
        "masked": (
            "The words of a text are masked, so that offsets count the masks.",
            "Get the texts, and lay this edition over them: `remix check TEXTS --fix OUT --overlay THIS`.",
        ),
        "unplaced": (
            "A mention is told without its offsets.",
            "Nothing, where the dataset does not tell them; then it counts in tasks without spans only.",
        ),
        "no-mention": ("A row of a table names no mention.", "Nothing; loading passes it over."),
        "aligned-normalised": (
            "An answer without offsets is not in the text as it is spelt, but with other case, spaces or accents.",
            "Nothing; loading takes the place that it found.",
        ),
        "several-places": (
            "A form that is told without offsets stands in its text more often than it is told.",
            "Nothing; loading takes the first places. Give offsets, where another is meant.",
        ),
    },
}
"""By severity, what each kind of mend says: what is wrong, and what loading does about it or is to be done."""

READ = tuple(Rule(kind, severity, *said) for severity, kinds in _TOLD.items() for kind, said in kinds.items())
