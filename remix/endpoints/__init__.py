"""SPARQL endpoints of others, asked for all of an answer whatever their limits."""
