"""The last line of an answer, read whole by a small grammar of the value that is asked for."""
