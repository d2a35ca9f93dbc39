"""The store package."""
