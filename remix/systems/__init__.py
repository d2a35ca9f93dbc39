"""The systems package."""
