"""The catalog package."""
