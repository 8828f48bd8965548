from typing import Any

from tau_bench.envs.tool import Tool


class TransferToHumanAgents(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], summary: str) -> str:
        del data, summary
        return "A human takes over"

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "transfer_to_human_agents",
                "description": "Hand over to a human.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "summary": {"type": "string", "description": "What it is about."},
                    },
                    "required": ["summary"],
                },
            },
        }
