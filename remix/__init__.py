"""remix: focused entity-linking benchmarks, carved out of any dataset with SPARQL.

    formats ─▶ store ─▶ measures ─▶ remixes ─▶ scoring ─▶ reports ─▶ web / cli
       ▲         ▲          ▲           │          ▲
    catalog      └── kb ────┘           └─▶ publish │
                                         systems ───┘

`remix.open` gives a workspace; its methods are the verbs of the command line.
"""

from remix._version import __version__
from remix.errors import Error
from remix.workspace import Workspace
from remix.workspace import open_workspace as open

__all__ = ["Error", "Workspace", "__version__", "open"]
