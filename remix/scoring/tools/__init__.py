"""What the tools that are followed have of their own, a file or a folder each."""
