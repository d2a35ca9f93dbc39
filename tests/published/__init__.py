"""Published results by name."""
