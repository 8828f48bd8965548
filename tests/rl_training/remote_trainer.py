"""The trainer's side of training, on another host than the farm: `python -m tests.rl_training.remote_trainer URL`.

Plays two groups of four episodes with a scripted policy. What it knows of the farm is the URL, and the token in
FARM_TOKEN. Prints as JSON what it earned, how many leases it left, and which packages it had loaded.
"""

import asyncio
import json
import os
import sys

from agent_client.play import Limits
from rl_training.data.rows import Task
from rl_training.episode.attempt import Attempt, attempt
from rl_training.episode.farm_connection import Farm, close_links, link_to
from rl_training.episode.rendering import Renderings
from rl_training.episode.token_model import TokenModel
from rl_training.episode.tokens import Tokens
from rl_training.episode.tool_call_parser import Speech
from tests.rl_training.letters import LetterParser, Letters, LetterServer, LetterTokenizer
from tests.rl_training.texts import DEARER, LOOK, TASK

EPISODES = 8
LIMITS = Limits(turns=8, seconds=30.0)


def policy(server: LetterServer, renderings: Renderings, number: int) -> TokenModel:
    prompt = [{"role": "user", "content": TASK}]
    return TokenModel(
        server,
        Tokens(renderings, prompt, longest_prompt=10_000, longest_response=10_000),
        Speech(LetterParser(), LetterTokenizer(), "hermes"),
        request_id=str(number),
        sampling={},
        turn_tokens=1000,
        longest_result=1000,
    )


async def trained(farm: Farm) -> tuple[list[Attempt], int]:
    server, renderings = LetterServer([LOOK, DEARER, "Done."]), Renderings(Letters())
    link = await link_to(farm)
    try:
        done = await asyncio.gather(
            *(
                attempt(link, _task(number), TASK, policy(server, renderings, number), LIMITS)
                for number in range(EPISODES)
            )
        )
        return done, (await link.registry.leases(status="live")).total
    finally:
        await close_links()


def _task(number: int) -> Task:
    return Task(environment="shop", scenario="dearer", seed=number // 4)


def main() -> None:
    done, left = asyncio.run(trained(Farm(sys.argv[1], os.environ["FARM_TOKEN"])))
    told = {
        "rewards": [one.score.reward for one in done],
        "calls": [one.score.calls for one in done],
        "left": left,
        "modules": sorted({name.partition(".")[0] for name in sys.modules}),
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
