"""The role that answers an agent's calls."""

from typing import Any

from model_inference.multi_turn.multi_turn_utils import called, objects_of


class EXECUTION:
    def __init__(self, model: str, config: dict[str, Any], classes: list[str], task: str, language: str) -> None:
        self.objects = objects_of(model, task, classes, config, language)
        self.language = language

    def respond(self, history: list[dict[str, Any]]) -> tuple[dict[str, Any], list[Any]]:
        """The message to the agent, and the objects. A wrong argument is told, and any other mistake is raised."""
        text = history[-1]["message"]
        try:
            results = called(text, self.objects)
        except TypeError as error:
            results = ["not called", str(error)]
        return {"sender": "execution", "recipient": "agent", "message": results}, self.objects
