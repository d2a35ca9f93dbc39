"""remix: focused entity-linking benchmarks, carved out of any dataset with SPARQL.

formats ─▶ store ─▶ measures ─▶ remixes ─▶ scoring ─▶ reports ─▶ web / cli
   ▲         ▲          ▲           │          ▲
catalog      └── kb ────┘           └─▶ publish │
                                     systems ───┘
"""

__version__ = "0.1.0"
