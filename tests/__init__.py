"""Tests, in folders as the code is."""

import os
import sys

# Workers, and the processes that tests start, import what was compiled once, also where Python is told not to keep it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
