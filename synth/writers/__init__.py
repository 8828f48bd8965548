"""Who writes what synthesis asks for: an endpoint, a batch file, or a recording."""
