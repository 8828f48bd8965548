"""What stays after a restart, after `kill -9`, after a full disk, and what is said of files that are damaged."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from servers.bundle_library import Library
from servers.errors import CapacityError, Conflict, NotFound, RequestError, StateError
from servers.messages import Judge, Launch
from servers.state.start_images import Starts
from servers.state.state_file import DIGEST_BYTES, FORMAT, HEAD, StateFile, packed
from servers.state.state_index import StateIndex
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.disks import filled
from tests.servers import survivor
from tests.told import diff_of, history_of

ROWS = "SELECT id, name, cents, made_at FROM things ORDER BY id"
ROOT = Path(__file__).parents[2]


def killed_after(shelf: Path, state: Path, calls: int, later: int) -> list[dict[str, Any]]:
    """Run a worker that makes calls, kill it after so many and a few bytes more; what it told, whole lines only."""
    command = [sys.executable, "-m", survivor.__name__, str(shelf), str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(calls + 1)]
        process.stdout.read(later)
        process.kill()
        rest = process.stdout.read()
    del rest
    return [json.loads(line) for line in told]


@pytest.mark.parametrize("seed", range(4))
async def test_every_answered_call_is_there_after_kill_9_and_no_other_half(
    shelf: Path, library: Library, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - it only chooses when to kill
    ticket, *answered = killed_after(shelf, tmp_path / "state", chance.randint(1, 200), chance.randint(0, 300))
    async with Worker(library, tmp_path / "state") as worker:
        instance = worker.find(ticket["instance"])
        assert worker.token_of(instance.id) == ticket["token"]
        instance.state.check()
        history = await history_of(worker, instance.id, limit=10_000)
        assert [call.seq for call in history] == list(range(1, len(history) + 1))
        assert [
            {"tool": call.tool, "arguments": call.arguments, "text": call.text} for call in history[: len(answered)]
        ] == answered
        [again] = await worker.launch(Launch(environment="shop"))
        replay = worker.find(again.instance)
        for call in history:
            assert (await replay.call(call.tool, call.arguments)).text == call.text
        assert (await worker.query(instance.id, ROWS)) == (await worker.query(replay.id, ROWS))
        assert await diff_of(worker, instance.id) == await diff_of(worker, replay.id)
        assert (await instance.call("find", {"text": "bell"})).kind == "ok"


async def test_a_restart_finds_the_instances_their_state_and_their_tokens(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        tickets = await worker.launch(Launch(environment="shop", count=3))
        await worker.find(tickets[1].instance).call("make", {"name": "drum"})
        diff = await diff_of(worker, tickets[1].instance)
        await worker.close(tickets[2].instance)
    async with Worker(library, tmp_path / "state") as worker:
        assert worker.ids() == sorted(ticket.instance for ticket in tickets[:2])
        assert [worker.ticket(ticket.instance) for ticket in tickets[:2]] == tickets[:2]
        assert await diff_of(worker, tickets[1].instance) == diff
        assert (await worker.standing(tickets[1].instance)).calls == 1
        with pytest.raises(NotFound):
            worker.find(tickets[2].instance)


async def test_tokens_are_nowhere_on_disk_and_their_key_is_its_owners_alone(own_worker: Worker) -> None:
    worker = own_worker
    [ticket] = await worker.launch(Launch(environment="shop"))
    await worker.find(ticket.instance).call("find", {})
    assert (worker.folder / "secret").stat().st_mode & 0o777 == 0o600
    for path in worker.folder.rglob("*"):
        assert path.is_dir() or ticket.token.encode() not in path.read_bytes()


async def test_what_a_killed_launch_left_is_swept_away(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "instances"
    folder.mkdir(parents=True)
    (folder / "abcdefgh.part").write_bytes(b"half")
    (folder / "abcdefgh.part-journal").write_bytes(b"half")
    async with Worker(library, tmp_path / "state") as worker:
        assert worker.ids() == []
    assert list(folder.iterdir()) == []


Damage = Callable[[Path], object]


def another_farms(path: Path) -> None:
    """Write a file in the same form, with an origin that this farm does not know."""
    text = json.dumps({"format": FORMAT, "region": "north"}).encode()
    path.write_bytes(packed(text, b"", b""))


def former(path: Path) -> None:
    path.rename(path.with_suffix(".db"))


DAMAGES: dict[str, Damage] = {
    "no history": lambda path: path.write_bytes(b"this is no history at all, " * 100),
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: os.truncate(path, 100),
    "its head overwritten": lambda path: path.write_bytes(b"\0" * 100 + path.read_bytes()[100:]),
    "of another version": another_farms,
    "of the former format": former,
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_state_file_is_named_and_harms_no_other(library: Library, tmp_path: Path, damage: str) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        bad, good = (ticket.instance for ticket in await worker.launch(Launch(environment="shop", count=2)))
        DAMAGES[damage](worker.folder / "instances" / f"{bad}.history")
        for _ in range(2):
            with pytest.raises(StateError, match=f"state file {bad}.history cannot be opened: "):
                worker.find(bad)
        assert (await worker.find(good).call("find", {})).kind == "ok"


async def test_a_state_file_in_another_instances_place_is_not_opened(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        one, other = (ticket.instance for ticket in await worker.launch(Launch(environment="shop", count=2)))
        folder = worker.folder / "instances"
        shutil.copyfile(folder / f"{other}.history", folder / f"{one}.history")
        with pytest.raises(StateError, match=f"it is the file of another instance: {other}"):
            worker.find(one)
        assert (await worker.find(other).call("find", {})).kind == "ok"


async def played(worker: Worker) -> Instance:
    """An instance with a history: calls that went well, one that changed nothing, one that was wrong."""
    [ticket] = await worker.launch(Launch(environment="shop"))
    instance = worker.find(ticket.instance)
    await instance.call("make", {"name": "drum"})
    await instance.call("find", {"text": "bell"})
    await instance.call("price", {"id": "t2", "cents": 1})
    await instance.call("price", {"id": "t2"})
    return instance


def flipped(whole: bytes, place: int, bit: int) -> bytes:
    return whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]


async def test_every_changed_byte_of_a_state_file_is_found(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        path = instance.state.path
        whole = path.read_bytes()
        for place in range(len(whole)):
            path.write_bytes(flipped(whole, place, place % 8))
            with pytest.raises(StateError, match=f"state file {path.name} is damaged: "):
                instance.state.check()
            with pytest.raises(StateError, match=f"state file {path.name} cannot be opened: "):
                StateFile.open(path, worker.index)
        path.write_bytes(whole)
        instance.state.check()


async def test_a_damaged_history_is_neither_judged_nor_told(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        path = instance.state.path
        path.write_bytes(flipped(path.read_bytes(), path.stat().st_size // 2, 0))
        for asked in (worker.judge(instance.id, Judge(checkpoints=())), worker.history(instance.id)):
            with pytest.raises(StateError, match=f"state file {path.name} is damaged: "):
                await asked
    async with Worker(library, tmp_path / "state") as worker:
        for reading in (worker.judge(instance.id, Judge(checkpoints=())), worker.diff(instance.id)):
            with pytest.raises(StateError, match=f"state file {path.name} cannot be opened: "):
                await reading


async def test_every_changed_byte_of_a_start_image_is_found(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        start = instance.start
        [path] = (tmp_path / "state" / "starts").iterdir()
        whole = path.read_bytes()
        for place in range(0, len(whole), 97):
            path.write_bytes(flipped(whole, place, place % 8))
            with pytest.raises(StateError, match=r"the start image \w+ is damaged; launch new instances"):
                Starts(path.parent, worker.guests).load_here(start.digest, start.content)
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match=r"the start image \w+ is damaged; launch new instances"):
            await worker.judge(instance.id, Judge(checkpoints=()))
        await worker.launch(Launch(environment="shop"))  # which builds it again
        assert path.read_bytes() == whole
        assert [change.table for change in await diff_of(worker, instance.id)] == ["log", "things", "things"]


async def test_an_instance_never_stands_on_another_start_image(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        [other] = await worker.launch(Launch(environment="shop", setup="UPDATE things SET cents = 7"))
        other_start = worker.find(other.instance).start.digest
    folder = tmp_path / "state" / "starts"
    shutil.copy(folder / f"{other_start}.start", folder / f"{instance.start.digest}.start")
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match="is not the one that the instance began with"):
            worker.find(instance.id)


async def test_a_write_that_was_cut_short_anywhere_loses_no_answered_call(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        path, answered = instance.state.path, instance.state.size
        history, rows = await history_of(worker, instance.id), await diff_of(worker, instance.id)
        unanswered = (tmp_path / "state" / "index").read_bytes()
        await instance.call("make", {"name": "easel"})
        whole = path.read_bytes()
    (tmp_path / "state" / "index").write_bytes(unanswered)  # it is written after the call, and before its answer
    for length in range(answered, len(whole)):
        path.write_bytes(whole[:length])
        with indexed(tmp_path / "state", instance.id) as index:
            state = StateFile.open(path, index)
            state.check()
            assert (state.last, path.stat().st_size) == (len(history), answered)
            state.close()
    async with Worker(library, tmp_path / "state") as worker:
        assert await history_of(worker, instance.id) == history
        assert await diff_of(worker, instance.id) == rows
        again = await worker.find(instance.id).call("make", {"name": "easel"})
        assert again.kind == "ok"
        assert path.read_bytes()[:answered] == whole[:answered]


@contextmanager
def indexed(state: Path, instance: str) -> Generator[StateIndex]:
    """The index of a worker's folder, as a start of that worker reads it."""
    state.mkdir(exist_ok=True)
    index = StateIndex(state / "index")
    index.open({instance})
    yield index
    index.close()


