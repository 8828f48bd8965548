"""A state file on its way between two workers. Whoever gets one believes nothing that stands in it.

It travels as its bytes, with a digest of them all behind. The worker that gets it knows from the lease what the
instance is, and only compares. Of the calls it takes what was asked, and makes each of them once more.
"""

import io
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from servers.errors import Conflict, InfraError
from servers.messages import OutcomeKind
from servers.state.state_file import (
    DIGEST_BYTES,
    LARGEST_ORIGIN,
    ContentDigest,
    KeptCall,
    Origin,
    StateFile,
    StateRecord,
    origin_in,
    records_in,
)
from servers.text.json_values import is_list
from servers.validation import first_problem

LARGEST_TRAVELLER = 4 * 1024 * 1024
"""Bytes of a state file that goes to another worker."""
LARGEST_SENT = LARGEST_TRAVELLER + DIGEST_BYTES
"""The same with the digest behind it."""
MOST_TRAVELLING_CALLS = 2000
"""Calls of a history that goes to another worker, which makes each of them once more."""
LONGEST_WORD = 1024 * 1024
MOST_MICROS = 3_600_000_000
LATEST = 1e11
FROM_BUNDLE = ("digest", "start", "clock", "tools")
COMPARED = ("id", "environment", "scenario", "seed", "perturb", "foreign", *FROM_BUNDLE)

TravellingText = Annotated[str, Field(max_length=LONGEST_WORD)]
TravellingCall = tuple[
    Annotated[int, Field(ge=1)],
    TravellingText,
    TravellingText,
    OutcomeKind,
    TravellingText,
    TravellingText | None,
    Annotated[int, Field(ge=0, le=MOST_MICROS)],
    Annotated[float, Field(ge=0, le=LATEST, allow_inf_nan=False)],
]
CALL: TypeAdapter[TravellingCall] = TypeAdapter(TravellingCall)
"""The text of a call's record. This parser refuses NaN, halves of surrogate pairs and great depth."""


class TravelledState(NamedTuple):
    """What a travelled state file says."""

    origin: Origin
    calls: list[KeptCall]


def packed_for_travel(state: StateFile) -> bytes:
    """The bytes of a state file, and their digest.

    Raises:
        Conflict: it is too large.
        StateError: it is damaged.
    """
    see_that_it_can_travel(state)
    state.check()
    whole = state.whole()
    return whole + ContentDigest(whole).digest()


def see_that_it_can_travel(state: StateFile) -> None:
    """Refuse a state file that is too large. Raises Conflict."""
    if state.size > LARGEST_TRAVELLER:
        raise Conflict(
            f"the history of instance {state.origin.id} has {state.size:,} bytes; at most {LARGEST_TRAVELLER:,} go to"
            " another worker"
        )
    if state.last > MOST_TRAVELLING_CALLS:
        raise Conflict(
            f"instance {state.origin.id} has {state.last:,} calls; at most {MOST_TRAVELLING_CALLS:,} go to another"
            " worker"
        )


def unpacked(travelled: bytes) -> TravelledState:
    """What a travelled state file says. Its values have their types and bounds, and no more is known of them.

    Raises:
        InfraError: it is damaged or incomplete, or no state file.
    """
    whole, digest = travelled[:-DIGEST_BYTES], travelled[-DIGEST_BYTES:]
    try:
        if len(whole) > LARGEST_TRAVELLER:
            raise ValueError(f"it has {len(whole):,} bytes")
        if ContentDigest(whole).digest() != digest:
            raise ValueError("it is not what was sent")
        records = _all_of(whole)
        first = next(records, None)
        if first is None or first.changes or len(first.text) > LARGEST_ORIGIN:
            raise ValueError("its first record is no origin")
        calls: list[KeptCall] = []
        for record in records:
            calls.append(_call(record, len(calls) + 1))
            if len(calls) > MOST_TRAVELLING_CALLS:
                raise ValueError(f"it has more than {MOST_TRAVELLING_CALLS} calls")
        return TravelledState(origin_in(first), calls)
    except ValidationError as error:
        raise InfraError(f"what another worker sent is no state file: {first_problem(error)}") from None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InfraError(f"what another worker sent is no state file: {error}") from None


def see_that_it_is(said: Origin, expected: Origin) -> None:
    """Compare what a file says of its instance with what the lease says.

    Raises:
        Conflict: it is of another instance, or this farm would start it otherwise by now.
    """
    for name in COMPARED:
        if _plain(getattr(said, name)) != getattr(expected, name):
            reason = "its bundle or its scenario has changed" if name in FROM_BUNDLE else f"another {name}"
            raise Conflict(f"instance {expected.id} cannot go to this worker, where it would begin otherwise: {reason}")


def _plain(value: object) -> object:
    """A list of JSON as the tuple that an origin has."""
    return tuple(value) if is_list(value) else value


def _all_of(whole: bytes) -> Iterator[StateRecord]:
    end = 0
    for record in records_in(io.BytesIO(whole), len(whole)):
        end = record.end
        yield record
    if end != len(whole):
        raise ValueError("its last record is incomplete")


def _call(record: StateRecord, expected: int) -> KeptCall:
    seq, tool, arguments, outcome, text, detail, micros, at = CALL.validate_json(record.text, strict=True)
    if seq != expected:
        raise ValueError(f"call {expected} is expected, and call {seq} is there")
    if record.changes and outcome != "ok":
        raise ValueError(f"call {seq} ended as {outcome} and changed rows")
    return KeptCall(seq, tool, arguments, outcome, text, detail, record.changes, micros, at)
