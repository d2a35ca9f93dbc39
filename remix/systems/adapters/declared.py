"""The services that are declared in `datasets/services/`, and in folders that other distributions add."""

from __future__ import annotations

from remix import resources
from remix.systems.declared import read_declaration

declared = tuple(read_declaration(file) for file in resources.files("datasets/services", ".toml").values())
