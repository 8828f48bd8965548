"""The registry: what its API says, what its ledger remembers, what its reaper ends."""
