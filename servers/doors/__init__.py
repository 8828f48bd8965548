"""The servers: MCP and its fast path, the control door, HTTP limits, stdio.

`servers.worker` makes the calls.
"""
