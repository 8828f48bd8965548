"""Tests of the agent side: against a real MCP server and a real chat endpoint on loopback."""
