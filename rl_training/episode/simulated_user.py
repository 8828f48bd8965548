"""The simulated user in training: a model behind an endpoint plays the scenario's persona."""

import time
from collections.abc import Sequence

from pydantic import Field

from agent_client.model import Model
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import NamedKey
from agent_client.models.simulated_person import SimulatedPerson
from agent_client.person import Exchange, UserMessage
from servers.records import USER_KEY, EndpointUrl, Record


class UserModel(Record):
    """The model that plays users, behind an OpenAI-compatible endpoint. Its key is in USER_OPENAI_API_KEY."""

    model: str = Field(min_length=1)
    base_url: EndpointUrl
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    seconds: float = Field(default=120.0, gt=0)


def user_model(told: UserModel, api_key: str) -> ChatModel:
    """The model that plays users. All episodes share its connections. The caller closes it."""
    return ChatModel(
        told.base_url,
        told.model,
        api_key=NamedKey(api_key, USER_KEY),
        temperature=told.temperature,
        max_tokens=told.max_tokens,
        seconds=told.seconds,
    )


class Partner:
    """The user of one episode, and its seconds. Its errors are never the policy's."""

    def __init__(self, model: Model, *, persona: str, task: str) -> None:
        self._person = SimulatedPerson(model, persona=persona, task=task)
        self.name = self._person.name
        self.seconds = 0.0

    async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
        """The next message. Raises EndpointError if the model cannot continue."""
        begun = time.perf_counter()
        try:
            return await self._person.says(opening, told)
        finally:
            self.seconds += time.perf_counter() - begun
