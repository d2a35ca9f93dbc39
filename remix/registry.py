"""Parts that are found by scanning: one file a part, nothing central to edit."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib.metadata import EntryPoints
from typing import Generic, TypeVar

from remix.errors import Error, UnknownName
from remix.resources import entry_points

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """The parts of one kind: every attribute of the given type in the modules of a package, also in tuples.

    Third parties add parts through the entry-point group of the package's name (less `.definitions`),
    whose entries name a part or a module with parts. Modules whose name begins with an underscore are skipped, so
    is a part that a module merely imported (its `name` must be met once only).

    `further` yields parts that are made of other files, or stand elsewhere; those whose name a module's part has are
    left out.

    Modules are imported at the first look-up, not before, and a name is looked for in those that are
    called alike first: `pair-maximum` in `pairing.py`. All are imported where it is in none of them, or where an entry
    point has this name.

    Raises `UnknownName` for a name that no part has, `Error` for two different parts of one name, if all are imported.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        part_type: type[Part],
        plural: str = "",
        further: Callable[[], Iterable[Part]] = tuple,
    ) -> None:
        self.kind = kind
        self.package = package
        self.group = package.removesuffix(".definitions")
        self.part_type = part_type
        self.plural = plural or f"{kind}s"
        self.further = further

    @cached_property
    def _parts(self) -> dict[str, Part]:
        found: dict[str, Part] = {}
        for part in self._scan():
            name = str(part.name)  # type: ignore[attr-defined]
            if found.setdefault(name, part) is not part:
                raise Error(f"two {self.plural} are named '{name}' in {self.package}: rename one")
        for part in self.further():
            found.setdefault(str(part.name), part)  # type: ignore[attr-defined]
        return dict(sorted(found.items()))

    @cached_property
    def _modules(self) -> list[str]:
        package = importlib.import_module(self.package)
        return [module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")]

    @cached_property
    def _entries(self) -> EntryPoints:
        return entry_points(self.group)

    def _find(self, name: object) -> Part | None:
        if "_parts" not in vars(self) and name not in self._entries.names:
            word = re.split(r"[^a-z0-9]", str(name).lower())[0]
            for module in self._modules:
                if word and module.startswith(word):
                    found = [part for part in self._parts_in(module) if part.name == name]  # type: ignore[attr-defined]
                    if found:
                        return found[0]
        return self._parts.get(str(name))

    def _scan(self) -> Iterator[Part]:
        for module in self._modules:
            yield from self._parts_in(module)
        for entry in self._entries:
            loaded = entry.load()
            yield from ([loaded] if isinstance(loaded, self.part_type) else self._parts_of(loaded))

    def _parts_in(self, module: str) -> Iterator[Part]:
        return self._parts_of(importlib.import_module(f"{self.package}.{module}"))

    def _parts_of(self, module: object) -> Iterator[Part]:
        for value in vars(module).values():
            yield from (
                one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, self.part_type)
            )

    def __getitem__(self, name: str) -> Part:
        part = self._find(name)
        if part is None:
            raise UnknownName(self.kind, name, self._parts, f"remix list {self.plural}")
        return part

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())

    def first(self, fits: Callable[[Part], bool]) -> Part | None:
        """Return a part that fits, None where none does; of the modules those behind it are not imported."""
        found = next((part for part in self._scan() if fits(part)), None)
        return found or next((part for part in self if fits(part)), None)

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def __len__(self) -> int:
        return len(self._parts)

    def names(self) -> list[str]:
        """Return the names of all parts, sorted."""
        return list(self._parts)
