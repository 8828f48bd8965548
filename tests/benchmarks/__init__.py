"""Public benchmarks: imports, official judges, replays over real HTTP."""
