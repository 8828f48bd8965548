"""Small honest programs that work as others do, as peers of the farm in the benchmark."""
