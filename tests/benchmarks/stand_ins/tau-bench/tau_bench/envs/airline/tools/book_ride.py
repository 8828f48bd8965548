import json
from typing import Any

from tau_bench.envs.tool import Tool


class BookRide(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], user_id: str, flight: str, riders: list[str]) -> str:
        ride, user = data["flights"][flight], data["users"][user_id]
        if ride["places"] < len(riders):
            return "Error: the basket is full"
        ride["places"] -= len(riders)
        key = f"R{len(data['reservations']) + 1}"
        data["reservations"][key] = {"user_id": user_id, "flight": flight, "riders": riders, "flown": False}
        user["reservations"].append(key)
        return json.dumps({"reservation": key, "total": ride["price"] * len(riders)})

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "book_ride",
                "description": "Book a ride.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "user_id": {"type": "string", "description": "Who books."},
                        "flight": {"type": "string", "description": "The ride, such as B9."},
                        "riders": {"type": "array", "items": {"type": "string"}, "description": "Who rides."},
                    },
                    "required": ["user_id", "flight", "riders"],
                },
            },
        }
