"""Environments as MCP servers: bundles, guests, instances, their state, the agent door and the judge."""

import logging

logging.getLogger("farm").addHandler(logging.NullHandler())  # who has asked for no log is told nothing in passing
