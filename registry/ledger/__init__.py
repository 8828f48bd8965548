"""The ledger: leases, scores, workers and the lease clock, in a database. It knows no HTTP."""
