"""Trial runs of an imported class in a guest of its own: the initial state of its objects, and its calls."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from servers.errors import FarmError, GuestDied, GuestLate
from servers.guest.sqlite.instance_rows import MOST_GROWTH
from servers.sandbox.guest_pool import START_SECONDS, Guest, Guests

HEAD = {"instance": "trial000", "revision": "0", "next_revision": "1", "id_seed": "0/1"}
HYDRATE = {"do": "hydrate", **HEAD, "image": "empty", "room": MOST_GROWTH}


class TrialError(FarmError):
    """The class raised, hung, or ended its process."""


class ClassTrial:
    """A guest with a module of tools and an empty database. It ends with `open_trial`."""

    def __init__(self, guest: Guest, *, clock: str, seconds: float) -> None:
        self._guest = guest
        self._clock = clock
        self._seconds = seconds

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a function of the module.

        Raises:
            TrialError: it did not answer.
        """
        head = {"do": "call", **HEAD, "tool": tool, "now": self._clock}
        try:
            reply, parts = await self._guest.ask(head, json.dumps(arguments).encode(), seconds=self._seconds)
            if "need" in reply:
                await self._guest.ask(HYDRATE, b"", seconds=self._seconds)
                reply, parts = await self._guest.ask(head, json.dumps(arguments).encode(), seconds=self._seconds)
        except GuestLate:
            raise TrialError(f"did not end within {self._seconds:g} s") from None
        except GuestDied as error:
            raise TrialError(f"ended its process: {error}") from None
        if reply["outcome"] != "ok":
            raise TrialError(parts[0].decode())
        return json.loads(parts[0])


@asynccontextmanager
async def open_trial(
    guests: Guests,
    source: str,
    *,
    clock: str,
    seconds: float,
    scripts: tuple[str, str, str] = ("", "", ""),
    framework: bool = False,
) -> AsyncGenerator[ClassTrial]:
    """A guest with a loaded module, and the rows of schema, seed and setup; no rows by default.

    Raises:
        TrialError: the module cannot be loaded.
    """
    guests.expect_source(source.encode())
    async with guests.fresh(framework=framework) as guest:
        try:
            loaded, _ = await guest.ask({"do": "load"}, source.encode(), seconds=START_SECONDS)
        except GuestLate:
            raise TrialError(f"takes more than {START_SECONDS:g} s to load") from None
        except GuestDied as error:
            raise TrialError(f"ended its process while it was loaded: {error}") from None
        if "error" in loaded:
            raise TrialError(str(loaded["error"]))
        texts = (script.encode() for script in scripts)
        built, parts = await guest.ask({"do": "build", "now": clock}, *texts, seconds=START_SECONDS)
        if built["findings"]:
            raise TrialError(str(built["findings"][0]))
        await guest.ask({"do": "image", "digest": "empty"}, parts[0], seconds=START_SECONDS)
        yield ClassTrial(guest, clock=clock, seconds=seconds)