def record_ends(whole: bytes) -> list[int]:
    """Where the records of a state file end."""
    ends = [0]
    while ends[-1] < len(whole):
        text, changes, _ = HEAD.unpack_from(whole, ends[-1])
        ends.append(ends[-1] + HEAD.size + text + changes + DIGEST_BYTES)
    return ends[1:]


async def test_a_state_file_that_was_cut_anywhere_is_never_judged(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        path = instance.state.path
    whole = path.read_bytes()
    for length in range(record_ends(whole)[0], len(whole)):
        path.write_bytes(whole[:length])
        with (
            indexed(tmp_path / "state", instance.id) as index,
            pytest.raises(StateError, match=rf"answered calls are missing: it has \d+ bytes of {len(whole)}"),
        ):
            StateFile.open(path, index)
        assert path.stat().st_size == length  # it stays as it was found
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match="answered calls are missing"):
            await worker.judge(instance.id, Judge(checkpoints=()))
        path.write_bytes(whole)
        assert (await worker.judge(instance.id, Judge(checkpoints=()))).reward == 0


async def test_a_state_file_that_was_written_anew_with_its_digests_is_found(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        await instance.call("make", {"name": "drum"})
        [call] = instance.state.calls()
        path, origin = instance.state.path, instance.state.origin
    with indexed(tmp_path / "other", "") as index:
        path.unlink()
        StateFile.create(path, index, origin, [call._replace(text=call.text.replace("thing", "thong"))])
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match="it is not what was written"):
            worker.find(ticket.instance)


