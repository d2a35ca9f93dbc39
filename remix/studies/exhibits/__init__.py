"""The exhibits of a study, one file each: a table or a figure of a paper, or sentences."""
