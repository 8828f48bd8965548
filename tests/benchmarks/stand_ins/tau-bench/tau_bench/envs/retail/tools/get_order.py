import json
from typing import Any

from tau_bench.envs.tool import Tool


class GetOrder(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], order_id: str) -> str:
        if order_id not in data["orders"]:
            return "Error: no such order"
        return json.dumps(data["orders"][order_id])

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "get_order",
                "description": "Show an order.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "order_id": {"type": "string", "description": "The order, such as N9."},
                    },
                    "required": ["order_id"],
                },
            },
        }
