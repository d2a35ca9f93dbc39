"""Published results by name: where their answers and figures are, what comes out, and why where that is another.

A result is one TOML file in `datasets/published/`; `catalogue` reads it, `shelves` finds its files, `figures` reads
what was published, and `outcomes` scores the answers and holds every published cell against what comes out.
"""
