"""What docs/endpoint.md says: its defaults and status codes are those of the command and of the endpoint."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from remix.cli.serve import command
from tests.web.conftest import client

PAGE = (Path(__file__).parents[2] / "docs" / "endpoint.md").read_text(encoding="utf-8")


def test_page_has_every_limit_with_its_default() -> None:
    told = dict(re.findall(r"^\| `--([a-z]+)` \| (\d+) \|", PAGE, re.MULTILINE))
    limits = ("timeout", "memory", "concurrent", "largest")
    assert told == {one.name: str(one.default) for one in command.params if one.name in limits}
    (port,) = (str(one.default) for one in command.params if one.name == "port")
    assert f"http://127.0.0.1:{port}/sparql" in PAGE


@pytest.mark.parametrize(
    ("status", "method", "sent"),
    [
        (400, "GET", {"params": {"query": "ASK {"}}),
        (403, "GET", {"params": {"query": "DROP ALL"}}),
        (405, "DELETE", {}),
        (406, "GET", {"params": {"query": "ASK {}"}, "headers": {"Accept": "image/png"}}),
        (413, "POST", {"content": b"#" * ((1 << 20) + 1), "headers": {"Content-Type": "application/sparql-query"}}),
        (415, "POST", {"content": b"ASK {}", "headers": {"Content-Type": "text/plain"}}),
    ],
)
def test_page_names_the_status_of_what_goes_wrong(
    address: str, status: int, method: str, sent: dict[str, object]
) -> None:
    assert client.request(method, address, **sent).status_code == status  # type: ignore[arg-type]
    assert f"\n| {status} |" in PAGE


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_command_of_the_page_asks_with_curl(address: str) -> None:
    command = re.search(r"^(curl .*) http://127.0.0.1:8890/sparql$", PAGE, re.MULTILINE)
    assert command is not None
    told = subprocess.run([*shlex.split(command[1]), "-sS", address], capture_output=True, check=True).stdout
    assert list(json.loads(told)["results"]["bindings"][0]) == ["n"]


def test_note_of_the_page_is_the_one_that_comes(address: str) -> None:
    answer = client.get(address, params={"query": "SELECT * { ?s nif:anchorOff ?o }"})
    assert f"Remix-Note: {answer.headers['remix-note']}\n" in PAGE
