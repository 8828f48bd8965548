"""States that come from another worker, which may lie: none is taken in that could not have come about here."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import CapacityError, Conflict, FarmError, InfraError
from servers.messages import Launch
from servers.state.state_file import ContentDigest, KeptCall, Origin, StateFile, packed
from servers.worker import travelled_state
from servers.worker.instance import Instance
from servers.worker.travelled_state import unpacked
from servers.worker.worker import MOST_ARRIVALS, Worker

ORDER = Launch(environment="shop", seed=7)
SOURCE, COPY = "a" * 16, "c" * 16
ANSWERED = '{"id":"t2","cents":250}'


@pytest_asyncio.fixture(scope="module")
async def target(library: Library, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    async with Worker(library, tmp_path_factory.mktemp("target")) as target:
        yield target


@pytest_asyncio.fixture(scope="module")
async def honest(worker: Worker) -> bytes:
    """A state as it travels: a change, a refusal, and a wrong call."""
    [ticket] = await worker.launch(ORDER)
    instance = worker.find(ticket.instance)
    for arguments in ({"id": "t2", "cents": 250}, {"id": "nobody", "cents": 1}, {"id": 7}):
        await instance.call("price", arguments)
    origin, calls = unpacked(await worker.export(ticket.instance))
    return travelling(worker, origin._replace(id=SOURCE), calls)


def travelling(worker: Worker, origin: Origin, calls: Sequence[KeptCall]) -> bytes:
    """A state file with these calls as it travels, whose digests fit."""
    path = worker.folder / "instances" / f"{origin.id}.history"
    StateFile.create(path, worker.index, origin, calls)
    whole = path.read_bytes()
    path.unlink()
    worker.index.remove(origin.id)
    return whole + ContentDigest(whole).digest()


def of_records(*texts: str) -> bytes:
    """A state as it travels, with records of any text."""
    whole = before = b""
    for text in texts:
        record = packed(text.encode("utf-8", "surrogatepass"), b"", before)
        whole, before = whole + record, record[-16:]
    return whole + ContentDigest(whole).digest()


async def refused(target: Worker, state: bytes, order: Launch = ORDER) -> str:
    """Why a state is not taken in. Nothing of it is left."""
    before = target.ids()
    with pytest.raises(FarmError) as error:
        await target.arrive(order, SOURCE, state, (COPY,))
    assert isinstance(error.value, InfraError | Conflict | CapacityError)
    assert target.ids() == before
    assert not [path for path in (target.folder / "instances").iterdir() if path.stem == COPY]
    return str(error.value)


async def test_an_honest_state_is_taken_in_as_it_was(target: Worker, honest: bytes) -> None:
    [ticket] = await target.arrive(ORDER, SOURCE, honest, (COPY,))
    assert ticket.instance == COPY
    found = unpacked(await target.export(COPY))
    assert found.calls == unpacked(honest).calls
    assert [call.outcome for call in found.calls] == ["ok", "refused", "invalid"]
    assert "already" in await refused_while_there(target, honest)
    await target.close(COPY)


async def refused_while_there(target: Worker, state: bytes) -> str:
    with pytest.raises(Conflict) as error:
        await target.arrive(ORDER, SOURCE, state, (COPY,))
    return str(error.value)


async def test_no_changed_byte_is_believed(target: Worker, honest: bytes) -> None:
    for at in range(0, len(honest), 7):
        damaged = honest[:at] + bytes([honest[at] ^ 1]) + honest[at + 1 :]
        with pytest.raises(InfraError, match="no state file"):
            unpacked(damaged)
    for size in (0, 10, 16, 40, len(honest) - 1):
        with pytest.raises(InfraError, match="no state file"):
            unpacked(honest[:size])
    whole = honest[:-40]
    with pytest.raises(InfraError, match="incomplete"):
        unpacked(whole + ContentDigest(whole).digest())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "b" * 16),
        ("environment", "parcel_room"),
        ("digest", "0" * 64),
        ("start", "0" * 32),
        ("scenario", "dearer"),
        ("clock", "2026-03-16 09:00:01"),
        ("seed", 8),
        ("tools", {"price": 0}),
        ("perturb", "names"),
        ("foreign", ("parcel_room/find_parcels",)),
    ],
)
async def test_the_origin_is_what_the_lease_says(
    worker: Worker, target: Worker, honest: bytes, field: str, value: object
) -> None:
    origin, calls = unpacked(honest)
    said = await refused(target, travelling(worker, origin._replace(**{field: value}), calls))
    assert "would begin otherwise" in said


async def test_no_call_is_believed_that_does_not_end_so_here(worker: Worker, target: Worker, honest: bytes) -> None:
    origin, [one, two, three] = unpacked(honest)
    deep = '{"id":' + "[" * 150 + "]" * 150 + "}"
    lies = {
        "another text": [one._replace(text='{"id":"t2","cents":1}')],
        "other changes": [one, one._replace(seq=2, arguments='{"id":"t2","cents":300}')],
        "no changes": [one._replace(changes=b"")],
        "changes that are none": [one._replace(changes=b"T\x01\x02 nonsense")],
        "changes of a call that only reads": [one._replace(tool="find", arguments="{}")],
        "a row that breaks a constraint": [one._replace(arguments='{"id":"t2","cents":-1}')],
        "a tool that is none": [one._replace(tool="steal")],
        "a refusal that was an answer": [one._replace(outcome="refused", changes=b"")],
        "an answer that was a refusal": [two._replace(seq=1, outcome="ok")],
        "another refusal": [two._replace(seq=1, text="as you like")],
        "a wrong call that is right": [three._replace(seq=1, arguments='{"id":"t2","cents":250}')],
        "a wrong call with another text": [three._replace(seq=1, text="as you like")],
        "a right call that was wrong": [one._replace(outcome="invalid", changes=b"")],
        "a failure in other words": [one._replace(outcome="failed", text="as you like", changes=b"")],
        "a timeout of a wrong call": [three._replace(seq=1, outcome="timeout", text="price did not finish")],
        "arguments that are no object": [one._replace(arguments="[7]")],
        "arguments that are no JSON": [one._replace(arguments="{")],
        "arguments in another form": [one._replace(arguments='{"cents": 250, "id": "t2"}')],
        "a key twice": [one._replace(arguments='{"id":"t2","cents":1,"cents":250}')],
        "arguments that are too deep": [one._replace(arguments=deep)],
        "NaN": [one._replace(arguments='{"id":"t2","cents":NaN}')],
        "the mark of a turn": [one._replace(tool="next turn", arguments='{"turn":0}', text="{}", changes=b"")],
    }
    for what, calls in lies.items():
        said = await refused(target, travelling(worker, origin, calls))
        assert "does not end here" in said or "no JSON object" in said, what


async def test_a_record_has_the_types_and_bounds_of_a_call(target: Worker, honest: bytes) -> None:
    origin = json.dumps({"format": 2, **unpacked(honest).origin._asdict()})
    call = [1, "price", "{}", "ok", "{}", None, 5, 1.0]
    wrong: dict[int, tuple[Any, ...]] = {
        0: (2, 0, "1", True, None),
        1: (7, None, "x" * 1_100_000, "\ud800"),
        2: (7, {}, "\udfff"),
        3: ("won", 1),
        4: (None, ["x"]),
        5: (5, []),
        6: (-1, 1.5, 10**30, True),
        7: (float("nan"), float("inf"), -1, 1e300, "now"),
    }
    for at, values in wrong.items():
        for value in values:
            text = json.dumps([*call[:at], value, *call[at + 1 :]], ensure_ascii=False)
            assert "no state file" in await refused(target, of_records(origin, text)), (at, value)
    for text in ("[" * 5000 + "]" * 5000, "{}", "[]", "", "null", json.dumps([*call, 1])):
        assert "no state file" in await refused(target, of_records(origin, text)), text[:20]
    for text in ("[" * 5000, "[]", "7", '"x"', "", '{"format":1}', '{"format":2}', origin.replace("}", ',"more":1}')):
        assert "no state file" in await refused(target, of_records(text)), text[:20]


async def test_what_is_too_much_is_not_read(
    worker: Worker, target: Worker, honest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, [one, *_] = unpacked(honest)
    monkeypatch.setattr(travelled_state, "MOST_TRAVELLING_CALLS", 2)
    many = [one._replace(seq=seq, outcome="failed", changes=b"") for seq in (1, 2, 3)]
    assert "more than 2 calls" in await refused(target, travelling(worker, origin, many))
    monkeypatch.setattr(travelled_state, "LARGEST_TRAVELLER", 100)
    assert "bytes" in await refused(target, honest)


async def test_a_state_whose_calls_take_too_long_is_given_up(
    target: Worker, honest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servers.worker.worker.SECONDS_TO_ARRIVE", 0.0)
    assert "could not be made once more" in await refused(target, honest)


async def test_of_many_that_arrive_at_once_some_wait(
    library: Library, tmp_path: Path, honest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, seen = 0, list[int]()

    async def counted(self: Instance, call: KeptCall) -> None:
        nonlocal under_way
        under_way += call.seq == 1
        seen.append(under_way)
        await repeat(self, call)
        under_way -= call.seq == 3

    repeat = Instance.repeat
    monkeypatch.setattr(Instance, "repeat", counted)
    async with Worker(library, tmp_path / "few") as few:
        copies = [f"{number:016x}" for number in range(6)]
        await asyncio.gather(*(few.arrive(ORDER, SOURCE, honest, (copy,)) for copy in copies))
        assert (few.live, max(seen)) == (6, MOST_ARRIVALS)
