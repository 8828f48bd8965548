# type: ignore  # It runs in an environment of its own, with Pydantic AI.
"""An agent of Pydantic AI, as `farm eval --agent` starts it. OPENAI_BASE_URL and OPENAI_API_KEY name a model."""

import asyncio
import os
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel

HEADERS = {"Authorization": f"Bearer {os.environ['FARM_MCP_TOKEN']}"}


async def main() -> None:
    rules = Path(os.environ["FARM_INSTRUCTIONS_FILE"]).read_text()  # noqa: ASYNC240
    server = MCPToolset(os.environ["FARM_MCP_URL"], headers=HEADERS)
    agent = Agent(OpenAIChatModel(os.environ["MODEL"]), instructions=rules, toolsets=[server])
    async with agent:
        result = await agent.run(os.environ["FARM_TASK"])
    print(result.output)


asyncio.run(main())
