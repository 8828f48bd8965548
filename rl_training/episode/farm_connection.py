"""The shared connections of one event loop to a farm: registry client, HTTP client, launches.

A trainer makes an agent loop for each episode, and an HTTP client costs more than an episode's calls. So connections
are kept by event loop and farm. Call `close_links` before an event loop ends.
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
    """A farm's URL and control token, the seconds that a lease lives without a heartbeat, how tools are perturbed."""

    url: str
    token: str
    ttl_seconds: int = 120
    perturb: str = ""


class FarmConnection:
    """An open connection to a farm."""

    def __init__(self, farm: Farm) -> None:
        self.farm = farm
        self.registry = FarmClient(farm.url, farm.token)
        self.http: httpx2.AsyncClient = shared_http(CONNECTIONS)
        self.launches = Launches(self.registry, ttl_seconds=farm.ttl_seconds, perturb=farm.perturb)
        self._users: dict[tuple[UserModel, str], ChatModel] = {}

    def user(self, told: UserModel, api_key: str) -> ChatModel:
        """The model that plays users. All episodes share it and its connections."""
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
    """The running event loop's connection to a farm. The first call opens it."""
    links = _links.setdefault(asyncio.get_running_loop(), {})
    if farm not in links:
        links[farm] = FarmConnection(farm)
        await links[farm].__aenter__()
    return links[farm]


async def close_links() -> None:
    """Close the running event loop's connections, after their pending work."""
    for link in _links.pop(asyncio.get_running_loop(), {}).values():
        await link.__aexit__()
