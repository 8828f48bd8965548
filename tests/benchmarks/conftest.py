"""The stand-ins have files whose names begin like those of tests."""

collect_ignore = ["stand_ins"]
