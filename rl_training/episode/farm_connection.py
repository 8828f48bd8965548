"""What all episodes of one event loop share: a client of the registry, an HTTP client to the workers, launches.

A trainer makes a new agent loop for each episode, and building an HTTP client costs more than an episode's calls. So
links are kept by event loop and farm; whoever ends an event loop calls `close_links` before.
"""

import asyncio
from typing import NamedTuple, Self
from weakref import WeakKeyDictionary

import httpx2

from agent_client.models.chat_model import ChatModel
from agent_client.wire import shared_http
from registry.client import FarmClient
from rl_training.episode.instance_batches import Launches
from rl_training.episode.simulated_user import UserModel, user_model

CONNECTIONS = 256


class Farm(NamedTuple):
    """Where a farm is, what opens its control door, and how long a lease lives without a heartbeat."""

    url: str
    token: str
    ttl_seconds: int = 120


class FarmConnection:
    """An open connection to a farm."""

    def __init__(self, farm: Farm) -> None:
        self.farm = farm
        self.registry = FarmClient(farm.url, farm.token)
        self.http: httpx2.AsyncClient = shared_http(CONNECTIONS)
        self.launches = Launches(self.registry, ttl_seconds=farm.ttl_seconds)
        self._users: dict[tuple[UserModel, str], ChatModel] = {}

    def user(self, told: UserModel, api_key: str) -> ChatModel:
        """The model that plays users, the same for all episodes: it holds connections."""
        if (told, api_key) not in self._users:
            self._users[told, api_key] = user_model(told, api_key)
        return self._users[told, api_key]

    async def __aenter__(self) -> Self:
        await self.registry.__aenter__()
        await self.http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.launches.settle()
        for user in self._users.values():
            await user.__aexit__(None, None, None)
        await self.registry.__aexit__()
        await self.http.aclose()


_links: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Farm, FarmConnection]] = WeakKeyDictionary()


async def link_to(farm: Farm) -> FarmConnection:
    """The link of the running event loop to a farm; the first call opens it."""
    links = _links.setdefault(asyncio.get_running_loop(), {})
    if farm not in links:
        links[farm] = FarmConnection(farm)
        await links[farm].__aenter__()
    return links[farm]


async def close_links() -> None:
    """Close the links of the running event loop, after what they still do."""
    for link in _links.pop(asyncio.get_running_loop(), {}).values():
        await link.__aexit__()
