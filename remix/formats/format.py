"""What a format is: how a file of it is told, and what reads and writes it; what is found in a file, and mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from remix.formats.losses import Loss
from remix.formats.source import SourceFile
from remix.frames import Frames

if TYPE_CHECKING:
    from remix.formats.mapping import MappingRules


@dataclass(frozen=True, slots=True)
class Repair:
    """One kind of thing that was wrong in a file: how often, and the first example.

    What is told one by one has `further` examples; the first stands for all that is counted alone.
    """

    kind: str
    count: int
    example: str = ""
    further: tuple[str, ...] = ()

    def examples(self) -> list[tuple[str, int]]:
        """Return each example with how many it stands for."""
        return [(self.example, self.count - len(self.further)), *((one, 1) for one in self.further)]


@dataclass(frozen=True)
class Contents:
    """What a format found in a file; IRIs are scoped to the dataset.

    `write` writes the scoped triples to a path and the measures to another; without it the triples
    are made from the frames. `content` is the hash of the content, that of the file's bytes if empty.
    `export` writes all that the file says, also what frames do not hold, in the same format, as corrected frames say,
    where there are any; `unheld` is that of it which no other format holds.
    """

    frames: Frames
    repairs: tuple[Repair, ...] = ()
    triples: int = 0
    content: str = ""
    write: Callable[[Path, Path], int] | None = None
    export: Callable[[Path, Frames | None], None] | None = None
    unheld: tuple[Loss, ...] = ()


@dataclass(frozen=True)
class Format:
    """A file format: `sniff` says from the first bytes (see `begin_of`) and the file's name whether a file is of it.

    `read` takes the source, the dataset's IRI and options of the format as keywords, and raises
    `BadInput` for what is not of the format.

    `write` puts frames into a file (or folder) that appears whole or not at all, and returns what it had to leave out
    beyond what the format does not hold: `holds` has the names of `remix.formats.losses.FEATURES`, frames have only
    those when they come to `write`. Without it the format is only read. What holds texts needs them to be written.

    `says` are the terms of values that its files tell of documents and annotations and that no measure is: they are
    data, which stay where measures are computed anew.

    A `collection` is a folder or zip archive of which some file is sniffed: `Source.members` has its files. `mapping`
    is what reads it where that is a file of TOML.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes, str], bool]
    read: Callable[[SourceFile, str], Contents] = field(compare=False)
    write: Callable[[Frames, Path], tuple[Loss, ...]] | None = field(default=None, compare=False)
    holds: frozenset[str] = frozenset()
    says: frozenset[str] = frozenset()
    collection: bool = False
    mapping: MappingRules | None = None
