from typing import Any

from tau_bench.envs.tool import Tool


class Think(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], thought: str) -> str:
        del data, thought
        return ""

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "think",
                "description": "Write a thought down, for nobody.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "thought": {"type": "string", "description": "What you think."},
                    },
                    "required": ["thought"],
                },
            },
        }
