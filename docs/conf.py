"""How the documentation becomes a site: `sphinx-build -W docs build/site`."""

from remix import __version__

project = "remix"
author = "the remix contributors"
copyright = author
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"remix {__version__}"
html_extra_path = ["ontology.html"]
html_show_sourcelink = False
default_role = "code"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
