"""The control plane: catalogue, leases, fleet of workers, HTTP API, `farm up`. It runs no tool."""
