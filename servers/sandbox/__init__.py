"""The trusted side of guests: a pool of them, and inspections of source in them. Untrusted code never runs here."""
