"""The systems: one file each, found by scanning."""
