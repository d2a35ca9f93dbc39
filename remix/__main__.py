"""`python -m remix` is the command `remix`."""

from remix.cli import main

main()
