"""Bundles that a worker lacks: it fetches them from its registry, by their digests."""

import asyncio
import hashlib
import shutil
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.http.join_door import JoinDoor
from registry.joining import Joining
from servers.bundle.environment import load, pack
from servers.bundle.files import LARGEST, MOST_ROW_FILES, PIECE, SERVED_FILES
from servers.bundle_library import Library
from servers.doors.mcp import no_instances
from servers.errors import BundleError, RequestError
from servers.files.spooled import SpooledBytes
from servers.joining.fetched_bundles import FETCHED, LARGEST_PACKED, LONGEST_HEAD, FetchedBundles
from servers.joining.member import RegistryAway
from servers.joining.messages import BUNDLE, CHALLENGE, VERSION, BundleOrder, Challenge, ChallengeAnswer
from servers.joining.proofs import fresh_nonce, request_proof
from tests.doubles import serving
from tests.registry.farms import Farm
from tests.registry.members import JOIN_TOKEN, Joinable, Joined, joinable, worker_at

LONG_ROW = "é→𝄞" * (PIECE // 6)
"""Longer than a piece in which a file is read, with characters of two to four bytes across its borders."""


@pytest.fixture
def shelf(shelf: Path, tmp_path: Path) -> Path:
    """A copy, which a test may write to."""
    return shutil.copytree(shelf, tmp_path / "shelf")


@pytest.fixture
def long_shelf(shelf: Path) -> Path:
    """The shop, with rows of a table in a file of their own."""
    (shelf / "shop" / "seed").mkdir()
    (shelf / "shop" / "seed" / "things.csv").write_text(f"id,name,cents\nt9,{LONG_ROW},9\n", encoding="utf-8")
    return shelf


@asynccontextmanager
async def bare(url: str, folder: Path, *own: Path) -> AsyncGenerator[Joined]:
    """A worker that has no bundles but those of some folders, and what it fetches."""
    async with worker_at(url, Library([*own, folder / FETCHED]), folder) as far:
        yield far


async def test_a_worker_without_a_bundle_fetches_it_and_serves_it(long_shelf: Path, farm: Farm, tmp_path: Path) -> None:
    async with joinable(farm) as door, bare(door.url, tmp_path / "far") as far:
        await far.member.join()
        await farm.client.drain("local")
        [lease] = await farm.client.launch("shop", "dearer")
        await far.worker.call(lease.instance, "price", {"id": "t2", "cents": 250})
        assert (await farm.client.score(lease.instance)).reward == 1.0
    fetched = tmp_path / "far" / FETCHED / "shop"
    theirs = long_shelf / "shop"
    names = {path.relative_to(fetched).as_posix() for path in fetched.rglob("*") if path.is_file()}
    assert names == {
        *("environment.json", "policy.md", "schema.sql", "seed.sql", "tools.py", "seed/things.csv")
    }  # and no scenarios, which no worker needs
    assert all((fetched / name).read_bytes() == (theirs / name).read_bytes() for name in names)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (fetched, fetched / "seed")} == {0o700}
    assert {stat.S_IMODE((fetched / name).stat().st_mode) for name in names} == {0o600}
    assert list((tmp_path / "far").glob("*.part")) == []


