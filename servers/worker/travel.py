"""Instances that travel between workers: what may leave, and how a history is taken in."""

import json
from collections.abc import Sequence
from typing import get_args

from servers.errors import Conflict, GuestDied, GuestLate, InfraError
from servers.guest.sqlite.tables import ChangesError
from servers.messages import OutcomeKind
from servers.state.state_file import KeptCall, StateFile
from servers.text.json_values import is_object
from servers.worker.instance import Instance

LARGEST_TRAVELLER = 8 * 1024 * 1024
"""Bytes of a state file that another worker takes."""
OUTCOMES = get_args(OutcomeKind)


def see_that_it_can_travel(state: StateFile) -> None:
    """Refuse a state file that is too large. Raises Conflict."""
    if state.size > LARGEST_TRAVELLER:
        raise Conflict(
            f"the history of instance {state.origin.id} has {state.size:,} bytes; at most {LARGEST_TRAVELLER:,} go to"
            " another worker"
        )


async def replay(instance: Instance, calls: Sequence[KeptCall]) -> None:
    """Give a new instance a history. The changes of each call are verified and stored, and no tool runs.

    Raises:
        InfraError: a call is none, or its changes do not fit.
    """
    state = instance.state
    async with instance.in_turn():
        for call in calls:
            try:
                _see_that_it_is_a_call(call, state.last + 1)
                changes = call.changes
                if changes:
                    state.begin_call()
                    changes = await instance.verification.verify(
                        instance.environment, instance.start, state, changes, now=instance.now()
                    )
            except (ChangesError, GuestLate, GuestDied, ValueError) as error:
                raise InfraError(f"the history from another worker does not hold at call {call.seq}: {error}") from None
            state.keep(call._replace(changes=changes))


def _see_that_it_is_a_call(call: KeptCall, seq: int) -> None:
    if call.seq != seq:
        raise ValueError(f"call {seq} is expected")
    if call.outcome not in OUTCOMES:
        raise ValueError(f"no outcome {call.outcome[:40]!r}")
    if call.changes and call.outcome != "ok":
        raise ValueError(f"a call that ended as {call.outcome} changed rows")
    if not is_object(json.loads(call.arguments)):
        raise ValueError("its arguments are no object")
