"""Pages of a folder of files: any host can hand them out, as they stand, and a browser opens them from a disk.

They have the blocks of the explorer's pages and their style, and no script; addresses are those of files beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from remix._version import __version__
from remix.web.page import Note, Page, Table
from remix.web.rendering import ROWS, ShownInFile, environment, read_assets
from remix.web.views.ontology import list_terms


def render_section(page: Page, name: str, files: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Return a page as the HTML of one section of a folder's page; what it leads to are addresses that work there.

    `name` begins the ids in it, which are another's in another section. `files` are the addresses of the files of a
    figure, by what they are called, by the name of the figure.

    >>> render_section(Page("News & posts", [Note("One.")]), "news").splitlines()[0]
    '<section id="news"><h1 dir="auto">News &amp; posts</h1>'
    """
    return (
        environment()
        .get_template("section.html")
        .render(
            page=page,
            id=name,
            here="./",
            rows=ROWS,
            shown=ShownInFile(files),
        )
    )


def render_folder(title: str, sections: Sequence[str], contents: Mapping[str, str]) -> str:
    """Return the page of a folder: sections of `render_section`, with what those that `contents` names are called."""
    return (
        environment()
        .get_template("folder.html")
        .render(
            title=title,
            sections="".join(sections),
            contents=contents,
            style=read_assets("page.css") + read_assets("folder.css"),
            version=__version__,
        )
    )


def render_ontology() -> str:
    """Return the vocabulary as a page that needs no server: every term with what it means and how it is made."""
    said = "What remix says in RDF beyond NIF, ITS RDF and hfts, in the namespace https://w3id.org/nel-remix/ns#."
    made = pl.concat_str("formula", "source", separator=". Source: ", ignore_nulls=True)
    terms = list_terms().select("term", "kind", "meaning", "of", "is", made=made)
    table = Table("terms", terms, small={"term": "kind", "meaning": "made", "of": "is"})
    title = "The ontology of remix"
    return render_folder(title, [render_section(Page(title, [Note(said), table]), "terms")], {})
