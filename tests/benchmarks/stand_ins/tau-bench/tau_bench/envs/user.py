"""A user that a model plays. Imports read its words, and judges play none."""

from typing import Any

from litellm import completion


class LLMUserSimulationEnv:
    def __init__(self, model: str) -> None:
        self.model = model
        self.messages: list[dict[str, Any]] = []

    def build_system_prompt(self, instruction: str | None) -> str:
        told = ("\nYour errand: " + instruction + "\n") if instruction is not None else ""
        return f"""You ring up a nursery.{told}
Say ###STOP### once your errand is done."""

    def reset(self, instruction: str | None = None) -> str:
        self.messages = [
            {"role": "system", "content": self.build_system_prompt(instruction)},
            {"role": "user", "content": "Nursery, good day!"},
        ]
        return self.said()

    def step(self, content: str) -> str:
        self.messages.append({"role": "user", "content": content})
        return self.said()

    def said(self) -> str:
        reply = completion(model=self.model, messages=self.messages).choices[0].message.content
        self.messages.append({"role": "assistant", "content": reply})
        return reply

    def get_total_cost(self) -> float:
        return 0.0
