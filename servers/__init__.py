"""Environments as MCP servers: bundles, guests, instances, their state, the agent door and the judge."""
