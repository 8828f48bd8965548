from typing import Any

from tau_bench.envs.tool import Tool


class Calculate(Tool):
    @staticmethod
    def invoke(data: dict[str, Any], expression: str) -> str:
        if not set(expression) <= set("0123456789+-*/(). "):
            return "Error: only numbers and + - * / ( ) are allowed"
        return f"{eval(expression, {'__builtins__': {}}):.2f}"  # noqa: S307 - its letters are checked

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "calculate",
                "description": "Work out a sum of money.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "expression": {"type": "string", "description": "Numbers, + - * / and brackets."},
                    },
                    "required": ["expression"],
                },
            },
        }
