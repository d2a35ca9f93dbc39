"""What Spark's errors say of a cluster, in one line: the cause, and what is to be done about it."""

from __future__ import annotations

import re

__all__ = ["SAME_PATHS", "reason"]

SAME_PATHS = "all nodes must see the workspace and the data under the same paths"
_SAME_PYTHON = "PYSPARK_PYTHON must name an interpreter with remix that all nodes have"

_ADVICE = {
    r"Cannot run program|No module named|PYTHON_VERSION_MISMATCH": _SAME_PYTHON,
    r"FileNotFoundException|NoSuchFileException|PATH_NOT_FOUND|holds no knowledge base": SAME_PATHS,
    r"Mkdirs failed|AccessDeniedException|Permission denied|Read-only file system": (
        "the workers must be able to write the workspace, and you what they have written there"
    ),
}
"""What to do, by what is said."""


def reason(error: Exception) -> str:
    """Return what an error of Spark comes down to, and what to do where that is known.

    That is the error which a Python worker raised, or the program that did not start, or the innermost cause which
    Java names, or the first line.
    """
    text = str(error).strip()
    worker = re.findall(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)", text, flags=re.MULTILINE)
    program = re.search(r'Cannot run program ".+?"', text)
    causes = re.findall(r"^(?:Caused by)?: (.+)$", text, flags=re.MULTILINE)
    causes = worker or ([program[0]] if program else causes) or (text or type(error).__name__).splitlines()[:1]
    said = causes[-1].strip()
    advice = next((advice for pattern, advice in _ADVICE.items() if re.search(pattern, said)), "")
    return f"{said}; {advice} (docs/scale.md)" if advice else said
