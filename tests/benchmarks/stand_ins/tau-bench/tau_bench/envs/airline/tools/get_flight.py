import json
from typing import Any

from tau_bench.envs.tool import Tool


class GetFlight(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], flight: str) -> str:
        if flight not in data["flights"]:
            return "Error: no such ride"
        return json.dumps(data["flights"][flight])

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "get_flight",
                "description": "Show a ride.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "flight": {"type": "string", "description": "The ride, such as B9."},
                    },
                    "required": ["flight"],
                },
            },
        }
