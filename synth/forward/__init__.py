"""Scenarios proposed by a writer, played by a solver, kept with a certificate."""
