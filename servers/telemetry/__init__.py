"""The log, traces and counters of a worker. Nothing here decides anything."""
