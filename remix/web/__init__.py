"""The web: a SPARQL 1.1 Protocol endpoint over a workspace, read-only and on loopback unless told otherwise."""
