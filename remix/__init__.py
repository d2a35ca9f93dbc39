"""remix: focused entity-linking benchmarks, carved out of any dataset with SPARQL.

    formats ─▶ store ─▶ measures ─▶ remixes ─▶ scoring ─▶ reports ─▶ web / cli
       ▲         ▲          ▲           │          ▲
    catalog      └── kb ────┘           └─▶ publish │
                                         systems ───┘

`remix.open` gives a workspace; its methods are the verbs of the command line.
"""

from typing import TYPE_CHECKING, Any

from remix._version import __version__
from remix.errors import Error

if TYPE_CHECKING:
    from remix.workspace import Workspace
    from remix.workspace import open_workspace as open

__all__ = ["Error", "Workspace", "__version__", "open"]


def __getattr__(name: str) -> Any:
    """Return what is imported only when it is asked for: the command line answers to Ctrl-C before it imports more."""
    if name not in __all__:
        raise AttributeError(f"module 'remix' has no attribute {name!r}")
    from remix.workspace import Workspace, open_workspace

    return {"Workspace": Workspace, "open": open_workspace}[name]
