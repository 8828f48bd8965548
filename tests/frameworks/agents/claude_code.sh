#!/bin/sh
# Claude Code plays: it has the tools of the instance and no others.
exec claude -p "$FARM_TASK" --mcp-config "$FARM_MCP_CONFIG" --strict-mcp-config \
  --allowedTools "mcp__$FARM_ENVIRONMENT" --append-system-prompt "$(cat "$FARM_INSTRUCTIONS_FILE")"
