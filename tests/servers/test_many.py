"""More instances than stay open, all in use at once."""

import asyncio

from servers.holding import LEAST_HELD, MOST_HELD
from servers.instance import Outcome
from servers.orders import Launch
from servers.worker import Worker


async def test_more_instances_than_stay_open_can_be_in_use_at_once(worker: Worker) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=MOST_HELD + 40))

    async def called(instance_id: str) -> Outcome:
        return await worker.find(instance_id).call("price", {"id": "t1", "cents": 100})

    for _ in range(2):
        outcomes = await asyncio.gather(*(called(ticket.instance) for ticket in tickets))
        assert {outcome.kind for outcome in outcomes} == {"ok"}


async def test_more_are_held_open_only_while_those_let_go_of_keep_coming_back(worker: Worker) -> None:
    tickets = await worker.launch(Launch(environment="shop", count=LEAST_HELD + 40))
    for ticket in tickets:
        worker.find(ticket.instance)
    assert len(worker.in_use) == LEAST_HELD
    for ticket in tickets:
        worker.find(ticket.instance)
    assert len(worker.in_use) == len(tickets)
