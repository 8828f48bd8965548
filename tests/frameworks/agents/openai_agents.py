# type: ignore  # It runs in an environment of its own, with openai-agents.
"""An agent of OpenAI's agents SDK, as `farm eval --agent` starts it. It asks the model behind OPENAI_BASE_URL."""

import asyncio
import os
from pathlib import Path

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

INSTANCE = {
    "url": os.environ["FARM_MCP_URL"],
    "headers": {"Authorization": f"Bearer {os.environ['FARM_MCP_TOKEN']}"},
}


async def main() -> None:
    set_tracing_disabled(True)
    async with MCPServerStreamableHttp(params=INSTANCE, cache_tools_list=True) as server:
        rules = Path(os.environ["FARM_INSTRUCTIONS_FILE"]).read_text()  # noqa: ASYNC240
        agent = Agent(name="clerk", instructions=rules, model=os.environ["MODEL"], mcp_servers=[server])
        result = await Runner.run(agent, os.environ["FARM_TASK"], max_turns=40)
    print(result.final_output)


asyncio.run(main())