async def test_what_kill_9_left_is_not_judged_once_an_answered_call_was_cut_off(
    shelf: Path, library: Library, tmp_path: Path
) -> None:
    ticket, *answered = killed_after(shelf, tmp_path / "state", 5, 0)
    path = tmp_path / "state" / "instances" / f"{ticket['instance']}.history"
    os.truncate(path, record_ends(path.read_bytes())[len(answered) - 1])
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match="answered calls are missing"):
            await worker.judge(ticket["instance"], Judge(checkpoints=()))


async def test_a_call_that_is_in_the_file_alone_does_not_count(library: Library, tmp_path: Path) -> None:
    """Nobody was answered: a kill came between the file and the index, or the index could not be written."""
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        before, answered = (tmp_path / "state" / "index").read_bytes(), await history_of(worker, instance.id)
        await instance.call("make", {"name": "easel"})
    (tmp_path / "state" / "index").write_bytes(before)
    for _ in range(2):
        async with Worker(library, tmp_path / "state") as worker:
            assert await history_of(worker, instance.id) == answered
    async with Worker(library, tmp_path / "state") as worker:
        assert (await worker.find(instance.id).call("make", {"name": "flute"})).kind == "ok"
        assert [call.arguments.get("name") for call in await history_of(worker, instance.id)][-2:] == [None, "flute"]


