"""Asking SPARQL endpoints of others about many names and entities, whatever their limits."""
