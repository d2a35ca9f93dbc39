"""The measures: one file each, found by scanning."""
