"""RDF as text: which IRIs are legal, how terms are spelt, and the lines of N-Triples and Turtle, read and written.

Everything that enters the store passes these rules: `iris` makes every IRI one that the store takes back, `terms`
spells IRIs and literals, `ntriples` and `turtle` write and read them, `parsing` is where values may have any length.
"""
