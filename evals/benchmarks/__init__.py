"""Public benchmarks, played as their own harnesses play them."""
