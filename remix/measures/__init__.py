"""The measures package."""