async def test_a_call_whose_index_could_not_be_written_nor_its_record_be_cut_off_does_not_count(
    library: Library, small_disk: Path
) -> None:
    async with Worker(library, small_disk / "state") as worker:
        instance = await played(worker)
        answered, path = await history_of(worker, instance.id), instance.state.path
        if not only_grows("+a", path):
            pytest.skip("this file system has no files that only grow")
        worker.index.close()  # from here on it takes nothing
        with pytest.raises(StateError, match="Bad file descriptor"):
            await instance.call("make", {"name": "easel"})
        assert len(record_ends(path.read_bytes())) == len(answered) + 2  # the whole record is there, and stays
        assert await history_of(worker, instance.id) == answered
    assert only_grows("-a", path)
    async with Worker(library, small_disk / "state") as worker:
        assert await history_of(worker, instance.id) == answered


def without_index(index: Path) -> None:
    index.unlink()


def with_damaged_slot(index: Path) -> None:
    index.write_bytes(flipped(index.read_bytes(), 20, 0))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without_index, "nothing is kept in index of where it ends"),
        (with_damaged_slot, "what is kept in index of where it ends is damaged"),
    ],
)
async def test_a_state_file_that_nobody_knows_the_end_of_is_not_opened(
    library: Library, tmp_path: Path, damage: Damage, said: str
) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
    damage(tmp_path / "state" / "index")
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match=said):
            worker.find(instance.id)
        await worker.close(instance.id)
        assert (await played(worker)).state.last == 4


