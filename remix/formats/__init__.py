"""The formats package."""
