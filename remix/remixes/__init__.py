"""The remixes package."""