async def test_what_was_fetched_is_there_at_the_next_start_and_is_fetched_anew_after_a_change(
    shelf: Path, farm: Farm, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with joinable(farm) as door:
        async with bare(door.url, tmp_path / "far") as far:
            await far.member.join()
        before = (tmp_path / "far" / FETCHED / "shop").stat().st_ino
        async with bare(door.url, tmp_path / "far") as far:
            await far.member.join()
            assert (tmp_path / "far" / FETCHED / "shop").stat().st_ino == before
            policy = shelf / "shop" / "policy.md"
            policy.write_text(policy.read_text() + "Be kind.\n")
            await far.member.join()
            assert far.worker.library.digests() == farm.registry.catalogue.library.digests()
        assert (tmp_path / "far" / FETCHED / "shop" / "policy.md").read_text() == policy.read_text()


async def test_a_bundle_of_its_own_is_not_replaced_and_the_worker_is_told(
    shelf: Path, farm: Farm, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(shelf, own)
    (own / "shop" / "policy.md").write_text("Be kind.\n")
    async with joinable(farm) as door, bare(door.url, tmp_path / "far", own) as far:
        with pytest.raises(RequestError, match=r"other files than the registry of: shop; .*leave them out of this"):
            await far.member.join()
        assert "far" not in farm.registry.fleet.seats
    assert (own / "shop" / "policy.md").read_text() == "Be kind.\n"
    assert not (tmp_path / "far" / FETCHED).exists()


def meddling(app: ASGIApp, wrong: bytes, instead: bytes) -> ASGIApp:
    """A proxy that changes bundles on their way to the worker."""

    async def between(scope: Scope, receive: Receive, send: Send) -> None:
        async def changed(message: Message) -> None:
            if scope.get("path") == BUNDLE and message["type"] == "http.response.body":
                message = {**message, "body": message["body"].replace(wrong, instead)}
            await send(message)

        await app(scope, receive, changed)

    return between


@pytest.mark.parametrize("odd", ["other", "longer"])
async def test_what_is_not_of_the_digest_is_not_read_and_not_kept(
    farm: Farm, tmp_path: Path, caplog: pytest.LogCaptureFixture, odd: str
) -> None:
    opened = asyncio.Event()
    opened.set()
    door = JoinDoor(no_instances, Joining(farm.registry, JOIN_TOKEN), opened)
    instead = {"other": b"def prose", "longer": b"x" * (LARGEST_PACKED + 1)}[odd]
    app = meddling(door, b"def price", instead)
    said = {"other": "is not the bundle of the digest", "longer": ""}[odd]
    async with serving(app) as url, bare(url, tmp_path / "far") as far:
        joining = asyncio.create_task(far.member.join())
        while "cannot join yet" not in caplog.text:  # noqa: ASYNC110 - it is told in the log alone
            await asyncio.sleep(0.01)
        joining.cancel()
    assert any(said in str(record.__dict__.get("error")) for record in caplog.records)
    assert not (tmp_path / "far" / FETCHED).exists()
    assert list((tmp_path / "far").glob("*.part")) == []


def test_there_is_room_for_the_largest_bundle() -> None:
    heads = LONGEST_HEAD * (len(SERVED_FILES) + MOST_ROW_FILES)
    assert sum(LARGEST[name] for name in SERVED_FILES) + heads <= LARGEST_PACKED  # all rows have one limit together


def packed(tmp_path: Path, text: bytes) -> tuple[SpooledBytes, str]:
    spooled = SpooledBytes(tmp_path)
    spooled.add(text)
    return spooled, hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        b"../shop/policy.md 2\nok",
        b"/etc/passwd 2\nok",
        b"seed/../../x.csv 2\nok",
        b"scenarios.jsonl 2\nok",
        b"policy.md -1\nok",
        b"policy.md\nok",
        b"policy.md 9\nok",
        b"policy.md 2" + b" " * 200 + b"\nok",
        b"policy.md 2\nok",
        b"",
    ],
)
def test_a_text_that_is_no_bundle_is_not_kept_even_if_its_digest_is_right(tmp_path: Path, text: bytes) -> None:
    bundles = FetchedBundles(tmp_path / "state")
    bundles.state.mkdir()
    spooled, digest = packed(tmp_path, text)
    with pytest.raises(BundleError, match=r"shop|no bundle"):
        bundles.keep("shop", digest, spooled)
    assert list(bundles.state.iterdir()) == []


def test_a_bundle_replaces_a_former_one_and_what_a_kill_left(shelf: Path, tmp_path: Path) -> None:
    bundles = FetchedBundles(tmp_path / "state")
    (bundles.folder / "shop").mkdir(parents=True)
    (bundles.folder / "shop" / "environment.json").write_text("{")
    (bundles.state / "bundle-left.part" / "fresh").mkdir(parents=True)
    spooled = SpooledBytes(tmp_path)
    bundles.keep("shop", pack(shelf / "shop", spooled.add), spooled)
    assert load(bundles.folder / "shop").digest == load(shelf / "shop").digest
    assert [path.name for path in bundles.state.iterdir()] == [FETCHED]


async def asked(door: Joinable, order: BundleOrder, *, key: str = JOIN_TOKEN) -> httpx.Response:
    body = order.model_dump_json().encode()
    async with httpx.AsyncClient(base_url=door.url) as http:
        return await http.post(BUNDLE, content=body, headers={"Farm-Proof": request_proof(key.encode(), BUNDLE, body)})


async def session(door: Joinable) -> str:
    body = Challenge(nonce=fresh_nonce(), version=VERSION).model_dump_json().encode()
    async with httpx.AsyncClient(base_url=door.url) as http:
        proof = request_proof(JOIN_TOKEN.encode(), CHALLENGE, body)
        answer = await http.post(CHALLENGE, content=body, headers={"Farm-Proof": proof})
    nonce = ChallengeAnswer.model_validate_json(answer.content).nonce
    return f"{Challenge.model_validate_json(body).nonce}.{nonce}"


async def test_who_does_not_know_the_join_token_gets_no_bundle_and_none_is_had_twice_for_one_question(
    farm: Farm, shelf: Path
) -> None:
    digest = load(shelf / "shop").digest
    async with joinable(farm) as door:
        order = BundleOrder(session=await session(door), name="shop", digest=digest)
        assert (await asked(door, order, key="x" * 40)).status_code == 401
        given = await asked(door, order)
        assert (given.status_code, hashlib.sha256(given.content).hexdigest()) == (200, digest)
        assert "that nonce was used before" in (await asked(door, order)).text
        made_up = order.model_copy(update={"session": f"{fresh_nonce()}.1-{fresh_nonce()}-{'0' * 32}"})
        assert "did not give that nonce" in (await asked(door, made_up)).text
        for name, other in (("shop", "0" * 64), ("nothing", digest)):
            odd = BundleOrder(session=await session(door), name=name, digest=other)
            answer = await asked(door, odd)
            assert answer.status_code == 503
            assert str(shelf) not in answer.text


async def test_a_registry_that_says_again_that_a_bundle_is_lacking_is_left_alone(farm: Farm, tmp_path: Path) -> None:
    async with joinable(farm) as door, worker_at(door.url, Library([]), tmp_path / "far") as far:  # does not see it
        with pytest.raises(RegistryAway, match="which this worker has just fetched"):
            await far.member._join()  # pyright: ignore[reportPrivateUsage]
