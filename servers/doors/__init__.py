"""What listens: MCP and its fast path, the control door, HTTP limits, stdio.

What a call does lives in `servers.worker`.
"""
