"""The default profile: nothing depends on order, nothing undefined becomes a number."""

from remix.scoring.profiles import Profile

remix = Profile(
    name="remix",
    summary="maximum one-to-one matching; undefined stays undefined; dropped annotations are ignorable",
    source="docs/design.md",
    tasks=("A2KB", "D2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    kb_rows="nil",
    by_document=True,
    notes={
        "entities": "left out of C2KB where they are NIL",
        "groups": "an option needs all of its annotations; another option of a mention found is ignored",
        "scope": "an answer on a kept mention is in scope, another by its own form and entity, asked by gold's query, "
        "class or column",
        "f1": "one for each precision; a table shows that in scope where all of its rows have it, else on mention",
    },
)
