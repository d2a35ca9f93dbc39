"""NIF in RDF of any syntax and state of health, read into frames and triples, streamed, and written."""
