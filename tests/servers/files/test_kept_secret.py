"""Secrets in a state folder: one that a crash or a slip of the hand has damaged opens no door."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.farm import Options, running
from registry.http.auth import Doorkeeper
from servers.errors import RequestError, StateError
from servers.files.private_files import LEAST_DIFFERENT, SHORTEST_SECRET, kept_secret
from tests.processes import farm

FRESH = b"aJ3_kk2-Ym0Qz81Lw5rT\n"
DAMAGED = {
    "a blank line": b"\n",
    "blanks": b" \t \n" * 20,
    "zeros": bytes(32),
    "its beginning": FRESH[: SHORTEST_SECRET - 1],
    "one character many times": b"ab" * 20,
}


def test_a_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    assert kept_secret(tmp_path / "secret", FRESH) == FRESH
    assert kept_secret(tmp_path / "secret", b"another") == FRESH
    (tmp_path / "secret").write_bytes(b"")
    assert kept_secret(tmp_path / "secret", FRESH) == FRESH
    assert len(set(FRESH)) > LEAST_DIFFERENT


@pytest.mark.parametrize("content", DAMAGED.values(), ids=list(DAMAGED))
def test_what_is_left_of_a_secret_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "secret").write_bytes(content)
    with pytest.raises(StateError, match="holds no secret"):
        kept_secret(tmp_path / "secret", FRESH)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "secret")
    with pytest.raises(StateError, match="it is no regular file; delete it"):
        kept_secret(tmp_path / "secret", FRESH)


@pytest.mark.parametrize("name", ["token", "join-token", "worker-1/secret", "farm"])
async def test_a_farm_does_not_start_with_a_damaged_secret(tmp_path: Path, name: str) -> None:
    """With an empty token, it would let in every request that has none."""
    path = tmp_path / "state" / name
    path.parent.mkdir(mode=0o700, parents=True)
    path.parent.parent.chmod(0o700)
    path.write_bytes(b"\n")
    path.chmod(0o600)
    done = await farm("up", "--port", "0", "--state", tmp_path / "state", home=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert f"{name}: holds no secret" in done.err
    assert "Traceback" not in done.err


def test_no_door_is_kept_with_an_empty_token() -> None:
    async def app(*_: object) -> None: ...

    with pytest.raises(ValueError, match="without a token"):
        Doorkeeper(app, token="", refused=lambda _: None, health=lambda: pytest.fail("not asked"))


@pytest.mark.parametrize("given", [{"token": "x"}, {"token": "ab" * 20}, {"join_token": FRESH.decode().strip()}])
async def test_a_farm_takes_no_token_that_could_be_guessed(tmp_path: Path, given: dict[str, str]) -> None:
    with pytest.raises(RequestError, match=r"token could be guessed: it has less than (16|32) characters, or they are"):
        async with running(Options(library=(), state=tmp_path / "state", port=0, **given)):  # pyright: ignore[reportArgumentType]
            pytest.fail("it has started")
    assert not (tmp_path / "state").exists()
