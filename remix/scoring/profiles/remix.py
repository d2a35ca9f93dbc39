"""The default profile: nothing depends on order, nothing undefined becomes a number."""

from remix.scoring.profiles import Profile

remix = Profile(
    name="remix",
    summary="maximum one-to-one matching; undefined stays undefined; dropped annotations are ignorable",
    source="docs/design.md",
    tasks=("A2KB", "D2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    conventions={
        "matching": "maximum one-to-one; ties by correct links, pairs, overlap, offsets",
        "nil": "NIL equals NIL; left out of C2KB",
        "groups": "a group is one TP or one FN; an option needs all of its annotations, another option is ignored",
        "ignorable": "an answer that fits a dropped or optional annotation best counts neither way",
        "undefined": "a score without denominator is null",
        "macro": "over the documents where the score is defined",
        "scope": "an answer is in scope by its own form and entity, asked by gold's query, class or column",
        "f1": "with the precision in scope where defined, else on mention, else all",
    },
    kb_rows=True,
)
