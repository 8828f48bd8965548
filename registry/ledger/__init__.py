"""What a registry remembers, in a database: leases, scores, workers, the lease clock. It knows no HTTP."""
