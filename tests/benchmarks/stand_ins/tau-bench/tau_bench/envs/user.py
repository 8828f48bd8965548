"""A user that a model plays. Imports and judges play none."""

from typing import Any

from litellm import completion


class ModelUser:
    def __init__(self, model: str, instruction: str) -> None:
        self.model = model
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": instruction}]

    def step(self, content: str) -> str:
        self.messages.append({"role": "user", "content": content})
        reply = completion(model=self.model, messages=self.messages).choices[0].message.content
        self.messages.append({"role": "assistant", "content": reply})
        return reply

    def get_total_cost(self) -> float:
        return 0.0