async def test_a_rewind_that_is_killed_has_happened_or_not(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        instance = await played(worker)
        before = (tmp_path / "state" / "index").read_bytes()
        await worker.rewind(instance.id, 1)
        diff = await diff_of(worker, instance.id)
    (tmp_path / "state" / "index").write_bytes(before)  # it is written after the file was replaced
    async with Worker(library, tmp_path / "state") as worker:
        assert (await worker.standing(instance.id)).calls == 1
        assert await diff_of(worker, instance.id) == diff


async def test_a_reset_of_what_changed_nothing_that_is_killed_has_happened_or_not(
    library: Library, tmp_path: Path
) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        path = instance.state.path
        start, inode = path.read_bytes(), path.stat().st_ino
        await instance.call("find", {"text": "bell"})
        await worker.reset(instance.id)
        assert (path.read_bytes(), path.stat().st_ino) == (start, inode)  # it is cut, not written anew
        assert (await instance.call("make", {"name": "drum"})).kind == "ok"
        assert [call.seq for call in await history_of(worker, instance.id)] == [1]
        await worker.reset(instance.id)
        await instance.call("find", {"text": "bell"})
        called = path.read_bytes()
        await worker.reset(instance.id)
    path.write_bytes(called)  # it is cut after the index was written
    async with Worker(library, tmp_path / "state") as worker:
        assert (await worker.standing(instance.id)).calls == 0
        assert await history_of(worker, instance.id) == await diff_of(worker, instance.id) == []


async def test_a_start_image_that_is_gone_is_told(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    shutil.rmtree(tmp_path / "state" / "starts")
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match=r"the start image .* is gone from the state folder; launch new instances"):
            worker.find(ticket.instance)


async def test_a_start_image_that_is_damaged_is_told(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    [image] = (tmp_path / "state" / "starts").iterdir()
    image.write_bytes(b"junk")
    async with Worker(library, tmp_path / "state") as worker:
        with pytest.raises(StateError, match=r"the start image \w+ is damaged; launch new instances"):
            worker.find(ticket.instance)


async def test_an_instance_of_a_bundle_that_has_changed_is_a_conflict(shelf: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(shelf / "shop", tmp_path / "shelf" / "shop"))
    async with Worker(Library([folder.parent]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    (folder / "policy.md").write_text("Everything is free.")
    async with Worker(Library([folder.parent]), tmp_path / "state") as worker:
        with pytest.raises(Conflict, match=f"the bundle shop has changed since instance {ticket.instance}"):
            worker.find(ticket.instance)
        await worker.close(ticket.instance)
        assert worker.ids() == []


async def test_a_state_folder_that_cannot_be_used_is_an_error(library: Library, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match=f"the state folder {tmp_path}/file cannot be used: "):
        async with Worker(library, tmp_path / "file"):
            pass
    async with Worker(library, tmp_path / "deep" / "down") as worker:
        await worker.launch(Launch(environment="shop"))


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*")]


async def test_a_full_disk_is_an_error_that_changes_nothing_until_there_is_room(
    library: Library, small_disk: Path
) -> None:
    async with Worker(library, small_disk / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        assert (await instance.call("make", {"name": "drum"})).kind == "ok"
        before = await diff_of(worker, instance.id)
        ballast = filled(small_disk)
        for _ in range(3):
            with pytest.raises(StateError, match=f"^the disk of the state folder is full .{instance.id}.history.$"):
                await instance.call("make", {"name": "x" * 30_000})
        assert await diff_of(worker, instance.id) == before
        with pytest.raises(StateError, match="the state folder takes no new instance: "):
            await worker.launch(Launch(environment="shop", count=3))
        with pytest.raises(StateError, match="the state folder takes no start image: No space left on device"):
            await worker.launch(Launch(environment="shop", setup="DELETE FROM parts"))
        assert worker.ids() == [instance.id]
        assert {name.rpartition(".")[2] for name in names_in(small_disk)} & {"part", "part-journal"} == set()
        ballast.unlink()
        assert (await instance.call("make", {"name": "easel"})).kind == "ok"
        calls = await history_of(worker, instance.id)
        assert [call.arguments for call in calls] == [{"name": "drum"}, {"name": "easel"}]
        found = await worker.query(instance.id, "SELECT name FROM things ORDER BY name")
        assert [name for (name,) in found.rows] == ["anvil", "bell", "candle", "drum", "easel"]
        instance.state.check()
        assert len(await worker.launch(Launch(environment="shop", count=3))) == 3


def only_grows(sign: str, path: Path) -> bool:
    """Whether a file could be made one that is not cut."""
    return subprocess.run(["chattr", sign, str(path)], check=False, capture_output=True).returncode == 0


async def test_what_a_full_disk_left_of_a_call_is_cut_off_before_the_next_one(
    library: Library, small_disk: Path
) -> None:
    async with Worker(library, small_disk / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        assert (await instance.call("make", {"name": "drum"})).kind == "ok"
        history = small_disk / "state" / "instances" / f"{instance.id}.history"
        ballast = filled(small_disk)
        if not only_grows("+a", history):
            pytest.skip("this file system has no files that only grow")
        with pytest.raises(StateError, match="the disk of the state folder is full"):
            await instance.call("make", {"name": "x" * 30_000})
        assert history.stat().st_size > instance.state.size  # the rest could not be cut off then
        assert only_grows("-a", history)
        ballast.unlink()
        assert (await instance.call("make", {"name": "easel"})).kind == "ok"
        assert [call.arguments for call in await history_of(worker, instance.id)] == [
            {"name": "drum"},
            {"name": "easel"},
        ]


ODD: dict[str, Callable[[Path], object]] = {
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("put", ODD.values(), ids=ODD)
async def test_an_odd_file_among_the_states_is_the_damage_of_its_own_instance(
    library: Library, tmp_path: Path, put: Callable[[Path], object]
) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        sound, odd = await worker.launch(Launch(environment="shop", count=2))
    instances = tmp_path / "state" / "instances"
    (instances / f"{odd.instance}.history").unlink()
    for name in (f"{odd.instance}.history", "UPPER-case.history", "é.history", "x.part", "no state of ours"):
        put(instances / name)
    put(tmp_path / "state" / "starts" / "odd")
    async with Worker(library, tmp_path / "state") as worker:
        assert worker.ids() == sorted((sound.instance, odd.instance))
        assert (await worker.find(sound.instance).call("make", {"name": "drum"})).kind == "ok"
        with pytest.raises(StateError, match=odd.instance):
            await worker.diff(odd.instance)
        await worker.close(odd.instance)
        assert worker.ids() == [sound.instance]


async def test_a_fork_takes_at_most_half_of_the_free_disk(library: Library, small_disk: Path) -> None:
    async with Worker(library, small_disk / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        assert (await worker.find(ticket.instance).call("make", {"name": "x" * 60_000})).kind == "ok"
        assert len(await worker.fork(ticket.instance, 2)) == 2
        with pytest.raises(CapacityError, match="are left; ask for fewer, or close some"):
            await worker.fork(ticket.instance, 4)
        assert worker.live == 3


async def test_of_many_instances_all_are_launched_or_none(library: Library, small_disk: Path) -> None:
    async with Worker(library, small_disk / "state") as worker:
        with pytest.raises(StateError, match="the state folder takes no new instance: "):
            await worker.launch(Launch(environment="shop", count=1000))
        assert worker.ids() == []
        assert list((worker.folder / "instances").iterdir()) == []
        assert len(await worker.launch(Launch(environment="shop"))) == 1
