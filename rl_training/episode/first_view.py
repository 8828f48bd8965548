"""What the instances of one launch show an agent first, its rules and tools: asked of one of them for all."""

import asyncio

import httpx2

from agent_client.toolbox import Toolbox, connect
from registry.messages import Lease


class Opening:
    """Connects agents to the instances of one launch. These are at the same scenario of the same bundle."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()  # protects the farm: one asks, and the others wait for what it was told
        self._shown: Toolbox | None = None
        self._tried = False

    async def toolbox(self, lease: Lease, http: httpx2.AsyncClient) -> Toolbox:
        """The tools of one of the instances. Where the first got no answer, each asks for itself.

        Raises:
            FarmUnreachable, InfraError: the instance does not answer, or its lease has ended.
        """
        url, token = lease.address()
        async with self._turn:
            if self._shown is None and not self._tried:
                self._tried = True
                self._shown = await _asked(url, token, http)
        if self._shown is None:
            self._shown = await _asked(url, token, http)
        return self._shown.at(url, token)


async def _asked(url: str, token: str, http: httpx2.AsyncClient) -> Toolbox:
    async with connect(url, token, http_client=http) as toolbox:
        return toolbox
