"""Facts in free text: what an answer tells, and whether it tells what was asked. Pure functions, no input or output."""

JUDGE_VERSION = 3
"""Raise it when the judge takes an answer otherwise than before: certificates of other versions are out of date."""
