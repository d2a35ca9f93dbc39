"""The manifest of a study: what it read, what was chosen, what came out, and one signature of it all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from remix import iris
from remix._version import __version__
from remix.errors import UsageError
from remix.remixes.filters.definition import join_reference, split_reference
from remix.runs.register import Run
from remix.signature import content_hash
from remix.studies.definition import StudiedRemix, StudiedRun, StudiedSystem, Study
from remix.studies.host import Host
from remix.studies.preparation import Prepared
from remix.studies.shelf import code_hash

MANIFEST = "manifest.json"
COMMAND = "remix study --reproduce manifest.json"


@dataclass(frozen=True)
class StudyManifest:
    """What a study was made of: its definition, the contents of what it read, the software, and the files it gave.

    It names no place, no host and no time. `signature` is the hash of all of it but for the files.
    """

    definition: Mapping[str, Any]
    inputs: Mapping[str, Any]
    software: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def signature(self) -> str:
        """Return the one signature: the same inputs and choices have the same."""
        return content_hash(_json([self.definition, self.inputs, self.software]))

    def as_json(self) -> str:
        """Return the manifest as JSON."""
        said = {
            "signature": self.signature,
            "command": COMMAND,
            "study": self.definition,
            "inputs": self.inputs,
            "software": self.software,
            "files": self.files,
        }
        return json.dumps(said, indent=1, sort_keys=False, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, file: Path) -> StudyManifest:
        """Return the manifest of a file; raises `UsageError` for what is none."""
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
            found = cls(said["study"], said["inputs"], said["software"], said["files"])
            same = said["signature"] == found.signature
        except OSError as error:
            raise UsageError(f"{file} cannot be read ({error.strerror or error})") from None
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"{file} is no manifest of a study: `remix study STUDY.toml --to FOLDER` writes one"
            ) from None
        if not same:
            raise UsageError(f"{file} was changed by hand: its signature is not that of what it says")
        return found


def manifest_of(host: Host, study: Study, made: Prepared) -> StudyManifest:
    """Return the manifest of a study whose workspace is prepared, without files."""
    kb = host.kb
    wanted = {one.name for one in study.scored}
    homes = {home for aim in made.aims.values() for home in aim.homes}
    inherited = {run for home in homes for name in wanted for run in made.runs_on(name, home)}
    known = (run for run in made.runs if run.system in wanted and (run.dataset in homes or run in inherited))
    runs = sorted(known, key=_order)
    inputs = {
        "datasets": {
            name: made.contents.get(made.aims[name].gold[0], "") if made.aims[name].gold else ""
            for name in study.datasets
        },
        "kb": {"name": kb.name, "version": kb.version} if kb is not None else {},
        "targets": {aim.name: aim.content for aim in made.aims.values()},
        "queries": {one.name: made.queries.get(one.name, "") for one in study.remixes},
        "runs": {f"{run.system} on {run.dataset} ({run.task})": run.checksum for run in runs},
        "missing": {aim.name: aim.state for aim in made.aims.values() if aim.state != "there"},
        "holes": {
            f"{one.name} on {aim.name}": state
            for aim in made.aims.values()
            for one in study.scored
            if aim.state == "there" and (state := made.hole(one.name, aim)[0]) != "there"
        },
    }
    software = {"remix": __version__, "code": code_hash(), "shown": _hash_showing(), "entities": iris.VERSION}
    return StudyManifest(definition_of(study), inputs, software, {})


def _order(run: Run) -> tuple[str, str, str]:
    return run.system, run.dataset, run.task


def _hash_showing() -> str:
    """Return the hash of the code that shows results."""
    place = Path(__file__).resolve().parent.parent
    folders = ("studies", "reports", "web")
    every = [*place.glob("*.py"), *(file for name in folders for file in (place / name).rglob("*") if file.is_file())]
    files = sorted(file for file in every if file.suffix in (".py", ".html", ".css", ".js"))
    return content_hash(*(f"{file.relative_to(place).as_posix()} {content_hash(file)}\n" for file in files))


def definition_of(study: Study) -> dict[str, Any]:
    """Return the definition as JSON and TOML have it; files stand in it by their names alone.

    Of systems, runs and remixes it has what is not so by itself.
    """
    said = json.loads(json.dumps(asdict(study)))
    for key in ("systems", "runs", "remixes"):
        said[key] = {one.name: _said_of(one) for one in getattr(study, key)}
    said["datasets"] = [Path(name).name for name in said["datasets"]]
    for one in said["runs"].values():
        one.update({"files": [Path(name).name for name in one["files"]]} if "files" in one else {})
    for one in said["remixes"].values():
        if "query" in one:
            named = split_reference(one["query"])
            one["query"] = Path(one["query"]).name if named is None else join_reference(named[0].name, named[1])
        one.update({"service": [_without_folder(text) for text in one["service"]]} if "service" in one else {})
    return {key: value for key, value in said.items() if value not in ("", [], {}, None)}


def _said_of(one: StudiedSystem | StudiedRun | StudiedRemix) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(one)}
    said = {name: value for name, value in asdict(one).items() if name != "name" and value != defaults[name]}
    return {name: value for name, value in json.loads(json.dumps(said)).items() if value not in ([], {})}


def _without_folder(setting: str) -> str:
    """Return `OLD=NEW` of services, a file that takes another's place by its name alone.

    >>> _without_folder("http://e.org/?x=1=facts/kb.ttl"), _without_folder("kb/a.ttl=http://e.org/?x=1")
    ('http://e.org/?x=1=kb.ttl', 'kb/a.ttl=http://e.org/?x=1')
    """
    if "=http" in setting:
        return setting
    old, _, new = setting.rpartition("=")
    return f"{old}={Path(new).name}"


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
