# type: ignore  # It runs in an environment of its own, with LangChain and LangGraph.
"""An agent of LangGraph, as `farm eval --agent` starts it. OPENAI_BASE_URL and OPENAI_API_KEY name a model."""

import asyncio
import os
from pathlib import Path

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI

INSTANCE = {
    "transport": "streamable_http",
    "url": os.environ["FARM_MCP_URL"],
    "headers": {"Authorization": f"Bearer {os.environ['FARM_MCP_TOKEN']}"},
}


async def main() -> None:
    rules = Path(os.environ["FARM_INSTRUCTIONS_FILE"]).read_text()  # noqa: ASYNC240
    tools = await MultiServerMCPClient({os.environ["FARM_ENVIRONMENT"]: INSTANCE}).get_tools()
    agent = create_agent(ChatOpenAI(model=os.environ["MODEL"]), tools, system_prompt=rules)
    result = await agent.ainvoke({"messages": [("user", os.environ["FARM_TASK"])]}, {"recursion_limit": 100})
    print(result["messages"][-1].content)


asyncio.run(main())
