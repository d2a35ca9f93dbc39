"""Parameters of systems: the fields of a frozen dataclass, read from what `--parameter NAME=VALUE` or Python says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, asdict, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from remix.errors import UnknownName, UsageError
from remix.signature import content_hash

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Kind = TypeVar("Kind", bound=DataclassInstance)
else:
    Kind = TypeVar("Kind")

Value = str | int | float | bool
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_BESIDE = {"changes": False}


def beside(default: Value) -> Any:
    """Return a field of parameters that no answer depends on, such as a price: kept answers stay with another value."""
    return field(default=default, metadata=_BESIDE)


def read_parameters(kind: type[Kind], given: Mapping[str, Value], system: str, part: str = "system") -> Kind:
    """Return the parameters of a system, as its class `kind` declares them, with the values that are given.

    Texts become what the field is: a number, yes or no, a file. `part` is what `remix show` calls the system. Raises
    `UnknownName` for a parameter that the system does not have, `UsageError` for a value that the field cannot take and
    for a file that is not there.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sample:
    ...     nil: float = 0.0
    ...     rank: bool = True
    >>> read_parameters(Sample, {"nil": "0.2", "rank": "no"}, "sample")
    Sample(nil=0.2, rank=False)
    """
    known = {one.name: one for one in fields(kind)}
    for name in given:
        if name not in known:
            raise UnknownName(f"parameter of the system '{system}'", name, known, f"remix show {part}:{system}")
    return kind(**{name: _read(known[name], value, system) for name, value in given.items()})


def _read(known: Field[Any], value: Value, system: str) -> object:
    """Return a value as its field has it."""
    kind, said = str(known.type), str(value).strip()
    try:
        if kind == "bool":
            return _BOOLEANS[said.lower()]
        if kind.startswith("int"):
            return int(said) if said or "None" not in kind else None
        if kind.startswith("float"):
            return float(said) if said or "None" not in kind else None
    except (KeyError, ValueError):
        expected = {"bool": "yes or no", "int": "a whole number"}.get(kind.partition(" ")[0], "a number")
        raise UsageError(f"the parameter '{known.name}' of the system '{system}' is {expected}, not '{said}'") from None
    if kind.startswith("Path"):
        if said and not Path(said).exists():
            raise UsageError(f"the parameter '{known.name}' of the system '{system}' is a file: there is no {said}")
        return Path(said) if said else None
    return str(value)


def describe_parameters(parameters: DataclassInstance, *, changing: bool = False) -> dict[str, Value]:
    """Return the values of parameters by name, of files their hash as well; `changing` are those that change answers.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sample:
    ...     model: str = "a"
    ...     price: float = beside(1.5)
    >>> describe_parameters(Sample()), describe_parameters(Sample(), changing=True)
    ({'model': 'a', 'price': 1.5}, {'model': 'a'})
    """
    kept = [one.name for one in fields(parameters) if not (changing and one.metadata.get("changes") is False)]
    values = asdict(parameters)
    return {name: _describe(values[name], changing) for name in kept}


def _describe(value: object, changing: bool) -> Value:
    if isinstance(value, Path):
        files = sorted(one for one in value.rglob("*") if one.is_file()) if value.is_dir() else [value]
        return content_hash(*files) if changing else f"{value.name} {content_hash(*files)[:12]}"
    return value if isinstance(value, Value) else ""
