"""What is wrong or odd in datasets: rules, found by scanning, and what they find.

A rule of one's own is a file in `definitions/` with a `Rule` in it.
"""

from __future__ import annotations

from remix.checks.declaration import FINDINGS, RULES, SEVERITIES, Rule, Subject

__all__ = ["FINDINGS", "RULES", "SEVERITIES", "Rule", "Subject"]
