"""Reading dumps: lines, RDF statements and tab-separated fields, on their way into a staging."""
