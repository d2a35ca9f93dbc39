"""The kb package."""
