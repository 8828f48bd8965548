"""Which instances there are and who has them: catalogue, leases, fleet, API, `farm up`. It runs no tool."""
