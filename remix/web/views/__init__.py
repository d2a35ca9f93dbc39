"""Views of the explorer, one file each."""
