"""The control plane: catalogue, leases, placement, scores."""
