"""The adapters of systems that are asked text by text: one file each, found by scanning."""
