"""One at a time, in order; who is not patient is told after a while, and who is cancelled holds nobody up."""

import asyncio
from contextlib import suppress

from servers.limits.turn_queue import TurnQueue

LONG = 60.0


async def test_turns_come_in_the_order_in_which_they_were_asked_for() -> None:
    turns = TurnQueue(LONG)
    order: list[int] = []

    async def take_one(number: int) -> None:
        assert turns.take() or await turns.wait(patient=number % 2 == 0)
        order.append(number)
        await asyncio.sleep(0)
        turns.pass_on()

    await asyncio.gather(*map(take_one, range(6)))
    assert order == list(range(6))
    assert turns.take()


async def test_who_is_not_patient_is_told_of_a_turn_that_takes_long_and_who_is_waits_on() -> None:
    turns = TurnQueue(0.001)
    assert turns.take()
    patient = asyncio.create_task(turns.wait(patient=True))
    assert [await turns.wait(patient=False), await turns.wait(patient=False)] == [False, False]
    assert not patient.done()
    turns.pass_on()
    assert await patient


async def test_a_turn_that_came_to_somebody_who_is_gone_goes_on_to_the_next() -> None:
    turns = TurnQueue(LONG)
    assert turns.take()
    gone_before, gone_with_it, left = (asyncio.create_task(turns.wait(patient=False)) for _ in range(3))
    await asyncio.sleep(0)
    gone_before.cancel()
    await asyncio.sleep(0)
    turns.pass_on()
    gone_with_it.cancel()
    for one in (gone_before, gone_with_it):
        with suppress(asyncio.CancelledError):
            await one
        assert one.cancelled()
    assert await left
    turns.pass_on()
    assert turns.take()
