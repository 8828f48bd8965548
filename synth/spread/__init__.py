"""The same work done by several processes: this one, others beside it, or those of a Ray cluster."""
