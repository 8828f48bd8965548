from typing import Any

from tau_bench.envs.tool import Tool


class FindCustomer(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], card: str) -> str:
        for key, user in data["users"].items():
            if user["card"] == card:
                return key
        return "Error: no customer has that card"

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "find_customer",
                "description": "Find a customer by the number of the card.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "card": {"type": "string", "description": "The number on the card, such as C-100."},
                    },
                    "required": ["card"],
                },
            },
        }
