"""Signatures: every choice that can change a number, in one line that prints and parses back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from remix.errors import UsageError

_BLOCK = 1 << 16
"""Bytes that are read at a time: most files have fewer, for which `hashlib.file_digest` would clear four times as many.
"""


def content_hash(*parts: bytes | str | Path) -> str:
    """Return the SHA-256, in hexadecimal, of the parts one after another; a path stands for its bytes.

    >>> content_hash("a", "b") == content_hash("ab")
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            with part.open("rb") as stream:
                while block := stream.read(_BLOCK):
                    digest.update(block)
        else:
            digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


@dataclass(frozen=True)
class Signature:
    """Keys and values in a fixed order; `str` prints them, `parse` reads them back.

    >>> s = Signature({"task": "A2KB", "gold": "a|b:c"})
    >>> str(s)
    'task:A2KB|gold:a%7Cb%3Ac'
    >>> Signature.parse(str(s)) == s
    True
    """

    fields: Mapping[str, str]

    def __str__(self) -> str:
        return "|".join(f"{_escape(k)}:{_escape(v)}" for k, v in self.fields.items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Return the signature that a line spells; raises `UsageError` where it is none."""
        fields: dict[str, str] = {}
        for item in text.split("|"):
            key, colon, value = item.partition(":")
            if not colon:
                raise UsageError(f"'{item}' is no key:value of a signature")
            fields[_unescape(key)] = _unescape(value)
        return cls(fields)

    def short(self) -> str:
        """Return the first eight digits of the signature's hash, for names and tables."""
        return content_hash(str(self))[:8]


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("|", "%7C").replace(":", "%3A")


def _unescape(text: str) -> str:
    return text.replace("%3A", ":").replace("%7C", "|").replace("%25", "%")
