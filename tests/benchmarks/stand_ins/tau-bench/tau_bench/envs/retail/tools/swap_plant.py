import json
from typing import Any

from tau_bench.envs.tool import Tool


class SwapPlant(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], order_id: str, old: str, new: str, count: int) -> str:
        order, plants = data["orders"][order_id], data["products"]
        if order["status"] != "potting":
            return "Error: the order is on its way"
        order["notes"].append(f"asked for {new}")
        [line] = [one for one in order["lines"] if one["plant"] == old]
        if plants[new]["stock"] < count:
            raise ValueError(f"only {plants[new]['stock']} of {new} are left")
        line.update(plant=new, count=count)
        order["status"] = "potting again"
        return json.dumps(order)

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "swap_plant",
                "description": "Swap a plant of an order for another.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "order_id": {"type": "string", "description": "The order, such as N9."},
                        "old": {"type": "string", "description": "The plant to leave out."},
                        "new": {"type": "string", "description": "The plant to take."},
                        "count": {"type": "integer", "description": "How many of it."},
                    },
                    "required": ["order_id", "old", "new", "count"],
                },
            },
        }
