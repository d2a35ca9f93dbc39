"""How many examples a property draws whose example takes long: `@settings(max_examples=FEW)`."""

from hypothesis import settings

FEW = settings.default.max_examples // 4
"""A quarter of what other properties draw, in the profile that `tests/conftest.py` chose."""
