"""A worker in a process of its own, which tells each answered call on its standard output until it is killed."""

import asyncio
import json
import sys
from pathlib import Path

from servers.bundle_library import Library
from servers.messages import Launch
from servers.worker.worker import Worker


async def main(shelf: Path, state: Path) -> None:
    async with Worker(Library([shelf]), state) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        tell({"instance": ticket.instance, "token": ticket.token})
        instance = worker.find(ticket.instance)
        number = 0
        while True:
            number += 1
            call = ("make", {"name": f"thing {number}"}) if number % 2 else ("price", {"id": "t2", "cents": number})
            outcome = await instance.call(*call)
            tell({"tool": call[0], "arguments": call[1], "text": outcome.text})


def tell(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
