"""The publish package."""
