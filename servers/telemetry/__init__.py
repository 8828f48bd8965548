"""The log, traces and counters of a worker. They decide nothing."""
